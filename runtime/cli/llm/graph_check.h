/* graph_check.h -- what an operation of a graph from a file must keep. */
#ifndef GRAPH_CHECK_H
#define GRAPH_CHECK_H
#include "cli/llm/llm_graph.h"

enum { GRAPH_WHY_BYTES = 160 };

/* Is it a type that activations may have? */
bool graph_floats(kb_dtype dtype);

/* Why no matrix has such a type, as "is no type"; NULL: it may have. */
const char *graph_refuses_type(kb_dtype dtype);

/* Can `op` of a graph with `times` repetitions not be simulated? Then `why` says so. */
bool graph_op_wrong(const struct llm_op *op, const struct shape *s, int64_t times,
                    char why[GRAPH_WHY_BYTES]);

#endif
