/* test_random_routers.c -- machines with routers under random loads: both engines and the judge. */
#include "machine/vcs.h"
#include "support/any_topology.h"
#include "support/scenario.h"
#include "support/seeds.h"

/* KB_SEEDS=N in the environment runs seeds 1..N, each a machine of its own with a few loads;
 * KB_SEEDS=M-N seeds M..N. KB_TEST names one of the tests. */
enum { SEEDS = 8 };

static void check_runs(struct scenario *s)
{
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_options options = {.engine = (kb_engine)e, .fingerprint = true};

        assert_whole_run(s, options, 0);
        options.fingerprint = false;
        assert_whole_run(s, options, 7);
    }
}

/* Parts of the VCs that an edge between routers of a mesh is cut into; 1: it is not. */
static uint32_t mesh_parts(const kb_topology *topo)
{
    uint32_t parts = 1;

    for (uint32_t i = 0; i < topo->n_kinds * topo->n_segments && topo->vcs_vary; i++) {
        const struct segment_row *seg = &topo->segments[i];
        const struct node_row *nodes = &topo->cube_nodes[i / topo->n_segments * topo->n_cube_nodes];

        for (uint32_t k = seg->first_hop; k + 1 < seg->first_hop + seg->n_hops; k++)
            if (topo->hops[k].chiplet == AT_CUBE && topo->hops[k + 1].chiplet == AT_CUBE &&
                nodes[topo->hops[k].node].kind == NODE_ROUTER &&
                nodes[topo->hops[k + 1].node].kind == NODE_ROUTER &&
                1u + (topo->request_shares[k] >> VCS_PARTS_SHIFT) > parts)
                parts = 1u + (topo->request_shares[k] >> VCS_PARTS_SHIFT);
    }
    return parts;
}

/* Do both say of the same nodes of meshes that they are routers, and not only passed straight? */
static bool has_same_routers(const kb_topology *topo, const struct judge_topo *t)
{
    for (uint32_t cube = 0; cube < sim_cubes(topo); cube++)
        for (uint32_t i = 0; i < topo->n_cube_nodes && mesh_has_cube(topo, cube); i++) {
            const struct node_row *node = walk_cube_node(topo, cube, i);
            char name[JUDGE_NAME_BYTES];

            if (node->kind != NODE_ROUTER)
                continue;
            judge_name(name, "sip%u.cube%u.%s", cube / topo->cubes, cube % topo->cubes, node->name);
            if (t->is_router[judge_find_node(t, name)] !=
                (topo->stops[(size_t)topo->stop_of[cube] * topo->n_cube_nodes + i] == '1'))
                return false;
        }
    return true;
}

/*
 * Tells the judge how kbgen keeps packets apart. False: kbgen has other routes, up and down; or
 * more routers in meshes of several cubes: gen/stops.c takes some ways through a cube for gone that
 * are not.
 */
static bool judge_knows(const kb_topology *topo, struct judge_topo *t)
{
    uint32_t lines = (t->wrap_x && t->w > 1) || (t->wrap_y && t->h > 1);
    uint32_t apart = topo->detours_by == DETOURS_APART, parts = mesh_parts(topo);

    t->detours_apart = apart;
    t->stages = parts > 1 ? parts - lines - apart : 1;
    if (t->net)
        t->stages = 1;
    return topo->detours_by != DETOURS_UP_DOWN && has_same_routers(topo, t);
}

/* What the hop engine says stands for the judge's words then. */
static void ask_hop(struct scenario *s)
{
    kb_sim *sim =
        sim_of_rows(s->topo, (kb_options){.engine = KB_HOP, .fingerprint = true}, s->rows, s->n);
    kb_result got;

    assert_int_equal(run_by(sim, 0, s), KB_OK);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(kb_sim_result(sim, i, &got), KB_OK);
        s->expected[i] = judge_result(&got);
    }
    s->fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
}

/* Have both chosen the same rule against circles of a net? */
static void assert_same_rule(const struct scenario *s, const struct judge_topo *t)
{
    const kb_topology *topo = s->topo;

    if (t->net &&
        (t->datelines != (topo->routes_by == ROUTES_DATELINES) ||
         t->up_down != (topo->routes_by == ROUTES_UP_DOWN) || t->hops != topo->hop_classes))
        fail_msg("seed %" PRIu64 ": the judge has datelines %d, up and down %d, %" PRIu32
                 " hop classes; kbgen rule %d, %d hop classes",
                 s->seed, t->datelines, t->up_down, t->hops, topo->routes_by, topo->hop_classes);
}

/* False: the generator refuses it, as its packets could wait for each other in a circle. */
static bool check_machine(void (*write)(FILE *out, uint64_t seed), uint64_t seed)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = printed(write, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml);
    assert_non_null(t);
    if (s.topo)
        assert_same_rule(&s, t);
    for (int load = 0; s.topo && load < LOADS; load++) {
        if (judge_knows(s.topo, t)) {
            draw_load(&s, t, load, false);
        } else {
            draw_rows(&s, t, load, false);
            ask_hop(&s);
        }
        if (s.n)
            check_runs(&s);
        drop_load(&s);
    }
    if (s.topo)
        any_topology_free(s.topo);
    judge_free(t);
    free(yaml);
    return s.topo;
}

static void check_machines(void (*write)(FILE *out, uint64_t seed), uint64_t n)
{
    struct seeds seeds = seeds_of(n, 1);
    uint64_t checked = 0;

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        checked += check_machine(write, seed);
    assert_true(seeds.first > 1 || checked > seeds.last / 2);
}

static void both_engines_say_what_the_judge_says(void **state)
{
    (void)state;
    check_machines(judge_random_routers, SEEDS);
}

static void banks_behind_routers(void **state)
{
    (void)state;
    check_machines(judge_random_router_banks, SEEDS);
}

static void caches_behind_routers(void **state)
{
    (void)state;
    check_machines(judge_random_router_caches, SEEDS / 2);
}

static void nets(void **state)
{
    (void)state;
    check_machines(judge_random_router_nets, SEEDS);
}

static void routes_around_gaps_and_meshes_in_cubes(void **state)
{
    (void)state;
    check_machines(judge_random_detours, SEEDS / 2);
}

/* A cube on two shores, whose ports ashore decide at one instant; a class of one VC beside one of
 * two, of which only the second has halves on the crossbar. */
static void machines_on_which_they_once_differed(void **state)
{
    static const uint64_t seeds[] = {72, 86};

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        assert_true(check_machine(judge_random_routers, seeds[i]));
    assert_true(check_machine(judge_random_router_banks, 286)); /* a wait for links below 0 */
    /* gaps: ports ashore of two nodes; a mesh in a ring of one-way planes, whose reads go back */
    assert_true(check_machine(judge_random_detours, 76));
    assert_true(check_machine(judge_random_detours, 186));
    /* rings of two, ties spread: of two links no route takes one, which is at a shore */
    assert_true(check_machine(judge_random_detours, 149));
    /* ports of switches of rails, and of IO chiplets, at one instant */
    assert_true(check_machine(judge_random_router_nets, 26));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_on_which_they_once_differed),
        cmocka_unit_test(both_engines_say_what_the_judge_says),
        cmocka_unit_test(banks_behind_routers),
        cmocka_unit_test(caches_behind_routers),
        cmocka_unit_test(nets),
        cmocka_unit_test(routes_around_gaps_and_meshes_in_cubes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    cmocka_set_test_filter(getenv("KB_TEST"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
