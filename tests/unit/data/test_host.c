/*
 * test_host.c -- tensors of the host: where their parts lie, what comes back, how it compares.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/any_topology.h"
#include "support/failing.h"
#include "support/rig.h"
#include <math.h>
#include <unistd.h>
#include "cube8.h"
#include "data/host.h"
#include "engine/state.h"
#include "base/rng.h"

/* Two cubes of two PEs; a slice holds 512 MiB. */
static const char small_yaml[] = "kernbench: 1\nname: small\n"
                                 "sip: {cube_mesh: {w: 2, h: 1}}\n"
                                 "cube: {pes: 2, hbm: {size_gb: 1}}\n";

static const kb_topology *small;

static int make_small(void **state)
{
    (void)state;
    small = any_topology(small_yaml);
    return small ? 0 : -1;
}

static int free_small(void **state)
{
    (void)state;
    any_topology_free(small);
    return 0;
}

static kb_tensor *new_tensor(kb_sim *sim, const char *name, kb_dtype dtype, kb_shape shape,
                             kb_placement_split cubes, kb_placement_split pes)
{
    kb_tensor *x = NULL;
    kb_error why = {""};

    if (kb_tensor_new(sim, name, dtype, shape, (kb_placement){cubes, pes}, &x, &why) != KB_OK)
        fail_msg("%s", why.text);
    return x;
}

/* -- addresses ------------------------------------------------------------------------------ */

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* docs/kernels.md "Where data lie": [59:52] SIP, [51:38] cube, [37:36] region, [35:0] offset. */
static void addresses_have_their_bits(void **state)
{
    static const struct {
        kb_endpoint end;
        uint64_t offset, address;
    } rows[] = {
        {{KB_SLICE, 0, 0, 0}, 0, 0},
        {{KB_SLICE, 0, 1, 2}, 5, (UINT64_C(1) << 38) + 12 * GIB + 5},
        {{KB_SLICE, 0, 7, 7}, 6 * GIB - 1, (UINT64_C(7) << 38) + 48 * GIB - 1},
        {{KB_SRAM, 0, 3, 0}, 9, (UINT64_C(3) << 38) + (UINT64_C(1) << 36) + 9},
        {{KB_TCM, 0, 0, 3}, 64, (UINT64_C(2) << 36) + 48 * MIB + 64},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_true(kb_address(&cube8_topology, &rows[i].end, rows[i].offset) == rows[i].address);
}

static void assert_there_and_back(const kb_topology *topo, kb_endpoint end, uint64_t offset)
{
    uint64_t address = kb_address(topo, &end, offset), found = 1;
    kb_endpoint memory = {0};

    assert_true(address != UINT64_MAX);
    assert_int_equal(kb_address_find(topo, address, &memory, &found), KB_OK);
    assert_memory_equal(&memory, &end, sizeof end);
    assert_true(found == offset);
}

/* The same, of version 3: [63:56] SIP, [55:42] cube, [41:40] region, [39:0] offset. */
static void version_3_has_wider_offsets(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 3\nname: wide\nsips: 256\nsip: {cube_mesh: {w: 2, h: 1}}\n"
                     "cube: {pes: 2, hbm: {size_gb: 1024}, sram: {size_kb: 96}}\n");
    static const struct {
        kb_endpoint end;
        uint64_t offset, address;
    } rows[] = {
        {{KB_SLICE, 255, 1, 1}, 5, UINT64_C(255) << 56 | UINT64_C(1) << 42 | (512 * GIB + 5)},
        {{KB_SLICE, 0, 0, 1}, 512 * GIB - 1, 1024 * GIB - 1},
        {{KB_SRAM, 3, 1, 0}, 98303, (UINT64_C(3) << 56) + (UINT64_C(5) << 40) + 98303},
        {{KB_TCM, 0, 0, 1}, 64, (UINT64_C(2) << 40) + 16 * MIB + 64},
    };

    (void)state;
    assert_non_null(topo);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_true(kb_address(topo, &rows[i].end, rows[i].offset) == rows[i].address);
        assert_there_and_back(topo, rows[i].end, rows[i].offset);
    }
    assert_true(kb_address(topo, &rows[2].end, 98304) == UINT64_MAX);
    any_topology_free(topo);
}

static void every_memory_has_its_addresses(void **state)
{
    static const kb_endpoint_kind kinds[] = {KB_SLICE, KB_SRAM, KB_TCM};

    (void)state;
    for (size_t k = 0; k < LENGTH(kinds); k++) {
        for (uint32_t cube = 0; cube < 8; cube++) {
            for (uint32_t unit = 0; unit < (kinds[k] == KB_SRAM ? 1 : 8); unit++) {
                kb_endpoint end = {kinds[k], 0, cube, unit};
                uint64_t nbytes = kb_memory_bytes(&cube8_topology, &end);

                assert_there_and_back(&cube8_topology, end, 0);
                assert_there_and_back(&cube8_topology, end, nbytes / 3);
                assert_there_and_back(&cube8_topology, end, nbytes - 1);
                assert_true(kb_address(&cube8_topology, &end, nbytes) == UINT64_MAX);
            }
        }
    }
}

static void what_is_no_memory_has_no_address(void **state)
{
    static const kb_endpoint ends[] = {{KB_PE, 0, 0, 0},    {KB_HOST, 0, 0, 0},
                                       {KB_SLICE, 1, 0, 0}, {KB_SLICE, 0, 8, 0},
                                       {KB_SLICE, 0, 0, 8}, {KB_SRAM, 0, 0, 1},
                                       {KB_TCM, 0, 0, 8},   {(kb_endpoint_kind)9, 0, 0, 0}};
    static const uint64_t addresses[] = {48 * GIB,                       /* behind the last slice */
                                         UINT64_C(8) << 38,              /* cube 8 */
                                         UINT64_C(1) << 52,              /* SIP 1 */
                                         UINT64_C(1) << 60,              /* no such bit */
                                         UINT64_C(3) << 36,              /* no such region */
                                         (UINT64_C(1) << 36) + 32 * MIB, /* behind the SRAM */
                                         (UINT64_C(2) << 36) + 128 * MIB,
                                         UINT64_MAX}; /* behind the TCMs */
    kb_endpoint end = {0};
    uint64_t offset;

    (void)state;
    for (size_t i = 0; i < LENGTH(ends); i++)
        assert_true(kb_address(&cube8_topology, &ends[i], 0) == UINT64_MAX);
    for (size_t i = 0; i < LENGTH(addresses); i++)
        assert_int_equal(kb_address_find(&cube8_topology, addresses[i], &end, &offset),
                         KB_BAD_REQUEST);
}

/* A size that the PEs do not divide leaves a rest; TCMs may be more than a region can name. */
static void sizes_at_the_limits_have_addresses(void **state)
{
    const kb_topology *topo = any_topology("kernbench: 1\nname: odd\nsips: 2\n"
                                           "sip: {cube_mesh: {w: 1, h: 1}}\n"
                                           "cube: {pes: 6, hbm: {size_gb: 64}, sram: {size_mb: "
                                           "32768}, pe: {pe_tcm: {size_mb: 32768}}}\n");
    uint64_t slice = 64 * GIB / 6, offset;
    kb_endpoint end = {KB_SLICE, 1, 0, 5};

    (void)state;
    assert_non_null(topo);
    assert_true(kb_memory_bytes(topo, &end) == slice);
    assert_there_and_back(topo, end, slice - 1);
    assert_there_and_back(topo, (kb_endpoint){KB_SRAM, 1, 0, 0}, 32 * GIB - 1);
    assert_there_and_back(topo, (kb_endpoint){KB_TCM, 1, 0, 1}, 32 * GIB - 1);
    assert_true(kb_address(topo, &(kb_endpoint){KB_TCM, 1, 0, 2}, 0) == UINT64_MAX);
    assert_int_equal(kb_address_find(topo, 6 * slice, &end, &offset), KB_BAD_REQUEST);
    any_topology_free(topo);
}

/* -- placement ------------------------------------------------------------------------------ */

struct expected {
    uint64_t offset; /* in its slice; UINT64_MAX: no part */
    int64_t dim[3], first[3];
};

static void assert_placed(const kb_tensor *x, const struct expected want[4])
{
    int64_t rank = kb_tensor_shape(x).rank;

    for (uint32_t pe = 0; pe < 4; pe++) {
        kb_shard shard = kb_tensor_shard(x, pe);
        uint64_t base = (uint64_t)(pe / 2) << 38 | (uint64_t)(pe % 2) << 29;

        assert_int_equal(shard.shape.rank, rank);
        assert_true(shard.address ==
                    (want[pe].offset == UINT64_MAX ? UINT64_MAX : base + want[pe].offset));
        assert_memory_equal(shard.shape.dim, want[pe].dim, (size_t)rank * sizeof(int64_t));
        assert_memory_equal(shard.first, want[pe].first, (size_t)rank * sizeof(int64_t));
    }
}

/* Part i of n of D is [i*D/n, (i+1)*D/n), cubes first; offsets are multiples of 256 bytes. */
static void parts_lie_where_the_design_says(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *a = new_tensor(sim, "a", KB_F32, KB_SHAPE(5, 3), KB_ROW_WISE, KB_ROW_WISE);
    kb_tensor *b = new_tensor(sim, "b", KB_U8, KB_SHAPE(3), KB_ROW_WISE, KB_COLUMN_WISE);
    kb_tensor *c = new_tensor(sim, "c", KB_F16, KB_SHAPE(2, 4, 7), KB_REPLICATE, KB_COLUMN_WISE);
    kb_tensor *d = new_tensor(sim, "d", KB_I64, KB_SHAPE(4, 10), KB_COLUMN_WISE, KB_ROW_WISE);
    kb_tensor *e = new_tensor(sim, "e", KB_BOOL, KB_SHAPE(300), KB_REPLICATE, KB_REPLICATE);
    kb_tensor *f = new_tensor(sim, "f", KB_BOOL, KB_SHAPE(1, 1), KB_ROW_WISE, KB_REPLICATE);

    (void)state;
    assert_placed(a, (struct expected[]){
                         {0, {1, 3}, {0}}, {0, {1, 3}, {1}}, {0, {1, 3}, {2}}, {0, {2, 3}, {3}}});
    assert_placed(b,
                  (struct expected[]){
                      {UINT64_MAX, {0}, {0}}, {256, {1}, {0}}, {256, {1}, {1}}, {256, {1}, {2}}});
    assert_placed(c, (struct expected[]){{256, {2, 4, 3}, {0, 0, 0}},
                                         {512, {2, 4, 4}, {0, 0, 3}},
                                         {512, {2, 4, 3}, {0, 0, 0}},
                                         {512, {2, 4, 4}, {0, 0, 3}}});
    assert_placed(d, (struct expected[]){{512, {2, 5}, {0, 0}},
                                         {768, {2, 5}, {2, 0}},
                                         {768, {2, 5}, {0, 5}},
                                         {768, {2, 5}, {2, 5}}});
    assert_placed(
        e, (struct expected[]){
               {768, {300}, {0}}, {1024, {300}, {0}}, {1024, {300}, {0}}, {1024, {300}, {0}}});
    assert_placed(f, (struct expected[]){{UINT64_MAX, {0, 1}, {0}},
                                         {UINT64_MAX, {0, 1}, {0}},
                                         {1536, {1, 1}, {0}},
                                         {1536, {1, 1}, {0}}});
    assert_true(kb_tensor_shard(f, 4).address == UINT64_MAX);
    assert_string_equal(kb_tensor_name(c), "c");
    assert_int_equal(kb_tensor_dtype(c), KB_F16);
    kb_sim_free(sim);
}

static void assert_refused(kb_sim *sim, kb_dtype dtype, kb_shape shape, kb_placement_split split,
                           const char *text)
{
    kb_tensor *x = NULL;
    kb_error why = {""};

    assert_int_equal(kb_tensor_new(sim, "x", dtype, shape, (kb_placement){split, split}, &x, &why),
                     KB_BAD_REQUEST);
    if (strcmp(why.text, text) != 0)
        fail_msg("'%s', not '%s'", why.text, text);
    assert_null(x);
}

static void what_cannot_be_placed_is_refused(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = NULL;

    (void)state;
    assert_refused(sim, KB_DEFAULT, KB_SHAPE(1), KB_ROW_WISE, "tensor 'x' has no type");
    assert_refused(sim, KB_F32, (kb_shape){0}, KB_ROW_WISE,
                   "tensor 'x' has rank 0; 1 to 6 are possible");
    assert_refused(sim, KB_F32, (kb_shape){.rank = 7}, KB_ROW_WISE,
                   "tensor 'x' has rank 7; 1 to 6 are possible");
    assert_int_equal(kb_tensor_new(sim, NULL, KB_F32, KB_SHAPE(1), (kb_placement){0}, &x, NULL),
                     KB_BAD_REQUEST);
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, KB_SHAPE(1),
                                   (kb_placement){KB_ROW_WISE, (kb_placement_split)3}, &x, NULL),
                     KB_BAD_REQUEST);
    assert_refused(sim, KB_F32, KB_SHAPE(2, 0), KB_ROW_WISE, "tensor 'x' has an extent of 0");
    assert_refused(sim, KB_F32, KB_SHAPE(-2, -2), KB_ROW_WISE, "tensor 'x' has an extent of -2");
    assert_refused(sim, KB_F32, KB_SHAPE(1), (kb_placement_split)3,
                   "tensor 'x' has a placement that does not exist");
    assert_refused(sim, KB_F32, KB_SHAPE(INT64_MAX / 2, 2), KB_ROW_WISE,
                   "tensor 'x' has more than 2^63 bytes");
    assert_refused(sim, KB_U8, KB_SHAPE(INT64_MAX), KB_ROW_WISE,
                   "tensor 'x' does not fit: c0.slice0 holds 536870912 bytes, 0 are taken, its "
                   "part has 2305843009213693951");
    new_tensor(sim, "a", KB_U8, KB_SHAPE(536870912 - 100), KB_REPLICATE, KB_REPLICATE);
    assert_refused(sim, KB_U8, KB_SHAPE(4, 2), KB_ROW_WISE,
                   "tensor 'x' does not fit: c0.slice0 holds 536870912 bytes, 536870812 are "
                   "taken, its part has 2");
    kb_sim_free(sim);
}

/* A tensor that does not fit takes no room; the last byte of a slice can be had. */
static void a_slice_can_be_filled_to_the_end(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});

    (void)state;
    new_tensor(sim, "a", KB_U8, KB_SHAPE(1, 255), KB_COLUMN_WISE, KB_REPLICATE);
    assert_refused(sim, KB_U8, KB_SHAPE(536870912 - 255), KB_REPLICATE,
                   "tensor 'x' does not fit: c0.slice0 holds 536870912 bytes, 127 are taken, its "
                   "part has 536870657");
    new_tensor(sim, "b", KB_U8, KB_SHAPE(536870912 - 256), KB_REPLICATE, KB_REPLICATE);
    kb_sim_free(sim);
}

/* -- content -------------------------------------------------------------------------------- */

/* The memory of a PE holds its part of the tensor. */
static void assert_part_holds(kb_sim *sim, const kb_tensor *x, uint32_t pe,
                              const unsigned char *whole)
{
    kb_shard s = kb_tensor_shard(x, pe);
    kb_shape shape = kb_tensor_shape(x);
    uint64_t elem = kb_dtype_bytes(kb_tensor_dtype(x)), n = 1, offset;
    struct view view;
    kb_endpoint end;

    for (int64_t i = 0; i < shape.rank; i++)
        n *= (uint64_t)s.shape.dim[i];
    if (n == 0)
        return;
    assert_int_equal(kb_address_find(small, s.address, &end, &offset), KB_OK);
    assert_int_equal(mem_read(host_mem(&sim->host, sim->topo), dst_pack(small, end.cube, end.unit),
                              s.address, n * elem, &view, NULL, NULL),
                     MEM_OK);
    for (uint64_t k = 0; k < n; k++) {
        uint64_t rest = k, at = 0, stride = 1;

        for (int64_t i = shape.rank - 1; i >= 0; i--) {
            at += (rest % (uint64_t)s.shape.dim[i] + (uint64_t)s.first[i]) * stride;
            rest /= (uint64_t)s.shape.dim[i];
            stride *= (uint64_t)shape.dim[i];
        }
        assert_memory_equal(version_bytes(view.v) + view.offset + k * elem, whole + at * elem,
                            elem);
    }
    version_drop(view.v);
}

static void assert_round_trip(kb_dtype dtype, kb_shape shape, kb_placement_split cubes,
                              kb_placement_split pes)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", dtype, shape, cubes, pes);
    uint64_t n = kb_dtype_bytes(dtype), dice = (uint64_t)dtype;
    unsigned char *bytes, *back;

    for (int64_t i = 0; i < shape.rank; i++)
        n *= (uint64_t)shape.dim[i];
    bytes = malloc(n);
    back = malloc(n);
    for (uint64_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)draw(&dice);
    assert_int_equal(kb_tensor_write(x, bytes, NULL), KB_OK);
    for (uint32_t pe = 0; pe < 4; pe++)
        assert_part_holds(sim, x, pe, bytes);
    assert_int_equal(kb_tensor_read(x, back, NULL), KB_OK);
    assert_memory_equal(back, bytes, n);
    free(bytes);
    free(back);
    kb_sim_free(sim);
}

static void any_placement_comes_back(void **state)
{
    static const kb_shape shapes[] = {{1, {1}},       {1, {3}},       {1, {101}},
                                      {2, {7, 9}},    {2, {1, 5}},    {2, {64, 1}},
                                      {3, {3, 5, 7}}, {3, {5, 1, 2}}, {6, {2, 3, 2, 1, 2, 5}}};

    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++)
        for (int k = 0; k < 9; k++)
            assert_round_trip((kb_dtype)(1 + (i * 9 + (size_t)k) % KB_BOOL), shapes[i],
                              (kb_placement_split)(k / 3), (kb_placement_split)(k % 3));
}

static struct view view_of(kb_sim *sim, const kb_tensor *x, uint32_t pe, uint64_t nbytes)
{
    struct view view;

    assert_int_equal(mem_read(host_mem(&sim->host, sim->topo), dst_pack(small, pe / 2, pe % 2),
                              kb_tensor_shard(x, pe).address, nbytes, &view, NULL, NULL),
                     MEM_OK);
    return view;
}

static void copies_are_kept_once(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", KB_U8, KB_SHAPE(8), KB_REPLICATE, KB_REPLICATE);
    kb_tensor *y = new_tensor(sim, "y", KB_U8, KB_SHAPE(8), KB_REPLICATE, KB_ROW_WISE);
    struct view of_x = {0}, of_y = {0};

    (void)state;
    assert_int_equal(kb_tensor_write(x, "abcdefgh", NULL), KB_OK);
    assert_int_equal(kb_tensor_write(y, "abcdefgh", NULL), KB_OK);
    of_x = view_of(sim, x, 3, 8);
    of_y = view_of(sim, y, 3, 4);
    assert_int_equal(of_x.v->refs, 5); /* four PEs, and this view */
    assert_int_equal(of_y.v->refs, 3); /* the second PE of both cubes */
    assert_memory_equal(of_y.v->bytes, "efgh", 4);
    version_drop(of_x.v);
    version_drop(of_y.v);
    kb_sim_free(sim);
}

/* Replicated parts: the first copy is read, whether the others have changed or not. */
static void of_copies_the_first_is_read(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", KB_U8, KB_SHAPE(8), KB_REPLICATE, KB_REPLICATE);
    struct version *result = version_new_result(8, 5);
    char back[9] = "";

    (void)state;
    assert_int_equal(kb_tensor_write(x, "abcdefgh", NULL), KB_OK);
    assert_int_equal(mem_write(host_mem(&sim->host, sim->topo), dst_pack(small, 0, 1), 0, 8,
                               (struct view){result, 0}, 5),
                     MEM_OK);
    assert_int_equal(kb_tensor_read(x, back, NULL), KB_OK);
    assert_string_equal(back, "abcdefgh");
    version_drop(result);
    kb_sim_free(sim);
}

/* Results that kernels have stored can be read after they are computed. */
static void results_are_pending_until_computed(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", KB_U8, KB_SHAPE(8), KB_ROW_WISE, KB_ROW_WISE);
    struct version *result = version_new_result(1, 5);
    kb_error why = {""};
    char back[9] = "--------";

    (void)state;
    assert_int_equal(kb_tensor_read(x, back, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "tensor 'x': addresses 0 to 1 were never written");
    assert_int_equal(kb_tensor_write(x, "abcdefgh", NULL), KB_OK);
    assert_int_equal(mem_write(host_mem(&sim->host, sim->topo), dst_pack(small, 1, 0),
                               kb_tensor_shard(x, 2).address + 1, 1, (struct view){result, 0}, 5),
                     MEM_OK);
    assert_int_equal(kb_tensor_read(x, back, &why), KB_PENDING);
    assert_string_equal(why.text, "tensor 'x' holds results that are not computed");
    assert_string_equal(back, "--------");
    version_set_bytes(result, (unsigned char *)strcpy(malloc(2), "X"));
    assert_int_equal(kb_tensor_read(x, back, &why), KB_OK);
    assert_string_equal(back, "abcdeXgh");
    version_drop(result);
    kb_sim_free(sim);
}

/* -- fills ---------------------------------------------------------------------------------- */

/* The authors' own numbers: splitmix64.c for the seed 1234567, xoshiro256starstar.c for 1 2 3 4. */
static void the_generators_are_the_published_ones(void **state)
{
    static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240};
    struct rng r = {{1, 2, 3, 4}};
    uint64_t seed = 1234567;

    (void)state;
    assert_true(rng_split_mix(&seed) == UINT64_C(6457827717110365317));
    assert_true(rng_split_mix(&seed) == UINT64_C(3203168211198807973));
    for (size_t i = 0; i < LENGTH(want); i++)
        assert_true(rng_next(&r) == want[i]);
}

enum { MANY = 4096 };

static void fill(kb_sim *sim, const char *name, kb_dtype dtype, kb_placement_split split,
                 uint64_t seed, void *bytes)
{
    kb_tensor *x = new_tensor(sim, name, dtype, KB_SHAPE(MANY / 8, 8), split, split);

    assert_int_equal(kb_tensor_fill_random(x, seed, 0.5, NULL), KB_OK);
    assert_int_equal(kb_tensor_read(x, bytes, NULL), KB_OK);
}

static void random_elements_are_in_their_range(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    unsigned char bytes[MANY * 8];

    (void)state;
    for (int t = KB_F16; t <= KB_F8E5M2; t++) {
        double low = INFINITY, high = -INFINITY, sum = 0;

        fill(sim, "x", (kb_dtype)t, KB_ROW_WISE, 1, bytes);
        for (uint64_t i = 0; i < MANY; i++) {
            double value = kb_element((kb_dtype)t, bytes, i);

            low = value < low ? value : low;
            high = value > high ? value : high;
            sum += value / MANY;
        }
        if (t <= KB_F64 || t >= KB_F8E4M3)
            assert_true(low >= -0.5 && low < -0.49 && high <= 0.5 && high > 0.49 &&
                        fabs(sum) < 0.02);
        else if (t <= KB_I64)
            assert_true(low == -8 && high == 7 && fabs(sum + 0.5) < 0.3);
        else
            assert_true(low == 0 && high == (t == KB_BOOL ? 1 : 15));
    }
    kb_sim_free(sim);
}

/* The same for any placement; another seed or name gives others. */
static void random_elements_depend_on_seed_and_name(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    static float a[MANY], b[MANY];

    (void)state;
    fill(sim, "x", KB_F32, KB_ROW_WISE, 1, a);
    fill(sim, "x", KB_F32, KB_REPLICATE, 1, b);
    assert_memory_equal(a, b, sizeof a);
    fill(sim, "y", KB_F32, KB_ROW_WISE, 1, b);
    assert_true(memcmp(a, b, sizeof a) != 0);
    fill(sim, "x", KB_F32, KB_ROW_WISE, 2, b);
    assert_true(memcmp(a, b, sizeof a) != 0);
    kb_sim_free(sim);
}

static void arange_counts_in_c_order(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", KB_I16, KB_SHAPE(3, 4), KB_COLUMN_WISE, KB_ROW_WISE);
    int16_t back[12];

    (void)state;
    assert_int_equal(kb_tensor_fill_arange(x, -5, 2, NULL), KB_OK);
    assert_int_equal(kb_tensor_read(x, back, NULL), KB_OK);
    for (int i = 0; i < 12; i++)
        assert_int_equal(back[i], 2 * i - 5);
    kb_sim_free(sim);
}

/* -- fills ---------------------------------------------------------------------------------- */

/* The part of a tensor that lies in the first slice. */
static struct view part_of_first(kb_sim *sim, const kb_tensor *x)
{
    kb_shard shard = kb_tensor_shard(x, 0);
    uint64_t nbytes = kb_dtype_bytes(kb_tensor_dtype(x));
    struct view view;

    for (int64_t i = 0; i < shard.shape.rank; i++)
        nbytes *= (uint64_t)shard.shape.dim[i];
    assert_int_equal(
        mem_read(host_mem(&sim->host, small), 0, shard.address, nbytes, &view, NULL, NULL), MEM_OK);
    return view;
}

static kb_tensor *filled(kb_sim *sim, uint64_t seed)
{
    kb_tensor *x = new_tensor(sim, "x", KB_F32, KB_SHAPE(MANY / 8, 8), KB_ROW_WISE, KB_COLUMN_WISE);

    assert_int_equal(kb_tensor_fill_random(x, seed, 1, NULL), KB_OK);
    return x;
}

/* The same bytes as with Phase 2, where they are made at once. */
static void fills_are_made_when_they_are_first_read(void **state)
{
    kb_sim *now = new_sim(small, (kb_options){.phase2 = true});
    kb_sim *later = new_sim(small, (kb_options){0});
    kb_tensor *a = filled(now, 5), *b = filled(later, 5);
    struct view first = part_of_first(now, a), second = part_of_first(later, b);
    static float x[MANY], y[MANY];

    (void)state;
    assert_non_null(first.v->bytes);
    assert_null(second.v->bytes);
    assert_true(version_ready(second.v));
    assert_int_equal(kb_tensor_read(a, x, NULL), KB_OK);
    assert_int_equal(kb_tensor_read(b, y, NULL), KB_OK);
    assert_memory_equal(x, y, sizeof x);
    assert_non_null(second.v->bytes);
    assert_memory_equal(first.v->bytes, second.v->bytes, sizeof x / 4);
    version_drop(first.v);
    version_drop(second.v);
    kb_sim_free(now);
    kb_sim_free(later);
}

/* Odd quarters, each of the four. */
static void a_scale_of_0_is_for_sums_that_are_exact(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = filled(sim, 1);
    static float is[MANY];
    int n[4] = {0};

    (void)state;
    assert_int_equal(kb_tensor_fill_random(x, 1, 0, NULL), KB_OK);
    assert_int_equal(kb_tensor_read(x, is, NULL), KB_OK);
    for (int i = 0; i < MANY; i++) {
        int quarters = (int)(is[i] * 4);

        assert_true(is[i] * 4 == (float)quarters && quarters % 2 != 0 && abs(quarters) < 4);
        n[(quarters + 3) / 2]++;
    }
    assert_true(n[0] > 0 && n[1] > 0 && n[2] > 0 && n[3] > 0);
    kb_sim_free(sim);
}

/* What was seen before a tensor is filled again stays as it was, although no byte of it was made.
 */
static void a_fill_outlives_the_next_one(void **state)
{
    int64_t before = owned;
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = filled(sim, 1);
    struct view seen = part_of_first(sim, x), never = part_of_first(sim, x);
    static float one[MANY], two[MANY];

    (void)state;
    version_drop(never.v);
    assert_int_equal(kb_tensor_fill_random(x, 2, 1, NULL), KB_OK);
    assert_non_null(version_bytes(seen.v));
    fill(sim, "x", KB_F32, KB_ROW_WISE, 2, one); /* of half the scale */
    assert_int_equal(kb_tensor_read(x, two, NULL), KB_OK);
    for (int i = 0; i < MANY; i++)
        assert_true(two[i] == 2 * one[i]);
    fill(sim, "x", KB_F32, KB_ROW_WISE, 1, one);
    for (int i = 0; i < MANY / 4; i++) /* rows of 4 of 8 columns */
        assert_true(((float *)(void *)seen.v->bytes)[i] == 2 * one[i / 4 * 8 + i % 4]);
    version_drop(seen.v);
    kb_sim_free(sim);
    assert_true(owned == before);
}

/* Columns of 4 bytes are gathered from all rows: each of them is a piece. */
static kb_status read_column(kb_sim *sim, const kb_tensor *x, float *column)
{
    struct strided s = {1, 4, {MANY / 16}, {16}};
    struct view view;
    enum mem_err err = mem_read_strided(host_mem(&sim->host, small), 0,
                                        kb_tensor_shard(x, 0).address, &s, &view, NULL, NULL);

    if (err != MEM_OK)
        return KB_NO_MEMORY;
    memcpy(column, version_bytes(view.v) + view.offset, MANY / 4);
    version_drop(view.v);
    return KB_OK;
}

static void a_fill_without_memory_is_made_the_next_time(void **state)
{
    static float want[MANY], all[MANY], column[MANY / 16];

    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        kb_status status = KB_NO_MEMORY;
        int64_t before = owned;
        uint64_t n = 0;

        for (; status != KB_OK; n++) {
            kb_sim *sim = new_sim(small, (kb_options){0});
            kb_tensor *x = filled(sim, 3);

            blocks_left = n;
            status = whole ? kb_tensor_read(x, all, NULL) : read_column(sim, x, column);
            blocks_left = UINT64_MAX;
            assert_true(status == KB_OK || status == KB_NO_MEMORY);
            assert_int_equal(kb_tensor_read(x, want, NULL), KB_OK);
            kb_sim_free(sim);
        }
        assert_true(owned == before);
        assert_true(n > 6); /* the whole, a list, four parts */
    }
    assert_memory_equal(all, want, sizeof all);
    for (int i = 0; i < MANY / 16; i++)
        assert_true(column[i] == want[8 * i]);
}

static void files_of_numpy_fill_and_keep_tensors(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", KB_BF16, KB_SHAPE(3, 4), KB_COLUMN_WISE, KB_ROW_WISE);
    kb_tensor *y = new_tensor(sim, "y", KB_BF16, KB_SHAPE(3, 4), KB_ROW_WISE, KB_REPLICATE);
    kb_tensor *f = new_tensor(sim, "f", KB_F16, KB_SHAPE(3, 4), KB_ROW_WISE, KB_REPLICATE);
    kb_tensor *z = new_tensor(sim, "z", KB_U16, KB_SHAPE(4, 3), KB_ROW_WISE, KB_REPLICATE);
    char path[] = "/tmp/test_host.XXXXXX";
    uint16_t a[12], b[12];
    kb_error why = {""};

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    assert_int_equal(kb_tensor_fill_arange(x, 1, 0.25, NULL), KB_OK);
    assert_int_equal(kb_tensor_save_npy(x, path, NULL), KB_OK);
    assert_int_equal(kb_tensor_fill_npy(y, path, NULL), KB_OK);
    assert_int_equal(kb_tensor_read(x, a, NULL), KB_OK);
    assert_int_equal(kb_tensor_read(y, b, NULL), KB_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(a[4], 0x4000);
    assert_int_equal(kb_tensor_fill_npy(f, path, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "its elements are u16, those of tensor 'f' f16"));
    assert_int_equal(kb_tensor_fill_npy(z, path, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "its shape (3, 4) is not that of tensor 'z', (4, 3)"));
    z = new_tensor(sim, "flat", KB_U16, KB_SHAPE(12), KB_ROW_WISE, KB_REPLICATE);
    assert_int_equal(kb_tensor_fill_npy(z, path, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "its shape (3, 4) is not that of tensor 'flat', (12,)"));
    unlink(path);
    assert_int_equal(kb_tensor_fill_npy(y, path, &why), KB_FILE_ERROR);
    kb_sim_free(sim);
}

/* A file of `a` in type `from` fills a tensor of type `to` with `b`, or is refused with `text`. */
static void assert_fills(kb_dtype from, const void *a, kb_dtype to, const void *b, const char *text)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", from, KB_SHAPE(3), KB_REPLICATE, KB_REPLICATE);
    kb_tensor *y = new_tensor(sim, "y", to, KB_SHAPE(3), KB_REPLICATE, KB_REPLICATE);
    char path[] = "/tmp/test_host.XXXXXX", bytes[24];
    kb_error why = {""};

    assert_true(close(mkstemp(path)) == 0);
    assert_int_equal(kb_tensor_write(x, a, NULL), KB_OK);
    assert_int_equal(kb_tensor_save_npy(x, path, NULL), KB_OK);
    assert_int_equal(kb_tensor_fill_npy(y, path, &why), b ? KB_OK : KB_BAD_REQUEST);
    if (b) {
        assert_int_equal(kb_tensor_read(y, bytes, NULL), KB_OK);
        assert_memory_equal(bytes, b, 3 * kb_dtype_bytes(to));
    } else {
        assert_non_null(strstr(why.text, text));
    }
    unlink(path);
    kb_sim_free(sim);
}

/* 1 + 2^-11 + 2^-40 is above the middle of two f16, and f32 on the way would lose that. */
static void files_of_other_types_fill_what_they_fit(void **state)
{
    const double f64[] = {1 + 0x1p-11 + 0x1p-40, -2, 1e9};
    const uint16_t f16[] = {0x3c01, 0xc000, 0x7c00}, bits[] = {1, 2, 3};
    const int64_t i64[] = {-128, 127, 0}, low[] = {0, -129, 0}, negative[] = {0, 0, -1};
    const int8_t i8[] = {-128, 127, 0};
    const uint64_t u64[] = {UINT64_MAX, 0, 0};
    const bool truth[] = {true, false, true};

    (void)state;
    assert_fills(KB_F64, f64, KB_F16, f16, NULL);
    assert_fills(KB_U16, bits, KB_BF16, bits, NULL);
    assert_fills(KB_I64, i64, KB_I8, i8, NULL);
    assert_fills(KB_I64, low, KB_I8, NULL, "its element 1 is -129, which is no i8 of tensor 'y'");
    assert_fills(KB_I64, negative, KB_U64, NULL, "its element 2 is -1, which is no u64");
    assert_fills(KB_U64, u64, KB_U64, u64, NULL);
    assert_fills(KB_U64, u64, KB_I64, NULL, "its element 0 is 18446744073709551615, which is no");
    assert_fills(KB_BOOL, truth, KB_I8, NULL, "its elements are bool, those of tensor 'y' i8");
    assert_fills(KB_F16, f16, KB_F32, NULL, "its elements are f16, those of tensor 'y' f32");
    assert_fills(KB_U16, bits, KB_F16, NULL, "its elements are u16, those of tensor 'y' f16");
}

/* -- comparing ------------------------------------------------------------------------------ */

/* numpy.allclose(equal_nan=True), with the tolerances of docs/kernels.md "Phase 2 in numbers". */
/* 2^53 + 1 becomes the double 2^53. */
static void integers_of_64_bits_compare_exactly(void **state)
{
    const int64_t got[] = {(INT64_C(1) << 53) + 1, INT64_C(1) << 53};
    const double want[] = {0x1p53, 0x1p53};
    kb_difference d;

    (void)state;
    assert_int_equal(kb_compare(KB_I64, got, want, 2, &d), KB_DIFFERENT);
    assert_int_equal(d.n_bad, 1);
    assert_int_equal(kb_compare(KB_U64, got, want, 2, &d), KB_DIFFERENT);
    assert_int_equal(kb_compare(KB_U64, got + 1, want, 1, &d), KB_OK);
    assert_int_equal(kb_compare(KB_I64, &(int64_t){INT64_MAX}, &(double){0x1p63}, 1, &d),
                     KB_DIFFERENT);
    assert_int_equal(kb_compare(KB_U64, &(uint64_t){UINT64_MAX}, &(double){0x1p64}, 1, &d),
                     KB_DIFFERENT);
}

/* Elements may begin at any byte. */
static void elements_that_are_not_aligned_compare(void **state)
{
    _Alignas(8) unsigned char got[3 * sizeof(float) + 1];
    const double want[] = {0.5, -1, 2};
    kb_difference d;

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        kb_element_set(KB_F32, got + 1, i, want[i]);
    assert_int_equal(kb_compare(KB_F32, got + 1, want, 3, &d), KB_OK);
}

static void elements_compare_as_numpy_does(void **state)
{
    static const struct {
        kb_dtype dtype;
        double got, want;
        bool same;
    } rows[] = {
        {KB_F32, 1, 1 + 1.9e-5, true},
        {KB_F32, 1, 1 + 2.1e-5, false},
        {KB_F32, 0, 0.9e-5, true},
        {KB_F32, 0, -1.1e-5, false},
        {KB_F16, 100, 100.09, true},
        {KB_F16, 100, 100.12, false},
        {KB_BF16, 1, 1.02, true},
        {KB_BF16, 1, 0.97, false},
        {KB_F64, 1, 1 + 1e-10, true},
        {KB_F64, 1, 1 + 3e-10, false},
        {KB_I32, 7, 7, true},
        {KB_I32, 1000000, 1000000.001, false},
        {KB_BOOL, 1, 0, false},
        {KB_F32, NAN, NAN, true},
        {KB_F32, NAN, 0, false},
        {KB_F32, 0, NAN, false},
        {KB_F16, INFINITY, INFINITY, true},
        {KB_F16, INFINITY, -INFINITY, false},
        {KB_F16, 65504, INFINITY, false},
        {KB_F16, INFINITY, 65504, false},
        {KB_F32, 0, -0.0, true},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        kb_difference d;
        uint64_t got;

        kb_element_set(rows[i].dtype, &got, 0, rows[i].got);
        if (kb_compare(rows[i].dtype, &got, &rows[i].want, 1, &d) !=
            (rows[i].same ? KB_OK : KB_DIFFERENT))
            fail_msg("row %zu", i);
        assert_int_equal(d.n_bad, !rows[i].same);
    }
}

static void the_first_difference_and_the_largest_are_told(void **state)
{
    static const float got[] = {1, 2, 4, 3, -6};
    static const double want[] = {1, 2.00001, 3, 3, -8};
    kb_difference d;

    (void)state;
    assert_int_equal(kb_compare(KB_F32, got, want, 5, &d), KB_DIFFERENT);
    assert_true(d.n_bad == 2 && d.index == 2 && d.got == 4 && d.want == 3 && d.max_abs_err == 2);
    assert_int_equal(kb_compare(KB_F32, got, want, 2, &d), KB_OK);
    assert_true(d.n_bad == 0 && fabs(d.max_abs_err - 1e-5) < 1e-12);
}

/* -- memory that is lacking ----------------------------------------------------------------- */

/* The last PE's part, "gh", as two ranges of a leaf that has no room left for a third. */
static void crowd_last_part(kb_sim *sim)
{
    struct view byte = {version_new_bytes(1), 0};
    uint32_t area = dst_pack(small, 1, 1);

    byte.v->bytes[0] = 'g';
    assert_int_equal(mem_write(host_mem(&sim->host, sim->topo), area, 0, 1, byte, 0), MEM_OK);
    for (uint64_t i = 0; i < 61; i++)
        assert_int_equal(mem_write(host_mem(&sim->host, sim->topo), area, 1000 + 2 * i, 1, byte, 0),
                         MEM_OK);
    version_drop(byte.v);
}

/* The content of a tensor is all old or all new. */
static void a_write_without_memory_changes_nothing(void **state)
{
    kb_status status = KB_NO_MEMORY;
    uint64_t n = 0;

    (void)state;
    for (; status != KB_OK; n++) {
        kb_sim *sim = new_sim(small, (kb_options){0});
        kb_tensor *x = new_tensor(sim, "x", KB_U8, KB_SHAPE(8), KB_ROW_WISE, KB_ROW_WISE);
        kb_error why = {""};
        char back[9] = "";

        assert_int_equal(kb_tensor_write(x, "abcdefgh", NULL), KB_OK);
        crowd_last_part(sim);
        blocks_left = n;
        status = kb_tensor_write(x, "ABCDEFGH", &why);
        blocks_left = UINT64_MAX;
        assert_int_equal(kb_tensor_read(x, back, NULL), KB_OK);
        assert_string_equal(back, status == KB_OK ? "ABCDEFGH" : "abcdefgh");
        assert_true(status == KB_OK || strcmp(why.text, "out of memory for tensor 'x'") == 0);
        kb_sim_free(sim);
    }
    assert_int_equal(n, 11); /* a list, four versions of two blocks each, a leaf */
}

/* New, filled, read back; what comes first of the calls that have no memory. */
static kb_status live(kb_sim *sim)
{
    kb_tensor *x = NULL;
    char back[8];
    kb_status status = kb_tensor_new(sim, "x", KB_U8, KB_SHAPE(8),
                                     (kb_placement){KB_ROW_WISE, KB_ROW_WISE}, &x, NULL);

    if (status != KB_OK) {
        assert_null(x);
        return status;
    }
    status = kb_tensor_fill_random(x, 1, 1, NULL);
    if (status == KB_OK)
        status = kb_tensor_fill_arange(x, 1, 1, NULL);
    if (status == KB_OK)
        status = kb_tensor_read(x, back, NULL);
    return status == KB_OK ? kb_tensor_save_npy(x, "/dev/shm/test_host.npy", NULL) : status;
}

static void every_allocation_may_fail(void **state)
{
    kb_status status = KB_NO_MEMORY;
    uint64_t n = 0;

    (void)state;
    for (; status != KB_OK; n++) {
        int64_t before = owned;
        kb_sim *sim = new_sim(small, (kb_options){0});

        blocks_left = n;
        status = live(sim);
        blocks_left = UINT64_MAX;
        assert_true(status == KB_OK || status == KB_NO_MEMORY);
        kb_sim_free(sim);
        assert_true(owned == before);
    }
    unlink("/dev/shm/test_host.npy");
    assert_true(n > 30);
}

/* What --inspect asks: a tensor has its bytes, and none behind them. */
static void a_tensor_is_found_by_the_addresses_of_its_elements(void **state)
{
    kb_sim *sim = new_sim(small, (kb_options){0});
    kb_tensor *x = new_tensor(sim, "x", KB_I32, KB_SHAPE(2, 3), KB_REPLICATE, KB_REPLICATE);
    uint64_t at = kb_tensor_shard(x, 0).address;
    int64_t index[KB_RANK_MAX];

    (void)state;
    assert_ptr_equal(host_tensor_at(sim->host, at, index), x);
    assert_true(index[0] == 0 && index[1] == 0);
    assert_ptr_equal(host_tensor_at(sim->host, at + 23, index), x);
    assert_true(index[0] == 1 && index[1] == 2);
    assert_null(host_tensor_at(sim->host, at + 24, index));
    assert_null(host_tensor_at(sim->host, UINT64_C(1) << 36, index)); /* an SRAM */
    assert_null(host_tensor_at(NULL, at, index));
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_their_bits),
        cmocka_unit_test(version_3_has_wider_offsets),
        cmocka_unit_test(every_memory_has_its_addresses),
        cmocka_unit_test(what_is_no_memory_has_no_address),
        cmocka_unit_test(sizes_at_the_limits_have_addresses),
        cmocka_unit_test(parts_lie_where_the_design_says),
        cmocka_unit_test(what_cannot_be_placed_is_refused),
        cmocka_unit_test(a_slice_can_be_filled_to_the_end),
        cmocka_unit_test(any_placement_comes_back),
        cmocka_unit_test(copies_are_kept_once),
        cmocka_unit_test(of_copies_the_first_is_read),
        cmocka_unit_test(results_are_pending_until_computed),
        cmocka_unit_test(the_generators_are_the_published_ones),
        cmocka_unit_test(random_elements_are_in_their_range),
        cmocka_unit_test(random_elements_depend_on_seed_and_name),
        cmocka_unit_test(arange_counts_in_c_order),
        cmocka_unit_test(fills_are_made_when_they_are_first_read),
        cmocka_unit_test(a_scale_of_0_is_for_sums_that_are_exact),
        cmocka_unit_test(a_fill_outlives_the_next_one),
        cmocka_unit_test(a_fill_without_memory_is_made_the_next_time),
        cmocka_unit_test(files_of_numpy_fill_and_keep_tensors),
        cmocka_unit_test(files_of_other_types_fill_what_they_fit),
        cmocka_unit_test(elements_that_are_not_aligned_compare),
        cmocka_unit_test(elements_compare_as_numpy_does),
        cmocka_unit_test(integers_of_64_bits_compare_exactly),
        cmocka_unit_test(the_first_difference_and_the_largest_are_told),
        cmocka_unit_test(a_write_without_memory_changes_nothing),
        cmocka_unit_test(a_tensor_is_found_by_the_addresses_of_its_elements),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, make_small, free_small);
}
