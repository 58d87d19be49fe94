/* test_store_all.c -- multicasts of kernels. Times are those of docs/model.md "Multicasts", 3 ns
 * behind their calls. */
#include "support/talks.h"

#define ROW(links, more)                                                                           \
    "kernbench: 2\nname: row\ncontention: {links: " links "}\nsip: {cube_mesh: {w: 4, h: "         \
    "1}}\n" more

static const char fifo[] = ROW("fifo", ""),
                  tiles[] = ROW("fifo", "cube: {pe: {pe_dma: {tiles: runs}}}\n");

static const uint32_t pe0[] = {0};

static uint64_t address_in(tl_ctx *tl, kb_endpoint_kind kind, uint32_t cube, uint64_t offset)
{
    kb_endpoint end = {kind, 0, cube, 0};

    return kb_address(tl_topology(tl), &end, offset);
}

/* f32 number i of a slice is i + 1. */
static void expect(tl_ctx *tl, uint64_t address, size_t at, double value)
{
    tl_tensor *x = tl_load(tl, address, KB_F32, KB_SHAPE(1024));

    if (((const float *)tl_data(tl, x))[at] != (float)value)
        tl_fail(tl, "an element is another one");
    tl_free(tl, x);
}

/* 4 KiB go to the other three cubes, to other places in each. */
static void sends_to_all(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, address_in(tl, KB_SLICE, 0, 4096), KB_F32, KB_SHAPE(1024));
    uint64_t to[3];

    for (uint32_t i = 0; i < 3; i++)
        to[i] = address_in(tl, KB_SLICE, i + 1, 8192 * i);
    mark(tl, args, 0);
    tl_store_all(tl, to, 3, x);
    mark(tl, args, 1);
    for (uint32_t i = 0; i < 3; i++)
        expect(tl, to[i], 7, 1024 + 8);
}

/* The same to two SRAMs. */
static void sends_to_srams(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, address_in(tl, KB_SLICE, 0, 4096), KB_F32, KB_SHAPE(1024));
    const uint64_t to[] = {address_in(tl, KB_SRAM, 1, 0), address_in(tl, KB_SRAM, 3, 64)};

    mark(tl, args, 0);
    tl_store_all(tl, to, 2, x);
    mark(tl, args, 1);
    expect(tl, to[1], 0, 1025);
}

static void each_target_has_it_when_the_last_has(void **state)
{
    static const char *const machines[] = {fifo, tiles, ROW("ideal", "")};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const kb_topology *topo = any_topology(machines[i]);
        struct marks m;
        char *log = talk(topo, sends_to_all, &m, pe0, 1);

        assert_int_equal(m.fs[0][1] - m.fs[0][0], 43655000);
        assert_non_null(strstr(log, "\"runs\":3"));
        free(log);
        log = talk(topo, sends_to_srams, &m, pe0, 1);
        assert_true(m.fs[0][1] > m.fs[0][0]);
        free(log);
        any_topology_free(topo);
    }
}

/* -- sums ------------------------------------------------------------------------------------- */

/* Sources that the host has filled: the sum is known when it is there. Bytes of f32 1024, 44800000,
 * wrap. */
static void adds_what_is_known(tl_ctx *tl, const kb_args *args)
{
    const uint64_t from[] = {address_in(tl, KB_SLICE, 1, 0), address_in(tl, KB_SLICE, 2, 8192),
                             address_in(tl, KB_SLICE, 3, 16384)};
    const uint64_t bytes[] = {address_in(tl, KB_SLICE, 1, 4092), address_in(tl, KB_SLICE, 2, 4092),
                              address_in(tl, KB_SLICE, 3, 4092)};
    tl_tensor *x;

    mark(tl, args, 0);
    x = tl_load_sum(tl, from, 3, KB_F32, KB_SHAPE(4, 256));
    mark(tl, args, 1);
    mark_value(tl, args, 2, ((const float *)tl_data(tl, x))[7]);
    x = tl_load_sum(tl, bytes, 3, KB_U8, KB_SHAPE(4));
    mark_value(tl, args, 3, ((const uint8_t *)tl_data(tl, x))[2]);
    mark_value(tl, args, 4, ((const uint8_t *)tl_data(tl, x))[3]);
}

static void a_sum_takes_as_long_as_its_last_source(void **state)
{
    static const char *const machines[] = {fifo, tiles, ROW("ideal", "")};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const kb_topology *topo = any_topology(machines[i]);
        struct marks m;
        char *log = talk(topo, adds_what_is_known, &m, pe0, 1);

        assert_int_equal(m.fs[0][1] - m.fs[0][0], 43655000);
        assert_true(m.value[0][2] == 8 + (2048 + 8) + (4096 + 8));
        assert_true(m.value[0][3] == 0x80 && m.value[0][4] == 0xcc);
        assert_non_null(strstr(log, "\"dma_read_sum\""));
        assert_non_null(strstr(log, "\"runs\":3"));
        free(log);
        any_topology_free(topo);
    }
}

/* 16 elements of `value` in slice 0 of each cube; the first one's is `first`. */
static void put_constants(tl_ctx *tl, kb_dtype dtype, double first, double value, uint64_t *at)
{
    for (uint32_t i = 0; i < 4; i++) {
        at[i] = address_in(tl, KB_SLICE, i, 0);
        tl_store(tl, at[i], tl_full(tl, dtype, KB_SHAPE(16), i ? value : first));
    }
}

/* Sources that other operations make: 2048 + 1 in f16 would be 2048 again, 2^24 + 1 in f32 is. */
static void adds_what_is_pending(tl_ctx *tl, const kb_args *args)
{
    uint64_t at[4];
    tl_tensor *x;

    put_constants(tl, KB_F16, 2048, 1, at);
    x = tl_load_sum(tl, at, 4, KB_F16, KB_SHAPE(16));
    if (marks_of(args)->line)
        mark_value(tl, args, 0, tl_value(tl, x, 15));
    put_constants(tl, KB_F32, 0x1p24, 1, at);
    x = tl_load_sum(tl, at, 4, KB_F32, KB_SHAPE(16));
    if (marks_of(args)->line)
        mark_value(tl, args, 1, tl_value(tl, x, 15));
    tl_store(tl, at[1] + 4096, x);
}

static void a_sum_is_rounded_once_and_has_an_order(void **state)
{
    const kb_topology *topo = any_topology(fifo);

    (void)state;
    for (int way = 0; way < 4; way++) {
        kb_options options = {.engine = way & 1 ? KB_HOP : KB_FUSED};
        struct marks m = {.line = way < 2};
        kb_error why = {""};
        kb_sim *sim;

        options.values = way < 2;
        options.phase2 = way >= 2;
        sim = new_sim(topo, options);
        launch_talk(sim, adds_what_is_pending, &m, pe0, 1);
        run_launched(sim, 0);
        if (way >= 2 && kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
            fail_msg("%s", why.text);
        kb_sim_free(sim);
        assert_true(way >= 2 || m.value[0][0] == 2052); /* 2051 is none of f16 */
        assert_true(way >= 2 || m.value[0][1] == 0x1p24);
    }
    any_topology_free(topo);
}

/* -- what there is not ------------------------------------------------------------------------ */

static void to_one(tl_ctx *tl, const kb_args *args)
{
    const uint64_t to[] = {address_in(tl, KB_SLICE, 1, 0)};

    (void)args;
    tl_store_all(tl, to, 1, tl_full(tl, KB_F32, KB_SHAPE(32), 1));
}

static void to_two_kinds(tl_ctx *tl, const kb_args *args)
{
    const uint64_t to[] = {address_in(tl, KB_SLICE, 1, 0), address_in(tl, KB_SRAM, 2, 0)};

    (void)args;
    tl_store_all(tl, to, 2, tl_full(tl, KB_F32, KB_SHAPE(32), 1));
}

static void to_one_twice(tl_ctx *tl, const kb_args *args)
{
    const uint64_t to[] = {address_in(tl, KB_SLICE, 1, 0), address_in(tl, KB_SLICE, 1, 4096)};

    (void)args;
    tl_store_all(tl, to, 2, tl_full(tl, KB_F32, KB_SHAPE(32), 1));
}

static void over_granules(tl_ctx *tl, const kb_args *args)
{
    const uint64_t to[] = {address_in(tl, KB_SLICE, 1, 0), address_in(tl, KB_SLICE, 2, 64)};

    (void)args;
    tl_store_all(tl, to, 2, tl_full(tl, KB_F32, KB_SHAPE(64), 1));
}

static void to_two(tl_ctx *tl, const kb_args *args)
{
    const uint64_t to[] = {address_in(tl, KB_SLICE, 1, 0), address_in(tl, KB_SLICE, 2, 0)};

    (void)args;
    tl_store_all(tl, to, 2, tl_full(tl, KB_F32, KB_SHAPE(32), 1));
}

static void sum_of_bools(tl_ctx *tl, const kb_args *args)
{
    const uint64_t from[] = {address_in(tl, KB_SLICE, 1, 0), address_in(tl, KB_SLICE, 2, 0)};

    (void)args;
    tl_load_sum(tl, from, 2, KB_BOOL, KB_SHAPE(32));
}

static void sum_of_nothing(tl_ctx *tl, const kb_args *args)
{
    const uint64_t from[] = {address_in(tl, KB_SLICE, 1, 0),
                             address_in(tl, KB_SLICE, 2, UINT64_C(1) << 32)};

    (void)args;
    tl_load_sum(tl, from, 2, KB_F32, KB_SHAPE(32));
}

static void wrong_multicasts_are_refused(void **state)
{
    (void)state;
    assert_talk_refused(fifo, to_one, "a multicast has 2 to 4096 targets, not 1");
    assert_talk_refused(fifo, to_two_kinds, "target 1 is of another kind of memory than target 0");
    assert_talk_refused(fifo, to_one_twice, "two targets lie in one memory");
    assert_talk_refused(ROW("fifo", "addressing: {granule: 256}\n"), over_granules,
                        "target 1 lies in several slices");
    assert_talk_refused(ROW("router", ""), to_two,
                        "a multicast wants contention.links ideal or fifo");
    assert_talk_refused(fifo, sum_of_bools, "bools are not added");
    assert_talk_refused(fifo, sum_of_nothing, "were never written");
    assert_talk_refused(ROW("fifo", "cube: {noc: {reduce_ns: 1.0}, hbm: {model: banks}}\n"),
                        sum_of_nothing, "a read of several memories wants cube.noc.reduce_ns 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_has_it_when_the_last_has),
        cmocka_unit_test(a_sum_takes_as_long_as_its_last_source),
        cmocka_unit_test(a_sum_is_rounded_once_and_has_an_order),
        cmocka_unit_test(wrong_multicasts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
