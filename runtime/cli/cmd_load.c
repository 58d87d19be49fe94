/*
 * cmd_load.c -- `load`: traffic of all PEs, a row of throughput and latency for each rate.
 *
 * For each rate there are --seeds simulations with seeds s, s + 1, ..., each with --txns
 * transactions at random times. Simulation i (of rate i / seeds) is a block of base/parallel.c: any
 * thread runs it, the main thread takes them in order, and when the last one of a rate is in, makes
 * that rate's point of all of them and frees them. So the result does not depend on the number of
 * threads, and at most `window` simulations are in memory.
 *
 * What a point holds: the result over all seeds (kb_sim_traffic_result()), the busiest links and
 * memories of the first seed, and the slices that saw no transaction in any of them.
 *
 * Saturation: a rate is saturated if latencies grow until the end or
 * less than 97 % of the offered load was accepted. The line below the table brackets where it
 * begins: the smallest saturated rate and the largest rate below it. Rates may be given in any
 * order.
 *
 * Columns for waits come from KB_WAITS, except the wait for an engine of an M_CPU: only
 * transactions of hosts have it, and traffic is of PEs.
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
#include "base/parallel.h"
#include "cli/out/memory.h"
#include "cli/report/report.h"
#include "cli/rows/breakdown_rows.h"
#include "cli/in/pattern.h"
#include "cli/out/progress.h"
#include "cli/out/speed.h"
#include "cli/out/say.h"
#include "cli/rows/utilization_rows.h"
#include "cli/out/stop.h"
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
    N_BUSIEST = 3,
    NOTE_BYTES = 4096,
    TXNS_TO_TELL = 1000, /* less are no load */
};

static const double saturated_below = 0.97; /* of what was offered */

/* The busiest of a kind, most first. */
struct busiest {
    struct {
        char name[KB_PLACE_BYTES];
        double percent;
    } at[N_BUSIEST];
    size_t n;
};

/* The result of a rate. */
struct point {
    kb_traffic_result result;
    struct busiest memories, links; /* of the first simulation */
    struct warn_missed missed;      /* by all of them */
};

/* One simulation, in work or done. */
struct job {
    kb_sim *sim; /* owned */
    _Atomic uint64_t n_done;
    bool ended; /* it has run to its end */
    kb_status status;
    kb_error why;
};

struct load {
    const struct cli *cli;
    struct pattern asked;
    uint64_t seeds;          /* simulations of each rate */
    kb_breakdown *breakdown; /* owned; of the only simulation; NULL: not wanted */
    struct point *points;    /* owned; one a rate */
    kb_sim **sims;           /* owned, as they are; of the rate that is due */
    struct job *jobs;        /* owned; simulation i, of rate i / seeds, at i % window */
    unsigned threads, window;
    struct trace *trace;           /* NULL: none; of the first simulation */
    size_t n_points;               /* rates that are complete */
    size_t shown;                  /* the rate that a report shows, */
    uint64_t saturated;            /* and the least that is saturated so far */
    uint64_t n_done;               /* simulations that were given */
    struct utilization_rows stats; /* of the first simulation */
    struct warn_aim aim;
    struct progress progress;
    struct speed speed;
    uint64_t transactions; /* that have run */
    double simulated_fs;
    kb_status status;
    kb_error why;
    struct column columns[ROW_CELLS_MAX]; /* of its rows */
    size_t n_columns;
};

/* -- what was asked ------------------------------------------------------------------------- */

/* Options about one simulation need a single rate. */
static enum exit_code check_one(const struct load *load)
{
    const struct opts *o = &load->cli->opts;

    if (load->asked.rates.n == 1 || (!o->stats && !o->breakdown && !o->trace))
        return EXIT_OK;
    return say(load->cli->program, EXIT_USAGE,
               "--%s is of one simulation: it needs a --rate that is one number",
               o->stats       ? "stats"
               : o->breakdown ? "breakdown"
                              : "trace");
}

static enum exit_code read_options(struct load *load)
{
    enum exit_code code = pattern_read(&load->asked, load->cli);

    load->seeds = load->cli->opts.breakdown ? 1 : load->cli->opts.seeds;
    return code ? code : check_one(load);
}

/* -- rows ----------------------------------------------------------------------------------- */

/* One row. What is measured is empty if no transaction counts. */
struct load_row {
    const char *pattern;
    uint64_t nbytes;
    kb_transaction_op op;
    double rate;
    kb_traffic_result result;
    struct cell ci95;
    const char *memory, *link; /* busiest; NULL: none */
    double memory_pct, link_pct;
};

#define MEASURED(NAME, member)                                                                     \
    COLUMN_IF(NAME, CELL_NS, struct load_row, result.member, result.count)
#define WAIT_COLUMN(NAME, name) MEASURED("queue_" #name "_ns", wait_fs[KB_WAIT_##NAME]),

static const struct column columns[] = {
    COLUMN("pattern", CELL_TEXT, struct load_row, pattern),
    COLUMN("nbytes", CELL_COUNT, struct load_row, nbytes),
    COLUMN_WORD("op", struct load_row, op, op_names),
    COLUMN("rate", CELL_DECIMAL, struct load_row, rate),
    COLUMN("offered_gbs", CELL_FRACTION, struct load_row, result.offered_gbs),
    COLUMN("accepted_gbs", CELL_FRACTION, struct load_row, result.accepted_gbs),
    COLUMN("count", CELL_COUNT, struct load_row, result.count),
    MEASURED("mean_ns", mean_fs),
    COLUMN_IF("ci95_ns", CELL_NS, struct load_row, ci95, result.count),
    MEASURED("p50_ns", p50_fs),
    MEASURED("p99_ns", p99_fs),
    MEASURED("p999_ns", p999_fs),
    MEASURED("max_ns", max_fs),
    MEASURED("warmup_ns", warmup_fs),
    COLUMN("steady", CELL_COUNT, struct load_row, result.steady),
    MEASURED("wire_ns", wire_fs),
    MEASURED("overhead_ns", overhead_fs),
    MEASURED("drain_ns", drain_fs),
    KB_WAITS(WAIT_COLUMN) /* queue_channel_ns, queue_link_ns, ...; see load_columns() */
    COLUMN("busiest_memory", CELL_TEXT, struct load_row, memory),
    COLUMN_IF("memory_util_pct", CELL_PERCENT, struct load_row, memory_pct, memory),
    COLUMN("busiest_link", CELL_TEXT, struct load_row, link),
    COLUMN_IF("link_util_pct", CELL_PERCENT, struct load_row, link_pct, link),
};

/* All columns but the wait for an engine of an M_CPU, which only transactions of hosts have. */
static size_t load_columns(struct column chosen[ROW_CELLS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].at != offsetof(struct load_row, result.wait_fs[KB_WAIT_ENGINE]))
            chosen[n++] = columns[i];
    return n;
}

static bool point_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct load *load = arg;
    const struct point *point = &load->points[i];
    const struct busiest *memories = &point->memories, *links = &point->links;
    struct load_row row = {.pattern = load->cli->opts.pattern,
                           .nbytes = load->asked.traffic.nbytes,
                           .op = load->asked.traffic.op,
                           .rate = list_rate(load->asked.rates.value[i]),
                           .result = point->result,
                           .ci95 = point->result.ci95_fs < 0 ? cell_none()
                                                             : cell_ns(point->result.ci95_fs),
                           .memory = memories->n > 0 ? memories->at[0].name : NULL,
                           .memory_pct = memories->at[0].percent,
                           .link = links->n > 0 ? links->at[0].name : NULL,
                           .link_pct = links->at[0].percent};

    record_cells(load->columns, load->n_columns, &row, cells);
    return true;
}

/* -- the note below a table ----------------------------------------------------------------- */

static bool is_saturated(const struct point *point)
{
    const kb_traffic_result *r = &point->result;

    return r->growing || r->accepted_gbs < saturated_below * r->offered_gbs;
}

/* "0.85": a rate as people write it. */
static char *put_rate(char *to, uint64_t millionths)
{
    char *end = text_put_ns(to, (int64_t)millionths); /* as fs are millionths of a ns */

    while (end[-1] == '0')
        end--;
    return end[-1] == '.' ? end - 1 : end;
}

/* The smallest rate that is saturated, and the largest below it; SIZE_MAX: none. */
static void find_saturation(const struct load *load, size_t *saturated, size_t *below)
{
    const uint64_t *rate = load->asked.rates.value;

    *saturated = *below = SIZE_MAX;
    for (size_t i = 0; i < load->n_points; i++)
        if (is_saturated(&load->points[i]) &&
            (*saturated == SIZE_MAX || rate[i] < rate[*saturated]))
            *saturated = i;
    for (size_t i = 0; i < load->n_points; i++)
        if ((*saturated == SIZE_MAX || rate[i] < rate[*saturated]) &&
            (*below == SIZE_MAX || rate[i] > rate[*below]))
            *below = i;
}

static char *put_busiest(char *to, const char *things, const struct busiest *busiest)
{
    to = text_put_text(to, things);
    for (size_t i = 0; i < busiest->n; i++)
        to += text_format(to, 2 * KB_PLACE_BYTES, "%s %s %.1f %%", i > 0 ? "," : "",
                          busiest->at[i].name, busiest->at[i].percent);
    return to;
}

static char *put_saturation(char *p, const struct load *load, size_t saturated, size_t below)
{
    if (saturated == SIZE_MAX)
        return put_rate(text_put_text(p, "no saturation up to rate "),
                        load->asked.rates.value[below]);
    if (below == SIZE_MAX)
        p = text_put_text(p, "saturation begins below rate ");
    else
        p = text_put_text(put_rate(text_put_text(p, "saturation begins between rate "),
                                   load->asked.rates.value[below]),
                          " and ");
    p = put_rate(p, load->asked.rates.value[saturated]);
    return p + text_format(p, 2 * KB_PLACE_BYTES, ": %.1f GB/s accepted there",
                           load->points[saturated].result.accepted_gbs);
}

static double busiest_link(const struct point *point)
{
    return point->links.n > 0 ? point->links.at[0].percent : 0;
}

/* Links without queues that would have had to carry more than they can: from which rate on; "" if
 * there are none. */
static void make_warning(const struct load *load, char warning[NOTE_BYTES])
{
    char *p = warning;
    size_t first = SIZE_MAX, worst = SIZE_MAX;

    for (size_t i = 0; i < load->n_points; i++) {
        double percent = busiest_link(&load->points[i]);

        if (percent > 100 &&
            (first == SIZE_MAX || load->asked.rates.value[i] < load->asked.rates.value[first]))
            first = i;
        if (worst == SIZE_MAX || percent > busiest_link(&load->points[worst]))
            worst = i;
    }
    *p = '\0';
    if (first == SIZE_MAX || strcmp(load->cli->info.links, "ideal") != 0)
        return;
    p = put_rate(text_put_text(p, "links are ideal, so all this is optimistic: from rate "),
                 load->asked.rates.value[first]);
    p += text_format(p, NOTE_BYTES / 2, " on some carry more than they can (%s %.1f %% at rate ",
                     load->points[worst].links.at[0].name, load->points[worst].links.at[0].percent);
    p = put_rate(p, load->asked.rates.value[worst]);
    *text_put_text(p, "); run with contention.links=fifo to see the waiting") = '\0';
}

/* Where saturation begins, and what is busiest there if `busiest`. */
static void make_note(const struct load *load, bool busiest, char note[NOTE_BYTES])
{
    size_t saturated, below, shown;
    char *p = note;

    find_saturation(load, &saturated, &below);
    shown = below == SIZE_MAX ? saturated : below;
    if (load->points[shown].result.count < TXNS_TO_TELL)
        p = text_put_text(p, "too few transactions to tell where saturation begins");
    else
        p = put_saturation(p, load, saturated, below);
    if (busiest) {
        p = put_rate(text_put_text(p, "\nbusiest at rate "), load->asked.rates.value[shown]);
        p = put_busiest(p, ": memories", &load->points[shown].memories);
        p = put_busiest(p, "; links", &load->points[shown].links);
    }
    *p = '\0';
}

/* -- simulations ---------------------------------------------------------------------------- */

static void do_job(void *arg, unsigned thread, uint64_t i)
{
    struct load *load = arg;
    struct job *job = &load->jobs[i % load->window];
    kb_options options = {.engine = load->cli->opts.engine};
    kb_traffic traffic = load->asked.traffic;

    (void)thread;
    traffic.rate = list_rate(load->asked.rates.value[i / load->seeds]);
    traffic.seed = load->cli->opts.seed + i % load->seeds;
    job->why = (kb_error){""};
    job->ended = false;
    job->status = kb_sim_new(load->cli->topo, &options, &job->sim);
    if (!job->status)
        job->status = kb_sim_traffic(job->sim, &traffic, &job->why);
    if (!job->status && load->cli->opts.breakdown)
        job->status = kb_breakdown_new(job->sim, &load->breakdown, &job->why);
    if (!job->status && i == 0)
        job->status = trace_observe(load->trace, job->sim, &job->why);
    while (!job->status && !job->ended && !stop_asked()) {
        job->status = kb_sim_run(job->sim, EVENTS_AT_ONCE, &job->why);
        job->ended = job->status == KB_OK;
        if (job->status == KB_AGAIN)
            job->status = KB_OK;
        atomic_store_explicit(&job->n_done, kb_sim_done(job->sim), memory_order_relaxed);
    }
}

static void rank(struct busiest *b, const kb_utilization *use)
{
    size_t i = b->n;

    while (i > 0 && use->util_pct > b->at[i - 1].percent)
        i--;
    if (i == N_BUSIEST)
        return;
    b->n += b->n < N_BUSIEST;
    memmove(&b->at[i + 1], &b->at[i], (b->n - 1 - i) * sizeof *b->at);
    memcpy(b->at[i].name, use->name, sizeof b->at[i].name);
    b->at[i].percent = use->util_pct;
}

static void rank_use(void *arg, const kb_utilization *use)
{
    struct point *point = arg;

    if (use->kind == KB_AT_LINK)
        rank(&point->links, use);
    else if (use->kind == KB_AT_MEMORY && strstr(use->name, ".hbm_ctrl."))
        rank(&point->memories, use);
}

/* Should the report show rate `i` instead of an earlier one? It shows the highest unsaturated rate.
 */
static bool is_better(const struct load *load, size_t i)
{
    const uint64_t *rate = load->asked.rates.value;

    if (i == 0)
        return true;
    if (is_saturated(&load->points[i]) || rate[i] > load->saturated)
        return false;
    return is_saturated(&load->points[load->shown]) || rate[i] > rate[load->shown];
}

/* A report has the machine as it was at the highest rate below saturation, as far as that is known
 * yet, else at the first one. */
static void show_point(struct load *load, size_t i)
{
    uint64_t rate = load->asked.rates.value[i];
    char when[64 + TEXT_NUMBER_BYTES];

    if (is_saturated(&load->points[i]) && rate < load->saturated)
        load->saturated = rate;
    if (!is_better(load, i))
        return;
    load->shown = i;
    *put_rate(text_put_text(when, " at rate "), rate) = '\0';
    report_sim(load->cli->report, load->sims[0], when);
}

/* All simulations of a rate have ended. */
static kb_status end_point(struct load *load)
{
    struct point *point = &load->points[load->n_points];
    kb_status status = kb_sim_traffic_result(load->sims, load->seeds, &point->result);

    if (!status)
        status = kb_sim_utilization(load->sims[0], rank_use, point);
    warn_aim_clear(&load->aim);
    for (size_t i = 0; !status && i < load->seeds; i++)
        status = warn_aim_add(&load->aim, load->sims[i]);
    if (status)
        return status;
    utilization_rows_take(&load->stats, load->cli, load->sims[0]);
    point->missed = warn_aim_missed(&load->aim);
    load->n_points++;
    show_point(load, load->n_points - 1);
    return KB_OK;
}

static void free_sims(struct load *load)
{
    for (size_t i = 0; load->sims && i < load->seeds; i++) {
        kb_sim_free(load->sims[i]);
        load->sims[i] = NULL;
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
    load->sims[i % seeds] = job->sim;
    job->sim = NULL;
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

static void show_progress(void *arg)
{
    struct load *load = arg;
    uint64_t all = load->asked.traffic.txns * load->asked.rates.n * load->seeds;
    uint64_t done = load->asked.traffic.txns * load->n_done;

    /* what a simulation issues beyond --txns is not counted: it would be taken back at its end */
    for (unsigned i = 0; i < load->window; i++) {
        uint64_t n = atomic_load_explicit(&load->jobs[i].n_done, memory_order_relaxed);

        done += n < load->asked.traffic.txns ? n : load->asked.traffic.txns;
    }
    progress_show(&load->progress, done < all ? done : all, all, "transactions");
}

/* -- the load ------------------------------------------------------------------------------- */

static void make_room(struct load *load)
{
    const struct opts *o = &load->cli->opts;

    load->threads = o->jobs ? o->jobs : parallel_threads();
    load->window = load->threads * AHEAD_PER_THREAD;
    load->points = memory_new(load->asked.rates.n, sizeof *load->points);
    load->sims = memory_new(load->seeds, sizeof(kb_sim *));
    load->jobs = memory_new(load->window, sizeof *load->jobs);
    warn_aim_new(&load->aim, load->cli, &load->asked.traffic);
}

static void free_room(struct load *load)
{
    free_sims(load);
    for (unsigned i = 0; load->jobs && i < load->window; i++)
        kb_sim_free(load->jobs[i].sim);
    kb_breakdown_free(load->breakdown);
    free(load->points);
    free(load->sims);
    free(load->jobs);
    pattern_free(&load->asked);
    warn_aim_free(&load->aim);
}

static enum exit_code run(struct load *load)
{
    struct parallel blocks = {.stop = stop_asked,
                              .n = load->asked.rates.n * load->seeds,
                              .threads = load->threads,
                              .window = load->window,
                              .work = do_job,
                              .give = give_job,
                              .wait = show_progress,
                              .arg = load};

    progress_begin(&load->progress, load->cli->opts.quiet);
    speed_begin(&load->speed);
    switch (parallel_run(&blocks)) {
    case PARALLEL_NO_THREAD:
        return cmd_fail(load->cli, KB_NO_MEMORY, NULL);
    case PARALLEL_LEFT:
        stop_leave();
        break;
    case PARALLEL_ENDED:
        break;
    }
    stop_heard();
    speed_end(&load->speed);
    progress_end(&load->progress);
    return load->status ? cmd_fail(load->cli, load->status, &load->why) : EXIT_OK;
}

/* Warns of rates whose numbers may mislead. */
static void say_doubts(const struct load *load)
{
    char rate[TEXT_NUMBER_BYTES];

    for (size_t i = 0; i < load->n_points && !load->cli->opts.quiet; i++) {
        *put_rate(rate, load->asked.rates.value[i]) = '\0';
        if (!load->points[i].result.steady)
            cmd_note(load->cli,
                     "rate %s: no steady state found: latencies still grow, or --txns is too "
                     "small to tell",
                     rate);
        warn_of_missed(load->cli, rate, &load->points[i].missed);
    }
}

static bool prints_note(const struct cli *cli)
{
    return cli->report || cli->opts.format == FORMAT_TABLE || cli->opts.format == FORMAT_MD;
}

/* If a rate is interrupted, its first simulation counts as far as it has come. */
static void take_unfinished(struct load *load)
{
    const kb_sim *sim = load->sims[0] ? load->sims[0] : load->jobs[0].sim;

    if (sim && !stop_leaves())
        utilization_rows_take(&load->stats, load->cli, sim);
}

static enum exit_code load_into(void *arg, struct sink *out)
{
    struct load *load = arg;
    char note[2 * NOTE_BYTES], warning[NOTE_BYTES] = "";
    struct rows rows = {
        .columns = load->columns, .n_columns = load->n_columns, .row = point_row, .arg = load};
    enum exit_code code;

    make_room(load);
    code = run(load);
    if (code)
        return code;
    rows.n_rows = load->n_points;
    rows.warning = warning;
    if (load->n_points > 0) {
        make_note(load, prints_note(load->cli), note);
        make_warning(load, warning);
        if (*warning && (load->cli->opts.breakdown || !cmd_shows_warning(load->cli)))
            *text_put_text(text_put_text(note + strlen(note), "\n"), warning) = '\0';
        rows.note = note;
    }
    if (load->cli->opts.breakdown && load->breakdown)
        code = breakdown_rows_print(load->cli, load->breakdown, out);
    else
        cmd_write(load->cli, &rows, out);
    if (code)
        return code;
    sink_flush(out);
    say_doubts(load);
    if (rows.note && (load->cli->opts.breakdown || !prints_note(load->cli)) &&
        !load->cli->opts.quiet)
        say_lines("%s", note);
    if (load->n_points == load->asked.rates.n) {
        speed_say(&load->speed, load->cli->opts.quiet, load->transactions, "transactions",
                  load->simulated_fs);
        return EXIT_OK;
    }
    take_unfinished(load);
    cmd_note(load->cli, "interrupted: %zu of %zu rates complete", load->n_points,
             load->asked.rates.n);
    return EXIT_INTERRUPTED;
}

enum exit_code cmd_load(const struct cli *cli)
{
    struct load *load = memory_new(1, sizeof *load);
    load->cli = cli;
    load->saturated = UINT64_MAX;
    load->n_columns = load_columns(load->columns);
    enum exit_code code = read_options(load);

    if (!code)
        code = stats_file_check(cli);
    if (!code)
        code = trace_open(&load->trace, cli);
    if (!code) {
        code = cmd_output(cli, load_into, load);
        code = trace_close(load->trace, code);
        code = stats_file_write(&load->stats, cli, NULL, 0, code);
    }
    if (stop_leaves())
        return code;
    utilization_rows_free(&load->stats);
    free_room(load);
    free(load);
    return code;
}
