#!/usr/bin/env bash
# benches.sh -- every bench takes the same events as ever, whatever compiler and machine.
#
# tests/golden/benches.txt has a fingerprint for each; `make golden` writes it anew.
# usage: benches.sh; SIM is the simulator, RUNNER what runs it
set -u

SIM=${SIM:-${B:-build}/cube8/cube8}
golden=tests/golden/benches.txt

while read -r bench expected; do
    got=$(${RUNNER:-} "$SIM" run "$bench" --fingerprint --quiet 2>&1 >/dev/null)
    if [ "$got" = "fingerprint $expected" ]; then
        echo "ok - $bench"
    else
        echo "not ok - $bench: $got, not $expected"
    fi
done <"$golden"
listed=$(${RUNNER:-} "$SIM" list --format csv | tail -n +2 | cut -d , -f 1 | sort -u | wc -l)
if [ "$listed" = "$(wc -l <"$golden")" ]; then
    echo "ok - no bench is left out"
else
    echo "not ok - $listed benches are listed, not as many as $golden has"
fi
