/* test_judge_kernel.c -- the judge of kernels is judged first: by the design's numbers, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CUBE8 "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"
#define FIFO  "contention: {links: fifo}\n"

/* Exact for all numbers here. */
#define NS(ns) ((int64_t)((ns)*1e6 + 0.5))

enum { SEEDS = 300 };

struct rig {
    struct judge_topo *t;
    struct judge_program p;
    struct judge_run run;
};

static struct rig rig_of(const char *yaml)
{
    struct rig r = {.t = judge_load_text(yaml)};

    assert_non_null(r.t);
    return r;
}

static void drop(struct rig *r)
{
    judge_run_clear(&r->run);
    judge_program_clear(&r->p);
    judge_free(r->t);
}

static struct judge_end end_of(const struct rig *r, const char *name)
{
    struct judge_end e;

    assert_true(judge_end_parse(r->t, name, &e));
    return e;
}

static size_t kernel(struct rig *r, const char *name)
{
    struct judge_end pe = end_of(r, name);

    return judge_add_kernel(&r->p, &pe);
}

static size_t add(struct rig *r, size_t k, struct judge_command c)
{
    return judge_add_command(&r->p, k, &c);
}

static size_t dma(struct rig *r, size_t k, enum judge_command_kind kind, const char *at,
                  uint64_t nbytes, bool async)
{
    struct judge_command c = {.kind = kind, .nbytes = nbytes, .async = async};

    c.at = end_of(r, at);
    return add(r, k, c);
}

static size_t wait_for(struct rig *r, size_t k, size_t target)
{
    return add(r, k, (struct judge_command){.kind = JUDGE_WAIT, .target = target});
}

/* f16: [32,64] x [64,32] */
static size_t dot(struct rig *r, size_t k)
{
    return add(
        r, k,
        (struct judge_command){
            .kind = JUDGE_DOT, .m = 32, .k = 64, .n = 32, .operand_bytes = 8192, .nbytes = 2048});
}

/* c0.pe0 alone does it, on a machine of these keys of a PE, and takes `ns`. */
static void assert_alone(const char *pe, struct judge_command c, double ns)
{
    char yaml[512];
    struct rig r;

    snprintf(yaml, sizeof yaml, "%scube: {pe: {%s}}\n", CUBE8, pe);
    r = rig_of(yaml);
    c.at = end_of(&r, "c0.slice0");
    add(&r, kernel(&r, "c0.pe0"), c);
    assert_true(judge_kernels(r.t, &r.p, &r.run));
    assert_int_equal(r.run.kernels[0].end_fs - r.run.start_fs, NS(ns));
    drop(&r);
}

static void products_of_two_types_and_batches(void **state)
{
    struct judge_command mixed = {.kind = JUDGE_DOT,
                                  .in = JUDGE_F16,
                                  .mixed = true,
                                  .other = JUDGE_I8,
                                  .m = 32,
                                  .k = 1024,
                                  .n = 128,
                                  .operand_bytes = 65536 + 131072,
                                  .nbytes = 16384};
    struct judge_command batch = {.kind = JUDGE_DOT,
                                  .in = JUDGE_F16,
                                  .batch = 4,
                                  .m = 32,
                                  .k = 64,
                                  .n = 32,
                                  .operand_bytes = 32768,
                                  .nbytes = 8192};

    (void)state;
    assert_alone("pe_gemm: {rate: {i8: 2}}", mixed, 1443);
    assert_alone("pe_gemm: {rate: {f16: 0.5, i8: 2}}", mixed, 1443 + 1024);
    assert_alone("", batch, 147);
}

static void rows_of_one_transaction(void **state)
{
    struct judge_command rows = {
        .kind = JUDGE_LOAD, .nbytes = 32 * 256, .rows = 32, .stride = 512, .listed = true};
    struct judge_command pages = {
        .kind = JUDGE_LOAD, .nbytes = 16 * 4096, .rows = 16, .stride = 8192, .listed = true};

    (void)state;
    assert_alone("pe_dma: {tiles: runs}", rows, 37.085);
    assert_alone("pe_dma: {tiles: runs, run_ns: 4}", rows, 130.085);
    assert_alone("pe_dma: {tiles: joined, run_ns: 4}", rows, 37.085);
    assert_alone("pe_dma: {tiles: runs}", pages, 261.085);
}

/* Four cubes in a row: c0.pe0 stores 4 KiB to a slice of each of the others; and loads their sum.
 */
static void multicasts_of_a_kernel(void **state)
{
    static const char row[] = "kernbench: 1\nname: row\nsip: {cube_mesh: {w: 4, h: 1}}\n";

    (void)state;
    for (int loads = 0; loads < 2; loads++) {
        struct rig r = rig_of(row);
        struct judge_command c = {.kind = loads ? JUDGE_LOAD : JUDGE_STORE, .nbytes = 4096};

        c.n_targets = 3;
        c.targets[0] = c.at = end_of(&r, "c1.slice0");
        c.targets[1] = end_of(&r, "c2.slice0");
        c.targets[2] = end_of(&r, "c3.slice0");
        add(&r, kernel(&r, "c0.pe0"), c);
        assert_true(judge_kernels(r.t, &r.p, &r.run));
        assert_int_equal(r.run.kernels[0].end_fs - r.run.start_fs, NS(43.655));
        drop(&r);
    }
}

/* docs/kernels.md "Launches side by side": A on c0.pe0, B on c0.pe1 in another stream, C on c0.pe0
 * in B's, each 100 loads of 64 bytes of the own slice. */
static void launches_that_wait(void **state)
{
    struct rig r = rig_of(CUBE8);

    (void)state;
    for (size_t l = 0; l < 3; l++) {
        size_t k = kernel(&r, l == 1 ? "c0.pe1" : "c0.pe0");

        r.p.kernels[k].launch = l;
        judge_add_launch(&r.p, &(struct judge_launch){.stream = l > 0});
        for (int i = 0; i < 100; i++)
            dma(&r, k, JUDGE_LOAD, l == 1 ? "c0.slice1" : "c0.slice0", 64, false);
    }
    assert_true(judge_kernels(r.t, &r.p, &r.run));
    assert_int_equal(r.run.kernels[0].start_fs, NS(21.25625));
    assert_int_equal(r.run.kernels[1].start_fs, NS(21.21875));
    assert_int_equal(r.run.kernels[0].end_fs - r.run.kernels[0].start_fs, NS(533.5));
    assert_int_equal(r.run.kernels[0].response_fs, NS(556.0125));
    assert_int_equal(r.run.kernels[2].launch_fs, NS(556.0125));
    assert_int_equal(r.run.kernels[2].start_fs, NS(577.26875));
    drop(&r);
}

/* f16: a from `a`, b from `b` at 1 MB, to c0.slice0 at 2 MB; NULL: it is in the own TCM. */
static struct judge_command gemm(struct rig *r, uint32_t m, uint32_t k, uint32_t n, const char *a,
                                 const char *b)
{
    struct judge_command c = {.kind = JUDGE_COMPOSITE_GEMM, .m = m, .k = k, .n = n};
    const char *from[2] = {a, b};

    c.in_bytes = c.out_bytes = 2;
    c.n_operands = 2;
    for (size_t i = 0; i < 2; i++) {
        c.operands[i].where = from[i] ? JUDGE_AT : JUDGE_OWN_TCM;
        c.operands[i].offset = i << 20;
        if (from[i])
            c.operands[i].at = end_of(r, from[i]);
    }
    c.at = end_of(r, "c0.slice0");
    c.offset = 2 << 20;
    return c;
}

static void run(struct rig *r)
{
    assert_true(judge_kernels(r->t, &r->p, &r->run));
}

static const struct judge_command_times *times(const struct rig *r, size_t k, size_t command)
{
    return &r->run.kernels[k].commands[command];
}

/* Ends `ns` after the start of kernels. */
static void ends(const struct rig *r, size_t k, size_t command, double ns)
{
    assert_int_equal(times(r, k, command)->end_fs - r->run.start_fs, NS(ns));
}

/* Record `id` from `start_ns` to `end_ns` after the start. */
static void lasts(const struct rig *r, uint64_t id, enum judge_stage stage, double start_ns,
                  double end_ns)
{
    const struct judge_op_record *o = &r->run.records[id];

    assert_true(id < r->run.n_records);
    assert_int_equal(o->op_id, id);
    assert_int_equal(o->stage, stage);
    assert_int_equal(o->t_start - r->run.start_fs, NS(start_ns));
    assert_int_equal(o->t_end - r->run.start_fs, NS(end_ns));
}

/* -- numbers by hand ------------------------------------------------------------------------ */

static void every_kernel_starts_when_the_last_launch_arrives(void **state)
{
    struct rig r = rig_of(CUBE8);

    (void)state;
    judge_all_kernels(r.t, &r.p);
    assert_int_equal(r.p.n, 64);
    run(&r);
    assert_int_equal(r.run.start_fs, NS(27.83625));
    assert_int_equal(r.run.kernels[63].arrive_fs, NS(27.83625));
    assert_int_equal(r.run.kernels[0].response_fs - r.run.kernels[0].end_fs, NS(1.25625));
    assert_int_equal(r.run.kernels[63].response_fs - r.run.kernels[63].end_fs, NS(7.83625));
    assert_int_equal(r.run.kernel_fs, 0);
    assert_int_equal(r.run.total_fs, NS(27.83625 + 7.83625));
    assert_int_equal(r.run.n_records, 0);
    drop(&r);
}

/* Each of 64 PEs does the same in its own slice: none waits for another. */
static void all_do(struct rig *r, struct judge_command c)
{
    judge_all_kernels(r->t, &r->p);
    for (size_t i = 0; i < r->p.n; i++) {
        struct judge_end own = r->p.kernels[i].pe;

        own.kind = JUDGE_SLICE;
        c.at = own;
        c.operands[0].at = c.operands[1].at = own;
        add(r, i, c);
    }
    run(r);
}

static void assert_all_end(struct rig *r, double ns)
{
    for (size_t i = 0; i < r->p.n; i++)
        ends(r, i, 0, ns);
    assert_int_equal(r->run.kernel_fs, NS(ns));
    assert_int_equal(r->run.total_fs, NS(27.83625 + ns + 7.83625));
    drop(r);
}

static void a_load_of_the_own_slice(void **state)
{
    struct rig r = rig_of(CUBE8);

    (void)state;
    all_do(&r, (struct judge_command){.kind = JUDGE_LOAD, .nbytes = 4096});
    lasts(&r, 63, JUDGE_COMMAND, 3, 21.085);
    assert_int_equal(r.run.records[63].kernel, 63);
    assert_int_equal(r.run.records[63].t_issue - r.run.start_fs, NS(3));
    assert_all_end(&r, 21.085);
}

static void a_dot_and_an_exp(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c7.pe7");

    (void)state;
    dot(&r, k);
    add(&r, k,
        (struct judge_command){.kind = JUDGE_MATH,
                               .operand_bytes = 2048,
                               .nbytes = 2048,
                               .elements = 1024,
                               .class = JUDGE_SPECIAL});
    add(&r, k,
        (struct judge_command){
            .kind = JUDGE_MATH, .nbytes = 1024, .elements = 65, .class = JUDGE_SOFTMAX});
    run(&r);
    ends(&r, k, 0, 39);
    lasts(&r, 0, JUDGE_COMMAND, 19, 35);
    lasts(&r, 1, JUDGE_FETCH, 3, 19);
    lasts(&r, 2, JUDGE_STORED, 35, 39);
    ends(&r, k, 1, 39 + 75);
    lasts(&r, 4, JUDGE_FETCH, 39 + 3, 39 + 7);
    lasts(&r, 3, JUDGE_COMMAND, 39 + 7, 39 + 71);
    ends(&r, k, 2, 114 + 3 + 2 * 11 + 2); /* two vectors, 3 + 2*4 cycles each; no FETCH */
    lasts(&r, 6, JUDGE_COMMAND, 117, 139);
    lasts(&r, 7, JUDGE_STORED, 139, 141);
    assert_int_equal(r.run.n_records, 8);
    drop(&r);
}

static void a_composite_in_the_own_slice(void **state)
{
    struct rig r = rig_of(CUBE8);

    (void)state;
    all_do(&r, gemm(&r, 32, 128, 32, "c0.slice0", "c0.slice0"));
    assert_all_end(&r, 121.425);
}

static void a_composite_with_a_loaded(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");

    (void)state;
    dma(&r, k, JUDGE_LOAD, "c0.slice0", 32 * 192 * 2, false);
    add(&r, k, gemm(&r, 32, 192, 32, NULL, "c0.slice0"));
    run(&r);
    assert_int_equal(times(&r, k, 1)->end_fs - times(&r, k, 1)->call_fs, NS(103.34));
    assert_int_equal(times(&r, k, 1)->return_fs - times(&r, k, 1)->call_fs, NS(3));
    assert_int_equal(r.run.kernels[k].return_fs, times(&r, k, 1)->issue_fs);
    assert_int_equal(r.run.kernels[k].end_fs, times(&r, k, 1)->end_fs);
    assert_int_equal(times(&r, k, 1)->tokens, 3);
    drop(&r);
}

/* -- DMA ------------------------------------------------------------------------------------ */

/* Design 3: pe1's head arrives 4.095 after its issue and waits for pe0's drain. */
static void two_pes_load_from_one_slice(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t b = kernel(&r, "c0.pe1"), a = kernel(&r, "c0.pe0");

    (void)state;
    dma(&r, b, JUDGE_LOAD, "c0.slice0", 4096, false);
    dma(&r, a, JUDGE_LOAD, "c0.slice0", 4096, false);
    run(&r);
    ends(&r, a, 0, 3 + 18.085);
    ends(&r, b, 0, 3 + 50.085);
    assert_int_equal(times(&r, a, 0)->op_id, 0); /* by PE, not by place in the program */
    assert_int_equal(times(&r, b, 0)->op_id, 1);
    drop(&r);
}

/* Two loads without waiting between them; both waits come later. */
static struct rig two_loads(const char *channels)
{
    char yaml[256];
    struct rig r;

    snprintf(yaml, sizeof yaml, CUBE8 "cube: {pe: {pe_dma: {read_channels: %s}}}\n", channels);
    r = rig_of(yaml);
    kernel(&r, "c0.pe0");
    dma(&r, 0, JUDGE_LOAD, "c0.slice0", 4096, true);
    dma(&r, 0, JUDGE_LOAD, "c0.slice0", 4096, true);
    wait_for(&r, 0, 0);
    wait_for(&r, 0, 1);
    run(&r);
    return r;
}

static void a_second_load_waits_for_the_only_channel(void **state)
{
    struct rig r = two_loads("1");

    (void)state;
    assert_int_equal(times(&r, 0, 0)->return_fs - r.run.start_fs, NS(3));
    assert_int_equal(times(&r, 0, 1)->return_fs - r.run.start_fs, NS(6));
    assert_int_equal(times(&r, 0, 2)->return_fs - r.run.start_fs, NS(21.085));
    assert_int_equal(times(&r, 0, 3)->return_fs - r.run.start_fs, NS(39.17));
    lasts(&r, 1, JUDGE_COMMAND, 21.085, 39.17);
    drop(&r);
}

static void with_two_channels_it_waits_for_the_memory(void **state)
{
    struct rig r = two_loads("2");

    (void)state;
    assert_int_equal(times(&r, 0, 2)->return_fs - r.run.start_fs, NS(21.085));
    assert_int_equal(times(&r, 0, 3)->return_fs - r.run.start_fs, NS(37.085));
    lasts(&r, 1, JUDGE_COMMAND, 6, 37.085);
    drop(&r);
}

static void a_wait_for_what_has_ended_takes_no_time(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");

    (void)state;
    dma(&r, k, JUDGE_LOAD, "c0.slice0", 4096, true);
    dot(&r, k);
    wait_for(&r, k, 0);
    dma(&r, k, JUDGE_STORE, "c0.slice0", 2048, true);
    run(&r);
    ends(&r, k, 0, 21.085);
    ends(&r, k, 1, 3 + 39);
    ends(&r, k, 2, 3 + 39);
    assert_int_equal(times(&r, k, 3)->return_fs - r.run.start_fs, NS(45));
    assert_int_equal(r.run.kernels[k].return_fs - r.run.start_fs, NS(45));
    ends(&r, k, 3, 45 + 10.085);
    assert_int_equal(r.run.kernels[k].end_fs - r.run.start_fs, NS(55.085));
    drop(&r);
}

/* Design 3.1: 68.095 (queue_link 29.990) and 38.105. */
static void links_queue_if_fifo(void **state)
{
    struct rig r = rig_of(CUBE8 FIFO);
    size_t a = kernel(&r, "c0.pe0"), b = kernel(&r, "c0.pe1");

    (void)state;
    dma(&r, a, JUDGE_STORE, "c0.slice2", 4096, false);
    dma(&r, b, JUDGE_STORE, "c0.slice3", 4096, false);
    run(&r);
    ends(&r, a, 0, 3 + 68.095);
    ends(&r, b, 0, 3 + 38.105);
    drop(&r);
}

/* -- TCM ports ------------------------------------------------------------------------------ */

/*
 * pe1 to pe0: 0.5 mm onto the NoC, 3.75 mm across, 0.5 mm off it; then 4096 B at 128 GB/s. The
 * FETCH has the read port from 3 to 19, the load from 19 to 51, which the next FETCH waits for.
 */
static void a_load_from_a_tcm_takes_turns_with_its_fetches(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t a = kernel(&r, "c0.pe0"), b = kernel(&r, "c0.pe1");

    (void)state;
    dot(&r, a);
    dot(&r, a);
    dma(&r, b, JUDGE_LOAD, "c0.pe0.tcm", 4096, false);
    run(&r);
    ends(&r, a, 0, 39);
    ends(&r, b, 0, 19 + 32);
    ends(&r, a, 1, 51 + 16 + 16 + 4);
    drop(&r);
}

/* The store has the write port from 3.0475 to 35.0475; the STORE of the dot would come at 35. */
static void a_store_into_a_tcm_takes_turns_with_its_stores_only(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t a = kernel(&r, "c0.pe0"), b = kernel(&r, "c0.pe1");

    (void)state;
    dot(&r, a);
    dma(&r, b, JUDGE_STORE, "c0.pe0.tcm", 4096, false);
    run(&r);
    lasts(&r, 1, JUDGE_FETCH, 3, 19);
    lasts(&r, 0, JUDGE_COMMAND, 19, 35);
    lasts(&r, 2, JUDGE_STORED, 35.0475, 39.0475);
    ends(&r, b, 0, 35.0475);
    drop(&r);
}

/* Without any delay on the way, both are at the port as they are issued: the lower id is first. */
static void at_one_instant_the_lower_id_is_first(void **state)
{
    for (int dot_first = 0; dot_first < 2; dot_first++) {
        struct rig r = rig_of(CUBE8 "ns_per_mm: 0\n");
        size_t a = kernel(&r, dot_first ? "c0.pe2" : "c0.pe4"), b = kernel(&r, "c0.pe3");

        (void)state;
        dma(&r, b, JUDGE_LOAD, dot_first ? "c0.pe2.tcm" : "c0.pe4.tcm", 4096, false);
        dot(&r, a);
        run(&r);
        ends(&r, a, 0, dot_first ? 39 : 39 + 32);
        ends(&r, b, 0, dot_first ? 19 + 32 : 3 + 32);
        drop(&r);
    }
}

/* Writes of 4096 B from 3, 6 and 9: with two channels the third waits for the first to end. */
static void two_write_channels_carry_two_stores(void **state)
{
    struct rig r = rig_of(CUBE8 "cube: {pe: {pe_dma: {write_channels: 2}}}\n");
    size_t k = kernel(&r, "c0.pe0");

    (void)state;
    for (int i = 0; i < 3; i++)
        dma(&r, k, JUDGE_STORE, "c0.slice0", 4096, true);
    run(&r);
    lasts(&r, 0, JUDGE_COMMAND, 3, 21.085);
    lasts(&r, 1, JUDGE_COMMAND, 6, 37.085);
    lasts(&r, 2, JUDGE_COMMAND, 21.085, 53.085);
    assert_int_equal(r.run.kernels[k].return_fs - r.run.start_fs, NS(9));
    drop(&r);
}

/* Fifo: the narrow TCM's edge is taken for longer than the port; both are free again at once. */
static void a_tcm_has_a_link_of_its_own_bandwidth_each_way(void **state)
{
    struct rig r = rig_of(CUBE8 FIFO "cube: {pe: {pe_tcm: {read_gbs: 64, write_gbs: 32}}}\n");
    size_t b = kernel(&r, "c0.pe1"), c = kernel(&r, "c0.pe2");

    (void)state;
    dma(&r, b, JUDGE_LOAD, "c0.pe0.tcm", 4096, true);
    dma(&r, c, JUDGE_STORE, "c0.pe0.tcm", 4096, true);
    run(&r);
    ends(&r, b, 0, 3 + 0.0475 + 64);
    ends(&r, c, 0, 3 + 0.085 + 128);
    drop(&r);
}

/* -- composites ----------------------------------------------------------------------------- */

/* a in TCM, four tokens; FETCH 16, GEMM 16, and what else the YAML says of a PE. */
static struct rig four_tokens(const char *pe)
{
    char yaml[256];
    struct rig r;

    snprintf(yaml, sizeof yaml, CUBE8 "cube: {pe: {%s}}\n", pe);
    r = rig_of(yaml);
    kernel(&r, "c0.pe0");
    add(&r, 0, gemm(&r, 32, 256, 32, NULL, "c0.slice0"));
    run(&r);
    return r;
}

static void with_one_tile_buffer_reads_wait_for_fetches(void **state)
{
    struct rig r = four_tokens("pe_scheduler: {tile_buffers: 1}");

    (void)state;
    lasts(&r, 0, JUDGE_COMMAND, 3, 169.425);
    lasts(&r, 1, JUDGE_DMA_READ, 3, 21.085);
    lasts(&r, 2, JUDGE_FETCH, 21.085, 37.085);
    lasts(&r, 3, JUDGE_GEMM_STAGE, 37.085, 53.085);
    lasts(&r, 4, JUDGE_DMA_READ, 37.085, 55.17);
    lasts(&r, 7, JUDGE_DMA_READ, 71.17, 89.255);
    lasts(&r, 10, JUDGE_DMA_READ, 105.255, 123.34);
    lasts(&r, 11, JUDGE_FETCH, 123.34, 139.34);
    lasts(&r, 12, JUDGE_GEMM_STAGE, 139.34, 155.34);
    lasts(&r, 13, JUDGE_STORED, 155.34, 159.34);
    lasts(&r, 14, JUDGE_DMA_WRITE, 159.34, 169.425);
    assert_int_equal(r.run.n_records, 15);
    drop(&r);
}

static void with_two_tile_buffers_reads_go_ahead(void **state)
{
    struct rig r = four_tokens("pe_scheduler: {tile_buffers: 2}");

    (void)state;
    lasts(&r, 4, JUDGE_DMA_READ, 21.085, 39.17);
    lasts(&r, 7, JUDGE_DMA_READ, 39.17, 57.255);
    lasts(&r, 10, JUDGE_DMA_READ, 57.255, 75.34);
    ends(&r, 0, 0, 121.425);
    drop(&r);
}

/* A FETCH takes 64 here: with two buffers the third read waits for the first FETCH's end. */
static void a_third_tile_buffer_helps_if_fetches_are_slow(void **state)
{
    struct rig two = four_tokens("pe_tcm: {read_gbs: 128}, pe_scheduler: {tile_buffers: 2}");
    struct rig three = four_tokens("pe_tcm: {read_gbs: 128}, pe_scheduler: {tile_buffers: 3}");

    (void)state;
    lasts(&two, 7, JUDGE_DMA_READ, 85.085, 103.17);
    lasts(&two, 10, JUDGE_DMA_READ, 149.085, 167.17);
    lasts(&three, 7, JUDGE_DMA_READ, 39.17, 57.255);
    lasts(&three, 10, JUDGE_DMA_READ, 85.085, 103.17);
    drop(&two);
    drop(&three);
}

/* A's FETCHes end at 19 and 35, so B's only token, issued at 6, enters at 19. */
static void a_second_composite_waits_for_the_buffers_of_the_first(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");

    (void)state;
    add(&r, k, gemm(&r, 32, 128, 32, NULL, NULL));
    add(&r, k, gemm(&r, 32, 64, 32, NULL, "c0.slice0"));
    wait_for(&r, k, 1);
    wait_for(&r, k, 0);
    run(&r);
    ends(&r, k, 0, 65.085);
    lasts(&r, 7, JUDGE_COMMAND, 6, 83.17);
    lasts(&r, 8, JUDGE_DMA_READ, 19, 37.085);
    assert_int_equal(r.run.records[8].token, 0);
    assert_int_equal(times(&r, k, 2)->return_fs - r.run.start_fs, NS(83.17));
    assert_int_equal(times(&r, k, 3)->return_fs - r.run.start_fs, NS(83.17));
    drop(&r);
}

/* Both tiles have to be there, and with two channels they come together. */
static void two_channels_read_a_and_b_together(void **state)
{
    struct rig r = rig_of(CUBE8 "cube: {pe: {pe_dma: {read_channels: 2}}}\n");
    size_t k = kernel(&r, "c0.pe0");

    (void)state;
    add(&r, k, gemm(&r, 32, 64, 32, "c0.slice0", "c0.slice1"));
    run(&r);
    lasts(&r, 1, JUDGE_DMA_READ, 3, 3 + 18.085);
    lasts(&r, 2, JUDGE_DMA_READ, 3, 3 + 36.095);
    lasts(&r, 3, JUDGE_FETCH, 39.095, 55.095);
    drop(&r);
}

static void assert_part(const struct rig *r, uint64_t id, enum judge_stage stage, const char *at,
                        uint64_t offset, uint64_t nbytes)
{
    const struct judge_op_record *o = &r->run.records[id];
    struct judge_end memory = end_of(r, at);

    assert_int_equal(o->stage, stage);
    assert_int_equal(o->nbytes, nbytes);
    assert_int_equal(o->address, judge_address(r->t, &memory, offset));
}

/* 33 x 65 x 33: eight tokens, the last one of a single element. */
static void tiles_at_the_edges_are_what_is_left(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");
    const struct judge_op_record *last;

    (void)state;
    add(&r, k, gemm(&r, 33, 65, 33, "c0.slice1", "c0.slice0"));
    run(&r);
    assert_int_equal(r.run.n_records, 41);
    assert_int_equal(times(&r, k, 0)->tokens, 8);
    assert_part(&r, 1, JUDGE_DMA_READ, "c0.slice1", 0, 32 * 64 * 2);
    assert_part(&r, 6, JUDGE_DMA_READ, "c0.slice0", (1 << 20) + 64 * 33 * 2, 32 * 2);
    assert_part(&r, 10, JUDGE_DMA_WRITE, "c0.slice0", 2 << 20, 32 * 32 * 2);
    assert_part(&r, 20, JUDGE_DMA_WRITE, "c0.slice0", (2 << 20) + 32 * 2, 32 * 2);
    assert_part(&r, 35, JUDGE_DMA_READ, "c0.slice1", (32 * 65 + 64) * 2, 2);
    assert_part(&r, 36, JUDGE_DMA_READ, "c0.slice0", (1 << 20) + (64 * 33 + 32) * 2, 2);
    assert_int_equal(r.run.records[37].nbytes, 4);
    assert_part(&r, 40, JUDGE_DMA_WRITE, "c0.slice0", (2 << 20) + (32 * 33 + 32) * 2, 2);
    last = &r.run.records[38];
    assert_int_equal(last->stage, JUDGE_GEMM_STAGE);
    assert_true(last->m == 1 && last->k == 1 && last->n == 1);
    assert_true(last->tile[0] == 1 && last->tile[1] == 1 && last->tile[2] == 1);
    assert_true(last->token == 7 && last->parent == 0);
    drop(&r);
}

/* bias [N], exp, a factor [M,1], a summand [M,N]: each FETCHes what its tile needs. */
static void epilogues_come_after_the_last_k(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");
    struct judge_command c = gemm(&r, 32, 128, 32, NULL, NULL);

    (void)state;
    c.n_epilogues = 4;
    c.epilogues[0] = (struct judge_epilogue){.part = JUDGE_ROW, .element_bytes = 2};
    c.epilogues[1] = (struct judge_epilogue){.special = true};
    c.epilogues[2] = (struct judge_epilogue){.part = JUDGE_COLUMN, .element_bytes = 4};
    c.epilogues[3] = (struct judge_epilogue){.part = JUDGE_FULL, .element_bytes = 2};
    add(&r, k, c);
    run(&r);
    lasts(&r, 2, JUDGE_GEMM_STAGE, 19, 35);
    lasts(&r, 4, JUDGE_GEMM_STAGE, 35, 51);
    lasts(&r, 5, JUDGE_FETCH, 51, 51.125);
    lasts(&r, 6, JUDGE_MATH_STAGE, 51.125, 67.125);
    lasts(&r, 7, JUDGE_MATH_STAGE, 67.125, 131.125);
    lasts(&r, 8, JUDGE_FETCH, 131.125, 131.375);
    lasts(&r, 9, JUDGE_MATH_STAGE, 131.375, 147.375);
    lasts(&r, 10, JUDGE_FETCH, 147.375, 151.375);
    lasts(&r, 11, JUDGE_MATH_STAGE, 151.375, 167.375);
    lasts(&r, 12, JUDGE_STORED, 167.375, 171.375);
    lasts(&r, 13, JUDGE_DMA_WRITE, 171.375, 181.46);
    ends(&r, k, 0, 181.46);
    drop(&r);
}

/* exp of f16 [40,40] from and to the own slice: tiles of 32x32, 32x8, 8x32 and 8x8. */
static void a_composite_of_math(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");
    struct judge_command c = {.kind = JUDGE_COMPOSITE_MATH, .m = 40, .n = 40};

    (void)state;
    c.in_bytes = c.out_bytes = 2;
    c.class = JUDGE_SPECIAL;
    c.n_operands = 1;
    c.operands[0] = (struct judge_operand){.where = JUDGE_AT, .at = end_of(&r, "c0.slice0")};
    c.at = end_of(&r, "c0.slice0");
    c.offset = 1 << 20;
    add(&r, k, c);
    run(&r);
    lasts(&r, 0, JUDGE_COMMAND, 3, 120.755);
    lasts(&r, 1, JUDGE_DMA_READ, 3, 13.085);
    lasts(&r, 2, JUDGE_FETCH, 13.085, 17.085);
    lasts(&r, 3, JUDGE_MATH_STAGE, 17.085, 81.085);
    lasts(&r, 5, JUDGE_DMA_WRITE, 85.085, 95.17);
    lasts(&r, 6, JUDGE_DMA_READ, 13.085, 17.17);
    lasts(&r, 11, JUDGE_DMA_READ, 17.17, 21.255);
    lasts(&r, 13, JUDGE_MATH_STAGE, 97.085, 113.085);
    lasts(&r, 15, JUDGE_DMA_WRITE, 114.085, 118.17);
    assert_part(&r, 16, JUDGE_DMA_READ, "c0.slice0", (32 * 40 + 32) * 2, 128);
    lasts(&r, 20, JUDGE_DMA_WRITE, 118.17, 120.755);
    drop(&r);
}

/* -- PEs that talk -------------------------------------------------------------------------- */

static size_t message(struct rig *r, size_t k, enum judge_command_kind kind, const char *other,
                      uint64_t nbytes)
{
    struct judge_command c = {.kind = kind, .in = JUDGE_F32, .nbytes = nbytes, .tag = 7};

    c.at = end_of(r, other);
    return add(r, k, c);
}

static void assert_returns(const struct rig *r, size_t k, size_t command, double ns)
{
    assert_int_equal(times(r, k, command)->return_fs - r->run.start_fs, NS(ns));
}

/*
 * Design 5.1. To the TCM of the PE beside: 0.0475, 4096 B at 128 GB/s; a FETCH at 512 GB/s. The
 * fifth piece has the first one's slot: it was fetched at 43.0475, and the sender knows at 43.095.
 */
static void five_pieces_in_four_slots(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t to = kernel(&r, "c0.pe1"), from = kernel(&r, "c0.pe0");

    (void)state;
    message(&r, to, JUDGE_RECV, "c0.pe0", 5 * 4096 - 4);
    message(&r, from, JUDGE_SEND, "c0.pe1", 5 * 4096 - 4);
    run(&r);
    for (uint64_t i = 0; i < 4; i++) {
        double at = 3 + 32.0475 * (double)(i + 1);

        lasts(&r, i, JUDGE_COPY, at - 32.0475, at);
        lasts(&r, 6 + i, JUDGE_FETCH, at, at + 8);
    }
    assert_returns(&r, from, 0, 43.095);
    lasts(&r, 4, JUDGE_COPY, 3 + 4 * 32.0475, 3 + 4 * 32.0475 + 0.0475 + 31.96875);
    ends(&r, to, 0, 3 + 4 * 32.0475 + 0.0475 + 31.96875 + 7.9921875);
    assert_int_equal(r.run.records[4].nbytes, 4092);
    assert_int_equal(r.run.records[4].address, r.run.records[0].address);
    assert_int_equal(r.run.records[5].component, JUDGE_NOWHERE);
    assert_int_equal(r.run.kernels[from].end_fs, r.run.records[4].t_end);
    drop(&r);
}

/* To c1.pe0: 0.29 and two ucie of 1. Its slot is in c1.sram: 0.5 + 13.125 + 5.5, 0.5 + 1 + 0.5,
 * 1.5 + 3.5, 0.5 mm, and out of it 0.5 + 0.375 + 9 + 0.5. */
static void slots_may_be_in_an_sram(void **state)
{
    struct rig r = rig_of(CUBE8 "cube: {pe: {pe_ipcq: {slots: 1, space: sram}}}\n");
    size_t from = kernel(&r, "c0.pe0"), to = kernel(&r, "c1.pe0");

    (void)state;
    message(&r, from, JUDGE_SEND, "c1.pe0", 4100);
    message(&r, to, JUDGE_RECV, "c0.pe0", 4100);
    run(&r);
    lasts(&r, 0, JUDGE_COPY, 3, 3 + 2.26625 + 32);
    lasts(&r, 3, JUDGE_DMA_READ, 37.26625, 37.26625 + 0.10375 + 32);
    assert_returns(&r, from, 0, 69.37 + 2.29);
    lasts(&r, 1, JUDGE_COPY, 71.66, 71.66 + 2.26625 + 0.03125);
    ends(&r, to, 0, 73.9575 + 0.10375 + 0.03125);
    drop(&r);
}

static size_t barrier(struct rig *r, size_t k, size_t group)
{
    return add(r, k, (struct judge_command){.kind = JUDGE_BARRIER, .group = group});
}

/* c0.pe7 is 0.2325 from c0.pe0, c0.pe1 0.0475; pe1 adds, comes late, and meets them again. */
static void a_barrier_ends_for_all_after_the_last(void **state)
{
    struct rig r = rig_of(CUBE8);
    const char *const names[] = {"c0.pe7", "c0.pe0", "c0.pe1"};
    struct judge_end pes[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        kernel(&r, names[i]);
        pes[i] = end_of(&r, names[i]);
    }
    judge_add_group(&r.p, pes, 3);
    pes[0] = end_of(&r, "c0.pe1");
    pes[2] = end_of(&r, "c0.pe7");
    judge_add_group(&r.p, pes, 3); /* the same */
    dma(&r, 2, JUDGE_ATOMIC, "c0.slice1", 4, false);
    for (size_t i = 0; i < 3; i++) {
        barrier(&r, i, i % 2);
        barrier(&r, i, 0);
    }
    run(&r);
    ends(&r, 2, 0, 3 + 2.085 + 0.015625);
    ends(&r, 1, 0, 5.100625 + 3 + 0.0475);
    ends(&r, 2, 1, 8.148125 + 0.0475);
    ends(&r, 0, 0, 8.148125 + 0.2325);
    ends(&r, 1, 1, 8.380625 + 3 + 0.2325);
    ends(&r, 0, 1, 11.613125 + 0.2325);
    drop(&r);
}

/* Of two that add at once the nearer one is first. */
static void atomics_add_up_in_order_of_service(void **state)
{
    struct rig r = rig_of(CUBE8);
    struct judge_command c = {.kind = JUDGE_ATOMIC, .in = JUDGE_I32, .nbytes = 4};

    (void)state;
    kernel(&r, "c0.pe1");
    kernel(&r, "c0.pe0");
    c.at = end_of(&r, "c0.slice0");
    for (size_t i = 0; i < 4; i++) {
        c.value = i % 2 ? 100 : 1;
        add(&r, i % 2, c);
    }
    run(&r);
    assert_int_equal(times(&r, 1, 0)->before, 0);
    assert_int_equal(times(&r, 0, 0)->before, 100);
    assert_int_equal(times(&r, 1, 1)->before, 101);
    assert_int_equal(times(&r, 0, 1)->before, 201);
    drop(&r);
}

static void assert_refused(struct rig *r)
{
    assert_false(judge_kernels(r->t, &r->p, &r->run));
    drop(r);
}

static void a_deadlock_is_refused(void **state)
{
    struct rig r = rig_of(CUBE8);
    struct judge_end pes[2] = {end_of(&r, "c0.pe0"), end_of(&r, "c0.pe1")};

    (void)state;
    message(&r, kernel(&r, "c0.pe0"), JUDGE_RECV, "c0.pe1", 4);
    assert_refused(&r);
    r = rig_of(CUBE8);
    message(&r, kernel(&r, "c0.pe0"), JUDGE_SEND, "c0.pe1", 5 * 4096);
    assert_refused(&r);
    r = rig_of(CUBE8);
    judge_add_group(&r.p, pes, 2);
    barrier(&r, kernel(&r, "c0.pe0"), 0);
    assert_refused(&r);
}

static void other_bytes_than_were_sent_are_refused(void **state)
{
    static const uint64_t sizes[][2] = {{4, 8}, {8, 4}, {4096, 4100}, {4100, 4096}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct rig r = rig_of(CUBE8);

        message(&r, kernel(&r, "c0.pe0"), JUDGE_SEND, "c0.pe1", sizes[i][0]);
        message(&r, kernel(&r, "c0.pe1"), JUDGE_RECV, "c0.pe0", sizes[i][1]);
        assert_refused(&r);
    }
}

/* -- mistakes of the caller ----------------------------------------------------------------- */

static void a_program_without_sense_is_refused(void **state)
{
    struct rig r = rig_of(CUBE8);
    size_t k = kernel(&r, "c0.pe0");

    (void)state;
    dma(&r, k, JUDGE_LOAD, "c0.pe0.tcm", 4096, false); /* its own */
    assert_false(judge_kernels(r.t, &r.p, &r.run));
    judge_run_clear(&r.run);
    r.p.kernels[k].n = 0;
    wait_for(&r, k, 0);
    assert_false(judge_kernels(r.t, &r.p, &r.run));
    judge_run_clear(&r.run);
    r.p.kernels[k].n = 0;
    kernel(&r, "c0.pe0");
    assert_false(judge_kernels(r.t, &r.p, &r.run));
    drop(&r);
    r = rig_of(CUBE8);
    message(&r, kernel(&r, "c0.pe0"), JUDGE_SEND, "c0.pe0", 4); /* to itself */
    assert_refused(&r);
}

/* -- random programs ------------------------------------------------------------------------ */

/* What seed `seed` draws: the machine, the program, its run. */
static struct rig random_rig_of(uint64_t seed, bool talks)
{
    char *yaml = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&yaml, &n);
    struct rig r;

    assert_non_null(out);
    judge_random_kernel_topo(out, seed);
    fclose(out);
    r = rig_of(yaml);
    free(yaml);
    if (talks)
        judge_random_talk(r.t, seed, &r.p);
    else
        judge_random_program(r.t, seed, &r.p);
    return r;
}

static struct rig random_rig(uint64_t seed)
{
    return random_rig_of(seed, false);
}

static char *text_of(const struct judge_program *p)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    judge_print_program(out, p);
    fclose(out);
    return text;
}

/* What holds of every run, whatever its program. */
static void assert_sane(const struct rig *r, uint64_t seed)
{
    const struct judge_run *run = &r->run;
    bool ok = run->total_fs >= run->start_fs + run->kernel_fs;

    for (size_t i = 0; i < run->n_records; i++) {
        const struct judge_op_record *o = &run->records[i];
        const struct judge_command_times *c = &run->kernels[o->kernel].commands[o->command];
        const struct judge_command *called = &r->p.kernels[o->kernel].commands[o->command];

        ok = ok && o->op_id == i && o->t_issue == c->issue_fs && o->t_start >= o->t_issue;
        ok = ok && o->t_end <= c->end_fs;
        ok = ok && o->t_end + (called->class == JUDGE_SORT) > o->t_start; /* of rows of 1: 0 */
        ok = ok && (o->parent == UINT64_MAX ? c->op_id == i : c->op_id == o->parent);
        ok = ok && (called->kind > JUDGE_STORE || o->address % 64 == 0);
        ok = ok && (i == 0 || o->t_issue >= run->records[i - 1].t_issue);
    }
    if (!ok) {
        judge_print_program(stderr, &r->p);
        fail_msg("seed %" PRIu64 ": the run makes no sense", seed);
    }
}

static void count_kinds(const struct judge_program *p, size_t kinds[JUDGE_KINDS])
{
    for (size_t k = 0; k < p->n; k++) {
        for (size_t i = 0; i < p->kernels[k].n; i++)
            kinds[p->kernels[k].commands[i].kind]++;
    }
}

static void random_programs_run(void **state)
{
    size_t kinds[JUDGE_KINDS] = {0}, records = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rig r = random_rig(seed);

        run(&r);
        assert_sane(&r, seed);
        records += r.run.n_records;
        count_kinds(&r.p, kinds);
        drop(&r);
    }
    for (size_t i = 0; i <= JUDGE_WAIT; i++)
        assert_true(kinds[i] > SEEDS);
    assert_true(records > 100 * SEEDS);
}

/* There is no deadlock, but many wait for a slot, and messages come in every order. */
static void random_programs_talk(void **state)
{
    size_t kinds[JUDGE_KINDS] = {0}, waited = 0, pieces = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rig r = random_rig_of(seed, true);

        run(&r);
        count_kinds(&r.p, kinds);
        for (size_t i = 0; i < r.run.n_records; i++) {
            const struct judge_op_record *o = &r.run.records[i];
            const struct judge_command_times *c = times(&r, o->kernel, o->command);

            pieces += o->stage == JUDGE_COPY;
            waited += o->stage == JUDGE_COPY && o->op_id == c->op_id && c->return_fs > c->issue_fs;
        }
        drop(&r);
    }
    for (size_t i = 0; i <= JUDGE_ATOMIC; i++)
        assert_true(kinds[i] > SEEDS / 5 || i == JUDGE_WAIT_ALL);
    assert_int_equal(kinds[JUDGE_SEND], kinds[JUDGE_RECV]);
    assert_true(waited > kinds[JUDGE_SEND] / 5);
    assert_true(pieces > 2 * kinds[JUDGE_SEND]);
}

/* Leaves only loads and stores of slices and SRAMs, and lets none of them block. Those to several
 * memories have one offset in all, as a replay's. */
static void keep_dma(struct judge_program *p)
{
    for (size_t k = 0; k < p->n; k++) {
        struct judge_kernel *kept = &p->kernels[k];
        size_t n = 0;

        for (size_t i = 0; i < kept->n; i++) {
            struct judge_command c = kept->commands[i];

            if (c.kind > JUDGE_STORE || c.at.kind == JUDGE_TCM)
                continue;
            c.async = true;
            for (size_t t = 0; t < c.n_targets; t++)
                c.offsets[t] = c.offset;
            kept->commands[n++] = c;
        }
        kept->n = n;
    }
}

/* Is a tile of that PE its runs? */
static bool cuts_tiles(const struct rig *r, const struct judge_end *pe)
{
    return strcmp(judge_cube_text(r->t, pe->sip, pe->cube, "cube.pe.pe_dma.tiles"), "runs") == 0;
}

/* The replay's judge says the same of transactions that are issued at the same times. */
static void transactions_take_what_a_replay_says(void **state)
{
    size_t compared = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rig r = random_rig(seed);
        struct judge_row *rows;
        struct judge_result *results;
        uint64_t fingerprint;
        size_t n;

        keep_dma(&r.p);
        run(&r);
        n = r.run.n_records;
        rows = calloc(n + 1, sizeof *rows);
        results = calloc(n + 1, sizeof *results);
        for (size_t i = 0; i < n; i++) {
            const struct judge_op_record *o = &r.run.records[i];
            const struct judge_command *c = &r.p.kernels[o->kernel].commands[o->command];

            rows[i].issue_fs = o->t_issue;
            rows[i].op = c->kind == JUDGE_LOAD ? JUDGE_READ : JUDGE_WRITE;
            rows[i].src = r.p.kernels[o->kernel].pe;
            rows[i].dst = c->at;
            rows[i].offset = c->offset;
            rows[i].nbytes = c->nbytes;
            rows[i].rows = cuts_tiles(&r, &rows[i].src) ? c->rows : 0;
            rows[i].stride = c->stride;
            rows[i].n_targets = c->n_targets;
            memcpy(rows[i].targets, c->targets, sizeof c->targets);
        }
        assert_true(judge_replay(r.t, rows, n, results, &fingerprint));
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(r.run.records[i].t_start, results[i].start_fs);
            assert_int_equal(r.run.records[i].t_end, results[i].done_fs);
        }
        assert_true(r.run.fingerprint == fingerprint);
        compared += n;
        free(rows);
        free(results);
        drop(&r);
    }
    assert_true(compared > 10 * SEEDS);
}

static void the_same_seed_gives_the_same_program_and_times(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 5; seed++) {
        struct rig a = random_rig_of(seed, seed % 2), b = random_rig_of(seed, seed % 2);
        char *x = text_of(&a.p), *y = text_of(&b.p);

        assert_string_equal(x, y);
        run(&a);
        run(&b);
        assert_true(a.run.fingerprint == b.run.fingerprint);
        assert_int_equal(a.run.total_fs, b.run.total_fs);
        free(x);
        free(y);
        drop(&a);
        drop(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_starts_when_the_last_launch_arrives),
        cmocka_unit_test(a_load_of_the_own_slice),
        cmocka_unit_test(a_dot_and_an_exp),
        cmocka_unit_test(products_of_two_types_and_batches),
        cmocka_unit_test(rows_of_one_transaction),
        cmocka_unit_test(multicasts_of_a_kernel),
        cmocka_unit_test(launches_that_wait),
        cmocka_unit_test(a_composite_in_the_own_slice),
        cmocka_unit_test(a_composite_with_a_loaded),
        cmocka_unit_test(two_pes_load_from_one_slice),
        cmocka_unit_test(a_second_load_waits_for_the_only_channel),
        cmocka_unit_test(with_two_channels_it_waits_for_the_memory),
        cmocka_unit_test(a_wait_for_what_has_ended_takes_no_time),
        cmocka_unit_test(at_one_instant_the_lower_id_is_first),
        cmocka_unit_test(two_write_channels_carry_two_stores),
        cmocka_unit_test(links_queue_if_fifo),
        cmocka_unit_test(a_load_from_a_tcm_takes_turns_with_its_fetches),
        cmocka_unit_test(a_store_into_a_tcm_takes_turns_with_its_stores_only),
        cmocka_unit_test(a_tcm_has_a_link_of_its_own_bandwidth_each_way),
        cmocka_unit_test(with_one_tile_buffer_reads_wait_for_fetches),
        cmocka_unit_test(with_two_tile_buffers_reads_go_ahead),
        cmocka_unit_test(a_third_tile_buffer_helps_if_fetches_are_slow),
        cmocka_unit_test(a_second_composite_waits_for_the_buffers_of_the_first),
        cmocka_unit_test(two_channels_read_a_and_b_together),
        cmocka_unit_test(tiles_at_the_edges_are_what_is_left),
        cmocka_unit_test(epilogues_come_after_the_last_k),
        cmocka_unit_test(a_composite_of_math),
        cmocka_unit_test(five_pieces_in_four_slots),
        cmocka_unit_test(slots_may_be_in_an_sram),
        cmocka_unit_test(a_barrier_ends_for_all_after_the_last),
        cmocka_unit_test(atomics_add_up_in_order_of_service),
        cmocka_unit_test(a_deadlock_is_refused),
        cmocka_unit_test(other_bytes_than_were_sent_are_refused),
        cmocka_unit_test(a_program_without_sense_is_refused),
        cmocka_unit_test(random_programs_run),
        cmocka_unit_test(random_programs_talk),
        cmocka_unit_test(transactions_take_what_a_replay_says),
        cmocka_unit_test(the_same_seed_gives_the_same_program_and_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
