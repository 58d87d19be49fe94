/* test_caches.c -- a cache before a memory. Times are those of docs/model.md "A cache before a
 * memory". */
#include "base/rng.h"
#include "machine/cache_tags.h"
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>

#define ONE(cache) WITH_LINKS("ideal", cache)
#define WITH_LINKS(links, cache)                                                                   \
    "kernbench: 2\nname: caches\ncontention: {links: " links "}\nns_per_mm: 0.0\n"                 \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, noc: {bw_gbs: 256}, "                          \
    "xbar: {overhead_ns: 0, pe_gbs: 256}, pe: {pe_dma: {read_channels: 16, write_channels: 16}}, " \
    "hbm: {bw_gbs: 256, latency_ns: 100, cache: {" cache ", bw_gbs: 1024, latency_ns: 20}}}\n"
/* The same before banks, one channel of 32 GB/s: a burst takes 2 ns, a closed row 14 more. */
#define BANKED(cache)                                                                              \
    "kernbench: 2\nname: caches\ncontention: {links: ideal}\nns_per_mm: 0.0\n"                     \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, noc: {bw_gbs: 256}, "                          \
    "xbar: {overhead_ns: 0, pe_gbs: 256}, pe: {pe_dma: {read_channels: 16, write_channels: 16}}, " \
    "hbm: {bw_gbs: 32, model: banks, channels: 1, groups: 1, refresh: none, timing_ns: {ctrl: "    \
    "0}, "                                                                                         \
    "cache: {" cache ", line: 64, bw_gbs: 1024, latency_ns: 20}}}\n"
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
    /* The child of the first: ACT 20, RD 34, its burst ends at 50. Of the last one lines 0 and 2
     * are missing, of a row that is open: RD 1020 and 1022. */
    {BANKED(KIB64),
     {{KB_READ, 0, 64, 64, 50},
      {KB_READ, 10, 64, 64, 50},
      {KB_READ, 60, 64, 64, 80.25},
      {KB_READ, 1000, 0, 192, 1038}}},
    /* What is dropped, line 0, is a write behind the read of line 2, which waits for it neither
     * then nor later. */
    {BANKED("size_mb: 0.0001220703125, ways: 2"),
     {{KB_WRITE, 0, 0, 64, 20.25},
      {KB_WRITE, 0, 64, 64, 20.3125},
      {KB_READ, 0, 128, 64, 50.125},
      {KB_READ, 1000, 192, 64, 1036}}},
    /* Behind routers request and data take 1 fs each, and data set out as late as they must to end
       then. */
    {WITH_LINKS("router", KIB64),
     {{KB_READ, 0, 0, 4096, 136.000002},
      {KB_READ, 1000, 0, 4096, 1036.000002},
      {KB_READ, 2000, 2048, 4096, 2128.000002},
      {KB_WRITE, 3000, 0, 4096, 3036.000001}}},
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

/* -- an L2 ------------------------------------------------------------------------------------ */

/* The MI300X of docs/model.md "An L2": `cache` of each slice. */
#define MI300(name, links, cache)                                                                  \
    "kernbench: 3\nname: " name "\ncontention: {links: " links "}\nlinks:\n"                       \
    "  usr_h: {bw_gbs: 1500.0, latency_ns: 15.0}\n"                                                \
    "  usr_v: {bw_gbs: 1200.0, latency_ns: 15.0}\n"                                                \
    "  bond: {bw_gbs: 2150.0, latency_ns: 5.0}\nkinds:\n"                                          \
    "  iod: {pes: 0, noc: {bw_gbs: 4300.0}, hbm: {slices: 2, bw_gbs: 662.5, size_gb: 48, "         \
    "latency_ns: 300.0" cache "}}\n"                                                               \
    "  xcd: {pes: 38, hbm: {slices: 0}, noc: {bw_gbs: 2150.0}, l2: {size_mb: 4, line: 128, "       \
    "ways: 16, bw_gbs: 4300.0, pe_gbs: 134.4, latency_ns: 120.0}}\nsip:\n  cubes: 12\n  net:\n"    \
    "    - {mesh: [2, 2], of: \"c[0-3]\", link: [usr_h, usr_v]}\n"                                 \
    "    - {each: [\"c[0-3]\", \"c[4-11]\"], groups: 4, link: bond}\n"                             \
    "cubes: {\"c[0-3]\": iod, \"c[4-11]\": xcd}\naddressing: {granule: 4096, over: sip}\n"
#define OF_A_STACK                                                                                 \
    ", cache: {size_mb: 32, line: 128, ways: 16, bw_gbs: 2150.0, latency_ns: 100.0, "              \
    "policy: random}"

/* Two reads, 2000 ns apart, of so many bytes from address 0 on; how long these take. */
struct l2_run {
    const char *yaml;
    const char *src[2];
    uint64_t nbytes;
    int64_t actual_fs[2];
};

static const struct l2_run l2_runs[] = {
    {MI300("plain", "fifo", ""), {"c4.pe0", "c4.pe3"}, 4096, {459581190, 150481190}},
    {MI300("two", "ideal", ""), {"c4.pe0", "c4.pe0"}, 8192, {490057381, 180957381}},
    {MI300("mall", "fifo", OF_A_STACK), {"c4.pe0", "c4.pe0"}, 4096, {559581190, 150481190}},
    {MI300("both", "fifo", OF_A_STACK), {"c4.pe0", "c5.pe0"}, 4096, {559581190, 259581190}},
};

static uint64_t run_l2(const kb_topology *topo, kb_options options, const struct l2_run *run)
{
    kb_sim *s = new_sim(topo, options);
    uint64_t fingerprint;

    for (size_t i = 0; i < 2; i++) {
        kb_transaction x = {.op = KB_READ,
                            .issue_fs = (int64_t)i * 2000000000,
                            .src = end_of(topo, run->src[i]),
                            .by_address = true,
                            .nbytes = run->nbytes};

        add(s, &x);
    }
    run_all(s);
    for (size_t i = 0; i < 2; i++) {
        kb_result r = result_of(s, i);

        assert_int_equal(r.actual_fs, run->actual_fs[i]);
        assert_int_equal(r.formula_fs, run->actual_fs[0]);
    }
    fingerprint = options.fingerprint ? kb_sim_fingerprint(s) : 0;
    kb_sim_free(s);
    return fingerprint;
}

/* What the L2 has is there without its memory; what it lacks comes by a child for each slice. */
static void an_l2_is_cold_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof l2_runs / sizeof *l2_runs; i++) {
        const kb_topology *topo = any_topology(l2_runs[i].yaml);
        uint64_t hop = run_l2(topo, (kb_options){.engine = KB_HOP, .fingerprint = 1}, &l2_runs[i]);

        run_l2(topo, (kb_options){0}, &l2_runs[i]);
        assert_true(run_l2(topo, (kb_options){.fingerprint = 1}, &l2_runs[i]) == hop);
        any_topology_free(topo);
    }
}

/* Each point begins with an empty L2. */
static void points_of_a_sweep_are_cold(void **state)
{
    const kb_topology *topo = any_topology(l2_runs[0].yaml);

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *sim = new_sim(topo, (kb_options){.engine = (kb_engine)e});
        kb_point points[3];
        kb_point_result results[3];

        for (size_t i = 0; i < 3; i++)
            points[i] = (kb_point){.op = KB_READ,
                                   .src = end_of(topo, "c4.pe0"),
                                   .dst = end_of(topo, "c0.slice0"),
                                   .nbytes = 4096,
                                   .inflight = 1};
        assert_int_equal(kb_sweep(sim, points, 3, results, NULL, NULL), KB_OK);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(results[i].mean_fs, l2_runs[0].actual_fs[0]);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* -- lines, without times ------------------------------------------------------------------------
 */

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

/* -- streams ---------------------------------------------------------------------------------- */

#define WIDE(memory, cache)                                                                        \
    "kernbench: 2\nname: stream\ncontention: {links: ideal}\nns_per_mm: 0.0\n"                     \
    "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, noc: {bw_gbs: 100000}, "                       \
    "xbar: {overhead_ns: 0, pe_gbs: 100000}, hbm: {" memory ", cache: {" cache "}}}\n"
#define SLICE                "bw_gbs: 256, latency_ns: 100"
#define CACHE(size_mb, ways) "size_mb: " size_mb ", ways: " ways ", bw_gbs: 1024, latency_ns: 20"
#define STACK                "bw_gbs: 662.5, latency_ns: 300"
#define MALL                 "size_mb: 4, ways: 16, bw_gbs: 2150, latency_ns: 100"

/* `n` reads of 4096 bytes, as many bytes apart, all at `at_fs`. Returns when the last ends. */
static void add_pass(kb_sim *s, uint32_t n, int64_t at_fs)
{
    for (uint32_t i = 0; i < n; i++)
        add(s, &(kb_transaction){.op = KB_READ,
                                 .issue_fs = at_fs,
                                 .src = {KB_PE, 0, 0, 0},
                                 .dst = {KB_SLICE, 0, 0, 0},
                                 .offset = 4096 * (uint64_t)i,
                                 .nbytes = 4096});
}

/* How long the same bytes take twice, the second time from the end of the first on. */
static void stream(const char *yaml, uint32_t n, int64_t pass_fs[2])
{
    const kb_topology *topo = any_topology(yaml);
    const kb_options options = {.costs_off = KB_COST_CHANNELS};
    int64_t end_fs = 0;

    for (int pass = 0; pass < 2; pass++) {
        kb_sim *s = new_sim(topo, options);

        add_pass(s, n, 0);
        if (pass > 0)
            add_pass(s, n, end_fs);
        run_all(s);
        pass_fs[pass] = kb_sim_end_fs(s) - end_fs;
        end_fs = kb_sim_end_fs(s);
        kb_sim_free(s);
    }
    any_topology_free(topo);
}

static void assert_passes(const char *yaml, uint32_t n, double first_ns, double second_ns)
{
    int64_t fs[2];

    stream(yaml, n, fs);
    assert_int_equal(fs[0], llround(first_ns * 1e6));
    assert_int_equal(fs[1], llround(second_ns * 1e6));
}

/* 256 KiB in reads of 4 KiB: lru keeps nothing of what is larger than the cache. */
static void streams_through_lru_are_kept_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_passes(WIDE(SLICE, CACHE("0.0625", "4")), 64, 1144, 1144);
    assert_passes(WIDE(SLICE, CACHE("0.125", "4")), 64, 1144, 1144);
    assert_passes(WIDE(SLICE, CACHE("0.25", "4")), 64, 1144, 276);
    assert_passes(WIDE(SLICE, CACHE("0.5", "4")), 64, 1144, 276);
}

/* GB/s of the second pass over so many KiB, rounded to a whole number. */
static void assert_gbs(const char *yaml, uint32_t kib, long gbs)
{
    int64_t fs[2];

    stream(yaml, kib / 4, fs);
    assert_int_equal(llround(1024.0 * kib / ((double)fs[1] / 1e6)), gbs);
}

static void a_large_cache_gives_its_bandwidth_to_what_fits(void **state)
{
    (void)state;
    assert_gbs(WIDE(STACK, MALL), 2048, 1950);
    assert_gbs(WIDE(STACK, MALL), 3584, 2031);
    assert_gbs(WIDE(STACK, MALL), 4608, 627);
    assert_gbs(WIDE(STACK, MALL ", policy: random"), 4608, 1819);
    assert_gbs(WIDE(STACK, MALL ", policy: random"), 6144, 1119);
    assert_gbs(WIDE(STACK, MALL ", policy: random"), 8192, 819);
}

/* -- where the time goes ---------------------------------------------------------------------- */

struct by_cause {
    int64_t fs[KB_N_CAUSES];
};

static void sum_cause(void *arg, const kb_breakdown_row *row)
{
    struct by_cause *sums = arg;

    if (row->by == KB_BREAKDOWN_ALL)
        sums->fs[row->cause] += row->sum_fs;
}

/* A read of lines that another one brings in, begun behind it at the cache: 4 ns less than it waits
 * for the cache, and all of them end at 136. */
static void waits_at_a_cache_have_causes(void **state)
{
    static const char yaml[] = WIDE(SLICE, CACHE("0.0625", "4"));

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        const kb_topology *topo = any_topology(yaml);
        kb_sim *s =
            new_sim(topo, (kb_options){.engine = (kb_engine)e, .costs_off = KB_COST_CHANNELS});
        struct by_cause sums = {0};
        kb_breakdown *breakdown;

        assert_int_equal(kb_breakdown_new(s, &breakdown, NULL), KB_OK);
        add_pass(s, 1, 0);
        add_pass(s, 1, 1000000);
        run_all(s);
        assert_int_equal(result_of(s, 1).end_fs, 136000000);
        assert_int_equal(kb_breakdown_rows(breakdown, sum_cause, &sums), KB_OK);
        assert_int_equal(sums.fs[KB_CAUSE_CACHE_WAIT], 3000000);
        assert_int_equal(sums.fs[KB_CAUSE_PENDING_WAIT], 108000000); /* 136 - (4 + 20 + 4) */
        kb_breakdown_free(breakdown);
        kb_sim_free(s);
        any_topology_free(topo);
    }
}

/* A cache of 20 ns before a memory of 100, a read of 4096 bytes at 256 GB/s: without misses 20 +
 * 16, without the cache 100 + 16. A write is done in 36 behind either, and in 116 without. */
static void a_run_may_leave_out_misses_or_caches(void **state)
{
    static const struct {
        unsigned costs_off;
        kb_transaction_op op;
        double done_ns;
        const char *yaml;
    } of[] = {{KB_COST_CACHE_MISSES, KB_READ, 36, ONE(KIB64)},
              {KB_COST_CACHES, KB_READ, 116, ONE(KIB64)},
              {KB_COST_CACHES, KB_WRITE, 116, ONE(KIB64)},
              {KB_COST_CACHE_MISSES, KB_READ, 36.000002, WITH_LINKS("router", KIB64)},
              {KB_COST_CACHES, KB_READ, 116.000002, WITH_LINKS("router", KIB64)},
              {KB_COST_CACHES, KB_WRITE, 116.000001, WITH_LINKS("router", KIB64)}};

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const kb_topology *topo = any_topology(of[i].yaml);
        const struct access one[] = {{of[i].op, 0, 0, 4096, of[i].done_ns}, {0}};

        for (int e = KB_FUSED; e <= KB_HOP; e++)
            run_by(topo, (kb_options){.engine = (kb_engine)e, .costs_off = of[i].costs_off}, one);
        any_topology_free(topo);
    }
}

/* A simulation of one read of 4096 bytes that has run leaves its lines: the same read hits, and is
 * neither counted before nor recorded. */
static void a_cache_is_warm_by_what_ran_before(void **state)
{
    const kb_topology *topo = any_topology(ONE(KIB64)), *other = any_topology(ONE(SMALL));
    const struct access cold[] = {{KB_READ, 0, 0, 4096, 136}, {0}};
    kb_transaction again = {
        .src = end_of(topo, "c0.pe0"), .dst = end_of(topo, "c0.slice0"), .nbytes = 4096};
    kb_error why;

    (void)state;
    for (int e = KB_FUSED; e <= KB_HOP; e++) {
        kb_sim *before = new_sim(topo, (kb_options){0});
        kb_sim *s = new_sim(topo, (kb_options){.engine = (kb_engine)e, .fingerprint = true});
        kb_sim *far = new_sim(other, (kb_options){0});

        add(before, &again);
        run_all(before);
        assert_int_equal(kb_sim_warm(far, before, &why), KB_BAD_REQUEST);
        assert_int_equal(kb_sim_warm(s, before, &why), KB_OK);
        add(s, &again);
        run_all(s);
        assert_int_equal(result_of(s, 0).done_fs, 36000000);
        assert_int_equal(kb_sim_warm(s, before, &why), KB_BAD_REQUEST);
        kb_sim_free(far);
        kb_sim_free(s);
        kb_sim_free(before);
    }
    run_by(topo, (kb_options){0}, cold);
    any_topology_free(other);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens_by_all_engines),
        cmocka_unit_test(an_l2_is_cold_once),
        cmocka_unit_test(points_of_a_sweep_are_cold),
        cmocka_unit_test(hits_are_those_of_a_plain_list),
        cmocka_unit_test(streams_through_lru_are_kept_whole_or_not_at_all),
        cmocka_unit_test(a_large_cache_gives_its_bandwidth_to_what_fits),
        cmocka_unit_test(waits_at_a_cache_have_causes),
        cmocka_unit_test(a_run_may_leave_out_misses_or_caches),
        cmocka_unit_test(a_cache_is_warm_by_what_ran_before)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
