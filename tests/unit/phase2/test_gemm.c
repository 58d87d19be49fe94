/* test_gemm.c -- products of matrices, against three loops. */
#include "phase2/gemm.h"
#include "phase2/reference.h"
#include "support/ops.h"

struct shape {
    uint32_t m, k, n;
};

/* Single elements, primes, whole tiles and one more, several blocks of K, several parts. */
static const struct shape shapes[] = {
    {1, 1, 1},    {1, 7, 1},     {7, 1, 13},    {5, 3, 2},     {12, 32, 32},  {13, 31, 33},
    {24, 64, 64}, {31, 257, 37}, {97, 256, 16}, {6, 513, 100}, {1, 300, 129}, {130, 20, 1},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static struct dims stored(bool transposed, uint32_t rows, uint32_t columns)
{
    return transposed ? ops_dims(2, columns, rows, 0) : ops_dims(2, rows, columns, 0);
}

/* flags: transpose_a, transpose_b, col_a, col_b, col_out, from the lowest bit. */
static struct op product(kb_dtype in, kb_dtype acc, kb_dtype out, struct shape s, unsigned flags)
{
    struct op op = {.kind = OP_GEMM, .n_in = 2, .dtype_acc = (uint8_t)acc};

    op.m = s.m;
    op.k = s.k;
    op.n = s.n;
    op.transpose_a = flags & 1;
    op.transpose_b = flags >> 1 & 1;
    op.col_a = flags >> 2 & 1;
    op.col_b = flags >> 3 & 1;
    op.col_out = flags >> 4 & 1;
    op.in[0] = ops_random_tensor(in, stored(op.transpose_a, s.m, s.k), 1 + flags);
    op.in[1] = ops_random_tensor(in, stored(op.transpose_b, s.k, s.n), 77 + flags);
    op.out = ops_tensor(out, ops_dims(2, s.m, s.n, 0));
    return op;
}

/* --verify=ops: the reference agrees, but not if an integer is another. It takes its time. */
static void assert_reference(const struct op *op)
{
    uint64_t last = dims_elements(&op->out.shape) - 1;
    size_t element = kb_dtype_bytes((kb_dtype)op->out.dtype);
    unsigned char *at = op->out.view.v->bytes + last * element;
    struct reference_difference d;

    if ((uint64_t)op->m * op->n * op->k > 20000)
        return;
    if (!reference_same(op, op->out.view.v->bytes, &d))
        fail_msg("element %llu is %s, the reference has %s", (unsigned long long)d.index, d.got,
                 d.want);
    if (ops_is_float((kb_dtype)op->out.dtype))
        return;
    *at ^= 1;
    assert_false(reference_same(op, op->out.view.v->bytes, &d));
    assert_true(d.index == last);
    *at ^= 1;
}

static void run(const struct op *op)
{
    struct gemm_memory room = {.pool = NULL};

    memset(op->out.view.v->bytes, 0xa5, op->out.view.v->nbytes);
    for (uint32_t part = gemm_parts(op); part-- > 0;)
        assert_true(gemm_part(op, part, op->out.view.v->bytes, &room));
    gemm_memory_free(&room);
    assert_reference(op);
}

/* Where element (i, j) of a matrix of rows x columns lies: once more, from the words of tl.h. */
static uint64_t place(bool transposed, bool column_major, uint32_t rows, uint32_t columns,
                      uint32_t i, uint32_t j)
{
    uint32_t stored_rows = transposed ? columns : rows,
             stored_columns = transposed ? rows : columns;
    uint32_t r = transposed ? j : i, c = transposed ? i : j;

    return column_major ? (uint64_t)c * stored_rows + r : (uint64_t)r * stored_columns + c;
}

static uint64_t place_a(const struct op *op, uint32_t i, uint32_t k)
{
    return place(op->transpose_a, op->col_a, op->m, op->k, i, k);
}

static uint64_t place_b(const struct op *op, uint32_t k, uint32_t j)
{
    return place(op->transpose_b, op->col_b, op->k, op->n, k, j);
}

static uint64_t place_out(const struct op *op, uint32_t i, uint32_t j)
{
    return place(false, op->col_out, op->m, op->n, i, j);
}

static double epsilon(kb_dtype d)
{
    return d == KB_F16 ? 0x1p-11 : d == KB_BF16 ? 0x1p-8 : d == KB_F32 ? 0x1p-24 : 0x1p-53;
}

static void check_float(const struct op *op, uint32_t i, uint32_t j)
{
    double sum = 0, terms = 0, got = ops_get(&op->out, place_out(op, i, j)), far;
    bool is_f64 = op->in[0].dtype == KB_F64 || op->dtype_acc == KB_F64;

    for (uint32_t k = 0; k < op->k; k++) {
        double term =
            ops_get(&op->in[0], place_a(op, i, k)) * ops_get(&op->in[1], place_b(op, k, j));

        sum += term;
        terms += fabs(term);
    }
    far = terms * (op->k + 1) * epsilon(is_f64 ? KB_F64 : KB_F32) +
          fabs(sum) * epsilon((kb_dtype)op->out.dtype) + 0x1p-24;
    if (fabs(got - sum) > far)
        fail_msg("(%u, %u) of %ux%ux%u: %g, not %g", i, j, op->m, op->k, op->n, got, sum);
}

static void check_integer(const struct op *op, uint32_t i, uint32_t j)
{
    uint64_t sum = 0, mask = UINT64_MAX >> (64 - 8 * kb_dtype_bytes((kb_dtype)op->out.dtype));

    for (uint32_t k = 0; k < op->k; k++)
        sum +=
            ops_integer(&op->in[0], place_a(op, i, k)) * ops_integer(&op->in[1], place_b(op, k, j));
    assert_int_equal(ops_integer(&op->out, place_out(op, i, j)) & mask, sum & mask);
}

static void check(const struct op *op)
{
    for (uint32_t i = 0; i < op->m; i++)
        for (uint32_t j = 0; j < op->n; j++) {
            if (ops_is_float((kb_dtype)op->in[0].dtype))
                check_float(op, i, j);
            else
                check_integer(op, i, j);
        }
}

static void run_and_check(kb_dtype in, kb_dtype acc, kb_dtype out, struct shape s, unsigned flags)
{
    struct op op = product(in, acc, out, s, flags);

    run(&op);
    check(&op);
    ops_drop(&op);
}

static void every_dtype_lies_any_way(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_U64; d++)
        for (unsigned flags = 0; flags < 32; flags++)
            for (size_t i = 0; i < N_SHAPES; i++) {
                if (i >= 5 && (flags + i + d) % 13) /* of the larger ones, some: they take time */
                    continue;
                kb_dtype acc = !ops_is_float(d) ? d : d == KB_F64 ? KB_F64 : KB_F32;

                run_and_check(d, acc, d, shapes[i], flags);
            }
}

static void results_of_other_types(void **state)
{
    static const kb_dtype types[][3] = {
        {KB_I8, KB_I32, KB_I32},   {KB_U8, KB_I32, KB_I32},   {KB_U8, KB_U32, KB_U32},
        {KB_I16, KB_I64, KB_I64},  {KB_I32, KB_I64, KB_I8},   {KB_U16, KB_U32, KB_U64},
        {KB_F16, KB_F32, KB_F32},  {KB_BF16, KB_F32, KB_F32}, {KB_F32, KB_F32, KB_F16},
        {KB_F16, KB_F32, KB_BF16}, {KB_F32, KB_F64, KB_F64},  {KB_F32, KB_F64, KB_F32},
        {KB_F64, KB_F64, KB_F16},  {KB_I16, KB_I32, KB_I64},
    };

    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t i = 0; i < N_SHAPES; i++)
            run_and_check(types[t][0], types[t][1], types[t][2], shapes[i], t & 31);
}

static void several_parts(void **state)
{
    static const struct shape s = {401, 300, 311};

    (void)state;
    for (unsigned flags = 0; flags < 32; flags += 16)
        for (kb_dtype d = KB_F32; d <= KB_I8; d += KB_I8 - KB_F32) {
            struct op op = product(d,
                                   d == KB_F64  ? d
                                   : d == KB_I8 ? KB_I32
                                                : KB_F32,
                                   d == KB_I8 ? KB_I32 : d, s, flags);

            assert_true(gemm_parts(&op) > 1);
            run(&op);
            check(&op);
            ops_drop(&op);
        }
}

/* An element depends neither on parts nor on the elements around it. */
static void rows_alone_have_the_same_bytes(void **state)
{
    static const struct shape whole = {401, 600, 230};
    static const uint32_t rows[] = {1, 5, 12, 64, 200};
    struct op op = product(KB_F32, KB_F32, KB_F32, whole, 0);

    (void)state;
    run(&op);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct op some = op;
        uint32_t first = 37;

        some.m = rows[i];
        some.in[0].view.offset = (uint64_t)first * whole.k * 4;
        some.in[0].shape.dim[0] = rows[i];
        some.out = ops_tensor(KB_F32, ops_dims(2, rows[i], whole.n, 0));
        run(&some);
        assert_memory_equal(some.out.view.v->bytes,
                            op.out.view.v->bytes + (uint64_t)first * whole.n * 4,
                            some.out.view.v->nbytes);
        version_drop(some.out.view.v);
    }
    ops_drop(&op);
}

/* Modulo 2^bits also where every sum overflows many times. */
static void integers_wrap(void **state)
{
    (void)state;
    for (kb_dtype d = KB_I8; d <= KB_U64; d++) {
        struct op op = product(d, d, d, (struct shape){7, 700, 19}, 0);

        memset(op.in[0].view.v->bytes, 0x80, op.in[0].view.v->nbytes);
        run(&op);
        check(&op);
        ops_drop(&op);
    }
}

/* 128 * 128 * 1000 needs 25 bits. */
static void i8_has_room_in_i32(void **state)
{
    struct op op = product(KB_I8, KB_I32, KB_I32, (struct shape){3, 1000, 3}, 0);

    (void)state;
    memset(op.in[0].view.v->bytes, 0x80, op.in[0].view.v->nbytes);
    memset(op.in[1].view.v->bytes, 0x80, op.in[1].view.v->nbytes);
    run(&op);
    assert_int_equal(ops_integer(&op.out, 0), 128 * 128 * 1000);
    ops_drop(&op);
}

/* IEEE 754: infinite times 0 is no number; and what is no number stays in its row and column. */
static void infinities_stay_in_their_rows(void **state)
{
    static const kb_dtype types[] = {KB_F16, KB_BF16, KB_F32, KB_F64};

    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (unsigned col_out = 0; col_out < 32; col_out += 16) {
            kb_dtype d = types[t];
            struct op op =
                product(d, d == KB_F64 ? d : KB_F32, d, (struct shape){13, 9, 35}, col_out);

            kb_element_set(d, op.in[0].view.v->bytes, place_a(&op, 4, 3), INFINITY);
            kb_element_set(d, op.in[1].view.v->bytes, place_b(&op, 3, 34), 0);
            kb_element_set(d, op.in[1].view.v->bytes, place_b(&op, 8, 20), NAN);
            run(&op);
            for (uint32_t i = 0; i < op.m; i++)
                for (uint32_t j = 0; j < op.n; j++) {
                    double got = ops_get(&op.out, place_out(&op, i, j));

                    if (j == 20 || (i == 4 && j == 34))
                        assert_true(isnan(got));
                    else
                        assert_int_equal(isinf(got) != 0, i == 4);
                }
            ops_drop(&op);
        }
}

/* 1 + 2^-11 + 2^-22 is above half a unit of f16, but rounds down if the last term is lost. */
static void f16_is_rounded_once(void **state)
{
    struct op op = product(KB_F16, KB_F32, KB_F16, (struct shape){1, 3, 1}, 0);
    static const double a[] = {1, 0x1p-11, 0x1p-11}, b[] = {1, 1, 0x1p-11};

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        kb_element_set(KB_F16, op.in[0].view.v->bytes, i, a[i]);
        kb_element_set(KB_F16, op.in[1].view.v->bytes, i, b[i]);
    }
    run(&op);
    assert_true(ops_get(&op.out, 0) == 1 + 0x1p-10);
    ops_drop(&op);
}

static void too_large_for_f16_is_infinite(void **state)
{
    struct op op = product(KB_F16, KB_F32, KB_F16, (struct shape){1, 2, 1}, 0);

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        kb_element_set(KB_F16, op.in[0].view.v->bytes, i, 300);
        kb_element_set(KB_F16, op.in[1].view.v->bytes, i, 300);
    }
    run(&op);
    assert_true(isinf(ops_get(&op.out, 0)));
    ops_drop(&op);
}

/* acc * 2 + bias[n], then at least 0: in f32, for both layouts of the result. */
static void epilogues_see_the_unrounded_sum(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 32; flags += 16) {
        struct op op = product(KB_F16, KB_F32, KB_F16, (struct shape){29, 40, 37}, flags);
        struct op sums = op;

        sums.out = ops_tensor(KB_F32, op.out.shape);
        op.n_epilogues = 3;
        op.epilogue[0] = (struct op_epilogue){TL_FMA, 2, {ops_scalar(KB_F16, 2), {0}}};
        op.epilogue[0].operand[1] = ops_random_tensor(KB_F16, ops_dims(1, 37, 0, 0), 5);
        op.epilogue[1] = (struct op_epilogue){TL_ADD, 1, {{0}}};
        op.epilogue[1].operand[0] = ops_random_tensor(KB_F32, ops_dims(2, 29, 1, 0), 6);
        op.epilogue[2] = (struct op_epilogue){TL_MAXIMUM, 1, {ops_scalar(KB_F16, 0)}};
        run(&op);
        run(&sums);
        for (uint32_t i = 0; i < op.m; i++)
            for (uint32_t j = 0; j < op.n; j++) {
                float acc = (float)ops_get(&sums.out, place_out(&op, i, j));
                uint16_t want;

                acc = fmaf(acc, 2, (float)ops_get(&op.epilogue[0].operand[1], j));
                acc += (float)ops_get(&op.epilogue[1].operand[0], i);
                kb_element_set(KB_F16, &want, 0, acc > 0 ? (double)acc : 0);
                assert_true(ops_get(&op.out, place_out(&op, i, j)) == kb_element(KB_F16, &want, 0));
            }
        version_drop(sums.out.view.v);
        ops_drop(&op);
    }
}

/* A packed operand is found again, and is gone after gemm_forget(). */
static void operands_are_packed_once(void **state)
{
    struct op op = product(KB_F16, KB_F32, KB_F16, (struct shape){50, 60, 70}, 0);
    struct version_packed *a;

    (void)state;
    run(&op);
    a = op.in[0].view.v->packed;
    assert_non_null(a);
    run(&op);
    assert_ptr_equal(op.in[0].view.v->packed, a);
    gemm_forget(op.in[0].view.v);
    assert_null(op.in[0].view.v->packed);
    ops_drop(&op);
}

/* A part of a version, and the same part otherwise. */
static void one_version_packed_in_several_ways(void **state)
{
    struct op op = product(KB_F32, KB_F32, KB_F32, (struct shape){20, 20, 20}, 0);
    struct version *b = op.in[1].view.v;

    (void)state;
    op.in[1].view.v = version_keep(op.in[0].view.v);
    for (unsigned flags = 0; flags < 4; flags++) {
        op.transpose_a = flags & 1;
        op.transpose_b = flags >> 1;
        run(&op);
        check(&op);
    }
    op.m = 7;
    op.in[0].view.offset = 20 * 4;
    op.transpose_a = false;
    run(&op);
    check(&op);
    version_drop(b);
    ops_drop(&op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_lies_any_way),
        cmocka_unit_test(results_of_other_types),
        cmocka_unit_test(several_parts),
        cmocka_unit_test(rows_alone_have_the_same_bytes),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(i8_has_room_in_i32),
        cmocka_unit_test(infinities_stay_in_their_rows),
        cmocka_unit_test(f16_is_rounded_once),
        cmocka_unit_test(too_large_for_f16_is_infinite),
        cmocka_unit_test(epilogues_see_the_unrounded_sum),
        cmocka_unit_test(operands_are_packed_once),
        cmocka_unit_test(one_version_packed_in_several_ways),
    };

    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
