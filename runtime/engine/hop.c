/* hop.c -- the slow, obvious engine: each transaction goes node by node, and waits in queues that
 * exist.
 *
 * Other engines know beforehand what happens, and leave events out: engine/inorder_steps.h. This
 * one leaves nothing out and adds nothing up. It has the tables of the machine in common with them,
 * and what stations are made of, but no step of a way. So that both come out at the same
 * femtosecond, with the same fingerprint, is a test of both. It serves all machines and all runs,
 * counts every arrival and completion, and is the one that tells an observer everything: timelines,
 * and critical paths, come from it.
 *
 * Order. Events lie in one queue, and run by (time, class, id). Each is one step of one
 * transaction:
 *
 *   EV_ISSUE    a PE's comes to its channel; a host's sets out at once
 *   EV_HOP      an overhead, a crossing or a wire has passed: on to the next of these, hop_way.c;
 *               a note of routers; a word between PEs is there
 *   EV_ARRIVE   it comes to a link, to an engine of an m_cpu, to its memory; a stage of a kernel
 *               comes to its channel, port or engine
 *   EV_DONE     its last byte has been served: what it holds goes to the next, then it ends
 *   EV_KERNEL   a kernel goes on; not in the queue (kernels/wakes.h)
 *   EV_ARBITER  behind all others of the instant: memories that choose, and ports of routers,
 * decide
 *
 * Rows that are issued at times of their own are not in the queue, either: they are sorted, and the
 * next one is compared with its first event.
 *
 * Invariants
 *   - A transaction has one event, or is in one queue, or has ended. With routers its packets have
 *     events and queues of their own: network/network_router.h.
 *   - It holds its channel or engine from its begin until EV_DONE. Servers are given back before
 *     anything arrives at that instant, as completions are the first class: so whatever arrives at
 *     a server that is idle finds no queue.
 *   - Time only grows; after() stops at EV_PAST, where the run ends.
 *   - An observer hears of each step at its event, before what follows from it.
 *
 * Example: cube8, a read of 4096 bytes of c0.slice1 by c0.pe0, issued at 0, alone. Times in ns:
 *
 *   0       EV_ISSUE    takes a read channel; pe_dma has no overhead
 *   0       EV_HOP      pe_dma has passed; the link to xbar.pe0 is a station
 *   0       EV_ARRIVE   the link is free, taken for 16; the head goes on by the wire, 0.06
 *   0.06    EV_HOP      comes to xbar.pe0, overhead 2
 *   2.06    EV_HOP      has passed it
 *   2.06    EV_ARRIVE   the link to xbar.pe1, taken for 32; the wire, 0.01
 *   2.07    EV_HOP      comes to xbar.pe1, overhead 2
 *   4.07    EV_HOP      has passed it
 *   4.07    EV_ARRIVE   the link into the memory; the wire, 0.025
 *   4.095   EV_HOP      the last node is its memory
 *   4.095   EV_ARRIVE   the slice is free; it drains at 128 GB/s, the narrowest of the way, for 32
 *   36.095  EV_DONE     the channel is free, and the read ends
 */
#include "engine/hop.h"
#include "engine/child_rows.h"
#include "engine/dependencies.h"
#include "engine/hop_way.h"
#include "engine/traffic_end.h"
#include "network/banks.h"
#include "network/network_router.h"

/* -- servers of a channel, or of an m_cpu --------------------------------------------------- */

/* By which a transaction reaches its memory: the channel of a PE, the engine of a host. */
static struct station *servers_of(struct kb_sim *s, enum station_kind kind, const struct txn *txn)
{
    return kind == STATION_CHANNEL
               ? &s->channels[2 * (size_t)txn->src + txn_writes(txn)]
               : &s->engines[2 * (size_t)dst_cube(T, txn->dst) + txn_writes(txn)];
}

/* What has its turn sets out at `t`: a transaction, or the parts of a packet, the first in `slot`.
 */
static void set_out(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t whole = whole_of(s, slot);

    if (is_child(s, slot))
        child_begins(s, slot);
    if (whole == slot) {
        hop_set_out(s, t, slot);
        return;
    }
    do {
        OBSERVE(s, split, whole, slot);
        hop_set_out(s, t, slot);
        slot = s->splits[slot].next;
    } while (slot != TXN_NONE && !s->splits[slot].begins);
}

/* The same at `t`, which may be later than now. */
static void set_out_at(struct kb_sim *s, uint64_t now, uint64_t t, uint32_t slot)
{
    if (t == now) {
        set_out(s, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_SETS_OUT;
    post(s, t, EV_HOP, slot);
}

/* A transaction that may go since `granted` goes at `t`, packet by packet if it has parts. */
static void leave(struct kb_sim *s, uint64_t granted, uint64_t t, uint32_t slot)
{
    if (!is_split(s, slot)) {
        set_out_at(s, granted, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_SPLIT;
    split_take_places(s, t, slot);
    for (uint32_t part = s->splits[slot].next; part != TXN_NONE; part = s->splits[part].next)
        if (s->splits[part].begins)
            set_out_at(s, granted, txn_start_fs(&s->txns[part]), part);
}

/* What has its channel since `granted` sets out at `t`. Traffic then draws the next transaction of
 * its PE. */
static void leave_pe(struct kb_sim *s, uint64_t granted, uint64_t t, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (s->heard)
        s->heard->begin(s, t, slot);
    else if (s->traffic)
        traffic_next(s, granted, txn->src, pe_number(T, txn->src), txn_writes(txn));
    leave(s, granted, t, slot);
}

/* It has a server of `station` from `t` on; leave_server() adds the time at which it gives it back.
 */
static void take_server(struct kb_sim *s, enum station_kind kind, struct station *station,
                        uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    uint64_t granted = t;

    if (kind == STATION_CHANNEL)
        t = take_pace(s, txn, t);
    station->holder = slot;
    station->busy_fs -= t;
    txn->wait_fs = (int64_t)t - (kind == STATION_CHANNEL ? txn->issue_fs : txn->wait_fs);
    if (STATS && s->heard)
        wait_add(&station->wait_fs, (uint64_t)txn->wait_fs);
    OBSERVE(s, take, t, slot, kind);
    if (kind == STATION_CHANNEL)
        leave_pe(s, granted, t, slot);
    else
        hop_leave_m_cpu(s, t, slot);
}

static void come_to_server(struct kb_sim *s, enum station_kind kind, uint64_t t, uint32_t slot)
{
    struct station *station = servers_of(s, kind, &s->txns[slot]);

    OBSERVE(s, come, t, slot, kind);
    if (!station->idle) {
        station_enqueue(station, s->txns, slot);
        return;
    }
    station->idle--;
    take_server(s, kind, station, t, slot);
}

static void leave_server(struct kb_sim *s, enum station_kind kind, uint64_t t, uint32_t slot)
{
    struct station *station = servers_of(s, kind, &s->txns[slot]);

    station->busy_fs += t;
    OBSERVE_ROW(s, release, t, slot, kind);
    if (station_waited_for(station))
        take_server(s, kind, station, t, station_dequeue(station, s->txns));
    else
        station->idle++;
}

/* -- the begin ------------------------------------------------------------------------------ */

void hop_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (s->observer && !s->observer->issue(s, t, slot))
        return;
    if (txn_of_host(txn)) {
        leave(s, t, t, slot);
        return;
    }
    seen(s, HOW_COUNTED, t, EV_ARRIVE, txn->id);
    come_to_server(s, STATION_CHANNEL, t, slot);
}

static void arrive(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    if (!branch_comes_behind(s, slot))
        seen(s, HOW_COUNTED, t, EV_ARRIVE, record_id(s, slot));
    if (txn->stage == TXN_TO_LINK) {
        hop_take_link(s, t, slot);
    } else if (txn->stage == TXN_TO_ENGINE) {
        txn->wait_fs = (int64_t)t; /* until it has the engine */
        come_to_server(s, STATION_ENGINE, t, slot);
    } else if (txn->stage == TXN_TO_CHANNEL) {
        come_to_server(s, STATION_CHANNEL, t, slot);
    } else {
        hop_come_to_memory(s, t, slot);
    }
}

/* -- the end -------------------------------------------------------------------------------- */

/* A host's ends when the response is back; with routers the data of a read were that. */
static uint64_t response_at(const struct kb_sim *s, uint64_t t, const struct txn *txn)
{
    const struct trip trip = txn_trip(T, txn);

    if (!txn_of_host(txn) || (T->links == MODE_ROUTER && !txn_writes(txn)))
        return t;
    return after(t, cost_response_fs(T, &s->mask, &trip, cost_of_host(T, &trip).wire_fs));
}

/* The transaction in `slot`, all of it, is complete. */
static void complete(struct kb_sim *s, uint64_t end, uint32_t slot)
{
    kb_status status;

    s->txns[slot].stage = TXN_DONE;
    if (end >= s->stop_fs)
        return; /* the response comes too late */
    s->n_done++;
    if ((int64_t)end > s->end_fs)
        s->end_fs = (int64_t)end;
    if (s->traffic)
        traffic_done(s, slot, end);
    if (!s->tells_ends)
        return;
    status = dependencies_ended(s, s->txns[slot].id, (int64_t)end);
    if (status != KB_OK)
        fail(s, status);
}

/* The data of a row are there at `t`. One that is a part may be the last of its transaction. */
static void end_row(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t whole = whole_of(s, slot);
    uint64_t end = response_at(s, t, &s->txns[slot]);

    if (end == EV_PAST) {
        fail(s, KB_TIME_RANGE);
        return;
    }
    if (end < s->stop_fs)
        OBSERVE(s, end, t, end, slot);
    if (whole != slot) {
        end = split_ended(s, slot, end);
        if (end == SPLIT_GOES_ON)
            return;
        if (end < s->stop_fs)
            OBSERVE(s, end, t, end, whole);
    }
    complete(s, end, whole);
}

/* A stage of a kernel has ended, or a part of one; its PE goes on. */
static void end_stage(struct kb_sim *s, uint64_t t, uint32_t slot, uint32_t whole, bool last)
{
    OBSERVE(s, end, t, t, slot);
    if (last && whole != slot)
        OBSERVE(s, end, t, t, whole);
    if (whole == slot)
        s->heard->end(s, t, slot);
    else
        s->heard->part(s, t, slot, last);
}

/* The engine of a host goes to the next; the channel of a PE, if no part of `whole` needs it. */
static void leave_first(struct kb_sim *s, uint64_t t, uint32_t slot, uint32_t whole, bool last)
{
    if (txn_of_host(&s->txns[slot]))
        leave_server(s, STATION_ENGINE, t, slot);
    else if (last)
        leave_server(s, STATION_CHANNEL, t, whole);
    if (!STATS || !s->heard)
        return;
    sim_count(s, &s->txns[slot]);
    if (whole != slot)
        split_count_part(s, slot);
}

/* Its service has ended. */
static void done(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    bool inside = hop_is_inside(s, slot), routed = hop_is_routed(s, slot), last;
    struct txn *txn = &s->txns[slot];
    uint32_t whole;

    if (hop_frees_engine(s, t, slot))
        return;
    if (is_child(s, slot)) {
        seen(s, HOW_COUNTED, t, EV_DONE, record_id(s, slot));
        hop_leave_memory(s, t, slot);
        child_free(s, slot);
        return;
    }
    whole = inside ? slot : whole_of(s, slot);
    last = is_last_part(s, slot, whole);
    seen(s, HOW_COUNTED, t, EV_DONE, record_id(s, slot));
    if (routed && txn_queues(s, txn) && txn_writes(txn))
        end_write_in_server(s, slot);
    OBSERVE_ROW(s, leave, t, slot);
    hop_leave_memory(s, t, slot);
    if (!inside)
        leave_first(s, t, slot, whole, last);
    if (s->heard)
        end_stage(s, t, slot, whole, last);
    else
        end_row(s, t, slot);
    OBSERVE(s, left);
}

/* -- the loop ------------------------------------------------------------------------------- */

/* Ports of routers decide, and with them channels of banks behind them, in one order. */
static void decide_all(struct kb_sim *s, uint64_t t)
{
    uint32_t index;

    while ((index = router_run(s, t)) != NO_CHANNEL)
        server_wake(s, hop_how(s), t, memory_of_wake(index));
}

/* An event of the row of its slot, or the wake of a kernel. */
static void handle(struct kb_sim *s, ev e)
{
    uint64_t t = ev_time_fs(e);
    uint32_t slot = ev_slot(e);

    switch (ev_class(e)) {
    case EV_DONE:
        done(s, t, slot);
        break;
    case EV_HOP:
        if (s->heard && s->txns[slot].stage == TXN_CREDIT)
            s->heard->word(s, t, slot);
        else if (s->txns[slot].stage == TXN_SETS_OUT)
            set_out(s, t, slot);
        else
            hop_on(s, t, slot);
        break;
    case EV_ARRIVE:
        arrive(s, t, slot);
        break;
    case EV_ISSUE:
        hop_issue(s, t, slot);
        break;
    case EV_KERNEL:
        s->heard->wake(s, e);
        break;
    case EV_ARBITER: /* none has a row */
        break;
    }
}

/* An event of the queue. */
static void handle_else(struct kb_sim *s, ev e)
{
    uint64_t t = ev_time_fs(e);
    uint32_t slot = ev_slot(e);

    if (ev_class(e) == EV_HOP)
        router_take_note(s, e);
    else if (ev_class(e) == EV_DONE)
        s->heard->data(s, slot);
    else if (is_wake_of_memory(slot))
        server_wake(s, hop_how(s), t, memory_of_wake(slot));
    else
        decide_all(s, t);
}

/* The first event that is not in the queue: a row is issued, or a kernel goes on. */
static ev next_start(const struct kb_sim *s)
{
    uint32_t slot;

    if (s->heard)
        return s->heard->next(s);
    slot = sim_next_row(s);
    if (slot == TXN_NONE)
        return EV_NONE;
    return ev_make((uint64_t)s->txns[slot].issue_fs, EV_ISSUE, s->txns[slot].id, slot);
}

/* Takes `e`, the first of all events, from where it lies, and runs it. */
static void take(struct kb_sim *s, ev e)
{
    if (e == children_first(&s->children)) {
        const struct child_record record = children_take(&s->children);

        seen(s, HOW_COUNTED, ev_time_fs(e), ev_class(e), child_record_id(&record));
        return;
    }
    if (e == ev_first(&s->queue)) {
        ev_take(&s->queue);
        handle_else(s, e);
        return;
    }
    if (e == calendar_first(&s->calendar, s->txns, ev_time_fs(e)))
        e = calendar_key(s->txns, rows_take(s));
    else if (!s->heard)
        s->next_row++;
    handle(s, e);
}

/* No event is left that may run. */
static kb_status stop(struct kb_sim *s, ev e)
{
    if (s->calendar.no_memory)
        fail(s, KB_NO_MEMORY);
    if (s->status != KB_OK)
        return s->status;
    s->now_fs = s->stop_fs - 1;
    s->over = e == EV_NONE;
    if (s->over)
        return KB_OK;
    return ev_time_fs(e) == EV_PAST ? KB_TIME_RANGE : KB_STOPPED;
}

kb_status hop_run(struct kb_sim *s, uint64_t budget)
{
    ev e = 0;

    for (; budget > 0; budget--) {
        e = ev_least(next_start(s), ev_first(&s->queue));
        e = ev_least(e, children_first(&s->children));
        e = ev_least(e, calendar_first(&s->calendar, s->txns, ev_time_fs(e)));
        if (ev_time_fs(e) >= s->stop_fs)
            return stop(s, e);
        if (sim_has_counted_all(s))
            return KB_STOPPED;
        if (ev_time_fs(e) >= s->pause_fs)
            return sim_paused(s, s->pause_fs);
        take(s, e);
        if (sim_pauses(s))
            break;
    }
    return sim_paused(s, ev_time_fs(e));
}
