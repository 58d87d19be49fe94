/* test_bound.c -- kb_launch_bound(): never above the time of a run, and near it where one PE tells
 * it. */
#include <kernbench.h>
#include <stdio.h>
#include "support/any_topology.h"
#include "support/talks.h"
#include "cube8.h"
#include "tl.h"

extern const kb_bench bench_copy, bench_softmax, bench_gemm, bench_gemm_composite, bench_mlp,
    bench_attention, bench_flash, bench_layernorm, bench_threshold, bench_gather, bench_list_walk,
    bench_overlap, bench_all_reduce, bench_attention_ring;

static const uint32_t pe0[] = {0};

static int64_t bound_of(kb_sim *sim, uint64_t *commands)
{
    kb_bound bound = {.fs = -1};

    assert_int_equal(kb_launch_bound(sim, &bound), KB_OK);
    kb_sim_free(sim);
    *commands = bound.commands;
    return bound.fs;
}

static int64_t bound_of_kernel(kb_kernel kernel, uint64_t *commands)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});

    launch_talk(sim, kernel, NULL, pe0, 1);
    return bound_of(sim, commands);
}

static int64_t time_of_kernel(kb_kernel kernel)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_launch_result r;

    launch_talk(sim, kernel, NULL, pe0, 1);
    r = run_launched(sim, 0);
    kb_sim_free(sim);
    return r.last_end_fs - r.start_fs;
}

/* -- by hand ---------------------------------------------------------------------------------- */

/* A load of 4096 bytes of the own slice, 3 + 18.085; exp of them, 3 + 8 + 64 + 8. */
static void load_and_exp(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_exp(tl, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(1024)));
}

static void load_and_exp_async(tl_ctx *tl, const kb_args *args)
{
    tl_async(tl, true);
    load_and_exp(tl, args);
}

static void a_pe_alone_is_bound_by_its_time(void **state)
{
    uint64_t commands;

    (void)state;
    assert_int_equal(bound_of_kernel(load_and_exp, &commands), 104085000);
    assert_int_equal(commands, 2);
    assert_int_equal(time_of_kernel(load_and_exp), 104085000);
    assert_int_equal(bound_of_kernel(load_and_exp_async, &commands), 101085000);
    assert_int_equal(time_of_kernel(load_and_exp_async), 101085000);
}

/* Ten exps of one tensor at once: MATH, 64 ns each, is what they wait for; 18.085 + 3 + 8 before
 * it, which the sum leaves out. */
static void ten_exps(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(1024));
    for (int i = 0; i < 10; i++)
        tl_exp(tl, x);
}

/* Four loads at once, of which a channel has one at a time: 4 * 18.085. */
static void four_loads(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_async(tl, true);
    for (uint64_t i = 0; i < 4; i++)
        tl_load(tl, SLICE(0) + 4096 * i, KB_F32, KB_SHAPE(1024));
}

static void a_box_is_bound_by_its_sum(void **state)
{
    uint64_t commands;

    (void)state;
    assert_int_equal(bound_of_kernel(ten_exps, &commands), 640000000);
    assert_int_equal(time_of_kernel(ten_exps), 21085000 + 8000000 + 640000000 + 8000000);
    assert_int_equal(bound_of_kernel(four_loads, &commands), 4 * 18085000);
    assert_int_equal(time_of_kernel(four_loads), 3000000 + 4 * 18085000);
}

/* Four channels have the four loads at once, and the slice serves one after the other. */
static void channels_share_the_sum(void **state)
{
    char yaml[] = "kernbench: 3\nname: x\nsip: {cube_mesh: {w: 4, h: 2}}\n"
                  "cube: {pe: {pe_dma: {read_channels: 4}}}\n";
    const kb_topology *topo = any_topology(yaml);
    uint64_t commands;
    kb_sim *sim;

    (void)state;
    assert_non_null(topo);
    sim = new_sim(topo, (kb_options){0});
    launch_talk(sim, four_loads, NULL, pe0, 1);
    assert_int_equal(bound_of(sim, &commands), 4 * 3000000 + 18085000);
    assert_int_equal(commands, 4);
}

/* -- what is not known ------------------------------------------------------------------------ */

/* What comes behind the call is not weighed; what comes before is. */
static void asks_for_time(tl_ctx *tl, const kb_args *args)
{
    load_and_exp(tl, args);
    if (tl_time(tl) >= 0)
        load_and_exp(tl, args);
}

static void asks_for_data(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(1024));

    tl_exp(tl, x);
    if (tl_get(tl, x, 0) != -1)
        load_and_exp(tl, args);
}

static void adds(tl_ctx *tl, const kb_args *args)
{
    load_and_exp(tl, args);
    tl_atomic_add(tl, SLICE(0), KB_I32, 1);
}

static void what_is_not_known_ends_it(void **state)
{
    static const kb_kernel kernels[] = {asks_for_time, asks_for_data, adds};
    uint64_t commands;

    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        assert_int_equal(bound_of_kernel(kernels[i], &commands), 104085000);
        assert_int_equal(commands, 2);
    }
}

/* It runs, and says what is wrong. */
static void does_not_fit(tl_ctx *tl, const kb_args *args)
{
    load_and_exp(tl, args);
    tl_full(tl, KB_F32, KB_SHAPE(1 << 23), 0);
}

static void is_wrong(tl_ctx *tl, const kb_args *args)
{
    load_and_exp(tl, args);
    tl_fail(tl, "wrong");
}

static void a_mistake_has_no_bound(void **state)
{
    uint64_t commands;

    (void)state;
    assert_int_equal(bound_of_kernel(does_not_fit, &commands), 0);
    assert_int_equal(bound_of_kernel(is_wrong, &commands), 0);
}

static void a_run_that_has_begun_is_refused(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_bound bound;
    kb_error why;

    (void)state;
    assert_int_equal(kb_launch_bound(sim, &bound), KB_BAD_REQUEST);
    launch_talk(sim, load_and_exp, NULL, pe0, 1);
    run_launched(sim, 0);
    assert_int_equal(kb_launch_bound(sim, &bound), KB_BAD_REQUEST);
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    launch_talk(sim, load_and_exp, NULL, pe0, 1);
    assert_int_equal(kb_launch_bound(sim, &bound), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_STOPPED);
    kb_sim_free(sim);
}

/* Ten times 64 on the engine, which begins when a load and a FETCH have ended. */
static void a_run_under_way_knows_what_is_left(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_bound bound;
    kb_status status = KB_AGAIN;
    int64_t before_fs = 0, least_fs = 0;
    kb_launch_result r;

    (void)state;
    launch_talk(sim, ten_exps, NULL, pe0, 1);
    assert_int_equal(kb_launch_bound(sim, &bound), KB_OK);
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    launch_talk(sim, ten_exps, NULL, pe0, 1);
    assert_int_equal(kb_launch_least_fs(sim, &bound), bound.fs);
    while (status == KB_AGAIN) {
        before_fs = least_fs;
        least_fs = kb_launch_least_fs(sim, &bound);
        assert_true(least_fs >= before_fs);
        status = kb_sim_run(sim, 1, NULL);
    }
    assert_int_equal(status, KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    assert_true(before_fs > bound.fs && before_fs <= r.last_end_fs - r.start_fs);
    assert_int_equal(kb_launch_least_fs(NULL, &bound), 0);
    kb_sim_free(sim);
}

/* -- benches on machines ---------------------------------------------------------------------- */

struct bench_case {
    const kb_bench *bench;
    const char *words[4];
    double least; /* of the time that the bound is at least, on cube8 */
};

static const struct bench_case cases[] = {
    {&bench_copy, {NULL}, 0.3},
    {&bench_softmax, {"M=192", "N=320"}, 0.5},
    {&bench_gemm, {"M=256", "N=256", "K=256"}, 0.05},
    {&bench_gemm, {"M=128", "N=96", "K=160"}, 0},
    {&bench_gemm_composite, {"M=64", "N=64", "K=64"}, 0.01},
    {&bench_mlp, {NULL}, 0.1},
    {&bench_attention, {"S=64"}, 0.2},
    {&bench_attention_ring, {NULL}, 0.1},
    {&bench_flash, {"S=512", "BM=32", "BT=64"}, 0.3},
    {&bench_flash, {"S=512", "BM=128", "BT=256"}, 0.3},
    {&bench_flash, {"S=1000", "BM=16", "BT=48"}, 0.2},
    {&bench_layernorm, {NULL}, 0.3},
    {&bench_threshold, {NULL}, 0},
    {&bench_gather, {NULL}, 0},
    {&bench_list_walk, {NULL}, 0},
    {&bench_overlap, {NULL}, 0.3},
    {&bench_all_reduce, {NULL}, 0},
};

static kb_bench_run *new_run(const struct bench_case *c, const kb_topology *topo)
{
    kb_bench_run *run = NULL;
    kb_error why = {""};
    size_t n = 0;

    while (n < 4 && c->words[n])
        n++;
    return kb_bench_new(c->bench, topo, NULL, 1, c->words, n, &run, &why) ? NULL : run;
}

/* From the first start to the last end; < 0: it needs values, or cannot run there. */
/* *most_fs: the largest bound on the way. */
static int64_t time_of_run(kb_bench_run *run, const kb_bound *bound, int64_t *most_fs)
{
    kb_sim *sim = kb_bench_sim(run);
    int64_t first = INT64_MAX, last = 0;
    kb_status status = KB_AGAIN;

    for (*most_fs = 0; status == KB_AGAIN;) {
        int64_t least_fs = kb_launch_least_fs(sim, bound);

        *most_fs = least_fs > *most_fs ? least_fs : *most_fs;
        status = kb_sim_run(sim, 100, NULL);
    }

    for (size_t i = 0; i < kb_launch_count(sim); i++) {
        kb_launch_result r;

        kb_launch_get(sim, i, &r);
        first = r.start_fs < first ? r.start_fs : first;
        last = r.last_end_fs > last ? r.last_end_fs : last;
    }
    kb_bench_free(run);
    return status ? -1 : last - first;
}

/* Returns how many of the benches have run. */
static unsigned compare_all(const kb_topology *topo, bool near)
{
    unsigned n = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bench_case *c = &cases[i];
        kb_bench_run *weighed = new_run(c, topo), *run = new_run(c, topo);
        int64_t most_fs, fs;
        kb_bound bound;

        if (!weighed || !run)
            continue;
        assert_int_equal(kb_launch_bound(kb_bench_sim(weighed), &bound), KB_OK);
        kb_bench_free(weighed);
        fs = time_of_run(run, &bound, &most_fs);
        if (fs < 0)
            continue;
        n++;
        if (most_fs > fs)
            fail_msg("%s (%zu): its bound %" PRId64 " is above its time %" PRId64, c->bench->name,
                     i, most_fs, fs);
        if (near && (double)bound.fs < c->least * (double)fs)
            fail_msg("%s (%zu): its bound %" PRId64 " is far below its time %" PRId64,
                     c->bench->name, i, bound.fs, fs);
    }
    return n;
}

static void no_bound_is_above_the_time(void **state)
{
    (void)state;
    assert_true(compare_all(&cube8_topology, true) >= 15);
}

/* Keys that make transfers faster or slower than sums of tables, and several servers. */
static void nor_on_machines_of_other_kinds(void **state)
{
    static const char *const keys[] = {
        "contention: {links: ideal}\n",
        "contention: {links: router}\n",
        "addressing: {granule: 256}\n",
        "cube: {pe: {pe_dma: {read_channels: 4, write_channels: 2, packet_bytes: 1024}}}\n",
        "cube: {pe: {pe_dma: {read_channels: 4, write_channels: 2},\n"
        "            pe_tcm: {read_ports: 2, write_ports: 3, line_bytes: 64}}}\n",
        "cube: {hbm: {model: banks, preset: hbm2_dramsim3}}\n",
        "cube: {hbm: {cache: {size_mb: 1.0, bw_gbs: 512.0}}}\n",
        "cube: {l2: {size_mb: 1.0, bw_gbs: 4096.0}}\n",
        "cube: {pe: {pe_dma: {tiles: runs, run_ns: 2.0, issue_ns: 1.0}}}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char yaml[512];
        const kb_topology *topo;

        snprintf(yaml, sizeof yaml, "kernbench: 3\nname: x\nsip: {cube_mesh: {w: 2, h: 1}}\n%s",
                 keys[i]);
        topo = any_topology(yaml);
        assert_non_null(topo);
        if (compare_all(topo, false) < 10)
            fail_msg("too few benches run with %s", keys[i]);
        any_topology_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pe_alone_is_bound_by_its_time),
        cmocka_unit_test(a_box_is_bound_by_its_sum),
        cmocka_unit_test(channels_share_the_sum),
        cmocka_unit_test(what_is_not_known_ends_it),
        cmocka_unit_test(a_mistake_has_no_bound),
        cmocka_unit_test(a_run_that_has_begun_is_refused),
        cmocka_unit_test(a_run_under_way_knows_what_is_left),
        cmocka_unit_test(no_bound_is_above_the_time),
        cmocka_unit_test(nor_on_machines_of_other_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
