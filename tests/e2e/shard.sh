#!/usr/bin/env bash
# shard.sh -- --shard and merge: parts that are run apart have together the bytes of the whole.
#
# TAP on stdout. B names the build, SIM the simulator of cube8.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# parts N FILE ARGUMENT...: runs all N parts, the last first, into FILE
parts()
{
    local n=$1 file=$2 i

    shift 2
    for ((i = n; i > 0; i--)); do
        "$SIM" "$@" --quiet --format csv -o "$file" --shard "$i/$n" || return
    done
}

# whole NAME N ARGUMENT...: the parts, joined, are the whole
whole()
{
    local name=$1 n=$2

    shift 2
    rm -f p.csv*
    "$SIM" "$@" --quiet --format csv -o w.csv && parts "$n" p.csv "$@" && [ ! -e p.csv ] &&
        call "$SIM" merge p.csv && [ ! -s out ] && [ ! -s err ] && same w.csv p.csv
    ok "$name"
}

whole "a sweep of 64 points in 7 parts" 7 sweep --src c0.pe* --dst c0.slice*
whole "in one" 1 sweep --src c0.pe0 --dst c0.slice*
whole "more parts than points" 11 sweep --src c0.pe0 --dst c0.slice*
whole "machines" 3 probe --vary cube.hbm.bw_gbs=64:512:x2 --vary cube.ucie.overhead_ns=0,1
whole "more parts than machines, several rows each" 5 load --pattern local --rate 0.1,0.2 --txns 500 --seeds 1 --vary cube.hbm.bw_gbs=128,256
whole "points of machines" 3 sweep --src c0.pe0 --dst c*.slice0 --vary cube.hbm.bw_gbs=128,256
whole "kernels" 2 run softmax M=64 N=64 --vary cube.hbm.bw_gbs=64:512:x2
rm p.csv
call "$SIM" merge p.csv -o other.csv && same w.csv other.csv && [ ! -e p.csv ] && [ -e p.csv.1of2 ]
ok "merge -o, and the parts stay"

# -- what is refused ---------------------------------------------------------------------------

rm p.csv.1of2
echo before >p.csv
refused "a part that is missing" 3 "p.csv.1of2 is missing: run the part --shard 1/2" merge p.csv
[ "$(cat p.csv)" = before ]
ok "what was there stays"
: >p.csv.1of3
refused "parts of two runs" 3 "p.csv has parts of 2 and parts of 3: remove those of another run" merge p.csv
rm p.csv.1of3 && echo a,b,c >p.csv.1of2
refused "parts of two commands" 3 "p.csv.2of2 has other columns than the parts before it: it is of another run" merge p.csv
refused "no parts" 3 "there are no parts nothing.1of... of 'nothing'" merge nothing
refused "no folder" 3 "cannot read nowhere/: No such file or directory" merge nowhere/p.csv
sweep='sweep --src c0.pe0 --dst c0.slice0'
for wrong in 0/3 4/3 3 a/3 1/0 1/ /2 1/1000001; do
    refused "--shard $wrong" 2 "--shard '$wrong' is not a part and the number of parts, as 3/8" $sweep -o x.csv --shard $wrong
done
refused "a part on stdout" 2 "--shard writes CSV to a file" $sweep --shard 1/2
refused "a part as JSON" 2 "--shard writes CSV to a file" $sweep --shard 1/2 --format json -o x
refused "a part of a replay" 2 "--shard needs --vary" probe --shard 1/2 -o x --format csv
refused "a part of a report" 2 "a report is of the whole, it takes no --shard" report $sweep -o x.html --shard 1/2
plan
