/* issue_order.c -- brings transactions that were added in any order into that of their issue.
 *
 * Rows that were added in order need nothing: s->sorted, and the next row is a counter. For others
 * the run looks into s->order. It is split by the highest bits in which the times differ, and each
 * part again, until a part is small; those few times are fetched beside each other and sorted in
 * the first cache, by digits from the lowest to the highest. Each step keeps the order of what is
 * equal, so of equal times the lower id comes first. Nothing is compared, and it takes 8 bytes a
 * row, 4 of which are given back.
 *
 * Example: the times 5, 7, 1, 4 of rows 0 to 3, split by one bit. They differ in three bits, so 1
 * is in front of 5, 7, 4. These differ in two: 5, 4 come before 7. Two are few, and sorted: 4, 5.
 * The order is 2, 3, 0, 1.
 */
#include "engine/issue_order.h"
#include "engine/dependencies.h"
#include <stdlib.h>
#include <string.h>

enum { SPLIT_BITS = 11, DIGIT_BITS = 8, FEW = 4096 };

struct issue {
    uint64_t fs;
    uint32_t slot;
};

/* What the sort works on. */
struct sorting {
    const struct txn *txns;
    uint32_t *spare;          /* [n] */
    struct issue few[2][FEW]; /* from the one to the other, and back */
};

static uint64_t issue_of(const struct sorting *of, uint32_t slot)
{
    return (uint64_t)of->txns[slot].issue_fs;
}

/* From counts to the place of the first of each: the sum of those in front. */
static void count_up(uint32_t *at, uint32_t n)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t many = at[i];

        at[i] = sum;
        sum += many;
    }
}

static void sort_by_digit(const struct issue *from, struct issue *to, uint32_t n, unsigned shift)
{
    enum { DIGITS = 1 << DIGIT_BITS };
    uint32_t at[DIGITS] = {0};

    for (uint32_t i = 0; i < n; i++)
        at[from[i].fs >> shift & (DIGITS - 1)]++;
    count_up(at, DIGITS);
    for (uint32_t i = 0; i < n; i++)
        to[at[from[i].fs >> shift & (DIGITS - 1)]++] = from[i];
}

/* FEW rows at most, whose times differ in the lowest `bits`. */
static void sort_few(struct sorting *of, uint32_t *part, uint32_t n, unsigned bits)
{
    struct issue *list = of->few[0], *to = of->few[1];

    for (uint32_t i = 0; i < n; i++)
        list[i] = (struct issue){issue_of(of, part[i]), part[i]};
    for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS) {
        struct issue *sorted = to;

        sort_by_digit(list, to, n, shift);
        to = list;
        list = sorted;
    }
    for (uint32_t i = 0; i < n; i++)
        part[i] = list[i].slot;
}

/* In how many of the lowest bits the times differ. */
static unsigned differing_bits(const struct sorting *of, const uint32_t *part, uint32_t n)
{
    uint64_t differ = 0;

    for (uint32_t i = 1; i < n; i++)
        differ |= issue_of(of, part[i]) ^ issue_of(of, part[0]);
    return differ ? 64 - (unsigned)__builtin_clzll(differ) : 0;
}

/* Splits `part` by `split_bits` from `shift` on; at[i] becomes the end of i. */
static void split(struct sorting *of, uint32_t *part, uint32_t n, unsigned shift,
                  unsigned split_bits, uint32_t *at)
{
    const uint32_t n_parts = 1u << split_bits;

    for (uint32_t i = 0; i < n; i++)
        at[issue_of(of, part[i]) >> shift & (n_parts - 1)]++;
    count_up(at, n_parts);
    for (uint32_t i = 0; i < n; i++)
        of->spare[at[issue_of(of, part[i]) >> shift & (n_parts - 1)]++] = part[i];
    memcpy(part, of->spare, n * sizeof *part);
}

/* So many bits that each part of times which lie evenly is FEW / 2 at most. */
static unsigned bits_to_split(uint32_t n)
{
    unsigned bits = 0;

    while (bits < SPLIT_BITS && n >> bits > FEW / 2)
        bits++;
    return bits;
}

static void sort(struct sorting *of, uint32_t *part, uint32_t n)
{
    uint32_t ends[1 << SPLIT_BITS] = {0}, begin = 0;
    unsigned bits = differing_bits(of, part, n), split_bits = bits_to_split(n), shift;

    if (n <= FEW) {
        sort_few(of, part, n, bits);
        return;
    }
    if (!bits)
        return;
    shift = bits > split_bits ? bits - split_bits : 0;
    split(of, part, n, shift, split_bits, ends);
    for (uint32_t i = 0; i < 1u << split_bits; i++) {
        if (shift && ends[i] - begin > 1)
            sort(of, part + begin, ends[i] - begin);
        begin = ends[i];
    }
}

/* All rows that wait for no others, by their slots. */
static void list_issues(struct kb_sim *s)
{
    s->n_order = 0;
    for (uint32_t slot = 0; slot < s->n_txns; slot++)
        if (!s->dependencies || !dependencies_waits(s->dependencies, slot))
            s->order[s->n_order++] = slot;
}

bool sort_issues(struct kb_sim *s)
{
    struct sorting *of = malloc(sizeof *of);
    uint32_t *spare = malloc(s->n_txns * sizeof *spare + 1);

    s->order = malloc(s->n_txns * sizeof *s->order + 1);
    if (of && spare && s->order) {
        of->txns = s->txns;
        of->spare = spare;
        list_issues(s);
        sort(of, s->order, s->n_order);
    }
    free(spare);
    free(of);
    return of && spare && s->order;
}
