/* emit.c -- writes a topology as m4 definitions, which the templates turn into C. */
#include "emit.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_names[] = {"N", "E", "S", "W", "IO", "N_SIDES"};
static const char *const exit_names[] = {"SIDE_N", "SIDE_E",  "SIDE_S",
                                         "SIDE_W", "EXIT_IO", "N_EXITS"};
static const char *const chiplet_names[] = {"CUBE", "IO", "IO_TO", "FABRIC"};
static const char *const owner_names[] = {"NONE",   "CUBE",  "NEXT",     "IO",
                                          "IO_ROW", "IO_TO", "IO_TO_ROW"};
static const char *const kind_names[] = {
    "NOC",      "M_CPU",  "SRAM",         "UCIE",   "XBAR",           "BRIDGE",
    "HBM_CTRL", "PE_CPU", "PE_SCHEDULER", "PE_DMA", "PE_FETCH_STORE", "PE_GEMM",
    "PE_MATH",  "PE_TCM", "PCIE_EP",      "IO_NOC", "IO_CPU",         "SWITCH",
};

/* The shortest decimal that reads back equal, as a C constant. */
static const char *real(double x, char text[40])
{
    int digits = 1;

    if (isinf(x))
        return "INFINITY";
    do
        snprintf(text, 40, "%.*g", digits, x);
    while (strtod(text, NULL) != x && digits++ < 17);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    return text;
}

static void define(FILE *out, const char *name, const char *value)
{
    fprintf(out, "m4_define([[gen_%s]], [[%s]])m4_dnl\n", name, value);
}

static void define_int(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "m4_define([[gen_%s]], [[%" PRIu64 "]])m4_dnl\n", name, value);
}

/* A list is a macro that applies its argument to every row; rows stand between these two. */
static void begin_map(FILE *out, const char *name)
{
    fprintf(out, "m4_define([[gen_map_%s]], [[m4_dnl\n", name);
}

static void end_map(FILE *out)
{
    fputs("]])m4_dnl\n", out);
}

static void emit_nodes(FILE *out, const char *name, const struct node_row *rows, uint32_t n)
{
    begin_map(out, name);
    for (uint32_t i = 0; i < n; i++) {
        char x[40], y[40];

        fprintf(out, "$1(%u, [[%s]], [[%s]], %" PRId64 ", %s, %s)m4_dnl\n", i, rows[i].name,
                kind_names[rows[i].kind], rows[i].overhead_fs, real(rows[i].x_mm, x),
                real(rows[i].y_mm, y));
    }
    end_map(out);
}

static void emit_links(FILE *out, const char *name, const struct link_row *rows, uint32_t n)
{
    begin_map(out, name);
    for (uint32_t i = 0; i < n; i++) {
        char mm[40], gbs[40];

        fprintf(out, "$1(%u, %u, %u, [[%s]], %u, %" PRId64 ", %s, [[%s]])m4_dnl\n", i, rows[i].from,
                rows[i].to, exit_names[rows[i].leaves], rows[i].both_ways, rows[i].wire_fs,
                real(rows[i].length_mm, mm), real(rows[i].gbs, gbs));
    }
    end_map(out);
}

static const char *hop_name(const struct routes *r, const struct hop_row *hop)
{
    if (hop->chiplet == AT_CUBE)
        return r->cube_nodes[hop->node].name;
    return hop->chiplet == AT_FABRIC ? r->fabric_nodes[0].name : r->io_nodes[hop->node].name;
}

static void emit_hops(FILE *out, const struct routes *r)
{
    begin_map(out, "hops");
    for (uint32_t i = 0; i < r->n_hops; i++) {
        const struct hop_row *hop = &r->hops[i];
        char gbs[40];

        fprintf(out,
                "$1(%u, [[%s]], %u, [[%s]], %u, %u, %" PRId64 ", %" PRId64 ", %" PRId64
                ", [[%s]], [[%s]])m4_dnl\n",
                i, chiplet_names[hop->chiplet], hop->node, owner_names[hop->owner], hop->link,
                hop->back, hop->overhead_fs, hop->cross_fs, hop->wire_fs, real(hop->gbs, gbs),
                hop_name(r, hop));
    }
    end_map(out);
}

static void emit_legs(FILE *out, const struct routes *r)
{
    begin_map(out, "legs");
    for (uint32_t i = 0; i < r->n_legs; i++) {
        const struct leg_row *leg = &r->legs[i];
        char gbs[40];

        fprintf(out, "$1(%u, [[%s]], %u, %u, %" PRId64 ", %" PRId64 ", [[%s]])m4_dnl\n", i,
                owner_names[leg->owner], leg->link, leg->back, leg->wire_fs, leg->overhead_fs,
                real(leg->gbs, gbs));
    }
    end_map(out);
}

/* Segments [first, end): those of one kind. */
static void emit_segments(FILE *out, const char *name, const struct routes *r, uint32_t first,
                          uint32_t end)
{
    begin_map(out, name);
    for (uint32_t i = first; i < end; i++) {
        const struct segment_row *s = &r->segments[i];
        const struct hop_row *hop = &r->hops[s->first_hop];

        fprintf(out,
                "$1(%u, %u, %u, %u, %u, [[%s]], %" PRId64 ", %" PRId64 ", [[%s]], [[%s]])m4_dnl\n",
                i, s->first_hop, s->n_hops, s->first_leg, s->n_legs,
                exit_names[s->n_hops ? s->exit : N_EXITS], s->tail_wire_fs, s->tail_overhead_fs,
                s->n_hops ? hop_name(r, hop) : "none",
                s->n_hops ? hop_name(r, hop + s->n_hops - 1) : "none");
    }
    end_map(out);
}

static void emit_all_segments(FILE *out, const struct routes *r)
{
    emit_segments(out, "segments_local", r, r->seg_local, r->seg_out);
    emit_segments(out, "segments_out", r, r->seg_out, r->seg_pass);
    emit_segments(out, "segments_pass", r, r->seg_pass, r->seg_in);
    emit_segments(out, "segments_in", r, r->seg_in, r->seg_host);
    emit_segments(out, "segments_host", r, r->seg_host, r->seg_host_in);
    emit_segments(out, "segments_host_in", r, r->seg_host_in, r->seg_cross);
    emit_segments(out, "segments_cross", r, r->seg_cross, r->n_segments);
}

/* -- sums ----------------------------------------------------------------------------------- */

enum { WAY_BYTES = 40 };

/* The way that row `i` of a table of sums is for, as a comment: "pe1 -> slice3". */
typedef void (*way_fn)(const struct routes *r, uint32_t i, char way[WAY_BYTES]);

/* `from` -> memory `unit` of a cube. */
static void put_way_in(const struct routes *r, const char *from, uint32_t unit, char way[WAY_BYTES])
{
    if (unit < r->pes)
        snprintf(way, WAY_BYTES, "%s -> slice%u", from, unit);
    else if (unit == r->pes)
        snprintf(way, WAY_BYTES, "%s -> sram", from);
    else
        snprintf(way, WAY_BYTES, "%s -> pe%u.tcm", from, unit - r->pes - 1);
}

static void way_local(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    char from[16];

    snprintf(from, sizeof from, "pe%u", i / r->n_units);
    put_way_in(r, from, i % r->n_units, way);
}

static void way_out(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    (void)r;
    snprintf(way, WAY_BYTES, "pe%u -> %s", i / N_EXITS, side_names[i % N_EXITS]);
}

static void way_in(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    put_way_in(r, side_names[i / r->n_units], i % r->n_units, way);
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
    (void)r;
    (void)i;
    snprintf(way, WAY_BYTES, "W -> m_cpu");
}

static void way_host_in(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    put_way_in(r, "m_cpu", i, way);
}

static void way_launch(const struct routes *r, uint32_t i, char way[WAY_BYTES])
{
    (void)r;
    snprintf(way, WAY_BYTES, "m_cpu -> pe%u.pe_cpu", i);
}

static void emit_costs(FILE *out, const char *name, const struct routes *r, way_fn way_of,
                       const struct cost_row *rows, uint32_t n)
{
    begin_map(out, name);
    for (uint32_t i = 0; i < n; i++) {
        char gbs[40], way[WAY_BYTES];

        way_of(r, i, way);
        fprintf(out, "$1(%u, %" PRId64 ", %" PRId64 ", [[%s]], [[%s]])m4_dnl\n", i, rows[i].wire_fs,
                rows[i].overhead_fs, real(rows[i].link_gbs, gbs), way);
    }
    end_map(out);
}

static void emit_mesh(FILE *out, const struct routes *r)
{
    int64_t w = r->w, h = r->h;
    const struct mesh_row *row = r->cost_mesh;

    begin_map(out, "cost_mesh");
    for (int64_t dy = 1 - h; dy < h; dy++)
        for (int64_t dx = 1 - w; dx < w; dx++, row++) {
            char gbs[40];

            fprintf(out,
                    "$1(%td, [[%s]], [[%s]], %" PRId64 ", %" PRId64 ", [[%s]], %" PRId64
                    ", %" PRId64 ")m4_dnl\n",
                    row - r->cost_mesh, side_names[row->exit], side_names[row->side],
                    row->cost.wire_fs, row->cost.overhead_fs, real(row->cost.link_gbs, gbs), dx,
                    dy);
        }
    end_map(out);
}

static void emit_memory(FILE *out, const char *name, const struct memory_row *m)
{
    char gbs[40];

    fprintf(out,
            "m4_define([[gen_%s]], [[{.overhead_fs = %" PRId64 ", .gbs = %s, .nbytes = %" PRIu64
            "}]])m4_dnl\n",
            name, m->overhead_fs, real(m->gbs, gbs), m->nbytes);
}

static void emit_pe(FILE *out, const struct pe_row *pe)
{
    char gemm[40], math[40];

    define_int(out, "cpu_overhead_fs", (uint64_t)pe->cpu_overhead_fs);
    define_int(out, "scheduler_overhead_fs", (uint64_t)pe->scheduler_overhead_fs);
    define_int(out, "gemm_overhead_fs", (uint64_t)pe->gemm_overhead_fs);
    define_int(out, "math_overhead_fs", (uint64_t)pe->math_overhead_fs);
    define(out, "gemm_clock_ghz", real(pe->gemm_clock_ghz, gemm));
    define(out, "math_clock_ghz", real(pe->math_clock_ghz, math));
    fprintf(out, "m4_define([[gen_tile]], [[{%u, %u, %u}]])m4_dnl\n", pe->tile[0], pe->tile[1],
            pe->tile[2]);
    fprintf(out, "m4_define([[gen_mac]], [[{%u, %u, %u}]])m4_dnl\n", pe->mac[0], pe->mac[1],
            pe->mac[2]);
    define_int(out, "tile_buffers", pe->tile_buffers);
    define_int(out, "lanes", pe->lanes);
    define_int(out, "special_cycles", pe->special_cycles);
    define_int(out, "ipcq_slots", pe->ipcq_slots);
    define_int(out, "ipcq_slot_bytes", pe->ipcq_slot_bytes);
    define_int(out, "ipcq_space", pe->ipcq_space);
}

/* The resolved YAML, a C string a line; it holds no character that C would have to escape. */
static void emit_config(FILE *out, const char *config)
{
    begin_map(out, "config");
    while (*config) {
        size_t len = strcspn(config, "\n");

        fprintf(out, "$1([[\"%.*s\\n\"]])m4_dnl\n", (int)len, config);
        config += len + (config[len] == '\n');
    }
    end_map(out);
}

/* A file may be called anything; what m4 or a C comment might take for its own becomes '_'. */
static void define_input(FILE *out, const char *name)
{
    fputs("m4_define([[gen_input]], [[", out);
    for (; *name; name++)
        fputc(isalnum((unsigned char)*name) || strchr("._+-", *name) ? *name : '_', out);
    fputs("]])m4_dnl\n", out);
}

static void emit_upper_name(FILE *out, const char *name)
{
    fputs("m4_define([[gen_NAME]], [[", out);
    for (; *name; name++)
        fputc(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, out);
    fputs("]])m4_dnl\n", out);
}

/* Where each cube stands in a table of distances. */
static void emit_cube_pos(FILE *out, const struct routes *r)
{
    begin_map(out, "cube_pos");
    for (uint32_t cube = 0; cube < r->w * r->h; cube++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", cube, r->cube_pos[cube]);
    end_map(out);
}

static void emit_counts(FILE *out, const struct routes *r)
{
    const struct spec *s = r->spec;

    define(out, "links", s->contention_links == LINKS_FIFO ? "FIFO" : "IDEAL");
    define_int(out, "sips", (uint64_t)s->sips);
    define_int(out, "w", r->w);
    define_int(out, "h", r->h);
    define_int(out, "pes", r->pes);
    define_int(out, "n_units", r->n_units);
    define_int(out, "pe_bits", r->pe_bits);
    define_int(out, "unit_bits", r->unit_bits);
    define_int(out, "mesh_middle", r->mesh_middle);
    define_int(out, "n_nodes", r->n_nodes);
    define_int(out, "n_edges", r->n_edges);
    define_int(out, "read_channels", (uint64_t)s->cube_pe_pe_dma_read_channels);
    define_int(out, "write_channels", (uint64_t)s->cube_pe_pe_dma_write_channels);
    define_int(out, "read_engines", (uint64_t)s->cube_m_cpu_dma_read);
    define_int(out, "write_engines", (uint64_t)s->cube_m_cpu_dma_write);
    define_int(out, "n_cube_nodes", r->n_cube_nodes);
    define_int(out, "n_cube_links", r->n_cube_links);
    define_int(out, "n_io_links", r->n_io_links);
    define_int(out, "m_cpu_node", CUBE_M_CPU);
    define_int(out, "sram_node", CUBE_SRAM);
    define_int(out, "first_hbm_node", r->first_hbm_node);
    define_int(out, "first_pe_node", r->first_pe_node);
    define_int(out, "ucie_overhead_fs", (uint64_t)r->ucie_overhead_fs);
    define_int(out, "n_hops", r->n_hops);
    define_int(out, "n_legs", r->n_legs);
    define_int(out, "n_segments", r->n_segments);
    define_int(out, "seg_local", r->seg_local);
    define_int(out, "seg_out", r->seg_out);
    define_int(out, "seg_pass", r->seg_pass);
    define_int(out, "seg_in", r->seg_in);
    define_int(out, "seg_host", r->seg_host);
    define_int(out, "seg_host_in", r->seg_host_in);
    define_int(out, "seg_cross", r->seg_cross);
}

bool emit(const struct routes *r, const struct emit_head *head, FILE *out)
{
    define(out, "version", KB_VERSION);
    define_input(out, head->input);
    define(out, "name", r->spec->name);
    emit_upper_name(out, r->spec->name);
    define(out, "hash", head->hash);
    emit_counts(out, r);
    emit_memory(out, "hbm", &r->hbm);
    emit_memory(out, "sram", &r->sram);
    emit_memory(out, "tcm_read", &r->tcm_read);
    emit_memory(out, "tcm_write", &r->tcm_write);
    emit_pe(out, &r->pe);
    emit_config(out, head->config);
    emit_nodes(out, "cube_nodes", r->cube_nodes, r->n_cube_nodes);
    emit_nodes(out, "io_nodes", r->io_nodes, N_IO_NODES);
    emit_nodes(out, "fabric_nodes", r->fabric_nodes, 1);
    emit_links(out, "cube_links", r->cube_links, r->n_cube_links);
    emit_links(out, "io_links", r->io_links, r->n_io_links);
    emit_all_segments(out, r);
    emit_hops(out, r);
    emit_legs(out, r);
    emit_costs(out, "cost_local", r, way_local, r->cost_local, r->pes * r->n_units);
    emit_costs(out, "cost_out", r, way_out, r->cost_out, r->pes * N_EXITS);
    emit_costs(out, "cost_in", r, way_in, r->cost_in, N_SIDES * r->n_units);
    emit_mesh(out, r);
    emit_cube_pos(out, r);
    emit_costs(out, "cost_leave", r, way_leave, r->cost_leave, r->w);
    emit_costs(out, "cost_enter", r, way_enter, r->cost_enter, r->w);
    emit_costs(out, "cost_host", r, way_host, r->cost_host, r->w);
    emit_costs(out, "cost_host_cpu", r, way_host_cpu, &r->cost_host_cpu, 1);
    emit_costs(out, "cost_host_in", r, way_host_in, r->cost_host_in, r->pes);
    emit_costs(out, "cost_launch", r, way_launch, r->cost_launch, r->pes);
    return fflush(out) == 0 && !ferror(out);
}
