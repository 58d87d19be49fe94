/*
 * graph_values.c -- what a node of a graph from YAML says of itself: matrices by name, numbers,
 * types. What a matrix holds is known from the node that has written it, and what reads it must
 * fit.
 */
#include "cli/llm/graph_reader.h"
#include <stdio.h>
#include <string.h>

#ifndef KB_NO_YAML

/* -- matrices --------------------------------------------------------------------------------- */

struct written *graph_written(struct graph_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_written; i++)
        if (strcmp(r->written[i].name, name) == 0)
            return &r->written[i];
    return NULL;
}

/* The number of a name that is new: that of the graph of a model, or the next one behind these. */
static uint64_t number_of(struct graph_reader *r, const char *name)
{
    uint64_t number = graph_matrix_number(name), next = GRAPH_NAMED;

    for (size_t i = 0; i < r->n_written; i++)
        if (r->written[i].matrix.at >= next)
            next = r->written[i].matrix.at + 1;
    return number ? number : next;
}

const char *graph_name(struct graph_reader *r, const yaml_node_t *at)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    const char *word = yaml_word(&r->yaml, at);

    if (strspn(word, letters) == strlen(word) && strlen(word) < NAME_BYTES)
        return word;
    yaml_bad(&r->yaml, at, "'%s' is not a name of at most %d of A-Z a-z 0-9 _ . -", word,
             NAME_BYTES - 1);
    return "";
}

/* The matrix of a name; of a new one `m` has the size. NULL after a message. */
static struct written *matrix_of(struct graph_reader *r, const yaml_node_t *node, const char *name,
                                 const struct llm_matrix *m)
{
    struct written *w = graph_written(r, name);

    if (w)
        return w;
    if (r->n_written == GRAPH_MATRICES - GRAPH_NAMED) {
        yaml_bad(&r->yaml, node, "more than %d matrices", GRAPH_MATRICES - GRAPH_NAMED);
        return NULL;
    }
    uint64_t number = number_of(r, name);
    w = &r->written[r->n_written++];
    *w = (struct written){.matrix = *m};
    snprintf(w->name, sizeof w->name, "%s", name);
    w->matrix.at = number;
    return w;
}

static bool is_as(const struct llm_matrix *a, const struct llm_matrix *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->dtype == b->dtype;
}

static void check_size(struct graph_reader *r, const yaml_node_t *node, const char *key,
                       const struct llm_matrix *as, const struct llm_matrix *from)
{
    if (!is_as(as, from))
        yaml_bad(&r->yaml, node, "%s is %lld x %lld of %s, and %lld x %lld of %s was written", key,
                 (long long)as->rows, (long long)as->cols, kb_dtype_name(as->dtype),
                 (long long)from->rows, (long long)from->cols, kb_dtype_name(from->dtype));
}

void graph_write_matrix(struct graph_reader *r, const yaml_node_t *node, const char *id,
                        struct llm_matrix *m)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, "y");
    struct written *w = matrix_of(r, node, at ? graph_name(r, at) : id, m);

    if (!w)
        return;
    if (w->reader)
        check_size(r, w->reader, w->name, &w->matrix, m);
    m->at = w->matrix.at;
    w->matrix = *m;
    w->reader = NULL;
}

/* What the last of the node's deps has written, or the node before; NULL: nothing. */
static const struct llm_matrix *read_dep(struct graph_reader *r, const yaml_node_t *node)
{
    const yaml_node_t *deps = yaml_value(&r->yaml, node, "deps"), *dep = NULL, *at;
    const struct graph *g = &r->out->graph;

    for (size_t i = 0; (at = yaml_item(&r->yaml, deps, i)); i++)
        dep = at;
    for (size_t i = g->n; i-- > 0;)
        if (!dep || strcmp(g->op[i].id, yaml_word(&r->yaml, dep)) == 0)
            return g->op[i].y.rows > 0 ? &g->op[i].y : NULL;
    return NULL;
}

struct llm_matrix graph_read_as(struct graph_reader *r, const yaml_node_t *node, const char *key,
                                struct llm_matrix as)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);
    const char *name = at ? graph_name(r, at) : NULL;
    const struct llm_matrix *from = name ? NULL : read_dep(r, node);

    if (name && *name) {
        bool is_new = !graph_written(r, name);
        struct written *w = matrix_of(r, node, name, &as);

        if (w && is_new)
            w->reader = at;
        from = w ? &w->matrix : NULL;
    }
    if (!from)
        return as;
    check_size(r, node, key, &as, from);
    return *from;
}

const struct llm_matrix *graph_read_x(struct graph_reader *r, const yaml_node_t *node)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, "x");
    const struct written *w = at ? graph_written(r, graph_name(r, at)) : NULL;

    return w ? &w->matrix : at ? NULL : read_dep(r, node);
}

/* -- values of a node ------------------------------------------------------------------------- */

int64_t graph_count(struct graph_reader *r, const yaml_node_t *node, const char *key,
                    int64_t otherwise)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);

    return at ? yaml_count(&r->yaml, at) : otherwise;
}

kb_dtype graph_dtype(struct graph_reader *r, const yaml_node_t *node, const char *key,
                     kb_dtype otherwise)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);

    return at ? yaml_dtype(&r->yaml, at) : otherwise;
}

bool graph_copies(struct graph_reader *r, const yaml_node_t *at, int64_t least, int64_t *n,
                  int64_t *copies)
{
    const char *word = yaml_word(&r->yaml, at);
    long long number = 0, times = 1;
    char rest, x = 'x';
    int got = sscanf(word, "%9lld%c%6lld%c", &number, &x, &times, &rest);

    *n = number;
    *copies = times;
    if ((got == 1 || got == 3) && x == 'x' && number >= least && times >= 1)
        return true;
    yaml_bad(&r->yaml, at, "'%s' is not N or NxC", word);
    return false;
}

/* -- experts ---------------------------------------------------------------------------------- */

void graph_set_experts(const struct graph_reader *r, struct llm_op *op)
{
    op->experts = r->out->experts;
    op->chosen = r->out->chosen;
    op->ep = r->out->shape.ep;
}

int64_t graph_rows_of_token(const struct graph_reader *r, int64_t each)
{
    int64_t own = r->out->experts / r->out->shape.ep;

    return r->out->shape.ep > 1 && own < each ? own : each;
}
#endif
