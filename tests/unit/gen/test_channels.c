/* test_channels.c -- virtual channels of a network of routers: which parts packets own, what breaks
 * circles, and which machines are refused by name. docs/network.md "No deadlock" has the rules.
 */
#include "machine/vcs.h"
#include "support/any_topology.h"
#include "support/rig.h"

#define HEAD       "kernbench: 2\nname: t\ncontention: {links: router, vcs: [%d, %d]}\n"
#define MESH(w, h) "sip: {cube_mesh: {w: " #w ", h: " #h "}}\n"
#define PES(n)     "cube: {pes: " #n "}\n"
#define HOLES      "cube: {noc: {model: mesh, mesh: {holes: [[2, 2], [3, 2], [2, 3], [3, 3]]}}}\n"

static const char *yaml_of(const char *rest, int vcs)
{
    static char text[1024];
    int len = snprintf(text, sizeof text, HEAD, vcs, vcs);

    snprintf(text + len, sizeof text - (size_t)len, "%s", rest);
    return text;
}

static const kb_topology *made(const char *rest, int vcs)
{
    const kb_topology *topo = any_topology(yaml_of(rest, vcs));

    assert_non_null(topo);
    return topo;
}

/* All PEs at once, each from and to a slice of each cube; the fingerprint. */
static uint64_t all_to_all(const kb_topology *topo, kb_engine engine)
{
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine, .fingerprint = true});
    uint32_t slices = kb_slice_count(topo);
    uint64_t fingerprint;

    for (uint32_t a = 0; a < kb_pe_count(topo); a++)
        for (uint32_t b = 0; b < slices; b++) {
            kb_transaction r = {.op = (a + b) % 2 ? KB_READ : KB_WRITE, .nbytes = 600};

            assert_int_equal(kb_pe_get(topo, a, &r.src), KB_OK);
            assert_int_equal(kb_slice_get(topo, b, &r.dst), KB_OK);
            if (r.dst.unit == 0)
                add(sim, &r);
        }
    run_all(sim); /* packets that wait for each other would end it */
    fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
    return fingerprint;
}

/* It is made, its detours are so, and packets come to their ends. */
static void assert_by(const char *rest, int vcs, enum detours_by by)
{
    const kb_topology *topo = made(rest, vcs);

    assert_int_equal(topo->detours_by, by);
    assert_true(all_to_all(topo, KB_FUSED) == all_to_all(topo, KB_HOP));
    any_topology_free(topo);
}

static void assert_refused(const char *rest, int vcs, const char *what)
{
    const char *yaml = yaml_of(rest, vcs);
    kb_topology_source source = {.file = "t", .text = yaml, .nbytes = strlen(yaml)};
    const kb_topology *topo;
    char *messages;

    assert_int_not_equal(kb_topology_load(&source, &topo, &messages), KB_OK);
    assert_null(topo);
    if (!strstr(messages, what))
        fail_msg("%s", messages);
    free(messages);
}

static void halves_and_thirds(void **state)
{
    struct vc_range r = vcs_range(&(struct kb_topology){0}, 0, 4, 2, 1, 0, false);

    (void)state;
    assert_true(r.first == 2 && r.end == 4); /* all of group 1 */
    r = vcs_range(&(struct kb_topology){0}, vcs_share(0, 2), 3, 1, 0, 0, false);
    assert_true(r.first == 0 && r.end == 1);
    r = vcs_range(&(struct kb_topology){0}, vcs_share(1, 2), 3, 1, 0, 0, false);
    assert_true(r.first == 1 && r.end == 3);
    r = vcs_range(&(struct kb_topology){0}, (uint8_t)(vcs_share(0, 2) | VCS_BY_X), 2, 1, 0,
                  CROSSED_X, false);
    assert_true(r.first == 1 && r.end == 2);
    r = vcs_range(&(struct kb_topology){0}, (uint8_t)(vcs_share(0, 2) | VCS_BY_X), 2, 1, 0,
                  CROSSED_Y, false);
    assert_true(r.first == 0 && r.end == 1);
    r = vcs_range(&(struct kb_topology){0}, (uint8_t)(vcs_share(0, 3) | VCS_BY_X | VCS_BY_DETOUR),
                  6, 1, 0, CROSSED_X, true);
    assert_true(r.first == 4 && r.end == 6);
}

/* The share of the edge behind the node called `name` in a segment. */
static uint8_t share_behind(const kb_topology *t, uint32_t segment, const char *name, bool answer)
{
    const struct segment_row *seg = &t->segments[segment];

    for (uint32_t i = 0; i < seg->n_hops; i++) {
        uint32_t hop = seg->first_hop + i;

        if (strcmp(t->cube_nodes[t->hops[hop].node].name, name) == 0)
            return answer ? t->answer_shares[hop] : t->request_shares[hop];
    }
    fail_msg("no %s there", name);
    return 0;
}

/* pe0 -> slice7 of 8: pe_dma, xbar.pe0, bridge.left, xbar.pe4, 5, 6, 7, slice7. */
static void bridges_part_the_crossbar(void **state)
{
    const kb_topology *t = made(MESH(1, 1), 2);
    uint32_t way = seg_of_local(t, 0, 0, 7);

    (void)state;
    assert_int_equal(share_behind(t, way, "pe0.pe_dma", false), 0);
    assert_int_equal(share_behind(t, way, "xbar.pe0", false), vcs_share(0, 2));
    assert_int_equal(share_behind(t, way, "bridge.left", false), vcs_share(0, 2));
    assert_int_equal(share_behind(t, way, "xbar.pe4", false), vcs_share(1, 2));
    assert_int_equal(share_behind(t, way, "xbar.pe7", false), 0);
    assert_int_equal(share_behind(t, way, "xbar.pe4", true), vcs_share(0, 2));
    assert_int_equal(share_behind(t, way, "bridge.left", true), vcs_share(0, 2));
    assert_int_equal(share_behind(t, way, "xbar.pe0", true), vcs_share(0, 2));
    any_topology_free(t);
    assert_refused(MESH(1, 1), 1, "crossbars and bridges, a ring in cubes of 6 PEs and more");
    assert_by(MESH(1, 1) PES(4), 1, DETOURS_WITH); /* four are no ring */
}

static void rings_need_two(void **state)
{
    const kb_topology *t = made("sip: {cube_mesh: {w: 4, h: 1, wrap: x}}\n" PES(1), 2);
    uint8_t by_x = (uint8_t)(vcs_share(0, 2) | VCS_BY_X);

    (void)state;
    assert_int_equal(share_behind(t, seg_of_pass(t, 0, SIDE_W, SIDE_E), "noc", false), by_x);
    assert_int_equal(share_behind(t, seg_of_pass(t, 0, SIDE_W, SIDE_E), "ucie-W", true), by_x);
    assert_int_equal(share_behind(t, seg_of_in(t, 0, SIDE_W, 0), "noc", false), 0);
    any_topology_free(t);
    assert_refused("sip: {cube_mesh: {w: 4, h: 1, wrap: x}}\n" PES(1), 1, "rings of cubes");
    assert_refused("sip: {cube_mesh: {w: 1, h: 1}}\nsips: 4\n" PES(
                       1) "fabric: {shape: grid, grid: {w: 4, h: 1}, wrap: x}\n",
                   1, "rings of SIPs");
    assert_by("sip: {cube_mesh: {w: 2, h: 1}}\nsips: 4\n" PES(
                  1) "fabric: {shape: grid, grid: {w: 1, h: 4}, wrap: y}\n",
              2, DETOURS_WITH);
}

/* Cubes that lack PEs, that differ, and planes that go one way: packets end as on whole machines.
 */
static void other_cubes_have_routers_too(void **state)
{
    (void)state;
    assert_by(MESH(3, 2) PES(4) "missing: [c0.pe1, \"c2.pe[2-3]\"]\n", 1, DETOURS_WITH);
    assert_by(MESH(3, 2) PES(4) "cubes: {c1: {pes: 2, hbm: {slices: 2}}}\n", 1, DETOURS_WITH);
    assert_by("sip: {cube_mesh: {w: 3, h: 2, wrap: xy}, planes: [{name: a, dirs: [E, S]},"
              " {name: b, dirs: [W, N], order: yx}]}\n" PES(1),
              2, DETOURS_WITH);
}

/* Around one missing cube detours close a circle even among themselves: up*, then down*. */
static void detours_are_kept_apart_or_turned(void **state)
{
    (void)state;
    assert_by(MESH(4, 4) PES(1), 1, DETOURS_WITH);
    assert_by(MESH(4, 2) "broken: [c1-c2]\n" PES(1), 1, DETOURS_WITH);
    assert_by(MESH(4, 4) "broken: [c5-c6]\n" PES(1), 2, DETOURS_APART);
    assert_by(MESH(4, 4) "broken: [c5-c6]\n" PES(1), 1, DETOURS_UP_DOWN);
    assert_by(MESH(4, 4) "missing: [c5]\n" PES(1), 1, DETOURS_UP_DOWN);
    assert_by(MESH(4, 4) "missing: [c5, c10]\n" PES(1), 2, DETOURS_UP_DOWN);
}

static void see(void *arg, const kb_hop *hop)
{
    *(int64_t *)arg += hop->wire_fs + hop->overhead_fs;
}

/* Routes up*, then down* are in all tables alike, and lead from each cube to each. */
static void turned_routes_are_whole(void **state)
{
    const kb_topology *t = made(MESH(4, 4) "missing: [c5]\n" PES(1), 1);

    (void)state;
    for (uint32_t a = 0; a < kb_pe_count(t); a++)
        for (uint32_t b = 0; b < kb_slice_count(t); b++) {
            int64_t walked_fs = 0;
            kb_endpoint from, to;
            kb_cost cost;

            assert_int_equal(kb_pe_get(t, a, &from), KB_OK);
            assert_int_equal(kb_slice_get(t, b, &to), KB_OK);
            assert_int_equal(kb_route_cost(t, KB_WRITE, &from, &to, 64, &cost, NULL), KB_OK);
            assert_int_equal(kb_route_walk(t, &from, &to, see, &walked_fs, NULL), KB_OK);
            assert_int_equal(walked_fs, cost.wire_fs + cost.overhead_fs);
        }
    any_topology_free(t);
}

/* One cube goes with any mesh; several need stages, and around holes routes that are turned. */
static void meshes_have_stages(void **state)
{
    (void)state;
    assert_by(MESH(1, 1) "cube: {pes: 4, noc: {model: mesh}}\n", 1, DETOURS_WITH);
    assert_refused(MESH(3, 3) "cube: {pes: 4, noc: {model: mesh}}\n", 1, "in a circle, ");
    assert_by(MESH(3, 3) "cube: {pes: 4, noc: {model: mesh}}\n", 2, DETOURS_WITH);
    assert_refused(MESH(3, 3) HOLES, 2, "each of 'contention.vcs' must be at least 3");
    assert_by(MESH(3, 3) HOLES, 3, DETOURS_UP_DOWN);
}

/* c0.noc > c1.noc: 2 * 40.02 ns at 128 GB/s are 10245.12 bytes: 41 segments and 2, 11008 bytes. */
static void small_buffers_are_told(void **state)
{
    static const char *const buffers[] = {"11007", "11008", "0"};

    (void)state;
    for (size_t i = 0; i < LENGTH(buffers); i++) {
        char yaml[512];
        kb_topology_source source = {.file = "t", .text = yaml};
        const kb_topology *topo;
        char *messages;

        source.nbytes = (size_t)snprintf(
            yaml, sizeof yaml,
            "kernbench: 2\nname: t\ncontention: {links: router, buffer_bytes: %s}\n" MESH(
                2, 1) "cube: {pes: 2, ucie: {overhead_ns: 20}}\n",
            buffers[i]);
        assert_int_equal(kb_topology_load(&source, &topo, &messages), KB_OK);
        assert_int_equal(messages != NULL, i == 0);
        if (messages && !strstr(messages, "which take 11008: packets wait there even alone"))
            fail_msg("%s", messages);
        free(messages);
        any_topology_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_and_thirds),
        cmocka_unit_test(bridges_part_the_crossbar),
        cmocka_unit_test(rings_need_two),
        cmocka_unit_test(other_cubes_have_routers_too),
        cmocka_unit_test(detours_are_kept_apart_or_turned),
        cmocka_unit_test(turned_routes_are_whole),
        cmocka_unit_test(meshes_have_stages),
        cmocka_unit_test(small_buffers_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
