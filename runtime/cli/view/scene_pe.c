/*
 * scene_pe.c -- the picture of one PE: its seven components, and their edges to NoC and crossbar,
 * or to the L2 of its cube, which stands between it and all slices.
 *
 * Blocks have fixed places: pe_cpu and pe_scheduler in the middle, pe_dma and the two engines in a
 * row below them, pe_tcm under all; pe_fetch_store, which has no edges, stands at the upper right,
 * the NoC and the crossbar (or L2) outside at the left. Nothing is to scale, since the topology
 * gives a PE one point, where it meets the NoC.
 *
 * On cube8 the details are: pe_dma "channels: 1 read, 1 write", pe_gemm "16 x 16 x 16 MAC, 1 GHz",
 * pe_math "64 lanes, 1 GHz", pe_tcm "16 MiB, reads at 512 GB/s". Edges from pe_cpu through
 * pe_scheduler to the engines, and from these to pe_tcm, have neither length nor bandwidth: they
 * show which part commands which, and where bytes go.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/view/scene.h"

enum {
    BLOCK_W = 160,
    BLOCK_H = 44,
    ENGINE_H = 64,
    STEP_X = 210,
    OUTSIDE_W = 96,
    FIRST_X = OUTSIDE_W + 90,
    CPU_Y = 36,
    SCHEDULER_Y = 124,
    ENGINE_Y = 214,
    TCM_Y = 326,
    XBAR_H = 28,
    PE_BOTTOM = TCM_Y + BLOCK_H + 18,
    NOC_IN = 14, /* from the top of pe_dma to its edges with the NoC */
};

/* Blocks, in the order in which they are added. */
enum block { NOC, XBAR, CPU, SCHEDULER, DMA, GEMM, MATH, FETCH_STORE, TCM, N_BLOCKS };

struct pe {
    struct scene *sc;
    struct view_at at;
    uint32_t node[N_BLOCKS]; /* of the topology */
    uint32_t shown[N_BLOCKS];
};

/* An edge that is searched: from this node to a NoC. */
struct way_out {
    const struct scene *sc;
    uint32_t from, to;
};

static void see_edge(void *arg, const kb_edge *edge)
{
    struct way_out *out = arg;
    kb_node to;

    if (edge->from != out->from || out->to < edge->to ||
        kb_node_get(out->sc->cli->topo, edge->to, &to) != KB_OK ||
        (strcmp(to.kind, "noc") != 0 && strcmp(to.kind, "router") != 0))
        return;
    out->to = edge->to;
}

/* The noc, or the router of a mesh, that the PE meets on the first plane. */
static uint32_t noc_of(const struct pe *p)
{
    struct way_out out = {.sc = p->sc, .to = SCENE_NONE};
    char dma[KB_NODE_BYTES];

    snprintf(dma, sizeof dma, "pe%u.pe_dma", p->at.pe);
    out.from = scene_find(p->sc, p->at.sip, p->at.cube, dma);
    kb_edges(p->sc->cli->topo, see_edge, &out);
    return out.to;
}

static void add_block(struct pe *p, enum block b, const char *name, const char *classes, double x,
                      double y, double w, double h)
{
    char full[KB_NODE_BYTES];

    if (b != XBAR)
        snprintf(full, sizeof full, "pe%u.%s", p->at.pe, name);
    else if (scene_find(p->sc, p->at.sip, p->at.cube, "l2") != SCENE_NONE)
        strcpy(full, "l2");
    else
        snprintf(full, sizeof full, "xbar.pe%u", p->at.pe);
    struct scene_node *n = scene_add_node(p->sc, SCENE_BOX, classes, x, y, w, h);
    p->node[b] = b == NOC ? noc_of(p) : scene_find(p->sc, p->at.sip, p->at.cube, full);
    p->shown[b] = (uint32_t)p->sc->n_nodes - 1;
    scene_set_node(p->sc, n, p->node[b]);
    scene_say(n->label, b == XBAR ? full : name);
}

static void set_detail(struct pe *p, enum block b, const char *text)
{
    scene_say(p->sc->node[p->shown[b]].detail, text);
}

/* The rate of each component. */
static void add_details(struct pe *p)
{
    kb_limits limits;
    char text[SCENE_LABEL_BYTES + SVG_NUMBER_BYTES], number[SVG_NUMBER_BYTES];
    const kb_endpoint tcm = {KB_TCM, p->at.sip, p->at.cube, p->at.pe};

    kb_cube_limits(p->sc->cli->topo, p->at.sip, p->at.cube, &limits);
    snprintf(text, sizeof text, "channels: %u read, %u write", limits.read_channels,
             limits.write_channels);
    set_detail(p, DMA, text);
    snprintf(text, sizeof text, "%u \xc3\x97 %u \xc3\x97 %u MAC, %.12s GHz", limits.gemm_mac[0],
             limits.gemm_mac[1], limits.gemm_mac[2], svg_short(limits.gemm_clock_ghz, 3, number));
    set_detail(p, GEMM, text);
    snprintf(text, sizeof text, "%u lanes, %.12s GHz", limits.math_lanes,
             svg_short(limits.math_clock_ghz, 3, number));
    set_detail(p, MATH, text);
    set_detail(p, FETCH_STORE, "FETCH and STORE, no edges");
    snprintf(text, sizeof text, "%u MiB, reads at %.12s GB/s",
             (unsigned)(kb_memory_bytes(p->sc->cli->topo, &tcm) >> 20),
             svg_short(limits.tcm_read_gbs, 2, number));
    set_detail(p, TCM, text);
}

static void add_blocks(struct pe *p)
{
    const double x[3] = {FIRST_X, FIRST_X + STEP_X, FIRST_X + 2 * STEP_X};
    struct scene_node *n = scene_add_node(p->sc, SCENE_OUTLINE, "plane", FIRST_X - 20, 0,
                                          2 * STEP_X + BLOCK_W + 40, PE_BOTTOM);

    snprintf(n->name, sizeof n->name, "sip%u.cube%u.pe%u", p->at.sip, p->at.cube, p->at.pe);
    strcpy(n->label, n->name);
    add_block(p, NOC, p->sc->cli->info.planes > 1 ? "nocs" : "noc", "io", 0, CPU_Y, OUTSIDE_W,
              ENGINE_Y + 2 * NOC_IN - CPU_Y);
    add_block(p, XBAR, "xbar", "io", 0, ENGINE_Y + ENGINE_H - XBAR_H, OUTSIDE_W, XBAR_H);
    add_block(p, CPU, "pe_cpu", "box", x[1], CPU_Y, BLOCK_W, BLOCK_H);
    add_block(p, SCHEDULER, "pe_scheduler", "box", x[1], SCHEDULER_Y, BLOCK_W, BLOCK_H);
    add_block(p, DMA, "pe_dma", "box", x[0], ENGINE_Y, BLOCK_W, ENGINE_H);
    add_block(p, GEMM, "pe_gemm", "compute", x[1], ENGINE_Y, BLOCK_W, ENGINE_H);
    add_block(p, MATH, "pe_math", "compute", x[2], ENGINE_Y, BLOCK_W, ENGINE_H);
    add_block(p, FETCH_STORE, "pe_fetch_store", "box", x[2], CPU_Y, BLOCK_W, BLOCK_H);
    add_block(p, TCM, "pe_tcm", "memory", x[0], TCM_Y, 2 * STEP_X + BLOCK_W, BLOCK_H);
    add_details(p);
}

/* -- edges ---------------------------------------------------------------------------------- */

static int block_of(const struct pe *p, uint32_t node)
{
    int b = 0;

    if (node - p->node[NOC] < p->sc->cli->info.planes)
        return NOC;
    while (b < N_BLOCKS && p->node[b] != node)
        b++;
    return b;
}

/* A level edge from one box to the next, at `y`. */
static void go_level(struct scene_edge *e, const struct scene_node *a, const struct scene_node *b,
                     double y)
{
    bool east = a->x < b->x;

    scene_bend(e, east ? a->x + a->w : a->x, y);
    scene_bend(e, east ? b->x : b->x + b->w, y);
}

/* An upright edge in the middle of the narrower box. */
static void go_down(struct scene_edge *e, const struct scene_node *a, const struct scene_node *b)
{
    double x = fmin(a->w, b->w) == a->w ? a->x + a->w / 2 : b->x + b->w / 2;

    scene_bend(e, x, a->y + a->h);
    scene_bend(e, x, b->y);
}

/* An edge with a noc, beside those of the other planes. */
static void go_noc(const struct pe *p, struct scene_edge *e, bool cpu)
{
    const struct scene_node *node = p->sc->node;
    uint32_t planes = p->sc->cli->info.planes, at = p->node[NOC];
    uint32_t plane = (e->edge.from - at < planes ? e->edge.from : e->edge.to) - at;
    double y = (cpu ? CPU_Y + BLOCK_H / 2.0 : ENGINE_Y + NOC_IN);

    y += (plane - (planes - 1) / 2.0) * fmin(10, 24.0 / planes);
    go_level(e, &node[e->from], &node[e->to], y);
}

/* The scheduler reaches pe_dma and pe_math by a corner, pe_gemm straight down. */
static void add_edge(void *arg, const kb_edge *edge)
{
    struct pe *p = arg;
    int from = block_of(p, edge->from), to = block_of(p, edge->to);

    if (from == N_BLOCKS || to == N_BLOCKS || (from == NOC && to == XBAR) ||
        (from == XBAR && to == NOC))
        return;
    struct scene_edge *e = scene_add_edge(p->sc, edge, p->shown[from], p->shown[to]);
    const struct scene_node *a = &p->sc->node[p->shown[from]], *b = &p->sc->node[p->shown[to]];
    if (from == CPU && to == SCHEDULER)
        go_down(e, a, b);
    else if (from == NOC || to == NOC)
        go_noc(p, e, from == CPU || to == CPU);
    else if (to == XBAR)
        go_level(e, a, b, ENGINE_Y + ENGINE_H - XBAR_H / 2.0);
    else if (from == SCHEDULER && to != GEMM) {
        scene_bend(e, to == DMA ? a->x : a->x + a->w, a->y + a->h / 2);
        scene_bend(e, b->x + b->w / 2, a->y + a->h / 2);
        scene_bend(e, b->x + b->w / 2, b->y);
    } else
        go_down(e, a, b);
}

void scene_pe(struct scene *sc, struct view_at at)
{
    struct pe p = {.sc = sc, .at = at};
    char sip[16] = "";

    if (at.sip > 0)
        snprintf(sip, sizeof sip, "s%u.", at.sip);
    snprintf(sc->title, sizeof sc->title, "PE %sc%u.pe%u", sip, at.cube, at.pe);
    sc->width = FIRST_X + 2 * STEP_X + BLOCK_W + 20;
    sc->height = PE_BOTTOM;
    sc->note = "A PE's parts have no place of their own: this is not to scale.";
    add_blocks(&p);
    kb_edges(sc->cli->topo, add_edge, &p);
}
