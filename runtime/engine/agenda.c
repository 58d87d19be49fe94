/* agenda.c -- memory of instants, and the order of their ports. */
#include "engine/agenda.h"
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4, SORTED_BY_STEPS = 32 };

void agenda_free(struct agenda *a)
{
    for (uint32_t i = 0; i < a->n_instants; i++)
        free(a->instants[i].rows);
    free(a->instants);
}

void agenda_clear(struct agenda *a)
{
    memset(a->first, 0xff, sizeof a->first); /* NO_INSTANT */
    a->free_instant = NO_INSTANT;
    for (uint32_t i = a->n_instants; i-- > 0;) {
        a->instants[i].n = 0;
        a->instants[i].next = a->free_instant;
        a->free_instant = i;
    }
}

/* More rows, all free. */
static bool widen(struct agenda *a)
{
    enum { FIRST = 64 };
    uint32_t n = a->n_instants ? 2 * a->n_instants : FIRST;
    struct instant *more = realloc(a->instants, n * sizeof *more);

    if (!more)
        return false;
    memset(&more[a->n_instants], 0, (n - a->n_instants) * sizeof *more);
    a->instants = more;
    for (uint32_t i = n; i-- > a->n_instants;) {
        more[i].next = a->free_instant;
        a->free_instant = i;
    }
    a->n_instants = n;
    return true;
}

uint32_t agenda_new_instant(struct agenda *a, uint64_t at_fs)
{
    uint32_t row, *first = agenda_place(a, at_fs);

    if (a->free_instant == NO_INSTANT && !widen(a))
        return NO_INSTANT;
    row = a->free_instant;
    a->free_instant = a->instants[row].next;
    a->instants[row].at_fs = at_fs;
    a->instants[row].next = *first;
    *first = row;
    return row;
}

bool agenda_room(struct instant *at)
{
    uint32_t room = at->room ? 2 * at->room : ROOM;
    struct asked *more = realloc(at->rows, room * sizeof *more);

    if (!more)
        return false;
    at->rows = more;
    at->room = room;
    return true;
}

static int by_order(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

void agenda_sort(struct instant *at)
{
    if (at->n > SORTED_BY_STEPS) {
        qsort(at->rows, at->n, sizeof *at->rows, by_order);
        return;
    }
    for (uint32_t i = 1; i < at->n; i++) {
        struct asked row = at->rows[i];
        uint32_t k = i;

        for (; k > 0 && at->rows[k - 1].order > row.order; k--)
            at->rows[k] = at->rows[k - 1];
        at->rows[k] = row;
    }
}
