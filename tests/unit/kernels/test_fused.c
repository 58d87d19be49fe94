/* test_fused.c -- several operations in one command: times by hand, the bytes of the commands one
 * by one, both engines, the log, mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call, a TCM port moves 512 bytes in a ns, 64
 * lanes; special_cycles 4.
 */
#include "support/talks.h"

#define CUBE8(links)                                                                               \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links "}\n"

static const uint32_t one[] = {0};

#define ASSERT_TAKES(kernel, ns)                                                                   \
    assert_talk_takes((const char *const[]){CUBE8("ideal"), CUBE8("fifo")}, kernel, FS(ns))

/* -- times ---------------------------------------------------------------------------------- */

/* mul, max, sub, exp, sum, cast. */
static void softmaxed(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(128, 128), 1), *p, *max, *sum;

    mark(tl, args, 0);
    tl_fused(tl, .in = {x, tl_scalar(tl, 0.125)},
             .step = {{TL_MUL, TL_IN(0), TL_IN(1)},
                      {TL_MAX, TL_STEP(0), .out = KB_F32},
                      {TL_SUB, TL_STEP(0), TL_STEP(1)},
                      {TL_EXP, TL_STEP(2)},
                      {TL_SUM, TL_STEP(3), .out = KB_F32},
                      {TL_CAST, TL_STEP(3), .out = KB_F16}},
             .result = {&max, &sum, &p});
    mark(tl, args, 1);
}

/* What one block of attention does to its running largest and sum. */
static void online_softmax(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(128, 128), 1);
    tl_tensor *m = tl_full(tl, KB_F32, KB_SHAPE(128, 1), 0);
    tl_tensor *l = tl_full(tl, KB_F32, KB_SHAPE(128, 1), 0), *out[4];

    mark(tl, args, 0);
    tl_fused(tl, .in = {x, m, l, tl_scalar(tl, 0.125)},
             .step = {{TL_MUL, TL_IN(0), TL_IN(3)},
                      {TL_MAX, TL_STEP(0)},
                      {TL_MAXIMUM, TL_STEP(1), TL_IN(1), .out = KB_F32},
                      {TL_SUB, TL_STEP(0), TL_STEP(2)},
                      {TL_EXP, TL_STEP(3), .out = KB_F16},
                      {TL_SUB, TL_IN(1), TL_STEP(2)},
                      {TL_EXP, TL_STEP(5), .out = KB_F32},
                      {TL_SUM, TL_STEP(4)},
                      {TL_MUL, TL_IN(2), TL_STEP(6)},
                      {TL_ADD, TL_STEP(8), TL_STEP(7), .out = KB_F32}},
             .result = {&out[0], &out[1], &out[2], &out[3]});
    mark(tl, args, 1);
}

/* A tensor that is named twice is fetched once. */
static void squared(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(16, 16), 1), *y;

    mark(tl, args, 0);
    tl_fused(tl, .in = {x, x}, .step = {{TL_MUL, TL_IN(0), TL_IN(1), .out = KB_F16}},
             .result = {&y});
    mark(tl, args, 1);
}

static void numbers_alone(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *y;

    mark(tl, args, 0);
    tl_fused(tl, .in = {tl_scalar(tl, 2), tl_scalar(tl, 3)},
             .step = {{TL_MUL, TL_IN(0), TL_IN(1), .out = KB_F32}}, .result = {&y});
    mark(tl, args, 1);
}

static void steps_take_one_fetch_and_one_store(void **state)
{
    (void)state;
    ASSERT_TAKES(softmaxed, 2501);                 /* 3 + 128 + 9 * 256 + (32768 + 1024) / 512 */
    ASSERT_TAKES(online_softmax, 2264);            /* 3 + 130 + 8 * 256 + 2 * 8 + 34304 / 512 */
    ASSERT_TAKES(squared, 3 + 1 + 4 + 1);          /* 512 bytes, 256 elements */
    ASSERT_TAKES(numbers_alone, 3 + 1 + 0.007813); /* nothing is fetched */
}

/* -- values --------------------------------------------------------------------------------- */

enum { BLOCK = 64 * 1024 };

/* The same once by one command, at 0, and once by many, at BLOCK. */
struct pair {
    kb_dtype dtype;
    tl_tensor *x, *y, *row, *by_one[4], *by_many[4];
};

static tl_tensor *as_f32(tl_ctx *tl, tl_tensor *x)
{
    return tl_dtype(x) == KB_F64 ? x : tl_cast(tl, x, KB_F32);
}

static void one_and_many(tl_ctx *tl, struct pair *p)
{
    tl_tensor *x = as_f32(tl, p->x), *y = as_f32(tl, p->y), *row = as_f32(tl, p->row), *t, *e;
    tl_tensor *sum, *less;

    tl_fused(tl, .in = {p->x, p->y, p->row, tl_scalar(tl, 0.3)},
             .step = {{TL_FMA, TL_IN(0), TL_IN(3), TL_IN(2)},
                      {TL_MIN, TL_STEP(0)},
                      {TL_SUB, TL_STEP(1), TL_STEP(0)},
                      {TL_EXP, TL_STEP(2), .out = KB_F16},
                      {TL_MEAN, TL_STEP(3), .out = KB_F64},
                      {TL_DIV, TL_STEP(3), TL_STEP(4)},
                      {TL_LT, TL_STEP(5), TL_IN(1)},
                      {TL_WHERE, TL_STEP(6), TL_STEP(5), TL_IN(0), .out = KB_BF16},
                      {TL_ISNAN, TL_STEP(7)},
                      {TL_ADD, TL_STEP(6), TL_STEP(8), .out = KB_I32}},
             .result = {&p->by_one[0], &p->by_one[1], &p->by_one[2], &p->by_one[3]});
    t = tl_fma(tl, x, tl_scalar(tl, 0.3), row);
    e = tl_exp(tl, tl_sub(tl, tl_min(tl, t, -1, true), t));
    sum = tl_mean(tl, e, -1, true);
    t = tl_div(tl, e, sum);
    less = tl_lt(tl, t, y);
    t = tl_where(tl, less, t, x);
    p->by_many[0] = tl_cast(tl, e, KB_F16);
    p->by_many[1] = tl_cast(tl, sum, KB_F64);
    p->by_many[2] = tl_cast(tl, t, KB_BF16);
    p->by_many[3] = tl_cast(tl, less, KB_I32);
}

static void pairs(tl_ctx *tl, const kb_args *args)
{
    struct pair *p = (struct pair *)(uintptr_t)args->user;

    p->x = tl_cast(tl, tl_random(tl, KB_F32, KB_SHAPE(5, 300), 1, 0), p->dtype);
    p->y = tl_cast(tl, tl_random(tl, KB_F32, KB_SHAPE(5, 1), 2, 0), p->dtype);
    p->row = tl_slice(tl, tl_cast(tl, tl_random(tl, KB_F32, KB_SHAPE(2, 400), 3, 0), p->dtype), 1,
                      50, 300);
    p->row = tl_slice(tl, p->row, 0, 1, 1);
    one_and_many(tl, p);
    for (uint64_t i = 0; i < 4; i++) {
        tl_store(tl, SLICE(1) + i * 2 * BLOCK, p->by_one[i]);
        tl_store(tl, SLICE(1) + (2 * i + 1) * BLOCK, p->by_many[i]);
    }
    for (uint64_t i = 0; i < 4; i++) {
        kb_shape shape = tl_shape(p->by_one[i]);
        int64_t n = shape.dim[0] * shape.dim[1];
        const void *fused, *many;

        if (tl_shape(p->by_many[i]).dim[1] != shape.dim[1] ||
            tl_dtype(p->by_one[i]) != tl_dtype(p->by_many[i]))
            tl_fail(tl, "another tensor");
        fused = tl_values(tl, p->by_one[i]);
        many = tl_values(tl, p->by_many[i]);
        if (memcmp(fused, many, (size_t)n * kb_dtype_bytes(tl_dtype(p->by_one[i]))) != 0)
            tl_fail(tl, "other bytes");
    }
}

/* And by plain loops. */
static void bytes_are_those_of_the_commands_alone(void **state)
{
    static const kb_dtype dtypes[] = {KB_F32, KB_F16, KB_BF16, KB_F64};

    (void)state;
    for (size_t i = 0; i < LENGTH(dtypes); i++)
        for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
            struct pair p = {.dtype = dtypes[i]};
            kb_sim *sim =
                new_sim(&cube8_topology,
                        (kb_options){.values = true, .phase2 = true, .engine = (kb_engine)engine});
            kb_error why;

            launch_talk(sim, pairs, &p, one, 1);
            run_launched(sim, 0);
            if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
                fail_msg("%s", why.text);
            kb_sim_free(sim);
        }
}

static void rounded_on_the_way(tl_ctx *tl, const kb_args *args)
{
    double *got = (double *)(uintptr_t)args->user;
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(2), 2049), *f16, *f32, *n;

    tl_async(tl, true);
    tl_fused(tl, .in = {x, tl_scalar(tl, 5), tl_scalar(tl, 0.5)},
             .step = {{TL_CAST, TL_IN(0), .out = KB_F16},
                      {TL_ADD, TL_STEP(0), TL_IN(2), .out = KB_F32},
                      {TL_SUB, TL_IN(1), TL_IN(2)},
                      {TL_CAST, TL_STEP(2), .out = KB_I32}},
             .result = {&f16, &f32, &n});
    tl_free(tl, x);
    got[0] = tl_value(tl, f32, 1);
    tl_free(tl, f32);
    got[1] = tl_value(tl, f16, 0);
    got[2] = tl_value(tl, n, 0);
}

static void a_cast_on_the_way_rounds(void **state)
{
    double got[3] = {0};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});

    (void)state;
    launch_talk(sim, rounded_on_the_way, got, one, 1);
    run_launched(sim, 0);
    kb_sim_free(sim);
    assert_true(got[0] == 2048.5 && got[1] == 2048 && got[2] == 4);
}

/* -- what is told --------------------------------------------------------------------------- */

static void assert_has(const char *log, const char *text)
{
    if (!strstr(log, text))
        fail_msg("%s\nis not in\n%s", text, log);
}

/* Ids: full 0 and its STORE; fused 2, FETCH, STORE. */
static void the_record_has_steps_and_outputs(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal"));
    struct marks m;
    char *log = talk(topo, softmaxed, &m, one, 1);

    (void)state;
    assert_has(log, "\"op_kind\":\"math\",\"op_name\":\"fused\"");
    assert_has(log, "\"op\":\"fused\",\"input_addrs\":[137438953472,null]");
    assert_has(log, "\"steps\":[{\"op\":\"mul\",\"operands\":[\"in0\",\"in1\"]},"
                    "{\"op\":\"max\",\"operands\":[\"step0\"]},");
    assert_has(log, "\"outputs\":[{\"step\":1,\"dst_addr\":137439019008,\"shape_out\":[128,1],"
                    "\"dtype\":\"f32\"},{\"step\":4,\"dst_addr\":137439019520,");
    assert_has(log, "{\"step\":5,\"dst_addr\":137439020032,\"shape_out\":[128,128],\"dtype\":"
                    "\"f16\"}],\"dst_space\":\"tcm\",\"input_snapshots\":[0,null]}");
    assert_true(logged(log, 3, "nbytes") == 65536);
    assert_true(logged(log, 4, "nbytes") == 32768 + 1024);
    free(log);
    any_topology_free(topo);
}

static void elements_of_all_steps_are_counted(void **state)
{
    struct marks m = {0};
    kb_launch_result r = run_quick(online_softmax, &m, 1);

    (void)state;
    assert_int_equal(r.math_elements, 16384 + 2 * 128 + 5 * 16384 + 5 * 128);
}

/* -- mistakes ------------------------------------------------------------------------------- */

#define WRONG(name, ...)                                                                           \
    static void name(tl_ctx *tl, const kb_args *args)                                              \
    {                                                                                              \
        tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(4, 8), 1), *y;                                 \
        tl_tensor *i = tl_full(tl, KB_I32, KB_SHAPE(3), 1);                                        \
        tl_tensor *odd = tl_full(tl, KB_F32, KB_SHAPE(3), 1);                                      \
                                                                                                   \
        (void)args, (void)x, (void)i, (void)odd, (void)y;                                          \
        tl_fused(tl, __VA_ARGS__);                                                                 \
    }

#define NEG                                                                                        \
    {                                                                                              \
        TL_NEG, TL_IN(0), .out = KB_F32                                                            \
    }

WRONG(no_step, .in = {x}, .result = {&y})
WRONG(no_result, .in = {x}, .step = {{TL_NEG, TL_IN(0)}})
WRONG(nowhere_to_go, .in = {x}, .step = {NEG})
WRONG(two_for_one, .in = {x}, .step = {NEG, NEG}, .result = {&y})
WRONG(five, .in = {x}, .step = {NEG, NEG, NEG, NEG, NEG}, .result = {&y, &y, &y, &y})
WRONG(one_for_two, .in = {x}, .step = {NEG}, .result = {&y, &y})
WRONG(of_integers, .in = {i}, .step = {NEG}, .result = {&y})
WRONG(a_gap, .in = {x, NULL, x}, .step = {NEG}, .result = {&y})
WRONG(no_input, .in = {x}, .step = {{TL_ADD, TL_IN(0), TL_IN(1), .out = KB_F32}}, .result = {&y})
WRONG(itself, .in = {x}, .step = {{TL_ADD, TL_IN(0), TL_STEP(0), .out = KB_F32}}, .result = {&y})
WRONG(one_operand, .in = {x}, .step = {{TL_ADD, TL_IN(0), .out = KB_F32}}, .result = {&y})
WRONG(two_operands, .in = {x}, .step = {{TL_NEG, TL_IN(0), TL_IN(0), .out = KB_F32}},
      .result = {&y})
WRONG(by_bits, .in = {x}, .step = {{TL_AND, TL_IN(0), TL_IN(0), .out = KB_F32}}, .result = {&y})
WRONG(a_product, .in = {x}, .step = {{TL_ARGMAX, TL_IN(0), .out = KB_F32}}, .result = {&y})
WRONG(unfit, .in = {x, odd}, .step = {{TL_ADD, TL_IN(0), TL_IN(1), .out = KB_F32}}, .result = {&y})
WRONG(of_a_number, .in = {tl_scalar(tl, 1)}, .step = {{TL_SUM, TL_IN(0), .out = KB_F32}},
      .result = {&y})
WRONG(no_type, .in = {x}, .step = {{TL_CAST, TL_IN(0)}, NEG}, .result = {&y})
WRONG(odd_type, .in = {x}, .step = {{TL_NEG, TL_IN(0), .out = (kb_dtype)77}}, .result = {&y})

static void mistakes_are_named(void **state)
{
    static const struct mistake cases[] = {
        {no_step, "tl_fused at "},
        {no_step, ": there is no step"},
        {no_result, ": no step has a result that is stored"},
        {nowhere_to_go, ": 1 steps have a result that is stored, and there is room for 0"},
        {two_for_one, ": 2 steps have a result that is stored, and there is room for 1"},
        {five, ": 5 steps have a result that is stored, and there is room for 4"},
        {one_for_two, ": 1 steps have a result that is stored, and there is room for 2"},
        {of_integers, ": fused takes floats, not i32"},
        {a_gap, ": input 1 is NULL, and there are more behind it"},
        {no_input, ": step 0 takes input 1, and there are 1"},
        {itself, ": step 0 takes the result of step 0, which is not before it"},
        {one_operand, ": add of step 0 takes 2 operands"},
        {two_operands, ": neg of step 0 takes 1 operands"},
        {by_bits, ": operation and of step 0 cannot be fused"},
        {a_product, ": operation argmax of step 0 cannot be fused"},
        {unfit, ": the operands of step 0, add, do not fit"},
        {of_a_number, ": the operands of step 0, sum, do not fit"},
        {no_type, ": cast of step 0 has no type: it is that of its `out`"},
        {odd_type, ": 77 is not a dtype"},
    };

    (void)state;
    assert_mistakes(cases, LENGTH(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_take_one_fetch_and_one_store),
        cmocka_unit_test(bytes_are_those_of_the_commands_alone),
        cmocka_unit_test(a_cast_on_the_way_rounds),
        cmocka_unit_test(the_record_has_steps_and_outputs),
        cmocka_unit_test(elements_of_all_steps_are_counted),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
