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
    uint32_t sip, cube; /* where it is */
};

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);

    return n >= e && strcmp(name + n - e, end) == 0;
}

/* Adds the wire of crossing a NoC, the last hop so far, from the node before it to `to`. */
static void cross_noc(struct walk *w, const struct judge_node *to)
{
    struct judge_hop *noc = &w->r->hops[w->r->n - 1];
    const struct judge_node *from = &w->t->nodes[w->r->hops[w->r->n - 2].node];

    noc->wire_fs += judge_wire_fs(w->t, fabs(from->x_mm - to->x_mm) + fabs(from->y_mm - to->y_mm));
}

/* The next node of the walk, which must be a neighbour of the last one. */
static void go_to(struct walk *w, const char *name)
{
    struct judge_route *r = w->r;
    struct judge_hop hop = {.edge = SIZE_MAX};

    hop.node = judge_find_node(w->t, name);
    if (hop.node == SIZE_MAX)
        judge_die("a route leads to %s, which is no node", name);
    strcpy(hop.name, name);
    hop.overhead_fs = w->t->nodes[hop.node].overhead_fs;
    if (r->n > 0) {
        const struct judge_hop *last = &r->hops[r->n - 1];

        hop.edge = judge_find_edge(w->t, last->node, hop.node);
        if (hop.edge == SIZE_MAX)
            judge_die("a route goes from %s to %s without an edge", last->name, name);
        hop.wire_fs = judge_wire_fs(w->t, w->t->edges[hop.edge].distance_mm);
        hop.edge_gbs = w->t->edges[hop.edge].bw_gbs;
        if (ends_in(last->name, ".noc"))
            cross_noc(w, &w->t->nodes[hop.node]);
    }
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 32;
        r->hops = judge_grow(r->hops, r->room, sizeof *r->hops);
    }
    r->hops[r->n++] = hop;
}

static void go(struct walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* go_to() with the name inside the cube where the walk is: "ucie-%c", "xbar.pe%u" */
static void go(struct walk *w, const char *format, ...)
{
    char name[JUDGE_NAME_BYTES];
    int len = snprintf(name, sizeof name, "sip%u.cube%u.", w->sip, w->cube);
    va_list args;

    va_start(args, format);
    vsnprintf(name + len, sizeof name - (size_t)len, format, args);
    va_end(args);
    go_to(w, name);
}

/* The same with a name of the SIP's IO chiplet. */
static void go_io(struct walk *w, const char *node)
{
    char name[JUDGE_NAME_BYTES];

    snprintf(name, sizeof name, "sip%u.io0.%s", w->sip, node);
    go_to(w, name);
}

/* -- over the mesh -------------------------------------------------------------------------- */

/* From the NoC of a cube to the NoC of its neighbour. */
static void step(struct walk *w, char out, char in, uint32_t neighbour)
{
    go(w, "ucie-%c", out);
    w->cube = neighbour;
    go(w, "ucie-%c", in);
    go(w, "noc");
}

static void go_x(struct walk *w, uint32_t column)
{
    uint32_t width = judge_count(w->t, "sip.cube_mesh.w");

    while (w->cube % width < column)
        step(w, 'E', 'W', w->cube + 1);
    while (w->cube % width > column)
        step(w, 'W', 'E', w->cube - 1);
}

static void go_y(struct walk *w, uint32_t row)
{
    uint32_t width = judge_count(w->t, "sip.cube_mesh.w");

    while (w->cube / width < row)
        step(w, 'S', 'N', w->cube + width);
    while (w->cube / width > row)
        step(w, 'N', 'S', w->cube - width);
}

/* From the io_noc to the NoC of `cube`: onto the shore in its row, then by X. */
static void go_ashore(struct walk *w, uint32_t cube)
{
    uint32_t width = judge_count(w->t, "sip.cube_mesh.w");

    w->cube = cube / width * width;
    go(w, "ucie-W");
    go(w, "noc");
    go_x(w, cube % width);
}

/* From the NoC of a cube of one SIP to that of a cube of another. */
static void go_to_sip(struct walk *w, uint32_t sip, uint32_t cube)
{
    go_x(w, 0);
    go(w, "ucie-W");
    go_io(w, "io_noc");
    go_io(w, "pcie_ep");
    go_to(w, "fabric.switch0");
    w->sip = sip;
    go_io(w, "pcie_ep");
    go_io(w, "io_noc");
    go_ashore(w, cube);
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
    uint32_t pes = judge_count(w->t, "cube.pes"), half = pes == 1 ? 1 : pes / 2;
    uint32_t at = src->unit;

    go(w, "pe%u.pe_dma", src->unit);
    go(w, "xbar.pe%u", src->unit);
    if (bridge) {
        uint32_t end = strcmp(bridge, "left") == 0 ? 0 : half - 1;

        go_chain(w, at, at / half * half + end);
        go(w, "bridge.%s", bridge);
        at = dst->unit / half * half + end;
        go(w, "xbar.pe%u", at);
    }
    go_chain(w, at, dst->unit);
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
    uint32_t pes = judge_count(w->t, "cube.pes"), half = pes == 1 ? 1 : pes / 2;
    struct judge_route right = {0};
    struct walk other = *w;

    if (src->unit / half == dst->unit / half) {
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

/* A remote slice, any SRAM, another PE's TCM. */
static void over_noc(struct walk *w, const struct judge_end *src, const struct judge_end *dst)
{
    uint32_t width = judge_count(w->t, "sip.cube_mesh.w");

    go(w, "pe%u.pe_dma", src->unit);
    go(w, "noc");
    if (src->sip != dst->sip) {
        go_to_sip(w, dst->sip, dst->cube);
    } else {
        go_x(w, dst->cube % width);
        go_y(w, dst->cube / width);
    }
    if (dst->kind == JUDGE_SRAM) {
        go(w, "sram");
    } else if (dst->kind == JUDGE_SLICE) {
        go(w, "xbar.pe%u", dst->unit);
        go(w, "hbm_ctrl.slice%u", dst->unit);
    } else {
        go(w, "pe%u.pe_dma", dst->unit);
        go(w, "pe%u.pe_tcm", dst->unit);
    }
}

/* From the host over the m_cpu to the NoC of the target's cube. */
static void through_m_cpu(struct walk *w, const struct judge_end *dst)
{
    go_io(w, "pcie_ep");
    go_io(w, "io_noc");
    go_io(w, "io_cpu");
    go_io(w, "io_noc");
    go_ashore(w, dst->cube);
    go(w, "m_cpu");
    go(w, "noc");
}

static void from_host(struct walk *w, const struct judge_end *dst)
{
    through_m_cpu(w, dst);
    go(w, "xbar.pe%u", dst->unit);
    go(w, "hbm_ctrl.slice%u", dst->unit);
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
            r->response_fs += h->wire_fs + (strstr(h->name, ".ucie-") ? h->overhead_fs : 0);
    }
}

static bool same_cube(const struct judge_end *a, const struct judge_end *b)
{
    return a->sip == b->sip && a->cube == b->cube;
}

bool judge_route(const struct judge_topo *t, enum judge_op op, const struct judge_end *src,
                 const struct judge_end *dst, struct judge_route *r)
{
    struct walk w = {.t = t, .r = r, .sip = src->sip, .cube = src->cube};
    bool host = op == JUDGE_H2D || op == JUDGE_D2H;

    judge_route_clear(r);
    if (host) {
        if (src->kind != JUDGE_HOST || dst->kind != JUDGE_SLICE || src->sip != dst->sip)
            return false;
        from_host(&w, dst);
    } else {
        if (src->kind != JUDGE_PE || dst->kind == JUDGE_PE || dst->kind == JUDGE_HOST)
            return false;
        if (dst->kind == JUDGE_TCM && same_cube(src, dst) && src->unit == dst->unit)
            return false;
        if (dst->kind == JUDGE_SLICE && same_cube(src, dst))
            own_slice(&w, src, dst);
        else
            over_noc(&w, src, dst);
        if (dst->kind == JUDGE_TCM && op == JUDGE_READ)
            r->hops[r->n - 1].edge_gbs = judge_number(t, "cube.pe.pe_tcm.read_gbs");
    }
    sum_up(r, host);
    return true;
}

void judge_launch_route(const struct judge_topo *t, const struct judge_end *pe,
                        struct judge_route *r)
{
    struct walk w = {.t = t, .r = r, .sip = pe->sip, .cube = pe->cube};

    judge_route_clear(r);
    through_m_cpu(&w, pe);
    go(&w, "pe%u.pe_cpu", pe->unit);
    r->hops[r->n - 1].overhead_fs = 0; /* paid by every command instead */
    sum_up(r, true);
}

void judge_route_clear(struct judge_route *r)
{
    free(r->hops);
    memset(r, 0, sizeof *r);
}
