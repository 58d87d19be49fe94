/* net_ports.c -- the ports of the cubes of a net: what is behind each, and what it is for. */
#include "net_routes.h"
#include "machine/mesh.h"
#include "machine/walk.h"
#include <string.h>

static void fill_cube(struct routes *r, uint32_t cube)
{
    const struct kb_topology *t = &r->topo;
    const struct net *net = r->found->net;
    const struct net_cube *of = net_cube(net, cube);
    uint32_t first = net->rails ? 0 : cube - cube % t->cubes; /* of what its numbers count from */
    struct port_row *rows = &r->port_rows[(size_t)cube * t->ports];

    for (uint32_t port = 0; port < t->ports; port++)
        rows[port] = (struct port_row){.cube = NO_WHERE};
    if (!r->found->there[cube]) {
        memset(&r->cube_edges[(size_t)cube * N_EDGE_LETTERS], EDGE_NO_CUBE, N_EDGE_LETTERS);
        return;
    }
    for (uint32_t port = 0; port < of->n; port++)
        rows[port] =
            (struct port_row){.cube = first + of->ports[port].cube,
                              .port = (uint8_t)of->ports[port].port,
                              .flags = (uint8_t)(PORT_IS | PORT_FROM_NOC | PORT_TO_NOC |
                                                 (of->ports[port].leads ? PORT_OUT : 0) |
                                                 (of->ports[port].owns ? PORT_OWNS : 0) |
                                                 (of->ports[port].closes ? PORT_CLOSES : 0) |
                                                 (of->ports[port].uncounted ? PORT_UNCOUNTED : 0)),
                              .ring = (uint16_t)of->ports[port].ring};
    for (uint32_t i = 0; i < net->n_io; i++)
        if (!net_is_switch(net, cube) && net->io_cubes[i] == cube % t->cubes)
            rows[t->ports - 1].flags = PORT_IS | PORT_FROM_NOC | PORT_TO_NOC;
}

void fill_ports(struct routes *r)
{
    struct kb_topology *t = &r->topo;
    const struct net *net = r->found->net;
    size_t letters = (size_t)sim_cubes(t) * N_EDGE_LETTERS;

    r->cube_edges = arena_alloc(r->arena, letters + 1);
    memset(r->cube_edges, EDGE_NONE, letters);
    r->port_rows = arena_alloc(r->arena, (size_t)sim_cubes(t) * t->ports * sizeof *r->port_rows);
    r->io_cubes = arena_alloc(r->arena, net->n_io * sizeof *r->io_cubes);
    for (uint32_t i = 0; i < net->n_io; i++)
        r->io_cubes[i] = (uint16_t)net->io_cubes[i];
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++)
        fill_cube(r, cube);
    r->grid_rows = net->grids.n ? net->grids.rows : NULL;
    r->place_rows = net->grids.n ? net->grids.of : NULL;
    t->cube_edges = r->cube_edges;
    t->port_rows = r->port_rows;
    t->io_cubes = r->io_cubes;
}
