/*
 * circle.c -- a graph of edges and their virtual channels, and a search for a circle in it.
 *
 * Edges are numbered as they come, by a hash of what they are called in the runtime. Each has as
 * many vertices as there are VCs. Arcs are kept once, as lists. Routes have most of their pieces in
 * common, so these are remembered, too, and their arcs are made once. The search follows arcs from
 * each vertex, deepest first, and remembers the line it is on: an arc back to that line closes a
 * circle.
 */
#include "circle.h"
#include <string.h>

struct graph graph_make(struct arena *arena, uint32_t n_vcs)
{
    return (struct graph){.arena = arena, .n_vcs = n_vcs};
}

static uint32_t *slot_of(const struct graph *g, size_t link)
{
    size_t i = link * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (g->n_slots - 1);

    while (g->slots[i] && g->edges[g->slots[i] - 1].link != link)
        i = (i + 1) & (g->n_slots - 1);
    return &g->slots[i];
}

static void *moved(struct arena *a, const void *old, size_t bytes, size_t more)
{
    char *p = arena_alloc(a, more);

    if (bytes)
        memcpy(p, old, bytes);
    return p;
}

static void widen(struct graph *g)
{
    struct arena *a = g->arena;
    uint32_t cap = g->cap_edges ? 2 * g->cap_edges : 512;

    g->edges = moved(a, g->edges, g->n_edges * sizeof *g->edges, cap * sizeof *g->edges);
    g->first = moved(a, g->first, (size_t)g->n_edges * g->n_vcs * sizeof *g->first,
                     (size_t)cap * g->n_vcs * sizeof *g->first);
    g->cap_edges = cap;
    g->n_slots = 2 * cap;
    g->slots = arena_alloc(a, g->n_slots * sizeof *g->slots);
    for (uint32_t i = 0; i < g->n_edges; i++)
        *slot_of(g, g->edges[i].link) = i + 1;
}

uint32_t graph_edge(struct graph *g, const struct graph_edge *edge)
{
    uint32_t *slot;

    if (g->n_edges == g->cap_edges)
        widen(g);
    slot = slot_of(g, edge->link);
    if (!*slot) {
        g->edges[g->n_edges++] = *edge;
        *slot = g->n_edges;
    }
    if (edge->to_fs > g->edges[*slot - 1].to_fs)
        g->edges[*slot - 1].to_fs = edge->to_fs;
    return *slot - 1;
}

static struct piece *piece_place(const struct graph *g, struct piece piece)
{
    size_t i = (piece.at * 31 + piece.state) * UINT64_C(0x9e3779b97f4a7c15) >> 20;

    for (i &= g->n_places - 1; g->pieces[i].at || g->pieces[i].state;
         i = (i + 1) & (g->n_places - 1))
        if (g->pieces[i].at == piece.at && g->pieces[i].state == piece.state)
            break;
    return &g->pieces[i];
}

static void widen_pieces(struct graph *g)
{
    struct graph old = *g;

    g->n_places = g->n_places ? 2 * g->n_places : 1024;
    g->pieces = arena_alloc(g->arena, g->n_places * sizeof *g->pieces);
    for (uint32_t i = 0; i < old.n_places; i++)
        if (old.pieces[i].at || old.pieces[i].state)
            *piece_place(g, old.pieces[i]) = old.pieces[i];
}

bool graph_adds_piece(struct graph *g, struct piece piece)
{
    struct piece *place;

    if (2 * g->n_pieces >= g->n_places)
        widen_pieces(g);
    place = piece_place(g, piece);
    if (place->at || place->state)
        return false;
    *place = piece;
    g->n_pieces++;
    return true;
}

void graph_add_arc(struct graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = g->first[from]; i; i = g->arcs[i - 1].next)
        if (g->arcs[i - 1].to == to)
            return;
    if (g->n_arcs == g->cap_arcs) {
        g->cap_arcs = g->cap_arcs ? 2 * g->cap_arcs : 4096;
        g->arcs =
            moved(g->arena, g->arcs, g->n_arcs * sizeof *g->arcs, g->cap_arcs * sizeof *g->arcs);
    }
    g->arcs[g->n_arcs++] = (struct arc){to, g->first[from]};
    g->first[from] = g->n_arcs;
}

uint32_t graph_find_circle(const struct graph *g, uint32_t *line)
{
    uint32_t n = g->n_edges * g->n_vcs, len = 0;
    uint32_t *next = arena_alloc(g->arena, n * sizeof *next);
    uint8_t *state = arena_alloc(g->arena, n); /* 1: on the line, 2: leads to no circle */

    for (uint32_t v = 0; v < n; v++)
        for (len = state[v] ? 0 : 1, line[0] = v; len;) {
            uint32_t at = line[len - 1], arc = state[at] ? next[at] : g->first[at];

            state[at] = 1;
            if (!arc) {
                state[at] = 2;
                len--;
                continue;
            }
            next[at] = g->arcs[arc - 1].next;
            at = g->arcs[arc - 1].to;
            if (state[at] == 1) {
                uint32_t begin = 0;

                while (line[begin] != at)
                    begin++;
                memmove(line, line + begin, (len - begin) * sizeof *line);
                return len - begin;
            }
            if (!state[at])
                line[len++] = at;
        }
    return 0;
}
