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
 * such a node is a stop for every engine, and has an event of class 1: it is asked before others of
 * that instant come to links. Links of such a machine are stops of their own.
 *
 * Example: cube8 with ideal links, c0.pe0 reads c1.slice0, and noc is a component. Stops: noc of
 * cube 0, noc of cube 1, the slice. Between the two noc's lie wires and two ucie: one sum.
 */
#ifndef NETWORK_COMPONENT_NODE_H
#define NETWORK_COMPONENT_NODE_H
#include "engine/how.h"
#include "machine/walk.h"

enum { NODE_NEVER = -1 }; /* it does not go on: never, or the run ends */

/* What a node is asked of `nbytes` of a transaction. */
static inline struct kb_request node_request(const struct kb_sim *s, int64_t overhead_fs,
                                             uint64_t nbytes, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    return (struct kb_request){
        .id = record_id(s, slot),
        .op = txn->op,
        .source = txn_of_host(txn) ? UINT32_MAX : pe_number(T, txn->src),
        .bytes = nbytes,
        .overhead_fs = overhead_fs,
        .k = 1,
        .n = 1,
    };
}

/* The head of `nbytes` is at `t` at a node: how long that takes, or NODE_NEVER. */
static inline int64_t ask_node_of(struct kb_sim *s, uint64_t t, uint32_t slot, size_t node,
                                  uint64_t nbytes, int64_t overhead_fs)
{
    const struct impl *impl = component_at(T, node);
    const struct kb_request request = node_request(s, overhead_fs, nbytes, slot);
    int64_t delay_fs = impl->delay(s->instances.nodes + node * instance_of_node_bytes(T->impls),
                                   &request, (int64_t)t);

    if (delay_fs < 0) {
        instances_fault(s, impl, slot, t, (struct kb_served){.hold_fs = delay_fs});
        fail(s, KB_COMPONENT_ERROR);
        return NODE_NEVER;
    }
    if (delay_fs == INT64_MAX) {
        instances_never(s, impl, slot);
        return NODE_NEVER;
    }
    return delay_fs;
}

/* The head of a transaction is at `t` at the node of `hop`, in `cube`. */
static inline int64_t ask_node(struct kb_sim *s, uint64_t t, uint32_t slot,
                               const struct hop_row *hop, uint32_t cube)
{
    const struct trip trip = txn_trip(T, &s->txns[slot]);
    int64_t overhead_fs = hop->overhead_fs & s->mask.overhead;
    int64_t delay_fs =
        ask_node_of(s, t, slot, walk_node(T, hop, cube, &trip), s->txns[slot].nbytes, overhead_fs);

    if (delay_fs == NODE_NEVER)
        return delay_fs;
    s->instances.served[slot].delay_fs += delay_fs - overhead_fs;
    s->instances.served[slot].node_fs = delay_fs;
    return delay_fs;
}

#endif
