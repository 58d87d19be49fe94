/* watch.c -- what the hop engine tells of a run: where each transaction is, what each station does.
 */
#include "engine/observer.h"
#include <stdlib.h>
#include <string.h>
#include "data/dtype.h"
#include "machine/endpoint.h"
#include "kernels/kernels.h"
#include "machine/place.h"
#include "machine/walk.h"

/* The shares of a command, or of a part of it. */
struct shares {
    kb_share *row; /* owned */
    uint32_t n, cap;
};

/* What led to where a stage of a command is: its shares since the issue, one after the other. */
struct chain {
    uint32_t command, pe; /* op_id; KB_NO_ID: no kernel's */
    int64_t call_fs, issue_fs;
    struct shares shares;
    /* What another PE has let begin: its stretch, since when, and the shares from there on. */
    uint32_t before; /* KB_NO_ID: nothing, as what follows */
    int64_t since_fs;
    struct shares since;
};

/* Who is in a slot: the piece of time that is open, and what is known of those before. */
struct tile {
    int64_t begin_fs; /* of the piece */
    kb_place place, behind;
    uint32_t behind_id;
    uint8_t cause;
    bool open;
    int64_t issue_fs, told_fs, wire_fs, overhead_fs;
    int64_t engine_since_fs, memory_since_fs; /* taken; a channel: issue_fs + txn.wait_fs */
    uint32_t ahead; /* a link: who entered it, or will, right before; and when */
    int64_t ahead_enter_fs;
    struct chain chain;
    int64_t end_fs;   /* a word: when it set out */
    uint32_t stretch; /* a credit: what has taken the piece */
};

/* A stage that has ended, or a word that has come, and what led to that. */
struct leaving {
    struct chain chain;
    int64_t end_fs;
    uint32_t stretch; /* as which it was told; KB_NO_ID: not yet */
};

/* What let a PE's kernel come to where it is. */
struct cause_of_call {
    uint32_t after;
    bool after_end;
    int64_t start_fs;
};

struct watch {
    struct observer calls; /* first: kb_sim.observer points to it */
    struct kb_observer to[KB_OBSERVERS_MAX];
    int n;
    struct tile *tiles; /* owned; [slot] */
    uint32_t n_tiles;
    uint32_t *channel_id, *engine_id; /* owned; let in last */
    int64_t *link_enter_fs;           /* owned; fifo: when link_station.holder enters */
    struct leaving leaving;
    uint32_t n_stretches;      /* told */
    struct cause_of_call *pes; /* owned; [number]; NULL: no kernels */
    bool failed;
    kb_error error;
};

static struct watch *watch_of(const struct kb_sim *s)
{
    return (struct watch *)s->observer;
}

/* Calls `function` of all who have one. */
#define TELL(w, function, what)                                                                    \
    do {                                                                                           \
        for (int i_ = 0; i_ < (w)->n; i_++)                                                        \
            if ((w)->to[i_].function)                                                              \
                (w)->to[i_].function((w)->to[i_].arg, what);                                       \
    } while (0)

/* -- failing -------------------------------------------------------------------------------- */

static void stop(struct kb_sim *s, kb_status status)
{
    if (s->status == KB_OK)
        s->status = status;
    s->stop_fs = 0;
}

static void inconsistent(struct kb_sim *s, const char *what, uint32_t id, int64_t is_fs,
                         int64_t should_fs)
{
    if (!watch_of(s)->failed)
        endpoint_error(&watch_of(s)->error, "the pieces of %s %u add up to %lld fs, not to %lld",
                       what, id, (long long)is_fs, (long long)should_fs);
    watch_of(s)->failed = true;
    stop(s, KB_INTERNAL);
}

static kb_status told_error(const struct observer *o, kb_error *why)
{
    const struct watch *w = (const struct watch *)o;

    if (!w->failed)
        return KB_OK;
    if (why)
        *why = w->error;
    return KB_INTERNAL;
}

/* -- shares --------------------------------------------------------------------------------- */

static bool is_wait(kb_cause cause)
{
    return cause == KB_CAUSE_CHANNEL_WAIT || cause == KB_CAUSE_LINK_WAIT ||
           cause == KB_CAUSE_ENGINE_WAIT || cause == KB_CAUSE_MEMORY_WAIT ||
           cause == KB_CAUSE_PORT_WAIT || cause == KB_CAUSE_QUEUE_WAIT ||
           cause == KB_CAUSE_BARRIER_WAIT;
}

static bool shares_room(struct shares *x, uint32_t n)
{
    kb_share *moved;

    if (n <= x->cap)
        return true;
    moved = realloc(x->row, 2 * (size_t)n * sizeof *moved);
    if (!moved)
        return false;
    x->row = moved;
    x->cap = 2 * n;
    return true;
}

static void shares_copy(struct kb_sim *s, struct shares *to, const struct shares *from)
{
    if (!shares_room(to, from->n)) {
        stop(s, KB_NO_MEMORY);
        return;
    }
    to->n = from->n;
    if (from->n)
        memcpy(to->row, from->row, from->n * sizeof *from->row);
}

/* Adds a piece to the share of its cause and place. */
static void shares_add(struct kb_sim *s, struct shares *x, const kb_share *piece)
{
    uint32_t i = x->n;

    while (i > 0 && (x->row[i - 1].cause != piece->cause || x->row[i - 1].place != piece->place))
        i--;
    if (i > 0) {
        kb_share *row = &x->row[i - 1];

        row->count++;
        row->sum_fs += piece->sum_fs;
        if (piece->longest_fs > row->longest_fs) {
            row->longest_fs = piece->longest_fs;
            row->behind = piece->behind;
            row->behind_id = piece->behind_id;
        }
        return;
    }
    if (!shares_room(x, x->n + 1)) {
        stop(s, KB_NO_MEMORY);
        return;
    }
    x->row[x->n++] = *piece;
}

static int64_t shares_sum_fs(const struct shares *x)
{
    int64_t sum_fs = 0;

    for (uint32_t i = 0; i < x->n; i++)
        sum_fs += x->row[i].sum_fs;
    return sum_fs;
}

static void chain_begin(struct chain *x, const struct kb_sim *s, const struct command *c)
{
    x->command = c->op.id;
    x->pe = c->pe->number;
    x->call_fs = c->op.t_issue_fs - s->kernels->issue_fs;
    x->issue_fs = c->op.t_issue_fs;
    x->before = KB_NO_ID;
    x->shares.n = x->since.n = 0;
}

static void chain_copy(struct kb_sim *s, struct chain *to, const struct chain *from)
{
    struct shares shares = to->shares, since = to->since;

    *to = *from;
    to->shares = shares;
    to->since = since;
    shares_copy(s, &to->shares, &from->shares);
    shares_copy(s, &to->since, &from->since);
}

static void chain_free(struct chain *x)
{
    free(x->shares.row);
    free(x->since.row);
}

static void chain_swap(struct chain *a, struct chain *b)
{
    struct chain kept = *a;

    *a = *b;
    *b = kept;
}

static void chain_add(struct kb_sim *s, struct chain *x, const kb_share *piece)
{
    if (piece->sum_fs == 0)
        return;
    shares_add(s, &x->shares, piece);
    if (x->before != KB_NO_ID)
        shares_add(s, &x->since, piece);
}

/* -- who is in a slot ----------------------------------------------------------------------- */

static bool of_kernels(const struct kb_sim *s)
{
    return s->kernels;
}

static const struct work *work_at(const struct kb_sim *s, uint32_t slot)
{
    return &s->kernels->work[slot];
}

static bool is_inside(const struct kb_sim *s, uint32_t slot)
{
    return of_kernels(s) && !work_is_dma(work_at(s, slot));
}

static kb_place source_of(const struct txn *x)
{
    return place_of(txn_of_host(x) ? KB_AT_HOST : KB_AT_PE, x->src);
}

static const char *what_of(const struct kb_sim *s, uint32_t slot)
{
    static const char *const ops[] = {"read", "write", "h2d", "d2h"};
    static const char *const stages[] = {"dma_read", "dma_write", "fetch",  "gemm",
                                         "math",     "store",     "command"};

    if (!of_kernels(s))
        return ops[s->txns[slot].op];
    if (work_at(s, slot)->command->task == TASK_SEND)
        return "ipcq_copy";
    return stages[work_at(s, slot)->stage];
}

/* A memory's station: a slice, an SRAM, or a port or an engine of a PE. */
static kb_place station_place(const struct kb_sim *s, uint32_t slot)
{
    const struct tl_ctx *pes = of_kernels(s) ? s->kernels->pes : NULL;
    const struct txn *x = &s->txns[slot];
    uint32_t number;

    if (!pes || (!is_inside(s, slot) && dst_unit(s->topo, x->dst) <= s->topo->pes))
        return place_of(KB_AT_MEMORY, x->dst);
    number = (uint32_t)(((const char *)work_at(s, slot)->station - (const char *)pes) /
                        (ptrdiff_t)sizeof *pes);
    return place_port(number, (uint32_t)(work_at(s, slot)->station - pes[number].port));
}

/* The link behind the node where it is, on the way that its data takes. */
static kb_place link_place(const struct kb_sim *s, uint32_t slot)
{
    const struct kb_topology *t = s->topo;
    const struct txn *x = &s->txns[slot];
    const struct hop_row *hop = &t->hops[t->segments[x->at.segment].first_hop + x->at.step];
    struct walk_edge edge = {hop->owner, hop->back, hop->link};

    return place_of(KB_AT_LINK, walk_link(t, edge, x->at.cube, x->dst) ^ !txn_writes(x));
}

static kb_place node_place(const struct kb_sim *s, uint32_t slot)
{
    const struct kb_topology *t = s->topo;
    const struct txn *x = &s->txns[slot];
    const struct hop_row *hop = &t->hops[t->segments[x->at.segment].first_hop + x->at.step];

    switch (hop->chiplet) {
    case AT_CUBE:
        return place_node(AT_CUBE, x->at.cube, hop->node);
    case AT_IO:
        return place_node(AT_IO, x->at.cube / t->cubes, hop->node);
    case AT_IO_TO:
        return place_node(AT_IO, dst_cube(t, x->dst) / t->cubes, hop->node);
    default:
        return place_node(AT_FABRIC, 0, hop->node);
    }
}

static kb_place place_of_station(const struct kb_sim *s, uint32_t slot, enum watch_station station)
{
    const struct txn *x = &s->txns[slot];

    switch (station) {
    case WATCH_CHANNEL:
        return place_of(KB_AT_CHANNEL, 2 * (uint64_t)x->src + txn_writes(x));
    case WATCH_ENGINE:
        return place_of(KB_AT_ENGINE, 2 * (uint64_t)dst_cube(s->topo, x->dst) + txn_writes(x));
    case WATCH_LINK:
        return link_place(s, slot);
    default:
        return station_place(s, slot);
    }
}

static kb_cause wait_for(kb_place place, enum watch_station station)
{
    if (kb_place_kind_of(place) == KB_AT_PORT)
        return place_index(place) % 4 < PORT_GEMM ? KB_CAUSE_PORT_WAIT : KB_CAUSE_ENGINE_WAIT;
    return station == WATCH_CHANNEL  ? KB_CAUSE_CHANNEL_WAIT
           : station == WATCH_ENGINE ? KB_CAUSE_ENGINE_WAIT
           : station == WATCH_LINK   ? KB_CAUSE_LINK_WAIT
                                     : KB_CAUSE_MEMORY_WAIT;
}

/* -- telling -------------------------------------------------------------------------------- */

static uint32_t token_of(const struct kb_sim *s, uint32_t slot)
{
    return of_kernels(s) && work_at(s, slot)->token ? work_at(s, slot)->token->number : KB_NO_ID;
}

/* Of a receive the piece of a send that it takes. */
static uint32_t message_of(const struct kb_sim *s, uint32_t slot)
{
    const struct work *w = of_kernels(s) ? work_at(s, slot) : NULL;

    return w && w->token && w->command->task == TASK_RECV ? w->token->next_id : KB_NO_ID;
}

static kb_span span_of(const struct kb_sim *s, uint32_t slot, int64_t end_fs)
{
    const struct tile *x = &watch_of(s)->tiles[slot];
    const struct txn *txn = &s->txns[slot];

    return (kb_span){.id = txn->id,
                     .command = x->chain.command,
                     .token = token_of(s, slot),
                     .what = what_of(s, slot),
                     .source = source_of(txn),
                     .target = is_inside(s, slot) ? KB_NOWHERE : place_of(KB_AT_MEMORY, txn->dst),
                     .nbytes = txn->nbytes,
                     .cause = (kb_cause)x->cause,
                     .place = x->place,
                     .behind = x->behind,
                     .behind_id = x->behind_id,
                     .message = message_of(s, slot),
                     .begin_fs = x->begin_fs,
                     .end_fs = end_fs};
}

static kb_service service_of(const struct kb_sim *s, uint32_t slot, kb_place place,
                             int64_t begin_fs, int64_t end_fs)
{
    const struct txn *txn = &s->txns[slot];

    return (kb_service){.id = txn->id,
                        .command = watch_of(s)->tiles[slot].chain.command,
                        .token = token_of(s, slot),
                        .message = message_of(s, slot),
                        .what = what_of(s, slot),
                        .source = source_of(txn),
                        .target =
                            is_inside(s, slot) ? KB_NOWHERE : place_of(KB_AT_MEMORY, txn->dst),
                        .nbytes = txn->nbytes,
                        .place = place,
                        .begin_fs = begin_fs,
                        .end_fs = end_fs};
}

/* What the open piece comes to, in the sums that are checked. */
static void count_piece(struct kb_sim *s, struct tile *x, int64_t fs)
{
    x->told_fs += fs;
    x->wire_fs += x->cause == KB_CAUSE_WIRE ? fs : 0;
    x->overhead_fs += x->cause == KB_CAUSE_OVERHEAD ? fs : 0;
    if (x->chain.command != KB_NO_ID)
        chain_add(s, &x->chain,
                  &(kb_share){.cause = (kb_cause)x->cause,
                              .place = x->place,
                              .count = 1,
                              .sum_fs = fs,
                              .longest_fs = is_wait((kb_cause)x->cause) ? fs : 0,
                              .behind = x->behind,
                              .behind_id = x->behind_id});
}

/* Ends the piece that is open, if one is. */
static void close_piece(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct tile *x = &watch_of(s)->tiles[slot];
    kb_span span;

    if (!x->open)
        return;
    span = span_of(s, slot, (int64_t)t);
    x->open = false;
    count_piece(s, x, (int64_t)t - x->begin_fs);
    TELL(watch_of(s), close, &span);
}

static void open_piece(struct kb_sim *s, uint64_t t, uint32_t slot, kb_cause cause, kb_place place)
{
    struct tile *x = &watch_of(s)->tiles[slot];
    kb_span span;

    x->begin_fs = (int64_t)t;
    x->cause = (uint8_t)cause;
    x->place = place;
    x->behind = KB_NOWHERE;
    x->behind_id = KB_NO_ID;
    x->open = true;
    if (is_wait(cause))
        return; /* once it is known behind whom */
    span = span_of(s, slot, -1);
    TELL(watch_of(s), open, &span);
}

/* -- on the way ----------------------------------------------------------------------------- */

static bool tile_room(struct kb_sim *s, uint32_t slot)
{
    struct watch *w = watch_of(s);
    uint32_t n = of_kernels(s) ? s->kernels->slots_cap : s->txns_cap;
    struct tile *moved;

    if (slot < w->n_tiles)
        return true;
    moved = realloc(w->tiles, n * sizeof *moved);
    if (!moved) {
        stop(s, KB_NO_MEMORY);
        return false;
    }
    memset(moved + w->n_tiles, 0, (n - w->n_tiles) * sizeof *moved);
    w->tiles = moved;
    w->n_tiles = n;
    return true;
}

/* The place where commands of a PE begin, or wait for a tile's room, or for another PE. */
static kb_place pe_place(const struct kb_sim *s, const struct tl_ctx *pe, enum node_kind kind)
{
    return place_pe_node(s->topo, pe->number, kind);
}

/* -- other PEs ------------------------------------------------------------------------------ */

static uint32_t put_stretch(struct kb_sim *s, kb_stretch *x)
{
    x->number = watch_of(s)->n_stretches++;
    TELL(watch_of(s), stretch, x);
    return x->number;
}

/* From the call to the issue. */
static kb_share dispatch_of(const struct kb_sim *s, const struct chain *x)
{
    return (kb_share){.cause = KB_CAUSE_DISPATCH,
                      .place = place_pe_node(s->topo, x->pe, NODE_PE_CPU),
                      .count = 1,
                      .sum_fs = x->issue_fs - x->call_fs,
                      .behind_id = KB_NO_ID};
}

/* What led to `end_fs`, from where another PE let it begin, or from the call on. */
static uint32_t tell_stretch(struct kb_sim *s, struct chain *x, int64_t end_fs)
{
    bool called = x->before == KB_NO_ID;
    struct shares *shares = called ? &x->shares : &x->since;
    uint32_t n = shares->n, number;
    kb_share dispatch = dispatch_of(s, x);

    if (called && dispatch.sum_fs)
        shares_add(s, shares, &dispatch);
    number = put_stretch(s, &(kb_stretch){.command = x->command,
                                          .pe = x->pe,
                                          .begin_fs = called ? x->call_fs : x->since_fs,
                                          .end_fs = end_fs,
                                          .share = shares->row,
                                          .n_shares = shares->n,
                                          .before = x->before});
    shares->n = n;
    return number;
}

/* What has just ended has let something on another PE come. */
static uint32_t leaving_stretch(struct kb_sim *s)
{
    struct leaving *from = &watch_of(s)->leaving;

    if (from->stretch == KB_NO_ID)
        from->stretch = tell_stretch(s, &from->chain, from->end_fs);
    return from->stretch;
}

static kb_place end_place(const struct kb_sim *s, uint32_t pe)
{
    return place_of(KB_AT_PE, s->kernels->pes[pe].src);
}

static const char *command_name(const struct command *c)
{
    static const char *const tasks[] = {
        [TASK_SEND] = "send",
        [TASK_RECV] = "recv",
        [TASK_BARRIER] = "barrier",
        [TASK_ATOMIC] = "atomic_add",
    };
    const struct op *op = &c->op;
    static const char *const gemm[] = {
        [KB_F16] = "gemm_f16",  [KB_BF16] = "gemm_bf16", [KB_F32] = "gemm_f32",
        [KB_F64] = "gemm_f64",  [KB_I8] = "gemm_i8",     [KB_I16] = "gemm_i16",
        [KB_I32] = "gemm_i32",  [KB_I64] = "gemm_i64",   [KB_U8] = "gemm_u8",
        [KB_U16] = "gemm_u16",  [KB_U32] = "gemm_u32",   [KB_U64] = "gemm_u64",
        [KB_BOOL] = "gemm_bool"};

    if (c->task != TASK_PLAIN)
        return tasks[c->task];
    if (op->kind == OP_DMA_READ || op->kind == OP_DMA_WRITE)
        return op->kind == OP_DMA_READ ? "dma_read" : "dma_write";
    if (op->composite)
        return op->kind == OP_GEMM ? "composite_gemm" : "composite_math";
    return op->kind == OP_GEMM ? gemm[op->in[0].dtype] : math_rows[op->math].name;
}

/* The wait for another PE of which a command's talk tells. */
static kb_span wait_span(const struct kb_sim *s, const struct command *c, int64_t end_fs)
{
    const struct talk *x = &c->talk;
    bool barrier = c->task == TASK_BARRIER;
    uint32_t first = c->op.id + (c->task == TASK_RECV);

    return (kb_span){.id = x->id,
                     .command = c->op.id,
                     .token = barrier ? KB_NO_ID : x->id - first,
                     .what = command_name(c),
                     .source = end_place(s, c->pe->number),
                     .cause = barrier ? KB_CAUSE_BARRIER_WAIT : KB_CAUSE_QUEUE_WAIT,
                     .place = pe_place(s, c->pe, NODE_PE_SCHEDULER),
                     .behind = x->peer == KB_NO_ID ? KB_NOWHERE : end_place(s, x->peer),
                     .behind_id = KB_NO_ID,
                     .message = KB_NO_ID,
                     .begin_fs = x->since_fs,
                     .end_fs = end_fs};
}

static void told_wait(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer)
{
    kb_span span;

    c->talk.waits = true;
    c->talk.id = id;
    c->talk.peer = peer;
    span = wait_span(s, c, -1);
    TELL(watch_of(s), open, &span);
}

static void end_pe_wait(struct kb_sim *s, uint64_t t, struct command *c)
{
    kb_span span = wait_span(s, c, (int64_t)t);

    if (c->talk.waits)
        TELL(watch_of(s), close, &span);
    c->talk.waits = false;
}

/* The parts of a word's way from one PE to another. */
struct way {
    int64_t wire_fs, overhead_fs;
};

static struct way way_of(const struct kb_sim *s, uint32_t from, uint32_t to)
{
    const struct tl_ctx *pes = s->kernels->pes;
    struct cost_row c;

    if (from == to)
        return (struct way){0, 0};
    c = cost_of_pe(s->topo, pes[from].src, pes[to].tcm);
    return (struct way){c.wire_fs & s->mask.wire, c.overhead_fs & s->mask.overhead};
}

/* A word's way is told where it ends. */
static void add_way(struct kb_sim *s, struct shares *x, struct way way, uint32_t to)
{
    kb_share piece = {.place = place_pe_node(s->topo, to, NODE_PE_CPU), .count = 1};

    piece.behind_id = KB_NO_ID;
    piece.cause = KB_CAUSE_WIRE;
    piece.sum_fs = way.wire_fs;
    if (piece.sum_fs)
        shares_add(s, x, &piece);
    piece.cause = KB_CAUSE_OVERHEAD;
    piece.sum_fs = way.overhead_fs;
    if (piece.sum_fs)
        shares_add(s, x, &piece);
}

/* A wait for another PE, which has ended, is one more of its command's. */
static void add_wait(struct talk *x, int64_t fs, uint32_t behind_id)
{
    if (fs <= 0)
        return;
    x->n_waits++;
    x->wait_fs += fs;
    if (fs > x->longest_fs) {
        x->longest_fs = fs;
        x->behind_id = behind_id;
    }
}

/* All waits of a command for another PE so far are what its next piece goes back to. */
static void begin_with_waits(struct kb_sim *s, struct chain *x, const struct command *c,
                             uint32_t behind)
{
    const struct talk *talk = &c->talk;

    if (talk->wait_fs)
        shares_add(s, &x->shares,
                   &(kb_share){.cause = KB_CAUSE_QUEUE_WAIT,
                               .place = pe_place(s, c->pe, NODE_PE_SCHEDULER),
                               .count = talk->n_waits,
                               .sum_fs = talk->wait_fs,
                               .longest_fs = talk->longest_fs,
                               .behind = end_place(s, behind),
                               .behind_id = talk->behind_id});
    add_way(s, &x->shares, (struct way){talk->wire_fs, talk->overhead_fs}, c->pe->number);
}

/* A message is there that a receive has waited for. */
static void begin_received(struct kb_sim *s, uint64_t t, struct chain *x, struct command *c)
{
    const struct leaving *from = &watch_of(s)->leaving;

    if (from->chain.command == KB_NO_ID)
        return;
    end_pe_wait(s, t, c);
    add_wait(&c->talk, (int64_t)t - c->talk.since_fs, from->chain.command);
    c->talk.since_fs = (int64_t)t;
    begin_with_waits(s, x, c, from->chain.pe);
    x->before = leaving_stretch(s);
    x->since_fs = (int64_t)t;
    if (c->piece < c->pieces) /* the next, perhaps for no time */
        told_wait(s, c, c->talk.id + 1, c->talk.peer);
}

/* Of the way of a credit the send has waited for what was left: its wires come last. */
static void wait_for_credit(struct talk *talk, struct way way, int64_t set_out_fs, int64_t t,
                            uint32_t behind_id)
{
    int64_t from_fs = set_out_fs > talk->since_fs ? set_out_fs : talk->since_fs;
    int64_t wire_fs = t - from_fs < way.wire_fs ? t - from_fs : way.wire_fs;

    add_wait(talk, from_fs - talk->since_fs, behind_id);
    talk->wire_fs += wire_fs;
    talk->overhead_fs += t - from_fs - wire_fs;
    talk->since_fs = t;
}

/* A slot is free that a send has waited for. */
static void begin_sent(struct kb_sim *s, uint64_t t, struct chain *x, struct command *c)
{
    const struct leaving *from = &watch_of(s)->leaving;
    struct way way;

    if (from->chain.command == KB_NO_ID)
        return;
    end_pe_wait(s, t, c);
    way = way_of(s, from->chain.pe, c->pe->number);
    wait_for_credit(&c->talk, way, from->end_fs, (int64_t)t, from->chain.command);
    begin_with_waits(s, x, c, from->chain.pe);
    x->before = leaving_stretch(s);
    x->since_fs = from->end_fs;
    add_way(s, &x->since, way, c->pe->number);
}

static struct taken told_taken(struct kb_sim *s)
{
    const struct leaving *from = &watch_of(s)->leaving;

    return (struct taken){leaving_stretch(s), from->chain.command, from->end_fs};
}

static bool told_credit(struct kb_sim *s, uint32_t slot, uint32_t receiver,
                        const struct taken *taken)
{
    struct tile *x;

    if (!tile_room(s, slot))
        return false;
    x = &watch_of(s)->tiles[slot];
    x->chain.command = taken->command;
    x->chain.pe = receiver;
    x->chain.shares.n = x->chain.since.n = 0;
    x->end_fs = taken->at_fs;
    x->stretch = taken->stretch;
    return true;
}

/* The last member's command, from its call until its word is with the lowest. */
static uint32_t last_stretch(struct kb_sim *s, struct command *last, struct way way,
                             int64_t there_fs, uint32_t lowest)
{
    struct chain x = {.shares = {0}};

    if (last->talk.stretch != KB_NO_ID)
        return last->talk.stretch;
    chain_begin(&x, s, last);
    add_way(s, &x.shares, way, lowest);
    last->talk.stretch = tell_stretch(s, &x, there_fs);
    chain_free(&x);
    return last->talk.stretch;
}

/* Another member than the last has waited for that one's word. */
static void wait_for_last(struct kb_sim *s, struct chain *x, const struct command *c,
                          const struct command *last, int64_t there_fs)
{
    int64_t wait_fs = there_fs - c->op.t_issue_fs;

    chain_add(s, x,
              &(kb_share){.cause = KB_CAUSE_BARRIER_WAIT,
                          .place = pe_place(s, c->pe, NODE_PE_SCHEDULER),
                          .count = 1,
                          .sum_fs = wait_fs,
                          .longest_fs = wait_fs,
                          .behind = end_place(s, last->pe->number),
                          .behind_id = last->op.id});
}

static bool told_release_word(struct kb_sim *s, int64_t there_fs, uint32_t slot,
                              struct command *last, uint32_t lowest)
{
    const struct command *c = work_at(s, slot)->command;
    struct way to = way_of(s, last->pe->number, lowest);
    struct way back = way_of(s, lowest, c->pe->number);
    struct chain *x;

    if (!tile_room(s, slot))
        return false;
    x = &watch_of(s)->tiles[slot].chain;
    watch_of(s)->tiles[slot].end_fs = there_fs;
    watch_of(s)->tiles[slot].stretch = KB_NO_ID;
    chain_begin(x, s, c);
    if (c == last) {
        add_way(s, &x->shares, to, lowest);
    } else {
        wait_for_last(s, x, c, last, there_fs);
        x->before = last_stretch(s, last, to, there_fs, lowest);
        x->since_fs = there_fs;
        add_way(s, &x->since, back, c->pe->number);
    }
    add_way(s, &x->shares, back, c->pe->number);
    return true;
}

static void told_word(struct kb_sim *s, uint32_t slot)
{
    struct leaving *to = &watch_of(s)->leaving;
    struct tile *x = &watch_of(s)->tiles[slot];

    chain_swap(&to->chain, &x->chain);
    to->end_fs = x->end_fs;
    to->stretch = x->stretch;
}

/* -- stages --------------------------------------------------------------------------------- */

/*
 * What a stage goes back to: to that of its command which ends now; of one that waited for another
 * PE to what has ended there; or, of a tile that could not enter while another composite's tiles
 * took all room, to the issue of its command.
 */
static void begin_chain(struct kb_sim *s, uint64_t t, struct tile *x, struct command *c)
{
    const struct leaving *from = &watch_of(s)->leaving;
    int64_t waited_fs = (int64_t)t - c->op.t_issue_fs;

    chain_begin(&x->chain, s, c);
    if (c->task == TASK_RECV)
        begin_received(s, t, &x->chain, c);
    else if (c->task == TASK_SEND)
        begin_sent(s, t, &x->chain, c);
    else if (from->chain.command == c->op.id)
        chain_copy(s, &x->chain, &from->chain);
    else
        chain_add(s, &x->chain,
                  &(kb_share){.cause = KB_CAUSE_ENGINE_WAIT,
                              .place = pe_place(s, c->pe, NODE_PE_SCHEDULER),
                              .count = 1,
                              .sum_fs = waited_fs,
                              .longest_fs = waited_fs,
                              .behind = end_place(s, c->pe->number),
                              .behind_id = from->chain.command});
}

static bool told_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct tile *x;

    if (!tile_room(s, slot))
        return false;
    x = &watch_of(s)->tiles[slot];
    x->open = false;
    x->chain.command = KB_NO_ID;
    x->issue_fs = (int64_t)t;
    x->told_fs = x->wire_fs = x->overhead_fs = 0;
    if (of_kernels(s))
        begin_chain(s, t, x, work_at(s, slot)->command);
    return true;
}

static void told_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct kb_topology *topo = s->topo;
    const struct txn *x = &s->txns[slot];
    const struct hop_row *hop = &topo->hops[topo->segments[x->at.segment].first_hop + x->at.step];

    close_piece(s, t, slot);
    if (hop->overhead_fs & s->mask.overhead)
        open_piece(s, t, slot, KB_CAUSE_OVERHEAD, node_place(s, slot));
}

static void told_cross(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    close_piece(s, t, slot);
    if (s->mask.wire)
        open_piece(s, t, slot, KB_CAUSE_WIRE, node_place(s, slot));
}

static void told_wire(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct kb_topology *topo = s->topo;
    const struct txn *x = &s->txns[slot];
    const struct hop_row *hop = &topo->hops[topo->segments[x->at.segment].first_hop + x->at.step];

    close_piece(s, t, slot);
    if (hop->wire_fs & s->mask.wire)
        open_piece(s, t, slot, KB_CAUSE_WIRE, link_place(s, slot));
}

/* -- stations ------------------------------------------------------------------------------- */

/* A link lets in who has come as soon as it knows when: of those who wait, nobody holds it yet. */
static uint32_t find_on_link(const struct kb_sim *s, uint64_t t, uint64_t link)
{
    uint32_t slot = s->links[link].holder;
    int64_t enter_fs = watch_of(s)->link_enter_fs[link];

    if ((uint64_t)s->links[link].free_fs <= t)
        return TXN_NONE;
    while ((uint64_t)enter_fs > t) {
        const struct tile *x = &watch_of(s)->tiles[slot];

        slot = x->ahead;
        enter_fs = x->ahead_enter_fs;
    }
    return slot;
}

/* Who was let into a station last, if that one holds it still: his source and id. */
static bool find_holder(const struct kb_sim *s, uint64_t t, uint32_t slot,
                        enum watch_station station, kb_place place, kb_place *source, uint32_t *id)
{
    const struct txn *x = &s->txns[slot];
    uint64_t i = place_index(place);
    uint32_t holder = TXN_NONE;

    switch (station) {
    case WATCH_CHANNEL:
    case WATCH_ENGINE:
        *source = source_of(x); /* a PE's channels, and an M_CPU's engines, serve one */
        *id = (station == WATCH_CHANNEL ? watch_of(s)->channel_id : watch_of(s)->engine_id)[i];
        return (station == WATCH_CHANNEL ? s->channels : s->engines)[i].idle == 0;
    case WATCH_LINK:
        holder = find_on_link(s, t, i);
        break;
    case WATCH_MEMORY:
        holder = of_kernels(s) ? work_at(s, slot)->station->holder : s->memories[x->dst].holder;
        break;
    }
    if (holder == TXN_NONE)
        return false;
    *source = source_of(&s->txns[holder]);
    *id = s->txns[holder].id;
    return true;
}

static void told_come(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station)
{
    kb_place place = place_of_station(s, slot, station), behind;
    struct tile *x = &watch_of(s)->tiles[slot];
    uint32_t id;
    kb_span span;

    close_piece(s, t, slot);
    if (station == WATCH_LINK) {
        x->ahead = s->links[place_index(place)].holder;
        x->ahead_enter_fs = watch_of(s)->link_enter_fs[place_index(place)];
    }
    if (!find_holder(s, t, slot, station, place, &behind, &id))
        return;
    open_piece(s, t, slot, wait_for(place, station), place);
    x->behind = behind;
    x->behind_id = id;
    span = span_of(s, slot, -1);
    TELL(watch_of(s), open, &span);
}

/*
 * A wait has ended. If it was for another tile of the same composite, what led to the end of that
 * one's service has led here.
 */
static void end_wait(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct tile *x = &watch_of(s)->tiles[slot];
    const struct leaving *from = &watch_of(s)->leaving;

    if (!x->open || !is_wait((kb_cause)x->cause))
        return;
    close_piece(s, t, slot);
    if (x->chain.command != KB_NO_ID && from->chain.command == x->chain.command &&
        x->cause != KB_CAUSE_LINK_WAIT)
        chain_copy(s, &x->chain, &from->chain);
}

/* The memory's own time, then the bytes; inside a PE, the port's or the engine's. */
static void begin_service(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place)
{
    const struct kb_topology *topo = s->topo;
    const struct txn *x = &s->txns[slot];
    kb_cause cause = KB_CAUSE_DRAIN;
    int64_t overhead_fs;

    if (is_inside(s, slot)) {
        enum op_stage stage = (enum op_stage)work_at(s, slot)->stage;

        cause = stage == STAGE_GEMM || stage == STAGE_MATH ? KB_CAUSE_COMPUTE : KB_CAUSE_PORT;
        overhead_fs = stage == STAGE_GEMM   ? topo->pe.gemm_overhead_fs
                      : stage == STAGE_MATH ? topo->pe.math_overhead_fs
                                            : 0;
    } else {
        overhead_fs = cost_memory(topo, x->dst, txn_writes(x))->overhead_fs;
    }
    overhead_fs &= s->mask.overhead;
    if (overhead_fs) {
        open_piece(s, t, slot, KB_CAUSE_OVERHEAD, place);
        t += (uint64_t)overhead_fs;
        close_piece(s, t, slot);
    }
    if (x->hold_fs > overhead_fs)
        open_piece(s, t, slot, cause, place);
}

/* A link's service ends at a known time, whatever follows. */
static int64_t known_end_fs(const struct kb_sim *s, enum watch_station station, kb_place place)
{
    return station == WATCH_LINK ? s->links[place_index(place)].free_fs : -1;
}

/* Who has it since when, for those who come later and for its release. */
static void note_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station,
                      kb_place place)
{
    struct watch *w = watch_of(s);

    switch (station) {
    case WATCH_CHANNEL:
        w->channel_id[place_index(place)] = s->txns[slot].id;
        break;
    case WATCH_ENGINE:
        w->tiles[slot].engine_since_fs = (int64_t)t;
        w->engine_id[place_index(place)] = s->txns[slot].id;
        break;
    case WATCH_MEMORY:
        w->tiles[slot].memory_since_fs = (int64_t)t;
        break;
    case WATCH_LINK:
        w->link_enter_fs[place_index(place)] = (int64_t)t;
        break;
    }
}

static void told_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station)
{
    struct watch *w = watch_of(s);
    kb_place place = place_of_station(s, slot, station);
    kb_service service;

    end_wait(s, t, slot);
    service = service_of(s, slot, place, (int64_t)t, known_end_fs(s, station, place));
    note_take(s, t, slot, station, place);
    TELL(w, take, &service);
    if (station == WATCH_MEMORY)
        begin_service(s, t, slot, place);
}

/* -- the end -------------------------------------------------------------------------------- */

static void told_leave(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct watch *w = watch_of(s);
    struct tile *x = &w->tiles[slot];
    kb_service service =
        service_of(s, slot, station_place(s, slot), x->memory_since_fs, (int64_t)t);

    close_piece(s, t, slot);
    TELL(w, release, &service);
    chain_swap(&w->leaving.chain, &x->chain);
    w->leaving.end_fs = (int64_t)t;
    w->leaving.stretch = KB_NO_ID;
}

static void told_left(struct kb_sim *s)
{
    watch_of(s)->leaving.chain.command = KB_NO_ID;
}

static void told_release(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station)
{
    const struct txn *x = &s->txns[slot];
    kb_place place = place_of_station(s, slot, station);
    int64_t since_fs = station == WATCH_CHANNEL ? x->issue_fs + x->wait_fs
                                                : watch_of(s)->tiles[slot].engine_since_fs;
    kb_service service = service_of(s, slot, place, since_fs, (int64_t)t);

    TELL(watch_of(s), release, &service);
}

/* All pieces together are the transaction's time; wires and nodes are those of the tables. */
static void check_txn(struct kb_sim *s, uint64_t end, uint32_t slot)
{
    const struct tile *x = &watch_of(s)->tiles[slot];
    const struct txn *txn = &s->txns[slot];
    struct kb_cost c;

    if (x->told_fs != (int64_t)end - x->issue_fs)
        inconsistent(s, "transaction", txn->id, x->told_fs, (int64_t)end - x->issue_fs);
    if (is_inside(s, slot))
        return;
    c = cost_of(s->topo, &s->mask, (kb_transaction_op)txn->op, txn->src, txn->dst, txn->nbytes);
    if (x->wire_fs != c.wire_fs)
        inconsistent(s, "all wires of transaction", txn->id, x->wire_fs, c.wire_fs);
    if (x->overhead_fs != c.overhead_fs)
        inconsistent(s, "all overheads of transaction", txn->id, x->overhead_fs, c.overhead_fs);
}

static void told_end(struct kb_sim *s, uint64_t t, uint64_t end, uint32_t slot)
{
    kb_span last;

    if (end > t) {
        open_piece(s, t, slot, KB_CAUSE_RESPONSE, source_of(&s->txns[slot]));
        close_piece(s, end, slot);
    }
    check_txn(s, end, slot);
    last = span_of(s, slot, (int64_t)end);
    TELL(watch_of(s), end, &last);
}

/* -- kernels -------------------------------------------------------------------------------- */

static struct cause_of_call *cause_of(struct kb_sim *s, const struct tl_ctx *pe)
{
    struct watch *w = watch_of(s);

    if (!w->pes)
        w->pes = calloc(s->kernels->n_pes, sizeof *w->pes);
    if (!w->pes)
        stop(s, KB_NO_MEMORY);
    return w->pes ? &w->pes[pe->number] : NULL;
}

static const char *kernel_name(const struct kb_sim *s)
{
    return s->kernels->launches[s->kernels->launch].request.name;
}

/* Of a command that is issued; what led to its call is what the PE has gone through last. */
static kb_command command_of(struct kb_sim *s, const struct command *c)
{
    const struct cause_of_call *cause = cause_of(s, c->pe);

    return (kb_command){.id = c->op.id,
                        .pe = c->pe->number,
                        .call = c->call,
                        .name = command_name(c),
                        .kernel = kernel_name(s),
                        .region = c->op.region,
                        .file = c->here.file,
                        .line = c->here.line,
                        .async = c->async,
                        .composite = c->op.composite,
                        .call_fs = c->op.t_issue_fs - s->kernels->issue_fs,
                        .issue_fs = c->op.t_issue_fs,
                        .end_fs = -1,
                        .after = cause ? cause->after : KB_NO_ID,
                        .after_end = cause && cause->after_end,
                        .return_fs = c->async && c->task != TASK_SEND ? c->op.t_issue_fs : -1,
                        .return_stretch = KB_NO_ID,
                        .end_stretch = KB_NO_ID};
}

static void told_start(struct kb_sim *s, struct tl_ctx *pe, uint64_t t)
{
    struct cause_of_call *cause = cause_of(s, pe);
    kb_kernel_run run = {.launch = (uint32_t)s->kernels->launch,
                         .pe = pe->number,
                         .kernel = kernel_name(s),
                         .start_fs = (int64_t)t,
                         .end_fs = -1,
                         .after = KB_NO_ID};

    if (cause)
        *cause = (struct cause_of_call){.after = KB_NO_ID, .start_fs = (int64_t)t};
    TELL(watch_of(s), start, &run);
}

static void told_command(struct kb_sim *s, struct command *c)
{
    kb_command command = command_of(s, c);

    c->after = command.after;
    c->after_end = command.after_end;
    c->talk = (struct talk){
        .since_fs = c->op.t_issue_fs, .behind_id = KB_NO_ID, .return_fs = -1, .stretch = KB_NO_ID};
    TELL(watch_of(s), issue, &command);
}

/* Of a command that goes on, or has ended. */
static kb_command command_now(struct kb_sim *s, const struct command *c)
{
    kb_command command = command_of(s, c);

    command.after = c->after;
    command.after_end = c->after_end;
    if (c->task == TASK_SEND) {
        command.return_fs = c->talk.return_fs;
        command.return_stretch = c->talk.stretch;
    }
    return command;
}

static void told_resume(struct kb_sim *s, struct tl_ctx *pe, uint32_t id, bool ended)
{
    struct cause_of_call *cause = cause_of(s, pe);

    if (!cause)
        return;
    cause->after = id;
    cause->after_end = ended;
}

/* A send that has waited returns when the credit of its last piece has come. */
static void told_go_on(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct leaving *from = &watch_of(s)->leaving;
    kb_command command;

    c->talk.return_fs = (int64_t)t;
    if (from->chain.command != KB_NO_ID) {
        struct chain x = {.before = leaving_stretch(s), .since_fs = from->end_fs};

        x.command = c->op.id;
        x.pe = c->pe->number;
        add_way(s, &x.since, way_of(s, from->chain.pe, x.pe), x.pe);
        c->talk.stretch = tell_stretch(s, &x, (int64_t)t);
        chain_free(&x);
    }
    told_resume(s, c->pe, c->op.id, false);
    command = command_now(s, c);
    TELL(watch_of(s), go_on, &command);
}

/* The shares of a command are those that led to the end of its last stage, and its dispatch. */
static void told_finish(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct leaving *from = &watch_of(s)->leaving;
    struct shares *shares = &from->chain.shares;
    kb_command command = command_now(s, c);
    kb_share dispatch = dispatch_of(s, &from->chain);
    uint32_t n = shares->n;
    int64_t sum_fs;

    end_pe_wait(s, t, c);
    if (from->chain.before != KB_NO_ID) {
        from->end_fs = (int64_t)t;
        command.end_stretch = leaving_stretch(s);
    }
    if (dispatch.sum_fs)
        shares_add(s, shares, &dispatch);
    sum_fs = shares_sum_fs(shares);
    if (from->chain.command != c->op.id || sum_fs != (int64_t)t - command.call_fs)
        inconsistent(s, "command", c->op.id, sum_fs, (int64_t)t - command.call_fs);
    command.end_fs = (int64_t)t;
    if (command.return_fs < 0)
        command.return_fs = (int64_t)t;
    command.share = shares->row;
    command.n_shares = shares->n;
    TELL(watch_of(s), finish, &command);
    shares->n = n;
}

static void told_stop(struct kb_sim *s, struct tl_ctx *pe, uint64_t t)
{
    const struct cause_of_call *cause = cause_of(s, pe);
    kb_kernel_run run = {.launch = (uint32_t)s->kernels->launch,
                         .pe = pe->number,
                         .kernel = kernel_name(s),
                         .start_fs = cause ? cause->start_fs : 0,
                         .end_fs = (int64_t)t,
                         .after = cause ? cause->after : KB_NO_ID,
                         .after_end = cause && cause->after_end};

    TELL(watch_of(s), leave, &run);
}

/* -- made ----------------------------------------------------------------------------------- */

static void watch_free(struct watch *w)
{
    for (uint32_t i = 0; i < w->n_tiles; i++)
        chain_free(&w->tiles[i].chain);
    free(w->tiles);
    chain_free(&w->leaving.chain);
    free(w->channel_id);
    free(w->engine_id);
    free(w->link_enter_fs);
    free(w->pes);
    free(w);
}

static void told_free(struct observer *o)
{
    watch_free((struct watch *)o);
}

static const struct observer calls = {
    .free = told_free,
    .error = told_error,
    .issue = told_issue,
    .node = told_node,
    .cross = told_cross,
    .wire = told_wire,
    .come = told_come,
    .take = told_take,
    .leave = told_leave,
    .release = told_release,
    .end = told_end,
    .left = told_left,
    .start = told_start,
    .command = told_command,
    .finish = told_finish,
    .stop = told_stop,
    .resume = told_resume,
    .taken = told_taken,
    .credit = told_credit,
    .release_word = told_release_word,
    .word = told_word,
    .wait = told_wait,
    .go_on = told_go_on,
};

static struct watch *watch_new(const struct kb_topology *t)
{
    struct watch *w = calloc(1, sizeof *w);
    size_t cubes = (size_t)t->sips * t->cubes;

    if (!w)
        return NULL;
    w->calls = calls;
    w->leaving.chain.command = KB_NO_ID;
    w->channel_id = calloc(2 * cubes << t->pe_bits, sizeof *w->channel_id);
    w->engine_id = calloc(2 * cubes, sizeof *w->engine_id);
    w->link_enter_fs = calloc(t->links == MODE_FIFO ? walk_n_links(t) : 1, sizeof(int64_t));
    if (w->channel_id && w->engine_id && w->link_enter_fs)
        return w;
    watch_free(w);
    return NULL;
}

static bool has_begun(const struct kb_sim *s)
{
    return s->started || (s->kernels && (s->kernels->launched || s->kernels->launch > 0));
}

kb_status kb_sim_observe(kb_sim *s, const kb_observer *watch, kb_error *why)
{
    struct watch *w;

    if (has_begun(s))
        return endpoint_error(why, "the simulation has begun, it cannot be watched any more");
    if (!s->observer)
        s->observer = (struct observer *)watch_new(s->topo);
    if (!s->observer)
        return KB_NO_MEMORY;
    w = watch_of(s);
    if (w->n == KB_OBSERVERS_MAX)
        return endpoint_error(why, "a simulation is watched by at most %d", KB_OBSERVERS_MAX);
    w->to[w->n++] = *watch;
    s->options.engine = KB_HOP;
    return KB_OK;
}
