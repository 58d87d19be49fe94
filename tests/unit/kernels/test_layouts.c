/* test_layouts.c -- products of matrices that lie in every way, as composites with epilogues. */
#include "support/kernels.h"

/* Two tiles down, two across and two along k, the last of each cut. docs/kernels.md */
enum { M = 40, K = 72, N = 48, WAYS = 32, OUT_BYTES = M * N * 4 };

static uint64_t out_of(uint32_t way)
{
    return SLICE(0) + FILLED + way * (uint64_t)OUT_BYTES;
}

/* Bit by bit of `way`: a transposed, b transposed, a by columns, b by columns, the result so. */
static void multiplies(tl_ctx *tl, const kb_args *args)
{
    uint32_t way = *(const uint32_t *)args->user;
    tl_dot_options o = {.transpose_a = way & 1,
                        .transpose_b = way >> 1 & 1,
                        .layout_a = way & 4 ? TL_COL_MAJOR : TL_ROW_MAJOR,
                        .layout_b = way & 8 ? TL_COL_MAJOR : TL_ROW_MAJOR,
                        .layout_out = way & 16 ? TL_COL_MAJOR : TL_ROW_MAJOR};
    tl_tensor *a = tl_ref(tl, SLICE(1), KB_F32, way & 1 ? KB_SHAPE(K, M) : KB_SHAPE(M, K));
    tl_tensor *b = tl_ref(tl, SLICE(2), KB_F32, way & 2 ? KB_SHAPE(N, K) : KB_SHAPE(K, N));
    tl_tensor *row = tl_load(tl, SLICE(3), KB_F32, KB_SHAPE(1, N));
    tl_tensor *column = tl_load(tl, SLICE(3), KB_F32, KB_SHAPE(M, 1));

    tl_composite(tl, .a = a, .b = b, .out = out_of(way), .dot = o,
                 .epilogue = {{TL_ADD, row, NULL}, {TL_MUL, column, NULL}});
}

/* Of an operand of `rows` by `columns`, the element that a tile begins with. */
static uint64_t place(bool transposed, bool by_columns, uint64_t rows, uint64_t columns,
                      uint64_t row, uint64_t column)
{
    uint64_t n[2] = {transposed ? columns : rows, transposed ? rows : columns};
    uint64_t at[2] = {transposed ? column : row, transposed ? row : column};

    return by_columns ? at[1] * n[0] + at[0] : at[0] * n[1] + at[1];
}

static void assert_logged(const char *log, const char *key, uint64_t address)
{
    char text[64];

    snprintf(text, sizeof text, "\"%s\":%" PRIu64 ",", key, address);
    if (!strstr(log, text))
        fail_msg("no tile with %s", text);
}

static void assert_tiles(const char *log, uint32_t way)
{
    for (uint64_t m = 0; m < M; m += 32)
        for (uint64_t k = 0; k < K; k += 64)
            assert_logged(log, "src_addr", SLICE(1) + 4 * place(way & 1, way & 4, M, K, m, k));
    for (uint64_t k = 0; k < K; k += 64)
        for (uint64_t n = 0; n < N; n += 32)
            assert_logged(log, "src_addr", SLICE(2) + 4 * place(way & 2, way & 8, K, N, k, n));
    for (uint64_t m = 0; m < M; m += 32)
        for (uint64_t n = 0; n < N; n += 32)
            assert_logged(log, "dst_addr", out_of(way) + 4 * place(false, way & 16, M, N, m, n));
}

static void every_way_to_lie(void **state)
{
    kb_options options = {.phase2 = true, .oplog = true};
    kb_error why = {""};

    (void)state;
    for (uint32_t way = 0; way < WAYS; way++) {
        kb_sim *sim = run_kernel(options, multiplies, &way, 1, NULL);
        char *log = log_of(sim);

        assert_tiles(log, way);
        free(log);
        if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
            fail_msg("way %u: %s", way, why.text);
        kb_sim_free(sim);
    }
}

/* Integers: what a product of i8 is, is what it is summed in. */
static void multiplies_integers(tl_ctx *tl, const kb_args *args)
{
    static const kb_dtype outs[] = {KB_I8, KB_I16, KB_I32, KB_I64};
    tl_tensor *a = tl_load(tl, SLICE(1), KB_I8, KB_SHAPE(M, K));
    tl_tensor *b = tl_load(tl, SLICE(2), KB_I8, KB_SHAPE(K, N));

    (void)args;
    for (uint32_t i = 0; i < LENGTH(outs); i++)
        tl_composite(tl, .a = a, .b = b, .out = out_of(2 * i), .dot.dtype_out = outs[i],
                     .epilogue = {{TL_MUL, tl_scalar(tl, 3), NULL},
                                  {TL_ADD, tl_cast(tl, tl_load(tl, SLICE(3), KB_U8, KB_SHAPE(N)),
                                                   outs[i])}});
    a = tl_load(tl, SLICE(1), KB_U16, KB_SHAPE(M, K));
    b = tl_load(tl, SLICE(2), KB_U16, KB_SHAPE(K, N));
    tl_composite(tl, .a = a, .b = b, .out = out_of(9), .dot.dtype_out = KB_U16,
                 .epilogue = {{TL_MAXIMUM, tl_scalar(tl, 3), NULL}});
}

/* Elementwise ones, whose result may be bool, and of a single number. */
static void compares(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(M, N));
    tl_tensor *sum = tl_sum(tl, x, TL_ALL_AXES, false);

    (void)args;
    tl_composite(tl, .op = TL_LT, .a = x, .b = tl_scalar(tl, 100), .out = out_of(0));
    tl_composite(tl, .op = TL_NEG, .a = sum, .out = out_of(1));
    tl_composite(tl, .op = TL_SUB, .a = tl_scalar(tl, 1), .b = x, .out = out_of(2));
    tl_composite(tl, .op = TL_WHERE, .a = tl_ge(tl, x, tl_scalar(tl, 7)), .b = x,
                 .c = tl_scalar(tl, 0.5), .out = out_of(3));
}

/* Places seen in other shapes; sums whose powers are infinite. */
static void reshapes(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_ref(tl, SLICE(1), KB_F32, KB_SHAPE(M * N));
    tl_tensor *room = tl_reshape(tl, tl_alloc(tl, KB_F32, KB_SHAPE(8)), KB_SHAPE(2, 4));
    tl_tensor *y = tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(M, M));

    (void)args;
    tl_composite(tl, .op = TL_NEG, .a = tl_reshape(tl, x, KB_SHAPE(M, N)), .out = out_of(0));
    tl_free(tl, room);
    tl_composite(tl, .a = y, .b = y, .out = out_of(1), .epilogue = {{TL_EXP, NULL, NULL}});
    tl_composite(
        tl, .a = y, .b = y, .out = out_of(2),
        .epilogue = {{TL_SUB, tl_scalar(tl, INFINITY), NULL}, {TL_MUL, tl_scalar(tl, 0), NULL}});
}

static void computes(kb_kernel kernel)
{
    kb_sim *sim = run_kernel((kb_options){.phase2 = true}, kernel, NULL, 1, NULL);
    kb_error why = {""};

    if (kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

static void integers_are_summed_in_what_they_become(void **state)
{
    (void)state;
    computes(multiplies_integers);
}

static void composites_of_places_and_infinities(void **state)
{
    (void)state;
    computes(reshapes);
}

/* 3e38 + 3e38 - 3e38: infinite in f32, and not in the reference. */
static void adds_up(tl_ctx *tl, const kb_args *args)
{
    uint64_t x = kb_tensor_shard(args->tensors[0], 0).address;
    tl_tensor *a = tl_load(tl, x, KB_F32, KB_SHAPE(1, 3));
    tl_tensor *b = tl_load(tl, x + 12, KB_F32, KB_SHAPE(3, 1));

    tl_composite(tl, .a = a, .b = b, .out = out_of(0));
}

static void a_wrong_composite_is_named(void **state)
{
    static const float values[] = {3e38f, 3e38f, -3e38f, 1, 1, 1};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.phase2 = true});
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_launch_request r = {.name = "test", .kernel = adds_up, .pes = (uint32_t[]){0}, .n_pes = 1};
    kb_error why = {""};
    kb_tensor *x;

    (void)state;
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(6), copies, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_write(x, values, &why), KB_OK);
    r.args.tensors = &x;
    r.args.n_tensors = 1;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why),
                     KB_DIFFERENT);
    assert_non_null(strstr(why.text, "sip0.cube0.pe0.pe_scheduler"));
    kb_sim_free(sim);
}

static void composites_of_math(void **state)
{
    (void)state;
    computes(compares);
}

static void count_race(void *arg, const kb_race *race)
{
    *(uint64_t *)arg += race->count;
}

/* PE 1 stores what PE 0's composite reads for its epilogue, and where it writes. */
static void stores_beside(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0)
        multiplies(tl, args);
    else
        tl_store(tl, out_of(0), tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(4)));
}

static void a_composite_races(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    uint32_t way = 0;
    uint64_t n = 0;
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_check_races(sim, &why), KB_OK);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, stores_beside, &way, 2, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_sim_races(sim, count_race, &n), KB_OK);
    assert_true(n > 0);
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_lie),
        cmocka_unit_test(integers_are_summed_in_what_they_become),
        cmocka_unit_test(composites_of_math),
        cmocka_unit_test(composites_of_places_and_infinities),
        cmocka_unit_test(a_wrong_composite_is_named),
        cmocka_unit_test(a_composite_races),
    };

    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
