/* way.h -- from one station to the next: by links, or in one sum. */
#ifndef NETWORK_WAY_H
#define NETWORK_WAY_H
#include "network/link.h"
#include "network/noc.h"
#include "network/node.h"
#include "network/router.h"

/* It leaves its channel; a host's, its pcie_ep. */
static ALWAYS_INLINE void set_out(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    if (T->impls && T->impls->nodes)
        s->instances.served[slot].delay_fs = 0;
    if (T->links == MODE_ROUTER) {
        router_set_out(s, t, slot);
    } else if (walks_hops(s)) {
        const struct trip trip = txn_trip(T, txn);

        txn->at = walk_begin(T, &trip);
        walk_on(s, how, t, WALK_ARRIVES, slot);
    } else if (T->links == MODE_FIFO) {
        set_out_fifo(s, how, t, slot);
    } else {
        set_out_ideal(s, how, t, slot);
    }
}

/* The same; one that is split sends all its parts, in order of addresses. */
static ALWAYS_INLINE void set_out_whole(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (!T->granule || s->splits[slot].next == TXN_NONE) {
        set_out(s, how, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_SPLIT;
    for (uint32_t part = s->splits[slot].next; part != TXN_NONE; part = s->splits[part].next) {
        s->txns[part].issue_fs = s->txns[slot].issue_fs;
        s->txns[part].wait_fs = s->txns[slot].wait_fs;
        if (is_told(s, how))
            observe_split(s, slot, part);
        set_out(s, how, t, part);
    }
}

/* A host's has its engine, and goes on to the memory. */
static ALWAYS_INLINE void leave_engine(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (T->links == MODE_ROUTER) {
        router_go_on(s, t, slot);
    } else if (walks_hops(s)) {
        walk_on(s, how, t, WALK_LINK, slot);
    } else if (T->links == MODE_FIFO) {
        s->txns[slot].at.step++;
        ride(s, how, t, slot, !(how & (HOW_COUNTED | HOW_KERNELS)) ? s->fed : 0, false);
    } else {
        leave_engine_ideal(s, how, t, slot);
    }
}

#endif
