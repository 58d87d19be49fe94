/* instances.c -- the states of components: made, cleared, and what they have done wrong. */
#include "engine/instances.h"
#include "base/rows.h"
#include "base/text.h"
#include "engine/lone.h"
#include "engine/router.h"
#include "engine/state.h"
#include "engine/split.h"
#include "machine/alone.h"
#include "machine/pes.h"
#include "machine/place.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "network/caches.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_memories(const struct impls *impls)
{
    return impls->memories || impls->queueing;
}

void instance_clear_memory(struct kb_sim *s, uint32_t dst)
{
    const struct kb_topology *t = s->topo;
    const struct impl *impl;
    size_t bytes;
    unsigned char *state;

    if (!t->impls || !has_memories(t->impls) || unit_is_tcm(t, dst_unit(t, dst)))
        return;
    impl = memory_impl(t, dst);
    bytes = instance_of_memory_bytes(t->impls);
    state = s->instances.memories + dst * bytes;
    memset(state, 0, bytes);
    if (impl->init)
        impl->init(state);
    if (impl->arrive)
        queue_clear(&s->instances.queues.of[dst]);
    if (impl->ended)
        s->instances.queues.of[dst].asked.fronts = true;
}

static uint32_t n_memories(const struct kb_sim *s)
{
    return sim_cubes(s->topo) << s->topo->unit_bits;
}

static bool make_memories(struct kb_sim *s)
{
    uint32_t n = n_memories(s);

    s->instances.memories = rows_new(n, instance_of_memory_bytes(s->topo->impls));
    for (uint32_t dst = 0; s->instances.memories && dst < n; dst++)
        if (dst_unit(s->topo, dst) < s->topo->n_units)
            instance_clear_memory(s, dst);
    return s->instances.memories;
}

void instances_clear_nodes(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t bytes;

    if (!t->impls || !t->impls->nodes)
        return;
    bytes = instance_of_node_bytes(t->impls);
    memset(s->instances.nodes, 0, walk_n_nodes(t) * bytes);
    for (size_t i = 0; i < walk_n_nodes(t); i++) {
        const struct impl *impl = component_at(t, i);

        if (impl)
            impl->init(s->instances.nodes + i * bytes);
    }
}

static bool make_nodes(struct kb_sim *s)
{
    s->instances.nodes = rows_new(walk_n_nodes(s->topo), instance_of_node_bytes(s->topo->impls));
    if (s->instances.nodes)
        instances_clear_nodes(s);
    return s->instances.nodes;
}

static bool make_engines(struct kb_sim *s)
{
    size_t n = pe_count(s->topo), bytes = instance_of_engine_bytes(s->topo->impls);

    s->instances.engines = rows_new(2 * n + 1, bytes);
    for (size_t i = 0; s->instances.engines && i < 2 * n; i++) {
        const struct impl *impl =
            box_impl(s->topo, pe_cube(s->topo, (uint32_t)i / 2), i % 2 ? BOX_MATH : BOX_GEMM);

        if (impl->init)
            impl->init(s->instances.engines + i * bytes);
    }
    return s->instances.engines;
}

bool instances_init(struct kb_sim *s)
{
    const struct impls *impls = s->topo->impls;

    if (!impls)
        return true;
    s->instances.fault = calloc(1, FAULT_BYTES);
    return s->instances.fault &&
           (!impls->queueing || queues_init(&s->instances.queues, n_memories(s))) &&
           (!has_memories(impls) || make_memories(s)) && (!impls->nodes || make_nodes(s)) &&
           (!impls->engines || make_engines(s));
}

void instances_free(struct kb_sim *s)
{
    queues_free(&s->instances.queues, n_memories(s));
    free(s->instances.memories);
    free(s->instances.nodes);
    free(s->instances.engines);
    free(s->instances.served);
    free(s->instances.fault);
}

bool instances_room(struct kb_sim *s, uint32_t n)
{
    struct served **served = &s->instances.served;

    return !s->topo->impls || rows_widen(served, s->txns_cap, n, sizeof **served);
}

/* Where its bytes lie in its memory. */
static uint64_t offset_of(const struct kb_sim *s, uint32_t slot)
{
    if (caches_have(s, &s->txns[slot]))
        return s->caches->rows[slot].offset;
    return s->topo->impls ? s->instances.served[slot].offset : s->banks->behind->offsets[slot];
}

struct alone sim_alone(const struct kb_sim *s, uint32_t slot, int64_t drain_fs)
{
    const struct txn *txn = &s->txns[slot];
    struct alone_of of = {.t = s->topo,
                          .m = &s->mask,
                          .op = txn->op,
                          .trip = txn_trip(s->topo, txn),
                          .nbytes = txn->nbytes,
                          .drain_fs = drain_fs,
                          .own_bytes = split_own_bytes(s, slot)};

    if (banks_has(s, txn) && !s->banks->behind) { /* bursts are what is kept of where it lies */
        const struct bank_row *row = &kind_at(s->topo, dst_cube(s->topo, txn->dst))->banks;

        of.tile = s->banks->accesses[slot].tile;
        of.offset = s->banks->accesses[slot].range.at << row->burst_bits;
        of.nbytes = (s->banks->accesses[slot].range.end << row->burst_bits) - of.offset;
    } else {
        of.offset = offset_of(s, slot);
    }
    if (caches_have(s, txn))
        of.pieces = s->caches->rows[slot].pieces;
    return alone_in_memory(s->idle, &of);
}

struct kb_cost sim_cost(const struct kb_sim *s, const struct txn *txn)
{
    const struct kb_topology *t = s->topo;
    uint32_t slot = (uint32_t)(txn - s->txns);
    const struct trip trip = txn_trip(t, txn);
    struct kb_cost c = cost_beside_routers(t, &s->mask, txn->op, &trip, txn->nbytes, NULL);
    const struct flight *flight = s->router ? &s->router->flights[slot] : NULL;
    const struct served *served = t->impls ? &s->instances.served[slot] : NULL;

    if (flight) { /* as cost_add_router(), which would walk the way again */
        c.wire_fs += flight->extra_fs;
        c.return_fs = flight->return_fs;
        c.response_fs = txn_writes(txn) ? c.response_fs : 0;
    }
    c.drain_fs = split_drain(s, slot, c.drain_fs);
    if (t->links == MODE_ROUTER && memory_queues(t, txn->dst)) {
        struct lone lone = s->lone_of(s, slot);

        if (lone.fs != INT64_MAX)
            cost_set_memory(&c, lone.memory_fs + c.drain_fs);
    } else if (unit_is_l2(t, dst_unit(t, txn->dst))) {
        cost_add_l2(&c, sim_alone(s, slot, c.drain_fs));
    } else if (txn_queues(s, txn) && alone_is_asked(t, txn->dst)) {
        cost_set_memory(&c, sim_alone(s, slot, c.drain_fs).fs);
    } else if (memory_is_component(t, txn->dst)) {
        cost_set_memory(&c, t->links == MODE_ROUTER ? served->memory_fs + c.drain_fs
                                                    : served->done_fs - txn->service_fs);
    }
    if (served)
        c.overhead_fs += served->delay_fs;
    c.overhead_fs += branch_late_fs(s, slot);
    c.memory_overhead_fs += branch_late_fs(s, slot);
    return c;
}

void instances_never(struct kb_sim *s, const struct impl *impl, uint32_t slot)
{
    if (s->instances.never++ == 0)
        snprintf(s->instances.fault, FAULT_BYTES,
                 "transaction %u never ends: component '%s' of '%s' is never done with it",
                 s->txns[slot].id, impl->name, box_key(impl->box));
}

void instances_fault(struct kb_sim *s, const struct impl *impl, uint32_t slot, uint64_t now_fs,
                     struct kb_served answer)
{
    double ns = 1.0 / (double)KB_FS_PER_NS;

    if (impl->delay)
        text_format(
            s->instances.fault, FAULT_BYTES,
            "component '%s' of '%s' delays transaction %u, which comes at %.6f ns, by %.6f ns: "
            "a delay is 0 or more",
            impl->name, box_key(impl->box), s->txns[slot].id, (double)now_fs * ns,
            (double)answer.hold_fs * ns);
    else
        text_format(s->instances.fault, FAULT_BYTES,
                    "component '%s' of '%s' serves transaction %u, whose turn is at %.6f ns, with "
                    "hold %.6f ns and done at %.6f ns: 0 <= hold <= done - now must hold",
                    impl->name, box_key(impl->box), s->txns[slot].id, (double)now_fs * ns,
                    (double)answer.hold_fs * ns, (double)answer.done_fs * ns);
}
