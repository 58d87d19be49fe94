/* node.h -- a node on the way: ucie, xbar, bridge, noc, io_noc, io_cpu, pcie_ep, the switch.
 *
 * It holds        nothing: any number of transactions pass at once
 * For how long    its overhead_ns, then for a noc the crossing from edge to edge, then the wire
 * Goes first      all: there is no queue
 * Wait counted    none; the terms are overhead_ns and wire_ns of a result
 * Golden number   docs/model.md "Worked: three ways to a slice"
 *
 * A node exists in time only for the hop engine, which makes an event of each: come_to_node() pays
 * the overhead, hop_on() the crossing, take_wire() the edge behind it. The fused engines add all of
 * them up beforehand, see network/noc.h and network/link.h, and come out at the same femtosecond.
 * Two nodes are not plain delays: an m_cpu is an engine for hosts (network/m_cpu.h), and the last
 * node of a route is a memory; its overhead is paid within its service (network/memory.h).
 */
#ifndef NETWORK_NODE_H
#define NETWORK_NODE_H
#include "engine/how.h"
#include "machine/walk.h"

/* The component that stands for a node; NULL: it is a plain delay. */
static inline const struct impl *node_impl(const struct kb_sim *s, const struct txn *txn,
                                           const struct hop_row *hop)
{
    (void)s; /* T names it only where any topology runs */
    return node_component(T, hop, txn->at.cube);
}

/* Whether the node is the m_cpu, at whose engine a host's transaction waits. */
static inline bool is_m_cpu(const struct kb_sim *s, const struct txn *txn,
                            const struct hop_row *hop)
{
    (void)s; /* T names it only where any topology runs */
    return hop->chiplet == AT_CUBE &&
           walk_cube_node(T, txn->at.cube, hop->node)->kind == NODE_M_CPU;
}

/* hop: passes the node for `overhead_fs`. */
static inline void spend_overhead(struct kb_sim *s, uint64_t t, int64_t overhead_fs, uint32_t slot)
{
    s->txns[slot].stage = TXN_AT_NODE;
    if (s->observer)
        observe_node(s, t, slot);
    post(s, after(t, overhead_fs), EV_HOP, slot);
}

/* hop: comes to the node `txn->at`. */
static inline void come_to_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct hop_row *hop = &T->hops[walk_segment(T, txn->at)->first_hop + txn->at.step];

    if (hop->owner == LINK_NONE) {
        txn->stage = TXN_TO_MEMORY;
        post(s, t, EV_ARRIVE, slot);
        return;
    }
    if (node_impl(s, txn, hop)) {
        txn->stage = TXN_TO_NODE;
        post(s, t, EV_HOP, slot);
        return;
    }
    spend_overhead(s, t, hop->overhead_fs & s->mask.overhead, slot);
}

/* hop: leaves the node by its wire. */
static inline void take_wire(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct segment_row *seg = walk_segment(T, txn->at);
    int64_t wire_fs = T->hops[seg->first_hop + txn->at.step].wire_fs;

    if (txn->at.step + 1 == seg->n_hops)
        wire_fs += walk_extra_fs(T, txn->at);
    txn->stage = TXN_ON_WIRE;
    if (s->observer)
        observe_wire(s, t, slot);
    post(s, after(t, wire_fs & s->mask.wire), EV_HOP, slot);
}

/* hop: leaves the node; where links queue, the edge is a station. */
static inline void come_to_link(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (T->links != MODE_FIFO) {
        take_wire(s, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_TO_LINK;
    post(s, t, EV_ARRIVE, slot);
}

/* hop: a node's overhead, a noc's crossing or a wire has passed. */
static inline void hop_on(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct segment_row *seg = walk_segment(T, txn->at);
    const struct hop_row *hop = &T->hops[seg->first_hop + txn->at.step];
    const struct trip trip = txn_trip(T, txn);

    if (txn->stage == TXN_AT_NODE && hop->cross_fs) {
        txn->stage = TXN_CROSSING;
        if (s->observer)
            observe_cross(s, t, slot);
        post(s, after(t, hop->cross_fs & s->mask.wire), EV_HOP, slot);
    } else if (txn->stage == TXN_ON_WIRE) {
        if (++txn->at.step == seg->n_hops)
            txn->at = walk_next(T, &trip, txn->at);
        come_to_node(s, t, slot);
    } else if (is_m_cpu(s, txn, hop)) {
        txn->stage = TXN_TO_ENGINE;
        post(s, t, EV_ARRIVE, slot);
    } else {
        come_to_link(s, t, slot);
    }
}

#endif
