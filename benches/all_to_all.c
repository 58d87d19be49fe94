/* all_to_all.c -- row i of y at rank j is row j of x at rank i.
 *
 * A transposition: each of the n ranks has n rows of `count` elements, one for each rank. The ranks
 * are all PEs, or with over=cubes or sips all cubes or SIPs. kb_coll.h sends each row straight to
 * its rank, to those one above and one below first, then to those two above and below, ... Each PE
 * needs a queue for every sender; where they do not fit, each writes the rows to where they belong.
 *
 * On cube8 with the initial values that is 64 * 63 = 4032 messages of 128 bytes, 1112.92 ns.
 *
 * Arguments: count elements from each rank to each, their dtype, over, and inputs=same, which keeps
 * the rows of x once for all ranks.
 */
#include <string.h>
#include "coll_bench.h"
#include "even.h"

static void all_to_all(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    uint64_t in = kb_tensor_shard(args->tensors[0], tl_pe(tl)).address;
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_dtype type = kb_tensor_dtype(args->tensors[0]);
    kb_group all = group_over(tl, over_of(run));
    int64_t n = elements_of(&y);

    kb_all_to_all(tl, all, .in = in, .out = y.address, .count = n, .dtype = type);
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t n = sharing_of(run).ranks, all = n * kb_bench_int(run, "count");

    if (!can_talk(run, "all_to_all"))
        return;
    note_one_rank(run, "all_to_all");
    input_rows(run, n, 1);
    kb_bench_output(run, "y", dtype, KB_SHAPE(n, all), BY_COLUMNS);
    kb_bench_launch(run, "all_to_all", all_to_all, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            memcpy(t[1] + (i * n + j) * count, input_of(run, t[0], j, i),
                   (size_t)count * sizeof **t);
}

static const kb_bench_arg args_of_all_to_all[] = {
    COUNT_ARG("64", "elements from each rank to each"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OVER_ARG,
    INPUTS_ARG,
};

const kb_bench bench_all_to_all = {
    .name = "all_to_all",
    .summary = "row i of y at rank j is row j of x at rank i",
    .args = args_of_all_to_all,
    .n_args = sizeof args_of_all_to_all / sizeof *args_of_all_to_all,
    .setup = setup,
    .reference = reference,
};
