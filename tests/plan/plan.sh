#!/usr/bin/env bash
# plan.sh -- a study of RUNS GEMM variants of which 1 % crash, killed KILLS times and resumed, has the bytes of one
# without kills; and what share of the sum of its cores a study has. Prints TAP, and figures behind #.
#
# B names the build, SIM the simulator of cube8 in it.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
RUNS=${RUNS:-100000} KILLS=${KILLS:-10}
"$SIM" cc "$root/tests/plan/crashing.c" -o crashing.so 2>cc.err || none "no compiler"
cat >s.yaml <<YAML
command: run ./crashing.so:crashing M=64 N=64 K=64
vary: {cube.noc.bw_gbs: "1:1000", cube.hbm.bw_gbs: "1001:$((1000 + RUNS / 1000))"}
cost: {cube.noc.bw_gbs: 0.5}
YAML

# seconds COMMAND...: how long it takes
seconds()
{
    local begin=$EPOCHREALTIME

    "$@" >out 2>err
    code=$?
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }' >took
}

seconds "$SIM" study s.yaml --quiet --format csv -o whole.csv
whole=$(cat took)
[ $code -eq 7 ] && [ "$(wc -l <whole.csv)" -eq $((RUNS + 2)) ] && [ "$(grep -c ',failed,' whole.csv)" -eq $((RUNS / 100)) ]
ok "$RUNS variants, of which 1 % crash, are as many rows"
echo "# $RUNS runs in $whole s: $(awk -v n="$RUNS" -v s="$whole" 'BEGIN { printf "%.0f", n / s }') a second"

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
both()
{
    "$SIM" study s.yaml --quiet -j 1 -o half --shard 1/2 >out 2>err &
    "$SIM" study s.yaml --quiet -j 1 -o half --shard 2/2 >out 2>err2
    wait
}
for round in 1 2 3; do
    rm -f half.*
    seconds both
    apart=$(cat took)
    seconds "$SIM" study s.yaml --quiet -j 2 --format csv -o two.csv
    echo "# round $round: two of -j 1 beside each other $apart s, one with -j 2 $(cat took) s: $(awk -v a="$apart" -v b="$(cat took)" \
        'BEGIN { printf "%.0f", 100 * a / b }') % of the sum of two cores"
done
"$SIM" study s.yaml --quiet --format csv -o half --resume 2>err
same whole.csv half
ok "the halves have together the same bytes"
plan
