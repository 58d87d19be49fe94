/*
 * report_study.c -- the plots of a study: gain by variant, cost against gain, curves over a key.
 *
 * All is read from the rows, by the names of columns: keys of the machine are those with a point.
 * Each command has its own bars and its own plot of costs. A key that is a number and has three
 * values or more gets curves of the time over it, one for each combination of the other keys.
 */
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/report/report_curves.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 590,
    HEIGHT = 340,
    LEFT = 66,
    TOP = 14,
    BOTTOM = 48,
    BAR = 22,
    BARS_MAX = 40,
    PREFIX_BYTES = 32,
    VALUES_LEAST = 3, /* of a key with curves */
};

/* A variant with a command. */
struct gain {
    char variant[REPORT_LABEL_BYTES], command[REPORT_LABEL_BYTES];
    double gain_pct, cost; /* NAN: none */
    bool on_front;
};

struct gains {
    struct gain *gain; /* owned */
    size_t n, room;
};

static struct gains collect(const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];
    struct gains g = {.n = 0};

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells) || isnan(report_value(rows, cells, "gain_pct")))
            continue;
        g.gain = memory_room(g.gain, g.n, &g.room, sizeof *g.gain);
        struct gain *gain = &g.gain[g.n++];
        *gain = (struct gain){.gain_pct = report_value(rows, cells, "gain_pct"),
                              .cost = report_value(rows, cells, "cost"),
                              .on_front = report_value(rows, cells, "on_front") > 0};
        snprintf(gain->variant, sizeof gain->variant, "%s", report_text(rows, cells, "variant"));
        snprintf(gain->command, sizeof gain->command, "%s", report_text(rows, cells, "command"));
    }
    return g;
}

/* Where the rows of the command of row `from` end. */
static size_t end_of(const struct gains *g, size_t from)
{
    size_t end = from;

    while (end < g->n && strcmp(g->gain[end].command, g->gain[from].command) == 0)
        end++;
    return end;
}

/* -- gain by variant ------------------------------------------------------------------------ */

static void put_bar(struct svg *g, const struct svg_axis *x, const struct gain *gain, double y)
{
    double zero = svg_axis_at(x, 0), at = svg_axis_at(x, gain->gain_pct);
    char text[TEXT_NUMBER_BYTES];

    svg_text(g, NULL, x->px_from - 8, y + 12, SVG_END, gain->variant);
    svg_rect(g, gain->gain_pct < 0 ? "c-link" : "c-compute", fmin(zero, at), y, fabs(at - zero),
             16);
    text_format(text, sizeof text, "%.1f %%", report_round(gain->gain_pct, 1));
    svg_text(g, NULL, fmax(zero, at) + 6, y + 12, SVG_START, text);
}

/* The best BARS_MAX of a command. */
static void put_bars(struct sink *s, const struct gain *gain, size_t n, size_t number)
{
    char prefix[PREFIX_BYTES];
    double label = 0, low = 0, high = 1;

    n = n < BARS_MAX ? n : BARS_MAX;
    for (size_t i = 0; i < n; i++) {
        label = fmax(label, svg_text_width(gain[i].variant, 13));
        low = fmin(low, gain[i].gain_pct);
        high = fmax(high, gain[i].gain_pct);
    }
    snprintf(prefix, sizeof prefix, "gain%zu", number);
    struct svg g = {.s = s, .prefix = prefix, .width = WIDTH, .height = BAR * (double)n + 6};
    struct svg_axis x = {
        .px_from = fmin(label, WIDTH / 2.0) + 20, .px_to = WIDTH - 70, .from = low, .to = high};
    char caption[REPORT_LABEL_BYTES + 32];
    snprintf(caption, sizeof caption, "Gain by variant: %s", gain->command);
    html_begin_picture(s, caption, false);
    svg_begin(&g, "Bars: the share of the base machine's time that each variant saves");
    for (size_t i = 0; i < n; i++)
        put_bar(&g, &x, &gain[i], 3 + BAR * (double)i);
    svg_end(&g);
    html_end_picture(s);
}

/* -- cost against gain ---------------------------------------------------------------------- */

static void put_point(struct svg *g, const struct svg_axis *x, const struct svg_axis *y,
                      const struct gain *gain)
{
    char tip[REPORT_LABEL_BYTES + 2 * TEXT_NUMBER_BYTES];

    svg_start(g, "g", "point");
    svg_attr(g, "data-variant", gain->variant);
    svg_inside(g);
    text_format(tip, sizeof tip, "%s\ncost %.6g\ngain %.1f %%", gain->variant, gain->cost,
                report_round(gain->gain_pct, 1));
    svg_tip(g, tip);
    svg_dot(g, gain->on_front ? "q1" : "q7", svg_axis_at(x, gain->cost),
            svg_axis_at(y, gain->gain_pct), gain->on_front ? 5 : 3);
    svg_close(g, "g");
}

/* Steps: with a budget in between, the best is that to its left. */
static void put_front(struct svg *g, const struct svg_axis *x, const struct svg_axis *y,
                      const struct gain *gain, size_t n)
{
    struct svg_point *at = memory_new(2 * n + 1, sizeof *at);
    size_t used = 0;

    for (size_t i = n; i-- > 0;) { /* from little gain to much, so from cheap to dear */
        if (!gain[i].on_front)
            continue;
        double px = svg_axis_at(x, gain[i].cost), py = svg_axis_at(y, gain[i].gain_pct);

        if (used > 0) {
            at[used] = (struct svg_point){px, at[used - 1].y};
            used++;
        }
        at[used++] = (struct svg_point){px, py};
    }
    svg_lines(g, "p1", at, used);
    free(at);
}

static void put_costs(struct sink *s, const struct gain *gain, size_t n, size_t number)
{
    char prefix[PREFIX_BYTES], caption[REPORT_LABEL_BYTES + 64];
    double low = 0, high = 1, cheap = 0, dear = 0;

    for (size_t i = 0; i < n; i++) {
        if (isnan(gain[i].cost))
            return;
        low = fmin(low, gain[i].gain_pct);
        high = fmax(high, gain[i].gain_pct);
        cheap = fmin(cheap, gain[i].cost);
        dear = fmax(dear, gain[i].cost);
    }
    if (!(dear > cheap))
        return;
    snprintf(prefix, sizeof prefix, "cost%zu", number);
    struct svg g = {.s = s, .prefix = prefix, .width = WIDTH, .height = HEIGHT};
    struct svg_axis x = {.label = "cost", .px_from = LEFT, .px_to = WIDTH - 20};
    struct svg_axis y = {
        .label = "gain, % of the base machine's time", .px_from = HEIGHT - BOTTOM, .px_to = TOP};
    svg_axis_fit(&x, cheap, dear);
    svg_axis_fit(&y, low, high);
    snprintf(caption, sizeof caption, "Cost against gain, and the Pareto front: %s", gain->command);
    html_begin_picture(s, caption, false);
    svg_begin(&g, "Points: variants; the line joins those that none beats in cost and gain");
    svg_axis_x(&g, &x, y.px_from, y.px_to);
    svg_axis_y(&g, &y, x.px_from, x.px_to);
    put_front(&g, &x, &y, gain, n);
    for (size_t i = 0; i < n; i++)
        put_point(&g, &x, &y, &gain[i]);
    svg_end(&g);
    html_end_picture(s);
}

/* -- curves over a key ---------------------------------------------------------------------- */

static bool is_key(const struct column *column)
{
    return strchr(column->name, '.') != NULL;
}

/* Has the column three numbers that differ? */
static bool has_values(const struct rows *rows, size_t column)
{
    struct cell cells[ROW_CELLS_MAX];
    double value[VALUES_LEAST];
    size_t n = 0;

    for (uint64_t i = 0; i < rows->n_rows && n < VALUES_LEAST; i++) {
        double v = rows->row(rows->arg, i, cells) ? report_number(&cells[column]) : NAN;
        size_t k = 0;

        while (k < n && !(fabs(value[k] - v) <= 0))
            k++;
        if (k == n && isfinite(v))
            value[n++] = v;
    }
    return n == VALUES_LEAST;
}

/* The values of the other keys, and the command. */
static void label_of(const struct rows *rows, const struct cell *cells, size_t column,
                     char label[REPORT_LABEL_BYTES])
{
    size_t n = 0;

    for (size_t c = 0; c < rows->n_columns; c++) {
        char number[TEXT_NUMBER_BYTES] = "";

        if (c == column || !is_key(&rows->columns[c]) || cells[c].type == CELL_NONE)
            continue;
        if (cells[c].type != CELL_TEXT)
            *cell_put_rounded(number, &cells[c]) = '\0';
        n += (size_t)text_format(label + n, REPORT_LABEL_BYTES - n, "%.60s=%.30s ",
                                 rows->columns[c].name,
                                 cells[c].type == CELL_TEXT ? cells[c].text : number);
    }
    text_format(label + n, REPORT_LABEL_BYTES - n, "%s", report_text(rows, cells, "command"));
}

static void put_curves(struct sink *s, const struct rows *rows, size_t column)
{
    const char *key = rows->columns[column].name;
    char prefix[PREFIX_BYTES], title[REPORT_LABEL_BYTES];
    struct cell cells[ROW_CELLS_MAX];
    char label[REPORT_LABEL_BYTES];

    snprintf(prefix, sizeof prefix, "key%zu", column);
    snprintf(title, sizeof title, "Time over %s", key);
    struct plot plot = {.title = title, .x_label = key, .y_label = "time, ns", .prefix = prefix};
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        label_of(rows, cells, column, label);
        plot_add(&plot, label,
                 (struct svg_point){report_number(&cells[column]),
                                    report_value(rows, cells, "time_ns")});
    }
    plot_draw(s, &plot);
    plot_free(&plot);
}

/* -- all ------------------------------------------------------------------------------------ */

void report_study(struct sink *s, const struct rows *rows)
{
    struct gains g = collect(rows);

    for (size_t i = 0, number = 0, end; i < g.n; i = end, number++) {
        end = end_of(&g, i);
        put_bars(s, &g.gain[i], end - i, number);
        put_costs(s, &g.gain[i], end - i, number);
    }
    for (size_t c = 0; c < rows->n_columns; c++)
        if (is_key(&rows->columns[c]) && has_values(rows, c))
            put_curves(s, rows, c);
    free(g.gain);
}
