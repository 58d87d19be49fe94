/* deadlock_rows.h -- the report of a deadlock: kernels that wait for ever, instead of rows of
 * launches.
 */
#ifndef BLOCKED_H
#define BLOCKED_H
#include "cli/command.h"

/* Prints it to `s`, and `why` on stderr. Always EXIT_DEADLOCK, or EXIT_SYSTEM without memory. */
enum exit_code blocked_print(const struct cli *cli, const kb_sim *sim, const kb_error *why,
                             struct sink *s);

#endif
