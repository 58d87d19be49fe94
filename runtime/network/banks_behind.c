/* banks_behind.c -- what a transaction takes of a slice with banks behind routers when it is alone.
 *
 * That is computed by machine/bank_behind.h, and kept: mostly the next transaction is like one
 * before.
 */
#include "network/banks_state.h"

static uint32_t way_of(const struct txn *txn)
{
    return txn->plane | (uint32_t)txn->chiplet << 3 | (uint32_t)txn_of_host(txn) << 5;
}

static bool is_known(const struct bank_known_behind *a, const struct bank_known_behind *b)
{
    const struct bank_known *x = &a->known, *y = &b->known;

    return x->row == y->row && x->range.at == y->range.at && x->range.end == y->range.end &&
           x->drain_fs == y->drain_fs && x->writes == y->writes &&
           a->bytes.offset == b->bytes.offset && a->bytes.nbytes == b->bytes.nbytes &&
           a->src == b->src && a->dst == b->dst && a->way == b->way;
}

struct bank_alone banks_alone_behind(const struct kb_sim *s, uint32_t slot, int64_t drain_fs)
{
    const struct txn *txn = &s->txns[slot];
    const struct bank_row *row = &kind_at(s->topo, dst_cube(s->topo, txn->dst))->banks;
    struct banks_behind *behind = s->banks->behind;
    struct bank_bytes bytes = {behind->offsets[slot], txn->nbytes};
    const struct trip trip = txn_trip(s->topo, txn);
    struct bank_known_behind *known,
        wanted = {.known = {.row = row,
                            .range = banks_alike(row, s->banks->accesses[slot].range),
                            .drain_fs = drain_fs,
                            .writes = txn_writes(txn)},
                  .bytes = {bytes.offset & ((UINT64_C(1) << row->burst_bits) - 1), bytes.nbytes},
                  .src = txn->src,
                  .dst = txn->dst,
                  .way = way_of(txn)};
    uint64_t mixed =
        wanted.known.range.at ^ (uint64_t)txn->src << 20 ^ (uint64_t)txn->dst << 40 ^ bytes.nbytes;

    known = &behind->known[mixed * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    if (!is_known(known, &wanted)) {
        *known = wanted;
        known->known.alone = bank_alone_behind(s->topo, &s->mask, &trip, txn_writes(txn), bytes,
                                               drain_fs, &behind->room);
    }
    return known->known.alone;
}
