/* scenario.h -- a random load on a random machine, and runs of it held to what the judge says. */
#ifndef SUPPORT_SCENARIO_H
#define SUPPORT_SCENARIO_H
#include "support/split.h"
#include "support/used.h"

enum { LOADS = 8, MOST_ROWS = 150 };

/*
 * The loads whose rows are in order of time, those whose rows wait for one another, and those whose
 * data all go one way, for which fifo links need the fewest events.
 */
enum { LOAD_SORTED = 2, LOAD_AFTER = 3, LOAD_READS = 4, LOAD_WRITES = 6, LOAD_WRITES_AFTER = 7 };

/* One load on one machine, and what the judge says of it. */
struct scenario {
    const kb_topology *topo;
    struct judge_row *rows;
    struct judge_result *expected;
    struct judge_use *uses; /* what it counts of each station */
    size_t n, n_uses;
    uint64_t fingerprint;
    uint64_t seed; /* for messages */
    uint64_t dice;
};

static inline const char *engine_name(kb_engine engine)
{
    return engine == KB_HOP ? "hop" : "fused";
}

/* Runs by `budget` events a call (0: all in one) to the end, or to a bound of the options. */
static inline kb_status run_by(kb_sim *sim, uint64_t budget, const struct scenario *s)
{
    kb_error why = {""};
    kb_status status;

    do
        status = kb_sim_run(sim, budget, &why);
    while (status == KB_AGAIN && budget);
    if (status != KB_OK && status != KB_STOPPED)
        fail_msg("seed %" PRIu64 ": status %d: %s", s->seed, (int)status, why.text);
    return status;
}

/* Row `i` of a run is what the judge says, in every column, on the plane that it asked for. */
static inline void assert_row(const struct scenario *s, const kb_sim *sim, kb_engine engine,
                              size_t i)
{
    kb_transaction request;
    kb_result got;
    char text[128];

    if (kb_sim_result(sim, i, &got) != KB_OK)
        fail_msg("seed %" PRIu64 ", %s: row %zu has no result", s->seed, engine_name(engine), i);
    if (differ(&got, &s->expected[i], text))
        fail_msg("seed %" PRIu64 ", %s: of row %zu %s", s->seed, engine_name(engine), i, text);
    assert_int_equal(kb_sim_request(sim, i, &request), KB_OK);
    if (s->rows[i].plane)
        assert_int_equal(request.plane, s->rows[i].plane);
}

static inline void assert_whole_run(const struct scenario *s, kb_options options, uint64_t budget)
{
    kb_sim *sim = sim_of_rows(s->topo, options, s->rows, s->n);
    int64_t last_fs = 0;

    assert_int_equal(run_by(sim, budget, s), KB_OK);
    for (size_t i = 0; i < s->n; i++) {
        assert_row(s, sim, options.engine, i);
        if (s->expected[i].end_fs > last_fs)
            last_fs = s->expected[i].end_fs;
    }
    if (options.fingerprint && kb_sim_fingerprint(sim) != s->fingerprint)
        fail_msg("seed %" PRIu64 ", %s: fingerprint %016" PRIx64 ", not %016" PRIx64, s->seed,
                 engine_name(options.engine), kb_sim_fingerprint(sim), s->fingerprint);
    assert_true(kb_sim_done(sim) == s->n);
    assert_true(kb_sim_end_fs(sim) == last_fs);
    assert_used(s->topo, sim, s->uses, s->n_uses, s->seed);
    kb_sim_free(sim);
}

/* -- loads ----------------------------------------------------------------------------------- */

static inline int by_issue(const void *a, const void *b)
{
    const struct judge_row *x = a, *y = b;

    return x->issue_fs < y->issue_fs ? -1 : x->issue_fs > y->issue_fs;
}

static inline bool in_order(const struct scenario *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->rows[i].issue_fs < s->rows[i - 1].issue_fs)
            return false;
    return true;
}

/* Turns all rows that have a way then into reads (d2h of a host), or into writes (h2d). */
static inline void turn_all(const struct judge_topo *t, struct judge_row *rows, size_t n,
                            bool write)
{
    for (size_t i = 0; i < n; i++) {
        enum judge_op op = rows[i].op;

        if (rows[i].src.kind == JUDGE_HOST)
            rows[i].op = write ? JUDGE_H2D : JUDGE_D2H;
        else
            rows[i].op = write ? JUDGE_WRITE : JUDGE_READ;
        if (!judge_has_route(t, &rows[i], i))
            rows[i].op = op;
        if (rows[i].op != JUDGE_WRITE)
            rows[i].n_targets = 0;
    }
}

/* Row `i` has a way, and waits for none of the rows from `n` on. */
static inline bool is_possible(const struct judge_topo *t, const struct judge_row *row, size_t i,
                               size_t n)
{
    for (size_t k = 0; k < row->n_after; k++)
        if (row->after[k] >= n)
            return false;
    return judge_has_route(t, row, i);
}

/* Rows up to the first that has no way: another number may give it another plane. */
static inline size_t with_ways(const struct judge_topo *t, const struct judge_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_possible(t, &rows[i], i, n))
            return with_ways(t, rows, i); /* rows before may wait for those that are left out */
    return n;
}

/* The most bytes of a row where the judge moves them piece by piece, so that it ends in seconds:
 * segments of routers, bursts of banks, lines of L2s. UINT64_MAX: it does not. */
static inline uint64_t most_bytes(const struct judge_topo *t)
{
    if (t->is_router)
        return UINT64_C(24) * judge_count(t, "contention.segment_bytes");
    if (strcmp(judge_text(t, "cube.hbm.model"), "banks") == 0)
        return UINT64_C(512) * judge_count(t, "cube.hbm.burst_bytes");
    if (judge_number(t, "cube.l2.size_mb") > 0)
        return UINT64_C(512) * judge_count(t, "cube.l2.line");
    return UINT64_MAX;
}

static inline void shorten(const struct judge_topo *t, struct judge_row *rows, size_t n)
{
    uint64_t most = most_bytes(t);

    for (size_t i = 0; i < n; i++) {
        uint64_t lines = rows[i].rows > 1 ? rows[i].rows : 1; /* tiles stay tiles */
        uint64_t of_line = most / lines ? most / lines : 1;

        rows[i].nbytes = lines * (1 + (rows[i].nbytes / lines - 1) % of_line);
    }
}

/* Draws load number `load` of a machine; rows without a way end it. */
static inline void draw_rows(struct scenario *s, const struct judge_topo *t, int load, bool splits)
{
    s->n = draw(&s->dice) % MOST_ROWS + 1;
    s->rows = random_rows(t, draw(&s->dice), s->n);
    if (splits)
        use_addresses(t, s->rows, s->n, &s->dice);
    shorten(t, s->rows, s->n);
    if (load >= LOAD_READS)
        turn_all(t, s->rows, s->n, load >= LOAD_WRITES);
    if (load == LOAD_SORTED || load == LOAD_READS)
        qsort(s->rows, s->n, sizeof *s->rows, by_issue);
    if (load == LOAD_AFTER || load == LOAD_WRITES_AFTER)
        judge_random_after(s->rows, s->n, draw(&s->dice));
    s->n = with_ways(t, s->rows, s->n);
    s->expected = calloc(s->n, sizeof *s->expected);
}

/* The same, and asks the judge. */
static inline void draw_load(struct scenario *s, const struct judge_topo *t, int load, bool splits)
{
    draw_rows(s, t, load, splits);
    assert_true(judge_replay_watched(t, s->rows, s->n, s->expected, &s->fingerprint, &s->uses,
                                     &s->n_uses, NULL));
}

static inline void drop_load(struct scenario *s)
{
    free(s->rows);
    free(s->expected);
    free(s->uses);
}

#endif
