/* test_tiles.c -- transactions of several rows: one part for each memory, blocks that a memory
 * moves, bursts that a bank serves together. Times are those of docs/model.md "Tiles". */
#include "support/any_topology.h"
#include "support/rig.h"
#include <math.h>

#define CUBE8(links, dma, hbm, more)                                                               \
    "kernbench: 2\nname: tiles\ncontention: {links: " links "}\n"                                  \
    "sip: {cube_mesh: {w: 4, h: 2}}\ncube: {hbm: {" hbm "}, pe: {pe_dma: {tiles: runs" dma         \
    "}}}\n" more

enum { KIB = 1024, MOST = 64 };

/* What c0.pe0 reads at 0, and when that ends. */
struct tile {
    const char *yaml, *dst; /* NULL: the addresses from 0 on */
    uint32_t rows;
    uint64_t nbytes, offset, stride;
    double end_ns, drain_ns;
};

static int64_t fs(double ns)
{
    return llround(ns * 1e6);
}

static kb_transaction tile_request(const kb_topology *topo, const struct tile *x)
{
    return (kb_transaction){.op = KB_READ,
                            .src = end_of(topo, "c0.pe0"),
                            .dst = end_of(topo, x->dst ? x->dst : "c0.slice0"),
                            .by_address = !x->dst,
                            .nbytes = x->nbytes,
                            .offset = x->offset,
                            .rows = x->rows,
                            .stride = x->stride};
}

static uint64_t run_by(const kb_topology *topo, kb_options options, const struct tile *x)
{
    kb_sim *sim = new_sim(topo, options);
    kb_transaction request = tile_request(topo, x);
    uint64_t fingerprint;
    kb_result r;

    add(sim, &request);
    run_all(sim);
    r = result_of(sim, 0);
    assert_int_equal(r.end_fs, fs(x->end_ns));
    assert_int_equal(r.formula_fs, r.end_fs);
    if (x->drain_ns > 0)
        assert_int_equal(r.drain_fs, fs(x->drain_ns));
    fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
    return fingerprint;
}

static void check(const struct tile *x)
{
    const kb_topology *topo = any_topology(x->yaml);
    uint64_t fused, hop;

    assert_non_null(topo);
    run_by(topo, (kb_options){.engine = KB_FUSED}, x);
    fused = run_by(topo, (kb_options){.engine = KB_FUSED, .fingerprint = true}, x);
    hop = run_by(topo, (kb_options){.engine = KB_HOP, .fingerprint = true}, x);
    assert_true(fused == hop);
    any_topology_free(topo);
}

#define TILE(links, dma, hbm, more, to, n_rows, bytes, apart, end, drain, ...)                     \
    check(&(struct tile){.yaml = CUBE8(links, dma, hbm, more),                                     \
                         .dst = to,                                                                \
                         .rows = n_rows,                                                           \
                         .nbytes = bytes,                                                          \
                         .stride = apart,                                                          \
                         .end_ns = end,                                                            \
                         .drain_ns = drain,                                                        \
                         __VA_ARGS__})

/* 2.085 before the slice, 8192 bytes at 256 GB/s. */
static void links_see_its_bytes(void **state)
{
    (void)state;
    TILE("fifo", "", "", "", "c0.slice0", 64, 8192, 32 * KIB, 34.085, 32);
    TILE("fifo", "", "access_bytes: 64", "", "c0.slice0", 64, 8192, 32 * KIB, 34.085, 32);
}

/* Rows of 32 bytes: 64 blocks of 64 bytes are 16 ns, of 32 bytes 8. A block that two rows share is
 * once: 64 rows of 32 bytes, 48 apart, lie in 48 blocks. */
static void a_memory_moves_blocks(void **state)
{
    (void)state;
    TILE("fifo", "", "access_bytes: 64", "", "c0.slice0", 64, 2048, 32 * KIB, 18.085, 16);
    TILE("fifo", "", "access_bytes: 64, hold: route", "", "c0.slice0", 64, 2048, 32 * KIB, 18.085,
         16);
    TILE("fifo", "", "access_bytes: 32", "", "c0.slice0", 64, 2048, 32 * KIB, 10.085, 8);
    TILE("fifo", "", "access_bytes: 64", "", "c0.slice0", 64, 2048, 48, 14.085, 12);
    /* one run is no other: 65 blocks of 64 bytes */
    TILE("fifo", "", "access_bytes: 64", "", "c0.slice0", 0, 4096, 0, 18.335, 16.25, .offset = 32);
}

static void a_pe_takes_a_time_from_run_to_run(void **state)
{
    (void)state;
    TILE("fifo", ", run_ns: 1", "", "", "c0.slice0", 64, 8192, 32 * KIB, 65.585, 63.5);
    /* rows that touch are one run */
    TILE("fifo", ", run_ns: 1", "", "", "c0.slice0", 64, 8192, 128, 34.085, 32);
}

/* Eight rows in each slice: parts of 1024 bytes end at 6.085 12.095 14.105 16.115 13.145 15.155
 * 17.165 and 19.175. */
static void each_slice_has_one_part(void **state)
{
    (void)state;
    TILE("ideal", "", "", "addressing: {granule: 4096}\n", NULL, 64, 8192, 4224, 19.175, 8);
    TILE("ideal", "", "", "addressing: {granule: 4096}\n", NULL, 64, 8192, 32 * KIB, 34.085, 32);
}

/* -- rows by themselves --------------------------------------------------------------------- */

/* When the last of as many reads as `x` has rows ends, which set out at once. */
static int64_t rows_end_fs(const struct tile *x)
{
    const kb_topology *topo = any_topology(x->yaml);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    int64_t end_fs;

    for (uint32_t i = 0; i < x->rows; i++) {
        struct tile row = *x;
        kb_transaction request;

        row.rows = 0;
        row.nbytes /= x->rows;
        row.offset += i * x->stride;
        row.stride = 0;
        request = tile_request(topo, &row);
        add(sim, &request);
    }
    run_all(sim);
    end_fs = kb_sim_end_fs(sim);
    kb_sim_free(sim);
    any_topology_free(topo);
    return end_fs;
}

static int64_t tile_ends_fs(const struct tile *x)
{
    const kb_topology *topo = any_topology(x->yaml);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    kb_transaction request = tile_request(topo, x);
    int64_t end_fs;

    add(sim, &request);
    run_all(sim);
    end_fs = kb_sim_end_fs(sim);
    kb_sim_free(sim);
    any_topology_free(topo);
    return end_fs;
}

/* Banks: 64 rows of 128 bytes that set out one after the other end no more than a way apart from
 * the tile of them. */
static void a_tile_takes_as_long_as_its_rows(void **state)
{
    const uint64_t strides[] = {8 * KIB, 32 * KIB, 64 * KIB, 256 * KIB};

    (void)state;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        struct tile x = {.yaml = CUBE8("fifo", ", read_channels: 64", "model: banks", ""),
                         .dst = "c0.slice0",
                         .rows = 64,
                         .nbytes = 8192,
                         .stride = strides[i]};
        int64_t tile_fs = tile_ends_fs(&x), rows_fs = rows_end_fs(&x);

        assert_true(llabs(tile_fs - rows_fs) <= fs(2.085));
    }
}

/* ------------------------------------------------------------------------------------------- */

static void refuses(const char *yaml, uint32_t rows, uint64_t nbytes, uint64_t stride,
                    const char *text)
{
    const kb_topology *topo = any_topology(yaml);
    kb_sim *sim = new_sim(topo, (kb_options){.engine = KB_FUSED});
    kb_transaction request = tile_request(
        topo, &(struct tile){.dst = "c0.slice0", .rows = rows, .nbytes = nbytes, .stride = stride});
    kb_error why = {""};

    assert_int_equal(kb_sim_add(sim, &request, &why), KB_BAD_REQUEST);
    if (!strstr(why.text, text))
        fail_msg("'%s' has no '%s'", why.text, text);
    kb_sim_free(sim);
    any_topology_free(topo);
}

static void wrong_rows_are_refused(void **state)
{
    const char *yaml = CUBE8("fifo", "", "", "");

    (void)state;
    refuses(yaml, 3, 64, 64, "64 bytes are not cut into 3 rows");
    refuses(yaml, 2, 128, 63, "rows of 64 bytes, 63 apart: they overlap");
    refuses(yaml, 2, 128, UINT64_C(7) << 30, "pass the end of c0.slice0");
    refuses(yaml, 3, 192, UINT64_MAX / 2, "pass the end of all memories");
    refuses("kernbench: 2\nname: joined\nsip: {cube_mesh: {w: 1, h: 1}}\n", 2, 128, 128,
            "set cube.pe.pe_dma.tiles to runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_see_its_bytes),
        cmocka_unit_test(a_memory_moves_blocks),
        cmocka_unit_test(a_pe_takes_a_time_from_run_to_run),
        cmocka_unit_test(each_slice_has_one_part),
        cmocka_unit_test(a_tile_takes_as_long_as_its_rows),
        cmocka_unit_test(wrong_rows_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
