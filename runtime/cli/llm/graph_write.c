/*
 * graph_write.c -- a graph as YAML, a line for each operation.
 *
 *     kernbench_graph: 1
 *     ranks: 8
 *     repeat: {layer: 16}
 *     nodes:
 *     - {id: embed, op: embed, rows: 4, width: 2048, table: 16032, y: x}
 *     - {begin: layer}
 *     - {id: norm1, op: norm, rows: 4, width: 2048, residual: true, x: x, z: delta, y: normed}
 *     - {id: qkv, op: gemm, m: 4, n: 384, k: 2048, a: bf16, b: bf16, out: bf16, x: normed, y: qkv}
 *
 * x, y and z name matrices, which lie where they lie, whatever reads or writes them: so what is
 * read again has the same addresses, and takes the same times on machines that ask for these.
 */
#include "cli/llm/graph_yaml.h"
#include "base/text.h"
#include "cli/out/sink.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* By their numbers in llm_graph.c. */
static const char *const names[] = {
    [GRAPH_X] = "x",
    [GRAPH_DELTA] = "delta",
    [GRAPH_NORMED] = "normed",
    [GRAPH_QKV] = "qkv",
    [GRAPH_HEADS] = "heads",
    [GRAPH_UP] = "up",
    [GRAPH_ACT] = "act",
    [GRAPH_OTHER] = "other",
    [GRAPH_LAST] = "last",
    [GRAPH_LOGITS] = "logits",
    [GRAPH_BEST] = "best",
    [GRAPH_SCORES] = "scores",
    [GRAPH_RECEIVED] = "received",
    [GRAPH_RETURNED] = "returned",
    [GRAPH_EXPERTS_UP] = "rows_up",
    [GRAPH_EXPERTS_ACT] = "rows_act",
    [GRAPH_EXPERTS_DOWN] = "rows_down",
    [GRAPH_Q_LATENT] = "q_latent",
    [GRAPH_Q_NORMED] = "q_normed",
    [GRAPH_LATENT] = "latent",
    [GRAPH_LATENT_NORMED] = "latent_normed",
    [GRAPH_ABSORBED] = "absorbed",
    [GRAPH_LATENT_SUMS] = "latent_sums",
    [GRAPH_KEPT] = "kept",
    [GRAPH_MADE] = "made",
};

enum { N_NAMES = sizeof names / sizeof *names };

const char *graph_matrix_name(uint64_t number)
{
    return number < N_NAMES && names[number] ? names[number] : "";
}

uint64_t graph_matrix_number(const char *name)
{
    for (uint64_t i = 1; i < N_NAMES; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return i;
    return 0;
}

static void put(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct sink *s, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    text_vformat(text, sizeof text, format, args);
    va_end(args);
    sink_text(s, text);
}

static void put_rows(struct sink *s, const char *op, const struct llm_matrix *m)
{
    put(s, "op: %s, rows: %lld, width: %lld, dtype: %s", op, (long long)m->rows, (long long)m->cols,
        kb_dtype_name(m->dtype));
}

static void put_gemm(struct sink *s, const struct llm_op *op)
{
    put(s, "op: gemm, m: %lld, n: %lld, k: %lld, a: %s, b: %s, out: %s", (long long)op->y.rows,
        (long long)op->y.cols, (long long)(op->depth > 0 ? op->depth : op->x.cols),
        kb_dtype_name(op->x.dtype), kb_dtype_name(op->weight_dtype), kb_dtype_name(op->y.dtype));
    if (op->depth > 0)
        put(s, ", heads: %lld", (long long)op->heads);
    if (op->y.unit > 1)
        put(s, ", unit: %lld", (long long)op->y.unit);
}

/* Rows of experts, N or NxC of C with as many. */
static void put_rows_of_experts(struct sink *s, const struct llm_op *op)
{
    for (int64_t e = 0, n, copies; e < op->experts; e += copies) {
        n = llm_slots_of(op->routing, 0, e, 1);
        for (copies = 1; e + copies < op->experts; copies++)
            if (llm_slots_of(op->routing, 0, e + copies, 1) != n)
                break;
        put(s, "%s%lldx%lld", e > 0 ? ", " : "", (long long)n, (long long)copies);
    }
}

static void put_grouped(struct sink *s, const struct llm_op *op)
{
    put(s, "op: grouped_gemm, rows: [");
    put_rows_of_experts(s, op);
    put(s, "], each: %lld, n: %lld, k: %lld, a: %s, b: %s, out: %s", (long long)op->chosen,
        (long long)op->y.cols, (long long)op->x.cols, kb_dtype_name(op->x.dtype),
        kb_dtype_name(op->weight_dtype), kb_dtype_name(op->y.dtype));
    if (op->y.unit > 1)
        put(s, ", unit: %lld", (long long)op->y.unit);
}

static void put_lengths(struct sink *s, const char *word, const struct llm_op *op)
{
    put(s, "op: %s, q: [%lldx%lld], kv: [%lldx%lld]", word, (long long)op->q, (long long)op->batch,
        (long long)op->kv, (long long)op->batch);
}

/* Operations on heads: attention, rope, norms of q and k. */
static void put_heads(struct sink *s, const char *word, const struct llm_op *op, kb_dtype kv)
{
    put_lengths(s, word, op);
    put(s, ", heads: %lld, kv_heads: %lld, dim: %lld, a: %s, b: %s", (long long)op->heads,
        (long long)op->kv_heads, (long long)op->dim, kb_dtype_name(op->x.dtype), kb_dtype_name(kv));
    if (op->v_dim > 0)
        put(s, ", v_dim: %lld", (long long)op->v_dim);
    if (op->latent)
        put(s, ", latent: true");
}

/* What is kept of each token, and read again. */
static void put_kept(struct sink *s, const char *word, const struct llm_op *op, kb_dtype kv)
{
    put_lengths(s, word, op);
    put(s, ", dim: %lld, v_dim: %lld, a: %s, b: %s", (long long)op->dim, (long long)op->v_dim,
        kb_dtype_name(op->x.dtype), kb_dtype_name(kv));
}

static void put_norm(struct sink *s, const struct llm_op *op)
{
    put_rows(s, op->kind == LLM_NORM ? "norm" : "layernorm", &op->y);
    if (op->has_z)
        put(s, ", residual: true");
    if (op->x.rows != op->y.rows)
        put(s, ", of: %lld", (long long)op->x.rows);
    if (op->x.cols != op->y.cols)
        put(s, ", wide: %lld", (long long)op->x.cols);
    if (op->y.unit > 1)
        put(s, ", unit: %lld", (long long)op->y.unit);
}

static void put_collective(struct sink *s, const char *word, const struct llm_op *op,
                           const char *group)
{
    put(s, "op: %s, bytes: %lld, group: %s", word, (long long)op->bytes, group);
}

static void put_kind(struct sink *s, const struct llm_op *op, kb_dtype kv)
{
    switch (op->kind) {
    case LLM_EMBED:
        put_rows(s, "embed", &op->y);
        put(s, ", table: %lld", (long long)op->x.cols);
        break;
    case LLM_GEMM:
        (op->experts > 0 ? put_grouped : put_gemm)(s, op);
        break;
    case LLM_ATTENTION:
        put_heads(s, "attention", op, kv);
        break;
    case LLM_QK_NORM:
        put_heads(s, "qk_norm", op, kv);
        break;
    case LLM_ROPE:
        put_heads(s, "rope", op, kv);
        break;
    case LLM_NORM:
    case LLM_LAYERNORM:
        put_norm(s, op);
        break;
    case LLM_SILU:
        put_rows(s, "act", &op->y);
        break;
    case LLM_GELU:
        put_rows(s, "gelu", &op->y);
        break;
    case LLM_SOFTMAX:
        put_rows(s, "softmax", &op->y);
        break;
    case LLM_ADD:
        put_rows(s, "add", &op->y);
        break;
    case LLM_ROUTE:
        put_rows(s, "topk", &op->x);
        put(s, ", k: %lld", (long long)op->chosen);
        break;
    case LLM_COMBINE:
        put_rows(s, "combine", &op->y);
        put(s, ", each: %lld", (long long)op->chosen);
        break;
    case LLM_DISPATCH:
    case LLM_COLLECT:
        put_collective(s, "all_to_all", op, "ep");
        break;
    case LLM_SEND:
        put_collective(s, "send", op, "pp");
        break;
    case LLM_Q_ROPE:
        put_rows(s, "q_rope", &op->x);
        put(s, ", heads: %lld, turned: %lld", (long long)op->heads, (long long)op->turned);
        break;
    case LLM_LATENT:
        put_kept(s, "kv_rope", op, kv);
        break;
    case LLM_KEPT:
        put_kept(s, "kv_read", op, kv);
        break;
    case LLM_TOPK:
        put_rows(s, "topk", &op->x);
        break;
    case LLM_ALL_REDUCE:
        put_collective(s, "all_reduce", op, "tp");
        break;
    case LLM_ALL_GATHER:
        put_collective(s, "all_gather", op, "tp");
        break;
    case LLM_TIME: /* are of no model */
    case LLM_BARRIER:
    case LLM_SCATTER:
    case LLM_GATHER:
    case LLM_BROADCAST:
    case LLM_GIVE:
    case LLM_TAKE:
    case LLM_MOVE:
        break;
    }
}

static void put_matrix(struct sink *s, const char *key, const struct llm_matrix *m)
{
    if (m->rows > 0 && *graph_matrix_name(m->at))
        put(s, ", %s: %s", key, graph_matrix_name(m->at));
}

static bool reads_z(const struct llm_op *op)
{
    return op->has_z || op->kind == LLM_ADD || op->kind == LLM_SEND || op->kind == LLM_LATENT ||
           (op->kind == LLM_ATTENTION && (op->latent || op->has_made));
}

static void put_node(struct sink *s, const struct llm_op *op, kb_dtype kv)
{
    put(s, "- {id: %s, ", op->id);
    put_kind(s, op, kv);
    if (op->kind != LLM_EMBED && op->kind != LLM_KEPT)
        put_matrix(s, "x", &op->x);
    if (reads_z(op))
        put_matrix(s, "z", op->kind == LLM_LATENT ? &op->y : &op->z);
    if (op->has_made)
        put_matrix(s, "keys", &op->keys);
    if (op->kind != LLM_LATENT)
        put_matrix(s, "y", &op->y);
    put(s, "}\n");
}

static void put_more(struct sink *s, const char *key, int64_t n)
{
    if (n > 1)
        put(s, "%s: %lld\n", key, (long long)n);
}

enum exit_code graph_yaml_write(const char *program, const char *file, const struct graph *g,
                                const struct shape *s)
{
    struct sink sink;
    enum exit_code code = sink_open(&sink, program, file);

    if (code)
        return code;
    put(&sink, "kernbench_graph: 1\nranks: %lld\n", (long long)(s->tp * count_of(s->pp)));
    put_more(&sink, "pp", s->pp);
    put_more(&sink, "microbatches", s->micro);
    put_more(&sink, "ep", s->ep);
    put(&sink, "repeat: {layer: %lld}\nnodes:\n", (long long)g->layers);
    for (size_t i = 0; i < g->n; i++) {
        if (g->op[i].is_layer && (i == 0 || !g->op[i - 1].is_layer))
            put(&sink, "- {begin: layer}\n");
        put_node(&sink, &g->op[i], s->kv_dtype);
        if (g->op[i].is_layer && (i + 1 == g->n || !g->op[i + 1].is_layer))
            put(&sink, "- {end: layer}\n");
    }
    return sink_close(&sink, program, SINK_KEEP);
}
