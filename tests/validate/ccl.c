/* ccl.c -- a bench for ccl.py: one collective of kb_coll.h over all PEs. */
#include "kb_coll.h"

enum op { ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, ALL_TO_ALL };

static void ccl(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_group all = kb_group_all(tl);
    kb_coll c = {.in = kb_tensor_shard(args->tensors[0], tl_pe(tl)).address,
                 .out = kb_tensor_shard(args->tensors[1], tl_pe(tl)).address,
                 .count = kb_bench_int(run, "count"),
                 .dtype = KB_BF16,
                 .op = TL_ADD};

    switch ((enum op)kb_bench_choice(run, "op")) {
    case ALL_GATHER:
        kb_all_gather_at(TL_HERE, tl, all, c);
        break;
    case REDUCE_SCATTER:
        kb_reduce_scatter_at(TL_HERE, tl, all, c);
        break;
    case ALL_REDUCE:
        kb_all_reduce_at(TL_HERE, tl, all, c);
        break;
    case ALL_TO_ALL:
        kb_all_to_all_at(TL_HERE, tl, all, c);
        break;
    }
}

static void setup(kb_bench_run *run)
{
    kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
    kb_shape shape = KB_SHAPE(kb_bench_int(run, "count"));

    kb_bench_input(run, "x", KB_BF16, shape, everywhere, 1);
    kb_bench_output(run, "y", KB_BF16, shape, everywhere);
    kb_bench_launch(run, "ccl", ccl, NULL, 0);
}

static const kb_bench_arg args_of_ccl[] = {
    {"op", KB_ARG_CHOICE, "all_gather", 0, 0, "all_gather reduce_scatter all_reduce all_to_all",
     "the collective"},
    {"count", KB_ARG_INT, "8192", 1, 8589934592, NULL, "elements of the whole vector"},
};

const kb_bench bench_ccl = {
    .name = "ccl",
    .summary = "a collective over all PEs",
    .args = args_of_ccl,
    .n_args = sizeof args_of_ccl / sizeof *args_of_ccl,
    .setup = setup,
};

KB_BENCHES(&bench_ccl);
