#!/usr/bin/env bash
# tune.sh -- tune: combinations of arguments of a bench, the fastest first. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# time_of N: of the softmax of that width, by run
time_of()
{
    "$SIM" run softmax M=64 "N=$1" --format csv --quiet | awk -F, 'NR == 2 { print $5 }'
}

# -- rows -----------------------------------------------------------------------------------------

# Runs that take 10, 7, 9, 7 and 5, so to say: the third passes 7.
best=$(time_of 320) middle=$(time_of 448) worst=$(time_of 640)
expected="arg.N,time_ns,above_ns,state,failed 320,$best,,ok, 448,$middle,,ok, 448,$middle,,ok, 640,$worst,,ok, 576,,$middle,stopped,"
for jobs in 1 4; do
    run tune softmax M=64 arg.N=640,448,576,448,320 -j $jobs --format csv --quiet
    [ $code -eq 0 ] && equal "what passes the best of those before it is stopped, -j $jobs" "$expected" "$(xargs <out)"
done
run tune softmax arg.M=32,64 arg.N=64:128:x2 --verify
[ $code -eq 0 ] && [ "$(tail -1 out)" = "best: run softmax M=32 N=64" ] && [ "$(grep -c pass out)" = 1 ] && [ ! -s err ]
ok "the fastest alone is verified, and told"
run tune softmax arg.M=64,128 arg.N=128,256 --format csv --quiet
equal "the last list turns first" "64,128,ok 64,256,stopped 128,128,stopped 128,256,stopped" "$(sed 1d out | cut -d, -f1,2,5 | xargs)"
# a kernel that is long enough to be stopped while it runs
run tune gemm arg.K=64,4096 M=512 N=512 --format csv --quiet
[ "$(cut -d, -f1,4 out | xargs)" = "arg.K,state 64,ok 4096,stopped" ]
ok "a run that goes on too long"

# -- many commands: bounds --------------------------------------------------------------------------

# a million and more in all: those that may be fastest run first, and what cannot be does not run
few=(flash H=8 S=2048 D=64)
for jobs in 1 3; do
    run tune "${few[@]}" arg.BM=16,64,128 arg.BT=16,64,256 -j $jobs --format csv --quiet -o bounds$jobs.csv
done
same bounds1.csv bounds3.csv && [ "$(grep -c ,bound, bounds1.csv)" -ge 2 ] && [ "$(awk -F, '$5 == "bound" && $4 <= 0' bounds1.csv)" = "" ]
ok "what cannot be fastest by its bound has a row that says so, for any -j"
# the smallest blocks of all would run for seconds; test_bound says of them that no bound is above a time
run run "${few[@]}" --vary arg.BM=64,128 --vary arg.BT=16,64,256 --format csv --quiet -o all.csv
run run "${few[@]}" --vary arg.BM=16 --vary arg.BT=64,256 --format csv --quiet -o more.csv
sed 1d more.csv >>all.csv
[ "$(sed -n 2p bounds1.csv | cut -d, -f1-3)" = "$(awk -F, 'NR > 1 { print $1 "," $2 "," $7 }' all.csv | sort -t, -k3,3g | head -1)" ]
ok "the first is the fastest of all"
awk -F, 'NR == FNR { took[$1 "," $2] = $7; next } FNR > 1 && ($1 "," $2) in took && ($3 != "" ? $3 != took[$1 "," $2] : $4 > took[$1 "," $2]) { wrong = 1 } END { exit wrong }' all.csv bounds1.csv
ok "a time is that of a run, and what is above is not above it"

# -- machines -------------------------------------------------------------------------------------

machines=(--vary cube.hbm.bw_gbs=128,256 --vary cube.noc.bw_gbs=64,128)
for jobs in 1 3; do
    run tune softmax M=64 arg.N=640,320,448 "${machines[@]}" -j $jobs --format csv --quiet -o machines$jobs.csv
done
alone=
for bw in 128,64 128,128 256,64 256,128; do
    run tune softmax M=64 arg.N=640,320,448 --set cube.hbm.bw_gbs=${bw%,*} --set cube.noc.bw_gbs=${bw#*,} --format csv --quiet
    alone+=$(sed 1d out | sed "s/^/$bw,/")$'\n'
done
[ "$(head -1 machines1.csv)" = "cube.hbm.bw_gbs,cube.noc.bw_gbs,arg.N,time_ns,above_ns,state,failed" ] && same machines1.csv machines3.csv
ok "the head of several machines has the names of keys and of arguments"
equal "each machine has the rows that tune prints for it alone, for any -j" "$(xargs <<<"$alone")" "$(sed 1d machines1.csv | xargs)"
run tune softmax M=64 arg.N=320,448 "${machines[@]}" --resume --format csv -o kept.csv
[ $code -eq 0 ] && [ "$(sed 1d kept.csv | wc -l)" = 8 ] && [ ! -e kept.csv.journal ]
ok "with a journal of machines"
for part in 1 2 3; do
    run tune softmax M=64 arg.N=640,320,448 "${machines[@]}" --shard $part/3 --format csv --quiet -o parts.csv
done
run merge parts.csv
same parts.csv machines1.csv
ok "parts have whole machines"
run tune softmax M=64 arg.N=640,320,448 "${machines[@]}" -j 2
[ "$(awk 'NR == 1 { print $3 }' out)" = arg.N ] && [ "$(grep -c ^best: out)" = 4 ]
ok "a table names the argument, and the best of each machine"
times=
while read -r _ _ words; do
    # shellcheck disable=SC2086
    times+=$("$SIM" run $words --format csv --quiet | awk -F, 'NR == 2 { print $5 }')$'\n'
done < <(grep ^best: out)
equal "which are commands that take that time" "$(awk -F, '$6 == "ok" && !($1 "," $2 in seen) { seen[$1 "," $2]; print $4 }' machines1.csv | xargs)" "$(xargs <<<"$times")"
run tune softmax M=64 arg.N=64,128 --vary cube.hbm.bw_gbs=128,256 --fail-if 'arg.N>100' --format csv
[ $code -eq 1 ] && says "failed by --fail-if: arg.N is 128 in row 2"
ok "and a condition on an argument"
run tune softmax N=64 arg.M=0,70000 --vary cube.noc.bw_gbs=64,128 --format csv
[ $code -eq 2 ] && says "2 of 2 machines failed"
ok "machines on which nothing runs"
refused "an argument as a key" 2 "tune takes 'arg.N=1' without --vary" tune softmax arg.M=1 --vary arg.N=1

# -- what fails -----------------------------------------------------------------------------------

run tune softmax N=64 arg.M=64,0 --format csv
[ $code -eq 0 ] && [ "$(cut -d, -f1,4 out | tail -1)" = "0,failed" ] && grep -q "M must be an integer in 1..65536, not '0'" out
ok "what cannot run has a row"
run tune softmax N=64 arg.M=0,70000
[ $code -eq 2 ] && says "all runs failed, the table says why" && [ "$(grep -c failed out)" = 3 ]
ok "if all fail, the exit code is theirs"
refused "no list" 2 "tune needs values of an argument, as arg.M=LIST" tune softmax M=64
refused "an argument that the bench has not" 2 "'arg.Q=1' is no list of an argument of softmax" tune softmax arg.Q=1
refused "both" 2 "'arg.M=1' and 'M=64' are given both" tune softmax M=64 arg.M=1
refused "a bad list" 2 "'' is no value" tune softmax arg.M=1,,2
refused "an unknown bench" 2 "unknown bench 'softmx'" tune softmx arg.M=1

# -- resume ---------------------------------------------------------------------------------------

run tune softmax arg.M=16,32,64 N=64 --format csv -o whole.csv
run tune softmax arg.M=16,32,64 N=64 --format csv -o again.csv --resume
same whole.csv again.csv && [ ! -e again.csv.journal ]
ok "with a journal"
plan
