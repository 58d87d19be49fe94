/* test_early.c -- memories that are free before their transactions are done: hold: own, latency_ns,
 * cube.sram.bw_gbs, as docs/model.md "Memories" computes them. */
#include "support/any_topology.h"
#include "support/rig.h"

#define CUBE8 "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2}}\n"
#define FIFO  "contention: {links: fifo}\n"
#define OWN   "cube: {hbm: {hold: own}}\n"
#define LATE  "cube: {hbm: {latency_ns: 38}, pe: {pe_dma: {read_channels: 65536}}}\n"

enum { MOST = 1000 };

/* Reads of one size, all at 0, and their results. */
struct reads {
    const char *yaml;
    size_t n;
    const char *src[MOST], *dst[MOST];
    uint64_t nbytes;
    kb_result result[MOST];
    int64_t queue_max, busy_fs;
    double util_pct;
};

/* Of the memory that was used. */
static void on_use(void *arg, const kb_utilization *use)
{
    struct reads *r = arg;

    if (use->kind != KB_AT_MEMORY)
        return;
    r->queue_max = use->queue_max;
    r->busy_fs = use->busy_fs;
    r->util_pct = use->util_pct;
}

static void run_by(struct reads *r, const kb_topology *topo, kb_options options)
{
    kb_sim *sim = new_sim(topo, options);

    for (size_t i = 0; i < r->n; i++)
        issue(sim, topo, 0, KB_READ, r->src[i], r->dst[i], r->nbytes);
    run_all(sim);
    for (size_t i = 0; i < r->n; i++)
        r->result[i] = result_of(sim, i);
    assert_int_equal(kb_sim_utilization(sim, on_use, r), KB_OK);
    kb_sim_free(sim);
}

/* Runs by each engine; all must say the same. */
static void run(struct reads *r)
{
    const kb_topology *topo = any_topology(r->yaml);
    struct reads other = *r;

    assert_non_null(topo);
    run_by(r, topo, (kb_options){.engine = KB_FUSED});
    run_by(&other, topo, (kb_options){.engine = KB_FUSED, .fingerprint = true});
    assert_memory_equal(other.result, r->result, r->n * sizeof *r->result);
    assert_int_equal(other.queue_max, r->queue_max);
    assert_int_equal(other.busy_fs, r->busy_fs);
    run_by(&other, topo, (kb_options){.engine = KB_HOP});
    assert_memory_equal(other.result, r->result, r->n * sizeof *r->result);
    assert_int_equal(other.queue_max, r->queue_max);
    assert_int_equal(other.busy_fs, r->busy_fs);
    assert_true(r->util_pct <= 100);
    any_topology_free(topo);
}

static void assert_two(const char *yaml, int64_t arrive_fs, int64_t service_fs, int64_t end_fs)
{
    struct reads *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->yaml = yaml;
    r->n = 2;
    r->nbytes = 4096;
    r->src[0] = "c0.pe1", r->src[1] = "c0.pe4";
    r->dst[0] = r->dst[1] = "c0.slice0";
    run(r);
    assert_int_equal(r->result[0].end_fs, 36095000);
    assert_int_equal(r->result[1].arrive_fs, arrive_fs);
    assert_int_equal(r->result[1].service_fs, service_fs);
    assert_int_equal(r->result[1].end_fs, end_fs);
    free(r);
}

static void narrow_readers_overlap(void **state)
{
    (void)state;
    assert_two(CUBE8, 5145000, 36095000, 68095000);
    assert_two(CUBE8 OWN, 5145000, 20095000, 52095000);
    assert_two(CUBE8 FIFO OWN, 20095000, 20095000, 52095000);
}

static void eight_readers_of_one_slice(void **state)
{
    static const char *const pes[] = {"c0.pe0", "c0.pe1", "c0.pe2", "c0.pe3",
                                      "c0.pe4", "c0.pe5", "c0.pe6", "c0.pe7"};
    static const int64_t ends[] = {66085000,  194085000, 322085000, 450085000,
                                   258085000, 386085000, 514085000, 578085000};
    static const char *const yamls[] = {CUBE8 OWN, CUBE8 FIFO OWN};
    struct reads *r = calloc(1, sizeof *r);

    (void)state;
    assert_non_null(r);
    r->n = 8;
    r->nbytes = 16384;
    for (size_t i = 0; i < r->n; i++) {
        r->src[i] = pes[i];
        r->dst[i] = "c0.slice0";
    }
    for (size_t y = 0; y < LENGTH(yamls); y++) {
        r->yaml = yamls[y];
        run(r);
        for (size_t i = 0; i < r->n; i++)
            assert_int_equal(r->result[i].end_fs, ends[i]);
        assert_int_equal(r->busy_fs, 512000000);
        assert_int_equal(r->queue_max, y == 0 ? 7 : 0);
    }
    free(r);
}

static void latency_is_not_held(void **state)
{
    struct reads *r = calloc(1, sizeof *r);
    int64_t last_fs = 0;

    (void)state;
    assert_non_null(r);
    r->yaml = CUBE8 LATE;
    r->n = 1;
    r->nbytes = 4096;
    r->src[0] = "c0.pe0", r->dst[0] = "c0.slice0";
    run(r);
    assert_int_equal(r->result[0].end_fs, 56085000);
    assert_int_equal(r->result[0].overhead_fs, 40000000);
    r->n = MOST;
    r->nbytes = 64;
    for (size_t i = 0; i < r->n; i++)
        r->src[i] = "c0.pe0", r->dst[i] = "c0.slice0";
    run(r);
    for (size_t i = 0; i < r->n; i++)
        last_fs = r->result[i].end_fs > last_fs ? r->result[i].end_fs : last_fs;
    assert_int_equal(last_fs, 290085000);
    assert_int_equal(r->busy_fs, 250000000);
    free(r);
}

/* The SRAM's own bandwidth is that of its edges, too, unless the NoC is narrower. */
static void an_sram_may_have_a_bandwidth(void **state)
{
    struct reads *r = calloc(1, sizeof *r);
    int64_t as_the_noc_fs;

    (void)state;
    assert_non_null(r);
    r->n = 2;
    r->nbytes = 4096;
    r->src[0] = "c0.pe0", r->src[1] = "c0.pe1";
    r->dst[0] = r->dst[1] = "c0.sram";
    r->yaml = CUBE8;
    run(r);
    as_the_noc_fs = r->result[0].formula_fs;
    r->yaml = CUBE8 "cube: {sram: {hold: own, bw_gbs: 512}}\n";
    run(r);
    assert_int_equal(r->result[0].formula_fs, as_the_noc_fs);
    assert_int_equal(r->busy_fs, 16000000);
    r->yaml = CUBE8 "cube: {sram: {bw_gbs: 64}}\n";
    run(r);
    assert_int_equal(r->result[0].formula_fs, as_the_noc_fs + 32000000);
    free(r);
}

/* What `why` leaves out: overheads and latency together, and the memory's own time. */
static void costs_that_are_left_out(void **state)
{
    const kb_topology *topo = any_topology(CUBE8 "cube: {hbm: {hold: own, latency_ns: 38}}\n");
    struct reads *r = calloc(1, sizeof *r);

    (void)state;
    assert_non_null(topo);
    assert_non_null(r);
    r->n = 2;
    r->nbytes = 4096;
    r->src[0] = "c0.pe1", r->src[1] = "c0.pe4";
    r->dst[0] = r->dst[1] = "c0.slice0";
    run_by(r, topo, (kb_options){.costs_off = KB_COST_OVERHEAD});
    assert_int_equal(r->result[0].end_fs, 32095000);
    assert_int_equal(r->result[1].end_fs, 48095000);
    run_by(r, topo, (kb_options){.costs_off = KB_COST_MEMORY_GBS});
    assert_int_equal(r->result[0].end_fs, 74095000);
    assert_int_equal(r->result[1].end_fs, 75145000);
    assert_int_equal(r->busy_fs, 0);
    any_topology_free(topo);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_readers_overlap),  cmocka_unit_test(eight_readers_of_one_slice),
        cmocka_unit_test(latency_is_not_held),     cmocka_unit_test(an_sram_may_have_a_bandwidth),
        cmocka_unit_test(costs_that_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
