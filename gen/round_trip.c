/*
 * round_trip.c -- do buffers cover the way of a segment and of the credit for its place back?
 *
 * A channel is a row of edges between two routers, found in the graph of requests (channels.c). A
 * segment's place downstream is free for the next one after 2 wires, the overhead of the router and
 * the credit's own time. With as many segments as pass meanwhile, one that moves in and one that
 * moves out, a packet that is alone never waits: docs/network.md "Buffers that cover the way".
 *
 * Example: cube8, c0.noc > ucie-E > ucie-W > c1.noc: 5 + 1000 + 10 + 1000 + 5 ps, 128 GB/s. 4.04 ns
 * are 517 bytes: 3 segments of 256 bytes and 2, 1280 bytes.
 */
#include "round_trip.h"
#include "circle.h"
#include <math.h>

enum { NONE = INT32_MAX - 1, MANY = INT32_MAX };

/* A node, by its cube and the place of its name in the tables. */
struct node {
    uint32_t cube;
    const char *name;
};

/* Edges before and behind each edge: one, NONE or MANY; and the nodes that are routers, by a hash.
 */
struct neighbours {
    uint32_t *before, *behind;
    struct node *routers;
    uint32_t n_slots;
};

static struct node *slot_of(const struct neighbours *n, uint32_t cube, const char *name)
{
    size_t i = ((uintptr_t)name / 8 * 31 + cube) * 2654435761u & (n->n_slots - 1);

    while (n->routers[i].name && (n->routers[i].name != name || n->routers[i].cube != cube))
        i = (i + 1) & (n->n_slots - 1);
    return &n->routers[i];
}

/* Routers: an edge into them goes on by two, or one out of them is entered from two. */
static void find_routers(struct neighbours *n, const struct graph *g)
{
    for (n->n_slots = 64; n->n_slots < 4 * g->n_edges;)
        n->n_slots *= 2;
    n->routers = arena_alloc(g->arena, n->n_slots * sizeof *n->routers);
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct graph_edge *edge = &g->edges[i];

        if (n->behind[i] == MANY)
            *slot_of(n, edge->to_cube, edge->to) = (struct node){edge->to_cube, edge->to};
        if (n->before[i] == MANY)
            *slot_of(n, edge->from_cube, edge->from) = (struct node){edge->from_cube, edge->from};
    }
}

static void note(uint32_t *of, uint32_t edge)
{
    *of = *of == NONE || *of == edge ? edge : MANY;
}

static struct neighbours find_neighbours(const struct graph *g)
{
    struct neighbours n = {0};

    n.before = arena_alloc(g->arena, (g->n_edges + 1) * sizeof *n.before);
    n.behind = arena_alloc(g->arena, (g->n_edges + 1) * sizeof *n.behind);
    for (uint32_t i = 0; i < g->n_edges; i++)
        n.before[i] = n.behind[i] = NONE;
    for (uint32_t v = 0; v < g->n_edges * g->n_vcs; v++)
        for (uint32_t arc = g->first[v]; arc; arc = g->arcs[arc - 1].next) {
            note(&n.behind[v / g->n_vcs], g->arcs[arc - 1].to / g->n_vcs);
            note(&n.before[g->arcs[arc - 1].to / g->n_vcs], v / g->n_vcs);
        }
    find_routers(&n, g);
    return n;
}

static bool goes_on(const struct neighbours *n, const struct graph *g, uint32_t edge)
{
    const struct graph_edge *at = &g->edges[edge];

    return n->behind[edge] < NONE && !slot_of(n, at->to_cube, at->to)->name;
}

/* Bytes that the buffer at the end of the channel that begins with `edge` must hold; 0: it ends at
 * a memory. `last` is its last edge. */
static double bytes_needed(const struct routes *r, const struct neighbours *n, uint32_t edge,
                           uint32_t *last)
{
    const struct graph_edge *edges = r->requests->edges;
    double segment = r->topo.segment_bytes, gbs = edges[edge].gbs, way_fs;
    int64_t wire_fs = edges[edge].wire_fs;

    for (*last = edge; goes_on(n, r->requests, *last); *last = n->behind[*last]) {
        const struct graph_edge *next = &edges[n->behind[*last]];

        wire_fs += edges[*last].to_fs + next->wire_fs;
        gbs = fmin(gbs, next->gbs);
    }
    if (n->behind[*last] == NONE || isinf(gbs))
        return 0;
    way_fs = (double)(2 * wire_fs + edges[*last].to_fs + r->topo.credit_fs);
    return segment * (ceil(way_fs * gbs / 1e6 / segment) + 2);
}

static const char *name_of(const struct routes *r, uint32_t cube, const char *name)
{
    return cube == UINT32_MAX ? name : arena_printf(r->arena, "c%u.%s", cube % r->topo.cubes, name);
}

void warn_of_buffers(const struct routes *r)
{
    const struct graph *g = r->requests;
    struct neighbours n = find_neighbours(g);
    double most = r->topo.buffer_bytes;
    uint32_t first = 0, end = 0, last = 0;

    for (uint32_t i = 0; r->topo.buffer_bytes && i < g->n_edges; i++) {
        bool begins = n.before[i] >= NONE || !goes_on(&n, g, n.before[i]);
        double bytes = begins ? bytes_needed(r, &n, i, &last) : 0;

        if (bytes > most) {
            most = bytes;
            first = i;
            end = last;
        }
    }
    if (most > r->topo.buffer_bytes)
        diag_warning(r->spec->diag, spec_place(r->spec, KEY_contention_buffer_bytes),
                     "'contention.buffer_bytes' %u do not cover the way from %s to %s and that of "
                     "the credit "
                     "back, which take %.0f: packets wait there even alone",
                     r->topo.buffer_bytes,
                     name_of(r, g->edges[first].from_cube, g->edges[first].from),
                     name_of(r, g->edges[end].to_cube, g->edges[end].to), most);
}
