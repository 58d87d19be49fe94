/* test_l2_launch.c -- what a launch finds in an L2 that another one has used: cube.l2.at_launch of
 * docs/model.md "An L2". */
#include "support/any_topology.h"
#include "support/kernels.h"

/* One cube of two PEs; nothing takes time but bytes, and its memory. */
#define MACHINE(at_launch)                                                                         \
    "kernbench: 2\nname: launched\ncontention: {links: ideal}\nns_per_mm: 0.0\n"                   \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 2, noc: {bw_gbs: 256}, "                          \
    "xbar: {overhead_ns: 0, pe_gbs: 256}, hbm: {bw_gbs: 256, latency_ns: 100}, "                   \
    "l2: {size_mb: 0.0625, line: 128, ways: 4, bw_gbs: 256, pe_gbs: 256, latency_ns: 20" at_launch \
    "}}\n"

/* A line, which is dirty then. */
static void stores_a_line(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_store(tl, 0, tl_full(tl, KB_F32, KB_SHAPE(32), 1));
}

/* The same line and the next. */
static void loads_two_lines(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_load(tl, 0, KB_F32, KB_SHAPE(64));
}

static void launch_on(kb_sim *sim, kb_kernel kernel, uint32_t pe)
{
    kb_launch_request r = {.name = "test", .kernel = kernel, .pes = &pe, .n_pes = 1};
    kb_error why = {""};

    if (kb_launch(sim, &r, &why) != KB_OK)
        fail_msg("%s", why.text);
    run_launched(sim, 0);
}

/* Lines of the L2, and bytes of the memory. */
struct counts {
    uint64_t hits, misses, written_back, memory_bytes;
};

static void look(void *arg, const kb_utilization *use)
{
    struct counts *c = arg;

    if (use->has_lines) {
        c->hits = use->hits;
        c->misses = use->misses;
        c->written_back = use->written_back;
    } else if (use->kind == KB_AT_MEMORY) {
        c->memory_bytes += use->bytes;
    }
}

static void assert_counts(const kb_sim *sim, struct counts want)
{
    struct counts got = {0, 0, 0, 0};

    assert_int_equal(kb_sim_utilization(sim, look, &got), KB_OK);
    assert_int_equal(got.hits, want.hits);
    assert_int_equal(got.misses, want.misses);
    assert_int_equal(got.written_back, want.written_back);
    assert_int_equal(got.memory_bytes, want.memory_bytes);
}

/* How long the kernels of the last launch took. */
static int64_t took_fs(const kb_sim *sim)
{
    kb_launch_result r;

    assert_int_equal(kb_launch_get(sim, kb_launch_count(sim) - 1, &r), KB_OK);
    return r.last_end_fs - r.start_fs;
}

/* What a launch leaves, and how long its kernels took; 0: however long. */
struct step {
    kb_kernel kernel;
    uint32_t pe;
    struct counts counts;
    int64_t fs;
};

/* A line that c0.pe0 stores, and twice two lines that c0.pe1 loads, each by a launch of its own. */
static void check(const char *yaml, const struct step steps[3])
{
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        kb_placement all = {KB_REPLICATE, KB_REPLICATE};
        kb_tensor *x = NULL;

        assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(64), all, &x, NULL), KB_OK);
        assert_int_equal(kb_tensor_fill_arange(x, 1, 1, NULL), KB_OK);
        for (const struct step *s = steps; s < steps + 3; s++) {
            launch_on(sim, s->kernel, s->pe);
            assert_counts(sim, s->counts);
            if (s->fs)
                assert_int_equal(took_fs(sim), s->fs);
        }
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* A command takes 3 ns, the L2 20, the memory 100, and 128 bytes 0.5. */
static void a_launch_finds_what_the_one_before_has_used(void **state)
{
    static const struct step steps[3] = {
        {stores_a_line, 0, {0, 1, 0, 0}, 0},
        {loads_two_lines, 1, {1, 2, 0, 128}, 123500000}, /* 3 + 20 + 100 + 0.5 */
        {loads_two_lines, 1, {3, 2, 0, 128}, 24000000},  /* 3 + 20 + 1 */
    };

    (void)state;
    check(MACHINE(""), steps);
    check(MACHINE(", at_launch: keep"), steps);
}

/* The dirty line counts as written back, once, and its bytes are not moved. */
static void a_launch_that_drops_finds_nothing(void **state)
{
    static const struct step steps[3] = {
        {stores_a_line, 0, {0, 1, 0, 0}, 0},
        {loads_two_lines, 1, {0, 3, 1, 256}, 124000000}, /* 3 + 20 + 100 + 1 */
        {loads_two_lines, 1, {0, 5, 1, 512}, 124000000},
    };

    (void)state;
    check(MACHINE(", at_launch: drop"), steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_finds_what_the_one_before_has_used),
        cmocka_unit_test(a_launch_that_drops_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
