#!/usr/bin/env bash
# profile.sh -- what a transaction costs on the simulated processor of callgrind, by function.
#
# usage: profile.sh WORD...      running one case of txn.c: `fused ideal remote 256 at0`
#        profile.sh replay ORDER a whole replay; ORDER as for rows.c
#        profile.sh load PATTERN RATE    running traffic
#        profile.sh kernel PES           loads of that many PEs
# Functions that were inlined are told apart by the lines their instructions come from. Per
# transaction: instructions, branches that a simple predictor guesses wrong, and data misses in
# the first cache and in the last. B names the build.
set -euo pipefail

B=${B:-build}
ROWS=100000
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# The last options make the profile's lines stand by themselves.
callgrind() {
    valgrind --tool=callgrind --branch-sim=yes --cache-sim=yes --compress-strings=no \
        --compress-pos=no --callgrind-out-file="$out/profile" "$@" 2>"$out/log" ||
        { cat "$out/log" >&2; exit 1; }
}

profile_case() {
    "$B/_p/txn" 1000 1 "$@" | grep -c ' run,' | grep -qx 1 ||
        { echo "profile.sh: not one case: $*" >&2; exit 2; }
    callgrind --toggle-collect=kb_sim_run "$B/_p/txn" $ROWS 1 "$@" >"$out/samples"
}

profile_replay() {
    "$B/_p/rows" $ROWS "$1" >"$out/rows.csv"
    callgrind "$B/_m/cube8/cube8" replay "$out/rows.csv" --quiet -o /dev/null
}

profile_load() {
    callgrind --toggle-collect=kb_sim_run "$B/_m/cube8/cube8" load --pattern "$1" --rate "$2" \
        --txns $ROWS --seeds 1 -j 1 --quiet -o /dev/null
}

profile_kernel() {
    callgrind --toggle-collect=kb_sim_run "$B/_p/kernel" loads "$1" $ROWS
}

case ${1:-} in
kernel) profile_kernel "$2" ;;
load) profile_load "$2" "$3" ;;
replay) profile_replay "${2:-ascending}" ;;
*) profile_case "$@" ;;
esac
echo "$*: per transaction, in all, by file and by function (those above one instruction)"
printf '%10s%10s%10s%10s\n' instr. mispred. 'L1 miss' 'LL miss'
awk -v rows=$ROWS -f perf/profile.awk "$out/profile" |
    sort -t '|' -k 1,1 -k 2,2rn | sed 's/^.|//; s/|//'
