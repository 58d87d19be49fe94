/* coll.c -- collectives: groups, plans, calls. kb_coll.h says what each call gives. */
#include "kernels/coll.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

/* Pieces that a lane has in the TCM for each that is under way, at most. */
enum { HELD = 8 };

enum { PIECE_BYTES = 8192 };

void coll_bad(const struct coll *c, const char *format, ...)
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

/* -- groups ----------------------------------------------------------------------------------- */

/* Finds the own rank; leaves the kernel if the group is none. */
static void check_group(struct coll *c)
{
    const kb_group *g = &c->group;
    uint32_t n_pes = (uint32_t)tl_all(c->tl).n;
    bool *seen;

    if (g->n < 1)
        coll_bad(c, "the group has no PEs: those of axes want cubes that are all alike");
    seen = tl_alloc_host_at(c->here, c->tl, n_pes);
    c->me = -1;
    for (int64_t i = 0; i < g->n; i++) {
        uint32_t pe = pe_of(g, i);

        if (pe >= n_pes)
            coll_bad(c, "PE %u of the group does not exist", pe);
        if (seen[pe])
            coll_bad(c, "PE %u of the group comes twice", pe);
        seen[pe] = true;
        if (pe == tl_pe(c->tl))
            c->me = i;
    }
    if (c->me < 0)
        coll_bad(c, "the PE itself is not in the group");
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

bool coll_way_cost(const struct coll *c, int64_t from, int64_t to, kb_cost *cost)
{
    const struct kb_topology *t = tl_topology(c->tl);
    uint32_t src = pe_src(t, pe_of(&c->group, from)), dst = pe_src(t, pe_of(&c->group, to));
    kb_endpoint pe = {KB_PE, src_cube(t, src) / t->cubes, src_cube(t, src) % t->cubes,
                      src_pe(t, src)};
    kb_endpoint tcm = {KB_TCM, src_cube(t, dst) / t->cubes, src_cube(t, dst) % t->cubes,
                       src_pe(t, dst)};

    return kb_route_cost(t, KB_WRITE, &pe, &tcm, SAMPLE, cost, NULL) == KB_OK;
}

static int64_t way_fs(const struct coll *c, int64_t from, int64_t to)
{
    kb_cost cost;

    return coll_way_cost(c, from, to, &cost) ? cost.wire_fs + cost.overhead_fs : INT64_MAX;
}

/* The longest way between neighbours; in large groups, between some of them. */
int64_t coll_longest_fs(const struct coll *c)
{
    int64_t longest = 0, pairs = c->group.n - 1, looked = least_of(pairs, NEAR_MOST * NEAR_MOST);

    for (int64_t i = 0; i < looked; i++) {
        int64_t from = share(pairs, i, looked), fs = way_fs(c, from, from + 1);

        longest = fs > longest ? fs : longest;
    }
    return longest;
}

static bool is_ring(const struct coll *c, kb_coll_algorithm algorithm)
{
    if (algorithm == KB_COLL_RING || algorithm == KB_COLL_LINE || c->group.n < 3)
        return algorithm != KB_COLL_LINE;
    return way_fs(c, c->group.n - 1, 0) <= coll_longest_fs(c);
}

/* Is no way of a small group longer than that between neighbours? With three all are neighbours. */
static bool all_are_near(const struct coll *c)
{
    int64_t near_fs = coll_longest_fs(c), n = c->group.n;

    for (int64_t i = 0; n <= NEAR_MOST && i < n * n; i++)
        if (i / n != i % n && way_fs(c, i / n, i % n) > near_fs)
            return false;
    return n > 3 && n <= NEAR_MOST;
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

/* The bytes of a TCM, and what queues from all others take of it. */
static uint64_t tcm_bytes(const struct coll *c)
{
    return kb_memory_bytes(tl_topology(c->tl), &(kb_endpoint){.kind = KB_TCM});
}

static uint64_t queues_bytes(const struct coll *c, const kb_limits *limits)
{
    uint64_t each = ((uint64_t)limits->queue_slots * limits->queue_slot_bytes + 63) / 64 * 64;

    return c->direct && limits->queue_memory == KB_TCM ? (uint64_t)(c->group.n - 1) * each : 0;
}

/* Smaller pieces cost a PE more commands than they save. */
static uint64_t at_least(uint64_t bytes)
{
    return bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
}

/* The bytes of a piece of a part; by default a quarter of the part. */
static uint64_t chunk_of(const struct coll *c, const kb_coll *args, const kb_limits *limits)
{
    uint64_t tcm = tcm_bytes(c), element = kb_dtype_bytes(args->dtype), chunk = args->chunk;
    uint64_t part = (uint64_t)(args->count / c->group.n + 1) * element;

    if (!chunk)
        chunk = power_below(
            least(at_least(part / 4), least(at_least(limits->queue_slot_bytes), tcm / 16)));
    if (chunk < element)
        coll_bad(c, "a chunk of %llu bytes holds no element", (unsigned long long)chunk);
    if (HELD * chunk > tcm / 2)
        coll_bad(c, "a chunk of %llu bytes does not fit into the TCM, one of %llu does",
                 (unsigned long long)chunk, (unsigned long long)(tcm / 2 / HELD));
    return chunk - chunk % element;
}

/* Into how many pieces each of `parts` parts of the vector is cut, and how many are under way. */
static void cut(struct coll *c, const kb_coll *args, int64_t parts)
{
    uint64_t tcm = tcm_bytes(c), chunk, queues, most;
    uint64_t part = (uint64_t)(args->count / parts + 1) * kb_dtype_bytes(args->dtype);
    kb_limits limits;

    kb_topology_limits(tl_topology(c->tl), &limits);
    chunk = chunk_of(c, args, &limits);
    queues = queues_bytes(c, &limits);
    most = tcm > queues ? least(tcm / 2, tcm - queues) / (HELD * chunk) : 0;
    if (most == 0)
        coll_bad(c, "queues of %llu bytes from the other ranks do not fit into a TCM of %llu",
                 (unsigned long long)queues, (unsigned long long)tcm);
    c->pieces = (int64_t)((part + chunk - 1) / chunk);
    c->round = least_of(c->pieces * (c->direct ? c->most_steps : 1), (int64_t)most);
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

static void check_args(const struct coll *c, const kb_coll *args)
{
    if (args->count < 0)
        coll_bad(c, "a vector of %lld elements", (long long)args->count);
    if ((unsigned)args->algorithm > KB_COLL_HALVING)
        coll_bad(c, "there is no algorithm %d", (int)args->algorithm);
    if (!kb_dtype_bytes(args->dtype))
        coll_bad(c, "there is no type %d", (int)args->dtype);
    if (c->deal == DEAL_ALL && args->count % c->group.n)
        coll_bad(c, "%lld elements are not as many for each of %lld ranks", (long long)args->count,
                 (long long)c->group.n);
    if (c->deal != DEAL_REDUCE && args->algorithm >= KB_COLL_AXES)
        coll_bad(c,
                 "KB_COLL_AXES and KB_COLL_HALVING are for kb_all_reduce; here there are "
                 "KB_COLL_RING, KB_COLL_LINE%s",
                 c->deal == DEAL_ROOT ? "" : ", KB_COLL_DIRECT");
    if (c->deal == DEAL_ROOT && args->algorithm == KB_COLL_DIRECT)
        coll_bad(c, "there is no KB_COLL_DIRECT here, but KB_COLL_RING, KB_COLL_LINE");
    if (c->deal == DEAL_ROOT && (args->root < 0 || args->root >= c->group.n))
        coll_bad(c, "there is no root %lld among %lld ranks", (long long)args->root,
                 (long long)c->group.n);
}

void coll_shape(struct coll *c, kb_coll_algorithm algorithm)
{
    int64_t n = c->group.n;

    c->ring = is_ring(c, algorithm);
    c->steps[UP] = c->ring ? n / 2 : n - 1;
    c->steps[DOWN] = c->ring ? (n - 1) / 2 : n - 1;
    c->most_steps = c->steps[UP];
    c->direct = c->deal == DEAL_ALL || algorithm == KB_COLL_DIRECT ||
                (c->deal != DEAL_ROOT && algorithm == KB_COLL_AUTO && all_are_near(c));
}

struct coll coll_new(tl_here here, tl_ctx *tl, kb_group group, const char *name)
{
    return (struct coll){.here = here, .tl = tl, .group = group, .name = name};
}

static void plan(struct coll *c, const kb_coll *args)
{
    check_group(c);
    check_args(c, args);
    c->dtype = args->dtype;
    c->op = args->op;
    c->pays = spans_units(c);
    coll_shape(c, args->algorithm);
    if (c->deal == DEAL_REDUCE)
        coll_choose_rows(c, args);
    cut(c, args, c->deal == DEAL_ROOT ? 1 : c->group.n);
    make_rows(c);
}

bool coll_begin(struct coll *c, const kb_coll *args, enum deal deal)
{
    bool alone = c->group.n == 1;

    c->deal = deal;
    plan(c, args);
    if (alone)
        copy(c, (struct span){args->in, args->count}, (struct span){args->out, args->count});
    else if (args->count > 0 && c->rows == KB_COLL_AUTO)
        pay(c, TL_COST_CALL);
    return !alone && args->count > 0;
}

void coll_gather(struct coll *c, struct span in, struct span all)
{
    if (c->direct)
        coll_exchange(c, DEAL_GATHER, in, all);
    else
        coll_ring_gather(c, in, all);
}

void coll_scatter(struct coll *c, struct span all, struct span out)
{
    if (c->direct)
        coll_exchange(c, DEAL_SCATTER, all, out);
    else
        coll_ring_scatter(c, all, out);
}

void kb_all_gather_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_gather");
    struct span all = {args.out, args.count};

    if (coll_begin(&c, &args, DEAL_GATHER))
        coll_gather(&c, (struct span){args.in, part_at(&c, all, c.me).n}, all);
}

void kb_reduce_scatter_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce_scatter");
    struct span all = {args.in, args.count};

    if (coll_begin(&c, &args, DEAL_SCATTER))
        coll_scatter(&c, all, (struct span){args.out, part_at(&c, all, c.me).n});
}

/* Straight from each to each it is one phase, else two. */
static void reduce_all(struct coll *c, struct span in, struct span out)
{
    coll_scatter(c, in, part_at(c, out, c->me));
    if (!c->direct)
        pay(c, TL_COST_CALL);
    coll_gather(c, part_at(c, out, c->me), out);
}

void kb_all_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_reduce");

    if (!coll_begin(&c, &args, DEAL_REDUCE))
        return;
    if (c.rows != KB_COLL_AUTO)
        coll_reduce_by_rows(&c, args);
    else
        reduce_all(&c, (struct span){args.in, args.count}, (struct span){args.out, args.count});
}

void kb_all_to_all_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_to_all");

    if (coll_begin(&c, &args, DEAL_ALL))
        coll_exchange(&c, DEAL_ALL, (struct span){args.in, args.count},
                      (struct span){args.out, args.count});
}

void kb_broadcast_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_broadcast");

    if (coll_begin(&c, &args, DEAL_ROOT))
        coll_broadcast(&c, args.root, (struct span){args.in, args.count},
                       (struct span){args.out, args.count});
}

void kb_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce");

    if (coll_begin(&c, &args, DEAL_ROOT))
        coll_reduce(&c, args.root, (struct span){args.in, args.count},
                    (struct span){args.out, args.count});
}

void kb_coll_barrier_at(tl_here here, tl_ctx *tl, kb_group group)
{
    struct coll c = coll_new(here, tl, group, "kb_coll_barrier");

    if (coll_begin(&c, &(kb_coll){.count = 1, .dtype = KB_U8}, DEAL_ROOT))
        coll_barrier(&c);
}
