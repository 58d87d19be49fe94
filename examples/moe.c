/* moe.c -- a bench of your own: a mixture of experts, y[t] = x[t] w[expert[t]].
 *
 *     kernbench cc moe.c
 *     kernbench run ./moe.so:moe tokens=256 --verify
 *
 * Rows of x, expert and y, one for each token, are spread over all PEs, and so are the experts'
 * matrices. A PE loads the numbers of its tokens' experts; then, for each token, its row and its
 * expert's matrix, from whichever memory has that; it multiplies them, and stores the result.
 */
#include <tl.h>

static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

/* Where expert `e` is: row e of w is its matrix. */
static uint64_t expert_address(tl_ctx *tl, const kb_tensor *w, int64_t e)
{
    for (uint32_t pe = 0; pe < kb_pe_count(tl_topology(tl)); pe++) {
        kb_shard shard = kb_tensor_shard(w, pe);

        if (e >= shard.first[0] && e < shard.first[0] + shard.shape.dim[0])
            return shard.address + (uint64_t)((e - shard.first[0]) * shard.shape.dim[1] * 2);
    }
    return 0;
}

static void moe(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard expert = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    int64_t tokens = x.shape.dim[0], depth = x.shape.dim[1], columns = y.shape.dim[1];

    if (tokens == 0)
        return;
    tl_tensor *numbers = tl_load(tl, expert.address, KB_I32, KB_SHAPE(tokens));
    const int32_t *expert_of = tl_data(tl, numbers);

    for (int64_t i = 0; i < tokens; i++) {
        uint64_t mark = tl_mark(tl), from = expert_address(tl, args->tensors[2], expert_of[i]);
        tl_tensor *w = tl_load_async(tl, from, KB_F16, KB_SHAPE(depth, columns));
        tl_tensor *row =
            tl_load(tl, x.address + (uint64_t)(i * depth * 2), KB_F16, KB_SHAPE(1, depth));

        tl_wait(tl, w);
        tl_store(tl, y.address + (uint64_t)(i * columns * 2), tl_dot(tl, row, w));
        tl_release(tl, mark);
    }
}

static void choose_experts(kb_bench_run *run, double *expert, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        expert[i] = (double)kb_bench_random(run, (uint64_t)kb_bench_int(run, "experts"));
}

static void setup(kb_bench_run *run)
{
    int64_t tokens = kb_bench_int(run, "tokens"), experts = kb_bench_int(run, "experts");
    int64_t depth = kb_bench_int(run, "D"), columns = kb_bench_int(run, "N");

    kb_bench_input(run, "x", KB_F16, KB_SHAPE(tokens, depth), by_rows, 1);
    kb_bench_input_by(run, "expert", KB_I32, KB_SHAPE(tokens), by_rows, choose_experts);
    kb_bench_input(run, "w", KB_F16, KB_SHAPE(experts, depth * columns), by_rows, 0.125);
    kb_bench_output(run, "y", KB_F16, KB_SHAPE(tokens, columns), by_rows);
    kb_bench_launch(run, "moe", moe, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t depth = kb_bench_int(run, "D"), columns = kb_bench_int(run, "N");

    for (int64_t i = 0; i < kb_bench_int(run, "tokens"); i++)
        kb_reference_product(t[0] + i * depth, t[2] + (int64_t)t[1][i] * depth * columns,
                             t[3] + i * columns, 1, columns, depth);
}

static const kb_bench_arg args_of_moe[] = {
    {"tokens", KB_ARG_INT, "128", 1, 65536, NULL, "rows of x and y"},
    {"experts", KB_ARG_INT, "16", 1, 4096, NULL, "matrices"},
    {"D", KB_ARG_INT, "32", 1, 256, NULL, "columns of x, rows of a matrix"},
    {"N", KB_ARG_INT, "32", 1, 256, NULL, "columns of y and of a matrix"},
};

const kb_bench bench_moe = {
    .name = "moe",
    .summary = "y[t] = x[t] w[expert[t]]: each token is multiplied by its expert's matrix",
    .args = args_of_moe,
    .n_args = sizeof args_of_moe / sizeof *args_of_moe,
    .setup = setup,
    .reference = reference,
};

KB_BENCHES(&bench_moe);
