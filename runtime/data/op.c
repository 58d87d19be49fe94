/* op.c -- tables of operations: their names, operands, types and costs.
 *
 * data/ops.def has one row for each operation of PE_MATH, for example
 *
 *     MATH(EXP, exp, 1, ELEMENT, FLOAT, SPECIAL)
 *
 * and tables are made from it: math_rows here, the names of calls in kernels/tl_math.c ("tl_exp").
 * A kernel's call checks operands and types by its row, pe_math takes the cost from it, math.c and
 * reference.c choose a loop by the group.
 */
#include "data/op.h"
#include "data/cast.h"
#include <stddef.h>
#include <string.h>

const struct math_row math_rows[N_TL_OPS] = {
#define MATH(NAME, name, operands, group, types, cost)                                             \
    [TL_##NAME] = {#name, operands, MATH_##group, MATH_##types, COST_##cost},
#include "data/ops.def"
};

void op_copy(struct op *to, const struct op *from)
{
    memcpy(to, from, offsetof(struct op, in));
    memcpy(to->in, from->in, (from->n_steps ? TL_FUSED_INPUTS : TL_OPERANDS_MAX) * sizeof *to->in);
    memcpy(to->epilogue, from->epilogue, from->n_epilogues * sizeof *to->epilogue);
    memcpy(to->step, from->step, from->n_steps * sizeof *to->step);
}

const char *space_name(uint8_t space)
{
    static const char *const names[] = {"hbm", "sram", "tcm", "acc"};

    return names[space];
}

kb_dtype op_operands_dtype(const struct op *op)
{
    uint32_t first = op->kind == OP_MATH && op->math == TL_WHERE;
    uint32_t end = op->kind == OP_GEMM ? 2 : op->n_in;
    kb_dtype dtype = KB_DEFAULT;

    for (uint32_t i = first; i < end; i++) {
        if (op->in[i].is_scalar)
            continue;
        dtype = dtype ? dtype_wider(dtype, (kb_dtype)op->in[i].dtype) : (kb_dtype)op->in[i].dtype;
    }
    return dtype;
}

/* -- fused operations ------------------------------------------------------------------------- */

bool dims_broadcast(struct dims *to, const struct dims *d)
{
    uint32_t more = d->rank > to->rank ? d->rank - to->rank : 0;

    for (uint32_t a = to->rank; more && a-- > 0;)
        to->dim[a + more] = to->dim[a];
    for (uint32_t a = 0; a < more; a++)
        to->dim[a] = 1;
    to->rank += more;
    for (uint32_t a = 0; a < d->rank; a++) {
        uint32_t *extent = &to->dim[to->rank - d->rank + a];

        if (*extent != 1 && d->dim[a] != 1 && *extent != d->dim[a])
            return false;
        if (d->dim[a] != 1)
            *extent = d->dim[a];
    }
    return true;
}

kb_dtype op_fused_dtype(const struct op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!op->in[i].is_scalar && op->in[i].dtype == KB_F64)
            return KB_F64;
    return KB_F32;
}

const struct dims *op_step_shape(const struct op *op, const struct dims *shape,
                                 const struct op_step *step, int i)
{
    static const struct dims number = {.rank = 0};
    int at = step->operand[i];

    if (at < 0)
        return &shape[-1 - at];
    return op->in[at - 1].is_scalar ? &number : &op->in[at - 1].shape;
}

uint32_t op_fused_shapes(const struct op *op, struct dims shape[TL_FUSED_STEPS])
{
    for (uint32_t i = 0; i < op->n_steps; i++) {
        const struct op_step *step = &op->step[i];
        bool reduces = math_rows[step->math].group == MATH_REDUCE;

        shape[i] = (struct dims){.rank = 0};
        for (int o = 0; o < 3 && step->operand[o]; o++)
            if (!dims_broadcast(&shape[i], op_step_shape(op, shape, step, o)))
                return i;
        if (reduces && shape[i].rank == 0)
            return i;
        if (reduces)
            shape[i].dim[shape[i].rank - 1] = 1;
    }
    return op->n_steps;
}

uint64_t op_step_elements(const struct op *op, const struct dims *shape, uint32_t i)
{
    if (math_rows[op->step[i].math].group == MATH_REDUCE)
        return dims_elements(op_step_shape(op, shape, &op->step[i], 0));
    return dims_elements(&shape[i]);
}

/* Each begins where a tensor of the TCM may. */
enum { RESULT_ALIGN = 64 };

uint32_t op_fused_results(const struct op *op, const struct dims *shape,
                          struct op_result result[TL_FUSED_STEPS])
{
    uint64_t at = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->n_steps; i++) {
        if (!op->step[i].out)
            continue;
        at = (at + RESULT_ALIGN - 1) / RESULT_ALIGN * RESULT_ALIGN;
        result[n] = (struct op_result){
            i, at, dims_elements(&shape[i]) * kb_dtype_bytes((kb_dtype)op->step[i].out)};
        at += result[n++].nbytes;
    }
    return n;
}

uint64_t op_math_elements(const struct op *op)
{
    uint8_t group = math_rows[op->math].group;
    struct dims shape[TL_FUSED_STEPS];
    uint64_t n = 0;

    if (group == MATH_REDUCE || group == MATH_ORDER)
        return dims_elements(&op->in[0].shape);
    if (group != MATH_FUSED)
        return dims_elements(&op->out.shape);
    op_fused_shapes(op, shape);
    for (uint32_t i = 0; i < op->n_steps; i++)
        n += op_step_elements(op, shape, i);
    return n;
}

const char *op_math_name(const struct op *op)
{
    if (op_of_acc(op))
        return op->composite ? "acc_store" : "acc_scale";
    return math_rows[op->math].name;
}
