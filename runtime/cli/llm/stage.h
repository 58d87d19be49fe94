/* stage.h -- stages of a pipeline: the layers that each has of a graph. */
#ifndef STAGE_H
#define STAGE_H
#include "cli/llm/llm_graph.h"

/* A stage of a graph. */
struct stage {
    int64_t number, of;
    struct graph graph;
    size_t from[GRAPH_OPS_MAX]; /* of each of its operations, which one of the whole it is */
    struct llm_routing routing; /* of its layers, where layers differ */
};

/* Layers of a stage, and those of all stages before it: the first ones have one more each if the
 * number of stages does not divide them. */
int64_t stage_layers(int64_t layers, int64_t stages, int64_t stage);
int64_t stage_first(int64_t layers, int64_t stages, int64_t stage);

/* Makes a stage of `whole`, which has no places yet. */
void stage_of(const struct graph *whole, int64_t stages, int64_t stage, struct stage *out);

/* Which experts the tokens of its layers go to. `routing` is of all layers. */
void stage_route(struct stage *out, const struct graph *whole, const struct llm_routing *routing);

/* NULL, or which number of stages would do, in `why`. */
const char *stage_refuse(int64_t layers, int64_t dense_layers, int64_t stages, char why[256]);

#endif
