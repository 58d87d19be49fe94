/*
 * report_table.c -- tables of a report: rows as HTML, and again as JSON for sorting.
 *
 * Rows are made by a function (struct rows), so a table of any length is written in one pass, and
 * only the first 1000 rows become HTML. The JSON stands in a <script> that browsers do not run; its
 * only danger is a text with "</script>", so each '<' is written as \u003c. report.js replaces the
 * rows of the table by those that match, in the order that was clicked.
 *
 * Invariants: a cell of HTML is rounded exactly as report.js rounds it, and the JSON has the full
 * number, so that sorting does not depend on rounding; without scripts the page still has the
 * first 1000 rows; texts are escaped in both forms, in HTML by svg_escape(), in JSON by
 * put_escaped().
 */
#include "cli/report/report_parts.h"
#include "cli/view/svg.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- HTML ----------------------------------------------------------------------------------- */

void html_text(struct sink *s, const char *text)
{
    svg_escape(s, text);
}

void html_count(struct sink *s, uint64_t n)
{
    s->at = text_put_count(sink_room(s, TEXT_NUMBER_BYTES), n);
}

void html_element(struct sink *s, const char *element, const char *text)
{
    sink_char(s, '<');
    sink_text(s, element);
    sink_char(s, '>');
    html_text(s, text);
    sink_text(s, "</");
    sink_text(s, element);
    sink_char(s, '>');
}

void html_begin_picture(struct sink *s, const char *caption, bool titled)
{
    sink_text(s, "<figure>");
    if (!titled)
        html_element(s, "figcaption", caption);
    sink_text(s, "\n<div class=picture tabindex=0 role=region aria-label=\"");
    html_text(s, caption);
    sink_text(s, "\">");
}

void html_end_picture(struct sink *s)
{
    sink_text(s, "</div></figure>\n");
}

/* -- cells ---------------------------------------------------------------------------------- */

size_t report_column(const struct rows *rows, const char *name)
{
    for (size_t c = 0; c < rows->n_columns; c++)
        if (strcmp(rows->columns[c].name, name) == 0)
            return c;
    return SIZE_MAX;
}

double report_number(const struct cell *cell)
{
    char text[TEXT_NUMBER_BYTES];

    if (cell->type == CELL_NONE || cell->type == CELL_TEXT)
        return NAN;
    *cell_put_exact(text, cell) = '\0';
    return text_to_double(text, NULL);
}

double report_value(const struct rows *rows, const struct cell *cells, const char *name)
{
    size_t c = report_column(rows, name);

    return c == SIZE_MAX ? NAN : report_number(&cells[c]);
}

const char *report_text(const struct rows *rows, const struct cell *cells, const char *name)
{
    size_t c = report_column(rows, name);

    return c == SIZE_MAX || cells[c].type != CELL_TEXT ? "" : cells[c].text;
}

double report_round(double value, int decimals)
{
    double unit = decimals == 1 ? 1e5 : 1e4;

    return floor((round(value * 1e6) + unit / 2) / unit) * (unit / 1e6);
}

/* Decimals that a table shows at first; "": all. */
static const char *decimals_of(enum cell_type type)
{
    switch (type) {
    case CELL_NS:
    case CELL_FRACTION:
        return "2";
    case CELL_PERCENT:
        return "1";
    default:
        return "";
    }
}

/* Infinities and NaN are left empty. */
static char *put_rounded(char *to, double value, int decimals)
{
    if (!isfinite(value))
        return to;
    return to + text_format(to, TEXT_NUMBER_BYTES, "%.*f", decimals, report_round(value, decimals));
}

/* The rounded number that report.js would show for the same cell, unless the column is exact. */
static void put_number(struct sink *s, const struct cell *cell)
{
    const char *decimals = decimals_of(cell->type);
    char *room = sink_room(s, TEXT_NUMBER_BYTES);

    if (*decimals)
        s->at = put_rounded(room, report_number(cell), *decimals - '0');
    else if (cell->type == CELL_DECIMAL)
        s->at = cell_put_rounded(room, cell);
    else
        s->at = cell_put_exact(room, cell);
}

/* Numbers are aligned at the right (class n). */
static void put_cell(struct sink *s, const struct column *column, const struct cell *cell)
{
    sink_text(s, column->type == CELL_TEXT ? "<td>" : "<td class=n>");
    if (cell->type == CELL_TEXT)
        html_text(s, cell->text);
    else
        put_number(s, cell);
    sink_text(s, "</td>");
}

/* -- the table ------------------------------------------------------------------------------ */

/* "queue_<wbr>link_<wbr>ns": lines may be broken there. */
static void put_name(struct sink *s, const char *name)
{
    char part[REPORT_LABEL_BYTES];

    while (*name) {
        size_t n = strcspn(name, "_"), skip = name[n] ? 1 : 0;

        snprintf(part, sizeof part, "%.*s", (int)(n + skip), name);
        html_text(s, part);
        sink_text(s, skip ? "<wbr>" : "");
        name += n + skip;
    }
}

/* A head is a button, by which report.js sorts. data-decimals tells it how to round the column. */
static void put_head(struct sink *s, const struct rows *rows)
{
    sink_text(s, "<thead><tr>");
    for (size_t c = 0; c < rows->n_columns; c++) {
        const struct column *column = &rows->columns[c];

        sink_text(s, column->type == CELL_TEXT ? "<th scope=col" : "<th scope=col class=n");
        sink_text(s, " data-decimals=\"");
        sink_text(s, decimals_of(column->type));
        sink_text(s, "\"><button type=button>");
        put_name(s, column->name);
        sink_text(s, "</button></th>\n");
    }
    sink_text(s, "</tr></thead>\n");
}

/* Rows in their original order. Returns how many there are in all. */
static uint64_t put_body(struct sink *s, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];
    uint64_t n = 0;

    sink_text(s, "<tbody>\n");
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        if (++n > REPORT_ROWS_SHOWN)
            continue;
        sink_text(s, "<tr>");
        for (size_t c = 0; c < rows->n_columns; c++)
            put_cell(s, &rows->columns[c], &cells[c]);
        sink_text(s, "</tr>\n");
    }
    sink_text(s, "</tbody>\n");
    return n;
}

/* Filter and digits, hidden until report.js is there. */
static void put_tools(struct sink *s, const char *id, const char *caption)
{
    sink_text(s, "<div class=tools hidden><label>Filter <input type=search placeholder=\"words\" "
                 "aria-label=\"Filter: ");
    html_text(s, caption);
    sink_text(s, "\" aria-controls=\"");
    sink_text(s, id);
    sink_text(s, "\"></label>\n<label><input type=checkbox> all digits</label>\n"
                 "<output></output></div>\n");
}

/* Says so if the page does not show, or does not have, all rows. */
static void put_counts(struct sink *s, uint64_t n)
{
    if (n <= REPORT_ROWS_SHOWN)
        return;
    sink_text(s, "<p>");
    if (n > REPORT_ROWS_KEPT) {
        sink_text(s, "The page has the first ");
        html_count(s, REPORT_ROWS_KEPT);
        sink_text(s, " of ");
        html_count(s, n);
        sink_text(s, " rows; the command alone prints all. ");
    }
    sink_text(s, "At most ");
    html_count(s, REPORT_ROWS_SHOWN);
    sink_text(s, " rows are shown at once; sorting and filtering use all rows of the "
                 "page.</p>\n");
}

/* -- JSON ----------------------------------------------------------------------------------- */

/* A '<' could end the script ("</script>"). JSON has it in strings only, where \u003c is the same.
 */
static void put_escaped(struct sink *s, const char *from, const char *to)
{
    while (from < to) {
        const char *less = memchr(from, '<', (size_t)(to - from));
        const char *end = less ? less : to;

        sink_bytes(s, from, (size_t)(end - from));
        if (less)
            sink_text(s, "\\u003c");
        from = less ? less + 1 : to;
    }
}

/* Rows as an object with a list "rows", as --format json prints them. */
static void put_json(struct sink *s, const char *id, const struct rows *rows,
                     const struct origin *origin)
{
    struct sink json;

    sink_open_memory(&json);
    if (origin)
        out_json_head(rows, origin, &json);
    else
        sink_text(&json, "{\"rows\":[");
    out_json_rows(rows, 0, rows->n_rows < REPORT_ROWS_KEPT ? rows->n_rows : REPORT_ROWS_KEPT,
                  &json);
    out_json_tail(&json);
    sink_text(s, "<script type=\"application/json\" id=\"");
    sink_text(s, id);
    sink_text(s, "-json\">");
    put_escaped(s, json.buffer, json.at);
    sink_text(s, "</script>\n");
    sink_free(&json);
}

/* Tools, table, a note if rows are missing, and the JSON. */
void report_table(struct sink *s, const char *id, const char *caption, const struct rows *rows,
                  const struct origin *origin)
{
    sink_text(s, "<div class=rows>\n");
    put_tools(s, id, caption);
    sink_text(s, "<div class=scroll tabindex=0 role=region aria-label=\"");
    html_text(s, caption);
    sink_text(s, "\"><table id=\"");
    sink_text(s, id);
    sink_text(s, "\">\n");
    html_element(s, "caption", caption);
    put_head(s, rows);
    uint64_t n = put_body(s, rows);
    sink_text(s, "</table></div>\n");
    put_counts(s, n);
    sink_text(s, "</div>\n");
    put_json(s, id, rows, origin);
}
