/*
 * cmd_replay.c -- `replay`: the transactions of a CSV file on one machine, a row of times each.
 *
 * The times of a row add up exactly, in whole femtoseconds:
 *
 *   actual = wire + overhead + drain + response + return + all queue_* columns
 *
 * and without any wait actual is formula, the latency of a transaction alone. The library checks
 * the sum for each transaction (KB_INTERNAL); which term is wrong is told by warn_term().
 *
 * Rows come in the order of the file, not of time. Those of transactions that are not complete,
 * after
 * --until, --max-events or Ctrl-C, are left out.
 */
#include "cli/gate.h"
#include "cli/rows/breakdown_rows.h"
#include "cli/rows/endpoint_names.h"
#include "cli/out/progress.h"
#include "cli/out/say.h"
#include "cli/out/speed.h"
#include "cli/rows/utilization_rows.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include "cli/trace/trace.h"
#include "cli/in/transactions.h"
#include "cli/rows/warn.h"

enum { EVENTS_AT_ONCE = 50000 }; /* a few ms: how long Ctrl-C may wait */

/* One row. */
struct transaction_row {
    uint64_t id;
    kb_transaction request;
    kb_result result;
    const char *src, *dst;
    uint32_t op; /* of op_names */
};

#define WAIT_COLUMN(NAME, name)                                                                    \
    COLUMN("queue_" #name "_ns", CELL_NS, struct transaction_row, result.wait_fs[KB_WAIT_##NAME]),

static const struct column columns[] = {
    COLUMN("id", CELL_COUNT, struct transaction_row, id),
    COLUMN_WORD("op", struct transaction_row, op, op_names),
    COLUMN_NAME("src", struct transaction_row, src),
    COLUMN_NAME("dst", struct transaction_row, dst),
    COLUMN("nbytes", CELL_COUNT, struct transaction_row, request.nbytes),
    COLUMN("issue_ns", CELL_NS, struct transaction_row, result.issue_fs),
    COLUMN("start_ns", CELL_NS, struct transaction_row, result.start_fs),
    COLUMN("arrive_ns", CELL_NS, struct transaction_row, result.arrive_fs),
    COLUMN("service_ns", CELL_NS, struct transaction_row, result.service_fs),
    COLUMN("done_ns", CELL_NS, struct transaction_row, result.done_fs),
    COLUMN("end_ns", CELL_NS, struct transaction_row, result.end_fs),
    COLUMN("wire_ns", CELL_NS, struct transaction_row, result.wire_fs),
    COLUMN("overhead_ns", CELL_NS, struct transaction_row, result.overhead_fs),
    COLUMN("drain_ns", CELL_NS, struct transaction_row, result.drain_fs),
    COLUMN("response_ns", CELL_NS, struct transaction_row, result.response_fs),
    KB_WAITS(WAIT_COLUMN) /* queue_channel_ns, queue_engine_ns, ... */
    COLUMN("formula_ns", CELL_NS, struct transaction_row, result.formula_fs),
    COLUMN("actual_ns", CELL_NS, struct transaction_row, result.actual_fs),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Behind response_ns, where links are routers. */
static const struct column return_column =
    COLUMN("return_ns", CELL_NS, struct transaction_row, result.return_fs);

struct replay {
    const struct cli *cli;
    kb_sim *sim;             /* owned */
    kb_breakdown *breakdown; /* owned; NULL: not wanted */
    struct speed speed;
    char warning[WARNING_BYTES]; /* about all rows; "": none */
    kb_error wrong;              /* a row's terms cannot be: which */
    struct endpoint_names names;
    struct targets_texts targets;
    struct transaction_row row;           /* that is being printed */
    struct column columns[N_COLUMNS + 1]; /* with routers */
    bool has_return;
};

/* Transactions that are not complete have no row. */
static const void *result_record(void *arg, uint64_t i)
{
    struct replay *replay = arg;
    struct transaction_row *row = &replay->row;
    kb_status status = kb_sim_result(replay->sim, i, &row->result);

    if (status == KB_INTERNAL && !replay->wrong.text[0])
        warn_term(i, &row->result, &replay->wrong);
    if (status != KB_OK || kb_sim_request(replay->sim, i, &row->request) != KB_OK)
        return NULL;
    row->id = i + replay->cli->opts.warm;
    row->src = endpoint_names_find(&replay->names, &row->request.src);
    row->op = row_op(&row->request);
    row->dst = row->request.n_targets ? targets_text(&replay->targets, i)
                                      : endpoint_names_find(&replay->names, &row->request.dst);
    return row;
}

static bool result_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct replay *replay = arg;
    const struct transaction_row *row = result_record(arg, i);

    if (row && replay->has_return)
        record_cells(replay->columns, N_COLUMNS + 1, row, cells);
    else if (row)
        record_cells(columns, N_COLUMNS, row, cells);
    return row;
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
        cmd_note(cli, "%s: %llu of %llu transactions complete", stop_word(), done, total);
    else if (status == KB_STOPPED && talk)
        say_stopped(cli, done, total);
    if (talk && *replay->warning && (cli->opts.breakdown || !cmd_shows_warning(cli)))
        cmd_note(cli, "%s", replay->warning);
    speed_say(&replay->speed, cli->opts.quiet || cli->opts.fingerprint, done, "transactions",
              (double)kb_sim_end_fs(sim));
    return !cli->opts.fingerprint || say_fingerprint(kb_sim_fingerprint(sim));
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

/* Reads the file; its first rows, with --warm, run before all others and leave lines in caches. */
static enum exit_code read_rows(struct replay *replay)
{
    const struct cli *cli = replay->cli;
    struct warm_rows warm = {.n = cli->opts.warm};
    kb_status status = warm.n ? kb_sim_new(cli->topo, NULL, &warm.sim) : KB_OK;
    kb_error why = {""};
    enum exit_code code =
        status ? cmd_fail(cli, status, NULL)
               : transactions_read(cli->topo, cli->program, cli->opts.operand[0], cli->opts.quiet,
                                   replay->sim, &warm, &replay->targets);

    if (!code && warm.n && kb_sim_count(replay->sim) == 0)
        cmd_note(cli, "--warm %llu: all rows of the file, which are %llu, only fill caches",
                 (unsigned long long)warm.n, (unsigned long long)kb_sim_count(warm.sim));
    if (!code && warm.n) {
        status = kb_sim_run(warm.sim, UINT64_MAX, &why);
        if (status == KB_OK)
            status = kb_sim_warm(replay->sim, warm.sim, &why);
        code = status ? cmd_fail(cli, status, &why) : EXIT_OK;
    }
    kb_sim_free(warm.sim);
    return code;
}

/* Reads, runs and writes to `s`. */
static enum exit_code replay_into(void *arg, struct sink *s)
{
    struct replay *replay = arg;
    const struct cli *cli = replay->cli;
    kb_sim *sim = replay->sim;
    struct rows rows = {ROWS_COLUMNS(columns), .row = result_row, .record = result_record,
                        .record_bytes = sizeof(struct transaction_row), .arg = replay};
    kb_error why = {""};
    kb_status status = KB_AGAIN;

    replay->has_return = cmd_tells_return(cli);
    if (replay->has_return) {
        cmd_add_return(columns, N_COLUMNS, &return_column, replay->columns);
        rows.columns = replay->columns;
        rows.n_columns = N_COLUMNS + 1;
    }
    enum exit_code code = read_rows(replay);

    if (code && code != EXIT_INTERRUPTED)
        return code;
    if (!code)
        status = run(replay, &why);
    stop_heard();
    if (status != KB_OK && status != KB_STOPPED && status != KB_AGAIN && status != KB_DEADLOCK)
        return cmd_fail(cli, status, &why);
    if (status == KB_OK)
        warn_of_ideal_links(cli, sim, replay->warning);
    rows.n_rows = kb_sim_count(sim);
    rows.warning = replay->warning;
    cmd_show(cli, sim, "");
    if (cli->opts.breakdown)
        code = breakdown_rows_print(cli, replay->breakdown, s);
    else
        cmd_write(cli, &rows, s);
    if (cmd_explains(cli) && (!code || code == EXIT_INTERRUPTED))
        code = breakdown_report(cli, replay->breakdown);
    if (code && code != EXIT_INTERRUPTED)
        return code;
    sink_flush(s);
    if (replay->wrong.text[0])
        return cmd_fail(cli, KB_INTERNAL, &replay->wrong);
    if (status == KB_DEADLOCK) /* a component never ends some: the others are in the rows */
        return cmd_fail(cli, status, &why);
    if (status == KB_STOPPED)
        gate_cut(cli, "transactions", kb_sim_done(sim), kb_sim_count(sim));
    if (!say_end(replay, status, status == KB_AGAIN))
        return EXIT_SYSTEM;
    return status == KB_AGAIN ? EXIT_INTERRUPTED : EXIT_OK;
}

enum exit_code cmd_replay(const struct cli *cli)
{
    kb_options options = {.engine = cli->opts.engine,
                          .buffers = cmd_counts_buffers(cli),
                          .fingerprint = cli->opts.fingerprint,
                          .until_fs = cli->opts.until_fs,
                          .max_events = cli->opts.max_events};
    struct replay replay = {.cli = cli};
    struct utilization_rows stats = {0};
    struct trace *trace = NULL;
    kb_error why = {""};
    kb_status status = kb_sim_new(cli->topo, &options, &replay.sim);

    if (status)
        return cmd_fail(cli, status, NULL);
    enum exit_code code = stats_file_check(cli);
    if (!code)
        code = trace_open(&trace, cli);
    if (!code) {
        status = trace_observe(trace, replay.sim, &why);
        code = status ? cmd_fail(cli, status, &why) : EXIT_OK;
    }
    if (!code)
        code = breakdown_begin(cli, replay.sim, &replay.breakdown);
    if (!code) {
        code = cmd_output(cli, replay_into, &replay);
        utilization_rows_take(&stats, cli, replay.sim);
        code = stats_file_write(&stats, cli, NULL, 0, code);
    }
    code = trace_close(trace, code);
    utilization_rows_free(&stats);
    kb_breakdown_free(replay.breakdown);
    endpoint_names_free(&replay.names);
    targets_texts_free(&replay.targets);
    kb_sim_free(replay.sim);
    return code;
}
