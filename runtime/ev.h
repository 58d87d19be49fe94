/* ev.h -- the event queue: a 4-ary heap of 128-bit keys that hold time, class, id and slot. */
#ifndef EV_H
#define EV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Equal times run by class, then by id, never by posting order: merging hops changes who posts
 * first, and must not change who is served first.                              design 1
 */
enum ev_class { EV_DONE, EV_HOP, EV_ARRIVE, EV_ISSUE, EV_KERNEL };

__extension__ typedef unsigned __int128 ev;

enum { EV_SLOT_BITS = 28, EV_ID_BITS = 32 };

#define EV_NONE (~(ev)0)                          /* later than any event */
#define EV_PAST (UINT64_C(1) << 63)               /* the first time that cannot be */
#define EV_MAX_SLOTS (UINT32_C(1) << EV_SLOT_BITS) /* and as many transactions at once */

/* `time_fs` is at most EV_PAST; `slot` says which transaction, and takes no part in the order. */
static inline ev ev_make(uint64_t time_fs, enum ev_class class, uint32_t id, uint32_t slot)
{
    return (ev)time_fs << 64 | (uint64_t)class << (EV_SLOT_BITS + EV_ID_BITS) |
           (uint64_t)id << EV_SLOT_BITS | slot;
}

static inline uint64_t ev_time_fs(ev e)
{
    return (uint64_t)(e >> 64);
}

static inline enum ev_class ev_class(ev e)
{
    return (enum ev_class)((uint64_t)e >> (EV_SLOT_BITS + EV_ID_BITS));
}

static inline uint32_t ev_slot(ev e)
{
    return (uint32_t)e & (EV_MAX_SLOTS - 1);
}

/*
 * The heap. Taking the first leaves a hole at the root, which the next push fills: a completion
 * that starts the next service costs one way down instead of one down and one up. Rows behind
 * the last hold EV_NONE, so that four children can always be compared.
 */
struct ev_heap {
    ev *rows; /* owned; rows[3] is the root, so that four siblings share a cache line */
    size_t n; /* rows in use, the hole included */
    size_t cap;
    bool hole;
};

enum { EV_ROOT = 3 };

/* False if there is no memory. An empty heap has no row. */
bool ev_heap_grow(struct ev_heap *h);
void ev_heap_free(struct ev_heap *h);

static inline size_t ev_first_child(size_t i)
{
    return 4 * (i - EV_ROOT) + EV_ROOT + 1;
}

static inline size_t ev_parent(size_t i)
{
    return (i - EV_ROOT - 1) / 4 + EV_ROOT;
}

/* Puts `e` at the root and lets it sink. */
static inline void ev_sink(struct ev_heap *h, ev e)
{
    ev *rows = h->rows;
    size_t i = EV_ROOT, end = EV_ROOT + h->n, c;

    while ((c = ev_first_child(i)) < end) {
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

/* False if there is no memory. */
static inline bool ev_push(struct ev_heap *h, ev e)
{
    size_t i;

    if (h->hole) {
        h->hole = false;
        ev_sink(h, e);
        return true;
    }
    if (h->n == h->cap && !ev_heap_grow(h))
        return false;
    i = EV_ROOT + h->n++;
    while (i > EV_ROOT) {
        size_t p = ev_parent(i);

        if (h->rows[p] <= e)
            break;
        h->rows[i] = h->rows[p];
        i = p;
    }
    h->rows[i] = e;
    return true;
}

/* The first event; EV_NONE if there is none. */
static inline ev ev_first(struct ev_heap *h)
{
    if (h->hole) {
        size_t last = EV_ROOT + --h->n;
        ev e = h->rows[last];

        h->hole = false;
        h->rows[last] = EV_NONE;
        if (h->n)
            ev_sink(h, e);
    }
    return h->n ? h->rows[EV_ROOT] : EV_NONE;
}

/* Takes the first event, which ev_first() has shown. */
static inline void ev_take(struct ev_heap *h)
{
    h->hole = true;
}

#endif
