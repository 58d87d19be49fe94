/*
 * out_table.c -- rows as aligned columns, rounded for people.
 *
 * All rows are made twice: first to measure the widest cell of each column, then to print. Texts
 * stand to the left, numbers to the right. Control characters of texts are shown as \x1b. A warning
 * about all rows stands above them, so that they are not read without it. Below the table comes the
 * note, if the command has one: what a number is relative to, or what is not shown.
 */
#include "cli/out/out.h"
#include "base/text.h"

static const char gap[] = "  ";

/* The text of a cell, which is in `number` if the cell is a number. */
static const char *cell_show(const struct cell *cell, char number[TEXT_NUMBER_BYTES])
{
    if (cell->type == CELL_TEXT)
        return cell->text;
    if (cell->type == CELL_NONE)
        return "-";
    *cell_put_rounded(number, cell) = '\0';
    return number;
}

static void widen(size_t *width, size_t n)
{
    if (n > *width)
        *width = n;
}

/* First pass: the widest cell of every column. */
static void measure(const struct rows *rows, size_t *width)
{
    char number[TEXT_NUMBER_BYTES];
    struct cell cells[ROW_CELLS_MAX];

    for (size_t c = 0; c < rows->n_columns; c++)
        width[c] = text_visible_length(rows->columns[c].name);
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        for (size_t c = 0; c < rows->n_columns; c++)
            widen(&width[c], text_visible_length(cell_show(&cells[c], number)));
    }
}

static void pad(struct sink *s, size_t n)
{
    for (; n > 0; n--)
        sink_char(s, ' ');
}

/* Texts to the left, numbers to the right; no blanks at the end of a line. */
static void put_field(const struct rows *rows, size_t c, const char *text, size_t width,
                      struct sink *s)
{
    bool left = rows->columns[c].type == CELL_TEXT;
    bool last = c + 1 == rows->n_columns;
    size_t blanks = width - text_visible_length(text);

    if (!left)
        pad(s, blanks);
    while (*text)
        s->at = text_put_visible(sink_room(s, 4), &text);
    if (left && !last)
        pad(s, blanks);
    sink_text(s, last ? "\n" : gap);
}

void out_table(const struct rows *rows, struct sink *s)
{
    char number[TEXT_NUMBER_BYTES];
    struct cell cells[ROW_CELLS_MAX];
    size_t width[ROW_CELLS_MAX];

    measure(rows, width);
    if (rows->warning && *rows->warning) {
        sink_text(s, rows->warning);
        sink_char(s, '\n');
    }
    for (size_t c = 0; c < rows->n_columns; c++)
        put_field(rows, c, rows->columns[c].name, width[c], s);
    for (uint64_t i = 0; i < rows->n_rows && sink_ok(s); i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        for (size_t c = 0; c < rows->n_columns; c++)
            put_field(rows, c, cell_show(&cells[c], number), width[c], s);
    }
    if (rows->note) {
        sink_text(s, rows->note);
        sink_char(s, '\n');
    }
}
