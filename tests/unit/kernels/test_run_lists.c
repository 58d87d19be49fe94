/* test_run_lists.c -- loads and stores of lists of runs. Times are those of docs/kernels.md "Lists
 * of runs", and others computed by hand. */
#include "support/talks.h"

#define CUBE8(hbm, more)                                                                           \
    "kernbench: 2\nname: lists\ncontention: {links: ideal}\nsip: {cube_mesh: {w: 4, h: 2}}\n"      \
    "cube: {hbm: {" hbm "}, pe: {pe_dma: {tiles: runs}}}\n" more

/* One channel of 32 GB/s: a burst of 64 bytes takes 2 ns. */
#define BANKS "model: banks, channels: 1, bw_gbs: 32.0, timing_ns: {ctrl: 0.0}, refresh: none"

static const uint32_t pe0[] = {0};

static uint64_t slice_address(tl_ctx *tl, uint32_t slice, uint64_t offset)
{
    kb_endpoint end = {KB_SLICE, 0, 0, slice};

    return kb_address(tl_topology(tl), &end, offset);
}

/* f32 number i of a slice is i + 1. */
static void expect(tl_ctx *tl, tl_tensor *x, size_t at, double value)
{
    if (((const float *)tl_data(tl, x))[at] != (float)value)
        tl_fail(tl, "an element is another one");
}

/* Bursts of bank 0 in row 0, row 1 and row 0: two segments, and the load ends with row 1. */
static void loads_rows_of_a_bank(tl_ctx *tl, const kb_args *args)
{
    const tl_run runs[] = {{slice_address(tl, 0, 0), 64},
                           {slice_address(tl, 0, 32768), 64},
                           {slice_address(tl, 0, 256), 64}};
    tl_tensor *x = tl_load_list(tl, runs, 3, KB_F32, KB_SHAPE(48));

    mark(tl, args, 0);
    expect(tl, x, 0, 1);
    expect(tl, x, 16, 8193);
    expect(tl, x, 32, 65);
}

/* 78 behind the arrival at 5.085; in a burst of row 0 alone 32 less one burst. */
static void banks_see_a_list(void **state)
{
    const kb_topology *topo = any_topology(CUBE8(BANKS, ""));
    struct marks m;
    char *log = talk(topo, loads_rows_of_a_bank, &m, pe0, 1);

    (void)state;
    assert_int_equal(m.fs[0][0] - m.start_fs, 83085000);
    assert_non_null(strstr(log, "\"nbytes\":192"));
    assert_non_null(strstr(log, "\"src_strides\":null,\"runs\":3"));
    free(log);
    any_topology_free(topo);
}

/* 1024 bytes of each of four slices, and back: 4 ns each at the end of their ways. */
static void loads_from_slices(tl_ctx *tl, const kb_args *args)
{
    tl_run runs[4], to[2];
    tl_tensor *x, *y;

    for (uint32_t i = 0; i < 4; i++)
        runs[i] = (tl_run){slice_address(tl, 3 - i, 4096 * i), 1024};
    x = tl_load_list(tl, runs, 4, KB_F32, KB_SHAPE(4, 256));
    mark(tl, args, 0);
    for (uint32_t i = 0; i < 4; i++)
        expect(tl, x, 256 * i, 1 + 1024 * i);
    to[0] = (tl_run){slice_address(tl, 1, 8192), 2048};
    to[1] = (tl_run){slice_address(tl, 0, 0), 2048};
    tl_store_list(tl, to, 2, x);
    mark(tl, args, 1);
    y = tl_load(tl, slice_address(tl, 1, 8192), KB_F32, KB_SHAPE(512));
    expect(tl, y, 0, 1);
    expect(tl, y, 256, 1025);
    y = tl_load(tl, slice_address(tl, 0, 0), KB_F32, KB_SHAPE(512));
    expect(tl, y, 0, 2049);
    expect(tl, y, 256, 3073);
}

/* 3 to the issue; slice 3 is 8.115 away, and 1024 bytes drain for 8 at 128 GB/s: 16.115 + 3. */
static void slices_serve_at_once(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("", ""));
    struct marks m;
    char *log = talk(topo, loads_from_slices, &m, pe0, 1);

    (void)state;
    assert_int_equal(m.fs[0][0] - m.start_fs, 19115000);
    free(log);
    any_topology_free(topo);
}

/* Rows by index, of which two are the same, and one touches the next. */
static void loads_rows(tl_ctx *tl, const kb_args *args)
{
    const int64_t index[] = {7, 2, 3, 7};
    tl_tensor *x = tl_load_rows(tl, slice_address(tl, 0, 0), KB_F32, KB_SHAPE(16), 64, index, 4);

    mark(tl, args, 0);
    for (size_t i = 0; i < 4; i++)
        expect(tl, x, 16 * i, (double)(16 * index[i] + 1));
}

/* Blocks of 256 bytes: rows 7, 2 with 3, 7 lie in 1 + 1 + 1; 768 bytes take 3 ns. */
static void rows_are_runs(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("access_bytes: 256", ""));
    struct marks m;
    char *log = talk(topo, loads_rows, &m, pe0, 1);

    (void)state;
    assert_int_equal(m.fs[0][0] - m.start_fs, 8085000);
    free(log);
    any_topology_free(topo);
}

/* Every second row of 256 bytes, one by one, under tl_async() and as one list. */
enum { ROWS = 32, ROW = 256, PAGES = 16, PAGE = 4096 };

static void one_by_one(tl_ctx *tl, bool async, uint64_t n, uint64_t nbytes)
{
    tl_async(tl, async);
    for (uint64_t i = 0; i < n; i++)
        tl_load(tl, slice_address(tl, 0, 2 * i * nbytes % FILLED), KB_U8,
                KB_SHAPE((int64_t)nbytes));
    tl_wait_all(tl);
}

static void rows_in_turn(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    one_by_one(tl, false, ROWS, ROW);
    mark(tl, args, 1);
}

static void rows_that_overlap(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    one_by_one(tl, true, ROWS, ROW);
    mark(tl, args, 1);
}

static void rows_of_a_list(tl_ctx *tl, const kb_args *args)
{
    int64_t index[ROWS];

    for (int i = 0; i < ROWS; i++)
        index[i] = 2 * i;
    mark(tl, args, 0);
    tl_load_rows(tl, slice_address(tl, 0, 0), KB_U8, KB_SHAPE(ROW), ROW, index, ROWS);
    mark(tl, args, 1);
}

#define DMA(links, keys)                                                                           \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {pe_dma: {" keys "}}}\n"
#define ASSERT_TAKES(keys, kernel, ns)                                                             \
    assert_talk_takes((const char *const[]){DMA("ideal", keys), DMA("fifo", keys)}, kernel, FS(ns))

/* 32 * (3 + 2.085 + 1); issues at 3, 6, ..., of which each is behind the load before: 3 + 32
 * * 3.085; 3 + 2.085 + 32; the last run 31 * 4 behind the first, and 1. */
static void rows_take_as_long_as_their_bytes_or_runs(void **state)
{
    (void)state;
    ASSERT_TAKES("tiles: runs", rows_in_turn, 194.720);
    ASSERT_TAKES("tiles: runs", rows_that_overlap, 101.720);
    ASSERT_TAKES("tiles: runs", rows_of_a_list, 37.085);
    ASSERT_TAKES("tiles: joined", rows_of_a_list, 37.085);
    ASSERT_TAKES("tiles: runs, run_ns: 4", rows_of_a_list, 130.085);
    ASSERT_TAKES("tiles: joined, run_ns: 4", rows_of_a_list, 37.085);
}

static void pages_that_overlap(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    one_by_one(tl, true, PAGES, PAGE);
    mark(tl, args, 1);
}

static void pages_of_a_list(tl_ctx *tl, const kb_args *args)
{
    static const int64_t index[PAGES] = {0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14};

    mark(tl, args, 0);
    tl_load_rows(tl, slice_address(tl, 0, 0), KB_U8, KB_SHAPE(PAGE), PAGE, index, PAGES);
    mark(tl, args, 1);
}

/* Pages of a paged cache, which do not touch: 3 + 16 * 18.085 by one channel; by two the slice is
 * never idle, 5.085 + 16 * 16; as one list, too. */
static void pages_take_as_long_as_their_channels(void **state)
{
    (void)state;
    ASSERT_TAKES("read_channels: 1", pages_that_overlap, 292.360);
    ASSERT_TAKES("read_channels: 2", pages_that_overlap, 261.085);
    ASSERT_TAKES("tiles: runs", pages_of_a_list, 261.085);
}

/* -- mistakes --------------------------------------------------------------------------------- */

static void loads_too_little(tl_ctx *tl, const kb_args *args)
{
    const tl_run runs[] = {{slice_address(tl, 0, 0), 64}};

    (void)args;
    tl_load_list(tl, runs, 1, KB_F32, KB_SHAPE(32));
}

static void stores_over_itself(tl_ctx *tl, const kb_args *args)
{
    const tl_run runs[] = {{slice_address(tl, 0, 0), 64}, {slice_address(tl, 0, 32), 64}};

    (void)args;
    tl_store_list(tl, runs, 2, tl_full(tl, KB_F32, KB_SHAPE(32), 1));
}

static void loads_no_pieces(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_load_list(tl, NULL, 0, KB_F32, KB_SHAPE(32));
}

static void wrong_lists_are_refused(void **state)
{
    (void)state;
    assert_talk_refused(CUBE8("", ""), loads_too_little,
                        "the pieces of the list have 64 bytes, and the tensor 128");
    assert_talk_refused(CUBE8("", ""), stores_over_itself,
                        "two pieces of the list overlap at address 32");
    assert_talk_refused(CUBE8("", ""), loads_no_pieces, "a list has 1 to 1048576 pieces, not 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(banks_see_a_list),
        cmocka_unit_test(slices_serve_at_once),
        cmocka_unit_test(rows_are_runs),
        cmocka_unit_test(rows_take_as_long_as_their_bytes_or_runs),
        cmocka_unit_test(pages_take_as_long_as_their_channels),
        cmocka_unit_test(wrong_lists_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
