/*
 * llm_pieces.c -- which iterations are simulated for a prompt, and for the tokens behind it.
 *
 * Example: a prompt of 1000 in pieces of 512: 512 new tokens of 512, then 488 of 1000.
 *
 * Example: 128 tokens behind a prompt of 1024, in pages of 16. The prefill gives the first; 127
 * decode steps have 1025 .. 1151 tokens: 16 of them as 1040, ... 16 as 1136, 15 as 1152.
 */
#include "cli/llm/llm_pieces.h"

bool piece_of_prompt(int64_t prompt, int64_t chunk, struct piece *p)
{
    int64_t left = prompt - p->kv, q = chunk > 0 && chunk < left ? chunk : left;

    if (left <= 0)
        return false;
    *p = (struct piece){.q = q, .kv = p->kv + q, .times = 1};
    return true;
}

bool piece_of_tokens(int64_t prompt, int64_t tokens, int64_t page, struct piece *p)
{
    int64_t first = p->times == 0 ? prompt + 1 : p->kv + 1, last = prompt + tokens - 1;

    if (first > last)
        return false;
    *p = (struct piece){.q = 1, .kv = (first + page - 1) / page * page};
    p->times = (p->kv < last ? p->kv : last) - first + 1;
    return true;
}
