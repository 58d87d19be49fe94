/* graph.h -- the operations of one iteration of a model in one rank, with their work. */
#ifndef GRAPH_H
#define GRAPH_H
#include "benches/llm/step.h"
#include "cli/llm/model.h"

/* Numbers of matrices, until they have places: 0 is none, and TURNED what rope reads of tables. */
enum { GRAPH_OPS_MAX = 64, GRAPH_MATRICES = 96, GRAPH_TURNED = 13 };

/* What an iteration is made of. */
struct shape {
    int64_t tp, batch, q, kv; /* ranks, requests, new tokens of each, tokens with the new ones */
    int64_t page;
    bool has_more; /* of its prompts is to come: no head */
    kb_dtype weights, act, kv_dtype;
};

struct graph {
    struct llm_op op[GRAPH_OPS_MAX];
    size_t n;
    int64_t layers;
    struct llm_limit limit;                  /* of one product */
    uint64_t room, kv_at, kv_bytes, scratch; /* bytes of a PE in all; see struct llm_step */
};

/* Makes the operations; places are set by graph_place(). */
void graph_of_model(const struct model *m, const struct shape *s, struct graph *out);

/* Gives every matrix and weight its place in a PE of a grid of p x q. */
void graph_place(struct graph *g, const struct shape *s, uint32_t p, uint32_t q);

/* What an operation computes, reads and writes in a rank. */
uint64_t op_flops(const struct llm_op *op);
uint64_t op_read_bytes(const struct llm_op *op, const struct shape *s);
uint64_t op_written_bytes(const struct llm_op *op, const struct shape *s);

/* Bytes that a rank sends over links, at least; 0: none. */
uint64_t op_link_bytes(const struct llm_op *op, const struct shape *s);

/* NULL, or which number of ranks would do, in `why`. */
const char *graph_refuse(const struct model *m, int64_t tp, char why[256]);

#endif
