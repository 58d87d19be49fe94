/*
 * deadlock_rows.c -- deadlocked kernels: the commands that cannot go on, instead of rows of
 * launches.
 *
 * A row says where a command was called, since when it waits, what it lacks ("a message", "a free
 * slot", "a member" of a barrier), which PE would have to act, and what the kernel of that PE does:
 * it is waiting, has ended, or was not launched. PEs that wait for each other in a circle have the
 * number of that circle in `cycle`, from 1. The note below tells each circle in words:
 *
 *   circle 1: c0.pe0 waits for c0.pe1 waits for c0.pe0
 *
 * Commands that wait at the same line for the same thing have one cause, whatever PE they are on:
 * 63 members of a barrier that the last one never reaches, or all of a circle. Tables for people
 * and reports have one row for them, of the lowest PE, and `count` says how many there are; formats
 * for programs have all, with the number of the cause.
 *
 * kernels/deadlock.c finds the circles; here they are followed from a PE to the one that it waits
 * for until the first one comes back. Of a circle of more than PES_SHOWN PEs the middle is left
 * out.
 */
#include "cli/rows/deadlock_rows.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_BYTES = 512,
    CIRCLES_SHOWN = 8, /* in words */
    PES_SHOWN = 8,     /* of a circle: of a longer one all but the last two come first */
};

/* One row: a command that cannot go on. */
struct deadlock_row {
    char pe[KB_ENDPOINT_BYTES], other[KB_ENDPOINT_BYTES], line[PLACE_BYTES];
    kb_deadlocked command;
    struct cell missing; /* members, of a barrier */
    uint64_t cause, count;
};

static const struct column columns[] = {
    COLUMN("pe", CELL_TEXT, struct deadlock_row, pe),
    COLUMN("kernel", CELL_TEXT, struct deadlock_row, command.kernel),
    COLUMN("call", CELL_TEXT, struct deadlock_row, command.call),
    COLUMN("line", CELL_TEXT, struct deadlock_row, line),
    COLUMN("since_ns", CELL_NS, struct deadlock_row, command.since_fs),
    COLUMN("lacks", CELL_TEXT, struct deadlock_row, command.lacks),
    COLUMN("waits_for", CELL_TEXT, struct deadlock_row, other),
    COLUMN("state", CELL_TEXT, struct deadlock_row, command.state),
    COLUMN("tag", CELL_COUNT, struct deadlock_row, command.tag),
    COLUMN("other_tag", CELL_COUNT, struct deadlock_row, command.other_tag),
    COLUMN("missing", CELL_COUNT, struct deadlock_row, missing),
    COLUMN_IF("cycle", CELL_COUNT, struct deadlock_row, command.cycle, command.cycle),
    COLUMN("cause", CELL_COUNT, struct deadlock_row, cause),
    COLUMN("count", CELL_COUNT, struct deadlock_row, count),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

struct report {
    const struct cli *cli;
    kb_deadlocked *row; /* owned */
    size_t n, cap;
    struct cause {
        size_t first; /* row */
        uint64_t count;
    } * cause;  /* owned */
    size_t *of; /* owned: the cause of each row, from 0 */
    size_t n_causes;
    bool folded;               /* one row for each cause */
    struct deadlock_row shown; /* being printed */
};

static void keep(void *arg, const kb_deadlocked *blocked)
{
    struct report *r = arg;

    r->row = memory_room(r->row, r->n, &r->cap, sizeof *r->row);
    r->row[r->n++] = *blocked;
}

/* -- causes --------------------------------------------------------------------------------- */

static bool is_same_cause(const kb_deadlocked *a, const kb_deadlocked *b)
{
    return a->line == b->line && a->tag == b->tag && a->other_tag == b->other_tag &&
           a->n_missing == b->n_missing && !a->cycle == !b->cycle &&
           strcmp(a->file, b->file) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->call, b->call) == 0 && strcmp(a->lacks, b->lacks) == 0 &&
           strcmp(a->state, b->state) == 0;
}

/* There are few lines that wait, whatever the number of PEs. */
static void find_causes(struct report *r)
{
    r->cause = memory_new(r->n + 1, sizeof *r->cause);
    r->of = memory_new(r->n + 1, sizeof *r->of);
    for (size_t i = 0; i < r->n; i++) {
        size_t k = 0;

        while (k < r->n_causes && !is_same_cause(&r->row[r->cause[k].first], &r->row[i]))
            k++;
        if (k == r->n_causes)
            r->cause[r->n_causes++] = (struct cause){.first = i};
        r->cause[k].count++;
        r->of[i] = k;
    }
}

/* -- rows ----------------------------------------------------------------------------------- */

static bool deadlock_row(void *arg, uint64_t i, struct cell *cells)
{
    struct report *r = arg;
    struct deadlock_row *row = &r->shown;
    size_t cause = r->folded ? i : r->of[i];
    const kb_deadlocked *command = &r->row[r->folded ? r->cause[i].first : i];
    const char *slash = strrchr(command->file, '/');

    row->command = *command;
    snprintf(row->line, sizeof row->line, "%s:%d", slash ? slash + 1 : command->file,
             command->line);
    cmd_name_pe(r->cli, command->pe, row->pe);
    cmd_name_pe(r->cli, command->waits_for, row->other);
    row->missing = command->tag < 0 ? cell_count(command->n_missing) : cell_none();
    row->cause = cause + 1;
    row->count = r->folded ? r->cause[cause].count : 1;
    record_cells(columns, N_COLUMNS, row, cells);
    return true;
}

/* -- circles in words ------------------------------------------------------------------------ */

/* The row by which `pe` is in circle `cycle`; rows are in order of PE. */
static const kb_deadlocked *in_circle(const struct report *r, uint32_t cycle, uint32_t pe)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->row[middle].pe < pe)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < r->n && r->row[low].cycle != cycle)
        low++;
    return &r->row[low];
}

/* "circle 1: c0.pe0 waits for c0.pe1 waits for c0.pe0" */
static void tell_circle(struct report *r, uint32_t cycle, struct sink *to)
{
    const kb_deadlocked *first = in_circle(r, cycle, 0), *b = first;
    size_t n = 0;

    do {
        b = in_circle(r, cycle, b->waits_for);
        n++;
    } while (b != first);
    sink_text(to, cycle > 1 ? "\ncircle " : "circle ");
    sink_count(to, cycle);
    if (n > PES_SHOWN) {
        sink_text(to, " of ");
        sink_count(to, n);
        sink_text(to, " PEs");
    }
    sink_text(to, ": ");
    for (size_t i = 0; i < n; i++, b = in_circle(r, cycle, b->waits_for)) {
        if (n <= PES_SHOWN || i < PES_SHOWN - 2 || i == n - 1) {
            sink_text(to, cmd_name_pe(r->cli, b->pe, r->shown.pe));
            sink_text(to, " waits for ");
        } else if (i == PES_SHOWN - 2) {
            sink_text(to, "... waits for ");
        }
    }
    sink_text(to, cmd_name_pe(r->cli, first->pe, r->shown.pe));
}

/* All circles in `to`. False: there are none. */
static bool tell_circles(struct report *r, struct sink *to)
{
    uint32_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n = r->row[i].cycle > n ? r->row[i].cycle : n;
    for (uint32_t cycle = 1; cycle <= n && cycle <= CIRCLES_SHOWN; cycle++)
        tell_circle(r, cycle, to);
    if (n > CIRCLES_SHOWN) {
        sink_text(to, "\nand ");
        sink_count(to, n - CIRCLES_SHOWN);
        sink_text(to, " more circles");
    }
    sink_char(to, '\0');
    return n > 0;
}

/* A database gets all rows. */
static void write_rows(struct report *r, const struct rows *rows, const char *why, struct sink *s)
{
    const struct cli *cli = r->cli;
    struct rows all = *rows;
    struct origin origin = cmd_origin(cli);

    origin.command = "deadlock";
    if (cli->report)
        cli->page->deadlock(cli->report, rows, &origin, why);
    else
        out_write(rows, &origin, cli->opts.format, s);
    r->folded = false;
    all.n_rows = r->n;
    cmd_add(cli, &all, &origin, s);
    sink_flush(s);
}

enum exit_code deadlock_rows_print(const struct cli *cli, const kb_sim *sim, const kb_error *why,
                                   struct sink *s)
{
    struct report r = {.cli = cli};
    struct rows rows = {ROWS_COLUMNS(columns), .row = deadlock_row, .arg = &r};
    kb_status status = kb_sim_deadlocked(sim, keep, &r);
    struct sink circles;

    sink_open_memory(&circles);
    find_causes(&r);
    r.folded = cli->report || cli->opts.format == FORMAT_TABLE || cli->opts.format == FORMAT_MD;
    rows.n_rows = r.folded ? r.n_causes : r.n;
    if (!status && tell_circles(&r, &circles))
        rows.note = circles.buffer;
    if (!status)
        write_rows(&r, &rows, why->text, s);
    sink_free(&circles);
    free(r.row);
    free(r.cause);
    free(r.of);
    return status ? cmd_fail(cli, status, NULL) : say(cli->program, EXIT_DEADLOCK, "%s", why->text);
}
