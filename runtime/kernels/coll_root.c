/* coll_root.c -- collectives with a root: broadcast, reduce; and barriers.
 *
 * On a ring half of the members stand above the root, n / 2 of them, and half below; on a line
 * those of higher ranks stand above. A broadcast goes up and down from the root at once, piece by
 * piece; a reduction comes back the same ways.
 */
#include "kernels/coll.h"

/* How far up, or down, a member stands from the root; at the root: neither. */
static int64_t distance(const struct coll *c, int64_t root, enum lane side)
{
    int64_t up = c->me - root, n = c->group.n;

    if (c->ring) {
        up = place_in(c, up);
        up = up <= c->steps[UP] ? up : up - n;
    }
    return side == UP ? up : -up;
}

/* Do others stand behind it on that side of the root? */
static bool has_more(const struct coll *c, int64_t root, enum lane side)
{
    int64_t d = distance(c, root, side);

    return d >= 0 && d < c->steps[side] && neighbour(c, side == UP ? 1 : -1) >= 0;
}

/* The side of the root on which it stands; N_LANES: it is the root. */
static enum lane side_of(const struct coll *c, int64_t root)
{
    int64_t up = distance(c, root, UP);

    return up > 0 ? UP : up < 0 ? DOWN : N_LANES;
}

static enum lane against(enum lane lane)
{
    return lane == UP ? DOWN : UP;
}

static void finish(struct coll *c, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        await(c, c->own[DOWN][i]);
        c->own[DOWN][i] = NULL;
        drop(c, &c->held[UP][i]);
    }
}

/* Pays for a step when the first piece has come. */
static void pay_first(const struct coll *c, int64_t piece)
{
    if (piece == 0 && pays_steps(c))
        pay(c, TL_COST_STEP);
}

static void broadcast_round(struct coll *c, int64_t root, struct span in, struct span out,
                            int64_t first, int64_t n)
{
    enum lane side = side_of(c, root);

    for (int64_t i = 0; i < n; i++) {
        struct span at = piece_of(c, in, first + i);

        c->held[UP][i] = side == N_LANES ? load(c, at) : receive(c, side, 1, at.n);
    }
    for (int64_t i = 0; i < n; i++) {
        tl_tensor *x = await(c, c->held[UP][i]);

        pay_first(c, first + i);
        for (enum lane lane = UP; lane < N_LANES; lane++)
            if (has_more(c, root, lane))
                give(c, lane, 1, x);
        if (side != N_LANES || in.address != out.address)
            c->own[DOWN][i] = store(c, piece_of(c, out, first + i), x);
    }
    finish(c, n);
}

static void reduce_round(struct coll *c, int64_t root, struct span in, struct span out,
                         int64_t first, int64_t n)
{
    enum lane side = side_of(c, root);

    for (int64_t i = 0; i < n; i++) {
        struct span at = piece_of(c, in, first + i);

        for (enum lane lane = UP; lane < N_LANES; lane++)
            c->got[lane][i] = has_more(c, root, against(lane)) ? receive(c, lane, 1, at.n) : NULL;
        c->own[UP][i] = load(c, at);
    }
    for (int64_t i = 0; i < n; i++) {
        tl_tensor *sum = reduce(c, await(c, c->got[UP][i]), await(c, c->own[UP][i]));

        sum = reduce(c, await(c, c->got[DOWN][i]), sum);
        c->held[UP][i] = sum;
        c->own[UP][i] = NULL;
        pay_first(c, first + i);
        if (side == N_LANES)
            c->own[DOWN][i] = store(c, piece_of(c, out, first + i), sum);
        else
            give(c, against(side), 1, sum);
    }
    finish(c, n);
}

void coll_broadcast(struct coll *c, int64_t root, struct span in, struct span out)
{
    for (int64_t first = 0; first < c->pieces; first += c->round)
        broadcast_round(c, root, in, out, first, least_of(c->round, c->pieces - first));
}

void coll_reduce(struct coll *c, int64_t root, struct span in, struct span out)
{
    for (int64_t first = 0; first < c->pieces; first += c->round)
        reduce_round(c, root, in, out, first, least_of(c->round, c->pieces - first));
}

/* In round k each tells the one 2^k above. */
void coll_barrier(struct coll *c)
{
    tl_tensor *word = tl_full_at(c->here, c->tl, KB_U8, KB_SHAPE(1), 0);

    c->ring = true;
    c->dtype = KB_U8;
    for (int64_t by = 1; by < c->group.n; by *= 2) {
        tl_tensor *got = receive(c, UP, by, 1);

        pay(c, TL_COST_STEP);
        give(c, UP, by, word);
        drop(c, (tl_tensor *[]){await(c, got)});
    }
    drop(c, &word);
}
