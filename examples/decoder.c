/* decoder.c -- a kernel that branches on what it computes: a sampling decoder.
 *
 *     kernbench cc decoder.c
 *     kernbench run ./decoder.so --verify
 *
 * The state of a step of a sequence is a row of `table`, that of the token before. Its product with
 * `head` scores all tokens; a noise of the step is added, and the largest sum is the next token:
 * with Gumbel's distribution that draws each by the softmax of the scores, here an even noise
 * serves as well. The token decides which row is loaded next, so the kernel asks for its value:
 * tl_value().
 */
#include <tl.h>

static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

/* The addresses of one sequence, and its sizes. */
struct sequence {
    uint64_t table, noise, out;
    int64_t width, n, steps;
};

static void decode(tl_ctx *tl, const struct sequence *s, tl_tensor *head)
{
    int64_t token = 0;

    for (int64_t i = 0; i < s->steps; i++) {
        uint64_t mark = tl_mark(tl), row = s->table + (uint64_t)(token * s->width * 4);
        tl_tensor *x = tl_load_async(tl, row, KB_F32, KB_SHAPE(1, s->width));
        tl_tensor *noise =
            tl_load_async(tl, s->noise + (uint64_t)(i * s->n * 4), KB_F32, KB_SHAPE(1, s->n));
        tl_tensor *scores, *next;

        tl_wait(tl, x);
        scores = tl_dot(tl, x, head);
        tl_wait(tl, noise);
        scores = tl_add(tl, scores, noise);
        next = tl_argmax(tl, scores, -1, false);
        tl_store(tl, s->out + (uint64_t)(i * 4), next);
        token = (int64_t)tl_value(tl, next, 0);
        tl_release(tl, mark);
    }
}

static void decoder(tl_ctx *tl, const kb_args *args)
{
    kb_shard table = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard head = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard noise = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    kb_shard next = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    struct sequence s = {table.address,      noise.address,     next.address,
                         table.shape.dim[1], head.shape.dim[1], next.shape.dim[1]};
    tl_tensor *w;

    if (next.shape.dim[0] == 0)
        return;
    w = tl_load(tl, head.address, KB_F32, head.shape);
    for (int64_t i = 0; i < next.shape.dim[0]; i++) {
        decode(tl, &s, w);
        s.noise += (uint64_t)(s.steps * s.n * 4);
        s.out += (uint64_t)(s.steps * 4);
    }
}

static void setup(kb_bench_run *run)
{
    int64_t n = kb_bench_int(run, "tokens"), width = kb_bench_int(run, "width");
    int64_t steps = kb_bench_int(run, "steps"), sequences = kb_bench_int(run, "sequences");

    kb_bench_input(run, "table", KB_F32, KB_SHAPE(n, width), everywhere, 1);
    kb_bench_input(run, "head", KB_F32, KB_SHAPE(width, n), everywhere, 1);
    kb_bench_input(run, "noise", KB_F32, KB_SHAPE(sequences, steps * n), by_rows, 2);
    kb_bench_output(run, "next", KB_I32, KB_SHAPE(sequences, steps), by_rows);
    kb_bench_launch(run, "decoder", decoder, NULL, 0);
}

/* The next token, by plain loops. */
static int64_t next_of(const double *row, const double *head, const double *noise, int64_t width,
                       int64_t n)
{
    double best = 0;
    int64_t token = 0;

    for (int64_t j = 0; j < n; j++) {
        double sum = noise[j];

        for (int64_t k = 0; k < width; k++)
            sum += row[k] * head[k * n + j];
        if (j > 0 && sum <= best)
            continue;
        best = sum;
        token = j;
    }
    return token;
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t n = kb_bench_int(run, "tokens"), width = kb_bench_int(run, "width");
    int64_t steps = kb_bench_int(run, "steps"), all = kb_bench_int(run, "sequences") * steps;

    for (int64_t i = 0; i < all; i++) {
        int64_t before = i % steps ? (int64_t)t[3][i - 1] : 0;

        t[3][i] = (double)next_of(t[0] + before * width, t[1], t[2] + i * n, width, n);
    }
}

static const kb_bench_arg args_of_decoder[] = {
    {"sequences", KB_ARG_INT, "8", 1, 65536, NULL, "each on one PE, spread over all"},
    {"steps", KB_ARG_INT, "64", 1, 65536, NULL, "tokens that are made of each"},
    {"tokens", KB_ARG_INT, "256", 2, 65536, NULL, "tokens that there are"},
    {"width", KB_ARG_INT, "32", 1, 4096, NULL, "of the state"},
};

const kb_bench bench_decoder = {
    .name = "decoder",
    .summary = "each token decides which row is loaded for the next",
    .args = args_of_decoder,
    .n_args = sizeof args_of_decoder / sizeof *args_of_decoder,
    .setup = setup,
    .reference = reference,
};

KB_BENCHES(&bench_decoder);
