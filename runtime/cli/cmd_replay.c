/* cmd_replay.c -- `replay`: the transactions of a CSV file on one machine, a row of times each. */
#include "cli/rows/breakdown_rows.h"
#include "cli/out/progress.h"
#include "cli/out/speed.h"
#include "cli/rows/utilization_rows.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include "cli/trace/trace.h"
#include "cli/in/transactions.h"
#include "cli/out/warn.h"
#include <stdio.h>

enum { EVENTS_AT_ONCE = 50000 }; /* a few ms: how long Ctrl-C may wait */

static const struct column columns[] = {
    COLUMN_BY_HAND("id", CELL_COUNT),           COLUMN_BY_HAND("op", CELL_TEXT),
    COLUMN_BY_HAND("src", CELL_TEXT),           COLUMN_BY_HAND("dst", CELL_TEXT),
    COLUMN_BY_HAND("nbytes", CELL_COUNT),       COLUMN_BY_HAND("issue_ns", CELL_NS),
    COLUMN_BY_HAND("start_ns", CELL_NS),        COLUMN_BY_HAND("arrive_ns", CELL_NS),
    COLUMN_BY_HAND("service_ns", CELL_NS),      COLUMN_BY_HAND("done_ns", CELL_NS),
    COLUMN_BY_HAND("end_ns", CELL_NS),          COLUMN_BY_HAND("wire_ns", CELL_NS),
    COLUMN_BY_HAND("overhead_ns", CELL_NS),     COLUMN_BY_HAND("drain_ns", CELL_NS),
    COLUMN_BY_HAND("response_ns", CELL_NS),     COLUMN_BY_HAND("queue_channel_ns", CELL_NS),
    COLUMN_BY_HAND("queue_engine_ns", CELL_NS), COLUMN_BY_HAND("queue_link_ns", CELL_NS),
    COLUMN_BY_HAND("queue_memory_ns", CELL_NS), COLUMN_BY_HAND("formula_ns", CELL_NS),
    COLUMN_BY_HAND("actual_ns", CELL_NS),
};

/* The simulation, and the names of the row being printed. */
struct replay {
    const struct cli *cli;
    kb_sim *sim;       /* owned */
    kb_breakdown *why; /* owned; NULL: nobody asks */
    struct speed speed;
    kb_error wrong; /* a row's terms cannot be: which */
    char src[KB_ENDPOINT_BYTES], dst[KB_ENDPOINT_BYTES];
};

static void set_times(const kb_result *r, struct cell *cells)
{
    cells[5] = cell_ns(r->issue_fs);
    cells[6] = cell_ns(r->start_fs);
    cells[7] = cell_ns(r->arrive_fs);
    cells[8] = cell_ns(r->service_fs);
    cells[9] = cell_ns(r->done_fs);
    cells[10] = cell_ns(r->end_fs);
    cells[11] = cell_ns(r->wire_fs);
    cells[12] = cell_ns(r->overhead_fs);
    cells[13] = cell_ns(r->drain_fs);
    cells[14] = cell_ns(r->response_fs);
    cells[15] = cell_ns(r->wait_fs[KB_WAIT_CHANNEL]);
    cells[16] = cell_ns(r->wait_fs[KB_WAIT_ENGINE]);
    cells[17] = cell_ns(r->wait_fs[KB_WAIT_LINK]);
    cells[18] = cell_ns(r->wait_fs[KB_WAIT_MEMORY]);
    cells[19] = cell_ns(r->formula_fs);
    cells[20] = cell_ns(r->actual_fs);
}

/* Transactions that are not complete have no row. */
static bool result_row(void *arg, uint64_t i, struct cell *cells)
{
    struct replay *replay = arg;
    kb_request q;
    kb_result r;
    kb_status status = kb_sim_result(replay->sim, i, &r);

    if (status == KB_INTERNAL && !replay->wrong.text[0])
        warn_term(i, &r, &replay->wrong);
    if (status != KB_OK || kb_sim_request(replay->sim, i, &q) != KB_OK)
        return false;
    kb_endpoint_name(&q.src, replay->src);
    kb_endpoint_name(&q.dst, replay->dst);
    cells[0] = cell_count(i);
    cells[1] = cell_text(op_names[q.op]);
    cells[2] = cell_text(replay->src);
    cells[3] = cell_text(replay->dst);
    cells[4] = cell_count(q.nbytes);
    set_times(&r, cells);
    return true;
}

/* -- what else there is to say -------------------------------------------------------------- */

/* "stopped at 100.000000 ns": the library does not say which of two bounds it was. */
static void say_stopped(const struct cli *cli, unsigned long long done, unsigned long long total)
{
    const struct opts *opts = &cli->opts;
    char bound[128], *p = bound;

    if (opts->until_fs)
        p = text_put_text(text_put_ns(p, opts->until_fs), " ns");
    if (opts->until_fs && opts->max_events)
        p = text_put_text(p, " or ");
    if (opts->max_events)
        p = text_put_text(text_put_count(p, opts->max_events), " events");
    *p = '\0';
    cmd_note(cli, "stopped at %s: %llu of %llu transactions complete", bound, done, total);
}

/*
 * What stderr says after the rows. A fingerprint stands alone, so that it can be compared. False
 * if it could not be written: it is what was asked for.
 */
static bool say_end(const struct replay *replay, kb_status status, bool interrupted)
{
    const struct cli *cli = replay->cli;
    const kb_sim *sim = replay->sim;
    unsigned long long done = kb_sim_done(sim), total = kb_sim_count(sim);
    bool talk = !cli->opts.quiet && !cli->opts.fingerprint;

    if (interrupted)
        cmd_note(cli, "interrupted: %llu of %llu transactions complete", done, total);
    else if (status == KB_STOPPED && talk)
        say_stopped(cli, done, total);
    if (talk && status == KB_OK)
        warn_of_ideal_links(cli, sim);
    speed_say(&replay->speed, cli, done, "transactions", (double)kb_sim_end_fs(sim));
    return !cli->opts.fingerprint || fprintf(stderr, "fingerprint %016llx\n",
                                             (unsigned long long)kb_sim_fingerprint(sim)) > 0;
}

/* -- the run -------------------------------------------------------------------------------- */

/* Runs to the end, a bound of the options, or stop_asked(). KB_AGAIN: the last of these. */
static kb_status run(struct replay *replay, kb_error *why)
{
    kb_sim *sim = replay->sim;
    struct progress progress;
    kb_status status = KB_AGAIN;

    progress_begin(&progress, replay->cli->opts.quiet);
    speed_begin(&replay->speed);
    while (status == KB_AGAIN && !stop_asked()) {
        status = kb_sim_run(sim, EVENTS_AT_ONCE, why);
        progress_show(&progress, kb_sim_done(sim), kb_sim_count(sim), "transactions");
    }
    speed_end(&replay->speed);
    progress_end(&progress);
    return status;
}

/* Reads, runs and writes to `s`. */
static enum exit_code replay_into(void *arg, struct sink *s)
{
    struct replay *replay = arg;
    const struct cli *cli = replay->cli;
    kb_sim *sim = replay->sim;
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .row = result_row,
                        .arg = replay};
    kb_error why = {""};
    kb_status status = KB_AGAIN;
    enum exit_code code =
        transactions_read(cli->topo, cli->program, cli->opts.operand[0], cli->opts.quiet, sim);

    if (code && code != EXIT_INTERRUPTED)
        return code;
    if (!code)
        status = run(replay, &why);
    if (status != KB_OK && status != KB_STOPPED && status != KB_AGAIN)
        return cmd_fail(cli, status, &why);
    rows.n_rows = kb_sim_count(sim);
    report_sim(cli->report, sim, "");
    if (cli->opts.breakdown)
        code = causes_print(cli, replay->why, s);
    else
        cmd_write(cli, &rows, s);
    if (cli->report && (!code || code == EXIT_INTERRUPTED))
        code = causes_report(cli, replay->why);
    if (code && code != EXIT_INTERRUPTED)
        return code;
    sink_flush(s);
    if (replay->wrong.text[0])
        return cmd_fail(cli, KB_INTERNAL, &replay->wrong);
    if (!say_end(replay, status, status == KB_AGAIN))
        return EXIT_SYSTEM;
    return status == KB_AGAIN ? EXIT_INTERRUPTED : EXIT_OK;
}

enum exit_code cmd_replay(const struct cli *cli)
{
    kb_options options = {.engine = cli->opts.engine,
                          .fingerprint = cli->opts.fingerprint,
                          .until_fs = cli->opts.until_fs,
                          .max_events = cli->opts.max_events};
    struct replay replay = {.cli = cli};
    struct stats stats = {0};
    struct trace *trace = NULL;
    kb_error why = {""};
    kb_status status = kb_sim_new(cli->topo, &options, &replay.sim);

    if (status)
        return cmd_fail(cli, status, NULL);
    enum exit_code code = stats_check(cli);
    if (!code)
        code = trace_open(&trace, cli);
    if (!code) {
        status = trace_observe(trace, replay.sim, &why);
        code = status ? cmd_fail(cli, status, &why) : EXIT_OK;
    }
    if (!code)
        code = causes_begin(cli, replay.sim, &replay.why);
    if (!code) {
        code = cmd_output(cli, replay_into, &replay);
        stats_take(&stats, cli, replay.sim);
        code = stats_write(&stats, cli, NULL, 0, code);
    }
    code = trace_close(trace, code);
    stats_free(&stats);
    kb_breakdown_free(replay.why);
    kb_sim_free(replay.sim);
    return code;
}
