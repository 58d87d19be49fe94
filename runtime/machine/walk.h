/*
 * walk.h -- from segment to segment along a route, and the numbers of its nodes and links.
 *
 * The tables describe one cube and one IO chiplet. A request knows in which cube it is, so a place
 * on its route is a cube, a segment of the tables, and a step inside it (struct route_at). When a
 * segment ends at an exit, walk_next() finds the next cube and the segment that begins there: X
 * first, then Y; to another SIP west to the shoreline, over the switch, and in from column 0 of the
 * target's row.
 *
 * Nodes and links of the whole tray have numbers, so that each can have a station and a row of
 * counters:
 *
 *     node   those of all cubes, then those of the IO chiplets, then the switch
 *     link   twice its number, + 1 for the direction to -> from; the links of all cubes come first
 *
 * A link between cubes belongs to the one to the west or north of it. A request that leaves a cube
 * by its west or north side takes the neighbour's link, backwards (LINK_NEXT).
 *
 * Example: c0.pe1 -> c5.slice3 of cube8 (81 nodes and 114 links in a cube):
 *
 *     cube 0  segment 142  out[pe1][E]    nodes  34   0   4       links  82   58  224
 *     cube 1  segment 193  pass[W][S]     nodes  87  81  86       links 291  288  454
 *     cube 5  segment 199  in[N][slice3]  nodes 408 405 415 425   links 1197 1210 1162
 *
 * Link 454 is link 113 of cube 1, (1 * 114 + 113) * 2, from ucie-S of cube 1 to ucie-N of cube 5.
 */
#ifndef WALK_H
#define WALK_H
#include "machine/cost.h"

/* The segment where a request is. */
static inline const struct segment_row *walk_segment(const struct kb_topology *t,
                                                     struct route_at at)
{
    return segment_at(t, at.cube, at.segment);
}

static inline enum side walk_opposite(uint32_t side)
{
    return (enum side)((side + 2) % N_SIDES);
}

/* The neighbour of `cube` on a side where there is one. */
static inline uint32_t walk_neighbour(const struct kb_topology *t, uint32_t cube, uint32_t side)
{
    switch (side) {
    case SIDE_N:
        return cube - t->w;
    case SIDE_E:
        return cube + 1;
    case SIDE_S:
        return cube + t->w;
    default:
        return cube - 1;
    }
}

/* The exit by which a request leaves cube `a` for cube `b`: X first, then Y. */
static inline uint32_t walk_exit(const struct kb_topology *t, uint32_t a, uint32_t b)
{
    uint32_t xa = cube_column(t, a), xb = cube_column(t, b);

    if (!cost_same_sip(t, a, b))
        return xa ? SIDE_W : EXIT_IO;
    if (xa != xb)
        return xa < xb ? SIDE_E : SIDE_W;
    return cube_row(t, a) < cube_row(t, b) ? SIDE_S : SIDE_N;
}

/* The first segment from `src` to `dst`, both packed. From a host `src` does not matter. */
static inline struct route_at walk_begin(const struct kb_topology *t, uint32_t src, uint32_t dst,
                                         bool of_host)
{
    uint32_t cube = of_host ? dst_cube(t, dst) : src_cube(t, src);
    uint32_t segment;

    if (of_host)
        segment = t->seg_host;
    else if (cube == dst_cube(t, dst))
        segment = t->seg_local + src_pe(t, src) * t->n_units + dst_unit(t, dst);
    else
        segment = t->seg_out + src_pe(t, src) * N_EXITS + walk_exit(t, cube, dst_cube(t, dst));
    return (struct route_at){.cube = cube, .segment = (uint16_t)segment};
}

/* The segment that begins at `side` of `cube`. */
static inline struct route_at walk_enter(const struct kb_topology *t, uint32_t cube, uint32_t side,
                                         uint32_t dst, bool of_host)
{
    uint32_t segment;

    if (cube != dst_cube(t, dst))
        segment = t->seg_pass + side * N_EXITS + walk_exit(t, cube, dst_cube(t, dst));
    else if (of_host)
        segment = t->seg_host_in + dst_unit(t, dst);
    else
        segment = t->seg_in + side * t->n_units + dst_unit(t, dst);
    return (struct route_at){.cube = cube, .segment = (uint16_t)segment};
}

/* The segment after that of `at`, which ends at an exit. */
static inline struct route_at walk_next(const struct kb_topology *t, struct route_at at,
                                        uint32_t dst, bool of_host)
{
    uint32_t exit = walk_segment(t, at)->exit;

    uint32_t to = dst_cube(t, dst);

    if (exit != EXIT_IO)
        return walk_enter(t, walk_neighbour(t, at.cube, exit), walk_opposite(exit), dst, of_host);
    if (at.segment == t->seg_cross || at.segment == t->seg_host)
        return walk_enter(t, to - cube_column(t, to), SIDE_W, dst, of_host);
    return (struct route_at){.cube = at.cube, .segment = t->seg_cross};
}

/* An edge, seen from the segment in which a request passes it. */
struct walk_edge {
    uint8_t owner, back;
    uint16_t link;
};

/* The first link station of an IO chiplet: those of the cubes come first. */
static inline size_t walk_io_links(const struct kb_topology *t)
{
    return (size_t)t->sips * t->cubes * t->n_cube_links * 2;
}

static inline size_t walk_n_links(const struct kb_topology *t)
{
    return walk_io_links(t) + (size_t)t->sips * t->n_io_links * 2;
}

/*
 * Nodes of one cube, those that this cube does not have included; and the number of the first node
 * of an IO chiplet.
 */
static inline uint32_t walk_cube_nodes(const struct kb_topology *t)
{
    return t->n_cube_nodes;
}

static inline size_t walk_first_io_node(const struct kb_topology *t)
{
    return (size_t)t->sips * t->cubes * walk_cube_nodes(t);
}

static inline uint32_t walk_io_nodes(const struct kb_topology *t)
{
    return t->n_io_nodes;
}

/* All nodes, the switch last; those that are not there included. */
static inline size_t walk_n_nodes(const struct kb_topology *t)
{
    return walk_first_io_node(t) + (size_t)t->sips * walk_io_nodes(t) + 1;
}

/* A row of the nodes, or of the links, of a cube. */
static inline const struct node_row *walk_cube_node(const struct kb_topology *t, uint32_t cube,
                                                    uint32_t node)
{
    return &t->cube_nodes[cube_kind(t, cube) * t->n_cube_nodes + node];
}

static inline const struct link_row *walk_cube_link(const struct kb_topology *t, uint32_t cube,
                                                    uint32_t link)
{
    return &t->cube_links[cube_kind(t, cube) * t->n_cube_links + link];
}

/* The node of `hop`, passed in cube `cube` on the way to `dst` (packed). */
static inline size_t walk_node(const struct kb_topology *t, const struct hop_row *hop,
                               uint32_t cube, uint32_t dst)
{
    uint32_t sip = (hop->chiplet == AT_IO_TO ? dst_cube(t, dst) : cube) / t->cubes;

    if (hop->chiplet == AT_CUBE)
        return (size_t)cube * walk_cube_nodes(t) + hop->node;
    if (hop->chiplet == AT_FABRIC)
        return walk_n_nodes(t) - 1;
    return walk_first_io_node(t) + (size_t)sip * walk_io_nodes(t) + hop->node;
}

/* The row of node number `node`. */
static inline const struct node_row *walk_node_row(const struct kb_topology *t, size_t node)
{
    size_t io = walk_first_io_node(t), n_io = (size_t)t->sips * walk_io_nodes(t);

    if (node < io)
        return walk_cube_node(t, (uint32_t)(node / walk_cube_nodes(t)),
                              (uint32_t)(node % walk_cube_nodes(t)));
    return node < io + n_io ? &t->io_nodes[(node - io) % walk_io_nodes(t)] : &t->fabric_nodes[0];
}

/* The station of an edge, passed in cube `cube` on the way to `dst` (packed). */
static inline size_t walk_link(const struct kb_topology *t, struct walk_edge edge, uint32_t cube,
                               uint32_t dst)
{
    uint32_t link = edge.link;

    switch (edge.owner) {
    case LINK_NEXT: /* the east link is the last but one, the south link the last */
        cube = walk_neighbour(t, cube, link + 2 == t->n_cube_links ? SIDE_W : SIDE_N);
        break;
    case LINK_IO_TO:
    case LINK_IO_TO_ROW:
        cube = dst_cube(t, dst);
        break;
    default:
        break;
    }
    if (edge.owner <= LINK_NEXT)
        return ((size_t)cube * t->n_cube_links + link) * 2 + edge.back;
    if (edge.owner == LINK_IO_ROW || edge.owner == LINK_IO_TO_ROW)
        link += cube_row(t, cube);
    return walk_io_links(t) + ((size_t)(cube / t->cubes) * t->n_io_links + link) * 2 + edge.back;
}

#endif
