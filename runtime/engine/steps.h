/*
 * steps.h -- runs transactions over the routes of one topology.
 *
 * What has to be fast is compiled once per topology, behind its tables, so that all of T is a
 * constant; the rest once for any, in engine_any.c. The same steps serve both engines, which
 * differ in what lies between two stations: `fused` goes from station to station in one event,
 * `hop` takes an event for each node and wire.
 */
#include "engine/engine.h"
#include "engine/dependencies.h"
#include "engine/observer.h"
#include "engine/traffic.h"
#include "machine/walk.h"
#ifndef CALLS_KERNELS /* kernels/engine.c defines these calls itself */
#include "engine/no_kernels.h"
#endif

/* `how` is a constant where it is to be fast: without this, gcc makes it one function that asks. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* How a run is compiled. */
enum how {
    HOW_HOP = 1,
    HOW_COUNTED = 2, /* arrivals and completions are counted and go into the fingerprint */
    HOW_KERNELS = 4, /* transactions come from kernels, and share slots with their stages */
    HOW_CALLED = 8,  /* in an event of class 4: all others of its time have run */
};

/* `delay_fs` after `t`, but never past EV_PAST: sums cannot wrap. */
static inline uint64_t after(uint64_t t, int64_t delay_fs)
{
    uint64_t sum = t + (uint64_t)delay_fs;

    return sum < EV_PAST ? sum : EV_PAST;
}

/* Ends the run: no time is left in which an event might lie. */
static void fail(struct kb_sim *s, kb_status status)
{
    s->status = status;
    s->stop_fs = 0;
}

static ALWAYS_INLINE void post(struct kb_sim *s, uint64_t t, enum ev_class class, uint32_t slot)
{
    if (!ev_push(&s->queue, ev_make(t, class, s->txns[slot].id, slot)))
        fail(s, KB_NO_MEMORY);
}

/* FNV-1a 64 over (int64 time, uint8 class, uint64 id), little endian.              design 1 */
static void fingerprint(struct kb_sim *s, uint64_t t, enum ev_class class, uint64_t id)
{
    uint64_t h = s->fingerprint;

    for (int i = 0; i < 64; i += 8)
        h = (h ^ (t >> i & 255)) * UINT64_C(0x100000001b3);
    h = (h ^ class) * UINT64_C(0x100000001b3);
    for (int i = 0; i < 64; i += 8)
        h = (h ^ (id >> i & 255)) * UINT64_C(0x100000001b3);
    s->fingerprint = h;
}

static ALWAYS_INLINE void seen(struct kb_sim *s, int how, uint64_t t, enum ev_class class,
                               uint32_t id)
{
    if (!(how & HOW_COUNTED))
        return;
    s->n_events++;
    s->now_fs = t;
    if (s->options.fingerprint)
        fingerprint(s, t, class, id);
}

/* Is somebody told what happens? Only those who have time are asked. */
static ALWAYS_INLINE bool is_told(const struct kb_sim *s, int how)
{
    return how & HOW_HOP && s->observer;
}

/* -- where a transaction's stations are ----------------------------------------------------- */

static inline struct station *channel_of(struct kb_sim *s, const struct txn *x)
{
    return &s->channels[2 * (size_t)x->src + txn_writes(x)];
}

static inline struct station *engine_of(struct kb_sim *s, const struct txn *x)
{
    return &s->engines[2 * (size_t)dst_cube(T, x->dst) + txn_writes(x)];
}

static ALWAYS_INLINE struct memory_station *memory_of(struct kb_sim *s, int how, uint32_t slot)
{
    return how & HOW_KERNELS ? kernels_station(s, slot) : &s->memories[s->txns[slot].dst];
}

/* A stage of a PE's own, that takes a port or an engine for a time known beforehand. */
static ALWAYS_INLINE bool inside_pe(struct kb_sim *s, int how, uint32_t slot)
{
    return how & HOW_KERNELS && kernels_inside_pe(s, slot);
}

static inline struct txn_list *pipe_of(struct kb_sim *s, const struct txn *x)
{
    uint32_t cube = dst_cube(T, x->dst);

    return &s->pipes[T->links == MODE_FIFO ? cube / T->cubes : cube];
}

/*
 * Kernels use slots again, so that what a transaction has used is counted when it is known, and
 * traffic at its end. Where every transaction keeps its slot, kb_sim_utilization() does, if it is
 * asked.
 */
static ALWAYS_INLINE bool counts_now(int how)
{
    return STATS && how & HOW_KERNELS;
}

/* -- memories ------------------------------------------------------------------------------- */

/* Events are not counted: those that change nothing are left out. */
static ALWAYS_INLINE bool expects(int how)
{
    return !(how & (HOW_HOP | HOW_COUNTED | HOW_KERNELS));
}

/* From `start` on; before that, if it is expected only. */
static ALWAYS_INLINE void serve(struct kb_sim *s, int how, struct memory_station *memory,
                                uint64_t start, uint32_t slot)
{
    memory->holder = slot;
    memory->start_fs = start;
    if (is_told(s, how))
        observe_take(s, start, slot, WATCH_MEMORY);
    if (inside_pe(s, how, slot))
        kernels_begin_service(s, start, slot);
    post(s, after(start, s->txns[slot].hold_fs), EV_DONE, slot);
}

/* Counts who has arrived before `t`. Who arrives at `t` itself comes after all completions. */
static ALWAYS_INLINE void note_arrivals(struct kb_sim *s, struct memory_station *m, uint64_t t)
{
    uint32_t *link = m->arrived, queued = m->queued;

    for (; *link != TXN_NONE && (uint64_t)s->txns[*link].arrive_fs < t; link = &s->txns[*link].next)
        queued++;
    m->arrived = link;
    m->queued = queued;
}

/*
 * `a`, which is known, before `x`, which is new. Who is issued at that very instant, on a way that
 * takes no time, comes after all who arrive then: its issue is of a later class.
 */
static ALWAYS_INLINE bool arrives_before(const struct txn *a, const struct txn *x)
{
    return (uint64_t)a->arrive_fs < (uint64_t)x->arrive_fs ||
           (a->arrive_fs == x->arrive_fs && (a->id < x->id || x->issue_fs == x->arrive_fs));
}

/* Into its place in the queue: mostly the last, else behind all that are known to have arrived. */
static ALWAYS_INLINE void expect_in_queue(struct kb_sim *s, struct memory_station *m, uint32_t slot)
{
    struct txn *txns = s->txns, *x = &txns[slot];
    uint32_t *link = m->arrived;

    if (m->head != TXN_NONE && arrives_before(&txns[m->tail], x))
        link = &txns[m->tail].next;
    while (*link != TXN_NONE && arrives_before(&txns[*link], x))
        link = &txns[*link].next;
    x->next = *link;
    if (x->next == TXN_NONE)
        m->tail = slot;
    *link = slot;
}

/*
 * It is known when a transaction will arrive, so it needs no event of that: if the memory will be
 * idle its completion is posted at once. Until it arrives another may overtake it; then it goes
 * back to the queue, and its event means nothing any more.
 */
static ALWAYS_INLINE void expect(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct memory_station *m = memory_of(s, 0, slot);
    uint32_t holder = m->holder;

    s->txns[slot].arrive_fs = (int64_t)arrive;
    s->txns[slot].stage = TXN_TO_MEMORY;
    if (holder == TXN_NONE) {
        serve(s, 0, m, arrive, slot);
    } else if (arrives_before(&s->txns[holder], &s->txns[slot])) {
        expect_in_queue(s, m, slot);
    } else {
        s->txns[holder].next = m->head;
        if (m->head == TXN_NONE)
            m->tail = holder;
        m->head = holder;
        serve(s, 0, m, arrive, slot);
    }
}

/* Is this the completion of who holds the memory, and not one from before he was overtaken? */
static ALWAYS_INLINE bool holds_until(const struct memory_station *m, const struct txn *x,
                                      uint64_t t, uint32_t slot)
{
    return m->holder == slot && after(m->start_fs, x->hold_fs) == t;
}

/* Takes the first out of the queue of `m`, and serves it. */
static ALWAYS_INLINE void serve_first(struct kb_sim *s, int how, struct memory_station *m,
                                      uint64_t t)
{
    uint32_t slot = m->head;

    m->head = s->txns[slot].next;
    if (m->head != TXN_NONE)
        txn_prefetch(&s->txns[m->head]);
    serve(s, how, m, t, slot);
}

/* The memory is free at `t`: it serves the next one then, or when he will have arrived. */
static ALWAYS_INLINE void serve_next(struct kb_sim *s, struct memory_station *m, uint64_t t)
{
    uint64_t arrive;

    if (m->head == TXN_NONE)
        return;
    note_arrivals(s, m, t);
    if (STATS && m->queued > m->queue_max)
        m->queue_max = m->queued;
    if (m->queued == 0 || --m->queued == 0)
        m->arrived = &m->head;
    arrive = (uint64_t)s->txns[m->head].arrive_fs;
    serve_first(s, 0, m, arrive > t ? arrive : t);
}

/*
 * Nobody can come to the memory before this transaction, which is issued now: nobody is under way,
 * and no way is shorter. Its arrival changes nothing, and can be left out.
 */
static ALWAYS_INLINE bool comes_first(struct kb_sim *s, int how, int64_t way_fs, uint32_t slot)
{
    const struct memory_station *m = memory_of(s, how, slot);

    return how & HOW_CALLED && !(how & (HOW_HOP | HOW_COUNTED)) && m->holder == TXN_NONE &&
           m->under_way == 0 && way_fs <= kernels_least_way_fs(s, dst_unit(T, s->txns[slot].dst));
}

/* Sends a transaction to its memory, where it comes after `way_fs`. */
static ALWAYS_INLINE void go_to_memory(struct kb_sim *s, int how, uint64_t t, int64_t way_fs,
                                       uint32_t slot)
{
    if (expects(how)) {
        expect(s, after(t, way_fs), slot);
        return;
    }
    if (comes_first(s, how, way_fs, slot)) {
        s->txns[slot].arrive_fs = (int64_t)after(t, way_fs);
        serve(s, how, memory_of(s, how, slot), after(t, way_fs), slot);
        return;
    }
    if (how & HOW_KERNELS)
        memory_of(s, how, slot)->under_way++;
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, after(t, way_fs), EV_ARRIVE, slot);
}

/* -- from one station to the next ----------------------------------------------------------- */

/*
 * A host's transaction sets out: only the first of its pipe has an event. Where transactions wait
 * for others, one may be issued after another of its time with a larger id: each has its event.
 */
static inline void enter_pipe(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct txn_list *pipe = pipe_of(s, &s->txns[slot]);

    if (__builtin_expect(s->dependencies != NULL, 0)) {
        post(s, arrive, EV_ARRIVE, slot);
        return;
    }
    s->txns[slot].arrive_fs = (int64_t)arrive;
    s->txns[slot].piped = true;
    if (pipe->head == TXN_NONE)
        post(s, arrive, EV_ARRIVE, slot);
    txn_append(pipe, s->txns, slot);
}

/* It has arrived: the next in its pipe gets an event. */
static inline void leave_pipe(struct kb_sim *s, struct txn *x)
{
    struct txn_list *pipe = pipe_of(s, x);

    x->piped = false;
    txn_take(pipe, s->txns);
    if (pipe->head != TXN_NONE)
        post(s, (uint64_t)s->txns[pipe->head].arrive_fs, EV_ARRIVE, pipe->head);
}

/* links ideal: from its channel, or the host, to its first station. */
static ALWAYS_INLINE void set_out_ideal(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    const struct memory_row *memory;
    struct cost_row way;

    if (txn_of_host(x)) {
        way = cost_host_to_engine(T, x->dst);
        x->stage = TXN_TO_ENGINE;
        enter_pipe(s, after(t, cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs)), slot);
        return;
    }
    memory = cost_memory(T, x->dst, txn_writes(x));
    way = cost_of_pe(T, x->src, x->dst);
    x->hold_fs = cost_hold_fs(&s->mask, memory, way.link_gbs, x->nbytes);
    go_to_memory(s, how, t, cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs), slot);
}

static ALWAYS_INLINE int64_t hold_fs(const struct kb_sim *s, const struct txn *x)
{
    struct cost_row way = txn_of_host(x) ? cost_of_host(T, x->dst) : cost_of_pe(T, x->src, x->dst);

    return cost_hold_fs(&s->mask, cost_memory(T, x->dst, txn_writes(x)), way.link_gbs, x->nbytes);
}

/* links ideal: from the engine to the memory. */
static inline void leave_engine_ideal(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct cost_row way = cost_engine_to_memory(T, x->dst);

    x->hold_fs = hold_fs(s, x);
    go_to_memory(s, how, t, cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs), slot);
}

/* links fifo: the time from leg `x->at` back to the station before; sets what comes at its end. */
static inline int64_t ride_fs(const struct kb_sim *s, struct txn *x)
{
    int64_t wire_fs = 0, overhead_fs = 0;

    for (;;) {
        const struct segment_row *seg = &T->segments[x->at.segment];

        if (x->at.step < seg->n_legs) {
            const struct leg_row *leg = &T->legs[seg->first_leg + x->at.step];

            x->stage = leg->owner == LINK_NONE ? TXN_TO_ENGINE : TXN_TO_LINK;
            return cost_way_fs(&s->mask, wire_fs + leg->wire_fs, overhead_fs + leg->overhead_fs);
        }
        wire_fs += seg->tail_wire_fs;
        overhead_fs += seg->tail_overhead_fs;
        if (seg->exit == N_EXITS) {
            x->stage = TXN_TO_MEMORY;
            return cost_way_fs(&s->mask, wire_fs, overhead_fs);
        }
        x->at = walk_next(T, x->at, x->dst, txn_of_host(x));
    }
}

static inline void ride(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    int64_t way_fs = ride_fs(s, x);

    if (x->stage != TXN_TO_MEMORY) {
        post(s, after(t, way_fs), EV_ARRIVE, slot);
        return;
    }
    x->hold_fs = hold_fs(s, x);
    go_to_memory(s, how, t, way_fs, slot);
}

static inline void set_out_fifo(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    x->at = walk_begin(T, x->src, x->dst, txn_of_host(x));
    if (txn_of_host(x))
        enter_pipe(s, after(t, ride_fs(s, x)), slot);
    else
        ride(s, how, t, slot);
}

/* hop: comes to the node `x->at`; a memory's overhead is paid there, in its service. */
static inline void come_to_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    const struct hop_row *hop = &T->hops[T->segments[x->at.segment].first_hop + x->at.step];

    if (hop->owner == LINK_NONE) {
        x->stage = TXN_TO_MEMORY;
        post(s, t, EV_ARRIVE, slot);
        return;
    }
    x->stage = TXN_AT_NODE;
    if (s->observer)
        observe_node(s, t, slot);
    post(s, after(t, hop->overhead_fs & s->mask.overhead), EV_HOP, slot);
}

static inline void take_wire(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    const struct hop_row *hop = &T->hops[T->segments[x->at.segment].first_hop + x->at.step];

    x->stage = TXN_ON_WIRE;
    if (s->observer)
        observe_wire(s, t, slot);
    post(s, after(t, hop->wire_fs & s->mask.wire), EV_HOP, slot);
}

static inline void come_to_link(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (T->links != MODE_FIFO) {
        take_wire(s, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_TO_LINK;
    post(s, t, EV_ARRIVE, slot);
}

/* hop: a node's overhead, a NoC's crossing or a wire has passed. */
static inline void hop_on(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    const struct segment_row *seg = &T->segments[x->at.segment];
    const struct hop_row *hop = &T->hops[seg->first_hop + x->at.step];

    if (x->stage == TXN_AT_NODE && hop->cross_fs) {
        x->stage = TXN_CROSSING;
        if (s->observer)
            observe_cross(s, t, slot);
        post(s, after(t, hop->cross_fs & s->mask.wire), EV_HOP, slot);
    } else if (x->stage == TXN_ON_WIRE) {
        if (++x->at.step == seg->n_hops)
            x->at = walk_next(T, x->at, x->dst, txn_of_host(x));
        come_to_node(s, t, slot);
    } else if (hop->chiplet == AT_CUBE && T->cube_nodes[hop->node].kind == NODE_M_CPU) {
        x->stage = TXN_TO_ENGINE;
        post(s, t, EV_ARRIVE, slot);
    } else {
        come_to_link(s, t, slot);
    }
}

static ALWAYS_INLINE void set_out(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    if (how & HOW_HOP) {
        x->at = walk_begin(T, x->src, x->dst, txn_of_host(x));
        come_to_node(s, t, slot);
    } else if (T->links == MODE_FIFO) {
        set_out_fifo(s, how, t, slot);
    } else {
        set_out_ideal(s, how, t, slot);
    }
}

static ALWAYS_INLINE void leave_engine(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (how & HOW_HOP) {
        come_to_link(s, t, slot);
    } else if (T->links == MODE_FIFO) {
        s->txns[slot].at.step++;
        ride(s, how, t, slot);
    } else {
        leave_engine_ideal(s, how, t, slot);
    }
}

/* -- stations ------------------------------------------------------------------------------- */

/* wait_fs, which holds the time of arrival, becomes the wait. */
static ALWAYS_INLINE void take_engine(struct kb_sim *s, int how, struct station *engine, uint64_t t,
                                      uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    engine->holder = slot;
    engine->busy_fs -= t; /* done() adds the time of completion */
    x->wait_fs = (int64_t)t - x->wait_fs;
    if (is_told(s, how))
        observe_take(s, t, slot, WATCH_ENGINE);
    leave_engine(s, how, t, slot);
}

static ALWAYS_INLINE void take_channel(struct kb_sim *s, int how, struct station *channel,
                                       uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    channel->holder = slot;
    channel->busy_fs -= t; /* done() adds the time of completion */
    x->wait_fs = (int64_t)t - x->issue_fs;
    if (counts_now(how) && x->wait_fs)
        channel->wait_fs += x->wait_fs;
    if (is_told(s, how))
        observe_take(s, t, slot, WATCH_CHANNEL);
    if (how & HOW_KERNELS)
        kernels_begin_service(s, t, slot);
    else if (__builtin_expect(s->traffic != NULL, false))
        traffic_next(s, t, x->src);
    set_out(s, how, t, slot);
}

static ALWAYS_INLINE void come_to_channel(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct station *channel = channel_of(s, &s->txns[slot]);

    if (is_told(s, how))
        observe_come(s, t, slot, WATCH_CHANNEL);
    if (channel->idle) {
        channel->idle--;
        take_channel(s, how, channel, t, slot);
    } else {
        station_enqueue(channel, s->txns, slot);
    }
}

static ALWAYS_INLINE void issue(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    if (is_told(s, how) && !observe_issue(s, t, slot))
        return;
    if (txn_of_host(x)) {
        set_out(s, how, t, slot);
        return;
    }
    seen(s, how, t, EV_ARRIVE, x->id);
    come_to_channel(s, how, t, slot);
}

static ALWAYS_INLINE void come_to_engine(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct station *engine = engine_of(s, x);

    x->wait_fs = (int64_t)t;
    if (is_told(s, how))
        observe_come(s, t, slot, WATCH_ENGINE);
    if (engine->idle) {
        engine->idle--;
        take_engine(s, how, engine, t, slot);
    } else {
        station_enqueue(engine, s->txns, slot);
    }
}

/* A link is free again at a known time, so nobody has to be woken: who comes first, enters first.
 */
static inline uint64_t pass_link(struct kb_sim *s, const struct txn *x, uint32_t slot,
                                 struct walk_edge edge, double gbs, uint64_t t)
{
    size_t link = walk_link(T, edge, x->at.cube, x->dst) ^ !txn_writes(x);
    struct link_station *l = &s->links[link];
    uint64_t enter = (uint64_t)l->free_fs > t ? (uint64_t)l->free_fs : t;
    int64_t taken = drain_fs(x->nbytes, gbs);

    l->free_fs = (int64_t)after(enter, taken);
    l->holder = slot;
    l->busy_fs += (uint64_t)taken;
    if (STATS && enter > t && !link_wait(l, t, enter))
        fail(s, KB_NO_MEMORY);
    return enter;
}

/*
 * The edge into a memory is as fast as the memory, of a TCM one way or the other; it counts as
 * link and as memory: whichever is left out, it holds nobody up.
 */
static inline double edge_gbs(const struct kb_sim *s, const struct txn *x, double gbs,
                              bool into_memory)
{
    if (into_memory)
        gbs = cost_memory(T, x->dst, txn_writes(x))->gbs + s->mask.memory_gbs;
    return gbs + s->mask.link_gbs;
}

static ALWAYS_INLINE void come_to_edge(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    const struct segment_row *seg = &T->segments[x->at.segment];

    if (how & HOW_HOP) {
        const struct hop_row *hop = &T->hops[seg->first_hop + x->at.step];
        struct walk_edge edge = {hop->owner, hop->back, hop->link};

        bool last = seg->exit == N_EXITS && x->at.step + 2 == seg->n_hops;
        uint64_t enter;

        if (s->observer)
            observe_come(s, t, slot, WATCH_LINK);
        enter = pass_link(s, x, slot, edge, edge_gbs(s, x, hop->gbs, last), t);
        if (s->observer)
            observe_take(s, enter, slot, WATCH_LINK);
        take_wire(s, enter, slot);
    } else {
        const struct leg_row *leg = &T->legs[seg->first_leg + x->at.step];
        struct walk_edge edge = {leg->owner, leg->back, leg->link};
        bool last = seg->exit == N_EXITS && x->at.step + 1 == seg->n_legs;
        uint64_t enter = pass_link(s, x, slot, edge, edge_gbs(s, x, leg->gbs, last), t);

        x->at.step++;
        ride(s, how, enter, slot);
    }
}

static ALWAYS_INLINE void come_to_memory(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct memory_station *memory = memory_of(s, how, slot);

    x->arrive_fs = (int64_t)t;
    if (is_told(s, how))
        observe_come(s, t, slot, WATCH_MEMORY);
    if (how & HOW_KERNELS && !(how & HOW_HOP) && !kernels_inside_pe(s, slot))
        memory->under_way--;
    if (how & HOW_HOP && !inside_pe(s, how, slot))
        x->hold_fs = hold_fs(s, x);
    if (memory->holder == TXN_NONE) {
        serve(s, how, memory, t, slot);
        return;
    }
    s->txns[slot].next = TXN_NONE;
    *(memory->queued ? &s->txns[memory->tail].next : &memory->head) = slot;
    memory->tail = slot;
    if (++memory->queued > memory->queue_max && STATS)
        memory->queue_max = memory->queued;
}

static ALWAYS_INLINE void arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    seen(s, how, t, EV_ARRIVE, x->id);
    if (!(how & HOW_HOP) && x->piped)
        leave_pipe(s, x);
    switch (x->stage) {
    case TXN_TO_LINK:
        come_to_edge(s, how, t, slot);
        break;
    case TXN_TO_ENGINE:
        come_to_engine(s, how, t, slot);
        break;
    case TXN_TO_CHANNEL:
        come_to_channel(s, how, t, slot);
        break;
    default:
        come_to_memory(s, how, t, slot);
        break;
    }
}

/* -- completion ----------------------------------------------------------------------------- */

/* Seldom asked for, and kept out of the way. */
static __attribute__((noinline)) void end_for_others(struct kb_sim *s, uint32_t id, uint64_t t)
{
    kb_status status = dependencies_ended(s, id, (int64_t)t);

    if (status != KB_OK)
        fail(s, status);
}

static ALWAYS_INLINE void end(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    uint64_t end = t;

    if (txn_of_host(x)) {
        end = after(t, cost_response_fs(T, &s->mask, x->dst, cost_of_host(T, x->dst).wire_fs));
        if (end == EV_PAST) {
            fail(s, KB_TIME_RANGE);
            return;
        }
    }
    x->stage = TXN_DONE;
    if (end >= s->stop_fs)
        return; /* the response comes too late */
    if (is_told(s, how))
        observe_end(s, t, end, slot);
    s->n_done++;
    if ((int64_t)end > s->end_fs)
        s->end_fs = (int64_t)end;
    if (__builtin_expect(s->traffic != NULL, false))
        traffic_done(s, slot, end);
    if (__builtin_expect(s->dependencies != NULL, 0))
        end_for_others(s, x->id, end);
}

/* The memory is free again. */
static ALWAYS_INLINE void leave_memory(struct kb_sim *s, int how, struct memory_station *memory,
                                       uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    x->service_fs = (int64_t)memory->start_fs;
    memory->busy_fs += t - memory->start_fs;
    if (counts_now(how)) {
        memory->count++;
        if ((int64_t)memory->start_fs > x->arrive_fs)
            memory->wait_fs += (int64_t)memory->start_fs - x->arrive_fs;
    }
    memory->holder = TXN_NONE;
    if (expects(how)) {
        serve_next(s, memory, t);
    } else if (memory->queued) {
        memory->queued--;
        serve_first(s, how, memory, t);
    }
}

/* And so is the channel, or the engine of a host's transaction. */
static ALWAYS_INLINE void leave_first(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    struct station *first = txn_of_host(x) ? engine_of(s, x) : channel_of(s, x);

    first->busy_fs += t;
    if (is_told(s, how))
        observe_release(s, t, slot, txn_of_host(x) ? WATCH_ENGINE : WATCH_CHANNEL);
    if (!station_waited_for(first))
        first->idle++;
    else if (txn_of_host(x))
        take_engine(s, how, first, t, station_dequeue(first, s->txns));
    else
        take_channel(s, how, first, t, station_dequeue(first, s->txns));
    if (counts_now(how) && !sim_count(s, x))
        fail(s, KB_NO_MEMORY);
}

static ALWAYS_INLINE void done(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct memory_station *memory = memory_of(s, how, slot);

    if (expects(how) && !holds_until(memory, &s->txns[slot], t, slot))
        return;
    seen(s, how, t, EV_DONE, s->txns[slot].id);
    if (is_told(s, how))
        observe_leave(s, t, slot);
    leave_memory(s, how, memory, t, slot);
    if (!inside_pe(s, how, slot))
        leave_first(s, how, t, slot);
    if (how & HOW_KERNELS) {
        if (is_told(s, how))
            observe_end(s, t, t, slot);
        kernels_end_service(s, t, slot);
    } else {
        end(s, how, t, slot);
    }
    if (is_told(s, how))
        observe_left(s);
}

/* -- the loop ------------------------------------------------------------------------------- */

/* The event of the next transaction to be issued; EV_NONE after the last. */
static inline ev next_issue(const struct kb_sim *s)
{
    uint32_t slot = s->sorted ? s->next_row : s->issues.head;

    if (s->sorted ? slot == s->n_txns : slot == TXN_NONE)
        return EV_NONE;
    return ev_make((uint64_t)s->txns[slot].issue_fs, EV_ISSUE, s->txns[slot].id, slot);
}

static inline void take_issue(struct kb_sim *s)
{
    if (s->sorted)
        s->next_row++;
    else
        txn_take(&s->issues, s->txns);
}

static ALWAYS_INLINE void handle(struct kb_sim *s, int how, ev e)
{
    uint64_t t = ev_time_fs(e);
    uint32_t slot = ev_slot(e);

    switch (ev_class(e)) {
    case EV_DONE:
        done(s, how, t, slot);
        break;
    case EV_HOP:
        if (how & HOW_KERNELS && s->txns[slot].stage == TXN_CREDIT)
            kernels_word_arrived(s, t, slot);
        else if (how & HOW_HOP)
            hop_on(s, t, slot);
        break;
    case EV_ISSUE:
        issue(s, how, t, slot);
        break;
    default:
        arrive(s, how, t, slot);
        break;
    }
}

/* The next event lies behind the last that may run, or there is none. */
static kb_status stop(struct kb_sim *s, ev e)
{
    if (s->status != KB_OK)
        return s->status;
    s->now_fs = s->stop_fs - 1;
    if (e == EV_NONE)
        return KB_OK;
    return ev_time_fs(e) == EV_PAST ? KB_TIME_RANGE : KB_STOPPED;
}

/* The first of what comes from outside the queue: a row is issued, or a kernel goes on. */
static ALWAYS_INLINE ev next_start(const struct kb_sim *s, int how)
{
    return how & HOW_KERNELS ? kernels_next(s) : next_issue(s);
}

static ALWAYS_INLINE void take_start(struct kb_sim *s, int how, ev e)
{
    ev_advance(&s->queue, e);
    if (how & HOW_KERNELS) {
        kernels_take(s, e);
    } else {
        take_issue(s);
        issue(s, how, ev_time_fs(e), ev_slot(e));
    }
}

static ALWAYS_INLINE kb_status run(struct kb_sim *s, int how, uint64_t budget)
{
    ev next = next_start(s, how), e = 0;

    for (; budget > 0; budget--) {
        bool starts = next < s->queue.first;
        e = starts ? next : s->queue.first;

        if (ev_time_fs(e) >= s->stop_fs)
            return stop(s, e);
        if ((how & HOW_COUNTED) && s->options.max_events && s->n_events >= s->options.max_events)
            return s->status != KB_OK ? s->status : KB_STOPPED;
        if (starts) {
            take_start(s, how, e);
            next = next_start(s, how);
        } else {
            ev_take(&s->queue);
            txn_prefetch(&s->txns[ev_slot(s->queue.first)]);
            handle(s, how, e);
            if (how & HOW_KERNELS)
                next = next_start(s, how);
        }
    }
    s->now_fs = ev_time_fs(e);
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

#ifdef TOPOLOGY
static kb_status engine_fused(struct kb_sim *s, uint64_t budget)
{
    return run(s, 0, budget);
}
#endif
