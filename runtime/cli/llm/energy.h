/* energy.h -- what an operation costs in joules, by the keys `energy` of a machine. */
#ifndef ENERGY_H
#define ENERGY_H
#include "cli/llm/run.h"

/* What an operation did on all ranks. */
struct energy_counts {
    uint64_t macs, elements;
    uint64_t tcm_bytes;               /* over ports of TCMs */
    uint64_t memory_bytes;            /* of slices and SRAMs */
    uint64_t wire_bytes_um;           /* bytes times the um of wires inside chiplets */
    uint64_t d2d_bytes, fabric_bytes; /* each times the edges that it passes */
};

/* Of one call of each operation, in the first layer, alone on idle ranks. */
enum exit_code energy_count(const struct cli *cli, const struct chip *c, const struct graph *g,
                            const struct shape *s, struct energy_counts out[GRAPH_OPS_MAX]);

/* Of one call, without static_w. */
double energy_pj(const struct chip_energy *e, const struct llm_op *op,
                 const struct energy_counts *counts);

#endif
