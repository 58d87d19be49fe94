/* test_wait_read.c -- tl_wait_read(): when a place in the TCM is no longer read. By hand, cube8: a
 * command is issued 3 ns after its call, the read port moves 512 bytes in a ns. */
#include "support/races.h"
#include "support/talks.h"

static const uint32_t pe0[] = {0};

/*
 * Two products of [128,128] in f16: FETCHes of 65536 bytes from 3 to 131 and on to 259, products of
 * 512 ns to 643 and 1155. The place is unread when the FETCHes have ended.
 */
static void waits_for_fetches(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1);
    tl_tensor *y = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 128, 128);

    tl_wait_read(tl, x); /* commands that blocked have ended */
    mark(tl, args, 0);
    tl_async(tl, true);
    tl_dot_acc(tl, acc, x, x);
    tl_wait_read(tl, y);
    mark(tl, args, 1);
    tl_wait_read(tl, x);
    mark(tl, args, 2);
    tl_dot_acc(tl, acc, x, y);
    tl_dot_acc(tl, acc, y, y);
    tl_wait_read(tl, tl_slice(tl, x, 0, 0, 1)); /* it lies where x does */
    mark(tl, args, 3);
    tl_free(tl, y); /* gives back room, which others may wait for */
    tl_wait_read(tl, x);
    mark(tl, args, 4);
    tl_wait_all(tl);
    mark(tl, args, 5);
}

static void a_place_is_unread_when_it_was_fetched(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, waits_for_fetches, &m, pe0, 1));
    assert_int_equal(m.fs[0][1] - m.fs[0][0], 3000000);
    assert_int_equal(m.fs[0][2] - m.fs[0][0], 131000000);
    assert_int_equal(m.fs[0][3] - m.fs[0][2], 131000000);
    assert_int_equal(m.fs[0][4] - m.fs[0][3], 0);
    assert_int_equal(m.fs[0][5] - m.fs[0][0], 3000000 + 128000000 + 3 * 512000000);
}

/* A store reads until it has ended: 4096 bytes to the own slice, 18.085 behind its issue. */
static void waits_for_a_store(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(2048), 1);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_store(tl, SLICE(0), x);
    tl_wait_read(tl, x);
    mark(tl, args, 1);
}

static void a_store_reads_until_it_has_ended(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, waits_for_a_store, &m, pe0, 1));
    assert_int_equal(m.fs[0][1] - m.fs[0][0], 21085000);
}

/* -- multicasts that are waited for --------------------------------------------------------------
 */

/* 4096 bytes to the slices of PEs 1 and 2: as long as the same that blocks, and not before. */
static void stores_to_two(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(2048), 1);
    const uint64_t to[] = {SLICE(1), SLICE(2)};
    tl_tensor *place;

    mark(tl, args, 0);
    tl_store_all(tl, to, 2, x);
    mark(tl, args, 1);
    place = tl_store_all_async(tl, to, 2, x);
    mark(tl, args, 2);
    tl_wait(tl, place);
    mark(tl, args, 3);
    if (tl_address(place) != to[0])
        tl_fail(tl, "it lies at another place");
}

static void a_multicast_can_be_waited_for(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, stores_to_two, &m, pe0, 1));
    assert_true(m.fs[0][1] - m.fs[0][0] > 30000000);
    assert_int_equal(m.fs[0][2] - m.fs[0][1], 3000000);
    assert_int_equal(m.fs[0][3] - m.fs[0][1], m.fs[0][1] - m.fs[0][0]);
}

/* -- races --------------------------------------------------------------------------------------
 */

/* PE 1 writes into the TCM of PE 0, twice: behind the second barrier the product may still read. */
static void writes_twice(tl_ctx *tl, const kb_args *args)
{
    const bool *waits = args->user;
    kb_endpoint tcm = {KB_TCM, 0, 0, 0};
    uint64_t there = kb_address(tl_topology(tl), &tcm, 0);
    tl_tensor *x = tl_pe(tl) == 0 ? tl_alloc(tl, KB_F16, KB_SHAPE(16, 16))
                                  : tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 16, 16);

    if (tl_pe(tl) == 1)
        tl_store(tl, there, x);
    tl_barrier(tl, ((tl_group){.n = 2}));
    tl_async(tl, true);
    if (tl_pe(tl) == 0)
        tl_dot_acc(tl, acc, x, x);
    if (tl_pe(tl) == 0 && *waits)
        tl_wait_read(tl, x);
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 1)
        tl_store(tl, there, x);
    tl_wait_all(tl);
}

static size_t races_of_two(bool waits)
{
    struct races *r = races_in(writes_twice, &waits, 2, false, KB_FUSED);
    size_t n = r->n;

    free(r);
    return n;
}

static void what_was_unread_may_be_written(void **state)
{
    (void)state;
    assert_int_equal(races_of_two(true), 0);
    assert_int_equal(races_of_two(false), 1);
}

/* A row is written into x where it lies: that is not waited for, only what reads x is. */
static void reads_what_is_made(tl_ctx *tl, const kb_args *args)
{
    kb_endpoint tcm = {KB_TCM, 0, 0, 0};
    uint64_t there = kb_address(tl_topology(tl), &tcm, 0);
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1);
    tl_tensor *row = tl_full(tl, KB_F16, KB_SHAPE(1, 16), 2);

    (void)args;
    tl_async(tl, true);
    if (tl_pe(tl) == 0) {
        tl_update(tl, x, 0, 0, row);
        tl_wait_read(tl, x);
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 1)
        tl_wait(tl, tl_load(tl, there, KB_F16, KB_SHAPE(16, 16)));
}

static void what_it_makes_may_not_be_read(void **state)
{
    struct races *r = races_in(reads_what_is_made, NULL, 2, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 1);
    free(r);
}

/* -- mistakes ------------------------------------------------------------------------------------
 */

static void waits_for_a_place_elsewhere(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_wait_read(tl, tl_ref(tl, SLICE(0), KB_F16, KB_SHAPE(16)));
}

static void only_the_own_tcm_is_waited_for(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};

    (void)state;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, waits_for_a_place_elsewhere, NULL, 1, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "tl_wait_read at "));
    assert_non_null(strstr(why.text, ": the tensor does not lie in the own TCM"));
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_unread_when_it_was_fetched),
        cmocka_unit_test(a_store_reads_until_it_has_ended),
        cmocka_unit_test(a_multicast_can_be_waited_for),
        cmocka_unit_test(what_was_unread_may_be_written),
        cmocka_unit_test(what_it_makes_may_not_be_read),
        cmocka_unit_test(only_the_own_tcm_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
