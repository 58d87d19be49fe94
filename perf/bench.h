/* bench.h -- what the programs of a bench share: a clock, random numbers, and rows of samples. */
#ifndef BENCH_H
#define BENCH_H
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline double bench_clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double bench_wall_ns(void)
{
    return bench_clock_ns(CLOCK_MONOTONIC);
}

/* What others take of the machine does not count. */
static inline double bench_processor_ns(void)
{
    return bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* SplitMix64: the same numbers from the same seed, everywhere. */
static inline uint64_t bench_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One row of name,unit,round,value. What belongs to one round ran side by side. */
static inline void bench_sample(const char *name, const char *what, const char *unit, int round,
                                double value)
{
    printf("%s %s,%s,%d,%.4f\n", name, what, unit, round, value);
}

#endif
