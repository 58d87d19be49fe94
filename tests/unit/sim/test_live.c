/*
 * test_live.c -- transactions that are added while time runs have the times that the judge has for
 * all of them together.
 */
#include <math.h>
#include "support/any_topology.h"
#include "support/scenario.h"

enum { SEEDS = 10, SORTED_LOADS = 4 };

/* -- windows ------------------------------------------------------------------------------------
 */

/* Runs up to `to_fs`, at a completion after the other or at once. */
static void run_to(kb_sim *sim, int64_t to_fs, bool first, const struct scenario *s)
{
    kb_error why = {""};
    uint64_t done;
    kb_status status;

    do {
        done = kb_sim_done(sim);
        status = kb_sim_run_to(sim, to_fs, first, NULL, &why);
        if (status != KB_OK && status != KB_AGAIN)
            fail_msg("seed %" PRIu64 ": status %d: %s", s->seed, (int)status, why.text);
    } while (first && kb_sim_done(sim) > done);
}

/* Each row is added when the run has come to a time that is drawn, its issue at most. */
static void assert_live_run(struct scenario *s, kb_engine engine, bool first)
{
    kb_sim *sim =
        new_sim(s->topo, (kb_options){.engine = engine, .fingerprint = true, .live = true});
    int64_t now_fs = 0;

    for (size_t i = 0; i < s->n; i++) {
        kb_transaction row = request_of(&s->rows[i]);

        if (row.issue_fs > now_fs && draw(&s->dice) % 3) {
            now_fs = row.issue_fs - (int64_t)(draw(&s->dice) % 2) * (row.issue_fs - now_fs) / 2;
            run_to(sim, now_fs, first, s);
        }
        add(sim, &row);
    }
    assert_int_equal(run_by(sim, 0, s), KB_OK);
    for (size_t i = 0; i < s->n; i++)
        assert_row(s, sim, engine, i);
    if (kb_sim_fingerprint(sim) != s->fingerprint)
        fail_msg("seed %" PRIu64 ", %s: another fingerprint", s->seed, engine_name(engine));
    kb_sim_free(sim);
}

static void check_machine(void (*machine)(FILE *out, uint64_t seed), uint64_t seed)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = printed(machine, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml); /* NULL: the draw is no machine, as some with gaps are not */
    assert_non_null(t);
    for (int load = 0; s.topo && load < SORTED_LOADS; load++) {
        draw_load(&s, t, load % 2 ? LOAD_READS : LOAD_SORTED, false);
        for (int way = 0; s.n && way < 4; way++)
            assert_live_run(&s, way % 2 ? KB_HOP : KB_FUSED, way / 2);
        drop_load(&s);
    }
    any_topology_free(s.topo);
    judge_free(t);
    free(yaml);
}

static void rows_of_a_live_run_have_the_times_of_all_at_once(void **state)
{
    static void (*const machines[])(FILE * out, uint64_t seed) = {
        judge_random_topo, judge_random_shape, judge_random_banks, judge_random_routers};

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t i = 0; i < LENGTH(machines); i++)
            check_machine(machines[i], seed);
}

/* -- a closed loop ------------------------------------------------------------------------------
 */

#define CUBE8 "kernbench: 2\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

static kb_transaction read_of(uint32_t pe, int64_t issue_fs)
{
    return (kb_transaction){
        .issue_fs = issue_fs, .src = {KB_PE, 0, 0, pe}, .dst = {KB_SLICE, 0, 0, 0}, .nbytes = 4096};
}

/* What is issued as another one completes is what waits for it, without a time to think. */
static void a_row_that_is_added_at_a_completion_is_one_that_waited(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *live = new_sim(t, (kb_options){.live = true}), *known = new_sim(t, (kb_options){0});
    const uint64_t first = 0;
    int64_t from_fs = 0;

    (void)state;
    for (uint32_t pe = 0; pe < 3; pe++) {
        add(live, &(kb_transaction[]){read_of(pe, 0)}[0]);
        add(known, &(kb_transaction[]){read_of(pe, 0)}[0]);
    }
    assert_int_equal(kb_sim_run_to(live, INT64_MAX, true, &from_fs, NULL), KB_AGAIN);
    assert_true(from_fs == result_of(live, 0).end_fs);
    add(live, &(kb_transaction[]){read_of(0, from_fs)}[0]);
    add(known, &(kb_transaction[]){read_of(0, 0)}[0]);
    assert_int_equal(kb_sim_add_dependencies(known, 3, &first, 1, 0, NULL), KB_OK);
    run_all(live);
    run_all(known);
    for (uint64_t id = 0; id < 4; id++)
        assert_true(result_of(live, id).end_fs == result_of(known, id).end_fs);
    kb_sim_free(live);
    kb_sim_free(known);
    any_topology_free(t);
}

/* What has completed is told once, in order of its end; a budget ends a part of a run, not its
 * time. */
static void what_has_completed_is_told_once(void **state)
{
    const kb_topology *t = any_topology(CUBE8);

    (void)state;
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)engine, .live = true});
        uint64_t ids[4] = {0};
        int64_t from_fs = 0;
        int parts = 0;

        for (uint32_t pe = 0; pe < 4; pe++)
            add(sim, &(kb_transaction[]){read_of(3 - pe, 0)}[0]);
        assert_int_equal(kb_sim_completed(sim, ids, 4), 0);
        assert_int_equal(kb_sim_run_to(sim, INT64_MAX, true, NULL, NULL), KB_AGAIN);
        assert_int_equal(kb_sim_completed(sim, ids, 4), 1);
        assert_int_equal(ids[0], 3);
        while (kb_sim_run_part(sim, INT64_MAX, false, 1, &from_fs, NULL) == KB_AGAIN)
            parts += from_fs < INT64_MAX;
        assert_true(parts > 2 && from_fs == INT64_MAX);
        assert_int_equal(kb_sim_completed(sim, ids, 2), 2);
        assert_true(result_of(sim, ids[0]).end_fs < result_of(sim, ids[1]).end_fs);
        assert_int_equal(kb_sim_completed(sim, ids, 4), 1);
        assert_int_equal(kb_sim_completed(sim, ids, 4), 0);
        kb_sim_free(sim);
    }
    any_topology_free(t);
}

/* -- parts ---------------------------------------------------------------------------------------
 */

#define CUTS CUBE8 "cube: {pe: {pe_dma: {packet_bytes: 1024, issue_ns: 5}}}\n"

enum { CUT_ROWS = 40, USES_MAX = 4096 };

struct uses {
    kb_utilization of[USES_MAX];
    size_t n;
};

static void keep_use(void *arg, const kb_utilization *use)
{
    struct uses *uses = arg;

    assert_true(uses->n < USES_MAX);
    uses->of[uses->n++] = *use;
}

/* What `sim` has counted, to be freed. */
static struct uses *uses_of(const kb_sim *sim)
{
    struct uses *uses = calloc(1, sizeof *uses);

    assert_non_null(uses);
    assert_int_equal(kb_sim_utilization(sim, keep_use, uses), KB_OK);
    assert_true(uses->n > 0);
    return uses;
}

static void assert_same_uses(const kb_sim *a, const kb_sim *b)
{
    struct uses *of_a = uses_of(a), *of_b = uses_of(b);

    assert_int_equal(of_a->n, of_b->n);
    for (size_t i = 0; i < of_a->n; i++) {
        const kb_utilization *x = &of_a->of[i], *y = &of_b->of[i];

        if (strcmp(x->name, y->name) != 0 || x->count != y->count || x->bytes != y->bytes ||
            x->busy_fs != y->busy_fs || llround(x->wait_ns * 1e3) != llround(y->wait_ns * 1e3))
            fail_msg("%s: %" PRIu64 " of %" PRIu64 " bytes, %s: %" PRIu64 " of %" PRIu64, x->name,
                     x->count, x->bytes, y->name, y->count, y->bytes);
    }
    free(of_a);
    free(of_b);
}

/* Transactions of one packet and of several, added one by one and in windows: each has its number,
 * and all are counted once. */
static void a_live_run_counts_what_goes_in_packets(void **state)
{
    const kb_topology *t = any_topology(CUTS);

    (void)state;
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        kb_sim *live = new_sim(t, (kb_options){.engine = (kb_engine)engine, .live = true});
        kb_sim *known = new_sim(t, (kb_options){.engine = (kb_engine)engine, .fingerprint = true});

        for (uint32_t i = 0; i < CUT_ROWS; i++) {
            kb_transaction row = read_of(i % 3, (int64_t)i * 7 * KB_FS_PER_NS);

            row.nbytes = i % 4 ? 4096 + 64 * i : 512;
            if (i % 5 == 4)
                kb_sim_run_to(live, row.issue_fs, false, NULL, NULL);
            add(live, &row);
            add(known, &row);
        }
        run_all(live);
        run_all(known);
        for (uint64_t id = 0; id < CUT_ROWS; id++) {
            kb_transaction request;
            kb_result a = result_of(live, id), b = result_of(known, id);

            assert_int_equal(kb_sim_request(live, id, &request), KB_OK);
            assert_int_equal(request.nbytes, id % 4 ? 4096 + 64 * id : 512);
            assert_memory_equal(&a, &b, sizeof a);
        }
        assert_same_uses(live, known);
        kb_sim_free(live);
        kb_sim_free(known);
    }
    any_topology_free(t);
}

enum { BEFORE = 3 };

/* The first multicast of a simulation makes it keep parts; rows of the same call that are no
 * multicasts, and come before it, keep their places. */
static void rows_before_the_first_multicast_of_a_call_have_their_times(void **state)
{
    static const kb_endpoint ends[] = {
        {KB_PE, 0, 0, 0}, {KB_PE, 0, 3, 1}, {KB_SLICE, 0, 1, 0}, {KB_SLICE, 0, 2, 0}};
    static const uint32_t src[BEFORE + 1] = {0, 1, 0, 1}, dst[BEFORE + 1] = {2, 3, 3, 0},
                                       n_targets[BEFORE + 1] = {[BEFORE] = 2}, targets[] = {2, 3};
    static const uint64_t nbytes[BEFORE + 1] = {64, 4096, 256, 1024};
    const kb_transaction_columns rows = {.ends = ends,
                                         .n_ends = LENGTH(ends),
                                         .src = src,
                                         .dst = dst,
                                         .nbytes = nbytes,
                                         .n_targets = n_targets,
                                         .targets = targets};
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *live = new_sim(t, (kb_options){.live = true}), *known = new_sim(t, (kb_options){0});

    (void)state;
    assert_int_equal(kb_sim_add_many(live, &rows, BEFORE + 1, NULL, NULL), KB_OK);
    assert_int_equal(kb_sim_add_many(known, &rows, BEFORE + 1, NULL, NULL), KB_OK);
    run_all(live);
    run_all(known);
    for (uint64_t id = 0; id <= BEFORE; id++) {
        kb_result a = result_of(live, id), b = result_of(known, id);

        assert_memory_equal(&a, &b, sizeof a);
    }
    kb_sim_free(live);
    kb_sim_free(known);
    any_topology_free(t);
}

/* -- what is refused ----------------------------------------------------------------------------
 */

static void assert_refused(kb_sim *sim, int64_t to_fs, const char *text)
{
    kb_error why = {""};

    assert_int_equal(kb_sim_run_to(sim, to_fs, false, NULL, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, text));
}

static void assert_too_early(kb_sim *sim, int64_t issue_fs, const char *text)
{
    kb_error why = {""};
    kb_transaction row = read_of(0, issue_fs);

    assert_int_equal(kb_sim_add(sim, &row, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, text));
}

static void time_does_not_go_back(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *live = new_sim(t, (kb_options){.live = true}), *plain = new_sim(t, (kb_options){0});

    (void)state;
    assert_refused(plain, 1, "not live");
    assert_refused(live, 0, "later time");
    add(live, &(kb_transaction[]){read_of(0, 5)}[0]);
    assert_int_equal(kb_sim_run_to(live, 1000000, false, NULL, NULL), KB_AGAIN);
    assert_too_early(live, 999999, "has come to 1.000000 ns");
    add(live, &(kb_transaction[]){read_of(1, 1000000)}[0]);
    assert_refused(live, 999999, "later time");
    assert_int_equal(kb_sim_run_to(live, INT64_MAX, false, NULL, NULL), KB_OK);
    run_all(live);
    assert_too_early(live, INT64_MAX - 1, "to its end");
    assert_int_equal(kb_sim_done(live), 2);
    kb_sim_free(live);
    kb_sim_free(plain);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_live_run_have_the_times_of_all_at_once),
        cmocka_unit_test(a_row_that_is_added_at_a_completion_is_one_that_waited),
        cmocka_unit_test(what_has_completed_is_told_once),
        cmocka_unit_test(a_live_run_counts_what_goes_in_packets),
        cmocka_unit_test(rows_before_the_first_multicast_of_a_call_have_their_times),
        cmocka_unit_test(time_does_not_go_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
