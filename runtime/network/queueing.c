/* queueing.c -- a memory that is a queueing component (`cube.hbm.impl`): it decides by itself.
 *
 * It holds        what it likes; a request that has come is in the way of others as it decides
 * For how long    until the time that it gives to kb_done()
 * Goes first      what the component says
 * Wait counted    queue_memory = done - arrival - what it would have been alone; it may be negative
 * Golden number   docs/components.md "A memory that queues"
 *
 * A request that comes has an event of class 2 in all engines, and the component hears of it. What
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
#include "network/banks.h"
#include "network/component_memory.h"
#include "network/server.h"

/* Does anything wait for a wake? */
static bool is_busy(const struct queueing_memory *q)
{
    return q->waiting || q->asked.sent;
}

/* Its next wake has an event, if anything waits for it. */
static void post_wake(struct kb_sim *s, struct queueing_memory *q, uint32_t dst)
{
    int64_t t_fs = queueing_next_fs(&q->asked);

    if (!is_busy(q) || t_fs >= q->event_fs)
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

/* -- the memory behind it --------------------------------------------------------------------- */

void queue_behind_ends(struct kb_sim *s, uint32_t dst, uint32_t slot, uint64_t id, uint64_t t)
{
    struct queueing_memory *q = &s->instances.queues.of[dst];

    if (slot == TXN_NONE) {
        if (!queueing_ends(&q->asked, id, (int64_t)t))
            fail(s, KB_NO_MEMORY);
    } else {
        q->asked.sent--;
        q->waiting--;
        q->wakes = 0;
        s->instances.served[slot].done_fs = (int64_t)t;
        serving_end(s, t, slot);
    }
    post_wake(s, q, dst);
}

/* What it sends to it: a transaction, or a request of its own. */
static struct bank_request sent_request(struct kb_sim *s, uint32_t dst, const struct due *due)
{
    const struct memory_row *memory = cost_memory(T, dst, false);
    struct bank_request r = {.dst = dst, .slot = TXN_NONE, .id = due->id};

    if (due->kind == DUE_PASSED) {
        r.slot = queues_take(s, dst, due->id);
        if (r.slot == TXN_NONE)
            return r;
        r.offset = s->instances.served[r.slot].offset;
        r.bytes = s->txns[r.slot].nbytes;
        r.drain_fs = s->txns[r.slot].hold_fs - cost_in_memory_fs(&s->mask, memory);
        r.writes = txn_writes(&s->txns[r.slot]);
        return r;
    }
    r.offset = due->offset;
    r.bytes = due->bytes;
    r.drain_fs = drain_fs(due->bytes, cost_own_gbs(&s->mask, memory));
    r.writes = due->op == KB_OP_WRITE;
    return r;
}

/* A request comes to the memory behind, at its time. */
static void come_to_back(struct kb_sim *s, int how, struct queueing_memory *q, uint32_t dst,
                         const struct due *due)
{
    const struct memory_row *memory = cost_memory(T, dst, false);
    struct bank_request r = sent_request(s, dst, due);

    if (due->kind == DUE_PASSED && r.slot == TXN_NONE) {
        queue_fault_id(s, dst, due->id);
    } else if (r.bytes > memory->nbytes || r.offset > memory->nbytes - r.bytes) {
        q->asked.fault = QUEUEING_REQUEST;
        q->asked.wrong = *due;
        queue_fault(s, dst);
    } else if (memory->behind == MEMORY_BANKS) {
        banks_arrive_at_back(s, how, (uint64_t)due->t_fs, &r);
        return;
    } else {
        queue_behind_ends(s, dst, r.slot, r.id,
                          after((uint64_t)behind_done_fs(&s->mask, memory, &q->behind_fs, r.bytes,
                                                         r.drain_fs, due->t_fs),
                                0));
        return;
    }
    fail(s, s->status);
}

/* -- wakes ------------------------------------------------------------------------------------ */

/* What is due first, at its own time. */
static void wake_first(struct kb_sim *s, int how, const struct impl *impl,
                       struct queueing_memory *q, uint32_t dst)
{
    unsigned char *state = s->instances.memories + dst * instance_of_memory_bytes(T->impls);
    struct due due = queueing_take(&q->asked);

    q->asked.now_fs = due.t_fs;
    if (due.kind == DUE_WAKE) {
        impl->wake(state, due.id, due.t_fs, &q->asked.h);
    } else if (due.kind == DUE_ENDED) {
        q->asked.sent--;
        impl->ended(state, due.id, due.t_fs, &q->asked.h);
    } else {
        come_to_back(s, how, q, dst, &due);
        return;
    }
    take_ends(s, q, dst);
}

/* It is woken for all that is due. */
void queue_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    const struct impl *impl = memory_impl(T, dst);
    struct queueing_memory *q = &s->instances.queues.of[dst];

    if (q->event_fs != (int64_t)t)
        return; /* another one was before it */
    q->event_fs = INT64_MAX;
    while (is_busy(q) && queueing_next_fs(&q->asked) == (int64_t)t && s->status == KB_OK) {
        seen(s, how, t, EV_ARBITER, q->asked.wakes.rows[0].id);
        wake_first(s, how, impl, q, dst);
        if (++q->wakes > QUEUEING_WAKES_MAX)
            return; /* it has no event more: what waits never ends */
    }
    post_wake(s, q, dst);
}

void queue_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint32_t dst = s->txns[slot].dst;
    const struct impl *impl = memory_impl(T, dst);
    struct queueing_memory *q = &s->instances.queues.of[dst];
    struct kb_request request = memory_request(s, slot);

    while (queueing_next_fs(&q->asked) < (int64_t)t && s->status == KB_OK)
        wake_first(s, how, impl, q, dst);
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
