/* test_room.c -- critical paths of kernels that wait for room have no gaps, add up, and are those
 * of both engines: of a few by hand, and at random on machines at random.
 *
 * All tensors of a random kernel have one size, so that room which comes back is room for the next,
 * and it gives back what is still in use. KB_SEEDS=N in the environment runs seeds 1..N.
 */
#include "base/rng.h"
#include "support/breakdowns.h"
#include "support/seeds.h"
#include "support/talks.h"

enum { SEEDS = 50, LIVE_MOST = 28, STEPS_MOST = 40, PES = 4 };

/* What the kernels of a seed have in common. */
struct plan {
    uint64_t seed;
    int64_t rows; /* of each tensor, f16 [rows, rows] */
    size_t most;  /* tensors that have room at once */
    bool talks;
};

/* A kernel on its way. */
struct maker {
    tl_ctx *tl;
    const struct plan *plan;
    struct rng own, common; /* `common` gives the same on all PEs */
    tl_tensor *live[LIVE_MOST];
    bool made[LIVE_MOST];   /* it has content, and may be read */
    bool flying[LIVE_MOST]; /* ... once it has been waited for, if tl_async() is off */
    bool async;
    size_t n;
    tl_acc *acc;
    bool products; /* acc has a content */
};

static uint64_t below(struct rng *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

static kb_shape shape_of(const struct maker *m)
{
    return KB_SHAPE(m->plan->rows, m->plan->rows);
}

static uint64_t any_slice(struct maker *m)
{
    const struct kb_topology *t = tl_topology(m->tl);
    kb_endpoint slice;

    kb_pe_slice(t, (uint32_t)below(&m->own, PES), &slice);
    return kb_address(t, &slice, 1048576 * below(&m->own, 8));
}

static void drop(struct maker *m, size_t i)
{
    tl_free(m->tl, m->live[i]);
    m->live[i] = m->live[--m->n];
    m->made[i] = m->made[m->n];
    m->flying[i] = m->flying[m->n];
}

/* There is a place for one more, if not now, then when what is under way has ended. */
static void make_place(struct maker *m)
{
    while (m->n >= m->plan->most)
        drop(m, below(&m->own, m->n));
}

static void keep(struct maker *m, tl_tensor *x, bool made)
{
    m->live[m->n] = x;
    m->flying[m->n] = made && m->async;
    m->made[m->n++] = made;
}

/* A tensor with content. Its place is counted as that of what comes next, and may be given back. */
static tl_tensor *operand(struct maker *m)
{
    for (size_t tries = 0, i; tries < 8 && m->n > 0; tries++)
        if (m->made[i = below(&m->own, m->n)])
            return m->live[i];
    make_place(m);
    keep(m, tl_load(m->tl, any_slice(m), KB_F16, shape_of(m)), true);
    return m->live[m->n - 1];
}

static void product(struct maker *m)
{
    tl_tensor *a = operand(m), *b = a;

    if (!m->acc)
        m->acc = tl_acc_new(m->tl, KB_F32, m->plan->rows, m->plan->rows);
    tl_dot_acc(m->tl, m->acc, a, b);
    m->products = true;
}

static void acc_store(struct maker *m)
{
    if (!m->products)
        return;
    make_place(m);
    keep(m, tl_acc_store(m->tl, m->acc, KB_F16), true);
    m->acc = NULL;
    m->products = false;
}

/* A result of one or two operands that are kept or given back at once. */
static void compute(struct maker *m)
{
    tl_tensor *x = operand(m), *y;
    uint64_t what = below(&m->own, 4);

    if (m->n >= m->plan->most && m->n > 1)
        for (size_t i = 0; i < m->n && m->n >= m->plan->most; i++)
            if (m->live[i] != x)
                drop(m, i);
    if (m->n >= m->plan->most)
        return;
    y = what == 0   ? tl_neg(m->tl, x)
        : what == 1 ? tl_exp(m->tl, x)
        : what == 2 ? tl_add(m->tl, x, x)
                    : tl_dot(m->tl, x, x);
    keep(m, y, true);
}

static void message(struct maker *m)
{
    uint32_t me = tl_pe(m->tl);
    int tag = (int)below(&m->common, 2);

    m->async = true;
    tl_async(m->tl, true); /* a send that waits for slots would keep all from receiving */
    tl_send(m->tl, (me + 1) % PES, tag, operand(m));
    make_place(m);
    keep(m, tl_recv(m->tl, (me + PES - 1) % PES, tag, KB_F16, shape_of(m)), true);
}

static void composite(struct maker *m)
{
    tl_tensor *x = operand(m);

    if (below(&m->own, 2))
        tl_composite(m->tl, .op = TL_GEMM, .a = x, .b = x, .out = any_slice(m));
    else
        tl_composite(m->tl, .op = TL_EXP, .a = x, .out = any_slice(m));
}

/* To tl_async(true), or from it: then the kernel waits for what it has, but not for what it has
 * given back, nor for stores. */
static void turn(struct maker *m)
{
    m->async = below(&m->own, 4) > 0;
    for (size_t i = 0; i < m->n && !m->async; i++) {
        if (m->flying[i])
            tl_wait(m->tl, m->live[i]);
        m->flying[i] = false;
    }
    tl_async(m->tl, m->async);
}

static void step_of_all(struct maker *m)
{
    uint64_t what = below(&m->common, 20);

    if (what == 0)
        tl_barrier(m->tl, tl_all(m->tl));
    else if (what < 3)
        message(m);
}

static void step(struct maker *m)
{
    switch (below(&m->own, 16)) {
    case 0:
    case 1:
    case 2:
        make_place(m);
        keep(m, tl_load(m->tl, any_slice(m), KB_F16, shape_of(m)), true);
        break;
    case 3:
        make_place(m);
        keep(m, tl_alloc(m->tl, KB_F16, shape_of(m)), false);
        break;
    case 4:
    case 5:
    case 6:
        compute(m);
        break;
    case 7:
        tl_store(m->tl, any_slice(m), operand(m));
        break;
    case 8:
        product(m);
        break;
    case 9:
        acc_store(m);
        break;
    case 10:
        composite(m);
        break;
    case 11:
        if (below(&m->own, 3) == 0)
            tl_wait_all(m->tl);
        break;
    case 12:
        tl_wait_read(m->tl, operand(m));
        break;
    case 13:
        tl_idle(m->tl, (int64_t)below(&m->own, 4) * 500000000);
        make_place(m);
        keep(m, tl_alloc(m->tl, KB_F16, shape_of(m)), false);
        make_place(m);
        keep(m, tl_load(m->tl, any_slice(m), KB_F16, shape_of(m)), true);
        break;
    case 14:
        turn(m);
        break;
    default:
        while (m->n > 1)
            drop(m, below(&m->own, m->n));
    }
}

static void random_kernel(tl_ctx *tl, const kb_args *args)
{
    const struct plan *plan = args->user;
    struct maker m = {.tl = tl, .plan = plan};
    uint64_t steps;

    m.own = rng_of_number(plan->seed, 1 + tl_pe(tl));
    m.common = rng_of_number(plan->seed, 0);
    steps = 1 + below(&m.common, STEPS_MOST);
    tl_async(tl, true);
    m.async = true;
    for (int tag = 0; tag < 2 && plan->talks; tag++) {
        tl_tensor *x = tl_full(tl, KB_F16, KB_SHAPE(1), 1);

        tl_send(tl, (tl_pe(tl) + 1) % PES, tag, x);
        tl_free(tl, tl_recv(tl, (tl_pe(tl) + PES - 1) % PES, tag, KB_F16, KB_SHAPE(1)));
        tl_free(tl, x);
        tl_wait_all(tl);
    }
    for (uint64_t i = 0; i < steps; i++) {
        step(&m);
        if (plan->talks)
            step_of_all(&m);
    }
}

/* -- runs ----------------------------------------------------------------------------------- */

static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void add_step(void *arg, const kb_breakdown_step *step)
{
    int64_t *total_fs = arg, fs = 0;

    for (size_t i = 0; i < step->n_shares; i++) {
        kb_cause cause = step->share[i].cause;

        assert_int_not_equal(cause, KB_CAUSE_ROOM_WAIT);
        assert_true(cause != KB_CAUSE_DISPATCH || step->share[i].sum_fs > 0);
        fs += step->share[i].sum_fs;
    }
    if (fs != step->end_fs - step->begin_fs)
        fail_msg("the shares of %s at line %d sum to %" PRId64 ", not %" PRId64, step->call,
                 step->line, fs, step->end_fs - step->begin_fs);
    *total_fs += fs;
}

/* The sums of all commands, by cause. */
struct causes {
    int64_t fs[KB_N_CAUSES];
};

static void add_cause(void *arg, const kb_breakdown_row *row)
{
    if (row->by == KB_BREAKDOWN_PE)
        ((struct causes *)arg)->fs[row->cause] += row->sum_fs;
}

/* The breakdown of a run by `engine`, to be freed. */
static char *breakdown_by(const kb_topology *topo, kb_kernel kernel, const void *user, size_t n,
                          kb_engine engine, struct causes *sums)
{
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine, .no_values = true});
    kb_launch_result r;
    int64_t total_fs = 0;
    kb_breakdown *why;
    char *text;

    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    launch_talk(sim, kernel, user, pes, n);
    r = run_launched(sim, 0);
    assert_int_equal(kb_breakdown_path(why, add_step, &total_fs), KB_OK);
    assert_int_equal(total_fs, r.last_end_fs - r.start_fs);
    assert_int_equal(kb_breakdown_rows(why, add_cause, sums), KB_OK);
    text = breakdown_text(why);
    kb_sim_free(sim);
    return text;
}

static struct causes check_path(const char *yaml, kb_kernel kernel, const void *user, size_t n,
                                uint64_t seed)
{
    const kb_topology *topo = any_topology(yaml);
    struct causes sums = {{0}}, same = {{0}};
    char *visits, *pieces;

    assert_non_null(topo);
    visits = breakdown_by(topo, kernel, user, n, KB_FUSED, &sums);
    pieces = breakdown_by(topo, kernel, user, n, KB_HOP, &same);
    assert_same_lines(seed, visits, pieces);
    free(visits);
    free(pieces);
    any_topology_free(topo);
    return sums;
}

/* -- by hand -------------------------------------------------------------------------------- */

#define SMALL                                                                                      \
    "kernbench: 1\nname: small\nsip: {cube_mesh: {w: 4, h: 2}}\ncube: {pe: {pe_tcm: {size_mb: "    \
    "1}}}\n"
#define HALF KB_SHAPE(512, 256)

/* Half of the room comes back when this load ends. */
static void load_and_free(tl_ctx *tl)
{
    tl_async(tl, true);
    tl_free(tl, tl_load(tl, SLICE(0), KB_F32, HALF));
}

static void ends_with_room(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    load_and_free(tl);
    tl_alloc(tl, KB_F32, KB_SHAPE(1024, 256));
}

static void room_and_an_end(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_full(tl, KB_F32, HALF, 1);

    (void)args;
    tl_async(tl, true);
    tl_store(tl, SLICE(0), x);
    tl_wait_read(tl, x);
}

static void idles_before_room(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    load_and_free(tl);
    tl_idle(tl, 5000000);
    tl_alloc(tl, KB_F32, KB_SHAPE(1024, 128));
    tl_alloc(tl, KB_F32, KB_SHAPE(1024, 64));
    tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(32, 64));
}

static void idles_between_rooms(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    load_and_free(tl);
    tl_free(tl, tl_load(tl, SLICE(0), KB_F32, HALF));
    tl_free(tl, tl_alloc(tl, KB_F32, HALF));
    tl_idle(tl, 5000000);
    tl_alloc(tl, KB_F32, KB_SHAPE(1024, 255));
    tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(16, 32));
    tl_wait_all(tl);
}

static void barrier_behind_room(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    load_and_free(tl);
    if (tl_pe(tl) == 1)
        tl_alloc(tl, KB_F32, KB_SHAPE(1024, 256));
    tl_barrier(tl, tl_cube(tl));
}

/* The load waits for the FETCH of the second product, whose turn comes later. */
static void room_before_a_turn(tl_ctx *tl, const kb_args *args)
{
    tl_acc *acc = tl_acc_new(tl, KB_F32, 256, 256);
    tl_tensor *a = tl_full(tl, KB_F16, KB_SHAPE(256, 256), 1), *b;

    (void)args;
    b = tl_full(tl, KB_F16, KB_SHAPE(256, 256), 1);
    tl_alloc(tl, KB_F16, KB_SHAPE(1536, 256));
    tl_async(tl, true);
    tl_dot_acc(tl, acc, a, a);
    tl_dot_acc(tl, acc, b, a);
    tl_free(tl, b);
    b = tl_load(tl, SLICE(0), KB_F16, KB_SHAPE(256, 256));
    tl_wait(tl, b);
    tl_idle(tl, 100000000000);
    tl_store(tl, SLICE(0), b);
}

static void paths_have_no_gaps(void **state)
{
    struct causes idle;

    (void)state;
    check_path(SMALL, ends_with_room, NULL, 1, 0);
    check_path(SMALL, room_and_an_end, NULL, 1, 0);
    idle = check_path(SMALL, idles_before_room, NULL, 1, 0);
    assert_int_equal(idle.fs[KB_CAUSE_DISPATCH], 3000000 + 5000000 + 3000000);
    assert_int_equal(idle.fs[KB_CAUSE_ROOM_WAIT], 2048000000 + 2085000 - 5000000);
    check_path(SMALL, idles_between_rooms, NULL, 1, 0);
    check_path(SMALL, barrier_behind_room, NULL, 8, 0);
    check_path(SMALL, room_before_a_turn, NULL, 1, 0);
}

/* -- at random ------------------------------------------------------------------------------ */

static const char *one_of(struct rng *rng, const char *const *words, size_t n)
{
    return words[below(rng, n)];
}

static int number(struct rng *rng, int first, int last)
{
    return first + (int)below(rng, (uint64_t)(last - first + 1));
}

/* To be freed. */
static char *random_machine(struct rng *rng)
{
    static const char *const links[] = {"ideal", "fifo", "router, buffer_bytes: 4096"};
    static const char *const hbm[] = {"", "model: banks", "latency_ns: 100.0",
                                      "cache: {size_mb: 0.0625, bw_gbs: 512.0}"};
    char *yaml;
    int n = asprintf(
        &yaml,
        "kernbench: %d\nname: room\nsip: {cube_mesh: {w: 2, h: 1}}\ncontention: {links: %s}\n"
        "software: {launch_ns: %d.0, call_ns: %d.0}\ncube: {pes: 2, hbm: {%s}, pe: {pe_cpu: "
        "{overhead_ns: %d.0}, pe_tcm: {size_mb: 1, read_ports: %d}, pe_dma: {read_channels: %d, "
        "write_channels: %d, issue_ns: %d.0}}}\n",
        number(rng, 2, 3), one_of(rng, links, LENGTH(links)), number(rng, 0, 100),
        number(rng, 0, 10), one_of(rng, hbm, LENGTH(hbm)), number(rng, 0, 3), number(rng, 1, 2),
        number(rng, 1, 3), number(rng, 1, 2), number(rng, 0, 20));

    assert_true(n > 0);
    return yaml;
}

static void random_paths_have_no_gaps(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);
    uint64_t waited = 0;

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct rng rng = rng_of_number(seed, UINT64_MAX);
        struct plan plan = {.seed = seed, .talks = below(&rng, 2)};
        char *yaml = random_machine(&rng);

        plan.rows = below(&rng, 2) ? 256 : 128;
        plan.most = (plan.rows == 256 ? 6 : 24) - below(&rng, 3);
        waited += check_path(yaml, random_kernel, &plan, PES, seed).fs[KB_CAUSE_ROOM_WAIT] > 0;
        free(yaml);
    }
    assert_true(waited > seeds_count(seeds) / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_have_no_gaps),
        cmocka_unit_test(random_paths_have_no_gaps),
    };

    cmocka_set_test_filter(getenv("KB_TEST"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
