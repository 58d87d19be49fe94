/* mesh.c -- the mesh of routers inside a cube: places, holes, ways; docs/machine.md. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void judge_find_mesh(struct judge_topo *t)
{
    const char *col, *row;

    if (strcmp(judge_text(t, "cube.noc.model"), "mesh") != 0)
        return;
    t->cols = judge_count(t, "cube.noc.mesh.cols");
    t->rows = judge_count(t, "cube.noc.mesh.rows");
    t->size_mm[0] = judge_number(t, "cube.size_mm.0");
    t->size_mm[1] = judge_number(t, "cube.size_mm.1");
    t->is_hole = judge_alloc((size_t)t->cols * t->rows, sizeof *t->is_hole);
    for (uint32_t i = 0; (col = judge_item(t, "cube.noc.mesh.holes", i, ".0")); i++) {
        row = judge_item(t, "cube.noc.mesh.holes", i, ".1");
        t->is_hole[strtoul(row, NULL, 10) * t->cols + strtoul(col, NULL, 10)] = true;
    }
}

bool judge_has_mesh(const struct judge_topo *t, uint32_t sip)
{
    return t->cols > 0 && sip < t->sips;
}

uint32_t judge_mesh_places(const struct judge_topo *t)
{
    return t->cols * t->rows;
}

bool judge_is_hole(const struct judge_topo *t, uint32_t place)
{
    return t->is_hole[place];
}

void judge_mesh_name(const struct judge_topo *t, uint32_t place, char text[JUDGE_NAME_BYTES])
{
    judge_name(text, "r%uc%u", place / t->cols, place % t->cols);
}

void judge_mesh_point(const struct judge_topo *t, uint32_t place, double *x_mm, double *y_mm)
{
    *x_mm = (place % t->cols + 0.5) * t->size_mm[0] / t->cols;
    *y_mm = (place / t->cols + 0.5) * t->size_mm[1] / t->rows;
}

/* Places are in order of row, then column: the first of the nearest ones. */
uint32_t judge_nearest_place(const struct judge_topo *t, double x_mm, double y_mm, double *mm)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t place = 0; place < judge_mesh_places(t); place++) {
        double x, y, far;

        if (judge_is_hole(t, place))
            continue;
        judge_mesh_point(t, place, &x, &y);
        far = fabs(x - x_mm) + fabs(y - y_mm);
        if (best != UINT32_MAX && llround(far * 1e6) >= llround(*mm * 1e6))
            continue;
        best = place;
        *mm = far;
    }
    if (best == UINT32_MAX)
        judge_die("a mesh of holes");
    return best;
}

bool judge_place_beside(const struct judge_topo *t, uint32_t place, char side, uint32_t *other)
{
    uint32_t cols = t->cols, col = place % cols, row = place / cols;

    if ((side == 'E' && col + 1 == cols) || (side == 'W' && col == 0) ||
        (side == 'S' && row + 1 == t->rows) || (side == 'N' && row == 0))
        return false;
    *other = side == 'E'   ? place + 1
             : side == 'W' ? place - 1
             : side == 'S' ? place + cols
                           : place - cols;
    return !judge_is_hole(t, *other);
}

/* Steps to `to` from every place; UINT32_MAX: no way. */
static uint32_t *distances(const struct judge_topo *t, uint32_t to)
{
    uint32_t n = judge_mesh_places(t), done = 0, end = 1, other;
    uint32_t *far = judge_alloc(n, sizeof *far), *line = judge_alloc(n, sizeof *line);

    for (uint32_t i = 0; i < n; i++)
        far[i] = UINT32_MAX;
    far[to] = 0;
    line[0] = to;
    for (; done < end; done++)
        for (const char *side = "EWSN"; *side; side++)
            if (judge_place_beside(t, line[done], *side, &other) && far[other] == UINT32_MAX) {
                far[other] = far[line[done]] + 1;
                line[end++] = other;
            }
    free(line);
    return far;
}

/* The next place: toward the target in X, in Y, else the first of E, W, S, N that is nearer. */
static uint32_t next_place(const struct judge_topo *t, const uint32_t *far, uint32_t from,
                           uint32_t to)
{
    uint32_t cols = t->cols, other;
    char tries[] = {0, 0, 'E', 'W', 'S', 'N'};

    if (from % cols != to % cols)
        tries[0] = from % cols < to % cols ? 'E' : 'W';
    if (from / cols != to / cols)
        tries[1] = from / cols < to / cols ? 'S' : 'N';
    for (size_t i = 0; i < sizeof tries; i++)
        if (tries[i] && judge_place_beside(t, from, tries[i], &other) && far[other] != UINT32_MAX &&
            far[other] + 1 == far[from])
            return other;
    return UINT32_MAX;
}

size_t judge_mesh_way(const struct judge_topo *t, uint32_t from, uint32_t to, uint32_t *places)
{
    uint32_t *far = distances(t, to);
    size_t n = 0;

    places[n++] = from;
    while (from != to && from != UINT32_MAX) {
        from = next_place(t, far, from, to);
        places[n++] = from;
    }
    free(far);
    return from == UINT32_MAX ? 0 : n;
}
