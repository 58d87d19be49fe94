/* router_pieces.c -- the pieces of a transaction's time on its way through routers.
 *
 * They are known when it is done, and are those of what made it done then, the last of three:
 *
 *     its last tail                     the path of that segment
 *     its last packet at the memory     the path of that packet
 *     its first segment, and its drain  the path of segment 0
 *
 * Wires and nodes are those of its route, as every path passes each once. Terms of its result
 * that are known beforehand or have a column of their own are told whole: the wait for the engine
 * and for the memory, the memory's overhead, the drain. A path may have had less of them: segments
 * whose last channel is fast, or a packet that did not wait where the first one did. So much of its
 * waits made nothing later, and is taken off them, from the first one on. What is left is
 * queue_link, to the femtosecond; explain/spans.c checks that all adds up to the latency.
 *
 * Example: the last of 16 segments waits 3 ns in a router. Alone the transaction would have been
 * done 1 ns after that segment's tail, as its memory has 1 ns of overhead: so it has waited 2 ns.
 */
#include "explain/router_paths.h"
#include "explain/server_pieces.h"
#include "explain/ways.h"

/* Pieces follow one another. */
struct told {
    struct kb_sim *sim;
    uint32_t slot;
    int64_t at_fs, wire_fs, overhead_fs;
};

static void add(struct told *p, kb_cause cause, kb_place place, int64_t fs,
                const struct net_other *behind)
{
    if (fs)
        spans_piece_behind(p->sim, p->slot, cause, place, p->at_fs, fs, behind->source, behind->id);
    p->at_fs += fs;
}

static const struct net_other none = {.source = KB_NOWHERE, .id = KB_NO_ID};

static void add_passed(void *arg, const kb_share *piece)
{
    struct told *p = arg;

    p->wire_fs += piece->cause == KB_CAUSE_WIRE ? piece->sum_fs : 0;
    p->overhead_fs += piece->cause == KB_CAUSE_OVERHEAD ? piece->sum_fs : 0;
    add(p, piece->cause, piece->place, piece->sum_fs, &none);
}

/* Wires and nodes; a channel without a wire takes a femtosecond. That, what nodes that are
 * components have answered, and the way back are at the source. */
static void add_way(struct told *p, const struct kb_cost *c)
{
    const struct kb_sim *s = p->sim;
    kb_place source = spans_source(&s->txns[p->slot]);

    ways_pass(s->topo, &s->mask, &s->txns[p->slot], add_passed, p);
    add(p, KB_CAUSE_WIRE, source, c->wire_fs - p->wire_fs, &none);
    add(p, KB_CAUSE_OVERHEAD, source, c->overhead_fs - c->memory_overhead_fs - p->overhead_fs,
        &none);
    add(p, KB_CAUSE_RETURN, source, c->return_fs, &none);
}

/* The waits of a path without the first `slack` of them, the first one first. */
static void add_waits(struct told *p, const struct net_waits *w, uint32_t last, int64_t *slack)
{
    const struct net_wait *wait = &w->rows[last];
    struct net_other behind;
    int64_t fs;

    if (last == NO_WAIT)
        return;
    add_waits(p, w, wait->before, slack);
    behind = (struct net_other){.source = wait->behind, .id = wait->behind_id};
    fs = wait->fs > *slack ? wait->fs - *slack : 0;
    *slack -= wait->fs - fs;
    add(p, (kb_cause)wait->cause, wait->place, fs, &behind);
}

/* Of a write: has it been done because of its first segment, and its drain? */
static bool is_drained(const struct kb_sim *s, uint32_t slot, const struct kb_cost *c,
                       uint64_t served_fs)
{
    const struct txn *txn = &s->txns[slot];

    return served_fs == (uint64_t)(txn->service_fs + c->memory_overhead_fs + c->drain_fs);
}

/* What made it done at `t`; NULL: its first segment. */
static const struct net_path *last_path(const struct kb_sim *s, uint64_t t, uint32_t slot,
                                        const struct kb_cost *c)
{
    const struct net_flight *f = &spans_of(s)->net->flights[slot];
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *row = cost_memory(s->topo, txn->dst, true);

    if (!txn_writes(txn))
        return s->router->flights[slot].first_fs + (uint64_t)c->drain_fs == t ? NULL : &f->tail;
    if (is_drained(s, slot, c, t))
        return NULL;
    return f->tail_fs + (uint64_t)(row->latency_fs & s->mask.overhead) == t ? &f->tail : &f->served;
}

/* How much of its waits has made nothing later: terms that are told whole, less what the path has
 * got of them. */
static int64_t slack_of(const struct kb_sim *s, uint32_t slot, const struct net_path *last,
                        const struct kb_cost *c)
{
    const struct net_flight *f = &spans_of(s)->net->flights[slot];
    const struct txn *txn = &s->txns[slot];
    int64_t engine_fs = txn_of_host(txn) ? txn->wait_fs : 0;
    int64_t memory_fs = txn->service_fs - txn->arrive_fs;

    if (txn_writes(txn))
        memory_fs += cost_memory(s->topo, txn->dst, true)->overhead_fs & s->mask.overhead;
    if (last)
        return engine_fs + memory_fs + c->drain_fs - last->got_fs;
    return engine_fs + (txn_writes(txn) ? 0 : memory_fs) - f->first.got_fs;
}

/*
 * The same where the memory has banks: of a read all that it is told of the memory, as its path has
 * got it, too; of a write what came last, its tail or the end of its drain.
 */
static const struct net_path *last_path_in_banks(const struct kb_sim *s, uint64_t t, uint32_t slot,
                                                 const struct kb_cost *c)
{
    const struct net_flight *f = &spans_of(s)->net->flights[slot];
    const struct flight *flight = &s->router->flights[slot];
    const struct txn *txn = &s->txns[slot];

    if (!txn_writes(txn))
        return flight->first_fs + (uint64_t)c->drain_fs == t ? NULL : &f->tail;
    return (int64_t)flight->tail_fs > txn->arrive_fs + c->drain_fs ? &f->tail : NULL;
}

static int64_t slack_in_banks(const struct kb_sim *s, uint32_t slot, const struct net_path *last,
                              const struct kb_cost *c)
{
    const struct net_flight *f = &spans_of(s)->net->flights[slot];
    const struct txn *txn = &s->txns[slot];
    int64_t engine_fs = txn_of_host(txn) ? txn->wait_fs : 0;
    int64_t told_fs =
        txn_writes(txn) ? 0 : queued_service_fs(s, txn, c) - txn->arrive_fs + c->memory_overhead_fs;

    return engine_fs + told_fs + (last ? c->drain_fs : 0) - (last ? last : &f->first)->got_fs;
}

/*
 * The same where the memory is a component: what is told but was not taken. Below 0: packets behind
 * the first took longer there, which is told as a wait at the memory.
 */
static int64_t slack_in_component(const struct kb_sim *s, uint64_t t, uint32_t slot,
                                  const struct told *p, uint32_t last, const struct kb_cost *c)
{
    const struct net_waits *waits = &spans_of(s)->net->waits;
    const struct txn *txn = &s->txns[slot];
    int64_t end_fs = p->at_fs + (txn_of_host(txn) ? txn->wait_fs : 0) +
                     queued_service_fs(s, txn, c) - txn->arrive_fs + c->memory_overhead_fs +
                     c->drain_fs;

    for (uint32_t i = last; i != NO_WAIT; i = waits->rows[i].before)
        end_fs += waits->rows[i].fs;
    return end_fs - (int64_t)t;
}

static void tell_pieces(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place memory,
                        const struct kb_cost *c)
{
    const struct net_flight *f = &spans_of(s)->net->flights[slot];
    const struct txn *txn = &s->txns[slot];
    bool banked = banks_has(s, txn), queues = txn_queues(s, txn);
    const struct net_path *last =
        queues ? last_path_in_banks(s, t, slot, c) : last_path(s, t, slot, c);
    int64_t slack = queues ? slack_in_banks(s, slot, last, c) : slack_of(s, slot, last, c);
    int64_t behind_fs = 0;
    struct told p = {
        .sim = s, .slot = slot, .at_fs = txn->issue_fs + (txn_of_host(txn) ? 0 : txn->wait_fs)};

    add_way(&p, c);
    if (memory_is_component(s->topo, txn->dst) || (s->topo->impls && s->topo->impls->nodes)) {
        slack = slack_in_component(s, t, slot, &p, (last ? last : &f->first)->last, c);
        behind_fs = slack < 0 ? -slack : 0;
        slack += behind_fs;
    }
    add_waits(&p, &spans_of(s)->net->waits, (last ? last : &f->first)->last, &slack);
    if (s->topo->impls) /* nor less than nothing was waited for in ports */
        behind_fs -= slack > 0 ? slack : 0;
    if (banked)
        p.at_fs = bank_pieces_wait(s, slot, memory, p.at_fs,
                                   queued_service_fs(s, txn, c) - txn->arrive_fs);
    else
        add(&p, KB_CAUSE_MEMORY_WAIT, memory, queued_service_fs(s, txn, c) - txn->arrive_fs,
            &f->at_memory);
    add(&p, KB_CAUSE_ROUTER_WAIT, memory, behind_fs, &none);
    add(&p, KB_CAUSE_OVERHEAD, memory, c->memory_overhead_fs, &none);
    add(&p, KB_CAUSE_DRAIN, memory, c->drain_fs, &none);
}

void net_leave(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place memory)
{
    struct kb_cost c = sim_cost(s, &s->txns[slot]);

    tell_pieces(s, t, slot, memory, &c);
}
