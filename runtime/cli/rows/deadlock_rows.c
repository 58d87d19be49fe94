/* deadlock_rows.c -- the report of a deadlock: kernels that wait for ever, instead of rows of
 * launches.
 */
#include "cli/rows/deadlock_rows.h"
#include "cli/report/report.h"
#include "cli/out/say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_BYTES = 512,
    CIRCLES_SHOWN = 8, /* in words */
    PES_SHOWN = 8,     /* of a circle: of a longer one all but the last two come first */
};

static const struct column columns[] = {
    COLUMN_BY_HAND("pe", CELL_TEXT),        COLUMN_BY_HAND("kernel", CELL_TEXT),
    COLUMN_BY_HAND("call", CELL_TEXT),      COLUMN_BY_HAND("line", CELL_TEXT),
    COLUMN_BY_HAND("since_ns", CELL_NS),    COLUMN_BY_HAND("lacks", CELL_TEXT),
    COLUMN_BY_HAND("waits_for", CELL_TEXT), COLUMN_BY_HAND("state", CELL_TEXT),
    COLUMN_BY_HAND("tag", CELL_COUNT),      COLUMN_BY_HAND("other_tag", CELL_COUNT),
    COLUMN_BY_HAND("missing", CELL_COUNT),  COLUMN_BY_HAND("cycle", CELL_COUNT),
};

struct report {
    const struct cli *cli;
    kb_deadlocked *row; /* owned */
    size_t n, cap;
    bool no_memory;
    char pe[KB_ENDPOINT_BYTES], other[KB_ENDPOINT_BYTES], line[PLACE_BYTES];
};

static void keep(void *arg, const kb_deadlocked *blocked)
{
    struct report *r = arg;
    kb_deadlocked *moved = r->row;

    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        moved = realloc(r->row, r->cap * sizeof *moved);
    }
    r->no_memory = r->no_memory || !moved;
    if (!moved)
        return;
    r->row = moved;
    r->row[r->n++] = *blocked;
}

static bool blocked_row(void *arg, uint64_t i, struct cell *cells)
{
    struct report *r = arg;
    const kb_deadlocked *b = &r->row[i];
    const char *slash = strrchr(b->file, '/');

    snprintf(r->line, sizeof r->line, "%s:%d", slash ? slash + 1 : b->file, b->line);
    cells[0] = cell_text(cmd_name_pe(r->cli, b->pe, r->pe));
    cells[1] = cell_text(b->kernel);
    cells[2] = cell_text(b->call);
    cells[3] = cell_text(r->line);
    cells[4] = cell_ns(b->since_fs);
    cells[5] = cell_text(b->lacks);
    cells[6] = cell_text(cmd_name_pe(r->cli, b->waits_for, r->other));
    cells[7] = cell_text(b->state);
    cells[8] = b->tag < 0 ? cell_none() : cell_count((uint64_t)b->tag);
    cells[9] = b->other_tag < 0 ? cell_none() : cell_count((uint64_t)b->other_tag);
    cells[10] = b->tag < 0 ? cell_count(b->n_missing) : cell_none();
    cells[11] = b->cycle ? cell_count(b->cycle) : cell_none();
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
static void tell_circle(struct report *r, uint32_t cycle, FILE *to)
{
    const kb_deadlocked *first = in_circle(r, cycle, 0), *b = first;
    size_t n = 0;

    do {
        b = in_circle(r, cycle, b->waits_for);
        n++;
    } while (b != first);
    fprintf(to, "%scircle %u", cycle > 1 ? "\n" : "", cycle);
    if (n > PES_SHOWN)
        fprintf(to, " of %zu PEs", n);
    fputs(": ", to);
    for (size_t i = 0; i < n; i++, b = in_circle(r, cycle, b->waits_for)) {
        if (n <= PES_SHOWN || i < PES_SHOWN - 2 || i == n - 1)
            fprintf(to, "%s waits for ", cmd_name_pe(r->cli, b->pe, r->pe));
        else if (i == PES_SHOWN - 2)
            fputs("... waits for ", to);
    }
    fputs(cmd_name_pe(r->cli, first->pe, r->pe), to);
}

/* NULL: there are none, or no memory. To be freed. */
static char *tell_circles(struct report *r)
{
    char *text = NULL;
    size_t size;
    FILE *to = NULL;
    uint32_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n = r->row[i].cycle > n ? r->row[i].cycle : n;
    if (n > 0)
        to = open_memstream(&text, &size);
    r->no_memory = r->no_memory || (n > 0 && !to);
    if (!to)
        return NULL;
    for (uint32_t cycle = 1; cycle <= n && cycle <= CIRCLES_SHOWN; cycle++)
        tell_circle(r, cycle, to);
    if (n > CIRCLES_SHOWN)
        fprintf(to, "\nand %u more circles", n - CIRCLES_SHOWN);
    if (fclose(to) == 0)
        return text;
    free(text);
    r->no_memory = true;
    return NULL;
}

static void write_rows(const struct cli *cli, const struct rows *rows, const char *why,
                       struct sink *s)
{
    struct origin origin = cmd_origin(cli);

    origin.command = "deadlock";
    if (cli->report)
        report_deadlock(cli->report, rows, &origin, why);
    else
        out_write(rows, &origin, cli->opts.format, s);
    cmd_add(cli, rows, &origin, s);
    sink_flush(s);
}

enum exit_code blocked_print(const struct cli *cli, const kb_sim *sim, const kb_error *why,
                             struct sink *s)
{
    struct report r = {.cli = cli};
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .row = blocked_row,
                        .arg = &r};
    kb_status status = kb_sim_deadlocked(sim, keep, &r);

    char *circles = status ? NULL : tell_circles(&r);

    status = r.no_memory ? KB_NO_MEMORY : status;
    rows.n_rows = r.n;
    rows.note = circles;
    if (!status)
        write_rows(cli, &rows, why->text, s);
    free(circles);
    free(r.row);
    return status ? cmd_fail(cli, status, NULL) : say(cli->program, EXIT_DEADLOCK, "%s", why->text);
}
