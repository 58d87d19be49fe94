/*
 * gemm.c -- y = x w over the PEs of a rank: each makes its part of y, where the next operation
 * reads it.
 *
 * PE (r, c) of the grid has rows part r and columns part c of x and y, and of w rows part r of
 * columns part c. So the columns of x that a product needs lie in the PEs of its row, and the rows
 * of w in those of its column; a product never reaches over a border of these parts. It begins with
 * its own columns of x, so that not all PEs read from one. Weights lie tile by tile, so that a tile
 * of them is one run of bytes. A tile of y is a sum in an accumulator; loads run ahead as far as
 * the TCM has room.
 */
#include "benches/llm/place.h"
#include <math.h>

/* Rows of w that PE (i, c) has. */
static int64_t w_begin(const struct llm_pe *me, const struct llm_op *op, int64_t i)
{
    return share(op->x.cols, i, me->s->p);
}

/* [dk, n] of w from row k, in the columns of this PE from j on. */
static tl_tensor *load_w(const struct llm_pe *me, const struct llm_op *op, int64_t k, int64_t dk,
                         int64_t j, int64_t n)
{
    int64_t i = part_with(op->x.cols, k, me->s->p), cols = own_part(me, &op->y).cols;
    uint64_t at =
        (uint64_t)((k - w_begin(me, op, i)) * cols + j * dk) * kb_dtype_bytes(op->weight_dtype);
    tl_tensor *w = tl_load(me->tl,
                           room_of(me, (int64_t)i * me->s->q + me->c,
                                   op->weight + (uint64_t)me->layer * op->weight_bytes + at),
                           op->weight_dtype, KB_SHAPE(dk, n));

    return op->weight_dtype == op->x.dtype ? w : tl_cast(me->tl, w, op->x.dtype);
}

/* [m, dk] of x from its row i, which PE (r, owner) has in its columns from k on. */
static tl_tensor *load_x(const struct llm_pe *me, const struct llm_op *op, int64_t owner, int64_t i,
                         int64_t m, int64_t k, int64_t dk)
{
    struct llm_part part = part_at_pe(me, &op->x, me->r, owner);
    int64_t size = (int64_t)kb_dtype_bytes(op->x.dtype), strides[] = {part.cols * size, size};

    return tl_load_strided(me->tl,
                           room_of(me, (int64_t)me->r * me->s->q + owner,
                                   op->x.at + (uint64_t)((i * part.cols + k - part.col) * size)),
                           op->x.dtype, KB_SHAPE(m, dk), strides);
}

/* Of a piece of k from `k` on, in `part` of the columns of x. */
static int64_t piece_of_k(const struct llm_pe *me, const struct llm_op *op,
                          const struct llm_part *part, int64_t k)
{
    int64_t border = w_begin(me, op, part_with(op->x.cols, k, me->s->p) + 1);

    return least(op->tile.k, least(part->col + part->cols, border) - k);
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
static struct left of_tile(const struct llm_pe *me, const struct llm_op *op, int64_t m, int64_t n)
{
    struct left sum = {0, 0, 0};

    for (int64_t owner = 0; owner < me->s->q; owner++) {
        struct llm_part part = part_at_pe(me, &op->x, me->r, owner);

        for (int64_t k = part.col, dk; k < part.col + part.cols; k += dk) {
            dk = piece_of_k(me, op, &part, k);
            struct left pair = of_pair(me, op, m, dk, n);
            add(&sum, &pair, 1);
        }
    }
    return sum;
}

/* Of a row of tiles, of m rows. */
static struct left of_row(const struct llm_pe *me, const struct llm_op *op, int64_t m)
{
    int64_t cols = own_part(me, &op->y).cols, n = op->tile.n;
    struct left sum = {0, 0, 0}, tile = of_tile(me, op, m, n);

    add(&sum, &tile, (double)(cols / n));
    if (cols % n > 0) {
        tile = of_tile(me, op, m, cols % n);
        add(&sum, &tile, 1);
    }
    return sum;
}

static struct left of_all(const struct llm_pe *me, const struct llm_op *op)
{
    int64_t rows = own_part(me, &op->y).rows, m = op->tile.m;
    struct left sum = {0, 0, 0}, row;

    if (me->s->limit.fs == 0)
        return sum;
    row = of_row(me, op, m);
    add(&sum, &row, (double)(rows / m));
    if (rows % m > 0) {
        row = of_row(me, op, rows % m);
        add(&sum, &row, 1);
    }
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

/* Adds the products of a tile over the columns of x that PE (r, owner) has. */
static void add_products(const struct llm_pe *me, const struct llm_op *op, int64_t owner,
                         tl_acc *acc, const struct llm_part *tile, struct left *left)
{
    struct llm_part part = part_at_pe(me, &op->x, me->r, owner);

    for (int64_t k = part.col, dk; k < part.col + part.cols && !gives_up(me, left); k += dk) {
        uint64_t mark = tl_mark(me->tl);

        dk = piece_of_k(me, op, &part, k);
        tl_dot_acc(me->tl, acc, load_x(me, op, owner, tile->row, tile->rows, k, dk),
                   load_w(me, op, k, dk, tile->col, tile->cols));
        tl_release(me->tl, mark);
        if (me->s->limit.fs > 0) {
            struct left pair = of_pair(me, op, tile->rows, dk, tile->cols);
            add(left, &pair, -1);
        }
    }
}

static void make_tile(const struct llm_pe *me, const struct llm_op *op, const struct llm_part *tile,
                      struct left *left)
{
    tl_acc *acc = tl_acc_new(me->tl, KB_F32, tile->rows, tile->cols);

    for (int64_t o = 0; o < me->s->q; o++)
        add_products(me, op, (me->c + o) % me->s->q, acc, tile, left);
    if (!gives_up(me, left))
        store_own(me, &op->y, tile->row, tile->rows, tile->col, tile->cols,
                  tl_acc_store(me->tl, acc, op->y.dtype));
}

void llm_gemm(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->y);
    struct left left = of_all(me, op);

    for (int64_t i = 0; i < part.rows; i += op->tile.m)
        for (int64_t j = 0; j < part.cols && !gives_up(me, &left); j += op->tile.n) {
            uint64_t mark = tl_mark(me->tl);
            struct llm_part tile = {i, least(op->tile.m, part.rows - i), j,
                                    least(op->tile.n, part.cols - j)};

            make_tile(me, op, &tile, &left);
            tl_release(me->tl, mark);
        }
}
