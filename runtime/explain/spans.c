/* spans.c -- cuts the time of each transaction into pieces: where it is, and what it waits for.
 *
 * The hop engine calls the functions of engine/observer.h at each step. For each slot there is one
 * open piece of time (struct progress): its cause (wire, overhead, a wait, drain, ...), its place,
 * and since when. A call closes the open piece and may open the next one. Each closed piece is told
 * to the kb_observers and counted in three sums, which are checked when the transaction ends:
 *
 *   all pieces           = end - issue
 *   pieces of wires      = wire_fs of the tables, cost_of()
 *   pieces of overheads  = overhead_fs of the tables
 *
 * So the breakdown is no second model. It is measured step by step, and held against the sums that
 * the fused engine uses; a difference of one femtosecond ends the run with KB_INTERNAL.
 *
 * Example: c0.pe0 and c0.pe1 both read 4 KiB of c0.slice0 at 0 (docs/model.md "Worked: two reads of
 * one slice"). Of the second one the pieces are, in ns:
 *
 *   0       .. 4.095    wires and overheads of its way, one piece each
 *   4.095   .. 18.085   memory wait, 13.990, behind transaction 0 of c0.pe0
 *   18.085  .. 50.085   drain, 32
 *
 * A wait is told twice: opened as soon as it is known what it is for (the holder at that moment),
 * and closed when the station is taken. A piece of no length is not opened at all, except a wait.
 *
 * Invariants
 *   - At most one piece is open per slot; issue() starts with none.
 *   - The hop engine calls. Where only sums of transactions are wanted these are made of visits,
 *     without any pieces: explain/visits.c. Both end at the same femtosecond, which the tests
 *     compare.
 *   - Of a kernel's stage each piece is also added to its chain: explain/commands.c.
 *
 * explain_shares.c has the sums, explain_stations.c the waits and services, messages.c what PEs
 * wait for of each other, commands.c the chains of commands, observe.c the table of calls.
 */
#include "explain/spans.h"
#include "explain/ways.h"
#include <stdlib.h>
#include <string.h>
#include "data/dtype.h"
#include "engine/split.h"
#include "machine/alone.h"
#include "machine/endpoint.h"
#include "machine/walk.h"

void spans_inconsistent(struct kb_sim *s, const char *what, uint32_t id, int64_t is_fs,
                        int64_t should_fs)
{
    if (!spans_of(s)->failed)
        endpoint_error(&spans_of(s)->error, "the pieces of %s %u add up to %lld fs, not to %lld",
                       what, id, (long long)is_fs, (long long)should_fs);
    spans_of(s)->failed = true;
    spans_stop(s, KB_INTERNAL);
}

/* -- names and places -------------------------------------------------------------------------- */

kb_place spans_source(const struct txn *x)
{
    return txn_of_host(x) ? place_host(x->src, x->chiplet) : place_of(KB_AT_PE, x->src);
}

const char *spans_op_name(uint32_t op)
{
    static const char *const ops[] = {"read", "write", "h2d", "d2h"};

    return ops[op];
}

static const char *what_of(const struct kb_sim *s, uint32_t slot)
{
    static const char *const stages[] = {"dma_read", "dma_write", "fetch",  "gemm",
                                         "math",     "store",     "command"};

    if (!sim_has_kernels(s))
        return spans_op_name(s->txns[slot].op);
    if (work_at(s, slot)->command->task == TASK_SEND)
        return "ipcq_copy";
    return stages[work_at(s, slot)->stage];
}

const char *spans_command_name(const struct command *c)
{
    static const char *const tasks[] = {
        [TASK_SEND] = "send",         [TASK_RECV] = "recv",   [TASK_BARRIER] = "barrier",
        [TASK_ATOMIC] = "atomic_add", [TASK_VALUE] = "value", [TASK_COMBINE] = "atomic",
    };
    const struct op *op = &c->op;
    static const char *const gemm[] = {
        [KB_F16] = "gemm_f16",   [KB_BF16] = "gemm_bf16",     [KB_F32] = "gemm_f32",
        [KB_F64] = "gemm_f64",   [KB_I8] = "gemm_i8",         [KB_I16] = "gemm_i16",
        [KB_I32] = "gemm_i32",   [KB_I64] = "gemm_i64",       [KB_U8] = "gemm_u8",
        [KB_U16] = "gemm_u16",   [KB_U32] = "gemm_u32",       [KB_U64] = "gemm_u64",
        [KB_BOOL] = "gemm_bool", [KB_F8E4M3] = "gemm_f8e4m3", [KB_F8E5M2] = "gemm_f8e5m2",
        [KB_I4] = "gemm_i4"};

    if (c->task == TASK_ATOMIC && c->swaps)
        return "atomic_cas";
    if (c->task != TASK_PLAIN && c->task != TASK_ACC)
        return tasks[c->task];
    if (op->kind == OP_DMA_READ || op->kind == OP_DMA_WRITE)
        return op->kind == OP_DMA_READ ? "dma_read" : "dma_write";
    if (op->composite && !op_of_acc(op))
        return op->kind == OP_GEMM ? "composite_gemm" : "composite_math";
    return op->kind == OP_GEMM ? gemm[op_operands_dtype(op)] : op_math_name(op);
}

static uint32_t token_of(const struct kb_sim *s, uint32_t slot)
{
    return sim_has_kernels(s) && work_at(s, slot)->token ? work_at(s, slot)->token->number
                                                         : KB_NO_ID;
}

/* Of a receive the piece of a send that it takes. */
static uint32_t message_of(const struct kb_sim *s, uint32_t slot)
{
    const struct work *w = sim_has_kernels(s) ? work_at(s, slot) : NULL;

    return w && w->token && w->command->task == TASK_RECV ? w->token->next_id : KB_NO_ID;
}

static kb_place node_place(const struct kb_sim *s, uint32_t slot)
{
    const struct kb_topology *t = s->topo;
    const struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(t, txn);

    return ways_node(t, &t->hops[walk_segment(t, txn->at)->first_hop + txn->at.step], txn->at.cube,
                     &trip);
}

/* The edge behind its node. */
static struct walk_edge next_edge(const struct kb_sim *s, struct route_at at)
{
    const struct hop_row *hop = &s->topo->hops[walk_segment(s->topo, at)->first_hop + at.step];

    return (struct walk_edge){hop->owner, hop->back, hop->link};
}

/* The station of that edge, in the direction of its data. */
kb_place spans_link(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(s->topo, txn);
    size_t link = walk_link(s->topo, next_edge(s, txn->at), txn->at.cube, &trip);

    return place_of(KB_AT_LINK, link ^ !txn_writes(txn));
}

/* A memory's station: a slice, an SRAM, or a port or an engine of a PE. */
kb_place spans_memory(const struct kb_sim *s, uint32_t slot)
{
    const struct tl_ctx *pes = sim_has_kernels(s) ? s->kernels->pes : NULL;
    const struct txn *txn = &s->txns[slot];
    uint32_t number;

    if (!pes || (!is_inside(s, slot) && !unit_is_tcm(s->topo, dst_unit(s->topo, txn->dst))))
        return place_of(KB_AT_MEMORY, txn->dst);
    number = (uint32_t)(((const char *)work_at(s, slot)->station - (const char *)pes) /
                        (ptrdiff_t)sizeof *pes);
    return place_port(number, (uint32_t)(work_at(s, slot)->station - pes[number].port));
}

/* -- pieces of time ---------------------------------------------------------------------------- */

static bool is_whole(const struct kb_sim *s, uint32_t slot)
{
    return is_split(s, slot) && s->splits[slot].whole == slot;
}

static uint32_t part_of(const struct kb_sim *s, uint32_t slot)
{
    return !s->splits ? 0 : is_whole(s, slot) ? KB_NO_ID : s->splits[slot].number;
}

kb_span spans_make(const struct kb_sim *s, uint32_t slot, int64_t end_fs)
{
    const struct progress *at = &spans_of(s)->slots[slot];
    const struct txn *txn = &s->txns[slot];

    return (kb_span){.id = txn->id,
                     .part = part_of(s, slot),
                     .is_part = is_part(s, slot),
                     .command = at->chain.command,
                     .token = token_of(s, slot),
                     .what = what_of(s, slot),
                     .source = spans_source(txn),
                     .target = is_inside(s, slot) ? KB_NOWHERE : place_of(KB_AT_MEMORY, txn->dst),
                     .nbytes = txn->nbytes,
                     .cause = (kb_cause)at->cause,
                     .place = at->place,
                     .behind = at->behind,
                     .behind_id = at->behind_id,
                     .message = message_of(s, slot),
                     .begin_fs = at->begin_fs,
                     .end_fs = end_fs};
}

kb_service spans_service(const struct kb_sim *s, uint32_t slot, kb_place place, int64_t begin_fs,
                         int64_t end_fs)
{
    const struct txn *txn = &s->txns[slot];

    return (kb_service){.id = txn->id,
                        .part = part_of(s, slot),
                        .command = spans_of(s)->slots[slot].chain.command,
                        .token = token_of(s, slot),
                        .message = message_of(s, slot),
                        .what = what_of(s, slot),
                        .source = spans_source(txn),
                        .target =
                            is_inside(s, slot) ? KB_NOWHERE : place_of(KB_AT_MEMORY, txn->dst),
                        .nbytes = txn->nbytes,
                        .place = place,
                        .begin_fs = begin_fs,
                        .end_fs = end_fs};
}

/* Adds pieces to the sums that are checked. */
void spans_passed(struct kb_sim *s, uint32_t slot, const kb_share *pieces)
{
    struct progress *at = &spans_of(s)->slots[slot];

    at->told_fs += pieces->sum_fs;
    at->wire_fs += pieces->cause == KB_CAUSE_WIRE ? pieces->sum_fs : 0;
    at->overhead_fs += pieces->cause == KB_CAUSE_OVERHEAD ? pieces->sum_fs : 0;
    if (at->chain.command != KB_NO_ID)
        chain_add(s, &at->chain, pieces);
}

/* The same of the piece that ends now. */
static void count_piece(struct kb_sim *s, uint32_t slot, int64_t fs)
{
    const struct progress *at = &spans_of(s)->slots[slot];

    spans_passed(s, slot,
                 &(kb_share){.cause = (kb_cause)at->cause,
                             .place = at->place,
                             .count = 1,
                             .sum_fs = fs,
                             .longest_fs = kb_cause_is_wait((kb_cause)at->cause) ? fs : 0,
                             .behind = at->behind,
                             .behind_id = at->behind_id});
}

/* Ends the piece that is open, if one is. */
void spans_close(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct progress *at = &spans_of(s)->slots[slot];
    kb_span span;

    if (!at->open)
        return;
    at->open = false;
    count_piece(s, slot, (int64_t)t - at->begin_fs);
    if (!spans_of(s)->closes)
        return;
    span = spans_make(s, slot, (int64_t)t);
    TELL(spans_of(s), close, &span);
}

void spans_piece(struct kb_sim *s, uint32_t slot, kb_cause cause, kb_place place, int64_t begin_fs,
                 int64_t fs)
{
    spans_piece_behind(s, slot, cause, place, begin_fs, fs, KB_NOWHERE, KB_NO_ID);
}

void spans_piece_behind(struct kb_sim *s, uint32_t slot, kb_cause cause, kb_place place,
                        int64_t begin_fs, int64_t fs, kb_place behind, uint32_t behind_id)
{
    struct spans *w = spans_of(s);
    struct progress *at = &w->slots[slot];
    kb_span span;

    at->begin_fs = begin_fs;
    at->cause = (uint8_t)cause;
    at->place = place;
    at->behind = behind;
    at->behind_id = behind_id;
    count_piece(s, slot, fs);
    if (!w->closes)
        return;
    span = spans_make(s, slot, begin_fs + fs);
    for (int i = 0; i < w->n; i++)
        if (w->to[i].close && !w->to[i].open)
            w->to[i].close(w->to[i].arg, &span);
}

void spans_show(struct kb_sim *s, uint32_t slot, kb_place place, int64_t begin_fs, int64_t end_fs)
{
    struct spans *w = spans_of(s);
    struct progress *at = &w->slots[slot];
    kb_span span;

    at->begin_fs = begin_fs;
    at->cause = KB_CAUSE_DRAIN;
    at->place = place;
    span = spans_make(s, slot, end_fs);
    for (int i = 0; i < w->n; i++)
        if (w->to[i].open)
            (end_fs < 0 ? w->to[i].open : w->to[i].close)(w->to[i].arg, &span);
}

void spans_open(struct kb_sim *s, uint64_t t, uint32_t slot, kb_cause cause, kb_place place)
{
    struct progress *at = &spans_of(s)->slots[slot];
    kb_span span;

    at->begin_fs = (int64_t)t;
    at->cause = (uint8_t)cause;
    at->place = place;
    at->behind = KB_NOWHERE;
    at->behind_id = KB_NO_ID;
    at->open = true;
    if (!spans_of(s)->opens || kb_cause_is_wait(cause))
        return; /* told by spans_open_wait(), which knows the transaction ahead */
    span = spans_make(s, slot, -1);
    TELL(spans_of(s), open, &span);
}

void spans_open_wait(struct kb_sim *s, uint64_t t, uint32_t slot, kb_cause cause, kb_place place,
                     kb_place behind, uint32_t behind_id)
{
    struct progress *at = &spans_of(s)->slots[slot];
    kb_span span;

    spans_open(s, t, slot, cause, place);
    at->behind = behind;
    at->behind_id = behind_id;
    if (!spans_of(s)->opens)
        return;
    span = spans_make(s, slot, -1);
    TELL(spans_of(s), open, &span);
}

/* -- on the way -------------------------------------------------------------------------------- */

bool spans_room(struct kb_sim *s, uint32_t slot)
{
    struct spans *w = spans_of(s);
    uint32_t n = sim_has_kernels(s) ? s->kernels->slots_cap : s->txns_cap;
    struct progress *moved;

    if (slot < w->n_slots)
        return true;
    moved = realloc(w->slots, n * sizeof *moved);
    if (!moved) {
        spans_stop(s, KB_NO_MEMORY);
        return false;
    }
    memset(moved + w->n_slots, 0, (n - w->n_slots) * sizeof *moved);
    w->slots = moved;
    w->n_slots = n;
    return true;
}

/* A part has waited for its place in the row of its PE, behind parts of its own transaction. */
static void wait_for_place(struct kb_sim *s, uint32_t whole, uint32_t part)
{
    const struct txn *x = &s->txns[part];
    uint64_t since = txn_start_fs(&s->txns[whole]), t = txn_start_fs(x);

    if (t == since)
        return;
    spans_open_wait(s, since, part, KB_CAUSE_CHANNEL_WAIT,
                    place_of(KB_AT_CHANNEL, 2 * (uint64_t)x->src + txn_writes(x)), spans_source(x),
                    x->id);
    spans_close(s, t, part);
}

/*
 * A part goes on from where the whole is: with its channel, and the wait for it behind. That wait
 * is told once; all that follows is told of each part, under the id of the transaction.
 */
void spans_split(struct kb_sim *s, uint32_t whole, uint32_t part)
{
    struct progress *at;
    const struct progress *from;

    if (!spans_room(s, part))
        return;
    at = &spans_of(s)->slots[part];
    from = &spans_of(s)->slots[whole];
    at->open = false;
    at->issue_fs = from->issue_fs;
    at->told_fs = from->told_fs;
    at->wire_fs = at->overhead_fs = 0;
    at->chain.command = KB_NO_ID;
    if (sim_has_kernels(s))
        chain_copy(s, &at->chain, &from->chain);
    if (!txn_of_host(&s->txns[part]))
        wait_for_place(s, whole, part);
}

void spans_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct kb_topology *topo = s->topo;
    const struct txn *txn = &s->txns[slot];
    const struct hop_row *hop = &topo->hops[walk_segment(topo, txn->at)->first_hop + txn->at.step];
    int64_t overhead_fs = hop->overhead_fs & s->mask.overhead;

    spans_close(s, t, slot);
    if (node_component(topo, hop, txn->at.cube))
        overhead_fs = s->instances.served[slot].node_fs;
    if (overhead_fs)
        spans_open(s, t, slot, KB_CAUSE_OVERHEAD, node_place(s, slot));
}

void spans_cross(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    spans_close(s, t, slot);
    if (s->mask.wire)
        spans_open(s, t, slot, KB_CAUSE_WIRE, node_place(s, slot));
}

void spans_wire(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct kb_topology *topo = s->topo;
    const struct txn *txn = &s->txns[slot];
    const struct segment_row *seg = walk_segment(topo, txn->at);
    int64_t wire_fs = topo->hops[seg->first_hop + txn->at.step].wire_fs;

    if (txn->at.step + 1 == seg->n_hops)
        wire_fs += walk_extra_fs(topo, txn->at);
    spans_close(s, t, slot);
    if (wire_fs & s->mask.wire)
        spans_open(s, t, slot, KB_CAUSE_WIRE, spans_link(s, slot));
}

/* -- the end ----------------------------------------------------------------------------------- */

/* All pieces together are the transaction's time; wires and nodes are those of the tables. */
static void check_txn(struct kb_sim *s, uint64_t end, uint32_t slot, const struct kb_cost *c)
{
    const struct progress *at = &spans_of(s)->slots[slot];
    const struct txn *txn = &s->txns[slot];

    if (at->told_fs != (int64_t)end - at->issue_fs)
        spans_inconsistent(s, "transaction", txn->id, at->told_fs, (int64_t)end - at->issue_fs);
    if (is_inside(s, slot))
        return;
    if (at->wire_fs != c->wire_fs)
        spans_inconsistent(s, "all wires of transaction", txn->id, at->wire_fs, c->wire_fs);
    if (at->overhead_fs != c->overhead_fs)
        spans_inconsistent(s, "all overheads of transaction", txn->id, at->overhead_fs,
                           c->overhead_fs);
}

void spans_end(struct kb_sim *s, uint64_t t, uint64_t end, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    struct kb_cost c = {0};
    kb_span last;

    if (end > t && !is_whole(s, slot)) {
        spans_open(s, t, slot, KB_CAUSE_RESPONSE, spans_source(x));
        spans_close(s, end, slot);
    }
    if (!is_inside(s, slot)) {
        c = sim_cost(s, x);
        if (unit_is_l2(s->topo, dst_unit(s->topo, x->dst))) { /* wires behind it are its time */
            int64_t far_fs = sim_alone(s, slot, c.drain_fs).wire_fs;

            c.wire_fs -= far_fs;
            c.overhead_fs += far_fs;
        }
    }
    if (c.memory_overhead_fs < 0) { /* a component was done early: no piece is negative */
        c.overhead_fs -= c.memory_overhead_fs;
        c.memory_overhead_fs = 0;
    }
    last = spans_make(s, slot, (int64_t)end);
    if (!is_whole(s, slot))
        check_txn(s, end, slot, &c);
    TELL(spans_of(s), end, &last);
}
