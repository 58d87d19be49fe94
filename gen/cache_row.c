/*
 * cache_row.c -- a cache of a memory (`cube.hbm.cache`): its numbers, and mistakes in its keys.
 *
 * A slice with a cache is two memories. What comes to it comes to the cache: that is the memory_row
 * `hbm` of its kind, with the latency and the bandwidth of the cache. What stands behind is the row
 * `cached`.
 */
#include "cache_row.h"
#include "check.h"
#include "nodes.h"

/* Whole sets of as many lines as there are ways; what is left over is not used. */
static uint64_t sets_of(const struct spec *s)
{
    return (uint64_t)(s->cube_hbm_cache_size_mb * (1 << 20)) /
           (uint64_t)(s->cube_hbm_cache_line * s->cube_hbm_cache_ways);
}

void cache_add(const struct spec *s, struct kind_row *kind)
{
    if (s->cube_hbm_cache_size_mb <= 0)
        return;
    kind->cached = kind->hbm;
    kind->cache = (struct cache_row){
        .sets = sets_of(s),
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

/* -- mistakes ------------------------------------------------------------------------------- */

static void check_shape(const struct spec *spec)
{
    static const enum key keys[] = {KEY_cube_hbm_cache_size_mb, KEY_cube_hbm_cache_line,
                                    KEY_cube_hbm_cache_ways};
    const enum key line = KEY_cube_hbm_cache_line;
    enum key blamed = culprit(spec, keys, sizeof keys / sizeof *keys);

    if (!check_is_bad(spec, line) && !check_is_power_of_two(spec->cube_hbm_cache_line))
        diag_error(spec->diag, spec_place(spec, line), "'%s' must be a power of two, not '%lld'",
                   key_rows[line].path, (long long)spec->cube_hbm_cache_line);
    else if (blamed != N_KEYS && sets_of(spec) == 0)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.hbm.cache' is smaller than one set, which has 'ways' x 'line' = %lld "
                   "bytes",
                   (long long)(spec->cube_hbm_cache_ways * spec->cube_hbm_cache_line));
}

/* What a cache does not go with: `key` is blamed, or what makes the cache. */
static void refuse(const struct spec *spec, enum key key, bool is_there, const char *text)
{
    const enum key keys[] = {key, KEY_cube_hbm_cache_size_mb};
    enum key blamed = culprit(spec, keys, 2);

    if (is_there && blamed != N_KEYS)
        diag_error(spec->diag, spec_place(spec, blamed), "%s", text);
}

void check_cache(const struct spec *spec)
{
    if (check_is_bad(spec, KEY_cube_hbm_cache_size_mb) || spec->cube_hbm_cache_size_mb <= 0)
        return;
    check_shape(spec);
    refuse(spec, KEY_contention_links, spec->contention_links == MODE_ROUTER,
           "'cube.hbm.cache' wants 'contention.links: ideal' or 'fifo': it is not built behind "
           "routers");
    refuse(spec, KEY_cube_hbm_hold,
           spec->cube_hbm_model == MEMORY_SERVER && spec->cube_hbm_hold == HOLD_ROUTE,
           "'cube.hbm.cache' wants 'cube.hbm.hold: own': what the memory behind it moves does not "
           "hold it for the drain of a route");
    refuse(spec, KEY_cube_hbm_impl, spec->cube_hbm_impl.name,
           "'cube.hbm.cache' is beside 'cube.hbm.impl': a component is a memory of its own, leave "
           "one of them out");
    refuse(spec, KEY_cube_hbm_model, spec->cube_hbm_model != MEMORY_SERVER,
           "'cube.hbm.cache' wants 'cube.hbm.model: server': it is not built before banks");
}
