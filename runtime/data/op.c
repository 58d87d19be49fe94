/* op.c -- tables of operations: their names, operands, types and costs. */
#include "data/op.h"

const struct math_row math_rows[N_TL_OPS] = {
#define MATH(NAME, name, operands, group, types, cost)                                             \
    [TL_##NAME] = {#name, operands, MATH_##group, MATH_##types, COST_##cost},
#include "data/ops.def"
};

const char *space_name(uint8_t space)
{
    static const char *const names[] = {"hbm", "sram", "tcm"};

    return names[space];
}
