/* inorder_way.h -- steps of engine/inorder_steps.h on the way to a memory: a channel lets a
 * transaction set out, which takes links and asks nodes.
 */
#ifndef INORDER_WAY_H
#define INORDER_WAY_H
#include "engine/inorder_memory.h"

/* -- the way -------------------------------------------------------------------------------- */

static __attribute__((noinline)) struct link_station *
far_link(struct kb_sim *s, const struct step *step, uint32_t cube, const struct txn *x)
{
    return &s->links[program_far_link(&s->inorder->program, T, x, step, cube) ^ !txn_writes(x)];
}

/*
 * Begins to bring the link to which it comes into the cache, and those that it passes with it. A
 * machine of a thousand cubes has more links than the cache has room for, but those to which
 * requests are under way fit.
 */
static ALWAYS_INLINE void fetch_links(const struct kb_sim *s, int how, const struct txn *x,
                                      const struct step *step, uint32_t cube)
{
    const struct program *p = &s->inorder->program;
    const unsigned fed = fed_of(s, how);
    uint64_t t = 0;

    while (p->many && step->kind == STEP_LINK) {
        size_t first = cube * (size_t)p->stations;

        __builtin_prefetch(&s->links[(first + (size_t)(ptrdiff_t)step->station) ^ !txn_writes(x)]);
        if (!fed || !p->regular || (step->exit != STEP_STAYS && step->exit >= N_SIDES))
            return;
        step = step->exit == STEP_STAYS ? step + 1 : program_leave(p, T, x, step, &cube, &t);
        if (!(step->fed & fed))
            return;
    }
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
    fetch_links(s, how, &s->txns[slot], step, cube);
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

#endif
