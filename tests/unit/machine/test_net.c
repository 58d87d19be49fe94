/* test_net.c -- nets of cubes: kinds, links, lanes, routes by weight; numbers computed by a program
 * of its own, through both engines and the judge.
 */
#include "machine/endpoint.h"
#include "machine/walk.h"
#include "support/any_topology.h"
#include "support/rig.h"

#define HEAD   "kernbench: 3\nname: m\n"
#define NET(n) "sip:\n  cubes: " #n "\n  net: "

/* A transaction at time 0, and when it ends. */
struct row {
    kb_transaction_op op;
    const char *src, *dst;
    int64_t end_fs;
};

static const kb_topology *topology(const char *yaml)
{
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    return topo;
}

/* What the judge says of the rows; its fingerprint. */
static uint64_t judged(const kb_topology *topo, const char *yaml, const struct row *rows, size_t n)
{
    struct judge_topo *t = judge_load_text(yaml);
    struct judge_row judge_rows[8] = {{.issue_fs = 0}};
    struct judge_result results[8];
    uint64_t fingerprint;

    assert_non_null(t);
    assert_true(t->datelines == (topo->routes_by == ROUTES_DATELINES));
    assert_int_equal(t->hops, topo->hop_classes);
    assert_true(t->up_down == (topo->routes_by == ROUTES_UP_DOWN));
    for (size_t i = 0; i < n; i++) {
        judge_rows[i].op = rows[i].op == KB_WRITE ? JUDGE_WRITE : JUDGE_READ;
        judge_rows[i].nbytes = 4096;
        assert_true(judge_end_parse(t, rows[i].src, &judge_rows[i].src));
        assert_true(judge_end_parse(t, rows[i].dst, &judge_rows[i].dst));
    }
    assert_true(judge_replay(t, judge_rows, n, results, &fingerprint));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(results[i].end_fs, rows[i].end_fs);
    judge_free(t);
    return fingerprint;
}

/* `fingerprint` 0: whatever the judge says. */
static void check_rows(const char *yaml, const struct row *rows, size_t n, uint64_t fingerprint)
{
    const kb_topology *topo = topology(yaml);
    uint64_t of_judge = judged(topo, yaml, rows, n);

    if (fingerprint)
        assert_true(of_judge == fingerprint);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e, .fingerprint = true});

        for (size_t i = 0; i < n; i++) {
            kb_transaction r = {.op = rows[i].op,
                                .src = end_of(topo, rows[i].src),
                                .dst = end_of(topo, rows[i].dst),
                                .nbytes = 4096};

            add(sim, &r);
        }
        assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
        for (size_t i = 0; i < n; i++) {
            kb_result got;

            assert_int_equal(kb_sim_result(sim, i, &got), KB_OK);
            assert_int_equal(got.end_fs, rows[i].end_fs);
        }
        assert_true(kb_sim_fingerprint(sim) == of_judge);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

#define CHECK(yaml, ...)                                                                           \
    check_rows(yaml, (const struct row[]){__VA_ARGS__},                                            \
               sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row), 0)

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

/* -- present machines ----------------------------------------------------------------------- */

/* KB_SEEDS=N in the environment runs seeds 1..N. */
enum { MACHINES = 60, ROWS = 40 };

static uint32_t below(uint64_t *rng, uint32_t n)
{
    return (uint32_t)(draw(rng) % n);
}

static bool chance(uint64_t *rng, uint32_t per_cent)
{
    return below(rng, 100) < per_cent;
}

/* The same machine twice: by sip.cube_mesh, and as a net whose IO cubes are the western column. */
static void print_twice(uint64_t seed, bool routers, char mesh[], char net[], size_t bytes,
                        uint32_t *w, uint32_t *h, bool *closed)
{
    uint64_t dice = seed, *rng = &dice;
    char cubes[128] = "", links[160], rest[384];

    *w = 1 + below(rng, 5);
    *h = 1 + below(rng, 4);
    *closed = chance(rng, 50);
    if (routers && *closed) { /* smaller rings do without datelines; no ring has its port to the
                                 IO chiplet in common with a link */
        *w = 1;
        *h = 4 + below(rng, 3);
    }
    snprintf(links, sizeof links, "%s", chance(rng, 80) ? "fifo" : "ideal");
    if (routers)
        snprintf(links, sizeof links,
                 "router, segment_bytes: 256, packet_bytes: 1024, buffer_bytes: %u, "
                 "vcs: [2, 2], arbiter: %s, command_bytes: %u",
                 256 * (4 + below(rng, 8)), chance(rng, 50) ? "rr" : "age", 32 * below(rng, 2));
    snprintf(rest, sizeof rest,
             "ns_per_mm: %s\ncontention: {links: %s}\ncube: {pes: %u, ucie: {overhead_ns: %u.0}, "
             "noc: {overhead_ns: %u.5}}\n",
             chance(rng, 30) ? "0.0" : "0.01", links, 1 + below(rng, 4), below(rng, 3),
             below(rng, 2));
    for (uint32_t y = 0; y < *h; y++)
        snprintf(cubes + strlen(cubes), sizeof cubes - strlen(cubes), "%sc%u", y ? ", " : "",
                 y * *w);
    snprintf(mesh, bytes, HEAD "%ssip: {cube_mesh: {w: %u, h: %u, wrap: %s}}\n", rest, *w, *h,
             *closed ? "xy" : "none");
    snprintf(net, bytes, HEAD "%ssip: {cubes: %u, net: [{%s: [%u, %u]}], io_cubes: [%s]}\n", rest,
             *w * *h, *closed ? "torus" : "mesh", *w, *h, cubes);
}

/* In a ring of cubes a host shares the port of a mesh with neighbours; a net has one for it, which
 * takes the last turn. */
static kb_transaction any_row(uint64_t *rng, const kb_topology *topo, bool hosts)
{
    kb_transaction r = {.nbytes = 1};
    bool host = hosts && chance(rng, 15), write = chance(rng, 50);

    kb_pe_get(topo, below(rng, kb_pe_count(topo)), &r.src);
    kb_slice_get(topo, below(rng, kb_slice_count(topo)), &r.dst);
    if (host)
        r.src = (kb_endpoint){.kind = KB_HOST};
    else if (chance(rng, 25))
        r.dst = (kb_endpoint){.kind = KB_SRAM, .cube = r.dst.cube};
    r.op = host ? (write ? KB_H2D : KB_D2H) : write ? KB_WRITE : KB_READ;
    r.nbytes = chance(rng, 50) ? 4096 : 1 + below(rng, 9000);
    r.issue_fs = chance(rng, 50) ? 0 : (int64_t)below(rng, 200000000);
    return r;
}

static void assert_same_results(bool routers)
{
    const char *text = getenv("KB_SEEDS");
    uint64_t n = text ? strtoull(text, NULL, 10) : MACHINES;

    for (uint64_t seed = 1; seed <= n; seed++) {
        uint64_t rng = ~seed;
        char yaml[2][1024];
        const kb_topology *topo[2];
        kb_sim *sim[2];
        uint32_t w, h;
        bool closed;

        print_twice(seed, routers, yaml[0], yaml[1], sizeof yaml[0], &w, &h, &closed);
        for (int i = 0; i < 2; i++) {
            topo[i] = topology(yaml[i]);
            sim[i] = new_sim(
                topo[i], (kb_options){.engine = seed % 4 ? KB_FUSED : KB_HOP, .fingerprint = true});
        }
        for (int row = 0; row < ROWS; row++) {
            kb_transaction r = any_row(&rng, topo[0], !closed && !strstr(yaml[0], "rr"));

            for (int i = 0; i < 2; i++)
                add(sim[i], &r);
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal(kb_sim_run(sim[i], 0, NULL), KB_OK);
        assert_true(kb_sim_fingerprint(sim[0]) == kb_sim_fingerprint(sim[1]));
        for (size_t row = 0; row < ROWS; row++) {
            kb_result got[2];

            memset(got, 0, sizeof got);
            for (int i = 0; i < 2; i++)
                assert_int_equal(kb_sim_result(sim[i], row, &got[i]), KB_OK);
            assert_memory_equal(&got[0], &got[1], sizeof got[0]);
        }
        for (int i = 0; i < 2; i++) {
            kb_sim_free(sim[i]);
            any_topology_free(topo[i]);
        }
    }
}

static void a_net_has_the_results_of_its_mesh(void **state)
{
    (void)state;
    assert_same_results(false);
}

static void a_net_of_routers_has_them_too(void **state)
{
    (void)state;
    assert_same_results(true);
}

/* -- packets that could wait in a circle ----------------------------------------------------- */

#define ROUTERS(n) "contention: {links: router, vcs: [" #n ", " #n "]}\ncube: {pes: 1}\n"

/* What keeps packets of the net from it, with so many VCs; 0 hop classes: there are none. */
static void assert_routes(const char *yaml, enum routes_by by, uint32_t classes)
{
    const kb_topology *topo = topology(yaml);
    kb_info info;

    kb_topology_info(topo, &info);
    assert_int_equal(topo->routes_by, by);
    assert_int_equal(topo->hop_classes, classes);
    assert_non_null(info.routes);
    any_topology_free(topo);
}

static void routes_have_no_circle(void **state)
{
    (void)state;
    assert_routes(HEAD ROUTERS(1) NET(16) "[{mesh: [4, 4]}]\n", ROUTES_ALL, 0);
    assert_routes(HEAD ROUTERS(1) NET(8) "[{all: c*}]\n", ROUTES_ALL, 0);
    assert_routes(HEAD ROUTERS(1) NET(8) "[{mesh: [4, 2]}]\n", ROUTES_ALL, 0);
    assert_routes(HEAD ROUTERS(2) NET(5) "[{torus: [5]}]\n", ROUTES_DATELINES, 0);
    assert_routes(HEAD ROUTERS(2) NET(16) "[{torus: [4, 4]}]\n", ROUTES_DATELINES, 0);
    assert_routes(HEAD ROUTERS(2) NET(64) "[{torus: [4, 4, 4]}]\n", ROUTES_DATELINES, 0);
    assert_routes(HEAD ROUTERS(3)
                      NET(36) "[{all: 'c[0-35]', groups: 9}, {dragonfly: 'c[0-35]', groups: 9}]\n",
                  ROUTES_HOPS, 3);
    assert_routes(HEAD ROUTERS(3) NET(4) "[{list: [c0>c1, c1>c2, c2>c3, c3>c0]}]\n", ROUTES_HOPS,
                  3);
    /* c1 to c0 goes down to c2, and would go up: by routes up*, then down* it has no way */
    assert_null(any_topology(HEAD ROUTERS(2) NET(4) "[{list: [c0>c1, c1>c2, c2>c3, c3>c0]}]\n"));
    /* over two SIPs the links in both count: c1 > c2 > c0, then c0 > c1 > c2 */
    assert_routes(HEAD "sips: 2\n" ROUTERS(4) NET(3) "[{list: [c0>c1, c1>c2, c2>c0]}]\n",
                  ROUTES_HOPS, 4);
    assert_null(
        any_topology(HEAD "sips: 2\n" ROUTERS(3) NET(3) "[{list: [c0>c1, c1>c2, c2>c0]}]\n"));
    assert_routes(
        HEAD ROUTERS(1) "kinds: {sw: {pes: 0, hbm: {slices: 0}}}\ncubes: {'c[16-23]': sw}\n"
                        "sip:\n  cubes: 24\n  paths: 4\n"
                        "  net: [{each: ['c[0-15]', 'c[16-19]'], groups: 4},\n"
                        "        {each: ['c[16-19]', 'c[20-23]']}]\n",
        ROUTES_ALL, 0);
}

/* The cubes that a route passes, as letters: 'a' is c0. */
static const char *cubes_of_route(const kb_topology *t, uint32_t from, uint32_t to)
{
    static char text[64];
    uint32_t n = 0;

    for (uint32_t at = from; at != to && n < 60;
         at = net_port(t, at, mesh_step(t, 0, false, at, from, to))->cube)
        text[n++] = (char)('a' + at);
    text[n++] = (char)('a' + to);
    text[n] = 0;
    return text;
}

/* Ranks of the ring of five: c0 0, c1 1, c4 2, c2 3, c3 4. */
#define RING5 HEAD ROUTERS(1) NET(5) "[{torus: [5]}]\n"

static void routes_go_up_and_then_down(void **state)
{
    const kb_topology *t = topology(RING5);
    uint32_t links = 0;

    (void)state;
    assert_int_equal(t->routes_by, ROUTES_UP_DOWN);
    assert_string_equal(cubes_of_route(t, 4, 2), "eabc");
    assert_string_equal(cubes_of_route(t, 2, 4), "cbae");
    assert_string_equal(cubes_of_route(t, 1, 3), "bcd");
    assert_string_equal(cubes_of_route(t, 3, 1), "dcb");
    for (uint32_t from = 0; from < 5; from++)
        for (uint32_t to = 0; to < 5; to++)
            links += (uint32_t)strlen(cubes_of_route(t, from, to)) - 1;
    assert_int_equal(links, 32);
    any_topology_free(t);
    /* six, of which c3 is a switch: ranks c3 0, c4 1, c2 2, c5 3, c1 4, c0 5 */
    t = topology(HEAD ROUTERS(1) NET(6) "[{torus: [6]}]\n"
                                        "cubes: {c3: {pes: 0, hbm: {slices: 0}}}\n");
    assert_int_equal(t->routes_by, ROUTES_UP_DOWN);
    assert_string_equal(cubes_of_route(t, 1, 5), "bcdef");
    any_topology_free(t);
    /* SIPs 1 and 2 are alike, but into the first the tree comes by c0, into the other by c3: ranks
     * c0 c1 c4 c3 c2, and c3 c4 c2 c0 c1 */
    t = topology("kernbench: 3\nname: m\nsips: 3\n" ROUTERS(
        1) "fabric:\n  shape: net\n"
           "  net: [{list: [s1.c0-s0.c0, s1.c3-s0.c2, s2.c0-s0.c2, s2.c3-s0.c0]}]\n" NET(
               5) "[{torus: [5]}]\n");
    assert_int_equal(t->routes_by, ROUTES_UP_DOWN);
    assert_string_equal(cubes_of_route(t, 1, 3), "bcd");
    assert_string_equal(cubes_of_route(t, 6, 8), "gfji");
    assert_string_equal(cubes_of_route(t, 11, 13), "lmn");
    any_topology_free(t);
    check_rows(RING5, (struct row[]){{KB_WRITE, "c4.pe0", "c2.slice0", 40655000}}, 1, 0);
}

/*
 * A ring of five at c3, so that routes go up and down, and before it ranks c0 0, c1 1, c2 2, c3 3.
 * c2 goes to c3 up by c1, for 14 ns, and not down the link of 42 ns. c0 is 102 ns from c1, so it
 * goes down to c2, and from there may not go up.
 */
static void the_step_depends_on_what_lies_before(void **state)
{
    const kb_topology *t =
        topology(HEAD ROUTERS(1) "links:\n"
                                 "  far: {bw_gbs: 128.0, latency_ns: 100.0}\n"
                                 "  mid: {bw_gbs: 128.0, latency_ns: 40.0}\n"
                                 "  near: {bw_gbs: 128.0, latency_ns: 5.0}\n" NET(
                                     9) "[\n"
                                        "    {list: [c0-c1], link: far},\n"
                                        "    {list: [c0-c2, c1-c2, c1-c3], link: near},\n"
                                        "    {list: [c2-c3], link: mid}, {list: [c3-c4]},\n"
                                        "    {torus: [5], of: 'c[4-8]'}]\n");

    (void)state;
    assert_int_equal(t->routes_by, ROUTES_UP_DOWN);
    assert_string_equal(cubes_of_route(t, 2, 3), "cbd");
    assert_string_equal(cubes_of_route(t, 0, 3), "acd");
    assert_string_equal(cubes_of_route(t, 3, 0), "dca");
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pes_have_slices_elsewhere),
        cmocka_unit_test(compute_dies_on_memory_dies),
        cmocka_unit_test(a_mesh_is_a_mesh),
        cmocka_unit_test(routes_are_by_weight),
        cmocka_unit_test(no_way_leads_there),
        cmocka_unit_test(one_way_links),
        cmocka_unit_test(shapes_have_their_links),
        cmocka_unit_test(a_dragonfly_joins_its_groups),
        cmocka_unit_test(lanes_are_servers),
        cmocka_unit_test(heads_leave_lanes_in_order),
        cmocka_unit_test(ports_are_servers),
        cmocka_unit_test(ways_by_hash),
        cmocka_unit_test(ways_share_no_link),
        cmocka_unit_test(requests_take_the_first_way),
        cmocka_unit_test(rails_behind_routers),
        cmocka_unit_test(rails_between_meshes),
        cmocka_unit_test(a_net_has_the_results_of_its_mesh),
        cmocka_unit_test(a_net_of_routers_has_them_too),
        cmocka_unit_test(routes_have_no_circle),
        cmocka_unit_test(routes_go_up_and_then_down),
        cmocka_unit_test(the_step_depends_on_what_lies_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
