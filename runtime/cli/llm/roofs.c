/*
 * roofs.c -- engine, math, memories and links of a rank.
 *
 * A product and a sum are two operations, an element of pe_math is one. Links are those that a rank
 * sends over in a ring: to the rank before it and to the one behind it, as much as the slowest link
 * on each way lets through, and once where both ways leave by the same edge.
 *
 * Example: 8 cubes of cube8, 128 GB/s between neighbours: 256 GB/s. Two SIPs behind a switch: 64.
 */
#include "cli/llm/roofs.h"
#include <math.h>
#include <string.h>

/* The edge by which a way leaves its unit. */
struct leaving {
    char unit[KB_NODE_BYTES], before[KB_NODE_BYTES], edge[2 * KB_NODE_BYTES + 1];
    bool by_cube;
};

/* The part of a node's name that is its SIP, or its cube. */
static void name_unit(const char *node, bool by_cube, char unit[KB_NODE_BYTES])
{
    size_t n = strcspn(node, ".");

    if (by_cube && node[n] == '.')
        n += 1 + strcspn(node + n + 1, ".");
    memcpy(unit, node, n);
    unit[n] = '\0';
}

static void hear(void *arg, const kb_hop *hop)
{
    struct leaving *l = arg;
    char unit[KB_NODE_BYTES];

    name_unit(hop->node, l->by_cube, unit);
    if (!l->before[0])
        strcpy(l->unit, unit);
    else if (!l->edge[0] && strcmp(unit, l->unit) != 0) {
        strcpy(l->edge, l->before);
        strcat(l->edge, ">");
        strcat(l->edge, hop->node);
    }
    strcpy(l->before, hop->node);
}

/* From the first PE of rank 0 to the memory of the first of another; 0: there is no way. */
static double way_gbs(const struct chip *c, uint32_t rank, struct leaving *out)
{
    kb_endpoint from, to;
    kb_error why;
    kb_cost cost;

    *out = (struct leaving){.by_cube = strcmp(c->unit, "cube") == 0};
    if (kb_pe_get(c->topo, c->order[0], &from) != KB_OK ||
        kb_pe_slice(c->topo, c->order[(size_t)rank * c->unit_pes], &to) != KB_OK ||
        kb_route_cost(c->topo, KB_WRITE, &from, &to, 1, &cost, &why) != KB_OK ||
        kb_route_walk_on(c->topo, kb_plane_of(c->topo, KB_WRITE), KB_WRITE, &from, &to, hear, out,
                         &why) != KB_OK)
        return 0;
    return cost.bottleneck_gbs;
}

static double fabric_of(const struct chip *c, uint32_t ranks)
{
    struct leaving next, before;
    double up, down;

    if (ranks < 2)
        return 0;
    up = way_gbs(c, 1, &next);
    if (ranks == 2)
        return up;
    down = way_gbs(c, ranks - 1, &before);
    return strcmp(next.edge, before.edge) == 0 ? fmax(up, down) : up + down;
}

struct roofs roofs_of(const struct chip *c, uint32_t ranks)
{
    kb_limits limits;

    kb_topology_limits(c->topo, &limits);
    return (struct roofs){.peak = chip_flops_per_ns(c),
                          .math = limits.math_elements_per_ns * c->unit_pes,
                          .memory = c->slice_gbs * kb_slice_count(c->topo) / c->units,
                          .fabric = fabric_of(c, ranks)};
}
