/*
 * explained.c -- --breakdown and --stats of a command that runs several times.
 *
 * One run has one breakdown and one table of utilization. `why` has a run for each limit, `load`
 * for each rate, a study for each variant and command: the same tables then have a column more, or
 * two, that name the run. So rows of each are kept as --vary keeps those of a machine (captured.h,
 * all_rows.h), outside of memory.
 *
 * Example: `why gemm --breakdown` prints the rows of `run gemm --breakdown` eleven times, with
 * `removed` before them: none, memory_gbs, link_gbs and so on.
 */
#include "cli/vary/explained.h"
#include "cli/out/memory.h"
#include "cli/rows/breakdown_rows.h"
#include <stdlib.h>
#include <string.h>

void explained_begin(struct explained *e, const struct cli *cli, const struct column *columns,
                     size_t n_columns, all_rows_names *names, void *arg)
{
    struct all_rows all = {.names = names, .arg = arg, .key_columns = columns, .n_keys = n_columns};

    *e = (struct explained){.cli = cli, .causes = all, .stats = all};
}

void explained_free(struct explained *e)
{
    all_rows_free(&e->causes);
    all_rows_free(&e->stats);
    free(e->note);
}

kb_status explained_watch(const struct explained *e, kb_sim *sim, struct run_explained *run,
                          kb_error *why)
{
    return e->cli->opts.breakdown ? kb_breakdown_new(sim, &run->breakdown, why) : KB_OK;
}

/* Takes what cmd_write_as() is given. */
static enum exit_code take_causes(const struct explained *e, struct run_explained *run)
{
    struct cli cli = *e->cli;

    cli.varied = &run->causes;
    return breakdown_rows_print(&cli, run->breakdown, NULL);
}

static struct captured nothing(const struct explained *e)
{
    return (struct captured){.key_columns = e->causes.key_columns, .n_keys = e->causes.n_keys};
}

void explained_take_use(const struct explained *e, struct utilization_rows *used,
                        struct run_explained *run)
{
    struct rows rows = utilization_rows_table(used);

    if (!e->cli->opts.stats)
        return;
    captured_free(&run->stats);
    run->stats = nothing(e);
    captured_rows(&run->stats, &rows, NULL, 0);
}

void explained_take_causes(const struct explained *e, const struct rows *causes,
                           struct run_explained *run)
{
    captured_free(&run->causes);
    run->causes = nothing(e);
    captured_rows(&run->causes, causes, NULL, 0);
}

enum exit_code explained_take(const struct explained *e, const kb_sim *sim,
                              struct run_explained *run)
{
    struct utilization_rows used = {0};
    enum exit_code code = EXIT_OK;

    run->causes = run->stats = nothing(e);
    if (run->breakdown)
        code = take_causes(e, run);
    kb_breakdown_free(run->breakdown);
    run->breakdown = NULL;
    utilization_rows_take(&used, e->cli, sim);
    if (!code && used.failed)
        code = cmd_fail(e->cli, KB_NO_MEMORY, NULL);
    if (!code)
        explained_take_use(e, &used, run);
    utilization_rows_free(&used);
    return code;
}

void explained_pack(const struct run_explained *run, struct packed *to)
{
    captured_pack(&run->causes, to);
    captured_pack(&run->stats, to);
}

void explained_unpack(const struct explained *e, struct run_explained *run, struct packed *from)
{
    explained_drop(run);
    run->causes = run->stats = nothing(e);
    captured_unpack(&run->causes, from);
    captured_unpack(&run->stats, from);
}

void explained_give(struct explained *e, uint64_t i, struct run_explained *run)
{
    if (run->causes.n_rows > 0) {
        all_rows_keep(&e->causes, i, &run->causes);
        if (e->n++ == 0 && run->causes.note)
            e->note = memory_text(run->causes.note);
    }
    if (run->stats.n_rows > 0)
        all_rows_keep(&e->stats, i, &run->stats);
    explained_drop(run);
}

void explained_drop(struct run_explained *run)
{
    kb_breakdown_free(run->breakdown);
    captured_free(&run->causes);
    captured_free(&run->stats);
    run->breakdown = NULL;
}

/* How many parts of a run are not shown is of that run: of several only its first line holds. */
static void make_note(struct explained *e)
{
    if (e->n > 1 && e->note)
        e->note[strcspn(e->note, "\n")] = '\0';
}

enum exit_code explained_print(struct explained *e, struct sink *s)
{
    struct rows rows = all_rows_table(&e->causes);

    make_note(e);
    rows.note = e->note;
    if (rows.n_columns > 0)
        cmd_write_as(e->cli, "causes", &rows, s);
    return all_rows_check(&e->causes, e->cli);
}

enum exit_code explained_write(struct explained *e, enum exit_code code)
{
    struct rows rows = all_rows_table(&e->stats);

    if (!e->cli->opts.stats || cmd_end(code) == SINK_DROP)
        return code;
    enum exit_code lost = all_rows_check(&e->stats, e->cli);
    return lost ? lost : stats_file_print(&rows, e->cli, NULL, 0, code);
}
