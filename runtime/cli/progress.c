/* progress.c -- a line on the terminal that says how far a long run is. */
#include "progress.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double first_s = 1.0;  /* a run this short shows nothing */
static const double period_s = 0.2; /* between two lines */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_begin(struct progress *p, bool quiet)
{
    *p = (struct progress){.wanted = !quiet && isatty(STDERR_FILENO), .begin_s = now_s()};
    p->next_s = p->begin_s + first_s;
}

/* Blanks at the end of the line cover what a longer one left. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *things)
{
    double now;

    if (!p->wanted || (now = now_s()) < p->next_s)
        return;
    double part = total > 0 ? (double)done / (double)total : 0;
    if (part > 0)
        fprintf(stderr, "\r%5.1f %% of %llu %s, %.0f s left    ", 100 * part,
                (unsigned long long)total, things, (now - p->begin_s) * (1 - part) / part);
    else
        fprintf(stderr, "\r%5.1f %% of %llu %s    ", 0.0, (unsigned long long)total, things);
    p->shown = true;
    p->next_s = now + period_s;
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%70s\r", "");
    p->shown = false;
}
