/* test_judge_banks.c -- the judge's banks: the numbers of docs/model.md "Memories with banks", and
 * the vectors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/banks.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS "tests/vectors2" /* from the root of the repository */

/* One PE, no wires: what its transactions take is what the slice takes. */
#define MACHINE(links, pe_gbs, hbm)                                                                \
    "kernbench: 2\nname: banks\ncontention: {links: " links "}\nns_per_mm: 0.0\n"                  \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube:\n  pes: 1\n"                                            \
    "  xbar: {overhead_ns: 0.0, pe_gbs: " pe_gbs "}\n"                                             \
    "  hbm: {" hbm "}\n"                                                                           \
    "  pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}\n"

/* One channel of 32 GB/s: a burst takes 2 ns. */
#define ONE(more)                                                                                  \
    MACHINE("ideal", "1000000.0",                                                                  \
            "bw_gbs: 32.0, model: banks, channels: 1, timing_ns: {ctrl: 0}" more)

enum { MOST_ROWS = 40 };

#define NS INT64_C(1000000) /* in fs */

struct rig {
    struct judge_topo *t;
    struct judge_row rows[MOST_ROWS];
    struct judge_result results[MOST_ROWS];
    size_t n;
};

static struct rig *rig_of(const char *yaml)
{
    struct rig *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->t = judge_load_text(yaml);
    assert_non_null(r->t);
    return r;
}

static void add(struct rig *r, double issue_ns, enum judge_op op, uint64_t offset, uint64_t nbytes)
{
    struct judge_row *row = &r->rows[r->n++];

    assert_true(r->n <= MOST_ROWS);
    *row = (struct judge_row){
        .issue_fs = (int64_t)(issue_ns * (double)NS), .op = op, .offset = offset, .nbytes = nbytes};
    assert_true(judge_end_parse(r->t, "c0.pe0", &row->src));
    assert_true(judge_end_parse(r->t, "c0.slice0", &row->dst));
}

/* 64 B of a row of a bank, by its number, where the map is `low` and there is one channel. */
static void access_row(struct rig *r, double issue_ns, enum judge_op op, uint64_t bank,
                       uint64_t row)
{
    add(r, issue_ns, op, (row * 512 + bank % 4 * 128 + bank / 4) * 64, 64);
}

static void run(struct rig *r)
{
    uint64_t fingerprint;

    assert_true(judge_replay(r->t, r->rows, r->n, r->results, &fingerprint));
}

/* Runs, compares and gives back. */
static void assert_ends(struct rig *r, const int64_t *ends_fs)
{
    run(r);
    for (size_t i = 0; i < r->n; i++)
        assert_int_equal(r->results[i].end_fs, ends_fs[i]);
    judge_free(r->t);
    free(r);
}

static void hits_misses_and_a_conflict(void **state)
{
    static const int64_t ends[] = {30 * NS, 32 * NS, 34 * NS, 78 * NS};
    struct rig *r = rig_of(ONE(""));

    (void)state;
    access_row(r, 0, JUDGE_READ, 0, 0);
    access_row(r, 0, JUDGE_READ, 0, 0);
    access_row(r, 0, JUDGE_READ, 1, 0);
    access_row(r, 0, JUDGE_READ, 0, 1);
    assert_ends(r, ends);
}

static void the_fifth_activation_waits_for_the_first(void **state)
{
    static const int64_t ends[] = {30 * NS, 34 * NS, 38 * NS, 42 * NS, 60 * NS};
    struct rig *r = rig_of(ONE(""));

    (void)state;
    for (uint64_t bank = 0; bank < 5; bank++)
        access_row(r, 0, JUDGE_READ, bank, 0);
    assert_ends(r, ends);
}

static void a_refresh_closes_all_rows(void **state)
{
    static const int64_t idle[] = {4204 * NS}, busy[] = {4228 * NS, 4230 * NS};
    struct rig *r = rig_of(ONE(""));

    (void)state;
    access_row(r, 3900, JUDGE_READ, 0, 0);
    assert_ends(r, idle);
    r = rig_of(ONE(""));
    access_row(r, 3890, JUDGE_READ, 0, 0);
    access_row(r, 3891, JUDGE_READ, 0, 0);
    assert_ends(r, busy);
}

static void a_later_bank_does_not_pass_a_segment_that_is_ready(void **state)
{
    static const int64_t ends[] = {30 * NS, 78 * NS, 82 * NS};
    struct rig *r = rig_of(ONE(""));

    (void)state;
    access_row(r, 0, JUDGE_READ, 0, 0);
    access_row(r, 0, JUDGE_READ, 0, 1);
    access_row(r, 20, JUDGE_READ, 1, 0);
    assert_ends(r, ends);
}

static void the_bus_turns_round(void **state)
{
    static const int64_t ends[] = {34 * NS, 30 * NS, 57 * NS};
    struct rig *r = rig_of(ONE(", write_ack: written"));

    (void)state;
    access_row(r, 0, JUDGE_WRITE, 0, 0);
    access_row(r, 0, JUDGE_READ, 1, 0);
    access_row(r, 15, JUDGE_READ, 0, 0);
    assert_ends(r, ends);
}

static void assert_alone(const char *yaml, int64_t ns)
{
    const int64_t end = ns * NS;
    struct rig *r = rig_of(yaml);

    add(r, 0, JUDGE_READ, 0, 4096);
    assert_ends(r, &end);
}

static void channels_share_4_kb_by_the_map(void **state)
{
    (void)state;
    assert_alone(MACHINE("ideal", "256.0", "model: banks"), 47);
    assert_alone(MACHINE("ideal", "128.0", "model: banks"), 63);
    assert_alone(MACHINE("ideal", "256.0", "model: banks, map: high"), 95);
    assert_alone(
        MACHINE("ideal", "256.0", "model: banks, map: [row, group, bank, channel, column]"), 95);
}

static void posted_writes_wait_for_room(void **state)
{
    static const int64_t ends[] = {2 * NS,       2 * NS,       2 * NS,
                                   2 * NS,       14 * NS + 1,  64 * NS + 1,
                                   114 * NS + 1, 164 * NS + 1, 214 * NS + 1};
    struct rig *r = rig_of(ONE(", queue: 4"));

    (void)state;
    for (uint64_t row = 0; row < 9; row++)
        access_row(r, 0, JUDGE_WRITE, 0, row);
    assert_ends(r, ends);
}

static void a_row_that_is_open_goes_first(void **state)
{
    static const int64_t ready[] = {30 * NS, 78 * NS, 32 * NS},
                         fcfs[] = {30 * NS, 78 * NS, 126 * NS};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig *r = rig_of(i ? ONE(", policy: fcfs") : ONE(""));

        access_row(r, 0, JUDGE_READ, 0, 0);
        access_row(r, 0, JUDGE_READ, 0, 1);
        access_row(r, 0, JUDGE_READ, 0, 0);
        assert_ends(r, i ? fcfs : ready);
    }
}

/* A row hit is faster than the formula, which is of closed banks: it has waited less than nothing.
 */
static void a_hit_waits_less_than_nothing(void **state)
{
    struct rig *r = rig_of(ONE(", overhead_ns: 5.0, latency_ns: 7.0"));
    const struct judge_result *hit = &r->results[1];

    (void)state;
    access_row(r, 0, JUDGE_READ, 0, 0);
    access_row(r, 100, JUDGE_READ, 0, 0);
    run(r);
    assert_int_equal(r->results[0].overhead_fs, (28 + 12) * NS);
    assert_int_equal(r->results[0].queue_memory_fs, 0);
    assert_int_equal(r->results[0].end_fs, 42 * NS);
    assert_int_equal(hit->overhead_fs, 40 * NS);
    assert_int_equal(hit->queue_memory_fs, -14 * NS);
    assert_int_equal(hit->formula_fs, 42 * NS);
    assert_int_equal(hit->end_fs, 128 * NS);
    judge_free(r->t);
    free(r);
}

/* With xor the rows of what was one bank lie in many. */
static void a_hash_spreads_rows(void **state)
{
    static const int64_t ends[] = {30 * NS, 34 * NS}, same[] = {30 * NS, 78 * NS};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig *r = rig_of(i ? ONE(", hash: xor") : ONE(""));

        access_row(r, 0, JUDGE_READ, 0, 0);
        access_row(r, 0, JUDGE_READ, 0, 1);
        assert_ends(r, i ? ends : same);
    }
}

#define NO_TIMES                                                                                   \
    "timing_ns: {rcd: 0, rp: 0, cl: 0, cwl: 0, ras: 0, rrd: 0, faw: 0, rtp: 0, wr: 0, wtr: 0, "    \
    "rtw: 0, ctrl: 0}"
#define SERVER "bw_gbs: 32.0, hold: own"
#define BANKS  "bw_gbs: 32.0, model: banks, channels: 1, refresh: none, policy: fcfs, " NO_TIMES

/* Without times banks are the server that is free again before its data have passed the route. */
static void without_times_it_is_a_server(void **state)
{
    static const char *const yamls[][2] = {
        {MACHINE("ideal", "1000000.0", SERVER), MACHINE("ideal", "1000000.0", BANKS)},
        {MACHINE("fifo", "8.0", SERVER), MACHINE("fifo", "8.0", BANKS)},
        {MACHINE("ideal", "20.0", SERVER), MACHINE("ideal", "20.0", BANKS)}};

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct rig *server = rig_of(yamls[m][0]), *banks = rig_of(yamls[m][1]);

        for (uint64_t i = 0; i < MOST_ROWS; i++) {
            uint64_t some = i * 2654435761 % 1024;

            add(server, (double)(i * i % 97), JUDGE_READ, some * 64, (1 + some % 40) * 64);
            add(banks, (double)(i * i % 97), JUDGE_READ, some * 64, (1 + some % 40) * 64);
        }
        run(server);
        run(banks);
        for (uint64_t i = 0; i < MOST_ROWS; i++)
            assert_memory_equal(&server->results[i], &banks->results[i], sizeof banks->results[i]);
        judge_free(server->t);
        judge_free(banks->t);
        free(server);
        free(banks);
    }
}

/* -- vectors -------------------------------------------------------------------------------- */

/* The expected file says when each row ends: "id,end_ns". */
static void assert_vector(const char *rows_path)
{
    char base[96], path[128], line[128];
    struct judge_topo *t;
    struct judge_row *rows;
    struct judge_result *results;
    uint64_t fingerprint;
    size_t n;
    FILE *expected;

    snprintf(base, sizeof base, "%.*s", (int)strlen(rows_path) - 4, rows_path);
    snprintf(path, sizeof path, "%s.yaml", base);
    t = judge_load(path);
    assert_non_null(t);
    assert_true(judge_read_rows(t, rows_path, &rows, &n));
    results = calloc(n, sizeof *results);
    assert_non_null(results);
    assert_true(judge_replay(t, rows, n, results, &fingerprint));
    snprintf(path, sizeof path, "%s.expected.csv", base);
    expected = fopen(path, "r");
    assert_non_null(expected);
    assert_non_null(fgets(line, sizeof line, expected));
    for (size_t i = 0; i < n; i++) {
        char *at;

        assert_non_null(fgets(line, sizeof line, expected));
        assert_int_equal(strtoull(line, &at, 10), i);
        assert_int_equal(strtoll(at + 1, &at, 10) * NS + strtoll(at + 1, NULL, 10),
                         results[i].end_fs);
    }
    fclose(expected);
    free(rows);
    free(results);
    judge_free(t);
}

/* tests/vectors2/README.md */
static void vectors_end_when_they_should(void **state)
{
    glob_t found;
    size_t n = 0;

    (void)state;
    assert_int_equal(glob(VECTORS "/banks*.csv", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], ".expected.csv"))
            continue;
        assert_vector(found.gl_pathv[i]);
        n++;
    }
    globfree(&found);
    assert_int_equal(n, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_misses_and_a_conflict),
        cmocka_unit_test(the_fifth_activation_waits_for_the_first),
        cmocka_unit_test(a_refresh_closes_all_rows),
        cmocka_unit_test(a_later_bank_does_not_pass_a_segment_that_is_ready),
        cmocka_unit_test(the_bus_turns_round),
        cmocka_unit_test(channels_share_4_kb_by_the_map),
        cmocka_unit_test(posted_writes_wait_for_room),
        cmocka_unit_test(a_row_that_is_open_goes_first),
        cmocka_unit_test(a_hit_waits_less_than_nothing),
        cmocka_unit_test(a_hash_spreads_rows),
        cmocka_unit_test(without_times_it_is_a_server),
        cmocka_unit_test(vectors_end_when_they_should),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
