/* m_cpu.h -- m_cpu: the DMA engines through which a host reaches the memories of a cube.
 *
 * It holds        a host's transaction, from after the m_cpu's overhead until its last byte has
 *                 been served; one of a PE does not come here
 * For how long    the rest of the way and the service at the memory
 * Goes first      first come, first served: a list in order of arrival
 * Wait counted    queue_engine (KB_WAIT_ENGINE), measured in take_engine()
 * Golden number   docs/model.md "Worked: a host, its engine and its response": the second of two
 *                 transfers comes to the one write engine at 21.17 ns, and waits 34.11125 ns
 *
 * d2h takes a read engine (m_cpu.dma_read), h2d a write engine (m_cpu.dma_write).
 *
 * Tried and slower: to settle an engine's turn without an event, two events a transaction instead
 * of three. To count those that wait meant to walk rows that are not in the cache: 97 -> 200 ns.
 */
#ifndef NETWORK_M_CPU_H
#define NETWORK_M_CPU_H
#include "network/way.h"

static inline struct station *engine_of(struct kb_sim *s, const struct txn *x)
{
    return &s->engines[2 * (size_t)dst_cube(T, x->dst) + txn_writes(x)];
}

/* wait_fs, which holds the time of arrival, becomes the wait. */
static ALWAYS_INLINE void take_engine(struct kb_sim *s, int how, struct station *engine, uint64_t t,
                                      uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    engine->holder = slot;
    engine->busy_fs -= t; /* leave_m_cpu() adds the time of completion */
    txn->wait_fs = (int64_t)t - txn->wait_fs;
    if (is_told(s, how))
        observe_take(s, t, slot, STATION_ENGINE);
    leave_engine(s, how, t, slot);
}

static ALWAYS_INLINE void come_to_engine(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct station *engine = engine_of(s, txn);

    txn->wait_fs = (int64_t)t;
    if (is_told(s, how))
        observe_come(s, t, slot, STATION_ENGINE);
    if (engine->idle) {
        engine->idle--;
        take_engine(s, how, engine, t, slot);
    } else {
        station_enqueue(engine, s->txns, slot);
    }
}

/* Its service has ended at `t`: the engine goes to the first that waits. */
static ALWAYS_INLINE void leave_m_cpu(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct station *engine = engine_of(s, &s->txns[slot]);

    engine->busy_fs += t;
    if (is_told(s, how))
        observe_release(s, t, slot, STATION_ENGINE);
    if (station_waited_for(engine))
        take_engine(s, how, engine, t, station_dequeue(engine, s->txns));
    else
        engine->idle++;
}

#endif
