/* test_operations.c -- sort, scans, elements by index, random numbers: times by hand, values by
 * plain loops and known answers, both engines, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, 64
 * lanes; scan_cycles 2, index_cycles 4, random_cycles 10, special_cycles 4.
 */
#include <math.h>
#include <unistd.h>
#include "support/talks.h"

#define CUBE8(links, math)                                                                         \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links        \
    "}\ncube: {pe: {pe_math: {" math "}}}\n"

static const uint32_t one[] = {0};

#define ASSERT_TAKES(math, kernel, ns)                                                             \
    assert_talk_takes((const char *const[]){CUBE8("ideal", math), CUBE8("fifo", math)}, kernel,    \
                      FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

#define TIMED(name, shape, call)                                                                   \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, shape, 1), *indices = NULL;                             \
        tl_tensor *rows = tl_full(tl, KB_I32, KB_SHAPE(64), 0);                                    \
                                                                                                   \
        (void)x, (void)indices, (void)rows;                                                        \
        mark(tl, args, 0);                                                                         \
        call;                                                                                      \
        mark(tl, args, 1);                                                                         \
    }

TIMED(sort_64, KB_SHAPE(4, 64), tl_sort(tl, x, true, NULL))
TIMED(sort_both, KB_SHAPE(4, 64), tl_sort(tl, x, false, &indices))
TIMED(sort_1, KB_SHAPE(64, 1), tl_sort(tl, x, true, NULL))
TIMED(sort_65, KB_SHAPE(1, 65), tl_sort(tl, x, true, NULL))
TIMED(scan, KB_SHAPE(4, 64), tl_cumsum(tl, x, 0))
TIMED(power, KB_SHAPE(4, 64), tl_pow(tl, x, tl_scalar(tl, 3)))
TIMED(dice, KB_SHAPE(1), tl_random(tl, KB_F32, KB_SHAPE(32, 32), 42, 0))
TIMED(rows_taken, KB_SHAPE(1000, 16), tl_take(tl, x, rows, 0))

/* FETCH and STORE of 1024 bytes take 2. */
static void operations_take_their_cycles(void **state)
{
    (void)state;
    ASSERT_TAKES("", sort_64, 91);                     /* 3 + 2 + 4 * 21 + 2 */
    ASSERT_TAKES("", sort_both, 93);                   /* and the indices */
    ASSERT_TAKES("", sort_1, 4);                       /* 3 + 0.5 + 0 + 0.5 */
    ASSERT_TAKES("", sort_65, 3 + 2 * 0.507813 + 56);  /* 2 * 28 */
    ASSERT_TAKES("", scan, 15);                        /* 3 + 2 + 8 + 2 */
    ASSERT_TAKES("scan_cycles: 5", scan, 27);          /* 3 + 2 + 20 + 2 */
    ASSERT_TAKES("", power, 23);                       /* 3 + 2 + 16 + 2 */
    ASSERT_TAKES("", dice, 171);                       /* 3 + 160 + 8 */
    ASSERT_TAKES("random_cycles: 3", dice, 59);        /* 3 + 48 + 8 */
    ASSERT_TAKES("", rows_taken, 83.5);                /* 3 + 8.5 + 64 + 8 */
    ASSERT_TAKES("index_cycles: 1", rows_taken, 35.5); /* 3 + 8.5 + 16 + 8 */
}

/*
 * A row of one element takes no cycle. Two such sorts, called at 6 and 9, have their load at
 * 261.085, and come to MATH while a neg has it, called at 12, fetched from 12 to 212, until 612:
 * they end then, behind it, and the first store of 4 bytes is that of the first sort.
 */
static void rows_of_one(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(25600), 1), *loaded, *first;

    mark(tl, args, 0);
    tl_async(tl, true);
    loaded = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(16384));
    first = tl_sort(tl, tl_slice(tl, loaded, 0, 0, 1), true, NULL);
    tl_sort(tl, tl_slice(tl, loaded, 0, 1, 1), true, NULL);
    tl_neg(tl, x);
    tl_wait(tl, first);
    mark(tl, args, 1);
}

static void what_takes_no_cycle_ends_behind_what_it_waits_for(void **state)
{
    (void)state;
    ASSERT_TAKES("", rows_of_one, 612.007813);
}

/* -- values --------------------------------------------------------------------------------- */

/* Runs it with values that are computed; then all of it once more, by plain loops. */
static void run_valued(kb_kernel kernel, void *user, kb_engine engine)
{
    kb_sim *sim =
        new_sim(&cube8_topology, (kb_options){.values = true, .phase2 = true, .engine = engine});
    kb_error why;

    launch_talk(sim, kernel, user, one, 1);
    run_launched(sim, 0);
    if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

static tl_tensor *counted(tl_ctx *tl, kb_dtype dtype, kb_shape shape, double first, double step)
{
    int64_t n = 1;

    for (int i = 0; i < shape.rank; i++)
        n *= shape.dim[i];
    return tl_reshape(tl, tl_arange(tl, dtype, n, first, step), shape);
}

static double at(tl_ctx *tl, tl_tensor *x, int64_t i)
{
    return tl_value(tl, x, i);
}

static void scans(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *x = counted(tl, KB_F32, KB_SHAPE(3, 300), 1, 1);
    tl_tensor *wraps = tl_cumsum(tl, tl_full(tl, KB_I8, KB_SHAPE(3), 100), -1);
    tl_tensor *f16 = tl_cumsum(tl, tl_full(tl, KB_F16, KB_SHAPE(4000), 1), 0);

    *got++ = at(tl, tl_cumsum(tl, x, 1), 599);  /* 301 + ... + 600 */
    *got++ = at(tl, tl_cumsum(tl, x, -2), 601); /* 2 + 302 + 602 */
    *got++ = at(tl, wraps, 2);                  /* 300 - 256 */
    *got++ = at(tl, f16, 2048);                 /* 2049, to even */
    *got++ = at(tl, f16, 3999);                 /* sums are in f32 */
    *got++ = at(tl, tl_cumsum(tl, counted(tl, KB_F64, KB_SHAPE(2, 2, 2), 1, 1), 1), 7); /* 6 + 8 */
    *got++ = at(tl, tl_pow(tl, x, tl_scalar(tl, 0.5)), 15);
    *got++ = at(tl, tl_pow(tl, tl_scalar(tl, -2), counted(tl, KB_F16, KB_SHAPE(4), 0, 1)), 3);
}

static void sums_and_powers_by_hand(void **state)
{
    static const double want[] = {135150, 906, 44, 2048, 4000, 14, 4, -8};
    double got[LENGTH(want)];

    (void)state;
    run_valued(scans, got, KB_FUSED);
    for (size_t i = 0; i < LENGTH(want); i++)
        if (got[i] != want[i])
            fail_msg("value %zu is %g, not %g", i, got[i], want[i]);
}

static void takes(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *x = counted(tl, KB_F16, KB_SHAPE(3, 4, 5), 0, 1);
    tl_tensor *index = counted(tl, KB_I16, KB_SHAPE(2, 2), 3, -1), *y = tl_take(tl, x, index, 1);
    tl_tensor *part = tl_slice(tl, x, 2, 1, 3); /* [3, 4, 3], not contiguous */

    got[0] = (double)tl_shape(y).rank * 1000 + (double)tl_shape(y).dim[1] * 100 +
             (double)tl_shape(y).dim[3];
    got[1] = at(tl, y, 20); /* [1, 0, 0, 0] is x[1, 3, 0] */
    got[2] = at(tl, y, 59); /* [2, 1, 1, 4] is x[2, 0, 4] */
    got[3] = at(tl, tl_take(tl, part, tl_arange(tl, KB_U8, 2, 2, -2), -1), 23); /* x[2, 3, 1] */
    got[4] = at(tl, tl_take(tl, x, tl_full(tl, KB_I64, KB_SHAPE(1), 2), 0), 0); /* x[2, 0, 0] */
}

static void elements_are_taken_as_numpy_does(void **state)
{
    static const double want[] = {4205, 35, 44, 56, 40};
    double got[LENGTH(want)];

    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        run_valued(takes, got, engine ? KB_HOP : KB_FUSED);
        for (size_t i = 0; i < LENGTH(want); i++)
            if (got[i] != want[i])
                fail_msg("value %zu is %g, not %g", i, got[i], want[i]);
    }
}

/* The first words of Random123 for this key, and that of a counter beyond 32 bits. */
static void random_words(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *x = tl_random(tl, KB_U32, KB_SHAPE(2, 2), 42, 0);

    for (int i = 0; i < 4; i++)
        got[i] = at(tl, x, i);
    x = tl_random(tl, KB_U32, KB_SHAPE(2), 42, UINT32_MAX);
    got[4] = at(tl, x, 0);
    got[5] = at(tl, x, 1);
    got[6] = at(tl, tl_random(tl, KB_F32, KB_SHAPE(1), 42, 0), 0);
    got[7] = at(tl, tl_random(tl, KB_F16, KB_SHAPE(1), 42, 0), 0);
    got[8] = at(tl, tl_random(tl, KB_BF16, KB_SHAPE(1), 42, 1), 0);
    got[9] = at(tl, tl_random(tl, KB_U32, KB_SHAPE(1), UINT64_C(42) << 32, 0), 0);
}

static void random_numbers_are_known(void **state)
{
    static const uint32_t want[] = {0x9ceaf053, 0xfcdb2127, 0xd36c0225,
                                    0xbac70475, 0x6e2412de, 0x42e0b8b3};
    double got[10];

    (void)state;
    run_valued(random_words, got, KB_FUSED);
    for (size_t i = 0; i < LENGTH(want); i++)
        assert_true(got[i] == (double)want[i]);
    assert_true(got[6] == 0.6129598617553711);
    assert_true(got[7] == (0x9ceaf053 >> 21) / 2048.0);
    assert_true(got[8] == 0xfc / 256.0);
    assert_true(got[9] != got[0]);
}

enum { ROWS = 3, N = 41 };

struct sorted {
    double x[ROWS * N], values[ROWS * N], alone[ROWS * N];
    int32_t indices[ROWS * N];
    bool down;
};

/* Of values of which many are equal, and some are NaN or -0. */
static void sorts(tl_ctx *tl, const kb_args *args)
{
    struct sorted *s = (struct sorted *)(uintptr_t)args->user;
    tl_tensor *x = tl_random(tl, KB_F32, KB_SHAPE(ROWS, N), 7, 0), *zero, *indices;
    const float *v;

    zero = tl_sub(tl, x, x);
    x = tl_sub(tl, tl_floor(tl, tl_mul(tl, x, tl_scalar(tl, 9))), tl_scalar(tl, 4));
    x = tl_where(tl, tl_eq(tl, x, tl_scalar(tl, 3)), tl_div(tl, zero, zero), x);
    x = tl_where(tl, tl_eq(tl, x, tl_scalar(tl, 2)), tl_neg(tl, zero), x);
    v = tl_values(tl, x);
    for (int i = 0; i < ROWS * N; i++)
        s->x[i] = (double)v[i];
    v = tl_values(tl, tl_sort(tl, x, s->down, NULL));
    for (int i = 0; i < ROWS * N; i++)
        s->alone[i] = (double)v[i];
    v = tl_values(tl, tl_sort(tl, x, s->down, &indices));
    for (int i = 0; i < ROWS * N; i++)
        s->values[i] = (double)v[i];
    memcpy(s->indices, tl_values(tl, indices), sizeof s->indices);
}

static bool goes_first(const double *x, int i, int j, bool down)
{
    if (isnan(x[i]) != isnan(x[j]))
        return isnan(x[i]) == down;
    if (isnan(x[i]) || x[i] == x[j])
        return i < j;
    return down == (x[i] > x[j]);
}

static void rows_are_in_order(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct sorted s = {.down = way & 1};

        run_valued(sorts, &s, way & 2 ? KB_HOP : KB_FUSED);
        for (int i = 0; i < ROWS * N; i++) {
            const double *x = s.x + i / N * N;
            int index = s.indices[i];

            assert_true(i % N == 0 || goes_first(x, s.indices[i - 1], index, s.down));
            assert_memory_equal(&s.values[i], &x[index], sizeof(double));
            assert_memory_equal(&s.alone[i], &x[index], sizeof(double));
        }
    }
}

/* -- printed -------------------------------------------------------------------------------- */

static void prints(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(2, 3)), *y;

    mark(tl, args, 0);
    tl_print(tl, x);
    tl_print(tl, tl_slice(tl, x, 1, 1, 2));
    tl_print(tl, tl_scalar(tl, 0.5));
    tl_print(tl, tl_alloc(tl, KB_I8, KB_SHAPE(4)));
    mark(tl, args, 1);
    y = tl_load_async(tl, SLICE(0), KB_F32, KB_SHAPE(100));
    tl_print(tl, y);
    tl_wait(tl, y);
    tl_print(tl, y);
    tl_print(tl, tl_neg(tl, x));
    tl_print(tl, tl_load(tl, SLICE(0), KB_I64, KB_SHAPE(2)));
    tl_print(tl, tl_load(tl, SLICE(0), KB_U64, KB_SHAPE(1)));
    tl_print(tl, tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(2)));
    tl_print(tl, tl_load(tl, SLICE(0), KB_F64, KB_SHAPE(1)));
}

/* Lines behind their places; the last of 100 elements are left out. */
static void tensors_are_printed(void **state)
{
    static const char *const want[] = {"f32 [2, 3]: 1 2 3; 4 5 6\n",
                                       "f32 [2, 2]: 2 3; 5 6\n",
                                       "0.5\n",
                                       "i8 [4]: what its address holds\n",
                                       "f32 [100]: in flight\n",
                                       " 64 ...\n",
                                       "f32 [2, 3]: pending\n",
                                       "i64 [2]: 4611686019492741120 4647714816524288000\n",
                                       "u64 [1]: 4611686019492741120\n",
                                       "i32 [2]: 1065353216 1073741824\n",
                                       "f64 [1]: 2.0000004731118679\n"};
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    char line[4096];
    uint64_t fingerprint;
    struct marks m;

    (void)state;
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    talk_once(&cube8_topology, (kb_options){0}, prints, &m, one, 1, &fingerprint);
    dup2(before, STDERR_FILENO);
    assert_int_equal(m.fs[0][0], m.fs[0][1]); /* free of time */
    rewind(file);
    for (size_t i = 0; i < LENGTH(want); i++) {
        assert_non_null(fgets(line, sizeof line, file));
        assert_non_null(strstr(line, "kernel talk on c0.pe0: tl_print at "));
        if (!strstr(line, want[i]))
            fail_msg("%s", line);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    close(before);
}

/* -- mistakes ------------------------------------------------------------------------------- */

#define WRONG(name, call)                                                                          \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1);                                     \
        tl_tensor *i = tl_full(tl, KB_I32, KB_SHAPE(3), 1);                                        \
                                                                                                   \
        (void)args, (void)x, (void)i;                                                              \
        call;                                                                                      \
    }

WRONG(by_floats, tl_take(tl, x, x, 0))
WRONG(by_a_number, tl_take(tl, x, tl_scalar(tl, 1), 0))
WRONG(no_axis, tl_take(tl, x, i, 2))
WRONG(many_axes, tl_take(tl, x, tl_full(tl, KB_I32, KB_SHAPE(1, 1, 1, 1, 1, 1), 0), 0))
WRONG(power_of_integers, tl_pow(tl, i, i))
WRONG(dice_of_f64, tl_random(tl, KB_F64, KB_SHAPE(4), 1, 0))
WRONG(dice_far_away, tl_random(tl, KB_F32, KB_SHAPE(4), 1, UINT64_MAX))
WRONG(sort_of_bool, tl_sort(tl, tl_gt(tl, x, x), true, NULL))
WRONG(value_off, tl_value(tl, tl_take(tl, x, tl_arange(tl, KB_I32, 3, 2, 1), 0), 0))
WRONG(stored_off, tl_store(tl, SLICE(0), tl_take(tl, x, tl_arange(tl, KB_I32, 3, 2, 1), 0)))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {by_floats, "tl_take at "},
        {by_floats, ": indices are a tensor of integers"},
        {by_a_number, ": indices are a tensor of integers"},
        {no_axis, ": axis 2 is none of shape [4, 8]"},
        {many_axes, " axes, more than "},
        {power_of_integers, ": pow takes floats, not i32"},
        {dice_of_f64, ": random numbers are of u32, f32, f16 or bf16, not f64"},
        {dice_far_away, ": the offset is 18446744073709551615, not below 2^53"},
        {sort_of_bool, ": sort does not take bool"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

/* Only when it is computed is it known: by a value, or by Phase 2. */
static void an_index_out_of_range_is_told(void **state)
{
    (void)state;
    for (int by_value = 0; by_value < 2; by_value++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true, .phase2 = true});
        kb_error why = {""};
        kb_status status;

        launch_talk(sim, by_value ? value_off : stored_off, NULL, one, 1);
        status = kb_sim_run(sim, 0, &why);
        if (!by_value) {
            assert_int_equal(status, KB_OK);
            status = kb_compute(sim, &(kb_compute_options){0}, &why);
        }
        assert_int_equal(status, KB_KERNEL_ERROR);
        assert_non_null(strstr(why.text, "sip0.cube0.pe0.pe_math, kernel talk, "));
        assert_non_null(strstr(why.text, "test_operations.c:"));
        assert_non_null(strstr(why.text,
                               "index 4, element 2 of the indices, is not in axis 0, which "
                               "has 4 elements"));
        kb_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_take_their_cycles),
        cmocka_unit_test(what_takes_no_cycle_ends_behind_what_it_waits_for),
        cmocka_unit_test(sums_and_powers_by_hand),
        cmocka_unit_test(elements_are_taken_as_numpy_does),
        cmocka_unit_test(random_numbers_are_known),
        cmocka_unit_test(rows_are_in_order),
        cmocka_unit_test(tensors_are_printed),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(an_index_out_of_range_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
