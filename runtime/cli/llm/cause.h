/* cause.h -- what the time of an operation is spent for, in a word. */
#ifndef CAUSE_H
#define CAUSE_H
#include "cli/llm/run.h"

/*
 * Simulates one layer, and writes for each operation of `g` the largest share of its part of the
 * critical path; NULL: it has none.
 */
enum exit_code causes_of(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const char *cause[GRAPH_OPS_MAX]);

#endif
