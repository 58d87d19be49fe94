/* network_queueing.c -- a memory that is a queueing component (`cube.hbm.impl`): it decides by
 * itself.
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
#include "network/network_queueing.h"
#include "network/banks.h"
#include "network/fills.h"
#include "network/memory_behind.h"
#include "network/queue_wakes.h"
#include "network/server.h"
#include <math.h>

/* Is anything in it, or behind it? */
static bool has_any(const struct queueing_memory *q)
{
    return q->waiting || q->asked.sent;
}

/* What comes of a part with which the component is done at `done`, as it says at `now`. */
static struct turn turn_in_queue(const struct kb_sim *s, const struct waiting *w, int64_t now,
                                 int64_t done)
{
    const struct txn *txn = &s->txns[w->slot];
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    int64_t drain = part_fs(w->part.from, w->part.nbytes, way_gbs(s, w->slot));
    int64_t latency_fs = memory->latency_fs & s->mask.overhead, added;
    struct turn turn = {.start_fs = (uint64_t)done, .gbs = INFINITY, .end_fs = (uint64_t)done};

    if (!txn_writes(txn)) {
        turn.end_fs = (uint64_t)(done - drain > now ? done - drain : now);
    } else if (w->part.from == 0) {
        added = done - txn->arrive_fs - drain > 0 ? done - txn->arrive_fs - drain : 0;
        turn.end_fs = after((uint64_t)txn->arrive_fs, added + way_drain_fs(s, w->slot));
        turn.behind_fs = added < latency_fs ? added : latency_fs;
    }
    return turn;
}

/* A part has its end behind routers. */
static void end_turn(struct kb_sim *s, int how, const struct waiting *w, const struct turn *turn)
{
    struct txn *txn = &s->txns[w->slot];

    if (!txn_writes(txn))
        txn->service_fs = (int64_t)after(turn->end_fs, way_drain_fs(s, w->slot));
    end_part_behind(s, how, w->slot, &w->part, turn);
}

/* The component is done with a part at `done`, as it says at `now`. */
static void end_part(struct kb_sim *s, int how, const struct waiting *w, int64_t now, int64_t done)
{
    if (w->slot == ASKED_BY_CACHE) {
        server_tell(s, how, w->dst, MEMORY_QUEUEING,
                    &(struct behind_ended){.t_fs = after((uint64_t)done, 0),
                                           .number = w->number,
                                           .part = w->part_number,
                                           .id = w->of});
        return;
    }
    if (s->router) {
        const struct turn turn = turn_in_queue(s, w, now, done);

        end_turn(s, how, w, &turn);
        return;
    }
    s->instances.served[w->slot].done_fs = done;
    serving_end(s, after((uint64_t)done, 0), w->slot);
}

/* A call has been made: its ends are posted. */
static void take_ends(struct kb_sim *s, int how, struct queueing_memory *q, uint32_t dst)
{
    if (__builtin_expect(q->asked.fault != QUEUEING_OK, false)) {
        queue_fault(s, dst);
        fail(s, s->status);
        return;
    }
    for (size_t i = 0; i < q->asked.ends.n; i++) {
        struct due end = q->asked.ends.rows[i];
        struct waiting part = queues_take(s, dst, end.id);

        if (part.slot == TXN_NONE) {
            queue_fault_id(s, dst, end.id);
            fail(s, s->status);
            return;
        }
        leave_queue(q, end.t_fs);
        end_part(s, how, &part, q->asked.now_fs, end.t_fs);
    }
    q->asked.ends.n = 0;
}

/* -- the memory behind it --------------------------------------------------------------------- */

static void queue_hears(struct kb_sim *s, int how, uint32_t dst, const struct behind_ended *ended)
{
    struct queueing_memory *q = &s->instances.queues.of[dst];

    (void)how;
    if (!queueing_ends(&q->asked, ended->number, (int64_t)ended->t_fs))
        fail(s, KB_NO_MEMORY);
    post_wake(s, q, dst);
}

/* A part that it has passed on comes to the memory behind at its time. */
static void pass_on(struct kb_sim *s, int how, struct queueing_memory *q, uint32_t dst,
                    const struct due *due)
{
    const struct memory_row *memory = cost_memory(T, dst, false);
    const struct waiting w = queues_take(s, dst, due->id);
    uint64_t end;

    if (w.slot == TXN_NONE) {
        queue_fault_id(s, dst, due->id);
        fail(s, s->status);
        return;
    }
    if (memory->behind == MEMORY_BANKS) {
        banks_arrive(s, how, (uint64_t)due->t_fs, w.slot, &w.part);
        return;
    }
    if (s->router) {
        uint64_t free_fs = (uint64_t)q->behind_fs;
        const struct turn turn = take_part(s, w.slot, (uint64_t)due->t_fs, &w.part,
                                           cost_own_gbs(&s->mask, memory), &free_fs);

        q->behind_fs = (int64_t)free_fs;
        end = free_fs;
        end_turn(s, how, &w, &turn);
    } else {
        end = after((uint64_t)behind_done_fs(
                        &s->mask, memory, &q->behind_fs, w.part.nbytes,
                        s->txns[w.slot].hold_fs - cost_in_memory_fs(&s->mask, memory), due->t_fs),
                    0);
        end_part(s, how, &w, due->t_fs, (int64_t)end);
    }
    queue_passed_ends(s, dst, end);
}

/* A request of its own does. */
static void come_to_back(struct kb_sim *s, int how, struct queueing_memory *q, uint32_t dst,
                         const struct due *due)
{
    const struct memory_row *memory = cost_memory(T, dst, false);
    int64_t drain = drain_fs(due->bytes, cost_own_gbs(&s->mask, memory));
    uint64_t end;

    if (due->bytes > memory->nbytes || due->offset > memory->nbytes - due->bytes) {
        q->asked.fault = QUEUEING_REQUEST;
        q->asked.wrong = *due;
        queue_fault(s, dst);
        fail(s, s->status);
    } else if (memory->behind == MEMORY_BANKS) {
        banks_arrive_of_front(s, how, dst, due, drain);
    } else {
        end =
            (uint64_t)behind_done_fs(&s->mask, memory, &q->behind_fs, due->bytes, drain, due->t_fs);
        queue_hears(s, how, dst, &(struct behind_ended){.t_fs = after(end, 0), .number = due->id});
    }
}

/* -- wakes ------------------------------------------------------------------------------------ */

/* A request comes in at `t`. */
static void come_in(struct kb_sim *s, int how, struct queueing_memory *q, int64_t t,
                    const struct coming_request *in)
{
    uint32_t dst = in->waiting.dst;

    if (!q->waiting && t > q->last_fs) {
        q->busy_fs += q->last_fs - q->since_fs;
        q->since_fs = t;
    }
    q->waiting++;
    if (!queues_put(s, &in->waiting)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    q->asked.now_fs = t;
    memory_impl(T, dst)->arrive(memory_state(s, dst), &in->request, t, &q->asked.h);
    take_ends(s, how, q, dst);
}

/* What is due first, at its own time. */
static void wake_first(struct kb_sim *s, int how, const struct impl *impl,
                       struct queueing_memory *q, uint32_t dst)
{
    unsigned char *state = s->instances.memories + dst * instance_of_memory_bytes(T->impls);
    struct due due = queueing_take(&q->asked);

    q->asked.now_fs = due.t_fs;
    if (due.kind == DUE_COMES) {
        const struct coming_request next = coming_take(&q->coming);

        come_in(s, how, q, due.t_fs, &next);
        return;
    }
    if (due.kind == DUE_WAKE) {
        impl->wake(state, due.id, due.t_fs, &q->asked.h);
    } else if (due.kind == DUE_ENDED) {
        q->asked.sent--;
        impl->ended(state, due.id, due.t_fs, &q->asked.h);
    } else {
        (due.kind == DUE_PASSED ? pass_on : come_to_back)(s, how, q, dst, &due);
        return;
    }
    take_ends(s, how, q, dst);
}

/* It is woken for all that is due. */
static void queue_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    const struct impl *impl = memory_impl(T, dst);
    struct queueing_memory *q = &s->instances.queues.of[dst];

    if (q->event_fs != (int64_t)t)
        return; /* another one was before it */
    q->event_fs = INT64_MAX;
    while (is_busy(q) && queueing_next_fs(&q->asked) == (int64_t)t && s->status == KB_OK) {
        if (has_any(q) && q->asked.wakes.rows[0].kind != DUE_COMES)
            seen(s, how, t, EV_ARBITER, q->asked.wakes.rows[0].id);
        wake_first(s, how, impl, q, dst);
        if (++q->wakes > QUEUEING_WAKES_MAX)
            return; /* it has no event more: what waits never ends */
    }
    post_wake(s, q, dst);
}

/* What it is asked: of a packet its piece, with a number of its own. */
static struct kb_request request_of_part(const struct kb_sim *s, uint32_t slot,
                                         const struct delivery *part)
{
    struct kb_request request = s->router ? request_behind(s, slot) : memory_request(s, slot);

    if (part->nbytes < request.bytes)
        request = part_request(s, slot, &request, part);
    request.id += (uint64_t)part->number << 32;
    return request;
}

static void queue_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                         const struct delivery *part)
{
    uint32_t dst = s->txns[slot].dst;
    const struct impl *impl = memory_impl(T, dst);
    struct queueing_memory *q = &s->instances.queues.of[dst];
    struct kb_request request = request_of_part(s, slot, part);

    while (queueing_next_fs(&q->asked) < (int64_t)t && s->status == KB_OK)
        wake_first(s, how, impl, q, dst);
    come_in(s, how, q, (int64_t)t,
            &(struct coming_request){request, {request.id, *part, slot, dst, 0, 0, 0}});
    post_wake(s, q, dst);
}

/* A cache in front asks: it comes at its time. */
static int64_t queue_ask(struct kb_sim *s, int how, uint32_t dst, const struct behind_asked *asked)
{
    struct queueing_memory *q = &s->instances.queues.of[dst];
    const struct kb_request request = behind_request(s, dst, asked);
    const struct coming_request next = {.request = request,
                                        .waiting = {.id = request.id,
                                                    .slot = ASKED_BY_CACHE,
                                                    .dst = dst,
                                                    .number = asked->number,
                                                    .part_number = asked->part,
                                                    .of = s->txns[asked->slot].id}};

    (void)how;
    if (!coming_add(&q->coming, &next) ||
        !queueing_comes(&q->asked, q->coming.next, (int64_t)asked->t_fs))
        fail(s, KB_NO_MEMORY);
    post_wake(s, q, dst);
    return NOT_YET;
}

const struct memory_server queue_server = {
    .arrive = queue_arrive, .wake = queue_wake, .ask = queue_ask, .hears = queue_hears};
