/*
 * scene_sip.c -- the picture of one SIP: cubes to scale, the parts of its IO chiplets, links.
 *
 * The mesh is that of scene_mesh.c. One scale fits all of it into the picture, at most 16 px per
 * mm. An IO chiplet stands in px at its side of the mesh, with its three parts: io_noc is a bar
 * along the mesh, pcie_ep and io_cpu stand outside of it, and what joins pcie_ep from outside (the
 * switch, or other SIPs of a grid) stands further out.
 *
 * A chiplet is placed by `along`, px from the beginning of its side, and `out`, px from its rim
 * away from the mesh, so that all four sides share the code (box_at()).
 *
 * Example, `view sip` on cube8: a mesh of 4 x 2 cubes of 15 x 11 mm, 1 mm apart, fits at the
 * largest scale, 16 px per mm. c0 is 240 x 176 px, from (198, 22); c1 begins (15 + 1) * 16 = 256
 * px further right, c4 (11 + 1) * 16 = 192 px further down. The chiplet in the west takes 166 px,
 * and 2 mm of shore 32 px.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/view/scene_mesh.h"

/* Outwards from the rim of an IO chiplet: a bar, a gap, parts; the same for level and upright. */
enum {
    PEER_W = 92, /* the switch, or another SIP */
    PEER_GAP = 50,
    PEER_STEP = 38,
    PEERS_MAX = 4,
    PART_W = 64,
    PART_H = 30,
    BAR_W = 44,
    BAR_H = 30,
    PARTS_OUT = 92, /* where parts begin, at W and E */
    DEPTH_W = 166,
    PARTS_DOWN = 58, /* at N and S */
    DEPTH_H = 98,
    MESH_LEAST = 150
};

/* One SIP, and what is outside of it. */
struct sip_scene {
    struct sip_place p;
    double top, left, w, h;   /* of the sides along which chiplets stand */
    uint32_t peer[PEERS_MAX]; /* nodes of the topology */
    uint32_t peer_at[PEERS_MAX], n_peers;
    uint32_t edges[PEERS_MAX]; /* that were drawn to each of them */
};

static bool is_level(enum side side)
{
    return side == SIDE_W || side == SIDE_E;
}

/* -- boxes ---------------------------------------------------------------------------------- */

struct box {
    double x, y, w, h;
};

/* The box of that size whose near side is `out` px away from the chiplet's rim. */
static struct box box_at(const struct sip_scene *s, uint32_t chiplet, double along, double out,
                         double w, double h)
{
    double rim = s->p.io[chiplet].rim;

    switch (s->p.mesh->chiplet_side[chiplet]) {
    case SIDE_W:
        return (struct box){rim - out - w, s->top + along - h / 2, w, h};
    case SIDE_E:
        return (struct box){rim + out, s->top + along - h / 2, w, h};
    case SIDE_N:
        return (struct box){s->left + along - w / 2, rim - out - h, w, h};
    default:
        return (struct box){s->left + along - w / 2, rim + out, w, h};
    }
}

static uint32_t add_part(struct sip_scene *s, uint32_t node, const char *detail, struct box b)
{
    struct scene *sc = s->p.mesh->sc;
    struct scene_node *n = scene_add_node(sc, SCENE_BOX, "io", b.x, b.y, b.w, b.h);

    scene_set_node(sc, n, node);
    scene_say(n->label, strrchr(n->name, '.') ? strrchr(n->name, '.') + 1 : n->name);
    scene_say(n->detail, detail);
    return (uint32_t)sc->n_nodes - 1;
}

static void add_outline(struct sip_scene *s, uint32_t chiplet)
{
    enum side side = s->p.mesh->chiplet_side[chiplet];
    bool level = is_level(side);
    double depth = level ? DEPTH_W : DEPTH_H + (side == SIDE_N ? 0 : MESH_OUTLINE_TOP - MESH_PAD);
    struct box b = box_at(s, chiplet, (level ? s->h : s->w) / 2, 0, level ? depth : s->w,
                          level ? s->h : depth);

    if (level) {
        b.y -= MESH_OUTLINE_TOP;
        b.h += MESH_OUTLINE_TOP + MESH_PAD;
    } else {
        b.x -= MESH_PAD;
        b.w += 2 * MESH_PAD;
    }
    struct scene_node *n = scene_add_node(
        s->p.mesh->sc, side == SIDE_S ? SCENE_UNDER : SCENE_OUTLINE, "dash", b.x, b.y, b.w, b.h);
    snprintf(n->name, sizeof n->name, "sip%u.io%u", s->p.sip, chiplet);
    snprintf(n->label, sizeof n->label, "IO chiplet io%u", chiplet);
}

/* io_noc is a bar along the mesh, to which shore links run straight; pcie_ep and io_cpu stand
 * outside of it. */
static void add_io_parts(struct sip_scene *s, uint32_t chiplet)
{
    bool level = is_level(s->p.mesh->chiplet_side[chiplet]);
    double length = level ? s->h : s->w, out = level ? PARTS_OUT : PARTS_DOWN;
    uint32_t first = mesh_first_io(s->p.mesh, s->p.sip) + 3 * chiplet;
    char host[48], sip[16] = "", number[16] = "";
    struct io_place *io = &s->p.io[chiplet];

    if (s->p.sip > 0)
        snprintf(sip, sizeof sip, "s%u.", s->p.sip);
    if (chiplet > 0)
        snprintf(number, sizeof number, "%u", chiplet);
    snprintf(host, sizeof host, "%shost%s", sip, number);
    add_outline(s, chiplet);
    io->io = add_part(s, first, host, box_at(s, chiplet, length / 4, out, PART_W, PART_H));
    io->io_noc =
        add_part(s, first + 1, "",
                 box_at(s, chiplet, length / 2, 0, level ? BAR_W : length, level ? length : BAR_H));
    add_part(s, first + 2, "", box_at(s, chiplet, 3 * length / 4, out, PART_W, PART_H));
}

/* -- other SIPs ----------------------------------------------------------------------------- */

/* Notes the node to which pcie_ep has an edge outside of its SIP. */
static void see_peer(void *arg, const kb_edge *edge)
{
    struct sip_scene *s = arg;
    const struct seat *a = &s->p.mesh->seat[edge->from], *b = &s->p.mesh->seat[edge->to];
    uint32_t i = 0;

    if (a->part != SEAT_PCIE_EP || a->sip != s->p.sip ||
        (b->part != SEAT_SWITCH && (b->part != SEAT_PCIE_EP || b->sip == a->sip)))
        return;
    while (i < s->n_peers && s->peer[i] != edge->to)
        i++;
    if (i == s->n_peers && i < PEERS_MAX)
        s->peer[s->n_peers++] = edge->to;
}

/* Along the side of the first chiplet: the place of a peer. */
static double peer_along(const struct sip_scene *s, uint32_t i)
{
    bool level = is_level(s->p.mesh->chiplet_side[0]);
    double step = level ? PEER_STEP : PEER_W + 10, length = level ? s->h : s->w;

    return fmax(length / 4 - (s->n_peers - 1) * step / 2, step / 2) + i * step;
}

static void add_peers(struct sip_scene *s)
{
    bool level = is_level(s->p.mesh->chiplet_side[0]);

    for (uint32_t i = 0; i < s->n_peers; i++) {
        double along = s->n_peers == 1 ? (level ? s->h : s->w) / 4 : peer_along(s, i);
        struct box b = box_at(s, 0, along, (level ? DEPTH_W : DEPTH_H) + PEER_GAP, PEER_W, PART_H);
        const struct seat *seat = &s->p.mesh->seat[s->peer[i]];
        char of[16] = "";

        if (seat->part == SEAT_PCIE_EP)
            snprintf(of, sizeof of, "of SIP %u", seat->sip);
        s->peer_at[i] = add_part(s, s->peer[i], of, b);
    }
}

/* -- links ---------------------------------------------------------------------------------- */

/* Adds the points of a way, from its end to its beginning if `turned`. */
static void bend_all(struct scene_edge *e, const struct svg_point *way, uint32_t n, bool turned)
{
    for (uint32_t i = 0; i < n; i++)
        scene_bend(e, way[turned ? n - 1 - i : i].x, way[turned ? n - 1 - i : i].y);
}

/* pcie_ep or io_cpu with io_noc, which stand side by side. */
static void add_io_link(struct sip_scene *s, const kb_edge *edge)
{
    struct scene *sc = s->p.mesh->sc;
    const struct seat *from = &s->p.mesh->seat[edge->from];
    uint32_t first = s->p.io[from->chiplet].io;
    uint32_t a = first + from->part - SEAT_PCIE_EP,
             b = first + s->p.mesh->seat[edge->to].part - SEAT_PCIE_EP;
    struct scene_edge *e = scene_add_edge(sc, edge, a, b);
    bool turned = from->part == SEAT_IO_NOC; /* points are those from the part to the bar */
    const struct scene_node *part = &sc->node[turned ? b : a], *bar = &sc->node[turned ? a : b];
    double x = part->x + part->w / 2, y = part->y + part->h / 2;
    struct svg_point way[2] = {{x, y}, {x, y}};

    switch (s->p.mesh->chiplet_side[from->chiplet]) {
    case SIDE_W:
        way[0].x = part->x + part->w;
        way[1].x = bar->x;
        break;
    case SIDE_E:
        way[0].x = part->x;
        way[1].x = bar->x + bar->w;
        break;
    case SIDE_N:
        way[0].y = part->y + part->h;
        way[1].y = bar->y;
        break;
    default:
        way[0].y = part->y;
        way[1].y = bar->y + bar->h;
    }
    bend_all(e, way, 2, turned);
}

/* The middle of the side of a box that faces away from the mesh, or towards it. */
static struct svg_point face(const struct scene_node *n, enum side side, bool away)
{
    double x = n->x + n->w / 2, y = n->y + n->h / 2;

    if (is_level(side))
        return (struct svg_point){(side == SIDE_W) == away ? n->x : n->x + n->w, y};
    return (struct svg_point){x, (side == SIDE_N) == away ? n->y : n->y + n->h};
}

/*
 * From pcie_ep outwards to the switch: straight. To one of several SIPs of a grid: with two bends,
 * each link at a place of its own; a ring of two has two links to the same SIP.
 */
static void add_fabric(struct sip_scene *s, const kb_edge *edge, bool out)
{
    struct scene *sc = s->p.mesh->sc;
    uint32_t peer = 0, node = out ? edge->to : edge->from, io = s->p.io[0].io;
    enum side side = s->p.mesh->chiplet_side[0];
    bool level = is_level(side);

    while (peer + 1 < s->n_peers && s->peer[peer] != node)
        peer++;
    struct scene_edge *e =
        scene_add_edge(sc, edge, out ? io : s->peer_at[peer], out ? s->peer_at[peer] : io);
    struct svg_point a = face(&sc->node[io], side, true),
                     b = face(&sc->node[s->peer_at[peer]], side, false);
    double second = s->edges[peer]++ / 2 * 8.0;
    double *a_along = level ? &a.y : &a.x, *b_along = level ? &b.y : &b.x;
    *a_along += (peer - (s->n_peers - 1) / 2.0) * 7 + (s->n_peers > 1 ? second / 2 : second);
    *b_along += second;
    if (s->n_peers == 1) {
        bend_all(e, (struct svg_point[]){a, b}, 2, !out);
        return;
    }
    double lane = 0.3 + 0.4 * peer / s->n_peers;
    struct svg_point m = {a.x + lane * (b.x - a.x), a.y + lane * (b.y - a.y)};
    struct svg_point way[] = {
        a, level ? (struct svg_point){m.x, a.y} : (struct svg_point){a.x, m.y},
        level ? (struct svg_point){m.x, b.y} : (struct svg_point){b.x, m.y}, b};
    bend_all(e, way, 4, !out);
}

static void add_edge(void *arg, const kb_edge *edge)
{
    struct sip_scene *s = arg;
    const struct seat *a = &s->p.mesh->seat[edge->from], *b = &s->p.mesh->seat[edge->to];
    bool from_here = a->part != SEAT_SWITCH && a->sip == s->p.sip;
    bool to_here = b->part != SEAT_SWITCH && b->sip == s->p.sip;

    if ((!from_here && !to_here) || a->part == SEAT_OTHER || b->part == SEAT_OTHER ||
        a->part == SEAT_RAIL || b->part == SEAT_RAIL || mesh_is_rail(s->p.mesh, edge))
        return; /* rails are in the picture of the tray */
    if (from_here != to_here)
        add_fabric(&*s, edge, from_here);
    else if (a->part == SEAT_PORT && b->part == SEAT_PORT)
        mesh_add_d2d(&s->p, edge);
    else if (a->part == SEAT_PORT || b->part == SEAT_PORT)
        mesh_add_shore(&s->p, edge, a->part == SEAT_PORT);
    else
        add_io_link(s, edge);
}

/* -- the picture ---------------------------------------------------------------------------- */

/* The px of everything at one side of the mesh, and of its chiplet alone. */
static double room_at(const struct sip_scene *s, enum side side, bool inner)
{
    const struct mesh *m = s->p.mesh;
    bool level = is_level(side), wraps = level ? m->wraps_x : m->wraps_y;
    double px = wraps ? STUB_ROOM_PX : 0;

    for (uint32_t i = 0; i < m->chiplets; i++) {
        if (m->chiplet_side[i] != side)
            continue;
        px += m->has_shore[side] ? m->shore_mm * m->scale : 0;
        if (!inner)
            px += level ? DEPTH_W : DEPTH_H + MESH_OUTLINE_TOP;
        if (!inner && i == 0 && s->n_peers > 0)
            px += PEER_GAP + (level ? PEER_W : PART_H);
    }
    return px;
}

/* Cubes below 6 px are drawn at 6, and the picture becomes larger, up to 20000 px. */
static double scale_of(const struct mesh *m)
{
    double w = m->w_mm, h = m->h_mm, least = fmin(m->cube_w_mm, m->cube_h_mm);
    double level = m->has_shore[SIDE_W] + m->has_shore[SIDE_E];
    double upright = m->has_shore[SIDE_N] + m->has_shore[SIDE_S];
    double scale =
        scene_scale(w + level * m->shore_mm, h + upright * m->shore_mm, 1060, 800, MESH_SCALE_MOST);

    return least * scale < 6 && w * 6 < 20000 * least && h * 6 < 20000 * least ? 6 / least : scale;
}

/* Places the mesh, and the rims of chiplets around it. */
static void place(struct sip_scene *s)
{
    struct mesh *m = s->p.mesh;
    double mesh_w = m->w_mm * m->scale, mesh_h = m->h_mm * m->scale;
    double north = room_at(s, SIDE_N, false), west = room_at(s, SIDE_W, false);
    bool upright = m->has_shore[SIDE_N] || m->has_shore[SIDE_S];

    s->h = fmax(mesh_h, MESH_LEAST);
    s->w = upright ? fmax(mesh_w, 2 * MESH_LEAST) : mesh_w;
    s->top = north > STUB_ROOM_PX ? north : MESH_OUTLINE_TOP + north;
    s->left = west + (upright ? MESH_PAD : 0);
    s->p.x = s->left + (s->w - mesh_w) / 2;
    s->p.y = s->top + (s->h - mesh_h) / 2;
    for (uint32_t i = 0; i < m->chiplets; i++) {
        enum side side = m->chiplet_side[i];
        double inner = room_at(s, side, true);

        s->p.io[i].rim = side == SIDE_W   ? s->left - inner - (upright ? MESH_PAD : 0)
                         : side == SIDE_E ? s->left + s->w + inner + (upright ? MESH_PAD : 0)
                         : side == SIDE_N ? s->top - inner
                                          : s->top + s->h + inner;
    }
    m->sc->width = s->left + s->w + (upright ? MESH_PAD : 0) + room_at(s, SIDE_E, false);
    m->sc->height = s->top + s->h + MESH_PAD + room_at(s, SIDE_S, false);
}

void scene_sip(struct scene *sc, struct view_at at)
{
    struct mesh m = mesh_of(sc);
    struct sip_scene s = {.p = {.mesh = &m, .sip = at.sip, .inside = true}};
    char cubes[32];

    m.tiles = true;
    sc->of_cubes = true;
    m.scale = sc->scale = scale_of(&m);
    kb_edges(sc->cli->topo, see_peer, &s);
    place(&s);
    mesh_say_cubes(&m, cubes);
    snprintf(sc->title, sizeof sc->title, "SIP %u: %s", at.sip, cubes);
    sc->note =
        m.is_net
            ? "Cubes are to scale, what is between them is not; a link that ends in a stub goes "
              "on at the cube that is named."
        : m.wraps_x || m.wraps_y
            ? "Cubes, their gaps and the shore are to scale, IO chiplets are not; a link that "
              "wraps around goes on at the cube that is named."
        : m.chiplets > 1 ? "Cubes, their gaps and the shore are to scale, IO chiplets are not."
                         : "Cubes, their gaps and the shore are to scale, the IO chiplet is not.";
    for (uint32_t i = 0; i < m.chiplets; i++)
        add_io_parts(&s, i);
    add_peers(&s);
    mesh_add_cubes(&s.p);
    mesh_add_rulers(&s.p);
    kb_edges(sc->cli->topo, add_edge, &s);
    mesh_free(&m);
}
