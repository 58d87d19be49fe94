/* graph.h -- which operations wait for which, by the versions that they read and make. */
#ifndef GRAPH_H
#define GRAPH_H
#include "phase2/cone.h"

/* Small products of the same shape, dtypes, layout and transposition. */
struct graph_group {
    struct op like; /* one of them; its pointers are no longer valid */
    uint32_t n;     /* operations */
    uint32_t batch; /* how many a thread takes at a time */
};

/* Group 0 has all other operations, and products for which there is no group left. */
enum { GRAPH_GROUPS_MAX = 64 };

/* An operation, or a join: all pieces of a version are known. */
struct graph_node {
    uint32_t waits; /* edges into it, from nodes that are not done */
    uint32_t first; /* of the edges that leave it */
    uint8_t group;
    bool is_wide; /* a product of several parts */
};

/* A version that an operation makes or multiplies, or that has pieces. */
struct graph_version {
    struct version *v; /* borrowed; NULL: an empty slot */
    uint32_t node;     /* that makes it; GRAPH_NONE: none */
    uint32_t products; /* that multiply it and are not computed */
};

enum { GRAPH_NONE = UINT32_MAX };

struct graph {
    struct operations operations; /* owned; of the operations, in the log */
    uint32_t n_ops, n_nodes, n_edges, nodes_cap, edges_cap, n_groups;
    struct graph_node *nodes; /* owned; [n_nodes + 1]: operations as `operations` has them, joins */
    uint32_t *edges;          /* owned; [n_edges]: the nodes that wait */
    uint32_t *from;           /* owned; [n_edges]: the others; only while the graph is built */
    struct graph_version *versions; /* owned; a hash table */
    uint32_t n_versions, slots;
    struct graph_group groups[GRAPH_GROUPS_MAX];
};

/*
 * Builds the graph of operations of `log` that are not computed, with all that they wait for. Takes
 * `operations`.
 *
 * returns  KB_INTERNAL: an operand that no operation makes; KB_NO_MEMORY
 */
kb_status graph_build(struct graph *g, struct op_log *log, struct operations operations,
                      kb_error *why);
void graph_free(struct graph *g);

struct graph_version *graph_find(const struct graph *g, const struct version *v); /* or NULL */

/* Calls `each` for every operand that is a tensor. */
void graph_operands(struct op *op, void (*each)(void *arg, struct op_tensor *t), void *arg);

#endif
