/* station.h -- what serves one transaction after the other: channel, engine, memory, link. */
#ifndef STATION_H
#define STATION_H
#include "base/exported.h"
#include "engine/txn.h"

/*
 * What nobody needs but kb_sim_utilization(). -DKB_NO_STATS shows what it costs: `make bench`. How
 * long stations are taken is counted all the same: sim_check_stations() looks at it after every
 * run.
 */
#ifdef KB_NO_STATS
enum { STATS = 0 };
#else
enum { STATS = 1 };
#endif

/* Ten million waits of ten milliseconds pass 64 bits. */
__extension__ typedef __int128 wait_sum;

/* Channels of a PE or engines of an M_CPU, and what went through. One cache line. */
struct station {
    struct txn_list queue;
    uint32_t idle;   /* servers that are free */
    uint32_t holder; /* slot that was served last: whom a waiting transaction waits for */
    uint32_t queued, queue_max;
    uint64_t count, bytes; /* complete transactions: of a channel, with the PE's own slice */
    uint64_t busy_fs;      /* summed over servers, modulo 2^64 while one is taken */
    wait_sum wait_fs;      /* summed over transactions */
};

/*
 * A memory: one at a time. One cache line.
 *
 * Where events are counted the queue holds who has arrived and waits. Elsewhere it also holds who
 * is on the way, in order of arrival, and the first of all holds the memory before he is there: so
 * no arrival needs an event.
 */
struct memory_station {
    uint32_t head, tail; /* of the queue; head TXN_NONE: empty */
    union {
        uint32_t *arrived;  /* the link behind the last in it that is known to have arrived */
        uint64_t under_way; /* of kernels: transactions that will arrive by an event */
    };
    uint32_t holder;            /* slot that is served: whom a waiting transaction waits for */
    uint32_t queued, queue_max; /* who has arrived and waits */
    uint32_t count;             /* of kernels: services that have ended; ids have as many bits */
    uint64_t start_fs;          /* when the holder's service begins, or has begun */
    uint64_t busy_fs;           /* of services that have ended */
    wait_sum wait_fs;           /* the same */
};

/*
 * A link's direction: the head of a transaction goes on while its bytes pass. Who waits for it is
 * known by when he will enter: a ring of the last of these times, which only grow. One cache line.
 */
struct link_station {
    int64_t free_fs; /* taken until then */
    uint64_t busy_fs;
    wait_sum wait_fs;
    uint32_t holder; /* slot that entered last: whom the next one waits for */
    uint32_t queue_max;
    uint64_t *enter_fs;  /* owned; [room]; NULL: nobody has waited */
    uint32_t next, room; /* room: a power of two above queue_max, or 0 */
};

/* Twice the room; false if there is no memory.  sim.c */
bool link_room(struct link_station *l) EXPORTED(link_room);

/*
 * Somebody comes to the link at `t` and waits until `enter`. Then one more than ever before wait,
 * if he who came so many before him has not entered yet. False if there is no memory.
 */
static inline bool link_wait(struct link_station *l, uint64_t t, uint64_t enter)
{
    if (l->queue_max + 1 >= l->room && !link_room(l))
        return false;
    l->enter_fs[l->next & (l->room - 1)] = enter;
    if (l->enter_fs[(l->next - l->queue_max) & (l->room - 1)] > t)
        l->queue_max++;
    l->next++;
    l->wait_fs += enter - t;
    return true;
}

static inline void station_enqueue(struct station *s, struct txn *txns, uint32_t slot)
{
    txn_append(&s->queue, txns, slot);
    if (++s->queued > s->queue_max && STATS)
        s->queue_max = s->queued;
}

static inline uint32_t station_dequeue(struct station *s, const struct txn *txns)
{
    s->queued--;
    return txn_take(&s->queue, txns);
}

static inline void station_count(struct station *s, const struct txn *x)
{
    s->count++;
    s->bytes += x->nbytes;
}

static inline bool station_waited_for(const struct station *s)
{
    return s->queue.head != TXN_NONE;
}

#endif
