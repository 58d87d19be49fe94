/*
 * noc.c -- the NoC of a cube: one node, or a mesh of routers with holes.
 *
 * Router (c, r) of a mesh stands in the middle of its share of the cube, at ((c + 0.5) * W / cols,
 * (r + 0.5) * H / rows). A node that has a point on the NoC meets the nearest router, by the way
 * along x and then y; of several as near the one of the smaller row, then column. mm are compared
 * as whole nm, so that 2.5 - 1.25 and 1.25 are as near.
 *
 * A route has the fewest steps from router to router. Of the routers one step nearer to the target,
 * the next one is the first of: toward the target along x, along y, to E, W, S, N. Without holes
 * this is X first, then Y. The steps to a target are counted by a search outward from it, once.
 *
 * Example: 6 x 6 routers with holes [2, 2], [3, 2], [2, 3], [3, 3], from r2c0 to r2c5: E to r2c1;
 * E is a hole there, and N is as near as any: r1c1, r1c2, r1c3, r1c4, r1c5, r2c5. Seven steps.
 */
#include "noc.h"
#include "check.h"
#include "up_down.h"
#include "machine/tables.h"
#include "value.h"
#include <math.h>
#include <string.h>

/* -- where routers stand -------------------------------------------------------------------- */

struct noc noc_make(const struct spec *spec, struct arena *arena)
{
    struct noc noc = {.arena = arena,
                      .is_mesh = spec->cube_noc_model == NOC_MESH,
                      .cols = 1,
                      .rows = 1,
                      .places = 1,
                      .w_mm = spec->cube_size_mm[0],
                      .h_mm = spec->cube_size_mm[1]};

    if (noc.is_mesh) {
        noc.cols = (uint32_t)spec->cube_noc_mesh_cols;
        noc.rows = (uint32_t)spec->cube_noc_mesh_rows;
        noc.places = noc.cols * noc.rows;
    }
    noc.is_hole = arena_alloc(arena, noc.places * sizeof *noc.is_hole);
    noc.steps = arena_alloc(arena, noc.places * sizeof *noc.steps);
    for (size_t i = 0; noc.is_mesh && i < spec->cube_noc_mesh_holes.n; i++) {
        const struct hole_spec *hole = &spec->cube_noc_mesh_holes.rows[i];

        if (hole->col < noc.cols && hole->row < noc.rows)
            noc.is_hole[hole->row * noc.cols + hole->col] = true;
    }
    noc.rank = arena_alloc(arena, noc.places * sizeof *noc.rank);
    for (uint32_t place = 0; place < noc.places; place++) {
        noc.rank[place] = noc.n_routers;
        noc.n_routers += !noc.is_hole[place];
    }
    return noc;
}

double noc_x_mm(const struct noc *noc, uint32_t place)
{
    return ((double)(place % noc->cols) + 0.5) * noc->w_mm / noc->cols;
}

double noc_y_mm(const struct noc *noc, uint32_t place)
{
    return ((double)(place / noc->cols) + 0.5) * noc->h_mm / noc->rows;
}

double noc_distance_mm(const struct noc *noc, uint32_t place, double x_mm, double y_mm)
{
    return fabs(noc_x_mm(noc, place) - x_mm) + fabs(noc_y_mm(noc, place) - y_mm);
}

/* The nearest place; NOC_NOWHERE: all are holes, and these do not count. */
static uint32_t nearest(const struct noc *noc, double x_mm, double y_mm, bool with_holes)
{
    uint32_t best = NOC_NOWHERE;
    int64_t least = INT64_MAX;

    for (uint32_t place = 0; place < noc->places; place++) {
        int64_t nm = llround(noc_distance_mm(noc, place, x_mm, y_mm) * 1e6);

        if (nm < least && (with_holes || !noc->is_hole[place])) {
            least = nm;
            best = place;
        }
    }
    return best;
}

uint32_t noc_place_at(const struct noc *noc, double x_mm, double y_mm)
{
    return noc->is_mesh ? nearest(noc, x_mm, y_mm, false) : 0;
}

/* -- from router to router ------------------------------------------------------------------ */

uint32_t noc_neighbour(const struct noc *noc, uint32_t place, uint32_t side)
{
    uint32_t col = place % noc->cols, row = place / noc->cols, to = place;

    if ((side == SIDE_N && row == 0) || (side == SIDE_S && row + 1 == noc->rows) ||
        (side == SIDE_W && col == 0) || (side == SIDE_E && col + 1 == noc->cols))
        return NOC_NOWHERE;
    to = side == SIDE_N   ? place - noc->cols
         : side == SIDE_S ? place + noc->cols
         : side == SIDE_W ? place - 1
                          : place + 1;
    return noc->is_hole[to] ? NOC_NOWHERE : to;
}

/* Steps from each place to `to`; UINT16_MAX: there is no way. */
static const uint16_t *steps_to(struct noc *noc, uint32_t to)
{
    uint32_t *line, n = 0;

    if (noc->steps[to])
        return noc->steps[to];
    noc->steps[to] = arena_alloc(noc->arena, noc->places * sizeof **noc->steps);
    line = arena_alloc(noc->arena, noc->places * sizeof *line);
    memset(noc->steps[to], 0xff, noc->places * sizeof **noc->steps);
    noc->steps[to][to] = 0;
    line[n++] = to;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t side = 0; side < N_SIDES; side++) {
            uint32_t next = noc_neighbour(noc, line[i], side);

            if (next == NOC_NOWHERE || noc->steps[to][next] != UINT16_MAX)
                continue;
            noc->steps[to][next] = (uint16_t)(noc->steps[to][line[i]] + 1);
            line[n++] = next;
        }
    return noc->steps[to];
}

static uint32_t tree_step(void *mesh, uint32_t place, uint32_t side)
{
    return noc_neighbour(mesh, place, side);
}

void noc_route_up_down(struct noc *noc)
{
    bool *is_router = arena_alloc(noc->arena, noc->places * sizeof *is_router);

    for (uint32_t place = 0; place < noc->places; place++)
        is_router[place] = !noc->is_hole[place];
    noc->up_down = arena_alloc(noc->arena, sizeof *noc->up_down);
    *noc->up_down = up_down_make(noc->arena, noc->places, N_SIDES,
                                 up_down_lowest(noc->places, is_router), tree_step, noc);
    noc->aimed = NOC_NOWHERE;
}

/* The exit by such a route. */
static uint32_t exit_up_down(struct noc *noc, uint32_t from, uint32_t to, const uint32_t *tries,
                             uint32_t n)
{
    noc->up_down->mesh = noc;
    if (noc->aimed != to)
        up_down_aim(noc->up_down, to);
    noc->aimed = to;
    return up_down_exit(noc->up_down, from, tries, n);
}

uint32_t noc_next(struct noc *noc, uint32_t from, uint32_t to)
{
    const uint16_t *steps = steps_to(noc, to);
    uint32_t col = from % noc->cols, row = from / noc->cols;
    uint32_t to_col = to % noc->cols, to_row = to / noc->cols;
    const uint32_t tries[] = {col < to_col   ? SIDE_E
                              : col > to_col ? SIDE_W
                                             : N_SIDES,
                              row < to_row   ? SIDE_S
                              : row > to_row ? SIDE_N
                                             : N_SIDES,
                              SIDE_E,
                              SIDE_W,
                              SIDE_S,
                              SIDE_N};
    enum { TRIES = sizeof tries / sizeof *tries };

    if (noc->up_down)
        return noc_neighbour(noc, from, exit_up_down(noc, from, to, tries, TRIES));
    for (size_t i = 0; i < TRIES; i++) {
        uint32_t next = tries[i] < N_SIDES ? noc_neighbour(noc, from, tries[i]) : NOC_NOWHERE;

        if (next != NOC_NOWHERE && steps[next] + 1 == steps[from])
            return next;
    }
    return NOC_NOWHERE;
}

/* -- mistakes ------------------------------------------------------------------------------- */

/* Each hole is a place of the mesh, and no other's. */
static bool check_holes(const struct spec *spec)
{
    const struct hole_specs *holes = &spec->cube_noc_mesh_holes;
    size_t before = diag_count(spec->diag);

    for (size_t i = 0; i < holes->n; i++) {
        const struct hole_spec *hole = &holes->rows[i];

        if (hole->col >= spec->cube_noc_mesh_cols || hole->row >= spec->cube_noc_mesh_rows)
            diag_error(spec->diag, hole->at,
                       "'cube.noc.mesh.holes': [%lld, %lld] is outside of the mesh, which has %lld "
                       "columns and %lld rows",
                       (long long)hole->col, (long long)hole->row,
                       (long long)spec->cube_noc_mesh_cols, (long long)spec->cube_noc_mesh_rows);
        for (size_t k = 0; k < i; k++)
            if (holes->rows[k].col == hole->col && holes->rows[k].row == hole->row)
                diag_error(spec->diag, hole->at, "'cube.noc.mesh.holes': [%lld, %lld] stands twice",
                           (long long)hole->col, (long long)hole->row);
    }
    return diag_count(spec->diag) == before;
}

/* All routers are one mesh. */
static void check_whole(const struct spec *spec, struct noc *noc)
{
    struct place at = spec_place(spec, KEY_cube_noc_mesh_holes);
    uint32_t first = 0;
    const uint16_t *steps;

    while (first < noc->places && noc->is_hole[first])
        first++;
    if (first == noc->places) {
        diag_error(spec->diag, at, "'cube.noc.mesh.holes' leave no router");
        return;
    }
    steps = steps_to(noc, first);
    for (uint32_t place = first; place < noc->places; place++)
        if (!noc->is_hole[place] && steps[place] == UINT16_MAX) {
            diag_error(spec->diag, at,
                       "'cube.noc.mesh.holes' cut off r%uc%u from r%uc%u: fill a hole between them",
                       place / noc->cols, place % noc->cols, first / noc->cols, first % noc->cols);
            return;
        }
}

/* PEs meet the NoC along the upper and the lower rim of the cube. */
static void check_pes(const struct spec *spec, const struct noc *noc)
{
    uint32_t half = (uint32_t)(spec->cube_pes + 1) / 2;

    for (uint32_t pe = 0; pe < spec->cube_pes; pe++) {
        double x = ((double)(pe % half) + 0.5) * noc->w_mm / half, y = pe < half ? 0 : noc->h_mm;
        uint32_t place = nearest(noc, x, y, true);

        if (noc->is_hole[place])
            diag_error(spec->diag, spec_place(spec, KEY_cube_noc_mesh_holes),
                       "'cube.noc.mesh.holes': PE %u sits at [%u, %u], where no hole can be: leave "
                       "that hole out, or take other 'cols' and 'rows'",
                       pe, place % noc->cols, place / noc->cols);
    }
}

void noc_check(const struct spec *spec)
{
    const enum key keys[] = {KEY_cube_noc_model,     KEY_cube_noc_mesh_cols,
                             KEY_cube_noc_mesh_rows, KEY_cube_noc_mesh_holes,
                             KEY_cube_size_mm,       KEY_cube_pes};
    struct noc noc;

    if (spec->cube_noc_model != NOC_MESH || culprit(spec, keys, 6) == N_KEYS || !check_holes(spec))
        return;
    noc = noc_make(spec, spec->arena);
    check_whole(spec, &noc);
    check_pes(spec, &noc);
}
