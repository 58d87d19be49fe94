/* test_split.c -- transactions that are split over slices, by hand; test_random.c has the judge. */
#include "support/any_topology.h"
#include "support/rig.h"

#define CUBE8 "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_ends_with_its_last_part),
        cmocka_unit_test(without_a_granule_it_is_one),
        cmocka_unit_test(the_channel_is_taken_once),
        cmocka_unit_test(what_cannot_be_split_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
