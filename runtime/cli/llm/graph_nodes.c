/* graph_nodes.c -- the operation that a node of a graph from YAML is, by its kind. */
#include "cli/llm/graph_reader.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <string.h>

#ifndef KB_NO_YAML

/* N or NxC, C requests of N tokens; all requests must be alike. */
static int64_t lengths(struct graph_reader *r, const yaml_node_t *node, const char *key,
                       int64_t *batch)
{
    const yaml_node_t *list = yaml_value(&r->yaml, node, key), *at;
    int64_t all = 0, length = 0;

    for (size_t i = 0; (at = yaml_item(&r->yaml, list, i)); i++) {
        int64_t n, copies;

        if (graph_copies(r, at, 1, &n, &copies) && length > 0 && n != length)
            yaml_bad(&r->yaml, at, "requests of unlike lengths are not simulated");
        length = n;
        all += copies;
    }
    if (!list || all == 0)
        yaml_bad(&r->yaml, list ? list : node, "%s must be a list of N or NxC", key);
    *batch = all;
    return length > 0 ? length : 1;
}

static struct llm_matrix rows_of(struct graph_reader *r, const yaml_node_t *node)
{
    return (struct llm_matrix){.rows = graph_count(r, node, "rows", 1),
                               .cols = graph_count(r, node, "width", 1),
                               .unit = 1,
                               .dtype = graph_dtype(r, node, "dtype", KB_BF16)};
}

static void read_gemm(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    kb_dtype a = graph_dtype(r, node, "a", KB_BF16);
    struct llm_matrix x = {graph_count(r, node, "m", 1), graph_count(r, node, "k", 1), 1, 0, a, 0};

    bool by_heads = yaml_value(&r->yaml, node, "heads");

    op->x = by_heads ? x : graph_read_as(r, node, "x", x);
    op->y =
        (struct llm_matrix){x.rows, graph_count(r, node, "n", 1),   graph_count(r, node, "unit", 1),
                            0,      graph_dtype(r, node, "out", a), 0};
    op->weight_dtype = graph_dtype(r, node, "b", a);
    if (op->y.cols % op->y.unit)
        yaml_bad(&r->yaml, node, "unit must divide n");
    if (by_heads)
        graph_read_by_heads(r, node, op);
}

static int64_t bad_rows(struct graph_reader *r, const yaml_node_t *at, const char *why)
{
    yaml_bad(&r->yaml, at, "%s", why);
    return 0;
}

/* Rows of each expert, as all such nodes of the file have them; how many there are together. */
static int64_t read_rows(struct graph_reader *r, const yaml_node_t *node)
{
    const yaml_node_t *list = yaml_value(&r->yaml, node, "rows"), *at;
    struct graph_file *f = r->out;
    bool is_first = !f->rows;
    int64_t sum = 0, experts = 0, n, copies;

    if (is_first)
        f->rows = memory_new(GRAPH_EXPERTS_MAX, sizeof *f->rows);
    for (size_t i = 0; (at = yaml_item(&r->yaml, list, i)); i++) {
        if (!graph_copies(r, at, 0, &n, &copies))
            return 0;
        for (; copies > 0 && experts < GRAPH_EXPERTS_MAX; copies--, experts++, sum += n)
            if (is_first)
                f->rows[experts] = n;
            else if (f->rows[experts] != n)
                return bad_rows(r, at, "rows are others than those before");
    }
    if (!list || list->type != YAML_SEQUENCE_NODE || sum == 0)
        return bad_rows(r, list ? list : node, "rows must be a list of N or NxC");
    if (experts != f->experts)
        return bad_rows(r, list, "there are as many rows as the topk with k before it is wide");
    return sum;
}

/* Can each token have `each` of these rows, all of different experts? */
static bool check_rows(struct graph_reader *r, const yaml_node_t *node, int64_t sum, int64_t each)
{
    const struct graph_file *f = r->out;

    int64_t e = 0;

    while (e < f->experts && f->rows[e] <= sum / each)
        e++;
    if (sum % each == 0 && e < f->experts)
        yaml_bad(&r->yaml, node, "expert %lld has %lld rows, and there are %lld tokens",
                 (long long)e, (long long)f->rows[e], (long long)(sum / each));
    else if (sum % each)
        yaml_bad(&r->yaml, node, "%lld rows are not %lld of each token", (long long)sum,
                 (long long)each);
    else if (each != f->chosen || sum / each != f->tokens)
        yaml_bad(&r->yaml, node, "no topk before it has k %lld for %lld tokens", (long long)each,
                 (long long)(sum / each));
    else
        return e == f->experts;
    return false;
}

/* Is it what an all_to_all has sent to the experts? */
static bool was_sent(const struct graph_reader *r, const struct llm_matrix *x)
{
    const struct graph *g = &r->out->graph;

    for (size_t i = 0; i < g->n; i++)
        if (g->op[i].kind == LLM_DISPATCH && g->op[i].y.at == x->at)
            return true;
    return false;
}

/* x are rows of experts, or tokens, of which they are gathered. */
static void read_grouped(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    kb_dtype a = graph_dtype(r, node, "a", KB_BF16);
    int64_t sum = read_rows(r, node), each = graph_count(r, node, "each", 1);
    const struct llm_matrix *from = graph_read_x(r, node);
    bool of_rows = from && from->each > 0;

    op->y =
        (struct llm_matrix){sum, graph_count(r, node, "n", 1),   graph_count(r, node, "unit", 1),
                            0,   graph_dtype(r, node, "out", a), each};
    if (sum == 0 || !check_rows(r, node, sum, each))
        return;
    graph_set_experts(r, op);
    op->y.each = graph_rows_of_token(r, each);
    op->y.rows = sum / each * op->y.each;
    op->gathers = !of_rows || was_sent(r, from);
    op->x = graph_read_as(r, node, "x",
                          (struct llm_matrix){of_rows ? op->y.rows : sum / each,
                                              graph_count(r, node, "k", 1), 1, 0, a, 0});
    if (op->ep > 1 && !of_rows)
        yaml_bad(&r->yaml, node, "x must be what an all_to_all has sent: ep is %lld",
                 (long long)op->ep);
    op->weight_dtype = graph_dtype(r, node, "b", a);
    if (op->y.cols % op->y.unit)
        yaml_bad(&r->yaml, node, "unit must divide n");
}

static void read_combine(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const struct llm_matrix *from = graph_read_x(r, node);
    struct llm_matrix x = rows_of(r, node);

    op->y = x;
    op->has_z = yaml_value(&r->yaml, node, "z");
    if (op->has_z)
        op->z = graph_read_as(r, node, "z", op->y);
    x.each = graph_rows_of_token(r, graph_count(r, node, "each", 1));
    if (!from || from->each != x.each) {
        yaml_bad(&r->yaml, node, "x must be what a grouped_gemm of as many rows each has written");
        return;
    }
    x.rows *= x.each;
    op->x = graph_read_as(r, node, "x", x);
    graph_set_experts(r, op);
}

/* The largest of each row, or with k the numbers of the k largest and their shares. */
static void read_topk(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const yaml_node_t *k = yaml_value(&r->yaml, node, "k");

    op->x = graph_read_as(r, node, "x", rows_of(r, node));
    op->y = (struct llm_matrix){op->x.rows, 1, 1, 0, KB_I64, 0};
    if (!k)
        return;
    if (r->out->chosen > 0)
        yaml_bad(&r->yaml, node, "a topk with k is there twice");
    op->kind = LLM_ROUTE;
    r->out->chosen = yaml_count(&r->yaml, k);
    r->out->experts = op->x.cols;
    r->out->tokens = op->x.rows;
    graph_set_experts(r, op);
    op->y =
        (struct llm_matrix){op->x.rows, 2 * op->chosen, 2 * op->chosen, GRAPH_ROUTES, KB_I32, 0};
    if (op->chosen > op->x.cols || op->x.cols > GRAPH_EXPERTS_MAX)
        yaml_bad(&r->yaml, k, "k must be at most the width, and that at most %d",
                 GRAPH_EXPERTS_MAX);
    if (op->x.cols % r->out->shape.ep)
        yaml_bad(&r->yaml, node, "ep, %lld, does not divide %lld experts",
                 (long long)r->out->shape.ep, (long long)op->x.cols);
    if (yaml_value(&r->yaml, node, "y"))
        yaml_bad(&r->yaml, node, "what a topk with k writes has no name");
}

void graph_read_lengths(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    int64_t batch;
    kb_dtype a = graph_dtype(r, node, "a", KB_BF16);
    struct shape *s = &r->out->shape;

    op->q = lengths(r, node, "q", &op->batch);
    op->kv = lengths(r, node, "kv", &batch);
    if (batch != op->batch || op->kv < op->q)
        yaml_bad(&r->yaml, node, "q and kv must be of as many requests, q at most kv");
    if (r->has_lengths && (s->batch != op->batch || s->q != op->q || s->kv != op->kv))
        yaml_bad(&r->yaml, node, "q and kv are others than those before");
    r->has_lengths = true;
    s->batch = op->batch;
    s->q = op->q;
    s->kv = op->kv;
    s->act = a;
    s->kv_dtype = graph_dtype(r, node, "b", a);
}

static void read_heads(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    kb_dtype a = graph_dtype(r, node, "a", KB_BF16);

    graph_read_lengths(r, node, op);
    op->heads = graph_count(r, node, "heads", 1);
    op->kv_heads = graph_count(r, node, "kv_heads", 1);
    op->dim = graph_count(r, node, "dim", 1);
    if (op->heads % op->kv_heads)
        yaml_bad(&r->yaml, node, "kv_heads must divide heads");
    int64_t cols = graph_read_values(r, node, op);
    double widest = (double)(op->dim > op->v_dim ? op->dim : op->v_dim);
    if ((double)(op->heads + 2 * op->kv_heads) * widest > 0x1p40) {
        yaml_bad(&r->yaml, node, "heads x dim has more than 2^40 columns");
        return;
    }
    op->x = graph_read_as(r, node, "x", (struct llm_matrix){op->batch * op->q, cols, 1, 0, a, 0});
    op->y = op->x;
    if (op->kind == LLM_ATTENTION)
        graph_read_z(r, node, op);
}

static void read_norm(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const yaml_node_t *residual = yaml_value(&r->yaml, node, "residual");
    struct llm_matrix from;

    op->y = from = rows_of(r, node);
    from.rows = graph_count(r, node, "of", from.rows);
    from.cols = graph_count(r, node, "wide", from.cols);
    op->x = graph_read_as(r, node, "x", from);
    op->has_z = residual && yaml_flag(&r->yaml, residual);
    op->z = yaml_value(&r->yaml, node, "z") ? graph_read_as(r, node, "z", from) : op->x;
    if (from.rows % op->y.rows)
        yaml_bad(&r->yaml, node, "rows must divide `of`");
    graph_read_wide(r, node, op);
}

static void read_act(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    struct llm_matrix from;

    op->y = from = rows_of(r, node);
    if (op->kind == LLM_SILU) {
        from.cols *= 2;
        from.unit = 2;
    }
    op->x = graph_read_as(r, node, "x", from);
    op->y.each = op->x.each;
    if (op->x.each > 0)
        graph_set_experts(r, op);
    if (op->x.unit != from.unit)
        yaml_bad(&r->yaml, node, "x was written with another unit than %lld", (long long)from.unit);
}

void graph_read_kind(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    switch (op->kind) {
    case LLM_EMBED:
        op->y = rows_of(r, node);
        op->x =
            (struct llm_matrix){op->y.rows, graph_count(r, node, "table", 1), 1, 0, op->y.dtype, 0};
        break;
    case LLM_GEMM:
        (yaml_value(&r->yaml, node, "rows") ? read_grouped : read_gemm)(r, node, op);
        break;
    case LLM_ATTENTION:
    case LLM_QK_NORM:
    case LLM_ROPE:
        read_heads(r, node, op);
        break;
    case LLM_NORM:
    case LLM_LAYERNORM:
        read_norm(r, node, op);
        break;
    case LLM_SILU:
    case LLM_GELU:
    case LLM_SOFTMAX:
        read_act(r, node, op);
        break;
    case LLM_ADD:
        op->y = rows_of(r, node);
        op->x = graph_read_as(r, node, "x", op->y);
        op->z = graph_read_as(r, node, "z", op->y);
        break;
    case LLM_COMBINE:
        read_combine(r, node, op);
        break;
    case LLM_DISPATCH:
        graph_read_exchange(r, node, op);
        break;
    case LLM_SEND:
    case LLM_TAKE:
        graph_read_send(r, node, op);
        break;
    case LLM_Q_ROPE:
        graph_read_q_rope(r, node, op);
        break;
    case LLM_LATENT:
        graph_read_kv_rope(r, node, op);
        break;
    case LLM_KEPT:
        graph_read_kv_read(r, node, op);
        break;
    case LLM_ROUTE: /* are no words of their own */
    case LLM_COLLECT:
    case LLM_GATHER:
    case LLM_GIVE:
        break;
    case LLM_TOPK:
        read_topk(r, node, op);
        break;
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
    case LLM_SCATTER:
    case LLM_BROADCAST:
        graph_read_collective(r, node, op);
        break;
    case LLM_TIME:
    case LLM_BARRIER:
    case LLM_MOVE:
        graph_read_pause(r, node, op);
        break;
    }
}
#endif
