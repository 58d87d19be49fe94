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
 * dots and other boxes; columns and bridges follow around it; scene_cube_edges() draws each edge by
 * the function for its two ends: noc_way(), dma_way(), chain_way(), bridge_way(), slice_way().
 *
 * Invariants: an edge inside a PE is not drawn here (scene_pe.c has these); a link's two
 * directions have the same points in opposite order; edges keep to lanes of their own beside a PE,
 * those of the DMA at its left, those of the crossbar at its right.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/view/scene_cube.h"

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

/* -- where things are ----------------------------------------------------------------------- */

/* Columns are as far apart as they need, or more if the die is wider. */
struct stack stack_of(const struct cube *c, uint32_t pe)
{
    double step = fmax(COLUMN_W, c->w / c->half), all = step * c->half;

    return (struct stack){c->left + c->w / 2 - all / 2 + (pe % c->half + 0.5) * step};
}

bool is_top(const struct cube *c, uint32_t pe)
{
    return pe < c->half;
}

/* The y that is `px` outwards from the rim of a PE's row. */
double outwards(const struct cube *c, uint32_t pe, double px)
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

    if (c->has.pes[pe / 64] >> pe % 64 & 1)
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

/* The box of a router of a mesh, as large as there is room. */
static void add_router(struct cube *c, uint32_t i, const kb_node *info)
{
    double shift = PLANE_LANE_PX * ((i % c->planes) - (c->planes - 1) / 2.0);
    const char *name = strchr(strchr(info->name, '.') + 1, '.') + 1;
    struct scene_node *n =
        scene_add_node(c->sc, SCENE_BOX, "box", c->at[i].x + shift - ROUTER_W / 2.0,
                       c->at[i].y + shift - ROUTER_H / 2.0, ROUTER_W, ROUTER_H);

    scene_set_node(c->sc, n, c->first + i);
    scene_say(n->label, c->planes == 1 ? name : "");
    c->shown[i] = (uint32_t)c->sc->n_nodes - 1;
}

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

/* The ports of a net, each away from the side where it stands. */
static void add_net_ports(struct cube *c, uint32_t first_unit)
{
    for (uint32_t i = 0; i < c->nodes; i++) {
        kb_node info;
        const char *name;

        if (kb_node_get(c->sc->cli->topo, c->first + i, &info) != KB_OK ||
            !(name = strstr(info.name, ".port")))
            continue;
        bool west = info.x_mm <= 0, east = info.x_mm >= c->limits.cube_w_mm;

        add_unit(c, first_unit, name + 1, "io", west - east,
                 west || east                       ? 0
                 : info.y_mm >= c->limits.cube_h_mm ? -1
                                                    : 1);
    }
}

static bool has_node(const struct cube *c, const char *name)
{
    uint32_t node = scene_find(c->sc, c->sip, c->cube, name);

    return node >= c->first && node - c->first < c->nodes;
}

/* ucie ports stand inside the die, away from their side; m_cpu below its dot, the SRAM and an
 * L2 beside theirs. */
static void add_units(struct cube *c)
{
    uint32_t first_unit = (uint32_t)c->sc->n_nodes;
    char name[KB_NODE_BYTES];

    if (has_node(c, scene_plane_name(c->sc, "ucie-N", 0, name))) {
        add_ports(c, first_unit, "ucie-N", 0, 1);
        add_ports(c, first_unit, "ucie-S", 0, -1);
        add_ports(c, first_unit, "ucie-W", 1, 0);
        add_ports(c, first_unit, "ucie-E", -1, 0);
    } else {
        add_net_ports(c, first_unit);
    }
    if (has_node(c, "m_cpu")) { /* a switch has none */
        add_unit(c, first_unit, "m_cpu", "compute", 0, 1);
        add_unit(c, first_unit, "sram", "memory", 1, 0);
    }
    if (has_node(c, "l2"))
        add_unit(c, first_unit, "l2", "memory", 1, 0);
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
        if (strcmp(info.kind, "router") == 0)
            add_router(c, i, &info);
        else if (strncmp(info.kind, "pe_", 3) != 0)
            scene_add_dot(c->sc, c->first + i, c->at[i].x, c->at[i].y);
    }
}

static void add_die(struct cube *c)
{
    struct scene_node *n = scene_add_node(c->sc, SCENE_PLANE, "plane", c->left, c->top, c->w, c->h);
    char w[SVG_NUMBER_BYTES], h[SVG_NUMBER_BYTES], noc[9];

    snprintf(noc, sizeof noc, c->is_mesh ? "mesh" : "noc");
    if (!c->is_mesh) {
        scene_set_node(c->sc, n, c->first);
        for (uint32_t plane = 0; plane < c->planes; plane++)
            c->shown[plane] = (uint32_t)c->sc->n_nodes - 1;
    }
    if (c->planes > 1)
        snprintf(noc, sizeof noc, "%hhu nocs", (unsigned char)c->planes);
    snprintf(n->label, sizeof n->label, "%s, %.12s \xc3\x97 %.12s mm", noc,
             svg_short(c->limits.cube_w_mm, 3, w), svg_short(c->limits.cube_h_mm, 3, h));
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

    kb_cube_get(sc->cli->topo, at.sip, at.cube, &c.has);
    c.half = (c.has.crossbars + 1) / 2;
    c.planes = sc->cli->info.planes;
    c.first = scene_first(sc, at.sip, at.cube);
    c.is_mesh =
        kb_node_get(sc->cli->topo, c.first, &node) == KB_OK && strcmp(node.kind, "router") == 0;
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
    scene_cube_edges(&c);
}
