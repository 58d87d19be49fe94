/*
 * view_plot.c -- pictures of results: a roofline of launches, latency over throughput.
 *
 * Roofline: a launch is a point, at x = operations per byte of DMA, y = operations per ns (GOP/s),
 * on logarithmic axes. The slope, x * (GB/s of all slices), and the roof of its engine
 * are the bounds. Of `run gemm` on cube8 the roofs are 524288 (GEMM) and 4096 (MATH) GOP/s, the
 * slope is 16384 GB/s; 2 * 16777216 multiplications and additions and 524288 further operations on
 * 2228224 bytes in 837.765 ns make the point 15.3, 40678: a sixth of the memory's 250600 at that
 * intensity. A launch without DMA has no intensity, and is drawn at the right end.
 *
 * Latency: curves of p50, mean and p99 over the offer of each rate, latency logarithmic. The plot
 * is shaded from halfway to the first rate that found no steady state, or of which less than
 * 97 % was accepted. On cube8, uniform, that is rate 0.4: 4552 of 6510 GB/s.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/diff/number.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/view/svg.h"
#include "base/text.h"
#include "cli/view/view.h"

enum {
    WIDTH = 860,
    HEIGHT = 560,
    LEFT = 84,
    RIGHT = 36,
    TOP = 66,
    BOTTOM = 74,
    LETTER = 11,
    TITLE_BYTES = 256,
    LABELS_MOST = 400, /* points with a name beside them */
};

/* Larger and smaller numbers are drawn at the end of an axis, or not at all. */
#define SHOWN_LEAST 1e-12
#define SHOWN_MOST  1e18

/* -- what both have ------------------------------------------------------------------------- */

static struct svg begin(const struct cli *cli, const char *title, const char *second,
                        const char *prefix, struct sink *s)
{
    struct svg g = {.s = s, .prefix = prefix, .width = WIDTH, .height = HEIGHT};
    char text[TITLE_BYTES];

    snprintf(text, sizeof text, "%s, topology %s", title, cli->info.name);
    svg_begin(&g, text);
    svg_text(&g, "title", 24, 26, SVG_START, title);
    snprintf(text, sizeof text, "topology %s, %s%s%s", cli->info.name, cli->info.hash,
             *second ? "; " : "", second);
    svg_text(&g, "dim", 24, 43, SVG_START, text);
    return g;
}

static struct svg_axis axis_x(const char *label, bool log)
{
    return (struct svg_axis){label, log, LEFT, WIDTH - RIGHT, 0, 0};
}

static struct svg_axis axis_y(const char *label, bool log)
{
    return (struct svg_axis){label, log, HEIGHT - BOTTOM, TOP, 0, 0};
}

static void put_axes(struct svg *g, const struct svg_axis *x, const struct svg_axis *y)
{
    svg_axis_x(g, x, HEIGHT - BOTTOM, TOP);
    svg_axis_y(g, y, LEFT, WIDTH - RIGHT);
}

/* -- roofline ------------------------------------------------------------------------------- */

/* The rectangle of a text. */
struct box {
    double x, y, w, h;
};

struct roofline {
    struct svg g;
    struct svg_axis x, y;
    double gemm, math; /* operations per ns of all PEs, or 10^9 per second */
    double gbs;        /* of all slices */
    struct box *taken; /* owned: names beside points */
    size_t n_taken;
};

static double intensity(const struct view_launch *l)
{
    return l->bytes > 0 ? l->operations / l->bytes : (double)INFINITY;
}

static double rate(const struct view_launch *l)
{
    return l->ns > 0 ? l->operations / l->ns : 0;
}

/* Numbers that an axis can have. */
static bool can_be_shown(double value)
{
    return value >= SHOWN_LEAST && value <= SHOWN_MOST;
}

/* Can both axes, which begin above 0, show it? A launch without DMA is at the right end. */
static bool is_point(const struct view_launch *l)
{
    return can_be_shown(rate(l)) && (isinf(intensity(l)) || can_be_shown(intensity(l)));
}

bool view_roofline_shows(const struct view_launch *launch, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_point(&launch[i]))
            return true;
    return false;
}

/* Around all points, and at least a factor of 10 on either side of the ridge, where slope and roof
 * meet. */
static void fit_axes(struct roofline *r, const struct view_launch *launch, size_t n)
{
    double ridge = r->gemm / r->gbs, left = ridge / 10, right = ridge * 10, low = r->math / 10;
    double high = fmax(r->gemm, r->math);

    for (size_t i = 0; i < n; i++) {
        if (!is_point(&launch[i]))
            continue;
        if (isfinite(intensity(&launch[i]))) {
            left = fmin(left, intensity(&launch[i]));
            right = fmax(right, intensity(&launch[i]));
        }
        low = fmin(low, rate(&launch[i]));
        high = fmax(high, rate(&launch[i]));
    }
    svg_axis_fit(&r->x, left, right);
    svg_axis_fit(&r->y, low, high * 1.2);
}

/* The flat roof at `peak`, from its corner with the slope of the memory, with its name. */
static void put_roof(struct roofline *r, double peak, const char *classes, const char *name)
{
    char text[TITLE_BYTES], number[SVG_NUMBER_BYTES];
    double y = svg_axis_at(&r->y, peak), from = fmax(peak / r->gbs, r->x.from);

    svg_start(&r->g, "g", NULL);
    svg_attr(&r->g, "data-roof", svg_short(peak, 6, number));
    svg_inside(&r->g);
    svg_line(&r->g, classes, svg_axis_at(&r->x, fmin(from, r->x.to)), y, r->x.px_to, y);
    snprintf(text, sizeof text, "%s: %.24s GOP/s", name, svg_short(peak, 2, number));
    svg_text(&r->g, NULL, r->x.px_to - 4, y - 5, SVG_END, text);
    svg_close(&r->g, "g");
}

/* The slope of the memory, up to the highest roof, with its name along it. */
static void put_slope(struct roofline *r)
{
    double peak = fmax(r->gemm, r->math), left = fmax(r->x.from, r->y.from / r->gbs);
    double right = fmin(r->x.to, peak / r->gbs);
    double x1 = svg_axis_at(&r->x, left), y1 = svg_axis_at(&r->y, left * r->gbs);
    double x2 = svg_axis_at(&r->x, right), y2 = svg_axis_at(&r->y, right * r->gbs);
    char text[TITLE_BYTES], number[SVG_NUMBER_BYTES];

    if (right <= left)
        return;
    svg_start(&r->g, "g", NULL);
    svg_attr(&r->g, "data-slope", svg_short(r->gbs, 6, number));
    svg_inside(&r->g);
    svg_line(&r->g, "s1", x1, y1, x2, y2);
    snprintf(text, sizeof text, "memory: %.24s GB/s", svg_short(r->gbs, 2, number));
    if (svg_length(x2 - x1, y2 - y1) < svg_text_width(text, LETTER) + 20) {
        svg_text(&r->g, NULL, LEFT, TOP - 5, SVG_START, text);
        svg_close(&r->g, "g");
        return;
    }
    svg_start(&r->g, "text", NULL);
    svg_attr(&r->g, "text-anchor", "middle");
    sink_text(r->g.s, " transform=\"translate(");
    svg_number(r->g.s, (x1 + x2) / 2 - 6);
    sink_char(r->g.s, ' ');
    svg_number(r->g.s, (y1 + y2) / 2 - 6);
    sink_text(r->g.s, ") rotate(");
    svg_number(r->g.s, atan2(y2 - y1, x2 - x1) * 180 / M_PI);
    sink_text(r->g.s, ")\"");
    svg_inside(&r->g);
    svg_escape(r->g.s, text);
    svg_close(&r->g, "text");
    svg_close(&r->g, "g");
}

static bool is_free(const struct roofline *r, const struct box *b)
{
    if (b->x < LEFT || b->x + b->w > WIDTH - RIGHT || b->y < TOP || b->y + b->h > HEIGHT - BOTTOM)
        return false;
    for (size_t i = 0; i < r->n_taken; i++) {
        const struct box *t = &r->taken[i];

        if (b->x < t->x + t->w && t->x < b->x + b->w && b->y < t->y + t->h && t->y < b->y + b->h)
            return false;
    }
    return true;
}

/* Writes a name beside a point, if there is room. */
static void put_name(struct roofline *r, double x, double y, const char *name)
{
    static const struct svg_point beside[] = {{8, -6}, {8, 6},   {-8, -6}, {-8, 6},   {0, -14},
                                              {0, 16}, {8, -18}, {8, 20},  {-8, -18}, {-8, 20}};
    double w = svg_text_width(name, LETTER), h = LETTER + 1;

    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        double left = x + beside[i].x - (beside[i].x < 0 ? w : beside[i].x > 0 ? 0 : w / 2);
        struct box b = {left, y + beside[i].y - h / 2, w, h};

        if (is_free(r, &b)) {
            svg_text(&r->g, NULL, b.x, b.y + h - 2, SVG_START, name);
            r->taken[r->n_taken++] = b;
            return;
        }
    }
}

static void put_launch(struct roofline *r, const struct view_launch *l)
{
    double x = svg_axis_at(&r->x, fmin(intensity(l), r->x.to)), y = svg_axis_at(&r->y, rate(l));
    char tip[TITLE_BYTES], a[SVG_NUMBER_BYTES], b[SVG_NUMBER_BYTES];

    svg_start(&r->g, "g", "point");
    svg_attr(&r->g, "data-kernel", l->kernel);
    svg_attr(&r->g, "data-intensity", svg_short(intensity(l), 6, a));
    svg_attr(&r->g, "data-gops", svg_short(rate(l), 6, b));
    svg_inside(&r->g);
    snprintf(tip, sizeof tip, "%.100s\n%.24s operations a byte\n%.24s GOP/s", l->kernel, a, b);
    svg_tip(&r->g, tip);
    svg_dot(&r->g, "f2", x, y, 4);
    svg_close(&r->g, "g");
}

/* Dots come first, so that names can avoid them. */
static void put_launches(struct roofline *r, const struct view_launch *launch, size_t n)
{
    size_t named = n < LABELS_MOST ? n : LABELS_MOST;

    for (size_t i = 0; i < n; i++)
        if (is_point(&launch[i])) {
            double x = svg_axis_at(&r->x, fmin(intensity(&launch[i]), r->x.to));

            put_launch(r, &launch[i]);
            r->taken[r->n_taken++] =
                (struct box){x - 4, svg_axis_at(&r->y, rate(&launch[i])) - 4, 8, 8};
        }
    for (size_t i = 0; i < named; i++)
        if (is_point(&launch[i]))
            put_name(r, svg_axis_at(&r->x, fmin(intensity(&launch[i]), r->x.to)),
                     svg_axis_at(&r->y, rate(&launch[i])), launch[i].kernel);
}

/* Peaks are those of all PEs and slices, also of a launch on fewer. */
void view_roofline(const struct cli *cli, const struct view_launch *launch, size_t n,
                   const char *prefix, struct sink *s)
{
    double pes = kb_pe_count(cli->topo);
    struct roofline r = {.x = axis_x("arithmetic intensity, operations a byte of DMA", true),
                         .y = axis_y("operations, GOP/s", true)};
    kb_limits limits;

    r.taken = memory_new(2 * n + 1, sizeof *r.taken);
    kb_topology_limits(cli->topo, &limits);
    r.gemm = 2 * limits.gemm_macs_per_ns * pes;
    r.math = limits.math_elements_per_ns * pes;
    r.gbs = limits.slice_gbs * kb_slice_count(cli->topo);
    fit_axes(&r, launch, n);
    r.g = begin(cli, "Roofline",
                "a product and a sum are two operations; exp, softmax and the like one an element",
                prefix, s);
    put_axes(&r.g, &r.x, &r.y);
    put_slope(&r);
    put_roof(&r, r.gemm, "s2", "GEMM");
    put_roof(&r, r.math, "s3", "MATH");
    put_launches(&r, launch, n);
    svg_end(&r.g);
    free(r.taken);
}

/* -- latency -------------------------------------------------------------------------------- */

/* A rate is saturated if less than this share of its offer is accepted.  docs/formats.md, "load" */
#define ACCEPTED_LEAST 0.97

static bool is_saturated(const struct view_rate *r)
{
    return !r->steady || r->accepted_gbs < ACCEPTED_LEAST * r->offered_gbs;
}

static int by_offer(const void *a, const void *b)
{
    const struct view_rate *x = a, *y = b;

    return (x->offered_gbs > y->offered_gbs) - (x->offered_gbs < y->offered_gbs);
}

/* One of the curves. */
struct curve {
    const char *name, *line, *fill;
    size_t offset; /* of its value in a rate */
};

static double value_of(const struct view_rate *r, const struct curve *c)
{
    double value;

    memcpy(&value, (const char *)r + c->offset, sizeof value);
    return value;
}

static struct svg_point curve_at(const struct curve *c, const struct svg_axis *x,
                                 const struct svg_axis *y, const struct view_rate *r)
{
    return (struct svg_point){svg_axis_at(x, r->offered_gbs),
                              svg_axis_at(y, fmax(value_of(r, c), y->from))};
}

/* Lines first, then dots on them. */
static void put_curve(struct svg *g, const struct curve *c, const struct svg_axis *x,
                      const struct svg_axis *y, const struct view_rate *rate, size_t n)
{
    svg_start(g, "g", NULL);
    svg_attr(g, "data-curve", c->name);
    svg_inside(g);
    for (size_t i = 1; i < n; i++) {
        struct svg_point a = curve_at(c, x, y, &rate[i - 1]), b = curve_at(c, x, y, &rate[i]);

        svg_line(g, c->line, a.x, a.y, b.x, b.y);
    }
    for (size_t i = 0; i < n; i++) {
        struct svg_point at = curve_at(c, x, y, &rate[i]);

        svg_dot(g, c->fill, at.x, at.y, 3);
    }
    svg_close(g, "g");
}

/* A line of the legend, at the upper left. */
static void put_key(struct svg *g, const struct curve *c, int i)
{
    double y = TOP + 16 + 16 * i;

    svg_line(g, c->line, LEFT + 14, y - 4, LEFT + 38, y - 4);
    svg_dot(g, c->fill, LEFT + 26, y - 4, 3);
    svg_text(g, NULL, LEFT + 46, y, SVG_START, c->name);
}

/* Shades the plot from the first saturated rate on. */
static void put_saturation(struct svg *g, const struct svg_axis *x, const struct view_rate *rate,
                           size_t n)
{
    size_t i = 0;
    char text[SVG_NUMBER_BYTES + 64], number[SVG_NUMBER_BYTES];

    while (i < n && !is_saturated(&rate[i]))
        i++;
    if (i == n)
        return;
    double from = svg_axis_at(x, i > 0 ? (rate[i - 1].offered_gbs + rate[i].offered_gbs) / 2
                                       : rate[i].offered_gbs);
    svg_start(g, "g", NULL);
    svg_attr(g, "data-saturated", svg_short(rate[i].offered_gbs, 6, number));
    svg_inside(g);
    svg_rect(g, "plane", from, TOP, x->px_to - from, HEIGHT - BOTTOM - TOP);
    snprintf(text, sizeof text, "saturated at %.24s GB/s offered",
             svg_short(rate[i].offered_gbs, 1, number));
    double w = svg_text_width(text, LETTER);
    bool left = from + w + 12 > x->px_to;
    svg_text(g, "dim", left ? x->px_to - 6 : from + 6, HEIGHT - BOTTOM - 8,
             left ? SVG_END : SVG_START, text);
    svg_close(g, "g");
}

/* The same rate, with its numbers in the range of an axis. */
static struct view_rate within_axes(const struct view_rate *r)
{
    return (struct view_rate){fmin(r->offered_gbs, SHOWN_MOST), fmin(r->accepted_gbs, SHOWN_MOST),
                              fmin(r->mean_ns, SHOWN_MOST),     fmin(r->p50_ns, SHOWN_MOST),
                              fmin(r->p99_ns, SHOWN_MOST),      r->steady};
}

/* The axes: x from 0 to the largest offer, y around all values, but not below 1 fs. */
static void fit_latency(struct svg_axis *x, struct svg_axis *y, const struct curve *curves,
                        size_t n_curves, const struct view_rate *rate, size_t n)
{
    double low = INFINITY, high = 10, most = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < n_curves; c++) {
            low = fmin(low, value_of(&rate[i], &curves[c]));
            high = fmax(high, value_of(&rate[i], &curves[c]));
        }
        most = fmax(most, rate[i].offered_gbs);
    }
    svg_axis_fit(x, 0, most);
    svg_axis_fit(y, isfinite(low) ? fmax(low, 1e-6) : 1, high);
}

void view_latency(const struct cli *cli, const struct view_rate *given, size_t n, const char *what,
                  const char *prefix, struct sink *s)
{
    static const struct curve curves[] = {
        {"p99", "s2", "f2", offsetof(struct view_rate, p99_ns)},
        {"mean", "s1", "f1", offsetof(struct view_rate, mean_ns)},
        {"p50", "s3", "f3", offsetof(struct view_rate, p50_ns)},
    };
    enum { CURVES = sizeof curves / sizeof *curves };
    struct svg_axis x = axis_x("offered, GB/s", false), y = axis_y("latency, ns", true);
    struct view_rate *rate = memory_new(n + 1, sizeof *rate);

    for (size_t i = 0; i < n; i++)
        rate[i] = within_axes(&given[i]);
    qsort(rate, n, sizeof *rate, by_offer);
    fit_latency(&x, &y, curves, CURVES, rate, n);
    struct svg g = begin(cli, "Latency and throughput", what, prefix, s);
    put_saturation(&g, &x, rate, n);
    put_axes(&g, &x, &y);
    for (int c = 0; c < CURVES; c++) {
        put_curve(&g, &curves[c], &x, &y, rate, n);
        put_key(&g, &curves[c], c);
    }
    svg_end(&g);
    free(rate);
}
