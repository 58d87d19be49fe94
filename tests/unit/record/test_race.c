/*
 * test_race.c -- races: for each way in which one access may come before another a kernel that
 * lacks it, and the same kernel with it.
 */
#include "support/races.h"

/* The argument of a kernel: shall it synchronise? */
static const bool wrong = false, right = true;

static bool is_right(const kb_args *args)
{
    return *(const bool *)args->user;
}

static void print_races(const struct races *r)
{
    for (size_t i = 0; i < r->n; i++)
        print_message("%s:%d PE %u, %s:%d PE %u: %llu bytes at %llu, %llu times\n",
                      r->race[i].first.call, r->race[i].first.line, r->race[i].first.pe,
                      r->race[i].second.call, r->race[i].second.line, r->race[i].second.pe,
                      (unsigned long long)r->race[i].nbytes, (unsigned long long)r->race[i].address,
                      (unsigned long long)r->race[i].count);
}

/* The wrong kernel races by the lines of these two calls, and no others; the right one does not. */
static kb_race assert_planted(kb_kernel kernel, size_t n, const char *first, const char *second)
{
    struct races *r = races_in(kernel, &wrong, n, false, KB_FUSED);
    kb_race race = r->race[0];

    if (r->n != 1)
        print_races(r);
    assert_int_equal(r->n, 1);
    assert_string_equal(race.first.call, first);
    assert_string_equal(race.second.call, second);
    assert_string_equal(race.first.kernel, "test");
    assert_true(race.first.pe != race.second.pe);
    assert_true(race.first.issue_fs <= race.second.issue_fs);
    free(r);
    r = races_in(kernel, &right, n, false, KB_FUSED);
    if (r->n)
        print_races(r);
    assert_int_equal(r->n, 0);
    assert_true(r->checked.accesses > 0);
    assert_int_equal(r->checked.pes, n);
    free(r);
    return race;
}

static tl_tensor *some(tl_ctx *tl, int64_t elements)
{
    return tl_load(tl, SLICE(tl_pe(tl)) + FILLED / 2, KB_I32, KB_SHAPE(elements));
}

static void meet(tl_ctx *tl, uint32_t n)
{
    tl_barrier(tl, ((tl_group){.n = n}));
}

/* -- barriers, and what conflicts ----------------------------------------------------------- */

static void stores_twice(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4);

    if (tl_pe(tl) == 0)
        tl_store(tl, SLICE(0) + 64, x);
    if (is_right(args))
        meet(tl, 2);
    if (tl_pe(tl) == 1)
        tl_store_strided(tl, SLICE(0) + 64, x, ((int64_t[]){4}));
}

static void store_and_store(void **state)
{
    kb_race race = assert_planted(stores_twice, 2, "tl_store", "tl_store_strided");

    (void)state;
    assert_true(race.first.writes && race.second.writes);
    assert_false(race.first.atomic || race.second.atomic);
    assert_int_equal(race.memory.kind, KB_SLICE);
    assert_true(race.offset == 64 && race.address == SLICE(0) + 64 && race.nbytes == 16);
    assert_true(race.count == 1);
    assert_non_null(strstr(race.first.file, "test_race.c"));
}

static void stores_then_loads(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4);

    if (tl_pe(tl) == 0)
        tl_store(tl, SLICE(2) + 128, x);
    if (is_right(args))
        meet(tl, 2);
    if (tl_pe(tl) == 1)
        for (int i = 0; i < 3; i++)
            tl_load(tl, SLICE(2) + 120, KB_I32, KB_SHAPE(8));
}

/* Three loads at one line: one race, found three times. They overlap in part only. */
static void store_and_load(void **state)
{
    kb_race race = assert_planted(stores_then_loads, 2, "tl_store", "tl_load");

    (void)state;
    assert_true(race.first.writes && !race.second.writes);
    assert_true(race.memory.unit == 2 && race.offset == 128 && race.nbytes == 16);
    assert_true(race.count == 3);
}

static void loads_then_stores(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0)
        tl_load(tl, SLICE(2) + 128, KB_I32, KB_SHAPE(8));
    tl_tensor *x = some(tl, 4);

    if (is_right(args))
        meet(tl, 2);
    if (tl_pe(tl) == 1)
        tl_store(tl, SLICE(2) + 152, x);
}

static void load_and_store(void **state)
{
    kb_race race = assert_planted(loads_then_stores, 2, "tl_load", "tl_store");

    (void)state;
    assert_true(!race.first.writes && race.second.writes);
    assert_true(race.offset == 152 && race.nbytes == 8);
}

static void all_load(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(8));
}

static void loads_do_not_race(void **state)
{
    struct races *r = races_in(all_load, NULL, 8, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 0);
    assert_int_equal(r->checked.accesses, 16); /* what is read, and what is made in the TCM */
    free(r);
}

/* Of three PEs only two meet. */
static void two_of_three_meet(tl_ctx *tl, const kb_args *args)
{
    uint32_t late = is_right(args) ? 1 : 2;
    tl_tensor *x = some(tl, 1);

    if (tl_pe(tl) == 0)
        tl_store(tl, SLICE(0), x);
    if (tl_pe(tl) != 2)
        meet(tl, 2);
    if (tl_pe(tl) == late)
        tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(1));
}

static void a_pe_outside_a_group_has_seen_nothing(void **state)
{
    (void)state;
    assert_planted(two_of_three_meet, 3, "tl_store", "tl_load");
}

/* PE 2 learns of it from PE 1, which met PE 0; or it has met PE 1 before that. */
static void by_way_of_another(tl_ctx *tl, const kb_args *args)
{
    const uint32_t low[] = {0, 1}, high[] = {2, 1};
    bool first_low = is_right(args) || tl_pe(tl) == 0;
    tl_tensor *x = some(tl, 1);

    if (tl_pe(tl) == 0)
        tl_store(tl, SRAM, x);
    for (int i = 0; i < 2; i++) {
        bool is_low = (i == 0) == first_low;

        if (is_low ? tl_pe(tl) < 2 : tl_pe(tl) > 0)
            tl_barrier(tl, ((tl_group){.pes = is_low ? low : high, .n = 2}));
    }
    if (tl_pe(tl) == 2)
        tl_store(tl, SRAM, x);
}

static void what_is_seen_is_passed_on(void **state)
{
    kb_race race;

    (void)state;
    race = assert_planted(by_way_of_another, 3, "tl_store", "tl_store");
    assert_int_equal(race.memory.kind, KB_SRAM);
}

/* -- queues --------------------------------------------------------------------------------- */

static void hands_over(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 2048); /* two pieces */

    if (tl_pe(tl) == 0) {
        if (is_right(args))
            tl_store(tl, SLICE(3), x);
        tl_send(tl, 1, 0, x);
        if (!is_right(args))
            tl_store(tl, SLICE(3), x);
    } else {
        tl_recv(tl, 0, 0, KB_I32, KB_SHAPE(2048));
        tl_load(tl, SLICE(3) + 8000, KB_I32, KB_SHAPE(1));
    }
}

static void what_was_done_before_a_send(void **state)
{
    (void)state;
    struct races *r = races_in(hands_over, &wrong, 2, false, KB_FUSED);

    assert_int_equal(r->n, 1);
    assert_true(r->race[0].offset == 8000 && r->race[0].nbytes == 4);
    free(r);
    r = races_in(hands_over, &right, 2, false, KB_FUSED);
    assert_int_equal(r->n, 0);
    free(r);
}

static void receives_early(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4), *y;

    if (tl_pe(tl) == 0) {
        tl_store(tl, SLICE(3), x);
        tl_send(tl, 1, 0, x);
        return;
    }
    y = tl_recv_async(tl, 0, 0, KB_I32, KB_SHAPE(4));
    if (is_right(args))
        tl_wait(tl, y);
    tl_load(tl, SLICE(3), KB_I32, KB_SHAPE(4));
    if (!is_right(args))
        tl_wait(tl, y);
}

static void a_receive_brings_it_once_waited_for(void **state)
{
    struct races *r = races_in(receives_early, &wrong, 2, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 1);
    free(r);
    r = races_in(receives_early, &right, 2, false, KB_FUSED);
    assert_int_equal(r->n, 0);
    free(r);
}

/* Two queues: what came by one is not what was sent by the other. */
static void by_two_queues(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4), *y, *z;

    if (tl_pe(tl) == 0) {
        tl_send(tl, 1, 7, x);
        tl_store(tl, SLICE(3), x);
        tl_send(tl, 1, 8, x);
        return;
    }
    y = tl_recv_async(tl, 0, 7, KB_I32, KB_SHAPE(4));
    z = tl_recv_async(tl, 0, 8, KB_I32, KB_SHAPE(4));
    tl_wait(tl, is_right(args) ? z : y);
    tl_load(tl, SLICE(3), KB_I32, KB_SHAPE(4));
    tl_wait(tl, is_right(args) ? y : z);
}

static void each_queue_brings_its_own(void **state)
{
    (void)state;
    assert_planted(by_two_queues, 2, "tl_store", "tl_load");
}

/* A later receive that is waited for first brings no more, and no less, than it should. */
static void out_of_order(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4), *got[3];

    if (tl_pe(tl) == 0) {
        for (int i = 0; i < 3; i++) {
            tl_store(tl, SLICE(3) + 64 * (uint64_t)i, x);
            tl_send(tl, 1, 0, x);
        }
        return;
    }
    for (int i = 0; i < 3; i++)
        got[i] = tl_recv_async(tl, 0, 0, KB_I32, KB_SHAPE(4));
    tl_wait(tl, got[1]);
    tl_wait(tl, got[0]);
    tl_load(tl, SLICE(3) + (is_right(args) ? 64 : 128), KB_I32, KB_SHAPE(4));
    tl_wait(tl, got[2]);
}

static void receives_are_waited_for_in_any_order(void **state)
{
    (void)state;
    assert_planted(out_of_order, 2, "tl_store", "tl_load");
}

/*
 * The queue has 4 slots: the sixth piece is sent once the second was received, so it comes after
 * what the receiver did before that; the fifth does not.
 */
static void waits_for_a_slot(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4);

    for (int i = 0; i < 6; i++) {
        if (tl_pe(tl) == 1 && i == 1)
            tl_load(tl, SLICE(3), KB_I32, KB_SHAPE(4));
        if (tl_pe(tl) == 1)
            tl_recv(tl, 0, 0, KB_I32, KB_SHAPE(4));
        else
            tl_send(tl, 1, 0, x);
        if (tl_pe(tl) == 0 && i == (is_right(args) ? 5 : 4))
            tl_store(tl, SLICE(3), x);
    }
}

static void a_send_comes_after_the_receive_that_freed_its_slot(void **state)
{
    (void)state;
    assert_planted(waits_for_a_slot, 2, "tl_load", "tl_store");
}

/* PE 1 has it from PE 2 by a queue, and comes last to the barrier with PE 0. */
static void by_queue_and_barrier(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4);

    if (tl_pe(tl) == 2 && is_right(args))
        tl_store(tl, SLICE(3), x);
    if (tl_pe(tl) == 2)
        tl_send(tl, 1, 0, x);
    if (tl_pe(tl) == 2 && !is_right(args))
        tl_store(tl, SLICE(3), x);
    if (tl_pe(tl) == 1)
        tl_recv(tl, 2, 0, KB_I32, KB_SHAPE(4));
    if (tl_pe(tl) < 2)
        meet(tl, 2);
    if (tl_pe(tl) == 0)
        tl_load(tl, SLICE(3), KB_I32, KB_SHAPE(4));
}

static void a_barrier_passes_on_what_was_received(void **state)
{
    struct races *r = races_in(by_queue_and_barrier, &wrong, 3, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 1);
    free(r);
    r = races_in(by_queue_and_barrier, &right, 3, false, KB_FUSED);
    assert_int_equal(r->n, 0);
    free(r);
}

/* -- atomics -------------------------------------------------------------------------------- */

/* The later one of a counter has seen what the earlier did before; of another counter it has not.
 */
static void counts(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = SLICE(2) + (is_right(args) ? 0 : 8 * tl_pe(tl));
    tl_tensor *x = some(tl, 4);

    if (tl_pe(tl) == 0)
        tl_store(tl, SLICE(3), x);
    else
        for (int i = 0; i < 20; i++) /* to be later */
            x = some(tl, 4);
    tl_atomic_add(tl, at, KB_I32, 1);
    if (tl_pe(tl) == 1)
        tl_load(tl, SLICE(3), KB_I32, KB_SHAPE(4));
}

static void atomics_of_one_element(void **state)
{
    (void)state;
    assert_planted(counts, 2, "tl_store", "tl_load");
}

static void count_beside(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = SLICE(2) + (is_right(args) ? 4 : 0);
    tl_tensor *x = some(tl, 1);

    if (tl_pe(tl) == 0)
        tl_store(tl, at, x);
    else
        tl_atomic_add(tl, SLICE(2), KB_I32, 1);
    /* two atomics do not race, of other sizes neither */
    tl_atomic_add(tl, SLICE(2) + 64, tl_pe(tl) ? KB_I64 : KB_U16, 1);
}

static void an_atomic_and_a_store(void **state)
{
    kb_race race = assert_planted(count_beside, 2, "tl_store", "tl_atomic_add");

    (void)state;
    assert_true(race.second.atomic && race.second.writes && !race.first.atomic);
}

/* -- asynchronous commands ------------------------------------------------------------------ */

static void stores_and_meets(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4);

    if (tl_pe(tl) == 0) {
        tl_tensor *y = tl_store_async(tl, SLICE(0), x);
        if (is_right(args))
            tl_wait(tl, y);
    }
    meet(tl, 2);
    if (tl_pe(tl) == 1)
        tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(4));
}

static void a_store_that_was_not_waited_for(void **state)
{
    (void)state;
    assert_planted(stores_and_meets, 2, "tl_store_async", "tl_load");
}

/* Twice the same line: the second is waited for, the first in the right one only. */
static void stores_again(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4), *y[2];

    for (int i = 0; i < 2 && tl_pe(tl) == 0; i++)
        y[i] = tl_store_async(tl, SLICE(0), x);
    for (int i = is_right(args) ? 0 : 1; i < 2 && tl_pe(tl) == 0; i++)
        tl_wait(tl, y[i]);
    meet(tl, 2);
    if (tl_pe(tl) == 1)
        tl_load(tl, SLICE(0), KB_I32, KB_SHAPE(4));
}

static void the_first_of_two_stores_that_was_not_waited_for(void **state)
{
    (void)state;
    assert_planted(stores_again, 2, "tl_store_async", "tl_load");
}

static void waits_too_late(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4), *y = NULL;

    if (tl_pe(tl) == 0)
        y = tl_load_async(tl, SLICE(5), KB_I32, KB_SHAPE(4));
    if (tl_pe(tl) == 0 && is_right(args))
        tl_wait(tl, y);
    meet(tl, 2);
    if (tl_pe(tl) == 0 && !is_right(args))
        tl_wait(tl, y);
    if (tl_pe(tl) == 1)
        tl_store(tl, SLICE(5), x);
}

static void a_load_that_was_waited_for_too_late(void **state)
{
    (void)state;
    assert_planted(waits_too_late, 2, "tl_load_async", "tl_store");
}

/* Composites read a, b and write their result until they are waited for. */
static void multiplies(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4), *c = NULL;

    if (tl_pe(tl) == 0)
        c = tl_composite(tl, .a = tl_ref(tl, SLICE(0), KB_F32, KB_SHAPE(8, 8)),
                         .b = tl_ref(tl, SLICE(1), KB_F32, KB_SHAPE(8, 8)), .out = SLICE(2));
    if (tl_pe(tl) == 0 && is_right(args))
        tl_wait(tl, c);
    meet(tl, 2);
    if (tl_pe(tl) == 1) {
        tl_store(tl, SLICE(0) + 240, x);
        tl_store(tl, SLICE(1) + 16, x);
        tl_load(tl, SLICE(2) + 128, KB_F32, KB_SHAPE(8));
        tl_store(tl, SLICE(2) + 256, x); /* behind it */
    }
}

static void composites(void **state)
{
    struct races *r = races_in(multiplies, &wrong, 2, false, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 3);
    for (size_t i = 0; i < 3; i++) {
        const kb_race *x = &r->race[i];

        assert_string_equal(x->first.call, "tl_composite");
        assert_true(x->first.writes == (i == 2) && x->second.writes == (i < 2));
        assert_true(x->memory.unit == i && x->nbytes == (i == 2 ? 32 : 16));
    }
    free(r);
    r = races_in(multiplies, &right, 2, false, KB_FUSED);
    assert_int_equal(r->n, 0);
    free(r);
}

/* -- strides -------------------------------------------------------------------------------- */

/* Elements of 4 bytes, every 8: of one PE the even, of the other the odd ones. */
static void interleaves(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = SLICE(1) + (is_right(args) ? 4 * tl_pe(tl) : 8 * tl_pe(tl));

    tl_store_strided(tl, at, some(tl, 16), ((int64_t[]){8}));
}

static void strides_that_interleave(void **state)
{
    kb_race race = assert_planted(interleaves, 2, "tl_store_strided", "tl_store_strided");

    (void)state;
    assert_true(race.offset == 8 && race.nbytes == 4);
    assert_true(race.count == 1);
}

/* Columns of a matrix of 8 x 8, three axes; those of PE 1 begin where those of PE 0 end. */
static void columns(tl_ctx *tl, const kb_args *args)
{
    uint64_t first = tl_pe(tl) == 0 ? 0 : is_right(args) ? 3 : 2;
    tl_tensor *x = tl_reshape(tl, some(tl, 24), KB_SHAPE(2, 4, 3));

    tl_store_strided(tl, SLICE(4) + 4 * first, x, ((int64_t[]){128, 32, 4}));
}

static void strides_over_three_axes(void **state)
{
    kb_race race = assert_planted(columns, 2, "tl_store_strided", "tl_store_strided");

    (void)state;
    assert_true(race.offset == 8 && race.nbytes == 4);
}

/* -- the TCM -------------------------------------------------------------------------------- */

static void into_a_tcm(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *buffer = tl_alloc(tl, KB_I32, KB_SHAPE(4)), *x = some(tl, 4);

    meet(tl, 2);
    if (tl_pe(tl) == 0)
        tl_store(tl, TCM(1), x);
    if (is_right(args))
        meet(tl, 2);
    else
        for (int i = 0; i < 20; i++) /* to be later */
            x = some(tl, 4);
    if (tl_pe(tl) == 1)
        tl_get(tl, buffer, 2);
}

static void another_pes_tcm(void **state)
{
    kb_race race = assert_planted(into_a_tcm, 2, "tl_store", "tl_get");

    (void)state;
    assert_int_equal(race.memory.kind, KB_TCM);
    assert_true(race.memory.unit == 1 && race.offset == 8 && race.nbytes == 4);
    assert_true(race.second.op_id == KB_NO_ID && race.first.op_id != KB_NO_ID);
}

/* Results lie in the TCM, too: another PE looks for one, and then its place is used again. */
static void out_of_a_tcm(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = some(tl, 4);

    if (tl_pe(tl) == 0)
        tl_neg(tl, x);
    meet(tl, 2);
    if (tl_pe(tl) == 1)
        tl_load(tl, TCM(0), KB_I32, KB_SHAPE(4));
    if (is_right(args))
        meet(tl, 2);
    if (tl_pe(tl) == 0) {
        tl_free(tl, x);
        tl_full(tl, KB_I32, KB_SHAPE(4), 3);
    }
}

static void results_in_a_tcm(void **state)
{
    kb_race race;

    (void)state;
    race = assert_planted(out_of_a_tcm, 2, "tl_full", "tl_load");
    assert_true(race.first.writes && !race.second.writes);
}

/* -- launches, and all of it ---------------------------------------------------------------- */

static void one_stores(tl_ctx *tl, const kb_args *args)
{
    static uint32_t launches;
    tl_tensor *x = some(tl, 4);

    (void)args;
    if (tl_pe(tl) == launches / 2 % 2)
        tl_store(tl, SLICE(0), x);
    launches++;
}

/* In the first launch PE 0 stores, in the second PE 1. */
static void launches_follow_each_other(void **state)
{
    struct races *r = races_in(one_stores, NULL, 2, true, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 0);
    assert_int_equal(r->checked.accesses, 2 * (2 * 2 + 2));
    free(r);
}

/* All race with all, in both launches: each line with itself counts once. */
static void all_store(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_store(tl, SLICE(0), some(tl, 4));
}

static void a_race_is_told_once(void **state)
{
    struct races *r = races_in(all_store, NULL, 8, true, KB_FUSED);

    (void)state;
    assert_int_equal(r->n, 1);
    assert_true(r->race[0].count == 14); /* of each launch all but the first came upon it */
    assert_true(r->race[0].first.pe == 0 && r->race[0].second.pe == 1);
    free(r);
}

static void idle(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
}

static void asked_too_late_or_not_at_all(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_race_counts checked;
    struct races none = {.n = 0};
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_sim_races(sim, keep_race, &none), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_race_counts(sim, &checked), KB_BAD_REQUEST);
    assert_int_equal(launch(sim, idle, NULL, 1, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_sim_check_races(sim, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "has begun"));
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_and_store),
        cmocka_unit_test(store_and_load),
        cmocka_unit_test(load_and_store),
        cmocka_unit_test(loads_do_not_race),
        cmocka_unit_test(a_pe_outside_a_group_has_seen_nothing),
        cmocka_unit_test(what_is_seen_is_passed_on),
        cmocka_unit_test(what_was_done_before_a_send),
        cmocka_unit_test(a_receive_brings_it_once_waited_for),
        cmocka_unit_test(each_queue_brings_its_own),
        cmocka_unit_test(receives_are_waited_for_in_any_order),
        cmocka_unit_test(a_send_comes_after_the_receive_that_freed_its_slot),
        cmocka_unit_test(a_barrier_passes_on_what_was_received),
        cmocka_unit_test(atomics_of_one_element),
        cmocka_unit_test(an_atomic_and_a_store),
        cmocka_unit_test(a_store_that_was_not_waited_for),
        cmocka_unit_test(the_first_of_two_stores_that_was_not_waited_for),
        cmocka_unit_test(a_load_that_was_waited_for_too_late),
        cmocka_unit_test(composites),
        cmocka_unit_test(strides_that_interleave),
        cmocka_unit_test(strides_over_three_axes),
        cmocka_unit_test(another_pes_tcm),
        cmocka_unit_test(results_in_a_tcm),
        cmocka_unit_test(launches_follow_each_other),
        cmocka_unit_test(a_race_is_told_once),
        cmocka_unit_test(asked_too_late_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
