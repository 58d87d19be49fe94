/* test_kept.c -- Phase 2 in steps: long runs keep what lives, compute what is asked for, and give
 * the same bytes. */
#include <sys/resource.h>
#include "support/talks.h"

static const uint32_t one[] = {0};

enum { ROUNDS = 120000, WIDE = 4096 };

/* Sums of 1, and as many products that nothing asks for. */
static void many(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *sum = tl_full(tl, KB_F32, KB_SHAPE(4), 0), *next, *dead;

    (void)args;
    for (int i = 0; i < ROUNDS; i++) {
        next = tl_add(tl, sum, tl_scalar(tl, 1));
        dead = tl_mul(tl, sum, next);
        tl_free(tl, dead);
        tl_free(tl, sum);
        sum = next;
    }
    tl_store(tl, SLICE(0), sum);
}

/* Counts what is left for kb_compute(). */
static void count(void *arg, uint64_t done, uint64_t total)
{
    (void)done;
    uint64_t *most = arg;

    *most = total > *most ? total : *most;
}

static uint64_t left_after(kb_kernel kernel, kb_options options, double *value)
{
    kb_sim *sim = new_sim(&cube8_topology, options);
    uint64_t left = 0;
    kb_compute_options counted = {.progress = count, .progress_arg = &left, .verify_ops = true};
    const void *bytes;
    kb_tensor *x;
    kb_error why = {""};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    assert_int_equal(kb_tensor_new(sim, "y", KB_F32, KB_SHAPE(4), copies, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 0, 0, &why), KB_OK);
    launch_talk(sim, kernel, NULL, one, 1);
    run_launched(sim, 0);
    if (kb_compute(sim, &counted, &why) != KB_OK)
        fail_msg("%s", why.text);
    assert_int_equal(kb_tensor_part(x, 0, &bytes, &why), KB_OK);
    *value = *(const float *)bytes;
    kb_sim_free(sim);
    return left;
}

/* 240001 operations, of which half are dead. --inspect keeps all. */
static void what_is_needed_is_computed_on_the_way(void **state)
{
    double value = 0;

    (void)state;
    assert_true(left_after(many, (kb_options){.phase2 = true}, &value) < 2 * ROUNDS - 65536);
    assert_true(value == ROUNDS);
    assert_true(left_after(many, (kb_options){.phase2 = true, .engine = KB_HOP}, &value) <
                2 * ROUNDS - 65536);
    assert_true(value == ROUNDS);
    assert_true(left_after(many, (kb_options){.phase2 = true, .inspect = true}, &value) ==
                2 * ROUNDS + 1);
    assert_true(value == ROUNDS);
}

/* Each of 140000 has 16 KiB, 2 GB together, and no more than two are needed at a time. */
static void wide(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(WIDE), 1);
    double *got = (double *)(uintptr_t)args->user;

    for (int i = 0; i < 140000; i++)
        tl_free(tl, tl_neg(tl, x));
    *got = tl_value(tl, x, 3);
}

static void the_dead_take_no_memory(void **state)
{
    double got = 0;
    struct rusage use;
    kb_sim *sim =
        new_sim(&cube8_topology, (kb_options){.phase2 = true, .values = true, .oplog = true});
    kb_error why = {""};

    (void)state;
    launch_talk(sim, wide, &got, one, 1);
    run_launched(sim, 0);
    assert_int_equal(kb_compute(sim, NULL, &why), KB_OK);
    assert_true(got == 1);
    kb_sim_free(sim);
    getrusage(RUSAGE_SELF, &use);
    assert_true(use.ru_maxrss < 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_is_computed_on_the_way),
        cmocka_unit_test(the_dead_take_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
