/* alone.h -- what a transaction costs when it is alone, from its arrival at an idle machine on.
 *
 * There are three answers, and each is for what the one before cannot say:
 *   - tables (cost.h): of machines whose memories keep order, and of each way;
 *   - an idle memory: of a memory that is a component or has banks, which is this file;
 *   - a whole run (engine/lone.h): behind routers, where packets pass components on their way, or
 *     wait in one that queues, and neither the way nor the memory takes a time of its own.
 *
 * The transaction comes to an idle copy of the memory, at 0, and is served by the same rules and
 * calls as in a run. There are no refreshes. Behind routers a write comes by
 * packets, as the segments arrive that have their way for themselves (stream.h), and data go back
 * so; of what that takes the way itself is no part.
 *
 * Example (hand; a burst takes 2 ns, ctrl 0, segments of 64 bytes, a way back of 16 GB/s): a read
 * of 128 bytes in one row. Its bursts end at 30 and 32 ns; the first segment is on the way from 30
 * to 34, the second from 34 to 38. So it takes 38 ns, of which 8 are its drain.
 */
#ifndef ALONE_H
#define ALONE_H
#include "machine/bank_pool.h"
#include "machine/box_impl.h"
#include "machine/queueing.h"

/* What memory is asked, of which bytes of it. */
struct alone_of {
    const struct kb_topology *t;
    const struct cost_mask *m;
    kb_transaction_op op;
    struct trip trip;
    uint64_t nbytes, offset;
    int64_t drain_fs;            /* of its route */
    uint64_t own_bytes;          /* that the memory moves; 0: `nbytes` */
    struct bank_tile *tile;      /* borrowed; its segments at banks; NULL: its bytes are a range */
    const struct pieces *pieces; /* the same at a cache */
    bool behind;                 /* asked by a cache before the memory */
    double leg_gbs; /* of what an L2 makes: the smallest bandwidth of both legs; 0: of its route */
};

struct alone {
    int64_t fs;      /* from its arrival to its end; INT64_MAX: never */
    int64_t wire_fs; /* at an L2: how much of it is the wire of what it makes */
    int64_t row_fs; /* at banks: how long its last segment was its bank's until its row was ready */
};

/* Answers that are kept: mostly the next transaction is like one before. */
struct alone_known {
    const void *memory; /* a component, or numbers of banks; NULL: nothing */
    uint64_t nbytes, offset, own_bytes;
    int64_t drain_fs;
    uint32_t src, dst, way; /* as far as they matter */
    uint32_t none;          /* 0: what is before `alone` is compared as bytes */
    struct alone alone;
};

enum { ALONE_KNOWN = 64 };

/* One memory that is idle, whichever is asked, and what brings something to it. All zeros at first.
 */
struct idle {
    struct bank_view view;
    struct bank_pool pool;
    struct bank_channel
        *channels; /* owned, as banks; [channel], those that something came to ... */
    struct bank *banks;
    uint8_t begun[BANK_CHANNELS_MAX]; /* ... which are these: channels[].banks is not NULL */
    uint32_t n_begun, n_accesses;     /* rows of the pool */
    uint32_t alike;                   /* for how many channels one stands: bank_is_even() */
    size_t channels_room, banks_room;
    struct queueing queue;
    struct channels route;
    struct stream way;
    bool lost; /* there was no memory for an answer, which is worth nothing */
    bool keeps;
    struct alone_known known[]; /* [ALONE_KNOWN], if it keeps answers */
};

/* One that keeps answers. NULL without memory. */
struct idle *idle_new(void);
/* Frees what it owns; the second itself, too, unless it is NULL. */
void idle_clear(struct idle *idle);
void idle_free(struct idle *idle);

/* Was there no memory for an answer since this was asked? */
static inline bool idle_has_lost(struct idle *idle)
{
    bool lost = idle && idle->lost;

    if (lost)
        idle->lost = false;
    return lost;
}

/* Is what `op` takes of memory `dst` more than the tables say? */
static inline bool alone_is_asked(const struct kb_topology *t, uint32_t dst)
{
    uint32_t unit = dst_unit(t, dst);

    return (t->banked && unit_is_slice(t, unit) &&
            kind_at(t, dst_cube(t, dst))->hbm.model == MEMORY_BANKS) ||
           cost_memory(t, dst, false)->model == MEMORY_CACHE || memory_is_component(t, dst);
}

/* What it takes of such a memory, or of an L2, overhead, latency and drain included. */
struct alone alone_in_memory(struct idle *idle, const struct alone_of *of);

/* A memory has taken `fs` in all: that is its part of the cost, unless it never ends. May be less
 * than the drain of the route, and the part below 0. */
static inline void cost_set_memory(struct kb_cost *c, int64_t fs)
{
    if (fs == INT64_MAX)
        return;
    c->overhead_fs += fs - c->drain_fs - c->memory_overhead_fs;
    c->memory_overhead_fs = fs - c->drain_fs;
}

/* The same at an L2, behind which there are wires, too. */
static inline void cost_add_l2(struct kb_cost *c, struct alone alone)
{
    cost_set_memory(c, alone.fs);
    c->wire_fs += alone.wire_fs;
    c->overhead_fs -= alone.wire_fs;
}

/* Makes costs by the tables what they are alone, where banks and components take part. */
void cost_add_alone(struct idle *idle, const struct alone_of *of, struct kb_cost *c);

/* What the component of node `hop` of cube `cube`, if there is one, says more than the tables. */
int64_t node_more_fs(const struct alone_of *of, const struct hop_row *hop, uint32_t cube);

/*
 * All costs of a transaction alone, whose bytes lie at `offset` of its memory. Where components
 * take part each is asked in a fresh state, at time 0.
 */
struct kb_cost cost_alone(struct idle *idle, const struct kb_topology *t, const struct cost_mask *m,
                          kb_transaction_op op, const struct trip *trip, uint64_t nbytes,
                          uint64_t offset);

#endif
