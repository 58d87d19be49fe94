/* test_spread.c -- `tie: spread`: where both ways round a ring are as long, routes that begin in an
 * odd place go W and N. Times and nodes are those of docs/model.md "Machines of any shape". */
#include <math.h>
#include "support/any_topology.h"
#include "support/rig.h"

#define MACHINE(links, rest)                                                                       \
    "kernbench: 2\nname: spread\ncontention: {links: " links "}\n" rest "\n"
#define RING(links, tie) MACHINE(links, "sip: {cube_mesh: {w: 4, h: 2, wrap: x, tie: " tie "}}")

struct way {
    const char *src, *dst;
    kb_transaction_op op;
    double end_ns; /* of 4096 bytes at 0 */
};

/* All at 0, by both engines. */
static void check(const char *yaml, const struct way *ways, size_t n)
{
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});

        for (size_t i = 0; i < n; i++)
            issue(sim, topo, 0, ways[i].op, ways[i].src, ways[i].dst, 4096);
        run_all(sim);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(result_of(sim, i).end_fs, llround(ways[i].end_ns * 1e6));
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

static void odd_places_go_west(void **state)
{
    static const struct way low[] = {{"c1.pe7", "c3.slice0", KB_READ, 38.3725},
                                     {"c4.pe0", "c6.slice3", KB_READ, 38.5975}};
    static const struct way spread[] = {{"c1.pe7", "c3.slice0", KB_READ, 38.5975},
                                        {"c4.pe0", "c6.slice3", KB_READ, 38.3725}};

    (void)state;
    check(RING("ideal", "low"), low, 2);
    check(RING("ideal", "spread"), spread, 2);
    check(RING("fifo", "spread"), spread, 2);
}

/* Low ties share the link from c1 to c2. */
static void so_they_share_no_link(void **state)
{
    static const struct way low[] = {{"c0.pe0", "c2.slice0", KB_READ, 68.315},
                                     {"c1.pe0", "c3.slice0", KB_READ, 38.485}};
    static const struct way spread[] = {{"c0.pe0", "c2.slice0", KB_READ, 38.485},
                                        {"c1.pe0", "c3.slice0", KB_READ, 38.485}};

    (void)state;
    check(RING("fifo", "low"), low, 2);
    check(RING("fifo", "spread"), spread, 2);
}

/* -- what is passed ------------------------------------------------------------------------- */

struct passed {
    unsigned last;
    size_t len;
    char text[256];
};

/* A cube, as c5, or an IO chiplet, as s1, that is not the one before. */
static void put_place(void *arg, const kb_hop *hop)
{
    enum { CHIPLETS = 1000 };
    struct passed *p = arg;
    unsigned sip = 0, cube = 0;
    bool in_cube = sscanf(hop->node, "sip%u.cube%u.", &sip, &cube) == 2;
    unsigned place = in_cube ? cube : CHIPLETS + sip;

    if (!p->len || p->last != place)
        p->len += (size_t)snprintf(p->text + p->len, sizeof p->text - p->len, " %c%u",
                                   in_cube ? 'c' : 's', place % CHIPLETS);
    p->last = place;
}

static void assert_way(const kb_topology *topo, kb_transaction_op op, const char *src,
                       const char *dst, const char *want)
{
    kb_endpoint from = end_of(topo, src), to = end_of(topo, dst);
    struct passed passed = {0};

    assert_int_equal(
        kb_route_walk_on(topo, kb_plane_of(topo, op), op, &from, &to, put_place, &passed, NULL),
        KB_OK);
    assert_string_equal(passed.text, want);
}

/* c1 of 4 x 4 is odd: its ways go back in both dimensions, also by cubes in even places. */
static void the_begin_decides_all_ties(void **state)
{
    const kb_topology *topo =
        any_topology(MACHINE("router", "sip: {cube_mesh: {w: 4, h: 4, wrap: xy, tie: spread}}"));

    (void)state;
    assert_way(topo, KB_WRITE, "c1.pe0", "c11.slice0", " c1 c0 c3 c15 c11");
    assert_way(topo, KB_READ, "c0.pe0", "c10.slice0", " c0 c1 c2 c6 c10");
    assert_way(topo, KB_READ, "c5.pe0", "c14.slice0", " c5 c6 c10 c14");
    assert_way(topo, KB_READ, "c6.pe0", "c13.slice0", " c6 c5 c1 c13");
    any_topology_free(topo);
}

/* The shore cube of c6 is c4, an odd place; that of c2 is c0. */
static void a_host_begins_at_the_shore(void **state)
{
    const kb_topology *topo = any_topology(RING("fifo", "spread"));

    (void)state;
    assert_way(topo, KB_H2D, "host", "c6.slice0", " s0 c4 c7 c6");
    assert_way(topo, KB_D2H, "host", "c2.slice0", " s0 c0 c1 c2");
    any_topology_free(topo);
}

/* c3>c0 makes the plane a one-way one, so a read's data come from c3, an odd place, by c2. */
static void data_begin_at_their_memory(void **state)
{
    const kb_topology *topo =
        any_topology(MACHINE("fifo", "sip: {cube_mesh: {w: 4, h: 1, wrap: x, tie: spread}}\n"
                                     "broken: ['c3>c0']"));

    (void)state;
    assert_way(topo, KB_READ, "c1.pe0", "c3.slice0", " c1 c2 c3");
    assert_way(topo, KB_WRITE, "c1.pe0", "c3.slice0", " c1 c0 c3");
    assert_way(topo, KB_READ, "c0.pe0", "c2.slice0", " c0 c1 c2");
    any_topology_free(topo);
}

/* The link that is named is broken: c2 c3 is as short. */
static void the_next_way_of_the_list(void **state)
{
    const kb_topology *topo =
        any_topology(MACHINE("fifo", "sip: {cube_mesh: {w: 4, h: 1, wrap: x, tie: spread}}\n"
                                     "broken: [c1-c0]"));

    (void)state;
    assert_way(topo, KB_READ, "c1.pe0", "c3.slice0", " c1 c2 c3");
    assert_way(topo, KB_READ, "c3.pe0", "c1.slice0", " c3 c2 c1");
    assert_way(topo, KB_READ, "c2.pe0", "c0.slice0", " c2 c3 c0");
    any_topology_free(topo);
}

/* Low ties leave c1 by the wrap link of 101 mm, spread ones by the link of 1 mm. */
static void a_ring_of_two_is_a_tie(void **state)
{
#define TWO(links, tie)                                                                            \
    MACHINE(links, "sip: {cube_mesh: {w: 2, h: 1, wrap: x, wrap_mm: 101.0, tie: " tie "}}")
    static const struct way low = {"c1.pe0", "c0.slice0", KB_WRITE, 37.315};
    static const struct way spread = {"c1.pe0", "c0.slice0", KB_WRITE, 36.315};

    (void)state;
    check(TWO("fifo", "low"), &low, 1);
    check(TWO("fifo", "spread"), &spread, 1);
}

/* SIPs likewise, by where the request begins. */
static void a_grid_of_packages(void **state)
{
    const kb_topology *topo = any_topology(
        MACHINE("fifo", "sips: 4\nfabric: {shape: grid, grid: {w: 4, h: 1}, wrap: x, tie: spread}\n"
                        "sip: {cube_mesh: {w: 1, h: 1}}"));

    (void)state;
    assert_way(topo, KB_READ, "s1.c0.pe0", "s3.c0.slice0", " c0 s1 s0 s3 c0");
    assert_way(topo, KB_WRITE, "s2.c0.pe0", "s0.c0.slice0", " c0 s2 s3 s0 c0");
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_places_go_west),         cmocka_unit_test(so_they_share_no_link),
        cmocka_unit_test(the_begin_decides_all_ties), cmocka_unit_test(a_host_begins_at_the_shore),
        cmocka_unit_test(data_begin_at_their_memory), cmocka_unit_test(the_next_way_of_the_list),
        cmocka_unit_test(a_ring_of_two_is_a_tie),     cmocka_unit_test(a_grid_of_packages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
