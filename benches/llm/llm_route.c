/*
 * llm_route.c -- tokens in the order of their experts.
 *
 * Example: 3 tokens, 2 experts each of 4, chosen 0 2, 1 2, 0 3. Slots are 0 .. 5; by experts 0 4,
 * 2, 1 3, 5; first is 0 2 3 5 6.
 */
#include "benches/llm/llm_route.h"
#include <string.h>

static const uint16_t *layer_of(const struct llm_routing *r, int64_t layer)
{
    return r->expert + (size_t)layer * r->stride;
}

void llm_sort_slots(const struct llm_routing *r, int64_t layer, int64_t a, int64_t b, int64_t *slot,
                    int64_t *first)
{
    const uint16_t *expert = layer_of(r, layer);

    memset(first, 0, ((size_t)r->experts + 1) * sizeof *first);
    for (int64_t s = a * r->chosen; s < b * r->chosen; s++)
        first[expert[s]]++;
    for (int64_t e = 0, sum = 0, n; e <= r->experts; e++, sum += n) {
        n = first[e];
        first[e] = sum;
    }
    for (int64_t s = a * r->chosen; s < b * r->chosen; s++)
        slot[first[expert[s]]++] = s;
    for (int64_t e = r->experts; e > 0; e--) /* each is where the next one begins */
        first[e] = first[e - 1];
    first[0] = 0;
}

int64_t llm_slots_of(const struct llm_routing *r, int64_t layer, int64_t e, int64_t n)
{
    const uint16_t *expert = layer_of(r, layer);
    int64_t count = 0;

    for (int64_t s = 0; s < r->tokens * r->chosen; s++)
        count += expert[s] >= e && expert[s] < e + n;
    return count;
}

int64_t llm_own_begin(int64_t tokens, int64_t i, int64_t ep)
{
    int64_t rest = tokens % ep;

    return tokens / ep * i + (i < rest ? i : rest);
}
