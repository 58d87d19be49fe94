/* ev.c -- the memory of the event queue, and the length of its days.
 *
 * engine/ev.h has the idea and the fast paths, which are inline: a push to the end of a day's list
 * or to an empty day, and a take. This file has the rest: events far away, events between others of
 * their day, growing, and the review of the length of a day.
 *
 * The review. Every EV_REVIEW slow pushes it looks at what they were, as shares of all pushes
 * since:
 *
 *   far      beyond the last day: more than 1/16, and more than crowded  -> days twice as long
 *   between  before a later event of the day: more than 1/4              -> days half as long
 *   crowded  to the heap, with more than EV_STEPS to pass: more than 1/8 -> days half as long
 *
 * Where days may be piles (engine/ev.h), many events meet on each day and `between` does not count.
 *
 * A change moves all events to the heap, from which they come out in order; new ones go to days.
 * shift_least keeps two loads in turn from changing the length back and forth: days do not become
 * shorter than what has just proved too short, until FORGET reviews later. That made fifo links
 * with four channels 200 -> 132 ns per transaction.
 */
#include "engine/ev.h"
#include <stdlib.h>
#include <string.h>

enum {
    HEAP_FIRST = 64,
    SIBLINGS = 4,
    NODES_FIRST = 64,
    SHIFT_FIRST = 15,
    SHIFT_MAX = 54,
    FORGET = 64,
    PILES_FROM = 2 * EV_DAYS
};

static bool heap_grow(struct ev_heap *h)
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

bool ev_heap_init(struct ev_heap *h)
{
    *h = (struct ev_heap){0};
    return heap_grow(h);
}

void ev_heap_free(struct ev_heap *h)
{
    free(h->rows);
}

static size_t first_child(size_t i)
{
    return 4 * (i - EV_ROOT) + EV_ROOT + 1;
}

static size_t parent(size_t i)
{
    return (i - EV_ROOT - 1) / 4 + EV_ROOT;
}

bool ev_heap_push(struct ev_heap *h, ev e)
{
    size_t i;

    if (h->n == h->cap && !heap_grow(h))
        return false;
    i = EV_ROOT + h->n++;
    for (; i > EV_ROOT && h->rows[parent(i)] > e; i = parent(i))
        h->rows[i] = h->rows[parent(i)];
    h->rows[i] = e;
    return true;
}

void ev_heap_take(struct ev_heap *h)
{
    ev *rows = h->rows, e;
    size_t i = EV_ROOT, end = EV_ROOT + --h->n, c;

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

/* Doubles the nodes. */
static bool more_nodes(struct ev_queue *q)
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
    q->nodes[0] = (struct ev_node){EV_NONE, 0};
    return true;
}

bool ev_queue_init(struct ev_queue *q)
{
    *q = (struct ev_queue){.first = EV_NONE, .from = EV_DAYS, .shift = SHIFT_FIRST};
    return ev_heap_init(&q->heap) && more_nodes(q);
}

void ev_queue_free(struct ev_queue *q)
{
    ev_heap_free(&q->heap);
    free(q->nodes);
}

/* Gives back a node; the next in its list. */
static uint32_t free_node(struct ev_queue *q, uint32_t node)
{
    uint32_t next = q->nodes[node].next;

    q->nodes[node].next = q->free_node;
    q->free_node = node;
    return next;
}

/* Room in the heap for one more event, and for those on piles. False without memory. */
static bool heap_room(struct ev_queue *q)
{
    return q->heap.n + q->n_piled < q->heap.cap || heap_grow(&q->heap);
}

/* Moves the list of a day to the heap. False without memory, which a pile has. */
static bool clear_day(struct ev_queue *q, uint32_t day)
{
    uint32_t head = q->days[day].head, tail = q->days[day].tail, node = head & ~EV_PILE;

    for (bool last = false; !last && node; node = free_node(q, node)) {
        last = node == tail;
        if (head & EV_PILE)
            q->n_piled--;
        if (!heap_room(q) || !ev_heap_push(&q->heap, q->nodes[node].e))
            return false;
    }
    q->used[day / 64] &= ~(UINT64_C(1) << day % 64);
    if (!q->used[day / 64])
        q->used_words &= ~(1u << day / 64);
    return true;
}

void ev_sort_pile(struct ev_queue *q, uint32_t day)
{
    clear_day(q, day);
    ev_find_first(q);
}

/* Moves everything to the heap: days of another length have other events. */
static bool clear_days(struct ev_queue *q)
{
    for (uint32_t day = 0; day < EV_DAYS; day++)
        if (q->used[day / 64] >> day % 64 & 1 && !clear_day(q, day))
            return false;
    return true;
}

/* Are there so many events that days are long, and have piles? */
static bool has_piles(const struct ev_queue *q)
{
    return q->n_nodes >= PILES_FROM;
}

/*
 * Longer days if too many events lie beyond them, shorter ones if too many meet on one day; but not
 * shorter than a length that has just proved too short: two loads in turn would clear each time.
 */
static unsigned better_shift(struct ev_queue *q, uint64_t pushes)
{
    bool meets = q->crowded > pushes / 8 || (q->between > pushes / 4 && !has_piles(q));

    if (++q->reviews % FORGET == 0 && q->shift_least > 0)
        q->shift_least--;
    if (q->far > pushes / 16 && q->far > q->crowded && q->shift < SHIFT_MAX) {
        q->shift_least = q->shift + 1;
        return q->shift + 1;
    }
    return meets && q->shift > q->shift_least ? q->shift - 1 : q->shift;
}

static bool review(struct ev_queue *q)
{
    unsigned shift = better_shift(q, q->pushes - q->reviewed);

    q->far = q->between = q->crowded = 0;
    q->reviewed = q->pushes;
    if (shift == q->shift)
        return true;
    if (!clear_days(q))
        return false;
    q->today = shift > q->shift ? q->today >> 1 : q->today << 1;
    q->shift = shift;
    ev_find_first(q);
    return true;
}

/* Before a later event of its day; false: the search would take too long. */
static bool insert(struct ev_queue *q, uint32_t day, ev e)
{
    uint32_t *link = &q->days[day].head, node = q->free_node;

    for (int steps = 0; q->nodes[*link].e < e; steps++) {
        if (steps == EV_STEPS)
            return false;
        link = &q->nodes[*link].next;
    }
    q->free_node = q->nodes[node].next;
    q->nodes[node] = (struct ev_node){e, *link};
    *link = node;
    return true;
}

static bool push_heap(struct ev_queue *q, ev e)
{
    if (e < q->first) {
        q->first = e;
        q->from = EV_DAYS;
    }
    return heap_room(q) && ev_heap_push(&q->heap, e);
}

/* On top of the pile of a day that does not have the first event. */
static bool push_pile(struct ev_queue *q, uint32_t day, ev e)
{
    uint32_t node = q->free_node;

    if (!heap_room(q))
        return false;
    q->n_piled++;
    q->free_node = q->nodes[node].next;
    q->nodes[node] = (struct ev_node){e, q->days[day].head & ~EV_PILE};
    q->days[day].head = node | EV_PILE;
    return true;
}

/* Makes a pile of a list. The node 0 is later than any event: pushes are slow from now on. */
static bool make_pile(struct ev_queue *q, uint32_t day)
{
    for (uint32_t node = q->days[day].head;; node = q->nodes[node].next) {
        if (!heap_room(q))
            return false;
        q->n_piled++;
        if (node == q->days[day].tail)
            break;
    }
    q->nodes[q->days[day].tail].next = 0;
    q->days[day] = (struct ev_day){q->days[day].head | EV_PILE, 0};
    return true;
}

/* On a day that has a later event. */
static bool push_between(struct ev_queue *q, uint32_t day, ev e)
{
    if (q->days[day].head & EV_PILE)
        return e < q->first ? push_heap(q, e) : push_pile(q, day, e);
    q->between++;
    if (!insert(q, day, e)) {
        if (has_piles(q) && day != q->from && e > q->first)
            return make_pile(q, day) && push_pile(q, day, e);
        q->crowded++;
        return push_heap(q, e);
    }
    if (e < q->first) {
        q->first = e;
        q->from = day;
    }
    return true;
}

bool ev_push_slow(struct ev_queue *q, ev e)
{
    uint64_t number = ev_time_fs(e) >> q->shift;
    uint32_t day = number % EV_DAYS;

    if (!q->free_node || q->far + q->between == EV_REVIEW) {
        q->pushes--;
        return (q->free_node || more_nodes(q)) && (q->far + q->between < EV_REVIEW || review(q)) &&
               ev_push(q, e);
    }
    if (number - q->today >= EV_DAYS) {
        q->far++;
        return push_heap(q, e);
    }
    return push_between(q, day, e);
}
