/*
 * machine_ways.c -- how many ways lead from one chiplet to another, and whether SIPs lie in each
 * other's way.
 *
 * A simulation of one SIP by itself is right as long as what others send does not come in its way.
 * A switch between SIPs keeps them apart. On a grid of more than two, what is for a SIP further off
 * passes those between. In a net every way of every pair of chiplets is followed: 72 packages of
 * three chiplets, with 18 ways a pair, are 46,000 pairs and four links a way.
 */
#include "kernbench.h"
#include "machine/endpoint.h"
#include "machine/paths.h"
#include "machine/pes.h"

/* Do transactions begin or end in a cube of that number? In a switch none does. */
static bool is_end(const struct kb_topology *t, uint32_t cube)
{
    return cube < t->sips * t->cubes && cube_is_there(t, cube) &&
           (cube_pe_count(t, cube) > 0 || cube_slice_count(t, cube) > 0);
}

uint32_t kb_ways(const kb_topology *t, uint32_t from, uint32_t to)
{
    const struct path_row *rows;

    if (!t || !is_end(t, from) || !is_end(t, to))
        return 0;
    rows = paths_between(t, from, to);
    return rows ? rows->n : mesh_has_way(t, 0, from, to);
}

/* Does the way by these ports, or the only one, lead through a SIP of neither end? */
static bool passes_others(const struct kb_topology *t, uint32_t from, uint32_t to,
                          const uint8_t *ports)
{
    for (uint32_t at = from; at != to;) {
        bool is_switch = at >= t->sips * t->cubes;

        if (!is_switch && !cost_same_sip(t, at, from) && !cost_same_sip(t, at, to))
            return true;
        at = walk_neighbour(t, at,
                            ports ? (uint32_t)(*ports++ - '0')
                                  : mesh_step(t, 0, cube_is_odd(t, from), at, from, to));
    }
    return false;
}

static bool pair_passes_others(const struct kb_topology *t, uint32_t from, uint32_t to)
{
    const struct path_row *rows = paths_between(t, from, to);
    bool passes = false;

    for (uint32_t way = 0; rows && way < rows->n && !passes; way++)
        passes = passes_others(t, from, to, &t->path_ports[rows[way].ports]);
    return rows ? passes : passes_others(t, from, to, NULL);
}

bool kb_sips_pass(const kb_topology *t)
{
    uint32_t n;

    if (!t || t->sips <= 2 || t->fabric_shape == FABRIC_SWITCH)
        return false;
    n = t->rails ? t->sips * t->cubes : 0;
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            if (!cost_same_sip(t, from, to) && kb_ways(t, from, to) > 0 &&
                pair_passes_others(t, from, to))
                return true;
    return n == 0;
}
