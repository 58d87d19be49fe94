/* test_value.c -- tl_value(), tl_values(): times by hand, values through all that moves them,
 * kernels that branch on them, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, so 4
 * bytes take 7813 fs.
 */
#include "support/races.h"
#include "support/talks.h"

#define CUBE8(links)                                                                               \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links "}\n"

static const uint32_t one[] = {0}, pair[] = {0, 1};

/* Runs `kernel` on the first `n` PEs, `times` launches, with values, by `engine`. */
static kb_sim *run_with_values(kb_kernel kernel, struct marks *m, size_t n, kb_options options,
                               int times)
{
    kb_sim *sim;

    memset(m, 0, sizeof *m);
    options.values = true;
    sim = new_sim(&cube8_topology, options);
    for (int i = 0; i < times; i++)
        launch_talk(sim, kernel, m, n == 1 ? one : pair, n);
    run_launched(sim, 0);
    return sim;
}

/* Both engines, one thread and four, with a log and without: the same marks and values. */
static void assert_same_everywhere(kb_kernel kernel, struct marks *m, size_t n, int times)
{
    static const kb_options ways[] = {{.engine = KB_HOP},
                                      {.value_threads = 4},
                                      {.verify_values = true},
                                      {.phase2 = true, .oplog = true},
                                      {.engine = KB_HOP, .inspect = true, .oplog = true}};

    kb_sim_free(run_with_values(kernel, m, n, (kb_options){0}, times));
    for (size_t i = 0; i < LENGTH(ways); i++) {
        struct marks other;
        kb_sim *sim = run_with_values(kernel, &other, n, ways[i], times);
        kb_error why = {""};

        assert_memory_equal(&other, m, sizeof other);
        if (ways[i].phase2 && kb_compute(sim, NULL, &why) != KB_OK)
            fail_msg("%s", why.text);
        kb_sim_free(sim);
    }
}

/* -- times ---------------------------------------------------------------------------------- */

/* A gate: [1,64] x [64,16], its largest element, and the load that this decides. */
static void gate(tl_ctx *tl, const kb_args *args, bool async)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(1, 64));
    tl_tensor *w = tl_load(tl, SLICE(0) + 128, KB_F16, KB_SHAPE(64, 16)), *scores, *best;
    double expert;

    mark(tl, args, 0);
    tl_async(tl, async);
    scores = tl_dot(tl, x, w, .dtype_out = KB_F32);
    best = tl_argmax(tl, scores, -1, false);
    expert = tl_value(tl, best, 0);
    mark_value(tl, args, 1, expert);
    tl_wait(tl, tl_load_async(tl, SLICE(0) + 64 * (uint64_t)expert, KB_F16, KB_SHAPE(64, 64)));
    mark(tl, args, 2);
}

static void gate_in_turn(tl_ctx *tl, const kb_args *args)
{
    gate(tl, args, false);
}

static void gate_that_overlaps(tl_ctx *tl, const kb_args *args)
{
    gate(tl, args, true);
}

static void assert_takes(const struct marks *m, unsigned i, double ns)
{
    if (m->fs[0][i] - m->fs[0][0] != llround(ns * 1e6))
        fail_msg("%.6f ns, not %.6f", (double)(m->fs[0][i] - m->fs[0][0]) / 1e6, ns);
}

/* 11.375 + 4.132813 + 3.007813 + 37.085. In flight: issues 3, 6, 9; ends 11.375, 12.507813,
 * 12.515626. */
static void a_value_is_a_fetch(void **state)
{
    struct marks m;

    (void)state;
    assert_same_everywhere(gate_in_turn, &m, 1, 1);
    assert_takes(&m, 1, 11.375 + 4.132813 + 3.007813);
    assert_takes(&m, 2, 55.600626);
    assert_same_everywhere(gate_that_overlaps, &m, 1, 1);
    assert_takes(&m, 1, 12.515626);
    assert_takes(&m, 2, 49.600626);
}

static void all_of_it(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(32, 64), 0.5);
    const float *values;

    mark(tl, args, 0);
    values = tl_values(tl, x);
    mark_value(tl, args, 1, values[32 * 64 - 1]);
}

static void values_are_a_fetch_of_all(void **state)
{
    struct marks m;

    (void)state;
    assert_same_everywhere(all_of_it, &m, 1, 1);
    assert_takes(&m, 1, 3 + 8192.0 / 512);
    assert_true(m.value[0][1] == 0.5);
}

/* -- where values come from ----------------------------------------------------------------- */

enum { OUT = FILLED + 4096 };

/* By memory, by a message, of a view, of an accumulator, of pieces, of what was loaded. */
static void travels(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y, *both;
    tl_acc *acc;

    if (tl_pe(tl) == 1) {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(8));
        mark_value(tl, args, 0, tl_value(tl, x, 7));
        tl_send(tl, 0, 1, tl_neg(tl, x));
        return;
    }
    x = tl_add(tl, numbers(tl, 0, 8), tl_scalar(tl, 0.5)); /* 1.5, 2.5, ... */
    tl_store(tl, SLICE(0) + OUT, x);
    tl_store(tl, SLICE(0) + OUT + 32, tl_mul(tl, x, x));
    both = tl_load(tl, SLICE(0) + OUT + 16, KB_F32, KB_SHAPE(8)); /* halves of both */
    mark_value(tl, args, 0, tl_value(tl, both, 3));
    mark_value(tl, args, 1, tl_value(tl, both, 4));
    tl_send(tl, 1, 0, both);
    y = tl_recv(tl, 1, 1, KB_F32, KB_SHAPE(8));
    mark_value(tl, args, 2, tl_value(tl, tl_reshape(tl, y, KB_SHAPE(2, 4)), 5));
    acc = tl_acc_new(tl, KB_F32, 8, 8);
    x = tl_reshape(tl, x, KB_SHAPE(8, 1));
    tl_dot_acc(tl, acc, x, x, .transpose_b = true);
    tl_acc_scale(tl, acc, tl_scalar(tl, 2));
    tl_dot_acc(tl, acc, x, x, .transpose_b = true);
    mark_value(tl, args, 3, tl_value(tl, tl_acc_store(tl, acc, KB_F32), 9));
    mark_value(tl, args, 4, tl_value(tl, numbers(tl, 4, 4), 2));
    y = tl_alloc(tl, KB_F32, KB_SHAPE(4));
    mark_value(tl, args, 5, tl_value(tl, tl_cast(tl, both, KB_I8), 7));
}

static void values_come_through_all_that_moves_them(void **state)
{
    struct marks m;

    (void)state;
    assert_same_everywhere(travels, &m, 2, 1);
    assert_true(m.value[0][0] == 8.5);
    assert_true(m.value[0][1] == 1.5 * 1.5);
    assert_true(m.value[1][0] == 4.5 * 4.5);
    assert_true(m.value[0][2] == -(2.5 * 2.5));
    assert_true(m.value[0][3] == 3 * 2.5 * 2.5);
    assert_true(m.value[0][4] == 7);
    assert_true(m.value[0][5] == 20);
}

/* PE 1 loads what PE 0's composite will have written: it is visible from its start on. */
static void looks_ahead(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    if (tl_pe(tl) == 0) {
        x = tl_full(tl, KB_F32, KB_SHAPE(64, 64), 3);
        tl_barrier(tl, ((tl_group){.n = 2}));
        y = tl_composite(tl, .a = x, .b = x, .out = SLICE(0) + OUT);
        tl_wait(tl, y);
        mark_value(tl, args, 0, tl_value(tl, tl_load(tl, SLICE(0) + OUT, KB_F32, KB_SHAPE(4)), 1));
        return;
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    x = tl_full(tl, KB_F32, KB_SHAPE(16), 3); /* the composite begins meanwhile */
    y = tl_load(tl, SLICE(0) + OUT + 256, KB_F32, KB_SHAPE(16));
    mark_value(tl, args, 0, tl_value(tl, tl_add(tl, x, y), 15));
}

static void a_value_may_be_that_of_a_command_under_way(void **state)
{
    struct marks m;

    (void)state;
    assert_same_everywhere(looks_ahead, &m, 2, 1);
    assert_true(m.fs[1][0] < m.fs[0][0]);
    assert_true(m.value[0][0] == 64 * 9);
    assert_true(m.value[1][0] == 64 * 9 + 3);
}

/* Each launch reads what the one before has left, and goes on by it. */
static void counts_up(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = SLICE(0) + 16384;
    tl_tensor *x = tl_load(tl, at, KB_F32, KB_SHAPE(4)), *y;
    int n = (int)tl_value(tl, x, 0) % 7;

    for (int i = 0; i <= n; i++) {
        y = tl_add(tl, x, tl_scalar(tl, 1));
        x = y;
    }
    tl_store(tl, at, x);
    mark_value(tl, args, 0, tl_value(tl, x, 0));
}

/* 16384 / 4 + 1 = 4097 is 2 modulo 7: 4100; 5: 4106; 4: 4111. */
static void launches_see_values_of_those_before(void **state)
{
    struct marks m;

    (void)state;
    assert_same_everywhere(counts_up, &m, 1, 3);
    assert_true(m.value[0][0] == 4111);
}

/* What Phase 2 computes afterwards is the same, with values or without. */
static void no_branch(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers(tl, 0, 64), *y = tl_exp(tl, tl_mul(tl, x, tl_scalar(tl, 1.0 / 32)));

    if (*(const bool *)args->user)
        tl_value(tl, tl_sum(tl, y, -1, false), 0);
    tl_store(tl, SLICE(0) + FILLED, tl_sqrt(tl, y));
}

static void phase_2_goes_on_behind_values(void **state)
{
    float result[2][64];

    (void)state;
    for (int values = 0; values < 2; values++) {
        bool asks = values;
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.phase2 = true, .values = values});
        kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
        kb_error why = {""};
        kb_tensor *out;
        const void *got;

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(kb_tensor_new(sim, "out", KB_F32, KB_SHAPE(64), copies, &out, &why),
                         KB_OK);
        launch_talk(sim, no_branch, &asks, one, 1);
        run_launched(sim, 0);
        assert_int_equal(kb_compute(sim, NULL, &why), KB_OK);
        assert_int_equal(kb_tensor_part(out, 0, &got, &why), KB_OK);
        memcpy(result[values], got, sizeof *result);
        kb_sim_free(sim);
    }
    assert_memory_equal(result[0], result[1], sizeof *result);
}

/* -- a decoder ------------------------------------------------------------------------------ */

/*
 * 64 steps: logits of the last token, which is a row of a table, by a product and an accumulator;
 * the token that follows is the largest, unless a number that the step before has left decides
 * for the smallest. What numpy's argmax and a reference in double give, on exact small integers.
 */
enum { VOCABULARY = 32, WIDTH = 16, STEPS = 64 };

struct decoder {
    uint64_t seed;
    int8_t table[VOCABULARY][WIDTH], head[WIDTH][VOCABULARY];
    int token[STEPS];
};

static void fill_decoder(struct decoder *d, uint64_t seed)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15);

    d->seed = seed;
    for (int i = 0; i < VOCABULARY * WIDTH; i++) {
        z = (z ^ z >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + 12345;
        d->table[i / WIDTH][i % WIDTH] = (int8_t)(z >> 40) % 16;
        d->head[i / VOCABULARY][i % VOCABULARY] = (int8_t)(z >> 50) % 16;
    }
}

static void decode(tl_ctx *tl, const kb_args *args)
{
    struct decoder *d = (struct decoder *)(uintptr_t)args->user;
    kb_shard table = kb_tensor_shard(args->tensors[0], 0),
             head = kb_tensor_shard(args->tensors[1], 0);
    tl_tensor *w = tl_load(tl, head.address, KB_I8, KB_SHAPE(WIDTH, VOCABULARY));
    int token = 0;

    for (int step = 0; step < STEPS; step++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *x =
            tl_load(tl, table.address + (uint64_t)token * WIDTH, KB_I8, KB_SHAPE(1, WIDTH));
        tl_tensor *scores = tl_dot(tl, x, w), *best = tl_argmax(tl, scores, -1, false);

        if (tl_value(tl, tl_max(tl, scores, -1, false), 0) > 300)
            best = tl_argmax(tl, tl_neg(tl, scores), -1, false);
        token = *(const int32_t *)tl_values(tl, best);
        d->token[step] = token;
        tl_release(tl, mark);
    }
}

static void expect(struct decoder *d, int expected[STEPS])
{
    int token = 0;

    for (int step = 0; step < STEPS; step++) {
        int most = 0, least = 0, scores[VOCABULARY];

        for (int j = 0; j < VOCABULARY; j++) {
            scores[j] = 0;
            for (int k = 0; k < WIDTH; k++)
                scores[j] += d->table[token][k] * d->head[k][j];
            most = scores[j] > scores[most] ? j : most;
            least = scores[j] < scores[least] ? j : least;
        }
        token = scores[most] > 300 ? least : most;
        expected[step] = token;
    }
}

static void decodes(uint64_t seed, kb_options options)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_sim *sim = new_sim(&cube8_topology, options);
    kb_launch_request r = {.name = "decode", .kernel = decode, .pes = one, .n_pes = 1};
    struct decoder d;
    kb_tensor *x[2];
    kb_error why = {""};
    int expected[STEPS];

    fill_decoder(&d, seed);
    assert_int_equal(
        kb_tensor_new(sim, "table", KB_I8, KB_SHAPE(VOCABULARY, WIDTH), copies, &x[0], &why),
        KB_OK);
    assert_int_equal(
        kb_tensor_new(sim, "head", KB_I8, KB_SHAPE(WIDTH, VOCABULARY), copies, &x[1], &why), KB_OK);
    assert_int_equal(kb_tensor_write(x[0], d.table, &why), KB_OK);
    assert_int_equal(kb_tensor_write(x[1], d.head, &why), KB_OK);
    r.args = (kb_args){.user = &d, .tensors = x, .n_tensors = 2};
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    kb_sim_free(sim);
    expect(&d, expected);
    for (int i = 0; i < STEPS; i++)
        if (d.token[i] != expected[i])
            fail_msg("seed %" PRIu64 ": token %d is %d, not %d", seed, i, d.token[i], expected[i]);
}

static void a_decoder_takes_the_tokens_of_plain_loops(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        decodes(seed, (kb_options){.values = true,
                                   .engine = seed % 2 ? KB_FUSED : KB_HOP,
                                   .value_threads = seed % 16 ? 1 : 3});
}

/* -- races ---------------------------------------------------------------------------------- */

/* The value tells the kernel that the load is over. */
static void looks_and_meets(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    if (tl_pe(tl) == 0)
        tl_value(tl, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64)), 0);
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 0)
        return;
    x = tl_full(tl, KB_F32, KB_SHAPE(4), 1);
    tl_store(tl, SLICE(0) + 128, x);
}

static void a_value_waits_for_what_it_was_made_of(void **state)
{
    struct races *r = races_in(looks_and_meets, NULL, 2, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 0);
    free(r);
}

/* -- mistakes ------------------------------------------------------------------------------- */

static void pending(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_value(tl, tl_full(tl, KB_F32, KB_SHAPE(4), 1), 0);
}

static void of_a_scalar(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_value(tl, tl_scalar(tl, 1), 0);
}

static void elsewhere(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_values(tl, tl_ref(tl, SLICE(0), KB_F32, KB_SHAPE(4)));
}

static void beyond(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_value(tl, numbers(tl, 0, 4), 4);
}

static void given_back(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers(tl, 0, 4);

    (void)args;
    tl_free(tl, x);
    tl_value(tl, x, 0);
}

static void not_waited_for(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_value(tl, tl_load_async(tl, SLICE(0), KB_F32, KB_SHAPE(4)), 0);
}

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {pending,
         ": the value is pending: it is known with option values, which computes it as the "
         "kernel runs"},
        {of_a_scalar, "tl_value at "},
        {of_a_scalar, ": a scalar has no data"},
        {elsewhere, "tl_values at "},
        {elsewhere, ", not in the TCM: load it first"},
        {beyond, ": element 4 is none of 0..3"},
        {given_back, ": a tensor was given back before"},
        {not_waited_for, ": an operand is a load or a receive that has not been waited for"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

/* Programs may begin again by this. */
static void a_simulation_says_that_it_wants_values(void **state)
{
    static const kb_kernel kernels[] = {pending, beyond};

    (void)state;
    for (int i = 0; i < 2; i++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        kb_error why = {""};

        launch_talk(sim, kernels[i], NULL, one, 1);
        assert_false(kb_sim_wants_values(sim));
        assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
        assert_true(kb_sim_wants_values(sim) == (i == 0));
        kb_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_a_fetch),
        cmocka_unit_test(values_are_a_fetch_of_all),
        cmocka_unit_test(values_come_through_all_that_moves_them),
        cmocka_unit_test(a_value_may_be_that_of_a_command_under_way),
        cmocka_unit_test(launches_see_values_of_those_before),
        cmocka_unit_test(phase_2_goes_on_behind_values),
        cmocka_unit_test(a_decoder_takes_the_tokens_of_plain_loops),
        cmocka_unit_test(a_value_waits_for_what_it_was_made_of),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_simulation_says_that_it_wants_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
