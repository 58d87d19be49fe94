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
 * delays: an m_cpu is an engine for hosts and the last node of a route is a memory; its
 * overhead is paid within its service. A component may stand for any other one:
 * network/component_node.h.
 */
#ifndef NETWORK_NODE_H
#define NETWORK_NODE_H
#include "engine/how.h"
#include "machine/walk.h"

/* The node where it is. */
static inline const struct hop_row *node_of(const struct kb_sim *s, const struct txn *txn)
{
    return &T->hops[walk_segment(T, txn->at)->first_hop + txn->at.step];
}

/* The component that stands for a node; NULL: it is a plain delay. */
static inline const struct impl *node_impl(const struct kb_sim *s, const struct txn *txn,
                                           const struct hop_row *hop)
{
    return node_component(T, hop, txn->at.cube);
}

/* Whether the node is the m_cpu, at whose engine a host's transaction waits. */
static inline bool is_m_cpu(const struct kb_sim *s, const struct txn *txn,
                            const struct hop_row *hop)
{
    return hop->chiplet == AT_CUBE &&
           walk_cube_node(T, txn->at.cube, hop->node)->kind == NODE_M_CPU;
}

#endif
