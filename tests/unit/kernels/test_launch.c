/* test_launch.c -- launches: how they start and end, what they count, and that all ways agree. */
#include "support/any_topology.h"
#include "support/kernels.h"
#include "tray32.h"

enum { FS = 1000000, N_PES = 64 };

/* From the host to c0.pe0 and to c7.pe7: overheads of pcie_ep, io_cpu, m_cpu, UCIe nodes; wires. */
enum {
    TO_FIRST_FS = (5 + 10 + 5 + 1) * FS + 256250,
    TO_LAST_FS = (5 + 10 + 5 + 7) * FS + 836250,
    BACK_FIRST_FS = 1 * FS + 256250,
    BACK_LAST_FS = 7 * FS + 836250,
};

/* -- start and end -------------------------------------------------------------------------- */

/* What the PEs of a launch saw. */
struct seen {
    int64_t start_fs[N_PES], end_fs[N_PES];
    int64_t commands[N_PES]; /* that each gives */
};

static struct seen *seen_of(const kb_args *args)
{
    return (struct seen *)(uintptr_t)args->user;
}

static void works(tl_ctx *tl, const kb_args *args)
{
    struct seen *seen = seen_of(args);

    seen->start_fs[tl_pe(tl)] = now_fs(tl);
    for (int64_t i = 0; i < seen->commands[tl_pe(tl)]; i++)
        tl_full(tl, KB_F32, KB_SHAPE(16), 1);
    seen->end_fs[tl_pe(tl)] = now_fs(tl);
}

static kb_launch_result launch_on(kb_sim *sim, kb_kernel kernel, const void *user,
                                  const uint32_t *pes, size_t n)
{
    kb_launch_request r = {
        .name = "test", .kernel = kernel, .args.user = user, .pes = pes, .n_pes = n};
    kb_error why = {""};

    if (kb_launch(sim, &r, &why) != KB_OK)
        fail_msg("%s", why.text);
    return run_launched(sim, 0);
}

/* The skew of a launch is no kernel time.            docs/kernels.md "Launch and response" */
static void kernels_start_together(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct seen seen = {.commands = {0}};
    kb_launch_result r = launch_on(sim, works, &seen, NULL, 0);

    (void)state;
    for (int i = 0; i < N_PES; i++)
        assert_int_equal(seen.start_fs[i], TO_LAST_FS);
    assert_int_equal(r.pes, N_PES);
    assert_string_equal(r.kernel, "test");
    assert_int_equal(r.launch_fs, 0);
    assert_int_equal(r.start_fs, TO_LAST_FS);
    assert_int_equal(r.last_end_fs, TO_LAST_FS); /* an empty kernel takes no time */
    assert_int_equal(r.response_fs, TO_LAST_FS + BACK_LAST_FS);
    assert_int_equal(r.ops + r.dma_read_bytes + r.math_elements, 0);
    kb_sim_free(sim);
}

/* A full takes 3 + 1 + 64/512 = 4.125 ns. */
static void the_next_launch_starts_when_the_last_is_back(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct seen seen = {.commands = {[0] = 2}};
    const uint32_t first[] = {0}, some[] = {0, 9, 63};
    kb_launch_request requests[] = {
        {.name = "one", .kernel = works, .args.user = &seen, .pes = first, .n_pes = 1},
        {.name = "two", .kernel = works, .args.user = &seen, .pes = some, .n_pes = 3},
    };
    kb_launch_result one, two;
    kb_error why = {""};

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(kb_launch(sim, &requests[i], &why), KB_OK);
    assert_int_equal(kb_launch_get(sim, 0, &one), KB_PENDING);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    assert_int_equal(kb_launch_count(sim), 2);
    assert_int_equal(kb_launch_done(sim), 2);
    assert_int_equal(kb_launch_get(sim, 0, &one), KB_OK);
    assert_int_equal(kb_launch_get(sim, 1, &two), KB_OK);
    assert_int_equal(kb_launch_get(sim, 2, &two), KB_BAD_REQUEST);
    assert_int_equal(one.pes, 1);
    assert_int_equal(one.start_fs, TO_FIRST_FS);
    assert_int_equal(one.last_end_fs - one.start_fs, 8250000);
    assert_int_equal(one.response_fs - one.last_end_fs, BACK_FIRST_FS);
    assert_int_equal(one.ops, 2);
    assert_int_equal(two.pes, 3);
    assert_int_equal(two.launch_fs, one.response_fs);
    assert_int_equal(two.start_fs - two.launch_fs, TO_LAST_FS);
    assert_int_equal(seen.start_fs[9], two.start_fs);
    assert_int_equal(seen.start_fs[8], 0);
    assert_int_equal(two.last_end_fs - two.start_fs, 8250000);
    /* PE 63 has ended 8.25 ns earlier, but is 6.58 farther away */
    assert_int_equal(two.response_fs - two.last_end_fs, BACK_FIRST_FS);
    assert_int_equal(kb_sim_end_fs(sim), two.response_fs);
    kb_sim_free(sim);
}

/* The last PE to end must not overwrite what the others have counted. */
static void what_pes_count_is_merged(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
        struct seen seen;
        kb_launch_result r;

        for (int i = 0; i < N_PES; i++)
            seen.commands[i] = way ? i : N_PES - 1 - i;
        r = launch_on(sim, works, &seen, NULL, 0);
        assert_int_equal(r.ops, N_PES * (N_PES - 1) / 2);
        assert_int_equal(r.math_elements, 16 * r.ops);
        assert_int_equal(r.last_end_fs - r.start_fs, 63 * 4125000);
        assert_int_equal(seen.end_fs[way ? 63 : 0], r.last_end_fs);
        assert_int_equal(r.response_fs - r.last_end_fs, way ? BACK_LAST_FS : BACK_FIRST_FS);
        kb_sim_free(sim);
    }
}

struct order {
    int n;
    uint32_t pes[3 * N_PES];
};

static void lines_up(tl_ctx *tl, const kb_args *args)
{
    struct order *order = (struct order *)(uintptr_t)args->user;
    tl_tensor *x;

    order->pes[order->n++] = tl_pe(tl);
    tl_full(tl, KB_F32, KB_SHAPE(16), 1);
    order->pes[order->n++] = tl_pe(tl);
    x = tl_store_async(tl, SLICE(tl_pe(tl) % 8) + ((uint64_t)tl_program_id(tl, 1) << 38),
                       tl_full(tl, KB_F32, KB_SHAPE(16), 1));
    tl_wait(tl, x);
    order->pes[order->n++] = tl_pe(tl);
}

/* Events of class 4 run by PE, whether kernels start, or end a command, or a wait.
 *                                                    docs/model.md "Order of events" */
static void kernels_of_one_instant_run_in_order(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.engine = way ? KB_HOP : KB_FUSED});
        struct order order = {.n = 0};

        launch_on(sim, lines_up, &order, NULL, 0);
        assert_int_equal(order.n, 3 * N_PES);
        for (int i = 0; i < order.n; i++)
            assert_int_equal(order.pes[i], i % N_PES);
        kb_sim_free(sim);
    }
}

/* PE 0 ends 4.125 ns after PE 63, which is 6.58 ns farther away. */
static void the_response_from_farthest_away_ends_a_launch(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct seen seen = {.commands = {[0] = 1}};
    kb_launch_result r = launch_on(sim, works, &seen, NULL, 0);

    (void)state;
    assert_int_equal(r.last_end_fs - r.start_fs, 4125000);
    assert_int_equal(r.response_fs - r.start_fs, BACK_LAST_FS);
    kb_sim_free(sim);
}

static void leaves_early(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_load_async(tl, 0, KB_F32, KB_SHAPE(1024));
}

static void a_pe_ends_with_its_last_command(void **state)
{
    kb_launch_result r = run_quick(leaves_early, NULL, 1);

    (void)state;
    assert_int_equal(r.last_end_fs - r.start_fs, 21085000);
    assert_int_equal(r.dma_read_bytes, 4096);
}

/* -- the end of time ------------------------------------------------------------------------ */

/* i8 [rows, n] times itself transposed: rows * rows * n cycles of 100 ns. */
static void multiply(tl_ctx *tl, int64_t rows, int64_t n)
{
    tl_tensor *x = tl_full(tl, KB_I8, KB_SHAPE(rows, n), 0);

    tl_dot(tl, x, x, .transpose_b = true);
}

/* Goes to less than 1.125 ns before 2^63 fs, and returns then, or gives one more command. */
static void goes_to_the_end_of_time(tl_ctx *tl, const kb_args *args)
{
    const bool *one_more = args->user;
    int64_t left;

    while ((left = INT64_MAX - now_fs(tl)) > 1125000) {
        int64_t cycles = left / (100 * FS), k = cycles / (1024 * 1024) - 1;
        uint64_t mark = tl_mark(tl);

        if (k > 0)
            multiply(tl, 1024, k < 30000 ? k : 30000);
        else if (cycles > 700)
            multiply(tl, 1, cycles - 600);
        else /* 3 ns, and 64 elements in each ns; each stores in 1/512 ns */
            tl_full(tl, KB_I8, KB_SHAPE(64 * ((left - 3 * FS) / 1125000)), 0);
        tl_release(tl, mark);
    }
    if (*one_more)
        tl_full(tl, KB_I8, KB_SHAPE(1), 0);
}

/* Commands, and responses, that would come later than 2^63 fs. */
static void kernels_end_with_time(void **state)
{
    const kb_topology *topo = any_topology(
        "kernbench: 1\nname: slow\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube: {pe: {pe_tcm: {size_mb: 256}, pe_gemm: {clock_ghz: 0.01, mac: [1, 1, 1]}}}\n");
    const bool one_more[] = {false, true}; /* a response takes 1.25625 ns, a call 3 */

    (void)state;
    assert_non_null(topo);
    for (size_t i = 0; i < LENGTH(one_more); i++) {
        kb_sim *sim = new_sim(topo, (kb_options){0});
        kb_error why = {""};
        kb_launch_result r;

        assert_int_equal(launch(sim, goes_to_the_end_of_time, &one_more[i], 1, &why), KB_OK);
        assert_int_equal(kb_sim_run(sim, 0, &why), KB_TIME_RANGE);
        assert_string_equal(why.text, "simulated time has passed 2^63 fs, two and a half hours");
        assert_int_equal(kb_launch_get(sim, 0, &r), KB_PENDING);
        kb_sim_free(sim);
    }
    any_topology_free(topo);
}

/* -- arguments ------------------------------------------------------------------------------ */

static void assert_refused(kb_sim *sim, kb_launch_request r, const char *text)
{
    kb_error why = {""};
    size_t n = kb_launch_count(sim);

    assert_int_equal(kb_launch(sim, &r, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, text);
    assert_int_equal(kb_launch_count(sim), n);
}

static void launches_are_checked(void **state)
{
    const uint32_t far[] = {0, 64}, twice[] = {3, 3}, falling[] = {1, 0};
    kb_launch_request good = {.name = "k", .kernel = works}, r = good;
    kb_transaction row = {.op = KB_READ, .nbytes = 64, .dst.kind = KB_SLICE};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};

    (void)state;
    r.pes = far;
    r.n_pes = 2;
    assert_refused(sim, r, "there is no PE 64, only 0..63");
    r.pes = twice;
    assert_refused(sim, r, "the PEs of a launch are not in ascending order");
    r.pes = falling;
    assert_refused(sim, r, "the PEs of a launch are not in ascending order");
    r.n_pes = 0;
    assert_refused(sim, r, "a launch needs at least one PE");
    r = good;
    r.name = NULL;
    assert_refused(sim, r, "a launch needs a kernel and its name");
    r = good;
    r.kernel = NULL;
    assert_refused(sim, r, "a launch needs a kernel and its name");
    add(sim, &row); /* a launch that was refused has changed nothing */
    assert_refused(sim, good, "the simulation has transactions of its own, it takes no kernels");
    run_all(sim);
    kb_sim_free(sim);
    sim = new_sim(&cube8_topology, (kb_options){0});
    assert_int_equal(kb_launch(sim, &good, &why), KB_OK);
    assert_int_equal(kb_sim_add(sim, &row, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "the simulation has kernels, it takes no transactions");
    kb_sim_free(sim); /* launched, and never run */
}

static void reads_args_late(tl_ctx *tl, const kb_args *args)
{
    int *n = (int *)(uintptr_t)args->user;

    for (int i = 0; i < 20; i++) {
        tl_full(tl, KB_F32, KB_SHAPE(16), 1);
        assert_ptr_equal(args->user, n);
    }
    ++*n;
}

static void launches_may_be_added_while_one_runs(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};
    int n = 0, launches = 0;
    kb_status status;

    (void)state;
    do {
        if (launches < 30) {
            assert_int_equal(launch(sim, reads_args_late, &n, 2, &why), KB_OK);
            launches++;
        }
        status = kb_sim_run(sim, 1, &why);
    } while (status == KB_AGAIN);
    assert_int_equal(status, KB_OK);
    assert_int_equal(n, 60);
    kb_sim_free(sim);
}

/* -- where am I ----------------------------------------------------------------------------- */

static void says_where(tl_ctx *tl, const kb_args *args)
{
    int64_t pe = tl_program_id(tl, 0), cube = tl_program_id(tl, 1), sip = tl_program_id(tl, 2);
    unsigned char *seen = (unsigned char *)(uintptr_t)args->user;

    assert_int_equal(tl_num_programs(tl, 0), 8);
    assert_int_equal(tl_num_programs(tl, 1), 16);
    assert_int_equal(tl_num_programs(tl, 2), 2);
    assert_in_range(pe, 0, 7);
    assert_in_range(cube, 0, 15);
    assert_int_equal(tl_pe(tl), (sip * 16 + cube) * 8 + pe);
    assert_ptr_equal(tl_topology(tl), &tray32_topology);
    seen[tl_pe(tl)]++;
}

static void every_pe_of_two_sips_knows_where_it_is(void **state)
{
    kb_sim *sim = new_sim(&tray32_topology, (kb_options){0});
    unsigned char seen[256] = {0};

    (void)state;
    launch_on(sim, says_where, seen, NULL, 0);
    for (int i = 0; i < 256; i++)
        assert_int_equal(seen[i], 1);
    kb_sim_free(sim);
}

/* -- what is counted ------------------------------------------------------------------------ */

static void counts(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, 0, KB_F32, KB_SHAPE(4, 4)), *row, *a, *b;

    (void)args;
    tl_store(tl, 1 << 20, tl_reshape(tl, x, KB_SHAPE(16)));
    tl_dot(tl, tl_reshape(tl, x, KB_SHAPE(2, 8)), tl_reshape(tl, x, KB_SHAPE(8, 2)));
    tl_add(tl, tl_reshape(tl, x, KB_SHAPE(16, 1)), tl_reshape(tl, x, KB_SHAPE(16)));
    tl_sum(tl, x, 0, false);
    tl_argmax(tl, x, TL_ALL_AXES, false);
    tl_softmax(tl, x, 0);
    row = tl_arange(tl, KB_F32, 34, 0, 1);
    a = tl_ref(tl, 0, KB_F32, KB_SHAPE(33, 65));
    b = tl_ref(tl, 0, KB_F32, KB_SHAPE(65, 34));
    tl_composite(tl, .a = a, .b = b, .out = 1 << 20,
                 .epilogue = {{TL_ADD, row, NULL},
                              {TL_CLAMP, tl_scalar(tl, 0), tl_scalar(tl, 1)},
                              {TL_FMA, row, tl_scalar(tl, 1)},
                              {TL_CLAMP, row, tl_scalar(tl, 1)}});
    a = tl_ref(tl, 0, KB_F32, KB_SHAPE(40, 50));
    tl_composite(tl, .op = TL_FMA, .a = a, .b = a, .c = tl_scalar(tl, 1), .out = 2 << 20);
}

/* By hand; tiles of a are read for both columns of tiles, those of b for both rows. */
static void what_kernels_do_is_counted(void **state)
{
    kb_launch_result r = run_quick(counts, NULL, 2);

    (void)state;
    assert_int_equal(r.ops, 2 * 10);
    assert_int_equal(r.dma_read_bytes, 2 * (64 + 2 * 33 * 65 * 4 + 2 * 65 * 34 * 4 + 2 * 8000));
    assert_int_equal(r.dma_write_bytes, 2 * (64 + 33 * 34 * 4 + 8000));
    assert_int_equal(r.gemm_macs, 2 * (2 * 8 * 2 + 33 * 65 * 34));
    assert_int_equal(r.math_elements, 2 * (256 + 16 + 16 + 16 + 34 + 4 * 33 * 34 + 2000));
}

/* -- the log -------------------------------------------------------------------------------- */

static void loads_twice(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x, *y;

    (void)args;
    tl_region(tl, "first");
    x = tl_load_async(tl, 0, KB_F32, KB_SHAPE(1024));
    tl_region(tl, NULL);
    y = tl_load_async(tl, 0, KB_F32, KB_SHAPE(1024));
    tl_wait(tl, x);
    tl_wait(tl, y);
    tl_region(tl, "last");
    tl_exp(tl, x);
}

static const char *line_of(const char *log, unsigned id)
{
    char text[32];
    const char *line;

    snprintf(text, sizeof text, "\n{\"op_id\":%u,", id);
    line = strstr(log, text);
    assert_non_null(line);
    return line + 1;
}

static bool line_has(const char *line, const char *text)
{
    const char *at = strstr(line, text);

    return at && at < strchr(line, '\n');
}

static double ns(const char *log, unsigned id, const char *key)
{
    return round(logged(log, id, key) * 1e6) / 1e6;
}

/*
 * A load holds its channel from its start to done, not only until its issue. Both loads are issued
 * at once, 3 ns apart; the second waits for the channel until the first is done.
 *                                                    docs/kernels.md "Waiting and overlapping"
 */
static void dma_takes_its_time_from_its_channel_to_done(void **state)
{
    kb_launch_result r;
    kb_sim *sim = run_kernel((kb_options){.oplog = true}, loads_twice, NULL, 1, &r);
    double start = (double)r.start_fs / 1e6;
    char *log = log_of(sim);

    (void)state;
    assert_true(fabs(ns(log, 0, "t_issue") - (start + 3)) < 1e-9);
    assert_true(fabs(ns(log, 0, "t_start") - (start + 3)) < 1e-9);
    assert_true(fabs(ns(log, 0, "t_end") - (start + 21.085)) < 1e-9);
    assert_true(fabs(ns(log, 1, "t_issue") - (start + 6)) < 1e-9);
    assert_true(fabs(ns(log, 1, "t_start") - (start + 21.085)) < 1e-9);
    assert_true(fabs(ns(log, 1, "t_end") - (start + 39.17)) < 1e-9);
    /* exp: its own record is that of pe_math */
    assert_true(fabs(ns(log, 2, "t_issue") - (start + 42.17)) < 1e-9);
    assert_true(fabs(ns(log, 2, "t_start") - (start + 50.17)) < 1e-9);
    assert_true(fabs(ns(log, 2, "t_end") - (start + 114.17)) < 1e-9);
    assert_true(line_has(line_of(log, 0), "\"region\":\"first\""));
    assert_false(line_has(line_of(log, 1), "region"));
    for (unsigned id = 2; id < 5; id++) /* and its FETCH and STORE */
        assert_true(line_has(line_of(log, id), "\"region\":\"last\""));
    free(log);
    kb_sim_free(sim);
}

/* -- all ways agree ------------------------------------------------------------------------- */

/* A bit of everything, on all PEs, which meet at slices, SRAMs and each other's TCMs. */
static void mixes(tl_ctx *tl, const kb_args *args)
{
    int64_t *at = (int64_t *)(uintptr_t)args->user + tl_pe(tl);
    uint64_t cube = (uint64_t)tl_program_id(tl, 1) << 38, next = (tl_pe(tl) + 1) % 8;
    uint64_t own = cube + (uint64_t)tl_program_id(tl, 0) * SLICE_BYTES;
    uint64_t other = ((uint64_t)(tl_pe(tl) * 5 % 8) << 38) + SLICE(next);
    double start = tl_time(tl);
    tl_tensor *place = tl_alloc(tl, KB_F32, KB_SHAPE(16)), *a, *b, *c;

    a = tl_load_async(tl, other, KB_F16, KB_SHAPE(32, 64));
    tl_region(tl, tl_pe(tl) % 2 ? "odd" : "even");
    b = tl_load(tl, own + 128, KB_F16, KB_SHAPE(64, 32));
    tl_store(tl, cube + SRAM + 4096 * next, b);
    *at ^= 3 * now_fs(tl);
    tl_store(tl, cube + TCM(next), tl_load(tl, own, KB_F32, KB_SHAPE(16)));
    tl_wait(tl, a);
    c = tl_dot(tl, a, b, .dtype_out = KB_F32);
    *at ^= 5 * now_fs(tl);
    tl_store_async(tl, own + (1 << 20), tl_softmax(tl, c, -1));
    c = tl_composite(tl, .a = a, .b = tl_ref(tl, other + 64, KB_F16, KB_SHAPE(64, 100)),
                     .out = other + (2 << 20) + 65536 * tl_pe(tl), .dot.dtype_out = KB_F32,
                     .epilogue = {{.op = TL_SIGMOID}, {.op = TL_MUL, .y = tl_scalar(tl, 2)}});
    b = tl_load(tl, own + (1 << 20), KB_F32, KB_SHAPE(32, 16));
    *at ^= 7 * now_fs(tl);
    tl_wait(tl, c);
    while (tl_time(tl) < start + 3000)
        tl_free(tl, tl_full(tl, KB_I8, KB_SHAPE(4096), 0));
    if (tl_get(tl, place, 3) == 4)
        tl_exp(tl, tl_add(tl, b, tl_load(tl, tl_address(c), KB_F32, KB_SHAPE(16))));
    tl_composite(tl, .op = TL_ADD, .a = tl_ref(tl, own, KB_F32, KB_SHAPE(32, 16)), .b = b,
                 .out = own + (3 << 20));
    *at ^= 11 * now_fs(tl);
}

struct way {
    kb_options options;
    uint64_t budget;
};

static void run_mixed(struct way way, int64_t times[N_PES], kb_launch_result r[2],
                      uint64_t *fingerprint)
{
    kb_sim *sim = new_sim(&cube8_topology, way.options);
    kb_error why = {""};

    memset(times, 0, N_PES * sizeof *times);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(launch(sim, mixes, times, 0, &why), KB_OK);
    run_launched(sim, way.budget);
    if (way.options.phase2) /* it changes nothing afterwards */
        assert_int_equal(kb_compute(sim, NULL, &why), KB_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(kb_launch_get(sim, i, &r[i]), KB_OK);
    *fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
}

/* Engines, log, spill, Phase 2, how often kb_sim_run() is called: times and counts are the same. */
static void all_ways_to_run_kernels_agree(void **state)
{
    static const struct way ways[] = {
        {{.fingerprint = true}, 0},
        {{.fingerprint = true}, 1},
        {{.fingerprint = true, .oplog = true}, 0},
        {{.fingerprint = true, .phase2 = true, .oplog_limit_bytes = 4096}, 0},
        {{.fingerprint = true, .engine = KB_HOP}, 0},
        {{.fingerprint = true, .engine = KB_HOP, .oplog = true, .phase2 = true}, 1},
        {{.engine = KB_HOP}, 7},
        {{0}, 0},
        {{0}, 1},
        {{.oplog = true}, 3},
        {{.phase2 = true}, 1000},
        {{.until_fs = INT64_MAX}, 0},
        {{.max_events = UINT64_MAX}, 1},
    };
    static int64_t first[N_PES], times[N_PES];
    kb_launch_result wants[2], got[2];
    uint64_t fingerprint, other;

    (void)state;
    run_mixed(ways[0], first, wants, &fingerprint);
    for (size_t i = 1; i < LENGTH(ways); i++) {
        run_mixed(ways[i], times, got, &other);
        assert_memory_equal(times, first, sizeof times);
        if (ways[i].options.fingerprint)
            assert_true(other == fingerprint);
        for (int n = 0; n < 2; n++) {
            assert_int_equal(got[n].start_fs, wants[n].start_fs);
            assert_int_equal(got[n].last_end_fs, wants[n].last_end_fs);
            assert_int_equal(got[n].response_fs, wants[n].response_fs);
            assert_int_equal(got[n].ops, wants[n].ops);
            assert_int_equal(got[n].dma_read_bytes, wants[n].dma_read_bytes);
            assert_int_equal(got[n].dma_write_bytes, wants[n].dma_write_bytes);
            assert_int_equal(got[n].gemm_macs, wants[n].gemm_macs);
            assert_int_equal(got[n].math_elements, wants[n].math_elements);
        }
    }
}

/* The same log, however it comes about. */
static void all_ways_log_the_same(void **state)
{
    static const struct way ways[] = {
        {{.oplog = true}, 0},
        {{.oplog = true, .oplog_limit_bytes = 4096}, 1},
        {{.oplog = true, .engine = KB_HOP}, 0},
        {{.phase2 = true, .fingerprint = true}, 5},
    };
    char *logs[LENGTH(ways)];
    int64_t times[N_PES];

    (void)state;
    for (size_t i = 0; i < LENGTH(ways); i++) {
        kb_sim *sim = new_sim(&cube8_topology, ways[i].options);
        kb_error why = {""};

        assert_int_equal(fill_slices(sim, &why), KB_OK);
        assert_int_equal(launch(sim, mixes, times, 0, &why), KB_OK);
        run_launched(sim, ways[i].budget);
        logs[i] = log_of(sim);
        assert_string_equal(logs[i], logs[0]);
        kb_sim_free(sim);
    }
    for (size_t i = 0; i < LENGTH(ways); i++)
        free(logs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_start_together),
        cmocka_unit_test(the_next_launch_starts_when_the_last_is_back),
        cmocka_unit_test(what_pes_count_is_merged),
        cmocka_unit_test(kernels_of_one_instant_run_in_order),
        cmocka_unit_test(the_response_from_farthest_away_ends_a_launch),
        cmocka_unit_test(a_pe_ends_with_its_last_command),
        cmocka_unit_test(kernels_end_with_time),
        cmocka_unit_test(launches_are_checked),
        cmocka_unit_test(launches_may_be_added_while_one_runs),
        cmocka_unit_test(every_pe_of_two_sips_knows_where_it_is),
        cmocka_unit_test(what_kernels_do_is_counted),
        cmocka_unit_test(dma_takes_its_time_from_its_channel_to_done),
        cmocka_unit_test(all_ways_to_run_kernels_agree),
        cmocka_unit_test(all_ways_log_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
