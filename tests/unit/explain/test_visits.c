/* test_visits.c -- a breakdown made of visits is that made of pieces, of memories with banks. */
#include "support/any_topology.h"
#include "support/breakdowns.h"
#include "support/rig.h"
#include "support/seeds.h"
#include <stdlib.h>

enum { SEEDS = 60, MOST_ROWS = 400 };

/* `paths`: so many more watch that are of paths alone, which transactions do not have. */
static char *breakdown_by(const kb_topology *topo, kb_engine engine, int paths,
                          struct judge_row *rows, size_t n)
{
    kb_sim *sim = sim_of_rows(topo, (kb_options){.engine = engine}, rows, n);
    kb_breakdown *why, *path[2] = {NULL, NULL};
    kb_status status;
    char *text;

    if (paths > 1)
        assert_int_equal(kb_breakdown_new_path(sim, &path[1], NULL), KB_OK);
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    if (paths > 0)
        assert_int_equal(kb_breakdown_new_path(sim, &path[0], NULL), KB_OK);
    do
        status = kb_sim_run(sim, 0, NULL);
    while (status == KB_AGAIN);
    assert_int_equal(status, KB_OK);
    text = breakdown_text(why);
    kb_breakdown_free(path[0]);
    kb_breakdown_free(path[1]);
    kb_sim_free(sim);
    return text;
}

/* Both breakdowns of `rows` are the same. */
static void check_rows(const kb_topology *topo, struct judge_row *rows, size_t n)
{
    char *pieces = breakdown_by(topo, KB_HOP, 0, rows, n);

    for (int paths = 0; paths < 3; paths++) {
        char *visits = breakdown_by(topo, KB_FUSED, paths, rows, n);

        assert_string_equal(visits, pieces);
        free(visits);
    }
    free(pieces);
}

/* Random rows on the machine of `yaml`; then some of them wait for others. */
static void check_machine(const char *yaml, uint64_t seed)
{
    struct judge_topo *t = judge_load_text(yaml);
    const kb_topology *topo = any_topology(yaml);
    size_t n = 1 + (size_t)(seed * 97 % MOST_ROWS);
    struct judge_row *rows;

    assert_non_null(t);
    assert_non_null(topo);
    rows = random_rows(t, seed, n);
    check_rows(topo, rows, n);
    judge_random_after(rows, n, seed);
    check_rows(topo, rows, n);
    free(rows);
    any_topology_free(topo);
    judge_free(t);
}

static void of_any_machine_with_banks(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        char *yaml = printed(judge_random_banks, seed);

        check_machine(yaml, seed);
        free(yaml);
    }
}

/*
 * Segments of several channels end at one instant. Whichever channel is looked at first, the wait
 * is that of the one that was granted first.
 */
static void of_segments_that_end_together(void **state)
{
    static const char yaml[] =
        "kernbench: 2\nname: ties\nns_per_mm: 0.0\ncontention: {links: ideal}\n"
        "sip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube: {pes: 8, hbm: {model: banks, size_gb: 1, slices: 1, write_ack: written,\n"
        "  timing_ns: {refi: 500}}, pe: {pe_dma: {read_channels: 8, write_channels: 8}}}\n";

    enum { ROWS = 400, BURST = 64, BURSTS = 4096, NS = 1000000 };
    const kb_topology *topo = any_topology(yaml);
    uint64_t dice = 1;

    (void)state;
    assert_non_null(topo);
    for (int i = 0; i < SEEDS; i++) {
        struct judge_row rows[ROWS] = {{0}};

        for (uint64_t j = 0; j < ROWS; j++) {
            rows[j].issue_fs = (int64_t)(j / 8 * 3 * NS);
            rows[j].op = draw(&dice) % 10 < 7 ? JUDGE_READ : JUDGE_WRITE;
            rows[j].src = (struct judge_end){JUDGE_PE, 0, 0, (uint32_t)(j % 8)};
            rows[j].dst = (struct judge_end){JUDGE_SLICE, 0, 0, 0};
            rows[j].offset = draw(&dice) % BURSTS * BURST;
            rows[j].nbytes = (1 + draw(&dice) % 4) * BURST;
        }
        check_rows(topo, rows, ROWS);
    }
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_any_machine_with_banks),
        cmocka_unit_test(of_segments_that_end_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
