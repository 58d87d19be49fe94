/* test_formula.c -- alone, every transaction takes what its formula says, and the design's numbers.
 */
#include "support/any_topology.h"
#include "support/rig.h"

#include "cube8.h"
#include "tray32.h"

#define FIFO8                                                                                      \
    "kernbench: 1\nname: fifo8\ncontention: {links: fifo}\nsip: {cube_mesh: {w: 4, h: 2}}\n"

/* Longer than anything here takes: what is issued so far apart never meets. */
#define APART_FS (100000 * KB_FS_PER_NS)

/* -- formula == simulation ------------------------------------------------------------------ */

static const uint64_t sizes[] = {1, 64, 4096, 65537, 1 << 20};

/* A run in which every pair comes, one after the other. */
struct parade {
    const kb_topology *topo;
    kb_info info;
    kb_sim *sim;
    int64_t *formulas_fs; /* of each transaction, as kb_route_cost() has it */
    uint64_t n, room;
};

static void join(struct parade *p, kb_transaction_op op, kb_endpoint src, kb_endpoint dst,
                 uint64_t nbytes)
{
    kb_transaction request = {
        .issue_fs = (int64_t)p->n * APART_FS, .op = op, .src = src, .dst = dst, .nbytes = nbytes};
    kb_cost cost;

    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 1024;
        p->formulas_fs = realloc(p->formulas_fs, p->room * sizeof *p->formulas_fs);
        assert_non_null(p->formulas_fs);
    }
    assert_int_equal(kb_route_cost(p->topo, op, &src, &dst, nbytes, &cost, NULL), KB_OK);
    assert_true(kb_formula_fs(&cost) < APART_FS);
    p->formulas_fs[p->n++] = kb_formula_fs(&cost);
    add(p->sim, &request);
}

/* All sizes, both ways, between a PE or a host and a memory. */
static void join_pair(struct parade *p, kb_endpoint src, kb_endpoint dst)
{
    kb_transaction_op first = src.kind == KB_HOST ? KB_H2D : KB_READ;

    for (size_t i = 0; i < LENGTH(sizes); i++) {
        join(p, first, src, dst, sizes[i]);
        join(p, first + 1, src, dst, sizes[i]);
    }
}

static void join_from_pe(struct parade *p, kb_endpoint src)
{
    for (uint32_t s = 0; s < p->info.sips; s++)
        for (uint32_t c = 0; c < p->info.cubes_per_sip; c++) {
            for (uint32_t u = 0; u < p->info.pes_per_cube; u++)
                join_pair(p, src, (kb_endpoint){KB_SLICE, s, c, u});
            join_pair(p, src, (kb_endpoint){KB_SRAM, s, c, 0});
        }
}

static void join_from_host(struct parade *p, uint32_t sip)
{
    kb_endpoint host = {.kind = KB_HOST, .sip = sip};

    for (uint32_t c = 0; c < p->info.cubes_per_sip; c++)
        for (uint32_t u = 0; u < p->info.pes_per_cube; u++)
            join_pair(p, host, (kb_endpoint){KB_SLICE, sip, c, u});
}

static void join_all(struct parade *p)
{
    for (uint32_t s = 0; s < p->info.sips; s++) {
        for (uint32_t c = 0; c < p->info.cubes_per_sip; c++)
            for (uint32_t u = 0; u < p->info.pes_per_cube; u++)
                join_from_pe(p, (kb_endpoint){KB_PE, s, c, u});
        join_from_host(p, s);
    }
}

static void assert_takes_its_formula(const struct parade *p, uint64_t id)
{
    kb_result r = result_of(p->sim, id);
    char src[KB_ENDPOINT_BYTES], dst[KB_ENDPOINT_BYTES];
    kb_transaction request;

    if (r.actual_fs == p->formulas_fs[id] && r.formula_fs == r.actual_fs)
        return;
    assert_int_equal(kb_sim_request(p->sim, id, &request), KB_OK);
    kb_endpoint_name(&request.src, src);
    kb_endpoint_name(&request.dst, dst);
    fail_msg("%s -> %s, operation %d, %" PRIu64 " bytes takes %" PRId64 " fs, the formula %" PRId64,
             src, dst, (int)request.op, request.nbytes, r.actual_fs, p->formulas_fs[id]);
}

/* Every pair of `topo`, every size, both ways; returns how many transactions that were. */
static uint64_t assert_all_take_their_formula(const kb_topology *topo, kb_engine engine)
{
    struct parade p = {.topo = topo, .sim = new_sim(topo, (kb_options){.engine = engine})};

    kb_topology_info(topo, &p.info);
    join_all(&p);
    run_all(p.sim);
    for (uint64_t id = 0; id < p.n; id++)
        assert_takes_its_formula(&p, id);
    kb_sim_free(p.sim);
    free(p.formulas_fs);
    return p.n;
}

/* Without contention, the time is that of the formula: 64 PEs and a host, 5 sizes, 2 ways. */
static void cube8_takes_its_formula_fused(void **state)
{
    (void)state;
    assert_int_equal(assert_all_take_their_formula(&cube8_topology, KB_FUSED),
                     (64 * 72 + 64) * 5 * 2);
}

static void cube8_takes_its_formula_hop_by_hop(void **state)
{
    (void)state;
    assert_int_equal(assert_all_take_their_formula(&cube8_topology, KB_HOP),
                     (64 * 72 + 64) * 5 * 2);
}

/* 256 PEs to 256 slices and 32 SRAMs, two hosts to 128 slices each */
static void tray32_takes_its_formula(void **state)
{
    (void)state;
    assert_int_equal(assert_all_take_their_formula(&tray32_topology, KB_FUSED),
                     (256 * 288 + 2 * 128) * 5 * 2);
}

/* Without contention, fifo links change nothing. */
static void fifo_links_leave_the_formula_unchanged(void **state)
{
    const kb_topology *fifo8 = any_topology(FIFO8);

    (void)state;
    assert_all_take_their_formula(fifo8, KB_FUSED);
    assert_all_take_their_formula(fifo8, KB_HOP);
    any_topology_free(fifo8);
}

/* -- numbers of the design ------------------------------------------------------------------ */

/* How long one transaction takes that is alone. */
static int64_t alone_fs(const kb_topology *topo, kb_engine engine, kb_transaction_op op,
                        const char *src, const char *dst, uint64_t nbytes)
{
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine});
    kb_result r;

    issue(sim, topo, 0, op, src, dst, nbytes);
    run_all(sim);
    r = result_of(sim, 0);
    kb_sim_free(sim);
    assert_true(r.actual_fs == r.formula_fs);
    return r.actual_fs;
}

struct golden {
    const kb_topology *topo;
    kb_transaction_op op;
    const char *src, *dst;
    int64_t fs; /* of 4096 bytes */
};

/* 4096 bytes, computed by hand: docs/model.md "The costs of a route". */
static void lone_transactions_take_the_times_computed_by_hand(void **state)
{
    static const struct golden golden[] = {
        {&cube8_topology, KB_READ, "c0.pe0", "c0.slice0", 18085000},
        {&cube8_topology, KB_READ, "c0.pe0", "c0.slice4", 37145000},
        {&cube8_topology, KB_READ, "c0.pe1", "c0.slice0", 36095000}, /* alone */
        {&cube8_topology, KB_READ, "c0.pe0", "c4.slice1", 36240000}, /* best */
        {&cube8_topology, KB_READ, "c0.pe0", "c7.slice4", 42897500}, /* worst */
        {&cube8_topology, KB_READ, "c0.pe0", "c0.sram", 32103750},
        {&cube8_topology, KB_H2D, "host", "c0.slice0", 56562500},
        {&cube8_topology, KB_D2H, "host", "c0.slice0", 56562500},
        {&tray32_topology, KB_READ, "c0.pe0", "s1.c0.slice0", 85252500}, /* cross-sip */
        {&tray32_topology, KB_READ, "c0.pe0", "c0.slice0", 18085000},    /* its cubes are cube8's */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(golden); i++) {
        const struct golden *g = &golden[i];

        assert_int_equal(alone_fs(g->topo, KB_FUSED, g->op, g->src, g->dst, 4096), g->fs);
        assert_int_equal(alone_fs(g->topo, KB_HOP, g->op, g->src, g->dst, 4096), g->fs);
    }
}

static kb_cost cost_of(const kb_topology *topo, kb_transaction_op op, const char *src,
                       const char *dst)
{
    kb_endpoint from = end_of(topo, src), to = end_of(topo, dst);
    kb_cost cost;

    assert_int_equal(kb_route_cost(topo, op, &from, &to, 4096, &cost, NULL), KB_OK);
    return cost;
}

/* Wires and overheads, summed by hand. */
static void routes_cost_what_is_computed_by_hand(void **state)
{
    kb_cost own = cost_of(&cube8_topology, KB_READ, "c0.pe0", "c0.slice0");
    kb_cost half = cost_of(&cube8_topology, KB_READ, "c0.pe0", "c0.slice4");
    kb_cost host = cost_of(&cube8_topology, KB_H2D, "host", "c0.slice0");

    (void)state;
    assert_int_equal(own.wire_fs, 85000);
    assert_int_equal(own.overhead_fs, 2000000);
    assert_int_equal(half.wire_fs, 145000);
    assert_int_equal(half.overhead_fs, 5000000);
    assert_true(half.bottleneck_gbs == 128.0);
    assert_int_equal(host.overhead_fs, 23000000);
    assert_int_equal(host.response_fs, 1281250);
}

/* docs/formats.md "probe": the smallest and the largest formula over all slices of other cubes. */
static void best_and_worst_remote_slices_are_those_computed_by_hand(void **state)
{
    int64_t best_fs = INT64_MAX, worst_fs = 0;
    char best[KB_ENDPOINT_BYTES] = "", worst[KB_ENDPOINT_BYTES] = "";

    (void)state;
    for (int i = 8; i < 64; i++) {
        char name[KB_ENDPOINT_BYTES];
        kb_cost cost;
        int64_t fs;

        snprintf(name, sizeof name, "c%d.slice%d", i / 8, i % 8);
        cost = cost_of(&cube8_topology, KB_READ, "c0.pe0", name);
        fs = kb_formula_fs(&cost);
        if (fs < best_fs) {
            best_fs = fs;
            strcpy(best, name);
        }
        if (fs > worst_fs) {
            worst_fs = fs;
            strcpy(worst, name);
        }
    }
    assert_string_equal(best, "c4.slice1");
    assert_string_equal(worst, "c7.slice4");
}

/* Two rows at once on `topo`, in both engines; checks when each ends. */
static void assert_two(const kb_topology *topo, const kb_transaction rows[2], int64_t first_fs,
                       int64_t second_fs)
{
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});

        add(sim, &rows[0]);
        add(sim, &rows[1]);
        run_all(sim);
        assert_int_equal(result_of(sim, 0).actual_fs, first_fs);
        assert_int_equal(result_of(sim, 1).actual_fs, second_fs);
        kb_sim_free(sim);
    }
}

/* docs/model.md "two reads of one slice": it arrives at 4.095, waits until 18.085, ends at 50.085.
 */
static void second_read_waits_for_the_first(void **state)
{
    const kb_topology *t = &cube8_topology;
    kb_transaction rows[2] = {
        {.op = KB_READ, .src = end_of(t, "c0.pe0"), .dst = end_of(t, "c0.slice0"), .nbytes = 4096},
        {.op = KB_READ, .src = end_of(t, "c0.pe1"), .dst = end_of(t, "c0.slice0"), .nbytes = 4096},
    };
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    assert_two(t, rows, 18085000, 50085000);
    add(sim, &rows[0]);
    add(sim, &rows[1]);
    run_all(sim);
    assert_int_equal(result_of(sim, 1).arrive_fs, 4095000);
    assert_int_equal(result_of(sim, 1).service_fs, 18085000);
    assert_int_equal(result_of(sim, 1).wait_fs[KB_WAIT_MEMORY], 18085000 - 4095000);
    kb_sim_free(sim);
}

/*
 * docs/model.md "a short one behind a long one": 64 B that arrive 5 ns after a drain of 4 KiB
 * began. By the chain it would drain at 128, so the second reader is a second channel of the same
 * PE.
 */
static void short_read_waits_for_the_whole_drain_ahead(void **state)
{
    const kb_topology *t = any_topology("kernbench: 1\nname: two\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                                        "cube: {pe: {pe_dma: {read_channels: 2}}}\n");
    kb_transaction rows[2] = {
        {.op = KB_READ, .src = end_of(t, "c0.pe0"), .dst = end_of(t, "c0.slice0"), .nbytes = 4096},
        {.issue_fs = 5000000,
         .op = KB_READ,
         .src = end_of(t, "c0.pe0"),
         .dst = end_of(t, "c0.slice0"),
         .nbytes = 64},
    };
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    add(sim, &rows[0]);
    add(sim, &rows[1]);
    run_all(sim);
    assert_int_equal(result_of(sim, 1).arrive_fs - result_of(sim, 0).service_fs, 5000000);
    assert_int_equal(result_of(sim, 1).wait_fs[KB_WAIT_MEMORY], 11000000);
    assert_int_equal(result_of(sim, 1).drain_fs, 250000);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* docs/model.md "one shared link": 68.095, of them 29.990 for the link, and 38.105. */
static void writes_on_one_chain_wait_for_its_links(void **state)
{
    const kb_topology *t = any_topology(FIFO8);
    kb_transaction rows[2] = {
        {.op = KB_WRITE, .src = end_of(t, "c0.pe0"), .dst = end_of(t, "c0.slice2"), .nbytes = 4096},
        {.op = KB_WRITE, .src = end_of(t, "c0.pe1"), .dst = end_of(t, "c0.slice3"), .nbytes = 4096},
    };
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    assert_two(t, rows, 68095000, 38105000);
    add(sim, &rows[0]);
    add(sim, &rows[1]);
    run_all(sim);
    assert_int_equal(result_of(sim, 0).wait_fs[KB_WAIT_LINK], 29990000);
    assert_int_equal(result_of(sim, 1).wait_fs[KB_WAIT_LINK], 0);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* Two topologies link into one program, and run side by side. */
static void two_topologies_run_in_one_program(void **state)
{
    kb_sim *a = new_sim(&cube8_topology, (kb_options){0});
    kb_sim *b = new_sim(&tray32_topology, (kb_options){0});
    kb_status ran_a, ran_b;

    (void)state;
    issue(a, &cube8_topology, 0, KB_READ, "c0.pe0", "c7.slice4", 4096);
    issue(b, &tray32_topology, 0, KB_READ, "c0.pe0", "s1.c0.slice0", 4096);
    do {
        ran_a = kb_sim_run(a, 1, NULL);
        ran_b = kb_sim_run(b, 1, NULL);
    } while (ran_a == KB_AGAIN || ran_b == KB_AGAIN);
    assert_int_equal(result_of(a, 0).actual_fs, 42897500);
    assert_int_equal(result_of(b, 0).actual_fs, 85252500);
    kb_sim_free(a);
    kb_sim_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_transactions_take_the_times_computed_by_hand),
        cmocka_unit_test(routes_cost_what_is_computed_by_hand),
        cmocka_unit_test(best_and_worst_remote_slices_are_those_computed_by_hand),
        cmocka_unit_test(second_read_waits_for_the_first),
        cmocka_unit_test(short_read_waits_for_the_whole_drain_ahead),
        cmocka_unit_test(writes_on_one_chain_wait_for_its_links),
        cmocka_unit_test(two_topologies_run_in_one_program),
        cmocka_unit_test(cube8_takes_its_formula_fused),
        cmocka_unit_test(cube8_takes_its_formula_hop_by_hop),
        cmocka_unit_test(tray32_takes_its_formula),
        cmocka_unit_test(fifo_links_leave_the_formula_unchanged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
