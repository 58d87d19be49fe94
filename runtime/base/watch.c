/*
 * watch.c -- looks at the time and the memory that a run takes, on a thread of its own.
 *
 * Loops that work know nothing of it, and lose no time. Fifty times a second the thread looks at
 * the clocks and at the pages that the process has.
 *
 * Time that counts as work is that of the processor, but of each look no more than has passed: 20
 * ms in which two threads worked are 20 ms, 20 ms in which another process had the processor are
 * none.
 */
#include "base/watch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10 };

static double clock_s(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bytes that the process has in memory; 0: that cannot be told. */
static uint64_t bytes_now(struct watch *w)
{
    char text[128], *second = text;
    ssize_t n;

    if (w->memory < 0)
        w->memory = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    n = w->memory < 0 ? 0 : pread(w->memory, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    strtoull(text, &second, 10); /* all pages, then those that are there */
    return strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The most that it had; 0: that cannot be told. */
static uint64_t bytes_most(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    unsigned long long kb = 0;
    char line[256];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %llu", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}

/* Processor time of the processes that we have waited for. */
static double children_s(void)
{
    struct rusage used;

    if (getrusage(RUSAGE_CHILDREN, &used) != 0)
        return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* Work of `passed` seconds, in which this process had the processor for `cpu_s`. That of a child is
 * known when it has ended, all at once. */
static double worked(struct watch *w, double passed, double cpu_s)
{
    double children = children_s(), s;

    w->owed_s += children - w->children_s;
    w->children_s = children;
    if (cpu_s >= passed)
        return passed;
    s = cpu_s + w->owed_s < passed ? cpu_s + w->owed_s : passed;
    w->owed_s -= s - cpu_s;
    return s;
}

static void look(struct watch *w)
{
    double s = clock_s(CLOCK_MONOTONIC_RAW) - w->begin_s, cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    double passed = s - w->taken.s;
    uint64_t bytes = bytes_now(w);

    w->taken.s = s;
    w->taken.work_s += worked(w, passed, cpu_s - w->cpu_s);
    w->taken.bytes = bytes > w->bytes ? bytes - w->bytes : 0;
    w->cpu_s = cpu_s;
}

static void tell_once(struct watch *w, bool *told, bool is, enum watch_news news)
{
    if (!is || *told)
        return;
    *told = true;
    w->tell(w->arg, news, &w->taken);
}

static void tell(struct watch *w)
{
    const struct watch_taken *taken = &w->taken;

    tell_once(w, &w->told_long, taken->work_s >= WATCH_WORD_S, WATCH_LONG);
    tell_once(w, &w->told_large, taken->bytes >= WATCH_WORD_BYTES, WATCH_LARGE);
    if (w->limit_s > 0 && taken->s >= w->limit_s)
        w->tell(w->arg, WATCH_TIME, taken);
    if (w->limit_bytes > 0 && taken->bytes >= w->limit_bytes)
        w->tell(w->arg, WATCH_MEMORY, taken);
}

static void *watch(void *arg)
{
    struct watch *w = arg;
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        until.tv_nsec += WATCH_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&w->end, &w->lock, &until) != ETIMEDOUT)
            continue;
        look(w);
        tell(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are the main thread's. */
static bool start(struct watch *w)
{
    sigset_t all, before;
    pthread_attr_t small;

    sigfillset(&all);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool ok = pthread_create(&w->thread, &small, watch, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
    return ok;
}

static void release(struct watch *w)
{
    if (w->memory >= 0)
        close(w->memory);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->end);
    w->tell = NULL;
}

bool watch_begin(struct watch *w)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&w->lock, NULL);
    w->memory = -1;
    w->bytes = w->from_now ? bytes_now(w) : 0;
    w->children_s = children_s();
    w->begin_s = clock_s(CLOCK_MONOTONIC_RAW);
    w->cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    if (start(w))
        return true;
    release(w);
    return false;
}

void watch_end(struct watch *w)
{
    if (!w->tell)
        return;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->end);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    w->taken.bytes = bytes_most();
    if (w->taken.bytes > w->bytes + WATCH_WORD_BYTES)
        tell_once(w, &w->told_large, true, WATCH_LARGE);
    release(w);
}
