/*
 * graph.c -- one layer of a model, tensor-parallel over tp ranks, as a list of operations.
 *
 * Llama's family: norm, qkv, rope, attention, o, all_reduce, norm, gate_up, act, down, all_reduce.
 * Falcon: attention and MLP side by side from one norm (two in models with two), their sum, one
 * all_reduce. Before the layers the embedding; behind them norm, head, topk, all_gather for the
 * last token of each request, if the prompt ends here. A norm adds what the all_reduce before it
 * has left to the residual.
 */
#include "cli/llm/graph.h"
#include <stdio.h>
#include <string.h>

enum { ALIGN = 256 };

static struct llm_op *add(struct graph *g, const char *id, enum llm_kind kind, bool is_layer)
{
    struct llm_op *op = &g->op[g->n++];

    *op = (struct llm_op){.kind = kind, .is_layer = is_layer};
    snprintf(op->id, sizeof op->id, "%s", id);
    return op;
}

static struct llm_matrix matrix(const struct shape *s, int64_t rows, int64_t cols, int64_t unit)
{
    return (struct llm_matrix){rows, cols, unit, 0, s->act};
}

/* What operations hand to one another. */
struct flow {
    const struct model *m;
    const struct shape *s;
    struct graph *g;
    int64_t tokens, heads, kv_heads, inter;
    struct llm_matrix x, delta, normed; /* residual, what is added to it, and its norm */
};

static void norm(struct flow *f, const char *id, bool is_layer, bool has_z)
{
    struct llm_op *op = add(f->g, id, f->m->layernorm ? LLM_LAYERNORM : LLM_NORM, is_layer);

    op->x = f->x;
    op->z = f->delta;
    op->y = f->normed;
    op->has_z = has_z;
}

static void gemm(struct flow *f, const char *id, struct llm_matrix x, struct llm_matrix y)
{
    struct llm_op *op = add(f->g, id, LLM_GEMM, true);

    op->x = x;
    op->y = y;
    op->weight_dtype = f->s->weights;
}

static void rows(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
                 struct llm_matrix y)
{
    struct llm_op *op = add(f->g, id, kind, true);

    op->x = x;
    op->y = y;
}

static void all_reduce(struct flow *f, const char *id, bool is_layer, struct llm_matrix y)
{
    if (f->s->tp == 1)
        return;
    struct llm_op *op = add(f->g, id, LLM_ALL_REDUCE, is_layer);

    op->x = op->y = y;
    op->bytes = y.rows * y.cols * (int64_t)kb_dtype_bytes(y.dtype);
}

/* An operation on heads. */
static void heads(struct flow *f, const char *id, enum llm_kind kind, struct llm_matrix x,
                  struct llm_matrix y)
{
    rows(f, id, kind, x, y);
    struct llm_op *op = &f->g->op[f->g->n - 1];
    op->heads = f->heads;
    op->kv_heads = f->kv_heads;
    op->dim = f->m->head_dim;
    op->batch = f->s->batch;
    op->q = f->s->q;
    op->kv = f->s->kv;
}

/* qkv, rope, attention and o; the result is partial sums in `out`. */
static void attention(struct flow *f, struct llm_matrix out, uint64_t at)
{
    int64_t e = f->m->head_dim;
    struct llm_matrix qkv = matrix(f->s, f->tokens, (f->heads + 2 * f->kv_heads) * e, 1);
    struct llm_matrix o = matrix(f->s, f->tokens, f->heads * e, 1);

    qkv.at = at;
    o.at = at + 1;
    gemm(f, "qkv", f->normed, qkv);
    if (f->m->qk_norm)
        heads(f, "qk_norm", LLM_QK_NORM, qkv, qkv);
    heads(f, "rope", LLM_ROPE, qkv, qkv);
    heads(f, "attention", LLM_ATTENTION, qkv, o);
    gemm(f, "o", o, out);
}

static void mlp(struct flow *f, struct llm_matrix out)
{
    struct llm_matrix a = matrix(f->s, f->tokens, f->inter, 1), up = a;

    if (!f->m->layernorm) {
        up.cols *= 2;
        up.unit = 2;
    }
    up.at = 7;
    a.at = 8;
    gemm(f, f->m->layernorm ? "up" : "gate_up", f->normed, up);
    rows(f, "act", f->m->layernorm ? LLM_GELU : LLM_SILU, up, a);
    gemm(f, "down", a, out);
}

static void layer(struct flow *f)
{
    struct llm_matrix other = f->delta;

    norm(f, "norm1", true, true);
    if (f->m->parallel) {
        other.at = 9;
        attention(f, other, 5);
        if (f->m->norms == 2)
            norm(f, "norm2", true, false);
        mlp(f, f->delta);
        rows(f, "add", LLM_ADD, f->delta, f->delta);
        f->g->op[f->g->n - 1].z = other;
        all_reduce(f, "all_reduce1", true, f->delta);
        return;
    }
    attention(f, f->delta, 5);
    all_reduce(f, "all_reduce1", true, f->delta);
    norm(f, "norm2", true, true);
    mlp(f, f->delta);
    all_reduce(f, "all_reduce2", true, f->delta);
}

static void head(struct flow *f)
{
    int64_t vocab = (f->m->vocab + f->s->tp - 1) / f->s->tp;
    struct llm_matrix last = matrix(f->s, f->s->batch, f->m->hidden, 1);
    struct llm_matrix logits = matrix(f->s, f->s->batch, vocab, 1), best = logits;

    last.at = 10;
    logits.at = 11;
    best.at = 12;
    best.dtype = KB_I64;
    best.cols = 1; /* of a PE: graph_place() */
    norm(f, "norm", false, true);
    f->g->op[f->g->n - 1].y = last;
    gemm(f, "head", last, logits);
    f->g->op[f->g->n - 1].is_layer = false;
    rows(f, "topk", LLM_TOPK, logits, best);
    f->g->op[f->g->n - 1].is_layer = false;
    struct llm_op *op = add(f->g, "all_gather", LLM_ALL_GATHER, false);
    op->x = op->y = best;
    op->bytes = 8 * f->s->batch * f->s->tp;
}

void graph_of_model(const struct model *m, const struct shape *s, struct graph *out)
{
    struct flow f = {.m = m,
                     .s = s,
                     .g = out,
                     .tokens = s->batch * s->q,
                     .heads = m->heads / s->tp,
                     .kv_heads = m->kv_heads > s->tp ? m->kv_heads / s->tp : 1,
                     .inter = m->inter / s->tp};

    memset(out, 0, sizeof *out);
    out->layers = m->layers;
    f.x = f.delta = f.normed = matrix(s, f.tokens, m->hidden, 1);
    f.x.at = 1;
    f.delta.at = 2;
    f.normed.at = 3;
    struct llm_op *op = add(out, "embed", LLM_EMBED, false);
    op->x = matrix(s, f.tokens, (m->vocab + s->tp - 1) / s->tp, 1);
    op->y = f.x;
    all_reduce(&f, "all_reduce0", false, f.x);
    layer(&f);
    if (!s->has_more)
        head(&f);
}

/* -- places ----------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Bytes of the own part of the weight of a layer. */
static uint64_t weight_part(const struct llm_op *op, uint32_t p, uint32_t q)
{
    struct llm_matrix w = {
        .rows = op->x.cols, .cols = op->y.cols, .unit = op->y.unit, .dtype = op->weight_dtype};

    switch (op->kind) {
    case LLM_EMBED:
        w.dtype = op->y.dtype;
        return llm_part_bytes(&w, p, q);
    case LLM_GEMM:
        return llm_part_bytes(&w, p, q);
    case LLM_NORM:
    case LLM_LAYERNORM:
        w.rows = 1;
        w.dtype = op->y.dtype;
        return llm_part_bytes(&w, 1, q);
    default:
        return 0;
    }
}

enum { N_MATRICES = GRAPH_MATRICES };

/* Until graph_place() has run, `at` of a matrix is its number. */
struct places {
    uint64_t at[N_MATRICES], bytes[N_MATRICES];
};

static void note(struct places *places, const struct llm_matrix *m, uint32_t p, uint32_t q)
{
    uint64_t bytes = m->rows > 0 ? aligned(llm_part_bytes(m, p, q)) : 0;

    if (bytes > places->bytes[m->at])
        places->bytes[m->at] = bytes;
}

static int64_t most_rows(const struct graph *g)
{
    int64_t most = 0;

    for (size_t i = 0; i < g->n; i++)
        most = g->op[i].y.rows > most ? g->op[i].y.rows : most;
    return most;
}

void graph_place(struct graph *g, const struct shape *s, uint32_t p, uint32_t q)
{
    struct places places = {{0}, {0}};
    struct llm_step step = {.pes = p * q, .page = s->page, .kv_dtype = s->kv_dtype};
    uint64_t at = 0;

    for (size_t i = 0; i < g->n; i++) {
        struct llm_op *op = &g->op[i];

        if (op->kind == LLM_TOPK || op->kind == LLM_ALL_GATHER)
            op->y.cols = q;
        if (op->kind == LLM_ALL_GATHER)
            op->x = op->y;
        if (op->kind == LLM_ROPE)
            op->z = (struct llm_matrix){op->x.rows, op->dim * q, op->dim, GRAPH_TURNED, KB_F32};
        note(&places, &op->x, p, q);
        note(&places, &op->y, p, q);
        note(&places, &op->z, p, q);
    }
    places.bytes[0] = 0; /* the number of no matrix: the table of the embedding */
    for (int i = 0; i < N_MATRICES; i++) {
        places.at[i] = at;
        at += places.bytes[i];
    }
    g->scratch = at;
    at += aligned((uint64_t)(most_rows(g) * 8));
    for (size_t i = 0; i < g->n; i++) {
        struct llm_op *op = &g->op[i];

        op->x.at = places.at[op->x.at];
        op->y.at = places.at[op->y.at];
        op->z.at = places.at[op->z.at];
        op->weight = at;
        op->weight_bytes = aligned(weight_part(op, p, q));
        at += op->weight_bytes * (uint64_t)(op->is_layer ? g->layers : 1);
        if (op->kind == LLM_ATTENTION)
            g->kv_bytes = aligned(llm_kv_bytes(op, &step));
    }
    g->kv_at = at;
    g->room = at + g->kv_bytes * (uint64_t)g->layers;
}

/* -- work ------------------------------------------------------------------------------------- */

/* Pairs of a token and one that it sees, of one request. */
static int64_t pairs(const struct llm_op *op)
{
    int64_t q = op->q, kv = op->kv;

    return q * (kv - q) + q * (q + 1) / 2;
}

uint64_t op_flops(const struct llm_op *op)
{
    if (op->kind == LLM_GEMM)
        return (uint64_t)(2 * op->y.rows * op->y.cols * op->x.cols);
    if (op->kind == LLM_ATTENTION)
        return (uint64_t)(2 * op->heads * 2 * op->dim * op->batch * pairs(op));
    return 0;
}

static uint64_t matrix_bytes(const struct llm_matrix *m)
{
    return (uint64_t)(m->rows * m->cols) * kb_dtype_bytes(m->dtype);
}

static uint64_t new_kv_bytes(const struct llm_op *op, const struct shape *s)
{
    return (uint64_t)(2 * op->batch * op->q * op->kv_heads * op->dim) * kb_dtype_bytes(s->kv_dtype);
}

/* The columns of q and k. */
static uint64_t turned_bytes(const struct llm_op *op)
{
    return (uint64_t)(op->x.rows * (op->heads + op->kv_heads) * op->dim) *
           kb_dtype_bytes(op->x.dtype);
}

uint64_t op_read_bytes(const struct llm_op *op, const struct shape *s)
{
    uint64_t x = matrix_bytes(&op->x), element = kb_dtype_bytes(op->y.dtype);

    switch (op->kind) {
    case LLM_EMBED:
        return matrix_bytes(&op->y);
    case LLM_GEMM:
        return x + (uint64_t)(op->x.cols * op->y.cols) * kb_dtype_bytes(op->weight_dtype);
    case LLM_ATTENTION:
        return (uint64_t)(op->kv_heads * 2 * op->dim * op->batch * op->kv) *
                   kb_dtype_bytes(s->kv_dtype) +
               (uint64_t)(op->x.rows * op->heads * op->dim) * kb_dtype_bytes(op->x.dtype);
    case LLM_NORM:
    case LLM_LAYERNORM:
        return matrix_bytes(&op->y) * (op->has_z ? 2 : 1) + (uint64_t)op->y.cols * element;
    case LLM_QK_NORM:
        return turned_bytes(op) + (uint64_t)(2 * op->dim) * element;
    case LLM_ROPE:
        return matrix_bytes(&op->x) + (uint64_t)(op->x.rows * op->dim * 4);
    case LLM_ADD:
        return 2 * x;
    case LLM_SILU:
    case LLM_GELU:
    case LLM_TOPK:
        return x;
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
        return 0;
    }
    return 0;
}

uint64_t op_written_bytes(const struct llm_op *op, const struct shape *s)
{
    switch (op->kind) {
    case LLM_QK_NORM:
        return turned_bytes(op);
    case LLM_ROPE:
        return turned_bytes(op) + new_kv_bytes(op, s);
    case LLM_NORM:
    case LLM_LAYERNORM:
        return matrix_bytes(&op->y) * (op->has_z ? 2 : 1);
    case LLM_TOPK:
        return (uint64_t)op->y.rows * 8;
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
        return 0;
    default:
        return matrix_bytes(&op->y);
    }
}

uint64_t op_link_bytes(const struct llm_op *op, const struct shape *s)
{
    uint64_t others = (uint64_t)(s->tp - 1), n = (uint64_t)s->tp;

    if (op->kind == LLM_ALL_REDUCE)
        return 2 * (uint64_t)op->bytes / n * others;
    return op->kind == LLM_ALL_GATHER ? (uint64_t)op->bytes / n * others : 0;
}

const char *graph_refuse(const struct model *m, int64_t tp, char why[256])
{
    size_t at = (size_t)snprintf(why, 256, "possible are");

    if (m->heads % tp == 0 && m->inter % tp == 0 &&
        (m->kv_heads % tp == 0 || tp % m->kv_heads == 0))
        return NULL;
    for (int64_t n = 1; n <= m->heads && at < 240; n++)
        if (m->heads % n == 0 && m->inter % n == 0 &&
            (m->kv_heads % n == 0 || n % m->kv_heads == 0))
            at += (size_t)snprintf(why + at, 256 - at, " %lld", (long long)n);
    return why;
}
