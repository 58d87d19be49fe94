/* net.h -- machines with nets, and rows that take on them what the test says, by both engines and
 * the judge.
 */
#ifndef TEST_NET_H
#define TEST_NET_H
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
    for (size_t i = 0; i < n; i++) {
        judge_rows[i].op = rows[i].op == KB_WRITE ? JUDGE_WRITE : JUDGE_READ;
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

/* `fingerprint` 0: whatever the judge says. */
static inline void check_rows(const char *yaml, const struct row *rows, size_t n,
                              uint64_t fingerprint)
{
    const kb_topology *topo = topology(yaml);
    uint64_t of_judge = judged(topo, yaml, rows, n);

    if (fingerprint)
        assert_true(of_judge == fingerprint);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e, .fingerprint = true});

        for (size_t i = 0; i < n; i++) {
            kb_transaction r = {.op = rows[i].op,
                                .src = end_of(topo, rows[i].src),
                                .dst = end_of(topo, rows[i].dst),
                                .nbytes = 4096};

            add(sim, &r);
        }
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
        for (size_t i = 0; i < n; i++) {
            kb_result got;

            assert_int_equal(kb_sim_result(sim, i, &got), KB_OK);
            assert_int_equal(got.end_fs, rows[i].end_fs);
        }
        assert_true(kb_sim_fingerprint(sim) == of_judge);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

#define CHECK(yaml, ...)                                                                           \
    check_rows(yaml, (const struct row[]){__VA_ARGS__},                                            \
               sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row), 0)

#endif
