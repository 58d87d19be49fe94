/* queueing.c -- a memory that is a queueing component (`cube.hbm.impl`): it decides by itself.
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
 * While nothing waits in a memory its wakes can end nothing. They have no event then, and are made
 * up for when the next request comes, each with its own time: so a component may wake itself for
 * ever, as a refresh does, and a run ends all the same.
 *
 * Example: docs/components.md "A memory that queues".
 */
#include "network/queueing.h"
#include "network/component_memory.h"
#include "network/server.h"

/* Its next wake has an event, if anything waits for it. */
static void post_wake(struct kb_sim *s, struct queueing_memory *q, uint32_t dst)
{
    int64_t t_fs = queueing_next_fs(&q->asked);

    if (!q->waiting || t_fs >= q->event_fs)
        return;
    q->event_fs = t_fs;
    serving_wake(s, (uint64_t)t_fs, dst);
}

/* A call has been made: its ends are posted. */
static void take_ends(struct kb_sim *s, struct queueing_memory *q, uint32_t dst)
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
        serving_end(s, after((uint64_t)end.t_fs, 0), slot);
    }
    q->asked.ends.n = 0;
}

/* The first wake, at its own time. */
static void wake_first(struct kb_sim *s, const struct impl *impl, struct queueing_memory *q,
                       uint32_t dst)
{
    struct due wake = queueing_take(&q->asked);

    q->asked.now_fs = wake.t_fs;
    impl->wake(s->instances.memories + dst * instance_of_memory_bytes(T->impls), wake.id, wake.t_fs,
               &q->asked.h);
    take_ends(s, q, dst);
}

/* It is woken for all that is due. */
void queue_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
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

void queue_arrive(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;
    const struct impl *impl = &T->impls->of[box_of_unit(T, dst_unit(T, dst))];
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

void queue_leave(struct kb_sim *s, uint64_t t, uint32_t dst)
{
    struct queueing_memory *q = &s->instances.queues.of[dst];

    if (--q->inside == 0)
        q->busy_fs += t;
}
