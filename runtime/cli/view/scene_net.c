/*
 * scene_net.c -- where the cubes of a net stand in a picture, and how its links run.
 *
 * The places follow from the links alone. Cubes from c0 on are a grid as far as they are joined
 * like one: c0 to c1, c2, ... is its first dimension, the second joins each of these to the one as
 * many further on, and so on. Dimensions alternate between level and upright: 4 x 4 x 4 cubes are
 * four grids of 4 x 4 side by side. Beside a grid stand the cubes that are not of it, at the side
 * where most of what they are joined to is, and switches below it. Without a grid, cubes that are
 * joined by switches alone stand above them, in levels; other cubes on a ring, with the switches
 * inside.
 *
 * Links are straight lines from the middle of a cube to that of another. One that joins cubes of a
 * grid in one dimension, but not side by side, has two stubs in place of a line, each with the name
 * of the cube at the other end. Two links between the same cubes lie beside each other.
 *
 * Example, mi300x: c0-c1, c0-c2, c1-c3, c2-c3 are a grid of 2 x 2, since c1 is not joined to c2,
 * nor c2 to c4. c4, c5, c8 and c9 are joined to c0 and c2 and stand to the left, by these.
 */
#include "cli/view/scene_mesh.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 9, PAIR_PX = 8, SLANT_PX = 9 };

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

static bool are_joined(const struct net *net, uint32_t a, uint32_t b)
{
    for (uint32_t i = net->first[a]; i < net->first[a + 1]; i++)
        if (net->to[i] == b)
            return true;
    return false;
}

/* -- a grid --------------------------------------------------------------------------------- */

/* Is each of `n` cubes from `at` on joined to the one n further on? */
static bool steps_on(const struct net *net, uint32_t at, uint32_t n)
{
    if (at + 2 * n > net->m->cubes)
        return false;
    for (uint32_t i = at; i < at + n; i++)
        if (!are_joined(net, i, i + n))
            return false;
    return true;
}

/* Finds the dimensions of the grid: none, or all cubes in a line, or two and more. */
static void find_grid(const struct net *net)
{
    struct mesh *m = net->m;
    uint32_t n = 1;

    while (m->n_dims < MESH_DIMS_MAX) {
        uint32_t k = 1;

        while (steps_on(net, (k - 1) * n, n))
            k++;
        if (k == 1)
            break;
        m->dim[m->n_dims++] = k;
        n *= k;
    }
    if (m->n_dims == 1 && !(n == m->cubes && net->n <= 2 * (n - 1)))
        m->n_dims = n = 0;
    m->in_grid = m->n_dims ? n : 0;
}

/* The places of cubes in the grid, in cubes: those beyond two dimensions have a gap of one. */
static struct svg_point grid_at(const struct mesh *m, uint32_t cube)
{
    double step[2] = {1, 1}, at[2] = {0, 0};

    for (uint32_t d = 0; d < m->n_dims; d++) {
        at[d % 2] += cube % m->dim[d] * step[d % 2];
        step[d % 2] = step[d % 2] * m->dim[d] + 1;
        cube /= m->dim[d];
    }
    return (struct svg_point){at[0], at[1]};
}

/* -- other cubes ---------------------------------------------------------------------------- */

/* The middle of what a cube is joined to in the grid; `none`: of nothing. */
static struct svg_point middle_of(const struct net *net, uint32_t cube, struct svg_point none)
{
    struct svg_point sum = {0, 0};
    uint32_t n = 0;

    for (uint32_t i = net->first[cube]; i < net->first[cube + 1]; i++)
        if (net->to[i] < net->m->in_grid) {
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

/* Beside and below a grid of w x h. */
static void place_beside(const struct net *net, double w, double h)
{
    struct mesh *m = net->m;
    struct svg_point middle = {(w - 1) / 2, (h - 1) / 2};
    struct other *of[3]; /* left, right, switches */
    uint32_t n[3] = {0, 0, 0};

    for (int i = 0; i < 3; i++)
        of[i] = memory_new(m->cubes + 1, sizeof *of[i]);
    for (uint32_t c = m->in_grid; c < m->cubes; c++) {
        struct svg_point near = middle_of(net, c, middle);
        int where = net->is_switch[c] ? 2 : near.x < middle.x ? 0 : 1;

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

    find_grid(&net);
    m->gap_mm = fmax(m->cube_w_mm, m->cube_h_mm) / (m->n_dims > 2 ? 1 : 2);
    for (uint32_t c = 0; c < m->in_grid; c++)
        m->at[c] = grid_at(m, c);
    m->wraps_x = m->n_dims > 0 && m->dim[0] > 2 && are_joined(&net, 0, m->dim[0] - 1);
    m->wraps_y = m->n_dims > 1 && m->dim[1] > 2 && are_joined(&net, 0, m->dim[0] * (m->dim[1] - 1));
    if (m->in_grid)
        place_beside(&net, grid_at(m, m->in_grid - 1).x + 1, grid_at(m, m->in_grid - 1).y + 1);
    else if (has_direct(&net))
        place_ring(&net);
    else
        place_levels(&net);
    to_mm(m);
    free(net.first);
    free(net.to);
    free(net.is_switch);
}

/* -- the drawing of links ------------------------------------------------------------------- */

/* The dimension in which two cubes of the grid differ alone, and by how much; MESH_DIMS_MAX: none.
 */
static uint32_t dimension_of(const struct mesh *m, uint32_t a, uint32_t b, int *by)
{
    uint32_t found = MESH_DIMS_MAX;

    if (a >= m->in_grid || b >= m->in_grid)
        return MESH_DIMS_MAX;
    for (uint32_t d = 0; d < m->n_dims; d++) {
        int step = (int)(b % m->dim[d]) - (int)(a % m->dim[d]);

        if (step && found != MESH_DIMS_MAX)
            return MESH_DIMS_MAX;
        if (step) {
            found = d;
            *by = step;
        }
        a /= m->dim[d];
        b /= m->dim[d];
    }
    return found;
}

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

/* A link whose ends are stubs, which leave in dimension `d`, forwards or back. */
static void add_stubs(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b, uint32_t d,
                      int way)
{
    struct mesh *m = p->mesh;
    double dx = d == 0 ? 1 : d == 1 ? 0 : 1, dy = d == 0 ? 0 : d == 1 ? 1 : -1;
    double w = m->cube_w_mm * m->scale / 2, h = m->cube_h_mm * m->scale / 2;
    double px = d < 2 ? STUB_PX : SLANT_PX;
    struct svg_point at = mesh_middle(p, a), to = mesh_middle(p, b);
    struct svg_point from = {at.x + way * dx * w, at.y + way * dy * h};
    struct svg_point into = {to.x - way * dx * w, to.y - way * dy * h};
    struct svg_point out = {from.x + way * dx * px, from.y + way * dy * px};
    struct svg_point in = {into.x - way * dx * px, into.y - way * dy * px};

    e->stubs = true;
    scene_bend(e, from.x, from.y);
    scene_bend(e, out.x, out.y);
    scene_bend(e, in.x, in.y);
    scene_bend(e, into.x, into.y);
    if (e->back)
        return;
    out.y += d == 1 ? (way > 0 ? SMALL : -2) : 3 + way * dy * 3;
    in.y += d == 1 ? (way > 0 ? -2 : SMALL) : 3 - way * dy * 3;
    note_end(m, out, way * dx, b);
    note_end(m, in, -way * dx, a);
}

/* How many links of the same two cubes were added before this one, of a cube whose links come one
 * after the other. */
static uint32_t links_before(const struct scene *sc, const struct scene_edge *e)
{
    uint32_t n = 0;

    for (const struct scene_edge *f = e - e->back - 1;
         f >= sc->edge &&
         (f->from == e->from || f->to == e->from || f->from == e->to || f->to == e->to);
         f--)
        n += !f->back &&
             ((f->from == e->from && f->to == e->to) || (f->from == e->to && f->to == e->from));
    return n;
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

void mesh_add_net_link(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b)
{
    int by = 0;
    uint32_t d = dimension_of(p->mesh, a, b, &by);
    bool closes = d != MESH_DIMS_MAX && abs(by) > 1 && abs(by) == (int)p->mesh->dim[d] - 1;

    if (closes || (d != MESH_DIMS_MAX && d > 1 && abs(by) == 1))
        add_stubs(p, e, a, b, d, (by > 0) == closes ? -1 : 1);
    else
        add_line(p, e, a, b);
}
