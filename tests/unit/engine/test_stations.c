/* test_stations.c -- a run that makes the stations of few cubes says what one that makes all says.
 */
#include "engine/stations.h"
#include "base/rows.h"
#include "machine/walk.h"
#include "support/any_topology.h"
#include "support/rig.h"
#include "support/seeds.h"

enum { SEEDS = 12, ROWS = 14, PLACES = 4 };

#define LARGE "sip: {cube_mesh: {w: 16, h: 16}}\n"
#define FIFO  "contention: {links: fifo}\n"

static const char *const machines[] = {
    "kernbench: 1\nname: ideal\n" LARGE,
    "kernbench: 1\nname: fifo\n" FIFO LARGE,
    "kernbench: 2\nname: own\n" LARGE,
    "kernbench: 2\nname: channels\n" LARGE "cube: {pe: {pe_dma: {read_channels: 4}}}\n",
    "kernbench: 2\nname: torus\nsip: {cube_mesh: {w: 16, h: 16, wrap: xy}}\n",
    "kernbench: 2\nname: holes\nmissing: [c17, c40]\nbroken: [c2-c3]\n" LARGE,
    "kernbench: 2\nname: planes\nsip: {cube_mesh: {w: 16, h: 16, wrap: xy}, planes: [{name: a, "
    "dirs: "
    "[E, S], order: xy}, {name: b, dirs: [N, W], order: yx}]}\n",
    "kernbench: 2\nname: sips\nsips: 8\nsip: {cube_mesh: {w: 8, h: 4}}\n",
    "kernbench: 2\nname: granule\naddressing: {granule: 4096}\n" LARGE,
    "kernbench: 2\nname: banks\ncube: {hbm: {model: banks}}\n" LARGE,
};

/* -- rows ------------------------------------------------------------------------------------ */

static kb_endpoint draw_end(kb_endpoint_kind kind, const kb_info *info, uint64_t *dice)
{
    uint32_t cube = (uint32_t)(draw(dice) % PLACES * 53 % info->cubes_per_sip);

    return (kb_endpoint){kind, (uint32_t)(draw(dice) % info->sips), kind == KB_HOST ? 0 : cube,
                         kind == KB_PE || kind == KB_SLICE ? (uint32_t)(draw(dice) % 2) : 0};
}

static kb_transaction draw_row(const kb_info *info, uint64_t *dice)
{
    kb_transaction r = {.issue_fs = (int64_t)(draw(dice) % 4) * 5000000,
                        .op = (kb_transaction_op)(draw(dice) % 4),
                        .nbytes = UINT64_C(64) << draw(dice) % 8};

    r.src = draw_end(r.op >= KB_H2D ? KB_HOST : KB_PE, info, dice);
    r.dst = draw_end(r.op < KB_H2D && draw(dice) % 4 == 0 ? KB_SRAM : KB_SLICE, info, dice);
    if (r.op >= KB_H2D)
        r.dst.sip = r.src.sip;
    return r;
}

/* Some rows lie at addresses; those without a way are left out. */
static void add_rows(kb_sim *sim, const kb_topology *t, uint64_t seed)
{
    uint64_t dice = seed;
    kb_info info;

    kb_topology_info(t, &info);
    for (int i = 0; i < ROWS; i++) {
        kb_transaction r = draw_row(&info, &dice);

        if (draw(&dice) % 2) {
            r.by_address = true;
            r.address = kb_address(t, &r.dst, 0);
        }
        kb_sim_add(sim, &r, NULL);
    }
    assert_true(kb_sim_count(sim) > ROWS / 2);
}

/* -- what was used ----------------------------------------------------------------------------- */

struct uses {
    kb_utilization rows[1 << 14];
    size_t n;
};

static void keep_use(void *arg, const kb_utilization *use)
{
    struct uses *u = arg;

    assert_true(u->n < LENGTH(u->rows));
    memset(&u->rows[u->n], 0, sizeof *u->rows);
    memcpy(&u->rows[u->n++], use, sizeof *use);
}

static void assert_same_uses(const kb_sim *a, const kb_sim *b)
{
    static struct uses x, y;

    x.n = y.n = 0;
    assert_int_equal(kb_sim_utilization(a, keep_use, &x), KB_OK);
    assert_int_equal(kb_sim_utilization(b, keep_use, &y), KB_OK);
    assert_int_equal(x.n, y.n);
    assert_true(x.n > 0);
    for (size_t i = 0; i < x.n; i++) {
        assert_string_equal(x.rows[i].name, y.rows[i].name);
        assert_true(
            x.rows[i].count == y.rows[i].count && x.rows[i].bytes == y.rows[i].bytes &&
            x.rows[i].busy_fs == y.rows[i].busy_fs && x.rows[i].wait_ns == y.rows[i].wait_ns &&
            x.rows[i].queue_max == y.rows[i].queue_max && x.rows[i].servers == y.rows[i].servers);
    }
}

/* -- runs -------------------------------------------------------------------------------------- */

static uint32_t count_made(const kb_sim *sim)
{
    uint32_t n = 0;

    for (uint32_t cube = 0; cube < sim_cubes(sim->topo); cube++)
        n += sim->made[cube];
    return n;
}

/* Of so many rows that were given back last, all are zero again. */
static void assert_zero(size_t n, size_t row_bytes)
{
    unsigned char *rows = rows_reserve(n, row_bytes);

    for (size_t i = 0; i < n * row_bytes; i++)
        assert_int_equal(rows[i], 0);
    rows_unreserve(rows, n, row_bytes, ROWS_ZERO);
}

/* What a simulation of few cubes gives back is clean. */
static void assert_cleared(const kb_topology *t)
{
    size_t cubes = sim_cubes(t);

    assert_zero(cubes << t->unit_bits, sizeof(struct memory_station));
    assert_zero(2 * cubes << t->pe_bits, sizeof(struct station));
    if (t->links == MODE_FIFO)
        assert_zero(walk_n_links(t), sizeof(struct link_station));
}

static void assert_same(const kb_topology *t, kb_options options, uint64_t seed)
{
    kb_sim *few = new_sim(t, options), *all = new_sim(t, options);

    add_rows(few, t, seed);
    add_rows(all, t, seed);
    stations_make_all(all);
    assert_int_equal(count_made(few), 0);
    assert_int_equal(kb_sim_run(few, 0, NULL), kb_sim_run(all, 0, NULL));
    assert_true(count_made(few) > 0 && count_made(few) < sim_cubes(t));
    assert_int_equal(count_made(all), sim_cubes(t));
    assert_true(kb_sim_fingerprint(few) == kb_sim_fingerprint(all));
    assert_true(kb_sim_end_fs(few) == kb_sim_end_fs(all));
    for (uint64_t i = 0; i < kb_sim_count(few); i++) {
        kb_result x = {0}, y = {0};

        assert_int_equal(kb_sim_result(few, i, &x), kb_sim_result(all, i, &y));
        assert_memory_equal(&x, &y, sizeof x);
    }
    if (seed % 3 == 0)
        assert_same_uses(few, all);
    kb_sim_free(all);
    kb_sim_free(few);
    assert_cleared(t);
}

static void few_cubes_say_what_all_say(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *t = any_topology(machines[i]);

        assert_non_null(t);
        for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
            assert_same(t, (kb_options){0}, seed);
            assert_same(t, (kb_options){.fingerprint = true}, seed);
            assert_same(t, (kb_options){.engine = KB_HOP, .until_fs = 60000000}, seed);
            assert_same(t, (kb_options){.costs_off = KB_COST_CHANNELS | KB_COST_ENGINES}, seed);
        }
        any_topology_free(t);
    }
}

/* Rows in several calls, dependencies, and what is asked before the run. */
static void stations_may_be_asked_before_a_run(void **state)
{
    const kb_topology *t = any_topology(machines[2]);
    static struct uses uses;
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    uses.n = 0;
    assert_int_equal(kb_sim_utilization(sim, keep_use, &uses), KB_OK);
    assert_int_equal(uses.n, 0);
    add_rows(sim, t, 1);
    run_all(sim);
    kb_sim_free(sim);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_cubes_say_what_all_say),
        cmocka_unit_test(stations_may_be_asked_before_a_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
