/* test_ev.c -- the event queue, held to a sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ev.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 100000, MOST_PENDING = 3000 };

/* SplitMix64 */
static uint64_t draw(uint64_t *dice)
{
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* What an event is made of, compared as design 1 says it, part by part. */
struct plain {
    uint64_t time_fs;
    enum ev_class class;
    uint32_t id, slot;
};

static ev made(const struct plain *p)
{
    return ev_make(p->time_fs, p->class, p->id, p->slot);
}

static int by_key(const struct plain *a, const struct plain *b)
{
    if (a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* All pending events, smallest last. */
struct sorted {
    struct plain rows[MOST_PENDING];
    size_t n;
};

static void insert(struct sorted *s, struct plain p)
{
    size_t i = s->n++;

    for (; i > 0 && by_key(&s->rows[i - 1], &p) < 0; i--)
        s->rows[i] = s->rows[i - 1];
    s->rows[i] = p;
}

/* Few times, so that many tie by class and id; ids are unique, as a transaction has one event. */
static struct plain any_event(uint64_t *dice, uint64_t now_fs, uint32_t id)
{
    static const uint64_t delays_fs[] = {0, 0, 1, 2, 1000, 16000000};

    return (struct plain){.time_fs = now_fs + delays_fs[draw(dice) % 6],
                          .class = (enum ev_class)(draw(dice) % 5),
                          .id = id * UINT32_C(2654435761), /* in no order, and all 32 bits */
                          .slot = (uint32_t)(draw(dice) % EV_MAX_SLOTS)};
}

static void assert_first(struct ev_heap *h, const struct sorted *s)
{
    ev expected = s->n ? made(&s->rows[s->n - 1]) : EV_NONE;

    assert_true(ev_first(h) == expected);
}

/* Random pushes and takes; a push right after a take fills the hole that it left. */
static void assert_like_sorted(uint64_t seed, uint64_t push_per_cent, size_t most)
{
    struct sorted *s = calloc(1, sizeof *s);
    struct ev_heap h = {0};
    uint64_t now_fs = 0;
    uint32_t id = 0;

    assert_non_null(s);
    assert_true(ev_first(&h) == EV_NONE);
    for (int i = 0; i < OPERATIONS; i++) {
        bool push = s->n == 0 || (s->n < most && draw(&seed) % 100 < push_per_cent);

        if (push) {
            struct plain p = any_event(&seed, now_fs, id++);

            insert(s, p);
            assert_true(ev_push(&h, made(&p)));
            if (draw(&seed) % 2)
                continue; /* several pushes before anybody looks */
        } else {
            assert_first(&h, s);
            now_fs = s->rows[--s->n].time_fs;
            ev_take(&h);
            if (s->n && draw(&seed) % 2)
                continue; /* the next push fills the hole; or the next look closes it */
        }
        assert_first(&h, s);
    }
    for (; s->n; s->n--) {
        assert_first(&h, s);
        ev_take(&h);
    }
    assert_true(ev_first(&h) == EV_NONE);
    ev_heap_free(&h);
    free(s);
}

/* design 1: "Events run smallest pending key first" */
static void events_come_out_in_order_of_their_keys(void **state)
{
    (void)state;
    assert_like_sorted(1, 50, MOST_PENDING);
    assert_like_sorted(2, 50, 3);
    assert_like_sorted(3, 50, 17);
}

/* Its memory doubles at 256, 512, ... rows, and rows behind the last stay empty. */
static void heap_grows_while_in_use(void **state)
{
    (void)state;
    assert_like_sorted(4, 70, MOST_PENDING);
    assert_like_sorted(5, 95, MOST_PENDING);
}

/* design 1: "the total order key (time, class, id)": class before id, both before the slot */
static void equal_times_run_by_class_then_by_id(void **state)
{
    (void)state;
    assert_true(ev_make(1, EV_KERNEL, UINT32_MAX, 0) < ev_make(2, EV_DONE, 0, 0));
    assert_true(ev_make(1, EV_DONE, 9, 0) < ev_make(1, EV_HOP, 8, 0));
    assert_true(ev_make(1, EV_HOP, 9, 0) < ev_make(1, EV_ARRIVE, 8, 0));
    assert_true(ev_make(1, EV_ARRIVE, UINT32_MAX, 0) < ev_make(1, EV_ISSUE, 0, 0));
    assert_true(ev_make(1, EV_ISSUE, 9, 0) < ev_make(1, EV_KERNEL, 8, 0));
    assert_true(ev_make(1, EV_HOP, 8, EV_MAX_SLOTS - 1) < ev_make(1, EV_HOP, 9, 0));
    assert_true(ev_make(EV_PAST, EV_KERNEL, UINT32_MAX, EV_MAX_SLOTS - 1) < EV_NONE);
}

/* design 1: "class 0 completion ..., 1 hop, 2 arrival ..., 3 issue ..., 4 start or resume" */
static void classes_are_numbered_as_in_the_design(void **state)
{
    (void)state;
    assert_int_equal(EV_DONE, 0);
    assert_int_equal(EV_HOP, 1);
    assert_int_equal(EV_ARRIVE, 2);
    assert_int_equal(EV_ISSUE, 3);
    assert_int_equal(EV_KERNEL, 4);
}

static void parts_of_an_event_can_be_read_back(void **state)
{
    static const uint64_t times[] = {0, 1, INT64_MAX, EV_PAST};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int class = EV_DONE; class <= EV_KERNEL; class ++)
            for (uint32_t slot = 0; slot < 2; slot++) {
                uint32_t all = slot ? EV_MAX_SLOTS - 1 : 0;
                ev e = ev_make(times[i], (enum ev_class)class, slot ? UINT32_MAX : 0, all);

                assert_true(ev_time_fs(e) == times[i]);
                assert_int_equal(ev_class(e), class);
                assert_int_equal(ev_slot(e), all);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_numbered_as_in_the_design),
        cmocka_unit_test(parts_of_an_event_can_be_read_back),
        cmocka_unit_test(equal_times_run_by_class_then_by_id),
        cmocka_unit_test(events_come_out_in_order_of_their_keys),
        cmocka_unit_test(heap_grows_while_in_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
