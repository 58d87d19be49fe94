/* utilization_rows.c -- what --stats writes: everything that a simulation has used, and how much.
 */
#include "cli/rows/utilization_rows.h"
#include "cli/out/say.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {
    [KB_AT_MEMORY] = "memory",   [KB_AT_NODE] = "node",     [KB_AT_LINK] = "edge",
    [KB_AT_CHANNEL] = "channel", [KB_AT_ENGINE] = "engine", [KB_AT_PORT] = "port",
};

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

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static bool use_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct stats *stats = arg;

    record_cells(columns, N_COLUMNS, &stats->use[i], cells);
    return true;
}

struct rows stats_rows(const struct stats *stats)
{
    return (struct rows){ROWS_COLUMNS(columns), .n_rows = stats->n, .row = use_row,
                         .arg = (void *)stats};
}

/* -- what was used -------------------------------------------------------------------------- */

enum { USES_FIRST = 256 };

static void keep(void *arg, const kb_utilization *use)
{
    struct stats *stats = arg;

    if (stats->n == stats->room) {
        size_t room = stats->room ? 2 * stats->room : USES_FIRST;
        kb_utilization *more = realloc(stats->use, room * sizeof *more);

        if (!more) {
            stats->failed = true;
            return;
        }
        stats->use = more;
        stats->room = room;
    }
    stats->use[stats->n++] = *use;
}

void stats_keep(struct stats *stats, const kb_sim *sim)
{
    if (kb_sim_utilization(sim, keep, stats) != KB_OK)
        stats->failed = true;
}

void stats_take(struct stats *stats, const struct cli *cli, const kb_sim *sim)
{
    if (cli->opts.stats)
        stats_keep(stats, sim);
}

void stats_free(struct stats *stats)
{
    free(stats->use);
    *stats = (struct stats){0};
}

/* -- the file ------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return n >= m && strcmp(path + n - m, end) == 0;
}

static bool is_csv(const char *path)
{
    return ends_in(path, ".csv");
}

static bool is_database(const char *path)
{
    return ends_in(path, ".sqlite") || ends_in(path, ".db");
}

static enum exit_code check_folder(const struct cli *cli, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";

    if (slash && (size_t)(slash - path) < sizeof folder - 1)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    if (access(folder, W_OK) == 0)
        return EXIT_OK;
    return say(cli->program, EXIT_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

enum exit_code stats_check(const struct cli *cli)
{
    const char *path = cli->opts.stats;
    struct out_sqlite *db;
    enum exit_code code;

    if (!path)
        return EXIT_OK;
    if (!is_database(path))
        return check_folder(cli, path);
    code = out_sqlite_open(&db, cli->program, path);
    out_sqlite_close(db, false);
    return code;
}

static enum exit_code write_database(const char *path, const char *program, const struct rows *rows,
                                     const struct origin *origin)
{
    struct out_sqlite *db;
    enum exit_code code = out_sqlite_open(&db, program, path);

    if (code)
        return code;
    out_sqlite_add(db, rows, origin);
    return out_sqlite_close(db, true);
}

static enum exit_code write_file(const char *path, const char *program, const struct rows *rows,
                                 const struct origin *origin)
{
    struct sink s;
    enum exit_code code = sink_open(&s, program, path);

    if (code)
        return code;
    out_write(rows, origin, is_csv(path) ? FORMAT_CSV : FORMAT_JSON, &s);
    return sink_close(&s, program, true);
}

enum exit_code stats_write(const struct stats *stats, const struct cli *cli,
                           const struct origin_arg *args, size_t n_args, enum exit_code code)
{
    const char *path = cli->opts.stats;
    struct origin origin = cmd_origin(cli);
    struct rows rows = stats_rows(stats);
    enum exit_code written;

    if (!path || !cmd_is_kept(code))
        return code;
    if (stats->failed)
        return cmd_fail(cli, KB_NO_MEMORY, NULL);
    origin.command = "stats";
    origin.args = args;
    origin.n_args = n_args;
    written = (is_database(path) ? write_database : write_file)(path, cli->program, &rows, &origin);
    return written ? written : code;
}
