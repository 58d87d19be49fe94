/* vary.h -- --vary: one command on every machine of a list, and one table of all their rows. */
#ifndef VARY_H
#define VARY_H
#include "cli/command.h"

/*
 * Runs `start` with a machine of its own for each combination of values that the options name. What
 * was complete before a failure or Ctrl-C is printed, and *kept true if there is any: of the
 * database it stays, too.
 */
enum exit_code vary_run(const struct cli *cli, enum exit_code (*start)(const struct cli *cli),
                        bool *kept);

#endif
