/* test_load.c -- the loader: defaults, what each type takes, --set, places, the resolved YAML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen/check.h"
#include "gen/component_code.h"
#include "gen/load.h"
#include "gen/net_load.h"
#include "gen/overrides.h"
#include "gen/resolve.h"
#include "gen/sets.h"
#include "gen/value.h"
#include "machine/tables.h"
#include <stdlib.h>
#include <string.h>

#define HEAD_2 "kernbench: 2\nname: t\nsip: {cube_mesh: {w: 4, h: 2}}\n"
#define HEAD   "kernbench: 1\nname: t\nsip: {cube_mesh: {w: 4, h: 2}}\n" /* three lines */

/* A spec and what is said about it. */
struct rig {
    struct arena arena;
    struct diag diag;
    struct spec spec;
    FILE *out;
    char *said;
    size_t n_said;
};

static void print(void *to, const char *line)
{
    fprintf(to, "%s\n", line);
}

static int set_up(void **state)
{
    struct rig *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->out = open_memstream(&r->said, &r->n_said);
    assert_non_null(r->out);
    r->diag = (struct diag){.say = print, .to = r->out, .program = "kbgen"};
    spec_init(&r->spec, &r->arena, &r->diag);
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;

    fclose(r->out);
    free(r->said);
    arena_release(&r->arena);
    free(r);
    return 0;
}

/* A fresh start: everything at its default, nothing said. */
static void start(struct rig *r)
{
    rewind(r->out);
    r->diag.n_errors = 0;
    r->diag.code = EXIT_OK;
    spec_init(&r->spec, &r->arena, &r->diag);
}

static bool load_string(struct rig *r, const char *text)
{
    return load_text(&r->spec, "t.yaml", text, strlen(text));
}

static const char *said(struct rig *r)
{
    fflush(r->out);
    r->said[ftell(r->out)] = 0;
    return r->said;
}

/* Design 2, the listing: every key in its order, with its default as the design writes it. */
static const char *const listing[][2] = {
    {"kernbench", "1"},
    {"contention.links", "ideal"},
    {"contention.segment_bytes", "256"},
    {"contention.packet_bytes", "4096"},
    {"contention.buffer_bytes", "1024"},
    {"contention.vcs", "[2, 2]"},
    {"contention.prios", "1"},
    {"contention.command_bytes", "0"},
    {"contention.credit_ns", "0.0"},
    {"contention.vc_alloc_ns", "0.0"},
    {"contention.arbiter", "age"},
    {"contention.input_speedup", "1"},
    {"contention.hop_links", "[]"},
    {"name", "t"},
    {"ns_per_mm", "0.01"},
    {"fabric.overhead_ns", "5.0"},
    {"fabric.distance_mm", "100.0"},
    {"fabric.bw_gbs", "64.0"},
    {"fabric.shape", "switch"},
    {"fabric.grid.w", "1"},
    {"fabric.grid.h", "1"},
    {"fabric.wrap", "none"},
    {"fabric.impl", "builtin"},
    {"fabric.tie", "low"},
    {"fabric.switches", "0"},
    {"fabric.net", "[]"},
    {"sips", "1"},
    {"sip.cube_mesh.w", "4"},
    {"sip.cube_mesh.h", "2"},
    {"sip.cube_mesh.wrap", "none"},
    {"sip.cube_mesh.wrap_mm", "0.0"},
    {"sip.cube_mesh.tie", "low"},
    {"sip.d2d.distance_mm", "1.0"},
    {"sip.d2d.bw_gbs", "128.0"},
    {"sip.io.pcie_ep.overhead_ns", "5.0"},
    {"sip.io.pcie_ep.impl", "builtin"},
    {"sip.io.io_cpu.overhead_ns", "10.0"},
    {"sip.io.link.distance_mm", "1.0"},
    {"sip.io.link.bw_gbs", "128.0"},
    {"sip.io.shore.distance_mm", "2.0"},
    {"sip.io.shore.bw_gbs", "128.0"},
    {"sip.planes", "[]"},
    {"sip.plane", "op"},
    {"sip.io_chiplets", "[W]"},
    {"sip.cubes", "0"},
    {"sip.net", "[]"},
    {"sip.io_cubes", "[]"},
    {"sip.paths", "1"},
    {"sip.routes.impl", "builtin"},
    {"cube.size_mm", "[15.0, 11.0]"},
    {"cube.pes", "8"},
    {"cube.ucie.overhead_ns", "1.0"},
    {"cube.ucie.impl", "builtin"},
    {"cube.noc.overhead_ns", "0.0"},
    {"cube.noc.attach_mm", "0.5"},
    {"cube.noc.bw_gbs", "128.0"},
    {"cube.noc.impl", "builtin"},
    {"cube.noc.reduce_ns", "0.0"},
    {"cube.noc.model", "bus"},
    {"cube.noc.mesh.cols", "6"},
    {"cube.noc.mesh.rows", "6"},
    {"cube.noc.mesh.bw_gbs", "128.0"},
    {"cube.noc.mesh.holes", "[]"},
    {"cube.m_cpu.overhead_ns", "5.0"},
    {"cube.m_cpu.pos_mm", "[7.5, 2.0]"},
    {"cube.m_cpu.dma_read", "1"},
    {"cube.m_cpu.dma_write", "1"},
    {"cube.sram.overhead_ns", "0.0"},
    {"cube.sram.pos_mm", "[1.5, 9.0]"},
    {"cube.sram.size_mb", "32"},
    {"cube.sram.size_kb", "0"},
    {"cube.sram.hold", "route"},
    {"cube.sram.latency_ns", "0.0"},
    {"cube.sram.bw_gbs", "0.0"},
    {"cube.sram.impl", "builtin"},
    {"cube.xbar.overhead_ns", "2.0"},
    {"cube.xbar.pe_mm", "6.0"},
    {"cube.xbar.pe_gbs", "256.0"},
    {"cube.xbar.chain_mm", "1.0"},
    {"cube.xbar.chain_gbs", "128.0"},
    {"cube.xbar.impl", "builtin"},
    {"cube.bridge.overhead_ns", "1.0"},
    {"cube.bridge.distance_mm", "3.0"},
    {"cube.bridge.bw_gbs", "128.0"},
    {"cube.hbm.overhead_ns", "0.0"},
    {"cube.hbm.distance_mm", "2.5"},
    {"cube.hbm.bw_gbs", "256.0"},
    {"cube.hbm.efficiency", "1.0"},
    {"cube.hbm.size_gb", "48"},
    {"cube.hbm.hold", "route"},
    {"cube.hbm.atomic", "write"},
    {"cube.hbm.latency_ns", "0.0"},
    {"cube.hbm.slices", "0"},
    {"cube.hbm.impl", "builtin"},
    {"cube.hbm.model", "server"},
    {"cube.hbm.channels", "8"},
    {"cube.hbm.burst_bytes", "64"},
    {"cube.hbm.map", "[row, bank, column, group, channel]"},
    {"cube.hbm.groups", "4"},
    {"cube.hbm.banks", "4"},
    {"cube.hbm.columns", "32"},
    {"cube.hbm.hash", "none"},
    {"cube.hbm.preset", "none"},
    {"cube.hbm.timing_ns.rcd", "14.0"},
    {"cube.hbm.timing_ns.rp", "14.0"},
    {"cube.hbm.timing_ns.cl", "14.0"},
    {"cube.hbm.timing_ns.cwl", "4.0"},
    {"cube.hbm.timing_ns.ras", "34.0"},
    {"cube.hbm.timing_ns.rrd", "4.0"},
    {"cube.hbm.timing_ns.faw", "30.0"},
    {"cube.hbm.timing_ns.rtp", "5.0"},
    {"cube.hbm.timing_ns.wr", "16.0"},
    {"cube.hbm.timing_ns.wtr", "7.0"},
    {"cube.hbm.timing_ns.rtw", "1.0"},
    {"cube.hbm.timing_ns.refi", "3900.0"},
    {"cube.hbm.timing_ns.rfc", "260.0"},
    {"cube.hbm.timing_ns.ctrl", "3.0"},
    {"cube.hbm.timing_ns.ccd_l", "0.0"},
    {"cube.hbm.timing_ns.rtrs", "0.0"},
    {"cube.hbm.queue", "32"},
    {"cube.hbm.policy", "fr_fcfs"},
    {"cube.hbm.write_ack", "accepted"},
    {"cube.hbm.refresh", "all"},
    {"cube.hbm.queue_bytes", "0"},
    {"cube.hbm.bank_queue", "0"},
    {"cube.hbm.ranks", "1"},
    {"cube.hbm.access_bytes", "0"},
    {"cube.hbm.ports", "1"},
    {"cube.hbm.cache.size_mb", "0.0"},
    {"cube.hbm.cache.line", "128"},
    {"cube.hbm.cache.ways", "16"},
    {"cube.hbm.cache.bw_gbs", "0.0"},
    {"cube.hbm.cache.latency_ns", "0.0"},
    {"cube.hbm.cache.policy", "lru"},
    {"cube.hbm.cache.write", "back"},
    {"cube.hbm.cache.mshrs", "0"},
    {"cube.pe.pe_cpu.overhead_ns", "2.0"},
    {"cube.pe.pe_scheduler.overhead_ns", "1.0"},
    {"cube.pe.pe_scheduler.tile", "[32, 64, 32]"},
    {"cube.pe.pe_scheduler.tile_buffers", "2"},
    {"cube.pe.pe_dma.overhead_ns", "0.0"},
    {"cube.pe.pe_dma.read_channels", "1"},
    {"cube.pe.pe_dma.write_channels", "1"},
    {"cube.pe.pe_dma.issue_ns", "0.0"},
    {"cube.pe.pe_dma.packet_bytes", "0"},
    {"cube.pe.pe_dma.tiles", "joined"},
    {"cube.pe.pe_dma.run_ns", "0.0"},
    {"cube.pe.pe_dma.ports", "1"},
    {"cube.pe.pe_tcm.size_mb", "16"},
    {"cube.pe.pe_tcm.read_gbs", "512.0"},
    {"cube.pe.pe_tcm.write_gbs", "512.0"},
    {"cube.pe.pe_tcm.hold", "route"},
    {"cube.pe.pe_tcm.read_ports", "1"},
    {"cube.pe.pe_tcm.write_ports", "1"},
    {"cube.pe.pe_tcm.line_bytes", "1"},
    {"cube.pe.pe_gemm.overhead_ns", "0.0"},
    {"cube.pe.pe_gemm.clock_ghz", "1.0"},
    {"cube.pe.pe_gemm.mac", "[16, 16, 16]"},
    {"cube.pe.pe_gemm.acc_kb", "256"},
    {"cube.pe.pe_gemm.rate.f64", "1.0"},
    {"cube.pe.pe_gemm.rate.f32", "1.0"},
    {"cube.pe.pe_gemm.rate.f16", "1.0"},
    {"cube.pe.pe_gemm.rate.bf16", "1.0"},
    {"cube.pe.pe_gemm.rate.f8", "1.0"},
    {"cube.pe.pe_gemm.rate.i64", "1.0"},
    {"cube.pe.pe_gemm.rate.i32", "1.0"},
    {"cube.pe.pe_gemm.rate.i16", "1.0"},
    {"cube.pe.pe_gemm.rate.i8", "1.0"},
    {"cube.pe.pe_gemm.rate.i4", "1.0"},
    {"cube.pe.pe_gemm.impl", "builtin"},
    {"cube.pe.pe_math.overhead_ns", "0.0"},
    {"cube.pe.pe_math.clock_ghz", "1.0"},
    {"cube.pe.pe_math.lanes", "64"},
    {"cube.pe.pe_math.special_cycles", "4"},
    {"cube.pe.pe_math.topk_width", "8"},
    {"cube.pe.pe_math.scan_cycles", "2"},
    {"cube.pe.pe_math.index_cycles", "4"},
    {"cube.pe.pe_math.random_cycles", "10"},
    {"cube.pe.pe_math.impl", "builtin"},
    {"cube.pe.pe_ipcq.slots", "4"},
    {"cube.pe.pe_ipcq.slot_bytes", "4096"},
    {"cube.pe.pe_ipcq.space", "tcm"},
    {"cube.pe.pe_fetch_store.convert", "false"},
    {"cube.transit", "all"},
    {"cube.l2.size_mb", "0.0"},
    {"cube.l2.line", "128"},
    {"cube.l2.ways", "16"},
    {"cube.l2.bw_gbs", "0.0"},
    {"cube.l2.pe_gbs", "0.0"},
    {"cube.l2.latency_ns", "0.0"},
    {"cube.l2.policy", "lru"},
    {"cube.l2.write", "back"},
    {"cube.l2.mshrs", "0"},
    {"cube.l2.at_launch", "keep"},
    {"missing", "[]"},
    {"broken", "[]"},
    {"cubes", "{}"},
    {"links", "{}"},
    {"kinds", "{}"},
    {"addressing.granule", "0"},
    {"addressing.over", "cube"},
    {"addressing.hash", "none"},
    {"software.launch_ns", "0.0"},
    {"software.call_ns", "0.0"},
    {"software.step_ns", "0.0"},
    {"software.unit", "sip"},
    {"energy.mac_pj.f64", "0.0"},
    {"energy.mac_pj.f32", "0.0"},
    {"energy.mac_pj.f16", "0.0"},
    {"energy.mac_pj.bf16", "0.0"},
    {"energy.mac_pj.f8", "0.0"},
    {"energy.mac_pj.i64", "0.0"},
    {"energy.mac_pj.i32", "0.0"},
    {"energy.mac_pj.i16", "0.0"},
    {"energy.mac_pj.i8", "0.0"},
    {"energy.math_pj", "0.0"},
    {"energy.tcm_pj_bit", "0.0"},
    {"energy.hbm_pj_bit", "0.0"},
    {"energy.noc_pj_bit_mm", "0.0"},
    {"energy.d2d_pj_bit", "0.0"},
    {"energy.fabric_pj_bit", "0.0"},
    {"energy.static_w", "0.0"},
};

static void places_reach_to_the_longest_path(void **state)
{
    int longest = 0;

    (void)state;
    for (enum key k = 0; k < N_KEYS; k++)
        longest = key_depth(k) > longest ? key_depth(k) : longest;
    assert_int_equal(longest, KEY_DEPTH);
}

static void defaults_are_those_of_the_listing(void **state)
{
    struct rig *r = *state;

    assert_true(load_string(r, HEAD));
    assert_true(check_spec(&r->spec));
    assert_int_equal(N_KEYS, sizeof(listing) / sizeof(listing[0]));
    for (enum key k = 0; k < N_KEYS; k++) {
        assert_string_equal(key_rows[k].path, listing[k][0]);
        assert_string_equal(value_text(&r->spec, k), listing[k][1]);
    }
}

static void keys_without_a_default_are_needed(void **state)
{
    (void)state;
    for (enum key k = 0; k < N_KEYS; k++) {
        bool needed = k == KEY_kernbench || k == KEY_name || k == KEY_sip_cube_mesh_w ||
                      k == KEY_sip_cube_mesh_h;

        assert_int_equal(key_rows[k].needed, needed);
    }
}

/* The default of a key in version 3, as the contract has it; its name is that of cube8.yaml. */
static const char *reference_value(enum key k)
{
    switch (k) {
    case KEY_kernbench:
        return "3";
    case KEY_name:
        return "cube8";
    case KEY_contention_links:
        return "fifo";
    case KEY_cube_sram_hold:
    case KEY_cube_hbm_hold:
    case KEY_cube_pe_pe_tcm_hold:
        return "own";
    case KEY_cube_pe_pe_dma_tiles:
        return "runs";
    case KEY_cube_hbm_slices:
        return "pes";
    default:
        return listing[k][1];
    }
}

/* cube8.yaml lists every key, each at its default in version 3. */
static void the_reference_lists_every_key(void **state)
{
    struct rig *r = *state;

    assert_true(load_file(&r->spec, "topologies/cube8.yaml"));
    assert_true(check_spec(&r->spec));
    for (enum key k = 0; k < N_KEYS; k++) {
        assert_int_equal(r->spec.given[k][key_depth(k)].at.kind, PLACE_FILE);
        assert_string_equal(value_text(&r->spec, k), reference_value(k));
    }
}

/* The loader walks keys.def mapping by mapping: the keys of one must stand together. */
static void keys_of_one_mapping_stand_together(void **state)
{
    (void)state;
    for (enum key k = 0; k < N_KEYS; k++)
        for (int d = 1; d <= key_depth(k); d++)
            for (enum key other = 0; other < k; other++)
                if (key_shares(k, other, d))
                    assert_true(key_first(k, d) <= other);
}

/* A value, and what is in the field after it; NULL when it is refused. */
struct taken {
    const char *key, *value, *text;
};

static const struct taken taken[] = {
    {"sips", "1", "1"},
    {"sips", "256", "256"},
    {"sips", "257", NULL},
    {"sips", "0", NULL},
    {"sips", "-1", NULL},
    {"sips", "2.0", NULL},
    {"sips", "'2'", NULL},
    {"sips", "\"2\"", NULL},
    {"sips", "+2", NULL},
    {"sips", "02", NULL},
    {"sips", "0x2", NULL},
    {"sips", "1_0", NULL},
    {"sips", "2 2", NULL},
    {"sips", "1e1", NULL},
    {"sips", "4294967297", NULL},
    {"sips", "18446744073709551617", NULL},
    {"sips", "[2]", NULL},
    {"cube.pe.pe_ipcq.slot_bytes", "1000000000", "1000000000"},
    {"cube.pe.pe_ipcq.slot_bytes", "1000000001", NULL},
    {"ns_per_mm", "2", "2.0"},
    {"ns_per_mm", "0", "0.0"},
    {"ns_per_mm", "1e6", "1000000.0"},
    {"ns_per_mm", "1E+6", "1000000.0"},
    {"ns_per_mm", "0.5e-7", "5.0e-08"},
    {"ns_per_mm", "0.1", "0.1"},
    {"ns_per_mm", "0.1000000000000000055511151231257827", "0.1"},
    {"ns_per_mm", "0.30000000000000004", "0.30000000000000004"},
    {"ns_per_mm", "123456.7890123456", "123456.7890123456"},
    {"ns_per_mm", "5e-324", "4.94065645841247e-324"},
    {"ns_per_mm", ".5", "0.5"},
    {"ns_per_mm", "5.", "5.0"},
    {"ns_per_mm", "1000000.1", NULL},
    {"ns_per_mm", "1e999", NULL},
    {"ns_per_mm", "-1", NULL},
    {"ns_per_mm", "-0.0", NULL},
    {"ns_per_mm", ".", NULL},
    {"ns_per_mm", "e5", NULL},
    {"ns_per_mm", "1e", NULL},
    {"ns_per_mm", "1e+", NULL},
    {"ns_per_mm", "01.5", NULL},
    {"ns_per_mm", "1.5.5", NULL},
    {"ns_per_mm", "0x1p3", NULL},
    {"ns_per_mm", "inf", NULL},
    {"ns_per_mm", ".inf", NULL},
    {"ns_per_mm", ".nan", NULL},
    {"ns_per_mm", "nan", NULL},
    {"ns_per_mm", "'1.5'", NULL},
    {"ns_per_mm", "true", NULL},
    {"ns_per_mm", "{}", NULL},
    {"cube.hbm.bw_gbs", "0.01", "0.01"},
    {"cube.hbm.bw_gbs", "0.00999999", NULL},
    {"cube.hbm.bw_gbs", "1e6", "1000000.0"},
    {"cube.hbm.bw_gbs", "1000000.01", NULL},
    {"cube.hbm.bw_gbs", "0", NULL},
    {"cube.hbm.efficiency", "1", "1.0"},
    {"cube.hbm.efficiency", "1e-3", "0.001"},
    {"cube.hbm.efficiency", "0", NULL},
    {"cube.hbm.efficiency", "1e-999", NULL},
    {"cube.hbm.efficiency", "1.0000001", NULL},
    {"name", "a", "a"},
    {"name", "'a_9'", "a_9"},
    {"name", "kbx", "kbx"},
    {"name", "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl",
     "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl"},
    {"name", "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklm", NULL},
    {"name", "A", NULL},
    {"name", "_a", NULL},
    {"name", "9a", NULL},
    {"name", "a-b", NULL},
    {"name", "a b", NULL},
    {"name", "a\xc3\xa9", NULL},
    {"name", "\"a\\0b\"", NULL},
    {"name", "\"\"", NULL},
    {"name", "kb", NULL},
    {"name", "tl", NULL},
    {"name", "gen", NULL},
    {"name", "kernbench", NULL},
    {"name", "kb_a", NULL},
    {"name", "tl_a", NULL},
    {"name", "gen_a", NULL},
    {"name", "'null'", NULL},
    {"name", "[a]", NULL},
    {"cube.size_mm", "[20, 12.5]", "[20.0, 12.5]"},
    {"cube.size_mm", "[20]", NULL},
    {"cube.size_mm", "[20, 20, 20]", NULL},
    {"cube.size_mm", "[20, '20']", NULL},
    {"cube.size_mm", "[20, -1]", NULL},
    {"cube.size_mm", "20", NULL},
    {"cube.size_mm", "{w: 20, h: 20}", NULL},
    {"cube.pe.pe_gemm.mac", "[1, 2, 65536]", "[1, 2, 65536]"},
    {"cube.pe.pe_gemm.mac", "[1, 2]", NULL},
    {"cube.pe.pe_gemm.mac", "[1, 2, 3, 4]", NULL},
    {"cube.pe.pe_gemm.mac", "[1, 2, 3.0]", NULL},
    {"cube.pe.pe_gemm.mac", "[0, 2, 3]", NULL},
    {"cube.pe.pe_gemm.mac", "[1, 2, 65537]", NULL},
    {"contention.links", "ideal", "ideal"},
    {"contention.links", "fifo", "fifo"},
    {"contention.links", "\"fifo\"", "fifo"},
    {"contention.links", "FIFO", NULL},
    {"contention.links", "fifo2", NULL},
    {"contention.links", "\"fifo\\0\"", NULL},
    {"contention.links", "1", NULL},
    {"cube.pe.pe_ipcq.space", "tcm", "tcm"},
    {"cube.pe.pe_ipcq.space", "sram", "sram"},
    {"cube.pe.pe_ipcq.space", "hbm", "hbm"},
    {"cube.pe.pe_ipcq.space", "fifo", NULL},
    {"kernbench", "2", "2"},
    {"kernbench", "0", NULL},
    {"kernbench", "4", NULL},
    {"cube.hbm.hold", "own", "own"},
    {"cube.hbm.hold", "slice", NULL},
    {"cube.hbm.atomic", "read_write", "read_write"},
    {"cube.hbm.atomic", "read", NULL},
    {"cube.hbm.latency_ns", "38", "38.0"},
    {"cube.hbm.latency_ns", "-1", NULL},
    {"cube.sram.latency_ns", "1000001", NULL},
    {"cube.sram.bw_gbs", "0", "0.0"},
    {"cube.sram.bw_gbs", "0.01", "0.01"},
    {"cube.sram.bw_gbs", "0.009", NULL},
    {"cube.sram.bw_gbs", "1000001", NULL},
};

static enum key key_of(const char *path)
{
    for (enum key k = 0; k < N_KEYS; k++)
        if (strcmp(key_rows[k].path, path) == 0)
            return k;
    fail_msg("no key %s", path);
    return N_KEYS;
}

static void try_taken(struct rig *r, const struct taken *t)
{
    enum key k = key_of(t->key);
    const char *before, *after;

    start(r);
    load_string(r, HEAD);
    before = value_text(&r->spec, k);
    if (sets_load(&r->spec, arena_printf(&r->arena, "%s=%s", t->key, t->value)) != !!t->text)
        fail_msg("%s: %s was %s", t->key, t->value, t->text ? "refused" : "taken");
    after = value_text(&r->spec, k);
    assert_string_equal(after, t->text ? t->text : before);
    assert_int_equal(diag_count(&r->diag), t->text ? 0 : 1);
    assert_int_equal(r->diag.code, t->text ? EXIT_OK : EXIT_USAGE);
    assert_int_equal(check_spec(&r->spec), !!t->text);
}

static void each_type_takes_its_values_and_no_others(void **state)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        try_taken(*state, &taken[i]);
}

static bool is_real(enum key k)
{
    return key_rows[k].type == KEY_REAL || key_rows[k].type == KEY_RATIO ||
           key_rows[k].type == KEY_RATE;
}

/* Any of the doubles that the key may have; another for each `i`. */
static double real_of(enum key k, int i)
{
    uint64_t bits = ((uint64_t)i * N_KEYS + k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    double share = (double)(bits >> 11) / (double)(UINT64_C(1) << 53);

    return key_rows[k].min + (key_rows[k].max - key_rows[k].min) * share;
}

/* Three defaults depend on the version, wherever the file or an option says it. */
static void the_version_decides_defaults(void **state)
{
    static const struct {
        const char *text, *set[2], *links, *slice, *sram;
    } cases[] = {
        {HEAD, {NULL}, "ideal", "route", "route"},
        {HEAD_2, {NULL}, "fifo", "own", "own"},
        {"contention: {links: ideal}\n" HEAD_2, {NULL}, "ideal", "own", "own"},
        {HEAD_2 "cube: {sram: {hold: route}}\n", {NULL}, "fifo", "own", "route"},
        {HEAD, {"kernbench=2"}, "fifo", "own", "own"},
        {HEAD_2, {"kernbench=1"}, "ideal", "route", "route"},
        {HEAD, {"cube.hbm.hold=route", "kernbench=2"}, "fifo", "route", "own"},
        {HEAD, {"kernbench=2", "contention.links=ideal"}, "ideal", "own", "own"},
    };
    struct rig *r = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(r);
        assert_true(load_string(r, cases[i].text));
        for (int set = 0; set < 2 && cases[i].set[set]; set++)
            assert_true(sets_load(&r->spec, cases[i].set[set]));
        assert_true(check_spec(&r->spec));
        assert_string_equal(value_text(&r->spec, KEY_contention_links), cases[i].links);
        assert_string_equal(value_text(&r->spec, KEY_cube_hbm_hold), cases[i].slice);
        assert_string_equal(value_text(&r->spec, KEY_cube_sram_hold), cases[i].sram);
    }
}

/* Two kinds of cubes, joined by one kind of links. */
static const char graph[] =
    "kernbench: 3\nname: a\nkinds: {base: {pes: 0, hbm: {slices: 2}}}\ncubes: {c1: base}\n"
    "links: {eth: {bw_gbs: 12.5, lanes: 2}}\n"
    "sip: {cubes: 2, net: [{all: 'c*', link: eth}]}\n"
    "cube: {noc: {attach_mm: 1.0}, xbar: {pe_mm: 1.0, chain_mm: 1.0}}\n";

/* A set number of a link, or key of a kind, is resolved as if the file said it. */
static void keys_of_links_and_kinds_are_set(void **state)
{
    static const struct {
        const char *set, *in;
    } good[] = {
        {"links.eth.bw_gbs=25", "eth: {bw_gbs: 25.0, lanes: 2}"},
        {"links.eth.lanes=4", "eth: {bw_gbs: 12.5, lanes: 4}"},
        {"links.eth.latency_ns=700", "eth: {bw_gbs: 12.5, lanes: 2, latency_ns: 700.0}"},
        {"kinds.base.hbm.slices=4", "base: {pes: 0, hbm: {slices: 4}}"},
        {"kinds.base.hbm.bw_gbs=512", "base: {pes: 0, hbm: {bw_gbs: 512.0, slices: 2}}"},
    };
    static const struct {
        const char *set, *why;
    } refused[] = {
        {"links.eth.lanes=0", "'links.lanes' must be 1..64, not '0'"},
        {"links.eht.lanes=1", "did you mean 'links.eth.lanes'?"},
        {"links.eth.lane=1", "did you mean 'links.eth.lanes'?"},
        {"kinds.base.hbm.slice=1", "unknown key"},
        {"kinds.bas.pes=1", "unknown key"},
    };
    struct rig *r = *state;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        start(r);
        assert_true(load_string(r, graph));
        assert_true(sets_load(&r->spec, good[i].set));
        net_say_links(&r->spec);
        overrides_say(&r->spec);
        assert_true(check_spec(&r->spec));
        if (!strstr(resolve(&r->spec), good[i].in))
            fail_msg("%s is not in\n%s", good[i].in, resolve(&r->spec));
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        start(r);
        assert_true(load_string(r, graph));
        assert_false(sets_load(&r->spec, refused[i].set));
        if (!strstr(said(r), refused[i].why))
            fail_msg("%s: %s", refused[i].set, said(r));
    }
}

/* The lines of the resolved YAML of `text` behind "size_" of the SRAM, and behind that of HBM. */
static void assert_new_lines(struct rig *r, const char *text, const char *sram, const char *hbm)
{
    const char *resolved, *after_sram, *after_hbm;

    start(r);
    assert_true(load_string(r, text));
    assert_true(check_spec(&r->spec));
    resolved = resolve(&r->spec);
    after_sram = strstr(resolved, "size_mb: 32\n");
    after_hbm = strstr(resolved, "size_gb: 48\n");
    assert_non_null(after_sram);
    assert_non_null(after_hbm);
    after_sram += strlen("size_mb: 32\n");
    after_hbm += strlen("size_gb: 48\n");
    assert_int_equal(strncmp(after_sram, sram, strlen(sram)), 0);
    assert_int_equal(strncmp(after_sram + strlen(sram), "  xbar:\n", 8), 0);
    assert_int_equal(strncmp(after_hbm, hbm, strlen(hbm)), 0);
    assert_int_equal(strncmp(after_hbm + strlen(hbm), "  pe:\n", 6), 0);
}

/* A new key is resolved only when it is not at the default of the file's version. */
static void new_keys_are_left_out_at_their_default(void **state)
{
    struct rig *r = *state;

    assert_new_lines(r, HEAD, "", "");
    assert_new_lines(r, HEAD "cube: {hbm: {hold: route, latency_ns: 0}}\n", "", "");
    assert_new_lines(r, HEAD "cube: {hbm: {latency_ns: 38, hold: own}}\n", "",
                     "    hold: own\n    latency_ns: 38.0\n");
    assert_new_lines(r, HEAD_2, "", "");
    assert_new_lines(r, HEAD_2 "cube: {hbm: {hold: own}, sram: {hold: route, bw_gbs: 512}}\n",
                     "    hold: route\n    bw_gbs: 512.0\n", "");
}

static void all_keys_are_listed(void **state)
{
    struct rig *r = *state;

    assert_true(load_string(r, HEAD));
    assert_non_null(strstr(resolve_keys(&r->spec), "cube.hbm.latency_ns=0.0\n"));
}

/* Bit for bit the same doubles, and the same text again. */
static void resolved_yaml_reads_back_to_the_same(void **state)
{
    struct rig *r = *state;

    for (int i = 0; i < 200; i++) {
        const char *text;

        start(r);
        load_string(r, HEAD "cube: {hbm: {hold: own}}\n"); /* as a cache wants it */
        for (enum key k = 0; k < N_KEYS; k++)
            if (is_real(k))
                *(double *)spec_field(&r->spec, k) = real_of(k, i);
        text = resolve(&r->spec);
        start(r);
        assert_true(load_string(r, text));
        assert_true(check_spec(&r->spec));
        assert_string_equal(resolve(&r->spec), text);
        for (enum key k = 0; k < N_KEYS; k++)
            if (is_real(k))
                assert_true(*(const double *)spec_value(&r->spec, k) == real_of(k, i));
        arena_release(&r->arena);
    }
}

static void any_key_changes_the_hash(void **state)
{
    struct rig *r = *state;
    const char *hash;

    load_string(r, HEAD);
    hash = resolve_hash(&r->spec, resolve(&r->spec));
    assert_int_equal(strlen(hash), HASH_CHARS);
    assert_string_equal(resolve_hash(&r->spec, resolve(&r->spec)), hash);
    assert_true(sets_load(&r->spec, "cube.pe.pe_ipcq.space=hbm"));
    assert_string_not_equal(resolve_hash(&r->spec, resolve(&r->spec)), hash);
}

/* Later stages blame a key at the place of its value; a default at the mapping without it. */
static void a_key_knows_where_its_value_came_from(void **state)
{
    struct rig *r = *state;
    struct place at;

    load_string(r, HEAD "cube:\n  hbm: {bw_gbs: 7}\n");
    at = spec_place(&r->spec, KEY_cube_hbm_bw_gbs);
    assert_int_equal(at.kind, PLACE_FILE);
    assert_int_equal(at.line, 5);
    assert_int_equal(at.col, 17);
    at = spec_place(&r->spec, KEY_cube_hbm_efficiency);
    assert_int_equal(at.line, 5);
    assert_int_equal(at.col, 3);
    at = spec_place(&r->spec, KEY_fabric_bw_gbs);
    assert_int_equal(at.line, 1);
    assert_int_equal(at.col, 1);
    sets_load(&r->spec, "cube.hbm.bw_gbs=8");
    at = spec_place(&r->spec, KEY_cube_hbm_bw_gbs);
    assert_int_equal(at.kind, PLACE_SET);
    assert_string_equal(at.name, "--set cube.hbm.bw_gbs=8");
}

/* Design 2.1, the counts of nodes. */
static void nodes_are_those_computed_by_hand(void **state)
{
    static const struct {
        const char *file;
        int64_t nodes;
    } counts[] = {{"topologies/cube1.yaml", 84},
                  {"topologies/cube8.yaml", 651},
                  {"topologies/cube16.yaml", 1299},
                  {"topologies/tray32.yaml", 2599},
                  {"topologies/mesh1024.yaml", 82947}};
    struct rig *r = *state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        start(r);
        assert_true(load_file(&r->spec, counts[i].file));
        assert_int_equal(count_nodes(&r->spec), counts[i].nodes);
    }
    start(r);
    assert_true(load_file(&r->spec, "topologies/cube1.yaml"));
    assert_true(sets_load(&r->spec, "cube.pes=1")); /* no bridges */
    assert_int_equal(count_nodes(&r->spec), 7 + 2 + 7 + 3);
}

/* Design 2: at most 2^24 nodes; a place on the edge of the cube is inside. */
static void the_limits_are_inside(void **state)
{
    struct rig *r = *state;

    assert_true(load_string(r, "kernbench: 1\nname: t\nsip: {cube_mesh: {w: 128, h: 128}}\n"
                               "sips: 12\ncube: {m_cpu: {pos_mm: [15, 11]}}\n"));
    assert_true(check_spec(&r->spec));
    assert_true(sets_load(&r->spec, "sips=13"));
    assert_false(check_spec(&r->spec));
    assert_string_equal(said(r), "--set sips=13: the topology has 17252392 nodes, more than "
                                 "16777216\n");
}

/* The number of a word is the machine's constant for it. */
static void words_are_in_the_order_of_the_machine(void **state)
{
    const char *const *links = key_rows[KEY_contention_links].words;
    const char *const *spaces = key_rows[KEY_cube_pe_pe_ipcq_space].words;

    (void)state;
    assert_string_equal(links[MODE_IDEAL], "ideal");
    assert_string_equal(links[MODE_FIFO], "fifo");
    assert_string_equal(spaces[QUEUE_TCM], "tcm");
    assert_string_equal(spaces[QUEUE_SRAM], "sram");
    assert_string_equal(spaces[QUEUE_HBM], "hbm");
    assert_string_equal(key_rows[KEY_cube_hbm_hold].words[HOLD_OWN], "own");
    assert_string_equal(key_rows[KEY_cube_sram_hold].words[HOLD_OWN], "own");
}

/* A name in the file goes with the file's text: the spec keeps its own. */
static void the_spec_outlives_the_text(void **state)
{
    struct rig *r = *state;
    char text[] = HEAD "contention: {links: fifo}\n";

    assert_true(load_text(&r->spec, "t.yaml", text, strlen(text)));
    memset(text, 'x', sizeof(text));
    assert_string_equal(r->spec.name, "t");
    assert_int_equal(r->spec.contention_links, MODE_FIFO);
}

static void a_file_may_have_a_mebibyte_and_no_more(void **state)
{
    struct rig *r = *state;
    char *text = test_malloc(FILE_BYTES_MAX + 1);

    memset(text, '\n', FILE_BYTES_MAX + 1);
    memcpy(text, HEAD, strlen(HEAD));
    assert_true(load_text(&r->spec, "t.yaml", text, FILE_BYTES_MAX));
    start(r);
    assert_false(load_text(&r->spec, "t.yaml", text, FILE_BYTES_MAX + 1));
    assert_string_equal(said(r), "t.yaml:1:1: larger than 1 MiB\n");
    test_free(text);
}

/* A byte order mark and CR LF are what some editors write. */
static void editors_may_mark_and_end_lines_as_they_like(void **state)
{
    struct rig *r = *state;

    assert_true(load_string(r, "\xef\xbb\xbfkernbench: 1\r\nname: t\r\n"
                               "sip: {cube_mesh: {w: 4, h: 2}}\r\nsips: 2\r\n"));
    assert_true(check_spec(&r->spec));
    assert_int_equal(r->spec.sips, 2);
}

/* docs/components.md: a whole number is an enum, `_ns` is fs, any other a double. */
static void keys_of_components_are_constants(void **state)
{
    struct component_key keys[] = {{.name = "ways", .integer = true},
                                   {.name = "open_ns"},
                                   {.name = "share"},
                                   {.name = "per_cent"}};
    const struct component c = {
        .name = "bank2", .path = "bank2.c", .text = "", .keys = keys, .n_keys = 4};
    const struct part part = {.component = &c, .values = (double[]){3, 1.5, 0.25, 7}};
    static const char *const lines[] = {
        "enum { BANK2_WAYS = 3 };\n",
        "__attribute__((unused)) static const int64_t BANK2_OPEN_FS = INT64_C(1500000);\n",
        "__attribute__((unused)) static const double BANK2_SHARE = 0.25;\n",
        "__attribute__((unused)) static const double BANK2_PER_CENT = 7.0;\n"};
    struct rig *r = *state;
    const char *code;

    r->spec.arena = &r->arena;
    r->spec.parts = &part;
    code = component_code(&r->spec);
    for (size_t i = 0; i < 4; i++)
        assert_non_null(strstr(code, lines[i]));
}

static void the_arena_fits_any_type(void **state)
{
    struct rig *r = *state;

    for (size_t size = 0; size < 100; size++) {
        const char *p = arena_alloc(&r->arena, size);

        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
    }
    memset(arena_alloc(&r->arena, 1 << 20), 'x', 1 << 20);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(places_reach_to_the_longest_path),
        T(defaults_are_those_of_the_listing),
        T(keys_without_a_default_are_needed),
        T(the_reference_lists_every_key),
        T(keys_of_one_mapping_stand_together),
        T(each_type_takes_its_values_and_no_others),
        T(the_version_decides_defaults),
        T(keys_of_links_and_kinds_are_set),
        T(new_keys_are_left_out_at_their_default),
        T(all_keys_are_listed),
        T(resolved_yaml_reads_back_to_the_same),
        T(any_key_changes_the_hash),
        T(a_key_knows_where_its_value_came_from),
        T(nodes_are_those_computed_by_hand),
        T(the_limits_are_inside),
        T(words_are_in_the_order_of_the_machine),
        T(the_spec_outlives_the_text),
        T(a_file_may_have_a_mebibyte_and_no_more),
        T(keys_of_components_are_constants),
        T(the_arena_fits_any_type),
        T(editors_may_mark_and_end_lines_as_they_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
