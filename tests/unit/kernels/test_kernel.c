/*
 * test_kernel.c -- kernels in time: each figure by hand from the design, or the design's own.
 */
#include "cube8.h"
#include "support/rig.h"
#include "tl.h"

enum { FS = 1000000 };

/* What every PE of a launch saw, by its number. */
struct seen {
    int64_t fs[8][64];
    kb_shape shape;
};

static int64_t now_fs(tl_ctx *tl)
{
    return (int64_t)(tl_time(tl) * 1e6 + 0.5);
}

static uint64_t slice_address(const kb_topology *topo, uint32_t pe, uint64_t offset)
{
    kb_info info;
    kb_endpoint end = {.kind = KB_SLICE};

    kb_topology_info(topo, &info);
    end.sip = pe / info.pes_per_cube / info.cubes_per_sip;
    end.cube = pe / info.pes_per_cube % info.cubes_per_sip;
    end.unit = pe % info.pes_per_cube;
    return kb_address(topo, &end, offset);
}

/* The address of byte `offset` of the PE's own slice. */
static uint64_t own(tl_ctx *tl, uint64_t offset)
{
    return slice_address(tl_topology(tl), tl_pe(tl), offset);
}

/* Bytes for all slices to be read. */
static void fill(kb_sim *sim)
{
    kb_tensor *x;
    kb_error why = {""};
    kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};

    assert_int_equal(kb_tensor_new(sim, "x", KB_F16, KB_SHAPE(256, 256), everywhere, &x, &why), 0);
    assert_int_equal(kb_tensor_fill_random(x, 1, 1.0, &why), 0);
}

static kb_launch_result run_kernel(kb_sim *sim, kb_kernel kernel, void *user)
{
    kb_launch_request r = {.name = "test", .kernel = kernel, .args.user = user};
    kb_launch_result out;
    kb_error why = {""};
    kb_status status;

    if (kb_launch(sim, &r, &why) != KB_OK)
        fail_msg("%s", why.text);
    status = kb_sim_run(sim, 0, &why);
    if (status != KB_OK)
        fail_msg("status %d: %s", (int)status, why.text);
    assert_int_equal(kb_launch_get(sim, kb_launch_count(sim) - 1, &out), KB_OK);
    return out;
}

static void golden(tl_ctx *tl, const kb_args *args)
{
    struct seen *seen = (struct seen *)args->user;
    int64_t *at = seen->fs[0] + tl_pe(tl);
    tl_tensor *a, *b, *c;

    seen->fs[0][tl_pe(tl)] = now_fs(tl);
    a = tl_load(tl, own(tl, 0), KB_F16, KB_SHAPE(32, 64));
    at[64] = now_fs(tl);
    b = tl_reshape(tl, a, KB_SHAPE(64, 32));
    c = tl_dot(tl, a, b);
    at[128] = now_fs(tl);
    tl_exp(tl, c);
    at[192] = now_fs(tl);
    a = tl_ref(tl, own(tl, 0), KB_F16, KB_SHAPE(32, 128));
    b = tl_ref(tl, own(tl, 8192), KB_F16, KB_SHAPE(128, 32));
    tl_wait(tl, tl_composite(tl, .a = a, .b = b, .out = own(tl, 1 << 20)));
    at[256] = now_fs(tl);
    a = tl_load(tl, own(tl, 0), KB_F16, KB_SHAPE(32, 192));
    b = tl_ref(tl, own(tl, 0), KB_F16, KB_SHAPE(192, 32));
    at[320] = now_fs(tl);
    tl_wait(tl, tl_composite(tl, .a = a, .b = b, .out = own(tl, 1 << 20)));
    at[384] = now_fs(tl);
}

/* docs/kernels.md "Worked: four commands", on all PEs of cube8. */
static void the_golden_numbers_come_out(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct seen seen;
    kb_launch_result r;

    (void)state;
    fill(sim);
    r = run_kernel(sim, golden, &seen);
    assert_int_equal(r.start_fs, 27836250);
    assert_int_equal(r.pes, 64);
    for (int pe = 0; pe < 64; pe++) {
        assert_int_equal(seen.fs[0][pe], 27836250);
        assert_int_equal(seen.fs[1][pe] - seen.fs[0][pe], 21085000);
        assert_int_equal(seen.fs[2][pe] - seen.fs[1][pe], 39000000);
        assert_int_equal(seen.fs[3][pe] - seen.fs[2][pe], 75000000);
        assert_int_equal(seen.fs[4][pe] - seen.fs[3][pe], 121425000);
        assert_int_equal(seen.fs[6][pe] - seen.fs[5][pe], 103340000);
    }
    assert_int_equal(r.response_fs - r.last_end_fs, 7836250);
    kb_sim_free(sim);
}

/* Without a class of cost loads are as they were; dot and exp take `dot_fs` and `exp_fs`. */
static void assert_without(unsigned costs_off, int64_t dot_fs, int64_t exp_fs)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.costs_off = costs_off});
    struct seen seen;

    fill(sim);
    run_kernel(sim, golden, &seen);
    for (int pe = 0; pe < 64; pe++) {
        assert_int_equal(seen.fs[1][pe] - seen.fs[0][pe], 21085000);
        assert_int_equal(seen.fs[2][pe] - seen.fs[1][pe], dot_fs);
        assert_int_equal(seen.fs[3][pe] - seen.fs[2][pe], exp_fs);
    }
    kb_sim_free(sim);
}

/* dot: 3 + FETCH 16 + 16 cycles + STORE 4; exp: 3 + FETCH 4 + 64 cycles + STORE 4. */
static void cycles_left_out_take_no_time(void **state)
{
    (void)state;
    assert_without(KB_COST_COMPUTE, 23000000, 11000000);
}

static void tcms_left_out_take_no_time(void **state)
{
    (void)state;
    assert_without(KB_COST_TCM_GBS, 19000000, 67000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_numbers_come_out),
        cmocka_unit_test(cycles_left_out_take_no_time),
        cmocka_unit_test(tcms_left_out_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
