/*
 * llm_gemm.c -- y = x w over the PEs of a rank, of all rows or of each expert's: each makes its
 * part of y, where the next operation reads it.
 *
 * PE (r, c) of the grid has rows part r and columns part c of x and y, and of w rows part r of
 * columns part c. So the columns of x that a product needs lie in the PEs of its row, and the rows
 * of w in those of its column; a product never reaches over a border of these parts, unless its
 * tile is deeper than a part of x is wide: then it gathers columns of several PEs. It begins with
 * its own columns of x, so that not all PEs read from one. Weights lie tile by tile, so that a tile
 * of them is one run of bytes. A tile of y is a sum in an accumulator; loads run ahead as far as
 * the TCM has room.
 *
 * Of experts each has a w of its own, and its rows are one behind the other in y. In x they are,
 * too, or they are gathered from wherever they lie in the same row of the grid.
 */
#include "benches/llm/llm_place.h"
#include <math.h>

/* Rows of the part, and columns of it, which are multiplied by one w. */
struct rows {
    int64_t first, n;
    const int64_t *from; /* rows of x; NULL: the same */
    uint64_t weight;     /* byte of the room */
    int64_t col, cols;   /* of the own ones of y */
    int64_t k, depth;    /* columns of x */
};

/* Rows of w that PE (i, c) has. */
static int64_t w_begin(const struct llm_pe *me, const struct rows *rows, int64_t i)
{
    return share(rows->depth, i, me->s->p);
}

/* [dk, n] of w from row k, in the columns of this PE from j on. */
static tl_tensor *load_w(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                         int64_t k, int64_t dk, int64_t j, int64_t n)
{
    int64_t i = part_with(rows->depth, k, me->s->p), begin = w_begin(me, rows, i);
    int64_t before = rows->col * (w_begin(me, rows, i + 1) - begin); /* matrices of other columns */
    uint64_t at = (uint64_t)(before + (k - begin) * rows->cols + (j - rows->col) * dk) *
                  kb_dtype_bytes(op->weight_dtype);
    tl_tensor *w = tl_load(me->tl,
                           room_of(me, (int64_t)i * me->s->q + me->c,
                                   rows->weight + (uint64_t)me->layer * op->weight_bytes + at),
                           op->weight_dtype, KB_SHAPE(dk, n));

    return op->weight_dtype == op->x.dtype ? w : tl_cast(me->tl, w, op->x.dtype);
}

/* The part of x that has column `k` of this row of the grid. */
static int64_t owner_of(const struct llm_pe *me, const struct llm_matrix *x, int64_t k)
{
    return part_with(x->cols / x->unit, k / x->unit, me->s->q);
}

/* Row `i` of the part, from column k on: where it lies, and how many bytes of `dk` columns do. */
static tl_run run_of_row(const struct llm_pe *me, const struct llm_matrix *x, int64_t i, int64_t k,
                         int64_t dk)
{
    int64_t owner = owner_of(me, x, k), size = (int64_t)kb_dtype_bytes(x->dtype);
    struct llm_part part = part_at_pe(me, x, me->r, owner);

    return (tl_run){
        room_of(me, (int64_t)me->r * me->s->q + owner,
                x->at + (uint64_t)((i * part.cols + k - part.col) * size)),
        (uint64_t)(least(dk, part.col + part.cols - k) * size),
    };
}

/* [m, dk] of x from row i and column k on, whose rows are gathered, or lie in several PEs. */
static tl_tensor *load_runs(const struct llm_pe *me, const struct llm_op *op, const int64_t *from,
                            int64_t i, int64_t m, int64_t k, int64_t dk)
{
    int64_t size = (int64_t)kb_dtype_bytes(op->x.dtype), to = k + dk;
    int64_t owners = owner_of(me, &op->x, to - 1) - owner_of(me, &op->x, k) + 1;
    tl_run *runs = tl_alloc_host(me->tl, (size_t)(m * owners) * sizeof *runs);
    uint32_t n = 0;

    for (int64_t row = i; row < i + m; row++)
        for (int64_t at = k; at < to; at += (int64_t)runs[n++].nbytes / size)
            runs[n] = run_of_row(me, &op->x, from ? from[row] : row, at, to - at);
    return tl_load_list(me->tl, runs, n, op->x.dtype, KB_SHAPE(m, dk));
}

static bool gathers_k(const struct llm_pe *me, const struct llm_op *op)
{
    return op->tile.k > llm_x_width(op, me->s->q);
}

/* [m, dk] of x from row i of the part and column k on. */
static tl_tensor *load_x(const struct llm_pe *me, const struct llm_op *op, const int64_t *from,
                         int64_t i, int64_t m, int64_t k, int64_t dk)
{
    int64_t size = (int64_t)kb_dtype_bytes(op->x.dtype), owner = owner_of(me, &op->x, k);

    if (from || gathers_k(me, op))
        return load_runs(me, op, from, i, m, k, dk);
    int64_t strides[] = {part_at_pe(me, &op->x, me->r, owner).cols * size, size};
    return tl_load_strided(me->tl, run_of_row(me, &op->x, i, k, dk).address, op->x.dtype,
                           KB_SHAPE(m, dk), strides);
}

/* Columns of x that rows are multiplied by: from the first to before `to`. */
struct columns {
    int64_t first, to;
};

static uint32_t stretches(const struct llm_pe *me, const struct llm_op *op)
{
    return gathers_k(me, op) ? 2 : me->s->q;
}

/* The i-th of the stretches over whose borders no product reaches: the own part and then those of
 * the other PEs, or all from the own part on and then all before it. */
static struct columns stretch(const struct llm_pe *me, const struct llm_op *op,
                              const struct rows *rows, uint32_t i)
{
    bool joined = gathers_k(me, op);
    struct llm_part part = part_at_pe(me, &op->x, me->r, joined ? me->c : (me->c + i) % me->s->q);
    int64_t first = joined && i == 1 ? 0 : part.col;
    int64_t to = !joined ? part.col + part.cols : i == 1 ? part.col : op->x.cols;

    return (struct columns){first > rows->k ? first : rows->k, least(to, rows->k + rows->depth)};
}

/* Of a piece of k from `k` on, in a stretch of the columns of x. */
static int64_t piece_of_k(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                          const struct columns *in, int64_t k)
{
    int64_t of_w = part_with(rows->depth, k - rows->k, me->s->p);
    int64_t border = rows->k + w_begin(me, rows, of_w + 1);

    return least(op->tile.k, least(in->to, border) - k);
}

/* -- a limit ---------------------------------------------------------------------------------- */

/*
 * When it is known that another tile is better, the rest of a product is left out: as soon as the
 * cycles, the weights or the commands that a PE has not called yet cannot be done by the limit, on
 * all PEs.
 *
 * Example: the best tile so far takes 131.6 us, and the cycles of a PE 131.1. One that has called
 * half of its products at 66.5 us will not be done before 132.0.
 */
struct left {
    double cycles, bytes, pairs;
};

static struct left of_pair(const struct llm_pe *me, const struct llm_op *op, int64_t m, int64_t dk,
                           int64_t n)
{
    const double *mac = me->s->limit.mac;

    return (struct left){ceil((double)m / mac[0]) * ceil((double)dk / mac[1]) *
                             ceil((double)n / mac[2]),
                         (double)(dk * n) * (double)kb_dtype_bytes(op->weight_dtype), 1};
}

static void add(struct left *sum, const struct left *part, double times)
{
    sum->cycles += times * part->cycles;
    sum->bytes += times * part->bytes;
    sum->pairs += times * part->pairs;
}

/* Of a tile of m rows and n columns. */
static struct left of_tile(const struct llm_pe *me, const struct llm_op *op,
                           const struct rows *rows, int64_t m, int64_t n)
{
    struct left sum = {0, 0, 0};

    for (uint32_t s = 0; s < stretches(me, op); s++) {
        struct columns in = stretch(me, op, rows, s);

        for (int64_t k = in.first, dk; k < in.to; k += dk) {
            dk = piece_of_k(me, op, rows, &in, k);
            struct left pair = of_pair(me, op, m, dk, n);
            add(&sum, &pair, 1);
        }
    }
    return sum;
}

/* Of a row of tiles, of m rows. */
static struct left of_row(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                          int64_t m)
{
    int64_t cols = rows->cols, n = op->tile.n;
    struct left sum = {0, 0, 0}, tile = of_tile(me, op, rows, m, n);

    add(&sum, &tile, (double)(cols / n));
    if (cols % n > 0) {
        tile = of_tile(me, op, rows, m, cols % n);
        add(&sum, &tile, 1);
    }
    return sum;
}

static void add_rows(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                     struct left *sum)
{
    int64_t m = op->tile.m;
    struct left row;

    if (rows->n >= m) {
        row = of_row(me, op, rows, m);
        add(sum, &row, (double)(rows->n / m));
    }
    if (rows->n % m > 0) {
        row = of_row(me, op, rows, rows->n % m);
        add(sum, &row, 1);
    }
}

static struct left of_all(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                          int64_t n)
{
    struct left sum = {0, 0, 0};

    for (int64_t i = 0; i < n && me->s->limit.fs > 0; i++)
        add_rows(me, op, &rows[i], &sum);
    return sum;
}

/* The simulator rounds each command to a femtosecond: what is left is less by ROUNDED of it. */
static bool gives_up(const struct llm_pe *me, const struct left *left)
{
    static const double ROUNDED = 1e-6;
    const struct llm_limit *limit = &me->s->limit;

    if (limit->fs == 0 || *me->s->gave_up)
        return limit->fs > 0;
    double rest = fmax(left->cycles * limit->cycle_fs,
                       fmax(left->bytes * limit->byte_fs, left->pairs * limit->pair_fs));

    if ((tl_time(me->tl) - me->start_ns) * 1e6 + rest * (1 - ROUNDED) > (double)limit->fs)
        *me->s->gave_up = true;
    return *me->s->gave_up;
}

/* -- tiles ------------------------------------------------------------------------------------ */

/* Adds the products of a tile over a stretch of the columns of x. */
static void add_products(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                         const struct columns *in, tl_acc *acc, const struct llm_part *tile,
                         struct left *left)
{
    for (int64_t k = in->first, dk; k < in->to && !gives_up(me, left); k += dk) {
        uint64_t mark = tl_mark(me->tl);

        dk = piece_of_k(me, op, rows, in, k);
        tl_dot_acc(me->tl, acc, load_x(me, op, rows->from, tile->row, tile->rows, k, dk),
                   load_w(me, op, rows, k - rows->k, dk, tile->col, tile->cols));
        tl_release(me->tl, mark);
        if (me->s->limit.fs > 0) {
            struct left pair = of_pair(me, op, tile->rows, dk, tile->cols);
            add(left, &pair, -1);
        }
    }
}

static void make_tile(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                      const struct llm_part *tile, struct left *left)
{
    tl_acc *acc = tl_acc_new(me->tl, KB_F32, tile->rows, tile->cols);

    for (uint32_t s = 0; s < stretches(me, op); s++) {
        struct columns in = stretch(me, op, rows, s);

        add_products(me, op, rows, &in, acc, tile, left);
    }
    if (!gives_up(me, left))
        store_own(me, &op->y, tile->row, tile->rows, tile->col, tile->cols,
                  tl_acc_store(me->tl, acc, op->y.dtype));
}

static void make_rows(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                      struct left *left)
{
    int64_t end = rows->first + rows->n, to = rows->col + rows->cols;

    for (int64_t i = rows->first; i < end; i += op->tile.m)
        for (int64_t j = rows->col; j < to && !gives_up(me, left); j += op->tile.n) {
            uint64_t mark = tl_mark(me->tl);
            struct llm_part tile = {i, least(op->tile.m, end - i), j, least(op->tile.n, to - j)};

            make_tile(me, op, rows, &tile, left);
            tl_release(me->tl, mark);
        }
}

/* -- what is multiplied by what --------------------------------------------------------------- */

static struct rows *new_rows(const struct llm_pe *me, int64_t n)
{
    return tl_alloc_host(me->tl, (size_t)n * sizeof(struct rows));
}

static int64_t one_matrix(const struct llm_pe *me, const struct llm_op *op, struct rows **rows)
{
    struct llm_part part = own_part(me, &op->y);

    *rows = new_rows(me, 1);
    (*rows)[0] =
        (struct rows){.n = part.rows, .weight = op->weight, .cols = part.cols, .depth = op->x.cols};
    return 1;
}

/* Each head's columns of y are `depth` of its columns of x by a w of its own. */
static int64_t of_heads(const struct llm_pe *me, const struct llm_op *op, struct rows **rows)
{
    struct llm_part part = own_part(me, &op->y);
    int64_t n = op->y.cols / op->heads, end = part.col + part.cols, count = 0;

    *rows = new_rows(me, op->heads);
    for (int64_t col = part.col, to; col < end; col = to) {
        int64_t head = col / n;

        to = least((head + 1) * n, end);
        (*rows)[count++] = (struct rows){.n = part.rows,
                                         .weight = op->weight,
                                         .col = col - part.col,
                                         .cols = to - col,
                                         .k = head * (op->x.cols / op->heads),
                                         .depth = op->depth};
    }
    return count;
}

static int64_t of_experts(const struct llm_pe *me, const struct llm_op *op, struct rows **rows)
{
    struct llm_rows all = llm_rows_here(me, op);

    if (op->gathers)
        llm_read_choices(me, op);
    *rows = new_rows(me, all.experts);
    for (int64_t e = 0; e < all.experts; e++)
        (*rows)[e] = (struct rows){.first = all.first[e],
                                   .n = all.first[e + 1] - all.first[e],
                                   .from = all.from,
                                   .weight = op->weight + (uint64_t)e * op->expert_bytes,
                                   .cols = own_part(me, &op->y).cols,
                                   .depth = op->x.cols};
    return all.experts;
}

void llm_gemm(const struct llm_pe *me, const struct llm_op *op)
{
    struct rows *rows;
    int64_t n = op->experts > 0 ? of_experts(me, op, &rows)
                : op->heads > 0 ? of_heads(me, op, &rows)
                                : one_matrix(me, op, &rows);
    struct left left = of_all(me, op, rows, n);

    for (int64_t i = 0; i < n; i++)
        make_rows(me, op, &rows[i], &left);
}
