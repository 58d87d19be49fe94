/* test_random_routers.c -- machines with routers under random loads: both engines and the judge. */
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

/* False: the generator refuses it, as its packets could wait for each other in a circle. */
static bool check_machine(uint64_t seed)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = printed(judge_random_routers, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml);
    assert_non_null(t);
    for (int load = 0; s.topo && load < LOADS; load++) {
        draw_load(&s, t, load, false);
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

static void both_engines_say_what_the_judge_says(void **state)
{
    const char *text = getenv("KB_SEEDS");
    const char *dash = text ? strchr(text, '-') : NULL;
    uint64_t first = dash ? strtoull(text, NULL, 10) : 1, checked = 0;
    uint64_t last = text ? strtoull(dash ? dash + 1 : text, NULL, 10) : SEEDS;

    (void)state;
    for (uint64_t seed = first; seed <= last; seed++)
        checked += check_machine(seed);
    assert_true(dash || checked > last * 3 / 4);
}

/* A cube on two shores, whose ports ashore decide at one instant; a class of one VC beside one of
 * two, of which only the second has halves on the crossbar. */
static void machines_on_which_they_once_differed(void **state)
{
    static const uint64_t seeds[] = {72, 86};

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        assert_true(check_machine(seeds[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_on_which_they_once_differed),
        cmocka_unit_test(both_engines_say_what_the_judge_says),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
