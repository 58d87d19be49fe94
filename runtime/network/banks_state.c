/* banks_state.c -- the slices with banks of one simulation, made as transactions come to them. */
#include "network/banks_state.h"
#include "base/rows.h"
#include "engine/router_order.h"
#include <stdlib.h>
#include <string.h>

/* Does anything stand before banks: a component, or a cache? */
static bool has_fronts(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].hbm.behind)
            return true;
    return false;
}

bool banks_begin(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    struct banks *b = s->banks = calloc(1, sizeof *b);

    if (!b)
        return false;
    b->pool.free_segment = b->pool.free_piece = b->pool.ended = BANK_NONE;
    if (t->links == MODE_ROUTER || has_fronts(t))
        bank_pool_begin(&b->pool); /* what comes has rows of its own */
    b->pool.whole = t->links != MODE_ROUTER;
    if (t->links == MODE_ROUTER)
        b->behind = calloc(1, sizeof *b->behind);
    b->by_memory = calloc((size_t)sim_cubes(t) << t->unit_bits, sizeof(struct bank_slice *));
    return b->by_memory && (t->links != MODE_ROUTER || b->behind);
}

static void slice_free(struct bank_slice *slice)
{
    if (!slice)
        return;
    if (slice->channels)
        free(slice->channels->banks);
    free(slice->channels);
    free(slice);
}

void banks_end(struct kb_sim *s)
{
    struct banks *b = s->banks;

    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_slices; i++)
        slice_free(b->slices[i]);
    free(b->slices);
    free(b->by_memory);
    for (uint32_t slot = 0; b->accesses && slot < s->txns_cap; slot++)
        bank_tile_free(b->accesses[slot].tile);
    for (uint32_t row = 0; row < b->pool.n_packets; row++)
        bank_tile_free(b->pool.accesses[row].tile);
    free(b->accesses);
    if (b->behind) {
        free(b->behind->offsets);
        free(b->behind->stream.hops);
    }
    free(b->behind);
    bank_pool_free(&b->pool);
    free(b);
}

bool banks_room(struct kb_sim *s, uint32_t n)
{
    struct banks *b = s->banks;

    if (!b)
        return true;
    if (!rows_widen(&b->accesses, s->txns_cap, n, sizeof *b->accesses))
        return false;
    if (b->behind)
        return rows_widen(&b->behind->offsets, s->txns_cap, n, sizeof *b->behind->offsets);
    if (!b->pool.routed)
        b->pool.accesses = b->accesses;
    return true;
}

/* All idle. The banks of all channels are one array. */
static void slice_begin(struct bank_slice *slice, struct bank *banks)
{
    const struct bank_row *row = slice->view.row;
    uint32_t n = bank_count(row);

    slice->wake_fs = BANK_NEVER_FS;
    slice->pending = 0;
    slice->together = BANKS_UNUSED;
    slice->busy[0] = slice->busy[1] = 0;
    slice->expected = BANK_NONE;
    slice->full = false;
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
    slice->rows = s->banks->pool.routed;
    slice->view.routed = s->router;
    slice->memory = memory;
    if (s->router)
        slice->order = router_order_of_channels(s->topo, memory);
    slice->channels = calloc(channels, sizeof *slice->channels);
    banks = calloc(channels * bank_count(row), sizeof *banks);
    if (slice->channels)
        slice->channels->banks = banks;
    if (!slice->channels || !banks) {
        if (!slice->channels)
            free(banks);
        slice_free(slice);
        return NULL;
    }
    slice_begin(slice, banks);
    return slice;
}

struct bank_slice *banks_slice(struct kb_sim *s, uint32_t memory)
{
    struct banks *b = s->banks;
    struct bank_slice *slice = b->by_memory[memory];

    if (slice)
        return slice;
    slice = rows_grow(&b->slices, &b->slices_room, b->n_slices + 1, sizeof(struct bank_slice *))
                ? slice_new(s, memory)
                : NULL;
    if (!slice)
        return NULL;
    b->slices[b->n_slices++] = b->by_memory[memory] = slice;
    return slice;
}

/* -- channels that were alike ----------------------------------------------------------------- */

/* The same list of segments once more, for channel `channel`. */
static uint32_t copy_segments(struct bank_pool *pool, uint32_t from, uint32_t channel,
                              uint32_t *tail)
{
    uint32_t first = BANK_NONE;

    for (*tail = BANK_NONE; from != BANK_NONE; from = pool->segments[from].next) {
        uint32_t i;

        if (pool->free_segment == BANK_NONE && !bank_more_segments(pool))
            return first;
        i = pool->free_segment;
        pool->free_segment = pool->segments[i].next;
        pool->segments[i] = pool->segments[from];
        pool->segments[i].next = BANK_NONE;
        if (pool->routed)
            pool->bursts[i] = pool->bursts[from] ^ channel;
        if (*tail == BANK_NONE)
            first = i;
        else
            pool->segments[*tail].next = i;
        *tail = i;
    }
    return first;
}

/* The same pieces for channel `channel`, whose bursts are those of channel 0, exclusive-or it. */
static uint32_t copy_pieces(struct bank_pool *pool, uint32_t from, uint32_t channel, uint32_t *tail)
{
    uint32_t first = BANK_NONE;

    for (*tail = BANK_NONE; from != BANK_NONE; from = pool->pieces[from].next) {
        uint32_t i;

        if (pool->free_piece == BANK_NONE && !bank_more_pieces(pool))
            return first;
        i = pool->free_piece;
        pool->free_piece = pool->pieces[i].next;
        pool->pieces[i] = pool->pieces[from];
        pool->pieces[i].at ^= channel;
        pool->pieces[i].next = BANK_NONE;
        if (*tail == BANK_NONE)
            first = i;
        else
            pool->pieces[*tail].next = i;
        *tail = i;
    }
    return first;
}

/* Bank `number` of `c`, which is a copy, gets segments of its own. */
static void copy_queues(struct bank_pool *pool, struct bank_channel *c, uint32_t channel,
                        uint32_t number)
{
    struct bank *bank = &c->banks[number];
    uint64_t bit = UINT64_C(1) << number;
    uint32_t tail;

    for (unsigned writes = 0; writes < 2; writes++) {
        if (c->waiting[writes] & bit)
            bank->head[writes] =
                copy_segments(pool, bank->head[writes], channel, &bank->tail[writes]);
        if (c->current[writes] & bit) {
            pool->segments[bank->current].next = BANK_NONE;
            bank->current = copy_segments(pool, bank->current, channel, &tail);
        }
    }
}

/* Makes channel `i` what channel 0 is. */
static void copy_channel(struct bank_slice *slice, struct bank_pool *pool, uint32_t i)
{
    struct bank_channel *c = &slice->channels[i];
    struct bank *banks = c->banks;
    uint32_t n = bank_count(slice->view.row);

    *c = slice->channels[0];
    c->banks = banks;
    memcpy(banks, slice->channels[0].banks, n * sizeof *banks);
    for (uint32_t number = 0; number < n && !pool->lost; number++)
        copy_queues(pool, c, i, number);
    for (unsigned writes = 0; writes < 2 && !pool->lost; writes++)
        c->pieces[writes] = copy_pieces(pool, c->pieces[writes], i, &c->last_piece[writes]);
    if (pool->lost)
        bank_begin(&slice->view, c, banks); /* the run ends: nothing is half a copy */
}

void banks_part(struct kb_sim *s, struct bank_slice *slice)
{
    struct bank_pool *pool = &s->banks->pool;

    slice->channels[0].alike = 1;
    for (uint32_t i = 1; i < bank_channels(slice->view.row) && !pool->lost; i++)
        copy_channel(slice, pool, i);
    slice->together = BANKS_APART;
    for (uint32_t i = 1; slice->busy[0] & 1 && i < bank_channels(slice->view.row); i++)
        slice->busy[i / 64] |= UINT64_C(1) << i % 64;
}

/* ------------------------------------------------------------------------------------------- */

void banks_finish(const struct kb_sim *s)
{
    for (uint32_t i = 0; s->banks && i < s->banks->n_slices; i++) {
        struct bank_slice *slice = s->banks->slices[i];

        for (uint32_t k = 0; k < banks_kept(slice); k++)
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

    struct banks *b = s->banks;

    if (!b)
        return;
    if (__builtin_expect(b->behind != NULL, false))
        b->behind->offsets[slot] = offset;
    b->accesses[slot].range = cost_range(s->topo, txn->dst, offset, txn->nbytes);
    if (__builtin_expect(b->accesses[slot].tile != NULL, false)) {
        bank_tile_free(b->accesses[slot].tile);
        b->accesses[slot].tile = NULL;
    }
}

void banks_place_tile(struct kb_sim *s, uint32_t slot, struct bank_tile *tile)
{
    bank_access_tile(&s->banks->accesses[slot], tile);
}
