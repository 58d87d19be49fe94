/* queueing.h -- a memory that is a queueing component (`cube.hbm.impl`): it decides by itself.
 *
 * It holds        what it likes; a request that has come is in the way of others as it decides
 * For how long    until the time that it gives to kb_done()
 * Goes first      what the component says
 * Wait counted    queue_memory = done - arrival - what it would have been alone; it may be negative
 * Golden number   docs/components.md "A memory that queues"
 *
 * A request that comes has an event of class 2 in all engines, and is told to the component. What
 * it asks for is kept in a heap (machine/queueing.h). The first wake of a memory has an event of
 * class 5, behind all arrivals of its instant, with the memory's number; at it the component is
 * woken for all that is due, by id. Since wakes lie ahead of the call that asks for them, none is
 * added to an instant that has begun. A wake before the one that has its event gets an event of its
 * own, and the other is stale: event_fs says which one counts.
 *
 * Banks (network/banks.h) are the built-in memory of this kind. Both come in by come_to_queue(),
 * decide in events of class 5, post their ends themselves, and leave by leave_queue().
 *
 * While nothing waits in a memory its wakes can end nothing. They have no event then, and are made
 * up for when the next request comes, each with its own time: so a component may wake itself for
 * ever, as a refresh does, and a run ends all the same.
 *
 * Example: docs/components.md "A memory that queues".
 */
#ifndef NETWORK_QUEUEING_H
#define NETWORK_QUEUEING_H
#include "engine/queues.h"
#include "network/bank_wakes.h"
#include "network/component_memory.h"

/* The queueing component that stands for the memory of `txn`; NULL: there is none. */
static ALWAYS_INLINE const struct impl *queueing_impl(const struct kb_sim *s, const struct txn *txn)
{
    const struct impl *impl;

    (void)s; /* T names it only where any topology runs */
    if (!T->impls || !T->impls->queueing || unit_is_tcm(T, dst_unit(T, txn->dst)))
        return NULL;
    impl = &T->impls->of[box_of_unit(T, dst_unit(T, txn->dst))];
    return impl->arrive ? impl : NULL;
}

/* Is the event of class 5 with `id` a wake of such a memory? */
static ALWAYS_INLINE bool is_wake(const struct kb_sim *s, uint32_t id)
{
    (void)s; /* T names it only where any topology runs */
    return T->impls && T->impls->queueing &&
           T->impls->of[box_of_unit(T, dst_unit(T, id >> BANK_CHANNEL_BITS))].arrive;
}

/* Does the transaction in `slot`, which is no stage inside a PE, go to a memory that decides by
 * itself? */
static ALWAYS_INLINE bool is_queued(const struct kb_sim *s, const struct txn *txn)
{
    return is_banked(s, txn) || queueing_impl(s, txn);
}

/* Its next wake has an event, if anything waits for it. */
static inline void post_wake(struct kb_sim *s, struct queueing_memory *q, uint32_t dst)
{
    int64_t t_fs = queueing_next_fs(&q->asked);

    if (!q->waiting || t_fs >= q->event_fs)
        return;
    q->event_fs = t_fs;
    if ((uint64_t)t_fs >= EV_PAST - 1)
        fail(s, KB_TIME_RANGE);
    else if (!ev_push(&s->queue, ev_make((uint64_t)t_fs, EV_ARBITER, dst << BANK_CHANNEL_BITS,
                                         (uint32_t)ARBITER_CHANNEL << ARBITER_KIND_BIT)))
        fail(s, KB_NO_MEMORY);
}

/* A call has been made: its ends are posted. */
static inline void take_ends(struct kb_sim *s, struct queueing_memory *q, uint32_t dst)
{
    if (__builtin_expect(q->asked.fault != QUEUEING_OK, false)) {
        queue_fault(s, dst);
        fail(s, s->status);
        return;
    }
    for (size_t i = 0; i < q->asked.ends.n; i++) {
        struct due end = q->asked.ends.rows[i];
        uint32_t slot = queues_take(s, dst, end.id);

        if (slot == TXN_NONE) {
            queue_fault_id(s, dst, end.id);
            fail(s, s->status);
            return;
        }
        q->waiting--;
        q->wakes = 0;
        s->instances.served[slot].done_fs = end.t_fs;
        post(s, after((uint64_t)end.t_fs, 0), EV_DONE, slot);
    }
    q->asked.ends.n = 0;
}

/* The first wake, at its own time. */
static inline void wake_first(struct kb_sim *s, const struct impl *impl, struct queueing_memory *q,
                              uint32_t dst)
{
    struct due wake = queueing_take(&q->asked);

    q->asked.now_fs = wake.t_fs;
    impl->wake(s->instances.memories + dst * instance_of_memory_bytes(T->impls), wake.id, wake.t_fs,
               &q->asked.h);
    take_ends(s, q, dst);
}

/* The event of memory `dst` at `t`: it is woken for all that is due. */
static inline void wake_component(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    const struct impl *impl = &T->impls->of[box_of_unit(T, dst_unit(T, dst))];
    struct queueing_memory *q = &s->instances.queues.of[dst];

    if (q->event_fs != (int64_t)t)
        return; /* another one was before it */
    q->event_fs = INT64_MAX;
    while (q->waiting && queueing_next_fs(&q->asked) == (int64_t)t && s->status == KB_OK) {
        seen(s, how, t, EV_ARBITER, q->asked.wakes.rows[0].id);
        wake_first(s, impl, q, dst);
        if (++q->wakes > QUEUEING_WAKES_MAX)
            return; /* it has no event more: what waits never ends */
    }
    post_wake(s, q, dst);
}

/* It has arrived at `t`, by an event. */
static inline void come_to_component_queue(struct kb_sim *s, const struct impl *impl, uint64_t t,
                                           uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;
    struct queueing_memory *q = &s->instances.queues.of[dst];
    struct kb_request request = memory_request(s, slot);

    while (queueing_next_fs(&q->asked) < (int64_t)t && s->status == KB_OK)
        wake_first(s, impl, q, dst);
    if (q->inside++ == 0)
        q->busy_fs -= t;
    q->waiting++;
    queues_put(s, request.id, slot);
    q->asked.now_fs = (int64_t)t;
    impl->arrive(s->instances.memories + dst * instance_of_memory_bytes(T->impls), &request,
                 (int64_t)t, &q->asked.h);
    take_ends(s, q, dst);
    post_wake(s, q, dst);
}

/* It has arrived at a memory that decides by itself. */
static ALWAYS_INLINE void come_to_queue(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    const struct impl *impl = queueing_impl(s, &s->txns[slot]);

    if (impl)
        come_to_component_queue(s, impl, t, slot);
    else
        come_to_banks(s, how, t, slot);
}

/* Its service has ended at `t`. */
static ALWAYS_INLINE void leave_queue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    if (queueing_impl(s, txn)) {
        struct queueing_memory *q = &s->instances.queues.of[txn->dst];

        if (--q->inside == 0)
            q->busy_fs += t;
    }
    txn->service_fs = (int64_t)t; /* its end: the begin is not defined */
}

#endif
