/*
 * cache_row.c -- caches, of a memory (`cube.hbm.cache`) and of a cube (`cube.l2`): their numbers.
 *
 * A slice with a cache is two memories. What comes to it comes to the cache: that is the memory_row
 * `hbm` of its kind, with the latency and the bandwidth of the cache. What stands behind is the row
 * `cached`. An L2 is a memory of its cube, the row `l2`.
 */
#include "cache_row.h"
#include "check.h"
#include "nodes.h"
#include <math.h>

static struct cache_row row_of(const struct cache_keys *keys)
{
    return (struct cache_row){
        .sets = cache_sets(keys),
        .ways = (uint32_t)keys->ways,
        .line_bits = (uint8_t)__builtin_ctzll((uint64_t)keys->line),
        .policy = (uint8_t)keys->policy,
        .write = (uint8_t)keys->write,
        .mshrs = (uint32_t)keys->mshrs,
    };
}

void cache_add(const struct spec *s, struct kb_topology *t, struct kind_row *kind)
{
    const struct cache_keys keys = cache_of_memory(s);

    if (keys.size_mb <= 0)
        return;
    kind->cached = kind->hbm;
    kind->cache = row_of(&keys);
    kind->hbm.model = MEMORY_CACHE;
    kind->hbm.hold = HOLD_OWN;
    kind->hbm.behind = kind->cached.model;
    if (t->banked)
        t->banked = BANKED_BEHIND;
    kind->hbm.overhead_fs = 0;
    kind->hbm.latency_fs = fs_of_ns(s->cube_hbm_cache_latency_ns);
    kind->hbm.bare_gbs = hbm_edge_gbs(s);
    kind->hbm.access_bytes = 0;
    if (s->cube_hbm_cache_bw_gbs > 0)
        kind->hbm.own_gbs = s->cube_hbm_cache_bw_gbs;
}

void l2_add(const struct spec *s, int64_t wire_fs, struct kind_row *kind)
{
    const struct cache_keys keys = cache_of_cube(s);

    if (!has_l2(s))
        return;
    kind->l2_cache = row_of(&keys);
    kind->l2_cache.at_launch = (uint8_t)s->cube_l2_at_launch;
    kind->l2 = (struct memory_row){
        .gbs = l2_pe_gbs(s),
        .nbytes = (uint64_t)(keys.line * keys.ways) * kind->l2_cache.sets,
        .wire_fs = wire_fs,
        .latency_fs = fs_of_ns(s->cube_l2_latency_ns),
        .own_gbs = s->cube_l2_bw_gbs > 0 ? s->cube_l2_bw_gbs : l2_pe_gbs(s),
        .edge_gbs = l2_pe_gbs(s),
        .bare_gbs = INFINITY,
        .hold = HOLD_OWN,
        .model = MEMORY_CACHE,
    };
}

/* Lines of all caches of a cube. */
static uint64_t lines_of(const struct spec *s)
{
    const struct cache_keys memory = cache_of_memory(s), l2 = cache_of_cube(s);
    uint64_t lines = 0;

    if (memory.size_mb > 0)
        lines += cache_sets(&memory) * (uint64_t)memory.ways * (uint64_t)slices_of(s);
    if (l2.size_mb > 0)
        lines += cache_sets(&l2) * (uint64_t)l2.ways;
    return lines;
}

bool caches_fit(const struct spec *spec, const struct cubes *cubes)
{
    enum key blamed =
        spec->cube_hbm_cache_size_mb > 0 ? KEY_cube_hbm_cache_size_mb : KEY_cube_l2_size_mb;
    uint64_t lines = 0;

    for (uint32_t i = 0; i < cubes->n; i++) {
        if (cubes->there[i])
            lines += lines_of(cubes->kinds[cubes->kind[i]]);
    }
    return lines <= CACHE_LINES_MAX ||
           diag_error(spec->diag, spec_place(spec, blamed),
                      "all caches together have %llu lines, more than %d: larger lines, or "
                      "smaller caches",
                      (unsigned long long)lines, CACHE_LINES_MAX);
}
