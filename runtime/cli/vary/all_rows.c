/*
 * all_rows.c -- the rows of all machines, kept for a table.
 *
 * Of each machine its number, how many rows it has, their columns, and their bytes are put aside
 * (out/aside.h), so that memory does not grow with the number of machines. They come back one
 * machine at a time. A table has the columns of all machines (wide.h).
 */
#include "cli/vary/all_rows.h"
#include "cli/out/memory.h"
#include <string.h>

struct part {
    uint64_t machine, n_rows, n_columns;
};

void all_rows_keys(void *arg, uint64_t i, struct cell keys[VARY_KEYS_MAX])
{
    const struct variants *v = arg;

    for (size_t k = 0; k < v->n_keys; k++) {
        const char *value = variants_word(v, i, k) + v->key[k].value_at;

        keys[k] = v->key[k].numbers ? cell_number(value) : cell_text(value);
    }
}

void all_rows_keep(struct all_rows *all, uint64_t i, const struct captured *rows)
{
    struct part part = {i, rows->n_rows, rows->n_columns};
    uint8_t numbers[ROW_CELLS_MAX];

    all->one.key_columns = all->key_columns;
    all->one.keys = all->keys;
    all->one.n_keys = rows->n_keys;
    wide_add(&all->columns, rows->columns, rows->n_columns, numbers);
    aside_put(&all->aside, &part, sizeof part);
    aside_put(&all->aside, numbers, rows->n_columns);
    aside_put(&all->aside, rows->rows.bytes, rows->rows.n);
    all->n += rows->n_rows;
}

/* Takes the rows of the next machine. */
static bool take_machine(struct all_rows *all)
{
    struct packed *rows = &all->one.rows;
    struct part part;

    all->first += all->one.n_rows;
    all->one.n_rows = 0;
    if (!aside_take(&all->aside, rows) || rows->n != sizeof part)
        return false;
    packed_take(rows, &part, sizeof part);
    all->names(all->arg, part.machine, all->keys);
    all->one.n_rows = part.n_rows;
    all->one.n_columns = part.n_columns;
    all->one.next = 0;
    if (!aside_take(&all->aside, rows) || rows->n != part.n_columns)
        return false;
    memcpy(all->numbers, rows->bytes, rows->n);
    return aside_take(&all->aside, rows);
}

static bool kept_row(void *arg, uint64_t i, struct cell *cells)
{
    struct all_rows *all = arg;
    struct cell own[ROW_CELLS_MAX];

    if (i == 0 || i < all->first) {
        aside_rewind(&all->aside);
        all->first = all->one.n_rows = 0;
    }
    while (i - all->first >= all->one.n_rows)
        if (!take_machine(all))
            return false;
    captured_row(&all->one, i - all->first, own);
    wide_row(&all->columns, own, all->numbers, all->one.n_columns, cells);
    return true;
}

struct rows all_rows_table(struct all_rows *all)
{
    return (struct rows){.columns = all->columns.column,
                         .n_columns = all->columns.n,
                         .n_rows = all->n,
                         .row = kept_row,
                         .arg = all};
}

enum exit_code all_rows_check(const struct all_rows *all, const struct cli *cli)
{
    return all->aside.error ? cmd_say(cli, EXIT_SYSTEM, "cannot keep rows in a temporary file: %s",
                                      strerror(all->aside.error))
                            : EXIT_OK;
}

void all_rows_free(struct all_rows *all)
{
    captured_free(&all->one);
    aside_free(&all->aside);
}
