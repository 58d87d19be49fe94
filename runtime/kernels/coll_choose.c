/* coll_choose.c -- KB_COLL_AUTO: which algorithm is the fastest, by an estimate of each.
 *
 * All members find the same, as it depends on the machine, the group and the sizes alone: on the
 * ways between members on an idle machine, on the bytes that pass the busiest link, and on what a
 * PE does for each piece.
 *
 * Example: 64 PEs of cube8 gather 8 KiB, parts of 128 bytes. A ring has 32 steps of the longest way
 * between neighbours, 6 ns; the busiest link passes 63 parts, 8064 bytes at 128 GB/s, 63 ns; a PE
 * handles 64 pieces in 24 ns each: about 1.8 us, most of which overlaps.
 */
#include "base/larger.h"
#include "kernels/coll.h"
#include <string.h>

/* So many pieces of a part count. */
enum { PIECES_MOST = 4 };
/* Estimates are not exact: parts go at once if that takes less than so much of the time, and tiles
 * along rows. */
#define AT_ONCE_GAINS 0.75
#define TILES_GAIN    0.85

static const char *const names[] = {"auto",         "ring", "one_way",    "line",
                                    "direct",       "axes", "halving",    "hierarchical",
                                    "axes_halving", "tree", "double_tree"};

const char *kb_coll_name(kb_coll_algorithm algorithm)
{
    return (unsigned)algorithm < KB_COLL_ALGORITHMS ? names[algorithm] : "";
}

kb_coll_algorithm kb_coll_parse(const char *name)
{
    kb_coll_algorithm a = KB_COLL_AUTO;

    while (a < KB_COLL_ALGORITHMS && strcmp(names[a], name) != 0)
        a++;
    return a;
}

/* -- shapes ----------------------------------------------------------------------------------- */

void coll_shape(struct coll *c, kb_coll_algorithm algorithm)
{
    int64_t n = c->group.n;

    c->direct = algorithm == KB_COLL_DIRECT;
    c->tree = algorithm == KB_COLL_TREE || algorithm == KB_COLL_DOUBLE_TREE;
    c->halves = algorithm == KB_COLL_DOUBLE_TREE;
    c->ring = algorithm != KB_COLL_LINE;
    c->steps[UP] = c->ring && algorithm != KB_COLL_ONE_WAY ? n / 2 : n - 1;
    c->steps[DOWN] = algorithm == KB_COLL_ONE_WAY ? 0 : c->ring ? (n - 1) / 2 : n - 1;
    c->most_steps = c->steps[UP];
}

/* -- estimates -------------------------------------------------------------------------------- */

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

    if (c->direct)
        return larger(fs, (double)c->order->farthest_fs);
    if (c->ring)
        fs = larger(fs, (double)up->last_fs);
    if (c->steps[DOWN] > 0)
        fs = larger(fs, (double)down->longest_fs);
    return c->ring && c->steps[DOWN] > 0 ? larger(fs, (double)down->last_fs) : fs;
}

/* What a PE does for a part, which others do not hide: commands for each of four pieces, and loads
 * from far for each that there are. */
static double work_fs(const struct coll *c, double part)
{
    double pieces = fmin(larger(1, part / PIECE_BYTES), PIECES_MOST);
    double far_fs = c->order->piece_fs - PIECE_FS;

    if (c->of_parts)
        return pieces * c->order->piece_fs;
    return (part < 1024 ? 1 : PIECES_MOST) * PIECE_FS + pieces * far_fs;
}

/* The same for all parts, if a ring takes them out of a vector that comes as a whole. */
static double work_of_all_fs(const struct coll *c, double bytes)
{
    double part = bytes / (double)c->group.n, n = (double)c->group.n;

    if (c->direct || !coll_is_far(c, bytes) || bytes > (double)coll_tcm_bytes(c) / 4)
        return n * work_fs(c, part);
    return c->order->piece_fs + n * (part < 1024 ? 1 : PIECES_MOST) * PIECE_FS;
}

/* What a gathering or scattering takes: for its ways, for the busiest link, for the PE. */
struct about {
    double ways_fs, link_fs, work_fs;
};

/* PEs of a cube, it is thought, do the same in groups of their own, and share its links. */
static double siblings(const struct coll *c)
{
    const struct kb_topology *t = tl_topology(c->tl);

    return t->alike && c->group.stride >= t->pes ? (double)smaller(t->pes, SHARING_MOST) : 1;
}

/* All that a PE gives goes over its channels. */
static double channels_fs(const struct coll *c, double part)
{
    kb_limits limits;

    kb_topology_limits(tl_topology(c->tl), &limits);
    return part * (double)(c->group.n - 1) * c->order->byte_fs / limits.write_channels;
}

/* `sharing` rows share a link. */
static struct about about(const struct coll *c, double bytes, double sharing)
{
    int64_t steps = c->direct ? 1 : c->most_steps;
    double part = bytes / (double)c->group.n;
    double link_fs;

    if (c->of_parts)
        sharing = larger(sharing, siblings(c));
    link_fs = part * parts_on_link(c) * sharing * c->order->byte_fs;
    if (c->of_parts)
        link_fs = larger(link_fs, channels_fs(c, part));
    return (struct about){(double)steps * step_fs(c), link_fs, work_of_all_fs(c, bytes)};
}

static double about_fs(const struct coll *c, double bytes, double sharing)
{
    struct about a = about(c, bytes, sharing);

    return a.ways_fs + a.link_fs + a.work_fs;
}

/* From the root to all, or back, piece by piece. A tree takes a way of half the group, a quarter,
 * ..., for each of which the root gives all bytes once. */
static double root_about_fs(const struct coll *c, double bytes)
{
    double pieces = larger(1, bytes / PIECE_BYTES), ways_fs = 0, steps = 0;
    double piece_fs = bytes / pieces * c->order->byte_fs + c->order->piece_fs;
    if (!c->tree)
        return (double)c->most_steps * (step_fs(c) + piece_fs) + (pieces - 1) * piece_fs;
    for (int64_t reach = 1; reach < c->group.n; reach *= 2, steps++)
        ways_fs += (double)coll_way_fs(tl_topology(c->tl), c->order->pes[0], c->order->pes[reach]);
    if (c->halves) /* a piece comes from two, or goes to two, at each step; others behind it */
        return ways_fs + 2 * (steps + pieces) * piece_fs;
    return ways_fs + pieces * steps * piece_fs;
}

static double shape_about_fs(struct coll *c, kb_coll_algorithm shape, double bytes)
{
    coll_shape(c, shape);
    if (!coll_queues_fit(c, 0))
        return INFINITY;
    return is_rooted(c) ? root_about_fs(c, bytes) : about_fs(c, bytes, 1);
}

void coll_choose_shape(struct coll *c, double bytes)
{
    static const kb_coll_algorithm shapes[] = {KB_COLL_RING, KB_COLL_LINE, KB_COLL_ONE_WAY,
                                               KB_COLL_TREE};
    bool root = c->deal == DEAL_ROOT || c->deal == DEAL_TO_ROOT;
    kb_coll_algorithm best = KB_COLL_RING;
    double least_fs = INFINITY;

    for (size_t i = 0; i < (root ? 4 : 3); i++) {
        double fs = shape_about_fs(c, shapes[i], bytes);

        if (fs < least_fs) {
            least_fs = fs;
            best = shapes[i];
        }
    }
    coll_shape(c, KB_COLL_DIRECT);
    if (root || !c->order->near || c->sharers > 1 || !coll_queues_fit(c, 0))
        coll_shape(c, best);
}

/* The same of a row, of that in which rank 0 stands, so that all members find the same. */
static struct about row_about(const struct coll *c, struct row row, double bytes)
{
    struct coll first = *c, line;

    first.rank = 0;
    line = coll_of_row(&first, row);
    line.of_parts = c->of_parts;
    line.order = coll_order_of(&line);
    coll_choose_shape(&line, bytes);
    return about(&line, bytes, (double)row.sharing);
}

static double row_about_fs(const struct coll *c, struct row row, double bytes)
{
    struct about a = row_about(c, row, bytes);

    return a.ways_fs + a.link_fs + a.work_fs;
}

/* The members below and above in each row have queues of their own; of a pair it is one. */
static bool rows_fit(const struct coll *c, const struct row *rows, int n)
{
    struct coll ring = *c;
    int64_t more = 0;

    coll_shape(&ring, KB_COLL_RING);
    for (int i = 0; i < n; i++)
        more += smaller(rows[i].n - 1, 2);
    return coll_queues_fit(&ring, more - smaller(c->group.n - 1, 2));
}

/* Of rows one after the other, each of which leaves a part. */
static double rows_fs(const struct coll *c, const struct row *rows, int n, double bytes)
{
    double fs = rows_fit(c, rows, n) ? 0 : INFINITY;

    for (int i = 0; i < n; i++) {
        fs += row_about_fs(c, rows[i], bytes);
        bytes /= (double)rows[i].n;
    }
    return fs;
}

/* Rows that follow each other and have links of their own. */
static int rows_with_links(const struct row *rows, int n, int *first)
{
    int i = 0, linked = 0;

    while (i < n && !rows[i].has_links)
        i++;
    *first = i;
    while (i + linked < n && linked < AT_ONCE_MOST && rows[i + linked].has_links)
        linked++;
    return linked;
}

/* Of parts along all of them at once, by turns: the ways and the links of the slowest, the work of
 * all. */
static double at_once_fs(const struct coll *c, const struct row *rows, int n, double bytes)
{
    double fs = 0;

    for (int turn = 0; turn < n; turn++) {
        double ways_fs = 0, link_fs = 0;

        for (int i = 0; i < n; i++) {
            double left = bytes / n;
            struct about a;

            for (int k = 0; k < turn; k++)
                left /= (double)rows[(i + n - turn + k) % n].n;
            a = row_about(c, rows[i], left);
            ways_fs = larger(ways_fs, a.ways_fs);
            link_fs = larger(link_fs, a.link_fs);
            fs += a.work_fs;
        }
        fs += ways_fs + link_fs;
    }
    return fs;
}

/* So many parts at once as there are axes with links, if that is clearly faster; 1: one after the
 * other. */
static int parts_at_once(const struct coll *c, const struct row *rows, int n, double bytes,
                         int *first)
{
    int linked = rows_with_links(rows, n, first);
    double one_fs;

    for (int i = 0; i < *first; i++)
        bytes /= (double)rows[i].n;
    if (linked < 2)
        return 1;
    one_fs = rows_fs(c, &rows[*first], linked, bytes);
    return at_once_fs(c, &rows[*first], linked, bytes) < one_fs * AT_ONCE_GAINS ? linked : 1;
}

/* Rows of an algorithm. Of KB_COLL_AXES_HALVING axes are taken apart, as halving has it, where that
 * is faster. */
static int rows_for(const struct coll *c, kb_coll_algorithm algorithm, double bytes,
                    struct row *rows)
{
    struct row whole[ROWS_MOST], parts[ROWS_MOST];
    int n = coll_rows_of(c, algorithm, whole), used = 0;

    for (int i = 0; i < n; i++) {
        int n_parts = algorithm == KB_COLL_AXES_HALVING ? coll_halves_of(whole[i], parts) : 0;

        for (int k = 0; k < n_parts; k++) /* those of a pair pass the others between them */
            parts[k].sharing = whole[i].sharing * (parts[k].stride / whole[i].stride);
        if (n_parts > 1 && used + n_parts + n - i <= ROWS_MOST &&
            rows_fs(c, parts, n_parts, bytes) < row_about_fs(c, whole[i], bytes)) {
            memcpy(&rows[used], parts, (size_t)n_parts * sizeof *rows);
            used += n_parts;
        } else
            rows[used++] = whole[i];
        bytes /= (double)whole[i].n;
    }
    return used;
}

/* The members whose number is a power of two, without the others. */
static struct coll core_of(const struct coll *c)
{
    struct coll core = *c;

    core.group.n = 1;
    while (core.group.n <= c->group.n / 2)
        core.group.n *= 2;
    return core;
}

/* By halving among a power of two of members, to which the others give all they have before, and
 * from which they take it behind: half of that. */
static double folded_fs(const struct coll *c, double bytes)
{
    struct coll core = core_of(c);
    struct row rows[ROWS_MOST];
    double pieces = larger(1, bytes / PIECE_BYTES);
    int n = coll_rows_of(&core, KB_COLL_HALVING, rows);

    return (double)c->order->up.longest_fs + bytes * c->order->byte_fs +
           2 * pieces * c->order->piece_fs + rows_fs(&core, rows, n, bytes);
}

static double rows_about_fs(const struct coll *c, kb_coll_algorithm algorithm, double bytes)
{
    struct row rows[ROWS_MOST];
    int n = rows_for(c, algorithm, bytes, rows);
    double fs = n > 0 ? rows_fs(c, rows, n, bytes) : INFINITY, folded;

    if (algorithm != KB_COLL_HALVING || core_of(c).group.n == c->group.n)
        return fs;
    folded = folded_fs(c, bytes);
    return folded < fs ? folded : fs;
}

/* Those that are chosen inside a kernel, without trials, first. */
static const kb_coll_algorithm by_rows[] = {KB_COLL_AXES, KB_COLL_HALVING, KB_COLL_HIERARCHICAL,
                                            KB_COLL_AXES_HALVING};
enum { BY_ROWS = sizeof by_rows / sizeof *by_rows, WITHOUT_TRIALS = 2 };

/* Parts of ranks go along rows if they are even: as tiles. */
static bool has_rows(const struct coll *c, kb_coll_algorithm a)
{
    if (c->deal == DEAL_REDUCE)
        return true;
    return (c->deal == DEAL_GATHER || c->deal == DEAL_SCATTER) && c->is_even &&
           (a == KB_COLL_AXES || a == KB_COLL_HIERARCHICAL);
}

/* What rows, if any, take: those of tiles along axes at once where that is faster. */
static double rows_of_call_fs(const struct coll *c, kb_coll_algorithm a, double bytes)
{
    struct row rows[ROWS_MOST];
    double fs = rows_about_fs(c, a, bytes);
    int first, n;

    if (c->deal == DEAL_REDUCE || a != KB_COLL_AXES)
        return fs;
    n = rows_for(c, a, bytes, rows);
    if (parts_at_once(c, rows, n, bytes, &first) < 2)
        return fs;
    return fs * AT_ONCE_GAINS;
}

static kb_coll_algorithm fastest(const struct coll *c, double bytes)
{
    kb_coll_algorithm best = KB_COLL_AUTO;
    double least_fs = about_fs(c, bytes, 1) * (c->of_parts ? TILES_GAIN : 1);

    for (int i = 0; i < WITHOUT_TRIALS && c->group.n >= 4 && !c->direct; i++) {
        double fs = has_rows(c, by_rows[i]) ? rows_of_call_fs(c, by_rows[i], bytes) : INFINITY;

        if (fs < least_fs) {
            least_fs = fs;
            best = by_rows[i];
        }
    }
    return best;
}

void coll_choose_rows(struct coll *c, const kb_coll *args)
{
    struct row rows[ROWS_MOST];
    double bytes = (double)args->count * (double)kb_dtype_bytes(args->dtype);
    bool named = args->algorithm == KB_COLL_AXES || args->algorithm == KB_COLL_HIERARCHICAL ||
                 args->algorithm == KB_COLL_AXES_HALVING;

    if (named && c->group.n > 1 && coll_rows_of(c, KB_COLL_AXES, rows) == 0)
        coll_bad(c,
                 "that algorithm is for groups of whole rows of PEs, cubes and SIPs; here there %s",
                 c->deal == DEAL_ALL      ? "is KB_COLL_DIRECT"
                 : c->deal == DEAL_REDUCE ? "are KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, "
                                            "KB_COLL_DIRECT, KB_COLL_HALVING, KB_COLL_TREE, "
                                            "KB_COLL_DOUBLE_TREE"
                                          : "are KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, "
                                            "KB_COLL_DIRECT");
    if (c->deal == DEAL_ALL && args->counts)
        coll_bad(c, "KB_COLL_AXES is for even parts, KB_COLL_DIRECT takes `counts`");
    c->is_even = !args->counts && args->count % c->group.n == 0;
    c->of_parts = c->deal != DEAL_REDUCE;
    if (named && c->deal != DEAL_REDUCE && c->deal != DEAL_ALL && !c->is_even)
        coll_bad(c, "that algorithm is for even parts; KB_COLL_RING, KB_COLL_ONE_WAY, "
                    "KB_COLL_LINE, KB_COLL_DIRECT take others");
    if (named || args->algorithm == KB_COLL_HALVING)
        c->rows = args->algorithm;
    else if (args->algorithm == KB_COLL_AUTO)
        c->rows = fastest(c, bytes);
    if (c->rows == KB_COLL_AUTO)
        return;
    c->n_rows = rows_for(c, c->rows, bytes, rows);
    c->row = tl_alloc_host_at(c->here, c->tl, (size_t)c->n_rows * sizeof *rows);
    memcpy(c->row, rows, (size_t)c->n_rows * sizeof *rows);
    if (c->rows == KB_COLL_AXES && args->chunk <= coll_tcm_bytes(c) / 16 / AT_ONCE_MOST)
        c->at_once = parts_at_once(c, c->row, c->n_rows, bytes, &c->turning);
    if (c->rows == KB_COLL_HALVING && core_of(c).group.n < c->group.n)
        c->folded = folded_fs(c, bytes) < rows_fs(c, c->row, c->n_rows, bytes);
    if (c->folded)
        c->core = core_of(c).group.n;
}

/* -- what AUTO weighs ------------------------------------------------------------------------- */

static bool are_alike(const struct row *a, const struct row *b, int n)
{
    int i = 0;

    while (i < n && a[i].n == b[i].n && a[i].stride == b[i].stride)
        i++;
    return i == n;
}

/* Does it go as an algorithm before it? */
static bool is_another(const struct coll *c, kb_coll_algorithm a, double bytes)
{
    struct row rows[ROWS_MOST], others[ROWS_MOST];
    int n = rows_for(c, a, bytes, rows);

    for (int i = 0; by_rows[i] != a; i++)
        if (rows_for(c, by_rows[i], bytes, others) == n && are_alike(rows, others, n))
            return true;
    return false;
}

/* All of the call; INFINITY: it does not have that algorithm. */
static double call_about_fs(struct coll *c, kb_coll_algorithm a, double bytes)
{
    bool root = c->deal == DEAL_ROOT || c->deal == DEAL_TO_ROOT, rows = false;

    for (int i = 0; i < BY_ROWS; i++)
        rows = rows || a == by_rows[i];
    if (a == KB_COLL_AUTO || (rows && !has_rows(c, a)) ||
        (a == KB_COLL_TREE && !root && c->deal != DEAL_REDUCE) ||
        (a == KB_COLL_DOUBLE_TREE && (c->deal != DEAL_REDUCE || c->group.n < 3)) ||
        (a == KB_COLL_DIRECT && (root || c->group.n > NEAR_MOST)))
        return INFINITY;
    if (rows && is_another(c, a, bytes))
        return INFINITY;
    return (c->deal == DEAL_REDUCE ? 2 : 1) *
           (rows ? rows_of_call_fs(c, a, bytes) : shape_about_fs(c, a, bytes));
}

void kb_coll_estimates_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll_call call,
                          int64_t fs[KB_COLL_ALGORITHMS], kb_coll args)
{
    static const enum deal deals[] = {DEAL_GATHER, DEAL_SCATTER, DEAL_REDUCE, DEAL_ROOT,
                                      DEAL_TO_ROOT};
    struct coll c = coll_new(here, tl, group, "kb_coll_estimates");

    c.order = coll_order_of(&c);
    c.deal = deals[call];
    c.is_even = !args.counts && args.count % group.n == 0;
    c.of_parts = c.deal == DEAL_GATHER || c.deal == DEAL_SCATTER;
    for (kb_coll_algorithm a = KB_COLL_AUTO; a < KB_COLL_ALGORITHMS; a++) {
        double about =
            call_about_fs(&c, a, (double)args.count * (double)kb_dtype_bytes(args.dtype));

        fs[a] = about < 9e18 ? (int64_t)about : -1;
    }
}
