/* memory_behind.h -- a memory behind routers: parts come to it one by one.
 *
 * It holds        one packet at a time, or one read; for the overhead, which the first packet of a
 *                 transaction pays, and for the packet's part of the transaction's own time
 *                 (hold: own) or of the drain of its route (hold: route)
 * Goes first      the smallest (arrival of the first segment, id, packet)
 * Wait counted    queue_memory: of the first packet
 * Golden number   docs/network.md
 *
 * A write is done when its last tail is in, its last packet has been served, and its drain has
 * passed since service began. A read's data are ready at the memory's port an overhead and a
 * latency after its service began.
 */
#ifndef NETWORK_MEMORY_BEHIND_H
#define NETWORK_MEMORY_BEHIND_H
#include "engine/hop.h"
#include "network/banks.h"
#include "network/component_behind.h"
#include "network/router.h"

/* When the memory of a transaction is free: of a TCM the port, which stages inside its PE use, too.
 */
static inline uint64_t *free_of(struct kb_sim *s, int how, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;

    if (how & HOW_KERNELS && unit_is_tcm(T, dst_unit(T, dst)))
        return s->heard->port_free(s, slot);
    return &s->router->sinks[dst];
}

/* The pace at which bytes of a transaction hold its memory. */
static inline double service_gbs(const struct kb_sim *s, const struct txn *txn,
                                 const struct memory_row *memory)
{
    return memory->hold == HOLD_OWN ? cost_own_gbs(&s->mask, memory)
                                    : s->router->flights[txn - s->txns].way->gbs;
}

/* A component holds it for what it says. If that is the drain at least, its last bytes come at the
 * pace of the route, else at its own. */
static inline double component_gbs(const struct kb_sim *s, const struct txn *txn,
                                   const struct memory_row *memory, const struct delivery *part,
                                   int64_t hold_fs)
{
    double gbs = s->router->flights[txn - s->txns].way->gbs;

    hold_fs -= part->from ? 0 : memory->overhead_fs & s->mask.overhead;
    if (hold_fs < part_fs(part->from, part->nbytes, gbs))
        return cost_own_gbs(&s->mask, memory);
    return gbs;
}

/* The memory takes a part that has come at `t`. */
static inline struct turn serve_part(struct kb_sim *s, int how, uint32_t slot, uint64_t t,
                                     const struct delivery *part)
{
    struct txn *txn = &s->txns[slot];
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    uint64_t *free_fs = free_of(s, how, slot), start = *free_fs > t ? *free_fs : t;
    int64_t hold;
    double gbs;

    if (is_served(s, how, slot)) {
        hold = hold_behind(s, slot, start, part->from, part->nbytes);
        gbs = component_gbs(s, txn, memory, part, hold);
    } else {
        gbs = service_gbs(s, txn, memory);
        hold = part_fs(part->from, part->nbytes, gbs) +
               (part->from ? 0 : memory->overhead_fs & s->mask.overhead);
    }
    *free_fs = after(start, hold);
    s->memories[txn->dst].busy_fs += (uint64_t)hold;
    return (struct turn){start, (uint64_t)hold, gbs};
}

/* All packets of a write have had their turns. */
static inline void end_packets(struct kb_sim *s, int how, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct flight *flight = &s->router->flights[slot];
    const struct memory_row *memory = cost_memory(T, txn->dst, true);
    int64_t latency_fs = memory->latency_fs & s->mask.overhead;
    uint64_t drained;

    if (is_served(s, how, slot)) { /* what it has answered has latency and drain in it */
        int64_t memory_fs = s->instances.served[slot].memory_fs;

        if (flight->served_fs != ROUTER_NEVER)
            router_served(s, slot, flight->served_fs,
                          latency_fs < memory_fs ? latency_fs : memory_fs);
        return;
    }
    drained = after(flight->start_fs, (memory->overhead_fs & s->mask.overhead) +
                                          drain_fs(txn->nbytes, flight->way->gbs));
    router_served(s, slot,
                  after(flight->served_fs > drained ? flight->served_fs : drained, latency_fs),
                  latency_fs);
}

/* A read has its turn: when its data go back. False: never. */
static inline void answer_read(struct kb_sim *s, int how, uint32_t slot, uint64_t start)
{
    struct txn *txn = &s->txns[slot];
    int64_t memory_fs = cost_in_memory_fs(&s->mask, cost_memory(T, txn->dst, false));

    if (is_served(s, how, slot)) {
        if (s->router->flights[slot].served_fs == ROUTER_NEVER)
            return;
        memory_fs = s->instances.served[slot].memory_fs;
    }
    if (how & HOW_KERNELS) { /* its content is that at the end of its service; its row is needed */
        post_data(s, *free_of(s, how, slot), slot);
    }
    router_answer(s, after(start, memory_fs), slot);
}

/* A part of the transaction in `slot` comes to its memory at `t`. */
static inline void part_arrives(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                const struct delivery *part)
{
    struct txn *txn = &s->txns[slot];
    struct flight *flight = &s->router->flights[slot];
    struct turn turn = serve_part(s, how, slot, t, part);

    if (part->from == 0) {
        txn->arrive_fs = (int64_t)t;
        txn->service_fs = (int64_t)turn.start_fs;
        flight->start_fs = turn.start_fs;
    }
    if (is_told(s, how))
        observe_serve(s, t, turn.start_fs, slot, part->number);
    if (part->parcel != NO_PARCEL)
        router_serve(s, part, &turn);
    if (!txn_writes(txn)) {
        answer_read(s, how, slot, turn.start_fs);
        return;
    }
    if (!is_served(s, how, slot) && *free_of(s, how, slot) > flight->served_fs)
        flight->served_fs = *free_of(s, how, slot);
    if (--flight->packets_left == 0)
        end_packets(s, how, slot);
}

/* The part of the transaction in `slot` that is next comes from routers to its memory at `t`. */
static inline void come_from_routers(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct delivery part = router_part(s, slot);

    if (banks_has(s, &s->txns[slot]))
        banks_part_arrives(s, how, t, slot, &part);
    else
        part_arrives(s, how, t, slot, &part);
}

#endif
