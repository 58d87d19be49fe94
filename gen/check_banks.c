/*
 * check_banks.c -- mistakes in the keys of an HBM with banks, or with caches.
 *
 * Sizes must be powers of two wherever they stand, so that an address has bits for each. Timings
 * are held against each other only where banks use them (`model: banks`).
 *
 * A refresh keeps all banks for rp + rfc, and a row that was open is open for ras from then on. If
 * the next refresh came before that, none of them would ever be late enough to be served in
 * between: so refi must be longer.
 */
#include "cache_row.h"
#include "check.h"
#include "machine/tables.h"
#include "value.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static void check_size(const struct spec *spec, enum key k)
{
    int64_t n = *(const int64_t *)spec_value(spec, k);

    if (!check_is_bad(spec, k) && !check_is_power_of_two(n))
        diag_error(spec->diag, spec_place(spec, k), "'%s' must be a power of two, not '%lld'",
                   key_rows[k].path, (long long)n);
}

static void check_sizes(const struct spec *spec)
{
    static const enum key sizes[] = {KEY_cube_hbm_channels, KEY_cube_hbm_burst_bytes,
                                     KEY_cube_hbm_ranks,    KEY_cube_hbm_groups,
                                     KEY_cube_hbm_banks,    KEY_cube_hbm_columns};
    static const enum key banks[] = {KEY_cube_hbm_ranks, KEY_cube_hbm_groups, KEY_cube_hbm_banks};
    enum key blamed = culprit(spec, banks, LENGTH(banks));
    long long n = spec->cube_hbm_ranks * spec->cube_hbm_groups * spec->cube_hbm_banks;

    for (size_t i = 0; i < LENGTH(sizes); i++)
        check_size(spec, sizes[i]);
    if (blamed != N_KEYS && n > BANKS_MAX)
        diag_error(
            spec->diag, spec_place(spec, blamed),
            "%s'cube.hbm.groups' x 'cube.hbm.banks' are %lld banks of a channel, more than %d",
            spec->cube_hbm_ranks > 1 ? "'cube.hbm.ranks' x " : "", n, BANKS_MAX);
}

/* `hold` says how a server is held. */
static void check_hold(const struct spec *spec)
{
    if (check_is_given(spec, KEY_cube_hbm_hold) && !check_is_bad(spec, KEY_cube_hbm_hold))
        diag_error(spec->diag, spec_place(spec, KEY_cube_hbm_hold),
                   "'cube.hbm.hold' is of 'model: server': banks are held by their timings, leave "
                   "it out");
}

/* A component stands for the whole memory, unless it is in front of it. */
static void check_impl(const struct spec *spec)
{
    static const enum key keys[] = {KEY_cube_hbm_impl, KEY_cube_hbm_model};
    enum key blamed = culprit(spec, keys, LENGTH(keys));

    if (blamed != N_KEYS && spec->cube_hbm_impl.name && !spec->cube_hbm_impl.front)
        diag_error(
            spec->diag, spec_place(spec, blamed),
            "'cube.hbm.impl' %s is beside 'model: banks': a component is a memory of its own, "
            "leave one of them out, or write [%s, builtin]",
            spec->cube_hbm_impl.name, spec->cube_hbm_impl.name);
}

static double ns(const struct spec *spec, enum key k)
{
    return *(const double *)spec_value(spec, k);
}

/* A row is open for as long as it takes to open it. */
static void check_ras(const struct spec *spec)
{
    static const enum key keys[] = {KEY_cube_hbm_timing_ns_ras, KEY_cube_hbm_timing_ns_rcd};
    enum key blamed = culprit(spec, keys, LENGTH(keys));

    if (blamed != N_KEYS && ns(spec, keys[0]) < ns(spec, keys[1]))
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.hbm.timing_ns.ras' %s is less than rcd, %s: a row is open for as long as "
                   "it takes to open it",
                   value_text(spec, keys[0]), value_text(spec, keys[1]));
}

static void check_refresh(const struct spec *spec)
{
    static const enum key keys[] = {KEY_cube_hbm_timing_ns_refi, KEY_cube_hbm_timing_ns_rfc,
                                    KEY_cube_hbm_timing_ns_rp, KEY_cube_hbm_timing_ns_ras};
    enum key blamed = culprit(spec, keys, LENGTH(keys));
    double taken = ns(spec, KEY_cube_hbm_timing_ns_rfc) + ns(spec, KEY_cube_hbm_timing_ns_rp) +
                   ns(spec, KEY_cube_hbm_timing_ns_ras);

    if (blamed != N_KEYS && spec->cube_hbm_refresh == REFRESH_ALL &&
        !check_is_bad(spec, KEY_cube_hbm_refresh) && ns(spec, KEY_cube_hbm_timing_ns_refi) <= taken)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.hbm.timing_ns.refi' %s must be more than rp + rfc + ras, which is %s: "
                   "nothing could be served between two refreshes",
                   value_text(spec, KEY_cube_hbm_timing_ns_refi),
                   value_real_text(spec->arena, taken));
}

void check_banks(const struct spec *spec)
{
    check_sizes(spec);
    if (spec->cube_hbm_model != MEMORY_BANKS || check_is_bad(spec, KEY_cube_hbm_model))
        return;
    check_hold(spec);
    check_impl(spec);
    check_ras(spec);
    check_refresh(spec);
}

void check_no_banks(const struct spec *spec)
{
    static const enum key keys[] = {KEY_cube_hbm_bank_queue, KEY_cube_hbm_ranks,
                                    KEY_cube_hbm_timing_ns_ccd_l, KEY_cube_hbm_timing_ns_rtrs};

    if (spec->cube_hbm_model == MEMORY_BANKS || check_is_bad(spec, KEY_cube_hbm_model))
        return;
    for (size_t i = 0; i < LENGTH(keys); i++) {
        const char *text = "'%s' is of 'model: banks': without banks it changes nothing";

        if (!check_is_given(spec, keys[i]) || check_is_bad(spec, keys[i]) ||
            spec_is_default(spec, keys[i]))
            continue;
        if (spec->kernbench >= 3)
            diag_error(spec->diag, spec_place(spec, keys[i]), text, key_rows[keys[i]].path);
        else
            diag_warning(spec->diag, spec_place(spec, keys[i]), text, key_rows[keys[i]].path);
    }
}

/* -- caches --------------------------------------------------------------------------------- */

/* The keys of a cache. */
struct cache_places {
    const char *name;
    enum key size_mb, line, ways;
};

static const struct cache_places of_memory = {"cube.hbm.cache", KEY_cube_hbm_cache_size_mb,
                                              KEY_cube_hbm_cache_line, KEY_cube_hbm_cache_ways};
static const struct cache_places of_cube = {"cube.l2", KEY_cube_l2_size_mb, KEY_cube_l2_line,
                                            KEY_cube_l2_ways};

static void check_cache_shape(const struct spec *spec, const struct cache_places *cache,
                              const struct cache_keys *is)
{
    const enum key keys[] = {cache->size_mb, cache->line, cache->ways};
    enum key blamed = culprit(spec, keys, sizeof keys / sizeof *keys);

    if (!check_is_bad(spec, cache->line) && !check_is_power_of_two(is->line))
        diag_error(spec->diag, spec_place(spec, cache->line),
                   "'%s' must be a power of two, not '%lld'", key_rows[cache->line].path,
                   (long long)is->line);
    else if (blamed != N_KEYS && cache_sets(is) == 0)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'%s' is smaller than one set, which has 'ways' x 'line' = %lld bytes",
                   cache->name, (long long)(is->ways * is->line));
}

/* What a cache does not go with: `key` is blamed, or what makes the cache. */
static void refuse_beside(const struct spec *spec, const struct cache_places *cache, enum key key,
                          bool is_there, const char *text)
{
    const enum key keys[] = {key, cache->size_mb};
    enum key blamed = culprit(spec, keys, 2);

    if (is_there && blamed != N_KEYS)
        diag_error(spec->diag, spec_place(spec, blamed), "'%s' %s", cache->name, text);
}

/* Of each cache. */
static bool check_any_cache(const struct spec *spec, const struct cache_places *cache,
                            const struct cache_keys *is)
{
    if (check_is_bad(spec, cache->size_mb) || is->size_mb <= 0)
        return false;
    check_cache_shape(spec, cache, is);
    return true;
}

void check_cache(const struct spec *spec)
{
    const struct cache_keys is = cache_of_memory(spec);

    if (!check_any_cache(spec, &of_memory, &is))
        return;
    refuse_beside(
        spec, &of_memory, KEY_cube_hbm_hold,
        spec->cube_hbm_model == MEMORY_SERVER && !spec->cube_hbm_impl.name &&
            spec->cube_hbm_hold == HOLD_ROUTE,
        "wants 'cube.hbm.hold: own': what the memory behind it moves does not hold it for the "
        "drain of a route");
    refuse_beside(spec, &of_memory, KEY_contention_links,
                  spec->contention_links == MODE_ROUTER &&
                      (spec->cube_hbm_model != MEMORY_SERVER || spec->cube_hbm_impl.name),
                  "before banks or a component wants 'contention.links: ideal' or 'fifo': it is "
                  "not built behind routers");
    refuse_beside(spec, &of_memory, KEY_cube_hbm_impl, spec->cube_hbm_impl.front,
                  "is before 'cube.hbm.impl: [NAME, builtin]': a component in front of a memory "
                  "has no cache before it");
    refuse_beside(spec, &of_memory, KEY_cube_hbm_cache_mshrs,
                  spec->cube_hbm_cache_mshrs > 0 &&
                      (spec->cube_hbm_model != MEMORY_SERVER || spec->cube_hbm_impl.name),
                  "has 'mshrs' before banks or a component: when a read from these ends need not "
                  "be known when the next one comes, leave it out");
}

void check_l2(const struct spec *spec)
{
    const struct cache_keys is = cache_of_cube(spec);

    if (!check_any_cache(spec, &of_cube, &is))
        return;
    refuse_beside(spec, &of_cube, KEY_contention_links, spec->contention_links == MODE_ROUTER,
                  "wants 'contention.links: ideal' or 'fifo': it is not built behind routers");
    refuse_beside(spec, &of_cube, KEY_addressing_granule,
                  spec->addressing_granule && spec->addressing_granule < is.line,
                  "has lines longer than 'addressing.granule': one would lie in several slices");
}
