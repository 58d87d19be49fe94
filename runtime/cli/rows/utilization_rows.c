/*
 * utilization_rows.c -- what --stats writes: everything that a simulation has used, and how much.
 *
 * One row for each node, link, channel, engine, memory (with its channels, if it has banks) and
 * port. The record of a row is the kb_utilization of the library itself. Cells are empty where a
 * number makes no sense: a node has no servers and so no utilization in per cent; an ideal link has
 * no queue. Columns of rows are those of memories with banks, columns of lines those of caches,
 * columns of buffers those of routers: each only if some row has them.
 *
 * The rows are copied when the simulation ends, since `load` frees simulations as it goes.
 */
#include "cli/rows/utilization_rows.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    [KB_AT_MEMORY] = "memory",     [KB_AT_NODE] = "node",     [KB_AT_LINK] = "edge",
    [KB_AT_CHANNEL] = "channel",   [KB_AT_ENGINE] = "engine", [KB_AT_PORT] = "port",
    [KB_AT_BANKS] = "hbm_channel", [KB_AT_VC] = "vc",         [KB_AT_CACHE] = "cache",
};

/* Of all machines. */
static const struct column columns[] = {
    COLUMN_WORD("kind", kb_utilization, kind, kinds),
    COLUMN("name", CELL_TEXT, kb_utilization, name),
    COLUMN_IF("from", CELL_TEXT, kb_utilization, from, from),
    COLUMN_IF("to", CELL_TEXT, kb_utilization, to, to),
    COLUMN_IF("gbs", CELL_FRACTION, kb_utilization, gbs, gbs),
    COLUMN_IF("servers", CELL_COUNT, kb_utilization, servers, servers),
    COLUMN("count", CELL_COUNT, kb_utilization, count),
    COLUMN("bytes", CELL_COUNT, kb_utilization, bytes),
    COLUMN("busy_ns", CELL_NS, kb_utilization, busy_fs),
    COLUMN_IF("util_pct", CELL_PERCENT, kb_utilization, util_pct, servers),
    COLUMN_IF("queue_mean", CELL_FRACTION, kb_utilization, queue_mean, queues),
    COLUMN_IF("queue_max", CELL_COUNT, kb_utilization, queue_max, queues),
};

static const struct column row_columns[] = {
    COLUMN_IF("row_hits", CELL_COUNT, kb_utilization, row_hits, has_rows),
    COLUMN_IF("row_misses", CELL_COUNT, kb_utilization, row_misses, has_rows),
    COLUMN_IF("row_conflicts", CELL_COUNT, kb_utilization, row_conflicts, has_rows),
    COLUMN_IF("activations", CELL_COUNT, kb_utilization, activations, has_rows),
    COLUMN_IF("refresh_pct", CELL_PERCENT, kb_utilization, refresh_pct, has_rows),
};

static const struct column line_columns[] = {
    COLUMN_IF("hits", CELL_COUNT, kb_utilization, hits, has_lines),
    COLUMN_IF("pending", CELL_COUNT, kb_utilization, pending, has_lines),
    COLUMN_IF("misses", CELL_COUNT, kb_utilization, misses, has_lines),
    COLUMN_IF("evictions", CELL_COUNT, kb_utilization, evictions, has_lines),
    COLUMN_IF("written_back", CELL_COUNT, kb_utilization, written_back, has_lines),
};

static const struct column vc_columns[] = {
    COLUMN_IF("buffer_bytes", CELL_COUNT, kb_utilization, buffer_bytes, buffer_bytes),
    COLUMN_IF("buffer_mean", CELL_FRACTION, kb_utilization, buffer_mean, buffer_max),
    COLUMN_IF("buffer_max", CELL_COUNT, kb_utilization, buffer_max, buffer_max),
    COLUMN_IF("credit_stall_ns", CELL_NS, kb_utilization, stall_fs, buffer_bytes),
};

#define ADD(stats, COLUMNS_)                                                                       \
    (memcpy((stats)->columns + (stats)->n_columns, (COLUMNS_), sizeof(COLUMNS_)),                  \
     (stats)->n_columns += sizeof(COLUMNS_) / sizeof *(COLUMNS_))

struct rows utilization_rows_table(struct utilization_rows *stats)
{
    stats->n_columns = 0;
    ADD(stats, columns);
    if (stats->has_rows)
        ADD(stats, row_columns);
    if (stats->has_lines)
        ADD(stats, line_columns);
    if (stats->has_vcs)
        ADD(stats, vc_columns);
    return (struct rows){
        .columns = stats->columns, .n_columns = stats->n_columns, ROWS_ARRAY(stats->use, stats->n)};
}

/* -- keeping -------------------------------------------------------------------------------- */

static void keep(void *arg, const kb_utilization *use)
{
    struct utilization_rows *stats = arg;

    stats->use = memory_room(stats->use, stats->n, &stats->room, sizeof *stats->use);
    stats->use[stats->n++] = *use;
    stats->has_rows |= use->has_rows;
    stats->has_lines |= use->has_lines;
    stats->has_vcs |= use->kind == KB_AT_VC;
}

void utilization_rows_keep(struct utilization_rows *stats, const kb_sim *sim)
{
    if (kb_sim_utilization(sim, keep, stats) != KB_OK)
        stats->failed = true;
}

void utilization_rows_take(struct utilization_rows *stats, const struct cli *cli, const kb_sim *sim)
{
    if (cli->opts.stats)
        utilization_rows_keep(stats, sim);
}

void utilization_rows_free(struct utilization_rows *stats)
{
    free(stats->use);
    *stats = (struct utilization_rows){0};
}
