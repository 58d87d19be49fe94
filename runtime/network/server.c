/* server.c -- memories that choose: which of them it is. */
#include "network/server.h"
#include "network/banks.h"
#include "network/queueing.h"

void server_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                   const struct delivery *part)
{
    if (is_told(s, how) && s->router)
        observe_serve(s, t, t, slot, part->number);
    if (banks_has(s, &s->txns[slot]))
        banks_arrive(s, how, t, slot, part);
    else
        queue_arrive(s, how, t, slot, part);
}

bool server_expects(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot)
{
    return banks_has(s, &s->txns[slot]) && !s->banks->pool.routed &&
           banks_expect(s, t, drain_fs, slot);
}

void server_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    if (memory_queues(s->topo, dst))
        queue_wake(s, how, t, dst);
    if (s->banks && s->banks->by_memory[dst]) /* those behind a component come last */
        banks_wake(s, how, t, s->banks->by_memory[dst]);
}

void server_leave(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->txns[slot].service_fs = (int64_t)t; /* its end: the begin is not defined */
}
