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
 * by its west or north side takes the neighbour's link, backwards (LINK_NEXT). In a net it takes
 * that of its port, whichever of the two cubes it belongs to (LINK_NEXT, too).
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
#include "machine/box_impl.h"
#include "machine/mesh.h"
#include "machine/paths.h"

/* The segment where a request is. */
static inline const struct segment_row *walk_segment(const struct kb_topology *t,
                                                     struct route_at at)
{
    return segment_at(t, at.cube, at.segment);
}

/* -- trips ---------------------------------------------------------------------------------- */

/* The trip of a transaction on that course (paths.h); `of_host`: of chiplet `chiplet`. */
static inline struct trip walk_trip(const struct kb_topology *t, uint32_t src, uint32_t dst,
                                    uint32_t course, bool of_host, uint32_t chiplet, bool reads)
{
    uint32_t plane = t->planes == 1 ? 0 : course;

    if (t->regular)
        return (struct trip){.src = src, .dst = dst, .of_host = of_host};
    uint32_t from = of_host ? dst_cube(t, dst) : src_cube(t, src);

    return (struct trip){.src = src,
                         .dst = dst,
                         .plane = (uint8_t)plane,
                         .way = t->paths > 1 && !of_host ? (uint8_t)course : 0,
                         .chiplet = (uint8_t)chiplet,
                         .of_host = of_host,
                         .back = reads && mesh_is_one_way(t, plane, from, dst_cube(t, dst))};
}

/* The part of a trip inside the SIP of `cube`: from which cube to which. Over rails it is all. */
struct walk_part {
    uint32_t first, last;
};

static inline struct walk_part walk_part_of(const struct kb_topology *t, const struct trip *trip,
                                            uint32_t cube)
{
    uint32_t from = src_cube(t, trip->src), to = dst_cube(t, trip->dst);
    uint32_t chiplet = trip->of_host ? trip->chiplet : 0;

    if (!trip->of_host && (cost_same_sip(t, from, to) || t->rails))
        return (struct walk_part){from, to};
    if (trip->of_host || cost_same_sip(t, cube, to))
        return (struct walk_part){mesh_shore(t, trip->plane, chiplet, to, trip->back), to};
    return (struct walk_part){from, mesh_shore(t, trip->plane, chiplet, from, !trip->back)};
}

/* Is the route in that part an odd one? It begins with the data on a one-way plane. */
static inline bool walk_is_odd(const struct kb_topology *t, const struct trip *trip,
                               struct walk_part part)
{
    return cube_is_odd(t, trip->back ? part.last : part.first);
}

/* Whether the parts of a trip have ways, for its data if they come back. */
static inline bool walk_has_data_way(const struct kb_topology *t, const struct trip *trip)
{
    struct walk_part parts[2] = {walk_part_of(t, trip, src_cube(t, trip->src)),
                                 walk_part_of(t, trip, dst_cube(t, trip->dst))};

    for (int i = 0; i < 2; i++) {
        uint32_t first = parts[i].first, last = parts[i].last;

        if (first == NO_WHERE || last == NO_WHERE ||
            !mesh_has_way(t, trip->plane, trip->back ? last : first, trip->back ? first : last))
            return false;
    }
    return true;
}

/* Whether its request has a way, too. */
static inline bool walk_has_way(const struct kb_topology *t, const struct trip *trip)
{
    struct trip request = cost_request(t, trip);

    return walk_has_data_way(t, trip) &&
           (request.back == trip->back || walk_has_data_way(t, &request));
}

/* The exit by which a request leaves `cube`, where it does not end. */
static inline uint32_t walk_exit(const struct kb_topology *t, const struct trip *trip,
                                 uint32_t cube)
{
    uint32_t to = dst_cube(t, trip->dst);

    if (!t->regular) {
        struct walk_part part = walk_part_of(t, trip, cube);
        bool odd = walk_is_odd(t, trip, part);

        if (cube == part.last)
            return exit_io(t);
        if (trip->way)
            return paths_exit(t, trip, cube, part.first, part.last);
        if (t->between_by != BY_WALK && !mesh_by_rail(t, part.first, part.last) &&
            t->routes_by != ROUTES_UP_DOWN &&
            !(trip->back && t->plane_rows[trip->plane].has_detours))
            return between_cubes(t, trip->plane, trip->back, odd, cube, part.last)->way.exit;
        return trip->back ? mesh_back_exit(t, trip->plane, odd, cube, part.last, part.first)
                          : mesh_step(t, trip->plane, odd, cube, part.first, part.last);
    }
    uint32_t xa = cube_column(t, cube), xb = cube_column(t, to);

    if (!cost_same_sip(t, cube, to))
        return xa ? SIDE_W : EXIT_IO;
    if (xa != xb)
        return xa < xb ? SIDE_E : SIDE_W;
    return cube_row(t, cube) < cube_row(t, to) ? SIDE_S : SIDE_N;
}

/* The first segment. From a host `src` does not matter. */
static inline struct route_at walk_begin(const struct kb_topology *t, const struct trip *trip)
{
    uint32_t cube = trip->of_host ? dst_cube(t, trip->dst) : src_cube(t, trip->src);
    uint32_t segment;

    if (trip->of_host) {
        segment = t->seg_host + trip->plane;
        if (!t->regular)
            cube = walk_part_of(t, trip, cube).first;
    } else if (cube == dst_cube(t, trip->dst)) {
        segment = seg_of_local(t, trip->plane, src_pe(t, trip->src), dst_unit(t, trip->dst));
    } else {
        segment = seg_of_out(t, trip->plane, src_pe(t, trip->src), walk_exit(t, trip, cube));
    }
    return (struct route_at){.cube = cube, .segment = (uint16_t)segment};
}

/* The segment that begins at `side` of `cube`. */
static inline struct route_at walk_enter(const struct kb_topology *t, const struct trip *trip,
                                         uint32_t cube, uint32_t side)
{
    uint32_t unit = dst_unit(t, trip->dst), segment;

    if (cube != dst_cube(t, trip->dst))
        segment = seg_of_pass(t, trip->plane, side, walk_exit(t, trip, cube));
    else if (trip->of_host)
        segment = seg_of_host_in(t, trip->plane, side, unit);
    else
        segment = seg_of_in(t, trip->plane, side, unit);
    return (struct route_at){.cube = cube, .segment = (uint16_t)segment};
}

/*
 * Between SIPs, not regular: `leaving` a SIP (a row for each side of a grid), the SIPs between (the
 * same), and arriving at the target's shore (a row for each plane).
 */
static inline struct route_at walk_to_sip(const struct kb_topology *t, const struct trip *trip,
                                          struct route_at at)
{
    uint32_t to = dst_cube(t, trip->dst), goal = to / t->cubes, sip = at.cube / t->cubes;
    bool grid = t->fabric_shape == FABRIC_GRID;
    bool odd = grid && grid_is_odd(t, src_cube(t, trip->src) / t->cubes);

    if (at.segment < t->seg_cross) {
        at.segment = (uint16_t)(t->seg_cross + (grid ? grid_exit(t, odd, sip, goal) : 0u));
        return (struct route_at){.cube = at.cube, .segment = at.segment};
    }
    sip = grid ? grid_step(t, sip, (uint32_t)(at.segment - t->seg_cross) % N_SIDES) : goal;
    if (sip != goal)
        return (struct route_at){
            .cube = sip * t->cubes,
            .segment = (uint16_t)(t->seg_cross + (uint32_t)N_SIDES + grid_exit(t, odd, sip, goal))};
    return (struct route_at){.cube = walk_part_of(t, trip, to).first,
                             .segment = (uint16_t)(t->seg_arrive + trip->plane)};
}

/* The segment after that of `at`, which ends at an exit. */
static inline struct route_at walk_next(const struct kb_topology *t, const struct trip *trip,
                                        struct route_at at)
{
    uint32_t exit = walk_segment(t, at)->exit, to = dst_cube(t, trip->dst);

    if (exit != exit_io(t))
        return walk_enter(t, trip, walk_neighbour(t, at.cube, exit),
                          walk_far_side(t, at.cube, exit));
    if (!t->regular) {
        if (at.segment >= t->seg_arrive || trip->of_host)
            return walk_enter(t, trip, at.cube, t->io_sides[trip->of_host ? trip->chiplet : 0]);
        return walk_to_sip(t, trip, at);
    }
    if (at.segment == t->seg_cross || at.segment == t->seg_host)
        return walk_enter(t, trip, to - cube_column(t, to), SIDE_W);
    return (struct route_at){.cube = at.cube, .segment = t->seg_cross};
}

/* What the wire behind the last node of `at` is longer than its row says: a wrap link may be. */
static inline int64_t walk_extra_fs(const struct kb_topology *t, struct route_at at)
{
    return mesh_extra_fs(t, at.cube, walk_segment(t, at)->exit);
}

/* An edge, seen from the segment in which a request passes it. */
struct walk_edge {
    uint8_t owner, back;
    uint16_t link;
};

/* The first link station of an IO chiplet: those of the cubes come first. */
static inline size_t walk_io_links(const struct kb_topology *t)
{
    return (size_t)sim_cubes(t) * t->n_cube_links * 2;
}

static inline size_t walk_n_links(const struct kb_topology *t)
{
    return walk_io_links(t) + (size_t)t->sips * t->chiplets * t->n_io_links * 2;
}

/*
 * Nodes of one cube, those that this cube does not have included; of a SIP's IO chiplets; and the
 * number of the first of these.
 */
static inline uint32_t walk_cube_nodes(const struct kb_topology *t)
{
    return t->n_cube_nodes;
}

static inline size_t walk_first_io_node(const struct kb_topology *t)
{
    return (size_t)sim_cubes(t) * walk_cube_nodes(t);
}

static inline uint32_t walk_io_nodes(const struct kb_topology *t)
{
    return t->chiplets * N_IO_NODES;
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

/* The overhead of the node at `side` of `cube`. */
static inline int64_t walk_port_fs(const struct kb_topology *t, uint32_t plane, uint32_t cube,
                                   uint32_t side)
{
    return walk_cube_node(t, cube, t->sram_node + 1 + side * t->planes + plane)->overhead_fs;
}

/* The numbers of all nodes, the switch with them; some may be of cubes that are missing. */
static inline size_t walk_n_nodes(const struct kb_topology *t)
{
    return walk_first_io_node(t) + (size_t)t->sips * walk_io_nodes(t) + 1;
}

/* The IO chiplet, over all SIPs, whose node or link a request names in `cube`. */
static inline uint32_t walk_chiplet(const struct kb_topology *t, const struct trip *trip,
                                    uint32_t cube, bool of_target)
{
    uint32_t sip = (of_target ? dst_cube(t, trip->dst) : cube) / t->cubes;

    return sip * t->chiplets + (trip->of_host ? trip->chiplet : 0);
}

/* The node of `hop`, passed in cube `cube`. */
static inline size_t walk_node(const struct kb_topology *t, const struct hop_row *hop,
                               uint32_t cube, const struct trip *trip)
{
    if (hop->chiplet == AT_CUBE)
        return (size_t)cube * walk_cube_nodes(t) + hop->node;
    if (hop->chiplet == AT_FABRIC)
        return walk_n_nodes(t) - 1;
    return walk_first_io_node(t) +
           (size_t)walk_chiplet(t, trip, cube, hop->chiplet == AT_IO_TO) * N_IO_NODES + hop->node;
}

/* The row of node number `node`. */
static inline const struct node_row *walk_node_row(const struct kb_topology *t, size_t node)
{
    size_t io = walk_first_io_node(t), n_io = (size_t)t->sips * walk_io_nodes(t);

    if (node < io)
        return walk_cube_node(t, (uint32_t)(node / walk_cube_nodes(t)),
                              (uint32_t)(node % walk_cube_nodes(t)));
    return node < io + n_io ? &t->io_nodes[(node - io) % N_IO_NODES] : &t->fabric_nodes[0];
}

/* The component that stands for nodes of this kind in cubes of kind `in`; NULL: they are plain
 * delays.
 */
static inline const struct impl *component_of_kind(const struct kb_topology *t, uint32_t in,
                                                   uint32_t kind)
{
    const struct impl *impl;

    switch (kind) {
    case NODE_NOC:
        impl = kind_impl(t, in, BOX_NOC);
        break;
    case NODE_UCIE:
        impl = kind_impl(t, in, BOX_UCIE);
        break;
    case NODE_XBAR:
        impl = kind_impl(t, in, BOX_XBAR);
        break;
    case NODE_PCIE_EP:
        impl = kind_impl(t, in, BOX_PCIE_EP);
        break;
    case NODE_SWITCH:
        impl = kind_impl(t, in, BOX_FABRIC);
        break;
    default:
        return NULL;
    }
    return impl->delay ? impl : NULL;
}

/* The same of the node of a hop, passed in cube `cube`. */
static inline const struct impl *node_component(const struct kb_topology *t,
                                                const struct hop_row *hop, uint32_t cube)
{
    if (!t->impls || !t->impls->nodes)
        return NULL;
    if (hop->chiplet == AT_CUBE)
        return component_of_kind(t, cube_kind(t, cube), walk_cube_node(t, cube, hop->node)->kind);
    return component_of_kind(t, cube_kind(t, cube),
                             hop->chiplet == AT_FABRIC ? t->fabric_nodes[0].kind
                                                       : t->io_nodes[hop->node].kind);
}

/* The same of node number `node`: walk_node(). */
static inline const struct impl *component_at(const struct kb_topology *t, size_t node)
{
    uint32_t cube = node < walk_first_io_node(t) ? (uint32_t)(node / walk_cube_nodes(t)) : 0;

    if (!t->impls || !t->impls->nodes)
        return NULL;
    return component_of_kind(t, cube_kind(t, cube), walk_node_row(t, node)->kind);
}

/* Of the links between cubes, the first of the cube's row: for each plane to the east and south; of
 * a net one for each port. */
static inline uint32_t walk_first_d2d(const struct kb_topology *t)
{
    return t->n_cube_links - (t->port_rows ? t->ports : 2u * t->planes);
}

/* The place along its shore of the cube whose row or column a link of the shoreline leads to. */
static inline uint32_t walk_shore_place(const struct kb_topology *t, const struct trip *trip,
                                        uint32_t cube)
{
    return t->regular ? cube_row(t, cube)
                      : mesh_shore_place(t, trip->of_host ? trip->chiplet : 0, cube);
}

/* The station of the link of a net, out of `port` of `cube`. */
static inline size_t walk_net_link(const struct kb_topology *t, uint32_t cube, uint32_t port)
{
    const struct port_row *row = net_port(t, cube, port);
    bool back = !(row->flags & PORT_OWNS);
    uint32_t owner = back ? walk_neighbour(t, cube, port) : cube;

    return ((size_t)owner * t->n_cube_links + walk_first_d2d(t) + (back ? row->port : port)) * 2 +
           back;
}

/* The station of an edge, passed in cube `cube`. */
static inline size_t walk_link(const struct kb_topology *t, struct walk_edge edge, uint32_t cube,
                               const struct trip *trip)
{
    uint32_t link = edge.link, at = cube, chiplet;

    if (edge.owner == LINK_NEXT && t->port_rows)
        return walk_net_link(t, cube, link - walk_first_d2d(t));
    if (edge.owner == LINK_NEXT) /* the neighbour's link to the east, or to the south */
        cube = walk_neighbour(t, cube, (link - walk_first_d2d(t)) % 2 ? (uint32_t)SIDE_N : SIDE_W);
    if (edge.owner <= LINK_NEXT)
        return ((size_t)cube * t->n_cube_links + link) * 2 + edge.back;
    if (t->regular && (edge.owner == LINK_IO_TO || edge.owner == LINK_IO_TO_ROW))
        at = dst_cube(t, trip->dst);
    if (edge.owner == LINK_IO_ROW || edge.owner == LINK_IO_TO_ROW)
        link += walk_shore_place(t, trip, at);
    chiplet = walk_chiplet(t, trip, at, edge.owner == LINK_IO_TO);
    if (edge.owner == LINK_IO_WEST || edge.owner == LINK_IO_NORTH)
        chiplet =
            t->chiplets * grid_step(t, at / t->cubes, edge.owner == LINK_IO_WEST ? SIDE_W : SIDE_N);
    return walk_io_links(t) + ((size_t)chiplet * t->n_io_links + link) * 2 + edge.back;
}

/* -- the links of an IO chiplet, by their numbers inside it ----------------------------------- */

static inline bool walk_is_shore(const struct kb_topology *t, uint32_t link)
{
    return link >= IO_LINK_SHORE && link < IO_LINK_SHORE + t->planes * t->n_shore;
}

/* The cube that link `link` of a shoreline leads to, and its node there. Chiplets of all SIPs. */
static inline uint32_t walk_shore_cube(const struct kb_topology *t, uint32_t chiplet, uint32_t link)
{
    return mesh_on_shore(t, chiplet % t->chiplets, chiplet / t->chiplets * t->cubes,
                         (link - IO_LINK_SHORE) % t->n_shore);
}

static inline uint32_t walk_ucie(const struct kb_topology *t, uint32_t plane, uint32_t side)
{
    return t->sram_node + 1 + side * t->planes + plane;
}

/* Where link `row` of `cube`, which leaves it, ends: the cube, and its node there. */
static inline uint32_t walk_link_end(const struct kb_topology *t, uint32_t cube,
                                     const struct link_row *row, uint32_t *node)
{
    *node = t->port_rows ? walk_ucie(t, 0, net_port(t, cube, row->leaves)->port) : row->to;
    return walk_neighbour(t, cube, row->leaves);
}

static inline uint32_t walk_shore_ucie(const struct kb_topology *t, uint32_t chiplet, uint32_t link)
{
    return walk_ucie(t, (link - IO_LINK_SHORE) / t->n_shore, t->io_sides[chiplet % t->chiplets]);
}

/* Is there such a link? A shoreline may be shorter than the longest, and its cube may be missing.
 */
static inline bool walk_has_io_link(const struct kb_topology *t, uint32_t chiplet, uint32_t link)
{
    uint32_t sip = chiplet / t->chiplets;

    if (link < IO_LINK_FABRIC)
        return true;
    if (walk_is_shore(t, link))
        return (link - IO_LINK_SHORE) % t->n_shore < mesh_shore_length(t, chiplet % t->chiplets) &&
               mesh_has_cube(t, walk_shore_cube(t, chiplet, link));
    if (chiplet % t->chiplets != 0 || t->fabric_shape == FABRIC_NET)
        return false;
    if (t->fabric_shape == FABRIC_SWITCH)
        return t->sips > 1;
    return grid_has_edge(t, sip, link == IO_LINK_FABRIC ? SIDE_E : SIDE_S);
}

#endif
