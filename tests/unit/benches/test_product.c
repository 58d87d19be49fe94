/* test_product.c -- gemm, a product on a grid: its time by hand, what it reads, what it refuses,
 * its results on odd shapes and machines; qkv_gemm and mlp_tp, which run the same. */
#include <kernbench.h>
#include <math.h>
#include <stdio.h>
#include "support/any_topology.h"
#include "support/rig.h"
#include "cube8.h"

extern const kb_bench bench_gemm, bench_qkv_gemm, bench_mlp_tp;

enum { WORDS_MAX = 10 };

/* "M=16 N=32" as words. */
struct words {
    char text[256];
    const char *word[WORDS_MAX];
    size_t n;
};

static void cut_words(struct words *w, const char *text)
{
    snprintf(w->text, sizeof w->text, "%s", text);
    w->n = 0;
    for (char *at = strtok(w->text, " "); at; at = strtok(NULL, " "))
        w->word[w->n++] = at;
}

static kb_bench_run *begin_of(const kb_bench *bench, const kb_topology *topo, const char *text,
                              const kb_options *options)
{
    struct words w;
    kb_bench_run *run;
    kb_error why = {""};

    cut_words(&w, text);
    if (kb_bench_new(bench, topo, options, 3, w.word, w.n, &run, &why) ||
        kb_sim_run(kb_bench_sim(run), 0, &why))
        fail_msg("%s: %s", text, why.text);
    return run;
}

static kb_bench_run *begin(const kb_topology *topo, const char *text, const kb_options *options)
{
    return begin_of(&bench_gemm, topo, text, options);
}

/* Results are right, too, which are compared with those of plain loops. */
static kb_launch_result right_of(const kb_bench *bench, const kb_topology *topo, const char *text)
{
    kb_options options = {.phase2 = true};
    kb_bench_run *run = begin_of(bench, topo, text, &options);
    kb_launch_result r;
    kb_error why = {""};
    double worst;

    assert_int_equal(kb_launch_get(kb_bench_sim(run), 0, &r), KB_OK);
    if (kb_compute(kb_bench_sim(run), NULL, &why) || kb_bench_verify(run, &worst, &why))
        fail_msg("%s: %s", text, why.text);
    if (worst > 1e-2)
        fail_msg("%s: off by %g", text, worst);
    kb_bench_free(run);
    return r;
}

static kb_launch_result right(const kb_topology *topo, const char *text)
{
    return right_of(&bench_gemm, topo, text);
}

/* -- one row ---------------------------------------------------------------------------------- */

/*
 * A cube of two PEs, one row of the grid, one step. ns after the start, commands 3 behind their
 * calls: PE 0 loads the tile of a, 512 bytes of its slice at 3 (wire 0.085, slice 2, 2 at 256 GB/s)
 * to 7.085. It has issued its write to PE 1 at 9, which ends 0.12 of wires and 4 at 128 GB/s later,
 * at 13.12. Its barrier is issued at 16.12, and lets PE 1 go at 16.24. The product there is issued
 * at 19.24, fetches 1024 bytes in 2 and takes a cycle, to 22.24; tl_acc_store, issued then, stores
 * 512 bytes in 1. The store is issued at 25.24 and ends 2.085 + 2 later. The tile of b was there at
 * 11.17: each PE has its own.
 */
static void a_row_of_two_takes_what_is_computed_by_hand(void **state)
{
    static const char *const links[] = {"fifo", "ideal"};
    char yaml[160];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const kb_topology *topo;
        kb_launch_result r;

        snprintf(yaml, sizeof yaml,
                 "kernbench: 2\nname: one\ncontention: {links: %s}\n"
                 "sip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 2}\n",
                 links[i]);
        topo = any_topology(yaml);
        r = right(topo, "M=16 N=32 K=16 GRID=1");
        assert_int_equal(r.last_end_fs - r.start_fs, 29325000);
        assert_int_equal(r.dma_read_bytes, 2 * (16 * 16 + 16 * 32));
        any_topology_free(topo);
    }
}

/* -- what is read ----------------------------------------------------------------------------- */

/* Each pass over the rows of a part reads b once, and each over its columns a: not once a PE. */
static void each_element_is_read_once_a_pass(void **state)
{
    static const struct {
        const char *text;
        uint64_t a, b; /* how often */
    } cases[] = {
        {"M=64 N=128 K=64 GRID=8", 1, 1},      {"M=64 N=128 K=64 GRID=4", 1, 1},
        {"M=64 N=128 K=64 GRID=64", 1, 1},     {"M=64 N=128 K=64 GRID=1", 1, 1},
        {"M=64 N=128 K=64 GRID=8 BN=8", 2, 1}, {"M=64 N=128 K=64 GRID=8 BM=2 BN=6 BK=7", 3, 4}};

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kb_launch_result r = right(&cube8_topology, cases[i].text);

        assert_int_equal(r.dma_read_bytes, 2 * 64 * (cases[i].a * 64 + cases[i].b * 128));
    }
}

/* Rows of a are those of the PE, and b is read once for all PEs. */
static void rows_read_the_other_operand_once(void **state)
{
    kb_launch_result r = right_of(&bench_qkv_gemm, &cube8_topology, "M=256 N=96 K=128");

    (void)state;
    assert_int_equal(r.dma_read_bytes, 2 * 128 * (256 + 96));
}

/* A grid of one PE: x and w1 are read once by each PE, the hidden columns and w2 as well. 64 PEs
 * have 2 hidden columns each. What the all_reduce reads is what it reads without hidden columns
 * that are many. */
static void a_pe_alone_reads_its_operands_once(void **state)
{
    const char *few = "M=16 N=128 K=32 algorithm=ring", *more = "M=16 N=192 K=32 algorithm=ring";
    uint64_t a = right_of(&bench_mlp_tp, &cube8_topology, few).dma_read_bytes;
    uint64_t b = right_of(&bench_mlp_tp, &cube8_topology, more).dma_read_bytes;

    (void)state;
    assert_int_equal(b - a, 64 * 2 * (32 + 16 + 32)); /* a column of w1, of hidden, a row of w2 */
}

/* 92.6 % of what the engines can do, with links that queue; where all tiles of b set out from one
 * row of the grid it is less than 90. The contract wants 85 of a product that is eight times as
 * large. */
static void engines_are_hardly_ever_idle(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: fifo\nsip: {cube_mesh: {w: 4, h: 2}}\n");
    kb_bench_run *run = begin(topo, "M=2048 N=2048 K=2048", NULL);
    kb_launch_result r;
    double peak_ns = 2048.0 * 2048 * 2048 / (64 * 16 * 16 * 16);

    (void)state;
    assert_int_equal(kb_launch_get(kb_bench_sim(run), 0, &r), KB_OK);
    assert_true(peak_ns * 1e6 > 0.90 * (double)(r.last_end_fs - r.start_fs));
    kb_bench_free(run);
    any_topology_free(topo);
}

/* -- results ---------------------------------------------------------------------------------- */

#define APART                                                                                      \
    "kernbench: 3\nname: apart\nlinks: {l: {bw_gbs: 100.0}}\n"                                     \
    "kinds: {mem: {pes: 0, hbm: {slices: 2}}, pes: {pes: 3, hbm: {slices: 0}}}\n"                  \
    "sip: {cubes: 6, net: [{mesh: [2, 1], of: \"c[0-1]\", link: l},"                               \
    " {each: [\"c[0-1]\", \"c[2-5]\"], groups: 2, link: l}]}\n"                                    \
    "cubes: {\"c[0-1]\": mem, \"c[2-5]\": pes}\n"

/* Memories apart from the PEs, interleaved and not; a cube that is missing; several SIPs; parts of
 * addresses in a cube; routers, which have no multicasts; one PE. */
static const char *const machines[] = {
    APART,
    APART "addressing: {granule: 4096, over: sip}\n",
    "kernbench: 2\nname: gap\nmissing: [c4]\nsip: {cube_mesh: {w: 3, h: 2}}\ncube: {pes: 4}\n",
    "kernbench: 2\nname: gaps\nsips: 2\nmissing: [s0.c1, s1.c2]\n"
    "sip: {cube_mesh: {w: 3, h: 2, wrap: xy}}\ncube: {pes: 2}\n",
    "kernbench: 2\nname: granule\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {pes: 4}\n"
    "addressing: {granule: 256}\n",
    "kernbench: 2\nname: routers\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {pes: 4}\n"
    "contention: {links: router}\n",
    "kernbench: 2\nname: alone\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1}\n",
};

static void products_are_right_on_odd_shapes_and_machines(void **state)
{
    static const char *const shapes[] = {
        "M=67 N=41 K=130 dtype=bf16",
        "M=5 N=300 K=33 GRID=1 BK=8",
        "M=300 N=7 K=1 dtype=f32",
        "M=31 N=53 K=47 BM=4 BN=3 BK=5 dtype=i8",
        "M=1 N=1 K=19 dtype=f64",
        "M=40 N=40 K=40 BM=3 BN=20 BK=40 b_by=rows",
        "M=40 N=40 K=40 BM=20 BN=3 BK=9 b_by=columns",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *topo = any_topology(machines[i]);

        assert_non_null(topo);
        for (size_t k = 0; k < LENGTH(shapes); k++)
            right(topo, shapes[k]);
        right_of(&bench_qkv_gemm, topo, "M=67 N=41 K=130 BM=1 BN=7 BK=9");
        right_of(&bench_qkv_gemm, topo, "M=3 N=90 K=5 dtype=i8");
        right_of(&bench_mlp_tp, topo, "M=33 N=95 K=70 act=gelu algorithm=ring");
        right_of(&bench_mlp_tp, topo, "M=9 N=5 K=7 dtype=f64 act=tanh algorithm=line");
        any_topology_free(topo);
    }
}

/* Grids that leave PEs over, and those of one row, or one column, or of two that take turns. */
static void any_grid_will_do(void **state)
{
    char text[64];

    (void)state;
    for (int rows = 1; rows <= 64; rows += rows < 9 ? 1 : 11) {
        snprintf(text, sizeof text, "M=37 N=29 K=50 BK=8 GRID=%d", rows);
        right(&cube8_topology, text);
    }
}

/* A multicast passes each link once: seven stores, one after the other, take longer. */
static void a_multicast_is_faster_than_a_store_to_each(void **state)
{
    kb_launch_result at_once = right(&cube8_topology, "M=64 N=512 K=256 GRID=8");
    kb_launch_result each = right(&cube8_topology, "M=64 N=512 K=256 GRID=8 send=each");

    (void)state;
    assert_int_equal(each.dma_read_bytes, at_once.dma_read_bytes);
    assert_true(each.dma_write_bytes > at_once.dma_write_bytes);
    assert_true(each.last_end_fs > at_once.last_end_fs);
}

/* -- what is refused -------------------------------------------------------------------------- */

#define SMALL(acc_kb)                                                                              \
    "kernbench: 2\nname: small\nsip: {cube_mesh: {w: 2, h: 1}}\n"                                  \
    "cube: {pes: 2, pe: {pe_tcm: {size_mb: 1}, pe_gemm: {acc_kb: " acc_kb "}}}\n"

static void assert_refused(const kb_topology *topo, const char *text, const char *says)
{
    struct words w;
    kb_bench_run *run;
    kb_error why = {""};

    cut_words(&w, text);
    assert_int_equal(kb_bench_new(&bench_gemm, topo, NULL, 0, w.word, w.n, &run, &why),
                     KB_BAD_REQUEST);
    assert_string_equal(why.text, says);
}

/*
 * Two rows of two: of each operand 3 buffers, and 5 tiles that a PE has loaded; two blocks of c.
 * With BK 512 that is 16 * 131072 + 2 * 32768; with 240 16 * 61440 + 65536 is just 1048576.
 */
static void what_does_not_fit_is_refused_with_what_does(void **state)
{
    const kb_topology *topo = any_topology(SMALL("256")), *none = any_topology(SMALL("1"));
    const kb_topology *large = any_topology(SMALL("4096")), *no_acc = any_topology(SMALL("0"));

    (void)state;
    assert_refused(topo, "M=256 N=256 K=2048 GRID=2 BM=128 BN=128 BK=512",
                   "gemm: blocks of 128 x 128 in steps of 512 need 2162688 bytes of a TCM, "
                   "which has 1048576: BK=240 fits");
    right(topo, "M=256 N=256 K=2400 GRID=2 BM=128 BN=128 BK=240");
    assert_refused(none, "M=256 N=256 K=64 GRID=2 BM=128 BN=128",
                   "gemm: a block of 128 x 128 needs 65536 bytes of accumulators, and "
                   "a PE has 1024 (cube.pe.pe_gemm.acc_kb): BM=2 fits");
    right(none, "M=256 N=256 K=64 GRID=2 BM=2 BN=128");
    right(none, "M=256 N=256 K=64");
    assert_refused(none, "M=256 N=512 K=64 GRID=1 BM=64 BN=512",
                   "gemm: a block of 64 x 512 needs 131072 bytes of accumulators, and "
                   "a PE has 1024 (cube.pe.pe_gemm.acc_kb): no BM fits, smaller ones of BN do");
    assert_refused(large, "M=2048 N=2048 K=64 GRID=2 BM=1024 BN=512",
                   "gemm: blocks of 1024 x 512 in steps of 1 need 2121728 bytes of a TCM, "
                   "which has 1048576: no BK fits, smaller ones of BM and BN do");
    right(large, "M=2048 N=2048 K=64 GRID=2 BM=128 BN=128");
    right(none, "M=256 N=512 K=64 GRID=1 BM=2 BN=128");
    assert_refused(no_acc, "M=256 N=256 K=64 GRID=2 BM=8 BN=8",
                   "gemm: a block of 8 x 8 needs 256 bytes of accumulators, and a PE has 0 "
                   "(cube.pe.pe_gemm.acc_kb): not even a block of 1 x 1 fits");
    assert_refused(topo, "GRID=5", "gemm: GRID=5 has more rows than there are PEs: 4");
    any_topology_free(topo);
    any_topology_free(none);
    any_topology_free(no_acc);
    any_topology_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_two_takes_what_is_computed_by_hand),
        cmocka_unit_test(each_element_is_read_once_a_pass),
        cmocka_unit_test(rows_read_the_other_operand_once),
        cmocka_unit_test(a_pe_alone_reads_its_operands_once),
        cmocka_unit_test(engines_are_hardly_ever_idle),
        cmocka_unit_test(products_are_right_on_odd_shapes_and_machines),
        cmocka_unit_test(any_grid_will_do),
        cmocka_unit_test(a_multicast_is_faster_than_a_store_to_each),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
