/* station.h -- stations: each serves transactions, the others wait in order of their arrival.
 *
 * A machine has three kinds of stations, in arrays that struct kb_sim owns. A packed endpoint is
 * the index of its station, so no search and no multiplication finds one.
 *
 *   struct station          channels of a PE's DMA, engines of an m_cpu: several servers
 *   struct memory_station   HBM slices, SRAMs, and with kernels the ports and engines of PEs: one
 *   struct link_station     one direction of an edge, where links are fifo: one
 *
 * The three differ in what is known beforehand. A channel is held until the memory has served the
 * transaction, which depends on all others: so it has a list of those that wait, and each turn
 * needs an event. A link is free again at a known time and lets the head go on at once: it needs
 * no queue at all, only free_fs. A memory that serves in order is such a station, too:
 * network/turn.h.
 *
 * Lists go through txn.next. A transaction is in at most one list at a time, so no list allocates.
 *
 * Statistics. busy_fs of a station sums `done - taken` as -taken when it is taken and +done when it
 * is left: while a server is busy the sum is short by `now`, modulo 2^64, and the reader adds it.
 * Example: taken at 10 and at 30, left at 26: -10 + 26 - 30 = -14; read at 40, with one of one
 * servers busy, 40 is added: 26 = 16 + 10. wait_fs has 128 bits: ten million waits of ten
 * milliseconds pass 64. queue_max must be seen while it happens. For channels and memories it is
 * the length of a list. A link has no list, so it keeps the enter times of the last transactions in
 * a ring: if the one that came queue_max places before has not entered yet, one more than ever
 * waits.
 *
 * Each struct is one cache line of 64 bytes.
 */
#ifndef STATION_H
#define STATION_H
#include "engine/txn.h"

/*
 * Statistics that only kb_sim_utilization() needs. -DKB_NO_STATS shows what it costs: `make bench`.
 * How long stations are taken is counted all the same: sim_check_stations() looks at it after every
 * run.
 */
#ifdef KB_NO_STATS
enum { STATS = 0 };
#else
enum { STATS = 1 };
#endif

/* Ten million waits of ten milliseconds pass 64 bits. */
__extension__ typedef __int128 wait_sum;

/* The same as `*sum += fs`, for which gcc takes three times as many instructions. */
static inline void wait_add(wait_sum *sum, uint64_t fs)
{
    uint64_t low = (uint64_t)*sum, high = (uint64_t)(*sum >> 64);

    high += __builtin_add_overflow(low, fs, &low);
    *sum = (wait_sum)((unsigned __int128)high << 64 | low);
}

/* Channels of a PE or engines of an M_CPU, and what went through. One cache line. */
struct station {
    struct txn_list queue;
    uint32_t idle;   /* servers that are free */
    uint32_t holder; /* slot that was served last: the one a waiting transaction waits for */
    union {
        uint32_t queued;
        uint32_t posted; /* rows are listed: the one before its first has an event, its issue */
    };
    uint32_t queue_max;
    uint64_t count, bytes; /* complete transactions: of a channel, with the PE's own slice */
    uint64_t busy_fs;      /* summed over servers, modulo 2^64 while one is taken */
    wait_sum wait_fs;      /* summed over transactions */
};

/* A memory: one at a time, until it is done. One cache line. */
struct memory_station {
    uint32_t head, tail;        /* of the queue; head TXN_NONE: empty */
    uint32_t holder;            /* slot that is served: the one a waiting transaction waits for */
    uint32_t queued, queue_max; /* transactions that have arrived and wait */
    uint32_t count;             /* of kernels: services that have ended; ids have as many bits */
    uint64_t start_fs;          /* when the holder's service has begun */
    uint64_t busy_fs;           /* of services that have ended */
    uint64_t freed_fs;          /* last */
    wait_sum wait_fs;           /* the same */
};

/*
 * One direction of a link: the head of a transaction goes on while its bytes pass. Or a memory that
 * is free again while its transaction is still being served. It may have several servers, as ports
 * of a TCM: each transaction takes the one that is free first. The queue is not kept as a list, but
 * as the times at which waiting transactions will enter: a ring of the last of them, which only
 * grow. One cache line.
 */
struct link_station {
    int64_t free_fs; /* taken until then; of several servers, the one that is free first */
    uint64_t busy_fs;
    wait_sum wait_fs;
    uint32_t queue_max;
    uint32_t coming;        /* of kernels, links ideal: transactions that will arrive by an event */
    uint64_t *enter_fs;     /* owned; [room]; NULL: none has waited */
    uint32_t next, room;    /* room: a power of two above queue_max, or 0 */
    struct servers *others; /* owned; NULL: it is one server */
};

/* Those of a station beside the one that is free first. No order of theirs is ever asked for. */
struct servers {
    int64_t last_fs; /* when the one is free that was taken last */
    uint32_t n;
    int64_t free_fs[];
};

/* `n` servers that are idle, beside the first; NULL: there is no memory.  stations.c */
struct servers *servers_new(uint32_t n);

/* The server in front was taken until free_fs: the one that is free first comes to the front. */
static inline void link_turned(struct link_station *l)
{
    struct servers *others = l->others;

    if (__builtin_expect(!others, true))
        return;
    others->last_fs = l->free_fs;
    for (uint32_t i = 0; i < others->n; i++) {
        int64_t free_fs = others->free_fs[i];

        if (free_fs < l->free_fs) {
            others->free_fs[i] = l->free_fs;
            l->free_fs = free_fs;
        }
    }
}

/* When the server is free that was taken last; and how many there are. */
static inline int64_t link_last_fs(const struct link_station *l)
{
    return l->others ? l->others->last_fs : l->free_fs;
}

static inline uint32_t link_servers(const struct link_station *l)
{
    return l->others ? l->others->n + 1 : 1;
}

/* When the `i`th is free, which is free_fs of the first. */
static inline int64_t link_server_fs(const struct link_station *l, uint32_t i)
{
    return i ? l->others->free_fs[i - 1] : l->free_fs;
}

/* Twice the room; false if there is no memory.  stations.c */
bool link_room(struct link_station *l);

/* Idle and empty, as if nothing had passed. */
void link_clear(struct link_station *l);

/*
 * A transaction comes to the link at `t` and waits until `enter`. queue_max grows if the
 * transaction that came queue_max places before it has not entered yet. False if there is no
 * memory.
 */
static inline bool link_wait(struct link_station *l, uint64_t t, uint64_t enter)
{
    if (l->queue_max + 1 >= l->room && !link_room(l))
        return false;
    l->enter_fs[l->next & (l->room - 1)] = enter;
    if (l->enter_fs[(l->next - l->queue_max) & (l->room - 1)] > t)
        l->queue_max++;
    l->next++;
    wait_add(&l->wait_fs, enter - t);
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
