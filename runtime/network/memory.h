/* memory.h -- hbm_ctrl and sram: a memory that serves one transaction at a time, until it is done.
 * (One that is free earlier, by `hold: own` or a latency, is in network/early_memory.h.)
 *
 * It holds        one transaction in service, `holder`, and a queue in order of arrival
 * For how long    the memory's overhead and the drain together: nbytes over the narrowest bandwidth
 *                 of the route, cost_hold_fs(). It is not given up between the two.
 * Goes first      first come, first served: the smallest (arrival, id)
 * Wait counted    queue_memory = service begins - arrival (KB_WAIT_MEMORY)
 * Golden number   docs/model.md "Worked: two reads of one slice": the second of two reads of 4 KiB
 *                 arrives at 4.095 ns, and waits 13.990 ns for the first, which holds until 18.085
 *
 * An arrival needs no event. Two of three events of a transaction would be "it arrives" and "its
 * service ends". But when a request sets out, its arrival is known: the rest of its way is a sum.
 * So the fused engine puts it into the queue at once, sorted by (arrival, id), and if the memory
 * would be idle it becomes the holder right away, with its completion posted: it has reserved the
 * memory before it is there. This left one event instead of two (54 -> 32 ns per local
 * transaction).
 *
 * Two things keep that exact.
 *   - Until the holder has arrived, another may arrive before it. The holder is then displaced: it
 *     goes back to the head of the queue, and the other one takes the memory. The completion that
 *     was posted for the displaced holder cannot be removed from the event queue; it is stale, and
 *     holds_until() recognises it: a completion counts only if it is that of the current holder at
 *     the time at which the current service ends.
 *   - queue_max counts only transactions that have arrived. `arrived` points to the link behind the
 *     last transaction known to have arrived, so that each is passed once: note_arrivals().
 *
 * Example. Memory idle; 4 KiB hold it for 16 ns. At 0 ns transaction A (id 0) sets out and will
 * arrive at 10: it becomes the holder, with a completion posted for 26. At 3 ns B (id 1) sets out
 * on a short way and will arrive at 5. 5 < 10, so A is displaced to the head of the queue and B
 * holds from 5, completion at 21. At 21 B is done; A has arrived at 10, so it holds from 21 to 37.
 * The event at 26 finds A as the holder, but its service ends at 37: stale, nothing happens.
 *
 * Where every arrival counts (a fingerprint, max_events, kernels, the hop engine) each has an
 * event, and the queue contains only transactions that have arrived. Kernels skip the event in one
 * case: when nothing is in flight to this memory and no way to it is shorter, see comes_first().
 *
 * Tried and slower: to post completions on arrival without a queue, which leaves thousands of
 * completions pending (105 -> 160 ns with 4096 in flight).
 */
#ifndef NETWORK_MEMORY_H
#define NETWORK_MEMORY_H
#include "network/component_engine.h"
#include "network/early_memory.h"
#include "network/queueing.h"

static ALWAYS_INLINE struct memory_station *memory_of(struct kb_sim *s, int how, uint32_t slot)
{
    return how & HOW_KERNELS ? kernels_station(s, slot) : &s->memories[s->txns[slot].dst];
}

/* Which runs leave arrivals out: those where no event is counted. */
static ALWAYS_INLINE bool expects(int how)
{
    return !(how & (HOW_HOP | HOW_COUNTED | HOW_KERNELS));
}

/* How long the transaction will hold its memory. */
static ALWAYS_INLINE int64_t hold_fs(const struct kb_sim *s, const struct txn *x)
{
    const struct trip trip = txn_trip(T, x);
    struct cost_row way = txn_of_host(x) ? cost_of_host(T, &trip) : cost_of_pe(T, &trip);

    return cost_hold_fs(&s->mask, cost_memory(T, x->dst, txn_writes(x)), way.link_gbs, x->nbytes);
}

/* It holds the memory from `start` on. In a run that expects(), it may be displaced until then. */
static ALWAYS_INLINE void serve(struct kb_sim *s, int how, struct memory_station *memory,
                                uint64_t start, uint32_t slot)
{
    const struct impl *engine = engine_impl(s, how, slot);
    uint64_t free_fs = engine ? ask_engine(s, engine, start, slot) : 0;

    memory->holder = slot;
    memory->start_fs = start;
    if (is_told(s, how))
        observe_take(s, start, slot, STATION_MEMORY);
    if (inside_pe(s, how, slot))
        kernels_begin_service(s, start, slot);
    post(s, engine ? after(free_fs, 0) : after(start, s->txns[slot].hold_fs), EV_DONE, slot);
}

/* Counts those that arrived before `t`. An arrival at `t` itself comes after all completions. */
static ALWAYS_INLINE void note_arrivals(struct kb_sim *s, struct memory_station *memory, uint64_t t)
{
    uint32_t *link = memory->arrived, queued = memory->queued;

    for (; *link != TXN_NONE && (uint64_t)s->txns[*link].arrive_fs < t; link = &s->txns[*link].next)
        queued++;
    memory->arrived = link;
    memory->queued = queued;
}

/*
 * Does `a`, which is known, come before `x`, which is new? A transaction that is issued at this
 * very instant, on a way that takes no time, comes after all arrivals of the instant: its issue is
 * of a later class.
 */
static ALWAYS_INLINE bool arrives_before(const struct kb_sim *s, const struct txn *a,
                                         const struct txn *x)
{
    return (uint64_t)a->arrive_fs < (uint64_t)x->arrive_fs ||
           (a->arrive_fs == x->arrive_fs && (comes_before(s, a, x) || x->issue_fs == x->arrive_fs));
}

/* Into its place in the queue: mostly the last, else behind all that are known to have arrived. */
static ALWAYS_INLINE void expect_in_queue(struct kb_sim *s, struct memory_station *memory,
                                          uint32_t slot)
{
    struct txn *txns = s->txns, *txn = &txns[slot];
    uint32_t *link = memory->arrived;

    if (memory->head != TXN_NONE && arrives_before(s, &txns[memory->tail], txn))
        link = &txns[memory->tail].next;
    while (*link != TXN_NONE && arrives_before(s, &txns[*link], txn))
        link = &txns[*link].next;
    txn->next = *link;
    if (txn->next == TXN_NONE)
        memory->tail = slot;
    *link = slot;
}

/* It sets out, and will be at the memory at `arrive`: the holder, or one of the queue. */
static ALWAYS_INLINE void expect(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct memory_station *memory = memory_of(s, 0, slot);
    uint32_t holder = memory->holder;

    if (holder == TXN_NONE) {
        serve(s, 0, memory, arrive, slot);
    } else if (arrives_before(s, &s->txns[holder], &s->txns[slot])) {
        expect_in_queue(s, memory, slot);
    } else {
        s->txns[holder].next = memory->head;
        if (memory->head == TXN_NONE)
            memory->tail = holder;
        memory->head = holder;
        serve(s, 0, memory, arrive, slot);
    }
}

/* Does this completion belong to the current holder? A stale one does not: the holder was
 * displaced. */
static ALWAYS_INLINE bool holds_until(const struct memory_station *m, const struct txn *x,
                                      uint64_t t, uint32_t slot)
{
    return m->holder == slot && after(m->start_fs, x->hold_fs) == t;
}

/* Takes the first out of the queue of the memory, and serves it. */
static ALWAYS_INLINE void serve_first(struct kb_sim *s, int how, struct memory_station *memory,
                                      uint64_t t)
{
    uint32_t slot = memory->head;

    memory->head = s->txns[slot].next;
    if (memory->head != TXN_NONE)
        txn_prefetch(&s->txns[memory->head]);
    serve(s, how, memory, t, slot);
}

/* The memory is free at `t`: the next one holds it, from then or from its arrival. */
static ALWAYS_INLINE void serve_next(struct kb_sim *s, struct memory_station *memory, uint64_t t)
{
    uint64_t arrive;

    if (memory->head == TXN_NONE)
        return;
    note_arrivals(s, memory, t);
    if (STATS && memory->queued > memory->queue_max)
        memory->queue_max = memory->queued;
    if (memory->queued == 0 || --memory->queued == 0)
        memory->arrived = &memory->head;
    arrive = (uint64_t)s->txns[memory->head].arrive_fs;
    serve_first(s, 0, memory, arrive > t ? arrive : t);
}

/*
 * Nothing can reach the memory before this transaction, which is issued now: nothing is in flight
 * to it, and no way is shorter. Its arrival changes nothing, and can be left out.
 */
static ALWAYS_INLINE bool comes_first(struct kb_sim *s, int how, bool early, int64_t way_fs,
                                      uint32_t slot)
{
    const struct memory_station *m = memory_of(s, how, slot);

    return how & HOW_CALLED && !(how & (HOW_HOP | HOW_COUNTED)) && !(T->impls && T->impls->nodes) &&
           (m->holder == TXN_NONE || early) && m->under_way == 0 &&
           way_fs <= kernels_least_way_fs(s, dst_unit(T, s->txns[slot].dst));
}

static void expect_early(struct kb_sim *s, uint64_t arrive, uint32_t slot); /* expected_early.h */
/* expected_component.h */
static void expect_component(struct kb_sim *s, uint64_t now, uint64_t arrive, uint32_t slot);
static void arrived_by_event(struct kb_sim *s, uint32_t slot);

/* Is the memory of `slot` a component that may be asked ahead of time? */
static ALWAYS_INLINE bool asked_ahead(const struct kb_sim *s, int how, uint32_t slot)
{
    return expects(how) && !T->granule && is_served(s, how, slot) &&
           instance_of_memory_bytes(T->impls) <= 2 * INSTANCE_SAVED_MAX;
}

/* It is `now`. At `t`, which may be later, it sets out on the last part of its way, which takes
 * `way_fs`. */
static ALWAYS_INLINE void go_to_memory(struct kb_sim *s, int how, uint64_t now, uint64_t t,
                                       int64_t way_fs, uint32_t slot)
{
    bool early = memory_is_early(s, how, slot);

    if (expects(how) && is_banked(s, &s->txns[slot])) {
        expect_in_banks(s, after(t, way_fs), slot);
        return;
    }
    if (is_queued(s, &s->txns[slot])) {
        s->txns[slot].stage = TXN_TO_MEMORY;
        post(s, after(t, way_fs), EV_ARRIVE, slot);
        return;
    }
    if (expects(how) && !(early && early_arrives(s))) {
        s->txns[slot].arrive_fs = (int64_t)after(t, way_fs);
        s->txns[slot].stage = TXN_TO_MEMORY;
        if (early)
            expect_early(s, after(t, way_fs), slot);
        else
            expect(s, after(t, way_fs), slot);
        return;
    }
    if (asked_ahead(s, how, slot)) {
        expect_component(s, now, after(t, way_fs), slot);
        return;
    }
    if (comes_first(s, how, early, way_fs, slot)) {
        s->txns[slot].arrive_fs = (int64_t)after(t, way_fs);
        if (early)
            serve_early(s, how, after(t, way_fs), slot);
        else
            serve(s, how, memory_of(s, how, slot), after(t, way_fs), slot);
        return;
    }
    if (how & HOW_KERNELS)
        memory_of(s, how, slot)->under_way++;
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, after(t, way_fs), EV_ARRIVE, slot);
}

/*
 * With routers packets come to the ports of a TCM, too. Each is served in order of arrival, for a
 * time that is known then: the port keeps when it is free.
 */
static ALWAYS_INLINE bool serve_at_port(struct kb_sim *s, int how, struct memory_station *memory,
                                        uint64_t t, uint32_t slot)
{
    uint64_t *free_fs = kernels_port_free(s, slot), start;
    struct txn *txn = &s->txns[slot];
    int64_t hold_fs = txn->hold_fs;

    if (!free_fs)
        return false;
    start = *free_fs > t ? *free_fs : t;
    *free_fs = after(start, hold_fs);
    memory->busy_fs += (uint64_t)hold_fs;
    txn->service_fs = (int64_t)start;
    if (is_told(s, how))
        observe_take(s, start, slot, STATION_MEMORY);
    kernels_begin_service(s, start, slot);
    post(s, after(start, hold_fs), EV_DONE, slot);
    return true;
}

/* It arrives, by an event: it is served, or it waits. */
static ALWAYS_INLINE void come_to_memory(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct memory_station *memory = memory_of(s, how, slot);

    txn->arrive_fs = (int64_t)t;
    if (is_told(s, how))
        observe_come(s, t, slot, STATION_MEMORY);
    bool inside = inside_pe(s, how, slot);

    if (asked_ahead(s, how, slot)) {
        arrived_by_event(s, slot);
        return;
    }
    if (how & HOW_HOP && !inside)
        txn->hold_fs = hold_fs(s, txn);
    if (!inside && is_queued(s, txn)) {
        come_to_queue(s, how, t, slot);
        return;
    }
    if (how & HOW_KERNELS && !(how & HOW_HOP) && !inside)
        memory->under_way--;
    if (!inside && memory_is_early(s, how, slot)) {
        serve_early(s, how, t, slot);
        return;
    }
    if (T->links == MODE_ROUTER && inside && serve_at_port(s, how, memory, t, slot))
        return;
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

/* Its service ends at `t`. */
static ALWAYS_INLINE void leave_memory(struct kb_sim *s, int how, struct memory_station *memory,
                                       uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    txn->service_fs = (int64_t)memory->start_fs;
    memory->busy_fs += t - memory->start_fs;
    if (counts_now(how)) {
        memory->count++;
        if ((int64_t)memory->start_fs > txn->arrive_fs)
            memory->wait_fs += (int64_t)memory->start_fs - txn->arrive_fs;
    }
    memory->holder = TXN_NONE;
}

/* The memory has been left at `t`, and the next one's service begins. */
static ALWAYS_INLINE void serve_waiting(struct kb_sim *s, int how, struct memory_station *memory,
                                        uint64_t t)
{
    if (expects(how)) {
        serve_next(s, memory, t);
    } else if (memory->queued) {
        memory->queued--;
        serve_first(s, how, memory, t);
    }
}

#endif
