/*
 * wide.c -- one set of columns for rows of several machines, which may have others: by name.
 *
 * Rows are kept before it is known which columns those behind them have. So a column has a number,
 * which it keeps when others come before it, and a row is kept with the numbers of its cells.
 *
 * Example: a slice with a cache has rows of `node, hits, misses`, one with banks of `node,
 * row_hits, misses`. Of both there are the columns node, row_hits, hits, misses, numbered 0, 3, 1,
 * 2; the second row is kept as cells 0, 3, 2.
 */
#include "cli/vary/wide.h"
#include <string.h>

static size_t place_of(const struct wide *w, const char *name)
{
    size_t i = 0;

    while (i < w->n && strcmp(w->column[i].name, name) != 0)
        i++;
    return i;
}

static void insert(struct wide *w, size_t at, const struct column *column)
{
    memmove(&w->column[at + 1], &w->column[at], (w->n - at) * sizeof *w->column);
    memmove(&w->number[at + 1], &w->number[at], (w->n - at) * sizeof *w->number);
    w->column[at] = *column;
    w->number[at] = (uint8_t)w->n++;
}

void wide_add(struct wide *w, const struct column *columns, size_t n, uint8_t *numbers)
{
    size_t behind = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = place_of(w, columns[i].name);

        if (at == w->n && w->n == ROW_CELLS_MAX)
            continue;
        if (at == w->n) {
            at = behind;
            insert(w, at, &columns[i]);
        }
        behind = at + 1;
    }
    wide_numbers(w, columns, n, numbers);
}

void wide_numbers(const struct wide *w, const struct column *columns, size_t n, uint8_t *numbers)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = place_of(w, columns[i].name);

        numbers[i] = at < w->n ? w->number[at] : WIDE_NONE;
    }
}

bool wide_is(const struct wide *w, const struct column *columns, size_t n)
{
    if (n != w->n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, w->column[i].name) != 0)
            return false;
    return true;
}

void wide_row(const struct wide *w, const struct cell *from, const uint8_t *numbers, size_t n,
              struct cell *to)
{
    struct cell by_number[ROW_CELLS_MAX];

    for (size_t i = 0; i < w->n; i++)
        by_number[i] = cell_none();
    for (size_t i = 0; i < n; i++)
        if (numbers[i] != WIDE_NONE)
            by_number[numbers[i]] = from[i];
    for (size_t i = 0; i < w->n; i++)
        to[i] = by_number[w->number[i]];
}
