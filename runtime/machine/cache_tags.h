/* cache_tags.h -- the lines of one cache: which are there, and what a lookup does to them. No
 * times.
 *
 * A cache has sets of as many lines as there are ways. Line n of the memory may be in set n mod
 * sets. A lookup takes the lines of a range one after the other: one that is there becomes the
 * youngest of its set, one that is not takes the lowest empty way, or that of the oldest line. With
 * policy `random` it takes way mix(m) mod ways, m being the lines that came in before.
 *
 * Example: one set of two ways. Lines 0 and 1 are written: misses, both dirty. A read of line 2
 * drops line 0, the oldest, which has to be written back.
 */
#ifndef CACHE_TAGS_H
#define CACHE_TAGS_H
#include "machine/tables.h"

/* A line that is in the cache. */
struct cache_line {
    uint64_t tag;  /* the line's number + 1; 0: the way is empty */
    uint32_t fill; /* the read that brought it in last, by its number; 0: none did */
    bool dirty;
};

struct cache_counts {
    uint64_t hits, pending, misses, evictions, written_back;
};

struct cache_tags {
    const struct cache_row *row;
    struct cache_line *lines; /* owned; [set][way] */
    uint8_t *ages;            /* owned; [set][place]: its way, the youngest first */
    uint64_t came_in;
};

/* All ways are empty. False without memory: cache_tags_free() frees the rest. */
bool cache_tags_begin(struct cache_tags *c, const struct cache_row *row);
void cache_tags_free(struct cache_tags *c);
void cache_tags_clear(struct cache_tags *c);

/* All lines go, and it goes on. Returns how many were dirty. */
uint64_t cache_tags_drop(struct cache_tags *c);

/* The lines of `from`, a cache of the same row, and which of them are dirty; no read brought them
 * in.
 */
void cache_tags_copy(struct cache_tags *c, const struct cache_tags *from);

/* The line of number `number`, which becomes the youngest; NULL: it is not there. */
struct cache_line *cache_tags_find(struct cache_tags *c, uint64_t number);

/* Is it there? Nothing changes. */
bool cache_tags_has(const struct cache_tags *c, uint64_t number);

/* Line `number`, which is not there, comes in, and is the youngest. `dropped` is what was in its
 * way; its tag is 0: nothing. */
struct cache_line *cache_tags_bring_in(struct cache_tags *c, uint64_t number,
                                       struct cache_line *dropped);

#endif
