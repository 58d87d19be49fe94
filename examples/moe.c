/* moe.c -- a bench of your own: a mixture of experts, each token multiplied by the two that fit it.
 *
 *     kernbench cc moe.c
 *     kernbench run ./moe.so:moe tokens=256 --verify
 *
 * Rows of x, expert and y, one for each token, are spread over all PEs, and so are the experts'
 * matrices; every PE has the gate. For each of its tokens a PE multiplies the row by the gate:
 * these are the scores of the experts. The two best decide which matrices are loaded, from
 * whichever memory has them, so the kernel asks for their numbers: tl_values(). The result is the
 * sum of both products, in shares that are the softmax of both scores.
 */
#include <math.h>
#include <tl.h>

static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
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

/* The numbers of the two experts of a token, which are stored as well; *shares, [1, 2] in f32. */
static const int32_t *choose(tl_ctx *tl, tl_tensor *row, tl_tensor *gate, uint64_t to,
                             tl_tensor **shares)
{
    tl_tensor *indices, *scores = tl_dot(tl, row, gate, .dtype_out = KB_F32);

    *shares = tl_softmax(tl, tl_topk(tl, scores, 2, &indices), -1);
    tl_store(tl, to, indices);
    return tl_values(tl, indices);
}

static void moe(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard gate = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard expert = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[4], tl_pe(tl));
    int64_t tokens = x.shape.dim[0], depth = x.shape.dim[1], columns = y.shape.dim[1];

    if (tokens == 0)
        return;
    tl_tensor *scores_of = tl_load(tl, gate.address, KB_F16, gate.shape);

    for (int64_t i = 0; i < tokens; i++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *w[2], *part[2], *shares;
        tl_tensor *row =
            tl_load(tl, x.address + (uint64_t)(i * depth * 2), KB_F16, KB_SHAPE(1, depth));
        const int32_t *chosen =
            choose(tl, row, scores_of, expert.address + (uint64_t)(i * 8), &shares);

        for (int k = 0; k < 2; k++)
            w[k] = tl_load_async(tl, expert_address(tl, args->tensors[2], chosen[k]), KB_F16,
                                 KB_SHAPE(depth, columns));
        for (int k = 0; k < 2; k++) {
            tl_wait(tl, w[k]);
            part[k] = tl_mul(tl, tl_dot(tl, row, w[k], .dtype_out = KB_F32),
                             tl_slice(tl, shares, 1, k, 1));
        }
        tl_store(tl, y.address + (uint64_t)(i * columns * 2),
                 tl_cast(tl, tl_add(tl, part[0], part[1]), KB_F16));
        tl_release(tl, mark);
    }
}

static void setup(kb_bench_run *run)
{
    int64_t tokens = kb_bench_int(run, "tokens"), experts = kb_bench_int(run, "experts");
    int64_t depth = kb_bench_int(run, "D"), columns = kb_bench_int(run, "N");

    kb_bench_input(run, "x", KB_F16, KB_SHAPE(tokens, depth), by_rows, 1);
    kb_bench_input(run, "gate", KB_F16, KB_SHAPE(depth, experts), everywhere, 1);
    kb_bench_input(run, "w", KB_F16, KB_SHAPE(experts, depth * columns), by_rows, 0.125);
    kb_bench_output(run, "expert", KB_I32, KB_SHAPE(tokens, 2), by_rows);
    kb_bench_output(run, "y", KB_F16, KB_SHAPE(tokens, columns), by_rows);
    kb_bench_launch(run, "moe", moe, NULL, 0);
}

/* The score of expert `e`, rounded as the engine rounds: in f32, after each term. */
static float score_of(const double *row, const double *gate, int64_t depth, int64_t experts,
                      int64_t e)
{
    float sum = 0;

    for (int64_t k = 0; k < depth; k++)
        sum = (float)(sum + row[k] * gate[k * experts + e]);
    return sum;
}

/* The two best experts of a row, of equal ones the first, and the share of the second. */
static double two_best(const double *row, const double *gate, int64_t depth, int64_t experts,
                       double best[2])
{
    float top[2] = {0, 0};

    for (int64_t e = 0; e < experts; e++) {
        float score = score_of(row, gate, depth, experts, e);
        int place = e == 0 || score > top[0] ? 0 : 1;

        if (place == 1 && e > 1 && score <= top[1])
            continue;
        if (place == 0 && e > 0)
            top[1] = top[0], best[1] = best[0];
        top[place] = score;
        best[place] = (double)e;
    }
    return 1 / (1 + exp((double)top[0] - top[1]));
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t depth = kb_bench_int(run, "D"), columns = kb_bench_int(run, "N");
    int64_t experts = kb_bench_int(run, "experts");

    for (int64_t i = 0; i < kb_bench_int(run, "tokens"); i++) {
        double *best = t[3] + 2 * i, *y = t[4] + i * columns, *row = t[0] + i * depth;
        double second = two_best(row, t[1], depth, experts, best);

        for (int64_t j = 0; j < columns; j++)
            for (int64_t k = 0; k < depth; k++)
                for (int b = 0; b < 2; b++)
                    y[j] += (b ? second : 1 - second) * row[k] *
                            t[2][((int64_t)best[b] * depth + k) * columns + j];
    }
}

static const kb_bench_arg args_of_moe[] = {
    {"tokens", KB_ARG_INT, "128", 1, 65536, NULL, "rows of x, expert and y"},
    {"experts", KB_ARG_INT, "16", 2, 4096, NULL, "matrices"},
    {"D", KB_ARG_INT, "32", 1, 256, NULL, "columns of x, rows of a matrix"},
    {"N", KB_ARG_INT, "32", 1, 256, NULL, "columns of y and of a matrix"},
};

const kb_bench bench_moe = {
    .name = "moe",
    .summary = "each token is multiplied by the matrices of the two experts that fit it",
    .args = args_of_moe,
    .n_args = sizeof args_of_moe / sizeof *args_of_moe,
    .setup = setup,
    .reference = reference,
};

KB_BENCHES(&bench_moe);
