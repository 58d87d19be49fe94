/*
 * paths.h -- of a net: the ways of a pair of cubes that has several, and which a transaction takes.
 *
 * `sip.paths` is how many equal ways a pair has at most. They are numbered in the order of their
 * ports, so that way 0 is the one of mesh.h, which hosts, launches, credits and multicasts take.
 * gen/net_ways.c makes the rows. A way counts as often as its narrowest link has lanes, all ways of
 * the pair N times: a transaction takes number
 *
 *     mix(mix(s * 2^32 + u) + id + part * 2^48) mod N
 *
 * of these, with s the number of its PE and u that of its memory, (cube over all SIPs) * 1024 + the
 * slice, 256 for the SRAM, 512 + the PE for a TCM.
 *
 * The number of a transaction's way is its course. Where there are planes, its course is its plane:
 * a net has one plane, and a machine with planes no ways to choose from.
 *
 * Example: 8 GPUs on four switches by 5, 4, 4 and 5 lanes. c0.pe0 writes to c5.slice0: s 0, u 5120,
 * N 18. Ids 0 to 5 take the switches 0 3 3 0 0 2.
 */
#ifndef PATHS_H
#define PATHS_H
#include "machine/mesh.h"

/* The first way of a pair of cubes; NULL: it has one, or none. */
static inline const struct path_row *paths_between(const struct kb_topology *t, uint32_t from,
                                                   uint32_t to)
{
    if (t->paths <= 1 || from == to || (!t->rails && !cost_same_sip(t, from, to)))
        return NULL;
    uint32_t first = mesh_by_rail(t, from, to)
                         ? t->rail_paths[(size_t)from * sim_cubes(t) + to]
                         : t->path_of[(size_t)(t->detour_of[from] - 1) * t->cubes + to % t->cubes];

    return first ? &t->path_rows[first - 1] : NULL;
}

/* By which port a trip on a way that is not way 0 leaves `cube`, on its part from `first` to
 * `last`. */
static inline uint32_t paths_exit(const struct kb_topology *t, const struct trip *trip,
                                  uint32_t cube, uint32_t first, uint32_t last)
{
    uint32_t at = trip->back ? last : first, end = trip->back ? first : last;
    const struct path_row *row = &paths_between(t, at, end)[trip->way];

    for (const uint8_t *port = &t->path_ports[row->ports];; port++) {
        uint32_t exit = (uint8_t)(*port - '0'), next = walk_neighbour(t, at, exit);

        if (!trip->back && at == cube)
            return exit;
        if (trip->back && next == cube)
            return walk_far_side(t, at, exit);
        at = next;
    }
}

/* The finaliser of splitmix64. */
static inline uint64_t paths_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Of N lanes the one that a transaction takes; `part`: what its part number adds to its id. */
static inline uint32_t paths_lane(uint64_t pe, uint64_t memory, uint64_t id, uint64_t part,
                                  uint32_t n)
{
    return (uint32_t)(paths_mix(paths_mix(pe << 32 | memory) + id + part) % n);
}

#endif
