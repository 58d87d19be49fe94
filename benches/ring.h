/* ring.h -- all PEs of a machine in a ring whose neighbours are near. */
#ifndef RING_H
#define RING_H
#include "tl.h"

/*
 * A ring goes as fast as its slowest step, and two steps over one link halve it. So it is through
 * with a cube before it goes to the next, which is beside it, and with a SIP before it leaves for
 * the next, from column 0 to column 0: there the IO chiplets are. No link of the mesh or of an IO
 * chiplet has more than one step either way. In a cube it goes east by the upper row of PEs and
 * back west by the lower one. (A mesh of one row has no way back: one step is as long as it.)
 */
struct ring {
    uint32_t pes, w, h; /* of a cube, of the mesh of a SIP */
    uint32_t n;         /* PEs of all SIPs */
    uint32_t place;     /* the own one in the ring */
};

/*
 * Cube `i` of the way through a mesh: east by row 0, then back west by one column of the other rows
 * after the other. With an even number of columns the last cube is beside the first.
 */
static inline uint32_t ring_cube(const struct ring *r, uint32_t i)
{
    uint32_t column, row;

    if (i < r->w)
        return i;
    i -= r->w;
    column = i / (r->h - 1);
    row = i % (r->h - 1);
    if (column % 2)
        row = r->h - 2 - row;
    return (1 + row) * r->w + r->w - 1 - column;
}

/* The PE at a place of the ring, by its number over all SIPs and cubes. */
static inline uint32_t ring_pe(const struct ring *r, uint32_t place)
{
    uint32_t cubes = r->w * r->h, half = (r->pes + 1) / 2, pe = place % r->pes;
    uint32_t sip = place / r->pes / cubes, cube = ring_cube(r, place / r->pes % cubes);

    return (sip * cubes + cube) * r->pes + (pe < half ? pe : half + r->pes - 1 - pe);
}

/* So many places further on; `by` may be as far back as the ring is long. */
static inline uint32_t ring_neighbour(const struct ring *r, int64_t by)
{
    return ring_pe(r, (uint32_t)((r->place + r->n + by) % r->n));
}

static inline struct ring ring_of(tl_ctx *tl)
{
    struct ring r = {.place = 0};
    kb_info info;

    kb_topology_info(tl_topology(tl), &info);
    r.pes = info.pes_per_cube;
    r.w = info.mesh_w;
    r.h = info.mesh_h;
    r.n = info.sips * info.cubes_per_sip * info.pes_per_cube;
    while (ring_pe(&r, r.place) != tl_pe(tl))
        r.place++;
    return r;
}

#endif
