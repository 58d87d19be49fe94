/*
 * out.c -- results as rows of cells, and the formats in which they are printed.
 *
 * A command does not print. It describes a table (struct rows): the columns, how many rows there
 * are, and a function that makes the cells of row i. The format asks for the rows one by one and
 * forgets each after it is printed, so that a million rows need no more memory than one. For that
 *
 *   - row i is made from i alone: it may be asked for in any order, again (out_table.c measures all
 *     rows before it prints the first), or by several threads for different ranges (cmd_sweep.c);
 *   - texts in cells are valid until the next row is made;
 *   - a row function may return false: this row is left out (a transaction that is not complete).
 *
 * All formats print the same cells. Those for programs (CSV, JSON, JSON lines) print numbers
 * exactly: a time of 24326250 fs is 24.326250 ns, all six decimals. Those for people (table,
 * Markdown) round to 24.33. An empty cell (CELL_NONE) is nothing in CSV, null in JSON, "-" in a
 * table.
 *
 * A table has three parts: the head (CSV: names of columns; JSON: the origin of the results), rows,
 * and the tail. `sweep` prints the parts by itself, with blocks of rows in between; the first row
 * of JSON differs from the others by the comma before it, so rows are printed knowing whether they
 * begin at row 0.
 *
 * A program that runs commands itself gets no text: out_write() gives it the rows by columns
 * (out_tables.h).
 *
 * A new format is a name in FORMATS (out.h), a file out_NAME.c with its parts, and a line in each
 * switch below.
 */
#include "cli/out/out.h"
#include "cli/out/session.h"

void out_head(const struct rows *rows, const struct origin *origin, enum format format,
              struct sink *s)
{
    switch (format) {
    case FORMAT_CSV:
        out_csv_head(rows, s);
        break;
    case FORMAT_JSON:
        out_json_head(rows, origin, s);
        break;
    case FORMAT_JSONL:
        out_jsonl_head(rows, origin, s);
        break;
    case FORMAT_MD:
        out_md_head(rows, s);
        break;
    case FORMAT_NDJSON:
    case FORMAT_TABLE:
    case FORMAT_SVG:
    case FORMAT_DOT:
    case N_FORMATS:
        break;
    }
}

void out_rows(const struct rows *rows, uint64_t from, uint64_t to, enum format format,
              struct sink *s)
{
    switch (format) {
    case FORMAT_CSV:
        out_csv_rows(rows, from, to, s);
        break;
    case FORMAT_JSON:
        out_json_rows(rows, from, to, s);
        break;
    case FORMAT_JSONL:
    case FORMAT_NDJSON:
        out_jsonl_rows(rows, from, to, s);
        break;
    case FORMAT_MD:
        out_md_rows(rows, from, to, s);
        break;
    case FORMAT_TABLE:
    case FORMAT_SVG:
    case FORMAT_DOT:
    case N_FORMATS:
        break;
    }
}

void out_tail(const struct rows *rows, enum format format, struct sink *s)
{
    if (format == FORMAT_JSON)
        out_json_tail(s);
    else if (format == FORMAT_MD)
        out_md_tail(rows, s);
}

void out_write(const struct rows *rows, const struct origin *origin, enum format format,
               struct sink *s)
{
    if (s->session) {
        tables_add(&s->session->tables, origin->command, rows);
        return;
    }
    if (format == FORMAT_TABLE) {
        out_table(rows, origin->columns, s);
        return;
    }
    out_head(rows, origin, format, s);
    out_rows(rows, 0, rows->n_rows, format, s);
    out_tail(rows, format, s);
}
