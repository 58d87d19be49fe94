/*
 * walked.c -- the cost of a route of any machine, summed segment by segment along its walk.
 *
 * A regular machine has tables by distance (cost.h). Elsewhere what each segment costs is known
 * beforehand (t->cost_segment, from gen/costs.c), for each kind of cubes, and mostly also what lies
 * between two cubes (between.h), which takes all segments between them at once. So the walk of
 * walk.h is done, and its segments are added up. Routes of hosts and those to other SIPs come here;
 * in a large machine with holes, which has no table of pairs, all do.
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

/* To the last cube of a part of the trip, past all between. */
static struct route_at skip_between(const struct kb_topology *t, const struct trip *trip,
                                    struct route_at at, struct walked_cost *c)
{
    struct walk_part part = walk_part_of(t, trip, at.cube);
    const struct between_row *row =
        between_cubes(t, trip->plane, trip->back, walk_is_odd(t, trip, part), at.cube, part.last);

    c->way = cost_add(c->way, &row->way.cost);
    c->ucie_fs += row->ucie_fs;
    return walk_enter(t, trip, part.last, row->way.side);
}

struct walked_cost cost_walked(const struct kb_topology *t, const struct trip *trip)
{
    struct walked_cost c = {.way.link_gbs = (double)INFINITY, .behind.link_gbs = (double)INFINITY};
    struct route_at at = walk_begin(t, trip);

    for (;;) {
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
        c.way = cost_add(c.way, cost_segment_at(t, at.cube, at.segment));
        if (seg->exit == N_EXITS)
            return c;
        c.ucie_fs += at.segment < t->seg_host || at.segment >= t->seg_host_in ? 2 * ucie_fs : 0;
        if (t->between_by != BY_WALK && seg->exit != EXIT_IO) {
            at = skip_between(t, trip, at, &c);
            continue;
        }
        c.way.wire_fs += walk_extra_fs(t, at);
        at = walk_next(t, trip, at);
    }
}
