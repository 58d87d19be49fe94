#!/usr/bin/env bash
# plan.sh -- a study of RUNS GEMM variants of which 1 % crash, killed KILLS times and resumed, has the bytes of one
# without kills; and what share of the sum of its cores a study of a tenth of them has, three times. Prints TAP, and
# figures behind #.
#
# B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
RUNS=${RUNS:-100000} KILLS=${KILLS:-10} SHARED=$((${RUNS:-100000} / 10))
"$SIM" cc "$root/tests/plan/crashing.c" -o crashing.so 2>cc.err || none "no compiler"
# study_of RUNS: of so many variants
study_of()
{
    printf '%s\n' 'command: run ./crashing.so:crashing M=64 N=64 K=64' \
        "vary: {cube.noc.bw_gbs: \"1:100\", cube.hbm.bw_gbs: \"1001:$((1000 + $1 / 100))\"}" 'cost: {cube.noc.bw_gbs: 0.5}'
}
study_of "$RUNS" >s.yaml
study_of "$SHARED" >shared.yaml

# seconds COMMAND...: how long it takes in "took", seconds of processor time in "worked", the MB of its largest process in "largest"
seconds()
{
    python3 - "$@" <<'PYTHON'
import resource, subprocess, sys, time
begin = time.monotonic()
with open("out", "w") as out, open("err", "w") as err:
    code = subprocess.run(sys.argv[1:], stdout=out, stderr=err).returncode
took = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
for name, figure in ("took", f"{took:.1f}"), ("worked", f"{used.ru_utime + used.ru_stime:.1f}"), ("largest", used.ru_maxrss // 1024):
    print(figure, file=open(name, "w"))
sys.exit(code)
PYTHON
    code=$?
}

seconds "$SIM" study s.yaml --quiet --format csv -o whole.csv
whole=$(cat took)
[ $code -eq 7 ] && [ "$(wc -l <whole.csv)" -eq $((RUNS + 2)) ] && [ "$(grep -c ',failed,' whole.csv)" -eq $((RUNS / 100)) ]
ok "$RUNS variants, of which 1 % crash, are as many rows"
echo "# $RUNS runs in $whole s: $(awk -v n="$RUNS" -v s="$whole" 'BEGIN { printf "%.0f", n / s }') a second, in at most" \
    "$(cat largest) MB a process"

kills=0
while :; do
    pause=$(awk -v s="$whole" -v n="$KILLS" -v r=$RANDOM 'BEGIN { printf "%.2f", 0.2 + s / (n + 2) * (0.5 + r / 32768) }')
    [ $kills -lt "$KILLS" ] || pause=0
    code=0
    { timeout -s KILL "$pause" "$SIM" study s.yaml --quiet --format csv -o killed.csv --resume >out 2>err || code=$?; } 2>killed
    [ $code -eq 137 ] || break
    kills=$((kills + 1))
done
[ $code -eq 7 ] && same whole.csv killed.csv && [ ! -e killed.csv.journal ]
ok "killed $kills times and resumed: the same bytes"

# What two processes do beside each other, each half with one worker, against one with two.
cat >both.sh <<'END_OF_BOTH'
"$1" study shared.yaml --quiet -j 1 -o half --shard 1/2 2>err1 &
"$1" study shared.yaml --quiet -j 1 -o half --shard 2/2 2>err2
wait
END_OF_BOTH
for round in 1 2 3; do
    rm -f half.*
    seconds bash both.sh "$SIM"
    read -r apart worked <<<"$(cat took worked | xargs)"
    seconds "$SIM" study shared.yaml --quiet -j 2 --format csv -o two.csv
    awk -v n="$SHARED" -v a="$apart" -v wa="$worked" -v b="$(cat took)" -v wb="$(cat worked)" -v mb="$(cat largest)" -v round=$round 'BEGIN {
        printf "# round %d: %d runs by two of -j 1 beside each other in %.1f s (processors: %.1f s), by one of -j 2 in %.1f s (%.1f s): ",
            round, n, a, wa, b, wb
        printf "%.0f %% of the sum of two cores, in at most %d MB a process\n", 100 * a / b, mb }'
done
"$SIM" study shared.yaml --quiet --format csv -o half --resume 2>err
same two.csv half
ok "the halves have together the same bytes"
plan
