/* reduce_scatter.c -- y at rank i is the sum (maximum, minimum) of row i of x of all ranks.
 *
 * Each of the n ranks has n rows of `count` elements, and ends with one: the sum of all ranks' rows
 * of its own number. The ranks are all PEs, or with over=cubes or sips all cubes or SIPs, whose PEs
 * have a part of each row. The sum of a row begins at the rank behind the one that keeps it and
 * goes around the ring (collective.h); each rank adds its own row and passes the sum on. So there
 * are n - 1 steps in a row, each one message of a row to the next rank, and a load of the own row.
 *
 * On cube8 with the initial values that is 63 steps of 64 messages of 128 bytes: 990.96 ns.
 *
 * Arguments: count elements of a row, dtype, op (sum, max, min), over, and inputs=same, which keeps
 * the rows of x once for all ranks.
 */
#include "collective_bench.h"
#include "even.h"

static void reduce_scatter(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_dtype dtype = kb_tensor_dtype(args->tensors[0]);
    struct ranks ranks = ranks_over(tl, over_of(run));

    reduce_scatter_ring(tl, ranks, vector_of(&x, dtype), vector_of(&y, dtype), op_of(run));
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t n = sharing_of(run).ranks, all = n * kb_bench_int(run, "count");

    if (!is_even(run, "reduce_scatter"))
        return;
    note_one_rank(run, "reduce_scatter");
    input_rows(run, n);
    kb_bench_output(run, "y", dtype, KB_SHAPE(all), BY_COLUMNS);
    kb_bench_launch(run, "reduce_scatter", reduce_scatter, NULL, 0);
}

/* The row of the rank at place p of the ring is reduced in the order of places p + 1, ..., p. */
static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    struct ranks r = {.n = n, .order = order_over(kb_bench_topology(run), over_of(run))};
    tl_op op = op_of(run);

    for (int64_t place = 0; place < n; place++) {
        int64_t c = rank_at(&r, place);
        double *sums = &t[1][c * count];

        memcpy(sums, input_of(run, t[0], c, rank_at(&r, place + 1)), (size_t)count * sizeof *sums);
        for (int64_t i = 2; i <= n; i++) {
            const double *x = input_of(run, t[0], c, rank_at(&r, place + i));

            for (int64_t e = 0; e < count; e++)
                sums[e] = reduced(op, dtype, sums[e], x[e]);
        }
    }
}

static const kb_bench_arg args_of_reduce_scatter[] = {
    COUNT_ARG("64", "elements of a row: of the result at a rank"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OP_ARG,
    OVER_ARG,
    INPUTS_ARG,
};

const kb_bench bench_reduce_scatter = {
    .name = "reduce_scatter",
    .summary = "y at rank i is the sum (maximum, minimum) of everyone's row i of x",
    .args = args_of_reduce_scatter,
    .n_args = sizeof args_of_reduce_scatter / sizeof *args_of_reduce_scatter,
    .setup = setup,
    .reference = reference,
};
