/* test_coll_groups.c -- kb_coll.h: groups and axes of them, every type, trees, a barrier, what auto
 * weighs. */
#include "kb_coll.h"
#include "support/talks.h"

static void names_one_twice(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t twice[] = {0, 1, 0};

    (void)args;
    kb_all_gather(tl, kb_group_list(tl, twice, 3), .count = 3, .dtype = KB_F32);
}

static void names_none(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t none[] = {0, 64};

    (void)args;
    kb_all_gather(tl, kb_group_list(tl, none, 2), .count = 2, .dtype = KB_F32);
}

static void is_not_in_it(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t others[] = {1, 2};

    (void)args;
    kb_all_gather(tl, kb_group_list(tl, others, 2), .count = 3, .dtype = KB_F32);
}

static void groups_are_checked(void **state)
{
    static const uint32_t one[] = {0};

    (void)state;
    assert_non_null(
        strstr(mistake_of(&cube8_topology, names_one_twice, NULL, one, 1, KB_KERNEL_ERROR).text,
               "PE 0 of the group comes twice"));
    assert_non_null(
        strstr(mistake_of(&cube8_topology, names_none, NULL, one, 1, KB_KERNEL_ERROR).text,
               "PE 64 of the group does not exist"));
    assert_non_null(
        strstr(mistake_of(&cube8_topology, is_not_in_it, NULL, one, 1, KB_KERNEL_ERROR).text,
               "the PE itself is not in the group"));
}

/* A place there. */
static uint64_t in_own_slice(tl_ctx *tl)
{
    kb_endpoint slice;

    kb_pe_slice(tl_topology(tl), tl_pe(tl), &slice);
    return kb_address(tl_topology(tl), &slice, 1 << 20);
}

/* 2 from each of three ranks, in every type that adds. */
static void twos(tl_ctx *tl, const kb_args *args)
{
    kb_dtype dtype = *(const kb_dtype *)args->user;
    static const uint32_t pes[] = {0, 1, 2};
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);

    tl_store(tl, at, tl_full(tl, dtype, KB_SHAPE(37), 2));
    kb_all_reduce(tl, kb_group_list(tl, pes, 3), .in = at, .out = out, .count = 37, .dtype = dtype,
                  .op = TL_ADD);
    for (int64_t i = 0; i < 37; i += 12)
        if (tl_value(tl, tl_load(tl, out, dtype, KB_SHAPE(37)), i) != 6)
            tl_fail(tl, "the sum is not 6");
}

static void every_type_is_summed(void **state)
{
    static const kb_dtype types[] = {KB_F64, KB_F32, KB_F16, KB_BF16,
                                     KB_I64, KB_I32, KB_I16, KB_I8};

    (void)state;
    for (size_t i = 0; i < LENGTH(types); i++) {
        kb_sim *sim = new_sim(&cube8_topology, (kb_options){.values = true});
        kb_error why = {""};

        assert_int_equal(launch(sim, twos, &types[i], 3, &why), KB_OK);
        if (kb_sim_run(sim, 0, &why) != KB_OK)
            fail_msg("type %d: %s", (int)types[i], why.text);
        kb_sim_free(sim);
    }
}

/* Names; an estimate of each algorithm that the call has; each PE once in the order of rings. */
static void tells(tl_ctx *tl, const kb_args *args)
{
    int64_t fs[KB_COLL_ALGORITHMS];
    const uint32_t *order = kb_coll_order(tl, kb_group_all(tl));
    uint64_t seen = 0;

    (void)args;
    for (uint32_t i = 0; i < 64; i++)
        seen |= UINT64_C(1) << order[i];
    if (~seen)
        tl_fail(tl, "a PE is missing");
    for (kb_coll_algorithm a = KB_COLL_AUTO; a < KB_COLL_ALGORITHMS; a++)
        if (kb_coll_parse(kb_coll_name(a)) != a)
            tl_fail(tl, "a name of another");
    if (kb_coll_parse("mesh") != KB_COLL_ALGORITHMS)
        tl_fail(tl, "a name of none");
    kb_coll_estimates(tl, kb_group_all(tl), KB_ALL_REDUCE, fs, .count = 64, .dtype = KB_F16);
    if (fs[KB_COLL_AUTO] >= 0 || fs[KB_COLL_DIRECT] >= 0 || fs[KB_COLL_TREE] <= 0 ||
        fs[KB_COLL_RING] < fs[KB_COLL_AXES])
        tl_fail(tl, "estimates of an all_reduce");
    kb_coll_estimates(tl, kb_group_all(tl), KB_BROADCAST, fs, .count = 64, .dtype = KB_F16);
    if (fs[KB_COLL_AXES] >= 0 || fs[KB_COLL_TREE] > fs[KB_COLL_RING])
        tl_fail(tl, "estimates of a broadcast");
}

static void what_auto_weighs_is_told(void **state)
{
    static const uint32_t one[] = {0};
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    kb_error why = {""};

    (void)state;
    launch_talk(sim, tells, NULL, one, 1);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
}

/* The sum of 1 + pe over all members, in each element, and by their numbers. */
static void sums_to(tl_ctx *tl, kb_group g, kb_coll_algorithm algorithm, double sum)
{
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);

    tl_store(tl, at, tl_full(tl, KB_F32, KB_SHAPE(137), 1 + tl_pe(tl)));
    kb_all_reduce(tl, g, .in = at, .out = out, .count = 137, .dtype = KB_F32, .op = TL_ADD,
                  .algorithm = algorithm);
    for (int64_t i = 0; i < 137; i += 34)
        if (tl_value(tl, tl_load(tl, out, KB_F32, KB_SHAPE(137)), i) != sum)
            tl_fail(tl, "that is not the sum");
}

/* Parts of 13 elements: rank r gives 1000 r + e; of sums rank r gets the elements of its part. */
static void parts_of(tl_ctx *tl, kb_group g, int64_t rank, kb_coll_algorithm algorithm)
{
    enum { PART = 13 };
    uint64_t at = in_own_slice(tl), out = at + (1 << 20);
    int64_t n = g.n, all = PART * n;

    tl_store(tl, at, tl_arange(tl, KB_F32, PART, 1000.0 * (double)rank, 1));
    kb_all_gather(tl, g, .in = at, .out = out, .count = all, .dtype = KB_F32,
                  .algorithm = algorithm, .chunk = 64);
    for (int64_t i = 0; i < all; i += 5)
        if (tl_value(tl, tl_load(tl, out, KB_F32, KB_SHAPE(all)), i) !=
            (double)(1000 * (i / PART) + i % PART))
            tl_fail(tl, "that is of another rank");
    kb_reduce_scatter(tl, g, .in = out, .out = at, .count = all, .dtype = KB_F32, .op = TL_ADD,
                      .algorithm = algorithm, .chunk = 256);
    for (int64_t i = 0; i < PART; i++)
        if (tl_value(tl, tl_load(tl, at, KB_F32, KB_SHAPE(PART)), i) !=
            (double)(n * (1000 * rank + i)))
            tl_fail(tl, "that is not the sum");
}

/* tray: 2 SIPs of 2 x 2 cubes of 2 PEs: pe, x, y, sip are the bits of a number. */
static void rows_of_pes(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    (void)args;
    sums_to(tl, kb_group_all(tl), KB_COLL_AUTO, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_AXES, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_HALVING, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_HIERARCHICAL, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_AXES_HALVING, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_TREE, 136);
    sums_to(tl, kb_group_all(tl), KB_COLL_DOUBLE_TREE, 136);
    sums_to(tl, kb_group_sip(tl), KB_COLL_HIERARCHICAL, pe < 8 ? 36 : 100);
    sums_to(tl, kb_group_sip(tl), KB_COLL_AXES, pe < 8 ? 36 : 100);
    sums_to(tl, kb_group_cubes(tl), KB_COLL_AXES, pe % 2 ? 72 : 64);
    sums_to(tl, kb_group_sips(tl), KB_COLL_AUTO, 2 * (pe % 8 + 1) + 8);
    parts_of(tl, kb_group_all(tl), pe, KB_COLL_AXES);
    parts_of(tl, kb_group_all(tl), pe, KB_COLL_HIERARCHICAL);
    parts_of(tl, kb_group_all(tl), pe, KB_COLL_AUTO);
    parts_of(tl, kb_group_sip(tl), pe % 8, KB_COLL_AXES);
    parts_of(tl, kb_group_cubes(tl), pe / 2, KB_COLL_AXES);
    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++)
        sums_to(tl, kb_group_axis(tl, axis), KB_COLL_AUTO,
                2 * (pe + 1) + ((pe >> axis & 1) ? -1.0 : 1.0) * (1 << axis));
}

static void uneven_along_axes(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = in_own_slice(tl);

    (void)args;
    kb_all_gather(tl, kb_group_all(tl), .in = at, .out = at + (1 << 20), .count = 17,
                  .dtype = KB_F32, .algorithm = KB_COLL_AXES);
}

static void rows_are_for_even_parts(const kb_topology *topo)
{
    kb_sim *sim = new_sim(topo, (kb_options){0});
    kb_error why = {""};

    assert_int_equal(launch(sim, uneven_along_axes, NULL, 0, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_KERNEL_ERROR);
    assert_non_null(strstr(why.text, "that algorithm is for even parts; KB_COLL_RING"));
    kb_sim_free(sim);
}

static void groups_are_rows_of_the_machine(void **state)
{
    const kb_topology *tray =
        any_topology("kernbench: 2\nname: tray\nsip: {cube_mesh: {w: 2, h: 2}}\n"
                     "cube: {pes: 2}\nsips: 2\n");
    kb_sim *sim = new_sim(tray, (kb_options){.values = true});
    kb_error why = {""};

    (void)state;
    assert_int_equal(launch(sim, rows_of_pes, NULL, 0, &why), KB_OK);
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    rows_are_for_even_parts(tray);
    any_topology_free(tray);
}

static void one_comes_late(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};

    if (tl_pe(tl) == 3)
        numbers(tl, 0, 16384);
    mark(tl, args, 0);
    kb_coll_barrier(tl, kb_group_list(tl, pes, 5));
    mark(tl, args, 1);
}

static void a_barrier_waits_for_the_last(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 4};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, one_comes_late, &m, pes, 5));
    for (int pe = 0; pe < 5; pe++)
        assert_true(m.fs[pe][1] > m.fs[3][0]);
}

/* -- two trees -------------------------------------------------------------------------------- */

enum { ODD = 101, MEMBERS_MOST = 17 };

/* When each PE gives to each, of a half: that of 50 elements or that of 51. */
struct halves {
    int64_t first_fs[2][MEMBERS_MOST][MEMBERS_MOST]; /* < 0: nothing */
};

static int64_t members;

static void on_two_trees(tl_ctx *tl, const kb_args *args)
{
    static uint32_t pes[MEMBERS_MOST];
    kb_endpoint slice;

    (void)args;
    for (uint32_t i = 0; i < MEMBERS_MOST; i++)
        pes[i] = i;
    kb_pe_slice(tl_topology(tl), tl_pe(tl), &slice);
    kb_all_reduce(tl, kb_group_list(tl, pes, members), .in = kb_address(tl_topology(tl), &slice, 0),
                  .out = kb_address(tl_topology(tl), &slice, 1 << 20), .count = ODD,
                  .dtype = KB_F32, .op = TL_ADD, .algorithm = KB_COLL_DOUBLE_TREE);
}

/* The number behind a name in a line of the log. */
static double number_of(const char *line, const char *name)
{
    const char *at = strstr(line, name);

    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

static uint32_t receiver_of(const char *line)
{
    kb_endpoint end;
    uint64_t offset;

    assert_int_equal(
        kb_address_find(&cube8_topology, (uint64_t)number_of(line, "\"dst_addr\":"), &end, &offset),
        KB_OK);
    return end.cube * 8 + end.unit;
}

static void add_message(struct halves *h, const char *line)
{
    uint32_t from = (uint32_t)number_of(line, "sip0.cube") * 8 +
                    (uint32_t)number_of(strstr(line, "sip0.cube"), ".pe");
    uint32_t to = receiver_of(line);
    int half = number_of(line, "\"nbytes\":") > 4 * (ODD / 2);
    int64_t fs = (int64_t)(number_of(line, "\"t_start\":") * 1e6);

    assert_true(from < members && to < members);
    if (h->first_fs[half][from][to] < 0 || fs < h->first_fs[half][from][to])
        h->first_fs[half][from][to] = fs;
}

/* How many give their sums to `pe`: what goes up an edge goes before what comes down. */
static int below(const struct halves *h, int half, int64_t pe)
{
    int n = 0;

    for (int64_t from = 0; from < members; from++) {
        int64_t up = h->first_fs[half][from][pe], down = h->first_fs[half][pe][from];

        n += up >= 0 && (down < 0 || up < down);
    }
    return n;
}

/* The header: a rank has two below it at most, and one that has some in a tree has none in the
 * other. */
static void check_trees(const struct halves *h)
{
    int edges[2] = {0, 0};

    for (int64_t pe = 0; pe < members; pe++) {
        int first = below(h, 0, pe), second = below(h, 1, pe);

        if (first > 2 || second > 2 || (first > 0 && second > 0))
            fail_msg("of %d ranks, %d has %d and %d below it", (int)members, (int)pe, first,
                     second);
        edges[0] += first;
        edges[1] += second;
    }
    assert_int_equal(edges[0], members - 1);
    assert_int_equal(edges[1], members - 1);
}

static void halves_have_trees_of_their_own(void **state)
{
    static uint32_t pes[MEMBERS_MOST];
    static struct marks m;
    struct halves h;

    (void)state;
    for (uint32_t i = 0; i < MEMBERS_MOST; i++)
        pes[i] = i;
    for (members = 3; members <= MEMBERS_MOST; members++) {
        char *log = talk(&cube8_topology, on_two_trees, &m, pes, (size_t)members);

        memset(&h, -1, sizeof h);
        for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
            if (strstr(line, "ipcq_copy"))
                add_message(&h, line);
        check_trees(&h);
        free(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_summed),
        cmocka_unit_test(groups_are_checked),
        cmocka_unit_test(groups_are_rows_of_the_machine),
        cmocka_unit_test(a_barrier_waits_for_the_last),
        cmocka_unit_test(what_auto_weighs_is_told),
        cmocka_unit_test(halves_have_trees_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
