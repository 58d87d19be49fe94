/* caches.h -- caches of memories (`cube.hbm.cache`): struct memory_server, and what others ask. */
#ifndef NETWORK_CACHES_H
#define NETWORK_CACHES_H
#include "engine/state.h"
#include "machine/cache_tags.h"
#include "machine/pieces.h"
#include <stdlib.h>

/* Ends of the read children of a cache, by their numbers, which count from 1: of the last ones. */
struct fills {
    int64_t *ends; /* owned; a ring of `room`, a power of two, or 0 */
    uint32_t first, next, room;
};

/* A slice with a cache. */
struct cache {
    struct cache_tags tags;
    struct cache_counts counts;
    struct link_station server, memory; /* the cache, and what is behind it */
    struct fills fills;
    uint64_t n_children, child_bytes;
    double gbs;
};

/* Of a transaction. */
struct cached {
    uint64_t offset;       /* where its bytes lie in its slice */
    struct pieces *pieces; /* owned; of a tile; NULL: its bytes lie together */
    int64_t start_fs;      /* the lines were looked up; 0 before */
    int64_t pending_fs;    /* of its end: by which a child of another one ends it later */
};

struct caches {
    struct cache **by_memory; /* owned, as what they point to; [dst_pack()]; NULL: not come to */
    struct cached *rows;      /* owned; [slot] */
};

/* The bytes of the transaction in `slot` lie at `offset` of its slice. */
static inline void caches_place(struct kb_sim *s, uint32_t slot, uint64_t offset)
{
    struct cached *row = s->caches ? &s->caches->rows[slot] : NULL;

    if (!row)
        return;
    row->offset = offset;
    if (__builtin_expect(row->pieces != NULL, false)) {
        free(row->pieces);
        row->pieces = NULL;
    }
}

/* The same of a tile: `pieces` is its from now on. */
static inline void caches_place_tile(struct kb_sim *s, uint32_t slot, struct pieces *pieces)
{
    s->caches->rows[slot].pieces = pieces;
}

/* Does `txn`, no stage inside a PE, go to a slice with a cache? */
static inline bool caches_have(const struct kb_sim *s, const struct txn *txn)
{
    return s->caches && cost_memory(s->topo, txn->dst, false)->model == MEMORY_CACHE;
}

#endif
