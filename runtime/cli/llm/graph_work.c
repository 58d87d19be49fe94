/* graph_work.c -- what an operation computes, reads, writes and sends in a rank. */
#include "cli/llm/llm_graph.h"

/* The first expert of the rank that has most rows; *rows: how many. */
static int64_t busiest(const struct llm_op *op, int64_t *rows)
{
    int64_t own = op->experts / op->ep, first = 0;

    *rows = 0;
    for (int64_t e = 0, n; e < op->experts; e += own)
        if ((n = llm_slots_of(op->routing, 0, e, own)) > *rows) {
            *rows = n;
            first = e;
        }
    return first;
}

static int64_t expert_rows(const struct llm_op *op)
{
    int64_t rows;

    busiest(op, &rows);
    return rows;
}

/* Its experts that any row goes to: the matrices of others are not read. */
static int64_t experts_read(const struct llm_op *op)
{
    int64_t n = 0, rows, first = busiest(op, &rows);

    for (int64_t e = first; e < first + op->experts / op->ep; e++)
        n += llm_slots_of(op->routing, 0, e, 1) > 0;
    return n;
}

/* Tokens of rank 0 among those that share experts. */
static int64_t own_tokens(const struct llm_op *op)
{
    return llm_own_begin(llm_copy_tokens(op->routing), 1, op->ep / op->routing->copies);
}

/* Rows of a product or of an activation, and matrices that it multiplies by. */
static int64_t rows_of(const struct llm_op *op)
{
    return op->experts > 0 ? expert_rows(op) : op->y.rows;
}

/* Rows of a product's matrix, and columns of x that it reads. */
static int64_t depth_of(const struct llm_op *op)
{
    return op->depth > 0 ? op->depth : op->x.cols;
}

static int64_t x_cols(const struct llm_op *op)
{
    return op->depth > 0 ? op->depth * op->heads : op->x.cols;
}

static int64_t weights_of(const struct llm_op *op)
{
    return op->experts > 0 ? experts_read(op) : 1;
}

/* Pairs of a token and one that it sees. */
static int64_t pairs(const struct llm_op *op)
{
    const struct llm_requests *r = op->requests;
    int64_t sum = 0;

    for (int64_t i = 0; i < (r ? r->n : 1); i++) {
        int64_t q = r ? r->request[i].q : op->q, kv = r ? r->request[i].kv : op->kv;

        sum += q * (kv - q) + q * (q + 1) / 2;
    }
    return r ? sum : op->batch * sum;
}

/* Tokens with keys and values, of all requests. */
static int64_t kept_tokens(const struct llm_op *op)
{
    const struct llm_requests *r = op->requests;
    int64_t sum = 0;

    for (int64_t i = 0; r && i < r->n; i++)
        sum += r->request[i].kv;
    return r ? sum : op->batch * op->kv;
}

uint64_t op_flops(const struct llm_op *op)
{
    if (op->kind == LLM_GEMM)
        return (uint64_t)(2 * rows_of(op) * op->y.cols * depth_of(op));
    if (op->kind == LLM_ATTENTION)
        return (uint64_t)(2 * op->heads * (op->dim + llm_v_dim(op)) * pairs(op));
    return 0;
}

static uint64_t matrix_bytes(const struct llm_matrix *m)
{
    return (uint64_t)(m->rows * m->cols) * kb_dtype_bytes(m->dtype);
}

static uint64_t new_kv_bytes(const struct llm_op *op, const struct shape *s)
{
    return (uint64_t)(2 * op->x.rows * op->kv_heads * op->dim) * kb_dtype_bytes(s->kv_dtype);
}

static uint64_t bytes_of_rows(int64_t rows, const struct llm_matrix *m)
{
    return (uint64_t)(rows * m->cols) * kb_dtype_bytes(m->dtype);
}

/* The turned columns of all heads of q. */
static uint64_t turned_q_bytes(const struct llm_op *op)
{
    return (uint64_t)(op->x.rows * op->heads * op->turned) * kb_dtype_bytes(op->x.dtype);
}

/* Latents and keys of new tokens. */
static uint64_t kept_elements(const struct llm_op *op)
{
    return (uint64_t)(op->x.rows * op->dim);
}

static uint64_t own_shares(const struct llm_op *op)
{
    return (uint64_t)(4 * op->chosen * own_tokens(op));
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
        return (uint64_t)(rows_of(op) * x_cols(op)) * kb_dtype_bytes(op->x.dtype) +
               (uint64_t)(weights_of(op) * depth_of(op) * op->y.cols) *
                   kb_dtype_bytes(op->weight_dtype);
    case LLM_ATTENTION:
        return (uint64_t)(op->kv_heads * (op->dim + (op->latent ? 0 : llm_v_dim(op))) *
                          kept_tokens(op)) *
                   kb_dtype_bytes(s->kv_dtype) +
               (uint64_t)(op->x.rows * op->heads * op->dim) * kb_dtype_bytes(op->x.dtype);
    case LLM_NORM:
    case LLM_LAYERNORM:
        return matrix_bytes(&op->y) * (op->has_z ? 2 : 1) + (uint64_t)op->y.cols * element;
    case LLM_QK_NORM:
        return turned_bytes(op) + (uint64_t)(2 * op->dim) * element;
    case LLM_ROPE:
        return matrix_bytes(&op->x) + (uint64_t)(op->x.rows * op->dim * 4);
    case LLM_Q_ROPE:
        return turned_q_bytes(op) + (uint64_t)(op->x.rows * op->turned * 4);
    case LLM_KEPT:
        return (uint64_t)(op->y.rows * op->y.cols) * kb_dtype_bytes(s->kv_dtype);
    case LLM_LATENT:
        return kept_elements(op) * element + (uint64_t)(op->x.rows * op->turned * 4);
    case LLM_ADD:
    case LLM_SEND:
        return 2 * x;
    case LLM_SILU:
    case LLM_GELU:
    case LLM_SOFTMAX:
        return bytes_of_rows(rows_of(op), &op->x);
    case LLM_TOPK:
    case LLM_ROUTE:
        return x;
    case LLM_COMBINE:
        return bytes_of_rows(own_tokens(op) * op->chosen, &op->x) + own_shares(op) +
               (op->has_z ? bytes_of_rows(own_tokens(op), &op->z) : 0);
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
    case LLM_DISPATCH:
    case LLM_COLLECT:
    case LLM_TIME:
    case LLM_BARRIER:
    case LLM_SCATTER:
    case LLM_GATHER:
    case LLM_BROADCAST:
    case LLM_GIVE:
    case LLM_TAKE:
        return 0;
    case LLM_MOVE:
        return op->of_host || op->stores ? 0 : (uint64_t)op->bytes;
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
    case LLM_Q_ROPE:
        return turned_q_bytes(op);
    case LLM_LATENT:
        return kept_elements(op) * kb_dtype_bytes(s->kv_dtype);
    case LLM_NORM:
    case LLM_LAYERNORM:
        return matrix_bytes(&op->y) * (op->has_z ? 2 : 1);
    case LLM_TOPK:
        return (uint64_t)op->y.rows * 8;
    case LLM_ROUTE: /* numbers of experts, and shares */
        return (uint64_t)(2 * 4 * op->chosen * op->x.rows);
    case LLM_GEMM:
    case LLM_SILU:
    case LLM_GELU:
    case LLM_SOFTMAX:
        return bytes_of_rows(rows_of(op), &op->y);
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
    case LLM_DISPATCH:
    case LLM_COLLECT:
    case LLM_TIME:
    case LLM_BARRIER:
    case LLM_SCATTER:
    case LLM_GATHER:
    case LLM_BROADCAST:
    case LLM_GIVE:
    case LLM_TAKE:
        return 0;
    case LLM_MOVE:
        return op->of_host || !op->stores ? 0 : (uint64_t)op->bytes;
    default:
        return matrix_bytes(&op->y);
    }
}

uint64_t op_link_bytes(const struct llm_op *op, const struct shape *s)
{
    uint64_t others = (uint64_t)(s->tp - 1), n = (uint64_t)s->tp;

    if (op->kind == LLM_SEND || op->kind == LLM_BROADCAST || op->kind == LLM_GIVE)
        return (uint64_t)op->bytes;
    if (op->kind == LLM_ALL_REDUCE)
        return 2 * (uint64_t)op->bytes / n * others;
    if (op->kind == LLM_DISPATCH || op->kind == LLM_COLLECT)
        return (uint64_t)op->bytes / (uint64_t)op->ep * (uint64_t)(op->ep - 1);
    if (op->kind == LLM_ALL_GATHER || op->kind == LLM_GATHER || op->kind == LLM_SCATTER)
        return (uint64_t)op->bytes / n * others;
    return 0;
}
