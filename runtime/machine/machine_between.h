/*
 * machine_between.h -- the cubes between the first and the last of a route, of machines that are
 * not regular.
 *
 * A regular machine has one table of them by distance (cost_mesh). Rings and planes have one for
 * each plane, and for the routes of a one-way plane that are those of their data: `back`. It is by
 * distance, too: a route that leads over a wrap link differs from one that does not in the sign of
 * its distance. With ties spread there are as many more for routes that are odd (mesh.h). Where
 * something is missing or broken, or cubes differ, every pair of cubes has a
 * row, many of them the same one. Such a table grows with the square of the cubes, so the generator
 * makes it up to a bound only (gen/between.c). Beyond it routes are walked (walked.c).
 *
 * A row has the exit of the first cube, the side of the last, and the cost between the two: the
 * cubes passed, and what a wrap link is longer than others.
 *
 * Example: cube8 with wrap x, c0 -> c3 goes west over the wrap link: dx 3, exit W, side E, cost 0.
 * c1 -> c3 goes east: dx 2, exit E, side W, the cost of c2 from W to E.
 */
#ifndef BETWEEN_H
#define BETWEEN_H
#include "machine/tables.h"

/* Of the routes of a plane, or of those that are their data's. */
static inline uint32_t between_block(const struct kb_topology *t, uint32_t plane, bool back)
{
    return back ? t->planes + plane : plane;
}

/* How many there are. */
static inline uint32_t between_blocks(const struct kb_topology *t)
{
    for (uint32_t plane = 0; plane < t->planes; plane++)
        if (t->plane_rows[plane].one_way)
            return 2u * t->planes;
    return t->rails_one_way ? 2u : t->planes;
}

/* The cubes between `a` and `b`, two of one SIP, on a route that may be odd; not BY_WALK. */
static inline const struct between_row *between_cubes(const struct kb_topology *t, uint32_t plane,
                                                      bool back, bool odd, uint32_t a, uint32_t b)
{
    uint32_t block = between_block(t, plane, back) + (odd ? between_blocks(t) : 0);
    uint32_t to = t->sips == 1 ? b : b % t->cubes;
    uint32_t from = t->sips == 1 ? a : a % t->cubes;

    if (t->between_by == BY_PAIR)
        return &t->between[t->between_of[((size_t)block * sip_cubes(t) + a) * t->cubes + to]];
    return &t->between[block * t->n_between + t->mesh_middle + t->cube_pos[to] - t->cube_pos[from]];
}

#endif
