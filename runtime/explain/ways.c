/* ways.c -- the parts of routes that transactions have taken, and the pieces of time on them.
 *
 * Between two stations nothing depends on the run: the wires and nodes of a route are rows of the
 * tables. So where only sums are wanted (explain/breakdown.c) no event and no call is needed for
 * them. A transaction that ends counts each part of its route once, a part being a segment of the
 * tables in one cube; what the parts are made of is added up when the sums are asked for.
 *
 * Example: c0.pe1 -> c5.slice3 of cube8 counts three parts (machine/walk.h), out[pe1][E] of cube 0,
 * pass[W][S] of cube 1 and in[N][slice3] of cube 5, in place of its 10 nodes and 9 edges.
 *
 * Of two segments, those from the host and to another SIP, the far end depends on the target's
 * cube, and the direction of an edge on that of the data: both are part of the key.
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
    return seg->exit == N_EXITS ? seg->n_hops - 1u : seg->n_hops;
}

/* The wire behind hop `i` of a part, of the segment that it is on. */
static int64_t wire_behind(const struct kb_topology *t, const struct way_part *part, uint32_t i)
{
    const struct segment_row *seg = segment_at(t, part->cube, part->segment);
    struct route_at at = {.cube = part->cube, .segment = part->segment};

    return t->hops[seg->first_hop + i].wire_fs + (i + 1 == seg->n_hops ? walk_extra_fs(t, at) : 0);
}

static struct way_pieces pieces_of(const struct ways *w, const struct way_part *part)
{
    const struct segment_row *seg = segment_at(w->topo, part->cube, part->segment);
    const struct hop_row *hop = &w->topo->hops[seg->first_hop];
    struct way_pieces n = {0, 0};

    for (uint32_t i = 0; i < hops_passed(seg); i++, hop++) {
        n.nodes += (hop->overhead_fs & w->mask.overhead) != 0;
        n.wires += (hop->cross_fs & w->mask.wire) != 0;
        n.wires += (wire_behind(w->topo, part, i) & w->mask.wire) != 0;
    }
    return n;
}

/* -- counting ------------------------------------------------------------------------------- */

static size_t hash(const struct way_part *p)
{
    uint64_t h = ((uint64_t)p->cube << 32 | p->to) * UINT64_C(0x9e3779b97f4a7c15);

    h ^= ((uint64_t)p->segment << 1 | p->writes) * UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)((h ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 24);
}

/* The row of `part`, or the free one where it belongs. */
static struct way_part *find(const struct ways *w, const struct way_part *part)
{
    size_t i = hash(part) & (w->cap - 1);

    while (w->part[i].count &&
           (w->part[i].cube != part->cube || w->part[i].to != part->to ||
            w->part[i].segment != part->segment || w->part[i].writes != part->writes ||
            w->part[i].chiplet != part->chiplet))
        i = (i + 1) & (w->cap - 1);
    return &w->part[i];
}

/* Doubles the table once it is half full. */
static bool make_room(struct ways *w)
{
    struct ways old = *w;

    if (2 * w->n < w->cap)
        return true;
    w->cap = old.cap ? 2 * old.cap : 256;
    w->part = calloc(w->cap, sizeof *w->part);
    if (!w->part) {
        *w = old;
        return false;
    }
    for (size_t i = 0; i < old.cap; i++)
        if (old.part[i].count)
            *find(w, &old.part[i]) = old.part[i];
    free(old.part);
    return true;
}

static bool add_part(struct ways *w, const struct way_part *part, struct way_pieces *sum)
{
    struct way_part *row;

    if (!make_room(w))
        return false;
    row = find(w, part);
    if (!row->count) {
        *row = *part;
        row->pieces = pieces_of(w, part);
        w->n++;
    }
    row->count++;
    sum->wires += row->pieces.wires;
    sum->nodes += row->pieces.nodes;
    return true;
}

/* The part of the way of `x` at `at`. */
static struct way_part part_at(const struct kb_topology *t, const struct txn *x,
                               const struct trip *trip, struct route_at at)
{
    bool far =
        at.segment >= t->seg_cross || (at.segment >= t->seg_host && at.segment < t->seg_host_in);

    return (struct way_part){.cube = at.cube,
                             .to = far ? dst_pack(t, dst_cube(t, x->dst), 0) : 0,
                             .segment = at.segment,
                             .writes = (uint8_t)txn_writes(x),
                             .chiplet = trip->chiplet};
}

bool ways_add(struct ways *w, const struct txn *x, struct way_pieces *sum)
{
    const struct kb_topology *t = w->topo;
    const struct trip trip = txn_trip(t, x);

    for (struct route_at at = walk_begin(t, &trip);; at = walk_next(t, &trip, at)) {
        struct way_part part = part_at(t, x, &trip, at);

        if (!add_part(w, &part, sum))
            return false;
        if (walk_segment(t, at)->exit == N_EXITS)
            return true;
    }
}

/* -- adding up ------------------------------------------------------------------------------ */

static void tell(const struct way_part *part, kb_cause cause, kb_place place, int64_t fs,
                 way_told *each, void *arg)
{
    if (fs)
        each(arg, &(kb_share){.cause = cause, .place = place, .count = 1, .sum_fs = fs},
             part->count);
}

static void tell_part(const struct ways *w, const struct way_part *part, way_told *each, void *arg)
{
    const struct kb_topology *t = w->topo;
    const struct segment_row *seg = segment_at(t, part->cube, part->segment);
    const struct hop_row *hop = &t->hops[seg->first_hop];
    const struct trip trip = {.dst = part->to, .of_host = true, .chiplet = part->chiplet};

    for (uint32_t i = 0; i < hops_passed(seg); i++, hop++) {
        struct walk_edge edge = {hop->owner, hop->back, hop->link};
        kb_place node = ways_node(t, hop, part->cube, &trip);
        size_t link = walk_link(t, edge, part->cube, &trip) ^ !part->writes;

        tell(part, KB_CAUSE_OVERHEAD, node, hop->overhead_fs & w->mask.overhead, each, arg);
        tell(part, KB_CAUSE_WIRE, node, hop->cross_fs & w->mask.wire, each, arg);
        tell(part, KB_CAUSE_WIRE, place_of(KB_AT_LINK, link),
             wire_behind(t, part, i) & w->mask.wire, each, arg);
    }
}

void ways_pass(const struct ways *w, const struct txn *x, way_told *each, void *arg)
{
    const struct kb_topology *t = w->topo;
    const struct trip trip = txn_trip(t, x);

    for (struct route_at at = walk_begin(t, &trip);; at = walk_next(t, &trip, at)) {
        struct way_part part = part_at(t, x, &trip, at);

        part.count = 1;
        tell_part(w, &part, each, arg);
        if (walk_segment(t, at)->exit == N_EXITS)
            return;
    }
}

void ways_each(const struct ways *w, way_told *each, void *arg)
{
    for (size_t i = 0; i < w->cap; i++)
        if (w->part[i].count)
            tell_part(w, &w->part[i], each, arg);
}

void ways_free(struct ways *w)
{
    free(w->part);
}
