/*
 * graph_latent.c -- attention of DeepSeek: of each token one latent is kept for all heads.
 *
 * One new token of each request: the query, by way of a latent of its own if the model has one, is
 * multiplied by each head's matrix of keys (absorb), attention is over latents with one head of
 * keys, and each head's matrix of values makes its result (expand). More new tokens: latents of all
 * tokens are read from their pages (kv_read), and a product makes keys and values of each head of
 * them (kv_up), over which attention is as ever. Latents are not cut over ranks; heads are. See
 * benches/llm/latent.c.
 */
#include "cli/llm/graph_flow.h"

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static struct llm_matrix latent_matrix(const struct flow *f, int64_t cols, int64_t unit,
                                       uint64_t at)
{
    struct llm_matrix m = flow_matrix(f->s, f->tokens, cols, unit);

    m.at = at;
    return m;
}

static struct llm_op *last(struct flow *f)
{
    return &f->g->op[f->g->n - 1];
}

/* x, and y as its norm. */
static void norm(struct flow *f, const char *id, struct llm_matrix x, struct llm_matrix y)
{
    flow_norm(f, id, true, false);
    last(f)->x = x;
    last(f)->y = y;
    last(f)->z = (struct llm_matrix){0};
}

/* A product of each head's columns: `depth` of those of x, by a matrix of its own. */
static void by_heads(struct flow *f, const char *id, struct llm_matrix x, struct llm_matrix y,
                     int64_t depth)
{
    flow_gemm(f, id, x, y);
    last(f)->heads = f->heads;
    last(f)->depth = depth;
}

/* q of all heads, turned. */
static struct llm_matrix queries(struct flow *f)
{
    const struct model *m = f->m;
    struct llm_matrix q = latent_matrix(f, f->heads * (m->nope_dim + m->rope_dim), 1, GRAPH_QKV);
    struct llm_matrix down = latent_matrix(f, m->q_latent, 1, GRAPH_Q_LATENT);
    struct llm_matrix normed = latent_matrix(f, m->q_latent, 1, GRAPH_Q_NORMED);

    if (m->q_latent) {
        flow_gemm(f, "q_down", f->normed, down);
        norm(f, "q_norm", down, normed);
    }
    flow_gemm(f, m->q_latent ? "q_up" : "q", m->q_latent ? normed : f->normed, q);
    flow_rows(f, "q_rope", LLM_Q_ROPE, q, q);
    last(f)->heads = f->heads;
    last(f)->turned = m->rope_dim;
    return q;
}

/* What is kept of each token, and attention over it. */
static void of_latents(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
                       struct llm_matrix y)
{
    flow_heads(f, id, kind, x, y);
    struct llm_op *op = last(f);
    op->kv_heads = 1;
    op->dim = f->m->latent + f->m->rope_dim;
    op->v_dim = f->m->latent;
    op->turned = f->m->rope_dim;
    op->latent = true;
}

/* Attention over one head of latents. */
static void absorbed(struct flow *f, struct llm_matrix q, struct llm_matrix values)
{
    struct llm_matrix wide = latent_matrix(f, f->heads * f->m->latent, 1, GRAPH_ABSORBED);
    struct llm_matrix sums = latent_matrix(f, f->heads * f->m->latent, 1, GRAPH_LATENT_SUMS);

    by_heads(f, "absorb", q, wide, f->m->nope_dim);
    of_latents(f, "attention", LLM_ATTENTION, wide, sums);
    last(f)->z = q;
    by_heads(f, "expand", sums, values, f->m->latent);
}

/* Attention over keys and values that are made of the latents of all tokens. */
static void made(struct flow *f, struct llm_matrix q, struct llm_matrix values)
{
    const struct model *m = f->m;
    struct llm_matrix kept = latent_matrix(f, m->latent + m->rope_dim, 1, GRAPH_KEPT);
    struct llm_matrix kv = latent_matrix(f, f->heads * (m->nope_dim + m->v_dim), 1, GRAPH_MADE);

    kept.rows = kv.rows = f->s->batch * f->s->kv;
    of_latents(f, "kv_read", LLM_KEPT, kept, kept);
    flow_gemm(f, "kv_up", kept, kv);
    last(f)->heads = 1;
    last(f)->depth = m->latent;
    flow_heads(f, "attention", LLM_ATTENTION, q, values);
    struct llm_op *op = last(f);
    op->kv_heads = f->heads;
    op->dim = m->nope_dim + m->rope_dim;
    op->v_dim = m->v_dim;
    op->z = kv;
    op->keys = kept;
    op->has_made = true;
}

void flow_latent(struct flow *f, struct llm_matrix out)
{
    const struct model *m = f->m;
    int64_t units = gcd(m->latent, m->rope_dim), each = m->latent / units;
    struct llm_matrix kv =
        latent_matrix(f, m->latent + m->rope_dim, each + m->rope_dim / units, GRAPH_LATENT);
    struct llm_matrix normed = latent_matrix(f, m->latent, each, GRAPH_LATENT_NORMED);
    struct llm_matrix values = latent_matrix(f, f->heads * m->v_dim, 1, GRAPH_HEADS);
    struct llm_matrix q = queries(f);

    flow_gemm(f, "kv_down", f->normed, kv);
    norm(f, "kv_norm", kv, normed);
    of_latents(f, "kv_rope", LLM_LATENT, kv, normed);
    (f->s->q > 1 ? made : absorbed)(f, q, values);
    flow_gemm(f, "o", values, out);
}
