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
#include "network/network_router.h"

/* The transaction in `slot`, as it would be asked whole. */
static ALWAYS_INLINE struct kb_request request_behind(const struct kb_sim *s, uint32_t slot)
{
    struct kb_request request = memory_request(s, slot);

    request.drain_fs = way_drain_fs(s, slot);
    return request;
}

/* The same of a part of `whole`. */
static inline struct kb_request part_request(const struct kb_sim *s, uint32_t slot,
                                             const struct kb_request *whole,
                                             const struct delivery *part)
{
    return packet_request(whole, part->from, part->nbytes, way_gbs(s, slot),
                          memory_own_gbs(s, slot));
}

/* What `answer` to the part `asked` of `whole` makes of its turn. */
static inline void set_end(struct turn *turn, const struct kb_request *whole,
                           const struct kb_request *asked, bool first, bool writes,
                           struct kb_served answer)
{
    int64_t fs = first ? added_fs(asked, (int64_t)turn->start_fs, answer) : 0;

    if (!first) {
        turn->end_fs = (uint64_t)packet_end_fs(asked, answer);
        return;
    }
    turn->end_fs = after(turn->start_fs, fs + (writes ? whole->drain_fs : 0));
    turn->behind_fs = fs < whole->latency_fs ? fs : whole->latency_fs;
}

/* A component holds it for what it says. If that is the drain at least, its last bytes come at the
 * pace of the route, else at its own. */
static inline double pace_of(const struct kb_sim *s, uint32_t slot, const struct kb_request *asked,
                             int64_t hold_fs)
{
    return hold_fs - asked->overhead_fs < asked->drain_fs ? memory_own_gbs(s, slot)
                                                          : way_gbs(s, slot);
}

/* A part that has come at `t` has its turn when the component is free, at `*free_fs`, which it says
 * for the next one. */
static inline struct turn take_by_component(struct kb_sim *s, uint32_t slot, uint64_t t,
                                            const struct delivery *part, uint64_t *free_fs)
{
    const struct txn *txn = &s->txns[slot];
    struct turn turn = {.start_fs = *free_fs > t ? *free_fs : t, .end_fs = ROUTER_NEVER};
    struct kb_request whole = request_behind(s, slot), asked = whole;
    struct kb_served answer = {.done_fs = INT64_MAX};

    if (txn_writes(txn))
        asked = part_request(s, slot, &whole, part);
    if (turn.start_fs != INT64_MAX) /* else it is held without end: nothing is asked */
        answer = ask_memory(s, txn->dst, &asked, turn.start_fs);
    if (__builtin_expect(!is_answer(turn.start_fs, answer), false)) {
        end_by_component(s, slot, turn.start_fs, answer);
        return turn;
    }
    turn.hold_fs = (uint64_t)answer.hold_fs;
    turn.gbs = pace_of(s, slot, &asked, answer.hold_fs);
    *free_fs = after(turn.start_fs, answer.hold_fs);
    if (__builtin_expect(answer.done_fs == INT64_MAX, false)) {
        if (s->router->flights[slot].least_fs != ROUTER_NEVER)
            instances_never(s, memory_impl(T, txn->dst), slot);
        return turn;
    }
    if (part->from == 0)
        s->instances.served[slot].memory_fs = added_fs(&asked, (int64_t)turn.start_fs, answer);
    set_end(&turn, &whole, &asked, part->from == 0, txn_writes(txn), answer);
    return turn;
}

#endif
