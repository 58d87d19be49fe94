/* report_curves.h -- a plot of lines in a report. */
#ifndef REPORT_CURVES_H
#define REPORT_CURVES_H
#include "cli/report/report_parts.h"
#include "cli/view/svg.h"

/* A line; each point is a row. */
struct curve {
    char label[REPORT_LABEL_BYTES];
    struct svg_point *at; /* owned */
    size_t n, max;
    bool drawn;
    double nearest; /* how far it is from the nearest drawn one */
};

/* Curves of column y over column x. */
struct plot {
    const char *x, *y; /* columns */
    const char *title, *x_label, *y_label, *prefix;
    bool of_bytes;           /* x has bytes */
    bool of_inflight, of_op; /* labels have these, too */
    const struct plot *like; /* draws the curves of that one; NULL: chooses its own */
    struct curve *curve;     /* owned */
    size_t n, max;
    size_t last; /* that was found */
    size_t n_drawn;
};

/* Adds a point to the curve of that label; those at or below 0 are left out. */
void plot_add(struct plot *plot, const char *label, struct svg_point at);

/* Draws the curves that differ most, if there is any point. */
void plot_draw(struct sink *s, struct plot *plot);
void plot_free(struct plot *plot);

#endif
