/*
 * out_csv.c -- rows as CSV: a header, then one line per row.
 *
 * RFC 4180, with LF for the ends of lines: a field is quoted only if it holds a comma, a quote or
 * an end of line. This is the fastest format and the default of commands that print many rows.
 */
#include "cli/out/out.h"
#include "base/text.h"

/* RFC 4180: what would end a field, or open one, goes between quotes. */
static void put_quoted(struct sink *s, const char *text)
{
    sink_char(s, '"');
    for (; *text; text++) {
        if (*text == '"')
            sink_char(s, '"');
        sink_char(s, *text);
    }
    sink_char(s, '"');
}

static bool is_plain(char c)
{
    return c != ',' && c != '"' && c != '\n' && c != '\r';
}

static void put_text(struct sink *s, const char *text)
{
    size_t n = 0;

    while (text[n] && is_plain(text[n]))
        n++;
    if (text[n])
        put_quoted(s, text);
    else
        sink_bytes(s, text, n);
}

static void put_cell(struct sink *s, const struct cell *cell)
{
    if (cell->type == CELL_TEXT)
        put_text(s, cell->text);
    else
        s->at = cell_put_exact(sink_room(s, TEXT_NUMBER_BYTES), cell);
}

void out_csv_head(const struct rows *rows, struct sink *s)
{
    for (size_t c = 0; c < rows->n_columns; c++) {
        sink_text(s, rows->columns[c].name);
        sink_char(s, c + 1 < rows->n_columns ? ',' : '\n');
    }
}

void out_csv_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s)
{
    struct cell cells[ROW_CELLS_MAX];

    for (uint64_t i = from; i < to && sink_ok(s); i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        for (size_t c = 0; c < rows->n_columns; c++) {
            put_cell(s, &cells[c]);
            sink_char(s, c + 1 < rows->n_columns ? ',' : '\n');
        }
    }
}
