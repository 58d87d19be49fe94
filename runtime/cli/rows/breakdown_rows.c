/*
 * breakdown_rows.c -- --breakdown: the latency breakdown of a run, instead of its rows.
 *
 * The library tells, for every kind of thing (all, places, waits, sources, targets, operations,
 * PEs, the critical path), how much time went to each cause: largest things first, and for each
 * thing its causes, largest first. For people only the `top` things of each kind and the `top`
 * causes of each thing are kept; rows are counted as they come, and what is cut is told in the
 * note.
 *
 * After these come the steps of the critical path, one row for each command on it. There may be
 * thousands; of these the top x STEPS_PER_TOP longest are kept, in order of time. If the shortest
 * of them have the same length as others that are cut, the earliest stay.
 *
 * With --by only one of these tables is shown. Those of lines and of regions of kernels are shown
 * only so: a line has the causes of all commands that were called there, on any PE.
 *
 * `pct` is relative to all time of what the row is of; for a step, to its own time. For example
 * "op dma_write overhead 52.7" says: of the time of all dma_write, 52.7 % was overhead of nodes.
 *
 * A report shows the same rows, and in addition one row for each operation, and each line of a
 * kernel on the critical path, with a column for each cause (breakdown_report()), from which it
 * draws bars.
 *
 * Example, the first rows of `run gemm --breakdown` on cube8:
 *
 *     by     of         cause         place      count  total_ns  pct
 *     all    -          port          -          2048   19712.00  33.7
 *     all    -          drain         -          1088   12288.00  21.0
 *     all    -          compute       -          1024   12288.00  21.0
 *     place  c3.slice7  drain         c3.slice7  17     192.00    98.2
 *     place  c3.slice7  memory_wait   c3.slice7  4      3.49      1.8
 *
 * Times are sums over all commands, and commands overlap, so a sum may be far more than the run:
 * the kernels end after 837.77 ns. A cause is what the formula of docs/model.md names, or a wait;
 * `behind` is what was ahead of a wait.
 */
#include "cli/rows/breakdown_rows.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOP_FOR_PEOPLE = 3,
    TOP_FOR_PAGES = 8,
    STEPS_PER_TOP = 4,
    STEP_BYTES = 256,
    NOTE_BYTES = 256
};

/* One row. NULL and cells of no type are empty. */
struct cause_row {
    const char *by, *of, *cause, *place, *behind;
    struct cell count, total, pct, begin, end;
};

static const struct column columns[] = {
    COLUMN("by", CELL_TEXT, struct cause_row, by),
    COLUMN("of", CELL_TEXT, struct cause_row, of),
    COLUMN("cause", CELL_TEXT, struct cause_row, cause),
    COLUMN("place", CELL_TEXT, struct cause_row, place),
    COLUMN("behind", CELL_TEXT, struct cause_row, behind),
    COLUMN("count", CELL_COUNT, struct cause_row, count),
    COLUMN("total_ns", CELL_NS, struct cause_row, total),
    COLUMN("pct", CELL_PERCENT, struct cause_row, pct),
    COLUMN("begin_ns", CELL_NS, struct cause_row, begin),
    COLUMN("end_ns", CELL_NS, struct cause_row, end),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* All that is printed: rows, then the steps of critical paths. */
struct breakdown_rows {
    const struct cli *cli;
    uint64_t top;          /* 0: all */
    kb_breakdown_row *row; /* owned; their `of` too */
    size_t n, cap;
    uint64_t n_cut;          /* rows that are not shown */
    uint64_t things, causes; /* of the kind, of the thing, that came last */
    char *last_of;           /* owned */
    kb_breakdown_by last_by;
    kb_breakdown_step *step; /* owned */
    size_t n_steps, steps_cap, n_hidden;
    char place[KB_PLACE_BYTES], behind[KB_PLACE_BYTES], of[STEP_BYTES];
};

/* -- gathering ------------------------------------------------------------------------------ */

/* Without --by all tables are shown but those of lines and regions, of which a kernel has many. */
static bool is_shown(const struct breakdown_rows *c, unsigned table)
{
    unsigned by = c->cli->opts.by.table;

    return by ? table == by - 1 : table < KB_BREAKDOWN_LINE || table == KB_N_BREAKDOWNS;
}

/* Counts how many things of its kind, and how many causes of its thing, have come with `row`. */
static void count_row(struct breakdown_rows *c, const kb_breakdown_row *row)
{
    bool first = !c->last_of || row->by != c->last_by;

    if (first)
        c->things = 0;
    if (first || strcmp(row->of, c->last_of) != 0) {
        free(c->last_of);
        c->last_of = memory_text(row->of);
        c->last_by = row->by;
        c->things++;
        c->causes = 0;
    }
    c->causes++;
}

/* Keeps the first `top` things of each kind, and the first `top` causes of each of them. */
static void keep_row(void *arg, const kb_breakdown_row *row)
{
    struct breakdown_rows *c = arg;

    if (!is_shown(c, row->by))
        return;
    count_row(c, row);
    if (c->top && (c->things > c->top || c->causes > c->top)) {
        c->n_cut++;
        return;
    }
    c->row = memory_room(c->row, c->n, &c->cap, sizeof *c->row);
    c->row[c->n] = *row;
    c->row[c->n++].of = memory_text(row->of);
}

static void keep_step(void *arg, const kb_breakdown_step *step)
{
    struct breakdown_rows *c = arg;

    if (!is_shown(c, KB_N_BREAKDOWNS))
        return;
    c->step = memory_room(c->step, c->n_steps, &c->steps_cap, sizeof *c->step);
    c->step[c->n_steps++] = *step;
}

static int64_t step_fs(const kb_breakdown_step *step)
{
    return step->end_fs - step->begin_fs;
}

static int longest_first(const void *a, const void *b)
{
    int64_t x = step_fs(*(const kb_breakdown_step *const *)a),
            y = step_fs(*(const kb_breakdown_step *const *)b);

    return x < y ? 1 : x > y ? -1 : (a > b) - (a < b);
}

/* If a path has more steps than people read, keeps the longest ones, in order of time. */
static void hide_steps(struct breakdown_rows *c)
{
    size_t most = c->top * STEPS_PER_TOP, kept = 0, equal;
    const kb_breakdown_step **by_length;
    int64_t least_fs;

    if (!c->top || c->n_steps <= most)
        return;
    by_length = memory_new(c->n_steps, sizeof(kb_breakdown_step *));
    for (size_t i = 0; i < c->n_steps; i++)
        by_length[i] = &c->step[i];
    qsort(by_length, c->n_steps, sizeof *by_length, longest_first);
    least_fs = step_fs(by_length[most - 1]);
    for (equal = 0; equal < most && step_fs(by_length[most - 1 - equal]) == least_fs;)
        equal++;
    free(by_length);
    for (size_t i = 0; i < c->n_steps; i++) {
        int64_t fs = step_fs(&c->step[i]);

        if (fs > least_fs || (fs == least_fs && equal > 0)) {
            equal -= fs == least_fs;
            c->step[kept++] = c->step[i];
        }
    }
    c->n_hidden = c->n_steps - kept;
    c->n_steps = kept;
}

/* -- rows ----------------------------------------------------------------------------------- */

static double percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

/* NULL: it has no name. */
static const char *place_text(const struct breakdown_rows *c, kb_place place,
                              char text[KB_PLACE_BYTES])
{
    return kb_place_name(c->cli->topo, place, text) ? text : NULL;
}

static struct cause_row cause_row(struct breakdown_rows *c, const kb_breakdown_row *row)
{
    return (struct cause_row){.by = opts_breakdowns[row->by],
                              .of = *row->of ? row->of : NULL,
                              .cause = kb_cause_name(row->cause),
                              .place = place_text(c, row->place, c->place),
                              .behind = place_text(c, row->behind, c->behind),
                              .count = cell_count(row->count),
                              .total = row->sum_fs < INT64_MAX ? cell_ns(row->sum_fs)
                                                               : cell_fraction(row->sum_ns),
                              .pct = cell_percent(percent(row->sum_ns, row->all_ns))};
}

/* "c0.pe3 #12 tl_load copy.c:41" */
static void name_step(struct breakdown_rows *c, const kb_breakdown_step *step)
{
    const char *slash = strrchr(step->file, '/');
    char pe[KB_ENDPOINT_BYTES];

    snprintf(c->of, sizeof c->of, "%s #%u %s %s:%d", cmd_name_pe(c->cli, step->pe, pe), step->id,
             step->call, slash ? slash + 1 : step->file, step->line);
}

/* The cause of a step is the share that took most of it. */
static struct cause_row step_row(struct breakdown_rows *c, const kb_breakdown_step *step)
{
    struct cause_row row = {.by = opts_breakdowns[KB_N_BREAKDOWNS],
                            .of = c->of,
                            .begin = cell_ns(step->begin_fs),
                            .end = cell_ns(step->end_fs)};
    const kb_share *most = step->share;

    name_step(c, step);
    if (step->n_shares == 0)
        return row;
    for (size_t i = 0; i < step->n_shares; i++)
        most = step->share[i].sum_fs > most->sum_fs ? &step->share[i] : most;
    row.cause = kb_cause_name(most->cause);
    row.place = place_text(c, most->place, c->place);
    row.behind = place_text(c, most->behind, c->behind);
    row.count = cell_count(most->count);
    row.total = cell_ns(most->sum_fs);
    row.pct = cell_percent(percent((double)most->sum_fs, (double)step_fs(step)));
    return row;
}

static bool any_row(void *arg, uint64_t i, struct cell *cells)
{
    struct breakdown_rows *c = arg;
    struct cause_row row = i < c->n ? cause_row(c, &c->row[i]) : step_row(c, &c->step[i - c->n]);

    record_cells(columns, N_COLUMNS, &row, cells);
    return true;
}

/* -- what the command calls ----------------------------------------------------------------- */

enum exit_code breakdown_begin(const struct cli *cli, kb_sim *sim, kb_breakdown **out)
{
    kb_error why = {""};
    kb_status status;

    *out = NULL;
    if (!cli->opts.breakdown && !cmd_explains(cli))
        return EXIT_OK;
    status = kb_breakdown_new(sim, out, &why);
    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

static bool is_for_people(enum format format)
{
    return format == FORMAT_TABLE || format == FORMAT_MD;
}

static void free_all(struct breakdown_rows *c)
{
    for (size_t i = 0; i < c->n; i++)
        free((char *)c->row[i].of);
    free(c->row);
    free(c->step);
    free(c->last_of);
}

/* Below the table: what pct is relative to, and how much is not shown. */
static void make_note(const struct breakdown_rows *c, char note[NOTE_BYTES])
{
    int n =
        snprintf(note, NOTE_BYTES,
                 "pct: share of the time of what column 'of' names; for a step, of its own time");

    if (c->n_cut || c->n_hidden)
        n += snprintf(note + n, NOTE_BYTES - (size_t)n, "\nonly the %llu largest parts: %llu rows",
                      (unsigned long long)c->top, (unsigned long long)c->n_cut);
    if (c->n_hidden)
        n += snprintf(note + n, NOTE_BYTES - (size_t)n, " and %zu steps of critical paths",
                      c->n_hidden);
    if (c->n_cut || c->n_hidden)
        snprintf(note + n, NOTE_BYTES - (size_t)n, " are not shown; --top N, or --format csv");
}

/* All that is shown, `top` of everything; 0: all. */
static kb_status gather(struct breakdown_rows *c, kb_breakdown *why)
{
    kb_status status = kb_breakdown_rows(why, keep_row, c);

    if (!status)
        status = kb_breakdown_path(why, keep_step, c);
    if (!status)
        hide_steps(c);
    return status;
}

static struct rows rows_of(struct breakdown_rows *c)
{
    return (struct rows){ROWS_COLUMNS(columns), .n_rows = c->n + c->n_steps, .row = any_row,
                         .arg = c};
}

uint64_t breakdown_top(const struct opts *o)
{
    return o->top ? o->top : is_for_people(o->format) ? TOP_FOR_PEOPLE : UINT64_MAX;
}

enum exit_code breakdown_rows_print(const struct cli *cli, kb_breakdown *why, struct sink *s)
{
    struct breakdown_rows c = {.cli = cli, .top = breakdown_top(&cli->opts)};
    kb_status status = gather(&c, why);
    struct rows rows = rows_of(&c);
    char note[NOTE_BYTES];

    make_note(&c, note);
    rows.note = note;
    if (!status)
        cmd_write_as(cli, "causes", &rows, s);
    free_all(&c);
    return status ? cmd_fail(cli, status, NULL) : EXIT_OK;
}

/* -- a report ------------------------------------------------------------------------------- */

/* All causes of one thing. */
struct sum {
    kb_breakdown_by by;
    char *of; /* owned */
    double ns[KB_N_CAUSES];
};

#define SUM(NAME, name, column, is_wait) COLUMN(#column, CELL_NS, struct sum, ns[KB_CAUSE_##NAME]),

static const struct column sum_columns[] = {COLUMN_WORD("by", struct sum, by, opts_breakdowns),
                                            COLUMN("of", CELL_TEXT, struct sum, of),
                                            KB_CAUSES(SUM)};

struct sums {
    struct sum *sum; /* owned */
    size_t n, cap;
};

/* Sums of everything, of each operation, and of each kernel and line on the critical path; the rows
 * of one thing come together. */
static void add_sum(void *arg, const kb_breakdown_row *row)
{
    struct sums *s = arg;
    struct sum *last = s->n > 0 ? &s->sum[s->n - 1] : NULL;

    if (row->by != KB_BREAKDOWN_ALL && row->by != KB_BREAKDOWN_OP && row->by != KB_BREAKDOWN_PATH)
        return;
    if (!last || last->by != row->by || strcmp(last->of, row->of) != 0) {
        s->sum = memory_room(s->sum, s->n, &s->cap, sizeof *s->sum);
        last = &s->sum[s->n++];
        *last = (struct sum){.by = row->by, .of = memory_text(row->of)};
    }
    last->ns[row->cause] += row->sum_ns;
}

static void free_sums(struct sums *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->sum[i].of);
    free(s->sum);
}

enum exit_code breakdown_report(const struct cli *cli, kb_breakdown *why)
{
    struct breakdown_rows c = {.cli = cli, .top = cli->opts.top ? cli->opts.top : TOP_FOR_PAGES};
    struct sums s = {.n = 0};
    kb_status status = gather(&c, why);
    struct rows causes = rows_of(&c);

    if (!status)
        status = kb_breakdown_rows(why, add_sum, &s);
    struct rows sums = {ROWS_COLUMNS(sum_columns), ROWS_ARRAY(s.sum, s.n)};
    if (!status)
        cli->page->breakdown(cli->report, &causes, &sums);
    free_all(&c);
    free_sums(&s);
    return status ? cmd_fail(cli, status, NULL) : EXIT_OK;
}
