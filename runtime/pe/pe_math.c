/* pe_math.c -- pe_math: the engine for all arithmetic that is not a product.
 *
 * What it holds   the engine, PORT_MATH, for one command, tile or epilogue step at a time
 * For how long    overhead + ceil(elements / lanes) * weight cycles; the weight is 1,
 *                 special_cycles (div, exp, log, ...), scan_cycles, index_cycles, random_cycles or
 *                 3 + 2 * special_cycles (softmax): the column `cost` of data/ops.def. topk:
 *                 ceil(n / lanes) * ceil(k / topk_width) cycles for each row of n; sort:
 *                 ceil(n / lanes) * l * (l + 1) / 2, l = ceil(log2(n)). A fused command: the
 *                 cycles of all its steps, and one overhead
 * Lets in first   first come, first served
 * Wait counted    engine_wait of --breakdown
 * Golden number   docs/kernels.md "Worked: four commands": exp of 32x32 takes 1024 / 64 * 4 = 64
 *                 cycles
 */
#include "pe/boxes.h"

static struct engine_work work_of(const struct tl_ctx *of, uint64_t cycles, uint64_t elements)
{
    const struct pe_row *pe = &pe_kind(of)->pe;
    const struct cost_mask *mask = &of->sim->mask;

    return (struct engine_work){
        .overhead_fs = pe->math_overhead_fs & mask->overhead,
        .cycles_fs = drain_fs(cycles, pe->math_clock_ghz) & mask->compute,
        .cycles = cycles,
        .m = elements < UINT32_MAX ? (uint32_t)elements : UINT32_MAX,
        .k = 1,
        .n = 1,
    };
}

/* Cycles for as many elements as there are lanes. */
static uint64_t weight_of(const struct pe_row *pe, enum tl_op op)
{
    switch ((enum math_cost)math_rows[op].cost) {
    case COST_SPECIAL:
        return pe->special_cycles;
    case COST_SOFTMAX:
        return 3 + 2 * (uint64_t)pe->special_cycles;
    case COST_SCAN:
        return pe->scan_cycles;
    case COST_INDEX:
        return pe->index_cycles;
    case COST_RANDOM:
        return pe->random_cycles;
    case COST_PLAIN:
    case COST_TOPK: /* by rows */
    case COST_SORT:
        break;
    }
    return 1;
}

struct engine_work pe_math_work(const struct tl_ctx *of, enum tl_op op, uint64_t elements)
{
    const struct pe_row *pe = &pe_kind(of)->pe;

    return work_of(of, parts_of(elements, pe->lanes) * weight_of(pe, op), elements);
}

/* How often an order of a row goes through it. */
static uint64_t passes_of(const struct pe_row *pe, const struct op *op, uint32_t n)
{
    uint64_t levels = 0;

    if (math_rows[op->math].cost == COST_TOPK)
        return parts_of(op->out.shape.dim[op->axis], pe->topk_width);
    while (UINT64_C(1) << levels < n)
        levels++;
    return levels * (levels + 1) / 2;
}

struct engine_work pe_math_rows_work(const struct tl_ctx *of, const struct op *op)
{
    const struct pe_row *pe = &pe_kind(of)->pe;
    uint64_t elements = dims_elements(&op->in[0].shape);
    uint32_t n = op->in[0].shape.dim[op->axis];

    return work_of(of, elements / n * parts_of(n, pe->lanes) * passes_of(pe, op, n), elements);
}

struct engine_work pe_math_fused_work(const struct tl_ctx *of, const struct op *op)
{
    const struct pe_row *pe = &pe_kind(of)->pe;
    struct dims shape[TL_FUSED_STEPS];
    uint64_t cycles = 0;

    op_fused_shapes(op, shape);
    for (uint32_t i = 0; i < op->n_steps; i++)
        cycles += parts_of(op_step_elements(op, shape, i), pe->lanes) *
                  weight_of(pe, (enum tl_op)op->step[i].math);
    return work_of(of, cycles, op_math_elements(op));
}
