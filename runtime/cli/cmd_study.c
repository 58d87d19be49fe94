/*
 * cmd_study.c -- `study FILE`: variants of a machine, a table of what each gains, binds and costs.
 *
 * The order of the work: study/study_read.c reads the file, study/study_machine.c looks at what it
 * says, study/study_run.c runs all commands on all variants, study/study_search.c says which come
 * next, if there is a search, and study/study_rows.c makes the table. What ran is printed in any
 * case: the exit code tells of a variant that failed, or of Ctrl-C. What lacked memory or a file
 * could run the next time, so the table without it is a part, as after Ctrl-C.
 *
 * A part of --shard is no table: its file is the journal of its runs, and the same study with
 * --resume takes them from there.
 */
#include "cli/out/memory.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "cli/study/study_rows.h"
#include "cli/study/study_run.h"
#include "cli/study/study_search.h"
#include <stdlib.h>

struct work {
    struct study study;
    struct cli cli; /* rows and pages are of its base machine */
    struct study_results results;
    struct study_variant named; /* of the row of --breakdown or --stats that is printed */
};

/* -- rows that explain its runs --------------------------------------------------------------- */

static const struct column names[] = {COLUMN_BY_HAND("variant", CELL_TEXT),
                                      COLUMN_BY_HAND("command", CELL_TEXT)};

static void name_run(void *arg, uint64_t i, struct cell *cells)
{
    struct work *w = arg;
    const struct study *s = &w->study;

    study_variant(s, i / s->n_commands, &w->named);
    cells[0] = cell_text(w->named.name);
    cells[1] = cell_text(s->command[i % s->n_commands].line);
}

/* -- the study -------------------------------------------------------------------------------- */

static enum exit_code run_all(struct work *w)
{
    enum exit_code code = study_run(&w->study, 0, &w->results);

    for (uint64_t from = study_n_variants(&w->study);
         !code && !w->results.lacks && study_search_next(&w->study, &w->results);
         from = study_n_variants(&w->study))
        code = study_run(&w->study, from, &w->results);
    return code;
}

static enum exit_code study_into(void *arg, struct sink *s)
{
    struct work *w = arg;
    const struct cli *cli = &w->cli;
    enum exit_code code = run_all(w);

    if (code && code != EXIT_INTERRUPTED)
        return code;
    struct study_rows *rows = memory_new(1, sizeof *rows);
    struct rows table = study_rows(rows, &w->study, &w->results);
    if (cli->report)
        cli->page->machine(cli->report, cli->topo);
    enum exit_code printed = EXIT_OK;
    if (cli->opts.breakdown)
        printed = explained_print(&w->results.explained, s);
    else
        cmd_write(cli, &table, s);
    sink_flush(s);
    if (code)
        cmd_note(cli, "%s: %zu of %llu runs complete", stop_word(), rows->n,
                 (unsigned long long)w->results.n);
    study_rows_free(rows);
    free(rows);
    if (printed)
        return printed;
    return code || w->results.lacks ? EXIT_INTERRUPTED : EXIT_OK; /* the rows stay */
}

/* Only its journal is written. */
static enum exit_code run_part(struct work *w)
{
    const struct cli *cli = w->study.cli;

    if (w->study.n_searched > 0)
        return cmd_say(cli, EXIT_USAGE, "a search goes by all results: it takes no --shard");
    stop_defer(true);
    enum exit_code code = study_run(&w->study, 0, &w->results);
    stop_defer(false);
    if (code == EXIT_INTERRUPTED)
        cmd_note(cli, "%s: the same command goes on from here", stop_word());
    return code;
}

enum exit_code cmd_study(const struct cli *cli)
{
    if (session_here()) /* it starts processes, which a program with threads must not */
        return say(cli->program, EXIT_USAGE, "study is for the command line only");
    struct work *w = memory_new(1, sizeof *w);
    enum exit_code code = study_read(&w->study, cli, cli->opts.operand[0]);

    if (!code)
        code = study_check(&w->study);
    if (!code) {
        w->cli = *cli;
        w->cli.topo = w->study.base;
        w->cli.info = w->study.info;
        study_search_begin(&w->study);
        explained_begin(&w->results.explained, &w->cli, names, sizeof names / sizeof *names,
                        name_run, w);
        code = stats_file_check(cli);
    }
    if (!code && cli->opts.shard.n)
        code = run_part(w);
    else if (!code)
        code = explained_write(&w->results.explained, cmd_output(cli, study_into, w));
    if (!code || w->results.lacks)
        code = w->results.lacks ? EXIT_SYSTEM : w->results.failed;
    study_results_free(&w->results);
    study_free(&w->study);
    free(w);
    return code;
}
