/* ev.c -- the queue of engine/ev.h. */
#include "engine/ev.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, SIBLINGS = 4 };

static bool grow(struct ev_queue *q)
{
    size_t cap = q->cap ? 2 * q->cap : FIRST_ROOM;
    size_t rows = EV_ROOT + cap + SIBLINGS; /* the last has four children to look at */
    ev *moved = aligned_alloc(64, (rows * sizeof *moved + 63) / 64 * 64);

    if (!moved)
        return false;
    if (q->rows)
        memcpy(moved, q->rows, (EV_ROOT + q->n) * sizeof *moved);
    for (size_t i = EV_ROOT + q->n; i < rows; i++)
        moved[i] = EV_NONE;
    free(q->rows);
    q->rows = moved;
    q->cap = cap;
    return true;
}

bool ev_queue_init(struct ev_queue *q)
{
    *q = (struct ev_queue){0};
    return grow(q);
}

void ev_queue_free(struct ev_queue *q)
{
    free(q->rows);
}

static size_t first_child(size_t i)
{
    return 4 * (i - EV_ROOT) + EV_ROOT + 1;
}

static size_t parent(size_t i)
{
    return (i - EV_ROOT - 1) / 4 + EV_ROOT;
}

bool ev_push(struct ev_queue *q, ev e)
{
    size_t i;

    if (q->n == q->cap && !grow(q))
        return false;
    i = EV_ROOT + q->n++;
    for (; i > EV_ROOT && q->rows[parent(i)] > e; i = parent(i))
        q->rows[i] = q->rows[parent(i)];
    q->rows[i] = e;
    return true;
}

void ev_take(struct ev_queue *q)
{
    ev *rows = q->rows, e;
    size_t i = EV_ROOT, end = EV_ROOT + --q->n, c;

    e = rows[end];
    rows[end] = EV_NONE;
    if (end == EV_ROOT)
        return;
    while ((c = first_child(i)) < end) {
        size_t a = c + (rows[c + 1] < rows[c]);
        size_t b = c + 2 + (rows[c + 3] < rows[c + 2]);
        size_t least = rows[b] < rows[a] ? b : a;

        if (rows[least] >= e)
            break;
        rows[i] = rows[least];
        i = least;
    }
    rows[i] = e;
}
