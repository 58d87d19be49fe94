/* chip.c -- ranks of a machine, and figures of a PE from its keys. */
#include "cli/llm/chip.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One key, and the member that it sets. */
static double *member(struct chip *c, const char *path)
{
    static const struct {
        const char *path;
        size_t at;
    } keys[] = {
        {"cube.pe.pe_gemm.clock_ghz", offsetof(struct chip, clock_ghz)},
        {"cube.pe.pe_gemm.rate.bf16", offsetof(struct chip, rate)},
        {"cube.pe.pe_dma.read_channels", offsetof(struct chip, channels)},
        {"cube.pe.pe_dma.issue_ns", offsetof(struct chip, issue_ns)},
        {"cube.pe.pe_tcm.read_gbs", offsetof(struct chip, tcm_gbs)},
        {"cube.pe.pe_tcm.read_ports", offsetof(struct chip, tcm_ports)},
        {"ns_per_mm", offsetof(struct chip, energy.ns_per_mm)},
        {"energy.mac_pj.f64", offsetof(struct chip, energy.mac_pj[0])},
        {"energy.mac_pj.f32", offsetof(struct chip, energy.mac_pj[1])},
        {"energy.mac_pj.f16", offsetof(struct chip, energy.mac_pj[2])},
        {"energy.mac_pj.bf16", offsetof(struct chip, energy.mac_pj[3])},
        {"energy.mac_pj.f8", offsetof(struct chip, energy.mac_pj[4])},
        {"energy.mac_pj.i64", offsetof(struct chip, energy.mac_pj[5])},
        {"energy.mac_pj.i32", offsetof(struct chip, energy.mac_pj[6])},
        {"energy.mac_pj.i16", offsetof(struct chip, energy.mac_pj[7])},
        {"energy.mac_pj.i8", offsetof(struct chip, energy.mac_pj[8])},
        {"energy.math_pj", offsetof(struct chip, energy.math_pj)},
        {"energy.tcm_pj_bit", offsetof(struct chip, energy.tcm_pj_bit)},
        {"energy.hbm_pj_bit", offsetof(struct chip, energy.hbm_pj_bit)},
        {"energy.noc_pj_bit_mm", offsetof(struct chip, energy.noc_pj_bit_mm)},
        {"energy.d2d_pj_bit", offsetof(struct chip, energy.d2d_pj_bit)},
        {"energy.fabric_pj_bit", offsetof(struct chip, energy.fabric_pj_bit)},
        {"energy.static_w", offsetof(struct chip, energy.static_w)},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(path, keys[i].path) == 0)
            return (double *)((char *)c + keys[i].at);
    return NULL;
}

static void take_mac(struct chip *c, const char *text)
{
    unsigned mac[3] = {1, 1, 1};

    sscanf(text, "[%u, %u, %u]", &mac[0], &mac[1], &mac[2]);
    for (int i = 0; i < 3; i++)
        c->mac[i] = mac[i];
}

/* Of the machine, and of the cube of the first PE: all but its memory. */
static void take_key(void *arg, const kb_key *key)
{
    struct chip *c = arg;
    double *at = member(c, key->path);

    if (strncmp(key->path, "energy.", 7) == 0 && key->value > 0)
        c->energy.is_known = true;
    if (strcmp(key->path, "addressing.granule") == 0)
        c->round = (uint64_t)key->value;

    if (at)
        *at = key->value;
    else if (strcmp(key->path, "cube.pe.pe_gemm.mac") == 0)
        take_mac(c, key->text);
    else if (strcmp(key->path, "cube.pe.pe_gemm.acc_kb") == 0)
        c->acc_bytes = (int64_t)key->value * 1024;
    else if (strcmp(key->path, "cube.pe.pe_cpu.overhead_ns") == 0 ||
             strcmp(key->path, "cube.pe.pe_scheduler.overhead_ns") == 0)
        c->command_ns += key->value;
    else if (strcmp(key->path, "cube.l2.size_mb") == 0)
        c->has_flat_memory = c->has_flat_memory && key->value == 0;
    else if (strstr(key->path, ".impl") && strcmp(key->text, "builtin") != 0)
        c->has_plain_pes = c->has_flat_memory = false;
}

/* Of the cube of its slice. */
static void take_memory_key(void *arg, const kb_key *key)
{
    struct chip *c = arg;

    if (strcmp(key->path, "cube.hbm.bw_gbs") == 0)
        c->slice_gbs = key->value;
    else if (strcmp(key->path, "cube.hbm.efficiency") == 0)
        c->slice_gbs *= key->value;
    else if (strcmp(key->path, "cube.hbm.latency_ns") == 0)
        c->lat_ns = key->value;
    else if (strcmp(key->path, "cube.hbm.model") == 0)
        c->has_flat_memory = c->has_flat_memory && strcmp(key->text, "server") == 0;
    else if (strcmp(key->path, "cube.hbm.cache.size_mb") == 0)
        c->has_flat_memory = c->has_flat_memory && key->value == 0;
}

/* Cubes with PEs have the same keys, or PEs are not alike; cubes with slices, or memories. */
static void compare_cubes(struct chip *c)
{
    kb_cube pes = {0}, slices = {0}, found;

    for (uint32_t i = 0; i < c->info.sips * c->info.cubes_per_sip; i++) {
        if (kb_cube_get(c->topo, i / c->info.cubes_per_sip, i % c->info.cubes_per_sip, &found) !=
            KB_OK)
            continue;
        if (found.n_pes > 0) {
            c->has_plain_pes = c->has_plain_pes && (pes.n_pes == 0 || pes.keys == found.keys);
            pes = found;
        }
        if (found.n_slices > 0) {
            c->has_flat_memory =
                c->has_flat_memory && (slices.n_slices == 0 || slices.keys == found.keys);
            slices = found;
        }
    }
}

/* What keys say of the first PE and of its slice, whose cubes may have others than the machine. */
static kb_status take_keys(struct chip *c)
{
    kb_endpoint pe, slice;
    kb_status status;

    if (kb_pe_get(c->topo, 0, &pe) != KB_OK || kb_pe_slice(c->topo, 0, &slice) != KB_OK)
        return kb_topology_keys(c->topo, take_key, c);
    status = kb_cube_keys(c->topo, pe.sip, pe.cube, take_key, c);
    return status ? status : kb_cube_keys(c->topo, slice.sip, slice.cube, take_memory_key, c);
}

/* Adds the PEs of a cube; *slices: how many slices it has. */
static uint32_t add_cube(struct chip *c, uint32_t sip, uint32_t cube, uint32_t n, uint32_t *slices)
{
    kb_cube found;

    *slices = 0;
    if (kb_cube_get(c->topo, sip, cube, &found) != KB_OK)
        return 0;
    for (uint32_t i = 0; i < found.n_pes; i++)
        c->order[n + i] = found.first_pe + i;
    *slices = found.n_slices;
    return found.n_pes;
}

/* PEs in order; *even: all units have as many. `by_cube`: a unit is a cube. */
static bool take_units(struct chip *c, bool by_cube)
{
    uint32_t n = 0, before, slices, most = 0;
    uint32_t *lap = memory_new(c->info.cubes_per_sip, sizeof *lap);
    bool even = true;

    c->units = c->unit_pes = 0;
    kb_cube_lap(c->topo, lap);
    for (uint32_t s = 0; s < c->info.sips; s++) {
        before = n;
        for (uint32_t i = 0; i < c->info.cubes_per_sip; i++) {
            uint32_t pes = add_cube(c, s, lap[i], n, &slices);

            n += pes;
            most = slices > most ? slices : most;
            if (by_cube && pes > 0) {
                even = even && slices > 0 && (c->units == 0 || pes == c->unit_pes);
                c->unit_pes = pes;
                c->units++;
            }
        }
        if (!by_cube) {
            even = even && (c->units == 0 || n - before == c->unit_pes);
            c->unit_pes = n - before;
            c->units++;
        }
    }
    free(lap);
    return even;
}

/* The most slices of any unit; of a cube whose addresses go round a SIP, all there are. */
static uint32_t slices_of_unit(const struct chip *c)
{
    uint32_t most = 0, of_sip = 0;
    kb_cube cube;

    if (strcmp(c->unit, "machine") == 0 || (c->round > 0 && strcmp(c->unit, "cube") == 0))
        return kb_slice_count(c->topo);
    for (uint32_t i = 0; i < c->info.sips * c->info.cubes_per_sip; i++) {
        uint32_t at = i % c->info.cubes_per_sip;
        bool is_there = kb_cube_get(c->topo, i / c->info.cubes_per_sip, at, &cube) == KB_OK;

        of_sip = strcmp(c->unit, "cube") == 0 || at == 0 ? 0 : of_sip;
        of_sip += is_there ? cube.n_slices : 0;
        most = of_sip > most ? of_sip : most;
    }
    return most;
}

/* Has each PE so many bytes in its memory? Simulations place them, so it is one that says so. */
static bool has_room(const struct chip *c, uint64_t bytes)
{
    static const kb_placement each = {KB_REPLICATE, KB_REPLICATE};
    kb_sim *sim = NULL;
    kb_tensor *room;
    kb_error why;
    bool has =
        bytes > 0 && kb_sim_new(c->topo, &(kb_options){.no_values = true}, &sim) == KB_OK &&
        kb_tensor_new(sim, "room", KB_U8, KB_SHAPE((int64_t)bytes), each, &room, &why) == KB_OK;

    kb_sim_free(sim);
    return has;
}

/*
 * The most bytes that each PE can have, in steps of ROOM_STEP; `all`: the machine has no more.
 * Where some slices are no PE's, or have more PEs than others, it is less than a PE's share of all.
 */
static uint64_t largest_room(const struct chip *c, uint64_t all)
{
    enum { ROOM_STEP = 256 };
    uint64_t low = 0, high = all / ROOM_STEP + 1, at = all / kb_pe_count(c->topo) / ROOM_STEP;

    if (has_room(c, at * ROOM_STEP))
        low = at;
    if (low > 0 && !has_room(c, (at + 1) * ROOM_STEP))
        high = at + 1;
    while (high - low > 1) {
        at = (low + high) / 2;
        *(has_room(c, at * ROOM_STEP) ? &low : &high) = at;
    }
    return low * ROOM_STEP;
}

static enum exit_code make_ranks(const struct cli *cli, struct chip *c)
{
    uint32_t pes = kb_pe_count(c->topo);
    bool by_cube = c->info.sips == 1;

    c->order = memory_new(pes + 1, sizeof *c->order);
    c->unit = by_cube ? "cube" : "sip";
    if (!take_units(c, by_cube)) {
        if (!by_cube)
            return cmd_say(cli, EXIT_USAGE, "llm needs SIPs with the same number of PEs");
        c->unit = "machine";
        c->units = 1;
        c->unit_pes = pes;
    }
    kb_endpoint slice = {0};
    c->unit_slices = slices_of_unit(c);
    if (kb_pe_slice(c->topo, 0, &slice) == KB_OK)
        c->unit_bytes = c->unit_pes *
                        largest_room(c, kb_memory_bytes(c->topo, &slice) * kb_slice_count(c->topo));
    return EXIT_OK;
}

static struct way way_to(const struct chip *c, uint32_t pe)
{
    kb_endpoint src, dst;
    kb_cost cost;
    kb_error why;

    if (kb_pe_get(c->topo, c->order[0], &src) != KB_OK ||
        kb_pe_slice(c->topo, c->order[pe], &dst) != KB_OK ||
        kb_route_cost(c->topo, KB_READ, &src, &dst, 1, &cost, &why) != KB_OK)
        return (struct way){c->lat_ns, c->slice_gbs};
    return (struct way){(double)(kb_formula_fs(&cost) - cost.drain_fs) / 1e6, cost.bottleneck_gbs};
}

/* The mean of times, and of times of a byte. */
static void take_ways(struct chip *c)
{
    double ns = 0, byte_ns = 0, others = (double)c->unit_pes - 1;

    c->own = c->other = way_to(c, 0);
    for (uint32_t i = 1; i < c->unit_pes; i++) {
        struct way way = way_to(c, i);

        ns += way.ns / others;
        byte_ns += 1 / way.gbs / others;
    }
    if (others > 0)
        c->other = (struct way){ns, 1 / byte_ns};
}

static bool says(const kb_info *info, const char *text)
{
    return strstr(info->config, text);
}

/* Between two cubes others pass their NoC from port to port, where cubes are units: a way of its
 * own, unless the NoC is a mesh. */
static bool has_lone_units(const struct chip *c)
{
    if (c->round > 0 || says(&c->info, "space: hbm")) /* its memories are those of others, too */
        return false;
    if (c->info.sips > 1)
        return !kb_sips_pass(c->topo);
    return !c->info.noc_mesh;
}

/* Is there one way at most between two cubes of a SIP? */
static bool has_one_way(const struct chip *c, uint32_t sip)
{
    uint32_t n = c->info.cubes_per_sip;

    for (uint32_t pair = 0; pair < n * n; pair++)
        if (kb_ways(c->topo, sip * n + pair / n, sip * n + pair % n) > 1)
            return false;
    return true;
}

/* Do ids decide nothing inside of a unit, and are they drawn behind the barriers of leaps? */
static bool has_ways_outside(const struct chip *c)
{
    for (uint32_t sip = 0; c->info.sips > 1 && sip < c->info.sips; sip++)
        if (!has_one_way(c, sip))
            return false;
    return c->units > 1 && c->unit_pes > 1 && c->command_ns > 0;
}

static bool is_like(const struct chip *c, uint32_t sip, uint32_t cube, const kb_cube *first)
{
    kb_cube found = {0};

    if (kb_cube_get(c->topo, sip, cube, &found) != KB_OK)
        return first->n_pes == 0;
    return found.keys == first->keys && found.n_pes == first->n_pes &&
           found.n_slices == first->n_slices && found.crossbars == first->crossbars &&
           memcmp(found.pes, first->pes, sizeof found.pes) == 0;
}

/* Cubes with PEs, or SIPs, all of whose links are whole. */
static bool has_like_units(const struct chip *c)
{
    kb_cube first = {0};

    if (c->info.sips > 1 && c->info.broken)
        return false;
    for (uint32_t i = 0; i < c->info.sips * c->info.cubes_per_sip; i++) {
        uint32_t sip = i / c->info.cubes_per_sip, cube = i % c->info.cubes_per_sip;
        kb_cube found = {0};
        bool is_there = kb_cube_get(c->topo, sip, cube, &found) == KB_OK;

        if (c->info.sips > 1) {
            first = (kb_cube){0};
            kb_cube_get(c->topo, 0, cube, &first);
        } else if (first.n_pes == 0 || !is_there || found.n_pes == 0) {
            first = first.n_pes == 0 ? found : first;
            continue;
        }
        if (!is_like(c, sip, cube, &first))
            return false;
    }
    return true;
}

/* By what is in its keys: banks, caches and blocks ask where bytes lie, a component may, and
 * routers and hashes take turns by the number of a transaction. */
static bool repeats_places(const kb_info *info)
{
    static const char *const asks[] = {
        "links: router", "model: banks", "cache:", "l2:", "impl:", "access_bytes:", "hash"};

    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (says(info, asks[i]))
            return false;
    return true;
}

enum exit_code chip_of(const struct cli *cli, struct chip *out)
{
    *out = (struct chip){.topo = cli->topo,
                         .info = cli->info,
                         .rate = 1,
                         .has_plain_pes = true,
                         .has_flat_memory = true};
    if (take_keys(out) != KB_OK)
        return cmd_say(cli, EXIT_SYSTEM, "cannot read the keys of the machine");
    compare_cubes(out);
    out->has_plain_memory = out->has_flat_memory && out->round == 0;
    out->takes_turns = cli->info.paths > 1;
    out->leaps = repeats_places(&cli->info);
    out->repeats = out->leaps && !out->takes_turns;
    out->forgets = out->repeats && out->round == 0;
    out->round *= kb_slice_count(cli->topo);
    out->has_like_units = has_like_units(out);
    out->tcm_bytes = (int64_t)kb_memory_bytes(cli->topo, &(kb_endpoint){.kind = KB_TCM});
    enum exit_code code = make_ranks(cli, out);
    if (!code && out->unit_pes > 0)
        take_ways(out);
    out->has_lone_units = has_lone_units(out);
    if (out->takes_turns && !has_ways_outside(out))
        out->leaps = false;
    return code;
}

double chip_flops_per_ns(const struct chip *c)
{
    return 2 * c->mac[0] * c->mac[1] * c->mac[2] * c->clock_ghz * c->rate * c->unit_pes;
}

kb_status chip_host_fs(const struct chip *c, uint32_t pe, bool load, uint64_t bytes, int64_t *fs,
                       kb_error *why)
{
    kb_endpoint host = {.kind = KB_HOST}, slice, at;
    kb_cost cost;
    kb_status status = kb_pe_slice(c->topo, pe, &slice);

    if (!status)
        status = kb_pe_get(c->topo, pe, &at);
    host.sip = at.sip;
    if (!status)
        status = kb_route_cost(c->topo, load ? KB_H2D : KB_D2H, &host, &slice, bytes, &cost, why);
    *fs = status ? 0 : kb_formula_fs(&cost);
    return status;
}

void chip_free(struct chip *chip)
{
    free(chip->order);
}
