/* test_router.c -- a network of routers: numbers computed by programs of their own, by both
 * engines.
 *
 * The machine is cubes in a row, each with one PE: a cube is a router, and its SRAM is a memory
 * that the PE itself reaches through the router, too. docs/network.md "A packet in the way of
 * another".
 */
#include "machine/place.h"
#include "support/any_topology.h"
#include "support/rig.h"
#include <stdio.h>

#define ROW_OF(W, GBS, NBYTES_SEGMENT)                                                             \
    "sip: {cube_mesh: {w: " #W ", h: 1}, d2d: {bw_gbs: " #GBS "}}\n"                               \
    "cube: {pes: 1, ucie: {overhead_ns: 0.0}, noc: {overhead_ns: 4.0, bw_gbs: " #GBS "},\n"        \
    "  xbar: {overhead_ns: 0.0, pe_gbs: " #GBS "}, sram: {bw_gbs: 1e6}, hbm: {bw_gbs: 1e6},\n"     \
    "  pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}}\n"
#define BEGIN "kernbench: 2\nname: m\nns_per_mm: 0.0\n"

/* A transaction at time 0, and when it ends. */
struct row {
    kb_transaction_op op;
    const char *src, *dst;
    uint64_t nbytes;
    int64_t end_fs;
};

struct ran {
    uint64_t fingerprint[2];
    kb_result last;
};

/* All engines end the rows when they should, to `unit_fs`. */
static struct ran check_on(const kb_topology *topo, const struct row *rows, size_t n,
                           int64_t unit_fs)
{
    struct ran ran = {{0}, {0}};

    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        for (int counted = 0; counted < 2; counted++) {
            kb_sim *sim =
                new_sim(topo, (kb_options){.engine = (kb_engine)e, .fingerprint = counted});

            for (size_t i = 0; i < n; i++) {
                kb_transaction r = {.op = rows[i].op,
                                    .src = end_of(topo, rows[i].src),
                                    .dst = end_of(topo, rows[i].dst),
                                    .nbytes = rows[i].nbytes};

                add(sim, &r);
            }
            assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(kb_sim_result(sim, i, &ran.last), KB_OK);
                assert_int_equal((ran.last.end_fs + unit_fs / 2) / unit_fs * unit_fs,
                                 rows[i].end_fs);
            }
            if (counted)
                ran.fingerprint[e] = kb_sim_fingerprint(sim);
            kb_sim_free(sim);
        }
    assert_int_equal(ran.fingerprint[KB_FUSED], ran.fingerprint[KB_HOP]);
    return ran;
}

static struct ran check(const char *yaml, const struct row *rows, size_t n)
{
    const kb_topology *topo = any_topology(yaml);
    struct ran ran = check_on(topo, rows, n, 1);

    any_topology_free(topo);
    return ran;
}

/* A, B and C are writes 0 -> 2, 1 -> 2 and 0 -> 1. */
static void check_abc(const char *yaml, uint64_t b_bytes, const int64_t end_fs[3])
{
    const struct row rows[] = {{KB_WRITE, "c0.pe0", "c2.sram", 320, end_fs[0]},
                               {KB_WRITE, "c1.pe0", "c2.sram", b_bytes, end_fs[1]},
                               {KB_WRITE, "c0.pe0", "c1.sram", 320, end_fs[2]}};

    check(yaml, rows, 3);
}

#define ENDS(...) ((const int64_t[]){__VA_ARGS__})
#define WHOLE_320 BEGIN "contention: {links: router, segment_bytes: 512, packet_bytes: 512, "

/* Segments are powers of two: 320 bytes in segments of 64 keep their order, and their times. */
static void a_full_buffer_stops_what_is_behind(void **state)
{
    (void)state;
    /* room for one packet: B sits in router 2's only place until 28 */
    check_abc(WHOLE_320 "buffer_bytes: 512, vcs: [1, 1]}\n" ROW_OF(3, 16.0, 512), 320,
              ENDS(52000004, 28000003, 72000004));
    check_abc(WHOLE_320 "buffer_bytes: 640, vcs: [1, 1]}\n" ROW_OF(3, 16.0, 512), 320,
              ENDS(48000003, 28000003, 64000002));
}

/* Between routers, and at both ends, 1 ns; from cube 0 to cube 1 `first_fs`. No keys give this. */
static void set_wires(const struct kb_topology *t, int64_t first_fs)
{
    for (uint32_t i = 0; i < t->n_kinds * t->n_segments; i++) {
        const struct segment_row *seg = &t->segments[i];
        struct hop_row *hops = (struct hop_row *)(uintptr_t)&t->hops[seg->first_hop];
        uint32_t kind = i / t->n_segments;

        for (uint32_t k = 0; k < seg->n_hops; k++) {
            uint8_t of = t->cube_nodes[kind * t->n_cube_nodes + hops[k].node].kind;

            if (hops[k].chiplet != AT_CUBE)
                continue;
            if (of == NODE_UCIE && k + 1u == seg->n_hops)
                hops[k].wire_fs = kind == cube_kind(t, 0) ? first_fs : 1000000;
            else if (of == NODE_PE_DMA || of == NODE_XBAR)
                hops[k].wire_fs = 1000000;
        }
    }
}

/* To the ns: the page has them so. */
static void wires_delay_segments_and_credits(void **state)
{
    static const int64_t c_fs[] = {78000000, 80000000};

    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        const struct row rows[] = {{KB_WRITE, "c0.pe0", "c2.slice0", 320, 57000000},
                                   {KB_WRITE, "c1.pe0", "c2.slice0", 320, 31000000},
                                   {KB_WRITE, "c0.pe0", "c1.slice0", 320, c_fs[longer]}};
        const kb_topology *topo = any_topology(WHOLE_320 "buffer_bytes: 512, vcs: [1, 1]}\n" ROW_OF(
            3, 16.0, 512) "cubes: {c0: {hbm: {size_gb: 32}}}\n"); /* a kind of its own */

        set_wires(topo, longer ? 2000000 : 1000000);
        check_on(topo, rows, 3, 1000000);
        any_topology_free(topo);
    }
}

static void two_input_servers_let_two_go(void **state)
{
    (void)state;
    check_abc(WHOLE_320 "buffer_bytes: 640, vcs: [1, 1], input_speedup: 2}\n" ROW_OF(3, 16.0, 512),
              320, ENDS(48000003, 28000003, 48000003));
}

static void fifo_links_have_no_buffers_to_fill(void **state)
{
    (void)state;
    check_abc(BEGIN "contention: {links: fifo}\n" ROW_OF(3, 16.0, 512), 320,
              ENDS(48000000, 28000000, 48000000));
}

static void without_a_limit_a_whole_transaction_goes(void **state)
{
    (void)state;
    check_abc(BEGIN "contention: {links: router, segment_bytes: 1024, packet_bytes: 0,"
                    " buffer_bytes: 0, vcs: [1, 1], input_speedup: 4}\n" ROW_OF(3, 16.0, 640),
              640, ENDS(68000003, 48000003, 64000003));
}

static void parts_of_a_transaction_add_up(void **state)
{
    const struct row row = {KB_WRITE, "c0.pe0", "c1.sram", 100, 41333336};

    (void)state;
    check(BEGIN "contention: {links: router, segment_bytes: 32, packet_bytes: 64,"
                " vcs: [1, 1]}\n" ROW_OF(3, 3.0, 32),
          &row, 1);
}

static void data_of_a_read_come_back(void **state)
{
    const struct row row = {KB_READ, "c0.pe0", "c2.sram", 320, 44000008};
    struct ran ran;

    (void)state;
    ran = check(WHOLE_320 "buffer_bytes: 512, vcs: [1, 1]}\n" ROW_OF(3, 16.0, 512), &row, 1);
    assert_int_equal(ran.last.return_fs, 12000004);
    assert_int_equal(ran.last.formula_fs, ran.last.actual_fs);
}

#define FLITS(BUFFER, MORE)                                                                        \
    BEGIN "contention: {links: router, segment_bytes: 16, packet_bytes: 64, buffer_bytes: " BUFFER \
          ", vcs: [1, 1]" MORE "}\n" ROW_OF(3, 16.0, 16)

/* By hand. The second packet of one write stands behind the first in router 0 until 8 ns; another
 * one waits in router 1 until the only VC has no owner, at 8 ns. */
static void a_first_segment_waits_for_its_vc(void **state)
{
    struct row one = {KB_WRITE, "c0.pe0", "c1.sram", 128, 16000003};
    struct row two[] = {{KB_WRITE, "c0.pe0", "c2.sram", 64, 16000004},
                        {KB_WRITE, "c1.pe0", "c2.sram", 64, 12000003}};

    (void)state;
    check(FLITS("256", ""), &one, 1);
    check(FLITS("256", ""), two, 2);
    one.end_fs = two[0].end_fs = 17000003;
    check(FLITS("256", ", vc_alloc_ns: 1.0"), &one, 1);
    check(FLITS("256", ", vc_alloc_ns: 1.0"), two, 2);
}

/* By hand. A second flit, which has room in the router at 5 ns, needs no VC: 3 of its 4 ns; or none
 * of them, but no less. */
static void a_later_segment_has_its_vc(void **state)
{
    struct row row = {KB_WRITE, "c0.pe0", "c0.sram", 32, 10000003};

    (void)state;
    check(FLITS("16", ""), &row, 1);
    row.end_fs = 9000003;
    check(FLITS("16", ", vc_alloc_ns: 1.0"), &row, 1);
    row.end_fs = 6000003;
    check(FLITS("16", ", vc_alloc_ns: 7.0"), &row, 1);
}

static void the_oldest_goes_first_or_each_in_turn(void **state)
{
#define FIVE                                                                                       \
    BEGIN "contention: {links: router, segment_bytes: 64, packet_bytes: 320,"                      \
          " buffer_bytes: 320, arbiter: "
    struct row rows[] = {{KB_WRITE, "c0.pe0", "c2.sram", 320, 44000002},
                         {KB_WRITE, "c4.pe0", "c2.sram", 320, 64000002},
                         {KB_WRITE, "c2.pe0", "c2.sram", 320, 24000002}};

    (void)state;
    check(FIVE "age, vcs: [1, 1]}\n" ROW_OF(5, 16.0, 64), rows, 3);
    rows[0].end_fs = 64000002;
    rows[1].end_fs = 44000002;
    check(FIVE "rr, vcs: [1, 1]}\n" ROW_OF(5, 16.0, 64), rows, 3);
}

/* Among writes that compete for one memory that of the highest priority is first. */
static void priorities_go_first(void **state)
{
    const kb_topology *topo =
        any_topology(FIVE "age, vcs: [2, 2], prios: 2}\n" ROW_OF(5, 16.0, 64));
    const char *const from[] = {"c0.pe0", "c4.pe0", "c1.pe0", "c3.pe0"};
    int64_t end_fs[4];

    (void)state;
    for (uint32_t urgent = 0; urgent < 4; urgent++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
        kb_result got;

        for (uint32_t i = 0; i < 4; i++) {
            kb_transaction r = {.op = KB_WRITE,
                                .src = end_of(topo, from[i]),
                                .dst = end_of(topo, "c2.sram"),
                                .nbytes = 3200,
                                .prio = i == urgent ? 3 : 0};

            add(sim, &r);
        }
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(kb_sim_result(sim, i, &got), KB_OK);
            end_fs[i] = got.end_fs;
        }
        for (uint32_t i = 0; i < 4; i++)
            assert_true(end_fs[urgent] <= end_fs[i]);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* What buffers hold, over a run. */
struct held {
    size_t n;
    double mean[400];
    int64_t most[400];
};

static void see_buffer(void *arg, const kb_utilization *use)
{
    struct held *held = arg;

    if (use->kind != KB_AT_VC)
        return;
    assert_true(held->n < LENGTH(held->mean));
    held->mean[held->n] = use->buffer_mean;
    held->most[held->n++] = use->buffer_max;
}

/* Three writes to one memory, of which two wait in buffers; until then. */
static struct held held_until(const kb_topology *topo, kb_engine engine, int64_t until_fs)
{
    kb_sim *sim =
        new_sim(topo, (kb_options){.engine = engine, .buffers = true, .until_fs = until_fs});
    struct held held = {0};

    for (int i = 0; i < 6; i++) {
        kb_transaction r = {.op = i < 3 ? KB_WRITE : KB_READ, .nbytes = 6400};

        r.src = end_of(topo, i % 2 ? "c0.pe0" : "c1.pe0");
        r.dst = end_of(topo, "c2.sram");
        add(sim, &r);
    }
    kb_sim_run(sim, 0, NULL);
    assert_int_equal(kb_sim_utilization(sim, see_buffer, &held), KB_OK);
    kb_sim_free(sim);
    return held;
}

/* A run that stops has held what is in its buffers until then. */
static void what_is_in_buffers_counts_until_a_run_stops(void **state)
{
    const kb_topology *topo = any_topology(
        BEGIN
        "contention: {links: router, segment_bytes: 64, packet_bytes: 64}\n" ROW_OF(3, 16.0, 64));
    int64_t most = 0;

    (void)state;
    for (int64_t until_fs = 20000000; until_fs < 600000000; until_fs += 70000000) {
        struct held a = held_until(topo, KB_FUSED, until_fs),
                    b = held_until(topo, KB_HOP, until_fs);

        assert_true(a.n == b.n && a.n > 0);
        for (size_t i = 0; i < a.n; i++) {
            assert_true(a.mean[i] == b.mean[i] && a.most[i] == b.most[i]);
            assert_true(a.mean[i] >= 0 && a.mean[i] <= (double)a.most[i]);
            most = a.most[i] > most ? a.most[i] : most;
        }
    }
    assert_true(most >= 1024);
    any_topology_free(topo);
}

/* Points of a sweep are simulated one after the other, also where buffers are counted. */
static void a_point_leaves_nothing_to_the_next(void **state)
{
    const kb_topology *topo =
        any_topology(BEGIN "contention: {links: router}\n" ROW_OF(3, 16.0, 64));
    kb_sim *sim = new_sim(topo, (kb_options){.buffers = true});
    kb_point points[3];
    kb_point_result results[3];

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        points[i] = (kb_point){.op = KB_WRITE,
                               .src = end_of(topo, "c0.pe0"),
                               .dst = end_of(topo, i == 1 ? "c1.sram" : "c2.sram"),
                               .nbytes = 640,
                               .inflight = 4};
    assert_int_equal(kb_sweep(sim, points, 3, results, NULL, NULL), KB_OK);
    assert_true(results[0].mean_fs == results[2].mean_fs);
    assert_true(results[0].mean_fs != results[1].mean_fs);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* Of a VC the node that its port leads from, as of the link. */
static void a_vc_stands_where_its_port_does(void **state)
{
    const kb_topology *topo =
        any_topology(BEGIN "contention: {links: router}\n" ROW_OF(3, 16.0, 64));
    char of_vc[KB_NODE_BYTES], of_link[KB_NODE_BYTES];

    (void)state;
    kb_place_node(topo, place_of(KB_AT_VC, 5 * PLACE_VCS + 1), of_vc);
    kb_place_node(topo, place_of(KB_AT_LINK, 5), of_link);
    assert_string_equal(of_vc, of_link);
    assert_true(strlen(of_vc) > 0);
    any_topology_free(topo);
}

/* A ring of `w` cubes with one VC, which kbgen would refuse; `why` may be NULL. */
static void run_stalled(int w, kb_error *why)
{
    char yaml[512], src[24], dst[24];
    const kb_topology *topo;
    struct kb_topology *open;
    kb_sim *sim;

    snprintf(yaml, sizeof yaml,
             BEGIN "contention: {links: router, segment_bytes: 64, packet_bytes: 640,"
                   " buffer_bytes: 64, vcs: [2, 2]}\n"
                   "sip: {cube_mesh: {w: %d, h: 1, wrap: x}, d2d: {bw_gbs: 16.0}}\n"
                   "cube: {pes: 1, sram: {bw_gbs: 1e6}}\n",
             w);
    topo = any_topology(yaml);
    assert_non_null(topo);
    open = (struct kb_topology *)(uintptr_t)topo;
    open->vcs_vary = 0; /* no datelines: the check is off */
    open->request_vcs = 1;
    sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    for (int i = 0; i < w; i++) {
        kb_transaction r = {.op = KB_WRITE, .nbytes = 6400};

        snprintf(src, sizeof src, "c%d.pe0", i);
        snprintf(dst, sizeof dst, "c%d.sram", (i + 2) % w);
        r.src = end_of(topo, src);
        r.dst = end_of(topo, dst);
        add(sim, &r);
    }
    assert_int_equal(kb_sim_run(sim, 0, why), KB_INTERNAL);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* The run says so, and does not look like an end. */
static void packets_that_wait_for_each_other_are_named(void **state)
{
    kb_error why = {""};

    (void)state;
    run_stalled(5, &why);
    assert_non_null(strstr(why.text, "packets wait for each other: "));
    assert_non_null(strstr(why.text, "VC 0"));
    assert_null(strstr(why.text, " more"));
    run_stalled(8, &why); /* nine ports, of which six are named */
    assert_non_null(strstr(why.text, " VC 0, and 3 more"));
    run_stalled(5, NULL);
}

/* Four writes at once, to two memories; stops when so many events have been counted. */
static kb_status run_some(const kb_topology *topo, kb_engine engine, uint64_t max_events,
                          uint64_t *fingerprint, uint64_t *done)
{
    static const char *const ends[][2] = {
        {"c0.pe0", "c2.sram"}, {"c2.pe0", "c0.sram"}, {"c1.pe0", "c2.sram"}, {"c1.pe0", "c0.sram"}};
    kb_sim *sim = new_sim(
        topo, (kb_options){.engine = engine, .max_events = max_events, .fingerprint = true});
    kb_status status;

    for (size_t i = 0; i < LENGTH(ends); i++) {
        kb_transaction r = {.op = KB_WRITE,
                            .src = end_of(topo, ends[i][0]),
                            .dst = end_of(topo, ends[i][1]),
                            .nbytes = 128};

        add(sim, &r);
    }
    status = kb_sim_run(sim, 0, NULL);
    *fingerprint = kb_sim_fingerprint(sim);
    *done = kb_sim_done(sim);
    kb_sim_free(sim);
    return status;
}

/* Also between two ports that decide in one instant. */
static void a_run_may_stop_after_any_event(void **state)
{
    const kb_topology *topo = any_topology(
        BEGIN
        "contention: {links: router, segment_bytes: 64, packet_bytes: 64}\n" ROW_OF(3, 16.0, 64));
    uint64_t whole, fingerprint[2], done[2], n = 0, before = 0;
    kb_status status[2] = {KB_STOPPED};

    (void)state;
    assert_int_equal(run_some(topo, KB_HOP, 0, &whole, &done[1]), KB_OK);
    while (status[0] == KB_STOPPED && n++ < 1000) {
        for (int e = KB_FUSED; e <= KB_HOP; e++)
            status[e] = run_some(topo, (kb_engine)e, n, &fingerprint[e], &done[e]);
        assert_int_equal(status[KB_FUSED], status[KB_HOP]);
        assert_true(fingerprint[KB_FUSED] == fingerprint[KB_HOP]);
        assert_true(done[KB_FUSED] == done[KB_HOP] && done[KB_FUSED] >= before);
        before = done[KB_FUSED];
    }
    assert_int_equal(status[0], KB_OK);
    assert_true(fingerprint[0] == whole && before == 4 && n > 8);
    any_topology_free(topo);
}

/* docs/network.md "Banks behind routers", by hand: one channel of 32 GB/s, a way of 16 GB/s. */
#define BANKED(KEYS)                                                                               \
    BEGIN "contention: {links: router, segment_bytes: 64, packet_bytes: 128, vcs: [1, 1]}\n"       \
          "sip: {cube_mesh: {w: 1, h: 1}}\n"                                                       \
          "cube: {pes: 1, noc: {bw_gbs: 16}, xbar: {overhead_ns: 0.0, pe_gbs: 16},\n"              \
          "  hbm: {model: banks, bw_gbs: 32, efficiency: 1.0, channels: 1, " KEYS                  \
          "timing_ns: {ctrl: 0}},\n"                                                               \
          "  pe: {pe_dma: {overhead_ns: 0.0, read_channels: 8, write_channels: 8}}}\n"

static void data_go_back_as_bursts_end(void **state)
{
    /* bursts end at 30 and 34; the way is free of the first segment at 34 */
    static const struct row reads[] = {{KB_READ, "c0.pe0", "c0.slice0", 128, 38000002}};
    /* a row that is open: 14 ns less of each burst's bank, and behind the first's data */
    static const struct row twice[] = {{KB_READ, "c0.pe0", "c0.slice0", 64, 34000002},
                                       {KB_READ, "c0.pe0", "c0.slice0", 64, 38000002}};
    /* packets at 0 and 8; the first burst ends at 20, the drain 14 later */
    static const struct row written[] = {{KB_WRITE, "c0.pe0", "c0.slice0", 256, 34000001}};
    static const struct row posted[] = {{KB_WRITE, "c0.pe0", "c0.slice0", 256, 16000001}};

    (void)state;
    check(BANKED(""), reads, 1);
    check(BANKED(""), twice, 2);
    check(BANKED("write_ack: written, "), written, 1);
    check(BANKED(""), posted, 1);
}

/* overhead_ns and latency_ns come behind the bursts' ends, and hold nothing. */
static void what_is_behind_banks_delays_data(void **state)
{
    static const struct row reads[] = {{KB_READ, "c0.pe0", "c0.slice0", 128, 48000002}};

    (void)state;
    check(BANKED("overhead_ns: 3.0, latency_ns: 7.0, "), reads, 1);
}

/* The status of adding a transaction of this priority. */
static kb_status added(const char *yaml, uint32_t prio, kb_error *why)
{
    const kb_topology *topo = any_topology(yaml);
    assert_non_null(topo);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    kb_transaction r = {.op = KB_WRITE,
                        .src = end_of(topo, "c0.pe0"),
                        .dst = end_of(topo, "c1.sram"),
                        .nbytes = 64,
                        .prio = prio};
    kb_status status = kb_sim_add(sim, &r, why);

    kb_sim_free(sim);
    any_topology_free(topo);
    return status;
}

/* docs/network.md: priorities are 0 to 3, and of routers. */
static void a_priority_that_is_none_is_refused(void **state)
{
    static const char routers[] = BEGIN "contention: {links: router}\n" ROW_OF(2, 16, 64);
    static const char queues[] = BEGIN "contention: {links: fifo}\n" ROW_OF(2, 16, 64);
    static const char text[] = "a priority is 0 to 3, and 0 but with contention.links: router";
    kb_error why = {""};

    (void)state;
    assert_int_equal(added(routers, 3, &why), KB_OK);
    assert_int_equal(added(queues, 0, &why), KB_OK);
    assert_int_equal(added(routers, 4, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, text);
    assert_int_equal(added(queues, 1, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_priority_that_is_none_is_refused),
        cmocka_unit_test(data_go_back_as_bursts_end),
        cmocka_unit_test(what_is_behind_banks_delays_data),
        cmocka_unit_test(a_full_buffer_stops_what_is_behind),
        cmocka_unit_test(wires_delay_segments_and_credits),
        cmocka_unit_test(two_input_servers_let_two_go),
        cmocka_unit_test(fifo_links_have_no_buffers_to_fill),
        cmocka_unit_test(without_a_limit_a_whole_transaction_goes),
        cmocka_unit_test(parts_of_a_transaction_add_up),
        cmocka_unit_test(data_of_a_read_come_back),
        cmocka_unit_test(a_first_segment_waits_for_its_vc),
        cmocka_unit_test(a_later_segment_has_its_vc),
        cmocka_unit_test(the_oldest_goes_first_or_each_in_turn),
        cmocka_unit_test(priorities_go_first),
        cmocka_unit_test(a_run_may_stop_after_any_event),
        cmocka_unit_test(a_point_leaves_nothing_to_the_next),
        cmocka_unit_test(a_vc_stands_where_its_port_does),
        cmocka_unit_test(what_is_in_buffers_counts_until_a_run_stops),
        cmocka_unit_test(packets_that_wait_for_each_other_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
