/*
 * scene_sip.c -- pictures of the tray, and of one SIP: cubes to scale, IO chiplets, links.
 *
 * The mesh is drawn from what the topology says of one SIP, since all are alike: the size of a
 * cube, the length of a link between cubes (the gap) and from the IO chiplet to the first column
 * (the shore). One scale fits all of it into the picture, at most 16 px per mm. The IO chiplet
 * stands at the left, in px: in the picture of one SIP with its three parts, in the tray as one
 * box.
 *
 * In the tray SIPs stand in rows and columns, so that the whole is about as wide as a page. Links
 * to the switch go up in lanes of 8 px at the left of each column, one lane for each row, so that
 * they do not overlap. More than 4096 cubes are drawn as one box per SIP. A cube has the colour of
 * its busiest part, except channels of DMAs: these are held while their transactions wait
 * elsewhere.
 *
 * Example, `view sip` on cube8: a mesh of 4 x 2 cubes of 15 x 11 mm, 1 mm apart, fits at the
 * largest scale, 16 px per mm. c0 is 240 x 176 px, from (198, 22); c1 begins (15 + 1) * 16 = 256
 * px further right, c4 (11 + 1) * 16 = 192 px further down.
 *
 * Invariants: the nodes of a SIP's cubes are consecutive in the scene, from `first_cube`, so that
 * an edge finds its two cubes by division (cube_of_port()); each edge of the topology becomes one
 * edge of the scene, or none, if it is inside a cube; two directions of a link have one place, and
 * the format draws them side by side.
 *
 * Two pictures share this file, since a tray is SIPs at other places: scene_sip() draws one with
 * the parts of its IO chiplet, scene_system() all of them, with the switch between (add_sips()).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/view/scene.h"
#include "cli/out/memory.h"

enum {
    SCALE_MOST = 16, /* px per mm */
    PAD = 10,
    OUTLINE_TOP = 22, /* for its label */
    IO_PX = 58,       /* an IO chiplet of the tray */
    IO_LEAST_PX = 60,
    LANE_PX = 8,   /* for each link to the switch */
    LABEL_PX = 16, /* for labels beside the lanes */
    SWITCH_PX = 24,
    ROW_PX = 34,       /* between SIPs */
    TILES_MOST = 4096, /* cubes that the tray shows one by one */
    SIDES = 4,
    LETTER = 11, /* as scene_svg.c writes labels */
    SMALL = 9,
};

/* -- a SIP ---------------------------------------------------------------------------------- */

/* The mesh of a SIP, as the drawing needs it. All SIPs are alike. */
struct mesh {
    struct scene *sc;
    uint32_t w, h, cubes, pes, cube_nodes, sip_nodes, ucie[SIDES]; /* ucie: inside a cube */
    struct svg_point port_mm[SIDES];
    double cube_w_mm, cube_h_mm, gap_mm, shore_mm, scale;
    bool tiles;
};

/* The place of one SIP, and the nodes of the scene that its edges join. */
struct sip_place {
    struct mesh *mesh;
    uint32_t sip;
    double x, y;           /* of cube 0 */
    double io_x, switch_x; /* the end of the IO chiplet; the lane up to the switch */
    uint32_t first_cube;   /* of the scene */
    uint32_t io, io_noc;   /* `io` is the IO chiplet, or pcie_ep with io_cpu next to it */
    uint32_t switch_node;
    bool inside; /* the parts of the IO chiplet and the ports of links are shown */
};

/* -- lengths -------------------------------------------------------------------------------- */

static uint32_t port_side(const struct mesh *m, uint32_t node)
{
    uint32_t in_sip = node % m->sip_nodes, side = 0;

    if (node / m->sip_nodes >= m->sc->cli->info.sips || in_sip / m->cube_nodes >= m->cubes)
        return SIDES;
    while (side < SIDES && in_sip % m->cube_nodes != m->ucie[side])
        side++;
    return side;
}

/*
 * Lengths of links are in the edges, not in the limits of the topology. An edge between two ports
 * is a link between cubes; one from outside the cubes to a port is the shore.
 */
static void see_length(void *arg, const kb_edge *edge)
{
    struct mesh *m = arg;
    bool from = port_side(m, edge->from) < SIDES, to = port_side(m, edge->to) < SIDES;

    if (from && to)
        m->gap_mm = edge->length_mm;
    else if (to && edge->from % m->sip_nodes >= m->cubes * m->cube_nodes)
        m->shore_mm = edge->length_mm;
}

static struct mesh mesh_of(struct scene *sc)
{
    static const char *const ports[SIDES] = {"ucie-N", "ucie-E", "ucie-S", "ucie-W"};
    const kb_info *info = &sc->cli->info;
    struct mesh m = {.sc = sc,
                     .w = info->mesh_w,
                     .h = info->mesh_h,
                     .cubes = info->cubes_per_sip,
                     .pes = info->pes_per_cube};
    kb_limits limits;

    kb_topology_limits(sc->cli->topo, &limits);
    m.cube_w_mm = limits.cube_w_mm;
    m.cube_h_mm = limits.cube_h_mm;
    m.cube_nodes = scene_cube_nodes(sc);
    m.sip_nodes = (info->nodes - (info->sips > 1)) / info->sips;
    for (int side = 0; side < SIDES; side++) {
        kb_node port;

        m.ucie[side] = scene_find(sc, 0, 0, ports[side]);
        if (kb_node_get(sc->cli->topo, m.ucie[side], &port) == KB_OK)
            m.port_mm[side] = (struct svg_point){port.x_mm, port.y_mm};
    }
    kb_edges(sc->cli->topo, see_length, &m);
    return m;
}

static double mesh_w_mm(const struct mesh *m)
{
    return m->w * m->cube_w_mm + (m->w - 1) * m->gap_mm;
}

static double mesh_h_mm(const struct mesh *m)
{
    return m->h * m->cube_h_mm + (m->h - 1) * m->gap_mm;
}

/* -- cubes ---------------------------------------------------------------------------------- */

static struct svg_point cube_at(const struct sip_place *p, uint32_t cube)
{
    const struct mesh *m = p->mesh;

    return (struct svg_point){p->x + cube % m->w * (m->cube_w_mm + m->gap_mm) * m->scale,
                              p->y + cube / m->w * (m->cube_h_mm + m->gap_mm) * m->scale};
}

/* The width of the widest label of a cube. */
static double label_width(const struct mesh *m, double size)
{
    char label[16];

    snprintf(label, sizeof label, "c%u", m->cubes - 1);
    return svg_text_width(label, size);
}

/* Labels of all cubes have one size: that at which the widest fits. */
static void add_cube(struct sip_place *p, uint32_t cube)
{
    const struct mesh *m = p->mesh;
    struct svg_point at = cube_at(p, cube);
    struct scene_node *n = scene_add_node(m->sc, SCENE_BOX, "box", at.x, at.y,
                                          m->cube_w_mm * m->scale, m->cube_h_mm * m->scale);
    uint32_t first = p->sip * m->sip_nodes + cube * m->cube_nodes;

    snprintf(n->name, sizeof n->name, "sip%u.cube%u", p->sip, cube);
    snprintf(n->label, sizeof n->label, "c%u", cube);
    snprintf(n->detail, sizeof n->detail, m->pes > 1 ? "%u PEs" : "%u PE", m->pes);
    n->small = label_width(m, LETTER) > n->w - 2;
    if (label_width(m, SMALL) > n->w - 2)
        *n->label = '\0';
    n->pct = view_utilization_most(m->sc->utilization, first, first + m->cube_nodes);
}

/*
 * 1, 2, 5, 10, ...: the first number of steps of `px` that is `least` px long. Columns of 8 px
 * with room for a label every 30 px have one at each fifth.
 */
static uint32_t every(double px, double least)
{
    uint32_t n = 1;

    for (int digit = 0; n * px < least && n < 20000; digit = (digit + 1) % 3)
        n = digit == 1 ? n / 2 * 5 : 2 * n;
    return n;
}

/* For cubes that are too small for labels: the numbers of columns above, of rows at the right. */
static void add_rulers(struct sip_place *p)
{
    const struct mesh *m = p->mesh;
    double step_x = (m->cube_w_mm + m->gap_mm) * m->scale;
    double step_y = (m->cube_h_mm + m->gap_mm) * m->scale, half = m->scale / 2;
    uint32_t columns = every(step_x, 30), rows = every(step_y, 14);

    if (label_width(m, SMALL) <= m->cube_w_mm * m->scale - 2 && SMALL < m->cube_h_mm * m->scale)
        return;
    for (uint32_t x = 0; x < m->w; x += columns) {
        struct scene_note *note =
            scene_add_note(m->sc, p->x + x * step_x + m->cube_w_mm * half, p->y - 4, SVG_MIDDLE);

        snprintf(note->text, sizeof note->text, "%u", x);
    }
    for (uint32_t y = 0; y < m->h; y += rows) {
        struct scene_note *note =
            scene_add_note(m->sc, p->x + mesh_w_mm(m) * m->scale + 4,
                           p->y + y * step_y + m->cube_h_mm * half + 3, SVG_START);

        snprintf(note->text, sizeof note->text, "c%u", y * m->w);
    }
    m->sc->width += 40;
}

/* All cubes as one box. */
static void add_block(struct sip_place *p)
{
    const struct mesh *m = p->mesh;
    struct scene_node *n = scene_add_node(m->sc, SCENE_BOX, "box", p->x, p->y,
                                          mesh_w_mm(m) * m->scale, mesh_h_mm(m) * m->scale);
    uint32_t first = p->sip * m->sip_nodes;

    snprintf(n->name, sizeof n->name, "sip%u.cubes", p->sip);
    snprintf(n->label, sizeof n->label, "%u \xc3\x97 %u cubes", m->w, m->h);
    n->pct = view_utilization_most(m->sc->utilization, first, first + m->cubes * m->cube_nodes);
}

static void add_cubes(struct sip_place *p)
{
    p->first_cube = (uint32_t)p->mesh->sc->n_nodes;
    if (!p->mesh->tiles)
        add_block(p);
    for (uint32_t cube = 0; p->mesh->tiles && cube < p->mesh->cubes; cube++)
        add_cube(p, cube);
}

/* -- links ---------------------------------------------------------------------------------- */

/* The node of the scene that shows port `node` of the topology. */
static uint32_t cube_of_port(const struct sip_place *p, uint32_t node)
{
    return p->first_cube + (p->mesh->tiles ? node % p->mesh->sip_nodes / p->mesh->cube_nodes : 0);
}

static struct svg_point port_at(const struct sip_place *p, uint32_t node)
{
    const struct mesh *m = p->mesh;
    struct svg_point at = cube_at(p, node % m->sip_nodes / m->cube_nodes);
    const struct svg_point *port = &m->port_mm[port_side(m, node)];

    return (struct svg_point){at.x + port->x * m->scale, at.y + port->y * m->scale};
}

/* Between ports of neighbouring cubes, at their places on the rims. */
static void add_d2d(struct sip_place *p, const kb_edge *edge)
{
    struct scene_edge *e =
        scene_add_edge(p->mesh->sc, edge, cube_of_port(p, edge->from), cube_of_port(p, edge->to));
    struct svg_point a = port_at(p, edge->from), b = port_at(p, edge->to);

    scene_bend(e, a.x, a.y);
    scene_bend(e, b.x, b.y);
}

/* Level, from the port of a cube of the first column to the IO chiplet. */
static void add_shore(struct sip_place *p, const kb_edge *edge, bool out)
{
    uint32_t port = out ? edge->from : edge->to;
    struct svg_point at = port_at(p, port);
    uint32_t cube = cube_of_port(p, port), io = p->inside ? p->io_noc : p->io;
    struct scene_edge *e = scene_add_edge(p->mesh->sc, edge, out ? cube : io, out ? io : cube);

    scene_bend(e, out ? at.x : p->io_x, at.y);
    scene_bend(e, out ? p->io_x : at.x, at.y);
}

/* 0: pcie_ep, 1: io_noc, 2: io_cpu; more: the node is not in the IO chiplet. */
static uint32_t io_part(const struct sip_place *p, uint32_t node)
{
    const struct mesh *m = p->mesh;
    uint32_t first = p->sip * m->sip_nodes + m->cubes * m->cube_nodes;

    return node >= first && node < (p->sip + 1) * m->sip_nodes ? node - first : SCENE_NONE;
}

/* pcie_ep or io_cpu with io_noc, which stand side by side. */
static void add_io_link(struct sip_place *p, const kb_edge *edge)
{
    struct mesh *m = p->mesh;
    uint32_t from = p->io + io_part(p, edge->from), to = p->io + io_part(p, edge->to);
    struct scene_edge *e = scene_add_edge(m->sc, edge, from, to);

    const struct scene_node *a = &m->sc->node[from], *b = &m->sc->node[to];
    bool east = a->x < b->x;
    double y = east ? a->y + a->h / 2 : b->y + b->h / 2;
    scene_bend(e, east ? a->x + a->w : a->x, y);
    scene_bend(e, east ? b->x : b->x + b->w, y);
}

/* The edge to the fabric, from the left of the chiplet; in the tray by a lane up to the switch. */
static void add_fabric(struct sip_place *p, const kb_edge *edge, bool out)
{
    struct scene *sc = p->mesh->sc;
    struct scene_edge *e =
        scene_add_edge(sc, edge, out ? p->io : p->switch_node, out ? p->switch_node : p->io);

    const struct scene_node *io = &sc->node[p->io], *to = &sc->node[p->switch_node];
    struct svg_point at[3] = {
        {io->x, io->y + io->h / 2}, {p->switch_x, io->y + io->h / 2}, {p->switch_x, to->y + to->h}};
    for (int i = 0; i < (p->inside ? 2 : 3); i++) {
        int k = out ? i : (p->inside ? 1 : 2) - i;

        scene_bend(e, at[k].x, at[k].y);
    }
}

static void add_edge(void *arg, const kb_edge *edge)
{
    struct sip_place *p = arg;
    const struct mesh *m = p->mesh;
    bool from_here = edge->from / m->sip_nodes == p->sip,
         to_here = edge->to / m->sip_nodes == p->sip;
    bool from_port = from_here && port_side(m, edge->from) < SIDES;
    bool to_port = to_here && port_side(m, edge->to) < SIDES;
    bool from_io = io_part(p, edge->from) != SCENE_NONE, to_io = io_part(p, edge->to) != SCENE_NONE;

    if (from_port && to_port && p->inside)
        add_d2d(p, edge);
    else if ((from_io && to_port) || (from_port && to_io))
        add_shore(p, edge, from_port);
    else if (from_io && to_io && p->inside)
        add_io_link(p, edge);
    else if (from_io != to_io && (from_io ? !to_here : !from_here))
        add_fabric(p, edge, from_io);
}

/* -- the tray ------------------------------------------------------------------------------- */

/* The rows and columns of SIPs, and the size of one, in px. */
struct tray {
    uint32_t columns, rows;
    double left, sip_w, sip_h; /* left: the width of lanes and IO chiplet */
};

/* As many columns as make the whole 1.4 times as wide as high, about the shape of a page. */
static struct tray tray_of(struct mesh *m)
{
    uint32_t sips = m->sc->cli->info.sips;
    double w_mm = mesh_w_mm(m) + m->shore_mm, h_mm = mesh_h_mm(m);
    struct tray t;
    double aspect = fmax((w_mm + 8) / fmax(h_mm + 4, 1e-6), 1e-6);

    t.columns = (uint32_t)fmin(sips, ceil(sqrt(sips / aspect * 1.4)));
    t.rows = (sips + t.columns - 1) / t.columns;
    t.left = (sips > 1 ? t.rows * LANE_PX + LABEL_PX : 0) + IO_PX + PAD;
    double w = sips > 1 ? 1040 : 1160, h = sips > 1 ? 680 : 840; /* in px, for all SIPs */
    m->scale = scene_scale(w_mm, h_mm, fmax(w / t.columns - t.left - 2 * PAD, 90),
                           fmax(h / t.rows - OUTLINE_TOP - PAD, 60), SCALE_MOST);
    t.sip_w = t.left + w_mm * m->scale + PAD;
    t.sip_h = OUTLINE_TOP + fmax(h_mm * m->scale, IO_LEAST_PX) + PAD;
    return t;
}

static void add_outline(struct sip_place *p, const struct tray *t, double x, double y)
{
    double lanes = t->left - IO_PX - PAD;
    struct scene_node *n = scene_add_node(p->mesh->sc, SCENE_OUTLINE, "dash", x + lanes, y,
                                          t->sip_w - lanes, t->sip_h);

    snprintf(n->name, sizeof n->name, "sip%u", p->sip);
    snprintf(n->label, sizeof n->label, "SIP %u", p->sip);
}

static void add_io(struct sip_place *p, double x, double y, double h)
{
    const struct mesh *m = p->mesh;
    struct scene_node *n = scene_add_node(m->sc, SCENE_BOX, "io", x, y, IO_PX, h);
    uint32_t first = p->sip * m->sip_nodes + m->cubes * m->cube_nodes;

    p->io = (uint32_t)m->sc->n_nodes - 1;
    snprintf(n->name, sizeof n->name, "sip%u.io0", p->sip);
    strcpy(n->label, "io0");
    snprintf(n->detail, sizeof n->detail, p->sip > 0 ? "s%u.host" : "host", p->sip);
    n->pct = view_utilization_most(m->sc->utilization, first, first + 3);
}

static struct sip_place add_sip(struct mesh *m, const struct tray *t, uint32_t sip,
                                uint32_t switch_node)
{
    struct sip_place p = {.mesh = m, .sip = sip, .switch_node = switch_node};
    double x = sip % t->columns * (t->sip_w + ROW_PX);
    double y = (switch_node == SCENE_NONE ? 0 : SWITCH_PX + ROW_PX) +
               sip / t->columns * (t->sip_h + ROW_PX);
    double h = fmax(mesh_h_mm(m) * m->scale, IO_LEAST_PX);

    add_outline(&p, t, x, y);
    p.io_x = x + t->left;
    p.x = p.io_x + m->shore_mm * m->scale;
    p.y = y + OUTLINE_TOP + (h - mesh_h_mm(m) * m->scale) / 2;
    p.switch_x = x + (t->rows - 1 - sip / t->columns) * LANE_PX + 4;
    add_io(&p, p.io_x - IO_PX, y + OUTLINE_TOP, h);
    add_cubes(&p);
    return p;
}

/* Finds the SIP of an edge by its ends. */
static void add_tray_edge(void *arg, const kb_edge *edge)
{
    struct sip_place *places = arg;
    uint32_t sip_nodes = places->mesh->sip_nodes, sip = edge->from / sip_nodes;

    if (sip == places->mesh->sc->cli->info.sips)
        sip = edge->to / sip_nodes;
    add_edge(&places[sip], edge);
}

static void add_sips(struct mesh *m, const struct tray *t, uint32_t switch_node)
{
    uint32_t sips = m->sc->cli->info.sips;
    struct sip_place *places = memory_new(sips, sizeof *places);

    for (uint32_t sip = 0; sip < sips; sip++)
        places[sip] = add_sip(m, t, sip, switch_node);
    kb_edges(m->sc->cli->topo, add_tray_edge, places);
    free(places);
}

void scene_system(struct scene *sc, struct view_at at)
{
    struct mesh m = mesh_of(sc);
    struct tray t = tray_of(&m);
    uint32_t sips = sc->cli->info.sips, switch_node = SCENE_NONE;

    (void)at;
    m.tiles = (uint64_t)sips * m.cubes <= TILES_MOST;
    sc->of_cubes = true;
    sc->lists_all = true;
    sc->scale = m.scale;
    sc->width = t.columns * (t.sip_w + ROW_PX) - ROW_PX;
    sc->height = t.rows * (t.sip_h + ROW_PX) - ROW_PX;
    strcpy(sc->title, sips > 1 ? "The tray: SIPs and the switch" : "The tray: one SIP");
    sc->note = "Cubes and gaps are to scale, IO chiplets and wires of the fabric are not.";
    if (sips > 1) {
        struct scene_node *n = scene_add_node(sc, SCENE_BOX, "io", 0, 0, sc->width, SWITCH_PX);

        switch_node = 0;
        scene_set_node(sc, n, scene_find(sc, 0, KB_NO_CUBE, "fabric.switch0"));
        strcpy(n->label, "fabric.switch0");
        sc->height += SWITCH_PX + ROW_PX;
    }
    add_sips(&m, &t, switch_node);
}

/* -- one SIP -------------------------------------------------------------------------------- */

/* Columns of the IO chiplet, in px from the left. */
enum {
    SWITCH_W = 92,
    SWITCH_GAP = 50,
    PART_X = 10,
    PART_W = 64,
    PART_H = 30,
    BAR_X = 122,
    BAR_W = 44,
    MESH_LEAST = 150
};

static uint32_t add_part(struct sip_place *p, const char *name, const char *detail, double x,
                         double y, double w, double h)
{
    struct scene *sc = p->mesh->sc;
    struct scene_node *n = scene_add_node(sc, SCENE_BOX, "io", x, y, w, h);

    scene_set_node(sc, n, scene_find(sc, p->sip, KB_NO_CUBE, name));
    scene_say(n->label, strrchr(name, '.') ? strrchr(name, '.') + 1 : name);
    scene_say(n->detail, detail);
    return (uint32_t)sc->n_nodes - 1;
}

/* io_noc is a bar along the mesh, to which shore links run level; pcie_ep and io_cpu stand beside
 * it. */
static void add_io_parts(struct sip_place *p, double left, double top, double h)
{
    struct scene *sc = p->mesh->sc;
    char host[16];
    struct scene_node *n = scene_add_node(sc, SCENE_OUTLINE, "dash", left, top - OUTLINE_TOP,
                                          BAR_X + BAR_W, h + OUTLINE_TOP + PAD);

    snprintf(n->name, sizeof n->name, "sip%u.io0", p->sip);
    strcpy(n->label, "IO chiplet io0");
    snprintf(host, sizeof host, p->sip > 0 ? "s%u.host" : "host", p->sip);
    p->io = add_part(p, "pcie_ep", host, left + PART_X, top + h / 4 - PART_H / 2.0, PART_W, PART_H);
    p->io_noc = add_part(p, "io_noc", "", left + BAR_X, top, BAR_W, h);
    add_part(p, "io_cpu", "", left + PART_X, top + 3 * h / 4 - PART_H / 2.0, PART_W, PART_H);
    if (sc->cli->info.sips > 1)
        p->switch_node =
            add_part(p, "fabric.switch0", "", 0, top + h / 4 - PART_H / 2.0, SWITCH_W, PART_H);
}

/* Cubes below 6 px are drawn at 6, and the picture becomes larger, up to 20000 px. */
void scene_sip(struct scene *sc, struct view_at at)
{
    struct mesh m = mesh_of(sc);
    struct sip_place p = {.mesh = &m, .sip = at.sip, .inside = true};

    m.tiles = true;
    sc->of_cubes = true;
    m.scale = scene_scale(mesh_w_mm(&m) + m.shore_mm, mesh_h_mm(&m), 1060, 800, SCALE_MOST);
    double least = fmin(m.cube_w_mm, m.cube_h_mm);
    if (least * m.scale < 6 && mesh_w_mm(&m) * 6 < 20000 * least &&
        mesh_h_mm(&m) * 6 < 20000 * least)
        m.scale = 6 / least;
    double mesh_h = mesh_h_mm(&m) * m.scale, h = fmax(mesh_h, MESH_LEAST);
    double left = sc->cli->info.sips > 1 ? SWITCH_W + SWITCH_GAP : 0;
    p.io_x = left + BAR_X + BAR_W;
    p.x = p.io_x + m.shore_mm * m.scale;
    p.y = OUTLINE_TOP + (h - mesh_h) / 2;
    p.switch_x = SWITCH_W;
    sc->scale = m.scale;
    sc->width = p.x + mesh_w_mm(&m) * m.scale;
    sc->height = OUTLINE_TOP + h + PAD;
    snprintf(sc->title, sizeof sc->title, "SIP %u: %u \xc3\x97 %u cubes", at.sip, m.w, m.h);
    sc->note = "Cubes, their gaps and the shore are to scale, the IO chiplet is not.";
    add_io_parts(&p, left, OUTLINE_TOP, h);
    add_cubes(&p);
    add_rulers(&p);
    kb_edges(sc->cli->topo, add_edge, &p);
}
