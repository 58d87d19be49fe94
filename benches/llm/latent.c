/*
 * latent.c -- attention whose keys and values are made of one latent of each token.
 *
 * Of a token only its latent and one key that is turned are kept, for all heads. A head's key would
 * be the latent by a matrix; so the query is multiplied by that matrix instead (absorbed), and is
 * as wide as the latent. A score is the product of the absorbed query and the latent, plus that of
 * the turned columns; the sum of values is one of latents, which another matrix of each head makes
 * values. So attention has one head of keys, whose first columns are the values.
 *
 * Columns of a matrix are permuted so that each PE has what it needs of both parts: of q each head
 * has `depth` columns, then those that are turned; of the latent's product unit by unit so many of
 * the latent, then so many that are turned, and a PE keeps all of the first kind before the others.
 *
 * Of prompts that would be many more products than keys and values of each head are. So these are
 * made, of the latents of all tokens, which are read back from their pages; the turned columns of
 * keys stay as they are, for all heads.
 *
 * Example: a latent of 512 and 64 turned columns are 64 units of 8 and 1. With 8 PEs each has 64
 * columns of latents, then 8 that are turned, and stores them in two pieces of each token's row.
 */
#include "benches/llm/llm_place.h"

tl_tensor *llm_load_q(const struct llm_pe *me, const struct llm_op *op, int64_t row, int64_t rows)
{
    int64_t absorbed = op->v_dim, turned = op->dim - absorbed, wide = op->z.cols / op->heads;
    tl_run *runs =
        tl_alloc_host(me->tl, (size_t)(2 * rows * op->heads * (me->s->q + 1)) * sizeof *runs);
    uint32_t n = 0;

    for (int64_t i = row; i < row + rows; i++)
        for (int64_t head = 0; head < op->heads; head++) {
            n += runs_of(me, &op->x, i, 1, head * absorbed, absorbed, runs + n);
            n += runs_of(me, &op->z, i, 1, (head + 1) * wide - turned, turned, runs + n);
        }
    return tl_load_list(me->tl, runs, n, op->x.dtype, KB_SHAPE(rows * op->heads, op->dim));
}

/* Turns [n, cols] of x from column `col` of the own part on; z has what rope reads of tables. */
static tl_tensor *turned(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n,
                         int64_t col, int64_t cols)
{
    tl_tensor *x = load_own(me, &op->x, i, n, col, cols), *number = tl_scalar(me->tl, 1);

    tl_free(me->tl, load_own(me, &op->z, i, n, 0, op->turned));
    return tl_fma(me->tl, x, number, tl_mul(me->tl, x, number));
}

void llm_q_rope(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->x);
    int64_t cols = part.cols * op->turned / (op->x.cols / op->heads), n;
    int64_t rows = block_rows(me, cols + op->turned, 4);

    for (int64_t i = 0; i < part.rows && cols > 0; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, part.rows - i);
        store_own(me, &op->x, i, n, part.cols - cols, cols,
                  turned(me, op, i, n, part.cols - cols, cols));
        tl_release(me->tl, mark);
    }
}

/* Columns of n tokens of one page, row by row. */
static void keep(const struct llm_pe *me, const struct llm_op *op, int64_t row, int64_t col,
                 tl_tensor *x)
{
    int64_t token = op->kv - op->q + row % op->q, size = (int64_t)kb_dtype_bytes(me->s->kv_dtype);
    int64_t strides[] = {op->dim * size, size};

    if (me->s->kv_dtype != op->x.dtype)
        x = tl_cast(me->tl, x, me->s->kv_dtype);
    tl_store_strided(me->tl,
                     llm_page(me, op, row / op->q, token / me->s->page) +
                         (uint64_t)((token % me->s->page * op->dim + col) * size),
                     x, strides);
}

/* x is the product that has latents and the key, y the latents behind their norm. */
void llm_latent(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part x = own_part(me, &op->x), y = own_part(me, &op->y);
    int64_t each = op->x.unit - op->y.unit, cols = x.cols / op->x.unit * each, n;
    int64_t at = op->v_dim + x.col / op->x.unit * each;

    for (int64_t i = 0; i < x.rows && x.cols > 0; i += n) {
        uint64_t mark = tl_mark(me->tl);
        int64_t row = x.row + i, token = op->kv - op->q + row % op->q;

        n = least(least(me->s->page - token % me->s->page, op->q - row % op->q), x.rows - i);
        keep(me, op, row, y.col, load_own(me, &op->y, i, n, 0, y.cols));
        keep(me, op, row, at, turned(me, op, i, n, x.cols - cols, cols));
        tl_release(me->tl, mark);
    }
}

/* y has what is kept of all tokens, request by request. */
void llm_kept(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part y = own_part(me, &op->y);
    int64_t rows = block_rows(me, y.cols, 3), n;
    uint64_t size = kb_dtype_bytes(me->s->kv_dtype);

    for (int64_t i = 0; i < y.rows && y.cols > 0; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, y.rows - i);
        tl_run *runs = tl_alloc_host(me->tl, (size_t)n * sizeof *runs);
        for (int64_t k = 0; k < n; k++) {
            int64_t row = y.row + i + k, token = row % op->kv;

            runs[k] = (tl_run){llm_page(me, op, row / op->kv, token / me->s->page) +
                                   (uint64_t)(token % me->s->page * op->dim + y.col) * size,
                               (uint64_t)y.cols * size};
        }
        tl_tensor *x =
            tl_load_list(me->tl, runs, (uint32_t)n, me->s->kv_dtype, KB_SHAPE(n, y.cols));
        if (me->s->kv_dtype != op->y.dtype)
            x = tl_cast(me->tl, x, op->y.dtype);
        store_own(me, &op->y, i, n, 0, y.cols, x);
        tl_release(me->tl, mark);
    }
}
