/* random_net.c -- nets for random topologies: kinds of cubes, kinds of links, items. */
#include "dice.h"
#include "judge.h"

#include <inttypes.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *any_link(struct dice *rng)
{
    static const char *const names[] = {"a", "b", "d2d"};

    return names[below(rng, COUNT(names))];
}

/* Latencies of a few values, so that ways are often as long as others. */
static void print_kind(FILE *out, struct dice *rng, const char *name)
{
    static const char *const latencies[] = {"0.0", "0.0", "5.0", "5.0", "10.0", "0.0000005"};
    static const char *const lengths[] = {"0.0", "1.0", "2.5", "0.00005"};
    static const char *const rates[] = {"64.0", "128.0", "16.0", "7", "256.0"};
    static const char *const overheads[] = {"ucie", "0.0", "1.0", "2.5"};
    bool zero = rng->no_delays || rng->zero_per_cent == 100;
    uint32_t lanes = 1 + (chance(rng, 50) ? below(rng, 4) : 0);
    const char *rate = rates[rng->one_gbs ? 0 : below(rng, rng->no_delays ? 3 : COUNT(rates))];

    fprintf(out, "  %s: {bw_gbs: %s, lanes: %" PRIu32, name, rate, lanes);
    fprintf(out, ", latency_ns: %s", zero ? "0.0" : latencies[below(rng, COUNT(latencies))]);
    fprintf(out, ", distance_mm: %s", zero ? "0.0" : lengths[below(rng, COUNT(lengths))]);
    fprintf(out, ", overhead_ns: %s}\n", zero ? "0.0" : overheads[below(rng, COUNT(overheads))]);
}

/* Where a link of a list ends at its cube; "": in the middle, which a mesh of routers lacks. */
static const char *any_side(struct dice *rng)
{
    static const char *const sides[] = {".N", ".E", ".S", ".W"};

    return rng->sided ? sides[below(rng, COUNT(sides))] : "";
}

static void print_dims(FILE *out, const char *shape, const uint32_t *k, uint32_t n)
{
    fprintf(out, "%s: [", shape);
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s%" PRIu32, i ? ", " : "", k[i]);
    fputs("]", out);
}

/* A mesh or torus of all cubes: their number in some factors. */
static void print_grid(FILE *out, struct dice *rng, uint32_t n)
{
    uint32_t k[8], dims = 0, rest = n;
    bool torus = chance(rng, 60);

    for (uint32_t p = 2; p <= rest && dims < 6;)
        if (rest % p == 0 && (dims < 2 || chance(rng, 80)) && !(rng->sided && dims == 1)) {
            k[dims++] = p;
            rest /= p;
        } else {
            p++;
        }
    if (rest > 1 || dims == 0)
        k[dims++] = rest;
    if (dims > 1 && chance(rng, 50)) {
        k[dims - 2] *= k[dims - 1];
        dims--;
    }
    print_dims(out, torus ? "torus" : "mesh", k, dims);
    fprintf(out, ", link: %s", any_link(rng));
    if (torus && chance(rng, 40))
        fprintf(out, ", wrap: %s", any_link(rng));
}

/* A cube of a list, "c3", and a side if each link needs one. */
static void print_end(FILE *out, struct dice *rng, uint32_t cube)
{
    fprintf(out, "c%" PRIu32 "%s", cube, any_side(rng));
}

/* One item that joins all cubes, mostly. */
static void print_first(FILE *out, struct dice *rng, uint32_t n)
{
    uint32_t half = n / 2;

    switch (rng->sided ? 2 + below(rng, 3) : below(rng, 5)) {
    case 0:
        fprintf(out, "all: \"c[0-%" PRIu32 "]\", link: %s", n - 1, any_link(rng));
        break;
    case 1:
        fprintf(out, "each: [\"c[0-%" PRIu32 "]\", \"c[%" PRIu32 "-%" PRIu32 "]\"], link: %s",
                half - 1, half, n - 1, any_link(rng));
        break;
    case 2: /* a ring, one way or both */
        fprintf(out, "list: [");
        for (uint32_t i = 0; i < n; i++) {
            fputs(i ? ", " : "", out);
            print_end(out, rng, i);
            fputc(chance(rng, rng->state % 3 ? 100 : 50) ? '-' : '>', out);
            print_end(out, rng, (i + 1) % n);
        }
        fprintf(out, "], link: %s", any_link(rng));
        break;
    default:
        print_grid(out, rng, n);
        break;
    }
}

/* Links beside, with sides and without. */
static void print_more(FILE *out, struct dice *rng, uint32_t n)
{
    uint32_t links = 1 + below(rng, 4);

    fputs(", {list: [", out);
    for (uint32_t i = 0; i < links; i++) {
        uint32_t a = below(rng, n), b = (a + 1 + below(rng, n - 1)) % n;
        bool side = chance(rng, 30) || rng->sided, one_way = chance(rng, 15);

        fprintf(out, "%sc%" PRIu32 "%s", i ? ", " : "", a, side ? ".E" : "");
        fprintf(out, "%cc%" PRIu32 "%s", one_way ? '>' : '-', b, side ? ".W" : "");
    }
    fprintf(out, "], link: %s}", any_link(rng));
}

void judge_print_net(FILE *out, struct dice *rng, uint32_t n)
{
    fprintf(out, "  cubes: %" PRIu32 "\n  net: [{", n);
    print_first(out, rng, n);
    fputs("}", out);
    if (chance(rng, 40))
        print_more(out, rng, n);
    fputs("]\n", out);
    if (chance(rng, 50))
        fprintf(out, "  io_cubes: [c%" PRIu32 "%s]\n", below(rng, n), "");
}

void judge_print_paths(FILE *out, struct dice *rng)
{
    if (chance(rng, 50))
        fprintf(out, "  paths: %" PRIu32 "\n", 2 + below(rng, 5));
}

/* The rest of `fabric`: links between SIPs. How many switches may be missing. */
uint32_t judge_print_rails(FILE *out, struct dice *rng, uint32_t sips, uint32_t n)
{
    uint32_t switches = below(rng, 4), links = 1 + below(rng, 3);
    bool loose = chance(rng, 30), row = false; /* in a row each switch needs those beside it */

    fprintf(out, ", shape: net, switches: %" PRIu32 ", net: [", switches);
    if (switches && rng->sided && chance(rng, 50)) {
        fprintf(out, "{list: [\"s*.c%" PRIu32 "%s-sw*\"], link: %s}", below(rng, n), any_side(rng),
                any_link(rng));
    } else if (switches && !rng->sided && chance(rng, 50)) {
        fprintf(out, "{each: [\"s*.c%" PRIu32 "\", \"sw*\"], link: %s}", below(rng, n),
                any_link(rng));
    } else if (switches) { /* a row: a switch and each of the next, on either side */
        row = true;
        if (rng->sided)
            fprintf(out, "{list: [\"s*.c*%s-sw0\"], link: a}", any_side(rng));
        else
            fputs("{each: [\"s*.c*\", sw0], link: a}", out);
        for (uint32_t i = 1; i < switches; i++)
            fprintf(out, ", {list: [sw%" PRIu32 "-sw%" PRIu32 "], link: %s}", i - 1, i,
                    any_link(rng));
    } else if (rng->sided || chance(rng, 50)) {
        fprintf(out, "{torus: [%" PRIu32 "], of: \"s*.c%" PRIu32 "\", link: %s}", sips,
                below(rng, n), any_link(rng));
    } else {
        fprintf(out, "{all: \"s*.c%" PRIu32 "\", link: %s}", below(rng, n), any_link(rng));
    }
    for (uint32_t i = 0; loose && i < links; i++) {
        uint32_t a = below(rng, sips), b = (a + 1 + below(rng, sips - 1)) % sips;

        fprintf(out, ", {list: [s%" PRIu32 ".", a);
        print_end(out, rng, below(rng, n));
        fprintf(out, "%cs%" PRIu32 ".", chance(rng, 50) ? '-' : '>', b);
        print_end(out, rng, below(rng, n));
        fprintf(out, "], link: %s}", any_link(rng));
    }
    fputs("]}\n", out);
    return switches > 1 && !row ? switches : 0;
}

/* What some cubes are: without slices, without PEs, without both. */
void judge_print_kinds(FILE *out, struct dice *rng, uint32_t n)
{
    static const char *const kinds[] = {"xcd", "iod", "hub", "big"};
    uint32_t rows = below(rng, 4), first = 1;
    bool joins = !rng->no_delays && rng->slices == SERVERS && !rng->l2 && rng->state % 3 == 0;

    fputs("links:\n", out);
    print_kind(out, rng, "a");
    print_kind(out, rng, "b");
    fputs("kinds:\n  xcd: {hbm: {slices: 0}", out);
    fprintf(out, "%s}\n", chance(rng, 30) ? ", transit: none" : "");
    fprintf(out,
            "  iod: {pes: 0, hbm: {slices: 2}%s}\n  hub: {pes: 0, hbm: {slices: 0}%s}\n"
            "  big: {pes: 3, hbm: {slices: 4}}\n",
            joins ? ", noc: {reduce_ns: 3.0}" : "", joins ? ", noc: {reduce_ns: 0.75}" : "");
    fputs("cubes: {", out);
    for (uint32_t i = 0; i < rows && first < n; i++) {
        uint32_t last = first + below(rng, n - first);
        const char *kind = kinds[below(rng, COUNT(kinds))];

        if (first == last)
            fprintf(out, "%sc%" PRIu32 ": ", i ? ", " : "", first);
        else
            fprintf(out, "%s\"c[%" PRIu32 "-%" PRIu32 "]\": ", i ? ", " : "", first, last);
        if (chance(rng, 60))
            fputs(kind, out);
        else
            fprintf(out, "{noc: {overhead_ns: %s}, kind: %s}", rng->no_delays ? "0.0" : "1.5",
                    kind);
        first += 1 + (chance(rng, 70) ? last - first : 0);
    }
    fputs("}\n", out);
}
