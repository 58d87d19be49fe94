/* test_update.c -- a part of a tensor that is replaced: times by hand, what handles see, both
 * engines, the log, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, a
 * store of n bytes to the own slice ends 2.085 + n / 256 ns after its issue.
 */
#include "support/races.h"
#include "support/talks.h"

#define CUBE8(links)                                                                               \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links "}\n"
#define OUT (SLICE(0) + (UINT64_C(1) << 20))

static const uint32_t one[] = {0}, two[] = {0, 1};

#define ASSERT_TAKES(kernel, ns)                                                                   \
    assert_talk_takes((const char *const[]){CUBE8("ideal"), CUBE8("fifo")}, kernel, FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

static void rows_replaced(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(64, 64), 1);
    tl_tensor *y = tl_full(tl, KB_F16, KB_SHAPE(16, 64), 2);

    mark(tl, args, 0);
    tl_update(tl, x, 0, 48, y);
    mark(tl, args, 1);
}

/* The store reads x until it is done at 261.085, and y is fetched then. */
static void behind_a_store(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(128, 128), 1);
    tl_tensor *y = tl_full(tl, KB_F32, KB_SHAPE(16, 128), 2);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_store(tl, OUT, tl_slice(tl, x, 0, 0, 128));
    tl_update(tl, x, 0, 0, y);
    tl_free(tl, x);
    tl_wait_all(tl);
    mark(tl, args, 1);
}

/* A reader called behind it does not hold it up: FETCH 6..22, STORE ..38, then FETCH of x. */
static void before_a_reader(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(128, 128), 1);
    tl_tensor *y = tl_full(tl, KB_F32, KB_SHAPE(16, 128), 2);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_update(tl, x, 0, 0, y);
    tl_wait(tl, tl_neg(tl, x));
    mark(tl, args, 1);
}

/* Two on one tensor: the second waits for the first, and for the store of what that made. */
static void one_behind_the_other(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(128, 128), 1);
    tl_tensor *y = tl_full(tl, KB_F32, KB_SHAPE(16, 128), 2);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_update(tl, x, 0, 0, y);
    tl_store(tl, OUT, x);
    tl_update(tl, x, 0, 16, y);
    tl_wait(tl, x);
    mark(tl, args, 1);
}

static void only_the_part_is_moved(void **state)
{
    (void)state;
    ASSERT_TAKES(rows_replaced, 11);            /* 3 + 4 + 4 */
    ASSERT_TAKES(behind_a_store, 261.085 + 32); /* 3 + 2.085 + 256, then FETCH and STORE */
    ASSERT_TAKES(before_a_reader, 35 + 128 + 256 + 128);
    ASSERT_TAKES(one_behind_the_other, 35 + 258.085 + 32);
}

/* -- values --------------------------------------------------------------------------------- */

static double sum_of(tl_ctx *tl, tl_tensor *x)
{
    return tl_value(tl, tl_sum(tl, x, TL_ALL_AXES, false), 0);
}

/* Views of what is going to be written over, which is there: the update waits for y. */
static void seen_where_it_was_there(tl_ctx *tl, double *got)
{
    tl_tensor *zeros = tl_neg(tl, tl_full(tl, KB_F32, KB_SHAPE(512, 8), 0)); /* takes long */
    tl_tensor *y = tl_add(tl, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(1, 8)), /* 1, 2, ... 8 */
                          tl_slice(tl, zeros, 0, 0, 1));
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1), *flat, *part, *rows, *later;

    tl_update(tl, x, 0, 2, y);
    flat = tl_reshape(tl, x, KB_SHAPE(32));
    part = tl_slice(tl, x, 1, 6, 2);
    rows = tl_reshape(tl, tl_slice(tl, flat, 0, 8, 16), KB_SHAPE(2, 8));
    tl_update(tl, x, 1, 0, tl_full(tl, KB_F32, KB_SHAPE(4, 1), 100));
    later = tl_permute(tl, x, ((const int[]){1, 0}));
    *got++ = sum_of(tl, flat);  /* 24 + 36 */
    *got++ = sum_of(tl, part);  /* 6 + 7 + 8 */
    *got++ = sum_of(tl, rows);  /* 8 + 36 */
    *got++ = sum_of(tl, later); /* 60 - 4 + 400 */
    *got++ = sum_of(tl, x);
    tl_wait_all(tl);
}

static void seen(tl_ctx *tl, const kb_args *args, bool overlaps)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *x, *y, *before, *part, *flat, *doubled, *place, *own;

    tl_async(tl, overlaps);
    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(4, 8)); /* 1, 2, ... 32 */
    y = tl_full(tl, KB_F32, KB_SHAPE(4, 2), 100);
    before = tl_reshape(tl, x, KB_SHAPE(32));
    part = tl_slice(tl, x, 1, 3, 2);
    doubled = tl_add(tl, x, x);
    if (tl_update(tl, x, 1, 3, y) != x)
        tl_fail(tl, "another tensor");
    tl_store(tl, OUT, x);
    flat = tl_reshape(tl, x, KB_SHAPE(32));
    tl_update(tl, x, 0, 1, tl_full(tl, KB_F32, KB_SHAPE(1, 8), 0));
    *got++ = sum_of(tl, before);  /* 528 */
    *got++ = sum_of(tl, part);    /* 4 5 12 13 20 21 28 29 */
    *got++ = sum_of(tl, doubled); /* 1056 */
    *got++ = sum_of(tl, flat);    /* 528 - 132 + 800 */
    *got++ = sum_of(tl, x);       /* and without its row 1: 9 10 11 100 100 14 15 16 */
    *got++ = tl_value(tl, x, 8 * 2 + 4);
    place = tl_alloc(tl, KB_I16, KB_SHAPE(8));
    place = tl_full(tl, KB_I16, KB_SHAPE(8), 7);
    tl_update(tl, place, 0, 6, tl_slice(tl, tl_arange(tl, KB_I16, 4, 0, 1), 0, 1, 2));
    *got++ = sum_of(tl, place); /* 6 * 7 + 1 + 2 */
    own = tl_cast(tl, tl_arange(tl, KB_F32, 4, 1, 1), KB_F32);
    tl_update(tl, own, 0, 0, own);
    *got++ = sum_of(tl, own);
    tl_wait_all(tl);
    *got++ = tl_value(tl, tl_load(tl, OUT, KB_F32, KB_SHAPE(32)), 4);
    seen_where_it_was_there(tl, got);
}

static void seen_at_once(tl_ctx *tl, const kb_args *args)
{
    seen(tl, args, false);
}

static void seen_in_flight(tl_ctx *tl, const kb_args *args)
{
    seen(tl, args, true);
}

static void handles_see_what_they_should(void **state)
{
    static const double want[] = {528, 132, 1056, 1196, 921, 100, 45,
                                  10,  100, 60,   21,   44,  456, 456};
    static const kb_kernel kernels[] = {seen_at_once, seen_in_flight};

    (void)state;
    for (size_t k = 0; k < 2 * LENGTH(kernels); k++) {
        double got[LENGTH(want)] = {0};
        kb_sim *sim = new_sim(
            &cube8_topology,
            (kb_options){.values = true, .phase2 = true, .engine = k < 2 ? KB_FUSED : KB_HOP});
        kb_error why;

        launch_talk(sim, kernels[k % 2], got, one, 1);
        run_launched(sim, 0);
        for (size_t i = 0; i < LENGTH(want); i++)
            if (got[i] != want[i])
                fail_msg("value %zu is %g, not %g", i, got[i], want[i]);
        if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
            fail_msg("%s", why.text);
        kb_sim_free(sim);
    }
}

static void another_looks(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *place, *x, *view;

    if (tl_pe(tl) == 0) {
        place = tl_alloc(tl, KB_F32, KB_SHAPE(2));
        x = tl_full(tl, KB_F32, KB_SHAPE(4), 1);
        view = tl_reshape(tl, x, KB_SHAPE(2, 2));
        tl_update(tl, x, 0, 2, tl_full(tl, KB_F32, KB_SHAPE(2), 5));
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_barrier(tl, ((tl_group){.n = 2}));
        got[1] = sum_of(tl, view);
        tl_update(tl, place, 0, 1, tl_full(tl, KB_F32, KB_SHAPE(1), 40));
        got[2] = sum_of(tl, place);
    } else {
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_store(tl, TCM(0), tl_full(tl, KB_F32, KB_SHAPE(2), 3));
        got[0] = sum_of(tl, tl_load(tl, TCM(0) + 64, KB_F32, KB_SHAPE(4)));
        tl_barrier(tl, ((tl_group){.n = 2}));
    }
}

static void what_other_pes_see_and_write(void **state)
{
    double got[3] = {0};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});

    (void)state;
    launch_talk(sim, another_looks, got, two, 2);
    run_launched(sim, 0);
    kb_sim_free(sim);
    assert_true(got[0] == 12 && got[1] == 4 && got[2] == 43);
}

/* By another shape of it: what x held is of before, and does not come back to the TCM later. */
static void another_looks_behind_a_shape(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *x, *shaped;

    if (tl_pe(tl) == 0) {
        x = tl_full(tl, KB_F32, KB_SHAPE(4), 1);
        shaped = tl_reshape(tl, x, KB_SHAPE(2, 2));
        tl_update(tl, shaped, 0, 1, tl_full(tl, KB_F32, KB_SHAPE(1, 2), 5));
        tl_barrier(tl, ((tl_group){.n = 2}));
        tl_barrier(tl, ((tl_group){.n = 2}));
        got[1] = sum_of(tl, x);
        got[2] = sum_of(tl, shaped);
    } else {
        tl_barrier(tl, ((tl_group){.n = 2}));
        got[0] = sum_of(tl, tl_load(tl, TCM(0), KB_F32, KB_SHAPE(4)));
        tl_barrier(tl, ((tl_group){.n = 2}));
    }
}

static void what_is_updated_by_a_shape_is_seen(void **state)
{
    double got[3] = {0};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});

    (void)state;
    launch_talk(sim, another_looks_behind_a_shape, got, two, 2);
    run_launched(sim, 0);
    kb_sim_free(sim);
    if (got[0] != 12 || got[1] != 4 || got[2] != 12)
        fail_msg("%g, %g and %g", got[0], got[1], got[2]);
}

/* -- what is told --------------------------------------------------------------------------- */

/* The value takes the place of the update among commands, and is none: its tensor comes back, so
 * that there is room for more than 16 of 64 KiB. */
static void values_behind(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(16, 16), 1),
              *y = tl_full(tl, KB_F32, KB_SHAPE(16), 2);

    for (int i = 0; i < 20; i++) {
        tl_tensor *z = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(FILLED / 4));

        tl_update(tl, x, 0, 0, tl_reshape(tl, y, KB_SHAPE(1, 16)));
        mark_value(tl, args, 0, tl_value(tl, z, 2));
        tl_free(tl, z);
    }
}

static void a_value_behind_an_update_is_none(void **state)
{
    const kb_topology *topo = any_topology("kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: "
                                           "2}}\ncube: {pe: {pe_tcm: {size_mb: 1}}}\n");
    struct marks m;

    (void)state;
    free(talk(topo, values_behind, &m, one, 1));
    assert_true(m.value[0][0] == 3);
    any_topology_free(topo);
}

/*
 * PE 1 stores rows 0 and 1 of x, [4,4], which PE 0 then updates in row 3 or column 3: what PE 1 has
 * stored stays, and all else of the place is as PE 0 has it.
 */
static void beside_what_others_store(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    const tl_group both = {.n = 2};

    if (tl_pe(tl) == 0) {
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 4), 1);

        tl_barrier(tl, both);
        tl_barrier(tl, both);
        tl_update(tl, x, 0, 3, tl_full(tl, KB_F32, KB_SHAPE(1, 4), 10));
        tl_update(tl, x, 1, 3, tl_full(tl, KB_F32, KB_SHAPE(4, 1), 1000));
        got[0] = sum_of(tl, x); /* what the handle has seen: 9 + 30 + 4000 */
        tl_barrier(tl, both);
    } else {
        tl_barrier(tl, both);
        tl_store(tl, TCM(0), tl_full(tl, KB_F32, KB_SHAPE(2, 4), 100));
        tl_barrier(tl, both);
        tl_barrier(tl, both);
        got[1] = sum_of(tl, tl_load(tl, TCM(0), KB_F32, KB_SHAPE(4, 4))); /* 600 + 3 + 30 + 4000 */
    }
}

static void what_others_have_stored_stays(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double got[2] = {0};
        kb_sim *sim =
            new_sim(&cube8_topology, (kb_options){.values = true, .engine = i ? KB_HOP : KB_FUSED});

        launch_talk(sim, beside_what_others_store, got, two, 2);
        run_launched(sim, 0);
        assert_true(got[0] == 4039 && got[1] == 4633);
        kb_sim_free(sim);
    }
}

/* PE 1 loads column `*user` of x, [4,4], while PE 0 updates column 2. */
static void beside_a_load(tl_ctx *tl, const kb_args *args)
{
    const uint64_t *column = args->user;
    const int64_t strides[] = {16, 4};
    tl_tensor *x = NULL;

    if (tl_pe(tl) == 0)
        x = tl_full(tl, KB_F32, KB_SHAPE(4, 4), 1);
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 0)
        tl_update(tl, x, 1, 2, tl_full(tl, KB_F32, KB_SHAPE(4, 1), 2));
    else
        tl_load_strided(tl, TCM(0) + 4 * *column, KB_F32, KB_SHAPE(4, 1), strides);
}

static void a_race_is_of_the_part_alone(void **state)
{
    (void)state;
    for (uint64_t column = 0; column < 4; column++) {
        struct races *r = races_in(beside_a_load, &column, 2, false, KB_FUSED);

        assert_int_equal(r->n, column == 2);
        if (r->n)
            assert_true(r->race[0].nbytes == 4 && r->race[0].address == TCM(0) + 8);
        free(r);
    }
}

/* Ids: full 0, STORE; full 2, STORE; update 4, FETCH, STORE. */
static void the_record_is_of_memory(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal"));
    struct marks m;
    char *log = talk(topo, rows_replaced, &m, one, 1);

    (void)state;
    if (!strstr(log, ".pe_fetch_store\",\"op_kind\":\"memory\",\"op_name\":\"update\""))
        fail_msg("%s", log);
    assert_non_null(
        strstr(log, "\"op\":\"update\",\"input_addrs\":[137438953472,137438961664,null]"));
    assert_non_null(strstr(log, "\"axis\":0"));
    assert_non_null(strstr(log, "\"dependency_ids\":[0,2]"));
    assert_true(llround(1e6 * (logged(log, 4, "t_end") - logged(log, 4, "t_start"))) == FS(8));
    assert_true(logged(log, 5, "nbytes") == 2048 && logged(log, 6, "nbytes") == 2048);
    free(log);
    any_topology_free(topo);
}

/* -- mistakes ------------------------------------------------------------------------------- */

#define WRONG(name, call)                                                                          \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1);                                     \
        tl_tensor *y = tl_full(tl, KB_F32, KB_SHAPE(2, 8), 1);                                     \
                                                                                                   \
        (void)args, (void)x, (void)y;                                                              \
        call;                                                                                      \
    }

WRONG(through_a_view, tl_update(tl, tl_slice(tl, x, 0, 1, 2), 0, 0, y))
WRONG(through_an_expansion, tl_update(tl, tl_expand(tl, y, KB_SHAPE(3, 2, 8)), 1, 0, y))
WRONG(of_another_type, tl_update(tl, x, 0, 0, tl_cast(tl, y, KB_F16)))
WRONG(of_another_shape, tl_update(tl, x, 1, 0, y))
WRONG(of_fewer_axes, tl_update(tl, x, 0, 0, tl_full(tl, KB_F32, KB_SHAPE(8), 1)))
WRONG(beyond_the_end, tl_update(tl, x, 0, 3, y))
WRONG(before_the_first, tl_update(tl, x, 0, -1, y))
WRONG(more_than_there_is, tl_update(tl, y, 0, 0, x))
WRONG(no_axis, tl_update(tl, x, 2, 0, y))
WRONG(of_a_number, tl_update(tl, x, 0, 0, tl_scalar(tl, 1)))
WRONG(elsewhere, tl_update(tl, tl_ref(tl, SLICE(0), KB_F32, KB_SHAPE(4, 8)), 0, 0, y))
WRONG(never_written, tl_update(tl, tl_alloc(tl, KB_F32, KB_SHAPE(4, 8)), 0, 0, y))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {through_a_view, "tl_update at "},
        {through_a_view,
         ": x is a view: the tensor that it is a part of would not see what is written"},
        {through_an_expansion, ": x is a view: "},
        {of_another_type, ": operands of f32 and f16"},
        {of_another_shape, ": [2, 8] does not fit into [4, 8] along axis 1"},
        {of_fewer_axes, ": [8] does not fit into [4, 8] along axis 0"},
        {beyond_the_end, ": elements 3 to 4 are not in axis 0 of [4, 8]"},
        {before_the_first, ": elements -1 to 0 are not in axis 0 of [4, 8]"},
        {more_than_there_is, ": elements 0 to 3 are not in axis 0 of [2, 8]"},
        {no_axis, ": axis 2 is none of shape [4, 8]"},
        {of_a_number, ": update needs tensors"},
        {elsewhere, ": an operand lies at address 0, not in the TCM: load it first"},
        {never_written, " were never written"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_part_is_moved),
        cmocka_unit_test(handles_see_what_they_should),
        cmocka_unit_test(what_other_pes_see_and_write),
        cmocka_unit_test(what_others_have_stored_stays),
        cmocka_unit_test(a_race_is_of_the_part_alone),
        cmocka_unit_test(what_is_updated_by_a_shape_is_seen),
        cmocka_unit_test(a_value_behind_an_update_is_none),
        cmocka_unit_test(the_record_is_of_memory),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
