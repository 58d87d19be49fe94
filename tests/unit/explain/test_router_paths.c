/* test_router_paths.c -- latency breakdowns where links have routers: sums, waits, behind what. */
#include "support/any_topology.h"
#include "support/scenario.h"
#include "support/seeds.h"

/* -- a run, and its pieces ------------------------------------------------------------------ */

struct heard {
    const kb_topology *topo;
    kb_span *span; /* owned */
    size_t n, room;
    int64_t (*sum_fs)[KB_N_CAUSES]; /* owned; by transaction */
    int64_t port_fs;                /* all services of ports */
};

static void hear(void *arg, const kb_span *span)
{
    struct heard *h = arg;

    if (h->n == h->room) {
        h->room = h->room ? 2 * h->room : 64;
        h->span = realloc(h->span, h->room * sizeof *h->span);
    }
    h->span[h->n++] = *span;
    h->sum_fs[span->id][span->cause] += span->end_fs - span->begin_fs;
}

static void hear_service(void *arg, const kb_service *service)
{
    struct heard *h = arg;

    if (kb_place_kind_of(service->place) == KB_AT_LINK)
        h->port_fs += service->end_fs - service->begin_fs;
}

static void listen(struct heard *h, kb_sim *sim, const kb_topology *topo, size_t n)
{
    kb_observer watch = {.arg = h, .close = hear, .take = hear_service};

    *h = (struct heard){.topo = topo, .sum_fs = calloc(n, sizeof *h->sum_fs)};
    assert_int_equal(kb_sim_observe(sim, &watch, NULL), KB_OK);
}

static void forget(struct heard *h)
{
    free(h->span);
    free(h->sum_fs);
}

/* -- random machines ------------------------------------------------------------------------ */

/* The pieces of each row are the terms of its result, those of the network together queue_link. At
 * banks a piece may be negative, and no wait of the result is: its terms divide the same sum. */
static void assert_terms(const struct scenario *s, const kb_sim *sim, const struct heard *h)
{
    kb_result r;

    for (uint32_t i = 0; i < s->n; i++) {
        const int64_t *sum = h->sum_fs[i];
        int64_t row_fs =
            sum[KB_CAUSE_REFRESH_WAIT] + sum[KB_CAUSE_ROW_WAIT] + sum[KB_CAUSE_BUS_WAIT];
        int64_t memory_fs = sum[KB_CAUSE_MEMORY_WAIT] + row_fs;
        int64_t link_fs = sum[KB_CAUSE_ROUTER_WAIT] + sum[KB_CAUSE_CREDIT_WAIT];
        int64_t gain_fs = memory_fs + link_fs < 0 ? memory_fs + link_fs : 0;

        assert_int_equal(kb_sim_result(sim, i, &r), KB_OK);
        assert_true(r.wait_fs[KB_WAIT_MEMORY] >= 0 && r.wait_fs[KB_WAIT_LINK] >= 0);
        assert_true(r.overhead_fs >= 0 && r.service_fs == r.arrive_fs + r.wait_fs[KB_WAIT_MEMORY]);
        assert_true(sum[KB_CAUSE_WIRE] == r.wire_fs);
        assert_true(sum[KB_CAUSE_OVERHEAD] + gain_fs == r.overhead_fs);
        assert_true(sum[KB_CAUSE_DRAIN] == r.drain_fs);
        assert_true(sum[KB_CAUSE_RETURN] == r.return_fs);
        assert_true(sum[KB_CAUSE_RESPONSE] == r.response_fs);
        assert_true(sum[KB_CAUSE_CHANNEL_WAIT] == r.wait_fs[KB_WAIT_CHANNEL]);
        assert_true(sum[KB_CAUSE_ENGINE_WAIT] == r.wait_fs[KB_WAIT_ENGINE]);
        assert_true(memory_fs < 0 || memory_fs == r.wait_fs[KB_WAIT_MEMORY]);
        if (link_fs + memory_fs - gain_fs != r.wait_fs[KB_WAIT_LINK] + r.wait_fs[KB_WAIT_MEMORY])
            fail_msg("seed %" PRIu64 ": row %u waits %" PRId64 " + %" PRId64 ", not %" PRId64
                     " + %" PRId64,
                     s->seed, i, link_fs, memory_fs, r.wait_fs[KB_WAIT_LINK],
                     r.wait_fs[KB_WAIT_MEMORY]);
    }
}

/* A wait in the network is at a VC, or for a memory's later packets, behind a row that there is. */
static void assert_waits(const struct scenario *s, const struct heard *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const kb_span *x = &h->span[i];
        kb_place_kind at = kb_place_kind_of(x->place);

        if (x->cause != KB_CAUSE_ROUTER_WAIT && x->cause != KB_CAUSE_CREDIT_WAIT)
            continue;
        assert_true(at == KB_AT_VC || (at == KB_AT_MEMORY && x->cause == KB_CAUSE_ROUTER_WAIT));
        assert_true(x->behind != KB_NOWHERE && x->behind_id < s->n);
        assert_true(x->end_fs > x->begin_fs);
    }
}

static void check_run(const struct scenario *s)
{
    const kb_options options = {.fingerprint = true};
    kb_sim *sim = sim_of_rows(s->topo, options, s->rows, s->n);
    kb_sim *unwatched = sim_of_rows(s->topo, options, s->rows, s->n);
    struct heard h;

    listen(&h, sim, s->topo, s->n);
    run_by(sim, 0, s);
    run_by(unwatched, 0, s);
    assert_true(kb_sim_fingerprint(sim) == kb_sim_fingerprint(unwatched));
    assert_terms(s, sim, &h);
    assert_waits(s, &h);
    kb_sim_free(sim);
    kb_sim_free(unwatched);
    forget(&h);
}

static void check_machine(void (*write)(FILE *out, uint64_t seed), uint64_t seed)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = uncut(printed(write, seed)); /* of one id there is one */
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml);
    for (int load = 0; s.topo && load < LOADS; load++) {
        draw_load(&s, t, load, false);
        if (s.n)
            check_run(&s);
        drop_load(&s);
    }
    if (s.topo)
        any_topology_free(s.topo);
    judge_free(t);
    free(yaml);
}

static void pieces_are_the_terms_of_each_row(void **state)
{
    enum { SEEDS = 12 };
    struct seeds seeds = seeds_of(SEEDS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        check_machine(judge_random_routers, seed);
}

static void so_they_are_of_slices_with_banks(void **state)
{
    enum { SEEDS = 10 };

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_machine(judge_random_router_banks, seed);
}

/* -- by hand -------------------------------------------------------------------------------- */

#define BEGIN                                                                                      \
    "kernbench: 2\nname: m\nns_per_mm: 0.0\n"                                                      \
    "contention: {links: router, segment_bytes: 512, packet_bytes: 512, vcs: [1, 1], "
#define CUBES                                                                                      \
    "sip: {cube_mesh: {w: 3, h: 1}, d2d: {bw_gbs: 16}}\n"                                          \
    "cube: {pes: 1, ucie: {overhead_ns: 0.0}, noc: {overhead_ns: 4.0, bw_gbs: 16},\n"              \
    "  xbar: {overhead_ns: 0.0, pe_gbs: 16}, sram: {bw_gbs: 1e6}, hbm: {bw_gbs: 1e6},\n"           \
    "  pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}}\n"

struct want {
    uint32_t id;
    kb_cause cause;
    const char *place;
    uint32_t behind;
    int64_t fs;
};

static void assert_heard(const struct heard *h, const struct want *want, size_t n)
{
    char place[KB_PLACE_BYTES];
    size_t k = 0;

    for (size_t i = 0; i < h->n; i++) {
        const kb_span *x = &h->span[i];

        if (x->cause != KB_CAUSE_ROUTER_WAIT && x->cause != KB_CAUSE_CREDIT_WAIT)
            continue;
        assert_true(k < n);
        kb_place_name(h->topo, x->place, place);
        assert_string_equal(place, want[k].place);
        assert_int_equal(x->id, want[k].id);
        assert_int_equal(x->cause, want[k].cause);
        assert_int_equal(x->behind_id, want[k].behind);
        assert_int_equal(x->end_fs - x->begin_fs, want[k++].fs);
    }
    assert_int_equal(k, n);
}

/* docs/network.md "A packet in the way of another": A 0 -> 2, B 1 -> 2, C 0 -> 1. */
static struct heard run_abc(const char *yaml)
{
    static const char *const src[] = {"c0.pe0", "c1.pe0", "c0.pe0"}, *const dst[] = {"c2.sram",
                                                                                     "c2.sram",
                                                                                     "c1.sram"};
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){0});
    struct heard h;

    for (int i = 0; i < 3; i++) {
        kb_transaction r = {.op = KB_WRITE,
                            .src = end_of(topo, src[i]),
                            .dst = end_of(topo, dst[i]),
                            .nbytes = 320};

        add(sim, &r);
    }
    listen(&h, sim, topo, 3);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    kb_sim_free(sim);
    return h;
}

#define LINK(FROM, TO) "sip0.cube" FROM " -> sip0.cube" TO " vc0"

static void a_credit_is_waited_for_where_nothing_else_is_missing(void **state)
{
    struct heard h = run_abc(BEGIN "buffer_bytes: 512}\n" CUBES);
    /* B has the port of router 1 until 24, then its place in router 2 until 28, when A goes. C has
     * no credit at its source from 20 on, when that is free of A, until 24: A leaves router 0 at 4,
     * for 20 ns. Then A is in the place in router 1 that C needs until 48. */
    const struct want want[] = {
        {0, KB_CAUSE_ROUTER_WAIT, LINK("1.noc", "1.ucie-E"), 1, 15999999},
        {0, KB_CAUSE_CREDIT_WAIT, LINK("1.noc", "1.ucie-E"), 1, 4000001},
        {2, KB_CAUSE_ROUTER_WAIT, LINK("0.pe0.pe_dma", "0.noc"), 0, 20000000},
        {2, KB_CAUSE_CREDIT_WAIT, LINK("0.pe0.pe_dma", "0.noc"), 0, 4000001},
        {2, KB_CAUSE_CREDIT_WAIT, LINK("0.noc", "0.ucie-E"), 0, 20000000},
    };

    (void)state;
    assert_heard(&h, want, sizeof want / sizeof *want);
    assert_int_equal(h.port_fs, 10 * 20000000LL);
    any_topology_free((kb_topology *)h.topo);
    forget(&h);
}

static void two_in_a_buffer_wait_for_its_server(void **state)
{
    struct heard h = run_abc(BEGIN "buffer_bytes: 1024}\n" CUBES);
    /* A goes when the port is free of B, at 24; C, behind it, has no server until 44. */
    const struct want want[] = {
        {0, KB_CAUSE_ROUTER_WAIT, LINK("1.noc", "1.ucie-E"), 1, 15999999},
        {2, KB_CAUSE_ROUTER_WAIT, LINK("0.pe0.pe_dma", "0.noc"), 0, 20000000},
        {2, KB_CAUSE_ROUTER_WAIT, "sip0.cube1.noc -> sip0.cube1.sram vc0", 0, 15999999},
    };

    (void)state;
    assert_heard(&h, want, sizeof want / sizeof *want);
    any_topology_free((kb_topology *)h.topo);
    forget(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credit_is_waited_for_where_nothing_else_is_missing),
        cmocka_unit_test(two_in_a_buffer_wait_for_its_server),
        cmocka_unit_test(pieces_are_the_terms_of_each_row),
        cmocka_unit_test(so_they_are_of_slices_with_banks),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
