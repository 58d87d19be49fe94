/* graph_yaml.h -- the operations of an iteration as a YAML file: written, and read again. */
#ifndef GRAPH_YAML_H
#define GRAPH_YAML_H
#include "cli/llm/llm_graph.h"

/* A graph from a file, before it has places. */
struct graph_file {
    struct graph graph;
    struct shape shape; /* all but the page */
    /* Rows of each expert, if it has some: owned, [experts]; of `tokens` each has `chosen`. */
    int64_t *rows, experts, chosen, tokens;
};
void graph_file_free(struct graph_file *f);

/* Is FILE a graph, and not a model's config: has it the key kernbench_graph at the top? */
bool graph_yaml_is(const char *file);

/* EXIT_OK; EXIT_INPUT after up to 20 messages, EXIT_SYSTEM after one. Give back with
 * graph_file_free(), also after these. */
enum exit_code graph_yaml_read(const char *program, const char *file, struct graph_file *out);

/* `g` has no places yet. EXIT_SYSTEM after a message. */
enum exit_code graph_yaml_write(const char *program, const char *file, const struct graph *g,
                                const struct shape *s);

/* The name of a matrix's number, and the number of a name: 0: none has it. */
const char *graph_matrix_name(uint64_t number);
uint64_t graph_matrix_number(const char *name);

#endif
