/*
 * rerun.c -- what `why` runs again and again: a bench, a file of transactions, traffic, or a
 * language model.
 *
 * The first run comes alone, because mistakes in its input would otherwise be reported ten times,
 * and because of algorithm=auto: what a bench has chosen for the machine as it is, is given to the
 * others. Those may run on any thread. Benches are compared by the time of their kernels, models
 * by that of a token, with the best tiles of each machine, the others by mean latency.
 *
 * On another machine traffic is the same traffic: --rate counts in cube.xbar.pe_gbs of the machine
 * as it is, so where that key is better the rate in units of it is less. Example: 0.2 of 256 GB/s
 * is 51.2 GB/s for each PE, and 0.1 of 512 GB/s.
 */
#include "cli/why/rerun.h"
#include "cli/benches.h"
#include "cli/in/transactions.h"
#include "cli/llm/llm_time.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include "cli/rows/launch_rows.h"
#include "cli/rows/warn.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EVENTS_AT_ONCE = 50000,   /* a few ms: how long Ctrl-C may wait */
    EVENTS_COUNTED = 1000,    /* of the first run, whose events are counted by so many */
    EVENTS_OF_LLM = 50000000, /* those of all its simulations are many, and not counted */
};

/* One run: its result, and what it is of. */
struct job {
    struct rerun *rerun; /* of the first run, which may set its words; else only read */
    const struct rerun *of;
    const kb_topology *topo;
    kb_options options;
    struct outcome *outcome;
    bool first;
};

/* -- one run -------------------------------------------------------------------------------- */

static void say_overload(const struct cli *cli, const kb_sim *sim)
{
    char warning[WARNING_BYTES];

    if (*warn_of_ideal_links(cli, sim, warning))
        cmd_note(cli, "%s", warning);
}

/* Runs to the end, or to stop_asked(). Warnings are about the first run only. */
static void run(const struct job *j, kb_sim *sim)
{
    struct outcome *o = j->outcome;
    const struct cli *cli = j->of->cli;
    uint64_t at_once = j->first ? EVENTS_COUNTED : EVENTS_AT_ONCE;

    if (o->explained)
        o->status = explained_watch(j->of->explained, sim, o->explained, &o->why);
    if (o->status)
        return;
    for (o->status = KB_AGAIN; o->status == KB_AGAIN && !stop_asked(); o->events += at_once)
        o->status = kb_sim_run(sim, at_once, &o->why);
    o->ended = o->status == KB_OK;
    if (o->ended && o->explained)
        o->code = explained_take(j->of->explained, sim, o->explained);
    if (o->status == KB_AGAIN)
        o->status = KB_OK;
    o->end_fs = kb_sim_end_fs(sim);
    if (j->first && o->ended && !cli->opts.quiet)
        say_overload(cli, sim);
    if (j->first && o->ended && j->of->look)
        j->of->look(j->of->arg, sim);
}

/* Keeps the arguments of a run, for those that follow. */
static void keep_words(struct rerun *r, const kb_bench_run *bench)
{
    size_t n = r->bench->n_args;

    r->words = memory_new(n + 1, sizeof *r->words);
    for (size_t i = 0; i < n; i++) {
        const char *name = r->bench->args[i].name, *value = kb_bench_value(bench, i);
        size_t room = strlen(name) + strlen(value) + 2;

        r->words[i] = memory_new(room, 1);
        snprintf(r->words[i], room, "%s=%s", name, value);
    }
}

static kb_status new_bench(const struct job *j, kb_bench_run **bench)
{
    const struct rerun *r = j->of;
    const struct opts *opts = &r->cli->opts;
    const char *const *words = j->first ? opts->operand + 1 : (const char *const *)r->words;
    kb_status status =
        kb_bench_new(r->bench, j->topo, &j->options, opts->seed, words,
                     j->first ? opts->n_operands - 1 : r->bench->n_args, bench, &j->outcome->why);

    if (!status && j->first && !r->words)
        keep_words(j->rerun, *bench);
    return status;
}

/* With values if a kernel wants them. NULL: it could not begin. */
static kb_bench_run *ran_bench(const struct job *j)
{
    struct job job = *j;
    struct outcome *o = j->outcome;
    kb_bench_run *bench = NULL;
    bool wants;

    do {
        if (o->explained)
            explained_drop(o->explained);
        kb_bench_free(bench);
        bench = NULL;
        o->why.text[0] = '\0';
        o->status = new_bench(&job, &bench);
        if (o->status) {
            kb_bench_free(bench);
            return NULL;
        }
        run(&job, kb_bench_sim(bench));
        wants = o->status == KB_KERNEL_ERROR && kb_sim_wants_values(kb_bench_sim(bench)) &&
                !job.options.values;
        job.options.values = true;
    } while (wants);
    return bench;
}

static void run_bench(const struct job *j)
{
    struct outcome *o = j->outcome;
    kb_bench_run *bench = ran_bench(j);

    if (!bench)
        return;
    if (o->status == KB_DEADLOCK) {
        o->stuck = bench;
        return;
    }
    o->kernel_fs = launches_fs(kb_bench_sim(bench));
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

static void run_file(const struct job *j)
{
    struct outcome *o = j->outcome;
    const struct cli *cli = j->of->cli;
    kb_sim *sim = NULL;

    o->status = kb_sim_new(j->topo, &j->options, &sim);
    if (!o->status)
        o->code = transactions_read(j->topo, cli->program, cli->opts.operand[0],
                                    cli->opts.quiet || !j->first, sim, NULL, NULL);
    if (!o->status && !o->code)
        run(j, sim);
    if (o->ended)
        sum_up(o, sim);
    kb_sim_free(sim);
}

struct first_edge {
    size_t n; /* nodes so far */
    double gbs;
};

static void see_hop(void *arg, const kb_hop *hop)
{
    struct first_edge *edge = arg;

    if (edge->n++ == 1)
        edge->gbs = hop->edge_gbs;
}

/* cube.xbar.pe_gbs of the first PE, in which rates count. */
static double pe_gbs(const kb_topology *topo)
{
    struct first_edge edge = {0, 1};
    kb_endpoint pe, slice;

    if (kb_pe_get(topo, 0, &pe) == KB_OK && kb_pe_slice(topo, 0, &slice) == KB_OK)
        kb_route_walk(topo, &pe, &slice, see_hop, &edge, NULL);
    return edge.gbs;
}

/* The same traffic on any machine. */
static double rate_of(const struct job *j)
{
    double rate = list_rate(j->of->asked.rates.value[0]);
    double here = pe_gbs(j->topo), there = pe_gbs(j->of->cli->topo);

    return here > there || here < there ? rate * there / here : rate;
}

static void run_load(const struct job *j)
{
    struct outcome *o = j->outcome;
    kb_traffic traffic = j->of->asked.traffic;
    kb_traffic_result r;
    kb_sim *sim = NULL;

    traffic.rate = rate_of(j);
    traffic.seed = j->of->cli->opts.seed;
    o->status = kb_sim_new(j->topo, &j->options, &sim);
    if (!o->status)
        o->status = kb_sim_traffic(sim, &traffic, &o->why);
    if (!o->status)
        run(j, sim);
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

/* Messages about another machine than the first one's become a reason. */
static void keep_reason(struct outcome *o, const struct cli *cli, const struct said *said)
{
    size_t skip = strlen(cli->program) + strlen(": ");
    const char *text = said->n > skip && strncmp(said->text, cli->program, skip - 2) == 0
                           ? said->text + skip
                           : said->text;

    snprintf(o->why.text, sizeof o->why.text, "%.*s", (int)strcspn(text, "\n"), text);
}

static void run_llm(const struct job *j)
{
    struct outcome *o = j->outcome;
    struct cli cli = *j->of->cli;
    struct said said = {.n = 0}, *before = NULL;

    cli.topo = j->topo;
    kb_topology_info(j->topo, &cli.info);
    cli.opts.operand++;
    cli.opts.n_operands--;
    cli.opts.columns = "us"; /* no causes */
    cli.opts.sqlite = NULL;
    cli.opts.vary.n = 0;
    cli.opts.quiet = cli.opts.quiet || !j->first;
    if (!j->first)
        before = say_into(&said);
    o->code = llm_time(&cli, &o->end_fs);
    if (!j->first)
        say_into(before);
    o->ended = o->code == EXIT_OK;
    o->kernel_fs = o->end_fs;
    o->events = EVENTS_OF_LLM;
    if (o->code == EXIT_INTERRUPTED)
        o->code = EXIT_OK;
    else if (o->code && !j->first)
        keep_reason(o, &cli, &said);
}

static void run_job(const struct job *j)
{
    static void (*const runs[])(const struct job *j) = {run_bench, run_file, run_load, run_llm};

    runs[j->of->scenario](j);
}

void rerun_first(struct rerun *r, struct outcome *o)
{
    kb_options options = {.engine = r->cli->opts.engine, .buffers = cmd_counts_buffers(r->cli)};

    run_job(&(struct job){r, r, r->cli->topo, options, o, true});
}

void rerun_again(const struct rerun *r, const kb_topology *topo, unsigned costs_off,
                 struct outcome *o)
{
    kb_options options = {.engine = r->cli->opts.engine,
                          .costs_off = costs_off,
                          .buffers = cmd_counts_buffers(r->cli)};

    run_job(&(struct job){NULL, r, topo, options, o, false});
}

/* -- what is known of it -------------------------------------------------------------------- */

enum exit_code rerun_code(const struct rerun *r, const struct outcome *o)
{
    if (o->code)
        return o->code;
    if (o->stuck)
        return EXIT_DEADLOCK; /* the caller prints what waits */
    return o->status ? cmd_fail(r->cli, o->status, &o->why) : EXIT_OK;
}

int64_t rerun_judged_fs(const struct rerun *r, const struct outcome *o)
{
    return r->scenario == SCENARIO_BENCH || r->scenario == SCENARIO_LLM ? o->kernel_fs : o->mean_fs;
}

void rerun_note(const struct rerun *r, char *note, size_t size)
{
    const char *const saved[] = {[SCENARIO_BENCH] = "of the time of the kernels",
                                 [SCENARIO_FILE] = "of the mean latency",
                                 [SCENARIO_LOAD] = "of the mean latency",
                                 [SCENARIO_LLM] = llm_times_tokens(&r->cli->opts)
                                                      ? "of the time of a token"
                                                      : "of the time of a prompt"};
    int n = snprintf(note, size, "saved: %s", saved[r->scenario]);

    if (r->scenario == SCENARIO_LOAD)
        snprintf(note + n, size - (size_t)n, ", of one simulation with seed %llu",
                 (unsigned long long)r->cli->opts.seed);
}

void rerun_say_unsteady(const struct rerun *r, const struct outcome *first)
{
    if (r->scenario == SCENARIO_LOAD && first->ended && !first->steady && !r->cli->opts.quiet)
        cmd_note(r->cli,
                 "rate %s: no steady state found: latencies still grow, or --txns is too "
                 "small to tell; savings grow with them",
                 r->cli->opts.rate);
}

void rerun_pack(const struct outcome *o, struct packed *to)
{
    PACKED_PUT(to, *o);
}

void rerun_unpack(struct outcome *o, struct packed *from)
{
    struct run_explained *explained = o->explained;

    PACKED_TAKE(from, *o);
    o->stuck = NULL;
    o->explained = explained;
}

/* -- the dry run ---------------------------------------------------------------------------- */

struct dry_run {
    uint64_t runs;
    unsigned threads;
    double estimated_s;
};
static const struct column dry_columns[] = {
    COLUMN("runs", CELL_COUNT, struct dry_run, runs),
    COLUMN("threads", CELL_COUNT, struct dry_run, threads),
    COLUMN("estimated_s", CELL_FRACTION, struct dry_run, estimated_s),
};

enum exit_code rerun_estimate(struct rerun *r,
                              uint64_t (*most_runs)(void *arg, const struct outcome *first),
                              void *arg)
{
    struct dry_run dry = {.threads = plan_threads(r->cli)};
    struct rows rows = {ROWS_COLUMNS(dry_columns), ROWS_ARRAY(&dry, 1)};
    struct outcome first = {0};
    double begin_s = progress_now_s();

    rerun_first(r, &first);
    enum exit_code code = rerun_code(r, &first);
    kb_bench_free(first.stuck);
    if (code || !first.ended)
        return code ? code : EXIT_INTERRUPTED;
    dry.runs = most_runs(arg, &first);
    dry.estimated_s =
        (progress_now_s() - begin_s) * (1 + ceil((double)(dry.runs - 1) / (double)dry.threads));
    return cmd_print(r->cli, &rows);
}

/* -- what is run again ---------------------------------------------------------------------- */

static enum exit_code find_load(struct rerun *r)
{
    enum exit_code code = pattern_read(&r->asked, r->cli);

    if (code || r->asked.rates.n == 1)
        return code;
    return say(r->cli->program, EXIT_USAGE, "why load takes one rate, --rate has %zu",
               r->asked.rates.n);
}

static enum exit_code check_llm(const struct cli *cli)
{
    const struct opts *o = &cli->opts;

    if (o->n_operands < 2)
        return say(cli->program, EXIT_USAGE, "why llm needs a model");
    if (o->by.factor > 0 && !o->stats && !o->breakdown)
        return EXIT_OK;
    return say(
        cli->program, EXIT_USAGE,
        "why llm needs --by key: a model has many simulations, of which no limit is removed%s",
        o->stats || o->breakdown ? ", and no --stats and --breakdown" : "");
}

static enum exit_code find(struct rerun *r)
{
    const struct opts *o = &r->cli->opts;
    const char *name = o->operand[0];
    bool is_path = bench_file_length(name) == 0 &&
                   (strcmp(name, "-") == 0 || strpbrk(name, "/.") || access(name, F_OK) == 0);
    enum exit_code code;

    if (strcmp(name, "llm") == 0) {
        r->scenario = SCENARIO_LLM;
        return check_llm(r->cli);
    }
    if (strcmp(name, "load") == 0) {
        r->scenario = SCENARIO_LOAD;
        return find_load(r);
    }
    r->scenario = is_path ? SCENARIO_FILE : SCENARIO_BENCH;
    if (strcmp(name, "-") == 0 && !transactions_in_memory())
        return say(r->cli->program, EXIT_USAGE,
                   "why reads its file several times, standard input can be read once");
    if (is_path)
        return EXIT_OK;
    r->bench = bench_find(r->cli, name, &code);
    return code;
}

enum exit_code rerun_find(struct rerun *r, const struct cli *cli)
{
    const struct opts *o = &cli->opts;

    *r = (struct rerun){.cli = cli};
    enum exit_code code = find(r);
    size_t most = r->scenario == SCENARIO_BENCH ? SIZE_MAX : r->scenario == SCENARIO_LLM ? 2 : 1;
    if (!code && o->n_operands > most)
        return say(cli->program, EXIT_USAGE, "why: '%s' is one operand too many", o->operand[most]);
    return code;
}

void rerun_free(struct rerun *r)
{
    for (size_t i = 0; r->words && i < r->bench->n_args; i++)
        free(r->words[i]);
    free(r->words);
    pattern_free(&r->asked);
}
