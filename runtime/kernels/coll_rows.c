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
#include "base/larger.h"
#include "kernels/coll.h"

/* What goes along one row: part k of as many as there are at once. */
struct leg {
    struct coll line;
    struct span from, all, mine; /* what is summed; its sums, or what is gathered; the own part */
    struct coll_tile tile;
    tl_tensor **kept; /* sums of tiles, in the TCM */
    bool goes;        /* it has elements */
};

/* Parts at once, from the first of the rows on along which they go by turns. */
static int legs_at(const struct coll *c, int level)
{
    return c->at_once > 1 && (level >= c->turning || c->deal != DEAL_REDUCE) ? c->at_once : 1;
}

/* The row of part k: part 0 goes along rows 0, 1, 2, part 1 along 1, 2, 0, ... */
static struct row row_of_leg(const struct coll *c, int level, int k)
{
    int turn = level - c->turning;

    if (legs_at(c, level) == 1 || turn < 0 || turn >= c->at_once)
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

static void begin_leg(const struct coll *c, struct leg *leg, int level, int k, enum deal deal,
                      kb_coll args)
{
    leg->line = coll_of_row(c, row_of_leg(c, level, k));
    leg->line.sharers = legs_at(c, level);
    leg->line.is_next = c->is_next || k > 0;
    leg->line.tile = leg->all.tile ? &leg->tile : NULL;
    leg->line.is_kept = leg->from.kept != NULL;
    args.algorithm = KB_COLL_AUTO;
    args.in = leg->from.address;
    args.out = leg->all.address;
    args.count = leg->all.n;
    leg->goes = coll_begin(&leg->line, &args, deal);
}

static void scatter_legs(struct leg *legs, int n)
{
    struct ring rings[AT_ONCE_MOST];
    int n_rings = 0;

    for (int k = 0; k < n; k++) {
        struct leg *leg = &legs[k];

        if (!leg->goes)
            continue;
        if (leg->line.direct)
            coll_scatter(&leg->line, leg->from, leg->mine);
        else
            rings[n_rings++] = (struct ring){&leg->line, leg->from, leg->mine};
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
        if (leg->line.deal == DEAL_SCATTER)
            pay(&leg->line, TL_COST_CALL);
        rings[n_rings++] = (struct ring){&leg->line, leg->all, leg->mine};
    }
    coll_rings_gather(rings, n_rings);
}

/* Legs of one level, at most. */
static int most_legs(const struct coll *c)
{
    return c->at_once > 1 ? c->at_once : 1;
}

static struct leg *new_legs(const struct coll *c, int levels)
{
    return tl_alloc_host_at(c->here, c->tl,
                            (size_t)levels * (size_t)most_legs(c) * sizeof(struct leg));
}

static void reduce_by_rows(struct coll *c, kb_coll args)
{
    struct span in = span_of(args.in, args.count), out = span_of(args.out, args.count);
    struct leg *legs = new_legs(c, c->n_rows);
    int most = most_legs(c);

    for (int level = 0; level < c->n_rows; level++) {
        struct leg *at = &legs[level * most];
        int n = legs_at(c, level);

        for (int k = 0; k < n; k++) {
            at[k].all = left_for(c, level > 0 ? at - most : NULL, out, level, k);
            at[k].from = level > 0 ? at[k].all : part_of(c->dtype, in, k, n);
            begin_leg(c, &at[k], level, k, DEAL_SCATTER, args);
            at[k].mine = at[k].goes ? part_at(&at[k].line, at[k].all, at[k].line.me) : at[k].all;
        }
        scatter_legs(at, n);
    }
    for (int level = c->n_rows; level-- > 0;)
        gather_legs(&legs[level * most], legs_at(c, level));
}

/* -- parts of ranks --------------------------------------------------------------------------- */

/* Of the part of each rank so many elements go now, in one of so many slices. */
struct slice {
    int64_t part, at, of;
};

static struct span in_slice(const struct coll *c, uint64_t part, struct slice s)
{
    return part_of(c->dtype, span_of(part, s.part), s.at, s.of);
}

/* All that goes along the row of a leg at this level: of each member the blocks of the ranks that
 * stand in the same rows at the levels behind it. */
static struct span tiles_of(const struct coll *c, struct leg *leg, int level, int k,
                            uint64_t vector, struct slice s)
{
    struct coll_tile *t = &leg->tile;
    struct row row = row_of_leg(c, level, k);
    int64_t rank = c->rank;
    struct span all;

    *t = (struct coll_tile){
        .len = in_slice(c, vector, s).n, .step = row.stride * s.part, .members = row.n};
    t->n = t->len;
    for (int i = level; i < c->n_rows; i++) {
        struct row next = row_of_leg(c, i, k);

        rank -= c->rank / next.stride % next.n * next.stride;
        if (i == level)
            continue;
        t->dim[t->n_dims] = next.n;
        t->stride[t->n_dims++] = next.stride * s.part;
        t->n *= next.n;
    }
    all = in_slice(c, vector + (uint64_t)(rank * s.part) * kb_dtype_bytes(c->dtype), s);
    all.n = t->n * row.n;
    all.tile = t;
    return all;
}

/* Pieces are cut alike at all levels: for the parts of the longest. */
static kb_coll with_chunk(struct coll *c, kb_coll args)
{
    c->sharers = legs_at(c, 0);
    c->part_most = args.count / c->row[0].n / c->sharers;
    args.chunk = coll_chunk(c, &args);
    return args;
}

/* The levels behind the first take what the one before has gathered; back it goes the other way. */
void coll_gather_by_rows(struct coll *c, kb_coll args)
{
    struct leg *legs = new_legs(c, 1);
    int n = legs_at(c, 0);

    args = with_chunk(c, args);
    for (int level = c->n_rows; level-- > 0;) {
        for (int k = 0; k < n; k++) {
            struct slice s = {args.count / c->group.n, k, n};

            legs[k].all = tiles_of(c, &legs[k], level, k, args.out, s);
            begin_leg(c, &legs[k], level, k, DEAL_GATHER, args);
            if (level == c->n_rows - 1)
                legs[k].mine = in_slice(c, args.in, s);
            else if (legs[k].goes)
                legs[k].mine = part_at(&legs[k].line, legs[k].all, legs[k].line.me);
        }
        gather_legs(legs, n);
    }
}

/* So many slices, one after the other, that all sums which are kept take a quarter of the TCM. */
static int64_t slices_of(const struct coll *c, int64_t part, int64_t n)
{
    int64_t kept = 2 * (c->group.n / c->row[0].n) * part * (int64_t)kb_dtype_bytes(c->dtype);
    int64_t least_n = c->row[0].n;

    for (int i = 1; i < n; i++) /* a leg begins with any of the rows that turn */
        least_n = smaller(least_n, c->row[c->turning + i].n);
    kept = kept * c->row[0].n / least_n;
    return 1 + kept / (int64_t)(coll_tcm_bytes(c) / 4);
}

/* Where leg k leaves its sums at this level, for the next to take them. */
static struct span sums_of(const struct coll *c, struct leg *leg)
{
    struct span mine = {.tile = &leg->tile, .n = leg->tile.n};

    leg->kept = tl_alloc_host_at(c->here, c->tl, (size_t)leg->line.pieces * sizeof(tl_tensor *));
    mine.kept = leg->kept;
    return mine;
}

static void begin_scatter_leg(const struct coll *c, struct leg *leg, int level, int k, kb_coll args,
                              struct slice s)
{
    const struct leg *before = leg - most_legs(c);

    leg->from = leg->all = tiles_of(c, leg, level, k, args.in, s);
    if (level > 0) {
        leg->from.kept = before->kept;
        leg->tile.groups = before->tile.cut == 0 ? before->tile.shares : 0;
    }
    begin_leg(c, leg, level, k, DEAL_SCATTER, args);
    if (level == c->n_rows - 1)
        leg->mine = in_slice(c, args.out, s);
    else if (leg->goes)
        leg->mine = sums_of(c, leg);
}

void coll_scatter_by_rows(struct coll *c, kb_coll args)
{
    struct leg *legs = new_legs(c, c->n_rows);
    int n = legs_at(c, 0);
    int64_t part = args.count / c->group.n, slices = slices_of(c, part, n);

    args = with_chunk(c, args);
    for (int64_t slice = 0; slice < slices; slice++, c->is_next = true)
        for (int level = 0; level < c->n_rows; level++) {
            struct leg *at = &legs[level * most_legs(c)];

            for (int k = 0; k < n; k++)
                begin_scatter_leg(c, &at[k], level, k, args,
                                  (struct slice){part, slice * n + k, slices * n});
            scatter_legs(at, n);
            for (int k = 0; k < n && level > 0; k++)
                for (int64_t i = 0; at[k].goes && i < at[k].tile.groups; i++)
                    drop(c, &at[k].from.kept[i]);
        }
}

/* -- folding ---------------------------------------------------------------------------------- */

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
            coll_reduce(&pair, 0, span_of(args.in, args.count), span_of(args.out, args.count));
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
            coll_broadcast(&pair, 0, span_of(args.out, args.count), span_of(args.out, args.count));
    }
}
