/*
 * cmd_why.c -- `why`: a bench, a file of transactions or traffic again, each time with one limit
 * removed.
 *
 * An ablation: the first run is the machine as it is, and each further run has one class of costs
 * taken out (kb_options.costs_off). The time saved is what this limit is worth. Savings do not add
 * up, since limits hide each other: with faster links alone nothing is gained if memories are the
 * next bottleneck at nearly the same bandwidth. So memories and links are also removed together.
 *
 * A run may even get slower without a limit: transactions arrive earlier and in another order, and
 * one of them may get ahead of others on which more depends.
 *
 * The first run comes alone, because mistakes in its input would otherwise be reported ten times,
 * and because of algorithm=auto: what a bench has chosen for the machine as it is, is given to the
 * others. They would choose the same, each for itself, since kb_bench_try() leaves no costs out.
 * The others run in parallel (base/parallel.c). Benches are compared by the time of their kernels,
 * the others by mean latency. A deadlock in any run replaces the table.
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
#include "cli/benches.h"
#include "cli/out/memory.h"
#include "cli/rows/deadlock_rows.h"
#include "base/parallel.h"
#include "cli/command.h"
#include "cli/in/pattern.h"
#include "cli/out/progress.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "cli/in/transactions.h"
#include "cli/rows/warn.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EVENTS_AT_ONCE = 50000, /* a few ms: how long Ctrl-C may wait */
    NOTE_BYTES = 256,
};

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
};

enum { N_LIMITS = sizeof limits / sizeof *limits };

enum scenario { SCENARIO_BENCH, SCENARIO_FILE, SCENARIO_LOAD };

/* The result of a run with one limit removed. Fields that a scenario lacks are not set. */
struct outcome {
    kb_status status;
    kb_error why;
    bool ended;
    enum exit_code code; /* after a message */
    kb_bench_run *stuck; /* owned: its kernels are deadlocked; or NULL */
    int64_t end_fs, kernel_fs, mean_fs, p99_fs;
    double accepted_gbs;
    bool steady;
};

/* One row: a run with one limit less. */
struct limit_row {
    const char *removed;
    int64_t end_fs, judged_fs, p99_fs, saved_fs;
    double accepted_gbs, speedup;
    struct cell saved; /* in per cent */
};

struct ablation {
    const struct cli *cli;
    enum scenario scenario;
    const kb_bench *bench;
    char **words; /* owned: the arguments of the first run, with what it has chosen */
    struct pattern asked;
    struct outcome running[N_LIMITS]; /* each of one thread */
    struct outcome outcomes[N_LIMITS];
    size_t order[N_LIMITS]; /* of rows: the first run, then by saving */
    size_t n_rows, n_given;
    struct column columns[ROW_CELLS_MAX];
    size_t n_columns;
    struct limit_row shown; /* being printed */
    struct progress progress;
};

/* -- one run -------------------------------------------------------------------------------- */

static kb_options options_of(const struct ablation *w, size_t i)
{
    return (kb_options){.engine = w->cli->opts.engine, .costs_off = limits[i].cost};
}

static void say_overload(const struct cli *cli, const kb_sim *sim)
{
    char warning[WARNING_BYTES];

    if (*warn_of_ideal_links(cli, sim, warning))
        cmd_note(cli, "%s", warning);
}

/* Runs to the end, or to stop_asked(). Warnings are about the first run only. */
static void run(const struct ablation *w, struct outcome *o, kb_sim *sim)
{
    o->status = KB_AGAIN;
    while (o->status == KB_AGAIN && !stop_asked())
        o->status = kb_sim_run(sim, EVENTS_AT_ONCE, &o->why);
    o->ended = o->status == KB_OK;
    if (o->status == KB_AGAIN)
        o->status = KB_OK;
    o->end_fs = kb_sim_end_fs(sim);
    if (o == &w->running[0] && o->ended && !w->cli->opts.quiet)
        say_overload(w->cli, sim);
}

/* Keeps the arguments of a run, for those that follow. */
static void keep_words(struct ablation *w, const kb_bench_run *bench)
{
    size_t n = w->bench->n_args;

    w->words = memory_new(n + 1, sizeof *w->words);
    for (size_t i = 0; i < n; i++) {
        const char *name = w->bench->args[i].name, *value = kb_bench_value(bench, i);
        size_t room = strlen(name) + strlen(value) + 2;

        w->words[i] = memory_new(room, 1);
        snprintf(w->words[i], room, "%s=%s", name, value);
    }
}

static void free_words(struct ablation *w)
{
    for (size_t i = 0; w->words && i < w->bench->n_args; i++)
        free(w->words[i]);
    free(w->words);
}

static kb_status new_bench(struct ablation *w, size_t i, kb_bench_run **bench)
{
    const struct opts *opts = &w->cli->opts;
    kb_options options = options_of(w, i);
    const char *const *words = i ? (const char *const *)w->words : opts->operand + 1;
    kb_status status =
        kb_bench_new(w->bench, w->cli->topo, &options, opts->seed, words,
                     i ? w->bench->n_args : opts->n_operands - 1, bench, &w->running[i].why);

    if (!status && i == 0)
        keep_words(w, *bench);
    return status;
}

static void run_bench(struct ablation *w, size_t i)
{
    struct outcome *o = &w->running[i];
    kb_bench_run *bench = NULL;

    kb_catch_crashes();
    o->status = new_bench(w, i, &bench);
    if (o->status) {
        kb_bench_free(bench);
        return;
    }
    run(w, o, kb_bench_sim(bench));
    if (o->status == KB_DEADLOCK) {
        o->stuck = bench;
        return;
    }
    for (size_t k = 0; k < kb_launch_done(kb_bench_sim(bench)); k++) {
        kb_launch_result r;

        kb_launch_get(kb_bench_sim(bench), k, &r);
        o->kernel_fs += r.last_end_fs - r.start_fs;
    }
    kb_bench_free(bench);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Mean, rounded to whole fs, and nearest-rank percentile of all latencies. */
static void sum_up(struct outcome *o, const kb_sim *sim)
{
    size_t n = kb_sim_done(sim);
    int64_t *actual_fs = memory_new(n + 1, sizeof *actual_fs);
    double sum = 0;
    kb_result r;

    for (size_t i = 0; i < n; i++) {
        kb_status status = kb_sim_result(sim, i, &r);

        o->status = status ? status : o->status;
        actual_fs[i] = r.actual_fs;
        sum += (double)r.actual_fs;
    }
    if (n > 0) {
        qsort(actual_fs, n, sizeof *actual_fs, by_time);
        o->mean_fs = llround(sum / (double)n);
        o->p99_fs = actual_fs[(n * 99 + 99) / 100 - 1];
    }
    free(actual_fs);
}

static void run_file(struct ablation *w, size_t i)
{
    struct outcome *o = &w->running[i];
    kb_options options = options_of(w, i);
    kb_sim *sim = NULL;

    o->status = kb_sim_new(w->cli->topo, &options, &sim);
    if (!o->status)
        o->code = transactions_read(w->cli->topo, w->cli->program, w->cli->opts.operand[0],
                                    w->cli->opts.quiet || i > 0, sim);
    if (!o->status && !o->code)
        run(w, o, sim);
    if (o->ended)
        sum_up(o, sim);
    kb_sim_free(sim);
}

static void run_load(struct ablation *w, size_t i)
{
    struct outcome *o = &w->running[i];
    kb_options options = options_of(w, i);
    kb_traffic traffic = w->asked.traffic;
    kb_traffic_result r;
    kb_sim *sim = NULL;

    traffic.rate = list_rate(w->asked.rates.value[0]);
    traffic.seed = w->cli->opts.seed;
    o->status = kb_sim_new(w->cli->topo, &options, &sim);
    if (!o->status)
        o->status = kb_sim_traffic(sim, &traffic, &o->why);
    if (!o->status)
        run(w, o, sim);
    if (o->ended)
        o->status = kb_sim_traffic_result(&sim, 1, &r);
    if (o->ended && !o->status) {
        o->mean_fs = r.mean_fs;
        o->p99_fs = r.p99_fs;
        o->accepted_gbs = r.accepted_gbs;
        o->steady = r.steady;
    }
    kb_sim_free(sim);
}

static void do_run(void *arg, unsigned thread, uint64_t i)
{
    struct ablation *w = arg;
    static void (*const runs[])(struct ablation *, size_t) = {run_bench, run_file, run_load};

    (void)thread;
    runs[w->scenario](w, i + 1);
}

/* -- all of them ---------------------------------------------------------------------------- */

static enum exit_code code_of(const struct ablation *w, const struct outcome *o)
{
    if (o->code)
        return o->code;
    if (o->stuck)
        return EXIT_DEADLOCK; /* print_stuck() says so */
    return o->status ? cmd_fail(w->cli, o->status, &o->why) : EXIT_OK;
}

static bool give_run(void *arg, uint64_t i)
{
    struct ablation *w = arg;
    const struct outcome *o = &w->outcomes[i + 1];

    w->outcomes[i + 1] = w->running[i + 1];
    if (!o->ended)
        return false;
    w->n_given++;
    return true;
}

static void show_progress(void *arg)
{
    struct ablation *w = arg;

    progress_show(&w->progress, w->n_given, N_LIMITS - 1, "runs");
}

/* The first run alone: mistakes in the input are reported once. */
static enum exit_code run_all(struct ablation *w)
{
    static void (*const runs[])(struct ablation *, size_t) = {run_bench, run_file, run_load};
    unsigned jobs = w->cli->opts.jobs ? w->cli->opts.jobs : parallel_threads();
    struct parallel blocks = {.stop = stop_asked,
                              .n = N_LIMITS - 1,
                              .threads = jobs,
                              .window = N_LIMITS,
                              .work = do_run,
                              .give = give_run,
                              .wait = show_progress,
                              .arg = w};
    enum exit_code code;

    runs[w->scenario](w, 0);
    w->outcomes[0] = w->running[0];
    code = code_of(w, &w->outcomes[0]);
    if (code || !w->outcomes[0].ended)
        return code;
    progress_begin(&w->progress, w->cli->opts.quiet);
    switch (parallel_run(&blocks)) {
    case PARALLEL_NO_THREAD:
        return cmd_fail(w->cli, KB_NO_MEMORY, NULL);
    case PARALLEL_LEFT:
        stop_leave();
        break;
    case PARALLEL_ENDED:
        break;
    }
    progress_end(&w->progress);
    for (size_t i = 1; i < N_LIMITS && !code; i++)
        code = code_of(w, &w->outcomes[i]);
    return code;
}

/* -- the table ------------------------------------------------------------------------------ */

/* The time by which runs are compared: of the kernels, or the mean latency. */
static int64_t judged_fs(const struct ablation *w, size_t i)
{
    const struct outcome *o = &w->outcomes[i];

    return w->scenario == SCENARIO_BENCH ? o->kernel_fs : o->mean_fs;
}

/*
 * Orders the runs that have ended: the first run, then the others by their saving, the largest
 * first; equal ones as in the list. There are few, so each is put in its place among those before
 * it.
 */
static void rank(struct ablation *w)
{
    w->n_rows = 0;
    for (size_t i = 0; i < N_LIMITS; i++) {
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
        if (limit_columns[i].scenarios >> w->scenario & 1)
            columns[n++] = limit_columns[i].column;
    return n;
}

static bool limit_row(void *arg, uint64_t i, struct cell *cells)
{
    struct ablation *w = arg;
    const struct outcome *o = &w->outcomes[w->order[i]];
    int64_t before_fs = judged_fs(w, 0), after_fs = judged_fs(w, w->order[i]);
    struct limit_row *row = &w->shown;

    *row = (struct limit_row){.removed = limits[w->order[i]].name,
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

static bool is_slower_without(const struct ablation *w)
{
    return w->n_rows > 0 && judged_fs(w, w->order[w->n_rows - 1]) > judged_fs(w, 0);
}

/* Below the table: what is compared, and why a saving may be below 0. */
static void make_note(const struct ablation *w, char note[NOTE_BYTES])
{
    static const char *const saved[] = {[SCENARIO_BENCH] = "of the time of the kernels",
                                        [SCENARIO_FILE] = "of the mean latency",
                                        [SCENARIO_LOAD] = "of the mean latency"};
    int n = snprintf(note, NOTE_BYTES, "saved: %s", saved[w->scenario]);

    if (w->scenario == SCENARIO_LOAD)
        n += snprintf(note + n, NOTE_BYTES - (size_t)n, ", of one simulation with seed %llu",
                      (unsigned long long)w->cli->opts.seed);
    if (is_slower_without(w))
        snprintf(note + n, NOTE_BYTES - (size_t)n,
                 "\nbelow 0: a transaction that arrives earlier may get ahead of others");
}

/* Latencies of traffic that never settles depend on how long it goes on. */
static void say_unsteady(const struct ablation *w)
{
    if (w->scenario == SCENARIO_LOAD && w->outcomes[0].ended && !w->outcomes[0].steady &&
        !w->cli->opts.quiet)
        cmd_note(w->cli,
                 "rate %s: no steady state found: latencies still grow, or --txns is too "
                 "small to tell; savings grow with them",
                 w->cli->opts.rate);
}

/* The first run that is deadlocked, instead of the table. */
static enum exit_code print_stuck(const struct ablation *w, struct sink *s)
{
    size_t i = 0;

    while (!w->outcomes[i].stuck)
        i++;
    if (i > 0)
        cmd_note(w->cli, "with %s removed:", limits[i].name);
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
    cmd_write(w->cli, &rows, s);
    sink_flush(s);
    say_unsteady(w);
    if (!stop_asked())
        return EXIT_OK;
    cmd_note(w->cli, "interrupted: %zu of %d runs complete", w->n_rows, (int)N_LIMITS);
    return EXIT_INTERRUPTED;
}

/* -- what is run again ---------------------------------------------------------------------- */

static enum exit_code check_operands(const struct ablation *w)
{
    const struct opts *o = &w->cli->opts;

    if (w->scenario != SCENARIO_BENCH && o->n_operands > 1)
        return say(w->cli->program, EXIT_USAGE, "why: '%s' is one operand too many", o->operand[1]);
    return EXIT_OK;
}

static enum exit_code find_load(struct ablation *w)
{
    enum exit_code code = pattern_read(&w->asked, w->cli);

    if (code || w->asked.rates.n == 1)
        return code;
    return say(w->cli->program, EXIT_USAGE, "why load takes one rate, --rate has %zu",
               w->asked.rates.n);
}

/* A bench by its name, the word load, or a file. */
static enum exit_code find_scenario(struct ablation *w)
{
    const char *name = w->cli->opts.operand[0];
    bool is_path = strpbrk(name, "/.") || access(name, F_OK) == 0;

    if (strcmp(name, "load") == 0) {
        w->scenario = SCENARIO_LOAD;
        return find_load(w);
    }
    w->scenario = is_path ? SCENARIO_FILE : SCENARIO_BENCH;
    if (strcmp(name, "-") == 0)
        return say(w->cli->program, EXIT_USAGE,
                   "why reads its file several times, standard input can be read once");
    if (is_path)
        return EXIT_OK;
    w->bench = bench_find(w->cli, name);
    return w->bench ? EXIT_OK : EXIT_USAGE;
}

enum exit_code cmd_why(const struct cli *cli)
{
    struct ablation *w = memory_new(1, sizeof *w);
    w->cli = cli;
    enum exit_code code = find_scenario(w);

    if (!code)
        code = check_operands(w);
    if (!code)
        code = cmd_output(cli, why_into, w);
    if (stop_leaves())
        return code;
    for (size_t i = 0; i < N_LIMITS; i++)
        kb_bench_free(w->running[i].stuck);
    free_words(w);
    pattern_free(&w->asked);
    free(w);
    return code;
}
