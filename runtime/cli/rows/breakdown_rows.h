/* breakdown_rows.h -- --breakdown: where the time of a run went, instead of its rows. */
#ifndef CAUSES_H
#define CAUSES_H
#include "cli/command.h"

/*
 * Has `sim`, which has not begun, watched if --breakdown or a report asks for it; else *out is
 * NULL.
 *
 * returns  EXIT_OK, or another after a message
 */
enum exit_code causes_begin(const struct cli *cli, kb_sim *sim, kb_breakdown **out);

/* The same for a report, which has them beside its rows. */
enum exit_code causes_report(const struct cli *cli, kb_breakdown *why);

/* Prints the causes to `s` once it has run. */
enum exit_code causes_print(const struct cli *cli, kb_breakdown *why, struct sink *s);

#endif
