/* route.c -- routes, found by walking the graph name by name; docs/model.md "Routes". */
#include "judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A walk through the graph; what it has passed is in `r`. */
struct walk {
    const struct judge_topo *t;
    struct judge_route *r;
    uint32_t plane, way;
    bool backwards;     /* against the data, which go the way of a one-way plane */
    bool no_way;        /* between two cubes of its plane */
    bool on_noc;        /* of its cube, which it leaves to the next node */
    uint32_t sip, cube; /* where it is */
};

/* Adds the wire of crossing a NoC, the last hop so far, from the node before it to `to`. */
static void cross_noc(struct walk *w, const struct judge_node *to)
{
    struct judge_hop *noc = &w->r->hops[w->r->n - 1];
    const struct judge_node *from = &w->t->nodes[w->r->hops[w->r->n - 2].node];

    noc->wire_fs += judge_wire_fs(w->t, fabs(from->x_mm - to->x_mm) + fabs(from->y_mm - to->y_mm));
}

/* The edge from the hop before, or the one back if there is only that. `second`: of two links. */
static void find_edges(struct walk *w, struct judge_hop *hop, uint32_t second)
{
    const struct judge_hop *last = &w->r->hops[w->r->n - 1];
    const struct judge_edge *e;

    hop->edge = judge_find_edge(w->t, last->node, hop->node, second);
    hop->back = judge_find_edge(w->t, hop->node, last->node, second);
    if (hop->edge == SIZE_MAX && (!w->backwards || hop->back == SIZE_MAX))
        judge_die("a route goes from %s to %s without an edge", last->name, hop->name);
    e = &w->t->edges[hop->edge == SIZE_MAX ? hop->back : hop->edge];
    hop->wire_fs = judge_wire_fs(w->t, e->distance_mm) + judge_ns(e->latency_ns);
    hop->edge_gbs = e->bw_gbs;
}

static void go_to_by(struct walk *w, const char *name, uint32_t second)
{
    struct judge_route *r = w->r;
    struct judge_hop hop = {.edge = SIZE_MAX, .back = SIZE_MAX};

    hop.node = judge_find_node(w->t, name);
    if (hop.node == SIZE_MAX)
        judge_die("a route leads to %s, which is no node", name);
    strcpy(hop.name, name);
    hop.overhead_fs = w->t->nodes[hop.node].overhead_fs;
    if (r->n > 0) {
        find_edges(w, &hop, second);
        if (w->t->nodes[r->hops[r->n - 1].node].is_noc)
            cross_noc(w, &w->t->nodes[hop.node]);
    }
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 32;
        r->hops = judge_grow(r->hops, r->room, sizeof *r->hops);
    }
    r->hops[r->n++] = hop;
}

/* The next node of the walk, which must be a neighbour of the last one. */
static void go_to(struct walk *w, const char *name)
{
    go_to_by(w, name, 0);
}

static void cross_mesh(struct walk *w, const char *to);

static void go(struct walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* go_to() with the name inside the cube where the walk is: "m_cpu", "xbar.pe%u" */
static void go(struct walk *w, const char *format, ...)
{
    char inside[JUDGE_NAME_BYTES], name[JUDGE_NAME_BYTES];
    va_list args;

    va_start(args, format);
    judge_vname(inside, format, args);
    va_end(args);
    if (w->sip == w->t->sips && strcmp(inside, "noc") == 0)
        judge_name(name, "fabric.switch%u", w->cube);
    else if (w->sip == w->t->sips)
        judge_name(name, "fabric.switch%u.%s", w->cube, inside);
    else
        judge_name(name, "sip%u.cube%u.%s", w->sip, w->cube, inside);
    if (w->on_noc)
        cross_mesh(w, name);
    go_to(w, name);
}

/* The same with a node of the route's plane. */
static void go_on_plane(struct walk *w, const char *node)
{
    const char *plane = w->t->plane[w->plane].name;

    go(w, "%s%s%s", node, *plane ? "." : "", plane);
}

/* The place of the mesh that a node meets. */
static uint32_t place_of(const struct walk *w, const char *name)
{
    const struct judge_node *n = &w->t->nodes[judge_find_node(w->t, name)];
    double mm;

    return judge_nearest_place(w->t, n->x_mm, n->y_mm, &mm);
}

/* Over the mesh of the cube, from the node before it to the node behind it: as requests do, on
 * one-way planes, too. */
static void cross_mesh(struct walk *w, const char *to)
{
    uint32_t *places = judge_alloc(judge_mesh_places(w->t), sizeof *places);
    uint32_t first = place_of(w, w->r->hops[w->r->n - 1].name), last = place_of(w, to);
    size_t n = judge_mesh_way(w->t, first, last, places);

    w->on_noc = false;
    if (n == 0)
        judge_die("a mesh of two parts");
    for (size_t i = 0; i < n; i++) {
        char name[JUDGE_NAME_BYTES];

        judge_mesh_name(w->t, places[i], name);
        go_on_plane(w, name);
    }
    free(places);
}

/* Onto the NoC of the cube. A mesh is crossed when it is known where to. */
static void go_noc(struct walk *w)
{
    if (judge_has_mesh(w->t, w->sip))
        w->on_noc = true;
    else
        go_on_plane(w, "noc");
}

static void go_ucie(struct walk *w, char side)
{
    char node[] = "ucie-N";

    if (w->t->net) { /* the one side of its IO chiplet */
        go(w, "port.io");
        return;
    }
    node[5] = side;
    go_on_plane(w, node);
}

/* The same with a name of one of the SIP's IO chiplets. */
static void go_io(struct walk *w, uint32_t chiplet, const char *node)
{
    char name[JUDGE_NAME_BYTES];

    judge_name(name, "sip%u.io%u.%s", w->sip, chiplet, node);
    go_to(w, name);
}

/* -- over the mesh -------------------------------------------------------------------------- */

/* From the NoC of a cube to the NoC of its neighbour on that side. */
static void step(struct walk *w, char side)
{
    bool wrapped;

    go_ucie(w, side);
    if (!judge_beside(w->t, w->cube, side, &w->cube, &wrapped))
        judge_die("a route leaves the mesh");
    go_ucie(w, judge_opposite(side));
    go_noc(w);
}

/* Out of the cube by a port, and into the one at the other end of its link. */
static void step_net(struct walk *w, uint32_t port)
{
    const struct judge_port *p = judge_port(w->t, w->sip, w->cube, port);

    go(w, "port%u", port);
    w->sip = p->other_sip;
    w->cube = p->other;
    go(w, "port%u", p->other_port);
    go_noc(w);
}

/* The same as go_over_mesh(), of a net: to a cube of any SIP. */
static void go_over_net(struct walk *w, uint32_t sip, uint32_t to)
{
    const struct judge_port **way;
    size_t here = judge_place_of(w->t, w->sip, w->cube), there = judge_place_of(w->t, sip, to);
    int64_t weight;
    uint32_t n = judge_net_way(w->t, w->backwards ? there : here, w->backwards ? here : there,
                               w->way, &way, &weight);

    if (n == UINT32_MAX) {
        w->no_way = true;
        w->sip = sip;
        w->cube = to;
    }
    for (uint32_t i = 0; n != UINT32_MAX && i < n; i++) {
        const struct judge_port *p = way[w->backwards ? n - 1 - i : i];

        for (uint32_t port = 0; !w->backwards; port++)
            if (judge_port(w->t, w->sip, w->cube, port) == p) {
                step_net(w, port);
                break;
            }
        if (w->backwards)
            step_net(w, p->other_port);
    }
    free(way);
}

/* From the NoC of a cube to that of another one of its SIP. */
static void go_over_mesh(struct walk *w, uint32_t to)
{
    char *way = NULL;
    uint32_t n;

    if (w->t->net) {
        go_over_net(w, w->sip, to);
        return;
    }
    if (w->backwards) /* the way of the data, from its end */
        n = judge_way(w->t, w->plane, w->sip, to, w->cube, &way);
    else
        n = judge_way(w->t, w->plane, w->sip, w->cube, to, &way);
    if (n == UINT32_MAX) {
        w->no_way = true;
        w->cube = to;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        step(w, w->backwards ? judge_opposite(way[n - 1 - i]) : way[i]);
    free(way);
}

/* From the io_noc of a chiplet to the NoC of `cube`; from there to the io_noc. */
static void go_ashore(struct walk *w, uint32_t chiplet, uint32_t cube)
{
    uint32_t shore = judge_shore_cube(w->t, w->plane, chiplet, w->sip, cube, !w->backwards);

    if (shore == UINT32_MAX) {
        w->no_way = true;
        return;
    }
    w->cube = shore;
    go_ucie(w, judge_chiplet_side(w->t, chiplet));
    go_noc(w);
    go_over_mesh(w, cube);
}

static void go_off_shore(struct walk *w)
{
    uint32_t shore = judge_shore_cube(w->t, w->plane, 0, w->sip, w->cube, w->backwards);

    if (shore == UINT32_MAX) {
        w->no_way = true;
        return;
    }
    go_over_mesh(w, shore);
    go_ucie(w, judge_chiplet_side(w->t, 0));
    go_io(w, 0, "io_noc");
}

/* -- between SIPs --------------------------------------------------------------------------- */

/* From pcie_ep to pcie_ep of a grid; a step costs the fabric's overhead in the one it leads to. */
static void go_over_grid(struct walk *w, uint32_t sip)
{
    int64_t fabric_fs = llround(judge_number(w->t, "fabric.overhead_ns") * 1e6);
    uint32_t begin = w->sip;
    char side;

    while ((side = judge_sip_towards(w->t, begin, w->sip, sip))) {
        char name[JUDGE_NAME_BYTES];
        bool wrapped;

        if (!judge_sip_beside(w->t, w->sip, side, &w->sip, &wrapped))
            judge_die("a route leaves the grid of SIPs");
        judge_name(name, "sip%u.io0.pcie_ep", w->sip);
        go_to_by(w, name, wrapped);
        w->r->hops[w->r->n - 1].overhead_fs += fabric_fs;
    }
}

/* From the NoC of a cube of one SIP to that of a cube of another. */
static void go_to_sip(struct walk *w, uint32_t sip, uint32_t cube)
{
    if (judge_has_rails(w->t)) {
        go_over_net(w, sip, cube);
        return;
    }
    go_off_shore(w);
    if (w->no_way)
        return;
    go_io(w, 0, "pcie_ep");
    if (strcmp(judge_text(w->t, "fabric.shape"), "grid") == 0) {
        go_over_grid(w, sip);
    } else {
        go_to(w, "fabric.switch0");
        w->sip = sip;
        go_io(w, 0, "pcie_ep");
    }
    go_io(w, 0, "io_noc");
    go_ashore(w, 0, cube);
}

/* -- from end to end ------------------------------------------------------------------------ */

/* Along the crossbars of one half, from the one the walk has just entered. */
static void go_chain(struct walk *w, uint32_t from, uint32_t to)
{
    while (from < to)
        go(w, "xbar.pe%u", ++from);
    while (from > to)
        go(w, "xbar.pe%u", --from);
}

/* `bridge` is NULL inside a half. */
static void local_route(struct walk *w, const struct judge_end *src, const struct judge_end *dst,
                        const char *bridge)
{
    uint32_t all = judge_crossbars(w->t, w->sip, w->cube), half = (all + 1) / 2;
    uint32_t to = judge_crossbar_of(w->t, w->sip, w->cube, dst->unit);
    bool left = bridge && strcmp(bridge, "left") == 0;
    uint32_t at = src->unit;

    go(w, "pe%u.pe_dma", src->unit);
    go(w, "xbar.pe%u", src->unit);
    if (bridge) {
        go_chain(w, at, at < half ? (left ? 0 : half - 1) : (left ? half : all - 1));
        go(w, "bridge.%s", bridge);
        at = to < half ? (left ? 0 : half - 1) : (left ? half : all - 1);
        go(w, "xbar.pe%u", at);
    }
    go_chain(w, at, to);
    go(w, "hbm_ctrl.slice%u", dst->unit);
}

static int64_t sum_fs(const struct judge_route *r)
{
    int64_t fs = 0;

    for (size_t i = 0; i < r->n; i++)
        fs += r->hops[i].wire_fs + r->hops[i].overhead_fs;
    return fs;
}

/* A slice of the PE's own cube. */
static void own_slice(struct walk *w, const struct judge_end *src, const struct judge_end *dst)
{
    uint32_t half = (judge_crossbars(w->t, w->sip, w->cube) + 1) / 2;
    uint32_t to = judge_crossbar_of(w->t, w->sip, w->cube, dst->unit);
    struct judge_route right = {0};
    struct walk other = *w;

    if ((src->unit < half) == (to < half)) {
        local_route(w, src, dst, NULL);
        return;
    }
    other.r = &right;
    local_route(w, src, dst, "left");
    local_route(&other, src, dst, "right");
    if (sum_fs(&right) < sum_fs(w->r)) {
        judge_route_clear(w->r);
        *w->r = right;
    } else {
        judge_route_clear(&right);
    }
}

/* From a PE to its L2. */
static void to_l2(struct walk *w, const struct judge_end *src)
{
    go(w, "pe%u.pe_dma", src->unit);
    go(w, "l2");
}

/* From the NoC of the target's cube into the memory. */
static void into_memory(struct walk *w, const struct judge_end *dst)
{
    if (dst->kind == JUDGE_SRAM) {
        go(w, "sram");
    } else if (dst->kind == JUDGE_SLICE) {
        go(w, "xbar.pe%u", judge_crossbar_of(w->t, w->sip, w->cube, dst->unit));
        go(w, "hbm_ctrl.slice%u", dst->unit);
    } else {
        go(w, "pe%u.pe_dma", dst->unit);
        go(w, "pe%u.pe_tcm", dst->unit);
    }
}

/* A remote slice, any SRAM, another PE's TCM. */
static void over_noc(struct walk *w, const struct judge_end *src, const struct judge_end *dst)
{
    if (src->kind == JUDGE_L2)
        go(w, "l2");
    else
        go(w, "pe%u.pe_dma", src->unit);
    go_noc(w);
    if (src->sip != dst->sip)
        go_to_sip(w, dst->sip, dst->cube);
    else
        go_over_mesh(w, dst->cube);
    if (!w->no_way)
        into_memory(w, dst);
}

/* From a host over the m_cpu to the NoC of the target's cube. */
static void through_m_cpu(struct walk *w, uint32_t chiplet, const struct judge_end *dst)
{
    go_io(w, chiplet, "pcie_ep");
    go_io(w, chiplet, "io_noc");
    go_io(w, chiplet, "io_cpu");
    go_io(w, chiplet, "io_noc");
    go_ashore(w, chiplet, dst->cube);
    if (w->no_way)
        return;
    go(w, "m_cpu");
    go_noc(w);
}

static bool is_port(const char *name)
{
    return strstr(name, ".ucie-") || strstr(name, ".port");
}

static void sum_up(struct judge_route *r, bool response)
{
    r->bottleneck_gbs = INFINITY;
    for (size_t i = 0; i < r->n; i++) {
        const struct judge_hop *h = &r->hops[i];

        r->wire_fs += h->wire_fs;
        r->overhead_fs += h->overhead_fs;
        if (i > 0 && h->edge_gbs < r->bottleneck_gbs)
            r->bottleneck_gbs = h->edge_gbs;
        if (response)
            r->response_fs += h->wire_fs + (is_port(h->name) ? h->overhead_fs : 0);
    }
}

static bool same_cube(const struct judge_end *a, const struct judge_end *b)
{
    return a->sip == b->sip && a->cube == b->cube;
}

/* Latency of a slice or SRAM, which counts as overhead of the memory. */
static int64_t latency_fs(const struct judge_topo *t, const struct judge_end *dst)
{
    const char *key = dst->kind == JUDGE_SLICE ? "cube.hbm.latency_ns" : "cube.sram.latency_ns";

    if (dst->kind == JUDGE_TCM)
        return 0;
    if (dst->kind == JUDGE_L2)
        key = "cube.l2.latency_ns";
    return llround(judge_cube_number(t, dst->sip, dst->cube, key) * 1e6);
}

bool judge_goes_one_way(const struct judge_topo *t, const struct judge_end *src,
                        const struct judge_end *dst)
{
    return src->sip != dst->sip && judge_has_rails(t) ? t->rails_one_way : t->plane[0].one_way;
}

bool judge_route_on(const struct judge_topo *t, uint32_t course, enum judge_op op,
                    const struct judge_end *src, const struct judge_end *dst, struct judge_route *r)
{
    uint32_t plane = t->net ? 0 : course;
    struct walk w = {.t = t,
                     .r = r,
                     .plane = plane,
                     .way = t->net ? course : 0,
                     .sip = src->sip,
                     .cube = src->cube};
    bool host = op == JUDGE_H2D || op == JUDGE_D2H;

    judge_route_clear(r);
    w.backwards = (op == JUDGE_READ || op == JUDGE_D2H) &&
                  (t->net ? judge_goes_one_way(t, src, dst) : t->plane[plane].one_way);
    if (host) {
        if (src->kind != JUDGE_HOST || dst->kind != JUDGE_SLICE || src->sip != dst->sip)
            return false;
        through_m_cpu(&w, src->unit, dst);
        if (!w.no_way)
            into_memory(&w, dst);
    } else {
        if ((src->kind != JUDGE_PE && src->kind != JUDGE_L2) || dst->kind == JUDGE_PE ||
            dst->kind == JUDGE_HOST)
            return false;
        if (dst->kind == JUDGE_TCM && same_cube(src, dst) && src->unit == dst->unit)
            return false;
        if (dst->kind == JUDGE_L2)
            to_l2(&w, src);
        else if (dst->kind == JUDGE_SLICE && same_cube(src, dst) &&
                 !judge_has_l2(t, src->sip, src->cube))
            own_slice(&w, src, dst);
        else
            over_noc(&w, src, dst);
        if (dst->kind == JUDGE_TCM && op == JUDGE_READ && !w.no_way)
            r->hops[r->n - 1].edge_gbs =
                judge_cube_number(t, dst->sip, dst->cube, "cube.pe.pe_tcm.read_gbs");
    }
    if (w.no_way) {
        judge_route_clear(r);
        return false;
    }
    r->latency_fs = latency_fs(t, dst);
    r->hops[r->n - 1].overhead_fs += r->latency_fs;
    sum_up(r, host);
    return true;
}

bool judge_request_on(const struct judge_topo *t, uint32_t course, enum judge_op op,
                      const struct judge_end *src, const struct judge_end *dst,
                      struct judge_route *r)
{
    if (t->is_router && t->net && op == JUDGE_READ && judge_goes_one_way(t, src, dst))
        course = 0; /* of several ways the first */
    if (t->is_router)
        op = op == JUDGE_D2H || op == JUDGE_H2D ? JUDGE_H2D : JUDGE_WRITE;
    return judge_route_on(t, course, op, src, dst, r);
}

bool judge_route(const struct judge_topo *t, enum judge_op op, const struct judge_end *src,
                 const struct judge_end *dst, struct judge_route *r)
{
    bool write = op == JUDGE_WRITE || op == JUDGE_H2D;

    return judge_route_on(t, write ? 0 : t->planes - 1, op, src, dst, r);
}

void judge_launch_route(const struct judge_topo *t, const struct judge_end *pe,
                        struct judge_route *r)
{
    struct walk w = {.t = t, .r = r, .sip = pe->sip, .cube = pe->cube};

    judge_route_clear(r);
    through_m_cpu(&w, 0, pe);
    if (w.no_way)
        judge_die("a PE that no launch reaches");
    go(&w, "pe%u.pe_cpu", pe->unit);
    r->hops[r->n - 1].overhead_fs = 0; /* paid by every command instead */
    sum_up(r, true);
}

void judge_route_clear(struct judge_route *r)
{
    free(r->hops);
    memset(r, 0, sizeof *r);
}
