/* vary.h -- --vary: one command on every machine of a list, and one table of all their rows. */
#ifndef VARY_H
#define VARY_H
#include "cli/command.h"

/*
 * Runs `start` with a machine of its own for each combination of values that the options name. What
 * was complete before a failure or Ctrl-C is printed; *end says what became of it, and becomes of
 * what the database has.
 */
enum exit_code vary_run(const struct cli *cli, enum exit_code (*start)(const struct cli *cli),
                        enum sink_end *end);

#endif
