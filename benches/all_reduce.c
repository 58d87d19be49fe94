/* all_reduce.c -- y, at every rank, is the sum (maximum, minimum) of x over all ranks.
 *
 * Each rank has a vector of `count` elements; afterwards each rank has the same reduced vector. The
 * ranks are all PEs, or with over=cubes or sips all cubes or SIPs, whose PEs then have a part of
 * the vector each and exchange it with the PEs of the same number. It is a call of kb_all_reduce()
 * of kb_coll.h, on rings, lines, along the axes of the machine, by halving, ...
 *
 * algorithm=auto asks kb_coll.h for an estimate of each, runs at most three whose estimates are
 * near the least, and takes the fastest (coll_auto.h).
 *
 * Arguments: count elements of a rank, dtype, op (sum, max, min), over, algorithm, and inputs=same,
 * which keeps one vector for all ranks. Numbers that are summed are odd quarters, so that all sums
 * are exact in any order.
 */
#include "coll_auto.h"
#include "even.h"

static void all_reduce(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    uint64_t out = kb_tensor_shard(args->tensors[1], tl_pe(tl)).address;
    kb_coll c = {.in = x.address, .out = out, .op = op_of(run)};

    c.count = elements_of(&x);
    c.dtype = kb_tensor_dtype(args->tensors[0]);
    c.algorithm = coll_of(run);
    kb_all_reduce_at(TL_HERE, tl, group_over(tl, over_of(run)), c);
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t all = sharing_of(run).ranks * kb_bench_int(run, "count");

    if (!can_talk(run, "all_reduce"))
        return;
    note_one_rank(run, "all_reduce");
    choose_algorithm(run, "all_reduce", KB_ALL_REDUCE);
    input_rows(run, 1, scale_of(run));
    kb_bench_output(run, "y", dtype, KB_SHAPE(all), BY_COLUMNS);
    kb_bench_launch(run, "all_reduce", all_reduce, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");

    reduce_row(run, t[0], 0, t[1]);
    for (int64_t i = 1; i < n; i++)
        memcpy(t[1] + i * count, t[1], (size_t)count * sizeof **t);
}

static const kb_bench_arg args_of_all_reduce[] = {
    COUNT_ARG("1024", "elements of a rank"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OP_ARG,
    OVER_ARG,
    COLL_ARG(REDUCE_ALGORITHMS),
    INPUTS_ARG,
};

const kb_bench bench_all_reduce = {
    .name = "all_reduce",
    .summary = "y = the sum (maximum, minimum) of x over all ranks, at every rank",
    .args = args_of_all_reduce,
    .n_args = sizeof args_of_all_reduce / sizeof *args_of_all_reduce,
    .setup = setup,
    .reference = reference,
};
