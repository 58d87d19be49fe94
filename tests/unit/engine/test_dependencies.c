/*
 * test_dependencies.c -- transactions that wait for others, by hand.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/any_topology.h"
#include "support/failing.h"
#include "support/rig.h"

#include "cube8.h"

static const kb_topology *const cube8 = &cube8_topology;

/* docs/model.md "Stations and queues": 4096 B, c0.pe0 -> c0.slice0; and host -> c0.slice0, done and
 * end */
enum { LOCAL_FS = 18085000, HOST_DONE_FS = 55281250, HOST_END_FS = 56562500 };

/* A simulation for each engine, with and without its events counted. */
#define EACH_HOW(how) for (int how = 0; how < 4; how++)

static kb_sim *sim_by(int how)
{
    return new_sim(cube8,
                   (kb_options){.engine = how & 1 ? KB_HOP : KB_FUSED, .fingerprint = how & 2});
}

static void read_local(kb_sim *sim, int64_t issue_fs)
{
    issue(sim, cube8, issue_fs, KB_READ, "c0.pe0", "c0.slice0", 4096);
}

/* `id` waits for one or two others; UINT64_MAX is none. */
static void wait_for(kb_sim *sim, uint64_t id, uint64_t first, uint64_t second, int64_t think_fs)
{
    const uint64_t ids[] = {first, second};
    kb_error why = {""};

    if (kb_sim_add_dependencies(sim, id, ids, second == UINT64_MAX ? 1 : 2, think_fs, &why) !=
        KB_OK)
        fail_msg("%s", why.text);
}

#define NONE UINT64_MAX

/* -- times ---------------------------------------------------------------------------------- */

static void a_chain_of_three_takes_three_times_as_long(void **state)
{
    (void)state;
    EACH_HOW(how)
    {
        kb_sim *sim = sim_by(how);

        for (int i = 0; i < 3; i++)
            read_local(sim, 0);
        wait_for(sim, 1, 0, NONE, 0);
        wait_for(sim, 2, 1, NONE, 0);
        run_all(sim);
        for (int i = 0; i < 3; i++) {
            kb_result r = result_of(sim, (uint64_t)i);
            kb_transaction q;

            assert_true(r.issue_fs == i * LOCAL_FS && r.end_fs == (i + 1) * LOCAL_FS);
            assert_true(r.actual_fs == LOCAL_FS);
            assert_int_equal(kb_sim_request(sim, (uint64_t)i, &q), KB_OK);
            assert_true(q.issue_fs == r.issue_fs);
        }
        kb_sim_free(sim);
    }
}

/* Of a host's transaction the response counts; it ends later than it is done. */
static void a_join_waits_for_the_last_end_and_thinks(void **state)
{
    (void)state;
    EACH_HOW(how)
    {
        kb_sim *sim = sim_by(how);

        read_local(sim, 0);
        issue(sim, cube8, 0, KB_H2D, "host", "c0.slice0", 4096);
        read_local(sim, 0);
        wait_for(sim, 2, 0, 1, 1500000);
        run_all(sim);
        assert_true(result_of(sim, 1).done_fs == HOST_DONE_FS);
        assert_true(result_of(sim, 1).end_fs == HOST_END_FS);
        assert_true(result_of(sim, 2).issue_fs == HOST_END_FS + 1500000);
        assert_true(result_of(sim, 2).actual_fs == LOCAL_FS);
        kb_sim_free(sim);
    }
}

static void nobody_is_issued_before_its_own_time(void **state)
{
    (void)state;
    EACH_HOW(how)
    {
        kb_sim *sim = sim_by(how);

        read_local(sim, 0);
        read_local(sim, 100000000);
        read_local(sim, LOCAL_FS + 5);
        wait_for(sim, 1, 0, NONE, 7);
        wait_for(sim, 2, 0, NONE, 5);
        run_all(sim);
        assert_true(result_of(sim, 1).issue_fs == 100000000);
        assert_true(result_of(sim, 2).issue_fs == LOCAL_FS + 5);
        kb_sim_free(sim);
    }
}

/* docs/model.md "Order of events": issues of one instant run by id, whether they have waited or not
 */
static void issues_of_one_instant_are_in_order_of_id(void **state)
{
    (void)state;
    EACH_HOW(how)
    {
        kb_sim *sim = sim_by(how);

        for (int i = 0; i < 4; i++)
            read_local(sim, i == 2 ? LOCAL_FS : 0);
        wait_for(sim, 0, 3, NONE, 0); /* a later row */
        wait_for(sim, 1, 3, 3, 0);    /* twice the same */
        run_all(sim);
        assert_true(result_of(sim, 3).end_fs == LOCAL_FS);
        for (int i = 0; i < 3; i++) {
            assert_true(result_of(sim, (uint64_t)i).issue_fs == LOCAL_FS);
            assert_true(result_of(sim, (uint64_t)i).end_fs == (i + 2) * LOCAL_FS);
        }
        kb_sim_free(sim);
    }
}

static const char no_delays[] = "kernbench: 1\nname: instant\nns_per_mm: 0.0\n"
                                "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {xbar: {overhead_ns: 0.0}, "
                                "bridge: {overhead_ns: 0.0}}\n";

/*
 * Row 3 holds c0.slice1 from 0 to 32 ns. Row 2 gets its channel at 16 ns, when row 1 is done, and
 * arrives at once; row 0 is issued at 16 ns and arrives at once, too. Issues are of a later class
 * than arrivals, so row 0 is the last at the memory, though its id is smaller.
 */
static void who_is_issued_and_arrives_at_once_is_the_last(void **state)
{
    const kb_topology *t = any_topology(no_delays);

    (void)state;
    assert_non_null(t);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)e});

        issue(sim, t, 16000000, KB_READ, "c0.pe2", "c0.slice1", 256);
        issue(sim, t, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
        issue(sim, t, 0, KB_READ, "c0.pe0", "c0.slice1", 128);
        issue(sim, t, 0, KB_READ, "c0.pe1", "c0.slice1", 8192);
        run_all(sim);
        assert_true(result_of(sim, 0).arrive_fs == 16000000);
        assert_true(result_of(sim, 2).arrive_fs == 16000000);
        assert_true(result_of(sim, 3).done_fs == 32000000);
        assert_true(result_of(sim, 2).service_fs == 32000000);
        assert_true(result_of(sim, 0).service_fs == result_of(sim, 2).done_fs);
        kb_sim_free(sim);
    }
    any_topology_free(t);
}

/*
 * On what is shipped, with links that queue. Row 0 comes over the crossbar of pe2 to the link into
 * slice 1 at 14.07 ns, and so does row 1, from pe1: row 1 waits for the link, is at the slice at
 * 30.095 ns, as its end would have come, and ends at 46.095 ns. Then row 2 is issued, together with
 * row 3: it takes the channel first.
 */
static void an_end_behind_a_full_link_issues_in_time(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: m\nsip: {cube_mesh: {w: 4, h: 2}}\n");
    const int64_t end_fs = 46095000;

    (void)state;
    EACH_HOW(how)
    {
        kb_sim *sim = new_sim(
            topo, (kb_options){.engine = how & 1 ? KB_HOP : KB_FUSED, .fingerprint = how & 2});

        issue(sim, topo, 10000000, KB_READ, "c0.pe2", "c0.slice1", 4096);
        issue(sim, topo, 12010000, KB_READ, "c0.pe1", "c0.slice1", 4096);
        issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
        issue(sim, topo, end_fs, KB_READ, "c0.pe0", "c0.slice0", 4096);
        wait_for(sim, 2, 1, NONE, 0);
        run_all(sim);
        assert_int_equal(result_of(sim, 1).arrive_fs, 30095000);
        assert_int_equal(result_of(sim, 1).end_fs, end_fs);
        assert_int_equal(result_of(sim, 2).start_fs, end_fs);
        assert_true(result_of(sim, 3).start_fs > end_fs);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

static void waiting_for_nothing_is_no_waiting(void **state)
{
    kb_sim *sim = sim_by(0);

    (void)state;
    read_local(sim, 5);
    assert_int_equal(kb_sim_add_dependencies(sim, 0, NULL, 0, 0, NULL), KB_OK);
    run_all(sim);
    assert_true(result_of(sim, 0).issue_fs == 5);
    kb_sim_free(sim);
}

/* -- runs that end early -------------------------------------------------------------------- */

static void bounds_leave_those_that_wait_incomplete(void **state)
{
    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        const int64_t untils_fs[] = {HOST_DONE_FS, HOST_END_FS, HOST_END_FS + LOCAL_FS};
        kb_result r;

        for (uint64_t n = 0; n < LENGTH(untils_fs); n++) {
            kb_sim *sim =
                new_sim(cube8, (kb_options){.engine = (kb_engine)e, .until_fs = untils_fs[n]});

            issue(sim, cube8, 0, KB_D2H, "host", "c0.slice0", 4096);
            read_local(sim, 0);
            wait_for(sim, 1, 0, NONE, 0);
            assert_int_equal(kb_sim_run(sim, 0, NULL), n == 2 ? KB_OK : KB_STOPPED);
            assert_true(kb_sim_done(sim) == n);
            assert_int_equal(kb_sim_result(sim, 1, &r), n == 2 ? KB_OK : KB_PENDING);
            kb_sim_free(sim);
        }
    }
}

static void a_time_of_issue_past_2_63_fs_ends_the_run(void **state)
{
    (void)state;
    EACH_HOW(how)
    {
        kb_sim *sim = sim_by(how);
        kb_error why = {""};

        read_local(sim, 0);
        read_local(sim, 0);
        wait_for(sim, 1, 0, NONE, INT64_MAX);
        assert_int_equal(kb_sim_run(sim, 0, &why), KB_TIME_RANGE);
        assert_non_null(strstr(why.text, "2^63"));
        assert_true(result_of(sim, 0).end_fs == LOCAL_FS);
        kb_sim_free(sim);
    }
}

/* -- what is refused ------------------------------------------------------------------------ */

static void assert_refused(kb_sim *sim, uint64_t id, uint64_t after, size_t n, int64_t think_fs,
                           const char *message)
{
    kb_error why = {""};

    assert_int_equal(kb_sim_add_dependencies(sim, id, &after, n, think_fs, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, message);
    assert_int_equal(kb_sim_add_dependencies(sim, id, &after, n, think_fs, NULL), KB_BAD_REQUEST);
}

static void requests_that_cannot_be_are_refused(void **state)
{
    kb_sim *sim = sim_by(0);

    (void)state;
    assert_refused(sim, 0, 0, 1, 0, "there is no transaction 0 that could wait");
    read_local(sim, 0);
    read_local(sim, 0);
    assert_refused(sim, 2, 0, 1, 0, "there is no transaction 2 that could wait");
    assert_refused(sim, 1, 0, 1, -1, "transaction 1 cannot be issued before what it waits for");
    assert_refused(sim, 1, 0, 0, 1, "transaction 1 waits for nothing, and cannot think after it");
    assert_refused(sim, 1, UINT64_MAX, 1, 0,
                   "transaction 1 waits for 18446744073709551615, which cannot be");
    wait_for(sim, 1, 0, NONE, 0);
    assert_refused(sim, 1, 0, 1, 0, "it is known already what transaction 1 waits for");
    run_all(sim);
    assert_refused(sim, 0, 1, 1, 0, "the simulation has begun, nothing can wait any more");
    kb_sim_free(sim);
}

/* The first run says so, each time, and changes nothing. */
static void assert_no_run(kb_sim *sim, const char *message)
{
    for (int i = 0; i < 2; i++) {
        kb_error why = {""};

        assert_int_equal(kb_sim_run(sim, 0, &why), KB_BAD_REQUEST);
        assert_string_equal(why.text, message);
        assert_true(kb_sim_done(sim) == 0);
    }
}

static void what_is_missing_may_still_be_added(void **state)
{
    kb_sim *sim = sim_by(0);

    (void)state;
    read_local(sim, 0);
    read_local(sim, 0);
    wait_for(sim, 1, 2, NONE, 0);
    assert_no_run(sim, "transaction 1 waits for 2, but the last is 1");
    read_local(sim, 0);
    run_all(sim);
    assert_true(result_of(sim, 1).end_fs == 3 * LOCAL_FS);
    kb_sim_free(sim);
}

static void cycles_are_named(void **state)
{
    kb_sim *sim = sim_by(0);

    (void)state;
    for (int i = 0; i < 10; i++)
        read_local(sim, 0);
    wait_for(sim, 9, 7, NONE, 0); /* behind the cycle */
    wait_for(sim, 7, 8, 3, 0);
    wait_for(sim, 3, 7, NONE, 0);
    wait_for(sim, 1, 0, NONE, 0); /* ends */
    assert_no_run(sim, "transactions wait for each other: 3 -> 7 -> 3");
    kb_sim_free(sim);
}

static void a_transaction_may_not_wait_for_itself(void **state)
{
    kb_sim *sim = sim_by(0);

    (void)state;
    read_local(sim, 0);
    read_local(sim, 0);
    wait_for(sim, 1, 0, 1, 0);
    assert_no_run(sim, "transactions wait for each other: 1 -> 1");
    kb_sim_free(sim);
}

/* Row 1 waits for nothing that waits, and row 2 for it, too. */
static void a_cycle_behind_rows_without_one_is_found(void **state)
{
    kb_transaction r = {.op = KB_READ, .nbytes = 64};
    kb_sim *sim = new_sim(cube8, (kb_options){0});

    (void)state;
    r.src = end_of(cube8, "c0.pe0");
    r.dst = end_of(cube8, "c0.slice0");
    for (uint64_t i = 0; i < 4; i++)
        add(sim, &r);
    wait_for(sim, 1, 0, NONE, 0);
    wait_for(sim, 2, 1, 3, 0);
    wait_for(sim, 3, 2, NONE, 0);
    assert_no_run(sim, "transactions wait for each other: 2 -> 3 -> 2");
    kb_sim_free(sim);
}

static void of_cycles_above_eight_the_middle_is_left_out(void **state)
{
    (void)state;
    for (uint64_t n = 8; n <= 9; n++) {
        kb_sim *sim = sim_by(0);

        for (uint64_t i = 0; i < n; i++)
            read_local(sim, 0);
        for (uint64_t i = 0; i < n; i++)
            wait_for(sim, i, (i + 1) % n, NONE, 0);
        assert_no_run(sim, n == 8 ? "transactions wait for each other: "
                                    "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 0"
                                  : "transactions wait for each other: "
                                    "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> ... -> 8 -> 0, 9 of them");
        kb_sim_free(sim);
    }
}

/* -- many ----------------------------------------------------------------------------------- */

enum { MANY = 1000000, SHORT_FS = 2335000 /* 64 B, c0.pe0 -> c0.slice0 */ };

/* No recursion, whichever way the chain lies in the file. */
static void a_chain_of_a_million_runs(void **state)
{
    kb_transaction r = {.op = KB_READ, .nbytes = 64};

    (void)state;
    r.src = end_of(cube8, "c0.pe0");
    r.dst = end_of(cube8, "c0.slice0");
    for (int back = 0; back < 2; back++) {
        kb_sim *sim = new_sim(cube8, (kb_options){0});

        for (uint64_t i = 0; i < MANY; i++)
            add(sim, &r);
        for (uint64_t i = 1; i < MANY; i++)
            wait_for(sim, back ? MANY - 1 - i : i, back ? MANY - i : i - 1, NONE, 0);
        run_all(sim);
        assert_true(kb_sim_end_fs(sim) == MANY * (int64_t)SHORT_FS);
        kb_sim_free(sim);
    }
}

static void a_cycle_of_a_million_is_found(void **state)
{
    kb_transaction r = {.op = KB_READ, .nbytes = 64};
    kb_sim *sim = new_sim(cube8, (kb_options){0});

    (void)state;
    r.src = end_of(cube8, "c0.pe0");
    r.dst = end_of(cube8, "c0.slice0");
    for (uint64_t i = 0; i < MANY; i++)
        add(sim, &r);
    for (uint64_t i = 0; i < MANY; i++)
        wait_for(sim, i, (i + MANY - 1) % MANY, NONE, 0);
    assert_no_run(sim, "transactions wait for each other: 0 -> 999999 -> 999998 -> 999997 -> "
                       "999996 -> 999995 -> ... -> 1 -> 0, 1000000 of them");
    kb_sim_free(sim);
}

/* -- without memory ------------------------------------------------------------------------- */

enum { SOME = 300 };

/* `*failed` is the call that did not get its memory: 0 add, 1 after, 2 run. */
static kb_status live(int *failed)
{
    kb_transaction r = {.op = KB_READ, .nbytes = 64};
    kb_error why = {""};
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(cube8, NULL, &sim);

    *failed = 0;
    if (status != KB_OK)
        return status;
    r.src = end_of(cube8, "c0.pe0");
    r.dst = end_of(cube8, "c0.slice0");
    for (uint64_t i = 0; i < SOME && status == KB_OK; i++) {
        *failed = 0;
        status = kb_sim_add(sim, &r, &why);
        if (status != KB_OK || i == 0)
            continue;
        *failed = 1;
        status = kb_sim_add_dependencies(sim, i, (uint64_t[]){i / 2, 0, i - 1}, 3, 0, &why);
    }
    if (status == KB_OK) {
        *failed = 2;
        status = kb_sim_run(sim, 0, &why);
        assert_true(status != KB_OK || kb_sim_done(sim) == SOME);
        assert_true(kb_sim_run(sim, 0, NULL) == status);
    }
    if (status != KB_OK)
        assert_non_null(strstr(why.text, "out of memory"));
    kb_sim_free(sim);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    unsigned failures[3] = {0};
    int64_t before = owned;
    kb_status status = KB_NO_MEMORY;

    (void)state;
    for (uint64_t n = 0; status == KB_NO_MEMORY; n++) {
        int failed;

        blocks_left = n;
        status = live(&failed);
        blocks_left = UINT64_MAX;
        failures[failed] += status != KB_OK;
        assert_true(owned == before);
    }
    assert_int_equal(status, KB_OK);
    assert_true(failures[1] >= 8); /* itself, and three that grow */
    assert_true(failures[2] >= 4); /* two lists turned around, one to end all, one to sort */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_three_takes_three_times_as_long),
        cmocka_unit_test(a_join_waits_for_the_last_end_and_thinks),
        cmocka_unit_test(nobody_is_issued_before_its_own_time),
        cmocka_unit_test(issues_of_one_instant_are_in_order_of_id),
        cmocka_unit_test(who_is_issued_and_arrives_at_once_is_the_last),
        cmocka_unit_test(an_end_behind_a_full_link_issues_in_time),
        cmocka_unit_test(waiting_for_nothing_is_no_waiting),
        cmocka_unit_test(bounds_leave_those_that_wait_incomplete),
        cmocka_unit_test(a_time_of_issue_past_2_63_fs_ends_the_run),
        cmocka_unit_test(requests_that_cannot_be_are_refused),
        cmocka_unit_test(what_is_missing_may_still_be_added),
        cmocka_unit_test(cycles_are_named),
        cmocka_unit_test(a_transaction_may_not_wait_for_itself),
        cmocka_unit_test(of_cycles_above_eight_the_middle_is_left_out),
        cmocka_unit_test(a_chain_of_a_million_runs),
        cmocka_unit_test(a_cycle_behind_rows_without_one_is_found),
        cmocka_unit_test(a_cycle_of_a_million_is_found),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
