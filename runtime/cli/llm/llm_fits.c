/*
 * llm_fits.c -- what `llm` is asked for fits into the memories of a rank, or it is said what would.
 *
 * A smaller batch is looked for first; where not even one request fits, or a graph has its own, as
 * many of its layers, or so much more memory. A search by halves each time.
 */
#include "cli/llm/llm_fits.h"
#include <math.h>
#include <stdio.h>

void llm_make_graph(const struct llm *l, const struct shape *s, struct graph *g)
{
    if (l->given)
        *g = l->given->graph;
    else
        graph_of_model(&l->model, s, g);
    g->round = l->chip.round;
}

static void place(const struct llm *l, const struct shape *s, struct graph *g)
{
    uint32_t p, q;

    grid_of(&l->chip, s->batch * s->q, &p, &q);
    graph_place(g, s, p, q);
}

/* Bytes that a unit's slices must have, of the stage that needs most. */
static uint64_t graph_bytes(const struct llm *l, const struct shape *s, const struct graph *whole)
{
    struct stage stage;
    uint64_t most = 0;

    for (int64_t i = 0; i < count_of(s->pp); i++) {
        stage_of(whole, count_of(s->pp), i, &stage);
        place(l, s, &stage.graph);
        most = stage.graph.room > most ? stage.graph.room : most;
    }
    return most * l->chip.unit_pes;
}

/* The same for so many requests of `kv` tokens. */
static uint64_t unit_bytes(const struct llm *l, const struct shape *s)
{
    struct graph g;

    llm_make_graph(l, s, &g);
    return graph_bytes(l, s, &g);
}

/* How often a graph's layer may be repeated; 0: not even once. */
static int64_t layers_that_fit(const struct llm *l, const struct shape *s)
{
    struct graph g = l->given->graph;
    int64_t low = 0, high = g.layers;

    while (high - low > 1) {
        llm_make_graph(l, s, &g);
        g.layers = (low + high) / 2;
        if (graph_bytes(l, s, &g) <= l->chip.unit_bytes)
            low = g.layers;
        else
            high = g.layers;
    }
    return low;
}

/* Where no smaller batch fits, or none can be asked for: as many layers, or so much memory. */
static enum exit_code refuse_whole(const struct llm *l, const struct shape *s, uint64_t bytes)
{
    double has = (double)l->chip.unit_bytes, times = ceil(10 * (double)bytes / has) / 10;
    int64_t layers = l->given ? layers_that_fit(l, s) : 0;
    char text[64] = "";

    if (layers > 0)
        snprintf(text, sizeof text, " its layer %lld times, or", (long long)layers);
    return cmd_say(l->cli, EXIT_USAGE,
                   "%s needs %.3f GB of %.3f a rank, %.3f too many; what would fit:%s %.1f times "
                   "the memory",
                   l->rows.model, (double)bytes / 1e9, has / 1e9, ((double)bytes - has) / 1e9, text,
                   times);
}

/* By how much, and what would fit. */
static enum exit_code refuse_size(struct llm *l, const struct shape *s, uint64_t bytes)
{
    struct shape less = *s;
    int64_t low = 0, high = l->given ? 1 : s->batch;

    while (high - low > 1) {
        less.batch = (low + high) / 2;
        if (unit_bytes(l, &less) <= l->chip.unit_bytes)
            low = less.batch;
        else
            high = less.batch;
    }
    l->too_large = true;
    l->needs_bytes = bytes;
    if (llm_searches(l))
        return EXIT_USAGE;
    if (low == 0)
        return refuse_whole(l, s, bytes);
    return cmd_say(l->cli, EXIT_USAGE,
                   "%s with batch %lld needs %.3f GB of %.3f a rank; largest batch %lld",
                   l->rows.model, (long long)(s->batch * count_of(s->micro)), (double)bytes / 1e9,
                   (double)l->chip.unit_bytes / 1e9, (long long)(low * count_of(s->micro)));
}

enum exit_code llm_check_size(struct llm *l, const struct shape *s)
{
    uint64_t bytes = unit_bytes(l, s);

    return bytes > l->chip.unit_bytes ? refuse_size(l, s, bytes) : EXIT_OK;
}
