/* noc.h -- the NoC of a cube: one node, or a mesh of routers with holes. */
#ifndef NOC_H
#define NOC_H
#include "spec.h"

/* Places are row by row; a bus has one. */
struct noc {
    struct arena *arena;
    bool is_mesh;
    uint32_t cols, rows, places;
    uint32_t n_routers;      /* places that are no holes */
    double w_mm, h_mm;       /* of the cube */
    bool *is_hole;           /* [place] */
    uint32_t *rank;          /* [place]: routers before it */
    struct up_down *up_down; /* its routes are such; NULL: they are not */
    uint32_t aimed;          /* the place to which these were found last */
    uint16_t **steps;        /* [to]: steps from each place, or NULL: not needed yet */
};

struct noc noc_make(const struct spec *spec, struct arena *arena);

/* From now on routes go up*, then down*: up_down.h */
void noc_route_up_down(struct noc *noc);

/* Checks holes and PEs of a cube. Messages go to the diag of the spec. */
void noc_check(const struct spec *spec);

/* The middle of a place. */
double noc_x_mm(const struct noc *noc, uint32_t place);
double noc_y_mm(const struct noc *noc, uint32_t place);

/* The place of the router that a node at this point meets, and how far that is along x and y. */
uint32_t noc_place_at(const struct noc *noc, double x_mm, double y_mm);
double noc_distance_mm(const struct noc *noc, uint32_t place, double x_mm, double y_mm);

/* The place behind `from` on the way to another one, `to`. */
uint32_t noc_next(struct noc *noc, uint32_t from, uint32_t to);

/* The neighbour of a place to that side (enum side); NOC_NOWHERE: none, or a hole. */
#define NOC_NOWHERE UINT32_MAX
uint32_t noc_neighbour(const struct noc *noc, uint32_t place, uint32_t side);

#endif
