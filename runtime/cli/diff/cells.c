/*
 * cells.c -- two rows with the same keys, cell by cell: which numbers moved, and by how much.
 *
 * A number that differs is judged: within --atol or --tolerance it counts as equal, above
 * --fail-above it makes the command end with EXIT_DIFFERENT. Exact numbers are judged in integers:
 * a change of exactly the bound is not above it.
 */
#include "cli/diff/diff.h"
#include "base/text.h"
#include "cli/gate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict { EQUAL, WITHIN, MOVED, EXCEEDS, UNDECIDED };

static __int128 size_of(__int128 x)
{
    return x < 0 ? -x : x;
}

/* delta / a > limit, where the limit is in millionths of a per cent, at most 10^12 of them. */
static bool exact_above(__int128 delta, __int128 a, int64_t limit)
{
    return size_of(delta) * 100000000 > (__int128)limit * size_of(a);
}

static enum verdict judge_exact(const struct opts *o, __int128 a, __int128 b)
{
    __int128 delta = b - a;

    if (delta == 0)
        return EQUAL;
    if (size_of(delta) <= o->atol || !exact_above(delta, a, o->tolerance))
        return WITHIN;
    return exact_above(delta, a, o->bound) ? EXCEEDS : MOVED;
}

/* For numbers that are too long, inf and nan: each of the latter two equals itself, but by how much
 * a nan moved no one can say. */
static enum verdict judge_double(const struct opts *o, double a, double b)
{
    double delta = fabs(b - a), pct = delta / fabs(a) * 100;

    if ((isnan(a) || isnan(b)) && o->bound > 0)
        return UNDECIDED;
    if (a == b || (isnan(a) && isnan(b)))
        return EQUAL;
    if (!isfinite(a) || !isfinite(b))
        return EXCEEDS;
    if (delta <= (double)o->atol / 1e6 || pct <= (double)o->tolerance / 1e6)
        return WITHIN;
    return pct > (double)o->bound / 1e6 ? EXCEEDS : MOVED;
}

static double percent(const struct number *a, const struct number *b)
{
    double pct = a->exact && b->exact
                     ? (double)(b->millionths - a->millionths) / fabs((double)a->millionths) * 100
                     : (b->value - a->value) / fabs(a->value) * 100;

    return isnan(pct) ? INFINITY : pct;
}

/* The exact difference, or six decimals of it; nothing if it is not finite. */
static void put_delta(char delta[DELTA_BYTES], const struct number *a, const struct number *b,
                      bool decimals)
{
    double rough = b->value - a->value;
    int n = 0;

    delta[0] = '\0';
    if (a->exact && b->exact)
        *number_put(delta, b->millionths - a->millionths, decimals) = '\0';
    else if (isfinite(rough))
        n = text_format(delta, DELTA_BYTES, "%.6f", rough);
    if (n >= DELTA_BYTES)
        text_format(delta, DELTA_BYTES, "%.17g", rough);
}

/* What a bound asks of this cell has no answer. */
static void undecided(struct diff *d, size_t c, const char *is)
{
    gate_count(d->cli->gates, GATE_UNDECIDED, "--bound cannot be decided: %s is %s in row %llu",
               d->a.columns[c], is, (unsigned long long)d->row);
}

static void moved(struct diff *d, struct move *m, enum verdict verdict, const char *a,
                  const char *b)
{
    d->n_moved++;
    if (verdict == UNDECIDED)
        undecided(d, m->column, "nan");
    d->n_above += verdict == EXCEEDS;
    d->largest = fmax(d->largest, fabs(m->pct));
    moves_add(d, *m, &d->a, a, b);
}

/* With six decimals if the other number has some: JSON may have dropped the zeros of this one. */
static const char *written(char text[DELTA_BYTES], const char *cell, const struct number *n,
                           bool decimals)
{
    if (!n->exact || !decimals)
        return cell;
    *number_put(text, n->millionths, true) = '\0';
    return text;
}

/* Either cell may be empty (NULL). */
static void compare_numbers(struct diff *d, size_t c, const char *a, const char *b)
{
    struct move m = {.has_row = true, .row = d->row, .column = c, .name = d->a.columns[c]};
    char a_text[DELTA_BYTES], b_text[DELTA_BYTES];
    struct number x, y;
    enum verdict verdict = EXCEEDS;

    if (!a && !b)
        return;
    d->n_cells++;
    m.pct = INFINITY;
    if (a && b && number_read(a, &x) && number_read(b, &y)) {
        verdict = x.exact && y.exact ? judge_exact(&d->cli->opts, x.millionths, y.millionths)
                                     : judge_double(&d->cli->opts, x.value, y.value);
        if (verdict <= WITHIN)
            return;
        bool decimals = strchr(a, '.') || strchr(b, '.');
        m.pct = percent(&x, &y);
        put_delta(m.delta, &x, &y, decimals);
        a = written(a_text, a, &x, decimals);
        b = written(b_text, b, &y, decimals);
    }
    moved(d, &m, verdict, a, b);
}

/* A text that differs has no change in per cent, so it is above a bound of 0 and no other. A
 * verification that fails is above every bound. */
static void compare_texts(struct diff *d, size_t c, const char *a, const char *b)
{
    struct move m = {
        .text = true, .has_row = true, .row = d->row, .column = c, .name = d->a.columns[c]};
    bool verify = b && strcmp(m.name, "verify") == 0, fails = verify && strcmp(b, "fail") == 0;

    d->n_cells_of_texts++;
    if (a && b && strcmp(a, b) == 0)
        return;
    m.pct = fails ? INFINITY : 0;
    d->n_texts++;
    d->n_above += fails || d->cli->opts.bound == 0;
    if (verify && strcmp(b, "off") == 0)
        undecided(d, c, "off");
    moves_add(d, m, &d->a, a, b);
}

void cells_compare(struct diff *d)
{
    for (size_t c = 0; c < d->a.n_columns && !d->code; c++) {
        if (d->of_b[c] == SIZE_MAX || !d->selected[c] || d->role[c] == PARAMETER)
            continue;
        const char *a = d->a.cells[c], *b = diff_cell_of_b(d, c);

        if (d->role[c] == RESULT_TEXT && (diff_is_text(a) || diff_is_text(b)))
            compare_texts(d, c, a, b);
        else if (!diff_is_text(a))
            compare_numbers(d, c, a, b);
    }
    d->n_rows++;
}
