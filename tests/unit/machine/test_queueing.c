/* test_queueing.c -- what a queueing component asks for: docs/components.md "A memory that queues".
 */
#include "machine/queueing.h"
#include "support/rig.h"
#include <string.h>

/* A component that is woken at 7 with 2, at 7 with 1 and at 5, and done at its third wake. */
struct three {
    uint64_t ids[3];
    int64_t times[3];
    int n;
};

static void three_init(void *state)
{
    ((struct three *)state)->n = 0;
}

static void three_arrive(void *state, const struct kb_request *r, int64_t now, struct kb_handle *h)
{
    (void)state, (void)r;
    kb_wake_at(h, 2, now + 7);
    kb_wake_at(h, 1, now + 7);
    kb_wake_at(h, 1, now + 7); /* the same one */
    kb_wake_at(h, 9, now + 5);
    kb_wake_at(h, 9, INT64_MAX); /* never */
}

static struct three seen;

static void three_wake(void *state, uint64_t id, int64_t now, struct kb_handle *h)
{
    struct three *s = state;

    s->ids[s->n] = id;
    s->times[s->n++] = now;
    seen = *s;
    if (s->n == 3)
        kb_done(h, 4, now + 10);
}

static void wakes_run_by_time_and_id_and_equal_ones_are_one(void **state)
{
    struct kb_request asked = {.id = 4};
    struct queueing q = {.now_fs = 0};
    struct three three;

    (void)state;
    queueing_begin(&q);
    three_init(&three);
    three_arrive(&three, &asked, 0, &q.h);
    while (!q.ends.n) {
        struct due due = queueing_take(&q);

        q.now_fs = due.t_fs;
        three_wake(&three, due.id, due.t_fs, &q.h);
    }
    assert_int_equal(q.ends.rows[0].t_fs, 17);
    queueing_free(&q);
    assert_true(seen.ids[0] == 9 && seen.ids[1] == 1 && seen.ids[2] == 2);
    assert_true(seen.times[0] == 5 && seen.times[1] == 7 && seen.times[2] == 7);
}

/* Thousands of wakes in no order: each is taken when its turn has come. */
static void many_wakes_keep_their_order(void **state)
{
    struct queueing q = {.now_fs = 0};
    struct due before = {.t_fs = 0};
    uint64_t drawn = 88172645463325252u;

    (void)state;
    queueing_begin(&q);
    for (int i = 0; i < 5000; i++) {
        drawn ^= drawn << 13, drawn ^= drawn >> 7, drawn ^= drawn << 17;
        kb_wake_at(&q.h, drawn >> 20 & 7, 1 + (int64_t)(drawn % 997));
    }
    while (q.wakes.n) {
        struct due next = queueing_take(&q);

        assert_true(before.t_fs < next.t_fs || (before.t_fs == next.t_fs && before.id < next.id) ||
                    before.t_fs == 0);
        before = next;
    }
    queueing_free(&q);
}

static void what_lies_not_ahead_is_a_fault(void **state)
{
    struct queueing q = {.now_fs = 0};

    (void)state;
    queueing_begin(&q);
    q.now_fs = 10;
    kb_wake_at(&q.h, 3, 11);
    kb_done(&q.h, 4, 11);
    assert_true(q.fault == QUEUEING_OK && q.wakes.n == 1 && q.ends.n == 1);
    kb_wake_at(&q.h, 3, 10);
    assert_true(q.fault == QUEUEING_WAKE && q.wrong.id == 3 && q.wrong.t_fs == 10);
    kb_done(&q.h, 5, -1); /* the first fault is told */
    assert_true(q.fault == QUEUEING_WAKE);
    queueing_begin(&q);
    q.now_fs = 10;
    kb_done(&q.h, 5, 9);
    assert_true(q.fault == QUEUEING_DONE && q.wrong.id == 5 && q.wrong.t_fs == 9);
    queueing_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wakes_run_by_time_and_id_and_equal_ones_are_one),
        cmocka_unit_test(many_wakes_keep_their_order),
        cmocka_unit_test(what_lies_not_ahead_is_a_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
