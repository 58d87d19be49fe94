/* test_streams.c -- launches side by side: when each sets out, what belongs to it, and races. */
#include "support/kernels.h"

enum { FS = 1000000, MOST = 8 };

/* 100 loads of 64 bytes of the own slice, 3 + 2.335 ns each: 533.5 ns. */
static void loads(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    for (int i = 0; i < 100; i++)
        tl_load(tl, SLICE(tl_pe(tl)), KB_F32, KB_SHAPE(16));
}

/* A launch of `kernel` on PEs first, first + 1, ... */
struct on {
    kb_kernel kernel;
    uint32_t first, n, stream;
    const uint32_t *after;
    size_t n_after;
};

static void launch_as(kb_sim *sim, const struct on *on)
{
    uint32_t pes[MOST];
    kb_launch_request r = {.name = "test",
                           .kernel = on->kernel,
                           .pes = pes,
                           .n_pes = on->n,
                           .stream = on->stream,
                           .after = on->after,
                           .n_after = on->n_after};
    kb_error why = {""};

    for (uint32_t i = 0; i < on->n; i++)
        pes[i] = on->first + i;
    if (kb_launch(sim, &r, &why) != KB_OK)
        fail_msg("%s", why.text);
}

static kb_sim *with_launches(kb_options options, const struct on *on, size_t n)
{
    kb_sim *sim = new_sim(&cube8_topology, options);
    kb_error why = {""};

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    for (size_t i = 0; i < n; i++)
        launch_as(sim, &on[i]);
    return sim;
}

static kb_launch_result result(const kb_sim *sim, size_t i)
{
    kb_launch_result r;

    assert_int_equal(kb_launch_get(sim, i, &r), KB_OK);
    return r;
}

static int64_t kernel_fs(const kb_launch_result *r)
{
    return r->last_end_fs - r->start_fs;
}

/* -- when a launch sets out ------------------------------------------------------------------- */

/* A on c0.pe0, B on c0.pe1, in two streams; C on c0.pe0 in B's stream waits for both. */
static void two_streams(kb_options options)
{
    static const struct on on[] = {
        {loads, 0, 1, .stream = 0}, {loads, 1, 1, .stream = 1}, {loads, 0, 1, .stream = 1}};
    kb_sim *sim = with_launches(options, on, 2);
    kb_launch_result a, b, c;

    run_launched(sim, 0);
    a = result(sim, 0);
    b = result(sim, 1);
    assert_int_equal(a.start_fs, 21256250);
    assert_int_equal(b.start_fs, 21218750);
    assert_int_equal(kernel_fs(&a), 533500000);
    assert_int_equal(kernel_fs(&b), 533500000);
    assert_int_equal(kb_sim_end_fs(sim), 556012500);
    kb_sim_free(sim);

    sim = with_launches(options, on, 3);
    run_launched(sim, 7);
    b = result(sim, 1);
    c = result(sim, 2);
    assert_int_equal(b.response_fs, 555937500);
    assert_int_equal(c.launch_fs, 556012500);
    assert_int_equal(c.start_fs, 577268750);
    assert_int_equal(kb_sim_end_fs(sim), c.response_fs);
    kb_sim_free(sim);
}

static void launches_of_two_streams_run_side_by_side(void **state)
{
    (void)state;
    two_streams((kb_options){0});
    two_streams((kb_options){.engine = KB_HOP});
    two_streams((kb_options){.oplog = true, .fingerprint = true});
}

static void launches_of_one_stream_run_one_after_the_other(void **state)
{
    static const struct on on[] = {{loads, 0, 1, .stream = 0}, {loads, 1, 1, .stream = 0}};
    kb_sim *sim = with_launches((kb_options){0}, on, 2);

    (void)state;
    run_launched(sim, 0);
    assert_int_equal(result(sim, 1).launch_fs, 556012500);
    assert_int_equal(result(sim, 1).start_fs, 577231250);
    kb_sim_free(sim);
}

static void a_launch_waits_for_those_it_names(void **state)
{
    static const uint32_t after[] = {1, 0, 1}, none[] = {2};
    static const struct on on[] = {{loads, 0, 1, .stream = 0},
                                   {loads, 1, 1, .stream = 1},
                                   {loads, 2, 1, .stream = 2, .after = after, .n_after = 3},
                                   {loads, 3, 1, .stream = 3}};
    kb_sim *sim = with_launches((kb_options){0}, on, 2);
    kb_launch_request late = {
        .name = "late", .kernel = loads, .stream = 2, .after = none, .n_after = 1};
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_launch(sim, &late, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "launch 2 cannot come after launch 2, which is no earlier one");
    late.after = NULL;
    assert_int_equal(kb_launch(sim, &late, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "a launch comes after 1 others, and 'after' is NULL");
    launch_as(sim, &on[2]);
    launch_as(sim, &on[3]);
    run_launched(sim, 0);
    assert_int_equal(result(sim, 2).launch_fs, 556012500);
    assert_int_equal(result(sim, 3).launch_fs, 0);
    launch_as(sim, &on[1]); /* the host has seen all that there was */
    run_launched(sim, 0);
    assert_int_equal(result(sim, 4).launch_fs, result(sim, 2).response_fs);
    kb_sim_free(sim);
}

/* -- what belongs to a launch ----------------------------------------------------------------- */

/* The first PE of two sends to the other under tag 0, and both meet. */
static void talks(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t groups[][2] = {{0, 1}, {2, 3}};
    uint32_t pe = tl_pe(tl);

    (void)args;
    if (pe % 2)
        tl_recv(tl, pe - 1, 0, KB_F32, KB_SHAPE(16));
    else
        tl_send(tl, pe + 1, 0, tl_load(tl, SLICE(pe), KB_F32, KB_SHAPE(16)));
    tl_barrier(tl, (tl_group){.pes = groups[pe / 2], .n = 2});
}

/* --breakdown: the critical path of each launch lasts as long as its kernels, whatever runs beside.
 */
static void add_times(void *arg, const kb_breakdown_step *step)
{
    ((int64_t *)arg)[step->launch] += step->end_fs - step->begin_fs;
}

static void each_launch_has_its_critical_path(void **state)
{
    static const struct on on[] = {{talks, 0, 2, .stream = 0},
                                   {talks, 2, 2, .stream = 1},
                                   {loads, 4, 1, .stream = 2},
                                   {talks, 0, 2, .stream = 1},
                                   {talks, 2, 2, .stream = 0}};
    enum { N = sizeof on / sizeof *on };

    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        kb_sim *sim = with_launches((kb_options){.engine = engine ? KB_HOP : KB_FUSED}, on, N);
        int64_t path_fs[N] = {0};
        kb_breakdown *why;

        assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
        run_launched(sim, 0);
        assert_int_equal(kb_breakdown_path(why, add_times, path_fs), KB_OK);
        for (size_t i = 0; i < N; i++) {
            kb_launch_result r = result(sim, i);

            assert_int_equal(path_fs[i], kernel_fs(&r));
        }
        kb_breakdown_free(why);
        kb_sim_free(sim);
    }
}

/* PE 0 sends to PE 1, which is in another launch and receives from PE 0. */
static void misses(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        for (int i = 0; i < 100; i++)
            tl_send(tl, 1, 0, tl_full(tl, KB_F32, KB_SHAPE(16), 1));
    else
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(16));
}

static void keep_state(void *arg, const kb_deadlocked *row)
{
    *(int *)arg += strcmp(row->state, "not launched") == 0;
}

static void a_queue_belongs_to_a_launch(void **state)
{
    static const struct on on[] = {{misses, 0, 1, .stream = 0}, {misses, 1, 1, .stream = 1}};
    kb_sim *sim = with_launches((kb_options){0}, on, 2);
    kb_error why = {""};
    int n = 0;

    (void)state;
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_DEADLOCK);
    assert_int_equal(kb_sim_deadlocked(sim, keep_state, &n), KB_OK);
    assert_int_equal(n, 2);
    kb_sim_free(sim);
}

/* PE 1 leaves a tensor in its TCM; PE 0 reads it there while PE 1's next launch is on its way. */
static void leaves(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_full(tl, KB_F32, KB_SHAPE(16), 1);
}

static void looks(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    while (tl_time(tl) < 40) /* PE 1's second launch begins at 47.78 */
        tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(16));
    tl_load(tl, TCM(1), KB_F32, KB_SHAPE(16));
}

static void a_tcm_is_cleared_as_its_kernel_begins(void **state)
{
    static const struct on on[] = {{leaves, 1, 1, .stream = 0},
                                   {looks, 0, 1, .stream = 1},
                                   {leaves, 1, 1, .stream = 0},
                                   {looks, 0, 1, .stream = 1}};
    kb_sim *sim = with_launches((kb_options){0}, on, 3);

    (void)state;
    run_launched(sim, 0);
    assert_int_equal(result(sim, 1).dma_read_bytes % 64, 0);
    kb_sim_free(sim);
}

/* -- races ------------------------------------------------------------------------------------ */

static void stores(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_store(tl, SLICE(5), tl_full(tl, KB_F32, KB_SHAPE(16), 1));
}

static void count_race(void *arg, const kb_race *race)
{
    (void)race;
    ++*(int *)arg;
}

static int races_of(const struct on *on, size_t n)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};
    int races = 0;

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_sim_check_races(sim, &why), KB_OK);
    for (size_t i = 0; i < n; i++)
        launch_as(sim, &on[i]);
    run_launched(sim, 0);
    assert_int_equal(kb_sim_races(sim, count_race, &races), KB_OK);
    kb_sim_free(sim);
    return races;
}

static void only_launches_that_wait_are_ordered(void **state)
{
    static const uint32_t zero[] = {0}, one[] = {1};
    /* side by side; in one stream; named; by way of another; not that one */
    static const struct on beside[] = {{stores, 0, 1, .stream = 0}, {stores, 1, 1, .stream = 1}};
    static const struct on stream[] = {{stores, 0, 1, .stream = 3}, {stores, 1, 1, .stream = 3}};
    static const struct on named[] = {{stores, 0, 1, .stream = 0},
                                      {stores, 1, 1, .stream = 1, .after = zero, .n_after = 1}};
    static const struct on by_way[] = {{stores, 0, 1, .stream = 0},
                                       {leaves, 0, 1, .stream = 1},
                                       {loads, 6, 1, .stream = 4},
                                       {stores, 1, 1, .stream = 2, .after = one, .n_after = 1}};
    static const struct on other[] = {
        {stores, 0, 1, .stream = 0},
        {loads, 2, 1, .stream = 1}, /* has begun before, and ends after the store */
        {stores, 1, 1, .stream = 2, .after = one, .n_after = 1}};

    (void)state;
    assert_int_equal(races_of(beside, 2), 1);
    assert_int_equal(races_of(stream, 2), 0);
    assert_int_equal(races_of(named, 2), 0);
    assert_int_equal(races_of(by_way, 4), 0);
    assert_int_equal(races_of(other, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_two_streams_run_side_by_side),
        cmocka_unit_test(launches_of_one_stream_run_one_after_the_other),
        cmocka_unit_test(a_launch_waits_for_those_it_names),
        cmocka_unit_test(each_launch_has_its_critical_path),
        cmocka_unit_test(a_queue_belongs_to_a_launch),
        cmocka_unit_test(a_tcm_is_cleared_as_its_kernel_begins),
        cmocka_unit_test(only_launches_that_wait_are_ordered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
