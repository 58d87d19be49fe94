/* coll_parts.c -- vectors of collectives: uneven parts, and whether they lie where they say.
 *
 * With `counts` part i of a vector that is gathered or scattered has counts[i] elements. Of an
 * all_to_all of n ranks counts[i * n + k] elements go from rank i to rank k: the parts of `in` are
 * row `me` of that table, those of `out` its column `me`, and what goes to rank k lies there behind
 * what lower ranks give.
 */
#include "kernels/coll.h"

static int64_t count_at(const struct coll *c, const kb_coll *args, int64_t from, int64_t to)
{
    return args->counts[from * c->group.n + to];
}

static void check_counts(const struct coll *c, const kb_coll *args)
{
    int64_t n = c->deal == DEAL_ALL ? c->group.n * c->group.n : c->group.n, sum = 0;

    if (c->deal != DEAL_GATHER && c->deal != DEAL_SCATTER && c->deal != DEAL_ALL)
        coll_bad(c, "`counts` are for kb_all_gather, kb_reduce_scatter and kb_all_to_all");
    for (int64_t i = 0; i < n; i++) {
        if (args->counts[i] < 0)
            coll_bad(c, "counts[%lld] is %lld", (long long)i, (long long)args->counts[i]);
        sum += args->counts[i];
    }
    if (c->deal != DEAL_ALL && sum != args->count)
        coll_bad(c, "`counts` are %lld elements in all, and `count` is %lld", (long long)sum,
                 (long long)args->count);
}

/* Where parts begin that have counts[first], counts[first + stride], ... elements. */
static const int64_t *begins_of(const struct coll *c, const kb_coll *args, int64_t first,
                                int64_t stride)
{
    int64_t n = c->group.n,
            *begins = tl_alloc_host_at(c->here, c->tl, (size_t)(n + 1) * sizeof *begins);

    for (int64_t i = 0; i < n; i++)
        begins[i + 1] = begins[i] + args->counts[first + i * stride];
    return begins;
}

static const int64_t *places_there(const struct coll *c, const kb_coll *args)
{
    int64_t n = c->group.n, *there = tl_alloc_host_at(c->here, c->tl, (size_t)n * sizeof *there);

    for (int64_t to = 0; to < n; to++)
        for (int64_t from = 0; from < c->rank; from++)
            there[to] += count_at(c, args, from, to);
    return there;
}

int64_t coll_find_parts(struct coll *c, const kb_coll *args)
{
    int64_t n = c->deal == DEAL_ALL ? c->group.n * c->group.n : c->group.n, most = 0;

    check_counts(c, args);
    for (int64_t i = 0; i < n; i++)
        most = args->counts[i] > most ? args->counts[i] : most;
    if (c->deal == DEAL_ALL) {
        c->given = begins_of(c, args, c->rank * c->group.n, 1);
        c->taken = begins_of(c, args, c->rank, c->group.n);
        c->theirs = places_there(c, args);
    } else
        c->given = c->taken = begins_of(c, args, 0, 1);
    return most;
}

void coll_check_memory(const struct coll *c, const char *what, struct span v)
{
    const struct kb_topology *t = tl_topology(c->tl);
    uint64_t bytes = (uint64_t)v.n * kb_dtype_bytes(c->dtype), from, to = 0, size;
    kb_endpoint at, end;
    kb_limits limits;

    if (v.n == 0)
        return;
    if (kb_address_find(t, v.address, &at, &from))
        coll_bad(c, "`%s` is in no memory: address %llu", what, (unsigned long long)v.address);
    kb_topology_limits(t, &limits);
    if (at.kind == KB_SLICE && limits.granule > 0)
        return; /* loads and stores see where it ends */
    size = kb_memory_bytes(t, &at);
    if (bytes > size)
        coll_bad(c, "`%s` has %llu bytes, and its memory %llu", what, (unsigned long long)bytes,
                 (unsigned long long)size);
    if (kb_address_find(t, v.address + bytes - 1, &end, &to) || to != from + bytes - 1)
        coll_bad(c, "`%s` has %llu bytes, and from its address on there are %llu", what,
                 (unsigned long long)bytes, (unsigned long long)(size - from));
}
