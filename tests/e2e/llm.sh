#!/usr/bin/env bash
# llm.sh -- `llm` from outside: what its JSON has beside rows, and what iterations come to. Prints TAP. Needs jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# -- totals -------------------------------------------------------------------------------------

# total JQ: of the JSON in out
total()
{
    jq -r "$@" out
}

run llm llama-3.2-1b --batch 1,4 --decode 64 --tries 2 --format json --quiet
equal "the schema" kernbench.llm/1 "$(total .schema)"
equal "an object for each batch" "1 4" "$(total '[.totals[].batch] | join(" ")')"
equal "what was not run is null" "null null" "$(total '[.totals[].ttft_ms | tostring] | join(" ")')"
equal "4 tokens in 211.989 us" "0.211989 4717.23 18868.919" \
    "$(total '.totals[1] | "\(.tpot_ms) \(.tokens_per_s_user * 1000 | round / 1000) \(.tokens_per_s * 1000 | round / 1000)"')"
equal "the time of a token is the total of its rows" 0 \
    "$(total '[.rows[] | select(.op == "total") | .us / 1000] as $us | [.totals[].tpot_ms] as $ms |
        [range(2) | select(($us[.] - $ms[.] | fabs) > 0.000001)] | length')"

run llm llama-3.2-1b --prefill 16 --tries 1 --format jsonl --quiet
equal "jsonl: on the first line; a prefill has no time of a token" "true null null null" \
    "$(head -1 out | jq -r '.totals[0] | "\(.ttft_ms > 0) \(.tpot_ms) \(.tokens_per_s_user) \(.tokens_per_s)"')"

# -- prompts in pieces --------------------------------------------------------------------------

run llm llama-3.2-1b --prefill 40 --chunk 16 --tries 1 --format json --quiet
equal "a piece each" "16 32 40" "$(total '[.rows[] | select(.op == "total") | .kv] | join(" ")')"
equal "the head is in the last" "40" "$(total '[.rows[] | select(.op == "topk") | .kv] | join(" ")')"
equal "the time to the first token is their sum" 0 \
    "$(total '([.rows[] | select(.op == "total") | .us] | add / 1000) as $ms |
        [.totals[] | select((.ttft_ms - $ms | fabs) > 0.000001)] | length')"
run llm llama-3.2-1b --prefill 40 --chunk 64 --tries 1 --format csv --quiet
cp out one
run llm llama-3.2-1b --prefill 40 --tries 1 --format csv --quiet
same one out
ok "a piece that is the prompt"
refused "no prompt" 2 "--chunk is of a prompt, and --decode alone has none" llm llama-3.2-1b --chunk 2 --decode 2

# -- tokens behind a prompt ---------------------------------------------------------------------

# us KV: of the decode step with that many tokens, by itself
us()
{
    "$SIM" llm llama-3.2-1b --decode "$1" --tries 2 --format json --quiet | jq '.rows[] | select(.op == "total") | .us'
}

run llm llama-3.2-1b --prefill 16 --tokens 40 --tries 2 --format json --quiet
equal "a simulation for each page" "prefill 16, decode 32, decode 48, decode 64" \
    "$(total '[.rows[] | select(.op == "total") | "\(.phase) \(.kv)"] | join(", ")')"
equal "as long as by itself" "$(us 32) $(us 48) $(us 64)" \
    "$(jq '.rows[] | select(.op == "total" and .phase == "decode") | .us' out | xargs)"
equal "the mean over 17 .. 55 tokens" 0 \
    "$(total '([.rows[] | select(.op == "total" and .phase == "decode") | .us] | (16 * .[0] + 16 * .[1] + 7 * .[2]) / 39000) as $ms |
        [.totals[] | select((.tpot_ms - $ms | fabs) > 0.000001)] | length')"
equal "the first token is of the prompt" 0 \
    "$(total '[.rows[] | select(.op == "total" and .phase == "prefill") | .us / 1000 - $t | select(fabs > 0.000001)] | length' \
        --argjson t "$(total '.totals[0].ttft_ms')")"
run llm llama-3.2-1b --prefill 16 --tokens 1 --tries 1 --format json --quiet
equal "one token has no time of the next" "true null" "$(total '.totals[0] | "\(.ttft_ms > 0) \(.tpot_ms)"')"
refused "a step and tokens" 2 "--tokens are behind a prompt, and --decode is one step" llm llama-3.2-1b --tokens 2 --decode 2

# -- lists, causes, tiles -----------------------------------------------------------------------

run llm llama-3.2-1b --tp 4,8 --batch 1,2 --decode 16,32 --tries 1 --format json --quiet
equal "lists multiply" "4/1/16 4/1/32 4/2/16 4/2/32 8/1/16 8/1/32 8/2/16 8/2/32" \
    "$(total '[.totals[] | "\(.tp)/\(.batch)/\(.kv)"] | join(" ")')"
equal "each operation has a cause" 0 "$(total '[.rows[] | select(.bytes != null and .cause == null)] | length')"
run llm llama-3.2-1b --prefill 16 --tp 4 --decode 16,32 --tries 1 --format json --quiet
equal "one prefill for all steps" "prefill 16, decode 16, decode 32" \
    "$(total '[.rows[] | select(.op == "total") | "\(.phase) \(.kv)"] | join(", ")')"
run llm llama-3.2-1b --decode 16 --tries 1 --quiet
equal "no empty line behind a table" "batch 1" "$(tail -1 out | cut -d: -f1)"
refused "a list that is none" 2 "--tp: " llm llama-3.2-1b --tp 4,x
refused "too many tokens" 2 "--decode: 1048577 is more than 1048576" llm llama-3.2-1b --decode 1048577

run llm llama-3.2-1b --decode 16 --tries 2 --map-out tiles.yaml --format csv --quiet
cp out found
run llm llama-3.2-1b --decode 16 --tries 2 --map tiles.yaml --map-out again.yaml --format csv --quiet
same tiles.yaml again.yaml
ok "tiles come back as they were"
equal "and take as long" "$(cut -d, -f10-12 found)" "$(cut -d, -f10-12 out)"
equal "a tile of a map is told beside the one that was found" 5 "$(grep -c 'given, +0.0 % over M' out)"
sed -i '/op: down/s/tile: .*]/tile: [1, 16, 16]/' again.yaml
run llm llama-3.2-1b --decode 16 --tries 2 --map again.yaml --format csv --quiet
equal "a tile that was edited is taken" "true 1" \
    "$(awk -F, '$10 == "down" {us[FILENAME] = $12} END {print (us["out"] > us["found"] ? "true" : "false")}' found out) $(grep -c 'M 1 N 16 K 16 given, +[1-9]' out)"
sed 's/^machine: .*/machine: 0123456789abcdef/' tiles.yaml > other.yaml
refused "of another machine" 3 "other.yaml:3:10: a map of another machine" llm llama-3.2-1b --map other.yaml
printf 'kernbench_map: 1\nmachine: x\nproducts:\n- {op: a, m: 0, k: 1, n: 1, x: bf16, w: b, grid: 3x1, tile: [1]}\n- {foo: 1}\n' > bad.yaml
refused "each mistake has its place" 3 "bad.yaml:4:61: a tile is [m, k, n]" llm llama-3.2-1b --map bad.yaml
refused "no such map" 3 "cannot read none.yaml" llm llama-3.2-1b --map none.yaml
sed -i '/op: down/s/tile: .*]/tile: [4096, 4096, 4096]/' again.yaml
refused "a tile that has no room" 3 "the tile does not fit" llm llama-3.2-1b --decode 16 --tries 1 --map again.yaml

run llm llama-3.2-1b --decode 16 --prove --format csv --quiet
equal "all is proven" 5 "$(grep -c ', proven)' out)"
run llm llama-3.2-1b --decode 16 --batch 2 --grid 2x4 --tries 1 --map-out grid.yaml --format csv --quiet
equal "a grid that was asked for" 5 "$(grep -c 'grid: 2x4' grid.yaml)"
refused "a grid of other PEs" 2 "--grid '3x3' is not PxQ with the 8 PEs of a rank" llm llama-3.2-1b --grid 3x3
refused "more rows than tokens" 2 "an iteration of 1 tokens has not 2 rows" llm llama-3.2-1b --decode 16 --grid 2x4

plan
