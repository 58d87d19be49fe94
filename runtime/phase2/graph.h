/* graph.h -- which operations wait for which, by the versions that they read and make. */
#ifndef GRAPH_H
#define GRAPH_H
#include "record/oplog.h"

/* Products that are equal in shape, dtypes, layout and transposition, and small. */
struct graph_group {
    struct op like; /* one of them; what it refers to is not valid any more */
    uint32_t n;     /* operations */
    uint32_t batch; /* so many at a time are worth a thread's while */
};

/* Group 0 has all other operations. More kinds of products than this go there, too. */
enum { GRAPH_GROUPS_MAX = 64 };

/* An operation, or the point where all pieces of a version are there. */
struct graph_node {
    uint32_t waits; /* for so many edges */
    uint32_t first; /* of its edges */
    uint8_t group;
    bool is_wide; /* a product of several parts */
};

/* A version that some operation makes, or multiplies, or that has pieces. */
struct graph_version {
    struct version *v; /* borrowed; NULL: an empty slot */
    uint32_t node;     /* that it waits for; GRAPH_NONE: none */
    uint32_t products; /* that have it as an operand and are not computed */
};

enum { GRAPH_NONE = UINT32_MAX };

struct graph {
    uint32_t n_ops, n_nodes, n_edges, nodes_cap, edges_cap, n_groups;
    struct graph_node *nodes; /* owned; [n_nodes + 1]: operations as the log counts them, joins */
    uint32_t *edges;          /* owned; the nodes that wait */
    uint32_t *from;           /* owned; only while it is built */
    struct graph_version *versions; /* owned; by hash */
    uint32_t n_versions, slots;
    struct graph_group groups[GRAPH_GROUPS_MAX];
};

/*
 * The graph of all operations that `log` has to be computed. A version is never written twice and
 * an operation is issued after those whose results it reads, so there is no circle.    design 6, 8
 *
 * returns  KB_INTERNAL: an operand that nobody makes; KB_NO_MEMORY
 */
kb_status graph_build(struct graph *g, struct op_log *log, kb_error *why);
void graph_free(struct graph *g);

struct graph_version *graph_find(const struct graph *g, const struct version *v); /* or NULL */

/* Calls `each` for every operand that is a tensor. */
void graph_operands(struct op *op, void (*each)(void *arg, struct op_tensor *t), void *arg);

#endif
