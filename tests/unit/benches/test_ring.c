/* test_ring.c -- the ring of the benches: each PE once, and neighbours near. */
#include "benches/ring.h"
#include "support/rig.h"

static const struct {
    uint32_t pes, w, h, sips;
} machines[] = {
    {8, 1, 1, 1}, {8, 4, 2, 1}, {8, 4, 4, 2}, {6, 3, 3, 3}, {1, 4, 4, 1},
    {2, 2, 2, 2}, {1, 1, 1, 1}, {8, 5, 1, 2}, {8, 1, 5, 2}, {4, 6, 5, 4},
};

static struct ring ring_on(size_t i)
{
    return (struct ring){.pes = machines[i].pes,
                         .cubes = {machines[i].w, machines[i].h, LAP_SNAKE, false, false},
                         .sips = {machines[i].sips, 1, LAP_ROWS, false, false},
                         .n = machines[i].pes * machines[i].w * machines[i].h * machines[i].sips};
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Steps over the mesh from the cube of one PE to that of another of the same SIP. */
static uint32_t steps(const struct ring *r, uint32_t a, uint32_t b)
{
    uint32_t cubes = r->cubes.w * r->cubes.h;

    a = a / r->pes % cubes;
    b = b / r->pes % cubes;
    return distance(a % r->cubes.w, b % r->cubes.w) + distance(a / r->cubes.w, b / r->cubes.w);
}

static uint32_t column(const struct ring *r, uint32_t pe)
{
    return pe / r->pes % r->cubes.w;
}

static uint32_t sip(const struct ring *r, uint32_t pe)
{
    return pe / r->pes / (r->cubes.w * r->cubes.h);
}

static void every_pe_is_in_the_ring_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        struct ring r = ring_on(i);
        unsigned char *seen = calloc(r.n, 1);

        assert_non_null(seen);
        for (r.place = 0; r.place < r.n; r.place++) {
            uint32_t pe = ring_pe(&r, r.place);

            assert_in_range(pe, 0, r.n - 1);
            assert_int_equal(seen[pe]++, 0);
            assert_int_equal(ring_neighbour(&r, 1), ring_pe(&r, (r.place + 1) % r.n));
            assert_int_equal(ring_neighbour(&r, -1), ring_pe(&r, (r.place + r.n - 1) % r.n));
            assert_int_equal(ring_neighbour(&r, -(int64_t)r.n), pe);
        }
        free(seen);
    }
}

/* The claims of ring.h about steps, except in a mesh of one row, where they do not hold. */
static void neighbours_are_near(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        struct ring r = ring_on(i);

        for (r.place = 0; r.place < r.n - 1; r.place++) {
            uint32_t pe = ring_pe(&r, r.place), next = ring_neighbour(&r, 1);

            if (sip(&r, pe) == sip(&r, next)) {
                assert_in_range(steps(&r, pe, next), 0, 1);
                continue;
            }
            assert_int_equal(sip(&r, next), sip(&r, pe) + 1);
            assert_int_equal(column(&r, next), 0);
            if (r.cubes.h > 1)
                assert_int_equal(column(&r, pe), 0);
        }
        if (r.cubes.h > 1 && r.cubes.w % 2 == 0)
            assert_int_equal(steps(&r, ring_pe(&r, r.n - 1), ring_pe(&r, 0)), 1);
    }
}

/* -- laps of joined grids ------------------------------------------------------------------- */

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
        cmocka_unit_test(every_pe_is_in_the_ring_once),
        cmocka_unit_test(neighbours_are_near),
        cmocka_unit_test(a_lap_of_a_joined_grid_has_single_steps),
        cmocka_unit_test(a_helix_goes_one_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
