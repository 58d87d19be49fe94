/*
 * test_no_memory.c -- the n-th allocation fails, for every n: a status, no leak, no crash.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/any_topology.h"
#include "support/failing.h"
#include "support/rig.h"

/* -- a whole life of a simulation ----------------------------------------------------------- */

/* Enough rows at once that transactions and events outgrow their first rooms several times. */
enum { ROWS = 700 };

struct life {
    const kb_topology *topo;
    kb_engine engine;
    bool watched;       /* by kb_breakdown, and asked */
    int64_t spread_fs;  /* rows are issued from 0 to this, in no order */
    const char *failed; /* what did not get its memory; NULL: all went well */
    uint64_t n_uses;
};

static void count_use(void *arg, const kb_utilization *use)
{
    struct life *l = arg;

    l->n_uses += use->count > 0;
}

static kb_status add_rows(kb_sim *sim, int64_t spread_fs, kb_error *why)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        kb_transaction r = {.op = i % 3 ? KB_READ : KB_WRITE, .nbytes = 64 + i};
        kb_status status;

        r.issue_fs = i % (spread_fs + 1);
        r.src = (kb_endpoint){KB_PE, i % 2, i / 2 % 4, i / 8 % 8};
        r.dst = (kb_endpoint){KB_SLICE, i / 3 % 2, i / 5 % 4, i / 7 % 8};
        if (i % 11 == 0) {
            r.op = KB_D2H;
            r.src = (kb_endpoint){KB_HOST, r.dst.sip, 0, 0};
        }
        status = kb_sim_add(sim, &r, why);
        if (status != KB_OK) {
            assert_true(kb_sim_count(sim) == i); /* a call that fails changes nothing */
            return status;
        }
    }
    return KB_OK;
}

/* Only what banks take alone needs memory: other results of a run that has ended are there. */
static kb_status read_results(const kb_sim *sim)
{
    kb_status status = KB_OK;
    kb_result r;

    for (uint32_t i = 0; i < ROWS && status == KB_OK; i++) {
        status = kb_sim_result(sim, i, &r);
        assert_true(status != KB_OK || r.formula_fs > 0);
    }
    return status;
}

static void count_row(void *arg, const kb_breakdown_row *row)
{
    struct life *l = arg;

    l->n_uses += row->count > 0;
}

/* What comes first of status and place; all that was made is given back. */
static kb_status live(struct life *l)
{
    kb_sim *sim = NULL;
    kb_breakdown *causes = NULL;
    kb_error why = {""};
    kb_status status = kb_sim_new(l->topo, &(kb_options){.engine = l->engine}, &sim);

    l->failed = "kb_sim_new";
    if (status != KB_OK) {
        assert_null(sim);
        return status;
    }
    l->failed = "kb_sim_add";
    status = add_rows(sim, l->spread_fs, &why);
    if (status != KB_OK)
        assert_non_null(strstr(why.text, "out of memory"));
    if (status == KB_OK && l->watched) {
        l->failed = "kb_breakdown_new";
        status = kb_breakdown_new(sim, &causes, &why);
    }
    if (status == KB_OK) {
        l->failed = "kb_sim_run";
        status = kb_sim_run(sim, 0, &why);
        assert_true(status != KB_OK || kb_sim_done(sim) == ROWS);
        assert_true(kb_sim_run(sim, 0, NULL) == status); /* an end is an end */
        if (status != KB_OK)
            assert_non_null(strstr(why.text, "out of memory"));
    }
    if (status == KB_OK) {
        l->failed = "kb_sim_utilization";
        status = kb_sim_utilization(sim, count_use, l);
    }
    if (status == KB_OK) {
        l->failed = "kb_sim_result";
        status = read_results(sim);
    }
    if (status == KB_OK && l->watched) {
        l->failed = "kb_breakdown_rows";
        status = kb_breakdown_rows(causes, count_row, l);
    }
    kb_breakdown_free(causes);
    kb_sim_free(sim);
    if (status == KB_OK)
        l->failed = NULL;
    return status;
}

/* Routers keep a way for each pair, and names are many: then some failures stand for those that
 * follow. */
static uint64_t next_failure(uint64_t n, bool all)
{
    return n + (all ? 1 : 1 + n / 12);
}

#define ROUTERS "contention: {links: router}\nsip: {cube_mesh: {w: 2, h: 2}}\n"
#define BANKS                                                                                      \
    "contention: {links: fifo}\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {hbm: {model: banks}}\n"

/* Every place that can fail has failed, and then all went well. */
static void assert_every_failure_is_told(const char *keys, kb_engine engine, int64_t spread_fs,
                                         bool watched)
{
    char yaml[1024];
    struct life l = {.engine = engine, .spread_fs = spread_fs, .watched = watched};
    unsigned failures[7] = {0};
    static const char *const places[] = {
        "kb_sim_new",       "kb_sim_add",        "kb_sim_run",   "kb_sim_utilization",
        "kb_breakdown_new", "kb_breakdown_rows", "kb_sim_result"};

    snprintf(yaml, sizeof yaml, "kernbench: 1\nname: small\nsips: 2\n%s", keys);
    l.topo = any_topology(yaml);
    assert_non_null(l.topo);
    bool some = strcmp(keys, ROUTERS) == 0 || strcmp(keys, BANKS) == 0;

    for (uint64_t n = 0; l.failed || n == 0; n = next_failure(n, !some && failures[5] <= 20)) {
        int64_t before = owned;
        kb_status status;

        blocks_left = n;
        status = live(&l);
        blocks_left = UINT64_MAX;
        assert_int_equal(status, l.failed ? KB_NO_MEMORY : KB_OK);
        assert_true(owned == before);
        for (size_t i = 0; l.failed && i < LENGTH(places); i++)
            failures[i] += strcmp(places[i], l.failed) == 0;
    }
    assert_true(failures[0] >= 10);                /* itself, four kinds of station, five of flow */
    assert_true(failures[1] >= 5);                 /* 64 rows, then half as many again */
    assert_true(failures[2] >= 1);                 /* events */
    assert_true(some || failures[3] >= 2);         /* nodes and links */
    assert_true(failures[4] >= (watched ? 6 : 0)); /* sums, paths, watch, three tables of it */
    assert_true(failures[5] >= (watched ? 10 : 0)); /* a table, and a name for each row */
    assert_int_equal(failures[6] > 0, strstr(keys, "banks") != NULL);
    assert_true(l.n_uses > 0);
    any_topology_free(l.topo);
}

#define MANY_CHANNELS "cube: {pe: {pe_dma: {read_channels: 9, write_channels: 9}}}\n"

static void every_allocation_may_fail_with_ideal_links(void **state)
{
    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        assert_every_failure_is_told("sip: {cube_mesh: {w: 2, h: 2}}\n" MANY_CHANNELS, (kb_engine)e,
                                     7, false);
}

static void every_allocation_may_fail_with_fifo_links(void **state)
{
    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        assert_every_failure_is_told("contention: {links: fifo}\n"
                                     "sip: {cube_mesh: {w: 2, h: 2}}\n" MANY_CHANNELS,
                                     (kb_engine)e, 7, false);
}

static void every_allocation_of_what_is_watched_may_fail(void **state)
{
    (void)state;
    assert_every_failure_is_told("sip: {cube_mesh: {w: 2, h: 2}}\n", KB_FUSED, 7, true);
    assert_every_failure_is_told("contention: {links: fifo}\nsip: {cube_mesh: {w: 2, h: 2}}\n",
                                 KB_FUSED, 7, true);
}

static void every_allocation_may_fail_with_routers(void **state)
{
    (void)state;
    assert_every_failure_is_told(ROUTERS, KB_FUSED, 7, false);
}

/* Two cubes with routers, few rows: all that a run of packets takes, with all that is counted. */
static kb_status live_with_packets(const kb_topology *topo, kb_engine engine, bool watched)
{
    kb_sim *sim = NULL;
    kb_breakdown *causes = NULL;
    struct life l = {.n_uses = 0};
    kb_status status = kb_sim_new(
        topo, &(kb_options){.engine = engine, .buffers = true, .fingerprint = true}, &sim);

    for (uint32_t i = 0; status == KB_OK && i < 24; i++) {
        kb_transaction r = {.op = i % 3 ? KB_READ : KB_WRITE, .nbytes = 200 + 64 * i};

        r.issue_fs = i % 2;
        r.src = (kb_endpoint){KB_PE, 0, i % 2, 0};
        r.dst = (kb_endpoint){i % 5 ? KB_SLICE : KB_SRAM, 0, i / 2 % 2, 0};
        status = kb_sim_add(sim, &r, NULL);
    }
    if (status == KB_OK && watched)
        status = kb_breakdown_new(sim, &causes, NULL);
    if (status == KB_OK)
        status = kb_sim_run(sim, 0, NULL);
    if (status == KB_OK)
        status = kb_sim_utilization(sim, count_use, &l);
    if (status == KB_OK && watched)
        status = kb_breakdown_rows(causes, count_row, &l);
    kb_breakdown_free(causes);
    kb_sim_free(sim);
    assert_true(status != KB_OK || l.n_uses > 0);
    return status;
}

static void assert_every_failure_of_packets_is_told(const char *hbm)
{
    char yaml[512];
    const kb_topology *topo;

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\n"
             "contention: {links: router, segment_bytes: 64, packet_bytes: 128}\n"
             "cube: {pes: 1, hbm: {slices: 1, %s}}\n",
             hbm);
    topo = any_topology(yaml);
    assert_non_null(topo);
    for (int watched = 0; watched < 2; watched++) {
        kb_status status = KB_NO_MEMORY;
        uint64_t n = 0;

        for (; status == KB_NO_MEMORY && n < 10000; n++) {
            int64_t before = owned;

            blocks_left = n;
            status = live_with_packets(topo, watched ? KB_FUSED : KB_HOP, watched);
            blocks_left = UINT64_MAX;
            assert_true(owned == before);
        }
        assert_int_equal(status, KB_OK);
        assert_true(n > 50);
    }
    any_topology_free(topo);
}

static void every_allocation_of_packets_may_fail(void **state)
{
    (void)state;
    assert_every_failure_of_packets_is_told("queue_bytes: 128");
    assert_every_failure_of_packets_is_told("model: banks, channels: 1, "
                                            "groups: 1, banks: 1, columns: 1, queue: 4");
}

/* Where nothing takes time but drains, much is still to do at time 0 when memory runs out then. */
static void every_allocation_may_fail_at_time_0(void **state)
{
    static const char no_delays[] =
        "ns_per_mm: 0.0\nfabric: {overhead_ns: 0.0}\n"
        "sip: {cube_mesh: {w: 2, h: 2}, io: {pcie_ep: {overhead_ns: 0.0}, "
        "io_cpu: {overhead_ns: 0.0}}}\n"
        "cube: {ucie: {overhead_ns: 0.0}, m_cpu: {overhead_ns: 0.0}, xbar: {overhead_ns: 0.0}, "
        "bridge: {overhead_ns: 0.0}, pe: {pe_dma: {read_channels: 9, write_channels: 9}}}\n";

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        assert_every_failure_is_told(no_delays, (kb_engine)e, 0, false);
}

/* Slices with banks, with queues that need memory to find out what a transaction takes alone. */
static void every_allocation_of_banks_may_fail(void **state)
{
    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        assert_every_failure_is_told("sip: {cube_mesh: {w: 2, h: 2}}\n"
                                     "cube: {hbm: {model: banks, queue: 300},"
                                     " pe: {pe_dma: {read_channels: 9, write_channels: 9}}}\n",
                                     (kb_engine)e, 7, false);
}

/* A cost that is not known is no cost: docs/memory.md, exit 5 */
static void assert_cost_may_fail(const char *links, uint64_t least)
{
    char yaml[512];
    kb_endpoint pe = {KB_PE, 0, 0, 0}, slice = {KB_SLICE, 0, 0, 0};
    const kb_topology *topo;
    kb_status status = KB_NO_MEMORY;
    kb_error why = {""};
    kb_cost cost;
    uint64_t n = 0;

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: small\nsip: {cube_mesh: {w: 1, h: 1}}\n"
             "contention: {links: %s}\n"
             "cube: {hbm: {model: banks, queue: 300, banks: 1, groups: 1, channels: 1, "
             "columns: 1}}\n",
             links);
    topo = any_topology(yaml);
    assert_non_null(topo);
    for (int op = KB_READ; op <= KB_WRITE; op++) {
        status = KB_NO_MEMORY;
        for (n = 0; status != KB_OK; n++) {
            int64_t before = owned;

            blocks_left = n;
            status = kb_route_cost(topo, (kb_transaction_op)op, &pe, &slice, 65536, &cost, &why);
            blocks_left = UINT64_MAX;
            assert_true(owned == before);
            assert_int_equal(status, status == KB_OK ? KB_OK : KB_NO_MEMORY);
            if (status != KB_OK)
                assert_string_equal(why.text, "out of memory");
        }
        assert_true(n > least);
    }
    any_topology_free(topo);
}

static void the_cost_of_a_route_may_fail_with_banks(void **state)
{
    (void)state;
    assert_cost_may_fail("ideal", 1);
    assert_cost_may_fail("router", 5);
}

/* -- points and traffic --------------------------------------------------------------------- */

static kb_status sweep_some(const kb_topology *topo)
{
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(topo, NULL, &sim);

    for (uint32_t i = 1; status == KB_OK && i < 40; i++) {
        kb_point p = {.op = KB_WRITE, .nbytes = 64, .inflight = 20 * i};
        kb_point_result r;

        p.src = (kb_endpoint){KB_PE, 0, i % 4, i % 8};
        p.dst = (kb_endpoint){KB_SLICE, i % 2, i / 2 % 4, i % 8};
        status = kb_sweep(sim, &p, 1, &r, NULL, NULL);
    }
    kb_sim_free(sim);
    return status;
}

static kb_status load_some(const kb_topology *topo)
{
    kb_traffic traffic = {.nbytes = 4096, .rate = 0.2, .txns = 2000};
    kb_sim *sims[2] = {NULL, NULL};
    kb_status status = KB_OK;
    kb_traffic_result r;

    for (int i = 0; i < 2 && status == KB_OK; i++) {
        status = kb_sim_new(topo, NULL, &sims[i]);
        if (status == KB_OK)
            status = kb_sim_traffic(sims[i], &traffic, NULL);
        if (status == KB_OK)
            status = kb_sim_run(sims[i], 0, NULL);
    }
    if (status == KB_OK)
        status = kb_sim_traffic_result(sims, 2, &r);
    kb_sim_free(sims[0]);
    kb_sim_free(sims[1]);
    return status;
}

#define SERVERS "sip: {cube_mesh: {w: 2, h: 2}}\n" MANY_CHANNELS

/* Returns how many allocations could fail. */
static uint64_t failures_of(kb_status (*life)(const kb_topology *topo), const char *keys)
{
    char yaml[1024];
    kb_status status = KB_NO_MEMORY;
    const kb_topology *topo;
    uint64_t n;

    snprintf(yaml, sizeof yaml, "kernbench: 1\nname: small\nsips: 2\n%s", keys);
    topo = any_topology(yaml);
    for (n = 0; status != KB_OK; n = next_failure(n, strcmp(keys, SERVERS) == 0)) {
        int64_t before = owned;

        blocks_left = n;
        status = life(topo);
        blocks_left = UINT64_MAX;
        assert_true(status == KB_OK || status == KB_NO_MEMORY);
        assert_true(owned == before);
    }
    any_topology_free(topo);
    return n - 1;
}

static void every_allocation_of_a_sweep_may_fail(void **state)
{
    (void)state;
    assert_true(failures_of(sweep_some, SERVERS) > 20);
    assert_true(failures_of(sweep_some, ROUTERS) > 20);
    assert_true(failures_of(sweep_some, BANKS) > 20);
}

static void every_allocation_of_traffic_may_fail(void **state)
{
    (void)state;
    assert_true(failures_of(load_some, SERVERS) > 30);
    assert_true(failures_of(load_some, ROUTERS) > 30);
    assert_true(failures_of(load_some, BANKS) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail_with_ideal_links),
        cmocka_unit_test(every_allocation_may_fail_with_fifo_links),
        cmocka_unit_test(every_allocation_of_what_is_watched_may_fail),
        cmocka_unit_test(every_allocation_of_banks_may_fail),
        cmocka_unit_test(the_cost_of_a_route_may_fail_with_banks),
        cmocka_unit_test(every_allocation_may_fail_with_routers),
        cmocka_unit_test(every_allocation_of_packets_may_fail),
        cmocka_unit_test(every_allocation_may_fail_at_time_0),
        cmocka_unit_test(every_allocation_of_a_sweep_may_fail),
        cmocka_unit_test(every_allocation_of_traffic_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
