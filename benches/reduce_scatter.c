/* reduce_scatter.c -- y at rank i is the sum (maximum, minimum) of row i of x of all ranks.
 *
 * Each of the n ranks has n rows of `count` elements, and ends with one: the sum of all ranks' rows
 * of its own number. The ranks are all PEs, or with over=cubes or sips all cubes or SIPs, whose PEs
 * have a part of each row. kb_coll.h moves the sum of a row to the rank that keeps it, on a ring
 * both ways round, one way, on a line, straight from each rank to each, or along axes; each rank on
 * the way adds its own row.
 *
 * On cube8 with the initial values that is along axes, 287.49 ns; on a ring, in 32 steps of 128
 * messages of 128 bytes, it would be 877.42 ns.
 *
 * Arguments: count elements of a row, dtype, op (sum, max, min), over, algorithm, and inputs=same,
 * which keeps the rows of x once for all ranks. Numbers that are summed are odd quarters, so
 * that all sums are exact in any order.
 */
#include "coll_bench.h"
#include "even.h"

static void reduce_scatter(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    uint64_t out = kb_tensor_shard(args->tensors[1], tl_pe(tl)).address;
    kb_dtype type = kb_tensor_dtype(args->tensors[0]);
    kb_coll c = {.in = x.address, .out = out, .dtype = type, .op = op_of(run)};

    c.count = elements_of(&x);
    c.algorithm = coll_of(run);
    kb_reduce_scatter_at(TL_HERE, tl, group_over(tl, over_of(run)), c);
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t n = sharing_of(run).ranks, all = n * kb_bench_int(run, "count");

    if (!can_talk(run, "reduce_scatter"))
        return;
    note_one_rank(run, "reduce_scatter");
    input_rows(run, n, scale_of(run));
    kb_bench_output(run, "y", dtype, KB_SHAPE(all), BY_COLUMNS);
    kb_bench_launch(run, "reduce_scatter", reduce_scatter, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");

    for (int64_t row = 0; row < n; row++)
        reduce_row(run, t[0], row, &t[1][row * count]);
}

static const kb_bench_arg args_of_reduce_scatter[] = {
    COUNT_ARG("64", "elements of a row: of the result at a rank"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OP_ARG,
    OVER_ARG,
    INPUTS_ARG,
    COLL_ARG("auto ring one_way line direct axes hierarchical"),
};

const kb_bench bench_reduce_scatter = {
    .name = "reduce_scatter",
    .summary = "y at rank i is the sum (maximum, minimum) of everyone's row i of x",
    .args = args_of_reduce_scatter,
    .n_args = sizeof args_of_reduce_scatter / sizeof *args_of_reduce_scatter,
    .setup = setup,
    .reference = reference,
};
