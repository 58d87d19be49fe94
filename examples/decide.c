/* decide.c -- two more kernels that branch on what they compute.
 *
 *     kernbench cc decide.c
 *     kernbench run ./decide.so:speculate --verify
 *     kernbench run ./decide.so:quantise --verify
 *
 * speculate  A small model proposes the next `ahead` tokens one after another, the large one scores
 *            all of them in one product. The tokens up to the first that the large one would not
 *            have chosen are accepted, and then its own choice: the text is that of the large model
 *            alone. Both models here are a table of states and a matrix of scores; the small one
 *            has a part of their columns.
 * quantise   y = x w, in i8 where that is possible. The largest magnitude of a row decides its
 *            scale; a row that has outliers stays in f32.
 */
#include <math.h>
#include <tl.h>

static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

/* -- speculate ------------------------------------------------------------------------------ */

enum { AHEAD_MAX = 16, STEPS_MAX = 256 };

struct models {
    uint64_t table, head; /* addresses */
    int64_t width, n;
};

/* The best token behind each of `n`, by the first `depth` columns of both. */
static void best_behind(tl_ctx *tl, const struct models *m, const int64_t *tokens, int64_t n,
                        int64_t depth, int64_t *best)
{
    tl_tensor *rows = tl_load_rows(tl, m->table, KB_F32, KB_SHAPE(depth), m->width * 4, tokens, n);
    tl_tensor *head = tl_load(tl, m->head, KB_F32, KB_SHAPE(depth, m->n));
    const int32_t *found = tl_values(tl, tl_argmax(tl, tl_dot(tl, rows, head), -1, false));

    for (int64_t i = 0; i < n; i++)
        best[i] = found[i];
}

/* Appends tokens to `text`, of which there are `n`; returns how many there are then. */
static int64_t one_round(tl_ctx *tl, const struct models *m, int64_t depth, int64_t ahead,
                         int64_t *text, int64_t n, int64_t end)
{
    int64_t behind[AHEAD_MAX + 1], proposed[AHEAD_MAX + 1];
    uint64_t mark = tl_mark(tl);

    proposed[0] = text[n - 1];
    for (int64_t i = 0; i < ahead; i++)
        best_behind(tl, m, &proposed[i], 1, depth, &proposed[i + 1]);
    best_behind(tl, m, proposed, ahead + 1, m->width, behind);
    for (int64_t i = 0; n < end; i++) {
        text[n++] = behind[i];
        if (i == ahead || behind[i] != proposed[i + 1])
            break;
    }
    tl_release(tl, mark);
    return n;
}

/* A sequence begins with token 0, which is not part of its text. */
static void speculate(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard table = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard next = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    kb_shard rounds = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    struct models m = {table.address, kb_tensor_shard(args->tensors[1], tl_pe(tl)).address,
                       table.shape.dim[1], table.shape.dim[0]};
    int64_t text[STEPS_MAX + 1] = {0}, steps = kb_bench_int(run, "steps");

    for (int64_t i = 0; i < next.shape.dim[0]; i++) {
        int64_t n = 1, count = 0;

        text[0] = next.first[0] + i;
        for (; n <= steps; count++)
            n = one_round(tl, &m, kb_bench_int(run, "depth"), kb_bench_int(run, "ahead"), text, n,
                          steps + 1);
        for (int64_t k = 0; k < steps; k++)
            tl_store(tl, next.address + (uint64_t)((i * steps + k) * 4),
                     tl_full(tl, KB_I32, KB_SHAPE(1), (double)text[k + 1]));
        tl_store(tl, rounds.address + (uint64_t)(i * 4),
                 tl_full(tl, KB_I32, KB_SHAPE(1), (double)count));
    }
}

static void setup_speculate(kb_bench_run *run)
{
    int64_t n = kb_bench_int(run, "tokens"), width = kb_bench_int(run, "width");
    int64_t sequences = kb_bench_int(run, "sequences"), steps = kb_bench_int(run, "steps");

    if (sequences > n || kb_bench_int(run, "depth") > width)
        kb_bench_refuse(run, "speculate: sequences is at most tokens, depth at most width");
    kb_bench_input(run, "table", KB_F32, KB_SHAPE(n, width), everywhere, 1);
    kb_bench_input(run, "head", KB_F32, KB_SHAPE(width, n), everywhere, 1);
    kb_bench_output(run, "next", KB_I32, KB_SHAPE(sequences, steps), by_rows);
    kb_bench_output(run, "rounds", KB_I32, KB_SHAPE(sequences), by_rows);
    kb_bench_launch(run, "speculate", speculate, NULL, 0);
}

/* The best token behind `token`, rounded as the engine rounds: in f32, after each term. */
static int64_t choice_behind(const kb_bench_run *run, double *const *t, int64_t token,
                             int64_t depth)
{
    int64_t n = kb_bench_int(run, "tokens"), width = kb_bench_int(run, "width"), found = 0;
    float best = 0;

    for (int64_t j = 0; j < n; j++) {
        float sum = 0;

        for (int64_t k = 0; k < depth; k++)
            sum = fmaf((float)t[0][token * width + k], (float)t[1][k * n + j], sum);
        if (j > 0 && sum <= best)
            continue;
        best = sum;
        found = j;
    }
    return found;
}

/* The text of the large model alone; what the small one proposes only tells the rounds. */
static void reference_speculate(const kb_bench_run *run, double *const *t)
{
    int64_t steps = kb_bench_int(run, "steps"), width = kb_bench_int(run, "width");
    int64_t depth = kb_bench_int(run, "depth"), ahead = kb_bench_int(run, "ahead");

    for (int64_t i = 0; i < kb_bench_int(run, "sequences"); i++) {
        int64_t token = i, place = 0; /* in its round */

        for (int64_t k = 0; k < steps; k++) {
            int64_t next = choice_behind(run, t, token, width);
            bool goes_on = place < ahead && choice_behind(run, t, token, depth) == next;

            t[3][i] += place == 0;
            t[2][i * steps + k] = (double)next;
            place = goes_on ? place + 1 : 0;
            token = next;
        }
    }
}

static const kb_bench_arg args_of_speculate[] = {
    {"sequences", KB_ARG_INT, "8", 1, 4096, NULL, "each on one PE, spread over all"},
    {"steps", KB_ARG_INT, "64", 1, STEPS_MAX, NULL, "tokens that are made of each"},
    {"tokens", KB_ARG_INT, "64", 2, 4096, NULL, "tokens that there are"},
    {"width", KB_ARG_INT, "32", 1, 256, NULL, "columns of the large model"},
    {"depth", KB_ARG_INT, "28", 1, 256, NULL, "columns of the small one"},
    {"ahead", KB_ARG_INT, "4", 1, AHEAD_MAX, NULL, "tokens that it proposes"},
};

const kb_bench bench_speculate = {
    .name = "speculate",
    .summary = "a small model proposes tokens, the large one accepts as many as it would choose",
    .args = args_of_speculate,
    .n_args = sizeof args_of_speculate / sizeof *args_of_speculate,
    .setup = setup_speculate,
    .reference = reference_speculate,
};

/* -- quantise ------------------------------------------------------------------------------- */

/* The power of 2 by which a row whose largest magnitude is `most` is at most 64; 0: in f32. */
static double scale_of(double most, double limit)
{
    int exponent;

    frexp(most, &exponent);
    return most > limit ? 0 : ldexp(1, exponent - 6);
}

static tl_tensor *product(tl_ctx *tl, tl_tensor *x, tl_tensor *w, double scale)
{
    tl_tensor *sum;

    if (scale == 0)
        return tl_dot(tl, x, tl_cast(tl, w, KB_F32));
    x = tl_round(tl, tl_mul(tl, x, tl_scalar(tl, 1 / scale)));
    sum = tl_dot(tl, tl_cast(tl, x, KB_I8), w, .dtype_out = KB_I32);
    return tl_mul(tl, tl_cast(tl, sum, KB_F32), tl_scalar(tl, scale));
}

static void quantise(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard weights = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard scale = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[3], tl_pe(tl));
    int64_t depth = x.shape.dim[1], columns = y.shape.dim[1];

    if (x.shape.dim[0] == 0)
        return;
    tl_tensor *w = tl_load(tl, weights.address, KB_I8, weights.shape);

    for (int64_t i = 0; i < x.shape.dim[0]; i++) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *row =
            tl_load(tl, x.address + (uint64_t)(i * depth * 4), KB_F32, KB_SHAPE(1, depth));
        tl_tensor *most = tl_max(tl, tl_abs(tl, row), -1, false);
        double s = scale_of(tl_value(tl, most, 0), kb_bench_real(args->user, "limit"));

        tl_store(tl, y.address + (uint64_t)(i * columns * 4), product(tl, row, w, s));
        tl_store(tl, scale.address + (uint64_t)(i * 4), tl_full(tl, KB_F32, KB_SHAPE(1), s));
        tl_release(tl, mark);
    }
}

static void setup_quantise(kb_bench_run *run)
{
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");

    kb_bench_input(run, "x", KB_F32, KB_SHAPE(m, k), by_rows, 1);
    kb_bench_input(run, "w", KB_I8, KB_SHAPE(k, n), everywhere, 1);
    kb_bench_output(run, "scale", KB_F32, KB_SHAPE(m), by_rows);
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(m, n), by_rows);
    kb_bench_launch(run, "quantise", quantise, NULL, 0);
}

static void reference_quantise(const kb_bench_run *run, double *const *t)
{
    int64_t n = kb_bench_int(run, "N"), depth = kb_bench_int(run, "K");

    for (int64_t i = 0; i < kb_bench_int(run, "M"); i++) {
        const double *row = t[0] + i * depth;
        double most = 0, s;

        for (int64_t k = 0; k < depth; k++)
            most = fmax(most, fabs(row[k]));
        t[2][i] = s = scale_of(most, kb_bench_real(run, "limit"));
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < depth; k++)
                t[3][i * n + j] =
                    (float)(t[3][i * n + j] +
                            (s == 0 ? row[k] : rint(row[k] / s) * s) * t[1][k * n + j]);
    }
}

static const kb_bench_arg args_of_quantise[] = {
    {"M", KB_ARG_INT, "128", 1, 65536, NULL, "rows of x and y"},
    {"N", KB_ARG_INT, "64", 1, 256, NULL, "columns of y and w"},
    {"K", KB_ARG_INT, "64", 1, 256, NULL, "columns of x, rows of w"},
    {"limit", KB_ARG_REAL, "0.99", 0, 1e6, NULL, "a row that has more stays in f32"},
};

const kb_bench bench_quantise = {
    .name = "quantise",
    .summary = "y = x w in i8, each row of x by its own scale",
    .args = args_of_quantise,
    .n_args = sizeof args_of_quantise / sizeof *args_of_quantise,
    .setup = setup_quantise,
    .reference = reference_quantise,
};

KB_BENCHES(&bench_speculate, &bench_quantise);
