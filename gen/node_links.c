/*
 * node_links.c -- the links of one cube, of one IO chiplet and of the fabric, between their nodes.
 *
 * What the rest relies on:
 *   - The last two links of a cube leave it, the one to the east and then the one to the south. The
 *     links to the west and the north are those of the neighbours, used backwards.
 *   - The links of an IO chiplet are in the order of enum io_link; the shoreline, one link for each
 *     row of cubes, is last.
 *   - Between two nodes of a cube there is at most one link.
 *
 * Example: cube8 (8 PEs, 15 mm x 11 mm, 0.01 ns per mm), as the route c0.pe1 -> c5.slice3 needs it:
 *
 *     link 41   pe1.pe_dma - noc  0.5 mm, 5000 fs, 128 GB/s
 *     link 112  ucie-E - ucie-W of the cube to the east, 1 mm, 10000 fs, 128 GB/s
 */
#include "nodes.h"
#include "cache_row.h"
#include "check.h"
#include <assert.h>
#include <math.h>

static uint32_t add_link(const struct routes *r, struct link_row *rows, uint32_t *n, uint32_t from,
                         uint32_t to, bool both_ways, double distance_mm, double gbs)
{
    rows[*n] = (struct link_row){.from = (uint16_t)from,
                                 .to = (uint16_t)to,
                                 .leaves = EXIT_END,
                                 .both_ways = both_ways,
                                 .lanes = {1, 1},
                                 .wire_fs = wire_fs(r, distance_mm),
                                 .length_mm = distance_mm,
                                 .gbs = gbs};
    return (*n)++;
}

/* A link with as many servers from -> to, and on the way back; with as many both ways. */
static void set_lanes(struct link_row *row, int64_t ahead, int64_t back)
{
    row->lanes[0] = (uint8_t)ahead;
    row->lanes[1] = (uint8_t)back;
}

static void set_both(struct link_row *row, int64_t lanes)
{
    set_lanes(row, lanes, lanes);
}

/* The crossbar: in from the PEs, or from these to the L2, along each half, over the bridges, out to
 * the slices. */
static void add_xbar_links(struct routes *r, uint32_t *n)
{
    const struct spec *s = r->spec;
    struct link_row *rows = r->cube_links;
    uint32_t half = half_of(r);

    for (uint32_t pe = 0; pe < r->pes; pe++)
        set_both(
            &rows[has_l2(s) ? add_link(r, rows, n, node_pe(r, pe, NODE_PE_DMA), r->topo.l2_node,
                                       false, s->cube_noc_attach_mm, l2_pe_gbs(s))
                            : add_link(r, rows, n, node_pe(r, pe, NODE_PE_DMA), node_xbar(r, pe),
                                       false, s->cube_xbar_pe_mm, s->cube_xbar_pe_gbs)],
            s->cube_pe_pe_dma_ports);
    for (uint32_t slice = 0; slice < r->slices; slice++)
        set_both(
            &rows[add_link(r, rows, n, node_xbar(r, crossbar_of_slice(r, slice)),
                           node_hbm(r, slice), false, s->cube_hbm_distance_mm, hbm_edge_gbs(s))],
            s->cube_hbm_ports);
    for (uint32_t pe = 0; pe + 1 < r->crossbars; pe++)
        if (pe + 1 != half)
            add_link(r, rows, n, node_xbar(r, pe), node_xbar(r, pe + 1), true,
                     s->cube_xbar_chain_mm, s->cube_xbar_chain_gbs);
    for (uint32_t side = 0; r->crossbars >= 2 && side < 2; side++)
        for (uint32_t row = 0; row < 2; row++)
            add_link(r, rows, n, node_xbar(r, crossbar_at_bridge(r, row, side)),
                     r->first_bridge_node + side, true, s->cube_bridge_distance_mm,
                     s->cube_bridge_bw_gbs);
}

/* What a plane says of the bandwidth of its links, or else `gbs`. */
static double plane_gbs(const struct routes *r, uint32_t plane, double gbs)
{
    const struct plane_specs *planes = &r->spec->sip_planes;

    return plane < planes->n && planes->rows[plane].bw_gbs > 0 ? planes->rows[plane].bw_gbs : gbs;
}

/* A link between the NoC of a plane and a node that hangs on it; `into`: only into the NoC, or both
 * ways; else out of it. */
static struct link_row *attach(const struct routes *r, uint32_t *n, uint32_t plane, uint32_t node,
                               bool into, bool both_ways, double gbs)
{
    const struct node_row *row = &r->cube_nodes[node];
    uint32_t place = place_of(r, node), noc = node_router(r, plane, place);
    double mm = r->spec->cube_noc_attach_mm;

    if (r->noc.is_mesh)
        mm += noc_distance_mm(&r->noc, place, row->x_mm, row->y_mm);
    return &r->cube_links[add_link(r, r->cube_links, n, into ? node : noc, into ? noc : node,
                                   both_ways, mm, gbs)];
}

static bool has_slice(const struct routes *r, uint32_t crossbar)
{
    for (uint32_t slice = 0; slice < r->slices; slice++)
        if (crossbar_of_slice(r, slice) == crossbar)
            return true;
    return false;
}

/* The same of a port, which of a net has as many servers as its link has lanes. */
static void attach_side(const struct routes *r, uint32_t *n, uint32_t plane, uint32_t side)
{
    struct link_row *row = attach(r, n, plane, node_ucie(r, plane, side), false, true,
                                  plane_gbs(r, plane, r->spec->cube_noc_bw_gbs));

    if (r->found->net && side < r->ports.of->n)
        set_both(row, r->ports.of->ports[side].link->lanes);
}

/* Between neighbours of a mesh: of each router to the east and to the south. */
static void add_mesh_links(const struct routes *r, uint32_t *n, uint32_t plane)
{
    static const enum side owned[] = {SIDE_E, SIDE_S};
    const struct noc *noc = &r->noc;

    for (uint32_t place = 0; place < noc->places; place++)
        for (size_t i = 0; i < 2 && !noc->is_hole[place]; i++) {
            uint32_t next = noc_neighbour(noc, place, owned[i]);

            if (next != NOC_NOWHERE)
                add_link(r, r->cube_links, n, node_router(r, plane, place),
                         node_router(r, plane, next), true,
                         noc_distance_mm(noc, place, noc_x_mm(noc, next), noc_y_mm(noc, next)),
                         r->spec->cube_noc_mesh_bw_gbs);
        }
}

/* The NoC of a plane: a link to each node that hangs on it, and those of a mesh. */
static void add_noc_links(struct routes *r, uint32_t *n, uint32_t plane)
{
    const struct spec *s = r->spec;
    double gbs = s->cube_noc_bw_gbs;

    if (!is_switch(s)) {
        attach(r, n, plane, node_m_cpu(r), false, true, gbs);
        attach(r, n, plane, node_sram(r), false, true, sram_link_gbs(s));
    }
    for (uint32_t side = 0; side < r->topo.ports; side++)
        if (has_side(r, side))
            attach_side(r, n, plane, side);
    for (uint32_t pe = 0; pe < r->crossbars; pe++)
        set_both(attach(r, n, plane, node_xbar(r, pe), false, false, gbs),
                 has_slice(r, pe) ? r->spec->cube_hbm_ports : 1);
    for (uint32_t pe = 0; pe < r->pes; pe++)
        set_both(attach(r, n, plane, node_pe(r, pe, NODE_PE_DMA), true, true, gbs),
                 r->spec->cube_pe_pe_dma_ports);
    for (uint32_t pe = 0; pe < r->pes; pe++)
        attach(r, n, plane, node_pe(r, pe, NODE_PE_CPU), false, true, gbs);
    if (has_l2(s))
        attach(r, n, plane, r->topo.l2_node, true, false, gbs);
    add_mesh_links(r, n, plane);
}

/* The zero-length edges inside the PEs; that into the TCM has a server for each of its ports. */
static void add_pe_links(struct routes *r, uint32_t *n)
{
    static const struct {
        enum node_kind from, to;
    } edges[] = {
        {NODE_PE_CPU, NODE_PE_SCHEDULER},  {NODE_PE_SCHEDULER, NODE_PE_DMA},
        {NODE_PE_SCHEDULER, NODE_PE_GEMM}, {NODE_PE_SCHEDULER, NODE_PE_MATH},
        {NODE_PE_DMA, NODE_PE_TCM},        {NODE_PE_GEMM, NODE_PE_TCM},
        {NODE_PE_MATH, NODE_PE_TCM},
    };

    const struct spec *s = r->spec;

    for (uint32_t pe = 0; pe < r->pes; pe++)
        for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
            bool of_dma = edges[i].from == NODE_PE_DMA;
            uint32_t l = add_link(r, r->cube_links, n, node_pe(r, pe, edges[i].from),
                                  node_pe(r, pe, edges[i].to), false, 0,
                                  of_dma ? s->cube_pe_pe_tcm_write_gbs : INFINITY);

            if (of_dma)
                set_lanes(&r->cube_links[l], s->cube_pe_pe_tcm_write_ports,
                          s->cube_pe_pe_tcm_read_ports);
        }
}

enum side opposite(enum side side)
{
    return (enum side)((side + 2) % N_SIDES);
}

/* Between cubes; each cube owns the links to its east and its south. */
static void add_d2d_links(struct routes *r, uint32_t *n, uint32_t plane)
{
    static const enum side owned[] = {SIDE_E, SIDE_S};

    for (size_t i = 0; i < 2; i++) {
        uint32_t l =
            add_link(r, r->cube_links, n, node_ucie(r, plane, owned[i]),
                     node_ucie(r, plane, opposite(owned[i])), true, r->spec->sip_d2d_distance_mm,
                     plane_gbs(r, plane, r->spec->sip_d2d_bw_gbs));

        r->cube_links[l].leaves = (uint8_t)owned[i];
    }
}

/* The links of a net: a row for each port, whichever of its two cubes has the number of the link.
 */
static void add_net_links(struct routes *r, uint32_t *n)
{
    for (uint32_t port = 0; port < r->topo.ports; port++) {
        struct link_row *row = &r->cube_links[*n];

        if (port >= r->ports.of->n) {
            *row = (struct link_row){.gbs = INFINITY};
            ++*n;
        } else {
            const struct link_spec *link = r->ports.of->ports[port].link;

            add_link(r, r->cube_links, n, node_ucie(r, 0, port), node_ucie(r, 0, port), true,
                     link->distance_mm, link->bw_gbs);
            row->wire_fs += fs_of_ns(link->latency_ns);
            set_both(row, link->lanes);
        }
        row->leaves = (uint8_t)port;
    }
}

/*
 * The IO chiplet: inside, to the fabric, and the shoreline, a link for each row of cubes. Its links
 * to cubes name the node on the west side; that of another side is walk_shore_ucie().
 */
static void add_io_links(struct routes *r)
{
    const struct spec *s = r->spec;
    bool grid = r->topo.fabric_shape == FABRIC_GRID;
    size_t most = 4 + (size_t)r->topo.planes * r->topo.n_shore;
    struct link_row *rows = arena_alloc(r->arena, most * sizeof *rows);
    uint32_t n = 0;

    r->io_links = rows;
    add_link(r, rows, &n, IO_PCIE_EP, IO_NOC, true, s->sip_io_link_distance_mm,
             s->sip_io_link_bw_gbs);
    add_link(r, rows, &n, IO_CPU, IO_NOC, true, s->sip_io_link_distance_mm, s->sip_io_link_bw_gbs);
    add_link(r, rows, &n, IO_PCIE_EP, 0, true, s->fabric_distance_mm, s->fabric_bw_gbs);
    for (uint32_t plane = 0; plane < r->topo.planes; plane++)
        for (uint32_t place = 0; place < r->topo.n_shore; place++)
            add_link(r, rows, &n, IO_NOC, node_ucie(r, plane, r->io_sides[0]), true,
                     s->sip_io_shore_distance_mm, s->sip_io_shore_bw_gbs);
    if (grid)
        add_link(r, rows, &n, IO_PCIE_EP, IO_PCIE_EP, true, s->fabric_distance_mm,
                 s->fabric_bw_gbs);
    r->topo.n_io_links = n;
}

void make_links(struct routes *r)
{
    size_t most = 4 + 7 * (size_t)r->pes + (size_t)r->pes + (size_t)r->slices +
                  (size_t)r->crossbars +
                  (4 + 2 * (size_t)r->topo.ports + 2 * (size_t)r->pes + (size_t)r->crossbars +
                   2 * (size_t)r->noc.n_routers) *
                      r->topo.planes;
    uint32_t n = 0;

    r->cube_links = arena_alloc(r->arena, most * sizeof *r->cube_links);
    add_xbar_links(r, &n);
    for (uint32_t plane = 0; plane < r->topo.planes; plane++)
        add_noc_links(r, &n, plane);
    add_pe_links(r, &n);
    for (uint32_t plane = 0; plane < r->topo.planes && !r->found->net; plane++)
        add_d2d_links(r, &n, plane);
    if (r->found->net)
        add_net_links(r, &n);
    assert(n <= most);
    r->topo.n_cube_links = n;
    add_io_links(r);
}
