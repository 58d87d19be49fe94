/* launch_rows.h -- the rows of `run`: a launch each, with times, counts, and rates that follow. */
#ifndef LAUNCH_ROWS_H
#define LAUNCH_ROWS_H
#include "cli/command.h"

/* What the rows are made of. */
struct launch_rows {
    const kb_bench *bench;
    kb_bench_run *run;  /* borrowed */
    const char *verify; /* "pass", "fail", "off" */
    bool compared;      /* outputs with the reference; max_abs_err is known */
    double max_abs_err;
};

/* The time of the launches that are complete: from the first start of a kernel to the last end. */
int64_t launches_fs(const kb_sim *sim);

/* Rows of all launches that are complete; `l` must outlive them. */
struct rows launch_rows(const struct launch_rows *l);

#endif
