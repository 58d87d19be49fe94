/*
 * cmd_study.c -- `study FILE`: variants of a machine, a table of what each gains, binds and costs.
 *
 * The order of the work: study/study_read.c reads the file, study/study_machine.c makes every
 * machine once, so that a mistake in the last variant is told before the first has run,
 * study/study_run.c runs all commands on all of them, and study/study_rows.c makes the table. What
 * ran is printed in any case: the exit code tells of a variant that failed, or of Ctrl-C. What
 * lacked memory or a file could run the next time, so the table without it is a part, as after
 * Ctrl-C.
 */
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "cli/study/study_rows.h"
#include <stdlib.h>

struct work {
    struct study study;
    struct study_outcome *outcomes; /* owned */
    enum exit_code failed;          /* the code of a variant that failed */
};

static enum exit_code study_into(void *arg, struct sink *s)
{
    struct work *w = arg;
    struct cli cli = *w->study.cli;
    struct study_rows rows;
    enum exit_code code = study_run(&w->study, w->outcomes);
    struct rows table = study_rows(&rows, &w->study, w->outcomes);
    size_t all = w->study.n_variants * w->study.n_commands;

    cli.topo = w->study.base; /* rows and pages are of that machine */
    cli.info = w->study.info;
    if (cli.report)
        cli.page->machine(cli.report, cli.topo);
    cmd_write(&cli, &table, s);
    sink_flush(s);
    study_rows_free(&rows);
    if (code == EXIT_INTERRUPTED) {
        cmd_note(&cli, "%s: %zu of %zu runs complete", stop_word(), rows.n, all);
        return code;
    }
    w->failed = code;
    return code == EXIT_SYSTEM ? EXIT_INTERRUPTED : EXIT_OK; /* the rows stay */
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
        w->outcomes = memory_new(w->study.n_variants * w->study.n_commands, sizeof *w->outcomes);
        code = cmd_output(cli, study_into, w);
    }
    if (!code || w->failed == EXIT_SYSTEM)
        code = w->failed;
    free(w->outcomes);
    study_free(&w->study);
    free(w);
    return code;
}
