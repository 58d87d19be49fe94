/*
 * scene_svg.c -- a scene as SVG: components, edges, labels where there is room, and a legend.
 *
 * The order of writing is the order of the layers: outlines, edges on them, boxes on the edges,
 * then dots and texts. Each component and edge is a <g> with its names and numbers as data-
 * attributes and as a <title>, which browsers show as a tooltip: tests and scripts read the former,
 * people the latter. A link that goes both ways is drawn as two parallel lines with half an arrow
 * head each.
 *
 * Example, the first cube of `view sip` on cube8:
 *
 *     <g class="node" data-node="sip0.cube0"><title>sip0.cube0</title>
 *     <rect class="box" x="198" y="22" width="240" height="176"/> ...
 *
 * and an edge of `view cube`:
 *
 *     <g class="edge" data-from="sip0.cube0.noc" data-to="sip0.cube0.ucie-N" data-gbs="128"
 *     data-mm="0.5"> ...
 *
 * So a script finds the bandwidth of a link, or with --stats its utilization, without reading px.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/view/scene_svg.h"
#include "base/text.h"

enum {
    TITLE_PX = 56,
    HEAD_PX = 6, /* an arrow's head */
    HATCH_PX = 9,
};

/* -- nodes ---------------------------------------------------------------------------------- */

static char *put_number(char *to, double value, int decimals)
{
    char text[SVG_NUMBER_BYTES];

    return text_put_text(to, svg_short(value, decimals, text));
}

/* The tooltip: name, overhead, position and utilization, a line each. */
static void node_tip(struct scene_drawing *d, const struct scene_node *n)
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
        p = text_put_text(put_number(text_put_text(p, "\n"), n->pct, 1),
                          view_utilization_conflicts(d->sc->utilization) ? " % row conflicts"
                                                                         : " % busy");
    *p = '\0';
    svg_tip(&d->g, tip);
}

/* Writes `text` in the middle of a box, in small letters if needed; not at all if it does not fit.
 */
static bool put_inside(struct scene_drawing *d, const struct scene_rect *b, double y,
                       const char *text, bool small)
{
    if (!*text)
        return false;
    if (!small && svg_text_width(text, SCENE_LETTER) <= b->w - 2 && b->h >= SCENE_LETTER + 2) {
        svg_text(&d->g, NULL, b->x + b->w / 2, y + SCENE_LETTER * 0.36, SVG_MIDDLE, text);
        return true;
    }
    if (svg_text_width(text, SCENE_SMALL) > b->w - 2 || b->h < SCENE_SMALL + 1)
        return false;
    svg_text(&d->g, "in", b->x + b->w / 2, y + SCENE_SMALL * 0.36, SVG_MIDDLE, text);
    return true;
}

static void box_label(struct scene_drawing *d, const struct scene_node *n)
{
    struct scene_rect b = {n->x, n->y, n->w, n->h};
    char detail[SCENE_LABEL_BYTES + TEXT_NUMBER_BYTES];
    double middle = b.y + b.h / 2;

    strcpy(detail, n->detail);
    if (!isnan(n->pct))
        strcpy(put_number(detail, n->pct, 1), " %");
    bool two = *detail && b.h >= SCENE_LETTER + SCENE_SMALL + 6 &&
               svg_text_width(detail, SCENE_SMALL) <= b.w - 1;
    if (put_inside(d, &b, two ? middle - 6 : middle, n->label, n->small) && two)
        put_inside(d, &b, middle + 7, detail, true);
}

/* The label of an outline in its corner, of a plane wherever there is room. */
static void area_label(struct scene_drawing *d, const struct scene_node *n)
{
    double w = svg_text_width(n->label, SCENE_LETTER), step = SCENE_LETTER + 6;

    if (!*n->label)
        return;
    if (n->look != SCENE_PLANE) {
        double y = n->look == SCENE_OUTLINE ? n->y + 3 : n->y + n->h - SCENE_LETTER - 5;

        svg_text(&d->g, "dim", n->x + 5, y + SCENE_LETTER, SVG_START, n->label);
        labels_take(d, (struct scene_rect){n->x + 5, y, w, SCENE_LETTER + 2});
        return;
    }
    for (double y = n->y + 4; y + SCENE_LETTER < n->y + n->h; y += step)
        for (double x = n->x + 6; x + w < n->x + n->w; x += w / 2) {
            struct scene_rect b = {x, y, w, SCENE_LETTER + 3};

            if (labels_is_free(d, &b)) {
                svg_text(&d->g, "dim", x, y + SCENE_LETTER, SVG_START, n->label);
                labels_take(d, b);
                return;
            }
        }
}

/* Lines from the lower left to the upper right, 9 px apart. */
static void put_hatching(struct scene_drawing *d, const struct scene_node *n)
{
    for (double at = HATCH_PX; at < n->w + n->h; at += HATCH_PX) {
        double x1 = fmax(0, at - n->h), x2 = fmin(at, n->w);

        svg_line(&d->g, "axis", n->x + x1, n->y + at - x1, n->x + x2, n->y + at - x2);
    }
}

/* A part that is missing: its place, hatched. It has no data-node, since there is none. */
static void put_missing(struct scene_drawing *d, const struct scene_node *n)
{
    struct svg *g = &d->g;
    double w = svg_text_width(n->label, SCENE_LETTER) + 6;

    svg_start(g, "g", "node");
    svg_attr(g, "data-missing", n->name);
    svg_inside(g);
    svg_tip(g, n->name);
    put_hatching(d, n);
    svg_rect(g, "dash", n->x, n->y, n->w, n->h);
    if (*n->label && w < n->w && n->h > 2 * SCENE_LETTER) {
        double h = *n->detail ? 2 * SCENE_LETTER + 8 : SCENE_LETTER + 6;

        w = fmax(w, svg_text_width(n->detail, SCENE_SMALL) + 6);
        if (w < n->w && h < n->h)
            svg_rect(g, "bg", n->x + (n->w - w) / 2, n->y + (n->h - h) / 2, w, h);
    }
    box_label(d, n);
    svg_close(g, "g");
}

/* A <g> with the names and numbers as attributes, a tooltip, the box and its label. */
static void put_node(struct scene_drawing *d, const struct scene_node *n)
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

/* Areas (outlines, planes) are under the edges, boxes above them. */
static void put_nodes(struct scene_drawing *d, bool areas)
{
    for (size_t i = 0; i < d->sc->n_nodes; i++)
        if (!areas && d->sc->node[i].missing)
            put_missing(d, &d->sc->node[i]);
        else if ((d->sc->node[i].look != SCENE_BOX) == areas)
            put_node(d, &d->sc->node[i]);
}

static void put_notes(struct scene_drawing *d)
{
    for (size_t i = 0; i < d->sc->n_notes; i++) {
        const struct scene_note *note = &d->sc->note_at[i];

        svg_text(&d->g, "small", note->x, note->y, note->anchor, note->text);
    }
}

/* Dots have names as well, so that scripts can check places on the NoC. */
static void put_dots(struct scene_drawing *d)
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

/* The unit vector of the line that ends at point `k`; 0, 0 if it has no length. */
static struct svg_point direction(const struct scene_edge *e, uint32_t k)
{
    double dx = e->at[k].x - e->at[k - 1].x, dy = e->at[k].y - e->at[k - 1].y,
           len = svg_length(dx, dy);

    return len > 0 ? (struct svg_point){dx / len, dy / len} : (struct svg_point){0, 0};
}

/* The points of an edge, moved by `px` to the right of its direction. */
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

const char *scene_classes(const char *what, uint32_t colour, double pct, char classes[16])
{
    if (!isnan(pct))
        sprintf(classes, "%s %s", what, svg_heat(pct));
    else if (colour > 0)
        sprintf(classes, "%s l%u", what, colour);
    else
        strcpy(classes, what);
    return classes;
}

/* Half an arrow head on the right side; a whole one if the link goes one way only. A line that is
 * too short has none, except for a one-way link between cubes: that has a small one. */
static void put_head(struct scene_drawing *d, const struct scene_edge *e,
                     const struct svg_point *end, bool whole)
{
    struct svg_point way = direction(e, e->n_at - 1);
    double last = svg_length(end->x - e->at[e->n_at - 2].x, end->y - e->at[e->n_at - 2].y);
    double head = whole && d->sc->of_cubes ? fmin(HEAD_PX, last) : HEAD_PX;
    double side = head * 0.6, back_x = end->x - head * way.x, back_y = end->y - head * way.y;
    struct svg_point at[] = {*end,
                             {back_x - side * way.y, back_y + side * way.x},
                             {back_x + side * way.y, back_y - side * way.x}};
    char classes[16];

    if (last < 1.5 * HEAD_PX && !(whole && d->sc->of_cubes))
        return;
    if (!whole)
        at[2] = (struct svg_point){back_x, back_y};
    svg_lines(&d->g, scene_classes("head", e->colour, e->util.pct, classes), at, 3);
}

/* Is its utilization by the data of reads, against its own direction? */
static bool is_return(const struct scene_edge *e)
{
    return e->util.from != e->edge.from;
}

/* The tooltip: ends, bandwidth and length, utilization; and the direction of that if it is the
 * other. */
static void edge_tip(struct scene_drawing *d, const struct scene_edge *e, const kb_node *from,
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

/* The line of an edge, and its head; beside that of the other direction, if there is one. */
static void put_line(struct scene_drawing *d, const struct scene_edge *e, bool both)
{
    struct svg_point at[SCENE_BENDS_MAX];
    char classes[16];

    beside(e, both ? SCENE_SIDE_PX : 0, at);
    scene_classes("wire", e->colour, e->util.pct, classes);
    if (e->thin && isnan(e->util.pct))
        strcat(classes, " thin");
    svg_lines(&d->g, classes, at, e->n_at);
    put_head(d, e, &at[e->n_at - 1], !both);
}

/* Both ends of a link that wraps around. */
static void put_stubs(struct scene_drawing *d, const struct scene_edge *e, bool both)
{
    struct scene_edge out = *e, in = *e;

    out.n_at = in.n_at = 2;
    in.at[0] = e->at[2];
    in.at[1] = e->at[3];
    put_line(d, &out, both);
    put_line(d, &in, both);
}

static void put_edge(struct scene_drawing *d, const struct scene_edge *e)
{
    struct svg *g = &d->g;
    bool both = scene_is_both_ways(d->sc, e);
    char number[SVG_NUMBER_BYTES];
    kb_node from, to;

    if (kb_node_get(d->sc->cli->topo, e->edge.from, &from) != KB_OK ||
        kb_node_get(d->sc->cli->topo, e->edge.to, &to) != KB_OK || e->n_at < 2)
        return;
    svg_start(g, "g", "edge");
    svg_attr(g, "data-from", from.name);
    svg_attr(g, "data-to", to.name);
    svg_attr(g, "data-gbs", svg_short(e->edge.gbs, 6, number));
    svg_attr(g, "data-mm", svg_short(e->edge.length_mm, 6, number));
    if (!isnan(e->util.pct))
        svg_attr_number(g, "data-pct", e->util.pct);
    if (is_return(e))
        svg_attr(g, "data-way", "back");
    if (e->stubs)
        svg_attr(g, "data-wrap", "yes");
    svg_inside(g);
    edge_tip(d, e, &from, &to);
    if (e->stubs)
        put_stubs(d, e, both);
    else
        put_line(d, e, both);
    svg_close(g, "g");
}

/* -- picture -------------------------------------------------------------------------------- */

/* Title and topology, so that a picture in a file says what it shows. */
static void put_title(struct scene_drawing *d)
{
    const kb_info *info = &d->sc->cli->info;
    char text[256];

    svg_text(&d->g, "title", SCENE_MARGIN, 26, SVG_START, d->sc->title);
    snprintf(text, sizeof text, "topology %s, %s", info->name, info->hash);
    svg_text(&d->g, "dim", SCENE_MARGIN, 43, SVG_START, text);
}

/* Everything that decides the size is found first, since an <svg> begins with it. */
void scene_svg(struct scene *sc, struct sink *s)
{
    struct scene_drawing d = {.sc = sc,
                              .g = {.s = s, .prefix = sc->prefix, .in_page = sc->in_page}};
    char title[SCENE_LABEL_BYTES + 64], number[SVG_NUMBER_BYTES];

    legend_find_busiest(&d);
    legend_find_kinds(&d);
    labels_take_scene(&d);
    d.g.width = legend_width(&d);
    d.g.height = TITLE_PX + sc->height + SCENE_MARGIN + legend_height(&d);
    snprintf(title, sizeof title, "%s, topology %s", sc->title, sc->cli->info.name);
    svg_begin(&d.g, title);
    put_title(&d);
    svg_start(&d.g, "g", NULL);
    svg_attr(&d.g, "data-level", sc->level);
    svg_attr(&d.g, "data-scale", svg_short(sc->scale, 9, number));
    sink_text(s, " transform=\"translate(");
    svg_number(s, SCENE_MARGIN);
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
    labels_put(&d);
    svg_close(&d.g, "g");
    legend_put(&d, TITLE_PX + sc->height + SCENE_MARGIN);
    svg_end(&d.g);
    free(d.taken);
}
