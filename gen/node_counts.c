/* node_counts.c -- how many nodes and edges there are: of a cube, and of the whole topology. */
#include "nodes.h"
#include "machine/walk.h"

/* Whether a row of the nodes of a cube is one, if the cube has these PEs. */
static bool node_is_there(const struct routes *r, const struct node_row *nodes, uint32_t node,
                          const struct pe_set *pes)
{
    if (!nodes[node].name[0])
        return false;
    return node < r->topo.first_pe_node ||
           pe_set_has(pes, (node - r->topo.first_pe_node) / PE_NODES);
}

uint32_t count_cube_nodes_of(const struct routes *r, uint32_t kind, const struct pe_set *pes)
{
    const struct node_row *nodes = &r->cube_nodes[kind * r->topo.n_cube_nodes];
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->topo.n_cube_nodes; i++)
        n += node_is_there(r, nodes, i, pes);
    return n;
}

/* Edges of a cube of a kind that do not leave it, without the ports to its ucie. */
static uint32_t count_inside(const struct routes *r, uint32_t kind, const struct pe_set *pes)
{
    const struct node_row *nodes = &r->cube_nodes[kind * r->topo.n_cube_nodes];
    const struct link_row *links = &r->cube_links[kind * r->topo.n_cube_links];
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->topo.n_cube_links; i++)
        if (links[i].leaves == EXIT_END && links[i].from != links[i].to &&
            nodes[links[i].to].kind != NODE_UCIE && node_is_there(r, nodes, links[i].from, pes) &&
            node_is_there(r, nodes, links[i].to, pes))
            n += 1u + links[i].both_ways;
    return n;
}

/* Those that leave a cube, and its ports, which may be broken. */
static uint32_t count_outside(const struct kb_topology *t, uint32_t cube)
{
    uint32_t n = 0;

    for (uint32_t plane = 0; plane < t->planes; plane++)
        for (uint32_t side = 0; side < t->ports; side++)
            n += (uint32_t)mesh_has_link(t, plane, cube, side) +
                 mesh_has_port(t, plane, cube, side, true) +
                 mesh_has_port(t, plane, cube, side, false);
    return n;
}

void count_parts(struct routes *r, const struct cubes *cubes)
{
    struct kb_topology *t = &r->topo;
    uint64_t nodes = 0, edges = 0;
    uint32_t inside = 0;

    for (uint32_t i = 0; i < cubes->n; i++) {
        uint32_t kind = cubes->kind[i];

        if (!cubes->there[i])
            continue;
        nodes += cubes->alike ? t->n_cube_nodes : count_cube_nodes_of(r, kind, &cubes->pes[i]);
        if (i == 0 || !cubes->alike)
            inside = count_inside(r, kind, &cubes->pes[i]);
        edges += inside + count_outside(t, i);
    }
    for (uint32_t chiplet = 0; chiplet < t->sips * t->chiplets; chiplet++) {
        nodes += N_IO_NODES;
        for (uint32_t link = 0; link < t->n_io_links; link++)
            edges += 2u * walk_has_io_link(t, chiplet, link);
    }
    nodes += t->sips > 1 && t->fabric_shape == FABRIC_SWITCH;
    t->n_nodes = (uint32_t)nodes;
    t->n_edges = (uint32_t)edges;
}
