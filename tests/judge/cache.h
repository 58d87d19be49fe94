/* cache.h -- the cache of a slice, and the memory behind it, by docs/model.md "A cache before a
 * memory": a plain list of lines, no shortcut. */
#ifndef JUDGE_CACHE_H
#define JUDGE_CACHE_H
#include "banks.h"

/* A request that the cache makes of its memory. */
struct judge_child {
    bool is_made;
    uint64_t part; /* its number */
    int64_t arrive_fs, end_fs;
};

/* What becomes of an access. */
struct judge_cached {
    int64_t begin_fs, done_fs;
    struct judge_child read, write;
};

struct judge_cache;

/* Does this memory have a cache? */
bool judge_has_cache(const struct judge_topo *t, const struct judge_end *memory);

/* An empty one. Give it back with judge_cache_free(). */
struct judge_cache *judge_cache_new(const struct judge_topo *t, const struct judge_end *slice);
void judge_cache_free(struct judge_cache *c);

/* The access comes to it at its arrive_fs, none earlier than the one before; its route has `gbs`.
 */
struct judge_cached judge_cache_arrive(struct judge_cache *c, const struct judge_access *access,
                                       double gbs, bool *too_late);

/* The step of the events of children, which are records and no more: no other has it. */
#define JUDGE_OF_A_CHILD (SIZE_MAX - 9)

/* What `now` says of children becomes events of transaction `id`; and such an event a record. */
void judge_post_children(struct judge_events *events, uint64_t id, const struct judge_cached *now);
uint64_t judge_record_child(uint64_t fingerprint, const struct judge_event *e);

/* done - arrival of an access that comes alone to an empty cache. */
int64_t judge_cache_alone_fs(const struct judge_topo *t, const struct judge_end *slice,
                             const struct judge_access *access, double gbs, bool *too_late);

/* Of the edge into a slice: of its memory, or of a cache that is faster. */
double judge_slice_gbs(const struct judge_topo *t, const struct judge_end *slice);

/* The last row of a list is the cache's: completes it, and adds the memory's behind it, until
 * `end_fs`. */
void judge_cache_add_uses(const struct judge_cache *c, int64_t end_fs, struct judge_use **uses,
                          size_t *n);

/* The splitmix64 of a number: how ids of children, and ways at random, are made. */
uint64_t judge_mix(uint64_t x);
#endif
