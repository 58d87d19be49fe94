/* test_ports.c -- ports of a TCM: how long each is held, and how many there are. Times are those of
 * docs/kernels.md "Ports of a TCM", and others computed by hand. */
#include "support/talks.h"

#define CUBE8(links, more)                                                                         \
    "kernbench: 2\nname: ports\ncontention: {links: " links "}\n"                                  \
    "sip: {cube_mesh: {w: 4, h: 2}}\ncube: {" more "}\n"
#define TCM_KEYS(keys) "pe: {pe_tcm: {" keys "}}"

/* One PE sends to another, or two at once. */
struct meeting {
    uint32_t to, from[2];
};

static const struct meeting of_neighbours = {1, {0, 2}}, of_cubes = {8, {0, 16}};

struct scene {
    const struct meeting *meeting;
    unsigned senders;
};

/* Each sends a message of 4096 bytes; the receiver takes all. */
static void meets(tl_ctx *tl, const kb_args *args)
{
    const struct scene *scene = args->user;
    const struct meeting *m = scene->meeting;
    tl_tensor *got[2];

    for (unsigned i = 0; i < scene->senders; i++)
        if (tl_pe(tl) == m->from[i])
            tl_send(tl, m->to, (int)i, tl_full(tl, KB_F16, KB_SHAPE(2048), 1));
    if (tl_pe(tl) != m->to)
        return;
    for (unsigned i = 0; i < scene->senders; i++)
        got[i] = tl_recv_async(tl, m->from[i], (int)i, KB_F16, KB_SHAPE(2048));
    for (unsigned i = 0; i < scene->senders; i++)
        tl_wait(tl, got[i]);
}

/* How long the kernel runs, on all PEs of one cube, or of all. */
static kb_launch_result run_by(const kb_topology *topo, kb_options options, kb_kernel kernel,
                               const void *user, uint64_t *fingerprint)
{
    kb_sim *sim = new_sim(topo, options);
    kb_error why = {""};
    kb_launch_result r;

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, kernel, user, 0, &why), KB_OK);
    r = run_launched(sim, 0);
    *fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
    return r;
}

/* By every engine, with and without a fingerprint, which is the same. */
static void check(const char *yaml, kb_kernel kernel, const void *user, double kernel_ns)
{
    const kb_topology *topo = any_topology(yaml);
    uint64_t print[4];

    assert_non_null(topo);
    for (size_t i = 0; i < 4; i++) {
        kb_options options = {.engine = i % 2 ? KB_HOP : KB_FUSED, .fingerprint = i >= 2};
        kb_launch_result r = run_by(topo, options, kernel, user, &print[i]);
        int64_t fs = r.last_end_fs - r.start_fs;

        if (fs != FS(kernel_ns))
            fail_msg("%s: %.6f ns, not %.6f", yaml, (double)fs / 1e6, kernel_ns);
    }
    assert_true(print[2] == print[3]);
    any_topology_free(topo);
}

static void check_meeting(const char *yaml, const struct meeting *m, double alone_ns, double ns)
{
    check(yaml, meets, &(struct scene){m, 1}, alone_ns);
    check(yaml, meets, &(struct scene){m, 2}, ns);
}

/*
 * Heads of both messages are there at 73.88375 ns, the start was at 27.83625. With `route` the
 * port is held for 32 ns for the first, with `own` for 8; a FETCH of the slot takes 8.
 */
static void two_messages_overlap_in_a_port_of_its_own(void **state)
{
    (void)state;
    check_meeting(CUBE8("ideal", TCM_KEYS("")), &of_neighbours, 86.0475, 118.0475);
    check_meeting(CUBE8("ideal", TCM_KEYS("hold: route")), &of_neighbours, 86.0475, 118.0475);
    check_meeting(CUBE8("ideal", TCM_KEYS("hold: own")), &of_neighbours, 86.0475, 94.0475);
}

/* The edge into pe_dma is shared: the second head is 32 ns later anyway. */
static void a_link_in_front_hides_the_hold(void **state)
{
    (void)state;
    check_meeting(CUBE8("fifo", TCM_KEYS("hold: route")), &of_neighbours, 86.0475, 118.0475);
    check_meeting(CUBE8("fifo", TCM_KEYS("hold: own")), &of_neighbours, 86.0475, 118.0475);
}

/* Two write ports take both at once, whatever the hold; two read ports FETCH both at once. */
static void several_ports_serve_side_by_side(void **state)
{
    (void)state;
    check_meeting(CUBE8("ideal", TCM_KEYS("hold: own, write_ports: 2")), &of_neighbours, 86.0475,
                  94.0475);
    check_meeting(CUBE8("ideal", TCM_KEYS("write_ports: 2")), &of_neighbours, 86.0475, 94.0475);
    check_meeting(CUBE8("ideal", TCM_KEYS("read_ports: 2, write_ports: 2")), &of_neighbours,
                  86.0475, 86.0475);
}

/* From two sides, over a NoC of 512 GB/s: with fifo the last link is free after 8 ns as well. */
static void a_slow_way_does_not_hold_the_port(void **state)
{
    (void)state;
#define FAST(links, hold) CUBE8(links, "noc: {bw_gbs: 512.0}, " TCM_KEYS("hold: " hold))
    check_meeting(FAST("ideal", "route"), &of_cubes, 88.29, 120.29);
    check_meeting(FAST("ideal", "own"), &of_cubes, 88.29, 96.29);
    check_meeting(FAST("fifo", "route"), &of_cubes, 88.29, 120.29);
    check_meeting(FAST("fifo", "own"), &of_cubes, 88.29, 96.29);
}

#define LINE(version, keys)                                                                        \
    "kernbench: " version "\nname: ports\ncontention: {links: fifo}\n"                             \
    "sip: {cube_mesh: {w: 3, h: 1}, d2d: {bw_gbs: 50.0}}\n"                                        \
    "cube: {pes: 1, noc: {bw_gbs: 500.0}, pe: {pe_tcm: {size_mb: 64, read_gbs: 4000.0, "           \
    "write_gbs: 4000.0" keys "}}}\n"

enum { MIB = 1 << 20 };
#define FULL_NS (3 + 4096 + 262.144) /* tl_full(): issue, cycles, STORE */

/* The outer PEs of a line of three write 1 MiB each into the TCM between them. */
static void writes_at_once(tl_ctx *tl, const kb_args *args)
{
    const struct scene *scene = args->user;
    kb_endpoint tcm = {KB_TCM, 0, 1, 0};
    uint32_t pe = tl_pe(tl);

    if (pe == 0 || (pe == 2 && scene->senders == 2))
        tl_store(tl, kb_address(tl_topology(tl), &tcm, (uint64_t)pe * MIB),
                 tl_full(tl, KB_F32, KB_SHAPE(MIB / 4), 1));
}

static void check_line(const char *yaml, double alone_ns, double ns)
{
    double before_ns = 3 + FULL_NS; /* the store is issued */

    check(yaml, writes_at_once, &(struct scene){NULL, 1}, before_ns + alone_ns);
    check(yaml, writes_at_once, &(struct scene){NULL, 2}, before_ns + ns);
}

/*
 * With `own` the second is late by 1 MiB at 500 GB/s, the edge from the NoC into pe_dma; with
 * `route` by the time of the links of 50 GB/s. Version 3 of the keys has `own`.
 */
static void neighbours_write_to_one_at_once(void **state)
{
    (void)state;
    check_line(LINE("2", ""), 20973.81, 41945.33);
    check_line(LINE("2", ", hold: own"), 20973.81, 23070.962);
    check_line(LINE("3", ""), 20973.81, 23070.962);
    check_line(LINE("3", ", hold: route"), 20973.81, 41945.33);
    check_line(LINE("3", ", hold: route, write_ports: 2"), 20973.81, 23070.962);
}

/* The edge into pe_dma has two servers: the TCM's own 262.144 are left, or not even these. */
static void an_edge_has_a_server_for_each_port(void **state)
{
    (void)state;
    check_line(LINE("3", "}, pe_dma: {ports: 2"), 20973.81, 21235.954);
    check_line(LINE("3", ", write_ports: 2}, pe_dma: {ports: 2"), 20973.81, 20973.81);
}

#define PACKETS "router, packet_bytes: 256, buffer_bytes: 0"

/*
 * Packets of routers take a port, too: the last one for 2 ns at the pace of its way, or for 0.5 of
 * its own. With two read ports both FETCHes of 8 ns overlap for 6.
 */
static void packets_take_the_port_that_is_free(void **state)
{
    (void)state;
    check_meeting(FAST(PACKETS, "route"), &of_cubes, 88.290001, 126.290001);
    check_meeting(FAST(PACKETS, "own"), &of_cubes, 88.290001, 124.790001);
    check_meeting(FAST(PACKETS, "own, read_ports: 2"), &of_cubes, 88.290001, 118.790001);
}

/* The port's own time is a cost of TCMs, not of memories. */
static void costs_of_a_port_are_those_of_a_tcm(void **state)
{
    static const struct {
        unsigned off;
        double ns;
    } rows[] = {{KB_COST_MEMORY_GBS, 94.0475}, {KB_COST_TCM_GBS, 70.0475}};
    const kb_topology *topo = any_topology(CUBE8("ideal", TCM_KEYS("hold: own")));
    uint64_t none;

    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
        kb_options options = {.engine = i % 2 ? KB_HOP : KB_FUSED, .costs_off = rows[i / 2].off};
        kb_launch_result r =
            run_by(topo, options, meets, &(struct scene){&of_neighbours, 2}, &none);

        assert_int_equal(r.last_end_fs - r.start_fs, FS(rows[i / 2].ns));
    }
    any_topology_free(topo);
}

static void note_port(void *arg, const kb_utilization *use)
{
    if (strcmp(use->name, "sip0.cube0.pe1.pe_tcm.write") == 0)
        *(kb_utilization *)arg = *use;
}

/* Busy is what the port was held, over all of them: 8 ns for each message, by 2 servers. */
static void utilization_counts_all_ports(void **state)
{
    const kb_topology *topo = any_topology(CUBE8("ideal", TCM_KEYS("hold: own, write_ports: 2")));
    kb_utilization use = {0};
    kb_error why = {""};

    (void)state;
    for (int hop = 0; hop < 2; hop++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = hop ? KB_HOP : KB_FUSED});

        assert_int_equal(launch(sim, meets, &(struct scene){&of_neighbours, 2}, 0, &why), KB_OK);
        run_launched(sim, 0);
        assert_int_equal(kb_sim_utilization(sim, note_port, &use), KB_OK);
        assert_int_equal(use.servers, 2);
        assert_int_equal(use.count, 2);
        assert_int_equal(use.busy_fs, FS(16));
        assert_int_equal(use.queue_max, 0);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

enum { ROUNDS = 24, MESSAGES = 4 };

/* c0.pe0 computes, while messages from other cubes come to its TCM or a composite of its own goes
 * on.
 */
struct company {
    int64_t width; /* of what it computes */
    bool composite;
    int64_t fs[3 * ROUNDS + 1]; /* when it has ended what */
};

static void send_now_and_then(tl_ctx *tl, int64_t width)
{
    for (int i = 0; i < MESSAGES; i++) {
        tl_exp(tl, tl_full(tl, KB_F16, KB_SHAPE(64, tl_pe(tl) / 2 + 5 * i + width), 0));
        tl_send(tl, 0, 0, tl_full(tl, KB_F16, KB_SHAPE(256), 1));
    }
}

static void computes_in_company(tl_ctx *tl, const kb_args *args)
{
    struct company *m = (struct company *)(uintptr_t)args->user;
    tl_tensor *ref = tl_ref(tl, SLICE(0), KB_F16, KB_SHAPE(128, 128)), *whole = NULL, *x;
    int n = 0;

    if (tl_pe(tl) != 0) {
        if (!m->composite && tl_pe(tl) % 8 == 0)
            send_now_and_then(tl, m->width);
        return;
    }
    if (m->composite)
        whole = tl_composite(tl, .a = ref, .b = ref, .out = SLICE(1));
    for (int i = 0; i < ROUNDS; i++) {
        x = tl_full(tl, KB_F16, KB_SHAPE(16, 16 * m->width), 1);
        m->fs[n++] = now_fs(tl);
        x = tl_exp(tl, x);
        m->fs[n++] = now_fs(tl);
        tl_dot(tl, x, tl_full(tl, KB_F16, KB_SHAPE(16 * m->width, 16), 1));
        m->fs[n++] = now_fs(tl);
    }
    for (uint32_t i = 0; i < 7 * MESSAGES && !m->composite; i++)
        tl_recv(tl, 8 * (1 + i % 7), 0, KB_F16, KB_SHAPE(256));
    if (m->composite)
        tl_wait(tl, whole);
    m->fs[n] = now_fs(tl);
}

/* Stages that no other can meet come without an event: times are those of runs where each has one.
 */
static void stages_without_events_take_the_same(void **state)
{
    const kb_topology *topo = any_topology("kernbench: 2\nname: ports\nns_per_mm: 0\n"
                                           "contention: {links: fifo}\n"
                                           "sip: {cube_mesh: {w: 4, h: 2}}\n"
                                           "cube: {size_mm: [15, 11]}\n");

    (void)state;
    assert_non_null(topo);
    for (int64_t i = 0; i < 40; i++) {
        struct company plain = {1 + i / 2, i % 2, {0}}, counted = plain, hop = plain;
        uint64_t print;

        run_by(topo, (kb_options){0}, computes_in_company, &plain, &print);
        run_by(topo, (kb_options){.fingerprint = true}, computes_in_company, &counted, &print);
        run_by(topo, (kb_options){.engine = KB_HOP}, computes_in_company, &hop, &print);
        for (int k = 0; k <= 3 * ROUNDS; k++)
            if (plain.fs[k] != hop.fs[k] || counted.fs[k] != hop.fs[k])
                fail_msg("%" PRId64 ", %d: %" PRId64 " and %" PRId64 " fs, not %" PRId64, i, k,
                         plain.fs[k], counted.fs[k], hop.fs[k]);
    }
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_messages_overlap_in_a_port_of_its_own),
        cmocka_unit_test(a_link_in_front_hides_the_hold),
        cmocka_unit_test(several_ports_serve_side_by_side),
        cmocka_unit_test(a_slow_way_does_not_hold_the_port),
        cmocka_unit_test(neighbours_write_to_one_at_once),
        cmocka_unit_test(an_edge_has_a_server_for_each_port),
        cmocka_unit_test(packets_take_the_port_that_is_free),
        cmocka_unit_test(costs_of_a_port_are_those_of_a_tcm),
        cmocka_unit_test(utilization_counts_all_ports),
        cmocka_unit_test(stages_without_events_take_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
