/*
 * report_breakdown.c -- the parts of latency, as bars and a table of a report.
 *
 * Rows have a column for each part that applies to their command (overhead_ns, drain_ns, ...). Rows
 * with the same label (case, rate, op) are one bar: the mean of each part, weighted by `count`. Of
 * `run` and `probe` the length of a bar is its mean latency; elsewhere bars are equally long, and
 * show shares. `of` marks the sums of --breakdown, which are added up instead.
 *
 * Example, the bar of `report run gemm` on cube8: the launch has total_ns 873.44 and kernel_ns
 * 837.77, which make the parts "kernel", 837.77 ns, and "launch and response", 35.67 ns, since
 * total_ns contains kernel_ns (add_row()).
 *
 * Invariants: the table below the bars has every number that a bar shows, so that nothing is shown
 * by colour alone; a part that no bar has is neither in the legend nor in the table; at most
 * BARS_MAX bars, and the page says if there are more.
 */
#include "cli/report/report_parts.h"
#include "cli/out/memory.h"
#include "cli/view/svg.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 760,
    LEGEND_ROW = 18,
    LETTERS = 11, /* px of the texts of svg.h */
};

/* A part of latency: its column, its name, its class in report.css. */
static const struct part {
    const char *column, *name, *colour;
} parts[] = {
    {"overhead_ns", "overhead", "c-overhead"},
    {"wire_ns", "wire", "c-wire"},
    {"drain_ns", "drain", "c-drain"},
    {"response_ns", "response", "c-response"},
    {"kernel_ns", "kernel", "c-drain"},
    {"total_ns", "launch and response", "c-overhead"}, /* without kernel_ns */
    {"queue_ns", "queue", "c-memory"},
    {"queue_channel_ns", "queue: channel", "c-channel"},
    {"queue_engine_ns", "queue: engine", "c-engine"},
    {"queue_link_ns", "queue: link", "c-link"},
    {"queue_memory_ns", "queue: memory", "c-memory"},
    {"queue_port_ns", "queue: TCM port", "c-queue-port"},
    {"queue_pe_ns", "queue: other PEs", "c-queue-pe"},
    {"barrier_ns", "barrier", "c-barrier"},
    {"port_ns", "TCM port", "c-port"},
    {"compute_ns", "compute", "c-compute"},
    {"dispatch_ns", "dispatch", "c-dispatch"},
    {"queue_refresh_ns", "queue: refresh", "c-barrier"},
    {"queue_row_ns", "queue: row", "c-queue-pe"},
    {"queue_bus_ns", "queue: bus", "c-queue-port"},
};

enum { N_PARTS = sizeof parts / sizeof *parts, BARS_MAX = 25 };

/* Rows that are shown as one: a case, a rate, an op. */
struct bar {
    char label[REPORT_LABEL_BYTES];
    uint64_t count;
    double sum_ns[N_PARTS];
};

struct bars {
    struct bar bar[BARS_MAX];
    size_t n;
    size_t n_parts; /* that the rows have */
    size_t part[N_PARTS];
    size_t column[N_PARTS];
    bool more;                     /* than there is room for */
    const char *picture, *caption; /* of the bars: a prefix, what they show */
    const char *table, *table_caption;
    bool absolute; /* lengths are means; else shares */
    bool sums;     /* a bar is one sum, and not a mean */
};

/* The bar with that label, a new one if there is none yet; NULL: there is no room. */
static struct bar *bar_of(struct bars *bars, const char *label)
{
    for (size_t i = 0; i < bars->n; i++)
        if (strncmp(bars->bar[i].label, label, REPORT_LABEL_BYTES - 1) == 0)
            return &bars->bar[i];
    if (bars->n == BARS_MAX) {
        bars->more = true;
        return NULL;
    }
    struct bar *bar = &bars->bar[bars->n++];
    *bar = (struct bar){.count = 0};
    snprintf(bar->label, sizeof bar->label, "%s", label);
    return bar;
}

/* Parts without a column in these rows are left out: `sweep` has no kernels. */
static void find_parts(struct bars *bars, const struct rows *rows)
{
    for (size_t i = 0; i < N_PARTS; i++) {
        size_t c = report_column(rows, parts[i].column);

        if (c == SIZE_MAX)
            continue;
        bars->part[bars->n_parts] = i;
        bars->column[bars->n_parts++] = c;
    }
}

/*
 * Adds a row, which may stand for several transactions: its times are means, so they are
 * multiplied by `count`. A row without a count is one transaction; one with a count of 0 has no
 * latency to add.
 */
static void add_row(struct bars *bars, const char *label, const struct rows *rows,
                    const struct cell *cells)
{
    double count = report_value(rows, cells, "count");
    struct bar *bar = bar_of(bars, label);

    if (!bar || count == 0)
        return;
    count = isnan(count) ? 1 : count;
    bar->count += (uint64_t)count;
    for (size_t i = 0; i < bars->n_parts; i++) {
        double ns = report_number(&cells[bars->column[i]]);

        if (strcmp(parts[bars->part[i]].column, "total_ns") == 0)
            ns -= report_value(rows, cells, "kernel_ns");
        bar->sum_ns[i] += isnan(ns) ? 0 : ns * count;
    }
}

/* The label of the bar that a row belongs to. */
static void label_of(enum command command, const struct rows *rows, const struct cell *cells,
                     char label[REPORT_LABEL_BYTES])
{
    char rate[SVG_NUMBER_BYTES];

    if (report_column(rows, "of") != SIZE_MAX) {
        snprintf(label, REPORT_LABEL_BYTES, "%s", report_text(rows, cells, "of"));
        return;
    }
    switch (command) {
    case COMMAND_PROBE:
        snprintf(label, REPORT_LABEL_BYTES, "%s", report_text(rows, cells, "case"));
        break;
    case COMMAND_LOAD:
        snprintf(label, REPORT_LABEL_BYTES, "rate %s",
                 svg_short(report_value(rows, cells, "rate"), 6, rate));
        break;
    case COMMAND_SWEEP:
        snprintf(label, REPORT_LABEL_BYTES, "%s \xe2\x86\x92 %s", report_text(rows, cells, "src"),
                 report_text(rows, cells, "dst"));
        break;
    case COMMAND_RUN:
        snprintf(label, REPORT_LABEL_BYTES, "%s", report_text(rows, cells, "kernel"));
        break;
    default:
        snprintf(label, REPORT_LABEL_BYTES, "%s", report_text(rows, cells, "op"));
        break;
    }
}

/* Rows become bars by their labels. Commands with many rows get a bar "all" in front. */
static void collect_bars(struct bars *bars, enum command command, const struct rows *rows)
{
    bool sums_up = command == COMMAND_REPLAY || command == COMMAND_SWEEP;
    struct cell cells[ROW_CELLS_MAX];
    char label[REPORT_LABEL_BYTES];

    find_parts(bars, rows);
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        label_of(command, rows, cells, label);
        if (strcmp(label, "saturation") == 0) /* of probe: it has a plot instead */
            continue;
        if (sums_up)
            add_row(bars, "all", rows, cells);
        add_row(bars, label, rows, cells);
    }
}

static double sum_ns(const struct bars *bars, const struct bar *bar)
{
    double sum = 0;

    for (size_t i = 0; i < bars->n_parts; i++)
        sum += bar->sum_ns[i];
    return sum;
}

/* The same without what is below 0, which cannot be drawn: rows of banks that were open. */
static double drawn_ns(const struct bars *bars, const struct bar *bar)
{
    double sum = 0;

    for (size_t i = 0; i < bars->n_parts; i++)
        sum += fmax(bar->sum_ns[i], 0);
    return sum;
}

/* Does any bar have such a part? */
static bool has_part(const struct bars *bars, size_t i)
{
    for (size_t b = 0; b < bars->n; b++)
        if (bars->bar[b].sum_ns[i] > 0 || bars->bar[b].sum_ns[i] < 0)
            return true;
    return false;
}

/* Colours and their names; returns the height. With `g` NULL it only measures. */
static double put_legend(struct svg *g, const struct bars *bars)
{
    double x = 10, y = 10;

    for (size_t i = 0; i < bars->n_parts; i++) {
        const struct part *part = &parts[bars->part[i]];
        double wide = svg_text_width(part->name, LETTERS) + 34;

        if (!has_part(bars, i))
            continue;
        if (x + wide > WIDTH) {
            x = 10;
            y += LEGEND_ROW;
        }
        if (g) {
            svg_rect(g, part->colour, x, y, 12, 12);
            svg_text(g, NULL, x + 18, y + 10, SVG_START, part->name);
        }
        x += wide;
    }
    return y + LEGEND_ROW + 8;
}

/* Where bars begin, and how long the longest is. */
struct scale {
    double x, width;
    double longest_ns; /* 0: all bars are equally long, and show shares of their own latency */
};

/* One bar: a rectangle for each part with a time, its tooltip, and the sum at the right end. */
static void put_bar(struct svg *g, const struct bars *bars, const struct bar *bar,
                    const struct scale *scale, double y)
{
    double sum = sum_ns(bars, bar), mean_ns = sum / (double)bar->count;
    double px = sum > 0 ? scale->width / drawn_ns(bars, bar) : 0, x = scale->x;
    char text[REPORT_LABEL_BYTES];

    if (scale->longest_ns > 0)
        px = scale->width / scale->longest_ns / (double)bar->count;
    svg_text(g, NULL, scale->x - 8, y + 12, SVG_END, bar->label);
    for (size_t i = 0; i < bars->n_parts; i++) {
        const struct part *part = &parts[bars->part[i]];

        if (!(bar->sum_ns[i] > 0))
            continue;
        svg_start(g, "rect", part->colour);
        svg_attr_number(g, "x", x);
        svg_attr_number(g, "y", y);
        svg_attr_number(g, "width", bar->sum_ns[i] * px);
        svg_attr_number(g, "height", 16);
        svg_inside(g);
        text_format(text, sizeof text, "%s: %.2f ns, %.1f %%", part->name,
                    report_round(bar->sum_ns[i] / (double)bar->count, 2),
                    report_round(100 * bar->sum_ns[i] / sum, 1));
        svg_tip(g, text);
        svg_close(g, "rect");
        x += bar->sum_ns[i] * px;
    }
    text_format(text, sizeof text, "%.2f ns", report_round(mean_ns, 2));
    svg_text(g, NULL, x + 8, y + 12, SVG_START, text);
}

/* Room for labels at the left and sums at the right is measured first; bars have the rest of the
 * width. */
static void put_bars(struct sink *s, const struct bars *bars)
{
    struct svg g = {.s = s, .prefix = bars->picture, .width = WIDTH};
    double y = put_legend(NULL, bars), label = 0, value = 0, longest_ns = 0;

    for (size_t i = 0; i < bars->n; i++) {
        const struct bar *bar = &bars->bar[i];
        double mean_ns = sum_ns(bars, bar) / (double)(bar->count > 0 ? bar->count : 1);
        char text[REPORT_LABEL_BYTES];

        text_format(text, sizeof text, "%.2f ns", report_round(mean_ns, 2));
        label = fmax(label, svg_text_width(bar->label, LETTERS));
        value = fmax(value, svg_text_width(text, LETTERS));
        longest_ns = fmax(longest_ns, mean_ns);
    }
    struct scale scale = {label + 20, WIDTH - label - value - 40, bars->absolute ? longest_ns : 0};
    g.height = y + 24 * (double)bars->n + 4;
    html_begin_picture(s, bars->caption, false);
    svg_begin(&g, "Bars: the parts of latency; the table below has the numbers");
    put_legend(&g, bars);
    for (size_t i = 0; i < bars->n; i++)
        if (bars->bar[i].count > 0)
            put_bar(&g, bars, &bars->bar[i], &scale, y + 24 * (double)i);
    svg_end(&g);
    html_end_picture(s);
}

/* A row of the table below the bars: the same numbers, so that nothing is shown by colour alone. */
static bool bar_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct bars *bars = arg;
    const struct bar *bar = &bars->bar[i];
    double sum = sum_ns(bars, bar);
    size_t c = 0;

    if (bar->count == 0)
        return false;
    cells[c++] = cell_text(bar->label);
    if (!bars->sums)
        cells[c++] = cell_count(bar->count);
    cells[c++] = cell_fraction(sum / (double)bar->count);
    for (size_t k = 0; k < bars->n_parts; k++)
        if (has_part(bars, k))
            cells[c++] = sum > 0 ? cell_percent(100 * bar->sum_ns[k] / sum) : cell_none();
    return true;
}

/* Parts that no bar has get no column. */
static void put_bars_table(struct sink *s, struct bars *bars)
{
    struct column columns[3 + N_PARTS] = {COLUMN_BY_HAND("of", CELL_TEXT)};
    char names[N_PARTS][64];
    struct rows rows = {
        .columns = columns, .n_columns = 1, .n_rows = bars->n, .row = bar_row, .arg = bars};

    if (!bars->sums)
        columns[rows.n_columns++] = (struct column)COLUMN_BY_HAND("count", CELL_COUNT);
    columns[rows.n_columns++] =
        (struct column)COLUMN_BY_HAND(bars->sums ? "total_ns" : "mean_ns", CELL_FRACTION);
    for (size_t i = 0; i < bars->n_parts; i++) {
        if (!has_part(bars, i))
            continue;
        snprintf(names[i], sizeof names[i], "%s %%", parts[bars->part[i]].name);
        columns[rows.n_columns++] = (struct column)COLUMN_BY_HAND(names[i], CELL_PERCENT);
    }
    report_table(s, bars->table, bars->table_caption, &rows, NULL);
}

/* The part with the most time. Of sums the first bar is that of all. */
static void put_lead(struct sink *s, const struct bars *bars)
{
    double all = 0, most = 0;
    size_t found = 0;

    for (size_t i = 0; i < bars->n_parts; i++) {
        double sum = 0;

        for (size_t k = 0; k < (bars->sums ? 1 : bars->n); k++)
            sum += bars->bar[k].sum_ns[i];
        all += sum;
        if (sum > most) {
            most = sum;
            found = i;
        }
    }
    if (all > 0)
        lead_part(s, parts[bars->part[found]].name, 100 * most / all);
}

static void put_all(struct sink *s, enum command command, const struct rows *rows,
                    const struct bars *how)
{
    struct bars *bars = memory_new(1, sizeof *bars);

    *bars = *how;
    collect_bars(bars, command, rows);
    if (bars->n > 0 && bars->n_parts > 0) {
        put_lead(s, bars);
        put_bars(s, bars);
        if (bars->more)
            sink_text(s, "<p>There are more bars; these are the first.</p>\n");
        put_bars_table(s, bars);
    }
    free(bars);
}

void report_breakdown(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    enum command command = cli->opts.command;
    bool absolute = command == COMMAND_PROBE || command == COMMAND_RUN;

    put_all(s, command, rows,
            &(struct bars){.picture = "bars",
                           .table = "shares",
                           .caption = absolute ? "Mean latency, and its parts"
                                               : "Shares of latency, and the mean",
                           .table_caption = "Parts of latency, in per cent",
                           .absolute = absolute});
}

void report_breakdown_sums(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    put_all(s, cli->opts.command, rows,
            &(struct bars){.picture = "sum-bars",
                           .table = "sums",
                           .caption = "Shares of the time of all commands, and the sum",
                           .table_caption = "Parts of the time of commands, in per cent",
                           .sums = true});
}
