/*
 * segments.c -- the pieces that every route is put together from, hop by hop and merged.
 *
 * A route of a tray with thousands of PEs is not stored. A segment is the piece of a route inside
 * one chiplet: from where the request starts or comes in to where it leaves or ends. Since all
 * cubes are alike, a segment holds for each of them, and a few kinds of segments make every route:
 *
 *     local    [pe][unit]    from a PE to a memory of its own cube; behind the PEs from the L2
 *     out      [pe][exit]    from a PE, or the L2, out of its cube
 *     pass     [side][exit]  through a cube
 *     in       [side][unit]  from a side to a memory
 *     host                   from the host's pcie_ep to the shoreline
 *     host_in  [slice]       from ucie-W by way of m_cpu to a slice
 *     cross                  from one SIP's shoreline over the switch to another's
 *
 * A segment is a row of hops: a node with its overhead, and the edge by which the request leaves
 * it. The last hop of a segment that ends at a memory has no edge (LINK_NONE).
 * runtime/machine/walk.h goes from segment to segment.
 *
 * The hop engine goes from hop to hop. The fused engine, when links queue (contention.links: fifo),
 * only stops where a request may have to wait: at links and at the engine of m_cpu. So hops are
 * merged into legs, one for each such station: the wire and the overhead since the station before.
 * The tail is the delay behind the last station. A memory adds nothing to it, as its overhead and
 * the edge into it are part of its service (struct memory_row).
 *
 * Invariants: a segment that would turn back has 0 hops, and so has the one from a PE to its own
 * TCM: there are no such routes. Two nodes of a cube have at most one link, so go_to() finds the
 * link by its ends. The legs and the tail of a segment add up to its hops, without the memory.
 *
 * Example: c0.pe1 -> c5.slice3 of cube8, one column east and one row south, is three segments, in
 * fs (overhead of the node + crossing of the NoC + wire of the edge):
 *
 *     out[pe1][E]     pe1.pe_dma 0+0+5000   noc 0+148750+5000   ucie-E 1000000+0+10000
 *     pass[W][S]      ucie-W 1000000+0+5000 noc 0+130000+5000   ucie-S 1000000+0+10000
 *     in[N][slice3]   ucie-N 1000000+0+5000 noc 0+56250+5000    xbar.pe3 2000000+0+25000  slice3
 *
 * The crossing 148750 is |15 - 5.625| mm along X and |5.5 - 0| mm along Y, 14.875 mm in all.
 * Merged, out[pe1][E] has the legs (wire, overhead) 0, 0 up to the link to the NoC, 153750, 0 up to
 * the link to ucie-E, 5000, 1000000 up to the link to the neighbour, and the tail 10000.
 */
#include "segments.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cache_row.h"
#include "check.h"
#include "nodes.h"
#include "machine/walk.h"

/* -- segments ------------------------------------------------------------------------------- */

/* `rows`, or a larger copy of them if there is no room for one more. */
static void *grown(struct arena *arena, void *rows, uint32_t n, uint32_t *cap, size_t row_bytes)
{
    if (n < *cap)
        return rows;

    uint32_t more = *cap ? *cap * 2 : 256;
    void *moved = arena_alloc(arena, more * row_bytes);

    if (n)
        memcpy(moved, rows, n * row_bytes);
    arena_drop(arena, rows);
    *cap = more;
    return moved;
}

static void begin_segment(struct routes *r)
{
    r->segments =
        grown(r->arena, r->segments, r->n_segments, &r->segments_cap, sizeof *r->segments);
    r->segments[r->n_segments++] =
        (struct segment_row){.first_hop = r->n_hops, .first_leg = r->n_legs, .exit = EXIT_END};
}

const struct node_row *node_at(const struct routes *r, const struct hop_row *hop)
{
    if (hop->chiplet == AT_CUBE)
        return &r->cube_nodes[hop->node];
    return hop->chiplet == AT_FABRIC ? &r->fabric_nodes[0] : &r->io_nodes[hop->node];
}

/* What data are late by behind the service of a memory; 0 of other nodes. */
static int64_t latency_fs(const struct routes *r, enum node_kind kind)
{
    return kind == NODE_HBM_CTRL ? fs_of_ns(r->spec->cube_hbm_latency_ns)
           : kind == NODE_SRAM   ? fs_of_ns(r->spec->cube_sram_latency_ns)
                                 : 0;
}

/* Adds a node to the segment begun last; its edge is not known yet. */
static void add_hop(struct routes *r, enum chiplet chiplet, uint32_t node)
{
    struct hop_row *hop;

    r->hops = grown(r->arena, r->hops, r->n_hops, &r->hops_cap, sizeof *r->hops);
    hop = &r->hops[r->n_hops++];
    *hop = (struct hop_row){.chiplet = (uint8_t)chiplet, .node = (uint16_t)node, .gbs = INFINITY};
    hop->overhead_fs =
        node_at(r, hop)->overhead_fs + latency_fs(r, (enum node_kind)node_at(r, hop)->kind);
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

/* The links inside a cube by their nodes: a list for each node, of link ends 2 * link + 0 or 1. */
static void index_links(struct routes *r)
{
    uint32_t n = r->topo.n_cube_links;

    r->first_end = arena_alloc(r->arena, r->topo.n_cube_nodes * sizeof *r->first_end);
    r->next_end = arena_alloc(r->arena, 2 * n * sizeof *r->next_end);
    for (uint32_t i = n; i-- > 0;) {
        const struct link_row *l = &r->cube_links[i];

        for (uint32_t end = 0; l->leaves == EXIT_END && end < 2; end++) {
            uint32_t node = end ? l->to : l->from;

            r->next_end[2 * i + end] = r->first_end[node];
            r->first_end[node] = 2 * i + end + 1; /* 0: the list ends */
        }
    }
}

/*
 * From the node added last to `node` of the same cube, over the one link between them. A NoC has
 * most of all links, so the other node's are searched.
 */
static void go_to(struct routes *r, uint32_t node)
{
    uint32_t from = r->hops[r->n_hops - 1].node;
    uint32_t few = r->cube_nodes[from].kind == NODE_NOC ? node : from;

    for (uint32_t end = r->first_end[few]; end; end = r->next_end[end - 1]) {
        uint32_t i = (end - 1) / 2;
        const struct link_row *l = &r->cube_links[i];
        bool ahead = l->from == from && l->to == node;
        bool back = l->both_ways && l->from == node && l->to == from;

        if (ahead || back) {
            leave_by(r, LINK_CUBE, r->cube_links, i, back);
            add_hop(r, AT_CUBE, node);
            return;
        }
    }
    assert(false); /* there is no such edge: a bug of this file */
}

static int64_t cross_noc_fs(const struct routes *r, uint32_t from, uint32_t to)
{
    const struct node_row *a = &r->cube_nodes[from], *b = &r->cube_nodes[to];

    return wire_fs(r, fabs(a->x_mm - b->x_mm) + fabs(a->y_mm - b->y_mm));
}

/* From the node added last over the NoC of `plane` to `node`: across a bus, or along a mesh. */
static void cross_noc_to(struct routes *r, uint32_t plane, uint32_t node)
{
    uint32_t from = r->hops[r->n_hops - 1].node, at = place_of(r, from), last = place_of(r, node);

    go_to(r, node_router(r, plane, at));
    if (!r->noc.is_mesh)
        r->hops[r->n_hops - 1].cross_fs = cross_noc_fs(r, from, node);
    while (at != last) {
        at = noc_next(&r->noc, at, last);
        go_to(r, node_router(r, plane, at));
    }
    go_to(r, node);
}

uint32_t try_noc(struct routes *r, uint32_t plane, uint32_t from, uint32_t to)
{
    uint32_t n_hops = r->n_hops, n_segments = r->n_segments, n;

    begin_segment(r);
    add_hop(r, AT_CUBE, from);
    cross_noc_to(r, plane, to);
    n = r->n_hops - n_hops - 1;
    r->n_hops = n_hops;
    r->n_segments = n_segments;
    return n;
}

/* The link of the shoreline to the first cube of the side, of that plane. */
static uint32_t shore_link(const struct routes *r, uint32_t plane)
{
    return IO_LINK_SHORE + plane * r->topo.n_shore;
}

/* Can a cube of this kind be left by `exit`? */
static bool has_exit(const struct routes *r, uint32_t exit)
{
    if (exit == exit_io(&r->topo))
        return has_side(r, r->io_sides[0]);
    return has_side(r, exit) && !(r->found->net && exit == r->io_sides[0]);
}

/* From the node added last over the NoC and out of the cube; to an IO chiplet, to the first. */
static void exit_cube(struct routes *r, uint32_t plane, uint32_t exit)
{
    uint32_t side = exit == exit_io(&r->topo) ? r->io_sides[0] : exit;

    cross_noc_to(r, plane, node_ucie(r, plane, side));
    r->segments[r->n_segments - 1].exit = (uint8_t)exit;
    if (exit == exit_io(&r->topo)) {
        leave_by(r, LINK_IO_ROW, r->io_links, shore_link(r, plane), true);
        return;
    }
    if (r->found->net) {
        leave_by(r, LINK_NEXT, r->cube_links, r->topo.n_cube_links - r->topo.ports + exit, false);
        return;
    }
    bool owned = exit == SIDE_E || exit == SIDE_S;
    uint32_t first = r->topo.n_cube_links - 2u * r->topo.planes;
    uint32_t link = first + 2 * plane + (side % 2 == 1 ? 0 : 1); /* E and W, or S and N */
    leave_by(r, owned ? LINK_CUBE : LINK_NEXT, r->cube_links, link, !owned);
}

/* From the node added last to a memory behind the NoC. */
static void reach_unit(struct routes *r, uint32_t plane, uint32_t unit)
{
    uint32_t sram = r->topo.slices;

    if (unit_is_l2(&r->topo, unit)) {
        go_to(r, r->topo.l2_node);
    } else if (unit < sram) {
        cross_noc_to(r, plane, node_xbar(r, crossbar_of_slice(r, unit)));
        go_to(r, node_hbm(r, unit));
    } else if (unit == sram) {
        cross_noc_to(r, plane, node_sram(r));
    } else {
        cross_noc_to(r, plane, node_pe(r, unit - sram - 1, NODE_PE_DMA));
        go_to(r, node_pe(r, unit - sram - 1, NODE_PE_TCM));
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

/* The crossbar node where the row of node `at` meets bridge `side`. */
static uint32_t row_end(const struct routes *r, uint32_t at, uint32_t side)
{
    return crossbar_at_bridge(r, at >= half_of(r), side);
}

/* Wire and overhead from crossbar node `from` over bridge `side` to node `to`, of the other row. */
static int64_t bridge_way_fs(const struct routes *r, uint32_t from, uint32_t to, uint32_t side)
{
    const struct spec *s = r->spec;
    int64_t steps = abs((int32_t)from - (int32_t)row_end(r, from, side)) +
                    abs((int32_t)to - (int32_t)row_end(r, to, side));
    int64_t step = wire_fs(r, s->cube_xbar_chain_mm) + fs_of_ns(s->cube_xbar_overhead_ns);

    return steps * step + 2 * wire_fs(r, s->cube_bridge_distance_mm) +
           fs_of_ns(s->cube_bridge_overhead_ns);
}

/* From a PE to a slice of its own cube, by crossbars alone. If both bridges are as far, the left.
 */
static void local_slice(struct routes *r, uint32_t pe, uint32_t slice)
{
    uint32_t to = crossbar_of_slice(r, slice);

    go_to(r, node_xbar(r, pe));
    if ((pe < half_of(r)) == (to < half_of(r))) {
        chain_to(r, pe, to);
    } else {
        bool right = bridge_way_fs(r, pe, to, 1) < bridge_way_fs(r, pe, to, 0);

        chain_to(r, pe, row_end(r, pe, right));
        go_to(r, r->first_bridge_node + right);
        go_to(r, node_xbar(r, row_end(r, to, right)));
        chain_to(r, row_end(r, to, right), to);
    }
    go_to(r, node_hbm(r, slice));
}

/* Whether a cube of this kind has a unit: others may have more. */
static bool has_unit(const struct routes *r, uint32_t unit)
{
    uint32_t sram = r->topo.slices;

    if (unit == sram)
        return !is_switch(r->spec);
    if (unit_is_l2(&r->topo, unit))
        return has_l2(r->spec);
    return unit < sram ? unit < r->slices : unit - sram - 1 < r->pes;
}

/* Has a cube of this kind that source: a PE, or behind these its L2? */
static bool has_source(const struct routes *r, uint32_t source)
{
    return source < r->topo.pes ? source < r->pes : has_l2(r->spec);
}

/* Where what a source sends out begins. */
static uint32_t node_source(const struct routes *r, uint32_t source)
{
    return source < r->topo.pes ? node_pe(r, source, NODE_PE_DMA) : r->topo.l2_node;
}

/* Is there a way? A PE has none to its own TCM, an L2 only to slices. */
static bool goes_to(const struct routes *r, uint32_t source, uint32_t unit)
{
    return source < r->topo.pes ? unit != r->topo.slices + 1 + source : unit < r->topo.slices;
}

/* The crossbar of a cube with an L2 carries what comes from the NoC, and no more. */
static void add_local_segments(struct routes *r, uint32_t plane)
{
    for (uint32_t pe = 0; pe < r->topo.sources; pe++)
        for (uint32_t unit = 0; unit < r->topo.n_units; unit++) {
            begin_segment(r);
            if (!has_source(r, pe) || !has_unit(r, unit) || !goes_to(r, pe, unit))
                continue;
            add_hop(r, AT_CUBE, node_source(r, pe));
            if (unit < r->topo.slices && !has_l2(r->spec))
                local_slice(r, pe, unit);
            else
                reach_unit(r, plane, unit);
        }
}

static void add_out_segments(struct routes *r, uint32_t plane)
{
    for (uint32_t pe = 0; pe < r->topo.sources; pe++)
        for (uint32_t exit = 0; exit < n_exits(&r->topo); exit++) {
            begin_segment(r);
            if (!has_source(r, pe) || !has_exit(r, exit))
                continue;
            add_hop(r, AT_CUBE, node_source(r, pe));
            exit_cube(r, plane, exit);
        }
}

static void add_pass_segments(struct routes *r, uint32_t plane)
{
    for (uint32_t side = 0; side < r->topo.ports; side++)
        for (uint32_t exit = 0; exit < n_exits(&r->topo); exit++) {
            begin_segment(r);
            if (r->topo.regular && (exit == side || (exit == EXIT_IO && side == SIDE_W)))
                continue; /* no route of a plain mesh turns back */
            if (!has_side(r, side) || !has_exit(r, exit) || (r->found->net && exit == side))
                continue;
            add_hop(r, AT_CUBE, node_ucie(r, plane, side));
            exit_cube(r, plane, exit);
        }
}

static void add_in_segments(struct routes *r, uint32_t plane)
{
    for (uint32_t side = 0; side < r->topo.ports; side++)
        for (uint32_t unit = 0; unit < r->topo.n_units; unit++) {
            begin_segment(r);
            if (!has_unit(r, unit) || !has_side(r, side) || unit_is_l2(&r->topo, unit))
                continue; /* an L2 is for the PEs of its cube */
            add_hop(r, AT_CUBE, node_ucie(r, plane, side));
            reach_unit(r, plane, unit);
        }
}

static void add_host_segment(struct routes *r, uint32_t plane)
{
    begin_segment(r);
    add_hop(r, AT_IO_TO, IO_PCIE_EP);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_PCIE, false);
    add_hop(r, AT_IO_TO, IO_NOC);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_CPU, true);
    add_hop(r, AT_IO_TO, IO_CPU);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_CPU, false);
    add_hop(r, AT_IO_TO, IO_NOC);
    leave_by(r, LINK_IO_TO_ROW, r->io_links, shore_link(r, plane), false);
    r->segments[r->n_segments - 1].exit = (uint8_t)exit_io(&r->topo);
}

static void add_host_in_segments(struct routes *r, uint32_t plane)
{
    for (uint32_t side = r->topo.regular ? SIDE_W : 0; side < r->topo.ports; side++)
        for (uint32_t slice = 0; slice < r->topo.slices; slice++) {
            begin_segment(r);
            if (slice >= r->slices || !has_side(r, side))
                continue;
            add_hop(r, AT_CUBE, node_ucie(r, plane, side));
            cross_noc_to(r, plane, node_m_cpu(r));
            reach_unit(r, plane, slice);
        }
}

/* Over the switch, all the way from shoreline to shoreline. */
static void add_cross_segment(struct routes *r)
{
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
    leave_by(r, LINK_IO_TO_ROW, r->io_links, shore_link(r, 0), false);
    r->segments[r->n_segments - 1].exit = (uint8_t)exit_io(&r->topo);
}

/* Out of the pcie_ep added last: over the edge of a grid to `side`, or to the switch. */
static void leave_sip(struct routes *r, enum side side)
{
    static const enum link_owner owners[N_SIDES] = {LINK_IO_NORTH, LINK_IO, LINK_IO, LINK_IO_WEST};
    uint32_t south = r->topo.n_io_links - 1;

    if (r->topo.fabric_shape == FABRIC_GRID) {
        leave_by(r, owners[side], r->io_links, side % 2 == 1 ? IO_LINK_FABRIC : south,
                 side == SIDE_N || side == SIDE_W);
        return;
    }
    leave_by(r, LINK_IO, r->io_links, IO_LINK_FABRIC, false);
    add_hop(r, AT_FABRIC, 0);
    leave_by(r, LINK_IO_TO, r->io_links, IO_LINK_FABRIC, true);
}

/* A pcie_ep that is reached from another SIP: over a grid that costs the fabric's overhead, too. */
static void add_far_pcie_ep(struct routes *r)
{
    add_hop(r, AT_IO, IO_PCIE_EP);
    if (r->topo.fabric_shape == FABRIC_GRID)
        r->hops[r->n_hops - 1].overhead_fs += r->fabric_nodes[0].overhead_fs;
}

/* Not regular: out of a SIP and through one, by the side of a grid, and to the shore by plane. */
static void add_sip_segments(struct routes *r)
{
    for (uint32_t side = 0; side < N_SIDES; side++) {
        begin_segment(r);
        add_hop(r, AT_IO, IO_NOC);
        leave_by(r, LINK_IO, r->io_links, IO_LINK_PCIE, true);
        add_hop(r, AT_IO, IO_PCIE_EP);
        leave_sip(r, (enum side)side);
        r->segments[r->n_segments - 1].exit = (uint8_t)exit_io(&r->topo);
    }
    for (uint32_t side = 0; side < N_SIDES; side++) {
        begin_segment(r);
        add_far_pcie_ep(r);
        leave_sip(r, (enum side)side);
        r->segments[r->n_segments - 1].exit = (uint8_t)exit_io(&r->topo);
    }
    r->topo.seg_arrive = (uint16_t)r->n_segments;
    for (uint32_t plane = 0; plane < r->topo.planes; plane++) {
        begin_segment(r);
        add_far_pcie_ep(r);
        leave_by(r, LINK_IO, r->io_links, IO_LINK_PCIE, false);
        add_hop(r, AT_IO, IO_NOC);
        leave_by(r, LINK_IO_ROW, r->io_links, shore_link(r, plane), false);
        r->segments[r->n_segments - 1].exit = (uint8_t)exit_io(&r->topo);
    }
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

/* Merges the hops of `seg` into legs: one for each link, and one for a node that queues. */
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
        leg->back = hop->back != 0;
        leg->link = hop->link;
        leg->gbs = hop->gbs;
        seg->tail_wire_fs += hop->wire_fs;
    }
}

/* The segments of one kind: a block for each plane. */
static void add_planes(struct routes *r, uint16_t *first,
                       void (*add)(struct routes *r, uint32_t plane))
{
    *first = (uint16_t)r->n_segments;
    for (uint32_t plane = 0; plane < r->topo.planes; plane++)
        add(r, plane);
}

void make_segments(struct routes *r)
{
    index_links(r);
    struct kb_topology *t = &r->topo;

    add_planes(r, &t->seg_local, add_local_segments);
    add_planes(r, &t->seg_out, add_out_segments);
    add_planes(r, &t->seg_pass, add_pass_segments);
    add_planes(r, &t->seg_in, add_in_segments);
    add_planes(r, &t->seg_host, add_host_segment);
    add_planes(r, &t->seg_host_in, add_host_in_segments);
    t->seg_cross = (uint16_t)r->n_segments;
    if (t->regular)
        add_cross_segment(r);
    else
        add_sip_segments(r);
    for (uint32_t i = 0; i < r->n_segments; i++)
        merge_segment(r, &r->segments[i]);
}
