/*
 * scene_net.c -- where the cubes of a net stand in a picture, and how its links run.
 *
 * Each mesh or torus of `sip.net` is a grid, whatever is missing or broken in it, and whatever else
 * joins its cubes. Its dimensions alternate between level and upright: 4 x 4 x 4 cubes are four
 * grids of 4 x 4 side by side. Several grids stand in rows. Beside grids stand the cubes that are
 * of none, at the side where most of what they are joined to is, and switches below them. Without a
 * grid, cubes that are joined by switches alone stand above them, in levels; other cubes on a ring,
 * with the switches inside. A torus of one dimension is a ring, too, if there is no other grid.
 *
 * Most links are straight lines from the middle of a cube to that of another. One that closes a
 * ring of a torus, or joins cubes in a third dimension, has two stubs in place of a line, each with
 * the name of the cube at the other end. One that joins cubes further apart in a row or column of a
 * grid runs in the gap beside it. Two links between the same cubes lie beside each other.
 *
 * Example, mi300x: c0 to c3 are a mesh of 2 x 2; c4, c5, c8 and c9 are joined to c0 and c2 and
 * stand to the left, by these.
 */
#include "cli/view/scene_mesh.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 9, PAIR_PX = 8, SLANT_PX = 9, BOW_LANES = 4, BOW_PX = 38 };

static const double PI = 3.14159265358979;

/* What is joined in SIP 0, by cubes: all SIPs have the same places. */
struct net {
    struct mesh *m;
    uint32_t *first, *to; /* owned: cube c is joined to to[first[c]], ..., to[first[c + 1] - 1] */
    uint32_t n;
    bool *is_switch; /* owned */
};

/* -- links ---------------------------------------------------------------------------------- */

static bool is_link(const struct mesh *m, const kb_edge *edge)
{
    const struct seat *a = &m->seat[edge->from], *b = &m->seat[edge->to];

    return a->part == SEAT_PORT && b->part == SEAT_PORT && a->sip == 0 && b->sip == 0;
}

static void count_link(void *arg, const kb_edge *edge)
{
    struct net *net = arg;

    if (is_link(net->m, edge)) {
        net->first[net->m->seat[edge->from].cube + 1]++;
        net->n++;
    }
}

/* first[c + 1] counts up to where the links of cube c end. */
static void note_link(void *arg, const kb_edge *edge)
{
    struct net *net = arg;

    if (is_link(net->m, edge))
        net->to[net->first[net->m->seat[edge->from].cube + 1]++] = net->m->seat[edge->to].cube;
}

static struct net net_of(struct mesh *m)
{
    struct net net = {.m = m, .first = memory_new(m->cubes + 2, sizeof *net.first)};

    kb_edges(m->sc->cli->topo, count_link, &net);
    net.to = memory_new(net.n + 1, sizeof *net.to);
    for (uint32_t c = m->cubes + 1; c > 0; c--)
        net.first[c] = net.first[c - 1];
    for (uint32_t c = 1; c <= m->cubes + 1; c++)
        net.first[c] += net.first[c - 1];
    kb_edges(m->sc->cli->topo, note_link, &net);
    net.is_switch = memory_new(m->cubes, sizeof *net.is_switch);
    for (uint32_t c = 0; c < m->cubes; c++) {
        kb_cube cube = {.n_pes = 1};

        kb_cube_get(m->sc->cli->topo, 0, c, &cube);
        net.is_switch[c] = cube.n_pes == 0 && cube.n_slices == 0;
    }
    return net;
}

/* -- grids ---------------------------------------------------------------------------------- */

static bool is_placed(const struct mesh *m, uint32_t cube)
{
    return m->place[cube].dims > 0;
}

/* Is it the one grid of all, and a ring? */
static bool is_ring(const struct mesh *m, const kb_cube_place *place)
{
    if (place->dims != 1 || !place->closes || place->size[0] <= 2)
        return false;
    for (uint32_t c = 0; c < m->cubes; c++)
        if (is_placed(m, c) && m->place[c].grid != place->grid)
            return false;
    return true;
}

/* Finds the place of each cube in its grid. Returns how many grids there are, 0 for a ring. */
static uint32_t find_places(struct mesh *m)
{
    uint32_t n = 0;

    m->place = memory_new(m->cubes + 1, sizeof *m->place);
    for (uint32_t c = 0; c < m->cubes; c++)
        if (kb_cube_place_get(m->sc->cli->topo, c, &m->place[c]) == KB_OK && m->place[c].grid >= n)
            n = m->place[c].grid + 1;
    for (uint32_t c = 0; n && c < m->cubes; c++)
        if (is_placed(m, c) && is_ring(m, &m->place[c])) {
            memset(m->place, 0, m->cubes * sizeof *m->place);
            return 0;
        }
    return n;
}

/* The place of a cube in its grid, in cubes: those beyond two dimensions have a gap of one. */
static struct svg_point grid_at(const kb_cube_place *place, const uint32_t *at)
{
    double step[2] = {1, 1}, sum[2] = {0, 0};

    for (uint32_t d = 0; d < place->dims; d++) {
        sum[d % 2] += at[d] * step[d % 2];
        step[d % 2] = step[d % 2] * place->size[d] + 1;
    }
    return (struct svg_point){sum[0], sum[1]};
}

/* The cubes from left to right and from top to bottom of a grid. */
static struct svg_point grid_size(const kb_cube_place *place)
{
    uint32_t last[KB_GRID_DIMS];
    struct svg_point at;

    for (uint32_t d = 0; d < place->dims; d++)
        last[d] = place->size[d] - 1;
    at = grid_at(place, last);
    return (struct svg_point){at.x + 1, at.y + 1};
}

/* Sizes of grids; those whose cubes are all of other grids have none. Returns how wide a row of
 * them may be, about as wide as all are high, and no grid is wider. */
static double sizes_of(const struct mesh *m, struct svg_point *size)
{
    double area = 0, widest = 0;

    for (uint32_t c = 0; c < m->cubes; c++) {
        struct svg_point *own = &size[m->place[c].grid];

        if (!is_placed(m, c) || own->x > 0)
            continue;
        *own = grid_size(&m->place[c]);
        area += (own->x + 1) * (own->y + 1);
        widest = fmax(widest, own->x);
    }
    return fmax(widest, sqrt(2 * area));
}

/* Places the cubes of `n` grids, these in rows. Returns the size of all. */
static struct svg_point place_grids(struct mesh *m, uint32_t n)
{
    struct svg_point *size = memory_new(n + 1, sizeof *size), *at = memory_new(n + 1, sizeof *at);
    struct svg_point next = {0, 0}, all = {0, 0};
    double room = sizes_of(m, size);

    for (uint32_t g = 0; g < n; g++) {
        if (next.x > 0 && next.x + size[g].x > room)
            next = (struct svg_point){0, all.y + 1};
        at[g] = next;
        all = (struct svg_point){fmax(all.x, next.x + size[g].x), fmax(all.y, next.y + size[g].y)};
        next.x += size[g].x > 0 ? size[g].x + 1 : 0;
    }
    for (uint32_t c = 0; c < m->cubes; c++)
        if (is_placed(m, c)) {
            struct svg_point in = grid_at(&m->place[c], m->place[c].at);

            m->at[c] =
                (struct svg_point){at[m->place[c].grid].x + in.x, at[m->place[c].grid].y + in.y};
        }
    free(size);
    free(at);
    return all;
}

/* The dimension in which two cubes of a grid differ alone, and by how much; KB_GRID_DIMS: none. */
static uint32_t dimension_of(const struct mesh *m, uint32_t a, uint32_t b, int *by)
{
    const kb_cube_place *from = &m->place[a], *to = &m->place[b];
    uint32_t found = KB_GRID_DIMS;

    if (!is_placed(m, a) || !is_placed(m, b) || from->grid != to->grid)
        return KB_GRID_DIMS;
    for (uint32_t d = 0; d < from->dims; d++) {
        if (from->at[d] == to->at[d])
            continue;
        if (found != KB_GRID_DIMS)
            return KB_GRID_DIMS;
        found = d;
        *by = (int)to->at[d] - (int)from->at[d];
    }
    return found;
}

/* How a link is drawn. */
enum way { WAY_LINE, WAY_STUBS, WAY_BOW };

static enum way way_of(const struct mesh *m, uint32_t a, uint32_t b, uint32_t *d, int *by)
{
    *d = dimension_of(m, a, b, by);
    if (*d == KB_GRID_DIMS)
        return WAY_LINE;
    if (abs(*by) > 1 && m->place[a].closes && abs(*by) == (int)m->place[a].size[*d] - 1)
        return WAY_STUBS;
    if (*d > 1)
        return abs(*by) == 1 ? WAY_STUBS : WAY_LINE;
    return abs(*by) > 1 ? WAY_BOW : WAY_LINE;
}

/* Beside cubes of a grid there is room for stubs and bows, at all sides or none. */
static void find_room(const struct net *net)
{
    struct mesh *m = net->m;

    for (uint32_t c = 0; c < m->cubes; c++)
        for (uint32_t i = net->first[c]; i < net->first[c + 1]; i++) {
            uint32_t d;
            int by;
            enum way way = way_of(m, c, net->to[i], &d, &by);

            m->wraps_x |= (way == WAY_STUBS && d != 1) || (way == WAY_BOW && d == 1);
            m->wraps_y |= (way == WAY_STUBS && d != 0) || (way == WAY_BOW && d == 0);
        }
}

static bool is_deep(const struct mesh *m)
{
    for (uint32_t c = 0; c < m->cubes; c++)
        if (m->place[c].dims > 2)
            return true;
    return false;
}

/* -- other cubes ---------------------------------------------------------------------------- */

/* The middle of what a cube is joined to in the grid; `none`: of nothing. */
static struct svg_point middle_of(const struct net *net, uint32_t cube, struct svg_point none)
{
    struct svg_point sum = {0, 0};
    uint32_t n = 0;

    for (uint32_t i = net->first[cube]; i < net->first[cube + 1]; i++)
        if (is_placed(net->m, net->to[i])) {
            sum.x += net->m->at[net->to[i]].x;
            sum.y += net->m->at[net->to[i]].y;
            n++;
        }
    return n ? (struct svg_point){sum.x / n, sum.y / n} : none;
}

/* A cube to be placed, by its number and what it should be near. */
struct other {
    uint32_t cube;
    double by;
};

static int by_place(const void *a, const void *b)
{
    const struct other *x = a, *y = b;

    return x->by != y->by ? (x->by > y->by) - (x->by < y->by)
                          : (x->cube > y->cube) - (x->cube < y->cube);
}

/* Places cubes in columns of at most `most`, in the middle of the height `h`; `dx` is from column
 * to column. */
static void place_column(struct mesh *m, struct other *of, uint32_t n, double x, double dx,
                         double h)
{
    uint32_t columns = (n + (uint32_t)fmax(h, 8) - 1) / (uint32_t)fmax(h, 8);
    uint32_t rows = columns ? (n + columns - 1) / columns : 0;

    qsort(of, n, sizeof *of, by_place);
    for (uint32_t i = 0; i < n; i++)
        m->at[of[i].cube] = (struct svg_point){x + i / rows * dx, i % rows + (h - rows) / 2};
}

/* Beside and below grids of w x h. */
static void place_beside(const struct net *net, double w, double h)
{
    struct mesh *m = net->m;
    struct svg_point middle = {(w - 1) / 2, (h - 1) / 2};
    struct other *of[3]; /* left, right, switches */
    uint32_t n[3] = {0, 0, 0};

    for (int i = 0; i < 3; i++)
        of[i] = memory_new(m->cubes + 1, sizeof *of[i]);
    for (uint32_t c = 0; c < m->cubes; c++) {
        struct svg_point near = middle_of(net, c, middle);
        int where = net->is_switch[c] ? 2 : near.x < middle.x ? 0 : 1;

        if (!is_placed(m, c))
            of[where][n[where]++] = (struct other){c, where == 2 ? near.x : near.y};
    }
    place_column(m, of[0], n[0], -1.5, -1, h);
    place_column(m, of[1], n[1], w + 0.5, 1, h);
    qsort(of[2], n[2], sizeof *of[2], by_place);
    for (uint32_t i = 0; i < n[2]; i++)
        m->at[of[2][i].cube] =
            (struct svg_point){i + (w - n[2]) / 2, fmax(h, fmax(n[0], n[1]) / 2 + h / 2) + 0.5};
    for (int i = 0; i < 3; i++)
        free(of[i]);
}

/* How many links away from the nearest cube that is no switch. */
static uint32_t *levels_of(const struct net *net)
{
    uint32_t cubes = net->m->cubes, *level = memory_new(cubes + 1, sizeof *level);
    bool more = true;

    for (uint32_t c = 0; c < cubes; c++)
        level[c] = net->is_switch[c] ? cubes : 0;
    for (uint32_t far = 0; more; far++) {
        more = false;
        for (uint32_t c = 0; c < cubes; c++)
            for (uint32_t i = net->first[c]; level[c] == far && i < net->first[c + 1]; i++)
                if (level[net->to[i]] > far + 1) {
                    level[net->to[i]] = far + 1;
                    more = true;
                }
    }
    return level;
}

/* A row for each level, from above, the middle of all in one line. */
static void place_levels(const struct net *net)
{
    struct mesh *m = net->m;
    uint32_t *level = levels_of(net), *n = memory_new(m->cubes + 2, sizeof *n);
    uint32_t *at = memory_new(m->cubes + 2, sizeof *at);

    for (uint32_t c = 0; c < m->cubes; c++)
        n[level[c]]++;
    for (uint32_t c = 0; c < m->cubes; c++)
        m->at[c] = (struct svg_point){at[level[c]]++ - (n[level[c]] - 1) / 2.0, level[c] * 2.0};
    free(level);
    free(n);
    free(at);
}

/* On a ring; switches in a block inside of it. */
static void place_ring(const struct net *net)
{
    struct mesh *m = net->m;
    uint32_t switches = 0, i = 0, k = 0;

    for (uint32_t c = 0; c < m->cubes; c++)
        switches += net->is_switch[c];
    uint32_t n = m->cubes - switches, columns = (uint32_t)ceil(sqrt(switches));
    double r = fmax(n > 1 ? 0.75 / sin(PI / n) : 0, switches ? columns * 0.71 + 1 : 0);

    for (uint32_t c = 0; c < m->cubes; c++)
        if (net->is_switch[c]) {
            m->at[c] = (struct svg_point){k % columns - (columns - 1) / 2.0,
                                          k / columns - (columns - 1) / 2.0};
            k++;
        } else {
            double angle = 2 * PI * i++ / n;

            m->at[c] = (struct svg_point){r * sin(angle), -r * cos(angle)};
        }
}

/* Does a link join two cubes of which neither is a switch? */
static bool has_direct(const struct net *net)
{
    for (uint32_t c = 0; c < net->m->cubes; c++)
        for (uint32_t i = net->first[c]; i < net->first[c + 1]; i++)
            if (!net->is_switch[c] && !net->is_switch[net->to[i]])
                return true;
    return false;
}

/* Places are moved so that the least are 0, and become millimetres: a step is half a cube more. */
static void to_mm(struct mesh *m)
{
    double step_x = m->cube_w_mm + m->gap_mm, step_y = m->cube_h_mm + m->gap_mm;
    struct svg_point low = m->at[0], high = m->at[0];

    for (uint32_t c = 1; c < m->cubes; c++) {
        low = (struct svg_point){fmin(low.x, m->at[c].x), fmin(low.y, m->at[c].y)};
        high = (struct svg_point){fmax(high.x, m->at[c].x), fmax(high.y, m->at[c].y)};
    }
    for (uint32_t c = 0; c < m->cubes; c++)
        m->at[c] = (struct svg_point){(m->at[c].x - low.x) * step_x, (m->at[c].y - low.y) * step_y};
    m->w_mm = (high.x - low.x) * step_x + m->cube_w_mm;
    m->h_mm = (high.y - low.y) * step_y + m->cube_h_mm;
}

void mesh_place_net(struct mesh *m)
{
    struct net net = net_of(m);
    uint32_t grids = find_places(m);

    m->gap_mm = fmax(m->cube_w_mm, m->cube_h_mm) / (is_deep(m) ? 1 : 2);
    find_room(&net);
    if (grids) {
        struct svg_point size = place_grids(m, grids);

        place_beside(&net, size.x, size.y);
    } else if (has_direct(&net)) {
        place_ring(&net);
    } else {
        place_levels(&net);
    }
    to_mm(m);
    free(net.first);
    free(net.to);
    free(net.is_switch);
}

/* -- the drawing of links ------------------------------------------------------------------- */

/* A text at the end of a stub, on the side to which it leads. */
static void note_end(struct mesh *m, struct svg_point end, double dx, uint32_t cube)
{
    struct scene_note *note = scene_add_note(m->sc,
                                             end.x + 2 * (dx > 0   ? 1
                                                          : dx < 0 ? -1
                                                                   : 0),
                                             0,
                                             dx > 0   ? SVG_START
                                             : dx < 0 ? SVG_END
                                                      : SVG_MIDDLE);

    snprintf(note->text, sizeof note->text, "c%u", cube);
    note->taken_w = svg_text_width(note->text, SMALL);
    note->y = end.y;
}

/* How a stub leaves a cube in dimension `d`: to the right, down, and by turns from the corners
 * above, each pair of dimensions further in and longer than the one before. */
struct stub {
    double dx, dy, px, in;
};

static struct stub stub_of(uint32_t d)
{
    if (d < 2)
        return (struct stub){d == 0, d == 1, STUB_PX, 0};
    return (struct stub){d % 2 ? -1 : 1, -1, SLANT_PX * (d / 2), SLANT_PX * (d / 2 - 1) * 1.5};
}

/* A link whose ends are stubs, which leave in dimension `d`, forwards or back. */
static void add_stubs(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b, uint32_t d,
                      int way)
{
    struct mesh *m = p->mesh;
    struct stub stub = stub_of(d);
    double w = stub.dx * (m->cube_w_mm * m->scale / 2 - stub.in);
    double h = stub.dy * m->cube_h_mm * m->scale / 2, x = stub.dx * stub.px, y = stub.dy * stub.px;
    struct svg_point at = mesh_middle(p, a), to = mesh_middle(p, b);
    struct svg_point from = {at.x + way * w, at.y + way * h};
    struct svg_point into = {to.x - way * w, to.y - way * h};
    struct svg_point out = {from.x + way * x, from.y + way * y};
    struct svg_point in = {into.x - way * x, into.y - way * y};

    e->stubs = true;
    scene_bend(e, from.x, from.y);
    scene_bend(e, out.x, out.y);
    scene_bend(e, in.x, in.y);
    scene_bend(e, into.x, into.y);
    if (e->back)
        return;
    out.y += d == 1 ? (way > 0 ? SMALL : -2) : 3 + way * stub.dy * 3;
    in.y += d == 1 ? (way > 0 ? -2 : SMALL) : 3 - way * stub.dy * 3;
    note_end(m, out, way * stub.dx, b);
    note_end(m, in, -way * stub.dx, a);
}

/* Links from one node to another that were added before `e`. */
static uint32_t links_from(const struct scene *sc, const struct scene_edge *e, uint32_t from,
                           uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t k = sc->node[from].link; k; k = sc->edge[k - 1].link)
        n += sc->edge[k - 1].to == to && &sc->edge[k - 1] < e - e->back;
    return n;
}

/* How many links of the same two cubes were added before this one: one that closes a ring of two
 * may come long after the other. */
static uint32_t links_before(const struct scene *sc, const struct scene_edge *e)
{
    return links_from(sc, e, e->from, e->to) + links_from(sc, e, e->to, e->from);
}

/* Of two directions, the first. */
static void chain_link(struct scene *sc, struct scene_edge *e)
{
    if (e->back)
        return;
    e->link = sc->node[e->from].link;
    sc->node[e->from].link = (uint32_t)(e - sc->edge) + 1;
}

/* Where the line from the middle of a cube leaves it. */
static struct svg_point rim_of(const struct mesh *m, struct svg_point from, struct svg_point to)
{
    double dx = to.x - from.x, dy = to.y - from.y;
    double w = m->cube_w_mm * m->scale / 2, h = m->cube_h_mm * m->scale / 2;
    double part = fmin(dx != 0 ? w / fabs(dx) : 1, dy != 0 ? h / fabs(dy) : 1);

    return (struct svg_point){from.x + part * dx, from.y + part * dy};
}

static void add_line(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b)
{
    struct mesh *m = p->mesh;
    struct svg_point from = mesh_middle(p, a), to = mesh_middle(p, b);
    struct svg_point begin = rim_of(m, from, to), end = rim_of(m, to, from);
    double length = svg_length(to.x - from.x, to.y - from.y);
    double aside = (a < b ? PAIR_PX : -PAIR_PX) * (double)links_before(m->sc, e) / fmax(length, 1);
    double dx = aside * (to.y - from.y), dy = -aside * (to.x - from.x);

    scene_bend(e, begin.x + dx, begin.y + dy);
    scene_bend(e, end.x + dx, end.y + dy);
}

/* A link past cubes of its row, or of its column: in the gap above it, or at its left. Links from
 * other cubes, or of other lengths, have other lanes there. */
static void add_bow(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b, uint32_t d,
                    int by)
{
    struct mesh *m = p->mesh;
    struct svg_point from = mesh_middle(p, a), to = mesh_middle(p, b);
    uint32_t first = by > 0 ? a : b;
    double length = (d == 0 ? m->cube_w_mm : m->cube_h_mm) * m->scale;
    double out = (d == 0 ? m->cube_h_mm : m->cube_w_mm) * m->scale / 2;
    double lane = 1 + (m->place[first].at[d] + (uint32_t)abs(by)) % BOW_LANES;
    double aside = PAIR_PX * (double)links_before(m->sc, e);
    double gap = fmin(m->gap_mm * m->scale, BOW_PX) * lane / (BOW_LANES + 1) + aside;
    double in = (by > 0 ? 1 : -1) * (length * (0.5 - 0.4 / abs(by)) - aside);

    if (d == 0) {
        scene_bend(e, from.x + in, from.y - out);
        scene_bend(e, from.x + in, from.y - out - gap);
        scene_bend(e, to.x - in, to.y - out - gap);
        scene_bend(e, to.x - in, to.y - out);
    } else {
        scene_bend(e, from.x - out, from.y + in);
        scene_bend(e, from.x - out - gap, from.y + in);
        scene_bend(e, to.x - out - gap, to.y - in);
        scene_bend(e, to.x - out, to.y - in);
    }
}

/* Do its stubs leave forwards or back? Of two links between the same cubes, on a ring of two, one
 * leaves forwards and the other back. */
static int way_out(const struct scene *sc, const struct scene_edge *e, int by)
{
    bool wraps = abs(by) > 1 || links_before(sc, e) % 2;

    return (by > 0) == wraps ? -1 : 1;
}

void mesh_add_net_link(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b)
{
    uint32_t d;
    int by;

    switch (way_of(p->mesh, a, b, &d, &by)) {
    case WAY_STUBS:
        add_stubs(p, e, a, b, d, way_out(p->mesh->sc, e, by));
        break;
    case WAY_BOW:
        add_bow(p, e, a, b, d, by);
        break;
    case WAY_LINE:
        add_line(p, e, a, b);
    }
    chain_link(p->mesh->sc, e);
}
