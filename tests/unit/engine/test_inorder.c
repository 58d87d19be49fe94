/* test_inorder.c -- the engine of stations that keep order: what it leaves out, and what is rare.
 */
#include "support/any_topology.h"
#include "support/rig.h"

/* Random rows of a machine, some issued at one instant; sizes from 1 to `most` bytes. */
static kb_sim *any_rows(const kb_topology *topo, kb_options options, size_t n, uint64_t most)
{
    kb_sim *sim = new_sim(topo, options);
    uint64_t dice = 11;

    for (size_t i = 0; i < n; i++) {
        kb_transaction r = {.op = draw(&dice) % 2 ? KB_READ : KB_WRITE};

        kb_pe_get(topo, (uint32_t)(draw(&dice) % kb_pe_count(topo)), &r.src);
        kb_slice_get(topo, (uint32_t)(draw(&dice) % kb_slice_count(topo)), &r.dst);
        r.nbytes = 1 + draw(&dice) % most;
        r.issue_fs = (int64_t)(draw(&dice) % 20) * 1000000;
        add(sim, &r);
    }
    return sim;
}

static void assert_same_results(kb_sim *fused, kb_sim *hop, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        kb_result a, b;

        assert_int_equal(kb_sim_result(fused, i, &a), KB_OK);
        assert_int_equal(kb_sim_result(hop, i, &b), KB_OK);
        assert_memory_equal(&a, &b, sizeof a);
    }
    assert_true(kb_sim_end_fs(fused) == kb_sim_end_fs(hop));
}

/* Every row as the hop engine has it, which goes node by node and keeps queues. */
static void assert_as_hop(const kb_topology *topo, size_t n, uint64_t most)
{
    kb_sim *fused = any_rows(topo, (kb_options){.engine = KB_FUSED}, n, most);
    kb_sim *hop = any_rows(topo, (kb_options){.engine = KB_HOP}, n, most);

    run_all(fused);
    run_all(hop);
    assert_same_results(fused, hop, n);
    kb_sim_free(fused);
    kb_sim_free(hop);
}

/* runtime/engine/program.h: what bytes take is kept for 15 bandwidths; here are more. */
static void more_bandwidths_than_are_kept(void **state)
{
    char yaml[4096] = "kernbench: 2\nname: many\nsip: {cube_mesh: {w: 4, h: 5}}\ncubes:\n",
         row[128];
    const kb_topology *topo;

    (void)state;
    for (int cube = 0; cube < 20; cube++) {
        snprintf(row, sizeof row, "  c%d: {noc: {bw_gbs: %d.0}}\n", cube, 64 + 7 * cube);
        strcat(yaml, row);
    }
    topo = any_topology(yaml);
    assert_non_null(topo);
    assert_as_hop(topo, 3000, 4096);
    any_topology_free(topo);
}

/* The same: of sizes, more than there is room for. */
static void more_sizes_than_are_kept(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: sizes\nsip: {cube_mesh: {w: 3, h: 2}}\n");

    (void)state;
    assert_non_null(topo);
    assert_as_hop(topo, 3000, 100000);
    any_topology_free(topo);
}

/* runtime/engine/inorder_steps.h, the example at its top: two reads of a PE are two events. */
static void two_reads_are_two_events(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 1\nname: fifo\nsip: {cube_mesh: {w: 1, h: 1}}\ncontention: {links: fifo}\n"
        "cube: {hbm: {hold: own}}\n");
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};
    kb_result r;

    (void)state;
    for (int i = 0; i < 2; i++)
        issue(sim, topo, 0, KB_READ, "c0.pe1", "c0.slice1", 4096);
    assert_int_equal(kb_sim_run(sim, 2, &why), KB_AGAIN);
    assert_int_equal(kb_sim_done(sim), 2);
    assert_int_equal(kb_sim_run(sim, 1, &why), KB_OK);
    assert_int_equal(kb_sim_result(sim, 0, &r), KB_OK);
    assert_int_equal(r.done_fs, 18085000);
    assert_int_equal(kb_sim_result(sim, 1, &r), KB_OK);
    assert_int_equal(r.start_fs, 18085000);
    assert_int_equal(r.done_fs, 2 * 18085000);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static const kb_topology *topology_of_links(const char *links)
{
    char yaml[128];
    const kb_topology *topo;

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\ncontention: {links: %s}\n",
             links);
    topo = any_topology(yaml);
    assert_non_null(topo);
    return topo;
}

/*
 * The same of a host's: over ideal links its arrival at the engine and its end are no events, nor
 * where links queue, and there each has an event at four links. Those of one
 * engine are as hop has them, waits among them.
 */
static void an_engine_needs_no_events(void **state)
{
    static const char *const links[] = {"ideal", "fifo"};
    static const uint64_t events[] = {4, 4 * 4};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const kb_topology *topo = topology_of_links(links[i]);
        kb_sim *fused = new_sim(topo, (kb_options){0});
        kb_sim *hop = new_sim(topo, (kb_options){.engine = KB_HOP});
        kb_error why = {""};

        for (int k = 0; k < 4; k++) {
            issue(fused, topo, k, KB_H2D, "host", "c1.slice1", 4096);
            issue(hop, topo, k, KB_H2D, "host", "c1.slice1", 4096);
        }
        run_all(hop);
        assert_int_equal(kb_sim_run(fused, events[i], &why), KB_AGAIN);
        assert_int_equal(kb_sim_done(fused), 4);
        assert_int_equal(kb_sim_run(fused, 1, &why), KB_OK);
        assert_same_results(fused, hop, 4);
        kb_sim_free(fused);
        kb_sim_free(hop);
        any_topology_free(topo);
    }
}

/*
 * docs/model.md "Order of events": an issue is of a later class than arrivals. Without any delay on
 * the way, c0.pe0 has its channel free at the very time at which its next row is issued. That row
 * comes to slice 2 behind one that waited for c0.pe1's channel and sets out then, whatever their
 * ids.
 */
static void issued_as_the_channel_becomes_free(void **state)
{
    static const char *const links[] = {"ideal", "fifo"};
    const int64_t taken_fs = 16000000;

    (void)state;
    for (int i = 0; i < 2; i++) {
        char yaml[512];
        kb_result waited, issued;

        snprintf(yaml, sizeof yaml,
                 "kernbench: 1\nname: zero\nns_per_mm: 0.0\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                 "contention: {links: %s}\ncube: {noc: {bw_gbs: 256.0}, xbar: {overhead_ns: 0.0, "
                 "chain_gbs: 256.0}, bridge: {overhead_ns: 0.0, bw_gbs: 256.0}}\n",
                 links[i]);
        const kb_topology *topo = any_topology(yaml);
        kb_sim *sim = new_sim(topo, (kb_options){0});

        issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
        issue(sim, topo, taken_fs, KB_READ, "c0.pe0", "c0.slice2", 4096);
        issue(sim, topo, 0, KB_READ, "c0.pe1", "c0.slice1", 4096);
        issue(sim, topo, 0, KB_READ, "c0.pe1", "c0.slice2", 4096);
        run_all(sim);
        assert_int_equal(kb_sim_result(sim, 1, &issued), KB_OK);
        assert_int_equal(kb_sim_result(sim, 3, &waited), KB_OK);
        assert_int_equal(issued.start_fs, taken_fs);
        assert_int_equal(waited.start_fs, taken_fs);
        assert_int_equal(waited.service_fs, taken_fs);
        assert_int_equal(issued.service_fs, 2 * taken_fs);
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

/* A run that is stopped has used no station for longer than it lasted. */
static void use_is_plausible(void *arg, const kb_utilization *use)
{
    size_t *n = arg;

    if (use->kind == KB_AT_LINK && !use->queues)
        return; /* an ideal link carries what comes */
    if (use->busy_fs < 0 || use->util_pct > 100.0001)
        fail_msg("%s: busy for %lld fs, %f %%", use->name, (long long)use->busy_fs, use->util_pct);
    ++*n;
}

static void stopped_anywhere(void **state)
{
    static const char *const machines[] = {
        "kernbench: 2\nname: fifo\nsip: {cube_mesh: {w: 2, h: 2}}\n",
        "kernbench: 2\nname: ideal\nsip: {cube_mesh: {w: 2, h: 2}}\ncontention: {links: ideal}\n"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const kb_topology *topo = any_topology(machines[i]);
        kb_sim *sim = any_rows(topo, (kb_options){0}, 300, 5000);
        kb_error why = {""};
        size_t n = 0;

        while (kb_sim_run(sim, 29, &why) == KB_AGAIN)
            assert_int_equal(kb_sim_utilization(sim, use_is_plausible, &n), KB_OK);
        assert_true(n > 0);
        assert_int_equal(kb_sim_done(sim), 300);
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

/* Several channels where links are ideal. More rows than channels, in no order of time, of sizes
 * that differ: as hop has them. */
static void several_channels_of_a_pe(void **state)
{
    const kb_topology *topo = any_topology("kernbench: 2\nname: several\n"
                                           "sip: {cube_mesh: {w: 2, h: 1}}\n"
                                           "contention: {links: ideal}\n"
                                           "cube: {pe: {pe_dma: {read_channels: 3, "
                                           "write_channels: 2}}}\n");

    (void)state;
    assert_non_null(topo);
    assert_as_hop(topo, 4000, 4096);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_bandwidths_than_are_kept),
        cmocka_unit_test(more_sizes_than_are_kept),
        cmocka_unit_test(two_reads_are_two_events),
        cmocka_unit_test(an_engine_needs_no_events),
        cmocka_unit_test(issued_as_the_channel_becomes_free),
        cmocka_unit_test(stopped_anywhere),
        cmocka_unit_test(several_channels_of_a_pe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
