/* test_null.c -- a NULL where the library needs a pointer is KB_BAD_REQUEST, if a call has a
 * status. */
#include "support/rig.h"
#include <stdio.h>
#include "cube8.h"

static void *room[64]; /* for what a call must not look into: another argument of it is NULL */

static int null;             /* the number of the argument that is NULL */
static char called[1 << 14]; /* the names of all calls made */

#define N(i, pointer) (null == (i) ? NULL : (pointer))

/* Makes a call with each of its `n` pointers NULL in turn: those that N() numbers. */
#define REFUSES(n, name, ...)                                                                      \
    do {                                                                                           \
        strcat(strcat(called, #name), "(");                                                        \
        for (null = 0; null < (n); null++)                                                         \
            if (name(__VA_ARGS__) != KB_BAD_REQUEST)                                               \
                fail_msg("%s with pointer %d NULL", #name, null);                                  \
    } while (0)

static void each_of(void *arg, const void *what)
{
    (void)arg, (void)what;
}

static void use_endpoints(const kb_topology *topo)
{
    kb_endpoint pe = {KB_PE, 0, 0, 0}, slice = {KB_SLICE, 0, 0, 0}, end;
    uint64_t offset;
    uint32_t number;
    kb_node node;
    kb_cube_place place;
    kb_cube cube;
    kb_limits limits;
    kb_cost cost;

    REFUSES(3, kb_endpoint_parse, N(0, topo), N(1, "c0.pe0"), 6, N(2, &end), NULL);
    REFUSES(3, kb_endpoint_select, N(0, topo), N(1, "c*"), 2,
            N(2, (void (*)(void *, const kb_endpoint *))each_of), NULL, NULL);
    REFUSES(2, kb_pe_get, N(0, topo), 0, N(1, &end));
    REFUSES(2, kb_pe_slice, N(0, topo), 0, N(1, &end));
    REFUSES(3, kb_pe_number, N(0, topo), N(1, &pe), N(2, &number));
    REFUSES(2, kb_slice_get, N(0, topo), 0, N(1, &end));
    REFUSES(3, kb_slice_number, N(0, topo), N(1, &slice), N(2, &number));
    REFUSES(2, kb_cube_get, N(0, topo), 0, 0, N(1, &cube));
    REFUSES(2, kb_cube_limits, N(0, topo), 0, 0, N(1, &limits));
    REFUSES(2, kb_cube_place_get, N(0, topo), 0, N(1, &place));
    REFUSES(2, kb_node_get, N(0, topo), 0, N(1, &node));
    REFUSES(3, kb_node_find, N(0, topo), N(1, "sip0"), 4, N(2, &number));
    REFUSES(4, kb_route_cost, N(0, topo), KB_READ, N(1, &pe), N(2, &slice), 64, N(3, &cost), NULL);
    REFUSES(4, kb_route_cost_on, N(0, topo), 0, KB_READ, N(1, &pe), N(2, &slice), 64, N(3, &cost),
            NULL);
    REFUSES(4, kb_route_walk_on, N(0, topo), 0, KB_READ, N(1, &pe), N(2, &slice),
            N(3, (void (*)(void *, const kb_hop *))each_of), NULL, NULL);
    REFUSES(4, kb_route_walk_alone, N(0, topo), 0, KB_READ, N(1, &pe), N(2, &slice), 64,
            N(3, (void (*)(void *, const kb_hop *))each_of), NULL, NULL);
    REFUSES(4, kb_route_walk, N(0, topo), N(1, &pe), N(2, &slice),
            N(3, (void (*)(void *, const kb_hop *))each_of), NULL, NULL);
    REFUSES(3, kb_address_find, N(0, topo), 0, N(1, &end), N(2, &offset));
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static void load_topology(const kb_topology *topo)
{
    kb_topology_source source = {.file = "topologies/cube1.yaml"};
    const char *name = "cube.hbm.bw_gbs";
    const kb_topology *made;

    REFUSES(2, kb_topology_load, N(0, &source), N(1, &made), NULL);
    REFUSES(2, kb_topology_load_until, N(0, &source), never, NULL, N(1, &made), NULL);
    source.file = NULL;
    REFUSES(1, kb_topology_load, &source, &made, NULL);
    REFUSES(2, kb_topology_keys, N(0, topo), N(1, (void (*)(void *, const kb_key *))each_of), NULL);
    REFUSES(2, kb_cube_keys, N(0, topo), 0, 0, N(1, (void (*)(void *, const kb_key *))each_of),
            NULL);
    REFUSES(2, kb_topology_numbers, N(0, topo), 2,
            N(1, (void (*)(void *, const kb_better *))each_of), NULL);
    REFUSES(3, kb_topology_better, N(0, topo), N(1, &name), 1, 2, N(2, &made), NULL);
}

static void put_nothing(void *arg, const void *bytes, size_t n)
{
    (void)arg, (void)bytes, (void)n;
}

static void take_nothing(void *arg, void *bytes, size_t n)
{
    (void)arg, (void)bytes, (void)n;
}

static void use_simulation(const kb_topology *topo, kb_sim *sim)
{
    kb_transaction request = {
        .op = KB_READ, .src = {KB_PE, 0, 0, 0}, .dst = {KB_SLICE, 0, 0, 0}, .nbytes = 64};
    kb_observer observer = {0};
    kb_traffic_result traffic_result;
    kb_point point = {0};
    kb_point_result point_result;
    kb_traffic traffic = {0};
    kb_breakdown *breakdown;
    kb_race_counts counts;
    kb_transaction_columns rows = {0};
    kb_result_columns columns = {0};
    kb_result result;
    kb_sim *made;

    REFUSES(2, kb_sim_new, N(0, topo), NULL, N(1, &made));
    REFUSES(2, kb_sim_add, N(0, sim), N(1, &request), NULL);
    REFUSES(2, kb_sim_warm, N(0, sim), N(1, sim), NULL);
    REFUSES(2, kb_sim_add_many, N(0, sim), N(1, &rows), 0, NULL, NULL);
    REFUSES(4, kb_sim_add_many, sim,
            &((kb_transaction_columns){.ends = N(0, &request.src),
                                       .n_ends = 1,
                                       .src = N(1, (uint32_t *)room),
                                       .dst = N(2, (uint32_t *)room),
                                       .nbytes = N(3, (uint64_t *)room)}),
            1, NULL, NULL);
    REFUSES(2, kb_sim_add_dependencies, N(0, sim), 0, N(1, (uint64_t *)room), 1, 0, NULL);
    REFUSES(1, kb_sim_check_dependencies, N(0, sim), NULL, NULL);
    REFUSES(1, kb_sim_run, N(0, sim), 0, NULL);
    REFUSES(1, kb_sim_run_to, N(0, sim), 0, false, NULL, NULL);
    REFUSES(1, kb_sim_run_part, N(0, sim), 0, false, 0, NULL, NULL);
    REFUSES(2, kb_sim_request, N(0, sim), 0, N(1, &request));
    REFUSES(2, kb_sim_result, N(0, sim), 0, N(1, &result));
    REFUSES(2, kb_sim_results, N(0, sim), 0, 0, N(1, &columns));
    REFUSES(2, kb_sim_observe, N(0, sim), N(1, &observer), NULL);
    REFUSES(2, kb_breakdown_new, N(0, sim), N(1, &breakdown), NULL);
    REFUSES(2, kb_breakdown_new_path, N(0, sim), N(1, &breakdown), NULL);
    REFUSES(2, kb_breakdown_rows, N(0, (kb_breakdown *)room),
            N(1, (void (*)(void *, const kb_breakdown_row *))each_of), NULL);
    REFUSES(2, kb_breakdown_path, N(0, (kb_breakdown *)room),
            N(1, (void (*)(void *, const kb_breakdown_step *))each_of), NULL);
    REFUSES(2, kb_sim_utilization, N(0, sim),
            N(1, (void (*)(void *, const kb_utilization *))each_of), NULL);
    REFUSES(3, kb_sweep, N(0, sim), N(1, &point), 1, N(2, &point_result), NULL, NULL);
    REFUSES(3, kb_sweep_until, N(0, sim), N(1, &point), 1, NULL, NULL, N(2, &point_result), NULL,
            NULL);
    REFUSES(2, kb_sim_traffic, N(0, sim), N(1, &traffic), NULL);
    REFUSES(2, kb_sim_traffic_result, N(0, &sim), 1, N(1, &traffic_result));
    REFUSES(2, kb_sim_traffic_save, N(0, sim), N(1, put_nothing), NULL);
    REFUSES(2, kb_sim_traffic_restore, N(0, sim), N(1, take_nothing), NULL);
    REFUSES(1, kb_sim_check_races, N(0, sim), NULL);
    REFUSES(2, kb_sim_races, N(0, sim), N(1, (void (*)(void *, const kb_race *))each_of), NULL);
    REFUSES(2, kb_sim_race_counts, N(0, sim), N(1, &counts));
    REFUSES(2, kb_sim_beyond, N(0, sim), N(1, (void (*)(void *, const kb_beyond *))each_of), NULL);
}

static void use_kernels(const kb_topology *topo, kb_sim *sim)
{
    const kb_placement placement = {KB_REPLICATE, KB_REPLICATE};
    kb_tensor *tensor = (kb_tensor *)room, *made;
    kb_launch_request request = {0};
    kb_inspection *inspection;
    const kb_bench_table *table;
    const void *bytes;
    kb_launch_result launch;
    kb_difference difference;
    kb_bench_run *run = (kb_bench_run *)room, *made_run;
    double value = 0;
    kb_bound bound;
    int64_t fs;

    REFUSES(3, kb_tensor_new, N(0, sim), N(1, "x"), KB_F32, KB_SHAPE(4), placement, N(2, &made),
            NULL);
    REFUSES(2, kb_tensor_write, N(0, tensor), N(1, room), NULL);
    REFUSES(1, kb_tensor_fill_random, N(0, tensor), 0, 1, NULL);
    REFUSES(1, kb_tensor_fill_arange, N(0, tensor), 0, 1, NULL);
    REFUSES(2, kb_tensor_fill_npy, N(0, tensor), N(1, "/nowhere.npy"), NULL);
    REFUSES(2, kb_tensor_read, N(0, tensor), N(1, room), NULL);
    REFUSES(2, kb_tensor_part, N(0, tensor), 0, N(1, &bytes), NULL);
    REFUSES(2, kb_benches_open, N(0, "nothing.so"), N(1, &table), NULL);
    REFUSES(2, kb_tensor_save_npy, N(0, tensor), N(1, "/nowhere.npy"), NULL);
    REFUSES(3, kb_compare, KB_F64, N(0, &value), N(1, &value), 1, N(2, &difference));
    REFUSES(2, kb_launch, N(0, sim), N(1, &request), NULL);
    REFUSES(2, kb_launch_get, N(0, sim), 0, N(1, &launch));
    REFUSES(2, kb_launch_bound, N(0, sim), N(1, &bound));
    REFUSES(2, kb_sim_deadlocked, N(0, sim), N(1, (void (*)(void *, const kb_deadlocked *))each_of),
            NULL);
    REFUSES(1, kb_compute, N(0, sim), NULL, NULL);
    REFUSES(2, kb_oplog_write, N(0, sim), N(1, "/nowhere.csv"), NULL, 0, NULL);
    REFUSES(2, kb_inspect, N(0, sim), 0, N(1, &inspection), NULL);
    REFUSES(4, kb_bench_try, N(0, run), N(1, "M"), N(2, "1"), N(3, &fs), NULL);
    REFUSES(4, kb_bench_new, N(0, (const kb_bench *)room), N(1, topo), NULL, 0,
            N(2, (const char *const *)room), 1, N(3, &made_run), NULL);
    REFUSES(2, kb_bench_verify, N(0, run), N(1, &value), NULL);
    REFUSES(2, kb_bench_dump, N(0, run), N(1, "/nowhere"), NULL);
}

static void null_is_refused(void **state)
{
    kb_sim *sim;

    (void)state;
    assert_int_equal(kb_sim_new(&cube8_topology, NULL, &sim), KB_OK);
    load_topology(&cube8_topology);
    use_endpoints(&cube8_topology);
    use_simulation(&cube8_topology, sim);
    use_kernels(&cube8_topology, sim);
    kb_sim_free(sim);
}

static void the_text_says_which(void **state)
{
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_add(NULL, NULL, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "an argument must not be NULL: sim, request");
}

/* So that no call with a status and a pointer is forgotten; the test runs at the top of the tree.
 */
static void every_call_of_the_header_was_made(void **state)
{
    FILE *file = fopen("runtime/include/kernbench.h", "r");
    char line[256], name[64];
    int n = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "kb_status %60[a-z0-9_](", name) == 1) {
            n++;
            if (!strstr(called, strcat(name, "(")))
                fail_msg("%s is not tested", name);
        }
    assert_true(n > 40);
    fclose(file);
}

static void nothing_is_freed(void **state)
{
    (void)state;
    kb_topology_free(NULL);
    kb_sim_free(NULL);
    kb_breakdown_free(NULL);
    kb_inspection_free(NULL);
    kb_bench_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_refused),
        cmocka_unit_test(the_text_says_which),
        cmocka_unit_test(every_call_of_the_header_was_made),
        cmocka_unit_test(nothing_is_freed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
