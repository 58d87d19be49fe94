#!/usr/bin/env bash
# benches.sh -- benches and random traffic give the same results as ever, on any compiler and machine.
#
# tests/golden/benches.txt has a fingerprint for each bench, load.csv what the command in load.txt
# prints; `make golden` writes them again.
# B names the build, SIM the simulator of cube8 in it, RUNNER a program that runs it.
. "$(dirname "$0")/../support/tap.sh"
at_top
golden=tests/golden/benches.txt

while read -r bench expected; do
    got=$(${RUNNER:-} "$SIM" run "$bench" --fingerprint --quiet 2>&1 >/dev/null)
    equal "$bench" "fingerprint $expected" "$got"
done <"$golden"
listed=$(${RUNNER:-} "$SIM" list --format csv | tail -n +2 | cut -d , -f 1 | sort -u | wc -l)
equal "no bench is left out" "$(wc -l <"$golden")" "$listed"
# shellcheck disable=SC2046
${RUNNER:-} "$SIM" $(cat tests/golden/load.txt) | cmp - tests/golden/load.csv
ok "random traffic"
plan
