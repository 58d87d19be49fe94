/* all_rows.h -- the rows of all machines, kept for a table. */
#ifndef ALL_ROWS_H
#define ALL_ROWS_H
#include "cli/out/aside.h"
#include "cli/vary/captured.h"
#include "cli/vary/variants.h"

/* Begins with what is borrowed, all else zero. */
struct all_rows {
    const struct variants *variants;
    const struct column *key_columns;
    struct aside aside;
    uint64_t n;          /* rows */
    struct captured one; /* owned: the machine whose rows are taken, with the columns of all, */
    size_t n_columns;    /* so many, of which a machine may have less; */
    uint64_t first;      /* its first row, of all, */
    struct cell keys[VARY_KEYS_MAX];
};

/* Keeps the rows of machine `i`, which come behind those that were kept before. */
void all_rows_keep(struct all_rows *all, uint64_t i, const struct captured *rows);

/* All of them, to be printed one after the other. */
struct rows all_rows_table(struct all_rows *all);

/* errno of the file in which rows are put aside; 0: none. Some are lost then. */
static inline int all_rows_error(const struct all_rows *all)
{
    return all->aside.error;
}

void all_rows_free(struct all_rows *all);

/* The cells of the keys of machine `i`. */
void all_rows_keys(const struct variants *v, uint64_t i, struct cell keys[VARY_KEYS_MAX]);

#endif
