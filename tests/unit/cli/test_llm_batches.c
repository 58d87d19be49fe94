/*
 * test_llm_batches.c -- iterations of unlike requests that a program asks for, on machines by
 * chance: those that are added up beside those whose layers are all simulated.
 */
#include "support/any_topology.h"
#include "support/rig.h"

#include "base/rng.h"
#include "cli/query/query.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REQUESTS = 12, BATCHES = 8, ALIKE = 5, MACHINES = 6, CHECKED = 2, WORDS = 8 };

static int64_t any(struct rng *r, int64_t from, int64_t to)
{
    return from + (int64_t)(rng_next(r) % (uint64_t)(to - from + 1));
}

/* One or two ranks; links, launches, channels and engines by chance. */
static const kb_topology *any_machine(struct rng *r, bool *forgets)
{
    static const char *const links[] = {"ideal", "fifo", "router"};
    char yaml[1024];
    int64_t link = any(r, 0, 2);

    *forgets = link < 2; /* routers take turns */
    snprintf(yaml, sizeof yaml,
             "kernbench: 3\nname: batches\ncontention: {links: %s}\nsoftware: {launch_ns: %d}\n"
             "sip: {cube_mesh: {w: %d, h: 1}}\n"
             "cube: {pes: %d, hbm: {bw_gbs: %d},\n"
             "  pe: {pe_dma: {read_channels: %d}, pe_gemm: {mac: [%d, 16, 16]}}}\n",
             links[link], (int)(700 * any(r, 0, 1)), (int)any(r, 1, 2), (int)any(r, 1, 2) * 4,
             (int)(64 * any(r, 1, 4)), (int)any(r, 1, 8), (int)(4 * any(r, 1, 4)));
    const kb_topology *topo = any_topology(yaml);
    assert_non_null(topo);
    return topo;
}

/* A model of three layers as a file, to be removed. */
static void write_model(char path[64], struct rng *r)
{
    FILE *out;

    snprintf(path, 64, "/tmp/kernbench-model-XXXXXX.json");
    out = fdopen(mkstemps(path, 5), "w");
    fprintf(out,
            "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_hidden_layers\": 3,"
            " \"num_attention_heads\": 8, \"num_key_value_heads\": %d, \"intermediate_size\": 512,"
            " \"vocab_size\": 2048, \"torch_dtype\": \"bfloat16\"}\n",
            1 << any(r, 1, 3));
    fclose(out);
}

/* A batch by chance, with room for its columns. */
struct columns {
    int64_t q[REQUESTS], kv[REQUESTS];
    bool has_head[REQUESTS];
    kb_llm_batch batch;
};

/* `tokens` new ones: a token of each request, and what is left is a piece of the first. */
static void fill(struct columns *c, struct rng *r, int64_t n, int64_t tokens, bool has_head)
{
    for (int64_t i = 0; i < n; i++) {
        c->q[i] = i > 0 ? 1 : tokens - n + 1;
        c->kv[i] = c->q[i] + any(r, 0, 400);
        c->has_head[i] = i > 0 || has_head;
    }
    c->batch = (kb_llm_batch){.n = (size_t)n, .q = c->q, .kv = c->kv, .has_head = c->has_head};
}

static void wait_for_it(kb_query *query, kb_llm_answer *answer)
{
    while (!kb_query_batch_wait(query, 1000, answer))
        if (kb_query_wait(query, 0))
            fail_msg("it has ended: %s", kb_query_messages(query));
}

static kb_query *begin(const kb_topology *topo, const char *model, const char *more)
{
    static const kb_llm_limits limits = {.tokens = 64, .requests = REQUESTS};
    const char *words[WORDS] = {"llm", model, "--tries=1", "--quiet", "--format=csv", more};
    kb_query_request request = {
        .topo = topo, .words = words, .n_words = more ? 6 : 5, .limits = &limits};
    kb_query *query;
    kb_llm_answer answer;

    assert_int_equal(kb_query_new(&request, &query), KB_OK);
    wait_for_it(query, &answer);
    assert_int_equal(answer.fs, 0);
    assert_true(answer.room_bytes > 0 && answer.token_bytes > 0);
    return query;
}

static kb_llm_answer answer_of(kb_query *query, const kb_llm_batch *batch)
{
    kb_llm_answer answer;

    kb_query_batch_give(query, batch);
    wait_for_it(query, &answer);
    return answer;
}

static int64_t time_of(kb_query *query, const kb_llm_batch *batch)
{
    return answer_of(query, batch).fs;
}

static void end(kb_query *query)
{
    kb_query_batch_give(query, &(kb_llm_batch){.n = 0});
    assert_true(kb_query_wait(query, 10000));
    assert_int_equal(kb_query_code(query), 0);
    kb_query_free(query);
}

/* The first of a size, those that are compared, and then sums alone; others without a head. */
static void sums_are_what_all_layers_take(void **state)
{
    struct rng r = rng_of_number(36, 0);

    (void)state;
    for (int i = 0; i < MACHINES; i++) {
        bool forgets;
        const kb_topology *topo = any_machine(&r, &forgets);
        char model[64];

        write_model(model, &r);
        kb_query *sums = begin(topo, model, NULL), *whole = begin(topo, model, "--no-repeat");
        int64_t n = any(&r, 2, REQUESTS), tokens = n + any(&r, 0, 1) * any(&r, 1, 40);

        for (int k = 0; k < BATCHES; k++) {
            struct columns c;

            fill(&c, &r, n, tokens, k < ALIKE || k % 2 == 0);
            kb_llm_answer answer = answer_of(sums, &c.batch);
            assert_int_equal(answer.fs, time_of(whole, &c.batch));
            if (forgets)
                assert_int_equal(answer.n_whole,
                                 k < 1 + CHECKED ? k + 1 : 1 + CHECKED + (k >= ALIKE));
        }
        end(sums);
        end(whole);
        unlink(model);
        any_topology_free(topo);
    }
}

static void attention_alone_grows_with_its_pages(void **state)
{
    struct rng r = rng_of_number(36, 1);
    bool forgets;
    const kb_topology *topo = any_machine(&r, &forgets);
    int64_t last_fs = 0;
    char model[64];

    (void)state;
    write_model(model, &r);
    kb_query *query = begin(topo, model, NULL);
    for (int64_t kv = 16; kv <= 4096; kv *= 4) {
        const bool has_head = true;
        kb_llm_batch batch = {
            .n = 1, .q = (int64_t[]){1}, .kv = &kv, .has_head = &has_head, .only_attention = true};
        int64_t fs = time_of(query, &batch);

        assert_true(fs > last_fs);
        batch.only_attention = false;
        assert_true(time_of(query, &batch) > 3 * fs);
        last_fs = fs;
    }
    end(query);
    unlink(model);
    any_topology_free(topo);
}

static void what_does_not_fit_ends_it(void **state)
{
    struct rng r = rng_of_number(36, 2);
    bool forgets;
    const kb_topology *topo = any_machine(&r, &forgets);
    const int64_t q = 1, kv = (int64_t)1 << 40;
    const bool has_head = true;
    char model[64];

    (void)state;
    write_model(model, &r);
    kb_query *query = begin(topo, model, NULL);
    kb_query_batch_give(query, &(kb_llm_batch){.n = 1, .q = &q, .kv = &kv, .has_head = &has_head});
    assert_true(kb_query_wait(query, 10000));
    assert_int_equal(kb_query_code(query), 2);
    assert_non_null(strstr(kb_query_messages(query), "with 1 requests needs"));
    kb_query_free(query);
    unlink(model);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_what_all_layers_take),
        cmocka_unit_test(attention_alone_grows_with_its_pages),
        cmocka_unit_test(what_does_not_fit_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
