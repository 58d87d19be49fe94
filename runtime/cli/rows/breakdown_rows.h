/* breakdown_rows.h -- --breakdown: the latency breakdown of a run, instead of its rows. */
#ifndef BREAKDOWN_ROWS_H
#define BREAKDOWN_ROWS_H
#include "cli/command.h"

/*
 * Has `sim`, which has not begun, watched if --breakdown or a report asks for it; else *out is
 * NULL.
 *
 * returns  EXIT_OK, or another after a message
 */
enum exit_code breakdown_begin(const struct cli *cli, kb_sim *sim, kb_breakdown **out);

/* The same for a report, which has them beside its rows. */
enum exit_code breakdown_report(const struct cli *cli, kb_breakdown *why);

/* Prints the causes to `s` once it has run. */
enum exit_code breakdown_rows_print(const struct cli *cli, kb_breakdown *why, struct sink *s);

#endif
