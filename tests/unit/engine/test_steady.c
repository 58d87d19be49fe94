/*
 * test_steady.c -- how often the interval of `load` holds a mean that is known, if it says steady.
 *
 * With pattern local each PE of cube8 is an M/D/1 queue: one channel, held for s = 18.085 ns, so
 * the mean latency is s + rho s / (2 (1 - rho)). For each load there are KB_STEADY_RUNS results of
 * three seeds each, KB_STEADY_TXNS transactions a seed, and no seed is used twice; `make steady`
 * takes as many as docs/model.md has.
 */
#include "support/rig.h"
#include <math.h>
#include "cube8.h"

static const double service_ns = 18.085;

enum { SEEDS = 3 };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static kb_traffic_result measured(double rho, uint64_t txns, uint64_t seed, uint32_t seeds)
{
    kb_traffic traffic = {.pattern = KB_LOCAL,
                          .nbytes = 4096,
                          .rate = rho * 16 / service_ns, /* rate 1: one in 16 ns */
                          .txns = txns};
    kb_sim *sims[SEEDS];
    kb_traffic_result r;

    for (uint32_t i = 0; i < seeds; i++) {
        traffic.seed = seed + i;
        assert_int_equal(kb_sim_new(&cube8_topology, NULL, &sims[i]), KB_OK);
        assert_int_equal(kb_sim_traffic(sims[i], &traffic, NULL), KB_OK);
        assert_int_equal(kb_sim_run(sims[i], 0, NULL), KB_OK);
    }
    assert_int_equal(kb_sim_traffic_result(sims, seeds, &r), KB_OK);
    for (uint32_t i = 0; i < seeds; i++)
        kb_sim_free(sims[i]);
    return r;
}

/* Of all results at most a tenth say steady with an interval that does not hold the mean. */
static void the_interval_of_a_steady_state_holds_the_mean(void **state)
{
    static const double rhos[] = {0.5, 0.7, 0.85, 0.95};
    uint64_t runs = number("KB_STEADY_RUNS", 40), txns = number("KB_STEADY_TXNS", 20000);

    (void)state;
    printf("# %llu results of %d seeds, %llu transactions each\n", (unsigned long long)runs, SEEDS,
           (unsigned long long)txns);
    printf("# rho  steady  of these hold  all hold  bias\n");
    for (size_t k = 0; k < sizeof rhos / sizeof *rhos; k++) {
        double want = service_ns * (1 + rhos[k] / (2 * (1 - rhos[k]))), sum = 0;
        uint64_t n_steady = 0, n_right = 0, n_hold = 0;

        for (uint64_t i = 0; i < runs; i++) {
            kb_traffic_result r = measured(rhos[k], txns, (k * runs + i) * SEEDS, SEEDS);
            bool holds = fabs((double)r.mean_fs / 1e6 - want) <= (double)r.ci95_fs / 1e6;

            sum += (double)r.mean_fs / 1e6;
            n_steady += r.steady;
            n_right += r.steady && holds;
            n_hold += holds;
        }
        printf("# %.2f  %5.1f %%  %5.1f %%  %5.1f %%  %+.2f %%\n", rhos[k],
               100.0 * (double)n_steady / (double)runs,
               n_steady ? 100.0 * (double)n_right / (double)n_steady : 100,
               100.0 * (double)n_hold / (double)runs, 100 * (sum / (double)runs / want - 1));
        assert_true(10 * (n_steady - n_right) <= runs);
        if (n_steady >= 100) /* and of those that do, where they are many, nine in ten hold it */
            assert_true(10 * n_right >= 9 * n_steady);
        if (rhos[k] <= 0.5) /* it is not always 0 */
            assert_true(10 * n_steady >= 9 * runs);
    }
}

/*
 * Parts of one simulation that follow one another are alike, and the interval allows for it: 57 of
 * these 60 hold the mean, and would be 47 if it did not.
 */
static void the_interval_of_one_simulation_allows_for_parts_that_are_alike(void **state)
{
    enum { RUNS = 60, TXNS = 100000 };
    double rho = 0.85, want = service_ns * (1 + rho / (2 * (1 - rho)));
    int n_hold = 0;

    (void)state;
    for (uint64_t i = 0; i < RUNS; i++) {
        kb_traffic_result r = measured(rho, TXNS, 1000000 + i, 1);

        n_hold += fabs((double)r.mean_fs / 1e6 - want) <= (double)r.ci95_fs / 1e6;
    }
    printf("# %d of %d hold\n", n_hold, RUNS);
    assert_true(n_hold >= RUNS * 5 / 6);
}

/*
 * A short simulation that no long queue fell into is no steady state, however calm it was: of those
 * that say so nine in ten hold the mean.
 */
static void one_short_simulation_is_not_called_steady_for_its_luck(void **state)
{
    static const struct {
        double rho;
        uint64_t txns;
        bool steady; /* most are; else none is */
    } of[] = {{0.5, 5000, true}, {0.7, 20000, true}, {0.85, 5000, false}, {0.85, 20000, false}};
    enum { RUNS = 60 };

    (void)state;
    for (size_t k = 0; k < LENGTH(of); k++) {
        double want = service_ns * (1 + of[k].rho / (2 * (1 - of[k].rho)));
        int n_steady = 0, n_right = 0;

        for (uint64_t i = 0; i < RUNS; i++) {
            kb_traffic_result r = measured(of[k].rho, of[k].txns, 2000000 + i, 1);

            n_steady += r.steady;
            n_right += r.steady && fabs((double)r.mean_fs / 1e6 - want) <= (double)r.ci95_fs / 1e6;
        }
        printf("# %.2f, %llu: %d of %d steady, %d of these hold\n", of[k].rho,
               (unsigned long long)of[k].txns, n_steady, RUNS, n_right);
        assert_true(of[k].steady ? 4 * n_steady >= 3 * RUNS : n_steady == 0);
        assert_true(10 * n_right >= 9 * n_steady);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_of_a_steady_state_holds_the_mean),
        cmocka_unit_test(the_interval_of_one_simulation_allows_for_parts_that_are_alike),
        cmocka_unit_test(one_short_simulation_is_not_called_steady_for_its_luck),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
