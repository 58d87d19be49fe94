/* ev.c -- the memory of the event queue, and the length of its days. */
#include "ev.h"
#include <stdlib.h>
#include <string.h>

enum { HEAP_FIRST = 64, SIBLINGS = 4, NODES_FIRST = 64, SHIFT_FIRST = 16, SHIFT_MAX = 54 };

bool ev_heap_grow(struct ev_heap *h)
{
    size_t cap = h->cap ? 2 * h->cap : HEAP_FIRST;
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

bool ev_queue_init(struct ev_queue *q)
{
    *q = (struct ev_queue){.first = EV_NONE, .from = EV_DAYS, .shift = SHIFT_FIRST};
    return ev_heap_grow(&q->heap) && ev_more_nodes(q);
}

void ev_queue_free(struct ev_queue *q)
{
    free(q->heap.rows);
    free(q->nodes);
}

bool ev_more_nodes(struct ev_queue *q)
{
    uint32_t n = q->n_nodes ? 2 * q->n_nodes : NODES_FIRST;
    struct ev_node *moved = aligned_alloc(32, n * sizeof *moved);

    if (!moved)
        return false;
    if (q->nodes)
        memcpy(moved, q->nodes, q->n_nodes * sizeof *moved);
    free(q->nodes);
    q->nodes = moved;
    for (uint32_t i = q->n_nodes ? q->n_nodes : 1; i < n; i++) {
        moved[i].next = q->free_node;
        q->free_node = i;
    }
    q->n_nodes = n;
    return true;
}

/* Everything to the heap: a day of another length has other events. */
static bool clear_days(struct ev_queue *q)
{
    for (uint32_t day = 0; day < EV_DAYS; day++) {
        if (!(q->used[day / 64] >> day % 64 & 1))
            continue;
        for (uint32_t node = q->head[day], next;; node = next) {
            next = q->nodes[node].next;
            if (!ev_heap_push(&q->heap, q->nodes[node].e))
                return false;
            q->nodes[node].next = q->free_node;
            q->free_node = node;
            if (node == q->tail[day])
                break;
        }
        q->used[day / 64] &= ~(UINT64_C(1) << day % 64);
    }
    q->used_words = 0;
    return true;
}

/* Longer days if too much lies behind them, shorter ones if too much meets on one. */
static unsigned better_shift(struct ev_queue *q)
{
    if (q->far > EV_REVIEW / 16 && q->far > q->crowded && q->shift < SHIFT_MAX) {
        q->shift_least = q->shift + 1;
        return q->shift + 1;
    }
    if (q->crowded > EV_REVIEW / 8 && q->shift > 0)
        return q->shift - 1;
    if (q->shared > EV_REVIEW / 4 && q->shift > q->shift_least)
        return q->shift - 1;
    return q->shift;
}

bool ev_review(struct ev_queue *q)
{
    unsigned shift = better_shift(q);

    q->pushes = q->far = q->shared = q->crowded = 0;
    if (shift == q->shift)
        return true;
    if (!clear_days(q))
        return false;
    q->from = EV_DAYS; /* the first event, if there is one, has gone to the heap */
    q->today = shift > q->shift ? q->today >> 1 : q->today << 1;
    q->shift = shift;
    return true;
}
