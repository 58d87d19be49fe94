/* test_order.c -- calls that come too early or too late, or of another kind of simulation. */
#include "support/any_topology.h"
#include "support/kernels.h"

static void is_idle(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
}

static void loads(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(8));
}

static void adds(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(8));

    (void)args;
    tl_store(tl, SLICE(0) + FILLED, tl_add(tl, x, x));
}

/* PE 0 ends at once, PE 1 goes on. */
static void one_goes_on(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 1)
        adds(tl, args);
}

/* In the middle of `kernel`, on PEs 0 and 1. */
static kb_sim *half_run(kb_options options, kb_kernel kernel, kb_tensor **x)
{
    kb_sim *sim = new_sim(&cube8_topology, options);
    kb_error why = {""};

    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(8),
                                   (kb_placement){KB_REPLICATE, KB_REPLICATE}, x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(*x, 0, 1, &why), KB_OK);
    assert_int_equal(launch(sim, kernel, NULL, 2, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 4, &why), KB_AGAIN);
    return sim;
}

static void count_use(void *arg, const kb_utilization *use)
{
    *(size_t *)arg += use->count > 0;
}

static void while_kernels_run_the_host_waits(void **state)
{
    const float bytes[8] = {1};
    kb_inspection *in;
    kb_observer observer = {0};
    kb_tensor *x;
    size_t n = 0;
    kb_sim *sim = half_run((kb_options){.phase2 = true, .inspect = true}, adds, &x);
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_tensor_write(x, bytes, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "a launch is under way");
    assert_int_equal(kb_tensor_fill_random(x, 1, 1, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_compute(sim, NULL, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_inspect(sim, 0, &in, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "a launch is under way");
    assert_int_equal(kb_sim_observe(sim, &observer, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_check_races(sim, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_utilization(sim, count_use, &n), KB_OK);
    assert_int_equal(n, 0); /* nothing has been served yet */
    run_launched(sim, 0);
    assert_int_equal(kb_sim_utilization(sim, count_use, &n), KB_OK);
    assert_true(n > 0);
    assert_int_equal(kb_sim_observe(sim, &observer, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_check_races(sim, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_tensor_write(x, bytes, &why), KB_OK);
    kb_sim_free(sim);
}

static void transactions_and_kernels_do_not_mix(void **state)
{
    kb_traffic traffic = {.pattern = KB_LOCAL, .nbytes = 64, .rate = 0.1, .txns = 100};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_point point = {.dst.kind = KB_SLICE, .nbytes = 64, .inflight = 1};
    kb_point_result result;
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_launch_done(sim), 0);
    assert_int_equal(kb_sim_traffic(sim, &traffic, &why), KB_OK);
    assert_int_equal(launch(sim, is_idle, NULL, 1, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text,
                        "the simulation has transactions of its own, it takes no kernels");
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    assert_int_equal(launch(sim, is_idle, NULL, 1, &why), KB_OK);
    assert_int_equal(kb_sim_traffic(sim, &traffic, &why), KB_BAD_REQUEST);
    assert_int_equal(kb_sweep(sim, &point, 1, &result, NULL, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "a sweep needs a simulation of its own");
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    issue(sim, &cube8_topology, 0, KB_READ, "c0.pe0", "c0.slice0", 64);
    run_all(sim);
    assert_int_equal(kb_sim_check_races(sim, &why), KB_BAD_REQUEST);
    kb_sim_free(sim);
}

static void a_run_that_failed_takes_no_more(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_traffic traffic = {.pattern = KB_LOCAL, .nbytes = 64, .rate = 0.1, .txns = 100};
    kb_point point = {.dst.kind = KB_SLICE, .nbytes = 64, .inflight = 1};
    kb_transaction late = {.issue_fs = INT64_MAX - 1, .dst.kind = KB_SLICE, .nbytes = 64};
    kb_point_result result;
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_add(sim, &late, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_TIME_RANGE);
    assert_int_equal(kb_sweep(sim, &point, 1, &result, NULL, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "the simulation has failed before");
    assert_int_equal(kb_sim_traffic(sim, &traffic, &why), KB_BAD_REQUEST);
    kb_sim_free(sim);
}

static void without_operations(void **state)
{
    kb_sim *sim = run_kernel((kb_options){.inspect = true, .oplog = true}, is_idle, NULL, 1, NULL);
    kb_inspection *in;
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_inspect(sim, 0, &in, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "there are no operations");
    assert_int_equal(kb_compute(sim, NULL, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "needs option phase2"));
    kb_sim_free(sim);
    sim = run_kernel((kb_options){.inspect = true}, loads, NULL, 1, NULL);
    assert_int_equal(kb_inspect(sim, 0, &in, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "it needs option inspect, and oplog or phase2"));
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){.phase2 = true});
    assert_int_equal(launch(sim, is_idle, NULL, 1, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_compute(sim, NULL, &why), KB_OK);
    kb_sim_free(sim);
}

static void count_service(void *arg, const kb_service *service)
{
    *(size_t *)arg += service->end_fs >= 0;
}

/* An observer is told only what it asks for. */
static void observers_of_little(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    size_t n = 0;
    kb_observer deaf = {.arg = NULL}, one = {.arg = &n, .release = count_service};
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_observe(sim, &deaf, &why), KB_OK);
    assert_int_equal(kb_sim_observe(sim, &one, &why), KB_OK);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, adds, NULL, 2, &why), KB_OK);
    run_launched(sim, 0);
    assert_true(n > 0);
    kb_sim_free(sim);
}

/* Channels without limit, and links that other links feed, in the middle of a run. */
static void utilization_of_what_goes_on(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 1\nname: fed\nsip: {cube_mesh: {w: 2, h: 1}}\ncontention: {links: fifo}\n");
    const unsigned off[] = {KB_COST_CHANNELS, 0};
    const uint64_t events[] = {130, 30}; /* some have ended by then, not all */

    (void)state;
    for (size_t i = 0; i < LENGTH(off); i++) {
        kb_sim *sim = new_sim(topo, (kb_options){.costs_off = off[i]});
        kb_error why = {""};
        size_t n = 0;

        for (uint32_t row = 0; row < 40; row++)
            issue(sim, topo, 0, KB_READ, row % 3 ? "c0.pe0" : "c0.pe1",
                  row % 2 ? "c1.slice3" : "c0.slice5", 4096);
        assert_int_equal(kb_sim_run(sim, events[i], &why), KB_AGAIN);
        assert_int_equal(kb_sim_utilization(sim, count_use, &n), KB_OK);
        assert_true(n > 0);
        run_all(sim);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

static void a_log_of_a_short_name(void **state)
{
    kb_sim *sim = run_kernel((kb_options){.oplog = true}, adds, NULL, 1, NULL);
    char folder[] = "/tmp/kernbench-order-XXXXXX", before[4096];
    kb_error why = {""};

    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(kb_oplog_write(sim, "o", NULL, 0, &why), KB_OK);
    assert_int_equal(unlink("o"), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
    kb_sim_free(sim);
}

/* With max_events tensors are filled when they are needed: here for Phase 2. */
static void fills_that_were_put_off(void **state)
{
    kb_sim *sim = run_kernel((kb_options){.phase2 = true, .max_events = 1000}, adds, NULL, 1, NULL);
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why), KB_OK);
    kb_sim_free(sim);
}

static void too_many_events_name_the_kernel_that_goes_on(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.max_events = 2});
    kb_error why = {""};
    size_t n = 0;

    (void)state;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, one_goes_on, NULL, 2, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "kernel test on c0.pe1: "));
    assert_int_equal(kb_sim_utilization(sim, count_use, &n), KB_OK);
    kb_sim_free(sim);
}

static void leaves_a_store(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_store_async(tl, SLICE(0) + FILLED, tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(8)));
}

/* Wherever it ends, also when the kernel has ended and its store has not. */
static void any_number_of_events_is_told(void **state)
{
    kb_status status = KB_KERNEL_ERROR;

    (void)state;
    for (uint64_t most = 1; status == KB_KERNEL_ERROR; most++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.max_events = most});
        kb_error why = {""};
        char text[64];

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(launch(sim, leaves_a_store, NULL, 1, &why), KB_OK);
        status = kb_sim_run(sim, 0, &why);
        snprintf(text, sizeof text, "the kernel has not ended after %d events", (int)most);
        assert_true(status == KB_OK || strstr(why.text, text));
        kb_sim_free(sim);
    }
    assert_int_equal(status, KB_OK);
}

/* Stopped by time, not by the number of events. */
static void an_end_of_time_is_no_end_of_events(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.max_events = 1000, .until_fs = 30000000});
    kb_error why = {""};

    (void)state;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, adds, NULL, 2, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_STOPPED);
    kb_sim_free(sim);
}

/* `pes` TCMs of 16 GiB. */
static void refuse_tcms(int version, int pes, const char *text)
{
    char yaml[256];
    kb_error why = {""};

    snprintf(yaml, sizeof yaml,
             "kernbench: %d\nname: large\nsip: {cube_mesh: {w: 1, h: 1}}\n"
             "cube: {pes: %d, pe: {pe_tcm: {size_mb: 16384}}}\n",
             version, pes);
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    assert_int_equal(launch(sim, is_idle, NULL, 1, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, text));
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void tcms_beyond_addresses(void **state)
{
    (void)state;
    refuse_tcms(1, 8, "pass 64 GiB");
    refuse_tcms(3, 128, "pass 1024 GiB");
}

static void count_row(void *arg, const kb_breakdown_row *row)
{
    *(size_t *)arg += row->count > 0;
}

/* Kernels of one name are one, wherever the name stands. */
static void names_are_texts(void **state)
{
    static const uint32_t pes[] = {0};
    char names[2][8] = {"twice", "twice"};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_breakdown *causes = NULL;
    kb_error why = {""};
    size_t n = 0;

    (void)state;
    assert_int_equal(kb_breakdown_new(sim, &causes, &why), KB_OK);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    for (int i = 0; i < 2; i++) {
        kb_launch_request r = {.name = names[i], .kernel = adds, .pes = pes, .n_pes = 1};

        assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    }
    run_launched(sim, 0);
    assert_int_equal(kb_breakdown_rows(causes, count_row, &n), KB_OK);
    assert_true(n > 0);
    kb_breakdown_free(causes);
    kb_sim_free(sim);
}

static void no_such_cause(void **state)
{
    (void)state;
    assert_string_equal(kb_cause_name((kb_cause)99), "?");
    assert_false(kb_cause_is_wait((kb_cause)99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_kernels_run_the_host_waits),
        cmocka_unit_test(transactions_and_kernels_do_not_mix),
        cmocka_unit_test(a_run_that_failed_takes_no_more),
        cmocka_unit_test(without_operations),
        cmocka_unit_test(observers_of_little),
        cmocka_unit_test(utilization_of_what_goes_on),
        cmocka_unit_test(a_log_of_a_short_name),
        cmocka_unit_test(fills_that_were_put_off),
        cmocka_unit_test(too_many_events_name_the_kernel_that_goes_on),
        cmocka_unit_test(any_number_of_events_is_told),
        cmocka_unit_test(an_end_of_time_is_no_end_of_events),
        cmocka_unit_test(tcms_beyond_addresses),
        cmocka_unit_test(names_are_texts),
        cmocka_unit_test(no_such_cause),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
