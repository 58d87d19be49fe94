/* test_watch.c -- what is told of transactions: pieces without gaps, at the right place, behind the
 * right one; and the sums of it. */
#include "support/any_topology.h"
#include "support/seeds.h"
#include "support/sums.h"
#include <time.h>

/* KB_SEEDS=N in the environment runs seeds 1..N, as in test_random.c. */
enum { SEEDS = 40, LOADS = 3, MOST_ROWS = 120 };

/* One load on one machine, and what the judge says of it. */
struct scenario {
    const kb_topology *topo;
    const struct judge_topo *judge;
    struct judge_row *rows;
    struct judge_result *expected;
    struct judge_waits waits;
    size_t n;
    uint64_t fingerprint, seed, dice;
};

/* The same, and all it tells on `tape`; it has not run. */
static kb_sim *watched(const struct scenario *s, kb_options options, struct tape *tape)
{
    kb_sim *sim = sim_of_rows(s->topo, options, s->rows, s->n);

    *tape = (struct tape){.topo = s->topo, .seed = s->seed};
    tape_watch(tape, sim);
    return sim;
}

static kb_status run_by(kb_sim *sim, uint64_t budget, const struct scenario *s)
{
    kb_error why = {""};
    kb_status status;

    do
        status = kb_sim_run(sim, budget, &why);
    while (status == KB_AGAIN);
    if (status != KB_OK && status != KB_STOPPED)
        fail_msg("seed %" PRIu64 ": status %d: %s", s->seed, (int)status, why.text);
    return status;
}

/* -- the same results ----------------------------------------------------------------------- */

static void assert_equal_results(const struct scenario *s, const kb_sim *a, const kb_sim *b)
{
    assert_true(kb_sim_done(a) == kb_sim_done(b) && kb_sim_end_fs(a) == kb_sim_end_fs(b));
    assert_true(kb_sim_fingerprint(a) == kb_sim_fingerprint(b));
    for (size_t i = 0; i < s->n; i++) {
        kb_result x, y;
        struct judge_result z;
        char text[128];
        kb_status status = kb_sim_result(a, i, &x);

        assert_int_equal(kb_sim_result(b, i, &y), status);
        if (status != KB_OK)
            continue;
        z = judge_result(&x);
        if (differ(&y, &z, text))
            fail_msg("seed %" PRIu64 ": watched, of row %zu %s", s->seed, i, text);
    }
}

/* Usage as text. */
static void print_use(void *arg, const kb_utilization *u)
{
    fprintf(arg, "%s %u %" PRIu64 " %" PRIu64 " %" PRId64 " %.17g %" PRId64 "\n", u->name,
            u->servers, u->count, u->bytes, u->busy_fs, u->wait_ns, u->queue_max);
}

static char *statistics(const kb_sim *sim)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    kb_sim_utilization(sim, print_use, out);
    fclose(out);
    return text;
}

static void assert_equal_statistics(const kb_sim *a, const kb_sim *b)
{
    char *x = statistics(a), *y = statistics(b);

    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* -- pieces --------------------------------------------------------------------------------- */

/* The pieces of row `id` lie end to end from its issue to its end, and make up its result. */
static void assert_tiles(const struct tape *t, uint32_t id, const kb_result *r)
{
    size_t n;
    const kb_span *x = tape_of(t, id, &n);
    int64_t at_fs = r->issue_fs, sum_fs[KB_N_CAUSES] = {0};
    const int64_t want_fs[KB_N_CAUSES] = {[KB_CAUSE_CHANNEL_WAIT] = r->wait_fs[KB_WAIT_CHANNEL],
                                          [KB_CAUSE_WIRE] = r->wire_fs,
                                          [KB_CAUSE_OVERHEAD] = r->overhead_fs,
                                          [KB_CAUSE_LINK_WAIT] = r->wait_fs[KB_WAIT_LINK],
                                          [KB_CAUSE_ENGINE_WAIT] = r->wait_fs[KB_WAIT_ENGINE],
                                          [KB_CAUSE_MEMORY_WAIT] = r->wait_fs[KB_WAIT_MEMORY],
                                          [KB_CAUSE_DRAIN] = r->drain_fs,
                                          [KB_CAUSE_RESPONSE] = r->response_fs};

    for (size_t i = 0; i < n; i++) {
        if (x[i].begin_fs != at_fs)
            fail_msg("seed %" PRIu64 ": %u has a gap from %" PRId64 " to %" PRId64, t->seed, id,
                     at_fs, x[i].begin_fs);
        assert_true(x[i].end_fs > x[i].begin_fs || is_wait(x[i].cause));
        at_fs = x[i].end_fs;
        sum_fs[x[i].cause] += x[i].end_fs - x[i].begin_fs;
    }
    assert_true(at_fs == r->end_fs);
    for (int c = 0; c < KB_N_CAUSES; c++)
        if (sum_fs[c] != want_fs[c])
            fail_msg("seed %" PRIu64 ": %s of %u is %" PRId64 ", not %" PRId64, t->seed,
                     kb_cause_name((kb_cause)c), id, sum_fs[c], want_fs[c]);
}

/* Its identity, in every piece: operation, ends, bytes. */
static void assert_transaction(const struct scenario *s, const struct tape *t, const kb_span *x)
{
    static const char *const ops[] = {"read", "write", "h2d", "d2h"};
    const struct judge_row *row = &s->rows[x->id];
    char text[KB_PLACE_BYTES], want[JUDGE_NAME_BYTES];

    assert_string_equal(x->what, ops[row->op]);
    assert_true(x->nbytes == row->nbytes && x->command == KB_NO_ID && x->token == KB_NO_ID);
    kb_place_name(t->topo, x->source, text);
    judge_end_name(&row->src, want);
    assert_string_equal(text, want);
    kb_place_name(t->topo, x->target, text);
    judge_end_name(&row->dst, want);
    assert_string_equal(text, want);
    if (!is_wait(x->cause)) {
        assert_true(x->behind == KB_NOWHERE && x->behind_id == KB_NO_ID);
        return;
    }
    kb_place_name(t->topo, x->behind, text);
    judge_end_name(&s->rows[x->behind_id].src, want);
    assert_string_equal(text, want);
}

/* A row's pieces, one after the other, and what is to come. */
struct walk {
    const struct tape *tape;
    const kb_span *span;
    size_t n, at;
};

/* The next piece may be a wait for `place`. */
static void may_wait(struct walk *w, kb_cause cause, const char *place)
{
    char at[KB_PLACE_BYTES];

    if (w->at == w->n || w->span[w->at].cause != cause)
        return;
    tape_place(w->tape, w->span[w->at].place, at);
    w->at += strcmp(at, place) == 0;
}

/* The next piece is this one, if it takes any time. */
static void takes(struct walk *w, kb_cause cause, const char *place, int64_t fs)
{
    const kb_span *x = &w->span[w->at];

    if (fs == 0)
        return;
    if (w->at == w->n || x->cause != cause || x->end_fs - x->begin_fs != fs)
        fail_msg("seed %" PRIu64 ": piece %zu of %u is no %s at %s of %" PRId64, w->tape->seed,
                 w->at, w->span->id, kb_cause_name(cause), place, fs);
    assert_place(w->tape, x, place);
    w->at++;
}

static void name_edge(const struct judge_topo *t, size_t edge, bool write, char text[2 * 48 + 8])
{
    const struct judge_edge *e = &t->edges[edge];

    snprintf(text, 2 * 48 + 8, "%s -> %s", t->nodes[write ? e->from : e->to].name,
             t->nodes[write ? e->to : e->from].name);
}

/* Over the edge into `h`, in the direction of the data, and on to its memory or next edge. */
static void pass(struct walk *w, const struct judge_topo *t, const struct judge_hop *h, bool write)
{
    int64_t wire_fs = 0;
    char text[2 * 48 + 8];

    if (h->edge != SIZE_MAX) {
        name_edge(t, h->edge, write, text);
        may_wait(w, KB_CAUSE_LINK_WAIT, text);
        wire_fs = judge_wire_fs(t, t->edges[h->edge].distance_mm);
        takes(w, KB_CAUSE_WIRE, text, wire_fs);
    }
    takes(w, KB_CAUSE_OVERHEAD, h->name, h->overhead_fs);
    takes(w, KB_CAUSE_WIRE, h->name, h->wire_fs - wire_fs);
    if (strstr(h->name, ".m_cpu")) {
        snprintf(text, sizeof text, "%s.%s", h->name, write ? "write" : "read");
        may_wait(w, KB_CAUSE_ENGINE_WAIT, text);
    }
}

/* Where row `id` was, node by node along the judge's route. */
static void assert_way(const struct scenario *s, const struct tape *t, uint32_t id)
{
    const struct judge_row *row = &s->rows[id];
    struct judge_route r = {0};
    bool write = row->op == JUDGE_WRITE || row->op == JUDGE_H2D;
    struct walk w = {.tape = t};
    struct judge_hop memory;
    char text[KB_PLACE_BYTES];

    w.span = tape_of(t, id, &w.n);
    assert_true(judge_route(s->judge, row->op, &row->src, &row->dst, &r));
    memory = r.hops[r.n - 1];
    if (row->op == JUDGE_READ || row->op == JUDGE_WRITE) {
        snprintf(text, sizeof text, "%s.%s", r.hops[0].name, write ? "write" : "read");
        may_wait(&w, KB_CAUSE_CHANNEL_WAIT, text);
    }
    r.hops[r.n - 1].overhead_fs = 0; /* it is paid during service */
    for (size_t i = 0; i < r.n; i++)
        pass(&w, s->judge, &r.hops[i], write);
    may_wait(&w, KB_CAUSE_MEMORY_WAIT, memory.name);
    takes(&w, KB_CAUSE_OVERHEAD, memory.name, memory.overhead_fs);
    takes(&w, KB_CAUSE_DRAIN, memory.name, s->expected[id].drain_fs);
    judge_end_name(&row->src, text);
    takes(&w, KB_CAUSE_RESPONSE, text, r.response_fs);
    if (w.at != w.n)
        fail_msg("seed %" PRIu64 ": %u has %zu pieces more", s->seed, id, w.n - w.at);
    judge_route_clear(&r);
}

/* -- sums ----------------------------------------------------------------------------------- */

/* Waits and drains are told with their places, and waits once more, behind which. */
static void sum_span(struct sums *s, const kb_span *x)
{
    bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN;
    kb_place place = placed ? x->place : KB_NOWHERE;
    kb_breakdown_row row = {.count = 1};
    char name[KB_PLACE_BYTES];

    if (x->end_fs == x->begin_fs)
        return;
    row.cause = x->cause;
    row.sum_fs = x->end_fs - x->begin_fs;
    sum(s, KB_BREAKDOWN_ALL, "", &row);
    sum(s, KB_BREAKDOWN_OP, x->what, &row);
    row.place = place;
    kb_place_name(s->tape->topo, x->place, name);
    sum(s, KB_BREAKDOWN_PLACE, name, &row);
    kb_place_name(s->tape->topo, x->source, name);
    sum(s, KB_BREAKDOWN_SOURCE, name, &row);
    kb_place_name(s->tape->topo, x->target, name);
    sum(s, KB_BREAKDOWN_TARGET, name, &row);
    row.behind = x->behind;
    kb_place_name(s->tape->topo, x->place, name);
    if (x->behind != KB_NOWHERE)
        sum(s, KB_BREAKDOWN_WAIT, name, &row);
}

static void no_step(void *arg, const kb_breakdown_step *step)
{
    (void)arg;
    fail_msg("transactions have no critical path, but step %u", step->id);
}

static void assert_sums(const struct tape *t, kb_breakdown *why)
{
    static struct sums s;

    sums_begin(&s, t);
    for (size_t i = 0; i < t->n_spans; i++)
        sum_span(&s, &t->span[i]);
    assert_rows(&s, why);
    assert_int_equal(kb_breakdown_path(why, no_step, NULL), KB_OK);
}

/* -- scenarios ------------------------------------------------------------------------------ */

static void each_scenario(void (*check)(struct scenario *s), uint64_t n)
{
    struct seeds seeds = seeds_of(n, 1);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        char *yaml = uncut(printed(judge_random_topo, seed)); /* of one id there is one */
        struct judge_topo *t = judge_load_text(yaml);
        struct scenario s = {.topo = any_topology(yaml), .judge = t, .seed = seed, .dice = seed};

        assert_non_null(t);
        assert_non_null(s.topo);
        for (int load = 0; load < LOADS; load++) {
            s.n = draw(&s.dice) % MOST_ROWS + 1;
            s.rows = random_rows(t, draw(&s.dice), s.n);
            one_target_each(s.rows, s.n);
            if (load > 0)
                judge_random_after(s.rows, s.n, draw(&s.dice));
            s.expected = calloc(s.n, sizeof *s.expected);
            s.waits.n = 0;
            assert_true(judge_replay_watched(t, s.rows, s.n, s.expected, &s.fingerprint, NULL, NULL,
                                             &s.waits));
            check(&s);
            free(s.rows);
            free(s.expected);
        }
        free(s.waits.waits);
        any_topology_free(s.topo);
        judge_free(t);
        free(yaml);
    }
}

static void assert_ends(const struct scenario *s, const struct tape *t, const kb_sim *sim)
{
    bool *ended = calloc(s->n, sizeof *ended);

    assert_true(t->n_ends == kb_sim_done(sim));
    for (size_t i = 0; i < t->n_ends; i++) {
        const kb_span *x = &t->end[i];

        assert_true(x->id < s->n && !ended[x->id]);
        ended[x->id] = true;
        assert_true(x->end_fs == result_of(sim, x->id).end_fs);
        assert_transaction(s, t,
                           &(kb_span){.id = x->id,
                                      .what = x->what,
                                      .nbytes = x->nbytes,
                                      .command = x->command,
                                      .token = x->token,
                                      .source = x->source,
                                      .target = x->target,
                                      .behind_id = KB_NO_ID,
                                      .cause = KB_CAUSE_WIRE});
    }
    free(ended);
}

/* All rows of a breakdown, as lines of text. */
static void put_row(void *arg, const kb_breakdown_row *row)
{
    fprintf(arg, "%d %s %d %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
            (int)row->by, row->of, (int)row->cause, row->place, row->behind, row->count,
            row->sum_fs, row->all_fs);
}

static char *rows_of(kb_breakdown *why)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    assert_int_equal(kb_breakdown_rows(why, put_row, f), KB_OK);
    fclose(f);
    return text;
}

/* Alone, a breakdown hears of stations only, and takes the ways from the tables. */
static void assert_same_by_station(const struct scenario *s, kb_options options, kb_breakdown *why)
{
    kb_sim *sim;
    kb_breakdown *sums;
    char *by_node = rows_of(why), *by_station;

    options.fingerprint = false;
    sim = sim_of_rows(s->topo, options, s->rows, s->n);
    assert_int_equal(kb_breakdown_new(sim, &sums, NULL), KB_OK);
    assert_int_equal(run_by(sim, 0, s), KB_OK);
    by_station = rows_of(sums);
    assert_string_equal(by_station, by_node);
    free(by_node);
    free(by_station);
    kb_breakdown_free(sums);
    kb_sim_free(sim);
}

static void check_whole_run(struct scenario *s)
{
    kb_options options = {.fingerprint = true};
    struct tape tape;
    kb_sim *plain = sim_of_rows(s->topo, options, s->rows, s->n), *sim = watched(s, options, &tape);
    kb_breakdown *why;

    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    assert_int_equal(run_by(plain, 0, s), KB_OK);
    assert_int_equal(run_by(sim, draw(&s->dice) % 2 * 9, s), KB_OK);
    assert_true(kb_sim_fingerprint(sim) == s->fingerprint);
    assert_equal_results(s, plain, sim);
    assert_equal_statistics(plain, sim);
    assert_ends(s, &tape, sim);
    tape_sort(&tape);
    for (uint32_t id = 0; id < s->n; id++) {
        kb_result r = result_of(plain, id);

        assert_tiles(&tape, id, &r);
        assert_way(s, &tape, id);
    }
    for (size_t i = 0; i < tape.n_spans; i++)
        assert_transaction(s, &tape, &tape.span[i]);
    assert_waits(&tape, &s->waits);
    assert_services(&tape, sim);
    assert_sums(&tape, why);
    assert_same_by_station(s, options, why);
    kb_breakdown_free(why);
    tape_free(&tape);
    kb_sim_free(plain);
    kb_sim_free(sim);
}

/* docs/model.md "Stations and queues": the parts of a transaction's time, and which one waits for
 * which */
static void pieces_are_those_of_the_judge(void **state)
{
    (void)state;
    each_scenario(check_whole_run, SEEDS);
}

/* -- runs that end early -------------------------------------------------------------------- */

static void check_early_end(struct scenario *s)
{
    const struct judge_result *r = &s->expected[draw(&s->dice) % s->n];
    kb_options options = {0};
    struct tape tape;
    kb_sim *plain, *sim;

    if (draw(&s->dice) % 2)
        options.until_fs = r->done_fs + (int64_t)(draw(&s->dice) % 3);
    else
        options.max_events = draw(&s->dice) % (4 * s->n) + 1;
    plain = sim_of_rows(s->topo, options, s->rows, s->n);
    sim = watched(s, options, &tape);
    assert_int_equal(run_by(plain, 0, s), run_by(sim, 0, s));
    assert_equal_results(s, plain, sim);
    assert_ends(s, &tape, sim);
    tape_sort(&tape);
    for (size_t i = 0; i < tape.n_ends; i++) {
        kb_result x = result_of(plain, tape.end[i].id);

        assert_tiles(&tape, tape.end[i].id, &x);
    }
    tape_free(&tape);
    kb_sim_free(plain);
    kb_sim_free(sim);
}

static void what_has_ended_by_an_early_end_was_told_whole(void **state)
{
    (void)state;
    each_scenario(check_early_end, SEEDS);
}

/* -- costs left out ------------------------------------------------------------------------- */

static void check_costs_off(struct scenario *s)
{
    kb_options options = {.fingerprint = true, .costs_off = (unsigned)(draw(&s->dice) % 64)};
    struct tape tape;
    kb_sim *plain = sim_of_rows(s->topo, options, s->rows, s->n), *sim = watched(s, options, &tape);

    assert_int_equal(run_by(plain, 0, s), KB_OK);
    assert_int_equal(run_by(sim, 0, s), KB_OK);
    assert_equal_results(s, plain, sim);
    tape_sort(&tape);
    for (uint32_t id = 0; id < s->n; id++) {
        kb_result r = result_of(plain, id);

        assert_tiles(&tape, id, &r);
    }
    assert_taken(&tape);
    tape_free(&tape);
    kb_sim_free(plain);
    kb_sim_free(sim);
}

static void pieces_tile_whatever_cost_is_left_out(void **state)
{
    (void)state;
    each_scenario(check_costs_off, SEEDS);
}

/* -- traffic -------------------------------------------------------------------------------- */

/* The pieces of one transaction of traffic. */
static void assert_contiguous(const struct tape *t, const kb_span *last)
{
    size_t n;
    const kb_span *x = tape_of(t, last->id, &n);

    assert_true(n > 0);
    for (size_t i = 1; i < n; i++)
        assert_true(x[i].begin_fs == x[i - 1].end_fs);
    assert_true(x[n - 1].end_fs == last->end_fs);
}

/*
 * Transactions that were issued while their PE's channels were taken are told late: right before
 * each of them the one in front of it was let in.
 */
static void assert_late(const struct tape *t, uint32_t pes, size_t *n_late)
{
    for (size_t i = 0; i < t->n_spans; i++) {
        const kb_span *x = &t->span[i];

        if (x->cause != KB_CAUSE_CHANNEL_WAIT)
            continue;
        assert_true(x->behind == x->source);
        assert_true(x->behind_id % pes == x->id % pes && x->behind_id < x->id);
        *n_late += x->behind_id + pes == x->id;
    }
}

struct means {
    int64_t cause_fs[KB_N_CAUSES];
    uint64_t count;
};

static int64_t mean(int64_t sum_fs, uint64_t n)
{
    return n ? (sum_fs + (int64_t)(n / 2)) / (int64_t)n : 0;
}

/* Means over what was issued after the warm-up, as kb_sim_traffic_result() has them. */
static void assert_means(const struct tape *t, kb_sim *sim)
{
    kb_traffic_result r;
    struct means m = {0};

    assert_int_equal(kb_sim_traffic_result(&sim, 1, &r), KB_OK);
    assert_true(r.issued == t->n_ends);
    for (size_t i = 0; i < t->n_ends; i++) {
        size_t n;
        const kb_span *x = tape_of(t, t->end[i].id, &n);

        assert_contiguous(t, &t->end[i]);
        if (x->begin_fs < r.warmup_fs)
            continue;
        m.count++;
        for (size_t k = 0; k < n; k++)
            m.cause_fs[x[k].cause] += x[k].end_fs - x[k].begin_fs;
    }
    if (m.count != r.count)
        return; /* the warm-up ends at a part's border, which is between two whole fs */
    assert_true(
        llabs(mean(m.cause_fs[KB_CAUSE_CHANNEL_WAIT], m.count) - r.wait_fs[KB_WAIT_CHANNEL]) < 2);
    assert_true(llabs(mean(m.cause_fs[KB_CAUSE_MEMORY_WAIT], m.count) - r.wait_fs[KB_WAIT_MEMORY]) <
                2);
    assert_true(llabs(mean(m.cause_fs[KB_CAUSE_LINK_WAIT], m.count) - r.wait_fs[KB_WAIT_LINK]) < 2);
    assert_true(llabs(mean(m.cause_fs[KB_CAUSE_WIRE], m.count) - r.wire_fs) < 2);
    assert_true(llabs(mean(m.cause_fs[KB_CAUSE_OVERHEAD], m.count) - r.overhead_fs) < 2);
    assert_true(llabs(mean(m.cause_fs[KB_CAUSE_DRAIN], m.count) - r.drain_fs) < 2);
}

static void check_traffic(const kb_topology *topo, const kb_traffic *traffic, uint32_t pes)
{
    kb_sim *plain = new_sim(topo, (kb_options){0}), *sim = new_sim(topo, (kb_options){0});
    struct tape tape = {.topo = topo, .seed = traffic->seed};
    kb_traffic_result a, b;
    size_t n_late = 0;

    assert_int_equal(kb_sim_traffic(plain, traffic, NULL), KB_OK);
    assert_int_equal(kb_sim_traffic(sim, traffic, NULL), KB_OK);
    tape_watch(&tape, sim);
    assert_int_equal(kb_sim_run(plain, 0, NULL), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    assert_int_equal(kb_sim_traffic_result(&plain, 1, &a), KB_OK);
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &b), KB_OK);
    assert_true(a.mean_fs == b.mean_fs && a.max_fs == b.max_fs && a.count == b.count);
    assert_equal_statistics(plain, sim);
    tape_sort(&tape);
    assert_late(&tape, pes, &n_late);
    assert_means(&tape, sim);
    assert_services(&tape, sim);
    assert_true(n_late > 0 || traffic->rate < 0.5);
    assert_int_equal(kb_sim_observe(plain, &(kb_observer){0}, NULL), KB_BAD_REQUEST);
    tape_free(&tape);
    kb_sim_free(plain);
    kb_sim_free(sim);
}

static void traffic_is_told_whole_though_some_of_it_late(void **state)
{
    static const char *const machines[] = {
        "kernbench: 1\nname: small\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {pes: 2}\n",
        "kernbench: 1\nname: small\ncontention: {links: fifo}\nsip: {cube_mesh: {w: 2, h: 1}}\n"
        "cube: {pes: 4, pe: {pe_dma: {read_channels: 3}}}\n"};

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *topo = any_topology(machines[i]);

        assert_non_null(topo);
        for (uint64_t seed = 0; seed < 12; seed++) {
            kb_traffic traffic = {.pattern = seed % 3 ? KB_UNIFORM : KB_NEIGHBOR,
                                  .op = seed % 2 ? KB_WRITE : KB_READ,
                                  .nbytes = 4096,
                                  .rate = seed % 4 ? 0.3 * (double)(seed % 4) : 2,
                                  .txns = 400,
                                  .seed = seed};

            check_traffic(topo, &traffic, 8);
        }
        any_topology_free(topo);
    }
}

/* -- the vectors ---------------------------------------------------------------------------- */

/* An observed run has the independent implementation's results. */
static void vectors_are_told_as_the_judge_has_them(void **state)
{
    static const char *const machines[] = {"cube8", "cube8_fifo", "vec0", "vec1",
                                           "vec2",  "vec3",       "vec4", "vec5"};
    static const char *const loads[] = {"local", "mixed", "remote"};

    (void)state;
    for (size_t m = 0; m < LENGTH(machines); m++) {
        char path[128], *yaml;
        size_t size = 0;
        FILE *in;
        struct scenario s = {.seed = m};

        snprintf(path, sizeof path, "tests/vectors/%s.yaml", machines[m]);
        in = fopen(path, "r");
        assert_non_null(in);
        yaml = calloc(1 << 16, 1);
        size = fread(yaml, 1, (1 << 16) - 1, in);
        fclose(in);
        assert_true(size > 0);
        s.topo = any_topology(yaml);
        s.judge = judge_load_text(yaml);
        assert_non_null(s.topo);
        for (int l = 0; l < 5; l++) {
            snprintf(path, sizeof path, "tests/vectors/%s_%s.csv", machines[m],
                     m < 2 && l < 3 ? loads[l] : (const char[][2]){"0", "1", "2", "3", "4"}[l]);
            if (m < 2 && l > 2)
                break;
            assert_true(judge_read_rows(s.judge, path, &s.rows, &s.n));
            s.expected = calloc(s.n, sizeof *s.expected);
            s.waits.n = 0;
            assert_true(judge_replay_watched(s.judge, s.rows, s.n, s.expected, &s.fingerprint, NULL,
                                             NULL, &s.waits));
            check_whole_run(&s);
            free(s.rows);
            free(s.expected);
        }
        free(s.waits.waits);
        free(yaml);
        any_topology_free(s.topo);
        judge_free((struct judge_topo *)s.judge);
    }
}

/* -- observers -------------------------------------------------------------------------- */

static const char one_cube[] = "kernbench: 1\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n";

static void four_may_watch_and_none_once_it_has_begun(void **state)
{
    const kb_topology *topo = any_topology(one_cube);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_observer observer = {0};
    kb_breakdown *why;
    kb_error error = {""};

    (void)state;
    issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 64);
    for (int i = 0; i < KB_OBSERVERS_MAX; i++)
        assert_int_equal(kb_sim_observe(sim, &observer, &error), KB_OK);
    assert_int_equal(kb_sim_observe(sim, &observer, &error), KB_BAD_REQUEST);
    assert_string_equal(error.text, "a simulation is watched by at most 4");
    assert_int_equal(kb_breakdown_new(sim, &why, &error), KB_BAD_REQUEST);
    run_all(sim);
    assert_true(result_of(sim, 0).actual_fs == result_of(sim, 0).formula_fs);
    kb_sim_free(sim);
    sim = new_sim(topo, (kb_options){0});
    issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 64);
    assert_int_equal(kb_sim_run(sim, 1, NULL), KB_AGAIN);
    assert_int_equal(kb_sim_observe(sim, &observer, &error), KB_BAD_REQUEST);
    assert_string_equal(error.text, "the simulation has begun, it cannot be watched any more");
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* A sweep runs one point after the other, all from 0 on. */
static void sweeps_are_told_and_have_the_same_results(void **state)
{
    const kb_topology *topo = any_topology("kernbench: 1\nname: two\ncontention: {links: fifo}\n"
                                           "sip: {cube_mesh: {w: 2, h: 1}}\n");
    kb_sim *plain = new_sim(topo, (kb_options){0}), *sim = new_sim(topo, (kb_options){0});
    kb_point points[12] = {0};
    kb_point_result a[12], b[12];
    struct tape tape = {.topo = topo};
    size_t n = 0, m = 0;

    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        points[i] = (kb_point){.op = i % 2 ? KB_WRITE : KB_READ, .nbytes = 512, .inflight = 1 + i};
        points[i].src = (kb_endpoint){KB_PE, 0, i % 2, i % 8};
        points[i].dst = (kb_endpoint){KB_SLICE, 0, i / 2 % 2, i / 3};
    }
    tape_watch(&tape, sim);
    assert_int_equal(kb_sweep(plain, points, 12, a, &n, NULL), KB_OK);
    assert_int_equal(kb_sweep(sim, points, 12, b, &m, NULL), KB_OK);
    assert_true(n == 12 && m == 12 && tape.n_ends == 78);
    for (size_t i = 0; i < 12; i++)
        assert_true(a[i].mean_fs == b[i].mean_fs &&
                    a[i].wait_fs[KB_WAIT_CHANNEL] == b[i].wait_fs[KB_WAIT_CHANNEL]);
    tape_free(&tape);
    kb_sim_free(plain);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static const char fifo_cube[] = "kernbench: 2\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                                "contention: {links: fifo}\n";

/* Waits are told behind the source in front, in every point of a sweep. */
static void sweeps_by_station_are_those_by_node(void **state)
{
    const kb_topology *topo = any_topology(fifo_cube);
    kb_sim *sims[] = {new_sim(topo, (kb_options){.engine = KB_FUSED}),
                      new_sim(topo, (kb_options){.engine = KB_HOP})};
    kb_point points[12] = {0};
    kb_point_result results[12];
    char *rows[2];

    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        points[i] = (kb_point){.op = KB_WRITE, .nbytes = 512, .inflight = 12 - i};
        points[i].src = (kb_endpoint){KB_PE, 0, 0, i % 8};
        points[i].dst = (kb_endpoint){KB_SLICE, 0, 0, 0};
    }
    for (int i = 0; i < 2; i++) {
        kb_breakdown *why;
        size_t n = 0;

        assert_int_equal(kb_breakdown_new(sims[i], &why, NULL), KB_OK);
        assert_int_equal(kb_sweep(sims[i], points, 12, results, &n, NULL), KB_OK);
        rows[i] = rows_of(why);
        kb_breakdown_free(why);
        kb_sim_free(sims[i]);
    }
    assert_string_equal(rows[0], rows[1]);
    free(rows[0]);
    free(rows[1]);
    any_topology_free(topo);
}

/* Requests of one host stand in one line: what is in front is known, not searched along the line.
 */
static void a_long_line_is_not_walked(void **state)
{
    enum { N = 100000, MS_PER_S = 1000, MOST_MS = 3000 };
    const kb_topology *topo = any_topology(fifo_cube);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_breakdown *why;
    clock_t begin;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        issue(sim, topo, 0, KB_H2D, "host", "c0.slice0", 4096);
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    begin = clock();
    run_all(sim);
    assert_in_range((clock() - begin) * MS_PER_S / CLOCKS_PER_SEC, 0, MOST_MS);
    kb_breakdown_free(why);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void keep_row(void *arg, const kb_breakdown_row *row)
{
    kb_breakdown_row *kept = arg;

    if (row->by == KB_BREAKDOWN_ALL && row->cause == KB_CAUSE_MEMORY_WAIT)
        *kept = *row;
}

/* "Worked: two reads of one slice" of docs/model.md: PE 1 comes at 4.095 and waits until 18.085. */
static void the_second_read_of_a_slice_waits_behind_the_first(void **state)
{
    const kb_topology *topo = any_topology(one_cube);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    struct tape tape = {.topo = topo};
    kb_breakdown_row row = {.sum_fs = -1};
    kb_breakdown *why;
    size_t n;
    const kb_span *x;

    (void)state;
    issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
    issue(sim, topo, 0, KB_READ, "c0.pe1", "c0.slice0", 4096);
    tape_watch(&tape, sim);
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    run_all(sim);
    tape_sort(&tape);
    x = tape_of(&tape, 1, &n);
    assert_true(n == 7); /* wire, xbar, wire, xbar, wire, wait, drain */
    assert_int_equal(x[5].cause, KB_CAUSE_MEMORY_WAIT);
    assert_true(x[5].begin_fs == 4095000 && x[5].end_fs == 18085000);
    assert_true(x[5].behind_id == 0 && x[6].end_fs == 50085000);
    assert_int_equal(kb_breakdown_rows(why, keep_row, &row), KB_OK);
    assert_true(row.sum_fs == 13990000 && row.count == 1);
    kb_breakdown_free(why);
    tape_free(&tape);
    kb_sim_free(sim);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_read_of_a_slice_waits_behind_the_first),
        cmocka_unit_test(four_may_watch_and_none_once_it_has_begun),
        cmocka_unit_test(sweeps_are_told_and_have_the_same_results),
        cmocka_unit_test(sweeps_by_station_are_those_by_node),
        cmocka_unit_test(a_long_line_is_not_walked),
        cmocka_unit_test(pieces_are_those_of_the_judge),
        cmocka_unit_test(vectors_are_told_as_the_judge_has_them),
        cmocka_unit_test(what_has_ended_by_an_early_end_was_told_whole),
        cmocka_unit_test(pieces_tile_whatever_cost_is_left_out),
        cmocka_unit_test(traffic_is_told_whole_though_some_of_it_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
