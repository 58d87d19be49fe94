/* agenda.h -- which ports of routers decide at which times to come.
 *
 * Most decisions lie a few segments ahead. Time is cut into buckets of 2^width fs, and the next
 * AGENDA_BUCKETS of them have a list each, in no order; bitmaps of two levels find the first that
 * is not empty. When a bucket is due its list is put in order of (time, order of ports), which is
 * the order of decisions (docs/model.md "Order of events"). What is asked for the bucket that is
 * due, or for one behind the last, lies in a heap, and what comes next is the earlier of both.
 *
 * A port that is asked for an earlier time has two decisions here; the later one is out of date,
 * which the port knows when it comes.
 *
 * Example: buckets of 64 ps. At 4 ns the ports 7 and 3 ask for 5 ns, port 5 for 5.01 ns: all three
 * are in bucket 78. When it is due they are taken as 3, 7, 5. Port 3 asks for 5.02 ns: that lies in
 * the heap, and is taken behind port 5.
 *
 * Invariants
 *   - While a list is not empty, so is what is due, or the heap has something earlier: so the first
 *     of all is the first of these two.
 *   - No list is that of the bucket that is due, or of one before it.
 */
#ifndef AGENDA_H
#define AGENDA_H
#include <stdbool.h>
#include <stdint.h>
#include "engine/ev.h"

enum { AGENDA_BITS = 12, AGENDA_BUCKETS = 1 << AGENDA_BITS, AGENDA_WORDS = AGENDA_BUCKETS / 64 };

/* A decision: of a port, or of what else decides in the same order. */
struct asked {
    ev key; /* time, and its place among all decisions of one instant */
    uint32_t index;
    uint32_t next; /* of the same bucket, or of those that are free */
};

struct agenda {
    uint64_t now; /* the bucket that is due */
    unsigned width;
    uint32_t n_due, i_due, n_heap;
    struct asked *due;   /* owned; in order, taken up to i_due; has room for all */
    struct asked *other; /* owned; as much room, to sort what is due */
    struct asked *heap;  /* owned; has room for all */
    struct asked *rows;  /* owned; what the lists are made of; [0] is none */
    uint32_t n_rows, free_row;
    uint64_t any;                   /* words that are not 0 */
    uint64_t words[AGENDA_WORDS];   /* lists that are not empty */
    uint32_t heads[AGENDA_BUCKETS]; /* 0: empty */
};

/* Nothing is asked for, and time begins again: of one that is zeroed, or was made by this. */
void agenda_clear(struct agenda *a);
void agenda_free(struct agenda *a);

/* Of an empty one: buckets are to be a small part of `fs`. This changes no order. */
void agenda_set_width(struct agenda *a, uint64_t fs);

/* The bucket of `key` is due, or far away, or there is no row left. False: no memory. */
bool agenda_add_slow(struct agenda *a, ev key, uint32_t index);

/* Nothing is due any more, but some list is not empty. */
void agenda_turn(struct agenda *a);

void agenda_take_heap(struct agenda *a);

static inline ev agenda_key(uint64_t at_fs, uint64_t order)
{
    return (ev)at_fs << 64 | order;
}

/* False: no memory. */
static inline bool agenda_add(struct agenda *a, ev key, uint32_t index)
{
    uint64_t bucket = ev_time_fs(key) >> a->width;
    uint32_t row = a->free_row, at = bucket % AGENDA_BUCKETS;

    if (bucket - a->now - 1 >= AGENDA_BUCKETS - 1 || !row)
        return agenda_add_slow(a, key, index);
    a->free_row = a->rows[row].next;
    a->rows[row] = (struct asked){key, index, a->heads[at]};
    a->heads[at] = row;
    a->words[at / 64] |= UINT64_C(1) << at % 64;
    a->any |= UINT64_C(1) << at / 64;
    return true;
}

/* The first of all; its key is EV_NONE: there is none. */
static inline const struct asked *agenda_first(struct agenda *a)
{
    static const struct asked none = {.key = EV_NONE};
    const struct asked *first = &none;

    if (a->i_due == a->n_due && a->any)
        agenda_turn(a);
    if (a->i_due < a->n_due)
        first = &a->due[a->i_due];
    return a->n_heap && a->heap[0].key < first->key ? &a->heap[0] : first;
}

/* Takes the first, which agenda_first() has found. */
static inline void agenda_take(struct agenda *a, const struct asked *first)
{
    if (first == &a->due[a->i_due])
        a->i_due++;
    else
        agenda_take_heap(a);
}

#endif
