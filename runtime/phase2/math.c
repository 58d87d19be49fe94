/* math.c -- the arithmetic of PE_MATH: elementwise, over an axis, transpositions and constants.
 *
 * Everything is computed in chunks of 256 elements. A chunk of each operand is gathered, if its
 * elements are not contiguous, and converted to the type of the computation: f32 for f16 and bf16,
 * else the type itself. Simple loops compute it, which the compiler turns into vector instructions,
 * and the result is rounded once. Buffers of a chunk are on the stack and stay in the first-level
 * cache.
 *
 * Broadcasting gives operands a stride of 0 along an axis. Axes that are contiguous in all operands
 * are joined first (join_axes()), so that the inner loops are long: x[32, 64] + y[1, 64] is 32 runs
 * of 64 elements, and x[32, 64] + y[32, 64] one of 2048.
 *
 * Sums are pairwise, in an order that depends only on the number of elements: their bytes are the
 * same for any layout and any number of threads.
 *
 * The way of one operation, softmax(x) of [4, 256] in f16 along the last axis, from math_run():
 *
 *     run_softmax()    4 lines of 256, stride 1 (math_lines()). For each line:
 *     extreme_f64()    its largest element, exactly
 *     powers_f32()     exp(x - largest): loaded as f32, computed in f64, rounded to f32
 *     sums_add_f32()   the sum of the chunk, in the order of any sum of 256 elements
 *     cast_elements()  each power divided by the sum, and rounded to f16 once
 *
 * Invariants:
 *   - An element of a result depends on its operands alone, and not on where its chunk begins, on
 *     the layout of the operands, or on the processor's vectors: no sum is split over lanes except
 *     in the eight fixed ones of chunk_sum_...().
 *   - Nothing is allocated, so nothing here can fail.
 *   - Results are rounded to nearest even, once, from the type of the computation. Special
 *     functions of f32 go through f64, so that their error is little more than half a unit in the
 *     last place.
 *
 * reference.c computes the same in another way, to verify it; the two share no arithmetic.
 */
#include "phase2/math_op.h"
#include "data/cast.h"
#include <math.h>
#include <string.h>

/* Elements that are converted, computed and rounded at a time, in buffers on the stack. */
enum { CHUNK = 256 };

union chunk {
    float f32[CHUNK];
    double f64[CHUNK];
    int64_t i64[CHUNK];
    uint64_t u64[CHUNK];
    uint8_t bytes[CHUNK * 8];
};

static size_t at_most(uint64_t n, size_t most)
{
    return n < most ? (size_t)n : most;
}

/* -- operands ------------------------------------------------------------------------------- */

#define BY_SIZE(SIZE, X)                                                                           \
    switch (SIZE) {                                                                                \
    case 1:                                                                                        \
        X(uint8_t) break;                                                                          \
    case 2:                                                                                        \
        X(uint16_t) break;                                                                         \
    case 4:                                                                                        \
        X(uint32_t) break;                                                                         \
    default:                                                                                       \
        X(uint64_t) break;                                                                         \
    }

/* Copies elements that are `stride` apart to contiguous ones. */
static void gather(void *to, const void *from, int64_t stride, size_t bytes, size_t n)
{
#define GATHER(T)                                                                                  \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((T *)to)[i] = ((const T *)from)[(int64_t)i * stride];
    BY_SIZE(bytes, GATHER)
}

static void scatter(void *to, const void *from, int64_t stride, size_t bytes, size_t n)
{
#define SCATTER(T)                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((T *)to)[(int64_t)i * stride] = ((const T *)from)[i];
    BY_SIZE(bytes, SCATTER)
}

/* Elements [i, i + n) of a lane, as they are stored. */
static const void *stored(const struct math_lane *lane, uint64_t i, size_t n, union chunk *buffer)
{
    size_t bytes = kb_dtype_bytes(lane->dtype);
    const unsigned char *at;

    if (!lane->at) {
        double all[CHUNK];

        for (size_t j = 0; j < n; j++)
            all[j] = lane->scalar;
        cast_elements(lane->dtype, buffer->bytes, KB_F64, all, n);
        return buffer->bytes;
    }
    at = lane->at + (int64_t)i * lane->stride * (int64_t)bytes;
    if (lane->stride == 1)
        return at;
    gather(buffer->bytes, at, lane->stride, bytes, n);
    return buffer->bytes;
}

/*
 * The same in another type: elements [i, i + n) as the computation takes them. If they are
 * contiguous and of that type, they are used where they lie; else they are gathered into one
 * buffer and converted into another, 4 KiB of stack together.
 */
static const void *loaded(const struct math_lane *lane, uint64_t i, size_t n, kb_dtype dtype,
                          union chunk *buffer)
{
    union chunk as_stored;
    const void *from;

    if (lane->dtype == dtype)
        return stored(lane, i, n, buffer);
    from = stored(lane, i, n, &as_stored);
    cast_elements(dtype, buffer->bytes, lane->dtype, from, n);
    return buffer->bytes;
}

/* -- elementwise, floats -------------------------------------------------------------------- */

/* A division by 0 follows IEEE 754; it is no mistake. */
#define DIVIDES __attribute__((no_sanitize("float-divide-by-zero")))

/* Does not overflow for large |x|. */
static double sigmoid(double x)
{
    double e = exp(-fabs(x));

    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

DIVIDES static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

#define EACH(OP, VALUE)                                                                            \
    case OP:                                                                                       \
        _Pragma("omp simd") for (size_t i = 0; i < n; i++) o[i] = (VALUE);                         \
        break;

#define LARGER(x, y)  ((x) > (y) || (x) != (x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

#define FLOAT_ARITHMETIC(NAME, T, FMA, SQRT, ABS)                                                  \
    DIVIDES static void NAME(enum tl_op math, T *o, const T *x, const T *y, const T *z, size_t n)  \
    {                                                                                              \
        switch (math) {                                                                            \
            EACH(TL_ADD, x[i] + y[i])                                                              \
            EACH(TL_SUB, x[i] - y[i])                                                              \
            EACH(TL_MUL, x[i] * y[i])                                                              \
            EACH(TL_DIV, x[i] / y[i])                                                              \
            EACH(TL_NEG, -x[i])                                                                    \
            EACH(TL_ABS, ABS(x[i]))                                                                \
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
        CASES_SPECIAL:                                                                             \
        case TL_WHERE:                                                                             \
        CASES_COMPARE:                                                                             \
        CASES_REDUCE:                                                                              \
        CASES_SOURCE:                                                                              \
        CASES_WHOLE:                                                                               \
            break;                                                                                 \
        }                                                                                          \
    }

FLOAT_ARITHMETIC(arithmetic_f32, float, fmaf, sqrtf, fabsf)
FLOAT_ARITHMETIC(arithmetic_f64, double, fma, sqrt, fabs)

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
    CASES_ARITHMETIC:
    CASES_OF_FLOATS:
    case TL_WHERE:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return NULL;
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
    case KB_DEFAULT: /* not of tensors; the other two are computed in f32 */
    case KB_F16:
    case KB_BF16:
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
    case KB_DEFAULT: /* not of tensors; the next two are computed in f32, and there is no arithmetic
                        of bool */
    case KB_F16:
    case KB_BF16:
    case KB_BOOL:
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
    size_t operands = math_rows[math].operands, out_bytes = kb_dtype_bytes(out_dtype), chunk;
    union chunk buffer[3], result;
    const void *x[3] = {NULL, NULL, NULL};

    for (size_t i = 0; i < n; i += chunk) {
        unsigned char *place = (unsigned char *)out + i * out_bytes;
        void *o = made == out_dtype ? (void *)place : &result;

        chunk = at_most(n - i, CHUNK);
        for (size_t j = 0; j < operands; j++)
            if (i == 0 || (in[j].at && in[j].stride))
                x[j] = loaded(&in[j], i, chunk, math == TL_WHERE && j == 0 ? KB_BOOL : in_dtype,
                              &buffer[j]);
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

/* The type in which an elementwise operation or a comparison is computed: that of its tensors. */
static kb_dtype computed_in(const struct op *op)
{
    const struct op_tensor *t = op->in;

    if (op->math == TL_WHERE)
        return (kb_dtype)op->out.dtype;
    while (t->is_scalar) /* one of them is none */
        t++;
    return (kb_dtype)t->dtype;
}

static void run_elements(const struct op *op, unsigned char *out)
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
        math_elements((enum tl_op)op->math, computed_in(op), in, to,
                      out + i * n * kb_dtype_bytes(to), (size_t)n);
    }
}

/* -- over an axis --------------------------------------------------------------------------- */

/*
 * Pairwise summation: each chunk is eight interleaved sums, and chunks are added in pairs, then
 * pairs of pairs. The order depends only on the number of elements.
 *
 * Level i holds the sum of 2^i chunks, if bit i of `chunks` is set: a new chunk is added like 1 to
 * a binary number, with carries. After 5 chunks, 101 in binary, level 2 has chunks 0 to 3 and level
 * 0 has chunk 4. The error grows with the logarithm of n, where that of a running sum grows with n.
 */
enum { LEVELS = 56 };
#define SUMS(T, NAME)                                                                              \
    struct sums_##NAME {                                                                           \
        uint64_t chunks;                                                                           \
        T level[LEVELS];                                                                           \
    };                                                                                             \
    static T chunk_sum_##NAME(const T *x, size_t n)                                                \
    {                                                                                              \
        T s[8] = {0};                                                                              \
        size_t i = 0;                                                                              \
                                                                                                   \
        for (; i + 8 <= n; i += 8)                                                                 \
            for (size_t j = 0; j < 8; j++)                                                         \
                s[j] += x[i + j];                                                                  \
        for (size_t j = 0; i < n; i++, j++)                                                        \
            s[j] += x[i];                                                                          \
        return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));                  \
    }                                                                                              \
    static void sums_add_##NAME(struct sums_##NAME *s, const T *x, size_t n)                       \
    {                                                                                              \
        T sum = chunk_sum_##NAME(x, n);                                                            \
        uint32_t i = 0;                                                                            \
                                                                                                   \
        for (; s->chunks >> i & 1; i++)                                                            \
            sum = s->level[i] + sum;                                                               \
        s->level[i] = sum;                                                                         \
        s->chunks++;                                                                               \
    }                                                                                              \
    static T sums_total_##NAME(const struct sums_##NAME *s)                                        \
    {                                                                                              \
        T sum = 0;                                                                                 \
                                                                                                   \
        for (uint32_t i = 0; i < LEVELS; i++)                                                      \
            if (s->chunks >> i & 1)                                                                \
                sum = s->level[i] + sum;                                                           \
        return sum;                                                                                \
    }
SUMS(float, f32)
SUMS(double, f64)

#define LINE_SUM(T, NAME, DTYPE)                                                                   \
    static T line_sum_##NAME(const struct math_lane *line, uint64_t n)                             \
    {                                                                                              \
        struct sums_##NAME s = {.chunks = 0};                                                      \
        union chunk buffer;                                                                        \
        size_t chunk;                                                                              \
                                                                                                   \
        for (uint64_t i = 0; i < n; i += chunk) {                                                  \
            chunk = at_most(n - i, CHUNK);                                                         \
            sums_add_##NAME(&s, loaded(line, i, chunk, DTYPE, &buffer), chunk);                    \
        }                                                                                          \
        return sums_total_##NAME(&s);                                                              \
    }
LINE_SUM(float, f32, KB_F32)
LINE_SUM(double, f64, KB_F64)

static uint64_t line_sum_integer(const struct math_lane *line, uint64_t n)
{
    union chunk buffer;
    uint64_t sum = 0;
    size_t chunk;

    for (uint64_t i = 0; i < n; i += chunk) {
        const uint64_t *x;

        chunk = at_most(n - i, CHUNK);
        x = loaded(line, i, chunk, dtype_is_signed(line->dtype) ? KB_I64 : KB_U64, &buffer);
        for (size_t j = 0; j < chunk; j++)
            sum += x[j];
    }
    return sum;
}

DIVIDES static void sum_or_mean(bool mean, const struct math_lane *line, uint64_t n, kb_dtype to,
                                void *out)
{
    if (line->dtype == KB_F64) {
        double sum = line_sum_f64(line, n);

        sum = mean ? sum / (double)n : sum;
        cast_elements(to, out, KB_F64, &sum, 1);
    } else if (dtype_is_float(line->dtype)) {
        float sum = line_sum_f32(line, n);

        sum = mean ? sum / (float)n : sum;
        cast_elements(to, out, KB_F32, &sum, 1);
    } else {
        uint64_t sum = line_sum_integer(line, n);

        cast_elements(to, out, KB_U64, &sum, 1);
    }
}

/*
 * The first extreme and its index. A NaN wins over all numbers, as in numpy, and the first NaN over
 * later ones. Exact, in the widest type of its kind.
 */
#define EXTREME(T, NAME, DTYPE)                                                                    \
    static uint64_t extreme_##NAME(bool smallest, const struct math_lane *line, uint64_t n,        \
                                   T *value)                                                       \
    {                                                                                              \
        uint64_t place = 0;                                                                        \
        union chunk buffer;                                                                        \
        size_t chunk;                                                                              \
        T best = 0;                                                                                \
                                                                                                   \
        for (uint64_t i = 0; i < n; i += chunk) {                                                  \
            const T *x;                                                                            \
                                                                                                   \
            chunk = at_most(n - i, CHUNK);                                                         \
            x = loaded(line, i, chunk, DTYPE, &buffer);                                            \
            for (size_t j = 0; j < chunk; j++)                                                     \
                if (i + j == 0 ||                                                                  \
                    (best == best && ((smallest ? x[j] < best : x[j] > best) || x[j] != x[j]))) {  \
                    best = x[j];                                                                   \
                    place = i + j;                                                                 \
                }                                                                                  \
        }                                                                                          \
        *value = best;                                                                             \
        return place;                                                                              \
    }
EXTREME(double, f64, KB_F64)
EXTREME(int64_t, i64, KB_I64)
EXTREME(uint64_t, u64, KB_U64)

static void extreme(enum tl_op math, const struct math_lane *line, uint64_t n, kb_dtype to,
                    void *out)
{
    union {
        double f64;
        int64_t i64;
        uint64_t u64;
    } best;
    kb_dtype wide = KB_U64;
    int64_t place;

    if (dtype_is_float(line->dtype)) {
        wide = KB_F64;
        place = (int64_t)extreme_f64(math == TL_MIN, line, n, &best.f64);
    } else if (dtype_is_signed(line->dtype)) {
        wide = KB_I64;
        place = (int64_t)extreme_i64(math == TL_MIN, line, n, &best.i64);
    } else {
        place = (int64_t)extreme_u64(math == TL_MIN, line, n, &best.u64);
    }
    if (math == TL_ARGMAX)
        cast_elements(to, out, KB_I64, &place, 1);
    else
        cast_elements(to, out, wide, &best, 1);
}

/*
 * A reduction works on lines: the elements that differ only along its axis. Of [2, 3, 4] along
 * axis 1 there are outer * inner = 2 * 4 lines of n = 3 elements, inner = 4 apart. Line 5 begins
 * at 5 / 4 * 3 * 4 + 5 % 4 = 13, and has elements 13, 17 and 21. All axes together are one line.
 */
struct math_lines math_lines(const struct op *op)
{
    const struct dims *shape = &op->in[0].shape;
    struct math_lines l = {1, 1, 1};

    if (op->all_axes || !op->has_axis || shape->rank == 0) {
        l.n = dims_elements(shape);
        return l;
    }
    l.n = shape->dim[op->axis];
    for (uint32_t i = 0; i < shape->rank; i++) {
        if ((int32_t)i < op->axis)
            l.outer *= shape->dim[i];
        else if ((int32_t)i > op->axis)
            l.inner *= shape->dim[i];
    }
    return l;
}

/* Line number `i` of the operand. */
static struct math_lane line_of(const struct op *op, const struct math_lines *l, uint64_t i)
{
    const struct op_tensor *t = &op->in[0];
    uint64_t first = i / l->inner * l->n * l->inner + i % l->inner;

    return (struct math_lane){
        .at = t->view.v->bytes + t->view.offset + first * kb_dtype_bytes((kb_dtype)t->dtype),
        .stride = (int64_t)l->inner,
        .dtype = (kb_dtype)t->dtype,
    };
}

static void reduce(enum tl_op math, const struct math_lane *line, uint64_t n, kb_dtype to,
                   void *out)
{
    switch (math) {
    case TL_SUM:
    case TL_MEAN:
        sum_or_mean(math == TL_MEAN, line, n, to, out);
        break;
    case TL_MAX:
    case TL_MIN:
    case TL_ARGMAX:
        extreme(math, line, n, to, out);
        break;
    CASES_ELEMENT:
    CASES_COMPARE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
}

static void run_reduce(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    kb_dtype to = (kb_dtype)op->out.dtype;

    for (uint64_t i = 0; i < l.outer * l.inner; i++) {
        struct math_lane line = line_of(op, &l, i);

        reduce((enum tl_op)op->math, &line, l.n, to, out + i * kb_dtype_bytes(to));
    }
}

/* -- softmax -------------------------------------------------------------------------------- */

/*
 * Softmax of a line: exp(x - largest), which does not overflow, divided by the sum of these, in the
 * order of any sum. The powers of a line of several chunks are not kept: they are computed twice.
 */
#define SOFTMAX_LINE(T, NAME, DTYPE)                                                               \
    static void powers_##NAME(const struct math_lane *line, uint64_t i, size_t n, T largest, T *e) \
    {                                                                                              \
        union chunk buffer;                                                                        \
        const T *x = loaded(line, i, n, DTYPE, &buffer);                                           \
                                                                                                   \
        for (size_t j = 0; j < n; j++)                                                             \
            e[j] = (T)exp((double)(x[j] - largest));                                               \
    }                                                                                              \
    DIVIDES static void softmax_##NAME(const struct math_lane *line, uint64_t n, kb_dtype to,      \
                                       unsigned char *out)                                         \
    {                                                                                              \
        struct sums_##NAME s = {.chunks = 0};                                                      \
        union chunk rounded;                                                                       \
        T e[CHUNK], sum;                                                                           \
        double largest;                                                                            \
        size_t chunk, bytes = kb_dtype_bytes(to);                                                  \
                                                                                                   \
        extreme_f64(false, line, n, &largest);                                                     \
        for (uint64_t i = 0; i < n; i += chunk) {                                                  \
            chunk = at_most(n - i, CHUNK);                                                         \
            powers_##NAME(line, i, chunk, (T)largest, e);                                          \
            sums_add_##NAME(&s, e, chunk);                                                         \
        }                                                                                          \
        sum = sums_total_##NAME(&s);                                                               \
        for (uint64_t i = 0; i < n; i += chunk) {                                                  \
            chunk = at_most(n - i, CHUNK);                                                         \
            if (n > CHUNK)                                                                         \
                powers_##NAME(line, i, chunk, (T)largest, e);                                      \
            for (size_t j = 0; j < chunk; j++)                                                     \
                e[j] /= sum;                                                                       \
            cast_elements(to, &rounded, DTYPE, e, chunk);                                          \
            scatter(out + i * (uint64_t)line->stride * bytes, &rounded, line->stride, bytes,       \
                    chunk);                                                                        \
        }                                                                                          \
    }
SOFTMAX_LINE(float, f32, KB_F32)
SOFTMAX_LINE(double, f64, KB_F64)

static void run_softmax(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    kb_dtype to = (kb_dtype)op->out.dtype;
    const unsigned char *begin = op->in[0].view.v->bytes + op->in[0].view.offset;

    for (uint64_t i = 0; i < l.outer * l.inner; i++) {
        struct math_lane line = line_of(op, &l, i);

        if (to == KB_F64)
            softmax_f64(&line, l.n, to, out + (line.at - begin));
        else
            softmax_f32(&line, l.n, to, out + (line.at - begin));
    }
}

/* -- shapes and constants ------------------------------------------------------------------- */

/*
 * Transposes blocks of 16 x 16 elements, which stay cached in both matrices: one of the two is
 * walked across its rows, so each of its elements is on another cache line, and all 16 elements of
 * that line are used before it is displaced.
 */
enum { BLOCK = 16 };

static void transpose(void *to, const void *from, size_t rows, size_t columns, size_t bytes)
{
#define TRANSPOSE(T)                                                                               \
    for (size_t i0 = 0; i0 < rows; i0 += BLOCK)                                                    \
        for (size_t j0 = 0; j0 < columns; j0 += BLOCK)                                             \
            for (size_t j = j0; j < columns && j < j0 + BLOCK; j++)                                \
                for (size_t i = i0; i < rows && i < i0 + BLOCK; i++)                               \
                    ((T *)to)[j * rows + i] = ((const T *)from)[i * columns + j];
    BY_SIZE(bytes, TRANSPOSE)
}

static void run_transpose(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];
    size_t bytes = kb_dtype_bytes((kb_dtype)t->dtype), columns, rows, matrix;
    uint64_t all = dims_elements(&t->shape) * bytes;

    columns = t->shape.dim[t->shape.rank - 1];
    rows = t->shape.dim[t->shape.rank - 2];
    matrix = rows * columns * bytes;
    for (uint64_t at = 0; at < all; at += matrix)
        transpose(out + at, t->view.v->bytes + t->view.offset + at, rows, columns, bytes);
}

/* arange(start, step) and full(value): the numbers are scalar operands. */
static double step_of(const struct op *op)
{
    switch ((enum tl_op)op->math) {
    case TL_ARANGE:
        return op->in[1].scalar;
    case TL_FULL:
        return 0;
    CASES_ELEMENT:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_WHOLE:
        break;
    }
    return NAN;
}

static void run_source(const struct op *op, unsigned char *out)
{
    double start = op->in[0].scalar, step = step_of(op);
    uint64_t n = dims_elements(&op->out.shape);
    kb_dtype to = (kb_dtype)op->out.dtype;
    double x[CHUNK];
    size_t chunk;

    for (uint64_t i = 0; i < n; i += chunk) {
        chunk = at_most(n - i, CHUNK);
        for (size_t j = 0; j < chunk; j++)
            x[j] = start + (double)(i + j) * step;
        cast_elements(to, out + i * kb_dtype_bytes(to), KB_F64, x, chunk);
    }
}

void math_run(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];

    switch ((enum math_group)math_rows[op->math].group) {
    case MATH_ELEMENT:
    case MATH_COMPARE:
        run_elements(op, out);
        break;
    case MATH_CAST:
        cast_elements((kb_dtype)op->out.dtype, out, (kb_dtype)t->dtype,
                      t->view.v->bytes + t->view.offset, dims_elements(&t->shape));
        break;
    case MATH_REDUCE:
        run_reduce(op, out);
        break;
    case MATH_SOFTMAX:
        run_softmax(op, out);
        break;
    case MATH_TRANSPOSE:
        run_transpose(op, out);
        break;
    case MATH_SOURCE:
        run_source(op, out);
        break;
    }
}
