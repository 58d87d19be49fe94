/*
 * co.c -- ns per switch between coroutines, and per coroutine made, run once and dropped.
 *
 * Through functions that are really called, as a kernel's are: resume here, tl_load() there. In
 * processor time.
 *
 * usage: co ROUNDS; samples go to stdout (bench.h), what is wrong to stderr.
 */
#include "bench.h"
#include "kernels/co.h"
#include <stdlib.h>

enum { SWITCHES = 4000000, LIVES = 2000000, MOST = 8192 };

struct kernel {
    struct co *co;
    uint64_t turns;
};

static struct kernel kernels[MOST];

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "co: %s\n", what);
    exit(1);
}

__attribute__((noinline)) static void load(struct kernel *k)
{
    co_suspend(k->co);
    k->turns++;
}

__attribute__((noinline)) static void step(struct kernel *k)
{
    if (co_resume(k->co) != CO_YIELDED)
        fail("a kernel has ended");
}

static void load_for_ever(void *arg)
{
    for (;;)
        load(arg);
}

static void nothing(void *arg)
{
    (void)arg;
}

static struct co_pool *pool_new(void)
{
    struct co_pool *pool = co_pool_new(0);

    if (!pool)
        fail("out of memory");
    return pool;
}

static struct co *co_made(struct co_pool *pool, void (*entry)(void *), void *arg)
{
    struct co *co = co_new(pool, entry, arg);

    if (!co)
        fail("out of memory");
    return co;
}

/* ns per switch, two of which are a round trip; the first round is not counted. */
static double round_robin_ns(size_t n)
{
    struct co_pool *pool = pool_new();
    size_t rounds = SWITCHES / 2 / n;
    double begin = 0;

    for (size_t i = 0; i < n; i++)
        kernels[i].co = co_made(pool, load_for_ever, &kernels[i]);
    for (size_t round = 0; round <= rounds; round++) {
        if (round == 1)
            begin = bench_processor_ns();
        for (size_t i = 0; i < n; i++)
            step(&kernels[i]);
    }
    double ns = bench_processor_ns() - begin;

    for (size_t i = 0; i < n; i++)
        co_drop(kernels[i].co);
    co_pool_free(pool);
    return ns / (double)(2 * rounds * n);
}

static void live(struct co_pool *pool)
{
    struct co *co = co_made(pool, nothing, NULL);

    co_resume(co);
    co_drop(co);
}

static double life_ns(void)
{
    struct co_pool *pool = pool_new();

    live(pool);
    double begin = bench_processor_ns();

    for (int i = 0; i < LIVES; i++)
        live(pool);
    double ns = bench_processor_ns() - begin;

    co_pool_free(pool);
    return ns / LIVES;
}

/* A pool for all kernels of a large machine: made, each run once, and dropped. */
static double first_lives_ms(size_t n)
{
    double begin = bench_processor_ns();
    struct co_pool *pool = pool_new();

    for (size_t i = 0; i < n; i++)
        kernels[i].co = co_made(pool, nothing, NULL);
    for (size_t i = 0; i < n; i++)
        co_resume(kernels[i].co);
    for (size_t i = 0; i < n; i++)
        co_drop(kernels[i].co);
    co_pool_free(pool);
    return (bench_processor_ns() - begin) / 1e6;
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;

    if (rounds < 1) {
        fprintf(stderr, "usage: co ROUNDS\n");
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        bench_sample("round robin 1", "switch", "ns", round, round_robin_ns(1));
        bench_sample("round robin 64", "switch", "ns", round, round_robin_ns(64));
        bench_sample("round robin 8192", "switch", "ns", round, round_robin_ns(MOST));
        bench_sample("pooled", "life", "ns", round, life_ns());
        bench_sample("8192 first", "lives", "ms", round, first_lives_ms(MOST));
    }
    return 0;
}
