/* scene_svg.c -- a scene as SVG: components, edges, labels where there is room, and a legend. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/view/scene.h"
#include "base/text.h"

enum {
    MARGIN = 24,
    TITLE_PX = 56,
    LETTER = 11,
    SMALL = 9,
    SIDE_PX = 2,  /* a direction of a link from its middle */
    HEAD_PX = 6,  /* an arrow's head */
    ROOM_PX = 10, /* a shorter line is not labelled */
    KINDS_MAX = 24,
    KIND_BYTES = 96,
    LEGEND_ROW = 16,
};

struct box {
    double x, y, w, h;
};

/* A kind of link, for the legend. */
struct kind {
    char text[KIND_BYTES];
};

/* One writing of a scene. */
struct drawing {
    struct scene *sc;
    struct svg g;
    struct box *taken; /* owned: where no label goes */
    size_t n_taken, room;
    struct view_busiest drawn, listed; /* with --stats: labelled, and in the legend */
    struct kind kind[KINDS_MAX];
    size_t n_kinds;
};

/* -- where there is room -------------------------------------------------------------------- */

static void take(struct drawing *d, struct box b)
{
    if (d->n_taken == d->room) {
        size_t room = d->room ? 2 * d->room : 1024;
        struct box *taken = realloc(d->taken, room * sizeof *taken);

        if (!taken) {
            d->sc->no_memory = true;
            return;
        }
        d->taken = taken;
        d->room = room;
    }
    d->taken[d->n_taken++] = b;
}

static bool is_free(const struct drawing *d, const struct box *b)
{
    for (size_t i = 0; i < d->n_taken; i++) {
        const struct box *t = &d->taken[i];

        if (b->x < t->x + t->w && t->x < b->x + b->w && b->y < t->y + t->h && t->y < b->y + b->h)
            return false;
    }
    return true;
}

static void take_line(struct drawing *d, struct svg_point a, struct svg_point b)
{
    const double half = SIDE_PX + 1;

    take(d, (struct box){fmin(a.x, b.x) - half, fmin(a.y, b.y) - half, fabs(a.x - b.x) + 2 * half,
                         fabs(a.y - b.y) + 2 * half});
}

static void take_rim(struct drawing *d, const struct scene_node *n)
{
    struct svg_point a = {n->x, n->y}, b = {n->x + n->w, n->y}, c = {n->x + n->w, n->y + n->h},
                     e = {n->x, n->y + n->h};

    take_line(d, a, b);
    take_line(d, b, c);
    take_line(d, c, e);
    take_line(d, e, a);
}

static void take_all(struct drawing *d)
{
    const struct scene *sc = d->sc;

    for (size_t i = 0; i < sc->n_nodes; i++)
        if (sc->node[i].look == SCENE_BOX)
            take(d, (struct box){sc->node[i].x, sc->node[i].y, sc->node[i].w, sc->node[i].h});
        else
            take_rim(d, &sc->node[i]);
    for (size_t i = 0; i < sc->n_edges; i++)
        for (uint32_t k = 1; k < sc->edge[i].n_at; k++)
            take_line(d, sc->edge[i].at[k - 1], sc->edge[i].at[k]);
    for (size_t i = 0; i < sc->n_dots; i++)
        take(d, (struct box){sc->dot[i].x - 4, sc->dot[i].y - 4, 8, 8});
}

/* -- nodes ---------------------------------------------------------------------------------- */

static char *put_number(char *to, double value, int decimals)
{
    char text[SVG_NUMBER_BYTES];

    return text_put_text(to, svg_short(value, decimals, text));
}

/* Name, overhead, point and use, a line each. */
static void node_tip(struct drawing *d, const struct scene_node *n)
{
    char tip[KB_NODE_BYTES + 4 * TEXT_NUMBER_BYTES], *p = text_put_text(tip, n->name);
    kb_node info;

    if (n->node != SCENE_NONE && kb_node_get(d->sc->cli->topo, n->node, &info) == KB_OK) {
        p = text_put_text(p, "\noverhead ");
        p = put_number(p, (double)info.overhead_fs / (double)KB_FS_PER_NS, 6);
        p = text_put_text(p, " ns");
        if (info.placed) {
            p = put_number(text_put_text(p, "\nat "), info.x_mm, 6);
            p = put_number(text_put_text(p, ", "), info.y_mm, 6);
            p = text_put_text(p, " mm");
        }
    }
    if (!isnan(n->pct))
        p = text_put_text(put_number(text_put_text(p, "\n"), n->pct, 1), " % busy");
    *p = '\0';
    svg_tip(&d->g, tip);
}

/* Writes `text` in the middle of a box, small if it must, not at all if it does not fit. */
static bool put_inside(struct drawing *d, const struct box *b, double y, const char *text,
                       bool small)
{
    if (!*text)
        return false;
    if (!small && svg_text_width(text, LETTER) <= b->w - 2 && b->h >= LETTER + 2) {
        svg_text(&d->g, NULL, b->x + b->w / 2, y + LETTER * 0.36, SVG_MIDDLE, text);
        return true;
    }
    if (svg_text_width(text, SMALL) > b->w - 2 || b->h < SMALL + 1)
        return false;
    svg_text(&d->g, "in", b->x + b->w / 2, y + SMALL * 0.36, SVG_MIDDLE, text);
    return true;
}

static void box_label(struct drawing *d, const struct scene_node *n)
{
    struct box b = {n->x, n->y, n->w, n->h};
    char detail[SCENE_LABEL_BYTES + TEXT_NUMBER_BYTES];
    double middle = b.y + b.h / 2;

    strcpy(detail, n->detail);
    if (!isnan(n->pct))
        strcpy(put_number(detail, n->pct, 1), " %");
    bool two = *detail && b.h >= LETTER + SMALL + 6 && svg_text_width(detail, SMALL) <= b.w - 1;
    if (put_inside(d, &b, two ? middle - 6 : middle, n->label, n->small) && two)
        put_inside(d, &b, middle + 7, detail, true);
}

/* The label of an outline, at its upper left; of a plane wherever there is room. */
static void area_label(struct drawing *d, const struct scene_node *n)
{
    double w = svg_text_width(n->label, LETTER), step = LETTER + 6;

    if (!*n->label)
        return;
    if (n->look != SCENE_PLANE) {
        double y = n->look == SCENE_OUTLINE ? n->y + 3 : n->y + n->h - LETTER - 5;

        svg_text(&d->g, "dim", n->x + 5, y + LETTER, SVG_START, n->label);
        take(d, (struct box){n->x + 5, y, w, LETTER + 2});
        return;
    }
    for (double y = n->y + 4; y + LETTER < n->y + n->h; y += step)
        for (double x = n->x + 6; x + w < n->x + n->w; x += w / 2) {
            struct box b = {x, y, w, LETTER + 3};

            if (is_free(d, &b)) {
                svg_text(&d->g, "dim", x, y + LETTER, SVG_START, n->label);
                take(d, b);
                return;
            }
        }
}

static void put_node(struct drawing *d, const struct scene_node *n)
{
    struct svg *g = &d->g;
    char classes[48];

    sprintf(classes, "%s %s%s", n->classes, isnan(n->pct) ? "" : "fill ", svg_heat(n->pct));
    if (isnan(n->pct))
        strcpy(classes, n->classes);
    svg_start(g, "g", isnan(n->pct) ? "node" : svg_heat(n->pct));
    svg_attr(g, "data-node", n->name);
    if (!isnan(n->pct))
        svg_attr_number(g, "data-pct", n->pct);
    svg_inside(g);
    node_tip(d, n);
    svg_rect(g, classes, n->x, n->y, n->w, n->h);
    if (n->look == SCENE_BOX)
        box_label(d, n);
    else
        area_label(d, n);
    svg_close(g, "g");
}

static void put_nodes(struct drawing *d, bool areas)
{
    for (size_t i = 0; i < d->sc->n_nodes; i++)
        if ((d->sc->node[i].look != SCENE_BOX) == areas)
            put_node(d, &d->sc->node[i]);
}

static void put_notes(struct drawing *d)
{
    for (size_t i = 0; i < d->sc->n_notes; i++) {
        const struct scene_note *note = &d->sc->note_at[i];

        svg_text(&d->g, "small", note->x, note->y, note->anchor, note->text);
    }
}

static void put_dots(struct drawing *d)
{
    for (size_t i = 0; i < d->sc->n_dots; i++) {
        const struct scene_dot *dot = &d->sc->dot[i];
        kb_node info;

        if (kb_node_get(d->sc->cli->topo, dot->node, &info) != KB_OK)
            continue;
        svg_start(&d->g, "g", NULL);
        svg_attr(&d->g, "data-at", info.name);
        svg_inside(&d->g);
        svg_dot(&d->g, "dot", dot->x, dot->y, 3.5);
        svg_close(&d->g, "g");
    }
}

/* -- edges ---------------------------------------------------------------------------------- */

/* The direction of the line that ends at point `k`, of length 1; 0, 0 of none. */
static struct svg_point direction(const struct scene_edge *e, uint32_t k)
{
    double dx = e->at[k].x - e->at[k - 1].x, dy = e->at[k].y - e->at[k - 1].y, len = hypot(dx, dy);

    return len > 0 ? (struct svg_point){dx / len, dy / len} : (struct svg_point){0, 0};
}

/* Its points, moved to the right of the way by so many px. */
static void beside(const struct scene_edge *e, double px, struct svg_point at[SCENE_BENDS_MAX])
{
    for (uint32_t k = 0; k < e->n_at; k++) {
        struct svg_point in = direction(e, k > 0 ? k : 1);
        struct svg_point out = direction(e, k + 1 < e->n_at ? k + 1 : k > 0 ? k : 1);
        bool straight = in.x == out.x && in.y == out.y;

        at[k].x = e->at[k].x - px * (in.y + (straight ? 0 : out.y));
        at[k].y = e->at[k].y + px * (in.x + (straight ? 0 : out.x));
    }
}

/* Is it one direction of a link that is drawn both ways? */
static bool has_other(const struct scene *sc, const struct scene_edge *e)
{
    size_t i = (size_t)(e - sc->edge);

    return e->back || (i + 1 < sc->n_edges && sc->edge[i + 1].back);
}

/* Half an arrow on the right side, or a whole one if it goes one way only. */
static void put_head(struct drawing *d, const struct scene_edge *e, const struct svg_point *end,
                     bool whole)
{
    struct svg_point way = direction(e, e->n_at - 1);
    double side = HEAD_PX * 0.6, back_x = end->x - HEAD_PX * way.x,
           back_y = end->y - HEAD_PX * way.y;
    struct svg_point at[] = {*end,
                             {back_x - side * way.y, back_y + side * way.x},
                             {back_x + side * way.y, back_y - side * way.x}};
    char classes[16];
    double last = hypot(end->x - e->at[e->n_at - 2].x, end->y - e->at[e->n_at - 2].y);

    if (last < 1.5 * HEAD_PX)
        return;
    if (!whole)
        at[2] = (struct svg_point){back_x, back_y};
    sprintf(classes, "head %s", svg_heat(e->util.pct));
    svg_lines(&d->g, isnan(e->util.pct) ? "head" : classes, at, 3);
}

/* Was it busiest with the data of reads, against its own direction? */
static bool is_return(const struct scene_edge *e)
{
    return e->util.from != e->edge.from;
}

static void edge_tip(struct drawing *d, const struct scene_edge *e, const kb_node *from,
                     const kb_node *to)
{
    char tip[4 * KB_NODE_BYTES + 4 * TEXT_NUMBER_BYTES], *p = text_put_text(tip, from->name);

    p = text_put_text(text_put_text(p, " -> "), to->name);
    p = put_number(text_put_text(p, "\n"), e->edge.gbs, 6);
    p = put_number(text_put_text(p, " GB/s, "), e->edge.length_mm, 6);
    p = text_put_text(p, " mm");
    if (!isnan(e->util.pct))
        p = text_put_text(put_number(text_put_text(p, "\n"), e->util.pct, 1), " % busy");
    if (is_return(e))
        p = text_put_text(text_put_text(text_put_text(text_put_text(p, ": "), to->name), " -> "),
                          from->name);
    *p = '\0';
    svg_tip(&d->g, tip);
}

static void put_edge(struct drawing *d, const struct scene_edge *e)
{
    struct svg *g = &d->g;
    struct svg_point at[SCENE_BENDS_MAX];
    bool both = has_other(d->sc, e);
    char number[SVG_NUMBER_BYTES], classes[16];
    kb_node from, to;

    if (kb_node_get(d->sc->cli->topo, e->edge.from, &from) != KB_OK ||
        kb_node_get(d->sc->cli->topo, e->edge.to, &to) != KB_OK || e->n_at < 2)
        return;
    sprintf(classes, "wire %s", svg_heat(e->util.pct));
    svg_start(g, "g", "edge");
    svg_attr(g, "data-from", from.name);
    svg_attr(g, "data-to", to.name);
    svg_attr(g, "data-gbs", svg_short(e->edge.gbs, 6, number));
    svg_attr(g, "data-mm", svg_short(e->edge.length_mm, 6, number));
    if (!isnan(e->util.pct))
        svg_attr_number(g, "data-pct", e->util.pct);
    if (is_return(e))
        svg_attr(g, "data-way", "back");
    svg_inside(g);
    edge_tip(d, e, &from, &to);
    beside(e, both ? SIDE_PX : 0, at);
    svg_lines(g, isnan(e->util.pct) ? "wire" : classes, at, e->n_at);
    put_head(d, e, &at[e->n_at - 1], !both);
    svg_close(g, "g");
}

/* -- labels of edges ------------------------------------------------------------------------ */

/* Within the picture, whose margin may be used? */
static bool is_inside(const struct drawing *d, const struct box *b)
{
    return b->x >= -MARGIN && b->x + b->w <= d->g.width - MARGIN && b->y >= -MARGIN &&
           b->y + b->h <= d->sc->height + MARGIN;
}

/* Writes `text` beside the line at its point `part`, if there is room on that side. */
static bool label_at(struct drawing *d, const struct scene_edge *e, uint32_t k, double part,
                     bool other_side, bool across, const char *text, const char *classes)
{
    const struct svg_point *a = &e->at[k - 1], *b = &e->at[k];
    bool level = fabs(a->x - b->x) >= fabs(a->y - b->y);
    double len = hypot(a->x - b->x, a->y - b->y);
    double x = a->x + part * (b->x - a->x), y = a->y + part * (b->y - a->y);
    double w = svg_text_width(text, SMALL), h = SMALL, gap = SIDE_PX + 3.6;
    bool up = level == across; /* the text is turned */
    struct box box = {x - w / 2, y - h / 2, w, h};

    if ((across ? h : w) > len)
        return false;
    if (up)
        box = (struct box){x - h / 2, y - w / 2, h, w};
    if (level)
        box.y = other_side ? y + gap : y - gap - box.h;
    else
        box.x = other_side ? x - gap - box.w : x + gap;
    if (!is_inside(d, &box) || !is_free(d, &box))
        return false;
    take(d, box);
    if (up)
        svg_text_up(&d->g, classes, box.x + h - 1, box.y + w / 2, SVG_MIDDLE, text);
    else
        svg_text(&d->g, classes, box.x + w / 2, box.y + h - 1, SVG_MIDDLE, text);
    return true;
}

/* On the longest of its lines first. */
static uint32_t longest(const struct scene_edge *e, uint32_t tried)
{
    uint32_t best = 0;
    double most = -1;

    for (uint32_t k = 1; k < e->n_at; k++) {
        double len = hypot(e->at[k].x - e->at[k - 1].x, e->at[k].y - e->at[k - 1].y);

        if (!(tried >> k & 1) && len > most) {
            most = len;
            best = k;
        }
    }
    return most >= ROOM_PX ? best : 0;
}

/* Which side of a line is to the right of its way: the one below, or left of it? */
static bool right_side(const struct svg_point *a, const struct svg_point *b)
{
    bool level = fabs(a->x - b->x) >= fabs(a->y - b->y);

    return level ? b->x > a->x : b->y > a->y;
}

/* Beside one of its lines; with `own_side` on that where this direction of a link is drawn. */
static void label_edge(struct drawing *d, const struct scene_edge *e, const char *text,
                       const char *classes, bool own_side)
{
    static const double parts[] = {0.5, 0.3, 0.7, 0.15, 0.85};
    uint32_t tried = 0;

    for (uint32_t k; (k = longest(e, tried)) != 0; tried |= 1u << k) {
        const struct svg_point *a = &e->at[k - 1], *b = &e->at[k];
        bool level = fabs(a->x - b->x) >= fabs(a->y - b->y);

        for (int turned = 0; turned < 2; turned++)
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
                for (int side = 0; side < 2; side++)
                    if ((!own_side || side == right_side(a, b)) &&
                        label_at(d, e, k, parts[p], side, level == turned, text, classes))
                        return;
    }
}

/* That of which this is the use, which is one of them. */
static const struct scene_edge *find_edge(const struct scene *sc, const struct view_edge_utilization *util)
{
    const struct scene_edge *e = sc->edge;

    while (e->util.from != util->from || e->util.to != util->to)
        e++;
    return e;
}

static void label_edges(struct drawing *d)
{
    char text[SVG_NUMBER_BYTES + 8], number[SVG_NUMBER_BYTES];

    for (size_t i = 0; i < d->drawn.n; i++) {
        const struct scene_edge *e = find_edge(d->sc, &d->drawn.edge[i]);

        sprintf(text, "%s %%", svg_short(e->util.pct, 0, number));
        label_edge(d, e, text, "strong in", has_other(d->sc, e));
    }
    for (size_t i = 0; !d->sc->utilization && i < d->sc->n_edges; i++)
        if (!d->sc->edge[i].back)
            label_edge(d, &d->sc->edge[i], svg_short(d->sc->edge[i].edge.gbs, 2, number), "gbs",
                       false);
}

/* -- the busiest ---------------------------------------------------------------------------- */

static void find_busiest(struct drawing *d)
{
    for (size_t i = 0; i < d->sc->n_edges; i++)
        view_busiest_add(&d->drawn, d->sc->edge[i].util);
    if (d->sc->utilization && d->sc->lists_all)
        view_busiest_all(&d->listed, d->sc->utilization);
    else
        d->listed = d->drawn;
}

/* -- the legend ----------------------------------------------------------------------------- */

static const char cube_note[] =
    "A cube: its busiest memory, engine or port; DMA channels, held while "
    "transactions wait, do not count.";

/* "noc - m_cpu, sram  128 GB/s, 0.5 mm": a line for each kind of link. */
static void kind_text(const struct scene *sc, const struct scene_edge *e, char text[KIND_BYTES])
{
    kb_node from, to;
    char gbs[SVG_NUMBER_BYTES], mm[SVG_NUMBER_BYTES];

    *text = '\0';
    if (kb_node_get(sc->cli->topo, e->edge.from, &from) == KB_OK &&
        kb_node_get(sc->cli->topo, e->edge.to, &to) == KB_OK)
        snprintf(text, KIND_BYTES, "%s %s %s: %.24s%s, %.24s mm", from.kind,
                 has_other(sc, e) ? "\xe2\x86\x94" : "\xe2\x86\x92", to.kind,
                 isinf(e->edge.gbs) ? "unlimited" : svg_short(e->edge.gbs, 6, gbs),
                 isinf(e->edge.gbs) ? "" : " GB/s", svg_short(e->edge.length_mm, 6, mm));
}

static void find_kinds(struct drawing *d)
{
    for (size_t i = 0; i < d->sc->n_edges; i++) {
        char text[KIND_BYTES];
        size_t k = 0;

        if (d->sc->edge[i].back)
            continue;
        kind_text(d->sc, &d->sc->edge[i], text);
        while (k < d->n_kinds && strcmp(d->kind[k].text, text) != 0)
            k++;
        if (k == d->n_kinds && k < KINDS_MAX)
            strcpy(d->kind[d->n_kinds++].text, text);
    }
}

/* A length of 1, 2 or 5 times a power of ten mm, of 60 to 150 px. */
static void put_scale_bar(struct drawing *d, double x, double y)
{
    double scale = d->sc->scale, mm = pow(10, floor(log10(60 / scale)));
    char text[SVG_NUMBER_BYTES + 4], number[SVG_NUMBER_BYTES];

    while (mm * scale < 60)
        mm *= mm * scale < 30 && mm * 2 * scale < 60 ? 5 : 2;
    svg_start(&d->g, "g", NULL);
    svg_attr(&d->g, "data-scale-bar", svg_short(mm, 6, number));
    svg_inside(&d->g);
    svg_lines(
        &d->g, "axis",
        (struct svg_point[]){{x, y - 4}, {x, y}, {x + mm * scale, y}, {x + mm * scale, y - 4}}, 4);
    sprintf(text, "%s mm", number);
    svg_text(&d->g, NULL, x + mm * scale + 6, y + 2, SVG_START, text);
    svg_close(&d->g, "g");
}

enum { KIND_COLUMNS = 3 };

static size_t kind_rows(const struct drawing *d)
{
    return (d->n_kinds + KIND_COLUMNS - 1) / KIND_COLUMNS;
}

static double legend_height(const struct drawing *d)
{
    return 40 + (double)kind_rows(d) * LEGEND_ROW + (d->sc->note ? LEGEND_ROW : 0) +
           (d->sc->utilization ? 2 * LEGEND_ROW + 8 + (double)d->listed.n * LEGEND_ROW : 0) +
           (d->sc->utilization && d->sc->of_cubes ? LEGEND_ROW : 0);
}

/* The column of the legend is as wide as its widest line. */
static double kind_width(const struct drawing *d)
{
    double widest = 0;

    for (size_t k = 0; k < d->n_kinds; k++)
        widest = fmax(widest, svg_text_width(d->kind[k].text, LETTER));
    return widest + 24;
}

/* "Busy" with its colours, and the busiest edges, in the direction that --stats has. */
static double put_busiest(struct drawing *d, double y)
{
    svg_text(&d->g, NULL, MARGIN, y + 11, SVG_START, "Busy");
    svg_heat_legend(&d->g, MARGIN + 40, y);
    svg_text(&d->g, "dim", MARGIN + 40 + 34 * SVG_HEATS + 10, y + 11, SVG_START,
             d->listed.n ? "% of the time, or more; the busiest edges:" : "% of the time, or more");
    y += 2 * LEGEND_ROW;
    for (size_t i = 0; i < d->listed.n; i++, y += LEGEND_ROW) {
        const struct view_edge_utilization *util = &d->listed.edge[i];
        char text[2 * KB_NODE_BYTES + SVG_NUMBER_BYTES + 16], number[SVG_NUMBER_BYTES];
        kb_node from = {.name = ""}, to = {.name = ""};

        kb_node_get(d->sc->cli->topo, util->from, &from);
        kb_node_get(d->sc->cli->topo, util->to, &to);
        sprintf(text, "%s %%  %s \xe2\x86\x92 %s", svg_short(util->pct, 1, number), from.name,
                to.name);
        svg_text(&d->g, "dim", MARGIN, y, SVG_START, text);
    }
    if (d->sc->of_cubes) {
        svg_text(&d->g, "dim", MARGIN, y, SVG_START, cube_note);
        y += LEGEND_ROW;
    }
    return y + 8;
}

static void put_legend(struct drawing *d, double y)
{
    double column = kind_width(d), x = MARGIN;
    size_t rows = kind_rows(d);

    if (d->sc->utilization)
        y = put_busiest(d, y);
    for (size_t k = 0; k < d->n_kinds; k++)
        svg_text(&d->g, "dim", x + (double)(k / rows) * column,
                 y + (double)(k % rows) * LEGEND_ROW + 12, SVG_START, d->kind[k].text);
    y += (double)rows * LEGEND_ROW + 12;
    if (d->sc->note) {
        svg_text(&d->g, "dim", x, y, SVG_START, d->sc->note);
        y += LEGEND_ROW;
    }
    if (d->sc->scale > 0)
        put_scale_bar(d, x, y + 8);
}

/* -- all of it ------------------------------------------------------------------------------ */

static void put_title(struct drawing *d)
{
    const kb_info *info = &d->sc->cli->info;
    char text[256];

    svg_text(&d->g, "title", MARGIN, 26, SVG_START, d->sc->title);
    snprintf(text, sizeof text, "topology %s, %s", info->name, info->hash);
    svg_text(&d->g, "dim", MARGIN, 43, SVG_START, text);
}

/* Wide enough for what the legend says. */
static double width_of(const struct drawing *d)
{
    double legend = fmin(KIND_COLUMNS, (double)d->n_kinds) * kind_width(d);
    double note = d->sc->note ? svg_text_width(d->sc->note, LETTER) : 0;

    if (d->sc->utilization && d->sc->of_cubes)
        note = fmax(note, svg_text_width(cube_note, LETTER));
    return fmax(fmax(d->sc->width, 380), fmax(legend, note)) + 2 * MARGIN;
}

void scene_svg(struct scene *sc, struct sink *s)
{
    struct drawing d = {.sc = sc, .g = {.s = s, .prefix = sc->prefix}};
    char title[SCENE_LABEL_BYTES + 64], number[SVG_NUMBER_BYTES];

    find_busiest(&d);
    find_kinds(&d);
    take_all(&d);
    d.g.width = width_of(&d);
    d.g.height = TITLE_PX + sc->height + MARGIN + legend_height(&d);
    snprintf(title, sizeof title, "%s, topology %s", sc->title, sc->cli->info.name);
    svg_begin(&d.g, title);
    put_title(&d);
    svg_start(&d.g, "g", NULL);
    svg_attr(&d.g, "data-level", sc->level);
    svg_attr(&d.g, "data-scale", svg_short(sc->scale, 9, number));
    sink_text(s, " transform=\"translate(");
    svg_number(s, MARGIN);
    sink_char(s, ' ');
    svg_number(s, TITLE_PX);
    sink_text(s, ")\"");
    svg_inside(&d.g);
    put_nodes(&d, true);
    for (size_t i = 0; i < sc->n_edges; i++)
        put_edge(&d, &sc->edge[i]);
    put_nodes(&d, false);
    put_dots(&d);
    put_notes(&d);
    label_edges(&d);
    svg_close(&d.g, "g");
    put_legend(&d, TITLE_PX + sc->height + MARGIN);
    svg_end(&d.g);
    free(d.taken);
}
