/* svg_axis.c -- axes of a plot: round ends, ticks and a grid. */
#include "svg_axis.h"
#include "base/text.h"
#include <math.h>

/* What svg.css does not have: lines of a grid and of three curves, and their dots. */
static const char css[] = ".grid{stroke:#e1e5ea;fill:none}.axis{stroke:#7b8794;fill:none}"
                          ".s1{stroke:#0b6bcb;fill:none;stroke-width:2}.f1{fill:#0b6bcb}"
                          ".s2{stroke:#c2570c;fill:none;stroke-width:2}.f2{fill:#c2570c}"
                          ".s3{stroke:#5b3a9e;fill:none;stroke-width:2}.f3{fill:#5b3a9e}";

void svg_axis_style(struct svg *g)
{
    svg_start(g, "style", NULL);
    svg_inside(g);
    sink_text(g->s, css);
    svg_close(g, "style");
}

enum { TICKS = 6, TICK_PX = 5, LABEL_PX = 34 };

/* 1, 2 or 5 times a power of ten, near `span` / TICKS. */
static double step_of(double span)
{
    double step = pow(10, floor(log10(span / TICKS)));

    return span / step >= 5 * TICKS ? 5 * step : span / step >= 2 * TICKS ? 2 * step : step;
}

static double step_of_axis(const struct svg_axis *axis)
{
    return step_of(axis->to - axis->from);
}

/* The n-th of 1, 2, 5, 10, 20, ..., downwards from 1 below 0. */
static double round_number(int n)
{
    static const double digits[] = {1, 2, 5};
    int tens = n >= 0 ? n / 3 : -((2 - n) / 3);

    return digits[n - 3 * tens] * pow(10, tens);
}

/*
 * The ends are ticks: a linear axis ends at multiples of its step, a logarithmic one at 1, 2 or 5
 * times a power of ten. Throughput from 0 to 4552 GB/s has steps of 500 and ends at 5000; latency
 * from 18 to 1200 ns on a logarithmic axis goes from 10 to 2000.
 */
void svg_axis_fit(struct svg_axis *axis, double low, double high)
{
    if (axis->log) {
        int first = 3 * (int)floor(log10(low)), last;

        while (round_number(first + 1) <= low)
            first++;
        for (last = first + 1; round_number(last) < high; last++)
            ;
        axis->from = round_number(first);
        axis->to = round_number(last);
        return;
    }
    if (high <= low)
        high = low + 1;
    double step = step_of(high - low);
    axis->from = step * floor(low / step);
    axis->to = step * ceil(high / step);
}

double svg_axis_at(const struct svg_axis *axis, double value)
{
    double part = axis->log ? log(value / axis->from) / log(axis->to / axis->from)
                            : (value - axis->from) / (axis->to - axis->from);

    return axis->px_from + part * (axis->px_to - axis->px_from);
}

/* The number of a tick, without trailing zeros. */
static const char *tick_text(double value, double step, char text[SVG_NUMBER_BYTES])
{
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

    if (fabs(value) < 1e7)
        return svg_short(value, decimals < 9 ? decimals : 9, text);
    text_format(text, SVG_NUMBER_BYTES, "%.4g", value);
    return text;
}

/* A longer logarithmic axis has ticks at powers of ten only. */
enum { ALL_DIGITS_MOST = 4 };

/* The next tick, from *i = 0 on; false after the last. */
static bool next_tick(const struct svg_axis *axis, int *i, double *value, double *step)
{
    if (axis->log) {
        bool all = axis->to / axis->from <= pow(10, ALL_DIGITS_MOST);
        int first = 3 * (int)floor(log10(axis->from) + 1e-9);

        do
            *value = round_number(first + (all ? 1 : 3) * (*i)++);
        while (*value < axis->from * (1 - 1e-9));
        *step = *value;
    } else {
        *step = step_of_axis(axis);
        *value = axis->from + (*i)++ * *step;
    }
    return *value <= axis->to * (1 + 1e-9);
}

/* Ticks that would overlap the number before them have none. */
void svg_axis_x(struct svg *g, const struct svg_axis *axis, double y, double grid_y)
{
    double value, step, free_from = -INFINITY;

    for (int i = 0; next_tick(axis, &i, &value, &step);) {
        double x = svg_axis_at(axis, value);
        char buffer[SVG_NUMBER_BYTES];
        const char *text = tick_text(value, step, buffer);
        double half = svg_text_width(text, 11) / 2;

        svg_line(g, "grid", x, y, x, grid_y);
        svg_line(g, "axis", x, y, x, y + TICK_PX);
        if (x - half < free_from)
            continue;
        svg_text(g, "dim", x, y + TICK_PX + 12, SVG_MIDDLE, text);
        free_from = x + half + 4;
    }
    svg_line(g, "axis", axis->px_from, y, axis->px_to, y);
    svg_text(g, NULL, (axis->px_from + axis->px_to) / 2, y + LABEL_PX + 2, SVG_MIDDLE, axis->label);
}

void svg_axis_y(struct svg *g, const struct svg_axis *axis, double x, double grid_x)
{
    double value, step, widest = 0;

    for (int i = 0; next_tick(axis, &i, &value, &step);) {
        double y = svg_axis_at(axis, value);
        char buffer[SVG_NUMBER_BYTES];
        const char *text = tick_text(value, step, buffer);

        svg_line(g, "grid", x, y, grid_x, y);
        svg_line(g, "axis", x - TICK_PX, y, x, y);
        svg_text(g, "dim", x - TICK_PX - 3, y + 4, SVG_END, text);
        widest = fmax(widest, svg_text_width(text, 11));
    }
    svg_line(g, "axis", x, axis->px_from, x, axis->px_to);
    svg_text_up(g, NULL, x - TICK_PX - 10 - widest, (axis->px_from + axis->px_to) / 2, SVG_MIDDLE,
                axis->label);
}
