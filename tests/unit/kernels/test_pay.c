/* test_pay.c -- software.launch_ns, call_ns, step_ns: what kernels wait for them, and where the
 * breakdown counts it; what a kernel waits by itself; the room that it holds for slots of queues.
 * By hand: a load of 4096 bytes of the own slice takes 3 + 18.085 ns on cube8.
 */
#include "support/breakdowns.h"
#include "support/talks.h"

#define CUBE8(software)                                                                            \
    "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\nsoftware: {" software "}\n"

static const uint32_t one[] = {0};

static void pays_and_loads(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    tl_pay(tl, TL_COST_CALL);
    tl_pay(tl, TL_COST_STEP);
    mark(tl, args, 1);
    numbers(tl, 0, 1024);
    mark(tl, args, 2);
    tl_pay(tl, TL_COST_LAUNCH);
    mark(tl, args, 3);
}

/* Kernels begin 1000 ns after the start of their launch, at which all PEs are reached. */
static void kernels_wait_for_costs(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("launch_ns: 1000, call_ns: 300, step_ns: 20"));
    struct marks m;

    (void)state;
    assert_non_null(topo);
    free(talk(topo, pays_and_loads, &m, one, 1));
    assert_at(&m, 0, 0, 1000);
    assert_at(&m, 0, 1, 1320);
    assert_at(&m, 0, 2, 1320 + 21.085);
    assert_at(&m, 0, 3, 2320 + 21.085);
    any_topology_free(topo);
}

static void without_the_keys_nothing_is_paid(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, pays_and_loads, &m, one, 1));
    assert_at(&m, 0, 1, 0);
    assert_at(&m, 0, 3, 21.085);
}

struct causes {
    int64_t fs[KB_N_CAUSES], path_fs;
};

static void add_cause(void *arg, const kb_breakdown_row *row)
{
    struct causes *causes = arg;

    if (row->by == KB_BREAKDOWN_ALL)
        causes->fs[row->cause] += row->sum_fs;
}

static void add_step(void *arg, const kb_breakdown_step *step)
{
    struct causes *causes = arg;

    causes->path_fs += step->end_fs - step->begin_fs;
}

/* What is paid before a command is its own time: `launch`, the rest as `dispatch`. What is paid
 * after the last command is on no path. */
static void the_breakdown_has_costs(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("launch_ns: 1000, call_ns: 300, step_ns: 20"));
    kb_sim *sim = new_sim(topo, (kb_options){0});
    struct causes causes = {0};
    kb_breakdown *why;
    struct marks m;

    (void)state;
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    launch_talk(sim, pays_and_loads, &m, one, 1);
    run_launched(sim, 0);
    assert_int_equal(kb_breakdown_rows(why, add_cause, &causes), KB_OK);
    assert_int_equal(kb_breakdown_path(why, add_step, &causes), KB_OK);
    assert_int_equal(causes.fs[KB_CAUSE_LAUNCH], FS(1000));
    assert_int_equal(causes.fs[KB_CAUSE_DISPATCH], FS(323));
    assert_int_equal(causes.path_fs, FS(1320 + 21.085));
    kb_breakdown_free(why);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void no_such_cost(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_pay(tl, (tl_cost)3);
}

static void a_cost_must_be_one(void **state)
{
    (void)state;
    assert_non_null(
        strstr(mistake_of(&cube8_topology, no_such_cost, NULL, one, 1, KB_KERNEL_ERROR).text,
               "there is no cost 3"));
}

static void idles(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    tl_idle(tl, 1234567);
    tl_idle(tl, 0);
    mark(tl, args, 1);
}

/* A message of c0.pe0 comes to c0.pe1 while that is idle, and another one behind. By hand: nothing
 * is in its way, so it may be at the ports from its issue on, 3 ns behind its call. */
static void is_met(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0) {
        tl_tensor *x = numbers(tl, 0, 1024);

        mark_value(tl, args, 0, tl_filled_fs(tl) == llround(tl_time(tl) * 1e6));
        mark_value(tl, args, 1, tl_time(tl));
        tl_send(tl, 1, 0, x);
        tl_idle(tl, 400000000);
        tl_send(tl, 1, 0, x);
        return;
    }
    tl_idle(tl, 1000000);
    mark_value(tl, args, 1, tl_met_fs(tl) == INT64_MAX);
    for (unsigned i = 2; i < 4; i++) {
        tl_idle(tl, 100000000);
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1024));
        mark_value(tl, args, i, tl_met_fs(tl) < INT64_MAX ? (double)tl_met_fs(tl) / 1e6 : -1);
    }
}

static void an_idle_pe_knows_when_it_was_met(void **state)
{
    static const uint32_t two[] = {0, 1};
    struct marks m = {0};

    (void)state;
    free(talk(&cube8_topology, is_met, &m, two, 2));
    assert_true(m.value[0][0] == 1);
    assert_true(m.value[1][1] == 1);
    assert_true(fabs(m.value[1][2] - m.value[0][1] - 3) < 1e-6);
    assert_true(m.value[1][3] == -1);
}

static void idles_backwards(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_idle(tl, -1);
}

/* It is no cost of software: launch results have none. */
static void a_kernel_idles_to_the_femtosecond(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct marks m = {0};
    kb_launch_result r;
    kb_error why;

    (void)state;
    launch_talk(sim, idles, &m, one, 1);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    assert_int_equal(r.last_end_fs - r.start_fs, 1234567);
    assert_int_equal(r.software_fs, 0);
    kb_sim_free(sim);
    free(talk(&cube8_topology, idles, &m, one, 1));
    assert_at(&m, 0, 1, 1.234567);
    assert_non_null(
        strstr(mistake_of(&cube8_topology, idles_backwards, NULL, one, 1, KB_KERNEL_ERROR).text,
               "-1 fs are before now"));
}

/* -- room for slots --------------------------------------------------------------------------- */

/* Of a TCM, and of a queue: 4 slots of 4096 bytes. */
enum { TCM = 1 << 24, QUEUE = 4 * 4096 };

/* c0.pe1 has all that it may have, except for a word, when c0.pe0 sends it one. */
static void fills_and_takes(tl_ctx *tl, uint64_t held, int64_t filled)
{
    if (tl_pe(tl) == 0) {
        tl_tensor *x = numbers(tl, 0, 1);

        tl_idle(tl, 100000000);
        tl_send(tl, 1, 0, x);
        return;
    }
    tl_hold_for_slots(tl, held);
    tl_alloc(tl, KB_U8, KB_SHAPE(filled));
    tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1));
}

static void holds(tl_ctx *tl, const kb_args *args)
{
    mark_value(tl, args, 0, (double)tl_slot_bytes(tl));
    fills_and_takes(tl, QUEUE, TCM - QUEUE - 64);
    mark_value(tl, args, 1, (double)tl_slot_bytes(tl));
}

static void holds_nothing(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    fills_and_takes(tl, 0, TCM - QUEUE);
}

static void has_less(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 1)
        tl_hold_for_slots(tl, QUEUE);
    if (tl_pe(tl) == 1)
        tl_alloc(tl, KB_U8, KB_SHAPE(TCM - QUEUE + 1));
}

static void holds_too_much(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_hold_for_slots(tl, TCM + 1);
}

static void has_all(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_alloc(tl, KB_U8, KB_SHAPE(TCM));
}

static void a_held_room_is_of_slots(void **state)
{
    static const uint32_t two[] = {0, 1};
    struct marks m = {0};

    (void)state;
    free(talk(&cube8_topology, holds, &m, two, 2));
    assert_true(m.value[1][0] == 0);
    assert_true(m.value[1][1] == QUEUE);
    assert_true(m.value[0][1] == 0);
    assert_non_null(
        strstr(mistake_of(&cube8_topology, holds_nothing, NULL, two, 2, KB_KERNEL_ERROR).text,
               "the TCM is exhausted: no 4 bytes in one piece are free"));
    assert_non_null(
        strstr(mistake_of(&cube8_topology, has_less, NULL, two, 2, KB_KERNEL_ERROR).text,
               "are free of its 16777216, of which slots of queues have 16384"));
    assert_non_null(
        strstr(mistake_of(&cube8_topology, holds_too_much, NULL, one, 1, KB_KERNEL_ERROR).text,
               "the TCM has 16777216 bytes, not 16777217"));
}

static void the_next_launch_holds_nothing(void **state)
{
    static const uint32_t two[] = {0, 1};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct marks m = {0};

    (void)state;
    launch_talk(sim, holds, &m, two, 2);
    launch_talk(sim, has_all, NULL, two, 2);
    run_launched(sim, 0);
    run_launched(sim, 1);
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_wait_for_costs),
        cmocka_unit_test(without_the_keys_nothing_is_paid),
        cmocka_unit_test(the_breakdown_has_costs),
        cmocka_unit_test(a_cost_must_be_one),
        cmocka_unit_test(a_kernel_idles_to_the_femtosecond),
        cmocka_unit_test(an_idle_pe_knows_when_it_was_met),
        cmocka_unit_test(a_held_room_is_of_slots),
        cmocka_unit_test(the_next_launch_holds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
