/*
 * study_search.c -- the search of a study for its Pareto front: which points of `vary` to run.
 *
 * It begins with a quarter of the points that it may run, spread evenly (sobol.h). Then it runs, of
 * every point on the front of any command, the neighbours that have not run: those with one key at
 * the next value below or above, in the order of the file. It ends where all neighbours of the
 * front have run, or when it may run no more. So a point that is told as on the front has no
 * neighbour that beats it, unless the search ran out of points; one far from all others may be
 * missed.
 *
 * Which points come next depends on results alone, and these do not depend on threads: the same
 * points are run each time, and those of a search that was killed are found in its journal.
 */
#include "cli/study/study_search.h"
#include "cli/out/memory.h"
#include "cli/study/study_rows.h"
#include <search.h>
#include <stdlib.h>

enum { FIRST_SHARE = 4 };

/* The combinations that are in the list. */
struct search {
    struct study *s;
    size_t room;
    void *tree; /* of pointers to numbers, owned */
};

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Adds combination `c`, unless it is there, or no more may run. */
static void add_point(struct search *g, uint64_t c)
{
    struct variants *points = &g->s->points;
    uint64_t *number = memory_new(1, sizeof *number), **found;

    *number = c;
    found = points->n < g->s->n_searched ? tsearch(number, &g->tree, by_number) : NULL;
    if (!found || *found != number) {
        free(number);
        return;
    }
    points->list = memory_room(points->list, points->n, &g->room, sizeof *points->list);
    points->list[points->n++] = c;
}

void study_search_begin(struct study *s)
{
    struct search g = {.s = s};
    struct variants from = s->points;

    if (s->n_searched == 0)
        return;
    from.kind = POINTS_SOBOL;
    s->points.kind = POINTS_LIST;
    s->points.n = 0;
    for (uint64_t i = 0; i < (s->n_searched + FIRST_SHARE - 1) / FIRST_SHARE; i++)
        add_point(&g, variants_combination(&from, i));
    tdestroy(g.tree, free);
}

/* Those with one key at the next value. */
static void add_neighbours(struct search *g, uint64_t c)
{
    const struct variants *points = &g->s->points;
    uint64_t stride = points->n_grid;

    for (size_t k = 0; k < points->n_keys; k++) {
        uint64_t level = variants_level(points, c, k);

        stride /= points->key[k].n;
        if (level > 0)
            add_point(g, c - stride);
        if (level + 1 < points->key[k].n)
            add_point(g, c + stride);
    }
}

bool study_search_next(struct study *s, const struct study_results *results)
{
    struct search g = {.s = s};
    struct study_rows rows;
    uint64_t before = s->points.n;

    if (s->points.kind != POINTS_LIST)
        return false;
    s->points.n = 0;
    g.room = before;
    for (uint64_t i = 0; i < before; i++)
        add_point(&g, s->points.list[i]);
    study_rows(&rows, s, results);
    for (uint64_t i = s->n_named * s->n_commands; i < results->n; i++)
        if (rows.on_front[i])
            add_neighbours(&g, s->points.list[i / s->n_commands - s->n_named]);
    study_rows_free(&rows);
    tdestroy(g.tree, free);
    return s->points.n > before;
}
