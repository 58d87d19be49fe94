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
                         .w = machines[i].w,
                         .h = machines[i].h,
                         .n = machines[i].pes * machines[i].w * machines[i].h * machines[i].sips};
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Steps over the mesh from the cube of one PE to that of another of the same SIP. */
static uint32_t steps(const struct ring *r, uint32_t a, uint32_t b)
{
    uint32_t cubes = r->w * r->h;

    a = a / r->pes % cubes;
    b = b / r->pes % cubes;
    return distance(a % r->w, b % r->w) + distance(a / r->w, b / r->w);
}

static uint32_t column(const struct ring *r, uint32_t pe)
{
    return pe / r->pes % r->w;
}

static uint32_t sip(const struct ring *r, uint32_t pe)
{
    return pe / r->pes / (r->w * r->h);
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
            if (r.h > 1)
                assert_int_equal(column(&r, pe), 0);
        }
        if (r.h > 1 && r.w % 2 == 0)
            assert_int_equal(steps(&r, ring_pe(&r, r.n - 1), ring_pe(&r, 0)), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pe_is_in_the_ring_once),
        cmocka_unit_test(neighbours_are_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
