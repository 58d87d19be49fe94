/* spread.c -- the traffic of every node and edge, from the traffic by route.
 *
 * engine/flow.h says what is counted while a run goes on, and why that is enough. Here the counts
 * are added to nodes and edges. A route is cut into pieces that many share, and each piece is
 * visited once, with the sum of all traffic that takes it:
 *
 *     local      the whole of a route inside a cube
 *     out        from a PE to the NoC of its cube
 *     crossing   from the NoC of a cube to that of its neighbour
 *     leaving    from the NoC of a cube in column 0 to the switch, for other SIPs
 *     entering   from the switch to the NoC of a cube in column 0
 *     host       from the host to the M_CPU of a cube, and back to the NoC
 *     in         from the NoC of a cube to its memory
 *
 * The segments of gen/segments.c tell which hops these are. A NoC belongs to the piece that leaves
 * it, so that each piece counts it once: an `out` ends with the edge into it, an `in` begins with
 * it. The bytes of a read pass an edge against the route, those of a write with it.
 *
 * Crossings come from rows and columns. Westward, a row is followed from its last cube to column 0,
 * and what is then left leaves the SIP. Eastward it is followed in the same order, against the
 * traffic: what leaves the row at a cube has come to it from the west, and what joins has not. What
 * is then left has entered the SIP.
 *
 * Example: 3 cubes in a row, 5 transactions from cube 0 to 2, and 2 from another SIP to cube 1.
 * Eastward, from the end: 5 leave at cube 2, so 5 cross from 1 to 2. At cube 1 2 more leave: 7
 * cross from 0 to 1. At cube 0 5 join: 2 are left, and have come over the switch.
 *
 * A machine that is not regular has no roads. Where pairs of cubes are counted, the route of each
 * is followed from the NoC of the one to that of the other; `out`, `in` and `local` are as above.
 *
 * Following the route of each pair of cubes of a regular machine was slower: with a counter for
 * each pair, 2 million transactions over 128 x 128 cubes took 25.4 s and 5.3 GB, and take 3.7 s and
 * 214 MB now.
 */
#include "explain/spread.h"
#include "machine/walk.h"
#include <stdlib.h>
#include <string.h>

/* Adds `flow` to the nodes and edges of hops [from, to) of the segment `at`. */
static void spread_hops(const struct spread *sp, struct route_at at, uint32_t from, uint32_t to,
                        uint32_t dst, const struct flow *flow)
{
    const struct segment_row *seg = walk_segment(sp->topo, at);
    const struct trip trip = {.dst = dst};

    for (uint32_t i = from; i < to && i < seg->n_hops; i++) {
        const struct hop_row *hop = &sp->topo->hops[seg->first_hop + i];
        struct walk_edge edge = {hop->owner, hop->back, hop->link};
        struct flow_sum *node = &sp->nodes[walk_node(sp->topo, hop, at.cube, &trip)];
        size_t link;

        flow_sum_add(node, &flow->by[0]);
        flow_sum_add(node, &flow->by[1]);
        if (hop->owner == LINK_NONE)
            return;
        link = walk_link(sp->topo, edge, at.cube, &trip);
        for (uint32_t writes = 0; writes < 2; writes++)
            flow_sum_add(&sp->edges[link ^ !writes], &flow->by[writes]);
    }
}

/* Hops that all routes of a piece share. */
enum {
    HOPS_TO_NOC = 1,    /* ucie, into a cube; pe_dma, out of one */
    HOPS_TO_M_CPU = 3,  /* ucie, noc, m_cpu */
    HOPS_TO_SWITCH = 2, /* io_noc, pcie_ep */
};

static bool no_flow(const struct flow *f)
{
    return !f->by[0].count && !f->by[1].count;
}

static struct route_at part_at(uint32_t cube, uint32_t segment)
{
    return (struct route_at){.cube = cube, .segment = (uint16_t)segment};
}

/* -- from cube to cube ---------------------------------------------------------------------- */

/* From the NoC of `cube` out by `exit`, as far as a segment goes that comes from the other side. */
static void spread_exit(const struct spread *sp, uint32_t cube, uint32_t exit,
                        const struct flow *flow)
{
    uint32_t side = exit == EXIT_IO ? SIDE_E : walk_opposite(exit);

    spread_hops(sp, part_at(cube, sp->topo->seg_pass + side * N_EXITS + exit), HOPS_TO_NOC,
                UINT32_MAX, 0, flow);
}

/* In at `side` of `cube`, to its NoC. */
static void spread_entry(const struct spread *sp, uint32_t cube, uint32_t side,
                         const struct flow *flow)
{
    uint32_t segment = sp->topo->seg_in + side * sp->topo->n_units;

    spread_hops(sp, part_at(cube, segment), 0, HOPS_TO_NOC, 0, flow);
}

/* From the NoC of `cube` to that of its neighbour. */
static void spread_crossing(const struct spread *sp, uint32_t cube, enum side exit,
                            const struct flow *flow)
{
    if (no_flow(flow))
        return;
    spread_exit(sp, cube, exit, flow);
    spread_entry(sp, walk_neighbour(sp->topo, cube, exit), walk_opposite(exit), flow);
}

/* From the NoC of `cube`, in column 0, to the switch. */
static void spread_leaving(const struct spread *sp, uint32_t cube, const struct flow *flow)
{
    if (no_flow(flow))
        return;
    spread_exit(sp, cube, EXIT_IO, flow);
    spread_hops(sp, part_at(cube, sp->topo->seg_cross), 0, HOPS_TO_SWITCH, 0, flow);
}

/* From the switch to the NoC of `cube`, in column 0. */
static void spread_entering(const struct spread *sp, uint32_t cube, const struct flow *flow)
{
    struct route_at at = part_at(cube, sp->topo->seg_cross);

    if (no_flow(flow))
        return;
    spread_hops(sp, at, HOPS_TO_SWITCH, UINT32_MAX, dst_pack(sp->topo, cube, 0), flow);
    spread_entry(sp, cube, SIDE_W, flow);
}

/* What goes on behind a cube: what came to it, and joins there, without what leaves. */
static void flow_on(struct flow *moving, const struct flow *joins, const struct flow *leaves)
{
    for (uint32_t writes = 0; writes < 2; writes++) {
        moving->by[writes].count += joins->by[writes].count - leaves->by[writes].count;
        moving->by[writes].bytes += joins->by[writes].bytes - leaves->by[writes].bytes;
    }
}

/* What joins the row of `cube` there. */
static struct flow joins_row(const struct kb_sim *s, uint32_t cube, enum row_way way)
{
    struct flow sum = {0};

    for (uint32_t pe = 0; pe < s->topo->sources; pe++)
        flow_add(&sum, flow_out(&s->flows, s->topo, src_pack(s->topo, cube, pe), way));
    return sum;
}

static struct flow leaves_row(const struct kb_sim *s, uint32_t cube, enum row_way way)
{
    struct flow sum = *flow_turn(&s->flows, cube, way, SOUTH);

    flow_add(&sum, flow_turn(&s->flows, cube, way, NORTH));
    return sum;
}

static struct flow joins_column(const struct kb_sim *s, uint32_t cube, enum col_way way)
{
    struct flow sum = *flow_turn(&s->flows, cube, EAST, way);

    flow_add(&sum, flow_turn(&s->flows, cube, WEST, way));
    return sum;
}

static struct flow leaves_column(const struct kb_sim *s, uint32_t cube, enum col_way way)
{
    struct flow sum = {0};

    for (uint32_t unit = 0; unit < s->topo->n_units; unit++)
        flow_add(&sum, flow_in(&s->flows, s->topo, dst_pack(s->topo, cube, unit), way));
    return sum;
}

/* Westward along the row whose cube in column 0 is `first`; the rest leaves the SIP. */
static void spread_row_west(const struct spread *sp, const struct kb_sim *s, uint32_t first)
{
    struct flow moving = {0};

    for (uint32_t cube = first + sp->topo->w; cube-- > first;) {
        struct flow joins = joins_row(s, cube, WEST), leaves = leaves_row(s, cube, WEST);

        flow_on(&moving, &joins, &leaves);
        if (cube > first)
            spread_crossing(sp, cube, SIDE_W, &moving);
    }
    spread_leaving(sp, first, &moving);
}

/* The same for the way east, but against it: the rest has come from other SIPs. */
static void spread_row_east(const struct spread *sp, const struct kb_sim *s, uint32_t first)
{
    struct flow moving = {0};

    for (uint32_t cube = first + sp->topo->w; cube-- > first;) {
        struct flow joins = joins_row(s, cube, EAST), leaves = leaves_row(s, cube, EAST);

        flow_on(&moving, &leaves, &joins);
        if (cube > first)
            spread_crossing(sp, cube - 1, SIDE_E, &moving);
    }
    spread_entering(sp, first, &moving);
}

/* Along the column whose cube in the first row is `top`. */
static void spread_column(const struct spread *sp, const struct kb_sim *s, uint32_t top,
                          enum col_way way)
{
    const struct kb_topology *t = sp->topo;
    struct flow moving = {0};

    for (uint32_t i = 0; i + 1 < t->h; i++) {
        uint32_t cube = top + (way == NORTH ? t->h - 1 - i : i) * t->w;
        struct flow joins = joins_column(s, cube, way), leaves = leaves_column(s, cube, way);

        flow_on(&moving, &joins, &leaves);
        spread_crossing(sp, cube, way == NORTH ? SIDE_N : SIDE_S, &moving);
    }
}

static void spread_cubes(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;

    for (uint32_t cube = 0; cube < sim_cubes(t); cube++) {
        if (cube_column(t, cube) == 0) {
            spread_row_west(sp, s, cube);
            spread_row_east(sp, s, cube);
        }
        if (cube_row(t, cube) == 0) {
            spread_column(sp, s, cube, SOUTH);
            spread_column(sp, s, cube, NORTH);
        }
    }
}

/* From the host of its SIP to the M_CPU of `cube`, and back to the NoC. */
static void spread_host(const struct spread *sp, uint32_t cube, const struct flow *flow)
{
    const struct kb_topology *t = sp->topo;
    uint32_t dst = dst_pack(t, cube, 0);
    const struct trip trip = {.dst = dst, .of_host = true};
    struct route_at at = walk_begin(t, &trip);

    for (; walk_segment(t, at)->exit != EXIT_END; at = walk_next(t, &trip, at))
        spread_hops(sp, at, 0, UINT32_MAX, dst, flow);
    spread_hops(sp, at, 0, HOPS_TO_M_CPU, dst, flow);
}

static void spread_hosts(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;

    for (uint32_t cube = 0; cube < sim_cubes(t); cube++) {
        struct flow sum = {0};

        for (uint32_t unit = 0; unit < t->n_units; unit++)
            flow_add(&sum, flow_host(&s->flows, t, dst_pack(t, cube, unit)));
        if (!no_flow(&sum))
            spread_host(sp, cube, &sum);
    }
}

/* -- inside cubes --------------------------------------------------------------------------- */

struct flow spread_local(const struct kb_sim *s, uint32_t pe, uint32_t unit)
{
    struct flow flow = *flow_local(&s->flows, s->topo, pe, unit);

    for (uint32_t writes = 0;
         unit == home_slice(s->topo, src_cube(s->topo, pe), src_pe(s->topo, pe)) && writes < 2;
         writes++) {
        const struct station *channel = &s->channels[2 * (size_t)pe + writes];

        flow_sum_add(&flow.by[writes], &(struct flow_sum){channel->count, channel->bytes});
    }
    return flow;
}

struct flow spread_out(const struct kb_sim *s, uint32_t pe)
{
    struct flow sum = {0};

    for (uint32_t way = 0; way < flow_ways(s->topo); way++)
        flow_add(&sum, flow_out(&s->flows, s->topo, pe, way));
    return sum;
}

struct flow spread_in(const struct kb_sim *s, uint32_t dst)
{
    struct flow sum = *flow_host(&s->flows, s->topo, dst);

    for (uint32_t way = 0; way < flow_ways(s->topo); way++)
        flow_add(&sum, flow_in(&s->flows, s->topo, dst, way));
    return sum;
}

/* From the NoC to each memory. */
static void spread_memories(const struct spread *sp, const struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = sp->topo;

    for (uint32_t unit = 0; unit < t->n_units; unit++) {
        uint32_t dst = dst_pack(t, cube, unit);
        struct flow in = spread_in(s, dst);

        if (!no_flow(&in))
            spread_hops(sp, part_at(cube, t->seg_in + SIDE_W * t->n_units + unit), HOPS_TO_NOC,
                        UINT32_MAX, dst, &in);
    }
}

/* Inside the cube whole routes; and from each PE to the NoC, what goes to other cubes. */
static void spread_pes(const struct spread *sp, const struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = sp->topo;

    for (uint32_t pe = 0; pe < t->sources; pe++) {
        uint32_t src = src_pack(t, cube, pe);
        struct flow out = spread_out(s, src);

        for (uint32_t unit = 0; unit < t->n_units; unit++) {
            struct flow local = spread_local(s, src, unit);
            struct route_at at = part_at(cube, t->seg_local + pe * t->n_units + unit);

            if (!no_flow(&local))
                spread_hops(sp, at, 0, UINT32_MAX, dst_pack(t, cube, unit), &local);
        }
        if (!no_flow(&out))
            spread_hops(sp, part_at(cube, t->seg_out + pe * N_EXITS), 0, HOPS_TO_NOC, 0, &out);
    }
}

/* -- not regular ---------------------------------------------------------------------------- */

/* From the NoC of one cube to that of another, on plane `block` modulo planes: that is a part of
 * the route to its SRAM, which each cube has where routes end. */
static void spread_pair(const struct spread *sp, uint32_t block, uint32_t from, uint32_t to,
                        const struct flow *flow)
{
    const struct kb_topology *t = sp->topo;
    const struct trip trip = {.src = src_pack(t, from, 0),
                              .dst = dst_pack(t, to, unit_of_sram(t)),
                              .plane = (uint8_t)(block % t->planes),
                              .back = block >= t->planes};
    struct route_at at = walk_begin(t, &trip);

    spread_hops(sp, at, HOPS_TO_NOC, UINT32_MAX, trip.dst, flow);
    for (at = walk_next(t, &trip, at); walk_segment(t, at)->exit != EXIT_END;
         at = walk_next(t, &trip, at))
        spread_hops(sp, at, 0, UINT32_MAX, trip.dst, flow);
    spread_hops(sp, at, 0, HOPS_TO_NOC, trip.dst, flow);
}

static void spread_pairs(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;

    for (uint32_t block = 0; block < between_blocks(t); block++)
        for (uint32_t from = 0; from < sim_cubes(t); from++)
            for (uint32_t to = 0; to < sim_cubes(t); to++) {
                const struct flow *flow = flow_pair(&s->flows, t, block, from, to);

                if (!no_flow(flow))
                    spread_pair(sp, block, from, to, flow);
            }
}

/* The first of `n` pieces of routes, `each` apart, that there is in `cube`: all begin, or end,
 * alike.
 */
static uint32_t first_piece(const struct kb_topology *t, uint32_t cube, uint32_t segment,
                            uint32_t each, uint32_t n)
{
    while (n-- > 1 && segment_at(t, cube, segment)->n_hops == 0)
        segment += each;
    return segment;
}

/* Between the NoC of a plane and the PEs and memories of `cube`, what goes to other cubes. */
static void spread_ends(const struct spread *sp, const struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = sp->topo;
    uint32_t side = t->port_rows ? 0 : (uint32_t)SIDE_W;

    for (uint32_t plane = 0; plane < t->planes; plane++) {
        for (uint32_t pe = 0; pe < t->sources; pe++) {
            const struct flow *out = flow_out(&s->flows, t, src_pack(t, cube, pe), plane);

            if (!no_flow(out))
                spread_hops(
                    sp,
                    part_at(cube, first_piece(t, cube, seg_of_out(t, plane, pe, 0), 1, n_exits(t))),
                    0, HOPS_TO_NOC, 0, out);
        }
        for (uint32_t unit = 0; unit < t->n_units; unit++) {
            uint32_t dst = dst_pack(t, cube, unit);
            const struct flow *in = flow_in(&s->flows, t, dst, plane);

            if (!no_flow(in))
                spread_hops(sp,
                            part_at(cube, first_piece(t, cube, seg_of_in(t, plane, side, unit),
                                                      t->n_units, t->ports - side)),
                            HOPS_TO_NOC, UINT32_MAX, dst, in);
        }
    }
}

/* Between PEs and memories of one cube, where all planes have one way. */
static void spread_inside(const struct spread *sp, const struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = sp->topo;

    if (t->planes > 1 && kind_at(t, cube)->l2_cache.sets)
        return; /* all has been walked */
    for (uint32_t pe = 0; pe < t->sources; pe++)
        for (uint32_t unit = 0; unit < (t->planes > 1 ? t->slices : t->n_units); unit++) {
            uint32_t dst = dst_pack(t, cube, unit);
            struct flow local = spread_local(s, src_pack(t, cube, pe), unit);

            if (!no_flow(&local))
                spread_hops(sp, part_at(cube, seg_of_local(t, 0, pe, unit)), 0, UINT32_MAX, dst,
                            &local);
        }
}

/* What has been counted by route: engine/flow.h. */
static void spread_any(struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;

    for (uint32_t cube = 0; cube < sim_cubes(t); cube++) {
        spread_inside(sp, s, cube);
        if (s->flows.pairs)
            spread_ends(sp, s, cube);
    }
    if (s->flows.pairs)
        spread_pairs(sp, s);
}

/* -- the whole ------------------------------------------------------------------------------ */

bool spread_all(struct spread *sp, const struct kb_sim *s)
{
    sp->topo = s->topo;
    sp->nodes = calloc(walk_n_nodes(s->topo), sizeof *sp->nodes);
    sp->edges = calloc(walk_n_links(s->topo), sizeof *sp->edges);
    if (!sp->nodes || !sp->edges)
        return false;
    if (s->flows.nodes && s->flows.edges) { /* what has been walked */
        memcpy(sp->nodes, s->flows.nodes, walk_n_nodes(s->topo) * sizeof *sp->nodes);
        memcpy(sp->edges, s->flows.edges, walk_n_links(s->topo) * sizeof *sp->edges);
    }
    if (!s->topo->regular) {
        spread_any(sp, s);
        return true;
    }
    spread_cubes(sp, s);
    spread_hosts(sp, s);
    for (uint32_t cube = 0; cube < sim_cubes(s->topo); cube++) {
        spread_memories(sp, s, cube);
        spread_pes(sp, s, cube);
    }
    return true;
}

void spread_free(struct spread *sp)
{
    free(sp->nodes);
    free(sp->edges);
}

struct flow_sum spread_served(const struct kb_sim *s, uint32_t dst)
{
    const struct kb_topology *t = s->topo;
    uint32_t cube = dst_cube(t, dst), unit = dst_unit(t, dst);
    struct flow flow = spread_in(s, dst);

    for (uint32_t pe = 0; pe < t->sources; pe++) {
        struct flow local = spread_local(s, src_pack(t, cube, pe), unit);

        flow_add(&flow, &local);
    }
    flow_sum_add(&flow.by[0], &flow.by[1]);
    return flow.by[0];
}
