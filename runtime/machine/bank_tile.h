/*
 * bank_tile.h -- the segments of a tile in a slice with banks.
 *
 * All bursts of the tile that lie in one row of one bank are one segment, wherever they stand in
 * it; a burst that neighbours share is one. Segments are in order of their first bursts.
 *
 * Example (hand): bursts of row 0, row 1 and row 0 of one bank are two segments, of two bursts and
 * of one. As three reads row 0 would be closed, or the third would pass the second.
 */
#ifndef BANK_TILE_H
#define BANK_TILE_H
#include "machine/bank_map.h"

struct bank_tile_segment {
    uint64_t burst; /* the first */
    uint32_t n;     /* bursts */
    uint32_t next;  /* of its channel; as many as there are: there is none */
    bool first;     /* of its channel */
};

struct bank_tile {
    uint32_t n, cap;
    uint64_t last;                /* burst that was added; UINT64_MAX: none was */
    struct bank_tile_segment *of; /* owned */
    uint32_t *places;             /* owned, while it is made: by a hash of rows, number + 1 */
    uint32_t n_places;
};

/* An empty one. NULL without memory. */
struct bank_tile *bank_tile_new(void);
void bank_tile_free(struct bank_tile *tile);

/* Adds the bursts of a piece. False without memory. */
bool bank_tile_add(struct bank_tile *tile, const struct bank_row *row, struct bank_range piece);

/* All pieces are in it. */
void bank_tile_end(struct bank_tile *tile, const struct bank_row *row);

#endif
