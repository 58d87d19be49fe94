/* coll_rows.c -- all_reduce along the rows of a group, one after the other or several at once, and
 * back.
 *
 * In a row stand the members whose ranks differ by multiples of a stride. Each row sums what the
 * one before has left, and each of its members keeps a part; then the parts are gathered in the
 * opposite order. Rows are the axes of the group, or two levels of it; or, of halving, as short as
 * the number of ranks can be taken apart, the widest stride first: with 2^k ranks pairs, which
 * exchange a half, a quarter, ... Where that leaves long rows, and few bytes, 2^k ranks do it
 * alone: each of the others is folded onto one of them, which adds what it has, and gives it the
 * result.
 *
 * Axes between cubes have links of their own. So where there is much to send the vector is cut into
 * as many parts as there are such axes, part k goes along axes k, k + 1, ..., and all at once, so
 * that all links carry something all the time. On a torus of 16 x 16 a gathering of S bytes passes
 * S / 2 * 15 / 16 bytes over each link of the axis that comes last if it goes along one after the
 * other, and S / 4 at once.
 *
 * Example: 304 ranks are 2 * 2 * 2 * 2 * 19, of 4 + 18 steps; folded, 48 of them give their vectors
 * to ranks 0 to 47, and 256 exchange in 8.
 */
#include "kernels/coll.h"

/* What goes along one row: part k of as many as there are at once. */
struct leg {
    struct coll line;
    struct span all, mine;
    bool goes; /* it has elements */
};

/* Parts at once, from the first of the rows on along which they go by turns. */
static int legs_at(const struct coll *c, int level)
{
    return c->at_once > 1 && level >= c->turning ? c->at_once : 1;
}

/* The row of part k: part 0 goes along rows 0, 1, 2, part 1 along 1, 2, 0, ... */
static struct row row_of_leg(const struct coll *c, int level, int k)
{
    int turn = level - c->turning;

    if (legs_at(c, level) == 1 || turn >= c->at_once)
        return c->row[level];
    return c->row[c->turning + (turn + k) % c->at_once];
}

/* What leg k sums: the part that the one before has left, of which several legs may have shares. */
static struct span left_for(const struct coll *c, const struct leg *before, struct span whole,
                            int level, int k)
{
    int n = legs_at(c, level);
    struct span left = whole;

    if (level > 0)
        left = before[n == legs_at(c, level - 1) ? k : 0].mine;
    if (level > 0 && n == legs_at(c, level - 1))
        return left;
    return part_of(c->dtype, left, k, n);
}

static void scatter_legs(struct coll *c, struct leg *legs, int level, struct span in, kb_coll args)
{
    struct ring rings[AT_ONCE_MOST];
    int n = legs_at(c, level), n_rings = 0;

    for (int k = 0; k < n; k++) {
        struct leg *leg = &legs[k];
        struct span from = level > 0 ? leg->all : part_of(c->dtype, in, k, n);

        leg->line = coll_of_row(c, row_of_leg(c, level, k));
        leg->line.sharers = n;
        leg->line.is_next = k > 0;
        args.in = from.address;
        args.out = leg->all.address;
        args.count = leg->all.n;
        leg->goes = coll_begin(&leg->line, &args, DEAL_SCATTER);
        if (!leg->goes) {
            leg->mine = leg->all;
            continue;
        }
        leg->mine = part_at(&leg->line, leg->all, leg->line.me);
        if (leg->line.direct)
            coll_scatter(&leg->line, from, leg->mine);
        else
            rings[n_rings++] = (struct ring){&leg->line, from, leg->mine};
    }
    coll_rings_scatter(rings, n_rings);
}

static void gather_legs(struct leg *legs, int n)
{
    struct ring rings[AT_ONCE_MOST];
    int n_rings = 0;

    for (int k = 0; k < n; k++) {
        struct leg *leg = &legs[k];

        if (!leg->goes)
            continue;
        if (leg->line.direct) {
            coll_gather(&leg->line, leg->mine, leg->all);
            continue;
        }
        pay(&leg->line, TL_COST_CALL);
        rings[n_rings++] = (struct ring){&leg->line, leg->all, leg->mine};
    }
    coll_rings_gather(rings, n_rings);
}

static void reduce_by_rows(struct coll *c, kb_coll args)
{
    struct span in = {args.in, args.count}, out = {args.out, args.count};
    struct leg *legs =
        tl_alloc_host_at(c->here, c->tl, (size_t)c->n_rows * AT_ONCE_MOST * sizeof *legs);

    args.algorithm = KB_COLL_AUTO;
    for (int level = 0; level < c->n_rows; level++) {
        struct leg *at = &legs[level * AT_ONCE_MOST];

        for (int k = 0; k < legs_at(c, level); k++)
            at[k].all = left_for(c, level > 0 ? at - AT_ONCE_MOST : NULL, out, level, k);
        scatter_legs(c, at, level, in, args);
    }
    for (int level = c->n_rows; level-- > 0;)
        gather_legs(&legs[level * AT_ONCE_MOST], legs_at(c, level));
}

/* Two members, of which the one of the core has the lower rank. */
static struct coll pair_of(const struct coll *c)
{
    struct coll pair = coll_of_row(c, (struct row){.n = 2, .stride = c->core, .sharing = 1});

    pair.group.first = c->group.first + (uint32_t)(c->rank % c->core) * c->group.stride;
    return pair;
}

void coll_reduce_by_rows(struct coll *c, kb_coll args)
{
    bool paired = c->folded && c->rank % c->core + c->core < c->group.n;
    kb_coll whole = args;
    struct coll pair;

    if (!c->folded) {
        reduce_by_rows(c, args);
        return;
    }
    whole.algorithm = KB_COLL_LINE;
    whole.root = 0;
    if (paired) {
        pair = pair_of(c);
        if (coll_begin(&pair, &whole, DEAL_TO_ROOT))
            coll_reduce(&pair, 0, (struct span){args.in, args.count},
                        (struct span){args.out, args.count});
        args.in = args.out;
    }
    if (c->rank < c->core) {
        struct coll core = coll_new(c->here, c->tl, c->group, c->name);

        core.group.n = c->core;
        args.algorithm = KB_COLL_HALVING;
        if (coll_begin(&core, &args, DEAL_REDUCE))
            reduce_by_rows(&core, args);
    }
    if (paired) {
        pair = pair_of(c);
        whole.in = whole.out;
        if (coll_begin(&pair, &whole, DEAL_ROOT))
            coll_broadcast(&pair, 0, (struct span){args.out, args.count},
                           (struct span){args.out, args.count});
    }
}
