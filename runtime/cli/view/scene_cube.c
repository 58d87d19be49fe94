/* scene_cube.c -- the picture of one cube: its points on the NoC to scale, PEs in two rows.
 *
 * From the middle of the picture outwards, in the upper row (the lower row is its mirror image):
 *
 *     the die      760 px wide on cube8, 50.66 px per mm; its dots, and units near their dots
 *     34 px        room for edges from the dots to the PEs
 *     PE           136 x 98 px: seven components in two columns
 *     14 px        then the crossbar's part of this PE, 96 x 30 px
 *     24 px        then the slice, 96 x 30 px
 *     230 px       together (STACK_H): where the die begins, from the top
 *
 * Order of work, in scene_cube(): place_die() chooses the scale; add_die() and add_points() add the
 * die and its dots; add_units() finds room for m_cpu, sram and the four ucie on the die, away from
 * dots and other boxes; columns and bridges follow around it; add_edge() draws each edge by the
 * function for its two ends: noc_way(), dma_way(), chain_way(), bridge_way(), slice_way().
 *
 * Invariants: an edge inside a PE is not drawn here (scene_pe.c has these); a link's two
 * directions have the same points in opposite order; edges keep to lanes of their own beside a PE,
 * those of the DMA at its left, those of the crossbar at its right.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
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
    PARTS = 7,
    NODES_MOST = 1024, /* of a cube of 64 PEs */
};

/* Components of a PE: two columns, from the rim outwards. */
static const struct part {
    const char *name, *label, *classes;
    int column, row;
} parts[PARTS] = {
    {"pe_dma", "pe_dma", "box", 0, 0},
    {"pe_cpu", "pe_cpu", "box", 1, 0},
    {"pe_fetch_store", "fetch_store", "box", 0, 1},
    {"pe_scheduler", "scheduler", "box", 1, 1},
    {"pe_gemm", "pe_gemm", "compute", 0, 2},
    {"pe_math", "pe_math", "compute", 1, 2},
    {"pe_tcm", "pe_tcm", "memory", 0, 3},
};

struct stack {
    double x; /* its middle */
};

struct cube {
    struct scene *sc;
    uint32_t sip, cube, first, nodes; /* of the topology; its noc come first */
    uint32_t planes;
    kb_cube has;
    uint32_t half;
    kb_limits limits;
    double scale, left, top, w, h;   /* the die, with room for its units */
    double zero_x, zero_y;           /* 0, 0 mm */
    double columns_x;                /* the left of the first column */
    uint32_t shown[NODES_MOST];      /* per node of the cube: its number in the scene */
    struct svg_point at[NODES_MOST]; /* and its dot, in px */
};

/* -- where things are ----------------------------------------------------------------------- */

/* Columns are as far apart as they need, or more if the die is wider. */
static struct stack stack_of(const struct cube *c, uint32_t pe)
{
    double step = fmax(COLUMN_W, c->w / c->half), all = step * c->half;

    return (struct stack){c->left + c->w / 2 - all / 2 + (pe % c->half + 0.5) * step};
}

static bool is_top(const struct cube *c, uint32_t pe)
{
    return pe < c->half;
}

/* The y that is `px` outwards from the rim of a PE's row. */
static double outwards(const struct cube *c, uint32_t pe, double px)
{
    return is_top(c, pe) ? c->top - px : c->top + c->h + px;
}

/* Adds a box with its middle at x, y; returns it. */
static struct scene_node *add_box(struct cube *c, const char *name, const char *label,
                                  const char *classes, double x, double y, double w, double h)
{
    uint32_t node = scene_find(c->sc, c->sip, c->cube, name);
    struct scene_node *n = scene_add_node(c->sc, SCENE_BOX, classes, x - w / 2, y - h / 2, w, h);

    scene_set_node(c->sc, n, node);
    scene_say(n->label, label);
    if (node - c->first < NODES_MOST)
        c->shown[node - c->first] = (uint32_t)c->sc->n_nodes - 1;
    return n;
}

/* -- columns -------------------------------------------------------------------------------- */

/* The outline of a PE, and its components in two columns, mirrored in the lower row. */
static void add_pe(struct cube *c, uint32_t pe)
{
    struct stack col = stack_of(c, pe);
    double y = outwards(c, pe, RIM_GAP + PE_H / 2.0);
    struct scene_node *n = scene_add_node(c->sc, is_top(c, pe) ? SCENE_OUTLINE : SCENE_UNDER,
                                          "plane", col.x - PE_W / 2.0, y - PE_H / 2.0, PE_W, PE_H);

    snprintf(n->name, sizeof n->name, "sip%u.cube%u.pe%u", c->sip, c->cube, pe);
    snprintf(n->label, sizeof n->label, "pe%u", pe);
    for (int i = 0; i < PARTS; i++) {
        const struct part *part = &parts[i];
        double out = RIM_GAP + CHIP_GAP + CHIP_H / 2.0 + part->row * (CHIP_H + CHIP_GAP);
        double x = col.x + (part->column - 0.5) * (CHIP_W + CHIP_GAP);
        char name[KB_NODE_BYTES];

        snprintf(name, sizeof name, "pe%u.%s", pe, part->name);
        add_box(c, name, part->label, part->classes, x, outwards(c, pe, out), CHIP_W, CHIP_H);
    }
}

/* The slices behind crossbar node `xbar`, side by side. */
static void add_slices(struct cube *c, uint32_t xbar, double x, double y)
{
    uint32_t first = (xbar * c->has.n_slices + c->has.crossbars - 1) / c->has.crossbars;
    uint32_t end = ((xbar + 1) * c->has.n_slices + c->has.crossbars - 1) / c->has.crossbars;
    double w = (double)XBAR_W / (end > first ? end - first : 1);

    for (uint32_t slice = first; slice < end; slice++) {
        char name[KB_NODE_BYTES], label[SCENE_LABEL_BYTES];

        snprintf(name, sizeof name, "hbm_ctrl.slice%u", slice);
        snprintf(label, sizeof label, end - first == 1 ? "slice%u" : "%u", slice);
        add_box(c, name, label, "memory", x - XBAR_W / 2.0 + (slice - first + 0.5) * w, y,
                end - first == 1 ? w : w - 2, SLICE_H);
    }
}

/* The place of a PE that is missing. */
static void add_missing_pe(struct cube *c, uint32_t pe)
{
    double y = outwards(c, pe, RIM_GAP + PE_H / 2.0);
    struct scene_node *n = scene_add_node(c->sc, SCENE_BOX, "dash", stack_of(c, pe).x - PE_W / 2.0,
                                          y - PE_H / 2.0, PE_W, PE_H);

    n->missing = true;
    snprintf(n->name, sizeof n->name, "sip%u.cube%u.pe%u", c->sip, c->cube, pe);
    snprintf(n->label, sizeof n->label, "pe%u", pe);
    strcpy(n->detail, "missing");
}

/* From the rim outwards: the PE, if it is there, its crossbar node, the slices behind that. */
static void add_column(struct cube *c, uint32_t pe)
{
    struct stack col = stack_of(c, pe);
    double xbar = RIM_GAP + PE_H + XBAR_GAP + XBAR_H / 2.0;
    double slice = xbar + XBAR_H / 2.0 + SLICE_GAP + SLICE_H / 2.0;
    char name[KB_NODE_BYTES];

    if (c->has.pes >> pe & 1)
        add_pe(c, pe);
    else if (pe < c->has.pe_places)
        add_missing_pe(c, pe);
    snprintf(name, sizeof name, "xbar.pe%u", pe);
    add_box(c, name, name, "box", col.x, outwards(c, pe, xbar), XBAR_W, XBAR_H);
    add_slices(c, pe, col.x, outwards(c, pe, slice));
}

static void add_bridges(struct cube *c)
{
    double right = c->left + c->w / 2 + (c->left + c->w / 2 - c->columns_x);

    if (c->has.crossbars < 2)
        return;
    add_box(c, "bridge.left", "bridge.left", "box", BRIDGE_W / 2.0, c->top + c->h / 2, BRIDGE_W,
            BRIDGE_H);
    add_box(c, "bridge.right", "bridge.right", "box",
            fmax(right, c->left + c->w) + BRIDGE_GAP + BRIDGE_W / 2.0, c->top + c->h / 2, BRIDGE_W,
            BRIDGE_H);
}

/* -- on the die ----------------------------------------------------------------------------- */

static bool overlaps(const struct scene_node *n, double x, double y, double w, double h)
{
    const double gap = 6;

    return x < n->x + n->w + gap && n->x < x + w + gap && y < n->y + n->h + gap &&
           n->y < y + h + gap;
}

/* Is there room for a unit with its middle there: on the die, and away from dots? */
static bool has_room(const struct cube *c, uint32_t first_unit, double x, double y)
{
    double left = x - UNIT_W / 2.0, top = y - UNIT_H / 2.0;

    if (left < c->left - OVER_PX || left + UNIT_W > c->left + c->w + OVER_PX || top < c->top + 3 ||
        top + UNIT_H > c->top + c->h - 3)
        return false;
    for (size_t i = first_unit; i < c->sc->n_nodes; i++)
        if (overlaps(&c->sc->node[i], left, top, UNIT_W, UNIT_H))
            return false;
    for (size_t i = 0; i < c->sc->n_dots; i++)
        if (c->sc->dot[i].x > left - 6 && c->sc->dot[i].x < left + UNIT_W + 6 &&
            c->sc->dot[i].y > top - 6 && c->sc->dot[i].y < top + UNIT_H + 6)
            return false;
    return true;
}

/* Is the line from a dot to its unit free of other units? */
static bool is_open(const struct cube *c, uint32_t first_unit, struct svg_point a, double x,
                    double y)
{
    for (size_t i = first_unit; i < c->sc->n_nodes; i++)
        if (overlaps(&c->sc->node[i], fmin(a.x, x), fmin(a.y, y), fabs(a.x - x), fabs(a.y - y)))
            return false;
    return true;
}

static double between(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* The middle of a unit at that distance from its dot, moved along the rim to stay on the die. */
static struct svg_point unit_at(const struct cube *c, struct svg_point at, const int way[2],
                                double lead)
{
    double x = at.x + way[0] * (lead + UNIT_W / 2.0), y = at.y + way[1] * (lead + UNIT_H / 2.0);
    double aside_x = UNIT_W / 2.0 - 5, aside_y = UNIT_H / 2.0 - 5;

    if (way[0] == 0)
        x = between(between(x, c->left + 4 + UNIT_W / 2.0, c->left + c->w - 4 - UNIT_W / 2.0),
                    at.x - aside_x, at.x + aside_x);
    else
        y = between(between(y, c->top + 4 + UNIT_H / 2.0, c->top + c->h - 4 - UNIT_H / 2.0),
                    at.y - aside_y, at.y + aside_y);
    return (struct svg_point){x, y};
}

/*
 * Places a unit as near to its dot as there is room: distances from LEAD_PX up in steps of 12 px,
 * and at each of them four ways, `dx`, `dy` first. A place is good if the unit overlaps neither a
 * dot nor another unit, and the line from the dot to it is free (is_open()). If there is none, the
 * nearest place is taken, and overlaps something: a picture of a very small die is better than
 * none.
 */
static void add_unit(struct cube *c, uint32_t first_unit, const char *name, const char *classes,
                     int dx, int dy)
{
    const int ways[][2] = {{dx, dy}, {dy, dx}, {-dy, -dx}, {-dx, -dy}};
    uint32_t node = scene_find(c->sc, c->sip, c->cube, name);
    struct svg_point at = c->at[node - c->first], place = unit_at(c, at, ways[0], LEAD_PX);
    bool found = false;

    for (double lead = LEAD_PX; lead < LEAD_MOST_PX && !found; lead += 12)
        for (int i = 0; i < 4 && !found; i++) {
            struct svg_point tried = unit_at(c, at, ways[i], lead);

            found = has_room(c, first_unit, tried.x, tried.y) &&
                    is_open(c, first_unit, at, ways[i][0] ? tried.x : at.x,
                            ways[i][1] ? tried.y : at.y);
            if (found)
                place = tried;
        }
    add_box(c, name, name, classes, place.x, place.y, UNIT_W, UNIT_H);
}

/* The ports of one side for all planes: in the middle of it, upright at E and W, level at N and S.
 */
static void add_ports(struct cube *c, uint32_t first_unit, const char *name, int dx, int dy)
{
    char full[KB_NODE_BYTES];

    if (c->planes == 1) {
        add_unit(c, first_unit, scene_plane_name(c->sc, name, 0, full), "io", dx, dy);
        return;
    }
    for (uint32_t plane = 0; plane < c->planes; plane++) {
        scene_plane_name(c->sc, name, plane, full);
        uint32_t node = scene_find(c->sc, c->sip, c->cube, full);
        double lead = LEAD_PX + PLANE_LANE_PX * c->planes, row = plane - (c->planes - 1) / 2.0;
        const struct svg_point *at = &c->at[node - c->first];
        bool fits = svg_text_width(full, 9) <= PORT_W - 2;

        add_box(c, full, fits ? full : strchr(full, '.') + 1, "io",
                at->x + dx * (lead + PORT_W / 2.0) + (dx ? 0 : row * (PORT_W + 4)),
                at->y + dy * (lead + PORT_H / 2.0) + (dy ? 0 : row * (PORT_H + 4)), PORT_W, PORT_H);
    }
}

/* ucie ports stand inside the die, away from their side; m_cpu below its dot, the SRAM beside it.
 */
static void add_units(struct cube *c)
{
    uint32_t first_unit = (uint32_t)c->sc->n_nodes;

    add_ports(c, first_unit, "ucie-N", 0, 1);
    add_ports(c, first_unit, "ucie-S", 0, -1);
    add_ports(c, first_unit, "ucie-W", 1, 0);
    add_ports(c, first_unit, "ucie-E", -1, 0);
    add_unit(c, first_unit, "m_cpu", "compute", 0, 1);
    add_unit(c, first_unit, "sram", "memory", 1, 0);
}

/* The dots of all components. A PE has one dot, that of its crossbar. */
static void add_points(struct cube *c)
{
    for (uint32_t i = 0; i < c->nodes; i++) {
        kb_node info;

        if (kb_node_get(c->sc->cli->topo, c->first + i, &info) != KB_OK || !info.placed)
            continue;
        c->at[i] =
            (struct svg_point){c->zero_x + info.x_mm * c->scale, c->zero_y + info.y_mm * c->scale};
        if (strncmp(info.kind, "pe_", 3) != 0)
            scene_add_dot(c->sc, c->first + i, c->at[i].x, c->at[i].y);
    }
}

static void add_die(struct cube *c)
{
    struct scene_node *n = scene_add_node(c->sc, SCENE_PLANE, "plane", c->left, c->top, c->w, c->h);
    char w[SVG_NUMBER_BYTES], h[SVG_NUMBER_BYTES], noc[9] = "noc";

    scene_set_node(c->sc, n, c->first);
    for (uint32_t plane = 0; plane < c->planes; plane++)
        c->shown[plane] = (uint32_t)c->sc->n_nodes - 1;
    if (c->planes > 1)
        snprintf(noc, sizeof noc, "%hhu nocs", (unsigned char)c->planes);
    snprintf(n->label, sizeof n->label, "%s, %.12s \xc3\x97 %.12s mm", noc,
             svg_short(c->limits.cube_w_mm, 3, w), svg_short(c->limits.cube_h_mm, 3, h));
}

/* -- edges ---------------------------------------------------------------------------------- */

/* The number after the last "pe" or "slice" of a name. */
static uint32_t number_of(const char *name)
{
    const char *p = strstr(name, ".pe");
    uint32_t n = 0;

    p = p ? p + 3 : strstr(name, ".slice") ? strstr(name, ".slice") + 6 : "";
    for (; *p >= '0' && *p <= '9'; p++)
        n = 10 * n + (uint32_t)(*p - '0');
    return n;
}

static const struct scene_node *box_of(const struct cube *c, uint32_t node)
{
    return &c->sc->node[c->shown[node - c->first]];
}

static bool is(const kb_node *n, const char *kind)
{
    return strcmp(n->kind, kind) == 0;
}

static double middle_x(const struct scene_node *n)
{
    return n->x + n->w / 2;
}

static double middle_y(const struct scene_node *n)
{
    return n->y + n->h / 2;
}

/* The side of a box that faces `y`. */
static double side_y(const struct scene_node *n, double y)
{
    return y < middle_y(n) ? n->y : n->y + n->h;
}

/* From the dot of a port to its box among those of the other planes, by a lane of its own. */
static uint32_t port_way(const struct cube *c, uint32_t plane, uint32_t node, const kb_node *info,
                         struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *box = box_of(c, node);
    struct svg_point at = c->at[node - c->first], to = {middle_x(box), middle_y(box)};
    double lane = 10 + PLANE_LANE_PX * plane;
    bool level = strstr(info->name, "ucie-E") || strstr(info->name, "ucie-W");
    struct svg_point bend = {at.x + (to.x > at.x ? lane : -lane),
                             at.y + (to.y > at.y ? lane : -lane)};

    way[0] = at;
    way[1] = level ? (struct svg_point){bend.x, at.y} : (struct svg_point){at.x, bend.y};
    way[2] = level ? (struct svg_point){bend.x, to.y} : (struct svg_point){to.x, bend.y};
    way[3] = level ? (struct svg_point){at.x < to.x ? box->x : box->x + box->w, to.y}
                   : (struct svg_point){to.x, side_y(box, at.y)};
    return 4;
}

/* The points of an edge from the NoC to a node, in that order; returns how many. */
static uint32_t noc_way(const struct cube *c, uint32_t plane, uint32_t node, const kb_node *info,
                        struct svg_point way[SCENE_BENDS_MAX])
{
    double aside = PLANE_LANE_PX * (2 * plane - (c->planes - 1.0));
    double outer = PLANE_LANE_PX * plane;

    const struct scene_node *box = box_of(c, node);
    struct svg_point at = c->at[node - c->first];
    uint32_t pe = number_of(info->name);
    double x = middle_x(box) + (is(info, "xbar") ? 0 : between(aside, -24, 24));
    double lane = fmin((is(info, "xbar") ? 8 : 18) + outer, RIM_GAP - 3);

    if (is(info, "ucie") && c->planes > 1)
        return port_way(c, plane, node, info, way);
    if (is(info, "m_cpu") || is(info, "sram") || is(info, "ucie")) {
        bool level = at.y > box->y && at.y < box->y + box->h;

        *(level ? &at.y : &at.x) += c->planes > 1 ? between(aside, -10, 10) : 0;
        way[0] = at;
        way[1] = level ? (struct svg_point){at.x < x ? box->x : box->x + box->w, at.y}
                       : (struct svg_point){at.x, side_y(box, at.y)};
        return 2;
    }
    double level = outwards(c, pe, lane);
    way[0] = at;
    way[1] = (struct svg_point){at.x, level};
    if (!is(info, "xbar")) {
        way[2] = (struct svg_point){x, level};
        way[3] = (struct svg_point){x, side_y(box, level)};
        return 4;
    }
    struct stack col = stack_of(c, pe);
    double up = col.x + PE_W / 2.0 + 9 + fmin(outer, 12), inner = fmin(7 + outer, 13);
    double y = middle_y(box) + (is_top(c, pe) ? inner : -inner);
    way[2] = (struct svg_point){up, level};
    way[3] = (struct svg_point){up, y};
    way[4] = (struct svg_point){box->x + box->w, y};
    return 5;
}

/* From pe_dma past its PE to the crossbar. */
static uint32_t dma_way(const struct cube *c, uint32_t dma, uint32_t xbar, uint32_t pe,
                        struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, dma), *b = box_of(c, xbar);
    double x = stack_of(c, pe).x - PE_W / 2.0 - 9, y = middle_y(b) + (is_top(c, pe) ? 7 : -7);

    way[0] = (struct svg_point){a->x, middle_y(a)};
    way[1] = (struct svg_point){x, middle_y(a)};
    way[2] = (struct svg_point){x, y};
    way[3] = (struct svg_point){b->x, y};
    return 4;
}

/* The chain and the bridges leave a crossbar on its outer half. */
static double chain_y(const struct cube *c, const struct scene_node *xbar, uint32_t pe)
{
    return middle_y(xbar) + (is_top(c, pe) ? -7 : 7);
}

static uint32_t bridge_way(const struct cube *c, uint32_t xbar, uint32_t bridge, uint32_t pe,
                           struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, xbar), *b = box_of(c, bridge);
    double y = chain_y(c, a, pe);
    bool east = middle_x(b) > middle_x(a);

    way[0] = (struct svg_point){east ? a->x + a->w : a->x, y};
    way[1] = (struct svg_point){middle_x(b), y};
    way[2] = (struct svg_point){middle_x(b), side_y(b, y)};
    return 3;
}

static uint32_t chain_way(const struct cube *c, uint32_t from, uint32_t to, uint32_t pe,
                          struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, from), *b = box_of(c, to);
    double y = chain_y(c, a, pe);
    bool east = middle_x(b) > middle_x(a);

    way[0] = (struct svg_point){east ? a->x + a->w : a->x, y};
    way[1] = (struct svg_point){east ? b->x : b->x + b->w, y};
    return 2;
}

static uint32_t slice_way(const struct cube *c, uint32_t xbar, uint32_t slice,
                          struct svg_point way[SCENE_BENDS_MAX])
{
    const struct scene_node *a = box_of(c, xbar), *b = box_of(c, slice);

    way[0] = (struct svg_point){middle_x(a), side_y(a, middle_y(b))};
    way[1] = (struct svg_point){middle_x(b), side_y(b, middle_y(a))};
    return 2;
}

/* The points of an edge; 0: it is inside a PE, and not drawn. */
static uint32_t find_way(const struct cube *c, const kb_edge *edge, const kb_node *from,
                         const kb_node *to, struct svg_point way[SCENE_BENDS_MAX])
{
    uint32_t pe = number_of(from->name);

    if (is(from, "noc"))
        return noc_way(c, edge->from - c->first, edge->to, to, way);
    if (is(from, "pe_dma") && is(to, "xbar"))
        return dma_way(c, edge->from, edge->to, pe, way);
    if (!is(from, "xbar"))
        return 0;
    if (is(to, "hbm_ctrl"))
        return slice_way(c, edge->from, edge->to, way);
    if (is(to, "bridge"))
        return bridge_way(c, edge->from, edge->to, pe, way);
    return is(to, "xbar") ? chain_way(c, edge->from, edge->to, pe, way) : 0;
}

static bool is_inside(const struct cube *c, uint32_t node)
{
    return node >= c->first && node < c->first + c->nodes;
}

/* Edges are given once per direction. The way of the one is that of the other, backwards. */
static void add_edge(void *arg, const kb_edge *edge)
{
    struct cube *c = arg;
    struct svg_point way[SCENE_BENDS_MAX];
    kb_node from, to;

    if (!is_inside(c, edge->from) || !is_inside(c, edge->to) ||
        kb_node_get(c->sc->cli->topo, edge->from, &from) != KB_OK ||
        kb_node_get(c->sc->cli->topo, edge->to, &to) != KB_OK)
        return;
    uint32_t n = find_way(c, edge, &from, &to, way);
    bool turned = n == 0;
    if (turned)
        n = find_way(c, &(kb_edge){.from = edge->to, .to = edge->from}, &to, &from, way);
    if (n == 0)
        return;
    struct scene_edge *e =
        scene_add_edge(c->sc, edge, c->shown[edge->from - c->first], c->shown[edge->to - c->first]);
    for (uint32_t i = 0; i < n; i++)
        scene_bend(e, way[turned ? n - 1 - i : i].x, way[turned ? n - 1 - i : i].y);
}

/* -- the cube ------------------------------------------------------------------------------- */

enum { DIE_LEAST_W = 330, DIE_LEAST_H = 230, DIE_MOST_H = 6000, SCALE_DIE_MOST = 4000 };

/*
 * The die is as wide as the columns of one row of PEs, 4 * 190 px on cube8, but a very flat or
 * very high one is made smaller or larger, within limits. What is not to scale stands around it:
 * bridges of 76 px, 40 px away from the columns, at both sides, and a stack of 230 px above and
 * below.
 */
static void place_die(struct cube *c)
{
    double w_mm = c->limits.cube_w_mm, h_mm = c->limits.cube_h_mm;
    double planes =
        c->planes > 1 ? c->planes : 0; /* a row of ports above, between columns of them */
    double least_w = fmax(DIE_LEAST_W, planes * (PORT_W + 4) + 40);
    double least_h = fmax(DIE_LEAST_H, planes * (PORT_H + 4) +
                                           2 * (LEAD_PX + planes * PLANE_LANE_PX + PORT_H + 10));
    double wanted_w = fmax(c->half * COLUMN_W, least_w + 1);
    double scale = scene_scale(w_mm, h_mm, wanted_w, INFINITY, SCALE_DIE_MOST);

    if (h_mm * scale < least_h)
        scale = scene_scale(w_mm, h_mm, 2 * wanted_w, least_h + 1, SCALE_DIE_MOST);
    if (h_mm * scale > DIE_MOST_H)
        scale = scene_scale(w_mm, h_mm, wanted_w, DIE_MOST_H, SCALE_DIE_MOST);
    c->scale = scale;
    c->w = fmax(w_mm * scale, least_w);
    c->h = fmax(h_mm * scale, least_h);
    double columns_w = fmax(COLUMN_W * c->half, c->w);
    double side = c->has.crossbars > 1 ? BRIDGE_W + BRIDGE_GAP : 0;
    c->columns_x = side;
    c->left = side + columns_w / 2 - c->w / 2;
    c->top = STACK_H;
    c->zero_x = c->left + (c->w - w_mm * scale) / 2;
    c->zero_y = c->top + (c->h - h_mm * scale) / 2;
    c->sc->scale = scale;
    c->sc->width = 2 * side + columns_w;
    c->sc->height = c->h + (c->has.crossbars > 1 ? 2 : 1) * STACK_H;
}

static struct cube cube_of(struct scene *sc, struct view_at at)
{
    struct cube c = {.sc = sc, .sip = at.sip, .cube = at.cube};
    kb_node node;
    char noc[KB_NODE_BYTES];

    kb_cube_get(sc->cli->topo, at.sip, at.cube, &c.has);
    c.half = (c.has.crossbars + 1) / 2;
    c.planes = sc->cli->info.planes;
    c.first = scene_find(sc, at.sip, at.cube, scene_plane_name(sc, "noc", 0, noc));
    while (kb_node_get(sc->cli->topo, c.first + c.nodes, &node) == KB_OK && node.cube == at.cube &&
           node.sip == at.sip)
        c.nodes++;
    kb_topology_limits(sc->cli->topo, &c.limits);
    return c;
}

void scene_cube(struct scene *sc, struct view_at at)
{
    struct cube c = cube_of(sc, at);
    char sip[16] = "";

    place_die(&c);
    if (at.sip > 0)
        snprintf(sip, sizeof sip, "s%u.", at.sip);
    snprintf(sc->title, sizeof sc->title, "Cube %sc%u", sip, at.cube);
    sc->note = "The NoC's plane and the points where components meet it (dots) are to scale.";
    add_die(&c);
    add_points(&c);
    add_units(&c);
    for (uint32_t pe = 0; pe < c.has.crossbars; pe++)
        add_column(&c, pe);
    add_bridges(&c);
    kb_edges(sc->cli->topo, add_edge, &c);
}
