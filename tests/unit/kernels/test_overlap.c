/* test_overlap.c -- tl_async(): times by hand of commands that overlap, room, values, races,
 * mistakes.
 *
 * By hand, cube8: a command is issued 3 ns after its call. 4096 bytes of the own slice are there
 * 18.085 later (wires 0.085, slice 2, 16). A TCM port moves 512 bytes in a ns, mac is [16, 16, 16],
 * 64 lanes, exp takes 4 cycles.
 */
#include "support/races.h"
#include "support/talks.h"

#define CUBE8(links)                                                                               \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\ncontention: {links: " links "}\n"
#define IDEAL CUBE8("ideal")
#define FIFO  CUBE8("fifo")
#define OUT   (SLICE(0) + (UINT64_C(1) << 20))

static const uint32_t one[] = {0}, pair[] = {0, 1};

/* Marks of `kernel` by both engines; false lets commands block. */
static void run_on(const char *yaml, kb_kernel kernel, struct marks *m, size_t n)
{
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    free(talk(topo, kernel, m, n == 1 ? one : pair, n));
    any_topology_free(topo);
}

/* From mark 0 of PE 0 to mark 1 of `pe`, on links of both kinds. */
static void assert_takes(kb_kernel kernel, size_t n, uint32_t pe, double ns)
{
    static const char *const machines[] = {IDEAL, FIFO};
    struct marks m;

    for (size_t i = 0; i < LENGTH(machines); i++) {
        run_on(machines[i], kernel, &m, n);
        assert_int_equal(m.fs[pe][1] - m.fs[0][0], llround(ns * 1e6));
    }
}

/* -- times ---------------------------------------------------------------------------------- */

/* Loads of [32,64] and [64,32], their product, its store. */
static void product(tl_ctx *tl)
{
    tl_tensor *a = tl_load_async(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
    tl_tensor *b = tl_load_async(tl, SLICE(0) + 4096, KB_F16, KB_SHAPE(64, 32));
    tl_tensor *c = tl_dot(tl, a, b);

    tl_store(tl, OUT, c);
}

static void product_in_flight(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    tl_async(tl, true);
    product(tl);
    tl_wait_all(tl);
    mark(tl, args, 1);
}

static void product_waited_for(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a, *b, *c;

    mark(tl, args, 0);
    a = tl_load_async(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
    b = tl_load_async(tl, SLICE(0) + 4096, KB_F16, KB_SHAPE(64, 32));
    tl_wait(tl, a);
    tl_wait(tl, b);
    c = tl_dot(tl, a, b);
    tl_store(tl, OUT, c);
    mark(tl, args, 1);
}

/* Loads 3 to 21.085 and 39.17, FETCH to 55.17, GEMM 71.17, STORE 75.17, the write 10.085 more. */
static void a_product_starts_when_its_operands_are_there(void **state)
{
    (void)state;
    assert_takes(product_in_flight, 1, 0, 85.255);
    assert_takes(product_waited_for, 1, 0, 91.255);
}

/* Ids: loads 0, 1; dot 2, its FETCH 3, STORE 4; store 5. Arrivals are at the starts. */
static void fingerprints_are_those_of_the_contract(void **state)
{
    static const struct {
        const char *yaml;
        kb_kernel kernel;
        uint64_t fingerprint;
    } cases[] = {{IDEAL, product_in_flight, UINT64_C(0x0bfa2ff4bb7e103d)},
                 {FIFO, product_in_flight, UINT64_C(0x39eb73654572518c)},
                 {IDEAL, product_waited_for, UINT64_C(0xfe7fb85c0810b046)},
                 {FIFO, product_waited_for, UINT64_C(0x97cb23986b42a5c7)}};

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const kb_topology *topo = any_topology(cases[i].yaml);
        struct marks m;
        uint64_t print;

        free(talk_once(topo, (kb_options){.fingerprint = true}, cases[i].kernel, &m, one, 1,
                       &print));
        assert_int_equal(m.start_fs, 21256250);
        assert_true(print == cases[i].fingerprint);
        any_topology_free(topo);
    }
}

static void four_products(tl_ctx *tl, const kb_args *args, bool async)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1);

    mark(tl, args, 0);
    tl_async(tl, async);
    for (int i = 0; i < 4; i++) {
        tl_tensor *c = tl_dot(tl, a, a, .dtype_out = KB_F32);

        tl_exp(tl, c);
    }
    tl_wait_all(tl);
    mark(tl, args, 1);
}

static void four_in_flight(tl_ctx *tl, const kb_args *args)
{
    four_products(tl, args, true);
}

static void four_that_block(tl_ctx *tl, const kb_args *args)
{
    four_products(tl, args, false);
}

/* 131 + 512 + 128 = 771; then pe_math has no rest: FETCH 128, 4 * 1024, STORE 128. */
static void engines_work_side_by_side(void **state)
{
    (void)state;
    assert_takes(four_in_flight, 1, 0, 5123);
    assert_takes(four_that_block, 1, 0, 8216);
}

static void message(tl_ctx *tl, const kb_args *args, bool async)
{
    mark(tl, args, 0);
    tl_async(tl, async);
    if (tl_pe(tl) == 0) {
        tl_tensor *x = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));

        tl_send(tl, 1, 0, x);
        return;
    }
    tl_async(tl, false);
    tl_recv(tl, 0, 0, KB_F16, KB_SHAPE(32, 64));
    mark(tl, args, 1);
}

static void message_in_flight(tl_ctx *tl, const kb_args *args)
{
    message(tl, args, true);
}

static void message_waited_for(tl_ctx *tl, const kb_args *args)
{
    message(tl, args, false);
}

/* The send starts at max(6, 21.085); 0.0475 + 32 to its slot, FETCH 8. */
static void a_send_waits_for_its_operand(void **state)
{
    (void)state;
    assert_takes(message_in_flight, 2, 1, 61.1325);
    assert_takes(message_waited_for, 2, 1, 64.1325);
}

/*
 * The first message waits for its load, and the second, which is ready, sets out behind it, as both
 * are of one tag. Another tag overtakes: its write has the one channel from 12 to 44.0475, that of
 * the first until 76.095, of the second until 108.1425. A FETCH takes 8.
 */
static void late_and_ready(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *ready = tl_full(tl, KB_F16, KB_SHAPE(32, 64), 2), *late, *got;

    mark(tl, args, 0);
    if (tl_pe(tl) == 0) {
        tl_async(tl, true);
        late = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
        tl_send(tl, 1, 0, late);
        tl_send(tl, 1, 0, ready);
        tl_send(tl, 1, 1, ready);
        return;
    }
    tl_recv(tl, 0, 1, KB_F16, KB_SHAPE(32, 64));
    mark(tl, args, 1);
    got = tl_recv(tl, 0, 0, KB_F16, KB_SHAPE(32, 64));
    mark(tl, args, 2);
    tl_recv(tl, 0, 0, KB_F16, KB_SHAPE(32, 64));
    mark(tl, args, 3);
    mark_value(tl, args, 4, tl_get(tl, got, 1));
}

static void messages_of_a_tag_keep_the_order_of_their_calls(void **state)
{
    struct marks m;

    (void)state;
    run_on(IDEAL, late_and_ready, &m, 2);
    assert_int_equal(m.fs[1][1] - m.fs[0][0], 52047500);
    assert_int_equal(m.fs[1][2] - m.fs[0][0], 84095000);
    assert_int_equal(m.fs[1][3] - m.fs[0][0], 116142500);
    assert_true(m.value[1][4] == 1.875); /* the upper half of f32 1 as an f16 */
}

/* -- room ----------------------------------------------------------------------------------- */

#define SMALL                                                                                      \
    "kernbench: 1\nname: small\nsip: {cube_mesh: {w: 4, h: 2}}\ncube: {pe: {pe_tcm: {size_mb: "    \
    "1}}}\n"

static void two_halves(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(512, 256), 1), *y;

    mark(tl, args, 0);
    tl_async(tl, true);
    y = tl_neg(tl, x);
    tl_free(tl, x);
    tl_neg(tl, y); /* waits for the room of x, whose FETCH ends at 3 + 1024 */
    mark(tl, args, 1);
    tl_wait_all(tl);
    mark(tl, args, 2);
}

/* FETCH of x 3 to 1027; y to 3075 and 4099; z 5123, 7171, 8195. */
static void an_issue_waits_for_room_that_comes_back(void **state)
{
    struct marks m;

    (void)state;
    run_on(SMALL, two_halves, &m, 1);
    assert_int_equal(m.fs[0][1] - m.fs[0][0], INT64_C(1027000000));
    assert_int_equal(m.fs[0][2] - m.fs[0][0], INT64_C(8195000000));
}

static void alloc_waits(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(512, 256), 1);

    mark(tl, args, 0);
    tl_async(tl, true);
    tl_neg(tl, x);
    tl_free(tl, x);
    tl_alloc(tl, KB_F32, KB_SHAPE(256, 256));
    mark(tl, args, 1);
    tl_full(tl, KB_F16, KB_SHAPE(1), 1);
}

static void tl_alloc_waits_for_room_too(void **state)
{
    struct marks m;

    (void)state;
    run_on(SMALL, alloc_waits, &m, 1);
    assert_int_equal(m.fs[0][1] - m.fs[0][0], INT64_C(1027000000));
}

static void kept_over_a_release(tl_ctx *tl, const kb_args *args)
{
    uint64_t mark0 = tl_mark(tl);
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(4)), *y;

    assert_ptr_equal(tl_keep(tl, x), x);
    y = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(4));
    tl_release(tl, mark0); /* gives y back */
    mark_value(tl, args, 0, tl_get(tl, x, 2));
    mark_value(tl, args, 1, tl_address(tl_alloc(tl, KB_F32, KB_SHAPE(4))) == tl_address(x) + 64);
    (void)y;
    tl_release(tl, mark0); /* and x, once */
    mark_value(tl, args, 2, tl_address(tl_alloc(tl, KB_F32, KB_SHAPE(4))) == TCM(0));
}

static void a_kept_tensor_survives_one_release(void **state)
{
    struct marks m;

    (void)state;
    run_on(IDEAL, kept_over_a_release, &m, 1);
    assert_true(m.value[0][0] == 3);
    assert_true(m.value[0][1] == 1);
    assert_true(m.value[0][2] == 1);
}

/* -- values --------------------------------------------------------------------------------- */

/* A view of a load in flight; its operand given back in flight. */
static void views(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *view, *sum;

    tl_async(tl, true);
    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(8));
    view = tl_reshape(tl, x, KB_SHAPE(2, 4));
    tl_free(tl, x);
    sum = tl_add(tl, view, view);
    tl_wait(tl, view);
    tl_wait(tl, view);
    mark_value(tl, args, 0, tl_get(tl, view, 6));
    tl_store(tl, SLICE(0) + FILLED, sum);
}

static void phase_2_computes_what_was_in_flight(void **state)
{
    const kb_topology *topo = any_topology(IDEAL);
    kb_sim *sim = new_sim(topo, (kb_options){.phase2 = true});
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    struct marks m;
    kb_launch_request r = {
        .name = "views", .kernel = views, .args.user = &m, .pes = one, .n_pes = 1};
    kb_error why = {""};
    kb_tensor *out;
    const void *bytes;

    (void)state;
    memset(&m, 0, sizeof m);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "out", KB_F32, KB_SHAPE(8), copies, &out, &why), KB_OK);
    assert_true(kb_tensor_shard(out, 0).address == SLICE(0) + FILLED);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    assert_true(m.value[0][0] == 7);
    assert_int_equal(kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why), KB_OK);
    assert_int_equal(kb_tensor_part(out, 0, &bytes, &why), KB_OK);
    for (int i = 0; i < 8; i++)
        assert_true(((const float *)bytes)[i] == 2 * (float)(i + 1));
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* PE 1 negates what PE 0 makes and sends later: its command has the lower id. */
static void negates_early(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    if (tl_pe(tl) == 1) {
        tl_async(tl, true);
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(8));
        x = tl_neg(tl, x);
        tl_store(tl, SLICE(0) + FILLED, x);
        return;
    }
    x = tl_full(tl, KB_F32, KB_SHAPE(8), 1);
    x = tl_add(tl, x, x);
    x = tl_add(tl, x, x);
    tl_send(tl, 1, 0, x);
}

static void phase_2_takes_operands_that_are_made_later(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.phase2 = true});
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_error why = {""};
    kb_tensor *out;
    const void *bytes;

    (void)state;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "out", KB_F32, KB_SHAPE(8), copies, &out, &why), KB_OK);
    launch_talk(sim, negates_early, NULL, pair, 2);
    run_launched(sim, 0);
    if (kb_compute(sim, NULL, &why) != KB_OK)
        fail_msg("%s", why.text);
    assert_int_equal(kb_tensor_part(out, 0, &bytes, &why), KB_OK);
    for (int i = 0; i < 8; i++)
        assert_true(((const float *)bytes)[i] == -4);
    kb_sim_free(sim);
}

/* -- breakdown ------------------------------------------------------------------------------ */

struct told {
    int64_t fs[KB_N_CAUSES];
    int64_t call_fs, issue_fs, start_fs;
    uint32_t maker;
};

static void tell_dot(void *arg, const kb_command *c)
{
    struct told *told = arg;

    if (strcmp(c->call, "tl_dot") != 0)
        return;
    for (size_t i = 0; i < c->n_shares; i++)
        told->fs[c->share[i].cause] += c->share[i].sum_fs;
    told->call_fs = c->call_fs;
    told->issue_fs = c->issue_fs;
    told->start_fs = c->start_fs;
    told->maker = c->maker;
}

/* Called at 6, issued at 9, started at 39.17, with the end of the second load. */
static void a_breakdown_tells_the_wait_for_operands(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct told told = {{0}, 0, 0, 0, 0};
    kb_observer observer = {.arg = &told, .finish = tell_dot};
    kb_error why = {""};
    struct marks m;

    (void)state;
    memset(&m, 0, sizeof m);
    assert_int_equal(kb_sim_observe(sim, &observer, &why), KB_OK);
    launch_talk(sim, product_in_flight, &m, one, 1);
    run_launched(sim, 0);
    kb_sim_free(sim);
    assert_int_equal(told.fs[KB_CAUSE_DISPATCH], 3000000);
    assert_int_equal(told.fs[KB_CAUSE_OPERAND_WAIT], 30170000);
    assert_int_equal(told.fs[KB_CAUSE_PORT], 20000000);
    assert_int_equal(told.fs[KB_CAUSE_COMPUTE], 16000000);
    assert_int_equal(told.start_fs - told.call_fs, 33170000);
    assert_int_equal(told.maker, 1);
}

static void keep_step(void *arg, const kb_breakdown_step *step)
{
    FILE *f = arg;

    fprintf(f, "%s %" PRId64 "\n", step->call, step->end_fs - step->begin_fs);
}

/* The path of a kernel as text, to be freed. */
static char *path_once(const char *yaml, kb_kernel kernel, size_t n, kb_engine engine)
{
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine, .no_values = true});
    kb_breakdown *why;
    struct marks m;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    memset(&m, 0, sizeof m);
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    launch_talk(sim, kernel, &m, n == 1 ? one : pair, n);
    run_launched(sim, 0);
    assert_int_equal(kb_breakdown_path(why, keep_step, f), KB_OK);
    fclose(f);
    kb_breakdown_free(why);
    kb_sim_free(sim);
    any_topology_free(topo);
    return text;
}

/* By both engines. */
static char *path_of(const char *yaml, kb_kernel kernel, size_t n)
{
    char *path = path_once(yaml, kernel, n, KB_FUSED), *hop = path_once(yaml, kernel, n, KB_HOP);

    assert_string_equal(hop, path);
    free(hop);
    return path;
}

/* From the end back: the store, the dot, the second load; that has waited for the channel of the
 * first. */
static void the_critical_path_goes_through_makers(void **state)
{
    char *path = path_of(IDEAL, product_in_flight, 1);

    (void)state;
    assert_string_equal(path, "tl_load_async 21085000\n"
                              "tl_load_async 18085000\n"
                              "tl_dot 36000000\n"
                              "tl_store 10085000\n");
    free(path);
    path = path_of(IDEAL, message_in_flight, 2);
    assert_string_equal(path, "tl_load 21085000\n"
                              "tl_send 32047500\n"
                              "tl_recv 8000000\n");
    free(path);
}

static void products_in_turn(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *y = tl_full(tl, KB_F16, KB_SHAPE(64, 32), 1), *x;
    tl_tensor *ready = tl_full(tl, KB_F16, KB_SHAPE(32, 64), 1);
    tl_acc *acc = tl_acc_new(tl, KB_F32, 32, 32);

    (void)args;
    tl_async(tl, true);
    x = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
    tl_dot_acc(tl, acc, x, y);
    tl_dot_acc(tl, acc, ready, y);
    tl_acc_store(tl, acc, KB_F32);
    tl_wait_all(tl);
}

/*
 * From the call of the load on: it ends at 21.085, the FETCH of the first product at 41, as that of
 * the second, of 9 to 25, has the port; its GEMM at 57, the second's at 73, and the STORE at 81.
 */
static void the_critical_path_goes_through_an_accumulator(void **state)
{
    char *path = path_of(IDEAL, products_in_turn, 1);

    (void)state;
    assert_string_equal(path, "tl_full 43000000\n"
                              "tl_full 43000000\n"
                              "tl_load 21085000\n"
                              "tl_dot_acc 35915000\n"
                              "tl_dot_acc 16000000\n"
                              "tl_acc_store 8000000\n");
    free(path);
}

/* Tiles of 4 KiB, of which one is doubled and one negated, and both are stored. */
static void behind_each_other(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    (void)args;
    tl_async(tl, true);
    x = tl_exp(tl, tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64)));
    y = tl_neg(tl, tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64)));
    tl_store(tl, OUT, x);
    tl_store(tl, OUT, y);
    tl_wait_all(tl);
}

/*
 * The load of 0 to 21.085 lets exp begin, which has MATH from 29.085 to 157.085. The neg, which has
 * its load at 39.17, comes there at 47.17: its part of the path is 32 cycles, a STORE of 8, and the
 * store, whose channel is free, takes 18.085 more.
 */
static void the_critical_path_goes_through_engines(void **state)
{
    char *path = path_of(IDEAL, behind_each_other, 1);

    (void)state;
    assert_string_equal(path, "tl_load 21085000\n"
                              "tl_exp 136000000\n"
                              "tl_neg 40000000\n"
                              "tl_store 18085000\n");
    free(path);
}

static void stores_both(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(32, 64), 1), *long_one;

    (void)args;
    long_one = tl_full(tl, KB_F16, KB_SHAPE(128, 64), 1);
    tl_store_async(tl, OUT, long_one);
    tl_store(tl, OUT + 65536, x);
}

/* From the calls of the stores on: the first ends at 3 + 2.085 + 64, and frees the channel. */
static void the_critical_path_goes_through_channels(void **state)
{
    char *path = path_of(FIFO, stores_both, 1);

    (void)state;
    assert_string_equal(path, "tl_full 43000000\n"
                              "tl_full 163000000\n"
                              "tl_store_async 69085000\n"
                              "tl_store 18085000\n");
    free(path);
}

static void room_behind_room(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(512, 256), 1);

    (void)args;
    tl_async(tl, true);
    tl_neg(tl, x);
    tl_free(tl, x);
    for (int i = 0; i < 2; i++)
        tl_free(tl, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(512, 256)));
    tl_alloc(tl, KB_F32, KB_SHAPE(256, 256));
    tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
    tl_wait_all(tl);
}

static void a_wait_behind_room(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(512, 64), 1), *y;

    (void)args;
    tl_async(tl, true);
    y = tl_exp(tl, x);
    tl_free(tl, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(512, 256)));
    tl_alloc(tl, KB_F32, KB_SHAPE(512, 256));
    tl_wait(tl, y);
    tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
    tl_wait_all(tl);
}

/*
 * The FETCH of a neg gives the room of x back, 3 + 1024 after its call. A load that waits for that
 * at its issue takes 2050.085, and the next one waits for its end; so does tl_alloc(), and what is
 * called behind that is dispatched first. Where the kernel waits for something else behind
 * tl_alloc(), the next call follows from that, whose exp takes 3 + 256 + 2048 + 256.
 */
static void the_critical_path_goes_through_what_makes_room(void **state)
{
    char *path = path_of(SMALL, two_halves, 1);

    (void)state;
    assert_string_equal(path, "tl_full 3075000000\n"
                              "tl_neg 4099000000\n"
                              "tl_neg 4096000000\n");
    free(path);
    path = path_of(SMALL, room_behind_room, 1);
    assert_string_equal(path, "tl_full 3075000000\n"
                              "tl_neg 1027000000\n"
                              "tl_load 2050085000\n"
                              "tl_load 2050085000\n"
                              "tl_load 21085000\n");
    free(path);
    path = path_of(SMALL, a_wait_behind_room, 1);
    assert_string_equal(path, "tl_full 771000000\n"
                              "tl_exp 2563000000\n"
                              "tl_load 21085000\n");
    free(path);
}

/* -- races ---------------------------------------------------------------------------------- */

/* PE 1 overwrites what PE 0 has loaded, after the sum of it has come as a message. */
static void loads_then_tells(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    (void)args;
    if (tl_pe(tl) == 0) {
        tl_async(tl, true);
        x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64));
        y = tl_sum(tl, x, -1, true);
        tl_send(tl, 1, 0, y);
        return;
    }
    y = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1));
    tl_store(tl, SLICE(0) + 128, y);
}

/* Nothing that PE 1 waits for follows from the load. */
static void loads_and_meets(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    if (tl_pe(tl) == 0)
        tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64));
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 0)
        return;
    x = tl_full(tl, KB_F32, KB_SHAPE(4), 1);
    tl_store(tl, SLICE(0) + 128, x);
}

/* The wait for the sum is one for the load. */
static void waits_and_meets(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    if (tl_pe(tl) == 0) {
        x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64));
        tl_wait(tl, tl_neg(tl, tl_sum(tl, x, -1, false)));
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    if (tl_pe(tl) == 0)
        return;
    x = tl_full(tl, KB_F32, KB_SHAPE(4), 1);
    tl_store(tl, SLICE(0) + 128, x);
}

static size_t count_races(kb_kernel kernel)
{
    struct races *r = races_in(kernel, NULL, 2, false, KB_FUSED);
    size_t n = r->n;

    free(r);
    return n;
}

static void makers_come_before_what_they_make(void **state)
{
    (void)state;
    assert_int_equal(count_races(loads_then_tells), 0);
    assert_int_equal(count_races(loads_and_meets), 1);
    assert_int_equal(count_races(waits_and_meets), 0);
}

/* -- mistakes ------------------------------------------------------------------------------- */

static void gives_back_twice(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    (void)args;
    tl_async(tl, true);
    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64));
    y = tl_neg(tl, x);
    tl_free(tl, x);
    (void)y;
    tl_free(tl, x);
}

static void uses_what_was_given_back(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64));
    tl_free(tl, x);
    tl_neg(tl, x);
}

static void looks_too_soon(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_async(tl, true);
    tl_get(tl, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64)), 0);
}

static void blocks_without_a_wait(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_async(tl, true);
    x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(64));
    tl_async(tl, false);
    tl_neg(tl, x);
}

static void has_no_room(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_async(tl, true);
    tl_full(tl, KB_F32, KB_SHAPE(1 << 20), 1);
    tl_full(tl, KB_F32, KB_SHAPE(1 << 20), 1);
    tl_full(tl, KB_F32, KB_SHAPE(1 << 20), 1);
    tl_full(tl, KB_F32, KB_SHAPE(1 << 21), 1);
}

static void mistakes_are_named(void **state)
{
    static const struct {
        kb_kernel kernel;
        const char *text;
    } cases[] = {
        {gives_back_twice, "tl_free at "},
        {gives_back_twice, ": a tensor was given back before"},
        {uses_what_was_given_back, ": a tensor was given back before"},
        {looks_too_soon, ": the tensor is in flight: wait for it first"},
        {blocks_without_a_wait, ": an operand is a load or a receive that has not been waited for"},
        {has_no_room, "kernel test on c0.pe0: tl_full at "},
        {has_no_room, ": the TCM is exhausted: no 8388608 bytes"}};

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        kb_error why = {""};

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(launch(sim, cases[i].kernel, NULL, 1, &why), KB_OK);
        assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
        if (!strstr(why.text, cases[i].text))
            fail_msg("%s", why.text);
        kb_sim_free(sim);
    }
}

/* An operand that comes from a load is no reason to block for a compute result that is in flight.
 */
static void blocks_for_a_product(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(128, 128), 1), *c;

    mark(tl, args, 0);
    tl_async(tl, true);
    c = tl_dot(tl, a, a, .dtype_out = KB_F32);
    tl_async(tl, false);
    tl_exp(tl, c);
    mark(tl, args, 1);
}

/* FETCH to 131, GEMM 643, STORE 771; the exp starts then: 128 + 1024 + 128. */
static void a_command_that_blocks_starts_late_too(void **state)
{
    (void)state;
    assert_takes(blocks_for_a_product, 1, 0, 771 + 1280);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_starts_when_its_operands_are_there),
        cmocka_unit_test(fingerprints_are_those_of_the_contract),
        cmocka_unit_test(engines_work_side_by_side),
        cmocka_unit_test(a_send_waits_for_its_operand),
        cmocka_unit_test(messages_of_a_tag_keep_the_order_of_their_calls),
        cmocka_unit_test(an_issue_waits_for_room_that_comes_back),
        cmocka_unit_test(tl_alloc_waits_for_room_too),
        cmocka_unit_test(a_kept_tensor_survives_one_release),
        cmocka_unit_test(phase_2_computes_what_was_in_flight),
        cmocka_unit_test(phase_2_takes_operands_that_are_made_later),
        cmocka_unit_test(a_breakdown_tells_the_wait_for_operands),
        cmocka_unit_test(the_critical_path_goes_through_makers),
        cmocka_unit_test(the_critical_path_goes_through_an_accumulator),
        cmocka_unit_test(the_critical_path_goes_through_engines),
        cmocka_unit_test(the_critical_path_goes_through_channels),
        cmocka_unit_test(the_critical_path_goes_through_what_makes_room),
        cmocka_unit_test(makers_come_before_what_they_make),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_command_that_blocks_starts_late_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
