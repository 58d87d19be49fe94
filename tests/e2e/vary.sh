#!/usr/bin/env bash
# vary.sh -- --vary: the rows of each machine, for any -j, and what stays after a failure. TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# one NAME=VALUE ... -- ARG...: rows of one machine, made by --set, with its values before them
one()
{
    values= sets=()
    while [ "$1" != -- ]; do
        values+=${1#*=}, sets+=(--set "$1")
        shift
    done
    shift
    "$SIM" "$@" "${sets[@]}" --format csv --quiet | sed "1d; s/^/$values/"
}

# varied NAME ARG...: with bw_gbs of 64 and 128, and both kinds of links, the rows of four machines
varied()
{
    name=$1
    shift
    for bw in 64 128; do
        for links in ideal fifo; do
            one cube.hbm.bw_gbs=$bw contention.links=$links -- "$@"
        done
    done >alone
    for jobs in 1 3; do
        run "$@" --vary cube.hbm.bw_gbs=64:128:x2 --vary contention.links=ideal,fifo --format csv -j $jobs
        [ $code -eq 0 ] && head -1 out | grep -q '^cube.hbm.bw_gbs,contention.links,' && sed 1d out | cmp - alone &&
            [ -s alone ] && [ ! -s err ]
        ok "$name, -j $jobs"
    done
}

printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n5,write,c0.pe1,c0.slice0,0,64\n' >rows.csv
varied probe probe
varied replay replay rows.csv
varied sweep sweep --src c0.pe0 --dst 'c*.slice0' --inflight 1,4
varied load load --pattern uniform --rate 0.1,0.3 --txns 200 --seeds 1
varied run run gemm M=64 N=64 K=64
varied "run --verify" run softmax M=64 N=256 --verify

# -- machines that have other columns -----------------------------------------------------------

# by_name FILE: each row of a CSV as its columns and what they have, but those without anything, or 0
by_name()
{
    python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1]), restval="lacks"):
    print(*sorted(f"{name}={value}" for name, value in row.items() if value and value.strip("0.")))' "$1"
}

# columns ARG...: a machine with routers beside one without, as each by itself, whichever is first
columns()
{
    local links first

    for first in fifo,router router,fifo; do
        for links in ${first/,/ }; do
            "$SIM" "$@" --set contention.links=$links --format csv --quiet >one.csv
            by_name one.csv | sed "s/^/contention.links=$links /"
        done >want
        run "$@" --vary contention.links=$first --format csv --quiet
        [ $code -eq 0 ] && by_name out | sed 's/^\(.*\)contention.links=\([a-z]*\) /contention.links=\2 \1/' | same want - &&
            for part in 1 2; do "$SIM" "$@" --vary contention.links=$first --shard $part/2 --format csv --quiet -o part.csv || exit; done &&
            "$SIM" merge part.csv --quiet && cmp part.csv out
        ok "$1: columns of routers and of others, $first"
    done
}

columns probe
columns replay rows.csv
columns sweep --src c0.pe0 --dst 'c*.slice0' --inflight 1,4
columns load --pattern uniform --rate 0.1,0.3 --txns 200 --seeds 1
run replay rows.csv --set contention.links=router --set cube.hbm.model=banks --stats use.csv
[ $code -eq 0 ] && head -1 use.csv | grep -q ',row_hits,.*,buffer_bytes,'
ok "--stats: rows of banks, and buffers of routers"
for machine in "server fifo" "server router" "banks fifo" "banks router"; do
    read -r model links <<<"$machine"
    "$SIM" replay rows.csv --set cube.hbm.model=$model --set contention.links=$links --stats use.csv --quiet -o out.csv
    by_name use.csv
done >want
run replay rows.csv --vary cube.hbm.model=server,banks --vary contention.links=fifo,router --stats use.csv
[ $code -eq 0 ] && by_name use.csv | sed 's/\(contention.links\|cube.hbm.model\)=[a-z]* //g' | same want -
ok "--stats: columns of all machines, by their names"

# docs/model.md "Packets"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,16K\n' >cut.csv
run replay cut.csv --set cube.pe.pe_dma.issue_ns=25 --vary cube.pe.pe_dma.packet_bytes=0,4096,8192 --format csv --quiet
equal "sizes of packets" "0 66.085000 4096 93.085000 8192 66.085000" \
    "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "actual_ns") c = i } NR > 1 { print $1, $c }' out | paste -sd ' ')"

# -- arguments of a bench -----------------------------------------------------------------------

for jobs in 1 2; do
    run run gemm N=64 --vary arg.M=64:256:x2 --vary cube.noc.bw_gbs=128,256 --vary arg.K=32,64 --format csv -j $jobs
    { head -1 out && for m in 64 128 256; do for bw in 128 256; do for k in 32 64; do
        "$SIM" run gemm M=$m N=64 K=$k --set cube.noc.bw_gbs=$bw --format csv | sed "1d;s/^/$m,$bw,$k,/"
    done; done; done; } >want
    [ $code -eq 0 ] && [ "$(head -1 out | cut -d, -f1-4)" = arg.M,cube.noc.bw_gbs,arg.K,bench ] && [ "$(wc -l <want)" -eq 13 ] && same want out
    ok "arguments of a bench, with -j $jobs: rows as of runs that have them"
done
run run gemm N=64 K=64 --vary arg.M=64,0,x --format json
[ $code -eq 2 ] && [ "$(jq -r '.rows[].failed' out | sed 's/.*integer in //' | paste -sd ' ')" = "null 1..65536, not '0' 1..65536, not 'x'" ]
ok "an argument that cannot be has a row that says why"
refused "an argument that the bench does not have" 2 "unknown argument 'Q' of gemm" run gemm --vary arg.Q=1
refused "an argument that is given, too" 2 "--vary arg.M, and 'M=64', are given both" run gemm M=64 --vary arg.M=64
refused "a file of keys" 2 "--vary '@keys' is not a key and its values, as cube.hbm.bw_gbs=256,512" probe --vary @keys
refused "a key alone" 2 "--vary 'cube.hbm.bw_gbs' is not a key and its values" probe --vary cube.hbm.bw_gbs
refused "an argument of no bench" 2 "--vary arg.M is of the benches that run has" probe --vary arg.M=64

# -- lists --------------------------------------------------------------------------------------

# values LIST EXPECTED: what a list makes of a key
values()
{
    run probe --case pe-local-hbm --format csv --vary "$1"
    equal "$1" "$2" "$(cut -d , -f 1 out | sed 1d | paste -sd ' ')"
}
values cube.hbm.bw_gbs=128:512:128 "128 256 384 512"
values cube.hbm.bw_gbs=128:600:x2 "128 256 512"
values ns_per_mm=0.01:0.03:0.01 "0.01 0.02 0.03"
values cube.pes=1:3,8 "1 2 3 8"
values contention.links=fifo,ideal "fifo ideal"
run probe --case pe-local-hbm --format json --vary 'cube.pe.pe_scheduler.tile=[32,64,32],[64,64,64]'
[ $code -eq 0 ] && [ "$(jq -c '.rows[]["cube.pe.pe_scheduler.tile"]' out | paste -sd ' ')" = '"[32,64,32]" "[64,64,64]"' ]
ok "lists in brackets, in JSON"
run probe --format json --vary sips=1,2
[ $code -eq 0 ] && [ "$(jq -c '[.rows[].sips] | unique' out)" = "[1,2]" ]
ok "numbers are numbers"
for format in jsonl md table; do
    run probe --format $format --vary sips=1,2
    [ $code -eq 0 ] && [ -s out ]
    ok "$format"
done
run tune softmax M=64 arg.N=320 --vary cube.pes=99,8 --format json
[ "$(grep -o '"failed"' out | wc -l)" -eq 2 ] && [ "$(jq -c '.rows | map(.failed != null)' out)" = '[true,false]' ]
ok "rows of tune have one column of what failed"

# -- a database ---------------------------------------------------------------------------------

run probe --case pe-local-hbm --vary cube.hbm.bw_gbs=64,128 --vary sips=1,2 --sqlite a.db
[ "$(python3 - <<'SQL'
import sqlite3
print(sqlite3.connect("a.db").execute("""SELECT p.value, q.value, count(DISTINCT run.hash), min(actual_ns) FROM result
    JOIN run ON run.id = result.run JOIN param p ON p.run = run.id AND p.name = 'cube.hbm.bw_gbs'
    JOIN param q ON q.run = run.id AND q.name = 'sips' GROUP BY 1, 2 ORDER BY 1, 2""").fetchall())
SQL
)" = "[('128', '1', 1, 34.085), ('128', '2', 1, 34.085), ('64', '1', 1, 66.085), ('64', '2', 1, 66.085)]" ]
ok "keys are parameters of a run of its own"
for list in 99,4 4,99; do
    rm -f a.db
    run probe --case pe-local-hbm --vary cube.pes=$list --sqlite a.db --format csv
    [ $code -eq 2 ] && [ "$(python3 - <<'SQL'
import sqlite3
print(sqlite3.connect("a.db").execute("""SELECT p.value, hash != '', partial, count(*), actual_ns, substr(failed, 1, 15) FROM probe_result r
    JOIN run ON run.id = r.run JOIN param p ON p.run = r.run AND p.name = 'cube.pes' GROUP BY r.run ORDER BY 1""").fetchall())
SQL
)" = "[('4', 1, 0, 1, 18.085, None), ('99', 0, 0, 1, None, '--set cube.pes=')]" ]
    ok "one that fails has a run, too, with its keys, and why: $list"
done
rm -f a.db
# took OPTIONS: ms of a processor
took()
{
    (TIMEFORMAT=%U && { time "$SIM" probe --case pe-local-hbm --vary cube.hbm.bw_gbs=1:2000:1 --format csv --quiet -j 1 -o many.csv "$@"; } 2>&1) | tr -d .
}
alone=$(took)
kept=$(took --sqlite many.db)
[ $((10#$kept)) -lt $((4 * 10#$alone)) ]
ok "2000 machines in a database take less than 4 times as long: $alone ms, $kept ms"
run run softmax M=64 --vary arg.N=64,0 --sqlite a.db --format csv --quiet
[ $code -eq 2 ] && [ "$(grep -c 'N must be' err)" -eq 1 ] && [ "$(python3 -c 'import sqlite3
print(sqlite3.connect("a.db").execute("SELECT count(DISTINCT hash), sum(failed IS NULL), count(*) FROM run_result JOIN run ON run = id").fetchone())')" = "(1, 1, 2)" ]
ok "and the machine, if there is one; it is told once"

# -- how many -----------------------------------------------------------------------------------

run probe --vary cube.hbm.bw_gbs=64:163:1 --vary sips=1,2 --dry-run --format csv -j 2
sed 1d out | grep -q '^200,100000000,2,[0-9.]*$'
ok "--dry-run"
refused "too many machines" 2 "--vary makes more than 100000000 machines" \
    probe --vary cube.hbm.bw_gbs=1:20000 --vary cube.noc.bw_gbs=1:20000
refused "a list that is too long" 2 "is one value too many: a list has at most 1000000" probe --vary cube.hbm.bw_gbs=1:9999999
refused "an empty list" 2 "--vary cube.pes: '' is no value" probe --vary cube.pes=
refused "an empty item" 2 "is no value" probe --vary cube.pes=1,,2
refused "a range of decimals" 2 "needs a step, as in 0.5:2.0:0.5" probe --vary ns_per_mm=0.1:0.5
refused "a range backwards" 2 "is a range that ends before it begins" probe --vary cube.pes=4:2
refused "a step of nothing" 2 "has no step above 0" probe --vary cube.pes=1:4:0
refused "a key twice" 2 "--vary has sips twice" probe --vary sips=1 --vary sips=2
refused "a key that there is not" 2 "did you mean 'cube.hbm.bw_gbs'?" probe --vary cube.hbm.bw_gbz=1,2
refused "the version of the file" 2 "--vary kernbench: '1,2' is a version of the machine's file" probe --vary kernbench=1,2
refused "--dry-run alone" 2 "--dry-run needs --vary, which is not given" probe --dry-run
refused "-j alone" 2 "--jobs needs --vary, which is not given" probe -j 2
refused "standard input" 2 "standard input only once" replay - --vary sips=1,2
for option in --fingerprint "--trace a.json"; do
    # shellcheck disable=SC2086
    refused "$option" 2 "--vary makes one table of many machines, without ${option% *}" replay rows.csv --vary sips=1,2 $option
done

# -- machines that fail -------------------------------------------------------------------------

for jobs in 1 2; do
    run probe --case pe-local-hbm --vary cube.pes=99,4,98,16 --format csv -j $jobs
    [ $code -eq 2 ] && [ "$(wc -l <out)" -eq 5 ] && says "'cube.pes' must be 0..64, not '99'" &&
        says "2 of 4 machines failed" && grep -q '^99,,*$' out && grep -q '^98,,*$' out && [ "$(cut -d, -f1 out | xargs)" = "cube.pes 99 4 98 16" ]
    ok "a machine that cannot be has a row, and ends nothing, -j $jobs"
done
run probe --case pe-local-hbm --vary cube.pes=99,4 --format json
[ $code -eq 2 ] && [ "$(jq -c '[.rows[].failed]' out)" = "[\"--set cube.pes=99: 'cube.pes' must be 0..64, not '99'\",null]" ]
ok "JSON says why"
run probe --case pe-local-hbm --vary cube.pes=99,4 --format table --columns all
grep -q "failed" out && grep -q "must be 0..64" out
ok "so does a table"
run run layernorm M=64 N=65536 dtype=f64 --vary cube.pe.pe_tcm.size_mb=1,16 --format csv
[ $code -eq 7 ] && [ "$(wc -l <out)" -eq 3 ] && says TCM && says "1 of 2 machines failed"
ok "a kernel that fails on one of them"
run probe --case pe-local-hbm --vary cube.pes=98,99 --format csv -o a.csv
[ $code -eq 2 ] && [ ! -e a.csv ] && [ ! -e a.csv.partial ] && says "2 of 2 machines failed"
ok "nothing is written if all fail"
run probe --case pe-local-hbm --vary cube.pes=4,99 --format csv -o a.csv
[ $code -eq 2 ] && [ "$(wc -l <a.csv)" -eq 3 ]
ok "one that failed is in the file, which is whole"
cat >crash.c <<'C'
#include <tl.h>
#include <signal.h>
static void crash(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_num_programs(tl, 0) == 4 || tl_num_programs(tl, 0) == 32)
        raise(SIGKILL);
    tl_store(tl, 0, tl_full(tl, KB_F16, KB_SHAPE(64), 1));
}
static void setup(kb_bench_run *run) { kb_bench_launch(run, "crash", crash, NULL, 0); }
const kb_bench bench_crash = {.name = "crash", .summary = "dies with 4 PEs", .setup = setup};
KB_BENCHES(&bench_crash);
C
"$SIM" cc crash.c 2>cc.err
run run ./crash.so:crash --vary cube.pes=2,4,8 --format csv
[ $code -eq 6 ] && [ "$(wc -l <out)" -eq 4 ] && says "ended by signal 9" && grep -q '^4,,*$' out
ok "a process that dies: the other machines have their rows"

# -- what else there is of each -------------------------------------------------------------------

run replay rows.csv --vary sips=1,2 --format csv --breakdown
[ $code -eq 0 ] && head -1 out | grep -q '^sips,by,of,cause,' && sed -n 's/^2,//p' out >second && "$SIM" replay rows.csv --set sips=2 --breakdown --format csv | sed 1d | same - second
ok "--breakdown: that of each"
run replay rows.csv --vary sips=1,2 --format csv --stats use.csv
[ $code -eq 0 ] && sed -n 's/^2,//p' use.csv >second && "$SIM" replay rows.csv --set sips=2 --stats two.csv --quiet >out && sed 1d two.csv | same - second
ok "--stats: that of each"

# docs/machine.md "Links: fifo or ideal"
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,write,c0.pe0,c0.slice2,0,4K 0,write,c0.pe1,c0.slice3,0,4K >crossing.csv
for order in ideal,fifo fifo,ideal; do
    run replay crossing.csv --machine "$root/topologies/cube8.yaml" --vary contention.links=$order --format csv --quiet
    [ "$(head -1 out | tr , '\n' | tail -1)" = notes ] &&
        [ "$(grep -c '^ideal,.*"warning: links are ideal' out)" -eq 2 ] && [ "$(grep -c '^fifo,.*,$' out)" -eq 2 ] || echo $order
done >wrong
[ ! -s wrong ]
ok "a warning is beside the rows of its machine"
run replay crossing.csv --vary contention.links=fifo --format csv --quiet
[ $code -eq 0 ] && ! head -1 out | grep -q notes
ok "and no column without ideal links"

# -- what stays ---------------------------------------------------------------------------------

env --default-signal=INT "$SIM" load --pattern uniform --rate 0.1 --txns 2000 --vary cube.hbm.bw_gbs=64:4000 --format csv >many 2>said &
pid=$!
worked 250 $pid
kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] && grep -q '^interrupted: [0-9]* of 3937 machines complete$' said && [ "$(wc -l <many)" -gt 2 ] &&
    [ "$(wc -l <many)" -eq $(($(sed -n 's/interrupted: \([0-9]*\).*/\1/p' said) + 1)) ]
ok "Ctrl-C: what was complete is printed"
"$SIM" probe --vary cube.hbm.bw_gbs=64:400 --format csv >/dev/full 2>said
code=$?
[ $code -eq 5 ] && grep -q 'No space left' said
ok "a full disk"
plan
