/* feeds.c -- which links are fed by one other: what comes to them has come over that one.
 *
 * Where links queue, the engine need not stop at such a link (runtime/engine/inorder_steps.h says
 * why). This file finds them in the legs of the segments. For each edge that a request may pass it
 * notes what the request has passed before: another edge, the DMA of its PE, the engine of an
 * m_cpu, the host.
 *
 *     fed by one    always the same one
 *     one way       no request passes the edge the other way. Then even the runs that read and
 * write have all data of one direction at a station: a write's at that of the edge, a read's at
 * that of its opposite.
 *
 * An edge is known by the way a leg names it: the chiplet that has the link, its number in the
 * chiplet, the direction. That is the same for every cube, so one cube is enough. Where a cube is
 * entered, its side names what comes before, since a side is joined to one thing: to the neighbour,
 * or in column 0 to the shoreline.
 *
 * That may be both: on a ring a cube of column 0 has a neighbour in the west and the shoreline,
 * too. Then what comes from that side has one feeder only in runs without hosts (FED_BY_PES).
 * Detours and one-way planes need nothing of their own: whatever segments follow each other, what
 * comes in at a side has come over the edge to it. A cube of another kind passes the same edges.
 *
 * Segments that this machine does not use are left out: those to other SIPs if there is one, and
 * those to TCMs, which only kernels reach; kernels stop at every link. A pair of segments that
 * never follow each other may be counted all the same: an edge then has a feeder too many, and is a
 * stop.
 *
 * Example, cube8: noc -> ucie-E is passed behind the edges of 8 PEs and of 3 sides, so it is a
 * stop. ucie-E -> the neighbour is passed behind noc -> ucie-E alone, and the neighbour's ucie-W ->
 * noc behind its side W: both are fed by one. Other requests pass them backwards, so they are not
 * one way; but nothing leads from the noc to a PE's DMA, so pe_dma -> noc is.
 */
#include "feeds.h"
#include "nodes.h"
#include "machine/walk.h"

/* What comes before, if it is no edge. */
enum { FROM_NOTHING, FROM_HOST, FROM_ENGINE, FROM_ROWS, FROM_SIPS, FROM_SIDE };
enum { FROM_PE = FROM_SIDE + PORTS_MAX + 1, FROM_EDGE = FROM_PE + CUBE_PES_MAX + 1 };

/* One edge, as a leg names it. */
struct feed {
    uint32_t from; /* FROM_NOTHING: no request passes it */
    bool many;     /* what comes before is not always `from` */
    bool by_hosts; /* of hosts something else comes before */
};

/* Edges of the request's own cube, of the cube that it goes to, and of an IO chiplet. */
struct feeds {
    const struct routes *r;
    struct feed *edges;
};

static uint32_t n_edges(const struct kb_topology *t)
{
    return 2 * (2 * t->n_cube_links + t->n_io_links);
}

/* The number of the edge that `leg` passes. A shoreline has one for all its rows. */
static uint32_t edge_of(const struct routes *r, const struct leg_row *leg)
{
    uint32_t first = leg->owner == LINK_CUBE   ? 0
                     : leg->owner == LINK_NEXT ? r->topo.n_cube_links
                                               : 2 * r->topo.n_cube_links;

    return 2 * (first + leg->link) + leg->back;
}

/* The same link, passed the other way. One between two cubes belongs to one of them. */
static uint32_t opposite_edge(const struct routes *r, const struct leg_row *leg)
{
    struct leg_row other = *leg;

    other.back = !leg->back;
    if (leg->owner == LINK_NEXT)
        other.owner = LINK_CUBE;
    else if (leg->owner == LINK_CUBE && r->cube_links[leg->link].leaves != EXIT_END)
        other.owner = LINK_NEXT;
    return edge_of(r, &other);
}

static void note(struct feed *edge, uint32_t from)
{
    if (edge->from != FROM_NOTHING && edge->from != from)
        edge->many = true;
    edge->from = from;
}

/* An edge behind `side`: is a cube joined to a neighbour there, and to the shoreline? */
static void note_shore(const struct feeds *f, struct feed *edge, uint32_t side)
{
    const struct kb_topology *t = &f->r->topo;

    for (uint32_t i = 0; i < t->chiplets; i++)
        if (!f->r->found->net && t->io_sides[i] == side && t->wrap >> side_is_vertical(side) & 1) {
            edge->by_hosts = true;
            edge->many = edge->many || t->sips > 1;
        }
}

/* Follows the legs of segment `i`, before which its requests have come from `from`. */
static void note_segment(struct feeds *f, uint32_t i, uint32_t from)
{
    const struct segment_row *seg = &f->r->segments[i];

    if (seg->exit == exit_io(&f->r->topo) && i < f->r->topo.seg_host && f->r->topo.sips == 1)
        return; /* there is no other SIP */
    for (uint32_t k = 0; k < seg->n_legs; k++) {
        const struct leg_row *leg = &f->r->legs[seg->first_leg + k];

        if (leg->owner == LINK_NONE) {
            from = FROM_ENGINE;
            continue;
        }
        note(&f->edges[edge_of(f->r, leg)], from);
        if (k == 0 && from >= FROM_SIDE && from < FROM_PE)
            note_shore(f, &f->edges[edge_of(f->r, leg)], from - FROM_SIDE);
        from = FROM_EDGE + edge_of(f->r, leg);
    }
}

/* From all rows to the fabric, from SIP to SIP, to all rows: each first leg has several feeders. */
static void note_cross_segments(struct feeds *f)
{
    const struct kb_topology *t = &f->r->topo;

    for (uint32_t i = t->seg_cross; i < f->r->n_segments && t->sips > 1; i++) {
        const struct segment_row *seg = &f->r->segments[i];

        note_segment(f, i, FROM_ROWS);
        for (uint32_t k = 0; k < seg->n_legs; k++)
            f->edges[edge_of(f->r, &f->r->legs[seg->first_leg + k])].many = true;
    }
}

static void note_plane(struct feeds *f, uint32_t plane)
{
    const struct kb_topology *t = &f->r->topo;

    for (uint32_t pe = 0; pe < t->sources; pe++) {
        for (uint32_t unit = 0; unit <= t->slices; unit++)
            note_segment(f, seg_of_local(t, plane, pe, unit), FROM_PE + pe);
        if (topology_has_l2(t))
            note_segment(f, seg_of_local(t, plane, pe, unit_of_l2(t)), FROM_PE + pe);
        for (uint32_t exit = 0; exit < n_exits(t); exit++)
            note_segment(f, seg_of_out(t, plane, pe, exit), FROM_PE + pe);
    }
    for (uint32_t side = 0; side < t->ports; side++) {
        for (uint32_t exit = 0; exit < n_exits(t); exit++)
            note_segment(f, seg_of_pass(t, plane, side, exit), FROM_SIDE + side);
        for (uint32_t unit = 0; unit <= t->slices; unit++)
            note_segment(f, seg_of_in(t, plane, side, unit), FROM_SIDE + side);
    }
    note_segment(f, t->seg_host + plane, FROM_HOST);
    for (uint32_t side = t->regular ? SIDE_W : 0; side < t->ports; side++)
        for (uint32_t slice = 0; slice < t->slices; slice++)
            note_segment(f, seg_of_host_in(t, plane, side, slice), FROM_SIDE + side);
}

/* Has a link several servers one way, where writes or where reads pass? */
static bool has_servers(const struct link_row *row)
{
    return row->lanes[0] > 1 || row->lanes[1] > 1;
}

/* The same of the link that it comes from: an edge, or what a port is joined to. */
static bool has_lanes(const struct routes *r, uint32_t from)
{
    uint32_t n = r->topo.n_cube_links, link;

    if (from < FROM_SIDE || (from >= FROM_PE && from < FROM_EDGE))
        return false;
    if (from < FROM_PE)
        return r->found->net && has_servers(&r->cube_links[n - r->topo.ports + from - FROM_SIDE]);
    link = (from - FROM_EDGE) / 2;
    return link < 2 * n && has_servers(&r->cube_links[link % n]);
}

/* Whether requests may pass `leg` together with what feeds it. */
static uint8_t fed(const struct feeds *f, const struct leg_row *leg)
{
    const struct feed *edge = &f->edges[edge_of(f->r, leg)];

    if (edge->many || edge->from == FROM_NOTHING || edge->from == FROM_HOST)
        return 0;
    if (edge->from == FROM_ENGINE &&
        (f->r->spec->cube_m_cpu_dma_read > 1 || f->r->spec->cube_m_cpu_dma_write > 1))
        return 0; /* two engines may let go at one instant, and not in order of ids */
    if (has_lanes(f->r, edge->from))
        return 0; /* two may let go at one instant, and not in order of ids */
    if (edge->by_hosts)
        return FED_BY_PES;
    if ((f->r->found->net && leg->owner == LINK_NEXT) || /* the other cube's */
        f->edges[opposite_edge(f->r, leg)].from != FROM_NOTHING)
        return FED_ONE_WAY;
    return FED_ONE_WAY | FED_ALWAYS;
}

/* The station of a leg of a cube, less the first one of the cube where the request is. */
static int32_t station_of(const struct routes *r, const struct leg_row *leg)
{
    int32_t n = (int32_t)r->topo.n_cube_links, cubes = 0;

    if (leg->owner == LINK_NEXT && !r->found->net) /* the east link is the last but one */
        cubes = leg->link + 2 == n ? -1 : -(int32_t)r->topo.w;
    return (cubes * n + leg->link) * 2 + leg->back;
}

void make_feeds(struct routes *r)
{
    struct feeds f = {r, arena_alloc(r->arena, n_edges(&r->topo) * sizeof *f.edges)};

    for (uint32_t i = 0; i < n_edges(&r->topo); i++)
        f.edges[i] = (struct feed){.from = FROM_NOTHING};
    for (uint32_t plane = 0; plane < r->topo.planes; plane++)
        note_plane(&f, plane);
    note_cross_segments(&f);
    for (uint32_t i = 0; i < r->n_legs; i++) {
        struct leg_row *leg = &r->legs[i];

        if (leg->owner == LINK_NONE)
            continue;
        leg->fed = fed(&f, leg) & 15u;
        if (leg->owner <= LINK_NEXT)
            leg->station = station_of(r, leg);
    }
    for (uint32_t i = 0; i < r->n_segments; i++) {
        const struct segment_row *seg = &r->segments[i];
        struct leg_row *last = &r->legs[seg->first_leg + seg->n_legs - 1];

        if (seg->exit == EXIT_END && seg->n_legs && !has_servers(&r->cube_links[last->link]))
            last->fed |= INTO_MEMORY;
    }
}
