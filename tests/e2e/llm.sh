#!/usr/bin/env bash
# llm.sh -- `llm` from outside: what its JSON has beside rows. Prints TAP. Needs jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# -- totals -------------------------------------------------------------------------------------

# total JQ: of the JSON in out
total()
{
    jq -r "$1" out
}

run llm llama-3.2-1b --batch 1,4 --decode 64 --tries 2 --format json --quiet
equal "the schema" kernbench.llm/1 "$(total .schema)"
equal "an object for each batch" "1 4" "$(total '[.totals[].batch] | join(" ")')"
equal "what was not run is null" "null null" "$(total '[.totals[].ttft_ms | tostring] | join(" ")')"
equal "4 tokens in 212.091 us" "0.212091 4714.951 18859.802" \
    "$(total '.totals[1] | "\(.tpot_ms) \(.tokens_per_s_user * 1000 | round / 1000) \(.tokens_per_s * 1000 | round / 1000)"')"
equal "the time of a token is the total of its rows" 0 \
    "$(total '[.rows[] | select(.op == "total") | .us / 1000] as $us | [.totals[].tpot_ms] as $ms |
        [range(2) | select(($us[.] - $ms[.] | fabs) > 0.000001)] | length')"

run llm llama-3.2-1b --prefill 16 --tries 1 --format jsonl --quiet
equal "jsonl: on the first line; a prefill has no time of a token" "true null null null" \
    "$(head -1 out | jq -r '.totals[0] | "\(.ttft_ms > 0) \(.tpot_ms) \(.tokens_per_s_user) \(.tokens_per_s)"')"

plan
