/*
 * scene.c -- the layout of a picture before it is written: components and edges, in px.
 *
 * A picture of a topology is made in two steps. A level (scene_sip.c, scene_cube.c, scene_pe.c)
 * fills a scene: boxes, the edges between them as points, dots, texts. A format (scene_svg.c,
 * scene_dot.c) writes it. So a level knows nothing of SVG, and a format nothing of cubes.
 * Coordinates have their origin at the upper left of the drawing; the format adds margins, title
 * and legend.
 *
 * Each level is to scale where millimetres mean something, and schematic elsewhere:
 *
 *     system, sip   cubes and their distances are to scale, IO chiplets and the switch are not
 *     cube          the plane of the NoC is to scale, with a dot for each point where a component
 *                   meets it; PEs, crossbars and slices stand around it in columns
 *     pe            nothing is to scale
 *
 * Example, c0 of cube8. Its die is 15 x 11 mm, and has four columns of 190 px above it and below,
 * so the die should be 760 px wide: scene_scale() makes that 50.66 px per mm (rounded down
 * to four digits), and the die 759.9 x 557.26 px. It begins at x = 116, behind the bridges. Column
 * 0 has its middle at 116 + 190 / 2 = 211; there stand, from the rim upwards, pe0 (98 px high, with
 * its seven components), xbar.pe0 at y = 54 and slice0. The edge from pe0.pe_dma to xbar.pe0 goes
 * around the PE by four points: (147, 184), (134, 184), (134, 76), (163, 76).
 *
 * Invariants. Lines of an edge are level or upright, so a label beside one is level or upright
 * too; only links of a net slant, which have labels where they do not. Two directions of a link are
 * added one after the other (`back`), and the format draws them side by side. Each component is
 * added before the edges that meet it, since an edge has the numbers of two nodes of the scene.
 */
#include "cli/view/scene.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

struct scene_node *scene_add_node(struct scene *sc, enum scene_look look, const char *classes,
                                  double x, double y, double w, double h)
{
    sc->node = memory_room(sc->node, sc->n_nodes, &sc->nodes_room, sizeof *sc->node);
    struct scene_node *n = &sc->node[sc->n_nodes++];
    *n = (struct scene_node){.look = look,
                             .classes = classes,
                             .x = x,
                             .y = y,
                             .w = w,
                             .h = h,
                             .pct = NAN,
                             .node = SCENE_NONE};
    return n;
}

struct scene_edge *scene_add_edge(struct scene *sc, const kb_edge *edge, uint32_t from, uint32_t to)
{
    sc->edge = memory_room(sc->edge, sc->n_edges, &sc->edges_room, sizeof *sc->edge);
    struct scene_edge *e = &sc->edge[sc->n_edges];
    const struct scene_edge *before = sc->n_edges ? e - 1 : NULL;
    sc->n_edges++;
    *e = (struct scene_edge){.edge = *edge, .from = from, .to = to};
    e->back = before && before->edge.from == edge->to && before->edge.to == edge->from;
    e->util = view_utilization_edge(sc->utilization, edge->from, edge->to);
    return e;
}

void scene_add_dot(struct scene *sc, uint32_t node, double x, double y)
{
    sc->dot = memory_room(sc->dot, sc->n_dots, &sc->dots_room, sizeof *sc->dot);
    sc->dot[sc->n_dots++] = (struct scene_dot){node, x, y};
}

struct scene_note *scene_add_note(struct scene *sc, double x, double y, enum svg_anchor anchor)
{
    sc->note_at = memory_room(sc->note_at, sc->n_notes, &sc->notes_room, sizeof *sc->note_at);
    struct scene_note *note = &sc->note_at[sc->n_notes++];
    *note = (struct scene_note){.x = x, .y = y, .anchor = anchor};
    return note;
}

void scene_say(char label[SCENE_LABEL_BYTES], const char *text)
{
    text_show(text, strlen(text), label, SCENE_LABEL_BYTES);
}

void scene_bend(struct scene_edge *e, double x, double y)
{
    e->at[e->n_at++] = (struct svg_point){x, y};
}

bool scene_is_both_ways(const struct scene *sc, const struct scene_edge *e)
{
    size_t i = (size_t)(e - sc->edge);

    return e->back || (i + 1 < sc->n_edges && sc->edge[i + 1].back);
}

void scene_set_node(struct scene *sc, struct scene_node *n, uint32_t node)
{
    kb_node info;

    if (kb_node_get(sc->cli->topo, node, &info) != KB_OK)
        return;
    strcpy(n->name, info.name);
    n->node = node;
    n->pct = view_utilization_node(sc->utilization, node);
}

uint32_t scene_find(const struct scene *sc, uint32_t sip, uint32_t cube, const char *name)
{
    char full[2 * KB_NODE_BYTES];
    uint32_t node = 0;

    if (strncmp(name, "fabric", 6) == 0)
        snprintf(full, sizeof full, "%s", name);
    else if (cube == KB_NO_CUBE)
        snprintf(full, sizeof full, "sip%u.io0.%s", sip, name);
    else
        snprintf(full, sizeof full, "sip%u.cube%u.%s", sip, cube, name);
    return kb_node_find(sc->cli->topo, full, strlen(full), &node) == KB_OK ? node : SCENE_NONE;
}

uint32_t scene_first(const struct scene *sc, uint32_t sip, uint32_t cube)
{
    uint32_t first = scene_find(sc, sip, cube, "m_cpu"); /* behind the nodes of the NoC */
    kb_node node;

    if (first == SCENE_NONE) /* a switch: its NoC is its first */
        first = scene_find(sc, sip, cube, "noc");
    while (first > 0 && kb_node_get(sc->cli->topo, first - 1, &node) == KB_OK &&
           node.cube == cube && node.sip == sip)
        first--;
    return first;
}

const char *scene_plane_name(const struct scene *sc, const char *name, uint32_t plane,
                             char out[KB_NODE_BYTES])
{
    const char *of = kb_plane_name(sc->cli->topo, plane);

    snprintf(out, KB_NODE_BYTES, "%s%s%s", name, of && *of ? "." : "", of ? of : "");
    return out;
}

double scene_scale(double w_mm, double h_mm, double w_px, double h_px, double most)
{
    double scale = fmin(most, fmin(w_px / fmax(w_mm, 1e-6), h_px / fmax(h_mm, 1e-6)));
    double digit = pow(10, floor(log10(scale)) - 3);

    return floor(scale / digit) * digit;
}

void scene_free(struct scene *sc)
{
    free(sc->node);
    free(sc->edge);
    free(sc->dot);
    free(sc->note_at);
}
