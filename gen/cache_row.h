/* cache_row.h -- the numbers of caches, of a memory and between PEs and memories: struct cache_row.
 */
#ifndef CACHE_ROW_H
#define CACHE_ROW_H
#include "cubes.h"
#include "machine/tables.h"
#include "spec.h"

enum { CACHE_LINES_MAX = 1 << 28 }; /* of all slices */

/* The keys of a cache, by their values. */
struct cache_keys {
    double size_mb;
    int64_t line, ways, policy, write, mshrs;
};

static inline struct cache_keys cache_of_memory(const struct spec *s)
{
    return (struct cache_keys){s->cube_hbm_cache_size_mb, s->cube_hbm_cache_line,
                               s->cube_hbm_cache_ways,    s->cube_hbm_cache_policy,
                               s->cube_hbm_cache_write,   s->cube_hbm_cache_mshrs};
}

static inline struct cache_keys cache_of_cube(const struct spec *s)
{
    return (struct cache_keys){s->cube_l2_size_mb, s->cube_l2_line,  s->cube_l2_ways,
                               s->cube_l2_policy,  s->cube_l2_write, s->cube_l2_mshrs};
}

/* Whole sets of as many lines as there are ways; what is left over is not used. */
static inline uint64_t cache_sets(const struct cache_keys *keys)
{
    return (uint64_t)(keys->size_mb * (1 << 20)) / (uint64_t)(keys->line * keys->ways);
}

/* Have cubes with these keys an L2: a cache between their PEs and all slices? */
static inline bool has_l2(const struct spec *s)
{
    return s->cube_l2_size_mb > 0;
}

/* The bandwidth from a PE to its L2. */
static inline double l2_pe_gbs(const struct spec *s)
{
    return s->cube_l2_pe_gbs > 0 ? s->cube_l2_pe_gbs : s->cube_xbar_pe_gbs;
}

/* If `spec` has a cache, slices of `kind` become it, and their memory is behind it. */
void cache_add(const struct spec *spec, struct kb_topology *t, struct kind_row *kind);

/* If `spec` has an L2, cubes of `kind` have it; the edge into it takes `wire_fs`. */
void l2_add(const struct spec *spec, int64_t wire_fs, struct kind_row *kind);

/* Lines of all caches are numbered in 28 bits. False after a message: there are more. */
bool caches_fit(const struct spec *spec, const struct cubes *cubes);

#endif
