/*
 * report_leads.c -- the sentence with which each section of a report begins: what it shows.
 *
 * These sentences alone tell the result: "gemm takes 837.77 ns on 64 PEs, at
 * 40.68 TFLOP/s, 7.6 % of the peak"; "33.7 % of the time is port, the largest part"; "link c2 > c4
 * binds: 97.0 %". They are made of the same cells as the tables, by the names of columns.
 */
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/report/report_parts.h"
#include "cli/rows/place_text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINDS_PCT = 90 }; /* from here on a place is said to bind */

void lead_begin(struct sink *s)
{
    sink_text(s, "<p class=lead>");
}

void lead_end(struct sink *s)
{
    sink_text(s, "</p>\n");
}

/* "12.50 ns" */
static void put_number(struct sink *s, double value, int decimals, const char *unit)
{
    char text[TEXT_NUMBER_BYTES];

    text_format(text, sizeof text, "%.*f%s", decimals, report_round(value, decimals), unit);
    sink_text(s, text);
}

/* -- results -------------------------------------------------------------------------------- */

/* A row by the columns that tell it apart: "c0.pe0 -> c0.slice0, 4096 bytes", "rate 0.8", "id 3".
 */
static void put_row_name(struct sink *s, const struct rows *rows, const struct cell *cells)
{
    double rate = report_value(rows, cells, "rate"), id = report_value(rows, cells, "id");

    if (isfinite(rate)) {
        char text[TEXT_NUMBER_BYTES];
        struct cell cell = cell_decimal(rate);

        *cell_put_rounded(text, &cell) = '\0';
        sink_text(s, "rate ");
        sink_text(s, text);
        return;
    }
    if (isfinite(id)) {
        sink_text(s, "id ");
        put_number(s, id, 0, ", ");
    }
    html_text(s, report_text(rows, cells, "src"));
    sink_text(s, " \xe2\x86\x92 ");
    html_text(s, report_text(rows, cells, "dst"));
    sink_text(s, ", ");
    put_number(s, report_value(rows, cells, "nbytes"), 0, " bytes");
}

static void put_place(struct sink *s, double ns, const struct rows *rows, const struct cell *cells)
{
    put_number(s, ns, 2, " ns (");
    put_row_name(s, rows, cells);
    sink_text(s, ")");
}

/* The column of latency; NULL: rows have none. */
static const char *latency_of(const struct rows *rows)
{
    static const char *const names[] = {"actual_ns", "mean_ns"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (report_column(rows, names[i]) != SIZE_MAX)
            return names[i];
    return NULL;
}

/* "Latency is 18.09 ns (...) to 56.56 ns (...)." */
static void lead_latencies(struct sink *s, const struct rows *rows, const char *column)
{
    struct cell cells[ROW_CELLS_MAX];
    uint64_t least = UINT64_MAX, most = UINT64_MAX;
    double low = INFINITY, high = -INFINITY;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        double ns = rows->row(rows->arg, i, cells) ? report_value(rows, cells, column) : NAN;

        if (ns < low) {
            low = ns;
            least = i;
        }
        if (ns > high) {
            high = ns;
            most = i;
        }
    }
    if (least == UINT64_MAX)
        return;
    lead_begin(s);
    sink_text(s, "Latency is ");
    rows->row(rows->arg, least, cells);
    put_place(s, low, rows, cells);
    if (high > low) {
        sink_text(s, " to ");
        rows->row(rows->arg, most, cells);
        put_place(s, high, rows, cells);
    }
    sink_text(s, ".");
    lead_end(s);
}

/* The launch that takes longest. */
static void lead_launches(struct sink *s, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];
    uint64_t most = UINT64_MAX;
    double high = -INFINITY;

    for (uint64_t i = 0; i < rows->n_rows; i++)
        if (rows->row(rows->arg, i, cells) && report_value(rows, cells, "kernel_ns") > high) {
            high = report_value(rows, cells, "kernel_ns");
            most = i;
        }
    if (most == UINT64_MAX)
        return;
    rows->row(rows->arg, most, cells);
    double tflops = report_value(rows, cells, "tflops");
    lead_begin(s);
    html_text(s, report_text(rows, cells, "kernel"));
    sink_text(s, " takes ");
    put_number(s, high, 2, " ns on ");
    put_number(s, report_value(rows, cells, "pes"), 0, " PEs");
    if (isfinite(tflops)) {
        sink_text(s, ", at ");
        put_number(s, tflops, 2, " TFLOP/s, ");
        put_number(s, report_value(rows, cells, "peak_pct"), 1, " % of the peak");
    }
    sink_text(s, ".");
    lead_end(s);
}

/* How many rows of a study gain, and how many are on the front. */
static void lead_variants(struct sink *s, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];
    uint64_t n = 0, faster = 0, front = 0;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        n++;
        faster += report_value(rows, cells, "gain_pct") > 0;
        front += report_value(rows, cells, "on_front") > 0;
    }
    lead_begin(s);
    html_count(s, faster);
    sink_text(s, " of ");
    html_count(s, n);
    sink_text(s, " runs are faster than the base machine's");
    if (front > 0) {
        sink_text(s, "; ");
        html_count(s, front);
        sink_text(s, front == 1 ? " is on the Pareto front" : " are on the Pareto front");
    }
    sink_text(s, ".");
    lead_end(s);
}

void lead_results(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    const char *latency = latency_of(rows);

    if (cli->opts.command == COMMAND_STUDY)
        lead_variants(s, rows);
    else if (cli->opts.command == COMMAND_RUN)
        lead_launches(s, rows);
    else if (latency)
        lead_latencies(s, rows, latency);
}

/* -- plots ---------------------------------------------------------------------------------- */

/* The largest value of a column, and its row. */
static void lead_most(struct sink *s, const struct rows *rows, const char *column,
                      const char *before, const char *unit)
{
    struct cell cells[ROW_CELLS_MAX];
    uint64_t most = UINT64_MAX;
    double high = -INFINITY;

    for (uint64_t i = 0; i < rows->n_rows; i++)
        if (rows->row(rows->arg, i, cells) && report_value(rows, cells, column) > high) {
            high = report_value(rows, cells, column);
            most = i;
        }
    if (most == UINT64_MAX)
        return;
    rows->row(rows->arg, most, cells);
    lead_begin(s);
    sink_text(s, before);
    put_number(s, high, 2, unit);
    sink_text(s, " (");
    put_row_name(s, rows, cells);
    sink_text(s, ").");
    lead_end(s);
}

/* The first line of the note says where `load` saturates, or which variant is best. */
static void lead_note(struct sink *s, const char *note)
{
    char *line = memory_part(note, strcspn(note, "\n"));

    lead_begin(s);
    *line = *line >= 'a' && *line <= 'z' ? (char)(*line - 'a' + 'A') : *line;
    html_text(s, line);
    sink_text(s, ".");
    lead_end(s);
    free(line);
}

/* The launch that computes most per byte lies farthest to the right in the roofline. */
static void lead_intensity(struct sink *s, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        double x = rows->row(rows->arg, i, cells) ? report_value(rows, cells, "ops_per_byte") : NAN;

        if (!isfinite(x))
            continue;
        lead_begin(s);
        html_text(s, report_text(rows, cells, "kernel"));
        sink_text(s, " does ");
        put_number(s, x, 2, " operations for each byte of DMA, and moves ");
        put_number(s, report_value(rows, cells, "gbs"), 2, " GB/s.");
        lead_end(s);
        return;
    }
}

void lead_plots(struct sink *s, const struct cli *cli, const struct rows *rows)
{
    switch (cli->opts.command) {
    case COMMAND_PROBE:
        lead_most(s, rows, "eff_bw_gbs", "The highest throughput of one transaction is ", " GB/s");
        break;
    case COMMAND_SWEEP:
        lead_most(s, rows, "gbs", "The highest throughput is ", " GB/s");
        break;
    case COMMAND_STUDY:
    case COMMAND_LOAD:
        if (rows->note && *rows->note)
            lead_note(s, rows->note);
        break;
    case COMMAND_RUN:
        lead_intensity(s, rows);
        break;
    default:
        break;
    }
}

/* -- where the time goes -------------------------------------------------------------------- */

void lead_part(struct sink *s, const char *part, double percent)
{
    lead_begin(s);
    put_number(s, percent, 1, " % of the time is ");
    html_text(s, part);
    sink_text(s, ", the largest part.");
    lead_end(s);
}

/* -- utilization ---------------------------------------------------------------------------- */

void lead_busiest(struct sink *s, const char *kind, const char *name, double percent,
                  const char *when)
{
    char place[PLACE_TEXT_BYTES];

    lead_begin(s);
    sink_text(s, percent < BINDS_PCT ? "Nothing binds: the busiest is " : "");
    sink_text(s, kind);
    sink_char(s, ' ');
    html_text(s, place_text(name, place));
    sink_text(s, percent < BINDS_PCT ? ", " : percent > 100 ? " would have to carry " : " binds: ");
    put_number(s, percent, 1, " %");
    html_text(s, when);
    sink_text(s, percent > 100 ? "; ideal links do not queue." : ".");
    lead_end(s);
}
