/* test_net_circles.c -- what keeps the packets of a net from waiting in a circle: all VCs,
 * datelines, hop classes, routes up a tree and then down.
 */
#include "machine/walk.h"
#include "support/judged.h"

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

/* The engine has as many hop classes as the longest way has links, and the judge, which looks at
 * each way, has as many. */
static void assert_classes(const char *yaml, uint32_t classes)
{
    struct judge_topo *t = judge_load_text(yaml);

    assert_non_null(t);
    assert_int_equal(t->hops, classes);
    judge_free(t);
    assert_routes(yaml, ROUTES_HOPS, classes);
}

#define RING(sips, more)                                                                           \
    HEAD "sips: " #sips "\n" more ROUTERS(8)                                                       \
        NET(5) "[{list: [c0-c1, c1-c2, c2-c3, c3-c4, c4-c0]}]\n"
#define ONE_WAY(kinds)                                                                             \
    HEAD "sips: 2\nkinds: {mem: {pes: 0, hbm: {slices: 1}}, far: {hbm: {slices: 0}}, "             \
         "sw: {pes: 0, hbm: {slices: 0}}}\ncubes: {" kinds "}\n" ROUTERS(8)                        \
             NET(4) "[{list: [c0>c1, c1>c2, c2>c3, c3>c0]}]\n"

#define COUNTS(n, kinds)                                                                           \
    HEAD "contention: {links: router, vcs: [" #n ", " #n "], hop_links: [" kinds "]}\n"            \
         "cube: {pes: 1}\nlinks: {far: {bw_gbs: 16.0, latency_ns: 100.0}}\n"
#define DRAGONFLY                                                                                  \
    NET(36) "[{all: 'c[0-35]', groups: 9}, {dragonfly: 'c[0-35]', groups: 9, link: far}]\n"

/* A dragonfly has one link between groups on each way: a part before and on it, and one behind. */
static void hop_classes_count_some_kinds_of_links(void **state)
{
    (void)state;
    assert_classes(COUNTS(2, "far") DRAGONFLY, 2);
    assert_classes(COUNTS(3, "far, d2d") DRAGONFLY, 3);
    assert_routes(COUNTS(1, "far") DRAGONFLY, ROUTES_UP_DOWN, 0);
    /* two links inside a group are before the last one */
    assert_classes(COUNTS(4, "d2d") DRAGONFLY, 2);
    /* of a ring of one kind all would own one part */
    assert_null(any_topology(COUNTS(4, "far") NET(4) "[{list: [c0>c1, c1>c2, c2>c3, c3>c0]}]\n"));
}

static void hop_classes_are_as_many_as_links(void **state)
{
    (void)state;
    assert_classes(RING(2, ""), 4);
    /* in s1 alone the ring is a line of four links, and no way leads from a line to itself */
    assert_classes(RING(2, "broken: [s1.c4-s1.c0]\n"), 6);
    assert_classes(RING(3, "broken: [s1.c4-s1.c0, s2.c0-s2.c1]\n"), 8);
    /* data of a read from c1 of the other SIP: c1 > c2 > c3 > c0, and c0 > c1 > c2 > c3 */
    assert_classes(ONE_WAY("'s*.c[0-2]': mem"), 6);
    /* from PEs of c1 alone: c1 > c2 > c3 > c0, and to c2; switches have no ways of their own */
    assert_classes(ONE_WAY("'s*.c0': sw, 's*.c1': far, 's*.c2': mem, 's*.c3': sw"), 5);
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
        cmocka_unit_test(routes_have_no_circle),
        cmocka_unit_test(hop_classes_count_some_kinds_of_links),
        cmocka_unit_test(hop_classes_are_as_many_as_links),
        cmocka_unit_test(routes_go_up_and_then_down),
        cmocka_unit_test(the_step_depends_on_what_lies_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
