/* test_i4.c -- integers of 4 bits: times by hand, values, views, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, mac
 * is [16, 16, 16], 64 lanes; a load of the own slice takes 2.085 ns and 1 for 256 bytes.
 */
#include "support/talks.h"

#define CUBE8(links, pe)                                                                           \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {" pe "}}\n"
#define CONVERT "pe_fetch_store: {convert: true}"

#define ASSERT_TAKES(pe, kernel, ns)                                                               \
    assert_talk_takes((const char *const[]){CUBE8("ideal", pe), CUBE8("fifo", pe)}, kernel, FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

static tl_tensor *ones(tl_ctx *tl, kb_dtype dtype, int64_t rows, int64_t columns)
{
    return tl_cast(tl, tl_full(tl, KB_I8, KB_SHAPE(rows, columns), 1), dtype);
}

static void cast(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_I8, KB_SHAPE(32, 1024), 1);

    mark(tl, args, 0);
    tl_cast(tl, x, KB_I4);
    mark(tl, args, 1);
}

static void product_of(tl_ctx *tl, const kb_args *args, kb_dtype a, kb_dtype out)
{
    tl_tensor *x = ones(tl, a, 32, 1024), *y = ones(tl, KB_I4, 1024, 128);

    mark(tl, args, 0);
    tl_dot(tl, x, y, .dtype_out = out);
    mark(tl, args, 1);
}

static void i4_by_i4(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_I4, KB_DEFAULT);
}

static void i8_by_i4(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_I8, KB_DEFAULT);
}

static void f16_by_i4(tl_ctx *tl, const kb_args *args)
{
    product_of(tl, args, KB_F16, KB_F32);
}

static void composite(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = ones(tl, KB_F16, 32, 128), *b = ones(tl, KB_I4, 128, 32);

    mark(tl, args, 0);
    tl_wait(tl, tl_composite(tl, .a = a, .b = b, .out = SLICE(0), .dot = {.dtype_out = KB_F32}));
    mark(tl, args, 1);
}

/* A cast: FETCH 64, 512 cycles, STORE of half of the bytes 32. FETCH of 16384 (i8 32768, f16 65536)
 * and 65536 bytes 160 (192, 256), 2 * 64 * 8 cycles over the wider type's rate, STORE 32. A
 * composite: FETCHes of 4096 and 1024 bytes 10 and 10, GEMMs of 16 cycles, STORE 8, the write. */
static void half_a_byte_is_moved(void **state)
{
    (void)state;
    ASSERT_TAKES("", cast, 3 + 64 + 512 + 32);
    ASSERT_TAKES("", i4_by_i4, 3 + 160 + 1024 + 32);
    ASSERT_TAKES("pe_gemm: {rate: {i4: 4, i8: 2}}", i4_by_i4, 3 + 160 + 256 + 32);
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {i4: 4, i8: 2}}", i8_by_i4, 3 + 192 + 512 + 32);
    ASSERT_TAKES(CONVERT ", pe_gemm: {rate: {i4: 4, i8: 2}}", f16_by_i4, 3 + 256 + 1024 + 32);
    ASSERT_TAKES(CONVERT, composite, 3 + 10 + 16 + 16 + 8 + 18.085);
}

static void moves(tl_ctx *tl, const kb_args *args)
{
    const int64_t strides[] = {4096, 1}, index[] = {3, 1};
    tl_tensor *x;

    mark(tl, args, 0);
    x = tl_load(tl, SLICE(0), KB_I4, KB_SHAPE(32, 64));
    tl_store(tl, SLICE(0) + 65536, x);
    tl_load_strided(tl, SLICE(0), KB_I4, KB_SHAPE(16, 64), strides);
    tl_load_rows(tl, SLICE(0), KB_I4, KB_SHAPE(1024), 4096, index, 2);
    mark(tl, args, 1);
}

static void fetches_a_slice(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = ones(tl, KB_I4, 16, 128);

    mark(tl, args, 0);
    tl_cast(tl, tl_slice(tl, x, 1, 64, 64), KB_I8);
    mark(tl, args, 1);
}

/* 1024 bytes twice, 512, 1024. A slice has 16 runs of 32 bytes, a cycle for 64 of 1024 elements,
 * and a result of 1024 bytes: FETCH 1, 16, STORE 2. With lines of 128 bytes, of which each has two
 * runs, FETCH takes 2. */
static void tiles_and_slices_count_bytes(void **state)
{
    (void)state;
    ASSERT_TAKES("", moves, 3 * (3 + 2.085 + 4) + 3 + 2.085 + 2);
    ASSERT_TAKES("", fetches_a_slice, 3 + 1 + 16 + 2);
    ASSERT_TAKES("pe_tcm: {line_bytes: 128}", fetches_a_slice, 3 + 2 + 16 + 2);
}

/* -- values --------------------------------------------------------------------------------- */

/* [rows, columns] of -4 to 3. */
static tl_tensor *small(tl_ctx *tl, kb_dtype dtype, kb_shape shape, unsigned first)
{
    int64_t n = 1;
    tl_tensor *x, *low;

    for (int i = 0; i < shape.rank; i++)
        n *= shape.dim[i];
    x = tl_load(tl, SLICE(0) + 4u * first, KB_F32, KB_SHAPE(n));
    low = tl_mul(tl, tl_floor(tl, tl_mul(tl, x, tl_scalar(tl, 1. / 8))), tl_scalar(tl, 8));
    x = tl_sub(tl, tl_sub(tl, x, low), tl_scalar(tl, 4));
    return tl_reshape(tl, tl_cast(tl, x, dtype), shape);
}

static int number(unsigned first, int i)
{
    return (int)(first + 1 + (unsigned)i) % 8 - 4;
}

enum { M = 6, K = 300, N = 10, BATCH = 3 };

static const struct mixed {
    kb_dtype a, b, out;
    bool batch, turned_a, turned_b;
} mixes[] = {
    {KB_I4, KB_I4, KB_I32, false, false, false}, {KB_I4, KB_I4, KB_I64, true, true, true},
    {KB_F16, KB_I4, KB_F32, false, false, true}, {KB_I4, KB_I8, KB_I32, false, true, false},
    {KB_I4, KB_F64, KB_F64, false, false, true}, {KB_U8, KB_I4, KB_I32, true, false, false},
};

static double sum_at(const struct mixed *x, int z, int i, int j)
{
    double sum = 0;

    for (int k = 0; k < K; k++) {
        int a = number(0, z * M * K + (x->turned_a ? k * M + i : i * K + k));
        int b = number(64, z * K * N + (x->turned_b ? j * K + k : k * N + j));

        sum += (x->a == KB_U8 ? a & 255 : a) * b;
    }
    return sum;
}

/* Of u8 the numbers below 0 saturate to 0 in the cast. */
static tl_tensor *operand(tl_ctx *tl, kb_dtype dtype, bool batch, bool turned, int64_t rows,
                          int64_t columns, unsigned first)
{
    int64_t m = turned ? columns : rows, n = turned ? rows : columns;
    kb_shape shape = batch ? KB_SHAPE(BATCH, m, n) : KB_SHAPE(m, n);

    if (dtype == KB_U8) /* as bits, so that they wrap */
        return tl_cast(tl, small(tl, KB_I8, shape, first), KB_U8);
    return small(tl, dtype, shape, first);
}

static void multiplies(tl_ctx *tl, const kb_args *args)
{
    for (unsigned c = 0; c < LENGTH(mixes); c++) {
        const struct mixed *x = &mixes[c];
        tl_tensor *a = operand(tl, x->a, x->batch, x->turned_a, M, K, 0);
        tl_tensor *b = operand(tl, x->b, x->batch, x->turned_b, K, N, 64);
        tl_tensor *p = tl_dot(tl, a, b, .dtype_out = x->out, .transpose_a = x->turned_a,
                              .transpose_b = x->turned_b);

        marks_of(args)->value[0][c] = 1;
        for (int i = 0; i < (x->batch ? BATCH : 1) * M * N; i++)
            if (tl_value(tl, p, i) != sum_at(x, i / (M * N), i / N % M, i % N))
                marks_of(args)->value[0][c] = 0;
    }
}

static void check(tl_ctx *tl, const kb_args *args, unsigned *i, double got, double want)
{
    (void)tl;
    if (got != want)
        fail_msg("value %u is %g, not %g", *i, got, want);
    marks_of(args)->value[0][(*i)++] = got;
}

static double as_i8(tl_ctx *tl, tl_tensor *x, int64_t i)
{
    return tl_value(tl, tl_cast(tl, x, KB_I8), i);
}

/* Floats truncate and saturate, integers wrap; element 0 is the low half of its byte. */
static void converts(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *big = tl_arange(tl, KB_F32, 40, -20.5, 1), *x = tl_cast(tl, big, KB_I4), *bytes, *y;
    tl_tensor *wide = tl_cast(tl, tl_arange(tl, KB_I32, 40, 0, 1), KB_I4);
    const int64_t strides[] = {10, 1};
    unsigned i = 0;

    check(tl, args, &i, as_i8(tl, x, 0), -8);
    check(tl, args, &i, as_i8(tl, x, 15), -5); /* -5.5 */
    check(tl, args, &i, as_i8(tl, x, 27), 6);  /* 6.5 */
    check(tl, args, &i, as_i8(tl, x, 39), 7);
    check(tl, args, &i, as_i8(tl, wide, 9), -7);
    check(tl, args, &i, as_i8(tl, wide, 37), 5);
    check(tl, args, &i, tl_value(tl, tl_cast(tl, wide, KB_F16), 15), -1);
    check(tl, args, &i, tl_value(tl, tl_cast(tl, wide, KB_BOOL), 16), 0);
    tl_store(tl, SLICE(0) + (1 << 20), wide);
    bytes = tl_load(tl, SLICE(0) + (1 << 20), KB_U8, KB_SHAPE(20));
    check(tl, args, &i, tl_value(tl, bytes, 1), 0x32);
    check(tl, args, &i, tl_value(tl, bytes, 4), 0x98);
    x = tl_reshape(tl, wide, KB_SHAPE(4, 10));
    check(tl, args, &i, as_i8(tl, tl_slice(tl, x, 1, 4, 4), 5), -1); /* [1][5]: 15 */
    check(tl, args, &i, as_i8(tl, tl_slice(tl, x, 0, 3, 1), 2), 0);  /* [3][2]: 32 */
    y = tl_permute(tl, tl_reshape(tl, wide, KB_SHAPE(2, 2, 10)), ((const int[]){1, 0, 2}));
    check(tl, args, &i, as_i8(tl, y, 13), 7);                                    /* [0][1][3]: 23 */
    check(tl, args, &i, as_i8(tl, tl_expand(tl, x, KB_SHAPE(2, 4, 10)), 79), 7); /* 39 */
    y = tl_load_strided(tl, SLICE(0) + (1 << 20) + 1, KB_I4, KB_SHAPE(2, 6), strides);
    check(tl, args, &i, as_i8(tl, y, 7), 7); /* byte 11, its high half: 23 */
    y = tl_load(tl, SLICE(0) + (1 << 20), KB_I4, KB_SHAPE(40));
    check(tl, args, &i, as_i8(tl, y, 21), 5);
}

/* 6000 bytes, more than a slot has. */
static void passes_on(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_cast(tl, tl_arange(tl, KB_I32, 12000, 0, 1), KB_I4);
    unsigned i = 0;

    if (tl_pe(tl) == 0) {
        tl_send(tl, 1, 0, x);
        return;
    }
    x = tl_recv(tl, 0, 0, KB_I4, KB_SHAPE(2, 6000));
    check(tl, args, &i, as_i8(tl, x, 8199), 7);
    check(tl, args, &i, as_i8(tl, x, 11999), -1);
}

static void assert_right(kb_kernel kernel, size_t n_pes)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", CONVERT));
    kb_sim *sim = new_sim(topo, (kb_options){.phase2 = true, .values = true});
    struct marks m = {.line = 0};
    kb_error why = {""};

    launch_talk(sim, kernel, &m, (const uint32_t[]){0, 1}, n_pes);
    run_launched(sim, 0);
    for (unsigned c = 0; c < LENGTH(mixes) && kernel == multiplies; c++)
        if (m.value[0][c] != 1)
            fail_msg("product %u is wrong", c);
    if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void products_are_right(void **state)
{
    (void)state;
    assert_right(multiplies, 1);
}

static void casts_and_views_are_right(void **state)
{
    (void)state;
    assert_right(converts, 1);
    assert_right(passes_on, 2);
}

static void a_size_is_half_of_the_elements(void **state)
{
    (void)state;
    assert_int_equal(kb_dtype_bytes(KB_I4), 0);
    assert_int_equal(kb_dtype_size(KB_I4, 34), 17);
    assert_int_equal(kb_dtype_size(KB_F16, 34), 68);
    assert_string_equal(kb_dtype_name(KB_I4), "i4");
    assert_int_equal(kb_dtype_parse("i4"), KB_I4);
}

/* -- mistakes ------------------------------------------------------------------------------- */

struct things {
    tl_tensor *x, *f, *i8, *odd;
    tl_acc *acc;
};

static struct things make_things(tl_ctx *tl)
{
    return (struct things){.x = ones(tl, KB_I4, 16, 16),
                           .f = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1),
                           .i8 = tl_full(tl, KB_I8, KB_SHAPE(16, 16), 1),
                           .odd = ones(tl, KB_I4, 15, 16),
                           .acc = tl_acc_new(tl, KB_I32, 16, 16)};
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

WRONG(odd_load, tl_load(tl, SLICE(0), KB_I4, KB_SHAPE(4, 5)))
WRONG(number_alone, tl_load(tl, SLICE(0), KB_I4, (kb_shape){.rank = 0}))
WRONG(odd_recv, tl_recv(tl, 1, 0, KB_I4, KB_SHAPE(3)))
WRONG(odd_alloc, tl_alloc(tl, KB_I4, KB_SHAPE(2, 7)))
WRONG(odd_ref, tl_ref(tl, SLICE(0), KB_I4, KB_SHAPE(7)))
WRONG(odd_cast, tl_cast(tl, tl_full(tl, KB_I8, KB_SHAPE(4, 3), 1), KB_I4))
WRONG(odd_shape, tl_reshape(tl, ones(tl, KB_I4, 6, 10), KB_SHAPE(4, 15)))
WRONG(odd_slice, tl_slice(tl, x.x, 1, 3, 2))
WRONG(odd_part, tl_slice(tl, x.x, -1, 2, 3))
WRONG(turned, tl_permute(tl, x.x, ((const int[]){1, 0})))
WRONG(transposed, tl_transpose(tl, x.x))
WRONG(odd_lines, tl_dot(tl, x.odd, x.x, .layout_a = TL_COL_MAJOR))
WRONG(odd_tiles, tl_composite(tl, .a = x.x, .b = x.x, .out = SLICE(0)))
WRONG(added, tl_add(tl, x.x, x.x))
WRONG(added_to_i8, tl_add(tl, x.i8, x.x))
WRONG(compared, tl_lt(tl, x.x, tl_scalar(tl, 0)))
WRONG(summed, tl_sum(tl, x.x, 1, false))
WRONG(constant, tl_full(tl, KB_I4, KB_SHAPE(4), 1))
WRONG(counted, tl_arange(tl, KB_I4, 4, 0, 1))
WRONG(updated, tl_update(tl, x.x, 0, 0, x.x))
WRONG(taken, tl_take(tl, x.x, tl_cast(tl, x.i8, KB_I32), 0))
WRONG(asked, tl_value(tl, x.x, 0))
WRONG(asked_all, tl_values(tl, x.x))
WRONG(fused,
      tl_fused(tl, .in = {x.f}, .step = {{TL_NEG, TL_IN(0), .out = KB_I4}}, .result = {&x.f}))
WRONG(product, tl_dot(tl, x.x, x.x, .dtype_out = KB_I4))
WRONG(stored, (tl_dot_acc(tl, x.acc, x.x, x.x), tl_acc_store(tl, x.acc, KB_I4)))
WRONG(scaled, (tl_dot_acc(tl, x.acc, x.x, x.x), tl_acc_scale(tl, x.acc, x.x)))
WRONG(step, (tl_dot_acc(tl, x.acc, x.x, x.x), tl_acc_store(tl, x.acc, KB_I32, {TL_ADD, x.x})))
WRONG(atomic, tl_atomic(tl, TL_ATOMIC_XCHG, SLICE(0), x.x, false))
WRONG(unconverted, tl_dot(tl, x.f, x.x))

#define WITHOUT ": tl_cast() it first"

static void what_is_no_whole_byte_is_refused(void **state)
{
    static const struct mistake cases[] = {
        {odd_load, ": shape [4, 5] of i4: its last extent is even"},
        {number_alone, ": shape [] of i4: its last extent is even"},
        {odd_recv, ": shape [3] of i4: its last extent is even"},
        {odd_alloc, ": shape [2, 7] of i4: its last extent is even"},
        {odd_ref, ": shape [7] of i4: its last extent is even"},
        {odd_cast, ": shape [4, 3] of i4: its last extent is even"},
        {odd_shape, ": shape [4, 15] of i4: its last extent is even"},
        {odd_slice, ": 2 elements from 3 on along the last axis of i4: both are even"},
        {odd_part, ": 3 elements from 2 on along the last axis of i4: both are even"},
        {turned, ": the last axis of i4 stays the last: two elements lie in a byte"},
        {transposed, ": transpose does not take i4" WITHOUT},
        {odd_lines, ": an operand of i4 lies in lines of 15 elements, which is odd"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
    assert_talk_refused(CUBE8("ideal", "pe_scheduler: {tile: [32, 5, 32]}"), odd_tiles,
                        ": an operand of i4 is cut into tiles of 5 elements, which is odd: "
                        "cube.pe.pe_scheduler.tile");
}

static void there_is_no_arithmetic(void **state)
{
    static const struct mistake cases[] = {
        {added, ": add does not take i4" WITHOUT},
        {added_to_i8, ": operands of i8 and i4"},
        {compared, ": lt does not take i4" WITHOUT},
        {summed, ": sum does not take i4" WITHOUT},
        {constant, ": full does not take i4" WITHOUT},
        {counted, ": arange does not take i4" WITHOUT},
        {updated, ": update does not take i4" WITHOUT},
        {taken, ": take does not take i4" WITHOUT},
        {asked, ": a value of i4 is not fetched alone" WITHOUT},
        {asked_all, ": a value of i4 is not fetched alone" WITHOUT},
        {fused, ": fused does not take i4" WITHOUT},
        {product, ": a product of i4 cannot be i4"},
        {stored, ": an accumulator of i32 cannot be i4"},
        {scaled, ": an accumulator of i32, of products of i4, is scaled by i4"},
        {step, ": an epilogue does not take i4" WITHOUT},
        {atomic, ": an atomic does not take i4"},
        {unconverted, ": operands of f16 and i4: cube.pe.pe_fetch_store.convert is false"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_byte_is_moved),
        cmocka_unit_test(tiles_and_slices_count_bytes),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(casts_and_views_are_right),
        cmocka_unit_test(a_size_is_half_of_the_elements),
        cmocka_unit_test(what_is_no_whole_byte_is_refused),
        cmocka_unit_test(there_is_no_arithmetic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
