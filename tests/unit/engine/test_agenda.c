/* test_agenda.c -- decisions of ports to come, held to a sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "engine/agenda.h"

#include <stdlib.h>

enum { MOST = 2000, BEGIN_FS = 1 << 20 };

static int by_key(const void *a, const void *b)
{
    const ev *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Asks for `n` decisions, all within `span_fs`, and takes them: in order, each with its index. */
static void come_in_order(struct agenda *agenda, uint64_t *dice, uint32_t n, uint64_t span_fs)
{
    static ev keys[MOST], sorted[MOST];

    agenda_clear(agenda);
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = sorted[i] =
            agenda_key(BEGIN_FS + rng_split_mix(dice) % span_fs, rng_split_mix(dice));
        assert_true(agenda_add(agenda, keys[i], i));
    }
    qsort(sorted, n, sizeof *sorted, by_key);
    for (uint32_t i = 0; i < n; i++) {
        const struct asked first = *agenda_first(agenda);

        assert_true(first.key == sorted[i]);
        assert_true(keys[first.index] == first.key);
        agenda_take(agenda, agenda_first(agenda));
    }
    assert_true(agenda_first(agenda)->key == EV_NONE);
}

/* Any number of ports decide at one instant, in one bucket, and in many buckets. */
static void decisions_come_in_order(void **state)
{
    static struct agenda agenda;
    uint64_t dice = 7;

    (void)state;
    for (uint32_t n = 0; n < 300; n++)
        come_in_order(&agenda, &dice, n, 1);
    for (uint32_t n = 300; n <= MOST; n += 100) {
        come_in_order(&agenda, &dice, n, 1);
        come_in_order(&agenda, &dice, n, 60000);
        come_in_order(&agenda, &dice, n, 1000000);
    }
    agenda_free(&agenda);
}

/* Of equal keys what was asked for first comes first. */
static void equal_keys_keep_their_order(void **state)
{
    static struct agenda agenda;

    (void)state;
    agenda_clear(&agenda);
    for (uint32_t i = 0; i < MOST; i++)
        assert_true(agenda_add(&agenda, agenda_key(BEGIN_FS, i * 7 % 3), i));
    for (uint32_t i = 0, before = 0, order = 0; i < MOST; i++) {
        const struct asked first = *agenda_first(&agenda);

        if ((uint64_t)first.key == order)
            assert_true(i == 0 || first.index > before);
        else
            assert_true((uint64_t)first.key == ++order);
        before = first.index;
        agenda_take(&agenda, agenda_first(&agenda));
    }
    agenda_free(&agenda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_come_in_order),
        cmocka_unit_test(equal_keys_keep_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
