/*
 * scene_tray.c -- the picture of the tray: its SIPs, IO chiplets as boxes, what joins them.
 *
 * SIPs behind a switch stand in rows and columns, so that the whole is about as wide as a page.
 * Links to the switch go up in lanes of 8 px beside each column, one lane for each row, so that
 * they do not overlap. SIPs of a grid stand as in the grid: links to the east run below a row,
 * those to the south beside a column, and one that wraps around is drawn as two stubs, each with
 * the name of the SIP at the other end. Links between cubes are drawn as in the picture of a SIP;
 * where they wrap around, their stubs stand between the mesh and the IO chiplets. More than 4096
 * cubes are drawn as one box per SIP. A cube has the colour of its busiest part, except channels of
 * DMAs: these are held while their transactions wait elsewhere.
 *
 * Switches of rails stand in rows above the SIPs, and a link of rails is a straight line from the
 * middle of a cube to that of a switch or of another cube.
 *
 * Example, tray32: two SIPs of 16 cubes. The switch is a bar of 24 px over the whole width, 34 px
 * above the SIPs; each has a lane of 8 px at its left, and 16 px for the label of that lane.
 *
 * Invariants: all SIPs have the same size; sip_at() has the one formula for their places.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/view/scene_mesh.h"
#include "cli/out/memory.h"

enum {
    IO_PX = 58,      /* an IO chiplet at W or E */
    IO_HIGH_PX = 34, /* at N or S */
    IO_LEAST_PX = 60,
    LANE_PX = 8,   /* for each link to the switch */
    LABEL_PX = 16, /* for labels beside the lanes */
    GRID_PX = 40,  /* for lanes of a grid, and stubs of it */
    SWITCH_PX = 24,
    RAIL_PX = 46,      /* a switch of rails */
    RAILS_MANY = 200,  /* links: more would hide what is behind them */
    RAIL_GAP_PX = 10,  /* between two */
    ROW_PX = 34,       /* between SIPs */
    TILES_MOST = 4096, /* cubes that are shown one by one */
};

/* The rows and columns of SIPs, and the size of one, in px. */
struct tray {
    struct mesh *m;
    uint32_t columns, rows, switch_node;
    uint32_t first_rail, rails_a_row; /* switches of rails */
    double head;                      /* what stands above the SIPs */
    double lanes;                     /* the width of lanes, at the side of the first IO chiplet */
    double left, top, right, bottom;  /* around the mesh, with IO chiplets, without the shore */
    double mesh_w, mesh_h;            /* with the shore */
    double stub_w, stub_h;            /* on each side of that: of links that wrap around */
    double sip_w, sip_h;
    bool grid;
    struct sip_place *places;
};

/* -- places --------------------------------------------------------------------------------- */

static bool has_io(const struct mesh *m, enum side side)
{
    for (uint32_t i = 0; i < m->chiplets; i++)
        if (m->chiplet_side[i] == side)
            return true;
    return false;
}

static bool lanes_are_east(const struct mesh *m)
{
    return m->chiplet_side[0] == SIDE_E;
}

/* As many columns as make the whole 1.4 times as wide as high, about the shape of a page. */
static void set_columns(struct tray *t, double w_mm, double h_mm)
{
    const kb_info *info = &t->m->sc->cli->info;
    double aspect = fmax((w_mm + 8) / fmax(h_mm + 4, 1e-6), 1e-6);

    t->columns = (uint32_t)fmin(info->sips, ceil(sqrt(info->sips / aspect * 1.4)));
    if (t->grid)
        t->columns = info->grid_w;
    t->rows = (info->sips + t->columns - 1) / t->columns;
}

static struct tray tray_of(struct mesh *m)
{
    uint32_t sips = m->sc->cli->info.sips;
    struct tray t = {.m = m, .switch_node = SCENE_NONE, .grid = m->sc->cli->info.grid_w > 0};
    double w_mm = m->w_mm + (m->has_shore[SIDE_W] + m->has_shore[SIDE_E]) * m->shore_mm;
    double h_mm = m->h_mm + (m->has_shore[SIDE_N] + m->has_shore[SIDE_S]) * m->shore_mm;

    set_columns(&t, w_mm, h_mm);
    t.lanes = t.grid ? GRID_PX : sips > 1 && !m->rail_links ? t.rows * LANE_PX + LABEL_PX : 0;
    t.stub_w = m->wraps_x ? STUB_ROOM_PX : 0;
    t.stub_h = m->wraps_y ? STUB_ROOM_PX : 0;
    t.left =
        MESH_PAD + t.stub_w + (has_io(m, SIDE_W) ? IO_PX : 0) + (lanes_are_east(m) ? 0 : t.lanes);
    t.right =
        MESH_PAD + t.stub_w + (has_io(m, SIDE_E) ? IO_PX : 0) + (lanes_are_east(m) ? t.lanes : 0);
    t.top = MESH_OUTLINE_TOP + t.stub_h + (has_io(m, SIDE_N) ? IO_HIGH_PX : 0);
    t.bottom = MESH_PAD + t.stub_h + (has_io(m, SIDE_S) ? IO_HIGH_PX : 0);
    double w = sips > 1 ? 1040 : 1160, h = sips > 1 ? 680 : 840; /* in px, for all SIPs */
    m->scale = scene_scale(w_mm, h_mm, fmax(w / t.columns - t.left - t.right - MESH_PAD, 90),
                           fmax(h / t.rows - t.top - t.bottom, 60), MESH_SCALE_MOST);
    t.mesh_w = w_mm * m->scale;
    t.mesh_h = h_mm * m->scale;
    t.sip_w = t.left + t.mesh_w + t.right;
    t.sip_h = t.top + fmax(t.mesh_h, IO_LEAST_PX) + t.bottom;
    return t;
}

static double row_px(const struct tray *t)
{
    return t->grid ? ROW_PX + GRID_PX : ROW_PX;
}

/* The upper left of a SIP, with its lanes. */
static struct svg_point sip_at(const struct tray *t, uint32_t sip)
{
    return (struct svg_point){sip % t->columns * (t->sip_w + ROW_PX),
                              t->head + sip / t->columns * (t->sip_h + row_px(t))};
}

/* -- SIPs ----------------------------------------------------------------------------------- */

static void add_outline(const struct tray *t, uint32_t sip)
{
    struct svg_point at = sip_at(t, sip);
    struct scene_node *n = scene_add_node(t->m->sc, SCENE_OUTLINE, "dash",
                                          at.x + (lanes_are_east(t->m) ? 0 : t->lanes), at.y,
                                          t->sip_w - t->lanes, t->sip_h);

    snprintf(n->name, sizeof n->name, "sip%u", sip);
    snprintf(n->label, sizeof n->label, "SIP %u", sip);
}

/* An IO chiplet: one box along its side of the mesh. */
static void add_io(const struct tray *t, struct sip_place *p, uint32_t chiplet)
{
    struct mesh *m = p->mesh;
    struct svg_point at = sip_at(t, p->sip);
    double h = t->sip_h - t->top - t->bottom, rim;
    struct scene_node *n = scene_add_node(m->sc, SCENE_BOX, "io", at.x + t->left, at.y + t->top,
                                          t->mesh_w, IO_HIGH_PX);
    uint32_t first = mesh_first_io(m, p->sip) + 3 * chiplet;
    char sip[16] = "", number[16] = "";

    switch (m->chiplet_side[chiplet]) {
    case SIDE_W:
    case SIDE_E:
        rim = m->chiplet_side[chiplet] == SIDE_W ? n->x - t->stub_w : n->x + n->w + t->stub_w;
        n->x = m->chiplet_side[chiplet] == SIDE_W ? rim - IO_PX : rim;
        n->w = IO_PX;
        n->h = h;
        break;
    case SIDE_N:
        rim = n->y - t->stub_h;
        n->y = rim - IO_HIGH_PX;
        break;
    default:
        rim = n->y += h + t->stub_h;
    }
    p->io[chiplet] = (struct io_place){.rim = rim, .io = (uint32_t)m->sc->n_nodes - 1};
    if (p->sip > 0)
        snprintf(sip, sizeof sip, "s%u.", p->sip);
    if (chiplet > 0)
        snprintf(number, sizeof number, "%u", chiplet);
    snprintf(n->name, sizeof n->name, "sip%u.io%u", p->sip, chiplet);
    snprintf(n->label, sizeof n->label, "io%u", chiplet);
    snprintf(n->detail, sizeof n->detail, "%shost%s", sip, number);
    n->pct = view_utilization_most(m->sc->utilization, first, first + 3);
}

static void add_sip(const struct tray *t, uint32_t sip)
{
    struct mesh *m = t->m;
    struct sip_place *p = &t->places[sip];
    struct svg_point at = sip_at(t, sip);
    double shore = m->shore_mm * m->scale, free_h = t->sip_h - t->top - t->bottom - t->mesh_h;

    *p = (struct sip_place){.mesh = m, .sip = sip};
    p->x = at.x + t->left + (m->has_shore[SIDE_W] ? shore : 0);
    p->y = at.y + t->top + free_h / 2 + (m->has_shore[SIDE_N] ? shore : 0);
    add_outline(t, sip);
    for (uint32_t i = 0; i < m->chiplets; i++)
        add_io(t, p, i);
    mesh_add_cubes(p);
}

/* -- between SIPs --------------------------------------------------------------------------- */

/* The middle of the side of the first chiplet's box that faces the lanes. */
static struct svg_point exit_at(const struct tray *t, const struct scene_node *io, double part)
{
    return (struct svg_point){lanes_are_east(t->m) ? io->x + io->w : io->x, io->y + part * io->h};
}

/* From the IO chiplet by a lane up to the switch. */
static void add_fabric(const struct tray *t, const kb_edge *edge, bool out)
{
    struct scene *sc = t->m->sc;
    uint32_t sip = t->m->seat[out ? edge->from : edge->to].sip, io = t->places[sip].io[0].io;
    struct scene_edge *e =
        scene_add_edge(sc, edge, out ? io : t->switch_node, out ? t->switch_node : io);
    const struct scene_node *to = &sc->node[t->switch_node];
    double lane = (t->rows - 1 - sip / t->columns) * LANE_PX + 4, x = sip_at(t, sip).x;

    struct svg_point a = exit_at(t, &sc->node[io], 0.5);
    double up = lanes_are_east(t->m) ? x + t->sip_w - lane : x + lane;
    struct svg_point at[3] = {a, {up, a.y}, {up, to->y + to->h}};
    for (int i = 0; i < 3; i++)
        scene_bend(e, at[out ? i : 2 - i].x, at[out ? i : 2 - i].y);
}

/*
 * The way from SIP `a` to its neighbour `b` in the east (`level`) or south, which may be around the
 * grid: then it is two stubs. A link to the east leaves the lower side of the chiplet, or the upper
 * side of one in the north; one to the south leaves towards the lanes.
 */
static void grid_way(const struct tray *t, uint32_t a, uint32_t b, bool level, bool wraps,
                     struct svg_point way[4])
{
    const struct scene *sc = t->m->sc;
    const struct scene_node *from = &sc->node[t->places[a].io[0].io];
    const struct scene_node *to = &sc->node[t->places[b].io[0].io];

    if (level) {
        bool north = t->m->chiplet_side[0] == SIDE_N;
        double y = north ? from->y : from->y + from->h, rim = sip_at(t, a).y;
        double lane =
            wraps ? (north ? y - STUB_PX : y + STUB_PX) : (north ? rim - 12 : rim + t->sip_h + 12);

        way[0] = (struct svg_point){from->x + 0.75 * from->w, y};
        way[1] = (struct svg_point){way[0].x, lane};
        way[3] = (struct svg_point){to->x + 0.25 * to->w, y};
        way[2] = (struct svg_point){way[3].x, lane};
        return;
    }
    bool east = lanes_are_east(t->m);
    way[0] = exit_at(t, from, 0.7);
    way[3] = exit_at(t, to, 0.3);
    double x = sip_at(t, a).x;
    double lane = wraps ? way[0].x + (east ? STUB_PX : -STUB_PX)
                        : x + (east ? t->sip_w - t->lanes + 12 : t->lanes - 12);
    way[1] = (struct svg_point){lane, way[0].y};
    way[2] = (struct svg_point){lane, way[3].y};
}

/* Between SIPs of a grid. The topology lists each link first from its west or north end. */
static void add_grid(const struct tray *t, const kb_edge *edge)
{
    struct scene *sc = t->m->sc;
    uint32_t from = t->m->seat[edge->from].sip, to = t->m->seat[edge->to].sip;
    struct scene_edge *e =
        scene_add_edge(sc, edge, t->places[from].io[0].io, t->places[to].io[0].io);
    uint32_t a = e->back ? to : from, b = e->back ? from : to;
    bool level = a / t->columns == b / t->columns;
    bool wraps = b != a + (level ? 1 : t->columns);
    struct svg_point way[4];

    grid_way(t, a, b, level, wraps, way);
    e->stubs = wraps;
    for (int i = 0; i < 4; i++)
        scene_bend(e, way[e->back ? 3 - i : i].x, way[e->back ? 3 - i : i].y);
    if (!wraps || e->back)
        return;
    enum side side = !level                            ? (lanes_are_east(t->m) ? SIDE_E : SIDE_W)
                     : t->m->chiplet_side[0] == SIDE_N ? SIDE_N
                                                       : SIDE_S;
    mesh_note(sc, way[1], side, "s", b);
    mesh_note(sc, way[2], side, "s", a);
}

/* The middle of what an end of a rail belongs to, and its node of the scene. */
static struct svg_point rail_end(const struct tray *t, const struct seat *seat, uint32_t *node)
{
    const struct sip_place *p = &t->places[seat->sip];
    const struct scene_node *n;

    *node = seat->part == SEAT_RAIL ? t->first_rail + seat->cube
                                    : p->first_cube + (t->m->tiles ? seat->cube : 0);
    n = &t->m->sc->node[*node];
    return (struct svg_point){n->x + n->w / 2, n->y + n->h / 2};
}

static void add_rail(const struct tray *t, const kb_edge *edge)
{
    uint32_t from, to;
    struct svg_point a = rail_end(t, &t->m->seat[edge->from], &from);
    struct svg_point b = rail_end(t, &t->m->seat[edge->to], &to);
    struct scene_edge *e = scene_add_edge(t->m->sc, edge, from, to);

    e->of_net = true;
    e->thin = t->m->rail_links > RAILS_MANY;
    scene_bend(e, a.x, a.y);
    scene_bend(e, b.x, b.y);
}

static void add_edge(void *arg, const kb_edge *edge)
{
    const struct tray *t = arg;
    const struct seat *a = &t->m->seat[edge->from], *b = &t->m->seat[edge->to];

    if (mesh_is_rail(t->m, edge))
        add_rail(t, edge);
    else if (a->part == SEAT_RAIL)
        return; /* inside of a switch */
    else if (a->part == SEAT_SWITCH || b->part == SEAT_SWITCH)
        add_fabric(t, edge, b->part == SEAT_SWITCH);
    else if (a->part == SEAT_IO_NOC && b->part == SEAT_PORT)
        mesh_add_shore(&t->places[a->sip], edge, false);
    else if (a->part == SEAT_PORT && b->part == SEAT_IO_NOC)
        mesh_add_shore(&t->places[a->sip], edge, true);
    else if (a->part == SEAT_PCIE_EP && b->part == SEAT_PCIE_EP)
        add_grid(t, edge);
    else if (a->part == SEAT_PORT && b->part == SEAT_PORT && t->m->tiles)
        mesh_add_d2d(&t->places[a->sip], edge);
}

/* -- the picture ---------------------------------------------------------------------------- */

static void add_switch(struct tray *t)
{
    struct scene *sc = t->m->sc;
    struct scene_node *n = scene_add_node(sc, SCENE_BOX, "io", 0, 0, sc->width, SWITCH_PX);

    t->switch_node = 0;
    t->head = SWITCH_PX + ROW_PX;
    scene_set_node(sc, n, scene_find(sc, 0, KB_NO_CUBE, "fabric.switch0"));
    strcpy(n->label, "fabric.switch0");
    sc->height += t->head;
}

/* The switches of rails; one that is missing has no links. */
static void add_rails(struct tray *t)
{
    struct scene *sc = t->m->sc;
    uint32_t n = t->m->rails, rows;
    double step = RAIL_PX + RAIL_GAP_PX;

    t->first_rail = (uint32_t)sc->n_nodes;
    t->rails_a_row = (uint32_t)fmax((sc->width + RAIL_GAP_PX) / step, 1);
    if (t->rails_a_row > n)
        t->rails_a_row = n;
    rows = (n + t->rails_a_row - 1) / t->rails_a_row;
    for (uint32_t i = 0; i < n; i++) {
        double left = (sc->width - t->rails_a_row * step + RAIL_GAP_PX) / 2;
        struct scene_node *box = scene_add_node(
            sc, SCENE_BOX, "io", left + i % t->rails_a_row * step,
            i / t->rails_a_row * (double)(SWITCH_PX + RAIL_GAP_PX), RAIL_PX, SWITCH_PX);
        uint32_t node = 0;

        snprintf(box->name, sizeof box->name, "fabric.switch%u", i);
        if (kb_node_find(sc->cli->topo, box->name, strlen(box->name), &node) == KB_OK)
            scene_set_node(sc, box, node);
        snprintf(box->label, sizeof box->label, "sw%u", i);
    }
    t->head = rows * (double)(SWITCH_PX + RAIL_GAP_PX) + ROW_PX;
    sc->height += t->head;
}

void scene_system(struct scene *sc, struct view_at at)
{
    struct mesh m = mesh_of(sc);
    struct tray t = tray_of(&m);
    uint32_t sips = sc->cli->info.sips;

    (void)at;
    m.tiles = (uint64_t)sips * m.cubes <= TILES_MOST;
    sc->of_cubes = true;
    sc->lists_all = true;
    sc->scale = m.scale;
    sc->width = t.columns * (t.sip_w + ROW_PX) - ROW_PX;
    sc->height = t.rows * (t.sip_h + row_px(&t)) - (t.grid ? 0 : ROW_PX);
    strcpy(sc->title, t.grid         ? "The tray: a grid of SIPs"
                      : m.rail_links ? "The tray: SIPs and rails"
                      : sips > 1     ? "The tray: SIPs and the switch"
                                     : "The tray: one SIP");
    sc->note = m.tiles && (m.wraps_x || m.wraps_y)
                   ? "Cubes and gaps are to scale, IO chiplets and wires of the fabric are not; a "
                     "link that wraps around goes on at the cube that is named."
                   : "Cubes and gaps are to scale, IO chiplets and wires of the fabric are not.";
    if (m.rails)
        add_rails(&t);
    else if (sips > 1 && !t.grid && !m.rail_links)
        add_switch(&t);
    t.places = memory_new(sips, sizeof *t.places);
    for (uint32_t sip = 0; sip < sips; sip++)
        add_sip(&t, sip);
    kb_edges(sc->cli->topo, add_edge, &t);
    free(t.places);
    mesh_free(&m);
}
