/*
 * graph_check.c -- what an operation of a graph from a file must keep.
 *
 * The kernel would fail at types that it cannot take, far from the line of the file that has them.
 * Bytes of a collective are those of what it reads, or what is counted were not what is simulated:
 * an all_reduce of 1 x 64 of bf16 has 128 bytes; an all_gather of a topk has 8 bytes for each row
 * and rank. And no size may leave 64 bits: each operation has 2^55 bytes at most, GRAPH_OPS_MAX of
 * them together less than 2^63.
 */
#include "cli/llm/graph_check.h"
#include <stdio.h>

bool graph_floats(kb_dtype dtype)
{
    return dtype == KB_F64 || dtype == KB_F32 || dtype == KB_F16 || dtype == KB_BF16 ||
           dtype == KB_F8E4M3 || dtype == KB_F8E5M2;
}

const char *graph_refuses_type(kb_dtype dtype)
{
    if (dtype == KB_DEFAULT)
        return "is no type";
    if (dtype == KB_BOOL)
        return "is no type of numbers";
    return kb_dtype_bytes(dtype) == 0 ? "has less than a byte" : NULL;
}

/* The key of its type that must be a float; NULL: none. */
static const char *floats_of(const struct llm_op *op)
{
    switch (op->kind) {
    case LLM_GEMM:
    case LLM_ATTENTION:
    case LLM_QK_NORM:
    case LLM_ROPE:
    case LLM_LATENT:
    case LLM_KEPT:
        return "a";
    case LLM_NORM:
    case LLM_LAYERNORM:
    case LLM_SILU:
    case LLM_GELU:
    case LLM_SOFTMAX:
    case LLM_Q_ROPE:
        return "dtype";
    case LLM_EMBED:
    case LLM_ADD:
    case LLM_TOPK:
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
    case LLM_ROUTE:
    case LLM_DISPATCH:
    case LLM_COLLECT:
    case LLM_COMBINE:
    case LLM_SEND:
    case LLM_TIME:
    case LLM_BARRIER:
    case LLM_SCATTER:
    case LLM_GATHER:
    case LLM_BROADCAST:
    case LLM_GIVE:
    case LLM_TAKE:
    case LLM_MOVE:
        return NULL;
    }
    return NULL;
}

static double bytes_of(double rows, double cols, kb_dtype dtype)
{
    return rows * cols * (double)kb_dtype_bytes(dtype);
}

/*
 * What it keeps: matrices, weights of all repetitions, keys and values, of which there are as many.
 * It is compared only, so it may be rounded.
 */
static double room_of(const struct llm_op *op, const struct shape *s, double times)
{
    double experts = op->experts > 0 ? (double)op->experts : 1;
    double x = bytes_of((double)op->x.rows, (double)op->x.cols, op->x.dtype);
    double y = bytes_of((double)op->y.rows, (double)op->y.cols, op->y.dtype);
    double w = op->kind == LLM_GEMM
                   ? experts * bytes_of((double)op->x.cols, (double)op->y.cols, op->weight_dtype)
               : op->kind == LLM_EMBED
                   ? bytes_of((double)op->x.cols, (double)op->y.cols, op->y.dtype)
                   : 0;
    double kv = op->kind == LLM_ATTENTION
                    ? 2 * bytes_of((double)op->batch * (double)op->kv,
                                   (double)op->kv_heads * (double)op->dim, s->kv_dtype)
                    : 0;

    double z = op->kind == LLM_MOVE && !op->of_host ? (double)op->bytes : 0;

    return x + y + z + w * (op->is_layer ? times : 1) + kv * times;
}

/* What a rank must have of the bytes of an operation between ranks. */
static int64_t bytes_needed(const struct llm_op *op, const struct shape *s)
{
    int64_t row = op->x.cols * (int64_t)kb_dtype_bytes(op->x.dtype), ep = count_of(op->ep);
    int64_t tokens = op->y.rows / (op->y.each > 0 ? op->y.each : 1);

    if (op->kind == LLM_DISPATCH || op->kind == LLM_COLLECT)
        return (tokens + ep - 1) / ep * op->chosen * row;
    bool gathers = op->kind == LLM_ALL_GATHER || op->kind == LLM_GATHER;

    return op->x.rows * row * (gathers ? s->tp : 1);
}

static bool collective_wrong(const struct llm_op *op, const struct shape *s,
                             char why[GRAPH_WHY_BYTES])
{
    int64_t needed = bytes_needed(op, s);
    if (op->bytes != needed)
        snprintf(why, GRAPH_WHY_BYTES, "bytes is %lld, and what it reads has %lld",
                 (long long)op->bytes, (long long)needed);
    else
        return false;
    return true;
}

bool graph_op_wrong(const struct llm_op *op, const struct shape *s, int64_t times,
                    char why[GRAPH_WHY_BYTES])
{
    const double most = (double)((int64_t)1 << 55);
    const char *key = floats_of(op);

    if (room_of(op, s, (double)times) > most)
        snprintf(why, GRAPH_WHY_BYTES, "it has more than 2^55 bytes");
    else if (key && !graph_floats(op->x.dtype))
        snprintf(why, GRAPH_WHY_BYTES, "%s must be a float, not %s", key,
                 kb_dtype_name(op->x.dtype));
    else
        return llm_between_ranks(op) && op->kind != LLM_BARRIER && collective_wrong(op, s, why);
    return true;
}
