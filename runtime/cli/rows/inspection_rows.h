/* inspection_rows.h -- what `run --inspect` prints: all of some operations, a row for each fact. */
#ifndef INSPECTION_ROWS_H
#define INSPECTION_ROWS_H
#include "cli/command.h"

/* Prints those of opts.inspect that were looked up; the others are NULL. `args` are the bench's. */
void inspection_rows_print(const struct cli *cli, kb_inspection *const *inspected,
                           const struct origin_arg *args, size_t n_args, struct sink *s);

#endif
