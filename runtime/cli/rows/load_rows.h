/* load_rows.h -- the rows of `load`: throughput and latency of each rate, and where it saturates.
 */
#ifndef LOAD_ROWS_H
#define LOAD_ROWS_H
#include "cli/command.h"
#include "cli/in/in_pattern.h"
#include "cli/rows/warn.h"

enum {
    LOAD_BUSIEST = 3,
    LOAD_NOTE_BYTES = 4096,
};

/* The busiest of a kind, most first. */
struct busiest {
    struct {
        char name[KB_PLACE_BYTES];
        double percent;
    } at[LOAD_BUSIEST];
    size_t n;
};

/* The result of a rate. */
struct point {
    kb_traffic_result result;
    struct busiest memories, links; /* of the first simulation */
    struct warn_missed missed;      /* by all of them */
};

/* The results of the first `n` rates of what was asked. */
struct load_points {
    const struct cli *cli;
    struct pattern asked;
    struct point *point; /* owned by the command */
    size_t n;
    struct column columns[ROW_CELLS_MAX]; /* these are set by load_rows() */
    size_t n_columns;
    struct cell saturation_rate;
};

/* Rows of all points; `l` must outlive them. */
struct rows load_rows(struct load_points *l);

/* Is more offered than is accepted, or do latencies grow to the end? */
bool load_is_saturated(const struct point *point);

/* Keeps in `point`, a struct point, what `use` says of a link or slice if it is one of the busiest.
 */
void load_rank(void *point, const kb_utilization *use);

/* "0.85": a rate as people write it. */
char *load_put_rate(char *to, uint64_t millionths);

/* Ideal links that would have had to carry more than they can: from which rate on; "" if there are
 * none. */
void load_warning(const struct load_points *l, char warning[LOAD_NOTE_BYTES]);

/* The lines below a table: where saturation begins, and what is busiest there if `busiest`. */
void load_note(const struct load_points *l, bool busiest, char note[LOAD_NOTE_BYTES]);

#endif
