/* node.h -- a node on the way: ucie, xbar, bridge, noc, io_noc, io_cpu, pcie_ep, the switch.
 *
 * It holds        nothing: any number of transactions pass at once
 * For how long    its overhead_ns, then for a noc the crossing from edge to edge, then the wire
 * Goes first      all: there is no queue
 * Wait counted    none; the terms are overhead_ns and wire_ns of a result
 * Golden number   docs/model.md "Worked: three ways to a slice"
 *
 * A node exists in time only for the hop engine, which makes an event of each (engine/hop_way.c).
 * All others add them up beforehand, and come out at the same femtosecond. Two nodes are not plain
 * delays: an m_cpu is an engine for hosts (network/m_cpu.h), and the last node of a route is a
 * memory; its overhead is paid within its service (network/memory.h). A component may stand for any
 * other one: network/component_node.h.
 */
#ifndef NETWORK_NODE_H
#define NETWORK_NODE_H
#include "engine/how.h"
#include "machine/walk.h"

/* The node where it is. */
static inline const struct hop_row *node_of(const struct kb_sim *s, const struct txn *txn)
{
    (void)s; /* T names it only where any topology runs */
    return &T->hops[walk_segment(T, txn->at)->first_hop + txn->at.step];
}

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

/* -- nodes that are components -------------------------------------------------------------- */

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

/* What is no delay: it never leaves the node, or the run has ended with a message. */
#define NODE_NEVER INT64_MAX

/* Its head is at a node that is a component: for how long it stays. */
static inline int64_t ask_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct hop_row *hop = node_of(s, txn);
    const struct trip trip = txn_trip(T, txn);
    const struct impl *impl = node_impl(s, txn, hop);
    struct kb_request request = node_request(s, hop, slot);
    size_t node = walk_node(T, hop, txn->at.cube, &trip);
    int64_t delay_fs = impl->delay(s->instances.nodes + node * instance_of_node_bytes(T->impls),
                                   &request, (int64_t)t);

    if (delay_fs < 0) {
        instances_fault(s, (enum box)(impl - T->impls->of), slot, t,
                        (struct kb_served){.hold_fs = delay_fs});
        fail(s, KB_COMPONENT_ERROR);
        return NODE_NEVER;
    }
    if (delay_fs == INT64_MAX) {
        instances_never(s, (enum box)(impl - T->impls->of), slot);
        return NODE_NEVER;
    }
    s->instances.served[slot].delay_fs += delay_fs - request.overhead_fs;
    s->instances.served[slot].node_fs = delay_fs;
    return delay_fs;
}

#endif
