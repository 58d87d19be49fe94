/*
 * test_knockout.c -- a cost left out is the same as a machine in whose YAML it is not there.
 *
 * Random machines under random loads. For each class of cost the one machine runs without it
 * (kb_options.costs_off), the other has the keys of that class at what costs nothing: bandwidths
 * unlimited, overheads and distances 0, as many channels as there may be. Every time is equal.
 *
 * Bandwidths in a YAML end at 1e6 GB/s, so the other machine is changed between its reading and its
 * tables, with the generator's own code. There a crossbar may take its other bridge, since it takes
 * the way of the least delay; a run without a cost keeps its ways, so rows with two ways are left
 * out.
 */
#include "support/rig.h"
#include "support/seeds.h"
#include "support/split.h"
#include "gen/build.h"
#include <math.h>

/* KB_SEEDS=N runs machines 1..N of each sort. */
static size_t n_rows; /* that were compared */

enum { SEEDS = 15, LOADS = 3, MOST_ROWS = 120, MANY = 65536 };

/* The keys of a class, and the value at which they cost nothing. */
static const struct class
{
    unsigned costs;
    double value;
    enum key keys[20]; /* ended by 0, which is of no class */
} classes[] = {
    {KB_COST_LINK_GBS,
     INFINITY,
     {KEY_fabric_bw_gbs, KEY_sip_d2d_bw_gbs, KEY_sip_io_link_bw_gbs, KEY_sip_io_shore_bw_gbs,
      KEY_sip_planes, KEY_cube_noc_bw_gbs, KEY_cube_xbar_pe_gbs, KEY_cube_xbar_chain_gbs,
      KEY_cube_bridge_bw_gbs, KEY_cube_pe_pe_dma_run_ns}},
    {KB_COST_MEMORY_GBS,
     INFINITY,
     {KEY_cube_hbm_bw_gbs, KEY_cube_sram_bw_gbs, KEY_cube_pe_pe_tcm_read_gbs,
      KEY_cube_pe_pe_tcm_write_gbs}},
    {KB_COST_OVERHEAD,
     0,
     {KEY_fabric_overhead_ns, KEY_sip_io_pcie_ep_overhead_ns, KEY_sip_io_io_cpu_overhead_ns,
      KEY_cube_ucie_overhead_ns, KEY_cube_noc_overhead_ns, KEY_cube_m_cpu_overhead_ns,
      KEY_cube_sram_overhead_ns, KEY_cube_sram_latency_ns, KEY_cube_xbar_overhead_ns,
      KEY_cube_bridge_overhead_ns, KEY_cube_hbm_overhead_ns, KEY_cube_hbm_latency_ns,
      KEY_cube_pe_pe_dma_overhead_ns}},
    {KB_COST_WIRE, 0, {KEY_ns_per_mm}},
    {KB_COST_CHANNELS, MANY, {KEY_cube_pe_pe_dma_read_channels, KEY_cube_pe_pe_dma_write_channels}},
    {KB_COST_ENGINES, MANY, {KEY_cube_m_cpu_dma_read, KEY_cube_m_cpu_dma_write}},
};

static void set(enum key k, void *field, double value)
{
    if (k == KEY_sip_planes) {
        struct plane_specs *planes = field;

        for (size_t i = 0; i < planes->n; i++)
            planes->rows[i].bw_gbs = value;
    } else if (key_rows[k].type == KEY_INT) {
        *(int64_t *)field = (int64_t)value;
    } else {
        *(double *)field = k == KEY_cube_pe_pe_dma_run_ns ? 0 : value; /* the one that is a time */
    }
}

/* Sets a key, also where some cubes have it for themselves. */
static void set_all(struct spec *spec, enum key k, double value)
{
    set(k, spec_field(spec, k), value);
    for (size_t i = 0; i < spec->cubes.n; i++) {
        const struct override_spec *o = &spec->cubes.rows[i];

        for (size_t v = 0; v < o->n; v++)
            if (o->values[v].key == k)
                set(k, (void *)o->values[v].value, value);
    }
}

/* The machine, with the keys of some classes at what costs nothing. */
static void make(struct build *b, const char *yaml, const struct class *const *without)
{
    struct source source = {.file = "t.yaml", .text = yaml, .len = strlen(yaml)};

    *b = (struct build){0};
    assert_true(build_read(b, &source));
    for (; without && *without; without++)
        for (const enum key *k = (*without)->keys; *k; k++)
            set_all(&b->spec, *k, (*without)->value);
    assert_true(build_tables(b));
}

/* Takes the name of a node into a hash of a route. */
static void add_hop(void *arg, const kb_hop *hop)
{
    uint64_t *hash = arg;

    for (const char *c = hop->node; *c; c++)
        *hash = (*hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
}

static bool same_way(const kb_topology *a, const kb_topology *b, const struct judge_row *row)
{
    kb_transaction r = request_of(row);

    for (uint32_t plane = 0; kb_plane_name(a, plane); plane++) {
        uint64_t x = 1, y = 1;

        kb_route_walk_on(a, plane, r.op, &r.src, &r.dst, add_hop, &x, NULL);
        kb_route_walk_on(b, plane, r.op, &r.src, &r.dst, add_hop, &y, NULL);
        if (x != y)
            return false;
    }
    return true;
}

/* Rows up to the first without a way, or with two. */
static size_t rows_alike(const struct build *base, const struct build *edited,
                         const struct judge_topo *t, const struct judge_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!judge_has_route(t, &rows[i], i) ||
            !same_way(&base->routes.topo, &edited->routes.topo, &rows[i]))
            return i;
    return n;
}

static void assert_same(const struct build *base, const struct build *edited, unsigned costs_off,
                        kb_engine engine, const struct judge_row *rows, size_t n, uint64_t seed)
{
    kb_options options = {.engine = engine, .costs_off = costs_off}, all = {.engine = engine};
    kb_sim *a = sim_of_rows(&base->routes.topo, options, rows, n);
    kb_sim *b = sim_of_rows(&edited->routes.topo, all, rows, n);

    run_all(a);
    run_all(b);
    for (size_t i = 0; i < n; i++) {
        kb_result x = result_of(a, i), y = result_of(b, i);

        if (x.start_fs != y.start_fs || x.arrive_fs != y.arrive_fs ||
            x.service_fs != y.service_fs || x.done_fs != y.done_fs || x.end_fs != y.end_fs)
            fail_msg("seed %" PRIu64 ", engine %d, without %x: row %zu ends at %" PRId64
                     ", in the edited machine at %" PRId64,
                     seed, (int)engine, costs_off, i, x.end_fs, y.end_fs);
    }
    kb_sim_free(a);
    kb_sim_free(b);
}

/* One class, and every second time another one with it. */
static void check(const char *yaml, const struct judge_topo *t, uint64_t seed, uint64_t *dice)
{
    struct build base;

    make(&base, yaml, NULL);
    for (size_t c = 0; c < LENGTH(classes); c++) {
        const struct class *without[3] = {&classes[c]};
        unsigned costs_off = classes[c].costs;
        struct build edited;

        if (draw(dice) % 2) {
            without[1] = &classes[draw(dice) % LENGTH(classes)];
            costs_off |= without[1]->costs;
        }
        make(&edited, yaml, without);
        for (int load = 0; load < LOADS; load++) {
            size_t n = draw(dice) % MOST_ROWS + 1;
            struct judge_row *rows = random_rows(t, draw(dice), n);

            n = rows_alike(&base, &edited, t, rows, n);
            n_rows += n;
            for (int e = KB_FUSED; n && e <= KB_HOP; e++)
                assert_same(&base, &edited, costs_off, (kb_engine)e, rows, n, seed);
            free(rows);
        }
        arena_release(&edited.arena);
    }
    arena_release(&base.arena);
}

static void each_machine(void (*machine)(FILE *out, uint64_t seed))
{
    struct seeds seeds = seeds_of(SEEDS, 1);

    n_rows = 0;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        uint64_t dice = seed;
        char *yaml = printed(machine, seed);
        struct judge_topo *t = judge_load_text(yaml);

        check(yaml, t, seed, &dice);
        judge_free(t);
        free(yaml);
    }
    assert_true(n_rows > seeds_count(seeds) * LENGTH(classes) * LOADS * MOST_ROWS / 8);
}

/* docs/formats.md "why": each row is what the same keys at no cost give. */
static void a_cost_left_out_is_a_key_that_costs_nothing(void **state)
{
    (void)state;
    each_machine(judge_random_topo);
}

static void of_machines_of_any_shape_too(void **state)
{
    (void)state;
    each_machine(judge_random_shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_left_out_is_a_key_that_costs_nothing),
        cmocka_unit_test(of_machines_of_any_shape_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
