/*
 * scene_dot.c -- a scene as a graph of Graphviz, with positions for neato -n.
 *
 * Graphviz measures positions in points from the lower left, and sizes in inches; 96 px are one
 * inch. It draws edges as straight lines from node to node, so the points of an edge are not used.
 * Labels have the bandwidth, and the utilization below it.
 *
 * Example, the NoC of c0 on cube8: a box of 759.9 x 557.26 px with its middle at (496, 508.63) px,
 * in a drawing 1017.26 px high. In points from below that is pos="372,381.47!", and its width
 * 759.9 / 96 is 7.9156 inches. The '!' pins a node, so that neato -n moves nothing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/view/scene.h"

enum { PX_PER_INCH = 96, POINTS_PER_INCH = 72, LETTER_PX = 11 /* 8 points */, LEAST_PX = 7 };

/* A string of DOT: only the quote, the backslash and the end of a line are special. */
static void put_quoted(struct sink *s, const char *text)
{
    sink_char(s, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\' || *text == '\n')
            sink_char(s, '\\');
        sink_char(s, *text == '\n' ? 'n' : *text);
    }
    sink_char(s, '"');
}

static void put_inches(struct sink *s, const char *name, double px)
{
    char text[SVG_NUMBER_BYTES];

    sink_text(s, name);
    sink_text(s, svg_short(px / PX_PER_INCH, 4, text));
}

static double points(double px)
{
    return px * POINTS_PER_INCH / PX_PER_INCH;
}

/* The position is that of the middle, and y goes up. */
static void put_place(const struct scene *sc, const struct scene_node *n, struct sink *s)
{
    sink_text(s, ", pos=\"");
    svg_number(s, points(n->x + n->w / 2));
    sink_char(s, ',');
    svg_number(s, points(sc->height - n->y - n->h / 2));
    sink_text(s, "!\"");
    put_inches(s, ", width=", n->w);
    put_inches(s, ", height=", n->h);
}

/* The utilization, as a comment. */
static void put_pct(double pct, struct sink *s)
{
    char text[SVG_NUMBER_BYTES];

    if (isnan(pct))
        return;
    sink_text(s, ", comment=");
    put_quoted(s, svg_short(pct, 2, text));
}

/* "55.2 %"; "" if it is not known. Returns `text`. */
static const char *per_cent(double pct, char text[SVG_NUMBER_BYTES + 2])
{
    *text = '\0';
    if (!isnan(pct))
        strcat((char *)svg_short(pct, 1, text), " %");
    return text;
}

/* The largest size of letters at which the lines of `text` fit in a box; below LEAST_PX: none. */
static int letter_px(const struct scene_node *n, const char *text)
{
    char line[SCENE_LABEL_BYTES + SVG_NUMBER_BYTES];
    int px = LETTER_PX, lines = strchr(text, '\n') ? 2 : 1;

    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        while (px >= LEAST_PX && (svg_text_width(line, px) > n->w || lines * px + 2 > n->h))
            px -= 2;
    }
    return px;
}

/* The label with the utilization below it, the label alone, or none, as there is room. */
static void put_label(const struct scene_node *n, struct sink *s)
{
    char text[SCENE_LABEL_BYTES + SVG_NUMBER_BYTES + 4], pct[SVG_NUMBER_BYTES + 2];
    char number[SVG_NUMBER_BYTES];

    snprintf(text, sizeof text, "%s%s%s", n->label, isnan(n->pct) ? "" : "\n",
             per_cent(n->pct, pct));
    if (letter_px(n, text) < LEAST_PX)
        strcpy(text, n->label);
    int px = letter_px(n, text);
    sink_text(s, "label=");
    put_quoted(s, px < LEAST_PX ? "" : text);
    if (px >= LEAST_PX && px < LETTER_PX) {
        sink_text(s, ", fontsize=");
        sink_text(s, svg_short(points(px), 2, number));
    }
}

/* Outlines are dashed boxes; neato draws them below the boxes inside, since they come first. */
static void put_node(const struct scene *sc, const struct scene_node *n, struct sink *s)
{
    char colour[SVG_COLOUR_BYTES];
    const char *fill = svg_colour(isnan(n->pct) ? n->classes : svg_heat(n->pct), colour);

    sink_text(s, "  ");
    put_quoted(s, n->name);
    sink_text(s, " [");
    put_label(n, s);
    put_place(sc, n, s);
    if (n->look == SCENE_OUTLINE || n->look == SCENE_UNDER)
        sink_text(s, n->look == SCENE_OUTLINE ? ", style=dashed, labelloc=t"
                                              : ", style=dashed, labelloc=b");
    else if (n->missing)
        sink_text(s, ", style=\"dashed,diagonals\"");
    else {
        sink_text(s, ", style=filled, fillcolor=");
        put_quoted(s, fill);
    }
    if (n->pct >= 50) /* the fill is dark then */
        sink_text(s, ", fontcolor=white");
    put_pct(n->pct, s);
    sink_text(s, "];\n");
}

static void put_edge(const struct scene *sc, const struct scene_edge *e, struct sink *s)
{
    char colour[SVG_COLOUR_BYTES];
    char gbs[SVG_NUMBER_BYTES], pct[SVG_NUMBER_BYTES + 2], text[sizeof gbs + sizeof pct + 16];

    sink_text(s, "  ");
    put_quoted(s, sc->node[e->from].name);
    sink_text(s, " -> ");
    put_quoted(s, sc->node[e->to].name);
    sink_text(s, " [label=");
    snprintf(text, sizeof text, "%s%s%s%s", svg_short(e->edge.gbs, 2, gbs),
             isnan(e->util.pct) ? "" : "\n", per_cent(e->util.pct, pct),
             e->util.from == e->edge.from ? "" : " back");
    put_quoted(s, text);
    if (!isnan(e->util.pct)) {
        sink_text(s, ", penwidth=2, color=");
        put_quoted(s, svg_colour(svg_heat(e->util.pct), colour));
    }
    put_pct(e->util.pct, s);
    sink_text(s, "];\n");
}

void scene_dot_graph(struct scene *sc, struct sink *s)
{
    sink_text(s, "digraph ");
    put_quoted(s, sc->cli->info.name);
    sink_text(s, " {\n  label=");
    put_quoted(s, sc->title);
    sink_text(s, ";\n  comment=");
    put_quoted(s, sc->cli->info.hash);
    sink_text(s, ";\n  node [shape=box, fixedsize=true, fontsize=8, fontname=\"sans-serif\"];\n"
                 "  edge [fontsize=7, fontname=\"sans-serif\", arrowsize=0.5];\n");
    for (int areas = 1; areas >= 0; areas--)
        for (size_t i = 0; i < sc->n_nodes; i++)
            if ((sc->node[i].look != SCENE_BOX) == areas)
                put_node(sc, &sc->node[i], s);
    for (size_t i = 0; i < sc->n_edges; i++)
        put_edge(sc, &sc->edge[i], s);
    sink_text(s, "}\n");
}
