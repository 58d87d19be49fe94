/* coll_direct.c -- collectives straight from each member to each.
 *
 * In step s a member sends to the ranks s above and s below, and takes from them; so each step
 * loads all links alike. A deal is a row of items, a step of a piece each, of which as many are
 * under way as fit into the TCM. An all_to_all whose queues do not fit does without: all members
 * meet, each writes its parts to where they belong, and they meet again.
 */
#include "base/larger.h"
#include "kernels/coll.h"

struct dealing {
    enum deal deal;
    struct span in, out;
    tl_tensor *sum; /* of a DEAL_SCATTER: of the piece that is under way */
};

struct item {
    int64_t step, piece;
};

/* Sums are finished piece by piece. */
static struct item item_at(const struct coll *c, enum deal deal, int64_t k)
{
    if (deal == DEAL_SCATTER)
        return (struct item){k % c->most_steps + 1, k / c->most_steps};
    return (struct item){k / c->pieces + 1, k % c->pieces};
}

/* What goes to the rank that is a step away, and what comes from the one on the other side. */
static struct span given(const struct coll *c, const struct dealing *d, enum lane lane,
                         struct item item)
{
    struct span part = d->in;

    if (!is_there(c, lane, item.step, item.step))
        return (struct span){0};
    if (d->deal != DEAL_GATHER)
        part = part_in(c, d->in, lane, item.step, item.step);
    return piece_of(c, part, item.piece);
}

static struct span taken(const struct coll *c, const struct dealing *d, enum lane lane,
                         struct item item)
{
    struct span part = d->out;

    if (!is_there(c, lane, item.step, -item.step))
        return (struct span){0};
    if (d->deal != DEAL_SCATTER)
        part = part_in(c, d->out, lane, item.step, -item.step);
    return piece_of(c, part, item.piece);
}

static void ask(struct coll *c, const struct dealing *d, int64_t i, struct item item)
{
    for (enum lane lane = UP; lane < N_LANES; lane++) {
        c->got[lane][i] = receive(c, lane, item.step, taken(c, d, lane, item));
        c->own[lane][i] = load(c, given(c, d, lane, item));
    }
    if (d->deal == DEAL_SCATTER && item.step == 1)
        c->held[UP][i] = load(c, piece_of(c, part_at(c, d->in, c->me), item.piece));
}

/* The own. */
static tl_tensor *loaded(const struct coll *c, tl_tensor *x)
{
    return c->is_kept ? x : await(c, x);
}

static void answer(struct coll *c, int64_t i, struct item item)
{
    for (enum lane lane = UP; lane < N_LANES; lane++) {
        give(c, lane, item.step, loaded(c, c->own[lane][i]));
        drop(c, &c->own[lane][i]);
    }
}

static void keep(struct coll *c, const struct dealing *d, int64_t i, struct item item)
{
    for (enum lane lane = UP; lane < N_LANES; lane++) {
        c->held[lane][i] = await(c, c->got[lane][i]);
        c->own[lane][i] = store(c, taken(c, d, lane, item), c->held[lane][i]);
    }
}

static void add(struct coll *c, struct dealing *d, int64_t i, struct item item)
{
    if (item.step == 1) {
        d->sum = loaded(c, c->held[UP][i]);
        c->held[UP][i] = NULL;
    }
    for (enum lane lane = UP; lane < N_LANES; lane++)
        d->sum = reduce(c, await(c, c->got[lane][i]), d->sum);
    if (item.step < c->most_steps)
        return;
    c->held[UP][i] = d->sum;
    c->own[UP][i] = settle(c, piece_of(c, d->out, item.piece), &c->held[UP][i]);
}

static void under_way(struct coll *c, struct dealing *d, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ask(c, d, i, item_at(c, d->deal, first + i));
    for (int64_t i = 0; i < n; i++)
        answer(c, i, item_at(c, d->deal, first + i));
    for (int64_t i = 0; i < n; i++)
        if (d->deal == DEAL_SCATTER)
            add(c, d, i, item_at(c, d->deal, first + i));
        else
            keep(c, d, i, item_at(c, d->deal, first + i));
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            await(c, c->own[lane][i]);
            c->own[lane][i] = NULL;
            drop(c, &c->held[lane][i]);
        }
}

/* All is set up before the first piece goes: of an all_to_all each part, else one step. */
static void pay_set_up(const struct coll *c, enum deal deal)
{
    for (int64_t step = 1; deal == DEAL_ALL && step <= c->most_steps; step++)
        pay_step(c, step);
    if (deal != DEAL_ALL)
        pay(c, TL_COST_STEP);
}

void coll_exchange(struct coll *c, enum deal deal, struct span in, struct span out)
{
    struct dealing d = {.deal = deal, .in = in, .out = out};
    int64_t items = c->most_steps * c->pieces;

    pay_set_up(c, deal);
    for (int64_t k = 0; k < items; k += c->round)
        under_way(c, &d, k, smaller(c->round, items - k));
    if (deal == DEAL_GATHER)
        copy(c, in, part_at(c, out, c->me));
    if (deal == DEAL_ALL)
        copy(c, part_at(c, in, c->me), part_at(c, out, c->me));
}

/* -- all_to_all by writes --------------------------------------------------------------------- */

/* Nothing else goes on between members meanwhile. */
static void meet(const struct coll *c)
{
    struct coll barrier = *c;

    barrier.pays = false;
    coll_barrier(&barrier);
}

/* Where the rank at a place has the part that comes from here. */
static struct span place_for(const struct coll *c, int64_t at, struct span part, int64_t n)
{
    int64_t rank = c->order->ranks[place_in(c, at)];
    struct span out = span_of(c->order->outs[rank], n);

    if (!c->theirs)
        return part_of(c->dtype, out, c->rank, c->group.n);
    return span_of(out.address + (uint64_t)c->theirs[rank] * kb_dtype_bytes(c->dtype), part.n);
}

/* Load and write of items [first, first + n). */
static void write_some(struct coll *c, const struct dealing *d, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++)
            c->own[lane][i] = load(c, given(c, d, lane, item_at(c, DEAL_ALL, first + i)));
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            struct item item = item_at(c, DEAL_ALL, first + i);
            int64_t to = lane == UP ? c->me + item.step : c->me - item.step;

            struct span part = part_in(c, d->in, lane, item.step, item.step);

            c->got[lane][i] = store(c, piece_of(c, place_for(c, to, part, d->out.n), item.piece),
                                    await(c, c->own[lane][i]));
        }
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            await(c, c->got[lane][i]);
            c->got[lane][i] = NULL;
            drop(c, &c->own[lane][i]);
        }
}

void coll_write_all(struct coll *c, struct span in, struct span out)
{
    struct dealing d = {.deal = DEAL_ALL, .in = in, .out = out};
    int64_t items = c->most_steps * c->pieces;

    c->order->outs[c->rank] = out.address;
    meet(c);
    pay_set_up(c, DEAL_ALL);
    for (int64_t k = 0; k < items; k += c->round)
        write_some(c, &d, k, smaller(c->round, items - k));
    copy(c, part_at(c, in, c->me), part_at(c, out, c->me));
    meet(c);
}
