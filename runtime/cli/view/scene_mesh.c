/*
 * scene_mesh.c -- the mesh of cubes of a SIP: cubes to scale, links between them and to the shore.
 *
 * The mesh is drawn from what the topology says of its nodes and edges: which cubes are there, the
 * size of a cube, the length of a link between neighbours (the gap) and to an IO chiplet (the
 * shore). seat_nodes() notes for each node where it is, since an edge has only numbers of nodes.
 *
 * What is not there is not drawn, except for a cube that is missing: its place is hatched, and has
 * `data-missing` in place of `data-node`. A cube of another kind than most has a star behind its
 * name: an item of `cubes` gave it keys of its own.
 *
 * A link that wraps around would cross the whole row, so both of its ends are drawn as stubs of 20
 * px, and each is followed by the name of the cube at the other end. Links of several planes lie
 * beside each other, at most 10 px apart, and those of a shore with them; a stub at a side with an
 * IO chiplet is moved along the rim, so that it does not cover the shore.
 *
 * Example: on a ring of c0 to c3 the link from c3 to c0 leaves the east of c3 to the right, with
 * "c0" at its end, and enters c0 from the left, beside "c3".
 *
 * Invariants: the nodes of a SIP's cubes are consecutive in the scene, from `first_cube`, also
 * those that are missing; each edge of the topology becomes one edge of the scene, or none, if it
 * is inside a cube; two directions of a link have one place, and the format draws them side by
 * side.
 */
#include "cli/view/scene_mesh.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/out/memory.h"

enum {
    LETTER = 11, /* as scene_svg.c writes labels */
    SMALL = 9,
    PLANE_PX = 10, /* between links of two planes, at most */
};

static const char side_letters[] = "NESW";
static const int steps[SIDES][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};

/* -- nodes ---------------------------------------------------------------------------------- */

/* Notes where the node of that name is. Returns its number; SCENE_NONE: it is not there. */
static uint32_t seat_node(struct mesh *m, const char *name, struct seat seat)
{
    uint32_t node;

    if (kb_node_find(m->sc->cli->topo, name, strlen(name), &node) != KB_OK)
        return SCENE_NONE;
    m->seat[node] = seat;
    return node;
}

/* The ports of a net at a cube; that to the IO chiplet is drawn at the north, where the cubes that
 * have one stand by themselves. */
static void seat_ports(struct mesh *m, uint32_t sip, uint32_t cube)
{
    struct seat seat = {.sip = sip, .cube = cube, .part = SEAT_PORT, .side = SIDE_N};
    char name[KB_NODE_BYTES];

    for (uint32_t port = 0;; port++) {
        snprintf(name, sizeof name, "sip%u.cube%u.port%u", sip, cube, port);
        if (seat_node(m, name, seat) == SCENE_NONE)
            break;
        m->is_net = true;
    }
    snprintf(name, sizeof name, "sip%u.cube%u.port.io", sip, cube);
    seat_node(m, name, seat);
}

/* The ports of a cube that is there, and its first node. */
static void seat_cube(struct mesh *m, uint32_t sip, uint32_t cube)
{
    const kb_info *info = &m->sc->cli->info;
    char name[2 * KB_NODE_BYTES], part[KB_NODE_BYTES], port[8];

    m->first[sip * m->cubes + cube] = scene_first(m->sc, sip, cube);
    seat_ports(m, sip, cube);
    for (uint32_t side = 0; side < SIDES; side++)
        for (uint32_t plane = 0; plane < info->planes; plane++) {
            kb_node node;

            snprintf(port, sizeof port, "ucie-%c", side_letters[side]);
            snprintf(name, sizeof name, "sip%u.cube%u.%s", sip, cube,
                     scene_plane_name(m->sc, port, plane, part));
            uint32_t found = seat_node(m, name,
                                       (struct seat){.sip = sip,
                                                     .cube = cube,
                                                     .part = SEAT_PORT,
                                                     .side = (uint8_t)side,
                                                     .plane = (uint8_t)plane});
            if (kb_node_get(m->sc->cli->topo, found, &node) == KB_OK)
                m->port_mm[side] = (struct svg_point){node.x_mm, node.y_mm};
        }
}

/* The parts of the IO chiplets of a SIP. */
static void seat_io(struct mesh *m, uint32_t sip)
{
    static const char *const parts[] = {"pcie_ep", "io_noc", "io_cpu"};
    char name[KB_NODE_BYTES];
    bool found = true;

    for (uint32_t chiplet = 0; chiplet < SIDES && found; chiplet++)
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "sip%u.io%u.%s", sip, chiplet, parts[i]);
            found = seat_node(m, name,
                              (struct seat){.sip = sip,
                                            .part = (uint8_t)(SEAT_PCIE_EP + i),
                                            .chiplet = (uint8_t)chiplet}) != SCENE_NONE;
            if (found)
                m->chiplets = chiplet + 1;
        }
}

/* The switches of rails, which have the last numbers of all nodes. */
static void seat_rails(struct mesh *m)
{
    kb_node node;
    uint32_t number;

    for (uint32_t i = m->sc->cli->info.nodes; i-- > 0;) {
        if (kb_node_get(m->sc->cli->topo, i, &node) != KB_OK ||
            sscanf(node.name, "fabric.switch%" SCNu32, &number) != 1)
            return;
        m->seat[i] = (struct seat){.cube = number, .part = SEAT_RAIL};
        if (number >= m->rails)
            m->rails = number + 1;
    }
}

bool mesh_is_rail(const struct mesh *m, const kb_edge *edge)
{
    const struct seat *a = &m->seat[edge->from], *b = &m->seat[edge->to];

    if (a->part == SEAT_RAIL && b->part == SEAT_RAIL)
        return a->cube != b->cube;
    if (a->part == SEAT_RAIL || b->part == SEAT_RAIL)
        return true;
    return a->part == SEAT_PORT && b->part == SEAT_PORT && a->sip != b->sip;
}

static void seat_nodes(struct mesh *m)
{
    const kb_info *info = &m->sc->cli->info;
    kb_cube cube;
    uint32_t rail;

    m->seat = memory_new(info->nodes, sizeof *m->seat);
    m->first = memory_new(info->sips * m->cubes, sizeof *m->first);
    for (uint32_t sip = 0; sip < info->sips; sip++) {
        for (uint32_t i = 0; i < m->cubes; i++)
            if (kb_cube_get(m->sc->cli->topo, sip, i, &cube) == KB_OK)
                seat_cube(m, sip, i);
            else
                m->first[sip * m->cubes + i] = SCENE_NONE;
        seat_io(m, sip);
    }
    if (seat_node(m, "fabric.switch0", (struct seat){.part = SEAT_SWITCH}) == SCENE_NONE ||
        kb_node_find(m->sc->cli->topo, "fabric.switch0.port0", 20, &rail) == KB_OK)
        seat_rails(m);
}

uint32_t mesh_first_io(const struct mesh *m, uint32_t sip)
{
    return scene_find(m->sc, sip, KB_NO_CUBE, "pcie_ep");
}

/* The nodes of cubes [from, to) of a SIP: [first, end). None: first = end. */
static void nodes_of(const struct mesh *m, uint32_t sip, uint32_t from, uint32_t to,
                     uint32_t *first, uint32_t *end)
{
    const uint32_t *of = &m->first[sip * m->cubes];

    while (from < to && of[from] == SCENE_NONE)
        from++;
    while (to < m->cubes && of[to] == SCENE_NONE)
        to++;
    *end = to < m->cubes ? of[to] : mesh_first_io(m, sip);
    *first = from < to && from < m->cubes && of[from] != SCENE_NONE ? of[from] : *end;
}

/* -- lengths -------------------------------------------------------------------------------- */

/* Is it a link around the mesh, and not between neighbours? */
static bool is_wrap(const struct mesh *m, const struct seat *a, const struct seat *b)
{
    int x = (int)(a->cube % m->w) + steps[a->side][0],
        y = (int)(a->cube / m->w) + steps[a->side][1];

    return x != (int)(b->cube % m->w) || y != (int)(b->cube / m->w);
}

/*
 * Lengths of links are in the edges, not in the limits of the topology. An edge between two ports
 * is a link between cubes; one from io_noc to a port is the shore, at the side of that port.
 */
static void see_length(void *arg, const kb_edge *edge)
{
    struct mesh *m = arg;
    const struct seat *a = &m->seat[edge->from], *b = &m->seat[edge->to];

    m->rail_links += mesh_is_rail(m, edge);
    if (a->part == SEAT_PORT && b->part == SEAT_PORT && m->is_net) {
        return;
    } else if (a->part == SEAT_PORT && b->part == SEAT_PORT) {
        bool wraps = is_wrap(m, a, b), level = a->side == SIDE_E || a->side == SIDE_W;

        m->wraps_x |= wraps && level;
        m->wraps_y |= wraps && !level;
        if (!wraps)
            m->gap_mm = edge->length_mm;
    } else if (a->part == SEAT_IO_NOC && b->part == SEAT_PORT) {
        m->shore_mm = edge->length_mm;
        m->chiplet_side[a->chiplet] = b->side;
        m->has_shore[b->side] = true;
    }
}

static void place_mesh(struct mesh *m)
{
    double step_x = m->cube_w_mm + m->gap_mm, step_y = m->cube_h_mm + m->gap_mm;

    for (uint32_t cube = 0; cube < m->cubes; cube++)
        m->at[cube] = (struct svg_point){cube % m->w * step_x, cube / m->w * step_y};
    m->w_mm = m->w * m->cube_w_mm + (m->w - 1) * m->gap_mm;
    m->h_mm = m->h * m->cube_h_mm + (m->h - 1) * m->gap_mm;
}

struct mesh mesh_of(struct scene *sc)
{
    const kb_info *info = &sc->cli->info;
    struct mesh m = {.sc = sc,
                     .w = info->mesh_w,
                     .h = info->mesh_h,
                     .cubes = info->cubes_per_sip,
                     .chiplet_side = {SIDE_W, SIDE_W, SIDE_W, SIDE_W}};
    kb_limits limits;

    kb_topology_limits(sc->cli->topo, &limits);
    m.cube_w_mm = limits.cube_w_mm;
    m.cube_h_mm = limits.cube_h_mm;
    seat_nodes(&m);
    kb_edges(sc->cli->topo, see_length, &m);
    m.at = memory_new(m.cubes, sizeof *m.at);
    if (m.is_net) {
        m.port_mm[SIDE_N] = (struct svg_point){m.cube_w_mm / 4, 0};
        mesh_place_net(&m);
    } else {
        place_mesh(&m);
    }
    return m;
}

void mesh_free(struct mesh *m)
{
    free(m->seat);
    free(m->first);
    free(m->at);
    free(m->place);
}

/* -- cubes ---------------------------------------------------------------------------------- */

static struct svg_point cube_at(const struct sip_place *p, uint32_t cube)
{
    const struct mesh *m = p->mesh;

    return (struct svg_point){p->x + m->at[cube].x * m->scale, p->y + m->at[cube].y * m->scale};
}

struct svg_point mesh_middle(const struct sip_place *p, uint32_t cube)
{
    const struct mesh *m = p->mesh;
    struct svg_point at = cube_at(p, cube);

    return (struct svg_point){at.x + m->cube_w_mm * m->scale / 2,
                              at.y + m->cube_h_mm * m->scale / 2};
}

void mesh_say_cubes(const struct mesh *m, char text[32])
{
    if (m->is_net)
        snprintf(text, 32, "%u cubes", m->cubes);
    else
        snprintf(text, 32, "%u \xc3\x97 %u cubes", m->w, m->h);
}

/* The width of the widest label of a cube. */
static double label_width(const struct mesh *m, double size)
{
    char label[16];

    snprintf(label, sizeof label, "c%u", m->cubes - 1);
    return svg_text_width(label, size);
}

/* What a cube has: "8 PEs", "5 of 8 PEs", "4 slices" of a memory cube. */
static void say_parts(struct scene_node *n, const kb_cube *cube)
{
    if (cube->n_pes < cube->pe_places)
        snprintf(n->detail, sizeof n->detail, "%u of %u PEs", cube->n_pes, cube->pe_places);
    else if (cube->n_pes == 0 && cube->n_slices == 0)
        strcpy(n->detail, "switch");
    else if (cube->n_pes == 0)
        snprintf(n->detail, sizeof n->detail, "%u slice%s", cube->n_slices,
                 cube->n_slices > 1 ? "s" : "");
    else
        snprintf(n->detail, sizeof n->detail, cube->n_pes > 1 ? "%u PEs" : "%u PE", cube->n_pes);
}

/* Labels of all cubes have one size: that at which the widest fits. */
static void add_cube(struct sip_place *p, uint32_t cube)
{
    const struct mesh *m = p->mesh;
    struct svg_point at = cube_at(p, cube);
    struct scene_node *n = scene_add_node(m->sc, SCENE_BOX, "box", at.x, at.y,
                                          m->cube_w_mm * m->scale, m->cube_h_mm * m->scale);
    uint32_t first, end;
    kb_cube has = {.n_slices = 0};

    n->missing = kb_cube_get(m->sc->cli->topo, p->sip, cube, &has) != KB_OK;
    snprintf(n->name, sizeof n->name, "sip%u.cube%u", p->sip, cube);
    snprintf(n->label, sizeof n->label, "c%u%s", cube, has.kind > 0 && !m->is_net ? "*" : "");
    n->small = label_width(m, LETTER) > n->w - 2;
    if (label_width(m, SMALL) > n->w - 2)
        *n->label = '\0';
    if (n->missing) {
        n->classes = "dash";
        strcpy(n->detail, "missing");
        return;
    }
    m->sc->has_kinds |= has.kind > 0 && !m->is_net;
    say_parts(n, &has);
    nodes_of(m, p->sip, cube, cube + 1, &first, &end);
    n->pct = view_utilization_most(m->sc->utilization, first, end);
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

/* Are cubes too small for labels? */
static bool needs_rulers(const struct mesh *m)
{
    return label_width(m, SMALL) > m->cube_w_mm * m->scale - 2 || SMALL >= m->cube_h_mm * m->scale;
}

void mesh_add_rulers(struct sip_place *p)
{
    const struct mesh *m = p->mesh;
    double step_x = (m->cube_w_mm + m->gap_mm) * m->scale;
    double step_y = (m->cube_h_mm + m->gap_mm) * m->scale, half = m->scale / 2;
    double up = m->wraps_y ? STUB_PX : 0, right = m->wraps_x ? STUB_PX : 0;
    uint32_t columns = every(step_x, 30), rows = every(step_y, 14);

    if (!needs_rulers(m) || m->is_net)
        return;
    for (uint32_t x = 0; x < m->w; x += columns) {
        struct scene_note *note = scene_add_note(m->sc, p->x + x * step_x + m->cube_w_mm * half,
                                                 p->y - 4 - up, SVG_MIDDLE);

        snprintf(note->text, sizeof note->text, "%u", x);
    }
    for (uint32_t y = 0; y < m->h; y += rows) {
        struct scene_note *note =
            scene_add_note(m->sc, p->x + m->w_mm * m->scale + 4 + right,
                           p->y + y * step_y + m->cube_h_mm * half + 3, SVG_START);

        snprintf(note->text, sizeof note->text, "c%u", y * m->w);
    }
    m->sc->width += 40;
}

/* All cubes as one box. */
static void add_block(struct sip_place *p)
{
    const struct mesh *m = p->mesh;
    struct scene_node *n =
        scene_add_node(m->sc, SCENE_BOX, "box", p->x, p->y, m->w_mm * m->scale, m->h_mm * m->scale);
    uint32_t first, end, missing = 0;

    snprintf(n->name, sizeof n->name, "sip%u.cubes", p->sip);
    mesh_say_cubes(m, n->label);
    for (uint32_t cube = 0; cube < m->cubes; cube++)
        missing += m->first[p->sip * m->cubes + cube] == SCENE_NONE;
    if (missing > 0)
        snprintf(n->detail, sizeof n->detail, "%u missing", missing);
    nodes_of(m, p->sip, 0, m->cubes, &first, &end);
    n->pct = view_utilization_most(m->sc->utilization, first, end);
}

void mesh_add_cubes(struct sip_place *p)
{
    p->first_cube = (uint32_t)p->mesh->sc->n_nodes;
    if (!p->mesh->tiles)
        add_block(p);
    for (uint32_t cube = 0; p->mesh->tiles && cube < p->mesh->cubes; cube++)
        add_cube(p, cube);
}

/* -- links ---------------------------------------------------------------------------------- */

/* The node of the scene that shows a port. */
static uint32_t cube_of_port(const struct sip_place *p, const struct seat *port)
{
    return p->first_cube + (p->mesh->tiles ? port->cube : 0);
}

/* How far a port is moved along its rim: planes lie side by side, stubs away from the shore. */
static double aside(const struct mesh *m, const struct seat *port, double plane, bool stub)
{
    bool level = port->side == SIDE_E || port->side == SIDE_W;
    double rim = (level ? m->cube_h_mm : m->cube_w_mm) * m->scale;
    uint32_t planes = m->sc->cli->info.planes;
    bool both = stub && m->has_shore[port->side];
    double step = fmin(PLANE_PX, rim / ((both ? 3 : 1) * planes + 1));

    return step * (plane - (planes - 1) / 2.0 + (both ? planes : 0));
}

static struct svg_point port_at(const struct sip_place *p, const struct seat *port, double plane,
                                bool stub)
{
    const struct mesh *m = p->mesh;
    struct svg_point at = cube_at(p, port->cube);
    const struct svg_point *mm = &m->port_mm[port->side];
    double move = aside(m, port, plane, stub);

    at.x += mm->x * m->scale + (steps[port->side][0] ? 0 : move);
    at.y += mm->y * m->scale + (steps[port->side][0] ? move : 0);
    return at;
}

void mesh_note(struct scene *sc, struct svg_point at, enum side side, const char *letter,
               uint32_t number)
{
    static const enum svg_anchor anchors[SIDES] = {SVG_MIDDLE, SVG_START, SVG_MIDDLE, SVG_END};
    struct scene_note *note = scene_add_note(sc, at.x + 3 * steps[side][0],
                                             at.y + (side == SIDE_N   ? -3
                                                     : side == SIDE_S ? SMALL + 1
                                                                      : 3),
                                             anchors[side]);

    snprintf(note->text, sizeof note->text, "%s%u", letter, number);
    note->taken_w = svg_text_width(note->text, SMALL);
}

static struct svg_point stub_end(struct svg_point at, enum side side)
{
    return (struct svg_point){at.x + STUB_PX * steps[side][0], at.y + STUB_PX * steps[side][1]};
}

/* The name of the cube at the other end, once for all planes and directions. */
static void note_stub(struct sip_place *p, const struct seat *port, const struct seat *other)
{
    struct scene *sc = p->mesh->sc;
    struct svg_point at = port_at(p, port, (sc->cli->info.planes - 1) / 2.0, true);

    if (needs_rulers(p->mesh))
        return;
    mesh_note(sc, stub_end(at, port->side), port->side, "c", other->cube);
    const struct scene_note *last = &sc->note_at[sc->n_notes - 1];
    for (const struct scene_note *n = sc->note_at; n < last; n++)
        if (n->x == last->x && n->y == last->y) {
            sc->n_notes--;
            return;
        }
}

static void add_wrap(struct sip_place *p, const kb_edge *edge)
{
    const struct seat *from = &p->mesh->seat[edge->from], *to = &p->mesh->seat[edge->to];
    struct scene_edge *e =
        scene_add_edge(p->mesh->sc, edge, cube_of_port(p, from), cube_of_port(p, to));
    struct svg_point a = port_at(p, from, from->plane, true), b = port_at(p, to, to->plane, true);
    struct svg_point out = stub_end(a, from->side), in = stub_end(b, to->side);

    e->stubs = true;
    scene_bend(e, a.x, a.y);
    scene_bend(e, out.x, out.y);
    scene_bend(e, in.x, in.y);
    scene_bend(e, b.x, b.y);
    if (e->back)
        return;
    note_stub(p, from, to);
    note_stub(p, to, from);
}

/* Between ports of neighbouring cubes, at their places on the rims. */
void mesh_add_d2d(struct sip_place *p, const kb_edge *edge)
{
    const struct seat *from = &p->mesh->seat[edge->from], *to = &p->mesh->seat[edge->to];

    if (!p->mesh->is_net && is_wrap(p->mesh, from, to)) {
        add_wrap(p, edge);
        return;
    }
    struct scene_edge *e =
        scene_add_edge(p->mesh->sc, edge, cube_of_port(p, from), cube_of_port(p, to));
    if (p->mesh->is_net) {
        e->of_net = true;
        mesh_add_net_link(p, e, from->cube, to->cube);
        return;
    }
    struct svg_point a = port_at(p, from, from->plane, false), b = port_at(p, to, to->plane, false);
    scene_bend(e, a.x, a.y);
    scene_bend(e, b.x, b.y);
}

void mesh_add_shore(struct sip_place *p, const kb_edge *edge, bool out)
{
    const struct mesh *m = p->mesh;
    const struct seat *port = &m->seat[out ? edge->from : edge->to];
    const struct io_place *io = &p->io[m->seat[out ? edge->to : edge->from].chiplet];
    struct svg_point at = port_at(p, port, port->plane, false), end = at;
    uint32_t cube = cube_of_port(p, port), chiplet = p->inside ? io->io_noc : io->io;
    struct scene_edge *e = scene_add_edge(m->sc, edge, out ? cube : chiplet, out ? chiplet : cube);

    *(steps[port->side][0] ? &end.x : &end.y) = io->rim;
    scene_bend(e, out ? at.x : end.x, out ? at.y : end.y);
    scene_bend(e, out ? end.x : at.x, out ? end.y : at.y);
}
