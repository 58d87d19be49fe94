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

/* -- between processes ---------------------------------------------------------------------- */

/* Pointers are those of one process: columns go by their names, texts by their bytes. */
static void pack_cell(const struct cell *cell, struct packed *to)
{
    PACKED_PUT(to, *cell);
    if (cell->type == CELL_TEXT || cell->type == CELL_NUMBER)
        packed_put_text(to, cell->text);
}

void captured_pack(const struct captured *c, struct packed *to)
{
    PACKED_PUT(to, c->n_columns);
    PACKED_PUT(to, c->n_rows);
    PACKED_PUT(to, c->n_args);
    for (size_t i = c->n_keys; i < c->n_columns; i++) {
        PACKED_PUT(to, c->columns[i].type);
        packed_put_text(to, c->columns[i].name);
    }
    for (size_t i = 0; i < c->n_rows * c->n_columns; i++)
        if (i % c->n_columns >= c->n_keys)
            pack_cell(&c->cells[i], to);
    for (size_t i = 0; i < c->n_args; i++) {
        packed_put_text(to, c->args[i].name);
        packed_put_text(to, c->args[i].value);
        PACKED_PUT(to, c->args[i].is_number);
    }
}

/* The one copy of the name of a column, for all rows of this process. */
static const char *column_name(struct packed *from)
{
    static char *names[2 * ROW_CELLS_MAX];
    char *name = packed_take_text(from);
    size_t i = 0;

    while (names[i] && name && strcmp(names[i], name) != 0)
        i++;
    if (!names[i])
        return names[i] = name;
    free(name);
    return names[i];
}

static void unpack_row(struct captured *c, struct packed *from)
{
    struct cell cells[ROW_CELLS_MAX];
    size_t n = c->n_columns - c->n_keys;

    for (size_t i = 0; i < n; i++) {
        PACKED_TAKE(from, cells[i]);
        if (cells[i].type == CELL_TEXT || cells[i].type == CELL_NUMBER)
            cells[i].text = packed_take_text(from);
    }
    keep_row(c, cells, n);
    for (size_t i = 0; i < n; i++)
        if (cells[i].type == CELL_TEXT || cells[i].type == CELL_NUMBER)
            free((char *)cells[i].text);
}

void captured_unpack(struct captured *c, struct packed *from)
{
    size_t n_rows, n_args;

    PACKED_TAKE(from, c->n_columns);
    PACKED_TAKE(from, n_rows);
    PACKED_TAKE(from, n_args);
    memcpy(c->columns, c->key_columns, c->n_keys * sizeof *c->columns);
    for (size_t i = c->n_keys; i < c->n_columns; i++) {
        enum cell_type type;

        PACKED_TAKE(from, type);
        c->columns[i] = (struct column)COLUMN_BY_HAND(column_name(from), type);
    }
    for (size_t i = 0; i < n_rows && !from->lost; i++)
        unpack_row(c, from);
    c->args = memory_new(n_args + 1, sizeof *c->args);
    for (; c->n_args < n_args && !from->lost; c->n_args++) {
        struct origin_arg *arg = &c->args[c->n_args];

        arg->name = packed_take_text(from);
        arg->value = packed_take_text(from);
        PACKED_TAKE(from, arg->is_number);
    }
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
