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
#include "network/network_router.h"
#include "network/server.h"

/* The port of a TCM to which a transaction comes, which stages inside its PE use, too; or NULL. */
static inline struct link_station *port_for(struct kb_sim *s, int how, uint32_t slot)
{
    if (how & HOW_KERNELS && unit_is_tcm(T, dst_unit(T, s->txns[slot].dst)))
        return s->heard->port(s, slot);
    return NULL;
}

/* The pace at which bytes of a transaction hold its memory. */
static inline double service_gbs(const struct kb_sim *s, const struct txn *txn,
                                 const struct memory_row *memory)
{
    double own = memory_own_gbs(s, (uint32_t)(txn - s->txns));
    double way = s->router->flights[txn - s->txns].way->gbs;

    return memory->hold == HOLD_OWN || own < way ? own : way;
}

/* One server, which is free at `*free_fs`, takes a part that has come at `t`, at the pace `gbs`. */
static inline struct turn take_part(struct kb_sim *s, uint32_t slot, uint64_t t,
                                    const struct delivery *part, double gbs, uint64_t *free_fs)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    int64_t overhead_fs = part->from ? 0 : memory->overhead_fs & s->mask.overhead;
    int64_t latency_fs = memory->latency_fs & s->mask.overhead;
    struct turn turn = {.start_fs = *free_fs > t ? *free_fs : t,
                        .hold_fs = (uint64_t)(part_fs(part->from, part->nbytes, gbs) + overhead_fs),
                        .gbs = gbs,
                        .behind_fs = latency_fs};

    turn.end_fs = after(turn.start_fs, (int64_t)turn.hold_fs);
    if (is_twice(s, slot))
        turn.hold_fs += turn.hold_fs - (uint64_t)overhead_fs;
    *free_fs = after(turn.start_fs, (int64_t)turn.hold_fs);
    if (!txn_writes(txn)) {
        turn.end_fs = after(turn.start_fs, overhead_fs + latency_fs);
        return turn;
    }
    if (part->from == 0) {
        uint64_t drained = after(turn.start_fs, overhead_fs + way_drain_fs(s, slot));

        turn.end_fs = drained > turn.end_fs ? drained : turn.end_fs;
    }
    turn.end_fs = after(turn.end_fs, latency_fs);
    return turn;
}

/* It is known what comes of a part: a read is answered, a write has one packet less. */
static inline void end_part_behind(struct kb_sim *s, int how, uint32_t slot,
                                   const struct delivery *part, const struct turn *turn)
{
    if (part->parcel != NO_PARCEL)
        router_serve(s, part, turn);
    if (txn_writes(&s->txns[slot])) {
        end_part_of_write(s, slot, turn->end_fs, turn->behind_fs);
        return;
    }
    if (turn->end_fs == ROUTER_NEVER)
        return;
    if (how & HOW_KERNELS) /* its content is that at the end of its service; its row is needed */
        post_data(s, after(turn->start_fs, (int64_t)turn->hold_fs), slot);
    router_answer(s, turn->end_fs, slot);
}

/* A part of the transaction in `slot` comes at `t` to its memory, which keeps order. */
static inline void part_arrives(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                const struct delivery *part)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *port = port_for(s, how, slot);
    uint64_t *free_fs = port ? (uint64_t *)&port->free_fs : &s->router->sinks[txn->dst];
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    struct turn turn = is_served(s, how, slot)
                           ? take_by_component(s, slot, t, part, free_fs)
                           : take_part(s, slot, t, part, service_gbs(s, txn, memory), free_fs);

    if (port)
        link_turned(port);
    s->memories[txn->dst].busy_fs += turn.hold_fs;
    if (part->from == 0)
        txn->service_fs = (int64_t)turn.start_fs;
    if (is_told(s, how))
        OBSERVE(s, serve, t, turn.start_fs, slot, part->number);
    end_part_behind(s, how, slot, part, &turn);
}

/* The part of the transaction in `slot` that is next comes from routers to its memory at `t`. */
static inline void come_from_routers(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct delivery part = router_part(s, slot);

    if (part.from == 0)
        s->txns[slot].arrive_fs = (int64_t)t;
    if (txn_queues(s, &s->txns[slot]))
        server_arrive(s, how, t, slot, &part);
    else
        part_arrives(s, how, t, slot, &part);
}

#endif
