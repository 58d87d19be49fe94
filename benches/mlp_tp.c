/* mlp_tp.c -- y = act(x w1) w2, tensor-parallel: PEs share the hidden columns and add their y.
 *
 * Two layers, cut as Megatron cuts them: each PE has some of the hidden columns, which are columns
 * of w1 and rows of w2, and a copy of x. From these it computes act(x w1) w2 for its hidden columns
 * without talking to any other PE: a matrix as large as y, but only a summand of it. An all-reduce
 * over all PEs then adds the summands, and every PE ends with all of y.
 *
 * So the first half is loads from the own slice and arithmetic, in blocks of at most 64 rows of x
 * and 64 hidden columns; the second half is the messages of the all-reduce. Sums are kept and added
 * in f32 (f64 for f64), in the tensor `sums`, and rounded to dtype at the end.
 *
 * On cube8 with the initial values a PE has 16 hidden columns, and the all-reduce adds 64 matrices
 * of 32 x 256 f32, 32 KiB each. algorithm=auto takes hierarchical: 2152.78 ns in all; with ring it
 * would be 2866.30 ns. Arguments: M, N, K, dtype, act, and algorithm of the all-reduce.
 */
#include "coll_auto.h"
#include "even.h"

enum { BLOCK = 64 };         /* rows of x, and hidden columns, at once */
enum { X, W1, W2, Y, SUMS }; /* tensors */
enum act { RELU, SIGMOID, TANH, GELU };

/* The part of a PE: all of x, and as many columns of w1 as rows of w2. */
struct part {
    kb_shard x, w1, w2;
    int64_t m, n, k; /* n: its hidden columns */
    int64_t block;
    kb_dtype dtype, sums;
    enum act act;
};

static struct part part_of_pe(tl_ctx *tl, const kb_args *args)
{
    struct part p = {.x = kb_tensor_shard(args->tensors[X], tl_pe(tl)),
                     .w1 = kb_tensor_shard(args->tensors[W1], tl_pe(tl)),
                     .w2 = kb_tensor_shard(args->tensors[W2], tl_pe(tl)),
                     .dtype = kb_tensor_dtype(args->tensors[Y]),
                     .sums = kb_tensor_dtype(args->tensors[SUMS]),
                     .act = (enum act)kb_bench_choice(args->user, "act")};

    p.m = p.x.shape.dim[0];
    p.k = p.x.shape.dim[1];
    p.n = p.w2.shape.dim[0];
    p.block = least(BLOCK, rows_that_fit(tl_topology(tl), p.k * 8, 8));
    return p;
}

/* x (1 + erf(x / sqrt(2))) / 2 */
static tl_tensor *gelu(tl_ctx *tl, tl_tensor *x)
{
    tl_tensor *half = tl_scalar(tl, 0.5);
    tl_tensor *scaled = tl_mul(tl, x, tl_scalar(tl, sqrt(0.5))), *erf = tl_erf(tl, scaled);
    tl_tensor *part = tl_fma(tl, erf, half, half), *y = tl_mul(tl, x, part);

    tl_free(tl, scaled);
    tl_free(tl, erf);
    tl_free(tl, part);
    return y;
}

/* act(x); frees x. */
static tl_tensor *activated(tl_ctx *tl, tl_tensor *x, enum act act)
{
    tl_tensor *y = act == RELU      ? tl_maximum(tl, x, tl_scalar(tl, 0))
                   : act == SIGMOID ? tl_sigmoid(tl, x)
                   : act == TANH    ? tl_tanh(tl, x)
                                    : gelu(tl, x);

    tl_free(tl, x);
    return y;
}

/* The contribution of hidden columns [j, j + n) of the part to the rows of y that belong to `x`. */
static tl_tensor *through(tl_ctx *tl, const struct part *p, tl_tensor *x, int64_t j, int64_t n)
{
    int64_t size = (int64_t)kb_dtype_bytes(p->dtype), row = p->n * size;
    tl_tensor *w1 = tl_load_strided_async(tl, p->w1.address + (uint64_t)(j * size), p->dtype,
                                          KB_SHAPE(p->k, n), ((int64_t[]){row, size}));
    tl_tensor *w2 =
        tl_load_async(tl, p->w2.address + (uint64_t)(j * p->k * size), p->dtype, KB_SHAPE(n, p->k));

    tl_wait(tl, w1);
    tl_tensor *hidden = tl_dot(tl, x, w1, .dtype_out = p->sums);
    tl_free(tl, w1);
    hidden = rounded(tl, activated(tl, hidden, p->act), p->dtype);
    tl_wait(tl, w2);
    tl_tensor *y = tl_dot(tl, hidden, w2, .dtype_out = p->sums);
    tl_free(tl, hidden);
    tl_free(tl, w2);
    return y;
}

/* x + y; frees both. */
static tl_tensor *added(tl_ctx *tl, tl_tensor *x, tl_tensor *y)
{
    tl_tensor *sum = tl_add(tl, x, y);

    tl_free(tl, x);
    tl_free(tl, y);
    return sum;
}

/* Computes rows [i, i + rows) of the PE's sum; zeros if it has no hidden columns. */
static tl_tensor *sum_rows(tl_ctx *tl, const struct part *p, int64_t i, int64_t rows)
{
    uint64_t from = p->x.address + (uint64_t)(i * p->k) * kb_dtype_bytes(p->dtype);
    tl_tensor *x, *sum;

    if (p->n == 0)
        return tl_full(tl, p->sums, KB_SHAPE(rows, p->k), 0);
    x = tl_load(tl, from, p->dtype, KB_SHAPE(rows, p->k));
    sum = through(tl, p, x, 0, least(p->block, p->n));
    for (int64_t j = p->block; j < p->n; j += p->block)
        sum = added(tl, sum, through(tl, p, x, j, least(p->block, p->n - j)));
    return sum;
}

/* y = sum, rounded to the type of y. */
static void round_rows(tl_ctx *tl, const struct part *p, uint64_t sum, uint64_t y)
{
    int64_t rows = rows_that_fit(tl_topology(tl), p->k * 8, 8);

    for (int64_t i = 0; i < p->m; i += rows) {
        kb_shape shape = KB_SHAPE(least(rows, p->m - i), p->k);
        uint64_t at = (uint64_t)(i * p->k);
        tl_tensor *x = tl_load(tl, sum + at * kb_dtype_bytes(p->sums), p->sums, shape);

        x = rounded(tl, x, p->dtype);
        tl_store(tl, y + at * kb_dtype_bytes(p->dtype), x);
        tl_free(tl, x);
    }
}

static void mlp_tp(tl_ctx *tl, const kb_args *args)
{
    struct part p = part_of_pe(tl, args);
    uint64_t y = kb_tensor_shard(args->tensors[Y], tl_pe(tl)).address;
    uint64_t sum = kb_tensor_shard(args->tensors[SUMS], tl_pe(tl)).address;
    uint64_t row = (uint64_t)p.k * kb_dtype_bytes(p.sums);
    kb_coll c = {.in = sum, .out = p.dtype == p.sums ? y : sum, .dtype = p.sums, .op = TL_ADD};

    c.count = p.m * p.k;
    c.algorithm = coll_of(args->user);
    for (int64_t i = 0; i < p.m; i += p.block) {
        uint64_t mark = tl_mark(tl);

        tl_store(tl, sum + (uint64_t)i * row, sum_rows(tl, &p, i, least(p.block, p.m - i)));
        tl_release(tl, mark);
    }
    kb_all_reduce_at(TL_HERE, tl, group_over(tl, OVER_PES), c);
    if (p.dtype != p.sums)
        round_rows(tl, &p, sum, y);
}

/* PEs of all SIPs. */
static int64_t ranks_of(const kb_bench_run *run)
{
    return kb_pe_count(kb_bench_topology(run));
}

/* Every PE gets all of y: y[i] is that of PE i. */
static void setup(kb_bench_run *run)
{
    static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");
    kb_shape of_all = KB_SHAPE(ranks_of(run), m, k);

    if (!is_even(run, "mlp_tp"))
        return;
    choose_for(run, "mlp_tp",
               (struct question){.topo = kb_bench_topology(run),
                                 .over = OVER_PES,
                                 .call = KB_ALL_REDUCE,
                                 .count = m * k,
                                 .dtype = sum_dtype(dtype)});
    kb_bench_input(run, "x", dtype, KB_SHAPE(m, k), everywhere, 1);
    kb_bench_input(run, "w1", dtype, KB_SHAPE(k, n), BY_COLUMNS, 1 / sqrt((double)k));
    kb_bench_input(run, "w2", dtype, KB_SHAPE(n, k), BY_ROWS, 1 / sqrt((double)n));
    kb_bench_output(run, "y", dtype, of_all, BY_ROWS);
    kb_bench_scratch(run, "sums", sum_dtype(dtype), of_all, BY_ROWS);
    kb_bench_launch(run, "mlp_tp", mlp_tp, NULL, 0);
}

static double activation(enum act act, double x)
{
    return act == RELU      ? fmax(x, 0)
           : act == SIGMOID ? 1 / (1 + exp(-x))
           : act == TANH    ? tanh(x)
                            : x * (1 + erf(x / sqrt(2))) / 2;
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t m = kb_bench_int(run, "M"), n = kb_bench_int(run, "N"), k = kb_bench_int(run, "K");
    double *hidden = calloc((size_t)(m * n), sizeof *hidden);

    if (!hidden)
        return;
    kb_reference_product(t[X], t[W1], hidden, m, n, k);
    for (int64_t i = 0; i < m * n; i++)
        hidden[i] = activation((enum act)kb_bench_choice(run, "act"), hidden[i]);
    kb_reference_product(hidden, t[W2], t[Y], m, k, n);
    for (int64_t i = 1; i < ranks_of(run); i++)
        memcpy(t[Y] + i * m * k, t[Y], (size_t)(m * k) * sizeof **t);
    free(hidden);
}

static const kb_bench_arg args_of_mlp_tp[] = {
    SIZE_ARG("M", "32", "tokens: rows of x and y"),
    SIZE_ARG("N", "1024", "hidden columns: of w1, rows of w2"),
    SIZE_ARG("K", "256", "columns of x and y, rows of w1"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64"),
    {"act", KB_ARG_CHOICE, "relu", 0, 0, "relu sigmoid tanh gelu", "what hidden sums go through"},
    COLL_ARG(REDUCE_ALGORITHMS),
};

const kb_bench bench_mlp_tp = {
    .name = "mlp_tp",
    .summary = "y = act(x w1) w2, hidden columns shared by all PEs, y summed by an all-reduce",
    .args = args_of_mlp_tp,
    .n_args = sizeof args_of_mlp_tp / sizeof *args_of_mlp_tp,
    .setup = setup,
    .reference = reference,
};
