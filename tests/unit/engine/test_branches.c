/* test_branches.c -- multicasts: writes, and reads, whose ways are a tree. Times are those of
 * docs/model.md "Multicasts". */
#include "support/any_topology.h"
#include "support/breakdowns.h"
#include "support/rig.h"
#include <math.h>

#define CUBES(w, links)                                                                            \
    "kernbench: 1\nname: row\ncontention: {links: " links "}\nsip: {cube_mesh: {w: " w ", h: "     \
    "1}}\n"

static const char four[] = CUBES("4", "fifo");

enum { MOST = 8 };

/* A write of c0.pe0 at 0, to as many memories as are named; or a read of them. */
struct multicast {
    const char *yaml, *to[MOST];
    double end_ns;
    uint64_t fingerprint;
    bool reads;
};

static uint32_t put_targets(const kb_topology *topo, const char *const *names, kb_endpoint *to)
{
    uint32_t n = 0;

    for (; n < MOST && names[n]; n++)
        to[n] = end_of(topo, names[n]);
    return n;
}

static kb_transaction request_to(const kb_topology *topo, const kb_endpoint *to, uint32_t n)
{
    return (kb_transaction){.op = KB_WRITE,
                            .src = end_of(topo, "c0.pe0"),
                            .nbytes = 4096,
                            .targets = to,
                            .n_targets = n};
}

static void check_as(const kb_topology *topo, kb_options options, const struct multicast *m)
{
    kb_sim *sim = new_sim(topo, options);
    kb_endpoint to[MOST];
    kb_transaction request = request_to(topo, to, put_targets(topo, m->to, to)), got;
    kb_result r;

    request.op = m->reads ? KB_READ : KB_WRITE;
    add(sim, &request);
    run_all(sim);
    r = result_of(sim, 0);
    assert_int_equal(r.end_fs, llround(m->end_ns * 1e6));
    assert_int_equal(r.formula_fs, r.end_fs);
    assert_int_equal(kb_sim_end_fs(sim), r.end_fs);
    assert_int_equal(kb_sim_request(sim, 0, &got), KB_OK);
    assert_int_equal(got.n_targets, request.n_targets);
    if (options.fingerprint && m->fingerprint)
        assert_true(kb_sim_fingerprint(sim) == m->fingerprint);
    kb_sim_free(sim);
}

static void check(const struct multicast *m)
{
    const kb_topology *topo = any_topology(m->yaml);

    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        for (int fingerprint = 0; fingerprint < 2; fingerprint++)
            check_as(topo, (kb_options){.engine = (kb_engine)e, .fingerprint = fingerprint}, m);
    any_topology_free(topo);
}

/* The part to c3 ends last: as late as it would alone. */
static void a_row_of_cubes_gets_it_in_one_pass(void **state)
{
    (void)state;
    check(&(struct multicast){four,
                              {"c1.slice0", "c2.slice0", "c3.slice0"},
                              40.655,
                              UINT64_C(0xfab1a2623a78f509),
                              false});
    check(&(struct multicast){four,
                              {"c3.slice0", "c2.slice0", "c1.slice0"},
                              40.655,
                              UINT64_C(0xb251d9892ad91190),
                              false});
    check(&(struct multicast){CUBES("4", "ideal"), {"c3.slice0", "c1.slice0"}, 40.655, 0, false});
}

/*
 * A read of several comes back joined. At c1's NoC data of c1 join those from beyond, at c2's those
 * of c2: so c1's are one joining late, the others two.
 */
static void data_of_a_read_join_on_their_way(void **state)
{
    static const char joins[] = CUBES("4", "fifo") "cube: {noc: {reduce_ns: 3.0}}\n";
    static const char ideal[] =
        CUBES("4", "ideal") "cube: {noc: {reduce_ns: 3.0}, hbm: {hold: route}}\n";

    (void)state;
    check(&(struct multicast){four, {"c1.slice0", "c2.slice0", "c3.slice0"}, 40.655, 0, true});
    check(&(struct multicast){joins, {"c1.slice0", "c2.slice0", "c3.slice0"}, 46.655, 0, true});
    check(&(struct multicast){ideal, {"c1.slice0", "c2.slice0", "c3.slice0"}, 46.655, 0, true});
    check(&(struct multicast){joins, {"c1.slice0", "c2.slice0"}, 41.485, 0, true});
    check(&(struct multicast){joins, {"c1.slice0", "c2.slice0"}, 38.485, 0, false});
}

static void slices_of_one_cube_too(void **state)
{
    (void)state;
    check(&(struct multicast){four,
                              {"c1.slice0", "c1.slice1", "c1.slice4"},
                              36.3525,
                              UINT64_C(0x4dfe16314ef68e0a),
                              false});
}

/* -- beside others ---------------------------------------------------------------------------- */

/* A write of c1.pe1 to c2.slice1 has the links out of c1 first: from there on both parts wait. */
static void branches_wait_where_their_trunk_waits(void **state)
{
    const kb_topology *topo = any_topology(four);
    const char *const names[MOST] = {"c1.slice0", "c2.slice0", "c3.slice0"};

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        kb_endpoint to[MOST];
        kb_transaction all = request_to(topo, to, put_targets(topo, names, to));
        kb_transaction one = {.op = KB_WRITE,
                              .src = end_of(topo, "c1.pe1"),
                              .dst = end_of(topo, "c2.slice1"),
                              .nbytes = 4096};

        add(sim, &all);
        add(sim, &one);
        run_all(sim);
        assert_int_equal(result_of(sim, 0).end_fs, 70447500);
        assert_int_equal(result_of(sim, 0).wait_fs[KB_WAIT_LINK], 70447500 - 40655000);
        assert_int_equal(result_of(sim, 1).end_fs, 36315000);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* What it joins its data for is no work of the memory: c1.pe0's own read, there at 22.085, begins
 * as the bytes of the first have gone, at 36.315, and takes 16. */
static void memories_do_not_wait_for_what_joins(void **state)
{
    static const char ideal[] =
        CUBES("4", "ideal") "cube: {noc: {reduce_ns: 3.0}, hbm: {hold: route}}\n";
    const char *const names[MOST] = {"c1.slice0", "c2.slice0", "c3.slice0"};
    const kb_topology *topo = any_topology(ideal);

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        kb_endpoint to[MOST];
        kb_transaction all = request_to(topo, to, put_targets(topo, names, to));

        all.op = KB_READ;
        add(sim, &all);
        issue(sim, topo, 20000000, KB_READ, "c1.pe0", "c1.slice0", 4096);
        run_all(sim);
        assert_int_equal(result_of(sim, 0).end_fs, 46655000);
        assert_int_equal(result_of(sim, 1).end_fs, 52315000);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* Where the time of all parts went. */
static void add_causes(void *arg, const kb_breakdown_row *row)
{
    int64_t *fs = arg;

    if (row->by == KB_BREAKDOWN_ALL)
        fs[row->cause] += row->sum_fs;
}

/* The parts have 4, 6 and 8 ns of nodes and memories, and join their data once, twice and twice;
 * each drains for 32. The last one is the row's. */
static void joining_is_overhead(void **state)
{
    const char *const names[MOST] = {"c1.slice0", "c2.slice0", "c3.slice0"};
    const kb_topology *topo = any_topology(CUBES("4", "fifo") "cube: {noc: {reduce_ns: 3.0}}\n");
    char *text[2];

    (void)state;
    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        kb_endpoint to[MOST];
        kb_transaction all = request_to(topo, to, put_targets(topo, names, to));
        int64_t fs[64] = {0};
        kb_breakdown *why;

        all.op = KB_READ;
        add(sim, &all);
        assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
        run_all(sim);
        assert_int_equal(result_of(sim, 0).overhead_fs, (8 + 6) * 1000000);
        assert_int_equal(result_of(sim, 0).drain_fs, 32 * 1000000);
        assert_int_equal(kb_breakdown_rows(why, add_causes, fs), KB_OK);
        assert_int_equal(fs[KB_CAUSE_OVERHEAD], (4 + 6 + 8 + 3 + 6 + 6) * 1000000);
        assert_int_equal(fs[KB_CAUSE_DRAIN], 3 * 32 * 1000000);
        text[e == KB_HOP] = breakdown_text(why);
        kb_sim_free(sim);
    }
    assert_same_lines(0, text[0], text[1]);
    free(text[0]);
    free(text[1]);
    any_topology_free(topo);
}

/* -- counts ----------------------------------------------------------------------------------- */

struct seen {
    const char *name;
    uint64_t count, bytes;
    bool found;
};

static void look(void *arg, const kb_utilization *use)
{
    struct seen *seen = arg;

    for (; seen->name; seen++)
        if (strcmp(seen->name, use->name) == 0) {
            assert_int_equal(use->count, seen->count);
            assert_int_equal(use->bytes, seen->bytes);
            seen->found = true;
        }
}

static void links_carry_it_once_and_memories_each_get_it(void **state)
{
    static const char *const links[] = {four, CUBES("4", "ideal")};
    const char *const names[MOST] = {"c3.slice0", "c1.slice0", "c2.slice0"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct seen seen[] = {{"sip0.cube0.pe0.pe_dma -> sip0.cube0.noc", 1, 4096, false},
                              {"sip0.cube0.noc", 1, 4096, false},
                              {"sip0.cube1.noc", 1, 4096, false},
                              {"sip0.cube1.noc -> sip0.cube1.ucie-E", 1, 4096, false},
                              {"sip0.cube2.ucie-E -> sip0.cube3.ucie-W", 1, 4096, false},
                              {"sip0.cube1.noc -> sip0.cube1.xbar.pe0", 1, 4096, false},
                              {"sip0.cube0.pe0.pe_dma.write", 1, 4096, false},
                              {"sip0.cube2.hbm_ctrl.slice0", 1, 4096, false},
                              {NULL, 0, 0, false}};
        const kb_topology *topo = any_topology(links[i]);
        kb_sim *sim = new_sim(topo, (kb_options){0});
        kb_endpoint to[MOST];
        kb_transaction request = request_to(topo, to, put_targets(topo, names, to));

        add(sim, &request);
        run_all(sim);
        assert_int_equal(kb_sim_utilization(sim, look, seen), KB_OK);
        for (struct seen *s = seen; s->name; s++)
            assert_true(s->found);
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

/* Edges from cube to cube that carried something, and how often all of them did. */
struct passed {
    uint64_t edges, times;
};

static void count_steps(void *arg, const kb_utilization *use)
{
    struct passed *passed = arg;
    const char *arrow = strstr(use->name, " -> "), *side = strstr(use->name, "ucie-");

    if (!arrow || !side || side > arrow || !strstr(arrow, "ucie-") || use->count == 0)
        return;
    passed->edges++;
    passed->times += use->count;
}

/* Of 4 x 4 cubes c5 writes to five: over 5 links for the 9 of as many writes. */
static void a_rectangle_takes_each_link_once(void **state)
{
    static const char square[] = "kernbench: 1\nname: square\ncontention: {links: fifo}\n"
                                 "sip: {cube_mesh: {w: 4, h: 4}}\n";
    const char *const names[MOST] = {"c6.slice0", "c9.slice0", "c10.slice0", "c13.slice0",
                                     "c14.slice0"};
    const kb_topology *topo = any_topology(square);

    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        kb_sim *sim = new_sim(topo, (kb_options){0});
        struct passed passed = {0, 0};
        kb_endpoint to[MOST];
        kb_transaction all = request_to(topo, to, put_targets(topo, names, to));

        all.src = end_of(topo, "c5.pe0");
        if (!apart)
            add(sim, &all);
        for (int i = 0; apart && names[i]; i++)
            issue(sim, topo, 0, KB_WRITE, "c5.pe0", names[i], 4096);
        run_all(sim);
        assert_int_equal(kb_sim_utilization(sim, count_steps, &passed), KB_OK);
        assert_int_equal(passed.edges, 5);
        assert_int_equal(passed.times, apart ? 9 : 5);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* -- what there is not ------------------------------------------------------------------------ */

static void refuses(const char *yaml, kb_transaction change, const char *const *names,
                    const char *reason)
{
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_endpoint to[MOST];
    kb_transaction request = request_to(topo, to, put_targets(topo, names, to));
    kb_error why = {""};

    request.op = change.op;
    request.offset = change.offset;
    request.rows = change.rows;
    assert_int_equal(kb_sim_add(sim, &request, &why), KB_BAD_REQUEST);
    if (!strstr(why.text, reason))
        fail_msg("'%s' does not say '%s'", why.text, reason);
    assert_int_equal(kb_sim_count(sim), 0);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void wrong_multicasts_are_refused(void **state)
{
    const kb_transaction write = {.op = KB_WRITE};
    const char *const two[MOST] = {"c1.slice0", "c2.slice0"}, *const one[MOST] = {"c1.slice0"};

    (void)state;
    refuses(CUBES("4", "router"), write, two, "contention.links ideal or fifo");
    refuses(four, (kb_transaction){.op = KB_H2D}, two, "is a write or a read of a PE");
    refuses(CUBES("4", "fifo") "cube: {noc: {reduce_ns: 3.0}, hbm: {model: banks}}\n",
            (kb_transaction){.op = KB_READ}, two, "wants cube.noc.reduce_ns 0");
    refuses(four, write, one, "2 to 4096 targets, not 1");
    refuses(four, (kb_transaction){.op = KB_WRITE, .rows = 2}, two, "no rows");
    refuses(four, write, (const char *const[MOST]){"c1.slice0", "c2.sram"}, "all slices, or all");
    refuses(four, write, (const char *const[MOST]){"c1.slice0", "c2.slice0", "c1.slice0"},
            "c1.slice0 is a target twice");
    refuses(four, (kb_transaction){.op = KB_WRITE, .offset = UINT64_C(7) << 30}, two,
            "pass the end of c1.slice0");
    refuses(four, write, (const char *const[MOST]){"c1.pe0.tcm", "c2.pe0.tcm"}, "by kernels only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_cubes_gets_it_in_one_pass),
        cmocka_unit_test(data_of_a_read_join_on_their_way),
        cmocka_unit_test(slices_of_one_cube_too),
        cmocka_unit_test(branches_wait_where_their_trunk_waits),
        cmocka_unit_test(memories_do_not_wait_for_what_joins),
        cmocka_unit_test(joining_is_overhead),
        cmocka_unit_test(links_carry_it_once_and_memories_each_get_it),
        cmocka_unit_test(a_rectangle_takes_each_link_once),
        cmocka_unit_test(wrong_multicasts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
