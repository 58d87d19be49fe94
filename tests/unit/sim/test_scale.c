/* test_scale.c -- a simulation's memory grows with the machine, and not with its square. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "cube8.h"
#include "base/rows.h"
#include "base/shelf.h"
#include "machine/tables.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURABLE 0 /* a sanitizer has an allocator of its own */
#else
#define MEASURABLE 1
#endif

/* All that is mapped, of the heap only what is in use: rows that are reserved count as well. */
static size_t allocated_bytes(void)
{
    struct mallinfo2 all = mallinfo2();
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE) - all.arena + all.uordblks;
}

/* What a simulation of `sips` packages of cube8 takes. */
static size_t sim_bytes(uint32_t sips)
{
    struct kb_topology tray = cube8_topology;
    size_t before, bytes;
    kb_sim *sim;

    shelf_clear(); /* else it takes what the one before left */
    before = allocated_bytes();
    tray.sips = sips;
    assert_int_equal(kb_sim_new(&tray, NULL, &sim), KB_OK);
    bytes = allocated_bytes() - before;
    kb_sim_free(sim);
    return bytes;
}

/* Twice the cubes: at most twice what the first half took, and a tenth. The rows of each of five
 * kinds of stations may lie on pages of 2 MiB, which round up. */
static void memory_of_a_simulation_is_linear_in_cubes(void **state)
{
    (void)state;
    for (uint32_t sips = 8; MEASURABLE && sips <= 128; sips *= 2) {
        size_t half = sim_bytes(sips), whole = sim_bytes(2 * sips);

        assert_true(whole > half);
        assert_true(whole <= 2 * half + half / 10 + 5 * ROWS_PAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_a_simulation_is_linear_in_cubes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
