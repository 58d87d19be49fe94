/* alone.c -- what a transaction takes alone of a memory that components or banks are: its models,
 * run on an idle copy. */
#include "base/larger.h"
#include "machine/alone.h"
#include "machine/alone_banks.h"
#include "machine/address.h"
#include "machine/alone_l2.h"
#include "machine/pieces.h"
#include "machine/box_impl.h"
#include "machine/component_packets.h"
#include "machine/pes.h"
#include "machine/walk.h"
#include <stdlib.h>
#include <string.h>

/* The bandwidth of the memory alone, at which it moves more bytes than come, or go. */
static double own_gbs(const struct alone_of *of)
{
    double gbs = cost_own_gbs(of->m, alone_memory(of));

    return of->own_bytes ? gbs * (double)of->nbytes / (double)of->own_bytes : gbs;
}

/* -- components that serve -------------------------------------------------------------------- */

/* What a component is asked of it. */
static struct kb_request request_of(const struct alone_of *of)
{
    const struct memory_row *memory = alone_memory(of);

    return (struct kb_request){
        .op = (uint8_t)of->op,
        .source = of->op >= KB_H2D ? UINT32_MAX : pe_number(of->t, of->trip.src),
        .bytes = of->nbytes,
        .offset = of->offset,
        .drain_fs = of->drain_fs,
        .own_fs = drain_fs(of->own_bytes ? of->own_bytes : of->nbytes, cost_own_gbs(of->m, memory)),
        .overhead_fs = memory->overhead_fs & of->m->overhead,
        .latency_fs = memory->latency_fs & of->m->overhead,
        .k = 1,
        .n = 1,
    };
}

/* A fresh state. */
static void begin_state(const struct impl *impl, unsigned char *state)
{
    memset(state, 0, impl->bytes);
    impl->init(state);
}

/* The narrowest edge of its way. */
static double route_gbs(const struct alone_of *of)
{
    struct cost_row way =
        of->op >= KB_H2D ? cost_of_host(of->t, &of->trip) : cost_of_pe(of->t, &of->trip);

    return cost_bottleneck_gbs(of->m, way.link_gbs, alone_memory(of));
}

static int64_t in_component(struct idle *idle, const struct alone_of *of, const struct impl *impl)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    struct kb_request whole = request_of(of);
    struct coming coming = alone_coming(idle, of);
    int64_t free_fs = 0, done_fs = 0, added = 0;
    double gbs = coming.way ? route_gbs(of) : 0;
    struct part part;

    begin_state(impl, state);
    while (alone_next_part(&coming, &part)) {
        int64_t start_fs = larger(free_fs, part.t_fs);
        struct kb_request asked =
            coming.way ? packet_request(&whole, part.from, part.nbytes, gbs, own_gbs(of)) : whole;
        struct kb_served answer = impl->serve(state, &asked, start_fs);

        if (answer.done_fs == INT64_MAX || of->t->links != MODE_ROUTER)
            return answer.done_fs;
        free_fs = start_fs + answer.hold_fs;
        added = part.from ? added : added_fs(&asked, start_fs, answer);
        done_fs = larger(done_fs, part.from ? packet_end_fs(&asked, answer)
                                            : start_fs + added + whole.drain_fs);
    }
    return larger(done_fs, coming.tail_fs + (added < whole.latency_fs ? added : whole.latency_fs));
}

/* -- components that queue, and what is behind them ------------------------------------------- */

/* One that is in such a component. */
struct inside {
    struct idle *idle;
    const struct alone_of *of;
    int64_t behind_fs; /* the memory behind, without banks, is free */
};

/* The memory behind is done at `t` with what was passed on to it, or with a request of its own,
 * which the component hears. */
static void end_behind(struct queueing *q, bool passed, uint64_t id, int64_t t)
{
    if (!passed)
        queueing_ends(q, id, t);
    else if (!queueing_append(&q->ends, (struct due){.t_fs = t, .id = id}))
        q->fault = QUEUEING_NO_MEMORY;
}

/* All channels that decide at `t` do. */
static void decide(struct inside *in, int64_t t)
{
    struct bank_pool *pool = &in->idle->pool;

    alone_settle(in->idle, t);
    for (; pool->ended != BANK_NONE; pool->ended = pool->accesses[pool->ended].next)
        end_behind(&in->idle->queue, pool->packets[pool->ended].slot == DUE_PASSED,
                   pool->accesses[pool->ended].id,
                   pool->accesses[pool->ended].done_fs +
                       cost_in_memory_fs(in->of->m, alone_memory(in->of)));
    if (pool->lost)
        in->idle->queue.fault = QUEUEING_NO_MEMORY;
}

/* A request comes to the memory behind. */
static void come_to_back(struct inside *in, const struct due *due)
{
    const struct memory_row *memory = alone_memory(in->of);
    struct idle *idle = in->idle;
    bool passed = due->kind == DUE_PASSED;
    uint64_t bytes = passed ? in->of->nbytes : due->bytes;
    int64_t drain = passed ? in->of->drain_fs : drain_fs(bytes, cost_own_gbs(in->of->m, memory));
    uint32_t row;

    if (memory->behind != MEMORY_BANKS) {
        end_behind(&idle->queue, passed, due->id,
                   behind_done_fs(in->of->m, memory, &in->behind_fs, bytes, drain, due->t_fs));
        return;
    }
    row = alone_new_access(idle, passed ? in->of->offset : due->offset, bytes,
                           passed ? alone_writes(in->of) : due->op == KB_OP_WRITE);
    if (row == BANK_NONE) {
        idle->queue.fault = QUEUEING_NO_MEMORY;
        return;
    }
    idle->pool.packets[row].slot = due->kind;
    bank_access_name(&idle->pool.accesses[row], due->id);
    idle->pool.accesses[row].drain_fs = drain;
    idle->pool.accesses[row].arrive_fs = due->t_fs;
    alone_come_to_channels(idle, row);
}

/* What is due, at its time; banks decide behind all else of theirs. */
static void go_on(struct inside *in, const struct impl *impl, void *state)
{
    struct queueing *q = &in->idle->queue;
    int64_t t = alone_next_decision_fs(in->idle);
    struct due due;

    if (t < queueing_next_fs(q)) {
        decide(in, t);
        return;
    }
    due = queueing_take(q);
    q->now_fs = due.t_fs;
    if (due.kind == DUE_ENDED)
        impl->ended(state, due.id, due.t_fs, &q->h);
    else if (due.kind == DUE_WAKE)
        impl->wake(state, due.id, due.t_fs, &q->h);
    else
        come_to_back(in, &due);
}

static int64_t in_queue(struct idle *idle, const struct alone_of *of, const struct impl *impl)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    struct kb_request asked = request_of(of);
    struct inside in = {.idle = idle, .of = of};
    struct queueing *q = &idle->queue;

    if (alone_memory(of)->behind == MEMORY_BANKS && !alone_begin_banks(idle, of))
        return NO_MEMORY;
    idle->view.routed = false;
    idle->pool.whole = true;
    begin_state(impl, state);
    queueing_begin(q);
    q->fronts = impl->ended;
    impl->arrive(state, &asked, 0, &q->h);
    for (uint32_t i = 0; i < QUEUEING_WAKES_MAX && !q->ends.n && !q->fault; i++) {
        if (!q->wakes.n && alone_next_decision_fs(idle) == BANK_NEVER_FS)
            break;
        go_on(&in, impl, state);
    }
    alone_end_banks(idle);
    if (q->fault == QUEUEING_NO_MEMORY)
        return NO_MEMORY;
    return q->ends.n && !q->fault ? q->ends.rows[0].t_fs : INT64_MAX;
}

/* -- all of them ------------------------------------------------------------------------------ */

static const struct impl *impl_of(const struct alone_of *of)
{
    return of->behind ? component_behind_cache(of->t, of->trip.dst)
                      : memory_component(of->t, of->trip.dst);
}

static struct alone run(struct idle *idle, const struct alone_of *of)
{
    const struct impl *impl = impl_of(of);

    if (impl && impl->arrive)
        return (struct alone){.fs = in_queue(idle, of, impl)};
    if ((!impl || alone_writes(of)) && !alone_find_way(idle, of))
        return (struct alone){.fs = NO_MEMORY};
    return impl ? (struct alone){.fs = in_component(idle, of, impl)} : alone_in_banks(idle, of);
}

/*
 * What the answer depends on. Of where a range of bursts begins banks see no more than the bits
 * that not all of its bursts share, unless a hash mixes these with others; one burst alone is like
 * any other. Behind routers its way matters, and where it begins in its first burst.
 */
static struct alone_known question(const struct alone_of *of)
{
    struct alone_known k = {.nbytes = of->nbytes,
                            .offset = of->offset,
                            .own_bytes = of->own_bytes,
                            .drain_fs = of->drain_fs,
                            .way = (uint32_t)of->op};
    bool routed = of->t->links == MODE_ROUTER;

    if (impl_of(of)) {
        k.memory = impl_of(of);
    } else {
        const struct bank_row *row = alone_banks(of);
        struct bank_range range = bank_range(row, of->offset, of->nbytes);
        uint32_t bits = row->channel_bits + row->number_bits;

        bits = row->hash == HASH_XOR
                   ? 2 * bits + row->rank_bits + row->column_bits
                   : 64 - (uint32_t)__builtin_clzll((range.at ^ (range.end - 1)) | 1);
        k.memory = row;
        k.nbytes = range.end - range.at;
        k.offset = k.nbytes == 1 ? 0 : range.at & ((UINT64_C(1) << bits) - 1);
        k.way = alone_writes(of);
        if (!routed)
            return k;
        k.nbytes = of->nbytes;
        k.offset = of->offset & ((UINT64_C(1) << (bits + row->burst_bits)) - 1);
    }
    k.src = of->trip.src;
    k.dst = of->trip.dst;
    k.way |= (uint32_t)of->op << 1 | (uint32_t)(of->trip.plane | of->trip.way) << 4 |
             (uint32_t)of->trip.chiplet << 10;
    return k;
}

/* What an empty cache reads for it: whole lines. */
struct lines_read {
    struct moved moved;
    struct pieces *pieces; /* owned */
};

/* Does what is behind a cache ask where lines lie? */
static bool asks_where(const struct memory_row *memory)
{
    return memory->model != MEMORY_SERVER || memory->hold == HOLD_BY_COMPONENT;
}

/* False: no memory. */
static bool read_lines(const struct alone_of *of, unsigned bits, const struct memory_row *memory,
                       struct lines_read *lines)
{
    bool listed = asks_where(memory);
    const struct run one = {.at = of->offset, .nbytes = of->nbytes};
    struct lines_walk walk =
        of->pieces ? lines_walk(of->pieces->of, of->pieces->n, bits) : lines_walk(&one, 1, bits);
    uint64_t number, asked;

    *lines = (struct lines_read){0};
    while (lines_next(&walk, &number, &asked)) {
        moved_add(&lines->moved, memory->access_bytes, number << bits, UINT64_C(1) << bits);
        if (listed && !pieces_add(&lines->pieces, number << bits, UINT64_C(1) << bits))
            return false;
    }
    return true;
}

/* The drain of its way alone: a tile's may be longer, by what its PE takes from run to run. */
static int64_t drain_of_way(const struct alone_of *of)
{
    if (of->leg_gbs > 0)
        return drain_fs(of->nbytes, of->leg_gbs);
    return of->pieces ? cost_by_tables(of->t, of->m, of->op, &of->trip, of->nbytes).drain_fs
                      : of->drain_fs;
}

/* Bursts of several runs. NULL: no memory. */
static struct bank_tile *tile_of(const struct bank_row *row, const struct pieces *pieces)
{
    struct bank_tile *tile = bank_tile_new();

    for (uint32_t i = 0; tile && i < pieces->n; i++)
        if (!bank_tile_add(tile, row, bank_range(row, pieces->of[i].at, pieces->of[i].nbytes))) {
            bank_tile_free(tile);
            return NULL;
        }
    if (tile)
        bank_tile_end(tile, row);
    return tile;
}

/* What the child of an empty cache takes of what it asks. */
static int64_t child_alone(struct idle *idle, const struct alone_of *of,
                           const struct lines_read *lines)
{
    struct alone_of child = *of;
    struct alone alone;

    child.behind = true;
    child.drain_fs = drain_of_way(of);
    child.offset = lines->pieces->of[0].at;
    child.nbytes = lines->moved.all;
    child.op = KB_READ;
    child.own_bytes = lines->moved.bytes;
    child.pieces = NULL;
    if (alone_memory(&child)->hold == HOLD_BY_COMPONENT)
        child.drain_fs = larger(
            child.drain_fs, drain_fs(child.own_bytes, cost_own_gbs(of->m, alone_memory(&child))));
    child.tile =
        !impl_of(&child) && lines->pieces->n > 1 ? tile_of(alone_banks(of), lines->pieces) : NULL;
    if (!impl_of(&child) && lines->pieces->n > 1 && !child.tile)
        return NO_MEMORY;
    alone = alone_in_memory(idle, &child);
    bank_tile_free(child.tile);
    return alone.fs;
}

/* Behind routers a write comes to a cache packet by packet. */
static int64_t routed_write_in_cache(struct idle *idle, const struct alone_of *of)
{
    struct coming coming = alone_coming(idle, of);
    int64_t free_fs = 0, done_fs = 0;
    double gbs = alone_memory(of)->own_gbs + of->m->memory_gbs;
    struct part part;

    if (!alone_find_way(idle, of))
        return NO_MEMORY;
    while (alone_next_part(&coming, &part)) {
        int64_t start_fs = larger(free_fs, part.t_fs);

        free_fs = start_fs + part_fs(part.from, part.nbytes, gbs);
        done_fs = larger(done_fs, part.from ? free_fs : larger(free_fs, start_fs + of->drain_fs));
    }
    return larger(done_fs, coming.tail_fs);
}

/* An empty cache: all that is read comes from the memory behind. */
static struct alone in_cache(struct idle *idle, const struct alone_of *of)
{
    const struct kind_row *kind = kind_at(of->t, dst_cube(of->t, of->trip.dst));
    const struct memory_row *memory = &kind->cached;
    int64_t fs = of->drain_fs, own, child = 0;
    struct lines_read lines = {0};

    if (alone_writes(of) && of->t->links == MODE_ROUTER)
        child = routed_write_in_cache(idle, of);
    else if (!alone_writes(of) && !read_lines(of, kind->cache.line_bits, memory, &lines))
        child = NO_MEMORY;
    else if (!alone_writes(of) && asks_where(memory))
        child = child_alone(idle, of, &lines);
    else if (!alone_writes(of)) {
        own = drain_fs(lines.moved.bytes, memory->own_gbs + of->m->memory_gbs);
        child = cost_in_memory_fs(of->m, memory) + larger(own, drain_of_way(of));
    }
    free(lines.pieces);
    if (child == NO_MEMORY)
        idle->lost = true;
    return (struct alone){.fs = cost_in_memory_fs(of->m, &kind->hbm) + larger(fs, child)};
}

struct alone alone_in_memory(struct idle *idle, const struct alone_of *of)
{
    struct alone_known asked, *known;
    uint64_t mixed;

    if (unit_is_l2(of->t, dst_unit(of->t, of->trip.dst))) {
        asked.alone = alone_in_l2(idle, of);
        idle->lost |= asked.alone.fs == NO_MEMORY;
        return asked.alone.fs == NO_MEMORY ? (struct alone){.fs = of->drain_fs} : asked.alone;
    }
    if (alone_memory(of)->model == MEMORY_CACHE)
        return in_cache(idle, of);
    if (of->tile) { /* tiles are of any shape */
        asked.alone = run(idle, of);
        idle->lost |= asked.alone.fs == NO_MEMORY;
        return asked.alone.fs == NO_MEMORY ? (struct alone){.fs = of->drain_fs} : asked.alone;
    }
    asked = question(of);
    mixed = asked.offset ^ asked.nbytes << 20 ^ (uint64_t)asked.src << 20 ^
            (uint64_t)asked.dst << 40 ^ asked.way << 8;
    known = idle->keeps ? &idle->known[mixed * UINT64_C(0x9e3779b97f4a7c15) >> 58] : &asked;
    if (known != &asked && !memcmp(known, &asked, offsetof(struct alone_known, alone)))
        return known->alone;
    asked.alone = run(idle, of);
    if (asked.alone.fs == NO_MEMORY) {
        idle->lost = true;
        return (struct alone){.fs = of->drain_fs};
    }
    *known = asked;
    return asked.alone;
}

int64_t node_more_fs(const struct alone_of *of, const struct hop_row *hop, uint32_t cube)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    const struct impl *impl = node_component(of->t, hop, cube);
    struct kb_request asked;

    if (!impl)
        return 0;
    asked = request_of(of);
    asked.drain_fs = asked.own_fs = asked.latency_fs = 0;
    asked.overhead_fs = hop->overhead_fs & of->m->overhead;
    begin_state(impl, state);
    return impl->delay(state, &asked, 0) - asked.overhead_fs;
}

/* What the components of nodes say more than the tables, alone. */
static int64_t nodes_more_fs(const struct alone_of *of)
{
    struct route_at at = walk_begin(of->t, &of->trip);
    int64_t more_fs = 0;

    for (;; at = walk_next(of->t, &of->trip, at)) {
        const struct segment_row *seg = walk_segment(of->t, at);

        for (uint32_t i = 0; i < seg->n_hops; i++)
            more_fs += node_more_fs(of, &of->t->hops[seg->first_hop + i], at.cube);
        if (seg->exit == EXIT_END)
            return more_fs;
    }
}

void cost_add_alone(struct idle *idle, const struct alone_of *of, struct kb_cost *c)
{
    if (alone_is_asked(of->t, of->trip.dst))
        cost_set_memory(c, alone_in_memory(idle, of).fs);
    if (of->t->impls && of->t->impls->nodes)
        c->overhead_fs += nodes_more_fs(of);
}

/* A memory that moves whole blocks moves all that the bytes touch, and takes its time for them. */
static void set_blocks(struct alone_of *of)
{
    const struct memory_row *memory = alone_memory(of);
    uint64_t block = memory->access_bytes;

    if (!block)
        return;
    of->own_bytes = ((of->offset + of->nbytes - 1) / block - of->offset / block + 1) * block;
    of->drain_fs = larger(of->drain_fs, drain_fs(of->own_bytes, cost_own_gbs(of->m, memory)));
}

/* The narrowest edge from the L2 of its cube on to a slice, and the memory there. */
static double gbs_behind_l2(const struct alone_of *of, uint32_t slice)
{
    const struct kb_topology *t = of->t;
    struct trip far = of->trip;

    far.src = src_pack(t, src_cube(t, of->trip.src), t->pes);
    far.dst = slice;
    return cost_bottleneck_gbs(of->m, cost_of_trip(t, &far).link_gbs, cost_memory(t, slice, false));
}

/* The same at the L2 of its cube, where its bytes lie at their global addresses. */
static struct kb_cost cost_alone_at_l2(struct idle *idle, struct alone_of *of, uint64_t offset)
{
    const struct kb_topology *t = of->t;
    uint32_t slice = of->trip.dst;
    struct pieces *pieces = NULL;
    struct kb_cost c;

    of->trip.dst = dst_or_l2(t, of->trip.src, slice);
    of->offset = address_of(t, slice, offset);
    for (uint64_t done = 0, n; t->granule && done < of->nbytes; done += n) {
        n = t->granule - (offset + done) % t->granule;
        n = at_most(of->nbytes - done, n);
        idle->lost |= !pieces_add(&pieces, address_of(t, slice, offset + done), n);
    }
    of->pieces = idle->lost ? NULL : pieces;
    c = cost_by_tables(t, of->m, of->op, &of->trip, of->nbytes);
    of->drain_fs = c.drain_fs;
    if (of->op == KB_READ) /* a write ends at the L2 */
        c.bottleneck_gbs = smaller(c.bottleneck_gbs, gbs_behind_l2(of, slice));
    cost_add_l2(&c, alone_in_memory(idle, of));
    free(pieces);
    return c;
}

struct kb_cost cost_alone(struct idle *idle, const struct kb_topology *t, const struct cost_mask *m,
                          kb_transaction_op op, const struct trip *trip, uint64_t nbytes,
                          uint64_t offset)
{
    struct kb_cost c = cost_by_tables(t, m, op, trip, nbytes);
    struct alone_of of = {.t = t,
                          .m = m,
                          .op = op,
                          .trip = *trip,
                          .nbytes = nbytes,
                          .offset = offset,
                          .drain_fs = c.drain_fs};

    if (!trip->of_host && dst_or_l2(t, trip->src, trip->dst) != trip->dst)
        return cost_alone_at_l2(idle, &of, offset);
    set_blocks(&of);
    c.drain_fs = of.drain_fs;
    cost_add_alone(idle, &of, &c);
    return c;
}

struct idle *idle_new(void)
{
    struct idle *idle = calloc(1, sizeof *idle + ALONE_KNOWN * sizeof *idle->known);

    if (idle)
        idle->keeps = true;
    return idle;
}

void idle_clear(struct idle *idle)
{
    bank_pool_free(&idle->pool);
    free(idle->channels);
    free(idle->banks);
    queueing_free(&idle->queue);
    channels_free(&idle->route);
    free(idle->way.hops);
}

void idle_free(struct idle *idle)
{
    if (idle)
        idle_clear(idle);
    free(idle);
}
