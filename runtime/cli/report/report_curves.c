/*
 * report_curves.c -- a plot of lines in a report: which are drawn, axes, legend.
 *
 * A plot is collected first, then fitted, then drawn: plot_add() makes a curve for each label, from
 * rows in any order; fit_axes() finds the bounds of all of them; put_plot() draws. Points of a
 * curve are sorted by x, so that a list of sizes may be written in any order.
 *
 * There are up to eight curves, since more cannot be told apart. Of more those are drawn that
 * differ most: first the lowest, then again and again the one whose nearest drawn curve is farthest
 * away, as the mean ratio of their values. 4096 pairs of PE and slice become the own slice, a far
 * corner behind each sort of link, and what lies in between. Both plots of a sweep draw the same
 * ones.
 */
#include "cli/report/report_curves.h"
#include "base/text.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLOT_WIDTH = 590,
    LEGEND_ROW = 18,
    CURVES_MAX = 8,
    CURVES_KEPT = 4096, /* of more the first */
    RATES_MAX = 2000,   /* that are drawn; of more every n-th */
    PLOT_HEIGHT = 340,
    PLOT_LEFT = 66,
    PLOT_TOP = 14,
    PLOT_BOTTOM = 48
};

/* Rows come in any order, and a curve is found by its label: mostly behind the last one. NULL:
 * there are too many. */
static struct curve *curve_of(struct plot *plot, const char *label)
{
    for (size_t i = 0; i < plot->n; i++) {
        size_t at = (plot->last + i) % plot->n;

        if (strcmp(plot->curve[at].label, label) == 0) {
            plot->last = at;
            return &plot->curve[at];
        }
    }
    if (plot->n == CURVES_KEPT)
        return NULL;
    plot->curve = memory_room(plot->curve, plot->n, &plot->max, sizeof *plot->curve);
    struct curve *curve = &plot->curve[plot->n++];
    *curve = (struct curve){.nearest = INFINITY};
    snprintf(curve->label, sizeof curve->label, "%s", label);
    return curve;
}

/* Points at or below 0 have no place on a logarithmic axis. */
void plot_add(struct plot *plot, const char *label, struct svg_point at)
{
    struct curve *curve = curve_of(plot, label);

    if (!curve || !(at.x > 0) || !(at.y > 0))
        return;
    curve->at = memory_room(curve->at, curve->n, &curve->max, sizeof *curve->at);
    curve->at[curve->n++] = at;
}

static int by_x(const void *a, const void *b)
{
    const struct svg_point *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

/* -- which curves are drawn ----------------------------------------------------------------- */

/* The mean ratio of two curves, as a logarithm; 0: they are the same. */
static double distance(const struct curve *a, const struct curve *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(log(a->at[i].y / b->at[i].y));
    return n > 0 ? sum / (double)n : 0;
}

static void draw(struct plot *plot, struct curve *curve)
{
    curve->drawn = true;
    plot->n_drawn++;
    for (size_t i = 0; i < plot->n; i++)
        plot->curve[i].nearest = fmin(plot->curve[i].nearest, distance(&plot->curve[i], curve));
}

/* The curve that is lowest. */
static struct curve *lowest(const struct plot *plot)
{
    struct curve *found = NULL;
    double least = INFINITY;

    for (size_t i = 0; i < plot->n; i++) {
        double sum = 0;

        for (size_t k = 0; k < plot->curve[i].n; k++)
            sum += log(plot->curve[i].at[k].y) / (double)plot->curve[i].n;
        if (plot->curve[i].n > 0 && sum < least) {
            least = sum;
            found = &plot->curve[i];
        }
    }
    return found;
}

/* The curve that is farthest from all that are drawn; of equal ones the first. NULL: none is left.
 */
static struct curve *farthest(const struct plot *plot)
{
    struct curve *found = NULL;

    for (size_t i = 0; i < plot->n; i++) {
        struct curve *curve = &plot->curve[i];

        if (!curve->drawn && curve->n > 0 && (!found || curve->nearest > found->nearest))
            found = curve;
    }
    return found;
}

static bool is_drawn_in(const struct plot *plot, const char *label)
{
    for (size_t i = 0; i < plot->n; i++)
        if (strcmp(plot->curve[i].label, label) == 0)
            return plot->curve[i].drawn;
    return false;
}

static void choose_curves(struct plot *plot)
{
    for (size_t i = 0; i < plot->n; i++)
        if (plot->curve[i].n > 0) /* else there is no array */
            qsort(plot->curve[i].at, plot->curve[i].n, sizeof *plot->curve[i].at, by_x);
    for (size_t i = 0; plot->like && i < plot->n; i++)
        if (plot->curve[i].n > 0 && is_drawn_in(plot->like, plot->curve[i].label))
            draw(plot, &plot->curve[i]);
    if (plot->like)
        return;
    for (struct curve *next = lowest(plot); next && plot->n_drawn < CURVES_MAX;
         next = farthest(plot))
        draw(plot, next);
}

/* -- the picture ---------------------------------------------------------------------------- */

enum { BYTES_TEXT = 32 };

/* "64K" */
static const char *bytes_text(double bytes, char text[BYTES_TEXT])
{
    static const char *const units[] = {"", "K", "M", "G"};
    char number[SVG_NUMBER_BYTES];
    int i = 0;

    for (; i < 3 && bytes >= 1024; i++)
        bytes /= 1024;
    snprintf(text, BYTES_TEXT, "%s%s", svg_short(bytes, 1, number), units[i]);
    return text;
}

/* An axis of bytes is marked at powers of two; those of svg.h at powers of ten. */
static void put_bytes_axis(struct svg *g, const struct svg_axis *axis, double y, double grid_y)
{
    double step = 2, px = (axis->px_to - axis->px_from) / log2(axis->to / axis->from);
    char text[BYTES_TEXT];

    while (px * log2(step) < 44) /* room for a label */
        step *= 2;
    for (double at = axis->from; at <= axis->to; at *= step) {
        double x = svg_axis_at(axis, at);

        svg_line(g, "grid", x, y, x, grid_y);
        svg_line(g, "axis", x, y, x, y + 5);
        svg_text(g, "dim", x, y + 17, SVG_MIDDLE, bytes_text(at, text));
    }
    svg_line(g, "axis", axis->px_from, y, axis->px_to, y);
    svg_text(g, NULL, (axis->px_from + axis->px_to) / 2, y + 36, SVG_MIDDLE, axis->label);
}

static void fit_bytes(struct svg_axis *axis, double low, double high)
{
    axis->log = true;
    axis->from = exp2(floor(log2(low)));
    axis->to = fmax(exp2(ceil(log2(high))), 2 * axis->from);
}

/* Axes around all points; y is logarithmic if the values are a factor of 20 apart. */
static void fit_axes(const struct plot *plot, struct svg_axis *x, struct svg_axis *y)
{
    double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;

    for (size_t i = 0; i < plot->n; i++)
        for (size_t k = 0; plot->curve[i].drawn && k < plot->curve[i].n; k++) {
            struct svg_point at = plot->curve[i].at[k];

            low_x = fmin(low_x, at.x);
            high_x = fmax(high_x, at.x);
            low_y = fmin(low_y, at.y);
            high_y = fmax(high_y, at.y);
        }
    if (plot->of_bytes)
        fit_bytes(x, low_x, high_x);
    else
        svg_axis_fit(x, 0, high_x);
    y->log = high_y > 20 * low_y;
    svg_axis_fit(y, y->log ? low_y : 0, high_y);
}

static void put_curve(struct svg *g, const struct curve *curve, size_t number,
                      const struct svg_axis *x, const struct svg_axis *y)
{
    struct svg_point *px = memory_new(curve->n, sizeof *px);
    char line[32], dot[32];

    snprintf(line, sizeof line, "p%zu", number);
    snprintf(dot, sizeof dot, "q%zu", number);
    for (size_t i = 0; i < curve->n; i++)
        px[i] = (struct svg_point){svg_axis_at(x, curve->at[i].x), svg_axis_at(y, curve->at[i].y)};
    svg_lines(g, line, px, curve->n);
    for (size_t i = 0; i < curve->n && curve->n <= 64; i++)
        svg_dot(g, dot, px[i].x, px[i].y, 3);
    free(px);
}

/* A curve, and its line of the legend. */
static void put_named(struct svg *g, const struct curve *curve, size_t number,
                      const struct svg_axis *x, const struct svg_axis *y)
{
    double at = PLOT_HEIGHT + LEGEND_ROW * (double)number;
    char dot[32];

    put_curve(g, curve, number, x, y);
    snprintf(dot, sizeof dot, "q%zu", number);
    svg_dot(g, dot, PLOT_LEFT + 5, at + 4, 5);
    svg_text(g, NULL, PLOT_LEFT + 18, at + 8, SVG_START, curve->label);
}

/* The height has room for one line of the legend for each curve. */
static void put_plot(struct sink *s, struct plot *plot)
{
    double legend = LEGEND_ROW * (double)plot->n_drawn + 6;
    struct svg g = {
        .s = s, .prefix = plot->prefix, .width = PLOT_WIDTH, .height = PLOT_HEIGHT + legend};
    struct svg_axis x = {.label = plot->x_label, .px_from = PLOT_LEFT, .px_to = PLOT_WIDTH - 20};
    struct svg_axis y = {
        .label = plot->y_label, .px_from = PLOT_HEIGHT - PLOT_BOTTOM, .px_to = PLOT_TOP};

    fit_axes(plot, &x, &y);
    html_begin_picture(s, plot->title, false);
    svg_begin(&g, plot->title);
    (plot->of_bytes ? put_bytes_axis : svg_axis_x)(&g, &x, y.px_from, y.px_to);
    svg_axis_y(&g, &y, x.px_from, x.px_to);
    for (size_t i = 0, number = 0; i < plot->n; i++)
        if (plot->curve[i].drawn)
            put_named(&g, &plot->curve[i], number++, &x, &y);
    svg_end(&g);
    html_end_picture(s);
    if (plot->n > plot->n_drawn) {
        sink_text(s, "<p>There are ");
        sink_text(s, plot->n == CURVES_KEPT ? "more than " : "");
        html_count(s, plot->n);
        sink_text(s, " lines; these differ most.</p>\n");
    }
}

void plot_draw(struct sink *s, struct plot *plot)
{
    choose_curves(plot);
    if (plot->n_drawn > 0)
        put_plot(s, plot);
}

void plot_free(struct plot *plot)
{
    for (size_t i = 0; i < plot->n; i++)
        free(plot->curve[i].at);
    free(plot->curve);
}
