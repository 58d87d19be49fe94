/* scene_svg.h -- one drawing of a scene as SVG: its parts are nodes and edges, labels, a legend. */
#ifndef SCENE_SVG_H
#define SCENE_SVG_H
#include "cli/view/scene.h"

/* In px. */
enum {
    SCENE_MARGIN = 24,
    SCENE_LETTER = 11,
    SCENE_SMALL = 9,
    SCENE_SIDE_PX = 2, /* from the middle of a link to one of its directions */
    SCENE_KINDS_MAX = 24,
    SCENE_KIND_BYTES = 96,
    SCENE_COLOURS = 4, /* of kinds of links: svg.css */
};

struct scene_rect {
    double x, y, w, h;
};

/* A line of the legend for each kind of link. */
struct scene_kind {
    char text[SCENE_KIND_BYTES];
    uint32_t colour; /* as that of the edges */
};

struct scene_drawing {
    struct scene *sc;
    struct svg g;
    struct scene_rect *taken; /* owned: rectangles without room for a label */
    size_t n_taken, room;
    struct view_busiest drawn, listed; /* with --stats: labelled, and in the legend */
    struct scene_kind kind[SCENE_KINDS_MAX];
    size_t n_kinds;
    uint32_t n_colours;
};

/* The classes of a line or its head: how busy it is, else its colour. Returns `classes`. */
const char *scene_classes(const char *what, uint32_t colour, double pct, char classes[16]);

/* -- labels --------------------------------------------------------------------------------- */

/* No label overlaps `b` from now on. */
void labels_take(struct scene_drawing *d, struct scene_rect b);
bool labels_is_free(const struct scene_drawing *d, const struct scene_rect *b);

/* The same of all components and edges of the scene. */
void labels_take_scene(struct scene_drawing *d);

/* Writes the labels of edges: the busiest with --stats, else the bandwidth of each. */
void labels_put(struct scene_drawing *d);

/* -- the legend ----------------------------------------------------------------------------- */

/* Find the edges and the kinds of links that the legend lists. */
void legend_find_busiest(struct scene_drawing *d);
void legend_find_kinds(struct scene_drawing *d);

/* Of the legend; the width is that of the picture, wide enough for it. */
double legend_height(const struct scene_drawing *d);
double legend_width(const struct scene_drawing *d);
void legend_put(struct scene_drawing *d, double y);

#endif
