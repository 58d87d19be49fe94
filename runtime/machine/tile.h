/*
 * tile.h -- a tile: runs of bytes that one transaction moves, with gaps between them.
 *
 * Its runs are in an order of their own, that of their rows or of a list, and may lie anywhere. Two
 * neighbours of which the second begins where the first ends are one.
 *
 * Example: 64 rows of 128 bytes, 32 KiB apart, are {n 64, run 128, rank 1, dim 64, stride 32768}.
 */
#ifndef TILE_H
#define TILE_H
#include "kernbench.h"

/* Contiguous bytes; `at` counts from where the transaction begins, or in a list is an address. */
struct run {
    uint64_t at, nbytes;
    uint32_t area; /* in a list: where they are kept, machine/address.h */
};

struct tile {
    const struct run *list; /* borrowed; its runs; NULL: they are regular, each of `run` bytes */
    uint64_t run;
    uint32_t n; /* runs; below 2: the transaction is one run, and nothing else is set */
    uint32_t
        rank; /* of those that are regular: extents and strides in bytes, the last runs first */
    uint32_t dim[KB_RANK_MAX];
    int64_t stride[KB_RANK_MAX];
};

enum { TILE_RUNS_MAX = 1 << 20 };

/* `rows` rows of `nbytes` in all, `stride` apart. */
static inline struct tile tile_of_rows(uint32_t rows, uint64_t nbytes, uint64_t stride)
{
    if (rows < 2 || stride == nbytes / rows)
        return (struct tile){0};
    return (struct tile){
        .run = nbytes / rows, .n = rows, .rank = 1, .dim = {rows}, .stride = {(int64_t)stride}};
}

static inline struct run tile_run(const struct tile *tile, uint32_t i)
{
    struct run run = {.nbytes = tile->run};

    if (tile->list)
        return tile->list[i];
    for (uint32_t k = tile->rank; k-- > 0; i /= tile->dim[k])
        run.at += (uint64_t)(tile->stride[k] * (i % tile->dim[k]));
    return run;
}

/* Takes the run that begins with number `*i`, with its neighbours that touch. */
static inline struct run tile_next(const struct tile *tile, uint32_t *i)
{
    struct run run = tile_run(tile, (*i)++);

    for (; *i < tile->n; ++*i) {
        struct run next = tile_run(tile, *i);

        if (next.at != run.at + run.nbytes)
            break;
        run.nbytes += next.nbytes;
    }
    return run;
}

#endif
