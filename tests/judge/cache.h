/* cache.h -- a cache, of a slice or an L2, and the memory behind that of a slice, by docs/model.md
 * "A cache before a memory": a plain list of lines, no shortcut. */
#ifndef JUDGE_CACHE_H
#define JUDGE_CACHE_H
#include "banks.h"

/* A request that the cache makes of its memory. */
struct judge_child {
    bool is_made;
    uint64_t part; /* its number */
    int64_t arrive_fs, end_fs;
};

/* Stretches of the memory, in order. */
struct judge_list_of_lines {
    struct judge_stretch *runs;
    uint64_t *wanted; /* of the bytes of each, those of the access */
    size_t n;
    uint64_t asked; /* all of these */
};

/* What a lookup has found: what is to be read, in order of its tickets; to be written; and the
 * children that have brought in, or will, what was there. */
struct judge_looked {
    struct judge_list_of_lines missing, back;
    size_t *found, n_found;
};

/* What becomes of an access. */
struct judge_cached {
    int64_t begin_fs, done_fs;
    struct judge_child read, write;
};

struct judge_cache;

/* Does this memory have a cache? */
bool judge_has_cache(const struct judge_topo *t, const struct judge_end *memory);

/* All lines go; those that were written count as written back. */
void judge_cache_drop(struct judge_cache *c);

/* The bandwidth from the PEs to an L2. */
double judge_l2_gbs(const struct judge_topo *t, const struct judge_end *l2);

/* An empty one. Give it back with judge_cache_free(). */
struct judge_cache *judge_cache_new(const struct judge_topo *t, const struct judge_end *slice);
void judge_cache_free(struct judge_cache *c);

/* The access comes to it at its arrive_fs, none earlier than the one before; its route has `gbs`.
 */
struct judge_cached judge_cache_arrive(struct judge_cache *c, const struct judge_access *access,
                                       double gbs, bool *too_late);

/*
 * The same, step by step. An access takes its turn; false: that is not known yet, as its turn waits
 * for a child. Its lines are looked up, each missing one with the next ticket; a child reads for a
 * ticket. A line was found that `child` has brought in: when that ends, INT64_MAX: it is not known.
 */
bool judge_cache_begin(struct judge_cache *c, const struct judge_access *a, int64_t *begin_fs,
                       int64_t *ready_fs, bool *too_late);
void judge_cache_look(struct judge_cache *c, const struct judge_access *a, struct judge_looked *l);
void judge_looked_clear(struct judge_looked *l);
size_t judge_cache_tickets(const struct judge_cache *c);
void judge_cache_reads_for(struct judge_cache *c, size_t ticket, size_t child);
size_t judge_cache_add_child(struct judge_cache *c, int64_t end_fs);
void judge_cache_child_ends(struct judge_cache *c, size_t child, int64_t end_fs);
int64_t judge_cache_child_end(const struct judge_cache *c, size_t child);
int64_t judge_cache_found(struct judge_cache *c, size_t child, int64_t ready_fs);
bool judge_cache_misses(const struct judge_cache *c, const struct judge_access *a);

/* Numbers of children, and what stands for an id and a part in the fingerprint. */
uint64_t judge_child_part(uint64_t part, uint64_t k, bool write);
uint64_t judge_record_number(uint64_t id, uint64_t part);

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
 * `end_fs`; `asked` is what was asked of that, NULL: the cache knows. */
void judge_cache_add_uses(const struct judge_cache *c, int64_t end_fs,
                          const struct judge_use *asked, struct judge_use **uses, size_t *n);

/* The splitmix64 of a number: how ids of children, and ways at random, are made. */
uint64_t judge_mix(uint64_t x);
#endif
