/* test_net_mesh.c -- a mesh or torus written as a net has the results of the same machine written
 * as sip.cube_mesh.
 */
#include "support/judged.h"
#include "support/seeds.h"

/* KB_SEEDS=N in the environment runs seeds 1..N. */
enum { MACHINES = 60, ROWS = 40 };

static uint32_t below(uint64_t *rng, uint32_t n)
{
    return (uint32_t)(draw(rng) % n);
}

static bool chance(uint64_t *rng, uint32_t per_cent)
{
    return below(rng, 100) < per_cent;
}

/* The same machine twice: by sip.cube_mesh, and as a net whose IO cubes are the western column. */
static void print_twice(uint64_t seed, bool routers, char mesh[], char net[], size_t bytes,
                        uint32_t *w, uint32_t *h, bool *closed)
{
    uint64_t dice = seed, *rng = &dice;
    char cubes[128] = "", links[160], rest[384];

    *w = 1 + below(rng, 5);
    *h = 1 + below(rng, 4);
    *closed = chance(rng, 50);
    if (routers && *closed) { /* smaller rings do without datelines; no ring has its port to the
                                 IO chiplet in common with a link */
        *w = 1;
        *h = 4 + below(rng, 3);
    }
    snprintf(links, sizeof links, "%s", chance(rng, 80) ? "fifo" : "ideal");
    if (routers)
        snprintf(links, sizeof links,
                 "router, segment_bytes: 256, packet_bytes: 1024, buffer_bytes: %u, "
                 "vcs: [2, 2], arbiter: %s, command_bytes: %u",
                 256 * (4 + below(rng, 8)), chance(rng, 50) ? "rr" : "age", 32 * below(rng, 2));
    snprintf(rest, sizeof rest,
             "ns_per_mm: %s\ncontention: {links: %s}\ncube: {pes: %u, ucie: {overhead_ns: %u.0}, "
             "noc: {overhead_ns: %u.5}}\n",
             chance(rng, 30) ? "0.0" : "0.01", links, 1 + below(rng, 4), below(rng, 3),
             below(rng, 2));
    for (uint32_t y = 0; y < *h; y++)
        snprintf(cubes + strlen(cubes), sizeof cubes - strlen(cubes), "%sc%u", y ? ", " : "",
                 y * *w);
    snprintf(mesh, bytes, HEAD "%ssip: {cube_mesh: {w: %u, h: %u, wrap: %s}}\n", rest, *w, *h,
             *closed ? "xy" : "none");
    snprintf(net, bytes, HEAD "%ssip: {cubes: %u, net: [{%s: [%u, %u]}], io_cubes: [%s]}\n", rest,
             *w * *h, *closed ? "torus" : "mesh", *w, *h, cubes);
}

/* In a ring of cubes a host shares the port of a mesh with neighbours; a net has one for it, which
 * takes the last turn. */
static kb_transaction any_row(uint64_t *rng, const kb_topology *topo, bool hosts)
{
    kb_transaction r = {.nbytes = 1};
    bool host = hosts && chance(rng, 15), write = chance(rng, 50);

    kb_pe_get(topo, below(rng, kb_pe_count(topo)), &r.src);
    kb_slice_get(topo, below(rng, kb_slice_count(topo)), &r.dst);
    if (host)
        r.src = (kb_endpoint){.kind = KB_HOST};
    else if (chance(rng, 25))
        r.dst = (kb_endpoint){.kind = KB_SRAM, .cube = r.dst.cube};
    r.op = host ? (write ? KB_H2D : KB_D2H) : write ? KB_WRITE : KB_READ;
    r.nbytes = chance(rng, 50) ? 4096 : 1 + below(rng, 9000);
    r.issue_fs = chance(rng, 50) ? 0 : (int64_t)below(rng, 200000000);
    return r;
}

static void assert_same_results(bool routers)
{
    struct seeds seeds = seeds_of(MACHINES, 1);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        uint64_t rng = ~seed;
        char yaml[2][1024];
        const kb_topology *topo[2];
        kb_sim *sim[2];
        uint32_t w, h;
        bool closed;

        print_twice(seed, routers, yaml[0], yaml[1], sizeof yaml[0], &w, &h, &closed);
        for (int i = 0; i < 2; i++) {
            topo[i] = topology(yaml[i]);
            sim[i] = new_sim(
                topo[i], (kb_options){.engine = seed % 4 ? KB_FUSED : KB_HOP, .fingerprint = true});
        }
        for (int row = 0; row < ROWS; row++) {
            kb_transaction r = any_row(&rng, topo[0], !closed && !strstr(yaml[0], "rr"));

            for (int i = 0; i < 2; i++)
                add(sim[i], &r);
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal(kb_sim_run(sim[i], 0, NULL), KB_OK);
        assert_true(kb_sim_fingerprint(sim[0]) == kb_sim_fingerprint(sim[1]));
        for (size_t row = 0; row < ROWS; row++) {
            kb_result got[2];

            memset(got, 0, sizeof got);
            for (int i = 0; i < 2; i++)
                assert_int_equal(kb_sim_result(sim[i], row, &got[i]), KB_OK);
            assert_memory_equal(&got[0], &got[1], sizeof got[0]);
        }
        for (int i = 0; i < 2; i++) {
            kb_sim_free(sim[i]);
            any_topology_free(topo[i]);
        }
    }
}

static void a_net_has_the_results_of_its_mesh(void **state)
{
    (void)state;
    assert_same_results(false);
}

static void a_net_of_routers_has_them_too(void **state)
{
    (void)state;
    assert_same_results(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_net_has_the_results_of_its_mesh),
        cmocka_unit_test(a_net_of_routers_has_them_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
