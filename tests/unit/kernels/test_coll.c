/* test_coll.c -- kb_coll.h: values by each algorithm, odd counts, lists of PEs, mistakes, times. */
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
    assert_int_equal(run_plan(&p, sim, &why), KB_KERNEL_ERROR);
    if (!strstr(why.text, text))
        fail_msg("\"%s\" does not say \"%s\"", why.text, text);
    kb_sim_free(sim);
}

/* Queues of 256 KiB: of three others they fit into 1 MiB, of seven they do not. */
static void small_queues_are_wanted(void)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const kb_topology *small = any_topology(
        "kernbench: 2\nname: small\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pe: {pe_tcm: "
        "{size_mb: 1}, pe_ipcq: {slots: 4, slot_bytes: 65536}}}\n");
    struct plan p = {.pes = pes, .n = 3, .on = small, .what = 'g', .args = {.count = 9}};

    p.args.algorithm = KB_COLL_DIRECT;
    check(p);
    p.n = 8;
    assert_refused(p, "KB_COLL_RING, KB_COLL_ONE_WAY and KB_COLL_LINE want those of two");
    any_topology_free(small);
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

static void names_one_twice(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t twice[] = {0, 1, 0};

    (void)args;
    kb_all_gather(tl, kb_group_list(tl, twice, 3), .count = 3, .dtype = KB_F32);
}

static void names_none(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t none[] = {0, 64};

    (void)args;
    kb_all_gather(tl, kb_group_list(tl, none, 2), .count = 2, .dtype = KB_F32);
}

static void is_not_in_it(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t others[] = {1, 2};

    (void)args;
    kb_all_gather(tl, kb_group_list(tl, others, 2), .count = 3, .dtype = KB_F32);
}

static void groups_are_checked(void **state)
{
    static const uint32_t one[] = {0};

    (void)state;
    assert_non_null(
        strstr(mistake_of(&cube8_topology, names_one_twice, NULL, one, 1, KB_KERNEL_ERROR).text,
               "PE 0 of the group comes twice"));
    assert_non_null(
        strstr(mistake_of(&cube8_topology, names_none, NULL, one, 1, KB_KERNEL_ERROR).text,
               "PE 64 of the group does not exist"));
    assert_non_null(
        strstr(mistake_of(&cube8_topology, is_not_in_it, NULL, one, 1, KB_KERNEL_ERROR).text,
               "the PE itself is not in the group"));
}

/* A place there. */
static uint64_t in_own_slice(tl_ctx *tl)
{
    kb_endpoint slice;

    kb_pe_slice(tl_topology(tl), tl_pe(tl), &slice);
    return kb_address(tl_topology(tl), &slice, 1 << 20);
}

/* 2 from each of three ranks, in every type that adds. */
static void twos(tl_ctx *tl, const kb_args *args)
{
    kb_dtype dtype = *(const kb_dtype *)args->user;
    static const uint32_t pes[] = {0, 1, 2};
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);

    tl_store(tl, at, tl_full(tl, dtype, KB_SHAPE(37), 2));
    kb_all_reduce(tl, kb_group_list(tl, pes, 3), .in = at, .out = out, .count = 37, .dtype = dtype,
                  .op = TL_ADD);
    for (int64_t i = 0; i < 37; i += 12)
        if (tl_value(tl, tl_load(tl, out, dtype, KB_SHAPE(37)), i) != 6)
            tl_fail(tl, "the sum is not 6");
}

static void every_type_is_summed(void **state)
{
    static const kb_dtype types[] = {KB_F64, KB_F32, KB_F16, KB_BF16,
                                     KB_I64, KB_I32, KB_I16, KB_I8};

    (void)state;
    for (size_t i = 0; i < LENGTH(types); i++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});
        kb_error why = {""};

        assert_int_equal(launch(sim, twos, &types[i], 3, &why), KB_OK);
        if (kb_sim_run(sim, 0, &why) != KB_OK)
            fail_msg("type %d: %s", (int)types[i], why.text);
        kb_sim_free(sim);
    }
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

/* Names; an estimate of each algorithm that the call has; each PE once in the order of rings. */
static void tells(tl_ctx *tl, const kb_args *args)
{
    int64_t fs[KB_COLL_ALGORITHMS];
    const uint32_t *order = kb_coll_order(tl, kb_group_all(tl));
    uint64_t seen = 0;

    (void)args;
    for (uint32_t i = 0; i < 64; i++)
        seen |= UINT64_C(1) << order[i];
    if (~seen)
        tl_fail(tl, "a PE is missing");
    for (kb_coll_algorithm a = KB_COLL_AUTO; a < KB_COLL_ALGORITHMS; a++)
        if (kb_coll_parse(kb_coll_name(a)) != a)
            tl_fail(tl, "a name of another");
    if (kb_coll_parse("mesh") != KB_COLL_ALGORITHMS)
        tl_fail(tl, "a name of none");
    kb_coll_estimates(tl, kb_group_all(tl), KB_ALL_REDUCE, fs, .count = 64, .dtype = KB_F16);
    if (fs[KB_COLL_AUTO] >= 0 || fs[KB_COLL_DIRECT] >= 0 || fs[KB_COLL_TREE] <= 0 ||
        fs[KB_COLL_RING] < fs[KB_COLL_AXES])
        tl_fail(tl, "estimates of an all_reduce");
    kb_coll_estimates(tl, kb_group_all(tl), KB_BROADCAST, fs, .count = 64, .dtype = KB_F16);
    if (fs[KB_COLL_AXES] >= 0 || fs[KB_COLL_TREE] > fs[KB_COLL_RING])
        tl_fail(tl, "estimates of a broadcast");
}

static void what_auto_weighs_is_told(void **state)
{
    static const uint32_t one[] = {0};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};

    (void)state;
    launch_talk(sim, tells, NULL, one, 1);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

/* The sum of 1 + pe over all members, in each element, and by their numbers. */
static void sums_to(tl_ctx *tl, kb_group g, kb_coll_algorithm algorithm, double sum)
{
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);

    tl_store(tl, at, tl_full(tl, KB_F32, KB_SHAPE(137), 1 + tl_pe(tl)));
    kb_all_reduce(tl, g, .in = at, .out = out, .count = 137, .dtype = KB_F32, .op = TL_ADD,
                  .algorithm = algorithm);
    for (int64_t i = 0; i < 137; i += 34)
        if (tl_value(tl, tl_load(tl, out, KB_F32, KB_SHAPE(137)), i) != sum)
            tl_fail(tl, "that is not the sum");
}

/* Parts of 13 elements: rank r gives 1000 r + e; of sums rank r gets the elements of its part. */
static void parts_of(tl_ctx *tl, kb_group g, int64_t rank, kb_coll_algorithm algorithm)
{
    enum { PART = 13 };
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);
    int64_t n = g.n, all = PART * n;

    tl_store(tl, at, tl_arange(tl, KB_F32, PART, 1000.0 * (double)rank, 1));
    kb_all_gather(tl, g, .in = at, .out = out, .count = all, .dtype = KB_F32,
                  .algorithm = algorithm, .chunk = 64);
    for (int64_t i = 0; i < all; i += 5)
        if (tl_value(tl, tl_load(tl, out, KB_F32, KB_SHAPE(all)), i) !=
            (double)(1000 * (i / PART) + i % PART))
            tl_fail(tl, "that is of another rank");
    kb_reduce_scatter(tl, g, .in = out, .out = at, .count = all, .dtype = KB_F32, .op = TL_ADD,
                      .algorithm = algorithm, .chunk = 256);
    for (int64_t i = 0; i < PART; i++)
        if (tl_value(tl, tl_load(tl, at, KB_F32, KB_SHAPE(PART)), i) !=
            (double)(n * (1000 * rank + i)))
            tl_fail(tl, "that is not the sum");
}

/* tray: 2 SIPs of 2 x 2 cubes of 2 PEs: pe, x, y, sip are the bits of a number. */
static void rows_of_pes(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    (void)args;
    sums_to(tl, kb_group_all(tl), KB_COLL_AUTO, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_AXES, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_HALVING, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_HIERARCHICAL, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_AXES_HALVING, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_TREE, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_DOUBLE_TREE, 136);
    sums_to(tl, kb_group_sip(tl), KB_COLL_HIERARCHICAL, pe < 8 ? 36 : 100);
    sums_to(tl, kb_group_sip(tl), KB_COLL_AXES, pe < 8 ? 36 : 100);
    sums_to(tl, kb_group_cubes(tl), KB_COLL_AXES, pe % 2 ? 72 : 64);
    sums_to(tl, kb_group_sips(tl), KB_COLL_AUTO, 2 * (pe % 8 + 1) + 8);
    parts_of(tl, kb_group_all(tl), pe, KB_COLL_AXES);
    parts_of(tl, kb_group_all(tl), pe, KB_COLL_HIERARCHICAL);
    parts_of(tl, kb_group_all(tl), pe, KB_COLL_AUTO);
    parts_of(tl, kb_group_sip(tl), pe % 8, KB_COLL_AXES);
    parts_of(tl, kb_group_cubes(tl), pe / 2, KB_COLL_AXES);
    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++)
        sums_to(tl, kb_group_axis(tl, axis), KB_COLL_AUTO,
                2 * (pe + 1) + ((pe >> axis & 1) ? -1.0 : 1.0) * (1 << axis));
}

static void uneven_along_axes(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = in_own_slice(tl);

    (void)args;
    kb_all_gather(tl, kb_group_all(tl), .in = at, .out = at + (1 << 20), .count = 17,
                  .dtype = KB_F32, .algorithm = KB_COLL_AXES);
}

static void rows_are_for_even_parts(const kb_topology *topo)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};

    assert_int_equal(launch(sim, uneven_along_axes, NULL, 0, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "that algorithm is for even parts; KB_COLL_RING"));
    kb_sim_free(sim);
}

static void groups_are_rows_of_the_machine(void **state)
{
    const kb_topology *tray =
        any_topology("kernbench: 2\nname: tray\nsip: {cube_mesh: {w: 2, h: 2}}\n"
                     "cube: {pes: 2}\nsips: 2\n");
    kb_sim *sim = new_sim(tray, (kb_options){.values = true});
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, rows_of_pes, NULL, 0, &why), KB_OK);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    rows_are_for_even_parts(tray);
    any_topology_free(tray);
}

static void one_comes_late(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};

    if (tl_pe(tl) == 3)
        numbers(tl, 0, 16384);
    mark(tl, args, 0);
    kb_coll_barrier(tl, kb_group_list(tl, pes, 5));
    mark(tl, args, 1);
}

static void a_barrier_waits_for_the_last(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, one_comes_late, &m, pes, 5));
    for (int pe = 0; pe < 5; pe++)
        assert_true(m.fs[pe][1] > m.fs[3][0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_has_what_it_should),
        cmocka_unit_test(every_type_is_summed),
        cmocka_unit_test(rings_go_round_a_lap),
        cmocka_unit_test(auto_is_the_fastest),
        cmocka_unit_test(one_way_planes_have_rings_of_one_way),
        cmocka_unit_test(many_exchange_without_queues),
        cmocka_unit_test(vectors_of_far_memories_come_in_few_blocks),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(groups_are_checked),
        cmocka_unit_test(groups_are_rows_of_the_machine),
        cmocka_unit_test(a_barrier_waits_for_the_last),
        cmocka_unit_test(each_part_that_comes_is_paid),
        cmocka_unit_test(waits_are_counted),
        cmocka_unit_test(channels_are_waited_for),
        cmocka_unit_test(what_auto_weighs_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
