/* graph.c -- which operations wait for which, by the versions that they read and make.
 *
 * An operation of the log names its operands and its result as views of versions, and a version is
 * made by one operation. So the edges need no addresses and no times: an operation waits for the
 * makers of the versions that it reads, if these are pending. Bytes that were overwritten later
 * have versions of their own, and there are no other dependencies.
 *
 * Nodes 0..n_ops-1 are the operations, in the order of their ids. An operation starts after those
 * whose results it reads, so there is no circle. Mostly it was issued after them, too, and edges
 * lead from lower to higher operations; but under tl_async() it may wait for a message or a load
 * that brings what another PE makes later (struct late).
 *
 * An operand may be a version of pieces: a matrix that several operations have made and one load
 * has gathered. It gets a *join*, a node behind those of the operations, which waits for the makers
 * of its pieces and computes nothing. Example: ops 3 and 7 make the halves of a matrix, and ops 12
 * and 15 multiply it:
 *
 *     3 --\           /--> 12
 *          >-- join --<
 *     7 --/           \--> 15
 *
 * With p pieces and r readers these are p + r edges instead of p * r: 64 instead of 1024 if 32
 * operations use a matrix of 32 pieces.
 *
 * Edges are collected in the order of discovery and then sorted by counting, so that those of a
 * node lie side by side: nodes[i].first to nodes[i + 1].first. `waits` of a node counts the edges
 * into it; exec.c counts it down.
 *
 * The graph also counts, for each version, the products that multiply it (`products`): after the
 * last of them its packed form is freed. And it groups small products that are alike, so that
 * exec.c can take them in batches.
 */
#include "phase2/graph.h"
#include "machine/endpoint.h"
#include "phase2/gemm.h"
#include <stdlib.h>
#include <string.h>

/* -- versions ------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct graph *g, const struct version *v)
{
    uint64_t hash = ((uint64_t)(uintptr_t)v >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> 32) & (g->slots - 1);

    while (g->versions[i].v && g->versions[i].v != v)
        i = (i + 1) & (g->slots - 1);
    return i;
}

struct graph_version *graph_find(const struct graph *g, const struct version *v)
{
    struct graph_version *found = &g->versions[slot_of(g, v)];

    return found->v ? found : NULL;
}

/* Makes room for one more; at least half of the slots stay empty. */
static bool versions_grow(struct graph *g)
{
    struct graph_version *old = g->versions;
    uint32_t n = g->slots, slots = n ? 2 * n : 1024;

    if (2 * g->n_versions < n)
        return true;
    g->versions = calloc(slots, sizeof *g->versions);
    if (!g->versions) {
        g->versions = old;
        return false;
    }
    g->slots = slots;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].v)
            g->versions[slot_of(g, old[i].v)] = old[i];
    free(old);
    return true;
}

/* The entry of `v`, made if there is none; NULL: no memory. */
static struct graph_version *version_entry(struct graph *g, struct version *v)
{
    struct graph_version *e;

    if (!versions_grow(g))
        return NULL;
    e = &g->versions[slot_of(g, v)];
    if (!e->v) {
        *e = (struct graph_version){v, GRAPH_NONE, 0};
        g->n_versions++;
    }
    return e;
}

/* -- nodes and edges ------------------------------------------------------------------------ */

static bool nodes_grow(struct graph *g)
{
    uint32_t cap = g->nodes_cap ? 2 * g->nodes_cap : 1024;
    struct graph_node *moved;

    if (g->n_nodes + 1 < g->nodes_cap)
        return true;
    moved = cap > g->nodes_cap ? realloc(g->nodes, cap * sizeof *moved) : NULL;
    if (!moved)
        return false;
    g->nodes = moved;
    g->nodes_cap = cap;
    return true;
}

static bool add_node(struct graph *g)
{
    if (!nodes_grow(g))
        return false;
    memset(&g->nodes[g->n_nodes++], 0, 2 * sizeof *g->nodes);
    return true;
}

static bool edges_grow(struct graph *g)
{
    uint32_t cap = g->edges_cap ? 2 * g->edges_cap : 1024, *moved;

    if (g->n_edges < g->edges_cap)
        return true;
    moved = cap > g->edges_cap ? realloc(g->from, cap * sizeof *moved) : NULL;
    if (!moved)
        return false;
    g->from = moved;
    moved = realloc(g->edges, cap * sizeof *moved);
    if (!moved)
        return false;
    g->edges = moved;
    g->edges_cap = cap;
    return true;
}

static bool add_edge(struct graph *g, uint32_t from, uint32_t to)
{
    if (!edges_grow(g))
        return false;
    g->from[g->n_edges] = from;
    g->edges[g->n_edges++] = to;
    g->nodes[to].waits++;
    return true;
}

/*
 * Sorts the edges by the node that they leave, by counting; edges of one node keep their order.
 * First `first` counts the edges of each node, then it is where they begin, then, while they are
 * placed, where the next one goes, which is where those of the next node begin.
 */
static bool sort_edges(struct graph *g)
{
    uint32_t *sorted = malloc((g->n_edges ? g->n_edges : 1) * sizeof *sorted);
    uint32_t sum = 0;

    if (!sorted)
        return false;
    for (uint32_t i = 0; i < g->n_edges; i++)
        g->nodes[g->from[i]].first++;
    for (uint32_t i = 0; i <= g->n_nodes; i++) {
        uint32_t n = g->nodes[i].first;

        g->nodes[i].first = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < g->n_edges; i++)
        sorted[g->nodes[g->from[i]].first++] = g->edges[i];
    for (uint32_t i = g->n_nodes; i > 0; i--)
        g->nodes[i].first = g->nodes[i - 1].first;
    g->nodes[0].first = 0;
    free(g->edges);
    free(g->from);
    g->edges = sorted;
    g->from = NULL;
    return true;
}

/* -- groups --------------------------------------------------------------------------------- */

/* A batch has about this many multiplications; larger products are not batched. */
enum { BATCH_WORK = 1 << 22, BATCH_MAX = 32 };

static bool is_small(const struct op *op)
{
    return op->kind == OP_GEMM && gemm_parts(op) == 1 &&
           (uint64_t)op->m * op->n * op->k <= BATCH_WORK;
}

static bool alike(const struct op *a, const struct op *b)
{
    return a->m == b->m && a->k == b->k && a->n == b->n && a->in[0].dtype == b->in[0].dtype &&
           a->in[1].dtype == b->in[1].dtype && a->out.dtype == b->out.dtype &&
           a->dtype_acc == b->dtype_acc && a->transpose_a == b->transpose_a &&
           a->transpose_b == b->transpose_b && a->col_a == b->col_a && a->col_b == b->col_b &&
           a->col_out == b->col_out;
}

static uint8_t group_of(struct graph *g, const struct op *op)
{
    uint64_t batch;

    if (!is_small(op))
        return 0;
    for (uint32_t i = 1; i < g->n_groups; i++)
        if (alike(&g->groups[i].like, op))
            return (uint8_t)i;
    if (g->n_groups == GRAPH_GROUPS_MAX)
        return 0;
    batch = BATCH_WORK / ((uint64_t)op->m * op->n * op->k);
    g->groups[g->n_groups].like = *op;
    g->groups[g->n_groups].batch = (uint32_t)(batch < BATCH_MAX ? batch : BATCH_MAX);
    return (uint8_t)g->n_groups++;
}

/* -- the whole ------------------------------------------------------------------------------ */

/* A node that waits for the result of an operation that is not added yet. */
struct late {
    const struct version *v;
    uint32_t node, op_id;
};

struct build {
    struct late *late; /* owned */
    uint32_t n_late, late_cap;
    struct graph *g;
    struct op_log *log;
    uint32_t op_id, node; /* of the operation that is added */
    kb_status status;
    kb_error *why;
};

static void fail(struct build *b, kb_status status, const char *text)
{
    if (b->status != KB_OK)
        return;
    b->status = status;
    if (status == KB_NO_MEMORY)
        endpoint_error(b->why, "out of memory");
    else
        endpoint_error(b->why, "op %u: %s", b->op_id, text);
}

static bool have_memory(struct build *b, bool memory)
{
    if (!memory)
        fail(b, KB_NO_MEMORY, NULL);
    return b->status == KB_OK;
}

void graph_operands(struct op *op, void (*each)(void *arg, struct op_tensor *t), void *arg)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!op->in[i].is_scalar)
            each(arg, &op->in[i]);
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            if (!op->epilogue[e].operand[i].is_scalar)
                each(arg, &op->epilogue[e].operand[i]);
}

/* `node` waits for the operation that makes `v`; false: that has not been added yet. */
static bool wait_for_maker(struct build *b, const struct version *v, uint32_t node)
{
    const struct graph_version *e = graph_find(b->g, v);

    if (!e || e->node == GRAPH_NONE)
        return false;
    have_memory(b, add_edge(b->g, e->node, node));
    return true;
}

/* The same; the operation may be added later. */
static void wait_for_result(struct build *b, const struct version *v, uint32_t node)
{
    uint32_t cap = b->late_cap ? 2 * b->late_cap : 64;
    struct late *moved;

    if (wait_for_maker(b, v, node))
        return;
    if (b->n_late == b->late_cap) {
        moved = cap > b->late_cap ? realloc(b->late, cap * sizeof *moved) : NULL;
        if (!have_memory(b, moved != NULL))
            return;
        b->late = moved;
        b->late_cap = cap;
    }
    b->late[b->n_late++] = (struct late){v, node, b->op_id};
}

/* All operations are there. */
static bool wait_for_late(struct build *b)
{
    for (uint32_t i = 0; i < b->n_late && b->status == KB_OK; i++) {
        b->op_id = b->late[i].op_id;
        if (!wait_for_maker(b, b->late[i].v, b->late[i].node))
            fail(b, KB_INTERNAL, "an operand that nothing computes");
    }
    return b->status == KB_OK;
}

/* The join of `v`, made at the first call. */
static uint32_t join(struct build *b, struct version *v)
{
    struct graph_version *e = version_entry(b->g, v);
    uint32_t node = b->g->n_nodes;

    if (!have_memory(b, e != NULL) || e->node != GRAPH_NONE)
        return e ? e->node : GRAPH_NONE;
    if (!have_memory(b, add_node(b->g)))
        return GRAPH_NONE;
    e->node = node;
    for (uint32_t i = 0; i < v->n_pieces && b->status == KB_OK; i++) {
        struct version *part = v->pieces[i].part.v;

        if (!version_ready(part))
            wait_for_result(b, part, node);
    }
    return node;
}

static void wait_for(void *arg, struct op_tensor *t)
{
    struct build *b = arg;
    struct version *v = t->view.v;
    uint32_t from;

    if (!v) {
        fail(b, KB_INTERNAL, "an operand that was never bound");
        return;
    }
    if (b->status != KB_OK || version_ready(v))
        return;
    if (v->kind != VERSION_PIECES) {
        wait_for_result(b, v, b->node);
        return;
    }
    from = join(b, v);
    if (from != GRAPH_NONE)
        have_memory(b, add_edge(b->g, from, b->node));
}

static void add_products(struct build *b, const struct op *op)
{
    for (uint32_t i = 0; op->kind == OP_GEMM && i < 2 && b->status == KB_OK; i++) {
        struct graph_version *e = version_entry(b->g, op->in[i].view.v);

        if (have_memory(b, e != NULL))
            e->products++;
    }
}

/* Enters the operation as the maker of its result. */
static void add_result(struct build *b, const struct op *op)
{
    struct graph_version *made = op->out.view.v ? version_entry(b->g, op->out.view.v) : NULL;

    if (!op->out.view.v)
        fail(b, KB_INTERNAL, "has no result");
    else if (!made)
        fail(b, KB_NO_MEMORY, NULL);
    else if (made->node != GRAPH_NONE || version_ready(made->v))
        fail(b, KB_INTERNAL, "its result is another's, too");
    else
        made->node = b->node;
}

static void add_op(struct build *b, struct op *op)
{
    struct graph_node *node = &b->g->nodes[b->node];

    node->group = group_of(b->g, op);
    node->is_wide = op->kind == OP_GEMM && gemm_parts(op) > 1;
    b->g->groups[node->group].n++;
    graph_operands(op, wait_for, b);
    add_products(b, op);
    if (b->status == KB_OK)
        add_result(b, op);
}

static bool add_ops(struct build *b)
{
    for (uint32_t i = 0; i < b->g->n_ops && b->status == KB_OK; i++) {
        struct op op;

        b->status = operation_get(b->log, &b->g->operations.of[i], &op, b->why);
        if (b->status != KB_OK)
            return false;
        b->node = i;
        b->op_id = op.id;
        add_op(b, &op);
        op_ids_clear(&op.depends);
    }
    return b->status == KB_OK;
}

/* Nodes of operations come first, joins after them. */
static bool add_nodes(struct build *b)
{
    for (uint32_t i = 0; i < b->g->n_ops; i++)
        if (!add_node(b->g))
            return false;
    return b->g->n_ops > 0 || add_node(b->g);
}

kb_status graph_build(struct graph *g, struct op_log *log, struct operations operations,
                      kb_error *why)
{
    struct build b = {.g = g, .log = log, .why = why};

    memset(g, 0, sizeof *g);
    g->n_groups = 1;
    g->groups[0].batch = 1;
    g->operations = operations;
    g->n_ops = operations.n;
    if (have_memory(&b, g->n_ops < UINT32_MAX / 2 && versions_grow(g) && add_nodes(&b)) &&
        add_ops(&b) && wait_for_late(&b))
        have_memory(&b, sort_edges(g));
    free(b.late);
    if (b.status != KB_OK)
        graph_free(g);
    return b.status;
}

void graph_free(struct graph *g)
{
    free(g->operations.of);
    free(g->nodes);
    free(g->edges);
    free(g->from);
    free(g->versions);
    memset(g, 0, sizeof *g);
}
