#!/usr/bin/env bash
# windows.sh -- how many instructions a transaction of a closed loop in Python takes, beside the same loop in C (windows.c).
#
# Instructions, which valgrind counts, are the same on a busy machine. Those of a start are not in them: they are the
# difference of 25 windows and of 5. B names the build, PY a Python that has the package.
set -eu
sums=$(mktemp) && trap 'rm -f "$sums"' EXIT

# counted COMMAND...: instructions of a transaction; the sum of the ends of 25 windows to $sums
counted()
{
    local windows of=()

    for windows in 5 25; do
        of+=("$(valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" 1 $windows 2>&1 >/dev/null |
            tee "$sums.said" | sed -n 's/,//g; s/.*I *refs: *//p')")
    done
    grep '^[0-9]*$' "$sums.said" >>"$sums"
    rm "$sums.said"
    echo $(((of[1] - of[0]) / (20 * 2000)))
}
c=$(counted "$B/_p/windows" topologies/cube8.yaml)
python=$(counted "$PY" perf/python_windows.py cube8)
[ "$(sort -u "$sums" | wc -l)" -eq 1 ] || { echo "the two loops have not the same ends" >&2; exit 1; }
awk -v c="$c" -v p="$python" 'BEGIN {
    printf "closed loop: %d instructions a transaction in C, %d in Python: %.3f times\n", c, p, p / c; exit !(p <= 1.1 * c) }'
