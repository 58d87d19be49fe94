/* out_rows.c -- the cells of a row, given by a function or made of a record. */
#include "cli/out/out.h"

bool rows_cells(const struct rows *rows, uint64_t i, struct cell *cells)
{
    if (rows->row)
        return rows->row(rows->arg, i, cells);
    record_cells(rows->columns, rows->n_columns, (const char *)rows->array + i * rows->record_bytes,
                 cells);
    return true;
}
