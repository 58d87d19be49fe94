/* test_caches.c -- a cache before a memory. Times are those of docs/model.md "A cache before a
 * memory". */
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
     {{KB_WRITE, 0, 0, 128, 20.5}, {KB_WRITE, 0, 128, 128, 20.625}, {KB_READ, 0, 256, 128, 120.75}}},
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(goldens_by_all_engines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
