/* scene_cube.h -- what the two files share that draw a cube: sizes, places, numbers of boxes. */
#ifndef SCENE_CUBE_H
#define SCENE_CUBE_H
#include <math.h>
#include "cli/view/scene.h"

/*
 * The die is the plane of the NoC, to scale, with a dot where a component meets it. PEs meet it at
 * its upper and lower rim, and stand outside in columns: PE, crossbar, slice. Other units (m_cpu,
 * sram, ucie) stand near their dot, where there is room, with a line to it.
 */
enum {
    CHIP_W = 62, /* a component inside a PE */
    CHIP_H = 16,
    CHIP_GAP = 4,
    PE_W = 2 * CHIP_W + 3 * CHIP_GAP,
    PE_H = 4 * (CHIP_H + CHIP_GAP) + CHIP_GAP + 14,
    COLUMN_W = PE_W + 54,
    RIM_GAP = 34, /* from the rim to a PE */
    XBAR_GAP = 14,
    XBAR_W = 96,
    XBAR_H = 30,
    SLICE_GAP = 24,
    SLICE_H = 30,
    STACK_H = RIM_GAP + PE_H + XBAR_GAP + XBAR_H + SLICE_GAP + SLICE_H,
    BRIDGE_W = 76,
    BRIDGE_H = 26,
    BRIDGE_GAP = 40, /* to the outermost column */
    UNIT_W = 66,     /* m_cpu, sram, ucie */
    UNIT_H = 28,
    LEAD_PX = 24, /* from a dot to its unit, at least */
    LEAD_MOST_PX = 400,
    PORT_W = 72, /* of one of several planes */
    PORT_H = 18,
    PLANE_LANE_PX = 4, /* between edges of planes */
    OVER_PX = 12,      /* by which a unit may overlap the rim */
    ROUTER_W = 30,     /* of a mesh */
    ROUTER_H = 16,
    PARTS = 7,
    NODES_MOST = 10240, /* of a cube of 64 PEs, with meshes of 8 planes */
};

struct stack {
    double x; /* its middle */
};

struct cube {
    struct scene *sc;
    uint32_t sip, cube, first, nodes; /* of the topology; its noc come first */
    uint32_t planes;
    bool is_mesh; /* the NoC */
    kb_cube has;
    uint32_t half;
    kb_limits limits;
    double scale, left, top, w, h;   /* the die, with room for its units */
    double zero_x, zero_y;           /* 0, 0 mm */
    double columns_x;                /* the left of the first column */
    uint32_t shown[NODES_MOST];      /* per node of the cube: its number in the scene */
    struct svg_point at[NODES_MOST]; /* and its dot, in px */
};

/* Columns are as far apart as they need, or more if the die is wider. */
struct stack stack_of(const struct cube *c, uint32_t pe);

/* The row of a PE, and the y that is `px` outwards from its rim. */
bool is_top(const struct cube *c, uint32_t pe);
double outwards(const struct cube *c, uint32_t pe, double px);

static inline double between(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* Draws all edges of the cube, between boxes that are there. */
void scene_cube_edges(struct cube *c);

#endif
