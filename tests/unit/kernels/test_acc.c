/* test_acc.c -- accumulators, and rates of products: times by hand, values, room, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, mac
 * is [16, 16, 16], 64 lanes. The FETCH of two f16 tiles [128, 128] takes 128, their product 512.
 */
#include "support/races.h"
#include "support/talks.h"

#define CUBE8(links, gemm)                                                                         \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {pe_gemm: {" gemm "}}}\n"

static const uint32_t one[] = {0};

#define ASSERT_TAKES(gemm, kernel, ns)                                                             \
    assert_talk_takes((const char *const[]){CUBE8("ideal", gemm), CUBE8("fifo", gemm)}, kernel,    \
                      FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

static void eight_products(tl_ctx *tl, const kb_args *args, bool async)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1);
    tl_acc *acc;

    mark(tl, args, 0);
    tl_async(tl, async);
    acc = tl_acc_new(tl, KB_F32, 128, 128);
    for (int i = 0; i < 8; i++)
        tl_dot_acc(tl, acc, x, x);
    tl_acc_store(tl, acc, KB_F32);
    tl_wait_all(tl);
    mark(tl, args, 1);
}

static void eight_in_turn(tl_ctx *tl, const kb_args *args)
{
    eight_products(tl, args, false);
}

static void eight_that_overlap(tl_ctx *tl, const kb_args *args)
{
    eight_products(tl, args, true);
}

static void eight_and_sums(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1), *sum;

    mark(tl, args, 0);
    sum = tl_dot(tl, x, x, .dtype_out = KB_F32);
    for (int i = 1; i < 8; i++) {
        tl_tensor *p = tl_dot(tl, x, x, .dtype_out = KB_F32);

        sum = tl_add(tl, sum, p);
    }
    mark(tl, args, 1);
}

/* 8 (3 + 128 + 512 + 128) + 7 (3 + 256 + 256 + 128); 8 (3 + 128 + 512) + 3 + 128; FETCHes to 131,
 * ... 1027, GEMMs to 643, ... 4227, STORE to 4355. */
static void products_add_up_in_the_engine(void **state)
{
    (void)state;
    ASSERT_TAKES("", eight_and_sums, 10669);
    ASSERT_TAKES("", eight_in_turn, 5275);
    ASSERT_TAKES("", eight_that_overlap, 4355);
}

static void late_and_ready(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *y = tl_full(tl, KB_F16, KB_SHAPE(64, 32), 1);
    tl_tensor *ready = tl_full(tl, KB_F16, KB_SHAPE(32, 64), 1), *late;
    tl_acc *acc = tl_acc_new(tl, KB_F32, 32, 32);

    mark(tl, args, 0);
    tl_async(tl, true);
    late = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
    tl_dot_acc(tl, acc, late, y);
    tl_dot_acc(tl, acc, ready, y);
    tl_acc_store(tl, acc, KB_F32);
    tl_wait_all(tl);
    mark(tl, args, 1);
}

/* The load 3 to 21.085; FETCH of the second 9 to 25, of the first to 41; GEMM of the first to 57,
 * of the second to 73; STORE 8. */
static void engines_come_in_the_order_of_the_calls(void **state)
{
    (void)state;
    ASSERT_TAKES("", late_and_ready, 81);
}

static void scaled(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1);
    tl_tensor *v = tl_full(tl, KB_F32, KB_SHAPE(128, 1), 0.5);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 128, 128);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_dot_acc(tl, acc, x, x);
    tl_acc_scale(tl, acc, v);
    tl_dot_acc(tl, acc, x, x);
    tl_acc_store(tl, acc, KB_F16, {TL_MUL, tl_scalar(tl, 2)});
    tl_wait_all(tl);
    mark(tl, args, 1);
}

/* GEMM 131 to 643, MATH to 899, GEMM to 1411, MATH to 1667, STORE 64. */
static void an_accumulator_is_scaled_in_place(void **state)
{
    (void)state;
    ASSERT_TAKES("", scaled, 1731);
}

static void two_steps(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1);
    tl_tensor *row = tl_full(tl, KB_F32, KB_SHAPE(128), 1);
    tl_tensor *all = tl_full(tl, KB_F32, KB_SHAPE(128, 128), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 128, 128);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_dot_acc(tl, acc, x, x);
    tl_acc_store(tl, acc, KB_F16, {TL_ADD, all}, {TL_MUL, row}, {TL_EXP});
    tl_wait_all(tl);
    mark(tl, args, 1);
}

/* FETCH of the product 3 to 131, GEMM to 643. FETCH of the first step's tensor 131 to 259, its MATH
 * 643 to 899; FETCH of the second's, 512 bytes, MATH to 1156; exp to 2180; STORE 64. */
static void the_first_operand_of_a_store_is_fetched_ahead(void **state)
{
    (void)state;
    ASSERT_TAKES("", two_steps, 2244);
}

/* -- rates ---------------------------------------------------------------------------------- */

static void product_of(tl_ctx *tl, const kb_args *args, kb_dtype in, kb_dtype out, int64_t m,
                       int64_t k, int64_t n)
{
    tl_tensor *a = tl_full(tl, in, KB_SHAPE(m, k), 1), *b = tl_full(tl, in, KB_SHAPE(k, n), 1);

    mark(tl, args, 0);
    tl_dot(tl, a, b, .dtype_out = out);
    mark(tl, args, 1);
}

static void product_of_i8(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_I8, KB_I32, 32, 1024, 128);
}

static void product_of_u8(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_U8, KB_I32, 32, 1024, 128);
}

static void product_of_f64(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_F64, KB_F32, 32, 1024, 128);
}

static void product_of_f32(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_F32, KB_F32, 32, 64, 32);
}

static void composite_of_f32(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F32, KB_SHAPE(32, 128), 1);
    tl_tensor *b = tl_full(tl, KB_F32, KB_SHAPE(128, 32), 1);

    mark(tl, args, 0);
    tl_wait(tl, tl_composite(tl, .a = a, .b = b, .out = SLICE(0)));
    mark(tl, args, 1);
}

/* Cycles are those of all, over the rate, rounded up: 16 / 0.3 is 54; of a composite of each tile:
 * FETCH 32, 54 and 54, STORE 8, the write 18.085. */
static void products_of_a_type_have_a_rate(void **state)
{
    (void)state;
    ASSERT_TAKES("", product_of_i8, 1379);
    ASSERT_TAKES("rate: {i8: 2}", product_of_i8, 867);
    ASSERT_TAKES("rate: {i8: 2}", product_of_u8, 867);
    ASSERT_TAKES("rate: {f32: 2}", product_of_i8, 1379);
    ASSERT_TAKES("rate: {i8: 2}", product_of_f64, 3619);
    ASSERT_TAKES("rate: {f64: 0.0625}", product_of_f64, 18979);
    ASSERT_TAKES("rate: {f32: 0.3}", product_of_f32, 97);
    ASSERT_TAKES("rate: {f32: 0.3}", composite_of_f32, 3 + 32 + 54 + 54 + 8 + 18.085);
}

/* -- values --------------------------------------------------------------------------------- */

/* Products of K 600 in parts of 200, as rulings have it: bit by bit those of tl_dot() and tl_add().
 */
static const struct values {
    kb_dtype in, acc, out;
    bool transposed;
} values[] = {{KB_F16, KB_F32, KB_F32, false}, {KB_F16, KB_F32, KB_BF16, true},
              {KB_F16, KB_F64, KB_F64, false}, {KB_F32, KB_F64, KB_F32, true},
              {KB_F64, KB_F32, KB_F32, false}, {KB_BF16, KB_F32, KB_F16, false},
              {KB_I8, KB_I32, KB_I8, false},   {KB_U16, KB_I64, KB_U32, true},
              {KB_I32, KB_I32, KB_I64, false}};

enum { M = 24, K = 200, N = 40, PARTS = 3 };

static tl_tensor *part(tl_ctx *tl, uint64_t at, kb_dtype dtype, int64_t rows, int64_t columns)
{
    tl_tensor *x = tl_load(tl, at, KB_F32, KB_SHAPE(rows, columns));

    if (dtype == KB_F16 || dtype == KB_BF16 || dtype == KB_F64 || dtype == KB_F32)
        x = tl_mul(tl, x, tl_scalar(tl, 1.0 / 7777));
    return tl_cast(tl, x, dtype);
}

static void sums_of_products(tl_ctx *tl, const kb_args *args)
{
    const struct values *v = args->user;
    tl_tensor *sum = NULL, *steps = NULL, *half = tl_full(tl, v->acc, KB_SHAPE(M, 1), 3);
    tl_tensor *bias = tl_full(tl, v->acc, KB_SHAPE(N), 5);
    tl_acc *acc = tl_acc_new(tl, v->acc, M, N);
    uint64_t bytes = kb_dtype_bytes(v->out) * M * N;

    tl_async(tl, v->transposed);
    for (int i = 0; i < PARTS; i++) {
        int64_t rows = v->transposed ? K : M, columns = v->transposed ? M : K;
        tl_tensor *a = part(tl, SLICE(0) + 1000u * (unsigned)i, v->in, rows, columns);
        tl_tensor *b = part(tl, SLICE(0) + 4000u + 400u * (unsigned)i, v->in, K, N), *p;

        tl_dot_acc(tl, acc, a, b, .transpose_a = v->transposed);
        p = tl_dot(tl, a, b, .transpose_a = v->transposed, .dtype_out = v->acc);
        sum = sum ? tl_add(tl, sum, p) : p;
        if (i == 1) {
            tl_acc_scale(tl, acc, half);
            sum = tl_mul(tl, sum, half);
        }
    }
    steps = tl_add(tl, sum, bias);
    steps = tl_maximum(tl, steps, tl_scalar(tl, 7));
    tl_store(tl, SLICE(0) + FILLED, tl_cast(tl, steps, v->out));
    tl_store(tl, SLICE(0) + FILLED + bytes,
             tl_acc_store(tl, acc, v->out, {TL_ADD, bias}, {TL_MAXIMUM, tl_scalar(tl, 7)}));
}

static void accumulators_hold_what_dots_and_adds_give(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(values); i++) {
        const kb_topology *topo = any_topology(CUBE8("ideal", ""));
        kb_sim *sim = new_sim(topo, (kb_options){.phase2 = true});
        kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
        uint64_t bytes = kb_dtype_bytes(values[i].out) * M * N;
        kb_error why = {""};
        kb_tensor *out;
        const void *got;

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(
            kb_tensor_new(sim, "out", values[i].out, KB_SHAPE(2, M, N), copies, &out, &why), KB_OK);
        launch_talk(sim, sums_of_products, &values[i], one, 1);
        run_launched(sim, 0);
        if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
            fail_msg("%s", why.text);
        assert_int_equal(kb_tensor_part(out, 0, &got, &why), KB_OK);
        if (memcmp(got, (const char *)got + bytes, bytes) != 0)
            fail_msg("case %zu differs", i);
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

/* -- room ----------------------------------------------------------------------------------- */

/* Of 256 KiB each takes three quarters: the second one waits for the store of the first. */
static void one_after_the_other(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(256, 16), 1);
    tl_tensor *y = tl_full(tl, KB_F16, KB_SHAPE(16, 192), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 256, 192);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_dot_acc(tl, acc, x, y);
    tl_acc_store(tl, acc, KB_F32);
    tl_acc_new(tl, KB_F32, 256, 192);
    mark(tl, args, 1);
}

/* FETCH 3 to 31, GEMM 192, STORE 384. */
static void a_new_accumulator_waits_for_room(void **state)
{
    (void)state;
    ASSERT_TAKES("", one_after_the_other, 607);
}

/* -- what is told --------------------------------------------------------------------------- */

static void logged_products(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 16, 16);

    (void)args;
    tl_dot_acc(tl, acc, x, x);
    tl_acc_scale(tl, acc, tl_scalar(tl, 2));
    tl_dot_acc(tl, acc, x, x);
    tl_acc_store(tl, acc, KB_F16, {TL_ADD, x});
}

static void assert_has(const char *log, const char *text)
{
    if (!strstr(log, text))
        fail_msg("%s\nis not in\n%s", text, log);
}

/* Ids: full 0 and its STORE; product 2 and its FETCH; scale 4; product 5; store 7, FETCH, MATH,
 * STORE. */
static void records_name_the_accumulator(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", ""));
    struct marks m;
    char *log = talk(topo, logged_products, &m, one, 1);

    (void)state;
    assert_has(log, "\"op_name\":\"acc_scale\"");
    assert_has(log, "\"op_name\":\"acc_store\"");
    assert_has(log, "\"dst_space\":\"acc\"");
    assert_has(log, "\"acc\":0,\"epilogue\":[{\"op\":\"add\"");
    assert_true(llround(logged(log, 7, "t_end") - logged(log, 7, "t_start")) == 1 + 4 + 1);
    free(log);
    any_topology_free(topo);
}

static void loads_adds_and_meets(tl_ctx *tl, const kb_args *args)
{
    tl_acc *acc = tl_acc_new(tl, KB_F32, 16, 16);
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    if (tl_pe(tl) == 0) {
        x = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(16, 16));
        tl_dot_acc(tl, acc, x, x);
        tl_wait(tl, tl_acc_store(tl, acc, KB_F32));
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 0)
        return;
    x = tl_full(tl, KB_F32, KB_SHAPE(4), 1);
    tl_store(tl, SLICE(0) + 128, x);
}

/* To wait for what was stored is to wait for all that was added. */
static void what_an_accumulator_was_made_of_comes_before(void **state)
{
    struct races *r = races_in(loads_adds_and_meets, NULL, 2, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 0);
    free(r);
}

static void counts_macs(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(32, 32), 1);
    tl_tensor *y = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1);

    (void)args;
    tl_dot(tl, x, x);
    tl_dot(tl, y, y);
}

static void work_is_counted_by_rates(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", "rate: {f32: 0.25}"));
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_launch_result r;

    (void)state;
    launch_talk(sim, counts_macs, NULL, one, 1);
    r = run_launched(sim, 0);
    assert_int_equal(r.gemm_macs, 32 * 32 * 32 + 16 * 16 * 16);
    assert_true(r.gemm_rated_macs == 4 * 32 * 32 * 32 + 16 * 16 * 16);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* -- mistakes ------------------------------------------------------------------------------- */

struct things {
    tl_tensor *f16, *f64, *i8, *i64, *wide;
    tl_acc *acc;
};

static struct things make_things(tl_ctx *tl)
{
    return (struct things){.f16 = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1),
                           .f64 = tl_full(tl, KB_F64, KB_SHAPE(16, 16), 1),
                           .i8 = tl_full(tl, KB_I8, KB_SHAPE(16, 16), 1),
                           .i64 = tl_full(tl, KB_I64, KB_SHAPE(16, 16), 1),
                           .wide = tl_full(tl, KB_F16, KB_SHAPE(16, 32), 1),
                           .acc = tl_acc_new(tl, KB_F32, 16, 16)};
}

#define WRONG(name, call)                                                                          \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        struct things x = make_things(tl);                                                         \
                                                                                                   \
        (void)args;                                                                                \
        (void)x;                                                                                   \
        call;                                                                                      \
    }

WRONG(of_f16, tl_acc_new(tl, KB_F16, 16, 16))
WRONG(too_large, tl_acc_new(tl, KB_F64, 256, 128))
WRONG(of_none, tl_dot_acc(tl, NULL, x.f16, x.f16))
WRONG(scaled_first, tl_acc_scale(tl, x.acc, x.f16))
WRONG(stored_first, tl_acc_store(tl, x.acc, KB_F16))
WRONG(of_another_shape, tl_dot_acc(tl, x.acc, x.f16, x.wide))
WRONG(of_integers, tl_dot_acc(tl, x.acc, x.i8, x.i8))
WRONG(of_wider_integers, tl_dot_acc(tl, tl_acc_new(tl, KB_I32, 16, 16), x.i64, x.i64))
WRONG(with_another_type, tl_dot_acc(tl, x.acc, x.f16, x.f16, .dtype_out = KB_F16))
WRONG(by_columns, tl_dot_acc(tl, x.acc, x.f16, x.f16, .layout_out = TL_COL_MAJOR))
WRONG(scaled_by_f64, tl_dot_acc(tl, x.acc, x.f16, x.f16); tl_acc_scale(tl, x.acc, x.f64))
WRONG(scaled_by_more, tl_dot_acc(tl, x.acc, x.f16, x.f16); tl_acc_scale(tl, x.acc, x.wide))
WRONG(stored_as_i8, tl_dot_acc(tl, x.acc, x.f16, x.f16); tl_acc_store(tl, x.acc, KB_I8))
WRONG(stored_twice, tl_async(tl, true); tl_dot_acc(tl, x.acc, x.f16, x.f16);
      tl_acc_store(tl, x.acc, KB_F16); tl_acc_store(tl, x.acc, KB_F16))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {of_f16, ": an accumulator is f32, f64, i32 or i64, not f16"},
        {too_large, ": accumulators are exhausted: 262144 bytes are needed, and 261120 of the "
                    "262144 of pe_gemm are free"},
        {of_none, "tl_dot_acc at "},
        {of_none, ": an accumulator is NULL"},
        {scaled_first, ": an accumulator is used before a product has set it"},
        {stored_first, ": an accumulator is used before a product has set it"},
        {of_another_shape, ": a product [16, 32] does not fit an accumulator [16, 16]"},
        {of_integers, ": a product of i8 cannot be f32"},
        {of_wider_integers, ": a product of i64 cannot be i32"},
        {with_another_type, ": dtype_acc and dtype_out of a product are those of its accumulator, "
                            "f32"},
        {by_columns, ": an accumulator is row-major"},
        {scaled_by_f64, ": an accumulator of f32, of products of f16, is scaled by f64"},
        {scaled_by_more, ": [16, 32] does not broadcast to an accumulator [16, 16]"},
        {stored_as_i8, ": an accumulator of f32 cannot be i8"},
        {stored_twice, ": an accumulator was stored before"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_add_up_in_the_engine),
        cmocka_unit_test(engines_come_in_the_order_of_the_calls),
        cmocka_unit_test(an_accumulator_is_scaled_in_place),
        cmocka_unit_test(the_first_operand_of_a_store_is_fetched_ahead),
        cmocka_unit_test(products_of_a_type_have_a_rate),
        cmocka_unit_test(accumulators_hold_what_dots_and_adds_give),
        cmocka_unit_test(a_new_accumulator_waits_for_room),
        cmocka_unit_test(records_name_the_accumulator),
        cmocka_unit_test(what_an_accumulator_was_made_of_comes_before),
        cmocka_unit_test(work_is_counted_by_rates),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
