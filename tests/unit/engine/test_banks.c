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
#define ONE(more) MACHINE("1000000.0", ", bw_gbs: 32.0, channels: 1, timing_ns: {ctrl: 0}" more)

#define NS    INT64_C(1000000)
#define BURST UINT64_C(64)

/* Where bank `bank` of a machine with one channel and map low begins, and its rows. */
#define BANK(n) ((n) / 4 * BURST + (n) % 4 * 4 * 32 * BURST)
#define ROW(row)   ((row)*UINT64_C(16) * 32 * BURST)

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
        kb_request r = {.issue_fs = fs(rows[i].issue_ns),
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
        cmocka_unit_test(an_open_row_is_a_negative_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
