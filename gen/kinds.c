/*
 * kinds.c -- the tables of all kinds of cubes, each made by itself and then put one behind another.
 *
 * A kind is a struct routes of its own, with the keys of its cubes, and is made as if all cubes
 * were like it. So that a number means the same in every kind, all have room for as much as the
 * kind that has most: node 10 of a cube is xbar.pe3 in each kind, or an empty row; so it is with
 * links, segments and costs. Then the tables are joined, and row `i` of kind `k` is row k * n + i.
 * Only hops and legs, which nothing but segments refers to, have no empty rows.
 *
 * Example: cube8 with cubes: {"c3": {pes: 4}}. Both kinds have 81 nodes: those of kind 1 with the
 * numbers of pe4 to pe7, and of slices 4 to 7, are empty. Its segments begin at row 272.
 */
#include "base/larger.h"
#include "kinds.h"
#include "cache_row.h"
#include "check.h"
#include "costs.h"
#include "feeds.h"
#include "nodes.h"
#include "parts.h"
#include "segments.h"
#include <math.h>
#include <inttypes.h>
#include <string.h>

void set_strides(struct routes *r, const struct cubes *cubes)
{
    for (uint32_t k = 0; k < cubes->n_kinds; k++) {
        r->topo.pes = larger(r->topo.pes, (uint32_t)cubes->kinds[k]->cube_pes);
        r->topo.slices = larger(r->topo.slices, (uint32_t)slices_of(cubes->kinds[k]));
        r->most_crossbars = larger(r->most_crossbars, (uint32_t)crossbars_of(cubes->kinds[k]));
        r->most_routers = larger(r->most_routers, noc_make(cubes->kinds[k], r->arena).n_routers);
    }
    r->topo.slices = larger(r->topo.slices, 1); /* tables have a row for one, if no cube has any */
    r->topo.sources = r->topo.pes;
    for (uint32_t k = 0; k < cubes->n_kinds; k++)
        r->topo.sources = larger(r->topo.sources, r->topo.pes + has_l2(cubes->kinds[k]));
    r->topo.n_units = r->topo.slices + 1 + r->topo.sources;
    r->topo.n_kinds = cubes->n_kinds;
}

/* -- one kind --------------------------------------------------------------------------------- */

static void begin_kind(struct routes *kind, const struct routes *r, const struct spec *spec,
                       const struct kind_ports *ports)
{
    *kind = *r;
    kind->spec = spec;
    kind->ports = *ports;
    kind->pes = (uint32_t)spec->cube_pes;
    kind->slices = (uint32_t)slices_of(spec);
    kind->crossbars = (uint32_t)crossbars_of(spec);
    kind->noc = noc_make(spec, r->arena);
    if (r->up_down >> PLANES_MAX)
        noc_route_up_down(&kind->noc);
    kind->boxes = arena_alloc(r->arena, N_BOXES * sizeof *kind->boxes);
    parts_of_boxes(spec, kind->boxes);
    make_nodes(kind);
}

/* Moves the links that leave the cube to the end of a longer row. */
static void widen_links(struct routes *kind, uint32_t n)
{
    uint32_t old = kind->topo.n_cube_links, inside = old;
    struct link_row *rows = arena_alloc(kind->arena, n * sizeof *rows);

    while (inside > 0 && kind->cube_links[inside - 1].leaves != EXIT_END)
        inside--;
    for (uint32_t i = inside; i < n; i++)
        rows[i] = (struct link_row){.leaves = EXIT_END, .gbs = INFINITY};
    memcpy(rows, kind->cube_links, inside * sizeof *rows);
    memcpy(rows + n - (old - inside), kind->cube_links + inside, (old - inside) * sizeof *rows);
    kind->cube_links = rows;
    kind->topo.n_cube_links = n;
}

/* False after a message. */
static bool finish_kind(struct routes *kind, uint32_t n_links)
{
    widen_links(kind, n_links);
    make_segments(kind);
    if (kind->n_segments > UINT16_MAX) /* as struct route_at numbers them */
        return diag_error(
            kind->spec->diag,
            spec_place(kind->spec, kind->found->net ? KEY_sip_net : KEY_sip_planes),
            "%" PRIu32 " pieces of routes in a cube, more than %d: they grow with %s, and with PEs "
            "times memories of the largest cube",
            kind->n_segments, UINT16_MAX,
            kind->found->net ? "the square of its ports" : "'sip.planes'");
    make_feeds(kind);
    return make_costs(kind) ||
           diag_error(kind->spec->diag, spec_place(kind->spec, KEY_ns_per_mm),
                      "a part of a route takes longer than 2^58 fs, too long for simulated time");
}

/* -- joined ----------------------------------------------------------------------------------- */

/* Rows [k * n, (k + 1) * n) of a joined table are those of kind `k`. */
#define JOIN(name, n)                                                                              \
    do {                                                                                           \
        r->name = arena_alloc(r->arena, (size_t)(n)*n_kinds * sizeof *r->name);                    \
        for (uint32_t k = 0; k < n_kinds; k++)                                                     \
            if ((n) != 0)                                                                          \
                memcpy(r->name + (size_t)k * (n), kinds[k].name, (n) * sizeof *r->name);           \
    } while (0)

static bool same_hop(const struct hop_row *a, const struct hop_row *b)
{
    return a->chiplet == b->chiplet && a->node == b->node && a->owner == b->owner &&
           a->link == b->link && a->back == b->back && a->overhead_fs == b->overhead_fs &&
           a->cross_fs == b->cross_fs && a->wire_fs == b->wire_fs && a->gbs == b->gbs;
}

static bool same_leg(const struct leg_row *a, const struct leg_row *b)
{
    return a->owner == b->owner && a->back == b->back && a->fed == b->fed && a->link == b->link &&
           a->station == b->station && a->wire_fs == b->wire_fs &&
           a->overhead_fs == b->overhead_fs && a->gbs == b->gbs;
}

/* Whether segment `i` of two kinds has the same hops and legs; what is behind the last leg follows
 * from them. */
static bool same_segment(const struct routes *a, const struct routes *b, uint32_t i)
{
    const struct segment_row *s = &a->segments[i], *t = &b->segments[i];

    if (s->n_hops != t->n_hops || s->n_legs != t->n_legs)
        return false;
    for (uint32_t k = 0; k < s->n_hops; k++)
        if (!same_hop(&a->hops[s->first_hop + k], &b->hops[t->first_hop + k]))
            return false;
    for (uint32_t k = 0; k < s->n_legs; k++)
        if (!same_leg(&a->legs[s->first_leg + k], &b->legs[t->first_leg + k]))
            return false;
    return true;
}

/* The first of the kinds up to `kind` that differ in no more than their ports, and have the same
 * segment `i`. */
static uint32_t first_with(const struct routes *kinds, uint32_t kind, uint32_t i)
{
    uint32_t k = 0;

    while (k < kind &&
           !(kinds[k].spec == kinds[kind].spec && same_segment(&kinds[k], &kinds[kind], i)))
        k++;
    return k;
}

/* Puts the hops and legs of `row`, which are those of a segment of `kind`, behind the joined ones.
 */
static void move_hops(struct routes *r, const struct routes *kind, const struct segment_row *own,
                      struct segment_row *row)
{
    row->first_hop = r->n_hops;
    row->first_leg = r->n_legs;
    memcpy(r->hops + r->n_hops, kind->hops + own->first_hop, own->n_hops * sizeof *r->hops);
    memcpy(r->legs + r->n_legs, kind->legs + own->first_leg, own->n_legs * sizeof *r->legs);
    r->n_hops += own->n_hops;
    r->n_legs += own->n_legs;
}

/* Hops and legs, of which kinds have different numbers, and the segments that refer to them. Most
 * segments of a chiplet are the same whatever ports it has, and have one row of hops. */
static void join_segments(struct routes *r, const struct routes *kinds, uint32_t n_kinds)
{
    uint32_t n_hops = 0, n_legs = 0, n = r->n_segments;

    for (uint32_t k = 0; k < n_kinds; k++) {
        n_hops += kinds[k].n_hops;
        n_legs += kinds[k].n_legs;
    }
    r->hops = arena_alloc(r->arena, n_hops * sizeof *r->hops);
    r->legs = arena_alloc(r->arena, n_legs * sizeof *r->legs);
    JOIN(segments, n);
    for (uint32_t k = 0; k < n_kinds; k++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = first_with(kinds, k, i);
            struct segment_row *row = &r->segments[(size_t)k * n + i];

            if (first == k) {
                move_hops(r, &kinds[k], &kinds[k].segments[i], row);
            } else {
                row->first_hop = r->segments[(size_t)first * n + i].first_hop;
                row->first_leg = r->segments[(size_t)first * n + i].first_leg;
            }
        }
}

static void join(struct routes *r, struct routes *kinds, uint32_t n_kinds)
{
    uint32_t pes = r->topo.pes;
    const struct spec *spec = r->spec;

    *r = kinds[0]; /* what does not differ, and what holds for a single kind only */
    r->spec = spec;
    r->topo.n_segments = r->n_segments;
    r->topo.n_host_sides = r->n_host_sides;
    if (n_kinds == 1)
        return;
    r->n_hops = r->n_legs = 0;
    join_segments(r, kinds, n_kinds);
    JOIN(kinds, 1);
    JOIN(boxes, N_BOXES);
    JOIN(cube_nodes, r->topo.n_cube_nodes);
    JOIN(cube_links, r->topo.n_cube_links);
    JOIN(home_slices, pes);
    if (!r->topo.regular)
        JOIN(cost_segment, r->n_segments);
    JOIN(cost_host_cpu, r->n_host_sides);
    JOIN(cost_host_in, r->n_host_sides * r->topo.slices);
    JOIN(cost_launch, r->n_host_sides * pes);
    for (uint32_t k = 0; k < n_kinds; k++) {
        r->topo.own_slices &= kinds[k].topo.own_slices;
        r->topo.splits |= kinds[k].topo.splits;
        if (r->topo.early != kinds[k].topo.early)
            r->topo.early = EARLY_SOME;
        if (r->topo.banked != kinds[k].topo.banked)
            r->topo.banked = BANKED_SOME;
    }
}

static uint8_t first_with_keys(const struct cubes *cubes, uint32_t kind)
{
    uint8_t first = 0;

    while (cubes->kinds[first] != cubes->kinds[kind])
        first++;
    return first;
}

bool make_kinds(struct routes *r, const struct cubes *cubes)
{
    struct routes *kinds = arena_alloc(r->arena, cubes->n_kinds * sizeof *kinds);
    uint32_t n_links = 0;

    for (uint32_t k = 0; k < cubes->n_kinds; k++) {
        begin_kind(&kinds[k], r, cubes->kinds[k], &cubes->ports[k]);
        n_links = larger(n_links, kinds[k].topo.n_cube_links);
    }
    for (uint32_t k = 0; k < cubes->n_kinds; k++)
        if (!finish_kind(&kinds[k], n_links))
            return false;
    join(r, kinds, cubes->n_kinds);
    for (uint32_t k = 0; k < cubes->n_kinds; k++)
        r->kinds[k].keys = first_with_keys(cubes, k);
    return true;
}
