/*
 * up_down.c -- routes in a mesh with gaps by which packets never wait in a circle: up*, then down*.
 *
 * A search outward from the lowest place ranks all places: a breadth-first tree. A step to a place
 * of lower rank leads up, another one down. A way goes up first and then down, never up again. So
 * an edge down never waits for one up, edges up wait for edges ever nearer to the root and edges
 * down for edges ever farther from it: no circle (Schroeder et al., Autonet). Every place is
 * reached, by way of the root if need be.
 *
 * The next step depends on the place and the target alone, as all tables of routes want it: where a
 * way down exists it is taken, and only elsewhere a step up. A packet that has come down is always
 * where a way down exists. Of the ways down, or up, one with the fewest steps is taken.
 *
 * Example: places 0 1 2 in a row, and 3 4 5 below them without 4; the root is 0. A search finds 0 1
 * 3 2
 * 5. From 3 to 5 no way leads down, so up to 0, then down by 1 and 2.
 */
#include "up_down.h"
#include "machine/tables.h"

uint32_t up_down_lowest(uint32_t n, const bool *is_there)
{
    uint32_t place = 0;

    while (place < n && !is_there[place])
        place++;
    return place < n ? place : UP_DOWN_NOWHERE;
}

struct up_down up_down_make(struct arena *a, uint32_t n, uint32_t sides, uint32_t root,
                            up_down_step step, void *mesh)
{
    struct up_down u = {.n = n, .sides = sides, .step = step, .mesh = mesh};

    u.rank = arena_alloc(a, n * sizeof *u.rank);
    u.by_rank = arena_alloc(a, n * sizeof *u.by_rank);
    u.down = arena_alloc(a, n * sizeof *u.down);
    u.all = arena_alloc(a, n * sizeof *u.all);
    for (uint32_t i = 0; i < n; i++)
        u.rank[i] = UINT32_MAX;
    if (root != UP_DOWN_NOWHERE) {
        u.rank[root] = 0;
        u.by_rank[u.n_found++] = root;
    }
    for (uint32_t i = 0; i < u.n_found; i++)
        for (uint32_t side = 0; side < sides; side++) {
            uint32_t next = step(mesh, u.by_rank[i], side);

            if (next == UP_DOWN_NOWHERE || u.rank[next] != UINT32_MAX)
                continue;
            u.rank[next] = u.n_found;
            u.by_rank[u.n_found++] = next;
        }
    return u;
}

/* The least of what the places have to which steps up, or down, lead; UINT32_MAX: none. */
static uint32_t least(const struct up_down *u, uint32_t place, bool up, const uint32_t *of)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t side = 0; side < u->sides; side++) {
        uint32_t next = u->step(u->mesh, place, side);

        if (next != UP_DOWN_NOWHERE && (u->rank[next] < u->rank[place]) == up && of[next] < best)
            best = of[next];
    }
    return best;
}

void up_down_aim(struct up_down *u, uint32_t to)
{
    for (uint32_t i = u->n_found; i-- > 0;) {
        uint32_t place = u->by_rank[i], far = least(u, place, false, u->down);

        u->down[place] = place == to ? 0 : far == UINT32_MAX ? far : far + 1;
    }
    for (uint32_t i = 0; i < u->n_found; i++) {
        uint32_t place = u->by_rank[i], far = least(u, place, true, u->all);

        u->all[place] = u->down[place] != UINT32_MAX ? u->down[place]
                        : far == UINT32_MAX          ? far
                                                     : far + 1;
    }
}

uint32_t up_down_exit(const struct up_down *u, uint32_t from, const uint32_t *tries, uint32_t n)
{
    bool up = u->rank[from] == UINT32_MAX || u->down[from] == UINT32_MAX;
    const uint32_t *of = up ? u->all : u->down;

    if (u->rank[from] == UINT32_MAX || of[from] == UINT32_MAX)
        return N_SIDES;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = tries[i] < N_SIDES ? u->step(u->mesh, from, tries[i]) : UP_DOWN_NOWHERE;

        if (next != UP_DOWN_NOWHERE && (u->rank[next] < u->rank[from]) == up &&
            of[next] != UINT32_MAX && of[next] + 1 == of[from])
            return tries[i];
    }
    return N_SIDES;
}
