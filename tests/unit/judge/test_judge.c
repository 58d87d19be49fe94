/* test_judge.c -- the judge is judged first: by the numbers of the design, and the vectors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/judge.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VECTORS "tests/vectors" /* from the root of the repository */

#define CUBE1    "kernbench: 1\nname: cube1\nsip: {cube_mesh: {w: 1, h: 1}}\n"
#define CUBE8    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"
#define CUBE16   "kernbench: 1\nname: cube16\nsip: {cube_mesh: {w: 4, h: 4}}\n"
#define TRAY32   "kernbench: 1\nname: tray32\nsips: 2\nsip: {cube_mesh: {w: 4, h: 4}}\n"
#define MESH1024 "kernbench: 1\nname: mesh1024\nsip: {cube_mesh: {w: 32, h: 32}}\n"
#define FIFO     "contention: {links: fifo}\n"

enum { MOST_ROWS = 4 };

/* A topology, and a few rows to run on it. */
struct rig {
    struct judge_topo *t;
    struct judge_row rows[MOST_ROWS];
    struct judge_result results[MOST_ROWS];
    size_t n;
    uint64_t fingerprint;
};

static struct judge_end end_of(const struct judge_topo *t, const char *name)
{
    struct judge_end e;

    assert_true(judge_end_parse(t, name, &e));
    return e;
}

static void issue(struct rig *r, int64_t issue_fs, enum judge_op op, const char *src,
                  const char *dst, uint64_t nbytes)
{
    struct judge_row *row = &r->rows[r->n++];

    assert_true(r->n <= MOST_ROWS);
    *row = (struct judge_row){.issue_fs = issue_fs, .op = op, .nbytes = nbytes};
    row->src = end_of(r->t, src);
    row->dst = end_of(r->t, dst);
}

static void run(struct rig *r)
{
    assert_true(judge_replay(r->t, r->rows, r->n, r->results, &r->fingerprint));
}

/* How long one transaction takes that is alone on `yaml`. */
static int64_t alone_fs(const char *yaml, enum judge_op op, const char *src, const char *dst,
                        uint64_t nbytes)
{
    struct rig r = {.t = judge_load_text(yaml)};

    issue(&r, 0, op, src, dst, nbytes);
    run(&r);
    judge_free(r.t);
    assert_int_equal(r.results[0].actual_fs, r.results[0].formula_fs);
    return r.results[0].actual_fs;
}

static struct judge_route route_of(const struct judge_topo *t, enum judge_op op, const char *src,
                                   const char *dst)
{
    struct judge_end from = end_of(t, src), to = end_of(t, dst);
    struct judge_route r = {0};

    assert_true(judge_route(t, op, &from, &to, &r));
    return r;
}

static bool has_route(const struct judge_topo *t, enum judge_op op, const char *src,
                      const char *dst)
{
    struct judge_end from = end_of(t, src), to = end_of(t, dst);
    struct judge_route r = {0};
    bool has = judge_route(t, op, &from, &to, &r);

    judge_route_clear(&r);
    return has;
}

/* -- the graph ------------------------------------------------------------------------------ */

static void assert_counts(const char *yaml, size_t nodes, size_t edges)
{
    struct judge_topo *t = judge_load_text(yaml);

    assert_non_null(t);
    assert_int_equal(t->n_nodes, nodes);
    assert_int_equal(t->n_edges, edges);
    judge_free(t);
}

/* Nodes and edges with 8 PEs, counted by hand. */
static void shipped_topologies_have_the_counts_computed_by_hand(void **state)
{
    (void)state;
    assert_counts(CUBE1, 84, 150);
    assert_counts(CUBE8, 651, 1180);
    assert_counts(CUBE16, 1299, 2364);
    assert_counts(TRAY32, 2599, 4732);
    assert_counts(MESH1024, 82947, 151492);
}

/* Flow and block style are the same YAML. */
static void block_style_reads_as_flow_style(void **state)
{
    struct judge_topo *t = judge_load_text("kernbench: 1\nname: b\nsip:\n  cube_mesh:\n    w: 4\n"
                                           "    h: 2\ncube:\n  size_mm:\n  - 20.5\n  - 7\n");

    (void)state;
    assert_non_null(t);
    assert_int_equal(t->n_nodes, 651);
    assert_true(judge_number(t, "cube.size_mm.0") == 20.5);
    assert_true(judge_number(t, "cube.size_mm.1") == 7.0);
    judge_free(t);
}

/* docs/formats.md "Endpoints" */
static void endpoints_have_a_canonical_name(void **state)
{
    static const char *const names[][2] = {
        {"c0.pe0", "c0.pe0"},         {"s0.c15.slice7", "c15.slice7"},
        {"s1.c3.sram", "s1.c3.sram"}, {"s1.c2.pe1.tcm", "s1.c2.pe1.tcm"},
        {"s0.host", "host"},          {"s1.host", "s1.host"},
    };
    static const char *const none[] = {"",         "c16.pe0", "c0.pe8",      "s2.host", "c0.pe0.",
                                       "c0.sram1", "c00.pe0", "c0.pe0.tcmx", "c0",      "s1"};
    struct judge_topo *t = judge_load_text(TRAY32);
    char text[JUDGE_NAME_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct judge_end e = end_of(t, names[i][0]);

        judge_end_name(&e, text);
        assert_string_equal(text, names[i][1]);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct judge_end e;

        assert_false(judge_end_parse(t, none[i], &e));
    }
    judge_free(t);
}

/* -- routes --------------------------------------------------------------------------------- */

/* By hand: wire 0.085, overhead 2. */
static void own_slice_costs_a_crossbar(void **state)
{
    struct judge_topo *t = judge_load_text(CUBE8);
    struct judge_route r = route_of(t, JUDGE_READ, "c0.pe0", "c0.slice0");

    (void)state;
    assert_int_equal(r.n, 3);
    assert_string_equal(r.hops[1].name, "sip0.cube0.xbar.pe0");
    assert_int_equal(r.wire_fs, 85000);
    assert_int_equal(r.overhead_fs, 2000000);
    assert_true(r.bottleneck_gbs == 256.0);
    judge_route_clear(&r);
    judge_free(t);
}

/* By hand: wire 0.145, overhead 5, bottleneck 128. */
static void other_half_is_reached_by_the_left_bridge(void **state)
{
    static const char *const way[] = {"sip0.cube0.pe0.pe_dma", "sip0.cube0.xbar.pe0",
                                      "sip0.cube0.bridge.left", "sip0.cube0.xbar.pe4",
                                      "sip0.cube0.hbm_ctrl.slice4"};
    struct judge_topo *t = judge_load_text(CUBE8);
    struct judge_route r = route_of(t, JUDGE_READ, "c0.pe0", "c0.slice4");

    (void)state;
    assert_int_equal(r.n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(r.hops[i].name, way[i]);
    assert_int_equal(r.wire_fs, 145000);
    assert_int_equal(r.overhead_fs, 5000000);
    assert_true(r.bottleneck_gbs == 128.0);
    judge_route_clear(&r);
    judge_free(t);
}

static void assert_bridge(const struct judge_topo *t, const char *src, const char *dst,
                          const char *side)
{
    struct judge_route r = route_of(t, JUDGE_WRITE, src, dst);
    size_t bridges = 0;

    for (size_t i = 0; i < r.n; i++) {
        if (strstr(r.hops[i].name, ".bridge.")) {
            assert_string_equal(strrchr(r.hops[i].name, '.') + 1, side);
            bridges++;
        }
    }
    assert_int_equal(bridges, 1);
    judge_route_clear(&r);
}

/* The bridge with the smaller wire + overhead; of equal ones the left. With 2 PEs: left. */
static void nearer_bridge_is_taken_and_a_tie_goes_left(void **state)
{
    struct judge_topo *t = judge_load_text(CUBE8);

    (void)state;
    assert_bridge(t, "c0.pe3", "c0.slice7", "right");
    assert_bridge(t, "c0.pe1", "c0.slice5", "left");
    assert_bridge(t, "c0.pe0", "c0.slice7", "left"); /* 3 of chain either way */
    assert_bridge(t, "c0.pe1", "c0.slice6", "left");
    assert_bridge(t, "c0.pe6", "c0.slice2", "right");
    judge_free(t);
    t = judge_load_text(CUBE1 "cube: {pes: 2}\n");
    assert_bridge(t, "c0.pe0", "c0.slice1", "left");
    judge_free(t);
}

/* Wire + overhead decides: of equal wires the way through fewer crossbars is the nearer. */
static void nearer_bridge_counts_overheads_too(void **state)
{
    struct judge_topo *t = judge_load_text(CUBE8 "cube: {xbar: {chain_mm: 0.0}}\n");

    (void)state;
    assert_bridge(t, "c0.pe3", "c0.slice7", "right");
    assert_bridge(t, "c0.pe2", "c0.slice6", "right");
    assert_bridge(t, "c0.pe2", "c0.slice5", "left");
    judge_free(t);
    t = judge_load_text(CUBE8 "cube: {xbar: {chain_mm: 0.0, overhead_ns: 0.0}}\n");
    assert_bridge(t, "c0.pe3", "c0.slice7", "left");
    judge_free(t);
}

/* By hand: host -> c0.slice0 has overhead 23. */
static void host_passes_its_overheads_on_the_way(void **state)
{
    struct judge_topo *t = judge_load_text(CUBE8);
    struct judge_route r = route_of(t, JUDGE_H2D, "host", "c0.slice0");

    (void)state;
    assert_int_equal(r.overhead_fs, 23000000);
    assert_int_equal(r.response_fs, 1281250); /* by hand */
    judge_route_clear(&r);
    judge_free(t);
}

/* docs/model.md "Routes": X first, then Y; what is local takes no shortcut. */
static void remote_slice_is_reached_by_x_then_y(void **state)
{
    static const char *const way[] = {"sip0.cube0.pe0.pe_dma", "sip0.cube0.noc",
                                      "sip0.cube0.ucie-E",     "sip0.cube1.ucie-W",
                                      "sip0.cube1.noc",        "sip0.cube1.ucie-S",
                                      "sip0.cube5.ucie-N",     "sip0.cube5.noc",
                                      "sip0.cube5.xbar.pe3",   "sip0.cube5.hbm_ctrl.slice3"};
    struct judge_topo *t = judge_load_text(CUBE8);
    struct judge_route r = route_of(t, JUDGE_READ, "c0.pe0", "c5.slice3");

    (void)state;
    assert_int_equal(r.n, 10);
    for (size_t i = 0; i < r.n; i++)
        assert_string_equal(r.hops[i].name, way[i]);
    assert_int_equal(r.hops[4].wire_fs, 5000 + 75000 + 55000); /* W to S of a 15 x 11 cube */
    judge_route_clear(&r);
    judge_free(t);
}

/* docs/model.md "Routes": to column 0 of the source's row, on from column 0 of the target's row. */
static void other_sip_is_reached_through_both_shores(void **state)
{
    static const char *const way[] = {
        "sip0.cube5.pe0.pe_dma", "sip0.cube5.noc",    "sip0.cube5.ucie-W", "sip0.cube4.ucie-E",
        "sip0.cube4.noc",        "sip0.cube4.ucie-W", "sip0.io0.io_noc",   "sip0.io0.pcie_ep",
        "fabric.switch0",        "sip1.io0.pcie_ep",  "sip1.io0.io_noc",   "sip1.cube8.ucie-W",
        "sip1.cube8.noc",        "sip1.cube8.ucie-E", "sip1.cube9.ucie-W", "sip1.cube9.noc",
        "sip1.cube9.sram"};
    struct judge_topo *t = judge_load_text(TRAY32);
    struct judge_route r = route_of(t, JUDGE_WRITE, "c5.pe0", "s1.c9.sram");

    (void)state;
    assert_int_equal(r.n, sizeof way / sizeof way[0]);
    for (size_t i = 0; i < r.n; i++)
        assert_string_equal(r.hops[i].name, way[i]);
    judge_route_clear(&r);
    judge_free(t);
}

/* docs/model.md "Routes": the TCM of another PE: by its DMA, with the port of the direction. */
static void tcm_is_reached_by_the_dma_of_its_pe(void **state)
{
    struct judge_topo *t =
        judge_load_text(CUBE8 "cube: {pe: {pe_tcm: {read_gbs: 3.0, write_gbs: 5.0}}}\n");
    struct judge_route w = route_of(t, JUDGE_WRITE, "c0.pe0", "c0.pe7.tcm");
    struct judge_route r = route_of(t, JUDGE_READ, "c0.pe0", "c0.pe7.tcm");

    (void)state;
    assert_int_equal(w.n, 4);
    assert_string_equal(w.hops[2].name, "sip0.cube0.pe7.pe_dma");
    assert_string_equal(w.hops[3].name, "sip0.cube0.pe7.pe_tcm");
    assert_true(w.bottleneck_gbs == 5.0);
    assert_true(r.bottleneck_gbs == 3.0);
    judge_route_clear(&w);
    judge_route_clear(&r);
    judge_free(t);
}

/* There are no routes from a host to an SRAM or from a PE to a host; host and slice are of one SIP.
 */
static void some_routes_do_not_exist(void **state)
{
    struct judge_topo *t = judge_load_text(TRAY32);

    (void)state;
    assert_false(has_route(t, JUDGE_H2D, "host", "c0.sram"));
    assert_false(has_route(t, JUDGE_H2D, "host", "s1.c0.slice0"));
    assert_false(has_route(t, JUDGE_WRITE, "c0.pe0", "host"));
    assert_false(has_route(t, JUDGE_WRITE, "c0.pe0", "c0.pe1"));
    assert_false(has_route(t, JUDGE_WRITE, "c0.pe0", "c0.pe0.tcm"));
    assert_false(has_route(t, JUDGE_READ, "host", "c0.slice0"));
    assert_false(has_route(t, JUDGE_D2H, "c0.pe0", "c0.slice0"));
    assert_true(has_route(t, JUDGE_D2H, "s1.host", "s1.c0.slice0"));
    judge_free(t);
}

/* -- times ---------------------------------------------------------------------------------- */

/* 4096 bytes on cube8, computed by hand: docs/model.md "The costs of a route". */
static void lone_transactions_take_the_times_computed_by_hand(void **state)
{
    (void)state;
    assert_int_equal(alone_fs(CUBE8, JUDGE_READ, "c0.pe0", "c0.slice0", 4096), 18085000);
    assert_int_equal(alone_fs(CUBE8, JUDGE_READ, "c0.pe0", "c0.slice4", 4096), 37145000);
    assert_int_equal(alone_fs(CUBE8, JUDGE_READ, "c0.pe1", "c0.slice0", 4096), 36095000);
    assert_int_equal(alone_fs(CUBE8, JUDGE_READ, "c0.pe0", "c0.sram", 4096), 32103750);
    assert_int_equal(alone_fs(CUBE8, JUDGE_H2D, "host", "c0.slice0", 4096), 56562500);
    assert_int_equal(alone_fs(CUBE8, JUDGE_D2H, "host", "c0.slice0", 4096), 56562500);
    assert_int_equal(alone_fs(TRAY32, JUDGE_READ, "c0.pe0", "s1.c0.slice0", 4096), 85252500);
}

/* Without contention, fifo links change nothing. */
static void links_in_fifo_mode_cost_nothing_without_contention(void **state)
{
    (void)state;
    assert_int_equal(alone_fs(FIFO CUBE8, JUDGE_READ, "c0.pe0", "c0.slice0", 4096), 18085000);
    assert_int_equal(alone_fs(FIFO CUBE8, JUDGE_WRITE, "c0.pe0", "c0.slice4", 4096), 37145000);
    assert_int_equal(alone_fs(FIFO CUBE8, JUDGE_D2H, "host", "c0.slice0", 4096), 56562500);
    assert_int_equal(alone_fs(FIFO TRAY32, JUDGE_READ, "c0.pe0", "s1.c0.slice0", 4096), 85252500);
}

/* By hand: best c4.slice1 36.240 and worst c7.slice4 42.8975, ties to the lowest cube and slice */
static void best_and_worst_remote_slices_are_those_computed_by_hand(void **state)
{
    int64_t best = INT64_MAX, worst = 0;
    char name[JUDGE_NAME_BYTES], best_name[JUDGE_NAME_BYTES], worst_name[JUDGE_NAME_BYTES];

    (void)state;
    for (unsigned c = 1; c < 8; c++) {
        for (unsigned slice = 0; slice < 8; slice++) {
            int64_t fs;

            snprintf(name, sizeof name, "c%u.slice%u", c, slice);
            fs = alone_fs(CUBE8, JUDGE_READ, "c0.pe0", name, 4096);
            if (fs < best) {
                best = fs;
                strcpy(best_name, name);
            }
            if (fs > worst) {
                worst = fs;
                strcpy(worst_name, name);
            }
        }
    }
    assert_string_equal(best_name, "c4.slice1");
    assert_int_equal(best, 36240000);
    assert_string_equal(worst_name, "c7.slice4");
    assert_int_equal(worst, 42897500);
}

/* docs/model.md "two reads of one slice": pe1 -> slice0 takes 36.095 alone, 50.085 beside pe0 ->
 * slice0. */
static void second_read_waits_for_the_first(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_READ, "c0.pe1", "c0.slice0", 4096);
    run(&r);
    assert_int_equal(r.results[0].actual_fs, 18085000);
    assert_int_equal(r.results[1].arrive_fs, 4095000);
    assert_int_equal(r.results[1].service_fs, 18085000);
    assert_int_equal(r.results[1].actual_fs, 50085000);
    judge_free(r.t);
}

/* docs/model.md "a short one behind a long one": 64 B that arrive 5 ns after a drain of 4 KiB
 * began. */
static void short_write_waits_for_the_whole_drain_ahead(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 5000000, JUDGE_WRITE, "c0.pe0", "c0.slice0", 64);
    run(&r);
    assert_int_equal(r.results[1].arrive_fs - r.results[0].service_fs, 5000000);
    assert_int_equal(r.results[1].queue_memory_fs, 11000000);
    assert_int_equal(r.results[1].drain_fs, 250000);
    judge_free(r.t);
}

/* docs/model.md "one channel": it is held until done, not released at issue. */
static void channel_is_free_at_done(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice1", 4096);
    issue(&r, 0, JUDGE_WRITE, "c0.pe0", "c0.slice2", 4096);
    run(&r);
    assert_int_equal(r.results[1].start_fs, r.results[0].done_fs);
    assert_int_equal(r.results[1].queue_channel_fs, 18085000);
    assert_int_equal(r.results[2].start_fs, 0); /* a channel of its own kind */
    judge_free(r.t);
}

/* The engine of the direction, after m_cpu's overhead, is held until done. */
static void host_waits_for_the_engine_of_its_direction(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_H2D, "host", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_H2D, "host", "c0.slice1", 4096);
    issue(&r, 0, JUDGE_D2H, "host", "c0.slice2", 4096);
    run(&r);
    assert_int_equal(r.results[1].start_fs, 0);
    assert_true(r.results[1].queue_engine_fs > 0);
    assert_int_equal(r.results[1].queue_memory_fs, 0);
    assert_int_equal(r.results[2].queue_engine_fs, 0);
    judge_free(r.t);
}

/* Each slice of a cube is a memory controller of its own. */
static void slices_of_a_cube_serve_at_the_same_time(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_READ, "c0.pe1", "c0.slice1", 4096);
    run(&r);
    assert_int_equal(r.results[0].done_fs, 18085000);
    assert_int_equal(r.results[1].done_fs, 18085000);
    judge_free(r.t);
}

/* docs/model.md "one shared link" */
static void writes_on_one_chain_wait_for_its_links(void **state)
{
    struct rig r = {.t = judge_load_text(FIFO CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_WRITE, "c0.pe0", "c0.slice2", 4096);
    issue(&r, 0, JUDGE_WRITE, "c0.pe1", "c0.slice3", 4096);
    run(&r);
    assert_int_equal(r.results[0].actual_fs, 68095000);
    assert_int_equal(r.results[0].queue_link_fs, 29990000);
    assert_int_equal(r.results[1].actual_fs, 38105000);
    judge_free(r.t);
}

/* A read takes the other direction of each edge: a link is two stations. */
static void reads_and_writes_of_one_way_do_not_meet(void **state)
{
    struct rig r = {.t = judge_load_text(FIFO CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_WRITE, "c0.pe0", "c1.slice0", 65536);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c1.slice1", 65536);
    run(&r);
    assert_int_equal(r.results[0].queue_link_fs, 0);
    assert_int_equal(r.results[1].queue_link_fs, 0);
    judge_free(r.t);
}

/* ... and so it meets a write that comes the other way. */
static void read_meets_the_write_that_comes_towards_it(void **state)
{
    struct rig r = {.t = judge_load_text(FIFO CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_WRITE, "c1.pe0", "c0.slice0", 65536);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c1.slice1", 65536);
    run(&r);
    assert_true(r.results[0].queue_link_fs + r.results[1].queue_link_fs > 0);
    judge_free(r.t);
}

/* docs/model.md "Links": crossbar to memory exists one way only: its return station is not the
 * edge. */
static void return_of_a_one_way_edge_is_a_station_of_its_own(void **state)
{
    struct rig r = {.t = judge_load_text(FIFO CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_WRITE, "c0.pe0", "c0.slice0", 4096);
    run(&r);
    assert_int_equal(r.results[1].queue_link_fs, 0);
    assert_int_equal(r.results[1].queue_memory_fs, 16000000);
    judge_free(r.t);
}

/* A tie is decided by the id, not by the order of the file. */
static void equal_arrivals_are_served_by_id(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 10000000, JUDGE_WRITE, "c0.pe0", "c0.slice0", 64);
    issue(&r, 10000000, JUDGE_READ, "c0.pe0", "c0.slice0", 64);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 64);
    run(&r);
    assert_int_equal(r.results[0].arrive_fs, r.results[1].arrive_fs);
    assert_int_equal(r.results[0].queue_memory_fs, 0);
    assert_int_equal(r.results[1].queue_memory_fs, 250000);
    assert_int_equal(r.results[2].queue_memory_fs, 0);
    judge_free(r.t);
}

/*
 * docs/model.md "Order of events": "a station serves in event order: that is (arrival, id), unless
 * a zero-delay route creates an arrival at the very instant in work". At 0.25 ns row 1 ends and
 * hands its channel to row 2, which reaches the memory before row 0 is even issued.
 */
static void arrival_out_of_a_completion_comes_before_an_issue(void **state)
{
    struct rig r = {
        .t = judge_load_text(CUBE8 "ns_per_mm: 0.0\ncube: {xbar: {overhead_ns: 0.0}}\n")};

    (void)state;
    issue(&r, 250000, JUDGE_READ, "c0.pe1", "c0.slice0", 64);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 64);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 64);
    run(&r);
    assert_int_equal(r.results[1].done_fs, 250000);
    assert_int_equal(r.results[2].arrive_fs, 250000);
    assert_int_equal(r.results[0].arrive_fs, 250000);
    assert_int_equal(r.results[2].queue_memory_fs, 0);
    assert_int_equal(r.results[0].queue_memory_fs, 250000);
    judge_free(r.t);
}

static uint64_t fnv(uint64_t hash, int64_t fs, unsigned char class, uint64_t id)
{
    unsigned char record[17];

    memcpy(record, &fs, 8);
    record[8] = class;
    memcpy(record + 9, &id, 8);
    for (size_t i = 0; i < sizeof record; i++)
        hash = (hash ^ record[i]) * UINT64_C(1099511628211);
    return hash;
}

/* docs/model.md "Order of events": class 2 at the channel and the memory, class 0 at done; FNV-1a
 * 64, little endian */
static void fingerprint_is_that_of_its_records(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};
    uint64_t hash = UINT64_C(14695981039346656037);

    (void)state;
    issue(&r, 7, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    run(&r);
    hash = fnv(hash, 7, 2, 0);
    hash = fnv(hash, 7 + 2085000, 2, 0);
    hash = fnv(hash, 7 + 18085000, 0, 0);
    assert_true(r.fingerprint == hash);
    judge_free(r.t);
}

/* A time past 2^63 fs ends a run. */
static void time_past_its_range_is_refused(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, INT64_MAX - 1000, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    assert_false(judge_replay(r.t, r.rows, r.n, r.results, &r.fingerprint));
    judge_free(r.t);
}

/* -- files ---------------------------------------------------------------------------------- */

static char *contents(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;

    assert_non_null(in);
    if (getdelim(&text, &room, 0, in) < 0)
        fail_msg("%s is empty", path);
    fclose(in);
    return text;
}

/* Runs a file's rows; what `replay` would print, fingerprint and all, to be freed. */
static char *replayed(const char *topo, const char *csv, char fingerprint[64])
{
    struct judge_topo *t = judge_load(topo);
    struct judge_row *rows;
    struct judge_result *results;
    uint64_t hash;
    char *text;
    size_t n, len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(t);
    assert_true(judge_read_rows(t, csv, &rows, &n));
    results = calloc(n + 1, sizeof *results);
    assert_true(judge_replay(t, rows, n, results, &hash));
    judge_print_results(out, t, rows, results, n);
    fclose(out);
    snprintf(fingerprint, 64, "fingerprint %016" PRIx64 "\n", hash);
    free(rows);
    free(results);
    judge_free(t);
    return text;
}

static void assert_vector(const char *csv)
{
    size_t stem = strlen(csv) - strlen(".csv");
    char path[512], fingerprint[64];
    char *got, *expected;

    snprintf(path, sizeof path, "%.*s.yaml", (int)(strrchr(csv, '_') - csv), csv);
    got = replayed(path, csv, fingerprint);
    snprintf(path, sizeof path, "%.*s.expected.csv", (int)stem, csv);
    expected = contents(path);
    assert_string_equal(got, expected);
    free(expected);
    snprintf(path, sizeof path, "%.*s.fingerprint", (int)stem, csv);
    expected = contents(path);
    assert_string_equal(fingerprint, expected);
    free(expected);
    free(got);
}

/* 4096 B alone: c0.pe0 -> c0.slice0 18.085 ns, from the host 56.5625, its response included. */
static void rows_wait_for_the_last_end_and_think(void **state)
{
    struct rig r = {.t = judge_load_text(CUBE8)};

    (void)state;
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_D2H, "host", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    issue(&r, 0, JUDGE_READ, "c0.pe0", "c0.slice0", 4096);
    r.rows[2] = (struct judge_row){.op = JUDGE_READ,
                                   .src = r.rows[2].src,
                                   .dst = r.rows[2].dst,
                                   .nbytes = 4096,
                                   .after = {3, 3},
                                   .n_after = 2,
                                   .think_fs = 1000000};
    r.rows[3].after[0] = 1;
    r.rows[3].after[1] = 0;
    r.rows[3].n_after = 2;
    run(&r);
    assert_true(r.results[3].issue_fs == 56562500);
    assert_true(r.results[3].actual_fs == 18085000);
    assert_true(r.results[2].issue_fs == 56562500 + 18085000 + 1000000);
    r.rows[0].after[0] = 2;
    r.rows[0].n_after = 1;
    assert_false(judge_replay(r.t, r.rows, r.n, r.results, &r.fingerprint)); /* 0, 2, 3, 0 */
    judge_free(r.t);
}

/* tests/vectors/README.md */
static void vectors_come_out_byte_for_byte(void **state)
{
    glob_t found;
    size_t n = 0;

    (void)state;
    assert_int_equal(glob(VECTORS "/*.csv", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], ".expected.csv"))
            continue;
        assert_vector(found.gl_pathv[i]);
        n++;
    }
    globfree(&found);
    assert_true(n >= 36);
}

/* A random topology. */
static struct judge_topo *random_topo(uint64_t seed)
{
    char *yaml;
    size_t len;
    FILE *out = open_memstream(&yaml, &len);
    struct judge_topo *t;

    judge_random_topo(out, seed);
    fclose(out);
    t = judge_load_text(yaml);
    assert_non_null(t);
    free(yaml);
    return t;
}

/* Every row of a random file, alone: in both link modes it takes what the formula says. */
static void assert_alone_is_formula(const struct judge_topo *t, const struct judge_row *rows,
                                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct judge_result result;
        uint64_t hash;

        assert_true(judge_replay(t, &rows[i], 1, &result, &hash));
        assert_int_equal(result.actual_fs, result.formula_fs);
    }
}

/* Without contention, the time is that of the formula; and random files are valid ones. */
static void random_rows_alone_take_their_formula(void **state)
{
    char path[] = "/tmp/judge-rows-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");

    (void)state;
    assert_non_null(out);
    for (uint64_t seed = 0; seed < 25; seed++) {
        struct judge_topo *t = random_topo(seed);
        struct judge_row *rows;
        struct judge_result results[50];
        uint64_t hash;
        size_t n;

        rewind(out);
        assert_int_equal(ftruncate(fd, 0), 0);
        judge_random_rows(out, t, seed, 50);
        fflush(out);
        assert_true(judge_read_rows(t, path, &rows, &n));
        assert_int_equal(n, 50);
        assert_true(judge_replay(t, rows, n, results, &hash));
        assert_alone_is_formula(t, rows, n);
        free(rows);
        judge_free(t);
    }
    fclose(out);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_topologies_have_the_counts_computed_by_hand),
        cmocka_unit_test(block_style_reads_as_flow_style),
        cmocka_unit_test(endpoints_have_a_canonical_name),
        cmocka_unit_test(own_slice_costs_a_crossbar),
        cmocka_unit_test(other_half_is_reached_by_the_left_bridge),
        cmocka_unit_test(nearer_bridge_is_taken_and_a_tie_goes_left),
        cmocka_unit_test(nearer_bridge_counts_overheads_too),
        cmocka_unit_test(host_passes_its_overheads_on_the_way),
        cmocka_unit_test(remote_slice_is_reached_by_x_then_y),
        cmocka_unit_test(other_sip_is_reached_through_both_shores),
        cmocka_unit_test(tcm_is_reached_by_the_dma_of_its_pe),
        cmocka_unit_test(some_routes_do_not_exist),
        cmocka_unit_test(lone_transactions_take_the_times_computed_by_hand),
        cmocka_unit_test(links_in_fifo_mode_cost_nothing_without_contention),
        cmocka_unit_test(best_and_worst_remote_slices_are_those_computed_by_hand),
        cmocka_unit_test(second_read_waits_for_the_first),
        cmocka_unit_test(short_write_waits_for_the_whole_drain_ahead),
        cmocka_unit_test(channel_is_free_at_done),
        cmocka_unit_test(host_waits_for_the_engine_of_its_direction),
        cmocka_unit_test(slices_of_a_cube_serve_at_the_same_time),
        cmocka_unit_test(writes_on_one_chain_wait_for_its_links),
        cmocka_unit_test(reads_and_writes_of_one_way_do_not_meet),
        cmocka_unit_test(read_meets_the_write_that_comes_towards_it),
        cmocka_unit_test(return_of_a_one_way_edge_is_a_station_of_its_own),
        cmocka_unit_test(equal_arrivals_are_served_by_id),
        cmocka_unit_test(arrival_out_of_a_completion_comes_before_an_issue),
        cmocka_unit_test(fingerprint_is_that_of_its_records),
        cmocka_unit_test(time_past_its_range_is_refused),
        cmocka_unit_test(rows_wait_for_the_last_end_and_think),
        cmocka_unit_test(vectors_come_out_byte_for_byte),
        cmocka_unit_test(random_rows_alone_take_their_formula),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
