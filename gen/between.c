/*
 * between.c -- the cubes between any two, of a machine that is not regular: exit, side and cost.
 *
 * runtime/machine/machine_between.h says how the engine looks them up. Here each row comes from
 * following the route, cube by cube, with the rules of machine/mesh.h and the sums of cost_segment.
 *
 * By distance there is a row for each dx and dy, followed between two cubes that lie as far apart.
 * By pair equal rows are kept once, found by a hash: of 64 pairs of cube8 with a broken link about
 * half are distinct.
 */
#include "between.h"
#include "machine/walk.h"
#include <math.h>
#include <string.h>

/* Most entries of a table by pair, 2 bytes each: 181 cubes with one plane. */
enum { PAIRS_MOST = 1 << 15, HASH_ROWS = 2 * PAIRS_MOST };

/* The routes of a plane; `back`: those that are the ways of their data. */
struct routes_of {
    const struct kb_topology *t;
    uint32_t plane;
    bool back, odd;
};

/* How many tables there are, and which routes are those of table `i`. */
static uint32_t n_tables(const struct kb_topology *t)
{
    return between_blocks(t) * mesh_ties(t);
}

static struct routes_of routes_of(const struct kb_topology *t, uint32_t i)
{
    uint32_t blocks = between_blocks(t), block = i % blocks;

    return (struct routes_of){t, block % t->planes, block >= t->planes, i >= blocks};
}

/* The exit of `cube` on the way from `a` to `b`. */
static uint32_t exit_of(const struct routes_of *of, uint32_t cube, uint32_t a, uint32_t b)
{
    return of->back ? mesh_back_exit(of->t, of->plane, of->odd, cube, b, a)
                    : mesh_step(of->t, of->plane, of->odd, cube, a, b);
}

static bool has_way(const struct routes_of *of, uint32_t a, uint32_t b)
{
    if (of->back && !of->t->plane_rows[of->plane].one_way)
        return false; /* no route is its data's */
    return a != b && mesh_has_cube(of->t, a) && mesh_has_cube(of->t, b) &&
           mesh_has_way(of->t, of->plane, of->back ? b : a, of->back ? a : b);
}

static struct between_row follow(const struct routes_of *of, uint32_t a, uint32_t b)
{
    const struct kb_topology *t = of->t;
    struct between_row row;
    uint32_t exit, cube = a;

    memset(&row, 0, sizeof row); /* gaps, too: rows are compared */
    row.way.cost.link_gbs = INFINITY;
    if (!has_way(of, a, b))
        return row;
    exit = exit_of(of, a, a, b);
    row.way.exit = (uint8_t)exit;
    for (;;) {
        uint32_t side = walk_far_side(t, cube, exit);

        row.way.cost.wire_fs += mesh_extra_fs(t, cube, exit);
        cube = walk_neighbour(t, cube, exit);
        row.way.side = (uint8_t)side;
        if (cube == b)
            return row;
        exit = exit_of(of, cube, a, b);
        row.way.cost =
            cost_add(row.way.cost, cost_segment_at(t, cube, seg_of_pass(t, of->plane, side, exit)));
        row.ucie_fs +=
            walk_port_fs(t, of->plane, cube, side) + walk_port_fs(t, of->plane, cube, exit);
    }
}

/* -- by distance ---------------------------------------------------------------------------- */

/* Of two places that lie `d` apart, the first. */
static uint32_t place_before(int32_t d)
{
    return d < 0 ? (uint32_t)-d : 0;
}

static void by_distance(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    uint32_t tables = n_tables(t);
    int32_t w = (int32_t)t->w, h = (int32_t)t->h;

    t->n_between = (uint32_t)((2 * w - 1) * (2 * h - 1));
    t->mesh_middle = t->n_between / 2;
    r->between = arena_alloc(r->arena, (size_t)tables * t->n_between * sizeof *r->between);
    for (uint32_t i = 0; i < tables; i++) {
        const struct routes_of of = routes_of(t, i);

        for (int32_t dy = 1 - h; dy < h; dy++) {
            arena_pause(r->arena);
            for (int32_t dx = 1 - w; dx < w; dx++) {
                uint32_t a = place_before(dy) * t->w + place_before(dx);
                uint32_t b = (uint32_t)((int32_t)a + dy * w + dx);

                r->between[r->n_between_rows++] = follow(&of, a, b);
            }
        }
    }
    r->cube_pos = arena_alloc(r->arena, t->cubes * sizeof *r->cube_pos);
    for (uint32_t cube = 0; cube < t->cubes; cube++)
        r->cube_pos[cube] = cube / t->w * (2 * t->w - 1) + cube % t->w;
    t->between_by = BY_DISTANCE;
}

/* -- by pair -------------------------------------------------------------------------------- */

/* Where `row` is found, or where it belongs: `slots` has the numbers of rows, from 1. */
static uint32_t *slot_of(const struct routes *r, uint32_t *slots, const struct between_row *row)
{
    const unsigned char *bytes = (const unsigned char *)row;
    uint32_t hash = 2166136261;

    for (size_t i = 0; i < sizeof *row; i++)
        hash = (hash ^ bytes[i]) * 16777619;
    for (hash %= HASH_ROWS;; hash = (hash + 1) % HASH_ROWS)
        if (!slots[hash] || !memcmp(&r->between[slots[hash] - 1], row, sizeof *row))
            return &slots[hash];
}

static void by_pair(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    size_t n = (size_t)n_tables(t) * sip_cubes(t) * t->cubes;
    uint32_t *slots = arena_alloc(r->arena, HASH_ROWS * sizeof *slots);

    r->between = arena_alloc(r->arena, n * sizeof *r->between);
    r->between_of = arena_alloc(r->arena, n * sizeof *r->between_of);
    for (size_t i = 0; i < n; i++) {
        uint32_t a = (uint32_t)(i / t->cubes % sip_cubes(t));
        const struct routes_of of = routes_of(t, (uint32_t)(i / t->cubes / sip_cubes(t)));
        struct between_row row = follow(&of, a, a - a % t->cubes + (uint32_t)(i % t->cubes));
        uint32_t *slot = slot_of(r, slots, &row);

        if (!*slot) {
            r->between[r->n_between_rows] = row;
            *slot = ++r->n_between_rows;
        }
        r->between_of[r->n_between_of++] = (uint16_t)(*slot - 1);
    }
    t->between_by = BY_PAIR;
}

void make_between(struct routes *r)
{
    struct kb_topology *t = &r->topo;

    if (t->regular)
        return;
    if (!t->has_gaps && t->n_kinds == 1)
        by_distance(r);
    else if ((uint64_t)n_tables(t) * sip_cubes(t) * t->cubes <= PAIRS_MOST)
        by_pair(r);
    t->between = r->between;
    t->between_of = r->between_of;
    t->cube_pos = r->cube_pos;
}
