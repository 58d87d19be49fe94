/* test_wakes.c -- when kernels go on: in the order of time and PE, on machines of thousands of PEs.
 */
#include "kernels/wakes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { INSTANTS = 40 };

/* What is to come, by PE, beside the wakes that are tested; EV_NONE: nothing. */
struct plan {
    struct wakes w;
    ev *of_pe;
    uint32_t n;
    uint64_t dice;
};

static uint64_t draw(struct plan *p, uint64_t below)
{
    p->dice = p->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (p->dice >> 33) % below;
}

/* Any PE, often one at the ends of words. */
static uint32_t draw_pe(struct plan *p)
{
    static const uint32_t words[] = {64, 4096};
    uint32_t word = words[draw(p, 2)];
    uint64_t pe = draw(p, p->n / word + 1) * word;

    pe += draw(p, 3);
    return (uint32_t)(draw(p, 2) && pe > 0 && pe <= p->n ? pe - 1 : draw(p, p->n));
}

static ev first_of(const struct plan *p)
{
    ev first = EV_NONE;

    for (uint32_t pe = 0; pe < p->n; pe++)
        first = p->of_pe[pe] < first ? p->of_pe[pe] : first;
    return first;
}

/* Takes all until `until_fs`. Some call again, and are issued `issue_fs` later. */
static void take_until(struct plan *p, uint64_t until_fs, uint64_t issue_fs)
{
    for (;;) {
        ev first = first_of(p);
        uint64_t t = ev_time_fs(first);
        uint32_t pe = ev_slot(first);

        assert_true(p->w.next == first);
        if (first == EV_NONE || t > until_fs)
            return;
        wakes_take(&p->w);
        p->of_pe[pe] = EV_NONE;
        if (issue_fs && draw(p, 2)) {
            wakes_append(&p->w, t + issue_fs, pe);
            p->of_pe[pe] = wakes_event(t + issue_fs, pe);
        }
    }
}

/* Some that have nothing to come wake at once; those of one instant in any order. */
static void wake_some(struct plan *p, uint64_t t, bool in_line)
{
    for (uint64_t i = draw(p, 30); i > 0; i--) {
        uint32_t pe = draw_pe(p);

        if (p->of_pe[pe] != EV_NONE)
            continue;
        if (in_line)
            wakes_append(&p->w, t, pe);
        else
            wakes_add(&p->w, t, pe);
        p->of_pe[pe] = wakes_event(t, pe);
    }
}

static void goes_through(uint32_t n, uint64_t issue_fs)
{
    struct plan p = {.n = n, .dice = n + issue_fs, .of_pe = malloc(n * sizeof(ev))};
    uint64_t t = 0;

    assert_non_null(p.of_pe);
    assert_true(wakes_init(&p.w, n));
    for (uint32_t pe = 0; pe < n; pe++)
        p.of_pe[pe] = EV_NONE;
    for (int i = 0; i < INSTANTS; i++) {
        t += draw(&p, 5);
        if (t > 0)
            take_until(&p, t - 1, issue_fs);
        wake_some(&p, t, !issue_fs && draw(&p, 2));
        take_until(&p, t, issue_fs);
    }
    take_until(&p, UINT64_MAX, 0);
    wakes_free(&p.w);
    free(p.of_pe);
}

/* runtime/kernels/wakes.h: a set's words in words, of 4096 PEs each */
static void kernels_go_on_in_order_of_time_and_pe(void **state)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 12289};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t issue_fs = 0; issue_fs < 4; issue_fs += 3)
            goes_through(sizes[i], issue_fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_go_on_in_order_of_time_and_pe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
