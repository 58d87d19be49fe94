/* ev.h -- an event as one number, and a queue of them: a 4-ary heap.
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
 * In the queue are all events of hop. The engine of arrivals, whose rows have their events in a
 * calendar (engine/calendar.h), has the wakes of memories there, which are few.
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

/*
 * The queue. Rows behind the last hold EV_NONE, so that four children can always be compared, and
 * so that the root of an empty queue is later than any event.
 */
struct ev_queue {
    ev *rows;   /* owned; rows[EV_ROOT] is the root, so that four siblings share a cache line */
    size_t n;   /* rows in use */
    size_t cap; /* rows there are */
};

enum { EV_ROOT = 3 };

/* Both: false if there is no memory. */
bool ev_queue_init(struct ev_queue *q);
bool ev_push(struct ev_queue *q, ev e);

void ev_queue_free(struct ev_queue *q);

/* The first event; EV_NONE if there is none. */
static inline ev ev_first(const struct ev_queue *q)
{
    return q->rows[EV_ROOT];
}

/* Takes the first event of a queue that has one. */
void ev_take(struct ev_queue *q);

#endif
