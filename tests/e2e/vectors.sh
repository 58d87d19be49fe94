#!/usr/bin/env bash
# vectors.sh -- every replay vector: bytes and fingerprint with both engines, and without one.
#
# The expected results come from an independent implementation of the model; B names the build.
set -u
B=${B:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

for rows in tests/vectors/*.csv; do
    case $rows in *.expected.csv) continue ;; esac
    base=${rows%.csv}
    case $base in
    */cube8_fifo_*) sim=cube8_fifo ;;
    *) sim=$(basename "${base%_*}") ;;
    esac
    for engine in fused hop; do
        n=$((n + 1))
        name="$(basename "$base") $engine"
        if ${RUNNER:-} "$B/$sim/$sim" replay "$rows" --engine $engine --fingerprint >"$dir/out" 2>"$dir/err" &&
            cmp "$dir/out" "$base.expected.csv" && cmp "$dir/err" "$base.fingerprint"; then
            echo "ok $n - $name"
        else
            echo "not ok $n - $name"
            cat "$dir/err"
        fi
    done
    # without a fingerprint the engine compiled for the topology runs
    n=$((n + 1))
    if ${RUNNER:-} "$B/$sim/$sim" replay "$rows" --quiet >"$dir/out" 2>"$dir/err" &&
        cmp "$dir/out" "$base.expected.csv"; then
        echo "ok $n - $(basename "$base")"
    else
        echo "not ok $n - $(basename "$base")"
        cat "$dir/err"
    fi
done
echo "1..$n"
