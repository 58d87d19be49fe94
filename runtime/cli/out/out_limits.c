/*
 * out_limits.c -- what a command may take: --limit-s and --limit-mb; and a word about one that
 * takes long.
 *
 * base/watch.c looks. A limit that is passed is a first Ctrl-C with another exit code: loops see
 * stop_asked(), what is complete is printed, and what does not look in time is ended (stop.c).
 * Memory may grow on meanwhile: at twice the limit the process ends at once.
 *
 * How long a run will take is known from its progress: done of total, in the time so far, if a
 * hundredth is done. Runs of less than a second need no word.
 */
#include "cli/out/out_limits.h"
#include "cli/out/progress.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "base/text.h"

enum { TEXT_BYTES = 160, MB = 1000000, WORD_BYTES = 1000 * MB, LEAST_PART = 100 };

static const char *what_is_kept(void)
{
    return stop_is_deferred() ? " with what is complete" : "";
}

static void say_long(const struct watch_taken *taken)
{
    char text[TEXT_BYTES] = "";
    struct progress_part part = progress_part();

    if (part.done > 0 && part.done < part.total && part.done >= part.total / LEAST_PART)
        text_format(text, sizeof text, ", about %.0f s in all: %.1f %% of %llu %s are done",
                    taken->s + part.left_s, 100.0 * (double)part.done / (double)part.total,
                    (unsigned long long)part.total, part.things);
    say_line("note: this has worked for %.0f s so far%s; --limit-s ends it%s", taken->work_s, text,
             what_is_kept());
}

static void say_large(const struct watch_taken *taken)
{
    say_line("note: this has %.0f MB of memory so far; --limit-mb ends it%s",
             (double)taken->bytes / MB, what_is_kept());
}

static void tell(void *arg, enum watch_news news, const struct watch_taken *taken)
{
    const struct limits *l = arg;
    bool talk = !l->quiet && !l->session && !progress_is_shown();

    if (news == WATCH_LONG && talk)
        say_long(taken);
    else if (news == WATCH_LARGE && talk)
        say_large(taken);
    else if (news == WATCH_TIME)
        stop_at_limit(l->session, STOP_TIME);
    else if (news == WATCH_MEMORY && (l->session || taken->bytes < 2 * l->watch.limit_bytes))
        stop_at_limit(l->session, STOP_MEMORY); /* a process that asks us is not ours to end */
    else if (news == WATCH_MEMORY)
        stop_now(STOP_MEMORY);
}

enum exit_code limits_begin(struct limits *l, const char *program, double limit_s,
                            uint64_t limit_bytes, bool quiet)
{
    *l = (struct limits){.session = session_here(), .quiet = quiet};
    l->watch = (struct watch){.limit_s = limit_s,
                              .limit_bytes = limit_bytes,
                              .from_now = l->session != NULL,
                              .tell = tell,
                              .arg = l};
    if (watch_begin(&l->watch) || (limit_s <= 0 && limit_bytes == 0))
        return EXIT_OK;
    return say(program, EXIT_SYSTEM, "no thread could be started");
}

enum exit_code limits_expect(struct limits *l, const char *program, uint64_t bytes)
{
    double mb = (double)bytes / MB;

    if (l->watch.limit_bytes > 0 && bytes > l->watch.limit_bytes)
        return say(program, EXIT_LIMIT,
                   "a simulation of this machine takes %.0f MB of memory, more than --limit-mb",
                   mb);
    if (bytes >= WORD_BYTES && !l->quiet && !l->session)
        say_line("note: a simulation of this machine takes %.0f MB of memory", mb);
    return EXIT_OK;
}

enum exit_code limits_end(struct limits *l, enum exit_code code)
{
    watch_end(&l->watch);
    return code == EXIT_INTERRUPTED && stop_limit() != STOP_NO_LIMIT ? EXIT_LIMIT : code;
}
