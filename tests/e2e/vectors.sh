#!/usr/bin/env bash
# vectors.sh -- every replay vector: bytes and fingerprint with both engines, and without one.
#
# The expected results come from an independent implementation of the model; B names the build.
. "$(dirname "$0")/../support/tap.sh"
at_top

for rows in tests/vectors/*.csv; do
    case $rows in *.expected.csv) continue ;; esac
    base=${rows%.csv}
    case $base in
    */cube8_fifo_*) sim=cube8_fifo ;;
    *) sim=$(basename "${base%_*}") ;;
    esac
    for engine in fused hop; do
        call ${RUNNER:-} "$M/$sim/$sim" replay "$rows" --engine $engine --fingerprint
        [ $code -eq 0 ] && cmp "$work/out" "$base.expected.csv" && cmp "$work/err" "$base.fingerprint"
        ok "$(basename "$base") $engine"
    done
    # without a fingerprint the engine compiled for the topology runs
    call ${RUNNER:-} "$M/$sim/$sim" replay "$rows" --quiet
    [ $code -eq 0 ] && cmp "$work/out" "$base.expected.csv"
    ok "$(basename "$base")"
done

# ends FILE: the columns id and end_ns
ends()
{
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
             { print $at["id"] "," $at["end_ns"] }' "$1"
}

# when rows end on machines with routers; both engines and all columns with it
for rows in tests/vectors2/router*.csv; do
    case $rows in *.expected.csv) continue ;; esac
    base=${rows%.csv}
    for engine in fused hop; do
        call ${RUNNER:-} "$B/kernbench" replay --machine "$base.yaml" "$rows" --engine $engine \
            --fingerprint
        [ $code -eq 0 ] && ends "$work/out" | cmp - "$base.expected.csv"
        ok "$(basename "$base") $engine"
        cat "$work/out" "$work/err" >"$work/$engine"
    done
    cmp "$work/fused" "$work/hop"
    ok "$(basename "$base"): both engines"
done
plan
