/*
 * vary.c -- --vary: one command on every machine of a list, and one table of all their rows.
 *
 * Machine `i` is an item of a plan. A worker makes its tables (kb_topology_load()), calls the
 * command with a struct cli of its own, whose `varied` takes the rows, makes text of them, and
 * frees the machine. The main thread takes the texts in order of machines. So neither rows nor
 * messages depend on the number of workers, and no more than `window` machines are in memory. Where
 * kernels run, which may bring a process down, workers are processes; in a program that runs
 * commands itself they are threads, as it must not be copied. The runs of `tune` keep all workers
 * busy, so its machines come one after the other.
 *
 * The command does not know: it writes by cmd_write(), which gives the rows to captured.c. Its
 * messages go to a text of the thread (say_into()), which is printed if the machine fails, with the
 * keys as the name of the program.
 *
 * A machine that fails has one row: its keys, and nothing else; JSON and a table say why under
 * `failed`, as stderr does in any case, for the first SAID_MOST. CSV has no such column: its
 * columns must not depend on what comes later, or parts of --shard could not be joined. What failed
 * before any machine has told the columns waits until one does; in a part of --shard where none
 * does, rows have keys alone (part.h). A database has a run of it, with such a row. A program that
 * runs commands itself hears of the first failure at once.
 *
 * A table is as wide as its widest row, so for FORMAT_TABLE all rows are kept to the end, outside
 * of memory (all_rows.h). A program that runs commands itself gets the rows of each machine as it
 * comes. A database gets a run for each machine, with its hash and YAML; the keys are parameters of
 * that run, and not columns.
 *
 * Memory: machines that are done and wait for their turn hold at most HELD_BYTES, or no other is
 * begun; besides there is one machine for each worker. Example: 64 machines that replay 100,000
 * rows each, as JSON, are 65 MB each: two threads then have two in work and one that waits.
 */
#include "cli/vary/vary.h"
#include "cli/in/transactions.h"
#include "cli/out/memory.h"
#include "cli/out/session.h"
#include "cli/out/scatter.h"
#include "cli/out/stop.h"
#include "cli/part.h"
#include "cli/plan/plan.h"
#include "cli/rows/utilization_rows.h"
#include "cli/vary/vary_run.h"
#include <stdlib.h>
#include <string.h>

enum { WINDOW_PER_THREAD = 8 };

static const double dry_run_s = 0.2;

/* -- all of them ---------------------------------------------------------------------------- */

/* Does the command have runs of its own to keep all processors busy to its end? Then machines come
 * one after the other: side by side, the last one would keep one of them. */
bool vary_spreads(const struct cli *cli)
{
    return cli->opts.command == COMMAND_TUNE;
}

static void make_room(struct vary *v)
{
    v->threads = vary_spreads(v->cli) ? 1 : plan_threads(v->cli);
    v->jobs = vary_spreads(v->cli) ? plan_threads(v->cli) : 1;
    v->window = v->threads * WINDOW_PER_THREAD;
    v->slot = memory_new(v->window, sizeof *v->slot);
    for (uint64_t i = 0; i < v->window; i++)
        sink_open_memory(&v->slot[i].text);
    sink_open_memory(&v->notes);
}

static void free_room(struct vary *v)
{
    for (uint64_t i = 0; v->slot && i < v->window; i++) {
        vary_free_slot(v, &v->slot[i]);
        sink_free(&v->slot[i].text);
    }
    sink_free(&v->notes);
    all_rows_free(&v->all);
    all_rows_free(&v->stats);
    for (size_t k = 0; k < v->n_failures; k++)
        free(v->failure[k].why);
    free(v->failure);
    free(v->slot);
}

static enum exit_code run_machines(struct vary *v)
{
    bool kernels = v->cli->opts.command == COMMAND_RUN || v->cli->opts.command == COMMAND_WHY;
    struct plan machines = {.cli = v->cli,
                            .things = "machines",
                            .n = v->n,
                            .threads = v->threads,
                            .window = v->window,
                            .apart = kernels && !session_here(),
                            .first = v->first,
                            .work = vary_do_machine,
                            .give = vary_give_machine,
                            .is_final = vary_is_final,
                            .pack = vary_pack_machine,
                            .unpack = vary_unpack_machine,
                            .died = vary_machine_died,
                            .full = vary_holds_enough,
                            .arg = v};

    return plan_run(&machines);
}

/* False after a message. */
static bool end_output(struct vary *v)
{
    struct rows table = all_rows_table(&v->all);
    struct origin origin = vary_origin(v);

    sink_bytes(&v->notes, "", 1);
    table.note = *v->notes.buffer ? v->notes.buffer : NULL;
    if (vary_is_streamed(v) && v->begun)
        out_tail(&(struct rows){0}, v->cli->opts.format, v->out);
    else if (table.n_columns > 0)
        out_write(&table, &origin, FORMAT_TABLE, v->out);
    sink_flush(v->out);
    return all_rows_check(&v->all, v->cli) == EXIT_OK;
}

/* What ended the run before its end, if anything did; and what failed. */
static enum exit_code say_end(const struct vary *v)
{
    unsigned long long done = v->n_done, total = v->n, failed = v->n_failed;

    if (v->n_done < v->n && sink_ok(v->out) && !v->failed) {
        cmd_note(v->cli, "%s: %llu of %llu machines complete", stop_word(), done, total);
        return EXIT_INTERRUPTED;
    }
    if (v->failed)
        return cmd_say(v->cli, v->failed, "%llu of %llu machines failed%s", failed, total,
                       failed > VARY_SAID_MOST ? ", the first of them are told above" : "");
    return v->different ? EXIT_DIFFERENT : EXIT_OK;
}

/* Machines that failed are in the rows; what was not run, or could run the next time, is not. */
static enum sink_end how_it_ends(const struct vary *v, enum exit_code code, bool any)
{
    if (cmd_end(code) == SINK_KEEP || (any && v->n_done == v->n && !v->lacks))
        return SINK_KEEP;
    return any || cmd_end(code) == SINK_PARTIAL ? SINK_PARTIAL : SINK_DROP;
}

static enum exit_code write_stats(struct vary *v)
{
    struct rows rows = all_rows_table(&v->stats);

    return stats_file_print(&rows, v->cli, NULL, 0, EXIT_OK);
}

static enum exit_code run_into(struct vary *v, enum sink_end *ended)
{
    const struct cli *cli = v->cli;
    enum exit_code code = sink_open(&v->sink, cli->program, cli->opts.output), closed;

    if (code)
        return code;
    v->out = &v->sink;
    stop_defer(true);
    part_begin(cli, v->out);
    code = run_machines(v);
    if (!code && v->n_done == v->n && cli->opts.shard.n > 0)
        vary_give_bare_part(v);
    bool any = v->n_done > v->n_failed || v->head.n > 0;
    bool whole = code || end_output(v);
    if (!code)
        code = whole ? say_end(v) : EXIT_SYSTEM;
    enum sink_end end = how_it_ends(v, code, any && whole);
    if (end == SINK_KEEP)
        part_end(cli, v->out);
    closed = sink_close(&v->sink, cli->program, end);
    *ended = closed ? SINK_DROP : end;
    if (cli->opts.stats && end != SINK_DROP && !closed)
        closed = write_stats(v);
    stop_defer(false);
    return closed && !(closed == EXIT_INTERRUPTED && code) ? closed : code;
}

/* -- the dry run ---------------------------------------------------------------------------- */

struct dry_run {
    uint64_t machines, at_most;
    unsigned threads;
    double estimated_s;
};

static const struct column dry_columns[] = {
    COLUMN("machines", CELL_COUNT, struct dry_run, machines),
    COLUMN("at_most", CELL_COUNT, struct dry_run, at_most),
    COLUMN("threads", CELL_COUNT, struct dry_run, threads),
    COLUMN("estimated_s", CELL_FRACTION, struct dry_run, estimated_s),
};

/* Machines from everywhere, for a short time, stand for all. */
static enum exit_code run_dry(struct vary *v)
{
    struct dry_run dry = {.machines = v->n, .at_most = VARIANTS_MAX, .threads = v->threads};
    struct rows rows = {ROWS_COLUMNS(dry_columns), ROWS_ARRAY(&dry, 1)};
    double begin_s = progress_now_s();

    v->stride = scatter_stride(v->n);
    v->end_s = begin_s + dry_run_s;
    stop_defer(true);
    enum exit_code code = run_machines(v);
    stop_defer(false);
    if (code || v->failed || v->n_done == 0)
        return code ? code : v->failed ? v->failed : EXIT_INTERRUPTED;
    dry.estimated_s = (progress_now_s() - begin_s) * (double)v->n / (double)v->n_done;
    return cmd_print(v->cli, &rows);
}

/* -- what was asked ------------------------------------------------------------------------- */

/* Options that write something else than one table. */
static enum exit_code check_options(const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    const char *other = o->report          ? "report"
                        : o->race          ? "--race"
                        : o->inspect.n > 0 ? "--inspect"
                        : o->trace         ? "--trace"
                        : o->oplog         ? "--oplog"
                        : o->dump          ? "--dump"
                        : o->fingerprint   ? "--fingerprint"
                                           : NULL;

    if (other)
        return say(cli->program, EXIT_USAGE, "--vary makes one table of many machines, without %s",
                   other);
    if (o->command == COMMAND_REPLAY && strcmp(o->operand[0], "-") == 0 &&
        !transactions_in_memory())
        return say(cli->program, EXIT_USAGE,
                   "--vary reads the file once for each machine, and standard input only once");
    return EXIT_OK;
}

/* Arguments are those of the bench that `run` has, each given once. */
static enum exit_code check_arguments(const struct vary *v)
{
    const struct opts *o = &v->cli->opts;

    for (size_t k = 0; k < v->variants.n_keys; k++) {
        const char *path = v->variants.key[k].path, *name = variants_argument(path);

        if (!name)
            continue;
        if (o->command == COMMAND_TUNE)
            return say(v->cli->program, EXIT_USAGE, "tune takes '%s' without --vary",
                       v->cli->opts.vary.word[k]);
        if (o->command != COMMAND_RUN && o->command != COMMAND_WHY)
            return say(v->cli->program, EXIT_USAGE, "--vary %s is of the benches that run has",
                       path);
        for (size_t i = 1; i < o->n_operands; i++)
            if (strcspn(o->operand[i], "=") == strlen(name) &&
                strncmp(o->operand[i], name, strlen(name)) == 0)
                return say(v->cli->program, EXIT_USAGE, "--vary %s, and '%s', are given both", path,
                           o->operand[i]);
    }
    return EXIT_OK;
}

/* Has any of all machines such links by a key that varies? Columns must be the same in all parts of
 * --shard: so what is asked is not a machine of this one. */
static bool varies_links(const struct variants *v, const char *word)
{
    for (size_t k = 0; k < v->n_keys; k++)
        for (size_t i = 0; i < v->key[k].n; i++)
            if (strcmp(v->key[k].path, "contention.links") == 0 &&
                strcmp(v->key[k].words[i] + v->key[k].value_at, word) == 0)
                return true;
    return false;
}

/* Or have all of them those of the base? */
static bool has_ideal_links(const struct vary *v)
{
    bool varied = false;

    for (size_t k = 0; k < v->variants.n_keys; k++)
        varied = varied || strcmp(v->variants.key[k].path, "contention.links") == 0;
    return varied ? varies_links(&v->variants, "ideal") : strcmp(v->cli->info.links, "ideal") == 0;
}

/* From a base that was read at run time variants are made quickest: a compiled one is read now. */
static enum exit_code make_base(struct vary *v)
{
    kb_topology_source source = {.base = v->cli->topo};
    kb_status status = KB_OK;

    if (v->cli->loaded || session_here())
        v->base = v->cli->topo;
    else
        status = kb_topology_load(&source, &v->own, NULL);
    if (v->own)
        v->base = v->own;
    return status ? cmd_fail(v->cli, status, NULL) : EXIT_OK;
}

enum exit_code vary_run(const struct cli *cli, enum exit_code (*start)(const struct cli *cli),
                        enum sink_end *end)
{
    struct vary *v = memory_new(1, sizeof *v);
    enum exit_code code = check_options(cli);

    v->cli = cli;
    v->start = start;
    v->stride = 1;
    v->all = v->stats =
        (struct all_rows){.names = all_rows_keys, .arg = &v->variants, .key_columns = v->columns};
    if (!code)
        code = variants_read(&v->variants, &cli->opts.vary, cli->program);
    if (!code)
        code = check_arguments(v);
    v->first = plan_first(cli, v->variants.n);
    v->n = plan_count(cli, v->variants.n);
    for (size_t k = 0; k < v->variants.n_keys; k++)
        v->columns[k] = (struct column)COLUMN_BY_HAND(
            v->variants.key[k].path, v->variants.key[k].numbers ? CELL_NUMBER : CELL_TEXT);
    v->routers = !code && varies_links(&v->variants, "router");
    v->ideal = !code && has_ideal_links(v);
    if (!code)
        code = make_base(v);
    if (!code)
        code = stats_file_check(cli);
    if (!code) {
        make_room(v);
        code = cli->opts.dry_run ? run_dry(v) : run_into(v, end);
    }
    if (stop_leaves())
        return code;
    free_room(v);
    variants_free(&v->variants);
    kb_topology_free(v->own);
    free(v);
    return code;
}
