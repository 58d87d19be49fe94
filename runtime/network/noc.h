/* noc.h -- noc, where links are ideal: the whole way is one sum.
 *
 * It holds        nothing: neither a noc nor an ideal link makes a transaction wait
 * For how long    the crossing: ns_per_mm over the distance in x and y between the two edges
 * Goes first      all: there is no queue. A link only narrows the bottleneck of the drain.
 * Wait counted    none: KB_WAIT_LINK is 0 with ideal links, and kb_sim_result() checks that
 * Golden number   docs/model.md "Worked: three ways to a slice"
 *
 * With ideal links nothing happens between two stations, so the generator has added up wires,
 * crossings and overheads of each part of a route (cost_of_pe(), at most three additions), and a
 * transaction goes from its channel to its memory in one step. A noc with routers that queue would
 * be another file beside this one, with stations in engine/state.h and a step of its own in
 * arrive().
 */
#ifndef NETWORK_NOC_H
#define NETWORK_NOC_H
#include "machine/cost.h"
#include "network/memory.h"
#include "network/pcie_ep.h"

/* From its channel to its memory; a host's, from pcie_ep to the engine of the m_cpu. */
static ALWAYS_INLINE void set_out_ideal(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    /* cppcheck-suppress uninitvar */
    struct known_cost here, *cost = how & HOW_KERNELS ? kernels_known_cost(s, slot) : &here;
    const struct trip trip = txn_trip(T, txn);
    struct cost_row way;

    if (txn_of_host(txn)) {
        way = cost_host_to_engine(T, &trip);
        txn->stage = TXN_TO_ENGINE;
        enter_pipe(s, after(t, cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs)), slot);
        return;
    }
    if (!(how & HOW_KERNELS) || cost->nbytes != txn->nbytes || cost->dst != txn->dst ||
        (!T->regular && cost->plane != txn->plane))
        *cost = cost_known(T, &s->mask, &trip, txn_writes(txn), txn->nbytes);
    txn->hold_fs = cost->hold_fs;
    go_to_memory(s, how, t, cost->way_fs, slot);
}

/* From the engine to the memory. */
static inline void leave_engine_ideal(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *x = &s->txns[slot];
    const struct trip trip = txn_trip(T, x);
    struct cost_row way = cost_engine_to_memory(T, &trip);

    x->hold_fs = hold_fs(s, x);
    go_to_memory(s, how, t, cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs), slot);
}

#endif
