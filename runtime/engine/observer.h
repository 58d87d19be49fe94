/* observer.h -- what a watched engine tells of a run: where each transaction is, what each station
 * does.
 *
 * The engine knows an observer as a table of functions. explain/ fills it when kb_sim_observe()
 * asks, and derives breakdowns, timelines and critical paths from the calls. The hop engine calls
 * all of them. The engine of arrivals (engine/inorder_steps.h) tells visits and ends instead, if
 * that is enough (by_visits). No engine of a run that is not watched tests s->observer, so it costs
 * them nothing.
 *
 * Every call about a transaction ends its current piece of time and may begin the next one. For a
 * read of 4 KiB that waits 10 ns for its channel the calls are: issue(t=0), come(0, channel),
 * take(10, channel), node, wire, ... , come(memory), take(memory), leave, release(channel), end.
 * The pieces between them sum exactly to the latency; explain/ checks this for each transaction.
 *
 * Of what an L2 makes only visits are told: others may wait behind it. What its own transaction
 * waits for it is a wait at the L2.
 */
#ifndef OBSERVER_H
#define OBSERVER_H
#include "engine/split.h"

struct bank_segment;
struct bank_slice;
struct command;
struct tl_ctx;
struct router_grant;

/* Stations, in the order in which a transaction comes to them. A node is one if it is a component;
 * a memory may be a port or an engine of a PE. */
enum station_kind { STATION_CHANNEL, STATION_ENGINE, STATION_LINK, STATION_NODE, STATION_MEMORY };

/* A visit of a station, told when all of it is known; times may be still to come. */
struct visit {
    enum station_kind station;
    uint32_t slot;
    size_t number; /* of the station, of its kind; of a link in the direction of its data; of a node
                      that of its hop, in the cube of the row's step */
    int64_t arrive_fs, begin_fs; /* of a node: when it goes on */
    int64_t done_fs, drain_fs;   /* a memory: when it is done, and how long the way drains */
    int64_t granted_fs;          /* a channel: since when it has it, though it begins later */
};

/* The piece of a message that has left a slot, for the sender that waits for that slot. */
struct taken {
    uint32_t stretch, command;
    int64_t at_fs;
};

/* Those of kernels are documented in kernels/observe.h. */
struct observer {
    void (*free)(struct observer *o);
    kb_status (*error)(const struct observer *o, kb_error *why);
    bool by_visits; /* from begin() on: visits and ends are all that it needs of a transaction */

    /* Transactions are about to run; no observer is added any more. */
    void (*begin)(struct kb_sim *s);
    /* A transaction is issued, or a stage begins. False: no memory, the run ends. */
    bool (*issue)(struct kb_sim *s, uint64_t t, uint32_t slot);
    /* The transaction in `whole`, which has its channel, sends its part in `part`: engine/split.h.
     */
    void (*split)(struct kb_sim *s, uint32_t whole, uint32_t part);
    /* It comes to a node, crosses a NoC, or takes the wire of the edge behind the node. */
    void (*node)(struct kb_sim *s, uint64_t t, uint32_t slot);
    void (*cross)(struct kb_sim *s, uint64_t t, uint32_t slot);
    void (*wire)(struct kb_sim *s, uint64_t t, uint32_t slot);
    /* It comes to a station, which may be busy, takes it at `t`, gives it back. */
    void (*come)(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station);
    void (*take)(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station);
    void (*release)(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station);
    /* Its service has ended: all that begins before left() is a consequence of that. */
    void (*leave)(struct kb_sim *s, uint64_t t, uint32_t slot);
    void (*left)(struct kb_sim *s);
    /* It has ended: data at `t`, the response at `end`. */
    void (*end)(struct kb_sim *s, uint64_t t, uint64_t end, uint32_t slot);
    /* All of a visit is known; its visits are over, and it ends at `end`, its response included. */
    void (*visit)(struct kb_sim *s, const struct visit *visit);
    void (*visited)(struct kb_sim *s, uint64_t end, uint32_t slot);
    /* A channel with banks has granted its bus to `segment`, a copy. Its transaction may have
     * ended. */
    void (*bus)(struct kb_sim *s, const struct bank_slice *slice, uint32_t channel,
                const struct bank_segment *segment);

    /* A port of a router lets a segment go at `t`, which is still where it has waited. The port has
     * decided: what is still there waits. */
    void (*grant)(struct kb_sim *s, uint64_t t, const struct router_grant *grant);
    void (*decide)(struct kb_sim *s, uint64_t t, uint32_t port);
    /* The packet, or the read, in `slot` comes to its memory at `t`, which serves it from `start`
     * on. */
    void (*serve)(struct kb_sim *s, uint64_t t, uint64_t start, uint32_t slot, uint32_t packet);

    void (*start)(struct kb_sim *s, struct tl_ctx *pe, uint64_t t);
    void (*command)(struct kb_sim *s, struct command *c);
    void (*operands)(struct command *c);
    void (*finish)(struct kb_sim *s, uint64_t t, struct command *c);
    void (*stop)(struct kb_sim *s, struct tl_ctx *pe, uint64_t t);
    void (*resume)(struct kb_sim *s, struct tl_ctx *pe, uint32_t id, bool ended);
    void (*room)(struct kb_sim *s, struct tl_ctx *pe, uint64_t t);

    struct taken (*taken)(struct kb_sim *s);
    bool (*credit)(struct kb_sim *s, uint32_t slot, uint32_t receiver, const struct taken *taken);
    bool (*release_word)(struct kb_sim *s, int64_t there_fs, uint32_t slot, struct command *last,
                         uint32_t lowest);
    void (*word)(struct kb_sim *s, uint32_t slot);
    void (*wait)(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer);
    void (*go_on)(struct kb_sim *s, uint64_t t, struct command *c);
};

static inline void observe_free(struct observer *o)
{
    if (o)
        o->free(o);
}

/* Why a check of the pieces has failed: KB_INTERNAL. KB_OK: none has. */
static inline kb_status observe_error(const struct observer *o, kb_error *why)
{
    return o ? o->error(o, why) : KB_OK;
}

/* Tells the observer, if there is one: OBSERVE(s, take, t, slot, kind). OBSERVE_ROW() does not of
 * what an L2 makes. */
#define OBSERVE(s, what, ...)                                                                      \
    do {                                                                                           \
        if ((s)->observer)                                                                         \
            (s)->observer->what((s), ##__VA_ARGS__);                                               \
    } while (0)
#define OBSERVE_ROW(s, what, t, slot, ...)                                                         \
    do {                                                                                           \
        if ((s)->observer && !is_child(s, slot))                                                   \
            (s)->observer->what((s), t, slot, ##__VA_ARGS__);                                      \
    } while (0)

/*
 * All of a visit is known. A station has its visits in the order in which they arrive;
 * channels and engines, in which they begin. All visits of a transaction come before its end.
 */
static inline void observe_visit(struct kb_sim *s, enum station_kind station, size_t number,
                                 uint32_t slot, uint64_t arrive, uint64_t begin)
{
    s->observer->visit(s, &(struct visit){.station = station,
                                          .slot = slot,
                                          .number = number,
                                          .arrive_fs = (int64_t)arrive,
                                          .begin_fs = (int64_t)begin});
}

/* The same of a channel that it has had since `granted`. */
static inline void observe_channel(struct kb_sim *s, size_t number, uint32_t slot, uint64_t arrive,
                                   uint64_t granted, uint64_t begin)
{
    s->observer->visit(s, &(struct visit){.station = STATION_CHANNEL,
                                          .slot = slot,
                                          .number = number,
                                          .arrive_fs = (int64_t)arrive,
                                          .begin_fs = (int64_t)begin,
                                          .granted_fs = (int64_t)granted});
}

/* The same of a memory, port or engine, which is done with it at `done`; its way drains for
 * `drain_fs`. Where the memory chooses, neither begin nor drain is known. */
static inline void observe_served(struct kb_sim *s, uint64_t done, uint32_t slot, int64_t drain_fs)
{
    const struct txn *x = &s->txns[slot];

    s->observer->visit(s, &(struct visit){.station = STATION_MEMORY,
                                          .slot = slot,
                                          .number = x->dst,
                                          .arrive_fs = x->arrive_fs,
                                          .begin_fs = x->service_fs,
                                          .done_fs = (int64_t)done,
                                          .drain_fs = drain_fs});
}

/* It was issued at `t`, before now, and has waited for its channel since then. */
static inline bool observe_late(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (!s->observer->issue(s, t, slot))
        return false;
    s->observer->come(s, t, slot, STATION_CHANNEL);
    return true;
}

#endif
