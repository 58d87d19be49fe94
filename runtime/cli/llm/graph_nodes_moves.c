/* graph_nodes_moves.c -- nodes of a graph from YAML that move what others have written, or wait. */
#include "cli/llm/graph_reader.h"
#include <stdio.h>
#include <string.h>

#ifndef KB_NO_YAML

/* It has no group, or that which the operation is of. */
static void check_group(struct graph_reader *r, const yaml_node_t *node, const char *of)
{
    const yaml_node_t *group = yaml_value(&r->yaml, node, "group");
    const char *word = group ? yaml_word(&r->yaml, group) : of;

    if (strcmp(word, of) != 0 && (strcmp(of, "tp") != 0 || strcmp(word, "all") != 0))
        yaml_bad(&r->yaml, group, "only %s simulated",
                 strcmp(of, "tp") == 0   ? "groups tp and all are"
                 : strcmp(of, "ep") == 0 ? "group ep is"
                                         : "group pp is");
}

/* Tokens to the ranks of their experts, or rows of experts back to those of the tokens. */
void graph_read_exchange(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const struct llm_matrix *x = graph_read_x(r, node);
    const struct graph_file *f = r->out;

    check_group(r, node, "ep");
    op->bytes = graph_count(r, node, "bytes", 1);
    if (!x || f->chosen == 0 || f->shape.ep == 1) {
        yaml_bad(&r->yaml, node, "an all_to_all is of tokens behind a topk with k, among ep ranks");
        return;
    }
    graph_set_experts(r, op);
    op->kind = x->each > 0 ? LLM_COLLECT : LLM_DISPATCH;
    op->x = op->y = *x;
    op->y.each = graph_rows_of_token(r, op->chosen);
    op->y.rows = f->tokens * op->y.each;
    op->z = op->y;
    op->z.at = GRAPH_SENT;
    if (op->kind == LLM_DISPATCH && x->rows != f->tokens)
        yaml_bad(&r->yaml, node, "x has %lld rows, and there are %lld tokens", (long long)x->rows,
                 (long long)f->tokens);
}

/* The number of a rank, from 0 on; 0 after a message. */
static int64_t read_rank(struct graph_reader *r, const yaml_node_t *at)
{
    const char *word = yaml_word(&r->yaml, at);
    int64_t ranks = r->out->shape.tp;
    unsigned number;
    char rest;

    if (*word >= '0' && *word <= '9' && sscanf(word, "%9u%c", &number, &rest) == 1 &&
        number < ranks)
        return number;
    yaml_bad(&r->yaml, at, "'%s' is no rank of 0 to %lld", word, (long long)ranks - 1);
    return 0;
}

/* x of one rank, which is the same matrix of another. */
static void read_message(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const yaml_node_t *ranks = yaml_value(&r->yaml, node, "ranks");
    const yaml_node_t *at = yaml_item(&r->yaml, ranks, 0);
    const yaml_node_t *peer = yaml_needed(&r->yaml, node, "peer");
    const struct llm_matrix *x = graph_read_x(r, node);

    op->kind = op->kind == LLM_SEND ? LLM_GIVE : LLM_TAKE;
    if (!at || yaml_item(&r->yaml, ranks, 1))
        yaml_bad(&r->yaml, ranks ? ranks : node, "ranks must be a list of one rank");
    else if (peer) {
        op->root = read_rank(r, at);
        op->peer = read_rank(r, peer);
        if (op->root == op->peer)
            yaml_bad(&r->yaml, peer, "a rank sends nothing to itself");
    }
    if (!x)
        yaml_bad(&r->yaml, node, "nothing before it is there to be sent");
    else
        op->x = op->y = *x;
    op->bytes = graph_count(r, node, "bytes", 1);
}

/* The sum of x and z to the next stage. */
static void read_stage_send(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const struct llm_matrix *x = graph_read_x(r, node);

    check_group(r, node, "pp");
    op->bytes = graph_count(r, node, "bytes", 1);
    if (!x || r->is_layer || !r->was_layer)
        yaml_bad(&r->yaml, node, "a send is of what nodes that repeat, before it, have left");
    else
        op->x = op->y = *x;
    op->z = yaml_value(&r->yaml, node, "z") ? graph_read_as(r, node, "z", op->x) : op->x;
}

void graph_read_send(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    bool has_peer = yaml_value(&r->yaml, node, "peer") || yaml_value(&r->yaml, node, "ranks");

    if (has_peer && yaml_value(&r->yaml, node, "group"))
        yaml_bad(&r->yaml, node, "a send has a group or a peer");
    (has_peer ? read_message : read_stage_send)(r, node, op);
}

/* The largest of all ranks are gathered where a topk has left them; of other matrices all rows. */
static void gather_rows(const struct graph_reader *r, struct llm_op *op)
{
    if (op->x.cols == 1 && op->x.dtype == KB_I64)
        return;
    op->kind = LLM_GATHER;
    op->y.rows *= r->out->shape.tp;
}

/* A part of the rows for each rank. */
static void scatter_rows(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    op->y.rows /= r->out->shape.tp;
    if (op->x.rows % r->out->shape.tp)
        yaml_bad(&r->yaml, node, "x has %lld rows, which %lld ranks cannot share",
                 (long long)op->x.rows, (long long)r->out->shape.tp);
}

void graph_read_collective(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const struct llm_matrix *x = graph_read_x(r, node);
    const yaml_node_t *root = yaml_value(&r->yaml, node, "root");

    check_group(r, node, "tp");
    op->bytes = graph_count(r, node, "bytes", 1);
    op->root = root ? read_rank(r, root) : 0;
    if (!x || x->each > 0) {
        yaml_bad(&r->yaml, node,
                 x ? "x has rows of experts" : "nothing before it is there to be reduced");
        return;
    }
    op->x = op->y = *x;
    if (op->kind == LLM_ALL_GATHER)
        gather_rows(r, op);
    if (op->kind == LLM_SCATTER)
        scatter_rows(r, node, op);
}

/* One of two words; true: the second. */
static bool read_either(struct graph_reader *r, const yaml_node_t *node, const char *key,
                        const char *first, const char *second)
{
    const yaml_node_t *at = yaml_needed(&r->yaml, node, key);
    const char *word = at ? yaml_word(&r->yaml, at) : first;

    if (strcmp(word, first) != 0 && strcmp(word, second) != 0)
        yaml_bad(&r->yaml, at, "%s is %s or %s, not '%s'", key, first, second, word);
    return strcmp(word, second) == 0;
}

static void read_mem(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    op->bytes = graph_count(r, node, "bytes", 1);
    op->stores = read_either(r, node, "dir", "load", "store");
    op->of_host = read_either(r, node, "at", "hbm", "host");
    if (!op->of_host)
        op->z = (struct llm_matrix){1, op->bytes, 1, GRAPH_MOVED, KB_U8, 0};
}

/* It leaves what is there to the node behind it. */
void graph_read_pause(struct graph_reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const struct llm_matrix *x = graph_read_x(r, node);

    if (x)
        op->x = op->y = *x;
    if (op->kind == LLM_BARRIER)
        check_group(r, node, "tp");
    else if (op->kind == LLM_MOVE)
        read_mem(r, node, op);
    else
        op->idle_fs = yaml_ns(&r->yaml, yaml_value(&r->yaml, node, "ns"));
}
#endif
