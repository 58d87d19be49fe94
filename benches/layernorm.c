/* layernorm.c -- y = (x - mean) / sqrt(variance + eps) * gamma + beta, over the last axis.
 *
 * Rows of x and y are shared out over all PEs, each in its PE's own slice; gamma and beta are there
 * as copies in every slice. A PE loads gamma and beta once, and then as many rows at a time as fit
 * into half of its TCM with their intermediate results; it computes in f32 (f64 for f64) and stores
 * the rows in their own type. All traffic is between a PE and its own slice, so no PE waits for
 * another.
 *
 * On cube8 with the initial values each PE has 4 rows of 256 f16, in one block: 374.59 ns.
 * Arguments: M rows, N columns, dtype, eps.
 */
#include <math.h>
#include "bench_tile.h"

static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};

/* Loads elements of `t` from `address`, in the type of sums. */
static tl_tensor *load_wide(tl_ctx *tl, const kb_tensor *t, uint64_t address, kb_shape shape)
{
    kb_dtype dtype = kb_tensor_dtype(t);
    tl_tensor *x = tl_load(tl, address, dtype, shape);

    return dtype == sum_dtype(dtype) ? x : tl_cast(tl, x, sum_dtype(dtype));
}

static tl_tensor *normalize(tl_ctx *tl, tl_tensor *x, double eps)
{
    tl_tensor *off = tl_sub(tl, x, tl_mean(tl, x, -1, true));
    tl_tensor *variance = tl_mean(tl, tl_mul(tl, off, off), -1, true);

    return tl_mul(tl, off, tl_rsqrt(tl, tl_add(tl, variance, tl_scalar(tl, eps))));
}

static void layernorm(tl_ctx *tl, const kb_args *args)
{
    kb_tensor *const *t = args->tensors;
    kb_shard x = kb_tensor_shard(t[0], tl_pe(tl)), y = kb_tensor_shard(t[3], tl_pe(tl));
    int64_t m = x.shape.dim[0], n = x.shape.dim[1];
    int64_t block = rows_that_fit(tl_topology(tl), n * 8, 10);
    kb_dtype dtype = kb_tensor_dtype(t[3]);

    if (m == 0)
        return;
    tl_tensor *gamma = load_wide(tl, t[1], kb_tensor_shard(t[1], tl_pe(tl)).address, KB_SHAPE(n));
    tl_tensor *beta = load_wide(tl, t[2], kb_tensor_shard(t[2], tl_pe(tl)).address, KB_SHAPE(n));
    for (int64_t i = 0; i < m; i += block) {
        uint64_t offset = (uint64_t)(i * n * element_bytes(t[0])), mark = tl_mark(tl);
        tl_tensor *rows = load_wide(tl, t[0], x.address + offset, KB_SHAPE(least(block, m - i), n));

        rows = normalize(tl, rows, kb_bench_real(args->user, "eps"));
        rows = tl_add(tl, tl_mul(tl, rows, gamma), beta);
        if (tl_dtype(rows) != dtype)
            rows = tl_cast(tl, rows, dtype);
        tl_store(tl, y.address + offset, rows);
        tl_release(tl, mark);
    }
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N");

    kb_bench_input(run, "x", dtype, KB_SHAPE(m, n), BY_ROWS, 1);
    kb_bench_input(run, "gamma", dtype, KB_SHAPE(n), everywhere, 1);
    kb_bench_input(run, "beta", dtype, KB_SHAPE(n), everywhere, 1);
    kb_bench_output(run, "y", dtype, KB_SHAPE(m, n), BY_ROWS);
    kb_bench_launch(run, "layernorm", layernorm, NULL, 0);
}

struct expected {
    double *const *t;
    int64_t n;
    double eps;
};

static void reference_of_row(void *arg, int64_t i)
{
    const struct expected *e = arg;
    const double *x = e->t[0] + i * e->n;
    double *y = e->t[3] + i * e->n, n = (double)e->n, mean = 0, variance = 0;

    for (int64_t j = 0; j < e->n; j++)
        mean += x[j] / n;
    for (int64_t j = 0; j < e->n; j++)
        variance += (x[j] - mean) * (x[j] - mean) / n;
    for (int64_t j = 0; j < e->n; j++)
        y[j] = (x[j] - mean) / sqrt(variance + e->eps) * e->t[1][j] + e->t[2][j];
}

static void reference(const kb_bench_run *run, double *const *t)
{
    struct expected e = {t, kb_bench_int(run, "N"), kb_bench_real(run, "eps")};

    kb_reference_parallel(kb_bench_int(run, "M"), reference_of_row, &e);
}

static const kb_bench_arg args_of_layernorm[] = {
    SIZE_ARG("M", "256", "rows"),
    SIZE_ARG("N", "256", "columns"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64"),
    {"eps", KB_ARG_REAL, "1e-5", 1e-12, 1, NULL, "added to the variance"},
};

const kb_bench bench_layernorm = {
    .name = "layernorm",
    .summary = "y = (x - mean) / sqrt(variance + eps) * gamma + beta, each PE its own rows",
    .args = args_of_layernorm,
    .n_args = sizeof args_of_layernorm / sizeof *args_of_layernorm,
    .setup = setup,
    .reference = reference,
};
