/* graph_flow.c -- single operations of a layer, and the MLP. */
#include "cli/llm/graph_flow.h"
#include <stdio.h>

struct llm_op *flow_add(struct graph *g, const char *id, enum llm_kind kind, bool is_layer)
{
    struct llm_op *op = &g->op[g->n++];

    *op = (struct llm_op){.kind = kind, .is_layer = is_layer};
    snprintf(op->id, sizeof op->id, "%s", id);
    return op;
}

struct llm_matrix flow_matrix(const struct shape *s, int64_t rows, int64_t cols, int64_t unit)
{
    return (struct llm_matrix){rows, cols, unit, 0, s->act, 0};
}

void flow_norm(struct flow *f, const char *id, bool is_layer, bool has_z)
{
    struct llm_op *op = flow_add(f->g, id, f->m->layernorm ? LLM_LAYERNORM : LLM_NORM, is_layer);

    op->x = f->x;
    op->z = f->delta;
    op->y = f->normed;
    op->has_z = has_z;
}

void flow_gemm(struct flow *f, const char *id, struct llm_matrix x, struct llm_matrix y)
{
    struct llm_op *op = flow_add(f->g, id, LLM_GEMM, true);

    op->x = x;
    op->y = y;
    op->weight_dtype = f->s->weights;
}

kb_dtype flow_plain_weights(const struct flow *f)
{
    return f->s->head_weights == KB_DEFAULT ? f->s->weights : f->s->head_weights;
}

void flow_rows(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
               struct llm_matrix y)
{
    struct llm_op *op = flow_add(f->g, id, kind, true);

    op->x = x;
    op->y = y;
}

void flow_all_reduce(struct flow *f, const char *id, bool is_layer, struct llm_matrix y)
{
    if (f->s->tp == 1)
        return;
    struct llm_op *op = flow_add(f->g, id, LLM_ALL_REDUCE, is_layer);

    op->x = op->y = y;
    op->bytes = y.rows * y.cols * (int64_t)kb_dtype_bytes(y.dtype);
}

void flow_heads(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
                struct llm_matrix y)
{
    flow_rows(f, id, kind, x, y);
    struct llm_op *op = &f->g->op[f->g->n - 1];
    op->heads = f->heads;
    op->kv_heads = f->kv_heads;
    op->dim = f->m->head_dim;
    op->batch = f->s->batch;
    op->q = f->s->q;
    op->kv = f->s->kv;
    op->requests = f->s->requests;
}

void flow_mlp(struct flow *f, const char *const id[3], int64_t inter, struct llm_matrix out)
{
    struct llm_matrix a = flow_matrix(f->s, f->tokens, inter, 1), up = a;

    if (!f->m->layernorm) {
        up.cols *= 2;
        up.unit = 2;
    }
    up.at = GRAPH_UP;
    a.at = GRAPH_ACT;
    flow_gemm(f, id[0], f->normed, up);
    flow_rows(f, id[1], f->m->layernorm ? LLM_GELU : LLM_SILU, up, a);
    flow_gemm(f, id[2], a, out);
}
