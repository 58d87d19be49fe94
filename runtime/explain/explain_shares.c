/* explain_shares.c -- sums of time by cause and place, and chains of them.
 *
 * A share is one row: cause, place, how often, how long in all, and of waits the longest and what
 * it waited behind. A chain has two sets of shares: since the command's issue, and since another PE
 * let it go on. Copying a chain copies the rows into room that is kept, so a run allocates only
 * while chains still grow.
 */
#include "explain/spans.h"
#include <stdlib.h>
#include <string.h>

bool shares_room(struct shares *shares, uint32_t n)
{
    kb_share *moved;

    if (n <= shares->cap)
        return true;
    moved = realloc(shares->row, 2 * (size_t)n * sizeof *moved);
    if (!moved)
        return false;
    shares->row = moved;
    shares->cap = 2 * n;
    return true;
}

void shares_copy(struct kb_sim *s, struct shares *to, const struct shares *from)
{
    if (!shares_room(to, from->n)) {
        spans_stop(s, KB_NO_MEMORY);
        return;
    }
    to->n = from->n;
    if (from->n)
        memcpy(to->row, from->row, from->n * sizeof *from->row);
}

/* Adds a piece to the share of its cause and place. */
void shares_add(struct kb_sim *s, struct shares *shares, const kb_share *piece)
{
    uint32_t i = shares->n;

    while (i > 0 &&
           (shares->row[i - 1].cause != piece->cause || shares->row[i - 1].place != piece->place))
        i--;
    if (i > 0) {
        kb_share *row = &shares->row[i - 1];

        row->count += piece->count;
        row->sum_fs += piece->sum_fs;
        if (piece->longest_fs > row->longest_fs) {
            row->longest_fs = piece->longest_fs;
            row->behind = piece->behind;
            row->behind_id = piece->behind_id;
        }
        return;
    }
    if (!shares_room(shares, shares->n + 1)) {
        spans_stop(s, KB_NO_MEMORY);
        return;
    }
    shares->row[shares->n++] = *piece;
}

int64_t shares_sum_fs(const struct shares *x)
{
    int64_t sum_fs = 0;

    for (uint32_t i = 0; i < x->n; i++)
        sum_fs += x->row[i].sum_fs;
    return sum_fs;
}

void chain_follow(struct chain *chain, uint32_t before, int64_t since_fs)
{
    chain->before = before;
    chain->since_fs = since_fs;
    chain->since.n = 0;
}

void chain_copy(struct kb_sim *s, struct chain *to, const struct chain *from)
{
    struct shares shares = to->shares, since = to->since;

    *to = *from;
    to->shares = shares;
    to->since = since;
    shares_copy(s, &to->shares, &from->shares);
    shares_copy(s, &to->since, &from->since);
}

void chain_free(struct chain *x)
{
    free(x->shares.row);
    free(x->since.row);
}

void chain_swap(struct chain *a, struct chain *b)
{
    struct chain kept = *a;

    *a = *b;
    *b = kept;
}

void chain_add(struct kb_sim *s, struct chain *x, const kb_share *piece)
{
    if (piece->sum_fs == 0)
        return;
    shares_add(s, &x->shares, piece);
    if (x->before != KB_NO_ID)
        shares_add(s, &x->since, piece);
}
