/* test_coll_parts.c -- kb_coll.h: uneven parts, a rank that sends to another, vectors that do not
 * fit. */
#include "kb_coll.h"
#include "support/talks.h"

#define MS INT64_C(1000000000000) /* in fs */

/* A place there. */
static uint64_t in_own_slice(tl_ctx *tl)
{
    kb_endpoint slice;

    kb_pe_slice(tl_topology(tl), tl_pe(tl), &slice);
    return kb_address(tl_topology(tl), &slice, 1 << 20);
}

/* -- uneven parts, pairs --------------------------------------------------------------------- */

/* Three ranks, PEs 2, 9 and 0. */
static const uint32_t three[] = {2, 9, 0};

/* Of an uneven call: rank r has 100 r + e in element e of `in`. */
struct uneven {
    char what;
    kb_coll_algorithm algorithm;
    const int64_t *counts;
    const kb_topology *on;
    const double *is[3]; /* what should lie in `out` */
    int64_t n[3];
};

static void expect(tl_ctx *tl, uint64_t at, int64_t n, const double *is)
{
    for (int64_t i = 0; i < n; i++)
        if (tl_value(tl, tl_load(tl, at, KB_I32, KB_SHAPE(n)), i) != is[i])
            tl_fail(tl, "an element is not what it should be");
}

static void uneven_call(tl_ctx *tl, const kb_args *args)
{
    const struct uneven *u = args->user;
    kb_group g = kb_group_list(tl, three, 3);
    int64_t rank = tl_pe(tl) == 2 ? 0 : tl_pe(tl) == 9 ? 1 : 2;
    uint64_t at = in_own_slice(tl) + 65536 * (uint64_t)rank, out = at + (1 << 20);
    kb_coll c = {.in = at, .out = out, .count = 5, .dtype = KB_I32, .op = TL_ADD};

    c.algorithm = u->algorithm;
    c.counts = u->counts;
    tl_store(tl, at, tl_add(tl, tl_arange(tl, KB_I32, 9, 0, 1), tl_scalar(tl, 100 * (double)rank)));
    if (u->what == 'g')
        kb_all_gather_at(TL_HERE, tl, g, c);
    else if (u->what == 's')
        kb_reduce_scatter_at(TL_HERE, tl, g, c);
    else
        kb_all_to_all_at(TL_HERE, tl, g, c);
    expect(tl, out, u->n[rank], u->is[rank]);
}

static void run_uneven(const kb_topology *on, struct uneven u)
{
    static const uint32_t sorted[] = {0, 2, 9};
    kb_sim *sim = new_sim(on, (kb_options){.values = true});
    kb_launch_request r = {
        .name = "uneven", .kernel = uneven_call, .args.user = &u, .pes = sorted, .n_pes = 3};
    kb_error why = {""};

    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%c by %d: %s", u.what, (int)u.algorithm, why.text);
    kb_sim_free(sim);
}

static void parts_may_be_uneven(void **state)
{
    static const int64_t counts[] = {3, 0, 2}, table[] = {1, 2, 3, 0, 4, 1, 5, 0, 2};
    static const double all[] = {0, 1, 2, 200, 201};
    static const double sums[3][3] = {{300, 303, 306}, {0}, {309, 312}};
    /* 0 to 0: 0; 1, 2 to 1; 3, 4, 5 to 2; of 1: 100 to 103 to 1, 104 to 2; of 2: 200 to 204 to 0 */
    static const double to0[] = {0, 200, 201, 202, 203, 204}, to1[] = {1, 2, 100, 101, 102, 103},
                        to2[] = {3, 4, 5, 104, 205, 206};

    (void)state;
    for (int a = KB_COLL_AUTO; a <= KB_COLL_DIRECT; a++) {
        run_uneven(&cube8_topology, (struct uneven){.what = 'g',
                                                    .algorithm = (kb_coll_algorithm)a,
                                                    .counts = counts,
                                                    .is = {all, all, all},
                                                    .n = {5, 5, 5}});
        run_uneven(&cube8_topology, (struct uneven){.what = 's',
                                                    .algorithm = (kb_coll_algorithm)a,
                                                    .counts = counts,
                                                    .is = {sums[0], sums[1], sums[2]},
                                                    .n = {3, 0, 2}});
    }
    run_uneven(
        &cube8_topology,
        (struct uneven){.what = 'a', .counts = table, .is = {to0, to1, to2}, .n = {6, 6, 6}});
}

/* From rank i to rank k (i + 2 k) % 3 of eight. */
static void eight_exchange(tl_ctx *tl, const kb_args *args)
{
    int64_t table[64], me = tl_pe(tl), n = 0, out_n = 0;
    double is[64];
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);

    (void)args;
    for (int64_t i = 0; i < 64; i++)
        table[i] = (i / 8 + i % 8 * 2) % 3;
    for (int64_t i = 0; i < 8; i++) {
        int64_t first = 0;

        for (int64_t k = 0; k < me; k++)
            first += table[i * 8 + k];
        for (int64_t e = 0; e < table[i * 8 + me]; e++)
            is[out_n++] = (double)(100 * i + first + e);
        n += table[me * 8 + i];
    }
    tl_store(tl, at, tl_add(tl, tl_arange(tl, KB_I32, n, 0, 1), tl_scalar(tl, 100 * (double)me)));
    kb_all_to_all(tl, kb_group_cube(tl), .in = at, .out = out, .dtype = KB_I32, .counts = table);
    expect(tl, out, out_n, is);
}

/* Queues of seven others fit, or do not: then each writes to where others want it. */
static void exchanges_may_be_uneven(void **state)
{
    static const char *const slots[] = {"2", "5"};

    (void)state;
    for (size_t i = 0; i < LENGTH(slots); i++) {
        char yaml[256];
        const kb_topology *topo;
        kb_error why = {""};
        kb_sim *sim;

        snprintf(yaml, sizeof yaml,
                 "kernbench: 2\nname: small\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pe: {pe_tcm: "
                 "{size_mb: 1}, pe_ipcq: {slots: %s, slot_bytes: 32768}}}\n",
                 slots[i]);
        topo = any_topology(yaml);
        sim = new_sim(topo, (kb_options){.values = true});
        assert_int_equal(launch(sim, eight_exchange, NULL, 8, &why), KB_OK);
        if (kb_sim_run(sim, 0, &why) != KB_OK)
            fail_msg("%s slots: %s", slots[i], why.text);
        kb_sim_free(sim);
        any_topology_free(topo);
    }
}

/* 24 ranks along pes, x, y and SIPs: element e of part k of rank r is 1000 r + 10 k + e. */
static void by_axes(tl_ctx *tl, const kb_args *args)
{
    kb_group g = kb_group_all(tl);
    double me = tl_pe(tl), is[72];
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);
    tl_tensor *part = tl_reshape(tl, tl_arange(tl, KB_I32, 24, 0, 10), KB_SHAPE(24, 1));
    tl_tensor *e = tl_reshape(tl, tl_arange(tl, KB_I32, 3, 1000 * me, 1), KB_SHAPE(1, 3));

    (void)args;
    for (int r = 0; r < 24; r++)
        for (int i = 0; i < 3; i++)
            is[3 * r + i] = 1000.0 * r + 10 * me + i;
    tl_store(tl, at, tl_add(tl, part, e));
    kb_all_to_all(tl, g, .in = at, .out = out, .count = 72, .dtype = KB_I32,
                  .algorithm = KB_COLL_AXES);
    expect(tl, out, 72, is);
    kb_all_to_all(tl, g, .in = at, .out = at, .count = 72, .dtype = KB_I32,
                  .algorithm = KB_COLL_AXES);
    expect(tl, at, 72, is);
}

/* Each pays for one part less than the axes are long in all: 1 + 2 + 1 + 1 steps, and 4 calls,
 * twice. */
static void exchanges_go_along_axes(void **state)
{
    const kb_topology *tray = any_topology(
        "kernbench: 2\nname: tray\nsoftware: {call_ns: 1.0e+6, step_ns: 1.0e+6, unit: cube}\n"
        "sip: {cube_mesh: {w: 3, h: 2}}\ncube: {pes: 2}\nsips: 2\n");
    kb_sim *sim = new_sim(tray, (kb_options){.values = true});
    kb_launch_result r;
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, by_axes, NULL, 0, &why), KB_OK);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    assert_int_equal(kb_launch_get(sim, 0, &r), KB_OK);
    assert_int_equal((r.last_end_fs - r.start_fs) / MS, 14);
    kb_sim_free(sim);
    any_topology_free(tray);
}

/* PE 9 gives 1000 numbers to PE 2, in pieces of 256 bytes; PE 0 does something else. */
static void one_gives_another(tl_ctx *tl, const kb_args *args)
{
    kb_group g = kb_group_list(tl, three, 3);
    uint64_t at = in_own_slice(tl) + (tl_pe(tl) == 2 ? 65536 : 0);

    (void)args;
    if (tl_pe(tl) == 9) {
        tl_store(tl, at, tl_arange(tl, KB_F32, 1000, 0, 1));
        kb_send(tl, g, 0, .in = at, .count = 1000, .dtype = KB_F32, .chunk = 256);
    } else if (tl_pe(tl) == 2) {
        kb_recv(tl, g, 1, .out = at, .count = 1000, .dtype = KB_F32, .chunk = 256);
        for (int64_t i = 0; i < 1000; i += 111)
            if (tl_value(tl, tl_load(tl, at, KB_F32, KB_SHAPE(1000)), i) != (double)i)
                tl_fail(tl, "another number came");
    }
}

static void a_rank_sends_to_another(void **state)
{
    static const uint32_t sorted[] = {0, 2, 9};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});
    kb_launch_request r = {.name = "gives", .kernel = one_gives_another, .pes = sorted, .n_pes = 3};
    kb_error why = {""};

    (void)state;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

/* Calls of one PE that are mistakes: case k. */
static void goes_wrong(tl_ctx *tl, const kb_args *args)
{
    static const int64_t less[] = {3, 1, 0}, negative[] = {4, -1, 2}, ones[64 * 64] = {1, 1};
    static const uint32_t own_first[] = {0, 1, 2};
    kb_group g = kb_group_list(tl, own_first, 3);
    uint64_t at = in_own_slice(tl), slice = at - (1 << 20);
    kb_endpoint own;
    uint64_t bytes;

    kb_pe_slice(tl_topology(tl), tl_pe(tl), &own);
    bytes = kb_memory_bytes(tl_topology(tl), &own);
    switch (*(const int *)args->user) {
    case 0:
        kb_all_gather(tl, g, .in = at, .out = at, .count = 5, .dtype = KB_I32, .counts = less);
        break;
    case 1:
        kb_all_to_all(tl, g, .in = at, .out = at, .dtype = KB_I32, .counts = negative);
        break;
    case 2:
        kb_all_reduce(tl, g, .in = at, .out = at, .count = 5, .dtype = KB_I32, .op = TL_ADD,
                      .counts = less);
        break;
    case 3:
        kb_send(tl, g, 0, .in = at, .count = 5, .dtype = KB_I32);
        break;
    case 4:
        kb_recv(tl, g, 3, .out = at, .count = 5, .dtype = KB_I32);
        break;
    case 5:
        kb_all_reduce(tl, g, .in = slice, .out = slice, .count = (int64_t)bytes, .dtype = KB_I32,
                      .op = TL_ADD);
        break;
    case 6:
        kb_all_reduce(tl, g, .in = slice + bytes - 16, .out = slice, .count = 5, .dtype = KB_I32,
                      .op = TL_ADD);
        break;
    case 7:
        kb_all_to_all(tl, kb_group_sip(tl), .in = at, .out = at + 64, .dtype = KB_I32,
                      .counts = ones, .algorithm = KB_COLL_AXES);
        break;
    case 8:
        kb_all_gather(tl, kb_group_list(tl, own_first, 0), .in = at, .out = at, .count = 5,
                      .dtype = KB_I32);
        break;
    default:
        kb_broadcast(tl, g, .in = slice, .out = UINT64_MAX - 64, .count = 5, .dtype = KB_I32);
    }
}

static void mistakes_of_vectors_are_named(void **state)
{
    static const uint32_t one[] = {0};
    static const char *const says[] = {
        "kb_all_gather: `counts` are 4 elements in all, and `count` is 5",
        "kb_all_to_all: counts[1] is -1",
        "kb_all_reduce: `counts` are for kb_all_gather, kb_reduce_scatter and kb_all_to_all",
        "kb_send: rank 0 is the PE itself",
        "kb_recv: there is no rank 3 among 3",
        "kb_all_reduce: `in` has 25769803776 bytes, and its memory 6442450944",
        "kb_all_reduce: `in` has 20 bytes, and from its address on there are 16",
        "kb_all_to_all: KB_COLL_AXES is for even parts, KB_COLL_DIRECT takes `counts`",
        "kb_all_gather: the group has no PEs",
        "kb_broadcast: `out` is in no memory",
    };

    (void)state;
    for (int i = 0; i < (int)LENGTH(says); i++) {
        kb_error why = mistake_of(&cube8_topology, goes_wrong, &i, one, 1, KB_KERNEL_ERROR);

        if (!strstr(why.text, says[i]))
            fail_msg("\"%s\" does not say \"%s\"", why.text, says[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_may_be_uneven),           cmocka_unit_test(exchanges_may_be_uneven),
        cmocka_unit_test(exchanges_go_along_axes),       cmocka_unit_test(a_rank_sends_to_another),
        cmocka_unit_test(mistakes_of_vectors_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
