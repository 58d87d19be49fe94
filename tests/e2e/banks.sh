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
plan
