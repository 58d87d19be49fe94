/* attention.c -- o = softmax(q k^T / sqrt(D)) v by blocks; a second launch merges the parts.
 *
 * As in flash attention, no matrix of all scores exists. A unit of work is a block of 32 rows of q
 * with a part of 128 rows of k and v of the same head. For it a PE keeps three things: the largest
 * score of each row, the sum of exp(score - largest), and that sum weighted by v (struct partial).
 * Two of them merge when both are scaled to the larger of their maxima, so parts of one row can be
 * computed by different PEs in any order.
 *
 * The first launch computes all units: a PE takes those whose results lie in its own slice, loads
 * q, k and v from the slices that have them, and stores its partial there. The second launch merges
 * the parts of each block of o and divides by the sums; the PEs take the blocks in turn. So all
 * traffic is loads from other slices and stores: no messages.
 *
 * On cube8 with the initial values: 8 heads * 4 blocks of q * 2 parts = 64 units, one for each PE,
 * 2683.11 ns; then 32 blocks of o on half of the PEs, 1724.84 ns. Much of that is waiting for
 * links: all units of a head load the same rows of k and v, which lie in few slices.
 *
 * Arguments: H heads, S rows of q and o, T rows of k and v, D columns, dtype. Sums are kept in f32
 * (f64 for f64). A block has fewer than 32 rows if D is so large that they would not fit into a
 * TCM.
 */
#include "attention.h"

/*
 * A unit of work is a block of rows of q with PART rows of k and v of its head, which are loaded in
 * blocks, too. Its results stay in scratch tensors, pending, until the second launch merges them.
 */
enum { BLOCK = 32, PART = 128 };
enum { Q, K, V, O, MAX, SUM, ACC }; /* tensors */

struct plan {
    int64_t heads, s, t, d;
    int64_t block;             /* rows */
    int64_t blocks_s, parts_t; /* of a head */
    kb_dtype dtype, sums;
};

static struct plan plan_of(const kb_bench_run *run, const kb_topology *topo)
{
    struct plan p = {.heads = kb_bench_int(run, "H"),
                     .s = kb_bench_int(run, "S"),
                     .t = kb_bench_int(run, "T"),
                     .d = kb_bench_int(run, "D"),
                     .dtype = kb_bench_dtype(run, "dtype")};

    p.sums = sum_dtype(p.dtype);
    p.block = least(BLOCK, rows_that_fit(topo, p.d * 8, 8));
    p.blocks_s = parts(p.s, p.block);
    p.parts_t = parts(p.t, PART);
    return p;
}

/* x * by_x + y * by_y; frees x and y. */
static tl_tensor *mixed(tl_ctx *tl, tl_tensor *x, tl_tensor *by_x, tl_tensor *y, tl_tensor *by_y)
{
    tl_tensor *part_x = scaled(tl, x, by_x);
    tl_tensor *part_y = scaled(tl, y, by_y);
    tl_tensor *z = tl_add(tl, part_x, part_y);

    tl_free(tl, part_x);
    tl_free(tl, part_y);
    return z;
}

/* Merges y into x: both are scaled to the larger of their largest scores. */
static void merge(tl_ctx *tl, struct partial *x, struct partial y)
{
    tl_tensor *max = tl_maximum(tl, x->max, y.max);
    tl_tensor *by_x = exp_above(tl, x->max, max), *by_y = exp_above(tl, y.max, max);

    x->max = max;
    x->sum = mixed(tl, x->sum, by_x, y.sum, by_y);
    x->acc = mixed(tl, x->acc, by_x, y.acc, by_y);
    tl_free(tl, by_x);
    tl_free(tl, by_y);
}

/* `rows` of k and v, from row `t` of `head`. */
static struct partial block(tl_ctx *tl, const kb_args *args, const struct plan *p, tl_tensor *q,
                            int64_t head, int64_t t, int64_t rows)
{
    uint64_t offset = (uint64_t)(t * p->d * element_bytes(args->tensors[K]));
    kb_shape shape = KB_SHAPE(rows, p->d);
    tl_tensor *k = tl_load(tl, row_address(tl, args->tensors[K], head) + offset, p->dtype, shape);
    tl_tensor *v =
        tl_load_async(tl, row_address(tl, args->tensors[V], head) + offset, p->dtype, shape);
    tl_tensor *scores = scores_of(tl, q, k, p->sums);
    struct partial x;

    tl_free(tl, k);
    x.max = tl_max(tl, scores, 1, true);
    scores = exp_above(tl, scores, x.max);
    x.sum = tl_sum(tl, scores, 1, true);
    scores = rounded(tl, scores, p->dtype);
    tl_wait(tl, v);
    x.acc = tl_dot(tl, scores, v, .dtype_out = p->sums);
    tl_free(tl, scores);
    tl_free(tl, v);
    return x;
}

static void make_unit(tl_ctx *tl, const kb_args *args, const struct plan *p, int64_t unit)
{
    int64_t head = unit / (p->blocks_s * p->parts_t), part = unit % p->parts_t;
    int64_t s = unit / p->parts_t % p->blocks_s * p->block, rows = least(p->block, p->s - s);
    int64_t t = part * PART, end = least(p->t, t + PART);
    uint64_t offset = (uint64_t)(s * p->d * element_bytes(args->tensors[Q]));
    uint64_t from = row_address(tl, args->tensors[Q], head) + offset;
    tl_tensor *q = tl_load(tl, from, p->dtype, KB_SHAPE(rows, p->d));
    struct partial x = block(tl, args, p, q, head, t, least(p->block, end - t));

    while ((t += p->block) < end)
        merge(tl, &x, block(tl, args, p, q, head, t, least(p->block, end - t)));
    tl_store(tl, row_address(tl, args->tensors[MAX], unit), x.max);
    tl_store(tl, row_address(tl, args->tensors[SUM], unit), x.sum);
    tl_store(tl, row_address(tl, args->tensors[ACC], unit), x.acc);
}

/* Every PE computes the units whose results lie in its slice. */
static void attention_parts(tl_ctx *tl, const kb_args *args)
{
    struct plan p = plan_of(args->user, tl_topology(tl));
    kb_shard mine = kb_tensor_shard(args->tensors[MAX], tl_pe(tl));

    for (int64_t i = 0; i < mine.shape.dim[0]; i++) {
        uint64_t mark = tl_mark(tl);

        make_unit(tl, args, &p, mine.first[0] + i);
        tl_release(tl, mark);
    }
}

static struct partial load_partial(tl_ctx *tl, const kb_args *args, const struct plan *p,
                                   int64_t unit, int64_t rows)
{
    kb_shape column = KB_SHAPE(rows, 1), all = KB_SHAPE(rows, p->d);
    struct partial x;

    x.max = tl_load_async(tl, row_address(tl, args->tensors[MAX], unit), p->sums, column);
    x.sum = tl_load_async(tl, row_address(tl, args->tensors[SUM], unit), p->sums, column);
    x.acc = tl_load_async(tl, row_address(tl, args->tensors[ACC], unit), p->sums, all);
    tl_wait(tl, x.max);
    tl_wait(tl, x.sum);
    tl_wait(tl, x.acc);
    return x;
}

/* The PEs take the blocks of o in turn. */
static void attention_merge(tl_ctx *tl, const kb_args *args)
{
    struct plan p = plan_of(args->user, tl_topology(tl));
    int64_t row_bytes = p.d * element_bytes(args->tensors[O]);

    for (int64_t i = tl_pe(tl); i < p.heads * p.blocks_s; i += all_pes(tl)) {
        int64_t s = i % p.blocks_s * p.block, rows = least(p.block, p.s - s);
        uint64_t mark = tl_mark(tl);
        struct partial x = load_partial(tl, args, &p, i * p.parts_t, rows);

        for (int64_t part = 1; part < p.parts_t; part++)
            merge(tl, &x, load_partial(tl, args, &p, i * p.parts_t + part, rows));
        tl_tensor *o = rounded(tl, tl_div(tl, x.acc, x.sum), p.dtype);
        tl_store(tl, row_address(tl, args->tensors[O], i / p.blocks_s) + (uint64_t)(s * row_bytes),
                 o);
        tl_release(tl, mark);
    }
}

static void setup(kb_bench_run *run)
{
    struct plan p = plan_of(run, kb_bench_topology(run));
    int64_t units = p.heads * p.blocks_s * p.parts_t;

    kb_bench_input(run, "q", p.dtype, KB_SHAPE(p.heads, p.s, p.d), BY_ROWS, 1);
    kb_bench_input(run, "k", p.dtype, KB_SHAPE(p.heads, p.t, p.d), BY_ROWS, 1);
    kb_bench_input(run, "v", p.dtype, KB_SHAPE(p.heads, p.t, p.d), BY_ROWS, 1);
    kb_bench_output(run, "o", p.dtype, KB_SHAPE(p.heads, p.s, p.d), BY_ROWS);
    kb_bench_scratch(run, "max", p.sums, KB_SHAPE(units, p.block), BY_ROWS);
    kb_bench_scratch(run, "sum", p.sums, KB_SHAPE(units, p.block), BY_ROWS);
    kb_bench_scratch(run, "acc", p.sums, KB_SHAPE(units, p.block, p.d), BY_ROWS);
    kb_bench_launch(run, "attention_parts", attention_parts, NULL, 0);
    kb_bench_launch(run, "attention_merge", attention_merge, NULL, 0);
}

struct expected {
    const kb_bench_run *run;
    double *const *t;
};

static struct reference_head head_of(const struct expected *e, int64_t head)
{
    int64_t s = kb_bench_int(e->run, "S"), n = kb_bench_int(e->run, "T");
    int64_t d = kb_bench_int(e->run, "D");
    double *const *t = e->t;

    return (struct reference_head){t[Q] + head * s * d,
                                   t[K] + head * n * d,
                                   t[V] + head * n * d,
                                   t[O] + head * s * d,
                                   s,
                                   n,
                                   d,
                                   d,
                                   d,
                                   reference_loops()};
}

/* Block `i` of all rows of all heads. */
static void reference_of_block(void *arg, int64_t i)
{
    const struct expected *e = arg;
    int64_t blocks = parts(kb_bench_int(e->run, "S"), REFERENCE_ROWS);
    struct reference_head head = head_of(e, i / blocks);

    reference_attention(&head, i % blocks);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    struct expected e = {run, t};
    int64_t blocks = parts(kb_bench_int(run, "S"), REFERENCE_ROWS);

    kb_reference_parallel(kb_bench_int(run, "H") * blocks, reference_of_block, &e);
}

static const kb_bench_arg args_of_attention[] = {
    SIZE_ARG("H", "8", "heads"),
    SIZE_ARG("S", "128", "rows of q and o, per head"),
    SIZE_ARG("T", "256", "rows of k and v, per head"),
    SIZE_ARG("D", "64", "columns of all"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64"),
};

const kb_bench bench_attention = {
    .name = "attention",
    .summary = "o = softmax(q k^T / sqrt(D)) v by blocks: parts on all PEs, then merged",
    .args = args_of_attention,
    .n_args = sizeof args_of_attention / sizeof *args_of_attention,
    .setup = setup,
    .reference = reference,
};
