/* arbiter.h -- events of class 5: an output port or a memory's channel decides what goes next.
 *
 * A step of another class changes a queue, and asks the arbiter of that queue to decide. The
 * decision is an event of its own, of the last class: it runs behind all that happens at its
 * instant, so it sees all of it, and the order in which the arrivals of one instant were handled
 * does not matter.
 *
 *     asks      when anything that the decision reads changes, now or at a known time to come
 *     decides   once at each instant for which it was asked, however often that was
 *     order     (time, class 5, id): arbiters are numbered in one row, nodes in their order, a
 * node's ports before its channels. The numbers order events and are nothing else posts     only at
 * later times: what is decided at t is seen at t + 1 fs at the earliest records   a grant, with the
 * id of the transaction granted (seen(), class 5). A decision that grants nothing changes nothing,
 * is not counted, and is not in the fingerprint
 *
 * An event of class 5 has no transaction: its slot says which arbiter is meant, and of what kind.
 *
 * Example. Two reads come to an idle channel at 10 ns, by events of class 2. Each asks for 10 ns;
 * the second finds that it has been asked for. At 10 ns, class 5, the channel opens the row of the
 * first, which will be ready at 24 ns, and asks for 24. There it grants the bus to that read, and
 * asks for 26, when the bus is free.
 *
 * Times are kept plus 1, so that an arbiter of zeros has never been asked.
 */
#ifndef ARBITER_H
#define ARBITER_H
#include "engine/how.h"

/* What decides: the topmost bit of the event's slot. The others are its index among its kind. */
enum arbiter_kind { ARBITER_PORT, ARBITER_CHANNEL };

enum { ARBITER_KIND_BIT = EV_SLOT_BITS - 1 };

struct arbiter {
    uint64_t asked;   /* 1 + the time for which it was asked last */
    uint64_t decided; /* 1 + the time at which it has decided last */
};

/* It will decide at `t`, not before now. `id`: its number among all arbiters, `index`: of its kind.
 */
static ALWAYS_INLINE void arbiter_ask(struct kb_sim *s, struct arbiter *a, enum arbiter_kind kind,
                                      uint64_t t, uint32_t id, uint32_t index)
{
    uint32_t slot = (uint32_t)kind << ARBITER_KIND_BIT | index;

    if (a->asked == t + 1 || a->decided == t + 1)
        return;
    a->asked = t + 1;
    if (!ev_push(&s->queue, ev_make(t, EV_ARBITER, id, slot)))
        fail(s, KB_NO_MEMORY);
}

static inline enum arbiter_kind arbiter_kind(uint32_t slot)
{
    return (enum arbiter_kind)(slot >> ARBITER_KIND_BIT);
}

static inline uint32_t arbiter_index(uint32_t slot)
{
    return slot & ((1u << ARBITER_KIND_BIT) - 1);
}

/* Its event has come, at `t`. False: there has been one at `t` before, which decided. */
static ALWAYS_INLINE bool arbiter_decides(struct arbiter *a, uint64_t t)
{
    if (a->decided == t + 1)
        return false;
    a->decided = t + 1;
    return true;
}

#endif
