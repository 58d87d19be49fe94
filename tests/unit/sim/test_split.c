/* test_split.c -- transactions that are split over slices, by hand; test_random.c has the judge. */
#include "support/any_topology.h"
#include "support/rig.h"

#define CUBE8 "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

static kb_transaction read_at(const kb_topology *t, uint64_t address, uint64_t nbytes)
{
    return (kb_transaction){.op = KB_READ,
                            .src = end_of(t, "c0.pe0"),
                            .by_address = true,
                            .address = address,
                            .nbytes = nbytes};
}

/* docs/model.md "Worked: 16 KiB over four slices": a read of n granules from 0x0 ends with that of
 * slice n - 1.
 */
static void check_ends(const char *yaml, const int64_t expected[4])
{
    const kb_topology *t = any_topology(yaml);

    for (int engine = KB_FUSED; engine <= KB_HOP; engine++)
        for (uint64_t n = 1; n <= 4; n++) {
            kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)engine});
            kb_transaction request = read_at(t, 0, n * 4096);
            kb_transaction back;

            add(sim, &request);
            run_all(sim);
            assert_int_equal(result_of(sim, 0).actual_fs, expected[n - 1]);
            assert_int_equal(kb_sim_request(sim, 0, &back), KB_OK);
            assert_true(back.dst.kind == KB_SLICE && back.dst.unit == 0);
            assert_true(back.nbytes == n * 4096);
            kb_sim_free(sim);
        }
    any_topology_free(t);
}

static void a_read_ends_with_its_last_part(void **state)
{
    static const int64_t ideal[] = {18085000, 36095000, 38105000, 40115000},
                         fifo[] = {18085000, 52095000, 86105000, 120115000};

    (void)state;
    check_ends(CUBE8 "addressing: {granule: 4096}\n", ideal);
    check_ends(CUBE8 "addressing: {granule: 4096}\ncontention: {links: fifo}\n", fifo);
}

static void without_a_granule_it_is_one(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_transaction request = read_at(t, 0, 16384);
    kb_error why;

    (void)state;
    add(sim, &request);
    request = read_at(t, kb_memory_bytes(t, &(kb_endpoint){.kind = KB_SLICE}) - 64, 128);
    assert_int_equal(kb_sim_add(sim, &request, &why), KB_BAD_REQUEST);
    run_all(sim);
    assert_int_equal(result_of(sim, 0).actual_fs, 66085000);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* A channel is held until the last part is served; then the next transaction has it. */
static void the_channel_is_taken_once(void **state)
{
    const kb_topology *t = any_topology(CUBE8 "addressing: {granule: 4096}\n");

    (void)state;
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)engine});
        kb_transaction request = read_at(t, 0, 16384);
        kb_result r;

        add(sim, &request);
        request.nbytes = 4096;
        add(sim, &request);
        run_all(sim);
        r = result_of(sim, 1);
        assert_int_equal(r.start_fs, 40115000);
        assert_int_equal(r.end_fs, 40115000 + 18085000);
        assert_int_equal(r.wait_fs[KB_WAIT_CHANNEL], 40115000);
        kb_sim_free(sim);
    }
    any_topology_free(t);
}

/*
 * c0.pe1 reads 2.5 granules: two parts come to slice 0 at the same time, over 128 GB/s. The first,
 * 4096 bytes, is served first; the row is that of the second, 2048 bytes, which waits 32 ns.
 */
static void parts_at_one_slice_are_served_in_order(void **state)
{
    const kb_topology *t = any_topology("kernbench: 1\nname: two\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                                        "cube: {pes: 2}\naddressing: {granule: 4096}\n");

    (void)state;
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)engine});
        kb_transaction request = read_at(t, 0, 10240);
        kb_result r;

        request.src = end_of(t, "c0.pe1");
        add(sim, &request);
        run_all(sim);
        r = result_of(sim, 0);
        assert_int_equal(r.drain_fs, 16000000);
        assert_int_equal(r.wait_fs[KB_WAIT_MEMORY], 32000000);
        kb_sim_free(sim);
    }
    any_topology_free(t);
}

static void check_use(void *arg, const kb_utilization *use)
{
    int *seen = arg;

    if (use->kind == KB_AT_CHANNEL) {
        assert_true(use->count == 1 && use->bytes == 16384);
        assert_true(use->busy_fs == 40115000);
        ++*seen;
    }
    if (use->kind == KB_AT_MEMORY) {
        assert_true(use->count == 1 && use->bytes == 4096);
        ++*seen;
    }
}

/* A channel has carried transactions, a memory parts. */
static void a_channel_counts_it_once(void **state)
{
    const kb_topology *t = any_topology(CUBE8 "addressing: {granule: 4096}\n");

    (void)state;
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
        kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)engine});
        kb_transaction request = read_at(t, 0, 16384);

        add(sim, &request);
        run_all(sim);
        for (int again = 0; again < 2; again++) {
            int seen = 0;

            assert_int_equal(kb_sim_utilization(sim, check_use, &seen), KB_OK);
            assert_int_equal(seen, 5);
        }
        kb_sim_free(sim);
    }
    any_topology_free(t);
}

static void what_cannot_be_split_is_refused(void **state)
{
    const kb_topology *t = any_topology(CUBE8 "addressing: {granule: 64}\n");
    kb_sim *sim = new_sim(t, (kb_options){0});
    const struct {
        uint64_t address, nbytes;
        const char *why;
    } rows[] = {
        {UINT64_C(48) << 30, 1, "0xc00000000 is the address of no byte of this topology"},
        {(UINT64_C(48) << 30) - 64, 65,
         "0xbffffffc0 + 65 bytes pass the end of the addresses of the cube"},
        {0, (64 << 16) + 1, "0x0 + 4194305 bytes have more than 65536 parts"},
        {0, 0, "a transaction moves at least one byte"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        kb_transaction request = read_at(t, rows[i].address, rows[i].nbytes);
        kb_error why = {""};

        assert_int_equal(kb_sim_add(sim, &request, &why), KB_BAD_REQUEST);
        assert_string_equal(why.text, rows[i].why);
    }
    kb_sim_free(sim);
    any_topology_free(t);
}

/* -- observers ------------------------------------------------------------------------------ */

enum { ROWS = 40, PARTS = 24, WHOLE = PARTS };

/* The pieces that were told of each part of each row, and its end; those of the whole behind. */
struct heard {
    int64_t fs[ROWS][PARTS + 1], end_fs[ROWS][PARTS + 1];
    int64_t ended_fs[ROWS]; /* of what is no part */
};

static void hear_piece(void *arg, const kb_span *span)
{
    struct heard *h = arg;

    h->fs[span->id][span->part == KB_NO_ID ? WHOLE : span->part] += span->end_fs - span->begin_fs;
}

static void hear_end(void *arg, const kb_span *last)
{
    struct heard *h = arg;

    h->end_fs[last->id][last->part == KB_NO_ID ? WHOLE : last->part] = last->end_fs;
    if (last->is_part)
        return;
    assert_int_equal(h->ended_fs[last->id], 0);
    h->ended_fs[last->id] = last->end_fs;
}

/* The wait of the whole and the pieces of a part are the time from issue to the part's end. */
static void check_pieces(const char *machine)
{
    const kb_topology *t = any_topology(machine);
    kb_sim *sim = new_sim(t, (kb_options){0});
    struct heard *h = calloc(1, sizeof *h);
    kb_observer watch = {.arg = h, .close = hear_piece, .end = hear_end};

    assert_int_equal(kb_sim_observe(sim, &watch, NULL), KB_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        kb_transaction request = read_at(t, i * 700, 100 + i * 300);

        request.issue_fs = i / 4 * 5000000;
        request.op = i % 4 == 3 ? KB_H2D : i % 4 == 2 ? KB_WRITE : KB_READ;
        request.src = end_of(t, i % 4 == 3 ? "host" : i % 2 ? "c1.pe3" : "c0.pe0");
        add(sim, &request);
    }
    run_all(sim);
    for (uint32_t i = 0; i < ROWS; i++) {
        kb_result r = result_of(sim, i);
        int64_t last_fs = 0;

        for (uint32_t part = 0; part < PARTS; part++) {
            int64_t end_fs = h->end_fs[i][part];

            assert_true(end_fs == 0 || h->fs[i][WHOLE] + h->fs[i][part] == end_fs - r.issue_fs);
            last_fs = end_fs > last_fs ? end_fs : last_fs;
        }
        assert_true(last_fs == r.end_fs);
        assert_true(h->ended_fs[i] == r.end_fs);
        assert_true(h->end_fs[i][1] == 0 ? h->end_fs[i][WHOLE] == 0
                                         : h->end_fs[i][WHOLE] == r.end_fs);
    }
    free(h);
    kb_sim_free(sim);
    any_topology_free(t);
}

static void observers_hear_of_each_part(void **state)
{
    (void)state;
    check_pieces(CUBE8 "addressing: {granule: 1024, hash: xor}\ncontention: {links: fifo}\n");
    check_pieces(CUBE8 "addressing: {granule: 1024}\ncontention: {links: fifo}\n"
                       "cube: {pe: {pe_dma: {packet_bytes: 3000, issue_ns: 7}}}\n");
    check_pieces(CUBE8 "addressing: {granule: 4096}\n"
                       "cube: {pe: {pe_dma: {packet_bytes: 1000, read_channels: 3}}}\n");
}

/* -- sweeps --------------------------------------------------------------------------------- */

/* Copies of one point have the times of the same rows in a replay; each point finds all idle. */
static void check_point(const kb_topology *t, kb_sim *sweeper, kb_engine engine, const kb_point *p)
{
    kb_sim *sim = new_sim(t, (kb_options){.engine = engine});
    kb_transaction request = {
        .op = p->op, .src = p->src, .by_address = true, .address = p->address, .nbytes = p->nbytes};
    int64_t sum = 0, wire = 0;
    kb_point_result got;
    kb_error why;

    for (uint32_t i = 0; i < p->inflight; i++)
        add(sim, &request);
    run_all(sim);
    for (uint32_t i = 0; i < p->inflight; i++) {
        sum += result_of(sim, i).actual_fs;
        wire += result_of(sim, i).wire_fs;
    }
    assert_int_equal(kb_sweep(sweeper, p, 1, &got, NULL, &why), KB_OK);
    assert_true(got.makespan_fs == kb_sim_end_fs(sim));
    assert_true(got.mean_fs == (sum + p->inflight / 2) / p->inflight);
    assert_true(got.wire_fs == (wire + p->inflight / 2) / p->inflight);
    kb_sim_free(sim);
}

static void points_are_those_of_a_replay(void **state)
{
    static const char *const machines[] = {
        CUBE8 "addressing: {granule: 4096}\n",
        CUBE8 "addressing: {granule: 256, over: sip, hash: xor}\ncontention: {links: fifo}\n",
        CUBE8 "addressing: {granule: 1024}\ncube: {hbm: {hold: own}}\ncontention: {links: fifo}\n",
        CUBE8 "addressing: {granule: 4096}\ncontention: {links: fifo}\n"
              "cube: {pe: {pe_dma: {packet_bytes: 3000, issue_ns: 7}}}\n",
    };

    (void)state;
    for (size_t m = 0; m < LENGTH(machines); m++)
        for (int engine = KB_FUSED; engine <= KB_HOP; engine++) {
            const kb_topology *t = any_topology(machines[m]);
            kb_sim *sweeper = new_sim(t, (kb_options){.engine = (kb_engine)engine});

            for (uint32_t i = 0; i < 24; i++) {
                bool host = i % 5 == 4;
                kb_point p = {.op = host    ? KB_H2D + i / 5 % 2
                                    : i % 2 ? KB_WRITE
                                            : KB_READ,
                              .src = end_of(t, host ? "host" : "c0.pe0"),
                              .nbytes = 64 + i * 1000,
                              .inflight = 1 + i % 3,
                              .by_address = true,
                              .address = i * 5000};

                check_point(t, sweeper, (kb_engine)engine, &p);
            }
            kb_sim_free(sweeper);
            any_topology_free(t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_ends_with_its_last_part),
        cmocka_unit_test(without_a_granule_it_is_one),
        cmocka_unit_test(the_channel_is_taken_once),
        cmocka_unit_test(parts_at_one_slice_are_served_in_order),
        cmocka_unit_test(a_channel_counts_it_once),
        cmocka_unit_test(what_cannot_be_split_is_refused),
        cmocka_unit_test(observers_hear_of_each_part),
        cmocka_unit_test(points_are_those_of_a_replay),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
