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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_fetched_as_they_lie),
        cmocka_unit_test(steps_take_other_types_too),
        cmocka_unit_test(a_batch_is_one_command),
        cmocka_unit_test(products_of_a_batch_are_counted),
        cmocka_unit_test(products_of_several_types_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
