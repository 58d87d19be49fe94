/* phase2_gemm.c -- products of matrices by the inner loops of BLIS, on operands packed once.
 *
 * Phase 2 computes many products, large and small, of operands that are often used again, by
 * several threads, and must give the same bytes for any number of them. Only the innermost loops of
 * BLIS are called, its micro-kernels: a *tile* of the result that fits the registers, from one
 * *panel* of each operand (gemm_tiles.c). The loops around them and the packing (gemm_pack.c) are
 * our own: operands stay packed while they are used again, small products do not pay for BLIS's
 * interface, nothing is set up at the start, and the tile is chosen by the features of the
 * processor, where BLIS 0.9 goes by brand strings.
 *
 * Five levels, with the numbers of a product of 1024x1024x1024 in f16 on a processor with AVX-512,
 * whose tiles are 12 rows by 32 columns:
 *   part     rows for one thread: 6 parts of about 170 rows. Cut by the shape alone, at panels.
 *   x block  15 panels of the right operand, 480 KiB: they stay in the second-level cache,
 *   k block  for 256 steps of K (KC). 4 blocks; sums of the later ones are added to the first.
 *   panel    of the left operand, 12 rows x 256 of K in f32, 12 KiB: stays in the first-level cache
 *            while it meets all panels of the x block.
 *   tile     12x32 sums in registers, 256 multiply-adds each.
 * Both operands are converted to f32 while they are packed, and sums are rounded to f16 once, after
 * the epilogues (finish_rows()).
 *
 * Invariants:
 *   - An element of the result is, for each block of K, one chain of fused multiply-adds from k = 0
 *     up, and the blocks' sums are added in order. So it depends neither on the parts, nor on the
 *     tile's size, nor on the threads.
 *   - A product that adds to an accumulator is rounded to its type, and then added: what a product
 *     and a tl_add() give.
 *   - A column-major result is computed as its transpose: rows of `struct product` are contiguous.
 *   - x is the operand along the registers. With AVX-512 that is the right one (`turned`).
 *
 * Results on an EPYC, GFLOP/s in f32 by one thread: 64^3 163, BLIS itself 100; 512^3 242
 * and 240; 2048^3 220 and 223. Tried without a measurable gain: packing a block only when it is
 * needed, K innermost, blocks of 384 and 480, prefetching in the packing of large operands.
 */
#include "phase2/gemm.h"
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/gemm_pack.h"
#include "phase2/gemm_tiles.h"
#include "phase2/math_op.h"
#include <stdlib.h>
#include <string.h>

/* -- a product ------------------------------------------------------------------------------ */

static struct gemm_stride stride_of(bool transposed, bool column_major, uint32_t rows,
                                    uint32_t columns)
{
    struct gemm_stride stored = {transposed ? rows : columns, 1};

    if (column_major)
        stored = (struct gemm_stride){1, transposed ? columns : rows};
    return transposed ? (struct gemm_stride){stored.column, stored.row} : stored;
}

void gemm_strides(const struct op *op, struct gemm_stride *a, struct gemm_stride *b,
                  struct gemm_stride *out)
{
    *a = stride_of(op->transpose_a, op->col_a, op->m, op->k);
    *b = stride_of(op->transpose_b, op->col_b, op->k, op->n);
    *out = stride_of(false, op->col_out, op->m, op->n);
}

kb_dtype gemm_lane(const struct op *op)
{
    kb_dtype in = op_operands_dtype(op), acc = (kb_dtype)op->dtype_acc;

    if (dtype_is_float(in))
        return in == KB_F64 || acc == KB_F64 ? KB_F64 : KB_F32;
    if (kb_dtype_bytes(acc) == 8)
        return KB_U64;
    return kb_dtype_bytes((kb_dtype)op->out.dtype) == 8 ? KB_U64 : KB_U32;
}

/* A product, one of a batch; rows and columns are those of the transpose if the result is
 * column-major. */
struct product {
    const struct op *op;
    kb_dtype lane;
    struct kernel kernel;
    uint32_t rows, columns;
    const struct op_tensor *left, *right;
    struct pack_key left_key, right_key;
};

static struct pack_key pack_key(kb_dtype lane, uint32_t extent, uint32_t k, int64_t stride,
                                int64_t k_stride)
{
    return (struct pack_key){.lane = (uint8_t)lane,
                             .extent = extent,
                             .k = k,
                             .stride = k_stride == 1 ? stride : 1,
                             .k_stride = k_stride};
}

/* Where the operand's matrix of product `number` begins in its version, and its type. */
static void set_place(struct pack_key *key, const struct op_tensor *t, uint32_t number)
{
    uint64_t matrix = t->shape.rank == 3 ? dims_elements(&t->shape) / t->shape.dim[0] : 0;

    key->dtype = t->dtype;
    key->offset = t->view.offset + dtype_size(t->dtype, number * matrix);
}

static void set_places(struct product *p, uint32_t number)
{
    set_place(&p->left_key, p->left, number);
    set_place(&p->right_key, p->right, number);
}

static struct product product_of(const struct op *op)
{
    struct product p = {.op = op, .lane = gemm_lane(op)};
    struct gemm_stride a, b, out;
    struct pack_key a_key, b_key;

    gemm_strides(op, &a, &b, &out);
    a_key = pack_key(p.lane, op->m, op->k, a.row, a.column);
    b_key = pack_key(p.lane, op->n, op->k, b.column, b.row);
    p.kernel = gemm_kernel(p.lane);
    p.rows = op->col_out ? op->n : op->m;
    p.columns = op->col_out ? op->m : op->n;
    p.left = &op->in[op->col_out];
    p.right = &op->in[!op->col_out];
    p.left_key = op->col_out ? b_key : a_key;
    p.right_key = op->col_out ? a_key : b_key;
    p.left_key.width = p.kernel.turned ? p.kernel.nr : p.kernel.mr;
    p.right_key.width = p.kernel.turned ? p.kernel.mr : p.kernel.nr;
    return p;
}

/* Parts have about so many multiplications, and at least so many rows: each part reads all of the
 * right operand. */
enum { PART_WORK = 1 << 24, PART_ROWS = 192 };

static uint32_t n_parts(const struct product *p)
{
    uint64_t row_work = (uint64_t)p->columns * p->op->k;
    uint64_t rows = PART_WORK / row_work > PART_ROWS ? PART_WORK / row_work : PART_ROWS;

    return (uint32_t)((p->rows + rows - 1) / rows);
}

uint32_t gemm_parts(const struct op *op)
{
    struct product p = product_of(op);

    return n_parts(&p) * op_batch(op);
}

/* The first row of part `part` of `n`: parts are whole panels, as even as possible. */
static uint32_t part_begin(const struct product *p, uint32_t part, uint32_t n)
{
    uint64_t row = (uint64_t)part * panels(&p->left_key) / n * p->left_key.width;

    return row < p->rows ? (uint32_t)row : p->rows;
}

/* Panels [first, end) of both operands, and the place of their product. */
struct range {
    const struct packed *x, *y;
    uint32_t x_first, x_end, y_first, y_end;
    unsigned char *c; /* the tile of the first panels */
    int64_t rs, cs;   /* elements */
    struct gemm_memory *memory;
};

/* About as much as memory delivers while a tile of a small product is computed. */
enum { AHEAD_BYTES = 4096 };

static void fetch_ahead(struct gemm_memory *memory)
{
    size_t most = AHEAD_BYTES;

    for (int i = 0; i < 3; i++)
        for (struct gemm_ahead *a = &memory->ahead[i]; a->at < a->end && most; most -= ALIGN) {
            __builtin_prefetch(a->at, 0, 2);
            a->at += ALIGN;
        }
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

/*
 * One block of K: some panels of x, which stay cached, times all panels of y. The panel of y stays
 * in the first-level cache while all panels of x pass. Tiles at the edges have fewer rows or
 * columns: panels are filled with zeros there, but only m x n sums are written.
 */
static void multiply_block(const struct kernel *kernel, const struct range *r, uint32_t k,
                           uint32_t x_first, uint32_t x_end)
{
    const struct pack_key *xk = &r->x->key, *yk = &r->y->key;
    size_t bytes = lane_bytes(xk), x_panel, y_panel;
    struct tile t = {.k = at_most(xk->k - k, KC), .add = k > 0, .rs = r->rs, .cs = r->cs};

    x_panel = (size_t)t.k * xk->width * bytes;
    y_panel = (size_t)t.k * yk->width * bytes;
    for (uint32_t j = r->y_first; j < r->y_end; j++) {
        t.y = panel_at(r->y, j, k);
        t.n = at_most(yk->extent - j * yk->width, yk->width);
        for (uint32_t i = x_first; i < x_end; i++) {
            t.x = panel_at(r->x, i, k);
            t.m = at_most(xk->extent - i * xk->width, xk->width);
            t.x_next =
                i + 1 < x_end ? (const unsigned char *)t.x + x_panel : panel_at(r->x, x_first, k);
            t.y_next =
                i + 1 < x_end || j + 1 == r->y_end ? t.y : (const unsigned char *)t.y + y_panel;
            t.c = r->c + ((int64_t)(i - r->x_first) * xk->width * r->rs +
                          (int64_t)(j - r->y_first) * yk->width * r->cs) *
                             (int64_t)bytes;
            fetch_ahead(r->memory);
            kernel->run(&t);
        }
    }
}

/*
 * For each block of x all blocks of K, from the first: the part of C to which they add stays
 * cached. The order of the blocks of K is also that in which sums are added, so it must not change.
 */
static void multiply(const struct kernel *kernel, const struct range *r)
{
    for (uint32_t i = r->x_first; i < r->x_end; i += kernel->x_block)
        for (uint32_t k = 0; k < r->x->key.k; k += KC)
            multiply_block(kernel, r, k, i, at_most(r->x_end, i + kernel->x_block));
}

/* Computes rows [first, end) of the result into lanes at `c`, row-major. */
static void multiply_rows(const struct product *p, const struct packed *left,
                          const struct packed *right, uint32_t first, uint32_t end, void *c,
                          struct gemm_memory *memory)
{
    uint32_t left_first = first / left->key.width;
    uint32_t left_end = (end + left->key.width - 1) / left->key.width;
    struct range r = {
        .x = left,
        .y = right,
        .x_first = left_first,
        .x_end = left_end,
        .y_end = panels(&right->key),
        .c = c,
        .rs = p->columns,
        .cs = 1,
    };

    if (p->kernel.turned)
        r = (struct range){
            .x = right,
            .y = left,
            .x_end = panels(&right->key),
            .y_first = left_first,
            .y_end = left_end,
            .c = c,
            .rs = 1,
            .cs = p->columns,
        };
    r.memory = memory;
    multiply(&p->kernel, &r);
}

/* -- after the product ---------------------------------------------------------------------- */

/* The type of the sums before epilogues. Unsigned lanes hold integers of the accumulator's sign. */
static kb_dtype sums_dtype(const struct product *p)
{
    kb_dtype acc = (kb_dtype)p->op->dtype_acc;

    if (dtype_is_float(p->lane))
        return p->lane;
    if (kb_dtype_bytes(acc) == kb_dtype_bytes(p->lane))
        return acc;
    if (p->lane == KB_U64)
        return dtype_is_signed((kb_dtype)p->op->in[0].dtype) ? KB_I64 : KB_U64;
    return dtype_is_signed((kb_dtype)p->op->in[0].dtype) ? KB_I32 : KB_U32;
}

/* Are the lanes the result, without a further step? */
static bool is_plain(const struct product *p)
{
    return !p->op->n_epilogues && sums_dtype(p) == (kb_dtype)p->op->out.dtype;
}

/* `to` has no more bytes than `from`, so reading stays ahead of writing. */
static void cast_in_place(kb_dtype to, kb_dtype from, unsigned char *at, size_t n)
{
    size_t to_bytes = kb_dtype_bytes(to), from_bytes = kb_dtype_bytes(from), chunk;
    uint64_t copy[64];

    for (size_t i = 0; i < n; i += chunk) {
        chunk = n - i < 64 ? n - i : 64;
        memcpy(copy, at + i * from_bytes, chunk * from_bytes);
        cast_elements(to, at + i * to_bytes, from, copy, chunk);
    }
}

/* Applies the epilogues to rows of sums, which it overwrites, and rounds them into the result. */
static void finish_rows(const struct product *p, unsigned char *sums, uint32_t first, uint32_t end,
                        unsigned char *out)
{
    kb_dtype lanes = sums_dtype(p), acc = (kb_dtype)p->op->dtype_acc;
    kb_dtype to = (kb_dtype)p->op->out.dtype;
    size_t bytes = kb_dtype_bytes(p->lane), to_bytes = kb_dtype_bytes(to);
    bool in_acc = p->op->n_epilogues && acc != lanes;

    for (uint32_t row = first; row < end; row++) {
        unsigned char *sum = sums + (size_t)(row - first) * p->columns * bytes;
        unsigned char *place = out + (size_t)row * p->columns * to_bytes;

        if (in_acc)
            cast_in_place(acc, lanes, sum, p->columns);
        math_epilogues(p->op, in_acc ? acc : lanes, sum, (struct math_run){row, 0, p->columns});
        cast_elements(to, place, in_acc ? acc : lanes, sum, p->columns);
    }
}

/* Rows of the result are added to what the product adds to. */
static void add_before(const struct product *p, uint32_t first, uint32_t end, unsigned char *out)
{
    kb_dtype dtype = (kb_dtype)p->op->out.dtype;
    size_t at = (size_t)first * p->columns * kb_dtype_bytes(dtype);
    struct view before = p->op->in[2].view;
    struct math_lane in[3] = {
        {.at = before.v->bytes + before.offset + at, .stride = 1, .dtype = dtype},
        {.at = out + at, .stride = 1, .dtype = dtype}};

    math_elements(TL_ADD, dtype, in, dtype, out + at, (size_t)(end - first) * p->columns);
}

/* -- parts ---------------------------------------------------------------------------------- */

static bool memory_grow(struct gemm_memory *memory, size_t nbytes)
{
    struct block b;

    if (memory->nbytes >= nbytes)
        return true;
    b = gemm_block_new(nbytes);
    if (!b.at)
        return false;
    free(memory->bytes);
    memory->bytes = b.at;
    memory->nbytes = b.nbytes;
    return true;
}

void gemm_memory_free(struct gemm_memory *memory)
{
    free(memory->bytes);
    memory->bytes = NULL;
    memory->nbytes = 0;
}

/* Parts of the products of a batch, one after the other. */
bool gemm_part(const struct op *op, uint32_t part, unsigned char *out, struct gemm_memory *memory)
{
    struct product p = product_of(op);
    uint32_t n = n_parts(&p), number = part / n;
    uint32_t first = part_begin(&p, part % n, n), end = part_begin(&p, part % n + 1, n);
    size_t bytes = kb_dtype_bytes(p.lane);
    struct packed *left, *right;

    set_places(&p, number);
    left = gemm_pack(p.left->view.v, &p.left_key, memory->pool);
    right = left ? gemm_pack(p.right->view.v, &p.right_key, memory->pool) : NULL;
    if (!right)
        return false;
    out += (size_t)number * p.rows * p.columns * kb_dtype_bytes((kb_dtype)op->out.dtype);
    if (is_plain(&p)) {
        multiply_rows(&p, left, right, first, end, out + (size_t)first * p.columns * bytes, memory);
    } else {
        if (!memory_grow(memory, (size_t)(end - first) * p.columns * bytes))
            return false;
        multiply_rows(&p, left, right, first, end, memory->bytes, memory);
        finish_rows(&p, memory->bytes, first, end, out);
    }
    if (op->n_in > 2)
        add_before(&p, first, end, out);
    return true;
}
