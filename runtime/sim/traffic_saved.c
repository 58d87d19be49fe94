/*
 * traffic_saved.c -- what the traffic of a simulation has measured, as bytes for another process.
 *
 * Counts and sums by parts, and the latencies, or their histogram: all that
 * kb_sim_traffic_result() reads of a simulation that has ended. Both processes run the same program
 * on the same kind of machine, so fields go as they are in memory.
 */
#include "base/percentiles.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"
#include <stdlib.h>

/* Without gaps, whose bytes would be any. */
struct header {
    uint32_t n_done, exact;
    int64_t end_fs;
    uint64_t n_issued, n_exact;
};

kb_status kb_sim_traffic_save(const kb_sim *s, void (*put)(void *arg, const void *bytes, size_t n),
                              void *arg)
{
    REFUSE_NULL(s && put, "sim, put", NULL);
    const struct traffic *tr = s->traffic;

    if (!tr)
        return KB_BAD_REQUEST;
    if (!s->started || s->n_done < tr->n_issued)
        return s->status ? s->status : KB_PENDING;
    struct header head = {.n_done = s->n_done,
                          .exact = !tr->buckets,
                          .end_fs = s->end_fs,
                          .n_issued = tr->n_issued,
                          .n_exact = tr->buckets ? 0 : tr->n_exact};

    put(arg, &head, sizeof head);
    put(arg, tr->parts, sizeof tr->parts);
    put(arg, tr->actual_fs, head.n_exact * sizeof *tr->actual_fs);
    put(arg, tr->part_of, head.n_exact * sizeof *tr->part_of);
    if (tr->buckets)
        put(arg, tr->buckets, (size_t)TRAFFIC_PARTS * BUCKETS * sizeof *tr->buckets);
    return KB_OK;
}

kb_status kb_sim_traffic_restore(kb_sim *s, void (*take)(void *arg, void *bytes, size_t n),
                                 void *arg)
{
    REFUSE_NULL(s && take, "sim, take", NULL);
    struct traffic *tr = s->traffic;
    struct header head;

    if (!tr || s->started)
        return KB_BAD_REQUEST;
    take(arg, &head, sizeof head);
    take(arg, tr->parts, sizeof tr->parts);
    int64_t *actual_fs = realloc(tr->actual_fs, head.n_exact * sizeof *actual_fs + 1);
    if (actual_fs)
        tr->actual_fs = actual_fs;
    uint8_t *part_of = realloc(tr->part_of, head.n_exact + 1);
    if (part_of)
        tr->part_of = part_of;
    if (!head.exact && !tr->buckets)
        tr->buckets = malloc((size_t)TRAFFIC_PARTS * BUCKETS * sizeof *tr->buckets);
    if (!actual_fs || !part_of || (!head.exact && !tr->buckets))
        return KB_NO_MEMORY;
    take(arg, tr->actual_fs, head.n_exact * sizeof *tr->actual_fs);
    take(arg, tr->part_of, head.n_exact * sizeof *tr->part_of);
    if (!head.exact)
        take(arg, tr->buckets, (size_t)TRAFFIC_PARTS * BUCKETS * sizeof *tr->buckets);
    tr->n_issued = head.n_issued;
    tr->n_exact = head.n_exact;
    s->n_done = head.n_done;
    s->end_fs = head.end_fs;
    s->started = true;
    return KB_OK;
}
