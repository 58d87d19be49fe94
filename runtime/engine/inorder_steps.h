/* inorder_steps.h -- runs transactions over stations that all serve in order of arrival.
 *
 * Steps on the way to a memory are in engine/inorder_way.h, those at the memory, and the end of a
 * transaction, in engine/inorder_memory.h; this file has hosts, and what follows from each event.
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
#include "engine/inorder_way.h"

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
    /* Stages inside a PE come as to a memory; others need not look at their commands. */
    if (how & IN_KERNELS && x->stage == TXN_TO_MEMORY && kernels_inside_pe(s, slot)) {
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
    uint32_t empty = inside ? kernels_next_empty(s, t, slot) : TXN_NONE;
    struct goer next = none;

    seen(s, how, t, EV_DONE, record_id(s, slot));
    if (__builtin_expect(empty != TXN_NONE, false))
        post(s, t, EV_DONE, empty);
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

#endif
