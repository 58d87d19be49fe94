/* test_gaps.c -- machines with missing cubes, planes, grids and broken links, by calls of the
 * library. */
#include "support/any_topology.h"
#include "support/rig.h"
#include "tl.h"

#define MESH(w, h, more)                                                                           \
    "kernbench: 1\nname: gaps\nsip: {cube_mesh: {w: " #w ", h: " #h "}" more "}\n"

static const kb_traffic plain = {.pattern = KB_UNIFORM, .nbytes = 4096, .rate = 0.1, .txns = 2000};

static void is_idle(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
}

static void loads_nowhere(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_load(tl, UINT64_C(1) << 50, KB_F32, KB_SHAPE(4));
}

static void assert_no_launch(const kb_topology *topo, const char *text)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_launch_request r = {.name = "idle", .kernel = is_idle};
    kb_error why = {""};

    assert_int_equal(kb_launch(sim, &r, &why), KB_BAD_REQUEST);
    if (!strstr(why.text, text))
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

static void assert_no_traffic(const kb_topology *topo, kb_traffic traffic, const char *text)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};
    kb_status status = kb_sim_traffic(sim, &traffic, &why);

    if (status == KB_OK)
        status = kb_sim_run(sim, 0, &why);
    assert_int_equal(status, KB_BAD_REQUEST);
    if (!strstr(why.text, text))
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

static void count_edge(void *arg, const kb_edge *edge)
{
    *(size_t *)arg += edge->gbs > 0;
}

static void ignore_end(void *arg, const kb_endpoint *end)
{
    (void)arg, (void)end;
}

static void assert_no_end(const kb_topology *topo, const char *name, const char *text)
{
    kb_endpoint end;
    kb_error why = {""};

    if (kb_endpoint_parse(topo, name, strlen(name), &end, &why) == KB_OK)
        fail_msg("there is %s", name);
    if (text && strcmp(why.text, text) != 0)
        fail_msg("%s", why.text);
}

/* c1 is missing on both SIPs, and c2.pe3. */
static void missing_cubes(void **state)
{
    const kb_topology *topo =
        any_topology(MESH(2, 2, "") "sips: 2\nmissing: [\"s*.c1\", \"s*.c2.pe3\"]\n"
                                    "cubes: {\"s*.c3\": {hbm: {size_gb: 24}}}\n");
    kb_endpoint gone = {KB_PE, 1, 1, 0}, slice = {KB_SLICE, 0, 1, 0}, end;
    kb_traffic large = plain;
    uint32_t number;
    kb_cube cube;
    size_t n = 0;
    kb_error why = {""};

    (void)state;
    assert_no_end(topo, "c1.pe0", "c1 is missing from this topology");
    assert_no_end(topo, "s1.c1.pe0", NULL);
    assert_no_end(topo, "c2.pe3", NULL);
    assert_int_equal(kb_endpoint_select(topo, "c1.pe*", 6, ignore_end, NULL, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "c1.pe*: nothing of it is there, the first: c1 is missing from "
                                  "this topology");
    assert_int_equal(kb_endpoint_select(topo, "c2.pe3", 6, ignore_end, NULL, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "c2.pe3 is missing from this topology");
    assert_int_equal(kb_pe_number(topo, &gone, &number), KB_BAD_REQUEST);
    assert_int_equal(kb_pe_number(topo, &slice, &number), KB_BAD_REQUEST);
    assert_int_equal(kb_slice_number(topo, &slice, &number), KB_BAD_REQUEST);
    assert_int_equal(kb_slice_number(topo, &gone, &number), KB_BAD_REQUEST);
    assert_int_equal(kb_pe_slice(topo, kb_pe_count(topo), &end), KB_BAD_REQUEST);
    assert_int_equal(kb_slice_get(topo, 1000, &end), KB_BAD_REQUEST);
    assert_int_equal(kb_cube_get(topo, 0, 1, &cube), KB_BAD_REQUEST);
    assert_int_equal(kb_cube_get(topo, 2, 0, &cube), KB_BAD_REQUEST);
    assert_int_equal(kb_node_find(topo, "sip0.cube1.m_cpu", 16, &number), KB_BAD_REQUEST);
    assert_int_equal(kb_node_find(topo, "sip0.cube2.pe3.pe_dma", 21, &number), KB_BAD_REQUEST);
    kb_edges(topo, count_edge, &n);
    assert_true(n > 0);
    large.nbytes = UINT64_C(5) << 30;
    assert_no_traffic(topo, large, "more than a slice holds, which is 3221225472");
    any_topology_free(topo);
}

static void without_pes(void **state)
{
    const kb_topology *topo = any_topology(MESH(1, 1, "") "cube: {pes: 0, hbm: {slices: 4}}\n");

    (void)state;
    assert_no_launch(topo, "kernels need PEs, this topology has none");
    assert_no_traffic(topo, plain, "traffic needs PEs, this topology has none");
    assert_no_end(topo, "c0.pe0", NULL);
    any_topology_free(topo);
}

/* The first cube has no PE, so the first part of a tensor is on the second. */
static void a_first_cube_without_pes(void **state)
{
    const kb_topology *topo =
        any_topology(MESH(2, 1, "") "cubes: {c0: {pes: 0, hbm: {slices: 8}}}\n");
    kb_sim *sim = new_sim(topo, (kb_options){0});
    float got[4] = {0};
    kb_error why = {""};
    kb_tensor *x;

    (void)state;
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(4),
                                   (kb_placement){KB_REPLICATE, KB_REPLICATE}, &x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 1, 1, &why), KB_OK);
    assert_int_equal(kb_tensor_read(x, got, &why), KB_OK);
    assert_true(got[0] == 1 && got[3] == 4);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* A plane whose links lead east and west only. */
static void a_plane_of_some_directions(void **state)
{
    const kb_topology *topo =
        any_topology(MESH(2, 2, ", planes: [{name: a, dirs: [E, W]}, {name: b}]"));
    kb_endpoint src = {KB_PE, 0, 0, 0}, east = {KB_SLICE, 0, 1, 0}, south = {KB_SLICE, 0, 2, 0};
    kb_error why = {""};
    kb_cost cost;
    size_t n = 0;

    (void)state;
    assert_int_equal(kb_route_cost_on(topo, 0, KB_READ, &src, &east, 64, &cost, &why), KB_OK);
    assert_int_equal(kb_route_cost_on(topo, 0, KB_READ, &src, &south, 64, &cost, &why),
                     KB_BAD_REQUEST);
    assert_int_equal(kb_route_cost_on(topo, 0, KB_WRITE, &src, &south, 64, &cost, &why),
                     KB_BAD_REQUEST);
    assert_int_equal(kb_route_cost_on(topo, 1, KB_READ, &src, &south, 64, &cost, &why), KB_OK);
    kb_edges(topo, count_edge, &n);
    assert_true(n > 0);
    any_topology_free(topo);
}

/* Two planes, of which transactions take turns. */
static void planes(void **state)
{
    const kb_topology *topo =
        any_topology(MESH(2, 2, ", planes: [{name: a}, {name: b}], plane: hash"));
    kb_endpoint src = {KB_PE, 0, 0, 0}, dst = {KB_SLICE, 0, 3, 0};
    kb_transaction r = {.dst = {KB_SLICE, 0, 3, 0}, .nbytes = 64, .plane = 1};
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_traffic traffic = plain;
    kb_traffic_result result;
    kb_error why = {""};
    kb_cost cost;

    (void)state;
    assert_string_equal(kb_plane_name(topo, 1), "b");
    assert_null(kb_plane_name(topo, 2));
    assert_int_equal(kb_route_cost_on(topo, 1, KB_READ, &src, &dst, 64, &cost, &why), KB_OK);
    assert_int_equal(kb_route_cost_on(topo, 2, KB_READ, &src, &dst, 64, &cost, &why),
                     KB_BAD_REQUEST);
    assert_string_equal(why.text, "there is no plane 2");
    assert_int_equal(kb_sim_add(sim, &r, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "a transaction has no plane of its own here"));
    assert_int_equal(kb_sim_traffic(sim, &traffic, &why), KB_OK);
    run_all(sim);
    assert_int_equal(kb_sim_traffic_result(&sim, 1, &result), KB_OK);
    assert_true(result.count > 0);
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* Two cubes without a link between them. */
static void parts(void **state)
{
    const kb_topology *topo = any_topology(MESH(2, 1, "") "broken: [c0-c1]\n");
    kb_point point = {.dst = {KB_SLICE, 0, 1, 0}, .nbytes = 64, .inflight = 1};
    kb_point_result result;
    kb_traffic local = plain;
    kb_error why = {""};
    kb_sim *sim;

    (void)state;
    assert_no_launch(topo, "there is none from c0 to c1");
    sim = new_sim(topo, (kb_options){0});
    assert_int_equal(kb_sweep(sim, &point, 1, &result, NULL, &why), KB_BAD_REQUEST);
    kb_sim_free(sim);
    assert_no_traffic(topo, plain, "there is no way between two cubes");
    local.pattern = KB_LOCAL;
    sim = new_sim(topo, (kb_options){0});
    assert_int_equal(kb_sim_traffic(sim, &local, NULL), KB_OK);
    run_all(sim);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void grids(void **state)
{
    const kb_topology *topo = any_topology(
        MESH(1, 1, "") "sips: 4\nfabric: {shape: grid, grid: {w: 2, h: 2}, wrap: x}\n");
    kb_info info;
    size_t n = 0;

    (void)state;
    kb_topology_info(topo, &info);
    assert_true(info.grid_w == 2 && info.grid_h == 2);
    kb_edges(topo, count_edge, &n);
    assert_true(n > 0);
    any_topology_free(topo);
}

/* Interleaved addresses: what traffic walks over is the share of a PE. */
static void shares(void **state)
{
    const kb_topology *topo = any_topology(MESH(1, 1, "") "addressing: {granule: 64}\n"
                                                          "cube: {hbm: {size_gb: 1, slices: 4}}\n");
    kb_launch_request launch = {.name = "nowhere", .kernel = loads_nowhere};
    kb_traffic walk = plain;
    kb_endpoint end;
    kb_error why = {""};
    kb_transaction r;
    kb_sim *sim;
    uint64_t offset;

    (void)state;
    walk.pattern = KB_STRIDED;
    walk.stride = 4096;
    walk.nbytes = UINT64_C(3) << 26;
    assert_no_traffic(topo, walk, "more than the share of a PE");
    walk.nbytes = UINT64_C(1) << 26;
    assert_no_traffic(topo, walk, "parts");
    assert_int_equal(kb_address_find(topo, UINT64_C(1) << 30, &end, &offset), KB_BAD_REQUEST);
    assert_int_equal(kb_address_find(topo, UINT64_C(1) << 50, &end, &offset), KB_BAD_REQUEST);
    r = (kb_transaction){.by_address = true, .address = UINT64_C(1) << 50, .nbytes = 64};
    sim = new_sim(topo, (kb_options){0});
    assert_int_equal(kb_sim_add(sim, &r, &why), KB_BAD_REQUEST);
    kb_sim_free(sim);
    sim = new_sim(topo, (kb_options){0});
    assert_int_equal(kb_launch(sim, &launch, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "there is no memory at address"));
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void count_end(void *arg, const kb_span *last)
{
    *(size_t *)arg += last->end_fs > 0;
}

/* A kilobyte of 16 slices, then one that was never written. */
static void loads_across(tl_ctx *tl, const kb_args *args)
{
    uint64_t x = kb_tensor_shard(args->tensors[0], tl_pe(tl)).address;

    tl_load(tl, x, KB_F32, KB_SHAPE(256));
    tl_load(tl, x + (1 << 20), KB_F32, KB_SHAPE(256));
}

static void a_command_over_many_slices(void **state)
{
    const kb_topology *topo = any_topology(MESH(1, 1, "") "addressing: {granule: 64}\n");
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_launch_request r = {
        .name = "across", .kernel = loads_across, .pes = (uint32_t[]){0}, .n_pes = 1};
    size_t n = 0;
    kb_observer observer = {.arg = &n, .end = count_end};
    kb_error why = {""};
    kb_tensor *x;

    (void)state;
    assert_int_equal(kb_sim_observe(sim, &observer, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(256),
                                   (kb_placement){KB_REPLICATE, KB_REPLICATE}, &x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 1, 1, &why), KB_OK);
    r.args.tensors = &x;
    r.args.n_tensors = 1;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "of c0.slice* (address"));
    assert_true(n > 0);
    kb_sim_free(sim);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_cubes),
        cmocka_unit_test(without_pes),
        cmocka_unit_test(planes),
        cmocka_unit_test(a_first_cube_without_pes),
        cmocka_unit_test(a_plane_of_some_directions),
        cmocka_unit_test(parts),
        cmocka_unit_test(grids),
        cmocka_unit_test(shares),
        cmocka_unit_test(a_command_over_many_slices),
    };

    return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
