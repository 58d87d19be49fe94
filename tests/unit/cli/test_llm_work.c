/* test_llm_work.c -- models: parameters, the work of operations, and the pieces of a request. */
#include "support/rig.h"

#include "base/rng.h"
#include "benches/llm/llm_place.h"
#include "cli/llm/llm_graph.h"
#include "cli/llm/llm_pieces.h"
#include "cli/llm/routing.h"
#include <stdio.h>
#include <unistd.h>

/* -- reading ------------------------------------------------------------------------------------
 */

static struct model read_model(const char *name)
{
    struct model m;

    assert_int_equal(model_read("test", name, true, &m), EXIT_OK);
    return m;
}

static void parameters_are_those_that_are_published(void **state)
{
    static const struct {
        const char *name;
        int64_t parameters;
    } golden[] = {
        {"llama-3.1-8b", 8030261248},     {"llama-3.1-70b", 70553706496},
        {"llama-3.1-405b", 405853388800}, {"llama-2-7b", 6738415616},
        {"llama-3.2-1b", 1235814400},     {"qwen-3-32b", 32762123264},
        {"qwen-2.5-7b", 7615616512},      {"qwq-32b", 32763876352},
        {"qwen-2.5-72b", 72706203648},    {"falcon-7b", 6921720704},
        {"falcon-40b", 41303293952},      {"mixtral-8x7b", 46702792704},
        {"deepseek-v3", 671026419200},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct model m = read_model(golden[i].name);

        assert_int_equal(model_parameters(&m), golden[i].parameters);
    }
    struct model m = read_model("llama-3.1-70b");
    assert_int_equal(model_kv_bytes(&m, KB_BF16), 327680);
    m = read_model("mixtral-8x7b");
    assert_int_equal(model_active_parameters(&m), 12748853248);
    m = read_model("deepseek-v3");
    assert_int_equal(model_active_parameters(&m), 36625618432);
    assert_int_equal(model_kv_bytes(&m, KB_BF16), 70272);
    assert_int_equal(m.weights, KB_F8E4M3);
    m = read_model("mixtral-8x7b");
    m.tied = true; /* a token multiplies with the table, which is the head */
    assert_int_equal(model_active_parameters(&m), 12748853248);
}

/* The exit code of a config with this text. */
static enum exit_code code_of(const char *text)
{
    char name[] = "/tmp/llm_XXXXXX.json";
    int file = mkstemps(name, 5);
    struct model m;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    enum exit_code code = model_read("test", name, true, &m);
    unlink(name);
    return code;
}

#define SMALL                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": "  \
    "256, \"intermediate_size\": 128"

static void a_config_that_is_wrong_is_refused(void **state)
{
    (void)state;
    assert_int_equal(code_of("{\"model_type\": \"llama\", " SMALL "}"), EXIT_OK);
    assert_int_equal(code_of("{\"model_type\": \"llama\", \"new_key\": 1, " SMALL "}"), EXIT_OK);
    assert_int_equal(code_of("{\"model_type\": \"llama\"}"), EXIT_INPUT);
    assert_int_equal(code_of("{" SMALL "}"), EXIT_INPUT);
    assert_int_equal(code_of("{\"model_type\": \"gpt2\", " SMALL "}"), EXIT_INPUT);
    assert_int_equal(code_of("{\"model_type\": \"mistral\", \"sliding_window\": 4096, " SMALL "}"),
                     EXIT_INPUT);
    assert_int_equal(code_of("{\"model_type\": \"mistral\", \"sliding_window\": null, " SMALL "}"),
                     EXIT_OK);
    assert_int_equal(code_of("{\"model_type\": \"falcon\", \"alibi\": true, " SMALL "}"),
                     EXIT_INPUT);
    assert_int_equal(code_of("{\"model_type\": \"llama\", \"num_key_value_heads\": 3, " SMALL "}"),
                     EXIT_INPUT);
    static const struct {
        const char *more;
        enum exit_code code;
    } experts[] = {
        {"\"num_local_experts\": 8, \"num_experts_per_tok\": 2", EXIT_OK},
        {"\"num_local_experts\": 8", EXIT_INPUT},
        {"\"num_experts_per_tok\": 2", EXIT_INPUT},
        {"\"num_local_experts\": 2, \"num_experts_per_tok\": 3", EXIT_INPUT},
        {"\"num_local_experts\": 65536, \"num_experts_per_tok\": 2", EXIT_INPUT},
        {"\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"decoder_sparse_step\": 2",
         EXIT_INPUT},
        {"\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"mlp_only_layers\": [1]",
         EXIT_INPUT},
        {"\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"quantization_config\": "
         "{\"quant_method\": \"awq\"}",
         EXIT_INPUT},
        {"\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"quantization_config\": "
         "{\"quant_method\": \"fp8\"}",
         EXIT_OK},
    };
    for (size_t i = 0; i < LENGTH(experts); i++) {
        char text[512];

        snprintf(text, sizeof text, "{\"model_type\": \"mixtral\", " SMALL ", %s}",
                 experts[i].more);
        assert_int_equal(code_of(text), experts[i].code);
    }
    assert_int_equal(code_of("[1]"), EXIT_INPUT);
    assert_int_equal(code_of("{"), EXIT_INPUT);
    assert_int_equal(code_of("{\"model_type\": \"llama\", \"head_dim\": 1.5, " SMALL "}"),
                     EXIT_INPUT);
}

/* -- work ---------------------------------------------------------------------------------------
 */

static const struct llm_op *op_of(const struct graph *g, const char *id)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->op[i].id, id) == 0)
            return &g->op[i];
    fail_msg("there is no operation %s", id);
    return NULL;
}

static void work_of_a_70b_is_counted(void **state)
{
    struct model m = read_model("llama-3.1-70b");
    struct shape s = {.tp = 8,
                      .batch = 32,
                      .q = 1,
                      .kv = 1024,
                      .page = 16,
                      .weights = KB_I8,
                      .act = KB_BF16,
                      .kv_dtype = KB_BF16};
    struct graph g;
    static const struct {
        const char *id;
        uint64_t flops, read, written;
    } golden[] = {
        {"qkv", 671088640, 11010048, 81920},       {"o", 536870912, 8454144, 524288},
        {"gate_up", 3758096384, 59244544, 458752}, {"down", 1879048192, 29589504, 524288},
        {"attention", 134217728, 16842752, 65536}, {"head", 8405385216, 131858432, 1026048},
    };

    (void)state;
    graph_of_model(&m, &s, &g);
    for (size_t i = 0; i < LENGTH(golden); i++) {
        const struct llm_op *op = op_of(&g, golden[i].id);

        assert_int_equal(op_flops(op), golden[i].flops);
        assert_int_equal(op_read_bytes(op, &s), golden[i].read);
        assert_int_equal(op_written_bytes(op, &s), golden[i].written);
    }
    assert_int_equal(op_of(&g, "all_reduce1")->bytes, 524288);
    assert_int_equal(op_link_bytes(op_of(&g, "all_reduce1"), &s), 2 * 524288 / 8 * 7);
}

/* -- experts, judged by the page ----------------------------------------------------------------
 */

/* Rows that go to experts `from` to `to`, token by token. */
static int64_t rows_between(const struct llm_routing *r, int64_t from, int64_t to)
{
    int64_t n = 0;

    for (int64_t t = 0; t < r->tokens; t++)
        for (int64_t i = 0; i < r->chosen; i++)
            n += r->expert[t * r->chosen + i] >= from && r->expert[t * r->chosen + i] < to;
    return n;
}

/* Each rank has experts / ep experts, of each a part of tp / ep of its columns; the rank with the
 * most rows is told. */
static void judge_experts(const struct model *m, const struct shape *s, const struct llm_routing *r)
{
    struct graph g;
    int64_t own = m->experts / s->ep, f = m->expert_inter, rows = 0, first = 0, used = 0;
    int64_t owners = s->ep / r->copies, tokens, d = m->hidden;

    f /= s->tp * r->copies / s->ep;
    tokens = (r->tokens / r->copies + owners - 1) / owners;

    for (int64_t e = 0; e < m->experts; e += own)
        if (rows_between(r, e, e + own) > rows) {
            first = e;
            rows = rows_between(r, e, e + own);
        }
    for (int64_t e = first; e < first + own; e++)
        used += rows_between(r, e, e + 1) > 0;
    graph_of_model(m, s, &g);
    graph_place(&g, s, 1, 4);
    graph_route(&g, r);
    const struct llm_op *up = op_of(&g, "experts_up"), *down = op_of(&g, "experts_down");
    const struct llm_op *act = op_of(&g, "experts_act"), *sum = op_of(&g, "combine");
    assert_int_equal(op_flops(up), 2 * rows * d * 2 * f);
    assert_int_equal(op_read_bytes(up, s), 2 * rows * d + used * d * 2 * f);
    assert_int_equal(op_written_bytes(up, s), 2 * rows * 2 * f);
    assert_int_equal(op_flops(down), 2 * rows * d * f);
    assert_int_equal(op_read_bytes(down, s), 2 * rows * f + used * d * f);
    assert_int_equal(op_written_bytes(down, s), 2 * rows * d);
    assert_int_equal(op_read_bytes(act, s) + op_written_bytes(act, s), 2 * rows * 3 * f);
    assert_int_equal(op_read_bytes(sum, s), 2 * tokens * m->chosen * d + 4 * tokens * m->chosen);
    assert_int_equal(op_flops(op_of(&g, "gate")), 2 * s->batch * d * m->experts);
    if (s->ep > 1) {
        assert_int_equal(op_of(&g, "dispatch")->bytes, tokens * m->chosen * d * 2);
        assert_int_equal(op_link_bytes(op_of(&g, "collect"), s),
                         tokens * m->chosen * d * 2 / s->ep * (s->ep - 1));
    }
    /* each PE has its part of all matrices: a quarter of their columns */
    assert_true(g.room >= (uint64_t)(g.layers * own * 3 * d * f / 4));
    assert_true(g.room < (uint64_t)(2 * g.layers * own * 3 * d * f / 4));
}

static void work_of_experts_is_that_of_their_rows(void **state)
{
    static const struct {
        int64_t tp, ep, batch;
        enum route_how how;
    } cases[] = {
        {8, 1, 4, ROUTE_EVEN}, {8, 8, 16, ROUTE_EVEN},    {8, 2, 3, ROUTE_EVEN},
        {1, 1, 5, ROUTE_ZIPF}, {8, 4, 64, ROUTE_UNIFORM}, {4, 4, 33, ROUTE_ZIPF},
        {1, 8, 2, ROUTE_EVEN}, {2, 4, 33, ROUTE_UNIFORM}, {2, 8, 7, ROUTE_ZIPF}, /* copies */
    };
    struct model m = read_model("mixtral-8x7b");

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct shape s = {.tp = cases[i].tp,
                                .ep = cases[i].ep,
                                .batch = cases[i].batch,
                                .q = 1,
                                .kv = 64,
                                .page = 16,
                                .weights = KB_I8,
                                .act = KB_BF16,
                                .kv_dtype = KB_BF16};
        struct routes routes = {.how = cases[i].how, .slope = 1, .seed = 3};
        const struct cli cli = {.program = "test"};
        int64_t copies = s.ep > s.tp ? s.ep / s.tp : 1;
        const struct llm_routing *routing;

        assert_int_equal(routes_of(&cli, &routes,
                                   &(struct route_extents){copies * s.batch, m.experts, m.chosen,
                                                           m.layers, copies},
                                   &routing),
                         EXIT_OK);
        judge_experts(&m, &s, routing);
        routes_free(&routes);
    }
}

/* Any numbers of rows are kept, and no token takes an expert twice. */
static void hold_spread(const struct route_extents *x, const int64_t *rows)
{
    struct routes routes = {.n = 0};
    const struct llm_routing *r = routes_of_rows(&routes, x, rows);

    for (int64_t e = 0; e < x->experts; e++)
        assert_int_equal(llm_slots_of(r, 0, e, 1), rows[e]);
    for (int64_t t = 0; t < x->tokens; t++)
        for (int64_t i = 0; i < x->chosen; i++)
            for (int64_t k = 0; k < i; k++)
                assert_true(r->expert[t * x->chosen + i] != r->expert[t * x->chosen + k]);
    routes_free(&routes);
}

/* Of each token by chance: then no expert has more rows than there are tokens. */
static void hold_spreads_by_chance(void)
{
    struct rng r = rng_new(11, "spreads");

    for (int i = 0; i < 2000; i++) {
        struct route_extents x = {1 + (int64_t)(rng_next(&r) % 9), 2 + (int64_t)(rng_next(&r) % 6),
                                  1, 1, 1};
        int64_t rows[8] = {0};

        x.chosen = 1 + (int64_t)(rng_next(&r) % (uint64_t)x.experts);
        for (int64_t left = x.tokens * x.chosen; left > 0;) {
            int64_t e = (int64_t)(rng_next(&r) % (uint64_t)x.experts);

            if (rows[e] < x.tokens) {
                rows[e]++;
                left--;
            }
        }
        hold_spread(&x, rows);
    }
}

static void rows_of_experts_are_spread_over_tokens(void **state)
{
    static const int64_t even[] = {3, 3, 3, 3, 2, 2, 2, 2}, some[] = {10, 0, 10, 0, 0, 0, 0, 0},
                         hot[] = {9, 1, 3, 0, 0, 2, 1, 4};
    struct routes routes = {.how = ROUTE_EVEN};
    const struct route_extents x = {10, 8, 2, 4, 1};
    const struct cli cli = {.program = "test"};
    const struct llm_routing *r;

    (void)state;
    hold_spread(&x, even);
    hold_spread(&x, some);
    hold_spread(&x, hot);
    hold_spreads_by_chance();
    assert_int_equal(routes_of(&cli, &routes, &x, &r), EXIT_OK);
    for (int64_t e = 0; e < 8; e++)
        assert_int_equal(llm_slots_of(r, 3, e, 1), even[e]);
    /* of equal ones those of a token are far from each other */
    assert_int_equal(routes_of(&cli, &routes, &(struct route_extents){8, 8, 2, 1, 1}, &r), EXIT_OK);
    for (int64_t t = 0; t < 8; t++)
        assert_int_equal(llabs((int64_t)r->expert[2 * t] - r->expert[2 * t + 1]), 4);
    routes_free(&routes);
}

/* By chance: as many of each token, all different; the first of zipf has more than the last. */
static void experts_are_drawn_by_their_weights(void **state)
{
    const struct route_extents x = {2000, 16, 3, 2, 1};
    const struct cli cli = {.program = "test"};
    struct routes routes = {.how = ROUTE_ZIPF, .slope = 1, .seed = 7}, again = routes;
    const struct llm_routing *r, *same;
    int64_t most = 0, least = x.tokens, n;

    (void)state;
    assert_int_equal(routes_of(&cli, &routes, &x, &r), EXIT_OK);
    assert_int_equal(routes_of(&cli, &again, &x, &same), EXIT_OK);
    assert_memory_equal(r->expert, same->expert, (size_t)(2 * x.tokens * x.chosen) * 2);
    assert_int_equal(r->stride, x.tokens * x.chosen);
    for (int64_t e = 0; e < x.experts; e++) {
        n = llm_slots_of(r, 1, e, 1);
        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    assert_int_equal(llm_slots_of(r, 1, 0, x.experts), x.tokens * x.chosen);
    /* the first is in 1 - (1 - 0.296)^3 of the tokens or more, the last in about 3 * 0.0185 */
    assert_true(most > 1300 && most < 1700 && least > 90 && least < 220);
    routes_free(&routes);
    routes_free(&again);
}

static void slots_are_sorted_by_experts(void **state)
{
    static const uint16_t expert[] = {0, 2, 1, 2, 0, 3};
    static const int64_t sorted[] = {0, 4, 2, 1, 3, 5}, begins[] = {0, 2, 3, 5, 6};
    const struct llm_routing r = {4, 2, 3, expert, 0, 1};
    int64_t slot[6], first[5];

    (void)state;
    llm_sort_slots(&r, 9, 0, 3, slot, first);
    assert_memory_equal(slot, sorted, sizeof sorted);
    assert_memory_equal(first, begins, sizeof begins);
    assert_int_equal(llm_own_begin(10, 1, 4), 3);
    assert_int_equal(llm_own_begin(10, 2, 4), 6);
    assert_int_equal(llm_own_begin(10, 3, 4), 8);
}

/* Of a token one latent and one turned key are read, for all heads. */
static void work_of_latents_is_counted(void **state)
{
    struct model m = read_model("deepseek-v3");
    const struct shape s = {.tp = 8,
                            .ep = 8,
                            .batch = 32,
                            .q = 1,
                            .kv = 1024,
                            .page = 16,
                            .weights = KB_F8E4M3,
                            .act = KB_BF16,
                            .kv_dtype = KB_BF16};
    static const struct {
        const char *id;
        uint64_t flops, read, written;
    } golden[] = {
        /* queries: 32 tokens, 16 heads of 576 */
        {"attention", 2 * 16 * (576 + 512) * 32 * 1024, 37748736 + 32 * 16 * 576 * 2,
         32 * 16 * 512 * 2},
        {"absorb", 2 * 32 * 16 * 128 * 512, 32 * 16 * 128 * 2 + 16 * 128 * 512, 32 * 16 * 512 * 2},
        {"expand", 2 * 32 * 16 * 512 * 128, 32 * 16 * 512 * 2 + 16 * 512 * 128, 32 * 16 * 128 * 2},
        {"q_down", 2 * 32 * 7168 * 1536, 32 * 7168 * 2 + 7168 * 1536, 32 * 1536 * 2},
        {"q_up", 2 * 32 * 1536 * 16 * 192, 32 * 1536 * 2 + 1536 * 16 * 192, 32 * 16 * 192 * 2},
        {"kv_down", 2 * 32 * 7168 * 576, 32 * 7168 * 2 + 7168 * 576, 32 * 576 * 2},
        {"kv_rope", 0, 32 * 576 * 2 + 32 * 64 * 4, 32 * 576 * 2},
        {"q_rope", 0, 32 * 16 * 64 * 2 + 32 * 64 * 4, 32 * 16 * 64 * 2},
        {"o", 2 * 32 * 2048 * 7168, 32 * 2048 * 2 + 2048 * 7168, 32 * 7168 * 2},
        {"shared_up", 2 * 32 * 7168 * 512, 32 * 7168 * 2 + 7168 * 512, 32 * 512 * 2},
        {"2.gate_up", 2 * 32 * 7168 * 4608, 32 * 7168 * 2 + 7168 * 4608, 32 * 4608 * 2},
    };
    struct graph g;

    (void)state;
    graph_of_model(&m, &s, &g);
    assert_int_equal(g.layers, 58);
    for (size_t i = 0; i < LENGTH(golden); i++) {
        const struct llm_op *op = op_of(&g, golden[i].id);

        assert_int_equal(op_flops(op), golden[i].flops);
        assert_int_equal(op_read_bytes(op, &s), golden[i].read);
        assert_int_equal(op_written_bytes(op, &s), golden[i].written);
    }
    /* 61 layers of latents of 32 * 1024 tokens: each of 8 PEs has those of four requests */
    graph_place(&g, &s, 1, 8);
    assert_int_equal(g.room - g.kv_at, 61 * 32 / 8 * 1024 * 576 * 2);
}

static void pairs_of_a_prompt_are_causal(void **state)
{
    struct llm_op op = {.kind = LLM_ATTENTION, .heads = 1, .dim = 1, .batch = 1};

    (void)state;
    op.q = op.kv = 2048;
    assert_int_equal(op_flops(&op), 4 * 2098176);
    op.q = 512;
    op.kv = 1536;
    assert_int_equal(op_flops(&op), 4 * 655616);
}

static void ranks_must_divide(void **state)
{
    struct model m = read_model("llama-3.1-8b");
    char why[256];

    (void)state;
    assert_null(graph_refuse(&m, 8, 8, why));
    assert_null(graph_refuse(&m, 16, 16, why)); /* heads of keys and values are there twice */
    assert_string_equal(graph_refuse(&m, 7, 64, why), "possible are 1 2 4 8 16 32");
    assert_string_equal(graph_refuse(&m, 7, 8, why), "possible are 1 2 4 8");
    m = read_model("mixtral-8x7b");
    assert_null(graph_refuse_ep(&m, 32, 1, 8, why)); /* four ranks have a quarter of each expert */
    assert_string_equal(graph_refuse_ep(&m, 32, 1, 16, why), "possible are 1 2 4 8");
    assert_string_equal(graph_refuse_ep(&m, 4, 1, 3, why), "possible are 1 2 4");
    assert_null(graph_refuse_ep(&m, 2, 4, 8, why)); /* four copies share experts */
    assert_string_equal(graph_refuse_ep(&m, 3, 4, 3, why), "no number is possible");
    assert_string_equal(graph_refuse_ep(&m, 2, 3, 4, why), "possible are 1 2");
}

/* Keys and values grow, each pair is computed once, and there is one head. */
static void a_prompt_in_pieces_is_the_prompt(void **state)
{
    static const int64_t golden[][2] = {{512, 512}, {488, 1000}};
    struct model m = read_model("llama-3.1-8b");
    struct shape s = {.tp = 8, .batch = 2, .q = 1000, .kv = 1000, .page = 16};
    struct graph whole, part;
    struct piece p = {0};
    uint64_t pairs = 0, products = 0, heads = 0;

    (void)state;
    s.weights = s.act = s.kv_dtype = KB_BF16;
    graph_of_model(&m, &s, &whole);
    for (size_t i = 0; piece_of_prompt(1000, 512, &p); i++) {
        assert_true(i < LENGTH(golden));
        assert_int_equal(p.q, golden[i][0]);
        assert_int_equal(p.kv, golden[i][1]);
        s.q = p.q;
        s.kv = p.kv;
        s.has_more = p.kv < 1000;
        graph_of_model(&m, &s, &part);
        pairs += op_flops(op_of(&part, "attention"));
        products += op_flops(op_of(&part, "gate_up"));
        for (size_t k = 0; k < part.n; k++)
            heads += strcmp(part.op[k].id, "head") == 0;
    }
    assert_int_equal(p.kv, 1000);
    assert_int_equal(pairs, op_flops(op_of(&whole, "attention")));
    assert_int_equal(products, op_flops(op_of(&whole, "gate_up")));
    assert_int_equal(heads, 1);
    p = (struct piece){0};
    assert_true(piece_of_prompt(1000, 0, &p) && p.q == 1000 && p.kv == 1000);
    assert_false(piece_of_prompt(1000, 0, &p));
}

/* The first token is of the prefill. */
static void steps_of_a_page_are_simulated_once(void **state)
{
    struct piece p = {0};
    int64_t n = 0, simulated = 0;

    (void)state;
    while (piece_of_tokens(1024, 128, 16, &p)) {
        assert_int_equal(p.kv, 1040 + 16 * simulated++);
        assert_int_equal(p.q, 1);
        assert_int_equal(p.times, p.kv < 1152 ? 16 : 15);
        n += p.times;
    }
    assert_int_equal(n, 127);
    assert_int_equal(simulated, 8);
    p = (struct piece){0};
    assert_false(piece_of_tokens(1024, 1, 16, &p));
    assert_true(piece_of_tokens(1023, 2, 16, &p)); /* the last of a page, and no other */
    assert_int_equal(p.kv, 1024);
    assert_int_equal(p.times, 1);
    assert_false(piece_of_tokens(1023, 2, 16, &p));
}

/* Three requests of 1, 2 and 3 pages, of which the first two have one new token: the example of
 * benches/llm/llm_requests.c. */
static void pages_of_unlike_requests_lie_behind_each_other(void **state)
{
    struct llm_requests *r = llm_requests_new(3, 1);
    struct llm_op op = {.batch = 3, .kv_heads = 1, .heads = 1, .dim = 4, .requests = r};
    struct llm_step s = {.pes = 2, .page = 16, .kv_dtype = KB_BF16};

    (void)state;
    assert_non_null(r);
    for (int64_t i = 0; i < 3; i++)
        r->request[i] = (struct llm_request){.q = i == 2 ? 5 : 1, .kv = 16 * i + 9, .has_head = i};
    llm_requests_end(r);
    assert_true(r->tokens == 7 && r->heads == 2 && r->longest == 41);
    assert_true(r->last[0] == 1 && r->last[1] == 6);
    for (int64_t row = 0; row < 7; row++)
        assert_int_equal(llm_request_with(&op, row), row < 2 ? row : 2);
    llm_lay_pages(&op, &s);
    assert_true(r->before[0] == 0 && r->before[1] == 0 && r->before[2] == 1);
    assert_int_equal(llm_kv_bytes(&op, &s), 4 * 16 * 4 * 2 * 2);
    s.pes = 6; /* two of each request: page j in the (j modulo 2)-th */
    llm_lay_pages(&op, &s);
    assert_true(r->before[2] == 0 && r->pages == 2);
    llm_requests_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_that_are_published),
        cmocka_unit_test(a_config_that_is_wrong_is_refused),
        cmocka_unit_test(work_of_a_70b_is_counted),
        cmocka_unit_test(work_of_experts_is_that_of_their_rows),
        cmocka_unit_test(rows_of_experts_are_spread_over_tokens),
        cmocka_unit_test(experts_are_drawn_by_their_weights),
        cmocka_unit_test(slots_are_sorted_by_experts),
        cmocka_unit_test(work_of_latents_is_counted),
        cmocka_unit_test(pairs_of_a_prompt_are_causal),
        cmocka_unit_test(pages_of_unlike_requests_lie_behind_each_other),
        cmocka_unit_test(ranks_must_divide),
        cmocka_unit_test(a_prompt_in_pieces_is_the_prompt),
        cmocka_unit_test(steps_of_a_page_are_simulated_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
