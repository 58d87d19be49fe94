/* test_visits.c -- a breakdown made of visits is that made of pieces, of memories with banks. */
#include "support/any_topology.h"
#include "support/rig.h"
#include <stdlib.h>

enum { SEEDS = 60, MOST_ROWS = 400 };

/* All rows of a breakdown, as lines of text. */
static void put_row(void *arg, const kb_breakdown_row *row)
{
    fprintf(arg, "%d %s %d %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
            (int)row->by, row->of, (int)row->cause, row->place, row->behind, row->count,
            row->sum_fs, row->all_fs);
}

static char *breakdown_by(const kb_topology *topo, kb_engine engine, struct judge_row *rows,
                          size_t n)
{
    kb_sim *sim = sim_of_rows(topo, (kb_options){.engine = engine}, rows, n);
    kb_breakdown *why;
    kb_status status;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    do
        status = kb_sim_run(sim, 0, NULL);
    while (status == KB_AGAIN);
    assert_int_equal(status, KB_OK);
    assert_int_equal(kb_breakdown_rows(why, put_row, f), KB_OK);
    fclose(f);
    kb_breakdown_free(why);
    kb_sim_free(sim);
    return text;
}

/* Random rows on the machine of `yaml`, some of which wait for others. */
static void check_machine(const char *yaml, uint64_t seed)
{
    struct judge_topo *t = judge_load_text(yaml);
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(t);
    assert_non_null(topo);
    for (unsigned load = 0; load < 2; load++) {
        size_t n = 1 + (size_t)(seed * 97 % MOST_ROWS);
        struct judge_row *rows = random_rows(t, 2 * seed + load, n);
        char *visits, *pieces;

        if (load)
            judge_random_after(rows, n, seed);
        visits = breakdown_by(topo, KB_FUSED, rows, n);
        pieces = breakdown_by(topo, KB_HOP, rows, n);
        assert_string_equal(visits, pieces);
        free(visits);
        free(pieces);
        free(rows);
    }
    any_topology_free(topo);
    judge_free(t);
}

static void of_any_machine_with_banks(void **state)
{
    const char *wanted = getenv("KB_SEEDS");
    uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : SEEDS;

    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        char *yaml = printed(judge_random_banks, seed);

        check_machine(yaml, seed);
        free(yaml);
    }
}

/*
 * Segments of several channels end at one instant. Whichever channel is looked at first, the wait is
 * that of the one that was granted first.
 */
static void of_segments_that_end_together(void **state)
{
    static const char yaml[] =
        "kernbench: 2\nname: ties\nns_per_mm: 0.0\ncontention: {links: ideal}\n"
        "sip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube: {pes: 8, hbm: {model: banks, size_gb: 1, slices: 1, write_ack: written,\n"
        "  timing_ns: {refi: 500}}, pe: {pe_dma: {read_channels: 8, write_channels: 8}}}\n";

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_machine(yaml, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_any_machine_with_banks),
        cmocka_unit_test(of_segments_that_end_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
