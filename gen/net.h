/* net.h -- the net of a machine: which ports its cubes have, and what links join them. */
#ifndef NET_H
#define NET_H
#include "spec.h"
#include "machine/tables.h"

/* One port of a cube, and the one at the other end of its link. */
struct net_port {
    const struct link_spec *link;
    uint32_t side;      /* enum side; N_SIDES: in the middle of the cube */
    uint32_t cube;      /* the other cube */
    uint32_t port;      /* its port */
    bool leads, enters; /* out of this cube, into it */
    bool owns;          /* the number of the link is that of this port */
    bool closes;        /* its link closes a ring of a torus */
    bool uncounted;     /* hop classes do not count its link */
    bool of_sips;       /* an item of fabric.net has it */
    uint32_t ring;      /* its item and dimension there, from 1; 0: none */
};

struct net_cube {
    uint32_t n;
    struct net_port *ports;
};

/* The meshes and tori of sip.net, and the first of them that has each cube of a SIP. */
struct net_grids {
    uint32_t n;
    struct grid_row *rows;
    struct place_row *of; /* [cube of a SIP] */
};

/*
 * Of each SIP alike, and its cubes are counted inside it; or, if there are rails (fabric.net), of
 * the whole machine, with its cubes counted over all and the switches between SIPs behind them. All
 * is the arena's.
 */
struct net {
    uint32_t n_cubes, n_sips, n_switches; /* cubes of a SIP */
    uint32_t n_links, most_ports;         /* of a cube */
    bool rails;
    uint32_t w, h;          /* of the first item, if that is a mesh of all cubes */
    struct net_cube *cubes; /* net_cube() */
    struct net_grids grids;
    uint32_t n_io, *io_cubes; /* in ascending order */
};

/* That of a cube, counted over all. */
static inline const struct net_cube *net_cube(const struct net *net, uint32_t cube)
{
    return &net->cubes[net->rails ? cube : cube % net->n_cubes];
}

/* Is it, counted over all, a switch between SIPs? */
static inline bool net_is_switch(const struct net *net, uint32_t cube)
{
    return cube >= net->n_sips * net->n_cubes;
}

/* Reads sip.net, sip.io_cubes and fabric.net. False after messages. */
bool net_make(const struct spec *spec, struct net *out);

/* Has the machine a net, be it one with mistakes? And one inside its SIPs? net_check.c */
bool net_is_meant(const struct spec *spec);
bool net_of_sips(const struct spec *spec);

/* May `k` have no value of its own because of the machine's net? */
bool net_excludes(const struct spec *spec, enum key k);

/* The keys that do not go together with a net. */
void net_check(const struct spec *spec);

/* Cubes of a SIP: of the net, or of the mesh. */
uint32_t net_cubes(const struct spec *spec);

/* Switches between SIPs. */
uint32_t net_switches(const struct spec *spec);

/* "c3", "s1.c3", "sw2": a cube of the whole machine. */
const char *net_cube_text(const struct net *net, struct arena *arena, uint32_t cube);

#endif
