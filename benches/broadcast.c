/* broadcast.c -- y, at every rank, is the x of rank 0.
 *
 * Rank 0 has a vector of `count` elements, and all ranks end with a copy in their slices. The ranks
 * are all PEs, or with over=cubes or sips all cubes or SIPs, each of whose PEs passes on its part.
 * It is a call of kb_broadcast() of kb_coll.h: from place to place on a ring or a line, both ways
 * from rank 0, in n / 2 or n - 1 steps which overlap; or on a tree, in log2 n.
 *
 * All traffic is messages: each rank except the first receives the vector once, on cube8 with the
 * initial values 63 times 2048 bytes, on a tree in 173.43 ns. algorithm=auto is that of all_reduce.
 * Other arguments: dtype, and inputs=same, which keeps x once.
 */
#include "coll_auto.h"
#include "even.h"

static void broadcast(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    uint64_t out = kb_tensor_shard(args->tensors[1], tl_pe(tl)).address;
    kb_coll c = {.in = x.address, .out = out, .algorithm = coll_of(run)};

    c.count = elements_of(&x);
    c.dtype = kb_tensor_dtype(args->tensors[1]);
    kb_broadcast_at(TL_HERE, tl, group_over(tl, over_of(run)), c);
}

static void setup(kb_bench_run *run)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t all = sharing_of(run).ranks * kb_bench_int(run, "count");

    if (!can_talk(run, "broadcast"))
        return;
    note_one_rank(run, "broadcast");
    choose_algorithm(run, "broadcast", KB_BROADCAST);
    input_rows(run, 1, 1);
    kb_bench_output(run, "y", dtype, KB_SHAPE(all), BY_COLUMNS);
    kb_bench_launch(run, "broadcast", broadcast, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = sharing_of(run).ranks, count = kb_bench_int(run, "count");

    for (int64_t rank = 0; rank < n; rank++)
        memcpy(t[1] + rank * count, t[0], (size_t)count * sizeof **t);
}

static const kb_bench_arg args_of_broadcast[] = {
    COUNT_ARG("1024", "elements of a rank"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OVER_ARG,
    INPUTS_ARG,
    COLL_ARG(ROOT_ALGORITHMS),
};

const kb_bench bench_broadcast = {
    .name = "broadcast",
    .summary = "y at every rank is the x of rank 0",
    .args = args_of_broadcast,
    .n_args = sizeof args_of_broadcast / sizeof *args_of_broadcast,
    .setup = setup,
    .reference = reference,
};
