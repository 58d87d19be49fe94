/* softmax.c -- y = softmax(x) over the last axis: every PE computes its own rows.
 *
 * Rows of x and y are shared out over all PEs, each in its PE's own slice. A PE loads as many rows
 * as fit into half of its TCM with their results, computes them by one command of its math engine,
 * and stores them. There is no traffic between PEs, and the three steps of a block do not overlap:
 * the time is simply load + softmax + store.
 *
 * On cube8 with the initial values each PE has 4 rows of 256 f16, 2048 bytes, in one block: three
 * commands for each PE, 213.17 ns. Arguments: M rows, N columns, dtype.
 */
#include <math.h>
#include "bench_tile.h"

static void softmax(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    int64_t n = x.shape.dim[1], row_bytes = n * element_bytes(args->tensors[0]);
    int64_t block = rows_that_fit(tl_topology(tl), row_bytes, 2);

    for (int64_t i = 0; i < x.shape.dim[0]; i += block) {
        kb_shape shape = KB_SHAPE(least(block, x.shape.dim[0] - i), n);
        uint64_t offset = (uint64_t)(i * row_bytes), mark = tl_mark(tl);
        tl_tensor *rows = tl_load(tl, x.address + offset, kb_tensor_dtype(args->tensors[0]), shape);

        tl_store(tl, y.address + offset, tl_softmax(tl, rows, -1));
        tl_release(tl, mark);
    }
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    kb_shape shape = KB_SHAPE(kb_bench_int(run, "M"), kb_bench_int(run, "N"));

    kb_bench_input(run, "x", dtype, shape, BY_ROWS, 1);
    kb_bench_output(run, "y", dtype, shape, BY_ROWS);
    kb_bench_launch(run, "softmax", softmax, NULL, 0);
}

static void reference_row(const double *x, double *y, int64_t n)
{
    double most = -INFINITY, sum = 0;

    for (int64_t j = 0; j < n; j++)
        most = fmax(most, x[j]);
    for (int64_t j = 0; j < n; j++)
        sum += y[j] = exp(x[j] - most);
    for (int64_t j = 0; j < n; j++)
        y[j] /= sum;
}

struct expected {
    double *const *t;
    int64_t n;
};

static void reference_of_row(void *arg, int64_t i)
{
    const struct expected *e = arg;

    reference_row(e->t[0] + i * e->n, e->t[1] + i * e->n, e->n);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    struct expected e = {t, kb_bench_int(run, "N")};

    kb_reference_parallel(kb_bench_int(run, "M"), reference_of_row, &e);
}

static const kb_bench_arg args_of_softmax[] = {
    SIZE_ARG("M", "256", "rows"),
    SIZE_ARG("N", "256", "columns"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64"),
};

const kb_bench bench_softmax = {
    .name = "softmax",
    .summary = "y = softmax(x) over the last axis, each PE its own rows",
    .args = args_of_softmax,
    .n_args = sizeof args_of_softmax / sizeof *args_of_softmax,
    .setup = setup,
    .reference = reference,
};
