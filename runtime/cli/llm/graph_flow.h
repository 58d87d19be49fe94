/* graph_flow.h -- what the operations of a layer are made with: one calls the next. */
#ifndef GRAPH_FLOW_H
#define GRAPH_FLOW_H
#include "cli/llm/llm_graph.h"

/* What operations hand to one another. */
struct flow {
    const struct model *m;
    const struct shape *s;
    struct graph *g;
    int64_t tokens, heads, kv_heads;
    struct llm_matrix x, delta, normed; /* residual, what is added to it, and its norm */
};

/* A new one, all else 0. */
struct llm_op *flow_add(struct graph *g, const char *id, enum llm_kind kind, bool is_layer);

struct llm_matrix flow_matrix(const struct shape *s, int64_t rows, int64_t cols, int64_t unit);
void flow_norm(struct flow *f, const char *id, bool is_layer, bool has_z);
void flow_gemm(struct flow *f, const char *id, struct llm_matrix x, struct llm_matrix y);
void flow_rows(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
               struct llm_matrix y);
/* The type of weights that no quantization changes. */
kb_dtype flow_plain_weights(const struct flow *f);

/* An operation on heads. */
void flow_heads(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
                struct llm_matrix y);
void flow_all_reduce(struct flow *f, const char *id, bool is_layer, struct llm_matrix y);

/* Up, activation and down, of these names; partial sums in `out`. */
void flow_mlp(struct flow *f, const char *const id[3], int64_t inter, struct llm_matrix out);

/* Attention over latents: graph_latent.c; partial sums in `out`. */
void flow_latent(struct flow *f, struct llm_matrix out);

/* The same of experts: graph_experts.c. */
void flow_experts(struct flow *f, struct llm_matrix out);

#endif
