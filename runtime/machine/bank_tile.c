/* bank_tile.c -- the segments of a tile, found by their rows. */
#include "machine/cost.h"
#include "machine/bank_tile.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST = 16 };

struct bank_tile *bank_tile_new(void)
{
    struct bank_tile *tile = calloc(1, sizeof *tile);

    if (tile)
        tile->last = UINT64_MAX;
    return tile;
}

void bank_tile_free(struct bank_tile *tile)
{
    if (!tile)
        return;
    free(tile->of);
    free(tile->places);
    free(tile);
}

/* Channel, bank and row of a burst: what is left of it without its column. */
static uint64_t row_of(const struct bank_row *row, uint64_t burst)
{
    return burst & ~(((UINT64_C(1) << row->column_bits) - 1) << row->column_at);
}

/* The place of a row: its segment's, or an empty one. */
static uint32_t *place_of(const struct bank_tile *tile, const struct bank_row *row, uint64_t burst)
{
    uint64_t key = row_of(row, burst);
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (tile->n_places - 1);

    while (tile->places[i] && row_of(row, tile->of[tile->places[i] - 1].burst) != key)
        i = (i + 1) & (tile->n_places - 1);
    return &tile->places[i];
}

/* Room for one more segment: places are two for each at least. */
static bool room(struct bank_tile *tile, const struct bank_row *row)
{
    uint32_t cap = tile->cap ? 2 * tile->cap : FIRST;
    struct bank_tile_segment *moved;

    if (tile->n < tile->cap)
        return true;
    moved = realloc(tile->of, cap * sizeof *moved);
    if (!moved)
        return false;
    tile->of = moved;
    tile->cap = cap;
    free(tile->places);
    tile->n_places = 2 * cap;
    tile->places = calloc(tile->n_places, sizeof *tile->places);
    if (!tile->places)
        return false;
    for (uint32_t i = 0; i < tile->n; i++)
        *place_of(tile, row, tile->of[i].burst) = i + 1;
    return true;
}

bool bank_tile_add(struct bank_tile *tile, const struct bank_row *row, struct bank_range piece)
{
    for (uint64_t burst = piece.at + (piece.at == tile->last); burst < piece.end; burst++) {
        uint32_t *place;

        if (!room(tile, row))
            return false;
        place = place_of(tile, row, burst);
        if (!*place) {
            tile->of[tile->n] = (struct bank_tile_segment){.burst = burst};
            *place = ++tile->n;
        }
        tile->of[*place - 1].n++;
    }
    tile->last = piece.end - 1;
    return true;
}

void bank_tile_end(struct bank_tile *tile, const struct bank_row *row)
{
    uint32_t next[BANK_CHANNELS_MAX];

    for (uint32_t i = 0; i < bank_channels(row); i++)
        next[i] = tile->n;
    for (uint32_t i = tile->n; i-- > 0;) {
        uint32_t channel = bank_channel_of(row, tile->of[i].burst);

        tile->of[i].next = next[channel];
        tile->of[i].first = true;
        if (next[channel] < tile->n)
            tile->of[next[channel]].first = false;
        next[channel] = i;
    }
    free(tile->places);
    tile->places = NULL;
    tile->n_places = 0;
}
