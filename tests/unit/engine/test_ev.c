/* test_ev.c -- the event queue, held to a sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/ev.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 30000, MOST_PENDING = 3000 };

/* SplitMix64 */
static uint64_t draw(uint64_t *dice)
{
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* What an event is made of, compared as docs/model.md "Order of events" says it, part by part. */
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

/* How far ahead events are pushed. */
enum mix { TIES, MODEL, NEAR, FAR, ANY, N_MIXES };

static uint64_t any_delay_fs(uint64_t *dice, enum mix mix)
{
    static const uint64_t ties_fs[] = {0, 0, 1, 2};
    static const uint64_t model_fs[] = {0, 10000, 85000, 2000000, 16000000, 32000000};

    switch (mix) {
    case TIES:
        return ties_fs[draw(dice) % 4];
    case MODEL:
        return model_fs[draw(dice) % 6];
    case NEAR:
        return draw(dice) % 1000;
    case FAR:
        return draw(dice) % (UINT64_C(1) << 40);
    default:
        return draw(dice) >> (20 + draw(dice) % 44);
    }
}

/* A queue, and what is in it. */
struct rig {
    struct ev_queue q;
    struct sorted pending;
    uint64_t dice, now_fs;
    uint32_t next_id; /* ids are unique, as a transaction has one event at a time */
    enum mix mix;
};

static struct rig *new_rig(uint64_t seed)
{
    struct rig *r = calloc(1, sizeof *r);

    assert_non_null(r);
    assert_true(ev_queue_init(&r->q));
    assert_true(ev_first(&r->q) == EV_NONE);
    r->dice = seed;
    return r;
}

static void free_rig(struct rig *r)
{
    ev_queue_free(&r->q);
    free(r);
}

static void push(struct rig *r)
{
    uint64_t fs = r->now_fs + any_delay_fs(&r->dice, r->mix);
    struct plain p = {.time_fs = fs < EV_PAST ? fs : EV_PAST,
                      .class = (enum ev_class)(draw(&r->dice) % 5),
                      .id = r->next_id++ * UINT32_C(2654435761), /* in no order, all 32 bits */
                      .slot = (uint32_t)(draw(&r->dice) % EV_MAX_SLOTS)};

    insert(&r->pending, p);
    assert_true(ev_push(&r->q, made(&p)));
}

static void assert_first(const struct rig *r)
{
    const struct sorted *s = &r->pending;

    assert_true(ev_first(&r->q) == (s->n ? made(&s->rows[s->n - 1]) : EV_NONE));
}

/* What the engines do: take the first, push what follows from it. */
static void take(struct rig *r, uint64_t n_pushes)
{
    assert_first(r);
    r->now_fs = r->pending.rows[--r->pending.n].time_fs;
    ev_take(&r->q);
    assert_first(r);
    while (n_pushes--) {
        push(r);
        assert_first(r);
    }
}

/* Random operations that keep about `about` events pending, then what is left. */
static void assert_like_sorted(uint64_t seed, size_t about, enum mix mix)
{
    struct rig *r = new_rig(seed);

    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t n_pushes = draw(&r->dice) % (r->pending.n < about ? 4 : 2);

        r->mix = mix;
        if (r->pending.n == 0)
            push(r);
        else
            take(r, n_pushes);
    }
    while (r->pending.n)
        take(r, 0);
    assert_true(ev_first(&r->q) == EV_NONE);
    free_rig(r);
}

static const size_t abouts[] = {1, 3, 17, 200, MOST_PENDING - 10};

/* docs/model.md "Order of events": "Events run smallest pending key first" */
static void events_come_out_in_order_of_their_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof abouts / sizeof abouts[0]; i++)
        for (enum mix mix = TIES; mix < N_MIXES; mix++)
            assert_like_sorted(i * N_MIXES + mix, abouts[i], mix);
}

/* Its rows double when they are full. */
static void queue_grows_while_in_use(void **state)
{
    (void)state;
    for (enum mix mix = TIES; mix < N_MIXES; mix++) {
        struct rig *r = new_rig(mix);

        r->mix = mix;
        while (r->pending.n < MOST_PENDING) {
            push(r);
            assert_first(r);
        }
        while (r->pending.n)
            take(r, 0);
        free_rig(r);
    }
}

/* docs/model.md "Order of events": "the total order key (time, class, id)": class before id, both
 * before the slot */
static void equal_times_run_by_class_then_by_id(void **state)
{
    (void)state;
    assert_true(ev_make(1, EV_KERNEL, UINT32_MAX, 0) < ev_make(2, EV_DONE, 0, 0));
    assert_true(ev_make(1, EV_DONE, 9, 0) < ev_make(1, EV_HOP, 8, 0));
    assert_true(ev_make(1, EV_HOP, 9, 0) < ev_make(1, EV_ARRIVE, 8, 0));
    assert_true(ev_make(1, EV_ARRIVE, UINT32_MAX, 0) < ev_make(1, EV_ISSUE, 0, 0));
    assert_true(ev_make(1, EV_ISSUE, 9, 0) < ev_make(1, EV_KERNEL, 8, 0));
    assert_true(ev_make(1, EV_KERNEL, UINT32_MAX, 0) < ev_make(1, EV_ARBITER, 0, 0));
    assert_true(ev_make(1, EV_HOP, 8, EV_MAX_SLOTS - 1) < ev_make(1, EV_HOP, 9, 0));
    assert_true(ev_make(EV_PAST, EV_KERNEL, UINT32_MAX, EV_MAX_SLOTS - 1) < EV_NONE);
}

/* docs/model.md "Order of events": "class 0 completion ..., 1 hop, 2 arrival ..., 3 issue ..., 4
 * start or resume, 5 an arbiter" */
static void classes_are_numbered_as_in_the_design(void **state)
{
    (void)state;
    assert_int_equal(EV_DONE, 0);
    assert_int_equal(EV_HOP, 1);
    assert_int_equal(EV_ARRIVE, 2);
    assert_int_equal(EV_ISSUE, 3);
    assert_int_equal(EV_KERNEL, 4);
    assert_int_equal(EV_ARBITER, 5);
}

static void parts_of_an_event_can_be_read_back(void **state)
{
    static const uint64_t times[] = {0, 1, INT64_MAX, EV_PAST};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int class = EV_DONE; class <= EV_ARBITER; class ++)
            for (uint32_t slot = 0; slot < 2; slot++) {
                uint32_t all = slot ? EV_MAX_SLOTS - 1 : 0;
                ev e = ev_make(times[i], (enum ev_class) class, slot ? UINT32_MAX : 0, all);

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
        cmocka_unit_test(queue_grows_while_in_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
