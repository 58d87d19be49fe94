/* ways.c -- the ways that transactions have taken: how often, and the pieces of time on them.
 *
 * Between two stations nothing depends on the run: the wires and nodes of a route are rows of the
 * tables. So where only sums are wanted (explain/breakdown.c) no event and no call is needed for
 * them: a transaction that ends counts its way, and what the way is made of is added up when the
 * sums are asked for. Its times at both ends are sums of the way, too. Only waits for links are
 * not: they are at places between.
 */
#include "explain/ways.h"
#include <stdlib.h>
#include "machine/place.h"
#include "machine/walk.h"

kb_place ways_node(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
                   const struct trip *trip)
{
    switch (hop->chiplet) {
    case AT_CUBE:
        return place_node(AT_CUBE, cube, hop->node);
    case AT_IO:
    case AT_IO_TO:
        return place_node(AT_IO, walk_chiplet(t, trip, cube, hop->chiplet == AT_IO_TO), hop->node);
    default:
        return place_node(AT_FABRIC, 0, hop->node);
    }
}

/* The hops of a segment that a request leaves again: all but a memory. */
static uint32_t hops_passed(const struct segment_row *seg)
{
    return seg->exit == EXIT_END ? seg->n_hops - 1u : seg->n_hops;
}

/* -- counting ------------------------------------------------------------------------------- */

enum { COURSE_BIT = 2, CHIPLET_BIT = 8, USED_BIT = 12 };

static uint16_t how_of(const struct txn *x)
{
    return (uint16_t)(1u << USED_BIT | (uint32_t)x->chiplet << CHIPLET_BIT |
                      (uint32_t)x->course << COURSE_BIT | x->op);
}

struct txn ways_txn(const struct way_sum *way)
{
    return (struct txn){.src = way->src,
                        .dst = way->dst,
                        .op = way->how & 3u,
                        .course = (way->how >> COURSE_BIT) & 63u,
                        .chiplet = (way->how >> CHIPLET_BIT) & 3u};
}

/* The row of a way, or the free one where it belongs. */
static struct way_sum *find(const struct ways *w, uint32_t src, uint32_t dst, uint16_t how)
{
    uint64_t h = ((uint64_t)src << 32 | dst) * UINT64_C(0x9e3779b97f4a7c15) + how;
    size_t i = (h ^ h >> 32) * UINT64_C(0xbf58476d1ce4e5b9) >> 24 & (w->cap - 1);

    while (w->way[i].how && (w->way[i].src != src || w->way[i].dst != dst || w->way[i].how != how))
        i = (i + 1) & (w->cap - 1);
    return &w->way[i];
}

/* Doubles the table once it is half full. */
static bool make_room(struct ways *w)
{
    struct ways old = *w;

    if (2 * w->n < w->cap)
        return true;
    w->cap = old.cap ? 2 * old.cap : 256;
    w->way = calloc(w->cap, sizeof *w->way);
    if (!w->way) {
        *w = old;
        return false;
    }
    for (size_t i = 0; i < old.cap; i++)
        if (old.way[i].how)
            *find(w, old.way[i].src, old.way[i].dst, old.way[i].how) = old.way[i];
    free(old.way);
    return true;
}

/* A way that is new: what the tables say of it. */
static void begin(struct ways *w, struct way_sum *way, const struct txn *x)
{
    const struct trip trip = txn_trip(w->topo, x);
    struct kb_cost c = cost_by_tables(w->topo, &w->mask, x->op, &trip, x->nbytes);

    *way = (struct way_sum){.src = x->src,
                            .dst = x->dst,
                            .how = how_of(x),
                            .passed_fs = c.wire_fs + c.overhead_fs - c.memory_overhead_fs,
                            .response_fs = c.response_fs};
    w->n++;
}

struct way_sum *ways_of(struct ways *w, const struct txn *x)
{
    struct way_sum *way;

    if (!make_room(w))
        return NULL;
    way = find(w, x->src, x->dst, how_of(x));
    if (!way->how)
        begin(w, way, x);
    return way;
}

void ways_free(struct ways *w)
{
    free(w->way);
}

/* -- the pieces of one ---------------------------------------------------------------------- */

static void tell(kb_cause cause, kb_place place, int64_t fs, way_told *each, void *arg)
{
    each(arg, &(kb_share){.cause = cause, .place = place, .count = 1, .sum_fs = fs});
}

/* Those of the segment at `at` of a trip. `back`: its links are passed against its steps. */
static void pass_segment(const struct kb_topology *t, const struct cost_mask *m,
                         const struct trip *trip, bool back, struct route_at at, way_told *each,
                         void *arg)
{
    const struct segment_row *seg = walk_segment(t, at);
    const struct hop_row *hop = &t->hops[seg->first_hop];

    for (uint32_t i = 0; i < hops_passed(seg); i++, hop++) {
        struct walk_edge edge = {hop->owner, hop->back, hop->link};
        kb_place node = ways_node(t, hop, at.cube, trip);
        size_t link = walk_link(t, edge, at.cube, trip) ^ back;
        int64_t wire_fs = hop->wire_fs + (i + 1 == seg->n_hops ? walk_extra_fs(t, at) : 0);

        int64_t overhead_fs = node_component(t, hop, at.cube) ? 0 : hop->overhead_fs;

        tell(KB_CAUSE_OVERHEAD, node, overhead_fs & m->overhead, each, arg);
        tell(KB_CAUSE_WIRE, node, hop->cross_fs & m->wire, each, arg);
        tell(KB_CAUSE_WIRE, place_of(KB_AT_LINK, link), wire_fs & m->wire, each, arg);
    }
}

void ways_pass(const struct kb_topology *t, const struct cost_mask *m, const struct txn *x,
               way_told *each, void *arg)
{
    const struct trip of_data = txn_trip(t, x), trip = cost_request(t, &of_data);
    bool back = !txn_writes(x) && trip.back == of_data.back;

    for (struct route_at at = walk_begin(t, &trip);; at = walk_next(t, &trip, at)) {
        pass_segment(t, m, &trip, back, at, each, arg);
        if (walk_segment(t, at)->exit == EXIT_END)
            return;
    }
}
