/*
 * machines.c -- how many machines a second are made, as --vary makes them, and asked for one
 * latency.
 *
 * usage: machines ROUNDS FILE.yaml...  Samples go to stdout (bench.h): machines a second of a core,
 * of a base that is read once, and of the YAML read again each time.
 */
#include "bench.h"
#include "kernbench.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 20 };

static const kb_topology *load(const kb_topology_source *source)
{
    const kb_topology *topo;
    char *messages;

    if (kb_topology_load(source, &topo, &messages) != KB_OK) {
        fprintf(stderr, "machines: %s\n", messages ? messages : "out of memory");
        exit(1);
    }
    free(messages);
    return topo;
}

/* One transaction alone, as `probe` runs it. */
static void ask(const kb_topology *topo)
{
    kb_transaction q = {.op = KB_READ, .dst = {.kind = KB_SLICE}, .nbytes = 4096};
    kb_result result;
    kb_sim *sim;

    if (kb_sim_new(topo, NULL, &sim) != KB_OK || kb_sim_add(sim, &q, NULL) != KB_OK ||
        kb_sim_run(sim, 0, NULL) != KB_OK || kb_sim_result(sim, 0, &result) != KB_OK)
        exit(1);
    kb_sim_free(sim);
}

static void sample(const char *name, const char *what, kb_topology_source source, int round)
{
    double begin_ns = bench_processor_ns();

    for (int i = 0; i < AT_ONCE; i++) {
        char set[64];
        const char *sets[] = {set};

        snprintf(set, sizeof set, "cube.hbm.bw_gbs=%d", 100 + i);
        source.sets = sets;
        source.n_sets = 1;
        const kb_topology *topo = load(&source);
        ask(topo);
        kb_topology_free(topo);
    }
    bench_sample(name, what, "1/s", round, AT_ONCE / (bench_processor_ns() - begin_ns) * 1e9);
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[1]) : 0;

    if (rounds < 1) {
        fprintf(stderr, "usage: machines ROUNDS FILE.yaml...\n");
        return 2;
    }
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* as --vary does */
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    for (int i = 2; i < argc; i++) {
        const kb_topology *base = load(&(kb_topology_source){.file = argv[i]});
        kb_info info;

        kb_topology_info(base, &info);
        for (int round = 0; round < rounds; round++) {
            sample(info.name, "of a base", (kb_topology_source){.base = base}, round);
            sample(info.name, "read", (kb_topology_source){.file = argv[i]}, round);
        }
        kb_topology_free(base);
    }
    return 0;
}
