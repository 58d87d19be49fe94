/* limits.c -- what kbgen may take: --limit-s and --limit-mb; and a word about what takes long. */
#include "limits.h"
#include "base/watch.h"
#include <stdio.h>
#include <unistd.h>

/* There is one command line. */
static struct watch look;

static void say(const char *what, uint64_t n, const char *unit)
{
    fprintf(stderr, "kbgen: note: this has %s %llu %s so far\n", what, (unsigned long long)n, unit);
}

static _Noreturn void stop(const char *option)
{
    fprintf(stderr, "kbgen: stopped by %s\n", option);
    _exit(EXIT_LIMIT);
}

static void tell(void *arg, enum watch_news news, const struct watch_taken *taken)
{
    (void)arg;
    switch (news) {
    case WATCH_LONG:
        say("worked for", (uint64_t)taken->work_s, "s");
        return;
    case WATCH_LARGE:
        say("taken", taken->bytes / 1000000, "MB of memory");
        return;
    case WATCH_TIME:
        stop("--limit-s");
    case WATCH_MEMORY:
        stop("--limit-mb");
    }
}

void limits_of_kbgen(const struct options *o)
{
    look = (struct watch){.limit_s = o->limit_s, .limit_bytes = o->limit_bytes, .tell = tell};
    if (watch_begin(&look) || (o->limit_s <= 0 && o->limit_bytes == 0))
        return;
    fputs("kbgen: no thread could be started\n", stderr);
    _exit(EXIT_SYSTEM);
}

void limits_end_of_kbgen(void)
{
    watch_end(&look);
}
