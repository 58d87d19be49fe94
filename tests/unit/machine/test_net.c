/* test_net.c -- nets of cubes: kinds, links, lanes, routes by weight, rails; numbers computed by a
 * program of its own, through both engines and the judge.
 */
#include "machine/walk.h"
#include "support/judged.h"

/* -- kinds ---------------------------------------------------------------------------------- */

/* PEs of a cube without slices have theirs in the nearest cube that has some, in turn. */
static void pes_have_slices_elsewhere(void **state)
{
    static const char two[] =
        HEAD "sip: {cube_mesh: {w: 2, h: 1}}\n"
             "cubes: {c0: {hbm: {slices: 0}}, c1: {pes: 0, hbm: {slices: 8}}}\n";
    const kb_topology *topo = topology(two);
    kb_endpoint slice;

    (void)state;
    assert_int_equal(kb_pe_slice(topo, 3, &slice), KB_OK);
    assert_int_equal(slice.cube, 1);
    assert_int_equal(slice.unit, 3);
    any_topology_free(topo);
    CHECK(two, {KB_WRITE, "c0.pe3", "c1.slice3", 36315000},
          {KB_READ, "c0.pe4", "c1.slice4", 36315000});
}

#define DIES                                                                                       \
    HEAD "links:\n"                                                                                \
         "  usr_h: {bw_gbs: 1500.0, latency_ns: 15.0}\n"                                           \
         "  usr_v: {bw_gbs: 1200.0, latency_ns: 15.0}\n"                                           \
         "  bond: {bw_gbs: 2150.0, latency_ns: 5.0}\n"                                             \
         "kinds:\n"                                                                                \
         "  iod: {pes: 0, noc: {bw_gbs: 4300.0},\n"                                                \
         "        hbm: {slices: 2, bw_gbs: 662.5, size_gb: 48, latency_ns: 300.0}}\n"              \
         "  xcd: {pes: 38, hbm: {slices: 0}, noc: {bw_gbs: 2150.0}}\n"                             \
         "sip:\n  cubes: 12\n"                                                                     \
         "  net: [{mesh: [2, 2], of: 'c[0-3]', link: [usr_h, usr_v]},\n"                           \
         "        {each: ['c[0-3]', 'c[4-11]'], groups: 4, link: bond}]\n"                         \
         "cubes: {'c[0-3]': iod, 'c[4-11]': xcd}\n"

static void compute_dies_on_memory_dies(void **state)
{
    const kb_topology *topo = topology(DIES);
    static const uint32_t expected[] = {0, 1, 0, 1};
    kb_endpoint slice;

    (void)state;
    for (uint32_t pe = 0; pe < 4; pe++) { /* c5's begin at 38, and have c0, too */
        assert_int_equal(kb_pe_slice(topo, pe < 2 ? pe : 36 + pe, &slice), KB_OK);
        assert_int_equal(slice.cube, 0);
        assert_int_equal(slice.unit, expected[pe]);
    }
    any_topology_free(topo);
    CHECK(DIES, {KB_WRITE, "c4.pe0", "c3.slice0", 349578695});
    CHECK(DIES, {KB_READ, "c4.pe0", "c0.slice0", 315408695});
}

/* -- nets ----------------------------------------------------------------------------------- */

static void a_mesh_is_a_mesh(void **state)
{
    (void)state;
    CHECK(HEAD NET(8) "[{mesh: [4, 2]}]\n", {KB_WRITE, "c0.pe0", "c3.slice0", 40655000});
    CHECK(HEAD NET(8) "[{torus: [4, 2]}]\n", {KB_WRITE, "c0.pe0", "c3.slice0", 36315000});
    CHECK(HEAD NET(64) "[{torus: [4, 4, 4]}]\n", {KB_WRITE, "c0.pe0", "c63.slice0", 40465000});
    CHECK(HEAD NET(64) "[{torus: [4, 4, 4]}]\n", {KB_WRITE, "c0.pe0", "c42.slice0", 46897500});
}

#define SLOW_TOO(n)                                                                                \
    HEAD "links: {near: {bw_gbs: 128.0, latency_ns: 5.0}, slow: {bw_gbs: 128.0, latency_ns: "      \
         "7.5}, never: {bw_gbs: 128.0, latency_ns: 1000.0}}\n" NET(n)

/* Exits by sums, and by searches: those of a net with one link more, which no route takes. */
static void assert_same_exits(const char *whole, const char *with_more)
{
    const kb_topology *sums = topology(whole), *searched = topology(with_more);

    for (uint32_t from = 0; from < sums->cubes; from++)
        for (uint32_t to = 0; to < sums->cubes; to++)
            if (from != to)
                assert_int_equal(mesh_exit(sums, 0, false, from, to),
                                 mesh_exit(searched, 0, false, from, to));
    any_topology_free(sums);
    any_topology_free(searched);
}

#define SAME_EXITS(n, items)                                                                       \
    assert_same_exits(SLOW_TOO(n) "[" items "]\n",                                                 \
                      SLOW_TOO(n) "[" items ", {list: [c0-c4], link: never}]\n")

static void exits_of_a_whole_grid(void **state)
{
    (void)state;
    SAME_EXITS(24, "{torus: [4, 3, 2], link: near}");
    SAME_EXITS(24, "{torus: [4, 3, 2], link: near, wrap: slow}");
    SAME_EXITS(24, "{torus: [2, 6, 2], link: [near, slow, near], of: 'c[0-23]'}");
    SAME_EXITS(24, "{mesh: [3, 2, 4], link: [slow, near, slow]}");
    SAME_EXITS(7, "{torus: [7], link: slow, wrap: near}");
    SAME_EXITS(12, "{torus: [1, 4, 1, 3]}");
}

/* A cube whose NoC takes longer: no sums of lines tell which way round it is. */
static void a_slow_cube_is_gone_round(void **state)
{
    static const char yaml[] =
        HEAD "cubes: {c4: {noc: {overhead_ns: 50.0}}}\n" NET(9) "[{mesh: [3, 3]}]\n";
    const kb_topology *topo = topology(yaml);

    (void)state;
    assert_int_equal(walk_neighbour(topo, 3, mesh_exit(topo, 0, false, 3, 7)), 6);
    assert_int_equal(walk_neighbour(topo, 3, mesh_exit(topo, 0, false, 3, 4)), 4);
    any_topology_free(topo);
}

#define LONG_AND_SHORT                                                                             \
    HEAD "links: {near: {bw_gbs: 128.0, latency_ns: 5.0}, far: {bw_gbs: 128.0, latency_ns: "       \
         "20.0}}\n" NET(                                                                           \
             4) "[{list: [c0-c2], link: far}, {list: [c0-c1, c1-c2, c0-c3, c3-c2], link: near}]\n"

static void name_cube_of(void *arg, const kb_hop *hop)
{
    unsigned cube = (unsigned char)hop->node[9] - (unsigned)'0';

    *(unsigned *)arg |= strncmp(hop->node, "sip0.cube", 9) == 0 ? 1u << cube : 0;
}

/* The cubes of a route, as bits. */
static unsigned cubes_on(const char *yaml, const char *src, const char *dst)
{
    const kb_topology *topo = topology(yaml);
    kb_endpoint from = end_of(topo, src), to = end_of(topo, dst);
    unsigned cubes = 0;

    assert_int_equal(kb_route_walk(topo, &from, &to, name_cube_of, &cubes, NULL), KB_OK);
    any_topology_free(topo);
    return cubes;
}

/* Latency before the number of links; then the lowest port; never through one that lets none pass.
 */
static void routes_are_by_weight(void **state)
{
    (void)state;
    CHECK(LONG_AND_SHORT, {KB_WRITE, "c0.pe0", "c2.slice0", 48277500});
    assert_int_equal(cubes_on(LONG_AND_SHORT, "c0.pe0", "c2.slice0"), 1u << 0 | 1u << 1 | 1u << 2);
    CHECK(LONG_AND_SHORT "cubes: {c1: {transit: none}}\n",
          {KB_WRITE, "c0.pe0", "c2.slice0", 48277500});
    assert_int_equal(
        cubes_on(LONG_AND_SHORT "cubes: {c1: {transit: none}}\n", "c0.pe0", "c2.slice0"),
        1u << 0 | 1u << 3 | 1u << 2);
}

static void assert_refused(const char *yaml, const char *src, const char *dst, const char *expected)
{
    const kb_topology *topo = topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    kb_endpoint to;
    kb_error why = {""};
    kb_transaction r = {.op = KB_WRITE, .src = end_of(topo, src), .nbytes = 64};

    if (kb_endpoint_parse(topo, dst, strlen(dst), &to, &why) == KB_OK) {
        r.dst = to;
        assert_int_equal(kb_sim_add(sim, &r, &why), KB_BAD_REQUEST);
    }
    assert_string_equal(why.text, expected);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* Between two parts of a net, and to what a switch has not. */
static void no_way_leads_there(void **state)
{
    static const char star[] =
        HEAD "kinds: {sw: {pes: 0, hbm: {slices: 0}}}\ncubes: {c2: sw}\n" NET(
            3) "[{each: ['c[0-1]', c2]}]\n";

    (void)state;
    assert_refused(HEAD NET(4) "[{list: [c0-c1, c2-c3]}]\n", "c0.pe0", "c2.slice0",
                   "there is no way from c0.pe0 to c2.slice0");
    assert_refused(HEAD NET(3) "[{list: [c0-c1, c1-c2]}]\ncubes: {c1: {transit: none}}\n", "c0.pe0",
                   "c2.sram", "there is no way from c0.pe0 to c2.sram");
    assert_refused(star, "c0.pe0", "c2.slice0", "c2.slice0: c2 is a switch, it has no slices");
    assert_refused(star, "c0.pe0", "c2.sram", "c2.sram: c2 is a switch, it has no SRAM");
    assert_refused(star, "c0.pe0", "c2.pe0.tcm", "c2.pe0.tcm: c2 is a switch, it has no PEs");
}

/* A read takes the way of its data. */
static void one_way_links(void **state)
{
    static const char ring[] = HEAD NET(3) "[{list: [c0>c1, c1>c2, c2>c0]}]\n";

    (void)state;
    CHECK(ring, {KB_WRITE, "c0.pe0", "c2.slice0", 38297500});
    CHECK(ring, {KB_READ, "c0.pe0", "c2.slice0", 36277500});
}

static void count_links(void *arg, const kb_edge *edge)
{
    (void)edge;
    ++*(size_t *)arg;
}

/* Edges of a machine of switches and one cube with PEs: those between cubes are what differs. */
static size_t n_links(const char *net, const char *one)
{
    const kb_topology *topo = topology(net), *without = topology(one);
    size_t n = 0, n_without = 0;

    kb_edges(topo, count_links, &n);
    kb_edges(without, count_links, &n_without);
    any_topology_free(topo);
    any_topology_free(without);
    return n - n_without;
}

#define LINKS(n, net)                                                                              \
    n_links(HEAD NET(n) "[" net "]\n", HEAD NET(n) "[" net "]\nbroken: ['c*-c*']\n") / 2

static void shapes_have_their_links(void **state)
{
    (void)state;
    assert_int_equal(LINKS(8, "{all: c*}"), 28);
    assert_int_equal(LINKS(12, "{each: ['c[0-7]', 'c[8-11]']}"), 32);
    assert_int_equal(LINKS(16, "{mesh: [2, 2, 2, 2]}"), 32);
    assert_int_equal(LINKS(8, "{mesh: [4, 2]}"), 10);
    assert_int_equal(LINKS(8, "{torus: [4, 2]}"), 16);
    assert_int_equal(LINKS(64, "{torus: [4, 4, 4]}"), 192);
    assert_int_equal(LINKS(6, "{all: 'c[0-5]', groups: 3}, {dragonfly: 'c[0-5]', groups: 3}"), 6);
}

/* Where a cube stands, as "grid: AT of SIZE, AT of SIZE"; "": it is of no grid. */
static const char *place_text(const kb_topology *topo, uint32_t cube)
{
    static char text[160];
    kb_cube_place place;

    *text = '\0';
    if (kb_cube_place_get(topo, cube, &place) != KB_OK)
        return text;
    snprintf(text, sizeof text, "%s %u:", place.closes ? "torus" : "mesh", place.grid);
    for (uint32_t d = 0; d < place.dims; d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %u of %u", place.at[d],
                 place.size[d]);
    return text;
}

/* Of each cube the first mesh or torus that has it; whatever is missing or broken. */
static void cubes_have_places(void **state)
{
    const kb_topology *t = topology(HEAD "missing: [c4]\nbroken: [c0-c1]\n" NET(
        16) "[{list: [c0-c2]}, {mesh: [3, 3], of: 'c[0-8]'},\n"
            "        {torus: [2, 1, 3], of: 'c[14,13,12,11,10,8]'}, {list: [c8-c9, c9-c15]}]\n");

    (void)state;
    assert_string_equal(place_text(t, 0), "mesh 0: 0 of 3 0 of 3");
    assert_string_equal(place_text(t, 4), "mesh 0: 1 of 3 1 of 3");
    assert_string_equal(place_text(t, 8), "mesh 0: 2 of 3 2 of 3");
    assert_string_equal(place_text(t, 9), "");
    assert_string_equal(place_text(t, 14), "torus 1: 0 of 2 0 of 1 0 of 3");
    assert_string_equal(place_text(t, 10), "torus 1: 0 of 2 0 of 1 2 of 3");
    assert_string_equal(place_text(t, 16), "");
    any_topology_free(t);
    t = topology(HEAD "sip: {cube_mesh: {w: 2, h: 1}}\n");
    assert_string_equal(place_text(t, 0), "");
    any_topology_free(t);
}

/* Groups of two, three of them: c0-c2, c1-c4, c3-c5. */
static void a_dragonfly_joins_its_groups(void **state)
{
    static const char net[] =
        HEAD NET(6) "[{all: 'c[0-5]', groups: 3}, {dragonfly: 'c[0-5]', groups: 3}]\n";

    (void)state;
    assert_int_equal(cubes_on(net, "c0.pe0", "c2.slice0"), 1u << 0 | 1u << 2);
    assert_int_equal(cubes_on(net, "c1.pe0", "c4.slice0"), 1u << 1 | 1u << 4);
    assert_int_equal(cubes_on(net, "c3.pe0", "c5.slice0"), 1u << 3 | 1u << 5);
    assert_int_equal(cubes_on(net, "c0.pe0", "c5.slice0"), 1u << 0 | 1u << 1 | 1u << 4 | 1u << 5);
}

/* -- lanes ---------------------------------------------------------------------------------- */

#define LANES(lanes, gbs)                                                                          \
    HEAD "links: {x: {bw_gbs: " #gbs ", lanes: " #lanes                                            \
         ", distance_mm: 1.0}}\n" NET(2) "[{mesh: [2], link: x}]\n"
#define THREE(a, b, c)                                                                             \
    (const struct row[]){{KB_WRITE, "c0.pe0", "c1.slice0", a},                                     \
                         {KB_WRITE, "c0.pe1", "c1.slice1", b},                                     \
                         {KB_WRITE, "c0.pe2", "c1.slice2", c}},                                    \
        3

static void lanes_are_servers(void **state)
{
    (void)state;
    check_rows(LANES(1, 64.0), THREE(196240000, 132277500, 68315000), 0);
    check_rows(LANES(1, 128.0), THREE(100240000, 68277500, 36315000), 0xb56908fa32d7773c);
    check_rows(LANES(2, 64.0), THREE(132240000, 68315000, 68315000), 0xd57bcd778ab49aa4);
    check_rows(LANES(2, 128.0), THREE(68240000, 36315000, 36315000), 0xddc23f42c01ba07b);
}

/* Nothing is passed ahead of time behind several servers: two heads may leave them at once. */
static void heads_leave_lanes_in_order(void **state)
{
    static const struct row rows[] = {{KB_WRITE, "c0.pe3", "c1.slice0", 68202500},
                                      {KB_WRITE, "c0.pe0", "c1.slice0", 164202500},
                                      {KB_WRITE, "c0.pe2", "c1.slice0", 100202500},
                                      {KB_WRITE, "c0.pe1", "c1.slice0", 132202500}};

    (void)state;
    check_rows(LANES(2, 64.0), rows, 4, 0x18f2384817532d84);
}

#define LINE(ports)                                                                                \
    "kernbench: 2\nname: line\ncontention: {links: fifo}\n"                                        \
    "sip: {cube_mesh: {w: 3, h: 1}, d2d: {bw_gbs: 50.0}}\n"                                        \
    "cube: {pes: 1, noc: {bw_gbs: 28.0}, hbm: {bw_gbs: 56.0, ports: " #ports "}}\n"
#define OUTER(a, b)                                                                                \
    (const struct row[]){{KB_WRITE, "c0.pe0", "c1.slice0", a},                                     \
                         {KB_WRITE, "c2.pe0", "c1.slice0", b}},                                    \
        2

/* Two ports of 28 GB/s drain a memory of 56. */
static void ports_are_servers(void **state)
{
    (void)state;
    check_rows(LINE(1), OUTER(150600714, 296886428), 0);
    check_rows(LINE(2), OUTER(150600714, 223743571), 0);
}

/* -- paths ---------------------------------------------------------------------------------- */

/* Which of the cubes from 8 on the writes of c0.pe0 with ids 0.. pass: a digit for each. */
static void assert_switches(const char *yaml, const char *expected)
{
    const kb_topology *topo = topology(yaml);
    kb_endpoint from = end_of(topo, "c0.pe0"), to = end_of(topo, "c5.slice0");
    uint32_t ends[2];

    assert_int_equal(endpoint_pack_route(topo, KB_WRITE, &from, &to, ends, NULL), KB_OK);
    for (uint64_t id = 0; expected[id]; id++) {
        uint32_t course = endpoint_course(topo, KB_WRITE, ends[0], ends[1], id, 0);
        const struct trip trip = walk_trip(topo, ends[0], ends[1], course, false, 0, false);
        struct route_at at = walk_next(topo, &trip, walk_begin(topo, &trip));

        assert_int_equal(at.cube, 8 + (uint32_t)(expected[id] - '0'));
    }
    any_topology_free(topo);
}

/* Four switches by 5, 4, 4, 5 lanes: in the order of ports c8, c11, c9, c10, and so are ways. */
static void ways_by_hash(void **state)
{
    static const char ways[] = "033002033013131120", of_40[] = "131223300321203032";
    static const uint32_t until[] = {5, 9, 13, 18};

    (void)state;
    for (uint64_t id = 0; id < 18; id++) {
        uint32_t lane = paths_lane(0, 40, id, 0, 18), of_5120 = paths_lane(0, 5120, id, 0, 18);
        uint32_t a = 0, b = 0;

        while (until[a] <= lane)
            a++;
        while (until[b] <= of_5120)
            b++;
        assert_int_equal(a, of_40[id] - '0');
        assert_int_equal(b, ways[id] - '0');
    }
    assert_switches(HEAD "links: {one: {bw_gbs: 128.0, lanes: 5}, two: {bw_gbs: 128.0, lanes: 4}}\n"
                         "kinds: {hub: {pes: 0, hbm: {slices: 0}}}\n"
                         "cubes: {'c[8-11]': hub}\n"
                         "sip:\n  cubes: 12\n  paths: 4\n"
                         "  net: [{each: ['c[0-7]', c8], link: one},\n"
                         "        {each: ['c[0-7]', 'c[9,10]'], link: two},\n"
                         "        {each: ['c[0-7]', c11], link: one}]\n",
                    ways);
}

#define TWO_WAYS(paths)                                                                            \
    HEAD "sip:\n  cubes: 4\n  paths: " #paths "\n  net: [{list: [c0-c1, c1-c3, c0-c2, c2-c3]}]\n"

/* By one way the second write waits for the first one on the links between cubes. */
static void ways_share_no_link(void **state)
{
    (void)state;
    CHECK(TWO_WAYS(1), {KB_WRITE, "c0.pe0", "c3.slice0", 70260000},
          {KB_WRITE, "c0.pe1", "c3.slice2", 38222500});
    CHECK(TWO_WAYS(2), {KB_WRITE, "c0.pe0", "c3.slice0", 38297500},
          {KB_WRITE, "c0.pe1", "c3.slice2", 38222500});
}

/* Behind routers, one way: data come from c3 by c1 or by c2, and a request goes by the only link to
 * it: 4.165 ns, 32 of drain, 6.185 back. */
static void requests_take_the_first_way(void **state)
{
    (void)state;
    CHECK(HEAD "contention: {links: router, vcs: [3, 3]}\ncube: {pes: 1}\n"
               "sip:\n  cubes: 4\n  paths: 2\n"
               "  net: [{list: [c3>c1, c1>c0, c3>c2, c2>c0, c0>c3]}]\n",
          {KB_READ, "c0.pe0", "c3.slice0", 42350000}, {KB_READ, "c0.pe0", "c3.slice0", 84700000},
          {KB_READ, "c0.pe0", "c3.slice0", 127050000}, {KB_WRITE, "c0.pe0", "c3.slice0", 52165000});
}

#define RAILS                                                                                      \
    HEAD "contention: {links: router, vcs: [1, 1], buffer_bytes: 0}\nsips: 3\n"                    \
         "links: {nvl: {bw_gbs: 64.0, latency_ns: 5.0}}\ncube: {pes: 1}\n"                         \
         "fabric: {shape: net, switches: 2, net: [{each: ['s*.c0', 'sw*'], link: nvl}]}\n"         \
         "sip: {cubes: 2, paths: 2, net: [{list: [c0-c1]}]}\n"

/* Two rails of 5 ns, a switch of 5, eight ports, and 64 ns of drain; data of a read come back. */
static void rails_behind_routers(void **state)
{
    (void)state;
    CHECK(RAILS, {KB_WRITE, "c1.pe0", "s1.c1.slice0", 89205000});
    CHECK(RAILS, {KB_READ, "s2.c1.pe0", "s1.c0.slice0", 110370000});
}

static void note_switch(void *arg, const kb_hop *hop)
{
    if (strstr(hop->node, "fabric.switch"))
        snprintf(arg, KB_NODE_BYTES, "%.14s", hop->node);
}

/* Of kb_ways() between two cubes of RAILS, and of its SIPs. */
static void ways_are_counted(void **state)
{
    const kb_topology *topo = topology(RAILS), *dies = topology(DIES);

    (void)state;
    assert_int_equal(kb_ways(topo, 0, 1), 1);
    assert_int_equal(kb_ways(topo, 0, 5), 2); /* s0.c0 to s2.c1, by two switches */
    assert_int_equal(kb_ways(topo, 0, 6), 0); /* a switch */
    assert_false(kb_sips_pass(topo));
    assert_int_equal(kb_ways(dies, 4, 7), 1);
    assert_int_equal(kb_ways(dies, 4, 12), 0);
    any_topology_free(dies);
    any_topology_free(topo);
}

/* From s0.c0 to s2.c1 by each of two switches, and no third one. */
static void a_route_takes_any_of_its_ways(void **state)
{
    const kb_topology *topo = topology(RAILS);
    kb_endpoint from = end_of(topo, "c0.pe0"), to = end_of(topo, "s2.c1.slice0");
    char seen[2][KB_NODE_BYTES] = {"", ""};
    kb_cost cost, other;
    kb_error why;

    (void)state;
    for (uint32_t way = 0; way < 2; way++)
        assert_int_equal(
            kb_route_walk_on(topo, way, KB_WRITE, &from, &to, note_switch, seen[way], &why), KB_OK);
    assert_string_equal(seen[0], "fabric.switch0");
    assert_string_equal(seen[1], "fabric.switch1");
    assert_int_equal(kb_route_cost_on(topo, 0, KB_READ, &from, &to, 64, &cost, &why), KB_OK);
    assert_int_equal(kb_route_cost_on(topo, 1, KB_READ, &from, &to, 64, &other, &why), KB_OK);
    assert_memory_equal(&cost, &other, sizeof cost);
    assert_int_equal(kb_route_cost_on(topo, 2, KB_READ, &from, &to, 64, &cost, &why),
                     KB_BAD_REQUEST);
    assert_string_equal(why.text, "there is no way 2: the route has 2, from 0 on");
    any_topology_free(topo);
}

/* Does a way lead through a third SIP of three in a row with these rails? */
static bool passes(const char *rails)
{
    char text[1024];

    snprintf(text, sizeof text,
             HEAD "sips: 3\nlinks: {nvl: {bw_gbs: 64.0, latency_ns: 5.0}}\ncube: {pes: 1}\n"
                  "fabric: {shape: net, switches: 1, net: [%s]}\n"
                  "sip: {cubes: 2, paths: 2, net: [{list: [c0-c1]}]}\n",
             rails);
    const kb_topology *topo = topology(text);
    bool found = kb_sips_pass(topo);
    any_topology_free(topo);
    return found;
}

static void sips_pass_each_other(void **state)
{
    (void)state;
    assert_false(passes("{each: ['s*.c1', sw0], link: nvl}"));
    assert_true(passes("{list: [s0.c0-s1.c0, s1.c1-s2.c1, s0.c1-sw0], link: nvl}"));
    /* from s0.c0 to s2.c0 by the switch or through s1, as far */
    assert_true(passes("{each: ['s[0-2].c0', sw0], link: nvl},"
                       " {list: [s0.c0-s1.c0, s1.c0-s2.c0], link: nvl}"));
}

#define MESHES(links)                                                                              \
    HEAD "ns_per_mm: 0.0\ncontention: {links: " links "}\nsips: 2\n"                               \
         "links: {nvl: {bw_gbs: 64.0, latency_ns: 5.0}}\n"                                         \
         "cube: {noc: {overhead_ns: 1.0, model: mesh, mesh: {cols: 3, rows: 3}}}\n"                \
         "fabric: {shape: net, switches: 2, net: [{list: ['s*.c0.E-sw0.N'], link: nvl}, "          \
         "{list: ['s*.c1.W-sw1'], link: nvl}]}\nsip: {cubes: 2, net: [{mesh: [2]}]}\n"

/*
 * Rails between meshes of 3 x 3 routers. From c0.pe0, in the corner at r0c0, the side E is three
 * steps away, at r1c2: four routers here and four at the other end, 1 ns each, the switch 5, four
 * ports 4, two wires 10, the crossbar node 2, and 64 ns of drain. From c1.pe7, at r2c2, W is as
 * far. Behind routers a channel without length takes 1 fs.
 */
static void rails_between_meshes(void **state)
{
    (void)state;
    CHECK(MESHES("fifo"), {KB_WRITE, "c0.pe0", "s1.c0.slice0", 93000000},
          {KB_WRITE, "c1.pe7", "s1.c1.slice7", 93000000});
    CHECK(MESHES("router, vcs: [4, 4], buffer_bytes: 0"),
          {KB_WRITE, "c0.pe0", "s1.c0.slice0", 93000009},
          {KB_WRITE, "c1.pe7", "s1.c1.slice7", 93000009});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pes_have_slices_elsewhere),
        cmocka_unit_test(compute_dies_on_memory_dies),
        cmocka_unit_test(a_mesh_is_a_mesh),
        cmocka_unit_test(exits_of_a_whole_grid),
        cmocka_unit_test(a_slow_cube_is_gone_round),
        cmocka_unit_test(routes_are_by_weight),
        cmocka_unit_test(no_way_leads_there),
        cmocka_unit_test(one_way_links),
        cmocka_unit_test(shapes_have_their_links),
        cmocka_unit_test(cubes_have_places),
        cmocka_unit_test(a_dragonfly_joins_its_groups),
        cmocka_unit_test(lanes_are_servers),
        cmocka_unit_test(heads_leave_lanes_in_order),
        cmocka_unit_test(ports_are_servers),
        cmocka_unit_test(ways_by_hash),
        cmocka_unit_test(ways_share_no_link),
        cmocka_unit_test(requests_take_the_first_way),
        cmocka_unit_test(rails_behind_routers),
        cmocka_unit_test(ways_are_counted),
        cmocka_unit_test(a_route_takes_any_of_its_ways),
        cmocka_unit_test(sips_pass_each_other),
        cmocka_unit_test(rails_between_meshes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
