/* branches.c -- the parts of a multicast, laid over each other. */
#include "engine/branches.h"
#include "engine/split.h"
#include "base/rows.h"
#include <stdlib.h>

static bool data_join_late(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].reduce_fs)
            return true;
    return false;
}

const char *branches_refused(const struct kb_topology *t, bool reads)
{
    if (t->links == MODE_ROUTER)
        return "a multicast wants contention.links ideal or fifo";
    if (t->impls && t->impls->nodes)
        return "a multicast wants nodes without components (impl)";
    if (reads && data_join_late(t) && (t->impls || memories_choose(t)))
        return "a read of several memories wants cube.noc.reduce_ns 0, or memories of "
               "cube.hbm.model server without cache, L2 and impl";
    return NULL;
}

bool branches_room(struct kb_sim *s, uint32_t n)
{
    return !s->branches || rows_widen(&s->branches, s->txns_cap, n, sizeof *s->branches);
}

void branches_free(struct kb_sim *s)
{
    for (uint32_t slot = 0; s->branches && slot < s->txns_cap; slot++)
        free(s->branches[slot].enters);
    free(s->branches);
    tree_free(&s->tree);
}

void branches_none(struct kb_sim *s, uint32_t slot)
{
    struct branch_part *part = s->branches ? &s->branches[slot] : NULL;

    if (part)
        *part = (struct branch_part){.enters = part->enters, .room = part->room};
}

/* It is followed over `n` links at least. False without memory. */
static bool is_followed(struct branch_part *part, uint32_t n)
{
    if (n > part->followed)
        part->followed = n;
    return rows_grow(&part->enters, &part->room, n, sizeof *part->enters);
}

/* Of a read: data that join wait for each other where they do. */
static void find_joins(struct kb_sim *s, uint32_t first)
{
    for (uint32_t slot = first; slot != TXN_NONE; slot = s->splits[slot].next) {
        const struct trip trip = txn_trip(s->topo, &s->txns[slot]);

        if (!txn_writes(&s->txns[slot]))
            s->branches[slot].late_fs = tree_joins_fs(&s->tree, s->topo, &trip) & s->mask.overhead;
    }
}

bool branches_lay_over(struct kb_sim *s, uint32_t first)
{
    if (!s->branches && flows_walked(&s->flows, s->topo))
        s->branches = calloc(s->txns_cap, sizeof *s->branches);
    if (!s->branches)
        return false;
    tree_clear(&s->tree);
    for (uint32_t slot = first; slot != TXN_NONE; slot = s->splits[slot].next) {
        const struct trip trip = txn_trip(s->topo, &s->txns[slot]);
        struct branch_part *part = &s->branches[slot];
        struct tree_way way;

        if (!tree_add(&s->tree, s->topo, &trip, slot, &way))
            return false;
        branches_none(s, slot);
        part->is_part = true;
        part->shared = way.shared;
        part->trunk = way.trunk;
        if (way.shared && !is_followed(&s->branches[way.trunk], way.shared))
            return false;
    }
    find_joins(s, first);
    return true;
}

/* -- counting --------------------------------------------------------------------------------- */

struct uncount {
    struct flows *flows;
    uint64_t nbytes;
    size_t reads;
    uint32_t links; /* that are left */
};

/* A node that it shares, and the link behind it, which may be the first of its own. */
static void uncount_hop(void *arg, size_t node, size_t link)
{
    struct uncount *u = arg;
    const struct flow_sum less = {-UINT64_C(1), -u->nbytes};

    flow_sum_add(&u->flows->nodes[node], &less);
    if (!u->links)
        return;
    u->links--;
    flow_sum_add(&u->flows->edges[link ^ u->reads], &less);
}

void branch_uncount(struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    struct uncount u = {&s->flows, x->nbytes, !txn_writes(x), s->branches[slot].shared};
    const struct trip trip = txn_trip(s->topo, x);

    tree_walk(s->topo, &trip, u.links + 1, uncount_hop, &u);
}
