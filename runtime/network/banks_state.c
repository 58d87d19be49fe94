/* banks_state.c -- the slices with banks of one simulation, made as transactions come to them. */
#include "network/banks_state.h"
#include <stdlib.h>
#include <string.h>

struct banks *banks_new(const struct kb_topology *t)
{
    struct banks *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->pool.free_segment = b->pool.free_piece = b->pool.ended = BANK_NONE;
    b->by_memory = calloc((size_t)sim_cubes(t) << t->unit_bits, sizeof(struct bank_slice *));
    if (!b->by_memory) {
        free(b);
        return NULL;
    }
    return b;
}

static void slice_free(struct bank_slice *slice)
{
    if (!slice)
        return;
    free(slice->arbiters);
    if (slice->channels)
        free(slice->channels->banks);
    free(slice->channels);
    free(slice);
}

void banks_free(struct banks *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_slices; i++)
        slice_free(b->slices[i]);
    free(b->slices);
    free(b->by_memory);
    free(b->accesses);
    free(b->pool.segments);
    free(b->pool.pieces);
    free(b);
}

bool banks_room(struct banks *b, uint32_t n)
{
    struct bank_access *moved = realloc(b->accesses, n * sizeof *moved);

    if (!moved)
        return false;
    b->accesses = b->pool.accesses = moved;
    return true;
}

/* All idle. The banks of all channels are one array. */
static void slice_begin(struct bank_slice *slice, struct bank *banks)
{
    const struct bank_row *row = slice->view.row;
    uint32_t n = bank_count(row);

    slice->wake_fs = BANK_NEVER_FS;
    slice->pending = 0;
    memset(slice->arbiters, 0, bank_channels(row) * sizeof *slice->arbiters);
    for (uint32_t i = 0; i < bank_channels(row); i++)
        bank_begin(&slice->view, &slice->channels[i], banks + (size_t)i * n);
}

static struct bank_slice *slice_new(const struct kb_sim *s, uint32_t memory)
{
    struct bank_slice *slice = calloc(1, sizeof *slice);
    const struct bank_row *row = &kind_at(s->topo, dst_cube(s->topo, memory))->banks;
    size_t channels = bank_channels(row);
    struct bank *banks;

    if (!slice)
        return NULL;
    slice->view = bank_view_of(&s->mask, row);
    slice->memory = memory;
    slice->arbiters = calloc(channels, sizeof *slice->arbiters);
    slice->channels = calloc(channels, sizeof *slice->channels);
    banks = calloc(channels * bank_count(row), sizeof *banks);
    if (slice->channels)
        slice->channels->banks = banks;
    if (!slice->arbiters || !slice->channels || !banks) {
        if (!slice->channels)
            free(banks);
        slice_free(slice);
        return NULL;
    }
    slice_begin(slice, banks);
    return slice;
}

static bool room_for_slice(struct banks *b)
{
    uint32_t cap = b->slices_cap ? 2 * b->slices_cap : 8;
    struct bank_slice **moved;

    if (b->n_slices < b->slices_cap)
        return true;
    moved = realloc(b->slices, cap * sizeof(struct bank_slice *));
    if (!moved)
        return false;
    b->slices = moved;
    b->slices_cap = cap;
    return true;
}

struct bank_slice *banks_slice(struct kb_sim *s, uint32_t memory)
{
    struct banks *b = s->banks;
    struct bank_slice *slice = b->by_memory[memory];

    if (slice)
        return slice;
    slice = room_for_slice(b) ? slice_new(s, memory) : NULL;
    if (!slice)
        return NULL;
    slice->number = b->n_slices++;
    b->slices[slice->number] = b->by_memory[memory] = slice;
    return slice;
}

void banks_finish(const struct kb_sim *s)
{
    for (uint32_t i = 0; s->banks && i < s->banks->n_slices; i++) {
        struct bank_slice *slice = s->banks->slices[i];

        for (uint32_t k = 0; k < bank_channels(slice->view.row); k++)
            bank_catch_up(&slice->view, &slice->channels[k], &s->banks->pool, k, BANK_NEVER_FS - 1);
    }
}

void banks_clear(struct kb_sim *s, uint32_t memory)
{
    struct bank_slice *slice = s->banks ? s->banks->by_memory[memory] : NULL;

    if (!slice)
        return;
    for (uint32_t i = 0; i < bank_channels(slice->view.row); i++)
        bank_drop(&slice->view, &slice->channels[i], &s->banks->pool);
    slice_begin(slice, slice->channels->banks);
}

void banks_place(struct kb_sim *s, uint32_t slot, uint64_t offset)
{
    const struct txn *txn = &s->txns[slot];

    if (s->banks)
        s->banks->accesses[slot].range = cost_range(s->topo, txn->dst, offset, txn->nbytes);
}

/* What matters of where a range begins: rows are alike, except for the hash. */
static struct bank_range alike(const struct bank_row *row, struct bank_range range)
{
    uint32_t bits = 0u + row->channel_bits + row->group_bits + row->bank_bits + row->column_bits;
    uint64_t at;

    if (row->hash == HASH_XOR)
        bits += 0u + row->channel_bits + row->group_bits + row->bank_bits;
    at = range.at & ((UINT64_C(1) << bits) - 1);
    return (struct bank_range){at, at + (range.end - range.at)};
}

static bool is_known(const struct bank_known *a, const struct bank_known *b)
{
    return a->row == b->row && a->range.at == b->range.at && a->range.end == b->range.end &&
           a->drain_fs == b->drain_fs && a->writes == b->writes;
}

struct bank_alone banks_alone(const struct kb_sim *s, uint32_t slot, int64_t drain_fs)
{
    const struct txn *txn = &s->txns[slot];
    struct bank_range range = s->banks->accesses[slot].range;
    struct bank_known wanted = {.row = &kind_at(s->topo, dst_cube(s->topo, txn->dst))->banks,
                                .drain_fs = drain_fs,
                                .writes = txn_writes(txn)};
    struct bank_known *known;
    uint64_t mixed;

    wanted.range = alike(wanted.row, range);
    if (range.end - range.at == 1)
        return bank_alone(&s->mask, wanted.row, wanted.writes, wanted.range, drain_fs);
    mixed = (wanted.range.at ^ wanted.range.end << 20) * UINT64_C(0x9e3779b97f4a7c15);
    known = &s->banks->known[mixed >> 58];
    if (!is_known(known, &wanted)) {
        *known = wanted;
        known->alone = bank_alone(&s->mask, wanted.row, wanted.writes, wanted.range, drain_fs);
    }
    return known->alone;
}
