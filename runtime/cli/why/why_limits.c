/*
 * why_limits.c -- `why`: a run again, each time with one limit removed.
 *
 * An ablation: the first run is the machine as it is, and each further run has one class of costs
 * taken out (kb_options.costs_off). The time saved is what this limit is worth. Savings do not add
 * up, since limits hide each other: with faster links alone nothing is gained if memories are the
 * next bottleneck at nearly the same bandwidth. So memories and links are also removed together.
 *
 * A run may even get slower without a limit: transactions arrive earlier and in another order, and
 * one of them may get ahead of others on which more depends.
 *
 * The runs after the first are items of a plan. A deadlock in any run replaces
 * the table.
 *
 * Example, the first rows of `why gemm` on cube8, whose kernels take 837.77 ns:
 *
 *     removed              kernel_ns  saved_ns  saved_pct  speedup
 *     none                    837.77      0.00        0.0     1.00
 *     tcm_gbs                 529.77    308.00       36.8     1.58
 *     compute                 645.77    192.00       22.9     1.30
 *     memory_gbs+link_gbs     653.09    184.68       22.0     1.28
 *     link_gbs                781.77     56.00        6.7     1.07
 *     memory_gbs              837.77      0.00        0.0     1.00
 *
 * This gemm is limited by the ports of the TCM more than by its engine. Memories alone save
 * nothing, links alone 56 ns, and both together 184.68: behind each of them stands the other.
 */
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include "cli/rows/deadlock_rows.h"
#include "cli/why/rerun.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_BYTES = 256 };

/* Limits as they are printed. The first is none: what the others are compared with. */
static const struct limit {
    const char *name;
    unsigned cost;
} limits[] = {
    {"none", 0},
    {"memory_gbs", KB_COST_MEMORY_GBS},
    {"link_gbs", KB_COST_LINK_GBS},
    {"memory_gbs+link_gbs", KB_COST_MEMORY_GBS | KB_COST_LINK_GBS},
    {"tcm_gbs", KB_COST_TCM_GBS},
    {"channels", KB_COST_CHANNELS},
    {"engines", KB_COST_ENGINES},
    {"overhead", KB_COST_OVERHEAD},
    {"wire", KB_COST_WIRE},
    {"compute", KB_COST_COMPUTE},
    {"buffers", KB_COST_BUFFERS},        /* only where links are routers */
    {"cache_off", KB_COST_CACHES},       /* these only where there are caches: without any; */
    {"cache_all", KB_COST_CACHE_MISSES}, /* with all lines in them */
};

enum { N_LIMITS = sizeof limits / sizeof *limits };

static bool has_limit(const struct cli *cli, const struct limit *l)
{
    if (l->cost & KB_COST_BUFFERS)
        return cmd_has_return(cli);
    if (l->cost & (KB_COST_CACHES | KB_COST_CACHE_MISSES))
        return strstr(cli->info.config, "cache:") || strstr(cli->info.config, "l2:");
    return true;
}

/* The i-th limit that the machine has; NULL: it has fewer. */
static const struct limit *limit_at(const struct cli *cli, size_t i)
{
    for (size_t k = 0; k < N_LIMITS; k++)
        if (has_limit(cli, &limits[k]) && i-- == 0)
            return &limits[k];
    return NULL;
}

static size_t n_limits(const struct cli *cli)
{
    size_t n = 0;

    while (limit_at(cli, n))
        n++;
    return n;
}

/* One row: a run with one limit less. */
struct limit_row {
    const char *removed;
    int64_t end_fs, judged_fs, p99_fs, saved_fs;
    double accepted_gbs, speedup;
    struct cell saved; /* in per cent */
};

struct ablation {
    struct rerun *rerun;
    const struct cli *cli;
    struct outcome running[N_LIMITS]; /* each of one thread */
    struct outcome outcomes[N_LIMITS];
    struct explained explained;
    struct run_explained runs[N_LIMITS];
    size_t order[N_LIMITS]; /* of rows: the first run, then by saving */
    size_t n_rows;
    struct column columns[ROW_CELLS_MAX];
    size_t n_columns;
    struct limit_row shown; /* being printed */
};

/* -- the runs ------------------------------------------------------------------------------- */

static void do_run(void *arg, unsigned thread, uint64_t i)
{
    struct ablation *w = arg;

    (void)thread;
    rerun_again(w->rerun, w->cli->topo, limit_at(w->cli, i + 1)->cost, &w->running[i + 1]);
}

static bool give_run(void *arg, uint64_t i)
{
    struct ablation *w = arg;
    const struct outcome *o = &w->outcomes[i + 1];

    w->outcomes[i + 1] = w->running[i + 1];
    if (!o->ended)
        return false;
    explained_give(&w->explained, i + 1, &w->runs[i + 1]);
    return true;
}

static bool is_final(void *arg, uint64_t i)
{
    const struct outcome *o = &((const struct ablation *)arg)->running[i + 1];

    return o->ended && !o->status && !o->code;
}

static void pack_run(void *arg, uint64_t i, struct packed *to)
{
    const struct ablation *w = arg;

    rerun_pack(&w->running[i + 1], to);
    explained_pack(&w->runs[i + 1], to);
}

static void unpack_run(void *arg, uint64_t i, struct packed *from)
{
    struct ablation *w = arg;

    rerun_unpack(&w->running[i + 1], from);
    explained_unpack(&w->explained, &w->runs[i + 1], from);
}

/* What names a run in rows that explain it. */
static const struct column names[] = {COLUMN_BY_HAND("removed", CELL_TEXT)};

static void name_run(void *arg, uint64_t i, struct cell *cells)
{
    const struct ablation *w = arg;

    cells[0] = cell_text(limit_at(w->cli, i)->name);
}

static void begin(struct ablation *w)
{
    explained_begin(&w->explained, w->cli, names, 1, name_run, w);
    w->rerun->explained = &w->explained;
    for (size_t i = 0; i < N_LIMITS && explained_is_wanted(w->cli); i++)
        w->running[i].explained = &w->runs[i];
}

/* The first run alone: mistakes in the input are reported once. */
static enum exit_code run_all(struct ablation *w)
{
    struct plan runs = {.cli = w->cli,
                        .things = "runs",
                        .n = n_limits(w->cli) - 1,
                        .threads = plan_threads(w->cli),
                        .window = N_LIMITS,
                        .work = do_run,
                        .give = give_run,
                        .is_final = is_final,
                        .pack = pack_run,
                        .unpack = unpack_run,
                        .arg = w};
    enum exit_code code;

    rerun_first(w->rerun, &w->running[0]);
    w->outcomes[0] = w->running[0];
    code = rerun_code(w->rerun, &w->outcomes[0]);
    if (code || !w->outcomes[0].ended)
        return code;
    explained_give(&w->explained, 0, &w->runs[0]);
    code = plan_run(&runs);
    for (size_t i = 1; i < n_limits(w->cli) && !code; i++)
        code = rerun_code(w->rerun, &w->outcomes[i]);
    return code;
}

/* -- the table ------------------------------------------------------------------------------ */

static int64_t judged_fs(const struct ablation *w, size_t i)
{
    return rerun_judged_fs(w->rerun, &w->outcomes[i]);
}

/*
 * Orders the runs that have ended: the first run, then the others by their saving, the largest
 * first; equal ones as in the list. There are few, so each is put in its place among those before
 * it.
 */
static void rank(struct ablation *w)
{
    w->n_rows = 0;
    for (size_t i = 0; i < n_limits(w->cli); i++) {
        size_t at = w->n_rows;

        if (!w->outcomes[i].ended)
            continue;
        for (; at > 1 && judged_fs(w, w->order[at - 1]) > judged_fs(w, i); at--)
            w->order[at] = w->order[at - 1];
        w->order[at] = i;
        w->n_rows++;
    }
}

enum { OF_BENCH = 1 << SCENARIO_BENCH, OF_FILE = 1 << SCENARIO_FILE, OF_LOAD = 1 << SCENARIO_LOAD };

/* Columns, each with the scenarios that have it. */
static const struct limit_column {
    unsigned scenarios;
    struct column column;
} limit_columns[] = {
    {~0u, COLUMN("removed", CELL_TEXT, struct limit_row, removed)},
    {~0u, COLUMN("end_ns", CELL_NS, struct limit_row, end_fs)},
    {OF_BENCH, COLUMN("kernel_ns", CELL_NS, struct limit_row, judged_fs)},
    {OF_FILE | OF_LOAD, COLUMN("mean_ns", CELL_NS, struct limit_row, judged_fs)},
    {OF_FILE | OF_LOAD, COLUMN("p99_ns", CELL_NS, struct limit_row, p99_fs)},
    {OF_LOAD, COLUMN("accepted_gbs", CELL_FRACTION, struct limit_row, accepted_gbs)},
    {~0u, COLUMN("saved_ns", CELL_NS, struct limit_row, saved_fs)},
    {~0u, COLUMN("saved_pct", CELL_PERCENT, struct limit_row, saved)},
    {~0u, COLUMN_IF("speedup", CELL_FRACTION, struct limit_row, speedup, judged_fs)},
};

static size_t set_columns(const struct ablation *w, struct column columns[ROW_CELLS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof limit_columns / sizeof *limit_columns; i++)
        if (limit_columns[i].scenarios >> w->rerun->scenario & 1)
            columns[n++] = limit_columns[i].column;
    return n;
}

static bool limit_row(void *arg, uint64_t i, struct cell *cells)
{
    struct ablation *w = arg;
    const struct outcome *o = &w->outcomes[w->order[i]];
    int64_t before_fs = judged_fs(w, 0), after_fs = judged_fs(w, w->order[i]);
    struct limit_row *row = &w->shown;

    *row = (struct limit_row){.removed = limit_at(w->cli, w->order[i])->name,
                              .end_fs = o->end_fs,
                              .judged_fs = after_fs,
                              .p99_fs = o->p99_fs,
                              .accepted_gbs = o->accepted_gbs,
                              .saved_fs = before_fs - after_fs};
    row->saved =
        before_fs ? cell_percent(100 * (double)row->saved_fs / (double)before_fs) : cell_none();
    row->speedup = after_fs ? (double)before_fs / (double)after_fs : 0;
    record_cells(w->columns, w->n_columns, row, cells);
    return true;
}

/* Without a limit; without caches it is no surprise. */
static bool is_slower_without(const struct ablation *w)
{
    for (size_t i = 0; i < w->n_rows; i++)
        if (limit_at(w->cli, w->order[i])->cost != KB_COST_CACHES &&
            judged_fs(w, w->order[i]) > judged_fs(w, 0))
            return true;
    return false;
}

/* Below the table: what is compared, and why a saving may be below 0. */
static void make_note(const struct ablation *w, char note[NOTE_BYTES])
{
    size_t n;

    rerun_note(w->rerun, note, NOTE_BYTES);
    n = strlen(note);
    if (is_slower_without(w))
        snprintf(note + n, NOTE_BYTES - n,
                 "\nbelow 0: a transaction that arrives earlier may get ahead of others");
}

/* The first run that is deadlocked, instead of the table. */
static enum exit_code print_stuck(const struct ablation *w, struct sink *s)
{
    size_t i = 0;

    while (!w->outcomes[i].stuck)
        i++;
    if (i > 0)
        cmd_note(w->cli, "with %s removed:", limit_at(w->cli, i)->name);
    return deadlock_rows_print(w->cli, kb_bench_sim(w->outcomes[i].stuck), &w->outcomes[i].why, s);
}

static enum exit_code why_into(void *arg, struct sink *s)
{
    struct ablation *w = arg;
    enum exit_code code = run_all(w);
    struct rows rows = {.columns = w->columns, .row = limit_row, .arg = w};
    char note[NOTE_BYTES];

    stop_heard();
    if (code == EXIT_DEADLOCK)
        return print_stuck(w, s);
    if (code && code != EXIT_INTERRUPTED)
        return code;
    rank(w);
    rows.n_columns = w->n_columns = set_columns(w, w->columns);
    make_note(w, note);
    rows.note = w->n_rows > 0 ? note : NULL;
    rows.n_rows = w->n_rows;
    code = EXIT_OK;
    if (w->cli->opts.breakdown)
        code = explained_print(&w->explained, s);
    else
        cmd_write(w->cli, &rows, s);
    sink_flush(s);
    rerun_say_unsteady(w->rerun, &w->outcomes[0]);
    if (code || !stop_asked())
        return code;
    cmd_note(w->cli, "%s: %zu of %d runs complete", stop_word(), w->n_rows, (int)n_limits(w->cli));
    return EXIT_INTERRUPTED;
}

static uint64_t most_runs(void *arg, const struct outcome *first)
{
    (void)first;
    return n_limits(arg);
}

enum exit_code why_limits(struct rerun *r)
{
    struct ablation *w = memory_new(1, sizeof *w);
    enum exit_code code;

    if (r->cli->opts.dry_run) {
        free(w);
        return rerun_estimate(r, most_runs, (void *)r->cli);
    }
    w->rerun = r;
    w->cli = r->cli;
    begin(w);
    code = stats_file_check(r->cli);
    if (!code)
        code = explained_write(&w->explained, cmd_output(r->cli, why_into, w));
    if (stop_leaves())
        return code;
    for (size_t i = 0; i < N_LIMITS; i++) {
        kb_bench_free(w->running[i].stuck);
        explained_drop(&w->runs[i]);
    }
    explained_free(&w->explained);
    free(w);
    return code;
}
