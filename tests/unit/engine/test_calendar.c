/*
 * test_calendar.c -- the calendar: events in order, whatever the times, held to a heap that is
 * plainly right.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/calendar.h"
#include "support/failing.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 3000, TAKEN = 60000 };

/* SplitMix64 */
static uint64_t draw(uint64_t *dice)
{
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A calendar, its rows, and the keys of all that is pending, in a heap that is plainly right. */
struct pair {
    struct calendar *calendar;
    struct txn *txns;
    ev *keys;
    size_t n;
};

static struct pair pair_of(uint32_t n_rows)
{
    struct pair p = {calloc(1, sizeof *p.calendar), calloc(n_rows, sizeof *p.txns),
                     calloc(n_rows, sizeof *p.keys), 0};

    assert_true(p.calendar && p.txns && p.keys);
    calendar_clear(p.calendar);
    for (uint32_t i = 0; i < n_rows; i++)
        p.txns[i].id = i;
    return p;
}

static void drop(struct pair *p)
{
    calendar_free(p->calendar);
    free(p->calendar);
    free(p->txns);
    free(p->keys);
}

static void push(struct pair *p, ev e)
{
    size_t i = p->n++;

    for (; i && p->keys[(i - 1) / 2] > e; i = (i - 1) / 2)
        p->keys[i] = p->keys[(i - 1) / 2];
    p->keys[i] = e;
}

static ev pop(struct pair *p)
{
    ev least = p->keys[0], last = p->keys[--p->n];
    size_t i = 0;

    for (size_t c = 1; c < p->n; i = c, c = 2 * c + 1) {
        c += c + 1 < p->n && p->keys[c + 1] < p->keys[c];
        if (p->keys[c] >= last)
            break;
        p->keys[i] = p->keys[c];
    }
    p->keys[i] = last;
    return least;
}

static void post(struct pair *p, uint32_t slot, uint64_t at_fs, enum ev_class class)
{
    assert_true(calendar_post(p->calendar, p->txns, slot, at_fs, class));
    push(p, calendar_key(p->txns, slot));
}

/* The next event, which is the right one. */
static uint32_t take(struct pair *p)
{
    ev next = pop(p);
    uint32_t slot = calendar_take(p->calendar, p->txns);

    assert_true(slot == ev_slot(next));
    assert_true(p->txns[slot].at_fs == ev_time_fs(next));
    return slot;
}

/* After each event the same row posts another, `gap` later. */
static void run(uint32_t n_rows, uint64_t begin_fs, uint64_t (*gap)(uint64_t *dice))
{
    struct pair p = pair_of(n_rows);
    uint64_t dice = n_rows;

    for (uint32_t i = 0; i < n_rows; i++)
        post(&p, i, begin_fs + gap(&dice), (enum ev_class)(draw(&dice) % 4));
    for (uint32_t i = 0; i < TAKEN; i++) {
        uint32_t slot = take(&p);
        uint64_t at_fs = p.txns[slot].at_fs + gap(&dice);

        post(&p, slot, at_fs < EV_PAST ? at_fs : EV_PAST, (enum ev_class)(draw(&dice) % 4));
    }
    while (p.n)
        take(&p);
    assert_true(calendar_take(p.calendar, p.txns) == TXN_NONE);
    drop(&p);
}

static uint64_t any(uint64_t *dice)
{
    return draw(dice) >> (24 + draw(dice) % 40);
}

static uint64_t near(uint64_t *dice)
{
    return draw(dice) % 30000000;
}

static uint64_t tied(uint64_t *dice)
{
    return draw(dice) % 4 * 1000000;
}

static uint64_t now_or_soon(uint64_t *dice)
{
    return draw(dice) % 3 ? 0 : draw(dice) % 3;
}

static uint64_t millisecond(uint64_t *dice)
{
    return UINT64_C(1000000000000) + draw(dice) % 1000;
}

static uint64_t near_and_far(uint64_t *dice)
{
    return draw(dice) % 50 ? draw(dice) % 1000 : draw(dice) >> 12;
}

static void events_come_in_order(void **state)
{
    static uint64_t (*const gaps[])(uint64_t * dice) = {any,         near,        tied,
                                                        now_or_soon, millisecond, near_and_far};

    (void)state;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        run(1, 0, gaps[i]);
        run(17, 12345, gaps[i]);
        run(ROWS, 0, gaps[i]);
    }
}

/* ARCHITECTURE.md: after() stops at 2^63 */
static void times_near_the_end(void **state)
{
    (void)state;
    run(ROWS, EV_PAST - 50000000, near);
    run(ROWS, EV_PAST - 2, now_or_soon);
}

/* All PEs of a machine of 131072 at one instant, again and again, in any order of ids. */
static void everything_at_one_instant(void **state)
{
    enum { PES = 131072 };
    struct pair p = pair_of(PES);
    uint64_t dice = 1;

    (void)state;
    for (uint32_t i = 0; i < PES; i++)
        post(&p, i, 7, EV_ISSUE);
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < PES; i++) {
            uint32_t slot = take(&p);

            post(&p, slot, p.txns[slot].at_fs + (draw(&dice) % 2 ? 0 : 18000000) % (i + 1),
                 EV_ARRIVE);
        }
    drop(&p);
}

/* The density changes from one in a millisecond to a thousand in a nanosecond, and back. */
static void any_density(void **state)
{
    struct pair p = pair_of(ROWS);
    uint64_t dice = 3, t = 0;

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        post(&p, i, any(&dice), EV_ARRIVE);
    for (uint32_t i = 0; i < 20 * TAKEN; i++) {
        uint64_t gap = i / TAKEN % 2 ? draw(&dice) % 1000 : draw(&dice) % UINT64_C(2000000000000);
        uint32_t slot = take(&p);

        assert_true(p.txns[slot].at_fs >= t);
        t = p.txns[slot].at_fs;
        post(&p, slot, t + gap, EV_ARRIVE);
    }
    drop(&p);
}

/* A run that is begun again starts at time 0. */
static void cleared(void **state)
{
    struct pair p = pair_of(ROWS);
    uint64_t dice = 5;

    (void)state;
    for (int round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < ROWS; i++)
            post(&p, i, any(&dice), EV_ARRIVE);
        for (uint32_t i = 0; i < ROWS / 2; i++)
            take(&p);
        calendar_clear(p.calendar);
        p.n = 0;
    }
    assert_true(calendar_take(p.calendar, p.txns) == TXN_NONE);
    drop(&p);
}

/* Without memory no event is given in a wrong order: there is none any more. */
static void no_memory(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 12; left++) {
        struct pair p = pair_of(ROWS);
        uint64_t dice = 7;
        uint32_t slot;
        bool ok = true;

        blocks_left = left;
        for (uint32_t i = 0; i < ROWS; i++)
            ok &= calendar_post(p.calendar, p.txns, i, draw(&dice) % 2 ? 0 : 9000000, EV_ARRIVE);
        for (slot = 0; ok && slot != TXN_NONE;)
            slot = calendar_take(p.calendar, p.txns);
        blocks_left = UINT64_MAX;
        assert_true(p.calendar->no_memory || ok);
        drop(&p);
    }
}

/* What an earlier bucket had does not stay in the list of the one that is due. */
static void a_bucket_has_its_own_events(void **state)
{
    struct pair p = pair_of(ROWS);

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) /* three instants in each bucket */
        post(&p, i, (uint64_t)(i / 3 + 1) * 2000000 + i % 3, EV_ARRIVE);
    while (p.n) {
        take(&p);
        assert_true(p.calendar->n_due <= 3);
    }
    drop(&p);
}

/* Before each event is taken it is looked at; until it is due, others may come before it. */
static void looked_at_before_it_is_taken(void **state)
{
    struct pair p = pair_of(ROWS);
    struct calendar *c = p.calendar;
    uint64_t dice = 3;

    (void)state;
    assert_true(calendar_first(c, p.txns, UINT64_MAX) == EV_NONE);
    for (uint32_t i = 1; i < ROWS; i++)
        post(&p, i, 1000000 + near(&dice), EV_ARRIVE);
    assert_true(calendar_first(c, p.txns, 0) == EV_NONE);
    post(&p, 0, 1, EV_DONE);
    for (uint32_t i = 0; i < TAKEN; i++) {
        ev first = p.keys[0];
        uint32_t slot;

        assert_true(calendar_first(c, p.txns, UINT64_MAX) == first);
        assert_true(calendar_first(c, p.txns, ev_time_fs(first)) == first);
        slot = take(&p);
        post(&p, slot, p.txns[slot].at_fs + near(&dice), EV_ARRIVE);
    }
    while (p.n)
        take(&p);
    drop(&p);
}

/* Rows crowd more and more: buckets become narrower, and none is lost. */
static void buckets_become_narrower_within_a_window(void **state)
{
    struct pair p = pair_of(ROWS);
    unsigned width = p.calendar->width;

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        post(&p, i, UINT64_C(1) << 24 | (uint64_t)i << 13, EV_ARRIVE);
    for (uint32_t i = 0; i < ROWS / 2; i++)
        take(&p);
    assert_true(p.calendar->width < width);
    while (p.n)
        take(&p);
    assert_true(calendar_take(p.calendar, p.txns) == TXN_NONE);
    drop(&p);
}

/* A time in one of the next swarms, which come each microsecond, or far behind them. */
static uint64_t in_a_swarm(uint64_t now_fs, uint64_t *dice)
{
    uint64_t swarm = now_fs / 1000000000 + (draw(dice) % 8 ? 1 + draw(dice) % 400 : 100000);

    return swarm * 1000000000 + draw(dice) % 4000;
}

/* Where some lie far and the others crowd, each width looks wrong. What lies ahead is posted again
 * for a new width only when as much has been taken. */
static void a_width_stays_for_what_it_has_cost(void **state)
{
    struct pair p = pair_of(ROWS);
    uint64_t dice = 3, moved = 0;
    unsigned width = p.calendar->width;

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        post(&p, i, in_a_swarm(0, &dice), EV_ARRIVE);
    for (uint32_t i = 0; i < TAKEN; i++) {
        uint32_t slot = take(&p);

        post(&p, slot, in_a_swarm(p.txns[slot].at_fs, &dice), EV_ARRIVE);
        moved += p.calendar->width != width ? ROWS : 0;
        width = p.calendar->width;
    }
    assert_in_range(moved, ROWS, 2 * TAKEN);
    drop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_order),
        cmocka_unit_test(times_near_the_end),
        cmocka_unit_test(everything_at_one_instant),
        cmocka_unit_test(any_density),
        cmocka_unit_test(cleared),
        cmocka_unit_test(a_bucket_has_its_own_events),
        cmocka_unit_test(looked_at_before_it_is_taken),
        cmocka_unit_test(buckets_become_narrower_within_a_window),
        cmocka_unit_test(a_width_stays_for_what_it_has_cost),
        cmocka_unit_test(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
