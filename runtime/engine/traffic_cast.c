/* traffic_cast.c -- pattern multicast:N: the memories that each write goes to.
 *
 * A write of PE i goes to the home slices of PEs i + 1 to i + N, counted modulo all PEs, in this
 * order, at the same offset of all: docs/model.md "Traffic". A slice that several of these PEs
 * share gets it once, and is where the first of them names it: no memory is a target twice.
 *
 * Example: four PEs with slices 0 0 1 1. With N = 3, PE 1 writes to the homes of PEs 2, 3 and 0:
 * slices 1 and 0.
 */
#include "engine/split.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"
#include "machine/walk.h"
#include <stdlib.h>

/* Do all writes of a PE have a way, on whichever plane they go? */
static bool has_ways(const struct kb_topology *t, const struct traffic *tr, uint32_t pe)
{
    for (uint32_t i = 1; i <= tr->request.copies; i++)
        for (uint32_t plane = 0; plane < t->planes; plane++) {
            const struct txn x = {.op = KB_WRITE,
                                  .course = plane & 63u,
                                  .src = pe_src(t, pe),
                                  .dst = tr->home_of[(pe + i) % tr->n_pes]};
            const struct trip trip = txn_trip(t, &x);

            if (t->plane_rows[trip.plane].in_parts && !walk_has_way(t, &trip))
                return false;
        }
    return true;
}

kb_status cast_init(struct kb_sim *s, struct traffic *tr, kb_error *why)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t pe = 0; !t->regular && pe < tr->n_pes; pe++)
        if (!has_ways(t, tr, pe))
            return endpoint_error(why, TRAFFIC_NO_WAY);
    if (!split_begin(s))
        return KB_NO_MEMORY;
    tr->to_all = targets_new(s, tr->request.copies);
    tr->reached = calloc((size_t)sim_cubes(t) << t->unit_bits, sizeof *tr->reached);
    return tr->to_all && tr->reached ? KB_OK : KB_NO_MEMORY;
}

const struct targets *cast_targets(struct traffic *tr, uint32_t pe, uint64_t offset)
{
    struct targets *to = tr->to_all;

    to->n = 0;
    for (uint32_t i = 1; i <= tr->request.copies; i++) {
        uint32_t dst = tr->home_of[(pe + i) % tr->n_pes];

        if (tr->reached[dst] == (uint32_t)tr->n_issued)
            continue;
        tr->reached[dst] = (uint32_t)tr->n_issued;
        to->of[to->n++] = (struct target_at){.dst = dst, .offset = offset};
    }
    return to;
}
