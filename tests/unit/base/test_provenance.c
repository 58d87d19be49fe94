/* test_provenance.c -- SHA-256 against FIPS 180, and records: written, read, compared, named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/provenance.h"

/* FIPS 180-4, the examples of SHA-256. */
static void digests_are_those_of_the_standard(void **state)
{
    char hex[DIGEST_CHARS + 1];

    (void)state;
    digest_of("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_of("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void digest_texts(const char *a, const char *b, char hex[DIGEST_CHARS + 1])
{
    struct digest d;

    digest_begin(&d);
    digest_add_text(&d, a);
    digest_add_text(&d, b);
    digest_end(&d, hex);
}

static void texts_stay_apart(void **state)
{
    char one[DIGEST_CHARS + 1], other[DIGEST_CHARS + 1];
    struct digest d;

    (void)state;
    digest_texts("ab", "c", one);
    digest_texts("a", "bc", other);
    assert_string_not_equal(one, other);
    digest_begin(&d);
    assert_true(digest_add_file(&d, "/dev/zero"));
    assert_true(digest_add_file(&d, "/nowhere"));
    digest_end(&d, one);
    assert_string_equal(one, "");
}

static struct provenance some(void)
{
    struct provenance p = {0};

    digest_of("m", 1, p.of[PROVENANCE_MACHINE]);
    digest_of("c", 1, p.of[PROVENANCE_COMMAND]);
    return p;
}

static void what_is_written_is_read(void **state)
{
    struct provenance p = some(), read;
    char text[PROVENANCE_BYTES];

    (void)state;
    provenance_write(&p, text);
    assert_true(strlen(text) < sizeof text && !strchr(text, '\n'));
    assert_true(provenance_read(text, &read));
    assert_memory_equal(&read, &p, sizeof p);
    assert_int_equal(provenance_differs(&read, &p), 0);
}

static void what_is_no_record(void **state)
{
    struct provenance p = some(), none = {0}, read;
    char text[PROVENANCE_BYTES];

    (void)state;
    provenance_write(&p, text);
    for (size_t n = 0; n < strlen(text); n++) {
        char part[PROVENANCE_BYTES];

        snprintf(part, sizeof part, "%.*s", (int)n, text);
        assert_false(provenance_read(part, &read));
        assert_memory_equal(&read, &none, sizeof none);
    }
    strcat(text, "x");
    assert_false(provenance_read(text, &read));
}

static void names(unsigned parts, const char *want)
{
    char text[PROVENANCE_NAMES_BYTES];

    provenance_names(parts, text);
    assert_string_equal(text, want);
}

static void what_differs_is_named(void **state)
{
    struct provenance a = some(), b = some();

    (void)state;
    names(provenance_differs(&a, &b), "");
    digest_of("x", 1, b.of[PROVENANCE_BENCH]);
    names(provenance_differs(&a, &b), "bench");
    *b.of[PROVENANCE_COMMAND] = '0';
    names(provenance_differs(&a, &b), "bench and command");
    digest_of("x", 1, b.of[PROVENANCE_COMPONENTS]);
    names(provenance_differs(&a, &b), "components, bench and command");
    digest_of("x", 1, b.of[PROVENANCE_MACHINE]); /* which is in the hash of components, too */
    names(provenance_differs(&a, &b), "machine, bench and command");
    names((1U << N_PROVENANCE) - 1,
          "machine, components, bench, inputs, command, program and compiler");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(texts_stay_apart),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_is_no_record),
        cmocka_unit_test(what_differs_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
