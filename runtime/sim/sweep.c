/* sweep.c -- points of a sweep: each runs on an idle machine, and leaves it idle again.
 *
 * A sweep has millions of points, most of one copy. Three things make them cheap:
 *
 *   - A copy that is alone waits for nothing, so its latency is the formula: no run at all. Behind
 *     routers it runs: where buffers do not cover the way and back, packets wait for their own.
 *   - More copies are filled into one simulation, which runs them and is cleared afterwards. Only
 *     what their route touched is cleared: its channel or engine, its links, its memory.
 *   - Copies of one point are alike, so their terms are added up, and only the waits differ.
 *
 * Example: 8 reads of 4096 bytes at once, c0.pe0 -> c0.slice0 of cube8. Each takes 18.085 ns and
 * they share one read channel, so they end after 18.085, 36.170, ... 144.680 ns. The
 * mean is 4.5 times as long as one, 81.3825 ns, of which 3.5 times, 63.2975 ns, is queue_channel.
 *
 * Invariant: after a point the machine is as sim_init() made it, except for the length of the event
 * queue's days, which changes no result. Time begins at 0 for each point.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/alone.h"
#include "machine/endpoint.h"
#include "base/percentiles.h"
#include "engine/stations.h"
#include "engine/engine.h"
#include "engine/inorder.h"
#include "engine/observer.h"
#include "engine/router.h"
#include "engine/split.h"
#include "sim/again.h"
#include "sim/guarded.h"
#include "sim/sim.h"
#include "sim/destination.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "network/server.h"
#include "network/caches.h"

/* A point as the engines take it, and the cost of one copy without contention. */
struct job {
    kb_transaction_op op;
    uint32_t src, dst, n;
    uint64_t nbytes;
    struct trip trip;    /* of one that is split that of its first part */
    struct kb_cost cost; /* unless `differ` */
    bool differ; /* copies have costs of their own: they are split, or their courses differ */
    struct destination to;
};

/* Room for the latencies of a point's copies. */
struct scratch {
    int64_t *actual_fs; /* owned */
    size_t cap;
};

static bool of_host(const struct job *job)
{
    return job->op >= KB_H2D;
}

/* -- checks --------------------------------------------------------------------------------- */

static kb_status check_sim(const struct kb_sim *s, kb_error *why)
{
    if (s->status != KB_OK)
        return endpoint_error(why, "the simulation has failed before");
    if (s->kernels || s->host || s->traffic || s->n_txns)
        return endpoint_error(why, "a sweep needs a simulation of its own");
    if (sim_counts(s))
        return endpoint_error(why, "a sweep has no fingerprint, and does not end early");
    return KB_OK;
}

static kb_status make_job(struct kb_sim *s, const kb_point *p, struct job *job, kb_error *why)
{
    struct destination to = {
        .by_address = p->by_address, .address = p->address, .dst = p->dst, .nbytes = p->nbytes};
    struct txn row = {.op = p->op, .nbytes = p->nbytes & TXN_MAX_BYTES};
    uint32_t ends[2];
    struct trip trip;
    bool in_parts;
    kb_status status = destination_tile(s->topo, &p->src, p->rows, p->stride, &to, why);

    if (status == KB_OK)
        status = destination_find(s->topo, &to, why);
    if (status == KB_OK)
        status = endpoint_pack_route(s->topo, p->op, &p->src, &to.dst, ends, why);
    if (status != KB_OK)
        return status;
    if (to.dst.kind == KB_TCM)
        return endpoint_error(why, "a TCM is reached by kernels only");
    if (p->nbytes == 0 ||
        (!to.interleaved && to.offset + destination_reach(&to) > kb_memory_bytes(s->topo, &to.dst)))
        return endpoint_error(why, "%llu bytes are none, or more than the target holds",
                              (unsigned long long)destination_reach(&to));
    if (p->inflight == 0 || p->inflight >= EV_MAX_SLOTS - 1)
        return endpoint_error(why, "%u transactions at once are none, or too many", p->inflight);
    status =
        endpoint_trip(s->topo, p->op, &p->src, ends, endpoint_plane(s->topo, p->op, 0), &trip, why);
    row.src = ends[0];
    row.dst = ends[1];
    if (status == KB_OK && to.tile.n > 1 && !split_begin(s))
        status = KB_NO_MEMORY;
    if (status == KB_OK && s->splits)
        status = destination_parts(s, &row, &to, why);
    if (status != KB_OK)
        return status;
    in_parts =
        s->splits && (to.splits || s->parts.rows[0].blocks || s->parts.rows[0].dst != ends[1]);
    *job = (struct job){.op = p->op,
                        .src = ends[0],
                        .dst = ends[1],
                        .n = p->inflight,
                        .nbytes = p->nbytes,
                        .trip = trip,
                        .differ = in_parts || s->topo->plane_choice == PLANE_BY_HASH ||
                                  s->topo->paths > 1 || s->topo->impls,
                        .to = to};
    if (!job->differ)
        job->cost = cost_alone(s->idle, s->topo, &s->mask, p->op, &trip, p->nbytes, to.offset);
    return idle_has_lost(s->idle) ? KB_NO_MEMORY : KB_OK;
}

/* -- one point ------------------------------------------------------------------------------ */

/* The copies are split, one by one. */
static kb_status split_copies(struct kb_sim *s, const struct job *job, kb_error *why)
{
    const struct bytes_at bytes = destination_bytes(&job->to);

    for (uint32_t i = 0; i < job->n; i++) {
        split_none(s, i);
        split_place(s, i, job->to.offset);
        if (!job->to.splits && topology_has_l2(s->topo)) {
            if (split_cut(s, &s->txns[i], &bytes) != KB_OK)
                return KB_NO_MEMORY;
            split_place_cut(s, i);
        }
        if (job->to.splits && !split_later(s, i, &bytes))
            return KB_NO_MEMORY;
    }
    return split_all(s, 0, job->n, why);
}

static kb_status fill(struct kb_sim *s, const struct job *job, kb_error *why)
{
    if (!sim_room(s, job->n))
        return KB_NO_MEMORY;
    for (uint32_t i = 0; i < job->n; i++) {
        s->txns[i] = (struct txn){
            .nbytes = job->nbytes & TXN_MAX_BYTES,
            .op = job->op,
            .stage = TXN_WAITING,
            .course = endpoint_course(s->topo, job->op, job->src, job->dst, i, 0) & 63u,
            .chiplet = job->trip.chiplet & 3u,
            .src = job->src,
            .dst = job->dst,
            .id = i,
            .next = TXN_NONE};
        banks_place(s, i, job->to.offset);
        caches_place(s, i, job->to.offset);
        instance_place(&s->instances, i, job->to.offset);
    }
    s->n_txns = job->n;
    s->ways = txn_way(s->txns);
    return s->splits ? split_copies(s, job, why) : KB_OK;
}

/* Copies go the same ways, but that with planes by hash the next id has the next plane, and in a
 * net each the way that its id says. */
static uint32_t n_different(const struct kb_sim *s, const struct job *job)
{
    uint32_t planes = s->topo->plane_choice == PLANE_BY_HASH ? s->topo->planes : 1;

    if (s->topo->paths > 1)
        return job->n;

    return job->n < planes ? job->n : planes;
}

/* Takes the copies of `job`, which have all ended, out again. */
static void clear(struct kb_sim *s, const struct job *job)
{
    for (uint32_t i = 0; i < n_different(s, job); i++)
        again_clear(s, i);
    again_rewind(s);
}

static int64_t mean(wait_sum sum, uint64_t n)
{
    return sum < 0 ? -mean(-sum, n) : (int64_t)((sum + n / 2) / n);
}

/* The columns that are the same for all copies. */
static void set_costs(kb_point_result *r, const struct kb_cost *c)
{
    r->wire_fs = c->wire_fs;
    r->overhead_fs = c->overhead_fs;
    r->drain_fs = c->drain_fs;
    r->response_fs = c->response_fs;
    r->return_fs = c->return_fs;
}

static double gbs(const struct job *job, int64_t makespan_fs)
{
    return (double)job->n * (double)job->nbytes * 1e6 / (double)makespan_fs;
}

/* A copy that is alone waits for nothing. */
static void answer_alone(const struct job *job, kb_point_result *r)
{
    int64_t fs = kb_formula_fs(&job->cost);

    *r = (kb_point_result){.count = 1,
                           .mean_fs = fs,
                           .p50_fs = fs,
                           .p99_fs = fs,
                           .max_fs = fs,
                           .makespan_fs = fs,
                           .gbs = gbs(job, fs)};
    set_costs(r, &job->cost);
}

/* Terms of latency that differ from copy to copy, summed; costs: of copies that are split. */
struct waits {
    wait_sum actual, first, link, memory, overhead;
    wait_sum wire, drain, response, back;
};

/* Adds a copy that has ended as `txn`; false if its terms contradict each other. */
static inline bool add_copy(const struct kb_sim *s, const struct txn *txn, const struct kb_cost *c,
                            int64_t *actual_fs, struct waits *w)
{
    int64_t way_fs = c->wire_fs + c->overhead_fs - c->memory_overhead_fs;
    int64_t link = txn->arrive_fs - txn->wait_fs - way_fs;
    int64_t service_fs = queued_service_fs(s, txn, c);
    int64_t memory = service_fs - txn->arrive_fs;

    *actual_fs = service_fs + c->memory_overhead_fs + c->drain_fs + c->response_fs;
    w->overhead += c->overhead_fs;
    if (s->router) {
        *actual_fs = (int64_t)s->router->flights[txn - s->txns].done_fs + c->response_fs;
        link = *actual_fs - kb_formula_fs(c) - txn->wait_fs - memory;
    }
    if (s->router && txn_queues(s, txn)) {
        struct waits_behind waits = waits_behind(link, memory);

        link = waits.link_fs;
        memory = waits.memory_fs;
        w->overhead += waits.gain_fs;
    }
    w->actual += *actual_fs;
    w->first += txn->wait_fs;
    w->link += link;
    w->memory += memory;
    return txn->wait_fs >= 0 && ((s->chooses && !s->router) || memory >= 0) && link >= 0 &&
           (link == 0 || s->links || s->router);
}

/* The same of a copy with a cost of its own; if it is split, that of the part that ended last. */
static bool add_own(const struct kb_sim *s, uint32_t slot, int64_t *actual_fs, struct waits *w)
{
    const struct txn *last = split_last(s, slot);
    struct kb_cost c = sim_cost(s, last);

    w->wire += c.wire_fs;
    w->drain += c.drain_fs;
    w->response += c.response_fs;
    w->back += c.return_fs;
    return add_copy(s, last, &c, actual_fs, w);
}

/* Adds up the copies, each of which has ended; false if one's terms contradict each other. */
static bool add_up(const struct kb_sim *s, const struct job *job, int64_t *actual_fs,
                   struct waits *w)
{
    bool ok = true;

    for (uint32_t i = 0; i < job->n; i++)
        ok &= job->differ ? add_own(s, i, &actual_fs[i], w)
                          : add_copy(s, &s->txns[i], &job->cost, &actual_fs[i], w);
    return ok;
}

/* The mean costs of copies that differ. */
static struct kb_cost mean_cost(const struct job *job, const struct waits *w)
{
    return (struct kb_cost){.wire_fs = mean(w->wire, job->n),
                            .overhead_fs = mean(w->overhead, job->n),
                            .drain_fs = mean(w->drain, job->n),
                            .response_fs = mean(w->response, job->n),
                            .return_fs = mean(w->back, job->n)};
}

static void answer(const struct job *job, int64_t *actual_fs, const struct waits *w,
                   int64_t makespan_fs, kb_point_result *r)
{
    percentile_sort(actual_fs, job->n);
    *r = (kb_point_result){
        .count = job->n,
        .mean_fs = mean(w->actual, job->n),
        .p50_fs = actual_fs[percentile_rank(job->n, 500)],
        .p99_fs = actual_fs[percentile_rank(job->n, 990)],
        .max_fs = actual_fs[job->n - 1],
        .makespan_fs = makespan_fs,
        .gbs = gbs(job, makespan_fs),
        .wait_fs[KB_WAIT_CHANNEL] = of_host(job) ? 0 : mean(w->first, job->n),
        .wait_fs[KB_WAIT_ENGINE] = of_host(job) ? mean(w->first, job->n) : 0,
        .wait_fs[KB_WAIT_LINK] = mean(w->link, job->n),
        .wait_fs[KB_WAIT_MEMORY] = mean(w->memory, job->n),
    };
    if (job->differ)
        set_costs(r, &(struct kb_cost[]){mean_cost(job, w)}[0]);
    else
        set_costs(r, &job->cost);
    r->overhead_fs = mean(w->overhead, job->n);
}

static bool room_for(struct scratch *room, size_t n)
{
    int64_t *more;

    if (n <= room->cap)
        return true;
    more = realloc(room->actual_fs, n * sizeof *more);
    if (!more)
        return false;
    room->actual_fs = more;
    room->cap = n;
    return true;
}

/* Between two looks at whether it is to stop: some tenths of a second of the slowest engine. */
enum { PIECE_EVENTS = 1 << 18 };

/* Asked whether to stop; stops NULL: it is not. */
struct asker {
    bool (*stops)(void *arg);
    void *arg;
};

/* KB_STOPPED: it was asked to, and the simulation has its point half done. */
static kb_status run_until(struct kb_sim *s, const struct asker *asked)
{
    kb_status status;

    do
        status = engine_run(s, asked->stops ? PIECE_EVENTS : UINT64_MAX);
    while (status == KB_AGAIN && !asked->stops(asked->arg));
    if (status == KB_AGAIN)
        status = s->status = KB_STOPPED;
    return status;
}

static kb_status run_job(struct kb_sim *s, const struct job *job, const struct asker *asked,
                         struct scratch *room, kb_point_result *r, kb_error *why)
{
    struct waits waits = {0};
    kb_status status = room_for(room, job->n) ? fill(s, job, why) : KB_NO_MEMORY;
    bool adds_up;

    stations_make_all(s);
    OBSERVE(s, begin);
    if (status == KB_OK)
        status = run_until(s, asked);
    if (status != KB_OK)
        return status == KB_STOPPED ? status : sim_explain(s, status, why);
    adds_up = s->n_done == job->n && add_up(s, job, room->actual_fs, &waits);
    if (idle_has_lost(s->idle))
        return sim_explain(s, KB_NO_MEMORY, why);
    if (!adds_up) {
        endpoint_error(why, "a latency is not the sum of its terms");
        return KB_INTERNAL;
    }
    answer(job, room->actual_fs, &waits, s->end_fs, r);
    clear(s, job);
    return KB_OK;
}

/* Is one copy, of which nothing has to run, as nothing is to be told? */
static bool is_formula(const struct kb_sim *s, const struct job *job)
{
    return job->n == 1 && !job->differ && !s->router && !s->observer &&
           s->options.engine == KB_FUSED;
}

/* Points in work. */
struct sweeping {
    struct kb_sim *s;
    const kb_point *points;
    size_t n, n_run; /* complete ones */
    kb_point_result *results;
    struct asker asked;
    struct scratch room;
    kb_error *why;
    kb_status status;
};

static void run_points(void *arg)
{
    struct sweeping *w = arg;

    while (w->status == KB_OK && w->n_run < w->n) {
        kb_point_result *result = &w->results[w->n_run];
        struct job job;

        w->status = make_job(w->s, &w->points[w->n_run], &job, w->why);
        if (w->status == KB_OK && is_formula(w->s, &job))
            answer_alone(&job, result);
        else if (w->status == KB_OK)
            w->status = run_job(w->s, &job, &w->asked, &w->room, result, w->why);
        w->n_run += w->status == KB_OK;
    }
}

kb_status kb_sweep(kb_sim *s, const kb_point *points, size_t n, kb_point_result *results,
                   size_t *n_run, kb_error *why)
{
    return kb_sweep_until(s, points, n, NULL, NULL, results, n_run, why);
}

kb_status kb_sweep_until(kb_sim *s, const kb_point *points, size_t n, bool (*stops)(void *arg),
                         void *arg, kb_point_result *results, size_t *n_run, kb_error *why)
{
    REFUSE_NULL(s && points && results, "sim, points, results", why);
    struct sweeping w = {.s = s,
                         .points = points,
                         .n = n,
                         .results = results,
                         .asked = {stops, arg},
                         .why = why,
                         .status = check_sim(s, why)};
    bool ended = w.status != KB_OK || sim_guarded(s, run_points, &w, why);

    if (n_run)
        *n_run = w.n_run;
    if (!ended) /* a component crashed: what it held is lost */
        return s->status;
    free(w.room.actual_fs);
    inorder_free(s); /* kernels may run next, in another loop */
    s->inorder = NULL;
    return w.status;
}
