/* split_parts.c -- parts while they are cut: what they get piece by piece, and what their rows get
 * of that. */
#include "engine/split.h"
#include "base/rows.h"
#include "machine/alone.h"
#include "network/banks_state.h"
#include "network/caches.h"
#include <stdlib.h>

struct split_part *split_new_part(struct kb_sim *s)
{
    struct split_parts *parts = &s->parts;

    if (!rows_grow(&parts->rows, &parts->room, parts->n + 1, sizeof *parts->rows))
        return NULL;
    parts->rows[parts->n] = (struct split_part){0};
    return &parts->rows[parts->n++];
}

struct split_part *split_part_in(struct kb_sim *s, uint32_t first, uint32_t dst)
{
    struct split_parts *parts = &s->parts;

    for (uint32_t i = parts->n; i-- > first;)
        if (parts->rows[i].dst == dst)
            return &parts->rows[i];
    return split_new_part(s);
}

void split_add_blocks(const struct kb_sim *s, struct split_part *part, uint64_t offset,
                      uint64_t nbytes)
{
    const struct kb_topology *t = s->topo;
    uint64_t access = unit_is_slice(t, dst_unit(t, part->dst))
                          ? kind_at(t, dst_cube(t, part->dst))->hbm.access_bytes
                          : 0;
    uint64_t first, last;

    if (!access)
        return;
    first = offset / access;
    last = (offset + nbytes - 1) / access;
    part->blocks += last - first + 1 - (part->blocks && first == part->block);
    part->block = last;
}

/* The segments of a list in a slice with banks, which comes there as a whole. False: no memory. */
static bool add_bursts(struct kb_sim *s, struct split_part *part, uint64_t offset, uint64_t nbytes)
{
    const struct kb_topology *t = s->topo;
    const struct kind_row *kind = kind_at(t, dst_cube(t, part->dst));

    if (!s->banks || s->banks->pool.routed || kind->hbm.model != MEMORY_BANKS ||
        !unit_is_slice(t, dst_unit(t, part->dst)))
        return true;
    if (!part->banks)
        part->banks = bank_tile_new();
    return part->banks &&
           bank_tile_add(part->banks, &kind->banks, bank_range(&kind->banks, offset, nbytes));
}

/* The same in a cache, which looks its lines up. */
static bool add_cached(struct kb_sim *s, struct split_part *part, uint64_t offset, uint64_t nbytes)
{
    if (cost_memory(s->topo, part->dst, false)->model != MEMORY_CACHE)
        return true;
    return pieces_add(&part->cached, offset, nbytes);
}

bool split_add_piece(struct kb_sim *s, struct split_part *part, uint64_t address, uint64_t offset,
                     uint64_t nbytes, bool listed)
{
    if (!part->pieces) {
        part->offset = offset;
        part->low = address;
    }
    part->low = address < part->low ? address : part->low;
    part->nbytes += nbytes;
    part->last_bytes = nbytes;
    part->pieces++;
    split_add_blocks(s, part, offset, nbytes);
    return !listed || (add_bursts(s, part, offset, nbytes) && add_cached(s, part, offset, nbytes));
}

void split_in_order(struct split_parts *parts, uint32_t first)
{
    for (uint32_t i = first + 1; i < parts->n; i++) {
        struct split_part part = parts->rows[i];
        uint32_t k = i;

        for (; k > first && parts->rows[k - 1].low > part.low; k--)
            parts->rows[k] = parts->rows[k - 1];
        parts->rows[k] = part;
    }
}

void split_drop(struct kb_sim *s)
{
    struct split_parts *parts = &s->parts;

    for (uint32_t i = 0; i < parts->n; i++) {
        bank_tile_free(parts->rows[i].banks);
        free(parts->rows[i].cached);
    }
    parts->n = 0;
    parts->branches = false;
}

/* From run to run its PE takes a time: how long until the last has drained, at least. It is the
 * pace of the PE's link, and left out with the bandwidth of links. */
static int64_t runs_fs(const struct kb_sim *s, const struct txn *x, const struct split_part *part)
{
    int64_t run_fs = txn_of_host(x) ? 0 : kind_at(T, src_cube(T, x->src))->run_fs;
    const struct trip trip = txn_trip(T, x);

    if (part->pieces < 2 || !run_fs || s->mask.link_gbs > 0)
        return 0;
    return (int64_t)(part->pieces - 1) * run_fs +
           drain_fs(part->last_bytes,
                    cost_by_tables(T, &s->mask, x->op, &trip, x->nbytes).bottleneck_gbs);
}

void split_set_service(struct kb_sim *s, uint32_t slot, const struct split_part *part)
{
    const struct txn *x = &s->txns[slot];
    const struct memory_row *memory = cost_memory(T, x->dst, txn_writes(x));
    struct split *split = &s->splits[slot];

    split->least_fs = runs_fs(s, x, part);
    split->own_bytes = part->blocks * memory->access_bytes;
    if (split->own_bytes) {
        int64_t own_fs = drain_fs(split->own_bytes, cost_own_gbs(&s->mask, memory));

        split->least_fs = own_fs > split->least_fs ? own_fs : split->least_fs;
    }
}

void split_place_part(struct kb_sim *s, uint32_t slot, struct split_part *part)
{
    banks_place(s, slot, part->offset);
    if (part->banks) {
        bank_tile_end(part->banks, &kind_at(T, dst_cube(T, part->dst))->banks);
        banks_place_tile(s, slot, part->banks);
        part->banks = NULL;
    }
    caches_place(s, slot, part->offset);
    if (part->cached && part->cached->n == 1 && unit_is_l2(T, dst_unit(T, part->dst))) {
        free(part->cached); /* `offset` says it */
        part->cached = NULL;
    }
    if (part->cached) {
        caches_place_tile(s, slot, part->cached);
        part->cached = NULL;
    }
    instance_place(&s->instances, slot, part->offset);
    split_set_service(s, slot, part);
}
