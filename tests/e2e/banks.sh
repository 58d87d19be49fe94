#!/usr/bin/env bash
# banks.sh -- memories with banks: every vector of an independent implementation, with each engine.
. "$(dirname "$0")/../support/tap.sh"
at_top

# id,end_ns of a result with all columns.
ends()
{
    cut -d, -f1,11 "$work/out"
}

for rows in tests/vectors2/banks*.expected.csv; do
    base=${rows%.expected.csv}
    prints=
    for options in "" "--fingerprint" "--engine hop --fingerprint"; do
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$SIM" replay "$base.csv" --machine "$base.yaml" --format csv $options
        [ "$code" -eq 0 ] && ends | cmp - "$rows"
        ok "$(basename "$base") ${options:-fused}"
        prints+="$(grep fingerprint "$work/err") "
    done
    # shellcheck disable=SC2086
    set -- $prints
    [ "$#" -eq 4 ] && [ "$2" = "$4" ]
    ok "$(basename "$base"): one fingerprint"
done

# What else is told of them: causes add up to latencies; points and random traffic are the same with both engines.
for name in banks0 banks5; do
    base=tests/vectors2/$name
    call ${RUNNER:-} "$SIM" replay $base.csv --machine $base.yaml --format csv --quiet
    cp "$work/out" "$work/rows"
    call ${RUNNER:-} "$SIM" replay $base.csv --machine $base.yaml --breakdown --format csv --quiet
    near "$name: causes add up" "$(awk -F, 'NR > 1 { sum += $11 - $6 } END { printf "%.6f", sum }' "$work/rows")" \
        "$(awk -F, '$1 == "all" { sum += $7 } END { printf "%.6f", sum }' "$work/out")" 0.0001
    call ${RUNNER:-} "$SIM" replay $base.csv --machine $base.yaml --trace "$work/t.json" -o "$work/traced" --format csv --quiet
    cmp "$work/rows" "$work/traced" && grep -q '"traceEvents"' "$work/t.json"
    ok "$name: a timeline beside the same rows"
    for command in "sweep --src c0.pe* --dst c0.slice* --inflight 1,9" "load --pattern uniform --rate 0.02 --txns 500 --seeds 1"; do
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$SIM" $command --machine $base.yaml --format csv --quiet
        cp "$work/out" "$work/fused"
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$SIM" $command --machine $base.yaml --format csv --quiet --engine hop
        [ "$code" -eq 0 ] && [ "$(wc -l <"$work/fused")" -gt 1 ] && cmp "$work/out" "$work/fused"
        ok "$name: ${command%% *} by both engines"
    done
done
plan
