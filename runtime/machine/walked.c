/*
 * walked.c -- the cost of a route of any machine, summed segment by segment along its walk.
 *
 * A regular machine has tables by distance (cost.h). Elsewhere what each segment costs is known
 * beforehand (t->cost_segment, from gen/costs.c), for each kind of cubes, and mostly also what lies
 * between two cubes (machine_between.h), which takes all segments between them at once. So the walk
 * of walk.h is done, and its segments are added up. Routes of hosts and those to other SIPs come
 * here; in a large machine with holes, which has no table of pairs, all do.
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

/* The overheads of the nodes by which a host's request comes into a cube and leaves it again. */
static int64_t ports_passed_fs(const struct kb_topology *t, const struct trip *trip,
                               struct route_at at, uint32_t exit)
{
    uint32_t passes = at.segment - t->seg_pass;

    if (at.segment < t->seg_pass || at.segment >= t->seg_in || exit == exit_io(t))
        return 0;
    return walk_port_fs(t, trip->plane, at.cube, passes / n_exits(t) % t->ports) +
           walk_port_fs(t, trip->plane, at.cube, exit);
}

struct walked_cost cost_walked(const struct kb_topology *t, const struct trip *trip)
{
    struct walked_cost c = {.way.link_gbs = (double)INFINITY, .behind.link_gbs = (double)INFINITY};
    struct route_at at = walk_begin(t, trip);
    bool far = !trip->of_host && mesh_by_rail(t, src_cube(t, trip->src), dst_cube(t, trip->dst));

    for (;;) {
        const struct segment_row *seg = walk_segment(t, at);

        if (trip->of_host && seg->exit == EXIT_END) {
            uint32_t row = at.segment - t->seg_host_in, side = row / t->slices;
            uint32_t first = cube_kind(t, at.cube) * t->n_host_sides;

            c.way = cost_add(c.way, &t->cost_host_cpu[first + side]);
            c.behind = t->cost_host_in[first * t->slices + row];
            c.side = side;
            c.ucie_fs += walk_port_fs(t, trip->plane, at.cube, side % t->ports);
            return c;
        }
        c.way = cost_add(c.way, cost_segment_at(t, at.cube, at.segment));
        if (seg->exit == EXIT_END)
            return c;
        c.ucie_fs += ports_passed_fs(t, trip, at, seg->exit);
        if (t->between_by != BY_WALK && !trip->way && seg->exit != exit_io(t) && !far) {
            at = skip_between(t, trip, at, &c);
            continue;
        }
        c.way.wire_fs += walk_extra_fs(t, at);
        at = walk_next(t, trip, at);
    }
}
