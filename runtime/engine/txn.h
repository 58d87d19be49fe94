/* txn.h -- one transaction on its way, 64 bytes, and lists of them. */
#ifndef TXN_H
#define TXN_H
#include "machine/walk.h"

/* Where a request is on its route: a row of the steps of the machine, in a cube over all SIPs. */
struct step_at {
    uint32_t row, cube;
};

#define TXN_NONE      UINT32_MAX                /* no slot */
#define TXN_MAX_BYTES ((UINT64_C(1) << 40) - 1) /* of one transaction; no memory is as large */

/* What the transaction's next event means. */
enum txn_stage {
    TXN_WAITING,    /* not issued, or in a channel's queue */
    TXN_TO_CHANNEL, /* of a kernel's tile: joins its channel */
    TXN_TO_LINK,    /* fifo: arrives at a link */
    TXN_TO_ENGINE,  /* arrives at its M_CPU's engine */
    TXN_TO_MEMORY,  /* arrives at the memory */
    TXN_SERVED,     /* its service has begun, or will at a time that is known */
    TXN_DONE,
    TXN_AT_NODE,  /* hop: has spent a node's overhead */
    TXN_CROSSING, /* hop: has crossed a NoC */
    TXN_ON_WIRE,  /* hop: has passed a wire */
    TXN_TO_NODE,  /* its head comes to a node that is a component */
    TXN_SETS_OUT, /* has its channel, and sets out when its PE may issue it */
    TXN_CREDIT,   /* of kernels: a word that takes no station reaches a PE */
    TXN_SPLIT,    /* its parts are under way; before the run: it will have some (split.h) */
};

/*
 * Endpoints are packed, see src_pack() and dst_pack(): they are the numbers of their stations.
 * `at` or `step` is needed on the way, `hold_fs` until service ends; then its begin takes their
 * place. A line of the cache.
 */
struct txn {
    int64_t issue_fs; /* of a part that has been served: its end */
    int64_t wait_fs;  /* for the channel (PE) or the engine (host) */
    union {
        int64_t arrive_fs;
        int64_t drain_fs; /* on its way: the longest that a link so far was taken */
    };
    union {
        struct route_at at;
        struct step_at step; /* engine/program.h */
        int64_t hold_fs;     /* how long its service will take */
        int64_t service_fs;
        uint64_t address; /* before the run, of one that will be split */
    };
    uint64_t at_fs; /* of its next event, where it lies in the row: engine/calendar.h */
    uint64_t nbytes : 40, stage : 5, piped : 1,
        chiplet : 2;              /* piped: its first arrival is to come */
    uint64_t class : 6, prio : 2; /* of its next event; 8 bits, and 8 bits more: */
    uint64_t op : 2, course : 6;  /* course: machine/paths.h */
    uint32_t src, dst;
    uint32_t id;
    uint32_t next; /* slot of the next in the same list */
};

_Static_assert(sizeof(struct txn) == 64, "a transaction is a line of the cache");

/* A PE's transaction takes a channel; a host's takes an engine. */
static inline bool txn_of_host(const struct txn *x)
{
    return x->op >> 1;
}

/* Which way its data flows: 0 from the memory, 1 to it. */
static inline uint32_t txn_writes(const struct txn *x)
{
    return (x->op + 1u) >> 1 & 1;
}

/* When a PE's sets out that has its channel, and its place in the row of the PE. */
static inline uint64_t txn_start_fs(const struct txn *x)
{
    return (uint64_t)(x->issue_fs + x->wait_fs);
}

/* What transactions of a run there are. */
enum { WAY_READS = 1, WAY_WRITES = 2, WAY_BOTH = WAY_READS | WAY_WRITES, WAY_OF_HOST = 4 };

static inline uint8_t txn_way(const struct txn *x)
{
    return (uint8_t)((txn_writes(x) ? WAY_WRITES : WAY_READS) | (txn_of_host(x) ? WAY_OF_HOST : 0));
}

/* From where to where it goes, and how. */
static inline struct trip txn_trip(const struct kb_topology *t, const struct txn *x)
{
    return walk_trip(t, x->src, x->dst, x->course, txn_of_host(x), x->chiplet, !txn_writes(x));
}

/* First come, first served; linked through txn.next. */
struct txn_list {
    uint32_t head, tail; /* head TXN_NONE: empty */
};

static inline void txn_append(struct txn_list *l, struct txn *txns, uint32_t slot)
{
    txns[slot].next = TXN_NONE;
    if (l->head == TXN_NONE)
        l->head = slot;
    else
        txns[l->tail].next = slot;
    l->tail = slot;
}

/* Begins to bring a transaction into the cache; it may lie on two lines. */
static inline void txn_prefetch(const struct txn *x)
{
    __builtin_prefetch(x);
    __builtin_prefetch(&x->next);
}

/* Takes the first of a list that is not empty. The next will be wanted soon. */
static inline uint32_t txn_take(struct txn_list *l, const struct txn *txns)
{
    uint32_t slot = l->head;

    l->head = txns[slot].next;
    if (l->head != TXN_NONE)
        txn_prefetch(&txns[l->head]);
    return slot;
}

#endif
