/* scene_mesh.h -- the mesh of cubes of a SIP in a picture, for the pictures of a SIP and the tray.
 */
#ifndef SCENE_MESH_H
#define SCENE_MESH_H
#include "cli/view/scene.h"

enum side { SIDE_N, SIDE_E, SIDE_S, SIDE_W, SIDES };

/* What a node is for these pictures. */
enum seat_part {
    SEAT_OTHER,
    SEAT_PORT,
    SEAT_PCIE_EP,
    SEAT_IO_NOC,
    SEAT_IO_CPU,
    SEAT_SWITCH,
    SEAT_RAIL /* of a switch of rails, or a port of it */
};

/* Where a node of the topology is. */
struct seat {
    uint32_t sip, cube;                 /* cube: of a port, inside its SIP; a switch of rails */
    uint8_t part, side, plane, chiplet; /* part: enum seat_part; side and plane of a port */
};

enum {
    MESH_OUTLINE_TOP = 22, /* for the label of an outline */
    MESH_PAD = 10,
    MESH_SCALE_MOST = 16, /* px per mm */
    STUB_PX = 20,         /* half of a wrap link */
    STUB_ROOM_PX = 42,    /* with the name of the other end */
};

/* The mesh of a SIP, as the drawing needs it: all SIPs have the same places for cubes. */
struct mesh {
    struct scene *sc;
    uint32_t w, h, cubes, chiplets;
    enum side chiplet_side[SIDES];
    bool has_shore[SIDES];
    struct seat *seat; /* [node], owned */
    uint32_t *first; /* [cube over all SIPs], owned: its first node; one that is missing has none */
    struct svg_point port_mm[SIDES];
    double cube_w_mm, cube_h_mm, gap_mm, shore_mm, scale;
    struct svg_point *at; /* [cube], owned: its upper left, in mm from that of all */
    double w_mm, h_mm;    /* of all */
    bool is_net;          /* its cubes are joined by ports of their own, not at four sides */
    kb_cube_place *place; /* [cube], owned, of a net: with no dimensions of cubes of no grid */
    bool wraps_x, wraps_y;
    uint32_t rails;      /* switches of rails, those that are missing, too */
    uint32_t rail_links; /* how many links between cubes of two SIPs, or to such switches */
    bool tiles;
};

/* An IO chiplet of one SIP. */
struct io_place {
    double rim;          /* the x or y of its side towards the mesh */
    uint32_t io, io_noc; /* of the scene; `io` is the chiplet, or pcie_ep with io_cpu next to it */
};

/* The place of one SIP, and the nodes of the scene that its edges join. */
struct sip_place {
    struct mesh *mesh;
    uint32_t sip;
    double x, y;         /* of cube 0 */
    uint32_t first_cube; /* of the scene */
    struct io_place io[SIDES];
    bool inside; /* the parts of the IO chiplet and the ports of links are shown */
};

struct mesh mesh_of(struct scene *sc);
void mesh_free(struct mesh *m);

/* Fills `at`, `w_mm`, `h_mm` and what belongs to a net. */
void mesh_place_net(struct mesh *m);

/* Draws a link of a net, from cube a to cube b. */
void mesh_add_net_link(struct sip_place *p, struct scene_edge *e, uint32_t a, uint32_t b);

/* The middle of a cube, in px. */
struct svg_point mesh_middle(const struct sip_place *p, uint32_t cube);

/* "4 x 2 cubes" of a mesh, "12 cubes" of a net. */
void mesh_say_cubes(const struct mesh *m, char text[32]);

/* All cubes; one that is missing is hatched. */
void mesh_add_cubes(struct sip_place *p);

/* For cubes that are too small for labels: the numbers of columns above, of rows at the right. */
void mesh_add_rulers(struct sip_place *p);

/* The first node of SIP `sip` behind those of its cubes. */
uint32_t mesh_first_io(const struct mesh *m, uint32_t sip);

/* A link between cubes: a wrap link as two stubs. */
void mesh_add_d2d(struct sip_place *p, const kb_edge *edge);

/* From a cube at the rim straight to its IO chiplet; `out`: away from the cube. */
void mesh_add_shore(struct sip_place *p, const kb_edge *edge, bool out);

/* Is it a link of rails? */
bool mesh_is_rail(const struct mesh *m, const kb_edge *edge);

/* A text of `text` and a number at the end of a stub that leaves `side`. */
void mesh_note(struct scene *sc, struct svg_point at, enum side side, const char *letter,
               uint32_t number);

#endif
