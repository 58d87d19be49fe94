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
    const char *state;
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
};

enum {
    N_FRONT = sizeof front_columns / sizeof *front_columns,
    N_COLUMNS = sizeof columns / sizeof *columns,
};

/* -- numbers -------------------------------------------------------------------------------- */

static const struct study_outcome *base_of(const struct study_rows *r, size_t outcome)
{
    return &r->outcomes[outcome % r->s->n_commands];
}

static const struct study_variant *variant_of(const struct study_rows *r, size_t outcome)
{
    return &r->s->variant[outcome / r->s->n_commands];
}

/* NAN: one of both is not known. */
static double gain_of(const struct study_rows *r, size_t outcome)
{
    const struct study_outcome *o = &r->outcomes[outcome], *base = base_of(r, outcome);

    if (o->state != STUDY_OK || base->state != STUDY_OK || base->time_fs <= 0)
        return NAN;
    return 100 * (double)(base->time_fs - o->time_fs) / (double)base->time_fs;
}

/* -- the order of rows ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b, void *arg)
{
    const struct study_rows *r = arg;
    size_t i = *(const size_t *)a, k = *(const size_t *)b, n = r->s->n_commands;
    const struct study_outcome *x = &r->outcomes[i], *y = &r->outcomes[k];

    if (i % n != k % n)
        return i % n < k % n ? -1 : 1;
    if (x->state != y->state)
        return x->state == STUDY_OK ? -1 : 1;
    if (x->state == STUDY_OK && x->time_fs != y->time_fs)
        return x->time_fs < y->time_fs ? -1 : 1;
    return i < k ? -1 : 1;
}

static void sort_rows(struct study_rows *r)
{
    size_t all = r->s->n_variants * r->s->n_commands;

    r->order = memory_new(all + 1, sizeof *r->order);
    for (size_t i = 0; i < all; i++)
        if (r->outcomes[i].state != STUDY_WAITS)
            r->order[r->n++] = i;
    qsort_r(r->order, r->n, sizeof *r->order, compare, r);
}

/* Of equal gains only the cheapest are on it. */
static void find_front(struct study_rows *r)
{
    double cheapest = INFINITY;

    r->on_front = memory_new(r->s->n_variants * r->s->n_commands + 1, sizeof *r->on_front);
    for (size_t i = 0, end; i < r->n; i = end) {
        size_t first = r->order[i];
        double least = INFINITY;

        if (i > 0 && first % r->s->n_commands != r->order[i - 1] % r->s->n_commands)
            cheapest = INFINITY;
        for (end = i; end < r->n && r->order[end] % r->s->n_commands == first % r->s->n_commands &&
                      r->outcomes[r->order[end]].state == r->outcomes[first].state &&
                      r->outcomes[r->order[end]].time_fs == r->outcomes[first].time_fs;
             end++)
            least = fmin(least, variant_of(r, r->order[end])->cost);
        for (size_t k = i; k < end; k++)
            r->on_front[r->order[k]] = r->outcomes[first].state == STUDY_OK && least < cheapest &&
                                       variant_of(r, r->order[k])->cost <= least;
        if (r->outcomes[first].state == STUDY_OK)
            cheapest = fmin(cheapest, least);
    }
}

/* -- rows ----------------------------------------------------------------------------------- */

/* The value of key `k` in that variant. */
static struct cell value_cell(const struct study *s, const struct study_variant *v, size_t k)
{
    const char *text = v->value[k] ? v->value[k] : s->key[k].base;
    char *end;

    if (!text)
        return cell_none();
    return isnan(s->key[k].base_value) ? cell_text(text) : cell_decimal(text_to_double(text, &end));
}

static bool study_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct study_rows *r = arg;
    size_t outcome = r->order[i];
    const struct study *s = r->s;
    const struct study_variant *v = variant_of(r, outcome);
    const struct study_outcome *o = &r->outcomes[outcome];
    struct row row = {.variant = v->name,
                      .command = s->command[outcome % s->n_commands].line,
                      .metric = o->metric,
                      .bound = *o->bound ? o->bound : NULL,
                      .algorithm = *o->algorithm ? o->algorithm : NULL,
                      .time_fs = o->time_fs,
                      .gain = gain_of(r, outcome),
                      .bound_pct = o->bound_pct,
                      .cost = v->cost,
                      .ok = o->state == STUDY_OK,
                      .has_cost = s->has_costs && o->state == STUDY_OK,
                      .on_front = r->on_front[outcome],
                      .state = o->state == STUDY_OK ? "ok" : "failed"};
    size_t n = 0;

    record_cells(front_columns, r->n_front, &row, cells);
    n += r->n_front;
    for (size_t k = 0; k < s->n_keys; k++)
        if (s->key[k].is_changed)
            cells[n++] = value_cell(s, v, k);
    record_cells(columns, N_COLUMNS, &row, &cells[n]);
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
                (struct column){.name = r->s->key[k].name,
                                .type = isnan(r->s->key[k].base_value) ? CELL_TEXT : CELL_DECIMAL};
    memcpy(&r->columns[r->n_columns], columns, sizeof columns);
    r->n_columns += N_COLUMNS;
}

/* "best: both, 25.5 % less time than base", a line for each command; and what gains nothing. */
static void make_note(struct study_rows *r)
{
    size_t n = r->s->n_commands, used = 0;

    for (size_t i = 0; i < r->n; i++) {
        size_t best = r->order[i];
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
                                        study_name(variant_of(r, best)), gain);
    }
}

struct rows study_rows(struct study_rows *r, const struct study *s,
                       const struct study_outcome *outcomes)
{
    *r = (struct study_rows){.s = s, .outcomes = outcomes};
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
