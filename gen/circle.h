/* circle.h -- a graph of edges and their virtual channels, and a search for a circle in it. */
#ifndef CIRCLE_H
#define CIRCLE_H
#include "arena.h"
#include <stdbool.h>
#include <stdint.h>

/* An edge of the machine, and its nodes, which a message names. */
struct graph_edge {
    size_t link; /* its number in the runtime */
    const char *from, *to;
    uint32_t from_cube, to_cube; /* UINT32_MAX: outside of cubes */
    int64_t wire_fs, to_fs;      /* and what `to` costs, at most */
    double gbs;
};

struct arc {
    uint32_t to, next; /* a vertex; of the same vertex the next arc, from 1 */
};

/* A piece of a route, by what its arcs depend on; not all zero. */
struct piece {
    uint64_t at, state;
};

/* A vertex is edge * n_vcs + vc. */
struct graph {
    struct arena *arena; /* borrowed */
    uint32_t n_vcs;
    struct graph_edge *edges;
    uint32_t n_edges, cap_edges;
    uint32_t *slots, n_slots; /* hash of links: an edge, from 1 */
    uint32_t *first;          /* [vertex]: its first arc, from 1 */
    struct arc *arcs;
    uint32_t n_arcs, cap_arcs;
    struct piece *pieces; /* hash of those that have been added */
    uint32_t n_pieces, n_places;
};

struct graph graph_make(struct arena *arena, uint32_t n_vcs);

/* The number of an edge, which is added if it is new. */
uint32_t graph_edge(struct graph *g, const struct graph_edge *edge);

/* Is it the first time that the piece is to be added? */
bool graph_adds_piece(struct graph *g, struct piece piece);

/* From vertex to vertex; nothing if it is there. */
void graph_add_arc(struct graph *g, uint32_t from, uint32_t to);

/* The vertices of a circle, in its order, into `line`, which has room for all. 0: there is none. */
uint32_t graph_find_circle(const struct graph *g, uint32_t *line);

#endif
