/* cache_row.h -- the numbers of a cache of a memory: struct cache_row. */
#ifndef CACHE_ROW_H
#define CACHE_ROW_H
#include "cubes.h"
#include "machine/tables.h"
#include "spec.h"

enum { CACHE_LINES_MAX = 1 << 28 }; /* of all slices */

/* Whole sets of as many lines as there are ways; what is left over is not used. */
static inline uint64_t cache_sets(const struct spec *s)
{
    return (uint64_t)(s->cube_hbm_cache_size_mb * (1 << 20)) /
           (uint64_t)(s->cube_hbm_cache_line * s->cube_hbm_cache_ways);
}

/* If `spec` has a cache, slices of `kind` become it, and their memory is behind it. */
void cache_add(const struct spec *spec, struct kind_row *kind);

/* Lines of all caches are numbered in 28 bits. False after a message: there are more. */
bool caches_fit(const struct spec *spec, const struct cubes *cubes);

#endif
