/* steps.h -- runs transactions over the routes of one topology: the order of steps.
 *
 * Runs in which stations serve in order have an engine of their own, engine/inorder_steps.h. This
 * one has all others: those of the hop engine, those that are observed, and machines with nodes that
 * are components.
 *
 * A transaction is a row of 64 bytes (engine/txn.h) that goes from station to station. A step is
 * a function that is called when its event is due, changes the row and its station, and posts the
 * next event. The steps lie in network/, one file for each box of the machine; this file says in
 * which order they follow each other:
 *
 *   issue            a PE's transaction comes to its channel; a host's sets out at once
 *   come_to_channel  takes a channel of the PE's DMA, or waits                   channel.h
 *   set_out          starts its way: links ideal, one sum; fifo, link by link    way.h
 *   come_to_edge     fifo: takes a link                                          link.h
 *   come_to_engine   a host's: takes an engine of the m_cpu                      m_cpu.h
 *   come_to_memory   takes the memory, or waits                                  memory.h
 *   wake             a memory that chooses goes on                               server.h
 *   done             its last byte is served: memory, then channel or engine go to the next
 *   end              the data are there; a host's response is back
 *
 * Example: a read of 4 KiB of c0.slice1 by c0.pe0 on cube8, issued at 0, alone. issue: the read
 * channel is free, so it is taken at 0. set_out: the way is 0.095 ns of wire and 4 ns of overhead,
 * an arrival at the memory is posted for 4.095. There it is served, and done is posted for 36.095
 * (128 GB/s between the crossbars are the bottleneck: 32 ns). done frees memory and channel. The
 * hop engine has an event for each node and wire as well.
 *
 * This file is compiled behind the tables of a topology that needs it, in the generated topo.c (T
 * is a constant there), for any topology in engine/engine.c and engine/engine_watched.c, and with
 * kernels in pe/engine.c. `how` (engine/how.h) says which engine is meant.
 *
 * Invariants
 *   - Events run in order of (time, class, id) and nothing else. The engines make different events
 *     in a different order; as long as each station sees the same arrivals in the same order, they
 *     cannot disagree. Each step that serves a queue relies on it: completions (class 0) run before
 *     arrivals (class 2) of the same instant, so a transaction that arrives as a server becomes
 *     free, and finds no queue, is served at once.
 *   - Each transaction is in at most one list, and has at most one event.
 *   - Time only grows; after() stops at EV_PAST, where the run ends, so no sum wraps.
 *   - A step changes its station before it calls the step that follows.
 *
 * The next event is found before the present one is handled, and its row is fetched into the cache
 * meanwhile.
 */
#include "engine/dependencies.h"
#include "engine/how.h"
#include "engine/traffic_end.h"
#include "network/bridge.h"
#include "network/channel.h"
#include "network/component_memory.h"
#include "network/component_node.h"
#include "network/early_memory.h"
#include "network/link.h"
#include "network/m_cpu.h"
#include "network/memory.h"
#include "network/memory_behind.h"
#include "network/noc.h"
#include "network/node.h"
#include "network/pcie_ep.h"
#include "network/router.h"
#include "network/turn.h"
#include "network/ucie.h"
#include "network/xbar.h"

/* -- from issue to arrival ------------------------------------------------------------------ */

static ALWAYS_INLINE void issue(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (is_told(s, how) && !observe_issue(s, t, slot))
        return;
    if (txn_of_host(txn)) {
        set_out_whole(s, how, t, slot);
        return;
    }
    seen(s, how, t, EV_ARRIVE, txn->id);
    come_to_channel(s, how, t, slot);
}

/* Does it come and go in segments? Stages inside a PE do not. */
static ALWAYS_INLINE bool is_routed(struct kb_sim *s, int how, uint32_t slot)
{
    return T->links == MODE_ROUTER && !inside_pe(s, how, slot);
}

/* A part of it comes from routers to its memory. */
static inline void come_behind(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct delivery part = router_part(s, slot);

    if (is_banked(s, &s->txns[slot]))
        banks_part_arrives(s, how, t, slot, &part);
    else
        part_arrives(s, how, t, slot, &part);
}

static ALWAYS_INLINE void arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    seen(s, how, t, EV_ARRIVE, record_id(s, slot));
    if (!(how & HOW_HOP) && txn->piped)
        leave_pipe(s, txn);
    switch (txn->stage) {
    case TXN_TO_LINK:
        come_to_edge(s, how, t, slot);
        break;
    case TXN_TO_ENGINE:
        come_to_engine(s, how, t, slot);
        break;
    case TXN_TO_CHANNEL:
        come_to_channel(s, how, t, slot);
        break;
    default:
        if (is_routed(s, how, slot))
            come_behind(s, how, t, slot);
        else
            come_to_memory(s, how, t, slot);
        break;
    }
}

/* -- completion ----------------------------------------------------------------------------- */

/* Issues the transactions that waited for this one. Rare, and kept out of the hot code. */
static __attribute__((noinline)) void end_for_others(struct kb_sim *s, uint32_t id, uint64_t t)
{
    kb_status status = dependencies_ended(s, id, (int64_t)t);

    if (status != KB_OK)
        fail(s, status);
}

/*
 * Its data are there at `t`; a host's transaction ends when the response is back. A transaction
 * that is split ends with its parts: what is counted, and what waits for it, hears of the last.
 */
static ALWAYS_INLINE void end(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    uint64_t end = t;

    if (txn_of_host(txn)) {
        const struct trip trip = txn_trip(T, txn);

        if (T->links != MODE_ROUTER || txn_writes(txn)) /* else its data were the response */
            end = after(t, cost_response_fs(T, &s->mask, &trip, cost_of_host(T, &trip).wire_fs));
        if (end == EV_PAST) {
            fail(s, KB_TIME_RANGE);
            return;
        }
    }
    if (is_told(s, how) && end < s->stop_fs)
        observe_end(s, t, end, slot);
    if (whole_of(s, slot) != slot) {
        end = split_ended(s, slot, end);
        if (end == SPLIT_GOES_ON)
            return;
        slot = whole_of(s, slot);
        txn = &s->txns[slot];
        if (is_told(s, how) && end < s->stop_fs)
            observe_end(s, t, end, slot);
    }
    txn->stage = TXN_DONE;
    if (end >= s->stop_fs)
        return; /* the response comes too late */
    s->n_done++;
    if ((int64_t)end > s->end_fs)
        s->end_fs = (int64_t)end;
    if (__builtin_expect(s->traffic != NULL, false))
        traffic_done(s, slot, end);
    if (__builtin_expect(s->dependencies != NULL, 0))
        end_for_others(s, txn->id, end);
}

/* Gives back a host's engine; a PE's channel if it is the last part of `whole`. */
static ALWAYS_INLINE void leave_first(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                      uint32_t whole, bool last)
{
    struct txn *txn = &s->txns[slot];

    if (txn_of_host(txn))
        leave_m_cpu(s, how, t, slot);
    else if (last)
        leave_channel(s, how, t, whole);
    if (counts_now(how))
        sim_count(s, txn);
    if (counts_now(how) && whole != slot)
        split_count_part(s, slot);
}

/* A memory that has been held until now goes to the next. */
static ALWAYS_INLINE void give_back_memory(struct kb_sim *s, int how, struct memory_station *memory,
                                           uint64_t t, uint32_t slot)
{
    leave_memory(s, how, memory, t, slot);
    serve_waiting(s, how, memory, t);
}

/* The last byte has been served: memory and channel go to the next, then the transaction ends. */
static ALWAYS_INLINE void done(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (how & HOW_KERNELS && T->links == MODE_ROUTER && s->txns[slot].stage == TXN_SERVED) {
        s->txns[slot].stage = TXN_TO_MEMORY;
        kernels_data_served(s, slot);
        return;
    }
    struct memory_station *memory = memory_of(s, how, slot);
    bool inside = inside_pe(s, how, slot), routed = is_routed(s, how, slot), last;
    bool early = routed || (!inside && memory_is_early(s, how, slot)) ||
                 (T->links == MODE_ROUTER && inside && kernels_port_free(s, slot));
    uint32_t whole;

    bool queued = !inside && !routed && is_chosen(s, &s->txns[slot]);

    if (frees_engine(s, how, t, slot)) {
        give_back_memory(s, how, memory, t, slot);
        return;
    }
    whole = inside ? slot : whole_of(s, slot);
    last = is_last_part(s, slot, whole);
    seen(s, how, t, EV_DONE, record_id(s, slot));
    if (routed && is_banked(s, &s->txns[slot]) && txn_writes(&s->txns[slot]))
        end_write_in_banks(s, slot);
    if (is_told(s, how))
        observe_leave(s, t, slot);
    if (routed)
        router_leave(s, slot);
    if (queued)
        server_leave(s, t, slot);
    else if (!early && !freed_engine(s, how, memory, slot))
        give_back_memory(s, how, memory, t, slot);
    if (!inside)
        leave_first(s, how, t, slot, whole, last);
    if (how & HOW_KERNELS) {
        if (is_told(s, how))
            observe_end(s, t, t, slot);
        if (is_told(s, how) && last && whole != slot)
            observe_end(s, t, t, whole);
        if (whole == slot)
            kernels_end_service(s, t, slot);
        else
            kernels_end_part(s, t, slot, last);
    } else {
        end(s, how, t, slot);
    }
    if (is_told(s, how))
        observe_left(s);
}

/* -- the loop ------------------------------------------------------------------------------- */

/* The event of the next transaction to be issued; EV_NONE after the last. */
static inline ev next_issue(const struct kb_sim *s)
{
    uint32_t slot = sim_next_row(s);

    if (slot == TXN_NONE)
        return EV_NONE;
    return ev_make((uint64_t)s->txns[slot].issue_fs, EV_ISSUE, s->txns[slot].id, slot);
}

/* Ports of routers decide, and with them channels of banks behind them, in one order. */
static ALWAYS_INLINE void decide_all(struct kb_sim *s, int how, uint64_t t)
{
    uint32_t index;

    while ((index = router_run(s, t)) != NO_CHANNEL)
        server_wake(s, how, t, memory_of_wake(index));
}

static ALWAYS_INLINE void handle(struct kb_sim *s, int how, ev e)
{
    uint64_t t = ev_time_fs(e);
    uint32_t slot = ev_slot(e);

    switch (ev_class(e)) {
    case EV_DONE:
        done(s, how, t, slot);
        break;
    case EV_HOP:
        if (T->links == MODE_ROUTER && ev_id(e) == NOTE_ID)
            router_take_note(s, t, slot);
        else if (how & HOW_KERNELS && s->txns[slot].stage == TXN_CREDIT)
            kernels_word_arrived(s, t, slot);
        else if (T->impls && s->txns[slot].stage == TXN_TO_NODE)
            come_to_component(s, how, t, slot);
        else if (how & HOW_HOP)
            hop_on(s, t, slot);
        break;
    case EV_ISSUE:
        issue(s, how, t, slot);
        break;
    case EV_ARBITER:
        if (is_wake_of_memory(slot))
            server_wake(s, how, t, memory_of_wake(slot));
        else if (T->links == MODE_ROUTER)
            decide_all(s, how, t);
        break;
    default:
        arrive(s, how, t, slot);
        break;
    }
}

/* The next event lies behind the last that may run, or there is none. */
static kb_status stop(struct kb_sim *s, ev e)
{
    if (s->status != KB_OK)
        return s->status;
    s->now_fs = s->stop_fs - 1;
    if (e == EV_NONE)
        return KB_OK;
    return ev_time_fs(e) == EV_PAST ? KB_TIME_RANGE : KB_STOPPED;
}

/* The first event from outside the queue: a row is issued, or a kernel goes on. */
static ALWAYS_INLINE ev next_start(const struct kb_sim *s, int how)
{
    return how & HOW_KERNELS ? kernels_next(s) : next_issue(s);
}

static ALWAYS_INLINE void take_start(struct kb_sim *s, int how, ev e)
{
    ev_advance(&s->queue, e);
    if (how & HOW_KERNELS) {
        kernels_take(s, e);
    } else {
        s->next_row++;
        issue(s, how, ev_time_fs(e), ev_slot(e));
    }
}

static ALWAYS_INLINE kb_status run(struct kb_sim *s, int how, uint64_t budget)
{
    ev next = next_start(s, how), e = 0;

    for (; budget > 0; budget--) {
        bool starts = next < s->queue.first;
        e = starts ? next : s->queue.first;

        if (ev_time_fs(e) >= s->stop_fs)
            return stop(s, e);
        if (how & HOW_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        if (starts) {
            take_start(s, how, e);
            next = next_start(s, how);
        } else {
            ev_take(&s->queue);
            if (T->links != MODE_ROUTER)
                txn_prefetch(&s->txns[ev_slot(s->queue.first)]);
            handle(s, how, e);
            if (how & HOW_KERNELS)
                next = next_start(s, how);
        }
    }
    s->now_fs = ev_time_fs(e);
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

#ifdef TOPOLOGY
static kb_status engine_fused(struct kb_sim *s, uint64_t budget)
{
    return run(s, 0, budget);
}
#endif
