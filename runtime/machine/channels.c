/* channels.c -- goes along a route hop by hop, and merges its edges to channels. */
#include "machine/channels.h"
#include <math.h>
#include <stdlib.h>

/* -- which nodes are routers ---------------------------------------------------------------- */

/* Has `cube` a link of `plane` on `side`, in either direction? */
static bool has_link(const struct kb_topology *t, uint32_t plane, uint32_t cube, uint32_t side)
{
    return mesh_has_link(t, plane, cube, side) || mesh_has_back_link(t, plane, cube, side);
}

/* Does a chiplet stand at `side` of `cube`, on the border of its SIP? */
static bool is_on_shore(const struct kb_topology *t, uint32_t cube, uint32_t side)
{
    for (uint32_t i = 0; i < t->chiplets; i++)
        if (t->io_sides[i] == side && mesh_at_border(t, cube, side))
            return true;
    return false;
}

/* Cubes that are there along the shore of a chiplet, over all SIPs. */
static uint32_t shore_cubes(const struct kb_topology *t, uint32_t chiplet)
{
    uint32_t sip = chiplet / t->chiplets, n = 0;

    for (uint32_t place = 0; place < mesh_shore_length(t, chiplet % t->chiplets); place++)
        n += mesh_has_cube(t, mesh_on_shore(t, chiplet % t->chiplets, sip * t->cubes, place));
    return n;
}

static bool io_stops(const struct kb_topology *t, uint32_t node, uint32_t chiplet)
{
    bool others = t->sips > 1 && chiplet % t->chiplets == 0;

    if (node == IO_NOC)
        return others || t->planes > 1 || shore_cubes(t, chiplet) > 1;
    return node == IO_PCIE_EP && others;
}

static bool cube_stops(const struct kb_topology *t, uint32_t cube, uint32_t node)
{
    const struct kind_row *kind = kind_at(t, cube);
    uint32_t ucie = node - walk_ucie(t, 0, 0);

    switch (walk_cube_node(t, cube, node)->kind) {
    case NODE_XBAR:
        return kind->crossbars != 1 || kind->slices != 1;
    case NODE_BRIDGE:
        return false;
    case NODE_UCIE:
        return t->wrap != WRAP_NONE && is_on_shore(t, cube, ucie / t->planes) &&
               has_link(t, ucie % t->planes, cube, ucie / t->planes);
    default:
        return true;
    }
}

static bool stops(const struct kb_topology *t, const struct hop_row *hop, uint32_t cube,
                  const struct trip *trip)
{
    if (hop->chiplet == AT_CUBE)
        return cube_stops(t, cube, hop->node);
    if (hop->chiplet == AT_FABRIC)
        return t->sips > 2;
    return io_stops(t, hop->node, walk_chiplet(t, trip, cube, hop->chiplet == AT_IO_TO));
}

/* -- halves of VCs -------------------------------------------------------------------------- */

/*
 * On a ring a packet owns the lower half of its VCs up to and on the step that closes the ring, and
 * the upper half behind it. The rings: cubes in a row, in a column, the crossbar of a cube with its
 * bridges, SIPs in a row, in a column.
 */
enum { RING_X = 1, RING_Y = 2, RING_BARS = 4, RING_SIPS_X = 8, RING_SIPS_Y = 16 };

/* The edge leads from a cube to its neighbour at `exit`. */
static void step_to_cube(struct channel_row *row, const struct kb_topology *t, uint32_t cube,
                         uint32_t exit)
{
    bool y = side_is_vertical(exit);

    if (!(t->wrap >> y & 1))
        return;
    row->rings |= y ? RING_Y : RING_X;
    if (mesh_at_border(t, cube, exit))
        row->closes |= y ? RING_Y : RING_X;
}

/* The same of SIPs in a grid. */
static void step_to_sip(struct channel_row *row, const struct kb_topology *t, uint32_t sip,
                        uint32_t side)
{
    bool y = side_is_vertical(side);
    uint32_t n = y ? t->grid_h : t->grid_w, at = y ? sip / t->grid_w : sip % t->grid_w;

    if (!(t->grid_wrap >> y & 1))
        return;
    row->rings |= y ? RING_SIPS_Y : RING_SIPS_X;
    if (at == (side == SIDE_E || side == SIDE_S ? n - 1 : 0))
        row->closes |= y ? RING_SIPS_Y : RING_SIPS_X;
}

/* The side by which an edge leaves a SIP of a grid; N_SIDES: it does not. */
static uint32_t side_of_sip(const struct kb_topology *t, const struct hop_row *hop)
{
    if (t->fabric_shape != FABRIC_GRID)
        return N_SIDES;
    if (hop->owner == LINK_IO_WEST || hop->owner == LINK_IO_NORTH)
        return hop->owner == LINK_IO_WEST ? SIDE_W : SIDE_N;
    if (hop->owner != LINK_IO || (hop->link != IO_LINK_FABRIC && hop->link + 1u != t->n_io_links))
        return N_SIDES;
    return hop->link == IO_LINK_FABRIC ? SIDE_E : SIDE_S;
}

/* Each SIP that a route passes has rings of its own. */
static void set_halves(struct channels *c)
{
    unsigned closed = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        struct channel_row *row = &c->rows[i];

        row->half = !row->rings ? HALF_ALL : closed & row->rings ? HALF_UPPER : HALF_LOWER;
        closed |= row->closes;
        if (row->leaves_sip)
            closed &= RING_SIPS_X | RING_SIPS_Y;
    }
}

/* -- along a route -------------------------------------------------------------------------- */

struct walker {
    const struct kb_topology *t;
    const struct cost_mask *mask;
    const struct trip *trip;
    struct route_at at;
    struct channel_row row; /* the one in work */
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

/* Adds the edge by which the hop is left. */
static void add_edge(struct walker *w, const struct hop_row *hop)
{
    const struct segment_row *seg = walk_segment(w->t, w->at);
    struct walk_edge edge = {hop->owner, hop->back, hop->link};
    bool last_of_segment = w->at.step + 1u == seg->n_hops;
    int64_t wire_fs = hop->wire_fs + (last_of_segment ? walk_extra_fs(w->t, w->at) : 0);
    bool into_memory = seg->exit == N_EXITS && w->at.step + 2u == seg->n_hops;
    double gbs = into_memory ? cost_last_gbs(w->mask, cost_memory(w->t, w->trip->dst, w->writes))
                             : hop->gbs + w->mask->link_gbs;

    w->row.last = walk_link(w->t, edge, w->at.cube, w->trip);
    if (!w->begun)
        w->row.first = w->row.last;
    w->begun = true;
    w->row.wire_fs += wire_fs & w->mask->wire;
    w->row.gbs = gbs < w->row.gbs ? gbs : w->row.gbs;
    if (last_of_segment && seg->exit < N_SIDES)
        step_to_cube(&w->row, w->t, w->at.cube, seg->exit);
    if (side_of_sip(w->t, hop) != N_SIDES)
        step_to_sip(&w->row, w->t, w->at.cube / w->t->cubes, side_of_sip(w->t, hop));
    w->row.leaves_sip |= hop->chiplet != AT_CUBE;
}

/* On to the next node. */
static void step(struct walker *w)
{
    if (++w->at.step == walk_segment(w->t, w->at)->n_hops)
        w->at = walk_next(w->t, w->trip, w->at);
}

/* Crossbar nodes and bridges are a ring of a cube with two rows of them. */
static void step_to_bar(struct walker *w, enum node_kind from, enum node_kind to)
{
    bool bars =
        (from == NODE_XBAR || from == NODE_BRIDGE) && (to == NODE_XBAR || to == NODE_BRIDGE);

    if (bars && kind_at(w->t, w->at.cube)->crossbars >= 2)
        w->row.rings |= RING_BARS;
    if (bars && to == NODE_BRIDGE)
        w->row.closes |= RING_BARS;
}

static enum channel_end end_at(enum node_kind kind, bool is_memory)
{
    return is_memory ? END_MEMORY : kind == NODE_M_CPU ? END_M_CPU : END_ROUTER;
}

/* The next channel, into w->row; false behind the last. */
static bool next(struct walker *w)
{
    enum node_kind from = kind_of(w, hop_at(w)), to;

    if (hop_at(w)->owner == LINK_NONE)
        return false;
    w->row = (struct channel_row){.gbs = (double)INFINITY};
    w->begun = false;
    for (;; from = to) {
        const struct hop_row *hop = hop_at(w);

        add_edge(w, hop);
        step(w);
        hop = hop_at(w);
        to = kind_of(w, hop);
        step_to_bar(w, from, to);
        w->row.end = (uint8_t)end_at(to, hop->owner == LINK_NONE);
        if (w->row.end != END_ROUTER || stops(w->t, hop, w->at.cube, w->trip))
            break;
        w->row.wire_fs += (hop->cross_fs & w->mask->wire) + overhead_fs(w, hop);
    }
    if (w->row.end == END_MEMORY)
        return true;
    w->row.node_fs = overhead_fs(w, hop_at(w)) + (hop_at(w)->cross_fs & w->mask->wire);
    w->back_fs = overhead_back_fs(w, hop_at(w)) + (hop_at(w)->cross_fs & w->mask->wire);
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
    c->rows[c->n++].back_fs = w->back_fs;
    return true;
}

bool channels_find(struct channels *c, const struct kb_topology *t, const struct cost_mask *m,
                   const struct trip *trip, bool writes)
{
    struct walker w = begin(t, m, trip, writes);

    c->n = c->n_to_m_cpu = 0;
    c->source_fs = w.source_fs;
    while (next(&w)) {
        if (!add_row(c, &w))
            return false;
        if (w.row.end == END_M_CPU)
            c->n_to_m_cpu = c->n;
    }
    set_halves(c);
    return true;
}

/* -- and back ------------------------------------------------------------------------------- */

void channels_reverse(struct channels *c)
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
            row->end = c->rows[i + 1].end;
        } else {
            row->node_fs = 0;
            row->end = END_SINK;
        }
    }
    if (c->n_to_m_cpu)
        c->n_to_m_cpu = c->n - c->n_to_m_cpu;
    set_halves(c);
}

void channels_free(struct channels *c)
{
    free(c->rows);
}

/* Of reads: the way back is as long, without what the ends cost. */
void cost_add_router(const struct kb_topology *t, const struct cost_mask *m,
                     const struct trip *trip, bool writes, struct kb_cost *cost)
{
    struct walker w = begin(t, m, trip, true);

    while (next(&w)) {
        cost->wire_fs += channel_fs(w.row.wire_fs) - w.row.wire_fs;
        if (!writes)
            cost->return_fs += channel_fs(w.row.wire_fs) + w.row.node_fs;
    }
    if (!writes)
        cost->response_fs = 0;
}
