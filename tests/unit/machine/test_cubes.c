/* test_cubes.c -- cubes with any number of PEs and slices, PEs that are missing, keys of some
 * cubes. */
#include "support/any_topology.h"
#include "support/rig.h"
#include "machine/cost.h"
#include "machine/tables.h"
#include "tl.h"

#define HEAD(w, h) "kernbench: 1\nname: t\nsip: {cube_mesh: {w: " #w ", h: " #h "}}\n"

static void assert_counts(const char *yaml, uint32_t nodes, uint32_t edges)
{
    const kb_topology *t = any_topology(yaml);
    kb_info info;

    kb_topology_info(t, &info);
    assert_int_equal(info.nodes, nodes);
    assert_int_equal(info.edges, edges);
    any_topology_free(t);
}

/* The contract's "Nodes, edges"; cube8 without 3 PEs lacks 3 * 7 nodes and 3 * 13 edges. */
static void counts_are_those_of_the_contract(void **state)
{
    (void)state;
    assert_counts(HEAD(1, 1) "cube: {pes: 3}\n", 39, 70);
    assert_counts(HEAD(1, 1) "cube: {pes: 0, hbm: {slices: 4}}\n", 20, 38);
    assert_counts(HEAD(1, 1) "cube: {pes: 8, hbm: {slices: 16}}\n", 92, 158);
    assert_counts(HEAD(1, 1) "cube: {pes: 8, hbm: {slices: 4}}\n", 80, 146);
    assert_counts(HEAD(4, 2), 651, 1180);
    assert_counts(HEAD(4, 2) "missing: [\"c1.pe[1-2]\", c7.pe7]\n", 651 - 21, 1180 - 36);
}

static void assert_point(const kb_topology *t, const char *name, double x_mm, double y_mm)
{
    uint32_t node;
    kb_node got;

    assert_int_equal(kb_node_find(t, name, strlen(name), &node), KB_OK);
    assert_int_equal(kb_node_get(t, node, &got), KB_OK);
    assert_string_equal(got.name, name);
    assert_true(got.x_mm == x_mm && got.y_mm == y_mm);
}

/* The contract's "Points". */
static void an_odd_pe_is_in_the_first_half(void **state)
{
    const kb_topology *three = any_topology(HEAD(1, 1) "cube: {pes: 3}\n");
    const kb_topology *five = any_topology(HEAD(1, 1) "cube: {pes: 5}\n");

    (void)state;
    assert_point(three, "sip0.cube0.xbar.pe0", 3.75, 0);
    assert_point(three, "sip0.cube0.pe1.pe_dma", 11.25, 0);
    assert_point(three, "sip0.cube0.pe2.pe_cpu", 3.75, 11);
    assert_point(five, "sip0.cube0.xbar.pe2", 12.5, 0);
    assert_point(five, "sip0.cube0.xbar.pe3", 2.5, 11);
    assert_point(five, "sip0.cube0.pe4.pe_dma", 7.5, 11);
    any_topology_free(three);
    any_topology_free(five);
}

static const char *home(const kb_topology *t, uint32_t pe, char name[KB_ENDPOINT_BYTES])
{
    kb_endpoint slice;

    assert_int_equal(kb_pe_slice(t, pe, &slice), KB_OK);
    kb_endpoint_name(&slice, name);
    return name;
}

/* "the first slice behind the crossbar node of the highest number <= p that has one" */
static void a_home_slice_is_behind_the_own_node_or_one_before(void **state)
{
    const kb_topology *many = any_topology(HEAD(1, 1) "cube: {pes: 8, hbm: {slices: 16}}\n");
    const kb_topology *few = any_topology(HEAD(1, 1) "cube: {pes: 8, hbm: {slices: 3}}\n");
    char name[KB_ENDPOINT_BYTES];

    (void)state;
    assert_string_equal(home(many, 3, name), "c0.slice6");
    assert_string_equal(home(few, 1, name), "c0.slice0"); /* nodes 0, 2 and 5 */
    assert_string_equal(home(few, 2, name), "c0.slice1");
    assert_string_equal(home(few, 4, name), "c0.slice1");
    assert_string_equal(home(few, 7, name), "c0.slice2");
    any_topology_free(many);
    any_topology_free(few);
}

static const char uneven[] = HEAD(4, 2) "missing: [\"c1.pe[1-2]\", \"c4.pe*\"]\n"
                                        "cubes:\n"
                                        "  \"c[2-3]\": {pes: 5, hbm: {slices: 3}}\n"
                                        "  c3: {pes: 0, ucie: {overhead_ns: 7.0}}\n";

static void assert_pe(const kb_topology *t, uint32_t number, const char *name)
{
    char got[KB_ENDPOINT_BYTES];
    kb_endpoint pe;
    uint32_t back;

    assert_int_equal(kb_pe_get(t, number, &pe), KB_OK);
    kb_endpoint_name(&pe, got);
    assert_string_equal(got, name);
    assert_int_equal(kb_pe_number(t, &pe, &back), KB_OK);
    assert_int_equal(back, number);
}

/* 8 PEs of c0, 6 of c1, 5 of c2, none of c3 and c4, 8 each of c5 to c7. */
static void pes_are_numbered_without_gaps(void **state)
{
    const kb_topology *t = any_topology(uneven);
    kb_endpoint pe;
    kb_cube cube;

    (void)state;
    assert_int_equal(kb_pe_count(t), 43);
    assert_int_equal(kb_slice_count(t), 6 * 8 + 2 * 3);
    assert_pe(t, 7, "c0.pe7");
    assert_pe(t, 8, "c1.pe0");
    assert_pe(t, 9, "c1.pe3");
    assert_pe(t, 13, "c1.pe7");
    assert_pe(t, 18, "c2.pe4");
    assert_pe(t, 19, "c5.pe0");
    assert_int_equal(kb_pe_get(t, 43, &pe), KB_BAD_REQUEST);
    assert_int_equal(kb_cube_get(t, 0, 4, &cube), KB_OK);
    assert_int_equal(cube.n_pes, 0);
    assert_int_equal(cube.n_slices, 8);
    any_topology_free(t);
}

static void assert_refused(const kb_topology *t, const char *name, const char *message)
{
    kb_endpoint end;
    kb_error why;

    assert_int_equal(kb_endpoint_parse(t, name, strlen(name), &end, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, message);
}

static void count_end(void *arg, const kb_endpoint *end)
{
    (void)end;
    ++*(uint32_t *)arg;
}

static void what_is_missing_has_no_name_and_stars_skip_it(void **state)
{
    const kb_topology *t = any_topology(uneven);
    const char *all = "c*.pe*";
    uint32_t n = 0;
    kb_error why;

    (void)state;
    assert_refused(t, "c1.pe2", "c1.pe2 is missing from this topology");
    assert_refused(t, "c1.pe2.tcm", "c1.pe2 is missing from this topology");
    assert_refused(t, "c2.pe5", "c2.pe5: c2 has PEs 0..4");
    assert_refused(t, "c2.slice3", "c2.slice3: c2 has slices 0..2");
    assert_refused(t, "c3.pe0", "c3.pe0: c3 has no PEs");
    assert_refused(t, "c0.pe8", "c0.pe8: a cube has PEs 0..7");
    assert_int_equal(kb_endpoint_select(t, all, strlen(all), count_end, &n, &why), KB_OK);
    assert_int_equal(n, 43);
    any_topology_free(t);
}

/* Every number of a node has a name that leads back to it. */
static void assert_numbered(const char *yaml)
{
    const kb_topology *t = any_topology(yaml);
    kb_info info;

    kb_topology_info(t, &info);
    for (uint32_t i = 0; i < info.nodes; i++) {
        uint32_t back;
        kb_node node;

        assert_int_equal(kb_node_get(t, i, &node), KB_OK);
        assert_int_equal(kb_node_find(t, node.name, strlen(node.name), &back), KB_OK);
        assert_int_equal(back, i);
    }
    any_topology_free(t);
}

static void nodes_are_numbered_without_gaps(void **state)
{
    (void)state;
    assert_numbered(uneven);
    assert_numbered(HEAD(4, 2) "missing: [c1, c6]\n");
}

static void add_hop(void *arg, const kb_hop *hop)
{
    *(int64_t *)arg += hop->wire_fs + hop->overhead_fs;
}

/* The sum by segments is that of the walk, node by node, also past a cube with keys of its own. */
static void a_cube_on_the_way_costs_what_its_own_keys_say(void **state)
{
    const kb_topology *t = any_topology(uneven), *plain = any_topology(HEAD(4, 2));
    kb_endpoint src = {.kind = KB_PE, .cube = 2}, dst = {.kind = KB_SLICE, .cube = 7};
    kb_cost cost, before;
    int64_t sum_fs = 0;

    (void)state;
    assert_int_equal(kb_route_cost(t, KB_READ, &src, &dst, 64, &cost, NULL), KB_OK);
    assert_int_equal(kb_route_walk(t, &src, &dst, add_hop, &sum_fs, NULL), KB_OK);
    assert_int_equal(cost.wire_fs + cost.overhead_fs, sum_fs);
    assert_int_equal(kb_route_cost(plain, KB_READ, &src, &dst, 64, &before, NULL), KB_OK);
    assert_int_equal(cost.overhead_fs - before.overhead_fs, 2 * 6000000); /* c3's two ucie */
    any_topology_free(t);
    any_topology_free(plain);
}

/* "a later item wins, key by key" */
static void the_last_item_that_names_a_cube_wins(void **state)
{
    const kb_topology *t = any_topology(HEAD(3, 1) "cubes:\n"
                                                   "  \"c*\": {pes: 4, hbm: {slices: 2}}\n"
                                                   "  c1: {pes: 2}\n");
    kb_cube cube;

    (void)state;
    assert_int_equal(kb_cube_get(t, 0, 0, &cube), KB_OK);
    assert_true(cube.n_pes == 4 && cube.n_slices == 2);
    assert_int_equal(kb_cube_get(t, 0, 1, &cube), KB_OK);
    assert_true(cube.n_pes == 2 && cube.n_slices == 2);
    assert_true(cube.crossbars == 2 && cube.pe_places == 2);
    any_topology_free(t);
}

/* The value of hbm.bw_gbs, and the text of pe_gemm.mac. */
struct some_keys {
    double gbs;
    char mac[32];
};

static void take_some(void *arg, const kb_key *key)
{
    struct some_keys *keys = arg;

    if (strcmp(key->path, "cube.hbm.bw_gbs") == 0)
        keys->gbs = key->value;
    if (strcmp(key->path, "cube.pe.pe_gemm.mac") == 0)
        snprintf(keys->mac, sizeof keys->mac, "%s", key->text);
}

/* c2 has those of its kind, and over them its own; c1 has none, and is those of the machine. */
static void keys_of_a_cube_are_its_own(void **state)
{
    const kb_topology *t = any_topology(
        "kernbench: 3\nname: t\nsip: {cube_mesh: {w: 3, h: 1}}\n"
        "kinds: {big: {pe: {pe_gemm: {mac: [8, 16, 32], acc_kb: 64}}, hbm: {bw_gbs: 64}}}\n"
        "cubes: {c0: big, c2: {kind: big, hbm: {bw_gbs: 96}}}\n");
    static const struct some_keys right[] = {
        {64, "[8, 16, 32]"}, {256, "[16, 16, 16]"}, {96, "[8, 16, 32]"}};
    struct some_keys keys;

    (void)state;
    for (uint32_t cube = 0; cube < 3; cube++) {
        assert_int_equal(kb_cube_keys(t, 0, cube, take_some, &keys), KB_OK);
        assert_int_equal(keys.gbs, right[cube].gbs);
        assert_string_equal(keys.mac, right[cube].mac);
        assert_int_equal(kb_pe_acc_bytes(t, 8 * cube), (cube == 1 ? 256 : 64) * 1024);
    }
    assert_int_equal(kb_pe_acc_bytes(t, 24), 0);
    assert_int_equal(kb_topology_keys(t, take_some, &keys), KB_OK);
    assert_int_equal(keys.gbs, 256);
    assert_int_equal(kb_cube_keys(t, 0, 3, take_some, &keys), KB_BAD_REQUEST);
    any_topology_free(t);
}

/* Keys that all cubes get are those of the machine: its tables are as regular as ever. */
static void keys_of_all_cubes_leave_one_kind(void **state)
{
    const kb_topology *t = any_topology(HEAD(2, 2) "cubes: {\"c*\": {pes: 3}}\n");

    (void)state;
    assert_true(t->alike);
    assert_int_equal(t->n_kinds, 1);
    assert_int_equal(t->pes, 3);
    any_topology_free(t);
}

/* 8 rows over 2 cubes with PEs: 4 each; over 8 PEs and over 3. */
static void shards_go_equally_to_cubes_with_pes(void **state)
{
    const kb_topology *t =
        any_topology(HEAD(3, 1) "cubes: {c1: {pes: 0, hbm: {slices: 2}}, c2: {pes: 3}}\n");
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_placement rows = {KB_ROW_WISE, KB_ROW_WISE};
    int64_t first = 0, n = 0;
    kb_tensor *x;
    kb_error why;

    (void)state;
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, (kb_shape){2, {48, 2}}, rows, &x, &why),
                     KB_OK);
    for (uint32_t pe = 0; pe < 11; pe++) {
        kb_shard s = kb_tensor_shard(x, pe);

        assert_int_equal(s.first[0], first);
        assert_int_equal(s.shape.dim[0], pe < 8 ? 3 : 8);
        first += s.shape.dim[0];
        n++;
    }
    assert_int_equal(n, kb_pe_count(t));
    assert_int_equal(first, 48);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* Two PEs share slice 0: what the one has lies behind what the other has. */
static void parts_of_pes_that_share_a_slice_lie_behind_one_another(void **state)
{
    const kb_topology *t = any_topology(HEAD(1, 1) "cube: {pes: 2, hbm: {slices: 1}}\n");
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_placement rows = {KB_REPLICATE, KB_ROW_WISE};
    float values[200], back[200];
    kb_tensor *x;
    kb_error why;

    (void)state;
    for (int i = 0; i < 200; i++)
        values[i] = (float)i;
    assert_int_equal(kb_tensor_new(sim, "x", KB_F32, (kb_shape){2, {100, 2}}, rows, &x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_shard(x, 0).address, 0);
    assert_int_equal(kb_tensor_shard(x, 1).address, 512); /* 400 bytes, at the next 256 */
    assert_int_equal(kb_tensor_write(x, values, &why), KB_OK);
    assert_int_equal(kb_tensor_read(x, back, &why), KB_OK);
    assert_memory_equal(values, back, sizeof values);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* What each PE sees: its ids, how many there are, its cube's and its SIP's groups. */
struct seen {
    int64_t id[3], n[3];
    uint32_t cube_first;
    size_t cube_n, sip_n;
};

static void looks_around(tl_ctx *tl, const kb_args *args)
{
    struct seen *seen = (struct seen *)args->user + tl_pe(tl);

    for (int axis = 0; axis < 3; axis++) {
        seen->id[axis] = tl_program_id(tl, axis);
        seen->n[axis] = tl_num_programs(tl, axis);
    }
    seen->cube_first = tl_cube(tl).first;
    seen->cube_n = tl_cube(tl).n;
    seen->sip_n = tl_sip(tl).n;
}

/* "program_id = rank of the PE in its cube, of the cube among its SIP's cubes with PEs" */
static void kernels_count_what_is_there(void **state)
{
    const kb_topology *t = any_topology(uneven);
    kb_sim *sim = new_sim(t, (kb_options){0});
    static struct seen seen[43];
    kb_launch_request r = {.name = "look", .kernel = looks_around, .args.user = seen};
    kb_error why;

    (void)state;
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_OK);
    assert_int_equal(seen[9].id[0], 1); /* c1.pe3: pe1 and pe2 are missing */
    assert_int_equal(seen[9].n[0], 6);
    assert_int_equal(seen[9].cube_first, 8);
    assert_int_equal(seen[9].cube_n, 6);
    assert_int_equal(seen[19].id[1], 3); /* c5: c3 and c4 have no PEs */
    assert_int_equal(seen[19].n[1], 6);
    assert_int_equal(seen[42].id[0], 7);
    assert_int_equal(seen[42].id[1], 5);
    assert_int_equal(seen[42].n[2], 1);
    assert_int_equal(seen[42].sip_n, 43);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* gen/presets.c: HBM3 has other timings than HBM2, also in one cube; what is given beside it stays.
 */
static void a_cube_may_have_another_dram(void **state)
{
    const kb_topology *t =
        any_topology("kernbench: 2\nname: two\nsip: {cube_mesh: {w: 3, h: 1}}\n"
                     "cube: {hbm: {model: banks}}\n"
                     "cubes: {c1: {hbm: {preset: hbm3_ramulator2}},"
                     " c2: {hbm: {preset: hbm3_ramulator2, timing_ns: {rcd: 9}}}}\n");

    (void)state;
    assert_non_null(t);
    assert_int_equal(kind_at(t, 0)->banks.rcd_fs, 14000000);
    assert_int_equal(kind_at(t, 1)->banks.rcd_fs, 7000000);
    assert_int_equal(kind_at(t, 2)->banks.rcd_fs, 9000000);
    assert_int_equal(kind_at(t, 2)->banks.rp_fs, 7000000);
    any_topology_free(t);
}

/* gen/presets.c: a preset may say more from a version on; in earlier files it stays as it was. */
static void a_preset_is_that_of_the_version(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        char yaml[200];
        const kb_topology *t;

        snprintf(yaml, sizeof yaml,
                 "kernbench: %d\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\n"
                 "cube: {hbm: {model: banks, preset: hbm2_dramsim3}}\n"
                 "cubes: {c1: {hbm: {preset: ddr4_3200, ranks: 1}}}\n",
                 version);
        t = any_topology(yaml);
        assert_non_null(t);
        assert_int_equal(kind_at(t, 0)->banks.bank_queue, version == 3 ? 8 : UINT32_MAX);
        assert_int_equal(kind_at(t, 1)->banks.bank_queue, 8);
        assert_int_equal(kind_at(t, 1)->banks.ccd_fs, 5040000);
        assert_int_equal(kind_at(t, 1)->banks.rank_bits, 0);
        any_topology_free(t);
    }
}

/* configs/DDR4_8Gb_x8_3200.ini of DRAMsim3 has its timings in cycles of 0.63 ns. */
static void the_ddr4_preset_is_that_of_its_simulator(void **state)
{
    enum { TCK_FS = 630000 };
    const kb_topology *t =
        any_topology("kernbench: 3\nname: ddr4\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pes: 1, hbm: {model: banks, preset: ddr4_3200, bw_gbs: 25.396825, "
                     "size_gb: 4}}\n");
    const struct bank_row *b;

    (void)state;
    assert_non_null(t);
    b = &kind_at(t, 0)->banks;
    assert_int_equal(b->rcd_fs, 22 * TCK_FS);
    assert_int_equal(b->rp_fs, 22 * TCK_FS);
    assert_int_equal(b->cl_fs, 22 * TCK_FS);
    assert_int_equal(b->cwl_fs, 16 * TCK_FS);
    assert_int_equal(b->ras_fs, 52 * TCK_FS);
    assert_int_equal(b->rrd_fs, 4 * TCK_FS); /* tRRD_S */
    assert_int_equal(b->faw_fs, 34 * TCK_FS);
    assert_int_equal(b->rtp_fs, 12 * TCK_FS);
    assert_int_equal(b->wr_fs, 24 * TCK_FS);
    assert_int_equal(b->wtr_fs, 4 * TCK_FS); /* tWTR_S */
    assert_int_equal(b->ccd_fs, 8 * TCK_FS);
    assert_int_equal(b->rtrs_fs, 1 * TCK_FS);
    assert_int_equal(b->refi_fs, 12480 * (int64_t)TCK_FS);
    assert_int_equal(b->rfc_fs, 560 * TCK_FS);
    assert_int_equal(b->burst_fs, 4 * TCK_FS); /* BL 8: 64 bytes */
    assert_int_equal(1 << b->channel_bits, 1);
    assert_int_equal(1 << b->rank_bits, 2); /* 16384 MB in ranks of 8192 */
    assert_int_equal(1 << b->group_bits, 4);
    assert_int_equal(1 << b->bank_bits, 4);
    assert_int_equal(1 << b->column_bits, 1024 / 8);
    assert_int_equal(1 << b->burst_bits, 64 / 8 * 8); /* bus_width 64, BL 8 */
    assert_int_equal(b->queue, 16);                   /* trans_queue_size */
    assert_int_equal(b->bank_queue, 8);               /* cmd_queue_size, PER_BANK */
    assert_int_equal(b->column_at, 0);                /* rochrababgco */
    assert_int_equal(b->group_at, b->column_at + b->column_bits);
    assert_int_equal(b->bank_at, b->group_at + b->group_bits);
    assert_int_equal(b->rank_at, b->bank_at + b->bank_bits);
    assert_int_equal(b->row_at, b->rank_at + b->rank_bits);
    any_topology_free(t);
}

/* Keys of banks do nothing beside a server; those of the third version of the keys are refused. */
static void keys_of_banks_need_banks(void **state)
{
    static const struct {
        int version;
        const char *hbm, *cubes;
        bool taken;
    } cases[] = {{3, "bank_queue: 8", "", false},
                 {3, "timing_ns: {rtrs: 1.0}", "", false},
                 {3, "bank_queue: 0, ranks: 1", "", true},
                 {3, "model: banks, bank_queue: 8", "", true},
                 {3, "bank_queue: 8", "cubes: {c1: {hbm: {model: banks}}}\n", true},
                 {3, "model: banks, bank_queue: 8", "cubes: {c1: {hbm: {model: server}}}\n", true},
                 {2, "bank_queue: 8, ranks: 2", "", true},
                 {1, "timing_ns: {ccd_l: 4.0}", "", true}};

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char yaml[240];
        const kb_topology *t;

        snprintf(yaml, sizeof yaml,
                 "kernbench: %d\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\n"
                 "cube: {hbm: {%s}}\n%s",
                 cases[i].version, cases[i].hbm, cases[i].cubes);
        t = any_topology(yaml);
        assert_true(!!t == cases[i].taken);
        if (t)
            any_topology_free(t);
    }
}

/* What is a default of version 3 may be asked for by a key before. */
static void defaults_of_a_later_version_may_be_given(void **state)
{
    static const char keys[] = "name: it\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                               "cube: {pe: {pe_tcm: {hold: own}}, hbm: {model: banks, "
                               "preset: hbm2_dramsim3, bank_queue: 8}}\n";

    (void)state;
    for (int version = 1; version <= 3; version++) {
        char yaml[240];
        const kb_topology *t;

        snprintf(yaml, sizeof yaml, "kernbench: %d\n%s", version, keys);
        t = any_topology(yaml);
        assert_non_null(t);
        assert_int_equal(kind_at(t, 0)->banks.bank_queue, 8);
        assert_int_equal(kind_at(t, 0)->tcm_read.hold, HOLD_OWN);
        any_topology_free(t);
    }
}

/* `hold` is of servers; slices with banks in one cube take the default of the version again. */
static void banks_of_one_cube_forget_hold(void **state)
{
    static const char *const given[] = {"", "cube: {hbm: {hold: route}}\n"};

    (void)state;
    for (size_t i = 0; i < LENGTH(given); i++) {
        char yaml[300];
        const kb_topology *t;

        snprintf(yaml, sizeof yaml,
                 "kernbench: 2\nname: two\nsip: {cube_mesh: {w: 2, h: 1}}\n%s"
                 "cubes: {c1: {hbm: {model: banks}}}\n",
                 given[i]);
        t = any_topology(yaml);
        assert_non_null(t);
        assert_int_equal(kind_at(t, 0)->hbm.hold, i ? HOLD_ROUTE : HOLD_OWN);
        assert_int_equal(kind_at(t, 1)->hbm.hold, HOLD_OWN);
        any_topology_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_contract),
        cmocka_unit_test(an_odd_pe_is_in_the_first_half),
        cmocka_unit_test(a_home_slice_is_behind_the_own_node_or_one_before),
        cmocka_unit_test(pes_are_numbered_without_gaps),
        cmocka_unit_test(what_is_missing_has_no_name_and_stars_skip_it),
        cmocka_unit_test(nodes_are_numbered_without_gaps),
        cmocka_unit_test(a_cube_on_the_way_costs_what_its_own_keys_say),
        cmocka_unit_test(the_last_item_that_names_a_cube_wins),
        cmocka_unit_test(keys_of_a_cube_are_its_own),
        cmocka_unit_test(keys_of_all_cubes_leave_one_kind),
        cmocka_unit_test(shards_go_equally_to_cubes_with_pes),
        cmocka_unit_test(kernels_count_what_is_there),
        cmocka_unit_test(parts_of_pes_that_share_a_slice_lie_behind_one_another),
        cmocka_unit_test(a_cube_may_have_another_dram),
        cmocka_unit_test(a_preset_is_that_of_the_version),
        cmocka_unit_test(the_ddr4_preset_is_that_of_its_simulator),
        cmocka_unit_test(keys_of_banks_need_banks),
        cmocka_unit_test(defaults_of_a_later_version_may_be_given),
        cmocka_unit_test(banks_of_one_cube_forget_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
