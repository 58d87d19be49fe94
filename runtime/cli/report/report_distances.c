/*
 * report_distances.c -- a report's map of zero-load latency: from every PE to every slice.
 *
 * A cell is the latency by formula (kb_formula_fs()), with no simulation. A machine of more than 64
 * PEs is shown by cubes, as a mean over PEs and slices; one of more than 64 cubes by every n-th
 * cube. Latencies come in a few clusters (own slice, own cube, other cubes), so nine colours go by
 * rank: as many cells have each of them, and no cluster swallows the scale.
 *
 * On cube8 a read of 4096 bytes takes 18.085 ns from a PE to its own slice, 36.1 to its
 * neighbour's, 42.9 from c0.pe0 to c7.slice4, the farthest for it. The map is 64 x 64 cells, a row
 * for each PE and a column for each slice, with lines where a cube begins.
 */
#include "cli/report/report_parts.h"
#include "cli/out/memory.h"
#include "cli/view/svg.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE_MAX = 64, /* rows and columns of the map */
    SIDE_PX = 576,
    CLASSES = 9, /* colours, see report.css */
    LEFT_PX = 70,
    TOP_PX = 34,
    LEGEND_PX = 44,
};

/* From one row of the map to one column. */
struct distance {
    int64_t best_fs, worst_fs;
    double mean_fs;
};

/* Rows and columns are PEs and their slices, or cubes. */
struct map {
    const struct cli *cli;
    bool by_cube;
    uint32_t side;
    uint32_t every; /* of the cubes; 1: all are in the map */
    uint64_t bytes;
    struct distance *at;          /* owned; side * side, row by row */
    double from_fs[CLASSES];      /* the least mean of each colour */
    char name[KB_ENDPOINT_BYTES]; /* of the last name_of() */
    char from[KB_ENDPOINT_BYTES]; /* of the row of the table */
};

/* The PE of row `i`, or the home slice of that of column `i`; if that is a cube, its unit-th. */
static kb_endpoint end_of(const struct map *map, kb_endpoint_kind kind, uint32_t i, uint32_t unit)
{
    const kb_info *info = &map->cli->info;
    uint32_t cube = i * map->every;
    kb_endpoint end = {.kind = kind,
                       .sip = cube / info->cubes_per_sip,
                       .cube = cube % info->cubes_per_sip,
                       .unit = unit};

    if (!map->by_cube && kind == KB_PE)
        kb_pe_get(map->cli->topo, i, &end);
    else if (!map->by_cube)
        kb_pe_slice(map->cli->topo, i, &end);
    return end;
}

/* Whether the cube of a row has PE `unit`, that of a column slice `unit`. */
static bool has_unit(const struct map *map, kb_endpoint_kind kind, uint32_t i, uint32_t unit)
{
    kb_endpoint end = end_of(map, kind, i, unit);
    uint32_t number;

    return (kind == KB_PE ? kb_pe_number(map->cli->topo, &end, &number)
                          : kb_slice_number(map->cli->topo, &end, &number)) == KB_OK;
}

enum { UNITS_MOST = 64 };

/* How many of them there are. */
static uint32_t count_units(const struct map *map, kb_endpoint_kind kind, uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t unit = 0; unit < UNITS_MOST; unit++)
        n += has_unit(map, kind, i, unit);
    return map->by_cube ? n : 1;
}

/* "c3.pe1", or of a map by cubes "s1.c3". */
static const char *name_of(struct map *map, kb_endpoint_kind kind, uint32_t i)
{
    kb_endpoint end = end_of(map, kind, i, 0);

    kb_endpoint_name(&end, map->name);
    if (map->by_cube)
        *strrchr(map->name, '.') = '\0';
    return map->name;
}

/* -- numbers -------------------------------------------------------------------------------- */

static kb_status measure_pair(struct map *map, struct distance *d, const kb_endpoint *src,
                              const kb_endpoint *dst, double n)
{
    kb_cost cost;
    kb_status status = kb_route_cost(map->cli->topo, KB_READ, src, dst, map->bytes, &cost, NULL);

    if (status)
        return status;
    int64_t fs = kb_formula_fs(&cost);
    d->best_fs = fs < d->best_fs ? fs : d->best_fs;
    d->worst_fs = fs > d->worst_fs ? fs : d->worst_fs;
    d->mean_fs += (double)fs / n;
    return KB_OK;
}

/* All pairs of a cell: one, or by cubes all PEs with all slices. */
static kb_status measure(struct map *map, uint32_t row, uint32_t column)
{
    struct distance *d = &map->at[row * map->side + column];
    uint32_t units = map->by_cube ? UNITS_MOST : 1;
    double n = (double)count_units(map, KB_PE, row) * count_units(map, KB_SLICE, column);
    kb_status status = KB_OK;

    *d = (struct distance){.best_fs = INT64_MAX};
    for (uint32_t pe = 0; pe < units && !status; pe++)
        for (uint32_t slice = 0; slice < units && !status; slice++) {
            kb_endpoint src = end_of(map, KB_PE, row, pe);
            kb_endpoint dst = end_of(map, KB_SLICE, column, slice);

            if (has_unit(map, KB_PE, row, pe) && has_unit(map, KB_SLICE, column, slice))
                status = measure_pair(map, d, &src, &dst, n);
        }
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * The bounds of the colours: class i begins at the value that is i ninths up the sorted cells.
 * With equal steps from 18.085 to 42.9 ns instead, on cube8, the 64 own slices would have the
 * first class, no cell the next five (20.8 to 34.6), and the other 4032 cells the last three.
 */
static void find_classes(struct map *map)
{
    size_t n = (size_t)map->side * map->side;
    double *sorted = memory_new(n, sizeof *sorted);

    for (size_t i = 0; i < n; i++)
        sorted[i] = map->at[i].mean_fs;
    qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0; i < CLASSES; i++)
        map->from_fs[i] = sorted[i * n / CLASSES];
    free(sorted);
}

static kb_status measure_all(struct map *map)
{
    kb_status status = KB_OK;

    for (uint32_t i = 0; i < map->side * map->side && !status; i++)
        status = measure(map, i / map->side, i % map->side);
    if (!status)
        find_classes(map);
    return status;
}

/* Bytes are limited to the size of a slice. */
static struct map map_of(const struct cli *cli, uint64_t bytes)
{
    const kb_info *info = &cli->info;
    uint32_t cubes = info->sips * info->cubes_per_sip, pes = kb_pe_count(cli->topo);
    uint64_t room = kb_memory_bytes(cli->topo, &(kb_endpoint){.kind = KB_SLICE});
    struct map map = {.cli = cli, .by_cube = pes > SIDE_MAX, .bytes = bytes < room ? bytes : room};

    map.every = map.by_cube ? (cubes - 1) / SIDE_MAX + 1 : 1;
    map.side = map.by_cube ? (cubes - 1) / map.every + 1 : pes;
    map.at = memory_new((size_t)map.side * map.side, sizeof *map.at);
    return map;
}

/* -- the picture ---------------------------------------------------------------------------- */

/* 0 is the nearest, CLASSES - 1 the farthest. */
static int class_of(const struct map *map, double fs)
{
    int i = CLASSES - 1;

    while (i > 0 && fs < map->from_fs[i])
        i--;
    return i;
}

/* A cell has its latency as a tooltip; the table has it in numbers for each row. */
static void put_cell(struct svg *g, struct map *map, uint32_t row, uint32_t column, double px)
{
    const struct distance *d = &map->at[row * map->side + column];
    char text[3 * KB_ENDPOINT_BYTES], colour[16], *p = text, *end = text + sizeof text;

    snprintf(colour, sizeof colour, "h%d", class_of(map, d->mean_fs));
    svg_start(g, "rect", colour);
    svg_attr_number(g, "x", LEFT_PX + column * px);
    svg_attr_number(g, "width", px);
    svg_attr_number(g, "height", px);
    svg_inside(g);
    p += snprintf(p, (size_t)(end - p), "%s reads ", name_of(map, KB_PE, row));
    p += text_format(p, (size_t)(end - p), "%s: %.2f ns", name_of(map, KB_SLICE, column),
                     report_round(d->mean_fs * 1e-6, 2));
    if (map->by_cube)
        text_format(p, (size_t)(end - p), ", best %.2f",
                    report_round((double)d->best_fs * 1e-6, 2));
    svg_tip(g, text);
    svg_close(g, "rect");
}

/* The cube that row or column `i` belongs to, at the middle of its rows, as far as there is room.
 */
static void put_labels(struct svg *g, struct map *map, double px)
{
    uint32_t step = map->by_cube || !map->side ? 1 : map->cli->info.pes_per_cube;
    uint32_t skip = (uint32_t)ceil(40 / (px * step)); /* a label is 40 px wide at most */

    for (uint32_t i = 0; i < map->side; i += step * skip) {
        double at = (i + step / 2.0) * px;
        kb_endpoint end = end_of(map, KB_PE, i, 0);
        char text[KB_ENDPOINT_BYTES];

        kb_endpoint_name(&end, text);
        *strrchr(text, '.') = '\0';
        svg_text(g, NULL, LEFT_PX + at, TOP_PX - 6, SVG_MIDDLE, text);
        svg_text(g, NULL, LEFT_PX - 8, TOP_PX + at + 4, SVG_END, text);
    }
    for (uint32_t i = step; i < map->side && step > 1; i += step) {
        svg_line(g, "cut", LEFT_PX + i * px, TOP_PX, LEFT_PX + i * px, TOP_PX + map->side * px);
        svg_line(g, "cut", LEFT_PX, TOP_PX + i * px, LEFT_PX + map->side * px, TOP_PX + i * px);
    }
}

static void put_legend(struct svg *g, const struct map *map, double y)
{
    double wide = (double)SIDE_PX / CLASSES;
    char text[64];

    for (int i = 0; i < CLASSES; i++) {
        if (i < CLASSES - 1 && map->from_fs[i] == map->from_fs[i + 1]) /* no cell has this colour */
            continue;
        snprintf(text, sizeof text, "h%d", i);
        svg_rect(g, text, LEFT_PX + i * wide, y, wide, 12);
        text_format(text, sizeof text, "%.2f", report_round(map->from_fs[i] * 1e-6, 2));
        svg_text(g, "dim", LEFT_PX + i * wide, y + 26, SVG_START, text);
    }
    svg_text(g, "dim", LEFT_PX - 8, y + 26, SVG_END, "from, ns");
}

/* Each row of the map is a group that is moved down, so that cells need no y. */
static void put_map(struct sink *s, struct map *map)
{
    double px = (double)SIDE_PX / map->side;
    struct svg g = {.s = s,
                    .prefix = "map",
                    .width = LEFT_PX + SIDE_PX + 10,
                    .height = TOP_PX + SIDE_PX + LEGEND_PX};

    html_begin_picture(s,
                       map->by_cube ? "Reads, rows from columns: mean over PEs and slices"
                                    : "Reads, rows from columns",
                       false);
    svg_begin(&g, "Map of latency; the table below has its rows");
    svg_text(&g, "dim", LEFT_PX + SIDE_PX / 2.0, 10, SVG_MIDDLE,
             map->by_cube ? "memory of cube" : "slice of cube");
    svg_text_up(&g, "dim", 12, TOP_PX + SIDE_PX / 2.0, SVG_MIDDLE,
                map->by_cube ? "PEs of cube" : "PE of cube");
    for (uint32_t row = 0; row < map->side; row++) {
        char move[48];

        text_format(move, sizeof move, "translate(0 %.2f)", TOP_PX + row * px);
        svg_start(&g, "g", NULL);
        svg_attr(&g, "transform", move);
        svg_inside(&g);
        for (uint32_t column = 0; column < map->side; column++)
            put_cell(&g, map, row, column, px);
        svg_close(&g, "g");
    }
    put_labels(&g, map, px);
    put_legend(&g, map, TOP_PX + SIDE_PX + 10);
    svg_end(&g);
    html_end_picture(s);
}

/* -- the table ------------------------------------------------------------------------------ */

/* All columns of a row of the map. */
struct line {
    const char *from, *farthest;
    int64_t best_fs, worst_fs;
    double mean_ns;
};

static const struct column columns[] = {
    COLUMN("from", CELL_TEXT, struct line, from),
    COLUMN("best_ns", CELL_NS, struct line, best_fs),
    COLUMN("mean_ns", CELL_FRACTION, struct line, mean_ns),
    COLUMN("worst_ns", CELL_NS, struct line, worst_fs),
    COLUMN("farthest", CELL_TEXT, struct line, farthest),
};

static bool map_row(void *arg, uint64_t i, struct cell *cells)
{
    struct map *map = arg;
    const struct distance *row = &map->at[i * map->side];
    struct line line = {.best_fs = INT64_MAX};
    uint32_t farthest = 0;

    for (uint32_t c = 0; c < map->side; c++) {
        if (row[c].worst_fs > line.worst_fs)
            farthest = c;
        line.best_fs = row[c].best_fs < line.best_fs ? row[c].best_fs : line.best_fs;
        line.worst_fs = row[c].worst_fs > line.worst_fs ? row[c].worst_fs : line.worst_fs;
        line.mean_ns += row[c].mean_fs / map->side;
    }
    line.mean_ns *= 1e-6;
    memcpy(map->from, name_of(map, KB_PE, (uint32_t)i), sizeof map->from);
    line.from = map->from;
    line.farthest = name_of(map, KB_SLICE, farthest);
    record_cells(columns, sizeof columns / sizeof *columns, &line, cells);
    return true;
}

static void put_words(struct sink *s, const struct map *map)
{
    struct distance all = {.best_fs = INT64_MAX};
    char best[TEXT_NUMBER_BYTES], worst[TEXT_NUMBER_BYTES];

    for (size_t i = 0; i < (size_t)map->side * map->side; i++) {
        all.best_fs = map->at[i].best_fs < all.best_fs ? map->at[i].best_fs : all.best_fs;
        all.worst_fs = map->at[i].worst_fs > all.worst_fs ? map->at[i].worst_fs : all.worst_fs;
    }
    *text_put_ns_rounded(best, all.best_fs) = '\0';
    *text_put_ns_rounded(worst, all.worst_fs) = '\0';
    lead_begin(s);
    sink_text(s, "A read of ");
    html_count(s, map->bytes);
    sink_text(s, " bytes, alone on the machine, takes ");
    sink_text(s, best);
    sink_text(s, " to ");
    sink_text(s, worst);
    sink_text(s, " ns.");
    if (map->every > 1) {
        sink_text(s, " The map shows one cube in ");
        html_count(s, map->every);
        sink_char(s, '.');
    }
    lead_end(s);
}

/* There is no map if latencies are out of range. */
enum exit_code report_distances(struct sink *s, const struct cli *cli, uint64_t bytes)
{
    struct map map = map_of(cli, bytes);
    struct rows rows = {ROWS_COLUMNS(columns), .n_rows = map.side, .row = map_row, .arg = &map};
    kb_status status = measure_all(&map);

    if (!status) {
        put_words(s, &map);
        put_map(s, &map);
        report_table(s, "nearest", "Latency from each row of the map", &rows, NULL);
    }
    free(map.at);
    return status == KB_NO_MEMORY ? cmd_fail(cli, status, NULL) : EXIT_OK;
}
