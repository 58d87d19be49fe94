/*
 * many.c -- what many latencies cost: points of a sweep, and traffic beside the same transactions
 * replayed without text (kb_sim_add, kb_sim_run, kb_sim_result).
 *
 * In processor time; two threads against one in wall time.
 *
 * usage: many ROUNDS; samples go to stdout (bench.h), what is wrong to stderr.
 */
#include "bench.h"
#include "cube8.h"
#include "engine/traffic.h"
#include <pthread.h>
#include <stdlib.h>

enum { POINTS = 1000000, SHARED_POINTS = 400000, TXNS = 1000000, BYTES = 4096 };

static void must(kb_status status, const kb_error *why)
{
    if (status == KB_OK)
        return;
    fprintf(stderr, "many: status %d: %s\n", (int)status, why->text);
    exit(1);
}

static kb_sim *new_sim(void)
{
    kb_sim *sim;

    must(kb_sim_new(&cube8_topology, NULL, &sim), &(kb_error){"no simulation"});
    return sim;
}

/* -- points --------------------------------------------------------------------------------- */

/* All PEs by all slices, sizes from 64 B to 1 KiB. */
static kb_point point(size_t i, uint32_t inflight)
{
    return (kb_point){.op = KB_READ,
                      .src = {KB_PE, 0, i % 8, i / 8 % 8},
                      .dst = {KB_SLICE, 0, i / 64 % 8, i / 512 % 8},
                      .nbytes = UINT64_C(64) << i / 4096 % 5,
                      .inflight = inflight};
}

/* Points [from, to), by one thread. */
struct share {
    size_t from, to;
    uint32_t inflight;
};

enum { AT_ONCE = 1024 };

static void *run_share(void *arg)
{
    const struct share *share = arg;
    kb_point points[AT_ONCE];
    kb_point_result results[AT_ONCE];
    kb_error why = {""};
    kb_sim *sim = new_sim();

    for (size_t at = share->from; at < share->to; at += AT_ONCE) {
        size_t n = share->to - at < AT_ONCE ? share->to - at : AT_ONCE;

        for (size_t i = 0; i < n; i++)
            points[i] = point(at + i, share->inflight);
        must(kb_sweep(sim, points, n, results, NULL, &why), &why);
    }
    kb_sim_free(sim);
    return NULL;
}

static double points_ns(size_t n, uint32_t inflight)
{
    struct share share = {0, n, inflight};
    double begin = bench_processor_ns();

    run_share(&share);
    return (bench_processor_ns() - begin) / (double)n;
}

/* Wall time of `threads` threads, which share the points. */
static double shared_ns(size_t n, uint32_t inflight, size_t threads)
{
    struct share share[2];
    pthread_t thread[2];
    double begin = bench_wall_ns();

    for (size_t i = 0; i < threads; i++) {
        share[i] = (struct share){n * i / threads, n * (i + 1) / threads, inflight};
        pthread_create(&thread[i], NULL, run_share, &share[i]);
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return bench_wall_ns() - begin;
}

static void measure_points(int round)
{
    static const uint32_t inflight[] = {1, 2, 16, 256};

    for (size_t i = 0; i < sizeof inflight / sizeof *inflight; i++) {
        char name[32];

        snprintf(name, sizeof name, "inflight %u", inflight[i]);
        bench_sample("point", name, "ns", round, points_ns(POINTS / inflight[i], inflight[i]));
    }
    for (size_t threads = 1; threads <= 2; threads++)
        bench_sample("shared", threads == 1 ? "1" : "2", "ms", round,
                     shared_ns(SHARED_POINTS, 64, threads) / 1e6);
}

/* -- traffic -------------------------------------------------------------------------------- */

static double load_ns(const kb_traffic *traffic, kb_traffic_result *result)
{
    kb_error why = {""};
    double begin = bench_processor_ns(), ns;
    kb_sim *sim = new_sim();

    must(kb_sim_traffic(sim, traffic, &why), &why);
    must(kb_sim_run(sim, 0, &why), &why);
    must(kb_sim_traffic_result(&sim, 1, result), &why);
    ns = (bench_processor_ns() - begin) / (double)result->issued;
    kb_sim_free(sim);
    return ns;
}

/* Transactions that `traffic` issues, in the order of their ids. */
static size_t draw_all(const kb_traffic *traffic, kb_transaction *requests)
{
    kb_sim *sim = new_sim();
    kb_error why = {""};
    size_t n = 0;
    bool more = true;

    must(kb_sim_traffic(sim, traffic, &why), &why);
    while (more) {
        more = false;
        for (uint32_t pe = 0; pe < sim->traffic->n_pes; pe++) {
            const struct source *src = &sim->traffic->sources[pe];

            if (src->next_fs >= sim->traffic->horizon_fs)
                continue;
            requests[n++] =
                (kb_transaction){.issue_fs = src->next_fs,
                                 .op = traffic->op,
                                 .src = {KB_PE, 0, pe / 8, pe % 8},
                                 .dst = {KB_SLICE, 0, dst_cube(sim->topo, src->next_dst),
                                         dst_unit(sim->topo, src->next_dst)},
                                 .nbytes = traffic->nbytes};
            more |= traffic_draw(sim->traffic, pe);
        }
    }
    kb_sim_free(sim);
    return n;
}

static int by_time(const void *a, const void *b)
{
    const kb_transaction *x = a, *y = b;

    return (x->issue_fs > y->issue_fs) - (x->issue_fs < y->issue_fs);
}

static double replay_ns(const kb_transaction *requests, size_t n, int64_t *sum_fs)
{
    kb_error why = {""};
    double begin = bench_processor_ns(), ns;
    kb_sim *sim = new_sim();
    kb_result r;

    for (size_t i = 0; i < n; i++)
        must(kb_sim_add(sim, &requests[i], &why), &why);
    must(kb_sim_run(sim, 0, &why), &why);
    *sum_fs = 0;
    for (size_t i = 0; i < n; i++) {
        must(kb_sim_result(sim, i, &r), &why);
        *sum_fs += r.actual_fs;
    }
    ns = (bench_processor_ns() - begin) / (double)n;
    kb_sim_free(sim);
    return ns;
}

static void measure_traffic(const char *name, kb_pattern pattern, double rate, int round)
{
    kb_traffic traffic = {
        .pattern = pattern, .nbytes = BYTES, .rate = rate, .txns = TXNS, .seed = 1};
    kb_transaction *requests = malloc((TXNS + TXNS / 10) * sizeof *requests);
    kb_traffic_result result;
    size_t n = draw_all(&traffic, requests);
    int64_t sum_fs;
    char text[64];

    snprintf(text, sizeof text, "%s load", name);
    bench_sample("traffic", text, "ns", round, load_ns(&traffic, &result));
    qsort(requests, n, sizeof *requests, by_time); /* as most files have them */
    snprintf(text, sizeof text, "%s replay", name);
    bench_sample("traffic", text, "ns", round, replay_ns(requests, n, &sum_fs));
    if (result.issued != n ||
        (result.warmup_fs == 0 && result.mean_fs != (sum_fs + (int64_t)n / 2) / (int64_t)n)) {
        fprintf(stderr, "many: %s: load and replay differ\n", name);
        exit(1);
    }
    free(requests);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;

    for (int round = 1; round <= rounds; round++) {
        measure_points(round);
        measure_traffic("local 0.5", KB_LOCAL, 0.5, round);
        measure_traffic("uniform 0.1", KB_UNIFORM, 0.1, round);
        measure_traffic("uniform 0.2", KB_UNIFORM, 0.2, round);
        measure_traffic("uniform 0.5", KB_UNIFORM, 0.5, round);
    }
    return 0;
}
