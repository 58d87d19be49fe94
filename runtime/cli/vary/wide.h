/* wide.h -- one set of columns for rows of several machines, which may have others: by name. */
#ifndef WIDE_H
#define WIDE_H
#include "cli/out/cell.h"

/* Columns in the order in which they are shown, each with a number that stays. All zero is none. */
struct wide {
    struct column column[ROW_CELLS_MAX];
    uint8_t number[ROW_CELLS_MAX];
    size_t n;
};

/*
 * Adds those of `columns` that it lacks, each behind the one before it there, and says in `numbers`
 * which each is. What is more than ROW_CELLS_MAX has no column: WIDE_NONE.
 */
enum { WIDE_NONE = UINT8_MAX };
void wide_add(struct wide *w, const struct column *columns, size_t n, uint8_t *numbers);

/* Is that all there is in `columns`, in the same order? */
bool wide_is(const struct wide *w, const struct column *columns, size_t n);

/* A row of cells by these numbers, as one of all columns: what it has not is empty. */
void wide_row(const struct wide *w, const struct cell *from, const uint8_t *numbers, size_t n,
              struct cell *to);

/* The numbers of `columns` there, WIDE_NONE of one that it has not. */
void wide_numbers(const struct wide *w, const struct column *columns, size_t n, uint8_t *numbers);

#endif
