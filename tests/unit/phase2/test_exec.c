/* test_exec.c -- graphs of operations: order, pieces, threads, and operations that are wrong. */
#include "support/phase2.h"
#include "phase2/reference.h"
#include "engine/state.h"

/* -- order ---------------------------------------------------------------------------------- */

static void run(struct phase2 *p, unsigned threads)
{
    kb_error why = {""};

    if (exec_run(p->log, &cube8_topology,
                 &(kb_compute_options){.threads = threads, .verify_ops = true}, &why) != KB_OK)
        fail_msg("%s", why.text);
}

/* ((x + x) + x) + ..., 40 times. */
static void a_chain(void **state)
{
    struct phase2 p;
    struct op_tensor x, y;

    (void)state;
    phase2_begin(&p);
    x = y = phase2_ready(&p, KB_F64, ops_dims(1, 9, 0, 0), 1);
    for (int i = 0; i < 40; i++)
        y = phase2_math(&p, TL_ADD, y, x);
    run(&p, 2);
    for (uint64_t i = 0; i < 9; i++)
        assert_true(fabs(ops_get(&y, i) - 41 * ops_get(&x, i)) < 1e-12);
    phase2_end(&p);
}

/* Both ways from one result to another: (x + x) * (-(x + x)). */
static void a_diamond(void **state)
{
    struct phase2 p;
    struct op_tensor x, top, left, bottom;

    (void)state;
    phase2_begin(&p);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 100, 0, 0), 2);
    top = phase2_math(&p, TL_ADD, x, x);
    left = phase2_math(&p, TL_NEG, top, top);
    bottom = phase2_math(&p, TL_MUL, top, left);
    run(&p, 4);
    for (uint64_t i = 0; i < 100; i++)
        assert_true((float)ops_get(&bottom, i) ==
                    -4 * (float)ops_get(&x, i) * (float)ops_get(&x, i));
    phase2_end(&p);
}

static void pieces_of_two_results(void **state)
{
    struct phase2 p;
    struct op_tensor x, a, b, both, negated;

    (void)state;
    phase2_begin(&p);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 8, 0, 0), 3);
    a = phase2_math(&p, TL_ADD, x, x);
    b = phase2_math(&p, TL_NEG, x, x);
    both = phase2_halves(&p, a, b);
    negated = phase2_math(&p, TL_NEG, both, both);
    run(&p, 2);
    for (uint64_t i = 0; i < 8; i++)
        assert_true(ops_get(&negated, i) == (i < 4 ? -2 * ops_get(&x, i + 4) : ops_get(&x, i - 4)));
    phase2_end(&p);
}

/* Bytes written at an odd address and read as f64. */
static void operands_that_are_not_aligned(void **state)
{
    struct phase2 p;
    struct op_tensor bytes, x, y;
    double value[4] = {1, 2, 3, 4};

    (void)state;
    phase2_begin(&p);
    bytes = phase2_ready(&p, KB_U8, ops_dims(1, 40, 0, 0), 1);
    memcpy(bytes.view.v->bytes + 3, value, sizeof value);
    x = (struct op_tensor){
        .view = {bytes.view.v, 3}, .shape = ops_dims(2, 2, 2, 0), .dtype = KB_F64};
    y = phase2_gemm(&p, x, x);
    run(&p, 1);
    assert_true(ops_get(&y, 0) == 7 && ops_get(&y, 3) == 22);
    phase2_end(&p);
}

static void nothing_to_compute(void **state)
{
    struct phase2 p;

    (void)state;
    phase2_begin(&p);
    run(&p, 2);
    phase2_end(&p);
}

/* Computed operations are not computed again; later ones are. */
static void a_second_run(void **state)
{
    struct phase2 p;
    struct op_tensor x, y;

    (void)state;
    phase2_begin(&p);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 8, 0, 0), 3);
    y = phase2_math(&p, TL_NEG, x, x);
    run(&p, 1);
    y = phase2_math(&p, TL_NEG, y, y);
    run(&p, 1);
    run(&p, 1);
    assert_true(ops_get(&y, 5) == ops_get(&x, 5));
    phase2_end(&p);
}

/* -- threads -------------------------------------------------------------------------------- */

static struct op_tensor pick(const struct phase2 *p, uint64_t *seed)
{
    return p->results[ops_random(seed) % p->n];
}

/* Values stay in (-1, 1), or near: tanh of sums, products scaled down. */
static void random_op(struct phase2 *p, uint64_t *seed)
{
    struct op_tensor x = pick(p, seed), y = pick(p, seed), sum;

    switch (ops_random(seed) % 4) {
    case 0:
        phase2_math(p, TL_TANH, phase2_math(p, TL_ADD, x, y), y);
        break;
    case 1:
        phase2_halves(p, x, y);
        break;
    default:
        sum = phase2_gemm(p, x, y);
        phase2_math(p, TL_TANH, sum, sum);
    }
}

static void random_graph(struct phase2 *p, uint64_t seed)
{
    kb_dtype d = seed % 2 ? KB_F16 : KB_F32;

    phase2_begin(p);
    for (uint64_t i = 0; i < 4; i++)
        phase2_ready(p, d, ops_dims(2, 40, 40, 0), seed + i);
    while (p->n < 150)
        random_op(p, &seed);
}

static void same_bytes(const struct phase2 *a, const struct phase2 *b)
{
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        assert_true(version_ready(a->results[i].view.v) && version_ready(b->results[i].view.v));
        assert_memory_equal(version_bytes(a->results[i].view.v),
                            version_bytes(b->results[i].view.v), a->results[i].view.v->nbytes);
    }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    static const unsigned threads[] = {2, 4, 0};
    static struct phase2 one, more;

    (void)state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        random_graph(&one, seed);
        assert_int_equal(
            exec_run(one.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, NULL),
            KB_OK);
        for (size_t i = 0; i < 3; i++) {
            random_graph(&more, seed);
            assert_int_equal(
                exec_run(more.log, NULL,
                         &(kb_compute_options){.threads = threads[i], .verify_ops = false}, NULL),
                KB_OK);
            same_bytes(&one, &more);
            phase2_end(&more);
        }
        phase2_end(&one);
    }
}

/* True when asked for the last of `arg` times. */
static bool stop_after(void *arg)
{
    int *left = arg;

    return --*left == 0;
}

static void what_was_stopped_goes_on_where_it_was(void **state)
{
    static struct phase2 whole, parts;
    int asked = 5;
    kb_compute_options stopped = {.threads = 2, .stop = stop_after, .stop_arg = &asked};
    kb_compute_options rest = {.threads = 2};

    (void)state;
    random_graph(&whole, 3);
    random_graph(&parts, 3);
    assert_int_equal(exec_run(whole.log, NULL, &rest, NULL), KB_OK);
    assert_int_equal(exec_run(parts.log, NULL, &stopped, NULL), KB_STOPPED);
    assert_int_equal(exec_run(parts.log, NULL, &rest, NULL), KB_OK);
    same_bytes(&whole, &parts);
    phase2_end(&whole);
    phase2_end(&parts);
}

/* Several parts each, and the second needs the first. */
static void large_products(struct phase2 *p)
{
    struct op_tensor a, b;

    phase2_begin(p);
    a = phase2_ready(p, KB_F32, ops_dims(2, 450, 300, 0), 1);
    b = phase2_ready(p, KB_F32, ops_dims(2, 300, 300, 0), 2);
    phase2_gemm(p, phase2_gemm(p, a, b), b);
}

static void threads_share_a_product(void **state)
{
    static struct phase2 one, more;

    (void)state;
    large_products(&one);
    large_products(&more);
    assert_int_equal(
        exec_run(one.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, NULL),
        KB_OK);
    assert_int_equal(
        exec_run(more.log, NULL, &(kb_compute_options){.threads = 3, .verify_ops = false}, NULL),
        KB_OK);
    same_bytes(&one, &more);
    phase2_end(&one);
    phase2_end(&more);
}

/* A product alone, and the same among many that are batched. */
static void a_batch_gives_the_same_bytes(void **state)
{
    static struct phase2 alone, many;
    struct op_tensor x, y, z = {.address = 0};

    (void)state;
    phase2_begin(&alone);
    x = phase2_ready(&alone, KB_F16, ops_dims(2, 33, 50, 0), 1);
    y = phase2_gemm(&alone, x, phase2_ready(&alone, KB_F16, ops_dims(2, 50, 70, 0), 2));
    run(&alone, 1);
    phase2_begin(&many);
    for (uint64_t i = 0; i < 90; i++) {
        x = phase2_ready(&many, KB_F16, ops_dims(2, 33, 50, 0), i == 40 ? 1 : 100 + i);
        x = phase2_gemm(&many, x, phase2_ready(&many, KB_F16, ops_dims(2, 50, 70, 0), 2));
        z = i == 40 ? x : z;
    }
    run(&many, 2);
    assert_memory_equal(y.view.v->bytes, z.view.v->bytes, y.view.v->nbytes);
    phase2_end(&alone);
    phase2_end(&many);
}

/* -- what is wrong -------------------------------------------------------------------------- */

/* An operand is the result of an operation that was not logged. */
static void a_result_that_nothing_computes(void **state)
{
    struct phase2 p;
    struct op_tensor x;
    kb_error why;

    (void)state;
    phase2_begin(&p);
    x = p.results[p.n++] = ops_result(KB_F32, ops_dims(1, 4, 0, 0), 3);
    phase2_math(&p, TL_NEG, x, x);
    assert_int_equal(
        exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, &why),
        KB_INTERNAL);
    assert_string_equal(why.text, "op 13: an operand that nothing computes");
    phase2_end(&p);
}

static void pieces_that_nothing_computes(void **state)
{
    struct phase2 p;
    struct op_tensor x, y;
    kb_error why;

    (void)state;
    phase2_begin(&p);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 4, 0, 0), 1);
    y = p.results[p.n++] = ops_result(KB_F32, ops_dims(1, 4, 0, 0), 3);
    x = phase2_halves(&p, x, y);
    phase2_math(&p, TL_NEG, x, x);
    assert_int_equal(
        exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = false}, &why),
        KB_INTERNAL);
    phase2_end(&p);
}

static void reference_sees_a_wrong_element(void **state)
{
    struct reference_difference d;
    struct op op = {.kind = OP_MATH, .math = TL_ADD, .n_in = 2};

    (void)state;
    op.in[0] = ops_random_tensor(KB_F32, ops_dims(2, 3, 4, 0), 1);
    op.in[1] = ops_random_tensor(KB_F32, ops_dims(1, 4, 0, 0), 2);
    op.out = ops_tensor(KB_F32, ops_dims(2, 3, 4, 0));
    for (uint64_t i = 0; i < 12; i++)
        kb_element_set(KB_F32, op.out.view.v->bytes, i,
                       ops_get(&op.in[0], i) + ops_get(&op.in[1], i % 4));
    assert_true(reference_same(&op, op.out.view.v->bytes, &d));
    kb_element_set(KB_F32, op.out.view.v->bytes, 7, 0.5);
    assert_false(reference_same(&op, op.out.view.v->bytes, &d));
    assert_int_equal(d.index, 7);
    assert_string_equal(d.got, "0.5");
    ops_drop(&op);
}

/* 3e38 + 3e38 - 3e38 is infinite in f32 and not in f64: a wrong result that needs no planting. */
static void verify_ops_names_what_differs(void **state)
{
    struct phase2 p;
    struct op_tensor x, big;
    struct op op = {.kind = OP_MATH, .math = TL_SUM, .n_in = 1, .all_axes = true};
    kb_error why;

    (void)state;
    phase2_begin(&p);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 3, 0, 0), 1);
    big = phase2_ready(&p, KB_F32, ops_dims(1, 3, 0, 0), 1);
    kb_element_set(KB_F32, big.view.v->bytes, 0, 3e38);
    kb_element_set(KB_F32, big.view.v->bytes, 1, 3e38);
    kb_element_set(KB_F32, big.view.v->bytes, 2, -3e38);
    phase2_math(&p, TL_NEG, x, x);
    op.in[0] = phase2_use(big);
    phase2_add(&p, &op, KB_F32, ops_dims(0, 0, 0, 0));
    assert_int_equal(exec_run(p.log, &cube8_topology,
                              &(kb_compute_options){.threads = 2, .verify_ops = true}, &why),
                     KB_DIFFERENT);
    assert_non_null(strstr(why.text, "sum, op 19 of sip0.cube0.pe3.pe_math: element 0 is "));
    assert_non_null(strstr(why.text, "by plain loops 3"));
    assert_int_equal(
        exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = true}, &why),
        KB_DIFFERENT);
    assert_non_null(strstr(why.text, "sum, op 19 of pe 3, pe_math: element 0 is "));
    phase2_end(&p);
}

/* The sum of 3e38, 3e38 and -3e38, wrong as above. */
static void wrong_sum(struct phase2 *p, int axis)
{
    struct op_tensor big = phase2_ready(p, KB_F32, ops_dims(2, 2, 3, 0), 1);
    struct op op = {.kind = OP_MATH, .math = TL_SUM, .n_in = 1, .has_axis = true};

    for (uint64_t i = 0; i < 3; i++)
        kb_element_set(KB_F32, big.view.v->bytes, 3 + i, i < 2 ? 3e38 : -3e38);
    op.axis = (int8_t)axis;
    op.in[0] = phase2_use(big);
    phase2_add(p, &op, KB_F32, ops_dims(1, 2, 0, 0));
}

static void of_a_vector_the_element_is_enough(void **state)
{
    struct phase2 p;
    kb_error why;

    (void)state;
    phase2_begin(&p);
    wrong_sum(&p, 1);
    assert_int_equal(
        exec_run(p.log, NULL, &(kb_compute_options){.threads = 1, .verify_ops = true}, &why),
        KB_DIFFERENT);
    assert_non_null(strstr(why.text, "pe_math: element 1 is "));
    phase2_end(&p);
}

static bool stops_the_second_time(void *arg)
{
    return ++*(int *)arg > 1;
}

/* What was found before the stop is told. */
static void a_stop_after_a_difference(void **state)
{
    struct phase2 p;
    struct op_tensor x;
    int times = 0;
    kb_error why;

    (void)state;
    phase2_begin(&p);
    wrong_sum(&p, 1);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 5, 0, 0), 1);
    phase2_math(&p, TL_NEG, phase2_math(&p, TL_NEG, x, x), x);
    assert_int_equal(exec_run(p.log, NULL,
                              &(kb_compute_options){.threads = 1,
                                                    .verify_ops = true,
                                                    .stop = stops_the_second_time,
                                                    .stop_arg = &times},
                              &why),
                     KB_DIFFERENT);
    phase2_end(&p);
}

/* Small products that differ in one thing alone are not taken together. */
static void products_of_every_kind(void **state)
{
    static struct phase2 p;

    (void)state;
    phase2_begin(&p);
    for (unsigned way = 0; way < 64; way++) {
        kb_dtype d = way & 32 ? KB_F16 : KB_F32;
        struct op op = {.kind = OP_GEMM, .n_in = 2, .dtype_acc = KB_F32, .m = 5, .k = 5, .n = 5};

        op.transpose_a = way & 1;
        op.transpose_b = way >> 1 & 1;
        op.col_a = way >> 2 & 1;
        op.col_b = way >> 3 & 1;
        op.col_out = way >> 4 & 1;
        for (unsigned i = 0; i < 2; i++)
            op.in[i] = phase2_use(phase2_ready(&p, d, ops_dims(2, 5, 5, 0), 3 * way + i));
        phase2_add(&p, &op, way % 3 ? d : KB_F64, ops_dims(2, 5, 5, 0));
    }
    run(&p, 2);
    phase2_end(&p);
}

/* Of two that are wrong the second is met first, in a batch with a product that is right. */
static void verify_ops_names_the_first_by_id(void **state)
{
    struct phase2 p;
    struct op_tensor row, column, big;
    struct op op = {.kind = OP_MATH, .math = TL_SUM, .n_in = 1, .all_axes = true};
    char expected[64];
    kb_error why;

    (void)state;
    phase2_begin(&p);
    row = phase2_ready(&p, KB_F32, ops_dims(2, 1, 3, 0), 1);
    column = phase2_ready(&p, KB_F32, ops_dims(2, 3, 1, 0), 2);
    big = phase2_ready(&p, KB_F32, ops_dims(2, 1, 3, 0), 3);
    for (uint64_t i = 0; i < 3; i++) {
        kb_element_set(KB_F32, big.view.v->bytes, i, i < 2 ? 3e38 : -3e38);
        kb_element_set(KB_F32, column.view.v->bytes, i, 1);
    }
    phase2_gemm(&p, row, column);
    op.in[0] = phase2_use(big);
    phase2_add(&p, &op, KB_F32, ops_dims(0, 0, 0, 0));
    snprintf(expected, sizeof expected, "sum, op %u of ", op.id);
    phase2_gemm(&p, big, column);
    for (unsigned threads = 1; threads <= 4; threads++) {
        assert_int_equal(exec_run(p.log, &cube8_topology,
                                  &(kb_compute_options){.threads = threads, .verify_ops = true},
                                  &why),
                         KB_DIFFERENT);
        if (!strstr(why.text, expected))
            fail_msg("%u threads: %s", threads, why.text);
    }
    phase2_end(&p);
}

struct told {
    uint64_t last, times;
    bool wrong;
};

static void note_progress(void *arg, uint64_t done, uint64_t total)
{
    struct told *told = arg;

    told->wrong = told->wrong || total != 3 || done < told->last;
    told->last = done;
    told->times++;
}

static void progress_is_told(void **state)
{
    struct phase2 p;
    struct op_tensor x;
    struct told told = {0};

    (void)state;
    phase2_begin(&p);
    x = phase2_ready(&p, KB_F32, ops_dims(1, 5, 0, 0), 1);
    phase2_math(&p, TL_NEG, phase2_math(&p, TL_NEG, phase2_math(&p, TL_NEG, x, x), x), x);
    assert_int_equal(exec_run(p.log, NULL,
                              &(kb_compute_options){
                                  .threads = 1, .progress = note_progress, .progress_arg = &told},
                              NULL),
                     KB_OK);
    assert_int_equal(told.times, 3);
    assert_int_equal(told.last, 2);
    assert_false(told.wrong);
    phase2_end(&p);
}

static void kb_compute_needs_phase2(void **state)
{
    kb_sim *sim;
    kb_error why;

    (void)state;
    assert_int_equal(kb_sim_new(&cube8_topology, NULL, &sim), KB_OK);
    assert_int_equal(kb_compute(sim, NULL, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "phase2"));
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain),
        cmocka_unit_test(a_diamond),
        cmocka_unit_test(pieces_of_two_results),
        cmocka_unit_test(operands_that_are_not_aligned),
        cmocka_unit_test(nothing_to_compute),
        cmocka_unit_test(a_second_run),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(what_was_stopped_goes_on_where_it_was),
        cmocka_unit_test(threads_share_a_product),
        cmocka_unit_test(a_batch_gives_the_same_bytes),
        cmocka_unit_test(a_result_that_nothing_computes),
        cmocka_unit_test(pieces_that_nothing_computes),
        cmocka_unit_test(reference_sees_a_wrong_element),
        cmocka_unit_test(verify_ops_names_what_differs),
        cmocka_unit_test(of_a_vector_the_element_is_enough),
        cmocka_unit_test(a_stop_after_a_difference),
        cmocka_unit_test(products_of_every_kind),
        cmocka_unit_test(verify_ops_names_the_first_by_id),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(kb_compute_needs_phase2),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
