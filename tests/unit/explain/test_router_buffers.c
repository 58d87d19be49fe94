/* test_router_buffers.c -- counts of buffers and credits of routers: both engines and the judge. */
#include "support/any_topology.h"
#include "support/scenario.h"
#include "support/seeds.h"

__extension__ typedef __int128 wide;

/* What is compared of a VC. */
struct counts {
    uint64_t segments, bytes, most;
    int64_t busy_fs, stalled_fs;
    double held_mean;
};

struct list {
    struct counts *rows; /* owned */
    size_t n;
};

static int by_counts(const void *a, const void *b)
{
    const struct counts *x = a, *y = b;

    if (x->segments != y->segments)
        return x->segments < y->segments ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->busy_fs != y->busy_fs)
        return x->busy_fs < y->busy_fs ? -1 : 1;
    if (x->held_mean != y->held_mean)
        return x->held_mean < y->held_mean ? -1 : 1;
    if (x->stalled_fs != y->stalled_fs)
        return x->stalled_fs < y->stalled_fs ? -1 : 1;
    return x->most < y->most ? -1 : x->most > y->most;
}

static void add_counts(struct list *list, struct counts counts)
{
    list->rows = realloc(list->rows, (list->n + 1) * sizeof *list->rows);
    list->rows[list->n++] = counts;
}

static void add_use(void *arg, const kb_utilization *use)
{
    if (use->kind == KB_AT_VC)
        add_counts(arg, (struct counts){.segments = use->count,
                                        .bytes = use->bytes,
                                        .most = (uint64_t)use->buffer_max,
                                        .busy_fs = use->busy_fs,
                                        .stalled_fs = use->stall_fs,
                                        .held_mean = use->buffer_mean});
}

/* What came at a time was there from then to the end, or was gone. */
static double mean_of(const struct judge_vc *vc, int64_t end_fs)
{
    wide held = 0;

    for (size_t i = 0; i < vc->n_changes; i++)
        if (vc->changes[i].fs < end_fs)
            held += (wide)vc->changes[i].bytes * (end_fs - vc->changes[i].fs);
    return (double)held / (double)end_fs;
}

static int64_t behind(int64_t fs, int64_t end_fs)
{
    return fs > end_fs ? fs - end_fs : 0;
}

static struct list judged(const struct judge_topo *t, const struct scenario *s)
{
    struct judge_result *results = calloc(s->n, sizeof *results);
    struct judge_vc *vcs;
    struct list list = {NULL, 0};
    uint64_t fingerprint;
    int64_t end_fs = 0;
    size_t n;

    assert_true(judge_replay_routers(t, s->rows, s->n, &vcs, &n, results, &fingerprint));
    for (size_t i = 0; i < s->n; i++)
        end_fs = results[i].end_fs > end_fs ? results[i].end_fs : end_fs;
    for (size_t i = 0; i < n; i++)
        add_counts(&list,
                   (struct counts){.segments = vcs[i].segments,
                                   .bytes = vcs[i].bytes,
                                   .most = vcs[i].most,
                                   .busy_fs = vcs[i].busy_fs - behind(vcs[i].until_fs, end_fs),
                                   .stalled_fs = vcs[i].stalled_fs,
                                   .held_mean = mean_of(&vcs[i], end_fs)});
    qsort(list.rows, list.n, sizeof *list.rows, by_counts);
    for (size_t i = 0; i < n; i++)
        free(vcs[i].changes);
    free(vcs);
    free(results);
    return list;
}

static struct list counted(const struct scenario *s, kb_engine engine, bool fingerprint)
{
    const kb_options options = {.engine = engine, .fingerprint = fingerprint, .buffers = true};
    kb_sim *sim = sim_of_rows(s->topo, options, s->rows, s->n);
    struct list list = {NULL, 0};

    run_by(sim, 0, s);
    assert_int_equal(kb_sim_utilization(sim, add_use, &list), KB_OK);
    qsort(list.rows, list.n, sizeof *list.rows, by_counts);
    kb_sim_free(sim);
    return list;
}

static void assert_counts(const struct scenario *s, struct list judge, struct list engine)
{
    assert_int_equal(engine.n, judge.n);
    for (size_t i = 0; i < judge.n; i++) {
        const struct counts *x = &judge.rows[i], *y = &engine.rows[i];

        if (by_counts(x, y) != 0)
            fail_msg("seed %" PRIu64 ": a VC of %" PRIu64 " segments: busy %" PRId64
                     " most %" PRIu64 " stalled %" PRId64 " mean %.17g, not %" PRId64 " %" PRIu64
                     " %" PRId64 " %.17g",
                     s->seed, x->segments, y->busy_fs, y->most, y->stalled_fs, y->held_mean,
                     x->busy_fs, x->most, x->stalled_fs, x->held_mean);
    }
    free(engine.rows);
}

/* Returns how many VCs have waited for a credit. */
static size_t check_load(const struct judge_topo *t, const struct scenario *s)
{
    struct list judge = judged(t, s);
    size_t stalled = 0;

    assert_counts(s, judge, counted(s, KB_FUSED, false));
    assert_counts(s, judge, counted(s, KB_FUSED, true));
    assert_counts(s, judge, counted(s, KB_HOP, false));
    for (size_t i = 0; i < judge.n; i++)
        stalled += judge.rows[i].stalled_fs > 0;
    free(judge.rows);
    return stalled;
}

/* The same machine, all of whose ports are one: the judge counts the lanes of an edge apart. */
static char *one_port_each(char *yaml)
{
    static const char key[] = "ports: ";

    for (char *p = yaml; (p = strstr(p, key));) {
        p += strlen(key);
        memset(p, ' ', strspn(p, "0123456789"));
        *p = '1';
    }
    return yaml;
}

static size_t check_machine(uint64_t seed)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = one_port_each(printed(judge_random_routers, seed));
    struct judge_topo *t = judge_load_text(yaml);
    size_t stalled = 0;

    s.topo = any_topology(yaml);
    for (int load = 0; s.topo && load < LOADS; load++) {
        draw_load(&s, t, load, false);
        if (s.n)
            stalled += check_load(t, &s);
        drop_load(&s);
    }
    if (s.topo)
        any_topology_free(s.topo);
    judge_free(t);
    free(yaml);
    return stalled;
}

static void buffers_hold_what_the_judge_says(void **state)
{
    enum { SEEDS = 12 };
    struct seeds seeds = seeds_of(SEEDS, 1);
    size_t stalled = 0;

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        stalled += check_machine(seed);
    assert_true(stalled > seeds_count(seeds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_hold_what_the_judge_says),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
