/* ev.h -- the event queue: a calendar of days, and a heap for events far away or crowded.
 *
 * An event is one number of 128 bits, so that one comparison orders two events:
 *
 *   bits 127..64   time in fs
 *   bits  63..60   class: EV_DONE 0, EV_HOP 1, EV_ARRIVE 2, EV_ISSUE 3, EV_KERNEL 4,
 *                  EV_ARBITER 5
 *   bits  59..28   id of the transaction: its row in the replay file; or of an arbiter
 *   bits  27..0    slot of the transaction, which takes no part in the order: ids are unique
 *
 * Events run by (time, class, id) and by nothing else, above all not in the order in which they
 * were posted: the engine of arrivals leaves events out and posts the rest in another order than
 * hop, and must serve the same transaction first. docs/model.md "Order of events".
 *
 * Most events lie shortly ahead, some tens of ns. The time from now on is cut into EV_DAYS days of
 * 2^shift fs. Each day has a list in order, and a bitmap of two levels finds the first day in use
 * with two instructions. Two kinds of events go to a 4-ary heap instead: those beyond the last day,
 * and those that would have to pass more than EV_STEPS others to their place in a day's list. The
 * next event is the earlier of the calendar's first and the heap's first, so the order is exact
 * whatever the length of a day; that only decides the speed. ev.c makes days longer when too many
 * events lie beyond them, shorter when too many meet on one day, and looks at this every EV_REVIEW
 * pushes that were not simple.
 *
 * Example: shift 15, a day of 32.768 ps, 1024 days are 33.6 ns. At 0 a completion at 18.085 ns is
 * posted: day 551, an empty list. One at 50.085 lies beyond day 1023: heap, and far is counted. If
 * more than a sixteenth of all pushes are like that, days become twice as long: shift 16.
 *
 * With thousands of events pending a day has a hundred, and the heap would have all of them. So
 * from PILES_FROM nodes on a day that is too crowded becomes a pile, in no order, to which a push
 * is two stores. When it is the first day left, its events go to the heap, which then has those of
 * one day. The heap has room for all piles beforehand, so that this cannot fail.
 *
 * Invariants
 *   - The first event is not on a pile, and none on a pile is earlier.
 *   - No event is posted before the time of the last one taken, `today`: day number % EV_DAYS is
 *     unique among the days ahead.
 *   - `first` is always the first event of all, and `from` where it lies. ev_take() looks for the
 *     next one at once, so that the processor need not wait for the stores of the event's step.
 *   - No allocation while nodes are left; they double when the last is used.
 *
 * Tried and slower: a heap alone (78 -> 60 ns per transaction with the calendar); 256, 512 or 2048
 * days; with 131072 PEs, days as short as lists need, which moved everything to the heap each time
 * they changed (8 to 15 % of a transaction); finding the first event only when it is wanted (55 ->
 * 51 ns local).
 */
#ifndef EV_H
#define EV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Equal times run by class, then by id: docs/model.md "Order of events". */
enum ev_class { EV_DONE, EV_HOP, EV_ARRIVE, EV_ISSUE, EV_KERNEL, EV_ARBITER };

__extension__ typedef unsigned __int128 ev;

enum { EV_SLOT_BITS = 28, EV_ID_BITS = 32 };

#define EV_NONE      (~(ev)0)                      /* later than any event */
#define EV_PAST      (UINT64_C(1) << 63)           /* the first time that cannot be */
#define EV_MAX_SLOTS (UINT32_C(1) << EV_SLOT_BITS) /* and as many transactions at once */

/* `time_fs` is at most EV_PAST; `slot` says which transaction, and takes no part in the order. */
static inline ev ev_make(uint64_t time_fs, enum ev_class class, uint32_t id, uint32_t slot)
{
    return (ev)time_fs << 64 | (uint64_t) class << (EV_SLOT_BITS + EV_ID_BITS) |
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

static inline uint32_t ev_id(ev e)
{
    return (uint32_t)((uint64_t)e >> EV_SLOT_BITS);
}

static inline uint32_t ev_slot(ev e)
{
    return (uint32_t)e & (EV_MAX_SLOTS - 1);
}

static inline ev ev_least(ev a, ev b)
{
    return a < b ? a : b;
}

/* -- the heap, 4-ary ------------------------------------------------------------------------ */

/*
 * Rows behind the last hold EV_NONE, so that four children can always be compared, and so that
 * the root of an empty heap is later than any event.
 */
struct ev_heap {
    ev *rows;   /* owned; rows[EV_ROOT] is the root, so that four siblings share a cache line */
    size_t n;   /* rows in use */
    size_t cap; /* rows there are */
};

enum { EV_ROOT = 3 };

/* Both: false if there is no memory. */
bool ev_heap_init(struct ev_heap *h);
bool ev_heap_push(struct ev_heap *h, ev e);

void ev_heap_free(struct ev_heap *h);

/* The first event; EV_NONE if there is none. */
static inline ev ev_heap_first(const struct ev_heap *h)
{
    return h->rows[EV_ROOT];
}

/* Takes the first event of a heap that has one. */
void ev_heap_take(struct ev_heap *h);

/* -- the calendar --------------------------------------------------------------------------- */

enum { EV_DAYS = 1024, EV_WORDS = EV_DAYS / 64, EV_STEPS = 6, EV_REVIEW = 256 };

/* In ev_day.head: the list of this day is a pile, in no order. */
#define EV_PILE (UINT32_C(1) << 31)

struct ev_node {
    ev e;
    uint32_t next;
};

struct ev_queue {
    ev first;              /* the first event; EV_NONE if there is none */
    uint32_t from;         /* the day it is on, EV_DAYS: the heap */
    unsigned shift;        /* a day lasts 2^shift fs */
    uint64_t today;        /* time of the last event taken >> shift */
    struct ev_node *nodes; /* owned; [0] is no node */
    uint32_t free_node, n_nodes;
    uint64_t pushes;
    size_t n_piled;          /* events on piles: the heap has room for them */
    uint32_t used_words;     /* words of `used` that are not 0 */
    uint64_t used[EV_WORDS]; /* days that have a list */
    struct ev_day {
        uint32_t head, tail;
    } days[EV_DAYS]; /* first and last node of a list */
    struct ev_heap heap;

    /* Counted by ev_push_slow() since it reviewed the length of a day. */
    uint32_t far, between, crowded;
    uint64_t reviewed;    /* pushes by then */
    unsigned shift_least; /* shorter days have sent too much to the heap, not long ago */
    uint32_t reviews;
};

/* False if there is no memory. */
bool ev_queue_init(struct ev_queue *q);
void ev_queue_free(struct ev_queue *q);

/* Time begins again for a queue that is empty. */
static inline void ev_queue_rewind(struct ev_queue *q)
{
    q->today = 0;
}

/* An event far away, before another of its day, or without a node. False if there is no memory. */
bool ev_push_slow(struct ev_queue *q, ev e);

/* False if there is no memory. */
static inline bool ev_push(struct ev_queue *q, ev e)
{
    uint64_t number = ev_time_fs(e) >> q->shift;
    uint32_t day = number % EV_DAYS, node = q->free_node;
    uint64_t bit = UINT64_C(1) << day % 64, *used = &q->used[day / 64];

    q->pushes++;
    if (number - q->today >= EV_DAYS || !node)
        return ev_push_slow(q, e);
    if (*used & bit) { /* as its last, mostly */
        uint32_t tail = q->days[day].tail;

        if (q->nodes[tail].e > e)
            return ev_push_slow(q, e);
        q->days[day].tail = q->nodes[tail].next = node;
        q->free_node = q->nodes[node].next;
        q->nodes[node].e = e;
        return true;
    }
    *used |= bit;
    q->used_words |= 1u << day / 64;
    q->days[day] = (struct ev_day){node, node};
    q->free_node = q->nodes[node].next;
    q->nodes[node].e = e;
    if (e < q->first) {
        q->first = e;
        q->from = day;
    }
    return true;
}

/* The first day from today on is a pile: puts it in order, and looks for the first event. */
void ev_sort_pile(struct ev_queue *q, uint32_t day);

/* Looks for the first event: the first day from today on that has a list, or the heap. */
static inline void ev_find_first(struct ev_queue *q)
{
    uint32_t today = q->today % EV_DAYS, word = today / 64, head;
    uint64_t bits = q->used[word] >> today % 64 << today % 64;
    ev far = ev_heap_first(&q->heap);

    q->first = far;
    q->from = EV_DAYS;
    if (!bits) {
        uint32_t later = q->used_words & (UINT32_MAX << word << 1);

        if (!q->used_words)
            return;
        word = (uint32_t)__builtin_ctz(later ? later : q->used_words);
        bits = q->used[word];
    }
    uint32_t day = word * 64 + (uint32_t)__builtin_ctzll(bits);
    head = q->days[day].head;
    if (__builtin_expect(head & EV_PILE, 0)) { /* wanted unless the heap has earlier days */
        if (ev_time_fs(far) >> q->shift >= q->today + (day - today) % EV_DAYS)
            ev_sort_pile(q, day);
        return;
    }
    ev near = q->nodes[head].e;
    if (near < far) {
        q->first = near;
        q->from = day;
    }
}

/* No event is left before `e`, which may be one that is not in the queue. */
static inline void ev_advance(struct ev_queue *q, ev e)
{
    q->today = ev_time_fs(e) >> q->shift;
}

/*
 * Takes the first event, and finds the next at once. The events that this one will post are mostly
 * later still, so the processor can begin with the next before they are known.
 */
static inline void ev_take(struct ev_queue *q)
{
    uint32_t day = q->from, node;

    ev_advance(q, q->first);
    if (day == EV_DAYS) {
        ev_heap_take(&q->heap);
    } else {
        node = q->days[day].head;
        if (node == q->days[day].tail) {
            q->used[day / 64] &= ~(UINT64_C(1) << day % 64);
            if (!q->used[day / 64])
                q->used_words &= ~(1u << day / 64);
        } else {
            q->days[day].head = q->nodes[node].next;
        }
        q->nodes[node].next = q->free_node;
        q->free_node = node;
    }
    ev_find_first(q);
}

#endif
