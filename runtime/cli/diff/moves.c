/*
 * moves.c -- the lines of the output: the largest moves so far, no more than --top asks for.
 *
 * Results may have millions of rows that all differ, of which 20 lines are wanted (--top). Moves
 * are added to an array of up to twice that number; when it is full, it is sorted and cut to the
 * first half. From then on a move that is smaller than the last one kept is dropped before its
 * texts are copied. So an addition costs O(log top) on average, and memory does not grow with the
 * file.
 *
 * Order: missing columns, then missing and other rows, then numbers by their change in per cent
 * (from zero: infinite); equal ones as they come in the file.
 */
#include "cli/diff/diff.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHERE_BYTES = 120,
    WORD_BYTES = 8, /* room that text_show() can cut a word to */
};

static int compare_moves(const void *left, const void *right)
{
    const struct move *x = left, *y = right;

    if (x->other != y->other)
        return x->other ? -1 : 1;
    if (x->has_row != y->has_row)
        return x->has_row ? 1 : -1;
    if (!x->other && fabs(x->pct) > fabs(y->pct))
        return -1;
    if (!x->other && fabs(x->pct) < fabs(y->pct))
        return 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

void move_free(struct move *m)
{
    free(m->where);
    free(m->a);
    free(m->b);
}

void moves_cut(struct diff *d)
{
    if (d->n_moves > 0)
        qsort(d->moves, d->n_moves, sizeof *d->moves, compare_moves);
    d->is_cut = d->n_moves >= d->cli->opts.top;
    while (d->n_moves > d->cli->opts.top)
        move_free(&d->moves[--d->n_moves]);
}

/* Are there as many larger ones already? */
static bool too_small(const struct diff *d, const struct move *m)
{
    return d->is_cut && compare_moves(m, &d->moves[d->cli->opts.top - 1]) > 0;
}

/* Room for one more: as many again as --top, so that sorting is rare. */
static void make_room(struct diff *d)
{
    if (d->n_moves == d->room && d->n_moves >= 2 * d->cli->opts.top)
        moves_cut(d);
    d->moves = memory_room(d->moves, d->n_moves, &d->room, sizeof *d->moves);
}

/* Copies may be of nothing. */
static char *copy(const char *text)
{
    return text ? memory_text(text) : NULL;
}

/* What the row is of: the keys of A's, or of B's if there is none in A. */
static char *row_name(const struct diff *d, const struct results *r)
{
    char text[WHERE_BYTES] = "";
    size_t n = 0;

    for (size_t c = 0; c < d->a.n_columns && n + 1 + WORD_BYTES <= sizeof text; c++) {
        size_t at = r == &d->a ? c : d->of_b[c];
        const char *cell = at == SIZE_MAX ? NULL : r->cells[at];

        if (!cell || !diff_is_key(d, c, cell))
            continue;
        if (n > 0)
            text[n++] = ' ';
        text_show(cell, strlen(cell), text + n, sizeof text - n);
        n += strlen(text + n);
    }
    return memory_text(text);
}

void moves_add(struct diff *d, struct move m, const struct results *row, const char *a,
               const char *b)
{
    if (too_small(d, &m))
        return;
    make_room(d);
    m.a = copy(a);
    m.b = copy(b);
    if (m.has_row)
        m.where = row_name(d, row);
    d->moves[d->n_moves++] = m;
}
