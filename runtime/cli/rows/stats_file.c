/*
 * stats_file.c -- the file of --stats: CSV, JSON or a database by its suffix.
 *
 * It is checked before the simulation and written after the command's own output, and only if that
 * is kept.
 *
 * `run gemm --stats use.csv` on cube8 writes 1112 rows: 444 edges, 220 nodes, 256 ports, 128
 * channels, 64 memories. The folder is checked first, since a path that cannot be written should
 * be told before hours of simulation, not after.
 */
#include "cli/rows/utilization_rows.h"
#include "cli/out/say.h"
#include "cli/vary/captured.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

enum exit_code stats_file_check(const struct cli *cli)
{
    const char *path = cli->opts.stats;
    struct out_sqlite *db;
    enum exit_code code;

    if (!path)
        return EXIT_OK;
    if (!is_database(path))
        return check_folder(cli, path);
    code = out_sqlite_open(&db, cli->program, path);
    out_sqlite_close(db, SINK_DROP);
    return code;
}

static enum exit_code write_database(const char *path, const char *program, const struct rows *rows,
                                     const struct origin *origin, enum sink_end end)
{
    struct out_sqlite *db;
    enum exit_code code = out_sqlite_open(&db, program, path);

    if (code)
        return code;
    out_sqlite_add(db, rows, origin);
    return out_sqlite_close(db, end);
}

static enum exit_code write_file(const char *path, const char *program, const struct rows *rows,
                                 const struct origin *origin, enum sink_end end)
{
    struct sink s;
    enum exit_code code = sink_open(&s, program, path);

    if (code)
        return code;
    out_write(rows, origin, is_csv(path) ? FORMAT_CSV : FORMAT_JSON, &s);
    return sink_close(&s, program, end);
}

enum exit_code stats_file_write(struct utilization_rows *stats, const struct cli *cli,
                                const struct origin_arg *args, size_t n_args, enum exit_code code)
{
    struct rows rows = utilization_rows_table(stats);

    if (!cli->opts.stats || cmd_end(code) == SINK_DROP)
        return code;
    if (stats->failed)
        return cmd_fail(cli, KB_NO_MEMORY, NULL);
    return stats_file_print(&rows, cli, args, n_args, code);
}

enum exit_code stats_file_print(const struct rows *rows, const struct cli *cli,
                                const struct origin_arg *args, size_t n_args, enum exit_code code)
{
    const char *path = cli->opts.stats;
    struct origin origin = cmd_origin(cli);
    enum exit_code written;

    if (cli->varied) {
        captured_rows(cli->varied_stats, rows, args, n_args);
        return code;
    }
    origin.command = "stats";
    origin.args = args;
    origin.n_args = n_args;
    written = (is_database(path) ? write_database : write_file)(path, cli->program, rows, &origin,
                                                                cmd_end(code));
    return written ? written : code;
}
