#!/usr/bin/env bash
# banks.sh -- memories with banks: every vector of an independent implementation, with each engine;
# statistics, timelines, pictures, reports and `why --by key` of rows. Needs jq.
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
    for options in "--engine fused --fingerprint" "--engine hop --fingerprint"; do
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$SIM" replay "$base.csv" --machine "$base.yaml" --format csv $options
        [ "$code" -eq 0 ] && ends | cmp - "$rows"
        ok "$(basename "$base") ${options% *}"
        prints+="$(grep fingerprint "$work/err") "
    done
    # shellcheck disable=SC2086
    set -- $prints
    [ "$#" -eq 4 ] && [ "$2" = "$4" ]
    ok "$(basename "$base"): one fingerprint"
done

# What else is told of them: causes add up to latencies; points and random traffic are the same with both engines.
for name in banks1 banks6; do
    base=tests/vectors2/$name
    call ${RUNNER:-} "$SIM" replay $base.csv --machine $base.yaml --format csv --quiet
    cp "$work/out" "$work/rows"
    call ${RUNNER:-} "$SIM" replay $base.csv --machine $base.yaml --breakdown --format csv --quiet
    near "$name: causes add up" "$(awk -F, 'NR > 1 { sum += $11 - $6 } END { printf "%.6f", sum }' "$work/rows")" \
        "$(awk -F, '$1 == "all" { sum += $7 } END { printf "%.6f", sum }' "$work/out")" 0.0001
    call ${RUNNER:-} "$SIM" replay $base.csv --machine $base.yaml --trace "$work/t.json" -o "$work/traced" --format csv --quiet
    cmp "$work/rows" "$work/traced" && grep -q '"traceEvents"' "$work/t.json"
    ok "$name: a timeline beside the same rows"
    for command in "sweep --src c0.pe* --dst c0.slice* --inflight 1,9" "load --pattern uniform --rate 0.02 --txns 500 --seeds 1" \
        "load --pattern stream --rate 0.02 --txns 300 --seeds 1 --set addressing.granule=4096"; do
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$SIM" $command --machine $base.yaml --format csv --quiet
        cp "$work/out" "$work/fused"
        # shellcheck disable=SC2086
        call ${RUNNER:-} "$SIM" $command --machine $base.yaml --format csv --quiet --engine hop
        [ "$code" -eq 0 ] && [ "$(wc -l <"$work/fused")" -gt 1 ] && cmp "$work/out" "$work/fused"
        ok "$name: ${command%% *} by both engines"
    done
done

# A machine that is held in a way has none any more with banks: what it resolves to reads back.
for version in 1 2; do
    printf 'kernbench: %s\nname: held\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {hold: %s}}\n' $version \
        "$([ $version = 1 ] && echo own || echo route)" >"$work/held.yaml"
    "${KBGEN:-$B/kbgen}" --config --set cube.hbm.model=banks "$work/held.yaml" >"$work/resolved.yaml"
    equal "banks in place of a server, version $version: the resolved YAML reads back" \
        "$("${KBGEN:-$B/kbgen}" --hash --set cube.hbm.model=banks "$work/held.yaml")" "$("${KBGEN:-$B/kbgen}" --hash "$work/resolved.yaml" 2>&1)"
done

# -- what is seen of rows -----------------------------------------------------------------------

cd "$work" || exit
header=issue_ns,op,src,dst,offset,nbytes
one="cube.hbm.model=banks cube.hbm.channels=1 cube.hbm.bw_gbs=32 cube.hbm.timing_ns.ctrl=0 cube.pe.pe_dma.read_channels=4"
# shellcheck disable=SC2086
one=$(printf -- '--set=%s ' $one)
printf '%s\n' $header 0,read,c0.pe0,c0.slice0,0,64 0,read,c0.pe0,c0.slice0,0,64 0,read,c0.pe0,c0.slice0,32K,64 >rows.csv

# docs/model.md "Memories with banks": a miss, a hit, and a conflict, done at 80.085
for engine in fused hop; do
    # shellcheck disable=SC2086
    run replay rows.csv $one --stats s.csv --engine $engine
    equal "$engine: rows of the channel" \
        "hbm_channel,sip0.cube0.hbm_ctrl.slice0.ch0,,,32.000000,1,3,192,6.000000,7.492040,,,1,1,1,2,0.000000" \
        "$(grep ^hbm_channel s.csv)"
    equal "$engine: rows of the slice" \
        "memory,sip0.cube0.hbm_ctrl.slice0,,,32.000000,1,3,192,6.000000,7.492040,,,1,1,1,2,0.000000" \
        "$(grep ^memory s.csv)"
done
# shellcheck disable=SC2086
run replay rows.csv $one --stats s.json
equal "JSON" '[1,1,1,2,0]' "$(jq -c '.rows[] | select(.kind == "hbm_channel")
    | [.row_hits, .row_misses, .row_conflicts, .activations, .refresh_pct]' s.json)"
run replay rows.csv --stats s.csv
[ $code -eq 0 ] && ! grep -q 'row_hits\|hbm_channel' s.csv
ok "no columns of rows without banks"

# The slices of a channel in the timeline, by what they found: as many as it counts.
# shellcheck disable=SC2086
run replay rows.csv $one --trace t.json -o rows.out
equal "a lane for the channel: when its bus is taken, by which row" \
    '[16085,"row miss",0,0,0] [18085,"row hit",1,0,0] [64085,"row conflict",2,0,1]' \
    "$(jq -c '.traceEvents[] | select(.ph == "B" and (.name | startswith("row "))) | [.ts, .name, .args.id, .args.bank, .args.row]' t.json | xargs -d '\n')"

# seen NAME COMMAND...: in the timeline as many hits, misses and conflicts of each channel as in --stats
seen()
{
    name=$1
    shift
    run "$@" --stats s.csv --trace t.json -o rows.out --quiet
    [ $code -eq 0 ] &&
        awk -F, '$1 == "hbm_channel" { print $2, $13, $14, $15 }' s.csv | sort >counted &&
        jq -r '([.traceEvents[] | select(.ph == "M" and .name == "thread_name") | {key: (.tid | tostring), value: .args.name}] | from_entries) as $names
            | .traceEvents[] | select(.ph == "B" and (.name | startswith("row "))) | "\($names[.tid | tostring]) \(.name)"' t.json |
            awk '{ all[$1] = 1; n[$1, $3]++ }
                 END { for (c in all) print c, n[c, "hit"] + 0, n[c, "miss"] + 0, n[c, "conflict"] + 0 }' | sort >told &&
        [ -s counted ] && cmp counted told
    ok "$name: the timeline has what is counted"
}
seen "load" load --pattern random --bytes 256 --rate 0.1 --txns 1000 --seeds 1 --reads 70 --set cube.hbm.model=banks
seen "a kernel" run gather --set cube.hbm.model=banks
run run gather --set cube.hbm.model=banks --trace t.pftrace -o rows.out
[ $code -eq 0 ] && grep -aq 'row miss' t.pftrace && grep -aq 'hbm_ctrl.slice0.ch0' t.pftrace
ok "Perfetto's format has the lanes, too"

# view --conflicts, reports
# shellcheck disable=SC2086
run replay rows.csv $one --stats s.csv
run view cube --stats s.csv --conflicts
[ $code -eq 0 ] && grep -q 'data-node="sip0.cube0.hbm_ctrl.slice0"[^>]*data-pct="33.33' out &&
    grep -q '33.3 % row conflicts' out && ! grep -q 'busy<' out
ok "a picture of conflicts: one of three"
run view cube --stats s.csv
[ $code -eq 0 ] && grep -q 'data-node="sip0.cube0.hbm_ctrl.slice0"[^>]*data-pct="7.49' out
ok "and of utilization: channels are parts of their slice"
refused "conflicts without statistics" 2 "conflicts needs --stats" view --conflicts
run replay rows.csv --stats s.csv
refused "statistics without banks" 3 "s.csv has no column 'row_hits': it is no result of --stats of a machine with banks" \
    view --stats s.csv --conflicts
# shellcheck disable=SC2086
run report replay rows.csv $one -o page.html
[ $code -eq 0 ] && grep -q '"sip0.cube0.hbm_ctrl.slice0.ch0",[^]]*,1,1,1,2,' page.html
ok "a report has the rows of a channel: a hit, a miss, a conflict, two activations"
run report replay rows.csv -o page.html
[ $code -eq 0 ] && ! grep -q 'slice0.ch0' page.html
ok "and none without banks"

# why --by key: times of rows are keys like others. Twice as good is 7 ns less for each of rcd, cl and rp,
# which are 14 ns; the first read opens a row, the second closes it for another one of the same bank.
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c0.slice0,0,64 1000,read,c0.pe0,c0.slice0,1M,64 >rows.csv
saved() { awk -F, -v key="cube.hbm.timing_ns.$1" '$1 == key { print $7 }' out; }
run why rows.csv --by key --set cube.hbm.model=banks --format csv --quiet
equal "why --by key: both reads wait for rcd and cl, one for rp; neither for what writes wait for" "7.000000 7.000000 3.500000 0.000000" \
    "$(saved rcd) $(saved cl) $(saved rp) $(saved wr)"
run why rows.csv --by key --format csv --quiet
[ $code -eq 0 ] && ! grep -q timing_ns out
ok "why --by key: no times of rows without banks"
plan
