/* inorder.c -- runs transactions over stations that all serve in order of arrival.
 *
 * A station is the time at which it is free. What comes to it at t begins at the later of t and
 * that time; the model says how long it is taken, and nothing else needs to be known. It has no
 * queue: arrivals are events, and events come in order of time. So there is nothing to reserve, and
 * nothing to undo. Links and memories are such stations (struct link_station), and a transaction
 * has one event for each, an arrival:
 *
 *     issue    a PE's row comes to its channel. It takes it, or waits           set_out()
 *     arrive   at a link: takes it, goes on to the next station                 go()
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
 *      out then and there.
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
#include "engine/dependencies.h"
#include "engine/engine.h"
#include "engine/inorder_lists.h"
#include "engine/traffic_end.h"
#include "network/component_memory.h"

enum {
    IN_COUNTED = HOW_COUNTED, /* every issue, arrival and end is an event, and is counted */
    IN_LISTED = 32,           /* rows wait in the lists of their channels */
    IN_AHEAD = 64,            /* an end is no event */
    IN_WATCHED = 128,         /* an observer hears of each visit, and of each end */
};

/* What has a channel now, and since when, which may be still to come; slot TXN_NONE: nothing. */
struct goer {
    uint32_t slot;
    uint64_t t;
};

static const struct goer none = {.slot = TXN_NONE};

static ALWAYS_INLINE void will_arrive(struct kb_sim *s, uint64_t t, uint32_t slot,
                                      enum txn_stage stage)
{
    s->txns[slot].stage = stage;
    put_off(s, t, EV_ARRIVE, slot);
}

/* Which steps are no stops: bits of step.fed. */
static ALWAYS_INLINE unsigned fed_of(const struct kb_sim *s, int how)
{
    return how & IN_COUNTED ? 0 : s->fed;
}

/* -- the end -------------------------------------------------------------------------------- */

static __attribute__((noinline)) void end_for_others(struct kb_sim *s, uint32_t id, uint64_t t)
{
    kb_status status = dependencies_ended(s, id, (int64_t)t);

    if (status != KB_OK)
        fail(s, status);
}

/* When it ends whose data are there at `t`: a host's, when the response is back. */
static ALWAYS_INLINE uint64_t end_of(const struct kb_sim *s, const struct txn *x, uint64_t t)
{
    if (!txn_of_host(x))
        return t;
    const struct trip trip = txn_trip(T, x);

    return after(t, cost_response_fs(T, &s->mask, &trip, cost_of_host(T, &trip).wire_fs));
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
        observe_visited(s, end, slot);
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
        return (struct goer){txn_take(&channel->queue, s->txns), t};
    if (s->inorder->delays)
        return (struct goer){txn_take(&channel->queue, s->txns), issue_fs};
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
    return (struct goer){station_dequeue(channel, s->txns), t};
}

/* -- the memory ----------------------------------------------------------------------------- */

/* Its end is known now, and need not be an event. */
static ALWAYS_INLINE bool ends_ahead(const struct kb_sim *s, int how, uint32_t slot, uint64_t done)
{
    return how & IN_AHEAD && !txn_of_host(&s->txns[slot]) && whole_of(s, slot) == slot &&
           done < EV_PAST;
}

/*
 * Its service, of which `drain` is for its bytes, ends at `done`: the next of its channel follows,
 * if that need be no event.
 */
static ALWAYS_INLINE struct goer served(struct kb_sim *s, int how, uint64_t done, uint32_t slot,
                                        int64_t drain)
{
    struct station *channel = channel_of(s, &s->txns[slot]);

    if (how & IN_WATCHED)
        observe_served(s, done, slot, drain);
    if (!ends_ahead(s, how, slot, done)) {
        put_off(s, done, EV_DONE, slot);
        return none;
    }
    end(s, how, done, slot);
    return give_back(s, how, channel, done);
}

/* The memory is a component, which says when it is done; hold_fs is what it is told of the way. */
static __attribute__((noinline)) uint64_t ask_component(struct kb_sim *s, int64_t hold_fs,
                                                        uint64_t t, uint32_t slot)
{
    s->txns[slot].hold_fs = hold_fs;
    return serve_by_component(s, 0, t, slot);
}

/* Its head is at the memory at `t`, after all that come before it; its way drains for `drain`. */
static ALWAYS_INLINE struct goer serve(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                       int64_t drain)
{
    struct txn *x = &s->txns[slot];
    struct program *p = &s->inorder->program;
    const struct service *service = program_service(p, T, x->dst);
    int64_t own = drain;
    uint64_t start;

    x->arrive_fs = (int64_t)t;
    x->stage = TXN_SERVED;
    if (__builtin_expect(service->by_component, false)) {
        uint64_t done = ask_component(s, service->done_fs + drain, t, slot);

        return done == COMPONENT_NEVER ? none : served(s, how, done, slot, drain);
    }
    if (service->own_gbs > 0)
        own = program_drain_fs(program_drains(p, x->nbytes), service->own_gbs, service->own_rate);
    start = take_turn(s, &s->early[x->dst], service->taken_fs + own, t);
    x->service_fs = (int64_t)start;
    return served(s, how, after(start, service->done_fs + drain), slot, drain);
}

/* -- the way -------------------------------------------------------------------------------- */

static __attribute__((noinline)) struct link_station *
far_link(struct kb_sim *s, const struct step *step, uint32_t cube, const struct txn *x)
{
    const struct leg_row *leg = &T->legs[step->station];
    struct walk_edge edge = {leg->owner, leg->back, leg->link};
    const struct trip trip = txn_trip(T, x);

    return &s->links[walk_link(T, edge, cube, &trip) ^ !txn_writes(x)];
}

/* It comes to the station of `step` at `t`, by an event. */
static ALWAYS_INLINE void go_to(struct kb_sim *s, uint64_t t, uint32_t slot,
                                const struct step *step, uint32_t cube)
{
    s->txns[slot].step = (struct step_at){(uint32_t)(step - s->inorder->program.steps), cube};
    will_arrive(s, t, slot,
                step->kind == STEP_MEMORY   ? TXN_TO_MEMORY
                : step->kind == STEP_ENGINE ? TXN_TO_ENGINE
                                            : TXN_TO_LINK);
}

/* Its head comes to the link of `step` at `t`: it takes it, and those behind it that are no stops.
 */
static ALWAYS_INLINE struct goer go(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                    const struct step *step, uint32_t cube)
{
    struct program *const p = &s->inorder->program;
    struct txn *const x = &s->txns[slot];
    struct drains *const drains = program_drains(p, x->nbytes);
    struct link_station *const links = s->links;
    const size_t reads = !txn_writes(x), stations = p->stations;
    const unsigned fed = fed_of(s, how);
    int64_t drain = x->drain_fs;

    for (;;) {
        int64_t taken = program_drain_fs(drains, step->gbs, step->rate);
        struct link_station *link =
            step->kind == STEP_LINK
                ? &links[(cube * stations + (size_t)(ptrdiff_t)step->station) ^ reads]
                : far_link(s, step, cube, x);

        uint64_t enter = take_turn(s, link, taken, t);

        if (how & IN_WATCHED)
            observe_visit(s, STATION_LINK, (size_t)(link - links), slot, t, enter);
        t = enter;
        drain = taken > drain ? taken : drain;
        step = program_on(p, T, x, step, &cube, &t);
        if (!(step->fed & fed))
            break;
        if (step->kind == STEP_MEMORY)
            return serve(s, how, t < EV_PAST ? t : EV_PAST, slot, drain);
    }
    x->drain_fs = drain;
    go_to(s, t, slot, step, cube);
    return none;
}

/* Links ideal: the whole way to the memory is one sum: `way`, from `t` on. */
static ALWAYS_INLINE void go_ideal(struct kb_sim *s, uint64_t t, uint32_t slot,
                                   const struct cost_row *way, double link_gbs)
{
    struct txn *x = &s->txns[slot];
    const struct service *service = program_service(&s->inorder->program, T, x->dst);
    double gbs = link_gbs + s->mask.link_gbs;

    x->drain_fs = drain_fs(x->nbytes, gbs < service->last_gbs ? gbs : service->last_gbs);
    will_arrive(s, after(t, cost_way_fs(&s->mask, way->wire_fs, way->overhead_fs)), slot,
                TXN_TO_MEMORY);
}

/* The same of a host's, which has its engine. */
static inline void go_ideal_host(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct trip trip = txn_trip(T, &s->txns[slot]);
    struct cost_row way = cost_engine_to_memory(T, &trip);

    go_ideal(s, t, slot, &way, cost_of_host(T, &trip).link_gbs);
}

/* A PE's leaves its channel at `t`. */
static ALWAYS_INLINE struct goer leave_pe(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    const struct program *p = &s->inorder->program;
    struct txn *x = &s->txns[slot];

    if (T->links == MODE_IDEAL) {
        struct cost_row way = program_way(p, T, x);

        go_ideal(s, t, slot, &way, way.link_gbs);
        return none;
    }
    uint32_t cube;
    struct step_entry entry = program_begin(p, T, x, &cube);
    const struct step *step = &p->steps[entry.row];

    t += (uint64_t)entry.lead_fs;
    x->drain_fs = 0;
    if (!(how & IN_COUNTED) && step->fed & s->fed_first)
        return go(s, how, t, slot, step, cube);
    go_to(s, t, slot, step, cube);
    return none;
}

/* All parts of a transaction set out, in order of addresses. */
static void leave_in_parts(struct kb_sim *s, int how, uint64_t t, uint32_t whole);

/* It has a server of its channel from `t` on. Traffic then draws the PE's next transaction. */
static ALWAYS_INLINE struct goer set_out(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct station *channel = channel_of(s, x);

    channel->idle--;
    channel->holder = slot;
    channel->busy_fs -= t;
    x->wait_fs = (int64_t)t - x->issue_fs;
    if (how & IN_WATCHED)
        observe_visit(s, STATION_CHANNEL, (size_t)(channel - s->channels), slot,
                      (uint64_t)x->issue_fs, t);
    if (__builtin_expect(s->traffic != NULL, false))
        traffic_next(s, t, x->src, pe_number(T, x->src), txn_writes(x));
    if (__builtin_expect(s->splits && s->splits[slot].next != TXN_NONE, false))
        leave_in_parts(s, how, t, slot);
    else if (how & IN_AHEAD)
        return leave_pe(s, how, t, slot);
    else
        leave_pe(s, how, t, slot); /* its end is an event: nothing follows */
    return how & IN_LISTED && channel->idle ? next_listed(s, channel, t) : none;
}

/* -- hosts ---------------------------------------------------------------------------------- */

/* It has an engine from `t` on, and goes on. wait_fs, the time of its arrival, becomes its wait. */
static ALWAYS_INLINE struct goer take_engine(struct kb_sim *s, int how, struct station *engine,
                                             uint64_t t, uint32_t slot)
{
    const struct program *p = &s->inorder->program;
    struct txn *x = &s->txns[slot];

    engine->idle--;
    engine->holder = slot;
    engine->busy_fs -= t;
    if (how & IN_WATCHED)
        observe_visit(s, STATION_ENGINE, (size_t)(engine - s->engines), slot, (uint64_t)x->wait_fs,
                      t);
    x->wait_fs = (int64_t)t - x->wait_fs;
    if (T->links == MODE_IDEAL) {
        go_ideal_host(s, t, slot);
        return none;
    }
    uint32_t cube = x->step.cube;
    const struct step *step = program_on(p, T, x, &p->steps[x->step.row], &cube, &t);

    if (step->fed & fed_of(s, how))
        return go(s, how, t, slot, step, cube);
    go_to(s, t, slot, step, cube);
    return none;
}

static ALWAYS_INLINE struct goer come_to_engine(struct kb_sim *s, int how, uint64_t t,
                                                uint32_t slot)
{
    struct station *engine = engine_of(s, &s->txns[slot]);

    s->txns[slot].wait_fs = (int64_t)t;
    if (engine->idle)
        return take_engine(s, how, engine, t, slot);
    station_enqueue(engine, s->txns, slot);
    return none;
}

/* Its service has ended at `t`: the engine goes to the first that waits. */
static ALWAYS_INLINE struct goer leave_engine(struct kb_sim *s, int how, uint64_t t,
                                              struct station *engine)
{
    engine->busy_fs += t;
    engine->idle++;
    if (!station_waited_for(engine))
        return none;
    return take_engine(s, how, engine, t, station_dequeue(engine, s->txns));
}

/* -- events --------------------------------------------------------------------------------- */

static void leave_in_parts(struct kb_sim *s, int how, uint64_t t, uint32_t whole)
{
    s->txns[whole].stage = TXN_SPLIT;
    for (uint32_t part = s->splits[whole].next; part != TXN_NONE; part = s->splits[part].next) {
        s->txns[part].issue_fs = s->txns[whole].issue_fs;
        s->txns[part].wait_fs = s->txns[whole].wait_fs;
        leave_pe(s, how, t, part); /* no end of a part is ahead of time: nothing follows */
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
        return (struct goer){slot, t};
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

    seen(s, how, t, EV_ARRIVE, record_id(s, slot));
    if (x->piped)
        leave_pipe_of(s, x);
    if (x->stage == TXN_TO_LINK)
        return go(s, how, t, slot, &s->inorder->program.steps[x->step.row], x->step.cube);
    if (x->stage == TXN_TO_ENGINE)
        return come_to_engine(s, how, t, slot);
    return serve(s, how, t, slot, x->drain_fs);
}

/* The last byte has been served: the transaction ends, its channel or engine goes to the next. */
static ALWAYS_INLINE struct goer done(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint32_t whole = whole_of(s, slot);
    bool last = is_last_part(s, slot, whole), of_host = txn_of_host(&s->txns[slot]);
    struct station *engine = engine_of(s, &s->txns[slot]);
    struct station *channel = channel_of(s, &s->txns[whole]);

    seen(s, how, t, EV_DONE, record_id(s, slot));
    end(s, how, t, slot);
    if (of_host)
        return leave_engine(s, how, t, engine);
    return last ? give_back(s, how, channel, t) : none;
}

static ALWAYS_INLINE struct goer handle(struct kb_sim *s, int how, uint32_t slot)
{
    uint64_t t = s->txns[slot].at_fs;

    switch (s->txns[slot].class) {
    case EV_DONE:
        return done(s, how, t, slot);
    case EV_ISSUE:
        return issue(s, how, t, slot);
    default:
        return arrive(s, how, t, slot);
    }
}

/* -- the loop ------------------------------------------------------------------------------- */

/* The next event, if there is one, lies behind the last that may run. */
static kb_status stop(struct kb_sim *s, uint32_t slot)
{
    if (s->inorder->calendar.no_memory)
        fail(s, KB_NO_MEMORY);
    if (s->status != KB_OK)
        return s->status;
    s->now_fs = s->stop_fs - 1;
    if (slot == TXN_NONE)
        return KB_OK;
    return s->txns[slot].at_fs == EV_PAST ? KB_TIME_RANGE : KB_STOPPED;
}

/* The run begins: the first rows of a list set out. */
static ALWAYS_INLINE void begin_list(struct kb_sim *s, int how, struct station *channel)
{
    struct goer goer = next_listed(s, channel, 0);

    while (goer.slot != TXN_NONE)
        goer = set_out(s, how, goer.t, goer.slot);
}

/* All lists: by channels, or by rows where these are fewer, as in points of a sweep. */
static ALWAYS_INLINE void begin_lists(struct kb_sim *s, int how)
{
    size_t n_channels = (size_t)2 * sim_cubes(T) << T->pe_bits;
    bool by_rows = !s->traffic && s->n_txns < n_channels;

    s->inorder->fresh = false;
    for (size_t i = 0; !by_rows && i < n_channels; i++)
        begin_list(s, how, &s->channels[i]);
    for (uint32_t slot = 0; by_rows && slot < s->n_txns; slot++) {
        struct station *channel = channel_of(s, &s->txns[slot]);

        if (channel->queue.head == slot && channel->idle)
            begin_list(s, how, channel);
    }
}

static ALWAYS_INLINE kb_status run_as(struct kb_sim *s, int how, uint64_t budget)
{
    uint64_t t = 0;

    if (how & IN_LISTED && s->inorder->fresh)
        begin_lists(s, how);
    for (; budget > 0; budget--) {
        uint32_t slot = calendar_take(&s->inorder->calendar, s->txns);
        struct goer goer;

        if (slot == TXN_NONE || s->txns[slot].at_fs >= s->stop_fs)
            return stop(s, slot);
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        t = s->txns[slot].at_fs;
        for (goer = handle(s, how, slot); goer.slot != TXN_NONE;)
            goer = set_out(s, how, goer.t, goer.slot);
    }
    s->now_fs = t;
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

/* Four ways to be compiled: what `how` says is a constant in each. */
#define RUN(name, how)                                                                             \
    static __attribute__((noinline)) kb_status name(struct kb_sim *s, uint64_t budget)             \
    {                                                                                              \
        return run_as(s, how, budget);                                                             \
    }
RUN(run_ahead, IN_LISTED | IN_AHEAD)
RUN(run_listed, IN_LISTED)
RUN(run_issued, 0)
RUN(run_counted, IN_COUNTED)

/* The same as one text that asks. */
static __attribute__((noinline)) kb_status run_watched(struct kb_sim *s, int how, uint64_t budget)
{
    return run_as(s, how | IN_WATCHED, budget);
}

kb_status inorder_run(struct kb_sim *s, uint64_t budget)
{
    int how;

    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    how =
        sim_counts(s) ? IN_COUNTED : s->inorder->listed * IN_LISTED | s->inorder->ahead * IN_AHEAD;
    if (s->observer)
        return run_watched(s, how, budget);
    return (how & IN_AHEAD     ? run_ahead
            : how & IN_LISTED  ? run_listed
            : how & IN_COUNTED ? run_counted
                               : run_issued)(s, budget);
}
