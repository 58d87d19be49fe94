/* values.c -- the values of a topology YAML: given, default, of one cube, and lists. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/*
 * The keys of docs/formats.md "Topology YAML", typed again from its text. A third word is the
 * default of files of version 2, where it differs, a fourth that of version 3.
 */
static const char *const defaults[][4] = {
    {"kernbench", ""},
    {"name", ""},
    {"contention.links", "ideal", "fifo"},
    {"contention.segment_bytes", "256"},
    {"contention.packet_bytes", "4096"},
    {"contention.buffer_bytes", "1024"},
    {"contention.vcs.0", "2"},
    {"contention.vcs.1", "2"},
    {"contention.prios", "1"},
    {"contention.command_bytes", "0"},
    {"contention.credit_ns", "0.0"},
    {"contention.vc_alloc_ns", "0.0"},
    {"contention.arbiter", "age"},
    {"contention.input_speedup", "1"},
    {"ns_per_mm", "0.01"},
    {"fabric.overhead_ns", "5.0"},
    {"fabric.distance_mm", "100.0"},
    {"fabric.bw_gbs", "64.0"},
    {"fabric.shape", "switch"},
    {"fabric.impl", "builtin"},
    {"fabric.grid.w", "1"},
    {"fabric.grid.h", "1"},
    {"fabric.wrap", "none"},
    {"fabric.tie", "low"},
    {"fabric.switches", "0"},
    {"sips", "1"},
    {"sip.cube_mesh.w", ""},
    {"sip.cube_mesh.h", ""},
    {"sip.cube_mesh.wrap", "none"},
    {"sip.cube_mesh.wrap_mm", "0"},
    {"sip.cube_mesh.tie", "low"},
    {"sip.plane", "op"},
    {"sip.cubes", "0"},
    {"sip.paths", "1"},
    {"sip.d2d.distance_mm", "1.0"},
    {"sip.d2d.bw_gbs", "128.0"},
    {"sip.io.pcie_ep.overhead_ns", "5.0"},
    {"sip.io.pcie_ep.impl", "builtin"},
    {"sip.routes.impl", "builtin"},
    {"sip.io.io_cpu.overhead_ns", "10.0"},
    {"sip.io.link.distance_mm", "1.0"},
    {"sip.io.link.bw_gbs", "128.0"},
    {"sip.io.shore.distance_mm", "2.0"},
    {"sip.io.shore.bw_gbs", "128.0"},
    {"cube.size_mm.0", "15.0"},
    {"cube.size_mm.1", "11.0"},
    {"cube.pes", "8"},
    {"cube.ucie.overhead_ns", "1.0"},
    {"cube.ucie.impl", "builtin"},
    {"cube.noc.overhead_ns", "0.0"},
    {"cube.noc.attach_mm", "0.5"},
    {"cube.noc.bw_gbs", "128.0"},
    {"cube.noc.impl", "builtin"},
    {"cube.noc.reduce_ns", "0.0"},
    {"cube.noc.gate.interval_ns", "4.0"},
    {"cube.noc.model", "bus"},
    {"cube.noc.mesh.cols", "6"},
    {"cube.noc.mesh.rows", "6"},
    {"cube.noc.mesh.bw_gbs", "128.0"},
    {"cube.m_cpu.overhead_ns", "5.0"},
    {"cube.m_cpu.pos_mm.0", "7.5"},
    {"cube.m_cpu.pos_mm.1", "2.0"},
    {"cube.m_cpu.dma_read", "1"},
    {"cube.m_cpu.dma_write", "1"},
    {"cube.sram.overhead_ns", "0.0"},
    {"cube.sram.pos_mm.0", "1.5"},
    {"cube.sram.pos_mm.1", "9.0"},
    {"cube.sram.size_mb", "32"},
    {"cube.sram.size_kb", "0"},
    {"cube.sram.hold", "route", "own"},
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
    {"cube.hbm.slices", "0", NULL, "pes"},
    {"cube.hbm.hold", "route", "own"},
    {"cube.hbm.atomic", "write"},
    {"cube.hbm.latency_ns", "0.0"},
    {"cube.hbm.impl", "builtin"},
    {"cube.hbm.model", "server"},
    {"cube.hbm.channels", "8"},
    {"cube.hbm.burst_bytes", "64"},
    {"cube.hbm.map.0", "row"},
    {"cube.hbm.map.1", "bank"},
    {"cube.hbm.map.2", "column"},
    {"cube.hbm.map.3", "group"},
    {"cube.hbm.map.4", "channel"},
    {"cube.hbm.map.5", "none"}, /* five fields: the rank comes behind the row */
    {"cube.hbm.groups", "4"},
    {"cube.hbm.banks", "4"},
    {"cube.hbm.columns", "32"},
    {"cube.hbm.hash", "none"},
    {"cube.hbm.preset", "none"}, /* hbm2_dramsim3 is the same */
    {"cube.hbm.timing_ns.rcd", "14"},
    {"cube.hbm.timing_ns.rp", "14"},
    {"cube.hbm.timing_ns.cl", "14"},
    {"cube.hbm.timing_ns.cwl", "4"},
    {"cube.hbm.timing_ns.ras", "34"},
    {"cube.hbm.timing_ns.rrd", "4"},
    {"cube.hbm.timing_ns.faw", "30"},
    {"cube.hbm.timing_ns.rtp", "5"},
    {"cube.hbm.timing_ns.wr", "16"},
    {"cube.hbm.timing_ns.wtr", "7"},
    {"cube.hbm.timing_ns.rtw", "1"},
    {"cube.hbm.timing_ns.refi", "3900"},
    {"cube.hbm.timing_ns.rfc", "260"},
    {"cube.hbm.timing_ns.ctrl", "3"},
    {"cube.hbm.timing_ns.ccd_l", "0"},
    {"cube.hbm.timing_ns.rtrs", "0"},
    {"cube.hbm.queue", "32"},
    {"cube.hbm.policy", "fr_fcfs"},
    {"cube.hbm.write_ack", "accepted"},
    {"cube.hbm.refresh", "all"},
    {"cube.hbm.queue_bytes", "0"},
    {"cube.hbm.bank_queue", "0"},
    {"cube.hbm.ranks", "1"},
    {"cube.hbm.access_bytes", "0"},
    {"cube.hbm.cache.size_mb", "0.0"},
    {"cube.hbm.cache.line", "128"},
    {"cube.hbm.cache.ways", "16"},
    {"cube.hbm.cache.bw_gbs", "0.0"},
    {"cube.hbm.cache.latency_ns", "0.0"},
    {"cube.hbm.cache.policy", "lru"},
    {"cube.hbm.cache.write", "back"},
    {"cube.hbm.cache.mshrs", "0"},
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
    {"cube.pe.pe_gemm.impl", "builtin"},
    {"cube.pe.pe_math.impl", "builtin"},
    {"cube.pe.pe_cpu.overhead_ns", "2.0"},
    {"cube.pe.pe_scheduler.overhead_ns", "1.0"},
    {"cube.pe.pe_scheduler.tile.0", "32"},
    {"cube.pe.pe_scheduler.tile.1", "64"},
    {"cube.pe.pe_scheduler.tile.2", "32"},
    {"cube.pe.pe_scheduler.tile_buffers", "2"},
    {"cube.pe.pe_dma.overhead_ns", "0.0"},
    {"cube.pe.pe_dma.read_channels", "1"},
    {"cube.pe.pe_dma.write_channels", "1"},
    {"cube.pe.pe_dma.issue_ns", "0.0"},
    {"cube.pe.pe_dma.packet_bytes", "0"},
    {"cube.pe.pe_dma.tiles", "joined", NULL, "runs"},
    {"cube.pe.pe_dma.run_ns", "0"},
    {"cube.pe.pe_tcm.size_mb", "16"},
    {"cube.pe.pe_tcm.read_gbs", "512.0"},
    {"cube.pe.pe_tcm.write_gbs", "512.0"},
    {"cube.pe.pe_tcm.hold", "route", NULL, "own"},
    {"cube.hbm.ports", "1"},
    {"cube.pe.pe_dma.ports", "1"},
    {"cube.pe.pe_tcm.read_ports", "1"},
    {"cube.pe.pe_tcm.write_ports", "1"},
    {"cube.pe.pe_tcm.line_bytes", "1"},
    {"cube.pe.pe_gemm.overhead_ns", "0.0"},
    {"cube.pe.pe_gemm.clock_ghz", "1.0"},
    {"cube.pe.pe_gemm.mac.0", "16"},
    {"cube.pe.pe_gemm.mac.1", "16"},
    {"cube.pe.pe_gemm.mac.2", "16"},
    {"cube.pe.pe_gemm.acc_kb", "256"},
    {"cube.pe.pe_gemm.rate.f64", "1"},
    {"cube.pe.pe_gemm.rate.f32", "1"},
    {"cube.pe.pe_gemm.rate.f16", "1"},
    {"cube.pe.pe_gemm.rate.bf16", "1"},
    {"cube.pe.pe_gemm.rate.f8", "1"},
    {"cube.pe.pe_gemm.rate.i64", "1"},
    {"cube.pe.pe_gemm.rate.i32", "1"},
    {"cube.pe.pe_gemm.rate.i16", "1"},
    {"cube.pe.pe_gemm.rate.i8", "1"},
    {"cube.pe.pe_gemm.rate.i4", "1"},
    {"cube.pe.pe_math.overhead_ns", "0.0"},
    {"cube.pe.pe_math.clock_ghz", "1.0"},
    {"cube.pe.pe_math.lanes", "64"},
    {"cube.pe.pe_math.special_cycles", "4"},
    {"cube.pe.pe_math.topk_width", "8"},
    {"cube.pe.pe_math.scan_cycles", "2"},
    {"cube.pe.pe_math.index_cycles", "4"},
    {"cube.pe.pe_math.random_cycles", "10"},
    {"cube.pe.pe_ipcq.slots", "4"},
    {"cube.pe.pe_ipcq.slot_bytes", "4096"},
    {"cube.pe.pe_ipcq.space", "tcm"},
    {"cube.pe.pe_fetch_store.convert", "false"},
    {"cube.transit", "all"},
    {"cube.kind", ""},
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

/* Before the name of a kind, where the cubes of an override stand. */
enum { OF_KIND = '=' };

enum { N_DEFAULTS = sizeof defaults / sizeof defaults[0] };

/* Lists, whose items have keys such as "missing.0" and "sip.planes.1.name". */
static const char *const lists[] = {
    "sip.planes.", "sip.io_chiplets.", "missing.", "broken.",     "cube.noc.mesh.holes.",
    "sip.net.",    "sip.io_cubes.",    "links.",   "fabric.net.", "contention.hop_links."};

/* Where the key is in `slots`, or where it would be. */
static size_t slot_of(const struct judge_topo *t, const char *key)
{
    size_t slot = judge_hash(key) % JUDGE_KEY_SLOTS;

    while (t->slots[slot] && strcmp(t->values[t->slots[slot] - 1].key, key) != 0)
        slot = (slot + 1) % JUDGE_KEY_SLOTS;
    return slot;
}

/* The known keys come first; items of lists and overrides stand behind them. */
static struct judge_value *value_of(const struct judge_topo *t, const char *key)
{
    size_t known = t->slots[slot_of(t, key)];
    struct judge_value *found = known ? &t->values[known - 1] : NULL;

    for (size_t i = N_DEFAULTS; !found && i < t->n_values; i++) {
        if (!*t->values[i].cubes && strcmp(t->values[i].key, key) == 0)
            found = &t->values[i];
    }
    return found;
}

static bool is_in_list(const char *key)
{
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strncmp(key, lists[i], strlen(lists[i])) == 0)
            return true;
    }
    return false;
}

static void add_value(struct judge_topo *t, const char *cubes, const char *key, const char *text)
{
    struct judge_value *v;

    t->values = judge_grow(t->values, t->n_values + 1, sizeof *t->values);
    v = &t->values[t->n_values++];
    memset(v, 0, sizeof *v);
    if (strlen(cubes) >= sizeof v->cubes || strlen(key) >= sizeof v->key ||
        strlen(text) >= sizeof v->text)
        judge_die("too long: %s %s %s", cubes, key, text);
    strcpy(v->cubes, cubes);
    strcpy(v->key, key);
    strcpy(v->text, text);
    v->number = strtod(text, NULL);
}

/* `cubes` is "" or the pattern of an override, which is added behind all others. */
static bool set_value(struct judge_topo *t, const char *cubes, const char *key, const char *text)
{
    struct judge_value *v = value_of(t, key);

    if (!v && !is_in_list(key)) {
        fprintf(stderr, "judge: %s: unknown key\n", key);
        return false;
    }
    if (!v || *cubes) {
        add_value(t, cubes, key, text);
        return true;
    }
    if (strlen(text) >= sizeof v->text)
        judge_die("%s: the value is too long", key);
    strcpy(v->text, text);
    v->number = strtod(text, NULL);
    v->given = true;
    return true;
}

static void set_defaults(struct judge_topo *t)
{
    for (size_t i = 0; i < N_DEFAULTS; i++) {
        size_t slot = slot_of(t, defaults[i][0]);

        add_value(t, "", defaults[i][0], defaults[i][1]);
        t->slots[slot] = (uint16_t)t->n_values;
    }
}

static void set_version(struct judge_topo *t)
{
    for (size_t version = 2; version <= judge_number(t, "kernbench"); version++) {
        for (size_t i = 0; i < N_DEFAULTS; i++) {
            if (defaults[i][version] && !value_of(t, defaults[i][0])->given)
                strcpy(value_of(t, defaults[i][0])->text, defaults[i][version]);
        }
    }
}

double judge_number(const struct judge_topo *t, const char *key)
{
    const struct judge_value *v = value_of(t, key);

    if (!v)
        judge_die("asked for the unknown key %s", key);
    return v->number;
}

uint32_t judge_count(const struct judge_topo *t, const char *key)
{
    return (uint32_t)judge_number(t, key);
}

const char *judge_text(const struct judge_topo *t, const char *key)
{
    const struct judge_value *v = value_of(t, key);

    if (!v)
        judge_die("asked for the unknown key %s", key);
    return v->text;
}

const char *judge_item(const struct judge_topo *t, const char *list, uint32_t i, const char *of)
{
    char key[JUDGE_KEY_BYTES];
    const struct judge_value *v;

    snprintf(key, sizeof key, "%s.%u%s", list, i, of);
    v = value_of(t, key);
    return v ? v->text : NULL;
}

const char *judge_below(const struct judge_topo *t, const char *path, const char *name,
                        const char *of)
{
    char key[JUDGE_KEY_BYTES];
    const struct judge_value *v;

    snprintf(key, sizeof key, "%s.%s.%s", path, name, of);
    v = value_of(t, key);
    return v ? v->text : NULL;
}

struct judge_list judge_texts(const struct judge_topo *t, const char *list)
{
    struct judge_list found = {0};
    const char *item;

    for (uint32_t i = 0; (item = judge_item(t, list, i, "")); i++) {
        found.items = judge_grow(found.items, found.n + 1, sizeof *found.items);
        found.items[found.n++] = item;
    }
    return found;
}

/* -- one cube's own ------------------------------------------------------------------------- */

/* All values of a kind. */
static void take_kind(const struct judge_topo *t, const char *kind, struct judge_cube *out)
{
    for (size_t i = N_DEFAULTS; i < t->n_values; i++) {
        const struct judge_value *v = &t->values[i];

        if (*v->cubes == OF_KIND && strcmp(v->cubes + 1, kind) == 0)
            out->values[value_of(t, v->key) - t->values] = v;
    }
}

/* The last override that matches the cube, or the value of all cubes. */
void judge_find_values(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                       struct judge_cube *out)
{
    out->values = judge_alloc(N_DEFAULTS, sizeof *out->values);
    for (size_t i = 0; i < N_DEFAULTS; i++)
        out->values[i] = &t->values[i];
    for (size_t i = N_DEFAULTS; i < t->n_values; i++) {
        const struct judge_value *v = &t->values[i];

        if (!*v->cubes || *v->cubes == OF_KIND || !judge_matches(t, v->cubes, sip, cube, SIZE_MAX))
            continue;
        if (strcmp(v->key, "cube.kind") == 0)
            take_kind(t, v->text, out);
        else
            out->values[value_of(t, v->key) - t->values] = v;
    }
}

static void give(const struct judge_topo *t, struct judge_cube *out, const char *key,
                 const char *text, double number)
{
    struct judge_value *v = &t->of_switches[t->slots[slot_of(t, key)] - 1];

    snprintf(v->text, sizeof v->text, "%s", text);
    v->number = number;
    out->values[v - t->of_switches] = v;
}

/* "A fabric.switch is a switch cube: keys of cube, pes 0, slices 0, noc.overhead_ns =
 * fabric.overhead_ns, noc.bw_gbs 1e6." Routes may pass it. */
void judge_make_switch(const struct judge_topo *t, struct judge_cube *out)
{
    give(t, out, "cube.pes", "0", 0);
    give(t, out, "cube.hbm.slices", "0", 0);
    give(t, out, "cube.noc.overhead_ns", "", judge_number(t, "fabric.overhead_ns"));
    give(t, out, "cube.noc.bw_gbs", "1e6", 1e6);
    give(t, out, "cube.transit", "all", 0);
}

static const struct judge_value *of_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                                         const char *key)
{
    size_t known = t->slots[slot_of(t, key)];

    if (!known)
        judge_die("asked for the unknown key %s", key);
    return t->cube[(size_t)sip * t->cubes + cube].values[known - 1];
}

double judge_cube_number(const struct judge_topo *t, uint32_t sip, uint32_t cube, const char *key)
{
    return of_cube(t, sip, cube, key)->number;
}

uint32_t judge_cube_count(const struct judge_topo *t, uint32_t sip, uint32_t cube, const char *key)
{
    return (uint32_t)of_cube(t, sip, cube, key)->number;
}

const char *judge_cube_text(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                            const char *key)
{
    return of_cube(t, sip, cube, key)->text;
}

/* -- YAML ----------------------------------------------------------------------------------- */

/* A map by its name, "low" or "high", is the same as its fields. */
static bool set_map(struct judge_topo *t, const char *cubes, const char *name)
{
    static const char *const maps[2][6] = {{"row", "bank", "column", "group", "channel", "none"},
                                           {"row", "group", "bank", "channel", "column", "none"}};
    bool high = strcmp(name, "high") == 0;

    if (!high && strcmp(name, "low") != 0) {
        fprintf(stderr, "judge: cube.hbm.map: unknown name %s\n", name);
        return false;
    }
    for (int i = 0; i < 6; i++) {
        char key[JUDGE_KEY_BYTES];

        snprintf(key, sizeof key, "cube.hbm.map.%d", i);
        set_value(t, cubes, key, maps[high][i]);
    }
    return true;
}

/* The kind of a row of `cubes` comes before its other keys, wherever it stands. */
static bool set_kind_first(struct judge_topo *t, yaml_document_t *doc, const yaml_node_t *n,
                           const char *cubes)
{
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++)
        if (strcmp((const char *)yaml_document_get_node(doc, p->key)->data.scalar.value, "kind") ==
            0)
            return set_value(
                t, cubes, "cube.kind",
                (const char *)yaml_document_get_node(doc, p->value)->data.scalar.value);
    return true;
}

/* Sets a value for every scalar below `n`; `key` is the way to it, "cube.hbm". */
static bool flatten(struct judge_topo *t, yaml_document_t *doc, const yaml_node_t *n,
                    const char *cubes, const char *key)
{
    char below[JUDGE_KEY_BYTES] = "";
    bool ok = true;

    if (n->type == YAML_SCALAR_NODE && *cubes && strcmp(key, "cube") == 0)
        return set_value(t, cubes, "cube.kind", (const char *)n->data.scalar.value);
    if (n->type == YAML_SCALAR_NODE && strcmp(key, "cube.hbm.map") == 0)
        return set_map(t, cubes, (const char *)n->data.scalar.value);
    if (n->type == YAML_SCALAR_NODE)
        return set_value(t, cubes, key, (const char *)n->data.scalar.value);
    if (n->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
             i++) {
            snprintf(below, sizeof below, "%s.%d", key, (int)(i - n->data.sequence.items.start));
            ok = flatten(t, doc, yaml_document_get_node(doc, *i), cubes, below) && ok;
        }
        if (strcmp(below, "cube.hbm.map.4") == 0) /* another map may have had a sixth field */
            ok = set_value(t, cubes, "cube.hbm.map.5", "none") && ok;
        return ok;
    }
    if (*cubes && *cubes != OF_KIND && strcmp(key, "cube") == 0)
        ok = set_kind_first(t, doc, n, cubes);
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const char *name = (const char *)yaml_document_get_node(doc, p->key)->data.scalar.value;
        const yaml_node_t *value = yaml_document_get_node(doc, p->value);

        snprintf(below, sizeof below, "%s%s%s", key, *key ? "." : "", name);
        if (strcmp(below, "cube.kind") == 0)
            continue; /* set_kind_first() */
        if (strcmp(key, "kinds") == 0) {
            char kind[JUDGE_NAME_BYTES];

            snprintf(kind, sizeof kind, "%c%s", OF_KIND, name);
            ok = flatten(t, doc, value, kind, "cube") && ok;
        } else if (strcmp(key, "cubes") == 0)
            ok = flatten(t, doc, value, name, "cube") && ok;
        else
            ok = flatten(t, doc, value, cubes, below) && ok;
    }
    return ok;
}

bool judge_read_values(struct judge_topo *t, struct yaml_parser_s *parser)
{
    yaml_document_t doc;
    const yaml_node_t *root;
    bool ok;

    set_defaults(t);
    if (!yaml_parser_load(parser, &doc)) {
        fprintf(stderr, "judge: line %zu: %s\n", parser->problem_mark.line + 1, parser->problem);
        return false;
    }
    root = yaml_document_get_root_node(&doc);
    ok = root && root->type == YAML_MAPPING_NODE && flatten(t, &doc, root, "", "");
    yaml_document_delete(&doc);
    set_version(t);
    if (ok && judge_count(t, "sip.cubes") > 0)
        return true;
    if (ok && judge_count(t, "sip.cube_mesh.w") > 0 && judge_count(t, "sip.cube_mesh.h") > 0)
        return true;
    fprintf(stderr, "judge: this is no topology\n");
    return false;
}
