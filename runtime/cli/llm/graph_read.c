/*
 * graph_read.c -- a graph from YAML: graph_write.c has an example.
 *
 * Nodes run in the order of the file, one after the other; `deps` may name only nodes before, so
 * that order keeps them, and they decide nothing else here than what a node without `x` reads: what
 * the last of them has written, or the node before. `y` is a matrix of the node's own if it has no
 * name. All mistakes are told, with their places.
 */
#include "cli/llm/graph_reader.h"
#include "cli/llm/stage.h"
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

enum { RANKS_MAX = 65536 };

/* Keys that each node may have, and those of its operation. */
static const char *const common[] = {"id", "op", "deps", "stream", "x", "y", "z"};

struct kind {
    const char *word;
    enum llm_kind kind;
    const char *needed[8], *more[6];
};

static const struct kind kinds[] = {
    {"embed", LLM_EMBED, {"rows", "width", "table"}, {"dtype"}},
    {"gemm", LLM_GEMM, {"m", "n", "k"}, {"a", "b", "out", "unit", "heads"}},
    {"grouped_gemm", LLM_GEMM, {"rows", "each", "n", "k"}, {"a", "b", "out", "unit"}},
    {"combine", LLM_COMBINE, {"rows", "width", "each"}, {"dtype"}},
    {"attention",
     LLM_ATTENTION,
     {"q", "kv", "heads", "kv_heads", "dim"},
     {"a", "b", "v_dim", "latent", "keys"}},
    {"qk_norm", LLM_QK_NORM, {"q", "kv", "heads", "kv_heads", "dim"}, {"a", "b"}},
    {"rope", LLM_ROPE, {"q", "kv", "heads", "kv_heads", "dim"}, {"a", "b"}},
    {"q_rope", LLM_Q_ROPE, {"rows", "width", "heads", "turned"}, {"dtype"}},
    {"kv_rope", LLM_LATENT, {"q", "kv", "dim", "v_dim", "z"}, {"a", "b"}},
    {"kv_read", LLM_KEPT, {"q", "kv", "dim", "v_dim"}, {"a", "b"}},
    {"norm", LLM_NORM, {"rows", "width"}, {"dtype", "residual", "of", "wide", "unit"}},
    {"layernorm", LLM_LAYERNORM, {"rows", "width"}, {"dtype", "residual", "of", "wide", "unit"}},
    {"act", LLM_SILU, {"rows", "width"}, {"dtype"}},
    {"gelu", LLM_GELU, {"rows", "width"}, {"dtype"}},
    {"softmax", LLM_SOFTMAX, {"rows", "width"}, {"dtype"}},
    {"add", LLM_ADD, {"rows", "width"}, {"dtype"}},
    {"topk", LLM_TOPK, {"rows", "width"}, {"dtype", "k"}},
    {"all_reduce", LLM_ALL_REDUCE, {"bytes"}, {"group"}},
    {"all_gather", LLM_ALL_GATHER, {"bytes"}, {"group"}}, /* or LLM_GATHER, of no topk */
    {"all_to_all", LLM_DISPATCH, {"bytes"}, {"group"}},   /* or LLM_COLLECT, by what it reads */
    {"reduce_scatter", LLM_SCATTER, {"bytes"}, {"group"}},
    {"broadcast", LLM_BROADCAST, {"bytes"}, {"group", "root"}},
    {"send", LLM_SEND, {"bytes"}, {"group", "ranks", "peer"}}, /* or LLM_GIVE, with a peer */
    {"recv", LLM_TAKE, {"bytes", "ranks", "peer"}, {NULL}},
    {"mem", LLM_MOVE, {"bytes", "dir", "at"}, {NULL}},
    {"barrier", LLM_BARRIER, {NULL}, {"group"}},
    {"time", LLM_TIME, {"ns"}, {NULL}},
};

/* -- nodes ------------------------------------------------------------------------------------ */

static const struct kind *kind_of(struct graph_reader *r, const yaml_node_t *node)
{
    const yaml_node_t *at = yaml_needed(&r->yaml, node, "op");
    const char *word = at ? yaml_word(&r->yaml, at) : "";

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return &kinds[i];
    if (*word)
        yaml_bad(&r->yaml, at, "there is no op '%s'", word);
    return NULL;
}

static void check_node_keys(struct graph_reader *r, const yaml_node_t *node,
                            const struct kind *kind)
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

static void check_deps(struct graph_reader *r, const yaml_node_t *node)
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

static bool is_in_place(enum llm_kind kind)
{
    return kind == LLM_ALL_REDUCE || kind == LLM_ALL_GATHER || kind == LLM_QK_NORM ||
           kind == LLM_ROPE || kind == LLM_Q_ROPE || kind == LLM_SEND || kind == LLM_TIME ||
           kind == LLM_BARRIER || kind == LLM_BROADCAST || kind == LLM_GIVE || kind == LLM_TAKE ||
           kind == LLM_MOVE;
}

static void read_node(struct graph_reader *r, const yaml_node_t *node)
{
    const yaml_node_t *at = yaml_needed(&r->yaml, node, "id");
    const char *id = at ? graph_name(r, at) : "";
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
    graph_read_kind(r, node, &op);
    if (r->yaml.n_bad == before && graph_op_wrong(&op, &r->out->shape, g->layers, why))
        yaml_bad(&r->yaml, node, "%s", why);
    op.kv_layer = r->n_kv;
    r->n_kv += op.kind == LLM_ATTENTION && !op.is_layer && !r->was_layer;
    if (is_in_place(op.kind))
        op.y.at = op.x.at;
    else if (op.kind != LLM_ROUTE && op.kind != LLM_LATENT) /* their places are known */
        graph_write_matrix(r, node, id, &op.y);
    if ((op.kind == LLM_SCATTER || op.kind == LLM_GATHER) && op.x.at == op.y.at)
        yaml_bad(&r->yaml, node, "y must be another matrix than x");
    if (op.kind == LLM_KEPT)
        op.x.at = op.y.at;
    g->op[g->n++] = op;
}

/* - {begin: NAME} and - {end: NAME}; true: it was one. */
static bool read_marker(struct graph_reader *r, const yaml_node_t *node)
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

static void read_repeat(struct graph_reader *r, const yaml_node_t *at)
{
    if (at->type != YAML_MAPPING_NODE ||
        at->data.mapping.pairs.top - at->data.mapping.pairs.start != 1) {
        yaml_bad(&r->yaml, at, "repeat must be {NAME: COUNT}, of one name");
        return;
    }
    const yaml_node_pair_t *p = at->data.mapping.pairs.start;
    snprintf(r->repeated, sizeof r->repeated, "%s",
             graph_name(r, yaml_document_get_node(&r->yaml.doc, p->key)));
    r->out->graph.layers = yaml_count(&r->yaml, yaml_document_get_node(&r->yaml.doc, p->value));
}

/* A number that must divide another. */
static int64_t read_divisor(struct graph_reader *r, const yaml_node_t *root, const char *key,
                            int64_t of)
{
    const yaml_node_t *at = yaml_value(&r->yaml, root, key);
    int64_t n = at ? yaml_count(&r->yaml, at) : 1;

    if (of % n == 0)
        return n;
    yaml_bad(&r->yaml, at, "%lld does not divide %lld ranks", (long long)n, (long long)of);
    return 1;
}

/* Ranks of all stages, and how they are divided. */
static void read_ranks(struct graph_reader *r, const yaml_node_t *root)
{
    const yaml_node_t *at = yaml_value(&r->yaml, root, "ranks");
    struct shape *s = &r->out->shape;

    s->tp = at ? yaml_count(&r->yaml, at) : 1;
    if (s->tp > RANKS_MAX)
        yaml_bad(&r->yaml, at, "more than %d ranks", RANKS_MAX);
    s->pp = read_divisor(r, root, "pp", s->tp);
    s->tp /= s->pp;
    s->ep = read_divisor(r, root, "ep", s->tp);
    at = yaml_value(&r->yaml, root, "microbatches");
    s->micro = at ? yaml_count(&r->yaml, at) : 1;
    if (s->pp == 1 && s->micro > 1)
        yaml_bad(&r->yaml, at, "microbatches are of stages (pp)");
}

/* Messages from rank `from` to `to`. */
static int64_t messages(const struct graph *g, enum llm_kind kind, int64_t from, int64_t to)
{
    int64_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        const struct llm_op *op = &g->op[i];
        bool is = kind == LLM_GIVE ? op->root == from && op->peer == to
                                   : op->root == to && op->peer == from;

        n += op->kind == kind && is ? (op->is_layer ? g->layers : 1) : 0;
    }
    return n;
}

/* Each message that one rank sends another one takes. */
static void check_messages(struct graph_reader *r, const yaml_node_t *nodes)
{
    const struct graph *g = &r->out->graph;

    for (size_t i = 0; i < g->n && r->yaml.n_bad == 0; i++) {
        const struct llm_op *op = &g->op[i];
        int64_t from = op->kind == LLM_GIVE ? op->root : op->peer;
        int64_t to = op->kind == LLM_GIVE ? op->peer : op->root, sent, taken;

        if (op->kind != LLM_GIVE && op->kind != LLM_TAKE)
            continue;
        sent = messages(g, LLM_GIVE, from, to);
        taken = messages(g, LLM_TAKE, from, to);
        if (sent != taken)
            yaml_bad(&r->yaml, nodes, "rank %lld sends to rank %lld %lld times, which takes %lld",
                     (long long)from, (long long)to, (long long)sent, (long long)taken);
    }
}

/* A graph of stages has a send behind what repeats, and layers for each. */
static void check_stages(struct graph_reader *r, const yaml_node_t *nodes)
{
    const struct graph *g = &r->out->graph;
    int64_t pp = r->out->shape.pp;
    size_t sends = 0;
    char why[256];

    for (size_t i = 0; i < g->n; i++)
        sends += g->op[i].kind == LLM_SEND;
    if (sends != (pp > 1))
        yaml_bad(&r->yaml, nodes, "a graph of %lld stages has %s send, not %zu", (long long)pp,
                 pp > 1 ? "one" : "no", sends);
    else if (pp > 1 && stage_refuse(g->layers + g->dense_layers, g->dense_layers, pp, why))
        yaml_bad(&r->yaml, nodes, "its layers are not enough for %lld stages; %s", (long long)pp,
                 why);
}

static void read_graph(struct graph_reader *r)
{
    static const char *const keys[] = {"kernbench_graph", "ranks",  "pp",    "ep",
                                       "microbatches",    "repeat", "nodes", NULL};
    const yaml_node_t *root = yaml_document_get_root_node(&r->yaml.doc), *at, *nodes;

    yaml_check_keys(&r->yaml, root, keys);
    at = yaml_value(&r->yaml, root, "kernbench_graph");
    if (strcmp(yaml_word(&r->yaml, at), "1") != 0)
        yaml_bad(&r->yaml, at, "only version 1 is known");
    read_ranks(r, root);
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
    if (r->out->chosen > 0 && !r->out->rows && r->yaml.n_bad == 0)
        yaml_bad(&r->yaml, nodes, "no grouped_gemm has the rows that a topk with k chooses");
    if (r->out->graph.n == 0 && r->yaml.n_bad == 0)
        yaml_bad(&r->yaml, nodes ? nodes : root, "there are no nodes");
    r->out->graph.dense_layers = r->n_kv;
    if (r->yaml.n_bad == 0)
        check_stages(r, nodes);
    if (r->yaml.n_bad == 0)
        check_messages(r, nodes);
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
    struct graph_reader *r = memory_new(1, sizeof *r);
    enum exit_code code;

    *out = (struct graph_file){.shape = {.tp = 1, .pp = 1, .ep = 1}};
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

void graph_file_free(struct graph_file *f)
{
    free(f->rows);
    free(f);
}
