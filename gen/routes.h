/* routes.h -- the tables of a topology: nodes and links, segments of routes, their costs. */
#ifndef ROUTES_H
#define ROUTES_H
#include "arena.h"
#include "cubes.h"
#include "noc.h"
#include "spec.h"
#include "machine/tables.h"

/* A topology in the making. */
struct routes {
    struct arena *arena;
    const struct spec *spec;
    struct kb_topology topo; /* what it becomes; its tables are those below */

#define TABLE(type, name) type *name;
#include "machine/topology.def"

    uint16_t *boxes; /* [kind][box]: parts_of_boxes() */

    /* Of one kind of cubes: kinds.c makes each as a struct routes of its own. */
    uint32_t pes, slices, crossbars;
    struct noc noc;
    struct kind_ports ports;               /* of a net */
    uint32_t most_crossbars, most_routers; /* of any kind; of a plane of its NoC */
    uint32_t n_cube_rows;                  /* 0: all cubes are alike */
    uint32_t first_xbar_node, first_bridge_node;
    uint32_t n_host_sides; /* sides of cubes that a host comes in by, of all planes */
    uint32_t n_stops;      /* rows of stops */
    uint32_t n_path_rows, path_rows_cap, n_path_ports, path_ports_cap; /* of a net: net_ways.c */
    uint32_t n_detours, detours_cap, n_shores, n_between_rows, n_between_of;
    const struct cubes *found;      /* what is there; borrowed */
    uint32_t *first_end, *next_end; /* segments.c */
    uint32_t n_hops, n_legs, n_segments /* of a kind */, hops_cap, legs_cap, segments_cap, n_mesh;
    uint32_t up_down; /* planes whose routes are up*, then down*, as bits, of a net the first; bit
                         PLANES_MAX: of meshes inside cubes, too */
    uint32_t *ranks;  /* [cube over all]: of a net whose routes are; else NULL */
    bool no_up_down;  /* some pair of cubes has a way, but no such one */
    struct graph *requests; /* circle.h: of the plan of channels that was tried last */
    const char *circle;     /* channels.c: of packets that could wait for each other; NULL: none */
    uint32_t vcs_needed;    /* the same */
    const char *no_other;   /* the same: what is wrong with routes up*, then down*; NULL: nothing */
    bool too_long;          /* a part of a route passes the range of simulated time */
};

/*
 * Fills `r`, its topology above all, from `spec` (borrowed). False after a message: a wire or a
 * route is longer than simulated time can count, or `broken` names what is no link.
 */
bool make_routes(struct routes *r, const struct spec *spec, struct arena *arena);

#endif
