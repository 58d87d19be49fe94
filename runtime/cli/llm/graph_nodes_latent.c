/*
 * graph_nodes_latent.c -- nodes of attention over latents: docs/llm.md "Latents".
 *
 * Of a product by heads, x has `heads` times as many columns as a head has, of which the product of
 * a head reads the first k. Where values are a part of keys (latent: true), x are queries that were
 * absorbed, and z those before, of which the last dim - v_dim columns of a head were turned. Where
 * keys were made (keys: NAME), z has of each head of keys what is its own, then its values, and the
 * last columns of `keys` are those of all heads.
 *
 * Example: a latent of 512 and 64 turned columns, 16 heads, of 128 columns that are not turned:
 * dim 576, v_dim 512, x has 16 x 512 columns, z 16 x 192, of which 64 of each 192 are read.
 */
#include "cli/llm/graph_reader.h"
#ifndef KB_NO_YAML

static void bad(struct graph_reader *r, const yaml_node_t *node, const char *why)
{
    yaml_bad(&r->yaml, node, "%s", why);
}

/* A matrix that was written before, of `rows` of the type; {0} after a message. */
static struct llm_matrix other(struct graph_reader *r, const yaml_node_t *node, const char *key,
                               int64_t rows, kb_dtype dtype)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);
    const struct written *w = at ? graph_written(r, graph_name(r, at)) : NULL;

    if (w && w->matrix.rows == rows && w->matrix.dtype == dtype)
        return w->matrix;
    yaml_bad(&r->yaml, at ? at : node, "%s must be a matrix of %lld rows of %s that was written",
             key, (long long)rows, kb_dtype_name(dtype));
    return (struct llm_matrix){0};
}

void graph_read_by_heads(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const struct llm_matrix *x = graph_read_x(r, node);

    op->heads = graph_count(r, node, "heads", 1);
    op->depth = op->x.cols;
    if (!x || x->rows != op->x.rows || x->dtype != op->x.dtype)
        bad(r, node, "x must be a matrix of m rows of the type a that was written");
    else if (x->cols % op->heads || op->depth > x->cols / op->heads || op->y.cols % op->heads)
        bad(r, node, "heads must divide n and the columns of x, and a head of x have k of them");
    else
        op->x = *x;
}

void graph_read_wide(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    op->y.unit = graph_count(r, node, "unit", 1);
    if (op->y.cols % op->y.unit)
        bad(r, node, "unit must divide width");
    else if (op->x.cols % op->x.unit || op->x.cols < op->y.cols ||
             (op->x.cols > op->y.cols && op->x.cols / op->x.unit != op->y.cols / op->y.unit))
        bad(r, node, "x must have a unit, of `wide`, for each unit of width");
}

void graph_read_q_rope(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    struct llm_matrix x = {graph_count(r, node, "rows", 1),
                           graph_count(r, node, "width", 1),
                           1,
                           0,
                           graph_dtype(r, node, "dtype", KB_BF16),
                           0};

    op->heads = graph_count(r, node, "heads", 1);
    op->turned = graph_count(r, node, "turned", 1);
    op->x = op->y = graph_read_as(r, node, "x", x);
    if (x.cols % op->heads || op->turned > x.cols / op->heads)
        bad(r, node, "heads must divide width, and a head have the turned columns");
}

/* dim columns of each token are kept, of which the last are turned. */
static void read_kept(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    graph_read_lengths(r, node, op);
    op->kv_heads = 1;
    op->dim = graph_count(r, node, "dim", 1);
    op->v_dim = graph_count(r, node, "v_dim", 1);
    op->turned = op->dim - op->v_dim;
    op->latent = true;
    if (op->turned < 1)
        bad(r, node, "v_dim must be less than dim");
}

void graph_read_kv_rope(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    kb_dtype a = graph_dtype(r, node, "a", KB_BF16);

    read_kept(r, node, op);
    op->x =
        graph_read_as(r, node, "x", (struct llm_matrix){op->batch * op->q, op->dim, 1, 0, a, 0});
    op->y = other(r, node, "z", op->x.rows, a);
    if (op->y.rows > 0 &&
        (op->y.cols != op->v_dim || op->x.cols != op->dim || op->x.unit <= op->y.unit ||
         op->x.cols / op->x.unit != op->y.cols / op->y.unit))
        bad(r, node, "z must have v_dim columns, x dim, and as many units, which are larger");
}

void graph_read_kv_read(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    read_kept(r, node, op);
    if (op->batch > ((int64_t)1 << 40) / op->kv)
        bad(r, node, "there are more than 2^40 rows");
    else
        op->x = op->y = (struct llm_matrix){
            op->batch * op->kv, op->dim, 1, 0, graph_dtype(r, node, "a", KB_BF16), 0};
}

/* Columns of x of attention. */
static int64_t columns_of(const struct llm_op *op)
{
    return op->latent     ? op->heads * op->v_dim
           : op->has_made ? op->heads * op->dim
                          : (op->heads + 2 * op->kv_heads) * op->dim;
}

static void read_latent(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    op->z = other(r, node, "z", op->x.rows, op->x.dtype);
    op->turned = op->dim - op->v_dim;
    if (op->kv_heads != 1 || op->q != 1 || op->turned < 1)
        bad(r, node, "latents are of one new token, one head of keys, and v_dim is less than dim");
    else if (op->z.rows > 0 && (op->z.cols % op->heads || op->z.cols / op->heads < op->turned))
        bad(r, node, "heads must divide z, and a head have dim - v_dim columns");
}

static void read_made(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    int64_t rows = op->batch * op->kv;

    op->z = other(r, node, "z", rows, op->x.dtype);
    op->keys = other(r, node, "keys", rows, op->x.dtype);
    if (op->z.rows == 0 || op->keys.rows == 0)
        return;
    int64_t own = op->z.cols / op->kv_heads - op->v_dim;
    if (op->kv_heads != op->heads || op->z.cols % op->heads || own < 1 || own >= op->dim ||
        op->dim - own > op->keys.cols)
        bad(r, node,
            "kv_heads must be heads and divide z, and keys be what z and `keys` have of a head");
}

int64_t graph_read_values(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const yaml_node_t *latent = yaml_value(&r->yaml, node, "latent");

    if (yaml_value(&r->yaml, node, "v_dim"))
        op->v_dim = graph_count(r, node, "v_dim", 1);
    op->latent = latent && yaml_flag(&r->yaml, latent);
    op->has_made = yaml_value(&r->yaml, node, "keys");
    if (op->latent && op->has_made)
        bad(r, node, "keys are made, or latents");
    if ((op->latent || op->has_made) && op->v_dim == 0)
        bad(r, node, "'v_dim' is missing");
    return columns_of(op);
}

void graph_read_z(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    if (op->latent)
        read_latent(r, node, op);
    else if (op->has_made)
        read_made(r, node, op);
    op->y.cols = op->heads * (op->v_dim > 0 ? op->v_dim : op->dim);
}
#endif
