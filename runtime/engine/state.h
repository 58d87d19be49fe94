/* state.h -- one simulation: all that changes while a topology runs. */
#ifndef STATE_H
#define STATE_H
#include "machine/cost.h"
#include "machine/tree.h"
#include "engine/calendar.h"
#include "engine/children.h"
#include "engine/completed.h"
#include "engine/flow.h"
#include "engine/instances.h"
#include "engine/station.h"

struct caches;
struct memory_server;
struct dependencies;
struct heard;
struct host;
struct idle;
struct inorder;
struct kernels;
struct lone;
struct lone_runs;
struct op_log;
struct race;
struct router;
struct traffic;
struct observer;

struct kb_sim {
    const struct kb_topology *topo; /* borrowed */
    struct kb_options options;
    struct cost_mask mask;

    struct calendar calendar; /* events of rows */
    struct ev_queue queue;    /* of all else */
    struct children children; /* records of what transactions make on their way */
    struct inorder *inorder;  /* owned; NULL until its engine has run: engine/inorder.h */
    struct txn *txns;         /* owned; slot = row */
    uint32_t n_txns, txns_cap;
    uint32_t free_child;  /* rows of children that are not in use: a list of txn.next */
    uint32_t n_parts;     /* rows of parts, behind those of their transactions */
    uint32_t *slots;      /* owned; [id]; NULL, but where parts lie between transactions that were
                             added while time ran: slot = id */
    struct split *splits; /* owned; [slot]; NULL: no transaction goes in parts */
    /* Owned; [slot]: where the bytes of tiles and of multicasts lie; NULL: there are none. */
    struct bytes_at *places;
    struct targets *targets;      /* owned; of all multicasts */
    struct branch_part *branches; /* owned; [slot]: engine/branches.h; NULL: none was made */
    struct tree tree;             /* of the multicast that was made last */
    struct split_parts {
        struct split_part *rows; /* owned */
        uint32_t n, room;
        bool branches;           /* of a multicast */
    } parts;                     /* of the transaction that was cut last */
    struct flow_sum *more_parts; /* owned; [channel]: parts that it let out, beside the first ones,
                                  and bytes that it let out once and that came to several */
    /* Rows in order of (issue, id), and which of them is to be issued next. */
    uint32_t *order; /* owned; [n_order]; NULL: they were added so */
    uint32_t n_order, next_row;
    bool sorted, started;
    bool wants_values; /* kb_sim_wants_values() */
    uint8_t ways;      /* of its transactions: bits of txn_way() */
    /* The legs passed together where links are fifo, by leg_row.fed: network/turn.h ... */
    uint8_t fed, fed_first; /* ... behind another link; behind a channel */
    int64_t last_issue_fs;
    uint32_t n_done; /* complete: responses have come back, too */
    struct dependencies
        *dependencies;          /* owned: transactions that wait for others; NULL: none wait */
    struct completed completed; /* option live */
    bool tells_ends;            /* there are dependencies, or the run is live */

    /* Stations, owned; of a cube that is not `made` they are zero: engine/stations.h. */
    bool *made; /* owned; [cube over all] */
    bool all_made;
    struct station *channels;        /* [src_pack()][0 read, 1 write] */
    uint64_t *paces;                 /* the same: none sets out before; NULL: all may at once */
    struct station *engines;         /* [cube over all][0 read, 1 write] */
    struct link_station *turns;      /* the same, of those that keep order: engine/inorder.h */
    struct memory_station *memories; /* [dst_pack()] */
    struct link_station *early;      /* the same, of those that keep order; NULL: none does */
    /* What memories that choose keep, owned, by model; NULL: none is of that: network/server.h */
#define MODEL_STATE(NAME, word, name) struct name *name;
    MEMORY_MODELS(MODEL_STATE)
    struct caches *caches;                      /* the same: network/caches.h */
    bool chooses;                               /* some memory does */
    const struct memory_server *const *servers; /* borrowed; [enum memory_model] */
    struct link_station *links; /* fifo: [cube over all][link][back], then those of the IOs */
    /*
     * Host transactions on their way to their first station. All of one list have the same way,
     * so they arrive as issued, and only the first needs an event: a host has no channel that
     * bounds how many there are.  links ideal: [cube over all], fifo: [SIP]
     */
    struct txn_list *pipes;

    struct instances instances; /* of components */
    struct idle *idle;          /* owned; what is asked for times alone: machine/alone.h */
    /* Times alone where these run: engine/lone.h; else NULL. sim/ knows how, as it takes a run. */
    struct lone (*lone_of)(const struct kb_sim *s, uint32_t slot);
    /* The terms of a row that is done, where tables do not say all; what it would take alone only
     * where its parts wait for each other: sim/results.c. */
    void (*terms_of)(const struct kb_sim *s, uint32_t slot, kb_result *r);
    struct lone_runs *lone; /* owned by sim/ */
    /* Room for rows, sim_room(); the end of a child of an L2, at `t`, is known: network/l2.c. */
    bool (*more_rows)(struct kb_sim *s, uint32_t n);
    void (*child_will_end)(struct kb_sim *s, uint64_t t, uint32_t slot);
    struct router *router; /* owned; links router: ports, segments, packets; else NULL */

    struct flows flows;       /* traffic by route; nodes and edges follow when asked for */
    struct flows of_children; /* of children, where those of rows are counted behind the run */
    bool counted; /* from the times of transactions: the next time these are cleared first */

    int64_t end_fs;       /* of the last completion, response included */
    int64_t child_end_fs; /* of the last child of an L2, for which nothing need wait */
    uint64_t n_events;    /* completions and arrivals that are counted */
    uint64_t fingerprint;
    uint64_t stop_fs; /* no event then or later; 0 once the run has failed */
    uint64_t now_fs;  /* how far a run has come that has not reached its end */
    /* Option live: the run pauses before events at pause_fs, or behind the completion number
     * pause_done; rows may be issued from `from_fs` on. */
    uint64_t pause_fs, from_fs;
    uint32_t pause_done;
    kb_status status; /* why the run has ended */
    bool over;        /* no event is left */

    /* Kernels; each owned, and NULL until there are some. */
    struct host *host;         /* memories' contents, and the host's tensors */
    struct kernels *kernels;   /* PEs */
    const struct heard *heard; /* borrowed; what an engine asks of kernels: engine/hop.h */
    struct op_log *log;        /* records of operations, if the options asked for them */
    uint64_t kept_at;          /* how many it had when those that are kept were looked at */

    struct traffic *traffic;   /* owned: issues transactions while it runs; NULL: there is none */
    struct observer *observer; /* owned: the hop engine tells it what happens; NULL: none */
    struct race *race;         /* owned: finds data races of kernels; NULL: not asked for */
};

/*
 * Is memory `dst` the time at which it is free, s->early[dst]? In a run of engine/inorder.h all
 * are, but behind routers; else those that are free before their transaction is done.
 */
static inline bool sim_keeps_order(const struct kb_sim *s, uint32_t dst)
{
    return (s->inorder && s->early) || memory_frees_early(cost_memory(s->topo, dst, false));
}

/* Are waits for memory `dst` counted as they end? Else they follow from the times of transactions,
 * which children of an L2 do not keep. */
static inline bool sim_counts_waits(const struct kb_sim *s, uint32_t dst)
{
    return sim_keeps_order(s, dst) || topology_has_l2(s->topo);
}

static inline bool sim_has_kernels(const struct kb_sim *s)
{
    return s->kernels != NULL;
}

/* Do tables say all of what has run, and has no row parts? */
static inline bool sim_is_plain(const struct kb_sim *s)
{
    return !s->topo->impls && !s->chooses && !s->router && !s->splits;
}

/* Where the transaction `id` of those that were added lies. */
static inline uint32_t sim_slot(const struct kb_sim *s, uint64_t id)
{
    return s->slots ? s->slots[id] : (uint32_t)id;
}

/* The row that is issued next; s->next_row counts them. TXN_NONE: all have been. */
static inline uint32_t sim_next_row(const struct kb_sim *s)
{
    if (s->next_row == (s->order ? s->n_order : s->n_txns))
        return TXN_NONE;
    return s->order ? s->order[s->next_row] : s->next_row;
}

/* Does it go between a PE and its own slice? */
static inline bool sim_is_own(const struct kb_topology *t, const struct txn *txn)
{
    return !txn_of_host(txn) && src_cube(t, txn->src) == dst_cube(t, txn->dst) &&
           home_slice(t, src_cube(t, txn->src), src_pe(t, txn->src)) == dst_unit(t, txn->dst);
}

/* Counts one of a PE, or of an L2, by its route. */
static inline void flows_count(struct flows *f, const struct kb_topology *t, const struct txn *txn)
{
    f->used = true;
    if (src_cube(t, txn->src) != dst_cube(t, txn->dst))
        flow_count_remote(f, t, txn);
    else
        flow_count(flow_local(f, t, txn->src, dst_unit(t, txn->dst)), txn);
}

/* Counts any other one by its route. */
static inline void sim_count_route(struct kb_sim *s, const struct kb_topology *t,
                                   const struct txn *txn)
{
    uint32_t to = dst_cube(t, txn->dst);

    s->flows.used = true;
    if (!t->regular && flow_is_walked(&s->flows, t, txn))
        flows_walk(&s->flows, t, txn);
    if (txn_of_host(txn)) {
        station_count(&s->engines[2 * (size_t)to + txn_writes(txn)], txn);
        flow_count(flow_host(&s->flows, t, txn->dst), txn);
    } else {
        flows_count(&s->flows, t, txn);
    }
}

static __attribute__((noinline)) void sim_count_far(struct kb_sim *s, const struct txn *txn)
{
    sim_count_route(s, s->topo, txn);
}

/*
 * A transaction is complete: counts it by route, from which explain/spread.c derives the load of
 * each edge. Most transactions of kernels are between a PE and its own slice; those count at their
 * channel, which is in the cache.
 */
static inline void sim_count(struct kb_sim *s, const struct txn *txn)
{
    if (sim_is_own(s->topo, txn))
        station_count(&s->channels[2 * (size_t)txn->src + txn_writes(txn)], txn);
    else
        sim_count_far(s, txn);
}

/* When all stations are free again: children of an L2 may end behind the last completion. */
static inline int64_t sim_free_fs(const struct kb_sim *s)
{
    return s->child_end_fs > s->end_fs ? s->child_end_fs : s->end_fs;
}

/* Memory that an idle machine takes, without banks and components. */
uint64_t sim_bytes(const struct kb_topology *t);

/* Makes `*s`, which is zeroed, an idle machine. False without memory: sim_clear() frees the rest.
 */
bool sim_init(struct kb_sim *s, const struct kb_topology *topo, const struct kb_options *options);

/* Frees stations, transactions, events and sums. The caller has freed all else that `s` owns. */
void sim_clear(struct kb_sim *s);

/* Room for `n` rows of transactions and parts; false if there is no memory. */
bool sim_room(struct kb_sim *s, uint32_t n);

/* A fingerprint, an early end and rows that are added while time runs need every arrival and
 * completion to be an event. */
static inline bool sim_counts(const struct kb_sim *s)
{
    return s->options.fingerprint || s->options.max_events || s->options.until_fs > 0 ||
           s->options.live;
}

/* The run stands at `t`, and may go on. */
static inline kb_status sim_paused(struct kb_sim *s, uint64_t t)
{
    s->now_fs = t;
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

/* Has the completion come that the run pauses behind? */
static inline bool sim_pauses(const struct kb_sim *s)
{
    return s->n_done >= s->pause_done;
}

/* Needs the run all its events? Then none is left out. */
static inline bool sim_is_watched(const struct kb_sim *s)
{
    return s->options.engine == KB_HOP || sim_counts(s);
}

/* The last time at which an event may run. */
static inline uint64_t sim_last_fs(const struct kb_sim *s)
{
    return s->options.until_fs > 0 ? (uint64_t)s->options.until_fs : EV_PAST - 1;
}

/* Servers of a station of `n`, unless `cost`, the lack of more, is left out. */
static inline uint32_t sim_servers(const struct kb_sim *s, enum kb_cost_class cost, uint32_t n)
{
    return s->options.costs_off & cost ? EV_MAX_SLOTS : n;
}

#endif
