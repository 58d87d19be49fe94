/* test_crowds.c -- many groups, queues, elements and deadlocked PEs at once: none is taken for
 * another. */
#include "support/any_topology.h"
#include "support/kernels.h"
#include "tray32.h"

enum { PES = 64 };

struct crowd {
    uint32_t round[PES]; /* in which a PE is */
    bool wrong;
};

static tl_tensor *load(tl_ctx *tl, uint64_t at)
{
    return tl_load(tl, SLICE(0) + at, KB_I32, KB_SHAPE(4));
}

/* In round r with the PE whose number differs in the bits of r: each meets each other one. */
static void meets_each(tl_ctx *tl, const kb_args *args)
{
    struct crowd *crowd = (struct crowd *)(uintptr_t)args->user;
    uint32_t me = tl_pe(tl);

    for (uint32_t r = 1; r < PES; r++) {
        uint32_t other = me ^ r, pair[2] = {me < other ? me : other, me < other ? other : me};
        uint64_t mark = tl_mark(tl);

        crowd->round[me] = r;
        tl_barrier(tl, (tl_group){.pes = pair, .n = 2});
        crowd->wrong |= crowd->round[other] < r;
        for (int tag = 0; tag < 2; tag++) {
            tl_send(tl, other, tag, load(tl, 16 * (uint64_t)me));
            crowd->wrong |=
                tl_get(tl, tl_recv(tl, other, tag, KB_I32, KB_SHAPE(4)), 0) != 4 * other;
        }
        tl_atomic_add(tl, SLICE(1) + 8 * (uint64_t)(me * PES + r), r % 2 ? KB_I32 : KB_I64, 1);
        tl_release(tl, mark);
    }
    tl_barrier(tl, (tl_group){.n = PES});
    if (tl_pe(tl) == 0)
        tl_atomic_add(tl, SLICE(1) + 8 * (PES + 1), KB_I64, 1); /* what was an i32 to PE 1 */
}

static void count_race(void *arg, const kb_race *race)
{
    *(uint64_t *)arg += race->count;
}

/* 0, 1, 2, ... in what they send; zeros where they count. */
static void fill(kb_sim *sim)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_error why = {""};
    kb_tensor *x;

    assert_int_equal(kb_tensor_new(sim, "x", KB_I32, KB_SHAPE(1 << 14), copies, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 0, 1, &why), KB_OK);
}

static void each_meets_each(void **state)
{
    (void)state;
    for (int races = 0; races < 2; races++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        struct crowd crowd = {.wrong = false};
        kb_launch_request r = {.name = "crowd", .kernel = meets_each, .args.user = &crowd};
        kb_error why = {""};
        uint64_t n = 0;

        if (races)
            assert_int_equal(kb_sim_check_races(sim, &why), KB_OK);
        fill(sim);
        assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
        run_launched(sim, 0);
        assert_false(crowd.wrong);
        if (races)
            assert_int_equal(kb_sim_races(sim, count_race, &n), KB_OK);
        assert_int_equal(n, 0);
        kb_sim_free(sim);
    }
}

/* Every PE stores to its own place and to one of all others. */
static void stores_everywhere(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = load(tl, 0);

    (void)args;
    for (uint32_t i = 0; i < 8; i++) {
        tl_store(tl, SLICE(2) + 64 * ((tl_pe(tl) + i) % PES), x);
        tl_store(tl, SLICE(2) + 64 * ((tl_pe(tl) + i) % PES), x);
        tl_load(tl, SLICE(2) + 64 * ((tl_pe(tl) + 9 * i) % PES), KB_I32, KB_SHAPE(4));
    }
}

static void races_of_many_lines(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_launch_request r = {.name = "crowd", .kernel = stores_everywhere};
    kb_error why = {""};
    uint64_t n = 0;

    (void)state;
    assert_int_equal(kb_sim_check_races(sim, &why), KB_OK);
    fill(sim);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_sim_races(sim, count_race, &n), KB_OK);
    assert_true(n > PES);
    kb_sim_free(sim);
}

static void waits_for_the_next(tl_ctx *tl, const kb_args *args)
{
    uint32_t n = *(const uint32_t *)args->user;

    tl_recv(tl, (tl_pe(tl) + 1) % n, 0, KB_F32, KB_SHAPE(1));
}

static void count_row(void *arg, const kb_deadlocked *row)
{
    uint32_t *next = arg;

    assert_int_equal(row->pe, *next);
    ++*next;
}

static void a_circle_of_all(void **state)
{
    kb_sim *sim = new_sim(&tray32_topology, (kb_options){0});
    uint32_t n = kb_pe_count(&tray32_topology), next = 0;
    kb_launch_request r = {.name = "circle", .kernel = waits_for_the_next, .args.user = &n};
    kb_error why = {""};

    (void)state;
    assert_true(n > 64);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_DEADLOCK);
    assert_int_equal(kb_sim_deadlocked(sim, count_row, &next), KB_OK);
    assert_int_equal(next, n);
    kb_sim_free(sim);
}

/* Nothing passes between two calls, so both commands of PE 0 have the same time: by their lines. */
static void waits_twice(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_recv_async(tl, 1, 0, KB_F32, KB_SHAPE(1));
    tl_tensor *y = tl_recv_async(tl, 2, 0, KB_F32, KB_SHAPE(1));

    (void)args;
    tl_wait(tl, y);
    tl_wait(tl, x);
}

struct told {
    size_t n;
    int line;
};

static void keep_row(void *arg, const kb_deadlocked *row)
{
    struct told *told = arg;

    assert_true(row->line > told->line);
    told->line = row->line;
    told->n++;
}

static void two_of_one_time(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 1\nname: quick\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pe: {pe_cpu: {overhead_ns: 0}, pe_scheduler: {overhead_ns: 0}}}\n");
    kb_sim *sim = new_sim(topo, (kb_options){0});
    struct told told = {0};
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, waits_twice, NULL, 1, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_DEADLOCK);
    assert_int_equal(kb_sim_deadlocked(sim, keep_row, &told), KB_OK);
    assert_int_equal(told.n, 2);
    kb_sim_free(sim);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_meets_each),
        cmocka_unit_test(races_of_many_lines),
        cmocka_unit_test(a_circle_of_all),
        cmocka_unit_test(two_of_one_time),
    };

    return cmocka_run_group_tests_name("crowds", tests, NULL, NULL);
}
