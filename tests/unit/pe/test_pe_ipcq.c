/* test_pe_ipcq.c -- queues between PEs: times by hand, order, bytes, pending results, mistakes. */
#include "support/talks.h"

#define CUBE8 "kernbench: 1\nname: queues\nsip: {cube_mesh: {w: 4, h: 2}}\n"

/*
 * By hand, cube8. A command is issued 3 ns after its call: pe_cpu 2, pe_scheduler 1.
 *
 * c0.pe0 to the TCM of c0.pe1: 0.5 mm to the NoC, 3.75 across it (15 mm, four PEs to a row), 0.5
 * from it, 10 ps/mm: 0.0475; no overhead. A piece of 4096 B drains at the NoC's 128 GB/s in 32, and
 * is fetched at 512 GB/s in 8. The way back is as long.
 *
 * c0.pe0 to the TCM of c1.pe0: 0.5 to the NoC, 13.125 + 5.5 to ucie-E, 0.5, 1 to c1's ucie-W, 0.5,
 * 5.5 + 1.875 to pe0, 0.5: 29 mm, 0.29; two ucie of 1: 2.29. The way back is as long.
 */
enum { PIECE = 1024, NEXT_CUBE = 8 }; /* f32; c1.pe0 */

static const uint32_t pair[] = {0, 1}, next_cube[] = {0, NEXT_CUBE};

/* All have got their numbers at the same instant: that is mark 0. */
static tl_tensor *numbers_and_mark(tl_ctx *tl, const kb_args *args, int64_t n)
{
    tl_tensor *x = numbers(tl, 0, n);

    mark(tl, args, 0);
    return x;
}

/* -- times ---------------------------------------------------------------------------------- */

/* The lower PE sends to the higher one, which receives at once. */
static void sends(tl_ctx *tl, const kb_args *args, uint32_t to, int64_t pieces)
{
    tl_tensor *x = numbers_and_mark(tl, args, pieces * PIECE);

    if (tl_pe(tl) == 0)
        tl_send(tl, to, 3, x);
    else
        tl_recv(tl, 0, 3, KB_F32, KB_SHAPE(pieces * PIECE));
    mark(tl, args, 1);
}

static void one_piece(tl_ctx *tl, const kb_args *args)
{
    sends(tl, args, 1, 1);
}

/* Ids: two loads, then the piece, the recv, and its FETCH. */
static void a_message_of_one_piece(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, one_piece, &m, pair, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3);
    assert_logged(&m, log, 2, "t_issue", 3);
    assert_logged(&m, log, 2, "t_start", 3);
    assert_logged(&m, log, 2, "t_end", 3 + 0.0475 + 32);
    assert_logged(&m, log, 4, "t_start", 3 + 0.0475 + 32);
    assert_logged(&m, log, 4, "t_end", 3 + 0.0475 + 32 + 8);
    assert_at(&m, 1, 1, 3 + 0.0475 + 32 + 8);
    free(log);
}

static void three_pieces(tl_ctx *tl, const kb_args *args)
{
    sends(tl, args, 1, 3);
}

/* The only write channel takes a piece after the other; FETCHes are done meanwhile. */
static void a_message_of_three_pieces(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, three_pieces, &m, pair, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_logged(&m, log, 2 + i, "t_issue", 3);
        assert_logged(&m, log, 2 + i, "t_start", 3 + i * 32.0475);
        assert_logged(&m, log, 2 + i, "t_end", 3 + (i + 1) * 32.0475);
        assert_logged(&m, log, 6 + i, "t_start", 3 + (i + 1) * 32.0475);
        assert_logged(&m, log, 6 + i, "t_end", 3 + (i + 1) * 32.0475 + 8);
    }
    assert_at(&m, 1, 1, 3 + 3 * 32.0475 + 8);
    free(log);
}

static void to_the_next_cube(tl_ctx *tl, const kb_args *args)
{
    sends(tl, args, NEXT_CUBE, 1);
}

static void a_message_to_another_cube(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, to_the_next_cube, &m, next_cube, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3);
    assert_logged(&m, log, 2, "t_end", 3 + 2.29 + 32);
    assert_at(&m, NEXT_CUBE, 1, 3 + 2.29 + 32 + 8);
    free(log);
}

/* c0.pe0 and c0.pe1 send to c1.pe0 and c1.pe1. */
static void side_by_side(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers_and_mark(tl, args, PIECE);

    if (tl_pe(tl) < 2)
        tl_send(tl, tl_pe(tl) + NEXT_CUBE, 0, x);
    else
        tl_recv(tl, tl_pe(tl) - NEXT_CUBE, 0, KB_F32, KB_SHAPE(PIECE));
    mark(tl, args, 1);
}

/*
 * c0.pe1 is 3.75 mm nearer to ucie-E, c1.pe1 as much farther from ucie-W: the ways are equal. With
 * links that queue, pe1's piece is first at ucie-E, after 0.005 + 0.14875, and has that link for
 * 4096 / 128 = 32; pe0's comes there after 0.005 + 0.18625, and waits for 32 - 0.0375.
 */
static void pieces_share_links_that_queue(void **state)
{
    static const uint32_t pes[] = {0, 1, NEXT_CUBE, NEXT_CUBE + 1};
    const kb_topology *fifo = any_topology(CUBE8 "contention: {links: fifo}\n");
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, side_by_side, &m, pes, 4));
    count_from(&m, 0, 0);
    assert_at(&m, NEXT_CUBE, 1, 3 + 2.29 + 32 + 8);
    assert_at(&m, NEXT_CUBE + 1, 1, 3 + 2.29 + 32 + 8);
    free(talk(fifo, side_by_side, &m, pes, 4));
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3);
    assert_at(&m, NEXT_CUBE, 1, 3 + 31.9625 + 2.29 + 32 + 8);
    assert_at(&m, NEXT_CUBE + 1, 1, 3 + 2.29 + 32 + 8);
    any_topology_free(fifo);
}

/* -- credits -------------------------------------------------------------------------------- */

static void five_pieces(tl_ctx *tl, const kb_args *args)
{
    sends(tl, args, 1, 5);
}

/*
 * Four slots: the fifth piece may go when the first has been fetched, after 3 + 32.0475 + 8, and
 * the word has come back, 0.0475 later. The channel has the third then.
 */
static void a_piece_more_than_slots_waits_for_a_credit(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, five_pieces, &m, pair, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3 + 32.0475 + 8 + 0.0475);
    assert_logged(&m, log, 6, "t_issue", 3);
    assert_logged(&m, log, 6, "t_start", 3 + 4 * 32.0475);
    assert_logged(&m, log, 6, "t_end", 3 + 5 * 32.0475);
    assert_at(&m, 1, 1, 3 + 5 * 32.0475 + 8);
    free(log);
}

static void receives_late(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers_and_mark(tl, args, 5 * PIECE);

    if (tl_pe(tl) == 0) {
        tl_send(tl, 1, 0, x);
    } else {
        for (int i = 0; i < 10; i++)
            numbers(tl, 0, PIECE);
        mark(tl, args, 2);
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(5 * PIECE));
    }
    mark(tl, args, 1);
}

/*
 * The receiver loads ten times 4096 B of its slice: 3 + 18.085 each, 210.85. All four slots are
 * full at 3 + 4 * 32.0475 = 131.19; the recv is issued at 213.85, the first FETCH ends at 221.85,
 * the credit is there at 221.8975, and the last piece finds a free channel.
 */
static void a_full_ring_stops_the_sender_until_the_receiver_takes(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, receives_late, &m, pair, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 1, 2, 210.85);
    assert_at(&m, 0, 1, 210.85 + 3 + 8 + 0.0475);
    assert_at(&m, 1, 1, 210.85 + 3 + 8 + 0.0475 + 32.0475 + 8);
    free(log);
}

/* -- costs left out ------------------------------------------------------------------------- */

/* When the sender goes on and the receiver has all, by both engines. */
static void assert_without(unsigned costs_off, kb_kernel kernel, uint32_t to, double sent,
                           double received)
{
    const uint32_t pes[] = {0, to};

    for (int engine = 0; engine < 2; engine++) {
        kb_options options = {.engine = engine ? KB_HOP : KB_FUSED, .costs_off = costs_off};
        struct marks m;
        uint64_t none;

        talk_once(&cube8_topology, options, kernel, &m, pes, 2, &none);
        count_from(&m, 0, 0);
        assert_at(&m, 0, 1, sent);
        assert_at(&m, to, 1, received);
    }
}

/* Each class of cost is one term of the sums above. */
static void messages_without_some_costs(void **state)
{
    const unsigned all_gbs = KB_COST_LINK_GBS | KB_COST_MEMORY_GBS | KB_COST_TCM_GBS;

    (void)state;
    assert_without(KB_COST_WIRE, one_piece, 1, 3, 3 + 32 + 8);
    assert_without(KB_COST_WIRE, to_the_next_cube, NEXT_CUBE, 3, 3 + 2 + 32 + 8);
    assert_without(KB_COST_OVERHEAD, to_the_next_cube, NEXT_CUBE, 0, 0.29 + 32 + 8);
    assert_without(KB_COST_TCM_GBS, one_piece, 1, 3, 3 + 0.0475 + 32);
    assert_without(KB_COST_LINK_GBS, one_piece, 1, 3, 3 + 0.0475 + 8 + 8); /* the write port */
    assert_without(all_gbs, one_piece, 1, 3, 3 + 0.0475);
    assert_without(KB_COST_CHANNELS, three_pieces, 1, 3, 3 + 0.0475 + 3 * 32 + 8);
    assert_without(KB_COST_WIRE, five_pieces, 1, 3 + 32 + 8, 3 + 5 * 32 + 8);
    assert_without(all_gbs, five_pieces, 1, 3 + 0.0475 + 0.0475, 3 + 5 * 0.0475);
    assert_without(all_gbs | KB_COST_WIRE | KB_COST_OVERHEAD, five_pieces, 1, 0, 0);
}

/* -- order ---------------------------------------------------------------------------------- */

/* Three messages of one number each, on tags 0, 1, 0; tag 1 is taken first. */
static void takes_another_tag_first(tl_ctx *tl, const kb_args *args)
{
    static const int sent[] = {0, 1, 0}, taken[] = {1, 0, 0};

    for (int i = 0; i < 3; i++) {
        if (tl_pe(tl) == 0) {
            tl_send(tl, 1, sent[i], numbers(tl, i, 1));
        } else {
            tl_tensor *x = tl_recv(tl, 0, taken[i], KB_F32, KB_SHAPE(1));

            mark_value(tl, args, (unsigned)i, tl_get(tl, x, 0));
        }
    }
}

static void tags_are_queues_of_their_own(void **state)
{
    static const double order[] = {2, 1, 3};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, takes_another_tag_first, &m, pair, 2));
    for (int i = 0; i < 3; i++)
        assert_true(m.value[1][i] == order[i]);
}

/* Each is the other's next and the one before; 12 pieces in 4 slots go round. */
static void goes_round(tl_ctx *tl, const kb_args *args)
{
    uint32_t other = 1 - tl_pe(tl);
    tl_tensor *x = numbers(tl, 0, 12 * PIECE);
    tl_tensor *before = tl_recv_async(tl, other, 0, KB_F32, KB_SHAPE(12 * PIECE));
    tl_tensor *next = tl_recv_async(tl, other, 1, KB_F32, KB_SHAPE(12 * PIECE));

    tl_send(tl, other, 0, x);
    tl_send(tl, other, 1, x);
    tl_wait(tl, next);
    tl_wait(tl, before);
    for (int i = 0; i < 12 * PIECE; i++)
        assert_true(tl_get(tl, before, i) == i + 1 && tl_get(tl, next, i) == i + 1);
    mark(tl, args, 0);
}

static void two_that_are_each_others_neighbours_on_both_sides(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, goes_round, &m, pair, 2));
    assert_true(m.fs[0][0] > 0 && m.fs[1][0] > 0);
}

/* PE 1 is there first, with a recv of its own sent much later; PE 0 finds a message at once. */
static void early_and_late(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers_and_mark(tl, args, PIECE);

    if (tl_pe(tl) == 0) {
        for (int i = 0; i < 10; i++)
            numbers(tl, 0, PIECE);
        tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(PIECE));
        mark(tl, args, 1);
        tl_send(tl, 1, 0, x);
    } else {
        tl_send(tl, 0, 0, x);
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(PIECE));
    }
    mark(tl, args, 2);
}

static void the_first_to_come_waits(void **state)
{
    double took = 210.85 + 3 + 8;
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, early_and_late, &m, pair, 2));
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, took);
    assert_at(&m, 0, 2, took + 3);
    assert_at(&m, 1, 2, took + 3 + 32.0475 + 8);
}

/* Two receives under way at once, on one queue and in its order. */
static void receives_async(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers_and_mark(tl, args, 2), *first, *second;

    if (tl_pe(tl) == 0) {
        tl_send(tl, 1, 0, tl_reshape(tl, numbers(tl, 10, 4), KB_SHAPE(2, 2)));
        tl_send(tl, 1, 0, x);
        return;
    }
    first = tl_recv_async(tl, 0, 0, KB_F32, KB_SHAPE(4));
    mark(tl, args, 1);
    second = tl_recv_async(tl, 0, 0, KB_F32, KB_SHAPE(2, 1));
    mark(tl, args, 2);
    tl_wait(tl, second);
    tl_wait(tl, first);
    mark_value(tl, args, 3, tl_get(tl, first, 3));
    mark_value(tl, args, 4, tl_get(tl, second, 1));
    assert_int_equal(tl_shape(second).rank, 2);
}

static void receives_may_be_under_way_together(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, receives_async, &m, pair, 2));
    count_from(&m, 0, 0);
    assert_at(&m, 1, 1, 3);
    assert_at(&m, 1, 2, 6);
    assert_true(m.value[1][3] == 14);
    assert_true(m.value[1][4] == 2);
}

/* -- other memories ------------------------------------------------------------------------- */

#define QUEUES(space)                                                                              \
    CUBE8 "cube: {pe: {pe_ipcq: {slots: 2, slot_bytes: 1001, space: " space "}}}\n"

/* 300 f64: in a slot of 1001 B are 125 of them, so pieces have 1000, 1000 and 400 B. */
static void sends_doubles(tl_ctx *tl, const kb_args *args)
{
    uint64_t slice = SLICE(tl_pe(tl));
    tl_tensor *x = tl_load(tl, slice, KB_F64, KB_SHAPE(300)), *y;
    const double *sent = tl_data(tl, x);

    mark(tl, args, 0);
    if (tl_pe(tl) == 0) {
        tl_send(tl, 1, 15, x);
    } else {
        y = tl_recv(tl, 0, 15, KB_F64, KB_SHAPE(300));
        assert_memory_equal(tl_data(tl, y), sent, 2400); /* slices hold copies */
    }
    mark(tl, args, 1);
}

/*
 * To c0.slice1: pe0's crossbar 6 mm, 1 along the chain, 2.5 to the slice, two crossbars of 2:
 * 4.095, and 128 GB/s of the chain. Out of it by pe1: 2.085, and 256 GB/s.
 *
 *   piece 0  3 + 4.095 + 7.8125                               = 14.9075
 *   read 0   arrives 2.085 later, 16.9925; + 1000 / 256       = 20.89875
 *   credit   + 0.0475: piece 2 joins the channel              = 20.94625
 *   piece 1  arrives 19.0025, waits for read 0; + 7.8125      = 28.71125
 *   read 1   arrives 30.79625; + 3.90625                      = 34.7025
 *   piece 2  arrives 28.71125 + 4.095, waits for read 1; + 400 / 128 = 37.8275
 *   read 2   + 2.085 + 400 / 256                              = 41.475
 */
static void slots_in_the_receivers_slice(void **state)
{
    const kb_topology *topo = any_topology(QUEUES("hbm"));
    struct marks m;
    char *log = talk(topo, sends_doubles, &m, pair, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 20.94625);
    assert_logged(&m, log, 2, "t_end", 14.9075);
    assert_logged(&m, log, 3, "t_end", 28.71125);
    assert_logged(&m, log, 4, "t_end", 37.8275);
    assert_logged(&m, log, 6, "t_end", 20.89875);
    assert_logged(&m, log, 7, "t_end", 34.7025);
    assert_at(&m, 1, 1, 41.475);
    assert_true(logged(log, 4, "nbytes") == 400);
    assert_true(logged(log, 4, "dst_addr") == logged(log, 2, "dst_addr"));
    assert_true(logged(log, 3, "dst_addr") == logged(log, 2, "dst_addr") + 1001);
    assert_true(logged(log, 2, "dst_addr") == 2 * (double)SLICE_BYTES - 2048); /* 2002, by 64 */
    free(log);
    any_topology_free(topo);
}

/*
 * c0.sram from pe0: 0.5 + 0.375 + 9 + 0.5 mm: 0.10375; from pe1: 0.5 + 4.125 + 9 + 0.5: 0.14125.
 * 128 GB/s both ways.
 *
 *   piece 0  3 + 0.10375 + 7.8125                             = 10.91625
 *   read 0   arrives 11.0575, after piece 1 at 11.02
 *   piece 1  11.02 + 7.8125                                   = 18.8325
 *   read 0   + 7.8125                                         = 26.645
 *   read 1   the only read channel: 26.645 + 0.14125 + 7.8125 = 34.59875
 *   piece 2  credit of read 0, 26.6925; arrives 26.79625 after read 1 at 26.78625, and waits:
 *            34.59875 + 3.125                                 = 37.72375
 *   read 2   + 0.14125 + 3.125                                = 40.99
 */
static void slots_in_an_sram(void **state)
{
    const kb_topology *topo = any_topology(QUEUES("sram"));
    struct marks m;
    char *log = talk(topo, sends_doubles, &m, pair, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 26.6925);
    assert_logged(&m, log, 2, "t_end", 10.91625);
    assert_logged(&m, log, 3, "t_end", 18.8325);
    assert_logged(&m, log, 4, "t_end", 37.72375);
    assert_logged(&m, log, 6, "t_end", 26.645);
    assert_logged(&m, log, 7, "t_end", 34.59875);
    assert_at(&m, 1, 1, 40.99);
    free(log);
    any_topology_free(topo);
}

/* Many queues into one memory: none lies on another. */
static void all_send_to_one(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    (void)args;
    if (pe > 0) {
        for (int tag = 0; tag < 2; tag++)
            tl_send(tl, 0, tag, numbers(tl, 100 * (int64_t)pe + tag, 250));
        return;
    }
    for (uint32_t from = 7; from > 0; from--) {
        for (int tag = 1; tag >= 0; tag--) {
            tl_tensor *x = tl_recv(tl, from, tag, KB_F32, KB_SHAPE(250));

            for (int i = 0; i < 250; i++)
                assert_true(tl_get(tl, x, i) == 100 * from + (unsigned)tag + 1 + (unsigned)i);
        }
    }
}

static void queues_to_one_pe_have_slots_of_their_own(void **state)
{
    static const char *const yaml[] = {QUEUES("tcm"), QUEUES("sram"), QUEUES("hbm")};
    static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct marks m;

    (void)state;
    for (size_t i = 0; i < LENGTH(yaml); i++) {
        const kb_topology *topo = any_topology(yaml[i]);

        free(talk(topo, all_send_to_one, &m, pes, 8));
        any_topology_free(topo);
    }
}

/* -- pending and ready ---------------------------------------------------------------------- */

enum { DIM = 40 }; /* 6400 B: two pieces */

/* c0.pe0 multiplies, c0.pe1 adds 1 to the right half, c1.pe0 stores what it gets. */
static void two_hops(tl_ctx *tl, const kb_args *args)
{
    uint64_t out = *(const uint64_t *)args->user;
    tl_tensor *x, *y;

    if (tl_pe(tl) == 0) {
        x = tl_reshape(tl, numbers(tl, 0, DIM * DIM), KB_SHAPE(DIM, DIM));
        y = tl_reshape(tl, numbers(tl, 7, DIM * DIM), KB_SHAPE(DIM, DIM));
        tl_send(tl, 1, 0, tl_reshape(tl, tl_dot(tl, x, y), KB_SHAPE(DIM * DIM)));
    } else if (tl_pe(tl) == 1) {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(DIM, DIM));
        tl_send(tl, NEXT_CUBE, 0, tl_add(tl, x, tl_scalar(tl, 1)));
        tl_send(tl, NEXT_CUBE, 0, x);
    } else {
        x = tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(DIM * DIM));
        y = tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(DIM, DIM));
        tl_store(tl, out, x);
        tl_store(tl, out + (uint64_t)DIM * DIM * 4, y);
    }
}

/* Small integers are exact in f32 while products stay below 2^24. */
static float product(int row, int column)
{
    float sum = 0;

    for (int k = 0; k < DIM; k++)
        sum += (float)(row * DIM + k + 1) * (float)(k * DIM + column + 8) / 65536;
    return sum;
}

static void compute_two_hops(unsigned threads, kb_engine engine, float *got, uint64_t *print)
{
    static const uint32_t pes[] = {0, 1, NEXT_CUBE};
    static uint64_t out;
    kb_sim *sim = new_sim(&cube8_topology,
                          (kb_options){.engine = engine, .phase2 = true, .fingerprint = true});
    kb_placement whole = {KB_REPLICATE, KB_REPLICATE};
    kb_compute_options compute = {.threads = threads, .verify_ops = true};
    kb_launch_request r = {.name = "talk", .kernel = two_hops, .args.user = &out, .pes = pes};
    kb_error why = {""};
    kb_tensor *y;

    r.n_pes = LENGTH(pes);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "y", KB_F32, KB_SHAPE(2, DIM, DIM), whole, &y, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(y, 0, 0, &why), KB_OK);
    out = kb_tensor_shard(y, 0).address;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    if (kb_compute(sim, &compute, &why) != KB_OK)
        fail_msg("%s", why.text);
    assert_int_equal(kb_tensor_read(y, got, &why), KB_OK);
    *print = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
}

static void results_of_phase_2_pass_two_pes(void **state)
{
    static float got[2 * DIM * DIM], other[2 * DIM * DIM];
    uint64_t print, other_print;

    (void)state;
    compute_two_hops(1, KB_FUSED, got, &print);
    for (int i = 0; i < DIM * DIM; i++) {
        double want = (double)product(i / DIM, i % DIM) * 65536;

        assert_true(fabs((double)got[DIM * DIM + i] - want) <= 1e-5 * want);
        assert_true(fabs((double)got[i] - want - 1) <= 1e-5 * want);
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        compute_two_hops(threads, threads % 2 ? KB_HOP : KB_FUSED, other, &other_print);
        assert_memory_equal(other, got, sizeof got);
        assert_true(other_print == print);
    }
}

/*
 * c0.pe0's slice has f32 1, 2, ...; it adds 0.5 to 300 of them from the 1500th on, in place, and
 * sends 3000: three pieces, of which the second is partly pending and the others are ready.
 */
static void sends_a_mixture(tl_ctx *tl, const kb_args *args)
{
    uint64_t out = *(const uint64_t *)args->user;

    if (tl_pe(tl) == 0) {
        tl_store(tl, SLICE(0) + 6000, tl_add(tl, numbers(tl, 1500, 300), tl_scalar(tl, 0.5)));
        tl_send(tl, 1, 0, numbers(tl, 0, 3000));
    } else {
        tl_store(tl, out, tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(3000)));
    }
}

static void ready_and_pending_bytes_in_one_message(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.phase2 = true});
    kb_placement whole = {KB_REPLICATE, KB_REPLICATE};
    kb_launch_request r = {.name = "talk", .kernel = sends_a_mixture, .pes = pair, .n_pes = 2};
    kb_error why = {""};
    kb_tensor *y;
    uint64_t out;
    float got[3000];

    (void)state;
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_tensor_new(sim, "y", KB_F32, KB_SHAPE(3000), whole, &y, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(y, 0, 0, &why), KB_OK);
    out = kb_tensor_shard(y, 0).address;
    r.args.user = &out;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_tensor_read(y, got, &why), KB_PENDING);
    assert_int_equal(kb_compute(sim, NULL, &why), KB_OK);
    assert_int_equal(kb_tensor_read(y, got, &why), KB_OK);
    for (int i = 0; i < 3000; i++)
        assert_true(got[i] == (float)(i + 1) + (i >= 1500 && i < 1800 ? 0.5f : 0));
    kb_sim_free(sim);
}

/* What is received can be looked at: the way depends on it. */
static void branches(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0) {
        tl_send(tl, 1, 0, numbers(tl, 41, 1));
        return;
    }
    tl_tensor *x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(1));

    if (tl_get(tl, x, 0) == 42)
        mark_value(tl, args, 0, tl_get(tl, numbers(tl, 6, 1), 0));
}

static void ready_bytes_arrive_ready(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, branches, &m, pair, 2));
    assert_true(m.value[1][0] == 7);
}

/*
 * The snapshot of a piece is the op that made it; that of what was received, its last piece. Ids:
 * a load 0, the recv 1 and its FETCHes, the dot 4 with FETCH and STORE, pieces 7 and 8, a store 9.
 */
static void multiplies_and_sends(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    (void)args;
    if (tl_pe(tl) == 0) {
        x = tl_reshape(tl, numbers(tl, 0, DIM * DIM), KB_SHAPE(DIM, DIM));
        tl_send(tl, 1, 0, tl_dot(tl, x, x));
    } else {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(DIM * DIM));
        tl_store(tl, SLICE(1), x);
    }
}

static void a_piece_names_the_op_that_made_it(void **state)
{
    struct marks m;
    char *log = talk(&cube8_topology, multiplies_and_sends, &m, pair, 2);

    (void)state;
    assert_true(logged(log, 7, "snapshot") == 4);
    assert_true(logged(log, 8, "snapshot") == 4);
    assert_true(logged(log, 9, "snapshot") == 8);
    assert_true(logged(log, 8, "src_addr") == logged(log, 7, "src_addr") + 4096);
    assert_true(logged(log, 8, "nbytes") == 6400 - 4096);
    free(log);
}

/* Of a message in a queue nothing is left when the next launch begins; nor is a word under way. */
static void leaves_one_behind(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = numbers(tl, 0, PIECE);

    (void)args;
    if (tl_pe(tl) == 0) {
        tl_send(tl, 15, 0, x);
        tl_send(tl, 15, 1, x);
    } else {
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(PIECE));
    }
}

/* The credit comes to the other SIP long after the next launch could begin there. */
static void the_next_launch_begins_as_if_nothing_was_there(void **state)
{
    static const uint32_t far[] = {0, 15};
    const kb_topology *topo = any_topology("kernbench: 1\nname: two\nsips: 2\n"
                                           "sip: {cube_mesh: {w: 1, h: 1}}\n"
                                           "fabric: {overhead_ns: 5000}\n");

    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        kb_options options = {.engine = engine ? KB_HOP : KB_FUSED, .fingerprint = engine == 1};
        kb_sim *sim = new_sim(topo, options);
        kb_launch_result first, second;

        launch_talk(sim, leaves_one_behind, NULL, far, 2);
        launch_talk(sim, leaves_one_behind, NULL, far, 2);
        second = run_launched(sim, 0);
        assert_int_equal(kb_launch_get(sim, 0, &first), KB_OK);
        assert_int_equal(second.launch_fs, first.response_fs);
        assert_int_equal(second.last_end_fs - second.launch_fs,
                         first.last_end_fs - first.launch_fs);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* -- the end of time ------------------------------------------------------------------------ */

/* 2^23 B at 0.01 GB/s are 838860800 ns: 2^63 fs are over in the 10996th load of that. */
#define SLOW                                                                                       \
    "kernbench: 1\nname: slow\nsips: 2\nsip: {cube_mesh: {w: 1, h: 1}}\n"                          \
    "fabric: {overhead_ns: 1e6}\ncube: {pes: 1, hbm: {bw_gbs: 0.01}}\n"

/* Until less than 1 ms is left, which a word to the other SIP takes. */
static void pass_the_time(tl_ctx *tl)
{
    for (int i = 0; i < 10996; i++) {
        uint64_t at = tl_mark(tl);

        tl_load(tl, 0, KB_U8, KB_SHAPE(i < 10995 ? 1 << 23 : 969849));
        tl_release(tl, at);
    }
}

/* The sender has sent what slots hold, and learns too late that there is room for more. */
static void credit_after_the_end(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 1) {
        tl_send(tl, 0, 0, tl_load(tl, UINT64_C(1) << 52, KB_U8, KB_SHAPE(5 * 4096)));
        return;
    }
    pass_the_time(tl);
    tl_recv(tl, 1, 0, KB_U8, KB_SHAPE(5 * 4096));
}

static void word_after_the_end(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        pass_the_time(tl);
    tl_barrier(tl, tl_all(tl));
}

static void run_past_the_end(const kb_topology *topo, kb_options options, kb_kernel kernel)
{
    kb_sim *sim = new_sim(topo, options);
    kb_launch_request r = {.name = "talk", .kernel = kernel, .pes = pair, .n_pes = 2};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};
    kb_error why = {""};
    kb_tensor *x;

    assert_int_equal(kb_tensor_new(sim, "x", KB_U8, KB_SHAPE(1 << 23), copies, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 0, 0, &why), KB_OK);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_TIME_RANGE);
    kb_sim_free(sim);
}

static void words_do_not_pass_the_end_of_time(void **state)
{
    const kb_topology *topo = any_topology(SLOW);

    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        kb_options options = {.engine = engine ? KB_HOP : KB_FUSED, .fingerprint = engine == 1};

        run_past_the_end(topo, options, credit_after_the_end);
        run_past_the_end(topo, options, word_after_the_end);
    }
    any_topology_free(topo);
}

/* -- what no PE receives ------------------------------------------------------------------- */

/* Five messages of two pieces and one of one; PE 3 receives the first of PE 1. */
static void loses_some(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    if (pe == 1)
        marks_of(args)->line = __LINE__ + 2;
    for (int i = 0; i < 2 && pe < 3; i++)
        tl_send(tl, 3, 9 - (int)pe, numbers(tl, 0, pe == 0 && i ? 1 : PIECE + 1));
    for (uint32_t i = 0; i < 2 && pe == 3; i++)
        tl_recv(tl, i, 9 - (int)i, KB_F32, KB_SHAPE(PIECE + 1));
    if (pe == 3)
        tl_recv(tl, 0, 9, KB_F32, KB_SHAPE(1));
}

static void messages_that_are_not_received_are_counted(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct marks m = {.line = 0};
    kb_launch_result r;
    kb_error why;

    (void)state;
    launch_talk(sim, loses_some, &m, pes, 4);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    assert_int_equal(r.unreceived, 3);
    assert_int_equal(r.unreceived_from, 1);
    assert_int_equal(r.unreceived_to, 3);
    assert_int_equal(r.unreceived_tag, 8);
    assert_string_equal(r.unreceived_file, __FILE__);
    assert_int_equal(r.unreceived_line, m.line);
    kb_sim_free(sim);
}

/* -- mistakes ------------------------------------------------------------------------------- */

static void assert_refused_on(const kb_topology *topo, kb_kernel kernel, const char *call,
                              const char *reason)
{
    struct marks m = {.line = 0};
    kb_error why = mistake_of(topo, kernel, &m, pair, 2, KB_KERNEL_ERROR);

    assert_says(&why, __FILE__, call, reason);
}

/* WRONG(name, call, reason, statements): what c0.pe0 does is wrong; c0.pe1 does nothing. */
#define WRONG(name, call, reason, ...)                                                             \
    static void name##_kernel(tl_ctx *tl, const kb_args *args)                                     \
    {                                                                                              \
        if (tl_pe(tl) == 1)                                                                        \
            return;                                                                                \
        (void)args;                                                                                \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        assert_refused_on(&cube8_topology, name##_kernel, call, reason);                           \
    }

WRONG(a_pe_that_does_not_exist, "tl_send", "there is no PE 64, only 0..63",
      tl_send(tl, 64, 0, numbers(tl, 0, 1)))
WRONG(a_sender_that_does_not_exist, "tl_recv", "there is no PE 4000000000, only 0..63",
      tl_recv(tl, 4000000000, 0, KB_F32, KB_SHAPE(1)))
WRONG(to_itself, "tl_send", "a PE does not send to itself", tl_send(tl, 0, 0, numbers(tl, 0, 1)))
WRONG(a_tag_below_zero, "tl_recv", "tag -1 is none of 0..15",
      tl_recv(tl, 1, -1, KB_F32, KB_SHAPE(1)))
WRONG(a_tag_too_large, "tl_send", "tag 16 is none of 0..15", tl_send(tl, 1, 16, numbers(tl, 0, 1)))
WRONG(a_scalar, "tl_send", "a scalar cannot be sent, make a tensor of it by tl_full()",
      tl_send(tl, 1, 0, tl_scalar(tl, 1)))
WRONG(what_is_not_in_the_tcm, "tl_send",
      "an operand lies at address 0, not in the TCM: load it first",
      tl_send(tl, 1, 0, tl_ref(tl, 0, KB_F32, KB_SHAPE(4))))
WRONG(a_load_not_waited_for, "tl_send",
      "an operand is a load or a receive that has not been waited for",
      tl_send(tl, 1, 0, tl_load_async(tl, 0, KB_F32, KB_SHAPE(4))))
WRONG(a_recv_not_waited_for, "tl_add",
      "an operand is a load or a receive that has not been waited for",
      tl_add(tl, tl_recv_async(tl, 1, 0, KB_F32, KB_SHAPE(4)), tl_scalar(tl, 1)))
WRONG(looking_at_a_recv_not_waited_for, "tl_get",
      "an operand is a load or a receive that has not been waited for",
      tl_get(tl, tl_recv_async(tl, 1, 0, KB_F32, KB_SHAPE(4)), 0))
WRONG(a_recv_without_elements, "tl_recv", "axis 1 of the shape has 0 elements",
      tl_recv(tl, 1, 0, KB_F32, KB_SHAPE(4, 0)))
WRONG(
    more_than_a_tcm_holds, "tl_recv",
    "the TCM is exhausted: no 16777216 bytes in one piece are free of its 16777216, of which slots "
    "of queues have 16384",
    tl_recv(tl, 1, 0, KB_I8, KB_SHAPE(1 << 24)))

/* c0.pe0 sends `n` f32 in one message; c0.pe1 wants others. */
static void sends_n(tl_ctx *tl, const kb_args *args, int64_t n, int64_t wanted, kb_dtype dtype)
{
    marks_of(args)->line = __LINE__ + 2;
    if (tl_pe(tl) == 0)
        tl_send(tl, 1, 0, numbers(tl, 0, n));
    else
        tl_recv(tl, 0, 0, dtype, KB_SHAPE(wanted));
}

static void wants_more(tl_ctx *tl, const kb_args *args)
{
    sends_n(tl, args, 100, 101, KB_F32);
}

static void wants_less(tl_ctx *tl, const kb_args *args)
{
    sends_n(tl, args, 100, 99, KB_F32);
}

static void wants_a_piece_more(tl_ctx *tl, const kb_args *args)
{
    sends_n(tl, args, PIECE, PIECE + 1, KB_F32);
}

static void wants_a_piece_less(tl_ctx *tl, const kb_args *args)
{
    sends_n(tl, args, PIECE + 1, PIECE, KB_F32);
}

static void wants_as_many_of_another_type(tl_ctx *tl, const kb_args *args)
{
    sends_n(tl, args, PIECE, PIECE, KB_F16);
}

static void wants_as_many_bytes_of_another_type(tl_ctx *tl, const kb_args *args)
{
    sends_n(tl, args, 500, 250, KB_F64);
}

static void wants_two_sends_at_once(tl_ctx *tl, const kb_args *args)
{
    if (tl_pe(tl) == 0) {
        marks_of(args)->line = __LINE__ + 1;
        tl_send(tl, 1, 0, numbers(tl, 0, 4));
        tl_send(tl, 1, 0, numbers(tl, 0, 4));
    } else {
        tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(8));
    }
}

static void assert_other_bytes(const kb_topology *topo, kb_kernel kernel, const char *reason)
{
    struct marks m = {.line = 0};
    kb_error why = mistake_of(topo, kernel, &m, pair, 2, KB_KERNEL_ERROR);
    char text[sizeof why.text];

    snprintf(text, sizeof text, "what was sent at %s:%d %s", __FILE__, m.line, reason);
    assert_non_null(strstr(why.text, "kernel talk on c0.pe1: tl_recv at "));
    assert_non_null(strstr(why.text, text));
}

static void other_bytes_than_were_sent(void **state)
{
    (void)state;
    assert_other_bytes(&cube8_topology, wants_more, "has 400 bytes, not the 404 that are expected");
    assert_other_bytes(&cube8_topology, wants_less, "has 400 bytes, not the 396 that are expected");
    assert_other_bytes(&cube8_topology, wants_a_piece_more,
                       "has 4096 bytes, not the 4100 that are expected");
    assert_other_bytes(&cube8_topology, wants_a_piece_less,
                       "has 4100 bytes, not the 4096 that are expected");
    assert_other_bytes(&cube8_topology, wants_as_many_of_another_type,
                       "has 4096 bytes, not the 2048 that are expected");
    assert_other_bytes(&cube8_topology, wants_two_sends_at_once,
                       "has 16 bytes, not the 32 that are expected");
}

/* 2000 B as f32 are pieces of 1004 and 996, as f64 of 1000 and 1000. */
static void as_many_bytes_cut_otherwise(void **state)
{
    const kb_topology *topo =
        any_topology(CUBE8 "cube: {pe: {pe_ipcq: {slots: 4, slot_bytes: 1004, space: tcm}}}\n");
    struct marks m;

    (void)state;
    assert_other_bytes(topo, wants_as_many_bytes_of_another_type,
                       "came in pieces of 1004 bytes, not of 1000: a slot of 1004 has whole "
                       "elements");
    any_topology_free(topo);
    free(talk(&cube8_topology, wants_as_many_bytes_of_another_type, &m, pair, 2));
}

static void sends_one_double(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_send(tl, 1, 0, tl_load(tl, 0, KB_F64, KB_SHAPE(1)));
}

static void an_element_larger_than_a_slot(void **state)
{
    const kb_topology *topo =
        any_topology(CUBE8 "cube: {pe: {pe_ipcq: {slots: 4, slot_bytes: 7, space: tcm}}}\n");

    (void)state;
    assert_refused_on(topo, sends_one_double, "tl_send",
                      "an element of 8 bytes is larger than a slot of 7");
    any_topology_free(topo);
}

static void no_room_for_slots(void **state)
{
    static const char *const yaml[] = {
        CUBE8 "cube: {pe: {pe_tcm: {size_mb: 1}, pe_ipcq: {slots: 17, slot_bytes: 65536}}}\n",
        CUBE8 "cube: {sram: {size_mb: 1}, pe: {pe_ipcq: {slots: 17, slot_bytes: 65536, "
              "space: sram}}}\n",
        CUBE8 "cube: {pe: {pe_ipcq: {slots: 7, slot_bytes: 1000000000, space: hbm}}}\n",
    };
    static const char *const reasons[] = {
        "no room for the 17 slots of 65536 bytes of a queue: at the end of c0.pe1.tcm 1048576 of "
        "its "
        "1048576 bytes are free, others have 0",
        "no room for the 17 slots of 65536 bytes of a queue: at the end of c0.sram 1048576 of its "
        "1048576 bytes are free, others have 0",
        "no room for the 7 slots of 1000000000 bytes of a queue: at the end of c0.slice1 "
        "6442385408 of "
        "its 6442450944 bytes are free, others have 0"};

    (void)state;
    for (size_t i = 0; i < LENGTH(yaml); i++) {
        const kb_topology *topo = any_topology(yaml[i]);

        assert_refused_on(topo, sends_one_double, "tl_send", reasons[i]);
        any_topology_free(topo);
    }
}

static void sends_ones(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_send(tl, 1, 0, tl_full(tl, KB_F32, KB_SHAPE(4), 1));
}

#define TWO(c0, c1)                                                                                \
    "kernbench: 3\nname: m\nsip: {cubes: 2, net: [{list: [c0-c1]}]}\n"                             \
    "cubes: {c0: {hbm: {" c0 "}}, c1: {hbm: {" c1 "}}}\n"                                          \
    "cube: {pe: {pe_ipcq: {slots: 7, slot_bytes: 1000000000, space: hbm}}}\n"

/* Of a PE whose cube has no slices the slots lie in its home slice. */
static void no_room_for_slots_in_a_home_slice(void **state)
{
    const kb_topology *topo = any_topology(TWO("slices: 0", "size_gb: 8"));

    (void)state;
    assert_refused_on(topo, sends_ones, "tl_send",
                      "no room for the 7 slots of 1000000000 bytes of a queue: at the end of "
                      "c1.slice1 1073610752 of its 1073741824 bytes are free, others have 0");
    any_topology_free(topo);
}

static void slots_in_no_slice(void **state)
{
    const kb_topology *topo = any_topology(TWO("slices: 0", "slices: 0"));
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_launch_request r = {.name = "talk", .kernel = sends_ones, .pes = pair, .n_pes = 2};
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_says(&why, __FILE__, "tl_send",
                "no room for the slots of a queue: cube.pe.pe_ipcq.space is hbm, and no cube of "
                "the receiver's SIP has slices");
    kb_sim_free(sim);
    any_topology_free(topo);
}

/* Its own tensors are where the slots would be. */
static void fills_its_tcm_first(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 1) {
        tl_alloc(tl, KB_I8, KB_SHAPE((16 << 20) - 3 * 4096));
        numbers(tl, 0, PIECE);
        return;
    }
    tl_send(tl, 1, 0, numbers(tl, 0, 1));
}

static void a_tcm_that_is_full_of_tensors(void **state)
{
    (void)state;
    assert_refused_on(&cube8_topology, fills_its_tcm_first, "tl_send",
                      "no room for the 4 slots of 4096 bytes of a queue: at the end of c0.pe1.tcm "
                      "8192 of its 16777216 bytes are free, others have 0");
}

/* 128 MB a slice, and a tensor in them that leaves a slot too little. */
static void a_slice_that_is_full_of_tensors(void **state)
{
    const kb_topology *topo =
        any_topology(CUBE8 "cube: {hbm: {size_gb: 1}, pe: {pe_ipcq: {space: hbm}}}\n");
    const int64_t room = (128 << 20) - 4 * 4096;
    const kb_placement whole = {KB_REPLICATE, KB_REPLICATE};

    (void)state;
    for (int64_t spare = 0; spare < 2; spare++) {
        kb_sim *sim = new_sim(topo, (kb_options){0});
        kb_error why = {""};
        kb_tensor *x;

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(
            kb_tensor_new(sim, "full", KB_I8, KB_SHAPE(room - FILLED + 1 - spare), whole, &x, &why),
            KB_OK);
        assert_int_equal(launch(sim, sends_one_double, NULL, 2, &why), KB_OK);
        assert_int_equal(kb_sim_run(sim, 0, &why), spare ? KB_OK : KB_KERNEL_ERROR);
        assert_true(spare || strstr(why.text, "no room for the 4 slots of 4096 bytes of a queue"));
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* What a tensor of tl_alloc() holds is sent as it is then; nothing is there yet. */
static void sends_an_empty_place(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_send(tl, 1, 0, tl_alloc(tl, KB_F32, KB_SHAPE(4)));
}

static void a_place_that_was_never_written(void **state)
{
    (void)state;
    assert_refused_on(&cube8_topology, sends_an_empty_place, "tl_send",
                      "bytes 0..15 of c0.pe0.tcm (address 137438953472) were never written");
}

/* c0.pe1 writes into a place of c0.pe0's, which sends it on to c1.pe0. */
static void passes_on_a_place(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t both[] = {0, 1};
    tl_tensor *x;

    if (tl_pe(tl) == NEXT_CUBE) {
        x = tl_recv(tl, 0, 0, KB_F32, KB_SHAPE(4));
        mark_value(tl, args, 0, tl_get(tl, x, 3));
        return;
    }
    x = tl_pe(tl) == 0 ? tl_alloc(tl, KB_F32, KB_SHAPE(4)) : numbers(tl, 5, 4);
    if (tl_pe(tl) == 1)
        tl_store(tl, TCM(0), x);
    tl_barrier(tl, (tl_group){.pes = both, .n = 2});
    if (tl_pe(tl) == 0)
        tl_send(tl, NEXT_CUBE, 0, x);
}

static void what_others_have_stored_can_be_sent(void **state)
{
    static const uint32_t pes[] = {0, 1, NEXT_CUBE};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, passes_on_a_place, &m, pes, 3));
    assert_true(m.value[NEXT_CUBE][0] == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_of_one_piece),
        cmocka_unit_test(a_message_of_three_pieces),
        cmocka_unit_test(a_message_to_another_cube),
        cmocka_unit_test(pieces_share_links_that_queue),
        cmocka_unit_test(a_piece_more_than_slots_waits_for_a_credit),
        cmocka_unit_test(a_full_ring_stops_the_sender_until_the_receiver_takes),
        cmocka_unit_test(messages_without_some_costs),
        cmocka_unit_test(tags_are_queues_of_their_own),
        cmocka_unit_test(two_that_are_each_others_neighbours_on_both_sides),
        cmocka_unit_test(the_first_to_come_waits),
        cmocka_unit_test(receives_may_be_under_way_together),
        cmocka_unit_test(slots_in_the_receivers_slice),
        cmocka_unit_test(slots_in_an_sram),
        cmocka_unit_test(queues_to_one_pe_have_slots_of_their_own),
        cmocka_unit_test(results_of_phase_2_pass_two_pes),
        cmocka_unit_test(ready_and_pending_bytes_in_one_message),
        cmocka_unit_test(ready_bytes_arrive_ready),
        cmocka_unit_test(a_piece_names_the_op_that_made_it),
        cmocka_unit_test(the_next_launch_begins_as_if_nothing_was_there),
        cmocka_unit_test(words_do_not_pass_the_end_of_time),
        cmocka_unit_test(a_pe_that_does_not_exist),
        cmocka_unit_test(a_sender_that_does_not_exist),
        cmocka_unit_test(to_itself),
        cmocka_unit_test(a_tag_below_zero),
        cmocka_unit_test(a_tag_too_large),
        cmocka_unit_test(a_scalar),
        cmocka_unit_test(what_is_not_in_the_tcm),
        cmocka_unit_test(a_load_not_waited_for),
        cmocka_unit_test(a_recv_not_waited_for),
        cmocka_unit_test(looking_at_a_recv_not_waited_for),
        cmocka_unit_test(a_recv_without_elements),
        cmocka_unit_test(more_than_a_tcm_holds),
        cmocka_unit_test(other_bytes_than_were_sent),
        cmocka_unit_test(as_many_bytes_cut_otherwise),
        cmocka_unit_test(an_element_larger_than_a_slot),
        cmocka_unit_test(no_room_for_slots),
        cmocka_unit_test(no_room_for_slots_in_a_home_slice),
        cmocka_unit_test(slots_in_no_slice),
        cmocka_unit_test(a_tcm_that_is_full_of_tensors),
        cmocka_unit_test(a_slice_that_is_full_of_tensors),
        cmocka_unit_test(a_place_that_was_never_written),
        cmocka_unit_test(what_others_have_stored_can_be_sent),
        cmocka_unit_test(messages_that_are_not_received_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
