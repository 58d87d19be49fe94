/* coll.c -- collectives: groups, plans, calls. kb_coll.h says what each call gives. */
#include "kernels/coll.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

/* Above so many ranks it is not looked up whether all are near. */
enum { NEAR_MOST = 16 };

/* Bytes of a message that tells what bytes cost. */
enum { SAMPLE = 65536 };

/* Pieces that a lane has in the TCM for each that is under way, at most. */
enum { HELD = 8 };

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

/* -- groups ----------------------------------------------------------------------------------- */

/* Finds the own rank; leaves the kernel if the group is none. */
static void check_group(struct coll *c)
{
    const kb_group *g = &c->group;
    uint32_t n_pes = (uint32_t)tl_all(c->tl).n;
    bool *seen;

    if (g->n < 1)
        bad(c, "the group has no PEs: those of axes want cubes that are all alike");
    seen = tl_alloc_host_at(c->here, c->tl, n_pes);
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

/* Of a message between two ranks, on an idle machine; false: there is no way. */
static bool way_cost(const struct coll *c, int64_t from, int64_t to, kb_cost *cost)
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

    return way_cost(c, from, to, &cost) ? cost.wire_fs + cost.overhead_fs : INT64_MAX;
}

/* The longest way between neighbours; in large groups, between some of them. */
static int64_t longest_fs(const struct coll *c)
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
    return way_fs(c, c->group.n - 1, 0) <= longest_fs(c);
}

/* Is no way of a small group longer than that between neighbours? With three all are neighbours. */
static bool all_are_near(const struct coll *c)
{
    int64_t near_fs = longest_fs(c), n = c->group.n;

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

/* The bytes of a piece of a part; by default a quarter of the part. */
static uint64_t chunk_of(const struct coll *c, const kb_coll *args, const kb_limits *limits)
{
    uint64_t tcm = tcm_bytes(c), element = kb_dtype_bytes(args->dtype), chunk = args->chunk;
    uint64_t part = (uint64_t)(args->count / c->group.n + 1) * element;

    if (!chunk)
        chunk = power_below(least(part / 4, least(limits->queue_slot_bytes, tcm / 16)));
    if (chunk < element)
        bad(c, "a chunk of %llu bytes holds no element", (unsigned long long)chunk);
    if (HELD * chunk > tcm / 2)
        bad(c, "a chunk of %llu bytes does not fit into the TCM, one of %llu does",
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
        bad(c, "queues of %llu bytes from the other ranks do not fit into a TCM of %llu",
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
        bad(c, "a vector of %lld elements", (long long)args->count);
    if ((unsigned)args->algorithm > KB_COLL_AXES)
        bad(c, "there is no algorithm %d", (int)args->algorithm);
    if (!kb_dtype_bytes(args->dtype))
        bad(c, "there is no type %d", (int)args->dtype);
    if (c->deal == DEAL_ALL && args->count % c->group.n)
        bad(c, "%lld elements are not as many for each of %lld ranks", (long long)args->count,
            (long long)c->group.n);
    if (c->deal == DEAL_ROOT && args->algorithm == KB_COLL_DIRECT)
        bad(c, "KB_COLL_DIRECT is none of its algorithms: KB_COLL_RING, KB_COLL_LINE");
    if (args->root < 0 || args->root >= c->group.n)
        bad(c, "there is no root %lld among %lld ranks", (long long)args->root,
            (long long)c->group.n);
}

/* Ring or line, or straight from each to each; and how many steps that takes. */
static void shape(struct coll *c, kb_coll_algorithm algorithm)
{
    int64_t n = c->group.n;

    c->ring = is_ring(c, algorithm);
    c->steps[UP] = c->ring ? n / 2 : n - 1;
    c->steps[DOWN] = c->ring ? (n - 1) / 2 : n - 1;
    c->most_steps = c->steps[UP];
    c->direct = c->deal == DEAL_ALL || algorithm == KB_COLL_DIRECT ||
                (c->deal != DEAL_ROOT && algorithm == KB_COLL_AUTO && all_are_near(c));
}

/* -- axes ------------------------------------------------------------------------------------- */

static struct coll coll_new(tl_here here, tl_ctx *tl, kb_group group, const char *name)
{
    return (struct coll){.here = here, .tl = tl, .group = group, .name = name};
}

/* The members that differ from this one along an axis alone. */
static struct coll line_of(const struct coll *c, kb_axis axis)
{
    uint32_t n = c->group.axes[axis].n, stride = c->group.axes[axis].stride, pe = tl_pe(c->tl);
    kb_group g = {.first = pe - pe / stride % n * stride, .stride = stride, .n = n};
    struct coll line = coll_new(c->here, c->tl, g, c->name);

    line.deal = DEAL_SCATTER;
    return line;
}

/*
 * About how long half an all_reduce takes by this plan: a way for each step, and the bytes on the
 * slowest way between neighbours, which so many groups share.
 */
static double about_fs(const struct coll *c, double bytes, double sharing)
{
    int64_t steps = c->direct ? 1 : c->most_steps, parts = c->direct ? c->group.n - 1 : steps;
    double byte_fs = 0;

    for (int64_t i = 0; i + 1 < least_of(c->group.n, NEAR_MOST); i++) {
        kb_cost cost;

        if (way_cost(c, i, i + 1, &cost) && (double)cost.drain_fs / SAMPLE > byte_fs)
            byte_fs = (double)cost.drain_fs / SAMPLE;
    }
    return (double)(steps * longest_fs(c)) +
           bytes / (double)c->group.n * (double)parts * sharing * byte_fs;
}

/* The same of lines along the axes, one after the other, each on its part of what is left. */
static double axes_about_fs(const struct coll *c, double bytes)
{
    double fs = 0, lines = 1;

    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++) {
        struct coll line;

        if (c->group.axes[axis].n < 2)
            continue;
        line = line_of(c, axis);
        shape(&line, KB_COLL_AUTO);
        fs += about_fs(&line, bytes, axis == KB_Y ? c->group.axes[KB_PES].n : lines);
        bytes /= (double)line.group.n;
        lines *= (double)line.group.n;
    }
    return fs;
}

static int axes_of(const kb_group *g)
{
    int n = 0;

    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++)
        n += g->axes[axis].n > 1;
    return n;
}

static bool is_by_axes(const struct coll *c, const kb_coll *args)
{
    double bytes = (double)args->count * (double)kb_dtype_bytes(args->dtype);

    if (args->algorithm == KB_COLL_AXES && (c->deal != DEAL_REDUCE || !axes_of(&c->group)))
        bad(c,
            "KB_COLL_AXES is for kb_all_reduce and groups of whole rows of PEs, cubes and SIPs; "
            "here there are KB_COLL_RING, KB_COLL_LINE%s",
            c->deal == DEAL_ROOT ? "" : ", KB_COLL_DIRECT");
    if (args->algorithm != KB_COLL_AUTO || c->deal != DEAL_REDUCE || axes_of(&c->group) < 2)
        return args->algorithm == KB_COLL_AXES;
    return axes_about_fs(c, bytes) < about_fs(c, bytes, 1);
}

/* -- calls ------------------------------------------------------------------------------------ */

static void plan(struct coll *c, const kb_coll *args)
{
    check_group(c);
    check_args(c, args);
    c->dtype = args->dtype;
    c->op = args->op;
    c->pays = spans_units(c);
    shape(c, args->algorithm);
    c->by_axes = is_by_axes(c, args);
    cut(c, args, c->deal == DEAL_ROOT ? 1 : c->group.n);
    make_rows(c);
}

/* False: nothing is to be exchanged, and what there is was copied. */
static bool begin(struct coll *c, const kb_coll *args, enum deal deal)
{
    bool alone = c->group.n == 1;

    c->deal = deal;
    plan(c, args);
    if (alone)
        copy(c, (struct span){args->in, args->count}, (struct span){args->out, args->count});
    else if (args->count > 0 && !c->by_axes)
        pay(c, TL_COST_CALL);
    return !alone && args->count > 0;
}

static void gather(struct coll *c, struct span in, struct span all)
{
    if (c->direct)
        coll_exchange(c, DEAL_GATHER, in, all);
    else
        coll_gather(c, in, all);
}

static void scatter(struct coll *c, struct span all, struct span out)
{
    if (c->direct)
        coll_exchange(c, DEAL_SCATTER, all, out);
    else
        coll_scatter(c, all, out);
}

void kb_all_gather_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_gather");
    struct span all = {args.out, args.count};

    if (begin(&c, &args, DEAL_GATHER))
        gather(&c, (struct span){args.in, part_at(&c, all, c.me).n}, all);
}

void kb_reduce_scatter_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce_scatter");
    struct span all = {args.in, args.count};

    if (begin(&c, &args, DEAL_SCATTER))
        scatter(&c, all, (struct span){args.out, part_at(&c, all, c.me).n});
}

/* Straight from each to each it is one phase, else two. */
static void reduce_all(struct coll *c, struct span in, struct span out)
{
    scatter(c, in, part_at(c, out, c->me));
    if (!c->direct)
        pay(c, TL_COST_CALL);
    gather(c, part_at(c, out, c->me), out);
}

/* Sums along one axis after the other, each of the part that the one before has left; and back. */
static void reduce_by_axes(struct coll *c, kb_coll args)
{
    struct coll lines[KB_AXES];
    struct span spans[KB_AXES];
    int n = 0;

    args.algorithm = KB_COLL_AUTO;
    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++) {
        struct span in = {args.in, args.count}, out = {args.out, args.count}, part;

        if (c->group.axes[axis].n < 2)
            continue;
        lines[n] = line_of(c, axis);
        if (!begin(&lines[n], &args, DEAL_SCATTER))
            break;
        part = part_at(&lines[n], out, lines[n].me);
        scatter(&lines[n], in, part);
        args.in = args.out = part.address;
        args.count = part.n;
        spans[n++] = out;
    }
    while (n-- > 0) {
        if (!lines[n].direct)
            pay(&lines[n], TL_COST_CALL);
        gather(&lines[n], part_at(&lines[n], spans[n], lines[n].me), spans[n]);
    }
}

void kb_all_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_reduce");

    if (!begin(&c, &args, DEAL_REDUCE))
        return;
    if (c.by_axes)
        reduce_by_axes(&c, args);
    else
        reduce_all(&c, (struct span){args.in, args.count}, (struct span){args.out, args.count});
}

void kb_all_to_all_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_all_to_all");

    if (begin(&c, &args, DEAL_ALL))
        coll_exchange(&c, DEAL_ALL, (struct span){args.in, args.count},
                      (struct span){args.out, args.count});
}

void kb_broadcast_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_broadcast");

    if (begin(&c, &args, DEAL_ROOT))
        coll_broadcast(&c, args.root, (struct span){args.in, args.count},
                       (struct span){args.out, args.count});
}

void kb_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args)
{
    struct coll c = coll_new(here, tl, group, "kb_reduce");

    if (begin(&c, &args, DEAL_ROOT))
        coll_reduce(&c, args.root, (struct span){args.in, args.count},
                    (struct span){args.out, args.count});
}

void kb_coll_barrier_at(tl_here here, tl_ctx *tl, kb_group group)
{
    struct coll c = coll_new(here, tl, group, "kb_coll_barrier");

    if (begin(&c, &(kb_coll){.count = 1, .dtype = KB_U8}, DEAL_ROOT))
        coll_barrier(&c);
}
