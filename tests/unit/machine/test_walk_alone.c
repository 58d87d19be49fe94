/*
 * test_walk_alone.c -- nodes of a route with what they take of a transaction that is alone: wires
 * and overheads add up to those of the cost, also at banks, behind caches and through an L2.
 */
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>

/* The nodes that were told. */
struct walked {
    int64_t sum_fs;
    double narrowest_gbs;
    bool has_l2;
    size_t n;
};

static void see(void *arg, const kb_hop *hop)
{
    struct walked *w = arg;

    w->sum_fs += hop->wire_fs + hop->overhead_fs;
    if (w->n++ && hop->edge_gbs < w->narrowest_gbs)
        w->narrowest_gbs = hop->edge_gbs;
    w->has_l2 |= strstr(hop->node, ".l2") != NULL;
}

/* How many walks there were, and of what. */
struct seen {
    unsigned walks, more, through_l2, to_l2;
};

static void check_walk(const kb_topology *topo, kb_transaction_op op, const kb_endpoint *src,
                       const kb_endpoint *dst, uint64_t nbytes, struct seen *seen)
{
    uint32_t plane = kb_plane_of(topo, op);
    struct walked plain = {.narrowest_gbs = INFINITY}, alone = plain;
    kb_error why;
    kb_cost cost;

    if (kb_route_cost(topo, op, src, dst, nbytes, &cost, NULL) != KB_OK) {
        assert_int_not_equal(
            kb_route_walk_alone(topo, plane, op, src, dst, nbytes, see, &alone, &why), KB_OK);
        assert_int_equal(alone.n, 0);
        return;
    }
    assert_int_equal(kb_route_walk_on(topo, plane, op, src, dst, see, &plain, &why), KB_OK);
    assert_int_equal(kb_route_walk_alone(topo, plane, op, src, dst, nbytes, see, &alone, &why),
                     KB_OK);
    assert_int_equal(alone.sum_fs, cost.wire_fs + cost.overhead_fs);
    if (alone.has_l2)
        assert_true(cost.bottleneck_gbs == alone.narrowest_gbs);
    if (alone.has_l2 && op == KB_WRITE)
        assert_true(alone.n < plain.n);
    else
        assert_int_equal(alone.n, plain.n);
    seen->walks++;
    seen->more += alone.sum_fs != plain.sum_fs;
    seen->through_l2 += alone.has_l2 && op == KB_READ;
    seen->to_l2 += alone.has_l2 && op == KB_WRITE;
}

static struct seen walks_of(void (*random)(FILE *out, uint64_t seed))
{
    static const uint64_t sizes[] = {1, 64, 4096};
    struct seen seen = {0};

    for (uint64_t seed = 1; seed <= 30; seed++) {
        char *yaml = printed(random, seed);
        const kb_topology *topo = any_topology(yaml);
        uint32_t pes = topo ? kb_pe_count(topo) : 0, slices = topo ? kb_slice_count(topo) : 0;
        kb_endpoint pe, slice;

        for (uint32_t i = 0; pes && slices && i < 24; i++) {
            kb_pe_get(topo, i * 7 % pes, &pe);
            kb_slice_get(topo, i * 5 % slices, &slice);
            check_walk(topo, i & 1 ? KB_WRITE : KB_READ, &pe, &slice, sizes[i % 3], &seen);
        }
        any_topology_free(topo);
        free(yaml);
    }
    assert_true(seen.walks > 300);
    return seen;
}

static void nodes_of_plain_machines_add_up(void **state)
{
    (void)state;
    assert_int_equal(walks_of(judge_random_topo).more, 0);
    walks_of(judge_random_net);
    walks_of(judge_random_shape);
}

static void nodes_of_machines_with_routers_add_up(void **state)
{
    (void)state;
    walks_of(judge_random_routers);
    walks_of(judge_random_router_nets);
    assert_true(walks_of(judge_random_router_banks).more > 100);
    assert_true(walks_of(judge_random_router_caches).more > 100);
}

static void nodes_of_machines_with_banks_add_up(void **state)
{
    (void)state;
    assert_true(walks_of(judge_random_banks).more > 100);
}

static void nodes_of_machines_with_caches_add_up(void **state)
{
    (void)state;
    assert_true(walks_of(judge_random_caches).more > 100);
}

/* A write ends at the L2, and has no nodes behind it; a read is as fast as the slowest edge on both
 * sides. */
static void nodes_of_ways_through_an_l2_add_up(void **state)
{
    struct seen seen = walks_of(judge_random_l2);

    (void)state;
    assert_true(seen.through_l2 > 200);
    assert_true(seen.to_l2 > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_plain_machines_add_up),
        cmocka_unit_test(nodes_of_machines_with_routers_add_up),
        cmocka_unit_test(nodes_of_machines_with_banks_add_up),
        cmocka_unit_test(nodes_of_machines_with_caches_add_up),
        cmocka_unit_test(nodes_of_ways_through_an_l2_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
