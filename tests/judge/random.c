/* random.c -- small odd topologies, and replay files full of ties for them. */
#include "banks.h"
#include "dice.h"
#include "kernel.h"
#include "l2.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* -- topologies ----------------------------------------------------------------------------- */

/*
 * One draw to a statement: in which order a call's arguments or an initialiser's parts are
 * evaluated is the compiler's choice, and a seed must give the same file from every compiler.
 */
static void print_decimal(FILE *out, struct dice *rng, const char *key, uint32_t least, uint32_t n,
                          int digits)
{
    uint32_t whole = least + below(rng, n);
    uint32_t part = below(rng, digits == 6 ? 1000000 : 1000);

    fprintf(out, "%s%" PRIu32 ".%0*" PRIu32, key, whole, digits, part);
}

/* Many are 0, some make a wire of half a femtosecond or the like. */
static void print_length(FILE *out, struct dice *rng, const char *key)
{
    static const char *const some[] = {"0",   "0.0", "0.0", "0.00005", "0.5",
                                       "1.0", "2.5", "7",   "0.00475", "100.0"};

    if (chance(rng, rng->zero_per_cent))
        fprintf(out, "%s0.0", key);
    else if (chance(rng, 20))
        print_decimal(out, rng, key, 0, 30, 3);
    else
        fprintf(out, "%s%s", key, some[below(rng, COUNT(some))]);
}

static void print_overhead(FILE *out, struct dice *rng)
{
    static const char *const some[] = {"0.0", "0.0", "0", "0.0000005", "0.000001",
                                       "1.0", "1.5", "2", "5.0",       "8.0"};

    if (chance(rng, rng->zero_per_cent))
        fputs("overhead_ns: 0.0", out);
    else if (chance(rng, 15))
        print_decimal(out, rng, "overhead_ns: ", 0, 20, 6);
    else
        fprintf(out, "overhead_ns: %s", some[below(rng, COUNT(some))]);
}

static void print_gbs(FILE *out, struct dice *rng, const char *key)
{
    static const char *const some[] = {"0.333", "1.0",   "3.0",   "7",     "16.0",
                                       "64.0",  "128.0", "128.0", "256.0", "3333.3333333333335"};

    if (rng->one_gbs)
        fprintf(out, "%s64.0", key);
    else if (rng->no_delays)
        fprintf(out, "%s%d.0", key, 64 << below(rng, 3));
    else if (chance(rng, 20))
        print_decimal(out, rng, key, 1, 900, 3);
    else
        fprintf(out, "%s%s", key, some[below(rng, COUNT(some))]);
}

/* ", distance_mm: ..., bw_gbs: ...}" */
static void print_link(FILE *out, struct dice *rng)
{
    print_length(out, rng, "distance_mm: ");
    print_gbs(out, rng, ", bw_gbs: ");
    fputs("}\n", out);
}

static void print_io(FILE *out, struct dice *rng)
{
    fputs("  io:\n    pcie_ep: {", out);
    print_overhead(out, rng);
    fputs("}\n    io_cpu: {", out);
    print_overhead(out, rng);
    fputs("}\n    link: {", out);
    print_link(out, rng);
    fputs("    shore: {", out);
    print_link(out, rng);
}

/* A point inside a cube of w x h tenths of a mm, often one where something else is already. */
static void print_point(FILE *out, struct dice *rng, uint32_t w, uint32_t h)
{
    uint32_t x = chance(rng, 30) ? 0 : below(rng, w + 1);
    uint32_t y = chance(rng, 30) ? 0 : below(rng, h + 1);

    fprintf(out, ", pos_mm: [%" PRIu32 ".%" PRIu32 ", %" PRIu32 ".%" PRIu32 "]", x / 10, x % 10,
            y / 10, y % 10);
}

/* ", KEY: [A, B, C]" of numbers that divide much, or nothing. */
static void print_three(FILE *out, struct dice *rng, const char *key)
{
    static const uint32_t some[] = {1, 3, 4, 7, 8, 8, 16, 16, 32, 32, 64};

    fprintf(out, ", %s: [%" PRIu32, key, some[below(rng, COUNT(some))]);
    fprintf(out, ", %" PRIu32, some[below(rng, COUNT(some))]);
    fprintf(out, ", %" PRIu32 "]", some[below(rng, COUNT(some))]);
}

static void print_clock(FILE *out, struct dice *rng)
{
    static const char *const some[] = {"1.0", "1.0", "1", "0.5", "1.5", "2.345"};

    fprintf(out, ", clock_ghz: %s", some[below(rng, COUNT(some))]);
}

/* Few slots, so that senders wait; some hold no whole number of elements. */
static void print_ipcq(FILE *out, struct dice *rng)
{
    static const char *const spaces[] = {"tcm", "tcm", "sram", "hbm"};
    static const uint32_t some[] = {8, 64, 100, 256, 1000, 1001, 4096};

    fprintf(out, "    pe_ipcq: {slots: %" PRIu32, 1 + below(rng, 4));
    fprintf(out, ", slot_bytes: %" PRIu32, some[below(rng, COUNT(some))]);
    fprintf(out, ", space: %s}\n", spaces[below(rng, COUNT(spaces))]);
}

/* The rates of products, by other dice than the rest: see print_ports(). */
static void print_rates(FILE *out, uint64_t seed)
{
    static const char *const types[] = {"f64", "f32", "f16", "i8", "i32", "i4"};
    static const char *const rates[] = {"2", "0.25", "0.3", "1.5"};
    struct dice dice = {.state = seed ^ UINT64_C(0x4a7e)}, *rng = &dice;

    if (chance(rng, 60))
        return;
    fputs(", rate: {", out);
    for (size_t i = 0; i < COUNT(types); i++)
        fprintf(out, "%s%s: %s", i ? ", " : "", types[i], rates[below(rng, COUNT(rates))]);
    fputc('}', out);
}

/* What else a PE has; drawn last, so that a seed's other numbers stay as they were without it. */
static void print_pe(FILE *out, struct dice *rng, uint64_t seed)
{
    fputs("    pe_cpu: {", out);
    print_overhead(out, rng);
    fputs("}\n    pe_scheduler: {", out);
    print_overhead(out, rng);
    print_three(out, rng, "tile");
    fprintf(out, ", tile_buffers: %" PRIu32 "}\n    pe_gemm: {", 1 + below(rng, 4));
    print_overhead(out, rng);
    print_clock(out, rng);
    print_three(out, rng, "mac");
    print_rates(out, seed);
    fputs("}\n    pe_math: {", out);
    print_overhead(out, rng);
    print_clock(out, rng);
    fprintf(out, ", lanes: %" PRIu32, 1 + below(rng, 64));
    fprintf(out, ", special_cycles: %" PRIu32, 1 + below(rng, 6));
    fprintf(out, ", topk_width: %" PRIu64, 1 + seed % 12);
    fprintf(out, ", scan_cycles: %" PRIu64 ", random_cycles: %" PRIu64 "}\n", 1 + seed % 5,
            1 + seed % 7);
    print_ipcq(out, rng);
    if (seed % 5 == 2)
        fputs("    pe_fetch_store: {convert: true}\n", out);
}

/* How many PEs and slices a cube has; 0 slices: as many as PEs. */
struct shape {
    uint32_t pes, slices;
};

/*
 * Half of all machines have a shape that version 1 could not say. Other dice, so that the rest of a
 * seed's machine stays as it was.
 */
static struct shape any_shape(uint64_t seed, uint32_t n_pes)
{
    static const uint32_t pes[] = {0, 1, 3, 5, 7, 8, 9, 4};
    static const uint32_t slices[] = {0, 1, 2, 3, 4, 6, 8, 11, 16};
    struct dice dice = {.state = seed ^ UINT64_C(0x5ab0e)}, *rng = &dice;
    struct shape s = {.pes = n_pes};

    if (chance(rng, 50))
        return s;
    s.pes = pes[below(rng, COUNT(pes))];
    s.slices = slices[below(rng, COUNT(slices))];
    if (s.pes == 0 && s.slices == 0)
        s.slices = 4;
    return s;
}

/*
 * When a memory is free again, and how late its data are; often as in version 1. `keys` are dice of
 * their own, so that a seed's other numbers stay as they were without these keys.
 */
static void print_memory(FILE *out, struct dice *keys)
{
    static const char *const latency[] = {"38", "0.0000005", "0.000001", "4.75", "0"};

    if (chance(keys, 50))
        fprintf(out, ", hold: %s", chance(keys, 70) ? "own" : "route");
    if (chance(keys, 30))
        fprintf(out, ", latency_ns: %s",
                keys->no_delays ? "0.0" : latency[below(keys, COUNT(latency))]);
}

/* Servers of the edges of a slice, or of a pe_dma, by other dice: see print_ports(). */
void judge_print_servers(FILE *out, uint64_t seed)
{
    struct dice dice = {.state = seed ^ UINT64_C(0x19d)}, *rng = &dice;

    if (chance(rng, 25))
        fprintf(out, ", ports: %" PRIu32, 2 + below(rng, 3));
}

/*
 * When a port of a TCM is free again, and how many there are. Other dice than those of the rest, so
 * that this stays as it was without these keys; so has the version, of which 3 has another default.
 */
static void print_ports(FILE *out, uint64_t seed)
{
    struct dice dice = {.state = seed ^ UINT64_C(0x7c3)}, *rng = &dice;

    if (chance(rng, 40))
        fprintf(out, ", hold: %s", chance(rng, 70) ? "own" : "route");
    if (chance(rng, 30))
        fprintf(out, ", read_ports: %" PRIu32, 1 + below(rng, 4));
    if (chance(rng, 30))
        fprintf(out, ", write_ports: %" PRIu32, 1 + below(rng, 4));
}

static int version_of(bool second, uint64_t seed)
{
    struct dice dice = {.state = seed ^ UINT64_C(0xe45)}, *rng = &dice;

    return second ? 2 + chance(rng, 40) : 1;
}

/* "row" and the other parts of an address in any order; the rank may be left out. */
static void print_map(FILE *out, struct dice *keys)
{
    const char *parts[] = {"bank", "column", "group", "channel", "rank"};
    uint32_t n = COUNT(parts) - chance(keys, 50);

    if (chance(keys, 60)) {
        fprintf(out, ", map: %s", chance(keys, 50) ? "low" : "high");
        return;
    }
    fputs(", map: [row", out);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = i + below(keys, n - i);
        const char *part = parts[other];

        parts[other] = parts[i];
        parts[i] = part;
        fprintf(out, ", %s", part);
    }
    fputc(']', out);
}

/* Times that agree: those of the defaults, none, or small odd ones with many refreshes. */
static void print_timing(FILE *out, struct dice *keys)
{
    static const char *const names[] = {"rp", "cl", "cwl", "rrd", "wr", "wtr", "rtw", "ctrl"};
    uint32_t rcd = below(keys, 20), rtp = below(keys, 9), rfc = below(keys, 90);

    if (chance(keys, 30))
        return;
    if (keys->no_delays)
        rcd = rtp = rfc = 0;
    fprintf(out, ", timing_ns: {rcd: %" PRIu32 ", rtp: %" PRIu32, rcd, rtp);
    fprintf(out, ", ras: %" PRIu32, rcd + rtp + below(keys, 20));
    fprintf(out, ", rfc: %" PRIu32, rfc);
    fprintf(out, ", refi: %" PRIu32, 200 + rfc + below(keys, 400));
    fprintf(out, ", faw: %" PRIu32, 20 + below(keys, 40));
    for (size_t i = 0; i < COUNT(names); i++)
        if (chance(keys, 70))
            fprintf(out, ", %s: %" PRIu32, names[i], chance(keys, 30) ? 0 : below(keys, 18));
    if (chance(keys, 40))
        fprintf(out, ", ccd_l: %" PRIu32, 1 + below(keys, 12));
    if (chance(keys, 40))
        fprintf(out, ", rtrs: %" PRIu32, below(keys, 9));
    fputc('}', out);
}

void judge_print_banks(FILE *out, struct dice *keys)
{
    static const uint32_t queues[] = {1, 2, 3, 4, 4, 8, 32};

    fprintf(out, ", model: banks, channels: %" PRIu32, UINT32_C(1) << below(keys, 4));
    fprintf(out, ", burst_bytes: %" PRIu32, UINT32_C(32) << below(keys, 3));
    print_map(out, keys);
    fprintf(out, ", groups: %" PRIu32, UINT32_C(1) << below(keys, 3));
    if (chance(keys, 40))
        fprintf(out, ", ranks: %" PRIu32, UINT32_C(1) << below(keys, 3));
    fprintf(out, ", banks: %" PRIu32, UINT32_C(1) << below(keys, 3));
    fprintf(out, ", columns: %" PRIu32, UINT32_C(1) << below(keys, 6));
    fprintf(out, ", hash: %s", chance(keys, 40) ? "xor" : "none");
    print_timing(out, keys);
    fprintf(out, ", queue: %" PRIu32, queues[below(keys, COUNT(queues))]);
    if (chance(keys, 30))
        fprintf(out, ", bank_queue: %" PRIu32, 1 + below(keys, 5));
    fprintf(out, ", policy: %s", chance(keys, 30) ? "fcfs" : "fr_fcfs");
    fprintf(out, ", write_ack: %s", chance(keys, 50) ? "written" : "accepted");
    fprintf(out, ", refresh: %s", chance(keys, 25) ? "none" : "all");
    if (chance(keys, 20))
        fputs(", latency_ns: 4.75", out);
}

/* A small cache, which forgets soon. */
void judge_print_cache(FILE *out, struct dice *keys, bool banked)
{
    static const char *const latency[] = {"20", "0.0000005", "0", "4.75"};
    uint32_t line = 32u << below(keys, 5), ways = 1 + below(keys, 6), sets = 1 + below(keys, 5);

    fputs(banked ? "" : ", hold: own", out);
    fprintf(out, ", cache: {line: %" PRIu32 ", ways: %" PRIu32, line, ways);
    fprintf(out, ", size_mb: %.12g",
            (double)(line * (ways * sets + below(keys, ways))) / 1048576.0);
    if (chance(keys, 60))
        print_gbs(out, keys, ", bw_gbs: ");
    fprintf(out, ", latency_ns: %s", keys->no_delays ? "0" : latency[below(keys, COUNT(latency))]);
    fprintf(out, ", policy: %s", chance(keys, 40) ? "random" : "lru");
    fprintf(out, ", write: %s", chance(keys, 30) ? "through" : "back");
    fprintf(out, ", mshrs: %" PRIu32 "}", banked || chance(keys, 60) ? 0 : 1 + below(keys, 4));
}

/* An L2 as small. Its lines are no longer than any granule. */
static void print_l2(FILE *out, struct dice *rng, uint64_t seed)
{
    static const char *const latency[] = {"120", "0.0000005", "0", "4.75"};
    struct dice dice = {
        .state = seed ^ UINT64_C(0x12), .one_gbs = rng->one_gbs, .no_delays = rng->no_delays};
    uint32_t line = 32u << below(&dice, 2), ways = 1 + below(&dice, 6), sets = 1 + below(&dice, 9);

    fprintf(out, "  l2: {line: %" PRIu32 ", ways: %" PRIu32 ", size_mb: %.12g", line, ways,
            (double)(line * (ways * sets + below(&dice, ways))) / 1048576.0);
    if (chance(&dice, 60))
        print_gbs(out, &dice, ", bw_gbs: ");
    if (chance(&dice, 60))
        print_gbs(out, &dice, ", pe_gbs: ");
    fprintf(out, ", latency_ns: %s", dice.no_delays ? "0" : latency[below(&dice, COUNT(latency))]);
    fprintf(out, ", policy: %s", chance(&dice, 40) ? "random" : "lru");
    fprintf(out, ", write: %s", chance(&dice, 30) ? "through" : "back");
    fprintf(out, ", at_launch: %s", chance(&dice, 50) ? "drop" : "keep");
    fprintf(out, ", mshrs: %" PRIu32 "}\n", chance(&dice, 60) ? 0 : 1 + below(&dice, 4));
}

/* Returns how many PEs it has. */
static uint32_t print_cube(FILE *out, struct dice *rng, struct dice *keys, uint64_t seed)
{
    static const uint32_t pes[] = {1, 2, 4, 6, 8};
    static const char *const efficiency[] = {"1.0", "1", "0.5", "0.985", "0.6128"};
    size_t efficiencies = rng->no_delays ? 3 : COUNT(efficiency);
    uint32_t w = 1 + below(rng, 200);
    uint32_t h = 1 + below(rng, 200);
    struct shape shape = {.pes = pes[below(rng, COUNT(pes))]};
    uint32_t size_gb;

    if (!rng->whole_slices)
        shape = any_shape(seed, shape.pes);
    fprintf(out, "cube:\n  pes: %" PRIu32 "\n", shape.pes);
    fprintf(out, "  size_mm: [%" PRIu32 ".%" PRIu32 ", %" PRIu32 ".%" PRIu32 "]\n", w / 10, w % 10,
            h / 10, h % 10);
    fputs("  ucie: {", out);
    print_overhead(out, rng);
    fputs("}\n  noc: {", out);
    print_overhead(out, rng);
    print_length(out, rng, ", attach_mm: ");
    print_gbs(out, rng, ", bw_gbs: ");
    if (rng->sided)
        judge_print_mesh(out, keys, true);
    fputs("}\n  m_cpu: {", out);
    print_overhead(out, rng);
    print_point(out, rng, w, h);
    fprintf(out, ", dma_read: %" PRIu32, 1 + below(rng, 3));
    fprintf(out, ", dma_write: %" PRIu32 "}\n  sram: {", 1 + below(rng, 3));
    print_overhead(out, rng);
    print_point(out, rng, w, h);
    fprintf(out, ", size_mb: %" PRIu32, 1 + below(rng, 64));
    print_memory(out, keys);
    if (chance(keys, 30))
        print_gbs(out, keys, ", bw_gbs: ");
    fputs("}\n  xbar: {", out);
    print_overhead(out, rng);
    print_length(out, rng, ", pe_mm: ");
    print_gbs(out, rng, ", pe_gbs: ");
    print_length(out, rng, ", chain_mm: ");
    print_gbs(out, rng, ", chain_gbs: ");
    fputs("}\n  bridge: {", out);
    print_overhead(out, rng);
    fputs(", ", out);
    print_link(out, rng);
    fputs("  hbm: {", out);
    print_overhead(out, rng);
    print_length(out, rng, ", distance_mm: ");
    print_gbs(out, rng, ", bw_gbs: ");
    fprintf(out, ", efficiency: %s", efficiency[below(rng, efficiencies)]);
    size_gb = 1 + below(rng, 64);
    if (rng->whole_slices && shape.pes == 6)
        size_gb = size_gb / 4 * 3 + 3;
    fprintf(out, ", size_gb: %" PRIu32, size_gb);
    if (slices_have_banks(rng->slices))
        judge_print_banks(out, keys);
    if (rng->slices == CACHES || rng->slices == CACHED_BANKS)
        judge_print_cache(out, keys, rng->slices == CACHED_BANKS);
    if (rng->slices == SERVERS)
        print_memory(out, keys);
    if (rng->slices == SERVERS && seed % 4 == 1)
        fputs(", atomic: read_write", out);
    if (!slices_have_banks(rng->slices))
        fputs(any_access(seed), out);
    judge_print_servers(out, seed);
    if (shape.slices)
        fprintf(out, ", slices: %" PRIu32 "}\n", shape.slices);
    else
        fputs(", slices: pes}\n", out);
    fputs("  pe:\n    pe_dma: {", out);
    print_overhead(out, rng);
    fprintf(out, ", read_channels: %" PRIu32, 1 + below(rng, 3));
    fprintf(out, ", write_channels: %" PRIu32, 1 + below(rng, 3));
    judge_print_servers(out, seed + 1);
    fprintf(out, ", issue_ns: %s, packet_bytes: %s%s}\n    pe_tcm: {", any_pace(seed),
            any_packet(seed), any_tiles(seed));
    print_gbs(out, rng, "read_gbs: ");
    print_gbs(out, rng, ", write_gbs: ");
    print_ports(out, seed);
    fputs("}\n", out);
    print_pe(out, rng, seed);
    if (rng->l2)
        print_l2(out, rng, seed);
    return shape.pes;
}

/* Some cubes, as `cubes` and `missing` name them. */
struct pattern {
    char text[40];
};

static struct pattern some_cubes(struct dice *rng, uint32_t n_sips, uint32_t n_cubes)
{
    uint32_t first = below(rng, n_cubes), sip = below(rng, n_sips);
    char sips[16] = "", cubes[24] = "c*";

    if (chance(rng, 20))
        snprintf(sips, sizeof sips, "s*.");
    else if (sip)
        snprintf(sips, sizeof sips, "s%" PRIu32 ".", sip);
    if (!chance(rng, 20)) {
        if (chance(rng, 50))
            snprintf(cubes, sizeof cubes, "c%" PRIu32, first);
        else
            snprintf(cubes, sizeof cubes, "c[%" PRIu32 "-%" PRIu32 "]", first,
                     first + below(rng, n_cubes - first));
    }

    struct pattern p;
    snprintf(p.text, sizeof p.text, "%s%s", sips, cubes);
    return p;
}

/* Cubes that none of the `n` patterns before names in the same words: a key stands once. */
static struct pattern other_cubes(struct dice *rng, uint32_t n_sips, uint32_t n_cubes,
                                  const struct pattern *before, uint32_t n)
{
    struct pattern p = some_cubes(rng, n_sips, n_cubes);

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(p.text, before[i].text) == 0)
            return other_cubes(rng, n_sips, n_cubes, before, n);
    return p;
}

/* Keys of what only kernels use. */
static void print_own_boxes(FILE *out, struct dice *rng)
{
    fputs(", pe_cpu: {", out);
    print_overhead(out, rng);
    fputs("}, pe_scheduler: {", out);
    print_overhead(out, rng);
    print_three(out, rng, "tile");
    fprintf(out, ", tile_buffers: %" PRIu32 "}, pe_gemm: {", 1 + below(rng, 4));
    print_overhead(out, rng);
    print_clock(out, rng);
    fputs("}, pe_math: {", out);
    print_overhead(out, rng);
    fprintf(out, ", lanes: %" PRIu32 "}, pe_tcm: {", 1 + below(rng, 64));
    print_gbs(out, rng, "read_gbs: ");
    print_ports(out, rng->state);
    fputc('}', out);
}

/* A few keys of cubes, of which each may be left out. */
static void print_own_keys(FILE *out, struct dice *rng, bool with_pes)
{
    static const uint32_t pes[] = {0, 1, 2, 3, 5, 8};
    uint32_t slices = 1 + below(rng, 9);
    const char *comma = "";

    if (rng->whole_slices)
        slices = UINT32_C(1) << slices / 3;

    if (with_pes) {
        fprintf(out, "pes: %" PRIu32, pes[below(rng, COUNT(pes))]);
        comma = ", ";
    }
    fprintf(out, "%shbm: {slices: %" PRIu32, comma, slices);
    if (chance(rng, 50))
        print_gbs(out, rng, ", bw_gbs: ");
    if (chance(rng, 30))
        fprintf(out, ", size_gb: %" PRIu32, 1 + below(rng, 64));
    judge_print_servers(out, rng->state);
    fputs("}", out);
    if (chance(rng, 50)) {
        fputs(", noc: {", out);
        print_overhead(out, rng);
        print_gbs(out, rng, ", bw_gbs: ");
        fputs("}", out);
    }
    if (chance(rng, 50)) {
        fputs(", ucie: {", out);
        print_overhead(out, rng);
        fputs("}", out);
    }
    if (chance(rng, 50)) {
        fputs(", m_cpu: {", out);
        print_overhead(out, rng);
        fprintf(out, ", dma_read: %" PRIu32 "}", 1 + below(rng, 3));
    }
    if (chance(rng, 50)) {
        fputs(", pe: {pe_dma: {", out);
        print_overhead(out, rng);
        fprintf(out, ", read_channels: %" PRIu32, 1 + below(rng, 3));
        judge_print_servers(out, rng->state);
        fputc('}', out);
        if (rng->whole_slices)
            print_own_boxes(out, rng);
        fputc('}', out);
    }
}

/* Cubes with keys of their own, and PEs that are missing: of a third of all machines. */
static void print_differences(FILE *out, uint64_t seed, uint32_t n_sips, uint32_t n_cubes,
                              uint32_t n_pes, bool for_kernels)
{
    struct dice dice = {.state = seed ^ UINT64_C(0xd1ff), .whole_slices = for_kernels};
    struct dice *rng = &dice;
    uint32_t n = below(rng, 4);
    bool with_pes = chance(rng, 50);
    struct pattern named[4];

    if (chance(rng, 67))
        return;
    if (n)
        fputs("cubes:\n", out);
    for (uint32_t i = 0; i < n; i++) {
        named[i] = other_cubes(rng, n_sips, n_cubes, named, i);
        fprintf(out, "  \"%s\": {", named[i].text);
        print_own_keys(out, rng, with_pes && chance(rng, 60));
        fputs("}\n", out);
    }
    n = below(rng, 4);
    if (with_pes || n_pes < 2) /* each must match something */
        return;
    fputs("missing: [", out);
    for (uint32_t i = 0; i < n; i++) {
        struct pattern p = some_cubes(rng, n_sips, n_cubes);

        fprintf(out, "%s\"%s.pe%" PRIu32 "\"", i ? ", " : "", p.text, below(rng, 2));
    }
    fputs("]\n", out);
}

/* Sides in any order, without a double: "[E, S]". */
static void print_sides(FILE *out, struct dice *rng, uint32_t n)
{
    char sides[] = "NESW";

    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = i + below(rng, 4 - i);
        char side = sides[other];

        sides[other] = sides[i];
        sides[i] = side;
        fprintf(out, "%s%c", i ? ", " : "[", side);
    }
    fputc(']', out);
}

static const char *any_wrap(struct dice *rng)
{
    static const char *const wraps[] = {"none", "x", "y", "xy", "xy"};

    return wraps[below(rng, COUNT(wraps))];
}

/* Of rings; the other draws stay as they are. */
static const char *any_tie(const struct dice *rng)
{
    struct dice tie = {.state = ~rng->state};

    return chance(&tie, 50) ? ", tie: spread" : "";
}

static void print_planes(FILE *out, struct dice *rng, bool one_way)
{
    static const char *const dirs[] = {"[E, S]", "[N, W]", "[W, S]", "[N, E]"};
    static const char *const rules[] = {"op", "hash", "column"};
    uint32_t n = below(rng, 4);

    fputs("  planes: [", out);
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "%s{name: p%" PRIu32, i ? ", " : "", i);
        if (chance(rng, 50) && one_way)
            fprintf(out, ", dirs: %s", dirs[below(rng, COUNT(dirs))]);
        fprintf(out, ", order: %s", chance(rng, 50) ? "xy" : "yx");
        if (chance(rng, 50))
            print_gbs(out, rng, ", bw_gbs: ");
        fputc('}', out);
    }
    fprintf(out, "]\n  plane: %s\n", rules[n ? below(rng, COUNT(rules)) : 0]);
    if (chance(rng, 60)) {
        fputs("  io_chiplets: ", out);
        print_sides(out, rng, 1 + below(rng, 4));
        fputc('\n', out);
    }
}

/* Some links between cubes of SIP 0, or of all, none twice; and now and then a port. */
static void print_broken(FILE *out, struct dice *rng, uint32_t w, uint32_t h, uint32_t missing)
{
    uint32_t n = chance(rng, 60) ? below(rng, w * h) : 0, printed = 0;

    fputs("broken: [", out);
    for (uint32_t cube = 0; cube < w * h && n > 0; cube++) {
        bool east = chance(rng, 50), port = chance(rng, 15);
        uint32_t other = east ? cube + 1 : cube + w;

        if (missing >> cube & 1 || missing >> other & 1)
            continue;
        if (!chance(rng, 100 * n / (w * h)) || (east ? cube % w + 1 == w : cube / w + 1 == h))
            continue;
        fputs(printed++ ? ", " : "", out);
        if (port)
            fprintf(out, "c%" PRIu32 ".noc%sc%" PRIu32 ".ucie-%c", cube,
                    chance(rng, 50) ? "-" : ">", cube, east ? 'E' : 'S');
        else
            fprintf(out, "c%" PRIu32 "-c%" PRIu32, cube, other);
    }
    fputs("]\n", out);
}

/* Up to three whole cubes, never the first: bits. */
static uint32_t print_missing(FILE *out, struct dice *rng, uint32_t n_cubes)
{
    uint32_t n = chance(rng, 40) ? below(rng, 4) : 0, missing = 0;

    if (n_cubes < 3 || n == 0)
        return 0;
    fputs("missing: [", out);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t cube = 1 + below(rng, n_cubes - 1);

        missing |= UINT32_C(1) << cube;
        fprintf(out, "%s'%sc%" PRIu32 "'", i ? ", " : "", chance(rng, 50) ? "s*." : "", cube);
    }
    fputs("]\n", out);
    return missing;
}

/*
 * Rings, planes, broken links, IO chiplets on any side, grids of SIPs, cubes of several kinds.
 * `whole`: all is there, and there is a way between any two cubes on any plane.
 */
static void print_shape(FILE *out, uint64_t seed, bool for_kernels, bool whole, enum slices slices,
                        bool l2)
{
    struct dice dice = {.state = seed, .slices = slices, .whole_slices = for_kernels, .l2 = l2};
    struct dice *rng = &dice;
    struct dice keys = {.state = ~seed};
    uint32_t w = 1 + below(rng, 5), h = 1 + below(rng, 5);
    uint32_t grid_w = 1 + below(rng, 3), grid_h = 1 + below(rng, 2);
    bool grid = chance(rng, 50);
    uint32_t n_sips, n_pes, missing = 0;
    const char *wrap;

    dice.zero_per_cent = below(rng, 3) * 30;
    dice.one_gbs = chance(rng, 20);
    draw_delays(rng, &keys, seed);
    fprintf(out, "kernbench: %d\nname: shape%" PRIu64 "\n", version_of(!chance(rng, 50), seed),
            seed);
    fprintf(out, "contention: {links: %s}\n", chance(rng, 60) ? "fifo" : "ideal");
    fprintf(out, "ns_per_mm: %s\n", dice.no_delays ? "0.0" : "0.01");
    n_sips = grid ? grid_w * grid_h : 1 + below(rng, 2);
    fprintf(out, "sips: %" PRIu32 "\nfabric: {", n_sips);
    print_overhead(out, rng);
    if (grid) {
        fprintf(out, ", shape: grid, grid: {w: %" PRIu32 ", h: %" PRIu32 "}, wrap: %s", grid_w,
                grid_h, any_wrap(rng));
        fputs(any_tie(rng), out);
    }
    fputs(", ", out);
    print_link(out, rng);
    wrap = any_wrap(rng);
    fprintf(out, "sip:\n  cube_mesh: {w: %" PRIu32 ", h: %" PRIu32 ", wrap: %s%s", w, h, wrap,
            any_tie(rng));
    if (chance(rng, 50))
        print_length(out, rng, ", wrap_mm: ");
    fputs("}\n  d2d: {", out);
    print_link(out, rng);
    print_io(out, rng);
    print_planes(out, rng, !for_kernels || strcmp(wrap, "xy") == 0);
    if (!whole) {
        missing = print_missing(out, rng, w * h);
        print_broken(out, rng, w, h, missing);
    }
    n_pes = print_cube(out, rng, &keys, seed);
    if (!missing && !whole)
        print_differences(out, seed, n_sips, w * h, n_pes, for_kernels);
}

/* A machine of any shape. */
void judge_random_shape(FILE *out, uint64_t seed)
{
    print_shape(out, seed, false, false, SERVERS, false);
}

/* Has it PEs, and a way between any two of its cubes and to host0, on the planes of kernels? */
static bool is_connected(const struct judge_topo *t)
{
    for (uint32_t plane = 0; plane < t->planes; plane++)
        for (uint32_t sip = 0; sip < t->sips; sip++)
            for (uint32_t a = 0; a < t->cubes; a++)
                for (uint32_t b = 0; b < t->cubes; b++)
                    if ((plane == 0 || plane == t->planes - 1 || t->hashed_planes) &&
                        judge_has_cube(t, sip, a) && judge_has_cube(t, sip, b) &&
                        (judge_way(t, plane, sip, a, b, NULL) == UINT32_MAX ||
                         judge_shore_cube(t, plane, 0, sip, a, true) == UINT32_MAX ||
                         judge_shore_cube(t, plane, 0, sip, a, false) == UINT32_MAX))
                        return false;
    return t->n_pes > 0;
}

/* With what is missing, broken or of another kind, if its kernels then still have their ways. */
void judge_random_kernel_shape(FILE *out, uint64_t seed)
{
    char *text = NULL;
    size_t len;
    FILE *memory = open_memstream(&text, &len);
    struct judge_topo *t;

    print_shape(memory, seed, true, false, false, false);
    fclose(memory);
    t = judge_load_text(text);
    if (is_connected(t))
        fputs(text, out);
    else
        print_shape(out, seed, true, true, SERVERS, false);
    judge_free(t);
    free(text);
}

static void print_topo(FILE *out, uint64_t seed, bool whole_slices, enum slices slices, bool l2)
{
    uint32_t n_sips, w, h, n_pes;

    static const char *const ns_per_mm[] = {"0.01", "0.01", "0.00775", "1"};
    static const uint32_t zero_per_cent[] = {0, 0, 30, 70, 100};
    struct dice dice = {.state = seed, .slices = slices, .whole_slices = whole_slices, .l2 = l2};
    struct dice *rng = &dice;
    struct dice keys = {.state = ~seed};

    dice.zero_per_cent = zero_per_cent[below(rng, COUNT(zero_per_cent))];
    dice.one_gbs = chance(rng, 20);
    draw_delays(rng, &keys, seed);
    fprintf(out, "kernbench: %d\nname: random%" PRIu64 "\n", version_of(chance(&keys, 40), seed),
            seed);
    if (seed % 5 == 0)
        fputs("software: {launch_ns: 1234.567891}\n", out);
    if (seed % 7 == 0) /* changes no time */
        fputs("energy: {mac_pj: {bf16: 0.25}, hbm_pj_bit: 3.9, static_w: 100.0}\n", out);
    fprintf(out, "contention: {links: %s}\n", chance(rng, 50) ? "fifo" : "ideal");
    fprintf(out, "ns_per_mm: %s\n",
            dice.zero_per_cent == 100 ? "0.0" : ns_per_mm[below(rng, COUNT(ns_per_mm))]);
    fputs("fabric: {", out);
    print_overhead(out, rng);
    fputs(", ", out);
    print_link(out, rng);
    n_sips = 1 + below(rng, 3);
    fprintf(out, "sips: %" PRIu32 "\n", n_sips);
    w = 1 + below(rng, 5);
    fprintf(out, "sip:\n  cube_mesh: {w: %" PRIu32, w);
    h = 1 + below(rng, 5);
    fprintf(out, ", h: %" PRIu32 "}\n  d2d: {", h);
    print_link(out, rng);
    print_io(out, rng);
    n_pes = print_cube(out, rng, &keys, seed);
    if (!whole_slices)
        print_differences(out, seed, n_sips, w * h, n_pes, false);
}

void judge_random_topo(FILE *out, uint64_t seed)
{
    print_topo(out, seed, false, SERVERS, false);
}

void judge_random_kernel_topo(FILE *out, uint64_t seed)
{
    print_topo(out, seed, true, SERVERS, false);
}

void judge_random_kernel_banks(FILE *out, uint64_t seed)
{
    print_topo(out, seed, true, BANKS, false);
}

void judge_random_banks(FILE *out, uint64_t seed)
{
    if (seed % 2)
        print_topo(out, seed, false, BANKS, false);
    else
        print_shape(out, seed, false, false, BANKS, false);
}

/* A third of them stand before banks. */
static enum slices with_caches(uint64_t seed)
{
    return seed % 3 ? CACHES : CACHED_BANKS;
}

void judge_random_caches(FILE *out, uint64_t seed)
{
    if (seed % 2)
        print_topo(out, seed, false, with_caches(seed), false);
    else
        print_shape(out, seed, false, false, with_caches(seed), false);
}

void judge_random_kernel_caches(FILE *out, uint64_t seed)
{
    print_topo(out, seed, true, seed % 2 ? CACHES : CACHED_BANKS, false);
}

static void print_net(FILE *out, uint64_t seed, bool for_kernels, enum slices slices, bool l2);

/* Of a net: most slices are plain, others have banks or caches. */
static enum slices of_net(uint64_t seed)
{
    return seed % 5 == 1 ? with_caches(seed) : seed % 10 == 3 ? BANKS : SERVERS;
}

/* A machine of any shape, if an L2 has a way to each slice on each plane; else a plain one. */
static void print_connected(FILE *out, uint64_t seed, enum slices slices)
{
    char *text = NULL;
    size_t len;
    FILE *memory = open_memstream(&text, &len);
    struct judge_topo *t;

    print_shape(memory, seed, false, true, slices, true);
    fclose(memory);
    t = judge_load_text(text);
    if (is_connected(t))
        fputs(text, out);
    else
        print_topo(out, seed, false, slices, true);
    judge_free(t);
    free(text);
}

/* Machines whose cubes have an L2, before slices of any kind. */
void judge_random_l2(FILE *out, uint64_t seed)
{
    enum slices slices = seed % 4 == 1 ? BANKS : seed % 4 == 2 ? with_caches(seed) : SERVERS;

    if (seed % 5 == 0)
        print_net(out, seed, false, slices, true);
    else if (seed / 4 % 2)
        print_topo(out, seed, false, slices, true);
    else
        print_connected(out, seed, slices);
}

void judge_random_kernel_l2(FILE *out, uint64_t seed)
{
    print_topo(out, seed, true, seed % 3 ? SERVERS : seed % 2 ? CACHES : CACHED_BANKS, true);
}

/* Has it PEs, with ways to host0, and to all cubes that are no switch, there and back? */
static bool serves_kernels(const struct judge_topo *t)
{
    for (size_t i = 0; i < t->n_pes; i++)
        for (uint32_t cube = 0; cube < t->sips * t->cubes; cube++) {
            const struct judge_end *pe = &t->pes[i];
            struct judge_end sram = {JUDGE_SRAM, cube / t->cubes, cube % t->cubes, 0};
            struct judge_route r = {0};
            bool has = !judge_has_cube(t, sram.sip, sram.cube) ||
                       judge_is_switch(t, sram.sip, sram.cube) ||
                       (judge_route_on(t, 0, JUDGE_WRITE, pe, &sram, &r) &&
                        judge_route_on(t, 0, JUDGE_READ, pe, &sram, &r) &&
                        judge_shore_cube(t, 0, 0, pe->sip, pe->cube, true) != UINT32_MAX &&
                        judge_shore_cube(t, 0, 0, pe->sip, pe->cube, false) != UINT32_MAX);

            judge_route_clear(&r);
            if (!has)
                return false;
        }
    return t->n_pes > 0;
}

/* A machine with a net; some cubes have an L2, too. */
void judge_random_net(FILE *out, uint64_t seed)
{
    print_net(out, seed, false, of_net(seed), seed % 7 == 0);
}

/* The first of many with all ways that kernels may take. */
void judge_random_kernel_net(FILE *out, uint64_t seed)
{
    for (uint64_t other = seed;; other += UINT64_C(1) << 32) {
        char *text = NULL;
        size_t len;
        FILE *memory = open_memstream(&text, &len);
        struct judge_topo *t;
        bool fits;

        print_net(memory, other, true, of_net(other), other % 7 == 0);
        fclose(memory);
        t = judge_load_text(text);
        fits = serves_kernels(t);
        if (fits)
            fputs(text, out);
        judge_free(t);
        free(text);
        if (fits)
            return;
    }
}

static void print_net(FILE *out, uint64_t seed, bool for_kernels, enum slices slices, bool l2)
{
    struct dice dice = {.state = seed, .slices = slices, .l2 = l2, .whole_slices = for_kernels};
    struct dice *rng = &dice;
    struct dice keys = {.state = ~seed};
    struct dice rails = {.state = seed ^ UINT64_C(0x5ca1ab1e)};
    uint32_t n_sips, n, switches = 0;
    bool has_rails;

    dice.zero_per_cent = below(rng, 3) * 30;
    dice.one_gbs = chance(rng, 20);
    draw_delays(rng, &keys, seed);
    fprintf(out, "kernbench: 3\nname: net%" PRIu64 "\n", seed);
    fprintf(out, "contention: {links: %s}\n", chance(rng, 80) ? "fifo" : "ideal");
    fprintf(out, "ns_per_mm: %s\n", dice.no_delays ? "0.0" : "0.01");
    n_sips = 1 + below(rng, 2);
    dice.sided = rails.sided = seed % 4 == 3;
    has_rails = n_sips > 1 && chance(&rails, 70);
    if (has_rails)
        n_sips = 2 + below(&rails, 2);
    fprintf(out, "sips: %" PRIu32 "\nfabric: {", n_sips);
    print_overhead(out, rng);
    if (!has_rails) {
        fputs(", ", out);
        print_link(out, rng);
    }
    n = 2 + below(rng, has_rails ? 5 : 11);
    if (has_rails)
        switches = judge_print_rails(out, &rails, n_sips, n);
    fputs("sip:\n  d2d: {", out);
    print_link(out, rng);
    print_io(out, rng);
    judge_print_net(out, rng, n);
    judge_print_paths(out, rng);
    print_cube(out, rng, &keys, seed);
    judge_print_kinds(out, rng, n);
    if (switches && chance(&rails, 25))
        fprintf(out, "missing: [sw%" PRIu32 "]\n", below(&rails, switches));
}

/* -- rows ----------------------------------------------------------------------------------- */

/* What one file's rows have in common: the memories and PEs that many of them use. */
struct mix {
    struct judge_end hot_slice, hot_sram, hot_pe;
    uint32_t host_per_cent, hot_per_cent, local_per_cent, sram_per_cent;
    int64_t times_fs[8];
    bool any_time; /* each row its own time instead */
    bool one_size; /* all rows have 4096 bytes */
};

static struct judge_end any_end(const struct judge_topo *t, struct dice *rng, enum judge_kind kind)
{
    struct judge_end e = {.kind = kind};

    e.sip = below(rng, judge_count(t, "sips"));
    if (kind == JUDGE_HOST) {
        if (judge_chiplet_side(t, 1))
            while (judge_chiplet_side(t, e.unit + 1) && chance(rng, 60))
                e.unit++;
        return e;
    }
    if (kind == JUDGE_PE)
        return t->n_pes ? t->pes[below(rng, (uint32_t)t->n_pes)] : e;
    e.cube = below(rng, t->cubes);
    while (!judge_has_cube(t, e.sip, e.cube) || judge_is_switch(t, e.sip, e.cube) ||
           (kind == JUDGE_SLICE && !judge_slices(t, e.sip, e.cube))) {
        e.sip = below(rng, t->sips);
        e.cube = below(rng, t->cubes);
    }
    if (kind != JUDGE_SRAM)
        e.unit = below(rng, judge_slices(t, e.sip, e.cube));
    return e;
}

static struct mix any_mix(const struct judge_topo *t, struct dice *rng)
{
    static const int64_t times_fs[] = {0,       1,        3,         500000,     1000000,  2000000,
                                       8000000, 16000000, 100000000, 4096000000, 31999999, 5000000};
    struct dice sizes = {.state = ~rng->state}; /* other dice: the rest stays as it was */
    struct mix m;

    m.hot_slice = any_end(t, rng, JUDGE_SLICE);
    m.hot_sram = any_end(t, rng, JUDGE_SRAM);
    m.hot_pe = any_end(t, rng, JUDGE_PE);
    m.host_per_cent = below(rng, 4) * 15;
    if (t->n_pes == 0)
        m.host_per_cent = 100;
    m.hot_per_cent = below(rng, 4) * 25;
    m.local_per_cent = below(rng, 3) * 30;
    m.sram_per_cent = below(rng, 3) * 20;
    m.any_time = chance(rng, 20);
    for (size_t i = 0; i < COUNT(m.times_fs); i++)
        m.times_fs[i] = times_fs[below(rng, COUNT(times_fs))];
    m.one_size = !t->is_router && chance(&sizes, 25);
    return m;
}

static uint64_t any_bytes(struct dice *rng)
{
    static const uint64_t some[] = {1, 1, 63, 64, 64, 65, 4096, 4096, 65536, 1 << 20};

    return chance(rng, 15) ? 1 + below(rng, 100000) : some[below(rng, COUNT(some))];
}

/* A PE's slice of its own, another one of its cube, or anything. */
static struct judge_end any_target(const struct judge_topo *t, struct dice *rng,
                                   const struct mix *m, const struct judge_end *src)
{
    struct judge_end e;

    if (chance(rng, m->sram_per_cent))
        return chance(rng, m->hot_per_cent) ? m->hot_sram : any_end(t, rng, JUDGE_SRAM);
    if (chance(rng, m->hot_per_cent))
        return m->hot_slice;
    e = any_end(t, rng, JUDGE_SLICE);
    if (!chance(rng, m->local_per_cent) || !judge_slices(t, src->sip, src->cube))
        return e;
    e.sip = src->sip;
    e.cube = src->cube;
    if (chance(rng, 50))
        e.unit = src->unit;
    e.unit %= judge_slices(t, e.sip, e.cube);
    return e;
}

/* Whether there is a way for the row, or for all its parts, on the plane that their number gives.
 */
bool judge_has_route(const struct judge_topo *t, const struct judge_row *row, size_t number)
{
    struct judge_piece *parts = NULL;
    size_t n = judge_cut_row(t, row, &parts);
    bool has = n > 0;

    for (size_t i = 0; i < n && has; i++) {
        uint32_t plane = row->plane ? row->plane - 1 : judge_plane_of(t, row->op, number + i);
        struct judge_route route = {0};

        has = judge_request_on(t, plane, row->op, &row->src, &parts[i].memory, &route) &&
              judge_route_on(t, plane, row->op, &row->src, &parts[i].memory, &route) &&
              (!t->net || parts[i].memory.kind != JUDGE_L2 ||
               judge_l2_has_ways(t, row->op, &parts[i]));
        judge_route_clear(&route);
    }
    judge_free_parts(parts, n);
    return has;
}

/* Banks: up to 2 KB, mostly of whole bursts, of a few rows that others want, too. */
static void to_few_rows(const struct judge_topo *t, struct dice *rng, struct judge_row *row)
{
    uint64_t bytes = judge_memory_bytes(t, &row->dst) / 4096;

    row->nbytes = row->nbytes % 2048 + 1;
    if (chance(rng, 70))
        row->nbytes = (row->nbytes + 63) / 64 * 64;
    row->offset = below(rng, 16) * (chance(rng, 50) ? 2048 : 32 * 2048) % bytes * 64;
    if (chance(rng, 50))
        row->offset += below(rng, 8) * 64;
}

static struct judge_row try_row(const struct judge_topo *t, struct dice *rng, const struct mix *m)
{
    bool host = chance(rng, m->host_per_cent);
    bool write = chance(rng, 50);
    struct judge_row row = {.nbytes = any_bytes(rng)};
    uint64_t room;

    if (m->one_size)
        row.nbytes = 4096;
    row.issue_fs =
        m->any_time ? (int64_t)below(rng, 200000000) : m->times_fs[below(rng, COUNT(m->times_fs))];
    if (host) {
        row.op = write ? JUDGE_H2D : JUDGE_D2H;
        row.src = any_end(t, rng, JUDGE_HOST);
        row.dst = chance(rng, m->hot_per_cent) ? m->hot_slice : any_end(t, rng, JUDGE_SLICE);
        row.src.sip = row.dst.sip;
    } else {
        row.op = write ? JUDGE_WRITE : JUDGE_READ;
        row.src = chance(rng, m->hot_per_cent / 2) ? m->hot_pe : any_end(t, rng, JUDGE_PE);
        row.dst = any_target(t, rng, m, &row.src);
    }
    if (judge_has_banks(t, &row.dst))
        to_few_rows(t, rng, &row);
    room = judge_memory_bytes(t, &row.dst) - row.nbytes;
    if (chance(rng, judge_has_banks(t, &row.dst) ? 5 : 20))
        row.offset = chance(rng, 50) ? room : draw(rng) % (room + 1);
    if (strcmp(judge_text(t, "sip.plane"), "column") == 0)
        row.plane = below(rng, t->planes + 1);
    return row;
}

/* Some rows of a PE that moves runs become tiles, as far as their memory has room. */
static void to_tile(const struct judge_topo *t, uint64_t seed, struct judge_row *row)
{
    static const uint64_t more[] = {0, 0, 1, 32, 64, 4096, 32768};
    static const uint32_t rows[] = {2, 3, 8, 17};
    struct dice dice = {.state = seed}, *rng = &dice;
    uint64_t line, reach;

    if (row->op >= JUDGE_H2D || chance(rng, 50) ||
        strcmp(judge_cube_text(t, row->src.sip, row->src.cube, "cube.pe.pe_dma.tiles"), "runs") !=
            0)
        return;
    row->rows = rows[below(rng, COUNT(rows))];
    line = row->nbytes / row->rows + 1;
    row->stride = line + more[below(rng, COUNT(more))];
    reach = (row->rows - 1) * row->stride + line;
    if (reach > judge_memory_bytes(t, &row->dst) - row->offset) {
        row->rows = 0;
        row->stride = 0;
        return;
    }
    row->nbytes = line * row->rows;
}

/* Does row `row` go to `end` already? */
static bool is_target(const struct judge_row *row, const struct judge_end *end)
{
    for (size_t i = 0; i < row->n_targets; i++)
        if (row->targets[i].sip == end->sip && row->targets[i].cube == end->cube &&
            row->targets[i].unit == end->unit)
            return true;
    return false;
}

/* Some writes and reads become multicasts, to memories of the same kind that have room for them. */
static void to_multicast(const struct judge_topo *t, uint64_t seed, size_t number,
                         struct judge_row *row)
{
    enum { TRIES = 60, MOST = 9 };
    struct dice dice = {.state = seed ^ UINT64_C(0x3ca57)}, *rng = &dice;
    uint32_t want = 2 + below(rng, MOST - 1);

    if ((row->op != JUDGE_WRITE && row->op != JUDGE_READ) || row->rows || row->by_address ||
        t->is_router || chance(rng, 60))
        return;
    row->targets[row->n_targets++] = row->dst;
    for (int i = 0; i < TRIES && row->n_targets < want; i++) {
        struct judge_end end = row->dst;
        char sram[JUDGE_NAME_BYTES];
        uint64_t room;

        end.sip = below(rng, t->sips);
        end.cube = below(rng, t->cubes);
        if (end.kind == JUDGE_SLICE)
            end.unit = below(rng, 8);
        judge_name(sram, "sip%u.cube%u.sram", end.sip, end.cube);
        if (end.kind == JUDGE_SRAM && judge_find_node(t, sram) == SIZE_MAX)
            continue; /* of a switch */
        room = judge_is_there(t, &end) ? judge_memory_bytes(t, &end) : 0;
        if (!is_target(row, &end) && row->offset <= room && row->nbytes <= room - row->offset)
            row->targets[row->n_targets++] = end;
    }
    if (row->n_targets < 2 || !judge_has_route(t, row, number))
        row->n_targets = 0;
}

/* Row `number`, which has a way; of a machine that is broken to pieces one of its own cube. */
static struct judge_row any_row(const struct judge_topo *t, struct dice *rng, const struct mix *m,
                                size_t number)
{
    enum { TRIES = 50 };
    struct judge_row row = try_row(t, rng, m);

    for (int i = 0; i < TRIES && !judge_has_route(t, &row, number); i++)
        row = try_row(t, rng, m);
    to_tile(t, rng->state, &row);
    if (!judge_has_route(t, &row, number) && t->n_pes) {
        row.op = JUDGE_READ;
        row.src = t->pes[0];
        row.dst = (struct judge_end){JUDGE_SLICE, row.src.sip, row.src.cube, 0};
        row.offset = 0;
        row.nbytes = 64;
        row.rows = 0;
        row.stride = 0;
    }
    to_multicast(t, rng->state, number, &row);
    return row;
}

/* Of two rows only the one of the smaller rank may be waited for, so there is no circle. */
static void random_ranks(uint32_t *rank, size_t n, struct dice *rng)
{
    bool as_they_come = chance(rng, 50);

    for (size_t i = 0; i < n; i++)
        rank[i] = as_they_come ? (uint32_t)i : (uint32_t)draw(rng);
}

void judge_random_after(struct judge_row *rows, size_t n, uint64_t seed)
{
    static const int64_t thinks_fs[] = {0, 0, 0, 0, 1, 500000, 2000000, 16000000};
    struct dice dice = {.state = seed}, *rng = &dice;
    uint32_t *rank = judge_alloc(n, sizeof *rank);
    uint32_t per_cent = 10 + below(rng, 90), most = 1 + below(rng, 4);
    bool at_once = chance(rng, 50);

    random_ranks(rank, n, rng);
    for (size_t i = 0; i < n; i++) {
        struct judge_row *row = &rows[i];
        uint32_t tries = chance(rng, per_cent) ? 1 + below(rng, most) : 0;

        for (; tries > 0; tries--) {
            size_t other = chance(rng, 50) ? below(rng, n) : (i + n - 1 - below(rng, 3)) % n;

            if (rank[other] < rank[i])
                row->after[row->n_after++] = other;
        }
        if (row->n_after > 0) {
            row->think_fs = thinks_fs[below(rng, COUNT(thinks_fs))];
            row->issue_fs = at_once ? 0 : row->issue_fs;
        }
    }
    free(rank);
}

static void print_bytes(FILE *out, uint64_t bytes)
{
    if (bytes > 0 && bytes % (1 << 20) == 0)
        fprintf(out, "%" PRIu64 "M", bytes >> 20);
    else if (bytes > 0 && bytes % 65536 == 0)
        fprintf(out, "%" PRIu64 "K", bytes >> 10);
    else
        fprintf(out, "%" PRIu64, bytes);
}

void judge_random_rows(FILE *out, const struct judge_topo *t, uint64_t seed, size_t n)
{
    static const char *const op_names[] = {"read", "write", "h2d", "d2h"};
    struct dice rng = {.state = seed};
    struct mix m = any_mix(t, &rng);
    bool planes = strcmp(judge_text(t, "sip.plane"), "column") == 0;
    bool tiles = strcmp(judge_text(t, "cube.pe.pe_dma.tiles"), "runs") == 0;

    fprintf(out, "issue_ns,op,src,dst,offset,nbytes%s%s\n", planes ? ",plane" : "",
            tiles ? ",rows,stride" : "");
    for (size_t i = 0; i < n; i++) {
        struct judge_row row = any_row(t, &rng, &m, i);
        char src[JUDGE_NAME_BYTES];

        judge_end_name(&row.src, src);
        if (row.issue_fs % 1000000 == 0)
            fprintf(out, "%" PRId64, row.issue_fs / 1000000);
        else
            judge_print_ns(out, row.issue_fs);
        fprintf(out, ",%s,%s,",
                !row.n_targets         ? op_names[row.op]
                : row.op == JUDGE_READ ? "mread"
                                       : "mwrite",
                src);
        judge_print_dst(out, &row);
        fputc(',', out);
        print_bytes(out, row.offset);
        fputc(',', out);
        print_bytes(out, row.nbytes);
        if (planes)
            fprintf(out, ",%s", row.plane ? t->plane[row.plane - 1].name : "");
        if (tiles && row.rows)
            fprintf(out, ",%" PRIu32 ",%" PRIu64, row.rows, row.stride);
        else if (tiles)
            fputs(",,", out);
        fputc('\n', out);
    }
}
