/* svg_axis.h -- axes of a plot, for what measures. */
#ifndef SVG_AXIS_H
#define SVG_AXIS_H
#include "cli/view/svg.h"

struct svg_axis {
    const char *label; /* with its unit */
    bool log;
    double px_from, px_to; /* where `from` and `to` are */
    double from, to;       /* svg_axis_fit() sets them */
};

/* Sets round ends, with `low` and `high` between them. Log: both above 0. */
void svg_axis_fit(struct svg_axis *axis, double low, double high);
double svg_axis_at(const struct svg_axis *axis, double value);

/* Draws an axis with ticks, numbers, its label, and a grid up to the other end of the plot. */
void svg_axis_x(struct svg *g, const struct svg_axis *axis, double y, double grid_y);
void svg_axis_y(struct svg *g, const struct svg_axis *axis, double x, double grid_x);

/* The classes of grids, axes and curves; behind svg_begin(). */
void svg_axis_style(struct svg *g);

#endif
