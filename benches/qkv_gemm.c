/* qkv_gemm.c -- c = a b by rows: every PE has rows of a and c, and b goes to all by multicast.
 *
 * This is how the weights b of a layer meet tokens a that lie where the next layer wants them: a
 * and c never leave their PEs. The grid of product.h has one column, so that each tile of b is read
 * once and stored to the TCMs of all PEs. The rows of b are spread over the PEs.
 *
 * gemm.c cuts c in squares instead: a PE takes less of b, and a part of a from others.
 *
 * Arguments: M rows of c, N columns, K the inner dimension, dtype; BM, BN, BK: 0 is chosen here.
 */
#include "product.h"

static void qkv_gemm(tl_ctx *tl, const kb_args *args)
{
    struct product p = {.cut = cut_of(args->user, all_pes(tl)),
                        .a = {.tensor = args->tensors[0], .lies = BY_ROWS},
                        .b = {.tensor = args->tensors[1], .lies = BY_ROWS},
                        .c = {.tensor = args->tensors[2], .lies = BY_ROWS}};

    count_steps(&p.cut, all_pes(tl));
    product(tl, &p);
}

static void setup(kb_bench_run *run)
{
    struct cut x = cut_of(run, kb_pe_count(kb_bench_topology(run)));

    if (!is_even(run, "qkv_gemm") || !settle(run, "qkv_gemm", &x))
        return;
    kb_bench_input(run, "a", x.dtype, KB_SHAPE(x.m, x.k), BY_ROWS, 1);
    kb_bench_input(run, "b", x.dtype, KB_SHAPE(x.k, x.n), BY_ROWS, 1 / sqrt((double)x.k));
    kb_bench_output(run, "c", x.dtype_c, KB_SHAPE(x.m, x.n), BY_ROWS);
    kb_bench_launch(run, "qkv_gemm", qkv_gemm, NULL, 0);
}

static const kb_bench_arg args_of_qkv_gemm[] = {
    SIZE_ARG("M", "128", "rows of a and c"),
    SIZE_ARG("N", "128", "columns of b and c"),
    SIZE_ARG("K", "256", "columns of a, rows of b"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8"),
    CHOSEN_ARG("BM", "rows of c in an accumulator"),
    CHOSEN_ARG("BN", "columns of it"),
    CHOSEN_ARG("BK", "of K in a step"),
    SEND_ARG,
};

const kb_bench bench_qkv_gemm = {
    .name = "qkv_gemm",
    .summary = "c = a b, rows of a and c per PE; b goes to all PEs by multicast",
    .args = args_of_qkv_gemm,
    .n_args = sizeof args_of_qkv_gemm / sizeof *args_of_qkv_gemm,
    .setup = setup,
    .reference = reference_of_product,
};
