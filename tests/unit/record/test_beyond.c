/* test_beyond.c -- accesses beyond tensors: what lies behind a part in interleaved addresses. */
#include "support/any_topology.h"
#include "support/kernels.h"

struct beyonds {
    kb_beyond found[4];
    size_t n;
};

static void keep_beyond(void *arg, const kb_beyond *beyond)
{
    struct beyonds *b = arg;

    assert_true(b->n < 4);
    b->found[b->n++] = *beyond;
}

/* PE 0 reads its row and some of the row of PE 1, which lies behind it; PE 7 reads 8 bytes of y. */
static void reads_on(tl_ctx *tl, const kb_args *args)
{
    kb_tensor *const *x = args->user;
    uint64_t row = kb_tensor_shard(*x, tl_pe(tl)).address;

    if (tl_pe(tl) == 0)
        tl_load(tl, row, KB_I32, KB_SHAPE(100));
    if (tl_pe(tl) == 7)
        tl_load(tl, row, KB_I32, KB_SHAPE(66));
}

static void other_parts_of_a_tensor_are_not_beyond_it(void **state)
{
    const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};
    const kb_topology *t =
        any_topology("kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"
                     "addressing: {granule: 4096}\n");
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_tensor *x, *y;
    struct beyonds b = {.n = 0};
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_beyond(sim, keep_beyond, &b), KB_BAD_REQUEST); /* not asked for */
    assert_int_equal(kb_sim_check_races(sim, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "x", KB_I32, KB_SHAPE(64, 64), by_rows, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 0, 1, &why), KB_OK);
    assert_int_equal(launch(sim, reads_on, &x, 7, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_tensor_new(sim, "y", KB_I32, KB_SHAPE(64, 64), by_rows, &y, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(y, 0, 1, &why), KB_OK);
    assert_int_equal(launch(sim, reads_on, &x, 8, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_sim_beyond(sim, keep_beyond, &b), KB_OK);
    assert_int_equal(b.n, 1);
    assert_int_equal(b.found[0].access.pe, 7);
    assert_ptr_equal(b.found[0].tensor, x);
    assert_ptr_equal(b.found[0].next, y);
    assert_true(b.found[0].address == kb_tensor_shard(y, 0).address);
    assert_int_equal(b.found[0].nbytes, 8);
    assert_int_equal(b.found[0].count, 1);
    kb_sim_free(sim);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_parts_of_a_tensor_are_not_beyond_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
