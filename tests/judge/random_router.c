/* random_router.c -- small odd machines whose links have routers. */
#include "dice.h"
#include "judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define ANY(list)   (list)[below(rng, COUNT(list))]

/* What the parts of a machine agree on. */
struct plan {
    uint32_t w, h, pes, packets; /* of a packet: its segments; 0: whole transactions */
    uint32_t segment, group;     /* bytes; VCs of a class and priority */
    bool mesh, holes;            /* inside the cubes */
    bool gaps;                   /* parts may be missing or broken */
    bool net;                    /* a part of VCs for each link of a route, perhaps */
    bool counts;                 /* or for each of some kinds */
};

static void print_overhead(FILE *out, struct dice *rng)
{
    static const char *const some[] = {"0.0", "0.000001", "1.0", "1.5", "2", "4.0", "8.0"};

    fprintf(out, "overhead_ns: %s", chance(rng, rng->zero_per_cent) ? "0.0" : ANY(some));
}

static void print_length(FILE *out, struct dice *rng, const char *key)
{
    static const char *const some[] = {"0.0", "0.5", "1.0", "2.5", "0.00475", "100.0"};

    fprintf(out, "%s: %s", key, chance(rng, rng->zero_per_cent) ? "0.0" : ANY(some));
}

static void print_gbs(FILE *out, struct dice *rng, const char *key)
{
    static const char *const some[] = {"3.0", "7", "16.0", "64.0", "128.0", "1000000.0"};

    if (rng->no_delays)
        fprintf(out, "%s: %d.0", key, 16 << below(rng, 3));
    else
        fprintf(out, "%s: %s", key, rng->one_gbs ? "16.0" : ANY(some));
}

static void print_box(FILE *out, struct dice *rng, const char *key)
{
    fprintf(out, "    %s: {", key);
    print_overhead(out, rng);
    fputs("}\n", out);
}

/* By dice of their own: other keys are as without. Banks know no allocation. */
static void print_more_contention(FILE *out, const struct dice *rng, const struct plan *p)
{
    static const char *const allocations[] = {"0.000001", "0.5", "1.0", "1.0", "3.0"};
    struct dice more = {.state = rng->state ^ UINT64_C(0xa110c)};

    if (chance(&more, 40) && !rng->no_delays && rng->slices != BANKS)
        fprintf(out, ", vc_alloc_ns: %s", allocations[below(&more, COUNT(allocations))]);
    if (p->counts && chance(&more, 40))
        fprintf(out, ", hop_links: [%s]", chance(&more, 50) ? "a" : "b, d2d");
}

/* Rings need two VCs of each class and priority. */
static void print_contention(FILE *out, struct dice *rng, struct plan *p)
{
    static const uint32_t segments[] = {16, 32, 64, 256, 1024}, packets[] = {0, 0, 1, 2, 4, 5};
    static const char *const credits[] = {"0.0", "0.0", "1.0", "0.000001", "3.5"};
    uint32_t prios = chance(rng, p->net ? 100 : 75) ? 1 : 2, buffer, requests;
    const char *credit;

    p->segment = ANY(segments);
    p->packets = ANY(packets);
    p->group = 1 + below(rng, p->net ? 8 : 3);
    buffer = p->segment * (1 + below(rng, 5));
    requests = prios * p->group;
    fprintf(out, "contention: {links: router, segment_bytes: %" PRIu32, p->segment);
    fprintf(out, ", packet_bytes: %" PRIu32, p->segment * p->packets);
    fprintf(out, ", buffer_bytes: %" PRIu32, chance(rng, 15) ? 0 : buffer);
    fprintf(out, ", vcs: [%" PRIu32 ", %" PRIu32 "], prios: %" PRIu32, requests,
            prios * (chance(rng, 50) ? p->group : p->group + 1), prios);
    fprintf(out, ", command_bytes: %" PRIu32, chance(rng, 40) ? 1 + below(rng, 64) : 0);
    credit = ANY(credits);
    fprintf(out, ", credit_ns: %s", rng->no_delays ? "0.0" : credit);
    print_more_contention(out, rng, p);
    fprintf(out, ", arbiter: %s", chance(rng, 50) ? "rr" : "age");
    fprintf(out, ", input_speedup: %" PRIu32 "}\n", 1 + below(rng, 4));
}

static void print_planes(FILE *out, struct dice *rng, bool one_way)
{
    static const char *const rules[] = {"op", "hash", "column"};

    if (one_way)
        fputs("  planes: [{name: a, dirs: [E, S]}, {name: b, dirs: [N, W], order: yx}]\n", out);
    else
        fputs("  planes: [{name: a}, {name: b, order: yx, bw_gbs: 32.0}]\n", out);
    fprintf(out, "  plane: %s\n", ANY(rules));
}

static void print_sip(FILE *out, struct dice *rng, struct plan *p)
{
    static const char *const wraps[] = {"x", "y", "xy"};
    uint32_t w = 1 + below(rng, 4), h = 1 + below(rng, 3);
    struct dice tie = {.state = ~rng->state};
    bool wrap = p->group > 1 && chance(rng, 30), one_way = wrap && chance(rng, 40);

    p->w = w;
    p->h = h;
    fprintf(out, "sip:\n  cube_mesh: {w: %" PRIu32 ", h: %" PRIu32 ", wrap: %s%s}\n  d2d: {", w, h,
            one_way ? "xy"
            : wrap  ? ANY(wraps)
                    : "none",
            wrap && chance(&tie, 50) ? ", tie: spread" : "");
    print_length(out, rng, "distance_mm");
    print_gbs(out, rng, ", bw_gbs");
    fputs("}\n", out);
    if (one_way || chance(rng, 20))
        print_planes(out, rng, one_way);
    if (chance(rng, 30))
        fputs("  io_chiplets: [W, E]\n", out);
    fputs("  io:\n", out);
    print_box(out, rng, "pcie_ep");
    print_box(out, rng, "io_cpu");
    fputs("    link: {", out);
    print_length(out, rng, "distance_mm");
    print_gbs(out, rng, ", bw_gbs");
    fputs("}\n    shore: {", out);
    print_length(out, rng, "distance_mm");
    print_gbs(out, rng, ", bw_gbs");
    fputs("}\n", out);
}

/* A mesh inside the cubes, now and then with a hole that cuts nothing off. */
void judge_print_mesh(FILE *out, struct dice *rng, bool holes)
{
    uint32_t cols = 1 + below(rng, 4), rows = 1 + below(rng, 4);

    fprintf(out, ", model: mesh, mesh: {cols: %" PRIu32 ", rows: %" PRIu32, cols, rows);
    print_gbs(out, rng, ", bw_gbs");
    if (holes && cols > 2 && rows > 2 && chance(rng, 50))
        fputs(", holes: [[1, 1]]", out);
    fputc('}', out);
}

static void print_memory(FILE *out, struct dice *rng, const struct plan *p, bool hbm)
{
    static const char *const latency[] = {"38", "0.000001", "4.75"};

    print_overhead(out, rng);
    if (hbm && rng->slices == BANKS) {
        if (chance(rng, 50))
            print_gbs(out, rng, ", bw_gbs");
        judge_print_banks(out, rng);
        if (p->packets && chance(rng, 30))
            fprintf(out, ", queue_bytes: %" PRIu32,
                    p->segment * p->packets + below(rng, 3) * p->segment);
        return;
    }
    if (hbm && rng->slices == CACHES) {
        struct dice keys = {.state = rng->state ^ 0xcac4e, .no_delays = rng->no_delays};

        judge_print_cache(out, &keys, false);
    } else {
        fprintf(out, ", hold: %s", chance(rng, 70) ? "own" : "route");
    }
    if (chance(rng, rng->no_delays ? 0 : 30))
        fprintf(out, ", latency_ns: %s", ANY(latency));
    if (!hbm || chance(rng, 50))
        print_gbs(out, rng, ", bw_gbs");
    if (hbm && p->packets && chance(rng, 30))
        fprintf(out, ", queue_bytes: %" PRIu32,
                p->segment * p->packets + below(rng, 3) * p->segment);
}

static void print_cube(FILE *out, struct dice *rng, struct plan *p)
{
    static const uint32_t pes[] = {1, 1, 2, 3, 4, 6, 7};
    static const uint32_t slices[] = {0, 0, 1, 2, 5};
    uint32_t n_slices;

    p->pes = ANY(pes);
    if (p->pes > 4 && (p->group < 2 || p->w * p->h > 4))
        p->pes = 2;
    fprintf(out, "cube:\n  pes: %" PRIu32 "\n  size_mm: [%" PRIu32 ".5, %" PRIu32 ".0]\n", p->pes,
            1 + below(rng, 20), 1 + below(rng, 20));
    fputs("  ucie: {", out);
    print_overhead(out, rng);
    fputs("}\n  noc: {", out);
    print_overhead(out, rng);
    print_length(out, rng, ", attach_mm");
    print_gbs(out, rng, ", bw_gbs");
    if (p->mesh)
        judge_print_mesh(out, rng, p->holes);
    fputs("}\n  m_cpu: {", out);
    print_overhead(out, rng);
    fprintf(out, ", pos_mm: [0.25, 1.0], dma_read: %" PRIu32, 1 + below(rng, 3));
    fprintf(out, ", dma_write: %" PRIu32 "}\n  sram: {", 1 + below(rng, 3));
    print_memory(out, rng, p, false);
    fputs(", pos_mm: [1.5, 0.0]}\n  xbar: {", out);
    print_overhead(out, rng);
    print_length(out, rng, ", pe_mm");
    print_gbs(out, rng, ", pe_gbs");
    print_length(out, rng, ", chain_mm");
    print_gbs(out, rng, ", chain_gbs");
    fputs("}\n  bridge: {", out);
    print_overhead(out, rng);
    print_gbs(out, rng, ", bw_gbs");
    fputs("}\n  hbm: {", out);
    print_memory(out, rng, p, true);
    judge_print_servers(out, rng->state);
    n_slices = ANY(slices); /* 0 is none in version 3 of the keys, which nets have */
    fprintf(out, "%s, slices: %" PRIu32 ", size_gb: 4}\n  pe: {pe_dma: {",
            rng->slices == BANKS || p->net ? "" : any_access(rng->state),
            n_slices || !p->net ? n_slices : p->pes);
    print_overhead(out, rng);
    fprintf(out, ", read_channels: %" PRIu32, 1 + below(rng, 3) * below(rng, 3));
    fprintf(out, ", write_channels: %" PRIu32, 1 + below(rng, 3) * below(rng, 3));
    judge_print_servers(out, rng->state);
    fprintf(out, ", issue_ns: %s, packet_bytes: %s%s}}\n", any_pace(rng->state),
            any_packet(rng->state), p->net ? ", tiles: joined" : any_tiles(rng->state));
}

/* Routes around a cube, a link, a link one way. */
static void print_gaps(FILE *out, struct dice *rng, const struct plan *p)
{
    uint32_t at = below(rng, p->w * p->h), east = at + 1, south = at + p->w;

    if (p->w * p->h < 3)
        return;
    if (chance(rng, 40))
        fprintf(out, "missing: [c%" PRIu32 "]\n", below(rng, p->w * p->h));
    else if (at % p->w + 1 < p->w && chance(rng, 60))
        fprintf(out, "broken: [c%" PRIu32 "%cc%" PRIu32 "]\n", at, chance(rng, 50) ? '-' : '>',
                east);
    else if (south < p->w * p->h)
        fprintf(out, "broken: [c%" PRIu32 "%cc%" PRIu32 "]\n", at, chance(rng, 50) ? '-' : '>',
                south);
}

static void print_machine(FILE *out, uint64_t seed, bool any, enum slices slices)
{
    static const uint32_t zero_per_cent[] = {0, 20, 60, 100};
    static const char *const ns_per_mm[] = {"0.01", "1", "0.00775", "0.0"};
    struct dice dice = {.state = seed ^ UINT64_C(0x90c7e4), .slices = slices}, *rng = &dice;
    struct plan p = {.gaps = any};
    const char *wire;
    uint32_t sips;

    dice.zero_per_cent = ANY(zero_per_cent);
    dice.one_gbs = chance(rng, 40);
    draw_delays(rng, NULL, seed);
    wire = ANY(ns_per_mm);
    fprintf(out, "kernbench: %d\nname: routers%" PRIu64 "\n", 1 + chance(rng, 50), seed);
    fprintf(out, "ns_per_mm: %s\n", dice.no_delays ? "0.0" : wire);
    print_contention(out, rng, &p);
    sips = chance(rng, 80) ? 1 : 2 + below(rng, 2);
    fprintf(out, "sips: %" PRIu32 "\nfabric: {", sips);
    print_overhead(out, rng);
    print_gbs(out, rng, ", bw_gbs");
    if (sips > 1 && chance(rng, 50))
        fprintf(out, ", shape: grid, grid: {w: %" PRIu32 ", h: 1}", sips);
    fputs("}\n", out);
    print_sip(out, rng, &p);
    /* not in several cubes: the judge lacks the shares of VCs that keep their meshes apart */
    p.holes = any || p.w * p.h * sips == 1;
    p.mesh = chance(rng, 50) && p.holes;
    print_cube(out, rng, &p);
    if (p.gaps)
        print_gaps(out, rng, &p);
}

void judge_random_routers(FILE *out, uint64_t seed)
{
    print_machine(out, seed, false, SERVERS);
}

void judge_random_detours(FILE *out, uint64_t seed)
{
    print_machine(out, seed, true, SERVERS);
}

/* A net, with VCs enough for routes of some links. */
void judge_random_router_nets(FILE *out, uint64_t seed)
{
    static const uint32_t zero_per_cent[] = {0, 20, 60, 100};
    struct dice dice = {.state = seed ^ UINT64_C(0x7e75)}, *rng = &dice;
    struct plan p = {.w = 2 + below(rng, 9), .h = 1};
    struct dice more = {.state = seed ^ UINT64_C(0x51b5)};
    uint32_t sips = 1;
    bool several;

    dice.zero_per_cent = ANY(zero_per_cent);
    dice.one_gbs = chance(rng, 40);
    draw_delays(rng, NULL, seed);
    more.no_delays = dice.no_delays;
    more.zero_per_cent = dice.zero_per_cent;
    p.mesh = p.holes = dice.sided = more.sided = seed % 4 == 3;
    fprintf(out, "kernbench: 3\nname: router_nets%" PRIu64 "\n", seed);
    fprintf(out, "ns_per_mm: %s\n", dice.no_delays ? "0.0" : "0.01");
    p.net = true;
    several = chance(&more, 40);
    p.counts = !several && seed % 3;
    print_contention(out, rng, &p);
    if (several) {
        sips = 2 + below(&more, 2);
        fprintf(out, "sips: %" PRIu32 "\nfabric: {", sips);
        print_overhead(out, &more);
        if (chance(&more, 50))
            fprintf(out, ", shape: grid, grid: {w: %" PRIu32 ", h: 1}}\n", sips);
        else if (chance(&more, 60))
            judge_print_rails(out, &more, sips, p.w);
        else
            fputs("}\n", out);
    }
    fputs("sip:\n  d2d: {", out);
    print_length(out, rng, "distance_mm");
    print_gbs(out, rng, ", bw_gbs");
    fputs("}\n", out);
    judge_print_net(out, rng, p.w);
    if (!p.counts)
        judge_print_paths(out, rng);
    print_cube(out, rng, &p);
    judge_print_kinds(out, rng, p.w);
}

void judge_random_router_banks(FILE *out, uint64_t seed)
{
    print_machine(out, seed, false, BANKS);
}

void judge_random_router_caches(FILE *out, uint64_t seed)
{
    print_machine(out, seed, false, CACHES);
}
