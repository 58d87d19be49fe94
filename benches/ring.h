/* ring.h -- all PEs of a machine in a ring whose neighbours are near. */
#ifndef RING_H
#define RING_H
#include "ranks.h"

/*
 * A ring is as fast as its slowest step, and two steps that share a link halve its speed. So the
 * ring visits all PEs of a cube before it moves to a neighbouring cube, and all cubes of a SIP
 * before it moves to the next SIP, from column 0 to column 0, where the IO chiplets are. No link of
 * the mesh or of an IO chiplet has more than one step in each direction. In a cube the ring runs
 * east along the upper row of PEs and back west along the lower one. (In a mesh of one row of cubes
 * one step, the way back, is as long as the row, unless its ends are joined.)
 */
struct ring {
    uint32_t pes; /* of a cube */
    struct lap cubes, sips;
    uint32_t n;     /* PEs of all SIPs */
    uint32_t place; /* of this PE in the ring */
};

/* The PE at a place of the ring, numbered over all SIPs and cubes. */
static inline uint32_t ring_pe(const struct ring *r, uint32_t place)
{
    uint32_t cubes = r->cubes.w * r->cubes.h, half = (r->pes + 1) / 2, pe = place % r->pes;
    uint32_t sip = lap_at(&r->sips, place / r->pes / cubes);
    uint32_t cube = lap_at(&r->cubes, place / r->pes % cubes);

    return (sip * cubes + cube) * r->pes + (pe < half ? pe : half + r->pes - 1 - pe);
}

/* The PE `by` places further on, or back: -n <= by. */
static inline uint32_t ring_neighbour(const struct ring *r, int64_t by)
{
    return ring_pe(r, (uint32_t)((r->place + r->n + by) % r->n));
}

static inline struct ring ring_of(tl_ctx *tl)
{
    struct ring r = {.cubes = cubes_of(tl_topology(tl)), .sips = sips_of(tl_topology(tl))};
    kb_info info = info_of_pes(tl_topology(tl));

    if (!info.wrap_x && !info.wrap_y)
        r.cubes.way = LAP_SNAKE;
    r.pes = info.pes_per_cube;
    r.n = info.sips * info.cubes_per_sip * info.pes_per_cube;
    while (ring_pe(&r, r.place) != tl_pe(tl))
        r.place++;
    return r;
}

#endif
