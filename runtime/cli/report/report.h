/* report.h -- `report`: the results of a command as one HTML page. */
#ifndef REPORT_H
#define REPORT_H
#include "cli/command.h"

/* An empty page for the command of `cli` (borrowed); NULL without memory. */
struct report *report_new(const struct cli *cli);
void report_free(struct report *r);

/* How commands and rows/, which do not know this folder, tell it their results. */
extern const struct page report_page;

#endif
