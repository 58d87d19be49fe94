/*
 * test_sips.c -- kernels over two SIPs: each time from the design's rules, by the judge's routes.
 */
#include "support/kernels.h"
#include "tray32.h"

enum { FS = 1000000, N_PES = 256, SIP_PES = 128, ISSUE_FS = 3 * FS };

/* By hand, from any slice, SRAM or TCM of column 0 to one of the other SIP: UCIe nodes 2, pcie_ep
 * 5 twice, the switch 5. */
enum { BETWEEN_FS = (2 + 5 + 5 + 5) * FS };

static const kb_options engines[] = {{.engine = KB_FUSED}, {.engine = KB_HOP}};

/* Times of every PE, in fs from the start of the launch. */
struct seen {
    int64_t start_fs[N_PES], fs[N_PES][4];
    int64_t value[N_PES];
};

static struct seen *seen_of(const kb_args *args)
{
    return (struct seen *)(uintptr_t)args->user;
}

/* Notes the time as the i-th of the PE. */
static void note(tl_ctx *tl, const kb_args *args, int i)
{
    struct seen *seen = seen_of(args);

    seen->fs[tl_pe(tl)][i] = now_fs(tl) - seen->start_fs[tl_pe(tl)];
}

static void begin(tl_ctx *tl, const kb_args *args)
{
    seen_of(args)->start_fs[tl_pe(tl)] = now_fs(tl);
}

static uint64_t at(const char *memory)
{
    kb_endpoint end = end_of(&tray32_topology, memory);

    return kb_address(&tray32_topology, &end, 0);
}

static kb_launch_result launch_on(kb_sim *sim, kb_kernel kernel, struct seen *seen,
                                  const uint32_t *pes, size_t n)
{
    kb_launch_request r = {
        .name = "test", .kernel = kernel, .args.user = seen, .pes = pes, .n_pes = n};
    kb_error why = {""};

    memset(seen, 0, sizeof *seen);
    if (kb_launch(sim, &r, &why) != KB_OK)
        fail_msg("%s", why.text);
    return run_launched(sim, 0);
}

/* A kernel on `n` PEs of a simulation of its own, whose slices are filled; pes NULL: on all. */
static kb_launch_result run_on(kb_options options, kb_kernel kernel, struct seen *seen,
                               const uint32_t *pes, size_t n)
{
    kb_sim *sim = new_sim(&tray32_topology, options);
    kb_error why = {""};
    kb_launch_result r;

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    r = launch_on(sim, kernel, seen, pes, n);
    kb_sim_free(sim);
    return r;
}

/* -- ways, by the judge --------------------------------------------------------------------- */

static struct judge_topo *judge;

static int set_up(void **state)
{
    kb_info info;

    (void)state;
    kb_topology_info(&tray32_topology, &info);
    judge = judge_load_text(info.config);
    return judge ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    judge_free(judge);
    return 0;
}

static struct judge_end pe_end(uint32_t pe)
{
    return (struct judge_end){JUDGE_PE, pe / SIP_PES, pe / 8 % 16, pe % 8};
}

/* Wires and overheads from a PE to the TCM of another, as a word goes. docs/kernels.md */
static int64_t word_fs(uint32_t from, uint32_t to)
{
    struct judge_end src = pe_end(from), dst = pe_end(to);
    struct judge_route r = {0};
    int64_t fs;

    if (from == to)
        return 0;
    dst.kind = JUDGE_TCM;
    assert_true(judge_route(judge, JUDGE_WRITE, &src, &dst, &r));
    fs = r.wire_fs + r.overhead_fs;
    judge_route_clear(&r);
    return fs;
}

/* A transaction without contention. docs/model.md "Stations and queues" */
static int64_t dma_fs(enum judge_op op, uint32_t pe, const char *memory, double nbytes)
{
    struct judge_end src = pe_end(pe), dst;
    struct judge_route r = {0};
    int64_t fs;

    assert_true(judge_end_parse(judge, memory, &dst));
    assert_true(judge_route(judge, op, &src, &dst, &r));
    fs = r.wire_fs + r.overhead_fs + llround(nbytes * 1e6 / r.bottleneck_gbs);
    judge_route_clear(&r);
    return fs;
}

/* From the PE's host to it, and its response. */
static int64_t launch_fs(uint32_t pe, int64_t *response_fs)
{
    struct judge_end end = pe_end(pe);
    struct judge_route r = {0};
    int64_t fs;

    judge_launch_route(judge, &end, &r);
    fs = r.wire_fs + r.overhead_fs;
    *response_fs = r.response_fs;
    judge_route_clear(&r);
    return fs;
}

/* Of PEs from..to-1, the farthest. */
static int64_t farthest_fs(uint32_t from, uint32_t to)
{
    int64_t most = 0, response_fs;

    for (uint32_t pe = from; pe < to; pe++) {
        int64_t fs = launch_fs(pe, &response_fs);

        most = fs > most ? fs : most;
    }
    return most;
}

/* -- launches ------------------------------------------------------------------------------- */

/* SIP 0 gives `value` commands of 4.125 ns each, SIP 1 none, or the other way around. */
static void works(tl_ctx *tl, const kb_args *args)
{
    begin(tl, args);
    seen_of(args)->value[tl_pe(tl)] = tl_program_id(tl, 2) * 16 + tl_program_id(tl, 1);
    if (tl_pe(tl) == 0 || tl_pe(tl) == N_PES - 1)
        tl_full(tl, KB_F32, KB_SHAPE(16), 1);
    note(tl, args, 0);
}

/* By hand: as on cube8, whose mesh is as wide; a host goes ashore in the row of its target. */
static void both_hosts_launch_and_all_start_together(void **state)
{
    (void)state;
    for (size_t e = 0; e < LENGTH(engines); e++) {
        struct seen seen;
        int64_t near_fs, far_fs;
        kb_launch_result r = run_on(engines[e], works, &seen, NULL, 0);

        assert_int_equal(r.pes, N_PES);
        assert_int_equal(r.start_fs, 27836250);
        assert_int_equal(r.start_fs, farthest_fs(0, N_PES));
        for (uint32_t pe = 0; pe < N_PES; pe++) {
            assert_int_equal(seen.start_fs[pe], r.start_fs);
            assert_int_equal(seen.value[pe], pe / 8);
        }
        assert_int_equal(r.last_end_fs - r.start_fs, 4125000);
        launch_fs(0, &near_fs);
        launch_fs(N_PES - 1, &far_fs);
        assert_true(near_fs < far_fs);
        assert_int_equal(r.response_fs - r.last_end_fs, far_fs); /* both end at once */
        assert_int_equal(r.idle_pes, N_PES - 2);
    }
}

/* c0.pe0 of SIP 1 ends last, but c15.pe7, which had nothing to do, is farther away. */
static void waits(tl_ctx *tl, const kb_args *args)
{
    begin(tl, args);
    if (tl_pe(tl) == SIP_PES)
        tl_full(tl, KB_F32, KB_SHAPE(16), 1);
    note(tl, args, 0);
}

static void the_last_response_of_both_sips_ends_a_launch(void **state)
{
    const uint32_t near_pes[] = {0, SIP_PES, SIP_PES + 1};
    int64_t near_fs, far_fs;
    struct seen seen;
    kb_launch_result r = run_on(engines[0], waits, &seen, NULL, 0);

    (void)state;
    launch_fs(SIP_PES, &near_fs);
    launch_fs(N_PES - 1, &far_fs);
    assert_true(near_fs + 4125000 < far_fs);
    assert_int_equal(r.last_end_fs - r.start_fs, 4125000);
    assert_int_equal(r.response_fs - r.start_fs, far_fs);
    r = run_on(engines[0], waits, &seen, near_pes, LENGTH(near_pes));
    assert_int_equal(r.response_fs - r.start_fs, near_fs + 4125000);
}

/* The farthest of those that take part; the other SIP does nothing. */
static void a_launch_may_be_on_one_sip(void **state)
{
    const uint32_t near_pes[] = {SIP_PES, SIP_PES + 3}, too_many[] = {SIP_PES, N_PES};
    uint32_t pes[SIP_PES];
    kb_launch_request bad = {.name = "test", .kernel = works, .pes = too_many, .n_pes = 2};
    kb_sim *sim = new_sim(&tray32_topology, (kb_options){0});
    kb_error why = {""};
    kb_launch_result r;
    struct seen seen;
    int64_t before_fs;

    (void)state;
    for (uint32_t i = 0; i < SIP_PES; i++)
        pes[i] = SIP_PES + i;
    r = launch_on(sim, works, &seen, pes, SIP_PES);
    assert_int_equal(r.pes, SIP_PES);
    assert_int_equal(r.start_fs, farthest_fs(SIP_PES, N_PES));
    for (uint32_t pe = 0; pe < N_PES; pe++)
        assert_int_equal(seen.start_fs[pe], pe < SIP_PES ? 0 : r.start_fs);
    before_fs = r.response_fs;
    r = launch_on(sim, works, &seen, near_pes, 2);
    assert_int_equal(r.launch_fs, before_fs);
    assert_int_equal(r.start_fs - r.launch_fs, farthest_fs(SIP_PES, SIP_PES + 4));
    assert_int_equal(seen.start_fs[SIP_PES + 1], 0);
    assert_int_equal(seen.value[SIP_PES + 3], 16);
    assert_int_equal(kb_launch(sim, &bad, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "there is no PE 256, only 0..255");
    kb_sim_free(sim);
}

/* -- memory --------------------------------------------------------------------------------- */

enum { STORED = 1 << 20 }; /* bytes into a slice, behind what is filled */

static void reaches_over(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    begin(tl, args);
    if (tl_pe(tl) == 0) { /* near the IO chiplet, and to a slice that is, too */
        x = tl_load(tl, at("s1.c0.slice0"), KB_F32, KB_SHAPE(1024));
        note(tl, args, 0);
        seen_of(args)->value[0] = (int64_t)tl_get(tl, x, 1023);
        tl_store(tl, at("s1.c0.slice0") + STORED, x);
        note(tl, args, 1);
    } else { /* s1.c15.pe7, as far as can be from c3 */
        x = tl_load(tl, at("c3.slice5"), KB_F32, KB_SHAPE(64));
        note(tl, args, 0);
        tl_store(tl, at("c3.sram"), x);
        note(tl, args, 1);
        x = tl_load(tl, at("c3.sram"), KB_F32, KB_SHAPE(64));
        note(tl, args, 2);
        seen_of(args)->value[N_PES - 1] = (int64_t)tl_get(tl, x, 63);
    }
}

/* docs/formats.md, cross-sip: 4096 bytes from c0.pe0 to s1.c0.slice0 and back take 85.2525 ns. */
static void memories_of_another_sip_are_reached_by_address(void **state)
{
    const uint32_t pes[] = {0, N_PES - 1};

    (void)state;
    for (size_t e = 0; e < LENGTH(engines); e++) {
        struct seen seen;
        int64_t fs = 0;

        run_on(engines[e], reaches_over, &seen, pes, 2);
        assert_int_equal(seen.fs[0][0], ISSUE_FS + 85252500);
        assert_int_equal(seen.fs[0][0], ISSUE_FS + dma_fs(JUDGE_READ, 0, "s1.c0.slice0", 4096));
        assert_int_equal(seen.fs[0][1],
                         2 * ISSUE_FS + 85252500 + dma_fs(JUDGE_WRITE, 0, "s1.c0.slice0", 4096));
        assert_int_equal(seen.value[0], 1024);
        fs += ISSUE_FS + dma_fs(JUDGE_READ, N_PES - 1, "c3.slice5", 256);
        assert_int_equal(seen.fs[N_PES - 1][0], fs);
        fs += ISSUE_FS + dma_fs(JUDGE_WRITE, N_PES - 1, "c3.sram", 256);
        assert_int_equal(seen.fs[N_PES - 1][1], fs);
        fs += ISSUE_FS + dma_fs(JUDGE_READ, N_PES - 1, "c3.sram", 256);
        assert_int_equal(seen.fs[N_PES - 1][2], fs);
        assert_int_equal(seen.value[N_PES - 1], 64);
    }
}

static void adds_one(tl_ctx *tl, const kb_args *args)
{
    begin(tl, args);
    seen_of(args)->value[tl_pe(tl)] = tl_atomic_add(tl, at("s1.c2.slice0"), KB_I32, 1);
    note(tl, args, 0);
}

/* The filled slices begin with a 1 in f32: 0x3f800000. */
static void all_pes_add_to_one_word(void **state)
{
    const uint32_t one[] = {17};
    unsigned char had[N_PES] = {0};
    struct seen seen;

    (void)state;
    run_on(engines[0], adds_one, &seen, one, 1);
    assert_int_equal(seen.fs[17][0], ISSUE_FS + dma_fs(JUDGE_WRITE, 17, "s1.c2.slice0", 4));
    run_on(engines[0], adds_one, &seen, NULL, 0);
    for (int pe = 0; pe < N_PES; pe++) {
        assert_in_range(seen.value[pe] - 0x3f800000, 0, N_PES - 1);
        assert_int_equal(had[seen.value[pe] - 0x3f800000]++, 0);
    }
}

/* -- tensors of the host -------------------------------------------------------------------- */

enum { ROWS = 1000 };

/* Each PE gives its rows to the PE of the same number in the other SIP, which stores them. */
static void swaps(tl_ctx *tl, const kb_args *args)
{
    uint32_t other = (tl_pe(tl) + SIP_PES) % N_PES;
    kb_shard x = kb_tensor_shard(args->tensors[0], other);
    kb_shard y = kb_tensor_shard(args->tensors[1], other);

    if (x.shape.dim[0] > 0)
        tl_store(tl, y.address, tl_load(tl, x.address, KB_F64, x.shape));
}

static int64_t part(int64_t n, int64_t i, int64_t parts)
{
    return i * n / parts;
}

/* docs/kernels.md: over the cubes of all SIPs first, then over PEs; rows of cube 31 lie in SIP 1.
 */
static void rows_are_placed_over_both_sips(void **state)
{
    kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};
    kb_sim *sim = new_sim(&tray32_topology, (kb_options){0});
    kb_tensor *t[2];
    double got[ROWS];
    kb_error why = {""};
    kb_launch_request r = {
        .name = "swaps", .kernel = swaps, .args = {.tensors = t, .n_tensors = 2}};

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            kb_tensor_new(sim, i ? "y" : "x", KB_F64, KB_SHAPE(ROWS, 1), by_rows, &t[i], &why), 0);
    assert_int_equal(kb_tensor_fill_arange(t[0], 0, 1, &why), KB_OK);
    for (uint32_t pe = 0; pe < N_PES; pe++) {
        kb_shard shard = kb_tensor_shard(t[0], pe);
        int64_t first = part(ROWS, pe / 8, 32), n = part(ROWS, pe / 8 + 1, 32) - first;
        kb_endpoint slice;
        uint64_t offset;

        assert_int_equal(shard.first[0], first + part(n, pe % 8, 8));
        assert_int_equal(shard.shape.dim[0], part(n, pe % 8 + 1, 8) - part(n, pe % 8, 8));
        assert_int_equal(kb_address_find(&tray32_topology, shard.address, &slice, &offset), KB_OK);
        assert_int_equal(slice.kind, KB_SLICE);
        assert_int_equal(slice.sip, pe / SIP_PES);
        assert_int_equal(slice.cube, pe / 8 % 16);
        assert_int_equal(slice.unit, pe % 8);
    }
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    run_launched(sim, 0);
    assert_int_equal(kb_tensor_read(t[1], got, &why), KB_OK);
    for (int i = 0; i < ROWS; i++)
        assert_true(got[i] == i);
    kb_sim_free(sim);
}

/* -- messages ------------------------------------------------------------------------------- */

enum { FROM = 5, TO = 8 * 27 + 2, SLOTS = 4, SLOT_BYTES = 4096 };

/* Two pieces from c0.pe5 to s1.c11.pe2. */
static void sends_over(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    if (tl_pe(tl) == TO) {
        begin(tl, args);
        x = tl_recv(tl, FROM, 7, KB_F32, KB_SHAPE(2, 1024));
        note(tl, args, 0);
        seen_of(args)->value[TO] = (int64_t)tl_get(tl, x, 2047);
        return;
    }
    x = tl_load(tl, at("c0.slice5"), KB_F32, KB_SHAPE(2048));
    begin(tl, args);
    tl_send(tl, TO, 7, x);
    note(tl, args, 0);
}

/*
 * docs/kernels.md: the pieces follow each other on the write channel; each drains at the 64 bytes
 * per ns of the fabric, and a FETCH of 4096 bytes takes 8 ns.
 */
static void a_message_reaches_another_sip(void **state)
{
    const uint32_t pes[] = {FROM, TO};
    int64_t piece_fs = word_fs(FROM, TO) + 64 * FS;

    (void)state;
    assert_true(word_fs(FROM, TO) > BETWEEN_FS);
    for (size_t e = 0; e < LENGTH(engines); e++) {
        struct seen seen;
        kb_launch_result r = run_on(engines[e], sends_over, &seen, pes, 2);
        int64_t sent_fs = seen.start_fs[FROM] - seen.start_fs[TO];

        assert_int_equal(seen.fs[FROM][0], ISSUE_FS);
        assert_int_equal(seen.fs[TO][0], sent_fs + ISSUE_FS + 2 * piece_fs + 8 * FS);
        assert_int_equal(seen.value[TO], 2048);
        assert_int_equal(r.dma_write_bytes, 2 * SLOT_BYTES);
    }
}

/* One message more than there are slots; the receiver is late. */
static void fills_all_slots(tl_ctx *tl, const kb_args *args)
{
    begin(tl, args);
    if (tl_pe(tl) == TO) {
        tl_load(tl, at("c0.slice5"), KB_F32, KB_SHAPE(FILLED / 4)); /* 1 us */
        note(tl, args, 0);
        for (int i = 0; i <= SLOTS; i++)
            tl_recv(tl, FROM, 0, KB_F32, KB_SHAPE(16));
        note(tl, args, 1);
        return;
    }
    tl_tensor *x = tl_full(tl, KB_F32, KB_SHAPE(16), 1);
    for (int i = 0; i < SLOTS; i++)
        tl_send(tl, TO, 0, x);
    note(tl, args, 0);
    tl_send(tl, TO, 0, x);
    note(tl, args, 1);
}

/* The first is taken when tl_recv() is issued, by a FETCH of 0.125 ns; then the credit travels. */
static void a_credit_comes_back_from_another_sip(void **state)
{
    const uint32_t pes[] = {FROM, TO};

    (void)state;
    for (size_t e = 0; e < LENGTH(engines); e++) {
        struct seen seen;
        int64_t late_fs, free_fs;

        run_on(engines[e], fills_all_slots, &seen, pes, 2);
        late_fs = seen.fs[TO][0];
        free_fs = late_fs + ISSUE_FS + 125000 + word_fs(TO, FROM);
        assert_true(late_fs > 1000 * FS);
        assert_int_equal(seen.fs[FROM][0], 4125000 + SLOTS * ISSUE_FS);
        assert_int_equal(seen.fs[FROM][1], free_fs);
        /* 64 bytes at 64 bytes per ns, and the last FETCH */
        assert_int_equal(seen.fs[TO][1], free_fs + word_fs(FROM, TO) + 1 * FS + 125000);
    }
}

/* -- barriers ------------------------------------------------------------------------------- */

static void meets_all(tl_ctx *tl, const kb_args *args)
{
    begin(tl, args);
    if (tl_pe(tl) == 77)
        tl_full(tl, KB_F32, KB_SHAPE(16), 1); /* 4.125 ns: none of the others is so late */
    tl_barrier(tl, tl_all(tl));
    note(tl, args, 0);
    tl_barrier(tl, tl_sip(tl));
    note(tl, args, 1);
}

/* When the words of PEs from..to-1 are all at the first of them, if they set out at fs[pe]. */
static int64_t gathered_fs(uint32_t from, uint32_t to, const int64_t *fs)
{
    int64_t last = 0;

    for (uint32_t pe = from; pe < to; pe++) {
        int64_t there = fs[pe] + word_fs(pe, from);

        last = there > last ? there : last;
    }
    return last;
}

/* docs/kernels.md: to the lowest PE, c0.pe0, and back; then in each SIP to c0.pe0 of that. */
static void a_barrier_is_over_both_sips(void **state)
{
    (void)state;
    for (size_t e = 0; e < LENGTH(engines); e++) {
        int64_t set_out_fs[N_PES], released_fs, sip_fs[2];
        struct seen seen;

        run_on(engines[e], meets_all, &seen, NULL, 0);
        for (uint32_t pe = 0; pe < N_PES; pe++)
            set_out_fs[pe] = ISSUE_FS + (pe == 77 ? 4125000 : 0);
        released_fs = gathered_fs(0, N_PES, set_out_fs);
        for (uint32_t pe = 0; pe < N_PES; pe++) {
            assert_int_equal(seen.fs[pe][0], released_fs + word_fs(0, pe));
            set_out_fs[pe] = seen.fs[pe][0] + ISSUE_FS;
        }
        sip_fs[0] = gathered_fs(0, SIP_PES, set_out_fs);
        sip_fs[1] = gathered_fs(SIP_PES, N_PES, set_out_fs);
        for (uint32_t pe = 0; pe < N_PES; pe++)
            assert_int_equal(seen.fs[pe][1],
                             sip_fs[pe / SIP_PES] + word_fs(pe / SIP_PES * SIP_PES, pe));
    }
}

static const uint32_t pair[] = {FROM, TO};

/* What one stores in its own SIP before the barrier, the other finds behind it. */
static void meets_one(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x;

    begin(tl, args);
    if (tl_pe(tl) == FROM) {
        x = tl_load(tl, at("c0.slice5") + 64, KB_F32, KB_SHAPE(16)); /* 17, 18, ... */
        tl_store(tl, at("c0.slice5") + STORED, x);
    }
    note(tl, args, 0);
    tl_barrier(tl, ((tl_group){.pes = pair, .n = 2}));
    note(tl, args, 1);
    if (tl_pe(tl) == TO) {
        x = tl_load(tl, at("c0.slice5") + STORED, KB_F32, KB_SHAPE(16));
        seen_of(args)->value[TO] = (int64_t)tl_get(tl, x, 0);
    }
}

static void a_barrier_of_two_pes_is_over_both_sips(void **state)
{
    (void)state;
    for (size_t e = 0; e < LENGTH(engines); e++) {
        struct seen seen;
        int64_t here_fs, there_fs;

        run_on(engines[e], meets_one, &seen, pair, 2);
        here_fs = seen.fs[FROM][0] + ISSUE_FS;
        there_fs = seen.fs[TO][0] + ISSUE_FS + word_fs(TO, FROM);
        assert_int_equal(seen.fs[TO][0], 0);
        here_fs = there_fs > here_fs ? there_fs : here_fs;
        assert_int_equal(seen.fs[FROM][1], here_fs);
        assert_int_equal(seen.fs[TO][1], here_fs + word_fs(FROM, TO));
        assert_int_equal(seen.value[TO], 17);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_hosts_launch_and_all_start_together),
        cmocka_unit_test(the_last_response_of_both_sips_ends_a_launch),
        cmocka_unit_test(a_launch_may_be_on_one_sip),
        cmocka_unit_test(memories_of_another_sip_are_reached_by_address),
        cmocka_unit_test(all_pes_add_to_one_word),
        cmocka_unit_test(rows_are_placed_over_both_sips),
        cmocka_unit_test(a_message_reaches_another_sip),
        cmocka_unit_test(a_credit_comes_back_from_another_sip),
        cmocka_unit_test(a_barrier_is_over_both_sips),
        cmocka_unit_test(a_barrier_of_two_pes_is_over_both_sips),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
