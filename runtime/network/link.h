/* link.h -- a link, one direction of an edge, where links are fifo.
 *
 * It holds        the transaction with bytes that pass now: free_fs says until when. The head of a
 *                 transaction does not wait for its tail: it enters, and goes on after the wire.
 * For how long    nbytes over the bandwidth of this edge
 * Goes first      first come, first served, in the order of arrival events
 * Wait counted    queue_link, over all links of the way (KB_WAIT_LINK)
 * Golden number   docs/model.md "Worked: one shared link": PE 0 comes to the edge between two
 *                 crossbars at 4.07 ns, PE 1 has taken it from 2.06 to 34.06: it waits 29.990 ns
 *
 * A link needs no event to become free. Its service time is known when a transaction comes, so the
 * next one enters at max(arrival, free_fs) and the link keeps nothing but that time. Between two
 * links the way is one sum, a `leg`, so a transaction has one event for each link: at 4.07 ns in
 * the example, then at its next link 34.06 ns + leg.
 *
 * Reads take the opposite direction of each edge, at the time at which their request passes: their
 * data flow that way. The edge into a memory is as fast as the memory.
 *
 * The wait of a transaction for all its links is not stored: kb_sim_result() subtracts the known
 * terms from the time between start and arrival, and checks that the rest is not negative. A field
 * for it would make struct txn 64 bytes instead of 56, and a row of a replay takes 56.1 bytes of
 * the 64 it may take. The statistics of a link itself are measured here, by link_wait().
 */
#ifndef NETWORK_LINK_H
#define NETWORK_LINK_H
#include "machine/walk.h"
#include "network/memory.h"
#include "network/node.h"
#include "network/pcie_ep.h"

/* The time from leg `txn->at` back to the station before; sets what comes at its end. */
static inline int64_t ride_fs(const struct kb_sim *s, struct txn *txn)
{
    int64_t wire_fs = 0, overhead_fs = 0;

    for (;;) {
        const struct segment_row *seg = &T->segments[txn->at.segment];

        if (txn->at.step < seg->n_legs) {
            const struct leg_row *leg = &T->legs[seg->first_leg + txn->at.step];

            txn->stage = leg->owner == LINK_NONE ? TXN_TO_ENGINE : TXN_TO_LINK;
            return cost_way_fs(&s->mask, wire_fs + leg->wire_fs, overhead_fs + leg->overhead_fs);
        }
        wire_fs += seg->tail_wire_fs;
        overhead_fs += seg->tail_overhead_fs;
        if (seg->exit == N_EXITS) {
            txn->stage = TXN_TO_MEMORY;
            return cost_way_fs(&s->mask, wire_fs, overhead_fs);
        }
        txn->at = walk_next(T, txn->at, txn->dst, txn_of_host(txn));
    }
}

/* On to the next link, engine or memory. */
static inline void ride(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    int64_t way_fs = ride_fs(s, txn);

    if (txn->stage != TXN_TO_MEMORY) {
        post(s, after(t, way_fs), EV_ARRIVE, slot);
        return;
    }
    txn->hold_fs = hold_fs(s, txn);
    go_to_memory(s, how, t, way_fs, slot);
}

static inline void set_out_fifo(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    txn->at = walk_begin(T, txn->src, txn->dst, txn_of_host(txn));
    if (txn_of_host(txn))
        enter_pipe(s, after(t, ride_fs(s, txn)), slot);
    else
        ride(s, how, t, slot);
}

/* Enters the link as soon as it is free; returns when. */
static inline uint64_t pass_link(struct kb_sim *s, const struct txn *txn, uint32_t slot,
                                 struct walk_edge edge, double gbs, uint64_t t)
{
    size_t link = walk_link(T, edge, txn->at.cube, txn->dst) ^ !txn_writes(txn);
    struct link_station *l = &s->links[link];
    uint64_t enter = (uint64_t)l->free_fs > t ? (uint64_t)l->free_fs : t;
    int64_t taken = drain_fs(txn->nbytes, gbs);

    l->free_fs = (int64_t)after(enter, taken);
    l->holder = slot;
    l->busy_fs += (uint64_t)taken;
    if (STATS && enter > t && !link_wait(l, t, enter))
        fail(s, KB_NO_MEMORY);
    return enter;
}

/*
 * The edge into a memory is as fast as the memory; a TCM is faster one way than the other. It is
 * both link and memory: if either cost is left out, it delays nothing.
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
    struct txn *txn = &s->txns[slot];
    const struct segment_row *seg = &T->segments[txn->at.segment];

    if (how & HOW_HOP) {
        const struct hop_row *hop = &T->hops[seg->first_hop + txn->at.step];
        struct walk_edge edge = {hop->owner, hop->back, hop->link};

        bool last = seg->exit == N_EXITS && txn->at.step + 2 == seg->n_hops;
        uint64_t enter;

        if (s->observer)
            observe_come(s, t, slot, STATION_LINK);
        enter = pass_link(s, txn, slot, edge, edge_gbs(s, txn, hop->gbs, last), t);
        if (s->observer)
            observe_take(s, enter, slot, STATION_LINK);
        take_wire(s, enter, slot);
    } else {
        const struct leg_row *leg = &T->legs[seg->first_leg + txn->at.step];
        struct walk_edge edge = {leg->owner, leg->back, leg->link};
        bool last = seg->exit == N_EXITS && txn->at.step + 1 == seg->n_legs;
        uint64_t enter;

        if (is_told(s, how))
            observe_come(s, t, slot, STATION_LINK);
        enter = pass_link(s, txn, slot, edge, edge_gbs(s, txn, leg->gbs, last), t);
        if (is_told(s, how))
            observe_take(s, enter, slot, STATION_LINK);
        txn->at.step++;
        ride(s, how, enter, slot);
    }
}

#endif
