/* test_cell.c -- cells made from the record of a row. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "cli/out/cell.h"

enum colour { RED, GREEN };

static const char *const colours[] = {"red", "green"};

struct record {
    bool flag;
    int32_t signed_count;
    uint32_t count32;
    uint64_t count;
    int64_t time_fs, number;
    double share, sum_ns;
    enum colour colour;
    const char *text;
    char *owned;
    char name[8];
    struct cell own;
};

static const struct column columns[] = {
    COLUMN("flag", CELL_COUNT, struct record, flag),
    COLUMN("signed", CELL_COUNT, struct record, signed_count),
    COLUMN("count32", CELL_COUNT, struct record, count32),
    COLUMN("count", CELL_COUNT, struct record, count),
    COLUMN("time_ns", CELL_NS, struct record, time_fs),
    COLUMN("number", CELL_COUNT, struct record, number),
    COLUMN("share", CELL_PERCENT, struct record, share),
    COLUMN("sum_ns", CELL_NS, struct record, sum_ns),
    COLUMN_WORD("colour", struct record, colour, colours),
    COLUMN("text", CELL_TEXT, struct record, text),
    COLUMN("owned", CELL_TEXT, struct record, owned),
    COLUMN("name", CELL_TEXT, struct record, name),
    COLUMN("own", CELL_NS, struct record, own),
    COLUMN_IF("if_flag", CELL_COUNT, struct record, count, flag),
    COLUMN_IF("if_name", CELL_COUNT, struct record, count, name),
    COLUMN_IF("if_share", CELL_COUNT, struct record, count, share),
    COLUMN_BY_HAND("by_hand", CELL_TEXT),
};

enum { N = sizeof columns / sizeof *columns };

static struct cell cell_of(const struct cell *cells, const char *name)
{
    for (size_t i = 0; i < N; i++)
        if (strcmp(columns[i].name, name) == 0)
            return cells[i];
    fail_msg("no column %s", name);
    return cell_none();
}

static void every_kind_of_member_has_its_cell(void **state)
{
    char owned[] = "owned";
    struct record record = {true, -7,    4000000000, UINT64_MAX, -5,     9,         12.5,
                            1e30, GREEN, "text",     owned,      "name", cell_ns(3)};
    struct cell cells[N];

    (void)state;
    record_cells(columns, N, &record, cells);
    assert_int_equal(cell_of(cells, "flag").count, 1);
    assert_int_equal(cell_of(cells, "signed").type, CELL_NONE); /* a count below 0 is none */
    assert_int_equal(cell_of(cells, "count32").count, 4000000000);
    assert_true(cell_of(cells, "count").count == UINT64_MAX);
    assert_int_equal(cell_of(cells, "time_ns").fs, -5); /* a time may be */
    assert_int_equal(cell_of(cells, "number").count, 9);
    assert_int_equal(cell_of(cells, "share").type, CELL_PERCENT);
    assert_true(cell_of(cells, "share").value == 12.5);
    assert_int_equal(cell_of(cells, "sum_ns").type, CELL_FRACTION); /* ns, past 2^63 fs */
    assert_string_equal(cell_of(cells, "colour").text, "green");
    assert_string_equal(cell_of(cells, "text").text, "text");
    assert_ptr_equal(cell_of(cells, "owned").text, owned);
    assert_ptr_equal(cell_of(cells, "name").text, record.name);
    assert_int_equal(cell_of(cells, "own").fs, 3);
    assert_true(cell_of(cells, "if_flag").count == UINT64_MAX);
    assert_int_equal(cell_of(cells, "by_hand").type, CELL_NONE);
}

static void what_is_not_there_is_empty(void **state)
{
    struct record record = {0};
    struct cell cells[N];

    (void)state;
    record_cells(columns, N, &record, cells);
    assert_int_equal(cell_of(cells, "text").type, CELL_NONE);
    assert_int_equal(cell_of(cells, "owned").type, CELL_NONE);
    assert_int_equal(cell_of(cells, "own").type, CELL_NONE);
    assert_int_equal(cell_of(cells, "if_flag").type, CELL_NONE);
    assert_int_equal(cell_of(cells, "if_name").type, CELL_NONE);
    assert_int_equal(cell_of(cells, "if_share").type, CELL_NONE);
    assert_int_equal(cell_of(cells, "time_ns").type, CELL_NS); /* 0 ns is a time */
    assert_string_equal(cell_of(cells, "name").text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_member_has_its_cell),
                                       cmocka_unit_test(what_is_not_there_is_empty)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
