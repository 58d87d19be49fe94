/* issue_order.c -- brings transactions that were added in any order into that of their issue.
 *
 * Rows that were added in order need nothing: s->sorted, and the next row is a counter. For others
 * the run looks into s->order. It is sorted by the digits of the times, from the lowest to the
 * highest; each pass keeps the order of equal digits, so of equal times the lower id comes first. A
 * digit has eleven bits, so the counters of a pass fit the first cache, and a million rows within a
 * millisecond (2^40 fs) take four passes over memory, one after the other, and no comparison.
 *
 * Example, with digits of ten: the times 31, 12, 11 of rows 0, 1, 2. By the lowest digit they are
 * 31, 11, 12, by the next one 11, 12, 31: order is 2, 1, 0.
 */
#include "engine/issue_order.h"
#include "engine/dependencies.h"
#include <stdlib.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct issue {
    uint64_t fs;
    uint32_t slot;
};

static uint32_t digit_of(const struct issue *x, unsigned shift)
{
    return x->fs >> shift & (DIGITS - 1);
}

static void sort_by_digit(const struct issue *from, struct issue *to, uint32_t n, unsigned shift)
{
    uint32_t at[DIGITS] = {0}, sum = 0;

    for (uint32_t i = 0; i < n; i++)
        at[digit_of(&from[i], shift)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        uint32_t many = at[digit];

        at[digit] = sum;
        sum += many;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[digit_of(&from[i], shift)]++] = from[i];
}

/* All rows that wait for no others; returns the bits that their times have. */
static uint64_t list_issues(const struct kb_sim *s, struct issue *list, uint32_t *n)
{
    uint64_t bits = 0;

    *n = 0;
    for (uint32_t slot = 0; slot < s->n_txns; slot++) {
        if (s->dependencies && dependencies_waits(s->dependencies, slot))
            continue;
        list[(*n)++] = (struct issue){(uint64_t)s->txns[slot].issue_fs, slot};
        bits |= (uint64_t)s->txns[slot].issue_fs;
    }
    return bits;
}

bool sort_issues(struct kb_sim *s)
{
    struct issue *room = malloc((size_t)2 * s->n_txns * sizeof *room + 1), *list = room;
    uint32_t n;

    s->order = malloc(s->n_txns * sizeof *s->order + 1);
    if (!room || !s->order) {
        free(room);
        return false;
    }
    uint64_t bits = list_issues(s, list, &n);

    for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
        struct issue *to = list == room ? room + s->n_txns : room;

        sort_by_digit(list, to, n, shift);
        list = to;
    }
    for (uint32_t i = 0; i < n; i++)
        s->order[i] = list[i].slot;
    s->n_order = n;
    free(room);
    return true;
}
