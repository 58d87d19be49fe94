/* captured.h -- the rows of one variant, kept with its keys before them. */
#ifndef CAPTURED_H
#define CAPTURED_H
#include "base/packed.h"
#include "cli/out/out.h"

/* What a command said and printed. All zero is nothing. */
struct captured {
    const struct column *key_columns; /* borrowed; the first columns of each row, */
    const struct cell *keys;          /* and their cells, borrowed too */
    size_t n_keys;
    struct column columns[ROW_CELLS_MAX]; /* with those of the keys */
    size_t n_columns;
    struct packed rows;      /* owned: the cells of all rows, without those of keys */
    uint64_t n_rows, next;   /* so many; that which is to be taken from `rows` next */
    struct origin_arg *args; /* owned, the strings too: of the rows */
    size_t n_args;
    char *note; /* owned: what stands below a table of these rows alone; NULL: nothing */
};

/* A copy of the name of a column, for one that the command gives back at its end. There is one copy
 * of each for all rows of this process, and it stays. Any thread may ask. */
const char *captured_name(const char *name);

/* Keeps all rows. Names of columns are not copied. */
void captured_rows(struct captured *c, const struct rows *rows, const struct origin_arg *args,
                   size_t n_args);

/* In place of rows: one without results, and if `why` is not NULL, with that under `failed`. */
void captured_failure(struct captured *c, const char *why);

/* A row of what was kept, as struct rows wants it; quickest one after the other. */
bool captured_row(struct captured *c, uint64_t i, struct cell *cells);

/* What was kept, as bytes for another process, without the keys; there, into `c` with its keys. */
void captured_pack(const struct captured *c, struct packed *to);
void captured_unpack(struct captured *c, struct packed *from);

void captured_free(struct captured *c);

#endif
