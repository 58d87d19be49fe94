/* report_utilization.h -- the utilization of a simulation, in a table and pictures of a report. */
#ifndef REPORT_UTILIZATION_H
#define REPORT_UTILIZATION_H
#include "cli/report/report_parts.h"
#include "cli/rows/utilization_rows.h"

/* All zero is none. */
struct report_utilization {
    char *when; /* owned: " at rate 0.8" */
    struct utilization_rows stats;
};

/* Keeps the utilization of `sim`, instead of that of an earlier call. */
void utilization_take(struct report_utilization *u, const kb_sim *sim, const char *when);
void utilization_free(struct report_utilization *u);

void utilization_table(const struct report_utilization *u, struct sink *s);

/* Hits, misses and conflicts of slices with banks, and of their channels. Nothing if there are
 * none. */
void report_banks(const struct report_utilization *u, struct sink *s);

/* The machine, coloured if there was a simulation. EXIT_SYSTEM after a message. */
enum exit_code utilization_pictures(const struct report_utilization *u, const struct cli *cli,
                                    struct sink *s);

#endif
