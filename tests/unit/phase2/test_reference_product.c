/* test_reference_product.c -- products of references, to the bit as by three loops. */
#include "phase2/reference_parallel.h"
#include "phase2/reference_product.h"
#include "kernbench.h"
#include "support/ops.h"
#include <pthread.h>
#include <signal.h>

struct shape {
    int64_t m, n, k;
};

/* Single elements, primes, whole tiles and chunks and one more or less of them, several panels. */
static const struct shape shapes[] = {
    {1, 1, 1},    {1, 7, 3},     {7, 1, 13},    {5, 3, 2},      {8, 8, 256},   {9, 9, 257},
    {7, 15, 255}, {127, 17, 31}, {129, 257, 5}, {128, 256, 64}, {3, 300, 513}, {261, 2, 600},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

enum { PLAIN, WITH_ZEROS, WITH_ALL };

/* In 1 of 8 places a number of those that are not like others. */
static double element(uint64_t *seed, int kinds)
{
    static const double rare[] = {-0.0,     0.0,       0x1p-1074, -0x1p-1030,
                                  INFINITY, -INFINITY, NAN,       1e300};
    uint64_t z = ops_random(seed);

    if (kinds == PLAIN || z % 8)
        return ((double)(z >> 11) * 0x1p-53 - 0.5) * (z % 16 == 1 ? 1e9 : 1);
    return rare[(z >> 8) % (kinds == WITH_ALL ? 8 : 4)];
}

static double *matrix(int64_t n, uint64_t seed, int kinds)
{
    double *x = malloc((size_t)n * sizeof *x);

    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = element(&seed, kinds);
    return x;
}

static void multiply(const double *a, const double *b, double *c, struct shape s)
{
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t p = 0; p < s.k; p++)
            for (int64_t j = 0; j < s.n; j++)
                c[i * s.n + j] += a[i * s.k + p] * b[p * s.n + j];
}

/* Of NaNs only that they are NaNs. */
static void assert_same(const double *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(isnan(got[i]) && isnan(want[i])) && memcmp(&got[i], &want[i], sizeof *got))
            fail_msg("element %lld is %a, by plain loops %a", (long long)i, got[i], want[i]);
}

struct operands {
    struct shape shape;
    double *a, *b, *c, *want;
};

static struct operands operands_new(struct shape s, uint64_t seed, int kinds)
{
    struct operands x = {s, matrix(s.m * s.k, seed, kinds), matrix(s.k * s.n, ~seed, kinds),
                         matrix(s.m * s.n, seed + 99, kinds), malloc(8 * (size_t)(s.m * s.n))};

    assert_non_null(x.want);
    memcpy(x.want, x.c, 8 * (size_t)(s.m * s.n));
    multiply(x.a, x.b, x.want, s);
    return x;
}

static void operands_free(struct operands *x)
{
    assert_same(x->c, x->want, x->shape.m * x->shape.n);
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->want);
}

static void every_shape_is_as_by_three_loops(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++)
        for (unsigned vector = 16; vector <= 64; vector *= 2)
            for (int kinds = PLAIN; kinds <= WITH_ALL; kinds++) {
                struct operands x = operands_new(shapes[i], (uint64_t)i * 10 + vector, kinds);
                struct shape s = x.shape;
                struct reference_product p = {x.a, x.b, x.c, s.m, s.n, s.k};

                reference_product(&p, 1, vector);
                operands_free(&x);
            }
}

/* 3 x 2 chunks, the last ones not whole. */
static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 9; threads++) {
        struct operands x = operands_new((struct shape){300, 270, 400}, threads, WITH_ZEROS);
        struct reference_product p = {x.a, x.b, x.c, 300, 270, 400};

        reference_product(&p, threads, 64);
        operands_free(&x);
    }
}

static void nothing_to_add_changes_nothing(void **state)
{
    double x[] = {-0.0, 3}, was[] = {-0.0, 3};

    (void)state;
    kb_reference_product(x, x, x, 0, 1, 1);
    kb_reference_product(x, x, x, 1, 0, 1);
    kb_reference_product(NULL, NULL, x, 1, 2, 0);
    assert_memory_equal(x, was, sizeof x);
}

static void *one_caller(void *arg)
{
    struct operands *x = arg;

    kb_reference_product(x->a, x->b, x->c, x->shape.m, x->shape.n, x->shape.k);
    return NULL;
}

static void threads_may_multiply_at_the_same_time(void **state)
{
    struct operands x[4];
    pthread_t threads[4];

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        x[i] = operands_new((struct shape){257, 255, 300 + i}, i, PLAIN);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_caller, &x[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        operands_free(&x[i]);
    }
}

/* -- signals -------------------------------------------------------------------------------- */

enum { SIGNALS = 31 }; /* without those of real time */

/* Two pieces of work, each in a thread of its own: neither ends before both have begun. */
struct meeting {
    pthread_barrier_t both;
    pthread_t caller;
    int blocked[2]; /* signals: in another thread, in the caller's */
};

static void count_blocked(void *arg, int64_t i)
{
    struct meeting *m = arg;
    sigset_t now;
    int *n = &m->blocked[pthread_equal(pthread_self(), m->caller) != 0];

    (void)i;
    pthread_barrier_wait(&m->both);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int signal = 1; signal <= SIGNALS; signal++)
        *n += signal != SIGKILL && signal != SIGSTOP && sigismember(&now, signal);
}

static void signals_are_for_the_caller(void **state)
{
    struct meeting m = {.caller = pthread_self()};

    (void)state;
    pthread_barrier_init(&m.both, NULL, 2);
    reference_parallel(2, 2, count_blocked, &m);
    pthread_barrier_destroy(&m.both);
    assert_int_equal(m.blocked[0], SIGNALS - 2);
    assert_int_equal(m.blocked[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_are_for_the_caller),
        cmocka_unit_test(every_shape_is_as_by_three_loops),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(nothing_to_add_changes_nothing),
        cmocka_unit_test(threads_may_multiply_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
