/*
 * channels_circle.c -- looks for virtual channels of a network of routers that wait for each other.
 *
 * A packet holds a virtual channel of an edge and waits for one of the next edge of its route. If
 * no such chain closes, some packet is always at a place where it can go on, so all arrive (Dally
 * and Seitz). So the vertices of a graph are the VCs of each edge; an arc leads from each VC that a
 * packet may own on an edge to each that it may own on the next one, for any route in the tables. A
 * graph without a circle is the proof. Requests and answers never share a VC, and an answer ends
 * where nothing waits: a request may wait for answers, at a memory, but no answer for a request. So
 * each of the two classes has a graph of its own, and their groups of priority are alike: one is
 * enough.
 *
 * Routes: all pairs of cubes, with all PEs and memories the first time that a cube is left or
 * entered in a way, and the end of a route only if it was not walked before. Not all pairs are
 * needed: pairs.c. An m_cpu takes in all that comes, and packets begin there again.
 *
 * Example: 4 x 1 cubes, wrap: x, vcs: [1, 1]: too few, as a ring needs two parts. Without parts
 * there would be a circle c0.noc > c0.ucie-E > c1.ucie-W > c1.noc > ... > c0.noc.
 */
#include "channels.h"
#include "check.h"
#include "circle.h"
#include "pairs.h"
#include "shares.h"
#include "machine/vcs.h"
#include <string.h>

enum { STEPS_MOST = 1 << 15, CIRCLE_SHOWN = 12 };

/* One step of a packet: an edge, and the VCs that it may own there. */
struct step {
    uint32_t edge;
    struct vc_range vcs;
    bool is_first; /* it begins there, and waits for nothing before */
};

/* The routes of one class, from which a graph is made. */
struct waits {
    struct routes *r;
    const struct share_plan *plan;
    bool answers;
    struct graph graph;
    struct step *steps; /* of the route that is walked */
    struct route_place *places;
    uint32_t n_places;
    uint16_t *known; /* [cube][port]: of the routes to one cube, which states were walked before */
};

static void add_arcs(struct waits *w, const struct step *a, const struct step *b)
{
    for (uint32_t i = a->vcs.first; i < a->vcs.end; i++)
        for (uint32_t k = b->vcs.first; k < b->vcs.end; k++)
            graph_add_arc(&w->graph, a->edge * w->graph.n_vcs + i, b->edge * w->graph.n_vcs + k);
}

/* -- routes --------------------------------------------------------------------------------- */

/* Does the boundary behind a segment lead on in the same mesh, of cubes or of SIPs? */
static bool goes_on(const struct kb_topology *t, struct route_at at)
{
    return walk_segment(t, at)->exit < t->ports ||
           (!t->regular && t->fabric_shape == FABRIC_GRID && at.segment >= t->seg_cross &&
            at.segment < t->seg_arrive);
}

/*
 * From segment `n` on routes to one cube are the same, if they come in by the same side and have
 * the same datelines behind them. Were they walked before? Routes back along those of data are not.
 */
static bool is_known(struct waits *w, const struct trip *trip, uint32_t n, bool detour)
{
    const struct kb_topology *t = &w->r->topo;
    bool odd = walk_is_odd(t, trip, walk_part_of(t, trip, w->places[n].at.cube));
    uint32_t state = 1u << (w->places[n].before | (detour ? 4u : 0u) | (odd ? 8u : 0u));
    uint16_t *known;
    uint32_t side;

    if (n == 0 || w->plan->routes != ROUTES_ALL || trip->back || w->r->topo.paths > 1 || t->rails ||
        (w->answers && (t->wrap || t->grid_wrap)) ||
        walk_segment(t, w->places[n - 1].at)->exit >= t->ports)
        return false;
    side = walk_far_side(t, w->places[n - 1].at.cube, walk_segment(t, w->places[n - 1].at)->exit);
    known = &w->known[(size_t)w->places[n].at.cube * t->ports + side];
    if (*known & state)
        return true;
    *known |= (uint16_t)state;
    return false;
}

/*
 * The segments of a route, and the datelines before and behind each; `whole`, or up to one from
 * which on it is known. 0: there is no way.
 */
static uint32_t walk_segments(struct waits *w, const struct trip *trip, bool whole, bool detour)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t n = 0;

    if (!t->regular && !walk_has_data_way(t, trip))
        return 0;
    for (struct route_at at = walk_begin(t, trip); n < STEPS_MOST; at = walk_next(t, trip, at)) {
        w->places[n].at = at;
        w->places[n].links = 0;
        w->places[n].before =
            n ? (uint8_t)vcs_crossed_after(t, w->places[n - 1].at, w->places[n - 1].before) : 0;
        if (!whole && is_known(w, trip, n, detour))
            break;
        n++;
        if (walk_segment(t, at)->exit == EXIT_END)
            break;
    }
    for (uint32_t i = n; i-- > 0;) {
        bool on = i + 1 < n && goes_on(t, w->places[i + 1].at) && i + 2 < n;

        w->places[i].after = 0;
        if (i + 1 < n && goes_on(t, w->places[i].at) && on)
            w->places[i].after =
                (uint8_t)(w->places[i + 1].after | vcs_dateline(t, w->places[i + 1].at));
    }
    if (t->port_rows)
        vcs_find_links(t, w->places, n);
    w->n_places = n;
    return n;
}

/* The datelines behind a packet on the edge of hop `hop` of segment `i`: vcs.h */
static uint32_t crossed_at(const struct waits *w, uint32_t i, uint32_t hop)
{
    const struct kb_topology *t = &w->r->topo;
    bool last = hop + 1 == walk_segment(t, w->places[i].at)->n_hops;

    if (!w->answers)
        return w->places[i].before;
    if (hop == 0 && i > 0 && walk_segment(t, w->places[i - 1].at)->exit == exit_io(t))
        return CROSSED_X | CROSSED_Y; /* ashore */
    return last || !goes_on(t, w->places[i].at)
               ? w->places[i].after
               : w->places[i].after | vcs_dateline(t, w->places[i].at);
}

static const struct node_row *node_of(const struct waits *w, const struct hop_row *hop,
                                      uint32_t cube)
{
    const struct kb_topology *t = &w->r->topo;

    return hop->chiplet == AT_CUBE     ? walk_cube_node(t, cube, hop->node)
           : hop->chiplet == AT_FABRIC ? &t->fabric_nodes[0]
                                       : &t->io_nodes[hop->node];
}

/* The step of hop `k` of segment `i`; its edge leads to `to`, which is the next hop of all. */
static void add_step(struct waits *w, const struct trip *trip, uint32_t i, uint32_t k, bool detour,
                     uint32_t n)
{
    const struct kb_topology *t = &w->r->topo;
    const struct segment_row *seg = walk_segment(t, w->places[i].at);
    bool last = k + 1 == seg->n_hops;
    const struct segment_row *next = last ? walk_segment(t, w->places[i + 1].at) : seg;
    uint32_t cube = w->places[i].at.cube, to_cube = w->places[last ? i + 1 : i].at.cube;
    const struct hop_row *hop = &t->hops[seg->first_hop + k];
    const struct hop_row *to = &t->hops[next->first_hop + (last ? 0 : k + 1)];
    const uint8_t *shares = w->answers ? t->answer_shares : t->request_shares;
    struct graph_edge edge = {
        .link = walk_link(t, (struct walk_edge){hop->owner, hop->back, hop->link}, cube, trip),
        .from = node_of(w, hop, cube)->name,
        .to = node_of(w, to, to_cube)->name,
        .from_cube = hop->chiplet == AT_CUBE ? cube : UINT32_MAX,
        .to_cube = to->chiplet == AT_CUBE ? to_cube : UINT32_MAX,
        .wire_fs = hop->wire_fs + (last ? walk_extra_fs(t, w->places[i].at) : 0),
        .to_fs = to->overhead_fs + to->cross_fs,
        .gbs = hop->gbs};

    w->steps[n].edge = graph_edge(&w->graph, &edge);
    w->steps[n].is_first = node_of(w, hop, cube)->kind == NODE_M_CPU;
    w->steps[n].vcs = vcs_range(t, shares[seg->first_hop + k], w->graph.n_vcs, 1, 0,
                                shares[seg->first_hop + k] & VCS_BY_LINKS
                                    ? vcs_part_of_links(t, w->places, w->n_places, i, k, w->answers)
                                    : crossed_at(w, i, k),
                                detour);
}

/* Whether the part of a trip in the SIP of `cube` is a detour, if that matters. */
static bool is_detour(const struct waits *w, const struct trip *trip, uint32_t cube)
{
    const struct kb_topology *t = &w->r->topo;
    struct walk_part part;

    if (!w->plan->detours || !walk_has_data_way(t, trip))
        return false;
    part = walk_part_of(t, trip, cube);
    return trip->back ? vcs_is_detour(t, trip->plane, part.last, part.first)
                      : vcs_is_detour(t, trip->plane, part.first, part.last);
}

/* The hops of segment `i`, from step `n` on; `most` of them. Returns the number of steps. */
static uint32_t add_hops(struct waits *w, const struct trip *trip, uint32_t i, bool detour,
                         uint32_t n, uint32_t most)
{
    const struct kb_topology *t = &w->r->topo;
    const struct segment_row *seg = walk_segment(t, w->places[i].at);

    for (uint32_t k = 0; k < seg->n_hops && k < most && n < STEPS_MOST; k++)
        if (t->hops[seg->first_hop + k].owner != LINK_NONE)
            add_step(w, trip, i, k, detour, n++);
    return n;
}

/* With hop classes: how many links lie before segment `i` on the way of a packet; and whether all
 * do. */
static uint64_t links_passed(const struct waits *w, uint32_t i)
{
    uint32_t all = w->places[w->n_places - 1].links, links = w->places[i].links;

    if (w->plan->routes != ROUTES_HOPS)
        return 0;
    if (w->answers)
        links = all - links;
    return links << 1 | (links > vcs_last_part(&w->r->topo, w->places, w->n_places, w->answers));
}

/* Has another route added segment `i`, and how it leads on to the next one before `end`? */
static bool is_added(struct waits *w, uint32_t i, uint32_t end, bool detour)
{
    const struct kb_topology *t = &w->r->topo;
    struct route_at at = w->places[i].at;
    bool ashore = i > 0 && walk_segment(t, w->places[i - 1].at)->exit == exit_io(t);
    uint64_t next = i + 1 < end ? w->places[i + 1].at.segment + 1u : 0, state, links;

    if (at.segment >= t->seg_host || walk_segment(t, at)->exit == exit_io(t))
        return false; /* what it passes depends on more */
    state = w->places[i].before | w->places[i].after * 4u | detour * 16u | ashore * 32u;
    if (next)
        state |= w->places[i + 1].before * 64u | w->places[i + 1].after * 256u;
    if (i > 0) /* of a net: the link by which it is entered */
        state |= w->places[i - 1].before * 1024u | w->places[i - 1].after * 2048u;
    links = links_passed(w, i);
    return !graph_adds_piece(&w->graph, (struct piece){(uint64_t)at.cube << 32 | at.segment,
                                                       (links << 34 | next << 16 | state) + 1});
}

/* Adds the arcs of segments [first, end) of a route. */
static void add_segments(struct waits *w, const struct trip *trip, uint32_t first, uint32_t end)
{
    uint32_t from = src_cube(&w->r->topo, trip->src), to = dst_cube(&w->r->topo, trip->dst);
    bool departs = is_detour(w, trip, from);
    bool arrives = cost_same_sip(&w->r->topo, from, to) ? departs : is_detour(w, trip, to);

    for (uint32_t i = first; i < end; i++) {
        bool detour = cost_same_sip(&w->r->topo, w->places[i].at.cube, to) ? arrives : departs;
        uint32_t n;

        if (is_added(w, i, end, detour))
            continue;
        n = add_hops(w, trip, i, detour, 0, UINT32_MAX);
        if (i + 1 < end) {
            detour = cost_same_sip(&w->r->topo, w->places[i + 1].at.cube, to) ? arrives : departs;
            n = add_hops(w, trip, i + 1, detour, n, 1);
        }
        for (uint32_t k = 0; k + 1 < n; k++) {
            if (w->steps[k + 1].is_first)
                continue;
            if (w->answers)
                add_arcs(w, &w->steps[k + 1], &w->steps[k]);
            else
                add_arcs(w, &w->steps[k], &w->steps[k + 1]);
        }
    }
}

/* -- all routes ----------------------------------------------------------------------------- */

/* Ends of routes that were walked with all PEs, and with all memories. */
enum end { LEFT, ENTERED };

/*
 * Was it not seen before that packets pass segment `i`, the first or the last of a route, between
 * its cube and `side` as these do? n_exits(): within the cube.
 */
static bool is_new(struct waits *w, enum end end, const struct trip *trip, uint32_t i,
                   uint32_t side, bool detour)
{
    uint32_t link = end == ENTERED && i > 0 && w->r->topo.port_rows ? i - 1 : i;
    uint32_t state = (w->answers ? w->places[link].after : w->places[link].before) | detour * 4u;
    struct piece piece = {.at = (uint64_t)w->places[i].at.cube << 32 |
                                (uint64_t)(0xf000u + end * 0x100u + trip->plane) << 16 | side};

    piece.state = (links_passed(w, i) << 16 | state) + 1;
    return graph_adds_piece(&w->graph, piece);
}

/* The last two segments of a route: all that depends on which memory of its cube it leads to. */
static void add_end(struct waits *w, const struct trip *trip)
{
    uint32_t n = walk_segments(w, trip, true, false);

    add_segments(w, trip, n > 2 ? n - 2 : 0, n);
}

static void add_units(struct waits *w, struct trip trip)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t to = dst_cube(t, trip.dst);
    const struct kind_row *kind = kind_at(t, to);

    for (uint32_t unit = 0; unit < t->n_units; unit++) {
        bool there = unit < kind->slices || unit == t->slices ||
                     (unit > t->slices && unit - t->slices - 1 < kind->pes);

        trip.dst = dst_pack(t, to, unit);
        if (there && trip.src != src_pack(t, to, unit - t->slices - 1))
            add_end(w, &trip);
    }
}

/* The begin of routes from all PEs of a cube; with all memories if these are in the same one. */
static void add_pes(struct waits *w, struct trip trip)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t from = src_cube(t, trip.src);

    for (uint32_t pe = 0; pe < kind_at(t, from)->pes; pe++) {
        trip.src = src_pack(t, from, pe);
        uint32_t n = walk_segments(w, &trip, true, false);

        if (n == 1)
            add_units(w, trip);
        else
            add_segments(w, &trip, 0, 2);
    }
}

/* The first memory of a cube, which is no switch. */
static uint32_t first_unit(const struct kb_topology *t, uint32_t cube)
{
    return kind_at(t, cube)->slices ? 0 : t->slices;
}

static bool is_switch_cube(const struct waits *w, uint32_t cube)
{
    return is_switch(w->r->found->kinds[cube_kind(&w->r->topo, cube)]);
}

/* By which side the next cube is entered; of a mesh, the side by which the last one is left. */
static uint32_t side_entered(const struct kb_topology *t, struct route_at last)
{
    uint32_t exit = walk_segment(t, last)->exit;

    return t->port_rows && exit < t->ports ? walk_far_side(t, last.cube, exit) : exit;
}

/* Routes on one course from PEs of one cube to memories of another, or of the same. */
static void add_course(struct waits *w, uint32_t from, uint32_t to, uint32_t course)
{
    const struct kb_topology *t = &w->r->topo;
    bool back = w->answers && mesh_is_one_way(t, t->paths > 1 ? 0 : course, from, to), pes,
         units = false, detour;
    struct trip trip = walk_trip(t, src_pack(t, from, 0), dst_pack(t, to, first_unit(t, to)),
                                 course, false, 0, back);
    uint32_t n, side;

    detour = is_detour(w, &trip, to);
    n = walk_segments(w, &trip, !cost_same_sip(t, from, to), detour);
    if (!n)
        return;
    pes = is_new(w, LEFT, &trip, 0, walk_segment(t, w->places[0].at)->exit, detour);
    if (walk_segment(t, w->places[n - 1].at)->exit == EXIT_END) {
        side = n == 1 ? n_exits(t) : side_entered(t, w->places[n - 2].at);
        units = is_new(w, ENTERED, &trip, n - 1, side, detour);
    } else if (n == 1 && !pes) {
        return; /* nothing that was not walked before */
    }
    add_segments(w, &trip, 0, n);
    if (units)
        add_units(w, trip);
    if (pes)
        add_pes(w, trip);
}

/* The same on a plane, by all ways. */
static void add_between(struct waits *w, uint32_t from, uint32_t to, uint32_t plane)
{
    const struct kb_topology *t = &w->r->topo;
    bool back = w->answers && mesh_is_one_way(t, plane, from, to);
    const struct path_row *ways = paths_between(t, back ? to : from, back ? from : to);

    add_course(w, from, to, plane);
    for (uint32_t way = 1; ways && way < ways->n; way++)
        add_course(w, from, to, way);
}

/* Routes of the hosts to one cube: to its slices. */
static void add_hosts(struct waits *w, uint32_t to, uint32_t plane)
{
    const struct kb_topology *t = &w->r->topo;

    for (uint32_t chiplet = 0; chiplet < t->chiplets && kind_at(t, to)->slices; chiplet++) {
        bool back = w->answers && t->plane_rows[plane].one_way;
        uint32_t first = to - to % t->cubes;
        struct trip trip =
            walk_trip(t, src_pack(t, first, 0), dst_pack(t, to, 0), plane, true, chiplet, back);

        add_segments(w, &trip, 0, walk_segments(w, &trip, true, false));
        for (uint32_t slice = 1; slice < kind_at(t, to)->slices; slice++) {
            trip.dst = dst_pack(t, to, slice);
            add_end(w, &trip);
        }
    }
}

/* Routes from the cubes of one SIP to `to`. */
static void add_from_sip(struct waits *w, const struct pairs *p, uint32_t sip, uint32_t to,
                         uint32_t plane)
{
    const struct kb_topology *t = &w->r->topo;
    uint32_t first, end;

    arena_pause(w->r->arena);
    pairs_from(p, sip, to, &first, &end);
    for (uint32_t from = first; from < end; from++)
        if (pairs_has_cube(p, from) && kind_at(t, from)->pes && pairs_has(p, from, to))
            add_between(w, from, to, plane);
}

static void forget_known(struct waits *w, const struct pairs *p)
{
    size_t each = (size_t)w->r->topo.cubes * w->r->topo.ports;

    for (uint32_t sip = 0; sip < w->r->topo.sips; sip++)
        if (p->leaver[sip] != NO_WHERE || p->sips[sip])
            memset(&w->known[sip * each], 0, each * sizeof *w->known);
}

static void add_plane(struct waits *w, uint32_t plane)
{
    const struct kb_topology *t = &w->r->topo;
    bool back = w->answers && t->plane_rows[plane].one_way;
    struct pairs pairs = pairs_make(w->r, plane, back, w->plan->routes == ROUTES_HOPS);

    for (uint32_t to = 0; to < sim_cubes(t); to++) {
        if (is_switch_cube(w, to) || !pairs_has_cube(&pairs, to))
            continue;
        forget_known(w, &pairs);
        for (uint32_t sip = 0; sip < t->sips; sip++)
            add_from_sip(w, &pairs, sip, to, plane);
        add_hosts(w, to, plane);
    }
}

static void add_routes(struct waits *w)
{
    for (uint32_t plane = 0; plane < w->r->topo.planes; plane++)
        add_plane(w, plane);
}

/* -- circles -------------------------------------------------------------------------------- */

static const char *node_text(const struct waits *w, uint32_t cube, const char *name)
{
    const struct kb_topology *t = &w->r->topo;

    if (cube == UINT32_MAX)
        return name;
    if (cube >= sip_cubes(t))
        return arena_printf(w->r->arena, "sw%u.%s", cube - sip_cubes(t), name);
    return cube < t->cubes
               ? arena_printf(w->r->arena, "c%u.%s", cube, name)
               : arena_printf(w->r->arena, "s%u.c%u.%s", cube / t->cubes, cube % t->cubes, name);
}

/* "c0.noc > c0.ucie-E > ... > c0.noc" */
static const char *circle_text(const struct waits *w, const uint32_t *line, uint32_t len)
{
    struct arena *a = w->r->arena;
    const char *text = "";

    for (uint32_t i = 0; i < len && i < CIRCLE_SHOWN; i++) {
        const struct graph_edge *edge = &w->graph.edges[line[i] / w->graph.n_vcs];
        const char *from = w->answers ? node_text(w, edge->to_cube, edge->to)
                                      : node_text(w, edge->from_cube, edge->from);

        text = arena_printf(a, "%s%s > ", text, from);
    }
    if (len > CIRCLE_SHOWN)
        text = arena_printf(a, "%s... > ", text);
    const struct graph_edge *edge = &w->graph.edges[line[0] / w->graph.n_vcs];
    return arena_printf(a, "%s%s", text,
                        w->answers ? node_text(w, edge->to_cube, edge->to)
                                   : node_text(w, edge->from_cube, edge->from));
}

const char *channels_circle(struct routes *r, const struct share_plan *plan, bool answers)
{
    /* as many VCs as parts: with more of them the graph is the same, but larger */
    struct waits w = {.r = r,
                      .plan = plan,
                      .answers = answers,
                      .graph = graph_make(r->arena, shares_parts_of_all(r, plan))};
    uint32_t *line, len;

    w.steps = arena_alloc(r->arena, STEPS_MOST * sizeof *w.steps);
    w.places = arena_alloc(r->arena, STEPS_MOST * sizeof *w.places);
    w.known = arena_alloc(r->arena, (size_t)sim_cubes(&r->topo) * r->topo.ports * sizeof *w.known);
    add_routes(&w);
    line = arena_alloc(r->arena, (w.graph.n_edges * w.graph.n_vcs + 1) * sizeof *line);
    len = graph_find_circle(&w.graph, line);
    if (!answers) {
        r->requests = arena_alloc(r->arena, sizeof *r->requests);
        *r->requests = w.graph;
    }
    return len ? circle_text(&w, line, len) : NULL;
}
