/* test_known_cost.c -- what a PE knows of the cost of its last load is not taken for that of a
 * store. */
#include "support/any_topology.h"
#include "support/kernels.h"

/* TCMs that are written slowly: 4096 bytes in 256 ns. */
#define MACHINE(write_gbs)                                                                         \
    "kernbench: 1\nname: slow\nsip: {cube_mesh: {w: 1, h: 1}}\n"                                   \
    "cube: {pe: {pe_tcm: {write_gbs: " write_gbs "}}}\n"

enum { BYTES = 4096 };

struct times {
    double load, stores[2];
};

/* A store, a load and a store of as many bytes of the same TCM. */
static void store_load_store(tl_ctx *tl, const kb_args *args)
{
    struct times *times = (struct times *)(uintptr_t)args->user;
    tl_tensor *x = tl_load(tl, SLICE(0), KB_U8, KB_SHAPE(BYTES));
    uint64_t at = TCM(1) + TCM_BYTES / 2;
    double start = tl_time(tl);

    tl_store(tl, at, x);
    times->stores[0] = tl_time(tl) - start;
    start = tl_time(tl);
    tl_load(tl, at, KB_U8, KB_SHAPE(BYTES));
    times->load = tl_time(tl) - start;
    start = tl_time(tl);
    tl_store(tl, at, x);
    times->stores[1] = tl_time(tl) - start;
}

static struct times times_on(const char *yaml)
{
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    struct times times;
    kb_error why = {""};

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, store_load_store, &times, 1, &why), KB_OK);
    run_launched(sim, 0);
    kb_sim_free(sim);
    any_topology_free(topo);
    return times;
}

static void loads_and_stores_are_known_apart(void **state)
{
    struct times fast = times_on(MACHINE("512.0")), slow = times_on(MACHINE("16.0"));

    (void)state;
    assert_true(slow.stores[0] > fast.stores[0] + 200);
    assert_float_equal(slow.stores[0], slow.stores[1], 1e-9);
    assert_float_equal(slow.load, fast.load, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_are_known_apart),
    };

    return cmocka_run_group_tests_name("known cost", tests, NULL, NULL);
}
