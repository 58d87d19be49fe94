/* pipeline.h -- all stages of an iteration: simulated one by one, and what they come to together.
 */
#ifndef PIPELINE_H
#define PIPELINE_H
#include "cli/llm/energy.h"
#include "cli/llm/llm_search.h"
#include "cli/llm/stage.h"

struct pipeline {
    struct graph graph; /* its operations are those of the stage that first has them */
    struct found found[GRAPH_OPS_MAX];
    const char *cause[GRAPH_OPS_MAX];
    struct energy_counts *counts; /* owned: [GRAPH_OPS_MAX]; NULL: the machine has no such keys */
    int64_t stages, micro;
    int64_t *stage_fs; /* owned: of one part of the requests */
    int64_t *calls;    /* owned: [stage][GRAPH_OPS_MAX]: how often operations are done for it */
    int64_t sum_fs, slowest_fs;
    struct iteration
        all; /* its operations, as often as they are done; fs: until all have gone through */
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

/* What stages are simulated with. */
struct simulator {
    const struct cli *cli;
    const struct chip *chip;
    struct searched *known; /* tiles */
    uint64_t tries;
    const char *chakra; /* where the one stage goes as a trace; NULL: nowhere */
    bool skips_causes;
};

/*
 * Simulates all stages of `given`, which has no places yet, and adds them. `routing` may be NULL.
 *
 * returns  as run_graph() and search_tiles()
 */
enum exit_code pipeline_run(struct simulator *sim, const struct graph *given, const struct shape *s,
                            const struct llm_routing *routing, struct pipeline *p);

#endif
