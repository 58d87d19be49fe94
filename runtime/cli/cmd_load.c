/*
 * cmd_load.c -- `load`: traffic of all PEs, a row of throughput and latency for each rate.
 *
 * For each rate there are --seeds simulations with seeds s, s + 1, ..., each with --txns
 * transactions at random times. Simulation i (of rate i / seeds) is an item of a plan: any
 * thread runs it, the main thread takes them in order, and when the last one of a rate is in, makes
 * that rate's point of all of them and frees them. So the result does not depend on the number of
 * threads, and at most `window` simulations are in memory.
 *
 * What a point holds: the result over all seeds (kb_sim_traffic_result()), the busiest links and
 * memories of the first seed, and the slices that saw no transaction in any of them. Rows, the
 * saturation and the lines below the table are made of points by rows/load_rows.c.
 *
 * Example, `load --pattern uniform --rate 0.1,0.3,0.4 --txns 2000` on cube8:
 *
 *     rate   offered_gbs   accepted_gbs         mean_ns   p99_ns
 *     0.1    1620.65       1606.18  (99.1 %)     49.60     120.99
 *     0.3    4877.26       4295.02  (88.1 %)    264.79     811.52
 *     0.4    6499.12       4517.10  (69.5 %)    489.50    1153.83
 *
 * The last two are saturated: more load is not accepted any more, it only waits, and with more
 * transactions their latencies would grow further. 0.1 is not.
 *
 * The order of the work, in load_into(): options and the traffic are read; make_room() takes jobs
 * and points; run() gives the jobs to threads (do_job()), which come back in order (give_job());
 * the last job of a rate becomes a point (end_point()); then rows, notes and warnings.
 */
#include "cli/out/memory.h"
#include "cli/vary/explained.h"
#include "cli/rows/load_rows.h"
#include "cli/out/speed.h"
#include "cli/out/say.h"
#include "cli/rows/utilization_rows.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include "base/text.h"
#include "cli/trace/trace.h"
#include "cli/in/transactions.h"
#include "cli/rows/warn.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_AT_ONCE = 50000, /* a few ms: how long Ctrl-C may wait */
    AHEAD_PER_THREAD = 2,
};

/* One simulation, in work or done. */
struct job {
    kb_sim *sim; /* owned */
    _Atomic uint64_t n_done;
    bool ended; /* it has run to its end */
    struct run_explained explained;
    struct utilization_rows used; /* of a simulation that the journal has */
    kb_status status;
    kb_error why;
};

struct load {
    const struct cli *cli;
    struct load_points all;
    uint64_t seeds;                /* simulations of each rate */
    uint64_t first;                /* the number of the plan's simulation 0 */
    kb_sim **sims;                 /* owned, as they are; of the rate that is due */
    struct utilization_rows *used; /* owned; of those that the journal has */
    struct job *jobs;              /* owned; simulation i, of rate i / seeds, at i % window */
    unsigned threads, window;
    struct trace *trace;           /* NULL: none; of the first simulation */
    size_t shown;                  /* the rate that a report shows, */
    uint64_t saturated;            /* and the least that is saturated so far */
    uint64_t n_done;               /* simulations that were given */
    struct explained explained;    /* by rate, of its first simulation, */
    struct run_explained of_first; /* which is this one's that is due */
    struct warn_aim aim;
    struct speed speed;
    uint64_t transactions; /* that have run */
    double simulated_fs;
    kb_status status;
    kb_error why;
};

/* -- what was asked ------------------------------------------------------------------------- */

/* A timeline is of one simulation. */
static enum exit_code check_one(const struct load *load)
{
    if (load->all.asked.rates.n == 1 || !load->cli->opts.trace)
        return EXIT_OK;
    return say(load->cli->program, EXIT_USAGE,
               "--trace is of one simulation: it needs a --rate that is one number");
}

static const struct column rate_column[] = {COLUMN_BY_HAND("rate", CELL_DECIMAL)};

static void name_rate(void *arg, uint64_t i, struct cell *cells)
{
    const struct load *load = arg;

    cells[0] = cell_decimal(list_rate(load->all.asked.rates.value[i]));
}

static enum exit_code read_options(struct load *load)
{
    enum exit_code code = pattern_read(&load->all.asked, load->cli);

    load->seeds = load->cli->opts.breakdown ? 1 : load->cli->opts.seeds;
    explained_begin(&load->explained, load->cli, rate_column, load->all.asked.rates.n > 1,
                    name_rate, load);
    return code ? code : check_one(load);
}

/* -- simulations ---------------------------------------------------------------------------- */

static void begin_job(const struct load *load, struct job *job, uint64_t i)
{
    kb_options options = {.engine = load->cli->opts.engine,
                          .buffers = cmd_counts_buffers(load->cli)};
    kb_traffic traffic = load->all.asked.traffic;

    i += load->first;
    traffic.rate = list_rate(load->all.asked.rates.value[i / load->seeds]);
    traffic.seed = load->cli->opts.seed + i % load->seeds;
    job->why = (kb_error){""};
    job->ended = false;
    job->status = kb_sim_new(load->cli->topo, &options, &job->sim);
    if (!job->status)
        job->status = kb_sim_traffic(job->sim, &traffic, &job->why);
}

/* Is it the simulation of its rate that is explained? */
static bool is_first(const struct load *load, uint64_t i)
{
    return (load->first + i) % load->seeds == 0;
}

static void do_job(void *arg, unsigned thread, uint64_t i)
{
    struct load *load = arg;
    struct job *job = &load->jobs[i % load->window];

    (void)thread;
    begin_job(load, job, i);
    if (!job->status)
        job->status = explained_watch(&load->explained, job->sim, &job->explained, &job->why);
    if (!job->status && i == 0)
        job->status = trace_observe(load->trace, job->sim, &job->why);
    while (!job->status && !job->ended && !stop_asked()) {
        job->status = kb_sim_run(job->sim, EVENTS_AT_ONCE, &job->why);
        job->ended = job->status == KB_OK;
        if (job->status == KB_AGAIN)
            job->status = KB_OK;
        atomic_store_explicit(&job->n_done, kb_sim_done(job->sim), memory_order_relaxed);
    }
    if (!job->status && is_first(load, i) &&
        explained_take(&load->explained, job->sim, &job->explained))
        job->status = KB_NO_MEMORY;
}

/* -- in a journal ---------------------------------------------------------------------- */

static void put(void *to, const void *bytes, size_t n)
{
    packed_put(to, bytes, n);
}

static void take(void *from, void *bytes, size_t n)
{
    packed_take(from, bytes, n);
}

/* What a simulation has measured, and the load of all that was used. */
static void pack_job(void *arg, uint64_t i, struct packed *to)
{
    struct load *load = arg;
    struct job *job = &load->jobs[i % load->window];
    struct utilization_rows used = {0};

    PACKED_PUT(to, job->status);
    PACKED_PUT(to, job->why);
    PACKED_PUT(to, job->ended);
    if (job->ended) {
        explained_pack(&job->explained, to);
        kb_sim_traffic_save(job->sim, put, to);
        utilization_rows_keep(&used, job->sim);
        PACKED_PUT(to, used.n);
        packed_put(to, used.use, used.n * sizeof *used.use);
        utilization_rows_free(&used);
    }
}

static void unpack_job(void *arg, uint64_t i, struct packed *from)
{
    struct load *load = arg;
    struct job *job = &load->jobs[i % load->window];

    begin_job(load, job, i);
    PACKED_TAKE(from, job->status);
    PACKED_TAKE(from, job->why);
    PACKED_TAKE(from, job->ended);
    if (!job->ended)
        return;
    explained_unpack(&load->explained, &job->explained, from);
    if (kb_sim_traffic_restore(job->sim, take, from) != KB_OK)
        memory_lacks();
    PACKED_TAKE(from, job->used.n);
    job->used.use = memory_new(job->used.n, sizeof *job->used.use);
    packed_take(from, job->used.use, job->used.n * sizeof *job->used.use);
}

/* Should the report show rate `i` instead of an earlier one? It shows the highest unsaturated rate.
 */
static bool is_better(const struct load *load, size_t i)
{
    const uint64_t *rate = load->all.asked.rates.value;

    if (i == 0)
        return true;
    if (load_is_saturated(&load->all.point[i]) || rate[i] > load->saturated)
        return false;
    return load_is_saturated(&load->all.point[load->shown]) || rate[i] > rate[load->shown];
}

/* A report has the machine as it was at the highest rate below saturation, as far as that is known
 * yet, else at the first one. */
static void show_point(struct load *load, size_t i)
{
    uint64_t rate = load->all.asked.rates.value[i];
    char when[64 + TEXT_NUMBER_BYTES];

    if (load_is_saturated(&load->all.point[i]) && rate < load->saturated)
        load->saturated = rate;
    if (!is_better(load, i))
        return;
    load->shown = i;
    *load_put_rate(text_put_text(when, " at rate "), rate) = '\0';
    cmd_show(load->cli, load->sims[0], when);
}

/* Calls `each` for every component of simulation `k` of the rate, whether it has run here or not.
 */
static kb_status each_use(const struct load *load, size_t k,
                          void (*each)(void *arg, const kb_utilization *use), void *arg)
{
    const struct utilization_rows *used = &load->used[k];

    if (used->n == 0)
        return kb_sim_utilization(load->sims[k], each, arg);
    for (size_t i = 0; i < used->n; i++)
        each(arg, &used->use[i]);
    return KB_OK;
}

/* All simulations of a rate have ended. */
static kb_status end_point(struct load *load)
{
    struct point *point = &load->all.point[load->all.n];
    kb_status status = kb_sim_traffic_result(load->sims, load->seeds, &point->result);

    if (!status)
        status = each_use(load, 0, load_rank, point);
    warn_aim_clear(&load->aim);
    for (size_t i = 0; !status && i < load->seeds; i++)
        status = each_use(load, i, warn_aim_add, &load->aim);
    if (status)
        return status;
    if (load->used[0].n > 0)
        explained_take_use(&load->explained, &load->used[0], &load->of_first);
    explained_give(&load->explained, load->all.n, &load->of_first);
    point->missed = warn_aim_missed(&load->aim);
    load->all.n++;
    show_point(load, load->all.n - 1);
    return KB_OK;
}

static void free_sims(struct load *load)
{
    for (size_t i = 0; load->sims && i < load->seeds; i++) {
        kb_sim_free(load->sims[i]);
        load->sims[i] = NULL;
        utilization_rows_free(&load->used[i]);
    }
}

/*
 * Simulation `i` is done, and all before it have been given. Called by the main thread alone, so
 * points, statistics and the breakdown need no lock. If it is the last of its rate, end_point()
 * sums the rate up and frees its simulations.
 */
static bool give_job(void *arg, uint64_t i)
{
    struct load *load = arg;
    struct job *job = &load->jobs[i % load->window];
    size_t seeds = load->seeds;

    load->status = job->status;
    load->why = job->why;
    if (job->status || !job->ended)
        return false;
    if (is_first(load, i)) {
        load->of_first = job->explained;
        job->explained = (struct run_explained){0};
    }
    load->sims[i % seeds] = job->sim;
    load->used[i % seeds] = job->used;
    job->sim = NULL;
    job->used = (struct utilization_rows){0};
    atomic_store_explicit(&job->n_done, 0, memory_order_relaxed);
    load->n_done++;
    load->transactions += kb_sim_done(load->sims[i % seeds]);
    load->simulated_fs += (double)kb_sim_end_fs(load->sims[i % seeds]);
    if (i % seeds == seeds - 1) {
        load->status = end_point(load);
        free_sims(load);
    }
    return load->status == KB_OK;
}

/* In a part of --shard, which has simulations and no rates: the journal has it. */
static bool leave_job(void *arg, uint64_t i)
{
    struct load *load = arg;
    struct job *job = &load->jobs[i % load->window];

    load->status = job->status;
    load->why = job->why;
    kb_sim_free(job->sim);
    job->sim = NULL;
    utilization_rows_free(&job->used);
    atomic_store_explicit(&job->n_done, 0, memory_order_relaxed);
    load->n_done += job->ended;
    return job->ended;
}

static uint64_t n_transactions(void *arg)
{
    struct load *load = arg;
    uint64_t done = load->all.asked.traffic.txns * load->n_done;

    /* what a simulation issues beyond --txns is not counted: it would be taken back at its end */
    for (unsigned i = 0; i < load->window; i++) {
        uint64_t n = atomic_load_explicit(&load->jobs[i].n_done, memory_order_relaxed);

        done += n < load->all.asked.traffic.txns ? n : load->all.asked.traffic.txns;
    }
    return done;
}

/* Has it run to its end? */
static bool is_final(void *arg, uint64_t i)
{
    const struct load *load = arg;

    return load->jobs[i % load->window].ended;
}

/* -- the load ------------------------------------------------------------------------------- */

static void make_room(struct load *load)
{
    load->threads = plan_threads(load->cli);
    load->window = load->threads * AHEAD_PER_THREAD;
    load->all.point = memory_new(load->all.asked.rates.n, sizeof *load->all.point);
    load->sims = memory_new(load->seeds, sizeof(kb_sim *));
    load->used = memory_new(load->seeds, sizeof *load->used);
    load->jobs = memory_new(load->window, sizeof *load->jobs);
    warn_aim_new(&load->aim, load->cli, &load->all.asked.traffic);
}

static void free_room(struct load *load)
{
    free_sims(load);
    for (unsigned i = 0; load->jobs && i < load->window; i++) {
        kb_sim_free(load->jobs[i].sim);
        explained_drop(&load->jobs[i].explained);
    }
    explained_drop(&load->of_first);
    explained_free(&load->explained);
    free(load->all.point);
    free(load->sims);
    free(load->used);
    free(load->jobs);
    pattern_free(&load->all.asked);
    warn_aim_free(&load->aim);
}

static enum exit_code run(struct load *load)
{
    uint64_t all = load->all.asked.rates.n * load->seeds;
    struct plan sims = {.cli = load->cli,
                        .things = "transactions",
                        .n = plan_count(load->cli, all),
                        .threads = load->threads,
                        .window = load->window,
                        .first = load->first,
                        .work = do_job,
                        .give = load->cli->opts.shard.n ? leave_job : give_job,
                        .is_final = is_final,
                        .pack = pack_job,
                        .unpack = unpack_job,
                        .part_is_journal = true,
                        .total = plan_count(load->cli, all) * load->all.asked.traffic.txns,
                        .done = n_transactions,
                        .arg = load};

    speed_begin(&load->speed);
    enum exit_code code = plan_run(&sims);
    speed_end(&load->speed);
    if (code)
        return code;
    return load->status ? cmd_fail(load->cli, load->status, &load->why) : EXIT_OK;
}

/* Warns of rates whose numbers may mislead. */
static void say_doubts(const struct load *load)
{
    char rate[TEXT_NUMBER_BYTES];

    for (size_t i = 0; i < load->all.n && !load->cli->opts.quiet; i++) {
        *load_put_rate(rate, load->all.asked.rates.value[i]) = '\0';
        if (!load->all.point[i].result.steady)
            cmd_note(load->cli,
                     "rate %s: no steady state found: latencies still grow, or --txns is too "
                     "small to tell",
                     rate);
        warn_of_missed(load->cli, rate, &load->all.point[i].missed);
    }
}

static bool prints_note(const struct cli *cli)
{
    return cli->report || cli->opts.format == FORMAT_TABLE || cli->opts.format == FORMAT_MD;
}

/* If a rate is interrupted, its first simulation counts as far as it has come. */
static void take_unfinished(struct load *load)
{
    struct job *job = &load->jobs[load->n_done % load->window];

    if (!stop_leaves())
        explained_give(&load->explained, load->all.n,
                       load->sims[0] ? &load->of_first : &job->explained);
}

static enum exit_code load_into(void *arg, struct sink *out)
{
    struct load *load = arg;
    char note[2 * LOAD_NOTE_BYTES], warning[LOAD_NOTE_BYTES] = "";
    struct rows rows;
    enum exit_code code;

    make_room(load);
    code = run(load);
    if (code)
        return code;
    rows = load_rows(&load->all);
    rows.warning = warning;
    if (load->all.n > 0) {
        load_note(&load->all, prints_note(load->cli), note);
        load_warning(&load->all, warning);
        if (*warning && (load->cli->opts.breakdown || !cmd_shows_warning(load->cli)))
            *text_put_text(text_put_text(note + strlen(note), "\n"), warning) = '\0';
        rows.note = note;
    }
    if (load->all.n < load->all.asked.rates.n)
        take_unfinished(load);
    if (load->cli->opts.breakdown)
        code = explained_print(&load->explained, out);
    else
        cmd_write(load->cli, &rows, out);
    if (code)
        return code;
    sink_flush(out);
    say_doubts(load);
    if (rows.note && (load->cli->opts.breakdown || !prints_note(load->cli)) &&
        !load->cli->opts.quiet)
        say_lines("%s", note);
    if (load->all.n == load->all.asked.rates.n) {
        speed_say(&load->speed, load->cli->opts.quiet, load->transactions, "transactions",
                  load->simulated_fs);
        return EXIT_OK;
    }
    cmd_note(load->cli, "%s: %zu of %zu rates complete", stop_word(), load->all.n,
             load->all.asked.rates.n);
    return EXIT_INTERRUPTED;
}

/* Only its journal is written. */
static enum exit_code run_part(struct load *load)
{
    make_room(load);
    stop_defer(true);
    enum exit_code code = run(load);
    stop_defer(false);
    if (code || load->n_done == plan_count(load->cli, load->all.asked.rates.n * load->seeds))
        return code;
    cmd_note(load->cli, "%s: the same command goes on from here", stop_word());
    return EXIT_INTERRUPTED;
}

enum exit_code cmd_load(const struct cli *cli)
{
    struct load *load = memory_new(1, sizeof *load);
    load->cli = load->all.cli = cli;
    load->saturated = UINT64_MAX;
    enum exit_code code = read_options(load);

    if (!code)
        code = stats_file_check(cli);
    if (!code)
        code = trace_open(&load->trace, cli);
    if (!code) {
        load->first = plan_first(cli, load->all.asked.rates.n * load->seeds);
        code = cli->opts.shard.n ? run_part(load) : cmd_output(cli, load_into, load);
        code = trace_close(load->trace, code);
        code = explained_write(&load->explained, code);
    }
    if (stop_leaves())
        return code;
    free_room(load);
    free(load);
    return code;
}
