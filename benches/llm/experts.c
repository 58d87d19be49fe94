/*
 * experts.c -- rows of tokens on their way to experts and back.
 *
 * All is done by each row of a rank's grid on its own: its tokens are those of its part of x, each
 * PE moves its own columns of them, and a token's products are made in the row that has the token.
 * A slot is a token and one of its choices (llm_route.h).
 *
 * One rank has all experts, or a part of each (ep = 1): rows of an expert are gathered from x where
 * they are multiplied, and lie in y in the order of slots by experts. Nothing is sent.
 *
 * Experts are divided among ep ranks: all of them know all tokens, and rank i sends those that it
 * owns, part i of ep. Where these ranks are several copies of the model, each copy has tokens of
 * its own, and its ranks own a part of these. Tokens of a row of the grid are counted copy by copy,
 * those of a routing by copies, too, each with all rows. Between two ranks so many rows are sent as
 * the most that any pair has, `cap`, so all parts of the exchange are as long:
 *
 *     dispatch   `z` has ep parts of cap rows, one for each rank, and becomes by kb_all_to_all()
 *                `y`, which has a part from each
 *     products   gather an expert's rows from all parts of it
 *     collect    puts results into the parts that they came in, and sends them back
 *     combine    finds row j of the part of rank d: the j-th slot of the own tokens that went to d
 *
 * Example: 4 tokens, 1 of 2 experts each, chosen 0 0 1 0, on 2 ranks. Rank 0 owns tokens 0 and 1,
 * both for itself; rank 1 owns 2, for itself, and 3, for rank 0. cap is 2. Rank 0 gets rows 0 and 1
 * from itself, row 3 from rank 1.
 */
#include "benches/llm/llm_place.h"
#include "kb_coll.h"

/* Slots of the tokens of a row of the grid, by the rank that owns them. */
struct slots {
    int64_t ep, experts;     /* of a rank */
    int64_t token, tokens;   /* of the row of the grid in the own copy: the first of the routing */
    int64_t before;          /* in those of copies before it */
    int64_t cap;             /* between two ranks, at most */
    const int64_t *slot;     /* rank by rank, and of each by experts */
    const int64_t *first;    /* [rank][expert]: see llm_sort_slots(), of all experts */
    const int64_t *owned_to; /* [rank]: the first token of the next, of those of all copies */
};

static int64_t first_of(const struct slots *s, int64_t rank, int64_t expert)
{
    return s->first[rank * (s->ep * s->experts + 1) + expert];
}

static int64_t owned_from(const struct slots *s, int64_t rank)
{
    return rank > 0 ? s->owned_to[rank - 1] : 0;
}

static int64_t most_between(const struct slots *s)
{
    int64_t most = 0, n;

    for (int64_t from = 0; from < s->ep; from++)
        for (int64_t to = 0; to < s->ep; to++) {
            n = first_of(s, from, (to + 1) * s->experts) - first_of(s, from, to * s->experts);
            most = n > most ? n : most;
        }
    return most;
}

/* The place of the rank among those that share experts. */
static int64_t rank_here(const struct llm_pe *me, const struct llm_op *op)
{
    return (me->rank + op->from_rank) % op->ep;
}

static struct slots slots_here(const struct llm_pe *me, const struct llm_op *op)
{
    const struct llm_routing *r = op->routing;
    int64_t of_copy = llm_copy_tokens(r), token = share(of_copy, me->r, me->s->p);
    int64_t tokens = share(of_copy, me->r + 1, me->s->p) - token, ep = op->ep;
    int64_t ranks = ep / r->copies, own = rank_here(me, op) / ranks; /* of a copy; the own copy */
    size_t n = (size_t)(r->copies * tokens * r->chosen);
    int64_t *slot = tl_alloc_host(me->tl, (n + 1) * sizeof *slot);
    int64_t *first = tl_alloc_host(me->tl, (size_t)(ep * (r->experts + 1)) * sizeof *first);
    int64_t *to = tl_alloc_host(me->tl, (size_t)ep * sizeof *to);
    struct slots s = {.ep = ep,
                      .experts = r->experts / ep,
                      .token = own * of_copy + token,
                      .tokens = tokens,
                      .before = own * tokens,
                      .slot = slot,
                      .first = first,
                      .owned_to = to};

    for (int64_t i = 0; i < ep; i++) {
        int64_t copy = i / ranks, away = copy * (of_copy - tokens) + token;

        to[i] = copy * tokens + llm_own_begin(tokens, i % ranks + 1, ranks);
        llm_sort_slots(r, me->layer + op->from_layer, away + owned_from(&s, i), away + to[i],
                       slot + owned_from(&s, i) * r->chosen, first + i * (r->experts + 1));
    }
    s.cap = most_between(&s);
    return s;
}

struct llm_rows llm_rows_here(const struct llm_pe *me, const struct llm_op *op)
{
    struct slots s = slots_here(me, op);
    int64_t mine = rank_here(me, op) * s.experts, n = 0;
    int64_t *first = tl_alloc_host(me->tl, (size_t)(s.experts + 1) * sizeof *first);
    int64_t *from = tl_alloc_host(me->tl, (size_t)(s.ep * s.cap + 1) * sizeof *from);

    for (int64_t e = 0; e < s.experts; e++) {
        first[e] = n;
        for (int64_t rank = 0; rank < s.ep; rank++)
            for (int64_t i = first_of(&s, rank, mine + e); i < first_of(&s, rank, mine + e + 1);
                 i++)
                from[n++] = s.ep > 1 ? rank * s.cap + i - first_of(&s, rank, mine)
                                     : s.slot[i] / op->chosen - s.token;
    }
    first[s.experts] = n;
    return (struct llm_rows){n, s.experts, first, op->gathers ? from : NULL};
}

/* -- choices ---------------------------------------------------------------------------------- */

/* Of `tokens` of a row of the grid each PE has a part: first all numbers of experts, then shares.
 */
static uint64_t choices_at(const struct llm_pe *me, const struct llm_op *op, uint64_t at, int64_t c,
                           int64_t token, bool shares)
{
    uint64_t most = (uint64_t)parts(llm_copy_tokens(op->routing), me->s->p);

    return room_of(me, (int64_t)me->r * me->s->q + c, at) +
           4 * (uint64_t)op->chosen * ((uint64_t)token + (shares ? most : 0));
}

/* [n, chosen] of tokens i to i + n of the row of the grid, from the PEs that have them. */
static tl_tensor *load_choices(const struct llm_pe *me, const struct llm_op *op, int64_t tokens,
                               int64_t i, int64_t n, bool shares)
{
    tl_run *runs = tl_alloc_host(me->tl, me->s->q * sizeof *runs);
    uint32_t count = 0;

    for (int64_t token = i, c, end; token < i + n; token = end) {
        c = part_with(tokens, token, me->s->q);
        end = least(i + n, share(tokens, c + 1, me->s->q));
        runs[count++] = (tl_run){choices_at(me, op, op->routes, c, token, shares),
                                 (uint64_t)(4 * op->chosen * (end - token))};
    }
    return tl_load_list(me->tl, runs, count, shares ? KB_F32 : KB_I32, KB_SHAPE(n, op->chosen));
}

void llm_read_choices(const struct llm_pe *me, const struct llm_op *op)
{
    struct llm_part part = {0};
    int64_t rows = block_rows(me, op->chosen, 1), n;

    part.row = share(llm_copy_tokens(op->routing), me->r, me->s->p);
    part.rows = share(llm_copy_tokens(op->routing), me->r + 1, me->s->p) - part.row;
    for (int64_t i = 0; i < part.rows; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, part.rows - i);
        tl_wait(me->tl, load_choices(me, op, part.rows, i, n, false));
        tl_release(me->tl, mark);
    }
}

/* The best of each token of the own part, and the softmax of their scores. */
void llm_route(const struct llm_pe *me, const struct llm_op *op)
{
    int64_t first = row_begin(&op->x, me->r, me->s->p), scores = op->x.cols, n;
    int64_t tokens = row_begin(&op->x, me->r + 1, me->s->p) - first;
    int64_t from = share(tokens, me->c, me->s->q), to = share(tokens, me->c + 1, me->s->q);
    int64_t rows = block_rows(me, scores, 4);

    for (int64_t i = from; i < to; i += n) {
        uint64_t mark = tl_mark(me->tl);
        tl_tensor *number, *best;

        n = least(rows, to - i);
        tl_run *runs = tl_alloc_host(me->tl, (size_t)n * (me->s->q + 1) * sizeof *runs);
        uint32_t count = runs_of(me, &op->x, first + i, n, 0, scores, runs);
        best = tl_topk(me->tl, tl_load_list(me->tl, runs, count, op->x.dtype, KB_SHAPE(n, scores)),
                       op->chosen, &number);
        tl_store(me->tl, choices_at(me, op, op->y.at, me->c, i, false), number);
        tl_store(me->tl, choices_at(me, op, op->y.at, me->c, i, true),
                 tl_softmax(me->tl, tl_cast(me->tl, best, KB_F32), -1));
        tl_release(me->tl, mark);
    }
}

/* -- between ranks ---------------------------------------------------------------------------- */

/* Row i of what is sent becomes row from[i] of x. */
static void fill_part(const struct llm_pe *me, const struct llm_op *op, int64_t row,
                      const int64_t *from, int64_t n)
{
    int64_t cols = own_part(me, &op->x).cols, rows = block_rows(me, cols, 2), m;
    uint64_t size = (uint64_t)cols * kb_dtype_bytes(op->x.dtype);

    for (int64_t i = 0; i < n; i += m) {
        uint64_t mark = tl_mark(me->tl);

        m = least(rows, n - i);
        tl_run *runs = tl_alloc_host(me->tl, (size_t)m * sizeof *runs);
        for (int64_t k = 0; k < m; k++)
            runs[k] =
                (tl_run){room_of(me, me->index, op->x.at) + (uint64_t)from[i + k] * size, size};
        tl_store(me->tl, room_of(me, me->index, op->z.at) + (uint64_t)(row + i) * size,
                 tl_load_list(me->tl, runs, (uint32_t)m, op->x.dtype, KB_SHAPE(m, cols)));
        tl_release(me->tl, mark);
    }
}

/* The PEs of the own index in the ranks that share experts. */
static kb_group sharers(const struct llm_pe *me, const struct llm_op *op)
{
    uint32_t *pes = tl_alloc_host(me->tl, (size_t)op->ep * sizeof *pes);
    int64_t first = me->rank - me->rank % op->ep;

    for (int64_t i = 0; i < op->ep; i++)
        pes[i] = me->s->pe_of[(first + i) * me->s->pes + me->index];
    return kb_group_list(me->tl, pes, op->ep);
}

static void exchange(const struct llm_pe *me, const struct llm_op *op, int64_t cap)
{
    int64_t count = op->ep * cap * own_part(me, &op->x).cols;

    llm_in_order(me, true);
    if (count > 0)
        kb_all_to_all(me->tl, sharers(me, op), .in = room_of(me, me->index, op->z.at),
                      .out = room_of(me, me->index, op->y.at), .count = count,
                      .dtype = op->x.dtype);
    llm_in_order(me, false);
}

void llm_dispatch(const struct llm_pe *me, const struct llm_op *op)
{
    struct slots s = slots_here(me, op);
    int64_t mine = rank_here(me, op);
    int64_t *from = tl_alloc_host(me->tl, (size_t)(s.tokens * op->chosen + 1) * sizeof *from);
    const int64_t *slot = s.slot + owned_from(&s, mine) * op->chosen;

    llm_read_choices(me, op);
    for (int64_t i = 0; i < first_of(&s, mine, s.ep * s.experts); i++)
        from[i] = slot[i] / op->chosen - s.token;
    for (int64_t rank = 0; rank < s.ep && own_part(me, &op->x).cols > 0; rank++) {
        int64_t first = first_of(&s, mine, rank * s.experts);

        fill_part(me, op, rank * s.cap, from + first,
                  first_of(&s, mine, (rank + 1) * s.experts) - first);
    }
    exchange(me, op, s.cap);
}

/* Rows of x are by experts, and of each by the ranks that they came from. */
void llm_collect(const struct llm_pe *me, const struct llm_op *op)
{
    struct slots s = slots_here(me, op);
    int64_t mine = rank_here(me, op) * s.experts;
    int64_t *from = tl_alloc_host(me->tl, (size_t)(s.ep * s.cap + 1) * sizeof *from), row = 0;

    for (int64_t e = mine; e < mine + s.experts; e++)
        for (int64_t rank = 0; rank < s.ep; rank++)
            for (int64_t i = first_of(&s, rank, e); i < first_of(&s, rank, e + 1); i++)
                from[rank * s.cap + i - first_of(&s, rank, mine)] = row++;
    for (int64_t rank = 0; rank < s.ep && own_part(me, &op->x).cols > 0; rank++)
        fill_part(me, op, rank * s.cap, from + rank * s.cap,
                  first_of(&s, rank, mine + s.experts) - first_of(&s, rank, mine));
    exchange(me, op, s.cap);
}

/* -- sums ------------------------------------------------------------------------------------- */

/* Which row of x has the product of a slot of the own tokens, in the order of slots. */
static const int64_t *rows_of_slots(const struct llm_pe *me, const struct llm_op *op,
                                    const struct slots *s)
{
    int64_t mine = rank_here(me, op), token = owned_from(s, mine) - s->before;
    int64_t n = (s->owned_to[mine] - s->before - token) * op->chosen;
    const int64_t *slot = s->slot + owned_from(s, mine) * op->chosen;
    int64_t *row = tl_alloc_host(me->tl, (size_t)(n + 1) * sizeof *row);

    for (int64_t rank = 0; rank < s->ep; rank++) {
        int64_t first = first_of(s, mine, rank * s->experts);

        for (int64_t i = first; i < first_of(s, mine, (rank + 1) * s->experts); i++)
            row[slot[i] - (s->token + token) * op->chosen] = rank * s->cap + i - first;
    }
    return row;
}

/* Tokens i to i + n of the row of the grid, of which `row` is of the first. */
static void combine_block(const struct llm_pe *me, const struct llm_op *op, const struct slots *s,
                          const int64_t *row, int64_t i, int64_t n)
{
    int64_t cols = own_part(me, &op->y).cols, chosen = op->chosen;
    uint64_t size = (uint64_t)cols * kb_dtype_bytes(op->x.dtype);
    tl_run *runs = tl_alloc_host(me->tl, (size_t)(n * chosen) * sizeof *runs);
    tl_ctx *tl = me->tl;

    for (int64_t k = 0; k < n * chosen; k++)
        runs[k] = (tl_run){room_of(me, me->index, op->x.at) + (uint64_t)row[k] * size, size};
    tl_tensor *x =
        tl_load_list(tl, runs, (uint32_t)(n * chosen), op->x.dtype, KB_SHAPE(n, chosen, cols));
    tl_tensor *shares = load_choices(me, op, s->tokens, i, n, true);
    tl_tensor *y = tl_sum(
        tl, tl_mul(tl, x, tl_reshape(tl, tl_cast(tl, shares, op->x.dtype), KB_SHAPE(n, chosen, 1))),
        1, false);

    if (op->has_z)
        y = tl_add(tl, y, load_own(me, &op->z, i, n, 0, cols));
    store_own(me, &op->y, i, n, 0, cols, y);
}

/* Rows of tokens that other ranks own are theirs to add. */
static void clear_rows(const struct llm_pe *me, const struct llm_op *op, int64_t from, int64_t to)
{
    int64_t cols = own_part(me, &op->y).cols, rows = block_rows(me, cols, 2), n;

    for (int64_t i = from; i < to; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, to - i);
        store_own(me, &op->y, i, n, 0, cols, tl_full(me->tl, op->y.dtype, KB_SHAPE(n, cols), 0));
        tl_release(me->tl, mark);
    }
}

void llm_combine(const struct llm_pe *me, const struct llm_op *op)
{
    struct slots s = slots_here(me, op);
    int64_t mine = rank_here(me, op), from = owned_from(&s, mine) - s.before;
    int64_t to = s.owned_to[mine] - s.before, n;
    int64_t cols = own_part(me, &op->y).cols, rows = block_rows(me, cols, 2 * op->chosen + 3);
    const int64_t *row = rows_of_slots(me, op, &s);

    if (cols == 0)
        return;
    for (int64_t i = from; i < to; i += n) {
        uint64_t mark = tl_mark(me->tl);

        n = least(rows, to - i);
        combine_block(me, op, &s, row + (i - from) * op->chosen, i, n);
        tl_release(me->tl, mark);
    }
    if (!op->has_z) {
        clear_rows(me, op, 0, from);
        clear_rows(me, op, to, s.tokens);
    }
}
