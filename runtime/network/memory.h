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
 * Each arrival has an event, and the queue contains what has arrived. Kernels skip the event in one
 * case: when nothing is in flight to this memory and no way to it is shorter, see comes_first().
 */
#ifndef NETWORK_MEMORY_H
#define NETWORK_MEMORY_H
#include "network/component_engine.h"
#include "network/early_memory.h"
#include "network/server.h"

static ALWAYS_INLINE struct memory_station *memory_of(struct kb_sim *s, int how, uint32_t slot)
{
    return how & HOW_KERNELS ? kernels_station(s, slot) : &s->memories[s->txns[slot].dst];
}

/* How long the transaction will hold its memory. */
static ALWAYS_INLINE int64_t hold_fs(const struct kb_sim *s, const struct txn *x)
{
    const struct trip trip = txn_trip(T, x);
    struct cost_row way = txn_of_host(x) ? cost_of_host(T, &trip) : cost_of_pe(T, &trip);

    return cost_hold_fs(&s->mask, cost_memory(T, x->dst, txn_writes(x)), way.link_gbs, x->nbytes);
}

/* It holds the memory from `start` on. */
static ALWAYS_INLINE void serve(struct kb_sim *s, int how, struct memory_station *memory,
                                uint64_t start, uint32_t slot)
{
    const struct impl *engine = engine_impl(s, how, slot);
    uint64_t free_fs = engine ? ask_engine(s, engine, kernels_pe_number(s, slot), start, slot) : 0;

    memory->holder = slot;
    memory->start_fs = start;
    if (is_told(s, how))
        observe_take(s, start, slot, STATION_MEMORY);
    if (inside_pe(s, how, slot))
        kernels_begin_service(s, start, slot);
    post(s, engine ? after(free_fs, 0) : after(start, s->txns[slot].hold_fs), EV_DONE, slot);
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

/*
 * Nothing can reach the memory before this transaction, which is issued now: nothing is in flight
 * to it, and no way is shorter. Its arrival changes nothing, and can be left out.
 */
static ALWAYS_INLINE bool comes_first(struct kb_sim *s, int how, bool early, int64_t way_fs,
                                      uint32_t slot)
{
    const struct memory_station *m = memory_of(s, how, slot);

    return how & HOW_CALLED && !(how & HOW_COUNTED) && !(T->impls && T->impls->nodes) &&
           (m->holder == TXN_NONE || early) && m->under_way == 0 &&
           way_fs <= kernels_least_way_fs(s, dst_unit(T, s->txns[slot].dst));
}

/* At `t` it sets out on the last part of its way, which takes `way_fs`. */
static ALWAYS_INLINE void go_to_memory(struct kb_sim *s, int how, uint64_t t, int64_t way_fs,
                                       uint32_t slot)
{
    bool early = memory_is_early(s, how, slot);

    if (is_chosen(s, &s->txns[slot])) {
        s->txns[slot].stage = TXN_TO_MEMORY;
        post(s, after(t, way_fs), EV_ARRIVE, slot);
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
static ALWAYS_INLINE bool serve_at_port(struct kb_sim *s, struct memory_station *memory, uint64_t t,
                                        uint32_t slot)
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

    if (!inside && is_chosen(s, txn)) {
        server_arrive(s, how, t, slot);
        return;
    }
    if (how & HOW_KERNELS && !inside)
        memory->under_way--;
    if (!inside && memory_is_early(s, how, slot)) {
        serve_early(s, how, t, slot);
        return;
    }
    if (T->links == MODE_ROUTER && inside && serve_at_port(s, memory, t, slot))
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
    if (memory->queued) {
        memory->queued--;
        serve_first(s, how, memory, t);
    }
}

#endif
