/*
 * step.c -- the kernel: one operation after the other on all PEs of a rank, with a barrier behind
 * each.
 *
 * Operations are issued with tl_async(), so that loads of the next tile run beside the engines.
 * Collectives have an order of their own. When all PEs of all ranks have passed the barrier of an
 * operation, it has ended; how much later than the one before is its time.
 */
#include "benches/llm/llm_place.h"
#include <math.h>

enum { TABLE_STEP = 37 }; /* rows of the table that tokens take, far from each other */

uint64_t llm_part_bytes(const struct llm_matrix *m, uint32_t p, uint32_t q)
{
    int64_t rows = each_of(m) * parts(m->rows / each_of(m), p),
            cols = m->unit * parts(m->cols / m->unit, q);

    return (uint64_t)(rows * cols) * kb_dtype_bytes(m->dtype);
}

/* -- rows ------------------------------------------------------------------------------------- */

static void embed(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->y);
    int64_t rows = block_rows(me, part.cols, 2), table = parts(op->x.cols, me->s->p), n;
    int64_t bytes = part.cols * (int64_t)kb_dtype_bytes(op->y.dtype);

    for (int64_t i = 0; i < part.rows && part.cols > 0; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, part.rows - i);
        int64_t *index = tl_alloc_host(me->tl, (size_t)n * sizeof *index);
        for (int64_t k = 0; k < n; k++)
            index[k] = (part.row + i + k) * TABLE_STEP % table;
        store_own(me, &op->y, i, n, 0, part.cols,
                  tl_load_rows(me->tl, room_of(me, me->index, op->weight), op->y.dtype,
                               KB_SHAPE(part.cols), bytes, index, (uint32_t)n));
        tl_release(me->tl, mark);
    }
}

/* The last row of the i-th request of those that have a head. */
static int64_t last_row(const struct llm_op *op, int64_t i)
{
    return op->requests ? op->requests->last[i] : (i + 1) * (op->x.rows / op->y.rows) - 1;
}

/* x of some rows; of a norm before the head the last row of each request. */
static tl_tensor *rows_of_norm(const struct llm_pe *me, const struct llm_op *op, int64_t i,
                               int64_t n)
{
    struct llm_part part = own_part(me, &op->y);
    int64_t run;

    if (op->x.rows == op->y.rows)
        return load_own(me, &op->x, i, n, 0, part.cols);
    tl_run *runs = tl_alloc_host(me->tl, (size_t)n * sizeof *runs);
    for (int64_t k = 0; k < n; k++) {
        runs[k].address = element_at(me, &op->x, last_row(op, part.row + i + k), part.col, &run);
        runs[k].nbytes = (uint64_t)part.cols * kb_dtype_bytes(op->x.dtype);
    }
    return tl_load_list(me->tl, runs, (uint32_t)n, op->x.dtype, KB_SHAPE(n, part.cols));
}

static tl_tensor *scaled(const struct llm_pe *me, const struct llm_op *op, tl_tensor *x,
                         tl_tensor *sum)
{
    tl_ctx *tl = me->tl;
    int64_t cols = own_part(me, &op->y).cols;
    tl_tensor *mean = tl_mul(tl, sum, tl_scalar(tl, 1 / (double)op->x.cols));
    tl_tensor *root = tl_rsqrt(tl, tl_add(tl, mean, tl_scalar(tl, 1e-5)));
    tl_tensor *gamma =
        tl_load(tl, room_of(me, me->index, op->weight + (uint64_t)me->layer * op->weight_bytes),
                op->y.dtype, KB_SHAPE(1, cols));
    if (op->kind == LLM_LAYERNORM)
        x = tl_add(tl, tl_sub(tl, x, root), root);
    return tl_mul(tl, tl_mul(tl, x, root), gamma);
}

static tl_tensor *squares(const struct llm_pe *me, tl_tensor *x)
{
    return tl_sum(me->tl, tl_mul(me->tl, x, x), 1, true);
}

/* A vector in the PE's own slice. */
struct vector {
    uint64_t address;
    int64_t n;
    kb_dtype dtype;
};

/* The own v becomes the reduction of those of the group. */
static void reduce_in_place(const struct llm_pe *me, kb_group group, struct vector v, tl_op how)
{
    if (v.n > 0)
        kb_all_reduce(me->tl, group, .in = v.address, .out = v.address, .count = v.n,
                      .dtype = v.dtype, .op = how);
}

static kb_group row_of_grid(const struct llm_pe *me)
{
    return kb_group_list(me->tl, me->pe_of + (size_t)me->r * me->s->q, me->s->q);
}

static struct vector sums_vector(const struct llm_pe *me, const struct llm_op *op)
{
    return (struct vector){room_of(me, me->index, me->s->scratch), own_part(me, &op->y).rows,
                           op->y.dtype};
}

static uint64_t row_number_at(const struct llm_pe *me, const struct llm_op *op, int64_t i)
{
    struct vector of_rows = sums_vector(me, op);

    return of_rows.address + (uint64_t)i * kb_dtype_bytes(of_rows.dtype);
}

static tl_tensor *load_row_numbers(const struct llm_pe *me, const struct llm_op *op, int64_t i,
                                   int64_t n)
{
    return tl_load(me->tl, row_number_at(me, op, i), op->y.dtype, KB_SHAPE(n, 1));
}

/* The first pass of a norm whose columns lie in several PEs: sums of squares of the own ones. */
static void sum_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    struct llm_part part = own_part(me, &op->y);
    tl_tensor *x = rows_of_norm(me, op, i, n);

    if (op->has_z) {
        x = tl_add(me->tl, x, load_own(me, &op->z, i, n, 0, part.cols));
        store_own(me, &op->x, i, n, 0, part.cols, x);
    }
    tl_store(me->tl, row_number_at(me, op, i), squares(me, x));
}

static void scale_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    struct llm_part part = own_part(me, &op->y);
    tl_tensor *x = rows_of_norm(me, op, i, n), *sum;

    if (me->s->q > 1) {
        sum = load_row_numbers(me, op, i, n);
    } else {
        if (op->has_z) {
            x = tl_add(me->tl, x, load_own(me, &op->z, i, n, 0, part.cols));
            store_own(me, &op->x, i, n, 0, part.cols, x);
        }
        sum = squares(me, x);
    }
    store_own(me, &op->y, i, n, 0, part.cols, scaled(me, op, x, sum));
}

/* A PE may have no column of what is narrow. */
static void by_rows(const struct llm_pe *me, const struct llm_op *op, int64_t copies,
                    void (*work)(const struct llm_pe *, const struct llm_op *, int64_t, int64_t))
{
    struct llm_part part = own_part(me, &op->y);
    int64_t cols = least(part.cols, own_part(me, &op->x).cols);
    int64_t rows = block_rows(me, part.cols, copies), n;
    int64_t all = op->experts > 0 ? llm_rows_here(me, op).n : part.rows;

    if (me->s->slots_used)
        return;
    for (int64_t i = 0; i < all && cols > 0; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, all - i);
        work(me, op, i, n);
        tl_release(me->tl, mark);
    }
}

/* A pass that leaves a number for each row, of the own columns; then it is that of all. */
static void reduce_rows(const struct llm_pe *me, const struct llm_op *op, tl_op how,
                        void (*work)(const struct llm_pe *, const struct llm_op *, int64_t,
                                     int64_t))
{
    by_rows(me, op, 4, work);
    llm_in_order(me, true);
    reduce_in_place(me, row_of_grid(me), sums_vector(me, op), how);
    llm_in_order(me, false);
}

static void norm(const struct llm_pe *me, const struct llm_op *op)
{
    if (me->s->q > 1)
        reduce_rows(me, op, TL_ADD, sum_rows);
    by_rows(me, op, 4, scale_rows);
}

static void softmax_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    int64_t cols = own_part(me, &op->y).cols;

    store_own(me, &op->y, i, n, 0, cols,
              tl_softmax(me->tl, load_own(me, &op->x, i, n, 0, cols), -1));
}

/* Of rows whose columns lie in several PEs: the largest of the own ones, */
static void max_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    tl_tensor *x = load_own(me, &op->x, i, n, 0, own_part(me, &op->y).cols);

    tl_store(me->tl, row_number_at(me, op, i), tl_max(me->tl, x, 1, true));
}

/* their powers, and the sum of these, */
static void exp_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    int64_t cols = own_part(me, &op->y).cols;
    tl_tensor *largest = load_row_numbers(me, op, i, n);
    tl_tensor *y = tl_exp(me->tl, tl_sub(me->tl, load_own(me, &op->x, i, n, 0, cols), largest));

    store_own(me, &op->y, i, n, 0, cols, y);
    tl_store(me->tl, row_number_at(me, op, i), tl_sum(me->tl, y, 1, true));
}

/* and their shares of that of all. */
static void share_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    int64_t cols = own_part(me, &op->y).cols;
    tl_tensor *y = load_own(me, &op->y, i, n, 0, cols);

    store_own(me, &op->y, i, n, 0, cols, tl_div(me->tl, y, load_row_numbers(me, op, i, n)));
}

static void softmax(const struct llm_pe *me, const struct llm_op *op)
{
    if (me->s->q == 1) {
        by_rows(me, op, 2, softmax_rows);
        return;
    }
    reduce_rows(me, op, TL_MAXIMUM, max_rows);
    reduce_rows(me, op, TL_ADD, exp_rows);
    by_rows(me, op, 2, share_rows);
}

static void act_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    struct llm_part part = own_part(me, &op->y);
    tl_ctx *tl = me->tl;
    tl_tensor *x = load_own(me, &op->x, i, n, 0, part.cols), *y;

    if (op->kind == LLM_SILU)
        y = tl_mul(tl, tl_mul(tl, x, tl_sigmoid(tl, x)),
                   load_own(me, &op->x, i, n, part.cols, part.cols));
    else
        y = tl_mul(tl, tl_add(tl, tl_erf(tl, tl_mul(tl, x, tl_scalar(tl, 0.7))), tl_scalar(tl, 1)),
                   x);
    store_own(me, &op->y, i, n, 0, part.cols, y);
}

static void add_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    int64_t cols = own_part(me, &op->y).cols;

    store_own(
        me, &op->y, i, n, 0, cols,
        tl_add(me->tl, load_own(me, &op->x, i, n, 0, cols), load_own(me, &op->z, i, n, 0, cols)));
}

static void topk_rows(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t n)
{
    struct llm_part part = own_part(me, &op->x);
    tl_tensor *x = load_own(me, &op->x, i, n, 0, part.cols);

    store_own(me, &op->y, i, n, 0, 1, tl_max(me->tl, x, 1, true));
}

/* -- between ranks ---------------------------------------------------------------------------- */

static void all_reduce(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->y);

    reduce_in_place(
        me, llm_same_index(me),
        (struct vector){room_of(me, me->index, op->y.at), part.rows * part.cols, op->y.dtype},
        TL_ADD);
}

/* The largest of all columns: over the PEs of a row of the grid, then over the ranks. */
static void all_gather(const struct llm_pe *me, const struct llm_op *op)
{
    struct vector v = {room_of(me, me->index, op->y.at), own_part(me, &op->y).rows, KB_I64};

    reduce_in_place(me, row_of_grid(me), v, TL_MAXIMUM);
    reduce_in_place(me, llm_same_index(me), v, TL_MAXIMUM);
}

/* -- between stages --------------------------------------------------------------------------- */

/* The PEs of the own index in the same rank of a stage and of the next. */
static kb_group two_stages(const struct llm_pe *me, uint32_t rank)
{
    const uint32_t *from = me->s->pe_of + (size_t)rank * me->s->pes + me->index;
    uint32_t *pes = tl_alloc_host(me->tl, 2 * sizeof *pes);

    pes[0] = from[0];
    pes[1] = from[(size_t)me->s->ranks * me->s->pes];
    return kb_group_list(me->tl, pes, 2);
}

/* The sum that the next norm would make, to the next stage. */
static void send_sum(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = own_part(me, &op->y);

    by_rows(me, op, 3, add_rows);
    llm_in_order(me, true);
    if (part.rows * part.cols > 0)
        kb_send(me->tl, two_stages(me, me->rank), 1, .in = room_of(me, me->index, op->y.at),
                .count = part.rows * part.cols, .dtype = op->y.dtype);
    llm_in_order(me, false);
}

const struct llm_op *llm_sending(const struct llm_step *s)
{
    for (size_t i = 0; i < s->n_ops; i++)
        if (s->op[i].kind == LLM_SEND)
            return &s->op[i];
    return NULL;
}

/* All that a PE of the next stage does here. */
static void receive_sum(const struct llm_pe *me)
{
    const struct llm_op *op = llm_sending(me->s);
    struct llm_part part = own_part(me, &op->y);
    uint32_t rank = me->rank - me->s->ranks;

    if (part.rows * part.cols > 0)
        kb_recv(me->tl, two_stages(me, rank), 0, .out = room_of(me, me->index, op->y.at),
                .count = part.rows * part.cols, .dtype = op->y.dtype);
    me->s->got_fs[(size_t)rank * me->s->pes + me->index] = llm_now_fs(me);
}

/* -- the whole -------------------------------------------------------------------------------- */

static void collective(const struct llm_pe *me, const struct llm_op *op)
{
    llm_in_order(me, true);
    (op->kind == LLM_ALL_REDUCE ? all_reduce : all_gather)(me, op);
    llm_in_order(me, false);
}

static void operation(const struct llm_pe *me, const struct llm_op *op)
{
    switch (op->kind) {
    case LLM_EMBED:
        embed(me, op);
        break;
    case LLM_GEMM:
        llm_gemm(me, op);
        break;
    case LLM_ATTENTION:
        llm_attention(me, op);
        break;
    case LLM_NORM:
    case LLM_LAYERNORM:
        norm(me, op);
        break;
    case LLM_QK_NORM:
        llm_qk_norm(me, op);
        break;
    case LLM_ROPE:
        llm_rope(me, op);
        break;
    case LLM_SILU:
    case LLM_GELU:
        by_rows(me, op, 5, act_rows);
        break;
    case LLM_SOFTMAX:
        softmax(me, op);
        break;
    case LLM_ADD:
        by_rows(me, op, 3, add_rows);
        break;
    case LLM_TOPK:
        by_rows(me, op, own_part(me, &op->x).cols, topk_rows);
        break;
    case LLM_ALL_REDUCE:
    case LLM_ALL_GATHER:
        collective(me, op);
        break;
    case LLM_ROUTE:
        llm_route(me, op);
        break;
    case LLM_DISPATCH:
        llm_dispatch(me, op);
        break;
    case LLM_COLLECT:
        llm_collect(me, op);
        break;
    case LLM_COMBINE:
        llm_combine(me, op);
        break;
    case LLM_Q_ROPE:
        llm_q_rope(me, op);
        break;
    case LLM_LATENT:
        llm_latent(me, op);
        break;
    case LLM_KEPT:
        llm_kept(me, op);
        break;
    case LLM_SEND:
        send_sum(me, op);
        break;
    case LLM_TIME:
        tl_idle(me->tl, op->idle_fs);
        break;
    case LLM_BARRIER:
        tl_barrier(me->tl, (tl_group){.pes = me->s->pe_of, .n = me->s->ranks * me->s->pes});
        break;
    case LLM_SCATTER:
    case LLM_GATHER:
    case LLM_BROADCAST:
    case LLM_GIVE:
    case LLM_TAKE:
        llm_between(me, op);
        break;
    case LLM_MOVE:
        llm_move(me, op);
        break;
    }
}

static bool is_norm(const struct llm_op *op)
{
    return op->kind == LLM_NORM || op->kind == LLM_LAYERNORM;
}

/* Are its messages those of the other? */
static bool is_heard_in(const struct llm_op *op, const struct llm_op *other)
{
    const struct llm_matrix *a = &op->y, *b = &other->y;
    bool same_rows = a->rows == b->rows && a->each == b->each && a->dtype == b->dtype;

    if (op->kind == LLM_ALL_REDUCE)
        return other->kind == LLM_ALL_REDUCE && same_rows && a->cols == b->cols &&
               a->unit == b->unit;
    return is_norm(op) && is_norm(other) && same_rows;
}

/* Is it a part of a rehearsal? It has messages, which are not those of one before. */
static bool is_heard(const struct llm_step *s, const struct llm_op *op)
{
    bool heard = llm_between_ranks(op) || op->kind == LLM_ATTENTION || is_norm(op) ||
                 op->kind == LLM_SOFTMAX;

    for (const struct llm_op *before = s->op; before < op; before++)
        heard = heard && !is_heard_in(op, before);
    return heard;
}

/* An operation and its barrier; `i`: the operations that were done before. */
static void one(const struct llm_pe *me, const struct llm_op *op, size_t i)
{
    uint64_t mark = tl_mark(me->tl);

    tl_region(me->tl, op->id);
    if (i > 0) /* the kernel has paid for its first one */
        tl_pay(me->tl, TL_COST_LAUNCH);
    if (!me->s->slots_used || is_heard(me->s, op))
        operation(me, op);
    tl_wait_all(me->tl);
    tl_release(me->tl, mark);
    llm_end(me, i);
}

/* How many operations from `op` on were done, or are known. */
static size_t some(struct llm_pe *me, size_t op, size_t done)
{
    size_t known = llm_leap(me, op, done);

    if (known > 0)
        return known;
    if (me->s->alone && llm_between_ranks(&me->s->op[op]))
        llm_leave_out(me, done);
    else
        one(me, &me->s->op[op], done);
    return 1;
}

static struct llm_pe pe_here(tl_ctx *tl, const struct llm_step *s)
{
    struct llm_pe me = {.tl = tl, .s = s, .start_ns = tl_time(tl)};
    uint32_t i = 0;

    while (s->pe_of[i] != tl_pe(tl))
        i++;
    me.rank = i / s->pes;
    me.index = i % s->pes;
    me.r = me.index / s->q;
    me.c = me.index % s->q;
    me.pe_of = s->pe_of + (size_t)me.rank * s->pes;
    return me;
}

/* -- repetition ------------------------------------------------------------------------------- */

struct llm_layout llm_layout_of(const struct llm_step *s)
{
    struct llm_layout l = {0};

    while (l.before < s->n_ops && !s->op[l.before].is_layer)
        l.before++;
    while (l.before + l.each < s->n_ops && s->op[l.before + l.each].is_layer)
        l.each++;
    return l;
}

/*
 * The operations of a layer up to the one at whose ends the state is known that the next layer
 * begins in: with leaps, in which a rank is alone, up to the last collective, as what was before it
 * has ended. 0: all times of a layer decide, from the end of the layer before.
 */
static size_t decided_at(const struct llm_step *s, struct llm_layout l)
{
    size_t n = s->known ? l.each : 0;

    while (n > 0 && !llm_between_ranks(&s->op[l.before + n - 1]))
        n--;
    return n;
}

bool llm_is_as_before(const struct llm_step *s, int64_t layer)
{
    struct llm_layout l = llm_layout_of(s);
    size_t n = (size_t)s->ranks * s->pes, each = l.each * n;
    size_t first = (l.before + (size_t)layer * l.each) * n;
    int64_t later_fs = 0;

    for (size_t i = first + decided_at(s, l) * n - n; i < first + each; i++) {
        int64_t fs = s->end_fs[i] - s->end_fs[i - each];

        if (s->end_fs[i] > 0 && later_fs > 0 && fs != later_fs)
            return false;
        later_fs = s->end_fs[i] > 0 ? fs : later_fs;
    }
    return true;
}

/*
 * Are the layers from `layer` on, which begins on a PE, as those before? The last that has ended on
 * all PEs, as what has ended since waits for it, is the one before the last. With leaps the last is
 * compared, as far as it has ended, and the rest when all has: run.c. The PE that comes first
 * decides for all.
 */
static bool repeats_from(const struct llm_pe *me, int64_t layer)
{
    const struct llm_step *s = me->s;
    int64_t since = s->repeats_since, first = decided_at(s, llm_layout_of(s)) > 0 ? 1 : 2;

    if (since == 0 || layer < first + since)
        return false;
    if (s->agrees[layer] == 0)
        s->agrees[layer] = llm_is_as_before(s, layer - since) ? 1 : -1;
    return s->agrees[layer] > 0;
}

static void all(struct llm_pe *me)
{
    const struct llm_step *s = me->s;
    size_t first, done = 0, n;

    tl_async(me->tl, true);
    for (size_t i = 0; i < s->n_ops;) {
        for (; i < s->n_ops && !s->op[i].is_layer; i += n, done += n)
            n = some(me, i, done);
        for (first = i, me->layer = 0; me->layer < s->layers && !repeats_from(me, me->layer);
             me->layer++)
            for (i = first; i < s->n_ops && s->op[i].is_layer; i += n, done += n)
                n = some(me, i, done);
        if (me->layer > 0)
            *s->layers_done = me->layer;
        me->layer = 0;
    }
}

/* All that is sent to a PE has come when its kernel ends, so then all its queues are there. */
void llm_kernel(tl_ctx *tl, const kb_args *args)
{
    const struct llm_step *s = args->user;
    struct llm_pe me = pe_here(tl, s);

    tl_hold_for_slots(tl, s->slots);
    if (me.rank >= s->ranks)
        receive_sum(&me);
    else
        all(&me);
    if (s->slots_used && tl_slot_bytes(tl) > *s->slots_used)
        *s->slots_used = tl_slot_bytes(tl);
}
