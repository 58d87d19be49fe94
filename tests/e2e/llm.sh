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

plan
