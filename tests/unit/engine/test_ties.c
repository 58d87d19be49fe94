/* test_ties.c -- things that happen at one instant, against the judge and from engine to engine. */
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>

/* Nothing takes time but bytes: 256 of them a ns, and `chain` between crossbars. */
#define BYTES_ONLY(links, chain, more, hbm)                                                        \
    "kernbench: 1\nname: ties\nns_per_mm: 0\nsip: {cube_mesh: {w: 1, h: 1}}\n"                     \
    "contention: {links: " links "}\n"                                                             \
    "cube: {ucie: {overhead_ns: 0}, m_cpu: {overhead_ns: 0" more "}, noc: {bw_gbs: 256},\n"        \
    "  xbar: {overhead_ns: 0, chain_gbs: " chain "}, bridge: {overhead_ns: 0, bw_gbs: 256}" hbm    \
    "}\n"

enum { MOST_ROWS = 8, MOST_USES = 512 };

struct row {
    int64_t issue_ns;
    kb_transaction_op op;
    const char *src, *dst;
    uint64_t nbytes;
};

struct uses {
    kb_utilization row[MOST_USES];
    size_t n;
};

static void keep(void *arg, const kb_utilization *use)
{
    struct uses *uses = arg;

    assert_true(uses->n < MOST_USES);
    uses->row[uses->n++] = *use;
}

static void run_by(const kb_topology *topo, kb_options options, const struct row *rows, size_t n,
                   kb_result *results, struct uses *uses)
{
    kb_sim *sim = new_sim(topo, options);

    for (size_t i = 0; i < n; i++)
        issue(sim, topo, rows[i].issue_ns * KB_FS_PER_NS, rows[i].op, rows[i].src, rows[i].dst,
              rows[i].nbytes);
    run_all(sim);
    for (size_t i = 0; i < n; i++)
        results[i] = result_of(sim, i);
    uses->n = 0;
    assert_int_equal(kb_sim_utilization(sim, keep, uses), KB_OK);
    kb_sim_free(sim);
}

static void assert_same_uses(const struct uses *a, const struct uses *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const kb_utilization *x = &a->row[i], *y = &b->row[i];

        assert_string_equal(x->name, y->name);
        if (x->count != y->count || x->busy_fs != y->busy_fs || x->queue_max != y->queue_max ||
            fabs(x->wait_ns - y->wait_ns) > 1e-9)
            fail_msg("%s: waits of %g and %g ns", x->name, x->wait_ns, y->wait_ns);
    }
}

static void assert_as_judged(const char *yaml, const struct row *rows, size_t n,
                             const kb_topology *topo, const kb_result *results)
{
    struct judge_topo *judge = judge_load_text(yaml);
    struct judge_result want[MOST_ROWS];
    struct judge_row judged[MOST_ROWS] = {{0}};
    uint64_t fingerprint;
    char text[128];

    for (size_t i = 0; i < n; i++) {
        kb_endpoint src = end_of(topo, rows[i].src), dst = end_of(topo, rows[i].dst);

        judged[i] = (struct judge_row){.issue_fs = rows[i].issue_ns * KB_FS_PER_NS,
                                       .op = (enum judge_op)rows[i].op,
                                       .src = judge_end(&src),
                                       .dst = judge_end(&dst),
                                       .nbytes = rows[i].nbytes};
    }
    assert_true(judge_replay(judge, judged, n, want, &fingerprint));
    for (size_t i = 0; i < n; i++)
        if (differ(&results[i], &want[i], text))
            fail_msg("row %zu: %s", i, text);
    judge_free(judge);
}

/* Runs by both engines; gives the results. */
static void assert_agree(const char *yaml, const struct row *rows, size_t n, kb_result *results)
{
    const kb_topology *topo = any_topology(yaml);
    static struct uses fused, hop;
    kb_result others[MOST_ROWS];

    run_by(topo, (kb_options){.engine = KB_FUSED}, rows, n, results, &fused);
    run_by(topo, (kb_options){.engine = KB_HOP}, rows, n, others, &hop);
    assert_memory_equal(others, results, n * sizeof *others);
    assert_same_uses(&fused, &hop);
    assert_as_judged(yaml, rows, n, topo, results);
    any_topology_free(topo);
}

/*
 * At 16 ns row 0 has passed the link and is served. Row 3, which has waited 15 ns for that link,
 * takes the slice. At the same instant row 1 ends, so row 2 sets out on the channel of pe2, by the
 * other link, and is at the slice at once, with a lower number: it comes first. Row 3 has still
 * waited.
 */
static void a_holder_that_has_waited_for_its_link_is_displaced(void **state)
{
    static const struct row rows[] = {{0, KB_READ, "c0.pe0", "c0.slice0", 4096},
                                      {0, KB_WRITE, "c0.pe2", "c0.slice2", 4096},
                                      {0, KB_WRITE, "c0.pe2", "c0.slice0", 4096},
                                      {1, KB_READ, "c0.pe1", "c0.slice0", 4096}};
    kb_result r[MOST_ROWS];

    (void)state;
    assert_agree(BYTES_ONLY("fifo", "256", "", ""), rows, LENGTH(rows), r);
    assert_int_equal(r[2].service_fs, 16 * KB_FS_PER_NS);
    assert_int_equal(r[3].wait_fs[KB_WAIT_LINK], 15 * KB_FS_PER_NS);
    assert_int_equal(r[3].service_fs, 32 * KB_FS_PER_NS);
}

/*
 * Row 0 passes the link until 16 ns and holds the slice until 32. At 16 ns row 3 sets out, behind
 * row 2 on its channel, and row 1 is issued; both are at the slice at once, each by a link of its
 * own. What is issued at an instant is behind all others of the instant, also if its number is
 * lower.
 */
static void what_is_issued_at_an_instant_is_last(void **state)
{
    static const struct row rows[] = {{0, KB_READ, "c0.pe1", "c0.slice0", 4096},
                                      {16, KB_WRITE, "c0.pe2", "c0.slice0", 64},
                                      {0, KB_READ, "c0.pe0", "c0.slice1", 2048},
                                      {0, KB_READ, "c0.pe0", "c0.slice0", 64}};
    kb_result r[MOST_ROWS];

    (void)state;
    assert_agree(BYTES_ONLY("fifo", "128", "", ""), rows, LENGTH(rows), r);
    assert_int_equal(r[1].arrive_fs, 16 * KB_FS_PER_NS);
    assert_int_equal(r[3].arrive_fs, 16 * KB_FS_PER_NS);
    assert_int_equal(r[3].service_fs, 32 * KB_FS_PER_NS);
    assert_true(r[1].service_fs > r[3].service_fs);
}

/* Three engines end at one instant, and the three that wait take them in the order they came. */
static void engines_are_released_at_one_instant(void **state)
{
    static const struct row rows[] = {
        {0, KB_H2D, "host", "c0.slice0", 4096}, {0, KB_H2D, "host", "c0.slice1", 4096},
        {0, KB_H2D, "host", "c0.slice2", 4096}, {0, KB_H2D, "host", "c0.slice3", 4096},
        {0, KB_H2D, "host", "c0.slice4", 4096}, {0, KB_H2D, "host", "c0.slice5", 8192}};
    static const char *const yamls[] = {BYTES_ONLY("ideal", "256", ", dma_write: 3", ""),
                                        BYTES_ONLY("fifo", "256", ", dma_write: 3", "")};
    kb_result r[MOST_ROWS];

    (void)state;
    for (size_t i = 0; i < LENGTH(yamls); i++) {
        assert_agree(yamls[i], rows, LENGTH(rows), r);
        assert_true(i == 1 || (r[0].done_fs == r[2].done_fs && r[3].wait_fs[KB_WAIT_ENGINE] > 0));
        assert_true(i == 1 || r[3].wait_fs[KB_WAIT_ENGINE] == r[5].wait_fs[KB_WAIT_ENGINE]);
    }
}

/*
 * At 32 ns rows 0 and 1 end. Row 2 sets out, and row 3 behind row 1: both come to the link into
 * slice 1 at once, row 2 first. So row 3 is at the slice at 48 ns, at the very instant at which its
 * end would come if nothing were before it, and as the slice becomes free; it ends at 64 ns, like
 * row 2. Then rows 4 and 5 set out, and row 4 is the first on the link between the crossbars of pe1
 * and pe0 ... if the end of row 3 is not found a moment too late.
 */
static void what_comes_to_its_memory_as_its_end_was_expected_ends_in_time(void **state)
{
    static const struct row rows[] = {
        {0, KB_READ, "c0.pe2", "c0.slice1", 4096}, {0, KB_READ, "c0.pe1", "c0.slice0", 4096},
        {0, KB_READ, "c0.pe2", "c0.slice1", 4096}, {0, KB_READ, "c0.pe1", "c0.slice1", 4096},
        {0, KB_READ, "c0.pe1", "c0.slice4", 4096}, {0, KB_READ, "c0.pe2", "c0.slice7", 4096}};
    kb_result r[MOST_ROWS];

    (void)state;
    assert_agree(BYTES_ONLY("fifo", "128", "", ", hbm: {hold: own}"), rows, LENGTH(rows), r);
    assert_int_equal(r[3].service_fs, 48 * KB_FS_PER_NS);
    assert_int_equal(r[3].done_fs, 64 * KB_FS_PER_NS);
    assert_int_equal(r[4].wait_fs[KB_WAIT_LINK], 0);
    assert_int_equal(r[5].wait_fs[KB_WAIT_LINK], 32 * KB_FS_PER_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_holder_that_has_waited_for_its_link_is_displaced),
        cmocka_unit_test(what_is_issued_at_an_instant_is_last),
        cmocka_unit_test(engines_are_released_at_one_instant),
        cmocka_unit_test(what_comes_to_its_memory_as_its_end_was_expected_ends_in_time),
    };

    return cmocka_run_group_tests_name("ties", tests, NULL, NULL);
}
