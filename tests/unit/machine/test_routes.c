/* test_routes.c -- every route of cube8 and tray32, node by node, against the judge's walk. */
#include "support/any_topology.h"
#include "support/rig.h"

#include "cube8.h"
#include "tray32.h"

/* One topology by both, and the route under comparison. */
struct pair {
    const kb_topology *topo;
    struct judge_topo *judge;
    struct judge_route route;
    size_t n; /* nodes that kb_route_walk() has shown */
    uint64_t n_routes;
    char name[3 * JUDGE_NAME_BYTES]; /* of the route, for messages */
};

/* The judge reads the resolved YAML that the library carries. */
static struct pair pair_of(const kb_topology *topo)
{
    struct pair p = {.topo = topo};
    kb_info info;

    kb_topology_info(topo, &info);
    p.judge = judge_load_text(info.config);
    assert_non_null(p.judge);
    return p;
}

static void free_pair(struct pair *p)
{
    judge_route_clear(&p->route);
    judge_free(p->judge);
}

static void check_node(void *arg, const kb_hop *hop)
{
    struct pair *p = arg;
    const struct judge_hop *expected = &p->route.hops[p->n];

    if (p->n++ >= p->route.n)
        fail_msg("%s: %s is one node too many", p->name, hop->node);
    if (strcmp(hop->node, expected->name) != 0)
        fail_msg("%s: node %zu is %s, not %s", p->name, p->n - 1, hop->node, expected->name);
    if (hop->wire_fs != expected->wire_fs || hop->overhead_fs != expected->overhead_fs ||
        hop->edge_gbs != expected->edge_gbs)
        fail_msg("%s: %s costs %" PRId64 " + %" PRId64 " fs at %g GB/s, not %" PRId64 " + %" PRId64
                 " fs at %g GB/s",
                 p->name, hop->node, hop->wire_fs, hop->overhead_fs, hop->edge_gbs,
                 expected->wire_fs, expected->overhead_fs, expected->edge_gbs);
}

static void check_cost(struct pair *p, kb_transaction_op op, const kb_endpoint *src,
                       const kb_endpoint *dst)
{
    kb_cost cost;

    assert_int_equal(kb_route_cost(p->topo, op, src, dst, 4096, &cost, NULL), KB_OK);
    if (cost.wire_fs != p->route.wire_fs || cost.overhead_fs != p->route.overhead_fs ||
        cost.response_fs != p->route.response_fs ||
        cost.bottleneck_gbs != p->route.bottleneck_gbs ||
        cost.memory_overhead_fs != p->route.hops[p->route.n - 1].overhead_fs)
        fail_msg("%s: the sums of kb_route_cost() are not those of the walk", p->name);
}

static void check_route(struct pair *p, const struct judge_end *src, const struct judge_end *dst)
{
    kb_transaction_op forth = src->kind == JUDGE_HOST ? KB_H2D : KB_WRITE;
    kb_transaction_op back = src->kind == JUDGE_HOST ? KB_D2H : KB_READ;
    kb_endpoint from = kb_end(src), to = kb_end(dst);
    char a[JUDGE_NAME_BYTES], b[JUDGE_NAME_BYTES];
    kb_cost cost;

    if (!judge_route(p->judge, (enum judge_op)forth, src, dst, &p->route)) {
        assert_int_equal(kb_route_walk(p->topo, &from, &to, check_node, p, NULL), KB_BAD_REQUEST);
        assert_int_equal(kb_route_cost(p->topo, forth, &from, &to, 1, &cost, NULL), KB_BAD_REQUEST);
        return;
    }
    judge_end_name(src, a);
    judge_end_name(dst, b);
    snprintf(p->name, sizeof p->name, "%s -> %s", a, b);
    p->n = 0;
    assert_int_equal(kb_route_walk(p->topo, &from, &to, check_node, p, NULL), KB_OK);
    assert_int_equal(p->n, p->route.n);
    check_cost(p, forth, &from, &to);
    if (dst->kind == JUDGE_TCM) /* the last edge of a read has read_gbs */
        assert_true(judge_route(p->judge, (enum judge_op)back, src, dst, &p->route));
    check_cost(p, back, &from, &to);
    p->n_routes++;
}

/* Calls check_route() from `src` to all endpoints of a kind. */
static void check_routes_to(struct pair *p, const struct judge_end *src, enum judge_kind kind)
{
    kb_info info;

    kb_topology_info(p->topo, &info);
    for (uint32_t s = 0; s < info.sips; s++)
        for (uint32_t c = 0; c < (kind == JUDGE_HOST ? 1 : info.cubes_per_sip); c++)
            for (uint32_t u = 0; u < 64; u++) {
                struct judge_end dst = {kind, s, c, u};

                if (!judge_is_there(p->judge, &dst))
                    continue;
                check_route(p, src, &dst);
                if (kind == JUDGE_HOST || kind == JUDGE_SRAM)
                    break;
            }
}

/* What has no route is refused by both: PE to PE or host, host to other than slices of its SIP. */
static void check_routes_from(struct pair *p, struct judge_end src)
{
    for (int kind = JUDGE_PE; kind <= JUDGE_TCM; kind++)
        check_routes_to(p, &src, (enum judge_kind)kind);
}

static uint64_t check_all_routes(const kb_topology *topo)
{
    struct pair p = pair_of(topo);
    kb_info info;

    kb_topology_info(topo, &info);
    for (uint32_t s = 0; s < info.sips; s++) {
        for (uint32_t c = 0; c < info.cubes_per_sip; c++)
            for (uint32_t u = 0; u < info.pes_per_cube; u++)
                check_routes_from(&p, (struct judge_end){JUDGE_PE, s, c, u});
        check_routes_from(&p, (struct judge_end){.kind = JUDGE_HOST, .sip = s});
    }
    free_pair(&p);
    return p.n_routes;
}

/* docs/model.md "Routes": 64 PEs to 64 slices, 8 SRAMs and 63 TCMs each, the host to 64 slices */
static void routes_of_cube8_are_the_judges(void **state)
{
    (void)state;
    assert_int_equal(check_all_routes(&cube8_topology), 64 * (64 + 8 + 63) + 64);
}

/* docs/model.md "Routes": 256 PEs to 256 slices, 32 SRAMs and 255 TCMs, two hosts to 128 slices
 * each */
static void routes_of_tray32_are_the_judges(void **state)
{
    (void)state;
    assert_int_equal(check_all_routes(&tray32_topology), 256 * (256 + 32 + 255) + 2 * 128);
}

static struct judge_end pe_of(const kb_topology *topo, uint32_t number)
{
    kb_endpoint pe;

    assert_int_equal(kb_pe_get(topo, number, &pe), KB_OK);
    return (struct judge_end){JUDGE_PE, pe.sip, pe.cube, pe.unit};
}

/* Sources in the first, the middle and the last cube, and the hosts, of 100 random machines. */
static void routes_of_random_machines_are_the_judges(void **state)
{
    uint64_t n_routes = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        char *yaml = printed(judge_random_topo, seed);
        const kb_topology *topo = any_topology(yaml);
        struct pair p = pair_of(topo);
        kb_info info;

        kb_topology_info(topo, &info);
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t cube = (info.sips * info.cubes_per_sip - 1) * i / 2;
            uint32_t sip = cube / info.cubes_per_sip;
            kb_cube found;

            assert_int_equal(kb_cube_get(topo, sip, cube % info.cubes_per_sip, &found), KB_OK);
            if (found.n_pes)
                check_routes_from(&p, pe_of(topo, found.first_pe + (uint32_t)seed % found.n_pes));
            check_routes_from(&p, (struct judge_end){.kind = JUDGE_HOST, .sip = sip});
        }
        n_routes += p.n_routes;
        free_pair(&p);
        any_topology_free(topo);
        free(yaml);
    }
    assert_true(n_routes > 10000);
}

/* Nodes and edges, counted by hand: 651 and 1180 of cube8, 2599 and 4732 of tray32. */
static void libraries_have_the_counts_computed_by_hand(void **state)
{
    kb_info cube8, tray32;

    (void)state;
    kb_topology_info(&cube8_topology, &cube8);
    kb_topology_info(&tray32_topology, &tray32);
    assert_int_equal(cube8.nodes, 651);
    assert_int_equal(cube8.edges, 1180);
    assert_int_equal(tray32.nodes, 2599);
    assert_int_equal(tray32.edges, 4732);
    assert_string_equal(cube8.name, "cube8");
    assert_string_equal(tray32.name, "tray32");
    assert_string_not_equal(cube8.hash, tray32.hash);
}

/* Nodes of a route by kind, for the tests below. */
struct seen {
    unsigned ucie, xbar, noc, io;
};

static void see(void *arg, const kb_hop *hop)
{
    struct seen *seen = arg;

    seen->ucie += strstr(hop->node, ".ucie-") != NULL;
    seen->xbar += strstr(hop->node, ".xbar.") != NULL;
    seen->noc += strstr(hop->node, ".noc") != NULL;
    seen->io += strstr(hop->node, ".io0.") != NULL;
}

/* `text` with `number` in the place of its %d, if it has one. */
static void write_number(char to[32], const char *text, int number)
{
    const char *hole = strstr(text, "%d");

    if (hole)
        snprintf(to, 32, "%.*s%d%s", (int)(hole - text), text, number, hole + 2);
    else
        snprintf(to, 32, "%s", text);
}

static struct seen nodes_between(const kb_topology *topo, const char *src, const char *dst)
{
    kb_endpoint from = end_of(topo, src), to = end_of(topo, dst);
    struct seen seen = {0};

    assert_int_equal(kb_route_walk(topo, &from, &to, see, &seen, NULL), KB_OK);
    return seen;
}

/* Traffic inside a cube takes no shortcut over UCIe. */
static void traffic_inside_a_cube_passes_no_ucie(void **state)
{
    static const char *const targets[] = {"c5.slice%d", "c5.sram", "c5.pe%d.tcm"};

    (void)state;
    for (int i = 0; i < 8 * 8 * 3; i++) {
        int pe = i / 8 % 8, unit = i % 8, kind = i / 64;
        char src[32], dst[32];
        struct seen seen;

        if (kind == 2 && pe == unit)
            continue; /* a PE has no route to its own TCM */
        snprintf(src, sizeof src, "c5.pe%d", pe);
        write_number(dst, targets[kind], unit);
        seen = nodes_between(&cube8_topology, src, dst);
        assert_int_equal(seen.ucie, 0);
        assert_int_equal(seen.io, 0);
        assert_int_equal(seen.noc, kind != 0); /* the crossbar only */
    }
}

/* ucie, ucie, noc per step; c0 to c7 is three steps by X and one by Y */
static void each_step_between_cubes_passes_two_ucies(void **state)
{
    struct seen seen = nodes_between(&cube8_topology, "c0.pe0", "c7.slice4");

    (void)state;
    assert_int_equal(seen.ucie, 2 * 4);
    assert_int_equal(seen.noc, 1 + 4);
    assert_int_equal(seen.xbar, 1);
}

/* kernbench.h: "at least one" byte; a slice with banks has no first burst then. */
static void nothing_has_no_cost(void **state)
{
    static const char *const machines[] = {
        "kernbench: 2\nname: m\nsip: {cube_mesh: {w: 1, h: 1}}\n",
        "kernbench: 2\nname: m\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube: {hbm: {model: banks, channels: 4}}\n"};
    const kb_endpoint src = {.kind = KB_PE}, dst = {.kind = KB_SLICE};
    kb_error why;
    kb_cost cost;

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *topo = any_topology(machines[i]);

        assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, 0, &cost, &why), KB_BAD_REQUEST);
        assert_string_equal(why.text, "a transaction moves at least one byte");
        assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, 1, &cost, &why), KB_OK);
        any_topology_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_have_the_counts_computed_by_hand),
        cmocka_unit_test(routes_of_cube8_are_the_judges),
        cmocka_unit_test(routes_of_tray32_are_the_judges),
        cmocka_unit_test(routes_of_random_machines_are_the_judges),
        cmocka_unit_test(traffic_inside_a_cube_passes_no_ucie),
        cmocka_unit_test(each_step_between_cubes_passes_two_ucies),
        cmocka_unit_test(nothing_has_no_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
