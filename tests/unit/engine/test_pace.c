/* test_pace.c -- cube.pe.pe_dma.issue_ns: transactions of a PE set out one after the other.
 * Times are those of docs/model.md "Channels". */
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>

#define CUBE8(links, dma)                                                                          \
    "kernbench: 2\nname: pace\ncontention: {links: " links "}\n"                                   \
    "sip: {cube_mesh: {w: 4, h: 2}}\ncube: {pe: {pe_dma: {issue_ns: 25.0" dma "}}}\n"

enum { MOST = 4 };

/* `n` reads of the own slice, all at 0: when each sets out and ends. */
struct reads {
    size_t n;
    uint64_t nbytes;
    double start_ns[MOST], end_ns[MOST];
    uint64_t fingerprint; /* 0: not known */
};

static int64_t fs(double ns)
{
    return llround(ns * 1e6);
}

static void run_by(const kb_topology *topo, kb_options options, const struct reads *r)
{
    kb_sim *sim = new_sim(topo, options);

    for (size_t i = 0; i < r->n; i++)
        add(sim, &(kb_transaction){.op = KB_READ,
                                   .src = end_of(topo, "c0.pe0"),
                                   .dst = end_of(topo, "c0.slice0"),
                                   .nbytes = r->nbytes});
    run_all(sim);
    for (size_t i = 0; i < r->n; i++) {
        kb_result x = result_of(sim, i);

        assert_int_equal(x.start_fs, fs(r->start_ns[i]));
        assert_int_equal(x.wait_fs[KB_WAIT_CHANNEL], fs(r->start_ns[i]));
        assert_int_equal(x.end_fs, fs(r->end_ns[i]));
    }
    if (options.fingerprint && r->fingerprint)
        assert_true(kb_sim_fingerprint(sim) == r->fingerprint);
    kb_sim_free(sim);
}

static void check(const char *yaml, const struct reads *r)
{
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    for (int i = 0; i < 4; i++)
        run_by(topo, (kb_options){.engine = i % 2 ? KB_HOP : KB_FUSED, .fingerprint = i >= 2}, r);
    any_topology_free(topo);
}

/* Each has a channel at once, and waits for the one before to have set out 25 ns ago. */
static void reads_set_out_one_after_the_other(void **state)
{
    struct reads r = {
        4, 64, {0, 25, 50, 75}, {2.335, 27.335, 52.335, 77.335}, UINT64_C(0x51967124b3c49e79)};

    (void)state;
    check(CUBE8("ideal", ", read_channels: 8"), &r);
    r.fingerprint = UINT64_C(0xfc4006433e00ae16);
    check(CUBE8("fifo", ", read_channels: 8"), &r);
}

/* The channel is free at 18.085. */
static void one_that_has_its_channel_still_waits(void **state)
{
    const struct reads r = {2, 4096, {0, 25}, {18.085, 43.085}, 0};

    (void)state;
    check(CUBE8("fifo", ""), &r);
    check(CUBE8("ideal", ""), &r);
}

static void check_channel(void *arg, const kb_utilization *use)
{
    int *seen = arg;

    if (use->kind != KB_AT_CHANNEL)
        return;
    assert_int_equal(use->busy_fs, fs(2 * 2.335));
    assert_int_equal(llround(use->wait_ns * 1e6), fs(25 + 2 * 30));
    ++*seen;
}

/* At 30 ns two reads have ended; the other two have a channel each, but are not under way. */
static void what_is_put_off_waits_until_then(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("fifo", ", read_channels: 8"));
    int seen = 0;

    (void)state;
    for (int hop = 0; hop < 2; hop++) {
        kb_sim *sim =
            new_sim(topo, (kb_options){.engine = hop ? KB_HOP : KB_FUSED, .until_fs = fs(30)});

        for (size_t i = 0; i < 4; i++)
            add(sim, &(kb_transaction){.op = KB_READ,
                                       .src = end_of(topo, "c0.pe0"),
                                       .dst = end_of(topo, "c0.slice0"),
                                       .nbytes = 64});
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_STOPPED);
        kb_sim_utilization(sim, check_channel, &seen);
        kb_sim_free(sim);
    }
    assert_int_equal(seen, 2);
    any_topology_free(topo);
}

/* A sweep's copies do as rows; the next point begins with none before it. */
static void copies_of_a_sweep_do_so_too(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("fifo", ", read_channels: 8"));
    const kb_point point = {.op = KB_READ,
                            .src = end_of(topo, "c0.pe0"),
                            .dst = end_of(topo, "c0.slice0"),
                            .nbytes = 64,
                            .inflight = 4};
    const kb_point points[] = {point, point};

    (void)state;
    for (int hop = 0; hop < 2; hop++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = hop ? KB_HOP : KB_FUSED});
        kb_point_result results[2];

        assert_int_equal(kb_sweep(sim, points, 2, results, NULL, NULL), KB_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(results[i].makespan_fs, fs(77.335));
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_set_out_one_after_the_other),
        cmocka_unit_test(one_that_has_its_channel_still_waits),
        cmocka_unit_test(what_is_put_off_waits_until_then),
        cmocka_unit_test(copies_of_a_sweep_do_so_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
