/* test_lap.c -- laps of grids: each place once, and neighbours near. */
#include "machine/lap.h"
#include "support/any_topology.h"
#include "support/rig.h"

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static uint32_t around(uint32_t a, uint32_t b, uint32_t n, bool joined)
{
    uint32_t d = distance(a, b);

    return joined && n - d < d ? n - d : d;
}

/* Steps between two places of a grid. */
static uint32_t grid_steps(const struct lap *lap, uint32_t a, uint32_t b, bool wrap_x, bool wrap_y)
{
    return around(a % lap->w, b % lap->w, lap->w, wrap_x) +
           around(a / lap->w, b / lap->w, lap->h, wrap_y);
}

static void assert_lap(const struct lap *lap)
{
    bool seen[64] = {false};

    for (uint32_t i = 0; i < lap->w * lap->h; i++) {
        assert_in_range(lap_at(lap, i), 0, lap->w * lap->h - 1);
        assert_false(seen[lap_at(lap, i)]);
        seen[lap_at(lap, i)] = true;
    }
    assert_int_equal(lap_at(lap, 0), 0);
}

/* Whichever ends are joined: each step is one, also the last. */
static void a_lap_of_a_joined_grid_has_single_steps(void **state)
{
    (void)state;
    for (uint32_t w = 1; w <= 7; w++) {
        for (uint32_t h = 1; h <= 7; h++) {
            for (int wrap = 1; wrap <= 3; wrap++) {
                struct lap lap = lap_joined(w, h, wrap & 2);
                uint32_t n = w * h;

                assert_lap(&lap);
                if ((h == 1 && !(wrap & 1)) || (w == 1 && !(wrap & 2)))
                    continue; /* a line */
                for (uint32_t i = 0; i < n; i++)
                    assert_in_range(grid_steps(&lap, lap_at(&lap, i), lap_at(&lap, (i + 1) % n),
                                               wrap & 1, wrap & 2),
                                    0, 1);
            }
        }
    }
}

/* Where no ends are joined each step but the last is one; in a grid with rows and an even number of
 * columns the last, too. */
static void a_lap_of_an_open_grid_has_single_steps(void **state)
{
    (void)state;
    for (uint32_t w = 1; w <= 7; w++)
        for (uint32_t h = 1; h <= 7; h++) {
            struct lap lap = lap_joined(w, h, false);
            uint32_t n = w * h;

            assert_lap(&lap);
            for (uint32_t i = 0; i + 1 < n; i++)
                assert_in_range(grid_steps(&lap, lap_at(&lap, i), lap_at(&lap, i + 1), 0, 0), 0, 1);
            if (w > 1 && h > 1 && (w % 2 == 0 || h % 2 == 0))
                assert_int_equal(grid_steps(&lap, lap_at(&lap, n - 1), lap_at(&lap, 0), 0, 0), 1);
        }
}

/* kb_cube_lap(): 3 x 2 cubes with joined rows; cubes that are no grid. */
static void cubes_have_a_lap(void **state)
{
    static const char *const machines[] = {
        "kernbench: 2\nname: three\nsip: {cube_mesh: {w: 3, h: 2, wrap: y}}\n",
        "kernbench: 2\nname: four\nsip: {cube_mesh: {w: 4, h: 2}}\n",
        "kernbench: 3\nname: net\nlinks: {l: {bw_gbs: 100.0}}\n"
        "sip: {cubes: 6, net: [{mesh: [6], link: l}]}\n"};
    static const uint32_t laps[][8] = {
        {0, 1, 2, 5, 4, 3}, {0, 1, 2, 3, 7, 6, 5, 4}, {0, 1, 2, 3, 4, 5}};
    static const uint32_t n[] = {6, 8, 6};

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *topo = any_topology(machines[i]);
        uint32_t lap[8];

        assert_non_null(topo);
        kb_cube_lap(topo, lap);
        assert_memory_equal(lap, laps[i], n[i] * sizeof *lap);
        any_topology_free(topo);
    }
}

/* Each step but the last is one to the east or to the south, or in the mirror. */
static void a_helix_goes_one_way(void **state)
{
    (void)state;
    for (uint32_t w = 2; w <= 7; w++) {
        for (uint32_t h = 2; h <= 7; h++) {
            for (int mirror = 0; mirror < 4; mirror++) {
                struct lap lap = {w, h, LAP_HELIX, mirror & 1, mirror & 2};
                uint32_t right = mirror & 1 ? w - 1 : 1, down = mirror & 2 ? h - 1 : 1;

                assert_lap(&lap);
                for (uint32_t i = 0; i + 1 < w * h; i++) {
                    uint32_t a = lap_at(&lap, i), b = lap_at(&lap, i + 1);
                    uint32_t east = (a % w + right) % w + a / w * w;
                    uint32_t south = a % w + (a / w + down) % h * w;

                    assert_true(b == east || b == south);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lap_of_an_open_grid_has_single_steps),
        cmocka_unit_test(cubes_have_a_lap),
        cmocka_unit_test(a_lap_of_a_joined_grid_has_single_steps),
        cmocka_unit_test(a_helix_goes_one_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
