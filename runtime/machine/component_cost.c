/* component_cost.c -- the cost of a transaction that meets components, alone: in fresh states. */
#include "machine/cost.h"
#include "machine/pes.h"
#include <string.h>

/* Adds what the memory's component says instead of the keys. */
static void add_memory(struct kb_cost *c, const struct impl *impl, const struct kb_request *asked)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    struct kb_served answer;

    memset(state, 0, impl->bytes);
    impl->init(state);
    answer = impl->serve(state, asked, 0);
    c->overhead_fs -= c->memory_overhead_fs;
    c->memory_overhead_fs = answer.done_fs - c->drain_fs;
    c->overhead_fs += c->memory_overhead_fs;
}

struct kb_cost cost_with_components(const struct kb_topology *t, const struct cost_mask *m,
                                    kb_transaction_op op, const struct trip *trip, uint64_t nbytes)
{
    struct kb_cost c = cost_by_tables(t, m, op, trip, nbytes);
    bool host = op >= KB_H2D, writes = op == KB_WRITE || op == KB_H2D;
    const struct memory_row *memory = cost_memory(t, trip->dst, writes);
    const struct impl *impl =
        &t->impls->of[dst_unit(t, trip->dst) < t->slices ? BOX_HBM : BOX_SRAM];
    struct kb_request asked = {
        .op = (uint8_t)op,
        .source = host ? UINT32_MAX : pe_number(t, trip->src),
        .bytes = nbytes,
        .drain_fs = c.drain_fs,
        .own_fs = drain_fs(nbytes, cost_own_gbs(m, memory)),
        .overhead_fs = memory->overhead_fs & m->overhead,
        .latency_fs = memory->latency_fs & m->overhead,
        .k = 1,
        .n = 1,
    };

    if (impl->serve && !unit_is_tcm(t, dst_unit(t, trip->dst)))
        add_memory(&c, impl, &asked);
    return c;
}
