/* Generated from two_cubes.yaml by kbgen 0.2.0; edit that file, not this. */
/* topo.h -- what is constant in two_cubes: sizes, counts, and where its segments begin. */
#ifndef TOPO_H
#define TOPO_H
#include <math.h>
#include "machine/tables.h"

#define TOPO_NAME "two_cubes"
#define TOPO_HASH "85d1a71f12c974ce"

enum {
    TOPO_LINKS = MODE_FIFO,
    TOPO_REGULAR = 1, /* a plain mesh */
    TOPO_SIPS = 2,
    TOPO_W = 2,
    TOPO_H_CUBES = 1,
    TOPO_CUBES = TOPO_W * TOPO_H_CUBES, /* of a SIP */
    TOPO_KINDS = 1,           /* of cubes, by their keys */
    TOPO_PES = 2,                 /* of a cube; of the kind that has most, as all below */
    TOPO_SOURCES = 2,         /* these, and behind them the L2 if some cube has one */
    TOPO_SLICES = 2,
    TOPO_ALIKE = 1,           /* all cubes are there, with all their PEs */
    TOPO_OWN_SLICES = 1, /* PE p has slice p */
    TOPO_UNITS = 5,           /* memories of a cube: slices, SRAM, TCMs */
    TOPO_PE_BITS = 1,         /* that number the PEs of a cube */
    TOPO_UNIT_BITS = 3,     /* that number its memories */
    TOPO_NODES = 115,           /* of the whole tray */
    TOPO_EDGES = 212,

    TOPO_PLANES = 1,
    TOPO_PLANE_CHOICE = 0, /* enum plane_choice */
    TOPO_PORTS = 4,               /* of a cube: its sides */
    TOPO_WRAP = 0,                 /* enum wrap */
    TOPO_CHIPLETS = 1,         /* IO chiplets of a SIP */
    TOPO_SHORE = 1,             /* links of a shoreline, of one plane */
    TOPO_FABRIC_SHAPE = 0, /* enum fabric_shape */
    TOPO_GRID_W = 1,             /* of SIPs */
    TOPO_GRID_H = 1,
    TOPO_GRID_WRAP = 0,
    TOPO_HAS_GAPS = 0, /* something is missing or broken */

    TOPO_BETWEEN_BY = 0, /* enum between_by */
    TOPO_BETWEEN = 0,     /* by distance: rows of a plane and direction */

    TOPO_HOST_SIDES = 1,

    TOPO_CUBE_NODES = 27,
    TOPO_IO_NODES = 3,
    TOPO_CUBE_LINKS = 36,
    TOPO_IO_LINKS = 4,
    TOPO_M_CPU = 1,
    TOPO_SRAM = 2,
    TOPO_FIRST_HBM = 11,
    TOPO_FIRST_PE = 13,

    TOPO_HOPS = 202,
    TOPO_LEGS = 174,
    TOPO_SEGMENTS = 64, /* of a kind */
    SEG_LOCAL = 0,     /* [pe][unit] */
    SEG_OUT = 10,         /* [pe][exit] */
    SEG_PASS = 20,       /* [side][exit] */
    SEG_IN = 40,           /* [side][unit] */
    SEG_HOST = 60,       /* host to shoreline */
    SEG_HOST_IN = 61, /* [slice] */
    SEG_CROSS = 63,     /* shoreline to shoreline of another SIP */
    SEG_ARRIVE = 0,   /* if it is not regular: the last part of that */
};

#endif
