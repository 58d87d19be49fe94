/*
 * walked.c -- the cost of a route of any machine, summed segment by segment along its walk.
 *
 * A regular machine has tables by distance (cost.h). Elsewhere routes differ from pair to pair, and
 * only what each segment costs is known beforehand (t->cost_segment, from gen/costs.c), for each
 * kind of cubes. So the walk of walk.h is done, and its segments are added up.
 *
 * Example: cube8 with wrap x, c0.pe0 -> c3.slice0 goes west over the wrap link, in two segments:
 *
 *     out[pe0][W]     wires and overheads of pe_dma, noc, ucie-W, and the wire to ucie-E of cube 3
 *     in[E][slice0]   ucie-E, noc, xbar.pe0
 *
 * If a wrap link is longer than others, walk_extra_fs() adds the difference.
 */
#include "machine/walk.h"
#include <math.h>

struct walked_cost cost_walked(const struct kb_topology *t, const struct trip *trip)
{
    struct walked_cost c = {.way.link_gbs = (double)INFINITY, .behind.link_gbs = (double)INFINITY};

    for (struct route_at at = walk_begin(t, trip);; at = walk_next(t, trip, at)) {
        const struct segment_row *seg = walk_segment(t, at);
        int64_t ucie_fs = kind_at(t, at.cube)->ucie_overhead_fs;

        if (trip->of_host && seg->exit == N_EXITS) {
            uint32_t row = at.segment - t->seg_host_in, side = row / t->slices;
            uint32_t first = cube_kind(t, at.cube) * t->n_host_sides;

            c.way = cost_add(c.way, &t->cost_host_cpu[first + side]);
            c.behind = t->cost_host_in[first * t->slices + row];
            c.side = side;
            c.ucie_fs += ucie_fs;
            return c;
        }
        c.way =
            cost_add(c.way, &t->cost_segment[cube_kind(t, at.cube) * t->n_segments + at.segment]);
        c.way.wire_fs += walk_extra_fs(t, at);
        if (seg->exit == N_EXITS)
            return c;
        c.ucie_fs += at.segment < t->seg_host || at.segment >= t->seg_host_in ? 2 * ucie_fs : 0;
    }
}
