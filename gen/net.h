/* net.h -- the net of a SIP: which ports its cubes have, and what links join them. */
#ifndef NET_H
#define NET_H
#include "spec.h"

/* One port of a cube, and the one at the other end of its link. */
struct net_port {
    const struct link_spec *link;
    uint32_t side;      /* enum side; N_SIDES: in the middle of the cube */
    uint32_t cube;      /* the other cube */
    uint32_t port;      /* its port */
    bool leads, enters; /* out of this cube, into it */
    bool owns;          /* the number of the link is that of this port */
    bool closes;        /* its link closes a ring of a torus */
    uint32_t ring;      /* its item and dimension there, from 1; 0: none */
};

struct net_cube {
    uint32_t n;
    struct net_port *ports;
};

/* Of each SIP alike. All is the arena's. */
struct net {
    uint32_t n_cubes, n_links, most_ports; /* of a cube */
    uint32_t w, h;                         /* of the first item, if that is a mesh of all cubes */
    struct net_cube *cubes;
    uint32_t n_io, *io_cubes; /* in ascending order */
};

/* Reads sip.net and sip.io_cubes. False after messages. */
bool net_make(const struct spec *spec, struct net *out);

/* Does the machine have a net, be it one with mistakes? */
bool net_is_meant(const struct spec *spec);

/* The keys that do not go together with a net. */
void net_check(const struct spec *spec);

/* Cubes of a SIP: of the net, or of the mesh. */
uint32_t net_cubes(const struct spec *spec);

#endif
