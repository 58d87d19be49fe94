/* cubes.h -- which cubes and PEs are there, and which keys each cube has: `missing` and `cubes`. */
#ifndef CUBES_H
#define CUBES_H
#include "spec.h"

enum { KINDS_MAX = 256 };

/* All cubes, SIP by SIP. The rows are the arena's. */
struct cubes {
    uint32_t n;
    bool *there;
    uint64_t *pes;             /* bit p: PE p is there; 0 of a cube that is missing */
    uint16_t *kind;            /* index of its keys below; 0 of a cube that is missing */
    const struct spec **kinds; /* each has other keys */
    uint32_t n_kinds;
    bool whole; /* all cubes are there */
    bool alike; /* all cubes are there, have the same keys, and all their PEs */
};

/*
 * Reads `missing` and `cubes` of a spec whose mesh is sound. False after messages: a pattern that
 * is none or matches nothing, too many kinds; then *out must not be used.
 */
bool find_cubes(const struct spec *spec, struct cubes *out);

#endif
