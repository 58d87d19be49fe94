/* math_elements.c -- operations of Phase 2 element by element, with operands that are broadcast. */
#include "phase2/math_op.h"
#include <math.h>
#include <string.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/math_parts.h"

/* -- elementwise, floats -------------------------------------------------------------------- */

/* Does not overflow for large |x|. */
static double sigmoid(double x)
{
    double e = exp(-fabs(x));

    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

#define EACH(OP, VALUE)                                                                            \
    case OP:                                                                                       \
        _Pragma("omp simd") for (size_t i = 0; i < n; i++) o[i] = (VALUE);                         \
        break;

#define LARGER(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))

#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

#define FLOAT_ARITHMETIC(NAME, T, FMA, SQRT, ABS, FLOOR, CEIL, ROUND)                              \
    DIVIDES static void NAME(enum tl_op math, T *o, const T *x, const T *y, const T *z, size_t n)  \
    {                                                                                              \
        switch (math) {                                                                            \
            EACH(TL_ADD, x[i] + y[i])                                                              \
            EACH(TL_SUB, x[i] - y[i])                                                              \
            EACH(TL_MUL, x[i] * y[i])                                                              \
            EACH(TL_DIV, x[i] / y[i])                                                              \
            EACH(TL_NEG, -x[i])                                                                    \
            EACH(TL_ABS, ABS(x[i]))                                                                \
            EACH(TL_FLOOR, FLOOR(x[i]))                                                            \
            EACH(TL_CEIL, CEIL(x[i]))                                                              \
            EACH(TL_ROUND, ROUND(x[i]))                                                            \
            EACH(TL_MAXIMUM, LARGER(x[i], y[i]))                                                   \
            EACH(TL_MINIMUM, SMALLER(x[i], y[i]))                                                  \
        case TL_SQRT:                                                                              \
            for (size_t i = 0; i < n; i++)                                                         \
                o[i] = SQRT(x[i]);                                                                 \
            break;                                                                                 \
        case TL_CLAMP:                                                                             \
            for (size_t i = 0; i < n; i++) {                                                       \
                T low = LARGER(x[i], y[i]);                                                        \
                o[i] = SMALLER(low, z[i]);                                                         \
            }                                                                                      \
            break;                                                                                 \
        case TL_FMA:                                                                               \
            for (size_t i = 0; i < n; i++)                                                         \
                o[i] = FMA(x[i], y[i], z[i]);                                                      \
            break;                                                                                 \
        case TL_POW:                                                                               \
            for (size_t i = 0; i < n; i++)                                                         \
                o[i] = (T)pow((double)x[i], (double)y[i]);                                         \
            break;                                                                                 \
        CASES_SPECIAL:                                                                             \
        CASES_OF_BITS:                                                                             \
        case TL_WHERE:                                                                             \
        CASES_COMPARE:                                                                             \
        CASES_REDUCE:                                                                              \
        CASES_SOURCE:                                                                              \
        CASES_WHOLE:                                                                               \
            break;                                                                                 \
        }                                                                                          \
    }

FLOAT_ARITHMETIC(arithmetic_f32, float, fmaf, sqrtf, fabsf, floorf, ceilf, rintf)
FLOAT_ARITHMETIC(arithmetic_f64, double, fma, sqrt, fabs, floor, ceil, rint)

DIVIDES static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double (*special(enum tl_op math))(double)
{
    switch (math) {
    case TL_EXP:
        return exp;
    case TL_LOG:
        return log;
    case TL_RSQRT:
        return rsqrt;
    case TL_TANH:
        return tanh;
    case TL_SIGMOID:
        return sigmoid;
    case TL_ERF:
        return erf;
    case TL_EXP2:
        return exp2;
    case TL_LOG2:
        return log2;
    case TL_SIN:
        return sin;
    case TL_COS:
        return cos;
    CASES_ARITHMETIC:
    CASES_OF_FLOATS:
    CASES_OF_BITS:
    case TL_WHERE:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return NULL;
}

/* f32 is computed in f64: its error is little more than half a unit in the last place, for any
 * libm. */
#define FLOAT_SPECIAL(NAME, T)                                                                     \
    DIVIDES static void NAME(enum tl_op math, T *o, const T *x, size_t n)                          \
    {                                                                                              \
        double (*const f)(double) = special(math);                                                 \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            o[i] = (T)f((double)x[i]);                                                             \
    }

FLOAT_SPECIAL(special_f32, float)
FLOAT_SPECIAL(special_f64, double)

static bool is_special(enum tl_op math)
{
    return special(math) != NULL;
}

/* -- elementwise, integers ------------------------------------------------------------------ */

/* X(dtype, its C type, the unsigned type in which its arithmetic wraps, suffix). */
#define INTEGERS(X)                                                                                \
    X(KB_I8, int8_t, uint32_t, i8)                                                                 \
    X(KB_I16, int16_t, uint32_t, i16)                                                              \
    X(KB_I32, int32_t, uint32_t, i32)                                                              \
    X(KB_I64, int64_t, uint64_t, i64)                                                              \
    X(KB_U8, uint8_t, uint32_t, u8)                                                                \
    X(KB_U16, uint16_t, uint32_t, u16)                                                             \
    X(KB_U32, uint32_t, uint32_t, u32)                                                             \
    X(KB_U64, uint64_t, uint64_t, u64)

/*
 * Integers wrap, and never trap. The C operators work on int, where i8 and i16 cannot overflow but
 * i32 can, so arithmetic is done in an unsigned type and cut: 100 + 100 is -56 in i8. Division
 * truncates, by zero gives 0, and the one quotient that does not exist, -128 / -1 in i8, wraps to
 * -128.
 */
#define IS_MINUS_1(T, y) ((T)-1 < (T)1 && (y) == (T)-1)

#define NEGATED(T, U, x) ((T)(0 - (U)(x)))

#define DIVIDED(T, U, x, y)                                                                        \
    ((T)((y) == 0 ? (T)0 : IS_MINUS_1(T, y) ? NEGATED(T, U, x) : (T)((x) / (y))))

#define IS_NEGATIVE(x) (!((x) >= 1) && (x) != 0)

#define REMAINDER(T, x, y) ((T)((y) == 0 || IS_MINUS_1(T, y) ? (T)0 : (T)((x) % (y))))

/* A count below 0 is larger than any width as an unsigned one. */
#define IS_SHIFT(T, y) ((uint64_t)(y) < 8 * sizeof(T))

#define LEFT(T, x, y) ((T)(IS_SHIFT(T, y) ? (uint64_t)(x) << (y) : 0))

#define RIGHT(T, x, y)                                                                             \
    ((T)(IS_SHIFT(T, y) ? (T)((x) >> (y)) : IS_NEGATIVE(x) && !IS_NEGATIVE(y) ? (T)-1 : (T)0))

#define INTEGER_ARITHMETIC(D, T, U, NAME)                                                          \
    static void arithmetic_##NAME(enum tl_op math, T *o, const T *x, const T *y, const T *z,       \
                                  size_t n)                                                        \
    {                                                                                              \
        switch (math) {                                                                            \
            EACH(TL_ADD, (T)((U)x[i] + (U)y[i]))                                                   \
            EACH(TL_SUB, (T)((U)x[i] - (U)y[i]))                                                   \
            EACH(TL_MUL, (T)((U)x[i] * (U)y[i]))                                                   \
            EACH(TL_NEG, NEGATED(T, U, x[i]))                                                      \
            EACH(TL_ABS, IS_NEGATIVE(x[i]) ? NEGATED(T, U, x[i]) : x[i])                           \
            EACH(TL_MAXIMUM, x[i] > y[i] ? x[i] : y[i])                                            \
            EACH(TL_MINIMUM, x[i] < y[i] ? x[i] : y[i])                                            \
            EACH(TL_AND, (T)(x[i] & y[i]))                                                         \
            EACH(TL_OR, (T)(x[i] | y[i]))                                                          \
            EACH(TL_XOR, (T)(x[i] ^ y[i]))                                                         \
            EACH(TL_NOT, (T)~x[i])                                                                 \
            EACH(TL_SHL, LEFT(T, x[i], y[i]))                                                      \
            EACH(TL_SHR, RIGHT(T, x[i], y[i]))                                                     \
        case TL_MOD:                                                                               \
            for (size_t i = 0; i < n; i++)                                                         \
                o[i] = REMAINDER(T, x[i], y[i]);                                                   \
            break;                                                                                 \
        case TL_CLAMP:                                                                             \
            for (size_t i = 0; i < n; i++) {                                                       \
                T low = x[i] > y[i] ? x[i] : y[i];                                                 \
                o[i] = low < z[i] ? low : z[i];                                                    \
            }                                                                                      \
            break;                                                                                 \
        case TL_DIV:                                                                               \
            for (size_t i = 0; i < n; i++)                                                         \
                o[i] = DIVIDED(T, U, x[i], y[i]);                                                  \
            break;                                                                                 \
        CASES_OF_FLOATS:                                                                           \
        CASES_SPECIAL:                                                                             \
        case TL_WHERE:                                                                             \
        CASES_COMPARE:                                                                             \
        CASES_REDUCE:                                                                              \
        CASES_SOURCE:                                                                              \
        CASES_WHOLE:                                                                               \
            break;                                                                                 \
        }                                                                                          \
    }

INTEGERS(INTEGER_ARITHMETIC)

/* Of bool: 0 or 1. */
static void arithmetic_bool(enum tl_op math, uint8_t *o, const void *const in[3], size_t n)
{
    static const uint8_t one[CHUNK] = {[0 ... CHUNK - 1] = 1};

    if (math == TL_NOT)
        arithmetic_u8(TL_XOR, o, in[0], one, NULL, n);
    else
        arithmetic_u8(math, o, in[0], in[1], in[2], n);
}

/* -- elementwise, any ----------------------------------------------------------------------- */

#define COMPARE(NAME, T)                                                                           \
    static void compare_##NAME(enum tl_op math, uint8_t *o, const T *x, const T *y, size_t n)      \
    {                                                                                              \
        switch (math) {                                                                            \
            EACH(TL_LT, x[i] < y[i])                                                               \
            EACH(TL_LE, x[i] <= y[i])                                                              \
            EACH(TL_GT, x[i] > y[i])                                                               \
            EACH(TL_GE, x[i] >= y[i])                                                              \
            EACH(TL_EQ, x[i] == y[i])                                                              \
            EACH(TL_ISNAN, x[i] != x[i])                                                           \
        case TL_NE:                                                                                \
            for (size_t i = 0; i < n; i++)                                                         \
                o[i] = x[i] != y[i];                                                               \
            break;                                                                                 \
        CASES_ELEMENT:                                                                             \
        CASES_REDUCE:                                                                              \
        CASES_SOURCE:                                                                              \
        CASES_WHOLE:                                                                               \
            break;                                                                                 \
        }                                                                                          \
    }

COMPARE(f32, float)
COMPARE(f64, double)
#define COMPARE_INTEGER(D, T, U, NAME) COMPARE(NAME, T)
INTEGERS(COMPARE_INTEGER)

static void compare(enum tl_op math, kb_dtype dtype, uint8_t *o, const void *x, const void *y,
                    size_t n)
{
#define COMPARE_CASE(D, T, U, NAME)                                                                \
    case D:                                                                                        \
        compare_##NAME(math, o, x, y, n);                                                          \
        break;
    switch (dtype) {
        INTEGERS(COMPARE_CASE)
        COMPARE_CASE(KB_F32, , , f32)
        COMPARE_CASE(KB_F64, , , f64)
        COMPARE_CASE(KB_BOOL, , , u8)
    case KB_DEFAULT: /* not of tensors; the others are computed in f32 */
    case KB_F16:
    case KB_BF16:
    case KB_F8E4M3:
    case KB_F8E5M2:
    case KB_I4: /* not of arithmetic */
        break;
    }
}

static void where(size_t bytes, void *o, const uint8_t *c, const void *x, const void *y, size_t n)
{
#define WHERE(T)                                                                                   \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((T *)o)[i] = c[i] ? ((const T *)x)[i] : ((const T *)y)[i];
    BY_SIZE(bytes, WHERE)
}

static void arithmetic(enum tl_op math, kb_dtype dtype, void *o, const void *const in[3], size_t n)
{
#define ARITHMETIC_CASE(D, T, U, NAME)                                                             \
    case D:                                                                                        \
        arithmetic_##NAME(math, o, in[0], in[1], in[2], n);                                        \
        break;
    switch (dtype) {
        INTEGERS(ARITHMETIC_CASE)
    case KB_F64:
        if (is_special(math))
            special_f64(math, o, in[0], n);
        else
            arithmetic_f64(math, o, in[0], in[1], in[2], n);
        break;
    case KB_F32:
        if (is_special(math))
            special_f32(math, o, in[0], n);
        else
            arithmetic_f32(math, o, in[0], in[1], in[2], n);
        break;
    case KB_BOOL:
        arithmetic_bool(math, o, in, n);
        break;
    case KB_DEFAULT: /* not of tensors; the others are computed in f32 */
    case KB_F16:
    case KB_BF16:
    case KB_F8E4M3:
    case KB_F8E5M2:
    case KB_I4: /* not of arithmetic */
        break;
    }
}

/* One chunk; all operands have the type in which it is computed. */
static void compute_chunk(enum tl_op math, kb_dtype dtype, void *o, const void *const in[3],
                          size_t n)
{
    if (math == TL_WHERE)
        where(kb_dtype_bytes(dtype), o, in[0], in[1], in[2], n);
    else if (math_rows[math].group == MATH_COMPARE)
        compare(math, dtype, o, in[0], in[1], n);
    else
        arithmetic(math, dtype, o, in, n);
}

/*
 * One run of elements whose operands have one stride each. Operands that do not change along the
 * run, scalars and broadcast ones, are loaded for the first chunk only. A comparison makes bool
 * and a condition is bool, whatever the type of the others.
 */
void math_elements(enum tl_op math, kb_dtype dtype, const struct math_lane in[3],
                   kb_dtype out_dtype, void *out, size_t n)
{
    kb_dtype in_dtype = math == TL_WHERE ? dtype : dtype_computed(dtype);
    kb_dtype made = math_rows[math].group == MATH_COMPARE ? KB_BOOL : in_dtype;
    size_t operands = math_rows[math].operands, chunk;
    union chunk buffer[3], result;
    const void *x[3] = {NULL, NULL, NULL};

    for (size_t i = 0; i < n; i += chunk) {
        unsigned char *place = (unsigned char *)out + dtype_size(out_dtype, i);
        void *o = made == out_dtype ? (void *)place : &result;

        chunk = math_at_most(n - i, CHUNK);
        for (size_t j = 0; j < operands; j++)
            if (i == 0 || (in[j].at && in[j].stride))
                x[j] = math_loaded(&in[j], i, chunk,
                                   math == TL_WHERE && j == 0 ? KB_BOOL : in_dtype, &buffer[j]);
        compute_chunk(math, in_dtype, o, x, chunk);
        if (made != out_dtype)
            cast_elements(out_dtype, place, made, &result, chunk);
    }
}

/* -- broadcasting --------------------------------------------------------------------------- */

void math_strides(const struct dims *shape, const struct dims *to, int64_t stride[KB_RANK_MAX])
{
    int64_t step = 1;

    for (uint32_t i = 0; i < to->rank; i++) {
        uint32_t axis = to->rank - 1 - i;
        uint32_t extent = i < shape->rank ? shape->dim[shape->rank - 1 - i] : 1;

        stride[axis] = extent > 1 ? step : 0;
        step *= extent;
    }
}

/* Operands with strides along the axes of the result. */
struct walk {
    struct dims shape;
    uint32_t n_in;
    struct math_lane in[3];
    int64_t stride[3][KB_RANK_MAX];
};

/* In all operands, do this axis and the next one form one axis? */
static bool continues(const struct walk *w, uint32_t axis)
{
    for (uint32_t j = 0; j < w->n_in; j++)
        if (w->stride[j][axis] != w->stride[j][axis + 1] * (int64_t)w->shape.dim[axis + 1])
            return false;
    return true;
}

static void remove_axis(struct walk *w, uint32_t axis)
{
    w->shape.rank--;
    for (uint32_t i = axis; i < w->shape.rank; i++) {
        w->shape.dim[i] = w->shape.dim[i + 1];
        for (uint32_t j = 0; j < w->n_in; j++)
            w->stride[j][i] = w->stride[j][i + 1];
    }
}

/*
 * Removes axes of one element, then joins neighbours from the inside out. For x[32, 64] + y[32,
 * 64] both have strides {64, 1}, and 64 = 1 * 64: one axis of 2048. For y[1, 64] the strides are
 * {0, 1}, and 0 is not 64: the axes stay two, and there are 32 runs of 64.
 */
static void join_axes(struct walk *w)
{
    for (uint32_t axis = w->shape.rank; axis-- > 0;)
        if (w->shape.dim[axis] == 1)
            remove_axis(w, axis);
    for (uint32_t axis = w->shape.rank; axis-- > 1;)
        if (continues(w, axis - 1)) {
            w->shape.dim[axis] *= w->shape.dim[axis - 1];
            remove_axis(w, axis - 1);
        }
}

static void walk_init(struct walk *w, const struct op *op)
{
    w->shape = op->out.shape;
    w->n_in = op->n_in;
    for (uint32_t j = 0; j < op->n_in; j++) {
        const struct op_tensor *t = &op->in[j];

        memset(w->stride[j], 0, sizeof w->stride[j]);
        w->in[j] = (struct math_lane){.dtype = (kb_dtype)t->dtype, .scalar = t->scalar};
        if (t->is_scalar)
            continue;
        w->in[j].at = t->view.v->bytes + t->view.offset;
        math_strides(&t->shape, &w->shape, w->stride[j]);
    }
    join_axes(w);
}

/* The operands of run `number` along the last axis. */
static void run_of(const struct walk *w, uint64_t number, struct math_lane in[3])
{
    uint32_t last = w->shape.rank - 1;

    for (uint32_t j = 0; j < w->n_in; j++) {
        in[j] = w->in[j];
        in[j].stride = w->stride[j][last];
    }
    for (uint32_t axis = last; axis-- > 0; number /= w->shape.dim[axis])
        for (uint32_t j = 0; j < w->n_in; j++)
            if (in[j].at)
                in[j].at += (int64_t)(number % w->shape.dim[axis]) * w->stride[j][axis] *
                            (int64_t)kb_dtype_bytes(in[j].dtype);
}

void math_run_elements(const struct op *op, unsigned char *out)
{
    struct walk w = {.n_in = 0};
    struct math_lane in[3];
    uint64_t runs, n;
    kb_dtype to = (kb_dtype)op->out.dtype;

    walk_init(&w, op);
    if (w.shape.rank == 0)
        w.shape = (struct dims){.rank = 1, .dim = {1}};
    n = w.shape.dim[w.shape.rank - 1];
    runs = dims_elements(&w.shape) / n;
    for (uint64_t i = 0; i < runs; i++) {
        run_of(&w, i, in);
        math_elements((enum tl_op)op->math, op_operands_dtype(op), in, to,
                      out + dtype_size(to, i * n), (size_t)n);
    }
}

/* -- epilogues ------------------------------------------------------------------------------ */

/* The elements of an epilogue's operand that belong to a run of a row. */
static struct math_lane epilogue_lane(const struct op *op, const struct op_tensor *t,
                                      struct math_run run)
{
    struct math_lane lane = {.dtype = (kb_dtype)t->dtype, .scalar = t->scalar};
    uint32_t rank = t->shape.rank;
    uint32_t last = rank > 0 ? t->shape.dim[rank - 1] : 1;
    size_t down = rank > 1 && t->shape.dim[rank - 2] > 1 ? last : 0, along = last > 1;
    size_t step = op->col_out ? down : along, row = op->col_out ? along : down;

    if (t->is_scalar)
        return lane;
    lane.stride = (int64_t)step;
    lane.at = t->view.v->bytes + t->view.offset +
              (run.row * row + run.first * step) * kb_dtype_bytes(lane.dtype);
    return lane;
}

void math_epilogues(const struct op *op, kb_dtype dtype, unsigned char *sums, struct math_run run)
{
    for (uint32_t e = 0; e < op->n_epilogues; e++) {
        const struct op_epilogue *ep = &op->epilogue[e];
        struct math_lane in[3] = {{.at = sums, .stride = 1, .dtype = dtype}};

        for (uint32_t i = 0; i < ep->n_operands; i++)
            in[1 + i] = epilogue_lane(op, &ep->operand[i], run);
        math_elements((enum tl_op)ep->math, dtype, in, dtype, sums, run.n);
    }
}

void math_run_acc_store(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];
    const unsigned char *acc = t->view.v->bytes + t->view.offset;
    kb_dtype dtype = (kb_dtype)t->dtype, to = (kb_dtype)op->out.dtype;
    size_t rows = t->shape.dim[0], columns = t->shape.dim[1], n;
    union chunk sums;

    for (size_t i = 0; i < rows * columns; i += n) {
        n = math_at_most(columns - i % columns, CHUNK);
        memcpy(sums.bytes, acc + i * kb_dtype_bytes(dtype), n * kb_dtype_bytes(dtype));
        math_epilogues(op, dtype, sums.bytes, (struct math_run){i / columns, i % columns, n});
        cast_elements(to, out + i * kb_dtype_bytes(to), dtype, sums.bytes, n);
    }
}
