/*
 * pieces.c -- which iterations are simulated for the tokens of a request.
 *
 * Example: 128 tokens behind a prompt of 1024, in pages of 16. The prefill gives the first; 127
 * decode steps have 1025 .. 1151 tokens: 16 of them as 1040, ... 16 as 1136, 15 as 1152.
 */
#include "cli/llm/pieces.h"

bool piece_of_tokens(int64_t prompt, int64_t tokens, int64_t page, struct piece *p)
{
    int64_t first = p->times == 0 ? prompt + 1 : p->kv + 1, last = prompt + tokens - 1;

    if (first > last)
        return false;
    *p = (struct piece){.q = 1, .kv = (first + page - 1) / page * page};
    p->times = (p->kv < last ? p->kv : last) - first + 1;
    return true;
}
