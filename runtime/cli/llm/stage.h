/* stage.h -- stages of a pipeline: the layers of each, and what they come to together. */
#ifndef STAGE_H
#define STAGE_H
#include "cli/llm/run.h"

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

/* All stages together. `all` has the operations of the whole, as often as they are done. */
struct pipeline {
    int64_t stages, micro;
    int64_t *stage_fs; /* owned: of one part of the requests */
    int64_t sum_fs, slowest_fs;
    struct iteration all; /* fs: until all have gone through */
};

/* Begins with none; give back with pipeline_free(). */
void pipeline_begin(struct pipeline *p, const struct shape *s);
void pipeline_add(struct pipeline *p, const struct stage *stage, const struct iteration *took);

/*
 * Sets the time of all: of a decode step that of the slowest stage as many times as there are
 * stages, or parts if these are more; of a prompt, all stages and the slowest for each other part.
 */
void pipeline_end(struct pipeline *p, bool is_decode);
void pipeline_free(struct pipeline *p);

/* In which stages wait, all of them together. */
int64_t pipeline_bubble_fs(const struct pipeline *p);

/* NULL, or which number of stages would do, in `why`. */
const char *stage_refuse(int64_t layers, int64_t dense_layers, int64_t stages, char why[256]);

#endif
