/* coll_rows.c -- all_reduce along one row of the group after the other, and back.
 *
 * In a row stand the members whose ranks differ by multiples of a stride. Each row sums what the
 * one before has left, and each of its members keeps a part; then the parts are gathered in the
 * opposite order. Rows are the axes of the group; or, of halving, as short as the number of ranks
 * can be taken apart, the widest stride first: with 2^k ranks pairs, which exchange a half, a
 * quarter, ...
 */
#include "kernels/coll.h"

void coll_reduce_by_rows(struct coll *c, kb_coll args)
{
    struct row rows[ROWS_MOST];
    struct span spans[ROWS_MOST];
    int n = coll_rows_of(c, c->rows, rows), done = 0;
    struct coll *lines = tl_alloc_host_at(c->here, c->tl, (size_t)n * sizeof *lines);

    args.algorithm = KB_COLL_AUTO;
    for (int i = 0; i < n; i++) {
        struct coll *line = &lines[i];
        struct span in = {args.in, args.count}, part;

        *line = coll_of_row(c, rows[i]);
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
