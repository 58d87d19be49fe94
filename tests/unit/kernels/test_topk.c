/* test_topk.c -- the k largest of each row: times by hand, values against plain loops, what moves
 * them, mistakes; and operations on bits.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, 64
 * lanes, topk_width 8.
 */
#include <math.h>
#include "support/talks.h"

#define CUBE8(links, math)                                                                         \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {pe_math: {" math "}}}\n"

static const uint32_t one[] = {0}, pair[] = {0, 1};

#define ASSERT_TAKES(math, kernel, fs)                                                             \
    assert_talk_takes((const char *const[]){CUBE8("ideal", math), CUBE8("fifo", math)}, kernel, fs)

/* -- times ---------------------------------------------------------------------------------- */

#define TOPK(name, rows, n, k)                                                                     \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(rows, n), 1), *indices;                        \
                                                                                                   \
        mark(tl, args, 0);                                                                         \
        tl_topk(tl, x, k, &indices);                                                               \
        mark(tl, args, 1);                                                                         \
    }

TOPK(top_8_of_64, 1, 64, 8)
TOPK(top_2_of_128, 32, 128, 2)
TOPK(top_9_of_65, 1, 65, 9)

/* 3 + 0.5 + 1 + 0.125; 3 + 32 + 64 + 1; 3 + 0.507813 + 2 * 2 + 0.140625, and in passes of 3. */
static void a_pass_takes_topk_width(void **state)
{
    (void)state;
    ASSERT_TAKES("", top_8_of_64, 4625000);
    ASSERT_TAKES("", top_2_of_128, 100000000);
    ASSERT_TAKES("", top_9_of_65, 7648438);
    ASSERT_TAKES("topk_width: 3", top_9_of_65, 9648438);
}

/* A gate whose two best decide what is loaded: 11.375 + 4.156250 + 3.015625, then both loads at
 * once: issues at 3 and 6, and 38.085 to the end of the second. */
static void gate(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(1, 64));
    tl_tensor *w = tl_load(tl, SLICE(0) + 128, KB_F16, KB_SHAPE(64, 16)), *indices, *expert[2];
    const int32_t *best;

    mark(tl, args, 0);
    tl_topk(tl, tl_dot(tl, x, w, .dtype_out = KB_F32), 2, &indices);
    best = tl_values(tl, indices);
    mark_value(tl, args, 2, best[0] * 100 + best[1]);
    for (int i = 0; i < 2; i++)
        expert[i] =
            tl_load_async(tl, SLICE(0) + 8192 * (uint64_t)(best[i] % 8), KB_F16, KB_SHAPE(64, 64));
    tl_wait(tl, expert[0]);
    tl_wait(tl, expert[1]);
    mark(tl, args, 1);
}

static void a_gate_decides_what_is_loaded(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        kb_options options = {.values = true, .engine = way & 1 ? KB_HOP : KB_FUSED};
        kb_sim *sim;
        struct marks m;

        options.value_threads = way & 2 ? 3 : 1;
        memset(&m, 0, sizeof m);
        sim = new_sim(&cube8_topology, options);
        launch_talk(sim, gate, &m, one, 1);
        run_launched(sim, 0);
        kb_sim_free(sim);
        assert_int_equal(m.fs[0][1] - m.fs[0][0], 89716875);
    }
}

/* -- values --------------------------------------------------------------------------------- */

enum { ROWS = 7, N = 37, MOST = 12 };

struct ranks {
    uint64_t seed;
    double x[ROWS * N], values[ROWS * MOST], far[ROWS * MOST];
    int32_t indices[ROWS * MOST], k;
};

/* Of values, of which many are equal, some are -0 and some are NaN, through a view of a row, a
 * store, a message and in flight. */
static void ranks(tl_ctx *tl, const kb_args *args)
{
    struct ranks *r = (struct ranks *)(uintptr_t)args->user;
    kb_shard from = kb_tensor_shard(args->tensors[0], 0);
    tl_tensor *x, *values, *indices;
    const float *v;

    if (tl_pe(tl) == 1) {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(ROWS, r->k));
        v = tl_values(tl, tl_add(tl, x, tl_scalar(tl, 1)));
        for (int i = 0; i < ROWS * r->k; i++)
            r->far[i] = (double)v[i];
        return;
    }
    tl_async(tl, r->seed % 2);
    x = tl_load(tl, from.address, KB_F32, KB_SHAPE(ROWS, N));
    values = tl_topk(tl, tl_mul(tl, x, tl_scalar(tl, 1)), r->k, &indices);
    tl_send(tl, 1, 0, values);
    tl_store(tl, SLICE(0) + FILLED, indices);
    tl_wait_all(tl);
    v = tl_values(tl, values);
    for (int i = 0; i < ROWS * r->k; i++)
        r->values[i] = (double)v[i];
    tl_free(tl, values);
    indices = tl_load(tl, SLICE(0) + FILLED, KB_I32, KB_SHAPE(ROWS * r->k));
    memcpy(r->indices, tl_values(tl, indices), sizeof *r->indices * (size_t)(ROWS * r->k));
}

static bool goes_first(const double *x, int i, int j)
{
    if (isnan(x[i]) || isnan(x[j]))
        return isnan(x[i]) && (!isnan(x[j]) || i < j);
    return x[i] > x[j] || (x[i] == x[j] && i < j);
}

static void check_row(const struct ranks *r, int row)
{
    const double *x = r->x + row * N;

    for (int i = 0; i < N; i++) {
        int before = 0, at;

        for (int j = 0; j < N; j++)
            before += j != i && goes_first(x, j, i);
        if (before >= r->k)
            continue;
        at = row * r->k + before;
        if (r->indices[at] != i)
            fail_msg("seed %" PRIu64 ": place %d is %d, not %d", r->seed, at, r->indices[at], i);
        if (isnan(x[i])) {
            assert_true(isnan(r->values[at]) && isnan(r->far[at]));
        } else {
            assert_true(r->values[at] == x[i]);
            assert_true(r->far[at] == x[i] + 1);
        }
    }
}

static void each_rank(uint64_t seed)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true,
                                                        .oplog = seed % 3 == 0,
                                                        .engine = seed % 5 ? KB_FUSED : KB_HOP,
                                                        .value_threads = seed % 7 ? 1 : 3});
    struct ranks r = {.seed = seed, .k = 1 + (int32_t)(seed % MOST)};
    kb_launch_request q = {.name = "ranks", .kernel = ranks, .pes = pair, .n_pes = 2};
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15);
    float x[ROWS * N];
    kb_tensor *t;
    kb_error why = {""};

    for (int i = 0; i < ROWS * N; i++) {
        z = (z ^ z >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + 12345;
        x[i] = (float)((int)(z >> 40) % 20);
        if (z >> 59 == 0)
            x[i] = NAN;
        else if (z >> 59 == 1)
            x[i] = -0.0f;
        r.x[i] = (double)x[i];
    }
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(ROWS, N), copies, &t, &why), KB_OK);
    assert_int_equal(kb_tensor_write(t, x, &why), KB_OK);
    q.args = (kb_args){.user = &r, .tensors = &t, .n_tensors = 1};
    assert_int_equal(kb_launch(sim, &q, &why), KB_OK);
    run_launched(sim, 0);
    kb_sim_free(sim);
    for (int row = 0; row < ROWS; row++)
        check_row(&r, row);
}

static void the_largest_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++)
        each_rank(seed);
}

/* -- bits ----------------------------------------------------------------------------------- */

static double of(tl_ctx *tl, tl_tensor *x)
{
    return tl_value(tl, x, 0);
}

static void bits(tl_ctx *tl, const kb_args *args)
{
    double *got = marks_of(args)->value[0];
    tl_tensor *six = tl_full(tl, KB_I8, KB_SHAPE(1), 6),
              *minus = tl_full(tl, KB_I8, KB_SHAPE(1), -7);
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(3), 2.5),
              *no = tl_full(tl, KB_F32, KB_SHAPE(1), NAN);
    tl_tensor *yes = tl_isnan(tl, no);
    int i = 0;

    got[i++] = of(tl, tl_and(tl, six, minus));
    got[i++] = of(tl, tl_or(tl, six, tl_scalar(tl, 9)));
    got[i++] = of(tl, tl_xor(tl, six, minus));
    got[i++] = of(tl, tl_not(tl, six));
    got[i++] = of(tl, tl_shl(tl, six, tl_scalar(tl, 5)));
    got[i++] = of(tl, tl_shr(tl, minus, tl_scalar(tl, 9)));
    got[i++] = of(tl, tl_mod(tl, minus, tl_scalar(tl, 4)));
    got[i++] = of(tl, tl_round(tl, x));
    got[i++] = of(tl, tl_floor(tl, tl_neg(tl, x)));
    got[i++] = of(tl, yes) + 2 * of(tl, tl_not(tl, yes)) + 4 * of(tl, tl_or(tl, yes, yes));
    got[i++] = of(tl, tl_sum(tl, tl_gt(tl, x, tl_scalar(tl, 2)), -1, false));
    got[i++] = of(tl, tl_argmin(tl, tl_arange(tl, KB_I16, 5, 3, -1), -1, false));
}

static void bits_by_hand(void **state)
{
    static const double want[] = {0, 15, -1, -7, -64, -1, -3, 2, -3, 5, 3, 4};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});
    struct marks m;

    (void)state;
    memset(&m, 0, sizeof m);
    launch_talk(sim, bits, &m, one, 1);
    run_launched(sim, 0);
    kb_sim_free(sim);
    for (size_t i = 0; i < LENGTH(want); i++)
        if (m.value[0][i] != want[i])
            fail_msg("value %zu is %g, not %g", i, m.value[0][i], want[i]);
}

/* -- mistakes ------------------------------------------------------------------------------- */

#define WRONG(name, call)                                                                          \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1);                                     \
                                                                                                   \
        (void)args;                                                                                \
        call;                                                                                      \
    }

WRONG(none, tl_topk(tl, x, 0, NULL))
WRONG(too_many, tl_topk(tl, x, 9, NULL))
WRONG(of_bool, tl_topk(tl, tl_gt(tl, x, x), 1, NULL))
WRONG(of_no_axis, tl_topk(tl,
                          tl_reshape(tl, tl_slice(tl, tl_slice(tl, x, 0, 0, 1), 1, 0, 1),
                                     ((kb_shape){.rank = 0})),
                          1, NULL))
WRONG(bits_of_floats, tl_and(tl, x, x))
WRONG(shift_of_bool, tl_shl(tl, tl_gt(tl, x, x), tl_gt(tl, x, x)))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {none, ": k is 0, and a row has 8 elements"},
        {too_many, ": k is 9, and a row has 8 elements"},
        {of_bool, ": topk does not take bool"},
        {of_no_axis, ": axis -1 is none of shape []"},
        {bits_of_floats, ": and takes integers, not f32"},
        {shift_of_bool, ": shl does not take bool"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_takes_topk_width), cmocka_unit_test(a_gate_decides_what_is_loaded),
        cmocka_unit_test(the_largest_in_order),    cmocka_unit_test(bits_by_hand),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
