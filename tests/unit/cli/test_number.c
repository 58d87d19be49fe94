/* test_number.c -- numbers of result files keep their digits. */
#include "cli/diff/number.c"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* The text that number_put() makes of it, which is the number again. */
static void exact(const char *text, const char *expected)
{
    struct number n;
    char put[64];

    assert_true(number_read(text, &n));
    assert_true(n.exact);
    *number_put(put, n.millionths, false) = '\0';
    assert_string_equal(put, expected);
}

static void times_and_counts_are_exact(void **state)
{
    (void)state;
    exact("0", "0");
    exact("-0.000000", "0");
    exact("18.085", "18.085000");
    exact("-0.000001", "-0.000001");
    exact("9223372036854.775807", "9223372036854.775807"); /* 2^63 - 1 fs */
    exact("18446744073709551615", "18446744073709551615");
    exact("-99999999999999999999.999999", "-99999999999999999999.999999");
    exact("5.000000", "5");
}

static void columns_of_decimals_have_six_in_all_cells(void **state)
{
    char put[64];

    (void)state;
    *number_put(put, (__int128)256 * MILLION, true) = '\0';
    assert_string_equal(put, "256.000000");
    *number_put(put, 0, true) = '\0';
    assert_string_equal(put, "0.000000");
    *number_put(put, -48754, true) = '\0';
    assert_string_equal(put, "-0.048754");
}

/* Not exact, but near. */
static void rough(const char *text, double expected)
{
    struct number n;

    assert_true(number_read(text, &n));
    assert_false(n.exact);
    assert_true(n.value == expected || (isnan(n.value) && isnan(expected)));
}

static void what_is_longer_is_a_double(void **state)
{
    (void)state;
    rough("1.0000001", 1.0000001);
    rough("100000000000000000000", 1e20 * 1.0);
    rough("1e3", 1000);
    rough("1e400", INFINITY);
    rough("-inf", -INFINITY);
    rough("nan", NAN);
    rough("-nan", NAN);
}

static void texts_are_no_numbers(void **state)
{
    static const char *const texts[] = {"",    "-",   "+1",       "01",     "1.",   ".5",
                                        "1e",  "1e+", "1 ",       " 1",     "0x10", "1.2.3",
                                        "1,5", "INF", "infinity", "c0.pe0", "1e5x"};
    char digits_301[302];
    struct number n;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (number_read(texts[i], &n))
            fail_msg("'%s' is a number", texts[i]);
    memset(digits_301, '1', sizeof digits_301 - 1);
    digits_301[301] = '\0';
    assert_false(number_read(digits_301, &n));
    digits_301[300] = '\0';
    assert_true(number_read(digits_301, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_counts_are_exact),
        cmocka_unit_test(columns_of_decimals_have_six_in_all_cells),
        cmocka_unit_test(what_is_longer_is_a_double),
        cmocka_unit_test(texts_are_no_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
