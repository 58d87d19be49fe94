/* router_order.c -- the numbers of nodes and ports, which order what routers decide at one instant.
 */
#include "engine/router_order.h"
#include "engine/router.h"
#include "machine/place.h"

/* The nodes of an edge of an IO chiplet: from, to. */
static void io_edge(const struct kb_topology *t, size_t index, size_t node[2])
{
    uint32_t link = (uint32_t)(index % t->n_io_links), chiplet = (uint32_t)(index / t->n_io_links);
    size_t first = walk_first_io_node(t), io = first + (size_t)chiplet * N_IO_NODES;
    uint32_t sip = chiplet / t->chiplets;

    node[0] = io + t->io_links[link].from;
    node[1] = io + t->io_links[link].to;
    if (walk_is_shore(t, link))
        node[1] = (size_t)walk_shore_cube(t, chiplet, link) * walk_cube_nodes(t) +
                  walk_shore_ucie(t, chiplet, link);
    else if (link >= IO_LINK_FABRIC && t->fabric_shape == FABRIC_SWITCH)
        node[1] = walk_n_nodes(t) - 1;
    else if (link >= IO_LINK_FABRIC)
        node[1] = first + (size_t)grid_step(t, sip, link == IO_LINK_FABRIC ? SIDE_E : SIDE_S) *
                              t->chiplets * N_IO_NODES;
}

void router_edge_nodes(const struct kb_topology *t, size_t station, size_t node[2])
{
    size_t link = station / 2, cubes = (size_t)sim_cubes(t) * t->n_cube_links, other;

    if (link >= cubes) {
        io_edge(t, link - cubes, node);
    } else {
        uint32_t cube = (uint32_t)(link / t->n_cube_links), to = cube, end;
        const struct link_row *row = walk_cube_link(t, cube, (uint32_t)(link % t->n_cube_links));

        end = row->to;
        if (row->leaves != EXIT_END)
            to = walk_link_end(t, cube, row, &end);
        node[0] = (size_t)cube * walk_cube_nodes(t) + row->from;
        node[1] = (size_t)to * walk_cube_nodes(t) + end;
    }
    if (station & 1) {
        other = node[0];
        node[0] = node[1];
        node[1] = other;
    }
}

/* Nodes of a cube that ports lead from or to: of a PE its DMA and its TCM. */
static uint32_t packed_nodes(const struct kb_topology *t)
{
    return t->first_pe_node + 2 * t->pes;
}

static uint32_t packed_node(const struct kb_topology *t, uint32_t node)
{
    uint32_t of_pes = node - t->first_pe_node;

    if (node < t->first_pe_node)
        return node;
    return t->first_pe_node + of_pes / PE_NODES * 2 + (of_pes % PE_NODES == PE_NODES - 1);
}

/* The number of a node among all of them: cube by cube, then IO chiplets, last the switch, or the
 * switches of rails. */
static uint64_t number_of(const struct kb_topology *t, size_t node)
{
    size_t io = walk_first_io_node(t), cube = node / walk_cube_nodes(t);
    uint64_t n = packed_nodes(t), first;

    if (node >= io)
        return sip_cubes(t) * n + (node - io);
    first = cube * n + (cube < sip_cubes(t) ? 0 : walk_n_nodes(t) - io);
    return first + packed_node(t, (uint32_t)(node % walk_cube_nodes(t)));
}

/*
 * Of two channels between the same nodes: by the side of the cube that they leave; of SIPs in a
 * ring of two, that of the first SIP before that of the second.
 */
static uint32_t tie_of(const struct kb_topology *t, size_t station, const size_t node[2])
{
    size_t io = walk_first_io_node(t);
    bool inside = node[0] / walk_cube_nodes(t) == node[1] / walk_cube_nodes(t);

    if (node[0] >= io)
        return !(station & 1) == (node[0] > node[1]); /* is it the link of the second? */
    if (node[inside] >= io || walk_node_row(t, node[inside])->kind != NODE_UCIE)
        return 0;
    return ((uint32_t)(node[inside] % walk_cube_nodes(t)) - walk_ucie(t, 0, 0)) / t->planes;
}

/*
 * The number of a port among all of the machine: node by node, at a node by the far end of its
 * channel, then by the lane. A net has more ports at a node, and fewer nodes: gen/routes.c.
 */
enum { LANE_BITS = 6 };

static unsigned node_bits(const struct kb_topology *t)
{
    return t->port_rows ? (unsigned)NET_NODE_BITS : (unsigned)NODE_BITS;
}

/* What is below the number of the first node. */
static unsigned tie_bits(const struct kb_topology *t)
{
    return 64 - 2 * node_bits(t);
}

uint64_t router_order_of(const struct kb_topology *t, const struct channel_row *row, uint32_t lane)
{
    size_t first[2], last[2];
    uint64_t tie;

    router_edge_nodes(t, row->first, first);
    router_edge_nodes(t, row->last, last);
    tie = tie_of(t, row->first, first);
    return (number_of(t, first[0]) << node_bits(t) | number_of(t, last[1])) << tie_bits(t) |
           tie << LANE_BITS | lane;
}

uint64_t router_order_of_channels(const struct kb_topology *t, uint32_t dst)
{
    size_t node =
        (size_t)dst_cube(t, dst) * walk_cube_nodes(t) + t->first_hbm_node + dst_unit(t, dst);

    return ((number_of(t, node) + 1) << (node_bits(t) + tie_bits(t))) - (1u << PLACE_BANKS);
}

/* On which side of mesh router `to` its neighbour `from` lies. */
static enum side side_in_mesh(const struct node_row *from, const struct node_row *to)
{
    if (from->x_mm != to->x_mm)
        return from->x_mm > to->x_mm ? SIDE_E : SIDE_W;
    return from->y_mm > to->y_mm ? SIDE_S : SIDE_N;
}

/* By number: nodes of cubes before, of its own, of cubes behind, of IO chiplets; each by lanes. */
static uint32_t rank_of_other(const struct kb_topology *t, const size_t node[2], uint32_t lane)
{
    enum { OTHERS = 1 << 24 };
    size_t each = walk_cube_nodes(t), io = walk_first_io_node(t);

    if (node[0] >= io)
        return 4u * OTHERS + (uint32_t)(node[0] - io);
    if (node[0] / each != node[1] / each)
        return (node[0] < node[1] ? 1u : 3u) * OTHERS + lane;
    return 2u * OTHERS + ((uint32_t)(node[0] % each) << LANE_BITS | lane);
}

uint32_t router_rank_of_input(const struct kb_topology *t, size_t station, uint32_t lane)
{
    static const uint32_t of_side[N_SIDES] = {4, 1, 3, 2};
    size_t io = walk_first_io_node(t), node[2];
    const struct node_row *from, *to;

    router_edge_nodes(t, station, node);
    if (node[1] >= io)
        return (uint32_t)node[0];
    if (node[0] < io && node[0] / walk_cube_nodes(t) == node[1] / walk_cube_nodes(t)) {
        uint32_t inside = (uint32_t)(node[0] % walk_cube_nodes(t)) - walk_ucie(t, 0, 0);

        from = walk_node_row(t, node[0]);
        to = walk_node_row(t, node[1]);
        if (t->port_rows && from->kind == NODE_UCIE && to->kind != NODE_UCIE)
            return 1 + (inside << LANE_BITS | lane);
        if (!t->port_rows && from->kind == NODE_UCIE && to->kind == NODE_NOC)
            return of_side[inside / t->planes];
        if (!t->port_rows && from->kind == NODE_ROUTER && to->kind == NODE_ROUTER)
            return of_side[side_in_mesh(from, to)];
    }
    return rank_of_other(t, node, lane);
}
