/* instances.c -- the states of components: made, cleared, and what they have done wrong. */
#include "engine/instances.h"
#include "base/rows.h"
#include "engine/state.h"
#include "machine/place.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULT_BYTES = 512 };

void instance_clear_memory(struct kb_sim *s, uint32_t dst)
{
    const struct kb_topology *t = s->topo;
    const struct impl *impl;
    size_t bytes;
    unsigned char *state;

    if (!t->impls || !t->impls->memories || unit_is_tcm(t, dst_unit(t, dst)))
        return;
    impl = &t->impls->of[box_of_unit(t, dst_unit(t, dst))];
    bytes = instance_of_memory_bytes(t->impls);
    state = s->instances.memories + dst * bytes;
    memset(state, 0, bytes);
    if (impl->init)
        impl->init(state);
}

static bool make_memories(struct kb_sim *s)
{
    uint32_t n = sim_cubes(s->topo) << s->topo->unit_bits;

    s->instances.memories = rows_new(n, instance_of_memory_bytes(s->topo->impls));
    for (uint32_t dst = 0; s->instances.memories && dst < n; dst++)
        if (dst_unit(s->topo, dst) < s->topo->n_units)
            instance_clear_memory(s, dst);
    return s->instances.memories;
}

bool instances_init(struct kb_sim *s)
{
    const struct impls *impls = s->topo->impls;

    if (!impls)
        return true;
    s->instances.fault = calloc(1, FAULT_BYTES);
    return s->instances.fault && (!impls->memories || make_memories(s));
}

void instances_free(struct kb_sim *s)
{
    free(s->instances.memories);
    free(s->instances.served);
    free(s->instances.fault);
}

bool instances_room(struct kb_sim *s, uint32_t n)
{
    struct served *moved;

    if (!s->topo->impls)
        return true;
    moved = realloc(s->instances.served, n * sizeof *moved);
    if (!moved)
        return false;
    memset(moved + s->txns_cap, 0, (n - s->txns_cap) * sizeof *moved);
    s->instances.served = moved;
    return true;
}

struct kb_cost sim_cost(const struct kb_sim *s, const struct txn *txn)
{
    const struct kb_topology *t = s->topo;
    const struct trip trip = txn_trip(t, txn);
    struct kb_cost c = cost_by_tables(t, &s->mask, txn->op, &trip, txn->nbytes);
    uint32_t unit = dst_unit(t, txn->dst);
    const struct served *served;

    if (!t->impls)
        return c;
    served = &s->instances.served[txn - s->txns];
    c.overhead_fs += served->delay_fs;
    if (memory_is_component(t, unit)) {
        int64_t in_memory_fs = served->done_fs - txn->service_fs - c.drain_fs;

        c.overhead_fs += in_memory_fs - c.memory_overhead_fs;
        c.memory_overhead_fs = in_memory_fs;
    }
    return c;
}

void instances_never(struct kb_sim *s, enum box box, uint32_t slot)
{
    if (s->instances.never++ == 0)
        snprintf(s->instances.fault, FAULT_BYTES,
                 "transaction %u never ends: component '%s' of '%s' is never done with it",
                 s->txns[slot].id, s->topo->impls->of[box].name, box_key(box));
}

void instances_fault(struct kb_sim *s, enum box box, uint32_t slot, uint64_t now_fs,
                     struct kb_served answer)
{
    const struct impl *impl = &s->topo->impls->of[box];
    double ns = 1.0 / (double)KB_FS_PER_NS;

    if (impl->delay)
        snprintf(
            s->instances.fault, FAULT_BYTES,
            "component '%s' of '%s' delays transaction %u, which comes at %.6f ns, by %.6f ns: "
            "a delay is 0 or more",
            impl->name, box_key(box), s->txns[slot].id, (double)now_fs * ns,
            (double)answer.hold_fs * ns);
    else
        snprintf(s->instances.fault, FAULT_BYTES,
                 "component '%s' of '%s' serves transaction %u, whose turn is at %.6f ns, with "
                 "hold %.6f ns and done at %.6f ns: 0 <= hold <= done - now must hold",
                 impl->name, box_key(box), s->txns[slot].id, (double)now_fs * ns,
                 (double)answer.hold_fs * ns, (double)answer.done_fs * ns);
}
