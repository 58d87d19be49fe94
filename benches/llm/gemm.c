/*
 * gemm.c -- y = x w over the PEs of a rank, of all rows or of each expert's: each makes its part of
 * y, where the next operation reads it.
 *
 * PE (r, c) of the grid has rows part r and columns part c of x and y, and of w rows part r of
 * columns part c. So the columns of x that a product needs lie in the PEs of its row, and the rows
 * of w in those of its column; a product never reaches over a border of these parts. It begins with
 * its own columns of x, so that not all PEs read from one. Weights lie tile by tile, so that a tile
 * of them is one run of bytes. A tile of y is a sum in an accumulator; loads run ahead as far as
 * the TCM has room.
 *
 * Of experts each has a w of its own, and its rows are one behind the other in y. In x they are,
 * too, or they are gathered from wherever they lie in the same row of the grid.
 */
#include "benches/llm/place.h"

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

/* [m, dk] of x from row i of the part, which PE (r, owner) has in its columns from k on. */
static tl_tensor *load_x(const struct llm_pe *me, const struct llm_op *op, int64_t owner,
                         const int64_t *from, int64_t i, int64_t m, int64_t k, int64_t dk)
{
    struct llm_part part = part_at_pe(me, &op->x, me->r, owner);
    int64_t size = (int64_t)kb_dtype_bytes(op->x.dtype), strides[] = {part.cols * size, size};
    uint64_t at = room_of(me, (int64_t)me->r * me->s->q + owner,
                          op->x.at + (uint64_t)((k - part.col) * size));

    if (!from)
        return tl_load_strided(me->tl, at + (uint64_t)(i * strides[0]), op->x.dtype,
                               KB_SHAPE(m, dk), strides);
    tl_run *runs = tl_alloc_host(me->tl, (size_t)m * sizeof *runs);
    for (int64_t row = 0; row < m; row++)
        runs[row] = (tl_run){at + (uint64_t)(from[i + row] * strides[0]), (uint64_t)(dk * size)};
    return tl_load_list(me->tl, runs, (uint32_t)m, op->x.dtype, KB_SHAPE(m, dk));
}

/* Is it known that another tile is better? What is left of the product is left out. */
static bool gives_up(const struct llm_pe *me)
{
    return me->s->give_up_fs > 0 &&
           (tl_time(me->tl) - me->start_ns) * 1e6 > (double)me->s->give_up_fs;
}

static void make_tile(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows,
                      int64_t i, int64_t m, int64_t j, int64_t n)
{
    tl_acc *acc = tl_acc_new(me->tl, KB_F32, m, n);

    for (int64_t o = 0; o < me->s->q; o++) {
        int64_t owner = (me->c + o) % me->s->q;
        struct llm_part part = part_at_pe(me, &op->x, me->r, owner);

        int64_t end = least(part.col + part.cols, rows->k + rows->depth);

        for (int64_t k = part.col > rows->k ? part.col : rows->k, dk; k < end; k += dk) {
            uint64_t mark = tl_mark(me->tl);
            int64_t i_of_w = part_with(rows->depth, k - rows->k, me->s->p);
            int64_t border = rows->k + w_begin(me, rows, i_of_w + 1);

            dk = least(op->tile.k, least(end, border) - k);
            tl_dot_acc(me->tl, acc, load_x(me, op, owner, rows->from, i, m, k, dk),
                       load_w(me, op, rows, k - rows->k, dk, j, n));
            tl_release(me->tl, mark);
            if (gives_up(me))
                dk = part.cols, o = me->s->q;
        }
    }
    store_own(me, &op->y, i, m, j, n, tl_acc_store(me->tl, acc, op->y.dtype));
}

static void make_rows(const struct llm_pe *me, const struct llm_op *op, const struct rows *rows)
{
    int64_t end = rows->first + rows->n, to = rows->col + rows->cols;

    for (int64_t i = rows->first; i < end && !gives_up(me); i += op->tile.m)
        for (int64_t j = rows->col; j < to && !gives_up(me); j += op->tile.n) {
            uint64_t mark = tl_mark(me->tl);

            make_tile(me, op, rows, i, least(op->tile.m, end - i), j, least(op->tile.n, to - j));
            tl_release(me->tl, mark);
        }
}

/* Each head's columns of y are `depth` of its columns of x by a w of its own. */
static void make_heads(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->y);
    int64_t n = op->y.cols / op->heads, end = part.col + part.cols;

    for (int64_t col = part.col, to; col < end; col = to) {
        int64_t head = col / n;

        to = least((head + 1) * n, end);
        make_rows(me, op,
                  &(struct rows){.n = part.rows,
                                 .weight = op->weight,
                                 .col = col - part.col,
                                 .cols = to - col,
                                 .k = head * (op->x.cols / op->heads),
                                 .depth = op->depth});
    }
}

static void make_experts(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_rows all = llm_rows_here(me, op);

    if (op->gathers)
        llm_read_choices(me, op);
    for (int64_t e = 0; e < all.experts; e++)
        make_rows(me, op,
                  &(struct rows){.first = all.first[e],
                                 .n = all.first[e + 1] - all.first[e],
                                 .from = all.from,
                                 .weight = op->weight + (uint64_t)e * op->expert_bytes,
                                 .cols = own_part(me, &op->y).cols,
                                 .depth = op->x.cols});
}

void llm_gemm(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->y);

    if (op->experts > 0)
        make_experts(me, op);
    else if (op->heads > 0)
        make_heads(me, op);
    else
        make_rows(
            me, op,
            &(struct rows){
                .n = part.rows, .weight = op->weight, .cols = part.cols, .depth = op->x.cols});
}
