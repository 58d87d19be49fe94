/* test_math.c -- every operation of PE_MATH, on every type that it takes, element by element. */
#include "data/cast.h"
#include "phase2/math_op.h"
#include "phase2/reference_parts.h"
#include "support/ops.h"
#include <float.h>

static uint64_t seed = 1;

/* May the reference be asked about a wrong element? Sums of long lines allow for their terms. */
static bool is_exact_enough(const struct op *op)
{
    return op->math != TL_SUM && op->math != TL_MEAN;
}

static struct op operation(enum tl_op math, uint8_t n_in, kb_dtype out, struct dims shape)
{
    struct op op = {.kind = OP_MATH, .math = (uint8_t)math, .n_in = n_in};

    op.out = ops_tensor(out, shape);
    return op;
}

/* --verify=ops: the reference agrees, but not if an element is another. */
static void assert_reference(const struct op *op)
{
    kb_dtype d = (kb_dtype)op->out.dtype;
    unsigned char *bytes = op->out.view.v->bytes;
    uint64_t n = dims_elements(&op->out.shape), i = n ? ops_random(&seed) % n : 0;
    struct reference_difference at;
    double kept;

    if (!reference_same(op, bytes, &at))
        fail_msg("%s of %s: element %llu is %s, the reference has %s", math_rows[op->math].name,
                 kb_dtype_name(d), (unsigned long long)at.index, at.got, at.want);
    kept = n ? kb_element(d, bytes, i) : NAN;
    if (!isfinite(kept))
        return;
    unsigned char old[8];
    double far = d >= KB_F8E4M3 ? 0.7 : 0.01; /* more than any tolerance of its type */

    memcpy(old, bytes + i * kb_dtype_bytes(d), kb_dtype_bytes(d));
    kb_element_set(d, bytes, i, d == KB_BOOL ? kept == 0 : 3 - kept);
    if (fabs(kb_element(d, bytes, i) - kept) > far * (1 + fabs(kept)) && is_exact_enough(op)) {
        assert_false(reference_same(op, bytes, &at));
        assert_true(at.index == i);
    }
    memcpy(bytes + i * kb_dtype_bytes(d), old, kb_dtype_bytes(d));
}

static void run(const struct op *op)
{
    memset(op->out.view.v->bytes, 0xa5, op->out.view.v->nbytes);
    math_run(op, op->out.view.v->bytes);
    assert_reference(op);
}

static double rounded(kb_dtype dtype, double value)
{
    unsigned char bytes[8];

    kb_element_set(dtype, bytes, 0, value);
    return kb_element(dtype, bytes, 0);
}

/* Units in the last place of `dtype` at `x`. */
static double ulp(kb_dtype dtype, double x)
{
    int bits = dtype == KB_F16 ? 11 : dtype == KB_BF16 ? 8 : dtype == KB_F32 ? 24 : 53;
    int least = dtype == KB_F16 ? -24 : dtype == KB_F64 ? -1074 : dtype == KB_F32 ? -149 : -133;
    int exponent = 0;

    frexp(x, &exponent);
    return ldexp(1, exponent - bits < least ? least : exponent - bits);
}

/* -- elementwise, floats -------------------------------------------------------------------- */

static long double want_float(enum tl_op math, long double x, long double y, long double z)
{
    switch (math) {
    case TL_ADD:
        return x + y;
    case TL_SUB:
        return x - y;
    case TL_MUL:
        return x * y;
    case TL_DIV:
        return x / y;
    case TL_NEG:
        return -x;
    case TL_ABS:
        return x < 0 ? -x : x;
    case TL_MAXIMUM:
        return x > y ? x : y;
    case TL_MINIMUM:
        return x < y ? x : y;
    case TL_FMA:
        return fmal(x, y, z);
    case TL_CLAMP:
        return x < y ? y < z ? y : z : x < z ? x : z;
    case TL_EXP:
        return expl(x);
    case TL_LOG:
        return logl(x);
    case TL_SQRT:
        return sqrtl(x);
    case TL_RSQRT:
        return 1 / sqrtl(x);
    case TL_TANH:
        return tanhl(x);
    case TL_SIGMOID:
        return 1 / (1 + expl(-x));
    case TL_EXP2:
        return exp2l(x);
    case TL_LOG2:
        return log2l(x);
    case TL_SIN:
        return sinl(x);
    case TL_COS:
        return cosl(x);
    case TL_FLOOR:
        return floorl(x);
    case TL_CEIL:
        return ceill(x);
    case TL_ROUND: /* ties to even */
        return x - remainderl(x, 1);
    default:
        return erfl(x);
    }
}

static bool is_special(enum tl_op math)
{
    return math != TL_SQRT && math != TL_DIV && math_rows[math].cost == COST_SPECIAL;
}

/* Correctly rounded, or within two units of the type in which it is computed. */
static void check_float(enum tl_op math, kb_dtype d, double got, long double want)
{
    double near = rounded(d, (double)want), far = 0;

    if (d == KB_F16 || d == KB_BF16) /* rounded to f32 first, and once more: by a hair more */
        far = 0.501 * ulp(d, near) + (double)fabsl((long double)near - want);
    if (d == KB_F64 && fabsl((long double)got - want) <= 0.5005L * (long double)ulp(d, near))
        return; /* `near` was rounded twice */
    if (is_special(math))
        far = d == KB_F64 ? 2 * ulp(d, near) : d == KB_F32 ? ulp(d, near) : far;
    if (isnan(near) ? !isnan(got) : got != near && !(fabs(got - near) <= far))
        fail_msg("%s of %s: %.17g, not %.17g", math_rows[math].name, kb_dtype_name(d), got, near);
}

static void fill_for(enum tl_op math, struct op_tensor *t, double scale)
{
    bool positive = math == TL_LOG || math == TL_LOG2 || math == TL_SQRT || math == TL_RSQRT;
    kb_dtype d = (kb_dtype)t->dtype;

    ops_fill(t, seed++);
    for (uint64_t i = 0; i < dims_elements(&t->shape); i++) {
        double x = scale * ops_get(t, i);

        kb_element_set(d, t->view.v->bytes, i, positive ? fabs(x) : x);
    }
}

static void each_float_op(enum tl_op math, kb_dtype d)
{
    static const double scales[] = {1, 30, 1000, 1e-4};

    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        struct op op = operation(math, math_rows[math].operands, d, ops_dims(1, 611, 0, 0));
        long double x[3] = {0};

        for (uint32_t i = 0; i < op.n_in; i++) {
            op.in[i] = ops_tensor(d, op.out.shape);
            fill_for(math, &op.in[i], scales[s]);
        }
        run(&op);
        for (uint64_t e = 0; e < 611; e++) {
            for (uint32_t i = 0; i < op.n_in; i++)
                x[i] = ops_get(&op.in[i], e);
            check_float(math, d, ops_get(&op.out, e), want_float(math, x[0], x[1], x[2]));
        }
        ops_drop(&op);
    }
}

static bool is_elementwise(enum tl_op math)
{
    return math_rows[math].group == MATH_ELEMENT && math != TL_WHERE;
}

static bool takes_floats(enum tl_op math)
{
    return math_rows[math].types != MATH_INTEGER && math_rows[math].types != MATH_BITS;
}

/* Valgrind computes long double as double, which is no reference for double. */
static bool long_double_is_longer(void)
{
    volatile long double one = 1, more = one + LDBL_EPSILON;

    return more != one;
}

static void floats_are_rounded_once(void **state)
{
    (void)state;
    if (!long_double_is_longer())
        skip();
    for (enum tl_op math = TL_ADD; math <= TL_TOPK; math++)
        for (kb_dtype d = KB_F16; is_elementwise(math) && takes_floats(math) && d <= KB_F64; d++)
            each_float_op(math, d);
}

/* One elementwise operation on scalars as a tensor of one element. */
static double one(enum tl_op math, kb_dtype d, double x, double y, double z)
{
    struct op op = operation(math, math_rows[math].operands, d, ops_dims(1, 1, 0, 0));
    double values[3] = {x, y, z}, got;

    for (uint32_t i = 0; i < op.n_in; i++) {
        op.in[i] = ops_tensor(d, op.out.shape);
        kb_element_set(d, op.in[i].view.v->bytes, 0, values[i]);
    }
    run(&op);
    got = ops_get(&op.out, 0);
    ops_drop(&op);
    return got;
}

static void nan_goes_through(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_F64; d++) {
        assert_true(isnan(one(TL_MAXIMUM, d, NAN, 1, 0)) && isnan(one(TL_MAXIMUM, d, 1, NAN, 0)));
        assert_true(isnan(one(TL_MINIMUM, d, NAN, 1, 0)) && isnan(one(TL_MINIMUM, d, 1, NAN, 0)));
        assert_true(isnan(one(TL_CLAMP, d, NAN, 0, 1)) && isnan(one(TL_CLAMP, d, 0, NAN, 1)));
        assert_true(isnan(one(TL_CLAMP, d, 0, 0, NAN)));
    }
}

static void ends_of_functions(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_F64; d++) {
        assert_true(one(TL_SIGMOID, d, -2000, 0, 0) == 0 && one(TL_SIGMOID, d, 2000, 0, 0) == 1);
        assert_true(one(TL_TANH, d, -INFINITY, 0, 0) == -1 && one(TL_ERF, d, INFINITY, 0, 0) == 1);
        assert_true(isinf(one(TL_LOG, d, 0, 0, 0)) && isnan(one(TL_LOG, d, -1, 0, 0)));
        assert_true(isinf(one(TL_RSQRT, d, 0, 0, 0)) && one(TL_RSQRT, d, INFINITY, 0, 0) == 0);
        assert_true(isinf(one(TL_DIV, d, 1, 0, 0)) && isnan(one(TL_DIV, d, 0, 0, 0)));
        assert_true(isinf(one(TL_EXP, d, 20000, 0, 0)) && one(TL_EXP, d, -20000, 0, 0) == 0);
    }
    assert_true(isinf(one(TL_ADD, KB_F16, 65504, 65504, 0)));
    assert_true(one(TL_ADD, KB_F16, 65504, 15, 0) == 65504); /* 65519 rounds down */
}

/* -- elementwise, integers ------------------------------------------------------------------ */

/* Of y bits at a time: a is divided by 2, rounded down, or multiplied. */
static __int128 shifted(enum tl_op math, __int128 a, __int128 y)
{
    if (y < 0)
        return 0;
    for (int i = 0; i < (y < 64 ? (int)y : 64); i++)
        a = math == TL_SHL ? (a * 2) & UINT64_MAX : (a - (a & 1)) / 2;
    return a;
}

static uint64_t want_integer(enum tl_op math, bool is_signed, uint64_t x, uint64_t y, uint64_t z)
{
    __int128 a = is_signed ? (__int128)(int64_t)x : (__int128)x;
    __int128 b = is_signed ? (__int128)(int64_t)y : (__int128)y;
    __int128 c = is_signed ? (__int128)(int64_t)z : (__int128)z;

    switch (math) {
    case TL_ADD:
        return (uint64_t)(a + b);
    case TL_SUB:
        return (uint64_t)(a - b);
    case TL_MUL:
        return x * y;
    case TL_DIV:
        return b ? (uint64_t)(a / b) : 0;
    case TL_NEG:
        return (uint64_t)-a;
    case TL_ABS:
        return (uint64_t)(a < 0 ? -a : a);
    case TL_MAXIMUM:
        return (uint64_t)(a > b ? a : b);
    case TL_MINIMUM:
        return (uint64_t)(a < b ? a : b);
    case TL_AND:
        return x & y;
    case TL_OR:
        return x | y;
    case TL_XOR:
        return (x | y) - (x & y);
    case TL_NOT:
        return UINT64_MAX - x;
    case TL_SHL:
    case TL_SHR:
        return (uint64_t)shifted(math, a, b);
    case TL_MOD:
        return b ? (uint64_t)(a - a / b * b) : 0;
    default:
        a = a > b ? a : b;
        return (uint64_t)(a < c ? a : c);
    }
}

static void each_integer_op(enum tl_op math, kb_dtype d)
{
    struct op op = operation(math, math_rows[math].operands, d, ops_dims(1, 1021, 0, 0));
    uint64_t mask = UINT64_MAX >> (64 - 8 * kb_dtype_bytes(d)), x[3] = {0};
    size_t bytes = kb_dtype_bytes(d);

    for (uint32_t i = 0; i < op.n_in; i++)
        op.in[i] = ops_random_tensor(d, op.out.shape, seed++);
    for (size_t e = 0; op.n_in == 2 && e < 1021; e += 3) /* counts of shifts, one in three */
        kb_element_set(d, op.in[1].view.v->bytes, e, (double)(e % 70));
    for (uint32_t i = 0; i < op.n_in; i++) { /* the smallest, and -1 or the largest, and 0 */
        memset(op.in[i].view.v->bytes, i == 1 ? 0xff : 0, bytes);
        op.in[i].view.v->bytes[bytes - 1] = i ? 0xff : 0x80;
        memset(op.in[i].view.v->bytes + bytes, i ? 0 : 7, bytes);
    }
    run(&op);
    for (uint64_t e = 0; e < 1021; e++) {
        for (uint32_t i = 0; i < op.n_in; i++)
            x[i] = ops_integer(&op.in[i], e);
        assert_int_equal(ops_integer(&op.out, e) & mask,
                         want_integer(math, d <= KB_I64, x[0], x[1], x[2]) & mask);
    }
    ops_drop(&op);
}

static void integers_wrap(void **state)
{
    (void)state;
    for (enum tl_op math = TL_ADD; math <= TL_TOPK; math++)
        for (kb_dtype d = KB_I8; d <= KB_U64; d++)
            if (is_elementwise(math) && math_rows[math].types != MATH_FLOAT)
                each_integer_op(math, d);
}

/* -- comparisons and where ------------------------------------------------------------------ */

static bool holds(enum tl_op math, bool less, bool equal, bool greater)
{
    return (less && (math == TL_LT || math == TL_LE)) ||
           (greater && (math == TL_GT || math == TL_GE)) ||
           (equal && (math == TL_LE || math == TL_GE || math == TL_EQ)) ||
           (!equal && math == TL_NE);
}

static void each_comparison(enum tl_op math, kb_dtype d)
{
    struct op op = operation(math, 2, KB_BOOL, ops_dims(1, 300, 0, 0));

    for (uint32_t i = 0; i < 2; i++)
        op.in[i] = ops_random_tensor(d, op.out.shape, seed++);
    memcpy(op.in[0].view.v->bytes, op.in[1].view.v->bytes, 50 * kb_dtype_bytes(d));
    if (ops_is_float(d))
        kb_element_set(d, op.in[0].view.v->bytes, 7, NAN);
    run(&op);
    for (uint64_t e = 0; e < 300; e++) {
        double x = ops_get(&op.in[0], e), y = ops_get(&op.in[1], e);
        uint64_t a = ops_integer(&op.in[0], e), b = ops_integer(&op.in[1], e);
        bool less = ops_is_float(d) ? x < y : d <= KB_I64 ? (int64_t)a < (int64_t)b : a < b;
        bool equal = ops_is_float(d) ? x == y : a == b;
        bool greater = ops_is_float(d) ? x > y : !less && !equal;

        assert_int_equal(op.out.view.v->bytes[e], holds(math, less, equal, greater));
    }
    ops_drop(&op);
}

static void comparisons_give_bool(void **state)
{
    (void)state;
    for (enum tl_op math = TL_LT; math <= TL_NE; math++)
        for (kb_dtype d = KB_F16; d <= KB_F8E5M2; d++)
            each_comparison(math, d);
}

static void where_moves_bits(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_F8E5M2; d++) {
        struct op op = operation(TL_WHERE, 3, d, ops_dims(2, 30, 40, 0));
        size_t n = kb_dtype_bytes(d);

        op.in[0] = ops_random_tensor(KB_BOOL, ops_dims(2, 30, 1, 0), seed++);
        op.in[1] = ops_random_tensor(d, ops_dims(2, 30, 40, 0), seed++);
        op.in[2] = ops_random_tensor(d, ops_dims(1, 40, 0, 0), seed++);
        run(&op);
        for (uint64_t e = 0; e < 1200; e++) {
            const unsigned char *x = op.in[1].view.v->bytes + e * n;
            const unsigned char *y = op.in[2].view.v->bytes + e % 40 * n;

            assert_memory_equal(op.out.view.v->bytes + e * n,
                                op.in[0].view.v->bytes[e / 40] ? x : y, n);
        }
        ops_drop(&op);
    }
}

/* -- broadcasting --------------------------------------------------------------------------- */

/* Where element `at` of `to` lies in `shape`: axes that are missing or 1 do not count. */
static uint64_t place(const struct dims *shape, const struct dims *to, uint64_t at)
{
    uint64_t where = 0, step = 1;

    for (uint32_t i = 0; i < to->rank; i++) {
        uint64_t index = at % to->dim[to->rank - 1 - i];

        at /= to->dim[to->rank - 1 - i];
        if (i >= shape->rank)
            continue;
        where += shape->dim[shape->rank - 1 - i] > 1 ? index * step : 0;
        step *= shape->dim[shape->rank - 1 - i];
    }
    return where;
}

/* A shape that broadcasts to `to`: some leading axes less, some others 1. */
static struct dims smaller(const struct dims *to)
{
    uint32_t less = (uint32_t)(ops_random(&seed) % (to->rank + 1));
    struct dims s = {.rank = to->rank - less};

    for (uint32_t i = 0; i < s.rank; i++)
        s.dim[i] = ops_random(&seed) % 3 ? to->dim[less + i] : 1;
    return s;
}

static void broadcast_once(kb_dtype d)
{
    struct dims to = {.rank = (uint32_t)(ops_random(&seed) % (KB_RANK_MAX + 1))};
    struct op op;

    for (uint32_t i = 0; i < to.rank; i++)
        to.dim[i] = 1 + (uint32_t)(ops_random(&seed) % (i + 1 == to.rank ? 40 : 4));
    op = operation(TL_SUB, 2, d, to);
    for (uint32_t i = 0; i < 2; i++)
        op.in[i] = ops_random_tensor(d, smaller(&to), seed++);
    if (ops_random(&seed) % 4 == 0) {
        version_drop(op.in[1].view.v);
        op.in[1] = ops_scalar(d, 0.1);
    }
    run(&op);
    for (uint64_t e = 0; e < dims_elements(&to); e++) {
        double x = ops_get(&op.in[0], place(&op.in[0].shape, &to, e));
        double y = op.in[1].is_scalar ? rounded(d, 0.1)
                                      : ops_get(&op.in[1], place(&op.in[1].shape, &to, e));

        assert_true(ops_get(&op.out, e) == rounded(d, rounded(d == KB_F64 ? d : KB_F32, x - y)));
    }
    ops_drop(&op);
}

static void shapes_broadcast_as_numpy_has_it(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++)
        broadcast_once((kb_dtype)(KB_F16 + i % 4));
}

/* Scalars take the type of the tensors: integers saturate. */
static void scalars_take_the_tensors_type(void **state)
{
    struct op op = operation(TL_ADD, 2, KB_I8, ops_dims(1, 3, 0, 0));

    (void)state;
    op.in[0] = ops_tensor(KB_I8, op.out.shape);
    op.in[1] = ops_scalar(KB_I8, 1000);
    run(&op);
    assert_int_equal(ops_integer(&op.out, 2), 127);
    ops_drop(&op);
}

/* -- casts ---------------------------------------------------------------------------------- */

static void each_cast(kb_dtype from, kb_dtype to)
{
    struct op op = operation(TL_CAST, 1, to, ops_dims(1, 700, 0, 0));

    op.in[0] = ops_random_tensor(from, op.out.shape, seed++);
    if (ops_is_float(from))
        for (uint64_t e = 0; e < 700; e++) /* over all magnitudes, with some that have no number */
            kb_element_set(from, op.in[0].view.v->bytes, e,
                           e == 3 ? NAN : ops_get(&op.in[0], e) * ldexp(1, (int)(e % 80) - 5));
    run(&op);
    for (uint64_t e = 0; e < 700; e++) {
        uint64_t i = ops_integer(&op.in[0], e);
        double x = ops_get(&op.in[0], e), got = ops_get(&op.out, e);

        if (ops_is_float(from) && to == KB_BOOL)
            assert_true(got == (x != 0));
        else if (ops_is_float(from) && isnan(x))
            assert_true(ops_is_float(to) ? isnan(got) : got == 0);
        else if (ops_is_float(from)) /* kb_element_set() rounds integers, a cast truncates */
            assert_true(got == rounded(to, ops_is_float(to) ? x : trunc(x)));
        else if (to == KB_BOOL)
            assert_true(got == (i != 0));
        else if (ops_is_float(to) && (from == KB_I64 || from == KB_U64))
            assert_true(fabs(got - x) <= 0.5 * ulp(to, got) * (1 + 1e-6) || isinf(got) ||
                        (to >= KB_F8E4M3 && got == rounded(to, x)));
        else if (ops_is_float(to))
            assert_true(got == rounded(to, x));
        else
            assert_int_equal((ops_integer(&op.out, e) ^ i) << (64 - 8 * kb_dtype_bytes(to)), 0);
    }
    ops_drop(&op);
}

static void casts_from_every_type_to_every_type(void **state)
{
    (void)state;
    for (kb_dtype from = KB_F16; from <= KB_F8E5M2; from++)
        for (kb_dtype to = KB_F16; to <= KB_F8E5M2; to++)
            each_cast(from, to);
}

static void expect_cast(kb_dtype from, const void *x, kb_dtype to, double want)
{
    unsigned char got[8];

    cast_elements(to, got, from, x, 1);
    assert_true(kb_element(to, got, 0) == want);
}

/* A step by way of f32 would round these twice. */
static void no_cast_rounds_twice(void **state)
{
    int64_t i = (INT64_C(0x101) << 32) + 1, j = -i, tie = INT64_C(0x101) << 32;
    double d = 1 + 0x1p-11 + 0x1p-40, e = 1 + 0x1p-11, f = 1 + 0x1p-11 - 0x1p-40;

    (void)state;
    expect_cast(KB_I64, &i, KB_BF16, ldexp(0x102, 32));
    expect_cast(KB_I64, &j, KB_BF16, -ldexp(0x102, 32));
    expect_cast(KB_I64, &tie, KB_BF16, ldexp(0x100, 32));
    expect_cast(KB_F64, &d, KB_F16, 1 + 0x1p-10);
    expect_cast(KB_F64, &e, KB_F16, 1);
    expect_cast(KB_F64, &f, KB_F16, 1);
}

static void floats_saturate_as_integers(void **state)
{
    static const double ends[] = {1e30, -1e30, INFINITY, -INFINITY, NAN, 3.99, -3.99};
    static const double i8[] = {127, -128, 127, -128, 0, 3, -3}, u8[] = {255, 0, 255, 0, 0, 3, 0};

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        expect_cast(KB_F64, &ends[i], KB_I8, i8[i]);
        expect_cast(KB_F64, &ends[i], KB_U8, u8[i]);
    }
}

/* -- over an axis --------------------------------------------------------------------------- */

static struct op reduction(enum tl_op math, kb_dtype d, struct dims shape, int axis)
{
    struct dims out = {.rank = 0};
    struct op op;

    for (uint32_t i = 0; axis >= 0 && i < shape.rank; i++)
        if ((int)i != axis)
            out.dim[out.rank++] = shape.dim[i];
    if (math == TL_SOFTMAX)
        out = shape;
    op = operation(math, 1, math == TL_ARGMAX ? KB_I32 : d, out);
    op.in[0] = ops_random_tensor(d, shape, seed++);
    op.all_axes = axis < 0;
    op.has_axis = axis >= 0;
    op.axis = (int8_t)axis;
    return op;
}

/* The line that element `at` of the result is of: its first element, step, and length. */
static void line_of(const struct op *op, uint64_t at, uint64_t line[3])
{
    uint64_t inner = 1;

    line[2] = op->all_axes ? dims_elements(&op->in[0].shape) : op->in[0].shape.dim[op->axis];
    for (uint32_t i = op->in[0].shape.rank; !op->all_axes && i-- > (uint32_t)op->axis + 1;)
        inner *= op->in[0].shape.dim[i];
    line[0] = at / inner * inner * line[2] + at % inner;
    line[1] = inner;
}

static void check_sum(const struct op *op, uint64_t at, const uint64_t line[3])
{
    kb_dtype d = (kb_dtype)op->out.dtype;
    double sum = 0, terms = 0, n = op->math == TL_MEAN ? (double)line[2] : 1;
    uint64_t whole = 0, shift = 64 - 8 * kb_dtype_bytes(d);

    for (uint64_t i = 0; i < line[2]; i++) {
        double x = ops_get(&op->in[0], line[0] + i * line[1]);

        sum += x;
        terms += fabs(x);
        whole += ops_integer(&op->in[0], line[0] + i * line[1]);
    }
    if (ops_is_float(d))
        assert_true(fabs(ops_get(&op->out, at) - sum / n) <=
                    0.51 * ulp(d, sum / n) + 32 * terms / n * (d == KB_F64 ? 0x1p-52 : 0x1p-24));
    else
        assert_int_equal((ops_integer(&op->out, at) ^ whole) << shift, 0);
}

/* By the words: the first maximum; what is no number wins. */
static void check_extreme(const struct op *op, uint64_t at, const uint64_t line[3])
{
    kb_dtype d = (kb_dtype)op->in[0].dtype;
    uint64_t best = line[0];

    for (uint64_t i = 1; i < line[2]; i++) {
        uint64_t e = line[0] + i * line[1];
        double x = ops_get(&op->in[0], e), y = ops_get(&op->in[0], best);
        uint64_t a = ops_integer(&op->in[0], e), b = ops_integer(&op->in[0], best);
        bool more = ops_is_float(d) ? x > y : d <= KB_I64 ? (int64_t)a > (int64_t)b : a > b;
        bool less = ops_is_float(d) ? x < y : d <= KB_I64 ? (int64_t)a < (int64_t)b : a < b;

        if (!isnan(y) && (isnan(x) || (op->math == TL_MIN ? less : more)))
            best = e;
    }
    if (op->math == TL_ARGMAX)
        assert_int_equal(ops_integer(&op->out, at), (best - line[0]) / line[1]);
    else if (isnan(ops_get(&op->in[0], best)))
        assert_true(isnan(ops_get(&op->out, at)));
    else
        assert_int_equal(ops_integer(&op->out, at), ops_integer(&op->in[0], best));
}

static void each_reduction(enum tl_op math, kb_dtype d, struct dims shape, int axis)
{
    struct op op = reduction(math, d, shape, axis);
    uint64_t line[3];

    if (ops_is_float(d) && math != TL_SUM && math != TL_MEAN)
        kb_element_set(d, op.in[0].view.v->bytes, dims_elements(&shape) / 2, NAN);
    run(&op);
    for (uint64_t at = 0; at < dims_elements(&op.out.shape); at++) {
        line_of(&op, at, line);
        if (math == TL_SUM || math == TL_MEAN)
            check_sum(&op, at, line);
        else
            check_extreme(&op, at, line);
    }
    ops_drop(&op);
}

static void reductions_over_each_axis(void **state)
{
    (void)state;
    for (enum tl_op math = TL_SUM; math <= TL_ARGMAX; math++)
        for (kb_dtype d = KB_F16; d <= KB_U64; d++)
            for (int axis = -1; axis < 3; axis++) {
                if (math == TL_MEAN && !ops_is_float(d))
                    continue;
                each_reduction(math, d, ops_dims(3, 5, 7, 11), axis);
                each_reduction(math, d, ops_dims(3, 3, 700, 2), axis);
            }
}

/* The order depends on the shape, not on where elements lie. */
static void a_sum_does_not_depend_on_the_axis(void **state)
{
    struct op row = reduction(TL_SUM, KB_F32, ops_dims(2, 1, 1000, 0), 1);
    struct op column = reduction(TL_SUM, KB_F32, ops_dims(2, 1000, 1, 0), 0);

    (void)state;
    memcpy(column.in[0].view.v->bytes, row.in[0].view.v->bytes, 4000);
    run(&row);
    run(&column);
    assert_true(ops_get(&row.out, 0) == ops_get(&column.out, 0));
    ops_drop(&row);
    ops_drop(&column);
}

static void softmax_over_each_axis(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_F64; d++)
        for (int axis = 0; axis < 3; axis++) {
            struct op op = reduction(TL_SOFTMAX, d, ops_dims(3, 3, 600, 2), axis);
            uint64_t stride[3] = {1200, 2, 1}, extent[3] = {3, 600, 2};

            kb_element_set(d, op.in[0].view.v->bytes, 77, 60); /* no overflow */
            run(&op);
            for (uint64_t e = 0; e < 3600; e++) {
                uint64_t first = e - e / stride[axis] % extent[axis] * stride[axis];
                double most = -INFINITY, sum = 0;

                for (uint64_t i = 0; i < extent[axis]; i++)
                    most = fmax(most, ops_get(&op.in[0], first + i * stride[axis]));
                for (uint64_t i = 0; i < extent[axis]; i++)
                    sum += exp(ops_get(&op.in[0], first + i * stride[axis]) - most);
                sum = exp(ops_get(&op.in[0], e) - most) / sum;
                assert_true(fabs(ops_get(&op.out, e) - sum) <=
                            0.51 * ulp(d, sum) + sum * (d == KB_F64 ? 1e-14 : 4e-6));
            }
            ops_drop(&op);
        }
}

/* Of a line with a NaN all is NaN, in the reference, too. */
static void softmax_of_nan(void **state)
{
    struct op op = reduction(TL_SOFTMAX, KB_F32, ops_dims(2, 2, 5, 0), 1);

    (void)state;
    kb_element_set(KB_F32, op.in[0].view.v->bytes, 2, NAN);
    run(&op);
    for (uint64_t i = 0; i < 10; i++)
        assert_true(isnan(ops_get(&op.out, i)) == (i < 5));
    ops_drop(&op);
}

/* A number in the place of NaN differs, and so does NaN in the place of a number. */
static void nan_is_no_number(void **state)
{
    struct op op = operation(TL_NEG, 1, KB_F32, ops_dims(1, 2, 0, 0));
    struct reference_difference at;

    (void)state;
    op.in[0] = ops_tensor(KB_F32, op.out.shape);
    kb_element_set(KB_F32, op.in[0].view.v->bytes, 0, NAN);
    run(&op);
    kb_element_set(KB_F32, op.out.view.v->bytes, 0, 1);
    assert_false(reference_same(&op, op.out.view.v->bytes, &at));
    kb_element_set(KB_F32, op.out.view.v->bytes, 0, NAN);
    kb_element_set(KB_F32, op.out.view.v->bytes, 1, NAN);
    assert_false(reference_same(&op, op.out.view.v->bytes, &at));
    assert_int_equal(at.index, 1);
    ops_drop(&op);
}

/* Beyond the largest a float of 8 bits is that one, and the reference takes no other for it. */
static void what_saturates_is_the_largest_and_nothing_else(void **state)
{
    static const double beyond[] = {1e6, -1e6, INFINITY, -INFINITY};

    (void)state;
    for (kb_dtype d = KB_F8E4M3; d <= KB_F8E5M2; d++)
        for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
            struct op op = operation(TL_EXP, 1, d, ops_dims(1, 1, 0, 0));
            struct wanted w = {.value = reference_of_float(beyond[i])};
            struct reference_difference why;
            unsigned char bytes[3];

            kb_element_set(d, bytes, 0, beyond[i]);
            kb_element_set(d, bytes, 1, -beyond[i]);
            kb_element_set(d, bytes, 2, copysign(1, beyond[i]));
            assert_true(reference_agrees(&op, bytes, 0, 0.1, &w, &why));
            assert_false(reference_agrees(&op, bytes, 1, 0.1, &w, &why));
            assert_false(reference_agrees(&op, bytes, 2, 0.1, &w, &why));
            ops_drop(&op);
        }
}

/* -- shapes and constants ------------------------------------------------------------------- */

static void transpose_turns_the_last_two_axes(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_F8E5M2; d++) {
        struct op op = operation(TL_TRANSPOSE, 1, d, ops_dims(3, 3, 35, 18));
        size_t n = kb_dtype_bytes(d);

        op.in[0] = ops_random_tensor(d, ops_dims(3, 3, 18, 35), seed++);
        run(&op);
        for (uint64_t b = 0; b < 3; b++)
            for (uint64_t i = 0; i < 18; i++)
                for (uint64_t j = 0; j < 35; j++)
                    assert_memory_equal(op.out.view.v->bytes + ((b * 35 + j) * 18 + i) * n,
                                        op.in[0].view.v->bytes + ((b * 18 + i) * 35 + j) * n, n);
        ops_drop(&op);
    }
}

static void arange_and_full(void **state)
{
    (void)state;
    for (kb_dtype d = KB_F16; d <= KB_U64; d++) {
        struct op op = operation(TL_ARANGE, 2, d, ops_dims(1, 120, 0, 0));

        op.in[0] = ops_scalar(d, 3);
        op.in[1] = ops_scalar(d, 1);
        run(&op);
        for (uint64_t e = 0; e < 120; e++)
            assert_true(ops_get(&op.out, e) == 3 + (double)e);
        op.math = TL_FULL;
        op.n_in = 1;
        run(&op);
        assert_true(ops_get(&op.out, 119) == 3);
        ops_drop(&op);
    }
}

static void full_keeps_the_sign_of_zero(void **state)
{
    const double values[] = {-0.0, 0.0, -INFINITY};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct op op = operation(TL_FULL, 1, KB_F32, ops_dims(1, 300, 0, 0));

        op.in[0] = ops_scalar(KB_F32, values[i]);
        run(&op);
        for (uint64_t e = 0; e < 300; e++) {
            assert_true(ops_get(&op.out, e) == values[i]);
            assert_int_equal(signbit(ops_get(&op.out, e)) != 0, signbit(values[i]) != 0);
        }
        ops_drop(&op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_rounded_once),
        cmocka_unit_test(nan_goes_through),
        cmocka_unit_test(ends_of_functions),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(comparisons_give_bool),
        cmocka_unit_test(where_moves_bits),
        cmocka_unit_test(shapes_broadcast_as_numpy_has_it),
        cmocka_unit_test(scalars_take_the_tensors_type),
        cmocka_unit_test(casts_from_every_type_to_every_type),
        cmocka_unit_test(no_cast_rounds_twice),
        cmocka_unit_test(floats_saturate_as_integers),
        cmocka_unit_test(reductions_over_each_axis),
        cmocka_unit_test(a_sum_does_not_depend_on_the_axis),
        cmocka_unit_test(softmax_over_each_axis),
        cmocka_unit_test(softmax_of_nan),
        cmocka_unit_test(nan_is_no_number),
        cmocka_unit_test(what_saturates_is_the_largest_and_nothing_else),
        cmocka_unit_test(transpose_turns_the_last_two_axes),
        cmocka_unit_test(arange_and_full),
        cmocka_unit_test(full_keeps_the_sign_of_zero),
    };

    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
