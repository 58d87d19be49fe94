/* test_traffic.c -- open-loop traffic: its destinations, what it meets, and how that is counted. */
#include "support/any_topology.h"
#include "support/rig.h"
#include "base/packed.h"
#include "base/percentiles.h"
#include "engine/traffic.h"

#include <math.h>

#include "cube8.h"
#include "tray32.h"

#define SMALL(links, more)                                                                         \
    "kernbench: 1\nname: small\ncontention: {links: " links "}\n"                                  \
    "sip: {cube_mesh: {w: 2, h: 2}}\ncube: {pes: 4" more "}\n"

static const kb_traffic plain = {.pattern = KB_UNIFORM, .nbytes = 4096, .rate = 0.1, .txns = 20000};

static kb_sim *with_traffic(const kb_topology *topo, const kb_traffic *traffic)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};

    if (kb_sim_traffic(sim, traffic, &why) != KB_OK)
        fail_msg("%s", why.text);
    return sim;
}

static kb_traffic_result traffic_result(kb_sim *sim)
{
    kb_traffic_result r;

    run_all(sim);
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_OK);
    return r;
}

static kb_traffic_result measured(const kb_topology *topo, const kb_traffic *traffic)
{
    kb_sim *sim = with_traffic(topo, traffic);
    kb_traffic_result r = traffic_result(sim);

    kb_sim_free(sim);
    return r;
}

/* -- its destinations ------------------------------------------------------------------------ */

/* Number of a slice over all SIPs and cubes, as PEs are numbered. */
static uint32_t slice_number(const kb_sim *sim, uint32_t dst)
{
    return dst_cube(sim->topo, dst) * sim->topo->pes + dst_unit(sim->topo, dst);
}

/* The definitions, on paper: BookSim's traffic.cpp. */
static uint32_t on_paper(kb_pattern pattern, uint32_t i, uint32_t n)
{
    uint32_t to = 0, side = 0;

    switch (pattern) {
    case KB_LOCAL:
        return i;
    case KB_NEIGHBOR:
        return i == n - 1 ? 0 : i + 1;
    case KB_TRANSPOSE:
        while (side * side < n)
            side++;
        for (uint32_t row = 0; row < side; row++)
            for (uint32_t column = 0; column < side; column++)
                if (row * side + column == i)
                    to = column * side + row;
        return to;
    case KB_BITCOMP:
        for (uint32_t bit = 1; bit < n; bit *= 2)
            to += i / bit % 2 ? 0 : bit;
        return to;
    default:
        return UINT32_MAX;
    }
}

static void each_pattern_reaches_whom_it_says(void **state)
{
    static const kb_pattern patterns[] = {KB_LOCAL, KB_NEIGHBOR, KB_TRANSPOSE, KB_BITCOMP};
    const kb_topology *small = any_topology(SMALL("ideal", "")); /* 16 PEs */
    const kb_topology *topologies[] = {&cube8_topology, small};  /* 64 PEs */

    (void)state;
    for (size_t t = 0; t < LENGTH(topologies); t++)
        for (size_t p = 0; p < LENGTH(patterns); p++) {
            kb_traffic traffic = plain;
            kb_sim *sim;

            traffic.pattern = patterns[p];
            sim = with_traffic(topologies[t], &traffic);
            for (uint32_t pe = 0; pe < sim->traffic->n_pes; pe++)
                for (int i = 0; i < 10; i++) {
                    uint32_t to = slice_number(sim, sim->traffic->sources[pe].next_dst);

                    assert_int_equal(to, on_paper(patterns[p], pe, sim->traffic->n_pes));
                    assert_true(traffic_draw(sim->traffic, pe));
                }
            kb_sim_free(sim);
        }
    any_topology_free(small);
}

/* How often each slice is drawn by one PE. */
static void count_draws(const kb_traffic *traffic, uint32_t pe, uint32_t n, uint32_t *count)
{
    kb_traffic long_one = *traffic;
    kb_sim *sim;

    long_one.txns = 100000000;
    sim = with_traffic(&cube8_topology, &long_one);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(traffic_draw(sim->traffic, pe));
        count[slice_number(sim, sim->traffic->sources[pe].next_dst)]++;
    }
    kb_sim_free(sim);
}

/* `got` of `n` draws of probability `p`: within five standard deviations. */
static void assert_share(uint32_t got, double p, double n)
{
    assert_true(fabs(got - p * n) < 5 * sqrt(n * p * (1 - p)) + 1e-9);
}

static void uniform_reaches_all_alike(void **state)
{
    uint32_t count[64] = {0};

    (void)state;
    count_draws(&plain, 5, 640000, count);
    for (uint32_t i = 0; i < 64; i++)
        assert_share(count[i], 1.0 / 64, 640000);
}

static void a_hot_spot_gets_its_share_and_the_rest_is_uniform(void **state)
{
    kb_traffic traffic = plain;
    uint32_t count[64] = {0};

    (void)state;
    traffic.pattern = KB_HOTSPOT;
    traffic.hotspot = 0.25;
    count_draws(&traffic, 40, 640000, count);
    assert_share(count[0], 0.25 + 0.75 / 64, 640000);
    for (uint32_t i = 1; i < 64; i++)
        assert_share(count[i], 0.75 / 64, 640000);
}

static void a_matrix_shares_out_by_weight(void **state)
{
    static const kb_matrix_row rows[] = {{3, 7, 1}, {9, 0, 4}, {3, 60, 5}, {3, 8, 2}, {9, 1, 4}};
    kb_traffic traffic = plain;
    uint32_t count[64] = {0};
    kb_traffic_result r;
    kb_sim *sim;

    (void)state;
    traffic.pattern = KB_MATRIX;
    traffic.matrix = rows;
    traffic.n_matrix = LENGTH(rows);
    count_draws(&traffic, 3, 100000, count);
    assert_share(count[7], 1.0 / 8, 100000);
    assert_share(count[60], 5.0 / 8, 100000);
    assert_share(count[8], 2.0 / 8, 100000);
    /* PEs 3 and 9 issue alike, the others not at all: 0.1 of 256 GB/s each */
    sim = with_traffic(&cube8_topology, &traffic);
    r = traffic_result(sim);
    assert_true(fabs(r.offered_gbs - 2 * 25.6) < 2);
    for (uint32_t pe = 0; pe < 64; pe++)
        assert_true((sim->traffic->sources[pe].n > 0) == (pe == 3 || pe == 9));
    kb_sim_free(sim);
}

/* -- when ----------------------------------------------------------------------------------- */

/* Exponential intervals: mean m, variance m^2, and a share of e^-1 above the mean. */
static void poisson_intervals_are_exponential(void **state)
{
    enum { N = 1000000 };
    kb_traffic traffic = plain;
    double sum = 0, squares = 0, mean_fs;
    uint32_t above = 0;
    kb_sim *sim;

    (void)state;
    traffic.txns = UINT64_C(3000000000);
    sim = with_traffic(&cube8_topology, &traffic);
    mean_fs = 4096.0 / 25.6 * 1e6;
    for (int i = 0; i < N; i++) {
        int64_t before = sim->traffic->sources[9].next_fs;
        double x;

        assert_true(traffic_draw(sim->traffic, 9));
        x = (double)(sim->traffic->sources[9].next_fs - before) / mean_fs;
        sum += x;
        squares += x * x;
        above += x > 1;
    }
    assert_true(fabs(sum / N - 1) < 5 / sqrt(N));
    assert_true(fabs(squares / N - 2) < 5 * sqrt(20.0 / N)); /* var x^2 = 24 - 4 */
    assert_share(above, exp(-1), N);
    kb_sim_free(sim);
}

/* The logarithm is our own: that of the C library, as far as a double tells. */
static void poisson_intervals_are_logarithms(void **state)
{
    kb_traffic traffic = plain;
    kb_sim *sim;

    (void)state;
    traffic.txns = 100000000;
    traffic.rate = 1e-3; /* long intervals: many digits */
    sim = with_traffic(&cube8_topology, &traffic);
    for (int i = 0; i < 100000; i++) {
        struct source *src = &sim->traffic->sources[3];
        struct rng rng = src->rng;
        double before = (double)src->next_fs + src->rest_fs, want, got;

        want = -log(rng_unit(&rng)) * src->mean_fs;
        assert_true(traffic_draw(sim->traffic, 3));
        got = (double)src->next_fs + src->rest_fs - before;
        assert_true(fabs(got - want) <= 1e-12 * want + 1e-15 * before + 1);
    }
    kb_sim_free(sim);
}

/* Every 160 ns; PE i of 64 begins at i/64 of that. */
static void fixed_intervals_are_equal_and_shifted(void **state)
{
    kb_traffic traffic = plain;
    kb_sim *sim;

    (void)state;
    traffic.fixed = true;
    sim = with_traffic(&cube8_topology, &traffic);
    for (uint32_t pe = 0; pe < 64; pe++)
        for (int i = 0; i < 5; i++) {
            assert_true(sim->traffic->sources[pe].next_fs == 160000000LL * i + 2500000LL * pe);
            assert_true(traffic_draw(sim->traffic, pe));
        }
    kb_sim_free(sim);
}

/* As many as asked for, also where the next would be due when the time is over. */
static void fixed_intervals_give_the_number_asked_for(void **state)
{
    static const uint64_t txns[] = {1, 63, 64, 65, 100, 640, 20000, 99999};
    static const double rates[] = {0.1, 0.5, 0.3, 1, 0.7};

    (void)state;
    for (size_t i = 0; i < LENGTH(txns); i++)
        for (size_t k = 0; k < LENGTH(rates); k++) {
            kb_traffic traffic = plain;

            traffic.pattern = KB_LOCAL;
            traffic.fixed = true;
            traffic.txns = txns[i];
            traffic.rate = rates[k];
            assert_int_equal(measured(&cube8_topology, &traffic).issued, txns[i]);
        }
}

/* Intervals below 1 fs: what is left of each counts, so the number stays what was asked for. */
static void parts_of_a_femtosecond_add_up(void **state)
{
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        kb_traffic traffic = plain;
        kb_sim *sim;

        traffic.pattern = KB_LOCAL;
        traffic.nbytes = 1;
        traffic.rate = 1e5; /* a transaction of a PE every 0.039 fs */
        traffic.txns = 640000;
        traffic.fixed = fixed;
        sim = with_traffic(&cube8_topology, &traffic);
        for (uint32_t pe = 0; pe < 64; pe++)
            while (traffic_draw(sim->traffic, pe))
                assert_true(sim->traffic->sources[pe].n < 20000);
        for (uint32_t pe = 0; pe < 64; pe++)
            assert_true(fabs(sim->traffic->sources[pe].n - 10000.0) < 500);
        kb_sim_free(sim);
    }
}

static void the_same_seed_gives_the_same_and_another_does_not(void **state)
{
    kb_traffic traffic = plain;
    kb_traffic_result a = measured(&cube8_topology, &traffic), b;

    (void)state;
    b = measured(&cube8_topology, &traffic);
    assert_memory_equal(&a, &b, sizeof a);
    traffic.seed = 1;
    b = measured(&cube8_topology, &traffic);
    assert_true(a.mean_fs != b.mean_fs);
}

/* -- what it meets -------------------------------------------------------------------------- */

/* What a replay of the same transactions meets: all of them, none cut off. */
struct replayed {
    int64_t *actual_fs; /* sorted */
    uint64_t n;
    int64_t sum_fs, channel_fs, link_fs, memory_fs, overhead_fs, drain_fs, wire_fs;
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* A PE's number as an endpoint. */
static kb_endpoint pe_at(const kb_topology *topo, uint32_t pe, kb_endpoint_kind kind)
{
    kb_info info;

    kb_topology_info(topo, &info);
    uint32_t cube = pe / info.pes_per_cube;
    return (kb_endpoint){kind, cube / info.cubes_per_sip, cube % info.cubes_per_sip,
                         pe % info.pes_per_cube};
}

/*
 * Where transaction `k` of a source of a PE of small, 12 GiB of addresses for each, goes to:
 * docs/model.md "Traffic". The last of two sources writes.
 */
static uint64_t walked_to(const kb_traffic *traffic, uint32_t kinds, uint32_t source, uint32_t k)
{
    uint64_t share = UINT64_C(12) << 30;
    uint64_t step = traffic->pattern == KB_STRIDED ? traffic->stride : traffic->nbytes, at = 0;
    uint64_t steps = (share - traffic->nbytes) / step + 1;
    uint32_t pe = source / kinds;

    if (traffic->pattern == KB_RANDOM) {
        struct rng rng = rng_of_number(traffic->seed, ((uint64_t)source + 1) << 32 | k);

        at = rng_next(&rng) % steps * step;
        k = 0;
    } else if (source % kinds) {
        at = steps / 2 * step;
    }
    while (k-- > 0) {
        at += step;
        if (at + traffic->nbytes > share)
            at = 0;
    }
    return (uint64_t)(pe / 4) << 38 | (pe % 4 * share + at);
}

/* The slices of the PEs behind `pe`, each once: `slices` of a cube are shared by its PEs. */
static uint32_t slices_behind(const kb_topology *topo, const kb_traffic *traffic, uint32_t pe,
                              kb_endpoint *to)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i <= traffic->copies; i++) {
        kb_endpoint slice;
        bool there = false;

        assert_int_equal(kb_pe_slice(topo, (pe + i) % kb_pe_count(topo), &slice), KB_OK);
        for (uint32_t k = 0; k < n; k++)
            there = there || (to[k].cube == slice.cube && to[k].unit == slice.unit);
        if (!there)
            to[n++] = slice;
    }
    return n;
}

/* Adds what `traffic` would issue, in the order of its ids. */
static void add_all(kb_sim *sim, const kb_topology *topo, const kb_traffic *traffic)
{
    kb_sim *drawn = with_traffic(topo, traffic);
    struct traffic *tr = drawn->traffic;
    bool more = true;
    kb_endpoint to[64];

    while (more) {
        more = false;
        for (uint32_t i = 0; i < tr->n_pes * tr->kinds; i++) {
            kb_transaction q = {.issue_fs = tr->sources[i].next_fs,
                                .op = tr->kinds == 2 && i % 2 ? KB_WRITE : traffic->op,
                                .nbytes = traffic->nbytes};

            if (q.issue_fs >= tr->last_fs)
                continue;
            q.src = pe_at(topo, i / tr->kinds, KB_PE);
            q.dst = pe_at(topo, slice_number(drawn, tr->sources[i].next_dst), KB_SLICE);
            q.by_address = traffic_walks(tr);
            if (traffic->pattern == KB_MULTICAST) {
                q.n_targets = slices_behind(topo, traffic, i, to);
                q.targets = to;
                q.dst = to[0];
                q.n_targets = q.n_targets > 1 ? q.n_targets : 0; /* a write as any other */
            }
            if (q.by_address)
                q.address = walked_to(traffic, tr->kinds, i, tr->sources[i].n - 1);
            add(sim, &q);
            traffic_draw(tr, i);
            more = true;
        }
    }
    kb_sim_free(drawn);
}

static struct replayed replay(const kb_topology *topo, unsigned costs_off,
                              const kb_traffic *traffic)
{
    kb_sim *sim = new_sim(topo, (kb_options){.costs_off = costs_off});
    struct replayed all = {0};

    add_all(sim, topo, traffic);
    run_all(sim);
    all.n = kb_sim_count(sim);
    all.actual_fs = malloc(all.n * sizeof *all.actual_fs);
    for (uint64_t i = 0; i < all.n; i++) {
        kb_result r = result_of(sim, i);

        all.actual_fs[i] = r.actual_fs;
        all.sum_fs += r.actual_fs;
        all.channel_fs += r.wait_fs[KB_WAIT_CHANNEL];
        all.link_fs += r.wait_fs[KB_WAIT_LINK];
        all.memory_fs += r.wait_fs[KB_WAIT_MEMORY];
        all.overhead_fs += r.overhead_fs;
        all.drain_fs += r.drain_fs;
        all.wire_fs += r.wire_fs;
    }
    qsort(all.actual_fs, all.n, sizeof *all.actual_fs, ascending);
    kb_sim_free(sim);
    return all;
}

static int64_t mean(int64_t sum, uint64_t n)
{
    return (sum + (int64_t)(n / 2)) / (int64_t)n;
}

/* Sums over all parts, the warm-up too: those of the replay. */
static void assert_same_sums(const struct traffic *tr, const struct replayed *all)
{
    struct part sum = {0};

    for (int p = 0; p < TRAFFIC_PARTS; p++) {
        sum.count += tr->parts[p].count;
        sum.actual += tr->parts[p].actual;
        sum.channel += tr->parts[p].channel;
        sum.link += tr->parts[p].link;
        sum.memory += tr->parts[p].memory;
        sum.overhead += tr->parts[p].overhead;
        sum.wire += tr->parts[p].wire;
        sum.max_fs = tr->parts[p].max_fs > sum.max_fs ? tr->parts[p].max_fs : sum.max_fs;
    }
    assert_true(sum.count == all->n);
    assert_true((int64_t)sum.actual == all->sum_fs);
    assert_true((int64_t)sum.channel == all->channel_fs);
    assert_true((int64_t)sum.link == all->link_fs);
    assert_true((int64_t)sum.memory == all->memory_fs);
    assert_true((int64_t)sum.overhead == all->overhead_fs);
    assert_true((int64_t)sum.wire == all->wire_fs);
    assert_true(sum.max_fs == all->actual_fs[all->n - 1]);
}

/* Where nothing was cut off, the result itself too. */
static void assert_same_result(const kb_traffic_result *r, const struct replayed *all)
{
    assert_true(r->exact && r->count == all->n && r->issued == all->n);
    assert_true(r->mean_fs == mean(all->sum_fs, all->n));
    assert_true(r->drain_fs == mean(all->drain_fs, all->n));
    assert_true(r->wait_fs[KB_WAIT_MEMORY] == mean(all->memory_fs, all->n));
    assert_true(r->p50_fs == all->actual_fs[(all->n + 1) / 2 - 1]);
    assert_true(r->p99_fs == all->actual_fs[(all->n * 99 + 99) / 100 - 1]);
    assert_true(r->p999_fs == all->actual_fs[(all->n * 999 + 999) / 1000 - 1]);
    assert_true(r->max_fs == all->actual_fs[all->n - 1]);
}

/* Returns whether nothing was cut off. */
static bool load_equals_replay(const kb_topology *topo, kb_options options,
                               const kb_traffic *traffic)
{
    kb_sim *sim = new_sim(topo, options);
    struct replayed all = replay(topo, options.costs_off, traffic);
    kb_traffic_result r;
    bool whole;

    assert_int_equal(kb_sim_traffic(sim, traffic, NULL), KB_OK);
    r = traffic_result(sim);
    assert_same_sums(sim->traffic, &all);
    whole = r.warmup_fs == 0;
    if (whole)
        assert_same_result(&r, &all);
    kb_sim_free(sim);
    free(all.actual_fs);
    return whole;
}

/* From idle to far beyond saturation, on machines with ties, several channels, links that queue. */
static void traffic_equals_the_replay_of_its_transactions(void **state)
{
    static const double rates[] = {0.05, 0.3, 0.8, 3};
    const kb_topology *topologies[] = {
        &cube8_topology,
        any_topology(SMALL("ideal", ", pe: {pe_dma: {read_channels: 3}}")),
        any_topology(SMALL("fifo", "")),
        any_topology(SMALL("fifo", ", pe: {pe_dma: {read_channels: 2, write_channels: 5}}")),
    };
    kb_traffic traffic = plain;
    int whole = 0;

    (void)state;
    traffic.txns = 5000;
    traffic.hotspot = 0.3;
    for (size_t t = 0; t < LENGTH(topologies); t++)
        for (size_t r = 0; r < LENGTH(rates); r++)
            for (kb_pattern p = KB_UNIFORM; p <= KB_HOTSPOT; p++)
                for (int fixed = 0; fixed < 2; fixed++) {
                    traffic.rate = rates[r];
                    traffic.pattern = p;
                    traffic.fixed = fixed;
                    traffic.op = p % 2 ? KB_READ : KB_WRITE;
                    traffic.writes = p % 4 == 1 ? 0.25 : 0;
                    whole += load_equals_replay(
                        topologies[t], (kb_options){.engine = fixed ? KB_HOP : KB_FUSED}, &traffic);
                    load_equals_replay(topologies[t], (kb_options){.costs_off = KB_COST_CHANNELS},
                                       &traffic);
                }
    assert_true(whole > 20);
    for (size_t t = 1; t < LENGTH(topologies); t++)
        any_topology_free(topologies[t]);
}

/* Walks of addresses: contiguous, and interleaved in ways that split most of them. */
static void walks_equal_the_replay_of_their_addresses(void **state)
{
    static const uint64_t strides[] = {4096, 1000, 16384, (UINT64_C(5) << 30) + 1536};
    static const char *const maps[] = {
        SMALL("ideal", ""),
        SMALL("ideal", "") "addressing: {granule: 4096}\n",
        SMALL("fifo", ", pe: {pe_dma: {read_channels: 3}}") "addressing: {granule: 1024}\n",
        SMALL("fifo", ", hbm: {hold: own}") "addressing: {granule: 512, over: sip, hash: xor}\n",
        SMALL("router", ", hbm: {model: banks}"), /* rows that are open */
    };
    kb_traffic traffic = plain;

    (void)state;
    traffic.txns = 2000;
    for (size_t m = 0; m < LENGTH(maps); m++) {
        const kb_topology *t = any_topology(maps[m]);

        for (size_t i = 0; i < 2 * LENGTH(strides); i++) {
            traffic.pattern = i % 4 == 0 ? KB_STREAM : i % 4 == 2 ? KB_RANDOM : KB_STRIDED;
            traffic.stride = strides[i / 2];
            traffic.nbytes = i % 3 ? 4096 : 1500;
            traffic.rate = i % 2 ? 0.1 : 2;
            traffic.fixed = i % 5 == 0;
            traffic.op = i / 2 % 2 ? KB_READ : KB_WRITE;
            traffic.writes = i / 2 == 3 ? 0.4 : 0;
            load_equals_replay(t, (kb_options){.engine = i % 3 == 1 ? KB_HOP : KB_FUSED}, &traffic);
            load_equals_replay(t, (kb_options){.costs_off = KB_COST_CHANNELS}, &traffic);
        }
        any_topology_free(t);
    }
}

/* Slots are used again by other branches. Some machines have fewer slices than PEs; of the last the
 * first ones are shared in turn. */
static void multicasts_equal_the_replay_of_their_writes(void **state)
{
    static const char *const machines[] = {
        SMALL("fifo", ""),
        SMALL("ideal", ", hbm: {hold: route}"),
        SMALL("fifo", ", hbm: {slices: 2}, pe: {pe_dma: {write_channels: 3}}"),
        SMALL("fifo", ", hbm: {slices: 1, hold: own}") "addressing: {granule: 1024}\n",
    };
    static const uint32_t copies[] = {1, 2, 5, 15};
    kb_traffic traffic = {
        .pattern = KB_MULTICAST, .op = KB_WRITE, .nbytes = 4096, .txns = 2000, .seed = 3};

    (void)state;
    for (size_t m = 0; m < LENGTH(machines); m++) {
        const kb_topology *t = any_topology(machines[m]);

        assert_non_null(t);
        for (size_t i = 0; i < 2 * LENGTH(copies); i++) {
            traffic.copies = copies[i / 2];
            traffic.rate = i % 2 ? 0.02 : 1;
            traffic.fixed = i % 3 == 0;
            load_equals_replay(t, (kb_options){.engine = i % 3 == 1 ? KB_HOP : KB_FUSED}, &traffic);
            load_equals_replay(t, (kb_options){.costs_off = KB_COST_CHANNELS}, &traffic);
        }
        any_topology_free(t);
    }
}

/* A PE with one channel and its own slice is a queue M/D/1: wait = rho s / (2 (1 - rho)). */
static void one_channel_waits_as_m_d_1(void **state)
{
    static const double rates[] = {0.1, 0.3, 0.5, 0.7};
    const double service_ns = 18.085;

    (void)state;
    for (size_t i = 0; i < LENGTH(rates); i++) {
        kb_traffic traffic = plain;
        double rho = rates[i] * service_ns / 16, want, got;
        kb_traffic_result r;

        traffic.pattern = KB_LOCAL;
        traffic.rate = rates[i];
        traffic.txns = 1000000;
        r = measured(&cube8_topology, &traffic);
        want = rho * service_ns / (2 * (1 - rho));
        got = (double)r.wait_fs[KB_WAIT_CHANNEL] / 1e6;
        assert_true(fabs(got - want) < 0.02 * want);
        assert_true(r.steady);
        assert_true(fabs(got - want) < 3 * (double)r.ci95_fs / 1e6);
    }
}

/*
 * All PEs read from slice 0, much more than it has, so it is never idle and serves one of each in
 * turn: that of its own PE at 256 GB/s, the others', which pass a chain, a bridge or a NoC, at 128.
 */
static void a_single_slice_saturates_at_its_bandwidth(void **state)
{
    kb_traffic traffic = plain;
    kb_traffic_result r;

    (void)state;
    traffic.pattern = KB_HOTSPOT;
    traffic.hotspot = 1;
    traffic.rate = 1;
    traffic.txns = 100000;
    traffic.nbytes = 65536;
    r = measured(&cube8_topology, &traffic);
    assert_false(r.steady);
    double want = 64 / (1 / 256.0 + 63 / 128.0);
    assert_true(fabs(r.accepted_gbs - want) < 0.01 * want);
    assert_true(r.offered_gbs > 10 * r.accepted_gbs);
}

/* -- how it is counted ---------------------------------------------------------------------- */

/* Too many to be kept: percentiles are off by less than stated, sums not at all. */
/* A bank has two rows, so half of the reads find theirs open: rcd, 14 ns, less than alone. */
static void open_rows_make_the_mean_wait_negative(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 2\nname: open\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {hbm: {model: banks, "
        "size_gb: 1, columns: 16384, refresh: none}}\n");
    const kb_traffic sparse = {.pattern = KB_LOCAL, .nbytes = 64, .rate = 0.001, .txns = 2000};
    kb_traffic_result r;
    int64_t sum;

    (void)state;
    assert_non_null(topo);
    r = measured(topo, &sparse);
    assert_true(r.wait_fs[KB_WAIT_MEMORY] < 0 && r.wait_fs[KB_WAIT_MEMORY] > -14000000);
    sum = r.wire_fs + r.overhead_fs + r.drain_fs + r.return_fs;
    for (int i = 0; i < KB_N_WAITS; i++)
        sum += r.wait_fs[i];
    assert_true(llabs(sum - r.mean_fs) <= 4); /* each is rounded */
    any_topology_free(topo);
}

static void a_histogram_is_as_near_as_it_says(void **state)
{
    kb_traffic traffic = plain;
    struct replayed all;
    kb_traffic_result r;
    kb_sim *sim;

    (void)state;
    traffic.txns = TRAFFIC_EXACT + 100000;
    traffic.pattern = KB_LOCAL;
    traffic.rate = 0.4;
    sim = with_traffic(&cube8_topology, &traffic);
    r = traffic_result(sim);
    all = replay(&cube8_topology, 0, &traffic);
    assert_false(r.exact);
    assert_null(sim->traffic->actual_fs);
    assert_same_sums(sim->traffic, &all);
    if (r.warmup_fs == 0) {
        int64_t p50 = all.actual_fs[(all.n + 1) / 2 - 1];
        int64_t p999 = all.actual_fs[(all.n * 999 + 999) / 1000 - 1];

        assert_true(fabs((double)(r.p50_fs - p50)) < 0.0005 * (double)p50);
        assert_true(fabs((double)(r.p999_fs - p999)) < 0.0005 * (double)p999);
    }
    kb_sim_free(sim);
    free(all.actual_fs);
}

/* Latencies as parts would have them: fewer where the machine is still empty. */
static void fill_parts(kb_sim *sim, const double mean_ns[TRAFFIC_PARTS])
{
    struct traffic *tr = sim->traffic;

    tr->n_exact = 0;
    for (int p = 0; p < TRAFFIC_PARTS; p++) {
        tr->parts[p] = (struct part){.count = 10, .completed = 10};
        for (int i = 0; i < 10; i++) {
            int64_t fs = (int64_t)(mean_ns[p] * 1e6) + i - 5;

            tr->parts[p].actual += (uint64_t)fs;
            tr->actual_fs[tr->n_exact] = fs;
            tr->part_of[tr->n_exact++] = (uint8_t)p;
        }
    }
}

static kb_traffic_result result_of_parts(const double mean_ns[TRAFFIC_PARTS])
{
    kb_sim *sim = with_traffic(&cube8_topology, &plain);
    kb_traffic_result r;

    run_all(sim);
    fill_parts(sim, mean_ns);
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_OK);
    kb_sim_free(sim);
    return r;
}

static void a_warm_up_is_cut_off(void **state)
{
    double mean_ns[TRAFFIC_PARTS];
    kb_traffic_result r;

    (void)state;
    for (int p = 0; p < TRAFFIC_PARTS; p++)
        mean_ns[p] = p < 5 ? 10 + 15 * p : 100 + (p % 2 ? 0.1 : -0.1);
    r = result_of_parts(mean_ns);
    assert_true(r.steady);
    assert_true(r.count == 27 * 10);
    assert_true(r.mean_fs > 99900000 && r.mean_fs < 100100000);
    assert_true(r.p50_fs > 99000000);
    /* the parts are equally long, all of them as long as the traffic: 20000 at a tenth of 16 TB/s
     */
    assert_true(fabs((double)r.warmup_fs - 5.0 / 32 * 20000 / 64 * 160e6) < 10);
}

static void growth_is_not_steady(void **state)
{
    double mean_ns[TRAFFIC_PARTS];
    kb_traffic_result r;

    (void)state;
    for (int p = 0; p < TRAFFIC_PARTS; p++)
        mean_ns[p] = 100 + 50 * p;
    r = result_of_parts(mean_ns);
    assert_false(r.steady);
}

/* Means 9.9 and 10.1 by turns: s = 0.1016, t(31) = 2.0395, half the interval 0.03663. */
static void the_confidence_of_one_run_is_that_of_its_parts(void **state)
{
    double mean_ns[TRAFFIC_PARTS];
    kb_traffic_result r;

    (void)state;
    for (int p = 0; p < TRAFFIC_PARTS; p++)
        mean_ns[p] = p % 2 ? 10.1 : 9.9;
    r = result_of_parts(mean_ns);
    assert_true(r.count == 320);
    assert_true(fabs((double)r.ci95_fs / 1e6 - 0.03663) < 0.0001);
}

/* Means of three runs 10, 11, 12: s = 1, t(2) = 4.303, half the interval 2.4843. */
static void the_confidence_of_several_runs_is_that_of_their_means(void **state)
{
    kb_sim *sims[3];
    kb_traffic_result r;

    (void)state;
    for (int i = 0; i < 3; i++) {
        double mean_ns[TRAFFIC_PARTS];

        for (int p = 0; p < TRAFFIC_PARTS; p++)
            mean_ns[p] = 10 + i;
        sims[i] = with_traffic(&cube8_topology, &plain);
        run_all(sims[i]);
        fill_parts(sims[i], mean_ns);
    }
    assert_int_equal(kb_sim_traffic_result(sims, 3, &r), KB_OK);
    assert_true(r.count == 960 && r.steady);
    assert_true(fabs((double)r.ci95_fs / 1e6 - 2.4843) < 0.0001);
    assert_true(fabs((double)r.p50_fs / 1e6 - 11) < 0.001);
    for (int i = 0; i < 3; i++)
        kb_sim_free(sims[i]);
}

/* Seeds apart, only what is the same makes one result. */
static void other_traffic_is_not_the_same(void **state)
{
    kb_traffic other = plain;
    kb_sim *sims[2] = {with_traffic(&cube8_topology, &plain), NULL};
    kb_traffic_result r;

    (void)state;
    run_all(sims[0]);
    for (int i = 0; i < 6; i++) {
        other = plain;
        other.op = i == 0 ? KB_WRITE : other.op;
        other.pattern = i == 1 ? KB_LOCAL : other.pattern;
        other.nbytes = i == 2 ? 64 : other.nbytes;
        other.rate = i == 2 ? other.rate / 64 : i == 3 ? 0.2 : other.rate; /* and as long */
        other.txns = i == 3 ? 2 * other.txns : i == 4 ? 100 : other.txns;
        other.fixed = i == 5;
        sims[1] = with_traffic(&cube8_topology, &other);
        assert_int_equal(kb_sim_traffic_result(sims, 2, &r), KB_BAD_REQUEST);
        kb_sim_free(sims[1]);
    }
    sims[1] = with_traffic(&cube8_topology, &plain);
    assert_int_equal(kb_sim_run(sims[1], 1000, NULL), KB_AGAIN);
    assert_int_equal(kb_sim_traffic_result(sims, 2, &r), KB_PENDING);
    assert_int_equal(kb_sim_traffic_result(sims, 1, &r), KB_OK);
    kb_sim_free(sims[0]);
    kb_sim_free(sims[1]);
}

/* -- what cannot be ------------------------------------------------------------------------- */

static void refuses(const kb_topology *topo, kb_options options, kb_traffic traffic,
                    const char *text)
{
    kb_sim *sim = new_sim(topo, options);
    kb_error why = {""};

    assert_int_equal(kb_sim_traffic(sim, &traffic, &why), KB_BAD_REQUEST);
    if (!strstr(why.text, text))
        fail_msg("'%s' lacks '%s'", why.text, text);
    assert_int_equal(kb_sim_traffic(sim, &plain, &why), sim_counts(sim) ? KB_BAD_REQUEST : KB_OK);
    kb_sim_free(sim);
}

/* On a machine where writes have more channels than reads. */
static int64_t mean_fs_of(kb_transaction_op op, double writes)
{
    const kb_topology *topo =
        any_topology("kernbench: 1\nname: two\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pes: 2, pe: {pe_dma: {write_channels: 8}}}\n");
    kb_traffic traffic = {
        .pattern = KB_UNIFORM, .nbytes = 64, .rate = 0.5, .txns = 500, .op = op, .writes = writes};
    kb_sim *sim = with_traffic(topo, &traffic);
    kb_traffic_result r;

    run_all(sim);
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_OK);
    kb_sim_free(sim);
    any_topology_free(topo);
    return r.mean_fs;
}

static void a_share_of_one_is_writes_alone(void **state)
{
    (void)state;
    assert_true(mean_fs_of(KB_READ, 1) == mean_fs_of(KB_WRITE, 0));
    assert_true(mean_fs_of(KB_READ, 1) != mean_fs_of(KB_READ, 0));
}

#define REFUSES(text, ...)                                                                         \
    do {                                                                                           \
        kb_traffic changed = plain;                                                                \
        __VA_ARGS__;                                                                               \
        refuses(&cube8_topology, (kb_options){0}, changed, text);                                  \
    } while (0)

static void bad_traffic_is_refused(void **state)
{
    static const kb_matrix_row bad_pe = {64, 0, 1}, bad_slice = {0, 64, 1}, bad_weight = {0, 0, 0},
                               heavy = {0, 0, 2e12}, one = {0, 0, 1};
    const kb_topology *odd = any_topology("kernbench: 1\nname: odd\n"
                                          "sip: {cube_mesh: {w: 3, h: 1}}\ncube: {pes: 4}\n");
    kb_traffic traffic = plain;

    (void)state;
    REFUSES("rate", changed.rate = 0);
    REFUSES("rate", changed.rate = NAN);
    REFUSES("rate", changed.rate = 2e6);
    REFUSES("0 bytes", changed.nbytes = 0);
    REFUSES("more than a slice holds", changed.nbytes = UINT64_C(1) << 35);
    REFUSES("number of transactions", changed.txns = 0);
    REFUSES("number of transactions", changed.txns = UINT64_C(5000000000));
    REFUSES("reads or writes", changed.op = KB_H2D);
    REFUSES("no pattern", changed.pattern = (kb_pattern)99);
    REFUSES("hot spot", changed.pattern = KB_HOTSPOT, changed.hotspot = 1.5);
    REFUSES("hot spot", changed.pattern = KB_HOTSPOT, changed.hotspot = -0.5);
    REFUSES("empty", changed.pattern = KB_MATRIX);
    REFUSES("row 0", changed.pattern = KB_MATRIX, changed.matrix = &bad_slice,
            changed.n_matrix = 1);
    REFUSES("row 0", changed.pattern = KB_MATRIX, changed.matrix = &heavy, changed.n_matrix = 1);
    REFUSES("row 0", changed.pattern = KB_MATRIX, changed.matrix = &bad_pe, changed.n_matrix = 1);
    REFUSES("row 0", changed.pattern = KB_MATRIX, changed.matrix = &bad_weight,
            changed.n_matrix = 1);
    REFUSES("share of writes", changed.writes = 1.5);
    REFUSES("share of writes", changed.writes = NAN);
    REFUSES("share of writes", changed.writes = 0.5, changed.op = KB_WRITE);
    REFUSES("stride", changed.pattern = KB_STRIDED, changed.stride = 0);
    REFUSES("stride", changed.pattern = KB_STRIDED, changed.stride = UINT64_C(1) << 40);
    REFUSES("too long", changed.rate = 1e-9, changed.txns = 4000000000);
    REFUSES("ids of 32 bits", changed.pattern = KB_MATRIX, changed.matrix = &one,
            changed.n_matrix = 1, changed.txns = 100000000);
    REFUSES("this reads", changed.pattern = KB_MULTICAST, changed.copies = 2);
    REFUSES("this reads", changed.pattern = KB_MULTICAST, changed.copies = 2, changed.writes = 0.5);
    REFUSES("1 to 63 PEs here, not 0", changed.pattern = KB_MULTICAST, changed.op = KB_WRITE);
    REFUSES("1 to 63 PEs here, not 64", changed.pattern = KB_MULTICAST, changed.op = KB_WRITE,
            changed.copies = 64);
    traffic.pattern = KB_TRANSPOSE;
    refuses(odd, (kb_options){0}, traffic, "square");
    traffic.pattern = KB_BITCOMP;
    refuses(odd, (kb_options){0}, traffic, "power of two");
    refuses(odd, (kb_options){.fingerprint = true}, plain, "fingerprint");
    traffic = plain;
    traffic.txns = 1000000000;
    refuses(odd, (kb_options){.costs_off = KB_COST_CHANNELS}, traffic, "under way at once");
    any_topology_free(odd);
}

static void a_simulation_holds_one_kind_of_thing(void **state)
{
    kb_sim *sim = with_traffic(&cube8_topology, &plain);
    kb_transaction q = {.dst.kind = KB_SLICE, .nbytes = 64};
    kb_point p = {.dst.kind = KB_SLICE, .nbytes = 64, .inflight = 1};
    kb_point_result point;
    kb_traffic_result r;
    kb_tensor *x;

    (void)state;
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_PENDING);
    assert_int_equal(kb_sim_add(sim, &q, NULL), KB_BAD_REQUEST);
    assert_int_equal(kb_sweep(sim, &p, 1, &point, NULL, NULL), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_traffic(sim, &plain, NULL), KB_BAD_REQUEST);
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    assert_int_equal(kb_sim_add(sim, &q, NULL), KB_OK);
    assert_int_equal(kb_sim_traffic(sim, &plain, NULL), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    assert_int_equal(kb_sim_traffic(sim, &plain, NULL), KB_BAD_REQUEST);
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(1), (kb_placement){0}, &x, NULL),
                     KB_OK);
    assert_int_equal(kb_sim_traffic(sim, &plain, NULL), KB_BAD_REQUEST);
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_traffic_result(&sim, 0, &r), KB_BAD_REQUEST);
    kb_sim_free(sim);
}

/* A single transaction, or none at all, is no reason to fail. */
static void little_traffic_is_traffic(void **state)
{
    kb_traffic traffic = plain;

    (void)state;
    for (uint64_t n = 1; n < 40; n++) {
        kb_traffic_result r;

        traffic.txns = n;
        traffic.seed = n;
        r = measured(&cube8_topology, &traffic);
        assert_true(r.count <= r.issued);
        assert_true(r.count == 0 || r.mean_fs > 0);
    }
}

/* -- for another process ---------------------------------------------------------------------- */

static void put(void *arg, const void *bytes, size_t n)
{
    packed_put(arg, bytes, n);
}

static void take(void *arg, void *bytes, size_t n)
{
    packed_take(arg, bytes, n);
}

/* What is saved of `sim` and restored has the same result, and is saved as the same bytes. */
static void assert_saved(kb_sim *sim)
{
    struct packed first = {0}, second = {0};
    kb_sim *other = with_traffic(&cube8_topology, &plain);
    kb_traffic_result a, b;

    assert_int_equal(kb_sim_traffic_save(sim, put, &first), KB_OK);
    assert_int_equal(kb_sim_traffic_restore(other, take, &first), KB_OK);
    assert_true(first.at == first.n && !first.lost);
    assert_int_equal(kb_sim_traffic_restore(other, take, &first), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_traffic_save(other, put, &second), KB_OK);
    assert_true(first.n == second.n && memcmp(first.bytes, second.bytes, first.n) == 0);
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &a), KB_OK);
    assert_int_equal(kb_sim_traffic_result(&other, 1, &b), KB_OK);
    assert_memory_equal(&a, &b, sizeof a);
    packed_free(&first);
    packed_free(&second);
    kb_sim_free(other);
}

static void traffic_goes_to_another_process(void **state)
{
    struct packed none = {0};
    kb_sim *sim = with_traffic(&cube8_topology, &plain),
           *without = new_sim(&cube8_topology, (kb_options){0});

    (void)state;
    assert_int_equal(kb_sim_traffic_save(without, put, &none), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_traffic_restore(without, take, &none), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_traffic_save(sim, put, &none), KB_PENDING);
    run_all(sim);
    assert_saved(sim);
    /* as if there had been more latencies than are kept as they are */
    sim->traffic->buckets = calloc((size_t)TRAFFIC_PARTS * BUCKETS, sizeof *sim->traffic->buckets);
    for (uint32_t i = 0; i < TRAFFIC_PARTS; i++)
        sim->traffic->buckets[(size_t)i * BUCKETS + 5] = (uint32_t)sim->traffic->parts[i].count;
    assert_saved(sim);
    kb_sim_free(sim);
    kb_sim_free(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pattern_reaches_whom_it_says),
        cmocka_unit_test(uniform_reaches_all_alike),
        cmocka_unit_test(a_hot_spot_gets_its_share_and_the_rest_is_uniform),
        cmocka_unit_test(a_matrix_shares_out_by_weight),
        cmocka_unit_test(poisson_intervals_are_exponential),
        cmocka_unit_test(poisson_intervals_are_logarithms),
        cmocka_unit_test(fixed_intervals_are_equal_and_shifted),
        cmocka_unit_test(fixed_intervals_give_the_number_asked_for),
        cmocka_unit_test(parts_of_a_femtosecond_add_up),
        cmocka_unit_test(the_same_seed_gives_the_same_and_another_does_not),
        cmocka_unit_test(traffic_equals_the_replay_of_its_transactions),
        cmocka_unit_test(walks_equal_the_replay_of_their_addresses),
        cmocka_unit_test(multicasts_equal_the_replay_of_their_writes),
        cmocka_unit_test(one_channel_waits_as_m_d_1),
        cmocka_unit_test(a_single_slice_saturates_at_its_bandwidth),
        cmocka_unit_test(open_rows_make_the_mean_wait_negative),
        cmocka_unit_test(a_histogram_is_as_near_as_it_says),
        cmocka_unit_test(a_warm_up_is_cut_off),
        cmocka_unit_test(growth_is_not_steady),
        cmocka_unit_test(the_confidence_of_one_run_is_that_of_its_parts),
        cmocka_unit_test(the_confidence_of_several_runs_is_that_of_their_means),
        cmocka_unit_test(other_traffic_is_not_the_same),
        cmocka_unit_test(a_share_of_one_is_writes_alone),
        cmocka_unit_test(bad_traffic_is_refused),
        cmocka_unit_test(a_simulation_holds_one_kind_of_thing),
        cmocka_unit_test(little_traffic_is_traffic),
        cmocka_unit_test(traffic_goes_to_another_process),
    };

    return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
