/* all_reduce.c -- y, at every rank, is the sum (maximum, minimum) of x over all ranks.
 *
 * Each rank has a vector of `count` elements; afterwards each rank has the same reduced vector. The
 * ranks are all PEs, or with over=cubes or sips all cubes or SIPs, whose PEs then have a part of
 * the vector each and exchange it with the PEs of the same number. The traffic is messages between
 * PEs, plus loads and stores of each rank's own slice; which ranks talk depends on the algorithm:
 *
 *     ring           2 (n - 1) steps around all ranks, each with 1/n of the vector
 *     halving        2 log2(n) exchanges with partners, of a half, a quarter, ... of the vector
 *     mesh           a ring in each cube, then lines along rows, columns and SIPs
 *     torus          rings in cubes, rows, columns and SIPs, each on what the one before left
 *     hierarchical   a ring in each cube, then lines to the centre of the mesh and between SIPs
 *
 * algorithm=auto runs them first, except those whose lower bound (collective_bound.h) already
 * passes the best time, and takes the fastest, or none if the bounds tell: for 1024 f16 on cube8
 * mesh, with 370.98 ns; ring is not tried, as its bound is 1329.79 ns (it takes 1987.11). Other
 * arguments: dtype, op (sum, max, min), and inputs=same, which keeps one vector for all ranks.
 *
 * Sums are rounded at every addition, so each algorithm has an order of its own. The reference
 * repeats that order, and the results agree bit for bit.
 */
#include <string.h>
#include "all_reduce.h"
#include "even.h"
#include "collective_auto.h"

static void all_reduce(tl_ctx *tl, const kb_args *args)
{
    const kb_bench_run *run = args->user;
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_dtype dtype = kb_tensor_dtype(args->tensors[1]);
    struct vector from = vector_of(&x, dtype), to = vector_of(&y, dtype);

    all_reduce_by(tl, (enum algorithm)kb_bench_choice(run, "algorithm"), over_of(run), from, to,
                  op_of(run));
}

static void setup(kb_bench_run *run)
{
    if (!is_even(run, "all_reduce"))
        return;
    note_one_rank(run, "all_reduce");
    if (kb_bench_choice(run, "algorithm") == AUTO)
        choose_algorithm(run, "all_reduce");
    kb_dtype dtype = kb_bench_dtype(run, "dtype");
    int64_t count = kb_bench_int(run, "count"), all = sharing_of(run).ranks * count;

    input_rows(run, 1, scale_of(run));
    kb_bench_output(run, "y", dtype, KB_SHAPE(all), BY_COLUMNS);
    kb_bench_launch(run, "all_reduce", all_reduce, NULL, 0);
}

/* -- reference ------------------------------------------------------------------------------ */

/* Ranks beyond a power of two are added first; then halves, the largest first. */
static void reduce_as_halving(const struct summands *s)
{
    int64_t p = power_of_two_in(s->n);

    for (int64_t half = p; half > 0; half /= 2)
        for (int64_t i = 0; i < half && i + half < s->n; i++)
            for (int64_t e = 0; e < s->len; e++)
                s->v[i][e] = reduced(s->op, s->dtype, s->v[i][e], s->v[i + half][e]);
}

/* From both ends of the line to the middle, which adds the lower side first. */
static void reduce_as_line(const struct summands *s)
{
    int64_t root = s->n / 2;

    for (int64_t e = 0; e < s->len; e++) {
        double below = summand(s, 0)[e], above = summand(s, s->n - 1)[e];
        double sum = summand(s, root)[e];

        for (int64_t i = 1; i < root; i++)
            below = reduced(s->op, s->dtype, summand(s, i)[e], below);
        for (int64_t i = s->n - 2; i > root; i--)
            above = reduced(s->op, s->dtype, summand(s, i)[e], above);
        if (root > 0)
            sum = reduced(s->op, s->dtype, sum, below);
        if (root < s->n - 1)
            sum = reduced(s->op, s->dtype, sum, above);
        s->v[0][e] = sum;
    }
}

/* Reduces along the axes of a grid of ranks, axis[0] first; the sum becomes the first vector. */
static void reduce_axes(const struct summands *s, const struct ranks *axis, int n_axes,
                        enum algorithm algorithm)
{
    struct summands part = *s;
    int64_t n = axis[0].n;

    part.order = axis[0].order;
    for (int64_t first = 0; first < s->n; first += n) {
        part.v = s->v + first;
        part.n = n;
        if (n_axes == 4 || algorithm == TORUS || (n_axes == 1 && algorithm == HIERARCHICAL))
            reduce_as_ring(&part);
        else
            reduce_as_line(&part);
    }
    if (n_axes == 1)
        return;
    /* The other axes reduce each part that a ring leaves, or all that a line leaves. */
    int64_t parts = n_axes == 4 || algorithm == TORUS ? n : 1;

    part.n = s->n / n;
    part.v = calloc((size_t)part.n, sizeof *part.v);
    for (int64_t c = 0; c < parts && part.v; c++) {
        part.len = share(s->len, c + 1, parts) - share(s->len, c, parts);
        for (int64_t i = 0; i < part.n; i++)
            part.v[i] = s->v[i * n] + share(s->len, c, parts);
        reduce_axes(&part, axis + 1, n_axes - 1, algorithm);
    }
    free(part.v);
}

/* How many ranks the axes of the machine have, and in which order rings visit them. */
static struct grid axes_of(const kb_topology *topo, enum over over)
{
    kb_info info = info_of_pes(topo);
    struct grid g = {.cube.n = over == OVER_PES ? info.pes_per_cube : 1,
                     .row.n = over == OVER_SIPS ? 1 : info.mesh_w,
                     .column.n = over == OVER_SIPS ? 1 : info.mesh_h,
                     .sip.n = info.sips};

    order_grid(topo, &g);
    return g;
}

static void reduce_all(const kb_bench_run *run, const struct summands *s)
{
    enum algorithm algorithm = (enum algorithm)kb_bench_choice(run, "algorithm");
    struct grid g = axes_of(kb_bench_topology(run), over_of(run));
    const struct ranks axes[] = {g.cube, g.row, g.column, g.sip};

    if (algorithm == HALVING)
        reduce_as_halving(s);
    else if (algorithm == RING || algorithm == AUTO)
        reduce_as_ring(s);
    else
        reduce_axes(s, axes, 4, algorithm);
}

/* Reduces the part of the vectors that one of the PEs has which share them. */
static void reduce_part(const kb_bench_run *run, double *const *t, int64_t lo, int64_t hi)
{
    int64_t count = kb_bench_int(run, "count"), ranks = sharing_of(run).ranks, n = hi - lo;
    double *copies = calloc((size_t)(ranks * n) + 1, sizeof *copies);
    struct summands s = {.v = calloc((size_t)ranks, sizeof *s.v),
                         .n = ranks,
                         .len = n,
                         .dtype = kb_bench_dtype(run, "dtype"),
                         .op = op_of(run),
                         .order = order_over(kb_bench_topology(run), over_of(run))};

    for (int64_t i = 0; i < ranks && copies && s.v; i++) {
        s.v[i] = copies + i * n;
        memcpy(s.v[i], input_of(run, t[0], 0, i) + lo, (size_t)n * sizeof **t);
    }
    if (copies && s.v) {
        reduce_all(run, &s);
        for (int64_t i = 0; i < ranks; i++)
            memcpy(t[1] + i * count + lo, s.v[0], (size_t)n * sizeof **t);
    }
    free(copies);
    free(s.v);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    struct sharing s = sharing_of(run);
    int64_t lo, hi;

    for (int64_t i = 0; i < s.cubes * s.pes; i++) {
        shared_part(s, kb_bench_int(run, "count"), i, &lo, &hi);
        reduce_part(run, t, lo, hi);
    }
}

static const kb_bench_arg args_of_all_reduce[] = {
    COUNT_ARG("1024", "elements of a rank"),
    DTYPE_ARG("f16", ALL_DTYPES),
    OP_ARG,
    OVER_ARG,
    ALGORITHM_ARG,
    INPUTS_ARG,
};

const kb_bench bench_all_reduce = {
    .name = "all_reduce",
    .summary = "y = the sum (maximum, minimum) of x over all ranks, at every rank",
    .args = args_of_all_reduce,
    .n_args = sizeof args_of_all_reduce / sizeof *args_of_all_reduce,
    .setup = setup,
    .reference = reference,
};
