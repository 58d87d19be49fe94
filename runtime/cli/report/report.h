/* report.h -- `report`: one HTML page of what a command has found. */
#ifndef REPORT_H
#define REPORT_H
#include "cli/command.h"

/* A page for what the command of `cli` (borrowed) will tell; NULL without memory. */
struct report *report_new(const struct cli *cli);
void report_free(struct report *r);

/* The functions below, for command.c and rows/, which do not know this folder. */
extern const struct page report_page;

/* What commands tell, in any order. */
void report_note(struct report *r, const char *line);
void report_rows(struct report *r, const struct rows *rows, const struct origin *origin);

/* Rows that take the place of a command's own: what waits for ever, and `why` in a sentence. */
void report_deadlock(struct report *r, const struct rows *rows, const struct origin *origin,
                     const char *why);

/* The causes of all time as --breakdown has them; `sums`: of each command by cause, NULL: none. */
void report_why(struct report *r, const struct rows *causes, const struct rows *sums);

/* How busy `sim` was, and when or where that was ("at rate 0.8"); the last one counts. */
void report_sim(struct report *r, const kb_sim *sim, const char *when);

/* Writes the page. EXIT_OK, or EXIT_SYSTEM after a message. */
enum exit_code report_write(struct report *r, struct sink *s);

#endif
