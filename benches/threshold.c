/* threshold.c -- row i of y is 2 x if x[i,0] > t, else x: the kernel branches on loaded data.
 *
 * Rows of x and y are shared out over all PEs, each in its PE's own slice. For each of its rows a
 * PE loads the row, reads its first element with tl_get(), doubles the row only if that is above t,
 * and stores it. Data that were loaded may be looked at like this while the simulation runs;
 * results of arithmetic may not, as they are computed later (docs/kernels.md "Two phases").
 *
 * So PEs have different amounts of work, and the kernel ends with the slowest: on cube8 with the
 * initial values 55 of 256 rows are doubled (567 commands, of which 512 load and store), and it
 * takes 86.68 ns. Arguments: M rows, N columns, dtype, and t, which decides how many rows are
 * doubled.
 */
#include "bench_tile.h"

static void threshold(tl_ctx *tl, const kb_args *args)
{
    const kb_tensor *in = args->tensors[0];
    kb_shard x = kb_tensor_shard(in, tl_pe(tl)), y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    int64_t n = x.shape.dim[1];
    double t = kb_bench_real(args->user, "t");

    for (int64_t i = 0; i < x.shape.dim[0]; i++) {
        uint64_t offset = (uint64_t)(i * n * element_bytes(in)), mark = tl_mark(tl);
        tl_tensor *row = tl_load(tl, x.address + offset, kb_tensor_dtype(in), KB_SHAPE(n));

        if (tl_get(tl, row, 0) > t)
            row = tl_add(tl, row, row);
        tl_store(tl, y.address + offset, row);
        tl_release(tl, mark);
    }
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    kb_shape shape = KB_SHAPE(kb_bench_int(run, "M"), kb_bench_int(run, "N"));

    kb_bench_input(run, "x", dtype, shape, BY_ROWS, 1);
    kb_bench_output(run, "y", dtype, shape, BY_ROWS);
    kb_bench_launch(run, "threshold", threshold, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N");
    double least = kb_bench_real(run, "t");

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            t[1][i * n + j] = t[0][i * n + j] * (t[0][i * n] > least ? 2 : 1);
}

static const kb_bench_arg args_of_threshold[] = {
    SIZE_ARG("M", "256", "rows"),
    SIZE_ARG("N", "256", "columns"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64"),
    {"t", KB_ARG_REAL, "0.5", -1, 1, NULL, "the first of a row is compared with it"},
};

const kb_bench bench_threshold = {
    .name = "threshold",
    .summary = "row i of y is 2 x if x[i,0] > t, else x: data decides what is done",
    .args = args_of_threshold,
    .n_args = sizeof args_of_threshold / sizeof *args_of_threshold,
    .setup = setup,
    .reference = reference,
};
