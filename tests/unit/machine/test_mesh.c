/* test_mesh.c -- a mesh of routers inside a cube: numbers computed by hand, through both engines,
 * and all routes of machines that mix meshes and buses.
 *
 * The cube of most tests is 12 mm x 12 mm with 3 x 3 routers, at 2, 6 and 10 mm; each costs 1 ns.
 * PE 0 meets it at (6, 0), PE 1 at (6, 12), both 2 mm from a router, with 0.5 mm to attach.
 */
#include "machine/tables.h"
#include "support/any_topology.h"
#include "support/rig.h"

#define CUBES(w, holes)                                                                            \
    "kernbench: 1\nname: m\nsip: {cube_mesh: {w: " #w ", h: 1}}\n"                                 \
    "cube: {size_mm: [12, 12], pes: 2, m_cpu: {pos_mm: [6, 6]}, sram: {pos_mm: [1, 11]},"          \
    " noc: {overhead_ns: 1, model: mesh, mesh: {cols: 3, rows: 3, holes: [" holes "]}}}\n"
#define FIFO "contention: {links: fifo}\n"

/* Two planes, rings, two SIPs, two IO chiplets; cubes with a mesh and one without, one with more
 * PEs. */
static const char mixed[] =
    "kernbench: 2\nname: mixed\nsips: 2\n"
    "sip: {cube_mesh: {w: 3, h: 2, wrap: xy}, io_chiplets: [W, N],\n"
    "  planes: [{name: a, dirs: [E, S]}, {name: b, dirs: [W, N], order: yx, bw_gbs: 64}]}\n"
    "cube: {pes: 5, noc: {model: mesh, overhead_ns: 1.0,\n"
    "  mesh: {cols: 4, rows: 3, holes: [[1, 1]], bw_gbs: 96}}}\n"
    "missing: [c1.pe2]\ncubes: {c2: {noc: {model: bus}}, c3: {pes: 9}}\n";

struct names {
    size_t len;
    char text[1024];
};

static void put_name(void *arg, const kb_hop *hop)
{
    struct names *names = arg;

    names->len += (size_t)snprintf(names->text + names->len, sizeof names->text - names->len, " %s",
                                   strchr(hop->node, '.') + 1);
}

/* The nodes of a route, without the SIP. */
static void assert_way(const char *yaml, const char *src, const char *dst, const char *want)
{
    const kb_topology *topo = any_topology(yaml);
    kb_endpoint from = end_of(topo, src), to = end_of(topo, dst);
    struct names names = {0};

    assert_int_equal(kb_route_walk(topo, &from, &to, put_name, &names, NULL), KB_OK);
    assert_string_equal(names.text, want);
    any_topology_free(topo);
}

static void assert_end(const char *yaml, kb_transaction_op op, const char *src, const char *dst,
                       int64_t end_fs)
{
    const kb_topology *topo = any_topology(yaml);

    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        kb_result got;

        issue(sim, topo, 0, op, src, dst, 4096);
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
        assert_int_equal(kb_sim_result(sim, 0, &got), KB_OK);
        assert_int_equal(got.end_fs, end_fs);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/*
 * To the SRAM at (1, 11): 2.5 mm, three steps of 4 mm, 0.5 + 1 + 1 mm: 0.17 ns; four routers; 32
 * ns. To the next cube: 2.5, 4, 4, 2.5, the link 1, 2.5, 4, 4, 2.5, the slice 2.5 mm: 0.3 ns; six
 * routers, two UCIe, the crossbar: 10 ns.
 */
static void x_first_then_y(void **state)
{
    (void)state;
    assert_way(CUBES(1, ""), "c0.pe0", "c0.sram",
               " cube0.pe0.pe_dma cube0.r0c1 cube0.r0c0 cube0.r1c0 cube0.r2c0 cube0.sram");
    assert_end(CUBES(1, ""), KB_WRITE, "c0.pe0", "c0.sram", 36170000);
    assert_end(CUBES(1, "") FIFO, KB_READ, "c0.pe0", "c0.sram", 36170000);
    assert_end(CUBES(2, ""), KB_READ, "c0.pe0", "c1.slice0", 42295000);
    assert_end(CUBES(2, "") FIFO, KB_READ, "c0.pe0", "c1.slice0", 42295000);
}

/*
 * Beside r1c0 the way is S first, as long. Without r1c1 four routers are 4 mm from the m_cpu, r0c1
 * the one of the smallest row: from ucie-W 2.5, 4, 4, 4.5 mm, back 4.5, to the crossbar 2.5, to the
 * slice 2.5, before it 5 mm: 0.295 ns; 27 ns of nodes; 32 ns; the response 0.295 + 1 ns.
 */
static void around_holes(void **state)
{
    (void)state;
    assert_way(CUBES(1, "[0, 1]"), "c0.pe0", "c0.sram",
               " cube0.pe0.pe_dma cube0.r0c1 cube0.r1c1 cube0.r2c1 cube0.r2c0 cube0.sram");
    assert_end(CUBES(1, "[0, 1]"), KB_WRITE, "c0.pe0", "c0.sram", 36170000);
    assert_way(CUBES(1, "[1, 1]"), "host", "c0.slice0",
               " io0.pcie_ep io0.io_noc io0.io_cpu io0.io_noc cube0.ucie-W cube0.r1c0 cube0.r0c0"
               " cube0.r0c1 cube0.m_cpu cube0.r0c1 cube0.xbar.pe0 cube0.hbm_ctrl.slice0");
    assert_end(CUBES(1, "[1, 1]"), KB_H2D, "host", "c0.slice0", 60590000);
    /* two steps north, as c2 is no nearer by the south; then east and back south */
    assert_way("kernbench: 1\nname: m\nsip: {cube_mesh: {w: 3, h: 1}}\n"
               "cube: {noc: {model: mesh, mesh: {holes: [[2, 2], [3, 2], [2, 3], [3, 3]]}}}\n",
               "c0.pe7", "c2.sram",
               " cube0.pe7.pe_dma cube0.r5c5 cube0.r4c5 cube0.r3c5 cube0.r2c5 cube0.ucie-E"
               " cube1.ucie-W cube1.r2c0 cube1.r2c1 cube1.r1c1 cube1.r1c2 cube1.r1c3 cube1.r1c4"
               " cube1.r1c5 cube1.r2c5 cube1.ucie-E cube2.ucie-W cube2.r2c0 cube2.r3c0 cube2.r4c0"
               " cube2.sram");
}

static void see(void *arg, const kb_hop *hop)
{
    *(int64_t *)arg += hop->wire_fs + hop->overhead_fs;
}

/* Walked hop by hop a route costs what the tables say, from each PE to each memory. */
static void the_sum_is_the_way(void **state)
{
    const kb_topology *topo = any_topology(mixed);

    (void)state;
    for (uint32_t pe = 0; pe < kb_pe_count(topo); pe++)
        for (uint32_t slice = 0; slice < kb_slice_count(topo); slice++)
            for (uint32_t op = KB_READ; op <= KB_WRITE; op++) {
                uint32_t plane = kb_plane_of(topo, (kb_transaction_op)op);
                kb_endpoint from, to;
                int64_t walked_fs = 0;
                kb_cost cost;

                assert_int_equal(kb_pe_get(topo, pe, &from), KB_OK);
                assert_int_equal(kb_slice_get(topo, slice, &to), KB_OK);
                assert_int_equal(
                    kb_route_cost(topo, (kb_transaction_op)op, &from, &to, 64, &cost, NULL), KB_OK);
                assert_int_equal(kb_route_walk_on(topo, plane, (kb_transaction_op)op, &from, &to,
                                                  see, &walked_fs, NULL),
                                 KB_OK);
                assert_int_equal(walked_fs, cost.wire_fs + cost.overhead_fs);
            }
    any_topology_free(topo);
}

/* The nodes of a way, and how many links of it are found among those that were used. */
struct passed {
    char node[64][KB_NODE_BYTES];
    size_t n, found, used;
};

static void note_node(void *arg, const kb_hop *hop)
{
    struct passed *p = arg;

    assert_true(p->n < LENGTH(p->node));
    strcpy(p->node[p->n++], hop->node);
}

static void find_link(void *arg, const kb_utilization *use)
{
    struct passed *p = arg;

    if (use->kind != KB_AT_LINK || !use->count)
        return;
    p->used++;
    for (size_t i = 1; i < p->n; i++)
        p->found += strcmp(use->from, p->node[i - 1]) == 0 && strcmp(use->to, p->node[i]) == 0 &&
                    use->count == 1 && use->bytes == 64;
}

/* What a write passes on its way has carried it, and nothing else: also inside cubes, where the way
 * depends on the side by which it comes or goes. */
static void the_way_has_carried_it(void **state)
{
    const kb_topology *topo = any_topology(mixed);
    uint32_t n_slices = kb_slice_count(topo);

    (void)state;
    for (uint32_t i = 0; i < 5 * n_slices; i++) {
        kb_transaction r = {.op = KB_WRITE, .nbytes = 64};
        kb_sim *sim = new_sim(topo, (kb_options){.engine = i % 2 ? KB_HOP : KB_FUSED});
        struct passed p = {.n = 0};

        assert_int_equal(kb_pe_get(topo, i / n_slices, &r.src), KB_OK);
        assert_int_equal(kb_slice_get(topo, i % n_slices, &r.dst), KB_OK);
        add(sim, &r);
        run_all(sim);
        assert_int_equal(kb_route_walk_on(topo, kb_plane_of(topo, KB_WRITE), KB_WRITE, &r.src,
                                          &r.dst, note_node, &p, NULL),
                         KB_OK);
        assert_int_equal(kb_sim_utilization(sim, find_link, &p), KB_OK);
        assert_int_equal(p.found, p.n - 1);
        assert_int_equal(p.used, p.n - 1);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

static uint64_t fingerprint(const char *yaml, kb_engine engine)
{
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine, .fingerprint = true});
    uint64_t print;

    for (uint32_t i = 0; i < 2000; i++) { /* about as many as the machine can take */
        kb_transaction r = {.issue_fs = i * INT64_C(20000000),
                            .op = i % 3 ? KB_READ : KB_WRITE,
                            .nbytes = 256 + i % 5 * 300};

        assert_int_equal(kb_pe_get(topo, i * 7 % kb_pe_count(topo), &r.src), KB_OK);
        assert_int_equal(kb_slice_get(topo, i * 11 % kb_slice_count(topo), &r.dst), KB_OK);
        add(sim, &r);
    }
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    print = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
    any_topology_free(topo);
    return print;
}

static void both_engines_agree(void **state)
{
    char ideal[1024];

    (void)state;
    snprintf(ideal, sizeof ideal, "%scontention: {links: ideal}\n", mixed);
    assert_int_equal(fingerprint(mixed, KB_FUSED), fingerprint(mixed, KB_HOP));
    assert_int_equal(fingerprint(ideal, KB_FUSED), fingerprint(ideal, KB_HOP));
}

static void count_edge(void *arg, const kb_edge *edge)
{
    *(uint32_t *)arg += edge->gbs > 0;
}

/* All nodes are found by their names, holes are none; edges are as many as `info` says. */
static void nodes_have_names(void **state)
{
    const kb_topology *topo = any_topology(mixed);
    uint32_t number, edges = 0;
    kb_info info;
    kb_node node;

    (void)state;
    kb_topology_info(topo, &info);
    for (uint32_t i = 0; i < info.nodes; i++) {
        assert_int_equal(kb_node_get(topo, i, &node), KB_OK);
        assert_int_equal(kb_node_find(topo, node.name, strlen(node.name), &number), KB_OK);
        assert_int_equal(number, i);
    }
    kb_edges(topo, count_edge, &edges);
    assert_int_equal(edges, info.edges);
    assert_int_equal(kb_node_find(topo, "sip1.cube5.r2c3.b", 17, &number), KB_OK);
    assert_int_equal(kb_node_get(topo, number, &node), KB_OK);
    assert_string_equal(node.kind, "router");
    assert_int_equal(node.overhead_fs, 1000000);
    assert_int_equal(kb_node_find(topo, "sip1.cube5.r1c1.b", 17, &number), KB_BAD_REQUEST);
    assert_int_equal(kb_node_find(topo, "sip0.cube2.noc.a", 16, &number), KB_OK);
    assert_int_equal(kb_node_find(topo, "sip0.cube2.r0c0.a", 17, &number), KB_BAD_REQUEST);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x_first_then_y),     cmocka_unit_test(around_holes),
        cmocka_unit_test(the_sum_is_the_way), cmocka_unit_test(the_way_has_carried_it),
        cmocka_unit_test(both_engines_agree), cmocka_unit_test(nodes_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
