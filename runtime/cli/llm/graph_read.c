/*
 * graph_read.c -- a graph from YAML: graph_write.c has an example.
 *
 * Nodes run in the order of the file, one after the other; `deps` may name only nodes before, so
 * that order keeps them, and they decide nothing else here than what a node without `x` reads: what
 * the last of them has written, or the node before. `y` is a matrix of the node's own if it has no
 * name. What a matrix holds is known from the node that has written it, and what reads it must fit.
 * All mistakes are told, with their places.
 */
#include "cli/llm/graph_check.h"
#include "cli/llm/graph_yaml.h"
#include "cli/llm/yaml_read.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KB_NO_YAML
bool graph_yaml_is(const char *file)
{
    (void)file;
    return false;
}

enum exit_code graph_yaml_read(const char *program, const char *file, struct graph_file *out)
{
    (void)out;
    return say(program, EXIT_SYSTEM, "cannot read %s: this build has no libyaml", file);
}
#else

enum { NAME_BYTES = 16, RANKS_MAX = 65536 };

/* A matrix that was written, by name. */
struct written {
    char name[NAME_BYTES];
    struct llm_matrix matrix;  /* `at`: its number */
    const yaml_node_t *reader; /* that has read it before a node wrote it; NULL: it is written */
};

struct reader {
    struct yaml_read yaml;
    struct graph_file *out;
    struct written written[GRAPH_MATRICES];
    size_t n_written;
    char repeated[NAME_BYTES]; /* the name of the nodes that repeat; "": none */
    bool is_layer, was_layer;
    bool has_lengths; /* of requests: shape is known */
    bool has_stream;
};

/* Keys that each node may have, and those of its operation. */
static const char *const common[] = {"id", "op", "deps", "stream", "x", "y", "z"};

struct kind {
    const char *word;
    enum llm_kind kind;
    const char *needed[8], *more[6];
};

static const struct kind kinds[] = {
    {"embed", LLM_EMBED, {"rows", "width", "table"}, {"dtype"}},
    {"gemm", LLM_GEMM, {"m", "n", "k"}, {"a", "b", "out", "unit"}},
    {"attention", LLM_ATTENTION, {"q", "kv", "heads", "kv_heads", "dim"}, {"a", "b"}},
    {"qk_norm", LLM_QK_NORM, {"q", "kv", "heads", "kv_heads", "dim"}, {"a", "b"}},
    {"rope", LLM_ROPE, {"q", "kv", "heads", "kv_heads", "dim"}, {"a", "b"}},
    {"norm", LLM_NORM, {"rows", "width"}, {"dtype", "residual", "of"}},
    {"layernorm", LLM_LAYERNORM, {"rows", "width"}, {"dtype", "residual", "of"}},
    {"act", LLM_SILU, {"rows", "width"}, {"dtype"}},
    {"gelu", LLM_GELU, {"rows", "width"}, {"dtype"}},
    {"add", LLM_ADD, {"rows", "width"}, {"dtype"}},
    {"topk", LLM_TOPK, {"rows", "width"}, {"dtype"}},
    {"all_reduce", LLM_ALL_REDUCE, {"bytes"}, {"group"}},
    {"all_gather", LLM_ALL_GATHER, {"bytes"}, {"group"}},
};

static const char *const not_simulated[] = {
    "grouped_gemm", "softmax", "reduce_scatter", "all_to_all", "broadcast", "send", "recv",
    "barrier",      "mem",     "time",           NULL};

/* -- matrices --------------------------------------------------------------------------------- */

static struct written *find_written(struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_written; i++)
        if (strcmp(r->written[i].name, name) == 0)
            return &r->written[i];
    return NULL;
}

/* The number of a name that is new: that of the graph of a model, or the next one behind these. */
static uint64_t number_of(struct reader *r, const char *name)
{
    uint64_t number = graph_matrix_number(name), next = GRAPH_NAMED;

    for (size_t i = 0; i < r->n_written; i++)
        if (r->written[i].matrix.at >= next)
            next = r->written[i].matrix.at + 1;
    return number ? number : next;
}

/* A name of a node or a matrix; "" after a message. */
static const char *name_of(struct reader *r, const yaml_node_t *at)
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
static struct written *matrix_of(struct reader *r, const yaml_node_t *node, const char *name,
                                 const struct llm_matrix *m)
{
    struct written *w = find_written(r, name);

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

static void check_size(struct reader *r, const yaml_node_t *node, const char *key,
                       const struct llm_matrix *as, const struct llm_matrix *from)
{
    if (!is_as(as, from))
        yaml_bad(&r->yaml, node, "%s is %lld x %lld of %s, and %lld x %lld of %s was written", key,
                 (long long)as->rows, (long long)as->cols, kb_dtype_name(as->dtype),
                 (long long)from->rows, (long long)from->cols, kb_dtype_name(from->dtype));
}

/* What the node writes: a matrix that has its name, or the node's. */
static void write_matrix(struct reader *r, const yaml_node_t *node, const char *id,
                         struct llm_matrix *m)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, "y");
    struct written *w = matrix_of(r, node, at ? name_of(r, at) : id, m);

    if (!w)
        return;
    if (w->reader)
        check_size(r, w->reader, w->name, &w->matrix, m);
    m->at = w->matrix.at;
    w->matrix = *m;
    w->reader = NULL;
}

/* What the last of the node's deps has written, or the node before; NULL: nothing. */
static const struct llm_matrix *read_dep(struct reader *r, const yaml_node_t *node)
{
    const yaml_node_t *deps = yaml_value(&r->yaml, node, "deps"), *dep = NULL, *at;
    const struct graph *g = &r->out->graph;

    for (size_t i = 0; (at = yaml_item(&r->yaml, deps, i)); i++)
        dep = at;
    for (size_t i = g->n; i-- > 0;)
        if (!dep || strcmp(g->op[i].id, yaml_word(&r->yaml, dep)) == 0)
            return &g->op[i].y;
    return NULL;
}

/* [rows, cols] that the node reads by `key`. In a repetition it may be written behind it. */
static struct llm_matrix read_as(struct reader *r, const yaml_node_t *node, const char *key,
                                 struct llm_matrix as)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);
    const char *name = at ? name_of(r, at) : NULL;
    const struct llm_matrix *from = name ? NULL : read_dep(r, node);

    if (name && *name) {
        bool is_new = !find_written(r, name);
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

/* -- values of a node ------------------------------------------------------------------------- */

static int64_t count(struct reader *r, const yaml_node_t *node, const char *key, int64_t otherwise)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);

    return at ? yaml_count(&r->yaml, at) : otherwise;
}

static kb_dtype dtype(struct reader *r, const yaml_node_t *node, const char *key,
                      kb_dtype otherwise)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, key);

    return at ? yaml_dtype(&r->yaml, at) : otherwise;
}

/* N or NxC, C requests of N tokens; all requests must be alike. */
static int64_t lengths(struct reader *r, const yaml_node_t *node, const char *key, int64_t *batch)
{
    const yaml_node_t *list = yaml_value(&r->yaml, node, key), *at;
    int64_t all = 0, length = 0;

    for (size_t i = 0; (at = yaml_item(&r->yaml, list, i)); i++) {
        const char *word = yaml_word(&r->yaml, at);
        long long n = 0, copies = 1;
        char rest, x = 'x';
        int got = sscanf(word, "%9lld%c%6lld%c", &n, &x, &copies, &rest);

        if ((got != 1 && got != 3) || x != 'x' || n < 1 || copies < 1)
            yaml_bad(&r->yaml, at, "'%s' is not N or NxC", word);
        else if (length > 0 && n != length)
            yaml_bad(&r->yaml, at, "requests of unlike lengths are not simulated");
        length = n;
        all += copies;
    }
    if (!list || all == 0)
        yaml_bad(&r->yaml, list ? list : node, "%s must be a list of N or NxC", key);
    *batch = all;
    return length > 0 ? length : 1;
}

static struct llm_matrix rows_of(struct reader *r, const yaml_node_t *node)
{
    return (struct llm_matrix){.rows = count(r, node, "rows", 1),
                               .cols = count(r, node, "width", 1),
                               .unit = 1,
                               .dtype = dtype(r, node, "dtype", KB_BF16)};
}

/* -- operations ------------------------------------------------------------------------------- */

static void read_gemm(struct reader *r, const yaml_node_t *node, struct llm_op *op)
{
    kb_dtype a = dtype(r, node, "a", KB_BF16);
    struct llm_matrix x = {count(r, node, "m", 1), count(r, node, "k", 1), 1, 0, a, 0};

    op->x = read_as(r, node, "x", x);
    op->y = (struct llm_matrix){x.rows, count(r, node, "n", 1), count(r, node, "unit", 1), 0,
                                dtype(r, node, "out", a), 0};
    op->weight_dtype = dtype(r, node, "b", a);
    if (op->y.cols % op->y.unit)
        yaml_bad(&r->yaml, node, "unit must divide n");
}

static void read_heads(struct reader *r, const yaml_node_t *node, struct llm_op *op)
{
    int64_t batch;
    kb_dtype a = dtype(r, node, "a", KB_BF16);
    struct shape *s = &r->out->shape;

    op->q = lengths(r, node, "q", &op->batch);
    op->kv = lengths(r, node, "kv", &batch);
    op->heads = count(r, node, "heads", 1);
    op->kv_heads = count(r, node, "kv_heads", 1);
    op->dim = count(r, node, "dim", 1);
    if (batch != op->batch || op->kv < op->q || op->heads % op->kv_heads)
        yaml_bad(&r->yaml, node,
                 "q and kv must be of as many requests, q at most kv, and kv_heads "
                 "divide heads");
    if ((double)(op->heads + 2 * op->kv_heads) * (double)op->dim > 0x1p40) {
        yaml_bad(&r->yaml, node, "heads x dim has more than 2^40 columns");
        return;
    }
    op->x = read_as(
        r, node, "x",
        (struct llm_matrix){op->batch * op->q, (op->heads + 2 * op->kv_heads) * op->dim, 1, 0, a, 0});
    op->y = op->x;
    if (op->kind == LLM_ATTENTION)
        op->y.cols = op->heads * op->dim;
    if (r->has_lengths && (s->batch != op->batch || s->q != op->q || s->kv != op->kv))
        yaml_bad(&r->yaml, node, "q and kv are others than those before");
    r->has_lengths = true;
    s->batch = op->batch;
    s->q = op->q;
    s->kv = op->kv;
    s->act = a;
    s->kv_dtype = dtype(r, node, "b", a);
}

static void read_norm(struct reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const yaml_node_t *residual = yaml_value(&r->yaml, node, "residual");
    struct llm_matrix from;

    op->y = from = rows_of(r, node);
    from.rows = count(r, node, "of", from.rows);
    op->x = read_as(r, node, "x", from);
    op->has_z = residual && yaml_flag(&r->yaml, residual);
    op->z = yaml_value(&r->yaml, node, "z") ? read_as(r, node, "z", from) : op->x;
    if (from.rows % op->y.rows)
        yaml_bad(&r->yaml, node, "rows must divide `of`");
}

static void read_act(struct reader *r, const yaml_node_t *node, struct llm_op *op)
{
    struct llm_matrix from;

    op->y = from = rows_of(r, node);
    if (op->kind == LLM_SILU) {
        from.cols *= 2;
        from.unit = 2;
    }
    op->x = read_as(r, node, "x", from);
    if (op->x.unit != from.unit)
        yaml_bad(&r->yaml, node, "x was written with another unit than %lld", (long long)from.unit);
}

static void read_collective(struct reader *r, const yaml_node_t *node, struct llm_op *op)
{
    const yaml_node_t *at = yaml_value(&r->yaml, node, "x");
    const struct written *w = at ? find_written(r, name_of(r, at)) : NULL;
    const struct llm_matrix *x = w ? &w->matrix : at ? NULL : read_dep(r, node);
    const yaml_node_t *group = yaml_value(&r->yaml, node, "group");
    const char *word = group ? yaml_word(&r->yaml, group) : "tp";

    if (strcmp(word, "tp") != 0 && strcmp(word, "all") != 0)
        yaml_bad(&r->yaml, group, "only groups tp and all are simulated");
    if (!x)
        yaml_bad(&r->yaml, node, "nothing before it is there to be reduced");
    else
        op->x = op->y = *x;
    op->bytes = count(r, node, "bytes", 1);
}

static void read_kind(struct reader *r, const yaml_node_t *node, struct llm_op *op)
{
    switch (op->kind) {
    case LLM_EMBED:
        op->y = rows_of(r, node);
        op->x = (struct llm_matrix){op->y.rows, count(r, node, "table", 1), 1, 0, op->y.dtype, 0};
        break;
    case LLM_GEMM:
        read_gemm(r, node, op);
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
        read_act(r, node, op);
        break;
    case LLM_ADD:
        op->y = rows_of(r, node);
        op->x = read_as(r, node, "x", op->y);
        op->z = read_as(r, node, "z", op->y);
        break;
    case LLM_ROUTE:
    case LLM_DISPATCH:
    case LLM_COLLECT:
    case LLM_COMBINE:
        break;
    case LLM_TOPK:
        op->x = read_as(r, node, "x", rows_of(r, node));
        op->y = (struct llm_matrix){op->x.rows, 1, 1, 0, KB_I64, 0};
        break;
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
        read_collective(r, node, op);
        break;
    }
}

/* -- nodes ------------------------------------------------------------------------------------ */

static const struct kind *kind_of(struct reader *r, const yaml_node_t *node)
{
    const yaml_node_t *at = yaml_needed(&r->yaml, node, "op");
    const char *word = at ? yaml_word(&r->yaml, at) : "";

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return &kinds[i];
    for (size_t i = 0; not_simulated[i]; i++)
        if (strcmp(not_simulated[i], word) == 0) {
            yaml_bad(&r->yaml, at, "op %s is not simulated", word);
            return NULL;
        }
    if (*word)
        yaml_bad(&r->yaml, at, "there is no op '%s'", word);
    return NULL;
}

static void check_node_keys(struct reader *r, const yaml_node_t *node, const struct kind *kind)
{
    const char *keys[24];
    size_t n = 0;

    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        keys[n++] = common[i];
    for (size_t i = 0; kind->needed[i]; i++) {
        keys[n++] = kind->needed[i];
        yaml_needed(&r->yaml, node, kind->needed[i]);
    }
    for (size_t i = 0; kind->more[i]; i++)
        keys[n++] = kind->more[i];
    keys[n] = NULL;
    yaml_check_keys(&r->yaml, node, keys);
}

static bool has_id(const struct graph *g, const char *id)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->op[i].id, id) == 0)
            return true;
    return false;
}

static void check_deps(struct reader *r, const yaml_node_t *node)
{
    const yaml_node_t *deps = yaml_value(&r->yaml, node, "deps"), *at;

    if (deps && deps->type != YAML_SEQUENCE_NODE)
        yaml_bad(&r->yaml, deps, "deps must be a list");
    for (size_t i = 0; (at = yaml_item(&r->yaml, deps, i)); i++) {
        const char *id = yaml_word(&r->yaml, at);

        if (*id && !r->is_layer && !has_id(&r->out->graph, id))
            yaml_bad(&r->yaml, at, "no node before it is '%s'", id);
    }
    r->has_stream = r->has_stream || yaml_value(&r->yaml, node, "stream");
}

static void read_node(struct reader *r, const yaml_node_t *node)
{
    const yaml_node_t *at = yaml_needed(&r->yaml, node, "id");
    const char *id = at ? name_of(r, at) : "";
    const struct kind *kind = kind_of(r, node);
    struct graph *g = &r->out->graph;

    if (*id && has_id(g, id))
        yaml_bad(&r->yaml, at, "'%s' is there twice", id);
    if (g->n == GRAPH_OPS_MAX)
        yaml_bad(&r->yaml, node, "more than %d nodes", GRAPH_OPS_MAX);
    if (!kind || !*id || g->n == GRAPH_OPS_MAX)
        return;
    size_t before = r->yaml.n_bad;
    char why[GRAPH_WHY_BYTES];
    check_node_keys(r, node, kind);
    check_deps(r, node);
    if (r->yaml.n_bad != before)
        return;
    struct llm_op op = {.kind = kind->kind, .is_layer = r->is_layer};
    snprintf(op.id, sizeof op.id, "%s", id);
    read_kind(r, node, &op);
    if (r->yaml.n_bad == before && graph_op_wrong(&op, &r->out->shape, g->layers, why))
        yaml_bad(&r->yaml, node, "%s", why);
    if (op.kind == LLM_ALL_REDUCE || op.kind == LLM_ALL_GATHER || op.kind == LLM_QK_NORM ||
        op.kind == LLM_ROPE)
        op.y.at = op.x.at; /* in place */
    else
        write_matrix(r, node, id, &op.y);
    g->op[g->n++] = op;
}

/* - {begin: NAME} and - {end: NAME}; true: it was one. */
static bool read_marker(struct reader *r, const yaml_node_t *node)
{
    static const char *const keys[] = {"begin", "end", NULL};
    const yaml_node_t *begin = yaml_value(&r->yaml, node, "begin");
    const yaml_node_t *end = yaml_value(&r->yaml, node, "end"), *at = begin ? begin : end;

    if (!at)
        return false;
    yaml_check_keys(&r->yaml, node, keys);
    if (strcmp(yaml_word(&r->yaml, at), r->repeated) != 0 || !*r->repeated)
        yaml_bad(&r->yaml, at, "repeat does not name it");
    else if (begin ? r->is_layer || r->was_layer : !r->is_layer)
        yaml_bad(&r->yaml, at, begin ? "it has begun before" : "it has not begun");
    r->is_layer = begin != NULL;
    r->was_layer = r->was_layer || begin;
    return true;
}

static void read_repeat(struct reader *r, const yaml_node_t *at)
{
    if (at->type != YAML_MAPPING_NODE ||
        at->data.mapping.pairs.top - at->data.mapping.pairs.start != 1) {
        yaml_bad(&r->yaml, at, "repeat must be {NAME: COUNT}, of one name");
        return;
    }
    const yaml_node_pair_t *p = at->data.mapping.pairs.start;
    snprintf(r->repeated, sizeof r->repeated, "%s",
             name_of(r, yaml_document_get_node(&r->yaml.doc, p->key)));
    r->out->graph.layers = yaml_count(&r->yaml, yaml_document_get_node(&r->yaml.doc, p->value));
}

static void read_graph(struct reader *r)
{
    static const char *const keys[] = {"kernbench_graph", "ranks", "repeat", "nodes", NULL};
    const yaml_node_t *root = yaml_document_get_root_node(&r->yaml.doc), *at, *nodes;

    yaml_check_keys(&r->yaml, root, keys);
    at = yaml_value(&r->yaml, root, "kernbench_graph");
    if (strcmp(yaml_word(&r->yaml, at), "1") != 0)
        yaml_bad(&r->yaml, at, "only version 1 is known");
    at = yaml_value(&r->yaml, root, "ranks");
    r->out->shape.tp = at ? yaml_count(&r->yaml, at) : 1;
    if (r->out->shape.tp > RANKS_MAX)
        yaml_bad(&r->yaml, at, "more than %d ranks", RANKS_MAX);
    if ((at = yaml_value(&r->yaml, root, "repeat")))
        read_repeat(r, at);
    nodes = yaml_needed(&r->yaml, root, "nodes");
    for (size_t i = 0; (at = yaml_item(&r->yaml, nodes, i)); i++)
        if (!read_marker(r, at))
            read_node(r, at);
    if (r->is_layer)
        yaml_bad(&r->yaml, nodes, "'%s' has no end", r->repeated);
    r->is_layer = false; /* nodes that repeat may wait for one behind them, but not for none */
    for (size_t i = 0; r->yaml.n_bad == 0 && (at = yaml_item(&r->yaml, nodes, i)); i++)
        check_deps(r, at);
    for (size_t i = 0; i < r->n_written; i++)
        if (r->written[i].reader)
            yaml_bad(&r->yaml, r->written[i].reader, "nothing writes '%s'", r->written[i].name);
    if (r->out->graph.n == 0 && r->yaml.n_bad == 0)
        yaml_bad(&r->yaml, nodes ? nodes : root, "there are no nodes");
    if (*r->repeated && !r->was_layer && r->yaml.n_bad == 0)
        yaml_bad(&r->yaml, nodes, "'%s' does not begin", r->repeated);
}

/* Rows of a graph without attention. */
static void complete_shape(struct graph_file *f, bool has_lengths)
{
    f->shape.weights = KB_BF16;
    if (has_lengths)
        return;
    f->shape.batch = f->graph.op[0].y.rows;
    f->shape.q = f->shape.kv = 1;
    f->shape.act = f->shape.kv_dtype = KB_BF16;
}

enum exit_code graph_yaml_read(const char *program, const char *file, struct graph_file *out)
{
    struct reader *r = memory_new(1, sizeof *r);
    enum exit_code code;

    *out = (struct graph_file){.shape = {.tp = 1}};
    r->out = out;
    code = yaml_read_open(&r->yaml, program, file);
    if (!code)
        read_graph(r);
    if (!code && r->yaml.n_bad > 0)
        code = EXIT_INPUT;
    if (!code)
        complete_shape(out, r->has_lengths);
    if (!code && r->has_stream)
        say(program, EXIT_OK, "%s: streams are not read: nodes run one after the other", file);
    yaml_read_close(&r->yaml);
    free(r);
    return code;
}

bool graph_yaml_is(const char *file)
{
    size_t n = strlen(file);
    char line[256];
    bool found = false;
    FILE *from = n > 5 && strcmp(file + n - 5, ".yaml") == 0 ? fopen(file, "r") : NULL;

    while (from && !found && fgets(line, sizeof line, from))
        found = strncmp(line, "kernbench_graph", strlen("kernbench_graph")) == 0;
    if (from)
        fclose(from);
    return found;
}
#endif
