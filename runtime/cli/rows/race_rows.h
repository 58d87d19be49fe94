/* race_rows.h -- `run --race`: data races, instead of rows of launches. */
#ifndef RACE_ROWS_H
#define RACE_ROWS_H
#include "cli/command.h"

/* Has the simulation, which has not begun, look for races if that was asked for. */
enum exit_code race_rows_begin(const struct cli *cli, kb_sim *sim);

/* Prints them to `s`: two rows for each. */
enum exit_code race_rows_print(const struct cli *cli, const kb_sim *sim, struct sink *s);

/* Says on stderr how many there are. EXIT_DIFFERENT if there are any, else `code`. */
enum exit_code race_rows_say(const struct cli *cli, const kb_sim *sim, enum exit_code code);

#endif
