/* expected_component.h -- a memory that is a component, without events of arrivals: for runs that
 * count no event.
 *
 * When a request sets out its arrival is known (it may set out before its time: ride() passes links
 * ahead, so what counts is the time that it is `now`), but others that set out later may arrive
 * before it. Mostly none does: so if nothing else is on its way to the memory, and the memory will
 * be free, the component is asked ahead of time, after its state was saved, and the completion is
 * posted. If another one arrives first after all, the state is restored as if nothing had been
 * asked, and the first one gets an event for its arrival, at which it is asked again. All others
 * get such an event at once. So an instance is asked in the order of its turns, and at most one
 * call is ever undone.
 *
 * Example. At 0 ns A sets out and will arrive at 10: the component is asked for 10. At 3 ns B sets
 * out and will arrive at 5: the call for A is undone, B's is made for 5, A has an event at 10.
 *
 * Invariants
 *   - memory->holder is the one that was asked last ahead of time; until it has arrived nothing was
 *     asked after it. memory->queued counts those that have an event to come.
 *   - A completion counts if the transaction is still being served, and ends then: a call that was
 *     undone leaves an event behind.
 *   - It was idle when it was asked ahead, so no wait was counted, and its hold is free_fs -
 * arrival.
 */
#ifndef NETWORK_EXPECTED_COMPONENT_H
#define NETWORK_EXPECTED_COMPONENT_H
#include "network/memory.h"
#include <string.h>

/* The state of memory `dst`; behind it stands the saved one. */
static ALWAYS_INLINE unsigned char *memory_state(const struct kb_sim *s, uint32_t dst)
{
    return s->instances.memories + dst * instance_of_memory_bytes(T->impls);
}

/* How much of it is saved: as much of all, so that it is a constant. */
static ALWAYS_INLINE size_t saved_bytes(const struct kb_sim *s)
{
    (void)s; /* T names it only where any topology runs */
    return instance_of_memory_bytes(T->impls) / 2;
}

/* It has an event at its arrival. */
static ALWAYS_INLINE void arrive_by_event(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    s->memories[s->txns[slot].dst].queued++;
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, arrive, EV_ARRIVE, slot);
}

/* Another one arrives before the holder: as if its call had not been made. */
static __attribute__((noinline)) void take_back(struct kb_sim *s, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *memory = &s->early[txn->dst];
    unsigned char *state = memory_state(s, txn->dst);

    memcpy(state, state + saved_bytes(s), saved_bytes(s));
    memory->busy_fs -= (uint64_t)(memory->free_fs - txn->arrive_fs);
    memory->free_fs = (int64_t)s->memories[txn->dst].start_fs;
    s->memories[txn->dst].holder = TXN_NONE;
    txn->hold_fs = hold_fs(s, txn);
    arrive_by_event(s, (uint64_t)txn->arrive_fs, slot);
}

/* It is `now`, and it will be at its memory, a component, at `arrive`. */
static ALWAYS_INLINE void expect_component(struct kb_sim *s, uint64_t now, uint64_t arrive,
                                           uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct memory_station *memory = &s->memories[txn->dst];
    struct link_station *early = &s->early[txn->dst];
    uint32_t holder = memory->holder;
    unsigned char *state;
    bool open = holder != TXN_NONE && (uint64_t)s->txns[holder].arrive_fs >= now;

    txn->arrive_fs = (int64_t)arrive;
    bool first = open ? !arrives_before(s, &s->txns[holder], txn) : !memory->queued;

    if (open && first)
        take_back(s, holder);
    if (!first || early->free_fs > (int64_t)arrive) {
        arrive_by_event(s, arrive, slot);
        return;
    }
    state = memory_state(s, txn->dst);
    memcpy(state + saved_bytes(s), state, saved_bytes(s));
    memory->start_fs = (uint64_t)early->free_fs;
    memory->holder = slot;
    serve_at(s, 0, early, arrive, arrive, slot);
}

/* A completion at `t`: is it that of its call? */
static ALWAYS_INLINE bool ends_by_component(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct memory_station *memory = &s->memories[s->txns[slot].dst];

    if (s->txns[slot].stage != TXN_SERVED || (uint64_t)s->instances.served[slot].done_fs != t)
        return false;
    if (memory->holder == slot)
        memory->holder = TXN_NONE;
    return true;
}

#endif
