/*
 * vary_give.c -- the rows of --vary, machine by machine and in order; those of machines that
 * failed, too.
 */
#include "cli/vary/vary_run.h"
#include "cli/fail_if.h"
#include "cli/out/memory.h"
#include "cli/out/progress.h"
#include "cli/out/session.h"
#include "cli/part.h"
#include <stdlib.h>
#include <string.h>

struct origin vary_origin(const struct vary *v)
{
    struct origin origin = cmd_origin(v->cli);

    if (v->cli->opts.breakdown)
        origin.command = "causes";
    return origin;
}

/* -- in order ------------------------------------------------------------------------------- */

/* In JSON a comma stands before each row: the first of all has none. */
static void give_text(struct vary *v, const struct slot *s)
{
    size_t n = (size_t)(s->text.at - s->text.buffer), skip = 0;
    struct origin origin = vary_origin(v);
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

static void give_database(const struct vary *v, struct captured *c, const kb_info *info,
                          uint64_t machine)
{
    struct origin origin = vary_origin(v);
    size_t n = origin.n_params;
    struct origin_arg *params = memory_new(n + VARY_KEYS_MAX, sizeof *params);
    struct rows rows = {.columns = c->columns + c->n_keys,
                        .n_columns = c->n_columns - c->n_keys,
                        .n_rows = c->n_rows,
                        .row = own_row,
                        .arg = c};

    memcpy(params, origin.params, n * sizeof *params);
    for (size_t k = 0; k < v->variants.n_keys; k++)
        params[n++] = (struct origin_arg){.name = v->variants.key[k].path,
                                          .value = variants_word(&v->variants, machine, k) +
                                                   v->variants.key[k].value_at};
    origin.info = info;
    origin.params = params;
    origin.n_params = n;
    origin.args = c->args;
    origin.n_args = c->n_args;
    out_sqlite_add(v->cli->sqlite, &rows, &origin);
    free(params);
}

/* Rows of a machine by the columns of the first: by name, as the head is written already. */
struct fitted {
    const struct wide *head;
    struct captured *rows;
    uint8_t numbers[ROW_CELLS_MAX];
    uint64_t before; /* rows that are not there, of vary_slot_row() */
};

static bool fitted_row(void *arg, uint64_t i, struct cell *cells)
{
    struct fitted *f = arg;
    struct cell own[ROW_CELLS_MAX];

    captured_row(f->rows, i - f->before, own);
    wide_row(f->head, own, f->numbers, f->rows->n_columns, cells);
    return true;
}

static struct rows fitted_rows(struct fitted *f)
{
    wide_numbers(f->head, f->rows->columns, f->rows->n_columns, f->numbers);
    return (struct rows){.columns = f->head->column,
                         .n_columns = f->head->n,
                         .n_rows = f->rows->n_rows,
                         .row = fitted_row,
                         .arg = f};
}

/* Text of another head than the first machine's is made again; JSON has names in each row. */
static void fit_text(const struct vary *v, struct slot *s)
{
    struct fitted f = {.head = &v->head, .rows = &s->rows, .before = 1};
    struct rows rows = fitted_rows(&f);

    if ((v->cli->opts.format != FORMAT_CSV && v->cli->opts.format != FORMAT_MD) ||
        wide_is(&v->head, s->rows.columns, s->rows.n_columns))
        return;
    s->text.at = s->text.buffer;
    out_rows(&rows, 1, 1 + s->rows.n_rows, v->cli->opts.format, &s->text);
}

static bool machine_row(void *arg, uint64_t i, struct cell *cells)
{
    return captured_row(arg, i, cells);
}

/* "best: run softmax N=320 --set cube.hbm.bw_gbs=128": the note of its rows, and its keys. */
static void keep_note(struct vary *v, const struct slot *s, uint64_t i)
{
    if (!s->rows.note || !vary_spreads(v->cli))
        return;
    if (v->notes.at > v->notes.buffer)
        sink_text(&v->notes, "\n");
    sink_text(&v->notes, s->rows.note);
    for (size_t k = 0; k < v->variants.n_keys; k++) {
        sink_text(&v->notes, " --set ");
        sink_text(&v->notes, variants_word(&v->variants, vary_number(v, i), k));
    }
}

/* Its rows, held against --fail-if, go where all go. */
static void give_rows(struct vary *v, struct slot *s, uint64_t i)
{
    struct rows rows = {.columns = s->rows.columns,
                        .n_columns = s->rows.n_columns,
                        .n_rows = s->rows.n_rows,
                        .row = machine_row,
                        .arg = &s->rows};
    struct fitted fitted = {.head = &v->head, .rows = &s->rows};

    gate_add(v->cli->gates, &s->gates);
    if (!v->cli->opts.breakdown)
        fail_if_judge(v->cli, &rows, 0, s->rows.n_rows);
    if (vary_is_streamed(v)) {
        fit_text(v, s);
        give_text(v, s);
    } else if (vary_is_asked_by_program(v)) {
        rows = fitted_rows(&fitted);
        tables_add_more(&v->sink.session->tables, vary_origin(v).command, &rows);
    } else {
        all_rows_keep(&v->all, vary_number(v, i), &s->rows);
    }
    keep_note(v, s, i);
    if (s->stats.n_rows > 0)
        all_rows_keep(&v->stats, vary_number(v, i), &s->stats);
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

/* The row of a machine that failed: its keys, and `why` if it is not NULL. Its rows are owned. */
static struct captured failed_row(const struct vary *v, const struct cell *keys, const char *why)
{
    struct captured row = {.key_columns = v->columns,
                           .keys = keys,
                           .n_keys = v->variants.n_keys,
                           .n_columns = v->head.n};

    memcpy(row.columns, v->head.column, v->head.n * sizeof *row.columns);
    captured_failure(&row, why);
    return row;
}

/* A run of its own in the database, with its hash and YAML if there is such a machine. */
static void put_failed_run(const struct vary *v, const struct failure *f, const struct cell *keys)
{
    struct captured row = failed_row(v, keys, f->why);
    struct slot s = {0};
    kb_info info = v->cli->info;

    info.hash = info.config = "";
    say_into(&s.said); /* it has been told */
    if (!vary_make_machine(v, &s, f->machine))
        info = s.info;
    say_into(NULL);
    give_database(v, &row, &info, f->machine);
    kb_topology_free(s.topo);
    packed_free(&row.rows);
}

/* Where all rows go. */
static void put_failure(struct vary *v, const struct failure *f)
{
    bool says_why = v->cli->opts.format != FORMAT_CSV && v->cli->opts.format != FORMAT_MD;
    struct slot s = {.rows = {0}};

    all_rows_keys(&v->variants, f->machine, s.keys);
    s.rows = failed_row(v, s.keys, says_why ? f->why : NULL);
    if (vary_is_streamed(v)) {
        struct rows rows = {.columns = s.rows.columns,
                            .n_columns = s.rows.n_columns,
                            .n_rows = 1,
                            .row = vary_slot_row,
                            .arg = &s.rows};

        sink_open_memory(&s.text);
        out_rows(&rows, 1, 2, v->cli->opts.format, &s.text);
        give_text(v, &s);
        sink_free(&s.text);
    } else {
        all_rows_keep(&v->all, f->machine, &s.rows);
    }
    packed_free(&s.rows.rows);
    if (v->cli->sqlite)
        put_failed_run(v, f, s.keys);
}

/* Those that waited for the head: the columns of the first machine that did not fail. */
static void put_failures(struct vary *v, const struct column *columns, size_t n)
{
    uint8_t numbers[ROW_CELLS_MAX];

    wide_add(&v->head, columns, n, numbers);
    for (size_t k = 0; k < v->n_failures; k++) {
        put_failure(v, &v->failure[k]);
        free(v->failure[k].why);
    }
    v->n_failures = 0;
}

void vary_give_bare_part(struct vary *v)
{
    if (v->head.n > 0 || v->n_failures == 0)
        return;
    part_bare(v->out);
    put_failures(v, v->columns, v->variants.n_keys);
}

static void give_failure(struct vary *v, const struct slot *s, uint64_t i)
{
    struct failure f = {.machine = vary_number(v, i)};

    v->failed = v->failed ? v->failed : s->code;
    v->lacks = v->lacks || !vary_is_final(v, i);
    if (v->n_failed++ < VARY_SAID_MOST && s->said.n > 0)
        say_lines("%.*s", (int)s->said.n - 1, s->said.text);
    if (!v->out || vary_is_asked_by_program(v))
        return;
    f.why = reason_of(s);
    if (v->head.n == 0) {
        v->failure = memory_room(v->failure, v->n_failures, &v->failures_room, sizeof f);
        v->failure[v->n_failures++] = f;
        return;
    }
    put_failure(v, &f);
    free(f.why);
}

/* -- in order, all of them -------------------------------------------------------------------- */

bool vary_give_machine(void *arg, uint64_t i)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];
    bool complete = vary_is_complete(s), cut = vary_is_cut(s);

    if (cut) {
        vary_free_slot(v, s);
        return false;
    }
    v->n_done++;
    v->different = v->different || s->code == EXIT_DIFFERENT;
    if (complete && v->out && v->head.n == 0)
        put_failures(v, s->rows.columns, s->rows.n_columns);
    if (complete && v->cli->sqlite && v->out)
        give_database(v, &s->rows, &s->info, vary_number(v, i));
    if (complete && v->out)
        give_rows(v, s, i);
    else if (!complete)
        give_failure(v, s, i);
    vary_free_slot(v, s);
    if (!v->out)
        return complete && progress_now_s() < v->end_s;
    return (complete || !vary_is_asked_by_program(v)) && sink_ok(v->out) &&
           !all_rows_error(&v->all);
}
