/* pcie_ep.h -- pcie_ep: where the transactions of a host set out.
 *
 * It holds        nothing that delays: a host may have any number of transactions in flight
 * For how long    its overhead is a plain delay: network/node.h
 * Goes first      all leave at once
 * Wait counted    none here; a host waits at the engine of an m_cpu: network/m_cpu.h
 * Golden number   docs/model.md "Worked: a host, its engine and its response"
 *
 * A pipe keeps the number of pending events small. All transactions of one pipe have the same way
 * to their first station, so they arrive in the order in which they were issued, and only the first
 * of each pipe needs an event. Links ideal: one pipe for each cube; fifo: one for each SIP.
 */
#ifndef NETWORK_PCIE_EP_H
#define NETWORK_PCIE_EP_H
#include "engine/how.h"

static inline struct txn_list *pipe_of(struct kb_sim *s, const struct txn *x)
{
    uint32_t cube = dst_cube(T, x->dst);

    return &s->pipes[T->links == MODE_FIFO ? cube / T->cubes : cube];
}

/*
 * A host's transaction sets out, and reaches its first station at `arrive`. With dependencies a
 * transaction may be issued after another one of its time with a larger id; then each has an event.
 * So it is where hosts, planes and detours give several ways to one cube.
 */
static ALWAYS_INLINE void enter_pipe(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct txn_list *pipe = pipe_of(s, &s->txns[slot]);

    if (!T->regular || __builtin_expect(s->dependencies != NULL, 0)) {
        post(s, arrive, EV_ARRIVE, slot);
        return;
    }
    s->txns[slot].arrive_fs = (int64_t)arrive;
    s->txns[slot].piped = true;
    if (pipe->head == TXN_NONE)
        post(s, arrive, EV_ARRIVE, slot);
    txn_append(pipe, s->txns, slot);
}

/* It has arrived: the next in its pipe gets an event. */
static inline void leave_pipe(struct kb_sim *s, struct txn *txn)
{
    struct txn_list *pipe = pipe_of(s, txn);

    txn->piped = false;
    txn_take(pipe, s->txns);
    if (pipe->head != TXN_NONE)
        post(s, (uint64_t)s->txns[pipe->head].arrive_fs, EV_ARRIVE, pipe->head);
}

#endif
