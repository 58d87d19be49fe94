/* test_arbiter.c -- events of class 5: once for an arbiter and an instant, after all else of it. */
#include "engine/arbiter.h" /* before cmocka, which has a macro fail() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static uint32_t events(struct kb_sim *s)
{
    uint32_t n = 0;

    for (; s->queue.first != EV_NONE; n++)
        ev_take(&s->queue);
    return n;
}

/* docs/model.md "Order of events": "at most one for an arbiter and an instant" */
static void asked_twice_it_decides_once(void **state)
{
    struct kb_sim s = {0};
    struct arbiter a = {0};

    (void)state;
    assert_true(ev_queue_init(&s.queue));
    arbiter_ask(&s, &a, ARBITER_CHANNEL, 0, 7, 3);
    arbiter_ask(&s, &a, ARBITER_CHANNEL, 0, 7, 3);
    assert_int_equal(events(&s), 1);

    arbiter_ask(&s, &a, ARBITER_CHANNEL, 10, 7, 3);
    arbiter_ask(&s, &a, ARBITER_CHANNEL, 24, 7, 3);
    arbiter_ask(&s, &a, ARBITER_CHANNEL, 10, 7, 3); /* the last was 24: an event that is idle */
    assert_true(arbiter_decides(&a, 10));
    assert_false(arbiter_decides(&a, 10));
    assert_true(arbiter_decides(&a, 24));
    ev_queue_free(&s.queue);
}

static void its_event_says_which_arbiter_and_comes_last(void **state)
{
    struct kb_sim s = {0};
    struct arbiter a = {0};

    (void)state;
    assert_true(ev_queue_init(&s.queue));
    arbiter_ask(&s, &a, ARBITER_CHANNEL, 5, UINT32_MAX, 123456);
    assert_int_equal(ev_class(s.queue.first), EV_ARBITER);
    assert_int_equal(arbiter_kind(ev_slot(s.queue.first)), ARBITER_CHANNEL);
    assert_int_equal(arbiter_index(ev_slot(s.queue.first)), 123456);
    assert_true(ev_make(5, EV_KERNEL, UINT32_MAX, 0) < s.queue.first);
    assert_true(s.queue.first < ev_make(6, EV_DONE, 0, 0));
    ev_queue_free(&s.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_twice_it_decides_once),
        cmocka_unit_test(its_event_says_which_arbiter_and_comes_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
