/* test_slice.c -- views of parts of a tensor: times by hand, values, what takes them, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, 64
 * lanes.
 */
#include "support/races.h"
#include "support/talks.h"

#define CUBE8(links, tcm)                                                                          \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {pe_tcm: {" tcm "}}}\n"

static const uint32_t pair[] = {0, 1};

#define ASSERT_TAKES(tcm, kernel, ns)                                                              \
    assert_talk_takes((const char *const[]){CUBE8("ideal", tcm), CUBE8("fifo", tcm)}, kernel,      \
                      FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

/* The lower half of x [16, 128] times a table [16, 64], at a place that is 192 modulo 256. */
static void rotates(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *gap = tl_full(tl, KB_F16, KB_SHAPE(96), 0);
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(16, 128), 1);
    tl_tensor *table = tl_full(tl, KB_F16, KB_SHAPE(16, 64), 2);

    (void)gap;
    mark(tl, args, 0);
    tl_mul(tl, tl_slice(tl, x, 1, 0, 64), table);
    mark(tl, args, 1);
}

/* FETCH 16 runs of 128 bytes and 2048: 8; 16 cycles; STORE 4. With lines of 256: 4096 + 2048: 12.
 */
static void a_slice_is_fetched_in_lines(void **state)
{
    (void)state;
    ASSERT_TAKES("", rotates, 31);
    ASSERT_TAKES("line_bytes: 64", rotates, 31);
    ASSERT_TAKES("line_bytes: 256", rotates, 35);
}

/* Rows 1 to 3 of [8, 3] f32, 36 bytes from byte 12; and columns 1 and 2, 8 runs of 8 bytes. */
static void odd_rows(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(8, 3), 1);

    mark(tl, args, 0);
    tl_neg(tl, tl_slice(tl, x, 0, 1, 3));
    mark(tl, args, 1);
}

static void odd_columns(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(8, 3), 1);

    mark(tl, args, 0);
    tl_neg(tl, tl_slice(tl, x, -1, 1, 2));
    mark(tl, args, 1);
}

/* Rows: 36 bytes; lines of 16: 12 to 48 are 0 to 48. Columns: 64 bytes in the lines of 4 to 96, of
 * which each is counted once: 96. */
static void lines_are_counted_once(void **state)
{
    (void)state;
    ASSERT_TAKES("", odd_rows, 3 + 0.070313 + 1 + 0.070313);
    ASSERT_TAKES("line_bytes: 16", odd_rows, 3 + 0.09375 + 1 + 0.070313);
    ASSERT_TAKES("", odd_columns, 3 + 0.125 + 1 + 0.125);
    ASSERT_TAKES("line_bytes: 16", odd_columns, 3 + 0.1875 + 1 + 0.125);
}

static void permuted(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(16, 128), 1);

    mark(tl, args, 0);
    tl_neg(tl, tl_permute(tl, x, ((const int[]){1, 0})));
    mark(tl, args, 1);
}

static void expanded(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(64), 1);

    mark(tl, args, 0);
    tl_neg(tl, tl_expand(tl, x, KB_SHAPE(16, 64)));
    mark(tl, args, 1);
}

/* 2048 runs of 2 bytes: 3 + 8 + 32 + 8; of a line of 64 each: 3 + 256 + 32 + 8. A row of 128 bytes
 * is fetched once: 3 + 0.25 + 16 + 4. */
static void permuted_elements_are_runs(void **state)
{
    (void)state;
    ASSERT_TAKES("", permuted, 51);
    ASSERT_TAKES("line_bytes: 64", permuted, 299);
    ASSERT_TAKES("", expanded, 23.25);
}

/* -- values --------------------------------------------------------------------------------- */

enum { AT = 16384 };

/* Element (row, column) of numbers() as [16, 8]. */
static double number(int row, int column)
{
    return row * 8 + column + 1;
}

static void check(tl_ctx *tl, const kb_args *args, unsigned *i, tl_tensor *x, int64_t element,
                  double want)
{
    marks_of(args)->value[tl_pe(tl)][(*i)++] = tl_value(tl, x, element) == want;
}

/* What is taken of slices: loaded and pending, in flight, of slices, stored, sent. */
static void slices(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y, *z, *place;
    unsigned i = 0;

    if (tl_pe(tl) == 1) {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(16, 2));
        check(tl, args, &i, x, 2 * 5 + 1, -2 * number(5, 7));
        return;
    }
    x = tl_reshape(tl, numbers(tl, 0, 128), KB_SHAPE(16, 8));
    y = tl_slice(tl, x, 1, 2, 4);
    check(tl, args, &i, y, 4 * 3 + 1, number(3, 3));
    z = tl_slice(tl, y, 0, 10, 2); /* rows 10, 11; columns 2 to 5 */
    check(tl, args, &i, z, 7, number(11, 5));
    check(tl, args, &i, tl_reshape(tl, tl_slice(tl, x, 0, 3, 2), KB_SHAPE(16)), 9, number(4, 1));
    check(tl, args, &i, tl_reshape(tl, y, KB_SHAPE(1, 4, 4, 2, 1, 2)), 4 * 10 + 3, number(10, 5));
    check(tl, args, &i, tl_slice(tl, tl_reshape(tl, y, KB_SHAPE(16, 2, 2)), 2, 1, 1), 2 * 9 + 1,
          number(9, 5));
    check(tl, args, &i, tl_reshape(tl, tl_slice(tl, x, 1, 3, 1), KB_SHAPE(2, 8)), 8 + 4,
          number(12, 3));
    marks_of(args)->value[0][i++] = tl_get(tl, z, 4) == number(11, 2);
    check(tl, args, &i, tl_add(tl, y, y), 4 * 15, 2 * number(15, 2));
    check(tl, args, &i, tl_sum(tl, tl_slice(tl, z, 1, 1, 2), -1, false), 1,
          number(11, 3) + number(11, 4));
    check(tl, args, &i, tl_dot(tl, z, tl_slice(tl, x, 1, 0, 4), .transpose_b = true), 16,
          number(11, 2) * 1 + number(11, 3) * 2 + number(11, 4) * 3 + number(11, 5) * 4);
    tl_async(tl, true);
    x = tl_neg(tl, tl_add(tl, x, x));
    y = tl_slice(tl, x, 1, 6, 2); /* in flight, and pending */
    z = tl_slice(tl, tl_slice(tl, y, 0, 4, 8), 0, 1, 1);
    tl_free(tl, x);
    tl_send(tl, 1, 0, y);
    tl_wait(tl, tl_store_async(tl, SLICE(0) + AT, y));
    check(tl, args, &i, z, 1, -2 * number(5, 7));
    check(tl, args, &i, tl_load(tl, SLICE(0) + AT, KB_F32, KB_SHAPE(32)), 12, -2 * number(6, 6));
    tl_async(tl, false);
    place = tl_alloc(tl, KB_F32, KB_SHAPE(4, 4));
    (void)place;
    marks_of(args)->line = (int)i;
}

/* Axes in another order, and elements that are there several times: the same. */
static void views(tl_ctx *tl, const kb_args *args)
{
    static const int turned[] = {1, 0}, around[] = {2, 0, -2};
    tl_tensor *x, *y, *z;
    unsigned i = 0;

    if (tl_pe(tl) == 1) {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(8, 16));
        check(tl, args, &i, x, 16 * 7 + 5, -2 * number(5, 7));
        return;
    }
    x = tl_reshape(tl, numbers(tl, 0, 128), KB_SHAPE(16, 8));
    y = tl_permute(tl, x, turned);
    check(tl, args, &i, y, 16 * 3 + 10, number(10, 3));
    check(tl, args, &i, tl_reshape(tl, y, KB_SHAPE(2, 4, 16)), 64 + 16 * 2 + 10, number(10, 6));
    check(tl, args, &i, tl_reshape(tl, y, KB_SHAPE(8, 4, 1, 4)), 16 * 3 + 10, number(10, 3));
    check(tl, args, &i, tl_slice(tl, y, 0, 2, 3), 16 * 2 + 9, number(9, 4));
    check(tl, args, &i, tl_permute(tl, tl_slice(tl, x, 0, 4, 2), turned), 2 * 6 + 1, number(5, 6));
    marks_of(args)->value[0][i++] =
        tl_get(tl, tl_permute(tl, y, turned), 8 * 2 + 5) == number(2, 5);
    z = tl_permute(tl, tl_reshape(tl, x, KB_SHAPE(4, 4, 8)), around); /* [8, 4, 4] */
    check(tl, args, &i, z, 16 * 6 + 4 * 3 + 1, number(4 * 3 + 1, 6));
    check(tl, args, &i, tl_sum(tl, z, -1, false), 4 * 6 + 3,
          number(12, 6) + number(13, 6) + number(14, 6) + number(15, 6));
    z = tl_expand(tl, tl_slice(tl, x, 0, 5, 1), KB_SHAPE(2, 3, 8));
    check(tl, args, &i, tl_add(tl, z, z), 24 + 8 + 6, 2 * number(5, 6));
    check(tl, args, &i, tl_reshape(tl, z, KB_SHAPE(6, 2, 4)), 24 + 8 + 6, number(5, 6));
    check(tl, args, &i,
          tl_permute(tl, tl_expand(tl, tl_slice(tl, x, 1, 2, 1), KB_SHAPE(16, 4)), turned),
          16 * 3 + 7, number(7, 2));
    tl_async(tl, true);
    x = tl_neg(tl, tl_add(tl, x, x));
    y = tl_permute(tl, x, turned);
    tl_free(tl, x);
    tl_send(tl, 1, 0, y);
    tl_wait_all(tl);
    tl_async(tl, false);
    marks_of(args)->line = (int)i + 1;
    check(tl, args, &i, y, 16 * 2 + 11, -2 * number(11, 2));
}

static void assert_all_right(kb_kernel kernel)
{
    for (int way = 0; way < 4; way++) {
        kb_options options = {.values = true,
                              .engine = way & 1 ? KB_HOP : KB_FUSED,
                              .phase2 = way & 2,
                              .value_threads = 1 + (unsigned)way};
        kb_sim *sim = new_sim(&cube8_topology, options);
        struct marks m;

        memset(&m, 0, sizeof m);
        launch_talk(sim, kernel, &m, pair, 2);
        run_launched(sim, 0);
        kb_sim_free(sim);
        assert_int_equal(m.line, 12);
        for (int i = 0; i < m.line; i++)
            if (m.value[0][i] != 1)
                fail_msg("value %d is wrong", i);
        assert_true(m.value[1][0] == 1);
    }
}

static void whatever_takes_a_tensor_takes_a_view(void **state)
{
    (void)state;
    assert_all_right(slices);
    assert_all_right(views);
}

/* PE 1 stores into a place of PE 0, which reads columns of it. */
static void a_place(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    if (tl_pe(tl) == 0) {
        x = tl_alloc(tl, KB_F32, KB_SHAPE(4, 8));
        y = tl_slice(tl, x, 1, 3, 2);
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_barrier(tl, ((tl_group){.n = 2}));
        mark_value(tl, args, 0, tl_get(tl, tl_neg(tl, y), 0));
        return;
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    tl_store(tl, TCM(0), numbers(tl, 0, 32));
    tl_barrier(tl, ((tl_group){.n = 2}));
}

static void place_value(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    if (tl_pe(tl) == 0) {
        x = tl_alloc(tl, KB_F32, KB_SHAPE(4, 8));
        y = tl_slice(tl, x, 1, 3, 2);
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_barrier(tl, ((tl_group){.n = 2}));
        mark_value(tl, args, 0, tl_get(tl, y, 5));
        mark_value(tl, args, 1, tl_value(tl, y, 5));
        mark_value(tl, args, 2, ((const float *)tl_values(tl, y))[7]);
        mark_value(tl, args, 3, tl_value(tl, tl_neg(tl, y), 4));
        return;
    }
    a_place(tl, args);
}

static void a_slice_of_a_place_is_read_when_it_is_used(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});
    struct marks m;

    (void)state;
    memset(&m, 0, sizeof m);
    launch_talk(sim, place_value, &m, pair, 2);
    run_launched(sim, 0);
    kb_sim_free(sim);
    assert_true(m.value[0][0] == 2 * 8 + 5);
    assert_true(m.value[0][1] == 2 * 8 + 5);
    assert_true(m.value[0][2] == 3 * 8 + 5);
    assert_true(m.value[0][3] == -(2 * 8 + 4));
}

/* -- races ---------------------------------------------------------------------------------- */

/* PE 1 writes the bytes between the columns that PE 0 reads. */
static void beside_columns(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    if (tl_pe(tl) == 0) {
        x = tl_alloc(tl, KB_F32, KB_SHAPE(4, 8));
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_neg(tl, tl_slice(tl, x, 1, 0, 2));
        return;
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    tl_store(tl, TCM(0), numbers(tl, 0, 32));
    tl_barrier(tl, ((tl_group){.n = 2}));
    tl_store(tl, TCM(0) + 8, numbers(tl, 0, 6));
}

static void only_its_elements_are_read(void **state)
{
    struct races *r = races_in(beside_columns, NULL, 2, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 0);
    free(r);
}

/* -- mistakes ------------------------------------------------------------------------------- */

#define WRONG(name, call)                                                                          \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1);                                     \
                                                                                                   \
        (void)args;                                                                                \
        (void)x;                                                                                   \
        call;                                                                                      \
    }

WRONG(no_axis, tl_slice(tl, x, 2, 0, 1))
WRONG(before, tl_slice(tl, x, 0, -1, 2))
WRONG(beyond, tl_slice(tl, x, 1, 5, 4))
WRONG(empty, tl_slice(tl, x, 1, 5, 0))
WRONG(of_a_scalar, tl_slice(tl, tl_scalar(tl, 1), 0, 0, 1))
WRONG(elsewhere, tl_slice(tl, tl_ref(tl, SLICE(0), KB_F32, KB_SHAPE(4)), 0, 0, 1))
WRONG(twice, tl_permute(tl, x, ((const int[]){0, -2})))
WRONG(no_such, tl_permute(tl, x, ((const int[]){0, 2})))
WRONG(shrinks, tl_expand(tl, x, KB_SHAPE(8)))
WRONG(differs, tl_expand(tl, x, KB_SHAPE(2, 8, 8)))
WRONG(reshaped, tl_reshape(tl, tl_slice(tl, x, 1, 0, 2), KB_SHAPE(8)))
WRONG(in_tiles, x = tl_slice(tl, x, 1, 0, 4); tl_composite(tl, .a = x, .b = x, .out = SLICE(0)))
WRONG(not_waited_for, tl_slice(tl, tl_load_async(tl, SLICE(0), KB_F32, KB_SHAPE(4)), 0, 0, 1))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {no_axis, ": axis 2 is none of shape [4, 8]"},
        {before, ": elements -1 to 0 are not in axis 0 of [4, 8]"},
        {beyond, ": elements 5 to 8 are not in axis 1 of [4, 8]"},
        {empty, ": elements 5 to 4 are not in axis 1 of [4, 8]"},
        {of_a_scalar, ": a scalar has no shape"},
        {elsewhere, ", not in the TCM: load it first"},
        {twice, ": axis 0 is named twice"},
        {no_such, ": axis 2 is none of shape [4, 8]"},
        {shrinks, ": [4, 8] does not expand to [8]"},
        {differs, ": [4, 8] does not expand to [2, 8, 8]"},
        {reshaped, "tl_reshape at "},
        {reshaped, ": the elements of a slice do not lie side by side, as this call needs them"},
        {in_tiles, "tl_composite at "},
        {in_tiles, ": the elements of a slice do not lie side by side, as this call needs them"},
        {not_waited_for, ": an operand is a load or a receive that has not been waited for"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_fetched_in_lines),
        cmocka_unit_test(lines_are_counted_once),
        cmocka_unit_test(permuted_elements_are_runs),
        cmocka_unit_test(whatever_takes_a_tensor_takes_a_view),
        cmocka_unit_test(a_slice_of_a_place_is_read_when_it_is_used),
        cmocka_unit_test(only_its_elements_are_read),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
