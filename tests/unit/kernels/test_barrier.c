/* test_barrier.c -- barriers and atomics: times by hand, groups, sums, mistakes. */
#include "support/talks.h"

#define CUBE8 "kernbench: 1\nname: groups\nsip: {cube_mesh: {w: 4, h: 2}}\n"

/*
 * By hand, cube8; a command is issued 3 ns after its call. PE i of a cube's upper row is at
 * (1.875 + 3.75 i, 0) mm, of the lower row at (1.875 + 3.75 (i - 4), 11); 0.5 mm lie between each
 * and the NoC, 10 ps/mm. So pe7 is 11.25 + 11 + 1 mm from pe0: 0.2325; pe1 3.75 + 1: 0.0475.
 */

static void waits_for_cube(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    tl_barrier(tl, tl_cube(tl));
    mark(tl, args, 1);
}

static void a_barrier_of_a_cube(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, waits_for_cube, &m, NULL, 64));
    count_from(&m, 0, 0);
    for (uint32_t cube = 0; cube < 8; cube++) {
        assert_at(&m, 8 * cube, 1, 3 + 0.2325);
        assert_at(&m, 8 * cube + 1, 1, 3 + 0.2325 + 0.0475);
        assert_at(&m, 8 * cube + 7, 1, 3 + 0.2325 + 0.2325);
    }
}

static void waits_for_sip(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    tl_barrier(tl, tl_sip(tl));
    mark(tl, args, 1);
}

/*
 * The farthest from c0.pe0 is c7.pe7 (and c7.pe3): 5.5 + 13.125 to ucie-W of c7, 15 through c6, 15
 * through c5, 5.5 + 7.5 in c4 to ucie-N, 11 + 5.625 in c0 from ucie-S: 78.25 mm; 0.5 on each side
 * of five NoCs; four links of 1: 87.25 mm, 0.8725, and eight ucie of 1. Back, X first, it is as
 * far to c7.pe7: 5.5 + 13.125, 15, 15, 5.5 + 7.5, 11 + 5.625; to c7.pe3 11 mm less.
 */
static void a_barrier_of_a_sip(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, waits_for_sip, &m, NULL, 64));
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3 + 8.8725);
    assert_at(&m, 1, 1, 3 + 8.8725 + 0.0475);
    assert_at(&m, 63, 1, 3 + 8.8725 + 8.8725);
    assert_at(&m, 59, 1, 3 + 8.8725 + 8.7625);
}

static void waits_for_all(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    tl_barrier(tl, tl_all(tl));
    mark(tl, args, 1);
}

/*
 * tray32, two SIPs of 4 x 4 cubes. s1.c15.pe7: 5.5 + 13.125 to ucie-W, 15 through each of c14, c13
 * and c12, to io_noc 2, pcie_ep 1, switch0 100, pcie_ep 100, io_noc 1, c0's ucie-W 2, and
 * 5.5 + 1.875 to pe0: 277 mm with three links of 1 between cubes and ten halves at NoCs, 2.85 in
 * all. Eight ucie of 1, two pcie_ep of 5, switch0 of 5: 23. SIP 0's PEs are nearer: at most 12
 * ucie. From s1.c15.pe7 back the way is the same.
 */
static void a_barrier_of_all_sips(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&tray32_topology, waits_for_all, &m, NULL, 256));
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3 + 25.85);
    assert_at(&m, 1, 1, 3 + 25.85 + 0.0475);
    assert_at(&m, 255, 1, 3 + 25.85 + 25.85);
}

/* The words of a barrier have the wires and overheads that are left. */
static void a_barrier_without_some_costs(void **state)
{
    static const struct {
        unsigned costs_off;
        double there, back;
    } rows[] = {{KB_COST_WIRE, 3 + 8, 8},
                {KB_COST_OVERHEAD, 0.8725, 0.8725},
                {KB_COST_WIRE | KB_COST_OVERHEAD, 0, 0}};

    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
        kb_options options = {.engine = i % 2 ? KB_HOP : KB_FUSED,
                              .costs_off = rows[i / 2].costs_off};
        struct marks m;
        uint64_t none;

        talk_once(&cube8_topology, options, waits_for_sip, &m, NULL, 64, &none);
        count_from(&m, 0, 0);
        assert_at(&m, 0, 1, rows[i / 2].there);
        assert_at(&m, 63, 1, rows[i / 2].there + rows[i / 2].back);
    }
}

/* c0.pe1, pe2 and pe6, each in an order of its own; pe6 is 3.75 + 11 + 1 mm from pe1. */
static void waits_for_list(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t order[3][3] = {{2, 6, 1}, {6, 1, 2}, {1, 2, 6}};

    mark(tl, args, 0);
    tl_barrier(tl, (tl_group){.pes = order[tl_pe(tl) % 3], .n = 3});
    mark(tl, args, 1);
}

static void a_barrier_of_a_list_in_any_order(void **state)
{
    static const uint32_t pes[] = {1, 2, 6};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, waits_for_list, &m, pes, 3));
    count_from(&m, 1, 0);
    assert_at(&m, 1, 1, 3 + 0.1575);
    assert_at(&m, 2, 1, 3 + 0.1575 + 0.0475);
    assert_at(&m, 6, 1, 3 + 0.1575 + 0.1575);
}

/* A group of one needs no way; the last to come is waited for, and comes again and again. */
static void waits_often(tl_ctx *tl, const kb_args *args)
{
    const uint32_t both[] = {0, 1}, self[] = {tl_pe(tl)};

    mark(tl, args, 0);
    tl_barrier(tl, (tl_group){.pes = self, .n = 1});
    mark(tl, args, 1);
    for (unsigned i = 2; i < 6; i++) {
        if (tl_pe(tl) == i % 2)
            numbers(tl, 0, 1024);
        tl_barrier(tl, (tl_group){.pes = both, .n = 2});
        mark(tl, args, i);
    }
}

/* A load of 4096 B takes 21.085. */
static void a_barrier_is_used_again(void **state)
{
    static const uint32_t pes[] = {0, 1};
    double t = 3; /* when PE 0 goes on; PE 1 does so 0.0475 later */
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, waits_often, &m, pes, 2));
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, t);
    assert_at(&m, 1, 1, t);
    t += 21.085 + 3; /* PE 0 loads; PE 1 called at once */
    assert_at(&m, 0, 2, t);
    assert_at(&m, 1, 2, t + 0.0475);
    t += 0.0475 + 21.085 + 3 + 0.0475; /* PE 1 loads, and its word is late */
    assert_at(&m, 0, 3, t);
    assert_at(&m, 1, 3, t + 0.0475);
    t += 21.085 + 3;
    assert_at(&m, 0, 4, t);
    t += 0.0475 + 21.085 + 3 + 0.0475;
    assert_at(&m, 0, 5, t);
    assert_at(&m, 1, 5, t + 0.0475);
}

/* 0, 1 | 2, 3 apart; then 1, 2 with one of each. */
static void meets_neighbours(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);
    tl_group apart = {.first = pe / 2 * 2, .n = 2}, middle = {.first = 1, .n = 2};

    mark(tl, args, 0);
    if (pe == 2)
        numbers(tl, 0, 1024);
    tl_barrier(tl, apart);
    mark(tl, args, 1);
    if (pe == 1 || pe == 2)
        tl_barrier(tl, middle);
    mark(tl, args, 2);
}

static void groups_apart_and_groups_that_overlap(void **state)
{
    static const uint32_t pes[] = {0, 1, 2, 3};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, meets_neighbours, &m, pes, 4));
    count_from(&m, 0, 0);
    assert_at(&m, 0, 1, 3 + 0.0475);
    assert_at(&m, 1, 1, 3 + 0.0475 + 0.0475);
    assert_at(&m, 2, 1, 21.085 + 3);
    assert_at(&m, 3, 1, 21.085 + 3 + 0.0475);
    assert_at(&m, 1, 2, 21.085 + 3 + 3 + 0.0475);
    assert_at(&m, 2, 2, 21.085 + 3 + 3 + 0.0475 + 0.0475);
}

/* -- atomics -------------------------------------------------------------------------------- */

/* To its own slice: 0.085 + 2, and 4 bytes at 256 GB/s; to c0.slice0 from c0.pe1 0.095 + 4, at 128.
 */
static void adds_alone(tl_ctx *tl, const kb_args *args)
{
    mark(tl, args, 0);
    if (tl_pe(tl) == 1)
        numbers(tl, 0, 1024);
    mark(tl, args, 1);
    tl_atomic_add(tl, SLICE(0), KB_U32, 5);
    mark(tl, args, 2);
}

static void an_atomic_takes_the_time_of_a_write(void **state)
{
    static const uint32_t pes[] = {0, 1};
    struct marks m;
    char *log = talk(&cube8_topology, adds_alone, &m, pes, 2);

    (void)state;
    count_from(&m, 0, 0);
    assert_at(&m, 0, 2, 3 + 2.085 + 0.015625);
    count_from(&m, 1, 1);
    assert_at(&m, 1, 2, 3 + 4.095 + 0.03125);
    free(log);
}

static uint64_t cell_of(const kb_topology *topo, int where)
{
    static const kb_endpoint cells[] = {
        {KB_SLICE, 0, 0, 0}, {KB_SLICE, 0, 5, 6}, {KB_SRAM, 0, 0, 0}, {KB_SRAM, 0, 6, 0}};

    return kb_address(topo, &cells[where], 4096);
}

/* What each of 64 PEs gets; PE 0 has made all cells 0 before. */
static void counts_up(tl_ctx *tl, const kb_args *args)
{
    const kb_topology *topo = tl_topology(tl);

    if (tl_pe(tl) == 0) {
        tl_tensor *zero = tl_load(tl, SLICE(0) + 1, KB_I8, KB_SHAPE(1)); /* of 1.0f */

        for (int i = 0; i < 4; i++)
            for (unsigned byte = 0; byte < 4; byte++)
                tl_store(tl, cell_of(topo, i) + byte, zero);
    }
    tl_barrier(tl, tl_all(tl));
    for (int i = 0; i < 4; i++) {
        int64_t before = tl_atomic_add(tl, cell_of(topo, i), KB_I32, 1);

        mark_value(tl, args, (unsigned)i, (double)before);
    }
}

static void old_values_are_a_permutation_in_order_of_time(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, counts_up, &m, NULL, 64));
    for (unsigned i = 0; i < 4; i++) {
        int64_t at[64] = {0};

        for (unsigned pe = 0; pe < 64; pe++) {
            assert_in_range(m.value[pe][i], 0, 63);
            assert_int_equal(at[(int)m.value[pe][i]], 0);
            at[(int)m.value[pe][i]] = m.fs[pe][i];
        }
        for (unsigned n = 1; n < 64; n++)
            assert_true(at[n] > at[n - 1]);
    }
}

/* One integer of a type that wraps: `first` is there, +1 makes `wrapped` of it, +2 more. */
struct wrap {
    kb_dtype dtype;
    uint64_t first, wrapped;
};

static const struct wrap wraps[] = {
    {KB_I8, 0x7f, 0x80},
    {KB_I16, 0x7fff, 0x8000},
    {KB_I32, 0x7fffffff, 0x80000000},
    {KB_I64, UINT64_C(0x7fffffffffffffff), UINT64_C(1) << 63},
    {KB_U8, 0xff, 0},
    {KB_U16, 0xffff, 0},
    {KB_U32, 0xffffffff, 0},
    {KB_U64, UINT64_MAX, 0},
};

static int64_t as_signed(kb_dtype dtype, uint64_t x)
{
    unsigned spare = 64 - 8 * (unsigned)kb_dtype_bytes(dtype);

    return dtype <= KB_I64 ? (int64_t)(x << spare) >> spare : (int64_t)x;
}

static uint64_t bytes_of_type(kb_dtype dtype)
{
    return kb_dtype_bytes(dtype);
}

/* The element, its neighbours on both sides, and what they are after it wrapped. */
static void wraps_around(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    for (size_t i = 0; i < LENGTH(wraps); i++) {
        const struct wrap *w = &wraps[i];
        uint64_t size = bytes_of_type(w->dtype), at = SRAM + 64 * i + 16;
        tl_tensor *x = tl_load(tl, SLICE(0), KB_U8, KB_SHAPE(48));
        uint8_t around[48], want[48];
        uint64_t third = w->wrapped + 2;

        tl_store(tl, SRAM + 64 * i, x);
        memcpy(around, tl_data(tl, x), sizeof around);
        tl_atomic_add(tl, at, w->dtype,
                      (int64_t)(w->first - (uint64_t)tl_atomic_add(tl, at, w->dtype, 0)));
        assert_true(tl_atomic_add(tl, at, w->dtype, 1) == as_signed(w->dtype, w->first));
        assert_true(tl_atomic_add(tl, at, w->dtype, -1) == as_signed(w->dtype, w->wrapped));
        assert_true(tl_atomic_add(tl, at, w->dtype, 3) == as_signed(w->dtype, w->first));
        assert_true(tl_atomic_add(tl, at, w->dtype, INT64_MIN) == as_signed(w->dtype, third));
        if (size == 8)
            third ^= UINT64_C(1) << 63;
        memcpy(want, around, sizeof want);
        memcpy(want + 16, &third, size);
        x = tl_load(tl, SRAM + 64 * i, KB_U8, KB_SHAPE(48));
        assert_memory_equal(tl_data(tl, x), want, sizeof want);
    }
}

static void integers_of_every_type_wrap(void **state)
{
    static const uint32_t pes[] = {0};
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, wraps_around, &m, pes, 1));
}

/* The PE that gets the number can branch on it: work is shared out, each piece once. */
static void takes_turns(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *zero = tl_load(tl, SLICE(0), KB_U16, KB_SHAPE(1)); /* of 1.0f */
    int64_t n;

    if (tl_pe(tl) == 0)
        tl_store(tl, SRAM, zero);
    tl_barrier(tl, tl_all(tl));
    while ((n = tl_atomic_add(tl, SRAM, KB_U16, 1)) < 1000)
        marks_of(args)->value[n % 256][n / 256]++;
}

static void work_is_shared_out(void **state)
{
    struct marks m;

    (void)state;
    free(talk(&cube8_topology, takes_turns, &m, NULL, 64));
    for (int i = 0; i < 1000; i++)
        assert_true(m.value[i % 256][i / 256] == 1);
    assert_true(m.value[1000 % 256][1000 / 256] == 0);
}

/* -- mistakes ------------------------------------------------------------------------------- */

/* WRONG(name, call, reason, statements): what c0.pe0 does is wrong. */
#define WRONG(name, call, reason, ...)                                                             \
    static void name##_kernel(tl_ctx *tl, const kb_args *args)                                     \
    {                                                                                              \
        (void)args;                                                                                \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        assert_mistake(name##_kernel, call, reason);                                               \
    }

static void assert_mistake(kb_kernel kernel, const char *call, const char *reason)
{
    static const uint32_t pes[] = {0};
    kb_error why = mistake_of(&cube8_topology, kernel, NULL, pes, 1, KB_KERNEL_ERROR);

    assert_says(&why, __FILE__, call, reason);
}

static const uint32_t others[] = {1, 2}, twice[] = {1, 0, 1}, missing[] = {0, 64};

WRONG(not_a_member, "tl_barrier", "the PE itself is not in the group",
      tl_barrier(tl, (tl_group){.pes = others, .n = 2}))
WRONG(not_in_a_range, "tl_barrier", "the PE itself is not in the group",
      tl_barrier(tl, (tl_group){.first = 1, .n = 2}))
WRONG(no_pe_at_all, "tl_barrier", "the PE itself is not in the group",
      tl_barrier(tl, (tl_group){.n = 0}))
WRONG(a_member_twice, "tl_barrier", "PE 1 of the group comes twice",
      tl_barrier(tl, (tl_group){.pes = twice, .n = 3}))
WRONG(a_member_that_does_not_exist, "tl_barrier", "PE 64 of the group does not exist",
      tl_barrier(tl, (tl_group){.pes = missing, .n = 2}))
WRONG(members_past_the_last, "tl_barrier", "PE 64 of the group does not exist",
      tl_barrier(tl, (tl_group){.first = 1, .n = 64}))
WRONG(more_members_than_there_can_be, "tl_barrier", "a group of 65 PEs, where there are only 64",
      tl_barrier(tl, (tl_group){.first = 0, .n = 65}))

WRONG(more_members_than_memory, "tl_barrier",
      "a group of 4611686018427387904 PEs, where there are only 64",
      tl_barrier(tl, (tl_group){.first = 0, .n = SIZE_MAX / 4 + 1}))
WRONG(adding_to_its_own_tcm, "tl_atomic_add",
      "address 137438953472 lies in the PE's own TCM, which it uses without loads and stores",
      tl_atomic_add(tl, TCM(0), KB_I32, 1))
WRONG(adding_to_another_tcm, "tl_atomic_add",
      "address 137455730688 lies in a TCM, not in a slice or an SRAM",
      tl_atomic_add(tl, TCM(1), KB_I32, 1))
WRONG(adding_to_a_float, "tl_atomic_add", "f32 is no integer", tl_atomic_add(tl, 0, KB_F32, 1))
WRONG(adding_to_a_bool, "tl_atomic_add", "bool is no integer", tl_atomic_add(tl, 0, KB_BOOL, 1))
WRONG(adding_to_no_type, "tl_atomic_add", "99 is not a dtype",
      tl_atomic_add(tl, 0, (kb_dtype)99, 1))
WRONG(adding_across_elements, "tl_atomic_add", "address 2 is not aligned to 4 bytes",
      tl_atomic_add(tl, 2, KB_I32, 1))
WRONG(adding_where_no_memory_is, "tl_atomic_add", "there is no memory at address 4503599627370496",
      tl_atomic_add(tl, UINT64_C(1) << 52, KB_I32, 1))
WRONG(adding_to_what_was_never_written, "tl_atomic_add",
      "bytes 0..3 of c0.sram (address 68719476736) were never written",
      tl_atomic_add(tl, SRAM, KB_I32, 1))
WRONG(adding_to_what_was_half_written, "tl_atomic_add",
      "bytes 4..7 of c0.sram (address 68719476740) were never written",
      tl_store(tl, SRAM, numbers(tl, 0, 1));
      tl_atomic_add(tl, SRAM, KB_I64, 1))
WRONG(adding_to_a_result, "tl_atomic_add",
      "the integer is pending: a result, which Phase 2 computes; store what was loaded, or let the "
      "host fill it",
      tl_store(tl, SRAM, tl_full(tl, KB_I32, KB_SHAPE(4), 1));
      tl_atomic_add(tl, SRAM + 4, KB_I32, 1))

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_of_a_cube),
        cmocka_unit_test(a_barrier_of_a_sip),
        cmocka_unit_test(a_barrier_of_all_sips),
        cmocka_unit_test(a_barrier_without_some_costs),
        cmocka_unit_test(a_barrier_of_a_list_in_any_order),
        cmocka_unit_test(a_barrier_is_used_again),
        cmocka_unit_test(groups_apart_and_groups_that_overlap),
        cmocka_unit_test(an_atomic_takes_the_time_of_a_write),
        cmocka_unit_test(old_values_are_a_permutation_in_order_of_time),
        cmocka_unit_test(integers_of_every_type_wrap),
        cmocka_unit_test(work_is_shared_out),
        cmocka_unit_test(not_a_member),
        cmocka_unit_test(not_in_a_range),
        cmocka_unit_test(no_pe_at_all),
        cmocka_unit_test(a_member_twice),
        cmocka_unit_test(a_member_that_does_not_exist),
        cmocka_unit_test(members_past_the_last),
        cmocka_unit_test(more_members_than_there_can_be),
        cmocka_unit_test(more_members_than_memory),
        cmocka_unit_test(adding_to_its_own_tcm),
        cmocka_unit_test(adding_to_another_tcm),
        cmocka_unit_test(adding_to_a_float),
        cmocka_unit_test(adding_to_a_bool),
        cmocka_unit_test(adding_to_no_type),
        cmocka_unit_test(adding_across_elements),
        cmocka_unit_test(adding_where_no_memory_is),
        cmocka_unit_test(adding_to_what_was_never_written),
        cmocka_unit_test(adding_to_what_was_half_written),
        cmocka_unit_test(adding_to_a_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
