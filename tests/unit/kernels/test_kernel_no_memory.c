/*
 * test_kernel_no_memory.c -- the n-th allocation of a run of kernels fails, for every n.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/failing.h"
#include "support/kernels.h"

/* Queues, messages of three pieces, barriers; what comes over is pending. */
static tl_tensor *talks(tl_ctx *tl, tl_tensor *x)
{
    static const uint32_t both[] = {1, 0};
    uint32_t other = 1 - tl_pe(tl);
    tl_tensor *large = tl_load(tl, SLICE(tl_pe(tl)), KB_F32, KB_SHAPE(3 * 1024)), *y;

    y = tl_recv_async(tl, other, 1, KB_F32, KB_SHAPE(3 * 1024));
    tl_send(tl, other, 0, x);
    tl_send(tl, other, 1, large);
    tl_wait(tl, y);
    tl_barrier(tl, (tl_group){.pes = both, .n = 2});
    tl_atomic_add(tl, SLICE(0) + 32768, KB_I32, 1);
    return tl_recv(tl, other, 0, KB_F32, tl_shape(x));
}

/* All that takes memory: results, pieces, views, regions, tiles, many commands at once. */
static void uses_memory(tl_ctx *tl, const kb_args *args)
{
    uint64_t own = SLICE(tl_pe(tl)), out = kb_tensor_shard(args->tensors[0], tl_pe(tl)).address;
    tl_tensor *x = tl_load(tl, own + 16384, KB_F32, KB_SHAPE(8, 8)), *y, *place, *many[70];

    tl_region(tl, tl_pe(tl) ? "one" : "zero");
    tl_alloc_host(tl, 100);
    place = tl_alloc(tl, KB_F32, KB_SHAPE(8, 8));
    y = talks(tl, tl_dot(tl, x, x));
    tl_store(tl, own + 16, y);
    y = tl_load(tl, own, KB_F32, KB_SHAPE(8, 8)); /* pieces, some of them pending */
    tl_store_strided(tl, own + 1024, y, ((int64_t[]){64, 8}));
    y = tl_load_strided(tl, own + 1024, KB_F32, KB_SHAPE(8, 8), ((int64_t[]){64, 8}));
    tl_store(tl, TCM(1 - tl_pe(tl)) + (tl_address(place) - TCM(tl_pe(tl))), x);
    for (int i = 0; i < 70; i++)
        many[i] = tl_load_async(tl, own + 4096 + 7 * (uint64_t)i, KB_U8, KB_SHAPE(64 + i));
    for (int i = 0; i < 70; i++)
        tl_wait(tl, many[i]);
    tl_get(tl, place, 0);
    tl_data(tl, tl_load(tl, own + 8192, KB_F64, KB_SHAPE(4)));
    y = tl_add(tl, tl_softmax(tl, y, 0), place);
    tl_composite(tl, .a = y, .b = tl_ref(tl, own + 4096, KB_F32, KB_SHAPE(8, 8)), .out = out,
                 .epilogue = {{TL_ADD, x, NULL}});
}

/* What did not get its memory; NULL: all went well. */
static const char *failed;
static bool asks_why;

static void count_row(void *arg, const kb_breakdown_row *row)
{
    *(uint64_t *)arg += row->count;
}

static void count_step(void *arg, const kb_breakdown_step *step)
{
    *(uint64_t *)arg += step->n_shares;
}

/* The causes of all that has run. */
static kb_status tell(kb_breakdown *why)
{
    uint64_t n_rows = 0, n_shares = 0;
    kb_status status = kb_breakdown_rows(why, count_row, &n_rows);

    failed = "kb_breakdown_rows";
    if (status == KB_OK)
        status = kb_breakdown_path(why, count_step, &n_shares);
    assert_true(status != KB_OK || (n_rows > 0 && n_shares > 0));
    return status;
}

static bool inspects; /* the options of the run say so */

/* The last command, and one before it that waits for others. */
static kb_status look(kb_sim *sim, kb_error *why)
{
    static const uint32_t ids[] = {KB_LAST_OP, 40, 3};
    kb_status status = KB_OK;

    failed = "kb_inspect";
    for (size_t i = 0; i < LENGTH(ids) && status == KB_OK; i++) {
        kb_inspection *in;

        status = kb_inspect(sim, ids[i], &in, why);
        kb_inspection_free(in);
    }
    return status;
}

static kb_status compute(kb_sim *sim, kb_tensor *out, kb_error *why)
{
    kb_status status;
    float got[64];

    failed = "kb_compute";
    status = kb_compute(sim, &(kb_compute_options){.threads = 1, .verify_ops = true}, why);
    if (status != KB_OK)
        return status;
    failed = "kb_tensor_read";
    return kb_tensor_read(out, got, why);
}

static kb_status run(kb_sim *sim, kb_tensor **out, kb_error *why)
{
    static const uint32_t pes[] = {0, 1};
    kb_launch_request r = {.name = "test", .kernel = uses_memory, .pes = pes, .n_pes = 2};
    kb_status status = KB_OK;

    r.args.tensors = out;
    r.args.n_tensors = 1;
    failed = "kb_launch";
    for (int i = 0; status == KB_OK && i < 5; i++)
        status = kb_launch(sim, &r, why);
    if (status != KB_OK)
        return status;
    failed = "kb_sim_run";
    status = kb_sim_run(sim, 0, why);
    if (status != KB_OK) {
        if (!strstr(why->text, "out of memory"))
            fail_msg("%s", why->text);
        assert_int_equal(kb_sim_run(sim, 0, NULL), status); /* an end is an end */
        assert_true(kb_launch_done(sim) < 5);
        return status;
    }
    assert_int_equal(kb_launch_done(sim), 5);
    if (inspects)
        status = look(sim, why);
    return status == KB_OK ? compute(sim, *out, why) : status;
}

static kb_status live(kb_options options)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_sim *sim = NULL;
    kb_breakdown *causes = NULL;
    kb_tensor *out;
    kb_error why = {""};
    kb_status status;

    failed = "kb_sim_new";
    status = kb_sim_new(&cube8_topology, &options, &sim);
    if (status != KB_OK)
        return status;
    failed = "kb_breakdown_new";
    if (asks_why)
        status = kb_breakdown_new(sim, &causes, &why);
    if (status != KB_OK) {
        kb_sim_free(sim);
        return status;
    }
    failed = "kb_tensor_new";
    status = fill_slices(sim, &why);
    if (status == KB_OK)
        status = kb_tensor_new(sim, "out", KB_F32, KB_SHAPE(8, 8), copies, &out, &why);
    if (status == KB_OK)
        status = run(sim, &out, &why);
    if (status == KB_OK && causes)
        status = tell(causes);
    kb_breakdown_free(causes);
    kb_sim_free(sim);
    if (status == KB_OK)
        failed = NULL;
    return status;
}

static void assert_every_failure_is_told(kb_options options)
{
    static const char *const places[] = {"kb_sim_new", "kb_tensor_new", "kb_launch",
                                         "kb_sim_run", "kb_compute",    "kb_inspect"};
    unsigned failures[LENGTH(places)] = {0};

    inspects = options.inspect;
    assert_int_equal(live(options),
                     KB_OK); /* the process keeps the stacks of the first for the others */
    failed = "";
    for (uint64_t n = 0; failed; n++) {
        int64_t before = owned;
        kb_status status;

        blocks_left = n;
        status = live(options);
        blocks_left = UINT64_MAX;
        assert_int_equal(status, failed ? KB_NO_MEMORY : KB_OK);
        assert_true(owned == before);
        for (size_t i = 0; failed && i < LENGTH(places); i++)
            failures[i] += strcmp(places[i], failed) == 0;
    }
    for (size_t i = 0; i < LENGTH(places) - !inspects; i++)
        assert_true(failures[i] >= 4);
    assert_true(failures[3] > 40);
}

static void every_allocation_of_kernels_may_fail(void **state)
{
    (void)state;
    assert_every_failure_is_told((kb_options){.phase2 = true});
}

static void every_allocation_of_kernels_that_are_watched_may_fail(void **state)
{
    (void)state;
    assert_every_failure_is_told((kb_options){
        .oplog = true, .phase2 = true, .fingerprint = true, .engine = KB_HOP, .inspect = true});
}

static void every_allocation_of_kernels_with_causes_may_fail(void **state)
{
    (void)state;
    asks_why = true;
    assert_every_failure_is_told((kb_options){.phase2 = true});
    asks_why = false;
}

/* PE 1 waits for PE 0, and both for a third. */
static void is_deadlocked(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 1)
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1));
    tl_barrier(tl, tl_cube(tl));
}

static void count_blocked(void *arg, const kb_deadlocked *row)
{
    (void)row;
    ++*(uint64_t *)arg;
}

/* Until it is known that they are deadlocked, and for what they wait. */
static kb_status stops(void)
{
    kb_sim *sim = NULL;
    uint64_t n = 0;
    kb_status status = kb_sim_new(&cube8_topology, NULL, &sim);

    if (status == KB_OK)
        status = launch(sim, is_deadlocked, NULL, 2, NULL);
    if (status == KB_OK)
        status = kb_sim_run(sim, 0, NULL);
    if (status == KB_DEADLOCK) {
        status = kb_sim_deadlocked(sim, count_blocked, &n);
        status = status ? status : KB_DEADLOCK;
        assert_int_equal(n, status == KB_DEADLOCK ? 2 : 0);
    }
    kb_sim_free(sim);
    return status;
}

static void every_allocation_of_kernels_that_stop_may_fail(void **state)
{
    kb_status status = KB_NO_MEMORY;

    (void)state;
    for (uint64_t n = 0; status != KB_DEADLOCK; n++) {
        int64_t before = owned;

        blocks_left = n;
        status = stops();
        blocks_left = UINT64_MAX;
        assert_true(status == KB_NO_MEMORY || status == KB_DEADLOCK);
        assert_true(owned == before);
    }
}

/* Two PEs meet in every way, and race besides. */
static void meets_others(tl_ctx *tl, const kb_args *args)
{
    uint32_t other = 1 - tl_pe(tl);
    tl_tensor *x = tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(8)), *y;

    (void)args;
    for (int i = 0; i < 6; i++) {
        y = tl_recv_async(tl, other, 0, KB_I32, KB_SHAPE(8));
        tl_send(tl, other, 0, x);
        tl_wait(tl, y);
    }
    tl_barrier(tl, ((tl_group){.n = 2}));
    tl_atomic_add(tl, SLICE(1) + 64, KB_I32, 1);
    tl_store_strided(tl, SLICE(1) + 128, x, ((int64_t[]){8}));
    tl_wait(tl, tl_store_async(tl, SLICE(1) + 128, x));
    tl_get(tl, x, 3);
}

static void count_race(void *arg, const kb_race *race)
{
    *(uint64_t *)arg += race->count;
}

static kb_status look_for_races(void)
{
    kb_sim *sim = NULL;
    uint64_t n = 0;
    kb_error why = {""};
    kb_status status = kb_sim_new(&cube8_topology, NULL, &sim);

    if (status == KB_OK)
        status = kb_sim_check_races(sim, &why);
    if (status == KB_OK)
        status = fill_slices(sim, &why);
    for (int i = 0; i < 2 && status == KB_OK; i++)
        status = launch(sim, meets_others, NULL, 2, &why);
    if (status == KB_OK)
        status = kb_sim_run(sim, 0, &why);
    if (status == KB_OK)
        status = kb_sim_races(sim, count_race, &n);
    assert_true(status != KB_OK || n > 0);
    kb_sim_free(sim);
    return status;
}

static void every_allocation_of_a_search_for_races_may_fail(void **state)
{
    kb_status status = KB_NO_MEMORY;
    unsigned failures = 0;

    (void)state;
    for (uint64_t n = 0; status == KB_NO_MEMORY; n++) {
        int64_t before = owned;

        blocks_left = n;
        status = look_for_races();
        blocks_left = UINT64_MAX;
        assert_true(owned == before);
        failures += status == KB_NO_MEMORY;
    }
    assert_int_equal(status, KB_OK);
    assert_true(failures > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_kernels_may_fail),
        cmocka_unit_test(every_allocation_of_kernels_that_are_watched_may_fail),
        cmocka_unit_test(every_allocation_of_kernels_with_causes_may_fail),
        cmocka_unit_test(every_allocation_of_kernels_that_stop_may_fail),
        cmocka_unit_test(every_allocation_of_a_search_for_races_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
