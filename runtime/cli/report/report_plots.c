/*
 * report_plots.c -- the plots of a report: curves over bytes, latency over throughput, a roofline.
 *
 * Which plot sums up a command depends on what was varied:
 *
 *     sweep   latency and throughput over bytes, or over transactions at once if only that varies;
 *             a curve for each pair of endpoints, and for each op and number at once if they vary
 *     probe   throughput over bytes, of its saturation cases
 *     load    latency over throughput, as `view latency` draws it
 *     run     a roofline, as `view roofline` draws it, if any launch computes
 *     study   gains, costs, curves over a key: report_study.c
 *
 * report_curves.c draws curves.
 *
 * Example, the saturation cases of `probe` on cube8: reads of the own slice, 4 KiB 226.49 GB/s, 16
 * KiB 247.92, 64 KiB 253.93, 1 MiB 255.87, towards the bottleneck's 256.
 */
#include "cli/report/report_curves.h"
#include "cli/out/memory.h"
#include "cli/view/svg.h"
#include "cli/view/view.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATES_MAX = 2000 }; /* that are drawn; of more every n-th */

/*
 * "c0.pe0 -> c5.slice3, 8 at once, read", without the parts that are the same everywhere. Rows
 * with equal labels are points of one curve, so a part that varies must be in it, unless it is the
 * x axis.
 */
static void curve_label(const struct plot *plot, const struct rows *rows, const struct cell *cells,
                        char label[REPORT_LABEL_BYTES])
{
    int n = snprintf(label, REPORT_LABEL_BYTES, "%s \xe2\x86\x92 %s",
                     report_text(rows, cells, "src"), report_text(rows, cells, "dst"));

    if (plot->of_inflight)
        n += text_format(label + n, (size_t)(REPORT_LABEL_BYTES - n), ", %.0f at once",
                         report_value(rows, cells, "inflight"));
    if (plot->of_op)
        snprintf(label + n, (size_t)(REPORT_LABEL_BYTES - n), ", %s",
                 report_text(rows, cells, "op"));
}

/* Of probe only the cases of saturation make a curve. */
static void collect_points(struct plot *plot, enum command command, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];
    char label[REPORT_LABEL_BYTES];

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        if (command == COMMAND_PROBE && strcmp(report_text(rows, cells, "case"), "saturation") != 0)
            continue;
        curve_label(plot, rows, cells, label);
        plot_add(plot, label,
                 (struct svg_point){report_value(rows, cells, plot->x),
                                    report_value(rows, cells, plot->y)});
    }
}

/* Draws a plot of the rows, if it has any point. Give back with plot_free(). */
static void do_plot(struct sink *s, struct plot *plot, enum command command,
                    const struct rows *rows)
{
    collect_points(plot, command, rows);
    plot_draw(s, plot);
}

/*
 * Do rows differ in the column with that name? Asked of the rows, not of the options: a list of
 * one value does not vary.
 */
static bool varies(const struct rows *rows, const char *name)
{
    struct cell cells[ROW_CELLS_MAX];
    size_t c = report_column(rows, name);
    char first[64] = "", text[64];
    bool any = false;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        if (cells[c].type == CELL_TEXT)
            snprintf(text, sizeof text, "%s", cells[c].text);
        else
            snprintf(text, sizeof text, "%llu", (unsigned long long)cells[c].count);
        if (any && strcmp(first, text) != 0)
            return true;
        memcpy(first, text, sizeof first);
        any = true;
    }
    return false;
}

/* Over bytes if they vary, else over the number of transactions at once. */
static void plot_sweep(struct sink *s, const struct rows *rows)
{
    bool bytes = varies(rows, "nbytes"), inflight = varies(rows, "inflight");
    struct plot plot = {.x = bytes ? "nbytes" : "inflight",
                        .x_label = bytes ? "bytes of a transaction" : "transactions at once",
                        .of_bytes = bytes,
                        .of_inflight = bytes && inflight,
                        .of_op = varies(rows, "op")};
    struct plot latency = plot, throughput = plot;

    if (!bytes && !inflight) {
        sink_text(s, "<p>All points have the same bytes and the same number in flight, so "
                     "there is no curve.</p>\n");
        return;
    }
    latency.y = "mean_ns";
    latency.y_label = "mean latency, ns";
    latency.title = "Latency";
    latency.prefix = "latency";
    do_plot(s, &latency, COMMAND_SWEEP, rows);
    throughput.y = "gbs";
    throughput.y_label = "GB/s";
    throughput.title = "Throughput";
    throughput.prefix = "throughput";
    throughput.like = &latency;
    do_plot(s, &throughput, COMMAND_SWEEP, rows);
    plot_free(&latency);
    plot_free(&throughput);
}

static void plot_probe(struct sink *s, const struct rows *rows)
{
    struct plot plot = {.x = "nbytes",
                        .of_bytes = true,
                        .y = "eff_bw_gbs",
                        .x_label = "bytes of a transaction",
                        .y_label = "GB/s",
                        .title = "Saturation: throughput of transactions one after the other",
                        .prefix = "saturation"};

    do_plot(s, &plot, COMMAND_PROBE, rows);
    plot_free(&plot);
}

/* Rates without a mean (nothing completed) are left out. */
static void plot_load(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    struct view_rate *rate = memory_new(rows->n_rows + 1, sizeof *rate);
    struct cell cells[ROW_CELLS_MAX];
    char what[REPORT_LABEL_BYTES];
    size_t n = 0;

    for (uint64_t i = 0; i < rows->n_rows; i += 1 + rows->n_rows / RATES_MAX) {
        if (!rows->row(rows->arg, i, cells) || isnan(report_value(rows, cells, "mean_ns")))
            continue;
        rate[n++] = (struct view_rate){.offered_gbs = report_value(rows, cells, "offered_gbs"),
                                       .accepted_gbs = report_value(rows, cells, "accepted_gbs"),
                                       .mean_ns = report_value(rows, cells, "mean_ns"),
                                       .p50_ns = report_value(rows, cells, "p50_ns"),
                                       .p99_ns = report_value(rows, cells, "p99_ns"),
                                       .steady = report_value(rows, cells, "steady") > 0};
    }
    snprintf(what, sizeof what, "%s, %llu bytes", cli->opts.pattern,
             (unsigned long long)cli->opts.bytes);
    if (n > 0) {
        html_begin_picture(s, "Latency over throughput", true);
        view_latency(cli, rate, n, what, "curve", s);
        html_end_picture(s);
    }
    free(rate);
}

/* Operations count a product and a sum as two, as peak numbers of machines do. */
static void plot_run(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    struct view_launch *launch = memory_new(rows->n_rows + 1, sizeof *launch);
    struct cell cells[ROW_CELLS_MAX];
    size_t n_launches = 0;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        launch[n_launches++] =
            (struct view_launch){.kernel = report_text(rows, cells, "kernel"),
                                 .operations = 2 * report_value(rows, cells, "gemm_macs") +
                                               report_value(rows, cells, "math_elements"),
                                 .bytes = report_value(rows, cells, "dma_read_bytes") +
                                          report_value(rows, cells, "dma_write_bytes"),
                                 .ns = report_value(rows, cells, "kernel_ns")};
    }
    if (view_roofline_shows(launch, n_launches)) {
        html_begin_picture(s, "Roofline", true);
        view_roofline(cli, launch, n_launches, "roofline", s);
        html_end_picture(s);
    }
    free(launch);
}

static void plot_command(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    switch (cli->opts.command) {
    case COMMAND_PROBE:
        plot_probe(s, rows);
        break;
    case COMMAND_SWEEP:
        plot_sweep(s, rows);
        break;
    case COMMAND_LOAD:
        plot_load(s, cli, rows);
        break;
    case COMMAND_RUN:
        plot_run(s, cli, rows);
        break;
    case COMMAND_STUDY:
        report_study(s, rows);
        break;
    default:
        break;
    }
}

/* Without a plot there is no sentence. */
void report_plots(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    struct sink plots;

    sink_open_memory(&plots);
    plot_command(&plots, cli, rows);
    if (plots.at != plots.buffer)
        lead_plots(s, cli, rows);
    sink_bytes(s, plots.buffer, (size_t)(plots.at - plots.buffer));
    sink_free(&plots);
}
