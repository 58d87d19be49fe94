/* route.h -- every route of a topology as tables: nodes, links, segments and their sums. */
#ifndef ROUTE_H
#define ROUTE_H
#include "arena.h"
#include "spec.h"
#include "machine/tables.h"

/* The nodes of an IO chiplet, and the first ones of a cube. */
enum { IO_PCIE_EP, IO_NOC, IO_CPU, N_IO_NODES };
enum { CUBE_NOC, CUBE_M_CPU, CUBE_SRAM, CUBE_UCIE /* N, E, S, W */ };

/* The tables of rows.h, as they will be emitted, and the nodes by kind. */
struct routes {
    struct arena *arena;
    const struct spec *spec;
    uint32_t w, h, pes, n_units;
    uint32_t pe_bits, unit_bits; /* that number the PEs and the memories of a cube */

    struct node_row *cube_nodes, io_nodes[N_IO_NODES], fabric_nodes[1];
    uint32_t n_cube_nodes, first_xbar_node, first_bridge_node, first_hbm_node, first_pe_node;

    struct link_row *cube_links, *io_links;
    uint32_t n_cube_links, n_io_links;

    struct hop_row *hops;
    struct leg_row *legs;
    struct segment_row *segments;
    uint32_t n_hops, n_legs, n_segments, hops_cap, legs_cap, segments_cap;
    uint32_t seg_local, seg_out, seg_pass, seg_in, seg_host, seg_host_in, seg_cross;

    struct cost_row *cost_local, *cost_out, *cost_in, *cost_leave, *cost_enter, *cost_host;
    struct cost_row cost_host_cpu, *cost_host_in, *cost_launch;
    struct mesh_row *cost_mesh;
    uint32_t n_mesh, *cube_pos, mesh_middle;

    struct memory_row hbm, sram, tcm_read, tcm_write;
    struct pe_row pe;
    int64_t ucie_overhead_fs; /* paid by responses */
    uint64_t n_nodes, n_edges;
    bool too_long; /* a part of a route passes the range of simulated time */
};

/*
 * Fills all tables of `r` from `spec` (borrowed). False after a message: a wire or a route is
 * longer than simulated time can count.
 */
bool route(struct routes *r, const struct spec *spec, struct arena *arena);

#endif
