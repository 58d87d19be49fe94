/* reference_fused.c -- the reference implementation of fused operations: step by step, by plain
 * loops.
 *
 * Each step's result is computed in f64 and rounded to the type of the computation, as the product
 * rounds it. With each value goes how far it may be off: exp() and its like are not exact to the
 * last bit, and sums are added up in another order. A step moves these errors on: an operation is
 * applied to each operand plus and minus its own.
 *
 * Example, softmax in f32: x and the largest are exact, and so is their difference; its exp() may
 * be off by a unit in the last place, the sum of n of these by n of them and by its own roundings.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/reference_parts.h"

/* A value, and how far it may be off. */
struct about {
    double value, off;
};

struct fused {
    const struct op *op;
    kb_dtype dtype;
    struct dims shape[TL_FUSED_STEPS];
    struct about *step[TL_FUSED_STEPS]; /* owned; all elements */
};

/* A unit in the last place, nearly. */
static double unit(kb_dtype dtype, double value)
{
    return fabs(value) * (dtype == KB_F64 ? 2.3e-16 : 1.2e-7);
}

static double rounded(kb_dtype dtype, double value)
{
    unsigned char bytes[8];

    cast_elements(dtype, bytes, KB_F64, &value, 1);
    return kb_element(dtype, bytes, 0);
}

/* Operand `o` of step `i`, for element `index` of `to`. */
static struct about operand(const struct fused *f, uint32_t i, int o, const struct dims *to,
                            uint64_t index)
{
    const struct op_step *step = &f->op->step[i];
    int at = step->operand[o];
    uint64_t place = reference_place_in(op_step_shape(f->op, f->shape, step, o), to, index);

    if (at < 0)
        return f->step[-1 - at][place];
    return (struct about){rounded(f->dtype, reference_of_tensor(&f->op->in[at - 1], place).f), 0};
}

/* An elementwise operation; a condition is what is not 0, and a comparison gives 1 or 0. */
static double apply(enum tl_op math, kb_dtype dtype, const double x[3])
{
    struct number n[3], result;

    for (int i = 0; i < 3; i++)
        n[i] = reference_of_float(x[i]);
    if (math == TL_WHERE)
        n[0] = reference_of_integer(x[0] != 0);
    result = reference_value_of(math, dtype, n);
    return result.is_float ? result.f : (double)result.i;
}

/* How much the result changes as operand `o` moves by its error. */
static double moved_by(enum tl_op math, kb_dtype dtype, const double x[3], int o, double off,
                       double value)
{
    double far = 0;

    for (int side = -1; off > 0 && side <= 1; side += 2) {
        double y[3] = {x[0], x[1], x[2]};

        y[o] += side * off;
        far = fmax(far, fabs(apply(math, dtype, y) - value));
    }
    return isfinite(far) ? far : 0;
}

static struct about element(const struct fused *f, uint32_t i, uint64_t index)
{
    const struct op_step *step = &f->op->step[i];
    enum tl_op math = (enum tl_op)step->math;
    struct about out = {0, 0};
    double x[3] = {0, 0, 0}, off[3] = {0, 0, 0};

    for (int o = 0; o < math_rows[math].operands; o++) {
        struct about a = operand(f, i, o, &f->shape[i], index);

        x[o] = a.value;
        off[o] = a.off;
    }
    if (math == TL_CAST) {
        out.value = rounded((kb_dtype)step->out, x[0]);
        out.off = off[0] > 0 ? off[0] + dtype_tolerance((kb_dtype)step->out) * fabs(x[0]) : 0;
        return out;
    }
    out.value = rounded(f->dtype, apply(math, f->dtype, x));
    for (int o = 0; o < 3; o++)
        out.off += moved_by(math, f->dtype, x, o, off[o], out.value);
    if (math_rows[math].cost == COST_SPECIAL || out.off > 0)
        out.off += 2 * unit(f->dtype, out.value);
    return out;
}

/* Over the last axis; a NaN is the largest, and the least. */
static struct about line(const struct fused *f, uint32_t i, uint64_t index)
{
    enum tl_op math = (enum tl_op)f->op->step[i].math;
    const struct dims *from = op_step_shape(f->op, f->shape, &f->op->step[i], 0);
    uint64_t n = from->dim[from->rank - 1];
    double parts = math == TL_MEAN ? (double)n : 1, scale = 0;
    bool adds = math == TL_SUM || math == TL_MEAN;
    struct about out = {0, 0};

    for (uint64_t j = 0; j < n; j++) {
        struct about x = operand(f, i, 0, from, index * n + j);
        bool better = math == TL_MIN ? x.value < out.value : x.value > out.value;

        if (adds)
            out.value += x.value / parts;
        else if (j == 0 || (!isnan(out.value) && (better || isnan(x.value))))
            out.value = x.value;
        out.off = adds ? out.off + x.off / parts : fmax(out.off, x.off);
        scale += fabs(x.value) / parts;
    }
    if (adds)
        out.off += (double)n * unit(f->dtype, scale);
    out.value = rounded(f->dtype, out.value);
    return out;
}

static bool compute(struct fused *f, uint32_t i)
{
    uint64_t n = dims_elements(&f->shape[i]);
    bool reduces = math_rows[f->op->step[i].math].group == MATH_REDUCE;

    f->step[i] = malloc(n * sizeof *f->step[i]);
    for (uint64_t e = 0; f->step[i] && e < n; e++)
        f->step[i][e] = reduces ? line(f, i, e) : element(f, i, e);
    return f->step[i];
}

/* As an element of the type that is stored: integers are cut off, bool is what is not 0. */
static struct wanted stored(kb_dtype dtype, double value, double off)
{
    return (struct wanted){reference_as(dtype, reference_of_float(value), true), 0, off, false};
}

/* An integer that may be off is one of three. */
static bool result_same(const struct op *one, const unsigned char *out, uint64_t e,
                        const struct about *x, struct reference_difference *d)
{
    kb_dtype dtype = (kb_dtype)one->out.dtype;
    double t = dtype_tolerance(dtype);

    for (int side = 1; side >= -1; side--) {
        struct wanted w = stored(dtype, x->value + (side ? side * x->off : 0), x->off);

        if (side && dtype_is_float(dtype))
            continue;
        if (reference_agrees(one, out, e, t, &w, d))
            return true;
    }
    return false;
}

/* Elements are counted through all results. */
static bool results_same(const struct fused *f, const unsigned char *out,
                         struct reference_difference *d)
{
    struct op_result result[TL_FUSED_STEPS];
    uint32_t n = op_fused_results(f->op, f->shape, result);
    uint64_t before = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t step = result[i].step;
        struct op one = {.kind = OP_MATH, .math = f->op->step[step].math};
        uint64_t elements = dims_elements(&f->shape[step]);

        one.out.dtype = f->op->step[step].out;
        for (uint64_t e = 0; e < elements; e++)
            if (!result_same(&one, out + result[i].at, e, &f->step[step][e], d)) {
                d->index += before;
                return false;
            }
        before += elements;
    }
    return true;
}

bool reference_fused_same(const struct op *op, const unsigned char *out,
                          struct reference_difference *d)
{
    struct fused f = {.op = op, .dtype = op_fused_dtype(op)};
    bool ok = true, same = false;

    op_fused_shapes(op, f.shape);
    for (uint32_t i = 0; ok && i < op->n_steps; i++)
        ok = compute(&f, i);
    if (ok)
        same = results_same(&f, out, d);
    else
        *d = (struct reference_difference){0, "not compared", "out of memory"};
    for (uint32_t i = 0; i < TL_FUSED_STEPS; i++)
        free(f.step[i]);
    return same;
}
