/*
 * component_walk.h -- nodes that are components, for the engines of engine/steps.h: hop comes to
 * each node, the others go by the hops of the tables and add up what lies between two stops.
 */
#ifndef NETWORK_COMPONENT_WALK_H
#define NETWORK_COMPONENT_WALK_H
#include "machine/walk.h"
#include "network/component_node.h"
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

/* Its head is at a node that is a component. */
static inline void come_to_component(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    int64_t delay_fs = ask_node(s, t, slot, hop_at(s, &s->txns[slot]), s->txns[slot].at.cube);

    if (delay_fs == NODE_NEVER)
        return;
    if (how & HOW_HOP)
        spend_overhead(s, t, delay_fs, slot);
    else
        walk_on(s, how, after(t, delay_fs), WALK_LEAVES, slot);
}

#endif
