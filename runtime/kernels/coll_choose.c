/* coll_choose.c -- KB_COLL_AUTO: which algorithm is the fastest, by an estimate of each.
 *
 * All members find the same, as it depends on the machine, the group and the sizes alone: on the
 * ways between members on an idle machine, on the bytes that pass the busiest link, and on what a
 * PE does for each piece.
 */
#include "kernels/coll.h"

/* PIECE_FS: what a PE does for a piece; SHARING_MOST: so many rows share a link, at most. */
enum { SHARING_MOST = 8 };
#define PIECE_FS 24000000.0

/* -- shapes and rows ------------------------------------------------------------------------- */

void coll_shape(struct coll *c, kb_coll_algorithm algorithm)
{
    int64_t n = c->group.n;

    c->direct = algorithm == KB_COLL_DIRECT;
    c->ring = algorithm != KB_COLL_LINE;
    c->steps[UP] = c->ring && algorithm != KB_COLL_ONE_WAY ? n / 2 : n - 1;
    c->steps[DOWN] = algorithm == KB_COLL_ONE_WAY ? 0 : c->ring ? (n - 1) / 2 : n - 1;
    c->most_steps = c->steps[UP];
}

struct coll coll_new(tl_here here, tl_ctx *tl, kb_group group, const char *name)
{
    return (struct coll){.here = here, .tl = tl, .group = group, .name = name};
}

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

int coll_rows_of(const struct coll *c, kb_coll_algorithm algorithm, struct row *rows)
{
    return algorithm == KB_COLL_AXES ? axes_of(&c->group, rows) : halves_of(&c->group, rows);
}

struct coll coll_of_row(const struct coll *c, struct row row)
{
    const kb_group *g = &c->group;
    int64_t begin = c->rank - c->rank / row.stride % row.n * row.stride;
    kb_group part = {.pes = g->pes,
                     .first = g->first + (uint32_t)begin * g->stride,
                     .stride = (uint32_t)row.stride * g->stride,
                     .n = row.n};
    struct coll line = coll_new(c->here, c->tl, part, c->name);

    line.deal = DEAL_SCATTER;
    return line;
}

/* -- estimates -------------------------------------------------------------------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* How many parts pass the busiest link: both lanes take those of a plane that is one-way. */
static double parts_on_link(const struct coll *c)
{
    const struct coll_order *o = c->order;
    double up = (double)c->steps[UP], down = (double)c->steps[DOWN] * o->hops_ratio;

    if (c->direct)
        return (double)(c->group.n - 1);
    if (o->hops_ratio > 1)
        return up + down;
    return c->ring ? up * (double)o->up.sum_fs / (double)(o->up.sum_fs - o->up.last_fs) : up;
}

/* The longest way of a step, in the lanes that are used. */
static double step_fs(const struct coll *c)
{
    const struct coll_ways *up = &c->order->up, *down = &c->order->down;
    double fs = (double)up->longest_fs;

    if (c->ring && !c->direct)
        fs = larger(fs, (double)up->last_fs);
    if (c->steps[DOWN] > 0)
        fs = larger(fs, (double)down->longest_fs);
    return c->ring && !c->direct && c->steps[DOWN] > 0 ? larger(fs, (double)down->last_fs) : fs;
}

/* About how long a gathering or scattering of so many bytes takes; `sharing` rows share a link. */
static double about_fs(const struct coll *c, double bytes, double sharing)
{
    int64_t steps = c->direct ? 1 : c->most_steps;
    double part = bytes / (double)c->group.n, pieces = part < 1024 ? 1 : 4;

    return (double)steps * step_fs(c) + part * parts_on_link(c) * sharing * c->order->byte_fs +
           pieces * (double)c->group.n * PIECE_FS;
}

void coll_choose_shape(struct coll *c, double bytes)
{
    static const kb_coll_algorithm shapes[] = {KB_COLL_RING, KB_COLL_LINE, KB_COLL_ONE_WAY};
    kb_coll_algorithm best = KB_COLL_RING;
    double least_fs = INFINITY;

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        coll_shape(c, shapes[i]);
        if (about_fs(c, bytes, 1) < least_fs) {
            least_fs = about_fs(c, bytes, 1);
            best = shapes[i];
        }
    }
    coll_shape(c, c->deal != DEAL_ROOT && c->order->near ? KB_COLL_DIRECT : best);
}

/* The same of rows, of those in which rank 0 stands, so that all members find the same. */
static double rows_about_fs(const struct coll *c, kb_coll_algorithm algorithm, double bytes)
{
    struct row rows[ROWS_MOST];
    int n = coll_rows_of(c, algorithm, rows);
    struct coll first = *c;
    double fs = 0;

    first.rank = 0;
    for (int i = 0; i < n; i++) {
        struct coll line = coll_of_row(&first, rows[i]);

        line.order = coll_order_of(&line);
        coll_choose_shape(&line, bytes);
        fs += about_fs(&line, bytes, (double)least_of(rows[i].stride, SHARING_MOST));
        bytes /= (double)rows[i].n;
    }
    return fs;
}

static kb_coll_algorithm fastest(const struct coll *c, double bytes)
{
    double whole_fs = about_fs(c, bytes, 1), halving_fs = rows_about_fs(c, KB_COLL_HALVING, bytes);
    struct row rows[ROWS_MOST];
    double axes_fs = coll_rows_of(c, KB_COLL_AXES, rows) > 1
                         ? rows_about_fs(c, KB_COLL_AXES, bytes)
                         : whole_fs;

    if (c->group.n < 4 || c->direct || (whole_fs <= axes_fs && whole_fs <= halving_fs))
        return KB_COLL_AUTO;
    return axes_fs <= halving_fs ? KB_COLL_AXES : KB_COLL_HALVING;
}

void coll_choose_rows(struct coll *c, const kb_coll *args)
{
    struct row rows[ROWS_MOST];

    if (args->algorithm == KB_COLL_AXES && coll_rows_of(c, KB_COLL_AXES, rows) == 0)
        coll_bad(c,
                 "KB_COLL_AXES is for groups of whole rows of PEs, cubes and SIPs; here there are "
                 "KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, KB_COLL_DIRECT, KB_COLL_HALVING");
    if (args->algorithm == KB_COLL_AXES || args->algorithm == KB_COLL_HALVING)
        c->rows = args->algorithm;
    else if (args->algorithm == KB_COLL_AUTO)
        c->rows = fastest(c, (double)args->count * (double)kb_dtype_bytes(args->dtype));
}
