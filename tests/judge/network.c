/* network.c -- which nodes are routers, and the channels between them; docs/network.md. */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool names(const struct judge_topo *t, size_t node, const char *part)
{
    return strstr(t->nodes[node].name, part) != NULL;
}

/* -- a way: nodes and edges in the order in which something passes them ---------------------- */

struct judge_way_nodes judge_way_of(const struct judge_route *r, size_t from, size_t to,
                                    bool backwards)
{
    size_t n = to - from + 1;
    struct judge_way_nodes w = {judge_alloc(n, sizeof(size_t)),
                                judge_alloc(n, sizeof(judge_way_edge)), n};

    for (size_t i = 0; i < n; i++) {
        size_t at = backwards ? to - i : from + i;
        const struct judge_hop *h = &r->hops[backwards ? at : at + 1];

        w.nodes[i] = r->hops[at].node;
        if (i + 1 == n)
            break;
        if (backwards)
            w.edges[i] = h->back != SIZE_MAX ? 2 * h->back : 2 * h->edge + 1;
        else
            w.edges[i] = h->edge != SIZE_MAX ? 2 * h->edge : 2 * h->back + 1;
    }
    return w;
}

void judge_clear_way(struct judge_way_nodes *w)
{
    free(w->nodes);
    free(w->edges);
}

static const struct judge_edge *edge_at(const struct judge_topo *t, judge_way_edge edge)
{
    return &t->edges[edge / 2];
}

bool judge_is_fabric_step(const struct judge_topo *t, const struct judge_way_nodes *w, size_t i)
{
    return names(t, w->nodes[i], ".pcie_ep") && names(t, w->nodes[i + 1], ".pcie_ep");
}

/* Overhead of node `i` of a way, neither its first nor its last, and the crossing of a NoC. */
static int64_t delay_at(const struct judge_topo *t, const struct judge_way_nodes *w, size_t i)
{
    const struct judge_node *n = &t->nodes[w->nodes[i]], *a = &t->nodes[w->nodes[i - 1]];
    const struct judge_node *b = &t->nodes[w->nodes[i + 1]];
    int64_t fs = n->overhead_fs;

    if (n->is_noc)
        fs += judge_wire_fs(t, fabs(a->x_mm - b->x_mm) + fabs(a->y_mm - b->y_mm));
    if (judge_is_fabric_step(t, w, i - 1))
        fs += llround(judge_number(t, "fabric.overhead_ns") * 1e6);
    return fs;
}

/* -- routers --------------------------------------------------------------------------------- */

/* How a node is passed: by which edge in, by which edge out. */
struct pass {
    judge_way_edge in, out;
};

enum { NOT_AN_EDGE = -1 }; /* its own source or sink */

struct passes {
    struct pass *list;
    size_t n;
};

static void add_pass(struct passes *p, judge_way_edge in, judge_way_edge out)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].in == in && p->list[i].out == out)
            return;
    p->list = judge_grow(p->list, p->n + 1, sizeof *p->list);
    p->list[p->n++] = (struct pass){in, out};
}

/* An m_cpu ends the way of what a host sends, and begins another. */
static void add_way(const struct judge_topo *t, const struct judge_route *r, bool backwards,
                    void *arg)
{
    struct judge_way_nodes w = judge_way_of(r, 0, r->n - 1, backwards);
    struct passes *all = arg;

    for (size_t i = 0; i < w.n; i++) {
        judge_way_edge in = i > 0 ? w.edges[i - 1] : (size_t)NOT_AN_EDGE;
        judge_way_edge out = i + 1 < w.n ? w.edges[i] : (size_t)NOT_AN_EDGE;

        if (!names(t, w.nodes[i], ".m_cpu"))
            add_pass(&all[w.nodes[i]], in, out);
    }
    judge_clear_way(&w);
}

/* What is done with each way. */
struct visit {
    judge_visit *way;
    void *arg;
};

static void add_pair(const struct judge_topo *t, const struct visit *v, const struct judge_end *src,
                     const struct judge_end *dst)
{
    bool host = src->kind == JUDGE_HOST;
    bool first = host || (src->sip != dst->sip && !judge_has_rails(t));
    uint32_t courses = !t->net ? t->planes : first ? 1 : judge_net_ways(t);
    struct judge_route r = {0};

    for (uint32_t plane = 0; plane < courses; plane++) {
        if (judge_route_on(t, plane, host ? JUDGE_H2D : JUDGE_WRITE, src, dst, &r))
            v->way(t, &r, false, v->arg);
        if (judge_route_on(t, plane, host ? JUDGE_D2H : JUDGE_READ, src, dst, &r))
            v->way(t, &r, true, v->arg);
        judge_route_clear(&r);
    }
}

static void add_target(const struct judge_topo *t, const struct visit *all,
                       const struct judge_end *dst)
{
    for (size_t i = 0; i < t->n_pes; i++)
        add_pair(t, all, &t->pes[i], dst);
    for (uint32_t io = 0; judge_chiplet_side(t, io); io++)
        add_pair(t, all, &(struct judge_end){JUDGE_HOST, dst->sip, 0, io}, dst);
}

void judge_each_way(const struct judge_topo *t, judge_visit *way, void *arg)
{
    const struct visit visit = {way, arg}, *all = &visit;

    for (uint32_t s = 0; s < t->sips; s++)
        for (uint32_t c = 0; c < t->cubes; c++) {
            if (!judge_has_cube(t, s, c))
                continue;
            for (uint32_t i = 0; i < judge_slices(t, s, c); i++)
                add_target(t, all, &(struct judge_end){JUDGE_SLICE, s, c, i});
            if (!judge_is_switch(t, s, c))
                add_target(t, all, &(struct judge_end){JUDGE_SRAM, s, c, 0});
        }
    for (size_t i = 0; i < t->n_pes; i++) {
        struct judge_end tcm = t->pes[i];

        tcm.kind = JUDGE_TCM;
        add_target(t, all, &tcm);
    }
}

/* The crossbar node of a cube with one of them and one slice: all that it does is to be there, if
 * its edges have as many servers. */
static bool is_part_of_slice(const struct judge_topo *t, size_t node)
{
    unsigned sip, cube;

    if (!names(t, node, ".xbar.") || sscanf(t->nodes[node].name, "sip%u.cube%u.", &sip, &cube) != 2)
        return false;
    if (judge_cube_count(t, sip, cube, "cube.pes") > 0 &&
        judge_cube_count(t, sip, cube, "cube.hbm.ports") !=
            judge_cube_count(t, sip, cube, "cube.pe.pe_dma.ports"))
        return false;
    return judge_crossbars(t, sip, cube) == 1 && judge_slices(t, sip, cube) == 1;
}

/* A way that begins or ends has as many as the edge on its other side. */
static uint32_t lanes_of(const struct judge_topo *t, judge_way_edge edge)
{
    if (edge == (size_t)NOT_AN_EDGE)
        return 1;
    return edge % 2 ? edge_at(t, edge)->back_lanes : edge_at(t, edge)->lanes;
}

/* "an edge into it goes on by two, or an edge out of it is entered from two"; each lane is one */
static bool branches(const struct judge_topo *t, const struct passes *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (lanes_of(t, p->list[i].in) != lanes_of(t, p->list[i].out))
            return true;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < i; k++)
            if ((p->list[i].in == p->list[k].in) != (p->list[i].out == p->list[k].out))
                return true;
    return false;
}

void judge_find_routers(struct judge_topo *t)
{
    struct passes *all = judge_alloc(t->n_nodes, sizeof *all);

    judge_each_way(t, add_way, all);
    t->is_router = judge_alloc(t->n_nodes, sizeof *t->is_router);
    t->is_gate = judge_alloc(t->n_nodes, sizeof *t->is_gate);
    for (size_t i = 0; i < t->n_nodes; i++) {
        t->is_gate[i] = strcmp(judge_text(t, "cube.noc.impl"), "gate") == 0 && names(t, i, ".noc");
        t->is_router[i] = t->is_gate[i] || (branches(t, &all[i]) && !is_part_of_slice(t, i));
        free(all[i].list);
    }
    free(all);
}

void judge_go_up_down(struct judge_topo *t)
{
    if (t->up_down)
        return;
    t->up_down = true;
    judge_forget_ways(t);
    free(t->is_router);
    free(t->is_gate);
    judge_find_routers(t);
}

/* -- channels -------------------------------------------------------------------------------- */

static bool is_same(const struct judge_channel *c, const judge_way_edge *edges, size_t n)
{
    return c->n_edges == n && memcmp(c->edges, edges, n * sizeof *edges) == 0;
}

static struct judge_channel *new_channel(const struct judge_topo *t,
                                         const struct judge_way_nodes *w, size_t from, size_t to)
{
    struct judge_channel *c = judge_alloc(1, sizeof *c);

    c->n_edges = to - from;
    c->edges = judge_alloc(c->n_edges, sizeof *c->edges);
    c->nodes = judge_alloc(c->n_edges + 1, sizeof *c->nodes);
    memcpy(c->edges, &w->edges[from], c->n_edges * sizeof *c->edges);
    memcpy(c->nodes, &w->nodes[from], (c->n_edges + 1) * sizeof *c->nodes);
    c->gbs = INFINITY;
    for (size_t i = from; i < to; i++) {
        const struct judge_edge *e = edge_at(t, w->edges[i]);

        c->wire_fs += judge_wire_fs(t, e->distance_mm) + judge_ns(e->latency_ns);
        if (i > from)
            c->wire_fs += delay_at(t, w, i);
        if (e->bw_gbs < c->gbs)
            c->gbs = e->bw_gbs;
    }
    return c;
}

/* The channel of nodes `from` to `to` of a way. */
static struct judge_channel *channel_of(const struct judge_topo *t, struct judge_network *net,
                                        const struct judge_way_nodes *w, size_t from, size_t to,
                                        uint64_t number)
{
    size_t lane = (size_t)(number % lanes_of(t, w->edges[from]));
    struct judge_channel *c;

    if (!net->by_edge)
        net->by_edge = judge_alloc(2 * t->n_edges, sizeof *net->by_edge);
    for (c = net->by_edge[w->edges[from]]; c; c = c->same)
        if (is_same(c, &w->edges[from], to - from) && c->lane == lane)
            return c;
    c = new_channel(t, w, from, to);
    c->lane = lane;
    c->same = net->by_edge[w->edges[from]];
    net->by_edge[w->edges[from]] = c;
    if (net->n == net->room) {
        net->room = net->room ? 2 * net->room : 64;
        net->channels = judge_grow(net->channels, net->room, sizeof *net->channels);
    }
    return net->channels[net->n++] = c;
}

/* -- paths ----------------------------------------------------------------------------------- */

struct judge_path judge_find_path(const struct judge_topo *t, struct judge_network *net,
                                  const struct judge_route *r, size_t from, size_t to,
                                  bool backwards, uint64_t number)
{
    struct judge_way_nodes w = judge_way_of(r, from, to, backwards);
    struct judge_path path = {.links = judge_alloc(w.n, sizeof(struct judge_link))};
    struct judge_passed passed = {.sip = UINT32_MAX, .backwards = backwards};
    struct judge_way_nodes whole = judge_way_of(r, 0, r->n - 1, backwards);
    struct judge_link link = {0};
    size_t begin = 0, before = backwards ? r->n - 1 - to : from;

    for (size_t i = 0; t->net && i + 1 < whole.n; i++)
        if (judge_port_at(t, whole.nodes[i]) && judge_port_at(t, whole.nodes[i + 1])) {
            passed.all_links++;
            if (i < before)
                judge_pass_link(&passed, judge_port_at(t, whole.nodes[i]));
        }
    judge_clear_way(&whole);
    for (size_t i = 1; i < w.n; i++) {
        struct judge_share share = judge_share_of(t, &passed, &w, i - 1);

        if (link.share.parts < 2) /* edges that merge have that of the first that has one */
            link.share = share;
        if (i + 1 < w.n && !t->is_router[w.nodes[i]])
            continue;
        link.channel = channel_of(t, net, &w, begin, i, number);
        path.head_fs += link.delay_fs + (link.channel->wire_fs > 1 ? link.channel->wire_fs : 1);
        path.links[path.n++] = link;
        link = (struct judge_link){.delay_fs = i + 1 < w.n ? delay_at(t, &w, i) : 0,
                                   .node = w.nodes[i]};
        begin = i;
    }
    judge_clear_way(&w);
    return path;
}

/* -- the order of ports ---------------------------------------------------------------------- */

struct order {
    const struct judge_topo *t;
    size_t *order, next;
};

static void count_node(struct order *o, const char *name)
{
    size_t node = judge_find_node(o->t, name);

    if (node != SIZE_MAX)
        o->order[node] = o->next++;
}

static void count_in(struct order *o, uint32_t sip, uint32_t cube, const char *node, uint32_t i)
{
    char name[JUDGE_NAME_BYTES], inside[JUDGE_NAME_BYTES];

    judge_name(inside, node, i);
    judge_name(name, "sip%u.cube%u.%s", sip, cube, inside);
    count_node(o, name);
}

static void count_on_planes(struct order *o, uint32_t sip, uint32_t cube, const char *node)
{
    for (uint32_t plane = 0; plane < o->t->planes; plane++) {
        const char *of = o->t->plane[plane].name;
        char name[JUDGE_NAME_BYTES];

        judge_name(name, "sip%u.cube%u.%s%s%s", sip, cube, node, *of ? "." : "", of);
        count_node(o, name);
    }
}

/* A switch between SIPs: its noc, which has its name, then its ports. */
static void count_switch(struct order *o, uint32_t i)
{
    char name[JUDGE_NAME_BYTES];

    judge_name(name, "fabric.switch%u", i);
    count_node(o, name);
    for (uint32_t port = 0; port < 256; port++) {
        judge_name(name, "fabric.switch%u.port%u", i, port);
        count_node(o, name);
    }
}

/* "noc or routers row by row", of all planes in each place */
static void count_noc(struct order *o, uint32_t sip, uint32_t cube)
{
    if (!judge_has_mesh(o->t, sip)) {
        count_on_planes(o, sip, cube, "noc");
        return;
    }
    for (uint32_t i = 0; i < judge_mesh_places(o->t); i++) {
        char node[JUDGE_NAME_BYTES];

        judge_mesh_name(o->t, i, node);
        count_on_planes(o, sip, cube, node);
    }
}

static void count_cube(struct order *o, uint32_t sip, uint32_t cube)
{
    static const char *const of_pes[] = {"pe%u.pe_cpu",         "pe%u.pe_scheduler", "pe%u.pe_dma",
                                         "pe%u.pe_fetch_store", "pe%u.pe_gemm",      "pe%u.pe_math",
                                         "pe%u.pe_tcm"};

    count_noc(o, sip, cube);
    count_in(o, sip, cube, "m_cpu", 0);
    count_in(o, sip, cube, "sram", 0);
    for (uint32_t i = 0; o->t->net && i < 256; i++)
        count_in(o, sip, cube, "port%u", i);
    count_in(o, sip, cube, "port.io", 0);
    count_on_planes(o, sip, cube, "ucie-N");
    count_on_planes(o, sip, cube, "ucie-E");
    count_on_planes(o, sip, cube, "ucie-S");
    count_on_planes(o, sip, cube, "ucie-W");
    for (uint32_t i = 0; i < 64; i++)
        count_in(o, sip, cube, "xbar.pe%u", i);
    count_in(o, sip, cube, "bridge.left", 0);
    count_in(o, sip, cube, "bridge.right", 0);
    for (uint32_t i = 0; i < 64; i++)
        count_in(o, sip, cube, "hbm_ctrl.slice%u", i);
    for (uint32_t i = 0; i < 64; i++)
        for (size_t k = 0; k < sizeof of_pes / sizeof *of_pes; k++)
            count_in(o, sip, cube, of_pes[k], i);
}

/* "all cubes, SIP by SIP: ...; then each SIP's pcie_ep io_noc io_cpu; last the switch" */
static size_t *order_of(const struct judge_topo *t)
{
    static const char *const of_io[] = {"pcie_ep", "io_noc", "io_cpu"};
    struct order o = {.t = t, .order = judge_alloc(t->n_nodes, sizeof(size_t))};

    for (uint32_t s = 0; s < t->sips; s++)
        for (uint32_t c = 0; c < t->cubes; c++)
            if (judge_has_cube(t, s, c))
                count_cube(&o, s, c);
    for (uint32_t s = 0; s < t->sips; s++)
        for (uint32_t io = 0; judge_chiplet_side(t, io); io++)
            for (size_t i = 0; i < 3; i++) {
                char name[JUDGE_NAME_BYTES];

                judge_name(name, "sip%u.io%u.%s", s, io, of_io[i]);
                count_node(&o, name);
            }
    for (uint32_t i = 0; i < o.t->switches; i++)
        count_switch(&o, i);
    if (!o.t->switches)
        count_node(&o, "fabric.switch0");
    if (o.next != t->n_nodes)
        judge_die("a node without a number");
    return o.order;
}

/* "A node's ports in order of the next node": of the router or end that the channel leads to. */
static int by_place(const void *a, const void *b, void *arg)
{
    const struct judge_channel *x = *(struct judge_channel *const *)a;
    const struct judge_channel *y = *(struct judge_channel *const *)b;
    size_t x_to = x->nodes[x->n_edges], y_to = y->nodes[y->n_edges];
    const size_t *order = arg;

    if (x->nodes[0] != y->nodes[0])
        return order[x->nodes[0]] < order[y->nodes[0]] ? -1 : 1;
    if (x_to != y_to)
        return order[x_to] < order[y_to] ? -1 : 1;
    for (size_t i = 0; i < x->n_edges && i < y->n_edges; i++) {
        if (x->nodes[i + 1] != y->nodes[i + 1])
            return order[x->nodes[i + 1]] < order[y->nodes[i + 1]] ? -1 : 1;
        if (x->edges[i] != y->edges[i])
            return x->edges[i] < y->edges[i] ? -1 : 1;
    }
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return 0;
}

void judge_number_channels(const struct judge_topo *t, struct judge_network *net)
{
    net->order = order_of(t);
    if (net->n)
        qsort_r(net->channels, net->n, sizeof *net->channels, by_place, net->order);
    for (size_t i = 0; i < net->n; i++)
        net->channels[i]->number = i;
}

/* The side by which a router of a mesh inside a cube is entered; 0: by no other such router. */
static char side_of(const struct judge_topo *t, size_t before, size_t router)
{
    static const char sides[] = "EWSN";
    unsigned a[4], b[4];
    const int d[4][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}};

    if (sscanf(t->nodes[before].name, "sip%u.cube%u.r%uc%u", &a[0], &a[1], &a[2], &a[3]) != 4 ||
        sscanf(t->nodes[router].name, "sip%u.cube%u.r%uc%u", &b[0], &b[1], &b[2], &b[3]) != 4)
        return 0;
    for (int i = 0; i < 4; i++)
        if ((int)a[2] == (int)b[2] + d[i][0] && (int)a[3] == (int)b[3] + d[i][1])
            return sides[i];
    return 0;
}

/* "own source, E, W, S, N, others by number" */
size_t judge_turn(const struct judge_topo *t, const struct judge_network *net,
                  const struct judge_channel *c)
{
    static const char sides[] = "EWSN";
    size_t to = c->nodes[c->n_edges], before = c->nodes[c->n_edges - 1];
    bool port = t->net && names(t, before, ".port") && !names(t, to, ".port");
    const char *ucie = strstr(t->nodes[before].name, ".ucie-");
    char side = side_of(t, before, to);

    if (t->nodes[to].is_noc && ucie)
        side = ucie[6];
    if (!t->net && side)
        return (size_t)(strchr(sides, side) - sides);
    /* "own source, ports by number, others by number", and lanes in turn */
    return (4 + net->order[before] + (port ? 0 : t->n_nodes)) * 64 + c->lane;
}

void judge_network_clear(struct judge_network *net)
{
    for (size_t i = 0; i < net->n; i++) {
        free(net->channels[i]->edges);
        free(net->channels[i]->nodes);
        free(net->channels[i]);
    }
    free(net->channels);
    free(net->by_edge);
    free(net->order);
    memset(net, 0, sizeof *net);
}
