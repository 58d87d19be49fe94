/* test_combine.c -- tl_atomic(): times by hand, values, what the log and the race detector say,
 * mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, 64
 * lanes; 4096 bytes of the own slice are there 2.085 ns later and take it 16 ns.
 */
#include "support/talks.h"

#define CUBE8(links)                                                                               \
    "kernbench: 2\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links "}\n"

static const uint32_t one[] = {0}, pair[] = {0, 1}, four[] = {0, 1, 2, 3};

/* -- times ---------------------------------------------------------------------------------- */

/* A tile of [32,32] in f32, added to one place of slice 0. */
static void split_k(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(32, 32), tl_pe(tl) + 1), *place;

    mark(tl, args, 0);
    place = tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0), x, false);
    mark(tl, args, 1);
    tl_wait(tl, place);
    mark(tl, args, 2);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The ends in order; which PE is when depends on how near it is. */
static void assert_ends(const char *machine, const uint32_t *pes, size_t n, const double *ns)
{
    const kb_topology *topo = any_topology(machine);
    int64_t ends[4];
    struct marks m;

    assert_non_null(topo);
    free(talk(topo, split_k, &m, pes, n));
    any_topology_free(topo);
    for (uint32_t i = 0; i < n; i++) {
        count_from(&m, i, 0);
        assert_at(&m, i, 1, 3);
        ends[i] = m.fs[i][2] - m.fs[i][0];
    }
    qsort(ends, n, sizeof *ends, by_time);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(ends[i], FS(ns[i]));
}

/* Alone 3 + 2.085 + 16. Four at once: each holds the slice for 16 and drains by its route. */
static void tiles_are_added_one_after_another(void **state)
{
    (void)state;
    assert_ends(CUBE8("ideal"), one, 1, (double[]){21.085});
    assert_ends(CUBE8("fifo"), one, 1, (double[]){21.085});
    assert_ends(CUBE8("ideal"), four, 4, (double[]){21.085, 53.085, 69.085, 85.085});
    assert_ends(CUBE8("fifo"), four, 4, (double[]){21.085, 53.085, 71.095, 103.095});
}

#define READ_WRITE(links) CUBE8(links) "cube: {hbm: {atomic: read_write}}\n"

/* Alone nothing is later. Each holds the slice for 32, and is done when its route has drained. */
static void an_atomic_may_hold_twice(void **state)
{
    (void)state;
    assert_ends(READ_WRITE("ideal"), one, 1, (double[]){21.085});
    assert_ends(READ_WRITE("fifo"), one, 1, (double[]){21.085});
    assert_ends(READ_WRITE("ideal"), pair, 2, (double[]){21.085, 69.085});
    assert_ends(READ_WRITE("ideal"), four, 4, (double[]){21.085, 69.085, 101.085, 133.085});
    assert_ends(CUBE8("ideal") "cube: {hbm: {atomic: read_write, hold: route}}\n", pair, 2,
                (double[]){21.085, 69.085});
}

/*
 * What an L2 writes through is no atomic, though its command has ended and one follows. The store
 * is done at 3 + 20 + 16; its 4096 bytes set out at 23 and hold the slice from 73 to 89. The
 * atomic, issued at 42, comes there at 92.
 */
static void stores_then_adds(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(32, 32), 1),
              *y = tl_full(tl, KB_F32, KB_SHAPE(64), 1);

    mark(tl, args, 0);
    tl_store(tl, 0, x);
    mark(tl, args, 1);
    tl_wait(tl, tl_atomic(tl, TL_ATOMIC_ADD, 8192, y, false));
    mark(tl, args, 2);
}

#define BEHIND_AN_L2(pes, keys, write)                                                             \
    "kernbench: 2\nname: cached\ncontention: {links: ideal}\nns_per_mm: 0.0\n"                     \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: " pes ", " keys ", "                              \
    "xbar: {overhead_ns: 0, pe_gbs: 256}, hbm: {bw_gbs: 256, atomic: read_write}, "                \
    "l2: {size_mb: 0.0625, line: 128, ways: 4, bw_gbs: 256, pe_gbs: 256, latency_ns: 20, "         \
    "write: " write "}}\n"

static void what_an_l2_writes_holds_once(void **state)
{
    const kb_topology *topo =
        any_topology(BEHIND_AN_L2("1", "noc: {overhead_ns: 50, bw_gbs: 256}", "through"));
    struct marks m;

    (void)state;
    assert_non_null(topo);
    free(talk(topo, stores_then_adds, &m, one, 1));
    any_topology_free(topo);
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 39);
    assert_at(&m, 0, 2, 93);
}

/* c0.pe0 loads a line, c0.pe1 adds to the same slice. */
static void loads_or_adds(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    mark(tl, args, 0);
    if (tl_pe(tl) == 0) {
        tl_load(tl, 0, KB_F32, KB_SHAPE(32));
    } else {
        x = tl_full(tl, KB_F32, KB_SHAPE(32, 32), 1);
        mark(tl, args, 1);
        tl_wait(tl, tl_atomic(tl, TL_ATOMIC_ADD, 8192, x, false));
    }
    mark(tl, args, 2);
}

/*
 * The load comes to the L2 at 3 + 50, which reads the line from 73 on: that takes 0.5. The atomic
 * is issued at 30, before, and comes at 80, behind.
 */
static void what_an_l2_reads_comes_sooner_than_from_a_pe(void **state)
{
    const kb_topology *topo = any_topology(BEHIND_AN_L2(
        "2", "noc: {overhead_ns: 0, bw_gbs: 256}, pe: {pe_dma: {overhead_ns: 50}}", "back"));
    struct marks m;

    (void)state;
    assert_non_null(topo);
    free(talk(topo, loads_or_adds, &m, pair, 2));
    any_topology_free(topo);
    count_from(&m, 1, 0);
    assert_at(&m, 1, 1, 27);
    assert_at(&m, 1, 2, 96);
    count_from(&m, 0, 0);
    assert_at(&m, 0, 2, 73.5);
}

/* -- values --------------------------------------------------------------------------------- */

static double element(tl_ctx *tl, uint64_t address, kb_dtype dtype)
{
    return tl_value(tl, tl_load(tl, address, dtype, KB_SHAPE(1)), 0);
}

static tl_tensor *constant(tl_ctx *tl, kb_dtype dtype, double value)
{
    return tl_full(tl, dtype, KB_SHAPE(1), value);
}

static void combine(tl_ctx *tl, tl_atomic_op op, uint64_t at, kb_dtype dtype, double value)
{
    tl_wait(tl, tl_atomic(tl, op, at, constant(tl, dtype, value), false));
}

/* What was stored is a result, what is combined are results, and so is what was there before. */
static void one_after_another(tl_ctx *tl, const kb_args *args)
{
    uint64_t a = SLICE(0), b = SLICE(0) + 64;
    tl_tensor *old;

    tl_store(tl, a, constant(tl, KB_F32, 2));
    combine(tl, TL_ATOMIC_ADD, a, KB_F32, 0.5);
    mark_value(tl, args, 0, element(tl, a, KB_F32));
    combine(tl, TL_ATOMIC_MAX, a, KB_F32, 7);
    combine(tl, TL_ATOMIC_MIN, a, KB_F32, 5);
    mark_value(tl, args, 1, element(tl, a, KB_F32));
    old = tl_atomic(tl, TL_ATOMIC_XCHG, a, constant(tl, KB_F32, -3), true);
    tl_wait(tl, old);
    mark_value(tl, args, 2, tl_value(tl, tl_add(tl, old, old), 0));
    mark_value(tl, args, 3, element(tl, a, KB_F32));
    old = tl_atomic(tl, TL_ATOMIC_ADD, a, constant(tl, KB_F32, 1), true);
    tl_wait(tl, old);
    mark_value(tl, args, 4, tl_value(tl, old, 0) * 100 + element(tl, a, KB_F32));
    tl_store(tl, b, constant(tl, KB_U16, 6));
    combine(tl, TL_ATOMIC_AND, b, KB_U16, 3);
    combine(tl, TL_ATOMIC_OR, b, KB_U16, 9);
    mark_value(tl, args, 5, element(tl, b, KB_U16));
    combine(tl, TL_ATOMIC_ADD, b, KB_U16, 65535);
    mark_value(tl, args, 6, element(tl, b, KB_U16));
    tl_store(tl, b, constant(tl, KB_F16, 2048));
    combine(tl, TL_ATOMIC_ADD, b, KB_F16, 1);
    mark_value(tl, args, 7, element(tl, b, KB_F16));
}

/* f16: 2049 is rounded to even, as by tl_add(). */
static void atomics_combine(void **state)
{
    static const double want[] = {2.5, 5, 10, -3, -300 - 2, 11, 10, 2048};

    (void)state;
    for (int way = 0; way < 4; way++) {
        kb_options options = {.values = true, .engine = way & 1 ? KB_HOP : KB_FUSED};
        kb_sim *sim;
        struct marks m;

        options.value_threads = way & 2 ? 3 : 1;
        memset(&m, 0, sizeof m);
        sim = new_sim(&cube8_topology, options);
        launch_talk(sim, one_after_another, &m, one, 1);
        run_launched(sim, 0);
        kb_sim_free(sim);
        for (size_t i = 0; i < LENGTH(want); i++)
            if (m.value[0][i] != want[i])
                fail_msg("value %zu is %g, not %g", i, m.value[0][i], want[i]);
    }
}

/* Sums of four PEs by Phase 2, on what the host has filled: 1, 2, 3, ... */
static void sums_are_computed(void **state)
{
    for (int engine = 0; engine < 2; engine++) {
        kb_sim *sim = new_sim(&cube8_topology,
                              (kb_options){.phase2 = true, .engine = engine ? KB_HOP : KB_FUSED});
        kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
        kb_tensor *x = NULL;
        struct marks m;
        float *all = malloc(FILLED);
        kb_error why = {""};

        (void)state;
        assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(FILLED / 4), copies, &x, &why),
                         KB_OK);
        assert_int_equal(kb_tensor_fill_arange(x, 1, 1, &why), KB_OK);
        assert_int_equal(launch(sim, split_k, &m, 4, &why), KB_OK);
        run_launched(sim, 0);
        assert_int_equal(kb_compute(sim, NULL, &why), KB_OK);
        assert_int_equal(kb_tensor_read(x, all, &why), KB_OK);
        for (int i = 0; i < 1024; i++)
            assert_true(all[i] == (float)(i + 1 + 10));
        free(all);
        kb_sim_free(sim);
    }
}

/* On integers of the host: a lock that is taken once, and lent to the next by its value. */
static void locks(tl_ctx *tl, const kb_args *args)
{
    uint64_t lock = SLICE(0) + 256; /* f32 65: 0x42820000 */
    int64_t free_lock = 0x42820000;

    mark_value(tl, args, 0, tl_atomic_cas(tl, lock, KB_I32, free_lock, -5) == free_lock);
    tl_barrier(tl, (tl_group){.pes = pair, .n = 2});
    mark_value(tl, args, 1, (double)tl_atomic_cas(tl, lock, KB_I32, free_lock, 7));
    mark_value(tl, args, 2, (double)tl_atomic_cas(tl, lock, KB_I16, -5, 300));
    tl_barrier(tl, (tl_group){.pes = pair, .n = 2});
    mark_value(tl, args, 3, (double)tl_atomic_add(tl, lock, KB_I16, 0));
}

static void one_of_two_exchanges(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, locks, &m, pair, 2));
    assert_true(m.value[0][0] + m.value[1][0] == 1);
    for (int pe = 0; pe < 2; pe++) {
        assert_true(m.value[pe][1] == -5);
        assert_true(m.value[pe][3] == 300);
    }
    assert_true(m.value[0][2] + m.value[1][2] == -5 + 300);
}

/* -- the log, and races ---------------------------------------------------------------------- */

static void log_of_it(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    combine(tl, TL_ATOMIC_MAX, SLICE(0), KB_F32, 7);
    combine(tl, TL_ATOMIC_XCHG, SLICE(0), KB_F32, 7);
}

static void a_record_says_how(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, log_of_it, &m, one, 1);

    (void)state;
    assert_non_null(strstr(log, "\"op_name\":\"dma_write\""));
    assert_non_null(strstr(log, ",\"atomic\":\"max\"},\"dependency_ids\":[0]"));
    assert_non_null(strstr(log, ",\"atomic\":\"xchg\"},\"dependency_ids\":[2,3]"));
    free(log);
}

/* More commands than kernels make room for at once, so that some have the row of an atomic. */
static void others_after_atomics(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    for (int i = 0; i < 300; i++) {
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(1), i);

        tl_wait(tl, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0), x, false));
        tl_store(tl, SLICE(64), x);
        tl_wait(tl, tl_composite(tl, .a = tl_full(tl, KB_F32, KB_SHAPE(1, 1), i),
                                 .b = tl_full(tl, KB_F32, KB_SHAPE(1, 1), i), .out = SLICE(128)));
        tl_release(tl, 0);
    }
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void others_are_no_atomics(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, others_after_atomics, &m, one, 1);

    (void)state;
    assert_int_equal(count(log, "\"atomic\":"), 300);
    assert_int_equal(count(log, "\"op_name\":\"full\""), 900);
    assert_int_equal(count(log, "\"op_name\":\"composite_gemm\""), 300);
    free(log);
}

static void adds_floats(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    combine(tl, TL_ATOMIC_ADD, SLICE(0), KB_F32, 1);
}

static void adds_integers(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    combine(tl, TL_ATOMIC_ADD, SLICE(0), KB_I32, 1);
}

static void exchanges(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    combine(tl, TL_ATOMIC_XCHG, SLICE(0), KB_I32, 1);
}

static void largest_float(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    combine(tl, TL_ATOMIC_MAX, SLICE(0), KB_F32, 1);
}

/* PE 1 loads what PE 0 adds to. */
static void is_looked_at(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0)
        adds_integers(tl, args);
    else
        tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(1));
}

/* A barrier orders sums, the sums themselves do not order what is done beside them. */
static void with_barrier(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0)
        adds_floats(tl, args);
    tl_barrier(tl, (tl_group){.pes = pair, .n = 2});
    if (tl_pe(tl) == 1)
        adds_floats(tl, args);
}

static void count_races(void *arg, const kb_race *race)
{
    unsigned *n = arg;

    n[0]++;
    n[1] += race->first.atomic && race->second.atomic;
}

static void orders_are_told(void **state)
{
    static const struct {
        kb_kernel kernel;
        unsigned races, orders;
    } cases[] = {{adds_floats, 1, 1},   {adds_integers, 0, 0}, {exchanges, 1, 1},
                 {largest_float, 0, 0}, {is_looked_at, 1, 0},  {with_barrier, 0, 0}};

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        unsigned found[2] = {0, 0};

        assert_int_equal(kb_sim_check_races(sim, NULL), KB_OK);
        launch_talk(sim, cases[i].kernel, NULL, pair, 2);
        run_launched(sim, 0);
        assert_int_equal(kb_sim_races(sim, count_races, found), KB_OK);
        kb_sim_free(sim);
        if (found[0] != cases[i].races || found[1] != cases[i].orders)
            fail_msg("case %zu: %u races, %u of order", i, found[0], found[1]);
    }
}

/* -- mistakes ------------------------------------------------------------------------------- */

#define WRONG(name, call)                                                                          \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1);                                     \
                                                                                                   \
        (void)args, (void)x;                                                                       \
        call;                                                                                      \
    }

WRONG(bits_of_floats, tl_atomic(tl, TL_ATOMIC_AND, SLICE(0), x, false))
WRONG(sum_of_bool, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0), tl_gt(tl, x, x), false))
WRONG(old_of_many, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0), x, true))
WRONG(of_scalar, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0), tl_scalar(tl, 1), false))
WRONG(of_view, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0), tl_slice(tl, x, 1, 0, 2), false))
WRONG(not_aligned, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0) + 2, x, false))
WRONG(never_written, tl_wait(tl, tl_atomic(tl, TL_ATOMIC_ADD, SLICE(0) + FILLED, x, false)))
WRONG(swap_of_floats, tl_atomic_cas(tl, SLICE(0), KB_F32, 0, 1))
WRONG(no_operation, tl_atomic(tl, (tl_atomic_op)6, SLICE(0), x, false))
WRONG(then_an_integer, tl_store(tl, SLICE(0), constant(tl, KB_I32, 1));
      combine(tl, TL_ATOMIC_ADD, SLICE(0), KB_I32, 1); tl_atomic_add(tl, SLICE(0), KB_I32, 1))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {bits_of_floats, ": and takes integers, not f32"},
        {sum_of_bool, ": add does not take bool"},
        {old_of_many, ": what was there is told of one element, not of 32"},
        {of_scalar, ": a scalar has no type, make a tensor of it by tl_full()"},
        {of_view, ": the elements of a slice do not lie side by side"},
        {not_aligned, ": address 2 is not aligned to 4 bytes"},
        {never_written, "were never written"},
        {swap_of_floats, "tl_atomic_cas at "},
        {swap_of_floats, ": f32 is no integer"},
        {no_operation, ": 6 is no operation of atomics"},
        {then_an_integer, ": the integer is pending"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_added_one_after_another),
        cmocka_unit_test(an_atomic_may_hold_twice),
        cmocka_unit_test(what_an_l2_writes_holds_once),
        cmocka_unit_test(what_an_l2_reads_comes_sooner_than_from_a_pe),
        cmocka_unit_test(atomics_combine),
        cmocka_unit_test(one_of_two_exchanges),
        cmocka_unit_test(sums_are_computed),
        cmocka_unit_test(a_record_says_how),
        cmocka_unit_test(others_are_no_atomics),
        cmocka_unit_test(orders_are_told),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
