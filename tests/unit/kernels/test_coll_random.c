/* test_coll_random.c -- collectives end, and give what they should, on random machines; 256 ranks;
 * 1 GiB.
 *
 * KB_SEEDS=N in the environment runs seeds 1..N; each is a machine, a group and a count.
 */
#include "kb_coll.h"
#include <stdio.h>
#include <stdlib.h>
#include "judge/kernel.h"
#include "base/rng.h"
#include "support/seeds.h"
#include "support/talks.h"

enum { SEEDS = 12, RANKS_MOST = 24, COUNT_MOST = 300, ROOM = 4096 };

struct plan {
    uint32_t pes[256];
    int64_t n, count, root;
    kb_coll_algorithm algorithm;
    char what; /* g: gather, s: reduce_scatter, r: all_reduce, a: all to all, b: broadcast,
                  u: reduce */
};

static int64_t begin_of(const struct plan *p, int64_t rank)
{
    return p->count / p->n * rank + p->count % p->n * rank / p->n;
}

static void call(tl_ctx *tl, char what, kb_group g, kb_coll c)
{
    if (what == 'g')
        kb_all_gather_at(TL_HERE, tl, g, c);
    else if (what == 's')
        kb_reduce_scatter_at(TL_HERE, tl, g, c);
    else if (what == 'r')
        kb_all_reduce_at(TL_HERE, tl, g, c);
    else if (what == 'a')
        kb_all_to_all_at(TL_HERE, tl, g, c);
    else if (what == 'b')
        kb_broadcast_at(TL_HERE, tl, g, c);
    else
        kb_reduce_at(TL_HERE, tl, g, c);
}

/* Rank r has 1 + r in each element. */
static int64_t expected(const struct plan *p, int64_t e)
{
    int64_t owner = 0;

    if (p->what == 'b')
        return 1 + p->root;
    if (p->what == 's' || p->what == 'r' || p->what == 'u')
        return p->n * (p->n + 1) / 2;
    while (begin_of(p, owner + 1) <= e)
        owner++;
    return 1 + owner;
}

static int64_t results_of(const struct plan *p, int64_t rank)
{
    if (p->what == 'u' && rank != p->root)
        return 0;
    return p->what == 's' ? begin_of(p, rank + 1) - begin_of(p, rank) : p->count;
}

/* What differs in a slice that PEs may share lies apart. */
static void calls(tl_ctx *tl, const kb_args *args)
{
    const struct plan *p = args->user;
    kb_group g = kb_group_list(tl, p->pes, p->n);
    kb_coll c = {.count = p->count, .dtype = KB_I32, .op = TL_ADD, .algorithm = p->algorithm};
    int64_t rank = 0, n;
    kb_endpoint slice;

    while (p->pes[rank] != tl_pe(tl))
        rank++;
    kb_pe_slice(tl_topology(tl), tl_pe(tl), &slice);
    c.in = kb_address(tl_topology(tl), &slice, 2 * ROOM * (uint64_t)tl_pe(tl));
    c.out = kb_address(tl_topology(tl), &slice, 2 * ROOM * (uint64_t)tl_pe(tl) + ROOM);
    c.root = p->root;
    tl_store(tl, c.in, tl_full(tl, KB_I32, KB_SHAPE(p->count), 1 + (double)rank));
    call(tl, p->what, g, c);
    n = results_of(p, rank);
    for (int64_t e = 0; e < n; e += 1 + n / 5)
        if (tl_value(tl, tl_load(tl, c.out, KB_I32, KB_SHAPE(n)), e) != expected(p, e))
            tl_fail(tl, "that is not what it should be");
}

static int by_number(const void *a, const void *b)
{
    return (int)*(const uint32_t *)a - (int)*(const uint32_t *)b;
}

/* Queues that do not fit are refused. */
static void run_plan(const kb_topology *topo, const struct plan *p, uint64_t seed)
{
    kb_sim *sim = new_sim(topo, (kb_options){.values = true});
    uint32_t sorted[256];
    kb_launch_request r = {
        .name = "calls", .kernel = calls, .args.user = p, .pes = sorted, .n_pes = (size_t)p->n};
    kb_error why = {""};
    kb_status status;

    memcpy(sorted, p->pes, (size_t)p->n * sizeof *sorted);
    qsort(sorted, (size_t)p->n, sizeof *sorted, by_number);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    status = kb_sim_run(sim, 0, &why);
    if (status && !strstr(why.text, "fit"))
        fail_msg("seed %d, %c of %d by %s: %s", (int)seed, p->what, (int)p->n,
                 kb_coll_name(p->algorithm), why.text);
    kb_sim_free(sim);
}

static const kb_topology *random_machine(uint64_t seed)
{
    void (*const print[])(FILE *, uint64_t) = {judge_random_kernel_topo, judge_random_kernel_shape,
                                               judge_random_kernel_banks,
                                               judge_random_kernel_caches};
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    const kb_topology *topo;

    print[seed % LENGTH(print)](f, seed);
    fclose(f);
    topo = any_topology(text);
    free(text);
    assert_non_null(topo);
    return topo;
}

static uint64_t below(struct rng *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

/* Some PEs in any order. */
static struct plan random_plan(const kb_topology *topo, struct rng *rng)
{
    uint32_t all = kb_pe_count(topo), at;
    struct plan p = {.n = 1 + (int64_t)below(rng, RANKS_MOST)};

    p.n = p.n < all ? p.n : all;
    for (int64_t i = 0; i < p.n; i++) {
        bool again = true;

        while (again) {
            at = (uint32_t)below(rng, all);
            again = false;
            for (int64_t k = 0; k < i; k++)
                again = again || p.pes[k] == at;
        }
        p.pes[i] = at;
    }
    p.count = 1 + (int64_t)below(rng, COUNT_MOST);
    p.root = (int64_t)below(rng, (uint64_t)p.n);
    return p;
}

static const char *algorithms_of(char what)
{
    return what == 'r'                  ? "012346"
                                          "89"
           : what == 'a'                ? "04"
           : what == 'b' || what == 'u' ? "01238"
                                        : "01234";
}

/* `few`: by AUTO, rings and trees alone. */
static void all_calls(const kb_topology *topo, struct plan p, uint64_t seed, bool few)
{
    for (const char *what = "gsrabu"; *what; what++) {
        int64_t count = p.count;

        p.what = *what;
        p.count -= *what == 'a' ? p.count % p.n : 0;
        for (const char *a = algorithms_of(*what); *a && p.count > 0; a++) {
            if (few && !strchr("018", *a))
                continue;
            p.algorithm = *a == '8'   ? KB_COLL_TREE
                          : *a == '9' ? KB_COLL_DOUBLE_TREE
                                      : (kb_coll_algorithm)(*a - '0');
            run_plan(topo, &p, seed);
        }
        p.count = count;
    }
}

static void collectives_end_on_random_machines(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        const kb_topology *topo = random_machine(seed);
        struct rng rng = rng_of_number(seed, 0);

        all_calls(topo, random_plan(topo, &rng), seed, false);
        any_topology_free(topo);
    }
}

/* -- axes ----------------------------------------------------------------------------------- */

enum { ALL_MOST = 64, LONG = 12007, LONG_ROOM = 65536 };

/* `in` has 1 + r in each element of rank r; parts of as many elements as there is room for. */
static void gather_and_sum(tl_ctx *tl, kb_group g, uint64_t in, uint64_t out)
{
    int64_t n = g.n, part = LONG / n;

    kb_all_gather(tl, g, .in = in, .out = out, .count = part * n, .dtype = KB_I32,
                  .algorithm = KB_COLL_AXES);
    for (int64_t e = 0; e < part * n; e += 1 + part / 2 + n / 3)
        if (tl_value(tl, tl_load(tl, out, KB_I32, KB_SHAPE(part * n)), e) != 1 + e / part)
            tl_fail(tl, "that is not what the rank gave");
    kb_reduce_scatter(tl, g, .in = out, .out = in, .count = part * n, .dtype = KB_I32, .op = TL_ADD,
                      .algorithm = KB_COLL_AXES);
    for (int64_t e = 0; e < part; e += 1 + part / 3)
        if (tl_value(tl, tl_load(tl, in, KB_I32, KB_SHAPE(part)), e) !=
            n * (1 + (int64_t)tl_pe(tl)))
            tl_fail(tl, "that is not the sum of the part");
}

/* All PEs, where cubes are alike: rank r has 1 + r in each element, to each it gives 1 + r twice.
 */
static void along_axes(tl_ctx *tl, const kb_args *args)
{
    const struct kb_topology *t = tl_topology(tl);
    kb_group g = kb_group_all(tl);
    int64_t n = g.n, me = tl_pe(tl);
    kb_endpoint slice;
    uint64_t in, out;

    (void)args;
    if (g.axes[KB_X] == 0 || kb_pe_slice(t, tl_pe(tl), &slice))
        return;
    in = kb_address(t, &slice, 2 * LONG_ROOM * (uint64_t)me);
    out = kb_address(t, &slice, 2 * LONG_ROOM * (uint64_t)me + LONG_ROOM);
    tl_store(tl, in, tl_full(tl, KB_I32, KB_SHAPE(LONG), 1 + (double)me));
    kb_all_reduce(tl, g, .in = in, .out = out, .count = LONG, .dtype = KB_I32, .op = TL_ADD,
                  .algorithm = KB_COLL_AXES);
    for (int64_t e = 0; e < LONG; e += 1999)
        if (tl_value(tl, tl_load(tl, out, KB_I32, KB_SHAPE(LONG)), e) != n * (n + 1) / 2)
            tl_fail(tl, "that is not the sum");
    kb_all_to_all(tl, g, .in = in, .out = out, .count = 2 * n, .dtype = KB_I32,
                  .algorithm = KB_COLL_AXES);
    for (int64_t e = 0; e < 2 * n; e += 1 + n / 4)
        if (tl_value(tl, tl_load(tl, out, KB_I32, KB_SHAPE(2 * n)), e) != 1 + e / 2)
            tl_fail(tl, "that is of another rank");
    gather_and_sum(tl, g, in, out);
}

/* Of so many machines some have cubes that are alike, few PEs and memory. */
static void axes_do_on_random_machines(void **state)
{
    int ran = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const kb_topology *topo = random_machine(seed);
        kb_sim *sim = new_sim(topo, (kb_options){.values = true});
        kb_launch_request r = {.name = "axes", .kernel = along_axes};
        kb_endpoint slice;
        kb_error why = {""};

        if (kb_pe_count(topo) <= ALL_MOST && kb_pe_slice(topo, 0, &slice) == KB_OK &&
            kb_memory_bytes(topo, &slice) >= 2 * LONG_ROOM * (uint64_t)kb_pe_count(topo)) {
            assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
            if (kb_sim_run(sim, 0, &why) && !strstr(why.text, "fit"))
                fail_msg("seed %d: %s", (int)seed, why.text);
            ran++;
        }
        kb_sim_free(sim);
        any_topology_free(topo);
    }
    assert_true(ran >= SEEDS / 3);
}

static void ranks_may_be_256(void **state)
{
    const kb_topology *topo = any_topology("kernbench: 2\nname: large\nsip: {cube_mesh: {w: 16, h: "
                                           "16}}\ncube: {pes: 1}\n");
    struct plan p = {.n = 256, .count = 300, .root = 7};

    (void)state;
    for (uint32_t i = 0; i < 256; i++)
        p.pes[i] = i;
    all_calls(topo, p, 0, true);
    any_topology_free(topo);
}

/* -- 1 GiB ---------------------------------------------------------------------------------- */

enum { GIB = 1 << 30 };

static void gathers_much(tl_ctx *tl, const kb_args *args)
{
    kb_group g = kb_group_all(tl);
    kb_endpoint slice;
    uint64_t at;

    (void)args;
    kb_pe_slice(tl_topology(tl), tl_pe(tl), &slice);
    at = kb_address(tl_topology(tl), &slice, 0);
    kb_all_reduce(tl, g, .in = at, .out = at, .count = GIB / 2, .dtype = KB_F16, .op = TL_ADD);
    kb_broadcast(tl, g, .in = at, .out = at, .count = GIB / 2, .dtype = KB_F16);
}

/* Between neighbours at 100 GB/s, two ways round: at least 2 * 7 / 8 / 2 GiB, and 1 GiB. */
static void a_vector_may_have_1_gib(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 3\nname: eight\nlinks: {l: {bw_gbs: 100.0}}\n"
        "sip: {cubes: 8, net: [{torus: [8], link: l}]}\n"
        "cube: {pes: 1, pe: {pe_tcm: {size_mb: 64}, pe_ipcq: {slot_bytes: 1048576}}}\n");
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_launch_request r = {.name = "much", .kernel = gathers_much};
    kb_launch_result launched;
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_tensor *x;
    kb_error why = {""};
    double least_fs = (7.0 / 8 + 1) * GIB / 100 * 1e6;

    (void)state;
    assert_int_equal(kb_tensor_new(sim, "x", KB_F16, KB_SHAPE(GIB / 2), copies, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_random(x, 1, 1, &why), KB_OK);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    if (kb_sim_run(sim, 0, &why))
        fail_msg("%s", why.text);
    assert_int_equal(kb_launch_get(sim, 0, &launched), KB_OK);
    assert_true((double)(launched.last_end_fs - launched.start_fs) > least_fs);
    assert_true((double)(launched.last_end_fs - launched.start_fs) < 2.5 * least_fs);
    kb_sim_free(sim);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_end_on_random_machines),
        cmocka_unit_test(axes_do_on_random_machines),
        cmocka_unit_test(ranks_may_be_256),
        cmocka_unit_test(a_vector_may_have_1_gib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
