/* l2.c -- an L2 (`cube.l2`), the cache of a cube: its children, and what waits for them.
 *
 * It holds        as any cache, network/caches.c: one transaction, for its bytes at its bandwidth
 * For how long    at the begin of that, s, all lines are looked up. Where all are there, and for a
 *                 write, it is done at s + latency + drain. Else it ends with the last of its
 *                 children, which are transactions of their own: one read for each slice that has
 *                 missing lines. They set out from the L2 at s + latency, and behind them the
 * writes of what was dropped, for which nothing waits Goes first      first come, first served Wait
 * counted    queue_memory, as of a memory's cache Golden number   docs/model.md "An L2": 459.581 ns
 * cold, 150.481 ns when all is there
 *
 * The end of a child is known when its memory knows it. So a line knows a child that may have no
 * end yet: what finds it there waits, and is done no earlier. Data of several children pass one
 * link to the PE: a transaction is done no earlier than its missing bytes take from the first data
 * on.
 *
 * Example: an L2 of 120 ns, 134.4 GB/s to a PE, a read of 8192 bytes of two slices at 0.005. Both
 * children set out at 120.005, and each ends at 459.581, the last 30.476 of which is its drain. The
 * first data are there at 429.105, and 8192 bytes take 60.952: done at 490.057.
 */
#include "network/l2.h"
#include "engine/child_rows.h"
#include "engine/how.h"
#include "network/awaited.h"
#include "machine/address.h"
#include <stdlib.h>

/* -- what becomes of a lookup ------------------------------------------------------------------ */

void l2_begin(struct kb_sim *s, uint32_t slot, int64_t ready_fs, int64_t drain_fs)
{
    struct cached *row = &s->caches->rows[slot];

    row->ready_fs = ready_fs;
    row->done_fs = (int64_t)after((uint64_t)ready_fs, drain_fs);
    row->first_fs = NOT_YET;
    row->others_fs = 0;
    row->asked = 0;
    split_drop(s);
}

/*
 * Bytes from `*address` on, up to `end`, that lie in one slice. False: there is no memory. Lines
 * are whole, and slices need not be: the last line of one may reach into the next.
 */
static bool next_in_slice(const struct kb_topology *t, uint64_t *address, uint64_t end,
                          struct address_part *piece)
{
    uint64_t room;

    if (*address == end || !address_find(t, *address, &piece->dst, &piece->offset))
        return false;
    room = t->granule ? t->granule - piece->offset % t->granule
                      : kind_at(t, dst_cube(t, piece->dst))->hbm.nbytes - piece->offset;
    piece->nbytes = end - *address < room ? end - *address : room;
    *address += piece->nbytes;
    return true;
}

/* The part of s->parts for memory `dst`; NULL without memory. */
static struct split_part *part_for(struct kb_sim *s, const struct address_part *piece,
                                   uint64_t address)
{
    struct split_part *part = split_part_in(s, 0, piece->dst);

    if (part)
        part->dst = piece->dst;
    if (part && split_add_piece(s, part, address, piece->offset, piece->nbytes, true))
        return part;
    fail(s, KB_NO_MEMORY);
    return NULL;
}

uint32_t l2_reads(struct kb_sim *s, struct cache *c, uint64_t address, uint64_t nbytes,
                  uint64_t asked)
{
    uint64_t at = address, end = address + nbytes, before = at;
    uint32_t fill = 0;
    struct address_part piece;
    struct split_part *part;

    for (; next_in_slice(s->topo, &at, end, &piece); before = at) {
        part = part_for(s, &piece, before);
        if (!part)
            return fill;
        if (!part->fill) {
            part->fill = c->fills.next;
            fills_add(s, &c->fills, NOT_YET);
        }
        part->asked += asked < piece.nbytes ? asked : piece.nbytes;
        fill = fill ? fill : part->fill;
    }
    return fill;
}

/* -- children --------------------------------------------------------------------------------- */

/* Those of s->parts set out at `t`; `awaited`: their maker waits for them. */
static void set_out(struct kb_sim *s, struct cache *c, uint32_t maker, uint64_t t, bool writes,
                    bool awaited)
{
    split_in_order(&s->parts, 0);
    for (uint32_t k = 0; k < s->parts.n && s->status == KB_OK; k++) {
        const struct split_part *part = &s->parts.rows[k];
        uint32_t fill = part->fill;
        uint64_t asked = writes ? part->nbytes : part->asked;
        uint32_t slot = child_make(s, maker, k, writes, asked);

        if (slot == TXN_NONE) {
            fail(s, s->status == KB_OK ? KB_NO_MEMORY : s->status);
            return;
        }
        s->caches->rows[slot].fill = awaited ? fill : 0;
        s->caches->rows[maker].left += awaited;
        c->n_children++;
        c->child_bytes += s->txns[slot].nbytes;
        s->txns[slot].stage = TXN_SETS_OUT;
        post(s, t, EV_HOP, slot);
    }
    split_drop(s);
}

/* Cuts what a lookup has to write by slices. False: no memory. */
static bool cut_written(struct kb_sim *s)
{
    const struct pieces *list = s->caches->written;
    struct address_part piece;

    for (uint32_t i = 0; list && i < list->n; i++) {
        uint64_t at = list->of[i].at, end = at + list->of[i].nbytes, before = at;

        for (; next_in_slice(s->topo, &at, end, &piece); before = at)
            if (!part_for(s, &piece, before))
                return false;
    }
    return true;
}

void l2_go_behind(struct kb_sim *s, struct cache *c, uint32_t slot, uint64_t asked,
                  int64_t pending_fs)
{
    uint64_t t = (uint64_t)s->caches->rows[slot].ready_fs;

    s->caches->rows[slot].asked = asked;
    s->caches->rows[slot].others_fs = pending_fs;
    set_out(s, c, slot, t, false, true);
    if (cut_written(s))
        set_out(s, c, slot, t, true, false);
    if (!s->caches->rows[slot].left)
        awaited_all(s, slot);
}

void l2_pass_on(struct kb_sim *s, struct cache *c, uint32_t slot, uint64_t t, const struct run *of,
                uint32_t n)
{
    l2_begin(s, slot, (int64_t)t, 0);
    for (uint32_t i = 0; i < n; i++)
        l2_reads(s, c, of[i].at, of[i].nbytes, of[i].nbytes);
    s->caches->rows[slot].asked = s->txns[slot].nbytes;
    set_out(s, c, slot, t, txn_writes(&s->txns[slot]), true);
}

void l2_child_will_end(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t maker = s->splits[slot].maker, fill = s->caches->rows[slot].fill;
    struct cached *row;
    struct cache *c;
    int64_t first = (int64_t)t - s->splits[slot].least_fs;

    if (!fill)
        return;
    row = &s->caches->rows[maker];
    c = s->caches->by_memory[s->txns[maker].dst];
    fills_set(&c->fills, fill, (int64_t)t);
    row->done_fs = (int64_t)t > row->done_fs ? (int64_t)t : row->done_fs;
    row->first_fs = first < row->first_fs ? first : row->first_fs;
    awaited_less(s, maker);
    awaited_ends(s, c, fill, (int64_t)t);
    caches_go_on(s, c);
}

void l2_launch(struct kb_sim *s, uint32_t cube)
{
    const struct kb_topology *t = s->topo;
    struct cache *c = s->caches && topology_has_l2(t)
                          ? s->caches->by_memory[dst_pack(t, cube, unit_of_l2(t))]
                          : NULL;

    if (c && c->tags.row->at_launch == LAUNCH_DROPS)
        c->counts.written_back += cache_tags_drop(&c->tags);
}
