/* pe_math.c -- pe_math: the engine for all arithmetic that is not a product.
 *
 * What it holds   the engine, PORT_MATH, for one command, tile or epilogue step at a time
 * For how long    overhead + ceil(elements / lanes) * weight cycles; the weight is 1,
 *                 special_cycles (div, exp, log, ...) or 3 + 2 * special_cycles (softmax): the
 *                 column `cost` of data/ops.def. topk: ceil(n / lanes) * ceil(k / topk_width)
 *                 cycles for each row of n
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

struct engine_work pe_math_work(const struct tl_ctx *of, enum tl_op op, uint64_t elements)
{
    const struct pe_row *pe = &pe_kind(of)->pe;
    uint64_t cycles = parts_of(elements, pe->lanes);

    if (math_rows[op].cost == COST_SPECIAL)
        cycles *= pe->special_cycles;
    else if (math_rows[op].cost == COST_SOFTMAX)
        cycles *= 3 + 2 * (uint64_t)pe->special_cycles;
    return work_of(of, cycles, elements);
}

struct engine_work pe_math_topk_work(const struct tl_ctx *of, uint64_t elements, uint32_t n,
                                     uint32_t k)
{
    const struct pe_row *pe = &pe_kind(of)->pe;

    return work_of(of, elements / n * parts_of(n, pe->lanes) * parts_of(k, pe->topk_width),
                   elements);
}
