/* caches.h -- caches of memories (`cube.hbm.cache`) and of cubes (`cube.l2`): struct memory_server,
 * and what others ask. */
#ifndef NETWORK_CACHES_H
#define NETWORK_CACHES_H
#include "engine/state.h"
#include "machine/cache_tags.h"
#include "machine/pieces.h"
#include "network/fills.h"
#include <stdlib.h>

/* What was found there waits for the end of a child: `lines` of the transaction in `slot`; 0: it is
 * a child of its own. */
struct wait_for_child {
    uint32_t number, slot, lines;
};

/* A slice with a cache, or an L2. */
struct cache {
    struct cache_tags tags;
    struct cache_counts counts;
    struct link_station server, memory; /* the cache, and what is behind it */
    struct fills fills;
    uint64_t n_children, child_bytes;
    double gbs;
    uint64_t access; /* blocks that the memory behind moves */
    bool is_l2;
    bool lists; /* what is behind asks where bytes lie */
    /* An L2, or before banks: its children are under way, and what waits for them. */
    struct txn_list waiting;      /* its server waits with the first one */
    struct wait_for_child *waits; /* owned */
    uint32_t n_waits, waits_room;
};

/* Of a transaction. */
struct cached {
    uint64_t offset;       /* where its bytes lie in its slice; at an L2 their global address */
    struct pieces *pieces; /* owned; of a tile; NULL: its bytes lie together */
    int64_t start_fs;      /* the lines were looked up; 0 before */
    int64_t pending_fs;    /* of its end: by which a child of another one ends it later */
    /* What is known of its end, and what is not. */
    uint32_t left;     /* children, its own and others', that it waits for */
    uint32_t fill;     /* of a child: its number, 0: nothing waits for it */
    int64_t ready_fs;  /* s + latency */
    int64_t done_fs;   /* it is done no earlier, by its drain and by its own children; */
    int64_t first_fs;  /* the first data of these come then, NOT_YET: there are none; */
    int64_t others_fs; /* by children of others */
    uint64_t asked;    /* of its bytes, those that were missing */
};

struct caches {
    struct cache **by_memory; /* owned, as what they point to; [dst_pack()]; NULL: not come to */
    struct cached *rows;      /* owned; [slot] */
    /* Owned; what a lookup has to read, and to write; of an L2 by addresses. */
    struct pieces *missing, *written;
    struct pieces *cut; /* owned; behind routers: of a packet of a tile */
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

/* All caches have the lines that those of `from` have. */
void caches_warm(struct kb_sim *s, const struct kb_sim *from);

/* The transactions that wait for the server of `c` go on, if they can. */
void caches_go_on(struct kb_sim *s, struct cache *c);

/* Does `txn`, no stage inside a PE, go to a slice with a cache? */
static inline bool caches_have(const struct kb_sim *s, const struct txn *txn)
{
    return s->caches && cost_memory(s->topo, txn->dst, false)->model == MEMORY_CACHE;
}

#endif
