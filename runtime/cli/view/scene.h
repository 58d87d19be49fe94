/* scene.h -- the layout of a picture before it is written: components and edges, in px. */
#ifndef SCENE_H
#define SCENE_H
#include "cli/view/svg.h"
#include "cli/view/view.h"

enum { SCENE_LABEL_BYTES = 48, SCENE_BENDS_MAX = 7, VIEW_BUSIEST = 8 };

#define SCENE_NONE UINT32_MAX

enum scene_look {
    SCENE_BOX,     /* filled; its label inside, left out if it does not fit */
    SCENE_OUTLINE, /* around others; its label at its upper left */
    SCENE_UNDER,   /* the same; its label at its lower left */
    SCENE_PLANE,   /* filled, with others on it */
};

/* A component, or several in one box: a cube, an IO chiplet, a SIP. */
struct scene_node {
    char name[KB_NODE_BYTES];
    char label[SCENE_LABEL_BYTES], detail[SCENE_LABEL_BYTES]; /* the second line may be empty */
    enum scene_look look;
    const char *classes;
    bool small; /* a small label, to match others of its kind */
    double x, y, w, h;
    double pct;    /* utilization; NaN: not known */
    uint32_t node; /* in the topology; SCENE_NONE: it is several */
    bool missing;  /* its place is hatched */
    uint32_t link; /* the last link of a net that was added from it: 1 + its edge; 0: none */
};

/* The utilization of an edge, in its busier direction: an edge that exists in one direction only
 * also carries the data of reads, the other way. */
struct view_edge_utilization {
    uint32_t from, to;
    double pct; /* NaN: not known */
};

/* A directed edge: level and upright lines from point to point. */
struct scene_edge {
    kb_edge edge;
    uint32_t from, to; /* numbers of nodes of the scene */
    struct svg_point at[SCENE_BENDS_MAX];
    uint32_t n_at;
    bool back;  /* the other direction of the edge before it, drawn beside that */
    bool thin;  /* one of many that cross each other */
    bool stubs; /* of four points: the first two and the last two are lines, with nothing between */
    struct view_edge_utilization util;
    bool of_net;     /* a link of a net */
    uint32_t link;   /* the one added before it from the same node, as a node has the last */
    uint32_t colour; /* by its kind: from 1; 0: that of all lines */
};

/* The point where a component meets its cube's NoC. */
struct scene_dot {
    uint32_t node;
    double x, y;
};

/* A small text. */
struct scene_note {
    char text[16];
    double x, y;
    enum svg_anchor anchor;
    double taken_w; /* px that labels of edges leave free for it */
};

struct scene {
    const struct cli *cli;
    const struct view_utilization *utilization; /* NULL: none */
    const char *prefix;                         /* of ids */
    bool in_page;
    char title[SCENE_LABEL_BYTES];
    const char *level;
    const char *note; /* below the legend; NULL: none */
    bool of_cubes;    /* a cube is one box, with the utilization of its busiest part */
    bool lists_all;   /* the list of busiest edges includes those that are not drawn */
    bool has_kinds;   /* some cubes have a star: keys of their own */
    double scale;     /* px per mm; 0: not to scale */
    double width, height;
    struct scene_node *node; /* owned, as the next three */
    struct scene_edge *edge;
    struct scene_dot *dot;
    struct scene_note *note_at;
    size_t n_nodes, n_edges, n_dots, n_notes, nodes_room, edges_room, dots_room, notes_room;
};

/* Add one that the caller fills in; it stays until the next of its kind. */
struct scene_node *scene_add_node(struct scene *sc, enum scene_look look, const char *classes,
                                  double x, double y, double w, double h);
struct scene_edge *scene_add_edge(struct scene *sc, const kb_edge *edge, uint32_t from,
                                  uint32_t to);
void scene_add_dot(struct scene *sc, uint32_t node, double x, double y);
struct scene_note *scene_add_note(struct scene *sc, double x, double y, enum svg_anchor anchor);

/* Sets a label or a detail, cut if it is too long. */
void scene_say(char label[SCENE_LABEL_BYTES], const char *text);
void scene_bend(struct scene_edge *e, double x, double y);

/* Is it one direction of a link that is drawn both ways? */
bool scene_is_both_ways(const struct scene *sc, const struct scene_edge *e);

/* Sets name, utilization and number from node `node` of the topology. */
void scene_set_node(struct scene *sc, struct scene_node *n, uint32_t node);

void scene_svg(struct scene *sc, struct sink *s);
void scene_dot_graph(struct scene *sc, struct sink *s);
void scene_free(struct scene *sc);

/* -- the levels: each fills a scene --------------------------------------------------------- */

void scene_system(struct scene *sc, struct view_at at);
void scene_sip(struct scene *sc, struct view_at at);
void scene_cube(struct scene *sc, struct view_at at);
void scene_pe(struct scene *sc, struct view_at at);

/* The number of a node: of "sip0.cube3." and `name`; if `cube` is KB_NO_CUBE, of the IO chiplet's,
 * or of the fabric if the name begins so. */
uint32_t scene_find(const struct scene *sc, uint32_t sip, uint32_t cube, const char *name);

/* The first node of a cube that is there: its noc, or the first router of its mesh. */
uint32_t scene_first(const struct scene *sc, uint32_t sip, uint32_t cube);

/* The name of a noc or a ucie on a plane: "noc", or "noc.noc0" if planes have names. Returns `out`.
 */
const char *scene_plane_name(const struct scene *sc, const char *name, uint32_t plane,
                             char out[KB_NODE_BYTES]);

/* The scale, in px per mm, at which `w_mm` x `h_mm` fit; four digits, at most `most`. */
double scene_scale(double w_mm, double h_mm, double w_px, double h_px, double most);

/* -- utilization ---------------------------------------------------------------------------- */

/* In per cent; NaN: not known, also without `utilization`. */
bool view_utilization_is_of_buffers(const struct view_utilization *utilization);
double view_utilization_node(const struct view_utilization *utilization, uint32_t node);
struct view_edge_utilization view_utilization_edge(const struct view_utilization *utilization,
                                                   uint32_t from, uint32_t to);

/* The busiest edges, the busiest first; equal ones in the order in which they were added. */
struct view_busiest {
    struct view_edge_utilization edge[VIEW_BUSIEST];
    size_t n;
};

/* Adds an edge if it is among them and was busy at all. */
void view_busiest_add(struct view_busiest *b, struct view_edge_utilization util);

/* Adds all edges of the topology. */
void view_busiest_all(struct view_busiest *b, const struct view_utilization *utilization);

/* The highest utilization of nodes [first, end). DMAs do not count: their channels are held while
 * transactions wait elsewhere. */
double view_utilization_most(const struct view_utilization *utilization, uint32_t first,
                             uint32_t end);

#endif
