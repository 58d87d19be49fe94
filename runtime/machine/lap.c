/* lap.c -- which lap of a grid a machine has: by the ends that are joined, and where planes go. */
#include "machine/lap.h"

static void count_hop(void *arg, const kb_hop *hop)
{
    (void)hop;
    ++*(uint32_t *)arg;
}

/* How many nodes a write passes on the way from one cube of SIP 0 to another. */
static uint32_t hops(const kb_topology *topo, uint32_t from, uint32_t to)
{
    kb_endpoint src = {.kind = KB_PE, .cube = from}, dst = {.kind = KB_SLICE, .cube = to};
    uint32_t n = 0;

    kb_route_walk(topo, &src, &dst, count_hop, &n, NULL);
    return n;
}

struct lap lap_of_cubes(const kb_topology *topo, const kb_info *info)
{
    struct lap lap = {.w = info->mesh_w, .h = info->mesh_h};
    uint32_t beside = lap.w > 1, below = lap.h > 1 ? lap.w : 0;
    uint32_t east = hops(topo, 0, beside), west = hops(topo, beside, 0);
    uint32_t south = hops(topo, 0, below), north = hops(topo, below, 0);

    lap = lap_joined(lap.w, lap.h, info->wrap_y);
    lap.west = west < east;
    lap.north = north < south;
    if (lap.way != LAP_ROWS && (east != west || south != north))
        lap.way = LAP_HELIX;
    return lap;
}

struct lap lap_of_sips(const kb_info *info)
{
    if (info->grid_w * info->grid_h != info->sips)
        return (struct lap){.w = info->sips, .h = 1};
    return lap_joined(info->grid_w, info->grid_h, info->grid_wrap_y);
}

void kb_cube_lap(const kb_topology *topo, uint32_t *cubes)
{
    kb_info info;
    struct lap lap;

    kb_topology_info(topo, &info);
    lap = lap_of_cubes(topo, &info);
    if (info.mesh_w * info.mesh_h != info.cubes_per_sip)
        lap = (struct lap){.w = info.cubes_per_sip, .h = 1};
    for (uint32_t i = 0; i < info.cubes_per_sip; i++)
        cubes[i] = lap_at(&lap, i);
}
