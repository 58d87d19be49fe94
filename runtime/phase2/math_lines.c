/* math_lines.c -- operations of Phase 2 along lines of a tensor: reductions, softmax, scans.
 *
 * Sums are pairwise, in an order that depends only on the number of elements: their bytes are the
 * same for any layout and any number of threads.
 *
 * The way of one operation, softmax(x) of [4, 256] in f16 along the last axis, from math_run():
 *
 *     math_run_softmax()  4 lines of 256, stride 1 (math_lines()). For each line:
 *     extreme_f64()       its largest element, exactly
 *     powers_f32()        exp(x - largest): loaded as f32, computed in f64, rounded to f32
 *     sums_add_f32()      the sum of the chunk, in the order of any sum of 256 elements
 *     cast_elements()     each power divided by the sum, and rounded to f16 once
 */
#include <math.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/math_parts.h"

static void scatter(void *to, const void *from, int64_t stride, size_t bytes, size_t n)
{
#define SCATTER(T)                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((T *)to)[(int64_t)i * stride] = ((const T *)from)[i];
    BY_SIZE(bytes, SCATTER)
}

/* -- sums, extremes ------------------------------------------------------------------------- */

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

void math_run_reduce(const struct op *op, unsigned char *out)
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

void math_run_softmax(const struct op *op, unsigned char *out)
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

/* -- scans ---------------------------------------------------------------------------------- */

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

void math_run_scan(const struct op *op, unsigned char *out)
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
