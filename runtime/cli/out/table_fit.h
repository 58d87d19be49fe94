/* table_fit.h -- which columns of a table are shown, and how wide, so that it fits. */
#ifndef TABLE_FIT_H
#define TABLE_FIT_H
#include "cli/out/out.h"
#include "base/text.h"

enum {
    TABLE_COLUMNS = 120, /* where the output is no terminal */
    TABLE_GAP = 2,       /* between columns */
};

/* A table as it will be shown. */
struct table_fit {
    size_t width[ROW_CELLS_MAX];  /* of the widest cell; longer texts are folded to it */
    bool is_empty[ROW_CELLS_MAX]; /* all cells are empty, or times of 0 */
    bool is_shown[ROW_CELLS_MAX];
};

/* The text of a cell, which is in `number` if the cell is a number. */
const char *table_show(const struct cell *cell, char number[TEXT_NUMBER_BYTES]);

/* Measures all rows, then chooses: the columns of `list`, or if it is NULL as many as fit into
 * `limit`. */
void table_fit(struct table_fit *fit, const struct rows *rows, const char *list, size_t limit);

#endif
