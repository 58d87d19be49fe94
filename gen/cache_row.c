/*
 * cache_row.c -- a cache of a memory (`cube.hbm.cache`): its numbers.
 *
 * A slice with a cache is two memories. What comes to it comes to the cache: that is the memory_row
 * `hbm` of its kind, with the latency and the bandwidth of the cache. What stands behind is the row
 * `cached`.
 */
#include "cache_row.h"
#include "check.h"
#include "nodes.h"

void cache_add(const struct spec *s, struct kind_row *kind)
{
    if (s->cube_hbm_cache_size_mb <= 0)
        return;
    kind->cached = kind->hbm;
    kind->cache = (struct cache_row){
        .sets = cache_sets(s),
        .ways = (uint32_t)s->cube_hbm_cache_ways,
        .line_bits = (uint8_t)__builtin_ctzll((uint64_t)s->cube_hbm_cache_line),
        .policy = (uint8_t)s->cube_hbm_cache_policy,
        .write = (uint8_t)s->cube_hbm_cache_write,
        .mshrs = (uint32_t)s->cube_hbm_cache_mshrs,
    };
    kind->hbm.model = MEMORY_CACHE;
    kind->hbm.behind = kind->cached.model;
    kind->hbm.overhead_fs = 0;
    kind->hbm.latency_fs = fs_of_ns(s->cube_hbm_cache_latency_ns);
    kind->hbm.bare_gbs = hbm_edge_gbs(s);
    kind->hbm.access_bytes = 0;
    if (s->cube_hbm_cache_bw_gbs > 0)
        kind->hbm.own_gbs = s->cube_hbm_cache_bw_gbs;
}

bool caches_fit(const struct spec *spec, const struct cubes *cubes)
{
    uint64_t lines = 0;

    for (uint32_t i = 0; i < cubes->n; i++) {
        const struct spec *of = cubes->kinds[cubes->kind[i]];

        if (cubes->there[i] && of->cube_hbm_cache_size_mb > 0)
            lines += cache_sets(of) * (uint64_t)of->cube_hbm_cache_ways * (uint64_t)slices_of(of);
    }
    return lines <= CACHE_LINES_MAX ||
           diag_error(spec->diag, spec_place(spec, KEY_cube_hbm_cache_size_mb),
                      "the caches of all slices have %llu lines, more than %d: larger lines, or "
                      "smaller caches",
                      (unsigned long long)lines, CACHE_LINES_MAX);
}
