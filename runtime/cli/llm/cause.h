/* cause.h -- what the time of an operation is spent for, in a word. */
#ifndef CAUSE_H
#define CAUSE_H
#include "cli/llm/run.h"

/*
 * Simulates what ranks do alone, as run_alone() does, and writes for each operation of these the
 * largest share of its part of the critical path; NULL: it has none.
 */
enum exit_code causes_alone(const struct cli *cli, const struct chip *c, const struct graph *g,
                            const struct shape *s, struct llm_known *known,
                            const char *cause[GRAPH_OPS_MAX]);

/* Simulates one layer, and writes those of the operations that are not known. */
enum exit_code causes_of(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const struct llm_known *known,
                         const char *cause[GRAPH_OPS_MAX]);

#endif
