/* test_persist.c -- tensors that a PE keeps from launch to launch: times, bytes, room, both
 * engines, mistakes. */
#include "support/talks.h"

static const uint32_t one[] = {0}, two[] = {0, 1};

struct seen {
    double value[8];
    int64_t fs[8];
    uint64_t address[8];
};

static struct seen *seen_of(const kb_args *args)
{
    return (struct seen *)(uintptr_t)args->user;
}

/* Keeps twice what lies in the slice, and the load itself. */
static void keeps(tl_ctx *tl, const kb_args *args)
{
    struct seen *s = seen_of(args);
    tl_tensor *gone = tl_full(tl, KB_F32, KB_SHAPE(100), 1), *x, *twice;
    uint64_t mark = tl_mark(tl);

    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(2, 4)); /* 1, 2, ... 8 */
    twice = tl_add(tl, x, x);
    if (tl_persist(tl, "twice", twice) != twice || tl_persisted(tl, "twice") != twice)
        tl_fail(tl, "another tensor");
    tl_persist(tl, "x", x);
    tl_release(tl, mark); /* what has a name stays */
    tl_free(tl, gone);
    s->address[0] = tl_address(x);
    s->address[1] = tl_address(twice);
}

/* Asks for nothing; the room stays taken. */
static void does_else(tl_ctx *tl, const kb_args *args)
{
    seen_of(args)->address[2] = tl_address(tl_full(tl, KB_F32, KB_SHAPE(100), 3));
    seen_of(args)->address[3] = tl_address(tl_full(tl, KB_F32, KB_SHAPE(2000), 3));
}

static void asks(tl_ctx *tl, const kb_args *args)
{
    struct seen *s = seen_of(args);
    tl_tensor *x, *twice, *sum;

    s->fs[0] = now_fs(tl);
    x = tl_persisted(tl, "x");
    twice = tl_persisted(tl, "twice");
    s->fs[1] = now_fs(tl); /* free of time */
    if (!x || !twice || x != tl_persisted(tl, "x") || tl_persisted(tl, "other"))
        tl_fail(tl, "not what was kept");
    s->value[0] = (double)tl_shape(x).dim[1] + 10 * (double)tl_dtype(x);
    s->address[4] = tl_address(x);
    s->address[5] = tl_address(twice);
    s->value[1] = tl_get(tl, x, 7);
    sum = tl_add(tl, x, twice);
    s->value[2] = tl_value(tl, sum, 7);
    tl_update(tl, twice, 0, 1, tl_full(tl, KB_F32, KB_SHAPE(1, 4), 7));
    tl_persist(tl, "x", sum); /* in place of the load, which ends with this launch */
    tl_store(tl, SLICE(0) + FILLED / 2, x);
}

static void gives_back(tl_ctx *tl, const kb_args *args)
{
    struct seen *s = seen_of(args);
    tl_tensor *x = tl_persisted(tl, "x"), *twice = tl_persisted(tl, "twice");

    s->value[3] = tl_value(tl, x, 7);
    s->value[4] = tl_value(tl, twice, 7);
    tl_free(tl, x);
    tl_free(tl, twice);
    s->value[5] = tl_persisted(tl, "x") || tl_persisted(tl, "twice");
}

static void finds_nothing(tl_ctx *tl, const kb_args *args)
{
    struct seen *s = seen_of(args);

    s->value[6] = tl_persisted(tl, "x") || tl_persisted(tl, "twice");
    s->address[6] = tl_address(tl_full(tl, KB_F32, KB_SHAPE(4), 1));
}

static kb_sim *run_launches(const kb_kernel *kernels, size_t n, const uint32_t *pes, size_t n_pes,
                            struct seen *s, kb_engine engine)
{
    kb_sim *sim =
        new_sim(&cube8_topology, (kb_options){.values = true, .phase2 = true, .engine = engine});

    for (size_t i = 0; i < n; i++)
        launch_talk(sim, kernels[i], s, pes, n_pes);
    run_launched(sim, 0);
    return sim;
}

static void what_has_a_name_stays(void **state)
{
    static const kb_kernel kernels[] = {keeps, does_else, asks, gives_back, finds_nothing};

    (void)state;
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        struct seen s = {{0}, {0}, {0}};
        kb_sim *sim = run_launches(kernels, LENGTH(kernels), one, 1, &s, (kb_engine)engine);
        kb_error why;

        if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
            fail_msg("%s", why.text);
        kb_sim_free(sim);
        assert_true(s.value[0] == 4 + 10 * KB_F32 && s.value[1] == 8 && s.value[2] == 24);
        assert_true(s.value[3] == 24 && s.value[4] == 7);
        assert_true(s.value[5] == 0 && s.value[6] == 0);
        assert_int_equal(s.fs[0], s.fs[1]);
        assert_int_equal(s.address[4], s.address[0]);
        assert_int_equal(s.address[5], s.address[1]);
        assert_int_equal(s.address[2], TCM(0));         /* before them */
        assert_true(s.address[3] >= s.address[1] + 32); /* behind them */
        assert_int_equal(s.address[6], TCM(0));         /* all is free again */
    }
}

/* PE 1 reads in the second launch what PE 0 has kept in the first. */
static void first(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_persist(tl, "x", tl_full(tl, KB_F32, KB_SHAPE(4), 6));
}

static void second(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 1)
        seen_of(args)->value[0] = tl_value(tl, tl_load(tl, TCM(0), KB_F32, KB_SHAPE(4)), 3);
    else
        seen_of(args)->value[1] = tl_persisted(tl, "x") != NULL;
    if (tl_pe(tl) == 1 && tl_persisted(tl, "x"))
        tl_fail(tl, "it is another PE's");
}

static void others_see_it_where_it_lies(void **state)
{
    static const kb_kernel kernels[] = {first, second};
    struct seen s = {{0}, {0}, {0}};

    (void)state;
    kb_sim_free(run_launches(kernels, 2, two, 2, &s, KB_FUSED));
    assert_true(s.value[0] == 6 && s.value[1] == 1);
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

WRONG(without_a_name, tl_persist(tl, "", x))
WRONG(asked_without_a_name, tl_persisted(tl, NULL))
WRONG(a_view, tl_persist(tl, "x", tl_slice(tl, x, 0, 0, 2)))
WRONG(room, tl_persist(tl, "x", tl_alloc(tl, KB_F32, KB_SHAPE(4))))
WRONG(a_number, tl_persist(tl, "x", tl_scalar(tl, 1)))
WRONG(in_flight, tl_async(tl, true); tl_persist(tl, "x", tl_neg(tl, x)))
WRONG(not_waited_for, tl_persist(tl, "x", tl_load_async(tl, SLICE(0), KB_F32, KB_SHAPE(4))))
WRONG(one_that_is_not_there, tl_neg(tl, tl_persisted(tl, "w")))

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {without_a_name, "tl_persist at "},
        {without_a_name, ": a tensor is kept under a name, which is not empty"},
        {asked_without_a_name, ": a tensor is kept under a name, which is not empty"},
        {a_view, ": what is kept is a tensor that was loaded or computed, and no view"},
        {room, ": what is kept is a tensor that was loaded or computed, and no view"},
        {a_number, ": what is kept is a tensor that was loaded or computed, and no view"},
        {in_flight, ": the tensor is in flight: wait for it first"},
        {not_waited_for, ": the tensor is in flight: wait for it first"},
        {one_that_is_not_there, "tl_neg at "},
        {one_that_is_not_there, ": a tensor is NULL: tl_persisted() has found no 'w'"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_a_name_stays),
        cmocka_unit_test(others_see_it_where_it_lies),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
