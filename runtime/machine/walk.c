/*
 * walk.c -- the cost of a route where cubes differ: segment by segment.
 *
 * Where all cubes have the same keys the distance of two of them tells what lies between (cost.h).
 * Elsewhere each cube on the way adds what its own kind has for the segment that is passed
 * (cost_segments). So a sum takes as many steps as cubes are passed; what costs the same again is
 * mostly known already (struct known_cost).
 */
#include "machine/walk.h"

/* The cost of the segment of `at`. */
static const struct cost_row *cost_at(const struct kb_topology *t, struct route_at at)
{
    return &t->cost_segments[cube_kind(t, at.cube) * t->n_segments + at.segment];
}

struct cost_row cost_walked(const struct kb_topology *t, uint32_t src, uint32_t dst, bool of_host)
{
    struct route_at at = walk_begin(t, src, dst, of_host);
    struct cost_row sum = *cost_at(t, at);

    for (;;) {
        if (walk_segment(t, at)->exit == N_EXITS)
            return sum;
        at = walk_next(t, at, dst, of_host);
        if (of_host && walk_segment(t, at)->exit == N_EXITS)
            return sum; /* the last cube's part has tables of its own */
        sum = cost_add(sum, cost_at(t, at));
    }
}

int64_t cost_walked_ucies(const struct kb_topology *t, uint32_t dst)
{
    struct route_at at = walk_begin(t, 0, dst, true);
    int64_t sum_fs = 0;

    while (walk_segment(t, at)->exit != N_EXITS) {
        at = walk_next(t, at, dst, true);
        sum_fs +=
            kind_at(t, at.cube)->ucie_overhead_fs * (walk_segment(t, at)->exit == N_EXITS ? 1 : 2);
    }
    return sum_fs;
}
