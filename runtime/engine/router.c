/* router.c -- memory of a network of routers: ports, pools, and the ways that are remembered.
 *
 * The constants of a port are set when the first way leads over it.
 *
 * Ways are remembered in a table of WAYS places, by a hash of both ends: a way that finds its place
 * taken takes it over. A way is freed when nothing uses it any more.
 */
#include "engine/router.h"
#include "engine/router_order.h"
#include "engine/router_tally.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rows.h"
#include "machine/place.h"

/* Room of each VC at the end of a channel; 0: without a limit. */
static uint32_t room_of(const struct kb_topology *t, const struct channel_row *row, uint32_t dst)
{
    if (row->end == END_M_CPU)
        return 0;
    if (row->end != END_MEMORY)
        return t->buffer_bytes; /* the router where an answer ends has one for what passes */
    return unit_is_slice(t, dst_unit(t, dst)) ? kind_at(t, dst_cube(t, dst))->queue_bytes : 0;
}

/* The time of a whole segment at `gbs`, if it is a whole number of fs: then all take that long. */
static uint64_t segment_fs(uint32_t segment_bytes, double gbs)
{
    double fs = segment_bytes * 1e6 / gbs;

    return fs < 9e15 && fs == floor(fs) && fma(fs, gbs, -(segment_bytes * 1e6)) == 0 ? (uint64_t)fs
                                                                                     : 0;
}

/* Can ways begin at such a node? */
static bool is_source(enum node_kind kind)
{
    return kind == NODE_PE_DMA || kind == NODE_M_CPU || kind == NODE_PCIE_EP ||
           kind == NODE_HBM_CTRL || kind == NODE_SRAM || kind == NODE_PE_TCM;
}

/* What a router takes of a segment that is not the first of its packet, if of that it takes `fs`.
 */
static int64_t behind_alloc(const struct router *r, int64_t fs)
{
    return fs > r->alloc_fs ? fs - r->alloc_fs : 0;
}

/* What a segment that goes on by the port spends before it at least, less the 1 fs of its channel.
 * Memories and m_cpus are ends: nothing goes on there. */
static void set_lead(struct kb_sim *s, struct out_port *port, const struct channel_row *row)
{
    const struct kb_topology *t = s->topo;
    const struct node_row *at;
    size_t node[2];

    router_edge_nodes(t, row->first, node);
    at = walk_node_row(t, node[0]);
    port->begins = is_source((enum node_kind)at->kind);
    port->is_end = port->begins && at->kind != NODE_PCIE_EP;
    port->lead_fs = 0;
    if (port->is_end && at->kind != NODE_PE_DMA)
        port->lead_fs = EV_PAST;
    else if (node[0] < walk_first_io_node(t) && !(t->impls && t->impls->nodes))
        port->lead_fs = (uint64_t)behind_alloc(s->router, at->overhead_fs & s->mask.overhead);
}

static uint32_t end_node_of(const struct kb_topology *t, const struct channel_row *row)
{
    size_t node[2];

    router_edge_nodes(t, row->last, node);
    return (uint32_t)node[1];
}

static void set_port(struct kb_sim *s, const struct channel_row *row, uint32_t index, uint32_t lane,
                     uint32_t dst)
{
    const struct kb_topology *t = s->topo;
    struct out_port *port = &s->router->ports[index];
    uint32_t room = room_of(t, row, dst);

    if (port->known)
        return;
    port->known = true;
    port->gbs = row->gbs;
    port->wire_fs = row->wire_fs;
    port->end_edge = (uint32_t)row->last;
    port->end_node = end_node_of(t, row);
    port->link = (uint32_t)row->port;
    port->order = router_order_of(t, row, lane);
    set_lead(s, port, row);
    port->rank = router_rank_of_input(t, row->last, lane);
    port->endless = room == 0 || s->options.costs_off & KB_COST_BUFFERS;
    for (uint32_t i = 0; i < s->router->n_vcs; i++)
        s->router->vcs[index * s->router->n_vcs + i].credits = room;
}

/* -- ways ----------------------------------------------------------------------------------- */

static void set_vcs(const struct kb_topology *t, struct way_row *to, const struct channel_row *row,
                    bool answers, uint32_t prio)
{
    uint32_t group = prio < t->prios ? prio : t->prios - 1u;
    uint32_t n = answers ? t->answer_vcs : t->request_vcs;
    struct vc_range range = vcs_range(t, row->share, n, t->prios, group, row->crossed, row->detour);

    to->vc = (uint8_t)(range.first + (answers ? t->request_vcs : 0u));
    to->n_vcs = (uint8_t)(range.end - range.first);
}

static void set_sums(struct way *way, const struct channels *c)
{
    way->n_to_m_cpu = c->n_to_m_cpu;
    way->source_fs = c->source_fs;
    way->gbs = (double)INFINITY;
    for (uint32_t i = 0; i < c->n; i++) {
        way->delay_fs[i >= c->n_to_m_cpu && c->n_to_m_cpu] +=
            channel_fs(c->rows[i].wire_fs) + c->rows[i].node_fs;
        way->extra_fs += channel_fs(c->rows[i].wire_fs) - c->rows[i].wire_fs;
        way->return_fs += channel_fs(c->rows[i].wire_fs) + c->rows[i].node_fs;
        way->gbs = c->rows[i].gbs < way->gbs ? c->rows[i].gbs : way->gbs;
    }
}

/* Components have each packet ask them. */
static void set_components(const struct kb_topology *t, struct way *way, const struct channels *c)
{
    size_t node[2];

    way->source = NO_NODE;
    if (!t->impls || !t->impls->nodes)
        return;
    router_edge_nodes(t, c->rows[0].first, node);
    if (component_at(t, node[0]))
        way->source = (uint32_t)node[0];
    way->overheads = (int64_t *)&way->rows[c->n];
    for (uint32_t i = 0; i < c->n; i++)
        way->overheads[i] = c->rows[i].node_fs - c->rows[i].cross_fs;
}

/* The first way says how long segments take. */
static void set_pace(struct router *r, double gbs)
{
    if (!r->paced)
        agenda_set_width(&r->agenda, (uint64_t)drain_fs(r->segment_bytes, gbs));
    r->paced = true;
}

static struct way *make_way(struct kb_sim *s, const struct txn *txn, bool answers, uint64_t turn)
{
    const struct kb_topology *t = s->topo;
    struct channels *c = &s->router->scratch;
    struct trip trip = txn_trip(t, txn);
    struct way *way;

    if (!answers)
        trip = cost_request(t, &trip);
    if (!channels_find(c, t, &s->mask, &trip, txn_writes(txn), answers))
        return NULL;
    way = calloc(1, sizeof *way + c->n * (sizeof way->rows[0] + sizeof way->overheads[0]));
    if (!way)
        return NULL;
    set_sums(way, c);
    set_components(t, way, c);
    set_pace(s->router, way->gbs);
    way->n = c->n;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct channel_row *row = &c->rows[i];
        uint32_t lane = (uint32_t)(turn % router_lanes(s->router, row->port));
        uint32_t port = router_port(s->router, row->port, lane);

        set_port(s, row, port, lane, txn->dst);
        way->rows[i] = (struct way_row){
            .port = port,
            .end = row->end,
            .endless = row->end == END_SINK || s->router->ports[port].endless,
            .ready_fs = row->node_fs,
            .next_fs =
                row->end == END_ROUTER ? behind_alloc(s->router, row->node_fs) : row->node_fs,
            .gbs = row->gbs};
        if (i && way->rows[i - 1].end != END_M_CPU && c->rows[i - 1].gbs < row->gbs)
            way->rows[i].gbs = c->rows[i - 1].gbs;
        way->rows[i].segment_fs = segment_fs(t->segment_bytes, way->rows[i].gbs);
        set_vcs(t, &way->rows[i], row, answers, txn->prio);
    }
    return way;
}

void router_leave_way(struct way *way)
{
    if (way && --way->users == 0)
        free(way);
}

struct way *router_way(struct kb_sim *s, uint32_t slot, bool answers)
{
    const struct txn *x = &s->txns[slot];
    uint32_t key = x->course | (uint32_t)x->chiplet << 6 | (uint32_t)x->prio << 8 |
                   (uint32_t)txn_of_host(x) << 10 | txn_writes(x) << 11 | (uint32_t)answers << 12;
    uint64_t turn = ((uint64_t)x->id + (s->splits ? s->splits[slot].number : 0)) % s->router->turns;
    uint32_t hash = (x->src * 0x9e3779b1u ^ x->dst * 0x85ebca6bu ^ key * 0xc2b2ae35u) +
                    (uint32_t)turn * 0x27d4eb2fu;
    struct way **place = &s->router->ways[(hash ^ hash >> 16) % WAYS];

    if (!*place || (*place)->src != x->src || (*place)->dst != x->dst || (*place)->key != key ||
        (*place)->turn != turn) {
        struct way *way = make_way(s, x, answers, turn);

        if (!way)
            return NULL;
        way->src = x->src;
        way->dst = x->dst;
        way->key = key;
        way->turn = turn;
        way->users = 1;
        router_leave_way(*place);
        *place = way;
    }
    (*place)->users++;
    return *place;
}

/* -- rings and pools ------------------------------------------------------------------------ */

bool vc_room(struct vc *vc)
{
    return ring_grow(&vc->rows, &vc->room, vc->first, vc->n, sizeof *vc->rows);
}

bool vc_due_room(struct vc *vc)
{
    return ring_grow(&vc->due, &vc->due_room, vc->due_first, vc->n_due, sizeof *vc->due);
}

bool parcel_room(struct parcel *p)
{
    return rows_grow(&p->rows, &p->room, p->room + 1, sizeof *p->rows);
}

/* Each pool has a list of free rows, by `next`. */
#define POOL(name, field, count, free_row)                                                         \
    uint32_t router_new_##name(struct router *r)                                                   \
    {                                                                                              \
        uint32_t row = r->free_row;                                                                \
                                                                                                   \
        if (row == UINT32_MAX) {                                                                   \
            uint32_t n = r->count;                                                                 \
                                                                                                   \
            if (!rows_grow(&r->field, &r->count, n + 1, sizeof *r->field))                         \
                return UINT32_MAX;                                                                 \
            for (uint32_t i = r->count; i-- > n;) {                                                \
                r->field[i].next = r->free_row;                                                    \
                r->free_row = i;                                                                   \
            }                                                                                      \
            row = r->free_row;                                                                     \
        }                                                                                          \
        r->free_row = r->field[row].next;                                                          \
        return row;                                                                                \
    }

POOL(parcel, parcels, n_parcels, free_parcel)
POOL(arrival, arrivals, n_arrivals, free_arrival)
POOL(note, notes, n_notes, free_note)

/* -- the whole ------------------------------------------------------------------------------ */

static void clear_port(struct router *r, size_t i)
{
    struct out_port *port = &r->ports[i];
    bool known = port->known;

    if (known)
        for (uint32_t v = 0; v < r->n_vcs; v++) {
            struct vc *vc = &r->vcs[i * r->n_vcs + v];

            free(vc->rows);
            free(vc->due);
        }
    memset(&r->vcs[i * r->n_vcs], 0, r->n_vcs * sizeof *r->vcs);
    for (uint32_t v = 0; v < r->n_vcs; v++) {
        r->vcs[i * r->n_vcs + v].out_vc = NO_VC;
        r->vcs[i * r->n_vcs + v].port = (uint32_t)i;
    }
    *port = (struct out_port){
        .asked_fs = ROUTER_NEVER, .inputs = NO_INPUT, .source = NO_PARCEL, .source_vc = NO_VC};
}

static void forget_ways(struct router *r)
{
    for (uint32_t i = 0; r->ways && i < WAYS; i++) {
        router_leave_way(r->ways[i]);
        r->ways[i] = NULL;
    }
}

void router_clear(struct kb_sim *s)
{
    struct router *r = s->router;

    for (uint32_t i = 0; i < r->n_flights; i++)
        router_leave_way(r->flights[i].way);
    if (r->n_flights)
        memset(r->flights, 0, r->n_flights * sizeof *r->flights);
    forget_ways(r);
    if (r->tally)
        router_tally_clear(r->tally);
    for (size_t i = 0; i < r->n_ports; i++)
        clear_port(r, i);
    agenda_clear(&r->agenda);
    r->wake_fs = ROUTER_NEVER;
    r->paced = false;
    memset(r->sinks, 0, ((size_t)sim_cubes(s->topo) << s->topo->unit_bits) * sizeof *r->sinks);
}

/* Lanes of the link of a station; of one that this kind of cubes does not have 1. */
static uint32_t lanes_at(const struct kb_topology *t, size_t station)
{
    size_t link = station / 2;
    uint32_t lanes = 1;

    if (station < walk_io_links(t))
        lanes = walk_cube_link(t, (uint32_t)(link / t->n_cube_links),
                               (uint32_t)(link % t->n_cube_links))
                    ->lanes[station & 1];
    return lanes ? lanes : 1;
}

/* Lanes of all links beside the first of each. */
static uint64_t count_more_lanes(const struct kb_topology *t)
{
    uint64_t n = 0;

    for (size_t i = 0; i < walk_io_links(t); i++)
        n += lanes_at(t, i) - 1;
    return n;
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;

    while (y) {
        uint64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/*
 * Each lane of a link but the first has a port behind those of all stations. Ways are alike for
 * transactions whose numbers leave the same rest by all numbers of lanes.
 */
static bool number_lanes(const struct kb_topology *t, struct router *r)
{
    size_t n = walk_n_links(t);
    uint32_t more = 0;

    r->n_links = r->n_ports = n;
    r->turns = 1;
    if (count_more_lanes(t) == 0)
        return true;
    r->more_lanes = calloc(n + 1, sizeof *r->more_lanes);
    if (!r->more_lanes)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t lanes = lanes_at(t, i);

        r->more_lanes[i] = more;
        more += lanes - 1;
        if (r->turns <= UINT32_MAX)
            r->turns = common_multiple(r->turns, lanes);
    }
    r->more_lanes[n] = more;
    r->n_ports += more;
    return true;
}

uint64_t router_bytes(const struct kb_topology *t)
{
    const struct router *r = NULL; /* for sizes alone */
    uint64_t vcs = (uint64_t)t->request_vcs + t->answer_vcs;
    uint64_t ports = walk_n_links(t) + count_more_lanes(t);

    return ports * (sizeof *r->ports + vcs * sizeof *r->vcs) +
           ((uint64_t)sim_cubes(t) << t->unit_bits) * sizeof *r->sinks;
}

bool router_new(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    struct router *r = calloc(1, sizeof *r);
    size_t n;

    s->router = r;
    if (!r || !number_lanes(t, r))
        return false;
    n = r->n_ports;
    r->n_vcs = t->request_vcs + t->answer_vcs;
    r->segment_bytes = t->segment_bytes;
    r->packet_segments = t->packet_bytes ? t->packet_bytes / t->segment_bytes : UINT32_MAX;
    r->speedup = t->input_speedup;
    r->alloc_fs = t->vc_alloc_fs & s->mask.overhead;
    r->by_turns = t->arbiter == ARBITER_RR;
    r->wake_fs = ROUTER_NEVER;
    r->ports = rows_new(n, sizeof *r->ports);
    r->vcs = rows_new(n * r->n_vcs, sizeof *r->vcs);
    r->sinks = rows_new((size_t)sim_cubes(t) << t->unit_bits, sizeof *r->sinks);
    r->ways = calloc(WAYS, sizeof(struct way *));
    r->free_parcel = r->free_arrival = r->free_note = UINT32_MAX;
    agenda_clear(&r->agenda);
    if (s->options.buffers)
        r->tally = router_tally_new(s);
    if (!r->ports || !r->vcs || !r->sinks || !r->ways || (s->options.buffers && !r->tally))
        return false;
    for (size_t i = 0; i < n; i++)
        clear_port(r, i);
    return true;
}

bool router_room(struct kb_sim *s, uint32_t n)
{
    struct router *r = s->router;

    if (r->n_flights >= n)
        return true;
    if (!rows_widen(&r->flights, r->n_flights, n, sizeof *r->flights))
        return false;
    r->n_flights = n;
    return true;
}

void router_free(struct kb_sim *s)
{
    struct router *r = s->router;

    if (!r)
        return;
    for (uint32_t i = 0; i < r->n_flights; i++)
        router_leave_way(r->flights[i].way);
    forget_ways(r);
    for (size_t i = 0; r->ports && r->vcs && i < r->n_ports; i++)
        clear_port(r, i);
    for (uint32_t i = 0; i < r->n_parcels; i++)
        free(r->parcels[i].rows);
    channels_free(&r->scratch);
    agenda_free(&r->agenda);
    router_tally_free(r->tally);
    free(r->more_lanes);
    free(r->ports);
    free(r->vcs);
    free(r->flights);
    free(r->sinks);
    free(r->parcels);
    free(r->arrivals);
    free(r->notes);
    free(r->ways);
    free(r);
    s->router = NULL;
}
