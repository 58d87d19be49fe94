/* reference.c -- the reference implementation: operations, element by element, by simple loops.
 *
 * It shares only conversions and strides with gemm.c and math.c, and is checked by reading. Each
 * element of a result is computed from the operands: floats in f64, integers modulo 2^64. Then it
 * is compared with the element to be verified. Integers, comparisons and moves must be equal. A
 * float may differ by
 *
 *     t * max(1, scale) + t * |want| + slack
 *
 * where t depends on the coarsest type on the way, and scale is the sum of the magnitudes of a
 * sum's terms. Example: a dot of f16 with K = 4096 and terms of about +-1 has t = 1e-3 and scale =
 * 4096. Its sum may be about 64, but may be off by 4.1, because larger terms may have cancelled.
 *
 * An epilogue may enlarge the error of its sum, exp() for example. So it is also applied to the sum
 * plus and minus its tolerance, and the larger difference is the slack.
 *
 * The tolerance, by type of the result (docs/kernels.md "Phase 2 in numbers"): f64 1e-10, f32
 * 1e-5, f16 1e-3, bf16 1e-2. Of a product it is the coarsest of three: the type of its sums, of
 * the accumulator if there are epilogues, of the result. An f16 sum of two that should be 1.5 may
 * be off by 1e-3 + 1.5e-3 = 2.5e-3, where neighbours in f16 are 2^-10, about 1e-3, apart.
 *
 * A result that is the wanted value rounded to its type is always right, however small the
 * tolerance. NaN agrees with NaN only. An infinite result is right if the wanted value, moved by
 * the tolerance, rounds to infinity: 65519 in f16 is 65504, and 65520 is infinite.
 *
 * The way in is reference_same(), at the end of the file: product_same() for a GEMM, math_same()
 * for all else. From there, one function makes the wanted value of one element: row_times_column()
 * and after_epilogues(); element_of() of elementwise operations; line_sum() and line_extreme() of
 * reductions; softmax_line_same(); moved(), cast() and source().
 */
#include "phase2/reference.h"
#include "data/dtype.h"
#include "data/cast.h"
#include "phase2/gemm.h"
#include "phase2/math_op.h"
#include "base/text.h"
#include <stdio.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* An element: a float as f64, an integer modulo 2^64, sign-extended by its type. */
struct number {
    bool is_float;
    double f;
    uint64_t i;
};

/* The right value of an element, and how far a float may be from it. */
struct wanted {
    struct number value;
    double scale; /* of its terms: reference.h */
    double slack; /* further tolerance */
    bool exact;
};

static struct number of_float(double f)
{
    return (struct number){.is_float = true, .f = f};
}

static struct number of_integer(uint64_t i)
{
    return (struct number){.i = i};
}

static struct number element(kb_dtype dtype, const unsigned char *bytes, uint64_t i)
{
    struct number n = {.is_float = dtype_is_float(dtype)};

    if (n.is_float)
        n.f = kb_element(dtype, bytes, i);
    else
        cast_elements(KB_U64, &n.i, dtype, bytes + i * kb_dtype_bytes(dtype), 1);
    return n;
}

static struct number of_tensor(const struct op_tensor *t, uint64_t i)
{
    unsigned char rounded[8];

    if (!t->is_scalar)
        return element((kb_dtype)t->dtype, t->view.v->bytes + t->view.offset, i);
    kb_element_set((kb_dtype)t->dtype, rounded, 0, t->scalar);
    return element((kb_dtype)t->dtype, rounded, 0);
}

/*
 * As an element of `dtype`; a float stays unrounded. Integers of a narrower type wrap: 200 as i8
 * is -56, and as a number it is 2^64 - 56, sign-extended.
 */
static struct number as(kb_dtype dtype, struct number n, bool is_signed)
{
    unsigned char bytes[8];

    if (n.is_float && dtype_is_float(dtype))
        return n;
    if (dtype_is_float(dtype))
        return of_float(is_signed ? (double)(int64_t)n.i : (double)n.i);
    if (n.is_float)
        cast_elements(dtype, bytes, KB_F64, &n.f, 1);
    else
        cast_elements(dtype, bytes, KB_U64, &n.i, 1);
    return element(dtype, bytes, 0);
}

/* -- comparing ------------------------------------------------------------------------------ */

static double rounded(kb_dtype dtype, double value)
{
    unsigned char bytes[8];

    cast_elements(dtype, bytes, KB_F64, &value, 1);
    return kb_element(dtype, bytes, 0);
}

/*
 * In this order: NaN, equal after rounding, operations that round nothing, infinities, the
 * tolerance. The first two need no tolerance, so they come before it.
 */
static bool floats_agree(kb_dtype dtype, double t, double got, const struct wanted *w)
{
    double want = w->value.f, far = t * fmax(1, w->scale) + t * fabs(want) + w->slack;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (got == rounded(dtype, want))
        return true;
    if (w->exact)
        return false;
    if (isinf(got)) /* it was nearly that large before rounding */
        return got == rounded(dtype, want + copysign(far, got));
    return fabs(got - want) <= far;
}

static void describe(kb_dtype dtype, struct number n, char text[32])
{
    if (n.is_float)
        text_format(text, 32, "%.9g", n.f);
    else if (dtype_is_signed(dtype))
        snprintf(text, 32, "%" PRId64, (int64_t)n.i);
    else
        snprintf(text, 32, "%" PRIu64, n.i);
}

/* Element `index` of the result; `t`: of floats. */
static bool agrees(const struct op *op, const unsigned char *out, uint64_t index, double t,
                   const struct wanted *w, struct reference_difference *d)
{
    kb_dtype dtype = (kb_dtype)op->out.dtype;
    struct number got = element(dtype, out, index);

    if (got.is_float ? floats_agree(dtype, t, got.f, w) : got.i == w->value.i)
        return true;
    d->index = index;
    describe(dtype, got, d->got);
    describe(dtype, w->value, d->want);
    return false;
}

/* -- elementwise ---------------------------------------------------------------------------- */

#define NO_TRAP __attribute__((no_sanitize("float-divide-by-zero")))

NO_TRAP static double float_value(enum tl_op math, double x, double y, double z)
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
        return fabs(x);
    case TL_MAXIMUM:
        return isnan(x) || isnan(y) ? NAN : fmax(x, y);
    case TL_MINIMUM:
        return isnan(x) || isnan(y) ? NAN : fmin(x, y);
    case TL_FMA:
        return fma(x, y, z);
    case TL_CLAMP:
        return isnan(x) || isnan(y) || isnan(z) ? NAN : fmin(fmax(x, y), z);
    case TL_EXP:
        return exp(x);
    case TL_LOG:
        return log(x);
    case TL_SQRT:
        return sqrt(x);
    case TL_RSQRT:
        return 1 / sqrt(x);
    case TL_TANH:
        return tanh(x);
    case TL_SIGMOID:
        return 1 / (1 + exp(-x));
    case TL_ERF:
        return erf(x);
    case TL_WHERE:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return NAN;
}

static bool less(bool is_signed, uint64_t x, uint64_t y)
{
    return is_signed ? (int64_t)x < (int64_t)y : x < y;
}

/*
 * By magnitudes and a sign, since the machine's own division traps for the smallest integer
 * divided by -1. By zero it is 0.
 */
static uint64_t quotient(bool is_signed, uint64_t x, uint64_t y)
{
    bool negative = is_signed && (x ^ y) >> 63;
    uint64_t q;

    if (y == 0)
        return 0;
    if (is_signed) {
        x = x >> 63 ? -x : x;
        y = y >> 63 ? -y : y;
    }
    q = x / y;
    return negative ? -q : q;
}

static uint64_t integer_value(enum tl_op math, bool is_signed, uint64_t x, uint64_t y, uint64_t z)
{
    switch (math) {
    case TL_ADD:
        return x + y;
    case TL_SUB:
        return x - y;
    case TL_MUL:
        return x * y;
    case TL_DIV:
        return quotient(is_signed, x, y);
    case TL_NEG:
        return -x;
    case TL_ABS:
        return less(is_signed, x, 0) ? -x : x;
    case TL_MAXIMUM:
        return less(is_signed, x, y) ? y : x;
    case TL_MINIMUM:
        return less(is_signed, y, x) ? y : x;
    case TL_CLAMP:
        x = less(is_signed, x, y) ? y : x;
        return less(is_signed, z, x) ? z : x;
    CASES_OF_FLOATS:
    CASES_SPECIAL:
    case TL_WHERE:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return 0;
}

/* -1, 0, 1; 2: one of them is NaN. */
static int order(bool is_signed, struct number x, struct number y)
{
    if (x.is_float)
        return x.f < y.f ? -1 : x.f > y.f ? 1 : x.f == y.f ? 0 : 2;
    return less(is_signed, x.i, y.i) ? -1 : x.i != y.i;
}

static bool compares(enum tl_op math, int o)
{
    switch (math) {
    case TL_LT:
        return o == -1;
    case TL_LE:
        return o == -1 || o == 0;
    case TL_GT:
        return o == 1;
    case TL_GE:
        return o == 1 || o == 0;
    case TL_EQ:
        return o == 0;
    case TL_NE:
        return o != 0;
    CASES_ELEMENT:
    CASES_REDUCE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return false;
}

/* One element, in `dtype`. */
static struct number value_of(enum tl_op math, kb_dtype dtype, const struct number x[3])
{
    bool is_signed = dtype_is_signed(dtype);

    if (math_rows[math].group == MATH_COMPARE)
        return of_integer(compares(math, order(is_signed, x[0], x[1])));
    if (math == TL_WHERE)
        return x[0].i != 0 ? x[1] : x[2];
    if (x[0].is_float)
        return of_float(float_value(math, x[0].f, x[1].f, x[2].f));
    return as(dtype, of_integer(integer_value(math, is_signed, x[0].i, x[1].i, x[2].i)), false);
}

/* The index of the operand's element that is broadcast to element `index` of the result. */
static uint64_t place_in(const struct dims *shape, const struct dims *to, uint64_t index)
{
    int64_t stride[KB_RANK_MAX];
    uint64_t place = 0;

    math_strides(shape, to, stride);
    for (uint32_t axis = to->rank; axis-- > 0; index /= to->dim[axis])
        place += index % to->dim[axis] * (uint64_t)stride[axis];
    return place;
}

static bool only_selects(enum tl_op math)
{
    return math == TL_NEG || math == TL_ABS || math == TL_MAXIMUM || math == TL_MINIMUM ||
           math == TL_CLAMP || math == TL_WHERE;
}

/* The type of the tensors, whose elements are compared or computed. */
static kb_dtype tensors_dtype(const struct op *op)
{
    const struct op_tensor *t = &op->in[op->math == TL_WHERE];

    while (t->is_scalar) /* one of them is none */
        t++;
    return (kb_dtype)t->dtype;
}

static struct wanted element_of(const struct op *op, uint64_t index)
{
    struct wanted w = {.exact = only_selects((enum tl_op)op->math)};
    struct number x[3] = {{.i = 0}};

    for (uint32_t i = 0; i < op->n_in; i++) {
        const struct op_tensor *t = &op->in[i];

        x[i] = of_tensor(t, t->is_scalar ? 0 : place_in(&t->shape, &op->out.shape, index));
    }
    w.value = value_of((enum tl_op)op->math, tensors_dtype(op), x);
    return w;
}

/* -- over an axis --------------------------------------------------------------------------- */

struct line {
    const struct op_tensor *t;
    uint64_t first, stride, n;
};

static struct number on_line(const struct line *l, uint64_t i)
{
    return of_tensor(l->t, l->first + i * l->stride);
}

static struct wanted line_sum(const struct op *op, const struct line *l)
{
    struct wanted w = {.value.is_float = dtype_is_float((kb_dtype)op->out.dtype)};
    double n = op->math == TL_MEAN ? (double)l->n : 1;

    for (uint64_t i = 0; i < l->n; i++) {
        struct number x = on_line(l, i);

        w.value.f += x.f / n;
        w.scale += fabs(x.f) / n;
        w.value.i += x.i;
    }
    if (!w.value.is_float)
        w.value = as((kb_dtype)op->out.dtype, w.value, false);
    return w;
}

static bool better(enum tl_op math, bool is_signed, struct number x, struct number best)
{
    int o = order(is_signed, x, best);

    if (best.is_float && isnan(best.f))
        return false;
    return o == 2 || o == (math == TL_MIN ? -1 : 1);
}

static struct wanted line_extreme(const struct op *op, const struct line *l)
{
    struct wanted w = {.value = on_line(l, 0), .exact = true};
    uint64_t place = 0;

    for (uint64_t i = 1; i < l->n; i++) {
        struct number x = on_line(l, i);

        if (better((enum tl_op)op->math, dtype_is_signed((kb_dtype)l->t->dtype), x, w.value)) {
            w.value = x;
            place = i;
        }
    }
    if (op->math == TL_ARGMAX)
        w.value = of_integer(place);
    return w;
}

static struct line line_of(const struct op *op, uint64_t number)
{
    struct math_lines l = math_lines(op);

    return (struct line){&op->in[0], number / l.inner * l.n * l.inner + number % l.inner, l.inner,
                         l.n};
}

static struct wanted reduced(const struct op *op, const struct line *l)
{
    switch ((enum tl_op)op->math) {
    case TL_SUM:
    case TL_MEAN:
        return line_sum(op, l);
    case TL_MAX:
    case TL_MIN:
    case TL_ARGMAX:
        return line_extreme(op, l);
    CASES_ELEMENT:
    CASES_COMPARE:
    CASES_SOURCE:
    CASES_WHOLE:
        break;
    }
    return (struct wanted){.value = of_float(NAN)};
}

static bool reduce_same(const struct op *op, const unsigned char *out, double t,
                        struct reference_difference *d)
{
    for (uint64_t i = 0; i < dims_elements(&op->out.shape); i++) {
        struct line l = line_of(op, i);
        struct wanted w = reduced(op, &l);

        if (!agrees(op, out, i, t, &w, d))
            return false;
    }
    return true;
}

NO_TRAP static bool softmax_line_same(const struct op *op, const unsigned char *out,
                                      const struct line *l, double t,
                                      struct reference_difference *d)
{
    double largest = -INFINITY, sum = 0;

    for (uint64_t i = 0; i < l->n; i++) {
        double x = on_line(l, i).f;

        largest = isnan(x) || x > largest ? x : largest;
    }
    for (uint64_t i = 0; i < l->n; i++)
        sum += exp(on_line(l, i).f - largest);
    for (uint64_t i = 0; i < l->n; i++) {
        struct wanted w = {.value = of_float(exp(on_line(l, i).f - largest) / sum)};

        if (!agrees(op, out, l->first + i * l->stride, t, &w, d))
            return false;
    }
    return true;
}

static bool softmax_same(const struct op *op, const unsigned char *out, double t,
                         struct reference_difference *d)
{
    struct math_lines lines = math_lines(op);

    for (uint64_t i = 0; i < lines.outer * lines.inner; i++) {
        struct line l = line_of(op, i);

        if (!softmax_line_same(op, out, &l, t, d))
            return false;
    }
    return true;
}

/* -- shapes and constants ------------------------------------------------------------------- */

static struct wanted moved(const struct op *op, uint64_t index)
{
    const struct dims *s = &op->in[0].shape;
    uint64_t columns = s->dim[s->rank - 1], rows = s->dim[s->rank - 2];
    uint64_t first = index / (rows * columns) * rows * columns, at = index - first;

    return (struct wanted){of_tensor(&op->in[0], first + at % rows * columns + at / rows), 0, 0,
                           true};
}

static struct wanted cast(const struct op *op, uint64_t index)
{
    struct number x = of_tensor(&op->in[0], index);

    return (struct wanted){
        as((kb_dtype)op->out.dtype, x, dtype_is_signed((kb_dtype)op->in[0].dtype)), 0, 0, false};
}

static double step_between(const struct op *op)
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

static struct wanted source(const struct op *op, uint64_t index)
{
    double step = step_between(op);
    struct number x = of_float(op->in[0].scalar + (double)index * step);

    return (struct wanted){as((kb_dtype)op->out.dtype, x, true), 0, 0, false};
}

/* Of operations whose elements are computed one by one. */
static struct wanted math_wanted(const struct op *op, uint64_t index)
{
    switch ((enum math_group)math_rows[op->math].group) {
    case MATH_CAST:
        return cast(op, index);
    case MATH_TRANSPOSE:
        return moved(op, index);
    case MATH_SOURCE:
        return source(op, index);
    case MATH_ELEMENT:
    case MATH_COMPARE:
        return element_of(op, index);
    case MATH_REDUCE: /* line by line */
    case MATH_SOFTMAX:
        break;
    }
    return (struct wanted){.value = of_float(NAN)};
}

static bool math_same(const struct op *op, const unsigned char *out, struct reference_difference *d)
{
    double t = dtype_tolerance((kb_dtype)op->out.dtype);

    if (math_rows[op->math].group == MATH_REDUCE)
        return reduce_same(op, out, t, d);
    if (math_rows[op->math].group == MATH_SOFTMAX)
        return softmax_same(op, out, t, d);
    for (uint64_t i = 0; i < dims_elements(&op->out.shape); i++) {
        struct wanted w = math_wanted(op, i);

        if (!agrees(op, out, i, t, &w, d))
            return false;
    }
    return true;
}

/* -- products ------------------------------------------------------------------------------- */

struct product {
    const struct op *op;
    struct gemm_stride a, b, out;
    kb_dtype sums; /* f64, or the integer type in which sums wrap */
    double t;
};

/*
 * A row times a column, and the sum of the terms' magnitudes: the error of a sum depends on its
 * terms. 1000 - 1000 + 0.5 has scale 2000.5; in f16 it may be off by 2, although it is 0.5.
 */
static struct wanted row_times_column(const struct product *p, uint32_t i, uint32_t j)
{
    struct wanted w = {.value.is_float = dtype_is_float((kb_dtype)p->op->in[0].dtype)};

    for (uint32_t k = 0; k < p->op->k; k++) {
        struct number a = of_tensor(&p->op->in[0], (uint64_t)(i * p->a.row + k * p->a.column));
        struct number b = of_tensor(&p->op->in[1], (uint64_t)(k * p->b.row + j * p->b.column));

        w.value.f += a.f * b.f;
        w.scale += fabs(a.f * b.f);
        w.value.i += a.i * b.i;
    }
    return w;
}

/* The epilogues applied to one sum, as an element of dtype_acc. */
static struct number after_epilogues(const struct product *p, struct number acc, uint32_t i,
                                     uint32_t j)
{
    const struct op *op = p->op;
    struct dims matrix = {2, {op->m, op->n}};
    kb_dtype dtype = (kb_dtype)op->dtype_acc;

    for (uint32_t e = 0; e < op->n_epilogues; e++) {
        struct number x[3] = {acc, {.i = 0}, {.i = 0}};

        for (uint32_t o = 0; o < op->epilogue[e].n_operands; o++) {
            const struct op_tensor *t = &op->epilogue[e].operand[o];
            uint64_t at = (uint64_t)i * op->n + j;

            x[1 + o] = of_tensor(t, t->is_scalar ? 0 : place_in(&t->shape, &matrix, at));
            x[1 + o] = as(dtype, x[1 + o], dtype_is_signed((kb_dtype)t->dtype));
        }
        acc = value_of((enum tl_op)op->epilogue[e].math, dtype, x);
    }
    return acc;
}

/*
 * How far an element may be off because its sum may be: the epilogues of a sum that is off. If
 * exp() follows a sum of 5 that may be off by 0.01, the result is e^5 = 148.41, and may be off by
 * e^5.01 - e^5 = 1.49, the larger of both sides. Where the function is flat, as relu below 0, it
 * is 0.
 */
static double slack(const struct product *p, const struct wanted *sum, double want, uint32_t i,
                    uint32_t j)
{
    double off = p->t * fmax(1, sum->scale), far = 0;

    for (int side = -1; side <= 1; side += 2) {
        struct number n = after_epilogues(p, of_float(sum->value.f + side * off), i, j);

        far = fmax(far, fabs(n.f - want));
    }
    return isnan(far) || isinf(far) ? 0 : far;
}

static struct wanted product_element(const struct product *p, uint32_t i, uint32_t j)
{
    const struct op *op = p->op;
    bool is_signed = dtype_is_signed((kb_dtype)op->in[0].dtype);
    struct wanted sum = row_times_column(p, i, j), w = sum;

    w.value = as(p->sums, sum.value, is_signed);
    if (op->n_epilogues) {
        w.value = after_epilogues(p, as((kb_dtype)op->dtype_acc, w.value, is_signed), i, j);
        is_signed = dtype_is_signed((kb_dtype)op->dtype_acc);
        if (w.value.is_float && sum.value.is_float)
            w.slack = slack(p, &sum, w.value.f, i, j);
        w.scale = 0;
    }
    w.value = as((kb_dtype)op->out.dtype, w.value, is_signed);
    return w;
}

static kb_dtype integer_sums(const struct op *op)
{
    bool is_signed = dtype_is_signed((kb_dtype)op->in[0].dtype);

    if (gemm_lane(op) == KB_U64)
        return is_signed ? KB_I64 : KB_U64;
    return is_signed ? KB_I32 : KB_U32;
}

static double coarser(double t, kb_dtype dtype)
{
    return dtype_is_float(dtype) && dtype_tolerance(dtype) > t ? dtype_tolerance(dtype) : t;
}

/*
 * Every element is computed from a row and a column, M * N * K steps without any blocking.
 * `run gemm M=256 N=256 K=256` takes 0.01 s with --phase2 on and 0.4 s with --verify=ops, one
 * thread: the price of a reference that can be checked by reading.
 */
static bool product_same(const struct op *op, const unsigned char *out,
                         struct reference_difference *d)
{
    struct product p = {.op = op, .sums = KB_F64};

    p.t = dtype_tolerance(gemm_lane(op));
    p.t = coarser(p.t, (kb_dtype)op->out.dtype);
    if (op->n_epilogues)
        p.t = coarser(p.t, (kb_dtype)op->dtype_acc);
    if (!dtype_is_float((kb_dtype)op->in[0].dtype))
        p.sums = integer_sums(op);
    gemm_strides(op, &p.a, &p.b, &p.out);
    for (uint32_t i = 0; i < op->m; i++)
        for (uint32_t j = 0; j < op->n; j++) {
            struct wanted w = product_element(&p, i, j);

            if (!agrees(op, out, (uint64_t)(i * p.out.row + j * p.out.column), p.t, &w, d))
                return false;
        }
    return true;
}

bool reference_same(const struct op *op, const unsigned char *out, struct reference_difference *d)
{
    return op->kind == OP_GEMM ? product_same(op, out, d) : math_same(op, out, d);
}
