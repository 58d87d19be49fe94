/* component_node.h -- nodes that are components (`cube.noc.impl` and the like), and the way by
 * hops.
 *
 * It holds        nothing: any number of transactions pass at once, each for its own delay
 * For how long    what the component says, in place of the node's overhead_ns
 * Goes first      the component is asked in the order of (arrival, id)
 * Wait counted    none; the delay is in overhead_ns of the result
 * Golden number   docs/components.md "What is shipped"
 *
 * The delay is known only when the head arrives, and the component is asked in order of arrival. So
 * such a node is a stop for every engine: an event of class 1, as the hop engine has for all nodes.
 * In a machine with such nodes the fused engines go by the hops of the tables, too, and add up what
 * lies between two stops: walk_on(). Links are stops of their own then.
 *
 * Example: cube8, c0.pe0 reads c1.slice0, and noc is a component. Stops: noc of cube 0, noc of cube
 * 1, the slice. Between the two noc's lie wires and two ucie: one sum.
 */
#ifndef NETWORK_COMPONENT_NODE_H
#define NETWORK_COMPONENT_NODE_H
#include "machine/walk.h"
#include "network/memory.h"
#include "network/node.h"

/* What of a node is still before a transaction. */
enum walk_phase { WALK_ARRIVES, WALK_LEAVES, WALK_LINK, WALK_WIRE };

static inline const struct hop_row *hop_at(const struct kb_sim *s, const struct txn *txn)
{
    (void)s; /* T names it only where any topology runs */
    return &T->hops[walk_segment(T, txn->at)->first_hop + txn->at.step];
}

/* Whether the engine goes by hops, although it makes no event of each. */
static ALWAYS_INLINE bool walks_hops(const struct kb_sim *s, int how)
{
    (void)s; /* T names it only where any topology runs */
    return !(how & HOW_HOP) && T->impls && T->impls->nodes;
}

/* It comes to a link by an event, or to the engine of an m_cpu. */
static inline void stop_at(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot)
{
    s->txns[slot].stage = stage;
    post(s, t, EV_ARRIVE, slot);
}

/* On from a node, at `t`, to the next stop. */
static inline void walk_on(struct kb_sim *s, int how, uint64_t t, enum walk_phase phase,
                           uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);
    int64_t wire_fs = 0, overhead_fs = 0;

    for (;; phase = WALK_ARRIVES) {
        const struct segment_row *seg = walk_segment(T, txn->at);
        const struct hop_row *hop = hop_at(s, txn);

        if (phase == WALK_ARRIVES && hop->owner == LINK_NONE) {
            txn->hold_fs = hold_fs(s, txn);
            go_to_memory(s, how, t, cost_way_fs(&s->mask, wire_fs, overhead_fs), slot);
            return;
        }
        if (phase == WALK_ARRIVES && node_impl(s, txn, hop)) {
            txn->stage = TXN_TO_NODE;
            post(s, after(t, cost_way_fs(&s->mask, wire_fs, overhead_fs)), EV_HOP, slot);
            return;
        }
        overhead_fs += phase == WALK_ARRIVES ? hop->overhead_fs : 0;
        wire_fs += phase <= WALK_LEAVES ? hop->cross_fs : 0;
        if (phase <= WALK_LEAVES && is_m_cpu(s, txn, hop)) {
            stop_at(s, after(t, cost_way_fs(&s->mask, wire_fs, overhead_fs)), TXN_TO_ENGINE, slot);
            return;
        }
        if (phase <= WALK_LINK && T->links == MODE_FIFO) {
            stop_at(s, after(t, cost_way_fs(&s->mask, wire_fs, overhead_fs)), TXN_TO_LINK, slot);
            return;
        }
        wire_fs += hop->wire_fs;
        if (txn->at.step + 1 == seg->n_hops) {
            wire_fs += walk_extra_fs(T, txn->at);
            txn->at = walk_next(T, &trip, txn->at);
        } else {
            txn->at.step++;
        }
    }
}

/* What a node is asked. */
static inline struct kb_request node_request(const struct kb_sim *s, const struct hop_row *hop,
                                             uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    return (struct kb_request){
        .id = record_id(s, slot),
        .op = txn->op,
        .source = txn_of_host(txn) ? UINT32_MAX : pe_number(T, txn->src),
        .bytes = txn->nbytes,
        .overhead_fs = hop->overhead_fs & s->mask.overhead,
        .k = 1,
        .n = 1,
    };
}

/* Its head is at a node that is a component. */
static inline void come_to_component(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct hop_row *hop = hop_at(s, txn);
    const struct trip trip = txn_trip(T, txn);
    const struct impl *impl = node_impl(s, txn, hop);
    struct kb_request request = node_request(s, hop, slot);
    size_t node = walk_node(T, hop, txn->at.cube, &trip);
    int64_t delay_fs = impl->delay(s->instances.nodes + node * instance_of_node_bytes(T->impls),
                                   &request, (int64_t)t);

    if (delay_fs < 0) {
        instances_fault(s, impl, slot, t, (struct kb_served){.hold_fs = delay_fs});
        fail(s, KB_COMPONENT_ERROR);
        return;
    }
    if (delay_fs == INT64_MAX) {
        instances_never(s, impl, slot);
        return;
    }
    s->instances.served[slot].delay_fs += delay_fs - request.overhead_fs;
    s->instances.served[slot].node_fs = delay_fs;
    if (how & HOW_HOP)
        spend_overhead(s, t, delay_fs, slot);
    else
        walk_on(s, how, after(t, delay_fs), WALK_LEAVES, slot);
}

#endif
