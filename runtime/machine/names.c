/* names.c -- full names of nodes and links: "sip0.cube3.xbar.pe1".
 *
 * The tables name the nodes of one cube and of one IO chiplet ("xbar.pe3", "pcie_ep"); the number
 * of a node tells on which chiplet it is. Numbers are those of walk.h: nodes of all cubes first,
 * then of the IO chiplets, then the switch; links in the same order, two numbers each, the odd one
 * for the direction back. Names are made when they are printed, not before.
 *
 * Examples on cube8, which has 8 cubes of 81 nodes and 114 links:
 *
 *     node 415   5 * 81 + 10        sip0.cube5.xbar.pe3
 *     node 648   8 * 81, the first  sip0.io0.pcie_ep
 *     link 454   2 * (114 + 113)    sip0.cube1.ucie-S -> sip0.cube5.ucie-N
 *     link 455   the same, back     sip0.cube5.ucie-N -> sip0.cube1.ucie-S
 *
 * A switch of fabric.net is a cube behind those of all SIPs: its noc is fabric.switch3, its ports
 * are fabric.switch3.port0 and so on.
 *
 * Link 113 of a cube leaves it to the south, so its far end is in the neighbour's cube. An IO
 * chiplet's links lead to its own nodes, to the switch, or to column 0 of a row of cubes.
 */
#include "machine/names.h"
#include <stdio.h>
#include "machine/walk.h"

void name_cube_node(const struct kb_topology *t, uint32_t cube, uint32_t node,
                    char name[KB_NODE_BYTES])
{
    if (cube >= sip_cubes(t) && node == 0)
        snprintf(name, KB_NODE_BYTES, "fabric.switch%u", cube - sip_cubes(t));
    else if (cube >= sip_cubes(t))
        snprintf(name, KB_NODE_BYTES, "fabric.switch%u.%s", cube - sip_cubes(t),
                 walk_cube_node(t, cube, node)->name);
    else
        snprintf(name, KB_NODE_BYTES, "sip%u.cube%u.%s", cube / t->cubes, cube % t->cubes,
                 walk_cube_node(t, cube, node)->name);
}

void name_io_node(const struct kb_topology *t, uint32_t chiplet, uint32_t node,
                  char name[KB_NODE_BYTES])
{
    snprintf(name, KB_NODE_BYTES, "sip%u.io%u.%s", chiplet / t->chiplets, chiplet % t->chiplets,
             t->io_nodes[node].name);
}

void name_switch(const struct kb_topology *t, char name[KB_NODE_BYTES])
{
    snprintf(name, KB_NODE_BYTES, "fabric.%s", t->fabric_nodes[0].name);
}

void name_node(const struct kb_topology *t, size_t node, char name[KB_NODE_BYTES])
{
    size_t io = walk_first_io_node(t), n_io = (size_t)t->sips * walk_io_nodes(t);

    if (node < io)
        name_cube_node(t, (uint32_t)(node / walk_cube_nodes(t)),
                       (uint32_t)(node % walk_cube_nodes(t)), name);
    else if (node < io + n_io)
        name_io_node(t, (uint32_t)((node - io) / N_IO_NODES), (uint32_t)((node - io) % N_IO_NODES),
                     name);
    else
        name_switch(t, name);
}

void name_hop(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
              const struct trip *trip, char name[KB_NODE_BYTES])
{
    name_node(t, walk_node(t, hop, cube, trip), name);
}

static void name_cube_link(const struct kb_topology *t, size_t link, char from[KB_NODE_BYTES],
                           char to[KB_NODE_BYTES])
{
    uint32_t cube = (uint32_t)(link / t->n_cube_links);
    const struct link_row *row = walk_cube_link(t, cube, (uint32_t)(link % t->n_cube_links));
    uint32_t node = row->to;

    name_cube_node(t, cube, row->from, from);
    if (row->leaves != EXIT_END)
        cube = walk_link_end(t, cube, row, &node);
    name_cube_node(t, cube, node, to);
}

static void name_io_link(const struct kb_topology *t, size_t link, char from[KB_NODE_BYTES],
                         char to[KB_NODE_BYTES])
{
    uint32_t chiplet = (uint32_t)(link / t->n_io_links), of_it = (uint32_t)(link % t->n_io_links);
    const struct link_row *row = &t->io_links[of_it];
    uint32_t sip = chiplet / t->chiplets;

    name_io_node(t, chiplet, row->from, from);
    if (walk_is_shore(t, of_it))
        name_cube_node(t, walk_shore_cube(t, chiplet, of_it), walk_shore_ucie(t, chiplet, of_it),
                       to);
    else if (of_it < IO_LINK_FABRIC)
        name_io_node(t, chiplet, row->to, to);
    else if (t->fabric_shape == FABRIC_SWITCH)
        name_switch(t, to);
    else
        name_io_node(t, t->chiplets * grid_step(t, sip, of_it == IO_LINK_FABRIC ? SIDE_E : SIDE_S),
                     row->to, to);
}

bool name_has_twin(const struct kb_topology *t, size_t link)
{
    size_t number = link / 2, n_cube_links = walk_io_links(t) / 2;
    uint32_t of_it, sip;

    if (t->fabric_shape == FABRIC_SWITCH || number < n_cube_links)
        return false;
    of_it = (uint32_t)((number - n_cube_links) % t->n_io_links);
    sip = (uint32_t)((number - n_cube_links) / t->n_io_links) / t->chiplets;
    if (of_it < IO_LINK_FABRIC || walk_is_shore(t, of_it))
        return false;
    return of_it == IO_LINK_FABRIC ? t->grid_w == 2 && sip % 2 : t->grid_h == 2 && sip / t->grid_w;
}

void name_link(const struct kb_topology *t, size_t link, char from[KB_NODE_BYTES],
               char to[KB_NODE_BYTES])
{
    bool back = link & 1;
    size_t number = link / 2, n_cube_links = walk_io_links(t) / 2;

    if (number < n_cube_links)
        name_cube_link(t, number, back ? to : from, back ? from : to);
    else
        name_io_link(t, number - n_cube_links, back ? to : from, back ? from : to);
}
