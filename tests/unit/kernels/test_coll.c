/* test_coll.c -- kb_coll.h: values by each algorithm, odd counts, mistakes, times, waits. */
#include "kb_coll.h"
#include "support/talks.h"

#define MS INT64_C(1000000000000) /* in fs */

enum { PES = 8, LONGEST = 3000, APART = 30000 };

struct plan {
    const uint32_t *pes;
    int64_t n;
    kb_coll args;
    char what; /* g: gather, s: reduce_scatter, r: all_reduce, a: all to all, b: broadcast, u:
                  reduce */
    kb_tensor *x, *y;
    const kb_topology *on; /* NULL: cube8 */
    bool in_place;
};

static int64_t begin_of(const struct plan *p, int64_t rank)
{
    return p->args.count / p->n * rank + p->args.count % p->n * rank / p->n;
}

static int64_t rank_of(const struct plan *p, uint32_t pe)
{
    int64_t rank = 0;

    while (p->pes[rank] != pe)
        rank++;
    return rank;
}

/* Element e of rank r is 1 + APART r + e, of the numbers that lie in each slice. */
static void calls(tl_ctx *tl, const kb_args *args)
{
    const struct plan *p = args->user;
    kb_group g = kb_group_list(tl, p->pes, p->n);
    kb_coll c = p->args;

    c.in = kb_tensor_shard(p->x, tl_pe(tl)).address + 4 * APART * (uint64_t)rank_of(p, tl_pe(tl));
    c.out = p->in_place ? c.in : kb_tensor_shard(p->y, tl_pe(tl)).address;
    if (p->what == 'g')
        kb_all_gather_at(TL_HERE, tl, g, c);
    else if (p->what == 's')
        kb_reduce_scatter_at(TL_HERE, tl, g, c);
    else if (p->what == 'r')
        kb_all_reduce_at(TL_HERE, tl, g, c);
    else if (p->what == 'a')
        kb_all_to_all_at(TL_HERE, tl, g, c);
    else if (p->what == 'b')
        kb_broadcast_at(TL_HERE, tl, g, c);
    else
        kb_reduce_at(TL_HERE, tl, g, c);
    kb_coll_barrier(tl, g);
}

/* What lies at element e of the output of a rank; < 0: nothing. */
static double expected(const struct plan *p, int64_t rank, int64_t e)
{
    int64_t first = p->what == 's' ? begin_of(p, rank) : 0, owner = 0;

    if (p->what == 'u' && rank != p->args.root)
        return -1;
    if (p->what == 's' && first + e >= begin_of(p, rank + 1))
        return -1;
    if (e >= p->args.count)
        return -1;
    if (p->what == 'b')
        return (double)(1 + APART * p->args.root + e);
    if (p->what == 'a')
        return (double)(1 + APART * (e / (p->args.count / p->n)) + begin_of(p, rank) +
                        e % (p->args.count / p->n));
    if (p->what != 'g')
        return (double)(p->n * (1 + first + e) + APART * p->n * (p->n - 1) / 2);
    while (begin_of(p, owner + 1) <= e)
        owner++;
    return (double)(1 + APART * owner + e - begin_of(p, owner));
}

static void check_rank(const struct plan *p, int64_t rank, const float *is)
{
    for (int64_t e = 0; e < LONGEST; e++) {
        double should = expected(p, rank, e);

        if (should >= 0 && (double)is[e] != should)
            fail_msg("%c of %d, algorithm %d, %d elements: rank %d has %f at %d, not %f", p->what,
                     (int)p->n, (int)p->args.algorithm, (int)p->args.count, (int)rank,
                     (double)is[e], (int)e, should);
    }
}

static int by_number(const void *a, const void *b)
{
    return (int)*(const uint32_t *)a - (int)*(const uint32_t *)b;
}

static kb_status run_plan(struct plan *p, kb_sim *sim, kb_error *why)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    uint32_t sorted[PES];
    kb_launch_request r = {.name = "calls", .kernel = calls, .args.user = p, .pes = sorted};

    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(PES * APART), copies, &p->x, why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(p->x, 1, 1, why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "y", KB_F32, KB_SHAPE(LONGEST), copies, &p->y, why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(p->y, 0, 0, why), KB_OK);
    memcpy(sorted, p->pes, (size_t)p->n * sizeof *sorted);
    qsort(sorted, (size_t)p->n, sizeof *sorted, by_number);
    r.n_pes = (size_t)p->n;
    assert_int_equal(kb_launch(sim, &r, why), KB_OK);
    return kb_sim_run(sim, 0, why);
}

/* How long a run of it takes. */
static int64_t time_of(const struct kb_topology *topology, struct plan p)
{
    kb_sim *sim = new_sim(topology, (kb_options){0});
    kb_error why = {""};
    kb_launch_result launched;

    p.args.dtype = KB_F32;
    p.args.op = TL_ADD;
    assert_int_equal(run_plan(&p, sim, &why), KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &launched), KB_OK);
    kb_sim_free(sim);
    return launched.last_end_fs - launched.start_fs;
}

static void check(struct plan p)
{
    const void *is;
    kb_sim *sim = new_sim(p.on ? p.on : &cube8_topology, (kb_options){.phase2 = true});
    kb_error why = {""};

    p.args.dtype = KB_F32;
    p.args.op = TL_ADD;
    if (run_plan(&p, sim, &why) != KB_OK || kb_compute(sim, NULL, &why) != KB_OK)
        fail_msg("%c of %d, %d elements: %s", p.what, (int)p.n, (int)p.args.count, why.text);
    for (int64_t rank = 0; rank < p.n; rank++) {
        assert_int_equal(kb_tensor_part(p.y, p.pes[rank], &is, &why), KB_OK);
        check_rank(&p, rank, is);
    }
    kb_sim_free(sim);
}

/* Also in an order that is not that of the numbers, and across cubes. */
static void every_rank_has_what_it_should(void **state)
{
    static const uint32_t pes[] = {3, 0, 9, 1, 17, 7, 2, 33};
    static const int64_t n[] = {1, 2, 3, 5, 8}, counts[] = {0, 7, 1000, LONGEST};

    static const kb_coll_algorithm algorithms[] = {
        KB_COLL_AUTO,    KB_COLL_RING,    KB_COLL_LINE, KB_COLL_DIRECT,
        KB_COLL_HALVING, KB_COLL_ONE_WAY, KB_COLL_TREE, KB_COLL_DOUBLE_TREE};
    static const char *const calls_of[] = {"gsrabu", "gsrbu", "gsrbu", "gsra",
                                           "r",      "gsrbu", "rbu",   "r"};

    (void)state;
    for (size_t i = 0; i < LENGTH(n); i++)
        for (size_t j = 0; j < LENGTH(counts); j++)
            for (size_t a = 0; a < LENGTH(algorithms); a++)
                for (const char *what = calls_of[a]; *what; what++)
                    check((struct plan){
                        .pes = pes,
                        .n = n[i],
                        .what = *what,
                        .args = {.count = counts[j] - (*what == 'a' ? counts[j] % n[i] : 0),
                                 .algorithm = algorithms[a],
                                 .root = n[i] / 2,
                                 .chunk = j % 2 ? 256 : 0}});
}

static void assert_refused(struct plan p, const char *text)
{
    kb_sim *sim = new_sim(p.on ? p.on : &cube8_topology, (kb_options){0});
    kb_error why = {""};

    p.what = p.what ? p.what : 'g';
    p.args.dtype = KB_F32;
    p.args.op = p.args.op ? p.args.op : TL_ADD;
    assert_int_equal(run_plan(&p, sim, &why), KB_KERNEL_ERROR);
    if (!strstr(why.text, text))
        fail_msg("\"%s\" does not say \"%s\"", why.text, text);
    kb_sim_free(sim);
}

/* A TCM of 1 MiB, and queues of `slots` slots. */
static const kb_topology *with_queues(unsigned slots, unsigned slot_bytes)
{
    char yaml[256];

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: small\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pe: {pe_tcm: "
             "{size_mb: 1}, pe_ipcq: {slots: %u, slot_bytes: %u}}}\n",
             slots, slot_bytes);
    return any_topology(yaml);
}

/* Queues of 256 KiB: of three others they fit into 1 MiB, of seven they do not. Pieces take 64 KiB,
 * so 983040 bytes would do: seven queues of 140352 take 982464, of 140544 they take 983808. */
static void small_queues_are_wanted(void)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const kb_topology *wide = with_queues(4, 65536), *most = with_queues(3, 46784);
    const kb_topology *more = with_queues(3, 46848);
    struct plan p = {.pes = pes, .n = 3, .on = wide, .what = 'g', .args = {.count = 9}};

    p.args.algorithm = KB_COLL_DIRECT;
    check(p);
    p.n = 8;
    assert_refused(p, "queues of 1835008 bytes from the other ranks do not fit into a TCM of "
                      "1048576, of 983040 they do; KB_COLL_RING, KB_COLL_ONE_WAY and KB_COLL_LINE "
                      "want those of two");
    p.on = most;
    check(p);
    p.on = more;
    assert_refused(p, "queues of 983808 bytes");
    any_topology_free(wide);
    any_topology_free(most);
    any_topology_free(more);
}

static void mistakes_are_named(void **state)
{
    static const uint32_t pes[] = {0, 1};

    (void)state;
    assert_refused((struct plan){.pes = pes, .n = 2, .args = {.count = -1}}, "-1 elements");
    assert_refused((struct plan){.pes = pes, .n = 2, .args = {.count = 9, .chunk = 2}},
                   "holds no element");
    assert_refused((struct plan){.pes = pes, .n = 2, .args = {.count = 9, .chunk = 1 << 28}},
                   "one of 1048576 does");
    assert_refused((struct plan){.pes = pes, .n = 2, .args = {.count = 9, .algorithm = 99}},
                   "no algorithm 99");
    assert_refused((struct plan){.pes = pes, .n = 2, .what = 'a', .args = {.count = 9}},
                   "9 elements are not as many for each of 2 ranks");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 'a', .args = {.count = 8, .algorithm = KB_COLL_TREE}},
        "there are KB_COLL_DIRECT and KB_COLL_AXES here");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 'a', .args = {.count = 8, .algorithm = KB_COLL_AXES}},
        "cubes and SIPs; here there is KB_COLL_DIRECT");
    assert_refused((struct plan){.pes = pes, .n = 2, .what = 'b', .args = {.count = 9, .root = 2}},
                   "no root 2 among 2 ranks");
    for (const char *what = "rsu"; *what; what++)
        assert_refused(
            (struct plan){.pes = pes, .n = 2, .what = *what, .args = {.count = 9, .op = TL_MAX}},
            "`op` is none of TL_ADD, TL_MAXIMUM, TL_MINIMUM");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 'b', .args = {.count = 9, .algorithm = KB_COLL_DIRECT}},
        "there is no KB_COLL_DIRECT here, but KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, "
        "KB_COLL_TREE");
    assert_refused(
        (struct plan){.pes = pes, .n = 2, .args = {.count = 9, .algorithm = KB_COLL_TREE}},
        "KB_COLL_TREE is for kb_broadcast, kb_reduce, kb_all_reduce; here there are KB_COLL_RING");
    assert_refused(
        (struct plan){.pes = pes, .n = 2, .args = {.count = 9, .algorithm = KB_COLL_DOUBLE_TREE}},
        "KB_COLL_DOUBLE_TREE is for kb_all_reduce; here there are KB_COLL_RING");
    assert_refused((struct plan){.pes = pes,
                                 .n = 2,
                                 .what = 'b',
                                 .args = {.count = 9, .algorithm = KB_COLL_DOUBLE_TREE}},
                   "here there are KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, KB_COLL_TREE");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 'b', .args = {.count = 9, .algorithm = KB_COLL_HALVING}},
        "are for kb_all_reduce; here there are KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, "
        "KB_COLL_TREE");
    assert_refused((struct plan){.pes = pes,
                                 .n = 2,
                                 .what = 'r',
                                 .args = {.count = 9, .algorithm = KB_COLL_HIERARCHICAL}},
                   "that algorithm is for groups of whole rows of PEs, cubes and SIPs; here there "
                   "are KB_COLL_RING");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 's', .args = {.count = 8, .algorithm = KB_COLL_AXES}},
        "here there are KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, KB_COLL_DIRECT");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 'g', .args = {.count = 8, .algorithm = KB_COLL_HALVING}},
        "KB_COLL_HALVING is for kb_all_reduce; here there are KB_COLL_RING, KB_COLL_ONE_WAY, "
        "KB_COLL_LINE, KB_COLL_DIRECT, KB_COLL_AXES, KB_COLL_HIERARCHICAL");
    assert_refused(
        (struct plan){
            .pes = pes, .n = 2, .what = 'r', .args = {.count = 9, .algorithm = KB_COLL_AXES}},
        "KB_COLL_DIRECT, KB_COLL_HALVING, KB_COLL_TREE");
    small_queues_are_wanted();
}

/* Four cubes of 1 PE beside each other, two by two, in three orders: one lap. */
static void rings_go_round_a_lap(void **state)
{
    static const uint32_t orders[][4] = {{0, 8, 32, 40}, {40, 8, 32, 0}, {8, 40, 0, 32}};
    struct plan p = {.n = 4, .args = {.count = 2000, .algorithm = KB_COLL_RING}};

    (void)state;
    for (const char *what = "gsr"; *what; what++) {
        int64_t fs = 0;

        p.what = *what;
        for (size_t i = 0; i < LENGTH(orders); i++) {
            p.pes = orders[i];
            check(p);
            assert_true(i == 0 || time_of(&cube8_topology, p) == fs);
            fs = time_of(&cube8_topology, p);
        }
    }
}

/* Of few elements and of many. */
static void auto_is_the_fastest(void **state)
{
    static const kb_coll_algorithm others[] = {KB_COLL_RING, KB_COLL_LINE, KB_COLL_ONE_WAY};
    static const uint32_t pes[] = {0, 8, 16, 24, 32, 40, 48, 56};
    static const int64_t counts[] = {8, LONGEST};

    (void)state;
    for (const char *what = "gs"; *what; what++)
        for (size_t i = 0; i < LENGTH(counts); i++)
            for (size_t k = 0; k < LENGTH(others); k++) {
                struct plan p = {.pes = pes, .n = 8, .what = *what, .args = {.count = counts[i]}};
                int64_t fs = time_of(&cube8_topology, p);

                p.args.algorithm = others[k];
                assert_true(fs <= time_of(&cube8_topology, p));
            }
}

/* On a plane that goes east and south alone a ring goes its way, if much is sent. */
static void one_way_planes_have_rings_of_one_way(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const kb_topology *plane = any_topology(
        "kernbench: 2\nname: plane\nsip: {cube_mesh: {w: 4, h: 2, wrap: xy}, "
        "planes: [{name: p, dirs: [E, S], order: xy, bw_gbs: 30.0}]}\ncube: {pes: 1}\n");
    struct plan p = {.pes = pes, .n = 8, .what = 'g', .args = {.count = LONGEST}, .on = plane};
    int64_t by_itself, one_way;

    (void)state;
    check(p);
    by_itself = time_of(plane, p);
    p.args.algorithm = KB_COLL_ONE_WAY;
    check(p);
    one_way = time_of(plane, p);
    p.args.algorithm = KB_COLL_RING;
    assert_true(by_itself == one_way && one_way < time_of(plane, p));
    any_topology_free(plane);
}

static uint64_t math_elements(struct plan p)
{
    kb_sim *sim = new_sim(p.on, (kb_options){0});
    kb_error why = {""};
    kb_launch_result r;

    p.args.dtype = KB_F32;
    p.args.op = TL_ADD;
    assert_int_equal(run_plan(&p, sim, &why), KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    kb_sim_free(sim);
    return r.math_elements;
}

/*
 * Memories of 1 us, and one channel: a vector comes and goes as a whole, not in eight parts, each
 * of which would take 1 us. A message takes 4 ns and its bytes. Blocks begin with nothing that
 * counts: what a PE adds is 7 of 8 parts, and the word of the barrier is an element.
 */
static void vectors_of_far_memories_come_in_few_blocks(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const kb_topology *far =
        any_topology("kernbench: 3\nname: far\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pes: 8, hbm: {latency_ns: 1000.0}, pe: {pe_tcm: {size_mb: 1}, "
                     "pe_dma: {read_channels: 1, write_channels: 1}}}\n");
    struct plan p = {.pes = pes, .n = 8, .on = far, .args = {.algorithm = KB_COLL_RING}};

    (void)state;
    for (const char *what = "gsr"; *what; what++)
        for (int64_t count = 1; count <= LONGEST; count += 571) {
            p.what = *what;
            p.args.count = count;
            check(p);
            if (count > 8)
                assert_in_range(time_of(far, p), MS / 1000, (*what == 'r' ? 6 : 4) * MS / 1000);
        }
    p.args.count = 2000;
    p.what = 'g';
    assert_int_equal(math_elements(p), 8);
    p.what = 'r';
    assert_int_equal(math_elements(p), 8 + 7 * 2000);
    any_topology_free(far);
}

/* Queues of seven others take 1.1 MB of 1; those of a barrier 0.5. */
static void many_exchange_without_queues(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const kb_topology *small = any_topology("kernbench: 2\nname: small\nsip: {cube_mesh: {w: 1, h: "
                                            "1}}\ncube: {pe: {pe_tcm: {size_mb: 1}, "
                                            "pe_ipcq: {slots: 5, slot_bytes: 32768}}}\n");
    struct plan p = {.pes = pes, .n = 8, .what = 'a', .args = {.count = 2000}, .on = small};

    (void)state;
    check(p);
    p.n = 7;
    p.args.count = 21;
    check(p);
    p.in_place = true;
    p.n = 8;
    p.args.count = 800;
    assert_refused(p, "queues from 7 ranks, which that wants, do not fit");
    any_topology_free(small);
}

/* All are as near behind a switch, so that they would send at once; queues of four take 1 MB of 1,
 * those of a ring half of it. */
static void those_that_are_near_have_queues_that_fit(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};
    const kb_topology *small = any_topology(
        "kernbench: 3\nname: small\nsips: 5\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, pe: "
        "{pe_tcm: {size_mb: 1}, pe_ipcq: {slots: 8, slot_bytes: 32768}}}\n");
    struct plan p = {.pes = pes, .n = 5, .what = 'r', .args = {.count = 2000}, .on = small};

    (void)state;
    check(p);
    p.args.algorithm = KB_COLL_DIRECT;
    assert_refused(p, "queues of 1048576 bytes from the other ranks do not fit");
    any_topology_free(small);
}

static const kb_topology *line_of_five(const char *software)
{
    char yaml[256];

    snprintf(yaml, sizeof yaml,
             "kernbench: 2\nname: line\nsoftware: {%s}\nsip: {cube_mesh: {w: 5, h: 1}}\n"
             "cube: {pes: 1}\n",
             software);
    return any_topology(yaml);
}

/*
 * Rings and lines of n pay for n - 1 parts, an all_reduce twice; then a barrier pays three times.
 * Pieces of a part take longer than 10 ns, but hide nothing of that; the first load may, once.
 */
static void each_part_that_comes_is_paid(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};
    const kb_topology *free_of_cost = line_of_five("");
    const kb_topology *little = line_of_five("step_ns: 10, unit: cube");
    const kb_topology *much = line_of_five("step_ns: 1.0e+6, unit: cube");

    (void)state;
    for (int a = KB_COLL_RING; a <= KB_COLL_LINE; a++)
        for (const char *what = "gsr"; *what; what++) {
            int paid = *what == 'r' ? 8 + 3 : 4 + 3;
            struct plan p = {.pes = pes,
                             .n = 5,
                             .what = *what,
                             .args = {.count = LONGEST, .algorithm = (kb_coll_algorithm)a}};

            assert_int_equal(time_of(much, p) / MS, paid);
            assert_true(time_of(little, p) >= time_of(free_of_cost, p) + 10000000 * (paid - 1));
        }
    any_topology_free(free_of_cost);
    any_topology_free(little);
    any_topology_free(much);
}

/* What a launch counts of that, and of sends that wait for slots, of pieces that wait for a
 * channel. */
static void waits_are_counted(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};
    const kb_topology *line = any_topology(
        "kernbench: 2\nname: line\nsoftware: {call_ns: 1000.0, step_ns: 10, unit: cube}\n"
        "sip: {cube_mesh: {w: 5, h: 1}}\n"
        "cube: {pes: 1, pe: {pe_ipcq: {slots: 1, slot_bytes: 64}}}\n");
    struct plan p = {.pes = pes, .n = 5, .what = 'r', .args = {.count = LONGEST}, .on = line};
    kb_sim *sim = new_sim(line, (kb_options){0});
    kb_error why = {""};
    kb_launch_result r;

    (void)state;
    p.args.dtype = KB_F32;
    p.args.op = TL_ADD;
    p.args.algorithm = KB_COLL_RING;
    assert_int_equal(run_plan(&p, sim, &why), KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    /* of five: two calls, eight parts; three rounds of the barrier */
    assert_int_equal(r.software_fs, 5 * (3 * 1000 + (8 + 3) * 10) * INT64_C(1000000));
    assert_in_range(r.slot_wait_fs, (r.last_end_fs - r.start_fs) / 2,
                    5 * (r.last_end_fs - r.start_fs));
    assert_true(r.channel_wait_fs >= 0);
    kb_sim_free(sim);
    any_topology_free(line);
}

/* Messages at once to so many PEs, of 4 KiB each at 128 GB/s, and one channel: the second waits 32
 * ns and the way of the first, the third twice that, the first half of it beside the second. */
static void sends_some(tl_ctx *tl, const kb_args *args)
{
    const uint32_t *n = args->user;

    if (tl_pe(tl) == 0) {
        tl_tensor *x = numbers(tl, 0, 1024);

        for (uint32_t to = 1; to <= *n; to++)
            tl_send(tl, to, 0, x);
    } else
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1024));
}

static void channels_are_waited_for(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3};

    (void)state;
    for (uint32_t n = 2; n <= 3; n++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        kb_error why = {""};
        kb_launch_result r;

        launch_talk(sim, sends_some, &n, pes, n + 1);
        assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
        assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
        assert_in_range(r.channel_wait_fs, 25000000 + (n - 2) * 32000000,
                        33000000 + (n - 2) * 33000000);
        assert_int_equal(r.slot_wait_fs, 0);
        assert_int_equal(r.software_fs, 0);
        kb_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_has_what_it_should),
        cmocka_unit_test(rings_go_round_a_lap),
        cmocka_unit_test(auto_is_the_fastest),
        cmocka_unit_test(one_way_planes_have_rings_of_one_way),
        cmocka_unit_test(many_exchange_without_queues),
        cmocka_unit_test(those_that_are_near_have_queues_that_fit),
        cmocka_unit_test(vectors_of_far_memories_come_in_few_blocks),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(each_part_that_comes_is_paid),
        cmocka_unit_test(waits_are_counted),
        cmocka_unit_test(channels_are_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
