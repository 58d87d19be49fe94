/*
 * table_fit.c -- which columns of a table are shown, and how wide, so that it fits.
 *
 * Columns go one by one until the rest fits, in this order:
 *
 *   1. those in which all cells are empty or times of 0, the last one first: queue_link_ns of a
 *      machine whose links do not queue;
 *   2. those that columns.def names, in its order: details before what they are details of.
 *
 * What stays and is still too wide is folded: the widest column of texts gets narrower, a character
 * at a time, down to FOLDED_LEAST; its cells then take several lines. So a row is whole, and it may
 * be wider than asked only if numbers alone are.
 *
 * Example: `probe` on cube8 has 176 columns. queue_ns is 0 in all rows and goes (166), then
 * overhead_pct (152), drain_pct (141), bottleneck_gbs (125), and response_ns (112).
 */
#include "cli/out/table_fit.h"
#include "cli/out/columns.h"
#include "base/text.h"
#include <string.h>

enum { FOLDED_LEAST = 24 };

const char *table_show(const struct cell *cell, char number[TEXT_NUMBER_BYTES])
{
    if (cell->type == CELL_TEXT)
        return cell->text;
    if (cell->type == CELL_NONE)
        return "-";
    *cell_put_rounded(number, cell) = '\0';
    return number;
}

static bool is_nothing(const struct cell *cell)
{
    return cell->type == CELL_NONE || (cell->type == CELL_NS && cell->fs == 0);
}

static void measure(struct table_fit *fit, const struct rows *rows)
{
    char number[TEXT_NUMBER_BYTES];
    struct cell cells[ROW_CELLS_MAX];

    for (size_t c = 0; c < rows->n_columns; c++) {
        fit->width[c] = text_visible_length(rows->columns[c].name);
        fit->is_empty[c] = true;
    }
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        for (size_t c = 0; c < rows->n_columns; c++) {
            size_t width = text_visible_length(table_show(&cells[c], number));

            fit->width[c] = width > fit->width[c] ? width : fit->width[c];
            fit->is_empty[c] &= is_nothing(&cells[c]);
        }
    }
}

static size_t width_of(const struct table_fit *fit, size_t n_columns)
{
    size_t width = 0;

    for (size_t c = 0; c < n_columns; c++)
        if (fit->is_shown[c])
            width += fit->width[c] + TABLE_GAP;
    return width > 0 ? width - TABLE_GAP : 0;
}

/* The column that goes next; SIZE_MAX: none. */
static size_t most_dispensable(const struct table_fit *fit, const struct rows *rows)
{
    size_t found = SIZE_MAX, least = SIZE_MAX;

    for (size_t c = rows->n_columns; c-- > 0;) {
        size_t rank = columns_rank(rows->columns[c].name);

        if (!fit->is_shown[c] || rank == SIZE_MAX)
            continue;
        if (fit->is_empty[c])
            return c;
        if (rank < least) {
            least = rank;
            found = c;
        }
    }
    return found;
}

/* The widest column of texts that may be folded; SIZE_MAX: none. */
static size_t widest_text(const struct table_fit *fit, const struct rows *rows)
{
    size_t found = SIZE_MAX, most = FOLDED_LEAST;

    for (size_t c = 0; c < rows->n_columns; c++)
        if (fit->is_shown[c] && rows->columns[c].type == CELL_TEXT && fit->width[c] > most) {
            most = fit->width[c];
            found = c;
        }
    return found;
}

/* Shows the columns of `list`; all if it has none of this table. */
static void choose(struct table_fit *fit, const struct rows *rows, const char *list)
{
    bool any = false;

    for (size_t c = 0; c < rows->n_columns; c++)
        any |= fit->is_shown[c] = !list || columns_listed(list, rows->columns[c].name);
    for (size_t c = 0; c < rows->n_columns && !any; c++)
        fit->is_shown[c] = true;
}

void table_fit(struct table_fit *fit, const struct rows *rows, const char *list, size_t limit)
{
    size_t c;

    measure(fit, rows);
    choose(fit, rows, list);
    while (!list && width_of(fit, rows->n_columns) > limit &&
           (c = most_dispensable(fit, rows)) != SIZE_MAX)
        fit->is_shown[c] = false;
    while (!list && width_of(fit, rows->n_columns) > limit &&
           (c = widest_text(fit, rows)) != SIZE_MAX)
        fit->width[c]--;
}
