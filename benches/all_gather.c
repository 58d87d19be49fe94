/* all_gather.c -- row i of y, at every rank, is the x of rank i.
 *
 * Each rank begins with one vector of `count` elements in its slice and ends with n of them, where
 * n is the number of ranks: all PEs, or with over=cubes or sips all cubes or SIPs, whose PEs then
 * have a part of the vector each. kb_coll.h gathers them: on a ring both ways round, on a line,
 * straight from each rank to each, or along one axis of the machine after the other.
 *
 * On cube8 with the initial values 64 PEs gather 128 bytes each, along axes, which takes 236.96 ns;
 * on a ring, in 32 steps, it would be 669.54 ns.
 *
 * Arguments: count and dtype of a rank's vector; over, what a rank is; algorithm; inputs=same keeps
 * one vector for all ranks, so that large machines need little memory.
 */
#include <string.h>
#include "coll_bench.h"
#include "even.h"

static void all_gather(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    uint64_t in = kb_tensor_shard(args->tensors[0], tl_pe(tl)).address;
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_dtype type = kb_tensor_dtype(args->tensors[0]);
    kb_coll_algorithm by = coll_of(run);
    kb_group all = group_over(tl, over_of(run));
    int64_t n = elements_of(&y);

    kb_all_gather(tl, all, .in = in, .out = y.address, .count = n, .dtype = type, .algorithm = by);
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t n = sharing_of(run).ranks, all = n * kb_bench_int(run, "count");

    if (!can_talk(run, "all_gather"))
        return;
    note_one_rank(run, "all_gather");
    input_rows(run, 1, 1);
    kb_bench_output(run, "y", dtype, KB_SHAPE(n, all), BY_COLUMNS);
    kb_bench_launch(run, "all_gather", all_gather, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");

    for (int64_t i = 0; i < n; i++)
        for (int64_t rank = 0; rank < n; rank++)
            memcpy(t[1] + (i * n + rank) * count, input_of(run, t[0], 0, i),
                   (size_t)count * sizeof **t);
}

static const kb_bench_arg args_of_all_gather[] = {
    COUNT_ARG("64", "elements of a rank"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OVER_ARG,
    INPUTS_ARG,
    COLL_ARG("auto ring one_way line direct axes hierarchical"),
};

const kb_bench bench_all_gather = {
    .name = "all_gather",
    .summary = "y at every rank has as row i the x of rank i",
    .args = args_of_all_gather,
    .n_args = sizeof args_of_all_gather / sizeof *args_of_all_gather,
    .setup = setup,
    .reference = reference,
};
