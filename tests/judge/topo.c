/* topo.c -- the topology as a graph of named nodes; after docs/formats.md and docs/machine.md. */
#include "cache.h"
#include "network.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* -- names ---------------------------------------------------------------------------------- */

struct name {
    char text[JUDGE_NAME_BYTES];
};

static struct name name_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct name name_of(const char *format, ...)
{
    struct name n;
    va_list args;

    va_start(args, format);
    judge_vname(n.text, format, args);
    va_end(args);
    return n;
}

/* A cube, and what names inside it begin with. */
struct cube {
    struct judge_topo *t;
    uint32_t sip, cube;
};

static struct name in_cube(const struct cube *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct name in_cube(const struct cube *c, const char *format, ...)
{
    char inside[JUDGE_NAME_BYTES];
    va_list args;

    va_start(args, format);
    judge_vname(inside, format, args);
    va_end(args);
    if (c->sip == c->t->sips && strcmp(inside, "noc") == 0)
        return name_of("fabric.switch%u", c->cube);
    if (c->sip == c->t->sips)
        return name_of("fabric.switch%u.%s", c->cube, inside);
    return name_of("sip%u.cube%u.%s", c->sip, c->cube, inside);
}

/* "noc", "ucie-E" or, of a plane, "noc.noc0". */
static struct name on_plane(const struct cube *c, uint32_t plane, const char *node)
{
    const char *name = c->t->plane[plane].name;

    return in_cube(c, "%s%s%s", node, *name ? "." : "", name);
}

static struct name ucie(const struct cube *c, uint32_t plane, char side)
{
    char node[] = "ucie-N";

    node[5] = side;
    return on_plane(c, plane, node);
}

static double number(const struct cube *c, const char *key)
{
    return judge_cube_number(c->t, c->sip, c->cube, key);
}

static uint32_t count(const struct cube *c, const char *key)
{
    return judge_cube_count(c->t, c->sip, c->cube, key);
}

/* -- nodes ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct judge_node *)a)->name, ((const struct judge_node *)b)->name);
}

static void node_at(struct judge_topo *t, struct name name, double overhead_ns, double x_mm,
                    double y_mm)
{
    struct judge_node *n;

    if (t->n_nodes == t->nodes_room) {
        t->nodes_room = t->nodes_room ? 2 * t->nodes_room : 256;
        t->nodes = judge_grow(t->nodes, t->nodes_room, sizeof *t->nodes);
    }
    n = &t->nodes[t->n_nodes++];
    memset(n, 0, sizeof *n);
    strcpy(n->name, name.text);
    n->overhead_fs = llround(overhead_ns * 1e6);
    n->x_mm = x_mm;
    n->y_mm = y_mm;
}

static void node(struct judge_topo *t, struct name name, double overhead_ns)
{
    node_at(t, name, overhead_ns, 0.0, 0.0);
}

/* Crossbar nodes of the top row: half of them, rounded up. */
static uint32_t half_of(uint32_t crossbars)
{
    return (crossbars + 1) / 2;
}

/* Where crossbar node `i` and its PE meet the NoC. */
static void point_of(const struct cube *c, uint32_t i, double *x_mm, double *y_mm)
{
    uint32_t half = half_of(judge_crossbars(c->t, c->sip, c->cube));

    *x_mm = ((i < half ? i : i - half) + 0.5) * number(c, "cube.size_mm.0") / half;
    *y_mm = i < half ? 0.0 : number(c, "cube.size_mm.1");
}

static void pe_nodes(const struct cube *c, uint32_t p)
{
    double x, y;

    point_of(c, p, &x, &y);
    node_at(c->t, in_cube(c, "pe%u.pe_cpu", p), number(c, "cube.pe.pe_cpu.overhead_ns"), x, y);
    node_at(c->t, in_cube(c, "pe%u.pe_dma", p), number(c, "cube.pe.pe_dma.overhead_ns"), x, y);
    node(c->t, in_cube(c, "pe%u.pe_scheduler", p), number(c, "cube.pe.pe_scheduler.overhead_ns"));
    node(c->t, in_cube(c, "pe%u.pe_fetch_store", p), 0.0);
    node(c->t, in_cube(c, "pe%u.pe_gemm", p), number(c, "cube.pe.pe_gemm.overhead_ns"));
    node(c->t, in_cube(c, "pe%u.pe_math", p), number(c, "cube.pe.pe_math.overhead_ns"));
    node(c->t, in_cube(c, "pe%u.pe_tcm", p), 0.0);
}

/* Routers of the mesh, or the one node of a bus. */
static void noc_nodes(const struct cube *c, uint32_t plane)
{
    double overhead_ns = number(c, "cube.noc.overhead_ns");

    if (!judge_has_mesh(c->t, c->sip)) {
        node(c->t, on_plane(c, plane, "noc"), overhead_ns);
        c->t->nodes[c->t->n_nodes - 1].is_noc = true;
        return;
    }
    for (uint32_t place = 0; place < judge_mesh_places(c->t); place++) {
        char name[JUDGE_NAME_BYTES];
        double x, y;

        if (judge_is_hole(c->t, place))
            continue;
        judge_mesh_name(c->t, place, name);
        judge_mesh_point(c->t, place, &x, &y);
        node_at(c->t, on_plane(c, plane, name), overhead_ns, x, y);
    }
}

/* In a net: where a side says, or in the middle; that of the IO chiplet is in the west. */
static void port_nodes(const struct cube *c)
{
    double w = number(c, "cube.size_mm.0"), h = number(c, "cube.size_mm.1");
    double ucie_ns = number(c, "cube.ucie.overhead_ns");
    const struct judge_port *p;

    for (uint32_t i = 0; (p = judge_port(c->t, c->sip, c->cube, i)); i++)
        node_at(c->t, in_cube(c, "port%u", i), p->overhead_ns < 0 ? ucie_ns : p->overhead_ns,
                p->side == 'E'   ? w
                : p->side == 'W' ? 0
                                 : w / 2,
                p->side == 'N'   ? 0
                : p->side == 'S' ? h
                                 : h / 2);
    if (c->sip < c->t->sips && judge_is_io_cube(c->t, c->cube))
        node_at(c->t, in_cube(c, "port.io"), ucie_ns, 0, h / 2);
}

static void plane_nodes(const struct cube *c, uint32_t plane)
{
    double w = number(c, "cube.size_mm.0"), h = number(c, "cube.size_mm.1");
    double ucie_ns = number(c, "cube.ucie.overhead_ns");

    noc_nodes(c, plane);
    if (c->t->net) {
        port_nodes(c);
        return;
    }
    node_at(c->t, ucie(c, plane, 'N'), ucie_ns, w / 2, 0.0);
    node_at(c->t, ucie(c, plane, 'E'), ucie_ns, w, h / 2);
    node_at(c->t, ucie(c, plane, 'S'), ucie_ns, w / 2, h);
    node_at(c->t, ucie(c, plane, 'W'), ucie_ns, 0.0, h / 2);
}

static void end_nodes(const struct cube *c)
{
    node_at(c->t, in_cube(c, "m_cpu"), number(c, "cube.m_cpu.overhead_ns"),
            number(c, "cube.m_cpu.pos_mm.0"), number(c, "cube.m_cpu.pos_mm.1"));
    node_at(c->t, in_cube(c, "sram"), number(c, "cube.sram.overhead_ns"),
            number(c, "cube.sram.pos_mm.0"), number(c, "cube.sram.pos_mm.1"));
}

static void cube_nodes(const struct cube *c)
{
    uint32_t crossbars = judge_crossbars(c->t, c->sip, c->cube);

    for (uint32_t plane = 0; plane < c->t->planes; plane++)
        plane_nodes(c, plane);
    if (!judge_is_switch(c->t, c->sip, c->cube))
        end_nodes(c);
    for (uint32_t i = 0; i < crossbars; i++) {
        double x, y;

        point_of(c, i, &x, &y);
        node_at(c->t, in_cube(c, "xbar.pe%u", i), number(c, "cube.xbar.overhead_ns"), x, y);
    }
    if (crossbars >= 2) {
        node(c->t, in_cube(c, "bridge.left"), number(c, "cube.bridge.overhead_ns"));
        node(c->t, in_cube(c, "bridge.right"), number(c, "cube.bridge.overhead_ns"));
    }
    for (uint32_t s = 0; s < judge_slices(c->t, c->sip, c->cube); s++)
        node(c->t, in_cube(c, "hbm_ctrl.slice%u", s), number(c, "cube.hbm.overhead_ns"));
    if (judge_has_l2(c->t, c->sip, c->cube))
        node_at(c->t, in_cube(c, "l2"), 0.0, number(c, "cube.size_mm.0") / 2,
                number(c, "cube.size_mm.1") / 2);
    for (uint32_t p = 0; p < count(c, "cube.pes"); p++)
        if (judge_has_pe(c->t, c->sip, c->cube, p))
            pe_nodes(c, p);
}

/* Where the node of that name is in `node_slots`, or where it would be. */
static size_t slot_of(const struct judge_topo *t, const char *name)
{
    size_t slot = judge_hash(name) & (t->n_node_slots - 1);

    while (t->node_slots[slot] && strcmp(t->nodes[t->node_slots[slot] - 1].name, name) != 0)
        slot = (slot + 1) & (t->n_node_slots - 1);
    return slot;
}

static void fill_slots(struct judge_topo *t)
{
    for (t->n_node_slots = 1; t->n_node_slots < 2 * t->n_nodes;)
        t->n_node_slots *= 2;
    t->node_slots = judge_alloc(t->n_node_slots, sizeof *t->node_slots);
    for (size_t i = 0; i < t->n_nodes; i++)
        t->node_slots[slot_of(t, t->nodes[i].name)] = (uint32_t)i + 1;
}

static bool has_switch(const struct judge_topo *t)
{
    return t->sips > 1 && strcmp(judge_text(t, "fabric.shape"), "switch") == 0;
}

static void all_nodes(struct judge_topo *t)
{
    if (has_switch(t))
        node(t, name_of("fabric.switch0"), judge_number(t, "fabric.overhead_ns"));
    for (uint32_t s = 0; s < t->sips; s++) {
        for (uint32_t io = 0; judge_chiplet_side(t, io); io++) {
            node(t, name_of("sip%u.io%u.pcie_ep", s, io),
                 judge_number(t, "sip.io.pcie_ep.overhead_ns"));
            node(t, name_of("sip%u.io%u.io_noc", s, io), 0.0);
            node(t, name_of("sip%u.io%u.io_cpu", s, io),
                 judge_number(t, "sip.io.io_cpu.overhead_ns"));
        }
        for (uint32_t c = 0; c < t->cubes; c++)
            if (judge_has_cube(t, s, c))
                cube_nodes(&(struct cube){t, s, c});
    }
    for (uint32_t k = 0; k < t->switches; k++)
        if (judge_has_cube(t, t->sips, k))
            cube_nodes(&(struct cube){t, t->sips, k});
    qsort(t->nodes, t->n_nodes, sizeof *t->nodes, by_name);
    fill_slots(t);
    for (size_t i = 1; i < t->n_nodes; i++) {
        if (by_name(&t->nodes[i - 1], &t->nodes[i]) == 0)
            judge_die("two nodes are called %s", t->nodes[i].name);
    }
}

size_t judge_find_node(const struct judge_topo *t, const char *name)
{
    return (size_t)t->node_slots[slot_of(t, name)] - 1;
}

/* -- edges ---------------------------------------------------------------------------------- */

static int by_nodes(const void *a, const void *b)
{
    const struct judge_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static void edge_of(struct judge_topo *t, struct name from, struct name to, uint32_t second,
                    double distance_mm, double bw_gbs)
{
    struct judge_edge *e;

    if (t->n_edges == t->edges_room) {
        t->edges_room = t->edges_room ? 2 * t->edges_room : 256;
        t->edges = judge_grow(t->edges, t->edges_room, sizeof *t->edges);
    }
    e = &t->edges[t->n_edges++];
    e->from = judge_find_node(t, from.text);
    e->to = judge_find_node(t, to.text);
    e->second = second;
    e->distance_mm = distance_mm;
    e->latency_ns = 0.0;
    e->lanes = e->back_lanes = 1;
    e->bw_gbs = bw_gbs;
    if (e->from == SIZE_MAX || e->to == SIZE_MAX)
        judge_die("an edge between nodes that are not: %s, %s", from.text, to.text);
}

static void edge(struct judge_topo *t, struct name from, struct name to, double distance_mm,
                 double bw_gbs)
{
    edge_of(t, from, to, 0, distance_mm, bw_gbs);
}

/* The edge added last has so many servers, each of its bandwidth. */
static void serve(struct judge_topo *t, uint32_t lanes, uint32_t back_lanes)
{
    t->edges[t->n_edges - 1].lanes = lanes;
    t->edges[t->n_edges - 1].back_lanes = back_lanes;
}

/* The same of all edges from number `before` on. */
static void serve_from(struct judge_topo *t, size_t before, uint32_t lanes)
{
    for (; before < t->n_edges; before++)
        t->edges[before].lanes = t->edges[before].back_lanes = lanes;
}

static void edges_both_ways(struct judge_topo *t, struct name a, struct name b, double distance_mm,
                            double bw_gbs)
{
    edge(t, a, b, distance_mm, bw_gbs);
    edge(t, b, a, distance_mm, bw_gbs);
}

/* Inside a PE, and to its crossbar node. */
static void pe_edges(const struct cube *c, uint32_t p)
{
    struct name cpu = in_cube(c, "pe%u.pe_cpu", p), dma = in_cube(c, "pe%u.pe_dma", p);
    struct name scheduler = in_cube(c, "pe%u.pe_scheduler", p);
    struct name gemm = in_cube(c, "pe%u.pe_gemm", p), math = in_cube(c, "pe%u.pe_math", p);
    struct name tcm = in_cube(c, "pe%u.pe_tcm", p);
    struct judge_topo *t = c->t;

    double l2_gbs = number(c, "cube.l2.pe_gbs"), pe_gbs = number(c, "cube.xbar.pe_gbs");

    if (judge_has_l2(t, c->sip, c->cube))
        edge(t, dma, in_cube(c, "l2"), number(c, "cube.noc.attach_mm"),
             l2_gbs > 0.0 ? l2_gbs : pe_gbs);
    else
        edge(t, dma, in_cube(c, "xbar.pe%u", p), number(c, "cube.xbar.pe_mm"), pe_gbs);
    serve(t, count(c, "cube.pe.pe_dma.ports"), count(c, "cube.pe.pe_dma.ports"));
    edge(t, cpu, scheduler, 0.0, INFINITY);
    edge(t, scheduler, dma, 0.0, INFINITY);
    edge(t, scheduler, gemm, 0.0, INFINITY);
    edge(t, scheduler, math, 0.0, INFINITY);
    edge(t, dma, tcm, 0.0, number(c, "cube.pe.pe_tcm.write_gbs"));
    serve(t, count(c, "cube.pe.pe_tcm.write_ports"), count(c, "cube.pe.pe_tcm.read_ports"));
    edge(t, gemm, tcm, 0.0, INFINITY);
    edge(t, math, tcm, 0.0, INFINITY);
}

static void crossbar_edges(const struct cube *c)
{
    uint32_t n = judge_crossbars(c->t, c->sip, c->cube), half = half_of(n);
    double mm = number(c, "cube.bridge.distance_mm"), gbs = number(c, "cube.bridge.bw_gbs");

    for (uint32_t i = 0; i + 1 < n; i++)
        if (i + 1 != half)
            edges_both_ways(c->t, in_cube(c, "xbar.pe%u", i), in_cube(c, "xbar.pe%u", i + 1),
                            number(c, "cube.xbar.chain_mm"), number(c, "cube.xbar.chain_gbs"));
    if (n >= 2) {
        edges_both_ways(c->t, in_cube(c, "xbar.pe0"), in_cube(c, "bridge.left"), mm, gbs);
        edges_both_ways(c->t, in_cube(c, "xbar.pe%u", half), in_cube(c, "bridge.left"), mm, gbs);
        edges_both_ways(c->t, in_cube(c, "xbar.pe%u", half - 1), in_cube(c, "bridge.right"), mm,
                        gbs);
        edges_both_ways(c->t, in_cube(c, "xbar.pe%u", n - 1), in_cube(c, "bridge.right"), mm, gbs);
    }
    for (uint32_t s = 0; s < judge_slices(c->t, c->sip, c->cube); s++) {
        struct judge_end slice = {.kind = JUDGE_SLICE, .sip = c->sip, .cube = c->cube, .unit = s};

        edge(c->t, in_cube(c, "xbar.pe%u", judge_crossbar_of(c->t, c->sip, c->cube, s)),
             in_cube(c, "hbm_ctrl.slice%u", s), number(c, "cube.hbm.distance_mm"),
             judge_slice_gbs(c->t, &slice));
        serve(c->t, count(c, "cube.hbm.ports"), count(c, "cube.hbm.ports"));
    }
}

/* What `bw_gbs` of a plane says, or another bandwidth. */
static double plane_gbs(const struct judge_topo *t, uint32_t plane, double otherwise)
{
    const char *text = judge_item(t, "sip.planes", plane, ".bw_gbs");
    double gbs = text ? strtod(text, NULL) : 0.0;

    return gbs > 0.0 ? gbs : otherwise;
}

/* The node of the NoC that `other` meets, and the length of the edge between them. */
static struct name meets(const struct cube *c, uint32_t plane, struct name other, double *mm)
{
    const struct judge_node *n = &c->t->nodes[judge_find_node(c->t, other.text)];
    char name[JUDGE_NAME_BYTES] = "noc";
    double far = 0.0;

    if (judge_has_mesh(c->t, c->sip))
        judge_mesh_name(c->t, judge_nearest_place(c->t, n->x_mm, n->y_mm, &far), name);
    *mm = number(c, "cube.noc.attach_mm") + far;
    return on_plane(c, plane, name);
}

static void attach(const struct cube *c, uint32_t plane, struct name other, double bw_gbs, bool in,
                   bool out)
{
    double mm;
    struct name noc = meets(c, plane, other, &mm);

    if (out)
        edge(c->t, noc, other, mm, bw_gbs);
    if (in)
        edge(c->t, other, noc, mm, bw_gbs);
}

/* Between the routers of the mesh. */
static void mesh_edges(const struct cube *c, uint32_t plane)
{
    for (uint32_t place = 0; place < judge_mesh_places(c->t); place++) {
        for (const char *side = "EWSN"; *side && !judge_is_hole(c->t, place); side++) {
            char from[JUDGE_NAME_BYTES], to[JUDGE_NAME_BYTES];
            double x, y, other_x, other_y;
            uint32_t other;

            if (!judge_place_beside(c->t, place, *side, &other))
                continue;
            judge_mesh_name(c->t, place, from);
            judge_mesh_name(c->t, other, to);
            judge_mesh_point(c->t, place, &x, &y);
            judge_mesh_point(c->t, other, &other_x, &other_y);
            edge(c->t, on_plane(c, plane, from), on_plane(c, plane, to),
                 fabs(x - other_x) + fabs(y - other_y), number(c, "cube.noc.mesh.bw_gbs"));
        }
    }
}

/* Both edges of a port in a net have a server for each lane of its link. */
static void port_edges(const struct cube *c, double gbs)
{
    const struct judge_port *p;

    for (uint32_t i = 0; (p = judge_port(c->t, c->sip, c->cube, i)); i++) {
        size_t before = c->t->n_edges;

        attach(c, 0, in_cube(c, "port%u", i), gbs,
               !judge_net_port_is_cut(c->t, c->sip, c->cube, i, false),
               !judge_net_port_is_cut(c->t, c->sip, c->cube, i, true));
        serve_from(c->t, before, p->lanes);
    }
    if (c->sip < c->t->sips && judge_is_io_cube(c->t, c->cube))
        attach(c, 0, in_cube(c, "port.io"), gbs, true, true);
}

/* The links of a net that leave the cube. */
static void net_edges(const struct cube *c)
{
    const struct judge_port *p;

    for (uint32_t i = 0; (p = judge_port(c->t, c->sip, c->cube, i)); i++) {
        if (!judge_port_leads(c->t, c->sip, c->cube, i))
            continue;
        edge(c->t, in_cube(c, "port%u", i),
             in_cube(&(struct cube){c->t, p->other_sip, p->other}, "port%u", p->other_port),
             p->distance_mm, p->bw_gbs);
        c->t->edges[c->t->n_edges - 1].latency_ns = p->latency_ns;
        serve(c->t, p->lanes, p->lanes);
    }
}

/* The NoC of a plane and what is attached to it. */
static void noc_edges(const struct cube *c, uint32_t plane)
{
    double gbs = number(c, "cube.noc.bw_gbs"), sram_gbs = number(c, "cube.sram.bw_gbs");

    if (judge_has_mesh(c->t, c->sip))
        mesh_edges(c, plane);
    if (!judge_is_switch(c->t, c->sip, c->cube)) {
        attach(c, plane, in_cube(c, "m_cpu"), gbs, true, true);
        attach(c, plane, in_cube(c, "sram"), sram_gbs > 0.0 && sram_gbs < gbs ? sram_gbs : gbs,
               true, true);
    }
    for (uint32_t i = 0; i < judge_crossbars(c->t, c->sip, c->cube); i++) {
        attach(c, plane, in_cube(c, "xbar.pe%u", i), gbs, false, true);
        for (uint32_t s = 0; s < judge_slices(c->t, c->sip, c->cube); s++)
            if (judge_crossbar_of(c->t, c->sip, c->cube, s) == i)
                serve(c->t, count(c, "cube.hbm.ports"), count(c, "cube.hbm.ports"));
    }
    for (uint32_t p = 0; p < count(c, "cube.pes"); p++) {
        size_t before;

        if (!judge_has_pe(c->t, c->sip, c->cube, p))
            continue;
        before = c->t->n_edges;
        attach(c, plane, in_cube(c, "pe%u.pe_dma", p), gbs, true, true);
        serve_from(c->t, before, count(c, "cube.pe.pe_dma.ports"));
        attach(c, plane, in_cube(c, "pe%u.pe_cpu", p), gbs, true, true);
    }
    if (judge_has_l2(c->t, c->sip, c->cube))
        attach(c, plane, in_cube(c, "l2"), gbs, true, false);
    if (c->t->net) {
        port_edges(c, gbs);
        return;
    }
    for (const char *side = "NESW"; *side; side++)
        attach(c, plane, ucie(c, plane, *side), plane_gbs(c->t, plane, gbs),
               !judge_port_is_cut(c->t, c->sip, c->cube, *side, false),
               !judge_port_is_cut(c->t, c->sip, c->cube, *side, true));
}

/* The links of a plane to the next cubes. */
static void plane_edges(const struct cube *c, uint32_t plane)
{
    for (const char *side = "NESW"; *side; side++) {
        double wrap_mm = judge_number(c->t, "sip.cube_mesh.wrap_mm");
        double d2d_mm = judge_number(c->t, "sip.d2d.distance_mm");
        uint32_t other;
        bool wrapped;

        if (judge_has_link(c->t, plane, c->sip, c->cube, *side, &other, &wrapped))
            edge(c->t, ucie(c, plane, *side),
                 ucie(&(struct cube){c->t, c->sip, other}, plane, judge_opposite(*side)),
                 wrapped && wrap_mm > 0.0 ? wrap_mm : d2d_mm,
                 plane_gbs(c->t, plane, judge_number(c->t, "sip.d2d.bw_gbs")));
    }
}

static void cube_edges(const struct cube *c)
{
    for (uint32_t plane = 0; plane < c->t->planes; plane++)
        noc_edges(c, plane);
    if (c->t->net)
        net_edges(c);
    for (uint32_t plane = 0; plane < c->t->planes && !c->t->net; plane++)
        plane_edges(c, plane);
    crossbar_edges(c);
    for (uint32_t p = 0; p < count(c, "cube.pes"); p++)
        if (judge_has_pe(c->t, c->sip, c->cube, p))
            pe_edges(c, p);
}

static void io_edges(struct judge_topo *t, uint32_t s, uint32_t io)
{
    struct name ep = name_of("sip%u.io%u.pcie_ep", s, io);
    struct name noc = name_of("sip%u.io%u.io_noc", s, io);
    struct name cpu = name_of("sip%u.io%u.io_cpu", s, io);
    double link_mm = judge_number(t, "sip.io.link.distance_mm");
    double link_gbs = judge_number(t, "sip.io.link.bw_gbs");

    edges_both_ways(t, ep, noc, link_mm, link_gbs);
    edges_both_ways(t, cpu, noc, link_mm, link_gbs);
    for (uint32_t plane = 0; plane < t->planes; plane++)
        for (uint32_t c = 0; c < t->cubes; c++)
            if (judge_on_shore(t, io, s, c))
                edges_both_ways(
                    t, noc,
                    t->net ? in_cube(&(struct cube){t, s, c}, "port.io")
                           : ucie(&(struct cube){t, s, c}, plane, judge_chiplet_side(t, io)),
                    judge_number(t, "sip.io.shore.distance_mm"),
                    judge_number(t, "sip.io.shore.bw_gbs"));
}

/* To the switch, or to the next SIPs of the grid. */
static void fabric_edges(struct judge_topo *t, uint32_t s)
{
    struct name ep = name_of("sip%u.io0.pcie_ep", s);
    double mm = judge_number(t, "fabric.distance_mm"), gbs = judge_number(t, "fabric.bw_gbs");

    if (has_switch(t))
        edges_both_ways(t, ep, name_of("fabric.switch0"), mm, gbs);
    if (strcmp(judge_text(t, "fabric.shape"), "grid") != 0)
        return;
    for (const char *side = "NESW"; *side; side++) {
        uint32_t other;
        bool wrapped;

        if (judge_sip_beside(t, s, *side, &other, &wrapped))
            edge_of(t, ep, name_of("sip%u.io0.pcie_ep", other), wrapped, mm, gbs);
    }
}

static void all_edges(struct judge_topo *t)
{
    for (uint32_t s = 0; s < t->sips; s++) {
        for (uint32_t io = 0; judge_chiplet_side(t, io); io++)
            io_edges(t, s, io);
        fabric_edges(t, s);
        for (uint32_t c = 0; c < t->cubes; c++)
            if (judge_has_cube(t, s, c))
                cube_edges(&(struct cube){t, s, c});
    }
    for (uint32_t k = 0; k < t->switches; k++)
        if (judge_has_cube(t, t->sips, k))
            cube_edges(&(struct cube){t, t->sips, k});
    qsort(t->edges, t->n_edges, sizeof *t->edges, by_nodes);
    t->first_edge = judge_alloc(t->n_nodes + 1, sizeof *t->first_edge);
    for (size_t n = 0, e = 0; n <= t->n_nodes; n++) {
        while (e < t->n_edges && t->edges[e].from < n)
            e++;
        t->first_edge[n] = e;
    }
    for (size_t i = 1; i < t->n_edges; i++) {
        if (by_nodes(&t->edges[i - 1], &t->edges[i]) == 0)
            judge_die("two edges from %s to %s", t->nodes[t->edges[i].from].name,
                      t->nodes[t->edges[i].to].name);
    }
}

size_t judge_find_edge(const struct judge_topo *t, size_t from, size_t to, uint32_t second)
{
    for (size_t e = t->first_edge[from]; e < t->first_edge[from + 1]; e++) {
        if (t->edges[e].to == to && t->edges[e].second == second)
            return e;
    }
    return SIZE_MAX;
}

int64_t judge_wire_fs(const struct judge_topo *t, double distance_mm)
{
    return llround(distance_mm * t->ns_per_mm * 1e6);
}

int64_t judge_ns(double ns)
{
    return llround(ns * 1e6);
}

/* -- a topology ----------------------------------------------------------------------------- */

static struct judge_topo *load(yaml_parser_t *parser)
{
    struct judge_topo *t = judge_alloc(1, sizeof *t);

    if (!judge_read_values(t, parser)) {
        judge_free(t);
        return NULL;
    }
    t->stages = 1;
    judge_find_steps(t);
    judge_find_mesh(t);
    all_nodes(t);
    all_edges(t);
    if (strcmp(judge_text(t, "contention.links"), "router") == 0)
        judge_choose_channels(t);
    return t;
}

struct judge_topo *judge_load(const char *path)
{
    FILE *in = fopen(path, "r");
    yaml_parser_t parser;
    struct judge_topo *t;

    if (!in) {
        perror(path);
        return NULL;
    }
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_file(&parser, in);
    t = load(&parser);
    yaml_parser_delete(&parser);
    fclose(in);
    return t;
}

struct judge_topo *judge_load_text(const char *yaml)
{
    yaml_parser_t parser;
    struct judge_topo *t;

    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, strlen(yaml));
    t = load(&parser);
    yaml_parser_delete(&parser);
    return t;
}

void judge_free(struct judge_topo *t)
{
    if (!t)
        return;
    for (size_t i = 0; t->cube && i < (size_t)t->sips * t->cubes + t->switches; i++) {
        free(t->cube[i].values);
        free(t->cube[i].has_pe);
    }
    for (size_t i = 0; t->far && i < (size_t)t->planes * t->sips * t->cubes; i++)
        free(t->far[i]);
    judge_net_free(t->net);
    free(t->of_switches);
    free(t->cube);
    free(t->far);
    free(t->missing.items);
    free(t->broken.items);
    free(t->values);
    free(t->nodes);
    free(t->edges);
    free(t->node_slots);
    free(t->first_edge);
    free(t->steps);
    free(t->is_router);
    free(t->is_gate);
    free(t->is_hole);
    free(t->pes);
    free(t);
}
