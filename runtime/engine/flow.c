/* flow.c -- the counters of traffic by route, made, cleared and freed. */
#include "engine/flow.h"
#include "base/rows.h"
#include <stdlib.h>
#include <string.h>

enum { N_FLOW_TABLES = 5 };

/* Table `i` of `f`, in the order of the struct, and its rows. */
static struct flow **table(struct flows *f, const struct kb_topology *t, uint32_t i, size_t *n)
{
    size_t cubes = sim_cubes(t), pes = cubes << t->pe_bits;
    struct flow **tables[N_FLOW_TABLES] = {&f->local, &f->out, &f->turn, &f->in, &f->host};
    size_t rows[N_FLOW_TABLES] = {pes * t->n_units, pes * flow_ways(t),
                                  t->regular ? cubes * N_ROW_WAYS * N_COL_WAYS : 1,
                                  cubes * t->n_units * flow_ways(t), cubes * t->n_units};

    *n = rows[i];
    return tables[i];
}

static size_t n_pairs(const struct kb_topology *t)
{
    return (size_t)between_blocks(t) * sim_cubes(t) * sim_cubes(t);
}

/* Do transactions of a pair of cubes all go the same way, from NoC to NoC, and are there few enough
 * pairs to count? Across a NoC that is a mesh the way depends on the PE or memory as well. */
static bool counts_pairs(const struct kb_topology *t)
{
    return t->paths == 1 && !t->has_noc_mesh && n_pairs(t) <= FLOW_PAIRS_MOST;
}

bool flows_init(struct flows *f, const struct kb_topology *t)
{
    for (uint32_t i = 0; i < N_FLOW_TABLES; i++) {
        size_t n;
        struct flow **rows = table(f, t, i, &n);

        *rows = rows_reserve(n, sizeof **rows);
        if (!*rows)
            return false;
    }
    if (t->regular)
        return true;
    if (counts_pairs(t))
        f->pairs = rows_reserve(n_pairs(t), sizeof *f->pairs);
    return flows_walked(f, t) && (f->pairs || !counts_pairs(t));
}

bool flows_walked(struct flows *f, const struct kb_topology *t)
{
    if (!f->nodes)
        f->nodes = rows_reserve(walk_n_nodes(t), sizeof *f->nodes);
    if (!f->edges)
        f->edges = rows_reserve(walk_n_links(t), sizeof *f->edges);
    return f->nodes && f->edges;
}

void flows_walk(const struct flows *f, const struct kb_topology *t, const struct txn *x)
{
    const struct flow_sum one = {1, x->nbytes};
    const struct trip trip = txn_trip(t, x);

    for (struct route_at at = walk_begin(t, &trip);; at = walk_next(t, &trip, at)) {
        const struct segment_row *seg = walk_segment(t, at);

        for (uint32_t i = 0; i < seg->n_hops; i++) {
            const struct hop_row *hop = &t->hops[seg->first_hop + i];
            struct walk_edge edge = {hop->owner, hop->back, hop->link};

            flow_sum_add(&f->nodes[walk_node(t, hop, at.cube, &trip)], &one);
            if (hop->owner != LINK_NONE)
                flow_sum_add(&f->edges[walk_link(t, edge, at.cube, &trip) ^ !txn_writes(x)], &one);
        }
        if (seg->exit == EXIT_END)
            return;
    }
}

void flows_clear(struct flows *f, const struct kb_topology *t)
{
    for (uint32_t i = 0; i < N_FLOW_TABLES; i++) {
        size_t n;
        struct flow **rows = table(f, t, i, &n);

        memset(*rows, 0, n * sizeof **rows);
    }
    if (f->nodes && f->edges) {
        memset(f->nodes, 0, walk_n_nodes(t) * sizeof *f->nodes);
        memset(f->edges, 0, walk_n_links(t) * sizeof *f->edges);
    }
    if (f->pairs)
        memset(f->pairs, 0, n_pairs(t) * sizeof *f->pairs);
}

/* `n` sums of `more` more. */
static void add_sums(struct flow_sum *sums, const struct flow_sum *more, size_t n)
{
    for (size_t i = 0; sums && more && i < n; i++)
        flow_sum_add(&sums[i], &more[i]);
}

void flows_add(struct flows *f, struct flows *more, const struct kb_topology *t)
{
    f->used = f->used || more->used;
    for (uint32_t i = 0; i < N_FLOW_TABLES; i++) {
        size_t n;
        struct flow **rows = table(f, t, i, &n), **others = table(more, t, i, &n);

        add_sums((*rows)->by, (*others)->by, 2 * n);
    }
    add_sums(f->nodes, more->nodes, walk_n_nodes(t));
    add_sums(f->edges, more->edges, walk_n_links(t));
    if (f->pairs)
        add_sums(f->pairs->by, more->pairs->by, 2 * n_pairs(t));
}

void flows_free(struct flows *f, const struct kb_topology *t)
{
    enum rows_left left = f->used ? ROWS_CHANGED : ROWS_ZERO;

    for (uint32_t i = 0; i < N_FLOW_TABLES; i++) {
        size_t n;
        struct flow **rows = table(f, t, i, &n);

        rows_unreserve(*rows, n, sizeof **rows, left);
    }
    rows_unreserve(f->nodes, walk_n_nodes(t), sizeof *f->nodes, left);
    rows_unreserve(f->edges, walk_n_links(t), sizeof *f->edges, left);
    rows_unreserve(f->pairs, n_pairs(t), sizeof *f->pairs, left);
}
