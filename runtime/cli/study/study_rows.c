/*
 * study_rows.c -- the table of a study: what each variant gains, what binds it, what it costs.
 *
 * gain_pct is the share of the base machine's time that a variant saves: 25.5 of 100 ns leaves 74.5
 * ns; below 0 it is slower. The best comes first, equal ones in the order of the file, and what
 * failed last; of several commands each has its own part of the table.
 *
 * A variant is on the Pareto front if no other costs as little and gains as much, and is better in
 * one of the two. The base machine costs nothing and gains nothing, so what costs and gains nothing
 * is never on it alone. Sorted by gain, a variant is on the front if it is cheaper than all before
 * it: one pass.
 */
#include "cli/study/study_rows.h"
#include "base/text.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row. */
struct row {
    const char *variant, *command, *metric, *bound, *algorithm;
    int64_t time_fs;
    double gain, bound_pct, cost;
    bool ok, has_cost, on_front;
    const char *state, *failed;
};

static const struct column front_columns[] = {
    COLUMN("variant", CELL_TEXT, struct row, variant),
    COLUMN("command", CELL_TEXT, struct row, command),
};

static const struct column columns[] = {
    COLUMN_IF("metric", CELL_TEXT, struct row, metric, ok),
    COLUMN_IF("time_ns", CELL_NS, struct row, time_fs, ok),
    COLUMN_IF("gain_pct", CELL_PERCENT, struct row, gain, ok),
    COLUMN_IF("bound", CELL_TEXT, struct row, bound, bound),
    COLUMN_IF("bound_pct", CELL_PERCENT, struct row, bound_pct, bound),
    COLUMN_IF("algorithm", CELL_TEXT, struct row, algorithm, algorithm),
    COLUMN_IF("cost", CELL_DECIMAL, struct row, cost, has_cost),
    COLUMN_IF("on_front", CELL_COUNT, struct row, on_front, has_cost),
    COLUMN("state", CELL_TEXT, struct row, state),
    COLUMN_IF("failed", CELL_TEXT, struct row, failed, failed),
};

enum {
    N_FRONT = sizeof front_columns / sizeof *front_columns,
    N_COLUMNS = sizeof columns / sizeof *columns,
};

/* -- numbers -------------------------------------------------------------------------------- */

static const struct study_result *result(const struct study_rows *r, uint64_t i)
{
    return &r->results->result[i];
}

static uint64_t variant_of(const struct study_rows *r, uint64_t i)
{
    return i / r->s->n_commands;
}

static size_t command_of(const struct study_rows *r, uint64_t i)
{
    return (size_t)(i % r->s->n_commands);
}

/* NAN: one of both is not known. */
static double gain_of(const struct study_rows *r, uint64_t i)
{
    const struct study_result *o = result(r, i), *base = result(r, command_of(r, i));

    if (o->state != STUDY_OK || base->state != STUDY_OK || base->time_fs <= 0)
        return NAN;
    return 100 * (double)(base->time_fs - o->time_fs) / (double)base->time_fs;
}

/* -- the order of rows ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b, void *arg)
{
    const struct study_rows *r = arg;
    uint64_t i = *(const uint64_t *)a, k = *(const uint64_t *)b;
    const struct study_result *x = result(r, i), *y = result(r, k);

    if (command_of(r, i) != command_of(r, k))
        return command_of(r, i) < command_of(r, k) ? -1 : 1;
    if (x->state != y->state)
        return x->state == STUDY_OK ? -1 : 1;
    if (x->state == STUDY_OK && x->time_fs != y->time_fs)
        return x->time_fs < y->time_fs ? -1 : 1;
    return i < k ? -1 : 1;
}

static void sort_rows(struct study_rows *r)
{
    r->order = memory_new(r->results->n + 1, sizeof *r->order);
    for (uint64_t i = 0; i < r->results->n; i++) {
        if (result(r, i)->state != STUDY_WAITS)
            r->order[r->n++] = i;
        r->n_failed += result(r, i)->state == STUDY_FAILED;
    }
    qsort_r(r->order, r->n, sizeof *r->order, compare, r);
}

static bool are_alike(const struct study_rows *r, uint64_t i, uint64_t k)
{
    return command_of(r, i) == command_of(r, k) && result(r, i)->state == result(r, k)->state &&
           result(r, i)->time_fs == result(r, k)->time_fs;
}

/* Of equal gains only the cheapest are on it. */
static void find_front(struct study_rows *r)
{
    double cheapest = INFINITY;

    r->on_front = memory_new(r->results->n + 1, sizeof *r->on_front);
    for (size_t i = 0, end; i < r->n && r->s->has_costs; i = end) {
        uint64_t first = r->order[i];
        double least = INFINITY;

        if (i > 0 && command_of(r, first) != command_of(r, r->order[i - 1]))
            cheapest = INFINITY;
        for (end = i; end < r->n && are_alike(r, first, r->order[end]); end++)
            least = fmin(least, study_cost(r->s, variant_of(r, r->order[end])));
        if (result(r, first)->state != STUDY_OK || !(least < cheapest))
            continue;
        cheapest = least;
        for (size_t k = i; k < end; k++)
            r->on_front[r->order[k]] = study_cost(r->s, variant_of(r, r->order[k])) <= least;
    }
}

/* -- rows ----------------------------------------------------------------------------------- */

/* The value of key `k` in that variant: an integer where the key takes no other number. One that it
 * refuses is shown as it is. */
static struct cell value_cell(const struct study *s, const struct study_variant *v, size_t k)
{
    const struct study_key *key = &s->key[k];
    const char *text = v->value[k] ? v->value[k] : key->base;
    uint64_t count;
    char *end;

    if (!text)
        return cell_none();
    if (key->is_count && text_read_count(text, strlen(text), &count))
        return cell_count(count);
    return isnan(key->base_value) ? cell_text(text) : cell_decimal(text_to_double(text, &end));
}

static enum cell_type type_of(const struct study_key *key)
{
    return isnan(key->base_value) ? CELL_TEXT : key->is_count ? CELL_COUNT : CELL_DECIMAL;
}

static bool study_row(void *arg, uint64_t i, struct cell *cells)
{
    struct study_rows *r = arg;
    uint64_t number = r->order[i];
    const struct study *s = r->s;
    const struct study_result *o = result(r, number);
    const struct study_results *all = r->results;
    bool ok = o->state == STUDY_OK;

    study_variant(s, variant_of(r, number), &r->shown);
    struct row row = {.variant = r->shown.name,
                      .command = s->command[command_of(r, number)].line,
                      .metric = study_text(all, o->metric),
                      .bound = study_text(all, o->bound),
                      .algorithm = study_text(all, o->algorithm),
                      .time_fs = o->time_fs,
                      .gain = gain_of(r, number),
                      .bound_pct = o->bound_pct,
                      .cost = r->shown.cost,
                      .ok = ok,
                      .has_cost = s->has_costs && ok,
                      .on_front = r->on_front[number],
                      .state = ok ? "ok" : "failed",
                      .failed = study_text(all, o->failed)};
    size_t n = 0;

    record_cells(front_columns, r->n_front, &row, cells);
    n += r->n_front;
    for (size_t k = 0; k < s->n_keys; k++)
        if (s->key[k].is_changed)
            cells[n++] = value_cell(s, &r->shown, k);
    record_cells(columns, r->n_columns - n, &row, &cells[n]);
    if (isnan(row.gain))
        cells[n + 2] = cell_none();
    return true;
}

static void make_columns(struct study_rows *r)
{
    bool for_people = r->s->cli->opts.format == FORMAT_TABLE && !r->s->cli->report;

    r->n_front = for_people && r->s->n_commands == 1 ? 1 : N_FRONT; /* one command is known */
    memcpy(r->columns, front_columns, sizeof front_columns);
    r->n_columns = r->n_front;
    for (size_t k = 0; k < r->s->n_keys; k++)
        if (r->s->key[k].is_changed)
            r->columns[r->n_columns++] =
                (struct column){.name = r->s->key[k].name, .type = type_of(&r->s->key[k])};
    memcpy(&r->columns[r->n_columns], columns, sizeof columns);
    r->n_columns += r->n_failed > 0 ? N_COLUMNS : N_COLUMNS - 1; /* "failed" comes last */
}

static const char *full_name(struct study_rows *r, uint64_t i)
{
    study_variant(r->s, variant_of(r, i), &r->shown);
    return r->shown.full;
}

/* "best: both, 25.5 % less time than base", a line for each command; and what gains nothing. */
static void make_note(struct study_rows *r)
{
    size_t n = r->s->n_commands, used = 0;

    for (size_t i = 0; i < r->n; i++) {
        uint64_t best = r->order[i];
        double gain = gain_of(r, best);

        if (i > 0 && best % n == r->order[i - 1] % n)
            continue;
        if (isnan(gain) || used + 300 > sizeof r->note)
            continue;
        used += (size_t)text_format(r->note + used, sizeof r->note - used, "%s", used ? "\n" : "");
        if (n > 1)
            used += (size_t)text_format(r->note + used, sizeof r->note - used,
                                        "%.100s: ", r->s->command[best % n].line);
        if (gain < 0.05)
            used += (size_t)text_format(r->note + used, sizeof r->note - used,
                                        "no variant is faster than base");
        else
            used += (size_t)text_format(r->note + used, sizeof r->note - used,
                                        "best: %.120s, %.1f %% less time than base",
                                        full_name(r, best), gain);
    }
}

struct rows study_rows(struct study_rows *r, const struct study *s,
                       const struct study_results *results)
{
    *r = (struct study_rows){.s = s, .results = results};
    sort_rows(r);
    find_front(r);
    make_columns(r);
    make_note(r);
    return (struct rows){.columns = r->columns,
                         .n_columns = r->n_columns,
                         .n_rows = r->n,
                         .row = study_row,
                         .arg = r,
                         .note = *r->note ? r->note : NULL};
}

void study_rows_free(struct study_rows *r)
{
    free(r->order);
    free(r->on_front);
}
