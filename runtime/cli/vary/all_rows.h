/* all_rows.h -- the rows of all machines, or runs, kept for a table. */
#ifndef ALL_ROWS_H
#define ALL_ROWS_H
#include "cli/command.h"
#include "cli/out/aside.h"
#include "cli/vary/captured.h"
#include "cli/vary/variants.h"
#include "cli/vary/wide.h"

/* The cells that stand before each row of machine `i`; texts hold until the next call. */
typedef void all_rows_names(void *arg, uint64_t i, struct cell keys[VARY_KEYS_MAX]);

/* Begins with what is borrowed, all else zero. */
struct all_rows {
    all_rows_names *names;
    void *arg;
    const struct column *key_columns;
    size_t n_keys;
    struct aside aside;
    uint64_t n;                     /* rows */
    struct wide columns;            /* of all machines */
    struct captured one;            /* owned: the machine whose rows are taken, */
    uint64_t first;                 /* its first row, of all, */
    uint8_t numbers[ROW_CELLS_MAX]; /* its columns, */
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

/* EXIT_SYSTEM after a message: some are lost. */
enum exit_code all_rows_check(const struct all_rows *all, const struct cli *cli);

void all_rows_free(struct all_rows *all);

/* The names of machine `i` of a struct variants: the cells of its keys. */
all_rows_names all_rows_keys;

#endif
