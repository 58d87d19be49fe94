/* progress.h -- a line on the terminal that says how far a long run is. */
#ifndef PROGRESS_H
#define PROGRESS_H
#include <stdbool.h>
#include <stdint.h>

struct progress {
    struct session *session; /* borrowed: which is told instead; NULL: none, or --quiet */
    bool wanted;             /* stderr is a terminal, and not --quiet */
    bool shown;              /* there is a line to wipe */
    double begin_s;          /* monotonic clock */
    double next_s;           /* no new line before */
};

void progress_begin(struct progress *p, bool quiet);
/* `things` are what is counted: "transactions". */
void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *things);
/* For what is not counted: "verifying, 3 s so far". */
void progress_show_time(struct progress *p, const char *doing);
void progress_end(struct progress *p); /* wipes the line */

/* How far the command line is; `total` is 0 if nothing is counted. On any thread. */
struct progress_part {
    uint64_t done, total;
    const char *things; /* a constant */
    double left_s;      /* if it goes on as so far */
};
struct progress_part progress_part(void);
bool progress_is_shown(void); /* there is a line on the terminal */

double progress_now_s(void); /* of the clock that it goes by */

#endif
