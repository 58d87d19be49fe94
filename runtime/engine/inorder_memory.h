/* inorder_memory.h -- steps of engine/inorder_steps.h at the end of a route: the memory serves, the
 * transaction ends, its channel goes to the next.
 */
#ifndef INORDER_MEMORY_H
#define INORDER_MEMORY_H
#include "engine/child_rows.h"
#include "engine/dependencies.h"
#include "engine/engine.h"
#include "engine/inorder_lists.h"
#include "engine/traffic_end.h"
#include "network/banks.h"
#include "network/component_engine.h"
#include "network/component_node.h"
#include "network/memory_behind.h"
#include "network/server.h"

enum {
    IN_COUNTED = HOW_COUNTED, /* every issue, arrival and end is an event, and is counted */
    IN_KERNELS = HOW_KERNELS, /* transactions are kernels', and share slots with their stages */
    IN_CALLED = 8,            /* in an event of class 4: all others of its time have run */
    IN_LISTED = 32,           /* rows wait in the lists of their channels */
    IN_AHEAD = 64,            /* an end is no event */
    IN_ROUTED = 256,          /* the way to a memory is network/network_router.h's */
    IN_CHOOSES = 512,         /* some memories choose: network/server.h */
    IN_WATCHED = 1024,        /* an observer hears of each visit, and of each end */
};

/*
 * What goes on now, at `t`, which may be still to come: over `step`, in `cube`; without a step it
 * has just got its channel. Slot TXN_NONE: nothing does.
 */
struct goer {
    uint32_t slot, cube;
    uint64_t t;
    const struct step *step;
};

static const struct goer none = {.slot = TXN_NONE};

/* Is an engine of an m_cpu the time at which it is free, and an end there no event? */
static ALWAYS_INLINE bool engines_in_order(const struct kb_sim *s, int how)
{
    return how & IN_LISTED && s->inorder->engines;
}

/* Which steps are no stops: bits of step.fed. */
static ALWAYS_INLINE unsigned fed_of(const struct kb_sim *s, int how)
{
    return how & IN_COUNTED ? 0 : s->fed;
}

/* Was it made by an L2? Where there is one, memories choose: memories_choose(). */
static ALWAYS_INLINE bool is_made(const struct kb_sim *s, int how, uint32_t slot)
{
    return how & IN_CHOOSES && __builtin_expect(is_child(s, slot), false);
}

/* -- the end -------------------------------------------------------------------------------- */

static __attribute__((noinline)) void end_for_others(struct kb_sim *s, uint32_t id, uint64_t t)
{
    kb_status status = dependencies_ended(s, id, (int64_t)t);

    if (status != KB_OK)
        fail(s, status);
}

static uint64_t end_behind_routers(const struct kb_sim *s, const struct txn *x, uint64_t t)
{
    const struct trip trip = txn_trip(T, x);

    if (!txn_writes(x))
        return t; /* its data were the response */
    return after(t, cost_response_fs(T, &s->mask, &trip, cost_of_host(T, &trip).wire_fs));
}

/* When it ends whose data are there at `t`: a host's, when the response is back. */
static ALWAYS_INLINE uint64_t end_of(struct kb_sim *s, const struct txn *x, uint64_t t)
{
    struct host_row walked;

    if (!txn_of_host(x))
        return t;
    if (T->links == MODE_ROUTER)
        return end_behind_routers(s, x, t);

    return after(t, program_host(&s->inorder->program, T, x, &walked)->response_fs);
}

/* Its data are there at `t`. A transaction that is split ends with the last of its parts. */
static ALWAYS_INLINE void end(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint64_t end = end_of(s, &s->txns[slot], t);

    if (end == EV_PAST) {
        fail(s, KB_TIME_RANGE);
        return;
    }
    if (how & IN_WATCHED)
        OBSERVE(s, visited, end, slot);
    if (whole_of(s, slot) != slot) {
        end = split_ended(s, slot, end);
        if (end == SPLIT_GOES_ON)
            return;
        slot = whole_of(s, slot);
    }
    s->txns[slot].stage = TXN_DONE;
    if (end >= s->stop_fs)
        return; /* the response comes too late */
    s->n_done++;
    if ((int64_t)end > s->end_fs)
        s->end_fs = (int64_t)end;
    if (__builtin_expect(s->tells_ends, false))
        end_for_others(s, s->txns[slot].id, end);
    if (__builtin_expect(s->traffic != NULL, false))
        traffic_done(s, slot, end);
}

/* -- channels ------------------------------------------------------------------------------- */

/*
 * Rows are listed, and `channel` has a server to spare from `t` on: the first sets out then, or
 * when it is issued, which may be still to come. If its way begins without any delay it has to be
 * issued by an event.
 */
static ALWAYS_INLINE struct goer next_listed(struct kb_sim *s, struct station *channel, uint64_t t)
{
    uint32_t head = channel->queue.head;
    uint64_t issue_fs;

    if (head == TXN_NONE || channel->posted)
        return none;
    issue_fs = (uint64_t)s->txns[head].issue_fs;
    if (issue_fs < t)
        return (struct goer){txn_take(&channel->queue, s->txns), .t = t};
    if (s->inorder->delays)
        return (struct goer){txn_take(&channel->queue, s->txns), .t = issue_fs};
    inorder_post_head(s, channel);
    return none;
}

/* A server of `channel` is free at `t`: what has it next? */
static ALWAYS_INLINE struct goer give_back(struct kb_sim *s, int how, struct station *channel,
                                           uint64_t t)
{
    channel->busy_fs += t;
    channel->idle++;
    if (how & IN_LISTED)
        return next_listed(s, channel, t);
    if (!station_waited_for(channel))
        return none;
    return (struct goer){station_dequeue(channel, s->txns), .t = t};
}

/* -- the memory ----------------------------------------------------------------------------- */

static ALWAYS_INLINE bool comes_to_tcm(const struct kb_sim *s, int how, const struct txn *x)
{
    return how & IN_KERNELS && unit_is_tcm(T, dst_unit(T, x->dst));
}

static ALWAYS_INLINE const struct service *service_for(const struct kb_sim *s, int how,
                                                       const struct txn *x)
{
    const struct program *p = &s->inorder->program;

    return comes_to_tcm(s, how, x) ? program_tcm_service(p, T, x->dst, txn_writes(x))
                                   : program_service(p, T, x->dst);
}

/* The station of its memory. */
static ALWAYS_INLINE struct link_station *memory_for(struct kb_sim *s, int how, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    return comes_to_tcm(s, how, x) ? kernels_port(s, slot) : &s->early[x->dst];
}

/* Its end is known now, and need not be an event. */
static ALWAYS_INLINE bool ends_ahead(const struct kb_sim *s, int how, uint32_t slot, uint64_t done)
{
    bool known = txn_of_host(&s->txns[slot]) ? engines_in_order(s, how) : how & IN_AHEAD;

    return known && whole_of(s, slot) == slot && !is_made(s, how, slot) && done < EV_PAST &&
           !(how & IN_CHOOSES && memory_queues(T, s->txns[slot].dst));
}

/* Its service ends at `t`: that is known to a memory which keeps order. */
static ALWAYS_INLINE void leave_memory(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    if (how & IN_ROUTED) {
        if (txn_writes(x) && txn_queues(s, x))
            end_write_in_server(s, slot);
        router_leave(s, slot);
    } else if (how & IN_CHOOSES && txn_queues(s, x)) {
        server_leave(s, t, slot);
    }
}

static struct goer leave_engine(struct kb_sim *s, int how, uint64_t t, const struct txn *x);

/*
 * Its service, of which `drain` is for its bytes, ends at `done`: the next of its channel, or of
 * its engine, follows, if that need be no event.
 */
static ALWAYS_INLINE struct goer served(struct kb_sim *s, int how, uint64_t done, uint32_t slot,
                                        int64_t drain)
{
    struct station *channel = channel_of(s, &s->txns[slot]);

    if (how & IN_WATCHED)
        observe_served(s, done, slot, drain);
    if (!ends_ahead(s, how, slot, done)) {
        if (how & IN_CHOOSES)
            post_done(s, done, slot);
        else
            post(s, done, EV_DONE, slot);
        return none;
    }
    leave_memory(s, how, done, slot);
    end(s, how, done, slot);
    if (txn_of_host(&s->txns[slot]))
        return leave_engine(s, how, done, &s->txns[slot]);
    return give_back(s, how, channel, done);
}

/*
 * Another memory than one that is built in and keeps order: a component, which says when it is
 * done, or one that chooses, and tells the end when it knows. COMPONENT_NEVER: that is not now.
 */
static __attribute__((noinline)) uint64_t ask_other(struct kb_sim *s, int how,
                                                    const struct service *service, int64_t drain,
                                                    uint64_t t, uint32_t slot)
{
    s->txns[slot].hold_fs = service->done_fs + drain;
    if (service->server == SERVER_ASKED)
        return serve_by_component(s, 0, t, slot);
    s->txns[slot].stage = TXN_TO_MEMORY;
    server_arrive(s, how, t, slot, &(struct delivery[]){whole_delivery(&s->txns[slot])}[0]);
    return COMPONENT_NEVER;
}

/* A memory that is built in and keeps order; `twice`: an atomic that holds it so. */
static ALWAYS_INLINE struct goer serve_in_order(struct kb_sim *s, int how,
                                                const struct service *service, uint64_t t,
                                                uint32_t slot, int64_t drain, bool twice)
{
    struct program *p = &s->inorder->program;
    int64_t own = drain, late = how & IN_LISTED ? 0 : branch_late_fs(s, slot);
    uint64_t start;

    if (service->own_gbs > 0)
        own = program_drain_fs(program_drains(p, split_own_bytes(s, slot)), &service->own_gbs,
                               service->own_rate);
    start = take_turn(s, memory_for(s, how, slot), service->taken_fs + (twice ? 2 * own : own), t);
    s->txns[slot].service_fs = (int64_t)start;
    return served(s, how, after(start, service->done_fs + drain + late), slot, drain);
}

/* Its head is at the memory at `t`, after all that come before it; its way drains for `drain`. */
static ALWAYS_INLINE struct goer serve(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                       int64_t drain)
{
    struct txn *x = &s->txns[slot];
    const struct service *service = service_for(s, how, x);

    drain = split_drain(s, slot, drain);
    x->arrive_fs = (int64_t)t;
    x->stage = TXN_SERVED;
    if (__builtin_expect(service->server == SERVER_ORDERED, true))
        return serve_in_order(s, how, service, t, slot, drain, false);
    if (service->server == SERVER_READ_WRITE)
        return serve_in_order(s, how, service, t, slot, drain, kernels_combine(s, slot));
    t = ask_other(s, how, service, drain, t, slot);
    return t == COMPONENT_NEVER ? none : served(s, how, t, slot, drain);
}

/* A stage inside a PE comes to its port or engine. */
static ALWAYS_INLINE void come_inside(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct link_station *station = kernels_port(s, slot);
    const struct impl *engine = engine_impl(s, how, slot);
    uint64_t start, done;

    x->arrive_fs = (int64_t)t;
    if (__builtin_expect(engine != NULL, false)) {
        start = take_turn(s, station, 0, t);
        done = ask_in_turn(s, engine, station, start, slot);
    } else {
        start = take_turn(s, station, x->hold_fs, t);
        done = after(start, x->hold_fs);
    }
    x->service_fs = (int64_t)start;
    kernels_begin_service(s, start, slot);
    if (done == COMPONENT_NEVER)
        return;
    if (how & IN_WATCHED)
        observe_served(s, done, slot, x->hold_fs);
    if (__builtin_expect(done > start || start == t, true) || engine || !kernels_put_off(s, slot))
        post(s, done, EV_DONE, slot);
}

#endif
