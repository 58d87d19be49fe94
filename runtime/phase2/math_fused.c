/* math_fused.c -- fused operations: step by step, each as the operation that it is alone.
 *
 * Inputs are converted to the type of the computation, f32 or f64. Each step is then an operation
 * of math.c on what the steps before have made, whole tensors in memory of the host: so the bytes
 * are those of the commands one by one, and no arithmetic is written twice.
 */
#include <stdlib.h>
#include <string.h>
#include "data/cast.h"
#include "phase2/math_parts.h"

/* What can be an operand of a step: inputs, then steps. */
struct values {
    const struct op *op;
    kb_dtype dtype; /* of the computation */
    struct dims shape[TL_FUSED_STEPS];
    struct version in[TL_FUSED_INPUTS], step[TL_FUSED_STEPS]; /* their bytes are owned */
};

static bool make_room(struct version *v, uint64_t elements, kb_dtype dtype)
{
    v->nbytes = elements * kb_dtype_bytes(dtype);
    v->bytes = malloc(v->nbytes);
    return v->bytes;
}

/* A scalar becomes a tensor of one element, without axes. */
static bool convert_inputs(struct values *x)
{
    for (uint32_t i = 0; i < x->op->n_in; i++) {
        const struct op_tensor *t = &x->op->in[i];
        uint64_t n = t->is_scalar ? 1 : dims_elements(&t->shape);

        if (!make_room(&x->in[i], n, x->dtype))
            return false;
        if (t->is_scalar)
            cast_elements(x->dtype, x->in[i].bytes, KB_F64, &t->scalar, 1);
        else
            cast_elements(x->dtype, x->in[i].bytes, (kb_dtype)t->dtype,
                          t->view.v->bytes + t->view.offset, n);
    }
    return true;
}

static struct op_tensor operand_of(struct values *x, const struct op_step *step, int i)
{
    int at = step->operand[i];
    struct op_tensor t = {.dtype = (uint8_t)x->dtype,
                          .shape = *op_step_shape(x->op, x->shape, step, i)};

    t.view.v = at > 0 ? &x->in[at - 1] : &x->step[-1 - at];
    return t;
}

/* As its type has it, in the type of the computation again. */
static bool round_to(struct values *x, uint32_t i)
{
    kb_dtype dtype = (kb_dtype)x->op->step[i].out;
    uint64_t n = dims_elements(&x->shape[i]);
    unsigned char *rounded = malloc(n * kb_dtype_bytes(dtype));

    if (!rounded)
        return false;
    cast_elements(dtype, rounded, x->dtype, x->step[i].bytes, n);
    cast_elements(x->dtype, x->step[i].bytes, dtype, rounded, n);
    free(rounded);
    return true;
}

static bool run_step(struct values *x, uint32_t i, math_runner *run)
{
    const struct op_step *step = &x->op->step[i];
    struct op one = {.kind = OP_MATH, .math = step->math, .n_in = math_rows[step->math].operands};

    if (!make_room(&x->step[i], dims_elements(&x->shape[i]), x->dtype))
        return false;
    for (uint32_t o = 0; o < one.n_in; o++)
        one.in[o] = operand_of(x, step, (int)o);
    one.out.dtype = (uint8_t)x->dtype;
    one.out.shape = x->shape[i];
    one.has_axis = math_rows[step->math].group == MATH_REDUCE;
    one.axis = (int8_t)(one.in[0].shape.rank - 1);
    return run(&one, x->step[i].bytes) && (step->math != TL_CAST || round_to(x, i));
}

static void store_results(struct values *x, unsigned char *out)
{
    struct op_result result[TL_FUSED_STEPS];
    uint32_t n = op_fused_results(x->op, x->shape, result);
    uint64_t end = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t step = result[i].step;

        memset(out + end, 0, result[i].at - end);
        cast_elements((kb_dtype)x->op->step[step].out, out + result[i].at, x->dtype,
                      x->step[step].bytes, dims_elements(&x->shape[step]));
        end = result[i].at + result[i].nbytes;
    }
}

bool math_run_fused(const struct op *op, unsigned char *out, math_runner *run)
{
    struct values *x = calloc(1, sizeof *x);
    bool ok = x;

    if (!ok)
        return false;
    x->op = op;
    x->dtype = op_fused_dtype(op);
    op_fused_shapes(op, x->shape);
    ok = convert_inputs(x);
    for (uint32_t i = 0; ok && i < op->n_steps; i++)
        ok = run_step(x, i, run);
    if (ok)
        store_results(x, out);
    for (uint32_t i = 0; i < TL_FUSED_INPUTS; i++)
        free(x->in[i].bytes);
    for (uint32_t i = 0; i < TL_FUSED_STEPS; i++)
        free(x->step[i].bytes);
    free(x);
    return ok;
}
