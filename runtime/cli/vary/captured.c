/*
 * captured.c -- the rows of one variant, kept with its keys before them.
 *
 * Rows are kept as bytes, one after the other: of each cell its type, and then its text up to its
 * NUL, or its 8 bytes, or nothing. So 100,000 rows of `replay` take 20 MB and one allocation, and
 * another process gets them as they lie. A row is found by going over those before it; taken in
 * order, each is gone over once.
 */
#include "cli/vary/captured.h"
#include "cli/out/memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static bool has_text(enum cell_type type)
{
    return type == CELL_TEXT || type == CELL_NUMBER;
}

static void put_cell(struct packed *to, const struct cell *cell)
{
    uint8_t type = (uint8_t)cell->type;

    PACKED_PUT(to, type);
    if (has_text(cell->type))
        packed_put(to, cell->text, strlen(cell->text) + 1);
    else if (cell->type != CELL_NONE)
        PACKED_PUT(to, cell->count);
}

static void take_cell(struct packed *from, struct cell *cell)
{
    uint8_t type;

    PACKED_TAKE(from, type);
    cell->type = (enum cell_type)type;
    if (has_text(cell->type))
        cell->text = packed_next(from, strlen(from->bytes + from->at) + 1);
    else if (cell->type != CELL_NONE)
        PACKED_TAKE(from, cell->count);
}

static void keep_row(struct captured *c, const struct cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_cell(&c->rows, &cells[i]);
    if (c->rows.lost)
        memory_lacks();
    c->n_rows++;
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

/* The one copy of the name of a column, for all rows of this process: rows outlive the command that
 * made them, and its names. Machines may be asked by several threads. */
static const char *column_name(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char **names;
    static size_t n, room;
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    if (i == n) {
        names = memory_room(names, n, &room, sizeof *names);
        names[n++] = memory_text(name);
    }
    name = names[i];
    pthread_mutex_unlock(&lock);
    return name;
}

void captured_rows(struct captured *c, const struct rows *rows, const struct origin_arg *args,
                   size_t n_args)
{
    struct cell cells[ROW_CELLS_MAX];

    c->n_columns = c->n_keys + rows->n_columns;
    memcpy(c->columns, c->key_columns, c->n_keys * sizeof *c->columns);
    memcpy(c->columns + c->n_keys, rows->columns, rows->n_columns * sizeof *c->columns);
    for (size_t i = c->n_keys; i < c->n_columns; i++)
        c->columns[i].name = column_name(c->columns[i].name);
    for (uint64_t i = 0; i < rows->n_rows; i++)
        if (rows_cells(rows, i, cells))
            keep_row(c, cells, rows->n_columns);
    keep_args(c, args, n_args);
    c->note = rows->note ? memory_text(rows->note) : NULL;
}

void captured_failure(struct captured *c, const char *why)
{
    struct cell cells[ROW_CELLS_MAX];
    size_t n = c->n_columns - c->n_keys;

    for (size_t i = 0; i < n; i++)
        cells[i] = cell_none();
    size_t at = n;
    while (at > 0 && strcmp(c->columns[c->n_keys + at - 1].name, "failed") != 0)
        at--;
    if (why && at > 0) {
        cells[at - 1] = cell_text(why);
    } else if (why && c->n_columns < ROW_CELLS_MAX) {
        c->columns[c->n_columns++] = (struct column)COLUMN_BY_HAND("failed", CELL_TEXT);
        cells[n++] = cell_text(why);
    }
    keep_row(c, cells, n);
}

static void take_row(struct captured *c, struct cell *cells)
{
    for (size_t i = c->n_keys; i < c->n_columns; i++)
        take_cell(&c->rows, &cells[i]);
    c->next++;
}

bool captured_row(struct captured *c, uint64_t i, struct cell *cells)
{
    if (i < c->next)
        c->rows.at = c->next = 0;
    while (c->next <= i)
        take_row(c, cells);
    memcpy(cells, c->keys, c->n_keys * sizeof *cells);
    return true;
}

/* -- between processes ---------------------------------------------------------------------- */

/* Pointers are those of one process: columns go by their names. */
void captured_pack(const struct captured *c, struct packed *to)
{
    PACKED_PUT(to, c->n_columns);
    PACKED_PUT(to, c->n_rows);
    PACKED_PUT(to, c->n_args);
    for (size_t i = c->n_keys; i < c->n_columns; i++) {
        PACKED_PUT(to, c->columns[i].type);
        packed_put_text(to, c->columns[i].name);
    }
    PACKED_PUT(to, c->rows.n);
    packed_put(to, c->rows.bytes, c->rows.n);
    for (size_t i = 0; i < c->n_args; i++) {
        packed_put_text(to, c->args[i].name);
        packed_put_text(to, c->args[i].value);
        PACKED_PUT(to, c->args[i].is_number);
    }
    packed_put_text(to, c->note);
}

static void unpack_rows(struct captured *c, struct packed *from)
{
    const char *bytes;
    size_t n;

    PACKED_TAKE(from, n);
    bytes = packed_next(from, n);
    if (bytes)
        packed_put(&c->rows, bytes, n);
    if (c->rows.lost)
        memory_lacks();
}

void captured_unpack(struct captured *c, struct packed *from)
{
    size_t n_args;

    PACKED_TAKE(from, c->n_columns);
    PACKED_TAKE(from, c->n_rows);
    PACKED_TAKE(from, n_args);
    memcpy(c->columns, c->key_columns, c->n_keys * sizeof *c->columns);
    for (size_t i = c->n_keys; i < c->n_columns; i++) {
        enum cell_type type;
        char *name;

        PACKED_TAKE(from, type);
        name = packed_take_text(from);
        c->columns[i] = (struct column)COLUMN_BY_HAND(name ? column_name(name) : NULL, type);
        free(name);
    }
    unpack_rows(c, from);
    c->args = memory_new(n_args + 1, sizeof *c->args);
    for (; c->n_args < n_args && !from->lost; c->n_args++) {
        struct origin_arg *arg = &c->args[c->n_args];

        arg->name = packed_take_text(from);
        arg->value = packed_take_text(from);
        PACKED_TAKE(from, arg->is_number);
    }
    c->note = packed_take_text(from);
}

void captured_free(struct captured *c)
{
    for (size_t i = 0; i < c->n_args; i++) {
        free((char *)c->args[i].name);
        free((char *)c->args[i].value);
    }
    free(c->args);
    free(c->note);
    packed_free(&c->rows);
    *c = (struct captured){0};
}
