/* test_split.c -- transactions that are split over slices: goldens, and what the judge says. */
#include "support/any_topology.h"
#include "support/rig.h"

/*
 * KB_SEEDS=N in the environment runs seeds 1..N. Each seed is a random machine with a random
 * granule, and loads in which many rows have addresses instead of endpoints.
 */
enum { SEEDS = 150, LOADS = 6, MOST_ROWS = 60, MOST_PARTS = 24 };

enum { LOAD_AFTER = 1, LOAD_READS = 2, LOAD_WRITES = 4, LOAD_WRITES_AFTER = 5 };

#define CUBE8 "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

/* -- by hand -------------------------------------------------------------------------------- */

static kb_request read_at(const kb_topology *t, uint64_t address, uint64_t nbytes)
{
    return (kb_request){.op = KB_READ,
                        .src = end_of(t, "c0.pe0"),
                        .by_address = true,
                        .address = address,
                        .nbytes = nbytes};
}

/* docs/model.md "Split transactions": a read of n granules from 0x0 ends with that of slice n - 1.
 */
static void check_ends(const char *yaml, const int64_t expected[4])
{
    const kb_topology *t = any_topology(yaml);

    for (int engine = KB_FUSED; engine <= KB_HOP; engine++)
        for (uint64_t n = 1; n <= 4; n++) {
            kb_sim *sim = new_sim(t, (kb_options){.engine = (kb_engine)engine});
            kb_request request = read_at(t, 0, n * 4096);
            kb_request back;

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
    kb_request request = read_at(t, 0, 16384);
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
        kb_request request = read_at(t, 0, 16384);
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
        kb_request request = read_at(t, rows[i].address, rows[i].nbytes);
        kb_error why = {""};

        assert_int_equal(kb_sim_add(sim, &request, &why), KB_BAD_REQUEST);
        assert_string_equal(why.text, rows[i].why);
    }
    kb_sim_free(sim);
    any_topology_free(t);
}

/* -- random --------------------------------------------------------------------------------- */

/* The YAML of a random machine, with interleaved addresses. */
static char *random_machine(uint64_t seed, uint64_t *dice)
{
    static const uint64_t granules[] = {64, 128, 4096, 4096, 65536};
    char *plain = printed(judge_random_topo, seed), *space, *yaml = NULL;
    const char *over = draw(dice) % 2 ? "sip" : "cube", *hash = draw(dice) % 2 ? "xor" : "none";
    uint64_t granule = granules[draw(dice) % LENGTH(granules)], pes;

    assert_non_null(plain);
    pes = strtoull(strstr(plain, "pes: ") + 5, NULL, 10);
    assert_true(asprintf(&yaml, "%saddressing: {granule: %" PRIu64 ", over: %s, hash: %s}\n", plain,
                         granule, over, pes & (pes - 1) ? "none" : hash) > 0);
    space = strstr(yaml, "space: hbm");
    if (space)
        memcpy(space, "space: tcm", strlen("space: tcm"));
    free(plain);
    return yaml;
}

/* Gives many rows the address of a byte in the cube of their target, and several parts. */
static void use_addresses(const struct judge_topo *t, struct judge_row *rows, size_t n,
                          uint64_t *dice)
{
    uint64_t granule = judge_count(t, "addressing.granule"), most = MOST_PARTS * granule;

    for (size_t i = 0; i < n; i++) {
        struct judge_row *row = &rows[i];
        uint64_t room = judge_memory_bytes(t, &row->dst) * judge_count(t, "cube.pes");
        uint64_t nbytes = 1 + draw(dice) % most, offset;
        struct judge_end any;

        if (row->dst.kind != JUDGE_SLICE || draw(dice) % 4 == 0)
            continue;
        if (draw(dice) % 2)
            nbytes = (nbytes + granule - 1) / granule * granule;
        row->nbytes = nbytes;
        offset = draw(dice) % 4 ? draw(dice) % 8 * granule : draw(dice) % room;
        if (offset > room - nbytes)
            offset = room - nbytes;
        row->by_address = true;
        row->address = (uint64_t)row->dst.sip << 52 | (uint64_t)row->dst.cube << 38 | offset;
        row->offset = 0;
        assert_true(judge_memory_at(t, row->address, &any, &offset));
        row->dst = any;
    }
}

static void check_run(const kb_topology *t, const struct judge_row *rows, size_t n,
                      const struct judge_result *expected, uint64_t fingerprint,
                      kb_options options, uint64_t seed)
{
    kb_sim *sim = sim_of_rows(t, options, rows, n);
    char text[128];

    run_all(sim);
    for (size_t i = 0; i < n; i++) {
        kb_result r = result_of(sim, i);

        if (differ(&r, &expected[i], text))
            fail_msg("seed %" PRIu64 ", engine %d, fingerprint %d: of row %zu %s", seed,
                     options.engine, options.fingerprint, i, text);
    }
    if (options.fingerprint && kb_sim_fingerprint(sim) != fingerprint)
        fail_msg("seed %" PRIu64 ", engine %d: another fingerprint", seed, options.engine);
    kb_sim_free(sim);
}

static void check_load(const kb_topology *t, const struct judge_topo *judge,
                       const struct judge_row *rows, size_t n, uint64_t seed)
{
    struct judge_result *expected = calloc(n, sizeof *expected);
    uint64_t fingerprint;

    assert_true(judge_replay(judge, rows, n, expected, &fingerprint));
    for (int engine = KB_FUSED; engine <= KB_HOP; engine++)
        for (int counted = 0; counted < 2; counted++)
            check_run(t, rows, n, expected, fingerprint,
                      (kb_options){.engine = (kb_engine)engine, .fingerprint = counted}, seed);
    free(expected);
}

static void engines_say_what_the_judge_says(void **state)
{
    uint64_t n_seeds = getenv("KB_SEEDS") ? strtoull(getenv("KB_SEEDS"), NULL, 10) : SEEDS;

    (void)state;
    for (uint64_t seed = 1; seed <= n_seeds; seed++) {
        uint64_t dice = seed;
        char *yaml = random_machine(seed, &dice);
        struct judge_topo *judge = judge_load_text(yaml);
        const kb_topology *t = any_topology(yaml);

        assert_non_null(judge);
        assert_non_null(t);
        for (int load = 0; load < LOADS; load++) {
            size_t n = draw(&dice) % MOST_ROWS + 1;
            struct judge_row *rows = random_rows(judge, draw(&dice), n);

            use_addresses(judge, rows, n, &dice);
            for (size_t i = 0; load >= LOAD_READS && i < n; i++)
                rows[i].op = rows[i].src.kind == JUDGE_HOST
                                 ? (load >= LOAD_WRITES ? JUDGE_H2D : JUDGE_D2H)
                                 : (load >= LOAD_WRITES ? JUDGE_WRITE : JUDGE_READ);
            if (load == LOAD_AFTER || load == LOAD_WRITES_AFTER)
                judge_random_after(rows, n, draw(&dice));
            check_load(t, judge, rows, n, seed);
            free(rows);
        }
        any_topology_free(t);
        judge_free(judge);
        free(yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_ends_with_its_last_part),
        cmocka_unit_test(without_a_granule_it_is_one),
        cmocka_unit_test(the_channel_is_taken_once),
        cmocka_unit_test(what_cannot_be_split_is_refused),
        cmocka_unit_test(engines_say_what_the_judge_says),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
