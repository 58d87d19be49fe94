/*
 * test_repeated_loads.c -- loads again and again of the same bytes, which change between them.
 *
 * What the last load of a PE found and cost is kept for the next (docs/performance.md "Kernels").
 * Here loads of few shapes at few addresses alternate at random with stores, of the PE itself and
 * of its neighbour, and with atomics. Every byte that is loaded is compared with a plain array that
 * the same writes have changed, and every load must take the time that its bytes take.
 */
#include "support/kernels.h"

enum { PAIRS = 3, REGION = 512, SOURCE = 8192, STEPS = 400, SEEDS = 20, KEPT = 5, FS = 1000000 };

/* Two PEs: the first loads from its own slice, where both write. */
struct pair {
    uint32_t owner, other;
    uint8_t bytes[REGION]; /* what should be there */
    uint64_t checked, changed;
    uint64_t last; /* offset and shape of the last load */
};

struct scene {
    uint64_t seed;
    struct pair *pairs;
};

/* What both PEs of a pair draw alike. */
static uint32_t below(uint64_t *rng, uint32_t n)
{
    *rng = *rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*rng >> 33) % n;
}

/* Byte `i` of every slice: of an f32 1, 2, 3, ... */
static uint8_t filled(uint64_t i)
{
    float value = (float)(i / 4 + 1);
    uint8_t bytes[4];

    memcpy(bytes, &value, 4);
    return bytes[i % 4];
}

static const struct shape {
    kb_dtype dtype;
    kb_shape shape;
    int64_t nbytes;
} shapes[] = {
    {KB_U8, {.rank = 1, .dim = {64}}, 64},
    {KB_F32, {.rank = 1, .dim = {16}}, 64},
    {KB_F16, {.rank = 2, .dim = {4, 16}}, 128},
    {KB_F16, {.rank = 2, .dim = {16, 4}}, 128},
};

static void check_time(tl_ctx *tl, int64_t begin, int64_t nbytes)
{
    assert_int_equal(now_fs(tl) - begin, 3 * FS + 2085000 + nbytes * FS / 256);
}

/* Mostly what it loaded last. */
static tl_tensor *load(tl_ctx *tl, struct pair *p, uint64_t *rng)
{
    bool again = below(rng, 100) < 60, async = below(rng, 100) < 30;
    uint64_t what = below(rng, LENGTH(shapes) * 4);
    const struct shape *s;
    uint64_t offset;
    int64_t begin = now_fs(tl);
    tl_tensor *x;
    const uint8_t *data;

    what = again ? p->last : what;
    p->last = what;
    s = &shapes[what / 4];
    offset = what % 4 * 96;
    x = tl_load_at(TL_HERE, tl, SLICE(p->owner) + offset, s->dtype, s->shape, NULL, async);
    if (async)
        tl_wait(tl, x);
    check_time(tl, begin, s->nbytes);
    assert_int_equal(tl_dtype(x), s->dtype);
    assert_int_equal(tl_shape(x).rank, s->shape.rank);
    assert_int_equal(tl_shape(x).dim[0], s->shape.dim[0]);
    data = tl_data(tl, x);
    for (int64_t i = 0; i < s->nbytes; i++) {
        if (data[i] != p->bytes[offset + (uint64_t)i])
            fail_msg("byte %d at offset %d is %u, not %u", (int)i, (int)offset, data[i],
                     p->bytes[offset + (uint64_t)i]);
        p->changed += data[i] != filled(offset + (uint64_t)i);
    }
    p->checked += (uint64_t)s->nbytes;
    return x;
}

/* Some bytes from behind the region, anywhere into it; one of the two does it. */
static void store(tl_ctx *tl, struct pair *p, uint64_t *rng, bool mine)
{
    uint32_t n = 1 + below(rng, 128), from = SOURCE + below(rng, 4096), to = below(rng, REGION - n);
    tl_tensor *x;

    if (!mine)
        return;
    x = tl_load(tl, SLICE(p->owner) + from, KB_U8, KB_SHAPE(n));
    tl_store(tl, SLICE(p->owner) + to, x);
    tl_free(tl, x);
    for (uint32_t i = 0; i < n; i++)
        p->bytes[to + i] = filled(from + i);
}

static void add_to(tl_ctx *tl, struct pair *p, uint64_t *rng)
{
    uint32_t at = 4 * below(rng, REGION / 4);
    int32_t value;

    memcpy(&value, &p->bytes[at], 4);
    assert_int_equal(tl_atomic_add(tl, SLICE(p->owner) + at, KB_I32, 7), value);
    value += 7;
    memcpy(&p->bytes[at], &value, 4);
}

static void meet(tl_ctx *tl, const struct pair *p)
{
    uint32_t *pes = tl_alloc_host(tl, 2 * sizeof *pes);

    pes[0] = p->owner;
    pes[1] = p->other;
    tl_barrier(tl, (tl_group){.pes = pes, .n = 2});
}

/* Some tensors stay, so that the results lie at several places of the TCM. */
static void keep_or_free(tl_ctx *tl, tl_tensor **kept, tl_tensor *x, uint32_t i)
{
    if (kept[i])
        tl_free(tl, kept[i]);
    kept[i] = NULL;
    if (i == 0)
        tl_free(tl, x);
    else
        kept[i] = x;
}

static void loads_again(tl_ctx *tl, const kb_args *args)
{
    const struct scene *scene = args->user;
    uint32_t pe = tl_pe(tl);
    struct pair *p = &scene->pairs[pe / 2];
    uint64_t rng = scene->seed * PAIRS + pe / 2;
    bool owner = pe == p->owner;
    tl_tensor *kept[KEPT] = {NULL};

    for (int i = 0; i < STEPS; i++) {
        uint32_t kind = below(&rng, 100);

        if (kind < 10) {
            meet(tl, p);
            store(tl, p, &rng, !owner);
            meet(tl, p);
        } else if (kind < 30) {
            store(tl, p, &rng, owner);
        } else if (kind < 35 && owner) {
            add_to(tl, p, &rng);
        } else if (kind < 35) {
            below(&rng, REGION / 4);
        } else {
            uint64_t mine = rng;
            uint32_t place;

            for (int j = 0; j < 3; j++)
                below(&rng, 1);
            place = below(&rng, KEPT);
            if (owner)
                keep_or_free(tl, kept, load(tl, p, &mine), place);
        }
    }
}

static void run(uint64_t seed, kb_options options)
{
    struct pair pairs[PAIRS] = {0};
    struct scene scene = {.seed = seed, .pairs = pairs};
    kb_sim *sim;
    kb_error why = {""};

    for (uint32_t i = 0; i < PAIRS; i++) {
        pairs[i].owner = 2 * i + (uint32_t)seed % 2;
        pairs[i].other = pairs[i].owner ^ 1;
        for (uint32_t j = 0; j < REGION; j++)
            pairs[i].bytes[j] = filled(j);
    }
    sim = new_sim(&cube8_topology, options);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, loads_again, &scene, (size_t)2 * PAIRS, &why), KB_OK);
    run_launched(sim, 0);
    for (uint32_t i = 0; i < PAIRS; i++)
        assert_true(pairs[i].checked > 10000 && pairs[i].changed > 1000);
    kb_sim_free(sim);
}

static void loads_see_what_was_written_between(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(seed, (kb_options){0});
        run(seed, (kb_options){.oplog = true});
    }
    run(1, (kb_options){.engine = KB_HOP, .fingerprint = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_see_what_was_written_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
