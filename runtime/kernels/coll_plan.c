/* coll_plan.c -- the plan of a call: its group, its shape, into how many pieces parts are cut. */
#include "base/larger.h"
#include "kernels/coll.h"

/* Pieces that a lane has in the TCM for each that is under way, at most. */
enum { HELD = 8 };

/* -- groups ----------------------------------------------------------------------------------- */

/* What is known of the group; finds the own rank and place. */
static void find_order(struct coll *c)
{
    if (c->group.n < 1)
        coll_bad(c, "the group has no PEs: those of axes want cubes that are all alike");
    c->order = coll_order_of(c);
    c->rank = coll_rank(c->order, tl_pe(c->tl));
    if (c->rank == c->group.n)
        coll_bad(c, "the PE itself is not in the group");
    c->me = coll_place(c, c->rank);
}

/* -- the plan of a call ----------------------------------------------------------------------- */

/* The largest power of two up to `bytes`, at least 256. */
static uint64_t power_below(uint64_t bytes)
{
    uint64_t p = 256;

    while (p <= bytes / 2)
        p *= 2;
    return p;
}

/* Smaller pieces cost a PE more commands than they save. */
static uint64_t at_least(uint64_t bytes)
{
    return bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
}

/* Pieces in the TCM for each that is under way: in a tree one of each child. */
static uint64_t held_of(const struct coll *c)
{
    uint64_t held = 3;

    for (int64_t reach = 1; c->tree && reach < c->group.n; reach *= 2)
        held++;
    return held > HELD ? held : HELD;
}

static uint64_t sharers_of(const struct coll *c)
{
    return c->sharers > 0 ? (uint64_t)c->sharers : 1;
}

/* The bytes of a piece of a part; by default a quarter of the part. */
uint64_t coll_chunk(const struct coll *c, const kb_coll *args)
{
    uint64_t room = coll_tcm_bytes(c) / 2 / sharers_of(c) / held_of(c);
    uint64_t element = kb_dtype_bytes(args->dtype), chunk = args->chunk;
    uint64_t part = (uint64_t)c->part_most * element;
    kb_limits limits;

    kb_topology_limits(tl_topology(c->tl), &limits);
    if (!chunk)
        chunk = power_below(
            smaller(at_least(part / 4), smaller(at_least(limits.queue_slot_bytes), room)));
    if (chunk < element)
        coll_bad(c, "a chunk of %llu bytes holds no element", (unsigned long long)chunk);
    if (chunk > room)
        coll_bad(c, "a chunk of %llu bytes does not fit into the TCM, one of %llu does",
                 (unsigned long long)chunk, (unsigned long long)room);
    return chunk - chunk % element;
}

/* Into how many pieces each of `parts` parts of the vector is cut, and how many are under way. */
static void cut(struct coll *c, const kb_coll *args, int64_t parts)
{
    uint64_t tcm = coll_tcm_bytes(c), chunk, queues = 0, most;
    uint64_t part =
        (parts == 1 ? (uint64_t)args->count : (uint64_t)c->part_most) * kb_dtype_bytes(args->dtype);
    kb_limits limits;

    kb_topology_limits(tl_topology(c->tl), &limits);
    chunk = coll_chunk(c, args);
    c->writes = c->deal == DEAL_ALL && c->direct && !coll_queues_fit(c, 0);
    if (limits.queue_memory == KB_TCM && (c->direct || c->tree || c->writes))
        queues = coll_queues_bytes(c);
    most = tcm > queues ? smaller(tcm / 2, tcm - queues) / sharers_of(c) / (held_of(c) * chunk) : 0;
    if (most == 0)
        coll_bad(c,
                 "queues of %llu bytes from the other ranks do not fit into a TCM of %llu, of %llu "
                 "they do%s",
                 (unsigned long long)queues, (unsigned long long)tcm,
                 (unsigned long long)(tcm - held_of(c) * chunk),
                 c->writes ? ""
                           : "; KB_COLL_RING, KB_COLL_ONE_WAY and KB_COLL_LINE want those of two");
    c->pieces = c->tile ? coll_tile_cut(c->tile, kb_dtype_bytes(args->dtype), chunk)
                        : (int64_t)((part + chunk - 1) / chunk);
    c->round = smaller(c->pieces * (c->direct ? c->most_steps : 1), (int64_t)most);
    c->spare = (most - (uint64_t)c->round) * held_of(c) * chunk;
}

/* Rows of tensors, of one block. */
static void make_rows(struct coll *c)
{
    tl_tensor ***rows[] = {c->held, c->got, c->own, c->next};
    size_t n = sizeof rows / sizeof *rows;
    tl_tensor **row =
        tl_alloc_host_at(c->here, c->tl, n * N_LANES * (size_t)c->round * sizeof *row);

    for (size_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++, row += c->round)
            rows[i][lane] = row;
}

static bool of_root(const struct coll *c)
{
    return c->deal == DEAL_ROOT || c->deal == DEAL_TO_ROOT;
}

/* Halves of halves are more rows than tiles have. */
static void check_halving(const struct coll *c)
{
    if (c->deal == DEAL_GATHER || c->deal == DEAL_SCATTER)
        coll_bad(c, "KB_COLL_HALVING is for kb_all_reduce; here there are KB_COLL_RING, "
                    "KB_COLL_ONE_WAY, KB_COLL_LINE, KB_COLL_DIRECT, KB_COLL_AXES, "
                    "KB_COLL_HIERARCHICAL");
}

/* Those of all_reduce alone, and those of a root. */
static void check_algorithm(const struct coll *c, kb_coll_algorithm a)
{
    bool rows = a >= KB_COLL_AXES && a <= KB_COLL_AXES_HALVING;

    if (c->deal == DEAL_ALL && a != KB_COLL_AUTO && a != KB_COLL_DIRECT && a != KB_COLL_AXES)
        coll_bad(c, "there are KB_COLL_DIRECT and KB_COLL_AXES here");
    if (rows && of_root(c))
        coll_bad(c, "KB_COLL_AXES, KB_COLL_HALVING, KB_COLL_HIERARCHICAL are for kb_all_reduce; "
                    "here there are KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, KB_COLL_TREE");
    if (a == KB_COLL_HALVING || a == KB_COLL_AXES_HALVING)
        check_halving(c);
    if (of_root(c) && a == KB_COLL_DIRECT)
        coll_bad(c, "there is no KB_COLL_DIRECT here, but KB_COLL_RING, KB_COLL_ONE_WAY, "
                    "KB_COLL_LINE, KB_COLL_TREE");
    if (c->deal != DEAL_REDUCE && a == KB_COLL_DOUBLE_TREE)
        coll_bad(c,
                 "KB_COLL_DOUBLE_TREE is for kb_all_reduce; here there are KB_COLL_RING, "
                 "KB_COLL_ONE_WAY, KB_COLL_LINE, %s",
                 of_root(c) ? "KB_COLL_TREE" : "KB_COLL_DIRECT");
    if (!of_root(c) && c->deal != DEAL_REDUCE && a == KB_COLL_TREE)
        coll_bad(c, "KB_COLL_TREE is for kb_broadcast, kb_reduce, kb_all_reduce; here there are "
                    "KB_COLL_RING, KB_COLL_ONE_WAY, KB_COLL_LINE, KB_COLL_DIRECT, KB_COLL_AXES, "
                    "KB_COLL_HIERARCHICAL");
}

/* Of a reduction. */
static void check_op(const struct coll *c, tl_op op)
{
    bool reduces = c->deal == DEAL_SCATTER || c->deal == DEAL_REDUCE || c->deal == DEAL_TO_ROOT;

    if (reduces && op != TL_ADD && op != TL_MAXIMUM && op != TL_MINIMUM)
        coll_bad(c, "`op` is none of TL_ADD, TL_MAXIMUM, TL_MINIMUM");
}

static void check_args(const struct coll *c, const kb_coll *args)
{
    if (args->count < 0)
        coll_bad(c, "a vector of %lld elements", (long long)args->count);
    if ((unsigned)args->algorithm >= KB_COLL_ALGORITHMS)
        coll_bad(c, "there is no algorithm %d", (int)args->algorithm);
    if (!kb_dtype_bytes(args->dtype))
        coll_bad(c, "there is no type %d", (int)args->dtype);
    check_op(c, args->op);
    if (c->deal == DEAL_ALL && !args->counts && args->count % c->group.n)
        coll_bad(c, "%lld elements are not as many for each of %lld ranks", (long long)args->count,
                 (long long)c->group.n);
    check_algorithm(c, args->algorithm);
    if (of_root(c) && (args->root < 0 || args->root >= c->group.n))
        coll_bad(c, "there is no root %lld among %lld ranks", (long long)args->root,
                 (long long)c->group.n);
}

static void choose(struct coll *c, const kb_coll *args)
{
    if (c->deal == DEAL_ALL)
        coll_shape(c, args->algorithm == KB_COLL_AXES ? KB_COLL_RING : KB_COLL_DIRECT);
    else if (args->algorithm == KB_COLL_AUTO)
        coll_choose_shape(c, (double)args->count * (double)kb_dtype_bytes(args->dtype));
    else
        coll_shape(c, args->algorithm);
}

/* Parts that are tiles are those of a row. */
static bool may_have_rows(const struct coll *c)
{
    return !of_root(c) && !c->tile;
}

static void plan(struct coll *c, const kb_coll *args)
{
    find_order(c);
    check_args(c, args);
    c->dtype = args->dtype;
    c->op = args->op;
    c->pays = c->order->spans_units && !c->is_next;
    c->part_most = args->counts ? coll_find_parts(c, args)
                                : args->count / c->group.n + (args->count % c->group.n > 0);
    choose(c, args);
    if (may_have_rows(c) && (c->deal != DEAL_ALL || args->algorithm == KB_COLL_AXES))
        coll_choose_rows(c, args);
    cut(c, args, is_rooted(c) ? 1 : c->group.n);
    make_rows(c);
}

bool coll_begin(struct coll *c, const kb_coll *args, enum deal deal)
{
    bool alone = c->group.n == 1;
    int64_t n;

    c->deal = deal;
    plan(c, args);
    n = args->counts ? c->part_most : args->count;
    if (alone)
        copy(c, span_of(args->in, n), span_of(args->out, n));
    else if (c->part_most > 0 && c->rows == KB_COLL_AUTO)
        pay(c, TL_COST_CALL);
    return !alone && c->part_most > 0;
}
