/* sim.c -- simulations: made, given transactions, run, asked for results.
 *
 * The state lies below, in engine/state.h; this is its face, the kb_sim_*() that users call. A run
 * goes through kb_sim_run(): the first one checks dependencies and sorts the rows, then the engine
 * runs (or kernels_run(), if kernels were launched), then sim/check.c looks for stations that were
 * busy for longer than the run lasted.
 *
 * A transaction keeps four times only: when it was issued, how long it waited for its channel or
 * engine, when it arrived at its memory, and when its service began. kb_sim_result() computes the
 * rest from the tables of the topology, and checks that the terms sum to the latency:
 *
 *   actual = wire + overhead + drain + response + waits for channel, engine, link and memory
 *
 * Example: the second of two reads of one slice (docs/model.md "Worked: two reads of one slice")
 * keeps issue 0, wait 0, arrive 4.095, service 18.085. The tables give wire 0.095, overhead 4 and
 * drain 32; so done = 18.085 + 32 = 50.085, the wait for the memory is 18.085 - 4.095 = 13.990, and
 * 0.095 + 4 + 32 + 13.990 = 50.085. A row that does not add up is KB_INTERNAL, not a result.
 *
 * The wait for links is the one term that is not measured: it is the rest between start and
 * arrival, see network/link.h. It must not be negative, and must be 0 with ideal links.
 */
#include "sim/sim.h"
#include "sim/destination.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/dependencies.h"
#include "machine/endpoint.h"
#include "engine/engine.h"
#include "engine/router.h"
#include "engine/issue_order.h"
#include "engine/split.h"
#include "data/host.h"
#include "kernels/kernels.h"
#include "record/oplog.h"
#include "record/race.h"
#include "engine/traffic.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "engine/observer.h"

_Static_assert(KB_TRANSACTIONS_MAX < EV_MAX_SLOTS, "each has a slot");

enum { TXNS_FIRST = 64 };

static bool options_are_known(const kb_options *o)
{
    return (unsigned)o->engine <= KB_HOP && o->until_fs >= 0 && o->costs_off < 2u * KB_COST_BUFFERS;
}

uint64_t kb_sim_bytes(const kb_topology *topo)
{
    return topo ? sim_bytes(topo) : 0;
}

kb_status kb_sim_new(const kb_topology *topo, const kb_options *options, kb_sim **out)
{
    REFUSE_NULL(topo && out, "topo, out", NULL);
    struct kb_sim *s;

    if (options && !options_are_known(options))
        return KB_BAD_REQUEST;
    s = calloc(1, sizeof *s);
    if (!s)
        return KB_NO_MEMORY;
    if (!sim_init(s, topo, options)) {
        kb_sim_free(s);
        return KB_NO_MEMORY;
    }
    *out = s;
    return KB_OK;
}

void kb_sim_free(kb_sim *s)
{
    if (!s)
        return;
    dependencies_free(s->dependencies);
    traffic_free(s->traffic);
    observe_free(s->observer);
    kernels_free(s->kernels);
    op_log_free(s->log); /* it may hold parts of fills, which are the host's */
    host_free(s->host);
    race_free(s->race);
    sim_clear(s);
    free(s);
}

/* -- transactions --------------------------------------------------------------------------- */

/* Room for one more; half as many again, so that nothing is copied often. */
static kb_status room_for_txn(struct kb_sim *s, kb_error *why)
{
    uint32_t cap = s->txns_cap ? s->txns_cap + s->txns_cap / 2 : TXNS_FIRST;

    if (s->n_txns < s->txns_cap)
        return KB_OK;
    if (s->n_txns >= KB_TRANSACTIONS_MAX)
        return endpoint_error(why, "a simulation takes at most %u transactions",
                              KB_TRANSACTIONS_MAX);
    if (cap > KB_TRANSACTIONS_MAX)
        cap = KB_TRANSACTIONS_MAX;
    if (sim_room(s, cap))
        return KB_OK;
    endpoint_error(why, "out of memory after %u transactions", s->n_txns);
    return KB_NO_MEMORY;
}

static kb_status check_size(const struct kb_topology *t, const kb_transaction *r, kb_error *why)
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

static kb_status check_request(const struct kb_sim *s, const kb_transaction *r, uint32_t ends[2],
                               kb_error *why)
{
    kb_status status = endpoint_pack_route(s->topo, r->op, &r->src, &r->dst, ends, why);

    if (status != KB_OK)
        return status;
    if (r->dst.kind == KB_TCM)
        return endpoint_error(why, "a TCM is reached by kernels only");
    if (r->plane > 0 && s->topo->plane_choice != PLANE_BY_COLUMN)
        return endpoint_error(why, "a transaction has no plane of its own here: set sip.plane to "
                                   "column");
    if (r->prio > 0 && (s->topo->links != MODE_ROUTER || r->prio > 3))
        return endpoint_error(why, "a priority is 0 to 3, and 0 but with contention.links: router");
    if (r->issue_fs < 0)
        return endpoint_error(why, "a transaction cannot be issued before time 0");
    if (s->kernels)
        return endpoint_error(why, "the simulation has kernels, it takes no transactions");
    if (s->traffic)
        return endpoint_error(why, "the simulation has traffic, it takes no transactions");
    if (s->started)
        return endpoint_error(why, "the simulation has begun, it takes no more transactions");
    if (r->nbytes && r->by_address)
        return KB_OK; /* destination_find() has checked the size */
    return check_size(s->topo, r, why);
}

/* A request by address, with the endpoint where its first byte lies. */
static kb_status find_target(const struct kb_topology *t, const kb_transaction *request,
                             kb_transaction *found, bool *splits, kb_error *why)
{
    struct destination to = {
        .by_address = true, .address = request->address, .nbytes = request->nbytes};
    kb_status status = destination_find(t, &to, why);

    *found = *request;
    found->dst = to.dst;
    found->offset = to.offset;
    *splits = to.splits;
    return status;
}

/* Its way on the plane that it asks for, or else on that of its op or id. */
static kb_status find_trip(const struct kb_sim *s, const kb_transaction *r, const uint32_t ends[2],
                           struct trip *trip, kb_error *why)
{
    uint32_t plane = r->plane > 0 ? r->plane - 1 : endpoint_plane(s->topo, r->op, s->n_txns);

    return endpoint_trip(s->topo, r->op, &r->src, ends, plane, trip, why);
}

kb_status kb_sim_add(kb_sim *s, const kb_transaction *request, kb_error *why)
{
    REFUSE_NULL(s && request, "sim, request", why);
    const kb_transaction *r = request;
    kb_transaction found;
    bool splits = false;
    uint32_t ends[2];
    struct trip trip = {0};
    kb_status status = KB_OK;

    if (r->by_address) {
        status = find_target(s->topo, request, &found, &splits, why);
        r = &found;
    }
    if (status == KB_OK)
        status = check_request(s, r, ends, why);
    if (status == KB_OK && (!s->topo->regular || r->plane > 0))
        status = find_trip(s, r, ends, &trip, why);
    if (status == KB_OK)
        status = room_for_txn(s, why);
    if (status != KB_OK)
        return status;
    s->txns[s->n_txns] = (struct txn){.issue_fs = r->issue_fs,
                                      .nbytes = r->nbytes & TXN_MAX_BYTES,
                                      .op = r->op,
                                      .stage = TXN_WAITING,
                                      .plane = trip.plane & 7u,
                                      .chiplet = trip.chiplet & 3u,
                                      .prio = r->prio & 3u,
                                      .src = ends[0],
                                      .dst = ends[1],
                                      .id = s->n_txns,
                                      .next = TXN_NONE};
    banks_place(s, s->n_txns, r->offset);
    instance_place(&s->instances, s->n_txns, r->offset);
    if (splits)
        split_later(&s->txns[s->n_txns], r->address);
    if (r->issue_fs < s->last_issue_fs)
        s->sorted = false;
    s->last_issue_fs = r->issue_fs;
    s->ways |= txn_way(&s->txns[s->n_txns]);
    s->n_txns++;
    return KB_OK;
}

/* -- running -------------------------------------------------------------------------------- */

kb_status sim_explain(const struct kb_sim *s, kb_status status, kb_error *why)
{
    if (why && why->text[0])
        return status;
    if (status == KB_COMPONENT_ERROR || (status == KB_DEADLOCK && s->instances.never))
        endpoint_error(why, "%s", s->instances.fault);
    if (status == KB_INTERNAL)
        observe_error(s->observer, why);
    if (status == KB_BAD_REQUEST && s->started)
        endpoint_error(why, TRAFFIC_NO_WAY);
    else if (status == KB_TIME_RANGE)
        endpoint_error(why, "simulated time has passed 2^63 fs, two and a half hours");
    else if (status == KB_NO_MEMORY)
        endpoint_error(why, "out of memory while the simulation ran");
    return status;
}

kb_status kb_sim_check_dependencies(kb_sim *s, uint64_t *id, kb_error *why)
{
    REFUSE_NULL(s, "sim", why);
    return dependencies_prepare(s, id, why);
}

/* Prepares the first run. After a mistake that the caller may still put right, nothing is kept. */
static kb_status start(struct kb_sim *s, kb_error *why)
{
    kb_status status = dependencies_prepare(s, NULL, why);

    if (status == KB_BAD_REQUEST)
        return status;
    if (s->dependencies)
        s->sorted = false; /* transactions that wait are not in the list */
    if (status == KB_OK && !s->sorted && !sort_issues(s))
        status = KB_NO_MEMORY;
    if (status == KB_OK)
        status = split_all(s, why);
    s->started = status == KB_OK;
    if (s->started)
        observe_begin(s);
    return s->status = status;
}

static kb_status run(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    kb_status status;

    if (s->kernels)
        return kernels_run(s, budget, why);
    if (s->status != KB_OK)
        return s->status;
    status = s->started ? KB_OK : start(s, why);
    return status == KB_OK ? engine_run(s, budget) : status;
}

kb_status kb_sim_run(kb_sim *s, uint64_t budget, kb_error *why)
{
    REFUSE_NULL(s, "sim", why);
    kb_status status = sim_check_stall(s, run(s, budget ? budget : UINT64_MAX, why), why);

    if (status == KB_OK)
        status = sim_check_stations(s, why);
    return sim_explain(s, status, why);
}

uint64_t kb_sim_count(const kb_sim *s)
{
    return sim_txn_count(s);
}

/* Its completion has been seen, and its end is not after the end of the run. */
static bool complete(const struct kb_sim *s, const struct txn *whole, const struct txn *x,
                     const struct kb_cost *c)
{
    if (s->router)
        return whole->stage == TXN_DONE &&
               s->router->flights[x - s->txns].done_fs + (uint64_t)c->response_fs <= sim_last_fs(s);
    return whole->stage == TXN_DONE &&
           (uint64_t)(queued_service_fs(s, x, c) + c->memory_overhead_fs + c->drain_fs +
                      c->response_fs) <= sim_last_fs(s);
}

/* What it would take alone: as it was, but where components take part. */
static int64_t formula_fs(const struct kb_sim *s, const struct txn *x, const struct kb_cost *c)
{
    const struct trip trip = txn_trip(s->topo, x);
    struct bank_range range = banks_range(s, (uint32_t)(x - s->txns));
    struct kb_cost alone;

    if (!s->topo->impls)
        return kb_formula_fs(c);
    if (s->router && memory_is_component(s->topo, dst_unit(s->topo, x->dst)))
        return kb_formula_fs(c) - c->memory_overhead_fs + s->instances.served[x - s->txns].alone_fs;
    alone = cost_with_components(s->topo, &s->mask, x->op, &trip, x->nbytes,
                                 s->instances.served[x - s->txns].offset);
    if (range.end)
        cost_add_banks(&alone, banks_alone(s, (uint32_t)(x - s->txns), alone.drain_fs).fs);
    return kb_formula_fs(&alone);
}

uint64_t kb_sim_done(const kb_sim *s)
{
    return s->n_done;
}

kb_status kb_sim_request(const kb_sim *s, uint64_t id, kb_transaction *out)
{
    REFUSE_NULL(s && out, "sim, out", NULL);
    const struct txn *txn;

    if (id >= s->n_txns)
        return KB_BAD_REQUEST;
    txn = &s->txns[id];
    *out = (kb_transaction){
        .issue_fs = txn->issue_fs,
        .op = txn->op,
        .src = endpoint_unpack_source(s->topo, txn->src, txn_of_host(txn), txn->chiplet),
        .dst = endpoint_unpack_memory(s->topo, txn->dst),
        .nbytes = txn->nbytes,
        .plane = s->topo->plane_choice == PLANE_BY_COLUMN ? txn->plane + 1u : 0,
        .prio = txn->prio,
    };
    return KB_OK;
}

/* May a wait be less than nothing? At banks a row may be open; behind routers packets may also come
 * in another order than alone, which is told of the links. */
static bool may_gain(const struct kb_sim *s, int wait)
{
    return sim_queues(s) && (wait == KB_WAIT_MEMORY || (wait == KB_WAIT_LINK && s->router));
}

/* The terms sum to actual, none is negative that may not be, and only stations that exist were
 * waited for. */
static bool consistent(const struct kb_sim *s, const struct kb_result *r)
{
    int64_t sum = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs + r->return_fs;
    int64_t signs = 0;

#pragma GCC unroll 8
    for (int i = 0; i < KB_N_WAITS; i++) {
        sum += r->wait_fs[i];
        signs |= may_gain(s, i) ? 0 : r->wait_fs[i];
    }
    return signs >= 0 && sum == r->actual_fs &&
           (s->topo->links != MODE_IDEAL || r->wait_fs[KB_WAIT_LINK] == 0);
}

kb_status kb_sim_result(const kb_sim *s, uint64_t id, kb_result *r)
{
    REFUSE_NULL(s && r, "sim, out", NULL);
    const struct txn *whole, *txn; /* the same, or the part that ended last */
    struct kb_cost c;
    int64_t service_fs;

    if (id >= s->n_txns)
        return KB_BAD_REQUEST;
    whole = &s->txns[id];
    txn = split_last(s, (uint32_t)id);
    c = sim_cost(s, txn);
    if (!complete(s, whole, txn, &c))
        return KB_PENDING;
    service_fs = queued_service_fs(s, txn, &c);
    *r = (kb_result){
        .issue_fs = whole->issue_fs,
        .start_fs = whole->issue_fs + (txn_of_host(whole) ? 0 : whole->wait_fs),
        .arrive_fs = txn->arrive_fs,
        .service_fs = service_fs,
        .done_fs = service_fs + c.memory_overhead_fs + c.drain_fs,
        .wire_fs = c.wire_fs,
        .overhead_fs = c.overhead_fs,
        .drain_fs = c.drain_fs,
        .response_fs = c.response_fs,
        .return_fs = c.return_fs,
        .wait_fs[KB_WAIT_CHANNEL] = txn_of_host(txn) ? 0 : whole->wait_fs,
        .wait_fs[KB_WAIT_ENGINE] = txn_of_host(txn) ? txn->wait_fs : 0,
        .wait_fs[KB_WAIT_MEMORY] = service_fs - txn->arrive_fs,
        .formula_fs = formula_fs(s, txn, &c),
        .bottleneck_gbs = c.bottleneck_gbs,
    };
    if (s->router)
        r->done_fs = (int64_t)s->router->flights[txn - s->txns].done_fs;
    r->end_fs = r->done_fs + c.response_fs;
    r->actual_fs = r->end_fs - r->issue_fs;
    if (s->router) /* all along the way, and back */
        r->wait_fs[KB_WAIT_LINK] = r->actual_fs - kb_formula_fs(&c) - r->wait_fs[KB_WAIT_CHANNEL] -
                                   r->wait_fs[KB_WAIT_ENGINE] - r->wait_fs[KB_WAIT_MEMORY];
    else
        r->wait_fs[KB_WAIT_LINK] = r->arrive_fs - r->start_fs - r->wait_fs[KB_WAIT_ENGINE] -
                                   c.wire_fs - (c.overhead_fs - c.memory_overhead_fs);
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
