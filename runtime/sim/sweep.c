/* sweep.c -- points of a sweep: each runs on an idle machine, and leaves it idle again.
 *
 * A sweep has millions of points, most of one copy. Three things make them cheap:
 *
 *   - A copy that is alone waits for nothing, so its latency is the formula: no run at all.
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
#include "machine/endpoint.h"
#include "base/percentiles.h"
#include "engine/engine.h"
#include "sim/sim.h"
#include "machine/walk.h"

/* A point as the engines take it, and the cost of one copy without contention. */
struct job {
    kb_transaction_op op;
    uint32_t src, dst, n;
    uint64_t nbytes;
    struct kb_cost cost;
    struct trip trip;
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

static uint32_t writes(const struct job *job)
{
    return job->op == KB_WRITE || job->op == KB_H2D;
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

static kb_status make_job(const struct kb_sim *s, const kb_point *p, struct job *job, kb_error *why)
{
    uint32_t ends[2];
    struct trip trip;
    kb_status status = endpoint_pack_route(s->topo, p->op, &p->src, &p->dst, ends, why);

    if (status != KB_OK)
        return status;
    if (p->dst.kind == KB_TCM)
        return endpoint_error(why, "a TCM is reached by kernels only");
    if (p->nbytes == 0 || p->nbytes > kb_memory_bytes(s->topo, &p->dst))
        return endpoint_error(why, "%llu bytes are none, or more than the target holds",
                              (unsigned long long)p->nbytes);
    if (p->inflight == 0 || p->inflight >= EV_MAX_SLOTS - 1)
        return endpoint_error(why, "%u transactions at once are none, or too many", p->inflight);
    status =
        endpoint_trip(s->topo, p->op, &p->src, ends, endpoint_plane(s->topo, p->op, 0), &trip, why);
    if (status != KB_OK)
        return status;
    *job = (struct job){p->op,       ends[0],   ends[1],
                        p->inflight, p->nbytes, cost_of(s->topo, &s->mask, p->op, &trip, p->nbytes),
                        trip};
    return KB_OK;
}

/* -- one point ------------------------------------------------------------------------------ */

static bool fill(struct kb_sim *s, const struct job *job)
{
    if (!sim_room(s, job->n))
        return false;
    for (uint32_t i = 0; i < job->n; i++)
        s->txns[i] = (struct txn){.nbytes = job->nbytes & TXN_MAX_BYTES,
                                  .op = job->op,
                                  .stage = TXN_WAITING,
                                  .plane = job->trip.plane & 7u,
                                  .chiplet = job->trip.chiplet & 3u,
                                  .src = job->src,
                                  .dst = job->dst,
                                  .id = i,
                                  .next = TXN_NONE};
    s->n_txns = job->n;
    s->ways = (uint8_t)(1u << writes(job));
    return true;
}

/* Links with a queue that the route of `job` may have taken. */
static void clear_links(struct kb_sim *s, const struct job *job)
{
    const struct kb_topology *t = s->topo;
    struct route_at at = walk_begin(t, &job->trip);

    for (;;) {
        const struct segment_row *seg = walk_segment(t, at);

        for (uint32_t i = 0; i < seg->n_legs; i++) {
            const struct leg_row *leg = &t->legs[seg->first_leg + i];
            struct walk_edge edge = {leg->owner, leg->back, leg->link};

            if (leg->owner != LINK_NONE)
                link_clear(&s->links[walk_link(t, edge, at.cube, &job->trip) ^ !writes(job)]);
        }
        if (seg->exit == N_EXITS)
            return;
        at = walk_next(t, &job->trip, at);
    }
}

static void clear_station(struct station *st)
{
    *st = (struct station){
        .queue.head = TXN_NONE, .holder = TXN_NONE, .idle = st->idle /* as many as ever */};
}

/* Takes the copies of `job`, which have all ended, out again. */
static void clear(struct kb_sim *s, const struct job *job)
{
    struct memory_station *memory = &s->memories[job->dst];

    s->n_txns = s->next_row = s->n_done = 0;
    s->started = false;
    s->end_fs = 0;
    s->now_fs = 0;
    ev_queue_rewind(&s->queue);
    *memory = (struct memory_station){.head = TXN_NONE, .holder = TXN_NONE};
    memory->arrived = &memory->head;
    if (s->early)
        link_clear(&s->early[job->dst]);
    clear_station(of_host(job) ? &s->engines[2 * dst_cube(s->topo, job->dst) + writes(job)]
                               : &s->channels[2 * (size_t)job->src + writes(job)]);
    if (s->links)
        clear_links(s, job);
}

static int64_t mean(wait_sum sum, uint64_t n)
{
    return (int64_t)((sum + n / 2) / n);
}

/* The columns that are the same for all copies. */
static void set_costs(kb_point_result *r, const struct kb_cost *c)
{
    r->wire_fs = c->wire_fs;
    r->overhead_fs = c->overhead_fs;
    r->drain_fs = c->drain_fs;
    r->response_fs = c->response_fs;
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

/* Terms of latency that differ from copy to copy, summed. */
struct waits {
    wait_sum actual, first, link, memory;
};

/* Adds up the copies, each of which has ended; false if one's terms contradict each other. */
static bool add_up(const struct kb_sim *s, const struct job *job, int64_t *actual_fs,
                   struct waits *w)
{
    const struct kb_cost *c = &job->cost;
    int64_t way_fs = c->wire_fs + c->overhead_fs - c->memory_overhead_fs;
    int64_t after_fs = c->memory_overhead_fs + c->drain_fs + c->response_fs;

    for (uint32_t i = 0; i < job->n; i++) {
        const struct txn *txn = &s->txns[i];
        int64_t link = txn->arrive_fs - txn->wait_fs - way_fs,
                memory = txn->service_fs - txn->arrive_fs;

        if (txn->wait_fs < 0 || link < 0 || memory < 0 || (link > 0 && !s->links))
            return false;
        actual_fs[i] = txn->service_fs + after_fs;
        w->actual += actual_fs[i];
        w->first += txn->wait_fs;
        w->link += link;
        w->memory += memory;
    }
    return true;
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
    set_costs(r, &job->cost);
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

static kb_status run_job(struct kb_sim *s, const struct job *job, struct scratch *room,
                         kb_point_result *r, kb_error *why)
{
    struct waits waits = {0};
    kb_status status;

    if (!room_for(room, job->n) || !fill(s, job))
        return KB_NO_MEMORY;
    status = sim_explain(s, engine_run(s, UINT64_MAX), why);
    if (status != KB_OK)
        return status;
    if (s->n_done != job->n || !add_up(s, job, room->actual_fs, &waits)) {
        endpoint_error(why, "a latency is not the sum of its terms");
        return KB_INTERNAL;
    }
    answer(job, room->actual_fs, &waits, s->end_fs, r);
    clear(s, job);
    return KB_OK;
}

kb_status kb_sweep(kb_sim *s, const kb_point *points, size_t n, kb_point_result *results,
                   size_t *n_run, kb_error *why)
{
    REFUSE_NULL(s && points && results, "sim, points, results", why);
    struct scratch room = {0};
    kb_status status = check_sim(s, why);
    size_t i;

    for (i = 0; status == KB_OK && i < n; i++) {
        struct job job;

        status = make_job(s, &points[i], &job, why);
        if (status == KB_OK && job.n == 1 && s->options.engine == KB_FUSED)
            answer_alone(&job, &results[i]);
        else if (status == KB_OK)
            status = run_job(s, &job, &room, &results[i], why);
    }
    free(room.actual_fs);
    if (n_run)
        *n_run = status == KB_OK ? i : i ? i - 1 : 0;
    return status;
}
