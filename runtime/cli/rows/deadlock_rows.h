/* deadlock_rows.h -- deadlocked kernels: the commands that cannot go on, instead of rows of
 * launches.
 */
#ifndef DEADLOCK_ROWS_H
#define DEADLOCK_ROWS_H
#include "cli/command.h"

/* Prints it to `s`, and `why` on stderr. Always EXIT_DEADLOCK, or EXIT_SYSTEM without memory. */
enum exit_code deadlock_rows_print(const struct cli *cli, const kb_sim *sim, const kb_error *why,
                                   struct sink *s);

#endif
