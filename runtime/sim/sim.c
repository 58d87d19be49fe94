/* sim.c -- simulations: made, given transactions, run, asked for results. */
#include "engine/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/dependencies.h"
#include "machine/endpoint.h"
#include "engine/engine.h"
#include "data/host.h"
#include "kernels/kernels.h"
#include "record/oplog.h"
#include "record/race.h"
#include "engine/traffic.h"
#include "machine/walk.h"
#include "engine/observer.h"

enum { TXNS_FIRST = 64, CACHE_LINE = 64 };

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)

/* `n` zeroed rows on a cache line's boundary; NULL without memory. */
static void *zeroed_rows(size_t n, size_t row_bytes)
{
    size_t bytes = (n * row_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    void *rows = aligned_alloc(CACHE_LINE, bytes ? bytes : CACHE_LINE);

    if (rows)
        memset(rows, 0, bytes);
    return rows;
}

/* Idle stations; servers alternate between `reads` and `writes`. */
static struct station *stations_new(size_t n, uint32_t reads, uint32_t writes)
{
    struct station *rows = zeroed_rows(n, sizeof *rows);

    for (size_t i = 0; rows && i < n; i++) {
        rows[i].queue.head = TXN_NONE;
        rows[i].holder = TXN_NONE;
        rows[i].idle = i % 2 ? writes : reads;
    }
    return rows;
}

/* The engine compiled for the topology does not serve who wants to see every event. */
static bool watched(const struct kb_sim *s)
{
    return s->options.engine == KB_HOP || sim_counts(s);
}

static struct memory_station *memories_new(size_t n)
{
    struct memory_station *rows = zeroed_rows(n, sizeof *rows);

    for (size_t i = 0; rows && i < n; i++) {
        rows[i].head = rows[i].holder = TXN_NONE;
        rows[i].arrived = &rows[i].head;
    }
    return rows;
}

static struct txn_list *pipes_new(size_t n)
{
    struct txn_list *rows = malloc(n * sizeof *rows);

    for (size_t i = 0; rows && i < n; i++)
        rows[i] = (struct txn_list){TXN_NONE, TXN_NONE};
    return rows;
}

static struct cost_mask mask_of(unsigned off)
{
    return (struct cost_mask){
        .wire = off & KB_COST_WIRE ? 0 : -1,
        .overhead = off & KB_COST_OVERHEAD ? 0 : -1,
        .compute = off & KB_COST_COMPUTE ? 0 : -1,
        .link_gbs = off & KB_COST_LINK_GBS ? INFINITY : 0,
        .memory_gbs = off & KB_COST_MEMORY_GBS ? INFINITY : 0,
        .tcm_gbs = off & KB_COST_TCM_GBS ? INFINITY : 0,
    };
}

/* False without memory; what was made so far is freed with `s`. */
static bool make_stations(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t cubes = sim_cubes(t), pes = cubes << t->pe_bits, memories = cubes << t->unit_bits;
    bool fifo = t->links == MODE_FIFO;

    s->channels = stations_new(2 * pes, sim_servers(s, KB_COST_CHANNELS, t->read_channels),
                               sim_servers(s, KB_COST_CHANNELS, t->write_channels));
    s->engines = stations_new(2 * cubes, sim_servers(s, KB_COST_ENGINES, t->read_engines),
                              sim_servers(s, KB_COST_ENGINES, t->write_engines));
    s->memories = memories_new(memories);
    s->pipes = pipes_new(fifo ? t->sips : cubes);
    s->flow_local = calloc(pes * t->n_units, sizeof *s->flow_local);
    s->flow_out = calloc(pes, sizeof *s->flow_out);
    s->flow_remote = calloc(cubes, sizeof *s->flow_remote);
    s->flow_host = calloc(cubes, sizeof *s->flow_host);
    s->flow_in = calloc(memories, sizeof *s->flow_in);
    if (fifo)
        s->links = zeroed_rows(walk_n_links(t), sizeof *s->links);
    return s->channels && s->engines && s->memories && s->pipes && s->flow_local && s->flow_out &&
           s->flow_remote && s->flow_host && s->flow_in && (!fifo || s->links);
}

/* No event after this is asked for. */
static uint64_t last_fs(const struct kb_sim *s)
{
    return s->options.until_fs > 0 ? (uint64_t)s->options.until_fs : EV_PAST - 1;
}

static bool options_are_known(const kb_options *o)
{
    return (unsigned)o->engine <= KB_HOP && o->until_fs >= 0 && o->costs_off < 2u * KB_COST_TCM_GBS;
}

kb_status kb_sim_new(const kb_topology *topo, const kb_options *options, kb_sim **out)
{
    struct kb_sim *s;

    if (options && !options_are_known(options))
        return KB_BAD_REQUEST;
    s = calloc(1, sizeof *s);
    if (!s)
        return KB_NO_MEMORY;
    s->topo = topo;
    if (options)
        s->options = *options;
    s->mask = mask_of(s->options.costs_off);
    s->sorted = true;
    s->issues = (struct txn_list){TXN_NONE, TXN_NONE};
    s->fingerprint = FNV_OFFSET;
    s->stop_fs = last_fs(s) + 1;
    if (!ev_queue_init(&s->queue) || !make_stations(s)) {
        kb_sim_free(s);
        return KB_NO_MEMORY;
    }
    *out = s;
    return KB_OK;
}

bool link_room(struct link_station *l)
{
    enum { FIRST_ROOM = 8 };
    uint32_t room = l->room ? 2 * l->room : FIRST_ROOM;
    uint64_t *more = calloc(room, sizeof *more);

    if (!more)
        return false;
    for (uint32_t i = 1; i <= l->room; i++)
        more[(l->next - i) & (room - 1)] = l->enter_fs[(l->next - i) & (l->room - 1)];
    free(l->enter_fs);
    l->enter_fs = more;
    l->room = room;
    return true;
}

static void links_free(struct kb_sim *s)
{
    for (size_t i = 0; s->links && i < walk_n_links(s->topo); i++)
        free(s->links[i].enter_fs);
    free(s->links);
}

void kb_sim_free(kb_sim *s)
{
    if (!s)
        return;
    after_free(s->after);
    kernels_free(s->kernels);
    host_free(s->host);
    op_log_free(s->log);
    traffic_free(s->traffic);
    observe_free(s->observer);
    race_free(s->race);
    for (uint32_t i = 0; s->flow_remote && i < sim_cubes(s->topo); i++)
        free(s->flow_remote[i]);
    free(s->flow_remote);
    free(s->flow_local);
    free(s->flow_out);
    free(s->flow_host);
    free(s->flow_in);
    free(s->pipes);
    links_free(s);
    free(s->memories);
    free(s->engines);
    free(s->channels);
    free(s->txns);
    ev_queue_free(&s->queue);
    free(s);
}

bool sim_flow_row(struct kb_sim *s, uint32_t cube)
{
    s->flow_remote[cube] = calloc(sim_cubes(s->topo), sizeof *s->flow_remote[cube]);
    return s->flow_remote[cube];
}

/* -- transactions --------------------------------------------------------------------------- */

bool sim_room(struct kb_sim *s, uint32_t n)
{
    struct txn *moved = s->txns;

    if (n <= s->txns_cap)
        return true;
    moved = realloc(s->txns, n * sizeof *moved);
    if (!moved)
        return false;
    s->txns = moved;
    s->txns_cap = n;
    return true;
}

/* Room for one more; half as many again, so that nothing is copied often. */
static kb_status room_for_txn(struct kb_sim *s, kb_error *why)
{
    uint32_t cap = s->txns_cap ? s->txns_cap + s->txns_cap / 2 : TXNS_FIRST;

    if (s->n_txns < s->txns_cap)
        return KB_OK;
    if (s->n_txns >= EV_MAX_SLOTS - 1)
        return endpoint_error(why, "a simulation takes at most %u transactions", EV_MAX_SLOTS - 1);
    if (cap > EV_MAX_SLOTS - 1)
        cap = EV_MAX_SLOTS - 1;
    if (sim_room(s, cap))
        return KB_OK;
    endpoint_error(why, "out of memory after %u transactions", s->n_txns);
    return KB_NO_MEMORY;
}

static kb_status check_size(const struct kb_topology *t, const kb_request *r, kb_error *why)
{
    uint64_t size = kb_memory_bytes(t, &r->dst);
    char name[KB_ENDPOINT_BYTES];

    if (r->nbytes == 0)
        return endpoint_error(why, "a transaction moves at least one byte");
    if (r->offset <= size && r->nbytes <= size - r->offset)
        return KB_OK;
    kb_endpoint_name(&r->dst, name);
    return endpoint_error(why, "offset %llu + %llu bytes pass the end of %s, which holds %llu",
                     (unsigned long long)r->offset, (unsigned long long)r->nbytes, name,
                     (unsigned long long)size);
}

static kb_status check_request(const struct kb_sim *s, const kb_request *r, uint32_t ends[2],
                               kb_error *why)
{
    kb_status status = endpoint_pack_route(s->topo, r->op, &r->src, &r->dst, ends, why);

    if (status != KB_OK)
        return status;
    if (r->dst.kind == KB_TCM)
        return endpoint_error(why, "a TCM is reached by kernels only");
    if (r->issue_fs < 0)
        return endpoint_error(why, "a transaction cannot be issued before time 0");
    if (s->kernels)
        return endpoint_error(why, "the simulation has kernels, it takes no transactions");
    if (s->traffic)
        return endpoint_error(why, "the simulation has traffic, it takes no transactions");
    if (s->started)
        return endpoint_error(why, "the simulation has begun, it takes no more transactions");
    return check_size(s->topo, r, why);
}

kb_status kb_sim_add(kb_sim *s, const kb_request *r, kb_error *why)
{
    uint32_t ends[2];
    kb_status status = check_request(s, r, ends, why);

    if (status == KB_OK)
        status = room_for_txn(s, why);
    if (status != KB_OK)
        return status;
    s->txns[s->n_txns] = (struct txn){.issue_fs = r->issue_fs,
                                      .nbytes = r->nbytes & TXN_MAX_BYTES,
                                      .op = r->op,
                                      .stage = TXN_WAITING,
                                      .src = ends[0],
                                      .dst = ends[1],
                                      .id = s->n_txns,
                                      .next = TXN_NONE};
    if (r->issue_fs < s->last_issue_fs)
        s->sorted = false;
    s->last_issue_fs = r->issue_fs;
    s->n_txns++;
    return KB_OK;
}

/* -- order of issue: lists through txn.next ------------------------------------------------- */

enum { BINS = 32, CHUNK = 4096 /* rows that are sorted inside the cache */ };

/* Both lists end in TXN_NONE; of equal times those of `a` come first. */
static uint32_t merge_lists(struct txn *txns, uint32_t a, uint32_t b)
{
    uint32_t head = TXN_NONE, *tail = &head;

    while (a != TXN_NONE && b != TXN_NONE) {
        uint32_t *first = txns[b].issue_fs < txns[a].issue_fs ? &b : &a;

        *tail = *first;
        tail = &txns[*first].next;
        *first = *tail;
    }
    *tail = a != TXN_NONE ? a : b;
    return head;
}

/* Links rows [first, ...) before `end` as long as their times do not fall; returns the next row. */
static uint32_t link_run(struct txn *txns, uint32_t first, uint32_t end)
{
    uint32_t i = first;

    for (; i + 1 < end && txns[i + 1].issue_fs >= txns[i].issue_fs; i++)
        txns[i].next = i + 1;
    txns[i].next = TXN_NONE;
    return i + 1;
}

/* Rows [first, end) as a list in order: their runs, merged two of a size at a time. */
static uint32_t sort_chunk(struct txn *txns, uint32_t first, uint32_t end)
{
    uint32_t bins[BINS], list;

    for (int i = 0; i < BINS; i++)
        bins[i] = TXN_NONE;
    for (uint32_t row = first, next; row < end; row = next) {
        int i = 0;

        list = row;
        next = link_run(txns, row, end);
        for (; bins[i] != TXN_NONE; i++) {
            list = merge_lists(txns, bins[i], list);
            bins[i] = TXN_NONE;
        }
        bins[i] = list;
    }
    list = TXN_NONE;
    for (int i = 0; i < BINS; i++)
        list = merge_lists(txns, bins[i], list);
    return list;
}

static bool push_issue(struct ev_heap *heads, const struct txn *txns, uint32_t slot)
{
    const struct txn *x = &txns[slot];

    if (slot == TXN_NONE)
        return true;
    if (x->next != TXN_NONE)
        txn_prefetch(&txns[x->next]); /* the lists are long, and lie all over the memory */
    return ev_heap_push(heads, ev_make((uint64_t)x->issue_fs, EV_ISSUE, x->id, slot));
}

/*
 * All rows that do not wait, as one list in order: chunks are sorted, then taken from by a heap of
 * their heads.
 */
static bool sort_issues(struct kb_sim *s)
{
    struct txn_list list = {TXN_NONE, TXN_NONE};
    struct ev_heap heads;
    bool ok = ev_heap_init(&heads);

    for (uint32_t row = 0; ok && row < s->n_txns; row += CHUNK) {
        uint32_t end = s->n_txns - row < CHUNK ? s->n_txns : row + CHUNK;

        ok = push_issue(&heads, s->txns, sort_chunk(s->txns, row, end));
    }
    while (ok && heads.n) {
        uint32_t slot = ev_slot(ev_heap_first(&heads)), next = s->txns[slot].next;

        ev_heap_take(&heads);
        if (!s->after || !after_waits(s->after, slot))
            txn_append(&list, s->txns, slot);
        ok = push_issue(&heads, s->txns, next);
    }
    ev_heap_free(&heads);
    s->issues = list;
    return ok;
}

/* -- running -------------------------------------------------------------------------------- */

/* Says why a run has ended, if it is not its end. */
static kb_status ended(const struct kb_sim *s, kb_status status, kb_error *why)
{
    if (why && why->text[0])
        return status;
    if (status == KB_INTERNAL)
        observe_error(s->observer, why);
    if (status == KB_TIME_RANGE)
        endpoint_error(why, "simulated time has passed 2^63 fs, two and a half hours");
    else if (status == KB_NO_MEMORY)
        endpoint_error(why, "out of memory while the simulation ran");
    return status;
}

/* What the first run finds out. Of what the caller may still put right nothing is kept. */
static kb_status start(struct kb_sim *s, kb_error *why)
{
    kb_status status = after_prepare(s, NULL, why);

    if (status == KB_BAD_REQUEST)
        return status;
    if (s->after)
        s->sorted = false; /* who waits is not in the list */
    if (status == KB_OK && !s->sorted && !sort_issues(s))
        status = KB_NO_MEMORY;
    s->started = status == KB_OK;
    return s->status = status;
}

kb_status sim_run_transactions(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    bool any = watched(s) || !s->topo->run;
    kb_status status;

    s->started = true;
    status = (any ? engine_any : s->topo->run)(s, budget);
    if (status == KB_OK && s->n_done < s->n_txns)
        status = KB_STOPPED; /* a response comes after until_fs */
    if (status != KB_AGAIN)
        s->status = status;
    return ended(s, status, why);
}

kb_status kb_sim_run(kb_sim *s, uint64_t budget, kb_error *why)
{
    kb_status status;

    budget = budget ? budget : UINT64_MAX;
    if (s->kernels)
        return ended(s, kernels_run(s, budget, why), why);
    if (s->status != KB_OK)
        return ended(s, s->status, why);
    if (!s->started && (status = start(s, why)) != KB_OK)
        return ended(s, status, why);
    status = sim_run_transactions(s, budget, why);
    return status == KB_OK ? sim_check_stations(s, why) : status;
}

uint64_t kb_sim_count(const kb_sim *s)
{
    if (s->traffic)
        return s->traffic->n_issued;
    return s->n_txns;
}

/* Its completion has been seen, and its end is not after the end of the run. */
static bool complete(const struct kb_sim *s, const struct txn *x, const struct kb_cost *c)
{
    return x->stage == TXN_DONE && (uint64_t)(x->service_fs + c->memory_overhead_fs + c->drain_fs +
                                              c->response_fs) <= last_fs(s);
}

static struct kb_cost cost_of_txn(const struct kb_sim *s, const struct txn *x)
{
    return cost_of(s->topo, &s->mask, x->op, x->src, x->dst, x->nbytes);
}

uint64_t kb_sim_done(const kb_sim *s)
{
    return s->n_done;
}

kb_status kb_sim_request(const kb_sim *s, uint64_t id, kb_request *out)
{
    const struct txn *x;

    if (id >= s->n_txns)
        return KB_BAD_REQUEST;
    x = &s->txns[id];
    *out = (kb_request){
        .issue_fs = x->issue_fs,
        .op = x->op,
        .src = endpoint_unpack_source(s->topo, x->src, txn_of_host(x)),
        .dst = endpoint_unpack_memory(s->topo, x->dst),
        .nbytes = x->nbytes,
    };
    return KB_OK;
}

/* The terms sum to actual, none is negative, and only stations that exist were waited for. */
static bool consistent(const struct kb_sim *s, const struct kb_result *r)
{
    int64_t sum = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs;

    for (int i = 0; i < KB_N_WAITS; i++) {
        if (r->wait_fs[i] < 0)
            return false;
        sum += r->wait_fs[i];
    }
    return sum == r->actual_fs && (s->topo->links == MODE_FIFO || r->wait_fs[KB_WAIT_LINK] == 0);
}

kb_status kb_sim_result(const kb_sim *s, uint64_t id, kb_result *r)
{
    const struct txn *x;
    struct kb_cost c;

    if (id >= s->n_txns)
        return KB_BAD_REQUEST;
    x = &s->txns[id];
    c = cost_of_txn(s, x);
    if (!complete(s, x, &c))
        return KB_PENDING;
    *r = (kb_result){
        .issue_fs = x->issue_fs,
        .start_fs = x->issue_fs + (txn_of_host(x) ? 0 : x->wait_fs),
        .arrive_fs = x->arrive_fs,
        .service_fs = x->service_fs,
        .done_fs = x->service_fs + c.memory_overhead_fs + c.drain_fs,
        .wire_fs = c.wire_fs,
        .overhead_fs = c.overhead_fs,
        .drain_fs = c.drain_fs,
        .response_fs = c.response_fs,
        .wait_fs[KB_WAIT_CHANNEL] = txn_of_host(x) ? 0 : x->wait_fs,
        .wait_fs[KB_WAIT_ENGINE] = txn_of_host(x) ? x->wait_fs : 0,
        .wait_fs[KB_WAIT_MEMORY] = x->service_fs - x->arrive_fs,
        .formula_fs = kb_formula_fs(&c),
        .bottleneck_gbs = c.bottleneck_gbs,
    };
    r->end_fs = r->done_fs + c.response_fs;
    r->actual_fs = r->end_fs - r->issue_fs;
    r->wait_fs[KB_WAIT_LINK] = r->arrive_fs - r->start_fs - r->wait_fs[KB_WAIT_ENGINE] - c.wire_fs -
                       (c.overhead_fs - c.memory_overhead_fs);
    return consistent(s, r) ? KB_OK : KB_INTERNAL;
}

uint64_t kb_sim_fingerprint(const kb_sim *s)
{
    return s->fingerprint;
}

int64_t kb_sim_end_fs(const kb_sim *s)
{
    return s->end_fs;
}
