/*
 * out_table.c -- rows as aligned columns, rounded for people.
 *
 * All rows are made twice: first to measure the widest cell of each column (table_fit.c), then to
 * print. Texts stand to the left, numbers to the right. Control characters of texts are shown as
 * \x1b. A table is at most as wide as the terminal, or TABLE_COLUMNS: columns that did not fit are
 * named below it, and a text that is wider than its column goes on in the line below. A warning
 * about all rows stands above them, so that they are not read without it. Last comes the note, if
 * the command has one: what a number is relative to, or what is not shown.
 */
#include "cli/out/table_fit.h"
#include "base/text.h"
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void pad(struct sink *s, size_t n)
{
    for (; n > 0; n--)
        sink_char(s, ' ');
}

/* The width of the terminal that is written to; TABLE_COLUMNS if it is none, or does not tell. */
static size_t width_of(const struct sink *s)
{
    struct winsize size;

    if (s->fd >= 0 && isatty(s->fd) && ioctl(s->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return TABLE_COLUMNS;
}

/* How many bytes of `text` stand in a line of `width`: all, or up to the last blank, '|' or ','
 * there. *length: as they are shown. */
static size_t first_line(const char *text, size_t width, size_t *length)
{
    size_t shown = 0, bytes = 0; /* up to where it may break */
    char one[4];

    *length = 0;
    for (const char *p = text, *end = text; *p; p = end) {
        size_t more = (size_t)(text_put_visible(one, &end) - one);

        if (shown + more > width && bytes == 0) { /* nowhere to break: here */
            *length = shown;
            return (size_t)(p - text);
        }
        if (shown + more > width)
            return bytes;
        shown += more;
        if (strchr(" |,", *p)) {
            bytes = (size_t)(end - text);
            *length = shown;
        }
    }
    *length = shown;
    return strlen(text);
}

static void put_text(struct sink *s, const char *text, size_t n_bytes)
{
    for (const char *end = text + n_bytes; text < end;)
        s->at = text_put_visible(sink_room(s, 4), &text);
}

/* Prints what of *text stands in a line of a column, behind *blanks, and moves it on. *blanks are
 * those before the next column: none are printed at the end of a line. */
static void put_field(struct sink *s, const char **text, size_t width, bool left, size_t *blanks)
{
    size_t length, bytes = first_line(*text, width, &length);
    size_t before = left ? 0 : width - length, behind = left ? width - length : 0;

    *blanks += before;
    if (bytes > 0) {
        size_t blank = (*text)[bytes] && (*text)[bytes - 1] == ' '; /* where it was broken */

        pad(s, *blanks);
        put_text(s, *text, bytes - blank);
        *blanks = blank;
    }
    *text += bytes;
    *blanks += behind + TABLE_GAP;
}

/* A row takes as many lines as its longest text; texts[c] is what is left of a cell. */
static void put_row(const struct rows *rows, const struct table_fit *fit, const char **texts,
                    struct sink *s)
{
    bool more;

    do {
        size_t blanks = 0;

        more = false;
        for (size_t c = 0; c < rows->n_columns; c++)
            if (fit->is_shown[c]) {
                put_field(s, &texts[c], fit->width[c], rows->columns[c].type == CELL_TEXT, &blanks);
                more |= *texts[c] != '\0';
            }
        sink_char(s, '\n');
    } while (more);
}

/* "not shown: a, b, ... (--columns all)", folded. */
static void put_hidden(const struct rows *rows, const struct table_fit *fit, size_t limit,
                       struct sink *s)
{
    size_t at = 0;

    for (size_t c = 0; c < rows->n_columns; c++) {
        size_t length = strlen(rows->columns[c].name) + 2;

        if (fit->is_shown[c])
            continue;
        sink_text(s, at == 0 ? "not shown: " : at + length > limit ? ",\n    " : ", ");
        at = at == 0 ? strlen("not shown: ") : at + length > limit ? 4 : at;
        sink_text(s, rows->columns[c].name);
        at += length;
    }
    if (at > 0)
        sink_text(s, at + strlen(" (--columns all)") > limit ? "\n    (--columns all)\n"
                                                             : " (--columns all)\n");
}

void out_table(const struct rows *rows, const char *columns, struct sink *s)
{
    char number[ROW_CELLS_MAX][TEXT_NUMBER_BYTES];
    struct cell cells[ROW_CELLS_MAX];
    const char *texts[ROW_CELLS_MAX];
    size_t limit = width_of(s);
    struct table_fit fit;

    table_fit(&fit, rows, columns, limit);
    if (rows->warning && *rows->warning) {
        sink_text(s, rows->warning);
        sink_char(s, '\n');
    }
    for (size_t c = 0; c < rows->n_columns; c++)
        texts[c] = rows->columns[c].name;
    put_row(rows, &fit, texts, s);
    for (uint64_t i = 0; i < rows->n_rows && sink_ok(s); i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        for (size_t c = 0; c < rows->n_columns; c++)
            texts[c] = table_show(&cells[c], number[c]);
        put_row(rows, &fit, texts, s);
    }
    if (!columns)
        put_hidden(rows, &fit, limit, s);
    if (rows->note) {
        sink_text(s, rows->note);
        sink_char(s, '\n');
    }
}
