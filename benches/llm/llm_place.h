/* llm_place.h -- where the rows and columns of a matrix lie in a rank. */
#ifndef LLM_PLACE_H
#define LLM_PLACE_H
#include "benches/llm/step.h"
#include "benches/bench_tile.h"
#include "kb_coll.h"

/* A PE of a rank. */
struct llm_pe {
    tl_ctx *tl;
    const struct llm_step *s;
    const uint32_t *pe_of; /* those of its rank */
    uint32_t rank, index, r, c;
    int64_t layer;
    double start_ns;  /* of the kernel */
    size_t leap;      /* where its last one is in llm_step.met */
    int64_t quiet_fs; /* when that has brought its last bytes to the TCM */
};

static inline int64_t each_of(const struct llm_matrix *m)
{
    return m->each > 0 ? m->each : 1;
}

static inline int64_t row_begin(const struct llm_matrix *m, int64_t r, int64_t p)
{
    return each_of(m) * share(m->rows / each_of(m), r, p);
}

static inline int64_t col_begin(const struct llm_matrix *m, int64_t c, int64_t q)
{
    return m->unit * share(m->cols / m->unit, c, q);
}

/* The address of byte `at` of the room of PE `index` of the rank. */
static inline uint64_t room_of(const struct llm_pe *me, int64_t index, uint64_t at)
{
    return kb_tensor_shard(me->s->room, me->pe_of[index]).address + at;
}

/* The rows or columns that a PE has. */
struct llm_part {
    int64_t row, rows, col, cols;
};

static inline struct llm_part part_at_pe(const struct llm_pe *me, const struct llm_matrix *m,
                                         int64_t r, int64_t c)
{
    int64_t row = row_begin(m, r, me->s->p), col = col_begin(m, c, me->s->q);

    return (struct llm_part){row, row_begin(m, r + 1, me->s->p) - row, col,
                             col_begin(m, c + 1, me->s->q) - col};
}

static inline struct llm_part own_part(const struct llm_pe *me, const struct llm_matrix *m)
{
    return part_at_pe(me, m, me->r, me->c);
}

/* The address of an element, and how many of its row lie behind it in the same PE. */
static inline uint64_t element_at(const struct llm_pe *me, const struct llm_matrix *m, int64_t row,
                                  int64_t col, int64_t *run)
{
    int64_t each = each_of(m), r = part_with(m->rows / each, row / each, me->s->p);
    int64_t c = part_with(m->cols / m->unit, col / m->unit, me->s->q);
    struct llm_part part = part_at_pe(me, m, r, c);

    *run = part.col + part.cols - col;
    return room_of(me, r * me->s->q + c,
                   m->at + (uint64_t)((row - part.row) * part.cols + col - part.col) *
                               kb_dtype_bytes(m->dtype));
}

/* The pieces of rows and columns, wherever they lie; `out` has room for rows * (q + 1). */
static inline uint32_t runs_of(const struct llm_pe *me, const struct llm_matrix *m, int64_t row,
                               int64_t rows, int64_t col, int64_t cols, tl_run *out)
{
    uint32_t n = 0;

    for (int64_t i = row; i < row + rows; i++)
        for (int64_t j = col, run; j < col + cols; j += run) {
            uint64_t address = element_at(me, m, i, j, &run);

            run = least(run, col + cols - j);
            out[n++] = (tl_run){address, (uint64_t)run * kb_dtype_bytes(m->dtype)};
        }
    return n;
}

/* The i-th request of an operation, and the one that a row is of. */
static inline struct llm_request llm_request_at(const struct llm_op *op, int64_t i)
{
    return op->requests ? op->requests->request[i]
                        : (struct llm_request){i * op->q, op->q, op->kv, true};
}

int64_t llm_request_with(const struct llm_op *op, int64_t row);

/* Rows of which the TCM holds some copies. */
static inline int64_t block_rows(const struct llm_pe *me, int64_t cols, int64_t copies)
{
    int64_t rows = me->s->tcm_bytes / 2 / (cols * copies * 4 + 1);

    return rows < 1 ? 1 : rows;
}

/* Rows of the own part, from row `i` of it: [m, n] of its columns from j on. */
static inline tl_tensor *load_own(const struct llm_pe *me, const struct llm_matrix *x, int64_t i,
                                  int64_t m, int64_t j, int64_t n)
{
    struct llm_part part = own_part(me, x);
    int64_t size = (int64_t)kb_dtype_bytes(x->dtype), strides[] = {part.cols * size, size};

    return tl_load_strided(me->tl,
                           room_of(me, me->index, x->at) + (uint64_t)((i * part.cols + j) * size),
                           x->dtype, KB_SHAPE(m, n), strides);
}

static inline void store_own(const struct llm_pe *me, const struct llm_matrix *y, int64_t i,
                             int64_t m, int64_t j, int64_t n, tl_tensor *value)
{
    struct llm_part part = own_part(me, y);
    int64_t size = (int64_t)kb_dtype_bytes(y->dtype), strides[] = {part.cols * size, size};

    (void)m, (void)n;
    tl_store_strided(me->tl, room_of(me, me->index, y->at) + (uint64_t)((i * part.cols + j) * size),
                     value, strides);
}

/* The time of the PE. */
int64_t llm_now_fs(const struct llm_pe *me);

/* The barrier behind the operation that is the `done`-th, and when the PE came and went. */
void llm_end(const struct llm_pe *me, size_t done);

/* How many operations from `op` on were leapt over; 0: it is to be done. */
size_t llm_leap(struct llm_pe *me, size_t op, size_t done);

/* `op` is left out, and has ended when the one before it has. */
void llm_leave_out(const struct llm_pe *me, size_t done);

/* What follows has an order of its own, or no more. */
static inline void llm_in_order(const struct llm_pe *me, bool on)
{
    tl_wait_all(me->tl);
    tl_async(me->tl, !on);
}

/* Rows of experts that this rank has in its row of the grid, one expert behind the other. */
struct llm_rows {
    int64_t n, experts;
    const int64_t *first; /* [expert of the rank]: its first row; one more: n */
    const int64_t *from;  /* [row]: the row of x, if the operation gathers; else NULL */
};
struct llm_rows llm_rows_here(const struct llm_pe *me, const struct llm_op *op);

void llm_route(const struct llm_pe *me, const struct llm_op *op);
void llm_dispatch(const struct llm_pe *me, const struct llm_op *op);
void llm_collect(const struct llm_pe *me, const struct llm_op *op);
void llm_combine(const struct llm_pe *me, const struct llm_op *op);

/* The PEs of the own index in all ranks. */
kb_group llm_same_index(const struct llm_pe *me);

/* Collectives and messages that leave another matrix, or none; and what a rank does alone. */
void llm_between(const struct llm_pe *me, const struct llm_op *op);
void llm_move(const struct llm_pe *me, const struct llm_op *op);

void llm_q_rope(const struct llm_pe *me, const struct llm_op *op);
void llm_latent(const struct llm_pe *me, const struct llm_op *op);
void llm_kept(const struct llm_pe *me, const struct llm_op *op);

/* q of all heads, a head a row, of `rows` tokens: what was absorbed, then what was turned. */
tl_tensor *llm_load_q(const struct llm_pe *me, const struct llm_op *op, int64_t row, int64_t rows);

/* The address of a page of a unit. */
uint64_t llm_page(const struct llm_pe *me, const struct llm_op *op, int64_t unit, int64_t page);

/* Reads the numbers of the experts of the tokens in its row of the grid. */
void llm_read_choices(const struct llm_pe *me, const struct llm_op *op);

void llm_gemm(const struct llm_pe *me, const struct llm_op *op);
void llm_attention(const struct llm_pe *me, const struct llm_op *op);
void llm_rope(const struct llm_pe *me, const struct llm_op *op);
void llm_qk_norm(const struct llm_pe *me, const struct llm_op *op);

#endif
