/* breakdown_rows.c -- --breakdown: where the time of a run went, instead of its rows. */
#include "cli/rows/breakdown_rows.h"
#include "cli/report/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOP_FOR_PEOPLE = 3,
    TOP_FOR_PAGES = 20,
    STEPS_PER_TOP = 4,
    STEP_BYTES = 256,
    NOTE_BYTES = 256
};

static const struct column columns[] = {
    COLUMN_BY_HAND("by", CELL_TEXT),     COLUMN_BY_HAND("of", CELL_TEXT),
    COLUMN_BY_HAND("cause", CELL_TEXT),  COLUMN_BY_HAND("place", CELL_TEXT),
    COLUMN_BY_HAND("behind", CELL_TEXT), COLUMN_BY_HAND("count", CELL_COUNT),
    COLUMN_BY_HAND("total_ns", CELL_NS), COLUMN_BY_HAND("pct", CELL_PERCENT),
    COLUMN_BY_HAND("begin_ns", CELL_NS), COLUMN_BY_HAND("end_ns", CELL_NS),
};

static const char *const by_names[] = {
    [KB_BREAKDOWN_ALL] = "all",       [KB_BREAKDOWN_PLACE] = "place",
    [KB_BREAKDOWN_WAIT] = "wait",     [KB_BREAKDOWN_SOURCE] = "source",
    [KB_BREAKDOWN_TARGET] = "target", [KB_BREAKDOWN_OP] = "op",
    [KB_BREAKDOWN_PE] = "pe",         [KB_BREAKDOWN_PATH] = "path"};

/* What is printed: rows, then the steps of critical paths. */
struct causes {
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
    bool no_memory;
    char place[KB_PLACE_BYTES], behind[KB_PLACE_BYTES], of[STEP_BYTES];
};

/* -- gathering ------------------------------------------------------------------------------ */

/* Room for one more; NULL: no memory. */
static void *room(struct causes *c, void *rows, size_t n, size_t *cap, size_t row_bytes)
{
    void *moved = rows;

    if (n == *cap) {
        *cap = *cap ? 2 * *cap : 64;
        moved = realloc(rows, *cap * row_bytes);
    }
    c->no_memory = c->no_memory || !moved;
    return moved;
}

/* Counts how many things of its kind, and how many causes of its thing, have come with `row`. */
static void count_row(struct causes *c, const kb_breakdown_row *row)
{
    bool first = !c->last_of || row->by != c->last_by;

    if (first)
        c->things = 0;
    if (first || strcmp(row->of, c->last_of) != 0) {
        free(c->last_of);
        c->last_of = strdup(row->of);
        c->no_memory = c->no_memory || !c->last_of;
        c->last_by = row->by;
        c->things++;
        c->causes = 0;
    }
    c->causes++;
}

/* Of each kind the first `top` things, and of each of those the first `top` causes. */
static void keep_row(void *arg, const kb_breakdown_row *row)
{
    struct causes *c = arg;
    kb_breakdown_row *rows;

    if (c->no_memory)
        return;
    count_row(c, row);
    if (c->no_memory)
        return;
    if (c->top && (c->things > c->top || c->causes > c->top)) {
        c->n_cut++;
        return;
    }
    rows = room(c, c->row, c->n, &c->cap, sizeof *rows);
    if (!rows)
        return;
    c->row = rows;
    c->row[c->n] = *row;
    c->row[c->n].of = strdup(row->of);
    c->no_memory = !c->row[c->n++].of;
}

static void keep_step(void *arg, const kb_breakdown_step *step)
{
    struct causes *c = arg;
    kb_breakdown_step *steps;

    if (c->no_memory)
        return;
    steps = room(c, c->step, c->n_steps, &c->steps_cap, sizeof *steps);
    if (!steps)
        return;
    c->step = steps;
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

/* Of a path with more steps than people read, the longest stay, in order of time. */
static void hide_steps(struct causes *c)
{
    size_t most = c->top * STEPS_PER_TOP, kept = 0, equal;
    const kb_breakdown_step **by_length;
    int64_t least_fs;

    if (!c->top || c->n_steps <= most)
        return;
    by_length = malloc(c->n_steps * sizeof(kb_breakdown_step *));
    c->no_memory = c->no_memory || !by_length;
    if (!by_length)
        return;
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

static struct cell place_cell(const struct causes *c, kb_place place, char text[KB_PLACE_BYTES])
{
    return kb_place_name(c->cli->topo, place, text) ? cell_text(text) : cell_none();
}

static void cause_row(struct causes *c, const kb_breakdown_row *row, struct cell *cells)
{
    cells[0] = cell_text(by_names[row->by]);
    cells[1] = *row->of ? cell_text(row->of) : cell_none();
    cells[2] = cell_text(kb_cause_name(row->cause));
    cells[3] = place_cell(c, row->place, c->place);
    cells[4] = place_cell(c, row->behind, c->behind);
    cells[5] = cell_count(row->count);
    cells[6] = row->sum_fs < INT64_MAX ? cell_ns(row->sum_fs) : cell_fraction(row->sum_ns);
    cells[7] = cell_percent(percent(row->sum_ns, row->all_ns));
    cells[8] = cell_none();
    cells[9] = cell_none();
}

/* "c0.pe3 #12 tl_load copy.c:41" */
static void name_step(struct causes *c, const kb_breakdown_step *step)
{
    const char *slash = strrchr(step->file, '/');
    char pe[KB_ENDPOINT_BYTES];

    snprintf(c->of, sizeof c->of, "%s #%u %s %s:%d", cmd_name_pe(c->cli, step->pe, pe), step->id,
             step->call, slash ? slash + 1 : step->file, step->line);
}

/* What took most of a step is its cause. */
static void step_row(struct causes *c, const kb_breakdown_step *step, struct cell *cells)
{
    const kb_share *most = step->share;

    for (size_t i = 0; i < step->n_shares; i++)
        most = step->share[i].sum_fs > most->sum_fs ? &step->share[i] : most;
    name_step(c, step);
    cells[0] = cell_text("step");
    cells[1] = cell_text(c->of);
    cells[2] = step->n_shares ? cell_text(kb_cause_name(most->cause)) : cell_none();
    cells[3] = step->n_shares ? place_cell(c, most->place, c->place) : cell_none();
    cells[4] = step->n_shares ? place_cell(c, most->behind, c->behind) : cell_none();
    cells[5] = step->n_shares ? cell_count(most->count) : cell_none();
    cells[6] = step->n_shares ? cell_ns(most->sum_fs) : cell_none();
    cells[7] = step->n_shares ? cell_percent(percent((double)most->sum_fs, (double)step_fs(step)))
                              : cell_none();
    cells[8] = cell_ns(step->begin_fs);
    cells[9] = cell_ns(step->end_fs);
}

static bool any_row(void *arg, uint64_t i, struct cell *cells)
{
    struct causes *c = arg;

    if (i < c->n)
        cause_row(c, &c->row[i], cells);
    else
        step_row(c, &c->step[i - c->n], cells);
    return true;
}

/* -- what the command calls ----------------------------------------------------------------- */

enum exit_code causes_begin(const struct cli *cli, kb_sim *sim, kb_breakdown **out)
{
    kb_error why = {""};
    kb_status status;

    *out = NULL;
    if (!cli->opts.breakdown && !cli->report)
        return EXIT_OK;
    status = kb_breakdown_new(sim, out, &why);
    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

static bool is_for_people(enum format format)
{
    return format == FORMAT_TABLE || format == FORMAT_MD;
}

static void free_all(struct causes *c)
{
    for (size_t i = 0; i < c->n; i++)
        free((char *)c->row[i].of);
    free(c->row);
    free(c->step);
    free(c->last_of);
}

/* What pct is of, and how much is not shown. */
static void make_note(const struct causes *c, char note[NOTE_BYTES])
{
    int n = snprintf(note, NOTE_BYTES,
                     "pct: of all time of what the row is of; of a step, of its own time");

    if (c->n_cut || c->n_hidden)
        n += snprintf(note + n, NOTE_BYTES - (size_t)n,
                      "\nonly the %llu largest of everything: %llu rows",
                      (unsigned long long)c->top, (unsigned long long)c->n_cut);
    if (c->n_hidden)
        n += snprintf(note + n, NOTE_BYTES - (size_t)n, " and %zu steps of critical paths",
                      c->n_hidden);
    if (c->n_cut || c->n_hidden)
        snprintf(note + n, NOTE_BYTES - (size_t)n, " are not shown; --top N, or --format csv");
}

/* All that is shown, `top` of everything; 0: all. */
static kb_status gather(struct causes *c, kb_breakdown *why)
{
    kb_status status = kb_breakdown_rows(why, keep_row, c);

    if (!status)
        status = kb_breakdown_path(why, keep_step, c);
    if (!status)
        hide_steps(c);
    return c->no_memory ? KB_NO_MEMORY : status;
}

static struct rows rows_of(struct causes *c)
{
    return (struct rows){.columns = columns,
                         .n_columns = sizeof columns / sizeof *columns,
                         .n_rows = c->n + c->n_steps,
                         .row = any_row,
                         .arg = c};
}

enum exit_code causes_print(const struct cli *cli, kb_breakdown *why, struct sink *s)
{
    const struct opts *o = &cli->opts;
    struct causes c = {.cli = cli,
                       .top = o->top                     ? o->top
                              : is_for_people(o->format) ? TOP_FOR_PEOPLE
                                                         : 0};
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

/* A column for each cause, as report_causes.c knows them, behind what the row is of. */
static const struct column sum_columns[1 + KB_N_CAUSES] = {
    COLUMN_BY_HAND("of", CELL_TEXT),
    [1 + KB_CAUSE_DISPATCH] = COLUMN_BY_HAND("dispatch_ns", CELL_NS),
    [1 + KB_CAUSE_CHANNEL_WAIT] = COLUMN_BY_HAND("queue_channel_ns", CELL_NS),
    [1 + KB_CAUSE_WIRE] = COLUMN_BY_HAND("wire_ns", CELL_NS),
    [1 + KB_CAUSE_OVERHEAD] = COLUMN_BY_HAND("overhead_ns", CELL_NS),
    [1 + KB_CAUSE_LINK_WAIT] = COLUMN_BY_HAND("queue_link_ns", CELL_NS),
    [1 + KB_CAUSE_ENGINE_WAIT] = COLUMN_BY_HAND("queue_engine_ns", CELL_NS),
    [1 + KB_CAUSE_MEMORY_WAIT] = COLUMN_BY_HAND("queue_memory_ns", CELL_NS),
    [1 + KB_CAUSE_DRAIN] = COLUMN_BY_HAND("drain_ns", CELL_NS),
    [1 + KB_CAUSE_RESPONSE] = COLUMN_BY_HAND("response_ns", CELL_NS),
    [1 + KB_CAUSE_PORT_WAIT] = COLUMN_BY_HAND("queue_port_ns", CELL_NS),
    [1 + KB_CAUSE_PORT] = COLUMN_BY_HAND("port_ns", CELL_NS),
    [1 + KB_CAUSE_COMPUTE] = COLUMN_BY_HAND("compute_ns", CELL_NS),
    [1 + KB_CAUSE_QUEUE_WAIT] = COLUMN_BY_HAND("queue_pe_ns", CELL_NS),
    [1 + KB_CAUSE_BARRIER_WAIT] = COLUMN_BY_HAND("barrier_ns", CELL_NS),
};

/* All causes of one thing. */
struct sum {
    char *of; /* owned */
    double ns[KB_N_CAUSES];
};

struct sums {
    struct causes c; /* for room() alone */
    struct sum *sum; /* owned */
    size_t n, cap;
};

/* Of all, and of each command; the rows of one thing come together. */
static void add_sum(void *arg, const kb_breakdown_row *row)
{
    struct sums *s = arg;
    const char *of = row->by == KB_BREAKDOWN_ALL ? "all" : row->of;

    if (s->c.no_memory || (row->by != KB_BREAKDOWN_ALL && row->by != KB_BREAKDOWN_OP))
        return;
    if (s->n == 0 || strcmp(s->sum[s->n - 1].of, of) != 0) {
        struct sum *sums = room(&s->c, s->sum, s->n, &s->cap, sizeof *sums);

        if (!sums)
            return;
        s->sum = sums;
        s->sum[s->n] = (struct sum){.of = strdup(of)};
        s->c.no_memory = !s->sum[s->n++].of;
    }
    s->sum[s->n - 1].ns[row->cause] += row->sum_ns;
}

static bool sum_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct sums *s = arg;

    cells[0] = cell_text(s->sum[i].of);
    for (size_t k = 0; k < KB_N_CAUSES; k++)
        cells[1 + k] = cell_fraction(s->sum[i].ns[k]);
    return true;
}

static void free_sums(struct sums *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->sum[i].of);
    free(s->sum);
}

/* Rows of transactions have their terms; commands of kernels are summed here. */
enum exit_code causes_report(const struct cli *cli, kb_breakdown *why)
{
    struct causes c = {.cli = cli, .top = TOP_FOR_PAGES};
    struct sums s = {.n = 0};
    kb_status status = gather(&c, why);
    struct rows causes = rows_of(&c);
    struct rows sums = {.columns = sum_columns,
                        .n_columns = sizeof sum_columns / sizeof *sum_columns,
                        .row = sum_row,
                        .arg = &s};

    if (!status)
        status = kb_breakdown_rows(why, add_sum, &s);
    status = s.c.no_memory ? KB_NO_MEMORY : status;
    sums.n_rows = s.n;
    if (!status)
        report_why(cli->report, &causes, cli->opts.command == COMMAND_RUN ? &sums : NULL);
    free_all(&c);
    free_sums(&s);
    return status ? cmd_fail(cli, status, NULL) : EXIT_OK;
}
