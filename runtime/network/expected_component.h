/* expected_component.h -- a memory that is a component, without events of arrivals: for runs that
 * count no event.
 *
 * When a request sets out its arrival is known (it may set out before its time: ride() passes links
 * ahead, so what counts is the time that it is `now`), but others that set out later may arrive
 * before it. Mostly none does: so if nothing else is on its way to the memory, and the memory will
 * be free, the component is asked ahead of time, after its state was saved, and the completion is
 * posted. If another one arrives first after all, the state is restored as if nothing had been
 * asked, and the other one is asked. So an instance is asked in the order of its turns, and at most
 * one call is ever undone.
 *
 * All others wait in a queue in order of arrival, as in network/memory.h. Mostly a memory is free
 * exactly when a transaction is done: then its completion calls the first of the queue, which is
 * asked for that time, or ahead if it has not arrived by then. Where a component answers otherwise,
 * the first of the queue has a call of its own, an event at which it has arrived and the memory is
 * free. All that have arrived by then are asked at once, so most have none.
 *
 * Example. 4 KiB hold an idle memory for 16 ns. At 0 ns A sets out and will arrive at 10: the
 * component is asked for 10, and A is done at 26. At 3 ns B sets out and will arrive at 5: the call
 * for A is undone, B's is made for 5, and A is in the queue. At 21 B is done, and A is asked for
 * 21. The event at 26 finds that A ends at 37.
 *
 * What takes no time at all (a way of 0 fs, or a service that ends when it begins) may be followed
 * by another arrival at the same instant, which must come behind those that were there first. Only
 * the order of events tells: so such a transaction has an event for its arrival, and came_id says
 * how far the arrivals of that instant are.
 *
 * Invariants
 *   - early->holder is the one that was asked last, early->asked_fs its arrival if it was asked
 *     ahead. Until then nothing is asked after it. When the memory was free before is in
 *     served.cycles_fs. It was idle then, so no wait was counted, and it is held for free_fs -
 *     arrival.
 *   - While the queue is not empty early->asked_fs is INT64_MAX, and memory->asked_fs takes its
 *     place. Then the first of the queue has an event, or a completion is to come at free_fs.
 *   - TXN_EXPECTED is in the queue, and others call it; TXN_TO_MEMORY, too, and it is asked at the
 *     event of its arrival.
 *   - A completion counts if the transaction is still being served, and ends then: a call that was
 *     undone leaves an event behind. instances.undone counts these, and calls of the queue. Nothing
 *     is looked at before there is one.
 */
#ifndef NETWORK_EXPECTED_COMPONENT_H
#define NETWORK_EXPECTED_COMPONENT_H
#include "network/memory.h"

/* When the one that was asked ahead last arrives at memory `dst`. */
static ALWAYS_INLINE int64_t *asked_of(const struct kb_sim *s, uint32_t dst)
{
    return s->memories[dst].head != TXN_NONE ? &s->memories[dst].asked_fs : &s->early[dst].asked_fs;
}

/* -- the queue ------------------------------------------------------------------------------ */

/*
 * Does `a`, which is known, come before `x`, which is new? The same as arrives_before(), but that
 * of those which come at this instant some would have had their event.
 */
static ALWAYS_INLINE bool comes_first_of(const struct kb_sim *s, const struct txn *a,
                                         const struct txn *x)
{
    return arrives_before(s, a, x) ||
           (a->arrive_fs == x->arrive_fs && a->stage != TXN_TO_MEMORY &&
            a->arrive_fs == s->instances.came_fs && a->id <= s->instances.came_id);
}

/* It is the first. */
static ALWAYS_INLINE void put_first(struct kb_sim *s, uint32_t slot)
{
    struct memory_station *memory = &s->memories[s->txns[slot].dst];
    struct link_station *early = &s->early[s->txns[slot].dst];

    if (memory->head == TXN_NONE) {
        memory->asked_fs = early->asked_fs;
        early->asked_fs = INT64_MAX;
        memory->tail = slot;
    }
    s->txns[slot].next = memory->head;
    memory->head = slot;
}

/* Takes the first, `slot`, which has arrived, or will be asked ahead. */
static ALWAYS_INLINE void take_from_queue(struct kb_sim *s, struct memory_station *memory,
                                          struct link_station *early, uint32_t slot)
{
    memory->head = s->txns[slot].next;
    if (memory->head == TXN_NONE)
        early->asked_fs = -1;
    else
        txn_prefetch(&s->txns[memory->head]);
}

/* It arrives by an event. */
static ALWAYS_INLINE void arrive_by_event(struct kb_sim *s, uint32_t slot)
{
    s->txns[slot].stage = TXN_TO_MEMORY;
    post(s, (uint64_t)s->txns[slot].arrive_fs, EV_ARRIVE, slot);
}

/* Is the memory free exactly when the one that was asked last is done? */
static ALWAYS_INLINE bool ends_together(const struct kb_sim *s, const struct link_station *early)
{
    return s->instances.served[early->holder].done_fs == early->free_fs;
}

/* Its turn is when it has arrived and the memory is free: an event that is no completion. */
static __attribute__((noinline)) void call_in_turn(struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    int64_t free_fs = s->early[txn->dst].free_fs;

    s->instances.undone++;
    post(s, (uint64_t)(free_fs > txn->arrive_fs ? free_fs : txn->arrive_fs), EV_DONE, slot);
}

/* The one that was asked last has answered: what calls the first of the queue? */
static void call_first(struct kb_sim *s, uint32_t dst)
{
    uint32_t slot = s->memories[dst].head;

    if (slot != TXN_NONE && s->txns[slot].stage == TXN_EXPECTED &&
        !ends_together(s, &s->early[dst]))
        call_in_turn(s, slot);
}

/* -- calls ---------------------------------------------------------------------------------- */

/* It is asked ahead of its arrival, at which the memory is free. */
static ALWAYS_INLINE void ask_ahead(struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    uint64_t arrive = (uint64_t)txn->arrive_fs;

    serve_at(s, 0, &s->early[txn->dst], arrive, arrive, slot, true);
}

/* The same, and then what waits for it. */
static void ask_ahead_of_queue(struct kb_sim *s, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;

    *asked_of(s, dst) = s->txns[slot].arrive_fs;
    ask_ahead(s, slot);
    call_first(s, dst);
}

/* It has arrived, and is asked for when its memory is free. */
static void ask_in_turn(struct kb_sim *s, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;

    take_from_queue(s, &s->memories[dst], &s->early[dst], slot);
    *asked_of(s, dst) = -1;
    serve_by_component(s, 0, (uint64_t)s->txns[slot].arrive_fs, slot);
}

/* The first has not arrived before `t`, and is next. */
static void serve_ahead(struct kb_sim *s, uint32_t dst, uint64_t t)
{
    struct memory_station *memory = &s->memories[dst];
    struct link_station *early = &s->early[dst];
    uint32_t slot = memory->head;
    int64_t arrive_fs = s->txns[slot].arrive_fs;

    if (memory->asked_fs >= (int64_t)t && arrive_fs == (int64_t)t) {
        arrive_by_event(s, slot); /* another one has just come, and may still be undone */
    } else if (memory->asked_fs >= (int64_t)t || early->free_fs > arrive_fs) {
        call_in_turn(s, slot);
    } else {
        take_from_queue(s, memory, early, slot);
        ask_ahead_of_queue(s, slot);
    }
}

/* At `t` the first of the queue is called: those that have arrived are asked, up to one whose
 * completion calls the next. */
static __attribute__((noinline)) void serve_expected(struct kb_sim *s, uint32_t dst, uint64_t t)
{
    const struct memory_station *memory = &s->memories[dst];
    uint32_t slot;

    while ((slot = memory->head) != TXN_NONE && s->status == KB_OK) {
        if (s->txns[slot].arrive_fs >= (int64_t)t) {
            if (s->txns[slot].stage == TXN_EXPECTED)
                serve_ahead(s, dst, t);
            return;
        }
        ask_in_turn(s, slot);
        if (ends_together(s, &s->early[dst]))
            return;
    }
}

/* The event of its arrival: it is asked, behind those that have come before it. */
static __attribute__((noinline)) void arrived_by_event(struct kb_sim *s, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst, first;

    s->instances.came_fs = s->txns[slot].arrive_fs;
    s->instances.came_id = s->txns[slot].id;
    do {
        first = s->memories[dst].head;
        ask_in_turn(s, first);
    } while (first != slot && s->status == KB_OK);
    call_first(s, dst);
}

/* Its service ends at `t`. If its memory is free now, the first that waits is asked. */
static ALWAYS_INLINE void leave_component(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;
    struct link_station *early = &s->early[dst];
    struct memory_station *memory = &s->memories[dst];
    uint32_t first;

    if (__builtin_expect(early->asked_fs <= (int64_t)t || early->free_fs != (int64_t)t, true))
        return;
    first = memory->head;
    /* if it has arrived, it has no event that is to come */
    if (__builtin_expect(s->txns[first].arrive_fs < (int64_t)t, true)) {
        take_from_queue(s, memory, early, first);
        if (serve_at(s, 0, early, (uint64_t)s->txns[first].arrive_fs, t, first, false) ||
            memory->head == TXN_NONE)
            return;
    }
    serve_expected(s, dst, t);
}

/* -- arrivals that are known ---------------------------------------------------------------- */

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
    s->instances.served[slot].done_fs = -1;
    s->instances.undone++;
    txn->hold_fs = hold_fs(s, txn);
    txn->stage = TXN_EXPECTED;
    put_first(s, slot);
    *asked_of(s, txn->dst) = -1;
}

/* It was asked ahead and takes no time: what its end brings about comes behind other arrivals of
 * its instant, so it has an event. */
static void undo_zero(struct kb_sim *s, uint32_t slot)
{
    take_back(s, slot);
    s->instances.undone--; /* it has no completion */
    arrive_by_event(s, slot);
}

/* It is called when it has come and the memory is free; at this very instant by an event, behind
 * those that come before it. */
static void call_later(struct kb_sim *s, uint64_t now, uint32_t slot)
{
    if (s->txns[slot].arrive_fs == (int64_t)now)
        arrive_by_event(s, slot);
    else
        call_in_turn(s, slot);
}

/* It comes before all others: it is asked ahead, if the memory is free by then. */
static void expect_first(struct kb_sim *s, uint64_t now, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (s->early[txn->dst].free_fs <= txn->arrive_fs && txn->arrive_fs > (int64_t)now) {
        ask_ahead_of_queue(s, slot);
        return;
    }
    put_first(s, slot);
    call_later(s, now, slot);
}

/*
 * memory->arrived is to be the link behind all of the queue that have arrived: each is passed once.
 * What was taken from the queue since is not in it any more, unless its slot is there again.
 */
static void pass_arrived(struct kb_sim *s, uint32_t dst, uint64_t now)
{
    struct memory_station *memory = &s->memories[dst];
    uint32_t *link = memory->arrived;

    if (link != &memory->head) {
        const struct txn *txn = (const struct txn *)((char *)link - offsetof(struct txn, next));
        bool waits = txn->stage == TXN_EXPECTED || txn->stage == TXN_TO_MEMORY;

        if (!waits || txn->dst != dst || txn->arrive_fs >= (int64_t)now)
            link = &memory->head;
    }
    while (*link != TXN_NONE && s->txns[*link].arrive_fs < (int64_t)now)
        link = &s->txns[*link].next;
    memory->arrived = link;
}

/* Into its place in a queue that is not empty. */
static void put_in_queue(struct kb_sim *s, uint64_t now, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct memory_station *memory = &s->memories[txn->dst];
    uint32_t *link;

    pass_arrived(s, txn->dst, now);
    link = memory->arrived;
    while (*link != TXN_NONE && comes_first_of(s, &s->txns[*link], txn))
        link = &s->txns[*link].next;
    txn->next = *link;
    if (txn->next == TXN_NONE)
        memory->tail = slot;
    *link = slot;
}

/* It comes to a memory that will not be free, or to which others are on their way. */
static __attribute__((noinline)) void expect_behind(struct kb_sim *s, uint64_t now, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct memory_station *memory = &s->memories[txn->dst];
    struct link_station *early = &s->early[txn->dst];
    uint32_t holder = early->holder;
    bool open = *asked_of(s, txn->dst) >= (int64_t)now && is_open(s, txn->dst, holder);

    if (open && !comes_first_of(s, &s->txns[holder], txn)) {
        take_back(s, holder);
        expect_first(s, now, slot);
        return;
    }
    if (memory->head == TXN_NONE && !open && early->free_fs <= txn->arrive_fs) {
        expect_first(s, now, slot);
        return;
    }
    if (memory->head == TXN_NONE)
        put_first(s, slot);
    else
        put_in_queue(s, now, slot);
    if (txn->arrive_fs == (int64_t)now ||
        (memory->head == slot && !(early->free_fs > (int64_t)now && ends_together(s, early))))
        call_later(s, now, slot);
}

/* The same; mostly it is the last of the queue. */
static __attribute__((noinline)) void expect_last(struct kb_sim *s, struct link_station *early,
                                                  uint64_t now, struct txn *txn, uint32_t slot)
{
    struct memory_station *memory = &s->memories[txn->dst];

    txn->stage = TXN_EXPECTED;
    txn->next = TXN_NONE;
    if (memory->head != TXN_NONE && comes_first_of(s, &s->txns[memory->tail], txn)) {
        s->txns[memory->tail].next = slot;
        memory->tail = slot;
    } else if (early->asked_fs < (int64_t)now) {
        early->asked_fs = INT64_MAX;
        memory->asked_fs = -1;
        memory->head = memory->tail = slot;
        if (!ends_together(s, early))
            call_in_turn(s, slot);
    } else {
        expect_behind(s, now, slot);
    }
}

/* It is `now`, and it will be at its memory, a component, at `arrive`. */
static ALWAYS_INLINE void expect_component(struct kb_sim *s, uint64_t now, uint64_t arrive,
                                           uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *early = &s->early[txn->dst];

    txn->arrive_fs = (int64_t)arrive;
    if (__builtin_expect(arrive == now, false)) {
        txn->stage = TXN_EXPECTED;
        expect_behind(s, now, slot);
    } else if (__builtin_expect(early->asked_fs < (int64_t)now && early->free_fs <= (int64_t)arrive,
                                true)) {
        early->asked_fs = (int64_t)arrive;
        ask_ahead(s, slot);
    } else {
        expect_last(s, early, now, txn, slot);
    }
}

/* A completion at `t`: is it that of its call? Only a call that was undone leaves another. */
static ALWAYS_INLINE bool ends_by_component(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (__builtin_expect(!s->instances.undone, true))
        return true;
    if (s->txns[slot].stage == TXN_SERVED && (uint64_t)s->instances.served[slot].done_fs == t)
        return true;
    s->instances.undone--;
    if (s->txns[slot].stage == TXN_EXPECTED)
        serve_expected(s, s->txns[slot].dst, t);
    return false;
}

#endif
