/* report_utilization.h -- how busy a simulation was, in a table and pictures of a report. */
#ifndef REPORT_USE_H
#define REPORT_USE_H
#include "cli/report/report_parts.h"
#include "cli/rows/utilization_rows.h"

/* All zero is none. */
struct use {
    char *when; /* owned: " at rate 0.8" */
    struct stats stats;
};

/* Takes the use of `sim`, in place of what was taken before. */
void use_take(struct use *u, const kb_sim *sim, const char *when);
void use_free(struct use *u);

void use_table(const struct use *u, struct sink *s);

/* The machine, coloured if a simulation was taken. EXIT_SYSTEM after a message. */
enum exit_code use_pictures(const struct use *u, const struct cli *cli, struct sink *s);

#endif
