/*
 * nodes.c -- the nodes of one cube, of one IO chiplet and of the fabric; node_links.c has the
 * links.
 *
 * All cubes of a topology are alike, and so are all SIPs. So one cube is described, with numbers
 * that count inside it, one IO chiplet, and the switch; a full name such as sip0.cube5.xbar.pe3 is
 * made where it is printed (runtime/machine/names.c). mesh1024 has as many nodes here as cube1.
 *
 * Here, and only here, ns become whole femtoseconds and mm become delays: fs_of_ns() and wire_fs()
 * round once, and all later sums are exact.
 *
 * What the rest relies on:
 *   - A cube has room for as many nodes as that with most of them. Rows without a name are empty.
 *   - Nodes of one kind stand together, in the order of the PEs: first_xbar_node, first_hbm_node
 *     and first_pe_node are enough to find a node. The nodes of a PE are in the order of kinds.def.
 *   - The four ucie nodes stand in the order of enum side; in a net the ports stand there, as many
 * as the cube has that has most, and behind them the one to the IO chiplet.
 *
 * A node that hangs on the NoC has a point on the die; a bus itself has no place. The wire across
 * it is as long as the way from point to point along X and then Y, and is added when a segment
 * crosses it (segments.c). The PEs meet the NoC in the middle of their share of the cube's width:
 * the first half of them along the top edge, the second half along the bottom. Of an odd number of
 * PEs one more is in the first half, and both halves stand as if they had as many.
 *
 * A cube has as many crossbar nodes as PEs; one without PEs has one for each slice. The slices are
 * dealt to the crossbar nodes in order: slice s is behind node s * crossbars / slices. With 16
 * slices and 8 PEs nodes have 2 each; with 3 slices nodes 0, 2 and 5 have one.
 *
 * Example: cube8 (8 PEs, 15 mm x 11 mm, 0.01 ns per mm), as the route c0.pe1 -> c5.slice3 needs it:
 *
 *     node 34   pe1.pe_dma        0 fs        at x = (1 + 0.5) * 15 mm / 4 = 5.625 mm, y = 0
 *     node  4   ucie-E            1000000 fs  at x = 15 mm, y = 5.5 mm
 *
 * 34 is first_pe_node (25) + 1 * 7 nodes of a PE + 2, the place of pe_dma among them.
 */
#include "nodes.h"
#include "cache_row.h"
#include "check.h"
#include "base/text.h"
#include "machine/walk.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int64_t fs_of_ns(double ns)
{
    return llround(ns * 1e6);
}

int64_t wire_fs(const struct routes *r, double distance_mm)
{
    return llround(distance_mm * r->spec->ns_per_mm * 1e6);
}

/* -- nodes ---------------------------------------------------------------------------------- */

uint32_t node_router(const struct routes *r, uint32_t plane, uint32_t place)
{
    return r->noc.rank[place] * r->topo.planes + plane;
}

uint32_t node_m_cpu(const struct routes *r)
{
    return r->most_routers * r->topo.planes;
}

uint32_t node_sram(const struct routes *r)
{
    return node_m_cpu(r) + 1u;
}

uint32_t node_ucie(const struct routes *r, uint32_t plane, uint32_t side)
{
    return node_m_cpu(r) + 2u + side * r->topo.planes + plane;
}

bool has_side(const struct routes *r, uint32_t side)
{
    if (!r->found->net)
        return true;
    return side + 1 == r->topo.ports ? r->ports.io : side < r->ports.of->n;
}

uint32_t place_of(const struct routes *r, uint32_t node)
{
    return noc_place_at(&r->noc, r->cube_nodes[node].x_mm, r->cube_nodes[node].y_mm);
}

uint32_t node_xbar(const struct routes *r, uint32_t pe)
{
    return r->first_xbar_node + pe;
}

uint32_t node_hbm(const struct routes *r, uint32_t slice)
{
    return r->topo.first_hbm_node + slice;
}

uint32_t node_pe(const struct routes *r, uint32_t pe, enum node_kind kind)
{
    return r->topo.first_pe_node + pe * PE_NODES + (kind - NODE_PE_CPU);
}

uint32_t half_of(const struct routes *r)
{
    return (r->crossbars + 1) / 2;
}

uint32_t crossbar_of_slice(const struct routes *r, uint32_t slice)
{
    return slice * r->crossbars / r->slices;
}

uint32_t home_of_pe(const struct routes *r, uint32_t pe)
{
    uint32_t home = 0;

    for (uint32_t slice = 1; slice < r->slices; slice++)
        if (crossbar_of_slice(r, slice) <= pe &&
            crossbar_of_slice(r, slice) != crossbar_of_slice(r, slice - 1))
            home = slice;
    return home;
}

uint32_t crossbar_at_bridge(const struct routes *r, uint32_t row, uint32_t side)
{
    uint32_t half = half_of(r);

    if (row == 0)
        return side == 0 ? 0 : half - 1;
    return side == 0 ? half : r->crossbars - 1;
}

struct point {
    double x, y;
};

static __attribute__((format(printf, 6, 7))) void add_node(struct node_row *rows, uint32_t *n,
                                                           enum node_kind kind, double overhead_ns,
                                                           struct point at, const char *name, ...)
{
    struct node_row *row = &rows[(*n)++];
    va_list ap;

    *row = (struct node_row){
        .kind = (uint8_t)kind, .overhead_fs = fs_of_ns(overhead_ns), .x_mm = at.x, .y_mm = at.y};
    va_start(ap, name);
    text_vformat(row->name, sizeof row->name, name, ap);
    va_end(ap);
}

/* The point where crossbar node `pe` and its PE meet the NoC. */
static struct point pe_point(const struct routes *r, uint32_t pe)
{
    double w_mm = r->spec->cube_size_mm[0], h_mm = r->spec->cube_size_mm[1];
    uint32_t half = half_of(r);

    return (struct point){((double)(pe % half) + 0.5) * w_mm / half, pe < half ? 0 : h_mm};
}

static void add_pe_nodes(struct routes *r, uint32_t *n, uint32_t pe)
{
    const struct spec *s = r->spec;
    struct point at = pe_point(r, pe), none = {0, 0};
    struct node_row *rows = r->cube_nodes;

    add_node(rows, n, NODE_PE_CPU, s->cube_pe_pe_cpu_overhead_ns, at, "pe%u.pe_cpu", pe);
    add_node(rows, n, NODE_PE_SCHEDULER, s->cube_pe_pe_scheduler_overhead_ns, none,
             "pe%u.pe_scheduler", pe);
    add_node(rows, n, NODE_PE_DMA, s->cube_pe_pe_dma_overhead_ns, at, "pe%u.pe_dma", pe);
    add_node(rows, n, NODE_PE_FETCH_STORE, 0, none, "pe%u.pe_fetch_store", pe);
    add_node(rows, n, NODE_PE_GEMM, s->cube_pe_pe_gemm_overhead_ns, none, "pe%u.pe_gemm", pe);
    add_node(rows, n, NODE_PE_MATH, s->cube_pe_pe_math_overhead_ns, none, "pe%u.pe_math", pe);
    add_node(rows, n, NODE_PE_TCM, 0, none, "pe%u.pe_tcm", pe);
}

/* Rows for the nodes of a cube that has as much as any kind. */
static size_t nodes_of_all(const struct routes *r)
{
    return node_ucie(r, 0, 0) + r->topo.ports * r->topo.planes + r->most_crossbars + 2 +
           r->topo.slices + 1 + r->topo.pes * PE_NODES;
}

/* ".noc0" behind the names of nodes that each plane has; "" without planes. */
static const char *plane_suffix(const struct routes *r, uint32_t plane)
{
    const char *name = r->plane_rows[plane].name;

    return *name ? arena_printf(r->arena, ".%s", name) : "";
}

/* One node, or the routers of a mesh. */
static void add_noc_nodes(struct routes *r)
{
    const struct noc *noc = &r->noc;

    for (uint32_t place = 0; place < noc->places; place++)
        for (uint32_t plane = 0; plane < r->topo.planes && !noc->is_hole[place]; plane++) {
            uint32_t n = node_router(r, plane, place);
            double overhead_ns = r->spec->cube_noc_overhead_ns;
            const char *suffix = plane_suffix(r, plane);

            if (noc->is_mesh)
                add_node(r->cube_nodes, &n, NODE_ROUTER, overhead_ns,
                         (struct point){noc_x_mm(noc, place), noc_y_mm(noc, place)}, "r%uc%u%s",
                         place / noc->cols, place % noc->cols, suffix);
            else
                add_node(r->cube_nodes, &n, NODE_NOC, overhead_ns, (struct point){0, 0}, "noc%s",
                         suffix);
        }
}

/* Where the node of a side, or of a port that stands in the middle, meets the NoC. */
static struct point side_point(const struct routes *r, uint32_t side)
{
    double w_mm = r->spec->cube_size_mm[0], h_mm = r->spec->cube_size_mm[1];
    const struct point points[N_SIDES + 1] = {[SIDE_N] = {w_mm / 2, 0},
                                              [SIDE_E] = {w_mm, h_mm / 2},
                                              [SIDE_S] = {w_mm / 2, h_mm},
                                              [SIDE_W] = {0, h_mm / 2},
                                              [N_SIDES] = {w_mm / 2, h_mm / 2}};

    return points[side];
}

/* The ports of a net; that of the IO chiplet is in the west. */
static void add_port_nodes(struct routes *r, uint32_t n)
{
    double ucie_ns = r->spec->cube_ucie_overhead_ns;

    for (uint32_t i = 0; i < r->ports.of->n; i++) {
        const struct net_port *port = &r->ports.of->ports[i];
        uint32_t at = n + i;

        add_node(r->cube_nodes, &at, NODE_UCIE,
                 port->link->overhead_ns < 0 ? ucie_ns : port->link->overhead_ns,
                 side_point(r, port->side), "port%u", i);
    }
    n += r->topo.ports - 1;
    if (r->ports.io)
        add_node(r->cube_nodes, &n, NODE_UCIE, ucie_ns, side_point(r, SIDE_W), "port.io");
}

static void add_side_nodes(struct routes *r, uint32_t n)
{
    if (r->found->net) {
        add_port_nodes(r, n);
        return;
    }
    for (uint32_t side = 0; side < N_SIDES; side++)
        for (uint32_t plane = 0; plane < r->topo.planes; plane++)
            add_node(r->cube_nodes, &n, NODE_UCIE, r->spec->cube_ucie_overhead_ns,
                     side_point(r, side), "ucie-%c%s", "NESW"[side], plane_suffix(r, plane));
}

/* Where requests of hosts, and of all, end beside slices and PEs. */
static void add_ends(struct routes *r, uint32_t *n)
{
    const struct spec *s = r->spec;

    add_node(r->cube_nodes, n, NODE_M_CPU, s->cube_m_cpu_overhead_ns,
             (struct point){s->cube_m_cpu_pos_mm[0], s->cube_m_cpu_pos_mm[1]}, "m_cpu");
    add_node(r->cube_nodes, n, NODE_SRAM, s->cube_sram_overhead_ns,
             (struct point){s->cube_sram_pos_mm[0], s->cube_sram_pos_mm[1]}, "sram");
}

static void add_cube_nodes(struct routes *r)
{
    const struct spec *s = r->spec;
    struct node_row *rows = arena_alloc(r->arena, nodes_of_all(r) * sizeof *rows);
    uint32_t n = node_m_cpu(r);

    r->cube_nodes = rows;
    add_noc_nodes(r);
    if (is_switch(s))
        n += 2;
    else
        add_ends(r, &n);
    add_side_nodes(r, n);
    n += r->topo.ports * r->topo.planes;
    r->first_xbar_node = n;
    for (uint32_t pe = 0; pe < r->crossbars; pe++)
        add_node(rows, &n, NODE_XBAR, s->cube_xbar_overhead_ns, pe_point(r, pe), "xbar.pe%u", pe);
    r->first_bridge_node = n = r->first_xbar_node + r->most_crossbars;
    for (uint32_t side = 0; r->crossbars >= 2 && side < 2; side++)
        add_node(rows, &n, NODE_BRIDGE, s->cube_bridge_overhead_ns, (struct point){0, 0},
                 "bridge.%s", side == 0 ? "left" : "right");
    r->topo.first_hbm_node = n = r->first_bridge_node + (r->most_crossbars >= 2 ? 2 : 0);
    for (uint32_t slice = 0; slice < r->slices; slice++)
        add_node(rows, &n, NODE_HBM_CTRL, s->cube_hbm_overhead_ns, (struct point){0, 0},
                 "hbm_ctrl.slice%u", slice);
    r->topo.l2_node = n = r->topo.first_hbm_node + r->topo.slices;
    if (has_l2(s))
        add_node(rows, &n, NODE_L2, 0, side_point(r, N_SIDES), "l2");
    r->topo.first_pe_node = n = r->topo.l2_node + topology_has_l2(&r->topo);
    for (uint32_t pe = 0; pe < r->pes; pe++)
        add_pe_nodes(r, &n, pe);
    r->topo.n_cube_nodes = r->topo.first_pe_node + r->topo.pes * PE_NODES;
}

static void add_io_nodes(struct routes *r)
{
    const struct spec *s = r->spec;
    struct point none = {0, 0};
    uint32_t n = 0;

    r->io_nodes = arena_alloc(r->arena, N_IO_NODES * sizeof *r->io_nodes);
    r->fabric_nodes = arena_alloc(r->arena, sizeof *r->fabric_nodes);
    add_node(r->io_nodes, &n, NODE_PCIE_EP, s->sip_io_pcie_ep_overhead_ns, none, "pcie_ep");
    add_node(r->io_nodes, &n, NODE_IO_NOC, 0, none, "io_noc");
    add_node(r->io_nodes, &n, NODE_IO_CPU, s->sip_io_io_cpu_overhead_ns, none, "io_cpu");
    n = 0;
    add_node(r->fabric_nodes, &n, NODE_SWITCH, s->fabric_overhead_ns, none, "switch0");
}

/* -- bandwidths of memories ------------------------------------------------------------------ */

double hbm_gbs(const struct spec *s)
{
    return s->cube_hbm_bw_gbs * s->cube_hbm_efficiency;
}

double hbm_edge_gbs(const struct spec *s)
{
    return s->cube_hbm_cache_size_mb > 0 ? fmax(hbm_gbs(s), s->cube_hbm_cache_bw_gbs) : hbm_gbs(s);
}

double sram_link_gbs(const struct spec *s)
{
    return s->cube_sram_bw_gbs > 0 ? fmin(s->cube_sram_bw_gbs, s->cube_noc_bw_gbs)
                                   : s->cube_noc_bw_gbs;
}

void make_nodes(struct routes *r)
{
    add_cube_nodes(r);
    add_io_nodes(r);
    make_links(r);
}
