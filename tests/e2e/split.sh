#!/usr/bin/env bash
# split.sh -- a compiled machine with interleaved addresses: the judge's rows, benches, breakdowns.
#
# TAP on stdout. B names the build.
. "$(dirname "$0")/../support/tap.sh"
at_top
yaml=tests/support/interleaved.yaml
sim=$M/interleaved/interleaved

# random_rows SEED: rows of the judge, most of them with an address and several granules instead
random_rows()
{
    "$B/_t/judge" rows "$1" "$yaml" 600 | awk -F, -v OFS=, -v seed="$1" '
        BEGIN { srand(seed) }
        NR > 1 && $4 ~ /slice/ && rand() < 0.75 {
            sip = $4 ~ /^s1\./
            cube = $4
            sub(/^s1\./, "", cube)
            sub(/\..*/, "", cube)
            offset = int(rand() * 40) * 256
            if (rand() < 0.5)
                offset += int(rand() * 256)
            $4 = sprintf("0x%x%08x", sip * 2 ^ 20 + substr(cube, 2) * 2 ^ 6, offset)
            $5 = ""
            sub(/^mwrite$/, "write", $2)
            sub(/^mread$/, "read", $2)
            $6 = 1 + int(rand() * 5000)
        }
        { print }'
}

for seed in 1 2 3 4; do
    random_rows $seed >"$work/rows.csv"
    "$B/_t/judge" replay "$yaml" "$work/rows.csv" >"$work/want" 2>"$work/fingerprint"
    for engine in fused hop; do
        call "$sim" replay "$work/rows.csv" --engine $engine --fingerprint
        [ $code -eq 0 ] && cmp "$work/out" "$work/want" && cmp "$work/err" "$work/fingerprint"
        ok "rows $seed, $engine, counted"
    done
    call "$sim" replay "$work/rows.csv" --quiet
    [ $code -eq 0 ] && cmp "$work/out" "$work/want"
    ok "rows $seed, compiled"
done

for engine in fused hop; do
    call "$sim" replay "$work/rows.csv" --quiet --breakdown --format csv --engine $engine
    [ $code -eq 0 ] && cp "$work/out" "$work/$engine"
    ok "a breakdown of rows that are split, $engine"
done
cmp "$work/fused" "$work/hop"
ok "both engines tell the same breakdown"
call "$sim" replay "$work/rows.csv" --quiet --trace "$work/trace.json"
[ $code -eq 0 ] &&
    python3 -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1]))["traceEvents"]) < 1000)' "$work/trace.json"
ok "a timeline of rows that are split"

for bench in gemm softmax all_reduce; do
    call "$sim" run $bench --verify=ops --quiet --format csv
    [ $code -eq 0 ] && grep -q ,pass, "$work/out"
    ok "$bench computes the right thing on interleaved slices"
done
plan
