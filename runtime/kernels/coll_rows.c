/* coll_rows.c -- all_reduce along one row of the group after the other, and back.
 *
 * In a row stand the members whose ranks differ by multiples of a stride. Each row sums what the
 * one before has left, and each of its members keeps a part; then the parts are gathered in the
 * opposite order. Rows are the axes of the group, or two levels of it; or, of halving, as short as
 * the number of ranks can be taken apart, the widest stride first: with 2^k ranks pairs, which
 * exchange a half, a quarter, ... Where that leaves long rows, and few bytes, 2^k ranks do it
 * alone: each of the others is folded onto one of them, which adds what it has, and gives it the
 * result.
 *
 * Example: 304 ranks are 2 * 2 * 2 * 2 * 19, of 4 + 18 steps; folded, 48 of them give their vectors
 * to ranks 0 to 47, and 256 exchange in 8.
 */
#include "kernels/coll.h"

static void reduce_by_rows(struct coll *c, kb_coll args)
{
    struct span spans[ROWS_MOST];
    int n = c->n_rows, done = 0;
    struct coll *lines = tl_alloc_host_at(c->here, c->tl, (size_t)n * sizeof *lines);

    args.algorithm = KB_COLL_AUTO;
    for (int i = 0; i < n; i++) {
        struct coll *line = &lines[i];
        struct span in = {args.in, args.count}, part;

        *line = coll_of_row(c, c->row[i]);
        if (!coll_begin(line, &args, DEAL_SCATTER))
            break;
        spans[done++] = (struct span){args.out, args.count};
        part = part_at(line, spans[i], line->me);
        coll_scatter(line, in, part);
        args.in = args.out = part.address;
        args.count = part.n;
    }
    while (done-- > 0) {
        struct coll *line = &lines[done];

        if (!line->direct)
            pay(line, TL_COST_CALL);
        coll_gather(line, part_at(line, spans[done], line->me), spans[done]);
    }
}

/* Two members, of which the one of the core has the lower rank. */
static struct coll pair_of(const struct coll *c)
{
    struct coll pair = coll_of_row(c, (struct row){2, c->core, 1});

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
