/* coll.c -- collectives: rings both ways round, and lines. kb_coll.h says what each call gives.
 *
 * A member has two lanes: up, which takes from the rank before and gives to the one behind, and
 * down, the other way. In an all_gather a lane carries blocks away from their ranks; in a
 * reduce_scatter it carries sums to theirs. In a ring of n the lane up goes n / 2 steps and the one
 * down (n - 1) / 2, so each block takes the shorter way; on a line both go n - 1, and what would
 * pass an end is not there.
 *
 * Pieces are handled in rounds of as many as fit into the TCM. At the begin of a step all pieces of
 * it are asked for; then each is sent on as soon as the one that came in the step before is there,
 * in both lanes by turns. No sender waits for one that has not asked, so there is no deadlock.
 *
 * Example: all_gather, ring of 4, rank 1. Step 1: block 1 goes to ranks 2 and 0; 0 comes from
 * below, 2 from above. Step 2: block 0 goes up to 2; 3 comes from below. The lane down is done.
 */
#include "base/text.h"
#include "kb_coll.h"
#include "machine/pes.h"
#include <stdarg.h>
#include <stdio.h>

enum lane { UP, DOWN, N_LANES };

/* A vector in a memory. */
struct span {
    uint64_t address;
    int64_t n;
};

struct coll {
    tl_ctx *tl;
    tl_here here;
    const char *name; /* of the call */
    kb_group group;
    int64_t me, steps[N_LANES], most_steps;
    bool ring, pays, all_came[N_LANES]; /* all_came: what is held needs no wait */
    kb_dtype dtype;
    tl_op op;
    int64_t pieces, round;                                     /* of a part; at once */
    tl_tensor **held[N_LANES], **got[N_LANES], **own[N_LANES]; /* [round] */
};

/* Ends the run as a mistake of the kernel. */
static __attribute__((format(printf, 2, 3))) _Noreturn void bad(const struct coll *c,
                                                                const char *format, ...)
{
    char text[256];
    va_list args;
    int n = text_format(text, sizeof text, "%s: ", c->name);

    va_start(args, format);
    text_vformat(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    tl_fail_at(c->here, c->tl, text);
    __builtin_unreachable();
}

/* -- parts and groups ------------------------------------------------------------------------- */

static int64_t share(int64_t size, int64_t i, int64_t n)
{
    return size / n * i + size % n * i / n;
}

/* Part i of n. */
static struct span part_of(kb_dtype dtype, struct span v, int64_t i, int64_t n)
{
    int64_t begin = share(v.n, i, n);

    return (struct span){v.address + (uint64_t)begin * kb_dtype_bytes(dtype),
                         share(v.n, i + 1, n) - begin};
}

static struct span piece_of(const struct coll *c, struct span part, int64_t piece)
{
    return part_of(c->dtype, part, piece, c->pieces);
}

static int64_t rank_in(const struct coll *c, int64_t rank)
{
    return (rank % c->group.n + c->group.n) % c->group.n;
}

static uint32_t pe_of(const kb_group *g, int64_t rank)
{
    return g->pes ? g->pes[rank] : g->first + (uint32_t)rank * g->stride;
}

kb_group kb_group_list(tl_ctx *tl, const uint32_t *pes, int64_t n)
{
    (void)tl;
    return (kb_group){.pes = pes, .n = n};
}

static kb_group group_of(tl_group g)
{
    return (kb_group){.first = g.first, .stride = 1, .n = (int64_t)g.n};
}

kb_group kb_group_cube(tl_ctx *tl)
{
    return group_of(tl_cube(tl));
}

kb_group kb_group_sip(tl_ctx *tl)
{
    return group_of(tl_sip(tl));
}

kb_group kb_group_all(tl_ctx *tl)
{
    return group_of(tl_all(tl));
}

/* Finds the own rank; leaves the kernel if the group is none. */
static void check_group(struct coll *c)
{
    const kb_group *g = &c->group;
    uint32_t n_pes = (uint32_t)tl_all(c->tl).n;
    bool *seen = g->n > 0 ? tl_alloc_host_at(c->here, c->tl, n_pes) : NULL;

    c->me = -1;
    for (int64_t i = 0; i < g->n; i++) {
        uint32_t pe = pe_of(g, i);

        if (pe >= n_pes)
            bad(c, "PE %u of the group does not exist", pe);
        if (seen[pe])
            bad(c, "PE %u of the group comes twice", pe);
        seen[pe] = true;
        if (pe == tl_pe(c->tl))
            c->me = i;
    }
    if (c->me < 0)
        bad(c, "the PE itself is not in the group");
}

/* Do members stand in two SIPs, or in two cubes where these are what pays? */
static bool spans_units(const struct coll *c)
{
    const struct kb_topology *t = tl_topology(c->tl);
    uint32_t of = t->software_unit == UNIT_CUBE ? 1 : t->cubes;
    uint32_t first = src_cube(t, pe_src(t, pe_of(&c->group, 0))) / of;

    for (int64_t i = 1; i < c->group.n; i++)
        if (src_cube(t, pe_src(t, pe_of(&c->group, i))) / of != first)
            return true;
    return false;
}

/* The idle way of a message between two ranks. */
static int64_t way_fs(const struct coll *c, int64_t from, int64_t to)
{
    const struct kb_topology *t = tl_topology(c->tl);
    uint32_t src = pe_src(t, pe_of(&c->group, from)), dst = pe_src(t, pe_of(&c->group, to));
    kb_endpoint pe = {KB_PE, src_cube(t, src) / t->cubes, src_cube(t, src) % t->cubes,
                      src_pe(t, src)};
    kb_endpoint tcm = {KB_TCM, src_cube(t, dst) / t->cubes, src_cube(t, dst) % t->cubes,
                       src_pe(t, dst)};
    kb_cost cost;

    if (kb_route_cost(t, KB_WRITE, &pe, &tcm, 1, &cost, NULL) != KB_OK)
        return INT64_MAX;
    return cost.wire_fs + cost.overhead_fs;
}

static bool is_ring(const struct coll *c, kb_coll_algorithm algorithm)
{
    int64_t longest_fs = 0;

    if (algorithm != KB_COLL_AUTO || c->group.n < 3)
        return algorithm != KB_COLL_LINE;
    for (int64_t i = 0; i + 1 < c->group.n; i++) {
        int64_t fs = way_fs(c, i, i + 1);

        longest_fs = fs > longest_fs ? fs : longest_fs;
    }
    return way_fs(c, c->group.n - 1, 0) <= longest_fs;
}

/* -- the plan of a call ----------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The largest power of two up to `bytes`, at least 256. */
static uint64_t power_below(uint64_t bytes)
{
    uint64_t p = 256;

    while (p <= bytes / 2)
        p *= 2;
    return p;
}

static void cut(struct coll *c, const kb_coll *args)
{
    const struct kb_topology *t = tl_topology(c->tl);
    uint64_t tcm = kb_memory_bytes(t, &(kb_endpoint){.kind = KB_TCM});
    uint64_t element = kb_dtype_bytes(args->dtype);
    uint64_t part = (uint64_t)(args->count / c->group.n + 1) * element, chunk = args->chunk;
    kb_limits limits;

    kb_topology_limits(t, &limits);
    if (!chunk)
        chunk = power_below(least(part / 4, least(limits.queue_slot_bytes, tcm / 16)));
    if (chunk < element)
        bad(c, "a chunk of %llu bytes holds no element", (unsigned long long)chunk);
    chunk -= chunk % element;
    if (8 * chunk > tcm / 2)
        bad(c, "a chunk of %llu bytes does not fit into the TCM, one of %llu does",
            (unsigned long long)chunk, (unsigned long long)(tcm / 16));
    c->pieces = (int64_t)((part + chunk - 1) / chunk);
    c->round = (int64_t)least((uint64_t)c->pieces, tcm / 2 / (8 * chunk));
}

static tl_tensor **new_row(struct coll *c)
{
    return tl_alloc_host_at(c->here, c->tl, (size_t)c->round * sizeof(tl_tensor *));
}

static void make_rows(struct coll *c)
{
    for (enum lane lane = UP; lane < N_LANES; lane++) {
        c->held[lane] = new_row(c);
        c->got[lane] = new_row(c);
        c->own[lane] = new_row(c);
    }
}

static void plan(struct coll *c, const kb_coll *args)
{
    int64_t n = c->group.n;

    check_group(c);
    if (args->count < 0)
        bad(c, "a vector of %lld elements", (long long)args->count);
    if ((unsigned)args->algorithm > KB_COLL_LINE)
        bad(c, "there is no algorithm %d", (int)args->algorithm);
    if (!kb_dtype_bytes(args->dtype))
        bad(c, "there is no type %d", (int)args->dtype);
    c->dtype = args->dtype;
    c->op = args->op;
    c->ring = is_ring(c, args->algorithm);
    c->pays = spans_units(c);
    c->steps[UP] = c->ring ? n / 2 : n - 1;
    c->steps[DOWN] = c->ring ? (n - 1) / 2 : n - 1;
    c->most_steps = c->steps[UP];
    cut(c, args);
    make_rows(c);
}

/* -- pieces ----------------------------------------------------------------------------------- */

static void pay(const struct coll *c, tl_cost cost)
{
    if (c->pays)
        tl_pay_at(c->here, c->tl, cost);
}

/* NULL for an empty piece, here and below. */
static tl_tensor *load(const struct coll *c, struct span at)
{
    return at.n > 0 ? tl_load_at(c->here, c->tl, at.address, c->dtype, KB_SHAPE(at.n), NULL, true)
                    : NULL;
}

static tl_tensor *await(const struct coll *c, tl_tensor *x)
{
    if (x)
        tl_wait_at(c->here, c->tl, x);
    return x;
}

static void drop(const struct coll *c, tl_tensor **x)
{
    if (*x)
        tl_free_at(c->here, c->tl, *x);
    *x = NULL;
}

static tl_tensor *store(const struct coll *c, struct span at, tl_tensor *x)
{
    return x ? tl_store_at(c->here, c->tl, at.address, x, NULL, true) : NULL;
}

/* The rank from which a lane takes, and to which it gives; < 0: past an end of the line. */
static int64_t neighbour(const struct coll *c, int64_t by)
{
    int64_t rank = c->me + by;

    if (c->ring)
        return rank_in(c, rank);
    return rank < c->group.n ? rank : -1;
}

static tl_tensor *receive(const struct coll *c, enum lane lane, int64_t n)
{
    int64_t from = neighbour(c, lane == UP ? -1 : 1);

    return n > 0 && from >= 0 ? tl_recv_at(c->here, c->tl, pe_of(&c->group, from), KB_COLL_TAG,
                                           c->dtype, KB_SHAPE(n), true)
                              : NULL;
}

static void give(const struct coll *c, enum lane lane, tl_tensor *x)
{
    int64_t to = neighbour(c, lane == UP ? 1 : -1);

    if (x && to >= 0)
        tl_send_at(c->here, c->tl, pe_of(&c->group, to), KB_COLL_TAG, x);
}

static tl_tensor *reduce(const struct coll *c, tl_tensor *x, tl_tensor *y)
{
    tl_tensor *z;

    if (!x || !y)
        return x ? x : y;
    z = tl_math_at(c->here, c->op, c->tl, x, y, NULL);
    tl_free_at(c->here, c->tl, x);
    tl_free_at(c->here, c->tl, y);
    return z;
}

static void copy(struct coll *c, struct span from, struct span to)
{
    for (int64_t i = 0; from.address != to.address && i < c->pieces; i++) {
        tl_tensor *x = await(c, load(c, piece_of(c, from, i)));

        await(c, store(c, piece_of(c, to, i), x));
        drop(c, &x);
    }
}

/* A part that a lane has `by` ranks from here; n = 0: there is none. */
static struct span part_at(const struct coll *c, struct span all, int64_t rank)
{
    if (!c->ring && (rank < 0 || rank >= c->group.n))
        return (struct span){0};
    return part_of(c->dtype, all, rank_in(c, rank), c->group.n);
}

/* Of a lane that does not take part in this step: none. */
static struct span part_in(const struct coll *c, struct span all, enum lane lane, int64_t step,
                           int64_t up)
{
    if (step < 1 || step > c->steps[lane])
        return (struct span){0};
    return part_at(c, all, lane == UP ? c->me + up : c->me - up);
}

/*
 * Where steps cost something, one begins when all of the step before has come, and pays for each
 * part that comes: n - 1 in all, on a ring and on a line. Further rounds pay nothing.
 */
static void begin_step(struct coll *c, int64_t step, int64_t first, int64_t n)
{
    bool pays = c->pays && first == 0 && tl_topology(c->tl)->step_fs > 0;

    for (enum lane lane = UP; lane < N_LANES; lane++) {
        c->all_came[lane] = pays && step > 1 && step <= c->steps[lane];
        for (int64_t i = 0; c->all_came[lane] && i < n; i++)
            await(c, c->held[lane][i]);
    }
    for (enum lane lane = UP; pays && lane < (c->ring ? N_LANES : DOWN); lane++)
        if (step <= c->steps[lane])
            pay(c, TL_COST_STEP);
}

/* The piece that came in the step before. */
static tl_tensor *held(const struct coll *c, enum lane lane, int64_t i)
{
    return c->all_came[lane] ? c->held[lane][i] : await(c, c->held[lane][i]);
}

/* -- all_gather ------------------------------------------------------------------------------- */

/* The block that a lane brings in a step; in step 0 the own one. */
static struct span brought(const struct coll *c, struct span all, enum lane lane, int64_t step)
{
    return step ? part_in(c, all, lane, step, -step) : part_at(c, all, c->me);
}

/* In step 1 the own block goes; then what came in the step before, which goes to its place, too. */
static void pass_on(struct coll *c, struct span all, enum lane lane, int64_t step, int64_t first,
                    int64_t i)
{
    bool own = step == 1;
    tl_tensor *x = own ? c->own[UP][i] : held(c, lane, i);

    if (own && lane == UP)
        await(c, x);
    if (step <= c->steps[lane])
        give(c, lane, x);
    if (!own)
        c->own[lane][i] = store(c, piece_of(c, brought(c, all, lane, step - 1), first + i), x);
}

static void gather_step(struct coll *c, struct span all, int64_t step, int64_t first, int64_t n)
{
    begin_step(c, step, first, n);
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++)
            c->got[lane][i] =
                receive(c, lane, piece_of(c, brought(c, all, lane, step), first + i).n);
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++)
            pass_on(c, all, lane, step, first, i);
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            if (step > 1) {
                await(c, c->own[lane][i]);
                c->own[lane][i] = NULL;
                drop(c, &c->held[lane][i]);
            }
            c->held[lane][i] = c->got[lane][i];
        }
}

static void gather_round(struct coll *c, struct span in, struct span all, int64_t first, int64_t n)
{
    struct span mine = part_at(c, all, c->me);

    for (int64_t i = 0; i < n; i++)
        c->own[UP][i] = load(c, piece_of(c, in, first + i));
    gather_step(c, all, 1, first, n);
    for (int64_t i = 0; i < n; i++) {
        if (in.address != mine.address)
            await(c, store(c, piece_of(c, mine, first + i), c->own[UP][i]));
        drop(c, &c->own[UP][i]);
    }
    for (int64_t step = 2; step <= c->most_steps + 1; step++)
        gather_step(c, all, step, first, n);
}

static void all_gather(struct coll *c, struct span in, struct span all)
{
    pay(c, TL_COST_CALL);
    for (int64_t first = 0; first < c->pieces; first += c->round) {
        int64_t left = c->pieces - first;

        gather_round(c, in, all, first, left < c->round ? left : c->round);
    }
}

/* -- reduce_scatter --------------------------------------------------------------------------- */

/* The part whose sum a lane gives in a step. */
static struct span summed(const struct coll *c, struct span all, enum lane lane, int64_t step)
{
    return part_in(c, all, lane, step, c->steps[lane] - step + 1);
}

/* The one whose sum it takes: that of the neighbour. On a line no sum comes from past its end. */
static struct span taken(const struct coll *c, struct span all, enum lane lane, int64_t step)
{
    return part_in(c, all, lane, step, c->steps[lane] - step);
}

static void scatter_step(struct coll *c, struct span all, int64_t step, int64_t first, int64_t n)
{
    begin_step(c, step, first, n);
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            c->got[lane][i] = receive(c, lane, piece_of(c, taken(c, all, lane, step), first + i).n);
            c->own[lane][i] = load(c, piece_of(c, summed(c, all, lane, step), first + i));
        }
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            if (step <= c->steps[lane]) {
                c->held[lane][i] = reduce(c, held(c, lane, i), await(c, c->own[lane][i]));
                give(c, lane, c->held[lane][i]);
                drop(c, &c->held[lane][i]);
                c->held[lane][i] = c->got[lane][i];
            }
            c->own[lane][i] = NULL;
        }
}

static void scatter_round(struct coll *c, struct span all, struct span out, int64_t first,
                          int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        c->held[UP][i] = c->held[DOWN][i] = NULL;
    for (int64_t step = 1; step <= c->most_steps; step++)
        scatter_step(c, all, step, first, n);
    for (int64_t i = 0; i < n; i++)
        c->own[UP][i] = load(c, piece_of(c, part_at(c, all, c->me), first + i));
    for (int64_t i = 0; i < n; i++) {
        tl_tensor *sum = reduce(c, await(c, c->held[UP][i]), await(c, c->own[UP][i]));

        sum = reduce(c, await(c, c->held[DOWN][i]), sum);
        await(c, store(c, piece_of(c, out, first + i), sum));
        drop(c, &sum);
        c->own[UP][i] = c->held[UP][i] = c->held[DOWN][i] = NULL;
    }
}

static void reduce_scatter(struct coll *c, struct span all, struct span out)
{
    pay(c, TL_COST_CALL);
    for (int64_t first = 0; first < c->pieces; first += c->round) {
        int64_t left = c->pieces - first;

        scatter_round(c, all, out, first, left < c->round ? left : c->round);
    }
}

/* -- calls ------------------------------------------------------------------------------------ */

/* False: nothing is to be exchanged, and what there is was copied. */
static bool begin(struct coll *c, tl_ctx *tl, kb_group group, const kb_coll *args)
{
    c->tl = tl;
    c->group = group;
    plan(c, args);
    if (group.n == 1)
        copy(c, (struct span){args->in, args->count}, (struct span){args->out, args->count});
    return group.n > 1 && args->count > 0;
}

void kb_all_gather_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = {.here = here, .name = "kb_all_gather"};
    struct span all = {args.out, args.count};

    if (begin(&c, tl, group, &args))
        all_gather(&c, (struct span){args.in, part_at(&c, all, c.me).n}, all);
}

void kb_reduce_scatter_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = {.here = here, .name = "kb_reduce_scatter"};
    struct span all = {args.in, args.count};

    if (begin(&c, tl, group, &args))
        reduce_scatter(&c, all, (struct span){args.out, part_at(&c, all, c.me).n});
}

void kb_all_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = {.here = here, .name = "kb_all_reduce"};
    struct span all = {args.in, args.count}, out = {args.out, args.count};

    if (!begin(&c, tl, group, &args))
        return;
    reduce_scatter(&c, all, part_at(&c, out, c.me));
    all_gather(&c, part_at(&c, out, c.me), out);
}
