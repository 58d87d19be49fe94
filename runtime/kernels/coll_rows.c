/* coll_rows.c -- all_reduce along one row of the group after the other, and back.
 *
 * In a row stand the members whose ranks differ by multiples of a stride. Each row sums what the
 * one before has left, and each of its members keeps a part; then the parts are gathered in the
 * opposite order. Rows are the axes of the group; or, of halving, as short as the number of ranks
 * can be taken apart, the widest stride first: with 2^k ranks pairs, which exchange a half, a
 * quarter, ...
 */
#include "kernels/coll.h"

struct row {
    int64_t n, stride; /* in ranks */
};

/* PIECE_FS: what a PE does for a piece; SHARING_MOST: so many rows share a link, at most. */
enum { ROWS_MOST = 32, SHARING_MOST = 8 };
#define PIECE_FS 24000000.0

static int axes_of(const kb_group *g, struct row *rows)
{
    int64_t stride = 1;
    int n = 0;

    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++) {
        if (g->axes[axis] > 1)
            rows[n++] = (struct row){g->axes[axis], stride};
        stride *= g->axes[axis] ? g->axes[axis] : 1;
    }
    return n;
}

static int halves_of(const kb_group *g, struct row *rows)
{
    int n = 0;

    for (int64_t rest = g->n, prime = 2; rest > 1; prime++)
        while (rest % prime == 0) {
            rest /= prime;
            rows[n++] = (struct row){prime, rest};
        }
    return n;
}

static int rows_of(const struct coll *c, kb_coll_algorithm algorithm, struct row *rows)
{
    return algorithm == KB_COLL_AXES ? axes_of(&c->group, rows) : halves_of(&c->group, rows);
}

/* The members of the row of this one. */
static struct coll coll_of(const struct coll *c, struct row row)
{
    const kb_group *g = &c->group;
    int64_t begin = c->me - c->me / row.stride % row.n * row.stride;
    kb_group part = {.pes = g->pes,
                     .first = g->first + (uint32_t)begin * g->stride,
                     .stride = (uint32_t)row.stride * g->stride,
                     .n = row.n};
    struct coll line = coll_new(c->here, c->tl, part, c->name);

    line.deal = DEAL_SCATTER;
    return line;
}

/* -- choosing --------------------------------------------------------------------------------- */

/* What a byte takes on the slowest way between neighbours. */
static double byte_fs(const struct coll *c)
{
    double slowest_fs = 0;
    kb_cost cost;

    for (int64_t i = 0; i + 1 < least_of(c->group.n, NEAR_MOST); i++)
        if (coll_way_cost(c, i, i + 1, &cost) && (double)cost.drain_fs / SAMPLE > slowest_fs)
            slowest_fs = (double)cost.drain_fs / SAMPLE;
    return slowest_fs;
}

/*
 * About how long half an all_reduce of so many bytes takes by this plan: a way for each step; the
 * bytes on the slowest link, which so many rows share; and what a PE does for each piece.
 */
static double about_fs(const struct coll *c, double bytes, double sharing)
{
    int64_t steps = c->direct ? 1 : c->most_steps, parts = c->direct ? c->group.n - 1 : steps;
    double part = bytes / (double)c->group.n, pieces = part < 1024 ? 1 : 4;

    return (double)(steps * coll_longest_fs(c)) + part * (double)parts * sharing * byte_fs(c) +
           pieces * (double)c->group.n * PIECE_FS;
}

/* The same of rows, of those in which rank 0 stands, so that all members find the same. */
static double rows_about_fs(const struct coll *c, kb_coll_algorithm algorithm, double bytes)
{
    struct row rows[ROWS_MOST];
    int n = rows_of(c, algorithm, rows);
    struct coll first = *c;
    double fs = 0;

    first.me = 0;
    for (int i = 0; i < n; i++) {
        struct coll line = coll_of(&first, rows[i]);

        coll_shape(&line, KB_COLL_AUTO);
        fs += about_fs(&line, bytes, (double)least_of(rows[i].stride, SHARING_MOST));
        bytes /= (double)rows[i].n;
    }
    return fs;
}

static kb_coll_algorithm fastest(const struct coll *c, double bytes)
{
    double whole_fs = about_fs(c, bytes, 1), halving_fs = rows_about_fs(c, KB_COLL_HALVING, bytes);
    struct row rows[ROWS_MOST];
    double axes_fs =
        axes_of(&c->group, rows) > 1 ? rows_about_fs(c, KB_COLL_AXES, bytes) : whole_fs;

    if (c->group.n < 4 || c->direct || (whole_fs <= axes_fs && whole_fs <= halving_fs))
        return KB_COLL_AUTO;
    return axes_fs <= halving_fs ? KB_COLL_AXES : KB_COLL_HALVING;
}

/* Sets the algorithm of the rows; KB_COLL_AUTO: none. */
void coll_choose_rows(struct coll *c, const kb_coll *args)
{
    struct row rows[ROWS_MOST];

    if (args->algorithm == KB_COLL_AXES && axes_of(&c->group, rows) == 0)
        coll_bad(c,
                 "KB_COLL_AXES is for groups of whole rows of PEs, cubes and SIPs; here there are "
                 "KB_COLL_RING, KB_COLL_LINE, KB_COLL_DIRECT, KB_COLL_HALVING");
    if (args->algorithm == KB_COLL_AXES || args->algorithm == KB_COLL_HALVING)
        c->rows = args->algorithm;
    else if (args->algorithm == KB_COLL_AUTO)
        c->rows = fastest(c, (double)args->count * (double)kb_dtype_bytes(args->dtype));
}

/* -- doing it --------------------------------------------------------------------------------- */

void coll_reduce_by_rows(struct coll *c, kb_coll args)
{
    struct row rows[ROWS_MOST];
    struct span spans[ROWS_MOST];
    int n = rows_of(c, c->rows, rows), done = 0;
    struct coll *lines = tl_alloc_host_at(c->here, c->tl, (size_t)n * sizeof *lines);

    args.algorithm = KB_COLL_AUTO;
    for (int i = 0; i < n; i++) {
        struct coll *line = &lines[i];
        struct span in = {args.in, args.count}, part;

        *line = coll_of(c, rows[i]);
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
