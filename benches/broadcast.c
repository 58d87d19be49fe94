/* broadcast.c -- y, at every rank, is the x of rank 0.
 *
 * Rank 0 has a vector of `count` elements, and all ranks end with a copy in their slices. The ranks
 * are all PEs, or with over=cubes or sips all cubes or SIPs, each of whose PEs passes on its part.
 *
 *     tree   in step s every rank that has the vector sends all of it n / 2^s ranks further:
 *            log2(n) steps
 *     line   from each rank to the next in pieces of 16 KiB: n - 1 steps, which overlap
 *
 * All traffic is messages: each rank except the first receives the vector once, on cube8 with the
 * initial values 63 times 2048 bytes. algorithm=auto takes the faster: there tree with 330.44 ns,
 * as line takes 1501.14 ns at least. Other arguments: dtype, and inputs=same, which keeps x once.
 */
#include <string.h>
#include "collective_auto.h"
#include "even.h"

enum algorithm { AUTO, TREE, LINE };

static void broadcast(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_dtype dtype = kb_tensor_dtype(args->tensors[0]);
    struct ranks ranks = ranks_over(tl, over_of(run));

    if (kb_bench_choice(run, "algorithm") == LINE)
        broadcast_line(tl, ranks, 0, vector_of(&x, dtype), vector_of(&y, dtype));
    else
        broadcast_tree(tl, ranks, vector_of(&x, dtype), vector_of(&y, dtype));
}

static void setup(kb_bench_run *run)
{
    if (!is_even(run, "broadcast"))
        return;
    note_one_rank(run, "broadcast");
    if (kb_bench_choice(run, "algorithm") == AUTO)
        choose_algorithm(run, "broadcast");
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t all = sharing_of(run).ranks * kb_bench_int(run, "count");

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
    {"algorithm", KB_ARG_CHOICE, "auto", 0, 0, "auto tree line",
     "how it is done; auto: the fastest, by trying"},
};

const kb_bench bench_broadcast = {
    .name = "broadcast",
    .summary = "y at every rank is the x of rank 0",
    .args = args_of_broadcast,
    .n_args = sizeof args_of_broadcast / sizeof *args_of_broadcast,
    .setup = setup,
    .reference = reference,
};
