/*
 * llm_attention.c -- attention over pages of keys and values, and the rotation that writes them.
 *
 * A unit is a request and a head of keys and values. With as many units as PEs or more, unit u is
 * PE u modulo PEs; else each unit has several PEs, and page j lies in PE j modulo their number. In
 * a page the keys stand before the values. One new token: each PE of a unit does its own pages, and
 * they join the results in pairs. More new tokens: their rows are shared out in blocks, and each PE
 * reads all pages.
 */
#include <math.h>
#include "benches/llm/llm_place.h"

enum { TAG_OUT = 8, TAG_SUM, TAG_MAX, ROWS_MAX = 256, TOKENS_MAX = 1024 };

/* Pages in one PE, at most. */
static int64_t pages_in_pe(const struct llm_op *op, const struct llm_step *s)
{
    if (op->requests)
        return op->requests->pages;
    return parts(llm_units(op), s->pes) *
           parts(parts(op->kv, s->page), llm_pes_of_unit(op, s->pes));
}

/* Pages of units before this one in its PE. */
static int64_t pages_before(const struct llm_op *op, const struct llm_step *s, int64_t unit)
{
    return op->requests ? op->requests->before[unit] : unit / s->pes * parts(op->kv, s->page);
}

int64_t llm_v_dim(const struct llm_op *op)
{
    return op->v_dim > 0 ? op->v_dim : op->dim;
}

/* Of a page: its keys, and its values, which are none of their own if they are a part of the keys.
 */
static uint64_t key_bytes(const struct llm_op *op, const struct llm_step *s)
{
    return (uint64_t)(s->page * op->dim) * kb_dtype_bytes(s->kv_dtype);
}

static uint64_t value_bytes(const struct llm_op *op, const struct llm_step *s)
{
    return op->latent ? 0 : (uint64_t)(s->page * llm_v_dim(op)) * kb_dtype_bytes(s->kv_dtype);
}

static uint64_t page_bytes(const struct llm_op *op, const struct llm_step *s)
{
    return key_bytes(op, s) + value_bytes(op, s);
}

uint64_t llm_kv_bytes(const struct llm_op *op, const struct llm_step *s)
{
    return (uint64_t)pages_in_pe(op, s) * page_bytes(op, s);
}

uint64_t llm_page(const struct llm_pe *me, const struct llm_op *op, int64_t unit, int64_t page)
{
    const struct llm_step *s = me->s;
    int64_t n = llm_pes_of_unit(op, s->pes);
    bool many = llm_units(op) >= s->pes;
    int64_t index = many ? unit % s->pes : unit * n + page % n;
    int64_t place = (many ? pages_before(op, s, unit) : 0) + page / n;

    return room_of(me, index,
                   s->kv_at + (uint64_t)(me->layer + op->kv_layer) * s->kv_bytes +
                       (uint64_t)place * page_bytes(op, s));
}

/* -- one block of rows ----------------------------------------------------------------------- */

/* Rows of a request, and the pages that they attend to. */
struct block {
    struct llm_request of;
    int64_t unit, row, rows; /* rows of the request */
    int64_t first, step;     /* pages: first, first + step, ... */
    int64_t tokens;          /* that the last row sees */
};

/* What is left of a block: sums of values, of weights, the largest score. */
struct partial {
    tl_acc *out, *sums;
    tl_tensor *max;
};

static tl_tensor *load_pages(const struct llm_pe *me, const struct llm_op *op,
                             const struct block *b, int64_t page, int64_t n, bool values)
{
    tl_run runs[TOKENS_MAX];

    for (int64_t i = 0; i < n; i++)
        runs[i] = (tl_run){llm_page(me, op, b->unit, page + i * b->step) +
                               (values ? key_bytes(op, me->s) : 0),
                           values ? value_bytes(op, me->s) : key_bytes(op, me->s)};
    tl_tensor *x = tl_load_list(me->tl, runs, (uint32_t)n, me->s->kv_dtype,
                                KB_SHAPE(n * me->s->page, values ? llm_v_dim(op) : op->dim));
    return me->s->kv_dtype == op->x.dtype ? x : tl_cast(me->tl, x, op->x.dtype);
}

/* Pages at once: their keys and values and the scores take an eighth of the TCM each. */
static int64_t pages_at_once(const struct llm_pe *me, const struct llm_op *op, int64_t rows)
{
    int64_t room = me->s->tcm_bytes / 8, tokens = me->s->page;

    while (tokens * 2 <= TOKENS_MAX && tokens * 2 * op->dim * 4 <= room &&
           tokens * 2 * rows * 4 <= room)
        tokens *= 2;
    return tokens / me->s->page;
}

/* Keys, or values, of a head of z; keys end with the columns that are those of all heads. */
static tl_tensor *load_made(const struct llm_pe *me, const struct llm_op *op, const struct block *b,
                            int64_t token, int64_t n, bool values)
{
    int64_t request = b->unit / op->kv_heads, head = b->unit % op->kv_heads;
    int64_t wide = op->z.cols / op->kv_heads, own = wide - op->v_dim, from = op->keys.cols;
    tl_run *runs = tl_alloc_host(me->tl, (size_t)(2 * n * (me->s->q + 1)) * sizeof *runs);
    uint32_t count = 0;

    for (int64_t i = request * op->kv + token; i < request * op->kv + token + n; i++) {
        count += runs_of(me, &op->z, i, 1, head * wide + (values ? own : 0),
                         values ? op->v_dim : own, runs + count);
        if (!values)
            count +=
                runs_of(me, &op->keys, i, 1, from - (op->dim - own), op->dim - own, runs + count);
    }
    return tl_load_list(me->tl, runs, count, op->x.dtype,
                        KB_SHAPE(n, values ? op->v_dim : op->dim));
}

static tl_tensor *load_kv(const struct llm_pe *me, const struct llm_op *op, const struct block *b,
                          int64_t page, int64_t tokens, bool values)
{
    return op->has_made ? load_made(me, op, b, page * me->s->page, tokens, values)
                        : load_pages(me, op, b, page, tokens / me->s->page, values);
}

/* No row sees what comes behind it. One operation has the time of it, where no value is asked for;
 * heads whose keys were made have the values, too. */
static tl_tensor *masked(const struct llm_pe *me, const struct llm_op *op, const struct block *b,
                         tl_tensor *x, int64_t token, int64_t tokens)
{
    tl_ctx *tl = me->tl;

    if (!op->has_made)
        return tl_add(tl, x, tl_scalar(tl, 0));
    tl_tensor *of = tl_arange(tl, KB_F32, tokens, (double)token, 1);
    tl_tensor *last = tl_arange(tl, KB_F32, b->rows, (double)(op->kv - op->q + b->row), 1);
    tl_tensor *sees = tl_le(tl, tl_reshape(tl, of, KB_SHAPE(1, tokens)),
                            tl_reshape(tl, last, KB_SHAPE(b->rows, 1)));
    return tl_where(tl, sees, x, tl_scalar(tl, -INFINITY));
}

static void attend_pages(const struct llm_pe *me, const struct llm_op *op, const struct block *b,
                         tl_tensor *q, int64_t page, int64_t n, struct partial *sum)
{
    tl_ctx *tl = me->tl;
    uint64_t mark = tl_mark(tl);
    int64_t tokens = n * me->s->page;

    if (op->has_made) /* the last page need not be full */
        tokens = least(tokens, op->kv - page * me->s->page);
    tl_tensor *k = load_kv(me, op, b, page, tokens, false);
    tl_tensor *v =
        op->latent ? tl_slice(tl, k, 1, 0, op->v_dim) : load_kv(me, op, b, page, tokens, true);
    tl_tensor *most, *less;
    tl_tensor *x = tl_dot(tl, q, k, .transpose_b = true);

    if ((page + n) * me->s->page > b->of.kv - b->of.q + b->row && b->of.q > 1)
        x = masked(me, op, b, x, page * me->s->page, tokens);
    most = tl_max(tl, x, 1, true);
    if (sum->max) {
        most = tl_maximum(tl, most, sum->max);
        less = tl_exp(tl, tl_sub(tl, sum->max, most));
        tl_acc_scale(tl, sum->out, less);
        tl_acc_scale(tl, sum->sums, less);
        tl_free(tl, sum->max);
    }
    sum->max = tl_keep(tl, most);
    x = tl_exp(tl, tl_sub(tl, x, most));
    tl_dot_acc(tl, sum->out, x, v);
    tl_dot_acc(tl, sum->sums, x, tl_full(tl, op->x.dtype, KB_SHAPE(tokens, LLM_SUMS), 1));
    tl_release(tl, mark);
}

/* Columns of q of the rows of a block, a head a row. */
static tl_tensor *load_q(const struct llm_pe *me, const struct llm_op *op, const struct block *b,
                         int64_t col, int64_t cols)
{
    tl_run *runs = tl_alloc_host(me->tl, (size_t)(b->rows * (me->s->q + 1)) * sizeof *runs);
    uint32_t n = runs_of(me, &op->x, b->of.row + b->row, b->rows, col, cols, runs);

    return tl_load_list(me->tl, runs, n, op->x.dtype, KB_SHAPE(b->rows * cols / op->dim, op->dim));
}

static struct partial attend(const struct llm_pe *me, const struct llm_op *op,
                             const struct block *b)
{
    int64_t group = op->heads / op->kv_heads, rows = b->rows * group;
    int64_t head = b->unit % op->kv_heads;
    int64_t pages = parts(b->tokens, me->s->page), n;
    struct partial sum = {tl_acc_new(me->tl, KB_F32, rows, llm_v_dim(op)),
                          tl_acc_new(me->tl, KB_F32, rows, LLM_SUMS), NULL};
    tl_tensor *q = op->latent ? llm_load_q(me, op, b->of.row + b->row, b->rows)
                              : load_q(me, op, b, head * group * op->dim, group * op->dim);

    int64_t wide =
        op->latent ? op->z.cols / op->heads : op->dim; /* of a head, before it was absorbed */

    q = tl_mul(me->tl, q, tl_scalar(me->tl, 1 / sqrt((double)wide)));
    for (int64_t page = b->first; page < pages; page += n * b->step) {
        n = least(pages_at_once(me, op, rows), parts(pages - page, b->step));
        attend_pages(me, op, b, q, page, n, &sum);
    }
    return sum;
}

/* Divides by the sums of the weights, and stores the rows where the next product reads them. */
static void finish(const struct llm_pe *me, const struct llm_op *op, const struct block *b,
                   tl_tensor *out, tl_tensor *sums)
{
    int64_t group = op->heads / op->kv_heads;
    int64_t head = b->unit % op->kv_heads;
    tl_run *runs = tl_alloc_host(me->tl, (size_t)(b->rows * (me->s->q + 1)) * sizeof *runs);
    uint32_t n = runs_of(me, &op->y, b->of.row + b->row, b->rows, head * group * llm_v_dim(op),
                         group * llm_v_dim(op), runs);

    out = tl_cast(me->tl, tl_div(me->tl, out, sums), op->y.dtype);
    tl_store_list(me->tl, runs, n, out);
}

static tl_tensor *sums_of(const struct llm_pe *me, const struct partial *part)
{
    return tl_max(me->tl, tl_acc_store(me->tl, part->sums, KB_F32), 1, true);
}

/* -- several PEs of one token ---------------------------------------------------------------- */

enum { PARTNERS_MAX = 32 };

/* What one PE of a unit has for another: its sums of values, of weights, its largest scores. */
struct joined {
    tl_tensor *part[3];
};

/*
 * PEs of a unit join their parts in pairs, then pairs of pairs, so that none has queues from all.
 * Returns how many come; the order is that in which they are joined.
 */
static int64_t expect(const struct llm_pe *me, const uint32_t *pe_of, int64_t member,
                      int64_t members, int64_t rows, int64_t dim, struct joined from[PARTNERS_MAX])
{
    int64_t n = 0;

    for (int64_t apart = 1; apart < members && member % (2 * apart) == 0; apart *= 2)
        if (member + apart < members)
            from[n++] = (struct joined){
                {tl_recv(me->tl, pe_of[apart], TAG_OUT, KB_F32, KB_SHAPE(rows, dim)),
                 tl_recv(me->tl, pe_of[apart], TAG_SUM, KB_F32, KB_SHAPE(rows, 1)),
                 tl_recv(me->tl, pe_of[apart], TAG_MAX, KB_F32, KB_SHAPE(rows, 1))}};
    return n;
}

static void join(const struct llm_pe *me, const struct joined *from, struct joined *own)
{
    tl_ctx *tl = me->tl;
    tl_tensor *most = tl_maximum(tl, from->part[2], own->part[2]);
    tl_tensor *mine = tl_exp(tl, tl_sub(tl, own->part[2], most));
    tl_tensor *other = tl_exp(tl, tl_sub(tl, from->part[2], most));

    for (int i = 0; i < 2; i++)
        own->part[i] = tl_add(tl, tl_mul(tl, own->part[i], mine), tl_mul(tl, from->part[i], other));
    own->part[2] = most;
}

/* Pages that are loaded ahead could take the room of queues: so what comes is expected before. */
static bool fills_tcm(const struct llm_pe *me, const struct llm_op *op, int64_t pages)
{
    return pages * (int64_t)page_bytes(op, me->s) > me->s->tcm_bytes / 8;
}

static void attend_one(const struct llm_pe *me, const struct llm_op *op, int64_t unit,
                       int64_t member, int64_t members)
{
    struct llm_request of = llm_request_at(op, unit / op->kv_heads);
    struct block b = {of, unit, 0, 1, member, members, of.kv};
    int64_t rows = op->heads / op->kv_heads;
    tl_ctx *tl = me->tl;

    members = least(members, parts(of.kv, me->s->page));
    if (member >= members)
        return;
    const uint32_t *pe_of = me->pe_of + unit * b.step + member;
    struct joined from[PARTNERS_MAX];
    int64_t n = 0;
    bool fills = fills_tcm(me, op, parts(parts(of.kv, me->s->page), members));

    if (fills)
        n = expect(me, pe_of, member, members, rows, llm_v_dim(op), from);
    struct partial sum = attend(me, op, &b);
    struct joined own = {{NULL, sums_of(me, &sum), sum.max}};

    own.part[0] = tl_acc_store(tl, sum.out, KB_F32);
    if (members > 1 && tl_dtype(own.part[2]) != KB_F32)
        own.part[2] = tl_cast(tl, own.part[2], KB_F32);
    if (!fills)
        n = expect(me, pe_of, member, members, rows, llm_v_dim(op), from);
    for (int64_t i = 0; i < n; i++)
        join(me, &from[i], &own);
    if (member == 0)
        finish(me, op, &b, own.part[0], own.part[1]);
    else
        for (int i = 0; i < 3; i++)
            tl_send(tl, pe_of[-(member & -member)], TAG_OUT + i, own.part[i]);
}

/* The messages of these, of one number each: of a unit with pages for all of its PEs. */
static void join_numbers(const struct llm_pe *me, int64_t unit, int64_t member, int64_t members)
{
    const uint32_t *pe_of = me->pe_of + unit * members + member;
    struct joined from[PARTNERS_MAX];

    expect(me, pe_of, member, members, 1, 1, from);
    for (int i = 0; i < 3 && member > 0; i++)
        tl_send(me->tl, pe_of[-(member & -member)], TAG_OUT + i,
                tl_full(me->tl, KB_F32, KB_SHAPE(1, 1), 0));
}

/* -- units ------------------------------------------------------------------------------------ */

int64_t llm_acc_bytes(const struct llm_op *op)
{
    return op->heads / op->kv_heads * (llm_v_dim(op) + LLM_SUMS) * 4;
}

/* Rows of all heads of a group at once: their accumulators fit, and they are at most ROWS_MAX. */
static int64_t rows_at_once(const struct llm_pe *me, const struct llm_op *op, int64_t q)
{
    int64_t group = op->heads / op->kv_heads;
    int64_t most = least(ROWS_MAX / group, me->s->acc_bytes / 2 / llm_acc_bytes(op));

    return most < 1 ? 1 : least(most, q);
}

static void attend_unit(const struct llm_pe *me, const struct llm_op *op, int64_t unit,
                        int64_t member, int64_t members)
{
    struct llm_request of = llm_request_at(op, unit / op->kv_heads);
    int64_t rows = rows_at_once(me, op, of.q);

    if (me->s->slots_used) {
        if (of.q == 1)
            join_numbers(me, unit, member, members);
        return;
    }
    if (of.q == 1) {
        attend_one(me, op, unit, member, members);
        return;
    }
    for (int64_t row = member * rows; row < of.q; row += members * rows) {
        uint64_t mark = tl_mark(me->tl);
        int64_t n = least(rows, of.q - row);
        struct block b = {of, unit, row, n, 0, 1, of.kv - of.q + row + n};
        struct partial sum = attend(me, op, &b);
        tl_tensor *sums = sums_of(me, &sum);

        finish(me, op, &b, tl_acc_store(me->tl, sum.out, KB_F32), sums);
        tl_release(me->tl, mark);
    }
}

void llm_attention(const struct llm_pe *me, const struct llm_op *op)
{
    int64_t units = llm_units(op), members = llm_pes_of_unit(op, me->s->pes);

    if (units < me->s->pes) {
        if (me->index < units * members)
            attend_unit(me, op, me->index / members, me->index % members, members);
        return;
    }
    for (int64_t unit = me->index; unit < units; unit += me->s->pes) {
        uint64_t mark = tl_mark(me->tl);

        attend_unit(me, op, unit, 0, 1);
        tl_release(me->tl, mark);
    }
}

/* -- the rotation ----------------------------------------------------------------------------- */

/* Which token of a request a row is. */
static int64_t token_of(const struct llm_op *op, int64_t request, int64_t row)
{
    struct llm_request of = llm_request_at(op, request);

    return of.kv - of.q + row - of.row;
}

/* Stores rows of a page, [m, n] from column `col` on, which are in one head of keys or values. */
static void store_new(const struct llm_pe *me, const struct llm_op *op, int64_t row, int64_t col,
                      tl_tensor *x)
{
    int64_t at = col - op->heads * op->dim, head = at / op->dim;
    int64_t request = llm_request_with(op, row), token = token_of(op, request, row);
    int64_t unit = request * op->kv_heads + head % op->kv_heads;
    int64_t size = (int64_t)kb_dtype_bytes(me->s->kv_dtype), strides[] = {op->dim * size, size};
    uint64_t page = llm_page(me, op, unit, token / me->s->page);

    tl_store_strided(me->tl,
                     page + (head >= op->kv_heads ? key_bytes(op, me->s) : 0) +
                         (uint64_t)((token % me->s->page * op->dim + at % op->dim) * size),
                     x, strides);
}

/* Turns the columns of q and k in rows i to i + m of the own part. */
static void turn(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t m)
{
    struct llm_part part = own_part(me, &op->x);
    int64_t keys = (op->heads + op->kv_heads) * op->dim, n = least(part.cols, keys - part.col);
    tl_ctx *tl = me->tl;

    if (n <= 0)
        return;
    tl_tensor *x = load_own(me, &op->x, i, m, 0, n), *number = tl_scalar(tl, 1);
    tl_free(tl, load_own(me, &op->z, i, m, 0, op->dim));
    store_own(me, &op->x, i, m, 0, n, tl_fma(tl, x, number, tl_mul(tl, x, number)));
    tl_wait_all(tl);
}

/* Stores the new keys and values in rows i to i + m of the own part, a page and a head at once. */
static void keep_new(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t m)
{
    struct llm_part part = own_part(me, &op->x);
    int64_t q = op->heads * op->dim, rows, cols;

    for (int64_t row = part.row + i, end = row + m; row < end; row += rows) {
        int64_t i_of = llm_request_with(op, row), token = token_of(op, i_of, row);
        struct llm_request of = llm_request_at(op, i_of);

        rows = least(least(me->s->page - token % me->s->page, of.row + of.q - row), end - row);
        for (int64_t col = part.col > q ? part.col : q; col < part.col + part.cols; col += cols) {
            uint64_t mark = tl_mark(me->tl);

            cols = least(op->dim - (col - q) % op->dim, part.col + part.cols - col);
            tl_tensor *x = load_own(me, &op->x, row - part.row, rows, col - part.col, cols);

            if (me->s->kv_dtype != op->x.dtype)
                x = tl_cast(me->tl, x, me->s->kv_dtype);
            store_new(me, op, row, col, x);
            tl_release(me->tl, mark);
        }
    }
}

/* Norms of heads in rows i to i + m of the own part. */
static void norm_heads(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t m)
{
    struct llm_part part = own_part(me, &op->x);
    int64_t n = least(part.cols, (op->heads + op->kv_heads) * op->dim - part.col);
    tl_ctx *tl = me->tl;

    if (n <= 0)
        return;
    tl_tensor *x = load_own(me, &op->x, i, m, 0, n), *number = tl_scalar(tl, 1);
    tl_tensor *sum = tl_sum(tl, tl_mul(tl, x, x), 1, true);
    tl_tensor *root = tl_rsqrt(tl, tl_add(tl, tl_mul(tl, sum, number), number));

    store_own(me, &op->x, i, m, 0, n, tl_mul(tl, tl_mul(tl, x, root), number));
}

static void by_blocks(const struct llm_pe *me, const struct llm_op *op,
                      void (*work)(const struct llm_pe *, const struct llm_op *, int64_t, int64_t))
{
    struct llm_part part = own_part(me, &op->x);
    int64_t rows = me->s->tcm_bytes / 16 / (2 * part.cols + 1);

    rows = rows < 1 ? 1 : rows;
    for (int64_t i = 0; i < part.rows; i += rows) {
        uint64_t mark = tl_mark(me->tl);

        work(me, op, i, least(rows, part.rows - i));
        tl_release(me->tl, mark);
    }
}

static void turn_and_keep(const struct llm_pe *me, const struct llm_op *op, int64_t i, int64_t m)
{
    turn(me, op, i, m);
    keep_new(me, op, i, m);
}

void llm_rope(const struct llm_pe *me, const struct llm_op *op)
{
    by_blocks(me, op, turn_and_keep);
}

void llm_qk_norm(const struct llm_pe *me, const struct llm_op *op)
{
    by_blocks(me, op, norm_heads);
}
