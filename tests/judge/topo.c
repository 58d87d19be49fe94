/* topo.c -- the topology as a graph of named nodes, and its endpoints; after docs/formats.md. */
#include "judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

void judge_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("judge: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

void *judge_alloc(size_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes);

    if (!p)
        judge_die("out of memory");
    return p;
}

void *judge_grow(void *old, size_t n, size_t bytes)
{
    void *p = reallocarray(old, n ? n : 1, bytes);

    if (!p)
        judge_die("out of memory");
    return p;
}

/* -- values --------------------------------------------------------------------------------- */

/* The keys of docs/formats.md "Topology YAML", typed again from its text. */
static const char *const defaults[][2] = {
    {"kernbench", ""},
    {"name", ""},
    {"contention.links", "ideal"},
    {"ns_per_mm", "0.01"},
    {"fabric.overhead_ns", "5.0"},
    {"fabric.distance_mm", "100.0"},
    {"fabric.bw_gbs", "64.0"},
    {"sips", "1"},
    {"sip.cube_mesh.w", ""},
    {"sip.cube_mesh.h", ""},
    {"sip.d2d.distance_mm", "1.0"},
    {"sip.d2d.bw_gbs", "128.0"},
    {"sip.io.pcie_ep.overhead_ns", "5.0"},
    {"sip.io.io_cpu.overhead_ns", "10.0"},
    {"sip.io.link.distance_mm", "1.0"},
    {"sip.io.link.bw_gbs", "128.0"},
    {"sip.io.shore.distance_mm", "2.0"},
    {"sip.io.shore.bw_gbs", "128.0"},
    {"cube.size_mm.0", "15.0"},
    {"cube.size_mm.1", "11.0"},
    {"cube.pes", "8"},
    {"cube.ucie.overhead_ns", "1.0"},
    {"cube.noc.overhead_ns", "0.0"},
    {"cube.noc.attach_mm", "0.5"},
    {"cube.noc.bw_gbs", "128.0"},
    {"cube.m_cpu.overhead_ns", "5.0"},
    {"cube.m_cpu.pos_mm.0", "7.5"},
    {"cube.m_cpu.pos_mm.1", "2.0"},
    {"cube.m_cpu.dma_read", "1"},
    {"cube.m_cpu.dma_write", "1"},
    {"cube.sram.overhead_ns", "0.0"},
    {"cube.sram.pos_mm.0", "1.5"},
    {"cube.sram.pos_mm.1", "9.0"},
    {"cube.sram.size_mb", "32"},
    {"cube.xbar.overhead_ns", "2.0"},
    {"cube.xbar.pe_mm", "6.0"},
    {"cube.xbar.pe_gbs", "256.0"},
    {"cube.xbar.chain_mm", "1.0"},
    {"cube.xbar.chain_gbs", "128.0"},
    {"cube.bridge.overhead_ns", "1.0"},
    {"cube.bridge.distance_mm", "3.0"},
    {"cube.bridge.bw_gbs", "128.0"},
    {"cube.hbm.overhead_ns", "0.0"},
    {"cube.hbm.distance_mm", "2.5"},
    {"cube.hbm.bw_gbs", "256.0"},
    {"cube.hbm.efficiency", "1.0"},
    {"cube.hbm.size_gb", "48"},
    {"cube.pe.pe_cpu.overhead_ns", "2.0"},
    {"cube.pe.pe_scheduler.overhead_ns", "1.0"},
    {"cube.pe.pe_scheduler.tile.0", "32"},
    {"cube.pe.pe_scheduler.tile.1", "64"},
    {"cube.pe.pe_scheduler.tile.2", "32"},
    {"cube.pe.pe_scheduler.tile_buffers", "2"},
    {"cube.pe.pe_dma.overhead_ns", "0.0"},
    {"cube.pe.pe_dma.read_channels", "1"},
    {"cube.pe.pe_dma.write_channels", "1"},
    {"cube.pe.pe_tcm.size_mb", "16"},
    {"cube.pe.pe_tcm.read_gbs", "512.0"},
    {"cube.pe.pe_tcm.write_gbs", "512.0"},
    {"cube.pe.pe_gemm.overhead_ns", "0.0"},
    {"cube.pe.pe_gemm.clock_ghz", "1.0"},
    {"cube.pe.pe_gemm.mac.0", "16"},
    {"cube.pe.pe_gemm.mac.1", "16"},
    {"cube.pe.pe_gemm.mac.2", "16"},
    {"cube.pe.pe_math.overhead_ns", "0.0"},
    {"cube.pe.pe_math.clock_ghz", "1.0"},
    {"cube.pe.pe_math.lanes", "64"},
    {"cube.pe.pe_math.special_cycles", "4"},
    {"cube.pe.pe_ipcq.slots", "4"},
    {"cube.pe.pe_ipcq.slot_bytes", "4096"},
    {"cube.pe.pe_ipcq.space", "tcm"},
};

static struct judge_value *value_of(const struct judge_topo *t, const char *key)
{
    for (size_t i = 0; i < t->n_values; i++) {
        if (strcmp(t->values[i].key, key) == 0)
            return &t->values[i];
    }
    return NULL;
}

static bool set_value(struct judge_topo *t, const char *key, const char *text)
{
    struct judge_value *v = value_of(t, key);

    if (!v || strlen(text) >= sizeof v->text) {
        fprintf(stderr, "judge: %s: %s\n", key, v ? "the value is too long" : "unknown key");
        return false;
    }
    strcpy(v->text, text);
    v->number = strtod(text, NULL);
    return true;
}

static void set_defaults(struct judge_topo *t)
{
    t->n_values = sizeof defaults / sizeof defaults[0];
    t->values = judge_alloc(t->n_values, sizeof *t->values);
    for (size_t i = 0; i < t->n_values; i++) {
        t->values[i].key = defaults[i][0];
        set_value(t, defaults[i][0], defaults[i][1]);
    }
}

double judge_number(const struct judge_topo *t, const char *key)
{
    const struct judge_value *v = value_of(t, key);

    if (!v)
        judge_die("asked for the unknown key %s", key);
    return v->number;
}

uint32_t judge_count(const struct judge_topo *t, const char *key)
{
    return (uint32_t)judge_number(t, key);
}

const char *judge_text(const struct judge_topo *t, const char *key)
{
    const struct judge_value *v = value_of(t, key);

    if (!v)
        judge_die("asked for the unknown key %s", key);
    return v->text;
}

/* -- YAML ----------------------------------------------------------------------------------- */

/* Sets a value for every scalar below `n`; `key` is the way to it, "cube.hbm". */
static bool flatten(struct judge_topo *t, yaml_document_t *doc, const yaml_node_t *n,
                    const char *key)
{
    char below[256];
    bool ok = true;

    if (n->type == YAML_SCALAR_NODE)
        return set_value(t, key, (const char *)n->data.scalar.value);
    if (n->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
             i++) {
            snprintf(below, sizeof below, "%s.%d", key, (int)(i - n->data.sequence.items.start));
            ok = flatten(t, doc, yaml_document_get_node(doc, *i), below) && ok;
        }
        return ok;
    }
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *name = yaml_document_get_node(doc, p->key);

        snprintf(below, sizeof below, "%s%s%s", key, *key ? "." : "",
                 (const char *)name->data.scalar.value);
        ok = flatten(t, doc, yaml_document_get_node(doc, p->value), below) && ok;
    }
    return ok;
}

static bool read_yaml(struct judge_topo *t, yaml_parser_t *parser)
{
    yaml_document_t doc;
    const yaml_node_t *root;
    bool ok;

    if (!yaml_parser_load(parser, &doc)) {
        fprintf(stderr, "judge: line %zu: %s\n", parser->problem_mark.line + 1, parser->problem);
        return false;
    }
    root = yaml_document_get_root_node(&doc);
    ok = root && root->type == YAML_MAPPING_NODE && flatten(t, &doc, root, "");
    yaml_document_delete(&doc);
    if (ok && judge_count(t, "sip.cube_mesh.w") > 0 && judge_count(t, "sip.cube_mesh.h") > 0)
        return true;
    fprintf(stderr, "judge: this is no topology\n");
    return false;
}

/* -- names ---------------------------------------------------------------------------------- */

struct name {
    char text[JUDGE_NAME_BYTES];
};

static struct name name_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct name name_of(const char *format, ...)
{
    struct name n;
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(n.text, sizeof n.text, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof n.text)
        judge_die("a name is too long: %s", n.text);
    return n;
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

/* PEs of one half: the top row of a cube, or the bottom row. */
static uint32_t half_of(uint32_t pes)
{
    return pes == 1 ? 1 : pes / 2;
}

static void pe_nodes(struct judge_topo *t, uint32_t s, uint32_t c, uint32_t p)
{
    double w = judge_number(t, "cube.size_mm.0");
    uint32_t half = half_of(judge_count(t, "cube.pes"));
    double x = (p % half + 0.5) * w / half;
    double y = p < half ? 0.0 : judge_number(t, "cube.size_mm.1");

    node_at(t, name_of("sip%u.cube%u.xbar.pe%u", s, c, p), judge_number(t, "cube.xbar.overhead_ns"),
            x, y);
    node(t, name_of("sip%u.cube%u.hbm_ctrl.slice%u", s, c, p),
         judge_number(t, "cube.hbm.overhead_ns"));
    node_at(t, name_of("sip%u.cube%u.pe%u.pe_cpu", s, c, p),
            judge_number(t, "cube.pe.pe_cpu.overhead_ns"), x, y);
    node_at(t, name_of("sip%u.cube%u.pe%u.pe_dma", s, c, p),
            judge_number(t, "cube.pe.pe_dma.overhead_ns"), x, y);
    node(t, name_of("sip%u.cube%u.pe%u.pe_scheduler", s, c, p),
         judge_number(t, "cube.pe.pe_scheduler.overhead_ns"));
    node(t, name_of("sip%u.cube%u.pe%u.pe_fetch_store", s, c, p), 0.0);
    node(t, name_of("sip%u.cube%u.pe%u.pe_gemm", s, c, p),
         judge_number(t, "cube.pe.pe_gemm.overhead_ns"));
    node(t, name_of("sip%u.cube%u.pe%u.pe_math", s, c, p),
         judge_number(t, "cube.pe.pe_math.overhead_ns"));
    node(t, name_of("sip%u.cube%u.pe%u.pe_tcm", s, c, p), 0.0);
}

static void cube_nodes(struct judge_topo *t, uint32_t s, uint32_t c)
{
    double w = judge_number(t, "cube.size_mm.0");
    double h = judge_number(t, "cube.size_mm.1");
    double ucie_ns = judge_number(t, "cube.ucie.overhead_ns");

    node(t, name_of("sip%u.cube%u.noc", s, c), judge_number(t, "cube.noc.overhead_ns"));
    node_at(t, name_of("sip%u.cube%u.m_cpu", s, c), judge_number(t, "cube.m_cpu.overhead_ns"),
            judge_number(t, "cube.m_cpu.pos_mm.0"), judge_number(t, "cube.m_cpu.pos_mm.1"));
    node_at(t, name_of("sip%u.cube%u.sram", s, c), judge_number(t, "cube.sram.overhead_ns"),
            judge_number(t, "cube.sram.pos_mm.0"), judge_number(t, "cube.sram.pos_mm.1"));
    node_at(t, name_of("sip%u.cube%u.ucie-N", s, c), ucie_ns, w / 2, 0.0);
    node_at(t, name_of("sip%u.cube%u.ucie-E", s, c), ucie_ns, w, h / 2);
    node_at(t, name_of("sip%u.cube%u.ucie-S", s, c), ucie_ns, w / 2, h);
    node_at(t, name_of("sip%u.cube%u.ucie-W", s, c), ucie_ns, 0.0, h / 2);
    if (judge_count(t, "cube.pes") >= 2) {
        double bridge_ns = judge_number(t, "cube.bridge.overhead_ns");

        node(t, name_of("sip%u.cube%u.bridge.left", s, c), bridge_ns);
        node(t, name_of("sip%u.cube%u.bridge.right", s, c), bridge_ns);
    }
    for (uint32_t p = 0; p < judge_count(t, "cube.pes"); p++)
        pe_nodes(t, s, c, p);
}

static void all_nodes(struct judge_topo *t)
{
    uint32_t cubes = judge_count(t, "sip.cube_mesh.w") * judge_count(t, "sip.cube_mesh.h");

    if (judge_count(t, "sips") > 1)
        node(t, name_of("fabric.switch0"), judge_number(t, "fabric.overhead_ns"));
    for (uint32_t s = 0; s < judge_count(t, "sips"); s++) {
        node(t, name_of("sip%u.io0.pcie_ep", s), judge_number(t, "sip.io.pcie_ep.overhead_ns"));
        node(t, name_of("sip%u.io0.io_noc", s), 0.0);
        node(t, name_of("sip%u.io0.io_cpu", s), judge_number(t, "sip.io.io_cpu.overhead_ns"));
        for (uint32_t c = 0; c < cubes; c++)
            cube_nodes(t, s, c);
    }
    qsort(t->nodes, t->n_nodes, sizeof *t->nodes, by_name);
    for (size_t i = 1; i < t->n_nodes; i++) {
        if (by_name(&t->nodes[i - 1], &t->nodes[i]) == 0)
            judge_die("two nodes are called %s", t->nodes[i].name);
    }
}

size_t judge_find_node(const struct judge_topo *t, const char *name)
{
    struct judge_node key = {.name = ""};
    const struct judge_node *n;

    if (strlen(name) >= sizeof key.name)
        return SIZE_MAX;
    strcpy(key.name, name);
    n = bsearch(&key, t->nodes, t->n_nodes, sizeof *t->nodes, by_name);
    return n ? (size_t)(n - t->nodes) : SIZE_MAX;
}

/* -- edges ---------------------------------------------------------------------------------- */

static int by_nodes(const void *a, const void *b)
{
    const struct judge_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return 0;
}

static void edge(struct judge_topo *t, struct name from, struct name to, double distance_mm,
                 double bw_gbs)
{
    struct judge_edge *e;

    if (t->n_edges == t->edges_room) {
        t->edges_room = t->edges_room ? 2 * t->edges_room : 256;
        t->edges = judge_grow(t->edges, t->edges_room, sizeof *t->edges);
    }
    e = &t->edges[t->n_edges++];
    e->from = judge_find_node(t, from.text);
    e->to = judge_find_node(t, to.text);
    e->distance_mm = distance_mm;
    e->bw_gbs = bw_gbs;
    if (e->from == SIZE_MAX || e->to == SIZE_MAX)
        judge_die("an edge between nodes that are not: %s, %s", from.text, to.text);
}

static void edges_both_ways(struct judge_topo *t, struct name a, struct name b, double distance_mm,
                            double bw_gbs)
{
    edge(t, a, b, distance_mm, bw_gbs);
    edge(t, b, a, distance_mm, bw_gbs);
}

static void pe_edges(struct judge_topo *t, uint32_t s, uint32_t c, uint32_t p)
{
    struct name noc = name_of("sip%u.cube%u.noc", s, c);
    struct name xbar = name_of("sip%u.cube%u.xbar.pe%u", s, c, p);
    struct name hbm = name_of("sip%u.cube%u.hbm_ctrl.slice%u", s, c, p);
    struct name cpu = name_of("sip%u.cube%u.pe%u.pe_cpu", s, c, p);
    struct name scheduler = name_of("sip%u.cube%u.pe%u.pe_scheduler", s, c, p);
    struct name dma = name_of("sip%u.cube%u.pe%u.pe_dma", s, c, p);
    struct name gemm = name_of("sip%u.cube%u.pe%u.pe_gemm", s, c, p);
    struct name math = name_of("sip%u.cube%u.pe%u.pe_math", s, c, p);
    struct name tcm = name_of("sip%u.cube%u.pe%u.pe_tcm", s, c, p);
    double attach_mm = judge_number(t, "cube.noc.attach_mm");
    double noc_gbs = judge_number(t, "cube.noc.bw_gbs");

    edge(t, dma, xbar, judge_number(t, "cube.xbar.pe_mm"), judge_number(t, "cube.xbar.pe_gbs"));
    edge(t, xbar, hbm, judge_number(t, "cube.hbm.distance_mm"),
         judge_number(t, "cube.hbm.bw_gbs") * judge_number(t, "cube.hbm.efficiency"));
    edge(t, noc, xbar, attach_mm, noc_gbs);
    edges_both_ways(t, dma, noc, attach_mm, noc_gbs);
    edges_both_ways(t, noc, cpu, attach_mm, noc_gbs);
    edge(t, cpu, scheduler, 0.0, INFINITY);
    edge(t, scheduler, dma, 0.0, INFINITY);
    edge(t, scheduler, gemm, 0.0, INFINITY);
    edge(t, scheduler, math, 0.0, INFINITY);
    edge(t, dma, tcm, 0.0, judge_number(t, "cube.pe.pe_tcm.write_gbs"));
    edge(t, gemm, tcm, 0.0, INFINITY);
    edge(t, math, tcm, 0.0, INFINITY);
}

static void crossbar_edges(struct judge_topo *t, uint32_t s, uint32_t c)
{
    uint32_t pes = judge_count(t, "cube.pes"), half = half_of(pes);
    struct name left = name_of("sip%u.cube%u.bridge.left", s, c);
    struct name right = name_of("sip%u.cube%u.bridge.right", s, c);

    for (uint32_t first = 0; first < pes; first += half) {
        uint32_t last = first + half - 1;

        for (uint32_t p = first; p < last; p++)
            edges_both_ways(t, name_of("sip%u.cube%u.xbar.pe%u", s, c, p),
                            name_of("sip%u.cube%u.xbar.pe%u", s, c, p + 1),
                            judge_number(t, "cube.xbar.chain_mm"),
                            judge_number(t, "cube.xbar.chain_gbs"));
        if (pes < 2)
            continue;
        edges_both_ways(t, name_of("sip%u.cube%u.xbar.pe%u", s, c, first), left,
                        judge_number(t, "cube.bridge.distance_mm"),
                        judge_number(t, "cube.bridge.bw_gbs"));
        edges_both_ways(t, name_of("sip%u.cube%u.xbar.pe%u", s, c, last), right,
                        judge_number(t, "cube.bridge.distance_mm"),
                        judge_number(t, "cube.bridge.bw_gbs"));
    }
}

static void cube_edges(struct judge_topo *t, uint32_t s, uint32_t c)
{
    static const char *const around[] = {"m_cpu", "sram", "ucie-N", "ucie-E", "ucie-S", "ucie-W"};
    uint32_t w = judge_count(t, "sip.cube_mesh.w"), h = judge_count(t, "sip.cube_mesh.h");
    double d2d_mm = judge_number(t, "sip.d2d.distance_mm");
    double d2d_gbs = judge_number(t, "sip.d2d.bw_gbs");

    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++)
        edges_both_ways(t, name_of("sip%u.cube%u.noc", s, c),
                        name_of("sip%u.cube%u.%s", s, c, around[i]),
                        judge_number(t, "cube.noc.attach_mm"), judge_number(t, "cube.noc.bw_gbs"));
    for (uint32_t p = 0; p < judge_count(t, "cube.pes"); p++)
        pe_edges(t, s, c, p);
    crossbar_edges(t, s, c);
    if (c % w + 1 < w)
        edges_both_ways(t, name_of("sip%u.cube%u.ucie-E", s, c),
                        name_of("sip%u.cube%u.ucie-W", s, c + 1), d2d_mm, d2d_gbs);
    if (c / w + 1 < h)
        edges_both_ways(t, name_of("sip%u.cube%u.ucie-S", s, c),
                        name_of("sip%u.cube%u.ucie-N", s, c + w), d2d_mm, d2d_gbs);
}

static void io_edges(struct judge_topo *t, uint32_t s)
{
    struct name ep = name_of("sip%u.io0.pcie_ep", s);
    struct name noc = name_of("sip%u.io0.io_noc", s);
    struct name cpu = name_of("sip%u.io0.io_cpu", s);
    double link_mm = judge_number(t, "sip.io.link.distance_mm");
    double link_gbs = judge_number(t, "sip.io.link.bw_gbs");

    edges_both_ways(t, ep, noc, link_mm, link_gbs);
    edges_both_ways(t, cpu, noc, link_mm, link_gbs);
    for (uint32_t row = 0; row < judge_count(t, "sip.cube_mesh.h"); row++)
        edges_both_ways(
            t, noc, name_of("sip%u.cube%u.ucie-W", s, row * judge_count(t, "sip.cube_mesh.w")),
            judge_number(t, "sip.io.shore.distance_mm"), judge_number(t, "sip.io.shore.bw_gbs"));
    if (judge_count(t, "sips") > 1)
        edges_both_ways(t, ep, name_of("fabric.switch0"), judge_number(t, "fabric.distance_mm"),
                        judge_number(t, "fabric.bw_gbs"));
}

static void all_edges(struct judge_topo *t)
{
    uint32_t cubes = judge_count(t, "sip.cube_mesh.w") * judge_count(t, "sip.cube_mesh.h");

    for (uint32_t s = 0; s < judge_count(t, "sips"); s++) {
        io_edges(t, s);
        for (uint32_t c = 0; c < cubes; c++)
            cube_edges(t, s, c);
    }
    qsort(t->edges, t->n_edges, sizeof *t->edges, by_nodes);
    for (size_t i = 1; i < t->n_edges; i++) {
        if (by_nodes(&t->edges[i - 1], &t->edges[i]) == 0)
            judge_die("two edges from %s to %s", t->nodes[t->edges[i].from].name,
                      t->nodes[t->edges[i].to].name);
    }
}

size_t judge_find_edge(const struct judge_topo *t, size_t from, size_t to)
{
    struct judge_edge key = {.from = from, .to = to};
    const struct judge_edge *e = bsearch(&key, t->edges, t->n_edges, sizeof *t->edges, by_nodes);

    return e ? (size_t)(e - t->edges) : SIZE_MAX;
}

int64_t judge_wire_fs(const struct judge_topo *t, double distance_mm)
{
    return llround(distance_mm * judge_number(t, "ns_per_mm") * 1e6);
}

/* -- a topology ----------------------------------------------------------------------------- */

static struct judge_topo *load(yaml_parser_t *parser)
{
    struct judge_topo *t = judge_alloc(1, sizeof *t);

    set_defaults(t);
    if (!read_yaml(t, parser)) {
        judge_free(t);
        return NULL;
    }
    all_nodes(t);
    all_edges(t);
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
    free(t->values);
    free(t->nodes);
    free(t->edges);
    free(t);
}

/* -- endpoints ------------------------------------------------------------------------------ */

/* Reads `word` and a number at *at; moves past both. */
static bool take(const char **at, const char *word, uint32_t *number)
{
    size_t len = strlen(word);
    const char *p = *at + len;
    uint64_t n = 0;

    if (strncmp(*at, word, len) != 0 || *p < '0' || *p > '9')
        return false;
    if (p[0] == '0' && p[1] >= '0' && p[1] <= '9')
        return false;
    while (*p >= '0' && *p <= '9' && n < UINT32_MAX)
        n = n * 10 + (uint64_t)(*p++ - '0');
    if (n >= UINT32_MAX)
        return false;
    *number = (uint32_t)n;
    *at = p;
    return true;
}

static bool take_dot(const char **at)
{
    if (**at != '.')
        return false;
    ++*at;
    return true;
}

static bool parse_end(const char *text, struct judge_end *out)
{
    const char *at = text;

    memset(out, 0, sizeof *out);
    if (take(&at, "s", &out->sip) && !take_dot(&at))
        return false;
    out->kind = JUDGE_HOST;
    if (strcmp(at, "host") == 0)
        return true;
    if (!take(&at, "c", &out->cube) || !take_dot(&at))
        return false;
    out->kind = JUDGE_SRAM;
    if (strcmp(at, "sram") == 0)
        return true;
    out->kind = JUDGE_SLICE;
    if (take(&at, "slice", &out->unit))
        return *at == 0;
    if (!take(&at, "pe", &out->unit))
        return false;
    out->kind = *at ? JUDGE_TCM : JUDGE_PE;
    return *at == 0 || strcmp(at, ".tcm") == 0;
}

bool judge_end_parse(const struct judge_topo *t, const char *text, struct judge_end *out)
{
    uint32_t cubes = judge_count(t, "sip.cube_mesh.w") * judge_count(t, "sip.cube_mesh.h");

    return parse_end(text, out) && out->sip < judge_count(t, "sips") && out->cube < cubes &&
           out->unit < judge_count(t, "cube.pes");
}

void judge_end_name(const struct judge_end *end, char text[JUDGE_NAME_BYTES])
{
    char sip[16] = "";
    struct name n = {""};

    if (end->sip > 0)
        snprintf(sip, sizeof sip, "s%u.", end->sip);
    if (end->kind == JUDGE_PE)
        n = name_of("%sc%u.pe%u", sip, end->cube, end->unit);
    if (end->kind == JUDGE_HOST)
        n = name_of("%shost", sip);
    if (end->kind == JUDGE_SLICE)
        n = name_of("%sc%u.slice%u", sip, end->cube, end->unit);
    if (end->kind == JUDGE_SRAM)
        n = name_of("%sc%u.sram", sip, end->cube);
    if (end->kind == JUDGE_TCM)
        n = name_of("%sc%u.pe%u.tcm", sip, end->cube, end->unit);
    strcpy(text, n.text);
}

uint64_t judge_memory_bytes(const struct judge_topo *t, const struct judge_end *end)
{
    if (end->kind == JUDGE_SLICE)
        return ((uint64_t)judge_count(t, "cube.hbm.size_gb") << 30) / judge_count(t, "cube.pes");
    if (end->kind == JUDGE_SRAM)
        return (uint64_t)judge_count(t, "cube.sram.size_mb") << 20;
    if (end->kind == JUDGE_TCM)
        return (uint64_t)judge_count(t, "cube.pe.pe_tcm.size_mb") << 20;
    return 0;
}

bool judge_memory_at(const struct judge_topo *t, uint64_t address, struct judge_end *memory,
                     uint64_t *offset)
{
    static const enum judge_kind regions[] = {JUDGE_SLICE, JUDGE_SRAM, JUDGE_TCM};
    uint64_t sip = address >> 52, cube = (address >> 38) % 16384, region = (address >> 36) % 4;
    uint64_t room;

    if (sip >= judge_count(t, "sips") || region == 3 ||
        cube >= judge_count(t, "sip.cube_mesh.w") * judge_count(t, "sip.cube_mesh.h"))
        return false;
    *memory = (struct judge_end){.kind = regions[region], .sip = (uint32_t)sip};
    memory->cube = (uint32_t)cube;
    room = judge_memory_bytes(t, memory);
    *offset = address % (UINT64_C(1) << 36);
    if (*offset / room >= (region == 1 ? 1 : judge_count(t, "cube.pes")))
        return false;
    memory->unit = (uint32_t)(*offset / room);
    *offset %= room;
    return true;
}
