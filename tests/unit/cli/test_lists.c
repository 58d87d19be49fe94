/* test_lists.c -- lists of numbers on the command line. */
#include "cli/in/in_lists.h"
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* "1 2 3": what `text` holds. */
static void holds(enum list_kind kind, const char *text, const char *expected)
{
    char why[LIST_WHY_BYTES] = "", got[1024] = "";
    struct list list;

    if (!list_read(&list, kind, text, why))
        fail_msg("%s: %s", text, why);
    for (size_t i = 0; i < list.n; i++)
        sprintf(got + strlen(got), "%s%llu", i > 0 ? " " : "", (unsigned long long)list.value[i]);
    assert_string_equal(got, expected);
    list_free(&list);
}

static void refused(enum list_kind kind, const char *text, const char *expected)
{
    char why[LIST_WHY_BYTES] = "";
    struct list list;

    assert_false(list_read(&list, kind, text, why));
    assert_string_equal(why, expected);
    list_free(&list);
}

static void numbers_come_in_the_order_written(void **state)
{
    (void)state;
    holds(LIST_COUNTS, "7", "7");
    holds(LIST_COUNTS, "3,1,2,1", "3 1 2 1");
    holds(LIST_SIZES, "1G,64,4K", "1073741824 64 4096");
    holds(LIST_RATES, "0.3,1,2.000001", "300000 1000000 2000001");
}

static void ranges_end_with_their_end_if_it_is_hit(void **state)
{
    (void)state;
    holds(LIST_COUNTS, "1:5", "1 2 3 4 5");
    holds(LIST_COUNTS, "1:6:2", "1 3 5");
    holds(LIST_COUNTS, "1:7:2,4", "1 3 5 7 4");
    holds(LIST_COUNTS, "9:9", "9");
    holds(LIST_COUNTS, "1:10:100", "1");
    holds(LIST_SIZES, "64:1K:x2", "64 128 256 512 1024");
    holds(LIST_SIZES, "64:1000:x4", "64 256");
    holds(LIST_SIZES, "1K:4K:1K", "1024 2048 3072 4096");
    holds(LIST_RATES, "0.5:2.5:1", "500000 1500000 2500000");
    holds(LIST_RATES, ".5,.25:.75:.25", "500000 250000 500000 750000");
    holds(LIST_RATES, "0.1:1.6:x2", "100000 200000 400000 800000 1600000");
}

static void ranges_end_before_they_overflow(void **state)
{
    (void)state;
    holds(LIST_COUNTS, "18446744073709551613:18446744073709551615:2",
          "18446744073709551613 18446744073709551615");
    holds(LIST_COUNTS, "18446744073709551614:18446744073709551615:x2", "18446744073709551614");
    holds(LIST_COUNTS, "1:18446744073709551615:18446744073709551615", "1");
    holds(LIST_COUNTS, "1:18446744073709551615:x4294967296", "1 4294967296");
}

/* 0.1 + 0.1 + 0.1 is not 0.3; the third rate is. */
static void rates_are_the_decimals_that_were_written(void **state)
{
    char why[LIST_WHY_BYTES];
    struct list list;

    (void)state;
    assert_true(list_read(&list, LIST_RATES, "0.001:9.999:0.001", why));
    assert_int_equal(list.n, 9999);
    for (size_t i = 0; i < list.n; i++) {
        char decimal[32];

        sprintf(decimal, "%zu.%03zu", (i + 1) / 1000, (i + 1) % 1000);
        assert_true(list_rate(list.value[i]) == strtod(decimal, NULL));
    }
    list_free(&list);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    refused(LIST_SIZES, "", "'' is not a size above 0: digits, then K, M or G if wanted");
    refused(LIST_SIZES, "64,", "'' is not a size above 0: digits, then K, M or G if wanted");
    refused(LIST_SIZES, "64,4k", "'4k' is not a size above 0: digits, then K, M or G if wanted");
    refused(LIST_SIZES, "17179869184G",
            "'17179869184G' is not a size above 0: digits, then K, M or G if wanted");
    refused(LIST_COUNTS, "0", "'0' is not a number above 0");
    refused(LIST_COUNTS, "1,0:4", "'0' is not a number above 0");
    refused(LIST_COUNTS, "4K", "'4K' is not a number above 0");
    refused(LIST_COUNTS, "16:1", "'16:1' goes downwards");
    refused(LIST_COUNTS, "1:16:0", "'0' is not a number above 0");
    refused(LIST_COUNTS, "1:16:", "'' is not a number above 0");
    refused(LIST_COUNTS, "1:16:x1", "'x1' is not a factor: x2 or more");
    refused(LIST_COUNTS, "1:16:x", "'x' is not a factor: x2 or more");
    refused(LIST_COUNTS, "1:16:x2:3", "'1:16:x2:3' is not FIRST:LAST or FIRST:LAST:STEP");
    refused(LIST_COUNTS, ":", "'' is not a number above 0");
    refused(LIST_RATES, "0.0", "'0.0' is not a number above 0 with at most six decimals");
    refused(LIST_RATES, "-1", "'-1' is not a number above 0 with at most six decimals");
    refused(LIST_RATES, "1e-3", "'1e-3' is not a number above 0 with at most six decimals");
    refused(LIST_RATES, "0.1:1:0.0000001",
            "'0.0000001' is not a number above 0 with at most six decimals");
}

/* A step of 1 would make 0.1:1.0 a list of 0.1. */
static void ranges_of_rates_need_a_step(void **state)
{
    (void)state;
    refused(LIST_RATES, "0.1:1.0", "'0.1:1.0' needs a step, as in 0.1:1.0:0.1");
    refused(LIST_RATES, "0.3,0.001:0.01", "'0.001:0.01' needs a step, as in 0.001:0.01:0.001");
    refused(LIST_RATES, ".5:2.5", "'.5:2.5' needs a step, as in .5:2.5:1");
    refused(LIST_RATES, "1:1000000", "'1:1000000' needs a step, as in 1:1000000:100000");
    refused(LIST_RATES, "0.5:0.5", "'0.5:0.5' needs a step, as in 0.5:0.5:0.000001");
    refused(LIST_RATES, "1.0:0.1", "'1.0:0.1' goes downwards");
    refused(LIST_RATES, ".", "'.' is not a number above 0 with at most six decimals");
    refused(LIST_RATES, ".0", "'.0' is not a number above 0 with at most six decimals");
}

static void a_list_has_an_end(void **state)
{
    char why[LIST_WHY_BYTES];
    struct list list;

    (void)state;
    assert_true(list_read(&list, LIST_COUNTS, "1:4000000", why));
    assert_int_equal(list.n, LIST_MAX);
    list_free(&list);
    refused(LIST_COUNTS, "1:4000000,1", "more than 4000000 numbers");
    refused(LIST_COUNTS, "1:18446744073709551615", "more than 4000000 numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_in_the_order_written),
        cmocka_unit_test(ranges_end_with_their_end_if_it_is_hit),
        cmocka_unit_test(ranges_end_before_they_overflow),
        cmocka_unit_test(rates_are_the_decimals_that_were_written),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(ranges_of_rates_need_a_step),
        cmocka_unit_test(a_list_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
