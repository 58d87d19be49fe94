/*
 * stage.c -- the layers of a stage of a pipeline, as a graph of its own.
 *
 * The first stage has the embedding, the last one the head; all but the last end with a send of the
 * residual, to which it adds what the last all_reduce has left. Layers before those that repeat are
 * all of the first stage.
 *
 * Example: 61 layers in four stages are 16, 15, 15 and 15.
 */
#include "cli/llm/stage.h"
#include <stdio.h>

int64_t stage_layers(int64_t layers, int64_t stages, int64_t stage)
{
    return layers / stages + (stage < layers % stages);
}

int64_t stage_first(int64_t layers, int64_t stages, int64_t stage)
{
    int64_t more = layers % stages;

    return layers / stages * stage + (stage < more ? stage : more);
}

static int64_t layers_of(const struct graph *whole)
{
    return whole->dense_layers + whole->layers;
}

/* What is before the layers is of the first stage, what is behind them of the last; all others
 * send.
 */
static bool has_op(const struct graph *whole, size_t i, int64_t stages, int64_t stage)
{
    const struct llm_op *op = &whole->op[i];
    size_t first = 0;

    while (first < whole->n && !whole->op[first].is_layer)
        first++;
    if (op->is_layer)
        return true;
    if (op->kind == LLM_SEND)
        return stage < stages - 1;
    return i < first ? stage == 0 : stage == stages - 1;
}

void stage_of(const struct graph *whole, int64_t stages, int64_t stage, struct stage *out)
{
    struct graph *g = &out->graph;
    int64_t before = stage == 0 ? whole->dense_layers : 0;

    *out = (struct stage){
        .number = stage, .of = stages, .graph = {.limit = whole->limit, .round = whole->round}};
    g->dense_layers = before;
    g->layers = stage_layers(layers_of(whole), stages, stage) - before;
    for (size_t i = 0; i < whole->n; i++)
        if (has_op(whole, i, stages, stage)) {
            out->from[g->n] = i;
            g->op[g->n++] = whole->op[i];
            if (whole->op[i].is_layer)
                g->op[g->n - 1].kv_layer = before;
        }
}

void stage_route(struct stage *out, const struct graph *whole, const struct llm_routing *routing)
{
    int64_t first = stage_first(layers_of(whole), out->of, out->number) - whole->dense_layers;

    if (routing && routing->stride > 0 && first > 0) {
        out->routing = *routing;
        out->routing.expert += (size_t)first * routing->stride;
        routing = &out->routing;
    }
    graph_route(&out->graph, routing);
}

static bool divides(int64_t layers, int64_t dense_layers, int64_t stages)
{
    return stages <= layers && stage_layers(layers, stages, 0) > dense_layers;
}

const char *stage_refuse(int64_t layers, int64_t dense_layers, int64_t stages, char why[256])
{
    int64_t most = layers;

    if (divides(layers, dense_layers, stages))
        return NULL;
    while (most > 1 && !divides(layers, dense_layers, most))
        most--;
    if (dense_layers > 0)
        snprintf(why, 256,
                 "the first %lld must be in a stage with one more; possible are 1 to %lld",
                 (long long)dense_layers, (long long)most);
    else
        snprintf(why, 256, "possible are 1 to %lld", (long long)most);
    return why;
}
