/*
 * emit.c -- writes a topology as m4 definitions, which the templates turn into C.
 *
 * The generator computes and the templates lay out: no line of C is written here, except for the
 * values of struct kb_topology, and no number is computed there. So the C that comes out can be
 * read in templates/, almost as it will be.
 *
 * A single value is a macro, gen_sips or gen_n_hops. A table is a macro that applies its argument
 * to every row, so that the template decides how a row looks:
 *
 *     m4_define([[gen_map_segments_out]], [[m4_dnl
 *     $1(142, 618, 3, 490, 3, [[SIDE_E]], 10000, 0, [[pe1.pe_dma]], [[ucie-E]])m4_dnl
 *     ]])m4_dnl
 *
 * and in templates/topo.c.m4, with gen_segment_row as its argument, becomes
 *
 *     [142] = {618, 490, 3, 3, SIDE_E, 10000, 0},
 *
 * with pe1.pe_dma .. ucie-E as a comment behind it.
 *
 * The fields of struct kb_topology need no line here or in a template: topology.def says how each
 * is written.
 *
 * The output is the same for the same YAML, byte for byte, on any machine. Doubles are written with
 * the fewest digits that read back to the same value; names are quoted, since [[ and ]] cannot be
 * part of one.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "components.h"
#include "emit.h"
#include "emit_parts.h"
#include "machine/mesh.h"

/* In comments, and in C. */
static const char *const side_names[] = {"N", "E", "S", "W", "IO"};

static const char *const chiplet_names[] = {
#define CHIPLET(NAME) "AT_" #NAME,
#include "machine/kinds.def"
};

static const char *const owner_names[] = {
#define OWNER(NAME) "LINK_" #NAME,
#include "machine/kinds.def"
};

static const char *const kind_names[] = {
#define KIND(NAME, name, on_way, placed) "NODE_" #NAME,
#include "machine/kinds.def"
};

static void emit_nodes(FILE *out, const char *name, const struct node_row *rows, uint32_t n)
{
    emit_begin_map(out, name);
    for (uint32_t i = 0; i < n; i++) {
        char x[40], y[40];

        fprintf(out, "$1(%u, [[%s]], [[%s]], %" PRId64 ", %s, %s)m4_dnl\n", i, rows[i].name,
                kind_names[rows[i].kind], rows[i].overhead_fs, emit_real(rows[i].x_mm, x),
                emit_real(rows[i].y_mm, y));
    }
    emit_end_map(out);
}

static void emit_links(FILE *out, const struct routes *r, const char *name,
                       const struct link_row *rows, uint32_t n)
{
    emit_begin_map(out, name);
    for (uint32_t i = 0; i < n; i++) {
        char mm[40], gbs[40];

        fprintf(out, "$1(%u, %u, %u, [[%s]], %u, %u, %u, %" PRId64 ", %s, [[%s]])m4_dnl\n", i,
                rows[i].from, rows[i].to, emit_exit_name(r, rows[i].leaves), rows[i].both_ways,
                rows[i].lanes[0], rows[i].lanes[1], rows[i].wire_fs,
                emit_real(rows[i].length_mm, mm), emit_real(rows[i].gbs, gbs));
    }
    emit_end_map(out);
}

/* The name of a node of a cube: the same in each kind that has it. */
static const char *cube_node_name(const struct routes *r, uint32_t node)
{
    const char *name = "";

    for (uint32_t kind = 0; !*name && kind < r->topo.n_kinds; kind++)
        name = r->cube_nodes[kind * r->topo.n_cube_nodes + node].name;
    return name;
}

static const char *hop_name(const struct routes *r, const struct hop_row *hop)
{
    if (hop->chiplet == AT_CUBE)
        return cube_node_name(r, hop->node);
    return hop->chiplet == AT_FABRIC ? r->fabric_nodes[0].name : r->io_nodes[hop->node].name;
}

static void emit_hops(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "hops");
    for (uint32_t i = 0; i < r->n_hops; i++) {
        const struct hop_row *hop = &r->hops[i];
        char gbs[40];

        fprintf(out,
                "$1(%u, [[%s]], %u, [[%s]], %u, %u, %" PRId64 ", %" PRId64 ", %" PRId64
                ", [[%s]], [[%s]])m4_dnl\n",
                i, chiplet_names[hop->chiplet], hop->node, owner_names[hop->owner], hop->link,
                hop->back, hop->overhead_fs, hop->cross_fs, hop->wire_fs, emit_real(hop->gbs, gbs),
                hop_name(r, hop));
    }
    emit_end_map(out);
}

/* Of each hop, if any has one: machine/vcs.h */
static void emit_shares(FILE *out, const char *name, const struct routes *r, const uint8_t *shares)
{
    emit_begin_map(out, name);
    for (uint32_t i = 0; i < r->n_hops; i++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", i, shares[i]);
    emit_end_map(out);
}

static void emit_legs(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "legs");
    for (uint32_t i = 0; i < r->n_legs; i++) {
        const struct leg_row *leg = &r->legs[i];
        char gbs[40];

        fprintf(out,
                "$1(%u, [[%s]], %u, %u, %u, %" PRId32 ", %" PRId64 ", %" PRId64 ", [[%s]])m4_dnl\n",
                i, owner_names[leg->owner], leg->back, leg->fed, leg->link, leg->station,
                leg->wire_fs, leg->overhead_fs, emit_real(leg->gbs, gbs));
    }
    emit_end_map(out);
}

static void emit_cube_rows(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "cube_rows");
    for (uint32_t i = 0; i < r->n_cube_rows; i++)
        fprintf(out,
                "$1(%u, [[{{0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64
                "}}]], %u, %u, %u, %u, %u, %uu, %u, %u, %u)m4_dnl\n",
                i, r->cube_rows[i].pes.words[0], r->cube_rows[i].pes.words[1],
                r->cube_rows[i].pes.words[2], r->cube_rows[i].pes.words[3],
                r->cube_rows[i].first_node, r->cube_rows[i].first_pe, r->cube_rows[i].first_slice,
                r->cube_rows[i].rank, r->cube_rows[i].before, r->cube_rows[i].home,
                r->cube_rows[i].home_rank, r->cube_rows[i].there, r->cube_rows[i].kind);
    emit_end_map(out);
}

static void emit_home_slices(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "home_slices");
    for (uint32_t i = 0; i < r->topo.n_kinds * r->topo.pes; i++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", i, r->home_slices[i]);
    emit_end_map(out);
}

/* Segments [first, end) of one kind of cubes, whose rows begin at `of_kind`. */
static void emit_segment_rows(FILE *out, const struct routes *r, uint32_t of_kind, uint32_t first,
                              uint32_t end)
{
    for (uint32_t i = of_kind + first; i < of_kind + end; i++) {
        const struct segment_row *s = &r->segments[i];
        const struct hop_row *hop = &r->hops[s->first_hop];

        fprintf(out,
                "$1(%u, %u, %u, %u, %u, [[%s]], %" PRId64 ", %" PRId64 ", [[%s]], [[%s]])m4_dnl\n",
                i, s->first_hop, s->n_hops, s->first_leg, s->n_legs,
                emit_exit_name(r, s->n_hops ? s->exit : EXIT_END), s->tail_wire_fs,
                s->tail_overhead_fs, s->n_hops ? hop_name(r, hop) : "none",
                s->n_hops ? hop_name(r, hop + s->n_hops - 1) : "none");
    }
}

/* The same of all kinds. */
static void emit_segments(FILE *out, const char *name, const struct routes *r, uint32_t first,
                          uint32_t end)
{
    emit_begin_map(out, name);
    for (uint32_t kind = 0; kind < r->topo.n_kinds; kind++)
        emit_segment_rows(out, r, kind * r->n_segments, first, end);
    emit_end_map(out);
}

static void emit_all_segments(FILE *out, const struct routes *r)
{
    emit_segments(out, "segments_local", r, r->topo.seg_local, r->topo.seg_out);
    emit_segments(out, "segments_out", r, r->topo.seg_out, r->topo.seg_pass);
    emit_segments(out, "segments_pass", r, r->topo.seg_pass, r->topo.seg_in);
    emit_segments(out, "segments_in", r, r->topo.seg_in, r->topo.seg_host);
    emit_segments(out, "segments_host", r, r->topo.seg_host, r->topo.seg_host_in);
    emit_segments(out, "segments_host_in", r, r->topo.seg_host_in, r->topo.seg_cross);
    emit_segments(out, "segments_cross", r, r->topo.seg_cross, r->n_segments);
}

/* -- sums ----------------------------------------------------------------------------------- */

/* The ends of row `i` of a table of costs, for a comment: "pe1 -> slice3". */
enum { WAY_BYTES = 40 };

typedef void (*way_fn)(const struct routes *r, uint32_t i, char way[WAY_BYTES]);

/* `from` -> memory `unit` of a cube. */
static void put_way_in(const struct routes *r, const char *from, uint32_t unit, char way[WAY_BYTES])
{
    if (unit < r->topo.slices)
        snprintf(way, WAY_BYTES, "%s -> slice%u", from, unit);
    else if (unit == r->topo.slices)
        snprintf(way, WAY_BYTES, "%s -> sram", from);
    else
        snprintf(way, WAY_BYTES, "%s -> pe%u.tcm", from, unit - r->topo.slices - 1);
}

static void way_local(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    char from[16];

    snprintf(from, sizeof from, "pe%u", i / r->topo.n_units % r->topo.sources);
    put_way_in(r, from, i % r->topo.n_units, way);
}

static void way_out(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    snprintf(way, WAY_BYTES, "pe%u -> %s", i / N_EXITS % r->topo.sources, side_names[i % N_EXITS]);
}

static void way_in(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    put_way_in(r, side_names[i / r->topo.n_units % N_SIDES], i % r->topo.n_units, way);
}

static void way_leave(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    (void)r;
    snprintf(way, WAY_BYTES, "column %u -> the other SIP", i);
}

static void way_enter(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    (void)r;
    snprintf(way, WAY_BYTES, "column 0 -> column %u", i);
}

static void way_host(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    (void)r;
    snprintf(way, WAY_BYTES, "host -> column %u", i);
}

static void way_host_cpu(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    if (r->found->net)
        snprintf(way, WAY_BYTES, "port%u -> m_cpu", i % r->topo.ports);
    else
        snprintf(way, WAY_BYTES, "%s -> m_cpu", side_names[r->topo.regular ? SIDE_W : i % N_SIDES]);
}

static void way_host_in(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    put_way_in(r, "m_cpu", i % r->topo.slices, way);
}

static void way_launch(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    snprintf(way, WAY_BYTES, "m_cpu -> pe%u.pe_cpu", i % r->topo.pes);
}

static void emit_costs(FILE *out, const char *name, const struct routes *r, way_fn way_of,
                       const struct cost_row *rows, uint32_t n)
{
    emit_begin_map(out, name);
    for (uint32_t i = 0; i < n; i++) {
        char gbs[40], way[WAY_BYTES];

        way_of(r, i, way);
        fprintf(out, "$1(%u, %" PRId64 ", %" PRId64 ", [[%s]], [[%s]])m4_dnl\n", i, rows[i].wire_fs,
                rows[i].overhead_fs, emit_real(rows[i].link_gbs, gbs), way);
    }
    emit_end_map(out);
}

static void emit_mesh(FILE *out, const struct routes *r)
{
    int64_t w = r->topo.w, h = r->topo.h;
    const struct mesh_row *row = r->cost_mesh;

    emit_begin_map(out, "cost_mesh");
    for (int64_t dy = 1 - h; dy < h; dy++)
        for (int64_t dx = 1 - w; dx < w; dx++, row++) {
            char gbs[40];

            fprintf(out,
                    "$1(%td, [[%s]], [[%s]], %" PRId64 ", %" PRId64 ", [[%s]], %" PRId64
                    ", %" PRId64 ")m4_dnl\n",
                    row - r->cost_mesh, emit_exit_name(r, row->exit), emit_exit_name(r, row->side),
                    row->cost.wire_fs, row->cost.overhead_fs, emit_real(row->cost.link_gbs, gbs),
                    dx, dy);
        }
    emit_end_map(out);
}

/* The resolved YAML, one C string for each line. It has no character that C needs to escape. The
 * string is quoted twice, as the row that it is put into is read again: [[2, 2], [3, 2]] would lose
 * its brackets, and a link that is named gen_w its name.
 */
static void emit_config(FILE *out, const char *config)
{
    emit_begin_map(out, "config");
    while (*config) {
        size_t len = strcspn(config, "\n");

        fprintf(out, "$1([[[[\"%.*s\\n\"]]]])m4_dnl\n", (int)len, config);
        config += len + (config[len] == '\n');
    }
    emit_end_map(out);
}

/* The file's name, with '_' for each character that could mean something to m4 or end a C comment.
 */
static void define_input(FILE *out, const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

    fputs("m4_define([[gen_input]], [[", out);
    for (; *name; name++)
        fputc(strchr(plain, *name) ? *name : '_', out);
    fputs("]])m4_dnl\n", out);
}

static void define_upper(FILE *out, const char *name, const char *text)
{
    fprintf(out, "m4_define([[gen_%s]], [[", name);
    for (; *text; text++) /* of [a-z0-9_] */
        fputc(*text >= 'a' ? *text - 'a' + 'A' : *text, out);
    fputs("]])m4_dnl\n", out);
}

/* The place of each cube in a table of distances. */
static void emit_cube_pos(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "cube_pos");
    for (uint32_t cube = 0; cube < r->topo.w * r->topo.h; cube++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", cube, r->cube_pos[cube]);
    emit_end_map(out);
}

static void way_segment(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    (void)r;
    snprintf(way, WAY_BYTES, "segment %u", i);
}

static void emit_between(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "between");
    for (uint32_t i = 0; i < r->n_between_rows; i++) {
        const struct mesh_row *way = &r->between[i].way;
        char gbs[40];

        fprintf(out,
                "$1(%u, [[%s]], [[%s]], %" PRId64 ", %" PRId64 ", [[%s]], %" PRId64 ")m4_dnl\n", i,
                emit_exit_name(r, way->exit), emit_exit_name(r, way->side), way->cost.wire_fs,
                way->cost.overhead_fs, emit_real(way->cost.link_gbs, gbs), r->between[i].ucie_fs);
    }
    emit_end_map(out);
    emit_begin_map(out, "between_of");
    for (uint32_t i = 0; i < r->n_between_of; i++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", i, r->between_of[i]);
    emit_end_map(out);
    if (r->topo.between_by == BY_DISTANCE)
        emit_cube_pos(out, r);
}

/* Any machine but a plain mesh. */
static void emit_any_costs(FILE *out, const struct routes *r)
{
    emit_between(out, r);
    emit_costs(out, "cost_segment", r, way_segment, r->cost_segment,
               r->topo.n_kinds * r->n_segments);
}

/* A plain mesh. */
static void emit_regular_costs(FILE *out, const struct routes *r)
{
    const struct kb_topology *t = &r->topo;

    emit_costs(out, "cost_local", r, way_local, t->cost_local, t->sources * t->n_units);
    emit_costs(out, "cost_out", r, way_out, t->cost_out, t->sources * N_EXITS);
    emit_costs(out, "cost_in", r, way_in, t->cost_in, N_SIDES * t->n_units);
    emit_mesh(out, r);
    emit_cube_pos(out, r);
    emit_costs(out, "cost_leave", r, way_leave, t->cost_leave, t->w);
    emit_costs(out, "cost_enter", r, way_enter, t->cost_enter, t->w);
    emit_costs(out, "cost_host", r, way_host, t->cost_host, t->w);
}

/* -- components ------------------------------------------------------------------------------- */

/* The components, and which of them stands in place of each box of each kind of cube. */
static void emit_parts(FILE *out, const struct routes *r)
{
    static const char *const boxes[N_BOXES] = {
        [BOX_FABRIC] = "fabric", [BOX_PCIE_EP] = "pcie_ep", [BOX_UCIE] = "ucie",
        [BOX_NOC] = "noc",       [BOX_SRAM] = "sram",       [BOX_XBAR] = "xbar",
        [BOX_HBM] = "hbm",       [BOX_GEMM] = "gemm",       [BOX_MATH] = "math"};
    static const char *const kinds[N_COMPONENT_KINDS] = {"memory", "queueing", "front", "node",
                                                         "engine"};
    unsigned has[N_COMPONENT_KINDS] = {0};

    emit_define_int(out, "n_parts", r->spec->parts != NULL);
    emit_begin_map(out, "parts");
    for (const struct part *p = r->spec->parts; p; p = p->next) {
        has[p->component->kind] = 1;
        fprintf(out, "$1([[%s]], [[%s]], [[%s]], [[%s]])m4_dnl\n", boxes[p->box],
                p->component->name, kinds[p->component->kind], key_rows[p->key].path);
    }
    emit_end_map(out);
    emit_begin_map(out, "boxes");
    for (uint32_t i = 0; r->spec->parts && i < r->topo.n_kinds * N_BOXES; i++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", i, (unsigned)r->boxes[i]);
    emit_end_map(out);
    emit_define_int(out, "has_memories", has[COMPONENT_MEMORY]);
    emit_define_int(out, "has_queueing", has[COMPONENT_QUEUEING] || has[COMPONENT_FRONT]);
    emit_define_int(out, "has_fronts", has[COMPONENT_FRONT]);
    emit_define_int(out, "has_nodes", has[COMPONENT_NODE]);
    emit_define_int(out, "has_engines", has[COMPONENT_ENGINE]);
}

bool emit(const struct routes *r, const char *input, FILE *out)
{
    const struct kb_topology *t = &r->topo;
    uint32_t n = t->n_kinds;

    emit_define(out, "version", KB_VERSION);
    define_input(out, input);
    emit_define(out, "name", t->name);
    define_upper(out, "NAME", t->name);
    emit_define(out, "hash", t->hash);
    define_upper(out, "LINKS", key_rows[KEY_contention_links].words[t->links]);
    emit_fields(out, t);
    emit_define_int(out, "n_hops", r->n_hops);
    emit_define_int(out, "n_legs", r->n_legs);
    emit_config(out, t->config);
    emit_kinds(out, r);
    emit_nodes(out, "cube_nodes", t->cube_nodes, n * t->n_cube_nodes);
    emit_nodes(out, "io_nodes", t->io_nodes, N_IO_NODES);
    emit_nodes(out, "fabric_nodes", t->fabric_nodes, 1);
    emit_links(out, r, "cube_links", t->cube_links, n * t->n_cube_links);
    emit_links(out, r, "io_links", t->io_links, t->n_io_links);
    emit_all_segments(out, r);
    emit_hops(out, r);
    emit_stops(out, r);
    if (t->vcs_vary) {
        emit_shares(out, "request_shares", r, r->request_shares);
        emit_shares(out, "answer_shares", r, r->answer_shares);
    }
    emit_legs(out, r);
    emit_cube_rows(out, r);
    emit_home_slices(out, r);
    emit_planes(out, r);
    if (t->has_gaps)
        emit_gaps(out, r);
    if (t->regular)
        emit_regular_costs(out, r);
    else
        emit_any_costs(out, r);
    emit_parts(out, r);
    n *= r->n_host_sides;
    emit_costs(out, "cost_host_cpu", r, way_host_cpu, t->cost_host_cpu, n);
    emit_costs(out, "cost_host_in", r, way_host_in, t->cost_host_in, n * t->slices);
    emit_costs(out, "cost_launch", r, way_launch, t->cost_launch, n * t->pes);
    return fflush(out) == 0 && !ferror(out);
}
