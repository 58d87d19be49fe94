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
 * and after_epilogues(); reference_element_of() of elementwise operations; line_sum() and
 * line_extreme() of reductions; softmax_line_same(); moved(), cast() and source().
 */
#include "phase2/reference.h"
#include <math.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/gemm.h"
#include "phase2/math_op.h"
#include "phase2/reference_parts.h"

static double coarser(double t, kb_dtype dtype)
{
    return dtype_is_float(dtype) && dtype_tolerance(dtype) > t ? dtype_tolerance(dtype) : t;
}

/* -- epilogues ------------------------------------------------------------------------------ */

/* The epilogues applied to one sum, as an element of dtype_acc; `index`, in C order, of the result.
 */
static struct number after_epilogues(const struct op *op, struct number acc, uint64_t index)
{
    const struct dims *d = &op->out.shape;
    struct dims matrix = {2, {d->dim[0], d->dim[1]}};
    kb_dtype dtype = (kb_dtype)(op->kind == OP_GEMM ? op->dtype_acc : op->in[0].dtype);

    for (uint32_t e = 0; e < op->n_epilogues; e++) {
        struct number x[3] = {acc, {.i = 0}, {.i = 0}};

        for (uint32_t o = 0; o < op->epilogue[e].n_operands; o++) {
            const struct op_tensor *t = &op->epilogue[e].operand[o];

            x[1 + o] = reference_of_tensor(
                t, t->is_scalar ? 0 : reference_place_in(&t->shape, &matrix, index));
            x[1 + o] = reference_as(dtype, x[1 + o], dtype_is_signed((kb_dtype)t->dtype));
        }
        acc = reference_value_of((enum tl_op)op->epilogue[e].math, dtype, x);
    }
    return acc;
}

/* -- shapes and constants ------------------------------------------------------------------- */

static struct wanted moved(const struct op *op, uint64_t index)
{
    const struct dims *s = &op->in[0].shape;
    uint64_t columns = s->dim[s->rank - 1], rows = s->dim[s->rank - 2];
    uint64_t first = index / (rows * columns) * rows * columns, at = index - first;

    return (struct wanted){reference_of_tensor(&op->in[0], first + at % rows * columns + at / rows),
                           0, 0, true};
}

static struct wanted cast(const struct op *op, uint64_t index)
{
    struct number x = reference_of_tensor(&op->in[0], index);

    if (op->n_epilogues) /* of an accumulator */
        x = after_epilogues(op, x, index);
    return (struct wanted){
        reference_as((kb_dtype)op->out.dtype, x, dtype_is_signed((kb_dtype)op->in[0].dtype)), 0, 0,
        false};
}

static double step_between(const struct op *op)
{
    switch ((enum tl_op)op->math) {
    case TL_ARANGE:
        return op->in[1].scalar;
    case TL_FULL:
        return -0.0; /* -0.0 and any number of these is -0.0, where 0.0 would make it 0.0 */
    case TL_RANDOM:
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
    struct number x = reference_of_float(op->in[0].scalar + (double)index * step);

    return (struct wanted){reference_as((kb_dtype)op->out.dtype, x, true), 0, 0, false};
}

/* Of a take: element [outer, place, inner] is that of the index at this place. */
static struct wanted picked(const struct op *op, uint64_t element)
{
    const struct dims *x = &op->in[0].shape;
    uint64_t inner = 1, n = dims_elements(&op->in[1].shape), along = x->dim[op->axis];
    struct number index;

    for (uint32_t i = (uint32_t)op->axis + 1; i < x->rank; i++)
        inner *= x->dim[i];
    index = reference_of_tensor(&op->in[1], element / inner % n);
    return (struct wanted){
        reference_of_tensor(&op->in[0],
                            (element / inner / n * along + index.i) * inner + element % inner),
        0, 0, true};
}

/* Of an update: the element of y if it has one for this place, else that of x. */
static struct wanted replaced(const struct op *op, uint64_t index)
{
    const struct dims *x = &op->in[0].shape, *y = &op->in[1].shape;
    uint64_t first = (uint64_t)op->in[2].scalar, place = 0, step = 1, rest = index;
    bool of_y = true;

    for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dim[axis]) {
        uint64_t at = rest % x->dim[axis] - (axis == (uint32_t)op->axis ? first : 0);

        of_y = of_y && at < y->dim[axis];
        place += at * step;
        step *= y->dim[axis];
    }
    return (struct wanted){reference_of_tensor(&op->in[of_y], of_y ? place : index), 0, 0, true};
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
        return op->math == TL_RANDOM ? reference_random(op, index) : source(op, index);
    case MATH_TAKE:
        return picked(op, index);
    case MATH_UPDATE:
        return replaced(op, index);
    case MATH_ELEMENT:
    case MATH_COMPARE:
        return reference_element_of(op, index);
    case MATH_FUSED: /* step by step */
    case MATH_ORDER: /* line by line */
    case MATH_SCAN:
    case MATH_REDUCE:
    case MATH_SOFTMAX:
        break;
    }
    return (struct wanted){.value = reference_of_float(NAN)};
}

static bool math_same(const struct op *op, const unsigned char *out, struct reference_difference *d)
{
    double t = dtype_tolerance((kb_dtype)op->out.dtype);

    if (op->n_epilogues)
        t = coarser(t, (kb_dtype)op->in[0].dtype);
    if (math_rows[op->math].group == MATH_REDUCE)
        return reference_reduce_same(op, out, t, d);
    if (math_rows[op->math].group == MATH_SOFTMAX)
        return reference_softmax_same(op, out, t, d);
    if (math_rows[op->math].group == MATH_SCAN)
        return reference_scan_same(op, out, t, d);
    if (math_rows[op->math].group == MATH_FUSED)
        return reference_fused_same(op, out, d);
    if (op->math == TL_TOPK)
        return reference_topk_same(op, out, d);
    if (op->math == TL_SORT)
        return reference_sort_same(op, out, d);
    for (uint64_t i = 0; i < dims_elements(&op->out.shape); i++) {
        struct wanted w = math_wanted(op, i);

        if (!reference_agrees(op, out, i, t, &w, d))
            return false;
    }
    return true;
}

/* -- products ------------------------------------------------------------------------------- */

struct product {
    const struct op *op;
    struct gemm_stride a, b, out;
    uint32_t number; /* of a batch */
    kb_dtype in;     /* the wider type of its operands */
    kb_dtype sums;   /* f64, or the integer type in which sums wrap */
    double t;
};

/* An element of an operand's matrix, which may be that of all products of a batch. Beside floats,
 * integers are floats. */
static struct number factor(const struct product *p, int operand, uint64_t i)
{
    const struct op_tensor *t = &p->op->in[operand];
    const uint32_t *dim = t->shape.dim;
    uint64_t before = t->shape.rank == 3 ? (uint64_t)p->number * dim[1] * dim[2] : 0;
    struct number n = reference_of_tensor(t, before + i);

    if (!dtype_is_float(p->in))
        return n;
    return reference_as(KB_F64, n, dtype_is_signed((kb_dtype)t->dtype));
}

/*
 * A row times a column, and the sum of the terms' magnitudes: the error of a sum depends on its
 * terms. 1000 - 1000 + 0.5 has scale 2000.5; in f16 it may be off by 2, although it is 0.5.
 */
static struct wanted row_times_column(const struct product *p, uint32_t i, uint32_t j)
{
    struct wanted w = {.value.is_float = dtype_is_float(p->in)};

    for (uint32_t k = 0; k < p->op->k; k++) {
        struct number a = factor(p, 0, (uint64_t)(i * p->a.row + k * p->a.column));
        struct number b = factor(p, 1, (uint64_t)(k * p->b.row + j * p->b.column));

        w.value.f += a.f * b.f;
        w.scale += fabs(a.f * b.f);
        w.value.i += a.i * b.i;
    }
    return w;
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
        struct number n = after_epilogues(p->op, reference_of_float(sum->value.f + side * off),
                                          (uint64_t)i * p->op->n + j);

        far = fmax(far, fabs(n.f - want));
    }
    return isnan(far) || isinf(far) ? 0 : far;
}

static struct wanted product_element(const struct product *p, uint32_t i, uint32_t j)
{
    const struct op *op = p->op;
    bool is_signed = dtype_is_signed((kb_dtype)op->in[0].dtype);
    struct wanted sum = row_times_column(p, i, j), w = sum;

    w.value = reference_as(p->sums, sum.value, is_signed);
    if (op->n_epilogues) {
        w.value = after_epilogues(op, reference_as((kb_dtype)op->dtype_acc, w.value, is_signed),
                                  (uint64_t)i * op->n + j);
        is_signed = dtype_is_signed((kb_dtype)op->dtype_acc);
        if (w.value.is_float && sum.value.is_float)
            w.slack = slack(p, &sum, w.value.f, i, j);
        w.scale = 0;
    }
    if (op->n_in > 2) { /* an accumulator, which is row-major */
        struct number before = reference_of_tensor(&op->in[2], (uint64_t)i * op->n + j);

        w.value.f += before.f;
        w.scale += fabs(before.f);
        w.value.i += before.i;
    }
    w.value = reference_as((kb_dtype)op->out.dtype, w.value, is_signed);
    return w;
}

static kb_dtype integer_sums(const struct op *op)
{
    bool is_signed = dtype_is_signed((kb_dtype)op->in[0].dtype);

    if (gemm_lane(op) == KB_U64)
        return is_signed ? KB_I64 : KB_U64;
    return is_signed ? KB_I32 : KB_U32;
}

/* The elements of one product of a batch. */
static bool matrix_same(const struct product *p, const unsigned char *out,
                        struct reference_difference *d)
{
    const struct op *op = p->op;
    uint64_t before = (uint64_t)p->number * op->m * op->n;

    for (uint32_t i = 0; i < op->m; i++)
        for (uint32_t j = 0; j < op->n; j++) {
            struct wanted w = product_element(p, i, j);
            uint64_t at = before + (uint64_t)(i * p->out.row + j * p->out.column);

            if (!reference_agrees(op, out, at, p->t, &w, d))
                return false;
        }
    return true;
}

/*
 * Every element is computed from a row and a column, M * N * K steps without any blocking.
 * `run gemm M=256 N=256 K=256` takes 0.01 s with --phase2 on and 0.4 s with --verify=ops, one
 * thread: the price of a reference that can be checked by reading.
 */
static bool product_same(const struct op *op, const unsigned char *out,
                         struct reference_difference *d)
{
    struct product p = {.op = op, .in = op_operands_dtype(op), .sums = KB_F64};

    p.t = dtype_tolerance(gemm_lane(op));
    p.t = coarser(p.t, (kb_dtype)op->out.dtype);
    if (op->n_epilogues)
        p.t = coarser(p.t, (kb_dtype)op->dtype_acc);
    if (!dtype_is_float(p.in))
        p.sums = integer_sums(op);
    gemm_strides(op, &p.a, &p.b, &p.out);
    for (p.number = 0; p.number < op_batch(op); p.number++)
        if (!matrix_same(&p, out, d))
            return false;
    return true;
}

bool reference_same(const struct op *op, const unsigned char *out, struct reference_difference *d)
{
    return op->kind == OP_GEMM ? product_same(op, out, d) : math_same(op, out, d);
}
