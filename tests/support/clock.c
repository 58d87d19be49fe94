/*
 * clock.c -- preloaded: a clock that goes on by a tenth of a second each time that it is looked at.
 *
 * So a run appears to take as long as it looks at the clock, on any machine and under any load.
 * A wait for a moment of it lasts a millisecond.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    static atomic_long looks = 1000;
    long look;

    if (id != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, id, t);
    look = ++looks;
    t->tv_sec = look / 10;
    t->tv_nsec = look % 10 * 100000000;
    return 0;
}

/* Of a condition that knows CLOCK_MONOTONIC: so do all of ours. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *t)
{
    int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    struct timespec until;

    (void)t;
    *(void **)&wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &until);
    until.tv_nsec += 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return wait(cond, lock, &until);
}
