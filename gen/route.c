/* route.c -- builds nodes, links, segments and their sums from the values of a topology. */
#include "route.h"
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diag.h"
#include "resolve.h"

/*
 * No part of a route may last longer: at most five parts, a response and a drain of 2^62 fs
 * still fit in 63 bits, so the engines add without looking.
 */
#define PART_MAX_FS (INT64_C(1) << 58)

static int64_t fs_of_ns(double ns)
{
    return llround(ns * 1e6);
}

static int64_t wire_fs(const struct routes *r, double distance_mm)
{
    return llround(distance_mm * r->spec->ns_per_mm * 1e6);
}

/* -- nodes ---------------------------------------------------------------------------------- */

static uint32_t node_xbar(const struct routes *r, uint32_t pe)
{
    return r->first_xbar_node + pe;
}

static uint32_t node_hbm(const struct routes *r, uint32_t slice)
{
    return r->topo.first_hbm_node + slice;
}

/* Node `kind` of PE `pe`; a PE's nodes stand in the order of enum node_kind. */
static uint32_t node_pe(const struct routes *r, uint32_t pe, enum node_kind kind)
{
    return r->topo.first_pe_node + pe * PE_NODES + (kind - NODE_PE_CPU);
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
    vsnprintf(row->name, sizeof row->name, name, ap);
    va_end(ap);
}

/* Where PE `pe` meets the NoC: first half along the top, second half along the bottom. */
static struct point pe_point(const struct routes *r, uint32_t pe)
{
    double w_mm = r->spec->cube_size_mm[0], h_mm = r->spec->cube_size_mm[1];
    uint32_t half = r->topo.pes == 1 ? 1 : r->topo.pes / 2;

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

static void add_cube_nodes(struct routes *r)
{
    const struct spec *s = r->spec;
    double w_mm = s->cube_size_mm[0], h_mm = s->cube_size_mm[1];
    const struct point ucie[N_SIDES] = {
        {w_mm / 2, 0}, {w_mm, h_mm / 2}, {w_mm / 2, h_mm}, {0, h_mm / 2}};
    struct node_row *rows = arena_alloc(r->arena, (9 + 9 * (size_t)r->topo.pes) * sizeof *rows);
    uint32_t n = 0;

    r->cube_nodes = rows;
    add_node(rows, &n, NODE_NOC, s->cube_noc_overhead_ns, (struct point){0, 0}, "noc");
    add_node(rows, &n, NODE_M_CPU, s->cube_m_cpu_overhead_ns,
             (struct point){s->cube_m_cpu_pos_mm[0], s->cube_m_cpu_pos_mm[1]}, "m_cpu");
    add_node(rows, &n, NODE_SRAM, s->cube_sram_overhead_ns,
             (struct point){s->cube_sram_pos_mm[0], s->cube_sram_pos_mm[1]}, "sram");
    for (uint32_t side = 0; side < N_SIDES; side++)
        add_node(rows, &n, NODE_UCIE, s->cube_ucie_overhead_ns, ucie[side], "ucie-%c",
                 "NESW"[side]);
    r->first_xbar_node = n;
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_node(rows, &n, NODE_XBAR, s->cube_xbar_overhead_ns, pe_point(r, pe), "xbar.pe%u", pe);
    r->first_bridge_node = n;
    for (uint32_t side = 0; r->topo.pes >= 2 && side < 2; side++)
        add_node(rows, &n, NODE_BRIDGE, s->cube_bridge_overhead_ns, (struct point){0, 0},
                 "bridge.%s", side == 0 ? "left" : "right");
    r->topo.first_hbm_node = n;
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_node(rows, &n, NODE_HBM_CTRL, s->cube_hbm_overhead_ns, (struct point){0, 0},
                 "hbm_ctrl.slice%u", pe);
    r->topo.first_pe_node = n;
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_pe_nodes(r, &n, pe);
    r->n_cube_nodes = n;
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

/* -- links ---------------------------------------------------------------------------------- */

static uint32_t add_link(const struct routes *r, struct link_row *rows, uint32_t *n, uint32_t from,
                         uint32_t to, bool both_ways, double distance_mm, double gbs)
{
    rows[*n] = (struct link_row){.from = (uint16_t)from,
                                 .to = (uint16_t)to,
                                 .leaves = N_EXITS,
                                 .both_ways = both_ways,
                                 .wire_fs = wire_fs(r, distance_mm),
                                 .length_mm = distance_mm,
                                 .gbs = gbs};
    return (*n)++;
}

/* The crossbar: in from the PEs, along each half, over the bridges, out to the slices. */
static void add_xbar_links(struct routes *r, uint32_t *n)
{
    const struct spec *s = r->spec;
    struct link_row *rows = r->cube_links;
    uint32_t half = r->topo.pes == 1 ? 1 : r->topo.pes / 2;

    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_link(r, rows, n, node_pe(r, pe, NODE_PE_DMA), node_xbar(r, pe), false,
                 s->cube_xbar_pe_mm, s->cube_xbar_pe_gbs);
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_link(r, rows, n, node_xbar(r, pe), node_hbm(r, pe), false, s->cube_hbm_distance_mm,
                 s->cube_hbm_bw_gbs * s->cube_hbm_efficiency);
    for (uint32_t pe = 0; pe + 1 < r->topo.pes; pe++)
        if (pe + 1 != half)
            add_link(r, rows, n, node_xbar(r, pe), node_xbar(r, pe + 1), true,
                     s->cube_xbar_chain_mm, s->cube_xbar_chain_gbs);
    for (uint32_t side = 0; r->topo.pes >= 2 && side < 2; side++) {
        uint32_t first = side == 0 ? 0 : half - 1;

        for (uint32_t pe = first; pe < r->topo.pes; pe += half)
            add_link(r, rows, n, node_xbar(r, pe), r->first_bridge_node + side, true,
                     s->cube_bridge_distance_mm, s->cube_bridge_bw_gbs);
    }
}

/* The NoC: every node that hangs on it by an edge of its own. */
static void add_noc_links(struct routes *r, uint32_t *n)
{
    const struct spec *s = r->spec;
    struct link_row *rows = r->cube_links;
    double mm = s->cube_noc_attach_mm, gbs = s->cube_noc_bw_gbs;

    add_link(r, rows, n, CUBE_NOC, CUBE_M_CPU, true, mm, gbs);
    add_link(r, rows, n, CUBE_NOC, CUBE_SRAM, true, mm, gbs);
    for (uint32_t side = 0; side < N_SIDES; side++)
        add_link(r, rows, n, CUBE_NOC, CUBE_UCIE + side, true, mm, gbs);
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_link(r, rows, n, CUBE_NOC, node_xbar(r, pe), false, mm, gbs);
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_link(r, rows, n, node_pe(r, pe, NODE_PE_DMA), CUBE_NOC, true, mm, gbs);
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        add_link(r, rows, n, CUBE_NOC, node_pe(r, pe, NODE_PE_CPU), true, mm, gbs);
}

/* The zero-length edges inside the PEs. */
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

    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
            add_link(r, r->cube_links, n, node_pe(r, pe, edges[i].from),
                     node_pe(r, pe, edges[i].to), false, 0,
                     edges[i].from == NODE_PE_DMA ? r->spec->cube_pe_pe_tcm_write_gbs : INFINITY);
}

static enum side opposite(enum side side)
{
    return (enum side)((side + 2) % N_SIDES);
}

/* Between cubes; each cube owns the links to its east and its south. */
static void add_d2d_links(struct routes *r, uint32_t *n)
{
    static const enum side owned[] = {SIDE_E, SIDE_S};

    for (size_t i = 0; i < 2; i++) {
        uint32_t l =
            add_link(r, r->cube_links, n, CUBE_UCIE + owned[i], CUBE_UCIE + opposite(owned[i]),
                     true, r->spec->sip_d2d_distance_mm, r->spec->sip_d2d_bw_gbs);

        r->cube_links[l].leaves = (uint8_t)owned[i];
    }
}

/* The IO chiplet: inside, to the fabric, and the shoreline, a link for each row of cubes. */
static void add_io_links(struct routes *r)
{
    const struct spec *s = r->spec;
    struct link_row *rows = arena_alloc(r->arena, (3 + (size_t)r->topo.h) * sizeof *rows);
    uint32_t n = 0;

    r->io_links = rows;
    add_link(r, rows, &n, IO_PCIE_EP, IO_NOC, true, s->sip_io_link_distance_mm,
             s->sip_io_link_bw_gbs);
    add_link(r, rows, &n, IO_CPU, IO_NOC, true, s->sip_io_link_distance_mm, s->sip_io_link_bw_gbs);
    add_link(r, rows, &n, IO_PCIE_EP, 0, true, s->fabric_distance_mm, s->fabric_bw_gbs);
    for (uint32_t row = 0; row < r->topo.h; row++)
        add_link(r, rows, &n, IO_NOC, CUBE_UCIE + SIDE_W, true, s->sip_io_shore_distance_mm,
                 s->sip_io_shore_bw_gbs);
    r->topo.n_io_links = n;
}

static void add_links(struct routes *r)
{
    size_t most = 8 + 14 * (size_t)r->topo.pes + 4 + 2;
    uint32_t n = 0;

    r->cube_links = arena_alloc(r->arena, most * sizeof *r->cube_links);
    add_xbar_links(r, &n);
    add_noc_links(r, &n);
    add_pe_links(r, &n);
    add_d2d_links(r, &n);
    assert(n <= most);
    r->topo.n_cube_links = n;
    add_io_links(r);
}

/* Edges of the whole tray: both directions of a link count. */
static void count(struct routes *r)
{
    uint64_t sips = (uint64_t)r->spec->sips, cubes = (uint64_t)r->topo.w * r->topo.h, in_cube = 0;
    uint64_t d2d =
        2 * ((uint64_t)(r->topo.w - 1) * r->topo.h + (uint64_t)r->topo.w * (r->topo.h - 1));
    uint64_t fabric = sips > 1;

    for (uint32_t i = 0; i < r->topo.n_cube_links; i++)
        if (r->cube_links[i].leaves == N_EXITS)
            in_cube += 1 + r->cube_links[i].both_ways;
    r->topo.n_nodes = (uint32_t)(sips * (cubes * r->n_cube_nodes + N_IO_NODES) + fabric);
    r->topo.n_edges =
        (uint32_t)(sips * (cubes * in_cube + d2d + 4 + 2 * (uint64_t)r->topo.h + 2 * fabric));
}

/* -- segments ------------------------------------------------------------------------------- */

static void *grown(struct arena *arena, void *rows, uint32_t n, uint32_t *cap, size_t row_bytes)
{
    if (n < *cap)
        return rows;

    uint32_t more = *cap ? *cap * 2 : 256;
    void *moved = arena_alloc(arena, more * row_bytes);

    if (n)
        memcpy(moved, rows, n * row_bytes);
    *cap = more;
    return moved;
}

static void begin_segment(struct routes *r)
{
    r->segments =
        grown(r->arena, r->segments, r->n_segments, &r->segments_cap, sizeof *r->segments);
    r->segments[r->n_segments++] =
        (struct segment_row){.first_hop = r->n_hops, .first_leg = r->n_legs, .exit = N_EXITS};
}

static const struct node_row *node_at(const struct routes *r, const struct hop_row *hop)
{
    if (hop->chiplet == AT_CUBE)
        return &r->cube_nodes[hop->node];
    return hop->chiplet == AT_FABRIC ? &r->fabric_nodes[0] : &r->io_nodes[hop->node];
}

/* Adds a node to the segment begun last; its edge is not known yet. */
static void add_hop(struct routes *r, enum chiplet chiplet, uint32_t node)
{
    struct hop_row *hop;

    r->hops = grown(r->arena, r->hops, r->n_hops, &r->hops_cap, sizeof *r->hops);
    hop = &r->hops[r->n_hops++];
    *hop = (struct hop_row){.chiplet = (uint8_t)chiplet, .node = (uint16_t)node, .gbs = INFINITY};
    hop->overhead_fs = node_at(r, hop)->overhead_fs;
    r->segments[r->n_segments - 1].n_hops++;
}

/* Leaves the node added last over link `link` of `owner`. */
static void leave_by(struct routes *r, enum link_owner owner, const struct link_row *rows,
                     uint32_t link, bool back)
{
    struct hop_row *hop = &r->hops[r->n_hops - 1];

    hop->owner = (uint8_t)owner;
    hop->link = (uint16_t)link;
    hop->back = back;
    hop->wire_fs = rows[link].wire_fs;
    hop->gbs = rows[link].gbs;
}

/* From the node added last to `node` of the same cube: there is just one link between them. */
static void go_to(struct routes *r, uint32_t node)
{
    uint32_t from = r->hops[r->n_hops - 1].node;

    for (uint32_t i = 0; i < r->topo.n_cube_links; i++) {
        const struct link_row *l = &r->cube_links[i];
        bool ahead = l->from == from && l->to == node;
        bool back = l->both_ways && l->from == node && l->to == from;

        if (l->leaves == N_EXITS && (ahead || back)) {
            leave_by(r, LINK_CUBE, r->cube_links, i, back);
            add_hop(r, AT_CUBE, node);
            return;
        }
    }
    assert(false); /* no such edge: our own mistake */
}

/* From the node added last over the NoC to `node`. */
static void cross_noc_to(struct routes *r, uint32_t node)
{
    const struct node_row *a = &r->cube_nodes[r->hops[r->n_hops - 1].node];
    const struct node_row *b = &r->cube_nodes[node];

    go_to(r, CUBE_NOC);
    r->hops[r->n_hops - 1].cross_fs = wire_fs(r, fabs(a->x_mm - b->x_mm) + fabs(a->y_mm - b->y_mm));
    go_to(r, node);
}

/* From the node added last over the NoC and out of the cube. */
static void exit_cube(struct routes *r, enum side exit)
{
    enum side side = exit == EXIT_IO ? SIDE_W : exit;

    cross_noc_to(r, CUBE_UCIE + side);
    r->segments[r->n_segments - 1].exit = (uint8_t)exit;
    if (exit == EXIT_IO) {
        leave_by(r, LINK_IO_ROW, r->io_links, IO_LINK_SHORE, true);
        return;
    }
    bool owned = exit == SIDE_E || exit == SIDE_S;
    uint32_t link = r->topo.n_cube_links - (side % 2 == 1 ? 2 : 1); /* E and W, or S and N */
    leave_by(r, owned ? LINK_CUBE : LINK_NEXT, r->cube_links, link, !owned);
}

/* From the node added last to a memory behind the NoC. */
static void reach_unit(struct routes *r, uint32_t unit)
{
    if (unit < r->topo.pes) {
        cross_noc_to(r, node_xbar(r, unit));
        go_to(r, node_hbm(r, unit));
    } else if (unit == r->topo.pes) {
        cross_noc_to(r, CUBE_SRAM);
    } else {
        cross_noc_to(r, node_pe(r, unit - r->topo.pes - 1, NODE_PE_DMA));
        go_to(r, node_pe(r, unit - r->topo.pes - 1, NODE_PE_TCM));
    }
}

/* Along the crossbars of one half, from the one added last to that of PE `to`. */
static void chain_to(struct routes *r, uint32_t from, uint32_t to)
{
    while (from != to) {
        from = from < to ? from + 1 : from - 1;
        go_to(r, node_xbar(r, from));
    }
}

/* Wire and overhead from the crossbar of `pe` over bridge `side` to that of `slice`. */
static int64_t bridge_way_fs(const struct routes *r, uint32_t pe, uint32_t slice, uint32_t side)
{
    const struct spec *s = r->spec;
    int32_t half = (int32_t)r->topo.pes / 2, end = side == 0 ? 0 : half - 1;
    int64_t steps = abs((int32_t)pe % half - end) + abs((int32_t)slice % half - end);
    int64_t step = wire_fs(r, s->cube_xbar_chain_mm) + fs_of_ns(s->cube_xbar_overhead_ns);

    return steps * step + 2 * wire_fs(r, s->cube_bridge_distance_mm) +
           fs_of_ns(s->cube_bridge_overhead_ns);
}

/* PE to a slice of its own cube: the crossbar alone. A tie of the bridges goes left. */
static void local_slice(struct routes *r, uint32_t pe, uint32_t slice)
{
    uint32_t half = r->topo.pes == 1 ? 1 : r->topo.pes / 2;

    go_to(r, node_xbar(r, pe));
    if (pe / half == slice / half) {
        chain_to(r, pe, slice);
    } else {
        bool right =
            r->topo.pes > 2 && bridge_way_fs(r, pe, slice, 1) < bridge_way_fs(r, pe, slice, 0);
        uint32_t column = right ? half - 1 : 0;

        chain_to(r, pe, pe / half * half + column);
        go_to(r, r->first_bridge_node + right);
        go_to(r, node_xbar(r, slice / half * half + column));
        chain_to(r, slice / half * half + column, slice);
    }
    go_to(r, node_hbm(r, slice));
}

static void add_local_segments(struct routes *r)
{
    r->topo.seg_local = (uint16_t)r->n_segments;
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        for (uint32_t unit = 0; unit < r->topo.n_units; unit++) {
            begin_segment(r);
            if (unit == r->topo.pes + 1 + pe)
                continue; /* a PE has no route to its own TCM */
            add_hop(r, AT_CUBE, node_pe(r, pe, NODE_PE_DMA));
            if (unit < r->topo.pes)
                local_slice(r, pe, unit);
            else
                reach_unit(r, unit);
        }
}

static void add_cube_segments(struct routes *r)
{
    r->topo.seg_out = (uint16_t)r->n_segments;
    for (uint32_t pe = 0; pe < r->topo.pes; pe++)
        for (uint32_t exit = 0; exit < N_EXITS; exit++) {
            begin_segment(r);
            add_hop(r, AT_CUBE, node_pe(r, pe, NODE_PE_DMA));
            exit_cube(r, (enum side)exit);
        }
    r->topo.seg_pass = (uint16_t)r->n_segments;
    for (uint32_t side = 0; side < N_SIDES; side++)
        for (uint32_t exit = 0; exit < N_EXITS; exit++) {
            begin_segment(r);
            if (exit == side || (exit == EXIT_IO && side == SIDE_W))
                continue; /* no route turns back */
            add_hop(r, AT_CUBE, CUBE_UCIE + side);
            exit_cube(r, (enum side)exit);
        }
    r->topo.seg_in = (uint16_t)r->n_segments;
    for (uint32_t side = 0; side < N_SIDES; side++)
        for (uint32_t unit = 0; unit < r->topo.n_units; unit++) {
            begin_segment(r);
            add_hop(r, AT_CUBE, CUBE_UCIE + side);
            reach_unit(r, unit);
        }
}

static void add_host_segments(struct routes *r)
{
    r->topo.seg_host = (uint16_t)r->n_segments;
    begin_segment(r);
    add_hop(r, AT_IO_TO, IO_PCIE_EP);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_PCIE, false);
    add_hop(r, AT_IO_TO, IO_NOC);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_CPU, true);
    add_hop(r, AT_IO_TO, IO_CPU);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_CPU, false);
    add_hop(r, AT_IO_TO, IO_NOC);
    leave_by(r, LINK_IO_TO_ROW, r->io_links, IO_LINK_SHORE, false);
    r->segments[r->n_segments - 1].exit = EXIT_IO;

    r->topo.seg_host_in = (uint16_t)r->n_segments;
    for (uint32_t slice = 0; slice < r->topo.pes; slice++) {
        begin_segment(r);
        add_hop(r, AT_CUBE, CUBE_UCIE + SIDE_W);
        cross_noc_to(r, CUBE_M_CPU);
        reach_unit(r, slice);
    }
}

static void add_cross_segment(struct routes *r)
{
    r->topo.seg_cross = (uint16_t)r->n_segments;
    begin_segment(r);
    add_hop(r, AT_IO, IO_NOC);
    leave_by(r, LINK_IO, r->io_links, IO_LINK_PCIE, true);
    add_hop(r, AT_IO, IO_PCIE_EP);
    leave_by(r, LINK_IO, r->io_links, IO_LINK_FABRIC, false);
    add_hop(r, AT_FABRIC, 0);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_FABRIC, true);
    add_hop(r, AT_IO_TO, IO_PCIE_EP);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_PCIE, false);
    add_hop(r, AT_IO_TO, IO_NOC);
    leave_by(r, LINK_IO_TO_ROW, r->io_links, IO_LINK_SHORE, false);
    r->segments[r->n_segments - 1].exit = EXIT_IO;
}

/* -- merging -------------------------------------------------------------------------------- */

static struct leg_row *add_leg(struct routes *r, struct segment_row *seg)
{
    struct leg_row *leg;

    r->legs = grown(r->arena, r->legs, r->n_legs, &r->legs_cap, sizeof *r->legs);
    leg = &r->legs[r->n_legs++];
    *leg = (struct leg_row){
        .wire_fs = seg->tail_wire_fs, .overhead_fs = seg->tail_overhead_fs, .gbs = INFINITY};
    seg->tail_wire_fs = seg->tail_overhead_fs = 0;
    seg->n_legs++;
    return leg;
}

/* Whether a request on its way waits at a node of this kind. */
static const bool queues_at[] = {
#define PASSES                           false
#define QUEUES                           true
#define KIND(NAME, name, on_way, placed) on_way,
#include "machine/kinds.def"
};

/* Merges the hops of `seg` into its stations, the links and the M_CPU's engine. */
static void merge_segment(struct routes *r, struct segment_row *seg)
{
    seg->first_leg = r->n_legs;
    for (uint32_t i = 0; i < seg->n_hops; i++) {
        const struct hop_row *hop = &r->hops[seg->first_hop + i];

        if (hop->owner == LINK_NONE)
            return; /* a memory: its overhead is paid during service */
        seg->tail_wire_fs += hop->cross_fs;
        seg->tail_overhead_fs += hop->overhead_fs;
        if (queues_at[node_at(r, hop)->kind])
            add_leg(r, seg)->owner = LINK_NONE;
        struct leg_row *leg = add_leg(r, seg);
        leg->owner = hop->owner;
        leg->back = hop->back;
        leg->link = hop->link;
        leg->gbs = hop->gbs;
        seg->tail_wire_fs += hop->wire_fs;
    }
}

/* -- sums ----------------------------------------------------------------------------------- */

static struct cost_row cost_sum(struct routes *r, struct cost_row a, struct cost_row b)
{
    struct cost_row sum = {a.wire_fs + b.wire_fs, a.overhead_fs + b.overhead_fs,
                           fmin(a.link_gbs, b.link_gbs)};

    if (sum.wire_fs > PART_MAX_FS || sum.overhead_fs > PART_MAX_FS) {
        r->too_long = true;
        sum.wire_fs = sum.overhead_fs = 0;
    }
    return sum;
}

static const struct cost_row cost_nothing = {.link_gbs = INFINITY};

/* What hops [first, first + n) cost; the edge into a memory (the last one) is left out. */
static struct cost_row cost_of_hops(struct routes *r, uint32_t first, uint32_t n)
{
    struct cost_row sum = cost_nothing;

    for (uint32_t i = first; i < first + n; i++) {
        const struct hop_row *hop = &r->hops[i];
        bool memory_edge =
            i + 1 < r->n_hops && r->hops[i + 1].owner == LINK_NONE && i + 1 < first + n;
        bool memory = hop->owner == LINK_NONE;

        sum =
            cost_sum(r, sum,
                     (struct cost_row){hop->cross_fs + hop->wire_fs, memory ? 0 : hop->overhead_fs,
                                       memory || memory_edge ? INFINITY : hop->gbs});
    }
    return sum;
}

static struct cost_row cost_of(struct routes *r, uint32_t segment)
{
    return cost_of_hops(r, r->segments[segment].first_hop, r->segments[segment].n_hops);
}

static struct cost_row *cost_rows(struct routes *r, uint32_t first_segment, uint32_t n)
{
    struct cost_row *rows = arena_alloc(r->arena, n * sizeof *rows);

    for (uint32_t i = 0; i < n; i++)
        rows[i] = cost_of(r, first_segment + i);
    return rows;
}

/* `n` cubes passed from `side` to `exit`. */
static struct cost_row cost_passes(struct routes *r, int64_t n, enum side side, enum side exit)
{
    struct cost_row pass = cost_of(r, r->topo.seg_pass + side * N_EXITS + exit);

    if (n <= 0)
        return cost_nothing;
    if (pass.wire_fs > PART_MAX_FS / n || pass.overhead_fs > PART_MAX_FS / n) {
        r->too_long = true;
        return cost_nothing;
    }
    return (struct cost_row){n * pass.wire_fs, n * pass.overhead_fs, pass.link_gbs};
}

/* `dx` columns and then `dy` rows on, without the first and the last cube. */
static struct mesh_row mesh_way(struct routes *r, int64_t dx, int64_t dy)
{
    enum side x = dx > 0 ? SIDE_E : SIDE_W, y = dy > 0 ? SIDE_S : SIDE_N;
    struct mesh_row row = {.exit = (uint8_t)(dx ? x : y), .side = (uint8_t)opposite(dy ? y : x)};

    row.cost = cost_sum(r, cost_passes(r, llabs(dx) - 1, opposite(x), x),
                        cost_passes(r, llabs(dy) - 1, opposite(y), y));
    if (dx && dy)
        row.cost = cost_sum(r, row.cost, cost_passes(r, 1, opposite(x), y));
    return row;
}

static void add_mesh_costs(struct routes *r)
{
    int64_t w = r->topo.w, h = r->topo.h;

    r->cost_mesh =
        arena_alloc(r->arena, (size_t)((2 * w - 1) * (2 * h - 1)) * sizeof *r->cost_mesh);
    for (int64_t dy = 1 - h; dy < h; dy++)
        for (int64_t dx = 1 - w; dx < w; dx++)
            r->cost_mesh[r->n_mesh++] = mesh_way(r, dx, dy);
    r->topo.mesh_middle = r->n_mesh / 2;
    r->cube_pos = arena_alloc(r->arena, r->topo.w * r->topo.h * sizeof *r->cube_pos);
    for (uint32_t cube = 0; cube < r->topo.w * r->topo.h; cube++)
        r->cube_pos[cube] = cube / r->topo.w * (2 * r->topo.w - 1) + cube % r->topo.w;
}

/* By column: from a cube's W exit to the target's SIP; on from column 0; from the host. */
static void add_column_costs(struct routes *r)
{
    struct cost_row cross = cost_of(r, r->topo.seg_cross), host = cost_of(r, r->topo.seg_host);
    struct cost_row leave = cost_sum(r, cost_passes(r, 1, SIDE_E, EXIT_IO), cross);
    size_t bytes = r->topo.w * sizeof(struct cost_row);

    r->cost_leave = arena_alloc(r->arena, bytes);
    r->cost_enter = arena_alloc(r->arena, bytes);
    r->cost_host = arena_alloc(r->arena, bytes);
    for (uint32_t x = 0; x < r->topo.w; x++) {
        struct cost_row east = cost_passes(r, x, SIDE_W, SIDE_E);

        r->cost_leave[x] =
            x == 0 ? cross : cost_sum(r, leave, cost_passes(r, x - 1, SIDE_E, SIDE_W));
        r->cost_enter[x] = east;
        r->cost_host[x] = cost_sum(r, host, east);
    }
}

/*
 * From ucie-W to the engine of the M_CPU, and from there to each slice and to each pe_cpu, which
 * meets the NoC where its crossbar does.
 */
static void add_host_costs(struct routes *r)
{
    const struct segment_row *in = &r->segments[r->topo.seg_host_in];
    const struct hop_row *m_cpu = &r->hops[in->first_hop + 2];

    assert(node_at(r, m_cpu)->kind == NODE_M_CPU);
    r->cost_host_cpu = arena_alloc(r->arena, sizeof *r->cost_host_cpu);
    *r->cost_host_cpu = cost_of_hops(r, in->first_hop, 2);
    r->cost_host_cpu->overhead_fs += m_cpu->overhead_fs;
    r->cost_host_in = arena_alloc(r->arena, r->topo.pes * sizeof *r->cost_host_in);
    r->cost_launch = arena_alloc(r->arena, r->topo.pes * sizeof *r->cost_launch);
    for (uint32_t slice = 0; slice < r->topo.pes; slice++) {
        const struct segment_row *seg = &r->segments[r->topo.seg_host_in + slice];

        r->cost_host_in[slice] = cost_of_hops(r, seg->first_hop + 2, seg->n_hops - 2u);
        r->cost_host_in[slice].overhead_fs -= m_cpu->overhead_fs;
        r->cost_launch[slice] = cost_of_hops(r, seg->first_hop + 2, 2);
        r->cost_launch[slice].overhead_fs -= m_cpu->overhead_fs;
    }
}

static void add_costs(struct routes *r)
{
    r->cost_local = cost_rows(r, r->topo.seg_local, r->topo.pes * r->topo.n_units);
    r->cost_out = cost_rows(r, r->topo.seg_out, r->topo.pes * N_EXITS);
    r->cost_in = cost_rows(r, r->topo.seg_in, N_SIDES * r->topo.n_units);
    add_mesh_costs(r);
    add_column_costs(r);
    add_host_costs(r);
}

static void add_memories(struct routes *r)
{
    const struct spec *s = r->spec;
    uint64_t mib = UINT64_C(1) << 20;

    r->topo.hbm = (struct memory_row){fs_of_ns(s->cube_hbm_overhead_ns),
                                      s->cube_hbm_bw_gbs * s->cube_hbm_efficiency,
                                      ((uint64_t)s->cube_hbm_size_gb << 30) / r->topo.pes};
    r->topo.sram = (struct memory_row){fs_of_ns(s->cube_sram_overhead_ns), s->cube_noc_bw_gbs,
                                       (uint64_t)s->cube_sram_size_mb * mib};
    r->topo.tcm_read = (struct memory_row){0, s->cube_pe_pe_tcm_read_gbs,
                                           (uint64_t)s->cube_pe_pe_tcm_size_mb * mib};
    r->topo.tcm_write = r->topo.tcm_read;
    r->topo.tcm_write.gbs = s->cube_pe_pe_tcm_write_gbs;
}

static void add_pe(struct routes *r)
{
    const struct spec *s = r->spec;

    r->topo.pe = (struct pe_row){
        .cpu_overhead_fs = fs_of_ns(s->cube_pe_pe_cpu_overhead_ns),
        .scheduler_overhead_fs = fs_of_ns(s->cube_pe_pe_scheduler_overhead_ns),
        .gemm_overhead_fs = fs_of_ns(s->cube_pe_pe_gemm_overhead_ns),
        .math_overhead_fs = fs_of_ns(s->cube_pe_pe_math_overhead_ns),
        .gemm_clock_ghz = s->cube_pe_pe_gemm_clock_ghz,
        .math_clock_ghz = s->cube_pe_pe_math_clock_ghz,
        .tile_buffers = (uint32_t)s->cube_pe_pe_scheduler_tile_buffers,
        .lanes = (uint32_t)s->cube_pe_pe_math_lanes,
        .special_cycles = (uint32_t)s->cube_pe_pe_math_special_cycles,
        .ipcq_slots = (uint32_t)s->cube_pe_pe_ipcq_slots,
        .ipcq_slot_bytes = (uint32_t)s->cube_pe_pe_ipcq_slot_bytes,
        .ipcq_space = (uint8_t)s->cube_pe_pe_ipcq_space,
    };
    for (int i = 0; i < 3; i++) {
        r->topo.pe.tile[i] = (uint32_t)s->cube_pe_pe_scheduler_tile[i];
        r->topo.pe.mac[i] = (uint32_t)s->cube_pe_pe_gemm_mac[i];
    }
}

static bool wires_fit(const struct routes *r)
{
    for (uint32_t i = 0; i < r->n_hops; i++)
        if (r->hops[i].wire_fs > PART_MAX_FS || r->hops[i].cross_fs > PART_MAX_FS)
            return false;
    return true;
}

/* Bits that number `n` things. */
static uint32_t bits_for(uint32_t n)
{
    uint32_t bits = 0;

    while (UINT32_C(1) << bits < n)
        bits++;
    return bits;
}

static void set_counts(struct routes *r)
{
    const struct spec *s = r->spec;
    struct kb_topology *t = &r->topo;

    t->links = (uint8_t)s->contention_links;
    t->sips = (uint32_t)s->sips;
    t->w = (uint32_t)s->sip_cube_mesh_w;
    t->h = (uint32_t)s->sip_cube_mesh_h;
    t->cubes = t->w * t->h;
    t->pes = (uint32_t)s->cube_pes;
    t->n_units = 2 * t->pes + 1;
    t->pe_bits = bits_for(t->pes);
    t->unit_bits = bits_for(t->n_units);
    t->read_channels = (uint32_t)s->cube_pe_pe_dma_read_channels;
    t->write_channels = (uint32_t)s->cube_pe_pe_dma_write_channels;
    t->read_engines = (uint32_t)s->cube_m_cpu_dma_read;
    t->write_engines = (uint32_t)s->cube_m_cpu_dma_write;
    t->m_cpu_node = CUBE_M_CPU;
    t->sram_node = CUBE_SRAM;
    t->ucie_overhead_fs = fs_of_ns(s->cube_ucie_overhead_ns);
}

/* The topology's tables are those of `r`. */
static void set_tables(struct routes *r)
{
#define TABLE(type, name) r->topo.name = r->name;
#include "machine/topology.def"
}

bool route(struct routes *r, const struct spec *spec, struct arena *arena)
{
    *r = (struct routes){.arena = arena, .spec = spec};
    r->topo.name = spec->name;
    r->topo.config = resolve(spec);
    r->topo.hash = resolve_hash(spec);
    set_counts(r);
    add_cube_nodes(r);
    add_io_nodes(r);
    add_links(r);
    count(r);
    add_local_segments(r);
    add_cube_segments(r);
    add_host_segments(r);
    add_cross_segment(r);
    for (uint32_t i = 0; i < r->n_segments; i++)
        merge_segment(r, &r->segments[i]);
    add_memories(r);
    add_pe(r);
    r->too_long = !wires_fit(r);
    if (!r->too_long)
        add_costs(r);
    set_tables(r);
    if (r->too_long)
        return diag_error(
            spec->diag, spec_place(spec, KEY_ns_per_mm),
            "a part of a route takes longer than 2^58 fs, too long for simulated time");
    return true;
}
