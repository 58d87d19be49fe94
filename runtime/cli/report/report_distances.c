/*
 * report_distances.c -- a report's map of zero-load latency: from every PE to every slice.
 *
 * A cell is the latency by formula (kb_formula_fs()), with no simulation. A machine of more than 64
 * PEs is shown by cubes, as a mean over PEs and slices; one of more than 64 cubes by every n-th
 * cube.
 *
 * On cube8 a read of 4096 bytes takes 18.085 ns from a PE to its own slice, 36.1 to its
 * neighbour's, 42.9 from c0.pe0 to c7.slice4, the farthest for it. The page draws 64 x 64 cells, a
 * row for each PE and a column for each slice.
 */
#include "cli/out/memory.h"
#include "cli/report/report_parts.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 64 /* rows and columns of the map */ };

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
    char name[KB_ENDPOINT_BYTES]; /* of the last name_of() */
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

static kb_status measure_all(struct map *map)
{
    kb_status status = KB_OK;

    for (uint32_t i = 0; i < map->side * map->side && !status; i++)
        status = measure(map, i / map->side, i % map->side);
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

/* -- the data ------------------------------------------------------------------------------- */

static void put_names(struct sink *s, const char *key, struct map *map, kb_endpoint_kind kind)
{
    json_key(s, key);
    for (uint32_t i = 0; i < map->side; i++) {
        sink_char(s, i > 0 ? ',' : '[');
        out_json_string(s, name_of(map, kind, i));
    }
    sink_text(s, map->side ? "]" : "[]");
}

static int64_t best_fs(const struct distance *d)
{
    return d->best_fs;
}

static int64_t mean_fs(const struct distance *d)
{
    return (int64_t)(d->mean_fs + 0.5);
}

static int64_t worst_fs(const struct distance *d)
{
    return d->worst_fs;
}

/* One value of each cell, row by row. */
static void put_cells(struct sink *s, const char *key, const struct map *map,
                      int64_t (*fs)(const struct distance *))
{
    json_key(s, key);
    sink_char(s, '[');
    for (uint32_t i = 0; i < map->side * map->side; i++) {
        sink_text(s, i == 0 ? "" : i % map->side == 0 ? ",\n" : ",");
        json_ns(s, fs(&map->at[i]));
    }
    sink_char(s, ']');
}

static void put_map(struct sink *s, struct map *map)
{
    json_key(s, "distances");
    sink_char(s, '{');
    json_number(s, "bytes", (double)map->bytes);
    json_number(s, "every", map->every);
    put_names(s, "from", map, KB_PE);
    put_names(s, "to", map, KB_SLICE);
    put_cells(s, "mean", map, mean_fs);
    if (map->by_cube) {
        put_cells(s, "best", map, best_fs);
        put_cells(s, "worst", map, worst_fs);
    }
    sink_char(s, '}');
}

/* There is no map if latencies are out of range. */
enum exit_code report_distances(struct sink *json, const struct cli *cli, uint64_t bytes)
{
    struct map map = map_of(cli, bytes);
    kb_status status = measure_all(&map);

    if (!status)
        put_map(json, &map);
    free(map.at);
    return status == KB_NO_MEMORY ? cmd_fail(cli, status, NULL) : EXIT_OK;
}
