/*
 * test_llm_stages.c -- pipelines: stages beside the same layers on one rank, and sums by hand.
 *
 * What is written as a number was computed on paper from the machine's keys and the model's shapes.
 */
#include "support/any_limits.h"
#include "support/any_topology.h"
#include "support/rig.h"

#include "cli/llm/pipeline.h"
#include "cli/llm/routing.h"
#include <stdio.h>

enum { US = 1000000000, NS = 1000000 };

static struct shape decode_of(int64_t tp, int64_t pp, int64_t batch)
{
    return (struct shape){.tp = tp,
                          .pp = pp,
                          .batch = batch,
                          .q = 1,
                          .kv = 16,
                          .page = 16,
                          .weights = KB_BF16,
                          .act = KB_BF16,
                          .kv_dtype = KB_BF16};
}

/* A decode step of `m` in `s`; experts as `routes` says. Give back with pipeline_free(). */
static void run_known(const struct cli *cli, const struct model *m, const struct shape *s,
                      struct routes *routes, struct searched *known, struct pipeline *p)
{
    const struct route_extents x = {s->batch * s->q, m->experts, m->chosen, m->layers, 1};
    const struct llm_routing *routing = NULL;
    struct chip chip;
    struct graph g;
    struct simulator sim = {.cli = cli, .chip = &chip, .known = known, .tries = 1};

    assert_int_equal(chip_of(cli, &chip), EXIT_OK);
    graph_of_model(m, s, &g);
    if (m->experts > 0)
        assert_int_equal(routes_of(cli, routes, &x, &routing), EXIT_OK);
    pipeline_begin(p, s);
    assert_int_equal(pipeline_run(&sim, &g, s, routing, p), EXIT_OK);
    pipeline_end(p, true);
    chip_free(&chip);
}

static void run_on(const kb_topology *topo, kb_engine engine, const struct model *m,
                   const struct shape *s, struct routes *routes, struct pipeline *p)
{
    const struct cli cli = cli_of(topo, engine);
    struct searched known = {0};

    run_known(&cli, m, s, routes, &known, p);
    searched_free(&known);
}

static void run_model(const kb_topology *topo, const struct model *m, const struct shape *s,
                      struct routes *routes, struct pipeline *p)
{
    run_on(topo, KB_FUSED, m, s, routes, p);
}

static size_t op_number(const struct pipeline *p, const char *id)
{
    for (size_t i = 0; i < p->graph.n; i++)
        if (strcmp(p->graph.op[i].id, id) == 0)
            return i;
    fail_msg("there is no operation %s", id);
    return 0;
}

static const struct took *took(const struct pipeline *p, const char *id)
{
    return &p->all.op[op_number(p, id)];
}

/* Two cubes of a PE, and a link of so many GB/s. */
static const kb_topology *two_cubes(int gbs)
{
    char yaml[128];

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: two\nsip: {cube_mesh: {w: 2, h: 1}, d2d: {bw_gbs: %d}}\n"
             "cube: {pes: 1}\n",
             gbs);
    return any_topology(yaml);
}

static struct model shipped(const char *name)
{
    struct model m;

    assert_int_equal(model_read("test", name, true, &m), EXIT_OK);
    return m;
}

/* llama-3.2-1b sends 2048 numbers of bf16 for one request: 4096 B, 4096 ns at 1 GB/s and 2048 at 2.
 */
static void a_send_takes_its_bytes_over_the_link(void **state)
{
    const struct model m = shipped("llama-3.2-1b");
    const struct shape s = decode_of(1, 2, 1);
    struct pipeline p[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        const kb_topology *topo = two_cubes(1 << i);

        run_model(topo, &m, &s, NULL, &p[i]);
        any_topology_free(topo);
    }
    assert_int_equal(op_link_bytes(&p[0].graph.op[op_number(&p[0], "send")], &s), 4096);
    assert_int_equal(took(&p[0], "send")->fs - took(&p[1], "send")->fs, (4096 - 2048) * NS);
    assert_int_equal(took(&p[1], "send")->fs - took(&p[2], "send")->fs, (2048 - 1024) * NS);
    assert_int_equal(took(&p[0], "send")->count, 1);
    assert_string_equal(p[0].cause[op_number(&p[0], "send")], "link");
    assert_int_equal(p[0].stage_fs[0] - p[1].stage_fs[0], (4096 - 2048) * NS);
    assert_int_equal(p[0].stage_fs[1], p[1].stage_fs[1]);
    for (int i = 0; i < 3; i++)
        pipeline_free(&p[i]);
}

/* 16 layers in 2 stages: the embedding and 8 layers, and 8 layers and the head, each of which takes
 * what it takes where one rank has all. */
static void stages_take_what_their_layers_take_on_one_rank(void **state)
{
    const kb_topology *topo = two_cubes(1);
    const struct model m = shipped("llama-3.2-1b");
    struct shape one = decode_of(1, 1, 1), two = decode_of(1, 2, 1);
    struct pipeline whole, p;
    int64_t layer_fs = 0, head_fs;

    (void)state;
    run_model(topo, &m, &one, NULL, &whole);
    run_model(topo, &m, &two, NULL, &p);
    for (size_t i = 0; i < whole.graph.n; i++) {
        assert_int_equal(took(&p, whole.graph.op[i].id)->count, whole.all.op[i].count);
        layer_fs += whole.graph.op[i].is_layer ? whole.all.op[i].fs : 0;
    }
    head_fs = whole.all.fs - took(&whole, "embed")->fs - 16 * layer_fs;
    assert_int_equal(p.stage_fs[0],
                     took(&whole, "embed")->fs + 8 * layer_fs + took(&p, "send")->fs);
    assert_int_equal(p.stage_fs[1], 8 * layer_fs + head_fs);
    assert_int_equal(p.all.fs, 2 * p.stage_fs[1]);
    assert_int_equal(pipeline_bubble_fs(&p), 3 * p.stage_fs[1] - p.stage_fs[0]);
    assert_int_equal(whole.all.fs, whole.stage_fs[0]);
    assert_int_equal(pipeline_bubble_fs(&whole), 0);
    pipeline_free(&whole);
    pipeline_free(&p);
    any_topology_free(topo);
}

/* Two ranks for each of three stages, with collectives, and 4 requests in two parts. */
static void stages_of_ranks_add_up_on_both_engines(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: six\nsip: {cube_mesh: {w: 3, h: 2}}\ncube: {pes: 2}\n");
    struct model m = shipped("llama-3.2-1b");
    struct shape s = decode_of(2, 3, 4);
    struct pipeline p, hop;
    int64_t sum = 0;

    (void)state;
    m.layers = 11; /* 4, 4 and 3 */
    s.micro = 2;
    run_model(topo, &m, &s, NULL, &p);
    run_on(topo, KB_HOP, &m, &s, NULL, &hop);
    assert_memory_equal(&p.all, &hop.all, sizeof p.all);
    pipeline_free(&hop);
    for (size_t i = 0; i < p.graph.n; i++) {
        int64_t count = p.graph.op[i].is_layer ? 11 : p.graph.op[i].kind == LLM_SEND ? 2 : 1;

        assert_int_equal(p.all.op[i].count, 2 * count);
        assert_non_null(p.cause[i]);
        sum += p.all.op[i].all_fs;
    }
    assert_int_equal(sum, 2 * p.sum_fs);
    assert_int_equal(p.sum_fs, p.stage_fs[0] + p.stage_fs[1] + p.stage_fs[2]);
    assert_int_equal(p.all.fs, 3 * p.slowest_fs);
    pipeline_free(&p);
    any_topology_free(topo);
}

/* The second cube reads its weights at half the rate: so do the layers of the second stage. */
static void each_stage_is_on_ranks_of_its_own(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 2\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {pes: 1, hbm: {bw_gbs: "
        "64}}\ncubes: {c1: {hbm: {bw_gbs: 32}}}\n");
    const struct model m = shipped("llama-3.2-1b");
    const struct shape s = decode_of(1, 2, 1);
    struct pipeline p;

    (void)state;
    run_model(topo, &m, &s, NULL, &p);
    const struct took *up = took(&p, "gate_up");
    double ratio = (double)(up->all_fs - 8 * up->fs) / (double)(8 * up->fs);
    assert_true(ratio > 1.9 && ratio < 2.1);
    pipeline_free(&p);
    any_topology_free(topo);
}

/* 4096 B that the second cube writes at 1 GB/s: the first is done with them long before. */
static void a_send_has_ended_when_it_is_kept(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {pes: 1}\n"
                     "cubes: {c1: {hbm: {bw_gbs: 1}}}\n");
    const struct model m = shipped("llama-3.2-1b");
    const struct shape s = decode_of(1, 2, 1);
    struct pipeline p;

    (void)state;
    run_model(topo, &m, &s, NULL, &p);
    assert_true(took(&p, "send")->fs > INT64_C(4096) * NS);
    pipeline_free(&p);
    any_topology_free(topo);
}

static void take_stage(struct pipeline *p, int64_t number, int64_t fs)
{
    const struct stage stage = {.number = number};

    pipeline_add(p, &stage, &(struct iteration){.fs = fs});
}

/* us of stages, and parts: of a token, of a prompt, and what stages wait for a token. */
static void stages_go_in_step(void **state)
{
    static const struct {
        int64_t micro, stage[2], token, prompt, waits;
    } golden[] = {
        {1, {10000, 12000}, 24000, 22000, 26000},
        {2, {6000, 7000}, 14000, 20000, 2000},
        {4, {4000, 5000}, 20000, 24000, 4000},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct shape s = {.pp = 2, .micro = golden[i].micro};
        struct pipeline p;

        pipeline_begin(&p, &s);
        take_stage(&p, 0, golden[i].stage[0] * US);
        take_stage(&p, 1, golden[i].stage[1] * US);
        pipeline_end(&p, false);
        assert_int_equal(p.all.fs, golden[i].prompt * US);
        pipeline_end(&p, true);
        assert_int_equal(p.all.fs, golden[i].token * US);
        assert_int_equal(pipeline_bubble_fs(&p), golden[i].waits * US);
        pipeline_free(&p);
    }
}

static void layers_that_are_left_over_are_of_the_first_stages(void **state)
{
    static const int64_t layers[] = {16, 15, 15, 15}, first[] = {0, 16, 31, 46};
    char why[256];

    (void)state;
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(stage_layers(61, 4, i), layers[i]);
        assert_int_equal(stage_first(61, 4, i), first[i]);
    }
    assert_null(stage_refuse(61, 3, 20, why));
    assert_string_equal(stage_refuse(61, 3, 21, why),
                        "the first 3 must be in a stage with one more; possible are 1 to 20");
    assert_string_equal(stage_refuse(16, 0, 17, why), "possible are 1 to 16");
}

/* Of experts: its layers, and which experts their tokens go to. All layers of the second stage have
 * all tokens go to one expert, those of the first to all alike. */
static void a_stage_has_the_choices_of_its_layers(void **state)
{
    enum { TOKENS = 8, LAYERS = 8, EXPERTS = 8 };
    const kb_topology *topo = two_cubes(8);
    struct model m = shipped("mixtral-8x7b");
    static uint16_t expert[LAYERS * TOKENS];
    struct llm_routing table = {EXPERTS, 1, TOKENS, expert, TOKENS, 1}, *tables[] = {&table};
    struct routes routes = {.table = tables, .n = 1};
    struct shape s = decode_of(1, 2, TOKENS);
    struct pipeline p;

    (void)state;
    m.layers = LAYERS;
    m.hidden = m.expert_inter = 256;
    m.heads = m.kv_heads = 4;
    m.head_dim = 64;
    m.vocab = 512;
    m.chosen = 1;
    for (int i = 0; i < LAYERS * TOKENS; i++)
        expert[i] = (uint16_t)(i / TOKENS < LAYERS / 2 ? i % EXPERTS : 3);
    run_model(topo, &m, &s, &routes, &p);
    const struct took *up = took(&p, "experts_up");
    /* weights of 8 experts in four layers, of one in the others */
    assert_true((up->all_fs - 4 * up->fs) * 4 < 4 * up->fs);
    assert_int_equal(p.all.layers, LAYERS);
    pipeline_free(&p);
    any_topology_free(topo);
}

/* Half of the layers, and keys and values of all parts of the requests. */
/* Stages of a layer each, in which experts have other rows: each product of experts is searched for
 * itself, and those of all layers, as qkv, once. */
static void tiles_of_experts_are_those_of_the_stage(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: four\nsip: {cube_mesh: {w: 4, h: 1}}\ncube: {pes: 1}\n");
    const struct cli cli = cli_of(topo, KB_FUSED);
    struct model m = shipped("mixtral-8x7b");
    const struct shape s = decode_of(1, 4, 8);
    struct routes routes = {.how = ROUTE_UNIFORM, .seed = 1};
    struct searched known = {0};
    struct pipeline p;
    size_t of_experts = 0;

    (void)state;
    m.layers = 4;
    m.hidden = 256;
    m.vocab = 512;
    m.inter = m.expert_inter = 64;
    m.head_dim = 8;
    run_known(&cli, &m, &s, &routes, &known, &p);
    for (size_t i = 0; i < known.n; i++)
        of_experts += known.product[i].op.experts > 0;
    assert_int_equal(of_experts, 4 * 2);
    assert_int_equal(known.n, of_experts + 4); /* qkv, o, gate, head */
    searched_free(&known);
    pipeline_free(&p);
    routes_free(&routes);
    any_topology_free(topo);
}

static void a_stage_needs_room_for_its_layers_and_all_requests(void **state)
{
    const struct model m = shipped("llama-3.2-1b");
    struct shape s = decode_of(1, 2, 2);
    struct stage *stage = calloc(2, sizeof *stage);
    struct graph *whole = calloc(1, sizeof *whole);
    uint64_t room[2];

    (void)state;
    assert_true(stage && whole);
    graph_of_model(&m, &s, whole);
    for (int i = 0; i < 2; i++) {
        s.micro = 1 + i;
        stage_of(whole, 2, 1, &stage[i]);
        graph_place(&stage[i].graph, &s, 1, 1);
        room[i] = stage[i].graph.room;
        assert_int_equal(stage[i].graph.layers, 8);
    }
    /* 8 layers of 2 requests of a page of 16 tokens: 8 heads of 64, keys and values, 2 B */
    assert_int_equal(room[1] - room[0], 8 * 2 * 16 * 8 * 64 * 2 * 2);
    free(stage);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_takes_its_bytes_over_the_link),
        cmocka_unit_test(stages_take_what_their_layers_take_on_one_rank),
        cmocka_unit_test(each_stage_is_on_ranks_of_its_own),
        cmocka_unit_test(a_send_has_ended_when_it_is_kept),
        cmocka_unit_test(stages_of_ranks_add_up_on_both_engines),
        cmocka_unit_test(stages_go_in_step),
        cmocka_unit_test(layers_that_are_left_over_are_of_the_first_stages),
        cmocka_unit_test(a_stage_has_the_choices_of_its_layers),
        cmocka_unit_test(tiles_of_experts_are_those_of_the_stage),
        cmocka_unit_test(a_stage_needs_room_for_its_layers_and_all_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
