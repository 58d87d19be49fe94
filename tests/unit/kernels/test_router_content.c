/*
 * test_router_content.c -- which content a load has behind routers: that at the end of its service,
 * not that when its data are in.
 *
 * PE 0 of cube8 loads 64 bytes of cube 3; their way back takes 8.655 ns. PE 24, which is in cube 3,
 * stores to the same bytes, in one run after another a ns later.
 *                                                    docs/kernels.md "Two phases"
 */
#include "support/kernels.h"

#define FAR (UINT64_C(3) << 38)
enum { NS = 1000000, WAY_BACK_FS = 8655000, SERVICE_FS = 2 * NS, STEPS = 90 };

struct seen {
    int64_t not_before_fs; /* PE 24 stores then or a little later */
    int64_t stored_fs;     /* out: the issue of its store */
    int64_t end_fs;        /* out: of the load */
    bool is_new;           /* out: the load has the store's content */
};

static void loads_or_stores(tl_ctx *tl, const kb_args *args)
{
    struct seen *seen = *(struct seen *const *)args->user;
    tl_tensor *x;

    if (tl_pe(tl) == 0) {
        x = tl_load(tl, FAR, KB_F32, KB_SHAPE(16));
        seen->end_fs = now_fs(tl);
        seen->is_new = tl_get(tl, x, 0) == 101;
        return;
    }
    x = tl_load(tl, FAR + 400, KB_F32, KB_SHAPE(16)); /* 101, 102, ... */
    while (now_fs(tl) < seen->not_before_fs)
        tl_free(tl, tl_full(tl, KB_U8, KB_SHAPE(1), 0));
    seen->stored_fs = now_fs(tl) + 3 * NS;
    tl_store(tl, FAR, x);
}

static struct seen run(const kb_topology *topo, kb_engine engine, int64_t not_before_fs)
{
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine});
    static const uint32_t pes[] = {0, 24};
    struct seen seen = {.not_before_fs = not_before_fs}, *user = &seen;
    kb_launch_request r = {
        .name = "test", .kernel = loads_or_stores, .args.user = &user, .pes = pes, .n_pes = 2};
    kb_error why = {""};

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    kb_sim_free(sim);
    return seen;
}

/* Of cube8 with the first `n_sets` of these keys: what was stored before the end of the service is
 * seen, what was stored behind it is not. */
static void check(size_t n_sets)
{
    static const char *const sets[] = {"contention.links=router", "cube.hbm.model=banks"};
    const kb_topology_source source = {.base = &cube8_topology, .sets = sets, .n_sets = n_sets};
    const kb_topology *topo = NULL;
    int news = 0, olds = 0;

    assert_int_equal(kb_topology_load(&source, &topo, NULL), KB_OK);
    for (int i = 0; i < 2 * STEPS; i++) {
        struct seen seen = run(topo, i % 2 ? KB_HOP : KB_FUSED, i / 2 * NS);
        int64_t left_fs = seen.end_fs - WAY_BACK_FS;

        if (seen.stored_fs < left_fs - SERVICE_FS)
            assert_true(seen.is_new);
        if (seen.stored_fs >= left_fs)
            assert_false(seen.is_new);
        news += seen.is_new;
        olds += !seen.is_new && seen.stored_fs < seen.end_fs;
    }
    assert_true(news > 0 && olds > 0); /* or this shows nothing */
    kb_topology_free(topo);
}

static void of_a_memory_that_is_one_server(void **state)
{
    (void)state;
    check(1);
}

static void of_a_memory_with_banks(void **state)
{
    (void)state;
    check(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_memory_that_is_one_server),
        cmocka_unit_test(of_a_memory_with_banks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
