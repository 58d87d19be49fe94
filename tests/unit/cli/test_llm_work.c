/* test_llm_work.c -- models: parameters, the work of operations, and the pieces of a request. */
#include "support/rig.h"

#include "cli/llm/graph.h"
#include "cli/llm/pieces.h"
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
        {"falcon-40b", 41303293952},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct model m = read_model(golden[i].name);

        assert_int_equal(model_parameters(&m), golden[i].parameters);
    }
    struct model m = read_model("llama-3.1-70b");
    assert_int_equal(model_kv_bytes(&m, KB_BF16), 327680);
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
    assert_null(graph_refuse(&m, 8, why));
    assert_null(graph_refuse(&m, 16, why)); /* heads of keys and values are there twice */
    assert_string_equal(graph_refuse(&m, 7, why), "possible are 1 2 4 8 16 32");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_that_are_published),
        cmocka_unit_test(a_config_that_is_wrong_is_refused),
        cmocka_unit_test(work_of_a_70b_is_counted),
        cmocka_unit_test(pairs_of_a_prompt_are_causal),
        cmocka_unit_test(ranks_must_divide),
        cmocka_unit_test(a_prompt_in_pieces_is_the_prompt),
        cmocka_unit_test(steps_of_a_page_are_simulated_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
