/* test_percentiles.c -- percentiles: ranks by their definition, and how far a histogram may be off.
 */
#include "support/rig.h"
#include "base/percentiles.h"

#include <math.h>

/* Nearest rank: the smallest value such that at least that share of the values is not above it. */
static void ranks_are_nearest_ranks(void **state)
{
    static const unsigned per_mille[] = {1, 10, 500, 990, 999, 1000};

    (void)state;
    for (uint64_t n = 1; n < 5000; n++)
        for (size_t p = 0; p < LENGTH(per_mille); p++) {
            uint64_t rank = percentile_rank(n, per_mille[p]);

            assert_true((rank + 1) * 1000 >= n * per_mille[p]);
            assert_true(rank == 0 || rank * 1000 < n * per_mille[p]);
            assert_true(rank < n);
        }
    assert_true(percentile_rank(UINT64_C(4000000000), 999) == UINT64_C(3996000000) - 1);
}

static void a_buckets_middle_is_near_all_of_it(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int64_t v = 0; v < 1 << 20; v++) {
        int64_t middle = bucket_value(bucket_of(v));

        assert_true(fabs((double)(middle - v)) <= (double)v * 0.0005);
    }
    for (int i = 0; i < 1000000; i++) {
        int64_t v = (int64_t)(draw(&seed) >> (1 + i % 63));
        int64_t middle = bucket_value(bucket_of(v));

        assert_true(fabs((double)middle - (double)v) <= (double)v * 0.0005);
        assert_true(bucket_of(v) < BUCKETS);
    }
    assert_true(bucket_of(INT64_MAX) == BUCKETS - 1);
    assert_true(bucket_of(0) == 0 && bucket_value(0) == 0);
}

static void buckets_rise_with_their_values(void **state)
{
    (void)state;
    for (uint32_t b = 0; b + 1 < BUCKETS; b++) {
        assert_true(bucket_value(b) < bucket_value(b + 1));
        assert_true(bucket_of(bucket_value(b)) == b);
    }
}

static void sorted_is_sorted(void **state)
{
    int64_t values[1000], sum = 0, after = 0;
    uint64_t seed = 2;

    (void)state;
    for (size_t i = 0; i < LENGTH(values); i++)
        sum += values[i] = (int64_t)(draw(&seed) >> 40);
    percentile_sort(values, LENGTH(values));
    for (size_t i = 0; i < LENGTH(values); i++) {
        after += values[i];
        assert_true(i == 0 || values[i - 1] <= values[i]);
    }
    assert_true(sum == after);
    percentile_sort(values, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_nearest_ranks),
        cmocka_unit_test(a_buckets_middle_is_near_all_of_it),
        cmocka_unit_test(buckets_rise_with_their_values),
        cmocka_unit_test(sorted_is_sorted),
    };

    return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
