#!/usr/bin/env bash
# energy.sh -- `energy_mj` of llm beside sums by hand, from rows and routes. Prints TAP. Needs jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
model="llm llama-3.2-1b --decode 64 --batch 4 --tries 1 --format json --quiet"

# rows KEY=VALUE...: JSON in `out`
rows()
{
    # shellcheck disable=SC2086
    run $model "${@/#/--set=energy.}"
}

# sum JQ: of the rows in `out`
sum()
{
    jq -r "[.rows[]] | $1" out
}

run llm llama-3.2-1b --decode 64 --batch 4 --tries 1 --format csv --quiet
cp out without
equal "no key, no column" 0 "$(grep -c energy without)"
run llm llama-3.2-1b --decode 64 --batch 4 --tries 1 --format csv --quiet --set energy.static_w=1
grep -v '^#' out | sed 's/,[^,]*$//' >less
grep -v '^#' without >plain
same plain less
ok "behind all others, which stay"

# 1 pJ: 1e-9 mJ. Ranks are 8 cubes.
rows mac_pj.bf16=1000
equal "products of all ranks" "" "$(sum '.[] | select(.bytes and .flops and .op != "attention") | select((.energy_mj - .flops / 2 * 8 * 1e-6) | fabs > 1e-6) | .op')"
equal "of attention, of heads on each PE, too" 1 "$(sum '[.[] | select(.op == "attention")][0] | if (.energy_mj / (.flops / 2 * 8 * 1e-6) - 1 | fabs) < 0.2 then 1 else .energy_mj end')"
equal "none in norms and collectives" 0 "$(sum 'map(select(.bytes != null and .flops == null) | .energy_mj) | add')"
cp out macs
rows mac_pj.f16=1000 mac_pj.f32=1000 mac_pj.i8=1000
equal "of another type: none" 0 "$(sum 'map(.energy_mj) | add')"

rows static_w=1000
equal "1000 W: a mJ each us" "" "$(sum '.[] | select((.energy_mj - .us) | fabs > 2e-6) | .op')"

rows d2d_pj_bit=1000
equal "an all_reduce over neighbours: what each rank must send, over one edge" "" \
    "$(sum '.[] | select(.op | startswith("all_reduce")) | select((.energy_mj - .link_bytes * 8 * 8 * 1e-6) | fabs > 1e-6) | .op')"
equal "products stay in their rank" 0 "$(sum 'map(select(.flops) | .energy_mj) | add')"
cp out d2d

rows hbm_pj_bit=1000
equal "own columns are read and written once" "" "$(sum '.[] | select(.op == "act" or .op == "add") | select((.energy_mj - .bytes * 8 * 8 * 1e-6) | fabs > 1e-6) | .op')"
equal "products: at least weights, x and y" "" "$(sum '.[] | select(.flops and .op != "attention") | select(.energy_mj < .bytes * 8 * 8 * 1e-6 - 1e-6) | .op')"
cp out memory

# The 8 PEs of a cube have as many columns each, in their own slices.
rows noc_pj_bit_mm=1000
um=0
for pe in 0 1 2 3 4 5 6 7; do
    um=$((um + $("$SIM" route c0.pe$pe c0.slice$pe --format json --quiet | jq '[.. | .wire_ns? // empty] | if length > 20 then .[0:20] else . end | add * 100000 | round')))
done
equal "mm of the way to the own slice" 1 "$(jq -n --argjson um "$um" --slurpfile a out --slurpfile b memory '
    ([$a[0].rows[] | select(.op == "act")][0].energy_mj / [$b[0].rows[] | select(.op == "act")][0].energy_mj) as $mm |
    if ($mm - $um / 8000 | fabs) < 0.01 then 1 else [$mm, $um / 8000] end')"

equal "and of rows of a table, which are runs" 1 "$(jq -n --slurpfile a out --slurpfile b memory '
    [("embed", "act") as $op | [$a, $b | [.[0].rows[] | select(.op == $op)][0].energy_mj] | .[0] / .[1]] |
    if (.[0] - .[1] | fabs) < 1e-3 then 1 else . end')"
cp out wires
# shellcheck disable=SC2086
run $model --set=energy.noc_pj_bit_mm=1000 --set=cube.pe.pe_dma.packet_bytes=256
equal "packets carry the bytes once" "" "$(jq -rn --slurpfile a out --slurpfile b wires '
    range($a[0].rows | length) as $i | select(($a[0].rows[$i].energy_mj - $b[0].rows[$i].energy_mj) | fabs > 1e-6) | $b[0].rows[$i].op')"

rows fabric_pj_bit=1000
equal "one package: no fabric" 0 "$(sum 'map(.energy_mj) | add')"
# shellcheck disable=SC2086
run $model --set=sips=2 --set=energy.fabric_pj_bit=1000
equal "two packages: two edges of a switch" "" \
    "$(sum '.[] | select(.op | startswith("all_reduce")) | select((.energy_mj - .link_bytes * 2 * 2 * 8 * 1e-6) | fabs > 1e-6) | .op')"

rows math_pj=1000
equal "elements of act: a sigmoid and two products of each that is written, of three that are moved" "" \
    "$(sum '.[] | select(.op == "act") | select((.energy_mj - .bytes / 6 * 3 * 8 * 1e-6) | fabs > 1e-6) | .op')"
cp out math
rows tcm_pj_bit=1000
cp out tcm
rows mac_pj.bf16=1000 d2d_pj_bit=1000 hbm_pj_bit=1000 math_pj=1000 tcm_pj_bit=1000
equal "they add up" "" "$(jq -rn --slurpfile all out --slurpfile a macs --slurpfile b d2d --slurpfile c memory --slurpfile d math --slurpfile e tcm '
    range($all[0].rows | length) as $i | [$a, $b, $c, $d, $e] | map(.[0].rows[$i].energy_mj) | add as $sum |
    select(($all[0].rows[$i].energy_mj - $sum) | fabs > 4e-6) | $i')"
equal "the total is that of all calls" 1 "$(sum '(map(select(.bytes != null) | .energy_mj * .count) | add) as $sum |
    [.[] | select(.op == "total")][0].energy_mj | if (. - $sum | fabs) < 1e-3 then 1 else [., $sum] end')"
equal "the layer is the sum of its operations" 1 "$(sum '(map(select(.bytes != null and .count == 16) | .energy_mj) | add) as $sum |
    [.[] | select(.op == "layer")][0].energy_mj | if (. - $sum | fabs) < 2e-5 then 1 else [., $sum] end')"

# shellcheck disable=SC2086
run $model --pp 2 --tp 4 --set=energy.static_w=1000 --set=energy.mac_pj.bf16=1000
equal "stages: products of all calls, and watts for all of the time" 1 "$(sum '(map(select(.flops and .op != "attention") | .flops / 2 * 4 * 1e-6 * .count) | add) as $macs |
    (map(select(.op == "attention") | (.energy_mj - .us) * .count) | add) as $attention |
    [.[] | select(.op == "total")][0] | if (.energy_mj - $macs - $attention - .us | fabs) < 1e-2 then 1 else [., $macs, $attention] end')"
equal "a stage is what it does for a part: two stages, two parts, and watts while nothing is done" 1 "$(sum '[.[] | select(.op | startswith("stage"))] as $s |
    [.[] | select(.op == "total")][0] | ($s | map(.energy_mj - .us) | add) as $done |
    if ($s | length) == 2 and (.energy_mj - 2 * $done - .us | fabs) < 1e-2 then 1 else [., $s] end')"
equal "products of the first: 8 layers" 1 "$(sum '(map(select(.flops and .op != "attention" and .op != "head") | .flops / 2 * 4 * 1e-6 * 8) | add) as $macs |
    ([.[] | select(.op == "attention")][0] | (.energy_mj - .us) * 8) as $attention |
    [.[] | select(.op == "stage.0")][0] | if (.energy_mj - $macs - $attention - .us | fabs) < 1e-2 then 1 else [., $macs, $attention] end')"

# shellcheck disable=SC2086
run $model --tp 4 --set=energy.static_w=1000 --set=energy.hbm_pj_bit=1000
cp out one
# shellcheck disable=SC2086
run $model --tp 4 --dp 2 --set=energy.static_w=1000 --set=energy.hbm_pj_bit=1000
equal "two copies cost twice as much, and the machine its watts once" "" "$(jq -rn --slurpfile one one --slurpfile two out '
    range($one[0].rows | length) as $i | [$one, $two] | map(.[0].rows[$i]) |
    select((2 * (.[0].energy_mj - .[0].us) + .[1].us - .[1].energy_mj) | fabs > 1e-5) | .[0].op')"

for ep in 1 4 8; do
    run llm mixtral-8x7b --weights i8 --decode 16 --tp 1 --dp 8 --ep $ep --tries 1 --format json --quiet --set=energy.hbm_pj_bit=1
    sum '.[] | select(.op == "qkv") | .energy_mj'
done | sort -u >qkv
equal "copies that are simulated together, as they share experts, count once" 1 "$(wc -l <qkv)"

# shellcheck disable=SC2086
run ${model/json/csv} --vary energy.static_w=0,1
equal "each machine has the column" 22 "$(grep -v '^#' out | sed 's/"[^"]*"//' | awk -F, '{print NF}' | sort -u)"
refused "no mm" 2 "energy.noc_pj_bit_mm' needs a 'ns_per_mm' above 0" info --set energy.noc_pj_bit_mm=1 --set ns_per_mm=0
plan
