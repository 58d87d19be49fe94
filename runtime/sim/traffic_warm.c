/*
 * traffic_warm.c -- gives traffic to a simulation; of traffic that is warm, what fills its caches.
 *
 * The first `warm` transactions by number are drawn from the streams of their PEs as all others
 * are. They run in a simulation of their own, each long behind the one before, so that nothing of
 * that is under way; what they leave in its caches the simulation takes over. Its traffic goes on
 * with the next of each stream, and begins at 0.
 *
 * Example: two PEs stream, 128 bytes each time, and warm is 3: numbers 0 and 2 are of PE 0, bytes
 * [0, 128) and [128, 256) of its share, number 1 is of PE 1. PE 0 issues number 4 first, at 256.
 */
#include "engine/split.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"
#include "network/caches.h"
#include <stdlib.h>
#include <string.h>

#define APART_FS (10000 * KB_FS_PER_NS)

/* What runs before. */
struct warming {
    kb_sim *sim;          /* NULL: there are no caches */
    uint64_t n;           /* rows there */
    kb_endpoint *targets; /* owned: room for those of a multicast */
};

static kb_status add_behind(struct warming *w, const kb_transaction *q, kb_error *why)
{
    const uint64_t before = w->n - 1;
    kb_status status = kb_sim_add(w->sim, q, why);

    if (status != KB_OK || w->n++ == 0)
        return status;
    return kb_sim_add_dependencies(w->sim, w->n - 1, &before, 1, APART_FS, why);
}

/* The transaction that source `i` has drawn last. */
static kb_status add_drawn(struct warming *w, const struct kb_sim *s, uint32_t i, kb_error *why)
{
    const struct traffic *tr = s->traffic;
    const struct source *src = &tr->sources[i];
    const struct bytes_at bytes = traffic_place(s, i, src->n - 1, src->next_dst);
    kb_transaction q = {.op = traffic_writes(tr, i) ? KB_WRITE : KB_READ,
                        .dst = endpoint_unpack_memory(s->topo, src->next_dst),
                        .nbytes = tr->request.nbytes};

    kb_pe_get(s->topo, i / tr->kinds, &q.src);
    q.by_address = bytes.by_address;
    *(bytes.by_address ? &q.address : &q.offset) = bytes.at;
    for (uint32_t k = 0; bytes.targets && k < bytes.targets->n; k++)
        w->targets[k] = endpoint_unpack_memory(s->topo, bytes.targets->of[k].dst);
    if (bytes.targets)
        q.dst = w->targets[0];
    if (bytes.targets && bytes.targets->n > 1) {
        q.targets = w->targets;
        q.n_targets = bytes.targets->n;
    }
    return add_behind(w, &q, why);
}

static kb_status draw_warm(struct warming *w, struct kb_sim *s, kb_error *why)
{
    struct traffic *tr = s->traffic;
    uint32_t n = tr->n_pes * tr->kinds;
    kb_status status = KB_OK;

    for (uint64_t i = 0; i < tr->request.warm && status == KB_OK; i++) {
        tr->n_issued++; /* tells the targets of multicasts apart */
        if (traffic_draw_any(tr, (uint32_t)(i % n)) && w->sim)
            status = add_drawn(w, s, (uint32_t)(i % n), why);
    }
    tr->n_issued = 0;
    if (tr->reached)
        memset(tr->reached, 0,
               ((size_t)sim_cubes(s->topo) << s->topo->unit_bits) * sizeof *tr->reached);
    traffic_set_out(tr);
    return status;
}

static kb_status fill_caches(struct kb_sim *s, kb_error *why)
{
    struct warming w = {.targets = calloc(s->traffic->request.copies + 1, sizeof *w.targets)};
    kb_status status = w.targets ? KB_OK : KB_NO_MEMORY;

    if (status == KB_OK && s->caches)
        status = kb_sim_new(s->topo, NULL, &w.sim);
    if (status == KB_OK)
        status = draw_warm(&w, s, why);
    if (status == KB_OK && w.sim)
        status = kb_sim_run(w.sim, UINT64_MAX, why);
    if (status == KB_OK && w.sim) {
        caches_warm(s, w.sim);
        status = s->status;
    }
    kb_sim_free(w.sim);
    free(w.targets);
    return status;
}

kb_status kb_sim_traffic(kb_sim *s, const kb_traffic *request, kb_error *why)
{
    REFUSE_NULL(s && request, "sim, traffic", why);
    kb_status status = traffic_make(s, request, why);

    if (status == KB_OK && request->warm)
        status = fill_caches(s, why);
    return status == KB_OK ? traffic_start(s, why) : status;
}
