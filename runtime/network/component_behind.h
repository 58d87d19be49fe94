/* component_behind.h -- a memory that is a component (`cube.hbm.impl`), behind routers: each packet
 * of a write, or a read, is a call.
 *
 * It holds        what the component says: hold_fs from the begin of service
 * Goes first      the smallest (arrival of the first segment, id, packet), as any sink
 * Wait counted    queue_memory: of the first packet
 * Golden number   docs/components.md
 *
 * machine/component_packets.h has what is asked, and what the answers make of a transaction.
 */
#ifndef NETWORK_COMPONENT_BEHIND_H
#define NETWORK_COMPONENT_BEHIND_H
#include "machine/component_packets.h"
#include "network/component_memory.h"

/* The transaction in `slot`, as it would be asked whole. */
static ALWAYS_INLINE struct kb_request request_behind(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    struct kb_request request = memory_request(s, slot);

    request.drain_fs = drain_fs(txn->nbytes, s->router->flights[slot].way->gbs);
    request.own_fs = drain_fs(txn->nbytes, cost_own_gbs(&s->mask, memory));
    return request;
}

/* The answer is never: its memory is free again, but it has no end. */
static inline void end_never(struct kb_sim *s, uint32_t slot)
{
    uint64_t *served_fs = &s->router->flights[slot].served_fs;

    if (*served_fs != ROUTER_NEVER)
        instances_never(s, memory_impl(T, s->txns[slot].dst), slot);
    *served_fs = ROUTER_NEVER;
}

/* Bytes `from` on of the transaction in `slot` have their turn at `start`: how long they hold it.
 */
static inline int64_t hold_behind(struct kb_sim *s, uint32_t slot, uint64_t start, uint64_t from,
                                  uint64_t nbytes)
{
    struct txn *txn = &s->txns[slot];
    struct flight *flight = &s->router->flights[slot];
    struct served *served = &s->instances.served[slot];
    struct kb_request whole = request_behind(s, slot), asked = whole;
    struct kb_served answer;

    if (__builtin_expect(start == INT64_MAX, false)) { /* held without end: nothing is asked */
        end_never(s, slot);
        return 0;
    }
    if (txn_writes(txn))
        asked = packet_request(&whole, from, nbytes, flight->way->gbs,
                               cost_own_gbs(&s->mask, cost_memory(T, txn->dst, true)));
    answer = ask_memory(s, txn->dst, &asked, start);
    if (__builtin_expect(!is_answer(start, answer), false)) {
        end_by_component(s, slot, start, answer);
        return 0;
    }
    if (__builtin_expect(answer.done_fs == INT64_MAX, false)) {
        end_never(s, slot);
        return answer.hold_fs;
    }
    if (from == 0)
        served->memory_fs = added_fs(&asked, (int64_t)start, answer);
    if (txn_writes(txn)) {
        uint64_t end_fs = from ? (uint64_t)packet_end_fs(&asked, answer)
                               : after(start, served->memory_fs + whole.drain_fs);

        flight->served_fs = end_fs > flight->served_fs ? end_fs : flight->served_fs;
    }
    return answer.hold_fs;
}

#endif
