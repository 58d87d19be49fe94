/* early_memory.h -- a memory that is free for the next one before its transaction is done.
 *
 * It holds        one transaction at a time; those that are done with the memory, but whose bytes
 *                 are still on a narrower way, or late by the latency, are in no one's way
 * For how long    hold `own`: overhead and nbytes over the memory's own bandwidth; hold `route`,
 *                 with a latency: overhead and the drain of the route: cost_taken_fs()
 * Goes first      first come, first served: the smallest (arrival, id)
 * Wait counted    queue_memory = service begins - arrival (KB_WAIT_MEMORY)
 * Golden number   docs/model.md "Worked: memories that overlap": a read of 4 KiB arrives at 5.145
 *                 ns, waits for the slice until 20.095, and is done at 52.095
 *
 * Two times follow from the begin of service, both known at once:
 *
 *     free   begin + overhead + nbytes / the memory's own bandwidth
 *     done   begin + overhead + nbytes / the narrowest bandwidth of the route + latency
 *
 * Nothing happens when the memory becomes free, so there is no event for it: the next service
 * begins at the later of `free` and its arrival, as at a link (network/turn.h). The station is
 * that of a link, s->early[], with its way to count waits. `done` is the only event; until then
 * the transaction keeps its channel or engine, and its content.
 *
 * Services begin in order of arrival. So the turn is taken at the event of the arrival, and the
 * completion posted: serve_early(). Kernels leave that event out where no other can come first:
 * comes_first().
 *
 * Example (cube8 with hold: own). c0.pe1 and c0.pe4 both read 4096 bytes of c0.slice0 at 0, by ways
 * of 128 GB/s, 32 ns; the slice has 256 GB/s, 16 ns. pe1's arrives at 4.095, and is done at
 * 36.095; the slice is free at 20.095. pe4's arrives at 5.145: it begins at 20.095, and is done at
 * 52.095. With hold: route it would begin at 36.095.
 *
 * Invariants
 *   - Nothing keeps the memory longer than its service lasts: its own bandwidth is at least that of
 *     the edge into it, which is one of the route. So `free` <= `done`.
 */
#ifndef NETWORK_EARLY_MEMORY_H
#define NETWORK_EARLY_MEMORY_H
#include "network/component_memory.h"

/*
 * Is the memory of the transaction in `slot`, which is no stage inside a PE, free before it is
 * done? Only kernels reach TCMs.
 */
static ALWAYS_INLINE bool memory_is_early(const struct kb_sim *s, int how, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (T->early == EARLY_ALL && !(how & HOW_KERNELS))
        return true;
    return T->early && memory_frees_early(cost_memory(T, txn->dst, txn_writes(txn)));
}

/* For how long the transaction keeps others from its memory; txn->hold_fs is known. */
static ALWAYS_INLINE int64_t taken_fs(const struct kb_sim *s, const struct txn *txn)
{
    return cost_taken_fs(&s->mask, cost_memory(T, txn->dst, txn_writes(txn)), txn->hold_fs,
                         txn->nbytes);
}

/* It is at its memory at `t`, after all that come before it. */
static ALWAYS_INLINE void serve_early(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *memory = &s->early[txn->dst];
    int64_t hold_fs = txn->hold_fs;
    uint64_t start;

    if (is_served(s, how, slot)) {
        uint64_t done = serve_by_component(s, how, t, slot);

        if (done != COMPONENT_NEVER)
            post(s, done, EV_DONE, slot);
        return;
    }
    start = take_turn(s, memory, taken_fs(s, txn), t);
    if (is_told(s, how))
        observe_take(s, start, slot, STATION_MEMORY);
    txn->service_fs = (int64_t)start;
    post(s, after(start, hold_fs), EV_DONE, slot);
}

#endif
