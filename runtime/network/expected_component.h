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
 *   - early->asked_fs is when the one that was asked last ahead of time arrives, early->holder its
 *     slot until then; until it has arrived nothing was asked after it. When the memory was free
 *     before is in served.cycles_fs. memory->queued counts those that have an event to come; while
 *     it does, asked_fs is INT64_MAX, and memory->start_fs takes its place.
 *   - A completion counts if the transaction is still being served, and ends then: a call that was
 *     undone leaves an event behind, which instances.undone counts. Nothing is looked at before
 *     there is one.
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

/* It has an event at its arrival. While there are such, asked_fs is kept aside, in start_fs. */
static ALWAYS_INLINE void arrive_by_event(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct memory_station *memory = &s->memories[s->txns[slot].dst];
    struct link_station *early = &s->early[s->txns[slot].dst];

    if (memory->queued++ == 0) {
        memory->start_fs = (uint64_t)early->asked_fs;
        early->asked_fs = INT64_MAX;
    }
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, arrive, EV_ARRIVE, slot);
}

/* That event has come. */
static ALWAYS_INLINE void arrived_by_event(struct kb_sim *s, uint32_t slot)
{
    struct memory_station *memory = &s->memories[s->txns[slot].dst];

    if (--memory->queued == 0)
        s->early[s->txns[slot].dst].asked_fs = (int64_t)memory->start_fs;
}

/* When the one that was asked ahead last arrives at memory `dst`. */
static ALWAYS_INLINE int64_t *asked_of(const struct kb_sim *s, uint32_t dst)
{
    return s->memories[dst].queued ? (int64_t *)&s->memories[dst].start_fs
                                   : &s->early[dst].asked_fs;
}

/* It is asked ahead of its arrival. */
static ALWAYS_INLINE void ask_ahead(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;
    unsigned char *state = memory_state(s, dst);

    memcpy(state + saved_bytes(s), state, saved_bytes(s));
    s->instances.served[slot].cycles_fs = s->early[dst].free_fs;
    serve_at(s, 0, &s->early[dst], arrive, arrive, slot);
}

/* Has `slot`, which was asked ahead for the memory `dst`, not arrived? It may have ended since. */
static ALWAYS_INLINE bool is_open(const struct kb_sim *s, uint32_t dst, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    return txn->stage == TXN_SERVED && txn->dst == dst && txn->arrive_fs == *asked_of(s, dst);
}

/* Another one arrives before the holder: as if its call had not been made. */
static void take_back(struct kb_sim *s, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *memory = &s->early[txn->dst];
    unsigned char *state = memory_state(s, txn->dst);

    memcpy(state, state + saved_bytes(s), saved_bytes(s));
    memory->busy_fs -= (uint64_t)(memory->free_fs - txn->arrive_fs);
    memory->free_fs = s->instances.served[slot].cycles_fs;
    *asked_of(s, txn->dst) = -1;
    s->instances.undone++;
    txn->hold_fs = hold_fs(s, txn);
    arrive_by_event(s, (uint64_t)txn->arrive_fs, slot);
}

/* It comes to a memory that will not be free, or to which others are on their way: it is asked
 * ahead if it is first all the same. */
static __attribute__((noinline)) void expect_behind(struct kb_sim *s, uint64_t now, uint64_t arrive,
                                                    uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct link_station *early = &s->early[txn->dst];
    uint32_t holder = early->holder;
    bool open = *asked_of(s, txn->dst) >= (int64_t)now && is_open(s, txn->dst, holder);
    bool first = open ? !arrives_before(s, &s->txns[holder], txn) : !s->memories[txn->dst].queued;

    if (open && first)
        take_back(s, holder);
    if (first && early->free_fs <= (int64_t)arrive) {
        *asked_of(s, txn->dst) = (int64_t)arrive;
        ask_ahead(s, arrive, slot);
    } else {
        arrive_by_event(s, arrive, slot);
    }
}

/* It is `now`, and it will be at its memory, a component, at `arrive`. */
static ALWAYS_INLINE void expect_component(struct kb_sim *s, uint64_t now, uint64_t arrive,
                                           uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *early = &s->early[txn->dst];

    txn->arrive_fs = (int64_t)arrive;
    if (early->asked_fs >= (int64_t)now || early->free_fs > (int64_t)arrive) {
        expect_behind(s, now, arrive, slot);
        return;
    }
    early->asked_fs = (int64_t)arrive;
    ask_ahead(s, arrive, slot);
}

/* A completion at `t`: is it that of its call? Only a call that was undone leaves another. */
static ALWAYS_INLINE bool ends_by_component(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (__builtin_expect(!s->instances.undone, true))
        return true;
    if (s->txns[slot].stage == TXN_SERVED && (uint64_t)s->instances.served[slot].done_fs == t)
        return true;
    s->instances.undone--;
    return false;
}

#endif
