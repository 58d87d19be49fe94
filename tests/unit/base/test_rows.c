/* test_rows.c -- rows that grow keep what they had, on small pages and on large ones. */
#include "support/rig.h"
#include "base/rows.h"
#include "base/shelf.h"

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

/* What is given back is zero where it is reserved next, and has kept its place. */
static void reserved_rows_are_zero_again(void **state)
{
    enum { N = 3 * PER_PAGE };
    static const enum rows_left left[] = {ROWS_CHANGED, ROWS_LARGE, ROWS_ZERO};

    (void)state;
    for (size_t k = 0; k < 2 * LENGTH(left); k++) {
        unsigned char *rows = rows_reserve(N, ROW), *again;

        assert_non_null(rows);
        fill(rows, 100, 200);
        fill(rows, N - 1, N);
        if (left[k / 2] == ROWS_ZERO) {
            memset(rows + 100 * ROW, 0, 100 * ROW);
            memset(rows + (N - 1) * ROW, 0, ROW);
        }
        rows_unreserve(rows, N, ROW, left[k / 2]);
        again = rows_reserve(N, ROW);
        if (left[k / 2] != ROWS_LARGE)
            assert_ptr_equal(again, rows);
        for (size_t i = 0; i < N * ROW; i++)
            assert_int_equal(again[i], 0);
        rows_unreserve(again, N, ROW, ROWS_ZERO);
    }
}

/* Rows that need not be zero are never those that have to be. */
static void rows_of_two_kinds_are_kept_apart(void **state)
{
    enum { N = 2 * PER_PAGE };
    unsigned char *rows = rows_resize(NULL, 0, N, ROW), *again;

    (void)state;
    fill(rows, 0, N);
    rows_release(rows, N, ROW);
    again = rows_reserve(N, ROW);
    for (size_t i = 0; i < N * ROW; i++)
        assert_int_equal(again[i], 0);
    rows_unreserve(again, N, ROW, ROWS_ZERO);
    again = rows_resize(NULL, 0, N, ROW);
    assert_ptr_equal(again, rows);
    rows_release(again, N, ROW);
}

/* More than it keeps, and more of them: the oldest go, and each that is kept is given out once. */
static void the_shelf_keeps_so_many(void **state)
{
    enum { ROWS = 2 * SHELF_PLACES, BYTES = ROWS_PAGE };
    void *rows[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = rows_reserve(1, BYTES);
    for (size_t i = 0; i < ROWS; i++)
        rows_unreserve(rows[i], 1, BYTES, ROWS_ZERO);
    for (size_t i = 0; i < SHELF_PLACES; i++)
        assert_ptr_equal(shelf_take(BYTES, true), rows[ROWS - 1 - i]);
    assert_null(shelf_take(BYTES, true));
    for (size_t i = 0; i < SHELF_PLACES; i++)
        shelf_put(rows[SHELF_PLACES + i], BYTES, SHELF_ANY);
    shelf_put(rows_reserve(1, SHELF_BYTES), SHELF_BYTES, SHELF_ANY);
    assert_null(shelf_take(BYTES, false));
    assert_non_null(shelf_take(SHELF_BYTES, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_keep_what_they_had),
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(rings_grow),
        cmocka_unit_test(reserved_rows_are_zero_again),
        cmocka_unit_test(rows_of_two_kinds_are_kept_apart),
        cmocka_unit_test(the_shelf_keeps_so_many),
        cmocka_unit_test(many_rows_begin_where_a_large_page_does),
        cmocka_unit_test(rows_stay_if_there_is_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
