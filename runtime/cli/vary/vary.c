/*
 * vary.c -- --vary: one command on every machine of a list, and one table of all their rows.
 *
 * Machine `i` is an item of a plan. A worker makes its tables (kb_topology_load()), calls the
 * command with a struct cli of its own, whose `varied` takes the rows, makes text of them, and
 * frees the machine. The main thread takes the texts in order of machines. So neither rows nor
 * messages depend on the number of workers, and no more than `window` machines are in memory. Where
 * kernels run, which may bring a process down, workers are processes; in a program that runs
 * commands itself they are threads, as it must not be copied.
 *
 * The command does not know: it writes by cmd_write(), which gives the rows to captured.c. Its
 * messages go to a text of the thread (say_into()), which is printed if the machine fails, with the
 * keys as the name of the program.
 *
 * A machine that fails has one row: its keys, and nothing else; JSON and a table say why under
 * `failed`, as stderr does in any case, for the first SAID_MOST. CSV has no such column: its
 * columns must not depend on what comes later, or parts of --shard could not be joined. What failed
 * before any machine has told the columns waits until one does. A database has no run of it. A
 * program that runs commands itself hears of the first failure at once.
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
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/scatter.h"
#include "cli/out/stop.h"
#include "cli/fail_if.h"
#include "cli/gate.h"
#include "cli/part.h"
#include "cli/plan/plan.h"
#include "cli/rows/utilization_rows.h"
#include "cli/vary/all_rows.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_PER_THREAD = 8,
    SAID_MOST = 100,
    TABLE_BYTES = 32 << 20,
    HELD_BYTES = 64 << 20,
};

static const double dry_run_s = 0.2;

/* One machine in work, or done and not given yet. */
struct slot {
    const kb_topology *topo; /* owned; NULL: freed already */
    kb_info info;
    struct cell keys[VARY_KEYS_MAX];
    struct captured rows, stats;
    struct sink text; /* of the rows */
    struct said said;
    char program[VARY_LABEL_BYTES + 64];
    struct gates gates; /* of its command */
    enum exit_code code;
    size_t held; /* bytes, since it is done */
};

struct vary {
    const struct cli *cli;
    enum exit_code (*start)(const struct cli *cli);
    struct variants variants;
    struct column columns[VARY_KEYS_MAX];
    const kb_topology *base; /* what the machines are variants of; borrowed, or */
    const kb_topology *own;  /* owned: that, if it had to be made; else NULL */
    uint64_t stride;         /* from one machine to the next, modulo their number */
    unsigned threads;
    uint64_t window;
    struct slot *slot;      /* owned; machine i is at i % window */
    atomic_size_t held;     /* bytes, by machines that wait for their turn */
    struct sink sink, *out; /* where rows go; NULL: a dry run */
    struct all_rows all;    /* for a table */
    uint64_t first, n;      /* machines of this part, which is mostly the whole */
    bool begun, any_row;    /* the head is written; a row is */
    uint64_t n_done, n_failed;
    double end_s;               /* of a dry run */
    bool different, lacks;      /* a machine has; one lacked memory, or a file */
    enum exit_code failed;      /* of the first machine that has failed */
    struct all_rows stats;      /* of --stats */
    struct captured columns_of; /* a machine that did not fail: its columns */
    struct failure *failure;    /* owned: those before any that did not, */
    size_t n_failures, failures_room;
};

struct failure {
    uint64_t machine;
    char *why; /* owned */
};

static struct origin origin_of(const struct vary *v)
{
    struct origin origin = cmd_origin(v->cli);

    if (v->cli->opts.breakdown)
        origin.command = "causes";
    return origin;
}

/* -- one machine ---------------------------------------------------------------------------- */

static uint64_t number_of(const struct vary *v, uint64_t i)
{
    return v->first + (uint64_t)((unsigned __int128)i * v->stride % v->n);
}

/* Text that is long is not kept for the next one. */
static void free_slot(struct vary *v, struct slot *s)
{
    captured_free(&s->rows);
    captured_free(&s->stats);
    kb_topology_free(s->topo);
    s->topo = NULL;
    if (s->text.end - s->text.buffer > SINK_BYTES) {
        sink_free(&s->text);
        sink_open_memory(&s->text);
    }
    atomic_fetch_sub(&v->held, s->held);
    s->held = 0;
}

/* What it had may be there still, if another process has taken it. */
static void begin_slot(struct vary *v, struct slot *s, uint64_t i)
{
    char label[VARY_LABEL_BYTES];

    free_slot(v, s);
    variants_label(&v->variants, i, label);
    snprintf(s->program, sizeof s->program, "%.60s%s%s", v->cli->program,
             *v->cli->program ? ": " : "", label);
    all_rows_keys(&v->variants, i, s->keys);
    s->rows =
        (struct captured){.key_columns = v->columns, .keys = s->keys, .n_keys = v->variants.n_keys};
    s->stats = s->rows;
    s->text.at = s->text.buffer;
    s->said = (struct said){.n = 0};
    s->gates = (struct gates){0};
    s->code = EXIT_OK;
}

/* The tables of machine `i`; messages are kept. */
static enum exit_code make_machine(const struct vary *v, struct slot *s, uint64_t i)
{
    const char *words[VARY_KEYS_MAX];
    kb_topology_source source = {.base = v->base, .sets = words, .n_sets = v->variants.n_keys};
    char *messages;
    kb_status status;

    for (size_t k = 0; k < v->variants.n_keys; k++)
        words[k] = variants_word(&v->variants, i, k);
    status = kb_topology_load(&source, &s->topo, &messages);
    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status && messages)
        say_lines("%.*s", (int)strcspn(messages, "") - 1, messages);
    free(messages);
    if (status)
        return status == KB_BAD_REQUEST ? EXIT_USAGE : EXIT_INPUT;
    kb_topology_info(s->topo, &s->info);
    return EXIT_OK;
}

static enum exit_code run_command(const struct vary *v, struct slot *s)
{
    struct cli cli = *v->cli;

    cli.topo = s->topo;
    cli.info = s->info;
    cli.program = s->program;
    cli.gates = &s->gates;
    cli.varied = &s->rows;
    cli.varied_stats = &s->stats;
    cli.sqlite = NULL;
    cli.opts.jobs = 1;
    cli.opts.shard = (struct shard){0}; /* of machines, not of what each has */
    cli.opts.resume = false;
    cli.opts.quiet = true;
    cli.opts.dry_run = false;
    return v->start(&cli);
}

static bool slot_row(void *arg, uint64_t i, struct cell *cells)
{
    return captured_row(arg, i - 1, cells); /* never the first of all: see give_text() */
}

/* Do rows go to a program that runs commands itself? */
static bool is_asked_by_program(const struct vary *v)
{
    return v->sink.session;
}

static bool is_streamed(const struct vary *v)
{
    return v->out && v->cli->opts.format != FORMAT_TABLE && !is_asked_by_program(v);
}

/* From now on it waits for its turn. */
static void hold(struct vary *v, struct slot *s)
{
    s->held = s->rows.rows.room + s->stats.rows.room + (size_t)(s->text.end - s->text.buffer);
    atomic_fetch_add(&v->held, s->held);
}

static bool holds_enough(void *arg)
{
    const struct vary *v = arg;

    return atomic_load(&v->held) > HELD_BYTES + v->window * SINK_BYTES;
}

static void do_machine(void *arg, unsigned thread, uint64_t i)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];

    (void)thread;
    i = number_of(v, i);
    begin_slot(v, s, i);
    say_into(&s->said);
    s->code = make_machine(v, s, i);
    if (!s->code)
        s->code = run_command(v, s);
    say_into(NULL);
    if (is_streamed(v) && s->rows.n_rows > 0) {
        struct rows rows = {.columns = s->rows.columns,
                            .n_columns = s->rows.n_columns,
                            .n_rows = s->rows.n_rows,
                            .row = slot_row,
                            .arg = &s->rows};

        out_rows(&rows, 1, 1 + s->rows.n_rows, v->cli->opts.format, &s->text);
    }
    if (!v->cli->sqlite && s->topo) {
        kb_topology_free(s->topo);
        s->topo = NULL;
    }
    hold(v, s);
}

/* -- as bytes --------------------------------------------------------------------------------- */

static void pack_machine(void *arg, uint64_t i, struct packed *to)
{
    const struct vary *v = arg;
    const struct slot *s = &v->slot[i % v->window];
    size_t n = (size_t)(s->text.at - s->text.buffer);

    PACKED_PUT(to, s->code);
    PACKED_PUT(to, s->gates);
    PACKED_PUT(to, s->said);
    PACKED_PUT(to, n);
    packed_put(to, s->text.buffer, n);
    captured_pack(&s->rows, to);
    captured_pack(&s->stats, to);
}

/* A machine that has run elsewhere; its tables are made again if the database wants them. */
static void unpack_machine(void *arg, uint64_t i, struct packed *from)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];
    size_t n;

    i = number_of(v, i);
    begin_slot(v, s, i);
    if (v->cli->sqlite)
        make_machine(v, s, i);
    PACKED_TAKE(from, s->code);
    PACKED_TAKE(from, s->gates);
    PACKED_TAKE(from, s->said);
    PACKED_TAKE(from, n);
    sink_bytes(&s->text, packed_next(from, n), n);
    captured_unpack(&s->rows, from);
    captured_unpack(&s->stats, from);
    hold(v, s);
}

static void machine_died(void *arg, uint64_t i, enum exit_code code, const char *why,
                         const char *said)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];

    begin_slot(v, s, number_of(v, i));
    s->code = code;
    say_into(&s->said);
    if (*why)
        say(s->program, code, "%s", why);
    if (*said)
        say_lines("%.*s", (int)strlen(said) - (said[strlen(said) - 1] == '\n'), said);
    say_into(NULL);
}

static bool is_complete(const struct slot *s)
{
    return s->code == EXIT_OK || s->code == EXIT_DIFFERENT;
}

/* Was it ended, and not by its machine? */
static bool is_cut(const struct slot *s)
{
    return s->code == EXIT_INTERRUPTED || s->code == EXIT_LIMIT;
}

/* What lacked memory or a file could run the next time. */
static bool is_final(void *arg, uint64_t i)
{
    const struct vary *v = arg;
    const struct slot *s = &v->slot[i % v->window];

    return !is_cut(s) && s->code != EXIT_SYSTEM;
}

/* -- in order ------------------------------------------------------------------------------- */

/* In JSON a comma stands before each row: the first of all has none. */
static void give_text(struct vary *v, const struct slot *s)
{
    size_t n = (size_t)(s->text.at - s->text.buffer), skip = 0;
    struct origin origin = origin_of(v);
    struct rows rows = {.columns = s->rows.columns, .n_columns = s->rows.n_columns};

    if (!v->begun && s->rows.n_columns > 0) {
        out_head(&rows, &origin, v->cli->opts.format, v->out);
        v->begun = true;
    }
    if (n > 0 && !v->any_row && v->cli->opts.format == FORMAT_JSON)
        skip = 1;
    v->any_row = v->any_row || n > 0;
    sink_bytes(v->out, s->text.buffer + skip, n - skip);
    sink_flush(v->out);
}

/* A run of its own in the database, whose parameters are the keys, too. */
static bool own_row(void *arg, uint64_t i, struct cell *cells)
{
    struct captured *c = arg;
    struct cell all[ROW_CELLS_MAX];

    captured_row(c, i, all);
    memcpy(cells, all + c->n_keys, (c->n_columns - c->n_keys) * sizeof *cells);
    return true;
}

static void give_database(const struct vary *v, struct slot *s, uint64_t i)
{
    struct origin origin = origin_of(v);
    size_t n = origin.n_params;
    struct origin_arg *params = memory_new(n + VARY_KEYS_MAX, sizeof *params);
    struct rows rows = {.columns = s->rows.columns + s->rows.n_keys,
                        .n_columns = s->rows.n_columns - s->rows.n_keys,
                        .n_rows = s->rows.n_rows,
                        .row = own_row,
                        .arg = &s->rows};

    memcpy(params, origin.params, n * sizeof *params);
    for (size_t k = 0; k < v->variants.n_keys; k++)
        params[n++] = (struct origin_arg){.name = v->variants.key[k].path,
                                          .value = variants_word(&v->variants, i, k) +
                                                   v->variants.key[k].value_at};
    origin.info = &s->info;
    origin.params = params;
    origin.n_params = n;
    origin.args = s->rows.args;
    origin.n_args = s->rows.n_args;
    out_sqlite_add(v->cli->sqlite, &rows, &origin);
    free(params);
}

static bool machine_row(void *arg, uint64_t i, struct cell *cells)
{
    return captured_row(arg, i, cells);
}

/* Its rows, held against --fail-if, go where all go. */
static void give_rows(struct vary *v, struct slot *s, uint64_t i)
{
    struct rows rows = {.columns = s->rows.columns,
                        .n_columns = s->rows.n_columns,
                        .n_rows = s->rows.n_rows,
                        .row = machine_row,
                        .arg = &s->rows};

    gate_add(v->cli->gates, &s->gates);
    if (!v->cli->opts.breakdown)
        fail_if_judge(v->cli, &rows, 0, s->rows.n_rows);
    if (is_streamed(v))
        give_text(v, s);
    else if (is_asked_by_program(v))
        tables_add_more(&v->sink.session->tables, origin_of(v).command, &rows);
    else
        all_rows_keep(&v->all, number_of(v, i), &s->rows);
    if (s->stats.n_rows > 0)
        all_rows_keep(&v->stats, number_of(v, i), &s->stats);
}

/* -- what failed ------------------------------------------------------------------------------ */

/* The first line that it has said, without the name that it has there. */
static char *reason_of(const struct slot *s)
{
    const char *said = s->said.text;
    size_t len = strlen(s->program);

    if (strncmp(said, s->program, len) == 0 && strncmp(said + len, ": ", 2) == 0)
        said += len + 2;
    return s->said.n > 0 ? memory_part(said, strcspn(said, "\n")) : memory_text("failed");
}

/* The row of a machine that failed, where all rows go. */
static void put_failure(struct vary *v, const struct failure *f)
{
    struct captured row = v->columns_of;
    struct slot s = {.rows = {0}};

    all_rows_keys(&v->variants, f->machine, s.keys);
    row.keys = s.keys;
    captured_failure(&row, v->cli->opts.format == FORMAT_CSV || v->cli->opts.format == FORMAT_MD
                               ? NULL
                               : f->why);
    if (is_streamed(v)) {
        struct rows rows = {.columns = row.columns,
                            .n_columns = row.n_columns,
                            .n_rows = 1,
                            .row = slot_row,
                            .arg = &row};

        sink_open_memory(&s.text);
        out_rows(&rows, 1, 2, v->cli->opts.format, &s.text);
        s.rows = v->columns_of;
        give_text(v, &s);
        sink_free(&s.text);
    } else {
        all_rows_keep(&v->all, f->machine, &row);
    }
    packed_free(&row.rows);
}

/* Those that waited for a machine which tells the columns. */
static void put_failures(struct vary *v, const struct captured *columns)
{
    if (v->columns_of.n_columns > 0)
        return;
    v->columns_of = *columns;
    v->columns_of.rows = (struct packed){0};
    v->columns_of.n_rows = v->columns_of.next = v->columns_of.n_args = 0;
    v->columns_of.args = NULL;
    for (size_t k = 0; k < v->n_failures; k++) {
        put_failure(v, &v->failure[k]);
        free(v->failure[k].why);
    }
    v->n_failures = 0;
}

static void give_failure(struct vary *v, const struct slot *s, uint64_t i)
{
    struct failure f = {.machine = number_of(v, i)};

    v->failed = v->failed ? v->failed : s->code;
    v->lacks = v->lacks || !is_final(v, i);
    if (v->n_failed++ < SAID_MOST && s->said.n > 0)
        say_lines("%.*s", (int)s->said.n - 1, s->said.text);
    if (!v->out || is_asked_by_program(v))
        return;
    f.why = reason_of(s);
    if (v->columns_of.n_columns == 0) {
        v->failure = memory_room(v->failure, v->n_failures, &v->failures_room, sizeof f);
        v->failure[v->n_failures++] = f;
        return;
    }
    put_failure(v, &f);
    free(f.why);
}

/* -- in order, all of them -------------------------------------------------------------------- */

static bool give_machine(void *arg, uint64_t i)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];
    bool complete = is_complete(s), cut = is_cut(s);

    if (cut) {
        free_slot(v, s);
        return false;
    }
    v->n_done++;
    v->different = v->different || s->code == EXIT_DIFFERENT;
    if (complete && v->out && !is_asked_by_program(v))
        put_failures(v, &s->rows);
    if (complete && v->cli->sqlite && v->out)
        give_database(v, s, i);
    if (complete && v->out)
        give_rows(v, s, i);
    else if (!complete)
        give_failure(v, s, i);
    free_slot(v, s);
    if (!v->out)
        return complete && progress_now_s() < v->end_s;
    return (complete || !is_asked_by_program(v)) && sink_ok(v->out) && !all_rows_error(&v->all);
}

/* -- all of them ---------------------------------------------------------------------------- */

static void make_room(struct vary *v)
{
    v->threads = plan_threads(v->cli);
    v->window = v->threads * WINDOW_PER_THREAD;
    v->slot = memory_new(v->window, sizeof *v->slot);
    for (uint64_t i = 0; i < v->window; i++)
        sink_open_memory(&v->slot[i].text);
}

static void free_room(struct vary *v)
{
    for (uint64_t i = 0; v->slot && i < v->window; i++) {
        free_slot(v, &v->slot[i]);
        sink_free(&v->slot[i].text);
    }
    all_rows_free(&v->all);
    all_rows_free(&v->stats);
    for (size_t k = 0; k < v->n_failures; k++)
        free(v->failure[k].why);
    free(v->failure);
    free(v->slot);
}

static enum exit_code run_machines(struct vary *v)
{
    bool kernels = v->cli->opts.command == COMMAND_RUN;
    struct plan machines = {.cli = v->cli,
                            .things = "machines",
                            .n = v->n,
                            .threads = v->threads,
                            .window = v->window,
                            .apart = kernels && !session_here(),
                            .first = v->first,
                            .work = do_machine,
                            .give = give_machine,
                            .is_final = is_final,
                            .pack = pack_machine,
                            .unpack = unpack_machine,
                            .died = machine_died,
                            .full = holds_enough,
                            .arg = v};

    return plan_run(&machines);
}

/* False after a message. */
static bool end_output(struct vary *v)
{
    struct rows table = all_rows_table(&v->all);
    struct origin origin = origin_of(v);

    if (is_streamed(v) && v->begun)
        out_tail(&(struct rows){0}, v->cli->opts.format, v->out);
    else if (table.n_columns > 0)
        out_write(&table, &origin, FORMAT_TABLE, v->out);
    sink_flush(v->out);
    if (all_rows_error(&v->all))
        cmd_say(v->cli, EXIT_SYSTEM, "cannot keep rows in a temporary file: %s",
                strerror(all_rows_error(&v->all)));
    return !all_rows_error(&v->all);
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
                       failed > SAID_MOST ? ", the first of them are told above" : "");
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

static enum exit_code run_into(struct vary *v)
{
    const struct cli *cli = v->cli;
    enum exit_code code = sink_open(&v->sink, cli->program, cli->opts.output), closed;

    if (code)
        return code;
    v->out = &v->sink;
    stop_defer(true);
    part_begin(cli, v->out);
    code = run_machines(v);
    bool any = v->n_done > v->n_failed;
    bool whole = code || end_output(v);
    if (!code)
        code = whole ? say_end(v) : EXIT_SYSTEM;
    enum sink_end end = how_it_ends(v, code, any && whole);
    if (end == SINK_KEEP)
        part_end(cli, v->out);
    closed = sink_close(&v->sink, cli->program, end);
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

static bool dry_row(void *arg, uint64_t i, struct cell *cells)
{
    (void)i;
    record_cells(dry_columns, sizeof dry_columns / sizeof *dry_columns, arg, cells);
    return true;
}

/* Machines from everywhere, for a short time, stand for all. */
static enum exit_code run_dry(struct vary *v)
{
    struct dry_run dry = {.machines = v->n, .at_most = VARIANTS_MAX, .threads = v->threads};
    struct rows rows = {ROWS_COLUMNS(dry_columns), .n_rows = 1, .row = dry_row, .arg = &dry};
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
                        bool *kept)
{
    struct vary *v = memory_new(1, sizeof *v);
    enum exit_code code = check_options(cli);

    /* The memory of one machine serves the next, in place of pages that the system clears again. */
    mallopt(M_MMAP_THRESHOLD, TABLE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * TABLE_BYTES);
    v->cli = cli;
    v->start = start;
    v->stride = 1;
    v->all.variants = &v->variants;
    v->all.key_columns = v->columns;
    if (!code)
        code = variants_read(&v->variants, &cli->opts.vary, cli->program);
    v->first = plan_first(cli, v->variants.n);
    v->n = plan_count(cli, v->variants.n);
    for (size_t k = 0; k < v->variants.n_keys; k++)
        v->columns[k] = (struct column)COLUMN_BY_HAND(
            v->variants.key[k].path, v->variants.key[k].numbers ? CELL_NUMBER : CELL_TEXT);
    if (!code)
        code = make_base(v);
    v->stats.variants = v->all.variants;
    v->stats.key_columns = v->all.key_columns;
    if (!code)
        code = stats_file_check(cli);
    if (!code) {
        make_room(v);
        code = cli->opts.dry_run ? run_dry(v) : run_into(v);
    }
    *kept = v->n_done > 0;
    if (stop_leaves())
        return code;
    free_room(v);
    variants_free(&v->variants);
    kb_topology_free(v->own);
    free(v);
    return code;
}
