/* inorder_steps.h -- runs transactions over stations that all serve in order of arrival.
 *
 * A station is the time at which it is free. What comes to it at t begins at the later of t and
 * that time; the model says how long it is taken, and nothing else needs to be known. It has no
 * queue: arrivals are events, and events come in order of time. So there is nothing to reserve, and
 * nothing to undo. Links and memories are such stations (struct link_station), and a transaction
 * has one event for each, an arrival:
 *
 *     issue    a PE's row comes to its channel. It takes it, or waits           set_out()
 *     arrive   at a link: takes it, goes on to the next station                 go()
 *              at a node that is a component: asks it, goes on                  come_to_node()
 *              at the engine of an m_cpu: takes it, or waits                    come_to_engine()
 *              at the memory: its service, its end and all its times are known  serve()
 *     done     channel or engine go to the next, the transaction ends           done()
 *
 * A memory that is a component is asked when its turn has come, which is at its arrival: in the
 * order of turns. Channels and engines are held until an end that is not known at the begin: these
 * have queues.
 *
 * Three rules leave events out, where no event is counted. None of them changes what happens.
 *
 *   1. Passed together. Where all that comes to a station has come over the same station before,
 *      with one delay between, it comes in the order in which it left that one. So a request takes
 *      it in the same event, at a time that is still to come: step.fed says in which runs. A memory
 *      is such a station behind its link, if all data of the run go one way.
 *   2. Rows wait in lists. Each channel has a list of its rows in order of (issue, id), and what is
 *      in it has no event. When the channel becomes free at D, the first sets out at D if it was
 *      issued before. If it is issued at D or later, it sets out then, and that is known at once.
 *      Its issue would be of class 3, behind all arrivals of its instant; so if its way begins
 *      without any delay, that issue is an event all the same.
 *   3. Ahead of time. Where channels have one server and nothing waits for an end, an end need not
 *      be an event: when a service begins its end is known, and the next row of that channel sets
 *      out then and there. With several servers it is not known which of them ends first.
 *      An engine of an m_cpu that is one server is held until such an end, too. What comes to it
 *      begins at the later of its arrival and the end before, so neither need be an event: it is
 *      passed with the link into it, and over ideal links, where all come to it as they are issued,
 *      rows of hosts wait in its list.
 *
 * A kernel's stages inside its PE come to ports and engines, which are such stations, too. Its
 * transactions come to their channels one by one: they have neither lists nor ends ahead of time.
 *
 * With routers no step of this file leads from a channel to a memory: network/network_router.h
 * does, and its ports decide between events of rows. Nothing of a row is ahead of time there.
 *
 * Transactions that wait for others have neither lists nor ends ahead of time; runs with a
 * fingerprint, a bound of events or of time (IN_COUNTED) leave out nothing: each issue, arrival and
 * end is an event. It is the same code.
 *
 * Example: the tests' cube8 with fifo links and hold: own. c0.pe1 has two reads of c0.slice1, of
 * 4096 bytes, at 0; the way is 2.085 ns, slice and way take 16 ns. Both are in the list of the read
 * channel. The first sets out before the first event; the link behind the channel is fed by that
 * alone, so it is taken at once, and an arrival posted at the next link, which others come to, too.
 * There it takes that link, and with it the slice, to which only that link leads. Its service
 * begins at 2.085, so it ends at 18.085 and the channel is free then. So in the same event, at
 * about 2 ns, the second read sets out at 18.085, takes its first link, and posts its arrival. Two
 * transactions, two events: tests/unit/engine/test_inorder.c.
 *
 * Invariants
 *   - What comes to a station by an event comes in order of (time, class, id, slot); what comes to
 *     one without an event has all come over the station before it, in its order.
 *   - The row of a list that has an event is not in the list any more (calendar.h needs txn.next).
 *   - Each transaction has at most one event, which lies in its row.
 *   - Time only grows; after() stops at EV_PAST, where the run ends, so no sum wraps. An end there
 *     is an event, even ahead of time.
 */
#ifndef INORDER_STEPS_H
#define INORDER_STEPS_H
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
    if (__builtin_expect(s->dependencies != NULL, false))
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
    post(s, done, EV_DONE, slot);
}

/* -- the way -------------------------------------------------------------------------------- */

static __attribute__((noinline)) struct link_station *
far_link(struct kb_sim *s, const struct step *step, uint32_t cube, const struct txn *x)
{
    return &s->links[program_far_link(&s->inorder->program, T, x, step, cube) ^ !txn_writes(x)];
}

/*
 * Begins to bring the link to which it comes into the cache. A machine of a thousand cubes has more
 * links than the cache has room for, but those to which requests are under way fit.
 */
static ALWAYS_INLINE void fetch_link(const struct kb_sim *s, const struct txn *x,
                                     const struct step *step, uint32_t cube)
{
    const struct program *p = &s->inorder->program;
    size_t first = cube * (size_t)p->stations;

    if (p->many && step->kind == STEP_LINK)
        __builtin_prefetch(&s->links[(first + (size_t)(ptrdiff_t)step->station) ^ !txn_writes(x)]);
}

/*
 * It comes to its memory at `t`: does the memory expect it, without an event? Those of kernels come
 * to many slices, each to one that has no wake: there an event costs less.
 */
static ALWAYS_INLINE bool is_expected(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    if (!(how & IN_CHOOSES) || how & (IN_COUNTED | IN_KERNELS) ||
        !server_expects(s, t, split_drain(s, slot, x->drain_fs), slot))
        return false;
    x->stage = TXN_TO_MEMORY;
    return true;
}

/* It comes to the station of `step` at `t`, by an event. */
static ALWAYS_INLINE void go_to(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                const struct step *step, uint32_t cube)
{
    if (step->kind == STEP_MEMORY && is_expected(s, how, t, slot))
        return;
    s->txns[slot].step.row = (uint32_t)(step - s->inorder->program.steps);
    s->txns[slot].step.cube = cube;
    s->txns[slot].stage = stage_to(step);
    put_off_arrival(s, t, slot);
    fetch_link(s, &s->txns[slot], step, cube);
}

/* It comes to the station of `step` at `t`: by an event, or, if that is no stop, it goes on. */
static ALWAYS_INLINE struct goer come_to_step(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                              const struct step *step, uint32_t cube)
{
    if (step->fed & fed_of(s, how))
        return (struct goer){slot, cube, t, step};
    go_to(s, how, t, slot, step, cube);
    return none;
}

static struct goer come_to_engine(struct kb_sim *s, int how, uint64_t t, uint32_t slot);

/* Its head comes to a link: it takes it, and those behind it that are no stops. */
static ALWAYS_INLINE struct goer go(struct kb_sim *s, int how, struct goer goer)
{
    const uint32_t slot = goer.slot;
    const struct step *step = goer.step;
    uint32_t cube = goer.cube;
    uint64_t t = goer.t;
    struct program *const p = &s->inorder->program;
    struct txn *const x = &s->txns[slot];
    struct drains *const drains = program_drains(p, x->nbytes);
    struct link_station *links = &s->links[(size_t)cube * p->stations]; /* of the cube */
    const ptrdiff_t reads = !txn_writes(x);
    const unsigned fed = fed_of(s, how);
    int64_t drain = x->drain_fs;

    for (;;) {
        int64_t taken = __builtin_expect(step->kind == STEP_TCM_LINK, false)
                            ? drain_fs(x->nbytes, service_for(s, how, x)->last_gbs)
                            : program_taken_fs(p, drains, step);
        struct link_station *link = step->kind != STEP_FAR_LINK ? &links[step->station ^ reads]
                                                                : far_link(s, step, cube, x);

        uint64_t enter = !(how & IN_LISTED) && __builtin_expect(s->branches != NULL, false)
                             ? take_turn_in_tree(s, link, taken, t, slot)
                             : take_turn(s, link, taken, t);

        if (how & IN_WATCHED)
            observe_visit(s, STATION_LINK, (size_t)(link - s->links), slot, t, enter);
        t = enter;
        drain = taken > drain ? taken : drain;
        t += (uint64_t)step->lead_fs;
        if (step->exit == STEP_STAYS) {
            step++;
        } else {
            step = program_leave(p, T, x, step, &cube, &t);
            links = &s->links[(size_t)cube * p->stations];
        }
        if (!(step->fed & fed))
            break;
        if (step->kind == STEP_MEMORY)
            return serve(s, how, t < EV_PAST ? t : EV_PAST, slot, drain);
        if (step->kind == STEP_ENGINE) {
            x->drain_fs = drain;
            x->step = (struct step_at){(uint32_t)(step - p->steps), cube};
            return come_to_engine(s, how, t < EV_PAST ? t : EV_PAST, slot);
        }
    }
    x->drain_fs = drain;
    go_to(s, how, t, slot, step, cube);
    return none;
}

/* Its head comes to a node that is a component, which says when it goes on. */
static __attribute__((noinline)) struct goer come_to_node(struct kb_sim *s, int how, uint64_t t,
                                                          uint32_t slot)
{
    const struct program *p = &s->inorder->program;
    struct txn *x = &s->txns[slot];
    const struct step *step = &p->steps[x->step.row];
    uint32_t cube = x->step.cube;
    int64_t delay_fs;

    if (x->piped)
        leave_pipe_of(s, x);
    delay_fs = ask_node(s, t, slot, &T->hops[step->station], cube);
    if (delay_fs == NODE_NEVER)
        return none;
    if (how & IN_WATCHED)
        observe_visit(s, STATION_NODE, (size_t)step->station, slot, t, after(t, delay_fs));
    t = after(t, delay_fs);
    step = program_on(p, T, x, step, &cube, &t);
    return come_to_step(s, how, t, slot, step, cube);
}

/*
 * Links ideal: a kernel's mostly goes the way of the one before. Where no way to its memory is
 * shorter, no node is asked, and nothing is coming there, nothing can come before it: it takes its
 * turn at once.
 */
static ALWAYS_INLINE void go_ideal_of_kernel(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct known_cost *cost = kernels_known_cost(s, slot);
    const struct trip trip = txn_trip(T, x);
    struct link_station *memory = memory_for(s, how, slot);
    uint64_t arrive;
    int64_t drain;

    if (cost->nbytes != x->nbytes || cost->dst != x->dst ||
        (!T->regular && cost->course != x->course))
        *cost = cost_known(T, &s->mask, &trip, txn_writes(x), x->nbytes);
    drain = cost->hold_fs - service_for(s, how, x)->done_fs;
    x->drain_fs = drain;
    if (!s->inorder->program.whole) {
        uint32_t cube;
        const struct step *step = program_enter(&s->inorder->program, T, x, &cube, &t);

        go_to(s, how, t, slot, step, cube);
        return;
    }
    arrive = after(t, cost->way_fs);
    if (how & IN_CALLED && !memory->coming && !(how & IN_CHOOSES && txn_queues(s, x)) &&
        cost->way_fs <= kernels_least_way_fs(s, dst_unit(T, x->dst))) {
        serve(s, how, arrive, slot, drain);
        return;
    }
    memory->coming++;
    x->stage = TXN_TO_MEMORY;
    post(s, arrive, EV_ARRIVE, slot);
}

/* A PE's leaves its channel at `t`. */
static ALWAYS_INLINE struct goer leave_pe(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (how & IN_ROUTED) {
        router_set_out(s, t, slot);
        return none;
    }
    if (how & IN_KERNELS && s->inorder->program.ideal) {
        go_ideal_of_kernel(s, how, t, slot);
        return none;
    }
    uint32_t cube;
    const struct step *step = program_begin(&s->inorder->program, T, &s->txns[slot], &cube, &t);

    if (!(how & IN_COUNTED) && step->fed & s->fed_first)
        return (struct goer){slot, cube, t, step};
    go_to(s, how, t, slot, step, cube);
    return none;
}

/* What an L2 makes sets out at `t`. */
static __attribute__((noinline)) void leave_l2(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint32_t cube;
    const struct step *step = program_begin(&s->inorder->program, T, &s->txns[slot], &cube, &t);

    child_begins(s, slot);
    if (how & IN_KERNELS && s->inorder->program.whole)
        memory_for(s, how, slot)->coming++;
    s->txns[slot].step.row = (uint32_t)(step - s->inorder->program.steps);
    s->txns[slot].step.cube = cube;
    s->txns[slot].stage = stage_to(step);
    put_off_arrival(s, t, slot);
}

/* It goes on at once, and nothing follows. */
static ALWAYS_INLINE void go_through(struct kb_sim *s, int how, struct goer goer)
{
    if (goer.slot != TXN_NONE)
        go(s, how, goer);
}

/* All parts of a transaction that has its channel since `granted`, and sets out at `t`. */
static void leave_in_parts(struct kb_sim *s, int how, uint64_t granted, uint64_t t, uint32_t whole);

static ALWAYS_INLINE bool has_parts(const struct kb_sim *s, uint32_t slot)
{
    return __builtin_expect(s->splits && s->splits[slot].next != TXN_NONE, false);
}

/* The parts of a packet leave their PE at `t`, the first of which is in `slot`. */
static void leave_packet(struct kb_sim *s, int how, uint64_t t, uint32_t slot);

/* What was put off until now, `t`, leaves its PE: a transaction, or a packet of one. */
static ALWAYS_INLINE void leave_later(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (is_made(s, how, slot))
        leave_l2(s, how, t, slot);
    else if (whole_of(s, slot) != slot)
        leave_packet(s, how, t, slot);
    else
        go_through(s, how, leave_pe(s, how, t, slot)); /* its end is an event */
}

/* It has its channel, or its transaction has, but its PE does not issue it before `t`. */
static __attribute__((noinline)) struct goer put_off_start(struct kb_sim *s, uint64_t t,
                                                           uint32_t slot)
{
    s->txns[slot].stage = TXN_SETS_OUT;
    post(s, t, EV_HOP, slot);
    return none;
}

/* It has a server of its channel from `t` on. Traffic then draws the PE's next transaction. */
static ALWAYS_INLINE struct goer set_out(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct station *channel = channel_of(s, x);
    const uint64_t granted = t;

    t = take_pace(s, x, t);

    channel->idle--;
    channel->holder = slot;
    channel->busy_fs -= t;
    x->wait_fs = (int64_t)t - x->issue_fs;
    if (counts_now(how) && x->wait_fs)
        wait_add(&channel->wait_fs, (uint64_t)x->wait_fs);
    kernels_begin_service(s, t, slot);
    if (how & IN_WATCHED)
        observe_channel(s, (size_t)(channel - s->channels), slot, (uint64_t)x->issue_fs, granted,
                        t);
    if (__builtin_expect(s->traffic != NULL, false))
        traffic_next(s, granted, x->src, pe_number(T, x->src), txn_writes(x));
    if (has_parts(s, slot))
        leave_in_parts(s, how, granted, t, slot);
    else if (__builtin_expect(t != granted, false))
        return put_off_start(s, t, slot);
    else if (how & IN_AHEAD)
        return leave_pe(s, how, t, slot);
    else
        go_through(s, how, leave_pe(s, how, t, slot)); /* its end is an event */
    return how & IN_LISTED && channel->idle ? next_listed(s, channel, t) : none;
}

/* -- hosts ---------------------------------------------------------------------------------- */

/* It waits for an engine that keeps order, from the time of its arrival until `t`. */
static ALWAYS_INLINE void wait_for_engine(struct kb_sim *s, struct station *engine, uint64_t t,
                                          const struct txn *x)
{
    struct link_station *turns = &s->turns[engine - s->engines];

    if (!link_wait(turns, (uint64_t)x->wait_fs, t))
        fail(s, KB_NO_MEMORY);
    engine->queue_max = turns->queue_max;
}

/*
 * It has an engine that is free from `t` on, as soon as it is there, and goes on. wait_fs, the time
 * of its arrival, becomes its wait.
 */
static ALWAYS_INLINE struct goer take_engine(struct kb_sim *s, int how, struct station *engine,
                                             uint64_t t, uint32_t slot)
{
    struct program *p = &s->inorder->program;
    struct txn *x = &s->txns[slot];
    uint64_t came = (uint64_t)x->wait_fs;

    if (t < came)
        t = came;
    else if (STATS && engines_in_order(s, how) && t > came)
        wait_for_engine(s, engine, t, x);
    engine->idle--;
    engine->holder = slot;
    engine->busy_fs -= t;
    if (how & IN_WATCHED)
        observe_visit(s, STATION_ENGINE, (size_t)(engine - s->engines), slot, came, t);
    x->wait_fs = (int64_t)(t - came);
    if (how & IN_ROUTED) {
        router_go_on(s, t, slot);
        return none;
    }
    uint32_t cube = x->step.cube;
    const struct step *step = program_behind_engine(p, T, x, &cube, &t);

    return come_to_step(s, how, t, slot, step, cube);
}

/* It comes to its engine at `t`, behind all that come there before it. */
static __attribute__((noinline)) struct goer come_to_engine(struct kb_sim *s, int how, uint64_t t,
                                                            uint32_t slot)
{
    struct station *engine = engine_of(s, &s->txns[slot]);
    bool in_order = engines_in_order(s, how);

    s->txns[slot].wait_fs = (int64_t)t;
    if (engine->idle)
        return take_engine(s, how, engine,
                           in_order ? (uint64_t)s->turns[engine - s->engines].free_fs : t, slot);
    if (in_order)
        txn_append(&engine->queue, s->txns, slot);
    else
        station_enqueue(engine, s->txns, slot);
    return none;
}

/* The first that waits for `engine`, which is free from `t` on. */
static ALWAYS_INLINE struct goer next_of_engine(struct kb_sim *s, int how, struct station *engine,
                                                uint64_t t)
{
    if (!station_waited_for(engine))
        return none;
    if (engines_in_order(s, how))
        return take_engine(s, how, engine, t, txn_take(&engine->queue, s->txns));
    return take_engine(s, how, engine, t, station_dequeue(engine, s->txns));
}

/* The service of `x`, a host's, ends at `t`: its engine goes to the first that waits. */
static __attribute__((noinline)) struct goer leave_engine(struct kb_sim *s, int how, uint64_t t,
                                                          const struct txn *x)
{
    struct station *engine = engine_of(s, x);

    engine->busy_fs += t;
    engine->idle++;
    if (engines_in_order(s, how))
        s->turns[engine - s->engines].free_fs = (int64_t)t;
    return next_of_engine(s, how, engine, t);
}

/* And all that follows from it at once. */
static ALWAYS_INLINE void go_all(struct kb_sim *s, int how, struct goer goer)
{
    while (goer.slot != TXN_NONE)
        goer = goer.step ? go(s, how, goer) : set_out(s, how, goer.t, goer.slot);
}

/* -- events --------------------------------------------------------------------------------- */

static void leave_packet(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint32_t whole = s->splits[slot].whole;

    do {
        if (how & IN_WATCHED)
            OBSERVE(s, split, whole, slot);
        go_through(s, how, leave_pe(s, how, t, slot)); /* no end of a part is ahead of time */
        slot = s->splits[slot].next;
    } while (slot != TXN_NONE && !s->splits[slot].begins);
}

static void leave_in_parts(struct kb_sim *s, int how, uint64_t granted, uint64_t t, uint32_t whole)
{
    uint32_t part = s->splits[whole].next, next;

    s->txns[whole].stage = TXN_SPLIT;
    split_take_places(s, t, whole);
    for (; part != TXN_NONE; part = next) {
        next = s->splits[part].next;
        if (!s->splits[part].begins)
            continue;
        if (txn_start_fs(&s->txns[part]) == granted)
            leave_packet(s, how, granted, part);
        else
            put_off_start(s, txn_start_fs(&s->txns[part]), part);
    }
}

/* A PE's row comes to its channel. */
static ALWAYS_INLINE struct goer come_to_channel(struct kb_sim *s, int how, uint64_t t,
                                                 uint32_t slot)
{
    struct station *channel = channel_of(s, &s->txns[slot]);

    if (how & IN_LISTED)
        channel->posted = false;
    if (channel->idle)
        return (struct goer){slot, .t = t};
    station_enqueue(channel, s->txns, slot);
    return none;
}

static ALWAYS_INLINE struct goer issue(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    if (x->piped && how & IN_LISTED) {
        leave_pipe_of(s, x);
    } else if (x->piped) {
        x->piped = false;
        inorder_post_row(s);
    }
    if (txn_of_host(x)) {
        inorder_leave_host(s, t, slot);
        return none;
    }
    seen(s, how, t, EV_ARRIVE, x->id);
    return come_to_channel(s, how, t, slot);
}

static ALWAYS_INLINE struct goer arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    if (!branch_comes_behind(s, slot))
        seen(s, how, t, EV_ARRIVE, record_id(s, slot));
    if (how & IN_KERNELS && kernels_inside_pe(s, slot)) {
        come_inside(s, how, t, slot);
        return none;
    }
    if (how & IN_KERNELS && x->stage == TXN_TO_CHANNEL)
        return come_to_channel(s, how, t, slot);
    if (x->piped)
        leave_pipe_of(s, x);
    if (x->stage == TXN_TO_LINK)
        return (struct goer){slot, x->step.cube, t, &s->inorder->program.steps[x->step.row]};
    if (x->stage == TXN_TO_ENGINE)
        return come_to_engine(s, how, t, slot);
    if (how & IN_ROUTED) {
        come_from_routers(s, how, t, slot);
        return none;
    }
    if (how & IN_KERNELS && s->inorder->program.whole)
        memory_for(s, how, slot)->coming--;
    return serve(s, how, t, slot, x->drain_fs);
}

/* What an L2 made has been served. */
static __attribute__((noinline)) struct goer child_done(struct kb_sim *s, int how, uint64_t t,
                                                        uint32_t slot)
{
    seen(s, how, t, EV_DONE, record_id(s, slot));
    leave_memory(s, how, t, slot);
    child_free(s, slot);
    return none;
}

/* The last byte has been served: the transaction ends, its channel or engine goes to the next. */
static ALWAYS_INLINE struct goer done(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint32_t whole = whole_of(s, slot);
    bool last = is_last_part(s, slot, whole), of_host = txn_of_host(&s->txns[slot]);
    struct station *channel = channel_of(s, &s->txns[whole]);

    seen(s, how, t, EV_DONE, record_id(s, slot));
    leave_memory(s, how, t, slot);
    end(s, how, t, slot);
    if (of_host)
        return leave_engine(s, how, t, &s->txns[slot]);
    return last ? give_back(s, how, channel, t) : none;
}

/* The same of a kernel's: its channel goes to the next before its kernel hears of it. */
static ALWAYS_INLINE void done_for_kernel(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    bool inside = kernels_inside_pe(s, slot);
    uint32_t whole = inside ? slot : whole_of(s, slot);
    bool last = is_last_part(s, slot, whole);
    struct goer next = none;

    seen(s, how, t, EV_DONE, record_id(s, slot));
    if (how & IN_WATCHED)
        OBSERVE_ROW(s, leave, t, slot);
    if (!inside)
        leave_memory(s, how, t, slot);
    if (!inside && last)
        next = give_back(s, how, channel_of(s, &s->txns[whole]), t);
    go_all(s, how, next);
    if (!inside && STATS) {
        sim_count(s, &s->txns[slot]);
        split_count_part(s, slot);
    }
    if (whole == slot)
        kernels_end_service(s, t, slot);
    else
        kernels_end_part(s, t, slot, last);
    if (how & IN_WATCHED)
        OBSERVE(s, left);
}

static ALWAYS_INLINE struct goer handle(struct kb_sim *s, int how, uint32_t slot)
{
    uint64_t t = s->txns[slot].at_fs;

    switch (s->txns[slot].class) {
    case EV_DONE:
        if (is_made(s, how, slot))
            return child_done(s, how, t, slot);
        if (!(how & IN_KERNELS))
            return done(s, how, t, slot);
        done_for_kernel(s, how, t, slot);
        return none;
    case EV_HOP:
        if (s->txns[slot].stage == TXN_TO_NODE)
            return come_to_node(s, how, t, slot);
        if (s->txns[slot].stage == TXN_SETS_OUT) {
            leave_later(s, how, t, slot);
            return none;
        }
        kernels_word_arrived(s, t, slot);
        return none;
    case EV_ISSUE:
        return issue(s, how, t, slot);
    default:
        return arrive(s, how, t, slot);
    }
}

/* -- the loop ------------------------------------------------------------------------------- */

#endif
