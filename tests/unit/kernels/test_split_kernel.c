/* test_split_kernel.c -- kernels on interleaved slices: loads and stores that are split. */
#include "support/any_topology.h"
#include "support/kernels.h"

enum { FS = 1000000, ISSUE = 3 * FS };

#define MACHINE "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

static const kb_topology *interleaved(const char *addressing)
{
    char text[256];

    snprintf(text, sizeof text, MACHINE "addressing: {%s}\n", addressing);
    return any_topology(text);
}

/* Runs a kernel on c0.pe0, with a tensor of 64 KiB f32 1, 2, ... at address 0; gives its log. */
static char *run_on(const kb_topology *t, kb_engine engine, kb_kernel kernel, uint64_t *fingerprint)
{
    kb_sim *sim = new_sim(t, (kb_options){.engine = engine, .fingerprint = true, .oplog = true});
    kb_launch_request r = {.name = "test", .kernel = kernel, .pes = (uint32_t[]){0}, .n_pes = 1};
    kb_error why = {""};
    kb_tensor *x = NULL;
    char *log;

    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(8 * FILLED / 4),
                                   (kb_placement){KB_REPLICATE, KB_ROW_WISE}, &x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 1, 1, &why), KB_OK);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    *fingerprint = kb_sim_fingerprint(sim);
    log = log_of(sim);
    kb_sim_free(sim);
    return log;
}

/* Both engines: the same events and the same log. */
static char *run_both(const kb_topology *t, kb_kernel kernel)
{
    uint64_t fused, hop;
    char *log = run_on(t, KB_FUSED, kernel, &fused), *other = run_on(t, KB_HOP, kernel, &hop);

    assert_true(fused == hop);
    assert_string_equal(log, other);
    free(other);
    return log;
}

static size_t records(const char *log)
{
    size_t n = 0;

    for (const char *at = log; (at = strstr(at, "\"op_id\":")); at++)
        n++;
    return n;
}

/* docs/model.md "Worked: 16 KiB over four slices": 40.115 behind the issue; the bytes are those of
 * the tensor.
 */
static void loads(tl_ctx *tl, const kb_args *args)
{
    int64_t begin = now_fs(tl);
    tl_tensor *x = tl_load(tl, 0, KB_F32, KB_SHAPE(4096));

    (void)args;
    assert_int_equal(now_fs(tl), begin + ISSUE + 40115000);
    assert_true(tl_get(tl, x, 0) == 1 && tl_get(tl, x, 1024) == 1025 &&
                tl_get(tl, x, 4095) == 4096);
}

static void a_load_ends_with_its_last_part(void **state)
{
    const kb_topology *t = interleaved("granule: 4096");
    char *log = run_both(t, loads);

    (void)state;
    assert_int_equal(records(log), 1);
    assert_non_null(strstr(log, "\"src_addr\":0,"));
    assert_non_null(strstr(log, "\"nbytes\":16384,"));
    free(log);
    any_topology_free(t);
}

/* Across granules, and across the slices' end round; what is loaded again is what was stored. */
static void stores(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, 4096, KB_F32, KB_SHAPE(3000)), *y;

    (void)args;
    tl_store(tl, 30000 * 4, x);
    y = tl_load(tl, 30000 * 4, KB_F32, KB_SHAPE(3000));
    assert_true(tl_get(tl, y, 0) == 1025 && tl_get(tl, y, 2999) == 4024);
    assert_true(tl_atomic_add(tl, 65528, KB_I32, 5) != 0); /* a float's bits */
    tl_wait(tl, tl_load_async(tl, 61440, KB_F32, KB_SHAPE(2048)));
}

static void what_is_stored_is_loaded(void **state)
{
    static const char *const maps[] = {"granule: 4096", "granule: 64, hash: xor",
                                       "granule: 256, over: sip",
                                       "granule: 1024, over: sip, hash: xor"};

    (void)state;
    for (size_t i = 0; i < LENGTH(maps); i++) {
        const kb_topology *t = interleaved(maps[i]);

        free(run_both(t, stores));
        any_topology_free(t);
    }
}

/* A strided tile takes the time of as many bytes behind its first element: docs/model.md. */
static void strides(tl_ctx *tl, const kb_args *args)
{
    int64_t begin = now_fs(tl);
    tl_tensor *x = tl_load_strided(tl, 0, KB_F32, KB_SHAPE(16, 64), ((int64_t[]){2048, 4}));

    (void)args;
    assert_int_equal(now_fs(tl), begin + ISSUE + 18085000);
    assert_true(tl_get(tl, x, 64) == 513);
}

static void a_strided_tile_is_cut_as_if_it_were_whole(void **state)
{
    const kb_topology *t = interleaved("granule: 4096");

    (void)state;
    free(run_both(t, strides));
    any_topology_free(t);
}

/* Its parts take the read channel once: the load behind it waits for all. */
static void two_loads(tl_ctx *tl, const kb_args *args)
{
    int64_t begin = now_fs(tl);
    tl_tensor *x = tl_load_async(tl, 0, KB_F32, KB_SHAPE(4096));
    tl_tensor *y = tl_load_async(tl, 0, KB_F32, KB_SHAPE(1024));

    (void)args;
    tl_wait(tl, y);
    assert_int_equal(now_fs(tl), begin + ISSUE + 40115000 + 18085000);
    tl_wait(tl, x);
}

static void a_load_behind_it_waits_for_all_parts(void **state)
{
    const kb_topology *t = interleaved("granule: 4096");

    (void)state;
    free(run_both(t, two_loads));
    any_topology_free(t);
}

/* -- placement ------------------------------------------------------------------------------ */

static void assert_shard(const kb_tensor *x, uint32_t pe, uint64_t address)
{
    assert_true(kb_tensor_shard(x, pe).address == address);
}

/* docs/model.md "Addresses of interleaved slices": shards follow each other by 256 bytes. */
static void shards_are_contiguous_in_addresses(void **state)
{
    kb_placement rows = {KB_ROW_WISE, KB_ROW_WISE};
    const kb_topology *t = interleaved("granule: 4096");
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_tensor *x, *y, *z;
    float in[64 * 300], out[64 * 300];
    kb_error why;

    (void)state;
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(64, 300), rows, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "y", KB_F32, KB_SHAPE(64), rows, &y, &why), KB_OK);
    assert_shard(x, 0, 0);
    assert_shard(x, 1, 1280); /* 300 floats, up to a multiple of 256 */
    assert_shard(x, 7, 7 * 1280);
    assert_shard(x, 8, UINT64_C(1) << 38);
    assert_shard(y, 0, 8 * 1280);
    assert_shard(y, 1, 8 * 1280 + 256);
    for (int i = 0; i < 64 * 300; i++)
        in[i] = (float)i;
    assert_int_equal(kb_tensor_write(x, in, &why), KB_OK);
    assert_int_equal(kb_tensor_read(x, out, &why), KB_OK);
    assert_memory_equal(in, out, sizeof in);
    kb_sim_free(sim);
    any_topology_free(t);
    t = interleaved("granule: 4096, over: sip");
    sim = new_sim(t, (kb_options){0});
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(64, 300), rows, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "z", KB_F32, KB_SHAPE(64), rows, &z, &why), KB_OK);
    assert_shard(x, 8, 8 * 1280);
    assert_shard(x, 63, 63 * 1280);
    assert_shard(z, 0, 64 * 1280);
    assert_int_equal(kb_tensor_write(x, in, &why), KB_OK);
    assert_int_equal(kb_tensor_read(x, out, &why), KB_OK);
    assert_memory_equal(in, out, sizeof in);
    kb_sim_free(sim);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_ends_with_its_last_part),
        cmocka_unit_test(what_is_stored_is_loaded),
        cmocka_unit_test(a_strided_tile_is_cut_as_if_it_were_whole),
        cmocka_unit_test(a_load_behind_it_waits_for_all_parts),
        cmocka_unit_test(shards_are_contiguous_in_addresses),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
