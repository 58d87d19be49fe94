/* coll_root.c -- collectives with a root: broadcast, reduce; and barriers.
 *
 * On a ring half of the members stand above the root, n / 2 of them, and half below; on a line
 * those of higher ranks stand above. A broadcast goes up and down from the root at once, piece by
 * piece; a reduction comes back the same ways. On a tree each has its own half of those above: of 8
 * the root gives to places 4, 2 and 1 above, the one at 4 to 6 and 5, that at 6 to 7, at 2 to 3.
 * There all bytes pass the root once for each of those. Where each half of a vector has a tree, a
 * rank has two below it at most, and those of one tree are the leaves of the other: of 8 ranks 0
 * has 4, 4 has 2 and 6, 2 has 1 and 3, 6 has 5 and 7; in the other tree 7 stands for 0, 6 for 1.
 */
#include "base/larger.h"
#include "kernels/coll.h"

/* PEs: the one it takes from in a broadcast, < 0 of the root; those it gives to, the one with most
 * behind it first. A reduction goes the other way. */
struct kin {
    int64_t parent, child[64];
    int n;
};

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

static int64_t pe_above(const struct coll *c, int64_t rank)
{
    return c->order->pes[rank % c->group.n];
}

/* By ranks, as they stand above the root: one takes from the rank that is lower by its lowest bit,
 * and gives to those that are higher by less. */
static struct kin kin_of_tree(const struct coll *c, int64_t root)
{
    int64_t n = c->group.n, v = (c->rank - root + n) % n, reach = v ? v & -v : 1;
    struct kin k = {.parent = v ? pe_above(c, root + v - reach) : -1};

    while (v == 0 && reach < n)
        reach *= 2;
    while ((reach /= 2) > 0)
        if (v + reach < n)
            k.child[k.n++] = pe_above(c, root + v + reach);
    return k;
}

/* A tree of places 1 to n - 1 in order, each as high as its lowest bit, below place 0. Its leaves
 * are the odd places. */
static struct kin kin_in_order(int64_t v, int64_t n)
{
    int64_t bit = v ? v & -v : 1, up = (v ^ bit) | bit << 1;
    struct kin k = {.parent = v == 0 ? -1 : up < n ? up : v ^ bit};

    while (v == 0 && bit < n)
        bit *= 2;
    bit /= 2;
    if (v > 0 && bit > 0)
        k.child[k.n++] = v - bit;
    while (bit > 0 && v + bit >= n)
        bit /= 2;
    if (bit > 0)
        k.child[k.n++] = v + bit;
    return k;
}

/*
 * The places of ranks in the tree of a half, so that those with some below them in one have none in
 * the other. Of the first half a rank is its own place: even ones have some below them. Of the
 * second ranks stand the other way round, if they are even in number. If they are odd, they stand
 * one further, and place 0 is empty: the one below it is the root, and all even places have two.
 *
 * Example: of 5 ranks, by places 0 > 4 > 2 > 1, 3; and 4 > 2, 5 with 2 > 1, 3, which are ranks
 * 3 > 1, 4 with 1 > 0, 2. So 0, 2 and 4 have some in the first, 1 and 3 in the second.
 */
static bool stand_one_further(const struct coll *c)
{
    return c->second && c->group.n % 2 != 0;
}

static int64_t place_in_half(const struct coll *c, int64_t rank)
{
    return stand_one_further(c) ? rank + 1 : c->second ? c->group.n - 1 - rank : rank;
}

static int64_t pe_in_half(const struct coll *c, int64_t place)
{
    return c->order->pes[stand_one_further(c) ? place - 1
                         : c->second          ? c->group.n - 1 - place
                                              : place];
}

static struct kin kin_of_half(const struct coll *c)
{
    bool further = stand_one_further(c);
    struct kin k = kin_in_order(place_in_half(c, c->rank), c->group.n + further);

    k.parent = k.parent < further ? -1 : pe_in_half(c, k.parent);
    for (int i = 0; i < k.n; i++)
        k.child[i] = pe_in_half(c, k.child[i]);
    return k;
}

static struct kin kin_of(const struct coll *c, int64_t root)
{
    int64_t place = c->tree ? 0 : coll_place(c, root), up = distance(c, place, UP);
    struct kin k = {.parent = up > 0 ? neighbour_pe(c, -1) : up < 0 ? neighbour_pe(c, 1) : -1};

    if (c->halves)
        return kin_of_half(c);
    if (c->tree)
        return kin_of_tree(c, root);
    if (has_more(c, place, UP))
        k.child[k.n++] = neighbour_pe(c, 1);
    if (has_more(c, place, DOWN))
        k.child[k.n++] = neighbour_pe(c, -1);
    return k;
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

static void broadcast_round(struct coll *c, const struct kin *k, struct span in, struct span out,
                            int64_t first, int64_t n)
{
    bool is_root = k->parent < 0;

    for (int64_t i = 0; i < n; i++) {
        struct span at = piece_of(c, in, first + i);

        c->held[UP][i] = is_root ? load(c, at) : receive_from(c, k->parent, at);
    }
    for (int64_t i = 0; i < n; i++) {
        tl_tensor *x = await(c, c->held[UP][i]);

        pay_first(c, first + i);
        for (int child = 0; child < k->n; child++)
            give_to(c, k->child[child], x);
        if (!is_root || in.address != out.address)
            c->own[DOWN][i] = store(c, piece_of(c, out, first + i), x);
    }
    finish(c, n);
}

/* The nearest child first. */
static void reduce_round(struct coll *c, const struct kin *k, tl_tensor **got, struct span in,
                         struct span out, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        struct span at = piece_of(c, in, first + i);

        for (int child = k->n; child-- > 0;)
            got[child * c->round + i] = receive_from(c, k->child[child], at);
        c->own[UP][i] = load(c, at);
    }
    for (int64_t i = 0; i < n; i++) {
        tl_tensor *sum = k->n == 0 ? await(c, c->own[UP][i]) : NULL;

        for (int child = k->n; child-- > 0;) {
            tl_tensor *theirs = await(c, got[child * c->round + i]);

            sum = reduce(c, theirs, sum ? sum : await(c, c->own[UP][i]));
        }
        c->held[UP][i] = sum;
        c->own[UP][i] = NULL;
        pay_first(c, first + i);
        if (k->parent < 0)
            c->own[DOWN][i] = store(c, piece_of(c, out, first + i), sum);
        else
            give_to(c, k->parent, sum);
    }
    finish(c, n);
}

void coll_broadcast(struct coll *c, int64_t root, struct span in, struct span out)
{
    struct kin k = kin_of(c, root);

    for (int64_t first = 0; first < c->pieces; first += c->round)
        broadcast_round(c, &k, in, out, first, smaller(c->round, c->pieces - first));
}

void coll_reduce(struct coll *c, int64_t root, struct span in, struct span out)
{
    struct kin k = kin_of(c, root);
    size_t rows = (size_t)k.n * (size_t)c->round + 1;
    tl_tensor **got = tl_alloc_host_at(c->here, c->tl, rows * sizeof(tl_tensor *));

    for (int64_t first = 0; first < c->pieces; first += c->round)
        reduce_round(c, &k, got, in, out, first, smaller(c->round, c->pieces - first));
}

/* In round k each tells the one 2^k above. */
void coll_barrier(struct coll *c)
{
    tl_tensor *word = tl_full_at(c->here, c->tl, KB_U8, KB_SHAPE(1), 0);

    c->ring = true;
    c->dtype = KB_U8;
    for (int64_t by = 1; by < c->group.n; by *= 2) {
        tl_tensor *got = receive(c, UP, by, span_of(0, 1));

        pay(c, TL_COST_STEP);
        give(c, UP, by, word);
        drop(c, (tl_tensor *[]){await(c, got)});
    }
    drop(c, &word);
}
