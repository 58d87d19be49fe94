/* test_sim.c -- simulations as a library's user meets them: errors, bounds, costs left out. */
#include "support/any_topology.h"
#include "support/rig.h"

#include "cube8.h"
#include "tray32.h"

#define CUBE8 "kernbench: 1\nname: any8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

/* -- what is refused ------------------------------------------------------------------------ */

static const kb_topology *const cube8 = &cube8_topology;

/* kb_sim_add() refuses `request` with `message`, and nothing has been added. */
static void assert_refused(kb_sim *sim, kb_transaction request, const char *message)
{
    kb_error why = {""};
    uint64_t n = kb_sim_count(sim);

    assert_int_equal(kb_sim_add(sim, &request, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, message);
    assert_int_equal(kb_sim_add(sim, &request, NULL), KB_BAD_REQUEST);
    assert_true(kb_sim_count(sim) == n);
}

static kb_transaction read_of(const kb_topology *topo, const char *src, const char *dst)
{
    return (kb_transaction){
        .op = KB_READ, .src = end_of(topo, src), .dst = end_of(topo, dst), .nbytes = 64};
}

static kb_transaction h2d_of(const kb_topology *topo, const char *src, const char *dst)
{
    kb_transaction request = read_of(topo, src, dst);

    request.op = KB_H2D;
    return request;
}

/* docs/model.md "Routes": what "do not exist: errors" */
static void requests_without_a_route_are_refused(void **state)
{
    const kb_topology *t = &tray32_topology;
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    assert_refused(sim, read_of(t, "host", "c0.slice0"), "read and write start at a PE");
    assert_refused(sim, read_of(t, "c0.slice0", "c0.slice0"), "read and write start at a PE");
    assert_refused(sim, read_of(t, "c0.pe0", "c0.pe1"),
                   "a PE reaches memories only: slices, SRAMs, other PEs' TCMs");
    assert_refused(sim, read_of(t, "c0.pe0", "host"),
                   "a PE reaches memories only: slices, SRAMs, other PEs' TCMs");
    assert_refused(sim, read_of(t, "c0.pe0", "c0.pe0.tcm"), "a PE has no route to its own TCM");
    assert_refused(sim, read_of(t, "c0.pe0", "c0.pe1.tcm"), "a TCM is reached by kernels only");
    assert_refused(sim, h2d_of(t, "c0.pe0", "c0.slice0"), "h2d and d2h start at a host");
    assert_refused(sim, h2d_of(t, "host", "c0.sram"), "a host reaches slices only");
    assert_refused(sim, h2d_of(t, "host", "c0.pe0.tcm"), "a host reaches slices only");
    assert_refused(sim, h2d_of(t, "host", "s1.c0.slice0"),
                   "a host reaches the slices of its own SIP only");
    kb_sim_free(sim);
}

static void endpoints_outside_the_topology_are_refused(void **state)
{
    kb_sim *sim = new_sim(cube8, (kb_options){0});
    kb_transaction good = read_of(cube8, "c0.pe0", "c0.slice0"), bad;

    (void)state;
    bad = good;
    bad.src.unit = 8;
    assert_refused(sim, bad, "c0.pe8: c0 has PEs 0..7");
    bad = good;
    bad.dst.cube = 8;
    assert_refused(sim, bad, "c8.slice0 is not in this topology");
    bad = good;
    bad.dst.sip = 1;
    assert_refused(sim, bad, "s1.c0.slice0 is not in this topology");
    bad = good;
    bad.dst = (kb_endpoint){KB_SLICE, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    assert_refused(sim, bad, "s4294967295.c4294967295.slice4294967295 is not in this topology");
    bad = good;
    bad.dst = (kb_endpoint){KB_SRAM, 0, 0, 1};
    assert_refused(sim, bad, "c0.sram is not in this topology");
    bad = good;
    bad.src.kind = (kb_endpoint_kind)9;
    assert_refused(sim, bad, "an endpoint's kind is 9");
    bad = good;
    bad.op = (kb_transaction_op)4;
    assert_refused(sim, bad, "there is no operation 4");
    kb_sim_free(sim);
}

/* docs/formats.md: "offset + nbytes within its size"; 2.1: a slice holds 48 GiB / 8, an SRAM 32 MiB
 */
static void bytes_past_the_end_of_a_memory_are_refused(void **state)
{
    const uint64_t slice = UINT64_C(6) << 30, sram = UINT64_C(32) << 20;
    kb_sim *sim = new_sim(cube8, (kb_options){0});
    kb_transaction r = read_of(cube8, "c0.pe0", "c1.slice2");

    (void)state;
    r.nbytes = 0;
    assert_refused(sim, r, "a transaction moves at least one byte");
    r.offset = slice - 63;
    r.nbytes = 64;
    assert_refused(sim, r,
                   "offset 6442450881 + 64 bytes pass the end of c1.slice2, which holds "
                   "6442450944");
    r.offset = UINT64_MAX;
    assert_refused(sim, r,
                   "offset 18446744073709551615 + 64 bytes pass the end of c1.slice2, "
                   "which holds 6442450944");
    r.offset = 64;
    r.nbytes = UINT64_MAX;
    assert_refused(sim, r,
                   "offset 64 + 18446744073709551615 bytes pass the end of c1.slice2, "
                   "which holds 6442450944");
    r.offset = slice - 64;
    r.nbytes = 64;
    add(sim, &r);
    r.offset = 0;
    r.nbytes = slice;
    add(sim, &r);
    r.dst = end_of(cube8, "c1.sram");
    r.nbytes = sram;
    add(sim, &r);
    r.nbytes++;
    assert_refused(sim, r,
                   "offset 0 + 33554433 bytes pass the end of c1.sram, which holds "
                   "33554432");
    kb_sim_free(sim);
}

static void requests_before_time_0_or_after_the_start_are_refused(void **state)
{
    kb_sim *sim = new_sim(cube8, (kb_options){0});
    kb_transaction r = read_of(cube8, "c0.pe0", "c0.slice0");

    (void)state;
    r.issue_fs = -1;
    assert_refused(sim, r, "a transaction cannot be issued before time 0");
    r.issue_fs = 0;
    add(sim, &r);
    assert_int_equal(kb_sim_run(sim, 1, NULL), KB_AGAIN);
    assert_refused(sim, r, "the simulation has begun, it takes no more transactions");
    run_all(sim);
    assert_refused(sim, r, "the simulation has begun, it takes no more transactions");
    kb_sim_free(sim);
}

/* -- what is asked of a simulation ---------------------------------------------------------- */

static void empty_simulation_is_done_at_once(void **state)
{
    kb_sim *sim = NULL;
    kb_transaction request;
    kb_result result;

    (void)state;
    assert_int_equal(kb_sim_new(cube8, NULL, &sim), KB_OK);
    assert_int_equal(kb_sim_result(sim, 0, &result), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_request(sim, 7, &request), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    assert_int_equal(kb_sim_count(sim), 0);
    assert_int_equal(kb_sim_done(sim), 0);
    assert_int_equal(kb_sim_end_fs(sim), 0);
    kb_sim_free(sim);
    kb_sim_free(NULL);
}

static void requests_can_be_read_back(void **state)
{
    const kb_topology *t = &tray32_topology;
    const kb_transaction rows[] = {
        {.issue_fs = 5,
         .op = KB_WRITE,
         .src = end_of(t, "s1.c15.pe7"),
         .dst = end_of(t, "c3.slice6"),
         .nbytes = 1},
        {.issue_fs = INT64_MAX,
         .op = KB_READ,
         .src = end_of(t, "c0.pe0"),
         .dst = end_of(t, "s1.c9.sram"),
         .nbytes = 4096},
        {.op = KB_D2H, .src = end_of(t, "s1.host"), .dst = end_of(t, "s1.c2.slice3"), .nbytes = 64},
        {.op = KB_H2D,
         .src = end_of(t, "host"),
         .dst = end_of(t, "c0.slice0"),
         .nbytes = UINT64_C(6) << 30},
    };
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        add(sim, &rows[i]);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        kb_transaction r;

        assert_int_equal(kb_sim_request(sim, i, &r), KB_OK);
        assert_true(r.issue_fs == rows[i].issue_fs && r.nbytes == rows[i].nbytes);
        assert_true(r.op == rows[i].op && r.offset == 0);
        assert_memory_equal(&r.src, &rows[i].src, sizeof r.src);
        assert_memory_equal(&r.dst, &rows[i].dst, sizeof r.dst);
    }
    kb_sim_free(sim);
}

/* KB_AGAIN, and KB_PENDING for what is not complete yet */
static void run_can_be_cut_into_pieces(void **state)
{
    kb_sim *sim = new_sim(cube8, (kb_options){0});
    kb_result result;
    int calls = 1;

    (void)state;
    issue(sim, cube8, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
    issue(sim, cube8, 100000000, KB_READ, "c0.pe0", "c0.slice0", 4096);
    assert_int_equal(kb_sim_result(sim, 0, &result), KB_PENDING);
    for (; kb_sim_done(sim) == 0; calls++)
        assert_int_equal(kb_sim_run(sim, 1, NULL), KB_AGAIN);
    assert_int_equal(calls, 1 + 1); /* its arrival, by which its end is known */
    assert_int_equal(kb_sim_result(sim, 0, &result), KB_OK);
    assert_int_equal(kb_sim_result(sim, 1, &result), KB_PENDING);
    run_all(sim);
    assert_int_equal(result_of(sim, 1).end_fs, 118085000);
    kb_sim_free(sim);
}

/* docs/model.md "Order of events": records are an arrival at the channel, one at the memory, and
 * the completion */
static void max_events_counts_arrivals_and_completions(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2 * 6; i++) {
        uint64_t n = i / 2 + 1;
        kb_options options = {.engine = i % 2 ? KB_HOP : KB_FUSED, .max_events = n};
        kb_sim *sim = new_sim(cube8, options);
        kb_status status = n < 6 ? KB_STOPPED : KB_OK;

        issue(sim, cube8, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
        issue(sim, cube8, 100000000, KB_READ, "c0.pe0", "c0.slice0", 4096);
        assert_int_equal(kb_sim_run(sim, 0, NULL), status);
        assert_int_equal(kb_sim_run(sim, 0, NULL), status);
        assert_int_equal(kb_sim_done(sim), n / 3);
        kb_sim_free(sim);
    }
}

/* docs/formats.md: host -> c0.slice0 takes 56.5625, of which 1.28125 is the response */
static void until_counts_a_response_as_part_of_its_transaction(void **state)
{
    static const struct {
        int64_t until_fs;
        kb_status status;
    } cases[] = {
        {56562500, KB_OK}, {56562499, KB_STOPPED}, {55281250, KB_STOPPED}, {1, KB_STOPPED}};

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kb_sim *sim = new_sim(cube8, (kb_options){.until_fs = cases[i].until_fs});

        issue(sim, cube8, 0, KB_H2D, "host", "c0.slice0", 4096);
        assert_int_equal(kb_sim_run(sim, 0, NULL), cases[i].status);
        assert_int_equal(kb_sim_done(sim), cases[i].status == KB_OK);
        kb_sim_free(sim);
    }
}

struct busy {
    int64_t until_fs;
    unsigned n;
};

static void check_busy(void *arg, const kb_utilization *use)
{
    struct busy *b = arg;

    if (!use->queues)
        return;
    if (use->busy_fs < 0 || use->busy_fs > b->until_fs * (int64_t)use->servers)
        fail_msg("%s was taken for %" PRId64 " of %" PRId64 " fs", use->name, use->busy_fs,
                 b->until_fs);
    b->n++;
}

/* docs/model.md "Links: fifo and ideal": "No station is ever more than 100 % used", also when a run
 * ends early. */
static void stations_of_a_stopped_run_are_not_more_than_full(void **state)
{
    (void)state;
    for (int64_t until_fs = 1000000; until_fs < 140000000; until_fs += 3700000) {
        struct busy b = {.until_fs = until_fs};
        kb_sim *sim = new_sim(cube8, (kb_options){.until_fs = until_fs});

        for (int i = 0; i < 4; i++) {
            issue(sim, cube8, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
            issue(sim, cube8, 0, KB_READ, "c0.pe1", "c0.slice0", 4096);
            issue(sim, cube8, 0, KB_H2D, "host", "c0.slice0", 4096);
        }
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_STOPPED);
        assert_int_equal(kb_sim_utilization(sim, check_busy, &b), KB_OK);
        assert_true(b.n > 0); /* channels are taken from time 0 on */
        kb_sim_free(sim);
    }
}

/* -- the end of time ------------------------------------------------------------------------ */

/* One transaction of 4096 bytes that takes `takes_fs` ends at 2^63 - 1, or one fs later. */
static void assert_end_of_time(kb_engine engine, kb_transaction_op op, const char *src,
                               int64_t takes_fs)
{
    kb_error why = {""};
    kb_result result;

    for (int64_t late_fs = 0; late_fs < 2; late_fs++) {
        kb_sim *sim = new_sim(cube8, (kb_options){.engine = engine});

        issue(sim, cube8, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
        issue(sim, cube8, INT64_MAX - takes_fs + late_fs, op, src, "c0.slice0", 4096);
        if (late_fs) {
            assert_int_equal(kb_sim_run(sim, 0, &why), KB_TIME_RANGE);
            assert_string_equal(why.text,
                                "simulated time has passed 2^63 fs, two and a half hours");
            assert_int_equal(kb_sim_run(sim, 0, NULL), KB_TIME_RANGE);
            assert_int_equal(kb_sim_result(sim, 1, &result), KB_PENDING);
            assert_int_equal(kb_sim_done(sim), 1);
        } else {
            run_all(sim);
            assert_true(result_of(sim, 1).end_fs == INT64_MAX);
        }
        assert_int_equal(result_of(sim, 0).end_fs, 18085000); /* results so far stay */
        kb_sim_free(sim);
    }
}

/* docs/model.md "Order of events": "a time past 2^63 fs ends a run" */
static void time_ends_at_2_to_the_63(void **state)
{
    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        assert_end_of_time((kb_engine)e, KB_READ, "c0.pe0", 18085000);
        assert_end_of_time((kb_engine)e, KB_WRITE, "c0.pe1", 36095000);
        assert_end_of_time((kb_engine)e, KB_H2D, "host", 56562500);
        assert_end_of_time((kb_engine)e, KB_D2H, "host", 56562500);
    }
}

/* One after the other, as many as fit into 2^63 fs; `takes_fs` is about what one takes. */
static void assert_out_of_time(const char *keys, const char *dst, int64_t takes_fs,
                               kb_engine engine)
{
    char yaml[256];
    const kb_topology *topo;
    kb_sim *sim;
    kb_result result;
    uint64_t fit;

    snprintf(yaml, sizeof yaml, "kernbench: 1\nname: far\nns_per_mm: 1e6\n%s", keys);
    topo = any_topology(yaml);
    assert_non_null(topo);
    sim = new_sim(topo, (kb_options){.engine = engine});
    for (int i = 0; i < 64; i++)
        issue(sim, topo, 0, KB_READ, "c0.pe0", dst, 4096);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_TIME_RANGE);
    result = result_of(sim, 0);
    assert_in_range(result.actual_fs, takes_fs, takes_fs + takes_fs / 100);
    fit = (uint64_t)(INT64_MAX / result.actual_fs);
    assert_true(fit < 64);
    assert_int_equal(kb_sim_done(sim), fit);
    for (uint64_t id = 0; id < 64; id++)
        assert_int_equal(kb_sim_result(sim, id, &result), id < fit ? KB_OK : KB_PENDING);
    assert_true(result_of(sim, fit - 1).end_fs == (int64_t)fit * result_of(sim, 0).actual_fs);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* docs/formats.md "Topology YAML": at 1e6 ns/mm, 2e5 mm to the crossbar are 2e17 fs; 7 times 3e4 mm
 * are 2.1e17. */
static void huge_wires_run_out_of_time(void **state)
{
    static const char one[] = "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {xbar: {pe_mm: 2e5}}\n";
    static const char mesh[] = "sip: {cube_mesh: {w: 8, h: 1}, d2d: {distance_mm: 3e4}}\n";
    static const char fifo[] = "contention: {links: fifo}\n"
                               "sip: {cube_mesh: {w: 8, h: 1}, d2d: {distance_mm: 3e4}}\n";

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        assert_out_of_time(one, "c0.slice0", INT64_C(200000000000000000), (kb_engine)e);
        assert_out_of_time(mesh, "c7.slice0", INT64_C(210000000000000000), (kb_engine)e);
        assert_out_of_time(fifo, "c7.slice0", INT64_C(210000000000000000), (kb_engine)e);
    }
}

/* docs/model.md "Order of events": drains, too: 16 GiB at 0.01 GB/s take 1.7e18 fs, five of them
 * fit. */
static void huge_drains_run_out_of_time(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 1\nname: slow\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pes: 1, hbm: {bw_gbs: 0.01, size_gb: 16}}\n");

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});

        for (int i = 0; i < 9; i++)
            issue(sim, topo, 0, i % 2 ? KB_WRITE : KB_READ, "c0.pe0", "c0.slice0",
                  UINT64_C(16) << 30);
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_TIME_RANGE);
        assert_int_equal(kb_sim_done(sim), 5);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* A drain of 2^62 fs or more: 64 GiB at 0.01 GB/s is 6.9e18. */
static void drain_without_end_has_no_cost(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 1\nname: slow\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pes: 1, hbm: {bw_gbs: 0.01, size_gb: 64}}\n");
    kb_endpoint src = end_of(topo, "c0.pe0"), dst = end_of(topo, "c0.slice0");
    kb_error why = {""};
    kb_cost cost;

    (void)state;
    assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, UINT64_C(1) << 36, &cost, &why),
                     KB_TIME_RANGE);
    assert_string_equal(why.text, "the drain takes longer than simulated time can count");
    any_topology_free(topo);
}

/* -- costs left out ------------------------------------------------------------------------- */

enum { MASK_ROWS = 400 };

/* One load on two machines, of which the first leaves costs out. */
static void assert_same_results(const kb_topology *a, unsigned off_a, const kb_topology *b,
                                unsigned off_b, const struct judge_row *rows, bool slices_only)
{
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *x = new_sim(a, (kb_options){.engine = (kb_engine)e, .costs_off = off_a});
        kb_sim *y = new_sim(b, (kb_options){.engine = (kb_engine)e, .costs_off = off_b});
        uint64_t n = 0;

        for (size_t i = 0; i < MASK_ROWS; i++) {
            kb_transaction request = request_of(&rows[i]);

            if (slices_only && request.dst.kind != KB_SLICE)
                continue;
            add(x, &request);
            add(y, &request);
            n++;
        }
        assert_true(n > MASK_ROWS / 2);
        run_all(x);
        run_all(y);
        for (uint64_t id = 0; id < n; id++) {
            kb_result got = result_of(x, id), expected = result_of(y, id);
            struct judge_result as = judge_result(&expected);
            char text[128];

            if (differ(&got, &as, text))
                fail_msg("costs off %u: of row %" PRIu64 " %s", off_a, id, text);
        }
        kb_sim_free(x);
        kb_sim_free(y);
    }
}

/* cube8 without a class of cost is the machine that has no such cost. */
static void assert_mask(unsigned costs_off, const char *keys, bool slices_only)
{
    struct judge_topo *t = judge_load_text(CUBE8);
    char yaml[1024];
    const kb_topology *topo;

    snprintf(yaml, sizeof yaml, CUBE8 "%s", keys);
    if (strncmp(keys, "kernbench:", 10) == 0)
        snprintf(yaml, sizeof yaml, "%s", keys);
    topo = any_topology(yaml);
    assert_non_null(topo);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct judge_row *rows = random_rows(t, seed, MASK_ROWS);

        assert_same_results(cube8, costs_off, topo, 0, rows, slices_only);
        free(rows);
    }
    judge_free(t);
    any_topology_free(topo);
}

static void wires_left_out_cost_as_much_as_wires_without_delay(void **state)
{
    (void)state;
    assert_mask(KB_COST_WIRE, "ns_per_mm: 0.0\n", false);
}

static void overheads_left_out_cost_as_much_as_overheads_of_0(void **state)
{
    (void)state;
    assert_mask(KB_COST_OVERHEAD,
                "kernbench: 1\nname: any8\nfabric: {overhead_ns: 0.0}\n"
                "sip: {cube_mesh: {w: 4, h: 2}, io: {pcie_ep: {overhead_ns: 0.0}, "
                "io_cpu: {overhead_ns: 0.0}}}\n"
                "cube: {ucie: {overhead_ns: 0.0}, m_cpu: {overhead_ns: 0.0}, "
                "xbar: {overhead_ns: 0.0}, bridge: {overhead_ns: 0.0}}\n",
                false);
}

static void channels_left_out_are_as_good_as_many(void **state)
{
    (void)state;
    assert_mask(KB_COST_CHANNELS,
                "cube: {pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}}\n", false);
}

static void engines_left_out_are_as_good_as_many(void **state)
{
    (void)state;
    assert_mask(KB_COST_ENGINES, "cube: {m_cpu: {dma_read: 65536, dma_write: 65536}}\n", false);
}

/* 1e6 GB/s, the most there is, is more than any link here has. */
static void memory_bandwidth_left_out_is_as_good_as_the_most(void **state)
{
    (void)state;
    assert_mask(KB_COST_MEMORY_GBS, "cube: {hbm: {bw_gbs: 1e6}}\n", false);
}

/* An SRAM's own bandwidth is that of its NoC edge, so only slices can be compared. */
static void link_bandwidth_left_out_is_as_good_as_the_most(void **state)
{
    (void)state;
    assert_mask(KB_COST_LINK_GBS,
                "kernbench: 1\nname: any8\nfabric: {bw_gbs: 1e6}\n"
                "sip: {cube_mesh: {w: 4, h: 2}, d2d: {bw_gbs: 1e6}, "
                "io: {link: {bw_gbs: 1e6}, shore: {bw_gbs: 1e6}}}\n"
                "cube: {noc: {bw_gbs: 1e6}, xbar: {pe_gbs: 1e6, chain_gbs: 1e6}, "
                "bridge: {bw_gbs: 1e6}}\n",
                true);
}

/* docs/model.md "Links: fifo and ideal": links that take no time are as good as none. The edge into
 * a memory takes some while the memory has a bandwidth, so that is left out, too. */
static void links_without_bandwidth_to_lack_are_as_good_as_ideal_ones(void **state)
{
    const unsigned off = KB_COST_LINK_GBS | KB_COST_MEMORY_GBS;
    const kb_topology *fifo8 = any_topology(CUBE8 "contention: {links: fifo}\n");
    struct judge_topo *t = judge_load_text(CUBE8);

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct judge_row *rows = random_rows(t, seed, MASK_ROWS);

        assert_same_results(fifo8, off, cube8, off, rows, false);
        free(rows);
    }
    judge_free(t);
    any_topology_free(fifo8);
}

/* The edge into a slice is as wide as the slice: without that limit nothing waits for it. */
static void edge_into_a_memory_goes_with_the_memory(void **state)
{
    const kb_topology *fifo8 = any_topology(CUBE8 "contention: {links: fifo}\n");

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        for (unsigned off = 0; off <= KB_COST_MEMORY_GBS; off += KB_COST_MEMORY_GBS) {
            kb_sim *sim = new_sim(fifo8, (kb_options){.engine = (kb_engine)e, .costs_off = off});

            issue(sim, fifo8, 0, KB_WRITE, "c0.pe0", "c0.slice0", 4096);
            issue(sim, fifo8, 0, KB_WRITE, "c0.pe1", "c0.slice0", 4096);
            run_all(sim);
            assert_int_equal(result_of(sim, 0).wait_fs[KB_WAIT_LINK], 0);
            assert_true((result_of(sim, 1).wait_fs[KB_WAIT_LINK] > 0) == (off == 0));
            kb_sim_free(sim);
        }
    any_topology_free(fifo8);
}

/* All that is left of 4096 bytes when a class of cost is left out. */
static int64_t masked_fs(unsigned costs_off, kb_transaction_op op, const char *src, const char *dst)
{
    kb_sim *sim = new_sim(cube8, (kb_options){.costs_off = costs_off});
    int64_t fs;

    issue(sim, cube8, 0, op, src, dst, 4096);
    run_all(sim);
    fs = result_of(sim, 0).actual_fs;
    kb_sim_free(sim);
    return fs;
}

/* docs/model.md "Stations and queues": pe0 -> slice4 is wire 0.145, overhead 5, drain 4096/128 = 32
 */
static void what_is_left_out_is_its_part_of_the_formula(void **state)
{
    const unsigned bandwidths = KB_COST_LINK_GBS | KB_COST_MEMORY_GBS;

    (void)state;
    assert_int_equal(masked_fs(0, KB_READ, "c0.pe0", "c0.slice4"), 37145000);
    assert_int_equal(masked_fs(KB_COST_WIRE, KB_READ, "c0.pe0", "c0.slice4"), 37000000);
    assert_int_equal(masked_fs(KB_COST_OVERHEAD, KB_READ, "c0.pe0", "c0.slice4"), 32145000);
    assert_int_equal(masked_fs(KB_COST_LINK_GBS, KB_READ, "c0.pe0", "c0.slice4"), 21145000);
    assert_int_equal(masked_fs(KB_COST_MEMORY_GBS, KB_READ, "c0.pe0", "c0.slice4"), 37145000);
    assert_int_equal(masked_fs(bandwidths, KB_READ, "c0.pe0", "c0.slice4"), 5145000);
    /* an SRAM without a bandwidth of its own has that of the NoC, which is a link's */
    assert_int_equal(masked_fs(KB_COST_LINK_GBS, KB_READ, "c0.pe0", "c0.sram"), 103750);
    assert_int_equal(masked_fs(2u * KB_COST_ENGINES - 1, KB_H2D, "host", "c7.slice7"), 0);
}

/* -- what went wrong before ----------------------------------------------------------------- */

/* Two transactions, at once unless said otherwise, on `topo`. */
static void run_two(const kb_topology *topo, const kb_transaction rows[2], kb_result results[2])
{
    kb_sim *sim = new_sim(topo, (kb_options){0});

    add(sim, &rows[0]);
    add(sim, &rows[1]);
    run_all(sim);
    results[0] = result_of(sim, 0);
    results[1] = result_of(sim, 1);
    kb_sim_free(sim);
}

/* a mistake of the past: "drain counted twice (every latency ~2x)" */
static void drain_is_paid_once(void **state)
{
    static const char *const targets[] = {"c0.slice0", "c0.slice4", "c7.slice4", "c0.sram"};

    (void)state;
    for (size_t i = 0; i < LENGTH(targets); i++) {
        kb_sim *sim = new_sim(cube8, (kb_options){0});
        kb_result r;

        issue(sim, cube8, 0, KB_READ, "c0.pe0", targets[i], 1 << 20);
        run_all(sim);
        r = result_of(sim, 0);
        assert_int_equal(r.actual_fs - r.wire_fs - r.overhead_fs,
                         (1 << 20) * INT64_C(1000000) / (i == 0 ? 256 : 128));
        kb_sim_free(sim);
    }
}

/* a mistake of the past: "one buffer serving as both ends of a link, so half the traffic skipped"
 * its delay */
static void both_directions_of_a_link_have_their_own_bandwidth(void **state)
{
    const kb_topology *t = any_topology(CUBE8 "contention: {links: fifo}\n");
    kb_transaction east = {
        .op = KB_WRITE, .src = end_of(t, "c0.pe0"), .dst = end_of(t, "c1.slice0"), .nbytes = 4096};
    kb_transaction west = {
        .op = KB_WRITE, .src = end_of(t, "c1.pe0"), .dst = end_of(t, "c0.slice0"), .nbytes = 4096};
    kb_transaction east_too = {
        .op = KB_WRITE, .src = end_of(t, "c0.pe1"), .dst = end_of(t, "c1.slice1"), .nbytes = 4096};
    kb_transaction east_read = {
        .op = KB_READ, .src = end_of(t, "c0.pe1"), .dst = end_of(t, "c1.slice1"), .nbytes = 4096};
    kb_transaction west_read = {
        .op = KB_READ, .src = end_of(t, "c1.pe1"), .dst = end_of(t, "c0.slice1"), .nbytes = 4096};
    kb_result r[2];

    (void)state;
    run_two(t, (kb_transaction[]){east, west}, r);
    assert_int_equal(r[0].wait_fs[KB_WAIT_LINK] + r[1].wait_fs[KB_WAIT_LINK], 0);
    run_two(t, (kb_transaction[]){east, east_read}, r); /* its data flows west */
    assert_int_equal(r[0].wait_fs[KB_WAIT_LINK] + r[1].wait_fs[KB_WAIT_LINK], 0);
    run_two(t, (kb_transaction[]){east, east_too}, r);
    assert_true(r[0].wait_fs[KB_WAIT_LINK] + r[1].wait_fs[KB_WAIT_LINK] > 20000000);
    run_two(t, (kb_transaction[]){east, west_read}, r); /* its data flows east */
    assert_true(r[0].wait_fs[KB_WAIT_LINK] + r[1].wait_fs[KB_WAIT_LINK] > 20000000);
    any_topology_free(t);
}

/*
 * a mistake of the past: "merged all HBM slices of a cube into one controller (256 instead of 2048
 * GB/s)". With two channels a slice never waits for its PE: n reads end at 2.085 + n * 16 ns.
 */
static void eight_slices_of_a_cube_give_2048_gb_per_second(void **state)
{
    enum { READS = 100 };
    const kb_topology *t = any_topology(CUBE8 "cube: {pe: {pe_dma: {read_channels: 2}}}\n");
    kb_sim *sim = new_sim(t, (kb_options){0});
    int64_t streaming_fs;

    (void)state;
    for (int i = 0; i < READS * 8; i++) {
        kb_transaction r = read_of(t, "c0.pe0", "c0.slice0");

        r.src.unit = r.dst.unit = (uint32_t)i % 8;
        r.nbytes = 4096;
        add(sim, &r);
    }
    run_all(sim);
    streaming_fs = kb_sim_end_fs(sim) - 2085000;
    assert_int_equal(streaming_fs, READS * 16000000);
    assert_true(8.0 * READS * 4096 / ((double)streaming_fs / 1e6) == 2048.0);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* The same on the compiled cube8: 8 PEs at once take no longer than one. */
static void slices_of_a_cube_serve_at_the_same_time(void **state)
{
    kb_sim *sim = new_sim(cube8, (kb_options){0});

    (void)state;
    for (uint32_t pe = 0; pe < 8; pe++) {
        kb_transaction r = read_of(cube8, "c3.pe0", "c3.slice0");

        r.src.unit = r.dst.unit = pe;
        r.nbytes = 1 << 20;
        add(sim, &r);
    }
    run_all(sim);
    for (uint64_t id = 0; id < 8; id++)
        assert_int_equal(result_of(sim, id).actual_fs, 2085000 + 4096000000);
    kb_sim_free(sim);
}

/* a mistake of the past: "a channel released at issue instead of completion" and "stamped at
 * enqueue" */
static void channel_is_free_at_done_and_start_is_when_it_is_taken(void **state)
{
    kb_transaction first = {.op = KB_READ,
                            .src = end_of(cube8, "c0.pe0"),
                            .dst = end_of(cube8, "c0.slice0"),
                            .nbytes = 4096};
    kb_transaction other = {.issue_fs = 7,
                            .op = KB_READ,
                            .src = end_of(cube8, "c0.pe0"),
                            .dst = end_of(cube8, "c0.slice1"),
                            .nbytes = 64};
    kb_transaction write = {.issue_fs = 7,
                            .op = KB_WRITE,
                            .src = end_of(cube8, "c0.pe0"),
                            .dst = end_of(cube8, "c0.slice1"),
                            .nbytes = 64};
    kb_result r[2];

    (void)state;
    run_two(cube8, (kb_transaction[]){first, other}, r);
    assert_int_equal(r[0].done_fs, 18085000);
    assert_int_equal(r[1].start_fs, 18085000);
    assert_int_equal(r[1].wait_fs[KB_WAIT_CHANNEL], 18085000 - 7);
    assert_int_equal(r[1].arrive_fs,
                     18085000 +
                         4095000); /* docs/model.md "Stations and queues": one crossbar further */
    assert_int_equal(r[1].wait_fs[KB_WAIT_MEMORY], 0);
    run_two(cube8, (kb_transaction[]){first, write}, r); /* the write channel is another */
    assert_int_equal(r[1].start_fs, 7);
}

/* docs/model.md "Stations and queues": an engine is "held to *done*", one for each direction of
 * each M_CPU */
static void engine_is_free_at_done(void **state)
{
    kb_transaction a = {.op = KB_H2D,
                        .src = end_of(cube8, "host"),
                        .dst = end_of(cube8, "c0.slice0"),
                        .nbytes = 4096};
    kb_transaction b = {.op = KB_H2D,
                        .src = end_of(cube8, "host"),
                        .dst = end_of(cube8, "c0.slice1"),
                        .nbytes = 4096};
    kb_transaction c = {.op = KB_D2H,
                        .src = end_of(cube8, "host"),
                        .dst = end_of(cube8, "c0.slice1"),
                        .nbytes = 4096};
    kb_transaction d = {.op = KB_H2D,
                        .src = end_of(cube8, "host"),
                        .dst = end_of(cube8, "c4.slice1"),
                        .nbytes = 4096};
    kb_result r[2];

    (void)state;
    run_two(cube8, (kb_transaction[]){a, b}, r);
    assert_int_equal(r[0].wait_fs[KB_WAIT_ENGINE], 0);
    /*
     * Its engine is taken at the other's done. From m_cpu at (7.5, 2) to PE 1 at (5.625, 0) it is
     * 3.875 mm over the NoC, two edges of 0.5 and one of 2.5 mm, and a crossbar. docs/formats.md
     * "Topology YAML"
     */
    assert_int_equal(r[1].arrive_fs - r[0].done_fs, 2000000 + (3875 + 1000 + 2500) * 10);
    run_two(cube8, (kb_transaction[]){a, c}, r);
    assert_int_equal(r[1].wait_fs[KB_WAIT_ENGINE], 0);
    run_two(cube8, (kb_transaction[]){a, d}, r);
    assert_int_equal(r[1].wait_fs[KB_WAIT_ENGINE], 0);
}

static void options_that_do_not_exist_are_refused(void **state)
{
    const kb_options bad[] = {
        {.engine = (kb_engine)7}, {.costs_off = 2048}, {.costs_off = ~0u}, {.until_fs = -1}};
    kb_sim *sim;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(kb_sim_new(&cube8_topology, &bad[i], &sim), KB_BAD_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_into_a_memory_goes_with_the_memory),
        cmocka_unit_test(options_that_do_not_exist_are_refused),
        cmocka_unit_test(requests_without_a_route_are_refused),
        cmocka_unit_test(endpoints_outside_the_topology_are_refused),
        cmocka_unit_test(bytes_past_the_end_of_a_memory_are_refused),
        cmocka_unit_test(requests_before_time_0_or_after_the_start_are_refused),
        cmocka_unit_test(empty_simulation_is_done_at_once),
        cmocka_unit_test(requests_can_be_read_back),
        cmocka_unit_test(run_can_be_cut_into_pieces),
        cmocka_unit_test(max_events_counts_arrivals_and_completions),
        cmocka_unit_test(until_counts_a_response_as_part_of_its_transaction),
        cmocka_unit_test(stations_of_a_stopped_run_are_not_more_than_full),
        cmocka_unit_test(time_ends_at_2_to_the_63),
        cmocka_unit_test(huge_wires_run_out_of_time),
        cmocka_unit_test(huge_drains_run_out_of_time),
        cmocka_unit_test(drain_without_end_has_no_cost),
        cmocka_unit_test(wires_left_out_cost_as_much_as_wires_without_delay),
        cmocka_unit_test(overheads_left_out_cost_as_much_as_overheads_of_0),
        cmocka_unit_test(channels_left_out_are_as_good_as_many),
        cmocka_unit_test(engines_left_out_are_as_good_as_many),
        cmocka_unit_test(memory_bandwidth_left_out_is_as_good_as_the_most),
        cmocka_unit_test(link_bandwidth_left_out_is_as_good_as_the_most),
        cmocka_unit_test(links_without_bandwidth_to_lack_are_as_good_as_ideal_ones),
        cmocka_unit_test(what_is_left_out_is_its_part_of_the_formula),
        cmocka_unit_test(drain_is_paid_once),
        cmocka_unit_test(both_directions_of_a_link_have_their_own_bandwidth),
        cmocka_unit_test(eight_slices_of_a_cube_give_2048_gb_per_second),
        cmocka_unit_test(slices_of_a_cube_serve_at_the_same_time),
        cmocka_unit_test(channel_is_free_at_done_and_start_is_when_it_is_taken),
        cmocka_unit_test(engine_is_free_at_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
