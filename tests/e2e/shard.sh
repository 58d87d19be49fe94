#!/usr/bin/env bash
# shard.sh -- --shard and merge: parts that are run apart have together the bytes of the whole.
#
# TAP on stdout. B names the build, SIM the simulator of cube8.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# parts N FILE ARGUMENT...: runs all N parts, the last first, into FILE
parts()
{
    local of=$1 file=$2 i

    shift 2
    for ((i = of; i > 0; i--)); do
        "$SIM" "$@" --quiet --format csv -o "$file" --shard "$i/$of" || return
    done
}

# whole NAME N ARGUMENT...: the parts, joined, are the whole
whole()
{
    local name=$1 of=$2

    shift 2
    rm -f p.csv*
    "$SIM" "$@" --quiet --format csv -o w.csv && parts "$of" p.csv "$@" && [ ! -e p.csv ] &&
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
refused "merge into a part" 2 "-o names the part p.csv.2of2" merge p.csv -o ./p.csv.2of2
call "$SIM" merge p.csv -o other.csv && same w.csv other.csv
ok "which is as it was"
for format in json table; do
    refused "merge as $format" 2 "merge joins CSV, and writes no $format" merge p.csv --format $format -o other.json
done

# -- parts that go on --------------------------------------------------------------------------------

for words in "sweep --src c0.pe0 --dst c*.slice0" "probe --vary cube.hbm.bw_gbs=64,128,0,256" "run softmax M=64 N=64 --vary cube.hbm.bw_gbs=0,64,128"; do
    rm -f p.csv*
    "$SIM" $words --format csv --quiet -o w.csv 2>err
    for i in 1 2 3; do "$SIM" $words --quiet -o p.csv --shard $i/3 --resume; done 2>err
    [ "$(ls p.csv*)" = $'p.csv.1of3\np.csv.2of3\np.csv.3of3' ] && call "$SIM" merge p.csv && same w.csv p.csv
    ok "whole parts of ${words%% *} with --resume leave no journals"
done

# -- parts whose machines all fail -----------------------------------------------------------------

for list in 99,98,4,8 4,8,99,98 98,4; do
    rm -f p.csv*
    probe=(probe --case pe-local-hbm --vary cube.pes=$list --vary 'cube.hbm.bw_gbs=128,256' --quiet --format csv)
    for i in 1 2 3 4; do "$SIM" "${probe[@]}" -o p.csv --shard $i/4; done 2>err
    "$SIM" "${probe[@]}" -o w.csv 2>err
    call "$SIM" merge p.csv && [ ! -s err ] && same w.csv p.csv && [ "$(grep -c '^9.*,,,' p.csv)" -ge 2 ]
    ok "parts whose machines all fail are joined with the others: $list"
done
rm -f p.csv*
for i in 1 2; do "$SIM" probe --vary cube.pes=99,98 -o p.csv --shard $i/2; done 2>err
refused "all machines of all parts failed" 3 "there are no rows: all machines of all parts failed" merge p.csv
[ ! -e p.csv ]
ok "and nothing is written"
for i in 1 2; do "$SIM" probe --vary cube.pes=99,4 -o p.csv --shard $i/2; done 2>err
sed -i '3s/.*/cube.pe/' p.csv.1of2
refused "keys that the others do not have" 3 "p.csv.1of2 has other columns than the others" merge p.csv
sed -i '3s/.*/cube.pes/' p.csv.1of2 && call "$SIM" merge p.csv && [ "$(cut -d, -f1,2 p.csv | head -3 | xargs)" = "cube.pes,case 99, 4,pe-local-hbm" ]
ok "and with their own"
rm -f p.csv* && "$SIM" probe --vary cube.pes=4,8 -o p.csv --shard 1/2 && "$SIM" probe --vary cube.pes=4,8 -o p.csv --shard 2/2
sed -i '2s/case/cast/' p.csv.2of2
refused "other columns" 3 "p.csv.2of2 has other columns than the others" merge p.csv
rm -f p.csv*
whole "kernels in two parts" 2 run softmax M=64 N=64 --vary cube.hbm.bw_gbs=64:512:x2

# -- what is refused ---------------------------------------------------------------------------

rm p.csv.1of2
echo before >p.csv
refused "a part that is missing" 3 "p.csv.1of2 is missing: run the part --shard 1/2" merge p.csv
[ "$(cat p.csv)" = before ]
ok "what was there stays"
: >p.csv.1of3
refused "parts of two runs" 3 "p.csv has parts of 2 and parts of 3: remove those of another run" merge p.csv
rm p.csv.1of3
refused "no parts" 3 "there are no parts nothing.1of... of 'nothing'" merge nothing
refused "no folder" 3 "cannot read nowhere/: No such file or directory" merge nowhere/p.csv
sweep='sweep --src c0.pe0 --dst c0.slice0'
for wrong in 0/3 4/3 3 a/3 1/0 1/ /2 1/1000001; do
    refused "--shard $wrong" 2 "--shard '$wrong' is not a part and the number of parts, as 3/8" $sweep -o x.csv --shard $wrong
done
refused "a part on stdout" 2 "--shard writes CSV to a file" $sweep --shard 1/2
refused "a part as JSON" 2 "--shard writes CSV to a file" $sweep --shard 1/2 --format json -o x
refused "a part with statistics, which all parts would write to one file" 2 "no --sqlite or --stats" \
    run softmax --vary cube.hbm.bw_gbs=128,256 --shard 1/2 -o x --stats s.csv
refused "a part of a replay" 2 "--shard of probe needs --vary" probe --shard 1/2 -o x --format csv
refused "a part of a report" 2 "a report is of the whole, it takes no --shard" report $sweep -o x.html --shard 1/2
# -- parts that do not belong together -------------------------------------------------------------

sweep='sweep --src c0.pe0 --dst c0.slice*'
rm -f p.csv*
parts 2 p.csv $sweep
cp p.csv.1of2 one && cp p.csv.2of2 two
equal "a part is CSV between two lines" "# kernbench part 2 of 2: machine= # end of part 2 of 2" \
    "$(sed -n '1s/=.*/=/p;$p' two | xargs)"

# apart NAME TEXT ARGUMENT...: the second of two parts, by these arguments, is refused
apart()
{
    local name=$1 text=$2

    shift 2
    "$@" --quiet --format csv -o p.csv --shard 2/2
    refused "$name" 3 "p.csv.2of2 is not of the same $text as part 1: they are parts of two runs" merge p.csv
    [ ! -e p.csv ]
    ok "$name: nothing is written"
}
apart "of another machine" "machine and command" "$SIM" $sweep --set cube.hbm.bw_gbs=64
apart "of another command" "command" "$SIM" $sweep --bytes 128
sed 's/bw_gbs: 256/bw_gbs: 64/' "$root/topologies/cube8.yaml" >b.yaml && cp "$root/topologies/cube8.yaml" a.yaml
cp a.yaml m.yaml && "$B/kernbench" $sweep --machine m.yaml --quiet --format csv -o p.csv --shard 1/2
cp b.yaml m.yaml
apart "of a machine that was edited" "machine" "$B/kernbench" $sweep --machine m.yaml
cp a.yaml m.yaml && cp "$B/kernbench" other && printf x >>other
apart "of another program" "program" ./other $sweep --machine m.yaml
printf 'src,dst,weight\nc0.pe0,c0.slice0,1\n' >matrix.csv
load='load --pattern matrix:matrix.csv --rate 0.1 --txns 100 --seeds 1 --vary cube.hbm.bw_gbs=128,256'
"$SIM" $load --quiet --format csv -o p.csv --shard 1/2
printf 'src,dst,weight\nc0.pe0,c0.slice1,1\n' >matrix.csv
apart "of a matrix that was edited" "inputs" "$SIM" $load

cp one p.csv.1of2
: >p.csv.2of2
refused "an empty part" 3 "p.csv.2of2 is empty: run the part --shard 2/2 again" merge p.csv
sed '1d;$d' two >p.csv.2of2
refused "a part that does not say what it is" 3 "p.csv.2of2 does not say what it is made of: run the part --shard 2/2 again" merge p.csv
for less in 1 21 300; do
    head -c -$less two >p.csv.2of2
    refused "a part that lacks its last $less bytes" 3 "p.csv.2of2 is cut: its last line is not there" merge p.csv
done
cp one p.csv.2of2
refused "the same part twice" 3 "p.csv.2of2 is part 1 of 2, by what is in it: it has got another name" merge p.csv
"$SIM" $sweep --quiet --format csv -o q.csv --shard 2/3 && cp q.csv.2of3 p.csv.2of2
refused "a part of three" 3 "p.csv.2of2 is part 2 of 3, by what is in it: it has got another name" merge p.csv
cp two p.csv.2of2
call "$SIM" merge p.csv && "$SIM" $sweep --quiet --format csv -o w.csv && same w.csv p.csv
ok "and the right ones are joined"
plan
