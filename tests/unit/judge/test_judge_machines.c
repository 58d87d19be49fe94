/* test_judge_machines.c -- the judge on machines as they are: memories that overlap, rings, planes,
 * missing and broken parts, grids of SIPs; by numbers that were computed without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_1 "kernbench: 1\nname: m\n"
#define MESH_4X2  "sip: {cube_mesh: {w: 4, h: 2}}\n"
#define CUBE8     VERSION_1 MESH_4X2
#define OWN       "cube: {hbm: {hold: own}}\n"
#define FIFO      "contention: {links: fifo}\n"
#define LATE      "cube: {hbm: {hold: own, latency_ns: 38}, pe: {pe_dma: {read_channels: 65536}}}\n"
#define TWO_WAYS                                                                                   \
    "planes: [{name: noc0, dirs: [E, S], order: xy, bw_gbs: 128.0},"                               \
    " {name: noc1, dirs: [N, W], order: yx, bw_gbs: 128.0}]"
#define PLANES VERSION_1 "sip: {cube_mesh: {w: 4, h: 2, wrap: xy}, " TWO_WAYS "}\n"

enum { MOST_ROWS = 1000 };

struct rig {
    struct judge_topo *t;
    struct judge_row rows[MOST_ROWS];
    struct judge_result results[MOST_ROWS];
    size_t n;
};

static struct rig rig_of(const char *yaml)
{
    struct rig r = {.t = judge_load_text(yaml)};

    assert_non_null(r.t);
    return r;
}

static void add(struct rig *r, enum judge_op op, const char *src, const char *dst, uint64_t nbytes)
{
    struct judge_row *row = &r->rows[r->n++];

    assert_true(r->n <= MOST_ROWS);
    *row = (struct judge_row){.op = op, .nbytes = nbytes};
    assert_true(judge_end_parse(r->t, src, &row->src));
    assert_true(judge_end_parse(r->t, dst, &row->dst));
}

static void run(struct rig *r)
{
    uint64_t fingerprint;

    assert_true(judge_replay(r->t, r->rows, r->n, r->results, &fingerprint));
    judge_free(r->t);
}

/* 4096 bytes alone; they take what the formula says. */
static int64_t alone_fs(const char *yaml, enum judge_op op, const char *src, const char *dst)
{
    struct rig *r = malloc(sizeof *r);
    int64_t fs;

    *r = rig_of(yaml);
    add(r, op, src, dst, 4096);
    run(r);
    fs = r->results[0].actual_fs;
    assert_int_equal(fs, r->results[0].formula_fs);
    free(r);
    return fs;
}

static int64_t read_fs(const char *yaml, const char *src, const char *dst)
{
    return alone_fs(yaml, JUDGE_READ, src, dst);
}

static void assert_ends(const char *yaml, const char *const reads[][2], uint64_t nbytes,
                        const int64_t *ends, size_t n)
{
    struct rig *r = malloc(sizeof *r);

    *r = rig_of(yaml);
    for (size_t i = 0; i < n; i++)
        add(r, JUDGE_READ, reads[i][0], reads[i][1], nbytes);
    run(r);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(r->results[i].end_fs, ends[i]);
    free(r);
}

/* -- memories ------------------------------------------------------------------------------- */

static void narrow_readers_overlap(void **state)
{
    static const char *const two[][2] = {{"c0.pe1", "c0.slice0"}, {"c0.pe4", "c0.slice0"}};
    static const int64_t own[] = {36095000, 52095000}, route[] = {36095000, 68095000};

    (void)state;
    assert_ends(CUBE8 OWN, two, 4096, own, 2);
    assert_ends(CUBE8 FIFO OWN, two, 4096, own, 2);
    assert_ends(CUBE8, two, 4096, route, 2);
}

static void where_a_narrow_reader_waits(void **state)
{
    struct rig *r = malloc(sizeof *r);

    (void)state;
    *r = rig_of(CUBE8 OWN);
    add(r, JUDGE_READ, "c0.pe1", "c0.slice0", 4096);
    add(r, JUDGE_READ, "c0.pe4", "c0.slice0", 4096);
    run(r);
    assert_int_equal(r->results[1].arrive_fs, 5145000);
    assert_int_equal(r->results[1].service_fs, 20095000);
    *r = rig_of(CUBE8 FIFO OWN);
    add(r, JUDGE_READ, "c0.pe1", "c0.slice0", 4096);
    add(r, JUDGE_READ, "c0.pe4", "c0.slice0", 4096);
    run(r);
    assert_int_equal(r->results[1].arrive_fs, 20095000);
    assert_int_equal(r->results[1].queue_link_fs, 14950000);
    free(r);
}

static void eight_readers_of_one_slice(void **state)
{
    static const char *const all[][2] = {
        {"c0.pe0", "c0.slice0"}, {"c0.pe1", "c0.slice0"}, {"c0.pe2", "c0.slice0"},
        {"c0.pe3", "c0.slice0"}, {"c0.pe4", "c0.slice0"}, {"c0.pe5", "c0.slice0"},
        {"c0.pe6", "c0.slice0"}, {"c0.pe7", "c0.slice0"},
    };
    static const int64_t ends[] = {66085000,  194085000, 322085000, 450085000,
                                   258085000, 386085000, 514085000, 578085000};

    (void)state;
    assert_ends(CUBE8 FIFO OWN, all, 16384, ends, 8);
    assert_ends(CUBE8 OWN, all, 16384, ends, 8);
}

static void latency_is_not_held(void **state)
{
    struct rig *r = malloc(sizeof *r);
    int64_t last = 0;

    (void)state;
    assert_int_equal(read_fs(CUBE8 LATE, "c0.pe0", "c0.slice0"), 56085000);
    *r = rig_of(CUBE8 LATE);
    for (size_t i = 0; i < MOST_ROWS; i++)
        add(r, JUDGE_READ, "c0.pe0", "c0.slice0", 64);
    run(r);
    for (size_t i = 0; i < MOST_ROWS; i++)
        last = r->results[i].end_fs > last ? r->results[i].end_fs : last;
    assert_int_equal(last, 290085000);
    free(r);
}

static void version_2_has_other_defaults(void **state)
{
    struct judge_topo *t = judge_load_text("kernbench: 2\nname: m\n" MESH_4X2);

    (void)state;
    assert_string_equal(judge_text(t, "contention.links"), "fifo");
    assert_string_equal(judge_text(t, "cube.hbm.hold"), "own");
    assert_string_equal(judge_text(t, "cube.sram.hold"), "own");
    judge_free(t);
    t = judge_load_text("kernbench: 2\nname: m\n" MESH_4X2 "contention: {links: ideal}\n");
    assert_string_equal(judge_text(t, "contention.links"), "ideal");
    judge_free(t);
}

static void a_faster_sram_keeps_the_edge_of_the_noc(void **state)
{
    const char *yaml = CUBE8 "cube: {sram: {hold: own, bw_gbs: 512}}\n";
    static const char *const two[][2] = {{"c0.pe0", "c0.sram"}, {"c0.pe1", "c0.sram"}};
    struct rig *r = malloc(sizeof *r);

    (void)state;
    assert_int_equal(read_fs(yaml, "c0.pe0", "c0.sram"), read_fs(CUBE8, "c0.pe0", "c0.sram"));
    *r = rig_of(yaml);
    for (size_t i = 0; i < 2; i++)
        add(r, JUDGE_READ, two[i][0], two[i][1], 4096);
    run(r);
    /* held for 4096 B at 512 GB/s, 8 ns, instead of 32 */
    assert_int_equal(llabs(r->results[1].service_fs - r->results[0].service_fs), 8000000);
    free(r);
    assert_int_equal(read_fs(CUBE8 "cube: {sram: {bw_gbs: 64}}\n", "c0.pe0", "c0.sram") -
                         read_fs(CUBE8, "c0.pe0", "c0.sram"),
                     32000000);
}

/* -- rings and broken links ----------------------------------------------------------------- */

static void a_ring_goes_the_shorter_way(void **state)
{
    const char *ring = VERSION_1 "sip: {cube_mesh: {w: 4, h: 2, wrap: x}}\n";

    (void)state;
    assert_int_equal(read_fs(ring, "c0.pe0", "c3.slice0"), 36315000);
    assert_int_equal(alone_fs(ring, JUDGE_H2D, "host", "c3.slice0"), 60602500);
}

static void broken_links_are_gone_round(void **state)
{
    (void)state;
    assert_int_equal(read_fs(CUBE8 "broken: [c1-c2]\n", "c0.pe0", "c3.slice0"), 45027500);
    assert_int_equal(read_fs(CUBE8 "broken: [c0-c4]\n", "c0.pe0", "c4.slice0"), 40727500);
    /* only the other direction, or the port of a cube on the way */
    assert_int_equal(read_fs(CUBE8, "c0.pe0", "c3.slice0"),
                     alone_fs(CUBE8 "broken: [c2>c1]\n", JUDGE_WRITE, "c0.pe0", "c3.slice0"));
    assert_int_equal(
        alone_fs(CUBE8 "broken: [c1.noc>c1.ucie-E]\n", JUDGE_WRITE, "c0.pe0", "c3.slice0"),
        45027500);
}

static void no_way_is_no_route(void **state)
{
    struct judge_topo *t = judge_load_text(CUBE8 "broken: [c3-c2, c3-c7]\n");
    struct judge_end src, dst;
    struct judge_route r = {0};

    (void)state;
    assert_true(judge_end_parse(t, "c0.pe0", &src));
    assert_true(judge_end_parse(t, "c3.slice0", &dst));
    assert_false(judge_route(t, JUDGE_READ, &src, &dst, &r));
    assert_true(judge_end_parse(t, "c3.pe0", &src));
    assert_true(judge_route(t, JUDGE_READ, &src, &dst, &r));
    judge_route_clear(&r);
    judge_free(t);
}

/* -- planes --------------------------------------------------------------------------------- */

static void a_one_way_plane_carries_data_its_way(void **state)
{
    static const char *const two[][2] = {{"c0.pe0", "c1.slice0"}, {"c0.pe1", "c1.slice1"}};
    static const int64_t ends[] = {68277500, 36315000};

    (void)state;
    assert_int_equal(read_fs(PLANES, "c0.pe0", "c3.slice0"), 40655000);
    assert_int_equal(read_fs(PLANES, "c3.pe0", "c0.slice0"), 36315000);
    assert_int_equal(alone_fs(PLANES, JUDGE_WRITE, "c3.pe0", "c0.slice0"), 36315000);
    assert_int_equal(read_fs(PLANES, "c0.pe0", "c5.slice0"), 38447500);
    assert_ends(PLANES FIFO, two, 4096, ends, 2);
}

/* The way there and the way of the data, together once around the ring: 12.97 without the drain. */
static void with_routers_a_request_goes_its_own_way(void **state)
{
    const char *yaml = PLANES "contention: {links: router, buffer_bytes: 0}\n";

    (void)state;
    assert_int_equal(read_fs(yaml, "c0.pe0", "c3.slice0"), 44970000);
    assert_int_equal(read_fs(yaml, "c0.pe0", "c1.slice0"), 44970000);
    assert_int_equal(alone_fs(yaml, JUDGE_D2H, "host", "c1.slice0"), 82092500);
    assert_int_equal(alone_fs(yaml, JUDGE_WRITE, "c3.pe0", "c0.slice0"), 36315000);
}

static void grids_of_sips(void **state)
{
    const char *grid = CUBE8 "sips: 3\nfabric: {shape: grid, grid: {w: 3, h: 1}}\n";
    const char *ring = CUBE8 "sips: 3\nfabric: {shape: grid, grid: {w: 3, h: 1}, wrap: x}\n";

    (void)state;
    assert_int_equal(read_fs(grid, "c0.pe0", "s1.c0.slice0"), 84252500);
    assert_int_equal(read_fs(grid, "c0.pe0", "s2.c0.slice0"), 95252500);
    assert_int_equal(read_fs(ring, "c0.pe0", "s2.c0.slice0"), 84252500);
}

/* -- counts and points ---------------------------------------------------------------------- */

static void assert_counts(const char *yaml, size_t nodes, size_t edges)
{
    struct judge_topo *t = judge_load_text(yaml);

    assert_non_null(t);
    assert_int_equal(t->n_nodes, nodes);
    assert_int_equal(t->n_edges, edges);
    judge_free(t);
}

static void parts_are_as_many_as_they_should(void **state)
{
#define ONE VERSION_1 "sip: {cube_mesh: {w: 1, h: 1}}\n"
    (void)state;
    assert_counts(ONE "cube: {pes: 3}\n", 39, 70);
    assert_counts(ONE "cube: {pes: 0, hbm: {slices: 4}}\n", 20, 38);
    assert_counts(ONE "cube: {pes: 8, hbm: {slices: 16}}\n", 92, 158);
    assert_counts(ONE "cube: {pes: 8, hbm: {slices: 4}}\n", 80, 146);
    assert_counts(VERSION_1 "sip: {cube_mesh: {w: 4, h: 2, wrap: x}}\n", 651, 1184);
    assert_counts(VERSION_1 "sip: {cube_mesh: {w: 4, h: 2}, planes: [{name: a}, {name: b}]}\n", 691,
                  1620);
    assert_counts(VERSION_1 "sip: {cube_mesh: {w: 4, h: 2}, " TWO_WAYS "}\n", 691, 1600);
    assert_counts("kernbench: 2\nname: wormhole\nns_per_mm: 0.0\n"
                  "sip: {cube_mesh: {w: 10, h: 12, wrap: xy}, plane: column, " TWO_WAYS "}\n"
                  "cube: {pes: 1, hbm: {size_gb: 64}}\n",
                  2523, 5692);
}

static void assert_points(const char *yaml, const double points[][2], uint32_t n)
{
    struct judge_topo *t = judge_load_text(yaml);

    for (uint32_t i = 0; i < n; i++) {
        char name[JUDGE_NAME_BYTES];
        size_t node;

        snprintf(name, sizeof name, "sip0.cube0.xbar.pe%u", i);
        node = judge_find_node(t, name);
        assert_true(node != SIZE_MAX);
        assert_true(t->nodes[node].x_mm == points[i][0] && t->nodes[node].y_mm == points[i][1]);
    }
    judge_free(t);
}

static void odd_numbers_of_pes_have_their_points(void **state)
{
    static const double three[][2] = {{3.75, 0}, {11.25, 0}, {3.75, 11}};
    static const double five[][2] = {{2.5, 0}, {7.5, 0}, {12.5, 0}, {2.5, 11}, {7.5, 11}};

    (void)state;
    assert_points(ONE "cube: {pes: 3}\n", three, 3);
    assert_points(ONE "cube: {pes: 5}\n", five, 5);
}

static void what_is_missing_is_no_endpoint(void **state)
{
    struct judge_topo *t = judge_load_text(
        CUBE8 "missing: [c3, 'c1.pe[4-7]']\ncubes: {c2: {pes: 4, hbm: {bw_gbs: 128.0}}}\n");
    struct judge_end e;

    (void)state;
    assert_false(judge_end_parse(t, "c3.slice0", &e));
    assert_false(judge_end_parse(t, "c1.pe4", &e));
    assert_true(judge_end_parse(t, "c1.pe3", &e));
    assert_true(judge_end_parse(t, "c1.slice4", &e));
    assert_true(judge_end_parse(t, "c2.pe3", &e));
    assert_false(judge_end_parse(t, "c2.pe4", &e));
    assert_int_equal(t->n_pes, 8 * 8 - 8 - 4 - 4);
    judge_free(t);
}

/* -- addresses ------------------------------------------------------------------------------ */

static void granules_go_round_the_slices(void **state)
{
    struct judge_topo *t = judge_load_text(CUBE8 "addressing: {granule: 1024}\n");
    struct judge_piece *pieces;
    size_t n = judge_split(t, UINT64_C(1) << 38 | (7 * 1024 + 512), 2048, &pieces);

    (void)state;
    assert_int_equal(n, 3);
    assert_int_equal(pieces[0].memory.cube, 1);
    assert_int_equal(pieces[0].memory.unit, 7);
    assert_int_equal(pieces[0].offset, 512);
    assert_int_equal(pieces[0].nbytes, 512);
    assert_int_equal(pieces[1].memory.unit, 0);
    assert_int_equal(pieces[1].offset, 1024);
    assert_int_equal(pieces[1].nbytes, 1024);
    assert_int_equal(pieces[2].memory.unit, 1);
    assert_int_equal(pieces[2].nbytes, 512);
    free(pieces);
    judge_free(t);
}

static void over_sip_goes_on_in_the_next_cube(void **state)
{
    struct judge_topo *t =
        judge_load_text(CUBE8 "missing: [c1]\naddressing: {granule: 4096, over: sip}\n");
    struct judge_piece *pieces;
    size_t n = judge_split(t, 7 * 4096, 3 * 4096, &pieces);

    (void)state;
    assert_int_equal(n, 3);
    assert_int_equal(pieces[0].memory.cube, 0);
    assert_int_equal(pieces[0].memory.unit, 7);
    assert_int_equal(pieces[1].memory.cube, 2); /* c1 is missing */
    assert_int_equal(pieces[1].memory.unit, 0);
    assert_int_equal(pieces[1].offset, 0);
    assert_int_equal(pieces[2].memory.unit, 1);
    free(pieces);
    judge_free(t);
}

static void a_hash_joins_neighbours_of_one_slice(void **state)
{
    struct judge_topo *t =
        judge_load_text(ONE "cube: {pes: 2}\naddressing: {granule: 64, hash: xor}\n");
    struct judge_piece *pieces;
    size_t n = judge_split(t, 0, 256, &pieces);

    (void)state;
    assert_int_equal(n, 3); /* slices 0, 1 1, 0 */
    assert_int_equal(pieces[1].memory.unit, 1);
    assert_int_equal(pieces[1].nbytes, 128);
    assert_int_equal(pieces[2].memory.unit, 0);
    assert_int_equal(pieces[2].offset, 64);
    free(pieces);
    judge_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_readers_overlap),
        cmocka_unit_test(where_a_narrow_reader_waits),
        cmocka_unit_test(eight_readers_of_one_slice),
        cmocka_unit_test(latency_is_not_held),
        cmocka_unit_test(version_2_has_other_defaults),
        cmocka_unit_test(a_faster_sram_keeps_the_edge_of_the_noc),
        cmocka_unit_test(a_ring_goes_the_shorter_way),
        cmocka_unit_test(broken_links_are_gone_round),
        cmocka_unit_test(no_way_is_no_route),
        cmocka_unit_test(a_one_way_plane_carries_data_its_way),
        cmocka_unit_test(with_routers_a_request_goes_its_own_way),
        cmocka_unit_test(grids_of_sips),
        cmocka_unit_test(parts_are_as_many_as_they_should),
        cmocka_unit_test(odd_numbers_of_pes_have_their_points),
        cmocka_unit_test(what_is_missing_is_no_endpoint),
        cmocka_unit_test(granules_go_round_the_slices),
        cmocka_unit_test(over_sip_goes_on_in_the_next_cube),
        cmocka_unit_test(a_hash_joins_neighbours_of_one_slice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
