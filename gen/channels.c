/*
 * channels.c -- proves that packets of a network of routers cannot wait for each other in a circle.
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
 * Which VCs packets may own is a plan (shares.h). Plans are tried from the plainest on: with
 * `broken`, detours together with other routes, then apart; in cubes with meshes a route in one
 * stage, in two, in three. The first plan without a circle is taken, and if there is none the
 * circle of the plainest is named.
 *
 * Routes: all pairs of cubes, with all PEs and memories the first time that a cube is left or
 * entered in a way, and the end of a route only if it was not walked before. Of a machine without
 * gaps, all of whose cubes are alike, cubes of three first, three middle and three last rows and
 * columns are enough: they see every turn, and every edge along those rows. An m_cpu takes in all
 * that comes, and packets begin there anew.
 *
 * Example: 4 x 1 cubes, wrap: x, vcs: [1, 1]: too few, as a ring needs two parts. Without parts
 * there would be a circle c0.noc > c0.ucie-E > c1.ucie-W > c1.noc > ... > c0.noc.
 */
#include "channels.h"
#include "nodes.h"
#include "segments.h"
#include "shares.h"
#include "machine/vcs.h"
#include <string.h>

enum { STEPS_MOST = 1 << 15, VCS_MOST = 16, CIRCLE_SHOWN = 12 };

/* One edge that some route passes. */
struct edge {
    size_t link; /* walk_link() */
    const char *from, *to;
    uint32_t from_cube, to_cube; /* UINT32_MAX: outside of cubes */
};

/* One step of a packet: an edge, and the VCs that it may own there. */
struct step {
    uint32_t edge;
    struct vc_range vcs;
    bool anew; /* it begins there, and waits for nothing before */
};

struct arc {
    uint32_t to, next; /* a vertex; of the same vertex the next arc, from 1 */
};

struct graph {
    struct routes *r;
    const struct share_plan *plan;
    bool answers;
    uint32_t n_vcs; /* of a group of this class */
    struct edge *edges;
    uint32_t *slots; /* hash of links: edge, from 1 */
    uint32_t n_edges, n_slots, cap_edges;
    uint32_t *first; /* [edge * n_vcs + vc]: its first arc, from 1 */
    struct arc *arcs;
    uint32_t n_arcs, cap_arcs;
    struct step *steps; /* of the route that is walked */
    struct route_at *at;
    uint8_t *before, *after;
    uint8_t *known; /* [cube][side]: of the routes to one cube, those states of which the rest is
                       known */
};

/* -- the graph ------------------------------------------------------------------------------ */

static uint32_t *slot_of(const struct graph *g, size_t link)
{
    size_t i = link * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (g->n_slots - 1);

    while (g->slots[i] && g->edges[g->slots[i] - 1].link != link)
        i = (i + 1) & (g->n_slots - 1);
    return &g->slots[i];
}

static void *moved(struct arena *a, const void *old, size_t bytes, size_t more)
{
    char *p = arena_alloc(a, more);

    if (bytes)
        memcpy(p, old, bytes);
    return p;
}

static void widen(struct graph *g)
{
    struct arena *a = g->r->arena;
    uint32_t cap = g->cap_edges ? 2 * g->cap_edges : 512;

    g->edges = moved(a, g->edges, g->n_edges * sizeof *g->edges, cap * sizeof *g->edges);
    g->first = moved(a, g->first, (size_t)g->n_edges * g->n_vcs * sizeof *g->first,
                     (size_t)cap * g->n_vcs * sizeof *g->first);
    g->cap_edges = cap;
    g->n_slots = 2 * cap;
    g->slots = arena_alloc(a, g->n_slots * sizeof *g->slots);
    for (uint32_t i = 0; i < g->n_edges; i++)
        *slot_of(g, g->edges[i].link) = i + 1;
}

static uint32_t edge_number(struct graph *g, const struct edge *edge)
{
    uint32_t *slot;

    if (g->n_edges == g->cap_edges)
        widen(g);
    slot = slot_of(g, edge->link);
    if (!*slot) {
        g->edges[g->n_edges++] = *edge;
        *slot = g->n_edges;
    }
    return *slot - 1;
}

static void add_arc(struct graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = g->first[from]; i; i = g->arcs[i - 1].next)
        if (g->arcs[i - 1].to == to)
            return;
    if (g->n_arcs == g->cap_arcs) {
        g->cap_arcs = g->cap_arcs ? 2 * g->cap_arcs : 4096;
        g->arcs =
            moved(g->r->arena, g->arcs, g->n_arcs * sizeof *g->arcs, g->cap_arcs * sizeof *g->arcs);
    }
    g->arcs[g->n_arcs++] = (struct arc){to, g->first[from]};
    g->first[from] = g->n_arcs;
}

static void add_arcs(struct graph *g, const struct step *a, const struct step *b)
{
    for (uint32_t i = a->vcs.first; i < a->vcs.end; i++)
        for (uint32_t k = b->vcs.first; k < b->vcs.end; k++)
            add_arc(g, a->edge * g->n_vcs + i, b->edge * g->n_vcs + k);
}

/* -- routes --------------------------------------------------------------------------------- */

/* Does the boundary behind a segment lead on in the same mesh, of cubes or of SIPs? */
static bool goes_on(const struct kb_topology *t, struct route_at at)
{
    return walk_segment(t, at)->exit < N_SIDES ||
           (!t->regular && t->fabric_shape == FABRIC_GRID && at.segment >= t->seg_cross &&
            at.segment < t->seg_arrive);
}

/*
 * From segment `n` on routes to one cube are the same, if they come in by the same side and have
 * the same datelines behind them. Were they walked before? Routes back along those of data are not.
 */
static bool is_known(struct graph *g, const struct trip *trip, uint32_t n, bool detour)
{
    const struct kb_topology *t = &g->r->topo;
    uint32_t state = 1u << (g->before[n] | (detour ? 4u : 0u));
    uint8_t *known;

    if (n == 0 || trip->back || (g->answers && (t->wrap || t->grid_wrap)) ||
        walk_segment(t, g->at[n - 1])->exit >= N_SIDES)
        return false;
    known = &g->known[(size_t)g->at[n].cube * N_SIDES + walk_segment(t, g->at[n - 1])->exit];
    if (*known & state)
        return true;
    *known |= (uint8_t)state;
    return false;
}

/*
 * The segments of a route, and the datelines before and behind each; `whole`, or up to one from
 * which on it is known. 0: there is no way.
 */
static uint32_t walk_segments(struct graph *g, const struct trip *trip, bool whole, bool detour)
{
    const struct kb_topology *t = &g->r->topo;
    uint32_t n = 0;

    if (!t->regular && !walk_has_way(t, trip))
        return 0;
    for (struct route_at at = walk_begin(t, trip); n < STEPS_MOST; at = walk_next(t, trip, at)) {
        g->at[n] = at;
        g->before[n] = n ? (uint8_t)vcs_crossed_after(t, g->at[n - 1], g->before[n - 1]) : 0;
        if (!whole && is_known(g, trip, n, detour))
            break;
        n++;
        if (walk_segment(t, at)->exit == N_EXITS)
            break;
    }
    for (uint32_t i = n; i-- > 0;) {
        bool on = i + 1 < n && goes_on(t, g->at[i + 1]) && i + 2 < n;

        g->after[i] = 0;
        if (i + 1 < n && goes_on(t, g->at[i]) && on)
            g->after[i] = (uint8_t)(g->after[i + 1] | vcs_dateline(t, g->at[i + 1]));
    }
    return n;
}

/* The datelines behind a packet on the edge of hop `hop` of segment `i`: vcs.h */
static uint32_t crossed_at(const struct graph *g, uint32_t i, uint32_t hop)
{
    const struct kb_topology *t = &g->r->topo;
    bool last = hop + 1 == walk_segment(t, g->at[i])->n_hops;

    if (!g->answers)
        return g->before[i];
    return last || !goes_on(t, g->at[i]) ? g->after[i] : g->after[i] | vcs_dateline(t, g->at[i]);
}

static const struct node_row *node_of(const struct graph *g, const struct hop_row *hop,
                                      uint32_t cube)
{
    const struct kb_topology *t = &g->r->topo;

    return hop->chiplet == AT_CUBE     ? walk_cube_node(t, cube, hop->node)
           : hop->chiplet == AT_FABRIC ? &t->fabric_nodes[0]
                                       : &t->io_nodes[hop->node];
}

/* The step of hop `k` of segment `i`; its edge leads to `to`, which is the next hop of all. */
static void add_step(struct graph *g, const struct trip *trip, uint32_t i, uint32_t k, bool detour,
                     uint32_t n)
{
    const struct kb_topology *t = &g->r->topo;
    const struct segment_row *seg = walk_segment(t, g->at[i]);
    bool last = k + 1 == seg->n_hops;
    const struct segment_row *next = last ? walk_segment(t, g->at[i + 1]) : seg;
    uint32_t cube = g->at[i].cube, to_cube = g->at[last ? i + 1 : i].cube;
    const struct hop_row *hop = &t->hops[seg->first_hop + k];
    const struct hop_row *to = &t->hops[next->first_hop + (last ? 0 : k + 1)];
    const uint8_t *shares = g->answers ? t->answer_shares : t->request_shares;
    struct edge edge = {
        .link = walk_link(t, (struct walk_edge){hop->owner, hop->back, hop->link}, cube, trip),
        .from = node_of(g, hop, cube)->name,
        .to = node_of(g, to, to_cube)->name,
        .from_cube = hop->chiplet == AT_CUBE ? cube : UINT32_MAX,
        .to_cube = to->chiplet == AT_CUBE ? to_cube : UINT32_MAX};

    g->steps[n].edge = edge_number(g, &edge);
    g->steps[n].anew = node_of(g, hop, cube)->kind == NODE_M_CPU;
    g->steps[n].vcs =
        vcs_range(shares[seg->first_hop + k], g->n_vcs, 1, 0, crossed_at(g, i, k), detour);
}

/* Whether the part of a trip in the SIP of `cube` is a detour, if that matters. */
static bool is_detour(const struct graph *g, const struct trip *trip, uint32_t cube)
{
    const struct kb_topology *t = &g->r->topo;
    struct walk_part part;

    if (!g->plan->detours)
        return false;
    part = walk_part_of(t, trip, cube);
    return trip->back ? vcs_is_detour(t, trip->plane, part.last, part.first)
                      : vcs_is_detour(t, trip->plane, part.first, part.last);
}

/* Adds the arcs of a route, of its first `segments` segments. */
static void add_segments(struct graph *g, const struct trip *trip, uint32_t segments)
{
    const struct kb_topology *t = &g->r->topo;
    uint32_t n = 0, to = dst_cube(t, trip->dst);
    bool departs = is_detour(g, trip, src_cube(t, trip->src)), arrives = is_detour(g, trip, to);

    for (uint32_t i = 0; i < segments; i++) {
        const struct segment_row *seg = walk_segment(t, g->at[i]);
        bool detour = cost_same_sip(t, g->at[i].cube, to) ? arrives : departs;

        for (uint32_t k = 0; k < seg->n_hops && n < STEPS_MOST; k++)
            if (t->hops[seg->first_hop + k].owner != LINK_NONE)
                add_step(g, trip, i, k, detour, n++);
    }
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (g->steps[i + 1].anew)
            continue;
        if (g->answers)
            add_arcs(g, &g->steps[i + 1], &g->steps[i]);
        else
            add_arcs(g, &g->steps[i], &g->steps[i + 1]);
    }
}

/* -- all routes ----------------------------------------------------------------------------- */

/* From which cubes by which exits, and into which by which sides, routes were walked with all PEs
 * and with all memories: [cube][plane], bits of sides; bit N_EXITS: inside the cube. */
struct seen {
    uint8_t *left, *entered;
};

static bool is_new(uint8_t *bits, uint32_t bit)
{
    bool is = !(*bits >> bit & 1);

    *bits |= (uint8_t)(1u << bit);
    return is;
}

/* Routes of one PE, or of all, to one memory, or to all. */
static void add_ends(struct graph *g, struct trip trip, bool all_pes, bool all_units)
{
    const struct kb_topology *t = &g->r->topo;
    uint32_t from = src_cube(t, trip.src), to = dst_cube(t, trip.dst);
    const struct kind_row *a = kind_at(t, from), *b = kind_at(t, to);

    for (uint32_t pe = 0; pe < (all_pes ? a->pes : 1); pe++)
        for (uint32_t unit = 0; unit < (all_units ? t->n_units : 1); unit++) {
            bool there = unit < b->slices || unit == t->slices ||
                         (unit > t->slices && unit - t->slices - 1 < b->pes);

            if (!there || (from == to && unit == t->slices + 1 + pe))
                continue;
            trip.src = src_pack(t, from, pe);
            trip.dst = dst_pack(t, to, unit);
            add_segments(g, &trip, walk_segments(g, &trip, true, false));
        }
}

/* Routes from PEs of one cube to memories of another, or of the same. */
static void add_between(struct graph *g, const struct seen *seen, uint32_t from, uint32_t to,
                        uint32_t plane)
{
    const struct kb_topology *t = &g->r->topo;
    bool back = g->answers && t->plane_rows[plane].one_way, pes, units = false;
    struct trip trip =
        walk_trip(t, src_pack(t, from, 0), dst_pack(t, to, 0), plane, false, 0, back);
    uint32_t n = walk_segments(g, &trip, !cost_same_sip(t, from, to), is_detour(g, &trip, to));
    const struct segment_row *last;

    if (!n)
        return;
    pes = is_new(&seen->left[(size_t)from * t->planes + plane], walk_segment(t, g->at[0])->exit);
    last = walk_segment(t, g->at[n - 1]);
    if (last->exit == N_EXITS)
        units = is_new(&seen->entered[(size_t)to * t->planes + plane],
                       n == 1 ? N_EXITS : walk_segment(t, g->at[n - 2])->exit);
    add_segments(g, &trip, n);
    if (pes || units)
        add_ends(g, trip, pes, units);
}

/* Routes of the hosts to one cube: to its slices. */
static void add_hosts(struct graph *g, uint32_t to, uint32_t plane)
{
    const struct kb_topology *t = &g->r->topo;

    for (uint32_t chiplet = 0; chiplet < t->chiplets; chiplet++) {
        bool back = g->answers && t->plane_rows[plane].one_way;
        uint32_t first = to - to % t->cubes;
        struct trip trip =
            walk_trip(t, src_pack(t, first, 0), dst_pack(t, to, 0), plane, true, chiplet, back);

        for (uint32_t slice = 0; slice < kind_at(t, to)->slices; slice++) {
            trip.dst = dst_pack(t, to, slice);
            add_segments(g, &trip, walk_segments(g, &trip, true, false));
        }
    }
}

/* Is `i` of `n` one of three first, three middle or three last? */
static bool is_shown(uint32_t i, uint32_t n)
{
    return n <= 9 || i < 3 || i + 3 >= n || (i + 1 >= n / 2 && i <= n / 2 + 1);
}

/* Whether routes from and to a cube are walked. */
static bool is_walked(const struct kb_topology *t, uint32_t cube)
{
    if (!mesh_has_cube(t, cube))
        return false;
    if (t->has_gaps || t->n_kinds > 1)
        return true;
    return is_shown(cube_column(t, cube), t->w) && is_shown(cube_row(t, cube), t->h);
}

static void add_routes(struct graph *g)
{
    const struct kb_topology *t = &g->r->topo;
    uint32_t cubes = sim_cubes(t);
    struct seen seen = {arena_alloc(g->r->arena, cubes * t->planes),
                        arena_alloc(g->r->arena, cubes * t->planes)};

    for (uint32_t plane = 0; plane < t->planes; plane++)
        for (uint32_t to = 0; to < cubes; to++) {
            if (!is_walked(t, to))
                continue;
            memset(g->known, 0, cubes * N_SIDES);
            for (uint32_t from = 0; from < cubes; from++)
                if (is_walked(t, from) && kind_at(t, from)->pes)
                    add_between(g, &seen, from, to, plane);
            add_hosts(g, to, plane);
        }
}

/* -- circles -------------------------------------------------------------------------------- */

/* A vertex from which arcs lead back to it, and these as `line`; 0: there is none. */
static uint32_t find_circle(const struct graph *g, uint32_t *line)
{
    uint32_t n = g->n_edges * g->n_vcs, len = 0;
    uint32_t *next = arena_alloc(g->r->arena, n * sizeof *next);
    uint8_t *state = arena_alloc(g->r->arena, n); /* 1: on the line, 2: leads to no circle */

    for (uint32_t v = 0; v < n; v++)
        for (len = state[v] ? 0 : 1, line[0] = v; len;) {
            uint32_t at = line[len - 1], arc = state[at] ? next[at] : g->first[at];

            state[at] = 1;
            if (!arc) {
                state[at] = 2;
                len--;
                continue;
            }
            next[at] = g->arcs[arc - 1].next;
            at = g->arcs[arc - 1].to;
            if (state[at] == 1) {
                uint32_t begin = 0;

                while (line[begin] != at)
                    begin++;
                memmove(line, line + begin, (len - begin) * sizeof *line);
                return len - begin;
            }
            if (!state[at])
                line[len++] = at;
        }
    return 0;
}

static const char *node_text(const struct graph *g, uint32_t cube, const char *name)
{
    const struct kb_topology *t = &g->r->topo;

    if (cube == UINT32_MAX)
        return name;
    return cube < t->cubes
               ? arena_printf(g->r->arena, "c%u.%s", cube, name)
               : arena_printf(g->r->arena, "s%u.c%u.%s", cube / t->cubes, cube % t->cubes, name);
}

/* "c0.noc > c0.ucie-E > ... > c0.noc" */
static const char *circle_text(const struct graph *g, const uint32_t *line, uint32_t len)
{
    struct arena *a = g->r->arena;
    const char *text = "";

    for (uint32_t i = 0; i < len && i < CIRCLE_SHOWN; i++) {
        const struct edge *edge = &g->edges[line[i] / g->n_vcs];
        const char *from = g->answers ? node_text(g, edge->to_cube, edge->to)
                                      : node_text(g, edge->from_cube, edge->from);

        text = arena_printf(a, "%s%s (%s%u) > ", text, from, g->answers ? "a" : "r",
                            line[i] % g->n_vcs);
    }
    if (len > CIRCLE_SHOWN)
        text = arena_printf(a, "%s... > ", text);
    const struct edge *edge = &g->edges[line[0] / g->n_vcs];
    return arena_printf(a, "%s%s", text,
                        g->answers ? node_text(g, edge->to_cube, edge->to)
                                   : node_text(g, edge->from_cube, edge->from));
}

/* -- plans ---------------------------------------------------------------------------------- */

/* NULL, or a circle of one class with the shares that `r` has. */
static const char *circle_of(struct routes *r, const struct share_plan *plan, bool answers)
{
    uint32_t vcs = answers ? r->topo.answer_vcs : r->topo.request_vcs;
    struct graph g = {.r = r, .plan = plan, .answers = answers, .n_vcs = vcs / r->topo.prios};
    uint32_t *line, len;

    g.steps = arena_alloc(r->arena, STEPS_MOST * sizeof *g.steps);
    g.at = arena_alloc(r->arena, STEPS_MOST * sizeof *g.at);
    g.before = arena_alloc(r->arena, STEPS_MOST);
    g.after = arena_alloc(r->arena, STEPS_MOST);
    g.known = arena_alloc(r->arena, sim_cubes(&r->topo) * N_SIDES);
    add_routes(&g);
    line = arena_alloc(r->arena, (g.n_edges * g.n_vcs + 1) * sizeof *line);
    len = find_circle(&g, line);
    return len ? circle_text(&g, line, len) : NULL;
}

/* VCs of a group of the class that has fewer. */
static uint32_t least_vcs(const struct kb_topology *t)
{
    return (t->request_vcs < t->answer_vcs ? t->request_vcs : t->answer_vcs) / t->prios;
}

/* The circle that a plan leaves; NULL: it is a good one. */
static const char *try_plan(struct routes *r, const struct share_plan *plan)
{
    const char *circle;

    make_shares(r, plan);
    r->topo.request_shares = r->request_shares;
    r->topo.answer_shares = r->answer_shares;
    circle = circle_of(r, plan, false);
    return circle ? circle : circle_of(r, plan, true);
}

static bool has_detours(const struct kb_topology *t)
{
    for (uint32_t plane = 0; plane < t->planes; plane++)
        if (t->plane_rows[plane].has_detours)
            return true;
    return false;
}

/* Whether rings have as many VCs as they need, without a look at routes. */
static bool has_vcs(const struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    uint32_t n = least_vcs(t);
    const char *ring = "rings of cubes ('sip.cube_mesh.wrap')";
    bool of_crossbars = false;

    for (uint32_t k = 0; k < t->n_kinds; k++)
        of_crossbars = of_crossbars || has_crossbar_ring(&r->kinds[k]);
    if (n >= 2 || shares_parts(r, &(struct share_plan){.stages = 1}) < 2)
        return true;
    if (of_crossbars)
        ring = "crossbars and bridges, a ring in cubes of 6 PEs and more";
    else if (!wraps(t, false) && !wraps(t, true))
        ring = "rings of SIPs ('fabric.wrap')";
    return diag_error(r->spec->diag, spec_place(r->spec, KEY_contention_vcs),
                      "'contention.vcs' do not suffice for %s: each must be at least %u", ring,
                      2u * t->prios);
}

static bool refuse(const struct routes *r, const char *circle, uint32_t parts)
{
    const struct kb_topology *t = &r->topo;

    if (parts > least_vcs(t))
        return diag_error(r->spec->diag, spec_place(r->spec, KEY_contention_vcs),
                          "'contention.links: router': packets could wait for each other in a "
                          "circle, %s: make each of 'contention.vcs' at least %u",
                          circle, parts * t->prios);
    return diag_error(r->spec->diag, spec_place(r->spec, KEY_contention_links),
                      "'contention.links: router': packets could wait for each other in a circle, "
                      "%s: mend links, fill holes, or take fifo",
                      circle);
}

static bool has_shares(const struct routes *r)
{
    for (uint32_t i = 0; i < r->n_hops; i++)
        if (r->request_shares[i] || r->answer_shares[i])
            return true;
    return false;
}

static void keep_shares(struct routes *r)
{
    r->topo.vcs_vary = has_shares(r);
    if (!r->topo.vcs_vary)
        r->topo.request_shares = r->topo.answer_shares = NULL;
}

bool make_channels(struct routes *r)
{
    uint32_t stages = has_meshes(r) ? 4 : 1, need = 0;
    const char *plainest = NULL;

    if (r->topo.links != MODE_ROUTER)
        return true;
    if (!has_vcs(r))
        return false;
    for (struct share_plan plan = {0}; plan.detours <= has_detours(&r->topo); plan.detours++)
        for (plan.stages = 1; plan.stages <= stages; plan.stages++) {
            const char *circle;

            need = shares_parts(r, &plan);
            if (need > least_vcs(&r->topo))
                continue;
            circle = try_plan(r, &plan);
            if (!circle) {
                keep_shares(r);
                return true;
            }
            plainest = plainest ? plainest : circle;
        }
    return refuse(r, plainest, need);
}
