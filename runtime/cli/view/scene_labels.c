/*
 * scene_labels.c -- labels of edges, where there is room for them.
 *
 * Boxes, lines and texts that are drawn already are kept as rectangles; a label goes to the first
 * of its candidate positions that overlaps none of them, and is left out if there is none.
 * Candidates: the longest line of the edge first; along it, then across it; at the middle, then
 * towards the ends; on either side. Labels are placed in the order of their importance (the busiest
 * first), since the first ones take the room of later ones. The search is linear in the rectangles:
 * the largest picture has a few thousand, and the picture of a cube takes 2 ms.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/view/scene_svg.h"
#include "cli/out/memory.h"

enum { ROOM_PX = 10 }; /* a shorter line is not labelled */

/* -- room ----------------------------------------------------------------------------------- */

void labels_take(struct scene_drawing *d, struct scene_rect b)
{
    d->taken = memory_room(d->taken, d->n_taken, &d->room, sizeof *d->taken);
    d->taken[d->n_taken++] = b;
}

bool labels_is_free(const struct scene_drawing *d, const struct scene_rect *b)
{
    for (size_t i = 0; i < d->n_taken; i++) {
        const struct scene_rect *t = &d->taken[i];

        if (b->x < t->x + t->w && t->x < b->x + b->w && b->y < t->y + t->h && t->y < b->y + b->h)
            return false;
    }
    return true;
}

/* A line is as wide as two directions of a link beside each other. */
static void take_line(struct scene_drawing *d, struct svg_point a, struct svg_point b)
{
    const double half = SCENE_SIDE_PX + 1;

    labels_take(d, (struct scene_rect){fmin(a.x, b.x) - half, fmin(a.y, b.y) - half,
                                       fabs(a.x - b.x) + 2 * half, fabs(a.y - b.y) + 2 * half});
}

/* Of an outline only the rim is taken: there is room for labels inside. */
static void take_rim(struct scene_drawing *d, const struct scene_node *n)
{
    struct svg_point a = {n->x, n->y}, b = {n->x + n->w, n->y}, c = {n->x + n->w, n->y + n->h},
                     e = {n->x, n->y + n->h};

    take_line(d, a, b);
    take_line(d, b, c);
    take_line(d, c, e);
    take_line(d, e, a);
}

/* All that is drawn before the labels of edges. */
void labels_take_scene(struct scene_drawing *d)
{
    const struct scene *sc = d->sc;

    for (size_t i = 0; i < sc->n_nodes; i++)
        if (sc->node[i].look == SCENE_BOX)
            labels_take(
                d, (struct scene_rect){sc->node[i].x, sc->node[i].y, sc->node[i].w, sc->node[i].h});
        else
            take_rim(d, &sc->node[i]);
    for (size_t i = 0; i < sc->n_edges; i++)
        for (uint32_t k = 1; k < sc->edge[i].n_at; k++)
            if (!(sc->edge[i].stubs && k == 2))
                take_line(d, sc->edge[i].at[k - 1], sc->edge[i].at[k]);
    for (size_t i = 0; i < sc->n_notes; i++) {
        const struct scene_note *n = &sc->note_at[i];
        double left = n->anchor == SVG_START ? 0 : n->anchor == SVG_MIDDLE ? 0.5 : 1;

        if (n->taken_w > 0)
            labels_take(d, (struct scene_rect){n->x - left * n->taken_w, n->y - SCENE_SMALL,
                                               n->taken_w, SCENE_SMALL + 2});
    }
    for (size_t i = 0; i < sc->n_dots; i++)
        labels_take(d, (struct scene_rect){sc->dot[i].x - 4, sc->dot[i].y - 4, 8, 8});
}

/* -- labels --------------------------------------------------------------------------------- */

/* Is it inside the picture, with its margin? */
static bool is_inside(const struct scene_drawing *d, const struct scene_rect *b)
{
    return b->x >= -SCENE_MARGIN && b->x + b->w <= d->g.width - SCENE_MARGIN &&
           b->y >= -SCENE_MARGIN && b->y + b->h <= d->sc->height + SCENE_MARGIN;
}

/* Writes `text` beside line `k`, at `part` of its length, if there is room on that side. */
static bool label_at(struct scene_drawing *d, const struct scene_edge *e, uint32_t k, double part,
                     bool other_side, bool across, const char *text, const char *classes)
{
    const struct svg_point *a = &e->at[k - 1], *b = &e->at[k];
    bool level = fabs(a->x - b->x) >= fabs(a->y - b->y);
    double len = svg_length(a->x - b->x, a->y - b->y);
    double x = a->x + part * (b->x - a->x), y = a->y + part * (b->y - a->y);
    double w = svg_text_width(text, SCENE_SMALL), h = SCENE_SMALL, gap = SCENE_SIDE_PX + 3.6;
    bool up = level == across; /* the text is turned */
    struct scene_rect box = {x - w / 2, y - h / 2, w, h};

    if ((across ? h : w) > len)
        return false;
    if (up)
        box = (struct scene_rect){x - h / 2, y - w / 2, h, w};
    if (level)
        box.y = other_side ? y + gap : y - gap - box.h;
    else
        box.x = other_side ? x - gap - box.w : x + gap;
    if (!is_inside(d, &box) || !labels_is_free(d, &box))
        return false;
    labels_take(d, box);
    if (up)
        svg_text_up(&d->g, classes, box.x + h - 1, box.y + w / 2, SVG_MIDDLE, text);
    else
        svg_text(&d->g, classes, box.x + w / 2, box.y + h - 1, SVG_MIDDLE, text);
    return true;
}

/* The longest line that was not tried; 0: none. */
static uint32_t longest(const struct scene_edge *e, uint32_t tried)
{
    uint32_t best = 0;
    double most = -1;

    for (uint32_t k = 1; k < e->n_at; k++) {
        double len = svg_length(e->at[k].x - e->at[k - 1].x, e->at[k].y - e->at[k - 1].y);

        if (!(tried >> k & 1) && len > most && !(e->stubs && k == 2)) {
            most = len;
            best = k;
        }
    }
    return most >= ROOM_PX ? best : 0;
}

/* Is the right side of a line, in its direction, the one below it or to its left? */
static bool right_side(const struct svg_point *a, const struct svg_point *b)
{
    bool level = fabs(a->x - b->x) >= fabs(a->y - b->y);

    return level ? b->x > a->x : b->y > a->y;
}

/* Labels an edge; with `own_side` only on the side where this direction of a link is drawn. */
static void label_edge(struct scene_drawing *d, const struct scene_edge *e, const char *text,
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

/* The edge that has this utilization. There is one. */
static const struct scene_edge *find_edge(const struct scene *sc,
                                          const struct view_edge_utilization *util)
{
    const struct scene_edge *e = sc->edge;

    while (e->util.from != util->from || e->util.to != util->to)
        e++;
    return e;
}

/*
 * With --stats the busiest edges have their utilization, and nothing else is written: bandwidths
 * would take their room. Without it each link has its bandwidth, once for both directions.
 */
void labels_put(struct scene_drawing *d)
{
    char text[SVG_NUMBER_BYTES + 16], number[SVG_NUMBER_BYTES];

    for (size_t i = 0; i < d->drawn.n; i++) {
        const struct scene_edge *e = find_edge(d->sc, &d->drawn.edge[i]);

        sprintf(text, "%s %%", svg_short(e->util.pct, 0, number));
        label_edge(d, e, text, "strong in", scene_is_both_ways(d->sc, e));
    }
    for (size_t i = 0; !d->sc->utilization && i < d->sc->n_edges; i++) {
        const struct scene_edge *e = &d->sc->edge[i];

        if (e->back)
            continue;
        *text = '\0';
        if (e->edge.lanes > 1)
            sprintf(text, "%u \xc3\x97 ", e->edge.lanes);
        strcat(text, svg_short(e->edge.gbs, 2, number));
        label_edge(d, e, text, "gbs", false);
    }
}
