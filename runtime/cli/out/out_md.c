/*
 * out_md.c -- rows as a table of GitHub's Markdown, rounded for people.
 *
 * `|` and `\` in texts are escaped, and control characters are shown as \x1b. Unlike out_table.c
 * the rows are made once: Markdown is aligned by the program that shows it.
 */
#include "cli/out/out.h"
#include "base/text.h"

static void put_text(struct sink *s, const char *text)
{
    while (*text) {
        if (*text == '|' || *text == '\\')
            sink_char(s, '\\');
        if (*text == '\n') {
            sink_char(s, ' ');
            text++;
        } else {
            s->at = text_put_visible(sink_room(s, 4), &text);
        }
    }
}

static void put_cell(struct sink *s, const struct cell *cell)
{
    sink_char(s, ' ');
    if (cell->type == CELL_TEXT)
        put_text(s, cell->text);
    else
        s->at = cell_put_rounded(sink_room(s, TEXT_NUMBER_BYTES), cell);
    sink_text(s, " |");
}

void out_md_head(const struct rows *rows, struct sink *s)
{
    if (rows->warning && *rows->warning) {
        sink_text(s, rows->warning);
        sink_text(s, "\n\n");
    }
    sink_char(s, '|');
    for (size_t c = 0; c < rows->n_columns; c++) {
        sink_char(s, ' ');
        put_text(s, rows->columns[c].name);
        sink_text(s, " |");
    }
    sink_text(s, "\n|");
    for (size_t c = 0; c < rows->n_columns; c++)
        sink_text(s, rows->columns[c].type == CELL_TEXT ? " --- |" : " ---: |");
    sink_char(s, '\n');
}

void out_md_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s)
{
    struct cell cells[ROW_CELLS_MAX];

    for (uint64_t i = from; i < to && sink_ok(s); i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        sink_char(s, '|');
        for (size_t c = 0; c < rows->n_columns; c++)
            put_cell(s, &cells[c]);
        sink_char(s, '\n');
    }
}

void out_md_tail(const struct rows *rows, struct sink *s)
{
    if (!rows->note)
        return;
    sink_char(s, '\n');
    sink_text(s, rows->note);
    sink_char(s, '\n');
}
