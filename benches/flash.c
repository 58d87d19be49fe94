/* flash.c -- o = softmax(q k^T / sqrt(D)) v, causal, in f16: attention with engines that overlap.
 *
 * A PE takes blocks of BM rows of q, and for each goes over all rows of k and v up to the diagonal,
 * at most BT at once: a dot gives scores, MATH makes weights exp(score - largest so far) of them,
 * and two accumulators add up the weights times v, and times ones, which are their sums. Where a
 * block raises the largest score of a row, both are scaled first. tl_async() has all of it side by
 * side: the scores of the next block are computed, and the rows behind it loaded, while MATH makes
 * weights.
 *
 * The heads are spread over the PEs, so on cube8 each of 8 heads stays in a cube. PEs of a head
 * begin at different rows of k, in slices of their own, and take blocks of q in turns to and fro,
 * as later ones have more to do. With S=32768 and D=128 cube8 reaches 62.8 % of its peak. MATH
 * binds: of each 128 x 128 weights it has 1536 cycles, and GEMM 1088.
 *
 * Arguments: H heads, S rows, D columns, BM and BT.
 */
#include "attention.h"

enum { Q, K, V, ONES, MASK, O }; /* tensors */
enum { SUMS = 16 };              /* equal columns of sums: as few as GEMM takes at once */

/* Rows `first` and up of all heads, which lie in one slice. */
static tl_tensor *rows_of(tl_ctx *tl, const kb_tensor *t, int64_t first, int64_t n)
{
    return tl_load(tl, row_address(tl, t, first), KB_F16, KB_SHAPE(n, kb_tensor_shape(t).dim[1]));
}

/* So many of `n` rows lie in the slice of the first. */
static int64_t run_of(tl_ctx *tl, const kb_tensor *t, int64_t first, int64_t n)
{
    kb_shard shard = shard_of_row(tl, t, first);

    return least(n, shard.first[0] + shard.shape.dim[0] - first);
}

/* Adds -60000 to scores above the diagonal, which is `ahead` columns before the first. */
static tl_tensor *masked(tl_ctx *tl, const kb_args *args, tl_tensor *scores, int64_t ahead)
{
    kb_shard mask = kb_tensor_shard(args->tensors[MASK], tl_pe(tl));
    int64_t width = mask.shape.dim[1], strides[] = {2 * width, 2};
    uint64_t from = mask.address + 2 * (uint64_t)(width - mask.shape.dim[0] + ahead);

    return tl_add(tl, scores, tl_load_strided(tl, from, KB_F16, tl_shape(scores), strides));
}

/* Rows s to s + m of the head whose row 0 is row `head` of all, by at most `n` rows of k and v. */
static void attend(tl_ctx *tl, const kb_args *args, int64_t head, int64_t s, int64_t m, int64_t n)
{
    kb_tensor *const *of = args->tensors;
    int64_t d = kb_tensor_shape(of[Q]).dim[1], end = s + m;
    int64_t begin = tl_pe(tl) % parts(end, n) * n, rows;
    tl_acc *acc = tl_acc_new(tl, KB_F32, m, d), *sums = tl_acc_new(tl, KB_F32, m, SUMS);
    tl_tensor *root = tl_scalar(tl, 1 / sqrt((double)d)), *ones = rows_of(tl, of[ONES], 0, n);
    tl_tensor *q = tl_mul(tl, rows_of(tl, of[Q], head + s, m), root), *max = NULL, *less, *x;

    for (int64_t done = 0, t = begin; done < end; done += rows, t = t + rows < end ? t + rows : 0) {
        uint64_t mark = tl_mark(tl);
        tl_tensor *k, *v, *most;

        rows = run_of(tl, of[K], head + t, least(n, (t < begin ? begin : end) - t));
        k = rows_of(tl, of[K], head + t, rows);
        v = rows_of(tl, of[V], head + t, rows);
        x = tl_dot(tl, q, k, .transpose_b = true);
        if (t + rows > s)
            x = masked(tl, args, x, t - s);
        most = tl_max(tl, x, 1, true);
        if (max) {
            most = tl_maximum(tl, most, max);
            less = tl_exp(tl, tl_sub(tl, max, most));
            tl_acc_scale(tl, acc, less);
            tl_acc_scale(tl, sums, less);
            tl_free(tl, max);
        }
        max = tl_keep(tl, most);
        x = tl_exp(tl, tl_sub(tl, x, most));
        tl_dot_acc(tl, acc, x, v);
        tl_dot_acc(tl, sums, x, rows == n ? ones : rows_of(tl, of[ONES], 0, rows));
        tl_release(tl, mark);
    }
    x = tl_max(tl, tl_acc_store(tl, sums, KB_F32), 1, true);
    tl_store(tl, row_address(tl, of[O], head + s),
             tl_acc_store(tl, acc, KB_F16, {.op = TL_DIV, .y = x}));
}

/* The PEs of head `h` are those from h / H of all of them on, at least one. */
static void flash(tl_ctx *tl, const kb_args *args)
{
    int64_t heads = kb_bench_int(args->user, "H"), s = kb_bench_int(args->user, "S"), m;
    int64_t all = all_pes(tl), pe = tl_pe(tl);

    tl_async(tl, true);
    for (int64_t h = 0; h < heads; h++) {
        int64_t first = h * all / heads, pes = (h + 1) * all / heads - first;

        pes = pes > 0 ? pes : 1;
        for (int64_t i = 0, row = 0; row < s && pe >= first && pe < first + pes; i++, row += m) {
            uint64_t mark = tl_mark(tl);
            int64_t turn = i / pes % 2 ? pes - 1 - i % pes : i % pes;

            m = run_of(tl, args->tensors[Q], h * s + row,
                       least(kb_bench_int(args->user, "BM"), s - row));
            if (first + turn == pe)
                attend(tl, args, h * s, row, m, kb_bench_int(args->user, "BT"));
            tl_release(tl, mark);
        }
    }
}

/* -- the bench ------------------------------------------------------------------------------ */

static void fill_ones(kb_bench_run *run, double *values, uint64_t n)
{
    (void)run;
    for (uint64_t i = 0; i < n; i++)
        values[i] = 1;
}

static void fill_mask(kb_bench_run *run, double *values, uint64_t n)
{
    int64_t m = kb_bench_int(run, "BM"), before = kb_bench_int(run, "BT"), width = m + before;

    for (uint64_t i = 0; i < n; i++)
        values[i] = (int64_t)i % width - before > (int64_t)i / width ? -60000 : 0;
}

/* Whether the sums of one block of rows fit into the accumulators of each PE. A block is no larger
 * than what a PE has of q, which is no less than an equal part. */
static bool has_room(kb_bench_run *run)
{
    const kb_topology *topo = kb_bench_topology(run);
    int64_t s = kb_bench_int(run, "S"), d = kb_bench_int(run, "D"), pes = kb_pe_count(topo);
    int64_t part = kb_bench_int(run, "H") * s / (pes > 0 ? pes : 1);
    int64_t m = least(kb_bench_int(run, "BM"), least(s, part > 0 ? part : 1));
    int64_t needs = m * (d + SUMS) * 4;
    char line[192];

    for (uint32_t pe = 0; pe < pes; pe++) {
        if (needs <= (int64_t)kb_pe_acc_bytes(topo, pe))
            continue;
        snprintf(line, sizeof line,
                 "flash needs accumulators of %lld bytes for BM=%lld and D=%lld, "
                 "'cube.pe.pe_gemm.acc_kb' has %llu",
                 (long long)needs, (long long)m, (long long)d,
                 (unsigned long long)kb_pe_acc_bytes(topo, pe));
        kb_bench_refuse(run, line);
        return false;
    }
    return true;
}

static void setup(kb_bench_run *run)
{
    static const kb_placement everywhere = {KB_REPLICATE, KB_REPLICATE};
    int64_t m = kb_bench_int(run, "BM"), n = kb_bench_int(run, "BT");
    kb_shape all =
        KB_SHAPE(kb_bench_int(run, "H") * kb_bench_int(run, "S"), kb_bench_int(run, "D"));

    if (!has_room(run))
        return;
    kb_bench_input(run, "q", KB_F16, all, BY_ROWS, 1);
    kb_bench_input(run, "k", KB_F16, all, BY_ROWS, 1);
    kb_bench_input(run, "v", KB_F16, all, BY_ROWS, 1);
    kb_bench_input_by(run, "ones", KB_F16, KB_SHAPE(n, SUMS), everywhere, fill_ones);
    kb_bench_input_by(run, "mask", KB_F16, KB_SHAPE(m, m + n), everywhere, fill_mask);
    kb_bench_output(run, "o", KB_F16, all, BY_ROWS);
    kb_bench_launch(run, "flash", flash, NULL, 0);
}

struct expected {
    const kb_bench_run *run;
    double *const *t;
};

/* Row `i` of all heads, by plain loops. */
static void reference_of_row(void *arg, int64_t i)
{
    const struct expected *e = arg;
    int64_t s = kb_bench_int(e->run, "S"), d = kb_bench_int(e->run, "D"), n = i % s + 1;
    const double *q = e->t[Q] + i * d, *k = e->t[K] + i / s * s * d, *v = e->t[V] + i / s * s * d;
    double *o = e->t[O] + i * d, most = -INFINITY, sum = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < n; j++) {
            double x = 0;

            for (int64_t c = 0; c < d; c++)
                x += q[c] * k[j * d + c];
            x /= sqrt((double)d);
            if (pass == 0) {
                most = fmax(most, x);
                continue;
            }
            x = exp(x - most);
            sum += x;
            for (int64_t c = 0; c < d; c++)
                o[c] += x * v[j * d + c];
        }
    for (int64_t c = 0; c < d; c++)
        o[c] /= sum;
}

static void reference(const kb_bench_run *run, double *const *t)
{
    struct expected e = {run, t};

    kb_reference_parallel(kb_bench_int(run, "H") * kb_bench_int(run, "S"), reference_of_row, &e);
}

static const kb_bench_arg args_of_flash[] = {
    SIZE_ARG("H", "8", "heads"),
    SIZE_ARG("S", "512", "rows, per head"),
    SIZE_ARG("D", "64", "columns"),
    SIZE_ARG("BM", "256", "rows of q at once"),
    SIZE_ARG("BT", "512", "rows of k and v at once, at most"),
};

const kb_bench bench_flash = {
    .name = "flash",
    .summary =
        "o = softmax(q k^T / sqrt(D)) v, causal, in f16, with DMA, GEMM and MATH side by side",
    .args = args_of_flash,
    .n_args = sizeof args_of_flash / sizeof *args_of_flash,
    .setup = setup,
    .reference = reference,
};
