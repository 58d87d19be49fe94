/* gemm.c -- products of matrices by the inner loops of BLIS, on operands packed once. */
#include "phase2/gemm.h"
#include "data/cast.h"
#include "phase2/gemm_pack.h"
#include "phase2/gemm_tiles.h"
#include "phase2/math_op.h"
#include <stdlib.h>
#include <string.h>

/*
 * Only the innermost loops of BLIS are called, its "micro-kernels": a tile of C that fits the
 * registers, from a panel of each operand. The loops around them and the packing are ours: so
 * operands stay packed while they are used again, small products do not pay for BLIS's interface,
 * nothing is set up at the start, and the configuration is that of the processor, by its features
 * (BLIS 0.9 goes by brand strings).                                            limits.md, section 6
 */

/* -- a product ------------------------------------------------------------------------------ */

static struct gemm_lie lie(bool transposed, bool column_major, uint32_t rows, uint32_t columns)
{
    struct gemm_lie stored = {transposed ? rows : columns, 1};

    if (column_major)
        stored = (struct gemm_lie){1, transposed ? columns : rows};
    return transposed ? (struct gemm_lie){stored.column, stored.row} : stored;
}

void gemm_lies(const struct op *op, struct gemm_lie *a, struct gemm_lie *b, struct gemm_lie *out)
{
    *a = lie(op->transpose_a, op->col_a, op->m, op->k);
    *b = lie(op->transpose_b, op->col_b, op->k, op->n);
    *out = lie(false, op->col_out, op->m, op->n);
}

kb_dtype gemm_lane(const struct op *op)
{
    kb_dtype in = (kb_dtype)op->in[0].dtype, acc = (kb_dtype)op->dtype_acc;

    if (dtype_is_float(in))
        return in == KB_F64 || acc == KB_F64 ? KB_F64 : KB_F32;
    if (dtype_is_float((kb_dtype)op->out.dtype) || kb_dtype_bytes(acc) == 8)
        return KB_U64;
    return kb_dtype_bytes((kb_dtype)op->out.dtype) == 8 ? KB_U64 : KB_U32;
}

/* Rows and columns of the result as it lies: a column-major one is computed transposed. */
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

static struct product product_of(const struct op *op)
{
    struct product p = {.op = op, .lane = gemm_lane(op)};
    struct gemm_lie a, b, out;
    struct pack_key a_key, b_key;

    gemm_lies(op, &a, &b, &out);
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

/* Parts have about this many multiplications, and at least so many rows: the right operand is read
 * for each. */
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

    return n_parts(&p);
}

/* Where part `part` of `n` begins: parts are whole panels, as even as can be. */
static uint32_t part_begin(const struct product *p, uint32_t part, uint32_t n)
{
    uint64_t row = (uint64_t)part * panels(&p->left_key) / n * p->left_key.width;

    return row < p->rows ? (uint32_t)row : p->rows;
}

/* Panels [first, end) of both operands, and where their tiles go. */
struct range {
    const struct packed *x, *y;
    uint32_t x_first, x_end, y_first, y_end;
    unsigned char *c; /* of the tile of the first panels */
    int64_t rs, cs;   /* elements */
    struct gemm_room *room;
};

/* As much as comes from memory while a tile of a small product is computed. */
enum { AHEAD_BYTES = 4096 };

static void fetch_ahead(struct gemm_room *room)
{
    size_t most = AHEAD_BYTES;

    for (int i = 0; i < 3; i++)
        for (struct gemm_ahead *a = &room->ahead[i]; a->at < a->end && most; most -= ALIGN) {
            __builtin_prefetch(a->at, 0, 2);
            a->at += ALIGN;
        }
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

/* One block of K times some panels of x that stay cached while all of y passes. */
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
            fetch_ahead(r->room);
            kernel->run(&t);
        }
    }
}

/* K innermost: the part of C that a block of x makes stays cached while it is added to. */
static void multiply(const struct kernel *kernel, const struct range *r)
{
    for (uint32_t i = r->x_first; i < r->x_end; i += kernel->x_block)
        for (uint32_t k = 0; k < r->x->key.k; k += KC)
            multiply_block(kernel, r, k, i, at_most(r->x_end, i + kernel->x_block));
}

/* Rows [first, end) of the result, into lanes at `c`, row-major. */
static void multiply_rows(const struct product *p, const struct packed *left,
                          const struct packed *right, uint32_t first, uint32_t end, void *c,
                          struct gemm_room *room)
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
    r.room = room;
    multiply(&p->kernel, &r);
}

/* -- after the product ---------------------------------------------------------------------- */

/* What the sums are, before epilogues: unsigned lanes hold integers of the accumulator's sign. */
static kb_dtype sums_dtype(const struct product *p)
{
    kb_dtype acc = (kb_dtype)p->op->dtype_acc;

    if (dtype_is_float(p->lane))
        return p->lane;
    if (!dtype_is_float(acc) && kb_dtype_bytes(acc) == kb_dtype_bytes(p->lane))
        return acc;
    if (p->lane == KB_U64)
        return dtype_is_signed((kb_dtype)p->op->in[0].dtype) ? KB_I64 : KB_U64;
    return dtype_is_signed((kb_dtype)p->op->in[0].dtype) ? KB_I32 : KB_U32;
}

/* The lanes are the result. */
static bool is_plain(const struct product *p)
{
    return !p->op->n_epilogues && sums_dtype(p) == (kb_dtype)p->op->out.dtype;
}

/* The part of an epilogue's operand that meets one row of the result as it lies. */
static struct math_lane epilogue_lane(const struct product *p, const struct op_tensor *t,
                                      uint32_t row)
{
    struct math_lane lane = {.dtype = (kb_dtype)t->dtype, .scalar = t->scalar};
    uint32_t rank = t->shape.rank;
    uint32_t last = rank > 0 ? t->shape.dim[rank - 1] : 1;
    int64_t down = rank > 1 && t->shape.dim[rank - 2] > 1 ? last : 0, along = last > 1;

    if (t->is_scalar)
        return lane;
    lane.stride = p->op->col_out ? down : along;
    lane.at = t->view.v->bytes + t->view.offset +
              (size_t)row * (size_t)(p->op->col_out ? along : down) * kb_dtype_bytes(lane.dtype);
    return lane;
}

/* Into a type of no more bytes; what is read is ahead of what is written. */
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

static void epilogues(const struct product *p, kb_dtype dtype, unsigned char *sums, uint32_t row)
{
    for (uint32_t e = 0; e < p->op->n_epilogues; e++) {
        const struct op_epilogue *ep = &p->op->epilogue[e];
        struct math_lane in[3] = {{.at = sums, .stride = 1, .dtype = dtype}};

        for (uint32_t i = 0; i < ep->n_operands; i++)
            in[1 + i] = epilogue_lane(p, &ep->operand[i], row);
        math_elements((enum tl_op)ep->math, dtype, in, dtype, sums, p->columns);
    }
}

/* Rows of lanes become rows of the result, rounded once; `sums` is used up. */
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
        epilogues(p, in_acc ? acc : lanes, sum, row);
        cast_elements(to, place, in_acc ? acc : lanes, sum, p->columns);
    }
}

/* -- parts ---------------------------------------------------------------------------------- */

static bool room_for(struct gemm_room *room, size_t nbytes)
{
    struct block b;

    if (room->nbytes >= nbytes)
        return true;
    b = gemm_block_new(nbytes);
    if (!b.at)
        return false;
    free(room->bytes);
    room->bytes = b.at;
    room->nbytes = b.nbytes;
    return true;
}

void gemm_room_free(struct gemm_room *room)
{
    free(room->bytes);
    room->bytes = NULL;
    room->nbytes = 0;
}

bool gemm_part(const struct op *op, uint32_t part, unsigned char *out, struct gemm_room *room)
{
    struct product p = product_of(op);
    uint32_t n = n_parts(&p), first = part_begin(&p, part, n), end = part_begin(&p, part + 1, n);
    size_t bytes = kb_dtype_bytes(p.lane);
    struct packed *left = gemm_pack(p.left, &p.left_key, room->pool);
    struct packed *right = left ? gemm_pack(p.right, &p.right_key, room->pool) : NULL;

    if (!right)
        return false;
    if (is_plain(&p)) {
        multiply_rows(&p, left, right, first, end, out + (size_t)first * p.columns * bytes, room);
        return true;
    }
    if (!room_for(room, (size_t)(end - first) * p.columns * bytes))
        return false;
    multiply_rows(&p, left, right, first, end, room->bytes, room);
    finish_rows(&p, room->bytes, first, end, out);
    return true;
}
