/* test_llm_repeat.c -- layers and ranks that `llm` leaves out take what they take with --no-repeat.
 */
#include "support/any_topology.h"
#include "support/llm_times.h"

#include "cli/llm/cause.h"
#include "cube8.h"
#include "tray32.h"

static struct model read_model(const char *name)
{
    struct model m;

    assert_int_equal(model_read("test", name, true, &m), EXIT_OK);
    return m;
}

/* Runs `layers` layers, all of them or as far as they repeat; how many were simulated. */
static int64_t layers_of(const kb_topology *topo, const struct shape *s, bool no_repeat,
                         struct iteration *it)
{
    struct cli cli = cli_of(topo, KB_FUSED);
    struct model m = small_model(MODEL_LLAMA);
    struct graph g;

    m.layers = 12;
    cli.opts.no_repeat = no_repeat;
    *it = time_by(&cli, &m, s, &g);
    return it->layers;
}

/* 2: wherever bytes lie; 1: if layers lie alike. */
static int repeats(const char *yaml)
{
    const kb_topology *topo = any_topology(yaml);
    struct cli cli = cli_of(topo, KB_FUSED);
    struct chip chip;

    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    chip_free(&chip);
    any_topology_free(topo);
    return chip.forgets ? 2 : chip.repeats;
}

/* Where bytes lie, or the number of a transaction, may decide how long it takes. */
static void machines_that_remember_simulate_all_layers(void **state)
{
#define ONE(more) "kernbench: 2\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n" more
    (void)state;
    assert_int_equal(repeats(ONE("")), 2);
    assert_int_equal(repeats(ONE("addressing: {granule: 4096}\n")), 1);
    assert_int_equal(repeats(ONE("cube: {hbm: {model: banks}}\n")), 0);
    assert_int_equal(repeats(ONE("cube: {hbm: {cache: {size_mb: 1}}}\n")), 0);
    assert_int_equal(repeats(ONE("cube: {hbm: {access_bytes: 64}}\n")), 0);
    assert_int_equal(repeats(ONE("addressing: {granule: 4096, hash: xor}\n")), 0);
    assert_int_equal(repeats(ONE("contention: {links: router}\n")), 0);
    assert_int_equal(repeats("kernbench: 3\nname: net\n"
                             "sip: {cubes: 4, net: [{mesh: [2, 2]}], paths: 2}\n"),
                     0);
}

/* Ranks that share links: the order of what meets there changes from layer to layer. */
static void layers_that_do_not_repeat_are_simulated(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: mesh\nsip: {cube_mesh: {w: 4, h: 2}}\n");
    struct cli cli = cli_of(topo, KB_FUSED);
    const struct model m = read_model("llama-3.2-1b");
    const struct shape eight = decode_of(8, 4, 64);
    struct iteration few, all;
    struct graph g;

    (void)state;
    few = time_by(&cli, &m, &eight, &g);
    cli.opts.no_repeat = true;
    all = time_by(&cli, &m, &eight, &g);
    assert_int_equal(all.layers, 16);
    all.layers = few.layers;
    assert_memory_equal(&few, &all, sizeof few);
    any_topology_free(topo);
}

#define INTERLEAVED(cubes)                                                                         \
    "kernbench: 3\nname: blocks\nsip: {cube_mesh: {w: 2, h: 1}}\n" cubes                           \
    "addressing: {granule: 4096, over: sip}\n"

/* On interleaved slices, of one rank, and of two that share them; weights of this model's parts are
 * no multiples of a round. */
static void layers_on_interleaved_slices_repeat(void **state)
{
    static const char *const machines[] = {INTERLEAVED("cube: {pes: 3}\n"),
                                           INTERLEAVED("cube: {pes: 4, hbm: {slices: 1}}\n")};
    struct shape s = decode_of(1, 2, 100);
    struct iteration few, all;

    (void)state;
    for (int i = 0; i < 4; i++) {
        const kb_topology *topo = any_topology(machines[i % 2]);

        s.tp = 1 + i / 2;
        assert_true(layers_of(topo, &s, false, &few) <= (s.tp == 1 ? 4 : 12));
        assert_int_equal(layers_of(topo, &s, true, &all), 12);
        all.layers = few.layers;
        assert_memory_equal(&few, &all, sizeof few);
        any_topology_free(topo);
    }
}

/* What is left out takes as long as what is not; where bytes lie decides it, all are simulated. */
static void layers_that_repeat_take_the_same_times(void **state)
{
    static const char banks[] = "kernbench: 2\nname: banks\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                                "cube: {pes: 2, hbm: {model: banks}}\n";
    const kb_topology *topo = any_topology(banks);
    struct shape one = decode_of(1, 2, 100), two = decode_of(2, 2, 100);
    struct iteration few, all;

    (void)state;
    assert_true(layers_of(&cube8_topology, &one, false, &few) < 12);
    assert_int_equal(layers_of(&cube8_topology, &one, true, &all), 12);
    all.layers = few.layers;
    assert_memory_equal(&few, &all, sizeof few);
    assert_int_equal(layers_of(&tray32_topology, &two, false, &few), 2);
    assert_int_equal(layers_of(&tray32_topology, &two, true, &all), 12);
    all.layers = few.layers;
    assert_memory_equal(&few, &all, sizeof few);
    assert_int_equal(layers_of(topo, &one, false, &few), 12);
    any_topology_free(topo);
}

/* Of a machine on which the DMA of a PE still keeps the time between two commands when an operation
 * ends; `tp` ranks of one cube. */
static void paced(int64_t tp, int64_t batch)
{
    const kb_topology *topo =
        any_topology("kernbench: 3\nname: paced\nlinks: {l: {bw_gbs: 1.0, lanes: 2}}\n"
                     "cube: {pes: 2, hbm: {slices: 2, latency_ns: 0.0},"
                     " pe: {pe_dma: {issue_ns: 26.7}}}\n"
                     "sip: {cubes: 4, net: [{mesh: [2, 2], link: l}]}\n");
    struct shape s = decode_of(tp, batch, 3);
    struct iteration few, all;

    layers_of(topo, &s, false, &few);
    layers_of(topo, &s, true, &all);
    all.layers = few.layers;
    assert_memory_equal(&few, &all, sizeof few);
    any_topology_free(topo);
}

static void what_a_dma_keeps_from_one_operation_to_the_next_is_not_leapt_over(void **state)
{
    (void)state;
    paced(1, 2);
    paced(4, 3);
}

/* The first two layers seem alike to the PE that comes first to the third. */
static void layers_that_turn_out_other_are_simulated(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 3\nname: row\nlinks: {l: {bw_gbs: 5.0, latency_ns: 125.0}}\n"
        "cube: {pes: 4, hbm: {slices: 4, bw_gbs: 64.0, latency_ns: 0.0}, pe: {pe_dma: {issue_ns: "
        "1.0}}}\n"
        "sip: {cubes: 6, net: [{list: [c0-c1, c1-c2, c2-c3, c3-c4, c4-c5], link: l}]}\n");
    struct cli cli = cli_of(topo, KB_FUSED);
    struct model m = small_model(MODEL_LLAMA);
    struct shape s = decode_of(6, 2, 50);
    struct iteration few, all;
    struct graph g;

    (void)state;
    s.q = 50;
    m.hidden = 192, m.layers = 5, m.heads = m.kv_heads = 12, m.head_dim = 16;
    m.inter = m.vocab = 240;
    few = time_by(&cli, &m, &s, &g);
    cli.opts.no_repeat = true;
    all = time_by(&cli, &m, &s, &g);
    assert_int_equal(few.layers, 5);
    assert_memory_equal(&few, &all, sizeof few);
    any_topology_free(topo);
}

/* Times of two layers on two PEs: of an operation alone, a collective, one alone, a collective. */
static void the_end_of_the_last_collective_decides(void **state)
{
    static const struct llm_op ops[] = {{.kind = LLM_EMBED},
                                        {.kind = LLM_NORM, .is_layer = true},
                                        {.kind = LLM_ALL_REDUCE, .is_layer = true},
                                        {.kind = LLM_NORM, .is_layer = true},
                                        {.kind = LLM_ALL_REDUCE, .is_layer = true}};
    const struct llm_known known = {.ranks = 1};
    int64_t end[] = {3, 3, 10, 11, 20, 21, 30, 31, 40, 41, 51, 49, 61, 62, 71, 73, 81, 82};
    struct llm_step s = {
        .op = ops, .n_ops = 5, .ranks = 2, .pes = 1, .end_fs = end, .known = &known};

    (void)state;
    assert_true(llm_is_as_before(&s, 1)); /* both end 41 later */
    s.known = NULL;                       /* each operation has to */
    assert_false(llm_is_as_before(&s, 1));
    s.known = &known;
    end[17] = 0; /* it has not ended yet */
    assert_true(llm_is_as_before(&s, 1));
    end[16] = 0, end[17] = 82;
    assert_true(llm_is_as_before(&s, 1));
    end[16] = 80;
    assert_false(llm_is_as_before(&s, 1));
}

/* Even layers repeat, and what is left out takes as long as what is not. */
static void layers_of_even_experts_repeat(void **state)
{
    struct cli cli = cli_of(&cube8_topology, KB_FUSED);
    struct model m = small_model(MODEL_MIXTRAL);
    const struct shape s = decode_of(8, 4, 16);
    struct iteration few, all;
    struct graph g;

    (void)state;
    m.layers = 12;
    few = time_by(&cli, &m, &s, &g);
    cli.opts.no_repeat = true;
    all = time_by(&cli, &m, &s, &g);
    assert_true(few.layers < 12);
    assert_int_equal(all.layers, 12);
    all.layers = few.layers;
    assert_memory_equal(&few, &all, sizeof few);
}

/* All layers are even but the last, which is for two experts: it is not taken for one of the
 * others. */
static void layers_of_other_experts_are_simulated(void **state)
{
    enum { TOKENS = 8, CHOSEN = 2, SLOTS = TOKENS * CHOSEN, LAYERS = 12 };
    const struct cli cli = cli_of(&cube8_topology, KB_FUSED);
    struct model m = small_model(MODEL_MIXTRAL);
    const struct shape s = decode_of(8, TOKENS, 16);
    static uint16_t expert[LAYERS * SLOTS];
    struct llm_routing table = {m.experts, CHOSEN, TOKENS, expert, SLOTS, 1}, *tables[] = {&table};
    struct routes routes = {.table = tables, .n = 1};
    struct iteration it;
    struct graph g;

    (void)state;
    m.layers = LAYERS;
    for (int i = 0; i < LAYERS * SLOTS; i++)
        expert[i] = (uint16_t)(i / SLOTS == LAYERS - 1 ? i % CHOSEN : i % 8);
    it = time_routed(&cli, &m, &s, &routes, &g);
    assert_int_equal(it.layers, LAYERS);
    for (size_t i = 0; i < g.n; i++)
        if (strcmp(g.op[i].id, "experts_up") == 0)
            assert_true(it.op[i].all_fs < LAYERS * it.op[i].fs * 97 / 100);
}

/* With leaps between exchanges of ranks, and without. */
static void exchange_rows(int64_t tp, int64_t ep, int64_t tokens)
{
    struct cli cli = cli_of(&cube8_topology, KB_FUSED);
    struct model m = small_model(MODEL_MIXTRAL);
    struct shape s = decode_of(tp, tokens, 16);
    struct iteration few, all;
    struct graph g;

    m.layers = 12;
    s.ep = ep;
    few = time_by(&cli, &m, &s, &g);
    cli.opts.no_repeat = true;
    all = time_by(&cli, &m, &s, &g);
    all.layers = few.layers;
    assert_memory_equal(&few, &all, sizeof few);
}

static void ranks_that_exchange_rows_take_the_same_times(void **state)
{
    (void)state;
    exchange_rows(8, 8, 20);
    exchange_rows(2, 8, 7); /* experts of four copies */
}

/* Ranks that own a token less than others are in the next collective while these still combine, and
 * what they send is in the way of that. */
static void ranks_that_are_ahead_take_the_same_times(void **state)
{
    (void)state;
    exchange_rows(8, 8, 36);
    exchange_rows(8, 4, 57);
}

/* A net in which transactions between ranks take one of the switches by their ids. */
#define WAYS                                                                                       \
    "kernbench: 3\nname: ways\n"                                                                   \
    "links: {a: {bw_gbs: 5.0, lanes: 2, latency_ns: 125.0},"                                       \
    " b: {bw_gbs: 5.0, latency_ns: 125.0}}\n"                                                      \
    "kinds: {gpu: {pes: 3, transit: none, hbm: {slices: 3}},"                                      \
    " sw: {pes: 0, hbm: {slices: 0}, noc: {bw_gbs: 5.0}}}\n"                                       \
    "sip: {cubes: 6, paths: 3, net: [{each: [\"c[0-3]\", c4], link: a},"                           \
    " {each: [\"c[0-3]\", c5], link: b}]}\n"                                                       \
    "cubes: {\"c[0-3]\": gpu, \"c[4-5]\": sw}\n"

/* SIPs of two dies, between which transactions take one of the switches by their ids. */
#define RAILS                                                                                      \
    "kernbench: 3\nname: rails\nsips: 4\n"                                                         \
    "links: {hbi: {bw_gbs: 500.0, latency_ns: 10.0}, nvl: {bw_gbs: 5.0, latency_ns: 125.0}}\n"     \
    "kinds: {gpu: {pes: 3, hbm: {slices: 3}}, hub: {pes: 0, hbm: {slices: 0}}}\n"                  \
    "fabric: {shape: net, switches: 3, net: [{each: ['s*.c2', 'sw*'], link: nvl}]}\n"              \
    "sip: {cubes: 3, paths: 3, net: [{list: [c0-c1, c0-c2, c1-c2], link: hbi}]}\n"                 \
    "cubes: {'s*.c[0-1]': gpu, 's*.c2': hub}\n"

#define SIPS(net, rails)                                                                           \
    "kernbench: 3\nname: sips\nsips: 3\nlinks: {nvl: {bw_gbs: 5.0, latency_ns: 125.0}}\n"          \
    "cube: {pes: 2, hbm: {slices: 2}}\nsip: {cubes: 4, paths: 2, net: [{list: " net "}]}\n"        \
    "fabric: {shape: net, switches: 2, net: [{each: ['s*.c0', 'sw*'], link: nvl}" rails "]}\n"

/* What is leapt over leaves its ids free. */
static void check_ids(const char *machine)
{
    const kb_topology *topo = any_topology(machine);
    struct cli cli = cli_of(topo, KB_FUSED);
    const struct model m = small_model(MODEL_LLAMA);
    struct iteration few, all;
    struct chip chip;
    struct graph g;

    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    assert_true(chip.leaps && chip.has_lone_units && chip.has_like_units && !chip.repeats);
    chip_free(&chip);
    for (int batch = 1; batch < 6; batch += 2) {
        const struct shape s = decode_of(4, batch, 40);

        cli.opts.no_repeat = false;
        few = time_by(&cli, &m, &s, &g);
        cli.opts.no_repeat = true;
        all = time_by(&cli, &m, &s, &g);
        assert_memory_equal(&few, &all, sizeof few);
    }
    any_topology_free(topo);
}

static void ids_are_those_of_all_commands(void **state)
{
    (void)state;
    check_ids(WAYS);
    check_ids(RAILS);
}

static bool leaps_on(const char *machine)
{
    const kb_topology *topo = any_topology(machine);
    struct cli cli = cli_of(topo, KB_FUSED);
    struct chip chip;

    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    bool leaps = chip.leaps && chip.has_lone_units;
    chip_free(&chip);
    any_topology_free(topo);
    return leaps;
}

/* A SIP in whose own net ids choose, and one that lies between two others. */
static void ids_or_others_inside_of_a_rank_forbid_leaps(void **state)
{
    (void)state;
    assert_true(leaps_on(SIPS("[c0-c1, c1-c2, c2-c3, c0-c2]", "")));
    assert_false(leaps_on(SIPS("[c0-c1, c1-c2, c2-c3, c3-c0]", "")));
    assert_false(leaps_on(
        SIPS("[c0-c1, c1-c2, c2-c3, c0-c2]", ", {list: [s0.c1-s1.c1, s1.c1-s2.c1], link: nvl}")));
}

/* Ranks of one PE have no barrier between what they leap over and a collective. */
static void causes_are_those_without_leaps(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 3\nname: chips\nsip: {cube_mesh: {w: 4, h: 1, wrap: x}, d2d: {bw_gbs: 1.0}}\n"
        "cube: {pes: 1, hbm: {slices: 1}}\n");
    const struct cli cli = cli_of(topo, KB_FUSED);
    const struct model m = small_model(MODEL_LLAMA);
    const struct shape s = decode_of(4, 2, 40);
    const char *with[GRAPH_OPS_MAX] = {NULL}, *without[GRAPH_OPS_MAX] = {NULL};
    struct llm_known known, none = {0};
    struct chip chip;
    struct graph g;

    (void)state;
    time_by(&cli, &m, &s, &g);
    assert_int_equal(chip_of(&cli, &chip), EXIT_OK);
    assert_int_equal(causes_alone(&cli, &chip, &g, &s, &known, with), EXIT_OK);
    assert_int_equal(known.ranks, 1);
    assert_int_equal(causes_of(&cli, &chip, &g, &s, &known, with), EXIT_OK);
    assert_int_equal(causes_of(&cli, &chip, &g, &s, &none, without), EXIT_OK);
    for (size_t i = 0; i < g.n; i++)
        assert_true(with[i] == without[i]);
    run_forget(&known);
    chip_free(&chip);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_that_repeat_take_the_same_times),
        cmocka_unit_test(layers_that_do_not_repeat_are_simulated),
        cmocka_unit_test(layers_on_interleaved_slices_repeat),
        cmocka_unit_test(machines_that_remember_simulate_all_layers),
        cmocka_unit_test(what_a_dma_keeps_from_one_operation_to_the_next_is_not_leapt_over),
        cmocka_unit_test(layers_that_turn_out_other_are_simulated),
        cmocka_unit_test(the_end_of_the_last_collective_decides),
        cmocka_unit_test(layers_of_even_experts_repeat),
        cmocka_unit_test(ranks_that_exchange_rows_take_the_same_times),
        cmocka_unit_test(ranks_that_are_ahead_take_the_same_times),
        cmocka_unit_test(layers_of_other_experts_are_simulated),
        cmocka_unit_test(ids_are_those_of_all_commands),
        cmocka_unit_test(ids_or_others_inside_of_a_rank_forbid_leaps),
        cmocka_unit_test(causes_are_those_without_leaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
