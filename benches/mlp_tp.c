/* mlp_tp.c -- y = act(x w1) w2, tensor-parallel: PEs share the hidden columns and add their y.
 *
 * Two layers, cut as Megatron cuts them: each PE has some of the hidden columns, which are columns
 * of w1 and rows of w2, and a copy of x. From these it computes act(x w1) w2 for its hidden columns
 * without talking to any other PE: a matrix as large as y, but only a summand of it. An all-reduce
 * over all PEs then adds the summands, and every PE ends with all of y.
 *
 * So the first half are two products of product.h on a grid of the own PE alone, of x and w1 to
 * `hidden`, whose sums go through act in f32 (f64 for f64), and of that and w2 to `sums`; the
 * second half is the messages of the all-reduce. Summands are added in f32 and rounded to dtype at
 * the end.
 *
 * On cube8 with the initial values a PE has 16 hidden columns, and the all-reduce adds 64 matrices
 * of 32 x 256 f32, 32 KiB each. algorithm=auto takes hierarchical: 2121.92 ns in all; with ring it
 * would be 2897.55 ns. Arguments: M, N, K, dtype, act, and algorithm of the all-reduce.
 */
#include "coll_auto.h"
#include "product.h"

enum { X, W1, W2, Y, SUMS, HIDDEN }; /* tensors */
enum act { RELU, SIGMOID, TANH, GELU };

/* The part of a PE: all of x, and as many columns of w1 as rows of w2. */
struct part {
    uint64_t x, w1, w2, hidden, y, sums; /* addresses */
    int64_t m, n, k;                     /* n: its hidden columns */
    kb_dtype dtype, sum_dtype;
    enum act act;
};

static uint64_t own(tl_ctx *tl, const kb_args *args, int tensor)
{
    return kb_tensor_shard(args->tensors[tensor], tl_pe(tl)).address;
}

static struct part part_of_pe(tl_ctx *tl, const kb_args *args)
{
    return (struct part){
        .x = own(tl, args, X),
        .w1 = own(tl, args, W1),
        .w2 = own(tl, args, W2),
        .hidden = own(tl, args, HIDDEN),
        .y = own(tl, args, Y),
        .sums = own(tl, args, SUMS),
        .m = kb_bench_int(args->user, "M"),
        .n = kb_tensor_shard(args->tensors[W2], tl_pe(tl)).shape.dim[0],
        .k = kb_bench_int(args->user, "K"),
        .dtype = kb_tensor_dtype(args->tensors[Y]),
        .sum_dtype = kb_tensor_dtype(args->tensors[SUMS]),
        .act = (enum act)kb_bench_choice(args->user, "act"),
    };
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

/* act of a sum, rounded to the type of the hidden columns. */
static tl_tensor *activated(tl_ctx *tl, tl_acc *sum, const void *arg)
{
    const struct part *p = arg;
    tl_tensor *x = tl_acc_store(tl, sum, p->sum_dtype);
    tl_tensor *y = p->act == RELU      ? tl_maximum(tl, x, tl_scalar(tl, 0))
                   : p->act == SIGMOID ? tl_sigmoid(tl, x)
                   : p->act == TANH    ? tl_tanh(tl, x)
                                       : gelu(tl, x);

    tl_free(tl, x);
    return rounded(tl, y, p->dtype);
}

/* The cut of a product of the own PE alone. */
static struct cut cut_alone(struct room room, int64_t m, int64_t n, int64_t k, kb_dtype dtype,
                            kb_dtype dtype_c)
{
    struct cut x = {.m = m, .n = n, .k = k, .rows = 1, .dtype = dtype, .dtype_c = dtype_c};

    choose(&x, room, 1);
    count_steps(&x, 1);
    return x;
}

static struct matrix matrix_at(uint64_t address, int64_t columns)
{
    return (struct matrix){.address = address, .columns = columns};
}

/* sums = act(x w1) w2 of the own hidden columns. */
static void own_sums(tl_ctx *tl, const struct part *p)
{
    struct room room = room_of(tl_topology(tl));
    struct product first = {.cut = cut_alone(room, p->m, p->n, p->k, p->dtype, p->dtype),
                            .a = matrix_at(p->x, p->k),
                            .b = matrix_at(p->w1, p->n),
                            .c = matrix_at(p->hidden, p->n),
                            .finish = activated,
                            .arg = p};
    struct product second = {.cut = cut_alone(room, p->m, p->k, p->n, p->dtype, p->sum_dtype),
                             .a = matrix_at(p->hidden, p->n),
                             .b = matrix_at(p->w2, p->k),
                             .c = matrix_at(p->sums, p->k)};

    product(tl, &first);
    product(tl, &second);
}

/* Of a PE that has no hidden columns. */
static void no_sums(tl_ctx *tl, const struct part *p)
{
    int64_t rows = rows_that_fit(tl_topology(tl), p->k * 8, 8);
    uint64_t row = (uint64_t)p->k * kb_dtype_bytes(p->sum_dtype);

    for (int64_t i = 0; i < p->m; i += rows) {
        tl_tensor *zeros = tl_full(tl, p->sum_dtype, KB_SHAPE(least(rows, p->m - i), p->k), 0);

        tl_store(tl, p->sums + (uint64_t)i * row, zeros);
        tl_free(tl, zeros);
    }
}

/* y = sums, rounded to the type of y. */
static void round_rows(tl_ctx *tl, const struct part *p)
{
    int64_t rows = rows_that_fit(tl_topology(tl), p->k * 8, 8);

    for (int64_t i = 0; i < p->m; i += rows) {
        kb_shape shape = KB_SHAPE(least(rows, p->m - i), p->k);
        uint64_t at = (uint64_t)(i * p->k);
        tl_tensor *x =
            tl_load(tl, p->sums + at * kb_dtype_bytes(p->sum_dtype), p->sum_dtype, shape);

        x = rounded(tl, x, p->dtype);
        tl_store(tl, p->y + at * kb_dtype_bytes(p->dtype), x);
        tl_free(tl, x);
    }
}

static void mlp_tp(tl_ctx *tl, const kb_args *args)
{
    struct part p = part_of_pe(tl, args);
    bool rounds = p.dtype != p.sum_dtype;
    kb_coll sum = {.in = p.sums,
                   .out = rounds ? p.sums : p.y,
                   .count = p.m * p.k,
                   .dtype = p.sum_dtype,
                   .op = TL_ADD,
                   .algorithm = coll_of(args->user)};

    if (p.n > 0)
        own_sums(tl, &p);
    else
        no_sums(tl, &p);
    kb_all_reduce_at(TL_HERE, tl, group_over(tl, OVER_PES), sum);
    if (rounds)
        round_rows(tl, &p);
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
    struct room room = room_of(kb_bench_topology(run));
    struct cut x = cut_alone(room, m, parts(n, ranks_of(run)), k, dtype, sum_dtype(dtype));

    if (!can_talk(run, "mlp_tp"))
        return;
    if (!fits(&x, room, x.bm, x.bn, x.bk)) {
        refuse(run, "mlp_tp", &x, room);
        return;
    }
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
    kb_bench_scratch(run, "hidden", dtype, KB_SHAPE(m, n), BY_COLUMNS);
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
