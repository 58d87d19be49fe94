gen_banner
/* topo.h -- what is constant in gen_name: sizes, counts, and where its segments begin. */
#ifndef TOPO_H
#define TOPO_H
#include <math.h>
#include "machine/tables.h"

#define TOPO_NAME "gen_name"
#define TOPO_HASH "gen_hash"

enum {
    TOPO_LINKS = MODE_[[]]gen_LINKS,
    TOPO_REGULAR = gen_regular, /* a plain mesh */
    TOPO_SIPS = gen_sips,
    TOPO_W = gen_w,
    TOPO_H_CUBES = gen_h,
    TOPO_CUBES = TOPO_W * TOPO_H_CUBES, /* of a SIP */
    TOPO_KINDS = gen_n_kinds,           /* of cubes, by their keys */
    TOPO_PES = gen_pes,                 /* of a cube; of the kind that has most, as all below */
    TOPO_SOURCES = gen_sources,         /* these, and behind them the L2 if some cube has one */
    TOPO_SLICES = gen_slices,
    TOPO_ALIKE = gen_alike,           /* all cubes are there, with all their PEs */
    TOPO_OWN_SLICES = gen_own_slices, /* PE p has slice p */
    TOPO_UNITS = gen_n_units,           /* memories of a cube: slices, SRAM, TCMs */
    TOPO_PE_BITS = gen_pe_bits,         /* that number the PEs of a cube */
    TOPO_UNIT_BITS = gen_unit_bits,     /* that number its memories */
    TOPO_NODES = gen_n_nodes,           /* of the whole tray */
    TOPO_EDGES = gen_n_edges,

    TOPO_PLANES = gen_planes,
    TOPO_PLANE_CHOICE = gen_plane_choice, /* enum plane_choice */
    TOPO_PORTS = gen_ports,               /* of a cube: its sides */
    TOPO_WRAP = gen_wrap,                 /* enum wrap */
    TOPO_CHIPLETS = gen_chiplets,         /* IO chiplets of a SIP */
    TOPO_SHORE = gen_n_shore,             /* links of a shoreline, of one plane */
    TOPO_FABRIC_SHAPE = gen_fabric_shape, /* enum fabric_shape */
    TOPO_GRID_W = gen_grid_w,             /* of SIPs */
    TOPO_GRID_H = gen_grid_h,
    TOPO_GRID_WRAP = gen_grid_wrap,
    TOPO_HAS_GAPS = gen_has_gaps, /* something is missing or broken */

    TOPO_BETWEEN_BY = gen_between_by, /* enum between_by */
    TOPO_BETWEEN = gen_n_between,     /* by distance: rows of a plane and direction */

    TOPO_HOST_SIDES = gen_n_host_sides,

    TOPO_CUBE_NODES = gen_n_cube_nodes,
    TOPO_IO_NODES = 3,
    TOPO_CUBE_LINKS = gen_n_cube_links,
    TOPO_IO_LINKS = gen_n_io_links,
    TOPO_M_CPU = gen_m_cpu_node,
    TOPO_SRAM = gen_sram_node,
    TOPO_FIRST_HBM = gen_first_hbm_node,
    TOPO_FIRST_PE = gen_first_pe_node,

    TOPO_HOPS = gen_n_hops,
    TOPO_LEGS = gen_n_legs,
    TOPO_SEGMENTS = gen_n_segments, /* of a kind */
    SEG_LOCAL = gen_seg_local,     /* [pe][unit] */
    SEG_OUT = gen_seg_out,         /* [pe][exit] */
    SEG_PASS = gen_seg_pass,       /* [side][exit] */
    SEG_IN = gen_seg_in,           /* [side][unit] */
    SEG_HOST = gen_seg_host,       /* host to shoreline */
    SEG_HOST_IN = gen_seg_host_in, /* [slice] */
    SEG_CROSS = gen_seg_cross,     /* shoreline to shoreline of another SIP */
    SEG_ARRIVE = gen_seg_arrive,   /* if it is not regular: the last part of that */
};

#endif
