/* test_random_routers.c -- machines with routers under random loads: both engines and the judge. */
#include "machine/place.h"
#include "support/any_topology.h"
#include "support/scenario.h"

/* KB_SEEDS=N in the environment runs seeds 1..N, each a machine of its own with a few loads;
 * KB_SEEDS=M-N seeds M..N. */
enum { SEEDS = 16 };

static void check_runs(struct scenario *s)
{
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_options options = {.engine = (kb_engine)e, .fingerprint = true};

        assert_whole_run(s, options, 0);
        options.fingerprint = false;
        assert_whole_run(s, options, 7);
    }
}

/* The judge does not know how packets of detours, and of meshes in several cubes, are kept apart.
 */
static bool judge_knows(const kb_topology *topo)
{
    bool meshes = false;

    for (uint32_t i = 0; i < topo->n_cube_nodes; i++)
        meshes = meshes || topo->cube_nodes[i].kind == NODE_ROUTER;
    if (topo->detours_by != DETOURS_WITH)
        return false;
    return !meshes || sim_cubes(topo) == 1 || (!topo->vcs_vary && topo->regular);
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

/* False: the generator refuses it, as its packets could wait for each other in a circle. */
static bool check_machine(void (*write)(FILE *out, uint64_t seed), uint64_t seed)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = printed(write, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml);
    assert_non_null(t);
    for (int load = 0; s.topo && load < LOADS; load++) {
        if (judge_knows(s.topo)) {
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
    const char *text = getenv("KB_SEEDS");
    const char *dash = text ? strchr(text, '-') : NULL;
    uint64_t first = dash ? strtoull(text, NULL, 10) : 1, checked = 0;
    uint64_t last = text ? strtoull(dash ? dash + 1 : text, NULL, 10) : n;

    for (uint64_t seed = first; seed <= last; seed++)
        checked += check_machine(write, seed);
    assert_true(dash || checked > last / 2);
}

static void both_engines_say_what_the_judge_says(void **state)
{
    (void)state;
    check_machines(judge_random_routers, SEEDS);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_on_which_they_once_differed),
        cmocka_unit_test(both_engines_say_what_the_judge_says),
        cmocka_unit_test(routes_around_gaps_and_meshes_in_cubes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
