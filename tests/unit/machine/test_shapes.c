/* test_shapes.c -- machines with rings, planes, broken links, IO chiplets on any side and grids of
 * SIPs: numbers computed by hand and by a program of its own, through both engines and the judge.
 */
#include "support/judged.h"

#define MESH_4X2 "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2}}\n"
#define RING     "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2, wrap: x}}\n"
#define FIFO     "contention: {links: fifo}\n"
#define ROUTERS  "contention: {links: router, buffer_bytes: 0}\n"
#define TWO_WAYS                                                                                   \
    "planes: [{name: noc0, dirs: [E, S], order: xy, bw_gbs: 128.0},"                               \
    " {name: noc1, dirs: [N, W], order: yx, bw_gbs: 128.0}]"
#define PLANES "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2, wrap: xy}, " TWO_WAYS "}\n"
#define GRID   MESH_4X2 "sips: 3\nfabric: {shape: grid, grid: {w: 3, h: 1}}\n"

static void see(void *arg, const kb_hop *hop)
{
    *(int64_t *)arg += hop->wire_fs + hop->overhead_fs;
}

/* The walk of a route has the wires and overheads of its cost. */
static void check_walk(const kb_topology *topo, const kb_transaction *r)
{
    uint32_t plane = kb_plane_of(topo, r->op);
    int64_t walked_fs = 0;
    kb_cost cost;

    assert_int_equal(kb_route_cost(topo, r->op, &r->src, &r->dst, r->nbytes, &cost, NULL), KB_OK);
    assert_int_equal(kb_route_walk_on(topo, plane, r->op, &r->src, &r->dst, see, &walked_fs, NULL),
                     KB_OK);
    assert_int_equal(walked_fs, cost.wire_fs + cost.overhead_fs);
}

static void check_walks(const char *yaml, const struct row *rows, size_t n)
{
    const kb_topology *topo = topology(yaml);

    for (size_t i = 0; i < n; i++)
        check_walk(topo, &(kb_transaction){.op = rows[i].op,
                                           .src = end_of(topo, rows[i].src),
                                           .dst = end_of(topo, rows[i].dst),
                                           .nbytes = 4096});
    any_topology_free(topo);
}

static void check_both(const char *yaml, const struct row *rows, size_t n)
{
    check_walks(yaml, rows, n);
    check_rows(yaml, rows, n, 0);
}

/* With ideal links and with links that queue. */
static void alone(const char *yaml, kb_transaction_op op, const char *src, const char *dst,
                  int64_t end_fs)
{
    struct row row = {op, src, dst, end_fs};
    char fifo[4096];

    check_both(yaml, &row, 1);
    snprintf(fifo, sizeof fifo, "%s" FIFO, yaml);
    check_both(fifo, &row, 1);
}

static void a_ring_goes_the_shorter_way(void **state)
{
    (void)state;
    alone(RING, KB_READ, "c0.pe0", "c3.slice0", 36315000);
    alone(RING, KB_H2D, "host", "c3.slice0", 60602500);
}

/* The wrap link is 4 mm longer than another: 0.04 ns. */
static void a_wrap_link_has_a_wire_of_its_own(void **state)
{
    (void)state;
    alone("kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2, wrap: x, wrap_mm: 5}}\n", KB_READ,
          "c0.pe0", "c3.slice0", 36355000);
    /* as far by either way: E, without the wrap link */
    alone("kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2, wrap: x, wrap_mm: 5}}\n", KB_READ,
          "c0.pe0", "c2.slice0", 38485000);
}

static void broken_links_are_gone_round(void **state)
{
    (void)state;
    alone(MESH_4X2 "broken: [c1-c2]\n", KB_READ, "c0.pe0", "c3.slice0", 45027500);
    alone(MESH_4X2 "broken: [c0-c4]\n", KB_READ, "c0.pe0", "c4.slice0", 40727500);
    alone(MESH_4X2 "broken: [c1.noc>c1.ucie-E]\n", KB_WRITE, "c0.pe0", "c3.slice0", 45027500);
}

static void a_one_way_plane_carries_data_its_way(void **state)
{
    static const struct row two[] = {{KB_READ, "c0.pe0", "c1.slice0", 68277500},
                                     {KB_READ, "c0.pe1", "c1.slice1", 36315000}};

    (void)state;
    alone(PLANES, KB_READ, "c0.pe0", "c3.slice0", 40655000);
    alone(PLANES, KB_READ, "c3.pe0", "c0.slice0", 36315000);
    alone(PLANES, KB_WRITE, "c3.pe0", "c0.slice0", 36315000);
    alone(PLANES, KB_READ, "c0.pe0", "c5.slice0", 38447500);
    check_both(PLANES FIFO, two, 2);
}

/*
 * Routers: c0 -> c3 is one step west, c3 -> c0 three; a host's h2d to c1 takes 29.64125 without its
 * data. What comes back has passed the same nodes, without the ends.
 */
static void with_routers_a_request_goes_its_own_way(void **state)
{
    static const struct row row[] = {
        {KB_READ, "c0.pe0", "c3.slice0", 4315000 + 8655000 + 32000000},
        {KB_READ, "c0.pe0", "c1.slice0", 8655000 + 4315000 + 32000000},
        {KB_D2H, "host", "c1.slice0", 29641250 + 20451250 + 32000000},
        {KB_WRITE, "c3.pe0", "c0.slice0", 36315000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        check_both(PLANES ROUTERS, &row[i], 1);
}

static void sips_form_a_grid(void **state)
{
    (void)state;
    alone(GRID, KB_READ, "c0.pe0", "s1.c0.slice0", 84252500);
    alone(GRID, KB_READ, "c0.pe0", "s2.c0.slice0", 95252500);
    alone(MESH_4X2 "sips: 3\nfabric: {shape: grid, grid: {w: 3, h: 1}, wrap: x}\n", KB_READ,
          "c0.pe0", "s2.c0.slice0", 84252500);
}

/* c3 stands alone: using a pair without a way is an error that names it. */
static void no_way_is_an_error(void **state)
{
    const kb_topology *topo = topology(MESH_4X2 "broken: [c3-c2, c3-c7]\n");
    kb_transaction r = {.op = KB_READ, .nbytes = 64};
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};

    (void)state;
    r.src = end_of(topo, "c0.pe0");
    r.dst = end_of(topo, "c3.slice0");
    assert_int_equal(kb_sim_add(sim, &r, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "there is no way from c0.pe0 to c3.slice0");
    r.src = end_of(topo, "c3.pe0");
    assert_int_equal(kb_sim_add(sim, &r, &why), KB_OK);
    kb_sim_free(sim);
    any_topology_free(topo);
}

#define WEST                                                                                       \
    "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 2, h: 1}, planes: [{name: back, dirs: [W]}]}\n"

/* A plane without E and S, and no ring: from c0 a write leads nowhere, nor does a read's request.
 */
static void a_plane_that_lacks_a_direction_has_no_way(void **state)
{
    const kb_topology *topo = topology(WEST);
    kb_endpoint src = end_of(topo, "c0.pe0"), dst = end_of(topo, "c1.slice0");
    kb_error why = {""};
    kb_cost cost;

    (void)state;
    assert_int_equal(kb_route_cost(topo, KB_WRITE, &src, &dst, 64, &cost, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "there is no way from c0.pe0 to c1.slice0 on plane back");
    assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, 64, &cost, &why), KB_OK);
    any_topology_free(topo);
    topo = topology(WEST ROUTERS);
    assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, 64, &cost, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "there is no way from c0.pe0 to c1.slice0 on plane back for the "
                                  "request of a read");
    any_topology_free(topo);
}

static void count_edge(void *arg, const kb_edge *edge)
{
    (void)edge;
    ++*(uint32_t *)arg;
}

static void check_counts(const char *yaml, uint32_t nodes, uint32_t edges)
{
    const kb_topology *topo = topology(yaml);
    uint32_t told = 0;
    kb_info info;
    kb_node node;

    kb_topology_info(topo, &info);
    assert_int_equal(info.nodes, nodes);
    assert_int_equal(info.edges, edges);
    kb_edges(topo, count_edge, &told);
    assert_int_equal(told, edges);
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t found;

        assert_int_equal(kb_node_get(topo, i, &node), KB_OK);
        assert_int_equal(kb_node_find(topo, node.name, strlen(node.name), &found), KB_OK);
        assert_int_equal(found, i);
    }
    any_topology_free(topo);
}

static void parts_are_as_many_as_they_should(void **state)
{
    (void)state;
    check_counts(RING, 651, 1184);
    check_counts("kernbench: 1\nname: m\n"
                 "sip: {cube_mesh: {w: 4, h: 2}, planes: [{name: a}, {name: b}]}\n",
                 691, 1620);
    check_counts("kernbench: 1\nname: m\nsip: {cube_mesh: {w: 4, h: 2}, " TWO_WAYS "}\n", 691,
                 1600);
    check_counts("kernbench: 2\nname: wormhole\nns_per_mm: 0.0\n"
                 "sip: {cube_mesh: {w: 10, h: 12, wrap: xy}, plane: column, " TWO_WAYS "}\n"
                 "cube: {pes: 1, hbm: {size_gb: 64}}\n",
                 2523, 5692);
}

/* -- tables of what lies between two cubes ---------------------------------------------------- */

/* A cost from the tables is that of a walk of `walked`, which has none; from PE 0 of each cube. */
static void check_between(const kb_topology *topo, const kb_topology *walked, uint32_t plane,
                          kb_transaction_op op)
{
    for (uint32_t i = 0; i < topo->sips * topo->cubes * topo->cubes * topo->sips; i++) {
        uint32_t cubes = topo->sips * topo->cubes, a = i / cubes, b = i % cubes;
        kb_endpoint src = {KB_PE, a / topo->cubes, a % topo->cubes, 0};
        kb_endpoint dst = {KB_SLICE, b / topo->cubes, b % topo->cubes, 1};
        kb_cost got, expected;
        kb_status status;

        if (op == KB_H2D || op == KB_D2H)
            src = (kb_endpoint){.kind = KB_HOST, .sip = dst.sip};
        status = kb_route_cost_on(walked, plane, op, &src, &dst, 4096, &expected, NULL);
        assert_int_equal(kb_route_cost_on(topo, plane, op, &src, &dst, 4096, &got, NULL), status);
        if (status == KB_OK)
            assert_memory_equal(&got, &expected, sizeof got);
    }
}

static void check_tables(const char *yaml, enum between_by by)
{
    const kb_topology *topo = topology(yaml);
    kb_topology walked = *topo;

    walked.between_by = BY_WALK;
    assert_int_equal(topo->between_by, by);
    for (uint32_t plane = 0; plane < topo->planes; plane++)
        for (int op = KB_READ; op <= KB_D2H; op++)
            check_between(topo, &walked, plane, (kb_transaction_op)op);
    any_topology_free(topo);
}

static void tables_between_cubes_cost_what_the_walk_costs(void **state)
{
    (void)state;
    check_tables(RING, BY_DISTANCE);
    check_tables("kernbench: 1\nname: m\nsips: 2\n"
                 "sip: {cube_mesh: {w: 3, h: 2, wrap: xy, wrap_mm: 9.0}, " TWO_WAYS "}\n",
                 BY_DISTANCE);
    check_tables(GRID, BY_DISTANCE);
    check_tables(MESH_4X2 "broken: [c1-c2, c5-c6]\ncubes: {c2: {noc: {bw_gbs: 64.0}}}\n", BY_PAIR);
    check_tables("kernbench: 1\nname: m\nmissing: [c4]\nbroken: ['noc0:c1>c2']\n"
                 "sip: {cube_mesh: {w: 4, h: 3, wrap: xy}, " TWO_WAYS "}\n",
                 BY_PAIR);
}

/* A table by pair is made up to 32768 entries: 181 cubes, not 182. */
static void large_machines_with_gaps_are_walked(void **state)
{
    (void)state;
    const char *yaml[] = {
        "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 181, h: 1}}\ncubes: {c1: {pes: 4}}\n",
        "kernbench: 1\nname: m\nsip: {cube_mesh: {w: 182, h: 1}}\ncubes: {c1: {pes: 4}}\n"};
    const enum between_by by[] = {BY_PAIR, BY_WALK};

    for (int i = 0; i < 2; i++) {
        const kb_topology *topo = topology(yaml[i]);

        assert_int_equal(topo->between_by, by[i]);
        any_topology_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_goes_the_shorter_way),
        cmocka_unit_test(a_wrap_link_has_a_wire_of_its_own),
        cmocka_unit_test(broken_links_are_gone_round),
        cmocka_unit_test(a_one_way_plane_carries_data_its_way),
        cmocka_unit_test(with_routers_a_request_goes_its_own_way),
        cmocka_unit_test(sips_form_a_grid),
        cmocka_unit_test(no_way_is_an_error),
        cmocka_unit_test(a_plane_that_lacks_a_direction_has_no_way),
        cmocka_unit_test(parts_are_as_many_as_they_should),
        cmocka_unit_test(tables_between_cubes_cost_what_the_walk_costs),
        cmocka_unit_test(large_machines_with_gaps_are_walked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
