/* captured.c -- the rows of one variant, kept with its keys before them. */
#include "cli/vary/captured.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

static void keep_text(struct cell *cell)
{
    if (cell->type == CELL_TEXT || cell->type == CELL_NUMBER)
        cell->text = memory_text(cell->text);
}

static void keep_row(struct captured *c, const struct cell *cells, size_t n)
{
    struct cell *row;

    c->cells = memory_room(c->cells, c->n_rows, &c->room, c->n_columns * sizeof *c->cells);
    row = c->cells + c->n_rows++ * c->n_columns;
    memcpy(row, c->keys, c->n_keys * sizeof *row);
    memcpy(row + c->n_keys, cells, n * sizeof *row);
    for (size_t i = 0; i < n; i++)
        keep_text(&row[c->n_keys + i]);
}

static void keep_args(struct captured *c, const struct origin_arg *args, size_t n)
{
    c->args = memory_new(n + 1, sizeof *c->args);
    c->n_args = n;
    for (size_t i = 0; i < n; i++)
        c->args[i] = (struct origin_arg){.name = memory_text(args[i].name),
                                         .value = args[i].value ? memory_text(args[i].value) : NULL,
                                         .is_number = args[i].is_number};
}

void captured_rows(struct captured *c, const struct rows *rows, const struct origin_arg *args,
                   size_t n_args)
{
    struct cell cells[ROW_CELLS_MAX];

    c->n_columns = c->n_keys + rows->n_columns;
    memcpy(c->columns, c->key_columns, c->n_keys * sizeof *c->columns);
    memcpy(c->columns + c->n_keys, rows->columns, rows->n_columns * sizeof *c->columns);
    for (uint64_t i = 0; i < rows->n_rows; i++)
        if (rows->row(rows->arg, i, cells))
            keep_row(c, cells, rows->n_columns);
    keep_args(c, args, n_args);
}

bool captured_row(const struct captured *c, uint64_t i, struct cell *cells)
{
    memcpy(cells, c->cells + i * c->n_columns, c->n_columns * sizeof *cells);
    return true;
}

void captured_free(struct captured *c)
{
    for (size_t i = 0; i < c->n_rows * c->n_columns; i++)
        if (i % c->n_columns >= c->n_keys &&
            (c->cells[i].type == CELL_TEXT || c->cells[i].type == CELL_NUMBER))
            free((char *)c->cells[i].text);
    for (size_t i = 0; i < c->n_args; i++) {
        free((char *)c->args[i].name);
        free((char *)c->args[i].value);
    }
    free(c->args);
    free(c->cells);
    *c = (struct captured){0};
}
