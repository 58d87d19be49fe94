/* test_rows.c -- rows that grow keep what they had, on small pages and on large ones. */
#include "support/rig.h"
#include "base/rows.h"

enum { ROW = 56, PER_PAGE = ROWS_PAGE / ROW };

static void fill(unsigned char *rows, size_t from, size_t to)
{
    for (size_t i = from * ROW; i < to * ROW; i++)
        rows[i] = (unsigned char)(i * 7 + i / 4096);
}

static void assert_kept(const unsigned char *rows, size_t n)
{
    for (size_t i = 0; i < n * ROW; i++)
        assert_int_equal(rows[i], (unsigned char)(i * 7 + i / 4096));
}

static void rows_keep_what_they_had(void **state)
{
    static const size_t sizes[] = {
        1, 64, PER_PAGE - 1, PER_PAGE, PER_PAGE + 1, PER_PAGE + 2, 2 * PER_PAGE, 5 * PER_PAGE + 3};
    (void)state;
    for (size_t first = 0; first < LENGTH(sizes); first++) {
        unsigned char *rows = NULL;
        size_t n = 0;

        for (size_t i = first; i < LENGTH(sizes); i++) {
            rows = rows_resize(rows, n, sizes[i], ROW);
            assert_non_null(rows);
            assert_kept(rows, n);
            fill(rows, n, sizes[i]);
            n = sizes[i];
        }
        assert_kept(rows, n);
        rows_release(rows, n, ROW);
    }
    rows_release(NULL, 0, ROW);
}

static void many_rows_begin_where_a_large_page_does(void **state)
{
    void *rows = rows_resize(NULL, 0, PER_PAGE + 1, ROW);

    (void)state;
    assert_true((uintptr_t)rows % ROWS_PAGE == 0);
    rows_release(rows, PER_PAGE + 1, ROW);
}

/* More than there is: what was there stays. */
static void rows_stay_if_there_is_no_room(void **state)
{
    static const size_t sizes[] = {64, PER_PAGE + 1};

    (void)state;
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        unsigned char *rows = rows_resize(NULL, 0, sizes[i], ROW);

        assert_non_null(rows);
        fill(rows, 0, sizes[i]);
        assert_null(rows_resize(rows, sizes[i], (size_t)1 << 52, ROW));
        assert_kept(rows, sizes[i]);
        rows_release(rows, sizes[i], ROW);
    }
}

/* Room is doubled; what is new is zero. */
static void lists_grow(void **state)
{
    uint32_t *list = NULL, room = 0;

    (void)state;
    for (uint32_t n = 1; n <= 1000; n++) {
        assert_true(rows_grow(&list, &room, n, sizeof *list));
        assert_in_range(room, n, 2 * n + 8);
        assert_int_equal(list[n - 1], 0);
        list[n - 1] = 7 * n;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list[i], 7 * (i + 1));
    assert_true(rows_widen(&list, 1000, 3000, sizeof *list));
    assert_int_equal(list[999], 7000);
    assert_int_equal(list[2999], 0);
    assert_false(rows_grow(&list, &room, (size_t)1 << 33, sizeof *list));
    assert_int_equal(list[999], 7000);
    free(list);
}

/* What a ring had is at its number modulo the room, wherever it began; numbers may pass 2^32. */
static void rings_grow(void **state)
{
    static const uint32_t firsts[] = {0, 5, 8, 1000, UINT32_MAX - 3};

    (void)state;
    for (size_t k = 0; k < LENGTH(firsts); k++) {
        uint32_t *ring = NULL, room = 0, first = firsts[k], n = 0;

        for (; n < 100; n++) {
            if (n == room)
                assert_true(ring_grow(&ring, &room, first, n, sizeof *ring));
            ring[(first + n) & (room - 1)] = 3 * n;
        }
        assert_int_equal(room, 128);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(ring[(first + i) & (room - 1)], 3 * i);
        free(ring);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_keep_what_they_had),
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(rings_grow),
        cmocka_unit_test(many_rows_begin_where_a_large_page_does),
        cmocka_unit_test(rows_stay_if_there_is_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
