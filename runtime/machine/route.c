/* route.c -- one route for the caller of the library: its cost, and its nodes.
 *
 * The two functions come to the same sums in different ways. kb_route_cost() takes them from tables
 * that the generator has added up, as the engines do (cost.h); kb_route_walk() goes from segment to
 * segment and tells of every node on the way (walk.h). Wires and overheads of the nodes therefore
 * sum to those of the cost, exactly: for c0.pe1 -> c5.slice3 of cube8 ten nodes with 410000 fs of
 * wires and 6000000 fs of overheads. With 4096 bytes at 128 GB/s, 32000000 fs, that is the formula:
 * 38.41 ns.
 *
 * A memory with banks, a cache before it, an L2 and components take more of a transaction, by its
 * bytes: kb_route_walk_alone() adds that to their nodes.
 */
#include "machine/alone.h"
#include "machine/endpoint.h"
#include "machine/impl_code.h"
#include "machine/names.h"
#include "machine/walk.h"

int64_t kb_formula_fs(const kb_cost *c)
{
    return cost_formula_fs(c);
}

/* The trip on one of the ways of its two cubes (paths.h). A host's has one. */
static kb_status take_way(const struct kb_topology *t, uint32_t way, struct trip *trip,
                          kb_error *why)
{
    uint32_t a = src_cube(t, trip->src), b = dst_cube(t, trip->dst);
    uint32_t ways = trip->of_host ? 1 : kb_ways(t, trip->back ? b : a, trip->back ? a : b);

    if (way >= ways)
        return endpoint_error(why, "there is no way %u: the route has %u, from 0 on", way, ways);
    trip->way = (uint8_t)way;
    return KB_OK;
}

/* The trip of `op` on `plane`, checked. Of a net with several ways that is one of them. */
static kb_status find_trip(const kb_topology *t, uint32_t plane, kb_transaction_op op,
                           const kb_endpoint *src, const kb_endpoint *dst, struct trip *trip,
                           kb_error *why)
{
    uint32_t ends[2];
    uint32_t way = t->paths > 1 ? plane : 0;
    kb_status status = endpoint_pack_route(t, op, src, dst, ends, why);

    if (status == KB_OK)
        status = endpoint_trip(t, op, src, ends, plane - way, trip, why);
    return status == KB_OK && way > 0 ? take_way(t, way, trip, why) : status;
}

kb_status kb_route_cost(const kb_topology *t, kb_transaction_op op, const kb_endpoint *src,
                        const kb_endpoint *dst, uint64_t nbytes, kb_cost *out, kb_error *why)
{
    REFUSE_NULL(t && src && dst && out, "topo, src, dst, out", why);
    return kb_route_cost_on(t, kb_plane_of(t, op), op, src, dst, nbytes, out, why);
}

struct asked {
    struct idle *idle;
    const struct kb_topology *t;
    const struct cost_mask *mask;
    kb_transaction_op op;
    const struct trip *trip;
    uint64_t nbytes;
    kb_cost *out;
};

static void find_cost(void *arg)
{
    const struct asked *a = arg;

    *a->out = cost_alone(a->idle, a->t, a->mask, a->op, a->trip, a->nbytes, 0);
}

kb_status kb_route_cost_on(const kb_topology *t, uint32_t plane, kb_transaction_op op,
                           const kb_endpoint *src, const kb_endpoint *dst, uint64_t nbytes,
                           kb_cost *out, kb_error *why)
{
    REFUSE_NULL(t && src && dst && out, "topo, src, dst, out", why);
    char name[KB_ENDPOINT_BYTES];
    const struct cost_mask whole = cost_without(0);
    struct idle idle = {.lost = false};
    struct trip trip;
    kb_status status = find_trip(t, plane, op, src, dst, &trip, why);

    if (status != KB_OK)
        return status;
    if (nbytes == 0)
        return endpoint_error(why, "a transaction moves at least one byte");
    if (nbytes > kb_memory_bytes(t, dst)) {
        kb_endpoint_name(dst, name);
        return endpoint_error(why, "%llu bytes are more than %s holds, which is %llu",
                              (unsigned long long)nbytes, name,
                              (unsigned long long)kb_memory_bytes(t, dst));
    }
    struct asked asked = {&idle, t, &whole, op, &trip, nbytes, out};
    if (!impl_guarded(t, find_cost, &asked, why))
        return KB_KERNEL_CRASHED;
    idle_clear(&idle);
    if (idle_has_lost(&idle)) {
        endpoint_error(why, "out of memory");
        return KB_NO_MEMORY;
    }
    if (out->drain_fs == DRAIN_MAX_FS) {
        endpoint_error(why, "the drain takes longer than simulated time can count");
        return KB_TIME_RANGE;
    }
    return KB_OK;
}

kb_status kb_route_walk(const kb_topology *t, const kb_endpoint *src, const kb_endpoint *dst,
                        void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why)
{
    REFUSE_NULL(t && src && dst && each, "topo, src, dst, each", why);
    return kb_route_walk_on(t, 0, src->kind == KB_HOST ? KB_H2D : KB_WRITE, src, dst, each, arg,
                            why);
}

/* A walk along a route: what is called for each node, and for which transaction. */
struct walking {
    void (*each)(void *arg, const kb_hop *hop);
    void *arg;
    const struct alone_of *of; /* the transaction that passes; NULL: what the tables say of any */
    struct kb_hop hop;         /* the next node, as far as the edge into it says */
};

/* The nodes of a trip, from the first of its first segment on that is told. */
static void walk_all(const kb_topology *t, const struct trip *trip, uint32_t first,
                     struct walking *w)
{
    for (struct route_at at = walk_begin(t, trip);; at = walk_next(t, trip, at)) {
        const struct segment_row *seg = walk_segment(t, at);

        for (uint32_t i = 0; i < seg->n_hops; i++) {
            const struct hop_row *row = &t->hops[seg->first_hop + i];

            name_hop(t, row, at.cube, trip, w->hop.node);
            w->hop.wire_fs += row->cross_fs;
            w->hop.overhead_fs = row->overhead_fs;
            if (unit_is_l2(t, dst_unit(t, trip->dst)) && row->owner == LINK_NONE)
                w->hop.overhead_fs = cost_memory(t, trip->dst, false)->latency_fs;
            if (w->of)
                w->hop.overhead_fs += node_more_fs(w->of, row, at.cube);
            if (i >= first)
                w->each(w->arg, &w->hop);
            w->hop.wire_fs = row->wire_fs;
            w->hop.edge_gbs = row->gbs;
        }
        first = 0;
        w->hop.wire_fs += walk_extra_fs(t, at);
        if (seg->exit == EXIT_END)
            return;
    }
}

static bool passes_l2(const kb_topology *t, const struct trip *trip)
{
    return !trip->of_host && dst_or_l2(t, trip->src, trip->dst) != trip->dst;
}

/* To the L2 of its cube, and on from there, if it does not end there. */
static void walk_by_l2(const kb_topology *t, const struct trip *trip, bool ends, struct walking *w)
{
    struct trip near = *trip, far = *trip;

    near.dst = dst_or_l2(t, trip->src, trip->dst);
    far.src = src_pack(t, src_cube(t, trip->src), t->pes);
    walk_all(t, &near, 0, w);
    if (ends)
        return;
    w->hop.wire_fs = 0;
    walk_all(t, &far, 1, w);
}

kb_status kb_route_walk_on(const kb_topology *t, uint32_t plane, kb_transaction_op op,
                           const kb_endpoint *src, const kb_endpoint *dst,
                           void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why)
{
    REFUSE_NULL(t && src && dst && each, "topo, src, dst, each", why);
    struct trip trip;
    kb_status status = find_trip(t, plane, op, src, dst, &trip, why);
    struct walking w = {.each = each, .arg = arg};

    if (status != KB_OK)
        return status;
    trip = cost_request(t, &trip);
    if (passes_l2(t, &trip))
        walk_by_l2(t, &trip, false, &w);
    else
        walk_all(t, &trip, 0, &w);
    return KB_OK;
}

/* The node that was told last is passed on behind the next: the last of all has what is left. */
struct held {
    void (*each)(void *arg, const kb_hop *hop);
    void *arg;
    struct kb_hop hop;
    bool any;
    int64_t left_fs; /* of the wires and overheads of the cost */
};

static void hold_hop(void *arg, const kb_hop *hop)
{
    struct held *held = arg;

    if (held->any) {
        held->left_fs -= held->hop.wire_fs + held->hop.overhead_fs;
        held->each(held->arg, &held->hop);
    }
    held->hop = *hop;
    held->any = true;
}

kb_status kb_route_walk_alone(const kb_topology *t, uint32_t plane, kb_transaction_op op,
                              const kb_endpoint *src, const kb_endpoint *dst, uint64_t nbytes,
                              void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why)
{
    REFUSE_NULL(t && src && dst && each, "topo, src, dst, each", why);
    const struct cost_mask whole = cost_without(0);
    struct alone_of of = {.t = t, .m = &whole, .op = op, .nbytes = nbytes};
    struct held held = {.each = each, .arg = arg};
    struct walking w = {.each = hold_hop, .arg = &held, .of = &of};
    kb_cost cost;
    kb_status status = kb_route_cost_on(t, plane, op, src, dst, nbytes, &cost, why);

    if (status == KB_OK)
        status = find_trip(t, plane, op, src, dst, &of.trip, why);
    if (status != KB_OK)
        return status;
    held.left_fs = cost.wire_fs + cost.overhead_fs;
    of.trip = cost_request(t, &of.trip);
    if (passes_l2(t, &of.trip))
        walk_by_l2(t, &of.trip, op == KB_WRITE, &w);
    else
        walk_all(t, &of.trip, 0, &w);
    held.hop.overhead_fs = held.left_fs - held.hop.wire_fs;
    each(arg, &held.hop);
    return KB_OK;
}
