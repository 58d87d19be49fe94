/* ways.h -- the ways that transactions have taken: how often, and the pieces of time on them. */
#ifndef WAYS_H
#define WAYS_H
#include "engine/station.h"
#include "machine/cost.h"

/* Times at the two ends of a way that differ from transaction to transaction; those at its memory
 * in the order in which they follow one another. */
enum stay {
    STAY_START,
    STAY_CACHE,
    STAY_MEMORY,
    STAY_REFRESH,
    STAY_ROW,
    STAY_BUS,
    STAY_PENDING,
    STAY_OVERHEAD,
    STAY_DRAIN,
    STAY_RESPONSE,
    N_STAYS
};

/* Those of one transaction. */
struct stays {
    int64_t fs[N_STAYS];
};

/* The cause of a stay; of STAY_START it is that of a PE. */
static inline kb_cause stay_cause(enum stay stay)
{
    static const kb_cause causes[] = {
        [STAY_START] = KB_CAUSE_CHANNEL_WAIT,   [STAY_CACHE] = KB_CAUSE_CACHE_WAIT,
        [STAY_MEMORY] = KB_CAUSE_MEMORY_WAIT,   [STAY_REFRESH] = KB_CAUSE_REFRESH_WAIT,
        [STAY_ROW] = KB_CAUSE_ROW_WAIT,         [STAY_BUS] = KB_CAUSE_BUS_WAIT,
        [STAY_PENDING] = KB_CAUSE_PENDING_WAIT, [STAY_OVERHEAD] = KB_CAUSE_OVERHEAD,
        [STAY_DRAIN] = KB_CAUSE_DRAIN,          [STAY_RESPONSE] = KB_CAUSE_RESPONSE};

    return causes[stay];
}

/* All transactions of one source, memory and operation: they pass the same wires and nodes. */
struct way_sum {
    uint32_t src, dst;
    uint16_t how; /* operation, plane and chiplet; 0: a free row */
    uint64_t count;
    int64_t passed_fs, response_fs; /* of one: wires and nodes; the response */
    struct stay_sum {
        uint64_t count; /* those that are no 0 */
        wait_sum fs;
    } stays[N_STAYS];
};

/* Without a way yet only `topo` and `mask` are set. */
struct ways {
    const struct kb_topology *topo; /* borrowed */
    struct cost_mask mask;
    struct way_sum *way; /* owned: an open table, `cap` a power of two */
    size_t n, cap;
};

/* The way of `x`, until another one is asked for; NULL: no memory. */
struct way_sum *ways_of(struct ways *w, const struct txn *x);

/* Some transaction of `way`, as far as that says where it goes. */
struct txn ways_txn(const struct way_sum *way);

/* What ways_pass() calls: the piece of a wire or node; one of 0 has no length, or is that of a node
 * that is a component. */
typedef void way_told(void *arg, const kb_share *piece);

/* Calls `each` for the wires and nodes of the way of `x`. */
void ways_pass(const struct kb_topology *t, const struct cost_mask *m, const struct txn *x,
               way_told *each, void *arg);

void ways_free(struct ways *w);

/* The place of a node of a route, passed in `cube`. */
kb_place ways_node(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
                   const struct trip *trip);

#endif
