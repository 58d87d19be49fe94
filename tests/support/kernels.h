/* kernels.h -- what tests of kernels share: memory with bytes in it, and runs. */
#ifndef KERNELS_H
#define KERNELS_H
#include "cube8.h"
#include "rig.h"
#include "tl.h"
#include <math.h>
#include <unistd.h>

/* Global addresses of cube8's first cube.              docs/kernels.md "Where data lie" */
#define SLICE_BYTES (UINT64_C(48) << 30 >> 3)
#define SLICE(i)    ((i)*SLICE_BYTES)
#define SRAM        (UINT64_C(1) << 36)
#define TCM_BYTES   (UINT64_C(16) << 20)
#define TCM(i)      ((UINT64_C(2) << 36) + (i)*TCM_BYTES)

/* Bytes of every slice that are written before a kernel runs, from its first on. */
enum { FILLED = 1 << 16 };

static inline int64_t now_fs(tl_ctx *tl)
{
    return llround(tl_time(tl) * 1e6);
}

/* The first bytes of every slice: f32 1, 2, 3, ... */
static inline kb_status fill_slices(kb_sim *sim, kb_error *why)
{
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_tensor *x = NULL;
    kb_status status = kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(FILLED / 4), copies, &x, why);

    return status == KB_OK ? kb_tensor_fill_arange(x, 1, 1, why) : status;
}

/* On PEs 0..n-1; 0: all. */
static inline kb_status launch(kb_sim *sim, kb_kernel kernel, const void *user, size_t n,
                               kb_error *why)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    kb_launch_request r = {
        .name = "test", .kernel = kernel, .args.user = user, .pes = n ? pes : NULL, .n_pes = n};

    return kb_launch(sim, &r, why);
}

/* Runs what was launched; the last of it. */
static inline kb_launch_result run_launched(kb_sim *sim, uint64_t budget)
{
    kb_launch_result out;
    kb_error why = {""};
    kb_status status;

    do
        status = kb_sim_run(sim, budget, &why);
    while (status == KB_AGAIN);
    if (status != KB_OK)
        fail_msg("status %d: %s", (int)status, why.text);
    assert_int_equal(kb_launch_get(sim, kb_launch_count(sim) - 1, &out), KB_OK);
    return out;
}

/* A kernel on PEs 0..n-1 of a new simulation whose slices are filled. */
static inline kb_sim *run_kernel(kb_options options, kb_kernel kernel, const void *user, size_t n,
                                 kb_launch_result *out)
{
    kb_sim *sim = new_sim(&cube8_topology, options);
    kb_launch_result r;
    kb_error why = {""};

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    if (launch(sim, kernel, user, n, &why) != KB_OK)
        fail_msg("%s", why.text);
    r = run_launched(sim, 0);
    if (out)
        *out = r;
    return sim;
}

/* The same when the kernel itself, and its times, are all that counts. */
static inline kb_launch_result run_quick(kb_kernel kernel, const void *user, size_t n)
{
    kb_launch_result r;

    kb_sim_free(run_kernel((kb_options){0}, kernel, user, n, &r));
    return r;
}

/* The op log of what has run, as JSON lines, to be freed. */
static inline char *log_of(kb_sim *sim)
{
    char path[] = "/tmp/kernbench-test-XXXXXX";
    kb_error why = {""};
    char *text;
    size_t size;
    FILE *in;

    close(mkstemp(path));
    if (kb_oplog_write(sim, path, NULL, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    in = fopen(path, "r");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    size = (size_t)ftell(in);
    rewind(in);
    text = malloc(size + 1);
    assert_int_equal(fread(text, 1, size, in), size);
    text[size] = '\0';
    fclose(in);
    remove(path);
    return text;
}

/* The number behind `key` in the record of op `id`. */
static inline double logged(const char *log, unsigned id, const char *key)
{
    char text[64];
    const char *line, *at, *end;

    snprintf(text, sizeof text, "\n{\"op_id\":%u,", id);
    line = strstr(log, text);
    assert_non_null(line);
    end = strchr(line + 1, '\n');
    snprintf(text, sizeof text, "\"%s\":", key);
    at = strstr(line, text);
    assert_true(at && at < end);
    return strtod(at + strlen(text), NULL);
}

#endif
