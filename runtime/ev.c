/* ev.c -- the memory of the event queue. */
#include "ev.h"
#include <stdlib.h>
#include <string.h>

enum { CAP_FIRST = 256, SIBLINGS = 4 };

bool ev_heap_grow(struct ev_heap *h)
{
    size_t cap = h->cap ? 2 * h->cap : CAP_FIRST;
    size_t rows = EV_ROOT + cap + SIBLINGS; /* the last has four children to look at */
    ev *moved = aligned_alloc(64, (rows * sizeof *moved + 63) / 64 * 64);

    if (!moved)
        return false;
    if (h->rows)
        memcpy(moved, h->rows, (EV_ROOT + h->n) * sizeof *moved);
    for (size_t i = EV_ROOT + h->n; i < rows; i++)
        moved[i] = EV_NONE;
    free(h->rows);
    h->rows = moved;
    h->cap = cap;
    return true;
}

void ev_heap_free(struct ev_heap *h)
{
    free(h->rows);
    *h = (struct ev_heap){0};
}
