/* test_components.c -- nodes, edges and limits of a topology, as the library tells them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "cube8.h"
#include "support/any_topology.h"
#include "tray32.h"

static const kb_topology *const topologies[] = {&cube8_topology, &tray32_topology};

enum { N_TOPOLOGIES = 2 };

static uint32_t find(const kb_topology *topo, const char *name)
{
    uint32_t node = UINT32_MAX;

    assert_int_equal(kb_node_find(topo, name, strlen(name), &node), KB_OK);
    return node;
}

static void every_node_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < N_TOPOLOGIES; i++) {
        kb_info info;
        kb_node node;

        kb_topology_info(topologies[i], &info);
        for (uint32_t n = 0; n < info.nodes; n++) {
            assert_int_equal(kb_node_get(topologies[i], n, &node), KB_OK);
            assert_int_equal(find(topologies[i], node.name), n);
        }
        assert_int_equal(kb_node_get(topologies[i], info.nodes, &node), KB_BAD_REQUEST);
        assert_int_equal(kb_node_get(topologies[i], UINT32_MAX, &node), KB_BAD_REQUEST);
    }
}

static void no_other_names_are_nodes(void **state)
{
    static const char *const names[] = {
        "",
        "sip0",
        "sip0.",
        "sip0.cube0",
        "sip0.cube0.",
        "sip0.cube0.nocs",
        "sip0.cube0.no",
        "sip0.cube8.noc",
        "sip0.cube00.noc",
        "sip00.cube0.noc",
        "sip1.cube0.noc",
        "sip0.cube.noc",
        "sip0.io1.pcie_ep",
        "sip0.io0.noc",
        "fabric.switch0",
        "sip0.cube4294967296.noc",
        "sip0.cube18446744073709551616.noc",
        "cube0.noc",
        "sip0.cube0.pe0.pe_dma.read",
    };
    uint32_t node;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(kb_node_find(&cube8_topology, names[i], strlen(names[i]), &node),
                         KB_BAD_REQUEST);
    assert_int_equal(kb_node_find(&cube8_topology, "sip0.cube0.noc!", 14, &node), KB_OK);
}

/* docs/formats.md: of the reference topology, a cube of 15 x 11 mm, PE 5 in the lower row. */
static void nodes_say_what_they_are(void **state)
{
    kb_node node;

    (void)state;
    kb_node_get(&cube8_topology, find(&cube8_topology, "sip0.cube7.xbar.pe5"), &node);
    assert_string_equal(node.kind, "xbar");
    assert_int_equal(node.sip, 0);
    assert_int_equal(node.cube, 7);
    assert_int_equal(node.overhead_fs, 2 * KB_FS_PER_NS);
    assert_true(node.placed);
    assert_true(node.x_mm == 1.5 * 15 / 4 && node.y_mm == 11);
    kb_node_get(&cube8_topology, find(&cube8_topology, "sip0.cube0.bridge.left"), &node);
    assert_false(node.placed);
    kb_node_get(&tray32_topology, find(&tray32_topology, "sip1.io0.io_cpu"), &node);
    assert_int_equal(node.sip, 1);
    assert_true(node.cube == KB_NO_CUBE);
    assert_int_equal(node.overhead_fs, 10 * KB_FS_PER_NS);
    kb_node_get(&tray32_topology, find(&tray32_topology, "fabric.switch0"), &node);
    assert_string_equal(node.kind, "switch");
}

/* Edges that were told, and one that is looked for. */
struct seen {
    const kb_topology *topo;
    uint32_t n, nodes, from, to, n_found;
    kb_edge found;
};

static void see(void *arg, const kb_edge *edge)
{
    struct seen *seen = arg;

    seen->n++;
    assert_true(edge->from < seen->nodes && edge->to < seen->nodes && edge->from != edge->to);
    assert_true(edge->gbs > 0 && edge->length_mm >= 0);
    if (edge->from == seen->from && edge->to == seen->to) {
        seen->n_found++;
        seen->found = *edge;
    }
}

/* How often there is an edge; `out` is what it is. */
static uint32_t edges_between(const kb_topology *topo, const char *from, const char *to,
                              kb_edge *out)
{
    struct seen seen = {.topo = topo, .from = find(topo, from), .to = find(topo, to)};
    kb_info info;

    kb_topology_info(topo, &info);
    seen.nodes = info.nodes;
    kb_edges(topo, see, &seen);
    assert_int_equal(seen.n, info.edges);
    *out = seen.found;
    return seen.n_found;
}

/* With the defaults a mm takes 0.01 ns. */
static void edges_say_length_and_bandwidth(void **state)
{
    kb_edge e;

    (void)state;
    assert_int_equal(
        edges_between(&cube8_topology, "sip0.cube0.pe0.pe_dma", "sip0.cube0.xbar.pe0", &e), 1);
    assert_true(e.length_mm == 6 && e.gbs == 256 && e.wire_fs == 60000);
    assert_int_equal(
        edges_between(&cube8_topology, "sip0.cube0.xbar.pe0", "sip0.cube0.pe0.pe_dma", &e), 0);
    assert_int_equal(edges_between(&cube8_topology, "sip0.cube1.ucie-W", "sip0.cube0.ucie-E", &e),
                     1);
    assert_true(e.length_mm == 1 && e.gbs == 128);
    assert_int_equal(edges_between(&cube8_topology, "sip0.cube3.ucie-E", "sip0.cube4.ucie-W", &e),
                     0);
    assert_int_equal(edges_between(&tray32_topology, "fabric.switch0", "sip1.io0.pcie_ep", &e), 1);
    assert_true(e.length_mm == 100 && e.gbs == 64 && e.wire_fs == KB_FS_PER_NS);
    assert_int_equal(edges_between(&tray32_topology, "sip1.io0.io_noc", "sip1.cube12.ucie-W", &e),
                     1);
    assert_true(e.length_mm == 2);
    edges_between(&cube8_topology, "sip0.cube0.pe0.pe_cpu", "sip0.cube0.pe0.pe_scheduler", &e);
    assert_true(isinf(e.gbs) && e.length_mm == 0);
}

static void limits_are_those_of_the_yaml(void **state)
{
    kb_limits limits;

    (void)state;
    kb_topology_limits(&cube8_topology, &limits);
    assert_true(limits.cube_w_mm == 15 && limits.cube_h_mm == 11);
    assert_true(limits.slice_gbs == 256 && limits.sram_gbs == 128);
    assert_true(limits.tcm_read_gbs == 512 && limits.tcm_write_gbs == 512);
    assert_true(limits.gemm_macs_per_ns == 4096 && limits.math_elements_per_ns == 64);
    assert_int_equal(limits.read_channels, 1);
    assert_int_equal(limits.write_engines, 1);
}

/* Where cubes differ: of the first with PEs, the first with slices; and of each by itself. */
static void limits_are_those_of_cubes_that_have_the_parts(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 3\nname: t\nlinks: {l: {bw_gbs: 100.0}}\n"
                     "sip: {cubes: 3, net: [{list: [c0-c1, c1-c2], link: l}]}\n"
                     "kinds: {xcd: {hbm: {slices: 0}, pe: {pe_math: {lanes: 16}}}}\n"
                     "cubes: {c0: {pes: 0, hbm: {slices: 0}}, c1: xcd, c2: {pes: 0, hbm: {slices: "
                     "2, bw_gbs: 512.0}}}\n");
    kb_limits limits;

    (void)state;
    assert_non_null(topo);
    kb_topology_limits(topo, &limits);
    assert_true(limits.slice_gbs == 512);
    assert_int_equal(limits.math_lanes, 16);
    assert_int_equal(kb_cube_limits(topo, 0, 1, &limits), KB_OK);
    assert_true(limits.math_lanes == 16 && limits.slice_gbs == 256);
    assert_int_equal(kb_cube_limits(topo, 0, 2, &limits), KB_OK);
    assert_true(limits.math_lanes == 64 && limits.slice_gbs == 512);
    assert_int_equal(kb_cube_limits(topo, 0, 3, &limits), KB_BAD_REQUEST);
    assert_int_equal(kb_cube_limits(topo, 1, 0, &limits), KB_BAD_REQUEST);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_is_found_by_its_name),
        cmocka_unit_test(no_other_names_are_nodes),
        cmocka_unit_test(nodes_say_what_they_are),
        cmocka_unit_test(edges_say_length_and_bandwidth),
        cmocka_unit_test(limits_are_those_of_the_yaml),
        cmocka_unit_test(limits_are_those_of_cubes_that_have_the_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
