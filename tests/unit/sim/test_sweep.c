/* test_sweep.c -- points of a sweep equal the same transactions added, run and counted by hand. */
#include "support/any_topology.h"
#include "support/rig.h"

#include "cube8.h"
#include "tray32.h"

enum { MOST_INFLIGHT = 70 };

/* Two SIPs of 2x2 cubes with four PEs, two read channels, three write engines. */
#define SMALL(links)                                                                               \
    "kernbench: 1\nname: small\nsips: 2\ncontention: {links: " links "}\n"                         \
    "sip: {cube_mesh: {w: 2, h: 2}}\n"                                                             \
    "cube: {pes: 4, m_cpu: {dma_write: 3}, pe: {pe_dma: {read_channels: 2}}}\n"

/* -- the same by hand ----------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The smallest of `n` sorted values such that `per_mille` of them are not above it. */
static int64_t nearest_rank(const int64_t *sorted, uint64_t n, uint64_t per_mille)
{
    uint64_t i = 0;

    while ((i + 1) * 1000 < n * per_mille)
        i++;
    return sorted[i];
}

static int64_t mean(int64_t sum, uint32_t n)
{
    return (2 * sum + n) / (2 * (int64_t)n); /* halves up */
}

static void set_means(kb_point_result *want, const kb_result *sum, uint32_t n)
{
    want->wire_fs = mean(sum->wire_fs, n);
    want->overhead_fs = mean(sum->overhead_fs, n);
    want->drain_fs = mean(sum->drain_fs, n);
    want->response_fs = mean(sum->response_fs, n);
    want->return_fs = mean(sum->return_fs, n);
    want->wait_fs[KB_WAIT_CHANNEL] = mean(sum->wait_fs[KB_WAIT_CHANNEL], n);
    want->wait_fs[KB_WAIT_ENGINE] = mean(sum->wait_fs[KB_WAIT_ENGINE], n);
    want->wait_fs[KB_WAIT_LINK] = mean(sum->wait_fs[KB_WAIT_LINK], n);
    want->wait_fs[KB_WAIT_MEMORY] = mean(sum->wait_fs[KB_WAIT_MEMORY], n);
    want->mean_fs = mean(sum->actual_fs, n);
}

static void add_terms(kb_result *sum, const kb_result *r)
{
    sum->wire_fs += r->wire_fs;
    sum->overhead_fs += r->overhead_fs;
    sum->drain_fs += r->drain_fs;
    sum->response_fs += r->response_fs;
    sum->return_fs += r->return_fs;
    sum->wait_fs[KB_WAIT_CHANNEL] += r->wait_fs[KB_WAIT_CHANNEL];
    sum->wait_fs[KB_WAIT_ENGINE] += r->wait_fs[KB_WAIT_ENGINE];
    sum->wait_fs[KB_WAIT_LINK] += r->wait_fs[KB_WAIT_LINK];
    sum->wait_fs[KB_WAIT_MEMORY] += r->wait_fs[KB_WAIT_MEMORY];
    sum->actual_fs += r->actual_fs;
}

static kb_point_result by_hand(const kb_topology *topo, kb_options options, const kb_point *p)
{
    kb_sim *sim = new_sim(topo, options);
    kb_transaction q = {.op = p->op, .src = p->src, .dst = p->dst, .nbytes = p->nbytes};
    kb_point_result want = {.count = p->inflight};
    int64_t actual_fs[MOST_INFLIGHT];
    kb_result sum = {0};

    for (uint32_t i = 0; i < p->inflight; i++)
        add(sim, &q);
    run_all(sim);
    for (uint32_t i = 0; i < p->inflight; i++) {
        kb_result r = result_of(sim, i);

        add_terms(&sum, &r);
        actual_fs[i] = r.actual_fs;
        want.makespan_fs = r.end_fs > want.makespan_fs ? r.end_fs : want.makespan_fs;
    }
    set_means(&want, &sum, p->inflight);
    qsort(actual_fs, p->inflight, sizeof *actual_fs, ascending);
    want.p50_fs = nearest_rank(actual_fs, p->inflight, 500);
    want.p99_fs = nearest_rank(actual_fs, p->inflight, 990);
    want.max_fs = actual_fs[p->inflight - 1];
    want.gbs = (double)p->inflight * (double)p->nbytes / ((double)want.makespan_fs / KB_FS_PER_NS);
    kb_sim_free(sim);
    return want;
}

static void assert_equal(const kb_point_result *got, const kb_point_result *want)
{
    kb_point_result g = *got, w = *want;

    assert_true(g.gbs >= w.gbs * (1 - 1e-12) && g.gbs <= w.gbs * (1 + 1e-12));
    g.gbs = w.gbs = 0;
    assert_memory_equal(&g, &w, sizeof g);
}

/* -- points at random ----------------------------------------------------------------------- */

static uint32_t one_of(uint64_t *dice, uint32_t n)
{
    return (uint32_t)(draw(dice) % n);
}

static kb_point draw_point(const kb_topology *topo, uint64_t *dice)
{
    kb_info info;
    kb_point p = {.op = (kb_transaction_op)one_of(dice, 4), .nbytes = 1 + one_of(dice, 9000)};

    kb_topology_info(topo, &info);
    p.inflight = one_of(dice, 3) ? 1 + one_of(dice, MOST_INFLIGHT) : 1;
    p.src = (kb_endpoint){KB_PE, one_of(dice, info.sips), one_of(dice, info.cubes_per_sip),
                          one_of(dice, info.pes_per_cube)};
    p.dst = (kb_endpoint){KB_SLICE, one_of(dice, info.sips), one_of(dice, info.cubes_per_sip),
                          one_of(dice, info.pes_per_cube)};
    if (p.op >= KB_H2D)
        p.src = (kb_endpoint){KB_HOST, p.dst.sip, 0, 0};
    else if (one_of(dice, 5) == 0)
        p.dst = (kb_endpoint){KB_SRAM, p.dst.sip, p.dst.cube, 0};
    return p;
}

/* All through one simulation, so that what a point leaves behind would be seen by the next. */
static void points_are_as_by_hand(const kb_topology *topo, kb_options options, uint64_t seed)
{
    enum { N = 300 };
    kb_point points[N];
    kb_point_result results[N];
    kb_sim *sim = new_sim(topo, options);
    kb_error why = {""};
    size_t n_run = 0;

    for (size_t i = 0; i < N; i++)
        points[i] = draw_point(topo, &seed);
    assert_int_equal(kb_sweep(sim, points, N, results, &n_run, &why), KB_OK);
    assert_true(n_run == N);
    for (size_t i = 0; i < N; i++) {
        kb_point_result want = by_hand(topo, options, &points[i]);

        assert_equal(&results[i], &want);
    }
    kb_sim_free(sim);
}

static void generated_topologies_agree(void **state)
{
    (void)state;
    points_are_as_by_hand(&cube8_topology, (kb_options){0}, 1);
    points_are_as_by_hand(&tray32_topology, (kb_options){0}, 2);
}

/* Points of one copy are taken from the tables by the one engine, and simulated by the other. */
static void the_hop_engine_agrees(void **state)
{
    (void)state;
    points_are_as_by_hand(&cube8_topology, (kb_options){.engine = KB_HOP}, 3);
}

static void links_with_queues_agree(void **state)
{
    const kb_topology *topo = any_topology(SMALL("fifo"));

    (void)state;
    points_are_as_by_hand(topo, (kb_options){0}, 4);
    points_are_as_by_hand(topo, (kb_options){.engine = KB_HOP}, 5);
    any_topology_free(topo);
}

/* Copies of a point find rows open that are closed for the first. */
static void banks_behind_routers_agree(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 2\nname: small\ncontention: {links: router}\nsip: {cube_mesh: {w: 2, h: 1}}\n"
        "cube: {pes: 2, hbm: {model: banks, size_gb: 4}, pe: {pe_dma: {read_channels: 2}}}\n");

    (void)state;
    points_are_as_by_hand(topo, (kb_options){0}, 6);
    any_topology_free(topo);
}

static void several_channels_and_engines_agree(void **state)
{
    const kb_topology *topo = any_topology(SMALL("ideal"));

    (void)state;
    points_are_as_by_hand(topo, (kb_options){0}, 6);
    any_topology_free(topo);
}

static void costs_left_out_are_left_out(void **state)
{
    (void)state;
    for (unsigned cost = 1; cost <= KB_COST_ENGINES; cost *= 2)
        points_are_as_by_hand(&cube8_topology, (kb_options){.costs_off = cost}, 7);
}

/* Alone and simulated: both engines give the same for every PE and memory of a machine. */
static void alone_equals_simulated(void **state)
{
    kb_sim *tables = new_sim(&tray32_topology, (kb_options){0});
    kb_sim *hops = new_sim(&tray32_topology, (kb_options){.engine = KB_HOP});
    kb_error why = {""};

    (void)state;
    for (uint32_t i = 0; i < 2 * 16 * 8; i++)
        for (uint32_t j = 0; j < 2 * 16 * 8; j += 5) {
            kb_point p = {.op = KB_WRITE,
                          .src = {KB_PE, i / 128, i / 8 % 16, i % 8},
                          .dst = {KB_SLICE, j / 128, j / 8 % 16, j % 8},
                          .nbytes = 100 + i,
                          .inflight = 1};
            kb_point_result a, b;

            assert_int_equal(kb_sweep(tables, &p, 1, &a, NULL, &why), KB_OK);
            assert_int_equal(kb_sweep(hops, &p, 1, &b, NULL, &why), KB_OK);
            assert_memory_equal(&a, &b, sizeof a);
        }
    kb_sim_free(tables);
    kb_sim_free(hops);
}

/* -- golden --------------------------------------------------------------------------------- */

/* Design 3: pe0 -> slice0 takes 18.085 ns; its channel serves one after the other. */
static void two_copies_take_twice_as_long(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_point p = {.op = KB_READ, .nbytes = 4096, .inflight = 2};
    kb_point_result r;

    (void)state;
    p.src = end_of(&cube8_topology, "c0.pe0");
    p.dst = end_of(&cube8_topology, "c0.slice0");
    assert_int_equal(kb_sweep(sim, &p, 1, &r, NULL, NULL), KB_OK);
    assert_int_equal(r.max_fs, 36170000);
    assert_int_equal(r.p50_fs, 18085000);
    assert_int_equal(r.mean_fs, 27127500);
    assert_int_equal(r.wait_fs[KB_WAIT_CHANNEL], 9042500);
    kb_sim_free(sim);
}

/* -- what cannot be ------------------------------------------------------------------------- */

static void refuses(kb_sim *sim, kb_point p, const char *text)
{
    kb_point points[2] = {{.op = KB_READ, .nbytes = 64, .inflight = 1, .dst.kind = KB_SLICE}, p};
    kb_point_result results[2];
    kb_error why = {""};
    size_t n_run = 9;

    assert_int_equal(kb_sweep(sim, points, 2, results, &n_run, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, text));
    assert_true(n_run == 1);
}

static void bad_points_are_refused(void **state)
{
    kb_sim *sim = new_sim(&tray32_topology, (kb_options){0});
    kb_point good = {.op = KB_READ, .nbytes = 64, .inflight = 1, .dst.kind = KB_SLICE}, p;
    kb_point_result r;

    (void)state;
    p = good;
    p.nbytes = 0;
    refuses(sim, p, "0 bytes");
    p.nbytes = UINT64_C(1) << 40;
    refuses(sim, p, "more than the target holds");
    p = good;
    p.inflight = 0;
    refuses(sim, p, "0 transactions");
    p = good;
    p.op = KB_H2D;
    refuses(sim, p, "start at a host");
    p = good;
    p.dst.sip = 5;
    refuses(sim, p, "not in this topology");
    p = good;
    p.dst = (kb_endpoint){KB_TCM, 0, 0, 1};
    refuses(sim, p, "kernels only");
    assert_int_equal(kb_sweep(sim, &good, 1, &r, NULL, NULL), KB_OK); /* it still works */
    kb_sim_free(sim);
}

static void a_simulation_in_use_is_refused(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_point p = {.op = KB_READ, .nbytes = 64, .inflight = 1, .dst.kind = KB_SLICE};
    kb_point_result r;
    kb_error why = {""};
    kb_tensor *x;

    (void)state;
    issue(sim, &cube8_topology, 0, KB_READ, "c0.pe0", "c0.slice0", 64);
    assert_int_equal(kb_sweep(sim, &p, 1, &r, NULL, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "of its own"));
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){.fingerprint = true});
    assert_int_equal(kb_sweep(sim, &p, 1, &r, NULL, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "fingerprint"));
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(1), (kb_placement){0}, &x, &why),
                     KB_OK);
    assert_int_equal(kb_sweep(sim, &p, 1, &r, NULL, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "of its own"));
    kb_sim_free(sim);
}

/* After points the simulation takes transactions, as if it were new. */
static void points_leave_nothing_behind(void **state)
{
    kb_options options = {.fingerprint = false};
    kb_sim *sim = new_sim(&cube8_topology, options);
    uint64_t seed = 8;
    kb_result r;

    (void)state;
    for (int i = 0; i < 100; i++) {
        kb_point p = draw_point(&cube8_topology, &seed);
        kb_point_result result;

        assert_int_equal(kb_sweep(sim, &p, 1, &result, NULL, NULL), KB_OK);
    }
    issue(sim, &cube8_topology, 0, KB_READ, "c0.pe1", "c0.slice0", 4096);
    run_all(sim);
    r = result_of(sim, 0);
    assert_int_equal(r.actual_fs, 36095000); /* docs/model.md "Stations and queues" */
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_topologies_agree),
        cmocka_unit_test(the_hop_engine_agrees),
        cmocka_unit_test(links_with_queues_agree),
        cmocka_unit_test(banks_behind_routers_agree),
        cmocka_unit_test(several_channels_and_engines_agree),
        cmocka_unit_test(costs_left_out_are_left_out),
        cmocka_unit_test(alone_equals_simulated),
        cmocka_unit_test(two_copies_take_twice_as_long),
        cmocka_unit_test(bad_points_are_refused),
        cmocka_unit_test(a_simulation_in_use_is_refused),
        cmocka_unit_test(points_leave_nothing_behind),
    };

    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
