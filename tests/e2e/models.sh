#!/usr/bin/env bash
# models.sh -- a sample of check-models: `llm` of random models on random machines takes the same times in every way.
. "$(dirname "$0")/../support/tap.sh"
at_top

call python3 tests/campaign/models.py "$B" "$work/models" 1-12
[ "$code" -eq 0 ] && grep -qx '12 passed, 0 failed' "$work/out" && grep -qx '[0-3] of 12 were refused' "$work/out"
ok "12 models on machines"

plan
