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

/* How many parts of everything these options print: --top, or what their format has room for. */
uint64_t breakdown_top(const struct opts *o);

/* For a report, which has them beside its rows: the --top largest, or what a page has room for. */
enum exit_code breakdown_report(const struct cli *cli, kb_breakdown *why);

/* Prints the causes to `s` once it has run. */
enum exit_code breakdown_rows_print(const struct cli *cli, kb_breakdown *why, struct sink *s);

#endif
