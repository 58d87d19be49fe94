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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_has_it_when_the_last_has),
        cmocka_unit_test(wrong_multicasts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
