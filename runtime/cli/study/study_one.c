/*
 * study_one.c -- one command on one variant of a study, in this process.
 *
 * The command runs as ever, and tells a page of a report, which keeps three facts of its rows and
 * simulation and writes nothing: how long it took, what was busiest, and which algorithm was taken.
 * The time is that of `why`: of a bench from the first start of a kernel to the last end, else the
 * mean latency over all rows.
 */
#include "base/larger.h"
#include "cli/gate.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/plan/journal.h"
#include "cli/rows/breakdown_rows.h"
#include "cli/rows/place_text.h"
#include "cli/study/study.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of the column; SIZE_MAX: there is none. */
static size_t find_column(const struct rows *rows, const char *name)
{
    for (size_t c = 0; c < rows->n_columns; c++)
        if (strcmp(rows->columns[c].name, name) == 0)
            return c;
    return SIZE_MAX;
}

/* What a run is asked for. */
struct collected {
    struct study_outcome *outcome;
    const struct explained *explained;
    struct run_explained *run;
};

/* Pages are handed through commands as a struct report, of which they know nothing. */
static struct collected *collected(struct report *page)
{
    return (struct collected *)(void *)page;
}

static struct study_outcome *outcome(struct report *page)
{
    return collected(page)->outcome;
}

static void take_rows(struct report *page, const struct rows *rows, const struct origin *origin)
{
    static const char *const names[] = {"kernel_ns", "mean_ns", "actual_ns"};
    struct study_outcome *out = outcome(page);
    struct cell cells[ROW_CELLS_MAX];
    size_t algorithm = find_column(rows, "algorithm"), start = find_column(rows, "start_ns");
    size_t time = SIZE_MAX;
    int64_t first_fs = INT64_MAX, last_fs = 0;
    double sum = 0, n = 0;

    (void)origin;
    for (size_t i = 0; i < 3 && time == SIZE_MAX; i++)
        time = find_column(rows, names[i]);
    for (uint64_t i = 0; i < rows->n_rows && time != SIZE_MAX; i++) {
        if (!rows_cells(rows, i, cells) || cells[time].type != CELL_NS)
            continue;
        sum += (double)cells[time].fs;
        n++;
        if (start != SIZE_MAX && cells[start].type == CELL_NS) {
            first_fs = cells[start].fs < first_fs ? cells[start].fs : first_fs;
            last_fs = larger(last_fs, cells[start].fs + cells[time].fs);
        }
        if (algorithm != SIZE_MAX && cells[algorithm].type == CELL_TEXT)
            snprintf(out->algorithm, sizeof out->algorithm, "%s", cells[algorithm].text);
    }
    if (n == 0)
        return;
    bool is_bench = strcmp(rows->columns[time].name, "kernel_ns") == 0;
    out->time_fs = is_bench ? last_fs - first_fs : (int64_t)llround(sum / n);
    snprintf(out->metric, sizeof out->metric, "%s", is_bench ? "kernel_ns" : "mean_ns");
    out->state = STUDY_OK;
}

/* The first of the busiest, of whose channels only --stats tells: their order in the machine is
 * always the same. */
static void rank(struct study_outcome *out, const kb_utilization *use)
{
    if (use->servers == 0 || use->kind == KB_AT_VC || use->util_pct <= out->bound_pct)
        return;
    out->bound_pct = use->util_pct;
    place_text(use->name, out->bound);
}

/* The last simulation that is shown counts. */
static void take_sim(struct report *page, const kb_sim *sim, const char *when)
{
    struct study_outcome *out = outcome(page);
    struct utilization_rows used = {0};

    (void)when;
    out->bound_pct = 0;
    out->bound[0] = '\0';
    utilization_rows_keep(&used, sim);
    if (used.failed)
        memory_lacks();
    for (size_t i = 0; i < used.n; i++)
        rank(out, &used.use[i]);
    explained_take_use(collected(page)->explained, &used, collected(page)->run);
    utilization_rows_free(&used);
}

static void take_causes(struct report *page, const struct rows *causes, const struct rows *sums)
{
    (void)sums;
    explained_take_causes(collected(page)->explained, causes, collected(page)->run);
}

static void take_note(struct report *page, const char *line)
{
    (void)page;
    (void)line;
}

static void take_deadlock(struct report *page, const struct rows *rows, const struct origin *origin,
                          const char *why)
{
    (void)rows;
    (void)origin;
    (void)why;
    outcome(page)->state = STUDY_FAILED;
}

static enum exit_code write_nothing(struct report *page, struct sink *s)
{
    (void)page;
    (void)s;
    return EXIT_OK;
}

/* With causes only if they are wanted: commands watch their runs for them. */
static struct page page_of(const struct study *s)
{
    return (struct page){.note = take_note,
                         .rows = take_rows,
                         .breakdown = s->cli->opts.breakdown ? take_causes : NULL,
                         .sim = take_sim,
                         .deadlock = take_deadlock,
                         .write = write_nothing};
}

static enum exit_code start(const struct cli *cli)
{
    switch (cli->opts.command) {
    case COMMAND_PROBE:
        return cmd_probe(cli);
    case COMMAND_REPLAY:
        return cmd_replay(cli);
    case COMMAND_SWEEP:
        return cmd_sweep(cli);
    case COMMAND_LOAD:
        return cmd_load(cli);
    default:
        return cmd_run(cli);
    }
}

/* Gives the bench the words, " M=64 N=32". */
static void give_arguments(struct opts *o, char *words)
{
    for (char *word; (word = strsep(&words, " "));)
        if (*word)
            opts_give_argument(o, word);
}

void study_run_one(const struct study *s, uint64_t variant, size_t command,
                   struct study_outcome *out, const struct explained *e, struct run_explained *run)
{
    struct collected all = {out, e, run};
    struct page page = page_of(s);
    const struct study_command *c = &s->command[command];
    struct gates gates = {0};
    struct journal journal = {0};
    struct cli cli = {.program = s->cli->program,
                      .gates = &gates,
                      .journal = &journal,
                      .topo = study_machine(s, variant),
                      .report = (struct report *)(void *)&all,
                      .page = &page,
                      .wants_use = s->cli->opts.stats};
    enum exit_code code;
    char *arguments;

    *out = (struct study_outcome){.state = STUDY_FAILED, .code = EXIT_INPUT};
    if (!cli.topo)
        return;
    kb_topology_info(cli.topo, &cli.info);
    code = opts_read(&cli.opts, cli.program, c->n_words, c->word);
    arguments = study_arguments(s, variant, command);
    give_arguments(&cli.opts, arguments);
    cli.opts.quiet = true;
    cli.opts.jobs = 1;
    cli.opts.top = breakdown_top(&s->cli->opts);
    out->state = STUDY_WAITS;
    if (!code)
        code = start(&cli);
    if (!code && out->state == STUDY_WAITS)
        code = say(cli.program, EXIT_USAGE, "the command has no rows on this machine");
    code = gate_end(&cli, code);
    out->code = (int)code;
    if (code || out->state != STUDY_OK)
        out->state = STUDY_FAILED;
    opts_free(&cli.opts);
    free(arguments);
    kb_topology_free(cli.topo);
}
