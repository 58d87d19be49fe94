/*
 * test_exec_memory.c -- Phase 2 without memory, and how soon it gives memory back.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/phase2.h"
#include "support/failing.h"

/* A bit of everything: products of one part and of several, pieces, copies that are aligned. */
static void some_graph(struct phase2 *p)
{
    struct op_tensor a, b, c, odd;

    phase2_begin(p);
    a = phase2_ready(p, KB_F16, ops_dims(2, 40, 40, 0), 1);
    b = phase2_gemm(p, a, a);
    c = phase2_halves(p, a, b);
    phase2_math(p, TL_ADD, phase2_gemm(p, c, b), c);
    odd = phase2_ready(p, KB_U8, ops_dims(1, 40 * 40 * 2 + 1, 0, 0), 0);
    odd.view.offset = 1;
    odd.shape = ops_dims(2, 40, 40, 0);
    odd.dtype = KB_F16;
    memset(odd.view.v->bytes, 0x30, odd.view.v->nbytes);
    phase2_gemm(p, odd, a);
    a = phase2_ready(p, KB_F32, ops_dims(2, 250, 300, 0), 1);
    b = phase2_ready(p, KB_F32, ops_dims(2, 300, 300, 0), 2);
    phase2_gemm(p, a, b);
}

/* After a failure another call computes the rest. */
static void the_nth_allocation_fails(void **state)
{
    static struct phase2 whole, p;
    kb_status status = KB_NO_MEMORY;
    kb_error why;

    (void)state;
    some_graph(&whole);
    assert_int_equal(
        exec_run(whole.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, NULL),
        KB_OK);
    for (uint64_t n = 0; status != KB_OK; n++) {
        int64_t before = owned;

        some_graph(&p);
        blocks_left = n;
        status =
            exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = true}, &why);
        blocks_left = UINT64_MAX;
        assert_true(status == KB_OK || status == KB_NO_MEMORY);
        assert_int_equal(
            exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, NULL),
            KB_OK);
        for (uint32_t i = 0; i < p.n; i++)
            assert_memory_equal(version_bytes(p.results[i].view.v),
                                version_bytes(whole.results[i].view.v),
                                p.results[i].view.v->nbytes);
        phase2_end(&p);
        assert_true(owned == before);
    }
    phase2_end(&whole);
    assert_true(owned == 0);
}

/* -- how soon ------------------------------------------------------------------------------- */

/* A chain of products whose results have no other references. */
static void chain(struct phase2 *p, uint32_t n)
{
    struct op_tensor x, y, kept;

    phase2_begin(p);
    x = y = phase2_ready(p, KB_F32, ops_dims(2, 40, 40, 0), 1);
    kept = phase2_use(x);
    for (uint32_t i = 0; i < n; i++) {
        struct op_tensor next = phase2_gemm(p, y, kept);

        if (i > 0) { /* the log alone has it now */
            version_drop(y.view.v);
            p->results[p->n - 2] = phase2_use(kept);
        }
        y = next;
    }
    version_drop(kept.view.v);
}

/* A chain of 200 results never has more than a few of them at once. */
static void intermediate_results_are_given_back(void **state)
{
    static struct phase2 p;
    int64_t before;

    (void)state;
    chain(&p, 200);
    before = owned;
    most_owned = owned;
    assert_int_equal(
        exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, NULL),
        KB_OK);
    assert_true(most_owned - before < 40);
    assert_true(owned < before - 150); /* the versions, too */
    phase2_end(&p);
    assert_true(owned == 0);
}

/* Products with parts of one tensor, 4 MB each when packed, and with all of them again. */
static void parts_of_one(struct phase2 *p, uint32_t parts)
{
    struct op_tensor a, all;

    phase2_begin(p);
    a = phase2_ready(p, KB_F32, ops_dims(2, 2, 1024, 0), 1);
    all = phase2_ready(p, KB_F32, ops_dims(1, 1024 * 1024 + parts, 0, 0), 2);
    all.shape = ops_dims(2, 1024, 1024, 0);
    for (uint32_t i = 0; i < 2 * parts; i++) {
        all.view.offset = 4 * (i % parts);
        phase2_gemm(p, a, all);
    }
}

/* 192 MB at most are packed at a time, here 48 parts of 60. */
static void what_is_packed_is_bounded(void **state)
{
    static struct phase2 p;
    int64_t before;

    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        parts_of_one(&p, 60);
        before = owned;
        most_owned = owned;
        assert_int_equal(exec_run(p.log, NULL, &(kb_compute_options){.threads = threads}, NULL),
                         KB_OK);
        assert_true(most_owned - before < 120 + 60); /* a result each, and the packed ones */
        for (uint32_t i = 2; i < 62; i++)
            assert_memory_equal(p.results[i].view.v->bytes, p.results[i + 60].view.v->bytes, 8192);
        phase2_end(&p);
    }
}

static void nothing_stays_packed(void **state)
{
    static struct phase2 p;

    (void)state;
    some_graph(&p);
    assert_int_equal(
        exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, NULL),
        KB_OK);
    for (uint32_t i = 0; i < p.n; i++)
        assert_null(p.results[i].view.v->packed);
    phase2_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_allocation_fails),
        cmocka_unit_test(intermediate_results_are_given_back),
        cmocka_unit_test(what_is_packed_is_bounded),
        cmocka_unit_test(nothing_stays_packed),
    };

    return cmocka_run_group_tests_name("exec_memory", tests, NULL, NULL);
}
