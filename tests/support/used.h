/* used.h -- what a run has used, held to what the judge counts of each station. */
#ifndef SUPPORT_USED_H
#define SUPPORT_USED_H
#include "machine/tables.h"
#include "support/rig.h"
#include <math.h>

struct used {
    const struct judge_use *uses;
    size_t n_uses;
    uint64_t seed; /* for messages */
    double end_fs;
    bool late;      /* what an L2 writes back may wait and be served behind that end */
    bool by_packet; /* routers: of stations the judge counts banks and caches alone */
    size_t n;       /* found */
};

/* Of a slice with banks, and its channels. */
static inline bool same_rows(const kb_utilization *use, const struct judge_use *x)
{
    return use->count == x->count && use->bytes == x->bytes && use->busy_fs == x->busy_fs &&
           use->row_hits == x->hits && use->row_misses == x->misses &&
           use->row_conflicts == x->conflicts && use->activations == x->activations &&
           use->util_pct <= 100 && use->refresh_pct <= 100;
}

/* Of the cache of a slice. */
static inline bool same_lines(const kb_utilization *use, const struct judge_use *x)
{
    return use->count == x->count && use->bytes == x->bytes && use->busy_fs == x->busy_fs &&
           use->queue_max == x->longest && use->hits == x->hits && use->pending == x->pending &&
           use->misses == x->misses && use->evictions == x->evictions &&
           use->written_back == x->written_back && use->util_pct <= 100;
}

static inline bool counted_alike(const struct used *u, const kb_utilization *use,
                                 const struct judge_use *x)
{
    if (use->has_rows)
        return same_rows(use, x);
    if (use->has_lines)
        return same_lines(use, x);
    if (use->count != x->count || use->bytes != x->bytes || use->queue_max != x->longest)
        return false;
    if (u->late)
        return use->busy_fs <= x->busy_fs;
    return use->busy_fs == x->busy_fs &&
           fabs(use->queue_mean * u->end_fs - (double)x->wait_fs) <= 1 + 1e-9 * (double)x->wait_fs;
}

static inline void fail_use(const struct used *u, const kb_utilization *use,
                            const struct judge_use *x)
{
    fail_msg("seed %" PRIu64 ": %s: %" PRIu64 " times, %" PRIu64 " bytes, %" PRId64
             " fs, waits %f ns, %d in line, not %" PRIu64 ", %" PRIu64 ", %" PRId64 ", %f, %u; "
             "lines: %" PRIu64 " hits, %" PRIu64 " pending, %" PRIu64 " misses, %" PRIu64
             " evictions, %" PRIu64 " written back; rows: %" PRIu64 " hits, %" PRIu64
             " misses, %" PRIu64 " conflicts, %" PRIu64 " activations",
             u->seed, use->name, use->count, use->bytes, use->busy_fs, use->wait_ns,
             (int)use->queue_max, x->count, x->bytes, x->busy_fs, (double)x->wait_fs / 1e6,
             x->longest, use->hits, use->pending, use->misses, use->evictions, use->written_back,
             use->row_hits, use->row_misses, use->row_conflicts, use->activations);
}

/* The judge has one name for the two links between two SIPs of a ring of two. */
static inline void assert_use(void *arg, const kb_utilization *use)
{
    struct used *u = arg;
    const struct judge_use *x = NULL;
    const char *wrap = strstr(use->name, " (wrap)");
    size_t len = wrap ? (size_t)(wrap - use->name) : strlen(use->name);

    if (!use->has_rows && !use->has_lines && (u->by_packet || !use->queues))
        return;
    for (size_t i = 0; i < u->n_uses && !(x && counted_alike(u, use, x)); i++)
        if (strlen(u->uses[i].name) == len && strncmp(u->uses[i].name, use->name, len) == 0)
            x = &u->uses[i];
    if (!x)
        fail_msg("seed %" PRIu64 ": %s is used", u->seed, use->name);
    if (!counted_alike(u, use, x))
        fail_use(u, use, x);
    u->n++;
}

static inline bool has_l2(const kb_topology *topo)
{
    for (uint32_t i = 0; i < topo->n_kinds; i++)
        if (topo->kinds[i].l2_cache.sets)
            return true;
    return false;
}

/* Every station that `sim` has used, and no other, as the judge says. */
static inline void assert_used(const kb_topology *topo, const kb_sim *sim,
                               const struct judge_use *uses, size_t n_uses, uint64_t seed)
{
    struct used u = {.uses = uses,
                     .n_uses = n_uses,
                     .seed = seed,
                     .end_fs = (double)kb_sim_end_fs(sim),
                     .late = has_l2(topo),
                     .by_packet = topo->links == MODE_ROUTER};
    size_t n = 0;

    for (size_t i = 0; i < n_uses; i++)
        n += !u.by_packet || uses[i].has_rows || uses[i].is_cache;
    if (u.by_packet && !n)
        return;
    assert_int_equal(kb_sim_utilization(sim, assert_use, &u), KB_OK);
    assert_int_equal(u.n, n);
}

#endif
