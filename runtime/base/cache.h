/* cache.h -- files that are kept for the next time, under a hash of what they were made of. */
#ifndef CACHE_H
#define CACHE_H
#include "base/provenance.h"

enum {
    CACHE_BYTES = 4096,
    CACHE_PATH_BYTES = CACHE_BYTES + 256,
    CACHE_WHY_BYTES = 2 * CACHE_BYTES
};

struct cache {
    char folder[CACHE_BYTES];
    char why[CACHE_WHY_BYTES]; /* what failed, after a call that returned false */
};

/*
 * $XDG_CACHE_HOME/kernbench, or else ~/.cache/kernbench, which is made if it is not there. False:
 * it cannot be, or others may write to it: what they put there would run as ours.
 */
bool cache_open(struct cache *c);

/* A new folder in it, where a file is made; what processes left that were killed is removed. */
bool cache_folder_new(struct cache *c, char folder[CACHE_PATH_BYTES]);

/* Removes such a folder and the files in it. */
void cache_folder_remove(const char *folder);

/*
 * The entry `name`, if it is ours, whole, and `of` is what it was made of. The part BENCH of `of`
 * does not count: in entries it is the hash of the file itself.
 */
bool cache_find(const struct cache *c, const char *name, const struct provenance *of,
                char path[CACHE_PATH_BYTES]);

/* The same of any entry whose name begins with `first`, whatever it was made of. */
bool cache_find_any(const struct cache *c, const char *first, char path[CACHE_PATH_BYTES]);

/* The record of a whole entry; false: it is none. */
bool cache_record(const char *path, struct provenance *of);

/* Makes the file `made` the entry `name`. From then on it is there whole, also after a power cut.
 */
bool cache_keep(struct cache *c, const char *made, const char *name, const struct provenance *of,
                char path[CACHE_PATH_BYTES]);

#endif
