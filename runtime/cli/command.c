/*
 * command.c -- what commands share: failures, notes, and where their rows go.
 *
 * A command is a function cmd_NAME(cli) that simulates, describes a table (struct rows) and hands
 * it to one of the functions here. They decide where it goes:
 *
 *   - to the output, stdout or the file of -o, in the format of --format;
 *   - if the command runs for `report`, to the page instead, through the pointers of cli->page;
 *   - and to the database of --sqlite in any case.
 *
 * This file stands between the rooms: options/ and out/ are below it and know nothing of it; in/,
 * rows/, trace/, view/ and report/ are above it and use it. It calls none of them, which is why a
 * page is reached by pointers.
 *
 * Notes (lines on stderr such as "saturation begins between rate 0.8 and 1") take the same way as
 * rows, so that a page has them too.
 *
 * Invariant: rows go through cmd_print() or cmd_output(), once for a command. Both open the
 * output, call the command's function for its contents, and close it; cmd_end() says what becomes
 * of it: rows of a verification that failed are a result, those of a run that was interrupted are a
 * part of one, half a table after a full disk is removed.
 */
#include "cli/command.h"
#include "cli/fail_if.h"
#include "cli/part.h"
#include "cli/vary/captured.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 4096 };

/* The exit code that a failed call of the library means, for what a command line asked. */
enum exit_code cmd_code_of(kb_status status)
{
    switch (status) {
    case KB_OK:
        return EXIT_OK;
    case KB_BAD_REQUEST:
        return EXIT_USAGE;
    case KB_TIME_RANGE:
    case KB_BAD_FILE:
        return EXIT_INPUT;
    case KB_NO_MEMORY:
    case KB_FILE_ERROR:
        return EXIT_SYSTEM;
    case KB_DEADLOCK:
        return EXIT_DEADLOCK;
    case KB_KERNEL_ERROR:
    case KB_KERNEL_CRASHED:
    case KB_COMPONENT_ERROR:
        return EXIT_KERNEL;
    case KB_DIFFERENT:
        return EXIT_DIFFERENT;
    case KB_AGAIN: /* these are no failures: an internal error */
    case KB_STOPPED:
    case KB_PENDING:
    case KB_INTERNAL:
        return EXIT_INTERNAL;
    }
    return EXIT_INTERNAL;
}

enum exit_code cmd_fail(const struct cli *cli, kb_status status, const kb_error *why)
{
    const char *text = why && why->text[0]           ? why->text
                       : status == KB_NO_MEMORY      ? "out of memory"
                       : status == KB_TIME_RANGE     ? "simulated time passes 2^63 fs"
                       : status == KB_BAD_REQUEST    ? "the library refused the request"
                       : status == KB_FILE_ERROR     ? "a file could not be read or written"
                       : status == KB_KERNEL_CRASHED ? "a component of the machine crashed"
                                                     : "internal error";

    enum exit_code code = say(cli->program, cmd_code_of(status), "%s", text);

    if (status == KB_KERNEL_CRASHED && session_here()) {
        stop_leave();
    } else if (status == KB_KERNEL_CRASHED) { /* the heap may be damaged: nothing is given back */
        say_kept();
        stop_exit((int)code);
    }
    return code;
}

static void note_line(const struct cli *cli, const char *program, const char *format, va_list args)
{
    char line[LINE_BYTES];

    text_vformat(line, sizeof line, format, args);
    say_lines("%s%s%s", program, *program ? ": " : "", line);
    if (cli->report)
        cli->page->note(cli->report, line);
}

bool cmd_has_return(const struct cli *cli)
{
    return strcmp(cli->info.links, "router") == 0;
}

bool cmd_has_mesh(const struct cli *cli)
{
    return strstr(cli->info.config, "\n  cube_mesh:");
}

bool cmd_tells_return(const struct cli *cli)
{
    return cmd_has_return(cli) || cli->varies_routers;
}

bool cmd_counts_buffers(const struct cli *cli)
{
    return cmd_has_return(cli) && (cli->opts.stats || cli->opts.report || cli->wants_use);
}

void cmd_add_return(const struct column *columns, size_t n, const struct column *column,
                    struct column *out)
{
    size_t to = 0;

    for (size_t i = 0; i < n; i++) {
        out[to++] = columns[i];
        if (strcmp(columns[i].name, "response_ns") == 0)
            out[to++] = *column;
    }
}

bool cmd_explains(const struct cli *cli)
{
    return cli->report && cli->page->breakdown;
}

void cmd_show(const struct cli *cli, const kb_sim *sim, const char *when)
{
    if (cli->report)
        cli->page->sim(cli->report, sim, when);
}

void cmd_note(const struct cli *cli, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    note_line(cli, "", format, args);
    va_end(args);
}

enum exit_code cmd_say(const struct cli *cli, enum exit_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    note_line(cli, cli->program, format, args);
    va_end(args);
    return code;
}

enum exit_code cmd_endpoint(const struct cli *cli, const char *word, kb_endpoint *out)
{
    kb_error why = {""};
    kb_status status = kb_endpoint_parse(cli->topo, word, strlen(word), out, &why);

    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

struct origin cmd_origin(const struct cli *cli)
{
    return (struct origin){.command = opts_command_name(cli->opts.command),
                           .command_line = cli->opts.command_line,
                           .info = &cli->info,
                           .sources = &cli->sources,
                           .seed = cli->opts.seed,
                           .params = cli->opts.params,
                           .n_params = cli->opts.n_params,
                           .columns = cli->opts.command == COMMAND_DIFF ? NULL : cli->opts.columns};
}

void cmd_write(const struct cli *cli, const struct rows *rows, struct sink *s)
{
    cmd_write_with(cli, rows, NULL, 0, s);
}

void cmd_write_as(const struct cli *cli, const char *name, const struct rows *rows, struct sink *s)
{
    struct origin origin = cmd_origin(cli);

    if (cli->varied) {
        captured_rows(cli->varied, rows, NULL, 0);
        return;
    }
    origin.command = name;
    out_write(rows, &origin, cli->opts.format, s);
    cmd_add(cli, rows, &origin, s);
}

/* -- rows with a warning ---------------------------------------------------------------------- */

/* Rows with one column more, the warning about all of them. */
struct noted {
    const struct rows *rows;
    struct column columns[ROW_CELLS_MAX];
};

static bool noted_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct rows *rows = ((const struct noted *)arg)->rows;

    if (!rows_cells(rows, i, cells))
        return false;
    cells[rows->n_columns] = *rows->warning ? cell_text(rows->warning) : cell_none();
    return true;
}

/* A machine whose file asks for ideal links; in version 1 of the keys they are the default. All of
 * --vary have the same columns. */
static bool has_notes(const struct cli *cli, const struct rows *rows)
{
    return rows->warning &&
           (cli->varied ? cli->varies_ideal : strcmp(cli->info.links, "ideal") == 0) &&
           strncmp(cli->info.config, "kernbench: 1", 12) != 0;
}

/* `rows` for CSV, a database and --vary, which have no other place for a warning; `n` holds what is
 * new. */
static struct rows with_notes(const struct cli *cli, const struct rows *rows, struct noted *n)
{
    struct rows noted = *rows;

    if (!has_notes(cli, rows))
        return noted;
    n->rows = rows;
    memcpy(n->columns, rows->columns, rows->n_columns * sizeof *n->columns);
    n->columns[rows->n_columns] = (struct column)COLUMN_BY_HAND("notes", CELL_TEXT);
    noted.columns = n->columns;
    noted.n_columns = rows->n_columns + 1;
    noted.row = noted_row;
    noted.record = NULL;
    noted.arg = n;
    return noted;
}

bool cmd_shows_warning(const struct cli *cli)
{
    return !cli->report && (cli->opts.format == FORMAT_TABLE || cli->opts.format == FORMAT_MD);
}

void cmd_write_with(const struct cli *cli, const struct rows *rows, const struct origin_arg *args,
                    size_t n_args, struct sink *s)
{
    struct origin origin = cmd_origin(cli);
    struct noted n;
    struct rows noted = with_notes(cli, rows, &n);

    if (cli->varied) {
        captured_rows(cli->varied, &noted, args, n_args);
        return;
    }
    fail_if_judge(cli, rows, 0, rows->n_rows);
    origin.args = args;
    origin.n_args = n_args;
    if (cli->report)
        cli->page->rows(cli->report, rows, &origin);
    else
        out_write(cli->opts.format == FORMAT_CSV ? &noted : rows, &origin, cli->opts.format, s);
    cmd_add(cli, &noted, &origin, s);
}

void cmd_add(const struct cli *cli, const struct rows *rows, const struct origin *origin,
             struct sink *s)
{
    if (!cli->sqlite)
        return;
    sink_flush(s); /* a slow reader must not keep the database locked */
    out_sqlite_add(cli->sqlite, rows, origin);
}

enum exit_code cmd_print(const struct cli *cli, const struct rows *rows)
{
    struct sink s;
    enum exit_code code;

    if (cli->varied) {
        cmd_write(cli, rows, NULL);
        return EXIT_OK;
    }
    code = sink_open(&s, cli->program, cli->opts.output);
    if (code)
        return code;
    part_begin(cli, &s);
    cmd_write(cli, rows, &s);
    part_end(cli, &s);
    if (cli->report)
        code = cli->page->write(cli->report, &s);
    enum exit_code closed = sink_close(&s, cli->program, cmd_end(code));
    return code ? code : closed;
}

enum sink_end cmd_end(enum exit_code code)
{
    if (code == EXIT_OK || code == EXIT_DIFFERENT || code == EXIT_DEADLOCK)
        return SINK_KEEP;
    return code == EXIT_INTERRUPTED ? SINK_PARTIAL : SINK_DROP;
}

enum exit_code cmd_output(const struct cli *cli, enum exit_code (*run)(void *arg, struct sink *s),
                          void *arg)
{
    struct sink s;
    enum exit_code code;

    if (cli->varied) { /* rows go there, and nothing to `s` */
        sink_open_memory(&s);
        code = run(arg, &s);
        sink_free(&s);
        return code;
    }
    code = sink_open(&s, cli->program, cli->opts.output);
    if (code)
        return code;
    stop_defer(true);
    part_begin(cli, &s);
    code = run(arg, &s);
    if (code != EXIT_INTERRUPTED)
        part_end(cli, &s);
    if (cli->report && cmd_end(code) != SINK_DROP) {
        enum exit_code written = cli->page->write(cli->report, &s);

        code = written ? written : code;
    }
    enum exit_code closed = sink_close(&s, cli->program, cmd_end(code));
    stop_defer(false);
    return closed ? closed : code;
}
