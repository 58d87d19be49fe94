/* test_text.c -- numbers, sizes and times: what is read, what is refused, what is written. */
#include "base/packed.h"
#include "base/text.h"
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* -- readers -------------------------------------------------------------------------------- */

/* docs/formats.md "Replay input": decimal, 0 to 9e12 ns, at most six decimals, read exactly. */
static void times_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t fs;
    } rows[] = {
        {"0", 0},
        {"0.000000", 0},
        {"1", 1000000},
        {"007", 7000000},
        {"0.1", 100000},
        {"0.000001", 1},
        {"216.777", 216777000},
        {"3.141592", 3141592},
        {"8999999999999.999999", INT64_C(8999999999999999999)},
        {"9000000000000", INT64_C(9000000000000000000)},
        {"9000000000000.000000", INT64_C(9000000000000000000)},
        {"00000000000000000000000000001.5", 1500000},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int64_t fs = -1;

        assert_true(text_read_ns(rows[i].text, strlen(rows[i].text), &fs));
        assert_int_equal(fs, rows[i].fs);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const rows[] = {
        "",
        " ",
        "1 ",
        " 1",
        "-1",
        "+1",
        "-0",
        ".5",
        "1.",
        ".",
        "1.2.3",
        "1e3",
        "0x10",
        "1,5",
        "1_000",
        "inf",
        "nan",
        "1.0000000",
        "1.1234567",
        "1.-5",
        "1.+5",
        "9000000000000.000001",
        "9000000000001",
        "1K",
        "99999999999999999999999",
        "18446744073709551616",
        "1.5 ",
        "1\n",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int64_t fs = 42;

        if (text_read_ns(rows[i], strlen(rows[i]), &fs))
            fail_msg("'%s' was read as a time", rows[i]);
        assert_int_equal(fs, 42);
    }
}

/* Only `len` bytes count: fields of a CSV have no final 0. */
static void a_reader_stops_at_its_length(void **state)
{
    int64_t fs;
    uint64_t n;

    (void)state;
    assert_true(text_read_ns("12.5,read", 4, &fs));
    assert_int_equal(fs, 12500000);
    assert_true(text_read_size("4K,7", 2, &n));
    assert_int_equal(n, 4096);
    assert_true(text_read_count("123", 2, &n));
    assert_int_equal(n, 12);
    assert_false(text_read_ns("1\0002", 3, &fs));
}

/* docs/model.md "Units": K, M, G are powers of 1024. */
static void sizes_take_suffixes_and_do_not_wrap(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"0", 0},
        {"1", 1},
        {"0K", 0},
        {"4K", 4096},
        {"1M", 1048576},
        {"6G", UINT64_C(6442450944)},
        {"17179869183G", UINT64_C(18446744072635809792)},
        {"18446744073709551615", UINT64_MAX},
    };
    static const char *const refused[] = {
        "",
        "K",
        "4k",
        "4KB",
        "4KK",
        "1T",
        "1.5K",
        "-1",
        "+1",
        " 1",
        "1 ",
        "4 K",
        "0x10",
        "1e3",
        "18446744073709551616",
        "17179869184G",
        "18014398509481984K",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint64_t bytes = 42;

        assert_true(text_read_size(rows[i].text, strlen(rows[i].text), &bytes));
        assert_true(bytes == rows[i].bytes);
    }
    for (size_t i = 0; i < LENGTH(refused); i++) {
        uint64_t bytes = 42;

        if (text_read_size(refused[i], strlen(refused[i]), &bytes))
            fail_msg("'%s' was read as a size", refused[i]);
        assert_int_equal(bytes, 42);
    }
}

static void counts_are_digits_alone(void **state)
{
    static const char *const refused[] = {"", "-1", "+1", "1K", "1.0", "18446744073709551616"};
    uint64_t n;

    (void)state;
    assert_true(text_read_count("18446744073709551615", 20, &n));
    assert_true(n == UINT64_MAX);
    for (size_t i = 0; i < LENGTH(refused); i++)
        assert_false(text_read_count(refused[i], strlen(refused[i]), &n));
}

/* -- writers -------------------------------------------------------------------------------- */

/* A number with its bits spread over all magnitudes, from one sequence (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z >> (z & 63);
}

static void check_count(uint64_t value)
{
    char ours[TEXT_NUMBER_BYTES], expected[64];

    *text_put_count(ours, value) = '\0';
    snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
    assert_string_equal(ours, expected);
}

static void check_ns(int64_t fs)
{
    char ours[TEXT_NUMBER_BYTES], expected[64];
    uint64_t magnitude = fs < 0 ? 0 - (uint64_t)fs : (uint64_t)fs;

    *text_put_ns(ours, fs) = '\0';
    snprintf(expected, sizeof expected, "%s%llu.%06llu", fs < 0 ? "-" : "",
             (unsigned long long)(magnitude / 1000000), (unsigned long long)(magnitude % 1000000));
    assert_string_equal(ours, expected);
}

static void check_fraction(double value)
{
    char ours[TEXT_NUMBER_BYTES], expected[TEXT_NUMBER_BYTES];

    *text_put_fraction(ours, value) = '\0';
    snprintf(expected, sizeof expected, "%.6f", value);
    assert_string_equal(ours, expected);
}

static void integers_are_written_as_printf_does(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        check_count(power - 1);
        check_count(power);
        check_count(power + 1);
    }
    check_count(UINT64_MAX);
    for (int i = 0; i < 100000; i++)
        check_count(next_random(&seed));
}

static void times_are_written_with_six_decimals(void **state)
{
    static const int64_t rows[] = {0,       1,        -1,        999999,    1000000,      -999999,
                                   1000001, 18085000, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    uint64_t seed = 2;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_ns(rows[i]);
    for (int i = 0; i < 100000; i++)
        check_ns((int64_t)next_random(&seed));
}

static void fractions_are_written_as_printf_does(void **state)
{
    static const double rows[] = {
        0.0,       -0.0,      0.5,   1.0,    128.0,          0.0000005,  0.0000015,
        0.0000025, 0.1,       1e6,   -3.25,  0.9999995,      0.9999994,  9.9999999,
        1e15,      1e22,      1e308, 5e-324, 999999.9999995, 226.483964, 4503599627370495.5,
        INFINITY,  -INFINITY,
    };
    uint64_t seed = 3;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_fraction(rows[i]);
    for (int i = 0; i < 200000; i++) {
        double value = (double)next_random(&seed) / (double)(next_random(&seed) | 1);

        check_fraction(value);
        check_fraction(ldexp(round(ldexp(value, 8)), -8)); /* many of them ties */
    }
    for (int i = 0; i < 100000; i++)
        check_fraction(i * 1e-6 + 5e-7); /* as near to a tie as a double can be */
}

static void rounded_times_take_halves_away_from_zero(void **state)
{
    static const struct {
        int64_t fs;
        const char *text;
    } rows[] = {
        {0, "0.00"},
        {4999, "0.00"},
        {5000, "0.01"},
        {-5000, "-0.01"},
        {18085000, "18.09"},
        {18084999, "18.08"},
        {999994999, "999.99"},
        {999995000, "1000.00"},
        {INT64_MAX, "9223372036854.78"},
        {INT64_MIN, "-9223372036854.78"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char ours[TEXT_NUMBER_BYTES];

        *text_put_ns_rounded(ours, rows[i].fs) = '\0';
        assert_string_equal(ours, rows[i].text);
    }
}

/* -- names ---------------------------------------------------------------------------------- */

static void the_nearest_name_is_at_most_a_third_away_or_begins_so(void **state)
{
    static const char *const names[] = {"table", "csv", "json", "jsonl", "md"};
    static const char *const longer[] = {"hbm.bw_gbs", "queue_channel_ns", "queue_link_ns"};

    (void)state;
    assert_string_equal(text_nearest("jsn", 3, names, LENGTH(names)), "json");
    assert_string_equal(text_nearest("tabel", 5, names, LENGTH(names)), "table");
    assert_null(text_nearest("xml", 3, names, LENGTH(names)));
    assert_string_equal(text_nearest("hbm.bw", 6, longer, LENGTH(longer)), "hbm.bw_gbs");
    assert_string_equal(text_nearest("que", 3, longer, LENGTH(longer)), "queue_channel_ns");
    assert_null(text_nearest("hb", 2, longer, LENGTH(longer)));
    assert_string_equal(text_nearest("json-lines", 10, names, LENGTH(names)), "json");
    assert_null(text_nearest("jsonlines9", 10, names, LENGTH(names)));
    assert_null(text_nearest("", 0, names, LENGTH(names)));
}

/* Text from a file is shown on a terminal: short, and without its control characters. */
static void shown_words_are_short_and_printable(void **state)
{
    char text[16];

    (void)state;
    assert_string_equal(text_show("c0.pe0", 6, text, sizeof text), "c0.pe0");
    assert_string_equal(text_show("a\x1b[2Jb\n", 7, text, sizeof text), "a?[2Jb?");
    assert_string_equal(text_show("123456789012345", 15, text, sizeof text), "123456789012345");
    assert_string_equal(text_show("1234567890123456", 16, text, sizeof text), "123456789012...");
    assert_string_equal(text_show("12345678901\u00fc3456", 17, text, sizeof text),
                        "12345678901...");
    assert_string_equal(text_show("1234567890\u00fc3456", 16, text, sizeof text),
                        "1234567890\u00fc...");
}

/* docs/reliability.md "Hostile text": what is no text is shown as \\x1b, one byte at a time. */
/* A name longer than any word is near to none; a list of names ends where its room ends. */
static void long_names(void **state)
{
    char longest[300], text[8];
    const char *names[] = {longest, "read", "write"};

    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(text_nearest("reed", 4, names, LENGTH(names)), "read");
    text_join(names + 1, 2, "", text, sizeof text);
    assert_string_equal(text, "read...");
    names[0] = "eight888";
    text_join(names, 3, "", text, sizeof text);
    assert_string_equal(text, "eigh...");
}

static void what_is_no_text_is_made_visible(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"plain ~", "plain ~"},
        {"a\033[31m\177\t", "a\\x1b[31m\\x7f\\x09"},
        {"\303\244\342\202\254\360\237\230\200", "\303\244\342\202\254\360\237\230\200"},
        {"\302\237\302\240", "\\xc2\\x9f\302\240"},                  /* C1 ends at U+009f */
        {"\300\257\340\200\257", "\\xc0\\xaf\\xe0\\x80\\xaf"},       /* overlong */
        {"\355\240\200\355\237\277", "\\xed\\xa0\\x80\355\237\277"}, /* a surrogate; U+D7FF */
        {"\364\220\200\200\364\217\277\277", "\\xf4\\x90\\x80\\x80\364\217\277\277"},
        {"\342\202", "\\xe2\\x82"}, /* cut off */
        {"\377", "\\xff"},
    };
    char shown[64];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].text;
        char *to = shown;

        assert_string_equal(text_make_visible(at, false, shown, sizeof shown), rows[i].shown);
        assert_int_equal(text_visible_length(at), strlen(rows[i].shown));
        while (*at)
            to = text_put_visible(to, &at);
        *to = 0;
        assert_string_equal(shown, rows[i].shown);
    }
    assert_string_equal(text_make_visible("a\nb", true, shown, sizeof shown), "a\nb");
    assert_string_equal(text_make_visible("a\nb", false, shown, sizeof shown), "a\\x0ab");
    assert_string_equal(text_make_visible("abcdefghij", false, shown, 8), "abcd");
}

/* -- for another process ---------------------------------------------------------------------- */

/* packed.h: what was put is taken in the same order; of what is not there zeros are taken. */
static void what_is_packed_is_taken_in_order(void **state)
{
    struct packed p = {0};
    char block[5000], back[5000];
    uint64_t number = 7;
    char *text;

    (void)state;
    memset(block, 'x', sizeof block);
    packed_put_text(&p, "a text");
    packed_put_text(&p, NULL);
    packed_put(&p, block, 0);
    PACKED_PUT(&p, block);
    PACKED_PUT(&p, number);
    text = packed_take_text(&p);
    assert_string_equal(text, "a text");
    free(text);
    assert_null(packed_take_text(&p));
    packed_take(&p, back, 0);
    assert_non_null(packed_next(&p, 1));
    packed_take(&p, back, sizeof block - 1);
    assert_memory_equal(back, block, sizeof block - 1);
    number = 0;
    PACKED_TAKE(&p, number);
    assert_true(number == 7 && !p.lost);
    PACKED_TAKE(&p, number);
    assert_true(number == 0 && p.lost);
    assert_null(packed_next(&p, 0));
    packed_free(&p);
    assert_true(!p.bytes && !p.lost);
}

/* A text that is cut off is none. */
static void a_text_that_is_not_whole_is_lost(void **state)
{
    struct packed p = {0};

    (void)state;
    packed_put_text(&p, "cut off");
    p.n--;
    assert_null(packed_take_text(&p));
    assert_true(p.lost);
    p.room = p.n; /* and for what is lost no more room is asked for */
    packed_put_text(&p, "more");
    assert_true(p.lost);
    packed_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read_exactly),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(a_reader_stops_at_its_length),
        cmocka_unit_test(sizes_take_suffixes_and_do_not_wrap),
        cmocka_unit_test(counts_are_digits_alone),
        cmocka_unit_test(integers_are_written_as_printf_does),
        cmocka_unit_test(times_are_written_with_six_decimals),
        cmocka_unit_test(fractions_are_written_as_printf_does),
        cmocka_unit_test(rounded_times_take_halves_away_from_zero),
        cmocka_unit_test(the_nearest_name_is_at_most_a_third_away_or_begins_so),
        cmocka_unit_test(long_names),
        cmocka_unit_test(what_is_no_text_is_made_visible),
        cmocka_unit_test(shown_words_are_short_and_printable),
        cmocka_unit_test(what_is_packed_is_taken_in_order),
        cmocka_unit_test(a_text_that_is_not_whole_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
