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

const struct math_row math_rows[N_TL_OPS] = {
#define MATH(NAME, name, operands, group, types, cost)                                             \
    [TL_##NAME] = {#name, operands, MATH_##group, MATH_##types, COST_##cost},
#include "data/ops.def"
};

const char *space_name(uint8_t space)
{
    static const char *const names[] = {"hbm", "sram", "tcm", "acc"};

    return names[space];
}

const char *op_math_name(const struct op *op)
{
    if (op_of_acc(op))
        return op->composite ? "acc_store" : "acc_scale";
    return math_rows[op->math].name;
}
