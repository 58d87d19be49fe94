/* component_cost.c -- the cost of a transaction that meets components, alone: in fresh states. */
#include "machine/box_impl.h"
#include "machine/component_packets.h"
#include "machine/pes.h"
#include "machine/queueing.h"
#include "machine/walk.h"
#include <string.h>

/* When it is done with `asked`, alone. */
static int64_t served_alone_fs(const struct impl *impl, const struct kb_request *asked)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];

    memset(state, 0, impl->bytes);
    impl->init(state);
    return impl->serve(state, asked, 0).done_fs;
}

/* What the component adds to the drain; INT64_MAX: it is never done. */
static int64_t memory_fs(const struct kb_topology *t, const struct cost_mask *m,
                         const struct trip *trip, const struct impl *impl, const struct kb_cost *c,
                         const struct kb_request *asked)
{
    const struct kind_row *kind = kind_at(t, dst_cube(t, trip->dst));
    int64_t done_fs;

    if (t->links == MODE_ROUTER && !impl->arrive)
        return component_behind_fs(t, m, trip, impl, asked, c->bottleneck_gbs);
    done_fs = impl->arrive ? queueing_alone_fs(impl, m, cost_memory(t, trip->dst, false),
                                               &kind->banks, asked)
                           : served_alone_fs(impl, asked);
    return done_fs == INT64_MAX ? INT64_MAX : done_fs - c->drain_fs;
}

/* Adds that, instead of what the keys say; if it is never, the keys stand. */
static void add_memory(struct kb_cost *c, int64_t fs)
{
    if (fs == INT64_MAX)
        return;
    c->overhead_fs += fs == COST_NO_MEMORY ? 0 : fs - c->memory_overhead_fs;
    c->memory_overhead_fs = fs;
}

/* What the component of a node says, alone, less its overhead. */
static int64_t node_more_fs(const struct cost_mask *m, const struct impl *impl,
                            const struct hop_row *hop, const struct kb_request *of)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    struct kb_request asked = *of;

    asked.drain_fs = asked.own_fs = asked.latency_fs = 0;
    asked.overhead_fs = hop->overhead_fs & m->overhead;
    memset(state, 0, impl->bytes);
    impl->init(state);
    return impl->delay(state, &asked, 0) - asked.overhead_fs;
}

/* The same of all nodes of a trip. */
static int64_t nodes_more_fs(const struct kb_topology *t, const struct cost_mask *m,
                             const struct trip *trip, const struct kb_request *asked)
{
    struct route_at at = walk_begin(t, trip);
    int64_t more_fs = 0;

    for (;;) {
        const struct segment_row *seg = walk_segment(t, at);

        for (uint32_t i = 0; i < seg->n_hops; i++) {
            const struct hop_row *hop = &t->hops[seg->first_hop + i];
            const struct impl *impl = node_component(t, hop, at.cube);

            if (impl)
                more_fs += node_more_fs(m, impl, hop, asked);
        }
        if (seg->exit == N_EXITS)
            return more_fs;
        at = walk_next(t, trip, at);
    }
}

struct kb_cost cost_with_components(const struct kb_topology *t, const struct cost_mask *m,
                                    kb_transaction_op op, const struct trip *trip, uint64_t nbytes,
                                    uint64_t offset)
{
    struct kb_cost c = cost_by_tables(t, m, op, trip, nbytes);
    bool host = op >= KB_H2D, writes = op == KB_WRITE || op == KB_H2D;
    const struct memory_row *memory = cost_memory(t, trip->dst, writes);
    const struct impl *impl = memory_impl(t, trip->dst);
    struct kb_request asked = {
        .op = (uint8_t)op,
        .source = host ? UINT32_MAX : pe_number(t, trip->src),
        .bytes = nbytes,
        .offset = offset,
        .drain_fs = c.drain_fs,
        .own_fs = drain_fs(nbytes, cost_own_gbs(m, memory)),
        .overhead_fs = memory->overhead_fs & m->overhead,
        .latency_fs = memory->latency_fs & m->overhead,
        .k = 1,
        .n = 1,
    };

    if ((impl->serve || impl->arrive) && !unit_is_tcm(t, dst_unit(t, trip->dst)))
        add_memory(&c, memory_fs(t, m, trip, impl, &c, &asked));
    if (t->impls->nodes)
        c.overhead_fs += nodes_more_fs(t, m, trip, &asked);
    return c;
}
