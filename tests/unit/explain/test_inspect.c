/* test_inspect.c -- operations looked at through the library. */
#include "support/kernels.h"

enum { N = 16, AT = 64 };

/* y = exp(x + x) on PE 0: ids are a load's, and then each operation's with its stages. */
static void chain(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(2, N / 2));
    tl_tensor *twice = tl_add(tl, x, x);

    (void)args;
    tl_store(tl, SLICE(0) + FILLED + AT, tl_exp(tl, tl_mul(tl, twice, tl_scalar(tl, 0.01))));
}

static const kb_options all = {.inspect = true, .phase2 = true};

/* The last command before `id` of that name, from the end. */
static kb_inspection *find(kb_sim *sim, const char *name)
{
    kb_inspection *in = NULL;
    kb_error why;

    for (uint32_t id = 0; kb_inspect(sim, id, &in, &why) == KB_OK; id++) {
        if (strcmp(kb_inspection_info(in)->op.name, name) == 0)
            return in;
        kb_inspection_free(in);
    }
    fail_msg("no %s: %s", name, why.text);
    return NULL;
}

static void values_come_with_phase2(void **state)
{
    kb_sim *sim = run_kernel(all, chain, NULL, 1, NULL);
    kb_inspection *in = find(sim, "add");
    const kb_op_info *info = kb_inspection_info(in);

    (void)state;
    assert_int_equal(info->n_tensors, 3);
    assert_string_equal(info->tensors[0].role, "in0");
    assert_string_equal(info->tensors[2].role, "out");
    assert_true(info->tensors[2].is_result);
    assert_int_equal(info->tensors[2].shape.rank, 2);
    assert_non_null(info->tensors[0].bytes); /* the host's */
    assert_null(info->tensors[2].bytes);
    assert_int_equal(kb_compute(sim, NULL, NULL), KB_OK);
    info = kb_inspection_info(in);
    for (int i = 0; i < N; i++) {
        assert_float_equal(kb_element(KB_F32, info->tensors[0].bytes, (uint64_t)i), (float)(i + 1),
                           1e-6);
        assert_float_equal(kb_element(KB_F32, info->tensors[2].bytes, (uint64_t)i),
                           2.f * (float)(i + 1), 1e-6);
    }
    kb_inspection_free(in);
    kb_sim_free(sim);
}

static void who_made_it_and_who_reads_it(void **state)
{
    kb_sim *sim = run_kernel(all, chain, NULL, 1, NULL);
    kb_inspection *add = find(sim, "add"), *mul = find(sim, "mul"), *load = find(sim, "dma_read");
    const kb_op_info *info = kb_inspection_info(add);

    (void)state;
    assert_int_equal(info->n_producers, 1);
    assert_string_equal(info->producers[0].name, "dma_read");
    assert_string_equal(info->producers[0].tensor, "x");
    assert_int_equal(info->producers[0].index[0], 0);
    assert_int_equal(info->n_consumers, 1);
    assert_int_equal(info->consumers[0].id, kb_inspection_info(mul)->op.id);
    assert_string_equal(info->kernel, "test");
    assert_non_null(strstr(info->file, "test_inspect.c"));
    assert_string_equal(info->op.component, "sip0.cube0.pe0.pe_math");
    info = kb_inspection_info(load);
    assert_true(info->tensors[0].from_host);
    assert_string_equal(info->tensors[0].tensor, "x");
    assert_int_equal(info->n_producers, 0);
    info = kb_inspection_info(mul);
    assert_true(info->tensors[1].is_scalar);
    assert_float_equal(info->tensors[1].scalar, 0.01, 1e-9);
    kb_inspection_free(add);
    kb_inspection_free(mul);
    kb_inspection_free(load);
    kb_sim_free(sim);
}

/* What the log has let go is not looked at. */
static void after_phase2_the_record_is_there_still(void **state)
{
    kb_sim *sim = run_kernel(all, chain, NULL, 1, NULL);
    kb_inspection *in;

    (void)state;
    assert_int_equal(kb_compute(sim, NULL, NULL), KB_OK);
    in = find(sim, "exp");
    assert_int_equal(kb_inspection_info(in)->n_tensors, 2);
    assert_null(kb_inspection_info(in)->tensors[0].bytes);
    assert_null(kb_inspection_info(in)->tensors[1].bytes);
    kb_inspection_free(in);
    in = find(sim, "dma_write");
    assert_non_null(kb_inspection_info(in)->tensors[0].bytes);
    kb_inspection_free(in);
    kb_sim_free(sim);
}

static void an_inspection_keeps_what_it_saw(void **state)
{
    kb_sim *sim = run_kernel(all, chain, NULL, 1, NULL);
    kb_inspection *in = find(sim, "mul"), *last;
    kb_error why;

    (void)state;
    assert_int_equal(kb_inspect(sim, KB_LAST_OP, &last, &why), KB_OK);
    assert_string_equal(kb_inspection_info(last)->op.name, "dma_write");
    assert_int_equal(kb_compute(sim, NULL, NULL), KB_OK);
    assert_int_equal(kb_compute(sim, NULL, NULL), KB_OK);
    assert_float_equal(kb_element(KB_F32, kb_inspection_info(in)->tensors[2].bytes, 4), 0.1, 1e-6);
    assert_float_equal(kb_element(KB_F32, kb_inspection_info(last)->tensors[0].bytes, 4), exp(0.1),
                       1e-6);
    kb_inspection_free(in);
    kb_inspection_free(last);
    kb_sim_free(sim);
}

static void what_cannot_be_looked_at(void **state)
{
    kb_sim *sim = run_kernel(all, chain, NULL, 1, NULL);
    kb_inspection *in;
    kb_error why;

    (void)state;
    assert_int_equal(kb_inspect(sim, 1000, &in, &why), KB_BAD_REQUEST);
    assert_null(in);
    assert_non_null(strstr(why.text, "no operation has id 1000: ids are 0.."));
    kb_sim_free(sim);
    sim = run_kernel((kb_options){.phase2 = true}, chain, NULL, 1, NULL);
    assert_int_equal(kb_inspect(sim, 0, &in, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "needs option inspect"));
    kb_sim_free(sim);
    sim = run_kernel((kb_options){.inspect = true, .oplog = true}, chain, NULL, 1, NULL);
    assert_int_equal(kb_inspect(sim, KB_LAST_OP, &in, &why), KB_OK);
    kb_inspection_free(in);
    kb_sim_free(sim);
}

/* Without Phase 2 there are places, and no bytes; an epilogue's tensors are among them. */
static void adds_a_row(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(4, 4));

    (void)args;
    tl_composite(tl, .a = x, .b = x, .out = SLICE(0) + FILLED, .epilogue = {{TL_ADD, x, NULL}});
    tl_neg(tl, x);
}

static void without_phase2_there_are_places(void **state)
{
    kb_sim *sim =
        run_kernel((kb_options){.inspect = true, .oplog = true}, adds_a_row, NULL, 1, NULL);
    kb_inspection *in;
    const kb_op_info *info;
    kb_error why;

    (void)state;
    assert_int_equal(kb_inspect(sim, 1, &in, &why), KB_OK);
    info = kb_inspection_info(in);
    assert_int_equal(info->n_tensors, 4);
    assert_string_equal(info->tensors[2].role, "epilogue0.0");
    for (size_t i = 0; i < info->n_tensors; i++)
        assert_null(info->tensors[i].bytes);
    kb_inspection_free(in);
    in = find(sim, "neg");
    assert_int_equal(kb_inspection_info(in)->n_tensors, 2);
    kb_inspection_free(in);
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_with_phase2),
        cmocka_unit_test(who_made_it_and_who_reads_it),
        cmocka_unit_test(after_phase2_the_record_is_there_still),
        cmocka_unit_test(an_inspection_keeps_what_it_saw),
        cmocka_unit_test(what_cannot_be_looked_at),
        cmocka_unit_test(without_phase2_there_are_places),
    };

    return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
