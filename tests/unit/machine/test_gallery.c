/* test_gallery.c -- the machines of topologies/ that are nets: 4096 bytes alone to the farthest
 * cube, by both engines and the judge; docs/machine.md "Gallery" has the times.
 */
#include "machine/endpoint.h"
#include "support/any_topology.h"
#include "support/rig.h"
#include <stdio.h>

/* A write at time 0. */
struct way {
    const char *file, *src, *dst;
    int64_t end_fs;
};

/* The text of a file; give it back with free(). */
static char *text_of(const char *file)
{
    FILE *in = fopen(file, "r");
    char *text = calloc(1, 1 << 16);

    assert_non_null(in);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    return text;
}

static void check_engines(const kb_topology *topo, const struct way *way)
{
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});

        issue(sim, topo, 0, KB_WRITE, way->src, way->dst, 4096);
        run_all(sim);
        assert_int_equal(result_of(sim, 0).end_fs, way->end_fs);
        assert_int_equal(result_of(sim, 0).formula_fs, way->end_fs);
        kb_sim_free(sim);
    }
}

static void check_judge(const char *yaml, const struct way *way)
{
    struct judge_topo *t = judge_load_text(yaml);
    struct judge_row row = {.op = JUDGE_WRITE, .nbytes = 4096};
    struct judge_result got;
    uint64_t fingerprint;

    assert_non_null(t);
    assert_true(judge_end_parse(t, way->src, &row.src));
    assert_true(judge_end_parse(t, way->dst, &row.dst));
    assert_true(judge_replay(t, &row, 1, &got, &fingerprint));
    assert_int_equal(got.end_fs, way->end_fs);
    judge_free(t);
}

static void check(const struct way *way)
{
    char *yaml = text_of(way->file);
    const kb_topology *topo = any_topology(yaml);

    assert_non_null(topo);
    check_engines(topo, way);
    check_judge(yaml, way);
    any_topology_free(topo);
    free(yaml);
}

/* -- each machine ----------------------------------------------------------------------------- */

/* A compute die's own memory die, the ones beside it, and the one across. */
static void mi300x_local_one_step_and_two(void **state)
{
    static const char file[] = "topologies/mi300x.yaml";

    (void)state;
    check(&(struct way){file, "c4.pe0", "c0.slice0", 315408695});
    check(&(struct way){file, "c4.pe0", "c1.slice0", 332568695});
    check(&(struct way){file, "c4.pe0", "c2.slice0", 332418695});
    check(&(struct way){file, "c4.pe0", "c3.slice0", 349578695});
}

/* A read of 4096 bytes by c4.pe0, cold. */
static int64_t cold_fs(const kb_topology *topo, const char *to)
{
    kb_endpoint src = end_of(topo, "c4.pe0"), dst = end_of(topo, to);
    kb_cost c;

    assert_int_equal(kb_route_cost(topo, KB_READ, &src, &dst, 4096, &c, NULL), KB_OK);
    return kb_formula_fs(&c);
}

/* With both caches, and without the L2. */
static void mi300x_with_caches(void **state)
{
    char *yaml = text_of("topologies/mi300x_caches.yaml"), *l2 = strstr(yaml, "l2: {size_mb: 4");
    const kb_topology *topo = any_topology(yaml);

    (void)state;
    assert_true(topo && l2);
    assert_int_equal(cold_fs(topo, "c0.slice0"), 559581190);
    assert_int_equal(cold_fs(topo, "c3.slice0"), 593751190);
    any_topology_free(topo);
    memcpy(l2, "l2: {size_mb: 0", strlen("l2: {size_mb: 0"));
    topo = any_topology(yaml);
    assert_int_equal(cold_fs(topo, "c3.slice0"), 449578695);
    any_topology_free(topo);
    free(yaml);
}

/* The PEs of its compute dies have the two slices of the memory die below them, in turn. */
static void mi300x_home_slices(void **state)
{
    char *yaml = text_of("topologies/mi300x.yaml");
    const kb_topology *topo = any_topology(yaml);

    (void)state;
    assert_non_null(topo);
    for (uint32_t pe = 0; pe < kb_pe_count(topo); pe++) {
        kb_endpoint slice;

        assert_int_equal(kb_pe_slice(topo, pe, &slice), KB_OK);
        assert_int_equal(slice.cube, pe / 76);
        assert_int_equal(slice.unit, pe % 2);
    }
    any_topology_free(topo);
    free(yaml);
}

static void farthest_of_the_others(void **state)
{
    (void)state;
    check(&(struct way){"topologies/a100.yaml", "c0.pe0", "s7.c0.slice0", 929788991});
    check(&(struct way){"topologies/h100.yaml", "c0.pe0", "s7.c0.slice0", 923525994});
    check(&(struct way){"topologies/b200.yaml", "c0.pe0", "s7.c0.slice0", 917262997});
    check(&(struct way){"topologies/mi300x8.yaml", "c0.pe0", "s7.c0.slice0", 1092086022});
    check(&(struct way){"topologies/rtx_pro_6000.yaml", "c0.pe0", "c0.slice0", 504857143});
    check(&(struct way){"topologies/dgxh100.yaml", "c0.pe0", "c1.slice0", 820152728});
    check(&(struct way){"topologies/dojo.yaml", "c0.pe0", "c34.slice0", 1287424157});
    check(&(struct way){"topologies/galaxy.yaml", "c0.pe0", "c18.slice0", 3602509000});
    check(&(struct way){"topologies/t3k.yaml", "c0.pe0", "c7.slice0", 3508680000});
    check(&(struct way){"topologies/v5p.yaml", "c0.pe0", "c42.slice0", 6448236111});
    check(&(struct way){"topologies/tpu_v5e.yaml", "c0.pe0", "c136.slice0", 16486195000});
    check(&(struct way){"topologies/blackhole_ring8.yaml", "c0.pe0", "c4.slice0", 2559175000});
    check(&(struct way){"topologies/wormhole_ring8.yaml", "c0.pe0", "c4.slice0", 3484595745});
}

/* Whichever of `n` switches it goes by; and all are taken. */
static void check_switches(const struct way *way, uint32_t n)
{
    char *yaml = text_of(way->file);
    const kb_topology *topo = any_topology(yaml);
    kb_endpoint from = end_of(topo, way->src), to = end_of(topo, way->dst);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    uint32_t ends[2], taken = 0, most = 10 * n;

    assert_int_equal(endpoint_pack_route(topo, KB_WRITE, &from, &to, ends, NULL), KB_OK);
    for (uint32_t id = 0; id < most; id++) {
        issue(sim, topo, id * INT64_C(2000000000), KB_WRITE, way->src, way->dst, 4096);
        taken |= 1u << endpoint_course(topo, KB_WRITE, ends[0], ends[1], id, 0);
    }
    assert_int_equal(taken, (1u << n) - 1);
    run_all(sim);
    for (uint64_t id = 0; id < most; id++)
        assert_int_equal(result_of(sim, id).actual_fs, way->end_fs);
    kb_sim_free(sim);
    any_topology_free(topo);
    free(yaml);
}

static void a_way_by_each_switch_takes_as_long(void **state)
{
    (void)state;
    check_switches(&(struct way){"topologies/dgxh100.yaml", "c0.pe0", "c1.slice0", 820152728}, 4);
    check_switches(&(struct way){"topologies/nvl72.yaml", "c0.pe0", "s1.c0.slice0", 417250946}, 18);
}

/* Between two packages, by the links of fabric.net; inside one, by its own. */
static void nvl72_over_rails(void **state)
{
    static const char file[] = "topologies/nvl72.yaml";

    (void)state;
    check(&(struct way){file, "c0.pe0", "s1.c0.slice0", 417250946});
    check(&(struct way){file, "c0.pe0", "s71.c0.slice0", 417250946});
    check(&(struct way){file, "s3.c1.pe0", "s2.c0.slice0", 417250946});
    check(&(struct way){file, "c0.pe0", "c1.slice0", 18396946});
}

/* The text with one PE where there are some, and routers. */
static char *with_routers(const char *file)
{
    char *yaml = text_of(file);

    for (char *at = yaml; (at = strstr(at, "pes: ")) != NULL; at++)
        for (char *digit = at + 6; *digit >= '0' && *digit <= '9'; digit++)
            *digit = ' ';
    return strcat(yaml, "\ncontention: {links: router, vcs: [2, 2]}\n");
}

/* What keeps packets from waiting in a circle: most machines have none. */
static void packets_do_not_wait_in_a_circle(void **state)
{
    static const struct {
        const char *file;
        enum routes_by by;
    } machines[] = {
        {"topologies/mi300x.yaml", ROUTES_ALL}, {"topologies/dgxh100.yaml", ROUTES_ALL},
        {"topologies/dojo.yaml", ROUTES_ALL},   {"topologies/t3k.yaml", ROUTES_ALL},
        {"topologies/v5p.yaml", ROUTES_ALL},    {"topologies/galaxy.yaml", ROUTES_DATELINES}};

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        char *yaml = with_routers(machines[i].file);
        const kb_topology *topo = any_topology(yaml);

        assert_non_null(topo);
        assert_int_equal(topo->routes_by, machines[i].by);
        any_topology_free(topo);
        free(yaml);
    }
}

/* Each of 72 SIPs has a link to each of 18 switches; a machine of one SIP has no rails. */
static void nvl72_counts_its_rails(void **state)
{
    static const char *const files[] = {"topologies/nvl72.yaml", "topologies/mi300x.yaml"};
    static const unsigned rails[] = {1296, 0}, switches[] = {18, 0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *yaml = text_of(files[i]);
        const kb_topology *topo = any_topology(yaml);
        kb_info info;

        assert_non_null(topo);
        kb_topology_info(topo, &info);
        assert_int_equal(info.rails, rails[i]);
        assert_int_equal(info.fabric_switches, switches[i]);
        any_topology_free(topo);
        free(yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvl72_counts_its_rails),
        cmocka_unit_test(mi300x_local_one_step_and_two),
        cmocka_unit_test(mi300x_home_slices),
        cmocka_unit_test(mi300x_with_caches),
        cmocka_unit_test(nvl72_over_rails),
        cmocka_unit_test(farthest_of_the_others),
        cmocka_unit_test(a_way_by_each_switch_takes_as_long),
        cmocka_unit_test(packets_do_not_wait_in_a_circle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
