/* test_deadlock.c -- deadlocked kernels: which PE lacks what of which, and in which circle. */
#include "support/ops.h"
#include "support/talks.h"

enum { ROWS = 80, PIECE = 1024 };

/* What is told of a run that has stopped. */
struct told {
    kb_deadlocked row[ROWS];
    size_t n;
    kb_error why;
    struct marks m;
};

static void keep(void *arg, const kb_deadlocked *b)
{
    struct told *t = arg;

    assert_true(t->n < ROWS);
    t->row[t->n++] = *b;
}

static void assert_alike(const kb_deadlocked *a, const kb_deadlocked *b)
{
    assert_int_equal(a->pe, b->pe);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->call, b->call);
    assert_string_equal(a->file, b->file);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->since_fs, b->since_fs);
    assert_string_equal(a->lacks, b->lacks);
    assert_int_equal(a->waits_for, b->waits_for);
    assert_int_equal(a->tag, b->tag);
    assert_int_equal(a->other_tag, b->other_tag);
    assert_int_equal(a->n_missing, b->n_missing);
    assert_int_equal(a->cycle, b->cycle);
}

static void ignore(void *arg, const kb_deadlocked *b)
{
    (void)arg;
    (void)b;
}

/* Runs `kernel` until nothing goes on, in one way; what is asked again is said again. */
static void stop_once(const kb_topology *topo, kb_options options, kb_kernel kernel,
                      const uint32_t *pes, size_t n, struct told *t)
{
    kb_sim *sim = new_sim(topo, options);
    kb_launch_result r;
    kb_status status;

    memset(t, 0, sizeof *t);
    assert_int_equal(kb_sim_deadlocked(sim, ignore, NULL), KB_BAD_REQUEST);
    launch_talk(sim, kernel, &t->m, pes, n);
    assert_int_equal(kb_sim_deadlocked(sim, ignore, NULL), KB_BAD_REQUEST);
    do
        status = kb_sim_run(sim, options.engine == KB_HOP ? 7 : 0, &t->why);
    while (status == KB_AGAIN);
    if (status != KB_DEADLOCK)
        fail_msg("status %d: %s", (int)status, t->why.text);
    for (int i = 0; i < 2; i++) {
        kb_error why = {""};

        t->n = 0;
        assert_int_equal(kb_sim_deadlocked(sim, keep, t), KB_OK);
        assert_int_equal(kb_sim_run(sim, 0, &why), KB_DEADLOCK);
        assert_string_equal(why.text, t->why.text);
    }
    assert_int_equal(kb_launch_done(sim), 0);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_PENDING);
    kb_sim_free(sim);
}

/* The same by both engines, with and without a log. */
static void stop(const kb_topology *topo, kb_kernel kernel, const uint32_t *pes, size_t n,
                 struct told *t)
{
    const kb_options ways[] = {{.fingerprint = true, .oplog = true},
                               {.engine = KB_HOP, .fingerprint = true}};
    struct told other;

    stop_once(topo, (kb_options){0}, kernel, pes, n, t);
    for (size_t i = 0; i < LENGTH(ways); i++) {
        stop_once(topo, ways[i], kernel, pes, n, &other);
        assert_string_equal(other.why.text, t->why.text);
        assert_int_equal(other.n, t->n);
        for (size_t row = 0; row < t->n; row++)
            assert_alike(&other.row[row], &t->row[row]);
    }
    for (size_t row = 0; row < t->n; row++) {
        assert_string_equal(t->row[row].kernel, "talk");
        assert_string_equal(t->row[row].file, __FILE__);
    }
}

/* `expected` except for kernel, file and time; the time `since_ns` after the PE's mark 0. */
static void assert_row(const struct told *t, size_t i, kb_deadlocked expected, double since_ns)
{
    assert_true(i < t->n);
    expected.kernel = t->row[i].kernel;
    expected.file = t->row[i].file;
    expected.since_fs = t->m.fs[expected.pe][0] + FS(since_ns);
    assert_alike(&t->row[i], &expected);
}

static void line_is(const kb_args *args, uint32_t pe, int line)
{
    marks_of(args)->value[pe][0] = line;
}

static int line_of_pe(const struct told *t, uint32_t pe)
{
    return (int)t->m.value[pe][0];
}

/* -- one PE waits -------------------------------------------------------------------------- */

static void receives_what_no_pe_sends(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers(tl, 0, PIECE);

    if (tl_pe(tl) == 1) {
        tl_send(tl, 0, 4, x);
        return;
    }
    mark(tl, args, 0);
    line_is(args, 0, __LINE__ + 1);
    tl_recv(tl, 1, 5, KB_F32, KB_SHAPE(PIECE));
    mark(tl, args, 1);
}

/* It was sent under another tag, and its sender is gone. */
static void a_receive_without_a_send(void **state)
{
    static const uint32_t pes[] = {0, 1};
    struct told t;
    char text[256];

    (void)state;
    stop(&cube8_topology, receives_what_no_pe_sends, pes, 2, &t);
    assert_int_equal(t.n, 1);
    assert_row(&t, 0,
               (kb_deadlocked){.pe = 0,
                               .call = "tl_recv",
                               .line = line_of_pe(&t, 0),
                               .lacks = "a message",
                               .waits_for = 1,
                               .tag = 5,
                               .other_tag = 4},
               3);
    assert_int_equal(t.m.fs[0][1], 0);
    snprintf(text, sizeof text,
             "tl_recv at %s:%d lacks a message from c0.pe1 under tag 5 (there is one under tag 4)",
             __FILE__, line_of_pe(&t, 0));
    assert_non_null(strstr(t.why.text, "deadlock: 1 command"));
    assert_non_null(strstr(t.why.text, text));
}

static void receives_of_a_pe_that_is_not_there(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    line_is(args, 9, __LINE__ + 1);
    tl_recv(tl, 63, 0, KB_F32, KB_SHAPE(1));
}

static void a_receive_from_a_pe_that_was_not_launched(void **state)
{
    static const uint32_t pes[] = {9};
    struct told t;

    (void)state;
    stop(&cube8_topology, receives_of_a_pe_that_is_not_there, pes, 1, &t);
    assert_int_equal(t.n, 1);
    assert_row(&t, 0,
               (kb_deadlocked){.pe = 9,
                               .call = "tl_recv",
                               .line = line_of_pe(&t, 9),
                               .lacks = "a message",
                               .waits_for = 63,
                               .other_tag = -1},
               3);
    assert_string_equal(t.row[0].state, "not launched");
}

/* Of 0 with a message of 2 under tag 1, and of 1 under 9, 4 and 3, of which 3 is received. */
static void sends_under_many_tags(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers(tl, 0, 1);

    mark(tl, args, 0);
    if (tl_pe(tl) == 2)
        tl_send(tl, 0, 1, x);
    for (int tag = 9; tl_pe(tl) == 1 && tag > 2; tag -= tag == 9 ? 5 : 1)
        tl_send(tl, 0, tag, x);
    if (tl_pe(tl) == 0) {
        tl_recv(tl, 1, 3, KB_F32, KB_SHAPE(1));
        tl_recv_async(tl, 3, 1, KB_F32, KB_SHAPE(1));
        tl_recv(tl, 1, 6, KB_F32, KB_SHAPE(1));
    }
}

static void the_lowest_other_tag_of_the_same_sender(void **state)
{
    static const uint32_t pes[] = {0, 1, 2};
    struct told t;

    (void)state;
    stop(&cube8_topology, sends_under_many_tags, pes, 3, &t);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.row[0].waits_for, 3);
    assert_int_equal(t.row[0].other_tag, -1);
    assert_int_equal(t.row[1].waits_for, 1);
    assert_int_equal(t.row[1].tag, 6);
    assert_int_equal(t.row[1].other_tag, 4);
}

/* The second half of a message is missing: three pieces of four were sent by two sends. */
static void sends_too_little(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    if (tl_pe(tl) == 0) {
        tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(PIECE));
        mark(tl, args, 0);
        line_is(args, 0, __LINE__ + 1);
        tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(PIECE));
        return;
    }
    tl_send(tl, 0, 0, numbers(tl, 0, PIECE));
}

static void a_second_receive_without_a_second_send(void **state)
{
    static const uint32_t pes[] = {0, 1};
    struct told t;

    (void)state;
    stop(&cube8_topology, sends_too_little, pes, 2, &t);
    assert_int_equal(t.n, 1);
    assert_row(&t, 0,
               (kb_deadlocked){.pe = 0,
                               .call = "tl_recv",
                               .line = line_of_pe(&t, 0),
                               .lacks = "a message",
                               .waits_for = 1,
                               .other_tag = -1},
               3);
    assert_string_equal(t.row[0].state, "ended");
}

/* Receives that are under way beside: two of them, and no PE waits for the first. */
static void waits_for_the_second(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    mark(tl, args, 0);
    line_is(args, 0, __LINE__ + 1);
    tl_recv_async(tl, 7, 1, KB_F32, KB_SHAPE(1));
    x = tl_recv_async(tl, 6, 0, KB_F32, KB_SHAPE(1));
    tl_wait(tl, x);
}

static void receives_under_way_are_told_each(void **state)
{
    static const uint32_t pes[] = {0};
    kb_deadlocked row = {.call = "tl_recv_async", .lacks = "a message", .other_tag = -1};
    struct told t;

    (void)state;
    stop(&cube8_topology, waits_for_the_second, pes, 1, &t);
    assert_int_equal(t.n, 2);
    row.line = line_of_pe(&t, 0);
    row.waits_for = 7;
    row.tag = 1;
    assert_row(&t, 0, row, 3);
    row.line++;
    row.waits_for = 6;
    row.tag = 0;
    assert_row(&t, 1, row, 6);
}

/* -- circles -------------------------------------------------------------------------------- */

/* Each sends five pieces, four slots are there, and no PE receives before it has sent. */
static void sends_before_it_receives(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl), n = pe < 2 ? 2 : 3, first = pe < 2 ? 0 : 2;
    uint32_t next = first + (pe - first + 1) % n, before = first + (pe - first + n - 1) % n;
    tl_tensor *x = numbers(tl, 0, 5 * PIECE);

    mark(tl, args, 0);
    line_is(args, pe, __LINE__ + 1);
    tl_send(tl, next, 9, x);
    tl_recv(tl, before, 9, KB_F32, KB_SHAPE(5 * PIECE));
}

static void rings_without_slots_are_circles(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4}, next[] = {1, 0, 3, 4, 2};
    struct told t;

    (void)state;
    stop(&cube8_topology, sends_before_it_receives, pes, 5, &t);
    assert_int_equal(t.n, 5);
    for (uint32_t pe = 0; pe < 5; pe++)
        assert_row(&t, pe,
                   (kb_deadlocked){.pe = pe,
                                   .call = "tl_send",
                                   .line = line_of_pe(&t, pe),
                                   .lacks = "a free slot",
                                   .waits_for = next[pe],
                                   .tag = 9,
                                   .other_tag = -1,
                                   .cycle = pe < 2 ? 1 : 2},
                   3);
}

/* 1 and 2 receive of each other first; 0 waits for 1, but no PE for 0. */
static void receives_before_it_sends(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t of[] = {1, 2, 1};
    uint32_t pe = tl_pe(tl);

    mark(tl, args, 0);
    line_is(args, pe, __LINE__ + 1);
    tl_recv(tl, of[pe], 0, KB_F32, KB_SHAPE(1));
    tl_send(tl, of[pe], 0, numbers(tl, 0, 1));
}

static void a_pe_that_waits_for_a_circle_is_not_in_it(void **state)
{
    static const uint32_t pes[] = {0, 1, 2}, of[] = {1, 2, 1};
    struct told t;

    (void)state;
    stop(&cube8_topology, receives_before_it_sends, pes, 3, &t);
    assert_int_equal(t.n, 3);
    for (uint32_t pe = 0; pe < 3; pe++)
        assert_row(&t, pe,
                   (kb_deadlocked){.pe = pe,
                                   .call = "tl_recv",
                                   .line = line_of_pe(&t, pe),
                                   .lacks = "a message",
                                   .waits_for = of[pe],
                                   .other_tag = -1,
                                   .cycle = pe > 0},
                   3);
    assert_non_null(strstr(t.why.text, "deadlock: 3 commands never end: kernel talk on c0.pe1: "));
    assert_non_null(strstr(t.why.text, " lacks a message from c0.pe2 under tag 0 since "));
}

/* What is under way beside is not what a PE waits for: 1 waits for 0, but 0 for 2. */
static void receives_beside(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    for (int tag = 0; tag < TL_TAGS && tl_pe(tl) == 0; tag++)
        tl_recv_async(tl, 1, tag, KB_F32, KB_SHAPE(1));
    tl_recv(tl, tl_pe(tl) == 0 ? 2 : 0, 0, KB_F32, KB_SHAPE(1));
}

static void what_is_under_way_beside_makes_no_circle(void **state)
{
    static const uint32_t pes[] = {0, 1};
    struct told t;

    (void)state;
    stop(&cube8_topology, receives_beside, pes, 2, &t);
    assert_int_equal(t.n, TL_TAGS + 2);
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(t.row[i].cycle, 0);
    for (int tag = 0; tag < TL_TAGS; tag++)
        assert_int_equal(t.row[tag].tag, tag); /* in order of issue */
    assert_int_equal(t.row[TL_TAGS].waits_for, 2);
}

/* 0 returns with receives of 1 and 2 under way; both wait for it, but it will never send. */
static void returns_too_early(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    if (tl_pe(tl) > 0)
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1));
    else
        for (uint32_t pe = 1; pe < 3; pe++)
            tl_recv_async(tl, pe, 0, KB_F32, KB_SHAPE(1));
}

static void a_kernel_that_has_returned_is_in_no_circle(void **state)
{
    static const uint32_t pes[] = {0, 1, 2}, waits_for[] = {1, 2, 0, 0};
    struct told t;

    (void)state;
    stop(&cube8_topology, returns_too_early, pes, 3, &t);
    assert_int_equal(t.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(t.row[i].waits_for, waits_for[i]);
        assert_string_equal(t.row[i].state, i < 2 ? "waiting" : "ended");
        assert_int_equal(t.row[i].cycle, 0);
    }
}

/* -- barriers ------------------------------------------------------------------------------- */

static const uint32_t members[] = {3, 0, 2, 1};

static void does_not_come(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    mark(tl, args, 0);
    line_is(args, pe, __LINE__ + 2);
    if (pe == 0 || pe == 2)
        tl_barrier(tl, (tl_group){.pes = members, .n = 4});
}

static void a_barrier_that_members_never_reach(void **state)
{
    static const uint32_t pes[] = {0, 1, 2};
    struct told t;

    (void)state;
    stop(&cube8_topology, does_not_come, pes, 3, &t);
    assert_int_equal(t.n, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_row(&t, i,
                   (kb_deadlocked){.pe = 2 * i,
                                   .call = "tl_barrier",
                                   .line = line_of_pe(&t, 2 * i),
                                   .lacks = "a member",
                                   .waits_for = 1,
                                   .tag = -1,
                                   .other_tag = -1,
                                   .n_missing = 2},
                   3);
}

/* PE 0 is in one group with 1 and waits there, PE 1 in another with 0: a circle of two. */
static void waits_in_groups_that_differ(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);
    tl_group group = {.n = 2 + pe};

    mark(tl, args, 0);
    if (pe > 1)
        return;
    line_is(args, pe, __LINE__ + 1);
    tl_barrier(tl, group);
}

static void groups_that_differ_are_two_barriers(void **state)
{
    static const uint32_t pes[] = {0, 1, 2};
    struct told t;

    (void)state;
    stop(&cube8_topology, waits_in_groups_that_differ, pes, 3, &t);
    assert_int_equal(t.n, 2);
    for (uint32_t pe = 0; pe < 2; pe++)
        assert_row(&t, pe,
                   (kb_deadlocked){.pe = pe,
                                   .call = "tl_barrier",
                                   .line = line_of_pe(&t, pe),
                                   .lacks = "a member",
                                   .waits_for = 1 - pe,
                                   .tag = -1,
                                   .other_tag = -1,
                                   .n_missing = 1 + pe,
                                   .cycle = 1},
                   3);
}

/* 0 and 1 lack 2 and 3 at a barrier, 3 lacks 6 and 7 at another, and 7 a message of 1. */
static void waits_across_barriers(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t group[] = {3, 6, 7};
    uint32_t pe = tl_pe(tl);

    mark(tl, args, 0);
    if (pe < 2)
        tl_barrier(tl, (tl_group){.n = 4});
    if (pe == 3)
        tl_barrier(tl, (tl_group){.pes = group, .n = 3});
    if (pe == 2 || pe == 7)
        tl_recv(tl, pe == 2 ? 8 : 1, 0, KB_F32, KB_SHAPE(1));
}

/* The lowest members are missing too, but no way leads back from them. */
static void a_circle_goes_through_barriers(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 6, 7}, rows[] = {0, 1, 2, 3, 7},
                          waits_for[] = {3, 3, 8, 7, 1}, missing[] = {2, 2, 0, 2, 0},
                          cycle[] = {0, 1, 0, 1, 1};
    struct told t;

    (void)state;
    stop(&cube8_topology, waits_across_barriers, pes, 6, &t);
    assert_int_equal(t.n, LENGTH(rows));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(t.row[i].pe, rows[i]);
        assert_int_equal(t.row[i].waits_for, waits_for[i]);
        assert_int_equal(t.row[i].n_missing, missing[i]);
        assert_int_equal(t.row[i].cycle, cycle[i]);
    }
}

/* 1, 2 and 3 are missing; 2 and 3 wait for 0, which waits for them. */
static void two_ways_back(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    if (tl_pe(tl) == 0)
        tl_barrier(tl, (tl_group){.n = 4});
    else if (tl_pe(tl) > 1)
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1));
}

static void the_lowest_member_in_a_circle_is_waited_for(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3};
    struct told t;

    (void)state;
    stop(&cube8_topology, two_ways_back, pes, 4, &t);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.row[0].waits_for, 2);
    assert_int_equal(t.row[0].n_missing, 3);
    assert_int_equal(t.row[0].cycle, 1);
    assert_int_equal(t.row[1].cycle, 1);
    assert_int_equal(t.row[2].cycle, 0);
}

/* One of 64 receives, the others wait for it at a barrier: all are told, in order of PEs. */
static void one_of_all_is_missing(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    if (tl_pe(tl) == 5)
        tl_recv(tl, 7, 0, KB_F32, KB_SHAPE(1));
    tl_barrier(tl, tl_all(tl));
}

static void all_wait_for_one(void **state)
{
    struct told t;

    (void)state;
    stop(&cube8_topology, one_of_all_is_missing, NULL, 64, &t);
    assert_int_equal(t.n, 64);
    for (uint32_t pe = 0; pe < 64; pe++) {
        const kb_deadlocked *b = &t.row[pe];

        assert_int_equal(b->pe, pe);
        assert_int_equal(b->waits_for, pe == 5 ? 7 : 5);
        assert_int_equal(b->tag, pe == 5 ? 0 : -1);
        assert_int_equal(b->n_missing, pe == 5 ? 0 : 1);
        assert_int_equal(b->cycle, pe == 5 || pe == 7);
        assert_string_equal(b->lacks, pe == 5 ? "a message" : "a member");
    }
}

/* -- any ways to wait ----------------------------------------------------------------------- */

enum { TALKERS = 8 };

/* What each PE does: waits in the group of the bits, else receives of `of`, which is itself: ends.
 */
static struct plan {
    uint32_t of, group;
} plan[TALKERS];

static void as_planned(tl_ctx *tl, const kb_args *args)
{
    const struct plan *p = &plan[tl_pe(tl)];
    uint32_t pes[TALKERS];
    size_t n = 0;

    (void)args;
    for (uint32_t i = 0; i < TALKERS; i++)
        if (p->group >> i & 1)
            pes[n++] = i;
    if (n > 0)
        tl_barrier(tl, (tl_group){.pes = pes, .n = n});
    else if (p->of != tl_pe(tl))
        tl_recv(tl, p->of, 0, KB_F32, KB_SHAPE(1));
}

static void make_plan(uint64_t seed)
{
    uint32_t groups[2];

    for (int i = 0; i < 2; i++)
        groups[i] = (uint32_t)ops_random(&seed) % (1 << TALKERS);
    for (uint32_t pe = 0; pe < TALKERS; pe++) {
        uint32_t kind = (uint32_t)(ops_random(&seed) % 8), group = groups[kind & 1];

        plan[pe] = (struct plan){.of = (uint32_t)(ops_random(&seed) % TALKERS)};
        if (kind < 4 && group >> pe & 1)
            plan[pe].group = group;
    }
    plan[0] = (struct plan){.of = 1};
}

/* Does `pe` wait for `other`, by the rows of waits? */
static bool waits_for(const bool *waits, uint32_t pe, uint32_t other)
{
    uint32_t group = plan[pe].group;

    if (!waits[pe] || !group)
        return waits[pe] && plan[pe].of == other;
    return group >> other & 1 && !(waits[other] && plan[other].group == group);
}

/* Which PE waits for which over any others. */
static void close_ways(const bool *waits, bool way[TALKERS][TALKERS])
{
    for (uint32_t i = 0; i < TALKERS; i++)
        for (uint32_t j = 0; j < TALKERS; j++)
            way[i][j] = waits_for(waits, i, j);
    for (uint32_t over = 0; over < TALKERS; over++)
        for (uint32_t i = 0; i < TALKERS; i++)
            for (uint32_t j = 0; j < TALKERS; j++)
                way[i][j] = way[i][j] || (way[i][over] && way[over][j]);
}

/* Of those that `pe` lacks at its barrier. */
static uint32_t expected_at_barrier(const bool *waits, bool way[TALKERS][TALKERS], uint32_t pe)
{
    uint32_t lowest = TALKERS;

    for (uint32_t m = TALKERS; m-- > 0;)
        if (waits_for(waits, pe, m))
            lowest = m;
    for (uint32_t m = 0; m < TALKERS; m++)
        for (uint32_t there = 0; there < TALKERS; there++)
            if (waits_for(waits, pe, m) && waits[there] && plan[there].group == plan[pe].group &&
                way[m][there])
                return m;
    return lowest;
}

/* True if there was a circle with a barrier in it. */
static bool check_plan(const struct told *t)
{
    bool waits[TALKERS] = {false}, way[TALKERS][TALKERS], told[TALKERS] = {false}, any = false;

    for (size_t i = 0; i < t->n; i++)
        waits[t->row[i].pe] = true;
    close_ways(waits, way);
    for (size_t i = 0; i < t->n; i++) {
        const kb_deadlocked *b = &t->row[i];

        if (plan[b->pe].group)
            assert_int_equal(b->waits_for, expected_at_barrier(waits, way, b->pe));
        if (b->cycle)
            assert_true(way[b->pe][b->pe]);
        for (uint32_t pe = 0; pe < TALKERS && b->cycle; pe++)
            told[pe] = told[pe] || (way[pe][b->pe] && way[b->pe][pe]);
        any = any || (b->cycle && plan[b->pe].group);
    }
    for (uint32_t pe = 0; pe < TALKERS; pe++)
        assert_int_equal(told[pe], way[pe][pe]);
    return any;
}

/* PEs that wait for themselves over others have a circle among them that is told. */
static void wherever_there_is_a_circle_one_is_told(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    int circles = 0;
    struct told t;

    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        make_plan(seed);
        stop_once(&cube8_topology, (kb_options){0}, as_planned, pes, TALKERS, &t);
        circles += check_plan(&t);
    }
    assert_true(circles > 300);
}

/* -- what is left --------------------------------------------------------------------------- */

/* Ends well, then not: what ran before is kept. */
static void a_second_launch_that_stops(void **state)
{
    static const uint32_t pes[] = {0, 1};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.oplog = true});
    struct marks m = {.line = 0};
    struct told t = {.n = 0};
    kb_launch_result r;
    kb_error why = {""};
    char *log;

    (void)state;
    launch_talk(sim, does_not_come, &m, (const uint32_t[]){1}, 1);
    launch_talk(sim, receives_before_it_sends, &m, pes, 2);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_DEADLOCK);
    assert_int_equal(kb_launch_done(sim), 1);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    assert_int_equal(kb_sim_deadlocked(sim, keep, &t), KB_OK);
    assert_int_equal(t.n, 2);
    log = log_of(sim);
    free(log);
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_without_a_send),
        cmocka_unit_test(a_receive_from_a_pe_that_was_not_launched),
        cmocka_unit_test(the_lowest_other_tag_of_the_same_sender),
        cmocka_unit_test(a_second_receive_without_a_second_send),
        cmocka_unit_test(receives_under_way_are_told_each),
        cmocka_unit_test(rings_without_slots_are_circles),
        cmocka_unit_test(a_pe_that_waits_for_a_circle_is_not_in_it),
        cmocka_unit_test(what_is_under_way_beside_makes_no_circle),
        cmocka_unit_test(a_kernel_that_has_returned_is_in_no_circle),
        cmocka_unit_test(a_barrier_that_members_never_reach),
        cmocka_unit_test(groups_that_differ_are_two_barriers),
        cmocka_unit_test(a_circle_goes_through_barriers),
        cmocka_unit_test(the_lowest_member_in_a_circle_is_waited_for),
        cmocka_unit_test(all_wait_for_one),
        cmocka_unit_test(wherever_there_is_a_circle_one_is_told),
        cmocka_unit_test(a_second_launch_that_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
