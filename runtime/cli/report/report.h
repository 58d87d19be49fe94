/* report.h -- `report`: the results of a command as one HTML page. */
#ifndef REPORT_H
#define REPORT_H
#include "cli/command.h"

/* An empty page for the command of `cli` (borrowed); NULL without memory. */
struct report *report_new(const struct cli *cli);
void report_free(struct report *r);

/* The functions below, for command.c and rows/, which do not know this folder. */
extern const struct page report_page;

/* A line that the command also prints on stderr. `r` may be NULL: there is no report. */
void report_note(struct report *r, const char *line);

/* The command's rows. */
void report_rows(struct report *r, const struct rows *rows, const struct origin *origin);

/* The same of a run that ended in a deadlock: its rows, and `why` in a sentence. */
void report_deadlock(struct report *r, const struct rows *rows, const struct origin *origin,
                     const char *why);

/* The rows of --breakdown; `sums`: those of each command by cause, NULL: none. */
void report_breakdown_rows(struct report *r, const struct rows *causes, const struct rows *sums);

/* The utilization of `sim`, and when that was (" at rate 0.8"); the last call counts. NULL as
 * above. */
void report_sim(struct report *r, const kb_sim *sim, const char *when);

/* The machine that the page is of, if it is not that of the command line; it must be there for
 * report_write(). */
void report_machine(struct report *r, const kb_topology *topo);

/* Writes the page. EXIT_OK, or EXIT_SYSTEM after a message. */
enum exit_code report_write(struct report *r, struct sink *s);

#endif
