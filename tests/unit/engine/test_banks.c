/* test_banks.c -- memories with banks, as docs/model.md "Memories with banks" computes them, by
 * every engine. */
#include "support/any_topology.h"
#include "support/rig.h"

/* One PE, no wires: what its transactions take is what the slice takes. */
#define MACHINE(pe_gbs, hbm)                                                                       \
    "kernbench: 2\nname: m\ncontention: {links: ideal}\nns_per_mm: 0.0\n"                          \
    "sip: {cube_mesh: {w: 1, h: 1}}\n"                                                             \
    "cube: {pes: 1, xbar: {overhead_ns: 0.0, pe_gbs: " pe_gbs "}, hbm: {model: banks" hbm "},"     \
    " pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}}\n"

/* One channel of 32 GB/s: a burst takes 2 ns. */
#define TIMED(timing, more)                                                                        \
    MACHINE("1000000.0", ", bw_gbs: 32.0, channels: 1, timing_ns: {ctrl: 0" timing "}" more)
#define ONE(more) TIMED("", more)

#define NS    INT64_C(1000000)
#define BURST UINT64_C(64)

/* Where bank `bank` of a machine with one channel and map low begins, and its rows. */
#define BANK(n)  ((n) / 4 * BURST + (n) % 4 * 4 * 32 * BURST)
#define ROW(row) ((row)*UINT64_C(16) * 32 * BURST)

enum { MOST = 16 };

struct access {
    double issue_ns;
    kb_transaction_op op;
    uint64_t offset, nbytes;
    double end_ns;
};

/* All times are to the femtosecond: 14.000001 ns is 14000001 fs. */
static int64_t fs(double ns)
{
    return (int64_t)(ns * 1e6 + 0.5);
}

static void run_by(const kb_topology *topo, kb_options options, const struct access *rows, size_t n,
                   uint64_t *fingerprint)
{
    kb_sim *sim = new_sim(topo, options);

    for (size_t i = 0; i < n; i++) {
        kb_transaction r = {.issue_fs = fs(rows[i].issue_ns),
                            .op = rows[i].op,
                            .src = end_of(topo, "c0.pe0"),
                            .dst = end_of(topo, "c0.slice0"),
                            .offset = rows[i].offset,
                            .nbytes = rows[i].nbytes};

        add(sim, &r);
    }
    run_all(sim);
    for (size_t i = 0; i < n; i++) {
        kb_result r = result_of(sim, i);

        assert_int_equal(r.end_fs, fs(rows[i].end_ns));
    }
    if (options.fingerprint && *fingerprint)
        assert_true(kb_sim_fingerprint(sim) == *fingerprint);
    *fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
}

/* Each row ends when it says, by every engine; fingerprints are the same. */
static void check(const char *yaml, const struct access *rows, size_t n)
{
    const kb_topology *topo = any_topology(yaml);
    uint64_t fingerprint = 0, none = 0;

    assert_non_null(topo);
    run_by(topo, (kb_options){.engine = KB_FUSED}, rows, n, &none);
    run_by(topo, (kb_options){.engine = KB_FUSED, .fingerprint = true}, rows, n, &fingerprint);
    run_by(topo, (kb_options){.engine = KB_HOP, .fingerprint = true}, rows, n, &fingerprint);
    run_by(topo, (kb_options){.engine = KB_HOP}, rows, n, &none);
    any_topology_free(topo);
}

#define CHECK(yaml, ...)                                                                           \
    do {                                                                                           \
        static const struct access rows[] = {__VA_ARGS__};                                         \
        check(yaml, rows, LENGTH(rows));                                                           \
    } while (0)

#define READ(ns, offset, end)                                                                      \
    {                                                                                              \
        ns, KB_READ, offset, BURST, end                                                            \
    }
#define WRITE(ns, offset, end)                                                                     \
    {                                                                                              \
        ns, KB_WRITE, offset, BURST, end                                                           \
    }

static void hits_banks_and_conflicts(void **state)
{
    (void)state;
    CHECK(ONE(""), READ(0, ROW(0), 30), READ(0, ROW(0), 32), READ(0, BANK(1), 34),
          READ(0, ROW(1), 78));
}

static void a_fifth_activation_waits(void **state)
{
    (void)state;
    CHECK(ONE(""), READ(0, BANK(0), 30), READ(0, BANK(1), 34), READ(0, BANK(2), 38),
          READ(0, BANK(3), 42), READ(0, BANK(4), 60));
}

static void refresh_closes_rows(void **state)
{
    (void)state;
    CHECK(ONE(""), READ(3900, 0, 4204));
    CHECK(ONE(""), READ(3890, 0, 4228), READ(3891, 0, 4230));
}

static void the_oldest_goes_first_on_the_bus(void **state)
{
    (void)state;
    CHECK(ONE(""), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(20, BANK(1), 82));
}

static void the_bus_turns_around(void **state)
{
    (void)state;
    CHECK(ONE(", write_ack: written"), WRITE(0, 0, 34), READ(0, BANK(1), 30), READ(15, 0, 57));
}

static void channels_and_maps(void **state)
{
    (void)state;
    CHECK(MACHINE("256.0", ""), {0, KB_READ, 0, 4096, 47});
    CHECK(MACHINE("128.0", ""), {0, KB_READ, 0, 4096, 63});
    CHECK(MACHINE("256.0", ", map: high"), {0, KB_READ, 0, 4096, 95});
}

static void posted_writes_wait_for_room(void **state)
{
    (void)state;
    CHECK(MACHINE("32.0", ", bw_gbs: 32.0, channels: 1, timing_ns: {ctrl: 0}, queue: 4"),
          WRITE(0, ROW(0), 2), WRITE(0, ROW(1), 2), WRITE(0, ROW(2), 2), WRITE(0, ROW(3), 2),
          WRITE(0, ROW(4), 14.000001), WRITE(0, ROW(5), 64.000001), WRITE(0, ROW(6), 114.000001),
          WRITE(0, ROW(7), 164.000001), WRITE(0, ROW(8), 214.000001));
}

static void policies(void **state)
{
    (void)state;
    CHECK(ONE(""), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(0, ROW(0), 32));
    CHECK(ONE(", policy: fcfs"), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(0, ROW(0), 126));
}

/* Where group `n` begins: by map low, the default, or high. */
#define GROUP(n)      ((n)*BURST)
#define GROUP_HIGH(n) ((n)*UINT64_C(4) * 32 * BURST)

/* Bursts of a group are 4 ns apart, those of another go between. */
static void bursts_of_a_group_keep_apart(void **state)
{
    (void)state;
    CHECK(TIMED(", ccd_l: 4", ", map: high"), {0, KB_READ, 0, 256, 42});
    CHECK(TIMED(", ccd_l: 2", ", map: high"), {0, KB_READ, 0, 256, 36});
    CHECK(TIMED(", ccd_l: 4", ", map: high"), {0, KB_READ, 0, 256, 42},
          {0, KB_READ, GROUP_HIGH(1), 256, 48});
    CHECK(TIMED(", ccd_l: 4", ", map: high"), {0, KB_READ, 0, 128, 34},
          {0, KB_READ, GROUP_HIGH(1), 128, 40});
    CHECK(TIMED(", ccd_l: 4", ", map: high"), {0, KB_READ, 0, 128, 34},
          {0, KB_READ, UINT64_C(32) * BURST, 128, 42});
    CHECK(TIMED(", ccd_l: 4", ""), READ(0, 0, 30), READ(0, 0, 34), READ(0, GROUP(1), 36));
    CHECK(TIMED(", ccd_l: 4", ""), READ(0, 0, 30), READ(0, GROUP(1), 34), READ(0, 0, 36));
    CHECK(TIMED(", ccd_l: 4", ""), {0, KB_READ, 0, 4096, 160});
    CHECK(TIMED(", ccd_l: 4", ", map: high"), {0, KB_READ, 0, 2048, 154});
}

/* The second rank of two begins where the second row of one would. */
static void ranks_have_activations_and_refreshes_of_their_own(void **state)
{
    (void)state;
    CHECK(TIMED(", rtrs: 1", ", ranks: 2"), READ(0, 0, 30), READ(0, ROW(1), 33));
    CHECK(TIMED(", rtrs: 1", ", ranks: 2, map: [row, bank, column, rank, group, channel]"),
          READ(0, 0, 30), READ(0, 4 * BURST, 33));
    CHECK(ONE(", ranks: 2"), READ(1950, 0, 2254), READ(1950, ROW(1), 1980));
    CHECK(ONE(", ranks: 2"), READ(3900, 0, 3930), READ(3900, ROW(1), 4204));
    CHECK(ONE(", ranks: 2"), READ(0, ROW(1), 30), READ(2000, ROW(1), 2016)); /* still open */
}

static void few_of_a_bank_are_chosen_among(void **state)
{
    (void)state;
    CHECK(ONE(", bank_queue: 1"), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(0, ROW(0), 126));
    CHECK(ONE(", bank_queue: 2"), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(0, ROW(0), 32));
    CHECK(ONE(", bank_queue: 2"), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(0, ROW(1), 80),
          READ(0, ROW(0), 126));
    CHECK(ONE(", bank_queue: 3"), READ(0, ROW(0), 30), READ(0, ROW(1), 78), READ(0, ROW(1), 80),
          READ(0, ROW(0), 32));
#define SIX(window, a, b, c, d, e, f)                                                              \
    CHECK(ONE(", bank_queue: " window), READ(0, ROW(0), a), READ(0, ROW(1), b),                    \
          READ(0, ROW(2), c), READ(0, ROW(0), d), READ(0, ROW(1), e), READ(0, ROW(0), f))
    SIX("2", 30, 78, 126, 174, 222, 176);
    SIX("3", 30, 78, 126, 32, 80, 174);
    SIX("0", 30, 78, 126, 32, 80, 34);
}

/* docs/model.md "Memories with banks": "may be negative" */
static void an_open_row_is_a_negative_wait(void **state)
{
    const kb_topology *topo = any_topology(ONE(""));
    kb_sim *sim;

    (void)state;
    assert_non_null(topo);
    sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 64);
    issue(sim, topo, 100 * NS, KB_READ, "c0.pe0", "c0.slice0", 64);
    run_all(sim);
    assert_int_equal(result_of(sim, 1).wait_fs[KB_WAIT_MEMORY], -14 * NS);
    assert_int_equal(result_of(sim, 1).actual_fs, 16 * NS);
    assert_int_equal(result_of(sim, 1).formula_fs, 30 * NS);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* -- what was used -------------------------------------------------------------------------- */

enum { MOST_USES = 64 };

struct uses {
    kb_utilization rows[MOST_USES];
    size_t n;
};

static void keep_rows(void *arg, const kb_utilization *use)
{
    struct uses *u = arg;

    if (!use->has_rows)
        return;
    assert_true(u->n < MOST_USES);
    u->rows[u->n++] = *use;
}

static struct uses uses_of(const kb_sim *sim)
{
    struct uses u = {.n = 0};

    assert_int_equal(kb_sim_utilization(sim, keep_rows, &u), KB_OK);
    return u;
}

/*
 * docs/results.md "Statistics": rows 0, 0 and 1 of bank 0 and a row of bank 1. A hit, two misses, a
 * conflict; three activations. The bus is taken for 4 * 2 of 78 ns. Refreshes at 3900 and 7800 ns:
 * 548 of 8000 ns.
 */
static void rows_are_counted(void **state)
{
    const kb_topology *topo = any_topology(ONE(""));

    (void)state;
    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++)
        for (int late = 0; late < 2; late++) {
            static const uint64_t offsets[] = {ROW(0), ROW(0), BANK(1), ROW(1)};
            kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
            kb_transaction r = {.op = KB_READ, .nbytes = BURST};
            struct uses u;

            r.src = end_of(topo, "c0.pe0");
            r.dst = end_of(topo, "c0.slice0");
            for (size_t i = 0; i < LENGTH(offsets); i++) {
                r.offset = offsets[i];
                add(sim, &r);
            }
            r.issue_fs = 7970 * NS;
            r.offset = BANK(2);
            if (late)
                add(sim, &r); /* at 8074, when the refresh is over: until 8104 */
            run_all(sim);
            u = uses_of(sim);
            assert_int_equal(u.n, 2);
            assert_int_equal(u.rows[0].kind, KB_AT_MEMORY);
            assert_string_equal(u.rows[1].name, "sip0.cube0.hbm_ctrl.slice0.ch0");
            for (size_t i = 0; i < u.n; i++) {
                const kb_utilization *use = &u.rows[i];
                double end_ns = late ? 8104 : 78;

                assert_int_equal(use->kind, i ? KB_AT_BANKS : KB_AT_MEMORY);
                assert_int_equal(use->count, 4 + late);
                assert_int_equal(use->bytes, (uint64_t)(4 + late) * BURST);
                assert_int_equal(use->row_hits, 1);
                assert_int_equal(use->row_misses, 2 + late);
                assert_int_equal(use->row_conflicts, 1);
                assert_int_equal(use->activations, 3 + late);
                assert_int_equal(use->busy_fs, (8 + 2 * late) * NS);
                assert_true(use->util_pct == 100 * (8.0 + 2 * late) / end_ns);
                assert_true(use->refresh_pct == (late ? 100 * 548.0 / end_ns : 0));
            }
            kb_sim_free(sim);
        }
    any_topology_free(topo);
}

/* Posted writes that are served behind the end of the run do not make a bus busier than busy. */
static void a_bus_is_never_in_use_for_more_than_all_of_the_time(void **state)
{
    const kb_topology *topo = any_topology(ONE(", queue: 32"));

    (void)state;
    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        struct uses u;

        for (int i = 0; i < 32; i++)
            issue(sim, topo, 0, KB_WRITE, "c0.pe0", "c0.slice0", BURST);
        run_all(sim);
        u = uses_of(sim);
        assert_int_equal(kb_sim_end_fs(sim), 2 * NS);
        assert_int_equal(u.rows[1].row_hits, 31);
        assert_int_equal(u.rows[1].busy_fs, 64 * NS);
        assert_true(u.rows[1].util_pct == 100 * 64.0 / (14 + 64));
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* -- channels that are alike ------------------------------------------------------------------ */

/*
 * network/banks.h: "What comes to the slice is even": channel 0 does for all what each does in the
 * hop engine; and from the first access on that is not, each its own, however much waits.
 */
static void assert_same_rows(const kb_utilization *a, const kb_utilization *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->busy_fs, b->busy_fs);
    assert_int_equal(a->row_hits, b->row_hits);
    assert_int_equal(a->row_misses, b->row_misses);
    assert_int_equal(a->row_conflicts, b->row_conflicts);
    assert_int_equal(a->activations, b->activations);
    assert_true(a->util_pct == b->util_pct && a->refresh_pct == b->refresh_pct);
}

static void run_even(const kb_topology *topo, uint64_t seed, size_t odd, size_t n)
{
    kb_sim *sims[2];
    struct uses u[2];

    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        uint64_t dice = seed;
        kb_transaction r = {.src = end_of(topo, "c0.pe0"), .dst = end_of(topo, "c0.slice0")};

        sims[e] = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        for (size_t i = 0; i < n; i++) {
            r.issue_fs += (int64_t)(draw(&dice) % 8) * 5 * NS;
            r.op = draw(&dice) % 4 ? KB_READ : KB_WRITE;
            r.offset = draw(&dice) % 1024 * 512;
            r.nbytes = (draw(&dice) % 8 + 1) * 512;
            if (i == odd)
                r.nbytes -= 64;
            add(sims[e], &r);
        }
        run_all(sims[e]);
        u[e] = uses_of(sims[e]);
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(result_of(sims[0], i).end_fs, result_of(sims[1], i).end_fs);
    assert_int_equal(u[0].n, u[1].n);
    for (size_t i = 0; i < u[0].n; i++)
        assert_same_rows(&u[0].rows[i], &u[1].rows[i]);
    kb_sim_free(sims[0]);
    kb_sim_free(sims[1]);
}

static void channels_that_are_alike_do_what_each_would(void **state)
{
    static const char *const keys[] = {"", ", hash: xor", ", queue: 4, write_ack: written",
                                       ", queue: 4, groups: 1, banks: 2, hash: xor", ", map: high"};

    (void)state;
    for (size_t i = 0; i < LENGTH(keys); i++) {
        char yaml[1024];
        const kb_topology *topo;

        snprintf(yaml, sizeof yaml, MACHINE("256.0", "%s"), keys[i]);
        topo = any_topology(yaml);
        assert_non_null(topo);
        for (uint64_t seed = 1; seed <= 10; seed++)
            run_even(topo, seed, seed % 2 ? 10 * seed : SIZE_MAX, 120);
        any_topology_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_banks_and_conflicts),
        cmocka_unit_test(a_fifth_activation_waits),
        cmocka_unit_test(refresh_closes_rows),
        cmocka_unit_test(the_oldest_goes_first_on_the_bus),
        cmocka_unit_test(the_bus_turns_around),
        cmocka_unit_test(channels_and_maps),
        cmocka_unit_test(posted_writes_wait_for_room),
        cmocka_unit_test(policies),
        cmocka_unit_test(bursts_of_a_group_keep_apart),
        cmocka_unit_test(ranks_have_activations_and_refreshes_of_their_own),
        cmocka_unit_test(few_of_a_bank_are_chosen_among),
        cmocka_unit_test(an_open_row_is_a_negative_wait),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(a_bus_is_never_in_use_for_more_than_all_of_the_time),
        cmocka_unit_test(channels_that_are_alike_do_what_each_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
