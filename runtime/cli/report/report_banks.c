/*
 * report_banks.c -- the rows of memories with banks: bars and a table of a report.
 *
 * A slice has one bar: which shares of its segments found their row open, no row open, or another
 * row open, which had to be closed. The slices with the most segments are shown, SLICES_MAX of
 * them. The table below has their channels, those with the most conflicts first. Without such a
 * memory the section is empty, and left out.
 */
#include "cli/report/report_utilization.h"
#include "cli/out/memory.h"
#include "cli/view/svg.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 760, ROW_PX = 24, LETTERS = 11, SLICES_MAX = 16, N_KINDS = 3 };

static const struct {
    const char *name, *colour;
} kinds[N_KINDS] = {
    {"row hits", "c-drain"}, {"row misses", "c-channel"}, {"row conflicts", "c-memory"}};

static uint64_t segments_of(const kb_utilization *use)
{
    return use->row_hits + use->row_misses + use->row_conflicts;
}

static double share_pct(const kb_utilization *use, int kind)
{
    const uint64_t n[N_KINDS] = {use->row_hits, use->row_misses, use->row_conflicts};

    return 100 * (double)n[kind] / (double)segments_of(use);
}

/* -- which rows ----------------------------------------------------------------------------- */

static int by_segments(const void *a, const void *b)
{
    const kb_utilization *x = *(const kb_utilization *const *)a;
    const kb_utilization *y = *(const kb_utilization *const *)b;

    if (segments_of(x) != segments_of(y))
        return segments_of(x) < segments_of(y) ? 1 : -1;
    return strverscmp(x->name, y->name);
}

static int by_conflicts(const void *a, const void *b)
{
    const kb_utilization *x = *(const kb_utilization *const *)a;
    const kb_utilization *y = *(const kb_utilization *const *)b;

    if (x->row_conflicts != y->row_conflicts)
        return x->row_conflicts < y->row_conflicts ? 1 : -1;
    return strverscmp(x->name, y->name);
}

/* Those of one kind that have served segments; to be freed. */
static const kb_utilization **find(const struct utilization_rows *stats, kb_place_kind kind,
                                   size_t *n)
{
    const kb_utilization **found = memory_new(stats->n + 1, sizeof(kb_utilization *));

    *n = 0;
    for (size_t i = 0; i < stats->n; i++)
        if (stats->use[i].kind == kind && stats->use[i].has_rows && segments_of(&stats->use[i]))
            found[(*n)++] = &stats->use[i];
    return found;
}

/* -- bars ----------------------------------------------------------------------------------- */

static void put_legend(struct svg *g)
{
    double x = 10;

    for (int i = 0; i < N_KINDS; i++) {
        svg_rect(g, kinds[i].colour, x, 10, 12, 12);
        svg_text(g, NULL, x + 18, 20, SVG_START, kinds[i].name);
        x += svg_text_width(kinds[i].name, LETTERS) + 34;
    }
}

static void put_bar(struct svg *g, const kb_utilization *use, double x, double y, double width)
{
    char text[REPORT_LABEL_BYTES];

    svg_text(g, NULL, x - 8, y + 12, SVG_END, use->name);
    for (int i = 0; i < N_KINDS; i++) {
        double pct = share_pct(use, i), px = pct / 100 * width;

        if (!(pct > 0))
            continue;
        svg_start(g, "rect", kinds[i].colour);
        svg_attr_number(g, "x", x);
        svg_attr_number(g, "y", y);
        svg_attr_number(g, "width", px);
        svg_attr_number(g, "height", 16);
        svg_inside(g);
        text_format(text, sizeof text, "%s: %.1f %%", kinds[i].name, report_round(pct, 1));
        svg_tip(g, text);
        svg_close(g, "rect");
        x += px;
    }
    text_format(text, sizeof text, "%.1f %%", report_round(share_pct(use, 2), 1));
    svg_text(g, NULL, x + 8, y + 12, SVG_START, text);
}

static void put_bars(struct sink *s, const kb_utilization **slices, size_t n)
{
    struct svg g = {
        .s = s, .prefix = "row-bars", .width = WIDTH, .height = 36 + ROW_PX * (double)n};
    double label = 0;

    for (size_t i = 0; i < n; i++)
        label = fmax(label, svg_text_width(slices[i]->name, LETTERS));
    html_begin_picture(s, "Segments of each slice by what they found, and the share of conflicts",
                       false);
    svg_begin(&g, "Bars: row hits, misses and conflicts; the table below has those of channels");
    put_legend(&g);
    for (size_t i = 0; i < n; i++)
        put_bar(&g, slices[i], label + 20, 36 + ROW_PX * (double)i, WIDTH - label - 90);
    svg_end(&g);
    html_end_picture(s);
}

/* -- the table ------------------------------------------------------------------------------ */

static const struct column columns[] = {
    COLUMN("name", CELL_TEXT, kb_utilization, name),
    COLUMN("count", CELL_COUNT, kb_utilization, count),
    COLUMN("row_hits", CELL_COUNT, kb_utilization, row_hits),
    COLUMN("row_misses", CELL_COUNT, kb_utilization, row_misses),
    COLUMN("row_conflicts", CELL_COUNT, kb_utilization, row_conflicts),
    COLUMN("activations", CELL_COUNT, kb_utilization, activations),
    COLUMN("util_pct", CELL_PERCENT, kb_utilization, util_pct),
    COLUMN("refresh_pct", CELL_PERCENT, kb_utilization, refresh_pct),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static bool channel_row(void *arg, uint64_t i, struct cell *cells)
{
    const kb_utilization **channels = arg;

    record_cells(columns, N_COLUMNS, channels[i], cells);
    return true;
}

static void put_lead(struct sink *s, const kb_utilization **slices, size_t n, const char *when)
{
    double all = 0, conflicts = 0;
    char text[REPORT_LABEL_BYTES];

    for (size_t i = 0; i < n; i++) {
        all += (double)segments_of(slices[i]);
        conflicts += (double)slices[i]->row_conflicts;
    }
    text_format(text, sizeof text, "%.1f %%", report_round(100 * conflicts / all, 1));
    lead_begin(s);
    sink_text(s, text);
    sink_text(s, " of all segments closed another row of their bank");
    html_text(s, when);
    sink_text(s, ".");
    lead_end(s);
}

void report_banks(const struct report_utilization *u, struct sink *s)
{
    size_t n_slices, n_channels;
    const kb_utilization **slices = find(&u->stats, KB_AT_MEMORY, &n_slices);
    const kb_utilization **channels = find(&u->stats, KB_AT_BANKS, &n_channels);
    struct rows rows = {ROWS_COLUMNS(columns), .n_rows = n_channels, .row = channel_row,
                        .arg = channels};

    if (n_slices > 0) {
        qsort(slices, n_slices, sizeof *slices, by_segments);
        qsort(channels, n_channels, sizeof *channels, by_conflicts);
        put_lead(s, slices, n_slices, u->when);
        put_bars(s, slices, n_slices < SLICES_MAX ? n_slices : SLICES_MAX);
        report_table(s, "channels", "Channels of memories with banks", &rows, NULL);
    }
    free(slices);
    free(channels);
}
