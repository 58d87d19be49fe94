/*
 * cmd_run.c -- `run`: the kernels of a bench, a row of times and counts for every launch.
 *
 * The order of the work, each step only if it is asked for:
 *
 *   1. open what is written: the output, the trace, the file of --stats, so that a path that cannot
 *      be written is reported before hours of simulation;
 *   2. Phase 1: kb_sim_run() in pieces of some ms, between them progress and stop_asked();
 *   3. write the op log (--oplog), which a deadlock has, too;
 *   4. --inspect: look up the operations;
 *   5. Phase 2 (--phase2, --verify, --dump, --inspect): compute the values, compare, write tensors;
 *   6. print rows of launches, or what replaces them: breakdown, data races, an inspection, the
 *      commands in a deadlock;
 *   7. notes, warnings, fingerprint on stderr; then the files of --stats and --trace are completed.
 *
 * A verification that fails (exit 1) still prints all rows: times do not depend on values. After
 * Ctrl-C or --until the launches that are complete are printed, without Phase 2. What Phase 2 does
 * may take minutes without a look at stop_asked(), as a reference is one call: it is done by a
 * thread of its own, which is left behind then.
 *
 * Example, `run softmax` on cube8: start 27.83625 ns (the launch), kernel 213.17, total 248.8425
 * (with the response); 192 commands, which are a load, a softmax and a store of each of 64 PEs;
 * 131072 bytes read and as many written.
 *
 * Exit codes: 0; 1 a verification failed, or there are data races; 4 a deadlock, whose rows are
 * printed in place of launches; 7 a mistake of the kernel. docs/exit-codes.md has all of them.
 */
#include "cli/benches.h"
#include "cli/gate.h"
#include "cli/out/memory.h"
#include "cli/rows/binding.h"
#include "cli/rows/deadlock_rows.h"
#include "cli/rows/breakdown_rows.h"
#include <unistd.h>
#include <errno.h>
#include "cli/rows/inspection_rows.h"
#include "cli/rows/launch_rows.h"
#include "cli/out/progress.h"
#include "cli/rows/race_rows.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/speed.h"
#include "cli/rows/utilization_rows.h"
#include "cli/out/stop.h"
#include "base/digest.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/trace/trace.h"
#include "cli/rows/warn.h"
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

enum {
    EVENTS_FIRST = 1000,
    EVENTS_MOST = 50000,
}; /* at once: some ms, for so long Ctrl-C may wait */

/* An input that is read from a file, as results tell it. */
struct file_arg {
    char name[64], value[DIGEST_CHARS + 8];
};

/* One run, and what is known about its results. */
struct run {
    const struct cli *cli;
    struct launch_rows rows; /* its `run` is owned */
    kb_sim *sim;             /* of `run` */
    kb_breakdown *breakdown; /* owned; NULL: not wanted */
    struct origin_arg *args; /* owned */
    struct file_arg *files;  /* owned; by operand: names and values in `args` */
    size_t n_args;
    kb_inspection *inspected[INSPECT_MAX]; /* owned; as many as were asked for, or NULL */
    bool again; /* a kernel wants values: the run is to begin again with them */
    struct speed speed;
    char warning[WARNING_BYTES]; /* about all rows; "": none */
};

/* -- Phase 1 -------------------------------------------------------------------------------- */

/* A kernel in Python takes a hundred times as long for an event: the next number of them, after `s`
 * seconds for these. */
static uint64_t paced(uint64_t events, double s)
{
    if (s > 0.05)
        return events / 2 + 1;
    return s < 0.01 && 2 * events <= EVENTS_MOST ? 2 * events : events;
}

/* Runs to the end, --until, or stop_asked(). KB_AGAIN: the last of these. */
static kb_status launch_all(struct run *run, kb_error *why)
{
    struct progress progress;
    kb_status status = KB_AGAIN;
    uint64_t events = EVENTS_FIRST;

    progress_begin(&progress, run->cli->opts.quiet);
    speed_begin(&run->speed);
    while (status == KB_AGAIN && !stop_asked()) {
        double begin_s = progress_now_s();

        status = kb_sim_run(run->sim, events, why);
        events = paced(events, progress_now_s() - begin_s);
        progress_show(&progress, kb_launch_done(run->sim), kb_launch_count(run->sim), "launches");
    }
    speed_end(&run->speed);
    progress_end(&progress);
    stop_heard();
    return status;
}

/* -- Phase 2 -------------------------------------------------------------------------------- */

/* Rows are printed in any case; their column `verify` says "fail". */
static enum exit_code differ(struct run *run, const kb_error *why)
{
    run->rows.verify = "fail";
    return cmd_say(run->cli, EXIT_DIFFERENT, "verification failed: %s", why->text);
}

/* What a thread computes: Phase 2, or the comparison with the reference. A thread that is left
 * behind keeps it, so nothing in it is of the run's own. */
struct computation {
    kb_bench_run *run;
    kb_compute_options options;
    struct progress progress;
    double max_abs_err;
    kb_status status;
    kb_error why;
};

static void compute(void *arg, unsigned thread, uint64_t i)
{
    struct computation *c = arg;

    (void)thread, (void)i;
    c->status = kb_compute(kb_bench_sim(c->run), &c->options, &c->why);
}

static void compare(void *arg, unsigned thread, uint64_t i)
{
    struct computation *c = arg;

    (void)thread, (void)i;
    kb_catch_crashes();
    c->status = kb_bench_verify(c->run, &c->max_abs_err, &c->why);
}

static bool accept_block(void *arg, uint64_t i)
{
    (void)arg, (void)i;
    return true;
}

/* A reference does not say how far it is. */
static void show_comparison(void *arg)
{
    progress_show_time(&((struct computation *)arg)->progress, "verifying");
}

/* False after Ctrl-C: what was computed is not complete, and `c` may belong to the thread. */
static bool on_thread(struct computation *c, void (*work)(void *, unsigned, uint64_t),
                      void (*wait)(void *))
{
    struct parallel all = {.n = 1,
                           .threads = 1,
                           .window = 1,
                           .work = work,
                           .give = accept_block,
                           .wait = wait,
                           .stop = stop_asked,
                           .arg = c};
    enum parallel_end end = parallel_run(&all);

    if (end == PARALLEL_LEFT)
        stop_leave();
    if (end == PARALLEL_NO_THREAD)
        work(c, 0, 0);
    return !stop_heard();
}

static enum exit_code verify(struct run *run, struct computation *c)
{
    progress_begin(&c->progress, run->cli->opts.quiet);
    bool whole = on_thread(c, compare, show_comparison);
    progress_end(&c->progress);
    if (!whole)
        return EXIT_INTERRUPTED;
    if (c->status == KB_OK || c->status == KB_DIFFERENT) {
        run->rows.compared = !isnan(c->max_abs_err);
        run->rows.max_abs_err = c->max_abs_err;
    }
    if (c->status == KB_DIFFERENT)
        return differ(run, &c->why);
    if (c->status)
        return cmd_fail(run->cli, c->status, &c->why);
    if (run->rows.compared)
        run->rows.verify = "pass";
    else
        gate_count(run->cli->gates, GATE_UNDECIDED,
                   "--verify cannot be decided: bench %s has no output to verify",
                   run->rows.bench->name);
    return EXIT_OK;
}

static bool is_asked_to_stop(void *arg)
{
    (void)arg;
    return stop_asked();
}

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
    progress_show(arg, done, total, "operations computed");
}

/* The first operation that is wrong ends Phase 2: nothing is computed from its result. */
static enum exit_code compute_and_verify(struct run *run, struct computation *c)
{
    progress_begin(&c->progress, run->cli->opts.quiet);
    bool whole = on_thread(c, compute, NULL);
    progress_end(&c->progress);
    if (!whole)
        return EXIT_INTERRUPTED;
    if (c->status == KB_DIFFERENT)
        return differ(run, &c->why);
    if (c->status)
        return cmd_fail(run->cli, c->status, &c->why);
    return run->cli->opts.verify ? verify(run, c) : EXIT_OK;
}

static enum exit_code phase2(struct run *run)
{
    const struct opts *o = &run->cli->opts;
    struct computation *c = memory_new(1, sizeof *c);
    kb_error why = {""};

    c->run = run->rows.run;
    c->options = (kb_compute_options){.threads = o->jobs,
                                      .verify_ops = o->verify == VERIFY_OPS,
                                      .stop = is_asked_to_stop,
                                      .progress = show_progress,
                                      .progress_arg = &c->progress};
    enum exit_code code = compute_and_verify(run, c);
    if (!stop_leaves())
        free(c);
    if (o->dump && code <= EXIT_DIFFERENT) {
        kb_status status = kb_bench_dump(run->rows.run, o->dump, &why);
        if (status)
            return cmd_fail(run->cli, status, &why);
    }
    return code;
}

/* Is there something that needs Phase 2? */
static bool computes(const struct opts *o)
{
    return o->phase2 || o->verify || o->dump || o->inspect.n > 0;
}

static enum exit_code write_log(const struct run *run)
{
    const struct opts *o = &run->cli->opts;
    kb_error why = {""};
    kb_status status =
        o->oplog ? kb_oplog_write(run->sim, o->oplog, o->command_line, o->seed, &why) : KB_OK;

    return status ? cmd_fail(run->cli, status, &why) : EXIT_OK;
}

/* --inspect and Phase 2, once all launches have run. */
static enum exit_code results(struct run *run)
{
    const struct opts *o = &run->cli->opts;
    kb_error why = {""};
    kb_status status = KB_OK;

    for (size_t i = 0; i < o->inspect.n && !status; i++)
        status = kb_inspect(run->sim, o->inspect.op[i], &run->inspected[i], &why);
    if (status)
        return cmd_fail(run->cli, status, &why);
    return computes(o) ? phase2(run) : EXIT_OK;
}

/* -- what is printed ------------------------------------------------------------------------ */

static bool is_argument(const kb_bench *bench, const char *name, size_t len)
{
    for (size_t i = 0; i < bench->n_args; i++)
        if (strlen(bench->args[i].name) == len && strncmp(bench->args[i].name, name, len) == 0)
            return true;
    return false;
}

/* "x=@file.npy" is told by what the file has, as "sha256:" and its digits. */
static void resolve_files(struct run *run)
{
    const struct opts *o = &run->cli->opts;

    run->files = memory_new(o->n_operands, sizeof *run->files);
    for (size_t i = 1; i < o->n_operands; i++) {
        const char *word = o->operand[i];
        size_t len = strcspn(word, "=");
        struct file_arg *file = &run->files[i];

        if (word[len] == '\0' || word[len + 1] != '@' || is_argument(run->rows.bench, word, len))
            continue;
        digest_of_file(word + len + 2, stpcpy(file->value, "sha256:"));
        snprintf(file->name, sizeof file->name, "%.*s", (int)len, word);
        run->args[run->n_args++] = (struct origin_arg){.name = file->name, .value = file->value};
    }
}

/* All arguments, for formats that tell them. */
static void resolve_args(struct run *run)
{
    size_t n = run->n_args = run->rows.bench->n_args;

    run->args = memory_new(n + run->cli->opts.n_operands, sizeof *run->args);
    for (size_t i = 0; i < n; i++) {
        const kb_bench_arg *arg = &run->rows.bench->args[i];

        run->args[i] =
            (struct origin_arg){.name = arg->name,
                                .value = kb_bench_value(run->rows.run, i),
                                .is_number = arg->type == KB_ARG_INT || arg->type == KB_ARG_REAL};
    }
    resolve_files(run);
}

static void print_rows(struct run *run, struct sink *s)
{
    if (run->cli->opts.inspect.n > 0) {
        inspection_rows_print(run->cli, run->inspected, run->args, run->n_args, s);
        return;
    }
    struct rows rows = launch_rows(&run->rows);

    rows.warning = run->warning;
    cmd_show(run->cli, run->sim, "");
    cmd_write_with(run->cli, &rows, run->args, run->n_args, s);
    sink_flush(s);
}

/* Are the rows those of launches? Others have no place for a warning. */
static bool prints_launches(const struct cli *cli)
{
    return !cli->opts.breakdown && !cli->opts.race && cli->opts.inspect.n == 0;
}

/* Launches, data races, or the breakdown; a report has launches and breakdown. */
static enum exit_code print_results(struct run *run, struct sink *s)
{
    enum exit_code code = EXIT_OK;

    if (run->cli->opts.breakdown)
        code = breakdown_rows_print(run->cli, run->breakdown, s);
    else if (run->cli->opts.race)
        code = race_rows_print(run->cli, run->sim, s);
    else
        print_rows(run, s);
    if (cmd_explains(run->cli))
        code = breakdown_report(run->cli, run->breakdown);
    sink_flush(s);
    return code;
}

/* Commands of all launches that have run. */
static uint64_t commands(const struct run *run)
{
    kb_launch_result r;
    uint64_t n = 0;

    for (size_t i = 0; i < kb_launch_count(run->sim); i++)
        if (kb_launch_get(run->sim, i, &r) == KB_OK)
            n += r.ops;
    return n;
}

/* Notes and warnings on stderr after the rows; with --fingerprint nothing but the fingerprint.
 * False if that could not be written. */
static bool say_end(const struct run *run, kb_status status)
{
    const struct opts *o = &run->cli->opts;
    unsigned long long done = kb_launch_done(run->sim), total = kb_launch_count(run->sim);
    const char *results = o->verify || o->dump || o->oplog || o->inspect.n ? ", no results" : "";
    bool talk = !o->quiet && !o->fingerprint;
    char until[TEXT_NUMBER_BYTES];

    *text_put_ns(until, o->until_fs) = '\0';
    if (status == KB_AGAIN)
        cmd_note(run->cli, "%s: %llu of %llu launches complete%s", stop_word(), done, total,
                 results);
    else if (status == KB_STOPPED && talk)
        cmd_note(run->cli, "stopped at %s ns: %llu of %llu launches complete%s", until, done, total,
                 results);
    if (status == KB_OK && talk && *kb_bench_notes(run->rows.run))
        cmd_note(run->cli, "%s", kb_bench_notes(run->rows.run));
    if (talk && *run->warning && (!prints_launches(run->cli) || !cmd_shows_warning(run->cli)))
        cmd_note(run->cli, "%s", run->warning);
    if (status == KB_OK && talk)
        warn_of_kernels(run->cli, run->sim, run->rows.bench->name);
    if (status == KB_OK && talk)
        binding_notes(run->cli, run->rows.bench, run->rows.run);
    if (status == KB_OK)
        speed_say(&run->speed, !talk, commands(run), "operations", (double)kb_sim_end_fs(run->sim));
    return !o->fingerprint || say_fingerprint(kb_sim_fingerprint(run->sim));
}

/* -- the run -------------------------------------------------------------------------------- */

/* Runs and writes to `s`. */
static enum exit_code run_into(void *arg, struct sink *s)
{
    struct run *run = arg;
    kb_error why = {""};
    kb_status status = launch_all(run, &why);
    enum exit_code code = EXIT_OK, printed;

    if (status == KB_OK || status == KB_DEADLOCK)
        code = write_log(run);
    if (code)
        return code;
    if (status == KB_DEADLOCK)
        return deadlock_rows_print(run->cli, run->sim, &why, s);
    if (status == KB_KERNEL_ERROR && kb_sim_wants_values(run->sim)) {
        run->again = true;
        return EXIT_KERNEL;
    }
    if (status != KB_OK && status != KB_STOPPED && status != KB_AGAIN)
        return cmd_fail(run->cli, status, &why);
    if (status == KB_OK)
        code = results(run);
    if (code > EXIT_DIFFERENT && code != EXIT_INTERRUPTED)
        return code;
    if (code == EXIT_INTERRUPTED)
        status = KB_AGAIN;
    if (status == KB_OK)
        warn_of_ideal_links(run->cli, run->sim, run->warning);
    printed = print_results(run, s);
    if (printed)
        return printed;
    code = race_rows_say(run->cli, run->sim, code);
    if (status == KB_STOPPED)
        gate_cut(run->cli, "launches", kb_launch_done(run->sim), kb_launch_count(run->sim));
    if (!say_end(run, status))
        return EXIT_SYSTEM;
    return status == KB_AGAIN ? EXIT_INTERRUPTED : code;
}

/* The log is written last; that its folder is missing is reported first. */
static enum exit_code check_oplog(const struct cli *cli)
{
    const char *path = cli->opts.oplog, *slash = path ? strrchr(path, '/') : NULL;
    char folder[4096] = ".";

    if (!path)
        return EXIT_OK;
    if (slash && (size_t)(slash - path) < sizeof folder - 1)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    if (access(folder, F_OK) == 0)
        return EXIT_OK;
    return say(cli->program, EXIT_SYSTEM, "%s: %s", path, strerror(errno));
}

/* Can be told before anything has run. */
static enum exit_code check_reference(const struct run *run)
{
    if (!run->cli->opts.verify || run->rows.bench->reference)
        return EXIT_OK;
    return say(run->cli->program, EXIT_USAGE, "bench %s has no reference to verify with",
               run->rows.bench->name);
}

static kb_options options_of(const struct cli *cli, bool values)
{
    const struct opts *o = &cli->opts;

    return (kb_options){.engine = o->engine,
                        .buffers = cmd_counts_buffers(cli),
                        .fingerprint = o->fingerprint,
                        .until_fs = o->until_fs,
                        .max_events = o->max_events,
                        .oplog = o->oplog != NULL,
                        .phase2 = computes(o),
                        .inspect = o->inspect.n > 0 || o->verify == VERIFY_OPS,
                        .oplog_limit_bytes = o->oplog_limit,
                        .values = values,
                        .verify_values = o->verify == VERIFY_OPS,
                        .value_threads = o->jobs};
}

static enum exit_code run_traced(struct run *run)
{
    struct trace *trace;
    kb_error why = {""};
    enum exit_code code = trace_open(&trace, run->cli);

    if (code)
        return code;
    kb_status status = trace_observe(trace, run->sim, &why);
    code = status ? cmd_fail(run->cli, status, &why) : cmd_output(run->cli, run_into, run);
    return trace_close(trace, code);
}

/* *again: nothing was printed or written, as a kernel wants values that the run does not have. */
static enum exit_code run_once(const struct cli *cli, bool values, bool *again)
{
    const struct opts *o = &cli->opts;
    enum exit_code code;
    struct run run = {.cli = cli,
                      .rows = {.bench = bench_find(cli, o->operand[0], &code), .verify = "off"}};
    kb_options options = options_of(cli, values);
    struct utilization_rows stats = {0};
    kb_error why = {""};

    if (code)
        return code;
    code = check_reference(&run);
    if (code)
        return code;
    kb_status status = kb_bench_new(run.rows.bench, cli->topo, &options, o->seed, o->operand + 1,
                                    o->n_operands - 1, &run.rows.run, &why);
    if (status)
        return cmd_fail(cli, status, &why);
    run.sim = kb_bench_sim(run.rows.run);
    resolve_args(&run);
    code = check_oplog(cli);
    if (!code)
        code = stats_file_check(cli);
    if (!code)
        code = breakdown_begin(cli, run.sim, &run.breakdown);
    if (!code)
        code = race_rows_begin(cli, run.sim);
    if (!code) {
        code = run_traced(&run);
        utilization_rows_take(&stats, cli, run.sim);
        code = stats_file_write(&stats, cli, run.args, run.n_args, code);
    }
    if (stop_leaves())
        return code;
    *again = run.again;
    utilization_rows_free(&stats);
    kb_breakdown_free(run.breakdown);
    for (size_t i = 0; i < o->inspect.n; i++)
        kb_inspection_free(run.inspected[i]);
    free(run.args);
    free(run.files);
    if (session_here() && session_here()->keeps_run && o->vary.n == 0 && !run.again)
        session_here()->run = run.rows.run;
    else
        kb_bench_free(run.rows.run);
    return code;
}

enum exit_code cmd_run(const struct cli *cli)
{
    bool again = false;
    enum exit_code code = run_once(cli, cli->opts.values, &again);

    if (!again)
        return code;
    if (!cli->opts.quiet)
        cmd_note(cli, "a kernel branches on values: the run begins again with --values on");
    return run_once(cli, true, &again);
}
