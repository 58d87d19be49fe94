/* test_llm.c -- times of models on ranks of machines. */
#include "support/any_topology.h"
#include "support/any_limits.h"
#include "support/llm_times.h"
#include "support/rig.h"

#include "base/rng.h"
#include "cli/llm/cause.h"
#include "cli/llm/routing.h"
#include "cli/llm/llm_search.h"
#include "cube8.h"
#include "tray32.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void hold_times(const kb_topology *topo, enum model_family family, const struct shape *s)
{
    struct graph g;
    struct iteration it = time_of(topo, KB_FUSED, family, s, &g);
    struct iteration hop = time_of(topo, KB_HOP, family, s, &g);
    int64_t sum = 0;

    for (size_t i = 0; i < g.n; i++) {
        sum += it.op[i].all_fs;
        assert_int_equal(it.op[i].count, g.op[i].is_layer ? 4 : 1);
        assert_int_equal(it.op[i].all_fs, hop.op[i].all_fs);
        if (op_flops(&g.op[i]) > 0)
            assert_true(it.op[i].fs > 0);
    }
    assert_int_equal(sum, it.fs);
}

static void operations_add_up_on_both_engines(void **state)
{
    struct shape decode = decode_of(8, 4, 100);
    struct shape prefill = decode;

    (void)state;
    prefill.q = prefill.kv = 40;
    prefill.batch = 1;
    prefill.tp = 2;
    hold_times(&cube8_topology, MODEL_LLAMA, &decode);
    hold_times(&cube8_topology, MODEL_QWEN3, &prefill);
    hold_times(&cube8_topology, MODEL_MIXTRAL, &decode);
    decode.ep = 4;
    prefill.ep = 2;
    prefill.q = prefill.kv = 150; /* two rows of PEs */
    hold_times(&cube8_topology, MODEL_MIXTRAL, &decode);
    hold_times(&cube8_topology, MODEL_MIXTRAL, &prefill);
    decode.weights = decode.kv_dtype = KB_I8;
    decode.tp = 1;
    hold_times(&cube8_topology, MODEL_FALCON, &decode);
}

/* One expert that all tokens want takes its rank longer than even ones do; layers differ then, and
 * all are simulated. */
static void experts_that_many_want_take_longer(void **state)
{
    const struct cli cli = cli_of(&cube8_topology, KB_FUSED);
    struct model m = small_model(MODEL_MIXTRAL);
    struct shape s = decode_of(8, 128, 16);
    struct routes even = {.how = ROUTE_EVEN}, zipf = {.how = ROUTE_ZIPF, .slope = 4, .seed = 1};
    struct iteration it[2];
    struct graph g;

    (void)state;
    m.layers = 12;
    s.ep = 8;
    it[0] = time_routed(&cli, &m, &s, &even, &g);
    it[1] = time_routed(&cli, &m, &s, &zipf, &g);
    for (size_t i = 0; i < g.n; i++) {
        if (strcmp(g.op[i].id, "experts_up") == 0) /* weights are read once, by however many */
            assert_true(it[1].op[i].all_fs > it[0].op[i].all_fs);
        if (strcmp(g.op[i].id, "experts_act") == 0)
            assert_true(it[1].op[i].all_fs > 2 * it[0].op[i].all_fs);
    }
    assert_int_equal(it[1].layers, 12);
    routes_free(&even);
    routes_free(&zipf);
}

/* The queues of results of a head take a part of a small TCM only. */
static void many_pes_share_a_head(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: many\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pes: 64, pe: {pe_tcm: {size_mb: 1}}}\n");
    struct model m = small_model(MODEL_LLAMA);
    const struct shape s = decode_of(1, 1, 1024);
    struct iteration it[2];
    struct graph g;

    (void)state;
    m.kv_heads = 1;
    for (int i = 0; i < 2; i++) {
        const struct cli cli = cli_of(topo, i ? KB_HOP : KB_FUSED);

        it[i] = time_by(&cli, &m, &s, &g);
    }
    assert_memory_equal(&it[0], &it[1], sizeof it[0]);
    any_topology_free(topo);
}

#define CUBE8(software)                                                                            \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\nsoftware: {" software "}\n"

/* Each operation waits for its launch, on all PEs at once. */
static void a_launch_is_paid_by_each_operation(void **state)
{
    struct shape s = decode_of(8, 4, 100);
    const kb_topology *plain = any_topology(CUBE8("launch_ns: 0"));
    const kb_topology *paid = any_topology(CUBE8("launch_ns: 1000"));
    struct graph g;
    struct iteration without = time_of(plain, KB_FUSED, MODEL_LLAMA, &s, &g);
    struct iteration with = time_of(paid, KB_FUSED, MODEL_LLAMA, &s, &g);

    (void)state;
    for (size_t i = 0; i < g.n; i++)
        assert_int_equal(with.op[i].all_fs - without.op[i].all_fs,
                         (int64_t)with.op[i].count * 1000000000);
    any_topology_free(plain);
    any_topology_free(paid);
}

/* What lies between units pays for its calls and steps, and nothing else does. */
static void collectives_between_ranks_pay(void **state)
{
    struct shape s = decode_of(8, 4, 100);
    const kb_topology *plain = any_topology(CUBE8("unit: cube"));
    const kb_topology *paid = any_topology(CUBE8("call_ns: 1000, step_ns: 1000, unit: cube"));
    struct graph g;
    struct iteration without = time_of(plain, KB_FUSED, MODEL_LLAMA, &s, &g);
    struct iteration with = time_of(paid, KB_FUSED, MODEL_LLAMA, &s, &g);

    (void)state;
    for (size_t i = 0; i < g.n; i++) {
        int64_t more = with.op[i].all_fs - without.op[i].all_fs;

        if (g.op[i].kind == LLM_ALL_REDUCE || g.op[i].kind == LLM_ALL_GATHER)
            assert_true(more > (int64_t)with.op[i].count * 2000000000);
        else
            assert_int_equal(more, 0);
    }
    any_topology_free(plain);
    any_topology_free(paid);
}

/* Of a decode step, of all operations; are they those of one rank, or of all? */
static void causes_on(const kb_topology *topo, bool of_all, struct graph *g,
                      const char *cause[GRAPH_OPS_MAX])
{
    struct cli cli = cli_of(topo, KB_FUSED);
    const struct model m = small_model(MODEL_LLAMA);
    const struct shape s = decode_of(8, 4, 100);
    struct llm_known known;
    struct chip chip;

    cli.opts.no_repeat = of_all;
    time_by(&cli, &m, &s, g);
    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    assert_int_equal(causes_alone(&cli, &chip, g, &s, &known, cause), EXIT_OK);
    assert_int_equal(known.ranks, of_all ? 0 : 1);
    assert_int_equal(causes_of(&cli, &chip, g, &s, &known, cause), EXIT_OK);
    run_forget(&known);
    chip_free(&chip);
}

/* The cause of operation `id`, of one rank or of all. */
static const char *cause_of(const kb_topology *topo, const char *id)
{
    const char *cause[GRAPH_OPS_MAX] = {NULL}, *of_all[GRAPH_OPS_MAX] = {NULL}, *of_id = "none";
    struct graph g;

    causes_on(topo, false, &g, cause);
    causes_on(topo, true, &g, of_all);
    for (size_t i = 0; i < g.n; i++) {
        assert_non_null(cause[i]);
        assert_string_equal(cause[i], of_all[i]);
        if (strcmp(g.op[i].id, id) == 0)
            of_id = cause[i];
    }
    return of_id;
}

#define SLOW(keys) "kernbench: 1\nname: slow\nsip: {cube_mesh: {w: 4, h: 2}}\n" keys "\n"

/* One thing of the machine is so slow that all else does not matter. */
static void the_cause_is_what_binds(void **state)
{
    static const struct {
        const char *machine, *op, *cause;
    } cases[] = {
        {SLOW("software: {launch_ns: 100000}"), "norm1", "launch"},
        {SLOW("software: {launch_ns: 100000}"), "gate_up", "launch"},
        {SLOW("cube: {hbm: {bw_gbs: 1}}"), "gate_up", "hbm"},
        {SLOW("cube: {hbm: {bw_gbs: 1}}"), "embed", "hbm"},
        {SLOW("cube: {pe: {pe_gemm: {clock_ghz: 0.001}}}"), "gate_up", "compute"},
        {SLOW("cube: {pe: {pe_math: {clock_ghz: 0.001}}}"), "act", "compute"},
        {SLOW("cube: {pe: {pe_cpu: {overhead_ns: 10000}}}"), "gate_up", "issue"},
        {SLOW("cube: {pes: 1, hbm: {bw_gbs: 1}}"), "down", "hbm"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kb_topology *topo = any_topology(cases[i].machine);

        assert_non_null(topo);
        assert_string_equal(cause_of(topo, cases[i].op), cases[i].cause);
        any_topology_free(topo);
    }
}

/* More users take more time, and two ranks less than one. */
static void times_follow_the_work(void **state)
{
    struct shape s = decode_of(1, 1, 64);
    struct graph g;
    int64_t one = time_of(&cube8_topology, KB_FUSED, MODEL_LLAMA, &s, &g).fs;

    (void)state;
    s.batch = 16;
    assert_true(time_of(&cube8_topology, KB_FUSED, MODEL_LLAMA, &s, &g).fs > one);
    s.kv = 4096;
    int64_t far = time_of(&cube8_topology, KB_FUSED, MODEL_LLAMA, &s, &g).fs;
    s.tp = 4;
    assert_true(time_of(&cube8_topology, KB_FUSED, MODEL_LLAMA, &s, &g).fs < far);
}

/* A machine whose PEs share slices, over which addresses may go round. */
static const kb_topology *any_slices(struct rng *r)
{
    static const char *const granules[] = {"0", "4096", "4096, over: sip"};
    char yaml[512];

    snprintf(yaml, sizeof yaml,
             "kernbench: 3\nname: slices\nsip: {cube_mesh: {w: 2, h: 1}}\naddressing: {granule: "
             "%s}\ncube: {pes: %lld, hbm: {slices: %lld, latency_ns: %lld, bw_gbs: %lld},\n"
             "       pe: {pe_dma: {read_channels: %lld}}}\n",
             granules[any(r, 0, 2)], (long long)any(r, 1, 12), (long long)any(r, 1, 4),
             (long long)any(r, 0, 300), (long long)any(r, 16, 512), (long long)any(r, 1, 16));
    return any_topology(yaml);
}

/* A product of any shape with any tile; is there a bound? */
static bool hold_bound(const kb_topology *topo, struct rng *r)
{
    struct cli cli = cli_of(topo, KB_FUSED);
    struct shape s = decode_of(1, any(r, 1, 80), 16);
    struct graph g = {.n = 1, .layers = 1};
    struct iteration it;
    struct chip chip;
    uint32_t p, q;

    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    g.op[0] = (struct llm_op){.kind = LLM_GEMM,
                              .x = {s.batch, any(r, 16, 700), 1, 1, KB_BF16, 0},
                              .y = {s.batch, 2 * any(r, 16, 700), 2, 2, KB_BF16, 0},
                              .weight_dtype = KB_BF16,
                              .tile = {any(r, 8, 90), any(r, 8, 200), any(r, 8, 200)}};
    grid_of(&chip, s.batch, &p, &q);
    graph_place(&g, &s, p, q);
    assert_int_equal(run_graph(&cli, &chip, &g, &s, NULL, &it), EXIT_OK);
    double bound = search_bound_ns(&chip, &g.op[0], p, q);
    assert_true(bound * 1e6 <= (double)it.fs);
    chip_free(&chip);
    return bound > 0;
}

/* A bound of products of experts, of any numbers of rows. */
static void hold_bound_of_experts(const kb_topology *topo, struct rng *r)
{
    const struct cli cli = cli_of(topo, KB_FUSED);
    struct shape s = decode_of(1, any(r, 1, 60), 16);
    struct routes routes = {.how = ROUTE_ZIPF, .slope = 1, .seed = (uint64_t)any(r, 1, 1000)};
    const struct route_extents x = {s.batch, any(r, 2, 9), 2, 1, 1};
    const struct llm_routing *routing;
    struct graph g = {.n = 1, .layers = 1};
    struct iteration it;
    struct chip chip;
    uint32_t p, q;

    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    g.op[0] = (struct llm_op){.kind = LLM_GEMM,
                              .x = {2 * s.batch, any(r, 16, 700), 1, 1, KB_BF16, 2},
                              .y = {2 * s.batch, 2 * any(r, 16, 700), 2, 2, KB_BF16, 2},
                              .weight_dtype = KB_BF16,
                              .tile = {any(r, 8, 90), any(r, 8, 200), any(r, 8, 200)},
                              .experts = x.experts,
                              .chosen = 2,
                              .ep = 1};
    grid_of(&chip, s.batch, &p, &q);
    graph_place(&g, &s, p, q);
    assert_int_equal(routes_of(&cli, &routes, &x, &routing), EXIT_OK);
    graph_route(&g, routing);
    assert_int_equal(run_graph(&cli, &chip, &g, &s, NULL, &it), EXIT_OK);
    double bound = search_bound_ns(&chip, &g.op[0], p, q);
    assert_true(bound > 0 && bound * 1e6 <= (double)it.fs);
    routes_free(&routes);
    chip_free(&chip);
}

/* KB_SEEDS=N in the environment draws N machines. On some the memories are not plain, or their keys
 * are those of a kind. */
static void no_product_is_faster_than_its_bound(void **state)
{
    static const char *const machines[] = {
        "kernbench: 3\nname: t\nsip: {cube_mesh: {w: 2, h: 1}}\naddressing: {granule: 4096, over: "
        "sip}\ncube: {hbm: {latency_ns: "
        "200}}\n",
        "kernbench: 3\nname: t\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {pes: 3, l2: {size_mb: 1}}\n",
        "kernbench: 3\nname: t\nsip: {cube_mesh: {w: 2, h: 1}}\nkinds: {fast: {pe: {pe_gemm: {mac: "
        "[32, 64, 32]}, pe_cpu: "
        "{overhead_ns: 90}}, hbm: {bw_gbs: 16}}}\ncubes: {\"c*\": fast}\n"};
    struct rng r = rng_new(7, "bounds");
    const char *wanted = getenv("KB_SEEDS");
    int n = wanted ? atoi(wanted) : 20;

    (void)state;
    for (int i = 0; i < 20; i++)
        hold_bound_of_experts(i % 2 ? &cube8_topology : &tray32_topology, &r);
    for (int i = 0; i < 40; i++)
        assert_true(hold_bound(i % 2 ? &cube8_topology : &tray32_topology, &r));
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const kb_topology *topo = any_topology(machines[i]);

        for (int k = 0; k < 8; k++)
            assert_true(hold_bound(topo, &r));
        any_topology_free(topo);
    }
    for (int i = 0; i < n; i++) {
        const kb_topology *topo = i % 2 ? any_slices(&r) : any_limits(&r);

        for (int k = 0; k < 3; k++)
            assert_true(hold_bound(topo, &r));
        any_topology_free(topo);
    }
}

/* The response to the host, which comes later, belongs to no product. */
static void a_run_ends_at_its_limit(void **state)
{
    struct shape s = decode_of(1, 40, 16);
    const kb_engine engines[] = {KB_FUSED, KB_HOP};
    struct llm_op op = {.kind = LLM_GEMM,
                        .x = {40, 512, 1, 1, KB_BF16},
                        .y = {40, 256, 2, 2, KB_BF16},
                        .weight_dtype = KB_BF16,
                        .tile = {32, 64, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct cli cli = cli_of(&cube8_topology, engines[i]);
        struct graph g = {.n = 1, .layers = 1, .op = {op}};
        struct iteration all, to_the_end, short_of_it;
        struct chip chip;
        uint32_t p, q;

        assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
        grid_of(&chip, s.batch, &p, &q);
        graph_place(&g, &s, p, q);
        assert_int_equal(run_graph(&cli, &chip, &g, &s, NULL, &all), EXIT_OK);
        g.limit.until_fs = all.start_fs + all.fs;
        assert_int_equal(run_graph(&cli, &chip, &g, &s, NULL, &to_the_end), EXIT_OK);
        assert_true(!to_the_end.gave_up && to_the_end.fs == all.fs);
        assert_true(to_the_end.start_fs == all.start_fs);
        g.limit.until_fs--;
        assert_int_equal(run_graph(&cli, &chip, &g, &s, NULL, &short_of_it), EXIT_OK);
        assert_true(short_of_it.gave_up);
        chip_free(&chip);
    }
}

static void a_search_is_not_worse_with_more_tries(void **state)
{
    struct cli cli = cli_of(&cube8_topology, KB_FUSED);
    struct model m = small_model(MODEL_LLAMA);
    struct shape s = decode_of(8, 8, 64);
    struct found few[GRAPH_OPS_MAX] = {{0}}, many[GRAPH_OPS_MAX] = {{0}},
                 all[GRAPH_OPS_MAX] = {{0}};
    struct searched known[3] = {{0}};
    struct graph g, h, third;
    uint32_t left_out = 0;
    struct chip chip;
    uint32_t p, q;

    (void)state;
    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    graph_of_model(&m, &s, &g);
    grid_of(&chip, s.batch, &p, &q);
    graph_place(&g, &s, p, q);
    h = third = g;
    assert_int_equal(search_tiles(&cli, &chip, &g, &s, 1, &known[0], few), EXIT_OK);
    assert_int_equal(search_tiles(&cli, &chip, &h, &s, 1000, &known[1], many), EXIT_OK);
    assert_int_equal(search_tiles(&cli, &chip, &third, &s, UINT64_MAX, &known[2], all), EXIT_OK);
    for (size_t i = 0; i < g.n; i++)
        if (g.op[i].kind == LLM_GEMM) {
            assert_int_equal(few[i].tried, 1);
            assert_true(all[i].proven);
            assert_true(many[i].best_fs <= few[i].best_fs);
            assert_int_equal(many[i].best_fs, all[i].best_fs);
            left_out += all[i].tried - many[i].tried; /* those of far more loads */
            /* the first is good: it knows the ways to other PEs, and that what is gathered of
             * several comes at once */
            assert_true((double)few[i].best_fs <= 1.1 * (double)many[i].best_fs);
        }
    assert_true(left_out > 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        searched_free(&known[i]);
    chip_free(&chip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_add_up_on_both_engines),
        cmocka_unit_test(many_pes_share_a_head),
        cmocka_unit_test(a_launch_is_paid_by_each_operation),
        cmocka_unit_test(collectives_between_ranks_pay),
        cmocka_unit_test(times_follow_the_work),
        cmocka_unit_test(experts_that_many_want_take_longer),
        cmocka_unit_test(the_cause_is_what_binds),
        cmocka_unit_test(no_product_is_faster_than_its_bound),
        cmocka_unit_test(a_run_ends_at_its_limit),
        cmocka_unit_test(a_search_is_not_worse_with_more_tries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
