/* results.c -- the times of transactions that have run, one by one or in columns.
 *
 * A transaction keeps four times only: when it was issued, how long it waited for its channel or
 * engine, when it arrived at its memory, and when its service began. The rest is computed here from
 * the tables of the topology, and the terms must sum to the latency:
 *
 *   actual = wire + overhead + drain + response + waits for channel, engine, link and memory
 *
 * Example: the second of two reads of one slice (docs/model.md "Worked: two reads of one slice")
 * keeps issue 0, wait 0, arrive 4.095, service 18.085. The tables give wire 0.095, overhead 4 and
 * drain 32; so done = 18.085 + 32 = 50.085, the wait for the memory is 18.085 - 4.095 = 13.990, and
 * 0.095 + 4 + 32 + 13.990 = 50.085. A row that does not add up is KB_INTERNAL, not a result.
 *
 * The wait for links is the one term that is not measured: it is the rest between start and
 * arrival, see network/turn.h. It must not be negative, and must be 0 with ideal links.
 *
 * Most machines have tables for all of it. For these `plain` is a constant of result_of(), and what
 * banks, routers, components and parts need is not even asked for.
 */
#include "machine/impl_code.h"
#include "sim/sim.h"
#include "engine/router.h"
#include "engine/split.h"
#include "machine/address.h"
#include "machine/alone.h"
#include "machine/endpoint.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "sim/lone_runs.h"
#include "network/caches.h"
#include <string.h>

/* What a row needs stands in one place: passed from function to function, its costs would be in
 * memory, and twice as slow. */
#define INLINE static inline __attribute__((always_inline))

/* Every field of a result is a column of its own, in the same order. */
enum { N_FIELDS = sizeof(kb_result) / sizeof(int64_t) };
_Static_assert(sizeof(kb_result_columns) - offsetof(kb_result_columns, issue_fs) ==
                   N_FIELDS * sizeof(int64_t *),
               "a pointer for each field");

/* The row of a transaction, or of its part that ended last. */
INLINE const struct txn *served(const struct kb_sim *s, bool plain, uint32_t slot)
{
    return plain ? &s->txns[slot] : split_last(s, slot);
}

INLINE struct kb_cost cost(const struct kb_sim *s, bool plain, const struct txn *x,
                           struct drained *last)
{
    struct trip trip;

    if (!plain)
        return sim_cost(s, x);
    trip = txn_trip(s->topo, x);
    return cost_beside_routers(s->topo, &s->mask, x->op, &trip, x->nbytes, last);
}

INLINE int64_t service_fs(const struct kb_sim *s, bool plain, const struct txn *x,
                          const struct kb_cost *c)
{
    return plain ? x->service_fs : queued_service_fs(s, x, c);
}

INLINE int64_t done_fs(const struct kb_sim *s, bool plain, const struct txn *x,
                       const struct kb_cost *c)
{
    if (!plain && s->router)
        return (int64_t)s->router->flights[x - s->txns].done_fs;
    return service_fs(s, plain, x, c) + c->memory_overhead_fs + c->drain_fs;
}

static bool goes_to_l2(const struct kb_sim *s, const struct txn *x)
{
    return unit_is_l2(s->topo, dst_unit(s->topo, x->dst));
}

/* What it would take alone: as it was, but where components take part, or parts of it wait for each
 * other. */
INLINE int64_t formula_fs(const struct kb_sim *s, bool plain, const struct txn *x,
                          const struct kb_cost *c)
{
    const struct memory_row *memory = cost_memory(s->topo, x->dst, txn_writes(x));
    const struct served *served;
    uint32_t slot = (uint32_t)(x - s->txns);
    bool packets = !plain && split_by_packets(s, slot);
    struct kb_cost alone = *c;

    if (!packets && (plain || !s->topo->impls || goes_to_l2(s, x)))
        return cost_formula_fs(c);
    if (packets || lone_is_run(s, x)) {
        struct lone lone = lone_of(s, packets ? s->splits[slot].whole : slot);

        return lone.fs == INT64_MAX ? cost_formula_fs(c) : lone.fs;
    }
    served = &s->instances.served[slot];
    alone.overhead_fs -= served->delay_fs; /* by the tables again */
    cost_set_memory(&alone, cost_in_memory_fs(&s->mask, memory) + c->drain_fs);
    cost_add_alone(s->idle,
                   &(struct alone_of){.t = s->topo,
                                      .m = &s->mask,
                                      .op = x->op,
                                      .trip = txn_trip(s->topo, x),
                                      .nbytes = x->nbytes,
                                      .offset = served->offset,
                                      .drain_fs = c->drain_fs,
                                      .own_bytes = split_own_bytes(s, slot)},
                   &alone);
    return cost_formula_fs(&alone);
}

/* Of a multicast, the largest of what its branches take alone. */
static __attribute__((noinline)) int64_t branches_alone_fs(const struct kb_sim *s, uint32_t whole)
{
    int64_t most = 0;

    for (uint32_t part = s->splits[whole].next; part != TXN_NONE; part = s->splits[part].next) {
        const struct txn *x = &s->txns[part];
        struct kb_cost c = cost(s, false, x, NULL);
        int64_t fs = formula_fs(s, false, x, &c);

        most = fs > most ? fs : most;
    }
    return most;
}

/* May a wait be less than nothing? At banks a row may be open; behind routers the overhead is less
 * then. */
INLINE bool may_gain(const struct kb_sim *s, bool plain, int wait)
{
    return !plain && s->chooses && !s->router && wait == KB_WAIT_MEMORY;
}

/* The terms sum to actual, none is negative that may not be, and only stations that exist were
 * waited for. */
INLINE bool consistent(const struct kb_sim *s, bool plain, const kb_result *r)
{
    int64_t sum = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs + r->return_fs;
    int64_t signs = 0;

#pragma GCC unroll 8
    for (int i = 0; i < KB_N_WAITS; i++) {
        sum += r->wait_fs[i];
        signs |= may_gain(s, plain, i) ? 0 : r->wait_fs[i];
    }
    return signs >= 0 && sum == r->actual_fs &&
           (s->topo->links != MODE_IDEAL || r->wait_fs[KB_WAIT_LINK] == 0);
}

/* What it waited for links: the rest. Behind routers all along its way, and back. */
INLINE int64_t link_wait_fs(const struct kb_sim *s, bool plain, const kb_result *r,
                            const struct kb_cost *c)
{
    if (!plain && s->router)
        return r->actual_fs - cost_formula_fs(c) - r->wait_fs[KB_WAIT_CHANNEL] -
               r->wait_fs[KB_WAIT_ENGINE] - r->wait_fs[KB_WAIT_MEMORY];
    return r->arrive_fs - r->start_fs - r->wait_fs[KB_WAIT_ENGINE] - c->wire_fs -
           (c->overhead_fs - c->memory_overhead_fs);
}

/* Behind routers, of a memory that chooses. */
INLINE void divide_waits(kb_result *r)
{
    struct waits_behind waits = waits_behind(r->wait_fs[KB_WAIT_LINK], r->wait_fs[KB_WAIT_MEMORY]);

    r->wait_fs[KB_WAIT_LINK] = waits.link_fs;
    r->wait_fs[KB_WAIT_MEMORY] = waits.memory_fs;
    r->overhead_fs += waits.gain_fs;
    r->service_fs = r->arrive_fs + waits.memory_fs;
}

/* All of a row that is done but what it would take alone: of its part `x`, which costs `c`. */
INLINE void set_terms(const struct kb_sim *s, bool plain, const struct txn *whole,
                      const struct txn *x, const struct kb_cost *c, kb_result *r)
{
    bool host = txn_of_host(x);

    r->issue_fs = whole->issue_fs;
    r->start_fs = whole->issue_fs + (host ? 0 : x->wait_fs);
    r->arrive_fs = x->arrive_fs;
    r->service_fs = service_fs(s, plain, x, c);
    r->done_fs = done_fs(s, plain, x, c);
    r->wire_fs = c->wire_fs;
    r->overhead_fs = c->overhead_fs;
    r->drain_fs = c->drain_fs;
    r->response_fs = c->response_fs;
    r->return_fs = c->return_fs;
    r->wait_fs[KB_WAIT_CHANNEL] = host ? 0 : x->wait_fs;
    r->wait_fs[KB_WAIT_ENGINE] = host ? x->wait_fs : 0;
    r->bottleneck_gbs = c->bottleneck_gbs;
    r->wait_fs[KB_WAIT_MEMORY] = r->service_fs - r->arrive_fs;
    r->end_fs = r->done_fs + c->response_fs;
    r->actual_fs = r->end_fs - r->issue_fs;
    r->wait_fs[KB_WAIT_LINK] = link_wait_fs(s, plain, r, c);
    if (!plain && s->router && txn_queues(s, x))
        divide_waits(r);
    if (!plain && caches_have(s, x))
        r->service_fs = s->caches->rows[x - s->txns].start_fs;
}

INLINE kb_status result_of(const struct kb_sim *s, bool plain, uint32_t slot, struct drained *last,
                           kb_result *r)
{
    const struct txn *whole = &s->txns[slot], *x = served(s, plain, slot);
    struct kb_cost c;

    if (__builtin_expect(whole->stage != TXN_DONE, false))
        return KB_PENDING;
    c = cost(s, plain, x, last);
    r->formula_fs = !plain && is_branch(s, (uint32_t)(x - s->txns)) ? branches_alone_fs(s, slot)
                                                                    : formula_fs(s, plain, x, &c);
    set_terms(s, plain, whole, x, &c, r);
    if (!plain && __builtin_expect(idle_has_lost(s->idle), false)) {
        *r = (kb_result){0};
        return KB_NO_MEMORY;
    }
    if (__builtin_expect((uint64_t)r->end_fs > sim_last_fs(s), false))
        return KB_PENDING; /* its completion has been seen, but its response is not back */
    return consistent(s, plain, r) ? KB_OK : KB_INTERNAL;
}

void result_terms(const struct kb_sim *s, uint32_t slot, kb_result *r)
{
    const struct txn *x = served(s, false, slot);
    struct kb_cost c = cost(s, false, x, NULL);

    set_terms(s, false, &s->txns[slot], x, &c, r);
    r->formula_fs = r->actual_fs;
    if (split_by_packets(s, (uint32_t)(x - s->txns))) {
        r->formula_fs = formula_fs(s, false, x, &c);
        return;
    }
    for (int i = 0; i < KB_N_WAITS; i++)
        r->formula_fs -= r->wait_fs[i];
    r->formula_fs -= r->overhead_fs - c.overhead_fs; /* what a row has gained that was open */
}

static inline kb_status row_of(const struct kb_sim *s, uint64_t id, kb_result *row)
{
    return sim_is_plain(s) ? result_of(s, true, (uint32_t)id, NULL, row)
                           : result_of(s, false, sim_slot(s, id), NULL, row);
}

/* A row that is asked for: components say what it takes alone. */
struct asked_row {
    const struct kb_sim *s;
    uint64_t id;
    kb_result *row;
    kb_status status;
};

static void find_row(void *arg)
{
    struct asked_row *a = arg;

    a->status = row_of(a->s, a->id, a->row);
}

static kb_status row_guarded(const struct kb_sim *s, uint64_t id, kb_result *row)
{
    struct asked_row asked = {s, id, row, KB_KERNEL_CRASHED};

    impl_guarded(s->topo, find_row, &asked, NULL);
    return asked.status;
}

kb_status kb_sim_result(const kb_sim *s, uint64_t id, kb_result *r)
{
    REFUSE_NULL(s && r, "sim, out", NULL);
    kb_result row;
    kb_status status;

    if (id >= s->n_txns)
        return KB_BAD_REQUEST;
    status = s->topo->impls ? row_guarded(s, id, &row) : row_of(s, id, &row);
    if (status != KB_PENDING && status != KB_KERNEL_CRASHED)
        *r = row;
    return status;
}

/* -- columns --------------------------------------------------------------------------------- */

/*
 * Rows are computed one by one and written column by column, a block at a time: columns that are a
 * power of two apart would throw each other out of the cache.
 */
enum { BLOCK = 64 };

struct block {
    int64_t field[N_FIELDS][BLOCK + 1]; /* one more, so that these are no power of two apart */
    uint8_t status[BLOCK];
};

INLINE void put_row(struct block *block, size_t i, const kb_result *r)
{
#pragma GCC unroll 18
    for (size_t field = 0; field < N_FIELDS; field++)
        memcpy(&block->field[field][i], (const int64_t *)r + field, sizeof(int64_t));
}

/* Those of `n` transactions from `id` on; one that is not complete has no times. */
INLINE void results_of(const struct kb_sim *s, bool plain, uint32_t id, size_t n,
                       struct block *block)
{
    struct drained last = {0};

    for (size_t i = 0; i < n; i++) {
        uint32_t slot = plain ? id + (uint32_t)i : sim_slot(s, id + i);
        kb_result r;

        block->status[i] = (uint8_t)result_of(s, plain, slot, &last, &r);
        if (__builtin_expect(block->status[i] == KB_PENDING, false))
            r = (kb_result){0};
        put_row(block, i, &r);
    }
}

static __attribute__((flatten)) void results_plain(const struct kb_sim *s, uint32_t id, size_t n,
                                                   struct block *block)
{
    results_of(s, true, id, n, block);
}

static void put_column(const int64_t *from, size_t n, char *to, size_t stride)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++, to += stride)
        memcpy(to, &from[i], sizeof *from);
}

/* The first `n` rows of a block to row `at` of the columns, and on. */
static void put_block(const struct block *block, size_t at, size_t n, const kb_result_columns *c)
{
    size_t stride = c->stride ? c->stride : sizeof(int64_t);
    char *to[N_FIELDS];

    memcpy(to, &c->issue_fs, sizeof to);
    for (size_t field = 0; field < N_FIELDS; field++)
        if (to[field])
            put_column(block->field[field], n, to[field] + at * stride, stride);
    if (c->status)
        memcpy(c->status + at, block->status, n);
}

/* The worst of them: that one is wrong, or not complete. */
static kb_status worst(kb_status status, const uint8_t *of, size_t n)
{
    for (size_t i = 0; i < n && status != KB_INTERNAL; i++)
        if (of[i] != KB_OK)
            status = (kb_status)of[i];
    return status;
}

/* The rows of a block that are asked for. */
struct asked_block {
    const struct kb_sim *s;
    uint32_t id;
    size_t n;
    struct block *block;
};

static void find_block(void *arg)
{
    const struct asked_block *a = arg;

    results_of(a->s, false, a->id, a->n, a->block);
}

kb_status kb_sim_results(const kb_sim *s, uint64_t first, size_t n, const kb_result_columns *out)
{
    REFUSE_NULL(s && out, "sim, out", NULL);
    kb_status status = KB_OK;
    bool plain = sim_is_plain(s);
    struct block block;

    if (first > s->n_txns || n > s->n_txns - first)
        return KB_BAD_REQUEST;
    for (size_t at = 0; at < n; at += BLOCK) {
        uint32_t id = (uint32_t)(first + at);
        size_t more = n - at < BLOCK ? n - at : BLOCK;

        struct asked_block asked = {s, id, more, &block};

        if (plain)
            results_plain(s, id, more, &block);
        else if (!impl_guarded(s->topo, find_block, &asked, NULL))
            return KB_KERNEL_CRASHED;
        put_block(&block, at, more, out);
        status = worst(status, block.status, more);
    }
    return status;
}

/* -- requests -------------------------------------------------------------------------------- */

kb_status kb_sim_request(const kb_sim *s, uint64_t id, kb_transaction *out)
{
    REFUSE_NULL(s && out, "sim, out", NULL);
    const struct txn *txn;
    uint32_t slot, dst;
    uint64_t offset;

    if (id >= s->n_txns)
        return KB_BAD_REQUEST;
    slot = sim_slot(s, id);
    txn = &s->txns[slot];
    dst = txn->dst;
    if (unit_is_l2(s->topo, dst_unit(s->topo, dst))) /* it is asked for a slice */
        address_find(s->topo, s->caches->rows[slot].offset, &dst, &offset);
    *out = (kb_transaction){
        .issue_fs = txn->issue_fs,
        .op = txn->op,
        .src = endpoint_unpack_source(s->topo, txn->src, txn_of_host(txn), txn->chiplet),
        .dst = endpoint_unpack_memory(s->topo, dst),
        .nbytes = txn->nbytes,
        .plane = s->topo->plane_choice == PLANE_BY_COLUMN ? txn->course + 1u : 0,
        .prio = txn->prio,
    };
    if (s->places && s->places[slot].tile.n > 1) {
        out->rows = s->places[slot].tile.n;
        out->stride = (uint64_t)s->places[slot].tile.stride[0];
    }
    if (s->places && s->places[slot].targets)
        out->n_targets = s->places[slot].targets->n;
    return KB_OK;
}
