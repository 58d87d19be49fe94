/*
 * speed.c -- the closing line: how fast the simulator was.
 *
 *   1000000 transactions in 410 ms: 2.44 million transactions/s; simulated 1.09 s, ...
 *
 * Only the time in simulations counts, not reading and printing.
 */
#include "cli/out/speed.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/progress.h"
#include "base/text.h"
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SHORT_BYTES = 32 };

void speed_begin(struct speed *s)
{
    s->begin_s = progress_now_s();
    s->host_s = 0;
}

void speed_end(struct speed *s)
{
    s->host_s = progress_now_s() - s->begin_s;
}

/* A number that is not negative with three digits and the nearest of `units`, each a thousand of
 * the one before. */
static void put_scaled(double value, const char *const units[], size_t n, char text[SHORT_BYTES])
{
    size_t i = 0;

    for (; value >= 999.5 && i + 1 < n; i++)
        value /= 1000;
    text_format(text, SHORT_BYTES, "%.*f%s",
                value < 9.995   ? 2
                : value < 99.95 ? 1
                                : 0,
                value, units[i]);
}

static void put_count(double value, char text[SHORT_BYTES])
{
    static const char *const units[] = {"", " thousand", " million", " billion"};

    put_scaled(value, units, 4, text);
}

static void put_seconds(double seconds, char text[SHORT_BYTES])
{
    static const char *const units[] = {" ns", " us", " ms", " s"};

    put_scaled(seconds * 1e9, units, 4, text);
}

/* The most that the process has had in memory; Linux counts in KiB. */
static double peak_mb(void)
{
    struct rusage use;

    return getrusage(RUSAGE_SELF, &use) == 0 ? (double)use.ru_maxrss * 1024 / 1e6 : 0;
}

void speed_say(const struct speed *s, bool quiet, uint64_t count, const char *things,
               double simulated_fs)
{
    double simulated_s = simulated_fs * 1e-15, host_s = s->host_s > 1e-9 ? s->host_s : 1e-9;
    char rate[SHORT_BYTES], host[SHORT_BYTES], simulated[SHORT_BYTES], rest[2 * SHORT_BYTES];

    if (quiet || session_here() || !isatty(STDERR_FILENO))
        return;
    put_count((double)count / host_s, rate);
    put_seconds(host_s, host);
    put_seconds(simulated_s, simulated);
    text_format(rest, sizeof rest, "simulated/host time %.2g; peak memory %.0f MB",
                simulated_s / host_s, peak_mb());
    say_line("%llu %s in %s: %s %s/s; simulated %s, %s", (unsigned long long)count, things, host,
             rate, things, simulated, rest);
}
