/* test_mixed.c -- operands of several types, and batches of products: times by hand, values, rates,
 * mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, mac
 * is [16, 16, 16], 64 lanes.
 */
#include "support/talks.h"

#define CUBE8(links, pe)                                                                           \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {" pe "}}\n"
#define CONVERT "pe_fetch_store: {convert: true}"

static const uint32_t one[] = {0};

#define ASSERT_TAKES(pe, kernel, ns)                                                               \
    assert_talk_takes((const char *const[]){CUBE8("ideal", pe), CUBE8("fifo", pe)}, kernel, FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

static void product_of(tl_ctx *tl, const kb_args *args, kb_dtype a, kb_dtype b, kb_dtype out)
{
    tl_tensor *x = tl_full(tl, a, KB_SHAPE(32, 1024), 1);
    tl_tensor *y = tl_full(tl, b, KB_SHAPE(1024, 128), 1);

    mark(tl, args, 0);
    tl_dot(tl, x, y, .dtype_out = out);
    mark(tl, args, 1);
}

static void f16_by_i8(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_F16, KB_I8, KB_F32);
}

static void i8_by_f16(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_I8, KB_F16, KB_DEFAULT);
}

static void f16_by_bf16(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_F16, KB_BF16, KB_F32);
}

static void composite(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(32, 128), 1);
    tl_tensor *b = tl_full(tl, KB_I8, KB_SHAPE(128, 32), 1);

    mark(tl, args, 0);
    tl_wait(tl, tl_composite(tl, .a = a, .b = b, .out = SLICE(0), .dot = {.dtype_out = KB_F32}));
    mark(tl, args, 1);
}

/* FETCH of 65536 and 131072 bytes 384, cycles 2 * 64 * 8, STORE 32. i8 by f16: FETCH of 32768 and
 * 262144 bytes 576, STORE of f16 16. As many bits: FETCH 640, the lower rate. A composite: FETCHes
 * of 4096 and 2048 bytes 12 and 12, GEMMs of 16 cycles, STORE 8, the write 18.085. */
static void operands_are_fetched_as_they_lie(void **state)
{
    (void)state;
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {i8: 2}}", f16_by_i8, 1443);
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {f16: 2, i8: 0.5}}", f16_by_i8, 1443 - 512);
    ASSERT_TAKES(CONVERT, i8_by_f16, 3 + 576 + 1024 + 16);
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {i8: 2}}", i8_by_f16, 3 + 576 + 1024 + 16);
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {bf16: 0.5}}", f16_by_bf16, 3 + 640 + 2048 + 32);
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {f16: 0.5}}", f16_by_bf16, 3 + 640 + 2048 + 32);
    ASSERT_TAKES(CONVERT, composite, 3 + 12 + 16 + 16 + 8 + 18.085);
}

static void in_acc(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(32, 64), 1);
    tl_tensor *b = tl_full(tl, KB_I8, KB_SHAPE(64, 32), 1);
    tl_tensor *bias = tl_full(tl, KB_BF16, KB_SHAPE(32), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 32, 32);

    mark(tl, args, 0);
    tl_dot_acc(tl, acc, a, b);
    tl_dot_acc(tl, acc, a, b);
    tl_acc_scale(tl, acc, bias);
    tl_acc_store(tl, acc, KB_F32, {TL_ADD, bias});
    mark(tl, args, 1);
}

static void sum_of_two(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(32, 32), 1);
    tl_tensor *b = tl_full(tl, KB_F32, KB_SHAPE(32, 32), 1);

    mark(tl, args, 0);
    tl_add(tl, a, b);
    mark(tl, args, 1);
}

/* Twice FETCH of 4096 and 2048 bytes and 16 cycles; FETCH of 64 bytes and 16 cycles; the same, and
 * STORE 8. A sum: FETCH of 2048 and 4096 bytes, 16 cycles, STORE of f32 8. */
static void steps_take_other_types_too(void **state)
{
    (void)state;
    ASSERT_TAKES(CONVERT, in_acc, 2 * (3 + 12 + 16) + (3 + 0.125 + 16) + (3 + 0.125 + 16 + 8));
    ASSERT_TAKES(CONVERT, sum_of_two, 3 + 12 + 16 + 8);
}

/* -- batches -------------------------------------------------------------------------------- */

static void batch(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(4, 32, 64), 1);
    tl_tensor *b = tl_full(tl, KB_F16, KB_SHAPE(4, 64, 32), 1);

    mark(tl, args, 0);
    tl_dot(tl, a, b);
    mark(tl, args, 1);
}

static void batch_by_one(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(4, 32, 64), 1);
    tl_tensor *b = tl_full(tl, KB_F16, KB_SHAPE(32, 64), 1);

    mark(tl, args, 0);
    tl_dot(tl, a, b, .transpose_b = true);
    mark(tl, args, 1);
}

/* FETCH of 4 * 8192 bytes 64, 4 * 16 cycles, STORE of 4 * 2048 bytes 16; the right one once: FETCH
 * of 4 * 4096 and 4096 bytes 40. One overhead; each product's cycles over the rate are rounded up.
 */
static void a_batch_is_one_command(void **state)
{
    (void)state;
    ASSERT_TAKES("", batch, 147);
    ASSERT_TAKES("", batch_by_one, 3 + 40 + 64 + 16);
    ASSERT_TAKES("pe_gemm: {overhead_ns: 5}", batch, 152);
    ASSERT_TAKES("pe_gemm: {rate: {f16: 0.3}}", batch, 3 + 64 + 4 * 54 + 16);
}

static void counts_macs(tl_ctx *tl, const kb_args *args)
{
    batch(tl, args);
}

static void products_of_a_batch_are_counted(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", "pe_gemm: {rate: {f16: 0.5}}"));
    struct marks m = {.line = 0};
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_launch_result r;

    (void)state;
    launch_talk(sim, counts_macs, &m, one, 1);
    r = run_launched(sim, 0);
    assert_int_equal(r.gemm_macs, 4 * 32 * 64 * 32);
    assert_true(r.gemm_rated_macs == 8 * 32 * 64 * 32);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* -- values --------------------------------------------------------------------------------- */

/* What is multiplied: [rows, columns] of small numbers, all of which any type has. */
static tl_tensor *small(tl_ctx *tl, kb_dtype dtype, int64_t batch, int64_t rows, int64_t columns,
                        unsigned first)
{
    tl_tensor *x = tl_load(tl, SLICE(0) + 4u * first, KB_F32, KB_SHAPE(batch * rows * columns));
    tl_tensor *low =
        tl_mul(tl, tl_floor(tl, tl_mul(tl, x, tl_scalar(tl, 1. / 8))), tl_scalar(tl, 8));

    x = tl_cast(tl, tl_sub(tl, x, low), dtype);
    return tl_reshape(tl, x, batch > 1 ? KB_SHAPE(batch, rows, columns) : KB_SHAPE(rows, columns));
}

static int number(unsigned first, int i)
{
    return (int)(first + 1 + (unsigned)i) % 8;
}

enum { M = 5, K = 300, N = 9, BATCH = 3 };

static const struct mixed {
    kb_dtype a, b, out;
    bool batch_a, batch_b, transposed;
} mixes[] = {
    {KB_F16, KB_I8, KB_F32, false, false, false},   {KB_U8, KB_BF16, KB_F64, false, false, true},
    {KB_F32, KB_I16, KB_F32, false, false, false},  {KB_F64, KB_I32, KB_F64, false, false, false},
    {KB_F8E4M3, KB_F16, KB_F32, true, true, false}, {KB_I8, KB_U8, KB_I32, true, false, false},
    {KB_I8, KB_I32, KB_I64, false, true, true},     {KB_U16, KB_I8, KB_I32, true, true, true},
    {KB_F32, KB_F32, KB_F32, true, true, false},    {KB_F16, KB_F16, KB_F32, false, true, true},
};

static double sum_at(const struct mixed *x, int z, int i, int j)
{
    double sum = 0;

    for (int k = 0; k < K; k++)
        sum += number(0, (x->batch_a ? z * M * K : 0) + i * K + k) *
               number(64, (x->batch_b ? z * K * N : 0) + (x->transposed ? j * K + k : k * N + j));
    return sum;
}

static void multiplies(tl_ctx *tl, const kb_args *args)
{
    for (unsigned c = 0; c < LENGTH(mixes); c++) {
        const struct mixed *x = &mixes[c];
        int batch = x->batch_a || x->batch_b ? BATCH : 1;
        tl_tensor *a = small(tl, x->a, x->batch_a ? BATCH : 1, M, K, 0);
        tl_tensor *b = x->transposed ? small(tl, x->b, x->batch_b ? BATCH : 1, N, K, 64)
                                     : small(tl, x->b, x->batch_b ? BATCH : 1, K, N, 64);
        tl_tensor *p = tl_dot(tl, a, b, .dtype_out = x->out, .transpose_b = x->transposed);

        marks_of(args)->value[0][c] = 1;
        for (int i = 0; i < batch * M * N; i++)
            if (tl_value(tl, p, i) != sum_at(x, i / (M * N), i / N % M, i % N))
                marks_of(args)->value[0][c] = 0;
    }
}

/* Elements are converted exactly; and by plain loops they are the same. */
static void products_of_several_types_are_right(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", CONVERT));
    kb_sim *sim = new_sim(topo, (kb_options){.phase2 = true, .values = true});
    struct marks m = {.line = 0};
    kb_error why = {""};

    (void)state;
    launch_talk(sim, multiplies, &m, one, 1);
    run_launched(sim, 0);
    for (unsigned c = 0; c < LENGTH(mixes); c++)
        if (m.value[0][c] != 1)
            fail_msg("product %u is wrong", c);
    if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* -- operations of math ---------------------------------------------------------------------- */

static void check(tl_ctx *tl, const kb_args *args, unsigned *i, tl_tensor *x, double want)
{
    marks_of(args)->value[0][*i] = want;
    marks_of(args)->fs[0][(*i)++] = tl_value(tl, x, 0) == want;
}

/* 2049 is none of f16, 300 is none of 8 bits; results are of the wider type, of two that are as
 * wide of the first. */
static void computes(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *half = tl_full(tl, KB_F16, KB_SHAPE(4), 0.5),
              *b = tl_full(tl, KB_BF16, KB_SHAPE(4), 3);
    tl_tensor *wide = tl_full(tl, KB_F32, KB_SHAPE(4), 2049),
              *i8 = tl_full(tl, KB_I8, KB_SHAPE(4), -5);
    tl_tensor *i16 = tl_full(tl, KB_I16, KB_SHAPE(4), 300),
              *u8 = tl_full(tl, KB_U8, KB_SHAPE(4), 200);
    tl_tensor *f8 = tl_full(tl, KB_F8E5M2, KB_SHAPE(4), 6);
    unsigned i = 0;

    check(tl, args, &i, tl_add(tl, half, wide), 2049.5);
    check(tl, args, &i, tl_sub(tl, wide, half), 2048.5);
    check(tl, args, &i, tl_mul(tl, half, b), 1.5);
    check(tl, args, &i, tl_add(tl, f8, b), 9);
    check(tl, args, &i, tl_add(tl, i8, i16), 295);
    check(tl, args, &i, tl_maximum(tl, u8, i16), 300);
    check(tl, args, &i, tl_minimum(tl, i16, i8), -5);
    check(tl, args, &i, tl_lt(tl, i8, i16), 1);
    check(tl, args, &i, tl_gt(tl, wide, half), 1);
    check(tl, args, &i, tl_where(tl, tl_lt(tl, i8, i16), half, wide), 0.5);
    check(tl, args, &i, tl_where(tl, tl_gt(tl, i8, i16), half, wide), 2049);
    check(tl, args, &i, tl_fma(tl, half, b, wide), 2050.5);
    check(tl, args, &i, tl_add(tl, tl_add(tl, half, b), tl_scalar(tl, 0.25)), 3.75);
    marks_of(args)->line =
        tl_dtype(tl_mul(tl, half, b)) == KB_F16 && tl_dtype(tl_mul(tl, b, half)) == KB_BF16 &&
        tl_dtype(tl_add(tl, i8, i16)) == KB_I16 && tl_dtype(tl_add(tl, half, wide)) == KB_F32;
}

static void math_of_several_types_is_right(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", CONVERT));
    kb_sim *sim = new_sim(topo, (kb_options){.phase2 = true, .values = true});
    struct marks m = {.line = 0};
    kb_error why = {""};

    (void)state;
    launch_talk(sim, computes, &m, one, 1);
    run_launched(sim, 0);
    for (unsigned c = 0; c < 13; c++)
        if (!m.fs[0][c])
            fail_msg("result %u is not %g", c, m.value[0][c]);
    assert_true(m.line);
    if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* -- what is told --------------------------------------------------------------------------- */

static void logged_product(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_dot(tl, tl_full(tl, KB_I8, KB_SHAPE(2, 16, 16), 1),
           tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1));
}

static void assert_has(const char *log, const char *text)
{
    if (!strstr(log, text))
        fail_msg("%s\nis not in\n%s", text, log);
}

static void a_record_has_both_types(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", CONVERT));
    struct marks m;
    char *log = talk(topo, logged_product, &m, one, 1);

    (void)state;
    assert_has(log, "\"op_name\":\"gemm_f16\"");
    assert_has(
        log, "\"dtype_in\":\"i8\",\"dtype_b\":\"f16\",\"dtype_acc\":\"f32\",\"dtype_out\":\"f16\"");
    assert_has(log, "\"shape_a\":[2,16,16],\"shape_b\":[16,16],\"shape_out\":[2,16,16]");
    assert_has(log, "\"m\":16,\"k\":16,\"n\":16");
    free(log);
    any_topology_free(topo);
}

/* -- mistakes ------------------------------------------------------------------------------- */

struct things {
    tl_tensor *f16, *bf16, *f32, *f64, *i8, *u8, *i32, *yes, *batch, *more, *wide;
    tl_acc *acc;
};

static struct things make_things(tl_ctx *tl)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1);

    return (struct things){.f16 = x,
                           .bf16 = tl_full(tl, KB_BF16, KB_SHAPE(16, 16), 1),
                           .f32 = tl_full(tl, KB_F32, KB_SHAPE(16, 16), 1),
                           .f64 = tl_full(tl, KB_F64, KB_SHAPE(16, 16), 1),
                           .i8 = tl_full(tl, KB_I8, KB_SHAPE(16, 16), 1),
                           .u8 = tl_full(tl, KB_U8, KB_SHAPE(16, 16), 1),
                           .i32 = tl_full(tl, KB_I32, KB_SHAPE(16, 16), 1),
                           .yes = tl_lt(tl, x, x),
                           .batch = tl_full(tl, KB_F16, KB_SHAPE(2, 16, 16), 1),
                           .more = tl_full(tl, KB_F16, KB_SHAPE(3, 16, 16), 1),
                           .wide = tl_full(tl, KB_F16, KB_SHAPE(2, 8, 16), 1),
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

WRONG(dot_of_two, tl_dot(tl, x.f16, x.i8))
WRONG(dot_acc_of_two, tl_dot_acc(tl, x.acc, x.f16, x.bf16))
WRONG(sum_of_f16_and_f32, tl_add(tl, x.f16, x.f32))
WRONG(third_of_another, tl_fma(tl, x.f16, x.f16, x.f32))
WRONG(composite_of_two, tl_composite(tl, .a = x.f16, .b = x.i8, .out = SLICE(0)))
WRONG(scale_by_another, (tl_dot_acc(tl, x.acc, x.f16, x.f16), tl_acc_scale(tl, x.acc, x.bf16)))
WRONG(shapes_of_batches, tl_dot(tl, x.batch, x.more))
WRONG(shapes_in_batches, tl_dot(tl, x.batch, x.wide))
WRONG(batch_by_columns, tl_dot(tl, x.batch, x.f16, .layout_b = TL_COL_MAJOR))
WRONG(batch_in_acc, tl_dot_acc(tl, x.acc, x.batch, x.f16))
WRONG(batch_of_composite, tl_composite(tl, .a = x.batch, .b = x.f16, .out = SLICE(0)))

#define IS_FALSE ": cube.pe.pe_fetch_store.convert is false"

static void without_convert_types_are_equal(void **state)
{
    static const struct mistake cases[] = {
        {dot_of_two, ": operands of f16 and i8" IS_FALSE},
        {dot_acc_of_two, ": operands of f16 and bf16" IS_FALSE},
        {sum_of_f16_and_f32, ": operands of f16 and f32" IS_FALSE},
        {third_of_another, ": operands of f16 and f32" IS_FALSE},
        {composite_of_two, ": operands of f16 and i8" IS_FALSE},
        {scale_by_another, ": an accumulator of f32, of products of f16, is scaled by bf16"},
        {shapes_of_batches, ": shapes [2, 16, 16] and [3, 16, 16] do not fit"},
        {shapes_in_batches, ": shapes [2, 16, 16] and [2, 8, 16] do not fit"},
        {batch_by_columns, ": a batch of products is row-major"},
        {batch_in_acc, ": the operands of a product are matrices"},
        {batch_of_composite, ": the operands of a product are matrices"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

WRONG(sum_with_integers, tl_add(tl, x.f32, x.i8))
WRONG(sum_of_signs, tl_add(tl, x.i8, x.u8))
WRONG(dot_of_wide_integers, tl_dot(tl, x.f16, x.i32))
WRONG(sum_with_bool, tl_maximum(tl, x.yes, x.i8))
WRONG(scale_by_a_wider, (tl_dot_acc(tl, x.acc, x.f16, x.i8), tl_acc_scale(tl, x.acc, x.f64)))
WRONG(step_of_integers,
      (tl_dot_acc(tl, x.acc, x.f16, x.i8), tl_acc_store(tl, x.acc, KB_F32, {TL_ADD, x.i8})))

/* What is not exact is refused. */
static void some_types_never_meet(void **state)
{
    static const struct mistake cases[] = {
        {sum_with_integers, "tl_add at tests/unit/kernels/test_mixed.c:"},
        {sum_with_integers, ": operands of f32 and i8"},
        {sum_of_signs, ": operands of i8 and u8"},
        {dot_of_wide_integers, ": operands of f16 and i32"},
        {sum_with_bool, ": operands of bool and i8"},
        {scale_by_a_wider, ": an accumulator of f32, of products of f16, is scaled by f64"},
        {step_of_integers, ": an epilogue's operand is i8, not f16"},
    };
    const char *yaml = CUBE8("ideal", CONVERT);

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_talk_refused(yaml, cases[i].kernel, cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_fetched_as_they_lie),
        cmocka_unit_test(steps_take_other_types_too),
        cmocka_unit_test(a_batch_is_one_command),
        cmocka_unit_test(products_of_a_batch_are_counted),
        cmocka_unit_test(products_of_several_types_are_right),
        cmocka_unit_test(math_of_several_types_is_right),
        cmocka_unit_test(a_record_has_both_types),
        cmocka_unit_test(without_convert_types_are_equal),
        cmocka_unit_test(some_types_never_meet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
