/* test_address.c -- the address map: a bijection, what the judge says, and its worked examples. */
#include "machine/address.h"
#include "support/any_topology.h"
#include "support/rig.h"

/* A machine of `w` cubes with small slices, so that all of their granules can be counted. */
static char *yaml_of(int w, int pes, const char *addressing)
{
    static char text[512];

    snprintf(text, sizeof text,
             "kernbench: 1\nname: map\nsips: 2\nsip: {cube_mesh: {w: %d, h: 1}}\n"
             "cube: {pes: %d, hbm: {size_gb: 1}}\naddressing: {%s}\n",
             w, pes, addressing);
    return text;
}

/* Each byte at the edge of a granule of `t` is one of a slice, no two the same; and back. */
static void check_all(const kb_topology *t)
{
    size_t rows = t->kinds[0].hbm.nbytes / t->granule, n = (size_t)sim_cubes(t) * t->pes * rows;
    unsigned char *seen = calloc(n, 1);

    assert_non_null(seen);
    for (uint32_t cube = 0; cube < sim_cubes(t); cube++) {
        for (uint64_t o = 0; o < t->pes * t->kinds[0].hbm.nbytes; o += t->granule) {
            uint64_t address = address_base(t, cube) + o, byte = 0, last = 0;
            uint32_t dst = 0, same = 0;
            size_t at;

            assert_true(address_find(t, address, &dst, &byte));
            assert_true(address_find(t, address + t->granule - 1, &same, &last));
            assert_true(same == dst && last == byte + t->granule - 1 && byte % t->granule == 0);
            assert_true(dst_unit(t, dst) < t->pes && byte < t->kinds[0].hbm.nbytes);
            assert_true(t->address_over == OVER_SIP ? dst_cube(t, dst) / t->cubes == cube / t->cubes
                                                    : dst_cube(t, dst) == cube);
            assert_true(address_of(t, dst, byte) == address);
            assert_true(address_of(t, dst, last) == address + t->granule - 1);
            at = ((size_t)dst_cube(t, dst) * t->pes + dst_unit(t, dst)) * rows + byte / t->granule;
            assert_int_equal(seen[at]++, 0);
        }
        uint32_t dst;
        uint64_t byte;
        assert_false(
            address_find(t, address_base(t, cube) + t->pes * t->kinds[0].hbm.nbytes, &dst, &byte));
    }
    free(seen); /* as many addresses as granules of slices, and none twice: all */
}

/* The judge finds the same bytes, at granules and inside them. */
static void check_judge(const kb_topology *t, const struct judge_topo *judge)
{
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t o = i * 1234567891 % (t->pes * t->kinds[0].hbm.nbytes), byte = 0, expected;
        uint32_t cube = (uint32_t)(i % sim_cubes(t)), dst = 0;
        struct judge_end memory;

        assert_true(address_find(t, address_base(t, cube) + o, &dst, &byte));
        assert_true(judge_memory_at(judge, address_base(t, cube) + o, &memory, &expected));
        assert_true(byte == expected && dst_unit(t, dst) == memory.unit &&
                    dst_cube(t, dst) == memory.sip * t->cubes + memory.cube);
    }
}

static void a_map_is_a_bijection(void **state)
{
    static const struct {
        int w, pes;
        const char *addressing;
    } maps[] = {
        {1, 8, "granule: 4096"},
        {3, 6, "granule: 65536"},
        {2, 8, "granule: 4096, hash: xor"},
        {3, 2, "granule: 1048576, hash: xor"},
        {3, 8, "granule: 4096, over: sip"},
        {5, 6, "granule: 262144, over: sip"},
        {3, 4, "granule: 65536, over: sip, hash: xor"},
        {1, 1, "granule: 65536, over: sip, hash: xor"},
        {4, 1, "granule: 65536, over: sip"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(maps); i++) {
        const char *yaml = yaml_of(maps[i].w, maps[i].pes, maps[i].addressing);
        const kb_topology *t = any_topology(yaml);
        struct judge_topo *judge = judge_load_text(yaml);

        assert_non_null(t);
        assert_non_null(judge);
        check_all(t);
        check_judge(t, judge);
        any_topology_free(t);
        judge_free(judge);
    }
}

/* -- worked examples ------------------------------------------------------------------------ */

static void assert_lies(const kb_topology *t, uint64_t address, const char *name, uint64_t byte)
{
    kb_endpoint memory, expected = end_of(t, name);
    uint64_t offset;

    assert_int_equal(kb_address_find(t, address, &memory, &offset), KB_OK);
    assert_true(memory.cube == expected.cube && memory.unit == expected.unit);
    assert_true(offset == byte);
    assert_true(kb_address(t, &expected, byte) == address);
}

#define CUBE8 "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

static const kb_topology *interleaved(const char *addressing)
{
    char text[256];

    snprintf(text, sizeof text, CUBE8 "addressing: {%s}\n", addressing);
    return any_topology(text);
}

/* docs/model.md "Addresses of interleaved slices" */
static void examples_lie_where_the_model_says(void **state)
{
    const kb_topology *t = interleaved("granule: 4096");
    static const uint32_t order[] = {1, 0, 3, 2, 5, 4, 7, 6};
    char name[KB_ENDPOINT_BYTES];

    (void)state;
    assert_lies(t, 0x8000, "c0.slice0", 4096);
    any_topology_free(t);
    t = interleaved("granule: 4096, hash: xor");
    for (uint32_t i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "c0.slice%u", order[i]);
        assert_lies(t, (8 + i) * 4096, name, 4096);
    }
    any_topology_free(t);
    t = interleaved("granule: 4096, over: sip");
    assert_lies(t, 0x8000, "c1.slice0", 0);
    assert_lies(t, 0x40000, "c0.slice0", 4096);
    any_topology_free(t);
}

/* A part is all that lies together in one slice; a range goes on in the next cube, not the next
 * SIP. */
static void ranges_are_cut_into_parts(void **state)
{
    const kb_topology *t = interleaved("granule: 4096, over: sip");
    uint64_t end = address_base(t, 0) + address_cube_bytes(t, 0);
    struct address_range range;
    struct address_part part;

    (void)state;
    assert_true(address_range(t, end - 6000, 10000, &range));
    part = address_part(t, &range);
    assert_true(part.nbytes == 6000 - 4096 && dst_unit(t, part.dst) == 6);
    part = address_part(t, &range);
    assert_true(part.nbytes == 4096 && dst_unit(t, part.dst) == 7);
    part = address_part(t, &range);
    assert_true(part.nbytes == 4000 && dst_unit(t, part.dst) == 0 && range.nbytes == 0);
    end = address_base(t, 7) + address_cube_bytes(t, 0);
    assert_true(address_range(t, end - 6000, 6000, &range));
    assert_false(address_range(t, end - 6000, 6001, &range));
    any_topology_free(t);
    t = any_topology(yaml_of(1, 2, "granule: 4096, hash: xor")); /* slices 0 1 1 0 0 1 1 0 ... */
    assert_true(address_range(t, 4096, 4 * 4096, &range));
    part = address_part(t, &range);
    assert_true(part.nbytes == 8192 && dst_unit(t, part.dst) == 1);
    part = address_part(t, &range);
    assert_true(part.nbytes == 8192 && dst_unit(t, part.dst) == 0 && range.nbytes == 0);
    any_topology_free(t);
    t = any_topology(yaml_of(1, 1, "granule: 64")); /* one slice: one part, however long */
    assert_true(address_range(t, 100, 1000000000, &range));
    part = address_part(t, &range);
    assert_true(part.nbytes == 1000000000 && range.nbytes == 0);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_is_a_bijection),
        cmocka_unit_test(examples_lie_where_the_model_says),
        cmocka_unit_test(ranges_are_cut_into_parts),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
