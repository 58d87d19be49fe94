/* cubes.h -- which cubes and PEs are there, and which keys each cube has: `missing` and `cubes`. */
#ifndef CUBES_H
#define CUBES_H
#include "net.h"
#include "spec.h"
#include "machine/tables.h"

enum { KINDS_MAX = 256 };

/* The ports of the cubes of a kind, in a net: those of one of them. */
struct kind_ports {
    const struct net_cube *of; /* NULL: it is a mesh */
    bool io;                   /* and one to the IO chiplet */
};

/* All cubes, SIP by SIP. The rows are the arena's. */
struct cubes {
    uint32_t n;
    bool *there;
    struct pe_set *pes;        /* none of a cube that is missing */
    uint16_t *kind;            /* index of its keys below; 0 of a cube that is missing */
    const struct spec **kinds; /* each has other keys, or other ports: */
    struct kind_ports *ports;
    struct net *net; /* NULL: it is a mesh */
    uint32_t n_kinds;
    bool whole; /* all cubes are there */
    bool alike; /* all cubes are there, have the same keys, and all their PEs */
};

/*
 * Reads `missing` and `cubes` of a spec whose mesh is sound. False after messages: a pattern that
 * is none or matches nothing, too many kinds; then *out must not be used.
 */
bool find_cubes(const struct spec *spec, struct cubes *out);

/* The keys of a cube: those of a row of `kinds` or `cubes`, else those of `before`. The arena's. */
const struct spec *cubes_override(const struct spec *before, const struct override_spec *o);

/* Warns of `kinds` that no cube has. */
void cubes_warn(const struct spec *spec);

#endif
