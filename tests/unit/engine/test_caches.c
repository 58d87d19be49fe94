/* test_caches.c -- a cache before a memory. Times are those of docs/model.md "A cache before a
 * memory". */
#include "base/rng.h"
#include "machine/cache_tags.h"
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>

#define ONE(cache)                                                                                 \
    "kernbench: 2\nname: caches\ncontention: {links: ideal}\nns_per_mm: 0.0\n"                     \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, noc: {bw_gbs: 256}, "                          \
    "xbar: {overhead_ns: 0, pe_gbs: 256}, pe: {pe_dma: {read_channels: 16, write_channels: 16}}, " \
    "hbm: {bw_gbs: 256, latency_ns: 100, cache: {" cache ", bw_gbs: 1024, latency_ns: 20}}}\n"
#define SMALL "size_mb: 0.000244140625, ways: 2" /* one set of two lines */
#define KIB64 "size_mb: 0.0625, ways: 4"

enum { MOST = 4 };

/* What c0.pe0 does with c0.slice0, and when that ends. */
struct access {
    kb_transaction_op op;
    double issue_ns;
    uint64_t offset, nbytes;
    double done_ns;
};

struct cached_run {
    const char *yaml;
    struct access of[MOST + 1];
};

static const struct cached_run runs[] = {
    {ONE(KIB64),
     {{KB_READ, 0, 0, 4096, 136},
      {KB_READ, 1, 0, 4096, 136},
      {KB_READ, 1000, 0, 4096, 1036},
      {KB_READ, 2000, 2048, 4096, 2128}}},
    {ONE(SMALL),
     {{KB_WRITE, 0, 0, 128, 20.5},
      {KB_WRITE, 0, 128, 128, 20.625},
      {KB_READ, 0, 256, 128, 120.75}}},
    {ONE(SMALL), {{KB_READ, 0, 0, 512, 122}, {KB_READ, 1000, 0, 512, 1122}}},
    {ONE(KIB64 ", write: through"), {{KB_WRITE, 0, 0, 4096, 36}, {KB_READ, 1, 0, 4096, 152}}},
    {ONE(KIB64), {{KB_WRITE, 0, 0, 64, 20.25}, {KB_READ, 0, 0, 128, 20.5625}}},
    {ONE(KIB64),
     {{KB_READ, 0, 0, 128, 120.5},
      {KB_READ, 0, 4096, 128, 121},
      {KB_READ, 0, 8192, 128, 121.5},
      {KB_READ, 0, 12288, 128, 122}}},
    {ONE(KIB64 ", mshrs: 1"),
     {{KB_READ, 0, 0, 128, 120.5},
      {KB_READ, 0, 4096, 128, 241},
      {KB_READ, 0, 8192, 128, 361.5},
      {KB_READ, 0, 12288, 128, 482}}},
    {ONE(KIB64 ", mshrs: 2"),
     {{KB_READ, 0, 0, 128, 120.5},
      {KB_READ, 0, 4096, 128, 121},
      {KB_READ, 0, 8192, 128, 241},
      {KB_READ, 0, 12288, 128, 241.5}}},
};

static uint64_t run_by(const kb_topology *topo, kb_options options, const struct access *of)
{
    kb_sim *s = new_sim(topo, options);
    uint64_t fingerprint;
    kb_result r;

    for (const struct access *a = of; a->nbytes; a++) {
        kb_transaction x = {.op = a->op,
                            .issue_fs = llround(a->issue_ns * 1e6),
                            .src = end_of(topo, "c0.pe0"),
                            .dst = end_of(topo, "c0.slice0"),
                            .offset = a->offset,
                            .nbytes = a->nbytes};

        add(s, &x);
    }
    run_all(s);
    for (const struct access *a = of; a->nbytes; a++) {
        r = result_of(s, (uint64_t)(a - of));
        assert_int_equal(r.done_fs, llround(a->done_ns * 1e6));
    }
    fingerprint = options.fingerprint ? kb_sim_fingerprint(s) : 0;
    kb_sim_free(s);
    return fingerprint;
}

static void goldens_by_all_engines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const kb_topology *topo = any_topology(runs[i].yaml);
        uint64_t hop = run_by(topo, (kb_options){.engine = KB_HOP, .fingerprint = 1}, runs[i].of);

        run_by(topo, (kb_options){0}, runs[i].of);
        assert_true(run_by(topo, (kb_options){.fingerprint = 1}, runs[i].of) == hop);
        any_topology_free(topo);
    }
}

/* -- lines, without times ------------------------------------------------------------------------ */

enum { LINES_MOST = 64, ACCESSES = 200000 };

/* A plain list: the line that was touched last stands first. */
struct plain {
    struct {
        uint64_t number;
        uint32_t way;
        bool dirty;
    } of[LINES_MOST];
    size_t n;
    uint64_t came_in, hits, evictions, written_back;
};

static void to_front(struct plain *l, size_t i)
{
    for (; i > 0; i--) {
        __typeof__(l->of[0]) other = l->of[i];

        l->of[i] = l->of[i - 1];
        l->of[i - 1] = other;
    }
}

static bool way_is_taken(const struct plain *l, const struct cache_row *row, uint64_t set,
                         uint32_t way)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->of[i].number % row->sets == set && l->of[i].way == way)
            return true;
    return false;
}

/* Which of the list has to go for a line of `set`; LINES_MOST: none. */
static size_t victim(const struct plain *l, const struct cache_row *row, uint64_t set)
{
    uint32_t way = (uint32_t)(rng_mix(l->came_in) % row->ways), n = 0;
    size_t oldest = LINES_MOST, chosen = LINES_MOST;

    for (size_t i = 0; i < l->n; i++) {
        if (l->of[i].number % row->sets != set)
            continue;
        n++;
        oldest = i;
        if (l->of[i].way == way)
            chosen = i;
    }
    return n < row->ways ? LINES_MOST : row->policy == DROPS_OLDEST ? oldest : chosen;
}

static void touch_plain(struct plain *l, const struct cache_row *row, uint64_t number, bool writes)
{
    uint64_t set = number % row->sets;
    uint32_t way = 0;
    size_t i = 0;

    while (i < l->n && l->of[i].number != number)
        i++;
    if (i < l->n) {
        l->hits++;
        l->of[i].dirty |= writes;
        to_front(l, i);
        return;
    }
    i = victim(l, row, set);
    if (i < LINES_MOST) {
        way = l->of[i].way;
        l->evictions++;
        l->written_back += l->of[i].dirty;
    } else {
        while (way_is_taken(l, row, set, way))
            way++;
        i = l->n++;
    }
    l->came_in++;
    l->of[i].number = number;
    l->of[i].way = way;
    l->of[i].dirty = writes;
    to_front(l, i);
}

/* What the cache does with the same line. */
static void touch_tags(struct cache_tags *tags, struct cache_counts *counts, uint64_t number,
                       bool writes)
{
    struct cache_line *line = cache_tags_find(tags, number), dropped;

    counts->hits += line != NULL;
    if (!line) {
        line = cache_tags_bring_in(tags, number, &dropped);
        counts->evictions += dropped.tag != 0;
        counts->written_back += dropped.tag && dropped.dirty;
    }
    line->dirty |= writes;
}

/* docs/model.md "A cache before a memory": hits and misses one by one; KB_ACCESSES=10000000 is a
 * minute. */
static void hits_are_those_of_a_plain_list(void **state)
{
    const char *text = getenv("KB_ACCESSES");
    uint64_t n = text ? strtoull(text, NULL, 10) : ACCESSES;

    (void)state;
    for (uint32_t k = 0; k < 8; k++) {
        struct cache_row row = {.sets = 1 + k, .ways = 1 + 7 * k % 8, .policy = k & 1};
        struct rng rng = {{1 + k, 2, 3, 4}};
        struct cache_counts counts = {0};
        struct plain plain = {0};
        struct cache_tags tags;

        assert_true(cache_tags_begin(&tags, &row));
        for (uint64_t i = 0; i < n / 8; i++) {
            uint64_t drawn = rng_next(&rng), number = (drawn >> 8) % (3 * row.sets * row.ways);
            bool writes = drawn & 1;

            touch_tags(&tags, &counts, number, writes);
            touch_plain(&plain, &row, number, writes);
            assert_true(counts.hits == plain.hits && counts.evictions == plain.evictions &&
                        counts.written_back == plain.written_back);
        }
        assert_true(counts.hits > 0 && counts.written_back > 0);
        cache_tags_free(&tags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(goldens_by_all_engines),
                                       cmocka_unit_test(hits_are_those_of_a_plain_list)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
