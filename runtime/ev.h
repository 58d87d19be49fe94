/* ev.h -- the event queue: days of a calendar, and a heap for what is far away or crowded. */
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

#define EV_NONE (~(ev)0)                           /* later than any event */
#define EV_PAST (UINT64_C(1) << 63)                /* the first time that cannot be */
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

/* -- the heap, 4-ary ------------------------------------------------------------------------ */

/*
 * Taking the first leaves a hole at the root, which the next push fills: one way down instead of
 * one down and one up. Rows behind the last hold EV_NONE, so that four children can always be
 * compared, and so that the root of an empty heap is later than any event.
 */
struct ev_heap {
    ev *rows;   /* owned; rows[EV_ROOT] is the root, so that four siblings share a cache line */
    size_t n;   /* rows in use, the hole included */
    size_t cap; /* rows there are */
    bool hole;
};

enum { EV_ROOT = 3 };

/* False if there is no memory. */
bool ev_heap_grow(struct ev_heap *h);

static inline size_t ev_first_child(size_t i)
{
    return 4 * (i - EV_ROOT) + EV_ROOT + 1;
}

static inline size_t ev_parent(size_t i)
{
    return (i - EV_ROOT - 1) / 4 + EV_ROOT;
}

/* Puts `e` at the root and lets it sink. */
static inline void ev_heap_sink(struct ev_heap *h, ev e)
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
static inline bool ev_heap_push(struct ev_heap *h, ev e)
{
    size_t i;

    if (h->hole) {
        h->hole = false;
        ev_heap_sink(h, e);
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

/* The first event; EV_NONE if there is none. The heap has grown before. */
static inline ev ev_heap_first(struct ev_heap *h)
{
    if (h->hole) {
        size_t last = EV_ROOT + --h->n;
        ev e = h->rows[last];

        h->hole = false;
        h->rows[last] = EV_NONE;
        if (h->n)
            ev_heap_sink(h, e);
    }
    return h->rows[EV_ROOT];
}

/* -- the calendar --------------------------------------------------------------------------- */

/*
 * Most events lie shortly ahead. The time from now on is cut into days of 2^shift fs; the next
 * EV_DAYS of them have a list each, in order, found by a bitmap of two levels. An event behind
 * those days, or one that would have to look for its place for long, goes to the heap. Either
 * first may be the next, so the order is exact whatever the length of a day; that only decides
 * how fast it goes, and follows from what the last pushes met.
 */
enum { EV_DAYS = 1024, EV_WORDS = EV_DAYS / 64, EV_STEPS = 6, EV_REVIEW = 1024 };

struct ev_node {
    ev e;
    uint32_t next;
};

struct ev_queue {
    ev first;       /* the first event; EV_NONE if there is none */
    uint32_t from;  /* the day it is on, EV_DAYS: the heap */
    unsigned shift; /* a day lasts 2^shift fs */
    uint64_t today; /* time of the last event taken >> shift */
    struct ev_node *nodes; /* owned; [0] is no node */
    uint32_t free_node, n_nodes;
    uint32_t pushes, far, shared, crowded; /* since the length of a day was reviewed */
    uint32_t shift_least;                  /* shorter days have sent too much to the heap */
    uint32_t used_words;                   /* words of `used` that are not 0 */
    uint64_t used[EV_WORDS];               /* days that have a list */
    uint32_t head[EV_DAYS], tail[EV_DAYS];
    struct ev_heap heap;
};

/* False if there is no memory. */
bool ev_queue_init(struct ev_queue *q);
void ev_queue_free(struct ev_queue *q);

/* Half or double the length of a day, if the last pushes say so. False if there is no memory. */
bool ev_review(struct ev_queue *q);

/* Doubles the nodes. False if there is no memory. */
bool ev_more_nodes(struct ev_queue *q);

/* An event that no day takes. */
static inline bool ev_push_heap(struct ev_queue *q, ev e)
{
    if (e < q->first) {
        q->first = e;
        q->from = EV_DAYS;
    }
    return ev_heap_push(&q->heap, e);
}

/* Among the events of a day that are not all before `e`. */
static inline bool ev_insert(struct ev_queue *q, uint32_t day, ev e)
{
    uint32_t *link = &q->head[day], node = q->free_node;

    for (int steps = 0; q->nodes[*link].e < e; steps++) {
        if (steps == EV_STEPS) {
            q->crowded++;
            return ev_push_heap(q, e);
        }
        link = &q->nodes[*link].next;
    }
    q->free_node = q->nodes[node].next;
    q->nodes[node] = (struct ev_node){e, *link};
    *link = node;
    if (e < q->first) {
        q->first = e;
        q->from = day;
    }
    return true;
}

/* False if there is no memory. */
static inline bool ev_push(struct ev_queue *q, ev e)
{
    uint64_t number, bit;
    uint32_t day, node;

    if (__builtin_expect(++q->pushes == EV_REVIEW, 0) && !ev_review(q))
        return false;
    number = ev_time_fs(e) >> q->shift;
    if (__builtin_expect(number - q->today >= EV_DAYS, 0)) {
        q->far++;
        return ev_push_heap(q, e);
    }
    if (__builtin_expect(!q->free_node, 0) && !ev_more_nodes(q))
        return false;
    day = number % EV_DAYS;
    bit = UINT64_C(1) << day % 64;
    node = q->free_node;
    if (!(q->used[day / 64] & bit)) {
        q->used[day / 64] |= bit;
        q->used_words |= 1u << day / 64;
        q->head[day] = node;
        if (e < q->first) {
            q->first = e;
            q->from = day;
        }
    } else {
        uint32_t tail = q->tail[day];

        q->shared++;
        if (e < q->nodes[tail].e)
            return ev_insert(q, day, e);
        q->nodes[tail].next = node;
    }
    q->tail[day] = node;
    q->free_node = q->nodes[node].next;
    q->nodes[node].e = e;
    return true;
}

/* Looks for the first event: the first day from today on that has a list, or the heap. */
static inline void ev_find_first(struct ev_queue *q)
{
    uint32_t today = q->today % EV_DAYS, word = today / 64;
    uint64_t bits = q->used[word] >> today % 64 << today % 64;

    q->first = EV_NONE;
    q->from = EV_DAYS;
    if (!bits && q->used_words) {
        uint32_t later = q->used_words & (UINT32_MAX << word << 1);

        word = (uint32_t)__builtin_ctz(later ? later : q->used_words);
        bits = q->used[word];
    }
    if (bits) {
        q->from = word * 64 + (uint32_t)__builtin_ctzll(bits);
        q->first = q->nodes[q->head[q->from]].e;
    }
    if (q->heap.n) {
        ev far = ev_heap_first(&q->heap);

        if (far < q->first) {
            q->first = far;
            q->from = EV_DAYS;
        }
    }
}

/* No event is left before `e`, which may be one that is not in the queue. */
static inline void ev_advance(struct ev_queue *q, ev e)
{
    q->today = ev_time_fs(e) >> q->shift;
}

/* Takes the first event. Before the next push or look, ev_find_first() has to be called. */
static inline void ev_take(struct ev_queue *q)
{
    uint32_t day = q->from, node;

    ev_advance(q, q->first);
    q->first = EV_NONE;
    if (day == EV_DAYS) {
        q->heap.hole = true;
        return;
    }
    node = q->head[day];
    if (node == q->tail[day]) {
        q->used[day / 64] &= ~(UINT64_C(1) << day % 64);
        if (!q->used[day / 64])
            q->used_words &= ~(1u << day / 64);
    } else {
        q->head[day] = q->nodes[node].next;
    }
    q->nodes[node].next = q->free_node;
    q->free_node = node;
}

#endif
