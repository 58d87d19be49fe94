/* test_random.c -- random machines under random loads: both engines say what the judge says. */
#include "machine/tables.h"
#include "support/any_topology.h"
#include "support/scenario.h"
#include "support/seeds.h"

/*
 * KB_SEEDS=N in the environment runs seeds 1..N, KB_SEEDS=M-N those from M to N; KB_TEST names one
 * of the tests. Each seed is a machine of its own, ideal or
 * fifo, often without any delay at all, and gets loads of random length full of ties. In one load
 * rows wait for others. A quarter as many seeds follow with interleaved addresses, where most rows
 * are split.
 */
enum { SEEDS = 20 };

/* -- scenarios ------------------------------------------------------------------------------ */

/* Calls `check` with every load of one in `of` machines, and behind them of some that are
 * interleaved. */
static void each_scenario(uint64_t of, void (*machine)(FILE *out, uint64_t seed),
                          void (*check)(struct scenario *s))
{
    struct seeds seeds = seeds_of(SEEDS, of);
    size_t sorted = 0, unsorted = 0, n_split = seeds_count(seeds) / 4;

    for (uint64_t seed = seeds.first; seed <= seeds.last + n_split; seed++) {
        struct scenario s = {.seed = seed, .dice = seed};
        bool splits = seed > seeds.last;
        char *yaml = splits ? random_split_topo(machine, seed, &s.dice) : printed(machine, seed);
        struct judge_topo *t = judge_load_text(yaml);

        const kb_topology *topo = any_topology(yaml);

        assert_non_null(t);
        assert_non_null(topo);
        struct kb_topology walked = *topo;

        walked.between_by =
            BY_WALK; /* as large machines with gaps are: machine/machine_between.h */
        s.topo = seed % 4 ? topo : &walked;
        for (int load = 0; load < LOADS; load++) {
            draw_load(&s, t, load, splits);
            *(in_order(&s) ? &sorted : &unsorted) += 1;
            if (s.n)
                check(&s);
            drop_load(&s);
        }
        any_topology_free(topo);
        judge_free(t);
        free(yaml);
    }
    assert_true(sorted > 0 && unsorted > 0);
}

/* -- whole runs ----------------------------------------------------------------------------- */

static void check_whole_runs(struct scenario *s)
{
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_options options = {.engine = (kb_engine)e, .fingerprint = true};

        assert_whole_run(s, options, 0);
        assert_whole_run(s, options, 7);
        options.fingerprint = false; /* fused leaves out what only a fingerprint needs */
        assert_whole_run(s, options, 0);
        assert_whole_run(s, options, 1);
    }
}

/* ARCHITECTURE.md: "Fingerprints and all results of `--engine hop` and `--engine fused` are equal"
 */
static void both_engines_say_what_the_judge_says(void **state)
{
    (void)state;
    each_scenario(1, judge_random_topo, check_whole_runs);
}

/* The same of machines with rings, planes, broken links, and grids of SIPs. */
static void machines_of_any_shape_do_what_the_judge_says(void **state)
{
    (void)state;
    each_scenario(1, judge_random_shape, check_whole_runs);
}

/* The same of machines with nets: kinds of cubes and links, lanes, one-way links. */
static void nets_do_what_the_judge_says(void **state)
{
    (void)state;
    each_scenario(1, judge_random_net, check_whole_runs);
}

/* At once, and by a few events a call. */
static void check_banks(struct scenario *s)
{
    static const uint64_t budgets[] = {0, 1, 7, 1000};

    for (size_t how = 0; how < 4; how++)
        assert_whole_run(
            s, (kb_options){.engine = how & 1 ? KB_HOP : KB_FUSED, .fingerprint = how & 2},
            budgets[(how + s->seed) % LENGTH(budgets)]);
    assert_whole_run(s, (kb_options){.engine = KB_FUSED}, budgets[s->seed % LENGTH(budgets)]);
}

/* The same of machines whose slices have banks: which segment passes, and when, and in which order.
 */
static void banks_do_what_the_judge_says(void **state)
{
    (void)state;
    each_scenario(8, judge_random_banks, check_banks);
}

/* The same of machines whose slices have caches: which lines are there, and what they wait for. */
static void caches_do_what_the_judge_says(void **state)
{
    (void)state;
    each_scenario(4, judge_random_caches, check_banks);
}

/* The same of machines whose cubes have an L2, before slices of any kind: what it asks of them
 * comes back in any order. */
static void l2s_do_what_the_judge_says(void **state)
{
    (void)state;
    each_scenario(4, judge_random_l2, check_banks);
}

/* -- what was used -------------------------------------------------------------------------- */

struct uses {
    kb_utilization *rows;
    size_t n, room;
};

static void keep_use(void *arg, const kb_utilization *use)
{
    struct uses *u = arg;

    if (u->n == u->room) {
        u->room = 2 * u->room + 256;
        u->rows = realloc(u->rows, u->room * sizeof *u->rows);
        assert_non_null(u->rows);
    }
    u->rows[u->n++] = *use;
}

static struct uses uses_of(const struct scenario *s, kb_engine engine)
{
    kb_sim *sim = sim_of_rows(s->topo, (kb_options){.engine = engine}, s->rows, s->n);
    struct uses uses = {0};

    assert_int_equal(run_by(sim, engine == KB_HOP ? 0 : 11, s), KB_OK);
    assert_int_equal(kb_sim_utilization(sim, keep_use, &uses), KB_OK);
    kb_sim_free(sim);
    return uses;
}

static bool same_use(const kb_utilization *a, const kb_utilization *b)
{
    return strcmp(a->name, b->name) == 0 && a->count == b->count && a->bytes == b->bytes &&
           a->busy_fs == b->busy_fs && a->wait_ns == b->wait_ns && a->queue_mean == b->queue_mean &&
           a->queue_max == b->queue_max && a->row_hits == b->row_hits &&
           a->row_misses == b->row_misses && a->row_conflicts == b->row_conflicts &&
           a->activations == b->activations && a->util_pct == b->util_pct &&
           a->refresh_pct == b->refresh_pct;
}

static void check_uses(struct scenario *s)
{
    struct uses fused = uses_of(s, KB_FUSED), hop = uses_of(s, KB_HOP);

    assert_int_equal(fused.n, hop.n);
    for (size_t i = 0; i < hop.n; i++)
        if (!same_use(&fused.rows[i], &hop.rows[i]))
            fail_msg("seed %" PRIu64 ": use of %s", s->seed, hop.rows[i].name);
    free(fused.rows);
    free(hop.rows);
}

/* docs/results.md "Statistics": what links that were passed without a stop have carried, too */
static void both_engines_count_the_same(void **state)
{
    (void)state;
    each_scenario(2, judge_random_topo, check_uses);
    each_scenario(2, judge_random_shape, check_uses);
    each_scenario(2, judge_random_net, check_uses);
    each_scenario(8, judge_random_banks, check_uses);
    each_scenario(8, judge_random_caches, check_uses);
}

/* -- runs that end early -------------------------------------------------------------------- */

/* An instant at, just before or just after something that happens to some row. */
static int64_t some_time(struct scenario *s)
{
    const struct judge_result *r = &s->expected[draw(&s->dice) % s->n];
    const int64_t times[] = {r->issue_fs,   r->start_fs, r->arrive_fs,
                             r->service_fs, r->done_fs,  r->end_fs};
    int64_t fs = times[draw(&s->dice) % LENGTH(times)] + (int64_t)(draw(&s->dice) % 3) - 1;

    return fs > 0 ? fs : 1;
}

/* What is complete by `until` is what the judge's whole run has complete by then. */
static void check_until(struct scenario *s)
{
    int64_t until_fs = some_time(s);
    size_t n_done = 0;

    for (size_t i = 0; i < s->n; i++)
        n_done += s->expected[i].end_fs <= until_fs;
    for (int how = 0; how < 4; how++) {
        kb_options options = {
            .engine = how & 1 ? KB_HOP : KB_FUSED, .fingerprint = how & 2, .until_fs = until_fs};
        kb_sim *sim = sim_of_rows(s->topo, options, s->rows, s->n);

        assert_int_equal(run_by(sim, how & 2 ? 5 : 0, s), n_done < s->n ? KB_STOPPED : KB_OK);
        assert_true(kb_sim_done(sim) == n_done);
        assert_true(kb_sim_end_fs(sim) <= until_fs);
        for (size_t i = 0; i < s->n; i++) {
            kb_result result;

            if (s->expected[i].end_fs <= until_fs)
                assert_row(s, sim, options.engine, i);
            else
                assert_int_equal(kb_sim_result(sim, i, &result), KB_PENDING);
        }
        kb_sim_free(sim);
    }
}

/* docs/formats.md: "`--until NS` ... end a run early with what is known" */
static void until_keeps_what_is_complete_by_then(void **state)
{
    (void)state;
    each_scenario(2, judge_random_topo, check_until);
    each_scenario(4, judge_random_shape, check_until);
    each_scenario(8, judge_random_caches, check_until);
}

/* Both engines have the same rows complete after as many events, and those as the judge has. */
static void check_max_events(struct scenario *s)
{
    kb_options options = {.max_events = draw(&s->dice) % (4 * s->n) + 1};
    kb_sim *fused = sim_of_rows(s->topo, options, s->rows, s->n), *hop;

    options.engine = KB_HOP;
    hop = sim_of_rows(s->topo, options, s->rows, s->n);
    assert_int_equal(run_by(fused, 0, s), run_by(hop, draw(&s->dice) % 9, s));
    assert_true(kb_sim_done(fused) == kb_sim_done(hop));
    for (size_t i = 0; i < s->n; i++) {
        kb_result result;
        kb_status status = kb_sim_result(fused, i, &result);

        assert_int_equal(kb_sim_result(hop, i, &result), status);
        assert_true(status == KB_OK || status == KB_PENDING);
        if (status == KB_PENDING)
            continue;
        assert_row(s, fused, KB_FUSED, i);
        assert_row(s, hop, KB_HOP, i);
    }
    kb_sim_free(fused);
    kb_sim_free(hop);
}

/* docs/formats.md: "--max-events N" */
static void max_events_keeps_the_same_rows_in_both_engines(void **state)
{
    (void)state;
    each_scenario(2, judge_random_topo, check_max_events);
    each_scenario(4, judge_random_shape, check_max_events);
    each_scenario(8, judge_random_caches, check_max_events);
}

/* -- costs left out ------------------------------------------------------------------------- */

static void check_costs_off(struct scenario *s)
{
    static const unsigned of_caches[] = {0, KB_COST_CACHES, KB_COST_CACHE_MISSES};
    unsigned off = (unsigned)(draw(&s->dice) % 64) | of_caches[draw(&s->dice) % 3];
    kb_options options = {.fingerprint = true, .costs_off = off};
    kb_sim *fused = sim_of_rows(s->topo, options, s->rows, s->n), *hop, *plain;

    options.engine = KB_HOP;
    hop = sim_of_rows(s->topo, options, s->rows, s->n);
    options = (kb_options){.costs_off = options.costs_off};
    plain = sim_of_rows(s->topo, options, s->rows, s->n);
    assert_int_equal(run_by(fused, 0, s), KB_OK);
    assert_int_equal(run_by(hop, 0, s), KB_OK);
    assert_int_equal(run_by(plain, 0, s), KB_OK);
    for (size_t i = 0; i < s->n; i++) {
        kb_result a = result_of(fused, i), b = result_of(hop, i), c = result_of(plain, i);
        struct judge_result expected = judge_result(&b);
        char text[128];

        if (differ(&a, &expected, text) || differ(&c, &expected, text))
            fail_msg("seed %" PRIu64 ", costs off %u: of row %zu %s", s->seed, options.costs_off, i,
                     text);
    }
    assert_true(kb_sim_fingerprint(fused) == kb_sim_fingerprint(hop));
    kb_sim_free(fused);
    kb_sim_free(hop);
    kb_sim_free(plain);
}

/* ARCHITECTURE.md: a mask in the simulation takes a class of cost away; engines are equal on every
 * input
 */
static void engines_agree_whatever_cost_is_left_out(void **state)
{
    (void)state;
    each_scenario(2, judge_random_topo, check_costs_off);
    each_scenario(4, judge_random_shape, check_costs_off);
    each_scenario(8, judge_random_caches, check_costs_off);
    each_scenario(8, judge_random_l2, check_costs_off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_say_what_the_judge_says),
        cmocka_unit_test(machines_of_any_shape_do_what_the_judge_says),
        cmocka_unit_test(nets_do_what_the_judge_says),
        cmocka_unit_test(banks_do_what_the_judge_says),
        cmocka_unit_test(caches_do_what_the_judge_says),
        cmocka_unit_test(l2s_do_what_the_judge_says),
        cmocka_unit_test(both_engines_count_the_same),
        cmocka_unit_test(until_keeps_what_is_complete_by_then),
        cmocka_unit_test(max_events_keeps_the_same_rows_in_both_engines),
        cmocka_unit_test(engines_agree_whatever_cost_is_left_out),
    };

    cmocka_set_test_filter(getenv("KB_TEST"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
