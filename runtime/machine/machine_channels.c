/* machine_channels.c -- goes along a route hop by hop, and merges its edges to channels. */
#include "machine/machine_channels.h"
#include <math.h>
#include <stdlib.h>

/* -- which nodes are routers ---------------------------------------------------------------- */

static bool io_stops(const struct kb_topology *t, uint32_t node, uint32_t chiplet)
{
    return node == IO_NOC ||
           (node == IO_PCIE_EP && t->sips > 1 && !t->rails && chiplet % t->chiplets == 0);
}

static bool stops(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
                  const struct trip *trip)
{
    if (hop->chiplet == AT_CUBE)
        return t->stops[(size_t)t->stop_of[cube] * t->n_cube_nodes + hop->node] == '1';
    if (hop->chiplet == AT_FABRIC)
        return t->sips > 2;
    return io_stops(t, hop->node, walk_chiplet(t, trip, cube, hop->chiplet == AT_IO_TO));
}

/* -- along a route -------------------------------------------------------------------------- */

struct walker {
    const struct kb_topology *t;
    const struct cost_mask *mask;
    const struct trip *trip;
    struct route_at at;
    struct channel_row row; /* the one in work */
    uint32_t segment;       /* how many lie behind it */
    bool begun, writes;
    int64_t source_fs;
    int64_t back_fs; /* of the node at its end, for one that comes from there */
};

static const struct hop_row *hop_at(const struct walker *w)
{
    return &w->t->hops[walk_segment(w->t, w->at)->first_hop + w->at.step];
}

static enum node_kind kind_of(const struct walker *w, const struct hop_row *hop)
{
    if (hop->chiplet == AT_CUBE)
        return (enum node_kind)walk_cube_node(w->t, w->at.cube, hop->node)->kind;
    return hop->chiplet == AT_FABRIC ? NODE_SWITCH : w->t->io_nodes[hop->node].kind;
}

static int64_t overhead_fs(const struct walker *w, const struct hop_row *hop)
{
    return hop->overhead_fs & w->mask->overhead;
}

/* In a grid of SIPs a pcie_ep costs more if it is come to from another one. */
static int64_t overhead_back_fs(const struct walker *w, const struct hop_row *hop)
{
    int64_t fs = hop->overhead_fs;

    if (hop->chiplet != AT_CUBE && hop->chiplet != AT_FABRIC && hop->node == IO_PCIE_EP &&
        w->t->fabric_shape == FABRIC_GRID)
        fs = w->t->io_nodes[IO_PCIE_EP].overhead_fs +
             (hop->link != IO_LINK_PCIE ? w->t->fabric_nodes[0].overhead_fs : 0);
    return fs & w->mask->overhead;
}

/*
 * The edge of `hop` may say which VCs packets may own on its channel: of all that say something the
 * first in the direction of travel does.
 */
static void note_shares(struct walker *w, uint32_t hop)
{
    const struct kb_topology *t = w->t;
    struct channel_row *row = &w->row;

    if (!w->begun || (t->vcs_vary && !t->request_shares[row->first_hop])) {
        row->first_hop = hop;
        row->first_segment = w->segment;
    }
    if (!w->begun || (t->vcs_vary && t->answer_shares[hop])) {
        row->last_hop = hop;
        row->last_segment = w->segment;
    }
}

/* Adds the edge by which the hop is left. */
static void add_edge(struct walker *w, const struct hop_row *hop)
{
    const struct segment_row *seg = walk_segment(w->t, w->at);
    struct walk_edge edge = {hop->owner, hop->back, hop->link};
    bool last_of_segment = w->at.step + 1u == seg->n_hops;
    int64_t wire_fs = hop->wire_fs + (last_of_segment ? walk_extra_fs(w->t, w->at) : 0);
    bool into_memory = seg->exit == EXIT_END && w->at.step + 2u == seg->n_hops;
    double gbs = into_memory ? cost_last_gbs(w->mask, cost_memory(w->t, w->trip->dst, w->writes))
                             : hop->gbs + w->mask->link_gbs;

    w->row.last = walk_link(w->t, edge, w->at.cube, w->trip);
    if (!w->begun)
        w->row.first = w->row.last;
    note_shares(w, seg->first_hop + w->at.step);
    w->begun = true;
    w->row.wire_fs += wire_fs & w->mask->wire;
    w->row.gbs = gbs < w->row.gbs ? gbs : w->row.gbs;
}

/* On to the next node. */
static void step(struct walker *w)
{
    if (++w->at.step == walk_segment(w->t, w->at)->n_hops) {
        w->at = walk_next(w->t, w->trip, w->at);
        w->segment++;
    }
}

static enum channel_end end_at(const struct walker *w, const struct hop_row *hop)
{
    if (hop->owner == LINK_NONE)
        return END_MEMORY;
    if (node_component(w->t, hop, w->at.cube))
        return END_NODE;
    return kind_of(w, hop) == NODE_M_CPU ? END_M_CPU : END_ROUTER;
}

/* The next channel, into w->row; false behind the last. */
static bool next(struct walker *w)
{
    if (hop_at(w)->owner == LINK_NONE)
        return false;
    w->row = (struct channel_row){.gbs = (double)INFINITY};
    w->begun = false;
    for (;;) {
        const struct hop_row *hop = hop_at(w);

        add_edge(w, hop);
        step(w);
        hop = hop_at(w);
        w->row.end = (uint8_t)end_at(w, hop);
        if (w->row.end != END_ROUTER || stops(w->t, hop, w->at.cube, w->trip))
            break;
        w->row.wire_fs += (hop->cross_fs & w->mask->wire) + overhead_fs(w, hop);
    }
    if (w->row.end == END_MEMORY)
        return true;
    w->row.cross_fs = hop_at(w)->cross_fs & w->mask->wire;
    w->row.node_fs = overhead_fs(w, hop_at(w)) + w->row.cross_fs;
    w->back_fs = overhead_back_fs(w, hop_at(w)) + w->row.cross_fs;
    return true;
}

static struct walker begin(const struct kb_topology *t, const struct cost_mask *m,
                           const struct trip *trip, bool writes)
{
    struct walker w = {.t = t, .mask = m, .trip = trip, .writes = writes};

    w.at = walk_begin(t, trip);
    w.source_fs = overhead_fs(&w, hop_at(&w));
    return w;
}

static bool add_row(struct channels *c, const struct walker *w)
{
    enum { FIRST_ROOM = 16 };

    if (c->n == c->cap) {
        uint32_t cap = c->cap ? 2 * c->cap : FIRST_ROOM;
        struct channel_row *more = realloc(c->rows, cap * sizeof *more);

        if (!more)
            return false;
        c->rows = more;
        c->cap = cap;
    }
    c->rows[c->n] = w->row;
    c->rows[c->n].port = w->row.first;
    c->rows[c->n++].back_fs = w->back_fs;
    return true;
}

/* -- and back ------------------------------------------------------------------------------- */

static void reverse(struct channels *c)
{
    for (uint32_t i = 0; i < c->n / 2; i++) {
        struct channel_row row = c->rows[i];

        c->rows[i] = c->rows[c->n - 1 - i];
        c->rows[c->n - 1 - i] = row;
    }
    for (uint32_t i = 0; i < c->n; i++) {
        struct channel_row *row = &c->rows[i];
        size_t first = row->first;

        row->first = row->last ^ 1;
        row->last = first ^ 1;
        if (i + 1 < c->n) {
            row->node_fs = c->rows[i + 1].back_fs;
            row->cross_fs = c->rows[i + 1].cross_fs;
            row->end = c->rows[i + 1].end;
        } else {
            row->node_fs = row->cross_fs = 0;
            row->end = END_SINK;
        }
    }
    for (uint32_t i = 0; i < c->n; i++)
        c->rows[i].port = i == 0 ? c->rows[i].last : c->rows[i].first;
    if (c->n_to_m_cpu)
        c->n_to_m_cpu = c->n - c->n_to_m_cpu;
}

/* -- VCs ------------------------------------------------------------------------------------ */

/* Does the boundary behind a segment lead on in the same mesh, of cubes or of SIPs? */
static bool goes_on(const struct kb_topology *t, struct route_at at)
{
    return walk_segment(t, at)->exit < t->ports ||
           (!t->regular && t->fabric_shape == FABRIC_GRID && at.segment >= t->seg_cross &&
            at.segment < t->seg_arrive);
}

static bool add_place(struct channels *c, struct route_at at)
{
    enum { FIRST_ROOM = 16 };

    if (c->n_places == c->places_room) {
        uint32_t room = c->places_room ? 2 * c->places_room : FIRST_ROOM;
        struct route_place *more = realloc(c->places, room * sizeof *more);

        if (!more)
            return false;
        c->places = more;
        c->places_room = room;
    }
    c->places[c->n_places++] = (struct route_place){.at = at};
    return true;
}

/* The segments of a route, and the datelines before and behind each: as gen/channels.c has them. */
static bool find_places(struct channels *c, const struct kb_topology *t, const struct trip *trip)
{
    struct route_place *p;
    uint32_t n;

    c->n_places = 0;
    for (struct route_at at = walk_begin(t, trip);; at = walk_next(t, trip, at)) {
        if (!add_place(c, at))
            return false;
        if (walk_segment(t, at)->exit == EXIT_END)
            break;
    }
    p = c->places;
    n = c->n_places;
    if (t->port_rows) {
        vcs_find_links(t, p, n);
        return true;
    }
    for (uint32_t i = 1; i < n; i++)
        p[i].before = (uint8_t)vcs_crossed_after(t, p[i - 1].at, p[i - 1].before);
    for (uint32_t i = n; i-- > 0;)
        if (i + 2 < n && goes_on(t, p[i].at) && goes_on(t, p[i + 1].at))
            p[i].after = (uint8_t)(p[i + 1].after | vcs_dateline(t, p[i + 1].at));
    return true;
}

/* The datelines behind an answer on the edge of hop `hop` of segment `i`. */
static uint32_t crossed_by_answer(const struct channels *c, const struct kb_topology *t, uint32_t i,
                                  uint32_t hop)
{
    const struct segment_row *seg = walk_segment(t, c->places[i].at);
    uint32_t after = c->places[i].after;

    if (hop == seg->first_hop && i > 0 && walk_segment(t, c->places[i - 1].at)->exit == exit_io(t))
        return CROSSED_X | CROSSED_Y; /* ashore */
    if (hop + 1 == seg->first_hop + seg->n_hops || !goes_on(t, c->places[i].at))
        return after;
    return after | vcs_dateline(t, c->places[i].at);
}

/* Does the part of the trip in the SIP of `cube` go round something? */
static bool is_detour(const struct kb_topology *t, const struct trip *trip, uint32_t cube)
{
    struct walk_part part = walk_part_of(t, trip, cube);

    return trip->back ? vcs_is_detour(t, trip->plane, part.last, part.first)
                      : vcs_is_detour(t, trip->plane, part.first, part.last);
}

/* What says which VCs packets may own: of each channel its first edge in the direction of travel.
 */
static void set_shares(struct channels *c, const struct kb_topology *t, const struct trip *trip,
                       bool answers)
{
    for (uint32_t i = 0; t->vcs_vary && i < c->n; i++) {
        struct channel_row *row = &c->rows[i];
        uint32_t hop = answers ? row->last_hop : row->first_hop;
        uint32_t segment = answers ? row->last_segment : row->first_segment;
        struct route_at at = c->places[segment].at;
        uint32_t cube = at.cube;

        row->share = answers ? t->answer_shares[hop] : t->request_shares[hop];
        row->crossed =
            (uint8_t)(answers ? crossed_by_answer(c, t, segment, hop) : c->places[segment].before);
        if (row->share & VCS_BY_LINKS)
            row->crossed = (uint8_t)vcs_part_of_links(
                t, c->places, c->n_places, segment, hop - walk_segment(t, at)->first_hop, answers);
        row->detour = row->share & VCS_BY_DETOUR && is_detour(t, trip, cube);
    }
}

bool channels_find(struct channels *c, const struct kb_topology *t, const struct cost_mask *m,
                   const struct trip *trip, bool writes, bool answers)
{
    struct walker w = begin(t, m, trip, writes);

    c->n = c->n_to_m_cpu = 0;
    c->source_fs = w.source_fs;
    if (t->vcs_vary && !find_places(c, t, trip))
        return false;
    while (next(&w)) {
        if (!add_row(c, &w))
            return false;
        if (w.row.end == END_M_CPU)
            c->n_to_m_cpu = c->n;
    }
    set_shares(c, t, trip, answers);
    if (answers)
        reverse(c);
    return true;
}

void channels_free(struct channels *c)
{
    free(c->rows);
    free(c->places);
}

/* What channels add to the wires of a trip, and what they take of a way back. */
struct passed {
    int64_t extra_fs, return_fs;
};

static struct passed pass(struct walker w)
{
    struct passed sum = {0, 0};

    while (next(&w)) {
        sum.extra_fs += channel_fs(w.row.wire_fs) - w.row.wire_fs;
        sum.return_fs += channel_fs(w.row.wire_fs) + w.row.node_fs;
    }
    return sum;
}

/* Of reads: the way back of the data, without what the ends cost. */
void cost_add_router(const struct kb_topology *t, const struct cost_mask *m,
                     const struct trip *trip, bool writes, struct kb_cost *cost)
{
    struct trip request = cost_request(t, trip);
    struct passed there = pass(begin(t, m, &request, true)), back = there;

    cost->wire_fs += there.extra_fs;
    if (writes)
        return;
    if (request.back != trip->back)
        back = pass(begin(t, m, trip, true));
    cost->return_fs += back.return_fs;
    cost->response_fs = 0;
}
