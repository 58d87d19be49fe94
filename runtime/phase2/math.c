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
#include <math.h>
#include <string.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "data/sum_sources.h"
#include "phase2/math_parts.h"

size_t math_at_most(uint64_t n, size_t most)
{
    return n < most ? (size_t)n : most;
}

/* -- operands ------------------------------------------------------------------------------- */

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
    const unsigned char *at;

    if (!lane->at) {
        double all[CHUNK];

        for (size_t j = 0; j < n; j++)
            all[j] = lane->scalar;
        cast_elements(lane->dtype, buffer->bytes, KB_F64, all, n);
        return buffer->bytes;
    }
    if (lane->stride == 1)
        return lane->at + dtype_size(lane->dtype, i);
    at = lane->at + (int64_t)i * lane->stride * (int64_t)kb_dtype_bytes(lane->dtype);
    gather(buffer->bytes, at, lane->stride, kb_dtype_bytes(lane->dtype), n);
    return buffer->bytes;
}

/*
 * The same in another type: elements [i, i + n) as the computation takes them. If they are
 * contiguous and of that type, they are used where they lie; else they are gathered into one
 * buffer and converted into another, 4 KiB of stack together.
 */
const void *math_loaded(const struct math_lane *lane, uint64_t i, size_t n, kb_dtype dtype,
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
            chunk = math_at_most(n - i, CHUNK);                                                    \
            sums_add_##NAME(&s, math_loaded(line, i, chunk, DTYPE, &buffer), chunk);               \
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

        chunk = math_at_most(n - i, CHUNK);
        x = math_loaded(line, i, chunk, dtype_is_signed(line->dtype) ? KB_I64 : KB_U64, &buffer);
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
            chunk = math_at_most(n - i, CHUNK);                                                    \
            x = math_loaded(line, i, chunk, DTYPE, &buffer);                                       \
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
    bool smallest = math == TL_MIN || math == TL_ARGMIN;
    kb_dtype wide = KB_U64;
    int64_t place;

    if (dtype_is_float(line->dtype)) {
        wide = KB_F64;
        place = (int64_t)extreme_f64(smallest, line, n, &best.f64);
    } else if (dtype_is_signed(line->dtype)) {
        wide = KB_I64;
        place = (int64_t)extreme_i64(smallest, line, n, &best.i64);
    } else {
        place = (int64_t)extreme_u64(smallest, line, n, &best.u64);
    }
    if (math == TL_ARGMAX || math == TL_ARGMIN)
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
    case TL_ARGMIN:
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
        const T *x = math_loaded(line, i, n, DTYPE, &buffer);                                      \
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
            chunk = math_at_most(n - i, CHUNK);                                                    \
            powers_##NAME(line, i, chunk, (T)largest, e);                                          \
            sums_add_##NAME(&s, e, chunk);                                                         \
        }                                                                                          \
        sum = sums_total_##NAME(&s);                                                               \
        for (uint64_t i = 0; i < n; i += chunk) {                                                  \
            chunk = math_at_most(n - i, CHUNK);                                                    \
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
    case TL_RANDOM:
    CASES_ELEMENT:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_WHOLE:
        break;
    }
    return NAN;
}

static void run_steps(const struct op *op, unsigned char *out)
{
    double start = op->in[0].scalar, step = step_of(op);
    uint64_t n = dims_elements(&op->out.shape);
    kb_dtype to = (kb_dtype)op->out.dtype;
    double x[CHUNK];
    size_t chunk;

    for (uint64_t i = 0; i < n; i += chunk) {
        chunk = math_at_most(n - i, CHUNK);
        for (size_t j = 0; j < chunk; j++)
            x[j] = start + (double)(i + j) * step;
        cast_elements(to, out + i * kb_dtype_bytes(to), KB_F64, x, chunk);
    }
}

/* -- scans, and by index ---------------------------------------------------------------------- */

/* One chain of sums along a line, `total` so far. */
#define SCAN_LINE(T, NAME, DTYPE)                                                                  \
    static void scan_##NAME(const struct math_lane *line, uint64_t n, unsigned char *out)          \
    {                                                                                              \
        size_t bytes = kb_dtype_bytes(line->dtype), chunk;                                         \
        union chunk buffer, rounded;                                                               \
        T sums[CHUNK], total = 0;                                                                  \
                                                                                                   \
        for (uint64_t i = 0; i < n; i += chunk) {                                                  \
            const T *x;                                                                            \
                                                                                                   \
            chunk = math_at_most(n - i, CHUNK);                                                    \
            x = math_loaded(line, i, chunk, DTYPE, &buffer);                                       \
            for (size_t j = 0; j < chunk; j++)                                                     \
                sums[j] = total = total + x[j];                                                    \
            cast_elements(line->dtype, &rounded, DTYPE, sums, chunk);                              \
            scatter(out + i * (uint64_t)line->stride * bytes, &rounded, line->stride, bytes,       \
                    chunk);                                                                        \
        }                                                                                          \
    }

SCAN_LINE(float, f32, KB_F32)
SCAN_LINE(double, f64, KB_F64)
SCAN_LINE(uint64_t, u64, KB_U64)

static void run_scan(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    const unsigned char *begin = op->in[0].view.v->bytes + op->in[0].view.offset;

    for (uint64_t i = 0; i < l.outer * l.inner; i++) {
        struct math_lane line = line_of(op, &l, i);
        unsigned char *to = out + (line.at - begin);

        if (line.dtype == KB_F64)
            scan_f64(&line, l.n, to);
        else if (dtype_is_float(line.dtype))
            scan_f32(&line, l.n, to);
        else
            scan_u64(&line, l.n, to);
    }
}

static int64_t index_at(const struct op_tensor *t, uint64_t i)
{
    kb_dtype dtype = (kb_dtype)t->dtype;
    int64_t index;

    cast_elements(KB_I64, &index, dtype,
                  t->view.v->bytes + t->view.offset + i * kb_dtype_bytes(dtype), 1);
    return index;
}

bool math_index_is_off(const struct op *op, int64_t *index, uint64_t *place)
{
    uint64_t n = dims_elements(&op->in[1].shape), most = op->in[0].shape.dim[op->axis];

    for (*place = 0; *place < n; ++*place) {
        *index = index_at(&op->in[1], *place);
        if (*index < 0 || (uint64_t)*index >= most)
            return true;
    }
    return false;
}

/* Elements behind the axis go together. */
static void run_take(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    uint64_t run = l.inner * kb_dtype_bytes((kb_dtype)op->out.dtype);
    uint64_t n = dims_elements(&op->in[1].shape);
    const unsigned char *x = op->in[0].view.v->bytes + op->in[0].view.offset;

    for (uint64_t outer = 0; outer < l.outer; outer++)
        for (uint64_t i = 0; i < n; i++, out += run)
            memcpy(out, x + (outer * l.n + (uint64_t)index_at(&op->in[1], i)) * run, run);
}

/* A copy of x with y from element `first` of the axis on: rows of y one behind the other. */
static void run_update(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    const struct op_tensor *x = &op->in[0], *y = &op->in[1];
    uint64_t inner = l.inner * kb_dtype_bytes((kb_dtype)x->dtype);
    uint64_t n = y->shape.dim[op->axis] * inner, first = (uint64_t)op->in[2].scalar * inner;
    const unsigned char *from = y->view.v->bytes + y->view.offset;

    memcpy(out, x->view.v->bytes + x->view.offset, l.outer * l.n * inner);
    for (uint64_t i = 0; i < l.outer; i++)
        memcpy(out + i * l.n * inner + first, from + i * n, n);
}

bool math_run(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];

    switch ((enum math_group)math_rows[op->math].group) {
    case MATH_ELEMENT:
    case MATH_COMPARE:
        math_run_elements(op, out);
        break;
    case MATH_CAST:
        if (op_of_acc(op))
            math_run_acc_store(op, out);
        else
            cast_elements((kb_dtype)op->out.dtype, out, (kb_dtype)t->dtype,
                          t->view.v->bytes + t->view.offset, dims_elements(&t->shape));
        break;
    case MATH_REDUCE:
        if (op->sums)
            sum_sources((kb_dtype)t->dtype, t->shape.dim[0], t->shape.dim[1],
                        t->view.v->bytes + t->view.offset, out);
        else
            run_reduce(op, out);
        break;
    case MATH_SOFTMAX:
        run_softmax(op, out);
        break;
    case MATH_TRANSPOSE:
        run_transpose(op, out);
        break;
    case MATH_SOURCE:
        if (op->math == TL_RANDOM)
            math_run_random(op, out);
        else
            run_steps(op, out);
        break;
    case MATH_SCAN:
        run_scan(op, out);
        break;
    case MATH_ORDER:
        return math_run_order(op, out);
    case MATH_TAKE:
        run_take(op, out);
        break;
    case MATH_UPDATE:
        run_update(op, out);
        break;
    case MATH_FUSED:
        return math_run_fused(op, out, math_run);
    }
    return true;
}
