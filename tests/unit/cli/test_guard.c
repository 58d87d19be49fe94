/*
 * test_guard.c -- simulations that are broken from outside: what is impossible is found, and named.
 */
#include "support/any_topology.h"
#include "support/rig.h"

#include "cube8.h"
#include "kernels/kernels.h"
#include "engine/state.h"
#include "engine/stations.h"
#include "tl.h"
#include "cli/rows/warn.h"
#include "machine/names.h"

/* What the command line has for notes (cmd.h, whose names are those of kernel.h); none is made
 * here.
 */
struct cli;
void cmd_note(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cmd_note(const struct cli *cli, const char *format, ...)
{
    (void)cli;
    fail_msg("a note: %s", format);
}

#define TOO_LONG (UINT64_C(1) << 60) /* fs: no run of these tests takes 1 s */

/* A read, a transaction of the host, and two that wait for each other, on `topo`. */
static kb_sim *small_load(const kb_topology *topo)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});

    issue(sim, topo, 0, KB_READ, "c0.pe0", "c0.slice0", 4096);
    issue(sim, topo, 0, KB_READ, "c0.pe1", "c0.slice0", 4096);
    issue(sim, topo, 0, KB_H2D, "host", "c0.slice0", 4096);
    return sim;
}

/* Runs `sim`, which ends in an internal error that names `station`. */
static void assert_named(kb_sim *sim, const char *station)
{
    kb_error why = {""};

    assert_int_equal(kb_sim_run(sim, 0, &why), KB_INTERNAL);
    if (strncmp(why.text, station, strlen(station)) != 0 ||
        !strstr(why.text, "longer than the run lasted"))
        fail_msg("%s: %s", station, why.text);
    kb_sim_free(sim);
}

static void nothing(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
}

/* No station is ever more than 100 % used: sim/sim_check.c looks after every run. */
static void a_station_above_100_per_cent_is_named(void **state)
{
    const kb_topology *t = &cube8_topology;
    kb_launch_request launch = {.name = "nothing", .kernel = nothing};
    kb_sim *sim = small_load(t);

    (void)state;
    sim->channels[2 * src_pack(t, 0, 1)].busy_fs = TOO_LONG;
    assert_named(sim, "sip0.cube0.pe1.pe_dma.read was taken");
    sim = small_load(t);
    sim->engines[1].busy_fs = TOO_LONG;
    assert_named(sim, "sip0.cube0.m_cpu.write was taken");
    sim = small_load(t);
    sim->memories[dst_pack(t, 3, 5)].busy_fs = TOO_LONG;
    assert_named(sim, "sip0.cube3.hbm_ctrl.slice5 was taken");
    sim = new_sim(t, (kb_options){0});
    assert_int_equal(kb_launch(sim, &launch, NULL), KB_OK);
    sim->kernels->pes[9].port[PORT_GEMM].busy_fs = TOO_LONG;
    assert_named(sim, "sip0.cube1.pe1.pe_gemm was taken");
}

static void a_link_above_100_per_cent_is_named(void **state)
{
    const kb_topology *t = any_topology("kernbench: 1\nname: links\n"
                                        "sip: {cube_mesh: {w: 1, h: 1}}\n"
                                        "contention: {links: fifo}\n");
    char from[KB_NODE_BYTES], to[KB_NODE_BYTES], name[KB_PLACE_BYTES + 16];
    kb_sim *sim = small_load(t);

    (void)state;
    stations_make_all(sim); /* a cube that is not made has no stations to look at */
    sim->links[7].busy_fs = TOO_LONG;
    name_link(t, 7, from, to);
    snprintf(name, sizeof name, "%s -> %s was taken", from, to);
    assert_named(sim, name);
    any_topology_free(t);
}

static void stations_of_a_sane_run_are_not_complained_about(void **state)
{
    kb_sim *sim = small_load(&cube8_topology);
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    assert_string_equal(why.text, "");
    kb_sim_free(sim);
}

/* The library finds the result inconsistent; the command line says why. */
static void assert_term(kb_sim *sim, uint64_t id, const char *expected)
{
    kb_error why = {""};
    kb_result r;

    assert_int_equal(kb_sim_result(sim, id, &r), KB_INTERNAL);
    warn_term(id, &r, &why);
    assert_string_equal(why.text, expected);
}

/* The terms sum to actual exactly, which is checked.   docs/model.md "Stations and queues" */
static void a_negative_term_is_named_with_its_transaction(void **state)
{
    kb_sim *sim = small_load(&cube8_topology);

    (void)state;
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    sim->txns[1].service_fs = sim->txns[1].arrive_fs - 5 * KB_FS_PER_NS;
    assert_term(sim, 1, "internal error: queue_memory_ns of transaction 1 is -5.000000, below 0");
    sim->txns[0].wait_fs = -1;
    assert_term(sim, 0, "internal error: queue_channel_ns of transaction 0 is -0.000001, below 0");
    kb_sim_free(sim);
}

/* Ideal links are never waited for. */
static void terms_that_cannot_be_are_named(void **state)
{
    kb_sim *sim = small_load(&cube8_topology);

    (void)state;
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_OK);
    sim->txns[0].arrive_fs += 7 * KB_FS_PER_NS;
    sim->txns[0].service_fs += 7 * KB_FS_PER_NS;
    assert_term(
        sim, 0,
        "internal error: the terms of transaction 0 do not make its actual_ns of 25.085000");
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_station_above_100_per_cent_is_named),
        cmocka_unit_test(a_link_above_100_per_cent_is_named),
        cmocka_unit_test(stations_of_a_sane_run_are_not_complained_about),
        cmocka_unit_test(a_negative_term_is_named_with_its_transaction),
        cmocka_unit_test(terms_that_cannot_be_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
