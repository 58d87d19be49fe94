/*
 * export.c -- the transactions that the peers run, and our own time for them.
 *
 * usage: export MIX CHANNELS ROWS DIR      writes DIR/rows.csv, ways.csv and done.txt
 *        export MIX CHANNELS ROWS NAME ROUND  runs them; samples to stdout (bench.h)
 *
 * MIX: local, each PE reads 4096 bytes of its own slice; remote, of any slice. All PEs of local do
 * the same at the same instants; local-varied and remote-varied read 64 B to 8 KB, so that hardly
 * two events meet. Links are ideal; with fifo- in front, each serves in order, and the machine is
 * topologies/cube8.yaml as it is shipped. All are issued at time 0; a PE has so many CHANNELS, so
 * 64 times as many are in flight.
 *
 * rows.csv  pe,memory,way_fs,hold_fs   one transaction a row, its number is its id: the delay from
 *                                      channel to slice, and how long its service takes
 * sizes.csv nbytes,taken_fs            of the same row: for how long the slice is taken
 * ways.csv  pe,memory,node:wire_fs:overhead_fs:gbs,...   of each pair, for models of every hop;
 *                                      gbs is that of the edge into the node
 * done.txt  when each is complete, in fs: what a peer has to find out
 */
#include "../bench.h"
#include "../columns.h"
#include "bench_c160.h"
#include "bench_v2.h"
#include "bench_v2_c160.h"
#include "cube8.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CUBES = CUBE8_CUBES_PER_SIP, PES = CUBE8_PES_PER_CUBE, ALL_PES = CUBES * PES };
enum { NBYTES = 4096, LINE = 64, LINES_MAX = 128, TIMES = 5 };

struct set {
    const kb_topology *topo;
    const char *mix;
    size_t n;
    kb_transaction *rows;   /* owned */
    struct columns columns; /* the same, owned */
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "export: %s\n", what);
    exit(1);
}

static kb_endpoint in_cube(kb_endpoint_kind kind, uint64_t number)
{
    return (kb_endpoint){kind, 0, (uint32_t)(number / PES % CUBES), (uint32_t)(number % PES)};
}

static unsigned number_of(const kb_endpoint *e)
{
    return e->cube * PES + e->unit;
}

/* Local and remote are the rows of perf/txn.c. */
static bool fill(struct set *set)
{
    bool local = strstr(set->mix, "local"), varied = strstr(set->mix, "-varied");
    uint64_t seed = 7;

    set->rows = malloc(set->n * sizeof *set->rows);
    for (size_t i = 0; set->rows && i < set->n; i++) {
        kb_transaction *r = &set->rows[i];

        *r = (kb_transaction){.op = KB_READ, .src = in_cube(KB_PE, i), .nbytes = NBYTES};
        r->dst = in_cube(KB_SLICE, local ? i : bench_random(&seed));
        if (varied)
            r->nbytes = LINE * (1 + bench_random(&seed) % LINES_MAX);
    }
    return set->rows && columns_new(set->rows, set->n, &set->columns);
}

/* -- writing -------------------------------------------------------------------------------- */

static FILE *create(const char *dir, const char *name)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    if (!f)
        fail("cannot write");
    return f;
}

/* A way as it is walked, to be compared with its sum. The memory's own overhead is of its hold. */
struct way {
    FILE *f;
    int64_t sum_fs;
    double last_gbs;
};

static void write_hop(void *arg, const kb_hop *hop)
{
    struct way *way = arg;

    way->sum_fs += hop->wire_fs + hop->overhead_fs;
    way->last_gbs = hop->edge_gbs;
    fprintf(way->f, ",%s:%" PRId64 ":%" PRId64 ":%.17g", hop->node, hop->wire_fs, hop->overhead_fs,
            hop->edge_gbs);
}

/* Returns the bandwidth of the slice, which is that of the edge into it. */
static double write_way(FILE *f, const struct set *set, unsigned pe, unsigned memory)
{
    kb_endpoint src = in_cube(KB_PE, pe), dst = in_cube(KB_SLICE, memory);
    struct way way = {.f = f};
    kb_cost cost;
    kb_error why;

    fprintf(f, "%u,%u", pe, memory);
    if (kb_route_walk(set->topo, &src, &dst, write_hop, &way, &why) != KB_OK ||
        kb_route_cost(set->topo, KB_READ, &src, &dst, 1, &cost, &why) != KB_OK)
        fail(why.text);
    fputc('\n', f);
    if (way.sum_fs != cost.wire_fs + cost.overhead_fs)
        fail("a way is not the sum of its hops");
    return way.last_gbs;
}

/* docs/model.md "Units": rounded to the femtosecond. */
static int64_t drain_fs(uint64_t nbytes, double gbs)
{
    return llround((double)nbytes * 1e6 / gbs);
}

static void write_rows(const struct set *set, const char *dir)
{
    FILE *rows = create(dir, "rows.csv"), *ways = create(dir, "ways.csv");
    FILE *sizes = create(dir, "sizes.csv");
    static double last_gbs[ALL_PES][ALL_PES];
    kb_error why;
    kb_cost cost;

    for (unsigned pe = 0; pe < ALL_PES; pe++)
        for (unsigned memory = 0; memory < ALL_PES; memory++)
            last_gbs[pe][memory] = write_way(ways, set, pe, memory);
    for (size_t i = 0; i < set->n; i++) {
        const kb_transaction *r = &set->rows[i];
        unsigned pe = number_of(&r->src), memory = number_of(&r->dst);

        if (kb_route_cost(set->topo, r->op, &r->src, &r->dst, r->nbytes, &cost, &why) != KB_OK)
            fail(why.text);
        fprintf(sizes, "%" PRIu64 ",%" PRId64 "\n", r->nbytes,
                cost.memory_overhead_fs + drain_fs(r->nbytes, last_gbs[pe][memory]));
        fprintf(rows, "%u,%u,%" PRId64 ",%" PRId64 "\n", pe, memory,
                cost.wire_fs + cost.overhead_fs - cost.memory_overhead_fs,
                cost.memory_overhead_fs + cost.drain_fs);
    }
    if (fclose(rows) || fclose(ways) || fclose(sizes))
        fail("cannot write");
}

/* -- running -------------------------------------------------------------------------------- */

/* ns per transaction. */
struct cost_ns {
    double whole; /* added, run, and the results read */
    double run;   /* alone */
};

/* Completion times of all rows to `done_fs`. */
static struct cost_ns run(const struct set *set, int64_t *done_fs)
{
    double n = (double)set->n;
    kb_error why;
    kb_sim *sim;

    if (kb_sim_new(set->topo, NULL, &sim) != KB_OK)
        fail("out of memory");
    double begin_ns = bench_processor_ns();
    if (kb_sim_add_many(sim, &set->columns.of, set->n, NULL, &why) != KB_OK)
        fail(why.text);
    double added_ns = bench_processor_ns();
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail(why.text);
    double run_ns = bench_processor_ns();
    if (kb_sim_results(sim, 0, set->n, &(kb_result_columns){.done_fs = done_fs}) != KB_OK)
        fail("a result is missing");
    double end_ns = bench_processor_ns();
    kb_sim_free(sim);
    return (struct cost_ns){(end_ns - begin_ns) / n, (run_ns - added_ns) / n};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The middle of a few: small sets are run in a few milliseconds. */
static void measure(const struct set *set, int64_t *done_fs, const char *name, int round)
{
    double whole[TIMES], alone[TIMES];

    for (int i = 0; i < TIMES; i++) {
        struct cost_ns ns = run(set, done_fs);

        whole[i] = ns.whole;
        alone[i] = ns.run;
    }
    qsort(whole, TIMES, sizeof *whole, by_value);
    qsort(alone, TIMES, sizeof *alone, by_value);
    bench_sample(name, "whole", "ns", round, whole[TIMES / 2]);
    bench_sample(name, "run", "ns", round, alone[TIMES / 2]);
}

static void write_done(const int64_t *done_fs, size_t n, const char *dir)
{
    FILE *f = create(dir, "done.txt");

    for (size_t i = 0; i < n; i++)
        fprintf(f, "%" PRId64 "\n", done_fs[i]);
    if (fclose(f))
        fail("cannot write");
}

/* Topologies are not known before they are linked, so this is no table of constants. */
static const kb_topology *topology(const char *mix, int channels)
{
    if (strncmp(mix, "fifo-", 5) == 0)
        return channels == 1 ? &bench_v2_topology : &bench_v2_c160_topology;
    return channels == 1 ? &cube8_topology : &bench_c160_topology;
}

int main(int argc, char **argv)
{
    int channels = argc > 2 ? atoi(argv[2]) : 0;
    const char *mix = argc > 1 ? argv[1] : "";
    struct set set = {.topo = topology(mix, channels),
                      .mix = mix,
                      .n = argc > 3 ? strtoull(argv[3], NULL, 10) : 0};
    int64_t *done_fs = calloc(set.n + 1, sizeof *done_fs);

    if (argc < 5 || (channels != 1 && channels != 160) || set.n == 0) {
        fprintf(stderr, "usage: export [fifo-]local|remote[-varied] 1|160 ROWS DIR\n"
                        "       export [fifo-]local|remote[-varied] 1|160 ROWS NAME ROUND\n");
        return 2;
    }
    if (!done_fs || !fill(&set))
        return 5;
    if (argc == 5) {
        run(&set, done_fs);
        write_rows(&set, argv[4]);
        write_done(done_fs, set.n, argv[4]);
    } else {
        measure(&set, done_fs, argv[4], atoi(argv[5]));
    }
    free(done_fs);
    free(set.rows);
    columns_free(&set.columns);
    return 0;
}
