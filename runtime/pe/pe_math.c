/* pe_math.c */
#include "pe/boxes.h"

int64_t pe_math_fs(const struct kb_sim *s, enum tl_op op, uint64_t elements)
{
    const struct pe_row *pe = &s->topo->pe;
    uint64_t cycles = parts_of(elements, pe->lanes);

    if (math_rows[op].cost == COST_SPECIAL)
        cycles *= pe->special_cycles;
    else if (math_rows[op].cost == COST_SOFTMAX)
        cycles *= 3 + 2 * (uint64_t)pe->special_cycles;
    return (pe->math_overhead_fs & s->mask.overhead) +
           (drain_fs(cycles, pe->math_clock_ghz) & s->mask.compute);
}
