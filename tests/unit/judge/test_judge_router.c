/* test_judge_router.c -- the judge's routers, by the numbers of docs/network.md and the vectors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 8 };
#define NS INT64_C(1000000)

/* Routers in a row with overhead 4, all of one bandwidth; each has a memory that serves at once. */
#define ROW(N, GBS, LINKS)                                                                         \
    "kernbench: 2\nname: row\nns_per_mm: 1.0\n"                                                    \
    "contention: {links: router, " LINKS "}\n"                                                     \
    "sip: {cube_mesh: {w: " N ", h: 1}, d2d: {distance_mm: 0.0, bw_gbs: " GBS "}}\n"               \
    "cube:\n  pes: 1\n  size_mm: [0.0, 0.0]\n  ucie: {overhead_ns: 0.0}\n"                         \
    "  noc: {overhead_ns: 4.0, attach_mm: 0.0, bw_gbs: " GBS "}\n"                                 \
    "  m_cpu: {pos_mm: [0.0, 0.0]}\n"                                                              \
    "  sram: {pos_mm: [0.0, 0.0], bw_gbs: 1000000.0}\n"                                            \
    "  xbar: {overhead_ns: 0.0, pe_mm: 0.0, pe_gbs: " GBS ", chain_gbs: " GBS "}\n"                \
    "  hbm: {distance_mm: 0.0, bw_gbs: 1000000.0}\n"                                               \
    "  pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}\n"

#define WHOLE "segment_bytes: 320, packet_bytes: 320, vcs: [1, 1], "

struct rig {
    struct judge_topo *t;
    struct judge_row rows[MOST_ROWS];
    struct judge_result results[MOST_ROWS];
    size_t n;
    uint64_t fingerprint;
};

static void issue(struct rig *r, enum judge_op op, const char *src, const char *dst,
                  uint64_t nbytes)
{
    struct judge_row *row = &r->rows[r->n++];

    assert_true(r->n <= MOST_ROWS);
    *row = (struct judge_row){.op = op, .nbytes = nbytes};
    assert_true(judge_end_parse(r->t, src, &row->src));
    assert_true(judge_end_parse(r->t, dst, &row->dst));
}

static struct rig rig_of(const char *yaml)
{
    struct rig r = {.t = judge_load_text(yaml)};

    assert_non_null(r.t);
    return r;
}

/* Runs the rows, which end at these times in fs, and gives the machine back. */
static void ends(struct rig *r, const int64_t *expected)
{
    assert_true(judge_replay(r->t, r->rows, r->n, r->results, &r->fingerprint));
    for (size_t i = 0; i < r->n; i++) {
        const struct judge_result *q = &r->results[i];

        if (q->end_fs != expected[i])
            fail_msg("row %zu ends at %" PRId64 ", not %" PRId64, i, q->end_fs, expected[i]);
        assert_int_equal(q->formula_fs,
                         q->wire_fs + q->overhead_fs + q->drain_fs + q->return_fs + q->response_fs);
    }
    judge_free(r->t);
}

#define ENDS(r, ...) ends(r, (const int64_t[]){__VA_ARGS__})

/* Writes A 0 -> 2, B 1 -> 2, C 0 -> 1, the goldens' own. */
static struct rig three(const char *yaml)
{
    struct rig r = rig_of(yaml);

    issue(&r, JUDGE_WRITE, "c0.pe0", "c2.slice0", 320);
    issue(&r, JUDGE_WRITE, "c1.pe0", "c2.slice0", 320);
    issue(&r, JUDGE_WRITE, "c0.pe0", "c1.slice0", 320);
    return r;
}

/* B sits in router 2's only place until 28; A in router 1's input from 4 to 48 */
static void one_place_holds_up_what_is_behind(void **state)
{
    struct rig r = three(ROW("3", "16.0", WHOLE "buffer_bytes: 320"));

    (void)state;
    ENDS(&r, 52000004, 28000003, 72000004);
}

/* C is ready in router 1 at 28, but the input port's one server is A's */
static void two_places_hold_up_by_their_server(void **state)
{
    struct rig r = three(ROW("3", "16.0", WHOLE "buffer_bytes: 640"));

    (void)state;
    ENDS(&r, 48000003, 28000003, 64000002);
}

static void two_servers_let_two_pass(void **state)
{
    struct rig r = three(ROW("3", "16.0", WHOLE "buffer_bytes: 640, input_speedup: 2"));

    (void)state;
    ENDS(&r, 48000003, 28000003, 48000003);
}

/* A length for all edges between nodes of these names. */
static void set_length(struct judge_topo *t, const char *from, const char *to, double mm)
{
    for (size_t i = 0; i < t->n_edges; i++)
        if (strstr(t->nodes[t->edges[i].from].name, from) &&
            strstr(t->nodes[t->edges[i].to].name, to))
            t->edges[i].distance_mm = mm;
}

/* The goldens' wires of 1 ns, and of 2 ns on 0>1. */
static void wires_delay_segments_and_credits(void **state)
{
    static const int64_t expected_ns[2][3] = {{57, 31, 78}, {57, 31, 80}};

    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        struct rig r = three(ROW("3", "16.0", WHOLE "buffer_bytes: 320"));

        set_length(r.t, ".pe_dma", ".noc", 1.0);
        set_length(r.t, ".ucie", ".ucie", 1.0);
        set_length(r.t, ".xbar", ".hbm_ctrl", 1.0);
        if (longer)
            set_length(r.t, "cube0.ucie", "cube1.ucie", 2.0);
        assert_true(judge_replay(r.t, r.rows, r.n, r.results, &r.fingerprint));
        for (size_t i = 0; i < 3; i++)
            assert_int_equal((r.results[i].end_fs + NS / 2) / NS, expected_ns[longer][i]);
        judge_free(r.t);
    }
}

static void a_long_segment_is_not_cut(void **state)
{
    struct rig r = rig_of(ROW("3", "16.0",
                              "segment_bytes: 640, packet_bytes: 0, buffer_bytes: 0, vcs: [1, 1], "
                              "input_speedup: 4"));

    (void)state;
    issue(&r, JUDGE_WRITE, "c0.pe0", "c2.slice0", 320);
    issue(&r, JUDGE_WRITE, "c1.pe0", "c2.slice0", 640);
    issue(&r, JUDGE_WRITE, "c0.pe0", "c1.slice0", 320);
    ENDS(&r, 68000003, 48000003, 64000003);
}

static void parts_add_up_to_the_whole(void **state)
{
    struct rig r = rig_of(ROW("3", "3.0", "segment_bytes: 32, packet_bytes: 64, vcs: [1, 1]"));

    (void)state;
    issue(&r, JUDGE_WRITE, "c0.pe0", "c1.slice0", 100);
    ENDS(&r, 41333336);
}

static void a_read_goes_there_and_comes_back(void **state)
{
    struct rig r = rig_of(ROW("3", "16.0", WHOLE "buffer_bytes: 320"));

    (void)state;
    issue(&r, JUDGE_READ, "c0.pe0", "c2.slice0", 320);
    ENDS(&r, 44000008);
    assert_int_equal(r.results[0].return_fs, 12000004);
    assert_int_equal(r.results[0].queue_link_fs, 0);
}

/* A 0 -> 2, B 4 -> 2, C 2 -> 2, each over the router of its end */
static struct rig five(const char *yaml)
{
    struct rig r = rig_of(yaml);

    issue(&r, JUDGE_WRITE, "c0.pe0", "c2.sram", 320);
    issue(&r, JUDGE_WRITE, "c4.pe0", "c2.sram", 320);
    issue(&r, JUDGE_WRITE, "c2.pe0", "c2.sram", 320);
    return r;
}

static void arbiters_choose_by_age_or_in_turns(void **state)
{
    struct rig age = five(ROW("5", "16.0",
                              "segment_bytes: 64, packet_bytes: 320, buffer_bytes: 320, "
                              "vcs: [1, 1], arbiter: age"));
    struct rig rr = five(ROW("5", "16.0",
                             "segment_bytes: 64, packet_bytes: 320, buffer_bytes: 320, "
                             "vcs: [1, 1], arbiter: rr"));

    (void)state;
    ENDS(&age, 44000002, 64000002, 24000002);
    ENDS(&rr, 64000002, 44000002, 24000002);
}

/* -- what holds for all machines -------------------------------------------------------------- */

static uint64_t draw(uint64_t *dice)
{
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    return *dice ^= *dice << 17;
}

/* Writes of all PEs to one memory over links of one bandwidth, by routers or fifo. */
static struct judge_topo *one_way(const char *links, uint64_t seed)
{
    char *yaml = NULL;
    struct judge_topo *t;

    assert_true(asprintf(&yaml,
                         "kernbench: 2\nname: one\nns_per_mm: 1.0\ncontention: {links: %s}\n"
                         "sip: {cube_mesh: {w: %u, h: %u}, d2d: {distance_mm: 0.5, bw_gbs: 16.0}}\n"
                         "cube:\n  pes: 1\n  size_mm: [2.0, 2.0]\n  ucie: {overhead_ns: 0.5}\n"
                         "  m_cpu: {pos_mm: [1.0, 1.0]}\n"
                         "  noc: {overhead_ns: 4.0, attach_mm: 0.25, bw_gbs: 16.0}\n"
                         "  sram: {pos_mm: [0.5, 1.5], bw_gbs: 1000000.0}\n"
                         "  pe: {pe_dma: {overhead_ns: 1.0, write_channels: 3}}\n",
                         links, (unsigned)(1 + seed % 5), (unsigned)(1 + seed / 5 % 3)) > 0);
    t = judge_load_text(yaml);
    assert_non_null(t);
    free(yaml);
    return t;
}

/* Unbounded buffers, whole transactions, one VC, by age: the waits are those of fifo links. */
static void routers_that_do_not_hold_up_are_fifo_links(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        enum { ROWS = 40 };
        struct judge_topo *fifo = one_way("fifo", seed);
        struct judge_topo *routers = one_way("router, segment_bytes: 64, packet_bytes: 0, "
                                             "buffer_bytes: 0, vcs: [1, 1]",
                                             seed);
        struct judge_row rows[ROWS] = {0};
        struct judge_result a[ROWS], b[ROWS];
        uint64_t dice = seed, fingerprint;

        for (int i = 0; i < ROWS; i++) {
            rows[i].op = JUDGE_WRITE;
            rows[i].issue_fs = (int64_t)(draw(&dice) % 8) * 5 * NS;
            rows[i].nbytes = 1 + draw(&dice) % 700;
            rows[i].src = fifo->pes[draw(&dice) % fifo->n_pes];
            rows[i].dst = (struct judge_end){.kind = JUDGE_SRAM};
        }
        assert_true(judge_replay(fifo, rows, ROWS, a, &fingerprint));
        assert_true(judge_replay(routers, rows, ROWS, b, &fingerprint));
        for (int i = 0; i < ROWS; i++)
            if (memcmp(&a[i], &b[i], sizeof a[i]) != 0)
                fail_msg("seed %" PRIu64 ", row %d: %" PRId64 " by fifo, %" PRId64 " by routers",
                         seed, i, a[i].end_fs, b[i].end_fs);
        judge_free(fifo);
        judge_free(routers);
    }
}

/* A random machine whose buffers are unbounded, and so are the queues of its memories, and whose
 * packets need no time for their VCs, so that none waits for one of its own transaction. */
static struct judge_topo *unbounded(uint64_t seed)
{
    char *yaml = NULL;
    size_t len;
    FILE *out = open_memstream(&yaml, &len);
    struct judge_topo *t;

    judge_random_routers(out, seed);
    fclose(out);
    t = judge_load_text(yaml);
    assert_non_null(t);
    for (size_t i = 0; i < t->n_values; i++)
        if (strcmp(t->values[i].key, "contention.buffer_bytes") == 0 ||
            strcmp(t->values[i].key, "contention.vc_alloc_ns") == 0 ||
            strcmp(t->values[i].key, "cube.hbm.queue_bytes") == 0)
            t->values[i].number = 0.0;
    free(yaml);
    return t;
}

/* Longer than any of these takes: what is issued so far apart never meets. */
#define APART (1000000 * NS)

/*
 * All ways of a machine, of a few sizes, each alone. Except d2h with a command: its first data may
 * come to io_noc -> io_cpu while the command's last bytes are still there.
 */
static void assert_formulas(const struct judge_topo *t, uint64_t seed)
{
    enum { ROWS = 200 };
    struct judge_row rows[ROWS] = {0};
    struct judge_result results[ROWS];
    uint64_t dice = seed, fingerprint;
    size_t n = 0;

    for (int tries = 0; tries < 10 * ROWS && n < ROWS; tries++) {
        bool host = draw(&dice) % 4 == 0, write = draw(&dice) % 2;
        struct judge_row *row = &rows[n];

        *row = (struct judge_row){.issue_fs = (int64_t)n * APART, .nbytes = 1 + draw(&dice) % 3000};
        write |= host && judge_number(t, "contention.command_bytes") > 0.0;
        row->op = host ? (write ? JUDGE_H2D : JUDGE_D2H) : write ? JUDGE_WRITE : JUDGE_READ;
        row->dst.kind = !host && draw(&dice) % 4 == 0 ? JUDGE_SRAM : JUDGE_SLICE;
        row->dst.cube = (uint32_t)(draw(&dice) % t->cubes);
        row->dst.sip = (uint32_t)(draw(&dice) % t->sips);
        if (row->dst.kind == JUDGE_SLICE)
            row->dst.unit = (uint32_t)(draw(&dice) % judge_slices(t, row->dst.sip, row->dst.cube));
        row->src = host ? (struct judge_end){.kind = JUDGE_HOST, .sip = row->dst.sip}
                        : t->pes[draw(&dice) % t->n_pes];
        n += judge_has_route(t, row, n);
    }
    assert_true(judge_replay(t, rows, n, results, &fingerprint));
    for (size_t i = 0; i < n; i++)
        if (results[i].actual_fs != results[i].formula_fs) {
            char src[JUDGE_NAME_BYTES], dst[JUDGE_NAME_BYTES];

            judge_end_name(&rows[i].src, src);
            judge_end_name(&rows[i].dst, dst);
            fail_msg("seed %" PRIu64 ", %s -> %s, operation %d, %" PRIu64 " bytes: %" PRId64
                     " alone, formula %" PRId64,
                     seed, src, dst, (int)rows[i].op, rows[i].nbytes, results[i].actual_fs,
                     results[i].formula_fs);
        }
}

static void alone_every_transaction_takes_its_formula(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct judge_topo *t = unbounded(seed);

        assert_formulas(t, seed);
        judge_free(t);
    }
}

/* Runs a vector; the column end_ns, as its file of expected results has it. */
static void assert_vector(unsigned number)
{
    char yaml[64], csv[64], expected[64], line[128];
    struct judge_result *results;
    struct judge_row *rows;
    struct judge_topo *t;
    uint64_t fingerprint;
    FILE *in;
    size_t n;

    snprintf(yaml, sizeof yaml, "tests/vectors2/router%u.yaml", number);
    snprintf(csv, sizeof csv, "tests/vectors2/router%u.csv", number);
    snprintf(expected, sizeof expected, "tests/vectors2/router%u.expected.csv", number);
    t = judge_load(yaml);
    assert_non_null(t);
    assert_true(judge_read_rows(t, csv, &rows, &n));
    results = calloc(n, sizeof *results);
    assert_true(judge_replay(t, rows, n, results, &fingerprint));
    in = fopen(expected, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    for (size_t i = 0; i < n; i++) {
        char text[64];

        snprintf(text, sizeof text, "%zu,%" PRId64 ".%06" PRId64 "\n", i, results[i].end_fs / NS,
                 results[i].end_fs % NS);
        assert_non_null(fgets(line, sizeof line, in));
        assert_string_equal(line, text);
    }
    fclose(in);
    free(rows);
    free(results);
    judge_free(t);
}

static void vectors_are_met(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; i++)
        assert_vector(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_place_holds_up_what_is_behind),
        cmocka_unit_test(two_places_hold_up_by_their_server),
        cmocka_unit_test(two_servers_let_two_pass),
        cmocka_unit_test(wires_delay_segments_and_credits),
        cmocka_unit_test(a_long_segment_is_not_cut),
        cmocka_unit_test(parts_add_up_to_the_whole),
        cmocka_unit_test(a_read_goes_there_and_comes_back),
        cmocka_unit_test(arbiters_choose_by_age_or_in_turns),
        cmocka_unit_test(routers_that_do_not_hold_up_are_fifo_links),
        cmocka_unit_test(alone_every_transaction_takes_its_formula),
        cmocka_unit_test(vectors_are_met),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
