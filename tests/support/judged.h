/* judged.h -- rows that end when the test says, by both engines and the judge; the first keys of
 * machines with nets.
 */
#ifndef JUDGED_H
#define JUDGED_H
#include "machine/endpoint.h"
#include "support/any_topology.h"
#include "support/rig.h"

#define HEAD   "kernbench: 3\nname: m\n"
#define NET(n) "sip:\n  cubes: " #n "\n  net: "

/* A transaction at time 0, and when it ends. */
struct row {
    kb_transaction_op op;
    const char *src, *dst;
    int64_t end_fs;
};

static inline const kb_topology *topology(const char *yaml)
{
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    return topo;
}

/* What the judge says of the rows; its fingerprint. */
static inline uint64_t judged(const kb_topology *topo, const char *yaml, const struct row *rows,
                              size_t n)
{
    struct judge_topo *t = judge_load_text(yaml);
    struct judge_row judge_rows[8] = {{.issue_fs = 0}};
    struct judge_result results[8];
    uint64_t fingerprint;

    assert_non_null(t);
    assert_true(t->datelines == (topo->routes_by == ROUTES_DATELINES));
    assert_int_equal(t->hops, topo->hop_classes);
    assert_true(t->up_down == (topo->routes_by == ROUTES_UP_DOWN));
    assert_true(n <= LENGTH(judge_rows));
    for (size_t i = 0; i < n; i++) {
        judge_rows[i].op = (enum judge_op)rows[i].op;
        judge_rows[i].nbytes = 4096;
        assert_true(judge_end_parse(t, rows[i].src, &judge_rows[i].src));
        assert_true(judge_end_parse(t, rows[i].dst, &judge_rows[i].dst));
    }
    assert_true(judge_replay(t, judge_rows, n, results, &fingerprint));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(results[i].end_fs, rows[i].end_fs);
    judge_free(t);
    return fingerprint;
}

/* One engine, with or without a fingerprint: fused leaves out what only that needs. */
static inline void check_run(const kb_topology *topo, const struct row *rows, size_t n,
                             kb_options options, uint64_t fingerprint)
{
    kb_sim *sim = new_sim(topo, options);

    for (size_t i = 0; i < n; i++)
        issue(sim, topo, 0, rows[i].op, rows[i].src, rows[i].dst, 4096);
    run_all(sim);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(result_of(sim, i).end_fs, rows[i].end_fs);
    assert_true(!options.fingerprint || kb_sim_fingerprint(sim) == fingerprint);
    kb_sim_free(sim);
}

/* `fingerprint` 0: whatever the judge says. */
static inline void check_rows(const char *yaml, const struct row *rows, size_t n,
                              uint64_t fingerprint)
{
    const kb_topology *topo = topology(yaml);
    uint64_t of_judge = judged(topo, yaml, rows, n);

    if (fingerprint)
        assert_true(of_judge == fingerprint);
    for (int how = 0; how < 4; how++)
        check_run(topo, rows, n,
                  (kb_options){.engine = how & 1 ? KB_HOP : KB_FUSED, .fingerprint = how & 2},
                  of_judge);
    any_topology_free(topo);
}

#define CHECK(yaml, ...)                                                                           \
    check_rows(yaml, (const struct row[]){__VA_ARGS__},                                            \
               sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row), 0)

#endif
