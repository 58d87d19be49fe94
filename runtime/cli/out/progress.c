/*
 * progress.c -- a line on the terminal that says how far a long run is.
 *
 * It appears after a second, is written over itself five times a second ("\r"), and is wiped at
 * the end, so that nothing of it stays on the screen. If stderr is no terminal there is none.
 * Callers may call progress_show() as often as they like: it looks at the clock first. A
 * program that runs commands itself asks for the numbers instead (session.h).
 */
#include "cli/out/progress.h"
#include "base/text.h"
#include "cli/out/session.h"
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double first_s = 1.0;  /* a run this short shows nothing */
static const double period_s = 0.2; /* between two lines */

/* What the last one of the command line has shown: other threads look. */
static atomic_uint_fast64_t last_done, last_total;
static _Atomic(const char *) last_things = "";
static _Atomic double last_begin_s;
static atomic_bool last_shown;

double progress_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_begin(struct progress *p, bool quiet)
{
    struct session *here = session_here();

    *p = (struct progress){.session = quiet ? NULL : here,
                           .wanted = !quiet && !here && isatty(STDERR_FILENO),
                           .begin_s = progress_now_s()};
    p->next_s = p->begin_s + first_s;
    if (!here) {
        last_total = 0;
        last_begin_s = p->begin_s;
    }
}

struct progress_part progress_part(void)
{
    struct progress_part part = {.total = last_total, .things = last_things, .done = last_done};
    double so_far_s = progress_now_s() - last_begin_s;

    if (part.done > 0 && part.done < part.total)
        part.left_s = so_far_s * (double)(part.total - part.done) / (double)part.done;
    return part;
}

bool progress_is_shown(void)
{
    return last_shown;
}

static void note_part(uint64_t done, uint64_t total, const char *things)
{
    last_things = things;
    last_done = done;
    last_total = total;
}

/* Seconds as long as they can be counted. */
static void show_time(double s, const char *what)
{
    char text[TEXT_NUMBER_BYTES];

    if (s < 99.5)
        text_format(text, sizeof text, "%.0f s", s);
    else if (s < 99.5 * 60)
        text_format(text, sizeof text, "%.0f min", s / 60);
    else
        text_format(text, sizeof text, "%.1f h", s / 3600);
    fprintf(stderr, ", %s %s", text, what);
}

static bool is_due(const struct progress *p, double *now)
{
    return p->wanted && (*now = progress_now_s()) >= p->next_s;
}

/* Blanks at the end of the line cover what a longer one left. */
static void end_line(struct progress *p, double now)
{
    fputs("    ", stderr);
    p->shown = true;
    last_shown = true;
    p->next_s = now + period_s;
}

void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *things)
{
    char percent[TEXT_NUMBER_BYTES];
    double now;

    if (p->session)
        session_progress(p->session, done, total, things);
    else if (!session_here())
        note_part(done, total, things);
    if (!is_due(p, &now))
        return;
    double part = total == 0 ? 0 : done < total ? (double)done / (double)total : 1;
    text_format(percent, sizeof percent, "%5.1f", 100 * part);
    fprintf(stderr, "\r%s %% of %llu %s", percent, (unsigned long long)total, things);
    if (part > 0)
        show_time((now - p->begin_s) * (1 - part) / part, "left");
    else
        show_time(now - p->begin_s, "so far");
    end_line(p, now);
}

void progress_show_time(struct progress *p, const char *doing)
{
    double now;

    if (p->session)
        session_progress(p->session, 0, 0, doing);
    if (!is_due(p, &now))
        return;
    fprintf(stderr, "\r%s", doing);
    show_time(now - p->begin_s, "so far");
    end_line(p, now);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%79s\r", "");
    p->shown = false;
}
