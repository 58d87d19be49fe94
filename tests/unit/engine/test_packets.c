/* test_packets.c -- cube.pe.pe_dma.packet_bytes: a transaction of a PE goes in packets.
 * Times are those of docs/model.md "Packets". */
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>
#include <stdlib.h>

#define CUBE8(links, dma, more)                                                                    \
    "kernbench: 2\nname: packets\ncontention: {links: " links "}\n"                                \
    "sip: {cube_mesh: {w: 4, h: 2}}\ncube: {pe: {pe_dma: {" dma "}}}\n" more

enum { MOST = 4, KIB = 1024 };

/* Reads by c0.pe0, all at 0, and what becomes of each. */
struct reads {
    const char *yaml;
    size_t n;
    const char *dst[MOST]; /* NULL: the addresses from 0 on */
    uint64_t nbytes[MOST];
    double end_ns[MOST], channel_ns[MOST], link_ns[MOST];
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
                                   .dst = end_of(topo, r->dst[i] ? r->dst[i] : "c0.slice0"),
                                   .by_address = !r->dst[i],
                                   .nbytes = r->nbytes[i]});
    run_all(sim);
    for (size_t i = 0; i < r->n; i++) {
        kb_result x = result_of(sim, i);

        assert_int_equal(x.end_fs, fs(r->end_ns[i]));
        assert_int_equal(x.start_fs, fs(r->channel_ns[i]));
        assert_int_equal(x.wait_fs[KB_WAIT_CHANNEL], fs(r->channel_ns[i]));
        assert_int_equal(x.wait_fs[KB_WAIT_LINK], fs(r->link_ns[i]));
        if (r->n == 1)
            assert_int_equal(x.formula_fs, x.end_fs);
    }
    if (options.fingerprint && r->fingerprint)
        assert_true(kb_sim_fingerprint(sim) == r->fingerprint);
    kb_sim_free(sim);
}

static void check(const struct reads *r)
{
    const kb_topology *topo = any_topology(r->yaml);

    assert_non_null(topo);
    for (int i = 0; i < 4; i++)
        run_by(topo, (kb_options){.engine = i % 2 ? KB_HOP : KB_FUSED, .fingerprint = i >= 2}, r);
    any_topology_free(topo);
}

#define READ(links, dma, more, to, bytes, end, channel, link, ...)                                 \
    check(&(struct reads){.yaml = CUBE8(links, dma, more),                                         \
                          .n = 1,                                                                  \
                          .dst = {to},                                                             \
                          .nbytes = {bytes},                                                       \
                          .end_ns = {end},                                                         \
                          .channel_ns = {channel},                                                 \
                          .link_ns = {link},                                                       \
                          __VA_ARGS__})

/* Four packets of 16 ns each wait for each other: at their first link, or before they set out. */
static void packets_follow_one_another(void **state)
{
    (void)state;
    READ("fifo", "packet_bytes: 4096", "", "c0.slice0", 16 * KIB, 66.085, 0, 48,
         .fingerprint = UINT64_C(0x15cc70c6a6d809bc));
    READ("ideal", "packet_bytes: 4096", "", "c0.slice0", 16 * KIB, 66.085, 48, 0,
         .fingerprint = UINT64_C(0x10f4602bfe36e909));
}

/* 3 * 25 + 18.085 */
static void each_takes_a_place_in_the_row(void **state)
{
    (void)state;
    READ("fifo", "packet_bytes: 4096, issue_ns: 25", "", "c0.slice0", 16 * KIB, 93.085, 75, 0);
    READ("ideal", "packet_bytes: 4096, issue_ns: 25", "", "c0.slice0", 16 * KIB, 93.085, 75, 0);
}

/* A packet needs 32 ns of the chain: 3 * 32 + 36.095; 3 * 40 + 36.095; 2 * 46.875 + 4.095 + 34.25
 */
static void the_slowest_link_is_the_pace(void **state)
{
    (void)state;
    READ("fifo", "packet_bytes: 4096", "", "c0.slice1", 16 * KIB, 132.095, 0, 96);
    READ("ideal", "packet_bytes: 4096", "", "c0.slice1", 16 * KIB, 132.095, 96, 0);
    READ("fifo", "packet_bytes: 4096, issue_ns: 40", "", "c0.slice1", 16 * KIB, 156.095, 120, 0);
    READ("ideal", "packet_bytes: 4096, issue_ns: 40", "", "c0.slice1", 16 * KIB, 156.095, 120, 0);
    READ("fifo", "packet_bytes: 6000", "", "c0.slice1", 16 * KIB, 132.095, 0, 93.75);
    READ("ideal", "packet_bytes: 6000", "", "c0.slice1", 16 * KIB, 132.095, 93.75, 0);
}

/* The next transaction of the PE comes behind all packets, over another channel, too. */
static void the_row_goes_on_behind_the_last_packet(void **state)
{
    struct reads r = {.yaml =
                          CUBE8("fifo", "packet_bytes: 4096, issue_ns: 10, read_channels: 2", ""),
                      .n = 2,
                      .dst = {"c0.slice0", "c0.slice1"},
                      .nbytes = {12 * KIB, 64},
                      .end_ns = {50.085, 52.595},
                      .channel_ns = {20, 30},
                      .link_ns = {12, 18}};

    (void)state;
    check(&r);
    r = (struct reads){.yaml =
                           CUBE8("ideal", "packet_bytes: 4096, issue_ns: 10, read_channels: 2", ""),
                       .n = 2,
                       .dst = {"c0.slice0", "c0.slice1"},
                       .nbytes = {12 * KIB, 64},
                       .end_ns = {50.085, 46.595},
                       .channel_ns = {32, 42}};
    check(&r);
}

/*
 * Packets of two granules: those of the first set out at 0 to slices 0 and 1, those of the second
 * with 40 ns to slices 2 and 3, which take 38.105 and 40.115 ns. What is no longer than a packet is
 * whole.
 */
static void packets_are_split_by_addresses(void **state)
{
    (void)state;
    READ("ideal", "packet_bytes: 8192, issue_ns: 40", "addressing: {granule: 4096}\n", NULL,
         16 * KIB, 80.115, 40, 0);
    READ("ideal", "packet_bytes: 8192", "addressing: {granule: 4096}\n", NULL, 16 * KIB, 72.115, 32,
         0);
    READ("ideal", "packet_bytes: 8192, issue_ns: 40", "", "c0.slice0", 8192, 34.085, 0, 0);
}

/* -- alone ---------------------------------------------------------------------------------- */

/* A machine and a read, drawn from a seed; all in fs and bytes. */
struct drawn {
    bool fifo, own;
    uint64_t packet, nbytes;
    uint32_t issue_ns, overhead_ns, latency_ns, bw_gbs;
    const char *dst;
};

static uint32_t below(uint64_t *dice, uint32_t n)
{
    return (uint32_t)(draw(dice) % n);
}

/* 0 as often as not. */
static uint32_t some_ns(uint64_t *dice)
{
    return below(dice, 2) ? below(dice, 100) : 0;
}

static struct drawn draw_case(uint64_t seed)
{
    static const char *const dst[] = {"c0.slice0", "c0.slice1", "c5.slice6", "c0.sram"};
    uint64_t dice = seed * UINT64_C(0x9e3779b97f4a7c15);

    return (struct drawn){.fifo = below(&dice, 2),
                          .own = below(&dice, 2),
                          .packet = 64 + below(&dice, 8000),
                          .nbytes = 1 + below(&dice, 60000),
                          .issue_ns = some_ns(&dice),
                          .overhead_ns = some_ns(&dice),
                          .latency_ns = some_ns(&dice),
                          .bw_gbs = 20 + below(&dice, 300),
                          .dst = dst[below(&dice, LENGTH(dst))]};
}

static const kb_topology *machine_of(const struct drawn *d)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: alone\ncontention: {links: %s}\nsip: {cube_mesh: {w: 4, h: 2}}\n"
             "cube:\n  pe: {pe_dma: {packet_bytes: %u, issue_ns: %u}}\n"
             "  hbm: {overhead_ns: %u, latency_ns: %u, bw_gbs: %u, efficiency: 1, hold: %s}\n"
             "  sram: {overhead_ns: %u, latency_ns: %u, bw_gbs: %u, hold: %s}\n",
             d->fifo ? "fifo" : "ideal", (unsigned)d->packet, d->issue_ns, d->overhead_ns,
             d->latency_ns, d->bw_gbs, d->own ? "own" : "route", d->overhead_ns, d->latency_ns,
             d->bw_gbs, d->own ? "own" : "route");
    return any_topology(yaml);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t taken_fs(uint64_t nbytes, double gbs)
{
    return llround((double)nbytes * 1e6 / gbs);
}

/* Of all links of the way, the longest time of a packet. */
struct slowest {
    uint64_t packet;
    int64_t fs;
};

static void see_hop(void *arg, const kb_hop *hop)
{
    struct slowest *s = arg;

    if (hop->edge_gbs > 0)
        s->fs = most(s->fs, taken_fs(s->packet, hop->edge_gbs));
}

/*
 * On one route, with links ideal or fifo, packet k enters the memory at T + k * P: T is what wires
 * and nodes of the way take, and P the longest of issue_ns, in ideal the drain of a whole packet,
 * in fifo each link's time of it, and how long it holds the memory. One of the last two ends last.
 */
static int64_t closed_form(const kb_topology *topo, const struct drawn *d)
{
    const kb_endpoint src = end_of(topo, "c0.pe0"), dst = end_of(topo, d->dst);
    uint64_t n = (d->nbytes + d->packet - 1) / d->packet, last = d->nbytes - (n - 1) * d->packet;
    struct slowest link = {.packet = d->packet};
    kb_cost whole, rest;
    int64_t pace, hold, end = 0;

    assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, d->packet, &whole, NULL), KB_OK);
    assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, last, &rest, NULL), KB_OK);
    assert_int_equal(kb_route_walk_on(topo, 0, KB_READ, &src, &dst, see_hop, &link, NULL), KB_OK);
    hold = d->overhead_ns * INT64_C(1000000);
    hold += d->own ? taken_fs(d->packet, d->bw_gbs) : whole.drain_fs;
    pace = most(most(d->issue_ns * INT64_C(1000000), hold), d->fifo ? link.fs : whole.drain_fs);
    if (n > 1)
        end = (int64_t)(n - 2) * pace + kb_formula_fs(&whole);
    return most(end, (int64_t)(n - 1) * pace + kb_formula_fs(&rest));
}

static void the_formula_is_a_closed_one_on_one_route(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct drawn d = draw_case(seed);
        const kb_topology *topo = machine_of(&d);
        kb_sim *sim = new_sim(topo, (kb_options){.engine = seed % 2 ? KB_HOP : KB_FUSED});
        kb_result r;

        add(sim, &(kb_transaction){.op = KB_READ,
                                   .src = end_of(topo, "c0.pe0"),
                                   .dst = end_of(topo, d.dst),
                                   .nbytes = d.nbytes});
        run_all(sim);
        r = result_of(sim, 0);
        if (r.formula_fs != closed_form(topo, &d) || r.actual_fs != r.formula_fs)
            fail_msg("seed %u: formula %lld, actual %lld, not %lld", seed, (long long)r.formula_fs,
                     (long long)r.actual_fs, (long long)closed_form(topo, &d));
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

/* -- other commands ------------------------------------------------------------------------- */

/* Copies of a sweep are rows: the second has the channel at 66.085. The next point begins idle. */
static void a_sweep_cuts_its_copies(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", "packet_bytes: 4096", ""));
    const kb_point one = {.op = KB_READ,
                          .src = end_of(topo, "c0.pe0"),
                          .dst = end_of(topo, "c0.slice0"),
                          .nbytes = 16 * KIB,
                          .inflight = 1};
    kb_point points[] = {one, one, one};

    (void)state;
    points[1].inflight = 2;
    for (int hop = 0; hop < 2; hop++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = hop ? KB_HOP : KB_FUSED});
        kb_point_result results[3];

        assert_int_equal(kb_sweep(sim, points, 3, results, NULL, NULL), KB_OK);
        assert_int_equal(results[0].makespan_fs, fs(66.085));
        assert_int_equal(results[1].makespan_fs, fs(2 * 66.085));
        assert_int_equal(results[1].wait_fs[KB_WAIT_CHANNEL], fs(48 + 66.085 / 2));
        assert_int_equal(results[2].makespan_fs, fs(66.085));
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* Traffic to the own slice is far apart at this rate: all its latencies are those of one alone. */
static void the_zero_load_of_traffic_is_the_mean_formula(void **state)
{
    const kb_traffic traffic = {.pattern = KB_LOCAL,
                                .op = KB_READ,
                                .nbytes = 16 * KIB,
                                .rate = 0.001,
                                .txns = 500,
                                .fixed = true,
                                .seed = 1};

    (void)state;
    for (int fifo = 0; fifo < 2; fifo++) {
        const kb_topology *topo =
            any_topology(fifo ? CUBE8("fifo", "packet_bytes: 4096, issue_ns: 25", "")
                              : CUBE8("ideal", "packet_bytes: 4096, issue_ns: 25", ""));
        kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
        kb_traffic_result r;

        assert_int_equal(kb_sim_traffic(sim, &traffic, NULL), KB_OK);
        run_all(sim);
        assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_OK);
        assert_int_equal(r.mean_fs, fs(93.085));
        assert_int_equal(r.formula_fs, fs(93.085));
        assert_int_equal(r.wait_fs[KB_WAIT_CHANNEL], fs(75));
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

static void check_channel(void *arg, const kb_utilization *use)
{
    const int64_t *busy_fs = arg;

    if (use->kind != KB_AT_CHANNEL)
        return;
    assert_int_equal(use->count, busy_fs[1]);
    assert_int_equal(use->busy_fs, busy_fs[0]);
}

/* A channel is busy from the first packet on, and counts a transaction once. */
static void a_channel_counts_a_transaction_once(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("fifo", "packet_bytes: 4096", ""));

    (void)state;
    for (int hop = 0; hop < 2; hop++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = hop ? KB_HOP : KB_FUSED});

        add(sim, &(kb_transaction){.op = KB_READ,
                                   .src = end_of(topo, "c0.pe0"),
                                   .dst = end_of(topo, "c0.slice0"),
                                   .nbytes = 16 * KIB});
        run_all(sim);
        kb_sim_utilization(sim, check_channel, (int64_t[]){fs(66.085), 1});
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

static void too_many_packets_are_refused(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("fifo", "packet_bytes: 64", ""));
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};
    kb_transaction row = {.op = KB_READ,
                          .src = end_of(topo, "c0.pe0"),
                          .dst = end_of(topo, "c0.slice0"),
                          .nbytes = 64 * 65536};

    (void)state;
    assert_int_equal(kb_sim_add(sim, &row, &why), KB_OK);
    row.nbytes++;
    assert_int_equal(kb_sim_add(sim, &row, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "4194305 bytes have more than 65536 parts, by packets of 64");
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* Of two equal reads at once that of a cube with packets of its own is cut: 2.085 + 64 whole, and
 * 75 more for the places of four packets, 2.085 + 16 for the last. */
static void a_cube_may_have_packets_of_its_own(void **state)
{
    const kb_topology *topo = any_topology(
        CUBE8("fifo", "issue_ns: 25", "cubes: {c1: {pe: {pe_dma: {packet_bytes: 4096}}}}\n"));

    (void)state;
    assert_non_null(topo);
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)engine});

        issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 16 * KIB);
        issue(sim, topo, 0, KB_READ, "c1.pe0", "c1.slice0", 16 * KIB);
        run_all(sim);
        assert_int_equal(result_of(sim, 0).end_fs, fs(66.085));
        assert_int_equal(result_of(sim, 1).end_fs, fs(93.085));
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_may_have_packets_of_its_own),
        cmocka_unit_test(packets_follow_one_another),
        cmocka_unit_test(each_takes_a_place_in_the_row),
        cmocka_unit_test(the_slowest_link_is_the_pace),
        cmocka_unit_test(the_row_goes_on_behind_the_last_packet),
        cmocka_unit_test(packets_are_split_by_addresses),
        cmocka_unit_test(the_formula_is_a_closed_one_on_one_route),
        cmocka_unit_test(a_sweep_cuts_its_copies),
        cmocka_unit_test(the_zero_load_of_traffic_is_the_mean_formula),
        cmocka_unit_test(a_channel_counts_a_transaction_once),
        cmocka_unit_test(too_many_packets_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
