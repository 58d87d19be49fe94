/*
 * test_kernel_memory.c -- what kernels see of memory, and when: versions, pending results, the TCM.
 *
 * On cube8 a command is issued 3 ns after its call; a DMA in the own slice then takes 2.085 ns and
 * a ns for each 256 bytes. Every figure below is made of these, by hand.
 *                                                    docs/kernels.md "A PE"
 */
#include "base/rng.h"
#include "support/kernels.h"

enum { FS = 1000000, ISSUE = 3 * FS, WAY = 2085000 };

static int64_t own_dma_fs(int64_t nbytes)
{
    return WAY + nbytes * FS / 256;
}

/* Element `i` of what lies at `address`, as f32: loaded for it. */
static double peek(tl_ctx *tl, uint64_t address, int64_t i)
{
    tl_tensor *x = tl_load(tl, address, KB_F32, KB_SHAPE(i + 1));
    double value = tl_get(tl, x, i);

    tl_free(tl, x);
    return value;
}

/* `n` elements f32 that begin with `first`: what slices are filled with. */
static tl_tensor *values(tl_ctx *tl, int64_t first, int64_t n)
{
    return tl_load(tl, (uint64_t)(first - 1) * 4, KB_F32, KB_SHAPE(n));
}

/* Calls that do nothing but take at least until `ns` after `start`. */
static void pass_time(tl_ctx *tl, double start, double ns)
{
    while (tl_time(tl) < start + ns)
        tl_free(tl, tl_full(tl, KB_U8, KB_SHAPE(1), 0));
}

enum { FREE = 1 << 20 }; /* an address where nothing was written */

/* -- versions ------------------------------------------------------------------------------- */

static void keeps(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = values(tl, 1, 4), *view = tl_reshape(tl, x, KB_SHAPE(2, 2));
    const float *data = tl_data(tl, x);

    (void)args;
    tl_store(tl, 0, values(tl, 101, 4));
    assert_true(peek(tl, 0, 0) == 101 && peek(tl, 0, 3) == 104);
    assert_true(tl_get(tl, x, 0) == 1 && tl_get(tl, x, 3) == 4);
    assert_true(tl_get(tl, view, 1) == 2 && data[2] == 3);
    tl_free(tl, x);
    assert_true(tl_get(tl, view, 3) == 4);
    tl_store(tl, 0, view);
    assert_true(peek(tl, 0, 3) == 4);
}

static void a_loaded_tensor_keeps_what_it_saw(void **state)
{
    (void)state;
    run_quick(keeps, NULL, 1);
}

static void overlaps(tl_ctx *tl, const kb_args *args)
{
    static const double want[] = {1, 101, 201, 202, 5, 302, 7, 8};

    (void)args;
    tl_store(tl, 4, values(tl, 101, 3));
    tl_store(tl, 8, values(tl, 201, 2));
    tl_store(tl, 20, values(tl, 302, 1));
    for (int i = 0; i < 8; i++)
        assert_true(peek(tl, 0, i) == want[i]);
    tl_store(tl, 2, tl_load(tl, 6, KB_U8, KB_SHAPE(2)));
    assert_true(peek(tl, 0, 0) == 101);
}

static void stores_may_cover_parts(void **state)
{
    (void)state;
    run_quick(overlaps, NULL, 1);
}

static void reinterprets(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, 0, KB_U8, KB_SHAPE(8));
    const double *wide;

    (void)args;
    assert_true(tl_get(tl, x, 0) == 0 && tl_get(tl, x, 2) == 0x80 && tl_get(tl, x, 3) == 0x3f);
    assert_true(tl_get(tl, tl_load(tl, 0, KB_F64, KB_SHAPE(1)), 0) == 2.0 + 0x3f8p-31);
    assert_true(tl_get(tl, tl_load(tl, 2, KB_F16, KB_SHAPE(1)), 0) == 1.875);
    tl_store(tl, FREE + 4, tl_load(tl, 0, KB_U8, KB_SHAPE(20)));
    x = tl_load(tl, FREE + 8, KB_F64, KB_SHAPE(2));
    wide = tl_data(tl, x);
    assert_true((uintptr_t)wide % sizeof *wide == 0);
    assert_memory_equal(wide, ((float[]){2, 3, 4, 5}), 16);
    assert_ptr_equal(tl_data(tl, x), wide);
}

static void bytes_may_be_read_as_another_type(void **state)
{
    (void)state;
    run_quick(reinterprets, NULL, 1);
}

static void strides(tl_ctx *tl, const kb_args *args)
{
    static const double want[] = {1, 3, 5, 17, 19, 21};
    const int64_t by[] = {64, 8}, back[] = {4, 16}, none[] = {0, 4};
    tl_tensor *x;
    double start = tl_time(tl);

    (void)args;
    x = tl_load_strided(tl, 0, KB_F32, KB_SHAPE(2, 3), by);
    assert_int_equal(llround((tl_time(tl) - start) * 1e6), ISSUE + own_dma_fs(24));
    for (int i = 0; i < 6; i++)
        assert_true(tl_get(tl, x, i) == want[i]);
    tl_store(tl, FREE, values(tl, 1001, 12));
    start = tl_time(tl);
    tl_store_strided(tl, FREE, x, back); /* columns become rows */
    assert_int_equal(llround((tl_time(tl) - start) * 1e6), ISSUE + own_dma_fs(24));
    for (int i = 0; i < 12; i++)
        assert_true(peek(tl, FREE, i) == (i % 4 < 2 ? want[i % 4 * 3 + i / 4] : 1001 + i));
    x = tl_load_strided_async(tl, 4, KB_F32, KB_SHAPE(3, 2), none);
    tl_wait(tl, x);
    for (int i = 0; i < 6; i++)
        assert_true(tl_get(tl, x, i) == 2 + i % 2);
    tl_wait(tl, tl_store_strided_async(tl, FREE, x, ((int64_t[]){8, 4})));
    assert_true(peek(tl, FREE, 3) == 3);
    x = tl_load_strided(tl, 8, KB_F32, (kb_shape){0}, NULL); /* one element */
    assert_true(tl_get(tl, x, 0) == 3 && tl_shape(x).rank == 0);
    assert_true(tl_get(tl, tl_load_strided(tl, 8, KB_F32, (kb_shape){0}, none), 0) == 3);
}

static void loads_and_stores_may_have_strides(void **state)
{
    (void)state;
    run_quick(strides, NULL, 1);
}

/* -- when ----------------------------------------------------------------------------------- */

/*
 * PE 1 stores to slice 0 with a command issued at 8.335. What PE 0 reads until 5.335 is the old.
 * PE 2 reads 4096 bytes by a command issued at 3, long before; but they are read when all are.
 */
static void seen_when(tl_ctx *tl, const kb_args *args)
{
    double start = tl_time(tl);

    (void)args;
    if (tl_pe(tl) == 0) {
        assert_true(peek(tl, 0, 0) == 1);
        assert_int_equal(llround((tl_time(tl) - start) * 1e6), ISSUE + own_dma_fs(4));
    } else if (tl_pe(tl) == 1) {
        tl_tensor *x = tl_load(tl, SLICE(1) + 400, KB_F32, KB_SHAPE(16));

        assert_int_equal(llround((tl_time(tl) - start) * 1e6), ISSUE + own_dma_fs(64));
        tl_store(tl, 0, x);
    } else {
        tl_tensor *x = tl_load(tl, 0, KB_F32, KB_SHAPE(1024));

        assert_true(tl_get(tl, x, 0) == 101 && tl_get(tl, x, 15) == 116 && tl_get(tl, x, 16) == 17);
    }
}

/* A load has memory's content at done, a store is seen from its issue on.
 *                                                    docs/kernels.md "Two phases" */
static void stores_are_seen_from_issue_and_loads_see_at_done(void **state)
{
    (void)state;
    run_quick(seen_when, NULL, 3);
}

/*
 * PE 1's store of 64 KiB is issued at about 260 ns and takes about 260 more. PE 0 reads the last
 * of these bytes from a time on when the store is under way.
 */
static void seen_early(tl_ctx *tl, const kb_args *args)
{
    double start = tl_time(tl);

    (void)args;
    if (tl_pe(tl) == 1) {
        tl_tensor *x = tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(FILLED / 4));

        tl_store(tl, SLICE(1) + FREE, x);
        assert_true(tl_time(tl) - start > 500);
    } else {
        pass_time(tl, start, 270);
        /* it queues behind the store, at the slice */
        assert_true(peek(tl, SLICE(1) + FREE + FILLED - 4, 0) == FILLED / 4);
        assert_true(tl_time(tl) - start < 530);
    }
}

static void a_store_is_seen_while_it_is_under_way(void **state)
{
    (void)state;
    run_quick(seen_early, NULL, 2);
}

static void waits(tl_ctx *tl, const kb_args *args)
{
    int64_t start = now_fs(tl);
    tl_tensor *x = tl_load_async(tl, 0, KB_F32, KB_SHAPE(1024));
    tl_tensor *y = tl_load_async(tl, 4096, KB_F32, KB_SHAPE(1024)), *z;

    (void)args;
    assert_int_equal(now_fs(tl) - start, 2 * ISSUE);
    z = tl_store_async(tl, FREE, tl_full(tl, KB_F32, KB_SHAPE(16), 1));
    assert_true(tl_address(z) == FREE && tl_shape(z).dim[0] == 16);
    tl_wait(tl, y); /* the channel takes one after the other */
    assert_int_equal(now_fs(tl) - start, ISSUE + 2 * own_dma_fs(4096));
    tl_wait(tl, x); /* has ended before */
    tl_wait(tl, z);
    assert_int_equal(now_fs(tl) - start, ISSUE + 2 * own_dma_fs(4096));
    assert_true(tl_get(tl, x, 1023) == 1024 && tl_get(tl, y, 0) == 1025);
    z = tl_store_async(tl, 0, x);
    start = now_fs(tl);
    tl_wait(tl, z);
    assert_int_equal(now_fs(tl) - start, own_dma_fs(4096));
}

static void waiting_takes_until_the_end_and_no_longer(void **state)
{
    (void)state;
    run_quick(waits, NULL, 1);
}

/* The second load that is not waited for has the place of the first, for which the PE has waited.
 */
static void waits_again(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load_async(tl, 0, KB_F32, KB_SHAPE(16)), *y, *z;
    int64_t start;

    (void)args;
    tl_wait(tl, x);
    tl_free(tl, x);
    start = now_fs(tl);
    y = tl_load_async(tl, 0, KB_F32, KB_SHAPE(1024));
    z = tl_load(tl, 4096, KB_F32, KB_SHAPE(1024));
    assert_ptr_equal(x, y); /* or this shows nothing */
    assert_int_equal(now_fs(tl) - start, ISSUE + 2 * own_dma_fs(4096));
    assert_true(tl_get(tl, z, 0) == 1025);
}

static void what_was_waited_for_before_wakes_no_kernel(void **state)
{
    (void)state;
    run_quick(waits_again, NULL, 1);
}

/* Three tiles of 4096 bytes and a product of 39 ns for each; the next is loaded meanwhile. */
static void double_buffers(tl_ctx *tl, const kb_args *args)
{
    int64_t start = now_fs(tl);
    tl_tensor *next = tl_load_async(tl, 0, KB_F16, KB_SHAPE(32, 64));

    (void)args;
    for (unsigned i = 0; i < 3; i++) {
        tl_tensor *x = next;

        if (i < 2)
            next = tl_load_async(tl, 4096 * (i + 1), KB_F16, KB_SHAPE(32, 64));
        tl_wait(tl, x);
        tl_dot(tl, x, x, .transpose_b = true);
    }
    /* FETCH 16, 2*4*2 cycles, STORE 4; the second and third call only wait for their issue */
    assert_int_equal(now_fs(tl) - start,
                     ISSUE + own_dma_fs(4096) + 39 * FS + 2 * (ISSUE + 39 * FS) - ISSUE);
}

static void loads_and_products_overlap(void **state)
{
    (void)state;
    run_quick(double_buffers, NULL, 1);
}

/* -- pending -------------------------------------------------------------------------------- */

static void half_pending(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    tl_store(tl, 8, tl_neg(tl, values(tl, 3, 1)));
    assert_true(peek(tl, 0, 1) == 2 && peek(tl, 12, 0) == 4);
    x = tl_load(tl, 0, KB_F32, KB_SHAPE(4)); /* pending, and may be used as such */
    tl_exp(tl, x);
    tl_store(tl, FREE, x);
    assert_true(peek(tl, FREE + 12, 0) == 4); /* a part of it that is ready is ready */
    tl_store(tl, 8, values(tl, 33, 1));
    assert_true(peek(tl, 0, 2) == 33);
}

static void what_is_ready_can_be_read_beside_what_is_pending(void **state)
{
    (void)state;
    run_quick(half_pending, NULL, 1);
}

/* PE 0 makes -x, PE 1 loads that and makes -x + 1, both while it is pending. */
static void relays(tl_ctx *tl, const kb_args *args)
{
    const uint64_t a = kb_tensor_shard(args->tensors[0], 0).address;
    const uint64_t b = kb_tensor_shard(args->tensors[1], 0).address;
    double start = tl_time(tl);

    if (tl_pe(tl) == 0) {
        tl_store(tl, a, tl_neg(tl, values(tl, 1, 8)));
    } else {
        pass_time(tl, start, 50);
        tl_store(tl, b, tl_add(tl, tl_load(tl, a, KB_F32, KB_SHAPE(8)), tl_scalar(tl, 1)));
    }
}

/* Two tensors of 8 f32, one for all, and `kernel` on PEs 0 and 1; computed. */
static void compute(kb_kernel kernel, float got[2][8])
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.phase2 = true});
    const uint32_t pes[] = {0, 1};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_tensor *t[2];
    kb_launch_request r = {.name = "test", .kernel = kernel, .pes = pes, .n_pes = 2};
    kb_error why = {""};

    r.args.tensors = t;
    r.args.n_tensors = 2;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            kb_tensor_new(sim, i ? "b" : "a", KB_F32, KB_SHAPE(8), copies, &t[i], &why), KB_OK);
    }
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kb_tensor_read(t[i], got[i], &why), KB_PENDING);
    assert_int_equal(kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why), KB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kb_tensor_read(t[i], got[i], &why), KB_OK);
    kb_sim_free(sim);
}

static void another_pe_goes_on_with_a_pending_result(void **state)
{
    float got[2][8];

    (void)state;
    compute(relays, got);
    for (int i = 0; i < 8; i++) {
        assert_true(got[0][i] == (float)-(i + 1));
        assert_true(got[1][i] == (float)-i);
    }
}

/* Operands are overwritten as soon as the operation is issued; it has its own. */
static void overwrites(tl_ctx *tl, const kb_args *args)
{
    const uint64_t a = kb_tensor_shard(args->tensors[0], 0).address;
    const uint64_t b = kb_tensor_shard(args->tensors[1], 0).address;
    tl_tensor *x, *ones;

    if (tl_pe(tl) == 1)
        return;
    ones = tl_full(tl, KB_F32, KB_SHAPE(8), 1);
    x = tl_ref(tl, 0, KB_F32, KB_SHAPE(8));
    tl_composite(tl, .op = TL_NEG, .a = x, .out = a);
    tl_composite(tl, .op = TL_ADD, .a = x, .b = tl_scalar(tl, 1), .out = 0); /* in place */
    tl_composite(tl, .op = TL_MUL, .a = x, .b = tl_scalar(tl, 2), .out = b);
    tl_store(tl, 0, ones);
    x = tl_alloc(tl, KB_F32, KB_SHAPE(8));
}

/* Phase 2 computes with the versions that operands had at their issue.
 *                                                    docs/kernels.md "Two phases" */
static void operands_are_those_of_the_issue(void **state)
{
    float got[2][8];

    (void)state;
    compute(overwrites, got);
    for (int i = 0; i < 8; i++) {
        assert_true(got[0][i] == (float)-(i + 1));
        assert_true(got[1][i] == (float)(2 * (i + 2)));
    }
}

/* x 1, times 2.5, between 5.5 and 10.5; in f32, and in f16 accumulated in f32. */
static void scales(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *one;

    if (tl_pe(tl) == 1)
        return;
    for (int i = 0; i < 4; i++)
        tl_free(tl, tl_full(tl, KB_I8, KB_SHAPE(1), 0)); /* a scalar has no type of its own */
    for (unsigned i = 0; i < 2; i++) {
        kb_dtype dtype = i ? KB_F16 : KB_F32;

        x = tl_cast(tl, tl_reshape(tl, values(tl, 1, 8), KB_SHAPE(8, 1)), dtype);
        one = tl_full(tl, dtype, KB_SHAPE(1, 1), 1);
        tl_composite(tl, .a = x, .b = one, .out = kb_tensor_shard(args->tensors[i], 0).address,
                     .dot.dtype_out = KB_F32,
                     .epilogue = {{TL_MUL, tl_scalar(tl, 2.5), NULL},
                                  {TL_CLAMP, tl_scalar(tl, 5.5), tl_scalar(tl, 10.5)}});
    }
}

static void scalars_of_epilogues_take_the_accumulators_type(void **state)
{
    float got[2][8];

    (void)state;
    compute(scales, got);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 8; j++)
            assert_true(got[i][j] == fminf(fmaxf(2.5f * (float)(j + 1), 5.5f), 10.5f));
}

/* -- the TCM -------------------------------------------------------------------------------- */

static uint64_t room(tl_ctx *tl, int64_t nbytes)
{
    return tl_address(tl_alloc(tl, KB_U8, KB_SHAPE(nbytes))) - TCM(0);
}

static void takes_room(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;
    uint64_t mark, second;

    (void)args;
    x = tl_alloc(tl, KB_U8, KB_SHAPE(100));
    y = tl_alloc(tl, KB_U8, KB_SHAPE(1));
    assert_true(tl_address(x) == TCM(0) && tl_address(y) == TCM(0) + 128);
    assert_true(room(tl, 64) == 192);
    tl_free(tl, y);
    assert_true(room(tl, 65) == 256); /* not in the gap of 64 */
    assert_true(room(tl, 64) == 128);
    tl_free(tl, x);
    assert_true(room(tl, 128) == 0);
    mark = tl_mark(tl);
    assert_true(room(tl, 1000) == 384);
    second = tl_mark(tl);
    assert_true(tl_address(values(tl, 1, 4)) == TCM(0) + 1408);
    tl_scalar(tl, 1);
    tl_release(tl, second);
    assert_true(room(tl, 1) == 1408);
    tl_release(tl, mark);
    assert_true(room(tl, 1) == 384);
    tl_release(tl, 0);
    x = values(tl, 1, 4);
    y = tl_reshape(tl, x, KB_SHAPE(2, 2)); /* shares its room */
    assert_true(tl_address(y) == TCM(0) && tl_shape(y).rank == 2 && tl_dtype(y) == KB_F32);
    tl_free(tl, x);
    assert_true(room(tl, 1) == 64);
    assert_true(tl_get(tl, y, 3) == 4);
    tl_free(tl, y);
    assert_true(room(tl, 1) == 0);
    tl_release(tl, 0);
    assert_true(room(tl, 16 << 20) == 0); /* all of it */
}

static void the_lowest_room_that_fits_is_taken(void **state)
{
    (void)state;
    run_quick(takes_room, NULL, 1);
}

enum { RANGES = 200, TURNS = 5000 };

/* The lowest multiple of 64 behind which `nbytes` are free of all ranges. */
static uint64_t lowest_room(const tl_tensor *const taken[RANGES], const uint64_t *sizes,
                            uint64_t nbytes)
{
    uint64_t at = 0;

    for (int i = 0; i < RANGES; i++)
        if (taken[i] && at < tl_address(taken[i]) - TCM(0) + sizes[i] &&
            tl_address(taken[i]) - TCM(0) < at + nbytes) {
            at = (tl_address(taken[i]) - TCM(0) + sizes[i] + 63) / 64 * 64;
            i = -1; /* from the first again */
        }
    return at;
}

static void takes_and_gives(tl_ctx *tl, const kb_args *args)
{
    struct rng r = rng_new(1, "room");
    tl_tensor *taken[RANGES] = {NULL};
    uint64_t sizes[RANGES], at;

    (void)args;
    for (int i = 0; i < TURNS; i++) {
        size_t k = rng_next(&r) % RANGES;

        if (taken[k]) {
            tl_free(tl, taken[k]);
            taken[k] = NULL;
            continue;
        }
        sizes[k] = 1 + rng_next(&r) % (rng_next(&r) % 2 ? 90 : 2000);
        at = lowest_room((const tl_tensor *const *)taken, sizes, sizes[k]);
        taken[k] = tl_alloc(tl, KB_U8, KB_SHAPE((int64_t)sizes[k]));
        assert_true(tl_address(taken[k]) == TCM(0) + at);
    }
}

static void whatever_is_given_back_the_lowest_room_is_taken(void **state)
{
    (void)state;
    run_quick(takes_and_gives, NULL, 1);
}

/* PE 1 has a place, a load with a view of it, and a result; PE 0 comes when all that is there. */
static void visits(tl_ctx *tl, const kb_args *args)
{
    double start = tl_time(tl);
    tl_tensor *x, *y;

    (void)args;
    if (tl_pe(tl) == 1) {
        x = tl_alloc(tl, KB_F32, KB_SHAPE(4));
        y = tl_load(tl, SLICE(1) + 400, KB_F32, KB_SHAPE(4));
        assert_true(tl_address(tl_reshape(tl, y, KB_SHAPE(2, 2))) == TCM(1) + 64);
        tl_free(tl, y); /* its view stays */
        tl_neg(tl, tl_load(tl, SLICE(1), KB_F32, KB_SHAPE(4)));
        pass_time(tl, start, 200);
        assert_true(tl_get(tl, x, 0) == 1 && tl_get(tl, x, 3) == 4);
        y = tl_neg(tl, x);
        pass_time(tl, start, 400);
        assert_true(tl_get(tl, x, 1) == 52);
        return;
    }
    pass_time(tl, start, 100);
    tl_store(tl, TCM(1), values(tl, 1, 4));
    assert_true(peek(tl, TCM(1) + 64, 0) == 101 && peek(tl, TCM(1) + 64, 3) == 104);
    tl_store(tl, FREE, tl_load(tl, TCM(1) + 192, KB_F32, KB_SHAPE(4))); /* pending */
    pass_time(tl, start, 300);
    tl_store(tl, TCM(1) + 4, values(tl, 52, 1));
    pass_time(tl, start, 1000);
    assert_true(peek(tl, TCM(1), 1) == 52); /* that kernel has ended, its memory is still there */
    assert_true(peek(tl, TCM(1) + 64, 1) == 102);
}

static void visits_later(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        peek(tl, TCM(1), 0);
}

static void other_pes_may_use_a_tcm(void **state)
{
    kb_launch_result r;
    kb_sim *sim = run_kernel((kb_options){0}, visits, NULL, 2, &r);
    kb_error why = {""};

    (void)state;
    /* another kernel finds it as it was, and empty once its own PE has had another launch */
    assert_int_equal(launch(sim, visits_later, NULL, 1, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    assert_int_equal(launch(sim, visits_later, NULL, 2, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "bytes 0..3 of c0.pe1.tcm (address 137455730688) were never"));
    kb_sim_free(sim);
}

/* -- shapes --------------------------------------------------------------------------------- */

static void assert_is(const tl_tensor *x, kb_dtype dtype, kb_shape want)
{
    kb_shape got = tl_shape(x);

    assert_int_equal(tl_dtype(x), dtype);
    assert_int_equal(got.rank, want.rank);
    for (int64_t i = 0; i < want.rank; i++)
        assert_int_equal(got.dim[i], want.dim[i]);
}

static void makes_shapes(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, 0, KB_F32, KB_SHAPE(2, 3, 4)), *two = tl_scalar(tl, 2);
    tl_tensor *row = values(tl, 1, 4), *ints = tl_load(tl, 0, KB_I8, KB_SHAPE(2, 3));
    tl_tensor *column = tl_reshape(tl, values(tl, 1, 3), KB_SHAPE(3, 1));

    (void)args;
    assert_is(tl_add(tl, x, row), KB_F32, KB_SHAPE(2, 3, 4));
    assert_is(tl_sub(tl, column, row), KB_F32, KB_SHAPE(3, 4));
    assert_is(tl_mul(tl, two, x), KB_F32, KB_SHAPE(2, 3, 4));
    assert_is(tl_fma(tl, row, column, two), KB_F32, KB_SHAPE(3, 4));
    assert_is(tl_lt(tl, column, x), KB_BOOL, KB_SHAPE(2, 3, 4));
    assert_is(tl_where(tl, tl_lt(tl, row, two), column, two), KB_F32, KB_SHAPE(3, 4));
    assert_is(tl_cast(tl, x, KB_BF16), KB_BF16, KB_SHAPE(2, 3, 4));
    assert_is(tl_sum(tl, x, 1, false), KB_F32, KB_SHAPE(2, 4));
    assert_is(tl_max(tl, x, -3, true), KB_F32, KB_SHAPE(1, 3, 4));
    assert_is(tl_min(tl, x, TL_ALL_AXES, true), KB_F32, KB_SHAPE(1, 1, 1));
    assert_is(tl_argmax(tl, x, -1, false), KB_I32, KB_SHAPE(2, 3));
    assert_is(tl_softmax(tl, x, 0), KB_F32, KB_SHAPE(2, 3, 4));
    assert_is(tl_transpose(tl, x), KB_F32, KB_SHAPE(2, 4, 3));
    assert_is(tl_arange(tl, KB_I16, 5, 0, 1), KB_I16, KB_SHAPE(5));
    assert_is(tl_full(tl, KB_BOOL, KB_SHAPE(2, 1), 1), KB_BOOL, KB_SHAPE(2, 1));
    assert_is(tl_dot(tl, ints, ints, .transpose_b = true), KB_I32, KB_SHAPE(2, 2));
    assert_is(tl_dot(tl, column, column, .transpose_a = true), KB_F32, KB_SHAPE(1, 1));
    assert_is(
        tl_dot(tl, column, column, .transpose_a = true, .dtype_out = KB_F16, .dtype_acc = KB_F32),
        KB_F16, KB_SHAPE(1, 1));
    assert_is(tl_scalar(tl, 1), KB_DEFAULT, (kb_shape){0});
    x = tl_sum(tl, row, 0, false);
    assert_is(x, KB_F32, (kb_shape){0});
    assert_is(tl_add(tl, x, row), KB_F32, KB_SHAPE(4));
    assert_is(tl_sum(tl, x, TL_ALL_AXES, true), KB_F32, (kb_shape){0});
    assert_is(tl_reshape(tl, x, KB_SHAPE(1, 1, 1, 1, 1, 1)), KB_F32, KB_SHAPE(1, 1, 1, 1, 1, 1));
}

static void results_have_the_shapes_of_numpy(void **state)
{
    (void)state;
    run_quick(makes_shapes, NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_tensor_keeps_what_it_saw),
        cmocka_unit_test(stores_may_cover_parts),
        cmocka_unit_test(bytes_may_be_read_as_another_type),
        cmocka_unit_test(loads_and_stores_may_have_strides),
        cmocka_unit_test(stores_are_seen_from_issue_and_loads_see_at_done),
        cmocka_unit_test(a_store_is_seen_while_it_is_under_way),
        cmocka_unit_test(waiting_takes_until_the_end_and_no_longer),
        cmocka_unit_test(what_was_waited_for_before_wakes_no_kernel),
        cmocka_unit_test(loads_and_products_overlap),
        cmocka_unit_test(what_is_ready_can_be_read_beside_what_is_pending),
        cmocka_unit_test(another_pe_goes_on_with_a_pending_result),
        cmocka_unit_test(operands_are_those_of_the_issue),
        cmocka_unit_test(scalars_of_epilogues_take_the_accumulators_type),
        cmocka_unit_test(the_lowest_room_that_fits_is_taken),
        cmocka_unit_test(whatever_is_given_back_the_lowest_room_is_taken),
        cmocka_unit_test(other_pes_may_use_a_tcm),
        cmocka_unit_test(results_have_the_shapes_of_numpy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
