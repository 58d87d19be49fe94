/*
 * energy.c -- joules as sums of counts: products, elements, bytes, bytes times ways, and the time.
 *
 *     pJ = mac_pj[type] * macs + math_pj * elements
 *        + 8 * (tcm_pj_bit * bytes over TCM ports + hbm_pj_bit * bytes of memories
 *               + noc_pj_bit_mm * bytes * mm of wires inside a chiplet
 *               + d2d_pj_bit * bytes * edges between chiplets of a package
 *               + fabric_pj_bit * bytes * edges to a switch or another package)
 *        + static_w * us * 1e6
 *
 * Counts are whole numbers, of a run of the operation alone on all ranks: what is counted does not
 * depend on what else is under way. They are multiplied once, at the end. A transaction's way is
 * that of `route`; its mm are the delays of its wires over ns_per_mm, in whole um.
 *
 * Example: 4096 bytes of the own slice of cube8: 9 mm of wires, that is pe_dma to noc to crossbar
 * to slice. With noc_pj_bit_mm 0.1 that is 8 * 4096 * 0.1 pJ for each of them.
 */
#include "cli/llm/energy.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes from a PE to a memory, or from there to it. */
struct flow {
    kb_place pe, memory;
    bool reads;
    uint64_t bytes;
};

struct flows {
    const struct chip *chip;
    struct flow *flow; /* owned: open addressing, bytes 0: free */
    size_t n, room;
};

/* -- flows ------------------------------------------------------------------------------------ */

static struct flow *place_of(struct flow *flow, size_t room, const struct flow *like)
{
    size_t i = (like->pe * UINT64_C(0x9e3779b97f4a7c15) ^ like->memory * 31) % room;

    while (flow[i].bytes > 0 && (flow[i].pe != like->pe || flow[i].memory != like->memory ||
                                 flow[i].reads != like->reads))
        i = (i + 1) % room;
    return &flow[i];
}

static void grow(struct flows *f)
{
    size_t room = f->room > 0 ? 2 * f->room + 1 : 1021;
    struct flow *flow = memory_new(room, sizeof *flow);

    for (size_t i = 0; i < f->room; i++)
        if (f->flow[i].bytes > 0)
            *place_of(flow, room, &f->flow[i]) = f->flow[i];
    free(f->flow);
    f->flow = flow;
    f->room = room;
}

/* A transaction, or one of its parts, has ended. The bytes of parts are those of the whole. */
static void hear(void *arg, const kb_span *span)
{
    struct flows *f = arg;
    struct flow like = {span->source, span->target, strstr(span->what, "read") != NULL, 0};

    if (span->part == KB_NO_ID || kb_place_kind_of(span->target) == KB_AT_NOTHING ||
        span->nbytes == 0)
        return;
    if (2 * (f->n + 1) > f->room)
        grow(f);
    struct flow *at = place_of(f->flow, f->room, &like);
    if (at->bytes == 0) {
        like.bytes = 0;
        *at = like;
        f->n++;
    }
    at->bytes += span->nbytes;
}

/* -- ways ------------------------------------------------------------------------------------- */

/* One way, hop by hop. */
struct walked {
    char before[KB_NODE_BYTES];
    double ns_per_mm;
    uint64_t um, d2d, fabric;
};

/* How many parts of a name two nodes have in common: 2: a chiplet, 1: a package. */
static int in_common(const char *a, const char *b)
{
    int dots = 0;

    for (; *a && *a == *b; a++, b++)
        dots += *a == '.';
    return dots < 2 ? dots : 2;
}

static void walk(void *arg, const kb_hop *hop)
{
    struct walked *w = arg;
    int common = in_common(w->before, hop->node);

    if (w->before[0] && common == 2 && w->ns_per_mm > 0)
        w->um += (uint64_t)llround((double)hop->wire_fs / (w->ns_per_mm * 1e3));
    w->d2d += w->before[0] && common == 1;
    w->fabric += w->before[0] && common == 0;
    strcpy(w->before, hop->node);
}

static bool end_at(const struct chip *c, kb_place place, kb_endpoint *out)
{
    char name[KB_PLACE_BYTES];
    size_t n = kb_place_name(c->topo, place, name);

    return kb_endpoint_parse(c->topo, name, n, out, NULL) == KB_OK;
}

static void add_flow(const struct chip *c, const struct flow *flow, struct energy_counts *out)
{
    struct walked w = {.ns_per_mm = c->energy.ns_per_mm};
    kb_transaction_op op = flow->reads ? KB_READ : KB_WRITE;
    kb_endpoint pe, memory;
    kb_error why;

    if (!end_at(c, flow->pe, &pe) || !end_at(c, flow->memory, &memory) ||
        kb_route_walk_on(c->topo, kb_plane_of(c->topo, op), op, &pe, &memory, walk, &w, &why) !=
            KB_OK)
        return;
    out->wire_bytes_um += flow->bytes * w.um;
    out->d2d_bytes += flow->bytes * w.d2d;
    out->fabric_bytes += flow->bytes * w.fabric;
}

/* -- counts ----------------------------------------------------------------------------------- */

static void add_station(void *arg, const kb_utilization *use)
{
    struct energy_counts *out = arg;
    bool of_tcm = strstr(use->name, "pe_tcm") != NULL;

    if (use->kind == KB_AT_PORT && of_tcm)
        out->tcm_bytes += use->bytes;
    if (use->kind == KB_AT_MEMORY && !of_tcm)
        out->memory_bytes += use->bytes;
}

/* An operation alone: a graph of it. */
static enum exit_code count_one(const struct cli *cli, const struct chip *c, const struct graph *g,
                                const struct shape *s, size_t i, struct energy_counts *out)
{
    struct graph *one = memory_new(1, sizeof *one);
    struct flows flows = {.chip = c};
    kb_launch_result totals = {0};
    const struct run_count count = {.observer = {.arg = &flows, .end = hear},
                                    .station = add_station,
                                    .arg = out,
                                    .totals = &totals};

    *one = *g;
    one->op[0] = g->op[i];
    one->op[0].both = true;
    one->n = 1;
    one->layers = 1;
    enum exit_code code = run_counted(cli, c, one, s, &count);
    out->macs = totals.gemm_macs;
    out->elements = totals.math_elements;
    for (size_t k = 0; k < flows.room && !code; k++)
        if (flows.flow[k].bytes > 0)
            add_flow(c, &flows.flow[k], out);
    free(flows.flow);
    free(one);
    return code;
}

enum exit_code energy_count(const struct cli *cli, const struct chip *c, const struct graph *g,
                            const struct shape *s, struct energy_counts out[GRAPH_OPS_MAX])
{
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < g->n && !code; i++) {
        out[i] = (struct energy_counts){0};
        if (g->op[i].kind == LLM_TAKE) /* what is taken counts where it is sent */
            continue;
        code = count_one(cli, c, g, s, i, &out[i]);
    }
    return code;
}

/* -- joules ----------------------------------------------------------------------------------- */

/* Of the type that is multiplied: weights of another are converted to it. */
static double mac_pj(const struct chip_energy *e, kb_dtype dtype)
{
    static const char place[] = {
        [KB_F64] = 1,    [KB_F32] = 2, [KB_F16] = 3, [KB_BF16] = 4, [KB_F8E4M3] = 5,
        [KB_F8E5M2] = 5, [KB_I64] = 6, [KB_U64] = 6, [KB_I32] = 7,  [KB_U32] = 7,
        [KB_I16] = 8,    [KB_U16] = 8, [KB_I8] = 9,  [KB_U8] = 9,
    };

    return dtype < sizeof place && place[dtype] > 0 ? e->mac_pj[place[dtype] - 1] : 0;
}

double energy_pj(const struct chip_energy *e, const struct llm_op *op,
                 const struct energy_counts *n)
{
    double bits = e->tcm_pj_bit * (double)n->tcm_bytes + e->hbm_pj_bit * (double)n->memory_bytes +
                  e->noc_pj_bit_mm * ((double)n->wire_bytes_um / 1e3) +
                  e->d2d_pj_bit * (double)n->d2d_bytes + e->fabric_pj_bit * (double)n->fabric_bytes;

    return mac_pj(e, op->x.dtype) * (double)n->macs + e->math_pj * (double)n->elements + 8 * bits;
}
